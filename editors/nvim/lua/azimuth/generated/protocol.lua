-- Generated from the Rust crate `protocol` by `cargo run -p xtask -- codegen`. Do not edit.

---The text was seen to be as expected.
---@class azimuth.ApplyOutcome.Verified
---@field type "verified"

---The client said yes, but did not show the text in time.
---@class azimuth.ApplyOutcome.Unverified
---@field type "unverified"

---Nothing was changed.
---@class azimuth.ApplyOutcome.Failed
---@field type "failed"
---@field reason string Why.

---How applying an edit went.
---@alias azimuth.ApplyOutcome
---| azimuth.ApplyOutcome.Verified
---| azimuth.ApplyOutcome.Unverified
---| azimuth.ApplyOutcome.Failed

---Markdown text.
---@class azimuth.AssistantBlock.Text
---@field type "text"
---@field text string The text.
---@field vendor? any What the vendor wants back unchanged (a signature, a phase). Opaque.

---The model's thinking.
---@class azimuth.AssistantBlock.Thinking
---@field type "thinking"
---@field text string What may be shown; can be empty where a vendor hides it.
---@field vendor? any What the vendor wants back unchanged (signature, encrypted content). Opaque.

---A wish to call a tool.
---@class azimuth.AssistantBlock.ToolCall
---@field type "toolCall"
---@field id azimuth.ToolCallId The call.
---@field name string The tool.
---@field input any Its input, an object.
---@field vendor? any What the vendor wants back unchanged (a signature, its own id). Opaque.

---A piece of an assistant's message.
---@alias azimuth.AssistantBlock
---| azimuth.AssistantBlock.Text
---| azimuth.AssistantBlock.Thinking
---| azimuth.AssistantBlock.ToolCall

---For how long edits are accepted as they come.
---@alias azimuth.AutoScope
---| "session" # In this session, until the server ends.
---| "project" # In every session of the project, for good. It is kept in the user's data, never in the project.

---A prompt to begin with.
---@class azimuth.Beginning
---@field title string What it does, for people, such as `Explain main.rs`.
---@field prompt azimuth.PromptBlock[] The prompt. It can be sent as it is.

---How sure it is that a command waits for input.
---@alias azimuth.Certainty
---| "certain" # It was seen to read from the terminal.
---| "probable" # It has the terminal open, polls, uses no processor time and has printed nothing for a while.

---A file that a command changed.
---@class azimuth.ChangedFile
---@field uri string The document.
---@field before? azimuth.FileImage What it was; absent where there was none, and where `unknown` says so.
---@field after? azimuth.FileImage What it is now; absent where there is none, and where `unknown` says so.
---@field unknown? string Why what it was, or is, is not kept, so that the change cannot be undone; absent where it can.

---What a turn did to files.
---@class azimuth.Checkpoint
---@field turnId azimuth.TurnId The turn.
---@field files azimuth.CheckpointFile[] The files, sorted by path.

---What turns did to a file, and how that stands.
---@class azimuth.CheckpointFile
---@field uri string The document.
---@field path string Its path for people: relative to the workspace folder.
---@field change azimuth.FileChange What the turns made of it. To undo is the reverse of it.
---@field added integer Lines that they added.
---@field removed integer Lines that they removed.
---@field state azimuth.CheckpointState How it stands.
---@field reason? string Why it is so, in words, where it can be neither undone nor redone as it is.
---@field merges? boolean Where it was changed since: whether what the turns did can be taken out of it, or put into it, while the rest stays. Confirmed, that is done then, and else all of it is set.
---@field now? string The hash of its text as it is now; absent where there is no file. Confirming needs it.

---Parameters of `azimuth/checkpoint/list`.
---@class azimuth.CheckpointListParams
---@field sessionId azimuth.SessionId The session.
---@field limit? integer At most this many turns; 20 without it.

---Result of `azimuth/checkpoint/list`.
---@class azimuth.CheckpointListResult
---@field turns azimuth.Checkpoint[] The turns that changed files, newest first.
---@field more boolean Whether there are older ones.

---Parameters of `azimuth/checkpoint/preview`.
---@class azimuth.CheckpointPreviewParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId The turn; without it, the one that `undo` or `redo` would take.
---@field andLater? boolean Also all turns after it: back to the message that began it.
---@field direction? azimuth.Direction Whether to look at undoing, which it is without it, or at redoing.

---Result of `azimuth/checkpoint/preview`.
---@class azimuth.CheckpointPreviewResult
---@field turnIds azimuth.TurnId[] The turns, newest first. Empty where there is nothing to take back or to put again.
---@field files azimuth.CheckpointFile[] The files that it is about, sorted by path, each as one step over all the turns.
---@field pendingHunks integer How many of these turns' hunks are undecided. To undo rejects them, and to redo does not bring them back.

---Parameters of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
---@class azimuth.CheckpointRestoreParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId The turn. Without it, to undo: the last one that changed files and was not undone; to redo: those that were undone last.
---@field andLater? boolean Also all turns after it: back to the message that began it.
---@field confirmed? azimuth.ConfirmedFile[] The files that were changed since and are to be set all the same, each as the user saw it.

---Result of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
---@class azimuth.CheckpointRestoreResult
---@field turnIds azimuth.TurnId[] The turns, newest first. Empty where there was nothing to take back or to put again.
---@field files azimuth.RestoredFile[] What became of each file, sorted by path.

---How a file that turns changed stands.
---@alias azimuth.CheckpointState
---| "applied" # It is as the turns left it, and can be undone.
---| "undone" # It is as it was before them: taken back, and can be put again.
---| "changed_since" # It is neither: somebody changed it since. It is left as it is unless that is confirmed.
---| "not_kept" # It cannot be taken back or put again: what it was is no longer kept, or never was.
---| "unreadable" # What it is now cannot be told.

---What a client says of itself in `initialize`, under `capabilities.experimental.azimuth`. A client that says nothing there gets no `azimuth/*` message that it did not ask for.
---@class azimuth.ClientCapabilities
---@field panel? boolean It shows sessions: it handles `azimuth/event` and `azimuth/terminal/output`, and answers questions.
---@field save? boolean It answers `azimuth/editor/save`.
---@field text? boolean It answers `azimuth/editor/text`.
---@field format? boolean It answers `azimuth/editor/format`.
---@field query? boolean It answers `azimuth/editor/query`.

---A completion of the prompt.
---@class azimuth.CompletionItem
---@field kind azimuth.CompletionKind What it is.
---@field label string What to show.
---@field detail string A word about it.
---@field insert string What to put in place of the token.
---@field uri? string For a file: its URI, to be sent as a `file` block.

---What a completion is.
---@alias azimuth.CompletionKind
---| "command" # A slash command.
---| "argument" # A value for a slash command's argument.
---| "file" # A file, after `@`.

---A file that was changed since, and is to be set all the same. What it is now is kept, and `redo` brings it back.
---@class azimuth.ConfirmedFile
---@field uri string The document.
---@field now? string The hash of its text as the user saw it, from `now` of the preview or the list; absent where there was no file. Of a file with another text by now nothing is confirmed.

---What to do with hunks.
---@alias azimuth.Decision
---| "accept" # Put them into the document.
---| "reject" # Drop them; the model is told.

---What a decision is about.
---@class azimuth.DecisionTarget
---@field proposalId azimuth.ProposalId The proposal.
---@field revision integer Its revision as the user saw it.
---@field hunkIds? azimuth.HunkId[] The hunks; without them, all that are pending.

---Which way.
---@alias azimuth.Direction
---| "undo" # Back to what was before.
---| "redo" # Again to what was undone.

---An empty result.
---@class azimuth.Done

---Parameters of `azimuth/editor/save` and `azimuth/editor/text`.
---@class azimuth.EditorDocumentParams
---@field uri string The document.

---Parameters of `azimuth/editor/format`.
---@class azimuth.EditorFormatParams
---@field uri string The document.
---@field version integer The version of it that is to be formatted. For another one there is no text in the result.
---@field lines? azimuth.LineRange[] The lines to format, from top to bottom, not overlapping; all of the document where there are none. A formatter that cannot format a part formats nothing then.

---Result of `azimuth/editor/format`. Nothing is changed by the request: the server puts the text into the document as it does an accepted edit.
---@class azimuth.EditorFormatResult
---@field text? string What the whole document would be, formatted; absent where nothing formats it, or it is at another version.
---@field by? string What formats it, for people, such as a language server's name; absent where that is not known.

---Parameters of `azimuth/editor/query`.
---@class azimuth.EditorQueryParams
---@field query azimuth.LangQuery The question.
---@field timeoutMs integer How long the client may take, in milliseconds. Then it answers with the status `timedOut`, or with what it has as `partial`.

---Result of `azimuth/editor/save`.
---@class azimuth.EditorSaveResult
---@field saved boolean Whether the document's text is on disk now.

---Result of `azimuth/editor/text`.
---@class azimuth.EditorTextResult
---@field text? string The document's text as the editor holds it; absent where the editor does not have it open.

---The session began. Always the first event.
---@class azimuth.Event.SessionStarted
---@field type "sessionStarted"
---@field folders string[] Its folders, as URIs.
---@field beginsWith integer How many of the next changes of its model and mode only say what it begins with.
---@field askedFor? boolean Whether the user asked for it by a command, so that it is kept even if nothing is said in it. Absent in logs of older versions.

---The session has a new title.
---@class azimuth.Event.TitleChanged
---@field type "titleChanged"
---@field title string The title.

---The session uses another model.
---@class azimuth.Event.ModelChanged
---@field type "modelChanged"
---@field model string The model's id.
---@field scripted boolean True for a model that plays a script; an interface must say so.

---Edits are accepted as they come from now on, or no longer.
---@class azimuth.Event.AcceptEditsChanged
---@field type "acceptEditsChanged"
---@field on boolean Whether edits are accepted as they come, from now on.
---@field scope azimuth.AutoScope For how long.

