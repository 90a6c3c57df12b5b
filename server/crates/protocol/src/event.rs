//! Events: all that happens in a session, in order. Everything shown is a fold of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::checkpoint::{ChangedFile, Direction, FileImage, RestoredFile};
use crate::content::{Location, PlanEntry, SideRole, ToolKind, Usage};
use crate::permission::{PermissionOutcome, PermissionRequest};
use crate::review::{AutoScope, Decision, Proposal};
use crate::session::Mode;
use crate::terminal::{TerminalInfo, Typist};
use crate::turn::StopReason;
use crate::{
    AssistantBlock, HunkId, MessageId, PermissionId, PromptBlock, ProposalId, QueueId, SessionId, TerminalId,
    ToolCallId, ToolResult, TurnId,
};

/// Parameters of the notification `azimuth/event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventParams {
    /// The session.
    pub session_id: SessionId,
    /// The event with its number.
    #[serde(flatten)]
    pub event: SequencedEvent,
}

/// An event with its place in the session.
// `E` is another type only for who hands events on as JSON, without a look into them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "SequencedEvent")]
pub struct SequencedEvent<E = Event> {
    /// Its number in the session: 1, 2, 3, … without gaps.
    pub seq: u64,
    /// When it happened.
    pub at: u64,
    /// What happened.
    pub event: E,
}

