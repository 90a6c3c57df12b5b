//! Events: everything that happens in a session, in order. Everything shown is a fold of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::sequenced::{EventParams, SequencedEvent};
pub use crate::checkpoint::SeenOccasion;
use crate::checkpoint::{ChangedFile, Direction, FileImage, RestoredFile};
use crate::compaction::{Compaction, CompactionReason};
pub use crate::content::Severity;
use crate::content::{Location, Opening, PlanEntry, SideRole, Timing, ToolKind, Usage};
use crate::model::{AccountSwitch, SwitchReason, ThinkingLevel, Thinks};
use crate::permission::{PermissionOutcome, PermissionRequest};
pub use crate::review::ApplyOutcome;
use crate::review::{AutoScope, Decision, Proposal};
use crate::session::{Mode, Purpose, Terms};
use crate::terminal::{TerminalInfo, Typist};
use crate::turn::StopReason;
use crate::{
    AssistantBlock, CompactionId, HunkId, MessageId, PermissionId, PromptBlock, ProposalId, QueueId, SessionId,
    TerminalId, ToolCallId, ToolResult, TurnId,
};

mod kinds;
mod sequenced;

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The session began. Always the first event.
    SessionStarted {
        /// Its folders, as URIs.
        folders: Vec<String>,
        /// True if the user asked for it, so that it is kept even if it stays empty; absent in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asked_for: Option<bool>,
        /// The number of the following changes of model and mode that only say what the session starts with.
        #[serde(default)]
        begins_with: u32,
        /// The terms on which another session started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<Terms>,
        /// Its purpose; absent for a chat.
        #[serde(default, skip_serializing_if = "Purpose::is_chat")]
        purpose: Purpose,
    },
    /// The session has another purpose: it became a chat. People see it by the session's being among the chats.
    PurposeChanged {
        /// The purpose.
        purpose: Purpose,
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
        /// The level at which it thinks; absent if it thinks as it does by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<ThinkingLevel>,
        /// True if nobody chose it for this session: it is the model of new sessions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_default: bool,
        /// The chain that was chosen by name, of which it is one: the others are asked if it fails. Absent for a model
        /// that was chosen alone, or by default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chain: Option<String>,
    },
    /// Automatic accepting of edits was switched on or off.
    AcceptEditsChanged {
        /// True if edits are accepted automatically from now on.
        on: bool,
        /// The scope.
        #[serde(default)]
        scope: AutoScope,
    },
    /// The session's mode has changed.
    ModeChanged {
        /// The mode.
        mode: Mode,
    },
    /// A slash command was executed. It is not part of the model's context.
    CommandExecuted {
        /// The command as typed.
        command: String,
        /// Its output, in Markdown.
        message: String,
        /// True if it failed.
        #[serde(default)]
        is_error: bool,
    },
    /// A turn began, with the user's prompt.
    TurnStarted {
        /// The turn.
        turn_id: TurnId,
        /// The prompt. Empty if an earlier turn is continued.
        prompt: Vec<PromptBlock>,
        /// The content of the prompt's mentions and the editor's state, as the model reads it. It may be empty.
        #[serde(default)]
        context: String,
        /// The model's id.
        model: String,
        /// The mode.
        mode: Mode,
        /// The level at which the model thinks. Absent in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinks: Option<Thinks>,
        /// True if it only compacts the conversation: the model does not read the prompt.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        compacts: bool,
    },
    /// The user said something to the running turn; the model reads it from here on.
    Steered {
        /// The turn.
        turn_id: TurnId,
        /// The text.
        prompt: Vec<PromptBlock>,
        /// The content of its mentions.
        #[serde(default)]
        context: String,
    },
    /// A prompt waits for the turn's end.
    PromptQueued {
        /// The waiting prompt.
        queue_id: QueueId,
        /// Its text.
        prompt: Vec<PromptBlock>,
    },
    /// A waiting prompt has left the queue: it was started or taken back.
    PromptDequeued {
        /// The waiting prompt.
        queue_id: QueueId,
    },
    /// Azimuth told the model something: decisions on its edits, new problems. Part of its context.
    Noted {
        /// The turn.
        turn_id: TurnId,
        /// The text.
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
    /// A piece of an edit's diff, while its call still arrives. It follows the earlier pieces of the same call. These
    /// pieces are void once the message is complete or discarded, or the turn ends: the hunks that the call then
    /// proposes replace them.
    EditDelta {
        /// The message.
        message_id: MessageId,
        /// An id that is the same for the pieces of one call in the message. The call may be made under another id.
        tool_call_id: ToolCallId,
        /// The file, as the model names it, to be shown.
        path: String,
        /// The piece, in Markdown's `diff` notation: lines that begin with a space, `-`, `+`, or `@`. It may end within
        /// a line.
        text: String,
    },
    /// A message is complete. It has the text of its deltas again, with the tool calls.
    MessageCompleted {
        /// The turn.
        turn_id: TurnId,
        /// The message.
        message_id: MessageId,
        /// The complete content.
        content: Vec<AssistantBlock>,
        /// The tokens of the request.
        usage: Usage,
        /// The cost of the request in US dollars; absent if the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// The time that the answer took; absent in logs of older versions, and if it broke off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timing: Option<Timing>,
        /// The vendor's words at the beginning of its answer; absent if there were none.
        #[serde(default, skip_serializing_if = "Opening::is_empty")]
        opening: Opening,
    },
    /// A message was cut off and will be requested again; what was shown of it is void.
    MessageDiscarded {
        /// The message.
        message_id: MessageId,
    },
    /// A request to the model used tokens although no message came of it: it failed, was stopped, or its answer was
    /// empty. It is part of what the end of the turn says.
    RequestPaid {
        /// The turn.
        turn_id: TurnId,
        /// The tokens of the request.
        usage: Usage,
        /// The cost of the request in US dollars; absent if the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// The vendor's words at the beginning of its answer; absent if there were none.
        #[serde(default, skip_serializing_if = "Opening::is_empty")]
        opening: Opening,
    },
    /// A request to the model failed temporarily and is tried again. If the user ends the delay, it comes once more,
    /// with a delay of 0.
    Retrying {
        /// The turn.
        turn_id: TurnId,
        /// The number of the retry, from 1.
        attempt: u32,
        /// The number of retries that there may be; absent in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<u32>,
        /// The delay before it, in milliseconds from the time of the event.
        delay_ms: u64,
        /// The reason for the failure.
        reason: String,
    },
    /// The turn asks another model from here on. The session keeps its own.
    TurnModelChanged {
        /// The turn.
        turn_id: TurnId,
        /// The id of the model that is asked from here on.
        model: String,
        /// The level at which it thinks; absent if it thinks as it does by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        thinking: Option<ThinkingLevel>,
        /// The id of the model that would have been asked.
        instead_of: String,
        /// The reason.
        reason: SwitchReason,
        /// The time until which no turn asks that one if its chain has another; absent if it is asked again at once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<u64>,
        /// The failure of that one; absent if the reason says it all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Set if the model stays the same, and another key or account of the user's at its provider is used from
        /// here on. Then reason, time and failure are those of the account before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        account: Option<AccountSwitch>,
    },
    /// The model's plan, with the status of its steps. It replaces the turn's earlier plan.
    PlanUpdated {
        /// The turn.
        turn_id: TurnId,
        /// The steps, in their order.
        entries: Vec<PlanEntry>,
        /// True if the user changed it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_user: bool,
    },
    /// A tool call started.
    ToolCallStarted {
        /// The turn.
        turn_id: TurnId,
        /// The call.
        tool_call_id: ToolCallId,
        /// The tool.
        name: String,
        /// The tool's kind.
        kind: ToolKind,
        /// A short title: `Reading main.rs`.
        title: String,
        /// Its input.
        input: Value,
        /// The locations that it is about.
        #[serde(default)]
        locations: Vec<Location>,
    },
    /// A tool call ended.
    ToolCallEnded {
        /// The turn.
        turn_id: TurnId,
        /// The result that the model reads.
        result: ToolResult,
        /// A short summary: `3 matches`, `+2 -1`.
        #[serde(default)]
        summary: String,
        /// The locations that it is about.
        #[serde(default)]
        locations: Vec<Location>,
        /// Its duration, in milliseconds.
        duration_ms: u64,
        /// The input as the model reads it from here on, if that is the applied edit and not the one that it wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rewritten_input: Option<Value>,
    },
    /// A session that a call started did something: its turn began, its model answered or was changed, or called a
    /// tool. What its requests used is part of this session's usage and cost, but not of what the end of the turn says.
    ChildWorked {
        /// The turn of the call.
        turn_id: TurnId,
        /// The call that started it.
        tool_call_id: ToolCallId,
        /// The session that was started.
        child: SessionId,
        /// The id of the model that it asks.
        model: String,
        /// The number of its model's answers so far.
        rounds: u32,
        /// The title of the call of a tool that it makes: `Reading main.rs`. Absent if it waits for its model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        doing: Option<String>,
        /// The tokens of its requests since the last of these events of it.
        usage: Usage,
        /// The cost of these requests in US dollars; absent if there were none, or if the price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// The user is asked.
    PermissionAsked {
        /// The turn.
        turn_id: TurnId,
        /// The question.
        request: PermissionRequest,
    },
    /// A question was answered or became moot.
    PermissionAnswered {
        /// The question.
        permission_id: PermissionId,
        /// The answer.
        outcome: PermissionOutcome,
    },
    /// Something was allowed or denied without asking.
    PermissionJudged {
        /// The call.
        tool_call_id: ToolCallId,
        /// True if it was allowed.
        allowed: bool,
        /// The rule or default, and its source.
        reason: String,
    },
    /// A proposal is new, or has changed.
    ProposalChanged {
        /// The current proposal.
        proposal: Proposal,
    },
    /// Hunks were decided.
    ReviewDecided {
        /// The proposal.
        proposal_id: ProposalId,
        /// The hunks.
        hunk_ids: Vec<HunkId>,
        /// The answer.
        decision: Decision,
        /// A message to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Accepted hunks were applied to their document, or could not be.
    EditApplied {
        /// The proposal.
        proposal_id: ProposalId,
        /// The hunks.
        hunk_ids: Vec<HunkId>,
        /// The last turn that had a part in them. Absent in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn_id: Option<TurnId>,
        /// The document.
        uri: String,
        /// The hash of its text before; absent if there was no file. The text is kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<String>,
        /// The hash of its text after, which is kept too; absent if there is no file any more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<String>,
        /// For a deleted file: the file before, beyond its text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deleted: Option<Box<FileImage>>,
        /// The outcome.
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
        /// The formatter's name to show; absent if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// A command started in a terminal.
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
        /// Its exit code; absent if it was killed or timed out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// A terminal is new or has changed: the command in it, if it waits for input, or who has taken it over.
    TerminalChanged {
        /// The current state of the terminal.
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
        /// The typed text, a line at a time; empty if it was not shown.
        text: String,
        /// True if the terminal did not show it, as for a password. It is kept nowhere.
        #[serde(default)]
        hidden: bool,
    },
    /// The user runs a command of their own: `!command`, or `!!command`, which the model does not see.
    UserCommandStarted {
        /// Its id, in the place of a call's.
        tool_call_id: ToolCallId,
        /// The command line.
        command: String,
        /// True if it is part of the model's context.
        in_context: bool,
    },
    /// The user's own command ended.
    UserCommandEnded {
        /// Its id.
        tool_call_id: ToolCallId,
        /// Its output, as the model reads it.
        text: String,
        /// Its exit code; absent if it was stopped or could not be run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// Its duration, in milliseconds.
        duration_ms: u64,
    },
    /// A turn's command, or another program during the turn, changed files of the project.
    FilesChanged {
        /// The turn.
        turn_id: TurnId,
        /// The call that ran the command; absent if no command ran at that time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<ToolCallId>,
        /// The files, sorted by URI.
        files: Vec<ChangedFile>,
    },
    /// The state of a file was recorded because it could not be determined later.
    FileSeen {
        /// The file.
        uri: String,
        /// The file; absent if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        now: Option<FileImage>,
        /// The occasion.
        occasion: SeenOccasion,
    },
    /// Turns' changes of files were undone or redone. Part of the model's context.
    CheckpointRestored {
        /// The direction.
        direction: Direction,
        /// The turns, newest first.
        turn_ids: Vec<TurnId>,
        /// The outcome for each file.
        files: Vec<RestoredFile>,
    },
    /// A notice to the user, which needs no answer.
    Notice {
        /// Its severity.
        severity: Severity,
        /// Its text.
        text: String,
    },
    /// The context filled up: the results of these calls were replaced by a short note.
    ContextTrimmed {
        /// The turn.
        turn_id: TurnId,
        /// The calls whose results the model no longer sees.
        tool_call_ids: Vec<ToolCallId>,
        /// How the model reads those again that are kept, in words, in the same order; empty for one that is not, and
        /// in logs of older versions.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept: Vec<String>,
    },
    /// A handover is being written, for which the model is asked.
    Compacting {
        /// The turn.
        turn_id: TurnId,
        /// The reason.
        reason: CompactionReason,
    },
    /// The beginning of the conversation was replaced by a handover.
    Compacted {
        /// The turn.
        turn_id: TurnId,
        /// The handover.
        compaction: Box<Compaction>,
    },
    /// No handover could be written. The conversation stays as it is.
    CompactionFailed {
        /// The turn.
        turn_id: TurnId,
        /// The reason, and what to do.
        error: String,
    },
    /// The user corrected what a model wrote of a handover.
    CompactionCorrected {
        /// The handover.
        compaction_id: CompactionId,
        /// The text in its place.
        written: String,
    },
    /// The user took a handover back: the model sees the replaced messages again.
    CompactionTakenBack {
        /// The handover.
        compaction_id: CompactionId,
    },
    /// A model was asked outside a turn. It counts for the session's usage and cost.
    SideAsked {
        /// The purpose.
        role: SideRole,
        /// The model's id.
        model: String,
        /// The tokens of the request.
        usage: Usage,
        /// The cost of the request in US dollars; absent if the model's price is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// Why there is no answer; absent if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// The size of the context.
    ContextUsed {
        /// Tokens of the last request.
        used: u64,
        /// The model's limit, in tokens.
        limit: u64,
        /// The tokens from which on old results are taken out; absent in logs of older versions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full: Option<u64>,
    },
    /// A turn ended.
    TurnEnded {
        /// The turn.
        turn_id: TurnId,
        /// The reason.
        stop_reason: StopReason,
        /// The failure, or why the answer is incomplete or the model refused, and what to do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The tokens of the turn, without those of sessions that its calls started.
        usage: Usage,
        /// The cost of the turn in US dollars, as far as it is known; absent if no price is. The events of its requests
        /// say for which the price is unknown. Without that of sessions that its calls started.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
        /// The number of errors that its edits caused and that language servers still report. Absent if there are none,
        /// or if it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        new_errors: Option<u32>,
    },
}
