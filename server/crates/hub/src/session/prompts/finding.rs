//! Slash commands that find earlier sessions.

use std::fmt::Write;
use std::sync::Arc;

use agent::commands::built_in::Export;
use ports::found::TextFilter;
use ports::store::{Origin, SessionFilter};
use project::files;
use protocol::methods;
use protocol::search::{HitKind, SearchHit};
use protocol::session::{Purpose, SessionExportParams, SessionInfo};

use super::preparation::{Preparation, ask};
use crate::meant;
use crate::session::gate::is_looked_at;

/// The number of sessions that `/conversations` lists, and of hits that `/search` does.
const LIST: usize = 20;

/// The session that the beginning of its id means, of this project before others.
pub(super) async fn meant(preparation: &Preparation, typed: String) -> Result<SessionInfo, String> {
    let (store, folders) = (Arc::clone(&preparation.shared.parts.store), preparation.info.folders.clone());
    let found = tokio::task::spawn_blocking(move || meant::session_near(&*store, &typed, &folders)).await;
    found.map_err(|error| error.to_string())?.map_err(|unclear| unclear.to_string())
}

/// Lists the conversations of the project.
pub(super) async fn conversations(preparation: &Preparation) -> Result<String, String> {
    let filter = SessionFilter {
        folders: preparation.info.folders.clone(),
        query: None,
        origin: Origin::Roots,
        purpose: Some(Purpose::Chat),
        limit: LIST,
    };
    let sessions = preparation.shared.list(filter).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    for session in &sessions {
        let when = ago(preparation, session.updated_at);
        let _ = writeln!(text, "- `{}` {} ({when})", session.session_id, quoted(&session.title));
    }
    Ok(text)
}

/// Lists where these words were said.
pub(super) async fn search(preparation: &Preparation, query: String) -> Result<String, String> {
    let filter = TextFilter { query, folders: Some(preparation.info.folders.clone()), limit: LIST };
    let found = preparation.shared.search(filter).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    for SearchHit { session_id, title, kind, at, snippet, .. } in &found.hits {
        let when = ago(preparation, *at);
        let said = match kind {
            HitKind::Title => String::new(),
            HitKind::Prompt => format!(": you said: {}", unformatted(snippet)),
            HitKind::Answer => format!(": the model said: {}", unformatted(snippet)),
        };
        let _ = writeln!(text, "- `{session_id}` {} ({when}){said}", quoted(title));
    }
    text.push_str(match found.hits.is_empty() {
        true => "nothing was found in the conversations of this project",
        false => "\n`/resume <id>` continues one.",
    });
    if found.unread > 0 {
        let older = match found.unread {
            1 => "1 older conversation is".to_owned(),
            many => format!("{many} older conversations are"),
        };
        let _ = write!(text, "\n\n{older} still being read, so not everything may be found yet.");
    }
    Ok(text)
}

/// Writes the session into a new file of the project.
pub(super) async fn export(preparation: &Preparation, Export { format, path }: Export) -> Result<String, String> {
    let session_id = preparation.info.session_id.clone();
    let params = SessionExportParams { session_id, format };
    let exported = ask::<methods::SessionExport>(preparation, params).await?;
    let (name, roots) = (path.unwrap_or(exported.name), Arc::clone(&preparation.roots));
    let written = tokio::task::spawn_blocking(move || {
        let path = roots.resolve(&name).map_err(|error| error.to_string())?;
        if is_looked_at(&roots, &path) {
            let name = roots.display(&path);
            return Err(format!("`/export` does not write to `{name}`: such a file is protected; choose another path"));
        }
        files::create(&path, &exported.text).map_err(|error| error.to_string())?;
        Ok::<_, String>(roots.display(&path))
    });
    let path = written.await.map_err(|error| error.to_string())??;
    Ok(format!("this conversation is in `{path}`, with placeholders for the secrets that are known"))
}

pub(super) fn quoted(title: &str) -> String {
    if title.is_empty() { "(no title)".into() } else { format!("“{title}”") }
}

/// Text that no Markdown is read in.
fn unformatted(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_ascii_punctuation() && !matches!(char, '.' | ',' | ';' | ':' | '\'' | '"' | '/' | '?' | '-' | '=') {
            plain.push('\\');
        }
        plain.push(char);
    }
    plain
}

/// Returns how long ago it was, in words.
fn ago(preparation: &Preparation, at: u64) -> String {
    match preparation.shared.parts.clock.now().saturating_sub(at) / 60_000 {
        0 => "now".into(),
        minutes @ 1..60 => format!("{minutes} min ago"),
        minutes @ 60..1440 => format!("{} h ago", minutes / 60),
        minutes => format!("{} d ago", minutes / 1440),
    }
}
