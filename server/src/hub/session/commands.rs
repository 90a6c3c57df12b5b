//! Slash commands, executed. They are the user's own words to Azimuth and no part of the model's context (001 §2.5).

use std::fmt::Write;
use std::sync::Arc;

use agent::commands::{COMMANDS, Command, Invocation};
use agent::model::Model;
use agent::store::SessionFilter;
use protocol::session::Mode;
use protocol::{Event, SessionId};
use providers::cost::format_cost;
use tokio::sync::oneshot;

use super::prepare::Preparation;
use super::{NewSession, resolve_model, tell_router};
use crate::hub::feed::blocking;
use crate::hub::router::Message;
use crate::hub::{Error, feed};

/// How many sessions `/conversations` lists.
const LIST: usize = 20;

/// What a prompt's commands came to.
#[derive(Default)]
pub(super) struct Done {
    pub(super) events: Vec<Event>,
    pub(super) mode: Option<Mode>,
    pub(super) model: Option<Arc<dyn Model>>,
    pub(super) switch_to: Option<SessionId>,
}

/// Executes a command and notes what came of it.
pub(super) async fn execute(preparation: &Preparation, invocation: Invocation, done: &mut Done) {
    let result = match invocation.command {
        Ok(command) => run(preparation, command, done).await,
        Err(problem) => Err(problem),
    };
    let (message, is_error) = match result {
        Ok(message) => (message, false),
        Err(message) => (message, true),
    };
    done.events.push(Event::CommandExecuted { command: invocation.text, message, is_error });
}

async fn run(preparation: &Preparation, command: Command, done: &mut Done) -> Result<String, String> {
    match command {
        Command::Help => Ok(help()),
        Command::Mode(None) => {
            let mode = done.mode.unwrap_or(preparation.info.mode);
            Ok(format!("mode {}", mode_name(mode)))
        }
        Command::Mode(Some(mode)) => {
            done.mode = Some(mode);
            Ok(format!("mode {}", mode_name(mode)))
        }
        Command::Model(None) => Ok(models(preparation).await),
        Command::Model(Some(name)) => {
            let model = resolve_model(&preparation.shared, &name).await.map_err(|error| error.message)?;
            let info = model.info();
            done.events.push(Event::ModelChanged { model: info.id.clone(), scripted: info.scripted });
            let text = format!("model {} ({})", info.name, info.id);
            done.model = Some(model);
            Ok(text)
        }
        Command::Costs => Ok(costs(preparation)),
        Command::Conversations => conversations(preparation).await,
        Command::Resume(id) => {
            let (store, session) = (Arc::clone(&preparation.shared.parts.store), SessionId::new(id));
            let info = blocking(move || store.info(&session)).await.map_err(|error| error.to_string())?;
            done.switch_to = Some(info.session_id.clone());
            Ok(format!("going on with {} ({})", quoted(&info.title), info.session_id))
        }
        Command::New => {
            let session = new_session(preparation).await.map_err(|error| error.message)?;
            done.switch_to = Some(session.clone());
            Ok(format!("new conversation {session}"))
        }
    }
}

async fn new_session(preparation: &Preparation) -> Result<SessionId, Error> {
    let new = NewSession {
        folders: preparation.roots.iter().map(|root| root.path.clone()).collect(),
        model: preparation.info.model.clone(),
        mode: preparation.info.mode,
    };
    let (reply, made) = oneshot::channel();
    tell_router(&preparation.shared, Message::NewSession(preparation.caller.clone(), new, reply));
    match made.await {
        Ok(result) => result.map(|result| result.session.session_id),
        Err(_) => Err(Error::new(protocol::ErrorCode::InternalError, "Azimuth is ending")),
    }
}

fn help() -> String {
    let mut text = String::new();
    for command in COMMANDS {
        let _ = writeln!(text, "- `{}`: {}", command.usage, command.description);
    }
    text
}

async fn models(preparation: &Preparation) -> String {
    let models = preparation.shared.parts.catalog.list().await;
    let mut text = String::new();
    for model in models.iter().filter(|model| model.available) {
        let current = if preparation.info.model.as_deref() == Some(model.id.as_str()) { " (in use)" } else { "" };
        let _ = writeln!(text, "- `{}`: {}{current}", model.id, model.name);
    }
    if text.is_empty() {
        text.push_str("no model can be used yet; run `azimuth doctor` for what to do");
    }
    text
}

async fn conversations(preparation: &Preparation) -> Result<String, String> {
    let filter = SessionFilter { folders: preparation.info.folders.clone(), query: None, limit: LIST };
    let store = Arc::clone(&preparation.shared.parts.store);
    let sessions = blocking(move || store.list(&filter)).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    for session in &sessions {
        let minutes = feed::now().saturating_sub(session.updated_at) / 60_000;
        let _ = writeln!(text, "- `{}` {} ({})", session.session_id, quoted(&session.title), ago(minutes));
    }
    Ok(text)
}

fn costs(preparation: &Preparation) -> String {
    let info = &preparation.info;
    let usage = info.usage;
    format!(
        "this conversation: {} ({} tokens in, {} from the cache, {} written to it, {} out)",
        format_cost(info.cost),
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
    )
}

fn quoted(title: &str) -> String {
    if title.is_empty() { "(no title)".into() } else { format!("“{title}”") }
}

/// How long ago, in words.
fn ago(minutes: u64) -> String {
    match minutes {
        0 => "now".into(),
        1..60 => format!("{minutes} min ago"),
        60..1440 => format!("{} h ago", minutes / 60),
        _ => format!("{} d ago", minutes / 1440),
    }
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Ask => "ask: looks and answers, changes nothing",
        Mode::Agent => "agent: edits under your review, and runs commands you allow",
    }
}