/// What happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The session began. Always the first event.
    SessionStarted {
        /// Its folders, as URIs.
        folders: Vec<String>,
        /// Whether the user asked for it by a command, so that it is kept even if nothing is said in it. Absent in logs
        /// of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked_for: Option<bool>,
        /// How many of the next changes of its model and mode only say what it begins with.
        #[serde(default)]
        begins_with: u32,
    },
    /// The session has a new title.
    TitleChanged {
        /// The title.
        title: String,
    },
    /// The session uses another model.
    ModelChanged {
        /// The model's id.
        model: String,
        /// True for a model that plays a script; an interface must say so.
        #[serde(default)]
        scripted: bool,
    },
    /// Edits are accepted as they come from now on, or no longer.
    AcceptEditsChanged {
        /// Whether edits are accepted as they come, from now on.
        on: bool,
        /// For how long.
        #[serde(default)]
        scope: AutoScope,
    },
    /// The session is in another mode.
    ModeChanged {
        /// The mode.
        mode: Mode,
    },
    /// A slash command was executed. It is not part of the model's context.
    CommandExecuted {
        /// The command as typed.
        command: String,
        /// What came of it, in Markdown.
        message: String,
        /// Whether it failed.
        #[serde(default)]
        is_error: bool,
    },
    /// A turn began, with the user's prompt.
    TurnStarted {
        /// The turn.
        turn_id: TurnId,
        /// The prompt. Empty where an earlier turn is gone on with.
        prompt: Vec<PromptBlock>,
        /// What the prompt's mentions and the editor's state came to, as the model reads it. May be empty.
        #[serde(default)]
        context: String,
        /// The model's id.
        model: String,
        /// The mode.
        mode: Mode,
    },
    /// The user said something to the running turn; the model reads it from here on.
    Steered {
        /// The turn.
        turn_id: TurnId,
        /// What was said.
        prompt: Vec<PromptBlock>,
        /// What its mentions came to.
        #[serde(default)]
        context: String,
    },
    /// A prompt waits for the turn's end.
    PromptQueued {
        /// The waiting prompt.
        queue_id: QueueId,
        /// What it says.
        prompt: Vec<PromptBlock>,
    },
    /// A waiting prompt is no longer one: it was started or taken back.
    PromptDequeued {
        /// The waiting prompt.
        queue_id: QueueId,
    },
    /// The model was told something by us: decisions on its edits, new problems. Part of its context.
    Noted {
        /// The turn.
        turn_id: TurnId,
        /// What it was told.
        text: String,
    },
    /// A piece of the assistant's text.
    MessageDelta {
        /// The message.
        message_id: MessageId,
        /// The piece.
        text: String,
    },
    /// A piece of the model's thinking.
    ThinkingDelta {
        /// The message.
        message_id: MessageId,
        /// The piece.
        text: String,
    },
    /// A piece of the diff that an edit comes to, while the call for it still arrives. It goes behind the pieces of the
    /// same call before it. What such pieces say is void once the message is whole or discarded, or the turn ends: the
    /// hunks that the call then proposes stand for it.
    EditDelta {
        /// The message.
        message_id: MessageId,
        /// Tells the pieces of one call from those of others of the message. The call may be made under another id.
        tool_call_id: ToolCallId,
        /// The file, for people: as the model names it.
        path: String,
        /// The piece, in Markdown's `diff` notation: lines that begin with a space, `-`, `+`, or `@`. It may end within
        /// a line.
        text: String,
    },
    /// A message is whole. What its deltas said stands here again, with the tool calls.
    MessageCompleted {
        /// The turn.
        turn_id: TurnId,
        /// The message.
        message_id: MessageId,
        /// All of it.
        content: Vec<AssistantBlock>,
        /// What the request used.
        usage: Usage,
        /// What the request cost in US dollars; absent where the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A message broke off and will be asked for again; what was shown of it is void.
    MessageDiscarded {
        /// The message.
        message_id: MessageId,
    },
    /// A request to the model failed in passing and is tried again.
    Retrying {
        /// The turn.
        turn_id: TurnId,
        /// Which retry this is, from 1.
        attempt: u32,
        /// How long it waits first, in milliseconds.
        delay_ms: u64,
        /// What went wrong.
        reason: String,
    },
    /// The model says what it is going to do, and how far it is. It takes the place of the turn's plan before it.
    PlanUpdated {
        /// The turn.
        turn_id: TurnId,
        /// The steps, in their order.
        entries: Vec<PlanEntry>,
    },
    /// A tool call begins.
    ToolCallStarted {
        /// The turn.
        turn_id: TurnId,
        /// The call.
        tool_call_id: ToolCallId,
        /// The tool.
        name: String,
        /// What kind of thing it does.
        kind: ToolKind,
        /// What it does, in a few words: `Reading main.rs`.
        title: String,
        /// Its input.
        input: Value,
        /// The places it is about.
        #[serde(default)]
        locations: Vec<Location>,
    },
    /// A tool call ended.
    ToolCallEnded {
        /// The turn.
        turn_id: TurnId,
        /// What the model reads of it.
        result: ToolResult,
        /// What it came to, in a few words: `3 matches`, `+2 -1`.
        #[serde(default)]
        summary: String,
        /// The places it is about.
        #[serde(default)]
        locations: Vec<Location>,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
        /// The input as the model reads it from here on, where that is the edit that was applied and not the one that
        /// it wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rewritten_input: Option<Value>,
    },
    /// The user is asked.
    PermissionAsked {
        /// The turn.
        turn_id: TurnId,
        /// The question.
        request: PermissionRequest,
    },
    /// A question was answered or fell away.
    PermissionAnswered {
        /// The question.
        permission_id: PermissionId,
        /// How.
        outcome: PermissionOutcome,
    },
    /// Something was allowed or denied without asking; why.
    PermissionJudged {
        /// The call.
        tool_call_id: ToolCallId,
        /// Whether it may go on.
        allowed: bool,
        /// The rule or default, and where it comes from.
        reason: String,
    },
    /// The pending change of a file is new, or has changed.
    ProposalChanged {
        /// The proposal as it is now.
        proposal: Proposal,
    },
    /// Hunks were decided.
    ReviewDecided {
        /// The proposal.
        proposal_id: ProposalId,
        /// The hunks.
        hunk_ids: Vec<HunkId>,
        /// How.
        decision: Decision,
        /// A word to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Accepted hunks were put into their document, or could not be.
    EditApplied {
        /// The proposal.
        proposal_id: ProposalId,
        /// The hunks.
        hunk_ids: Vec<HunkId>,
        /// The turn that they belong to: the last of those that had a part in them. Absent in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<TurnId>,
        /// The document.
        uri: String,
        /// The hash of its text before; absent for a file that was not there. The text is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// The hash of its text after, which is kept too; absent where it is no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// Where a file was deleted, what it was beyond its text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deleted: Option<Box<FileImage>>,
        /// How it went.
        outcome: ApplyOutcome,
    },
    /// A document was formatted after edits in it were accepted.
    Formatted {
        /// The turn that the edits belong to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<TurnId>,
        /// The document.
        uri: String,
        /// The hash of its text before. The text is kept.
        before: String,
        /// The hash of its text after, which is kept too.
        after: String,
        /// Lines that the formatter added.
        added: u32,
        /// Lines that it removed.
        removed: u32,
        /// What formatted it, for people; absent where that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A command begins in a terminal.
    TerminalStarted {
        /// The terminal.
        terminal_id: TerminalId,
        /// The call that started it.
        tool_call_id: ToolCallId,
        /// The command line.
        command: String,
        /// The folder it starts in.
        cwd: String,
        /// The offset of its first byte of output.
        offset: u64,
    },
    /// A command ended.
    TerminalEnded {
        /// The terminal.
        terminal_id: TerminalId,
        /// The call that started it.
        tool_call_id: ToolCallId,
        /// The offset after its last byte of output.
        offset: u64,
        /// Its exit code; absent where it was killed or timed out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// A terminal is new or has changed: what runs in it, whether that waits for input, who has it.
    TerminalChanged {
        /// The terminal as it is now.
        terminal: Box<TerminalInfo>,
    },
    /// Something was typed into a terminal.
    TerminalInput {
        /// The terminal.
        terminal_id: TerminalId,
        /// The call whose command read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// Who typed.
        by: Typist,
        /// What was typed, a line at a time; empty where it was not shown.
        text: String,
        /// Whether it was typed while the terminal showed nothing of it, as a password. It is kept nowhere.
        #[serde(default)]
        hidden: bool,
    },
    /// The user runs a command of their own: `!command`, or `!!command`, which the model does not see.
    UserCommandStarted {
        /// Its id, where a call has one.
        tool_call_id: ToolCallId,
        /// The command line.
        command: String,
        /// Whether it is part of the model's context.
        in_context: bool,
    },
    /// The user's own command ended.
    UserCommandEnded {
        /// Its id.
        tool_call_id: ToolCallId,
        /// What it printed, as a model reads it.
        text: String,
        /// Its exit code; absent where it was stopped or could not be run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// How long it ran, in milliseconds.
        duration_ms: u64,
    },
    /// A command of a turn changed files of the project, or another program did while the turn ran.
    FilesChanged {
        /// The turn.
        turn_id: TurnId,
        /// The call that ran it; absent where it was not while a command ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// The files, sorted by URI.
        files: Vec<ChangedFile>,
    },
    /// What a file is was looked at where nobody could tell it later.
    FileSeen {
        /// The file.
        uri: String,
        /// What it is; absent where there is no file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<FileImage>,
        /// When it was looked at.
        occasion: SeenOccasion,
    },
    /// What turns did to files was taken back, or put again. Part of the model's context.
    CheckpointRestored {
        /// Which way.
        direction: Direction,
        /// The turns, newest first.
        turn_ids: Vec<TurnId>,
        /// What became of each file.
        files: Vec<RestoredFile>,
    },
    /// A word to the user: something that is worth knowing and needs no answer.
    Notice {
        /// How grave it is.
        severity: Severity,
        /// What it says.
        text: String,
    },
    /// The context filled up: the results of these calls were replaced by a short note.
    ContextTrimmed {
        /// The turn.
        turn_id: TurnId,
        /// The calls whose results the model no longer sees.
        tool_call_ids: Vec<ToolCallId>,
    },
    /// A model was asked outside a turn. It counts for the session's usage and cost.
    SideAsked {
        /// What for.
        role: SideRole,
        /// The model's id.
        model: String,
        /// What the request used.
        usage: Usage,
        /// What it cost in US dollars; absent if the model's price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// Why there is no answer; absent if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// How full the context is.
    ContextUsed {
        /// Tokens of the last request.
        used: u64,
        /// The model's limit.
        limit: u64,
    },
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn_id: TurnId,
        /// Why.
        stop_reason: StopReason,
        /// What failed, or why the answer is not whole or the model would not give one, and what to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// What the turn used.
        usage: Usage,
        /// What the turn cost in US dollars; absent where a price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// How many errors its edits brought that are still there, as language servers see it. Absent where there is
        /// none, and where nobody could tell.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_errors: Option<u32>,
    },
}

/// How grave a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something may not be as expected.
    Warning,
    /// Something failed.
    Error,
}

/// When a file was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeenOccasion {
    /// An accepted edit is about to delete it.
    Deletion,
    /// It was saved in the editor, after an edit had made it to which another file is still to be moved.
    Save,
    /// The session was opened by another process, and the file is not as it was left.
    Restart,
}

/// How applying an edit went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ApplyOutcome {
    /// The text was seen to be as expected.
    Verified,
    /// The client said yes, but did not show the text in time.
    Unverified,
    /// Nothing was changed.
    Failed {
        /// Why.
        reason: String,
    },
}
