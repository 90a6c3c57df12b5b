//! The tools that ask language servers, the editor's own first.
//!
//! A model names a place by a symbol, or by a text on a line, never by a column alone. What it reads says how far it
//! can be relied on: that there is none, and that the server is not ready, are different words.
//!
//! Reading order: [`target`] (the place that a call names), [`answer`] (what came of a question, in words), [`edit`]
//! (changes that servers propose), then the tools.

use std::sync::Arc;
use std::time::Duration;

use ports::tool::{Call, Tool, ToolError};
use protocol::lang::{LangQuery, LangResult};

use crate::{Services, typed};

mod answer;
mod ask;
mod code_actions;
mod diagnostics;
mod edit;
mod format;
mod move_file;
mod rename;
mod restart;
mod status;
mod symbols;
mod target;

/// How long a question may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// All of them.
pub(crate) fn tools(services: &Services) -> Vec<Arc<dyn Tool>> {
    let mut tools = ask::tools(services);
    tools.extend([
        typed::erase(symbols::LspSymbols::new(services)),
        typed::erase(diagnostics::LspDiagnostics::new(services)),
        typed::erase(rename::LspRename::new(services)),
        typed::erase(move_file::LspMoveFile::new(services)),
        typed::erase(code_actions::LspCodeActions::new(services)),
        typed::erase(format::LspFormat::new(services)),
        typed::erase(status::LspStatus::new(services)),
        typed::erase(restart::LspRestart::new(services)),
    ]);
    tools
}

/// Asks a question, until the turn is cancelled.
async fn ask(services: &Services, query: &LangQuery, call: &Call) -> Result<LangResult, ToolError> {
    tokio::select! {
        result = services.lang.ask(query, PATIENCE) => Ok(result),
        () = call.cancel.cancelled() => Err(ToolError::Cancelled),
    }
}
