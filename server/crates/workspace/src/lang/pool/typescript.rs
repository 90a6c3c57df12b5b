//! What TypeScript's language servers tell beyond LSP. They publish problems in several parts, and never of which version of the
//! text they are; but TypeScript itself, behind them, can be asked for those of the text as it was sent last.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::client::RequestError;
use super::super::client::wire;
use super::ask::{Asker, Failure};

/// Has TypeScript asked (typescript-language-server 4 and newer).
const COMMAND: &str = "typescript.tsserverRequest";
/// The parts that make up all problems of a document.
const PARTS: [&str; 3] = ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"];

/// What TypeScript answers.
#[derive(Deserialize)]
struct Response {
    body: Option<Vec<Problem>>,
}

/// A problem as TypeScript writes it (`protocol.ts`, `Diagnostic`).
#[derive(Deserialize)]
struct Problem {
    start: Location,
    end: Location,
    text: String,
    category: String,
    code: Option<Value>,
    source: Option<String>,
}

/// A place, with line and UTF-16 offset from 1.
#[derive(Deserialize)]
struct Location {
    line: u32,
    offset: u32,
}

impl Asker<'_> {
    /// The problems of the text as it is, as a list of LSP's `Diagnostic`; none where TypeScript cannot be asked, or has not
    /// told all of them.
    ///
    /// # Errors
    /// The server has ended, or the text was changed meanwhile.
    pub(super) async fn problems_of_typescript(&self) -> Result<Option<Box<RawValue>>, Failure> {
        if !self.client.runs(COMMAND) {
            return Ok(None);
        }
        let (mut all, mut before) = (Vec::new(), None);
        for part in PARTS {
            let params = json!({ "command": COMMAND, "arguments": [part, { "file": self.document()["uri"] }] });
            let answer = match self.send("workspace/executeCommand", |_| params.clone()).await {
                Err(Failure::Request(RequestError::Rpc(_))) => return Ok(None),
                answer => answer?,
            };
            match &before {
                None => before = Some(self.sent().clone()),
                Some(before) => self.stays_with(before)?,
            }
            let Ok(Some(Response { body: Some(problems) })) = wire::parse(&answer) else { return Ok(None) };
            all.extend(problems.iter().map(Problem::to_lsp));
        }
        Ok(to_raw_value(&all).ok())
    }
}

impl Problem {
    fn to_lsp(&self) -> Value {
        let at = |place: &Location| json!({ "line": place.line.saturating_sub(1), "character": place.offset.saturating_sub(1) });
        let severity = match self.category.as_str() {
            "error" => 1,
            "warning" => 2,
            "suggestion" => 4,
            _ => 3,
        };
        let source = self.source.as_deref().unwrap_or("typescript");
        json!({ "range": { "start": at(&self.start), "end": at(&self.end) }, "severity": severity, "code": self.code,
            "source": source, "message": self.text })
    }
}
