-- Generated from the Rust crate `protocol` by `cargo run -p xtask -- codegen`. Do not edit.

---A key or a sign-in that is kept for a provider.
---@class azimuth.Account
---@field provider string The provider, such as `chatgpt`.
---@field label string The user's name for the account, which tells it from others at the provider.
---@field server string The server that it is for: scheme, host and port.
---@field kind azimuth.AccountKind Its kind.
---@field ended boolean True if the vendor has ended the sign-in, so that the user has to sign in again.
---@field name? string The account at the vendor, such as an e-mail address, if the vendor says it.

---The kind of an account.
---@alias azimuth.AccountKind
---| "key" # An API key.
---| "signIn" # A sign-in.

---Another key or account at the same provider that is used instead of one.
---@class azimuth.AccountSwitch
---@field name string Its name, by which the user knows it: a variable, or the name of an account.
---@field insteadOf string The name of the one before.

---The activity in sessions.
---@class azimuth.Activity
---@field prompts integer The number of the user's prompts, with those to a running turn. In sessions that a session started, there are none.
---@field turns integer The number of turns, with those that continued an earlier one.
---@field requests integer The number of requests of turns to models whose tokens are known.
---@field tools azimuth.ToolCalls[] The calls of tools, the tool that was called most first.
---@field speeds azimuth.ModelSpeed[] The speed of models, the one with most answers first. Answers of older versions of Azimuth were not measured.

---The expected text was seen.
---@class azimuth.ApplyOutcome.Verified
---@field type "verified"

---The client agreed, but did not show the text in time.
---@class azimuth.ApplyOutcome.Unverified
---@field type "unverified"

---Nothing was changed.
---@class azimuth.ApplyOutcome.Failed
---@field type "failed"
---@field reason string The reason.

---The outcome of applying an edit.
---@alias azimuth.ApplyOutcome
---| azimuth.ApplyOutcome.Verified
---| azimuth.ApplyOutcome.Unverified
---| azimuth.ApplyOutcome.Failed

---Markdown text.
---@class azimuth.AssistantBlock.Text
---@field type "text"
---@field text string The text.
---@field vendor? any The data that the vendor wants back unchanged (a signature, a phase). Opaque.

---The model's thinking.
---@class azimuth.AssistantBlock.Thinking
---@field type "thinking"
---@field text string The part that may be shown; it can be empty if the vendor hides it.
---@field vendor? any The data that the vendor wants back unchanged (signature, encrypted content). Opaque.

---A call of a tool.
---@class azimuth.AssistantBlock.ToolCall
---@field type "toolCall"
---@field id azimuth.ToolCallId The call.
---@field name string The tool.
---@field input any Its input, an object.
---@field vendor? any The data that the vendor wants back unchanged (a signature, its own id). Opaque.

---A piece of an assistant's message.
---@alias azimuth.AssistantBlock
---| azimuth.AssistantBlock.Text
---| azimuth.AssistantBlock.Thinking
---| azimuth.AssistantBlock.ToolCall

---Parameters of `azimuth/auth/cancel`.
---@class azimuth.AuthCancelParams
---@field loginId integer The sign-in. It is harmless if it has ended.

---Parameters of `azimuth/auth/keep`.
---@class azimuth.AuthKeepParams
---@field provider string The provider, such as `openai`.
---@field key string The API key. It goes into the file of accounts, and to its vendor.
---@field label? string The user's name for the account; `default` without one. An account of this name is replaced.
---@field unchecked? boolean True if the vendor is not asked about the key first, as after its refusal.

---Result of `azimuth/auth/keep`.
---@class azimuth.AuthKeepResult
---@field account azimuth.Account The account that is kept now.
---@field unusedBecause? string The source that counts instead, to be shown: a key of the settings or the environment; absent if it is used.
---@field check? azimuth.KeyCheck The finding about the key; absent if the vendor was not asked. A key that it refuses is not kept.

---Parameters of `azimuth/auth/list`.
---@class azimuth.AuthListParams

---Result of `azimuth/auth/list`.
---@class azimuth.AuthListResult
---@field accounts azimuth.Account[] The accounts. Of several at one provider, the first that can be used counts, and other keys stand in for a key that rests.
---@field providers azimuth.SignInProvider[] The providers that can be signed in to.
---@field keys azimuth.KeyStatus[] The source of the key of each provider that has one, as `azimuth auth status` tells it.
---@field keyProviders azimuth.KeyProvider[] The providers for which a key can be kept, by their names.

---Parameters of `azimuth/auth/login`.
---@class azimuth.AuthLoginParams
---@field provider string The provider, such as `chatgpt`.
---@field way azimuth.SignInWay The way.
---@field label? string The user's name for the account; `default` without one. An account of this name is replaced.

---Result of `azimuth/auth/login`.
---@class azimuth.AuthLoginResult
---@field loginId integer The number of the sign-in, for what follows.
---@field url string The page that the user opens.
---@field userCode? string The code that the user types there, if the way is `device`.
---@field redirect? string The beginning of the address that the browser ends at, which can be pasted; absent if the way is `device`.

---Parameters of `azimuth/auth/logout`.
---@class azimuth.AuthLogoutParams
---@field provider string The provider.
---@field label? string The account's name; every account of the provider without one.

---Result of `azimuth/auth/logout`.
---@class azimuth.AuthLogoutResult
---@field removed azimuth.RemovedAccount[] The accounts that were forgotten.

---Parameters of `azimuth/auth/paste`.
---@class azimuth.AuthPasteParams
---@field loginId integer The sign-in.
---@field address string The whole address that the browser ended at.

---Parameters of `azimuth/auth/wait`.
---@class azimuth.AuthWaitParams
---@field loginId integer The sign-in.

---Result of `azimuth/auth/wait`.
---@class azimuth.AuthWaitResult
---@field account azimuth.Account The account that is kept now.

---The scope of automatic accepting of edits.
---@alias azimuth.AutoScope
---| "session" # This session, until the server ends.
---| "project" # Every session of the project, permanently. It is kept in the user's data, never in the project.

---A prompt to start with.
---@class azimuth.Beginning
---@field title string A title for the user, such as `Explain main.rs`.
---@field prompt azimuth.PromptBlock[] The prompt. It can be sent as it is.

---The most that a session may use. What is absent has no bound of its own.
---@class azimuth.Budget
---@field rounds? integer Rounds in each of its turns; one at least is made.
---@field tokens? integer Tokens of all its turns together, of all kinds that are counted.
---@field cost? number US dollars for all its turns together. Has no effect if the price of the model is unknown.

---The requests that a budget is for.
---@alias azimuth.BudgetScope
---| "session" # Those of a session, and of the sessions that it started.
---| "day" # Those of all sessions in a day (UTC).

---A budget, and how much of it is spent.
---@class azimuth.BudgetStatus
---@field scope azimuth.BudgetScope The scope.
---@field limit number The most that may be spent before the user is asked: the setting, and what was added to it by answers.
---@field spent number The part that is spent, as far as prices are known.

---A vendor's reason why its cache did not serve a request.
---@class azimuth.CacheMiss
---@field changed azimuth.RequestPart The first part of the request that was not what it had been in the request before.
---@field tokens integer The tokens that would have been read from the cache without that, by the vendor's estimate.

---The certainty that a command waits for input.
---@alias azimuth.Certainty
---| "certain" # It was seen to read from the terminal.
---| "probable" # It has the terminal open, polls, uses no processor time, and has printed nothing for a while.

---A file that a command changed.
---@class azimuth.ChangedFile
---@field uri string The document.
---@field before? azimuth.FileImage The file before; absent if there was none, or if `unknown` says so.
---@field after? azimuth.FileImage The file now; absent if there is none, or if `unknown` says so.
---@field unknown? string The reason why the file before or after is not kept, so that the change cannot be undone; absent if it can.

---The changes of files by a turn.
---@class azimuth.Checkpoint
---@field turnId azimuth.TurnId The turn.
---@field files azimuth.CheckpointFile[] The files, sorted by path.

---The changes of a file by turns, and their status.
---@class azimuth.CheckpointFile
---@field uri string The document.
---@field path string Its path relative to the workspace folder, to be shown.
---@field change azimuth.FileChange The turns' change of the file. Undo does the reverse.
---@field added integer Lines that they added.
---@field removed integer Lines that they removed.
---@field state azimuth.CheckpointState Its status.
---@field reason? string The reason, if it can be neither undone nor redone as it is.
---@field merges? boolean For a file that was changed since: true if the turns' changes can be undone or redone while the rest stays. If the file is confirmed, that is done; otherwise all of the file is restored.
---@field now? string The hash of its current text; absent if there is no file. It is needed to confirm the file.

---Parameters of `azimuth/checkpoint/list`.
---@class azimuth.CheckpointListParams
---@field sessionId azimuth.SessionId The session.
---@field limit? integer At most this many turns; 20 without it.

---Result of `azimuth/checkpoint/list`.
---@class azimuth.CheckpointListResult
---@field turns azimuth.Checkpoint[] The turns that changed files, newest first.
---@field more boolean True if there are older ones.

---Parameters of `azimuth/checkpoint/preview`.
---@class azimuth.CheckpointPreviewParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId The turn; without it, the one that `undo` or `redo` would take.
---@field andLater? boolean Also all turns after it: back to the message that began it.
---@field direction? azimuth.Direction The direction to look at; undo without it.

---Result of `azimuth/checkpoint/preview`.
---@class azimuth.CheckpointPreviewResult
---@field turnIds azimuth.TurnId[] The turns, newest first. Empty if there is nothing to undo or redo.
---@field files azimuth.CheckpointFile[] The files, sorted by path, each as one step over all the turns.
---@field pendingHunks integer The number of these turns' undecided hunks. Undo rejects them, and redo does not bring them back.

---Parameters of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
---@class azimuth.CheckpointRestoreParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId The turn. Without it: for undo, the last one that changed files and is not undone; for redo, those that were undone last.
---@field andLater? boolean Also all turns after it: back to the message that began it.
---@field confirmed? azimuth.ConfirmedFile[] The files to restore although they were changed since, each as the user saw it.