---The session is in another mode.
---@class azimuth.Event.ModeChanged
---@field type "modeChanged"
---@field mode azimuth.Mode The mode.

---A slash command was executed. It is not part of the model's context.
---@class azimuth.Event.CommandExecuted
---@field type "commandExecuted"
---@field command string The command as typed.
---@field message string What came of it, in Markdown.
---@field isError boolean Whether it failed.

---A turn began, with the user's prompt.
---@class azimuth.Event.TurnStarted
---@field type "turnStarted"
---@field turnId azimuth.TurnId The turn.
---@field prompt azimuth.PromptBlock[] The prompt. Empty where an earlier turn is gone on with.
---@field context string What the prompt's mentions and the editor's state came to, as the model reads it. May be empty.
---@field model string The model's id.
---@field mode azimuth.Mode The mode.

---The user said something to the running turn; the model reads it from here on.
---@class azimuth.Event.Steered
---@field type "steered"
---@field turnId azimuth.TurnId The turn.
---@field prompt azimuth.PromptBlock[] What was said.
---@field context string What its mentions came to.

---A prompt waits for the turn's end.
---@class azimuth.Event.PromptQueued
---@field type "promptQueued"
---@field queueId azimuth.QueueId The waiting prompt.
---@field prompt azimuth.PromptBlock[] What it says.

---A waiting prompt is no longer one: it was started or taken back.
---@class azimuth.Event.PromptDequeued
---@field type "promptDequeued"
---@field queueId azimuth.QueueId The waiting prompt.

---The model was told something by us: decisions on its edits, new problems. Part of its context.
---@class azimuth.Event.Noted
---@field type "noted"
---@field turnId azimuth.TurnId The turn.
---@field text string What it was told.

---A piece of the assistant's text.
---@class azimuth.Event.MessageDelta
---@field type "messageDelta"
---@field messageId azimuth.MessageId The message.
---@field text string The piece.

---A piece of the model's thinking.
---@class azimuth.Event.ThinkingDelta
---@field type "thinkingDelta"
---@field messageId azimuth.MessageId The message.
---@field text string The piece.

---A piece of the diff that an edit comes to, while the call for it still arrives. It goes behind the pieces of the same call before it. What such pieces say is void once the message is whole or discarded, or the turn ends: the hunks that the call then proposes stand for it.
---@class azimuth.Event.EditDelta
---@field type "editDelta"
---@field messageId azimuth.MessageId The message.
---@field toolCallId azimuth.ToolCallId Tells the pieces of one call from those of others of the message. The call may be made under another id.
---@field path string The file, for people: as the model names it.
---@field text string The piece, in Markdown's `diff` notation: lines that begin with a space, `-`, `+`, or `@`. It may end within a line.

---A message is whole. What its deltas said stands here again, with the tool calls.
---@class azimuth.Event.MessageCompleted
---@field type "messageCompleted"
---@field turnId azimuth.TurnId The turn.
---@field messageId azimuth.MessageId The message.
---@field content azimuth.AssistantBlock[] All of it.
---@field usage azimuth.Usage What the request used.
---@field cost? number What the request cost in US dollars; absent where the price is unknown.

---A message broke off and will be asked for again; what was shown of it is void.
---@class azimuth.Event.MessageDiscarded
---@field type "messageDiscarded"
---@field messageId azimuth.MessageId The message.

---A request to the model failed in passing and is tried again.
---@class azimuth.Event.Retrying
---@field type "retrying"
---@field turnId azimuth.TurnId The turn.
---@field attempt integer Which retry this is, from 1.
---@field delayMs integer How long it waits first, in milliseconds.
---@field reason string What went wrong.

---The model says what it is going to do, and how far it is. It takes the place of the turn's plan before it.
---@class azimuth.Event.PlanUpdated
---@field type "planUpdated"
---@field turnId azimuth.TurnId The turn.
---@field entries azimuth.PlanEntry[] The steps, in their order.

---A tool call begins.
---@class azimuth.Event.ToolCallStarted
---@field type "toolCallStarted"
---@field turnId azimuth.TurnId The turn.
---@field toolCallId azimuth.ToolCallId The call.
---@field name string The tool.
---@field kind azimuth.ToolKind What kind of thing it does.
---@field title string What it does, in a few words: `Reading main.rs`.
---@field input any Its input.
---@field locations azimuth.Location[] The places it is about.

---A tool call ended.
---@class azimuth.Event.ToolCallEnded
---@field type "toolCallEnded"
---@field turnId azimuth.TurnId The turn.
---@field result azimuth.ToolResult What the model reads of it.
---@field summary string What it came to, in a few words: `3 matches`, `+2 -1`.
---@field locations azimuth.Location[] The places it is about.
---@field durationMs integer How long it ran, in milliseconds.
---@field rewrittenInput? any The input as the model reads it from here on, where that is the edit that was applied and not the one that it wrote.

---The user is asked.
---@class azimuth.Event.PermissionAsked
---@field type "permissionAsked"
---@field turnId azimuth.TurnId The turn.
---@field request azimuth.PermissionRequest The question.

---A question was answered or fell away.
---@class azimuth.Event.PermissionAnswered
---@field type "permissionAnswered"
---@field permissionId azimuth.PermissionId The question.
---@field outcome azimuth.PermissionOutcome How.

---Something was allowed or denied without asking; why.
---@class azimuth.Event.PermissionJudged
---@field type "permissionJudged"
---@field toolCallId azimuth.ToolCallId The call.
---@field allowed boolean Whether it may go on.
---@field reason string The rule or default, and where it comes from.

---The pending change of a file is new, or has changed.
---@class azimuth.Event.ProposalChanged
---@field type "proposalChanged"
---@field proposal azimuth.Proposal The proposal as it is now.

---Hunks were decided.
---@class azimuth.Event.ReviewDecided
---@field type "reviewDecided"
---@field proposalId azimuth.ProposalId The proposal.
---@field hunkIds azimuth.HunkId[] The hunks.
---@field decision azimuth.Decision How.
---@field message? string A word to the model.

---Accepted hunks were put into their document, or could not be.
---@class azimuth.Event.EditApplied
---@field type "editApplied"
---@field proposalId azimuth.ProposalId The proposal.
---@field hunkIds azimuth.HunkId[] The hunks.
---@field uri string The document.
---@field outcome azimuth.ApplyOutcome How it went.
---@field turnId? azimuth.TurnId The turn that they belong to: the last of those that had a part in them. Absent in logs of older versions.
---@field before? string The hash of its text before; absent for a file that was not there. The text is kept.
---@field after? string The hash of its text after, which is kept too; absent where it is no more.
---@field deleted? azimuth.FileImage Where a file was deleted, what it was beyond its text.

---A document was formatted after edits in it were accepted.
---@class azimuth.Event.Formatted
---@field type "formatted"
---@field uri string The document.
---@field before string The hash of its text before. The text is kept.
---@field after string The hash of its text after, which is kept too.
---@field added integer Lines that the formatter added.
---@field removed integer Lines that it removed.
---@field turnId? azimuth.TurnId The turn that the edits belong to.
---@field by? string What formatted it, for people; absent where that is not known.

---A command begins in a terminal.
---@class azimuth.Event.TerminalStarted
---@field type "terminalStarted"
---@field terminalId azimuth.TerminalId The terminal.
---@field toolCallId azimuth.ToolCallId The call that started it.
---@field command string The command line.
---@field cwd string The folder it starts in.
---@field offset integer The offset of its first byte of output.

---A command ended.
---@class azimuth.Event.TerminalEnded
---@field type "terminalEnded"
---@field terminalId azimuth.TerminalId The terminal.
---@field toolCallId azimuth.ToolCallId The call that started it.
---@field offset integer The offset after its last byte of output.
---@field exitCode? integer Its exit code; absent where it was killed or timed out.

---A terminal is new or has changed: what runs in it, whether that waits for input, who has it.
---@class azimuth.Event.TerminalChanged
---@field type "terminalChanged"
---@field terminal azimuth.TerminalInfo The terminal as it is now.

---Something was typed into a terminal.
---@class azimuth.Event.TerminalInput
---@field type "terminalInput"
---@field terminalId azimuth.TerminalId The terminal.
---@field by azimuth.Typist Who typed.
---@field text string What was typed, a line at a time; empty where it was not shown.
---@field hidden boolean Whether it was typed while the terminal showed nothing of it, as a password. It is kept nowhere.
---@field toolCallId? azimuth.ToolCallId The call whose command read it.

---The user runs a command of their own: `!command`, or `!!command`, which the model does not see.
---@class azimuth.Event.UserCommandStarted
---@field type "userCommandStarted"
---@field toolCallId azimuth.ToolCallId Its id, where a call has one.
---@field command string The command line.
---@field inContext boolean Whether it is part of the model's context.

---The user's own command ended.
---@class azimuth.Event.UserCommandEnded
---@field type "userCommandEnded"
---@field toolCallId azimuth.ToolCallId Its id.
---@field text string What it printed, as a model reads it.
---@field durationMs integer How long it ran, in milliseconds.
---@field exitCode? integer Its exit code; absent where it was stopped or could not be run.

---A command of a turn changed files of the project, or another program did while the turn ran.
---@class azimuth.Event.FilesChanged
---@field type "filesChanged"
---@field turnId azimuth.TurnId The turn.
---@field files azimuth.ChangedFile[] The files, sorted by URI.
---@field toolCallId? azimuth.ToolCallId The call that ran it; absent where it was not while a command ran.

---What a file is was looked at where nobody could tell it later.
---@class azimuth.Event.FileSeen
---@field type "fileSeen"
---@field uri string The file.
---@field occasion azimuth.SeenOccasion When it was looked at.
---@field now? azimuth.FileImage What it is; absent where there is no file.

