//! One question to one server: what it is in LSP, and when its answer can be relied on.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use globset::GlobBuilder;
use project::paths;
use project::reader::{ReadError, Reader};
use project::text::PositionEncoding;
use protocol::content::{Position, Range};
use protocol::editor::LineRange;
use protocol::lang::{LangAnswer, LangChange, LangQuery, LangStatus};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::answer;
use super::super::client::wire::{self, Action};
use super::super::client::{Client, Readiness, RequestError, Sent};
use super::super::detect::Detected;
use super::super::table::Table;

/// So many items of a hierarchy are followed. There is more than one only where a name means several things.
const MAX_ITEMS: usize = 10;

const LACKS_PROBLEMS: &str = "it did not report all problems there in time, so some quick fixes may be missing";

const DISTURBED: &str = "the texts that it sees changed before it answered, so its answer may be about other versions";
pub(super) const UNTOLD: &str = "it has not yet said that it has found the project's files";
const BUSY_WITH_COMMAND: &str = "a command that it was given before has not ended yet, and it does one at a time; if \
                                 it never does, the user can have it started anew";

/// A server that is asked something.
pub(super) struct Asker<'a> {
    pub(super) client: &'a Client,
    pub(super) server: &'a Detected,
    pub(super) table: &'a Arc<Table>,
    pub(super) reader: &'a Reader,
    /// The file that is asked about.
    pub(super) path: Option<&'a Path>,
    /// When there has to be an answer.
    pub(super) until: Instant,
    /// Until when a server that reads the project is waited for.
    pub(super) patience: Instant,
    /// The texts that the server was sent with the last question.
    pub(super) sent: Mutex<Sent>,
    /// True if it was sent other texts before it answered, and may have answered of these.
    pub(super) is_disturbed: AtomicBool,
    /// True if it was asked for actions without all problems, so that quick fixes may be missing.
    pub(super) lacks_problems: AtomicBool,
    /// The problems that it is asked for.
    pub(super) part: Part,
}

/// Problems, by how a server tells them. One that answers for them may publish others, such as those of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    All,
    /// Those that it answers; of one that does not answer for them, all.
    Answered,
    /// Those that it publishes beside its answers.
    Published,
}

/// The outcome of a question.
pub(super) struct Outcome {
    pub(super) status: LangStatus,
    pub(super) message: Option<String>,
    /// The texts that the server was sent with the question.
    pub(super) sent: Sent,
    /// In the server's units.
    pub(super) answer: LangAnswer,
    /// The document of ranges that name none.
    pub(super) ranges_in: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("it cannot answer that")]
    Unsupported,
    #[error("it has told of no problems so far, of any file")]
    Mute,
    #[error("{0}")]
    NotAnEdit(String),
    #[error("it did not answer in time")]
    TimedOut,
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Unreadable(#[from] ReadError),
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    fn status(&self) -> LangStatus {
        match self {
            Self::Unsupported | Self::Mute | Self::NotAnEdit(_) => LangStatus::Unsupported,
            Self::TimedOut => LangStatus::TimedOut,
            Self::Request(RequestError::Ended(_)) => LangStatus::Crashed,
            Self::Request(RequestError::Rpc(error)) if error.is_unknown_method() => LangStatus::Unsupported,
            Self::Request(_) | Self::Unreadable(_) | Self::Failed(_) => LangStatus::Failed,
        }
    }
}