---Result of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`.
---@class azimuth.CheckpointRestoreResult
---@field turnIds azimuth.TurnId[] The turns, newest first. Empty if there was nothing to undo or redo.
---@field files azimuth.RestoredFile[] The outcome for each file, sorted by path.

---The status of a file that turns changed.
---@alias azimuth.CheckpointState
---| "applied" # As the turns left it; it can be undone.
---| "undone" # As it was before the turns; it can be redone.
---| "changed_since" # Neither: it was changed since. It is left as it is unless it is confirmed.
---| "not_kept" # It can be neither undone nor redone, because its former text is not kept.
---| "unreadable" # Its current text cannot be read.

---The capabilities that a client announces in `initialize`, under `capabilities.experimental.azimuth`. A client that announces none gets no `azimuth/*` message that it did not ask for.
---@class azimuth.ClientCapabilities
---@field panel? boolean It shows sessions: it handles `azimuth/event` and `azimuth/terminal/output`, and answers questions.
---@field save? boolean It answers `azimuth/editor/save`.
---@field text? boolean It answers `azimuth/editor/text`.
---@field format? boolean It answers `azimuth/editor/format`.
---@field query? boolean It answers `azimuth/editor/query`.

---A handover: the text that stands for the beginning of a conversation.
---@class azimuth.Compaction
---@field compactionId azimuth.CompactionId The handover.
---@field reason azimuth.CompactionReason The reason.
---@field messages integer The number of messages that it stands for, of those that the model saw until then: the first of them.
---@field facts string The facts that the session's log tells, in Markdown. The words of the user are among them as they were typed.
---@field before integer The tokens of a request before.
---@field after integer The tokens of a request after it, estimated.
---@field written? string The part that a model wrote, in Markdown: what was decided, what failed, what is next. Absent if no model did.
---@field focus? string The subject that the user asked to pay attention to.

---Parameters of `azimuth/compaction/correct`.
---@class azimuth.CompactionCorrectParams
---@field sessionId azimuth.SessionId The session.
---@field compactionId azimuth.CompactionId The handover.
---@field written string The text in place of the part that a model wrote. Blank for none.

---A handover, which stands for the beginning of a conversation.
---@alias azimuth.CompactionId string

---Why a conversation is compacted.
---@alias azimuth.CompactionReason
---| "asked" # The user asked for it.
---| "full" # The context is full.
---| "refused" # The model's vendor refused a request as too long.

---Parameters of `azimuth/compaction/undo`.
---@class azimuth.CompactionUndoParams
---@field sessionId azimuth.SessionId The session.
---@field compactionId? azimuth.CompactionId The handover; absent for the last one.

---A completion of the prompt.
---@class azimuth.CompletionItem
---@field kind azimuth.CompletionKind Its kind.
---@field label string The text to show.
---@field detail string A short description.
---@field insert string The text that replaces the token.
---@field uri? string For a file: its URI, to be sent as a `file` block.

---The kind of a completion.
---@alias azimuth.CompletionKind
---| "command" # A slash command.
---| "argument" # A value for a slash command's argument.
---| "file" # A file, after `@`.

---A file to restore although it was changed since. Its current text is kept, and `redo` brings it back.
---@class azimuth.ConfirmedFile
---@field uri string The document.
---@field now? string The hash of its text as the user saw it, from `now` of the preview or the list; absent if there was no file. If the text has changed by now, the file is not confirmed.

---Parameters of `azimuth/costs/show`.
---@class azimuth.CostsShowParams
---@field sessionId? azimuth.SessionId The session to tell of, too.
---@field days? integer The number of days, today among them, that the tables are of; all time without it.

---Result of `azimuth/costs/show`. Costs are in US dollars, and days are of UTC.
---@class azimuth.CostsShowResult
---@field today azimuth.Spending Today, in all sessions.
---@field total azimuth.Spending The whole time that was asked for, in all sessions.
---@field models azimuth.SpendingRow[] The same by model, the one that cost most first.
---@field providers azimuth.SpendingRow[] The same by provider, the one that cost most first.
---@field days azimuth.SpendingRow[] The same by day, the last first.
---@field projects azimuth.SpendingRow[] The same by project, the one that cost most first: the first folder of each session, as a path. Sessions that were deleted are a row of their own.
---@field unpriced azimuth.UnpricedModel[] The models of requests whose cost is unknown.
---@field suggestionsCost number The cost of suggestions while the user types, of 90 days at most. It is in no other sum.
---@field budgets azimuth.BudgetStatus[] The budgets that are set.
---@field quotas azimuth.Quota[] The limits of the user's accounts as vendors last told them, for each provider that did since this server started.
---@field session? azimuth.SessionCosts The session that was asked for; absent if it is not known.

---Parameters of `azimuth/costs/sums`.
---@class azimuth.CostsSumsParams

---Result of `azimuth/costs/sums`.
---@class azimuth.CostsSumsResult
---@field day string Today (UTC), such as `2026-11-21`.
---@field today azimuth.Spending Today, in all sessions.
---@field total azimuth.Spending All time, in all sessions.

---A decision on hunks.
---@alias azimuth.Decision
---| "accept" # Put them into the document.
---| "reject" # Drop them; the model is told.

---The hunks that a decision is about.
---@class azimuth.DecisionTarget
---@field proposalId azimuth.ProposalId The proposal.
---@field revision integer Its revision as the user saw it.
---@field hunkIds? azimuth.HunkId[] The hunks; without them, all that are pending.

---The direction.
---@alias azimuth.Direction
---| "undo" # Back to the text before.
---| "redo" # Forward to what was undone.

---An empty result.
---@class azimuth.Done

---A prompt of an earlier time.
---@class azimuth.EarlierPrompt
---@field text string The text as typed.
---@field at integer The time at which it was last sent.
---@field sessionId azimuth.SessionId The session that it was sent in then.

---Parameters of `azimuth/editor/save` and `azimuth/editor/text`.
---@class azimuth.EditorDocumentParams
---@field uri string The document.

---Parameters of `azimuth/editor/format`.
---@class azimuth.EditorFormatParams
---@field uri string The document.
---@field version integer The version to format. If the document has another version, the result has no text.
---@field lines? azimuth.LineRange[] The lines to format, from top to bottom, not overlapping; empty for the whole document. A formatter that cannot format a part then formats nothing.

---Result of `azimuth/editor/format`. The request changes nothing: the server applies the text like an accepted edit.
---@class azimuth.EditorFormatResult
---@field text? string The text of the whole document, formatted; absent if there is no formatter, or the document has another version.
---@field by? string The formatter's name to show, such as a language server's; absent if it is unknown.

---Parameters of `azimuth/editor/query`.
---@class azimuth.EditorQueryParams
---@field query azimuth.LangQuery The question.
---@field timeoutMs integer The time that the client may take, in milliseconds. After that it answers with the status `timedOut`, or with what it has as `partial`.

---Result of `azimuth/editor/save`.
---@class azimuth.EditorSaveResult
---@field saved boolean True if the document's text is on disk now.

---Result of `azimuth/editor/text`.
---@class azimuth.EditorTextResult
---@field text? string The document's text in the editor; absent if it is not open there.

---The session began. Always the first event.
---@class azimuth.Event.SessionStarted
---@field type "sessionStarted"
---@field folders string[] Its folders, as URIs.
---@field beginsWith integer The number of the following changes of model and mode that only say what the session starts with.
---@field askedFor? boolean True if the user asked for it, so that it is kept even if it stays empty; absent in logs of older versions.
---@field parent? azimuth.Terms The terms on which another session started it.
---@field purpose? azimuth.Purpose Its purpose; absent for a chat.

---The session has another purpose: it became a chat. People see it by the session's being among the chats.
---@class azimuth.Event.PurposeChanged
---@field type "purposeChanged"
---@field purpose azimuth.Purpose The purpose.

---The session has a new title.
---@class azimuth.Event.TitleChanged
---@field type "titleChanged"
---@field title string The title.

---The session uses another model.
---@class azimuth.Event.ModelChanged
---@field type "modelChanged"
---@field model string The model's id.
---@field scripted boolean True for a model that plays a script; an interface must say so.
---@field thinking? azimuth.ThinkingLevel The level at which it thinks; absent if it thinks as it does by itself.
---@field byDefault? boolean True if nobody chose it for this session: it is the model of new sessions.
---@field chain? string The chain that was chosen by name, of which it is one: the others are asked if it fails. Absent for a model that was chosen alone, or by default.

---Automatic accepting of edits was switched on or off.
---@class azimuth.Event.AcceptEditsChanged
---@field type "acceptEditsChanged"
---@field on boolean True if edits are accepted automatically from now on.
---@field scope azimuth.AutoScope The scope.

---The session's mode has changed.
---@class azimuth.Event.ModeChanged
---@field type "modeChanged"
---@field mode azimuth.Mode The mode.

---A slash command was executed. It is not part of the model's context.
---@class azimuth.Event.CommandExecuted
---@field type "commandExecuted"
---@field command string The command as typed.
---@field message string Its output, in Markdown.
---@field isError boolean True if it failed.

---A turn began, with the user's prompt.
---@class azimuth.Event.TurnStarted
---@field type "turnStarted"
---@field turnId azimuth.TurnId The turn.
---@field prompt azimuth.PromptBlock[] The prompt. Empty if an earlier turn is continued.
---@field context string The content of the prompt's mentions and the editor's state, as the model reads it. It may be empty.
---@field model string The model's id.
---@field mode azimuth.Mode The mode.
---@field thinks? azimuth.Thinks The level at which the model thinks. Absent in logs of older versions.
---@field compacts? boolean True if it only compacts the conversation: the model does not read the prompt.

---The user said something to the running turn; the model reads it from here on.
---@class azimuth.Event.Steered
---@field type "steered"
---@field turnId azimuth.TurnId The turn.
---@field prompt azimuth.PromptBlock[] The text.
---@field context string The content of its mentions.

---A prompt waits for the turn's end.
---@class azimuth.Event.PromptQueued
---@field type "promptQueued"
---@field queueId azimuth.QueueId The waiting prompt.
---@field prompt azimuth.PromptBlock[] Its text.

---A waiting prompt has left the queue: it was started or taken back.
---@class azimuth.Event.PromptDequeued
---@field type "promptDequeued"
---@field queueId azimuth.QueueId The waiting prompt.

---Azimuth told the model something: decisions on its edits, new problems. Part of its context.
---@class azimuth.Event.Noted
---@field type "noted"
---@field turnId azimuth.TurnId The turn.
---@field text string The text.

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

---A piece of an edit's diff, while its call still arrives. It follows the earlier pieces of the same call. These pieces are void once the message is complete or discarded, or the turn ends: the hunks that the call then proposes replace them.
---@class azimuth.Event.EditDelta
---@field type "editDelta"
---@field messageId azimuth.MessageId The message.
---@field toolCallId azimuth.ToolCallId An id that is the same for the pieces of one call in the message. The call may be made under another id.
---@field path string The file, as the model names it, to be shown.
---@field text string The piece, in Markdown's `diff` notation: lines that begin with a space, `-`, `+`, or `@`. It may end within a line.

---A message is complete. It has the text of its deltas again, with the tool calls.
---@class azimuth.Event.MessageCompleted
---@field type "messageCompleted"
---@field turnId azimuth.TurnId The turn.
---@field messageId azimuth.MessageId The message.
---@field content azimuth.AssistantBlock[] The complete content.
---@field usage azimuth.Usage The tokens of the request.
---@field cost? number The cost of the request in US dollars; absent if the price is unknown.
---@field timing? azimuth.Timing The time that the answer took; absent in logs of older versions, and if it broke off.
---@field opening? azimuth.Opening The vendor's words at the beginning of its answer; absent if there were none.

---A message was cut off and will be requested again; what was shown of it is void.
---@class azimuth.Event.MessageDiscarded
---@field type "messageDiscarded"
---@field messageId azimuth.MessageId The message.

---A request to the model used tokens although no message came of it: it failed, was stopped, or its answer was empty. It is part of what the end of the turn says.
---@class azimuth.Event.RequestPaid
---@field type "requestPaid"
---@field turnId azimuth.TurnId The turn.
---@field usage azimuth.Usage The tokens of the request.
---@field cost? number The cost of the request in US dollars; absent if the price is unknown.
---@field opening? azimuth.Opening The vendor's words at the beginning of its answer; absent if there were none.

---A request to the model failed temporarily and is tried again. If the user ends the delay, it comes once more, with a delay of 0.
---@class azimuth.Event.Retrying
---@field type "retrying"
---@field turnId azimuth.TurnId The turn.
---@field attempt integer The number of the retry, from 1.
---@field delayMs integer The delay before it, in milliseconds from the time of the event.
---@field reason string The reason for the failure.
---@field of? integer The number of retries that there may be; absent in logs of older versions.

---The turn asks another model from here on. The session keeps its own.
---@class azimuth.Event.TurnModelChanged
---@field type "turnModelChanged"
---@field turnId azimuth.TurnId The turn.
---@field model string The id of the model that is asked from here on.
---@field insteadOf string The id of the model that would have been asked.
---@field reason azimuth.SwitchReason The reason.
---@field thinking? azimuth.ThinkingLevel The level at which it thinks; absent if it thinks as it does by itself.
---@field until? integer The time until which no turn asks that one if its chain has another; absent if it is asked again at once.
---@field error? string The failure of that one; absent if the reason says it all.
---@field account? azimuth.AccountSwitch Set if the model stays the same, and another key or account of the user's at its provider is used from here on. Then reason, time and failure are those of the account before.

---The model's plan, with the status of its steps. It replaces the turn's earlier plan.
---@class azimuth.Event.PlanUpdated
---@field type "planUpdated"
---@field turnId azimuth.TurnId The turn.
---@field entries azimuth.PlanEntry[] The steps, in their order.
---@field byUser? boolean True if the user changed it.

---A tool call started.
---@class azimuth.Event.ToolCallStarted
---@field type "toolCallStarted"
---@field turnId azimuth.TurnId The turn.
---@field toolCallId azimuth.ToolCallId The call.
---@field name string The tool.
---@field kind azimuth.ToolKind The tool's kind.
---@field title string A short title: `Reading main.rs`.
---@field input any Its input.
---@field locations azimuth.Location[] The locations that it is about.

---A tool call ended.
---@class azimuth.Event.ToolCallEnded
---@field type "toolCallEnded"
---@field turnId azimuth.TurnId The turn.
---@field result azimuth.ToolResult The result that the model reads.
---@field summary string A short summary: `3 matches`, `+2 -1`.
---@field locations azimuth.Location[] The locations that it is about.
---@field durationMs integer Its duration, in milliseconds.
---@field rewrittenInput? any The input as the model reads it from here on, if that is the applied edit and not the one that it wrote.

---A session that a call started did something: its turn began, its model answered or was changed, or called a tool. What its requests used is part of this session's usage and cost, but not of what the end of the turn says.
---@class azimuth.Event.ChildWorked
---@field type "childWorked"
---@field turnId azimuth.TurnId The turn of the call.
---@field toolCallId azimuth.ToolCallId The call that started it.
---@field child azimuth.SessionId The session that was started.
---@field model string The id of the model that it asks.
---@field rounds integer The number of its model's answers so far.
---@field usage azimuth.Usage The tokens of its requests since the last of these events of it.
---@field doing? string The title of the call of a tool that it makes: `Reading main.rs`. Absent if it waits for its model.
---@field cost? number The cost of these requests in US dollars; absent if there were none, or if the price is unknown.

---The user is asked.
---@class azimuth.Event.PermissionAsked
---@field type "permissionAsked"
---@field turnId azimuth.TurnId The turn.
---@field request azimuth.PermissionRequest The question.

---A question was answered or became moot.
---@class azimuth.Event.PermissionAnswered
---@field type "permissionAnswered"
---@field permissionId azimuth.PermissionId The question.
---@field outcome azimuth.PermissionOutcome The answer.

---Something was allowed or denied without asking.
---@class azimuth.Event.PermissionJudged
---@field type "permissionJudged"
---@field toolCallId azimuth.ToolCallId The call.
---@field allowed boolean True if it was allowed.
---@field reason string The rule or default, and its source.

---A proposal is new, or has changed.
---@class azimuth.Event.ProposalChanged
---@field type "proposalChanged"
---@field proposal azimuth.Proposal The current proposal.

---Hunks were decided.
---@class azimuth.Event.ReviewDecided
---@field type "reviewDecided"
---@field proposalId azimuth.ProposalId The proposal.
---@field hunkIds azimuth.HunkId[] The hunks.
---@field decision azimuth.Decision The answer.
---@field message? string A message to the model.

---Accepted hunks were applied to their document, or could not be.
---@class azimuth.Event.EditApplied
---@field type "editApplied"
---@field proposalId azimuth.ProposalId The proposal.
---@field hunkIds azimuth.HunkId[] The hunks.
---@field uri string The document.
---@field outcome azimuth.ApplyOutcome The outcome.
---@field turnId? azimuth.TurnId The last turn that had a part in them. Absent in logs of older versions.
---@field before? string The hash of its text before; absent if there was no file. The text is kept.
---@field after? string The hash of its text after, which is kept too; absent if there is no file any more.
---@field deleted? azimuth.FileImage For a deleted file: the file before, beyond its text.

---A document was formatted after edits in it were accepted.
---@class azimuth.Event.Formatted
---@field type "formatted"
---@field uri string The document.
---@field before string The hash of its text before. The text is kept.
---@field after string The hash of its text after, which is kept too.
---@field added integer Lines that the formatter added.
---@field removed integer Lines that it removed.
---@field turnId? azimuth.TurnId The turn that the edits belong to.
---@field by? string The formatter's name to show; absent if it is unknown.

---A command started in a terminal.
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
---@field exitCode? integer Its exit code; absent if it was killed or timed out.

---A terminal is new or has changed: the command in it, if it waits for input, or who has taken it over.
---@class azimuth.Event.TerminalChanged
---@field type "terminalChanged"
---@field terminal azimuth.TerminalInfo The current state of the terminal.

---Something was typed into a terminal.
---@class azimuth.Event.TerminalInput
---@field type "terminalInput"
---@field terminalId azimuth.TerminalId The terminal.
---@field by azimuth.Typist Who typed.
---@field text string The typed text, a line at a time; empty if it was not shown.
---@field hidden boolean True if the terminal did not show it, as for a password. It is kept nowhere.
---@field toolCallId? azimuth.ToolCallId The call whose command read it.

---The user runs a command of their own: `!command`, or `!!command`, which the model does not see.
---@class azimuth.Event.UserCommandStarted
---@field type "userCommandStarted"
---@field toolCallId azimuth.ToolCallId Its id, in the place of a call's.
---@field command string The command line.
---@field inContext boolean True if it is part of the model's context.

---The user's own command ended.
---@class azimuth.Event.UserCommandEnded
---@field type "userCommandEnded"
---@field toolCallId azimuth.ToolCallId Its id.
---@field text string Its output, as the model reads it.
---@field durationMs integer Its duration, in milliseconds.
---@field exitCode? integer Its exit code; absent if it was stopped or could not be run.

---A turn's command, or another program during the turn, changed files of the project.
---@class azimuth.Event.FilesChanged
---@field type "filesChanged"
---@field turnId azimuth.TurnId The turn.
---@field files azimuth.ChangedFile[] The files, sorted by URI.
---@field toolCallId? azimuth.ToolCallId The call that ran the command; absent if no command ran at that time.

---The state of a file was recorded because it could not be determined later.
---@class azimuth.Event.FileSeen
---@field type "fileSeen"
---@field uri string The file.
---@field occasion azimuth.SeenOccasion The occasion.
---@field now? azimuth.FileImage The file; absent if there is none.

---Turns' changes of files were undone or redone. Part of the model's context.
---@class azimuth.Event.CheckpointRestored
---@field type "checkpointRestored"
---@field direction azimuth.Direction The direction.
---@field turnIds azimuth.TurnId[] The turns, newest first.
---@field files azimuth.RestoredFile[] The outcome for each file.

---A notice to the user, which needs no answer.
---@class azimuth.Event.Notice
---@field type "notice"
---@field severity azimuth.Severity Its severity.
---@field text string Its text.

---The context filled up: the results of these calls were replaced by a short note.
---@class azimuth.Event.ContextTrimmed
---@field type "contextTrimmed"
---@field turnId azimuth.TurnId The turn.
---@field toolCallIds azimuth.ToolCallId[] The calls whose results the model no longer sees.
---@field kept? string[] How the model reads those again that are kept, in words, in the same order; empty for one that is not, and in logs of older versions.

---A handover is being written, for which the model is asked.
---@class azimuth.Event.Compacting
---@field type "compacting"
---@field turnId azimuth.TurnId The turn.
---@field reason azimuth.CompactionReason The reason.

---The beginning of the conversation was replaced by a handover.
---@class azimuth.Event.Compacted
---@field type "compacted"
---@field turnId azimuth.TurnId The turn.
---@field compaction azimuth.Compaction The handover.

---No handover could be written. The conversation stays as it is.
---@class azimuth.Event.CompactionFailed
---@field type "compactionFailed"
---@field turnId azimuth.TurnId The turn.
---@field error string The reason, and what to do.

---The user corrected what a model wrote of a handover.
---@class azimuth.Event.CompactionCorrected
---@field type "compactionCorrected"
---@field compactionId azimuth.CompactionId The handover.
---@field written string The text in its place.

---The user took a handover back: the model sees the replaced messages again.
---@class azimuth.Event.CompactionTakenBack
---@field type "compactionTakenBack"
---@field compactionId azimuth.CompactionId The handover.

---A model was asked outside a turn. It counts for the session's usage and cost.
---@class azimuth.Event.SideAsked
---@field type "sideAsked"
---@field role azimuth.SideRole The purpose.
---@field model string The model's id.
---@field usage azimuth.Usage The tokens of the request.
---@field cost? number The cost of the request in US dollars; absent if the model's price is unknown.
---@field error? string Why there is no answer; absent if there is one.

---The size of the context.
---@class azimuth.Event.ContextUsed
---@field type "contextUsed"
---@field used integer Tokens of the last request.
---@field limit integer The model's limit, in tokens.
---@field full? integer The tokens from which on old results are taken out; absent in logs of older versions.

---A turn ended.
---@class azimuth.Event.TurnEnded
---@field type "turnEnded"
---@field turnId azimuth.TurnId The turn.
---@field stopReason azimuth.StopReason The reason.
---@field usage azimuth.Usage The tokens of the turn, without those of sessions that its calls started.
---@field error? string The failure, or why the answer is incomplete or the model refused, and what to do.
---@field cost? number The cost of the turn in US dollars, as far as it is known; absent if no price is. The events of its requests say for which the price is unknown. Without that of sessions that its calls started.
---@field newErrors? integer The number of errors that its edits caused and that language servers still report. Absent if there are none, or if it is unknown.

---An event of a session.
---@alias azimuth.Event
---| azimuth.Event.SessionStarted
---| azimuth.Event.PurposeChanged
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
---| azimuth.Event.RequestPaid
---| azimuth.Event.Retrying
---| azimuth.Event.TurnModelChanged
---| azimuth.Event.PlanUpdated
---| azimuth.Event.ToolCallStarted
---| azimuth.Event.ToolCallEnded
---| azimuth.Event.ChildWorked
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
---| azimuth.Event.Compacting
---| azimuth.Event.Compacted
---| azimuth.Event.CompactionFailed
---| azimuth.Event.CompactionCorrected
---| azimuth.Event.CompactionTakenBack
---| azimuth.Event.SideAsked
---| azimuth.Event.ContextUsed
---| azimuth.Event.TurnEnded

---Parameters of the notification `azimuth/event`.
---@class azimuth.EventParams
---@field sessionId azimuth.SessionId The session.
---@field seq integer Its number in the session: 1, 2, 3, … without gaps.
---@field at integer The time of the event.
---@field event azimuth.Event The event itself.

---The format of an exported session.
---@alias azimuth.ExportFormat
---| "html" # A page in one file, which loads and runs nothing.
---| "markdown" # Markdown.
---| "jsonl" # The events as JSON lines, to be imported again.

---The kind of change of a file.
---@alias azimuth.FileChange
---| "create" # It is new.
---| "modify" # It is changed.
---| "delete" # It is deleted.

---A file at one moment. Its content is kept.
---@class azimuth.FileImage
---@field hash string The hash of its text, without byte order mark and with LF line ends.
---@field bytes? string The hash of its bytes, if the bytes are known and not only the text.
---@field executable? boolean True if it was executable; false if that is unknown.

---Questions that are answered together. Whatever is left open is assumed: what is recommended, else the first option.
---@class azimuth.Form
---@field questions azimuth.FormQuestion[] The questions, in their order.
---@field timeoutSeconds? integer The seconds after which everything is assumed, from when it is asked; absent to wait for the user.

---The answer to a question of a form. Without either, the question is left open.
---@class azimuth.FormAnswer
---@field chosen? integer[] The chosen options, by their places from 0.
---@field other? string The user's own words, instead of an option or, where several can be chosen, beside them.

---An option of a question.
---@class azimuth.FormOption
---@field label string The option in a few words.
---@field description string The consequence of choosing it; may be empty.
---@field recommended boolean True if the model recommends it.

---A question of a form. The user can always answer it in words of their own instead.
---@class azimuth.FormQuestion
---@field header string One to three words that name the question.
---@field question string The question.
---@field options azimuth.FormOption[] The options to choose from.
---@field multiple boolean True if several of them can be chosen.

---A replacement that an editor can show as ghost text.
---@class azimuth.GhostText
---@field range azimuth.Range The range.
---@field text string The text in its place.

---The part of a session that has the words of a search.
---@alias azimuth.HitKind
---| "title" # The session's title.
---| "prompt" # Something that the user said.
---| "answer" # Something that the model said.

---A part of a proposal that is decided on its own.
---@class azimuth.Hunk
---@field hunkId azimuth.HunkId The hunk.
---@field toolCallIds azimuth.ToolCallId[] The tool calls it came from.
---@field startLine integer The first line that it replaces in the current document, from 0.
---@field oldText string The lines it replaces, with their line ends (LF). Empty for an insertion.
---@field newText string The lines it puts there, with their line ends (LF). Empty for a deletion.
---@field state azimuth.HunkState Its state.
---@field lineBefore? string The line above those it replaces, with its line end; absent at the document's start.
---@field lineAfter? string The line below them, with its line end; absent at the document's end.
---@field anchor? string A mark with which the server finds the hunk after a restart if the document has changed; absent if its lines are not unique in the document. Clients do not need it.
---@field comments? string[] The user's comments, the oldest first.
---@field untoldComments? integer The number of the last comments that the model has not been told. Clients do not need it.

---A hunk. It keeps its id for as long as its content stays the same.
---@alias azimuth.HunkId string

---The state of a hunk.
---@alias azimuth.HunkState
---| "pending" # Not decided.
---| "applying" # Accepted, and on its way into the document.
---| "accepted" # Accepted, and seen in the document.
---| "unverified" # Accepted and sent, but not seen in the document.
---| "rejected" # Rejected.
---| "conflicted" # In conflict: the text that it was made for has changed, and it cannot be accepted.
---| "undone" # Accepted, then undone by the user in the editor.

---The way in which the editor indents a document.
---@class azimuth.Indentation
---@field tabSize integer The width of a tab, in columns.
---@field insertSpaces boolean True if it indents with spaces.

---Parameters of `azimuth/inline/accept`: puts a suggested edit, or a part of it, into the document.
---@class azimuth.InlineAcceptParams
---@field id string The edit.
---@field hunks? string[] The hunks; without them, all.

---Result of `azimuth/inline/accept`. The server has changed the document with `workspace/applyEdit`, in one step, and has seen the changed text.
---@class azimuth.InlineAcceptResult
---@field uri string The document that was changed.
---@field cursor azimuth.Position The end of what was put into it, where the cursor belongs.
---@field rest? azimuth.InlineEdit The rest of the edit, if there is any.

---Parameters of the notification `azimuth/inline/changed`: the suggested edit is another one, since the document has changed. Sent only to clients that asked for edits.
---@class azimuth.InlineChangedParams
---@field id string The edit as it was named.
---@field edit? azimuth.InlineEdit The rest of it, at its new position; absent if it is to go off the screen.
---@field reason? azimuth.Reason The rule that took it off the screen, if it is to go.

---Parameters of `azimuth/inline/complete`.
---@class azimuth.InlineCompleteParams
---@field textDocument azimuth.InlineDocument The document.
---@field position azimuth.Position The cursor.
---@field trigger? azimuth.InlineTrigger The reason.
---@field selected? azimuth.SelectedCompletion The entry that is selected in the completion menu, if it is open. A suggestion extends it.
---@field indentation? azimuth.Indentation The way in which the editor indents; without it, the document shows it.
---@field selecting? boolean True if something is selected, or there are several cursors.

---Result of `azimuth/inline/complete`.
---@class azimuth.InlineCompleteResult
---@field items azimuth.InlineItem[] The suggestions, the best first: at most one if the user types, at most three if the user asked.
---@field reason? azimuth.Reason The rule that left nothing to show, if there is nothing.

---Parameters of `azimuth/inline/counts`.
---@class azimuth.InlineCountsParams
---@field days? integer The days that are counted, today among them: 1 to 90, by default 30. Days are those of UTC.

---Result of `azimuth/inline/counts`.
---@class azimuth.InlineCountsResult
---@field counted boolean False if the user has switched the counting off. Then only the cost is known.
---@field days integer The days that are counted.
---@field models azimuth.InlineModelCounts[] The models, by their names.

---The fate of a request for a suggestion. It contains nothing of the text.
---@class azimuth.InlineDecision
---@field uri string The document.
---@field position azimuth.Position The cursor.
---@field trigger azimuth.InlineTrigger The reason why it was asked for.
---@field at integer The time, in milliseconds since the Unix epoch.
---@field source azimuth.InlineSource The source of what was shown, or where the search for it ended.
---@field tookMs integer The milliseconds from the request to its answer.
---@field isEdit? boolean True for an edit, and not for text at the cursor.
---@field reason? azimuth.Reason The rule that left nothing to show, if there was nothing.
---@field changedBy? azimuth.Rule[] The rules that changed the model's answer.
---@field model? string The model that was asked, if one was.

---A document at a version.
---@class azimuth.InlineDocument
---@field uri string The document.
---@field version? integer The version that the client shows. If the server has another one by now, the answer is empty. Without it, the document is taken as the server has it when the request comes.

---A suggested edit. Nothing of it is in the document until it is accepted.
---@class azimuth.InlineEdit
---@field id string Its name in `azimuth/inline/accept` and `azimuth/inline/feedback`.
---@field kind azimuth.InlineEditKind Its kind.
---@field uri string The document that it changes, which may be another than the one that was asked about, as the client names it.
---@field hunks azimuth.InlineHunk[] The parts that can be accepted one by one, from top to bottom, at least one. They do not overlap.
---@field target azimuth.Position The position to jump to before it is accepted: that of the part that is nearest to the cursor.
---@field version? integer The version of the document that the ranges are of. Absent if the document is not open: the ranges are of the file on disk. The edit can be accepted once the client has opened it, and `azimuth/inline/changed` then says its version.
---@field ghost? azimuth.GhostText The only hunk as ghost text at the cursor, if it can be shown so: a range on the cursor's line that ends at or after the cursor, and a text that begins with what stands between the beginning of the range and the cursor.
---@field model? string The model that it is from. Absent if it follows from the text alone.

---The kind of a suggested edit.
---@alias azimuth.InlineEditKind
---| "edit" # It changes the text around the cursor.
---| "jump" # It changes another part of the document, or another document: jump there first.
---| "rename" # It renames what the user has renamed in one place in the others.

---Parameters of `azimuth/inline/edit`: asks for the next edit, that is how the text goes on to change after what the user has just changed.
---@class azimuth.InlineEditParams
---@field textDocument azimuth.InlineDocument The document.
---@field position azimuth.Position The cursor.
---@field trigger? azimuth.InlineTrigger The reason.
---@field selecting? boolean True if something is selected, or there are several cursors.

---Result of `azimuth/inline/edit`.
---@class azimuth.InlineEditResult
---@field edit? azimuth.InlineEdit The edit, if there is one. It takes the place of the one before.
---@field reason? azimuth.Reason The rule that left nothing to show, if there is nothing.

---The fate of a suggestion.
---@alias azimuth.InlineEvent
---| "shown" # It is on the screen.
---| "accepted" # All of it was accepted.
---| "partly" # A word or a line of it was accepted.
---| "rejected" # The user dismissed it. The same one is not shown there again.
---| "ignored" # It went off the screen because the user did something else.
---| "replaced" # Another one took its place.

---Parameters of `azimuth/inline/explain`.
---@class azimuth.InlineExplainParams
---@field uri? string The document; without it, all documents.

---Result of `azimuth/inline/explain`.
---@class azimuth.InlineExplainResult
---@field decisions azimuth.InlineDecision[] The last decisions, the newest first; at most 50.

---Parameters of `azimuth/inline/feedback`.
---@class azimuth.InlineFeedbackParams
---@field id string The suggestion.
---@field event azimuth.InlineEvent The event.
---@field hunk? string For a part of an edit: the hunk.
---@field length? integer For `partly`: the characters of the suggestion's text that have been accepted so far, from its beginning, in UTF-16.

---A part of a suggested edit.
---@class azimuth.InlineHunk
---@field id string Its name in `azimuth/inline/accept` and `azimuth/inline/feedback`.
---@field range azimuth.Range The range that it replaces. Whole lines, unless both the old and the new text are parts of one line.
---@field text string The text in its place, with LF line ends.

---Parameters of `azimuth/inline/instruct`: has a model change what is selected, or write at the cursor, as the user says. Its changes are proposals, which are reviewed like those of a chat; nothing is in the document before.
---@class azimuth.InlineInstructParams
---@field textDocument azimuth.InlineDocument The document.
---@field instruction string The change that is wanted, in the user's words. Nothing in it is a slash command.
---@field selections? azimuth.Range[] The selected ranges. An empty range is a cursor, at which something is to be written. Without any, the whole document is meant.
---@field sessionId? azimuth.SessionId The session of an earlier instruction, to go on from what it has proposed. A client that does not follow it follows it from here on; one in another window than the session's host opens it first.

---Result of `azimuth/inline/instruct`. The client follows the session: its events arrive as `azimuth/event`, from the first one on if it is new. `azimuth/session/promote` makes it a chat, to go on there.
---@class azimuth.InlineInstructResult
---@field sessionId azimuth.SessionId The session.
---@field turnId azimuth.TurnId The turn that does it.

---A suggestion at the cursor.
---@class azimuth.InlineItem
---@field id string Its name in `azimuth/inline/feedback`.
---@field range azimuth.Range The range that it replaces: on the cursor's line, with the cursor in it or at its end.
---@field text string The text in its place, plain. It begins with the text from the range's beginning to the cursor.
---@field version integer The version of the document that the range is of.

---The counts of a model.
---@class azimuth.InlineModelCounts
---@field model string The model.
---@field changes integer The changes that the user made to documents, as a key makes them, while it was the model.
---@field requests integer The requests to it. Divided by `changes`, they are the requests for each key.
---@field late integer The requests that had no answer in time.
---@field failed integer The requests that failed.
---@field given integer The suggestions that editors were given.
---@field givenFromCache integer Those of them that needed no request: they were typed into, or kept.
---@field shown integer The suggestions that were on a screen, as far as editors tell.
---@field accepted integer The suggestions that were accepted to their end.
---@field partly integer The suggestions of which a word or a line was accepted.
---@field partlyCharacters integer The characters of those parts, in UTF-16.
---@field rejected integer The suggestions that were dismissed.
---@field ignored integer The suggestions that went off the screen because the user did something else.
---@field replaced integer The suggestions that another one took the position of.
---@field retention azimuth.InlineRetention[] The retention of accepted text, after each time.
---@field cost number The cost in US dollars; 0 if it costs nothing, or its price is not known.
---@field p50Ms? integer The milliseconds within which half of the requests were answered, at most a quarter too many. Absent if none was.
---@field p90Ms? integer The milliseconds within which nine of ten requests were answered.

---The share of accepted text that is still there.
---@class azimuth.InlineRetention
---@field afterSeconds integer The seconds since the acceptance.
---@field lookedFor integer The suggestions that were looked for: those whose document was still open.
---@field kept integer Those of which at least half of the words were still there.

---The source of a suggestion.
---@alias azimuth.InlineSource
---| "none" # Nothing was looked for.
---| "kept" # An answer that the user has typed into, or that was kept.
---| "running" # A request that was running already.
---| "model" # The model.

---The state of ghost text.
---@alias azimuth.InlineState
---| "off" # No model is set or found, or today's limit of cost is reached: nothing is suggested, and asking is of no use.
---| "ready" # Suggestions can be asked for.
---| "slow" # They can be asked for, but lately the model took so long that most of them come too late.
---| "failing" # The model's server has failed several times in a row. It is asked again, less often.

---Parameters of the notification `azimuth/inline/status`.
---@class azimuth.InlineStatusParams
---@field state azimuth.InlineState The state.
---@field model? string The model that suggests, if there is one.
---@field editModel? string The model that suggests edits, if there is one. Without it, asking for edits is of no use.
---@field reason? azimuth.Reason The reason, if nothing is suggested, or the model is slow.
---@field cost? number The cost of today's suggestions (UTC) in US dollars, in all windows, rounded to a tenth of a cent. Absent if nothing costs.
---@field costUnknown? boolean True if a model may cost something, but its price is not known: `cost` lacks it, and no limit holds for it.

---The reason why a suggestion is asked for.
---@alias azimuth.InlineTrigger
---| "invoked" # The user asked for it. Rules that only keep suggestions from being a nuisance do not hold.
---| "automatic" # The user types.

---A finding about a key, of its vendor's.
---@class azimuth.KeyCheck
---@field state azimuth.KeyState The finding.
---@field words string The same for the user, as a whole sentence, with the vendor's own words if it said any.

---A key or an account of several at a provider.
---@class azimuth.KeyMember
---@field name string Its name: a variable, or the name of an account.
---@field isAccount boolean True if it is an account that Azimuth keeps.
---@field inUse boolean True if a new session would begin with it now.
---@field restsUntil? integer The time until which it is not used if another one can be, in milliseconds since 1970; absent if it does not rest.
---@field reason? azimuth.SwitchReason Why it rests.

---A provider for which a key can be kept.
---@class azimuth.KeyProvider
---@field provider string The provider, such as `openai`.
---@field title string Its name, to be shown.

---A vendor's word about a key.
---@alias azimuth.KeyState
---| "taken" # It takes it: it tells its credit, or lists its models with the key and not without.
---| "refused" # It does not know the key, or has ended the sign-in.
---| "forbidden" # It knows the key, and does not list its models for it.
---| "unknown" # Nothing is known: it could not be asked, has no list, or lists its models to whoever asks.

---The source of a provider's key. Only this one counts, even if there are others.
---@class azimuth.KeyStatus
---@field provider string The provider, such as `anthropic`.
---@field source string The source, to be shown: `the environment variable ANTHROPIC_API_KEY`.
---@field variable? string The environment variable, if the key comes from one.
---@field label? string The name of the account, if the key comes from one.
---@field members? azimuth.KeyMember[] The keys and accounts of which requests use one, in their order, if there are several.

---An available action.
---@class azimuth.LangAction
---@field title string Its title, to be shown; its name in `codeAction`.
---@field kind? string Its kind, such as `quickfix` or `refactor.extract`.
---@field preferred? boolean True for the most likely action.
---@field disabled? string The reason why it cannot be done here, if it cannot.

---There is no answer; the status says why.
---@class azimuth.LangAnswer.Nothing
---@field type "nothing"

---Locations in code.
---@class azimuth.LangAnswer.Locations
---@field type "locations"
---@field locations azimuth.LangLocation[] The locations.

---Text in Markdown.
---@class azimuth.LangAnswer.Text
---@field type "text"
---@field text string The text; empty if nothing is known.

---Symbols.
---@class azimuth.LangAnswer.Symbols
---@field type "symbols"
---@field symbols azimuth.LangSymbol[] The symbols.

---Callers, or called functions.
---@class azimuth.LangAnswer.Calls
---@field type "calls"
---@field calls azimuth.LangCall[] The callers, or the called functions.

---A change of files that was not made.
---@class azimuth.LangAnswer.Edit
---@field type "edit"
---@field changes azimuth.LangChange[] Its steps, in their order; empty if nothing would change.

---Problems.
---@class azimuth.LangAnswer.Diagnostics
---@field type "diagnostics"
---@field documents azimuth.LangDiagnostics[] The documents, including those that are known to have no problems.

---Available actions.
---@class azimuth.LangAnswer.Actions
---@field type "actions"
---@field actions azimuth.LangAction[] The actions.

---An answer, by the kind of question.
---@alias azimuth.LangAnswer
---| azimuth.LangAnswer.Nothing
---| azimuth.LangAnswer.Locations
---| azimuth.LangAnswer.Text
---| azimuth.LangAnswer.Symbols
---| azimuth.LangAnswer.Calls
---| azimuth.LangAnswer.Edit
---| azimuth.LangAnswer.Diagnostics
---| azimuth.LangAnswer.Actions

---A caller, or a called function.
---@class azimuth.LangCall
---@field symbol azimuth.LangSymbol The caller, or the called function.
---@field ranges azimuth.Range[] The ranges of the calls, in the caller.

---Parts of a document's text are replaced.
---@class azimuth.LangChange.Text
---@field type "text"
---@field uri string The document.
---@field edits azimuth.LangTextEdit[] The edits, with ranges in the text before all of them, not overlapping.
---@field version? integer The version of it that the edits are made for, if it is open.
---@field hash? string The hash of the text that the edits are made for, if it is known: SHA-256 in hexadecimal, without byte order mark and with LF line ends.

---A file is created.
---@class azimuth.LangChange.Create
---@field type "create"
---@field uri string The file.

---A file or folder is moved.
---@class azimuth.LangChange.Rename
---@field type "rename"
---@field from string The current path, as a URI.
---@field to string The new path, as a URI.

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
---@field range azimuth.Range The range.
---@field severity azimuth.LangSeverity The severity.
---@field message string The message.
---@field source? string The source, such as `rustc`.
---@field code? string The source's code for it, such as `E0308`.

---The problems of a document.
---@class azimuth.LangDiagnostics
---@field uri string The document.
---@field diagnostics azimuth.LangDiagnostic[] The problems.
---@field version? integer The version that they belong to, if it is known.

---A location in code.
---@class azimuth.LangLocation
---@field uri string The document.
---@field range azimuth.Range The range in it.

---The definition of the symbol here. Answered with `locations`.
---@class azimuth.LangQuery.Definition
---@field type "definition"
---@field uri string The document.
---@field position azimuth.Position The position.

---The definition of the symbol's type. Answered with `locations`.
---@class azimuth.LangQuery.TypeDefinition
---@field type "typeDefinition"
---@field uri string The document.
---@field position azimuth.Position The position.

---The implementations of the symbol here. Answered with `locations`.
---@class azimuth.LangQuery.Implementation
---@field type "implementation"
---@field uri string The document.
---@field position azimuth.Position The position.

---The uses of the symbol here, including its declaration. Answered with `locations`.
---@class azimuth.LangQuery.References
---@field type "references"
---@field uri string The document.
---@field position azimuth.Position The position.

---The description of the symbol here. Answered with `text`.
---@class azimuth.LangQuery.Hover
---@field type "hover"
---@field uri string The document.
---@field position azimuth.Position The position.

---The symbols of a document. Answered with `symbols`, each before those that it contains.
---@class azimuth.LangQuery.DocumentSymbols
---@field type "documentSymbols"
---@field uri string The document.

---The symbols of the workspace with this name. Answered with `symbols`.
---@class azimuth.LangQuery.WorkspaceSymbols
---@field type "workspaceSymbols"
---@field query string The name, or a part of it.
---@field uri? string A document whose language servers are asked; without it, all that run are asked.

---The callers of the function here. Answered with `calls`.
---@class azimuth.LangQuery.IncomingCalls
---@field type "incomingCalls"
---@field uri string The document.
---@field position azimuth.Position The position.

---The functions that the function here calls. Answered with `calls`.
---@class azimuth.LangQuery.OutgoingCalls
---@field type "outgoingCalls"
---@field uri string The document.
---@field position azimuth.Position The position.

---The supertypes of the type here. Answered with `symbols`.
---@class azimuth.LangQuery.Supertypes
---@field type "supertypes"
---@field uri string The document.
---@field position azimuth.Position The position.

---The subtypes of the type here. Answered with `symbols`.
---@class azimuth.LangQuery.Subtypes
---@field type "subtypes"
---@field uri string The document.
---@field position azimuth.Position The position.

---The changes that would rename the symbol here. Nothing is changed. Answered with `edit`.
---@class azimuth.LangQuery.Rename
---@field type "rename"
---@field uri string The document.
---@field position azimuth.Position The position.
---@field newName string The new name.

---The changes elsewhere that would move a file or folder. Nothing is changed, and the move itself is not in the answer. Answered with `edit`.
---@class azimuth.LangQuery.MoveFile
---@field type "moveFile"
---@field from string The current path, as a URI.
---@field to string The new path, as a URI.

---The known problems. Answered with `diagnostics`.
---@class azimuth.LangQuery.Diagnostics
---@field type "diagnostics"
---@field uri? string The document; without it, all documents with known problems.

---The actions for a part of a document. Answered with `actions`.
---@class azimuth.LangQuery.CodeActions
---@field type "codeActions"
---@field uri string The document.
---@field range azimuth.Range The part.
---@field kind? string Only actions of this kind, or of those below it, such as `quickfix`.

---The changes that an action would make. Nothing is changed. Answered with `edit`; an action that does more than edit is `unsupported`.
---@class azimuth.LangQuery.CodeAction
---@field type "codeAction"
---@field uri string The document.
---@field range azimuth.Range The part.
---@field title string The action, by its title.
---@field kind? string The kind with which it was requested, if any: some servers offer such actions only then.

---The changes that would format a document. Nothing is changed. Answered with `edit`.
---@class azimuth.LangQuery.Format
---@field type "format"
---@field uri string The document.

---The servers that run for a document, or all of them. Answered with `nothing`; the result is in `servers`.
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

---Result of `azimuth/editor/query`.
---@class azimuth.LangResult
---@field status azimuth.LangStatus The reliability of the answer.
---@field answer azimuth.LangAnswer The answer.
---@field servers? azimuth.LangServer[] The servers that answered, or would have. Empty if they are unknown.
---@field version? integer The version of the document that the answer is for; none if it is not open.
---@field message? string The failure, or what is still missing, to be shown.

---A language server.
---@class azimuth.LangServer
---@field name string Its name, as given by the server or its configuration.
---@field version? string Its version, if it says one.

---The severity of a problem.
---@alias azimuth.LangSeverity
---| "error" # An error.
---| "warning" # A warning.
---| "information" # A remark.
---| "hint" # A hint.

---The reliability of an answer. "There is none" is `ready` with an empty answer, and nothing else.
---@alias azimuth.LangStatus
---| "ready" # The answer is complete.
---| "indexing" # The server is still reading the project: the answer may be incomplete.
---| "partial" # There is more than was given, one of several servers did not answer, or the answer may be for another text than the current one. The message says which.
---| "noServer" # There is no server for the document.
---| "unsupported" # The servers cannot answer this.
---| "failed" # The server said that it could not; the message says why.
---| "crashed" # The server ended while it was asked.
---| "timedOut" # There was no answer in time.
---| "editorBusy" # The editor was busy and did not pass the question on.
---| "unseen" # The answer depends on pending edits, which the servers do not see; the message names them.

---A symbol.
---@class azimuth.LangSymbol
---@field name string Its name.
---@field kind integer Its kind: the number of LSP's `SymbolKind`.
---@field location azimuth.LangLocation Its whole range.
---@field selection azimuth.Range Its name in its definition; if that is unknown, its beginning.
---@field detail? string Details, such as its signature.
---@field container? string The name of its container.
---@field depth? integer Its depth: the number of symbols of the same answer that contain it.

---A part of a text, and its replacement.
---@class azimuth.LangTextEdit
---@field range azimuth.Range The part.
---@field newText string The new text.

---Whole lines of a document.
---@class azimuth.LineRange
---@field start integer The first, from 0.
---@field end integer The line after the last one.

---A location in a file that an event is about; an editor can show it.
---@class azimuth.Location
---@field uri string The document.
---@field line? integer Line, from 0.

---US dollars per million tokens, for each token of a request whose prompt is long.
---@class azimuth.LongPrice
---@field above integer The number of tokens that the prompt must have more than, all input together.
---@field input number Input that no cache served.
---@field output number Output.
---@field cacheRead number Input served by the cache.
---@field cacheWrite number Input stored to the cache.

---A message of the assistant, whose deltas carry the same id.
---@alias azimuth.MessageId string

---The mode of a turn: what the agent may do in it.
---@alias azimuth.Mode
---| "ask" # Look and answer; nothing is changed or run.
---| "plan" # Look, also with commands that are known to be read-only, and plan; nothing is changed.
---| "agent" # Everything within the permissions: edits are reviewed, commands are allowed or asked about.
---| "accept_edits" # Like `agent`, and edits are accepted automatically.
---| "bypass" # Nothing is asked, except by `ask` rules; `deny` rules still deny. It has to be confirmed.

---A model that can be chosen.
---@class azimuth.ModelInfo
---@field id string The id to select it with: `provider/name`, such as `anthropic/claude-sonnet-5-5`.
---@field name string Its name, to be shown.
---@field provider string The provider, such as `anthropic`, `openai`, `ollama`, `scripted`.
---@field contextTokens integer The context window in tokens.
---@field maxOutputTokens integer The longest answer in tokens.
---@field available boolean True if it can be used now: there is a key, or a local server answers.
---@field images boolean True if it takes images.
---@field thinking boolean True if it can think before it answers.
---@field scripted boolean True for a model that plays a script; an interface must say so.
---@field aliases? string[] Other names that select it, such as `opus`.
---@field price? azimuth.Price The price; absent if unknown, zero if it is free.
---@field unavailableBecause? string The reason why it cannot be used, and what to do.
---@field ruledOut? boolean True if the configuration rules it out (`enabled_models`, `disabled_providers`): a picker leaves it out.
---@field levels? azimuth.ThinkingLevel[] The levels at which it can be told to think, the lowest first; empty if it can be told none.
---@field level? azimuth.ThinkingLevel The level at which it thinks if nobody chooses another for a session; absent if it thinks as it does by itself.
---@field warning? string A problem that the user should know of before choosing it, and what to do, such as a window of Ollama's that is too small. It can be used all the same.

---Parameters of `azimuth/model/list`.
---@class azimuth.ModelListParams
---@field unasked? boolean True if the user has not asked for the list: vendors whose models are known without their own lists are not asked for these.

---Result of `azimuth/model/list`.
---@class azimuth.ModelListResult
---@field models azimuth.ModelInfo[] Every model known, the usable ones first.
---@field default? string The id of the model a new session gets, if any is usable.
---@field notes? string[] For each provider whose own list could not be had, why, and which models stand there instead.
---@field recent? string[] The ids of the models that were chosen last, the last one first; at most ten.

---Parameters of `azimuth/model/pick`.
---@class azimuth.ModelPickParams
---@field role azimuth.Role The role.
---@field model? string The name of its model, or of several with commas between them; absent for what the settings say without the pick.
---@field keep? boolean True to write it into the user's `config.toml`. Otherwise it holds until Azimuth ends.

---Result of `azimuth/model/pick`.
---@class azimuth.ModelPickResult
---@field role azimuth.RoleInfo The role, with the model that it comes to from now on.
---@field text string The change, in words for the user.

---Parameters of `azimuth/model/roles`.
---@class azimuth.ModelRolesParams

---Result of `azimuth/model/roles`.
---@class azimuth.ModelRolesResult
---@field roles azimuth.RoleInfo[] Each role.

---Parameters of `azimuth/model/select`.
---@class azimuth.ModelSelectParams
---@field model string A model's id, its name without the provider, or an alias; behind it possibly a colon and a level of thinking, or `default` for as much as the model thinks by itself. Without one, the level counts that was last chosen for it.
---@field sessionId? azimuth.SessionId The session; without it, the default of new sessions is set.
---@field onlyHere? boolean True if new sessions do not begin with it.

---Result of `azimuth/model/select`.
---@class azimuth.ModelSelectResult
---@field model azimuth.ModelInfo The selected model.

---The speed of a model: medians of its answers.
---@class azimuth.ModelSpeed
---@field model string The model's id.
---@field answers integer The number of answers that were measured.
---@field firstMs integer The time from the request to the first piece of the answer, in milliseconds.
---@field tokensPerSecond? number The tokens of the answer for each second from the request to its end; absent if the vendor reported none.

---Parameters of `azimuth/model/changed`.
---@class azimuth.ModelsChangedParams

---A vendor's words at the beginning of its answer, besides the answer itself.
---@class azimuth.Opening
---@field vendor? any The name of the answer, as its vendor is told it with the next request. Nobody else gets it.
---@field missed? azimuth.CacheMiss The reason why its cache did not serve what it had served before; absent if it says none.

---The subject of a question.
---@alias azimuth.PermissionAbout
---| "tool_call" # A tool call.
---| "pending_edits" # The pending hunks before a command runs. It is moot once none is pending any more.
---| "unsaved_text" # Saving the user's unsaved text before a command runs.
---| "outside" # Running a command outside the sandbox.
---| "trust" # Trust in the workspace: with it, what the workspace supplies may run, and what it allows counts.
---| "program" # Starting a program that comes with the project, such as a language server, in its current form.
---| "budget" # Spending more than the user's budget.
---| "form" # The model's own questions, in the request's form. The option that allows sends what is filled in.

---Parameters of `azimuth/permission/answer`.
---@class azimuth.PermissionAnswerParams
---@field sessionId azimuth.SessionId The session.
---@field permissionId azimuth.PermissionId The question.
---@field optionId string The option chosen.
---@field message? string A message to the model.
---@field answers? azimuth.FormAnswer[] The answers to a form, one for each of its questions; without any, all are left open.

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
---@field optionId string The id to answer with.
---@field name string The text, with its scope: `Always allow cargo test … in this project`.
---@field kind azimuth.PermissionOptionKind Its effect.

---The effect of an option; ACP's option kinds.
---@alias azimuth.PermissionOptionKind
---| "allow_once" # Allow it, this time.
---| "allow_always" # Allow it, and do not ask for this again in this project.
---| "reject_once" # Do not.
---| "reject_always" # Reject it, always in this project.

---An option was chosen.
---@class azimuth.PermissionOutcome.Selected
---@field type "selected"
---@field optionId string The option.
---@field message? string A message to the model, such as why it was rejected.
---@field answers? azimuth.FormAnswer[] The answers to a form, one for each of its questions; empty if all are left open.

---The turn ended first, or nobody could answer.
---@class azimuth.PermissionOutcome.Cancelled
---@field type "cancelled"

---Nobody answered a form in time: everything in it is assumed.
---@class azimuth.PermissionOutcome.TimedOut
---@field type "timedOut"

---The subject was settled in another way.
---@class azimuth.PermissionOutcome.Moot
---@field type "moot"

---The outcome of a question.
---@alias azimuth.PermissionOutcome
---| azimuth.PermissionOutcome.Selected
---| azimuth.PermissionOutcome.Cancelled
---| azimuth.PermissionOutcome.TimedOut
---| azimuth.PermissionOutcome.Moot

---A question. It stays open until it is answered or its turn ends, across reconnects.
---@class azimuth.PermissionRequest
---@field permissionId azimuth.PermissionId The question.
---@field about azimuth.PermissionAbout The subject.
---@field title string The question in a few words: `Run a command?`
---@field detail string The details: the command line, the paths.
---@field reason string The reason: the rule or default that led here.
---@field options azimuth.PermissionOption[] The answers to choose from.
---@field toolCallId? azimuth.ToolCallId The tool call that waits, if one does.
---@field form? azimuth.Form The form, if the model asks questions of its own.

---Parameters of `azimuth/permission/revoke`. The same call twice is harmless.
---@class azimuth.PermissionRevokeParams
---@field sessionId azimuth.SessionId The session.
---@field rule string The rule as listed.
---@field origin azimuth.RuleOrigin Its origin as listed: `granted` or `session`.

---A step of a plan; ACP's plan entry.
---@class azimuth.PlanEntry
---@field content string The task, one line.
---@field status azimuth.PlanEntryStatus How far it is.

---The status of a step of a plan.
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
---@field cacheWriteHour? number Input stored to the cache for an hour; absent if it is twice that of input. With a long prompt, it rises as that of input does.
---@field long? azimuth.LongPrice The price of requests with a long prompt; absent if it is the same.

---Parameters of `azimuth/prompt/beginnings`.
---@class azimuth.PromptBeginningsParams
---@field uri? string The document that the user is looking at, if any.
---@field sessionId? azimuth.SessionId The chat's session, if any; its model is then the one that is described.

---Result of `azimuth/prompt/beginnings`.
---@class azimuth.PromptBeginningsResult
---@field setup azimuth.SetupFact[] The facts about the workspace's setup, the most important first.
---@field beginnings azimuth.Beginning[] Prompts to try: about the document if it is one of the workspace's files, else about the project.

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

---The user's selection at the time of the prompt.
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
---@field cursor integer The cursor: an offset into `text` in UTF-16 units.

---Result of `azimuth/prompt/complete`.
---@class azimuth.PromptCompleteResult
---@field start integer The beginning of the token under the cursor, in UTF-16 units.
---@field end integer Its end, exclusive.
---@field items azimuth.CompletionItem[] The completions, the best first.

---Parameters of `azimuth/prompt/history`.
---@class azimuth.PromptHistoryParams
---@field query? string Only prompts that have these words, as for `azimuth/session/search`; all without a word.
---@field folder? string Only prompts of sessions of this folder (a URI); without it, those of the client's workspace folders.
---@field everywhere? boolean True for the prompts of every folder.
---@field limit? integer At most this many, 1 to 1000; 100 without it.

---Result of `azimuth/prompt/history`.
---@class azimuth.PromptHistoryResult
---@field prompts azimuth.EarlierPrompt[] The prompts that the user has typed, with slash commands and commands after `!`, the last first. Each text is there once.

---Parameters of `azimuth/prompt/put`.
---@class azimuth.PromptPutParams
---@field prompt azimuth.PromptBlock[] The prompt, or a part of it.
---@field send boolean True to send it at once, or after the running turn. Otherwise the user wants to add something.

---The pending change of one file: the difference between its text and the agent's proposal.
---
---Further edits of the same file join the proposal until all its hunks are decided.
---@class azimuth.Proposal
---@field proposalId azimuth.ProposalId The proposal.
---@field revision integer A number that grows when a hunk appears, disappears or changes, but not when one is decided or only moves.
---@field uri string The document.
---@field path string Its path relative to the workspace folder, to be shown.
---@field change azimuth.FileChange The kind of change.
---@field hunks azimuth.Hunk[] The hunks, from top to bottom, decided ones included.
---@field baseHash? string The hash of the document that the hunks' lines refer to; absent if there is no file. With it the server knows after a restart if the lines are still right.
---@field movedTo? string For a move: the document that gets the deleted file's text; otherwise absent. The deletion can be accepted once that document has the text, or together with it.
---@field landed? boolean True if the hunks are already in the document, because a command or, during the turn, another program put them there. To accept such a hunk keeps it; to reject it takes it back. Its `startLine` is that of `newText`, which is in the document now; `oldText` is the text before. `change` is what happened to the file. Nothing waits for the decision. A hunk that is `applying` is being taken back; one in conflict can only be kept; `undone` means that it was taken back and is there again. Without `toolCallIds` another program made the change.

---The pending change of one file.
---@alias azimuth.ProposalId string

---Result of `azimuth/review/text`: a file before and after all of its pending hunks, with LF line ends and without a byte order mark.
---@class azimuth.ProposedText
---@field uri string The document.
---@field path string Its path, to be shown.
---@field revision integer The proposal's revision.
---@field base? string The current text; absent if there is no file. If the hunks have landed, the text without the pending ones.
---@field proposed? string The text with every pending hunk; absent if the file is to be deleted. If the hunks have landed, the current text.

---The purpose of a session.
---@alias azimuth.Purpose
---| "chat" # A conversation, with all tools.
---| "instruct" # It changes what is selected, as `azimuth/inline/instruct` says: its tools only read and propose edits.
---| "suggestions" # The record of the suggestions that were accepted. No model is asked in it.

---A prompt that waits for the running turn to end.
---@alias azimuth.QueueId string

---The limits of the user's account at a vendor, as its last answer told them.
---@class azimuth.Quota
---@field provider string The provider.
---@field at integer The time of that answer.
---@field windows azimuth.QuotaWindow[] The limits.
---@field account? string The name of the key or account that the limits are of, if the user has several at the provider.

---A limit that a vendor sets for some time.
---@class azimuth.QuotaWindow
---@field name string The subject of the limit, to be shown: `requests`, `input tokens`, `5 hours of the plan`.
---@field used number The share that is used, from 0 to 1.
---@field limit? integer The limit, in what it is about; absent if the vendor tells only a share.
---@field remaining? integer The part of it that is left.
---@field left? string The rest in words, to be shown instead of these numbers: `$7.50 of $10.00 left`.
---@field resetsAt? integer The time at which it begins again, if the vendor tells it.

---A range in a document, its end exclusive: LSP's `Range`.
---@class azimuth.Range
---@field start azimuth.Position Where it begins.
---@field end azimuth.Position Where it ends, exclusive.

---The evidence that a command in the background, such as a server, is up.
---@class azimuth.Ready
---@field ports integer[] The TCP ports that its processes listen on, sorted.
---@field line? string The line that says so, if one did.

---A rule that applied, with its meaning.
---@class azimuth.Reason
---@field rule azimuth.Rule The rule.
---@field words string Its meaning in a sentence, for the user, with details where there are some.

---An account that was forgotten.
---@class azimuth.RemovedAccount
---@field label string The account's name.
---@field notRevoked? string Why the vendor could not be told that the sign-in has ended, to be shown; absent if it knows, or need not.

---A part of a request to a model.
---@alias azimuth.RequestPart
---| "model" # The model, or how it is served.
---| "system" # The system prompt.
---| "tools" # The tools.
---| "messages" # The conversation.

---Done: the file has the wanted text.
---@class azimuth.RestoreOutcome.Done
---@field type "done"

---Probably done: the client agreed, but did not show the text in time.
---@class azimuth.RestoreOutcome.Unverified
---@field type "unverified"

---It was left as it is.
---@class azimuth.RestoreOutcome.Left
---@field type "left"
---@field reason string The reason, and what to do.

---It could not be done; nothing was changed.
---@class azimuth.RestoreOutcome.Failed
---@field type "failed"
---@field reason string The reason.

---How the undo or redo of a file ended.
---@alias azimuth.RestoreOutcome
---| azimuth.RestoreOutcome.Done
---| azimuth.RestoreOutcome.Unverified
---| azimuth.RestoreOutcome.Left
---| azimuth.RestoreOutcome.Failed

---A turn's change of a file that was undone or redone.
---@class azimuth.RestoreStep
---@field turnId azimuth.TurnId The turn.
---@field from? azimuth.FileImage The file before; absent if there was none.
---@field to? azimuth.FileImage The file after; absent if there is none.

---The outcome of undo or redo for a file.
---@class azimuth.RestoredFile
---@field uri string The document.
---@field path string Its path, to be shown.
---@field outcome azimuth.RestoreOutcome The outcome.
---@field steps? azimuth.RestoreStep[] The turns' changes that were undone or redone, in that order. Empty unless the outcome is `done`.

---Parameters of `azimuth/review/auto`.
---@class azimuth.ReviewAutoParams
---@field sessionId azimuth.SessionId The session.
---@field on boolean True to accept edits automatically from now on.
---@field scope? azimuth.AutoScope The scope. A session in which it is switched off keeps it off even if it is on for the project.

---Parameters of `azimuth/review/change`: the user wants another text than the proposed one.
---@class azimuth.ReviewChangeParams
---@field sessionId azimuth.SessionId The session.
---@field proposalId azimuth.ProposalId The proposal.
---@field revision integer Its revision as the user saw it.
---@field text string The new proposed text. It is not accepted by this.

---Parameters of `azimuth/review/comment`: a comment of the user on a hunk, which decides nothing. The model gets it with its next request, or with the next prompt.
---@class azimuth.ReviewCommentParams
---@field sessionId azimuth.SessionId The session.
---@field proposalId azimuth.ProposalId The proposal.
---@field hunkId azimuth.HunkId The hunk.
---@field text string The comment, not empty.

---Parameters of `azimuth/review/decide`.
---@class azimuth.ReviewDecideParams
---@field sessionId azimuth.SessionId The session.
---@field decision azimuth.Decision Accept or reject.
---@field targets azimuth.DecisionTarget[] One item per file, with all or some of its hunks. For "all", every proposal that the user saw.
---@field message? string A message to the model.

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

---The work that a model is asked for.
---@alias azimuth.Role
---| "default" # Conversations.
---| "plan" # Turns in the mode `plan`.
---| "fast" # Small work that names no model of its own.
---| "oracle" # Second opinions.
---| "title" # Titles of conversations.
---| "instruct" # Changes of a selection ("change this").
---| "completion" # Text that is suggested where the user types.
---| "next_edit" # Edits that are suggested.

---The model that a role comes to now.
---@class azimuth.RoleInfo
---@field role azimuth.Role The role.
---@field words string The work that its model is asked for, in words.
---@field why string Why it is this one, or why there is none, in words.
---@field model? string The model that would be asked now, by its id and its level; absent if none would be.
---@field picked? boolean True if it was picked, and holds until Azimuth ends.
---@field kept? boolean True if its setting is in the user's `config.toml`, from which it can be taken out.

---A request of a turn that was answered.
---@class azimuth.Round
---@field at integer The time of the end of its answer.
---@field model string The model's id.
---@field usage azimuth.Usage The tokens.
---@field cost? number The cost; absent if the price is unknown.
---@field cacheHits? number The share of the input that was read from the cache, from 0 to 1; absent if there was no input.
---@field missedBecause? string Why less was read from the cache than was in it, as far as the session's log tells, in words; absent if the cache was hit, or if the reason is unknown.

---A rule that kept a suggestion from being asked for, changed or withheld it, or took it off the screen.
---@alias azimuth.Rule
---| "off" # Suggestions are switched off, for all or for this language.
---| "snoozed" # The user paused them.
---| "not_set" # No model is named for suggestions.
---| "no_model" # The model that is named for suggestions cannot be used.
---| "untrusted" # The workspace is not trusted.
---| "outside" # The document is no file of the workspace.
---| "secret_file" # The file's name is one for keys and other secrets.
---| "denied" # A rule of the user's denies reading the file.
---| "ignored" # Git ignores the file.
---| "too_large" # The file is too large.
---| "long_line" # The line is too long.
---| "scope" # The place is a comment or a text in quotes, where suggestions are switched off.
---| "mid_word" # The cursor is inside a word.
---| "mid_line" # The rest of the line is more than closing brackets and quotes.
---| "too_short" # There is too little text to go on from.
---| "nothing_changed" # Nothing was changed here lately, so there is nothing for an edit to follow from.
---| "menu" # The completion menu shows an entry that the suggestion cannot extend.
---| "undo" # The last change was an undo or a redo.
---| "deletion" # The last change only deleted something.
---| "paste" # The last change pasted many lines.
---| "cursors" # There are several cursors, or something is selected.
---| "own_edit" # The last change was made by Azimuth.
---| "control_tokens" # The text contains what controls the model.
---| "secret_near" # There is what looks like a secret near the cursor.
---| "cost_limit" # Today's limit of cost for suggestions is reached.
---| "late" # There was no answer in time.
---| "failed" # The model's server failed.
---| "empty" # The answer is empty.
---| "garbage" # The answer is no answer of this model's format.
---| "too_long" # The answer is too long.
---| "no_change" # The answer changes nothing.
---| "blank_space" # The answer changes only blank space.
---| "fence" # The answer was in a code fence, which is taken off.
---| "thoughts" # The answer contained the model's thoughts, which are taken off.
---| "answer_tokens" # The answer contained tokens that control the model, which are taken off.
---| "repeats_before" # The answer repeats the text before the cursor.
---| "repeats_after" # The answer repeats the text after the cursor.
---| "repetition" # The answer repeats itself.
---| "brackets" # The answer closes what it did not open.
---| "syntax" # The answer would break the syntax.
---| "block" # The answer leaves the block that the cursor is in.
---| "indentation" # The answer's indentation is not the document's.
---| "cut_off" # The last line of the answer is cut off.
---| "reversal" # The answer undoes what the user has just done.
---| "unrelated" # The answer rewrites lines that are far from what the user changed lately, and have nothing to do with it.
---| "rejected" # The user rejected it before.
---| "secret_answer" # The answer contains what looks like a key.
---| "stale" # The document has changed in the meantime.
---| "overtaken" # Another request took its place.
---| "mismatch" # The user typed something else.
---| "moved" # The cursor left the place.
---| "closed" # The document was closed.

---The effect of a rule.
---@alias azimuth.RuleEffect
---| "allow" # Matching actions run without a question.
---| "ask" # The user is asked about matching actions.
---| "deny" # Matching actions are refused.

---A permission rule in force.
---@class azimuth.RuleInfo
---@field rule string The rule as written: `Shell(cargo test:*)`.
---@field effect azimuth.RuleEffect Its effect.
---@field origin azimuth.RuleOrigin Its source.
---@field source string Its source, to be shown: `your config.toml`.
---@field covers string A description of what it covers.
---@field revocable boolean True if `azimuth/permission/revoke` can revoke it. Others are changed in their files.
---@field void? string The reason if it does not count at the moment, such as an allow rule of a project that is not trusted.

---The source of a rule.
---@alias azimuth.RuleOrigin
---| "user" # The user's own configuration, or what the editor was started with.
---| "project" # A file of the project, or settings that an editor read from it.
---| "granted" # Granted by an answer "always", for the project.
---| "session" # Granted by an answer, for the session.

---The command in a shell.
---@class azimuth.RunningCommand
---@field toolCallId azimuth.ToolCallId The call that started it, or the id of the user's own command.
---@field command string The command line.
---@field startedAt integer The time of its start.

---The access that commands have to the machine.
---@alias azimuth.SandboxMode
---| "read_only" # Read the workspace, the system and toolchains; write nothing but temporary files.
---| "workspace_write" # Like `read_only`, and write in the workspace, temporary folders and package caches.
---| "full" # Everything that the user may do: no sandbox.

---A place in a session that has all words of a search.
---@class azimuth.SearchHit
---@field sessionId azimuth.SessionId The session.
---@field title string Its title; empty if it has none.
---@field folders string[] Its folders, as URIs.
---@field kind azimuth.HitKind The part of the session that has the words.
---@field at integer The time at which it was said; for a title, that of the session's last event.
---@field snippet string An excerpt in one line, with the first of the words.
---@field marks azimuth.SnippetMark[] The words in the excerpt, in order; they do not overlap.
---@field seq? integer The number of its event: of `turnStarted` or `steered` for a prompt, of `messageCompleted` for an answer. Absent for a title.
---@field messageId? azimuth.MessageId The message, for an answer.

---The occasion on which a file's state was recorded.
---@alias azimuth.SeenOccasion
---| "deletion" # An accepted edit is about to delete it.
---| "save" # It was saved in the editor, after an edit had created it as the new path of a file that is still to be moved.
---| "restart" # Another process opened the session, and the file is not as it was left.

---The entry that is selected in the completion menu.
---@class azimuth.SelectedCompletion
---@field range azimuth.Range The range that the entry would replace.
---@field text string The entry's text.

---An event with its number in the session.
---@class azimuth.SequencedEvent
---@field seq integer Its number in the session: 1, 2, 3, … without gaps.
---@field at integer The time of the event.
---@field event azimuth.Event The event itself.

---The status of a language server.
---@class azimuth.ServerInfo
---@field name string Its name.
---@field root string The folder of the project that it is for, as a URI.
---@field state azimuth.ServerState Its state.
---@field version? string Its version, if it has reported one.
---@field program? string The path of its program, if it is installed.
---@field pid? integer The id of its process, while it runs.
---@field memoryBytes? integer The memory of the server and everything that it started, in bytes; absent if it is unknown.
---@field why? string Details of its state, to be shown.

---The state of a language server.
---@alias azimuth.ServerState
---| "notStarted" # Installed; it starts with the first question.
---| "notAllowed" # It comes with the project, and the user has not allowed it in its current form.
---| "missing" # The project is of its kind, but its program was not found.
---| "starting" # It is starting.
---| "indexing" # It is reading the project.
---| "ready" # It answers.
---| "crashed" # It crashed, or was ended because it did harm; it starts again after a while.
---| "stopped" # It was ended because it was not needed or not wanted; it starts again with the next question.

---Parameters of `azimuth/servers/changed`.
---@class azimuth.ServersChangedParams

---Parameters of `azimuth/servers/list`.
---@class azimuth.ServersListParams

---Result of `azimuth/servers/list`.
---@class azimuth.ServersListResult
---@field servers azimuth.ServerInfo[] The servers for the client's workspace folders, sorted by root and name: those that run or ran, and those for projects of these folders' kinds.
---@field problems string[] The problems of the servers' configuration files, to be shown.

---Parameters of `azimuth/servers/restart`.
---@class azimuth.ServersRestartParams
---@field name? string The server's name; without it, all servers of the client's workspace folders.

---Result of `azimuth/servers/restart`.
---@class azimuth.ServersRestartResult
---@field restarted integer The number of ended servers. They start again with the next question.

---Parameters of `azimuth/session/close`: the client no longer follows the session. A running turn continues.
---@class azimuth.SessionCloseParams
---@field sessionId azimuth.SessionId The session.

---The costs of a session.
---@class azimuth.SessionCosts
---@field total azimuth.Spending The sum, with the sessions that it started.
---@field models azimuth.SpendingRow[] The same by model, the one that cost most first.
---@field side azimuth.SpendingRow[] The part of it that was asked outside turns, by role, such as `titles`.
---@field children azimuth.Spending The part of it of the sessions that it started.
---@field rounds azimuth.Round[] The last requests of its turns, the last first.
---@field activity azimuth.Activity The activity in it, without that of the sessions that it started.

---Parameters of `azimuth/session/delete`. A running turn is cancelled first. The sessions that it started are deleted too, except for those that are running.
---@class azimuth.SessionDeleteParams
---@field sessionId azimuth.SessionId The session.

---Parameters of `azimuth/session/export`.
---@class azimuth.SessionExportParams
---@field sessionId azimuth.SessionId The session.
---@field format azimuth.ExportFormat The format.

---Result of `azimuth/session/export`.
---@class azimuth.SessionExportResult
---@field name string A name for the file.
---@field text string Its text, in which placeholders stand for the secrets that models do not see.

---A session: one conversation with its log. Six hexadecimal digits.
---@alias azimuth.SessionId string

---A session in a list.
---@class azimuth.SessionInfo
---@field sessionId azimuth.SessionId The session.
---@field title string Its title; empty before the first prompt.
---@field folders string[] The workspace folders that it works in, as URIs. Commands start in the first one.
---@field mode azimuth.Mode The mode of its next turn.
---@field createdAt integer The time of its creation.
---@field updatedAt integer The time of its last event.
---@field lastSeq integer The number of its last event; 0 before the first.
---@field usage azimuth.Usage Tokens of all turns, of requests outside turns, and of the sessions that its calls started.
---@field cost number The cost of the same in US dollars, as far as prices are known.
---@field model? string The model's id, if one is chosen.
---@field parent? azimuth.SessionId The session that started it, if a session did.
---@field purpose? azimuth.Purpose Its purpose; absent for a chat.

---Parameters of `azimuth/session/list`.
---@class azimuth.SessionListParams
---@field folder? string Only sessions of this folder (a URI); without it, those of the client's workspace folders.
---@field everywhere? boolean True for the sessions of every folder.
---@field query? string Only sessions with this text in their title, ignoring case.
---@field parent? azimuth.SessionId Only the sessions that this one started; without it, those that none started, or whose parent is gone.
---@field purpose? azimuth.Purpose Only sessions of this purpose; without it, chats.
---@field limit? integer At most this many, 1 to 1000; 100 without it.

---Result of `azimuth/session/list`.
---@class azimuth.SessionListResult
---@field sessions azimuth.SessionInfo[] The sessions, the most recently used first.

---Parameters of `azimuth/session/mode`: the mode of the session's next turns.
---@class azimuth.SessionModeParams
---@field sessionId azimuth.SessionId The session.
---@field mode azimuth.Mode The mode.
---@field confirmed? boolean True if the user has confirmed it after reading what it means. Without it, `bypass` is refused; the error's message explains it to the user.

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
---@field since? integer The number of the last event that the client has; 0 for all.

---Result of `azimuth/session/open`. The client is attached: later events follow as `azimuth/event`.
---@class azimuth.SessionOpenResult
---@field session azimuth.SessionInfo The session.
---@field events azimuth.SequencedEvent[] The events after `since`, in order.
---@field queue azimuth.QueueId[] The waiting prompts, the next one first.
---@field runningTurn? azimuth.TurnId The running turn, if there is one.

---Parameters of `azimuth/session/promote`: makes a session that was started by `azimuth/inline/instruct` a chat with all tools, to go on there. Its next turn has them. A chat stays one.
---@class azimuth.SessionPromoteParams
---@field sessionId azimuth.SessionId The session.

---Parameters of `azimuth/session/rename`.
---@class azimuth.SessionRenameParams
---@field sessionId azimuth.SessionId The session.
---@field title string The new title, one line, not empty.

---Parameters of `azimuth/session/search`.
---@class azimuth.SessionSearchParams
---@field query string The words to find, separated by white space, in any order and case. Each may be a part of a word in the text, and no character has a special meaning. Without a word nothing is found.
---@field folder? string Only sessions of this folder (a URI); without it, those of the client's workspace folders.
---@field everywhere? boolean True for the sessions of every folder.
---@field limit? integer At most this many hits, 1 to 1000; 50 without it.

---Result of `azimuth/session/search`.
---@class azimuth.SessionSearchResult
---@field hits azimuth.SearchHit[] The hits: first the sessions whose title has all words, then the prompts and answers that have them, newest first. Of one session there are at most five of the latter.
---@field unread integer The number of sessions that were not searched to their end, because an older version stored them. They are read in the background, so that the same search may find more later.

---The subject of a fact about the workspace.
---@alias azimuth.SetupAbout
---| "model" # The session's model, or else that of new sessions.
---| "trust" # The trust in the workspace.
---| "rules" # The project's rules for agents.
---| "servers" # Azimuth's own language servers.

---A fact about the workspace's setup.
---@class azimuth.SetupFact
---@field about azimuth.SetupAbout The subject, so that a client can offer a remedy.
---@field state azimuth.SetupState Its status.
---@field text string A description of one line, for the user.

---The status of a fact about the workspace.
---@alias azimuth.SetupState
---| "inOrder" # It is set up, and works.
---| "lacks" # Something is missing that the user could fix.
---| "neutral" # Information that is neither.

---The severity of a notice.
---@alias azimuth.Severity
---| "info" # Good to know.
---| "warning" # Something may not be as expected.
---| "error" # Something failed.

---The purpose of a request to a model outside a turn.
---@alias azimuth.SideRole
---| "title" # The session's title.

---A provider that can be signed in to.
---@class azimuth.SignInProvider
---@field provider string The provider, such as `chatgpt`.
---@field title string Its name, to be shown.
---@field ways azimuth.SignInWay[] The ways to sign in, the best first.

---A way to sign in.
---@alias azimuth.SignInWay
---| "browser" # By a browser on this machine, which comes back to a port that is open until then. Its address can be pasted too.
---| "paste" # By a browser on any machine, whose last address is pasted. No port is opened.
---| "device" # By a code that the user types on any device.

---A part of an excerpt, in UTF-16 units.
---@class azimuth.SnippetMark
---@field start integer Its beginning.
---@field end integer Its end, exclusive.

---The sum of requests to models.
---@class azimuth.Spending
---@field requests integer The number of requests whose tokens are known.
---@field usage azimuth.Usage Their tokens.
---@field unpricedRequests integer The number of requests that the cost does not contain, since the price of the model was unknown.
---@field cacheHits? number The share of the input that was read from the cache, from 0 to 1; absent if there was no input.
---@field cost? number The cost, or the part of it that is known; absent if nothing is known of it.

---A row of a table of costs.
---@class azimuth.SpendingRow
---@field name string The model, provider, day (`2026-11-21`), role, or the path of a project.
---@field spending azimuth.Spending The sum.
---@field title? string A shorter name to show: that of the project's folder, with those above it if two are called the same.

---The reason why a turn ended. The first five are ACP's.
---@alias azimuth.StopReason
---| "end_turn" # The model was done.
---| "max_tokens" # The answer reached the model's maximum length.
---| "max_turn_requests" # The turn reached its limit of rounds, or went in circles; it asks if it should continue.
---| "refusal" # The model refused to answer.
---| "cancelled" # The user cancelled it.
---| "error" # A failure; `error` says what failed, and what to do.
---| "interrupted" # The server ended, or the client that started the turn disconnected. The turn can be continued.

---The reason why a turn asks another model than its own.
---@alias azimuth.SwitchReason
---| "rate_limited" # The vendor takes no more requests for a while.
---| "quota_used_up" # Its quota, or the account's credit, is used up.
---| "unauthorized" # Its key is refused, or there is none, or its vendor does not serve it.
---| "failed" # Its requests failed until no retry was left.
---| "context_full" # The conversation no longer fits into its context.

---Parameters of `azimuth/terminal/ack`: the client has shown a terminal's output up to an offset.
---@class azimuth.TerminalAckParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field offset integer The offset after the last byte that it has shown.

---Parameters of `azimuth/terminal/close`: stop following a terminal. Its command continues.
---@class azimuth.TerminalCloseParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.

---A pseudo-terminal.
---@alias azimuth.TerminalId string

---The current state of a terminal.
---@class azimuth.TerminalInfo
---@field terminalId azimuth.TerminalId The terminal.
---@field kind azimuth.TerminalKind Its purpose.
---@field title string The title to show: `shell`, or a job's command line.
---@field cwd string Its current folder, or the one in which it started.
---@field sandbox azimuth.SandboxMode The access that its commands have to the machine.
---@field alive boolean True if its process lives.
---@field taken boolean True if the user has taken it over: the model cannot type into it until it is handed back.
---@field startedAt integer The time of its start.
---@field end integer The offset after its last byte of output.
---@field running? azimuth.RunningCommand The command that runs in it.
---@field waiting? azimuth.Waiting Present if that command waits for input.
---@field ready? azimuth.Ready For a job: the evidence that it is up.
---@field endedAt? integer The time of its end.
---@field exitCode? integer For a job that ended: its exit code; absent if it was killed.

---Parameters of `azimuth/terminal/kill`: end the command in a terminal.
---@class azimuth.TerminalKillParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.

---The purpose of a terminal.
---@alias azimuth.TerminalKind
---| "shell" # The session's shell, in which commands run one after another.
---| "outside" # The session's second shell, outside the sandbox.
---| "job" # A command in the background.

---Parameters of `azimuth/terminal/list`.
---@class azimuth.TerminalListParams
---@field sessionId azimuth.SessionId The session.

---Result of `azimuth/terminal/list`.
---@class azimuth.TerminalListResult
---@field terminals azimuth.TerminalInfo[] The terminals: the shell first, then jobs, the oldest first. Jobs that ended stay until the session's host ends.

---Parameters of `azimuth/terminal/open`: follow a terminal's output.
---@class azimuth.TerminalOpenParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId? azimuth.TerminalId The terminal; without it, the session's shell, which is started if need be.
---@field since? integer The offset to start at, in bytes since the terminal's start. 0 gives everything that is kept.
---@field size? azimuth.TerminalSize The size of the view.
---@field acknowledges? boolean True if the client acknowledges output with `azimuth/terminal/ack`. It is then sent at most 256 KiB ahead of that.

---Result of `azimuth/terminal/open`. The bytes follow as `azimuth/terminal/output`.
---@class azimuth.TerminalOpenResult
---@field terminalId azimuth.TerminalId The terminal.
---@field since integer The offset of the first byte that will be sent. Larger than requested if older bytes are no longer kept.
---@field alive boolean True if the terminal's process lives.

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

---A signal for the command in a terminal.
---@alias azimuth.TerminalSignal
---| "interrupt" # SIGINT, as Ctrl-C sends it.
---| "quit" # SIGQUIT, as Ctrl-\\ sends it.
---| "hangup" # SIGHUP.
---| "terminate" # SIGTERM.
---| "stop" # SIGTSTP, as Ctrl-Z sends it.
---| "continue" # SIGCONT.
---| "kill" # SIGKILL.

---Parameters of `azimuth/terminal/signal`: send a signal to the command in a terminal.
---@class azimuth.TerminalSignalParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field signal azimuth.TerminalSignal The signal.

---A terminal's size in cells.
---@class azimuth.TerminalSize
---@field columns integer Columns, 1 to 1000.
---@field rows integer Rows, 1 to 1000.

---Parameters of `azimuth/terminal/take`: take a terminal over, so that only the user types into it and its time limits pause, or hand it back. The same call twice is harmless.
---@class azimuth.TerminalTakeParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field taken boolean True takes it over; false hands it back.

---Parameters of `azimuth/terminal/write`: type into a terminal.
---@class azimuth.TerminalWriteParams
---@field sessionId azimuth.SessionId The session.
---@field terminalId azimuth.TerminalId The terminal.
---@field data string The bytes, in base64.

---The terms on which a session started another one.
---@class azimuth.Terms
---@field sessionId azimuth.SessionId The session that started it.
---@field tools string[] The names of the only tools that it has.
---@field budget azimuth.Budget The most that it may use.

---How long a model thinks before it answers.
---@alias azimuth.ThinkingLevel
---| "off" # Not at all.
---| "minimal" # As little as it can.
---| "low" # Little.
---| "medium" # Some.
---| "high" # Much.
---| "xhigh" # Very much.
---| "max" # As much as it can.

---The level at which the model of a turn thinks.
---@class azimuth.Thinks
---@field level? azimuth.ThinkingLevel The level; absent if it thinks as it does by itself.
---@field inPlace? boolean True if another level is told within the conversation, so that the vendor's cache still has what came before.

---The time that a model's answer took, by a clock that is never set back.
---@class azimuth.Timing
---@field firstMs integer From the request to the first piece of the answer, in milliseconds.
---@field totalMs integer From the request to the end of the answer, in milliseconds.

---One call of a tool. It is the vendor's id if the vendor gives one.
---@alias azimuth.ToolCallId string

---The calls of a tool.
---@class azimuth.ToolCalls
---@field name string The tool.
---@field calls integer The number of calls.
---@field failed integer The number of those of them that failed, or were refused.

---The kind of a tool; ACP's tool kinds.
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

---The result of a tool call. Every tool call has exactly one.
---@class azimuth.ToolResult
---@field toolCallId azimuth.ToolCallId The call.
---@field text string The text that the model reads, bounded.
---@field isError boolean True if the call failed.

---Parameters of `azimuth/turn/cancel`.
---@class azimuth.TurnCancelParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId The turn to cancel; without it, the one that runs.

---Result of `azimuth/turn/cancel`.
---@class azimuth.TurnCancelResult
---@field cancelled boolean True if a turn or a user command was running. Its end follows as an event.

---One prompt turn of a session.
---@alias azimuth.TurnId string

---Parameters of `azimuth/turn/plan`: the plan of the session's task, as the user wants it.
---@class azimuth.TurnPlanParams
---@field sessionId azimuth.SessionId The session.
---@field entries azimuth.PlanEntry[] The steps, in their order, at most 50; none to drop the plan.

---Add a prompt at the queue's end. If no turn runs, it starts at once.
---@class azimuth.TurnQueueParams.Add
---@field type "add"
---@field sessionId azimuth.SessionId The session.
---@field prompt azimuth.PromptBlock[] The prompt.

---Take a waiting prompt back.
---@class azimuth.TurnQueueParams.Remove
---@field type "remove"
---@field sessionId azimuth.SessionId The session.
---@field queueId azimuth.QueueId The waiting prompt.

---Break off the turn, or the user's own command, and begin with this prompt. If nothing runs, it starts at once.
---@class azimuth.TurnQueueParams.Now
---@field type "now"
---@field sessionId azimuth.SessionId The session.
---@field prompt azimuth.PromptBlock[] The prompt.

---Give a waiting prompt another place among those that wait. One that was said to the running turn stays.
---@class azimuth.TurnQueueParams.Move
---@field type "move"
---@field sessionId azimuth.SessionId The session.
---@field queueId azimuth.QueueId The waiting prompt.
---@field to integer The place, from 0; behind the others if there are not so many.

---Parameters of `azimuth/turn/queue`: add a prompt for after the running turn or in its place, take one back, or move it.
---@alias azimuth.TurnQueueParams
---| azimuth.TurnQueueParams.Add
---| azimuth.TurnQueueParams.Remove
---| azimuth.TurnQueueParams.Now
---| azimuth.TurnQueueParams.Move

---Result of `azimuth/turn/queue`.
---@class azimuth.TurnQueueResult
---@field queue azimuth.QueueId[] The waiting prompts, the next one first.
---@field added? azimuth.QueueId The waiting prompt that was added.

---Parameters of `azimuth/turn/retry`.
---@class azimuth.TurnRetryParams
---@field sessionId azimuth.SessionId The session.
---@field turnId? azimuth.TurnId The turn that waits; without it, the one that runs.

---Result of `azimuth/turn/retry`.
---@class azimuth.TurnRetryResult
---@field retried boolean True if the turn was waiting. An event `retrying` with a delay of 0 follows.

---Parameters of `azimuth/turn/start`.
---@class azimuth.TurnStartParams
---@field sessionId azimuth.SessionId The session.
---@field prompt azimuth.PromptBlock[] The prompt. Empty to continue a turn that was interrupted or failed. A single text that begins with `!` is a user command.
---@field mode? azimuth.Mode The mode of this turn and the next ones; without it, the session's.

---Result of `azimuth/turn/start`, which is answered at once. The rest comes as events.
---@class azimuth.TurnStartResult
---@field turnId? azimuth.TurnId The turn; absent if the prompt contained only slash commands, or was a user command (`!command`). Their results are events.
---@field switchTo? azimuth.SessionId The session in which the client should continue, after `/new` or `/resume`.

---Parameters of `azimuth/turn/steer`: a message to the running turn, for its next request to the model.
---@class azimuth.TurnSteerParams
---@field sessionId azimuth.SessionId The session.
---@field expectedTurnId azimuth.TurnId The turn that the user means. If another one runs, or none, the error is `wrongTurn`.
---@field prompt azimuth.PromptBlock[] The message.

---The one who typed.
---@alias azimuth.Typist
---| "user" # The user.
---| "model" # The model.

---A model of requests whose cost is unknown.
---@class azimuth.UnpricedModel
---@field model string The model's id.
---@field requests integer The number of these requests.

---Tokens used, each kind counted once: `input` leaves out what the cache served or stored.
---@class azimuth.Usage
---@field input integer Input tokens billed in full.
---@field output integer Output tokens, thinking included.
---@field cacheRead integer Input tokens read from the vendor's cache.
---@field cacheWrite integer Input tokens written to the vendor's cache.
---@field cacheWriteHour? integer Those of them that were written for an hour, which costs more. Sums of several requests may leave it out, since they have the cost beside them.

---A command that waits for input.
---@class azimuth.Waiting
---@field certainty azimuth.Certainty The certainty.
---@field prompt string Its question: the last line that it printed, which may be empty.
---@field hidden boolean True if the input is hidden, as for a password. Then only the user can type it, and it is never kept.

---Parameters of `azimuth/workspace/trust`. What a trusted folder supplies may run, and what it allows counts.
---@class azimuth.WorkspaceTrustParams
---@field folder? string The folder, as a URI; without it, the client's workspace folders.
---@field trusted? boolean The user's answer; without it, nothing is changed.
---@field byEditor? boolean True for the editor's own trust, which counts while the editor is connected and is not kept.

---Result of `azimuth/workspace/trust`.
---@class azimuth.WorkspaceTrustResult
---@field trusted boolean True if the folder, or all of them, are trusted now.
---@field decided boolean True if the user or the editor has decided that. Otherwise the first turn asks.

local M = {}

---The names of requests from client to server.
M.requests = {
  ---Creates a session and attaches the client to it. Params: `azimuth.SessionNewParams`. Result: `azimuth.SessionNewResult`.
  session_new = "azimuth/session/new",
  ---Lists sessions. Params: `azimuth.SessionListParams`. Result: `azimuth.SessionListResult`.
  session_list = "azimuth/session/list",
  ---Searches the titles, prompts and answers of sessions. Any text is a valid query. Params: `azimuth.SessionSearchParams`. Result: `azimuth.SessionSearchResult`.
  session_search = "azimuth/session/search",
  ---Opens a session, attaches the client to it, and returns its events after a number. Params: `azimuth.SessionOpenParams`. Result: `azimuth.SessionOpenResult`.
  session_open = "azimuth/session/open",
  ---Detaches the client from a session. Params: `azimuth.SessionCloseParams`. Result: `azimuth.Done`.
  session_close = "azimuth/session/close",
  ---Renames a session. Params: `azimuth.SessionRenameParams`. Result: `azimuth.Done`.
  session_rename = "azimuth/session/rename",
  ---Makes a session that was started by `azimuth/inline/instruct` a chat with all tools, to go on there. Params: `azimuth.SessionPromoteParams`. Result: `azimuth.Done`.
  session_promote = "azimuth/session/promote",
  ---Sets the mode of a session's next turns. `bypass` needs a confirmation. Params: `azimuth.SessionModeParams`. Result: `azimuth.Done`.
  session_mode = "azimuth/session/mode",
  ---Deletes a session and everything that belongs to it. This cannot be undone. Params: `azimuth.SessionDeleteParams`. Result: `azimuth.Done`.
  session_delete = "azimuth/session/delete",
  ---Returns a session as a page or as JSON lines, without its secrets. It need not be open. Params: `azimuth.SessionExportParams`. Result: `azimuth.SessionExportResult`.
  session_export = "azimuth/session/export",
  ---Starts a turn. Answers at once with the turn's id; the rest are events. Params: `azimuth.TurnStartParams`. Result: `azimuth.TurnStartResult`.
  turn_start = "azimuth/turn/start",
  ---Sends a message to the running turn. Params: `azimuth.TurnSteerParams`. Result: `azimuth.Done`.
  turn_steer = "azimuth/turn/steer",
  ---Adds a prompt to the queue or in the place of what runs, takes one back, or moves it. Params: `azimuth.TurnQueueParams`. Result: `azimuth.TurnQueueResult`.
  turn_queue = "azimuth/turn/queue",
  ---Sets the steps of the model's plan. The model is told with its next request. Params: `azimuth.TurnPlanParams`. Result: `azimuth.Done`.
  turn_plan = "azimuth/turn/plan",
  ---Cancels the running turn. Params: `azimuth.TurnCancelParams`. Result: `azimuth.TurnCancelResult`.
  turn_cancel = "azimuth/turn/cancel",
  ---Tries a request to the model again now, if the running turn waits before it does so by itself. Params: `azimuth.TurnRetryParams`. Result: `azimuth.TurnRetryResult`.
  turn_retry = "azimuth/turn/retry",
  ---Answers a question for permission. Params: `azimuth.PermissionAnswerParams`. Result: `azimuth.PermissionAnswerResult`.
  permission_answer = "azimuth/permission/answer",
  ---Lists the permission rules in force, with their sources. Params: `azimuth.PermissionListParams`. Result: `azimuth.PermissionListResult`.
  permission_list = "azimuth/permission/list",
  ---Revokes a rule that was granted. Params: `azimuth.PermissionRevokeParams`. Result: `azimuth.Done`.
  permission_revoke = "azimuth/permission/revoke",
  ---Returns the trust in a folder, or changes it. Params: `azimuth.WorkspaceTrustParams`. Result: `azimuth.WorkspaceTrustResult`.
  workspace_trust = "azimuth/workspace/trust",
  ---Lists the proposals that wait for a decision. Params: `azimuth.ReviewListParams`. Result: `azimuth.ReviewResult`.
  review_list = "azimuth/review/list",
  ---Accepts or rejects hunks. The same call twice is harmless; a stale one changes nothing. Params: `azimuth.ReviewDecideParams`. Result: `azimuth.ReviewResult`.
  review_decide = "azimuth/review/decide",
  ---Returns a file before and after its pending hunks, for a comparison. Params: `azimuth.ReviewTextParams`. Result: `azimuth.ProposedText`.
  review_text = "azimuth/review/text",
  ---Replaces the proposed text of a file with the user's. It accepts nothing. Params: `azimuth.ReviewChangeParams`. Result: `azimuth.ReviewResult`.
  review_change = "azimuth/review/change",
  ---Sends a comment on a hunk to the model. It decides nothing. Params: `azimuth.ReviewCommentParams`. Result: `azimuth.ReviewResult`.
  review_comment = "azimuth/review/comment",
  ---Switches automatic accepting of edits on or off: in the session until the server ends, or in its project permanently. The edits can be undone. Params: `azimuth.ReviewAutoParams`. Result: `azimuth.Done`.
  review_auto = "azimuth/review/auto",
  ---Lists the turns that changed files, with their changes and the current status of each file. Params: `azimuth.CheckpointListParams`. Result: `azimuth.CheckpointListResult`.
  checkpoint_list = "azimuth/checkpoint/list",
  ---Returns what undoing or redoing a turn would do to each file. It changes nothing. Params: `azimuth.CheckpointPreviewParams`. Result: `azimuth.CheckpointPreviewResult`.
  checkpoint_preview = "azimuth/checkpoint/preview",
  ---Undoes what a turn did to files, or what all turns from a message on did. A file that was changed since is left and named, unless it is confirmed. Undecided hunks of these turns are rejected. The same call twice is harmless. Params: `azimuth.CheckpointRestoreParams`. Result: `azimuth.CheckpointRestoreResult`.
  checkpoint_undo = "azimuth/checkpoint/undo",
  ---Redoes what was undone, by the same rules. Params: `azimuth.CheckpointRestoreParams`. Result: `azimuth.CheckpointRestoreResult`.
  checkpoint_redo = "azimuth/checkpoint/redo",
  ---Replaces what a model wrote of a handover. The model reads the new text from the next request on. Params: `azimuth.CompactionCorrectParams`. Result: `azimuth.Done`.
  compaction_correct = "azimuth/compaction/correct",
  ---Takes a handover back: from the next request on the model sees the replaced messages again. Params: `azimuth.CompactionUndoParams`. Result: `azimuth.Done`.
  compaction_undo = "azimuth/compaction/undo",
  ---Lists a session's terminals: its shell and its jobs. Params: `azimuth.TerminalListParams`. Result: `azimuth.TerminalListResult`.
  terminal_list = "azimuth/terminal/list",
  ---Follows a terminal's output from an offset on. Params: `azimuth.TerminalOpenParams`. Result: `azimuth.TerminalOpenResult`.
  terminal_open = "azimuth/terminal/open",
  ---Types into a terminal. Params: `azimuth.TerminalWriteParams`. Result: `azimuth.Done`.
  terminal_write = "azimuth/terminal/write",
  ---Sets a terminal's size. Params: `azimuth.TerminalResizeParams`. Result: `azimuth.Done`.
  terminal_resize = "azimuth/terminal/resize",
  ---Ends the command in a terminal. Params: `azimuth.TerminalKillParams`. Result: `azimuth.Done`.
  terminal_kill = "azimuth/terminal/kill",
  ---Sends a signal to the command in a terminal. Params: `azimuth.TerminalSignalParams`. Result: `azimuth.Done`.
  terminal_signal = "azimuth/terminal/signal",
  ---Takes a terminal over from the model, or hands it back. Params: `azimuth.TerminalTakeParams`. Result: `azimuth.Done`.
  terminal_take = "azimuth/terminal/take",
  ---Acknowledges a terminal's output. Params: `azimuth.TerminalAckParams`. Result: `azimuth.Done`.
  terminal_ack = "azimuth/terminal/ack",
  ---Stops following a terminal's output. Params: `azimuth.TerminalCloseParams`. Result: `azimuth.Done`.
  terminal_close = "azimuth/terminal/close",
  ---Lists the models. Params: `azimuth.ModelListParams`. Result: `azimuth.ModelListResult`.
  model_list = "azimuth/model/list",
  ---Chooses a model for a session, or for new sessions. Params: `azimuth.ModelSelectParams`. Result: `azimuth.ModelSelectResult`.
  model_select = "azimuth/model/select",
  ---Lists the roles of models, with what each comes to now, and why. Params: `azimuth.ModelRolesParams`. Result: `azimuth.ModelRolesResult`.
  model_roles = "azimuth/model/roles",
  ---Picks a model for a role, until Azimuth ends or for good. It counts in all conversations of this process; one for plans does not count in those in which a model was chosen. Params: `azimuth.ModelPickParams`. Result: `azimuth.ModelPickResult`.
  model_pick = "azimuth/model/pick",
  ---Lists Azimuth's own language servers for the client's workspace folders, with their status. Servers that the editor runs are not among them. Params: `azimuth.ServersListParams`. Result: `azimuth.ServersListResult`.
  servers_list = "azimuth/servers/list",
  ---Restarts Azimuth's own language servers with the next question, and reads their configuration files again. Params: `azimuth.ServersRestartParams`. Result: `azimuth.ServersRestartResult`.
  servers_restart = "azimuth/servers/restart",
  ---Completes a prompt: slash commands and their arguments after `/`, files after `@`. Params: `azimuth.PromptCompleteParams`. Result: `azimuth.PromptCompleteResult`.
  prompt_complete = "azimuth/prompt/complete",
  ---Returns what the user has typed in earlier sessions, the last first. Params: `azimuth.PromptHistoryParams`. Result: `azimuth.PromptHistoryResult`.
  prompt_history = "azimuth/prompt/history",
  ---Returns what an empty chat offers: the setup of the client's workspace, and prompts to try for a document. Params: `azimuth.PromptBeginningsParams`. Result: `azimuth.PromptBeginningsResult`.
  prompt_beginnings = "azimuth/prompt/beginnings",
  ---Returns suggestions of text at the cursor. The answer is empty, with the reason, if there is nothing to show; it is never for another text than the one that the server has when it answers. Params: `azimuth.InlineCompleteParams`. Result: `azimuth.InlineCompleteResult`.
  inline_complete = "azimuth/inline/complete",
  ---Returns the next edit: how the text goes on to change after what the user has just changed. The answer is empty, with the reason, if there is nothing to show. The edit is kept in step with what is typed; see `azimuth/inline/changed`. Params: `azimuth.InlineEditParams`. Result: `azimuth.InlineEditResult`.
  inline_edit = "azimuth/inline/edit",
  ---Accepts a suggested edit, or some of its hunks. Params: `azimuth.InlineAcceptParams`. Result: `azimuth.InlineAcceptResult`.
  inline_accept = "azimuth/inline/accept",
  ---Has a model change what is selected as the user says ("change this"). Its changes are proposals. Params: `azimuth.InlineInstructParams`. Result: `azimuth.InlineInstructResult`.
  inline_instruct = "azimuth/inline/instruct",
  ---Tells what became of a suggestion. It can be sent as a notification too. Params: `azimuth.InlineFeedbackParams`. Result: `azimuth.Done`.
  inline_feedback = "azimuth/inline/feedback",
  ---Returns the last decisions on suggestions: the rules that kept them back or changed them. Params: `azimuth.InlineExplainParams`. Result: `azimuth.InlineExplainResult`.
  inline_explain = "azimuth/inline/explain",
  ---Returns how suggestions fare: numbers by model, which are kept on this machine only. Params: `azimuth.InlineCountsParams`. Result: `azimuth.InlineCountsResult`.
  inline_counts = "azimuth/inline/counts",
  ---Returns the costs of a session, of today and of all sessions, the budgets, and what vendors said of their limits. Params: `azimuth.CostsShowParams`. Result: `azimuth.CostsShowResult`.
  costs_show = "azimuth/costs/show",
  ---Returns the cost of today and of all time only. A client asks for it when the cost of a session has changed. Params: `azimuth.CostsSumsParams`. Result: `azimuth.CostsSumsResult`.
  costs_sums = "azimuth/costs/sums",
  ---Lists the accounts that Azimuth keeps, the providers that can be signed in to, and the source of each key. Params: `azimuth.AuthListParams`. Result: `azimuth.AuthListResult`.
  auth_list = "azimuth/auth/list",
  ---Begins to sign in to a provider: the client shows the page, and the code if there is one. The client's sign-in that has begun before ends. Params: `azimuth.AuthLoginParams`. Result: `azimuth.AuthLoginResult`.
  auth_login = "azimuth/auth/login",
  ---Waits until a sign-in is done. The answer comes when the user has signed in or refused, after ten minutes, or when the sign-in is cancelled. Params: `azimuth.AuthWaitParams`. Result: `azimuth.AuthWaitResult`.
  auth_wait = "azimuth/auth/wait",
  ---Ends a sign-in by the address that the browser ended at. If that is of another page, the sign-in goes on. Params: `azimuth.AuthPasteParams`. Result: `azimuth.Done`.
  auth_paste = "azimuth/auth/paste",
  ---Cancels a sign-in. Nothing is kept. Params: `azimuth.AuthCancelParams`. Result: `azimuth.Done`.
  auth_cancel = "azimuth/auth/cancel",
  ---Keeps an API key as an account, in the file of accounts. The key is in no log and no answer. A key that its vendor refuses is kept only with `unchecked`, which the user has to confirm. Params: `azimuth.AuthKeepParams`. Result: `azimuth.AuthKeepResult`.
  auth_keep = "azimuth/auth/keep",
  ---Forgets the accounts of a provider, or one of them, and tells the vendor that the sign-in has ended. Params: `azimuth.AuthLogoutParams`. Result: `azimuth.AuthLogoutResult`.
  auth_logout = "azimuth/auth/logout",
}

---The names of requests from server to client.
M.client_requests = {
  ---Saves a document, including everything that the editor does on save. Needs the capability `save`. Params: `azimuth.EditorDocumentParams`. Result: `azimuth.EditorSaveResult`.
  editor_save = "azimuth/editor/save",
  ---Returns a document's text in the editor. Needs the capability `text`. Params: `azimuth.EditorDocumentParams`. Result: `azimuth.EditorTextResult`.
  editor_text = "azimuth/editor/text",
  ---Returns the text of a document, formatted by the editor or one of its language servers. Needs the capability `format`. Params: `azimuth.EditorFormatParams`. Result: `azimuth.EditorFormatResult`.
  editor_format = "azimuth/editor/format",
  ---Passes a question about code to the language servers that the editor runs, never to this one, and returns their answer. It changes nothing. Needs the capability `query`. Params: `azimuth.EditorQueryParams`. Result: `azimuth.LangResult`.
  editor_query = "azimuth/editor/query",
}

---The names of notifications from server to client.
M.notifications = {
  ---Something happened in a session that the client is attached to. Params: `azimuth.EventParams`.
  event = "azimuth/event",
  ---Bytes of a terminal that the client follows. Params: `azimuth.TerminalOutputParams`.
  terminal_output = "azimuth/terminal/output",
  ---The state of one of Azimuth's own language servers changed; `azimuth/servers/list` returns it. Sent at most twice a second, to a client that has used one of Azimuth's methods. Params: `azimuth.ServersChangedParams`.
  servers_changed = "azimuth/servers/changed",
  ---A provider that took its time has listed its models by now, or one was added or removed in a chat; `azimuth/model/list` returns the models. Sent to a client that has used one of Azimuth's methods. Params: `azimuth.ModelsChangedParams`.
  model_changed = "azimuth/model/changed",
  ---The user has chosen a code action that starts a workflow; its prompt is for the visible chat. Sent to a client with the capability `panel`; other clients get it in a chat document. Params: `azimuth.PromptPutParams`.
  prompt_put = "azimuth/prompt/put",
  ---The state of suggestions where the user types; until the first of these it is `off`. Sent when it changes, to a client that has a panel or has used one of Azimuth's methods. Params: `azimuth.InlineStatusParams`.
  inline_status = "azimuth/inline/status",
  ---A suggested edit is another one, or none, since the document has changed. Params: `azimuth.InlineChangedParams`.
  inline_changed = "azimuth/inline/changed",
}

---The numbers of errors, by name.
M.error_codes = {
  ---The message is not JSON.
  parseError = -32700,
  ---The JSON is not a request.
  invalidRequest = -32600,
  ---There is no such method.
  methodNotFound = -32601,
  ---The parameters are invalid; the message names the field.
  invalidParams = -32602,
  ---A bug in the server, which continues.
  internalError = -32603,
  ---A request came before `initialize` was answered.
  serverNotInitialized = -32002,
  ---The client cancelled the request.
  requestCancelled = -32800,
  ---There is no such session, turn, proposal, hunk, terminal, question or model.
  notFound = -32010,
  ---The review has changed; `data.proposals` has the current proposals.
  staleReview = -32011,
  ---The named turn is not the running one; `data.turnId` is the running one, or null.
  wrongTurn = -32012,
  ---A turn is running in the session: steer it, queue the prompt, or cancel it.
  turnRunning = -32013,
  ---Another process has the session open and cannot be reached; the message says which.
  sessionLocked = -32014,
  ---The session's data could not be read or written; the message says why.
  storeFailed = -32015,
  ---The operation could not be done; the message says why and what to do.
  operationFailed = -32016,
  ---The user has to confirm it: show them the message, which explains it, and send the request again with `confirmed`.
  notConfirmed = -32017,
}

---The kinds of events, in the order of the protocol.
M.event_kinds = {
  "sessionStarted",
  "purposeChanged",
  "titleChanged",
  "modelChanged",
  "acceptEditsChanged",
  "modeChanged",
  "commandExecuted",
  "turnStarted",
  "steered",
  "promptQueued",
  "promptDequeued",
  "noted",
  "messageDelta",
  "thinkingDelta",
  "editDelta",
  "messageCompleted",
  "messageDiscarded",
  "requestPaid",
  "retrying",
  "turnModelChanged",
  "planUpdated",
  "toolCallStarted",
  "toolCallEnded",
  "childWorked",
  "permissionAsked",
  "permissionAnswered",
  "permissionJudged",
  "proposalChanged",
  "reviewDecided",
  "editApplied",
  "formatted",
  "terminalStarted",
  "terminalEnded",
  "terminalChanged",
  "terminalInput",
  "userCommandStarted",
  "userCommandEnded",
  "filesChanged",
  "fileSeen",
  "checkpointRestored",
  "notice",
  "contextTrimmed",
  "compacting",
  "compacted",
  "compactionFailed",
  "compactionCorrected",
  "compactionTakenBack",
  "sideAsked",
  "contextUsed",
  "turnEnded",
}

---The events that people see nothing of.
---@type table<string, true>
M.unseen_events = { fileSeen = true, purposeChanged = true }

---The events that say in their own words, in `severity` and `text`, all that people see of them.
---@type table<string, true>
M.spoken_events = { notice = true }

---The reasons that `turnEnded` says as a whole in its `error`, so that no words are added.
---@type table<azimuth.StopReason, true>
M.said_by_error = { max_tokens = true, refusal = true }

return M