---What turns did to files was taken back, or put again. Part of the model's context.
---@class azimuth.Event.CheckpointRestored
---@field type "checkpointRestored"
---@field direction azimuth.Direction Which way.
---@field turnIds azimuth.TurnId[] The turns, newest first.
---@field files azimuth.RestoredFile[] What became of each file.

---A word to the user: something that is worth knowing and needs no answer.
---@class azimuth.Event.Notice
---@field type "notice"
---@field severity azimuth.Severity How grave it is.
---@field text string What it says.

---The context filled up: the results of these calls were replaced by a short note.
---@class azimuth.Event.ContextTrimmed
---@field type "contextTrimmed"
---@field turnId azimuth.TurnId The turn.
---@field toolCallIds azimuth.ToolCallId[] The calls whose results the model no longer sees.

---A model was asked outside a turn. It counts for the session's usage and cost.
---@class azimuth.Event.SideAsked
---@field type "sideAsked"
---@field role azimuth.SideRole What for.
---@field model string The model's id.
---@field usage azimuth.Usage What the request used.
---@field cost? number What it cost in US dollars; absent if the model's price is unknown.
---@field error? string Why there is no answer; absent if there is one.

---How full the context is.
---@class azimuth.Event.ContextUsed
---@field type "contextUsed"
---@field used integer Tokens of the last request.
---@field limit integer The model's limit.

---A turn ended.
---@class azimuth.Event.TurnEnded
---@field type "turnEnded"
---@field turnId azimuth.TurnId The turn.
---@field stopReason azimuth.StopReason Why.
---@field usage azimuth.Usage What the turn used.
---@field error? string What failed, or why the answer is not whole or the model would not give one, and what to do.
---@field cost? number What the turn cost in US dollars; absent where a price is unknown.
---@field newErrors? integer How many errors its edits brought that are still there, as language servers see it. Absent where there is none, and where nobody could tell.

---What happened in a session.
---@alias azimuth.Event
---| azimuth.Event.SessionStarted
---| azimuth.Event.TitleChanged
---| azimuth.Event.ModelChanged
---| azimuth.Event.AcceptEditsChanged
---| azimuth.Event.ModeChanged
---| azimuth.Event.CommandExecuted
---| azimuth.Event.TurnStarted
---| azimuth.Event.Steered
---| azimuth.Event.PromptQueued
---| azimuth.Event.PromptDequeued
---| azimuth.Event.Noted
---| azimuth.Event.MessageDelta
---| azimuth.Event.ThinkingDelta
---| azimuth.Event.EditDelta
---| azimuth.Event.MessageCompleted
---| azimuth.Event.MessageDiscarded
---| azimuth.Event.Retrying
---| azimuth.Event.PlanUpdated
---| azimuth.Event.ToolCallStarted
---| azimuth.Event.ToolCallEnded
---| azimuth.Event.PermissionAsked
---| azimuth.Event.PermissionAnswered
---| azimuth.Event.PermissionJudged
---| azimuth.Event.ProposalChanged
---| azimuth.Event.ReviewDecided
---| azimuth.Event.EditApplied
---| azimuth.Event.Formatted
---| azimuth.Event.TerminalStarted
---| azimuth.Event.TerminalEnded
---| azimuth.Event.TerminalChanged
---| azimuth.Event.TerminalInput
---| azimuth.Event.UserCommandStarted
---| azimuth.Event.UserCommandEnded
---| azimuth.Event.FilesChanged
---| azimuth.Event.FileSeen
---| azimuth.Event.CheckpointRestored
---| azimuth.Event.Notice
---| azimuth.Event.ContextTrimmed
---| azimuth.Event.SideAsked
---| azimuth.Event.ContextUsed
---| azimuth.Event.TurnEnded

---Parameters of the notification `azimuth/event`.
---@class azimuth.EventParams
---@field sessionId azimuth.SessionId The session.
---@field seq integer Its number in the session: 1, 2, 3, … without gaps.
---@field at integer When it happened.
---@field event azimuth.Event What happened.

---What becomes of a file.
---@alias azimuth.FileChange
---| "create" # It is new.
---| "modify" # It is changed.
---| "delete" # It is deleted.

---A file as it was at a time. What it held is kept.
---@class azimuth.FileImage
---@field hash string The hash of its text, without byte order mark and with LF line ends.
---@field bytes? string The hash of its bytes, where these are known and not just the text's.
---@field executable? boolean Whether it could be run as a program; false also where that is not known.

---A piece of a change that is decided as one.
---@class azimuth.Hunk
---@field hunkId azimuth.HunkId The hunk.
---@field toolCallIds azimuth.ToolCallId[] The tool calls it came from.
---@field startLine integer First line it replaces in the document as it is now, from 0.
---@field oldText string The lines it replaces, with their line ends (LF). Empty for an insertion.
---@field newText string The lines it puts there, with their line ends (LF). Empty for a deletion.
---@field state azimuth.HunkState How it stands.
---@field lineBefore? string The line above those it replaces, with its line end; absent at the document's start.
---@field lineAfter? string The line below them, with its line end; absent at the document's end.
---@field anchor? string What the server finds the hunk by after a restart, where the document changed meanwhile; absent where its lines cannot be told from others in the document. Clients have no use for it.
---@field comments? string[] What the user said of it, the oldest first.
---@field untoldComments? integer How many of these, the last ones, the model has not been told. Clients have no use for it.

---A hunk. It keeps its id for as long as its content stays the same.
---@alias azimuth.HunkId string

---How a hunk stands.
---@alias azimuth.HunkState
---| "pending" # Not decided.
---| "applying" # Accepted, and on its way into the document.
---| "accepted" # Accepted, and seen in the document.
---| "unverified" # Accepted and sent, but nobody could tell whether it arrived.
---| "rejected" # Rejected.
---| "conflicted" # The text it was made for has changed; it cannot be accepted as it is.
---| "undone" # Accepted, then taken back by the user in the editor.

---Something that can be done.
---@class azimuth.LangAction
---@field title string What it does, for people; its name in `codeAction`.
---@field kind? string Its kind, such as `quickfix` or `refactor.extract`.
---@field preferred? boolean Whether it is the one that is likely meant.
---@field disabled? string Why it cannot be done here, if it cannot.

---There is no answer; the status says why.
---@class azimuth.LangAnswer.Nothing
---@field type "nothing"

---Places in code.
---@class azimuth.LangAnswer.Locations
---@field type "locations"
---@field locations azimuth.LangLocation[] The places.

---Text in Markdown.
---@class azimuth.LangAnswer.Text
---@field type "text"
---@field text string The text; empty where nothing is known.

---Symbols.
---@class azimuth.LangAnswer.Symbols
---@field type "symbols"
---@field symbols azimuth.LangSymbol[] The symbols.

---What calls or is called.
---@class azimuth.LangAnswer.Calls
---@field type "calls"
---@field calls azimuth.LangCall[] The callers, or the called.

---A change of files that was not made.
---@class azimuth.LangAnswer.Edit
---@field type "edit"
---@field changes azimuth.LangChange[] Its steps, in their order; empty where nothing would have to change.

---Problems.
---@class azimuth.LangAnswer.Diagnostics
---@field type "diagnostics"
---@field documents azimuth.LangDiagnostics[] The documents, those without problems too where they are known to have none.

---Things that can be done.
---@class azimuth.LangAnswer.Actions
---@field type "actions"
---@field actions azimuth.LangAction[] The actions.

---An answer, by what was asked.
---@alias azimuth.LangAnswer
---| azimuth.LangAnswer.Nothing
---| azimuth.LangAnswer.Locations
---| azimuth.LangAnswer.Text
---| azimuth.LangAnswer.Symbols
---| azimuth.LangAnswer.Calls
---| azimuth.LangAnswer.Edit
---| azimuth.LangAnswer.Diagnostics
---| azimuth.LangAnswer.Actions

---A caller, or something called.
---@class azimuth.LangCall
---@field symbol azimuth.LangSymbol What calls, or is called.
---@field ranges azimuth.Range[] Where the calls stand: in the caller, whichever that is.

---Parts of a document's text are replaced.
---@class azimuth.LangChange.Text
---@field type "text"
---@field uri string The document.
---@field edits azimuth.LangTextEdit[] The edits, all of the text before any of them, not overlapping.
---@field version? integer The version of it that the edits are made for, if it is open.
---@field hash? string The hash of the text that the edits are made for, where that is known: SHA-256 in hexadecimal, without byte order mark and with LF line ends.

---A file is made.
---@class azimuth.LangChange.Create
---@field type "create"
---@field uri string The file.

---A file or folder is moved.
---@class azimuth.LangChange.Rename
---@field type "rename"
---@field from string Where it is.
---@field to string Where it goes.

---A file or folder is deleted.
---@class azimuth.LangChange.Delete
---@field type "delete"
---@field uri string The file.

---A step of a change of files.
---@alias azimuth.LangChange
---| azimuth.LangChange.Text
---| azimuth.LangChange.Create
---| azimuth.LangChange.Rename
---| azimuth.LangChange.Delete

---A problem.
---@class azimuth.LangDiagnostic
---@field range azimuth.Range Where.
---@field severity azimuth.LangSeverity How bad.
---@field message string What.
---@field source? string Who says so, such as `rustc`.
---@field code? string Its code there, such as `E0308`.

---The problems of a document.
---@class azimuth.LangDiagnostics
---@field uri string The document.
---@field diagnostics azimuth.LangDiagnostic[] The problems.
---@field version? integer The version of it that they belong to, where that is known.

---A place in code.
---@class azimuth.LangLocation
---@field uri string The document.
---@field range azimuth.Range The place in it.

---Where is what stands here defined? Answered with `locations`.
---@class azimuth.LangQuery.Definition
---@field type "definition"
---@field uri string The document.
---@field position azimuth.Position The place.