impl Asker<'_> {
    /// Asks, and asks again where the server had not yet read the project.
    pub(super) async fn ask(&self, query: &LangQuery) -> Outcome {
        let ranges_in = match query {
            LangQuery::OutgoingCalls { uri, .. } => Some(answer::own_uri(uri.clone())),
            _ => None,
        };
        let mut asked = self.ask_until_whole(query).await;
        if self.is_disturbed.load(Ordering::Relaxed) {
            asked = match asked {
                // It would be made in texts that it is not of.
                Ok((LangAnswer::Edit { .. }, ..)) => Err(Failure::Failed(format!("{DISTURBED}; ask again"))),
                Ok((answer, LangStatus::Ready, _)) => Ok((answer, LangStatus::Partial, Some(DISTURBED.to_owned()))),
                asked => asked,
            };
        }
        let sent = std::mem::take(&mut *self.sent());
        match asked {
            Ok((answer, status, message)) => Outcome { status, message, sent, answer, ranges_in },
            Err(failure) => Outcome {
                sent,
                status: failure.status(),
                message: Some(match (failure.status(), self.client.complaint()) {
                    (LangStatus::Failed, Some(complaint)) => format!("{failure}; its last error was: {complaint}"),
                    _ => failure.to_string(),
                }),
                answer: LangAnswer::Nothing,
                ranges_in,
            },
        }
    }

    async fn ask_until_whole(&self, query: &LangQuery) -> Result<(LangAnswer, LangStatus, Option<String>), Failure> {
        if let LangQuery::Diagnostics { uri } = query {
            return match uri {
                Some(_) => self.problems().await,
                None => self.all_problems().await,
            };
        }
        if let LangQuery::CodeAction { range, title, kind, .. } = query {
            let (changes, left_out) = self.action(*range, title, kind.as_deref()).await?;
            let status = if left_out.is_some() { LangStatus::Partial } else { LangStatus::Ready };
            return Ok((LangAnswer::Edit { changes }, status, left_out));
        }
        let is_wide = query.is_wide();
        if is_wide {
            // Some read the project only when they have seen a file of it.
            self.sync().await?;
            self.wait_for_readiness(is_wide).await;
        }
        loop {
            let before = self.client.readiness(is_wide);
            self.is_disturbed.store(false, Ordering::Relaxed);
            let answer = self.ask_now(query).await?;
            // A server knows what stands in front of it before it knows all.
            if before == Readiness::Ready || (!is_wide && !answer::is_empty(&answer)) {
                let message = self.lacks_problems.load(Ordering::Relaxed).then(|| LACKS_PROBLEMS.to_owned());
                let status = if message.is_some() { LangStatus::Partial } else { LangStatus::Ready };
                return Ok((answer, status, message));
            }
            if before != Readiness::Untold && Instant::now() < self.patience {
                self.wait_for_readiness(is_wide).await;
                if matches!(self.client.readiness(is_wide), Readiness::Ready | Readiness::Untold) {
                    continue;
                }
            }
            let message = match self.client.readiness(is_wide) {
                Readiness::Busy(what) => format!("it still reads the project: {what}"),
                Readiness::Finding(_) | Readiness::Untold => UNTOLD.to_owned(),
                Readiness::Ready | Readiness::Settling(_) => "it has only just begun to read the project".to_owned(),
            };
            return Ok((answer, LangStatus::Indexing, Some(message)));
        }
    }

    async fn ask_now(&self, query: &LangQuery) -> Result<LangAnswer, Failure> {
        match query {
            LangQuery::Definition { position, .. } => {
                let raw = self.at("textDocument/definition", "definitionProvider", *position).await?;
                Ok(answer::locations(&raw)?)
            }
            LangQuery::TypeDefinition { position, .. } => {
                let raw = self.at("textDocument/typeDefinition", "typeDefinitionProvider", *position).await?;
                Ok(answer::locations(&raw)?)
            }
            LangQuery::Implementation { position, .. } => {
                let raw = self.at("textDocument/implementation", "implementationProvider", *position).await?;
                Ok(answer::locations(&raw)?)
            }
            LangQuery::References { position, .. } => {
                let more = json!({ "context": { "includeDeclaration": true } });
                let raw = self.at_with("textDocument/references", "referencesProvider", *position, more).await?;
                Ok(answer::locations(&raw)?)
            }
            LangQuery::Hover { position, .. } => {
                let raw = self.at("textDocument/hover", "hoverProvider", *position).await?;
                Ok(answer::hover(&raw)?)
            }
            LangQuery::DocumentSymbols { uri } => {
                let params = json!({ "textDocument": self.document() });
                let raw = self.of_text("textDocument/documentSymbol", "documentSymbolProvider", |_| params.clone());
                Ok(answer::symbols(&raw.await?, Some(&answer::own_uri(uri.clone())))?)
            }
            LangQuery::WorkspaceSymbols { query, .. } => {
                let params = json!({ "query": query });
                let raw = self.of_text("workspace/symbol", "workspaceSymbolProvider", |_| params.clone()).await?;
                Ok(answer::symbols(&raw, None)?)
            }
            LangQuery::IncomingCalls { position, .. } => self.calls("callHierarchy/incomingCalls", *position).await,
            LangQuery::OutgoingCalls { position, .. } => self.calls("callHierarchy/outgoingCalls", *position).await,
            LangQuery::Supertypes { position, .. } => self.types("typeHierarchy/supertypes", *position).await,
            LangQuery::Subtypes { position, .. } => self.types("typeHierarchy/subtypes", *position).await,
            LangQuery::Rename { position, new_name, .. } => {
                let more = json!({ "newName": new_name });
                let raw = self.at_with("textDocument/rename", "renameProvider", *position, more).await?;
                Ok(LangAnswer::Edit { changes: answer::edit(&raw)? })
            }
            LangQuery::MoveFile { from, to } => {
                if !self.wants_to_know_of_moves() {
                    return Err(Failure::Unsupported);
                }
                let params = json!({ "files": [{ "oldUri": answer::own_uri(from.clone()), "newUri": answer::own_uri(to.clone()) }] });
                let raw = self.send("workspace/willRenameFiles", |_| params.clone()).await?;
                Ok(LangAnswer::Edit { changes: answer::edit(&raw)? })
            }
            LangQuery::CodeActions { range, kind, .. } => {
                let actions = self.actions(*range, kind.as_deref()).await?;
                Ok(LangAnswer::Actions { actions: actions.into_iter().map(|(one, _)| answer::action(one)).collect() })
            }
            LangQuery::Format { uri, lines } if !lines.is_empty() => {
                let (document, encoding) = (self.document(), self.client.encoding());
                let mut changes = Vec::new();
                for some in lines {
                    let raw = self.of_text("textDocument/rangeFormatting", "documentRangeFormattingProvider", |text| {
                        json!({
                            "textDocument": document,
                            "range": whole_lines(*some, text, encoding),
                            "options": format_options(text),
                        })
                    });
                    changes.extend(answer::text_edits(&raw.await?, uri)?);
                }
                Ok(LangAnswer::Edit { changes })
            }
            LangQuery::Format { uri, .. } => {
                let document = self.document();
                let raw = self.of_text(
                    "textDocument/formatting",
                    "documentFormattingProvider",
                    |text| json!({ "textDocument": document, "options": format_options(text) }),
                );
                Ok(LangAnswer::Edit { changes: answer::text_edits(&raw.await?, uri)? })
            }
            // These take more than one question.
            LangQuery::Diagnostics { .. } | LangQuery::CodeAction { .. } | LangQuery::Servers { .. } => {
                Err(Failure::Unsupported)
            }
        }
    }

    /// Asks about a place.
    async fn at(&self, method: &'static str, provider: &str, position: Position) -> Result<Box<RawValue>, Failure> {
        self.at_with(method, provider, position, json!({})).await
    }

    async fn at_with(
        &self,
        method: &'static str,
        provider: &str,
        position: Position,
        more: Value,
    ) -> Result<Box<RawValue>, Failure> {
        let document = self.document();
        let params = |text: &str| {
            let mut params = more.clone();
            params["textDocument"] = document.clone();
            params["position"] = json!(answer::from_utf16(position, text, self.client.encoding()));
            params
        };
        self.of_text(method, provider, params).await
    }

    /// Asks about a text, if the server can answer it. The parameters are made of the text.
    pub(super) async fn of_text(
        &self,
        method: &'static str,
        provider: &str,
        params: impl Fn(&str) -> Value,
    ) -> Result<Box<RawValue>, Failure> {
        if !self.client.supports(method, provider) {
            // It may say only after a moment what else it can.
            if let Readiness::Settling(until) = self.client.readiness(false) {
                tokio::time::sleep_until(until.min(self.patience)).await;
            }
            if !self.client.supports(method, provider) {
                return Err(Failure::Unsupported);
            }
        }
        self.send(method, params).await
    }

    pub(super) async fn wait_for_readiness(&self, is_wide: bool) {
        // The caller looks again if it is ready by then.
        let _ = tokio::time::timeout_at(self.patience, self.client.ready(is_wide)).await;
    }

    pub(super) fn document(&self) -> Value {
        json!({ "uri": self.path.map(paths::to_uri) })
    }

    async fn calls(&self, method: &'static str, position: Position) -> Result<LangAnswer, Failure> {
        let items = self.at("textDocument/prepareCallHierarchy", "callHierarchyProvider", position).await?;
        let mut calls = Vec::new();
        for item in answer::items(&items)?.into_iter().take(MAX_ITEMS) {
            let params = json!({ "item": item });
            calls.extend(answer::calls(&self.send(method, |_| params.clone()).await?)?);
        }
        Ok(LangAnswer::Calls { calls })
    }

    async fn types(&self, method: &'static str, position: Position) -> Result<LangAnswer, Failure> {
        let items = self.at("textDocument/prepareTypeHierarchy", "typeHierarchyProvider", position).await?;
        let mut symbols = Vec::new();
        for item in answer::items(&items)?.into_iter().take(MAX_ITEMS) {
            let params = json!({ "item": item });
            symbols.extend(answer::types(&self.send(method, |_| params.clone()).await?)?);
        }
        Ok(LangAnswer::Symbols { symbols })
    }

    /// Returns what can be done for a part of the text, each also as the server said it.
    async fn actions(&self, range: Range, kind: Option<&str>) -> Result<Vec<(Action, Value)>, Failure> {
        let problems = self.problems_within(range).await?.unwrap_or_else(|| {
            self.lacks_problems.store(true, Ordering::Relaxed);
            Vec::new()
        });
        let document = self.document();
        let params = |text: &str| {
            let mut context = json!({ "diagnostics": problems, "triggerKind": 1 });
            if let Some(kind) = kind {
                context["only"] = json!([kind]);
            }
            let at = |position| answer::from_utf16(position, text, self.client.encoding());
            let range = Range { start: at(range.start), end: at(range.end) };
            json!({ "textDocument": document, "range": range, "context": context })
        };
        let raw = self.of_text("textDocument/codeAction", "codeActionProvider", params).await?;
        let is_of_kind = |(action, _): &(Action, Value)| match (kind, &action.kind) {
            (Some(wanted), Some(kind)) => {
                kind == wanted || kind.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
            }
            // A bare command has no kind.
            (Some(_), None) => false,
            (None, _) => true,
        };
        Ok(answer::actions(&raw)?.into_iter().filter(is_of_kind).collect())
    }

    /// Returns what an action would change, and what it would do besides.
    async fn action(
        &self,
        range: Range,
        title: &str,
        kind: Option<&str>,
    ) -> Result<(Vec<LangChange>, Option<String>), Failure> {
        let all = self.actions(range, kind).await?;
        let before = self.sent().clone();
        let wanted = all.into_iter().find(|(action, _)| action.title == title);
        let (mut action, value) =
            wanted.ok_or_else(|| Failure::NotAnEdit(format!("there is no action `{title}` here")))?;
        if let Some(disabled) = action.disabled {
            return Err(Failure::Failed(disabled.reason));
        }
        if action.edit.is_none() && self.client.resolves_actions() {
            let resolved = self.send("codeAction/resolve", |_| value.clone()).await?;
            action = wire::parse(&resolved)?;
            self.stays_with(&before)?;
        }
        let mut changes = match &action.edit {
            Some(edit) => answer::edit(edit)?,
            None => Vec::new(),
        };
        if let Some(command) = action.to_command() {
            if !self.server.definition.edit_commands.contains(&command.command) {
                let command = &command.command;
                if !changes.is_empty() {
                    let left_out = format!("`{title}` would also run the command `{command}`, which was not run");
                    return Ok((changes, Some(left_out)));
                }
                return Err(Failure::NotAnEdit(format!(
                    "`{title}` runs the command `{command}`, which may do more than edit"
                )));
            }
            for edit in self.run(&command).await? {
                changes.extend(answer::edit(&edit)?);
            }
            self.stays_with(&before)?;
        }
        Ok((changes, None))
    }

    /// Runs a command, and gives the edits that it asks for.
    async fn run(&self, command: &wire::Command) -> Result<Vec<Box<RawValue>>, Failure> {
        let timed_out = |_| Failure::TimedOut;
        let alone = tokio::time::timeout_at(self.until, self.client.alone()).await;
        let alone = alone.map_err(|_| Failure::Failed(BUSY_WITH_COMMAND.to_owned()))?;
        let params = json!({ "command": command.command, "arguments": command.arguments });
        let (waiting, hold) = self.ask_once("workspace/executeCommand", |_| params.clone()).await?;
        self.sent().clone_from(&hold.sent);
        let edits = tokio::time::timeout_at(self.until, alone.edits(waiting)).await.map_err(timed_out)??;
        self.is_disturbed.fetch_or(!hold.stands(), Ordering::Relaxed);
        Ok(edits)
    }

    /// Makes sure that the texts are those of an earlier question, to which the last one belongs.
    pub(super) fn stays_with(&self, before: &Sent) -> Result<(), Failure> {
        let mut sent = self.sent();
        sent.at = before.at;
        if sent.is_same_as(before) && !self.is_disturbed.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(Failure::Failed("the text changed while it was asked; ask again".to_owned()))
    }

    fn wants_to_know_of_moves(&self) -> bool {
        let Some(path) = self.path else { return false };
        let is_folder = path.is_dir();
        self.client.move_filters().iter().any(|filter| {
            let pattern = filter.get("pattern");
            let of = |key| pattern.and_then(|pattern| pattern.get(key)).and_then(Value::as_str);
            let is_kind = match of("matches") {
                Some("file") => !is_folder,
                Some("folder") => is_folder,
                _ => true,
            };
            let glob = of("glob").and_then(|glob| GlobBuilder::new(glob).literal_separator(true).build().ok());
            is_kind && glob.is_some_and(|glob| glob.compile_matcher().is_match(path))
        })
    }
}

