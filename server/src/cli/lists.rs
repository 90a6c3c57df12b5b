//! `azimuth sessions` and `azimuth models`: what there is.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use hub::export::export;
use hub::{clock, lists, meant, visible};
use ports::found::TextFilter;
use ports::store::{Origin, SessionFilter, Store};
use project::paths;
use protocol::search::{HitKind, SearchHit, SnippetMark};
use protocol::session::{ExportFormat, Purpose};
use protocol::{Event, PromptBlock, SessionId};
use providers::cost::format_cost;
use store::{Imported, SqliteStore};

use super::setup::Setup;
use super::style::Style;
use super::view::View;
use super::{Failure, Sessions};

/// The number of hits that are listed.
const HITS: usize = 100;

/// Lists, searches, shows, deletes, exports and imports sessions.
pub(super) async fn sessions(command: Sessions, log: Option<String>) -> Result<ExitCode, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let setup = Setup::new(std::slice::from_ref(&folder), log)?;
    let store = &setup.store;
    let mut out = io::stdout().lock();
    match command {
        Sessions::List { everywhere, json } => {
            let folders = if everywhere { Vec::new() } else { vec![paths::to_uri(&folder)] };
            let sessions = store
                .list(&SessionFilter {
                    folders,
                    query: None,
                    origin: Origin::Roots,
                    purpose: Some(Purpose::Chat),
                    limit: 1000,
                })
                .map_err(Failure::new)?;
            for session in &sessions {
                if json {
                    let line = serde_json::to_string(session).map_err(Failure::new)?;
                    writeln!(out, "{}", visible::json(&line)).map_err(Failure::new)?;
                    continue;
                }
                let title = if session.title.is_empty() { "(no title)".into() } else { visible::line(&session.title) };
                let cost = format_cost(session.cost);
                writeln!(out, "{}  {title}  {cost}", session.session_id).map_err(Failure::new)?;
            }
            if sessions.is_empty() && !json {
                writeln!(out, "no sessions here; `azimuth sessions list --everywhere` lists all")
                    .map_err(Failure::new)?;
            }
        }
        Sessions::Search { words, everywhere, json } => {
            let folders = (!everywhere).then(|| vec![paths::to_uri(&folder)]);
            search(store, TextFilter { query: words.join(" "), folders, limit: HITS }, json, &mut out)?;
        }
        Sessions::Show { id, json } => {
            let events = store.events(&meant(store, &id)?, 0, usize::MAX).map_err(Failure::new)?;
            let style = Style::for_stdout();
            let mut view = View::new(&mut out, style);
            for event in &events {
                if json {
                    let line = serde_json::to_string(event).map_err(Failure::new)?;
                    view.line(&visible::json(&line)).map_err(Failure::new)?;
                    continue;
                }
                if let Event::TurnStarted { prompt, .. } | Event::Steered { prompt, .. } = &event.event {
                    for block in prompt {
                        if let PromptBlock::Text { text } = block {
                            view.line(&style.bold(format!("> {}", visible::text(text)))).map_err(Failure::new)?;
                        }
                    }
                }
                view.event(&event.event).map_err(Failure::new)?;
            }
        }
        Sessions::Delete { id } => {
            let session = whole(store, id)?;
            // Whoever has it open must let it go first.
            let lock = store.lock(&session).map_err(Failure::new)?;
            drop(lock);
            store.delete(&session).map_err(Failure::new)?;
            writeln!(out, "session {session} is deleted").map_err(Failure::new)?;
        }
        Sessions::Export { id, format } => {
            let info = meant::session(&**store, &id).map_err(Failure::new)?;
            let folders: Vec<_> = info.folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect();
            let mask = setup.mask(&folders).await?;
            let exported = export(&**store, &info, format, &mask).map_err(Failure::new)?;
            let is_terminal = io::stdout().is_terminal();
            for line in exported.lines() {
                let line = match format {
                    ExportFormat::Jsonl if is_terminal => visible::json(line),
                    // The others show what hides anyway.
                    _ => line.into(),
                };
                writeln!(out, "{line}").map_err(Failure::new)?;
            }
        }
        Sessions::Import { file } => {
            let imported = match &file {
                Some(file) => store.import(BufReader::new(open(file)?)),
                None => store.import(io::stdin().lock()),
            };
            let Imported { session_id, events, warning } = imported.map_err(Failure::new)?;
            writeln!(out, "session {session_id} is imported, with {events} events").map_err(Failure::new)?;
            if let Some(warning) = warning {
                writeln!(io::stderr(), "{}", visible::text(&warning)).map_err(Failure::new)?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The session that the beginning of its id means.
fn meant(store: &SqliteStore, typed: &str) -> Result<SessionId, Failure> {
    Ok(meant::session(store, typed).map_err(Failure::new)?.session_id)
}

/// The session with this id. Nothing is deleted by the beginning of an id.
fn whole(store: &SqliteStore, id: String) -> Result<SessionId, Failure> {
    let info = meant::session(store, &id).map_err(Failure::new)?;
    let session = info.session_id;
    if session.as_str() == id {
        return Ok(session);
    }
    let title = if info.title.is_empty() { "(no title)".into() } else { visible::line(&info.title) };
    Err(Failure::Said(format!("to delete a session, type its whole id; one begins so:\n  {session}  {title}")))
}

/// Lists where words were said, once all that older versions stored is taken in.
fn search(store: &SqliteStore, filter: TextFilter, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut found = store.search(&filter).map_err(Failure::new)?;
    if found.unread > 0 {
        let sessions = if found.unread == 1 { "1 session".into() } else { format!("{} sessions", found.unread) };
        writeln!(io::stderr(), "reading {sessions} of an older version …").map_err(Failure::new)?;
        loop {
            match store.take_in_texts() {
                Ok(false) => {}
                Ok(true) => break,
                Err(error) => {
                    writeln!(io::stderr(), "not all could be read, so not all may be found: {error}")
                        .map_err(Failure::new)?;
                    break;
                }
            }
        }
        found = store.search(&filter).map_err(Failure::new)?;
    }
    let hits = found.hits;
    let style = Style::for_stdout();
    for hit in &hits {
        if json {
            let line = serde_json::to_string(hit).map_err(Failure::new)?;
            writeln!(out, "{}", visible::json(&line)).map_err(Failure::new)?;
            continue;
        }
        let title = if hit.title.is_empty() { "(no title)".into() } else { visible::line(&hit.title) };
        let day = clock::name_of(clock::day_of(hit.at));
        writeln!(out, "{}  {day}  {title}", hit.session_id).map_err(Failure::new)?;
        let who = match hit.kind {
            HitKind::Title => continue,
            HitKind::Prompt => "you:",
            HitKind::Answer => "model:",
        };
        writeln!(out, "    {} {}", style.dim(who), marked(hit, style)).map_err(Failure::new)?;
    }
    if hits.is_empty() && !json {
        let more = if filter.folders.is_none() { "" } else { " here; `--everywhere` searches all folders" };
        writeln!(out, "nothing was found{more}").map_err(Failure::new)?;
    }
    Ok(())
}

/// The excerpt with its words in bold.
fn marked(hit: &SearchHit, style: Style) -> String {
    let units: Vec<u16> = hit.snippet.encode_utf16().collect();
    let part = |from: u32, to: u32| {
        let units = units.get(from as usize..to as usize).unwrap_or_default();
        visible::line(&String::from_utf16_lossy(units)).into_owned()
    };
    let (mut text, mut done) = (String::new(), 0);
    for SnippetMark { start, end } in &hit.marks {
        text += &part(done, *start);
        text += &style.bold(part(*start, *end));
        done = *end;
    }
    text + &part(done, u32::try_from(units.len()).unwrap_or(u32::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the user names the file, on the command line")]
fn open(file: &Path) -> Result<File, Failure> {
    File::open(file).map_err(|error| Failure::Said(format!("{} cannot be read: {error}", file.display())))
}

/// Lists the models.
pub(super) async fn models(json: bool, log: Option<String>) -> Result<ExitCode, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let setup = Setup::new(&[folder], log)?;
    let parts = setup.parts(setup.config.clone());
    let listed = parts.catalog.list_all().await;
    let style = Style::for_stdout();
    let mut out = io::stdout().lock();
    for model in &listed.models {
        let line = if json {
            let line = serde_json::to_string(model).map_err(Failure::new)?;
            visible::json(&line).into_owned()
        } else {
            let model = visible::within(model).map_err(Failure::new)?;
            if model.available {
                format!("{}  {}  {}", style.green(&model.id), model.name, lists::facts(&model))
            } else {
                let why = model.unavailable_because.as_deref().unwrap_or("cannot be used");
                style.dim(format!("{}  {}  {why}", model.id, model.name))
            }
        };
        writeln!(out, "{line}").map_err(Failure::new)?;
    }
    for note in &listed.notes {
        writeln!(io::stderr(), "{}", visible::text(note)).map_err(Failure::new)?;
    }
    Ok(ExitCode::SUCCESS)
}