---Where is the type of what stands here defined? Answered with `locations`.
---@class azimuth.LangQuery.TypeDefinition
---@field type "typeDefinition"
---@field uri string The document.
---@field position azimuth.Position The place.

---What implements what stands here? Answered with `locations`.
---@class azimuth.LangQuery.Implementation
---@field type "implementation"
---@field uri string The document.
---@field position azimuth.Position The place.

---Where is what stands here used? Its declaration is among them. Answered with `locations`.
---@class azimuth.LangQuery.References
---@field type "references"
---@field uri string The document.
---@field position azimuth.Position The place.

---What is known of what stands here? Answered with `text`.
---@class azimuth.LangQuery.Hover
---@field type "hover"
---@field uri string The document.
---@field position azimuth.Position The place.

---What symbols are in a document? Answered with `symbols`, each before those that are in it.
---@class azimuth.LangQuery.DocumentSymbols
---@field type "documentSymbols"
---@field uri string The document.

---What symbols of the workspace are called like this? Answered with `symbols`.
---@class azimuth.LangQuery.WorkspaceSymbols
---@field type "workspaceSymbols"
---@field query string What they are called, or a part of it.
---@field uri? string A document whose language servers are asked; all that run without one.

---What calls what stands here? Answered with `calls`.
---@class azimuth.LangQuery.IncomingCalls
---@field type "incomingCalls"
---@field uri string The document.
---@field position azimuth.Position The place.

---What does that call which stands here? Answered with `calls`.
---@class azimuth.LangQuery.OutgoingCalls
---@field type "outgoingCalls"
---@field uri string The document.
---@field position azimuth.Position The place.

---What are the supertypes of the type that stands here? Answered with `symbols`.
---@class azimuth.LangQuery.Supertypes
---@field type "supertypes"
---@field uri string The document.
---@field position azimuth.Position The place.

---What are the subtypes of the type that stands here? Answered with `symbols`.
---@class azimuth.LangQuery.Subtypes
---@field type "subtypes"
---@field uri string The document.
---@field position azimuth.Position The place.

---What would have to change, so that what stands here is called otherwise? Nothing is changed. Answered with `edit`.
---@class azimuth.LangQuery.Rename
---@field type "rename"
---@field uri string The document.
---@field position azimuth.Position The place.
---@field newName string The new name.

---What would have to change elsewhere, if a file or folder lay in another place? Nothing is changed, and the moving itself is not in the answer. Answered with `edit`.
---@class azimuth.LangQuery.MoveFile
---@field type "moveFile"
---@field from string Where it is.
---@field to string Where it would be.

---What problems are known? Answered with `diagnostics`.
---@class azimuth.LangQuery.Diagnostics
---@field type "diagnostics"
---@field uri? string The document; all of which something is known without it.

---What can be done for a part of a document? Answered with `actions`.
---@class azimuth.LangQuery.CodeActions
---@field type "codeActions"
---@field uri string The document.
---@field range azimuth.Range The part.
---@field kind? string Only actions of this kind, or of those below it, such as `quickfix`.

---What would an action change? Nothing is changed. Answered with `edit`; an action that does more than edit is `unsupported`.
---@class azimuth.LangQuery.CodeAction
---@field type "codeAction"
---@field uri string The document.
---@field range azimuth.Range The part.
---@field title string The action, by its title.
---@field kind? string The kind that it was asked for by, where it was: some servers make such actions only then.

---What would have to change, so that a document is formatted? Nothing is changed. Answered with `edit`.
---@class azimuth.LangQuery.Format
---@field type "format"
---@field uri string The document.

---Which servers run for a document, or at all? Answered with `nothing`; `servers` says it.
---@class azimuth.LangQuery.Servers
---@field type "servers"
---@field uri? string The document.

---A question about code. The document of a question need not be open.
---@alias azimuth.LangQuery
---| azimuth.LangQuery.Definition
---| azimuth.LangQuery.TypeDefinition
---| azimuth.LangQuery.Implementation
---| azimuth.LangQuery.References
---| azimuth.LangQuery.Hover
---| azimuth.LangQuery.DocumentSymbols
---| azimuth.LangQuery.WorkspaceSymbols
---| azimuth.LangQuery.IncomingCalls
---| azimuth.LangQuery.OutgoingCalls
---| azimuth.LangQuery.Supertypes
---| azimuth.LangQuery.Subtypes
---| azimuth.LangQuery.Rename
---| azimuth.LangQuery.MoveFile
---| azimuth.LangQuery.Diagnostics
---| azimuth.LangQuery.CodeActions
---| azimuth.LangQuery.CodeAction
---| azimuth.LangQuery.Format
---| azimuth.LangQuery.Servers

---What a question came to: result of `azimuth/editor/query`.
---@class azimuth.LangResult
---@field status azimuth.LangStatus How far the answer can be relied on.
---@field answer azimuth.LangAnswer The answer.
---@field servers? azimuth.LangServer[] Who answered, or would have. Empty where that cannot be told.
---@field version? integer The version of the document that it was answered for; none where it is not open.
---@field message? string What went wrong, or what is still missing, for people.

---A language server.
---@class azimuth.LangServer
---@field name string Its name, as it or its configuration says it.
---@field version? string Its version, if it says one.

---How bad a problem is.
---@alias azimuth.LangSeverity
---| "error" # An error.
---| "warning" # A warning.
---| "information" # A remark.
---| "hint" # A hint.

---How far an answer can be relied on. "There is none" is `ready` with an empty answer, and nothing else.
---@alias azimuth.LangStatus
---| "ready" # It is whole.
---| "indexing" # The server still reads the project: what there is may be there, more may come.
---| "partial" # There is more than was given, one of several servers did not answer, or it is not known whether it is of the text as it is now. The message says which.
---| "noServer" # No server is there for the document.
---| "unsupported" # The servers that are there cannot answer this.
---| "failed" # The server said that it could not; the message says why.
---| "crashed" # The server ended while it was asked.
---| "timedOut" # There was no answer in time.
---| "editorBusy" # The editor was busy and did not pass the question on.
---| "unseen" # It takes edits that wait for the user, which the servers do not see; the message says which.

---A symbol.
---@class azimuth.LangSymbol
---@field name string Its name.
---@field kind integer What it is: the number of LSP's `SymbolKind`.
---@field location azimuth.LangLocation All of it.
---@field selection azimuth.Range Its name in its definition; where that is not known, its beginning.
---@field detail? string More about it, such as its signature.
---@field container? string The name of what it is in.
---@field depth? integer In how many symbols of the same answer it lies.

---A part of a text, and what stands there instead.
---@class azimuth.LangTextEdit
---@field range azimuth.Range The part.
---@field newText string The new text.

---Whole lines of a document.
---@class azimuth.LineRange
---@field start integer The first, from 0.
---@field end integer The one after the last.

---A place in a file that an event speaks of; an editor can show it.
---@class azimuth.Location
---@field uri string The document.
---@field line? integer Line, from 0.

---A message of the assistant, whose deltas carry the same id.
---@alias azimuth.MessageId string

---What the agent may do in a turn.
---@alias azimuth.Mode
---| "ask" # Look, and answer; nothing is changed or run.
---| "plan" # Look, also with commands that are known only to read, and plan; nothing is changed.
---| "agent" # Everything, within the permissions: edits under review, commands that are allowed or asked for.
---| "accept_edits" # As `agent`, and edits are accepted as they come.
---| "bypass" # Nothing is asked. What rules deny stays denied, and what rules have asked is asked. It has to be confirmed.

---A model that can be chosen.
---@class azimuth.ModelInfo
---@field id string What to select it by: `provider/name`, such as `anthropic/claude-sonnet-5-5`.
---@field name string Its name for people.
---@field provider string Who serves it, such as `anthropic`, `openai`, `ollama`, `scripted`.
---@field contextTokens integer The context window in tokens.
---@field maxOutputTokens integer The longest answer in tokens.
---@field available boolean Whether it can be used now: a key is there, or a local server answers.
---@field images boolean Whether it takes images.
---@field thinking boolean Whether it can think before it answers.
---@field scripted boolean True for a model that plays a script; an interface must say so.
---@field price? azimuth.Price What it costs; absent where unknown, zero where it is free.
---@field unavailableBecause? string Why it cannot be used and what to do.

---Parameters of `azimuth/model/list`.
---@class azimuth.ModelListParams

---Result of `azimuth/model/list`.
---@class azimuth.ModelListResult
---@field models azimuth.ModelInfo[] Every model known, the usable ones first.
---@field default? string The id of the model a new session gets, if any is usable.

---Parameters of `azimuth/model/select`.
---@class azimuth.ModelSelectParams
---@field model string A model's id, its name without the provider, or an alias.
---@field sessionId? azimuth.SessionId The session; without it, the default of new sessions is set.

---Result of `azimuth/model/select`.
---@class azimuth.ModelSelectResult
---@field model azimuth.ModelInfo The model now chosen.

---What a question is about.
---@alias azimuth.PermissionAbout
---| "tool_call" # Whether a tool call may be made.
---| "pending_edits" # What becomes of pending hunks before a command runs. It is moot once none is pending any more.
---| "unsaved_text" # Whether the user's unsaved text is saved before a command runs.
---| "outside" # Whether a command may run outside the sandbox.
---| "trust" # Whether the workspace is trusted: whether what it supplies may run, and what it allows counts.
---| "program" # Whether a program that the project brings along, such as a language server, may be started as it is now.

---Parameters of `azimuth/permission/answer`.
---@class azimuth.PermissionAnswerParams
---@field sessionId azimuth.SessionId The session.
---@field permissionId azimuth.PermissionId The question.
---@field optionId string The option chosen.
---@field message? string A word to the model.

---Result of `azimuth/permission/answer`.
---@class azimuth.PermissionAnswerResult
---@field accepted boolean False if the question had already been answered, in another view or by the turn's end. No harm is done.

---A question for permission.
---@alias azimuth.PermissionId string

