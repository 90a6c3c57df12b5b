//! TypeScript's language servers beyond LSP. They publish problems in several parts, and never of which version of the
//! text they are; but TypeScript itself, behind them, can be asked for those of the text as it was sent last.

use std::sync::atomic::Ordering;

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::super::client::RequestError;
use super::super::client::wire;
use super::ask::{Asker, Failure};

/// Has TypeScript asked.
const COMMAND: &str = "typescript.tsserverRequest";
/// The parts that make up all problems of a document.
const PARTS: [&str; 3] = ["syntacticDiagnosticsSync", "semanticDiagnosticsSync", "suggestionDiagnosticsSync"];

/// An answer of TypeScript's.
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
    /// The problems of the text as it is, as a list of LSP's `Diagnostic`; none if TypeScript cannot be asked, or
    /// has not told all of them.
    ///
    /// # Errors
    /// The server has ended.
    pub(super) async fn problems_of_typescript(&self) -> Result<Option<Box<RawValue>>, Failure> {
        if !self.client.runs(COMMAND) {
            return Ok(None);
        }
        loop {
            match self.parts_of_typescript().await? {
                Parts::All(problems) => return Ok(to_raw_value(&problems).ok()),
                Parts::Untold => return Ok(None),
                // The user types.
                Parts::OfSeveralTexts => {}
            }
        }
    }

    async fn parts_of_typescript(&self) -> Result<Parts, Failure> {
        let (mut all, mut before) = (Vec::new(), None);
        self.is_disturbed.store(false, Ordering::Relaxed);
        for part in PARTS {
            let params = json!({ "command": COMMAND, "arguments": [part, { "file": self.document()["uri"] }] });
            let answer = match self.send("workspace/executeCommand", |_| params.clone()).await {
                Err(Failure::Request(RequestError::Rpc(_))) => return Ok(Parts::Untold),
                answer => answer?,
            };
            match &before {
                None => before = Some(self.sent().clone()),
                Some(before) if self.stays_with(before).is_err() => return Ok(Parts::OfSeveralTexts),
                Some(_) => {}
            }
            let Ok(Response { body: Some(problems) }) = wire::parse(&answer) else { return Ok(Parts::Untold) };
            let ignored =
                self.server.definition.settings.pointer("/diagnostics/ignoredCodes").and_then(Value::as_array);
            let is_wanted = |problem: &&Problem| {
                !problem.code.as_ref().is_some_and(|code| ignored.is_some_and(|ignored| ignored.contains(code)))
            };
            all.extend(problems.iter().filter(is_wanted).map(Problem::to_lsp));
        }
        Ok(Parts::All(all))
    }
}

/// The parts, put together.
enum Parts {
    All(Vec<Value>),
    /// TypeScript has not told one of them.
    Untold,
    OfSeveralTexts,
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