/// Puts the editor's versions to texts that change, or have problems: those that the server was sent.
pub(super) fn put_versions(answer: &mut LangAnswer, sent: &Sent) {
    let editors = |uri: &str| sent.editors(&paths::from_uri(uri).ok()?);
    match answer {
        LangAnswer::Edit { changes } => {
            for change in changes {
                if let LangChange::Text { uri, version, .. } = change {
                    *version = editors(uri);
                }
            }
        }
        LangAnswer::Diagnostics { documents } => {
            documents.iter_mut().for_each(|document| document.version = editors(&document.uri));
        }
        _ => {}
    }
}

/// Whole lines of a text in a server's units, up to the end of the last one: the next line's start would be taken for
/// that line too.
fn whole_lines(lines: LineRange, text: &str, encoding: PositionEncoding) -> Range {
    let last = lines.end.saturating_sub(1);
    let line = usize::try_from(last).ok().and_then(|last| text.lines().nth(last)).unwrap_or_default();
    let length = u32::try_from(line.encode_utf16().count()).unwrap_or(u32::MAX);
    let end = answer::from_utf16(Position { line: last, character: length }, text, encoding);
    Range { start: Position { line: lines.start, character: 0 }, end }
}

/// How a text is indented, for servers that have no settings of the project.
fn format_options(text: &str) -> Value {
    let lines = || text.lines().take(1_000);
    let tabs = lines().filter(|line| line.starts_with('\t')).count();
    let depths: Vec<usize> = lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .filter(|depth| *depth > 1)
        .collect();
    let size = depths.iter().copied().min().unwrap_or(4).min(8);
    json!({ "tabSize": size, "insertSpaces": tabs <= depths.len(), "trimTrailingWhitespace": true, "insertFinalNewline": true })
}