---Parameters of `azimuth/permission/list`.
---@class azimuth.PermissionListParams
---@field sessionId azimuth.SessionId The session.

---Result of `azimuth/permission/list`.
---@class azimuth.PermissionListResult
---@field rules azimuth.RuleInfo[] The rules, in the order of their precedence.

---One possible answer.
---@class azimuth.PermissionOption
---@field optionId string What to answer with.
---@field name string What it says, its scope in words: `Always allow cargo test … in this project`.
---@field kind azimuth.PermissionOptionKind What it does.

---What an option does; ACP's option kinds.
---@alias azimuth.PermissionOptionKind
---| "allow_once" # Go on, this time.
---| "allow_always" # Go on, and do not ask for this again in this project.
---| "reject_once" # Do not.
---| "reject_always" # Do not, and never again in this project.

---An option was chosen.
---@class azimuth.PermissionOutcome.Selected
---@field type "selected"
---@field optionId string Which.
---@field message? string A word to the model, such as why it was rejected.

---The turn ended first, or nobody could answer.
---@class azimuth.PermissionOutcome.Cancelled
---@field type "cancelled"

---What it was about was settled otherwise.
---@class azimuth.PermissionOutcome.Moot
---@field type "moot"

---How a question ended.
---@alias azimuth.PermissionOutcome
---| azimuth.PermissionOutcome.Selected
---| azimuth.PermissionOutcome.Cancelled
---| azimuth.PermissionOutcome.Moot

---A question. It stands until it is answered or its turn ends, across reconnects.
---@class azimuth.PermissionRequest
---@field permissionId azimuth.PermissionId The question.
---@field about azimuth.PermissionAbout What it is about.
---@field title string The question in a few words: `Run a command?`
---@field detail string What exactly would be done: the command line, the paths.
---@field reason string Why it is asked: the rule or default that led here.
---@field options azimuth.PermissionOption[] The answers to choose from.
---@field toolCallId? azimuth.ToolCallId The tool call that waits, where one does.

---Parameters of `azimuth/permission/revoke`: take back what was granted. Twice is harmless.
---@class azimuth.PermissionRevokeParams
---@field sessionId azimuth.SessionId The session.
---@field rule string The rule as listed.
---@field origin azimuth.RuleOrigin Its origin as listed: `granted` or `session`.

---A step of a plan; ACP's plan entry.
---@class azimuth.PlanEntry
---@field content string What is to be done: one line.
---@field status azimuth.PlanEntryStatus How far it is.

---How far a step of a plan is.
---@alias azimuth.PlanEntryStatus
---| "pending" # It is to be done.
---| "in_progress" # It is being done.
---| "completed" # It is done.

---A position in a document: LSP's `Position`.
---@class azimuth.Position
---@field line integer Line, from 0.
---@field character integer Offset in the line, from 0, in units of the negotiated position encoding.

---US dollars per million tokens.
---@class azimuth.Price
---@field input number Input that no cache served.
---@field output number Output.
---@field cacheRead number Input served by the cache.
---@field cacheWrite number Input stored to the cache.

---Parameters of `azimuth/prompt/beginnings`.
---@class azimuth.PromptBeginningsParams
---@field uri? string The document that the user has before them, if any.
---@field sessionId? azimuth.SessionId The session that the chat is of, if any: its model counts then.

---Result of `azimuth/prompt/beginnings`.
---@class azimuth.PromptBeginningsResult
---@field setup azimuth.SetupFact[] How the workspace is set up, and what it lacks; what weighs most comes first.
---@field beginnings azimuth.Beginning[] What to try: about the document where it is one of the workspace's files, else about the project.

---Text as typed. Slash commands are looked for in it.
---@class azimuth.PromptBlock.Text
---@field type "text"
---@field text string The text.

---A mention of a file. Its text, bounded, is put before the model.
---@class azimuth.PromptBlock.File
---@field type "file"
---@field uri string The document.

---A mention of a part of a file.
---@class azimuth.PromptBlock.Range
---@field type "range"
---@field uri string The document.
---@field range azimuth.Range Which part.

---What the user has selected, as it stood when the prompt was sent.
---@class azimuth.PromptBlock.Selection
---@field type "selection"
---@field uri string The document.
---@field range azimuth.Range Where the selection is.
---@field text string The selected text.

---An image.
---@class azimuth.PromptBlock.Image
---@field type "image"
---@field mimeType string Such as `image/png`.
---@field data string The bytes, in base64.

---A piece of the user's prompt.
---@alias azimuth.PromptBlock
---| azimuth.PromptBlock.Text
---| azimuth.PromptBlock.File
---| azimuth.PromptBlock.Range
---| azimuth.PromptBlock.Selection
---| azimuth.PromptBlock.Image

---Parameters of `azimuth/prompt/complete`.
---@class azimuth.PromptCompleteParams
---@field sessionId azimuth.SessionId The session.
---@field text string The prompt's text.
---@field cursor integer Where the cursor is: an offset into `text` in UTF-16 units.

---Result of `azimuth/prompt/complete`.
---@class azimuth.PromptCompleteResult
---@field start integer Where the token under the cursor begins, in UTF-16 units.
---@field end integer Where it ends, exclusive.
---@field items azimuth.CompletionItem[] What could stand there, best first.

---Parameters of `azimuth/prompt/put`.
---@class azimuth.PromptPutParams
---@field prompt azimuth.PromptBlock[] The prompt, or what is to be part of it.
---@field send boolean Whether it is to be sent as it is, or once the running turn has ended. Else the user has something to add.

---The pending change of one file: the difference between its text and what the agent proposes.
---
---Further edits of the same file join the proposal until all its hunks are decided.
---@class azimuth.Proposal
---@field proposalId azimuth.ProposalId The proposal.
---@field revision integer Grows when a hunk appears, vanishes or changes, not when one is decided or merely moves.
---@field uri string The document.
---@field path string Its path for people: relative to the workspace folder.
---@field change azimuth.FileChange What becomes of the file.
---@field hunks azimuth.Hunk[] The hunks, from top to bottom, decided ones included.
---@field baseHash? string The hash of the document in which the hunks have their lines; absent where there is no file. By it the server knows after a restart whether they still have them.
---@field movedTo? string The document to which the deleted file's text goes; absent where it goes nowhere. The deletion can be accepted once that document has it, or together with it.
---@field landed? boolean Whether the hunks are in the document already, since a command put them there, or another program while the turn ran. To accept such a hunk keeps it; to reject takes it back. Its `startLine` is that of `newText`, which stands in the document now; `oldText` is what was there. `change` is what became of the file. Nothing waits for the decision. A hunk that is `applying` is being taken back; one in conflict can only be kept; `undone` means that it was taken back and is there again. Without `toolCallIds` it was another program.

---The pending change of one file.
---@alias azimuth.ProposalId string

---Result of `azimuth/review/text`: a file before and after all of its pending hunks, with LF line ends and without a byte order mark.
---@class azimuth.ProposedText
---@field uri string The document.
---@field path string Its path for people.
---@field revision integer The proposal's revision.
---@field base? string The text as the user has it; absent where there is no file. Where the hunks have landed, the text without those that are pending.
---@field proposed? string The text with every pending hunk in it; absent where the file is to be deleted. Where the hunks have landed, the text as the user has it.

---A prompt that waits for the running turn to end.
---@alias azimuth.QueueId string

---A range in a document, its end exclusive: LSP's `Range`.
---@class azimuth.Range
---@field start azimuth.Position Where it begins.
---@field end azimuth.Position Where it ends, exclusive.

---What shows that a command in the background, such as a server, is up.
---@class azimuth.Ready
---@field ports integer[] The TCP ports that its processes listen on, sorted.
---@field line? string The line that says so, if one did.

---It is as wanted.
---@class azimuth.RestoreOutcome.Done
---@field type "done"

---It is as wanted, as far as can be told: the client said yes, but did not show the text in time.
---@class azimuth.RestoreOutcome.Unverified
---@field type "unverified"

---It was left as it is.
---@class azimuth.RestoreOutcome.Left
---@field type "left"
---@field reason string Why, and what to do.

---It could not be done; nothing was changed.
---@class azimuth.RestoreOutcome.Failed
---@field type "failed"
---@field reason string Why.

---How setting a file back or again went.
---@alias azimuth.RestoreOutcome
---| azimuth.RestoreOutcome.Done
---| azimuth.RestoreOutcome.Unverified
---| azimuth.RestoreOutcome.Left
---| azimuth.RestoreOutcome.Failed

---A turn's change of a file, taken back or put again.
---@class azimuth.RestoreStep
---@field turnId azimuth.TurnId The turn.
---@field from? azimuth.FileImage What the file was; absent where there was none.
---@field to? azimuth.FileImage What it became; absent where there is none.

---What became of a file that was to be set back or again.
---@class azimuth.RestoredFile
---@field uri string The document.
---@field path string Its path for people.
---@field outcome azimuth.RestoreOutcome How it went.
---@field steps? azimuth.RestoreStep[] The turns' changes that were taken back or put again, in the order in which that was done. Empty unless it is done.

---Parameters of `azimuth/review/auto`.
---@class azimuth.ReviewAutoParams
---@field sessionId azimuth.SessionId The session.
---@field on boolean Whether edits are accepted as they come, from now on.
---@field scope? azimuth.AutoScope For how long. Switched off for a session, it is off in it even where it is on for the project.

---Parameters of `azimuth/review/change`: the user wants another text than the one proposed.
---@class azimuth.ReviewChangeParams
---@field sessionId azimuth.SessionId The session.
---@field proposalId azimuth.ProposalId The proposal.
---@field revision integer Its revision as the user saw it.
---@field text string The text that is to be proposed in its place. Nothing is accepted by it.

