//! `azimuth sessions` and `azimuth models`: what there is.

use std::fs::File;
use std::io::{self, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use hub::{lists, visible};
use ports::store::{Origin, SessionFilter, Store};
use project::paths;
use protocol::session::Purpose;
use protocol::{Event, PromptBlock, SessionId};
use providers::cost::format_cost;
use store::Imported;

use super::setup::Setup;
use super::style::Style;
use super::view::View;
use super::{Failure, Sessions};

/// Lists, shows, deletes, exports and imports sessions.
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
        Sessions::Show { id, json } => {
            let events = store.events(&SessionId::new(id), 0, usize::MAX).map_err(Failure::new)?;
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
            let session = SessionId::new(id);
            // Whoever has it open must let it go first.
            let lock = store.lock(&session).map_err(Failure::new)?;
            drop(lock);
            store.delete(&session).map_err(Failure::new)?;
            writeln!(out, "session {session} is deleted").map_err(Failure::new)?;
        }
        Sessions::Export { id } => {
            let (session, mut exported) = (SessionId::new(id), Vec::new());
            store.export(&session, &mut exported).map_err(Failure::new)?;
            let folders = store.info(&session).map_err(Failure::new)?.folders;
            let folders: Vec<_> = folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect();
            let mask = setup.mask(&folders).await?;
            let is_terminal = io::stdout().is_terminal();
            for line in String::from_utf8_lossy(&exported).lines() {
                let line = mask.hide_in_line(line);
                let line = if is_terminal { visible::json(&line) } else { line };
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