---Parameters of `azimuth/review/comment`: the user says something of a hunk, which is not decided by it. The model is told at its next request, or with the next prompt.
---@class azimuth.ReviewCommentParams
---@field sessionId azimuth.SessionId The session.
---@field proposalId azimuth.ProposalId The proposal.
---@field hunkId azimuth.HunkId The hunk.
---@field text string What is said of it. Not empty.

---Parameters of `azimuth/review/decide`.
---@class azimuth.ReviewDecideParams
---@field sessionId azimuth.SessionId The session.
---@field decision azimuth.Decision Accept or reject.
---@field targets azimuth.DecisionTarget[] A file each, whole or in hunks. All proposals that the user saw, for "all".
---@field message? string A word to the model.

---Parameters of `azimuth/review/list`.
---@class azimuth.ReviewListParams
---@field sessionId azimuth.SessionId The session.

---Result of `azimuth/review/list` and `azimuth/review/decide`.
---@class azimuth.ReviewResult
---@field proposals azimuth.Proposal[] The proposals that still have undecided hunks; after `decide`, also those that it decided.

---Parameters of `azimuth/review/text`.
---@class azimuth.ReviewTextParams
---@field sessionId azimuth.SessionId The session.
---@field proposalId azimuth.ProposalId The proposal.

---How a rule decides.
---@alias azimuth.RuleEffect
---| "allow" # What it fits runs without a question.
---| "ask" # What it fits is asked.
---| "deny" # What it fits is refused.

---A permission rule in force.
---@class azimuth.RuleInfo
---@field rule string The rule as written: `Shell(cargo test:*)`.
---@field effect azimuth.RuleEffect How it decides.
---@field origin azimuth.RuleOrigin Where it comes from.
---@field source string Where it comes from, in words: `your config.toml`.
---@field covers string What it covers, in words.
---@field revocable boolean Whether `azimuth/permission/revoke` takes it away. Others are changed where they are written.
---@field void? string Why it does not count just now, if so: an allow rule of a project that is not trusted.

---Where a rule comes from.
---@alias azimuth.RuleOrigin
---| "user" # The user's own configuration, or what the editor was started with.
---| "project" # A file of the project's, or settings that an editor read out of it.
---| "granted" # Granted by an answer "always", for the project.
---| "session" # Granted by an answer, for the session.

---What runs in a shell.
---@class azimuth.RunningCommand
---@field toolCallId azimuth.ToolCallId The call that started it, or the id of the user's own command.
---@field command string The command line.
---@field startedAt integer When it began.

---What commands may do to the machine.
---@alias azimuth.SandboxMode
---| "read_only" # Read the workspace, the system and toolchains; write nothing but temporary files.
---| "workspace_write" # As `read_only`, and write in the workspace, temporary folders and package caches.
---| "full" # Whatever the user may do: no sandbox.

---When a file was looked at.
---@alias azimuth.SeenOccasion
---| "deletion" # An accepted edit is about to delete it.
---| "save" # It was saved in the editor, after an edit had made it to which another file is still to be moved.
---| "restart" # The session was opened by another process, and the file is not as it was left.

---An event with its place in the session.
---@class azimuth.SequencedEvent
---@field seq integer Its number in the session: 1, 2, 3, … without gaps.
---@field at integer When it happened.
---@field event azimuth.Event What happened.

---How it stands with a language server.
---@class azimuth.ServerInfo
---@field name string Its name.
---@field root string The folder of the project that it is for, as a URI.
---@field state azimuth.ServerState What it does.
---@field version? string Its version, if it has said one.
---@field program? string The path of its program, if that is there.
---@field pid? integer The id of its process, while it runs.
---@field memoryBytes? integer The memory that it and all that it started hold, in bytes; absent where that cannot be known.
---@field why? string More about its state, for people.

---What a language server does.
---@alias azimuth.ServerState
---| "notStarted" # It is there, and starts with the first question.
---| "notAllowed" # The project brings it along, and the user has not allowed it as it is now.
---| "missing" # The project is of its kind, but its program was not found.
---| "starting" # It has not yet said what it can.
---| "indexing" # It reads the project.
---| "ready" # It answers.
---| "crashed" # It ended by itself, or was ended since it did harm; it starts anew a while later.
---| "stopped" # It was ended since it was not needed, or not wanted; it starts anew with the next question.

---Parameters of `azimuth/servers/changed`.
---@class azimuth.ServersChangedParams

---Parameters of `azimuth/servers/list`.
---@class azimuth.ServersListParams

---Result of `azimuth/servers/list`.
---@class azimuth.ServersListResult
---@field servers azimuth.ServerInfo[] The servers for the client's workspace folders, by root and name: those that run or ran, and those that the folders are of the kind for.
---@field problems string[] What is wrong with the configuration files of servers, for people.

---Parameters of `azimuth/servers/restart`.
---@class azimuth.ServersRestartParams
---@field name? string The server, by its name; all of the client's workspace folders without it.

---Result of `azimuth/servers/restart`.
---@class azimuth.ServersRestartResult
---@field restarted integer How many were ended. They start anew with the next question.

---Parameters of `azimuth/session/close`: the client no longer follows the session. A running turn goes on.
---@class azimuth.SessionCloseParams
---@field sessionId azimuth.SessionId The session.

---Parameters of `azimuth/session/delete`. A running turn is cancelled first.
---@class azimuth.SessionDeleteParams
---@field sessionId azimuth.SessionId The session.

---A session: one conversation with all that happened in it. Six hexadecimal digits.
---@alias azimuth.SessionId string

---A session in a list.
---@class azimuth.SessionInfo
---@field sessionId azimuth.SessionId The session.
---@field title string Its title; empty before the first prompt.
---@field folders string[] The workspace folders it works in, as URIs. The first one is where commands start.
---@field mode azimuth.Mode The mode of its next turn.
---@field createdAt integer When it was made.
---@field updatedAt integer When something last happened in it.
---@field lastSeq integer The number of its last event; 0 before the first.
---@field usage azimuth.Usage Tokens of all turns.
---@field cost number Cost of all turns in US dollars.
---@field model? string The model's id, if one is chosen.

---Parameters of `azimuth/session/list`.
---@class azimuth.SessionListParams
---@field folder? string Only sessions of this folder (a URI); without it, those of the client's workspace folders.
---@field everywhere? boolean Sessions of every folder.
---@field query? string Only sessions with this text in their title, whatever its case.
---@field limit? integer At most this many, 1 to 1000; 100 without it.

---Result of `azimuth/session/list`.
---@class azimuth.SessionListResult
---@field sessions azimuth.SessionInfo[] The sessions, the last used first.

---Parameters of `azimuth/session/mode`: the mode of the session's next turns.
---@class azimuth.SessionModeParams
---@field sessionId azimuth.SessionId The session.
---@field mode azimuth.Mode The mode.
---@field confirmed? boolean Whether the user has confirmed it, told what it means. `bypass` is refused without; the error's message says what it means, for the user to read.

---Parameters of `azimuth/session/new`.
---@class azimuth.SessionNewParams
---@field folders? string[] The folders to work in, as URIs; without them, the client's workspace folders.
---@field model? string The model's id; without it, the default.
---@field mode? azimuth.Mode The mode; without it, `agent`.

---Result of `azimuth/session/new`. The client is attached to the session: its events follow as `azimuth/event`.
---@class azimuth.SessionNewResult
---@field session azimuth.SessionInfo The session.

---Parameters of `azimuth/session/open`.
---@class azimuth.SessionOpenParams
---@field sessionId azimuth.SessionId The session.
---@field since? integer The number of the last event the client has; 0 for all.

---Result of `azimuth/session/open`. The client is attached: later events follow as `azimuth/event`.
---@class azimuth.SessionOpenResult
---@field session azimuth.SessionInfo The session.
---@field events azimuth.SequencedEvent[] The events after `since`, in order.
---@field queue azimuth.QueueId[] The prompts that wait, first to go first.
---@field runningTurn? azimuth.TurnId The turn that runs, if one does.

---Parameters of `azimuth/session/rename`.
---@class azimuth.SessionRenameParams
---@field sessionId azimuth.SessionId The session.
---@field title string The new title, one line, not empty.

---What a fact about the workspace is about.
---@alias azimuth.SetupAbout
---| "model" # The session's model, or else that of new sessions.
---| "trust" # Whether the workspace is trusted.
---| "rules" # The project's rules for agents.
---| "servers" # Language servers of our own.

---How the workspace is set up, in one respect.
---@class azimuth.SetupFact
---@field about azimuth.SetupAbout What it is about, so that a client can offer to see to it.
---@field state azimuth.SetupState Whether that is well.
---@field text string How it is, for people; one line.

---Whether a fact about the workspace is well.
---@alias azimuth.SetupState
---| "inOrder" # It is there, and works.
---| "lacks" # Something is missing that the user could mend.
---| "neutral" # It is good to know, and neither.

---How grave a notice is.
---@alias azimuth.Severity
---| "info" # Good to know.
---| "warning" # Something may not be as expected.
---| "error" # Something failed.

---What a model is asked for outside a turn.
---@alias azimuth.SideRole
---| "title" # The session's title.

---Why a turn ended. The first five are ACP's.
---@alias azimuth.StopReason
---| "end_turn" # The model was done.
---| "max_tokens" # The answer reached the model's longest length.
---| "max_turn_requests" # The turn reached its limit of rounds, or went in circles; it asks whether to go on.
---| "refusal" # The model would not answer.
---| "cancelled" # The user cancelled it.
---| "error" # Something failed; `error` says what, and what to do.
---| "interrupted" # The server ended, or the client that started the turn left. It can be gone on with.

---Parameters of `azimuth/terminal/ack`: how far a client has come with a terminal's output.
---@class azimuth.TerminalAckParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field offset integer The offset after the last byte that it has shown.

---Parameters of `azimuth/terminal/close`: no longer follow a terminal. What runs in it goes on.
---@class azimuth.TerminalCloseParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.

---A pseudo-terminal.
---@alias azimuth.TerminalId string

---A terminal, as it is.
---@class azimuth.TerminalInfo
---@field terminalId azimuth.TerminalId The terminal.
---@field kind azimuth.TerminalKind What it is for.
---@field title string For people: `shell`, or a job's command line.
---@field cwd string The folder that it is in, or began in.
---@field sandbox azimuth.SandboxMode What its commands may do to the machine.
---@field alive boolean Whether its process lives.
---@field taken boolean Whether the user has taken it over: the model cannot type into it until it is handed back.
---@field startedAt integer When it began.
---@field end integer The offset after its last byte of output.
---@field running? azimuth.RunningCommand What runs in it.
---@field waiting? azimuth.Waiting Whether that waits for input.
---@field ready? azimuth.Ready For a job: what shows that it is up.
---@field endedAt? integer When it ended.
---@field exitCode? integer For a job that ended: its exit code; absent where it was killed.

---Parameters of `azimuth/terminal/kill`: end what runs in a terminal.
---@class azimuth.TerminalKillParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.

---What a terminal is for.
---@alias azimuth.TerminalKind
---| "shell" # The session's shell, in which commands run one after the other.
---| "outside" # The session's second shell, outside the sandbox.
---| "job" # A command in the background.

---Parameters of `azimuth/terminal/list`.
---@class azimuth.TerminalListParams
---@field sessionId azimuth.SessionId The session.

---Result of `azimuth/terminal/list`.
---@class azimuth.TerminalListResult
---@field terminals azimuth.TerminalInfo[] The terminals: the shell first, then jobs, the oldest first. Jobs that ended stay until the session's host ends.

---Parameters of `azimuth/terminal/open`: start to follow a terminal's output.
---@class azimuth.TerminalOpenParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId? azimuth.TerminalId The terminal; without it, the session's shell, which is started if need be.
---@field since? integer The offset to begin at, in bytes since the terminal's start. 0 gives all that is kept.
---@field size? azimuth.TerminalSize The size of the view.
---@field acknowledges? boolean Whether the client says with `azimuth/terminal/ack` how far it has come. It is then sent at most 256 KiB ahead of that.

---Result of `azimuth/terminal/open`. The bytes follow as `azimuth/terminal/output`.
---@class azimuth.TerminalOpenResult
---@field terminalId azimuth.TerminalId The terminal.
---@field since integer The offset of the first byte that will come. Larger than asked where older bytes are no longer kept.
---@field alive boolean Whether the terminal's process lives.

---Parameters of the notification `azimuth/terminal/output`.
---@class azimuth.TerminalOutputParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field offset integer The offset of the first byte.
---@field data string The bytes, in base64.

---Parameters of `azimuth/terminal/resize`.
---@class azimuth.TerminalResizeParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field size azimuth.TerminalSize The new size.

---A signal that can be sent to what runs in a terminal.
---@alias azimuth.TerminalSignal
---| "interrupt" # SIGINT, as Ctrl-C sends it.
---| "quit" # SIGQUIT, as Ctrl-\\ sends it.
---| "hangup" # SIGHUP.
---| "terminate" # SIGTERM.
---| "stop" # SIGTSTP, as Ctrl-Z sends it.
---| "continue" # SIGCONT.
---| "kill" # SIGKILL.

---Parameters of `azimuth/terminal/signal`: send a signal to what runs in a terminal.
---@class azimuth.TerminalSignalParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field signal azimuth.TerminalSignal The signal.

---A terminal's size in cells.
---@class azimuth.TerminalSize
---@field columns integer Columns, 1 to 1000.
---@field rows integer Rows, 1 to 1000.

---Parameters of `azimuth/terminal/take`: take a terminal over, so that only the user types into it and no time runs out meanwhile, or hand it back. Twice is harmless.
---@class azimuth.TerminalTakeParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field taken boolean Whether it is taken over; false hands it back.

---Parameters of `azimuth/terminal/write`: type into a terminal.
---@class azimuth.TerminalWriteParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field data string The bytes, in base64.

---One call of a tool. It is the vendor's id where the vendor gives one.
---@alias azimuth.ToolCallId string

---What kind of thing a tool does; ACP's tool kinds.
---@alias azimuth.ToolKind
---| "read" # Reads files or other data.
---| "edit" # Changes files.
---| "delete" # Deletes files.
---| "move" # Moves files.
---| "search" # Searches.
---| "execute" # Runs commands.
---| "think" # Reasons.
---| "fetch" # Fetches from outside.
---| "other" # Anything else.

---What a tool call came to. Every tool call has exactly one.
---@class azimuth.ToolResult
---@field toolCallId azimuth.ToolCallId The call.
---@field text string What the model reads, bounded.
---@field isError boolean Whether the call failed.

---Parameters of `azimuth/turn/cancel`.
---@class azimuth.TurnCancelParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId Only if this turn runs; without it, whichever does.

---Result of `azimuth/turn/cancel`.
---@class azimuth.TurnCancelResult
---@field cancelled boolean Whether a turn was running, or else a command of the user's own. Its end follows as an event.

---One prompt turn of a session.
---@alias azimuth.TurnId string

---Put a prompt at the queue's end. With no turn running it starts at once.
---@class azimuth.TurnQueueParams.Add
---@field type "add"
---@field sessionId azimuth.SessionId The session.
---@field prompt azimuth.PromptBlock[] The prompt.

---Take a waiting prompt back.
---@class azimuth.TurnQueueParams.Remove
---@field type "remove"
---@field sessionId azimuth.SessionId The session.
---@field queueId azimuth.QueueId The waiting prompt.

---Parameters of `azimuth/turn/queue`: a prompt for after the running turn, or one taken back.
---@alias azimuth.TurnQueueParams
---| azimuth.TurnQueueParams.Add
---| azimuth.TurnQueueParams.Remove

---Result of `azimuth/turn/queue`.
---@class azimuth.TurnQueueResult
---@field queue azimuth.QueueId[] The prompts that wait, first to go first.
---@field added? azimuth.QueueId The waiting prompt that was added.

---Parameters of `azimuth/turn/start`.
---@class azimuth.TurnStartParams
---@field sessionId azimuth.SessionId The session.
---@field prompt azimuth.PromptBlock[] The prompt. Empty to go on after a turn was interrupted or failed. One text that begins with `!` is a command of the user's own.
---@field mode? azimuth.Mode The mode of this turn and the next ones; without it, the session's.

---Result of `azimuth/turn/start`: an answer at once. What the turn does comes as events.
---@class azimuth.TurnStartResult
---@field turnId? azimuth.TurnId The turn; absent where the prompt held only slash commands, or was a command of the user's own (`!command`). What came of those are events.
---@field switchTo? azimuth.SessionId Where the client should go on, after `/new` or `/resume`.

---Parameters of `azimuth/turn/steer`: a word to the running turn, heard at its next request to the model.
---@class azimuth.TurnSteerParams
---@field sessionId azimuth.SessionId The session.
---@field expectedTurnId azimuth.TurnId The turn the user means. Another one, or none, running is the error `wrongTurn`.
---@field prompt azimuth.PromptBlock[] What to say.

---Who typed.
---@alias azimuth.Typist
---| "user" # The user.
---| "model" # The model.

---Tokens used, each kind counted once: `input` leaves out what the cache served or stored.
---@class azimuth.Usage
---@field input integer Input tokens billed in full.
---@field output integer Output tokens, thinking included.
---@field cacheRead integer Input tokens read from the vendor's cache.
---@field cacheWrite integer Input tokens written to the vendor's cache.

---A command that waits for input.
---@class azimuth.Waiting
---@field certainty azimuth.Certainty How sure that is.
---@field prompt string What it asks: the last line that it printed, which may be empty.
---@field hidden boolean Whether what is typed is not shown, as with a password. It is for the user then, and never kept.

---Parameters of `azimuth/workspace/trust`: whether what a folder supplies may run, and what it allows counts.
---@class azimuth.WorkspaceTrustParams
---@field folder? string The folder, as a URI; without it, the client's workspace folders.
---@field trusted? boolean What the user says; without it, nothing is changed.
---@field byEditor? boolean Whether it is the editor's own trust, which counts while the editor is connected and is not kept.

---Result of `azimuth/workspace/trust`.
---@class azimuth.WorkspaceTrustResult
---@field trusted boolean Whether the folder, or all of them, is trusted now.
---@field decided boolean Whether that was said by the user or the editor. Where it was not, the first turn asks.

local M = {}

---The names of requests from client to server.
M.requests = {
  ---Makes a session and attaches the client to it. Params: `azimuth.SessionNewParams`. Result: `azimuth.SessionNewResult`.
  session_new = "azimuth/session/new",
  ---Lists sessions. Params: `azimuth.SessionListParams`. Result: `azimuth.SessionListResult`.
  session_list = "azimuth/session/list",
  ---Opens a session and gives its events after a number. The client is attached to it. Params: `azimuth.SessionOpenParams`. Result: `azimuth.SessionOpenResult`.
  session_open = "azimuth/session/open",
  ---Detaches the client from a session. Params: `azimuth.SessionCloseParams`. Result: `azimuth.Done`.
  session_close = "azimuth/session/close",
  ---Gives a session another title. Params: `azimuth.SessionRenameParams`. Result: `azimuth.Done`.
  session_rename = "azimuth/session/rename",
  ---Sets the mode of a session's next turns. `bypass` needs a confirmation. Params: `azimuth.SessionModeParams`. Result: `azimuth.Done`.
  session_mode = "azimuth/session/mode",
  ---Deletes a session with all that belongs to it. This cannot be undone. Params: `azimuth.SessionDeleteParams`. Result: `azimuth.Done`.
  session_delete = "azimuth/session/delete",
  ---Starts a turn. Answers at once with the turn's id; the rest are events. Params: `azimuth.TurnStartParams`. Result: `azimuth.TurnStartResult`.
  turn_start = "azimuth/turn/start",
  ---Says something to the running turn. Params: `azimuth.TurnSteerParams`. Result: `azimuth.Done`.
  turn_steer = "azimuth/turn/steer",
  ---Adds a prompt to the queue, or takes one back. Params: `azimuth.TurnQueueParams`. Result: `azimuth.TurnQueueResult`.
  turn_queue = "azimuth/turn/queue",
  ---Cancels the running turn. Params: `azimuth.TurnCancelParams`. Result: `azimuth.TurnCancelResult`.
  turn_cancel = "azimuth/turn/cancel",
  ---Answers a question for permission. Params: `azimuth.PermissionAnswerParams`. Result: `azimuth.PermissionAnswerResult`.
  permission_answer = "azimuth/permission/answer",
  ---Lists the permission rules in force, with where they come from. Params: `azimuth.PermissionListParams`. Result: `azimuth.PermissionListResult`.
  permission_list = "azimuth/permission/list",
  ---Takes back a rule that was granted. Params: `azimuth.PermissionRevokeParams`. Result: `azimuth.Done`.
  permission_revoke = "azimuth/permission/revoke",
  ---Tells whether a folder is trusted, or says so. Params: `azimuth.WorkspaceTrustParams`. Result: `azimuth.WorkspaceTrustResult`.
  workspace_trust = "azimuth/workspace/trust",
  ---Lists the proposals that wait for a decision. Params: `azimuth.ReviewListParams`. Result: `azimuth.ReviewResult`.
  review_list = "azimuth/review/list",
  ---Accepts or rejects hunks. The same call twice is harmless; a stale one changes nothing. Params: `azimuth.ReviewDecideParams`. Result: `azimuth.ReviewResult`.
  review_decide = "azimuth/review/decide",
  ---Gives a file before and after its pending hunks, to be compared. Params: `azimuth.ReviewTextParams`. Result: `azimuth.ProposedText`.
  review_text = "azimuth/review/text",
  ---Changes what is proposed for a file, as the user wants it. Nothing is accepted by it. Params: `azimuth.ReviewChangeParams`. Result: `azimuth.ReviewResult`.
  review_change = "azimuth/review/change",
  ---Says something of a hunk to the model. Nothing is decided by it. Params: `azimuth.ReviewCommentParams`. Result: `azimuth.ReviewResult`.
  review_comment = "azimuth/review/comment",
  ---Has edits accepted as they come, or no longer: in the session until the server ends, or in its project for good. They can be undone. Params: `azimuth.ReviewAutoParams`. Result: `azimuth.Done`.
  review_auto = "azimuth/review/auto",
  ---Lists the turns that changed files, with what they changed and how that stands now. Params: `azimuth.CheckpointListParams`. Result: `azimuth.CheckpointListResult`.
  checkpoint_list = "azimuth/checkpoint/list",
  ---Tells what undoing or redoing a turn would do to each file. Changes nothing. Params: `azimuth.CheckpointPreviewParams`. Result: `azimuth.CheckpointPreviewResult`.
  checkpoint_preview = "azimuth/checkpoint/preview",
  ---Takes back what a turn did to files, or all from a message on. A file that was changed since is left and named, unless it is confirmed. Hunks of these turns that are undecided are rejected. Twice is harmless. Params: `azimuth.CheckpointRestoreParams`. Result: `azimuth.CheckpointRestoreResult`.
  checkpoint_undo = "azimuth/checkpoint/undo",
  ---Puts again what was undone, by the same rules. Params: `azimuth.CheckpointRestoreParams`. Result: `azimuth.CheckpointRestoreResult`.
  checkpoint_redo = "azimuth/checkpoint/redo",
  ---Lists a session's terminals: its shell and its jobs. Params: `azimuth.TerminalListParams`. Result: `azimuth.TerminalListResult`.
  terminal_list = "azimuth/terminal/list",
  ---Follows a terminal's output from an offset on. Params: `azimuth.TerminalOpenParams`. Result: `azimuth.TerminalOpenResult`.
  terminal_open = "azimuth/terminal/open",
  ---Types into a terminal. Params: `azimuth.TerminalWriteParams`. Result: `azimuth.Done`.
  terminal_write = "azimuth/terminal/write",
  ---Sets a terminal's size. Params: `azimuth.TerminalResizeParams`. Result: `azimuth.Done`.
  terminal_resize = "azimuth/terminal/resize",
  ---Ends what runs in a terminal. Params: `azimuth.TerminalKillParams`. Result: `azimuth.Done`.
  terminal_kill = "azimuth/terminal/kill",
  ---Sends a signal to what runs in a terminal. Params: `azimuth.TerminalSignalParams`. Result: `azimuth.Done`.
  terminal_signal = "azimuth/terminal/signal",
  ---Takes a terminal over from the model, or hands it back. Params: `azimuth.TerminalTakeParams`. Result: `azimuth.Done`.
  terminal_take = "azimuth/terminal/take",
  ---Says how far the client has come with a terminal's output. Params: `azimuth.TerminalAckParams`. Result: `azimuth.Done`.
  terminal_ack = "azimuth/terminal/ack",
  ---No longer follows a terminal's output. Params: `azimuth.TerminalCloseParams`. Result: `azimuth.Done`.
  terminal_close = "azimuth/terminal/close",
  ---Lists the models. Params: `azimuth.ModelListParams`. Result: `azimuth.ModelListResult`.
  model_list = "azimuth/model/list",
  ---Chooses a model for a session, or for new sessions. Params: `azimuth.ModelSelectParams`. Result: `azimuth.ModelSelectResult`.
  model_select = "azimuth/model/select",
  ---Lists the language servers of our own for the client's workspace folders, and says how it stands with them. Servers that the editor runs are not among them. Params: `azimuth.ServersListParams`. Result: `azimuth.ServersListResult`.
  servers_list = "azimuth/servers/list",
  ---Ends language servers of our own, so that the next question starts them anew, and reads their configuration files anew. Params: `azimuth.ServersRestartParams`. Result: `azimuth.ServersRestartResult`.
  servers_restart = "azimuth/servers/restart",
  ---Completes a prompt: slash commands and their arguments after `/`, files after `@`. Params: `azimuth.PromptCompleteParams`. Result: `azimuth.PromptCompleteResult`.
  prompt_complete = "azimuth/prompt/complete",
  ---Tells what an empty chat can offer: how the client's workspace is set up, and what to try at a document. Params: `azimuth.PromptBeginningsParams`. Result: `azimuth.PromptBeginningsResult`.
  prompt_beginnings = "azimuth/prompt/beginnings",
}

---The names of requests from server to client.
M.client_requests = {
  ---Saves a document, with whatever the editor does on saving. Needs the capability `save`. Params: `azimuth.EditorDocumentParams`. Result: `azimuth.EditorSaveResult`.
  editor_save = "azimuth/editor/save",
  ---Gives a document's text as the editor holds it. Needs the capability `text`. Params: `azimuth.EditorDocumentParams`. Result: `azimuth.EditorTextResult`.
  editor_text = "azimuth/editor/text",
  ---Gives what a document would be, formatted by the editor or one of its language servers. Needs the capability `format`. Params: `azimuth.EditorFormatParams`. Result: `azimuth.EditorFormatResult`.
  editor_format = "azimuth/editor/format",
  ---Passes a question about code to the language servers that the editor runs, never to this one, and gives what they say. Nothing is changed by it. Needs the capability `query`. Params: `azimuth.EditorQueryParams`. Result: `azimuth.LangResult`.
  editor_query = "azimuth/editor/query",
}

---The names of notifications from server to client.
M.notifications = {
  ---Something happened in a session that the client is attached to. Params: `azimuth.EventParams`.
  event = "azimuth/event",
  ---Bytes of a terminal that the client follows. Params: `azimuth.TerminalOutputParams`.
  terminal_output = "azimuth/terminal/output",
  ---The state of a language server of our own is other than it was: `azimuth/servers/list` tells it. Sent twice in a second at most, to a client that has used one of our methods. Params: `azimuth.ServersChangedParams`.
  servers_changed = "azimuth/servers/changed",
  ---The user has chosen a code action that begins a workflow: its prompt is for the chat that they have before them. Sent to a client with the capability `panel`; another gets it in a chat document. Params: `azimuth.PromptPutParams`.
  prompt_put = "azimuth/prompt/put",
}

---The numbers of errors, by name.
M.error_codes = {
  ---The message is not JSON.
  parseError = -32700,
  ---The JSON is not a request.
  invalidRequest = -32600,
  ---There is no such method.
  methodNotFound = -32601,
  ---The parameters do not fit; the message names the field.
  invalidParams = -32602,
  ---A fault of the server's. It goes on.
  internalError = -32603,
  ---A request came before `initialize` was answered.
  serverNotInitialized = -32002,
  ---The client cancelled the request.
  requestCancelled = -32800,
  ---There is no such session, turn, proposal, hunk, terminal, question or model.
  notFound = -32010,
  ---The review moved on since; `data.proposals` holds it as it is now.
  staleReview = -32011,
  ---The turn named is not the one that runs; `data.turnId` is the running one, or null.
  wrongTurn = -32012,
  ---A turn is running in the session: steer it, queue the prompt, or cancel it.
  turnRunning = -32013,
  ---Another process has the session open and cannot be reached; the message says which.
  sessionLocked = -32014,
  ---The session's data could not be read or written; the message says why.
  storeFailed = -32015,
  ---The operation could not be done; the message says why and what to do.
  operationFailed = -32016,
  ---It needs the user's confirmation: show them the message, which says what it means, and ask again with `confirmed`.
  notConfirmed = -32017,
}

---The reasons that `turnEnded` says as a whole in its `error`, so that no words are added.
---@type table<azimuth.StopReason, true>
M.said_by_error = { max_tokens = true, refusal = true }

return M
