// Generated from the Rust crate `protocol` by `cargo run -p xtask -- codegen`. Do not edit.

/** Requests from client to server, by method. */
export interface Requests {
  /**
   * Makes a session and attaches the client to it.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/new': { params: SessionNewParams; result: SessionNewResult };
  /**
   * Lists sessions.
   *
   * Errors: `storeFailed`.
   */
  'azimuth/session/list': { params: SessionListParams; result: SessionListResult };
  /**
   * Opens a session and gives its events after a number. The client is attached to it.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/open': { params: SessionOpenParams; result: SessionOpenResult };
  /**
   * Detaches the client from a session.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/close': { params: SessionCloseParams; result: Done };
  /**
   * Gives a session another title.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/rename': { params: SessionRenameParams; result: Done };
  /**
   * Sets the mode of a session's next turns. `bypass` needs a confirmation.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/mode': { params: SessionModeParams; result: Done };
  /**
   * Deletes a session with all that belongs to it. This cannot be undone.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/delete': { params: SessionDeleteParams; result: Done };
  /**
   * Starts a turn. Answers at once with the turn's id; the rest are events.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/start': { params: TurnStartParams; result: TurnStartResult };
  /**
   * Says something to the running turn.
   *
   * Errors: `notFound`, `wrongTurn`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/steer': { params: TurnSteerParams; result: Done };
  /**
   * Adds a prompt to the queue, or takes one back.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/queue': { params: TurnQueueParams; result: TurnQueueResult };
  /**
   * Cancels the running turn.
   *
   * Errors: `notFound`, `wrongTurn`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/cancel': { params: TurnCancelParams; result: TurnCancelResult };
  /**
   * Answers a question for permission.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/permission/answer': { params: PermissionAnswerParams; result: PermissionAnswerResult };
  /**
   * Lists the permission rules in force, with where they come from.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/permission/list': { params: PermissionListParams; result: PermissionListResult };
  /**
   * Takes back a rule that was granted.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/permission/revoke': { params: PermissionRevokeParams; result: Done };
  /**
   * Tells whether a folder is trusted, or says so.
   *
   * Errors: `storeFailed`, `operationFailed`.
   */
  'azimuth/workspace/trust': { params: WorkspaceTrustParams; result: WorkspaceTrustResult };
  /**
   * Lists the proposals that wait for a decision.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/list': { params: ReviewListParams; result: ReviewResult };
  /**
   * Accepts or rejects hunks. The same call twice is harmless; a stale one changes nothing.
   *
   * Errors: `notFound`, `staleReview`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/decide': { params: ReviewDecideParams; result: ReviewResult };
  /**
   * Gives a file before and after its pending hunks, to be compared.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/text': { params: ReviewTextParams; result: ProposedText };
  /**
   * Changes what is proposed for a file, as the user wants it. Nothing is accepted by it.
   *
   * Errors: `notFound`, `staleReview`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/change': { params: ReviewChangeParams; result: ReviewResult };
  /**
   * Says something of a hunk to the model. Nothing is decided by it.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/comment': { params: ReviewCommentParams; result: ReviewResult };
  /**
   * Has edits accepted as they come, or no longer: in the session until the server ends, or in its project for good. They can be undone.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/auto': { params: ReviewAutoParams; result: Done };
  /**
   * Lists the turns that changed files, with what they changed and how that stands now.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/list': { params: CheckpointListParams; result: CheckpointListResult };
  /**
   * Tells what undoing or redoing a turn would do to each file. Changes nothing.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/preview': { params: CheckpointPreviewParams; result: CheckpointPreviewResult };
  /**
   * Takes back what a turn did to files, or all from a message on. A file that was changed since is left and named, unless it is confirmed. Hunks of these turns that are undecided are rejected. Twice is harmless.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/undo': { params: CheckpointRestoreParams; result: CheckpointRestoreResult };
  /**
   * Puts again what was undone, by the same rules.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/redo': { params: CheckpointRestoreParams; result: CheckpointRestoreResult };
  /**
   * Lists a session's terminals: its shell and its jobs.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/list': { params: TerminalListParams; result: TerminalListResult };
  /**
   * Follows a terminal's output from an offset on.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/open': { params: TerminalOpenParams; result: TerminalOpenResult };
  /**
   * Types into a terminal.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/write': { params: TerminalWriteParams; result: Done };
  /**
   * Sets a terminal's size.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/resize': { params: TerminalResizeParams; result: Done };
  /**
   * Ends what runs in a terminal.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/kill': { params: TerminalKillParams; result: Done };
  /**
   * Sends a signal to what runs in a terminal.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/signal': { params: TerminalSignalParams; result: Done };
  /**
   * Takes a terminal over from the model, or hands it back.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/take': { params: TerminalTakeParams; result: Done };
  /**
   * Says how far the client has come with a terminal's output.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/ack': { params: TerminalAckParams; result: Done };
  /**
   * No longer follows a terminal's output.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/close': { params: TerminalCloseParams; result: Done };
  /** Lists the models. */
  'azimuth/model/list': { params: ModelListParams; result: ModelListResult };
  /**
   * Chooses a model for a session, or for new sessions.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/model/select': { params: ModelSelectParams; result: ModelSelectResult };
  /**
   * Lists the language servers of our own for the client's workspace folders, and says how it stands with them. Servers that the editor runs are not among them.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/servers/list': { params: ServersListParams; result: ServersListResult };
  /**
   * Ends language servers of our own, so that the next question starts them anew, and reads their configuration files anew.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/servers/restart': { params: ServersRestartParams; result: ServersRestartResult };
  /**
   * Completes a prompt: slash commands and their arguments after `/`, files after `@`.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/prompt/complete': { params: PromptCompleteParams; result: PromptCompleteResult };
  /**
   * Tells what an empty chat can offer: how the client's workspace is set up, and what to try at a document.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/prompt/beginnings': { params: PromptBeginningsParams; result: PromptBeginningsResult };
}

/** Requests from server to client, by method. */
export interface ClientRequests {
  /** Saves a document, with whatever the editor does on saving. Needs the capability `save`. */
  'azimuth/editor/save': { params: EditorDocumentParams; result: EditorSaveResult };
  /** Gives a document's text as the editor holds it. Needs the capability `text`. */
  'azimuth/editor/text': { params: EditorDocumentParams; result: EditorTextResult };
  /** Gives what a document would be, formatted by the editor or one of its language servers. Needs the capability `format`. */
  'azimuth/editor/format': { params: EditorFormatParams; result: EditorFormatResult };
  /** Passes a question about code to the language servers that the editor runs, never to this one, and gives what they say. Nothing is changed by it. Needs the capability `query`. */
  'azimuth/editor/query': { params: EditorQueryParams; result: LangResult };
}

/** Notifications from server to client, by method. */
export interface Notifications {
  /** Something happened in a session that the client is attached to. */
  'azimuth/event': { params: EventParams };
  /** Bytes of a terminal that the client follows. */
  'azimuth/terminal/output': { params: TerminalOutputParams };
  /** The state of a language server of our own is other than it was: `azimuth/servers/list` tells it. Sent twice in a second at most, to a client that has used one of our methods. */
  'azimuth/servers/changed': { params: ServersChangedParams };
  /** The user has chosen a code action that begins a workflow: its prompt is for the chat that they have before them. Sent to a client with the capability `panel`; another gets it in a chat document. */
  'azimuth/prompt/put': { params: PromptPutParams };
}

/** The numbers of errors, by name. */
export const errorCodes = {
  /** The message is not JSON. */
  parseError: -32700,
  /** The JSON is not a request. */
  invalidRequest: -32600,
  /** There is no such method. */
  methodNotFound: -32601,
  /** The parameters do not fit; the message names the field. */
  invalidParams: -32602,
  /** A fault of the server's. It goes on. */
  internalError: -32603,
  /** A request came before `initialize` was answered. */
  serverNotInitialized: -32002,
  /** The client cancelled the request. */
  requestCancelled: -32800,
  /** There is no such session, turn, proposal, hunk, terminal, question or model. */
  notFound: -32010,
  /** The review moved on since; `data.proposals` holds it as it is now. */
  staleReview: -32011,
  /** The turn named is not the one that runs; `data.turnId` is the running one, or null. */
  wrongTurn: -32012,
  /** A turn is running in the session: steer it, queue the prompt, or cancel it. */
  turnRunning: -32013,
  /** Another process has the session open and cannot be reached; the message says which. */
  sessionLocked: -32014,
  /** The session's data could not be read or written; the message says why. */
  storeFailed: -32015,
  /** The operation could not be done; the message says why and what to do. */
  operationFailed: -32016,
  /** It needs the user's confirmation: show them the message, which says what it means, and ask again with `confirmed`. */
  notConfirmed: -32017,
} as const;

/** The name of an error. */
export type ErrorName = keyof typeof errorCodes;

/** The reasons that `turnEnded` says as a whole in its `error`, so that no words are added. */
export const saidByError: readonly StopReason[] = ['max_tokens', 'refusal'];

/** How applying an edit went. */
export type ApplyOutcome =
  | ApplyOutcomeVerified
  | ApplyOutcomeUnverified
  | ApplyOutcomeFailed;

/** The text was seen to be as expected. */
export interface ApplyOutcomeVerified {
  type: 'verified';
}

/** The client said yes, but did not show the text in time. */
export interface ApplyOutcomeUnverified {
  type: 'unverified';
}

/** Nothing was changed. */
export interface ApplyOutcomeFailed {
  type: 'failed';
  /** Why. */
  reason: string;
}

/** A piece of an assistant's message. */
export type AssistantBlock =
  | AssistantBlockText
  | AssistantBlockThinking
  | AssistantBlockToolCall;

/** Markdown text. */
export interface AssistantBlockText {
  type: 'text';
  /** The text. */
  text: string;
  /** What the vendor wants back unchanged (a signature, a phase). Opaque. */
  vendor?: unknown;
}

/** The model's thinking. */
export interface AssistantBlockThinking {
  type: 'thinking';
  /** What may be shown; can be empty where a vendor hides it. */
  text: string;
  /** What the vendor wants back unchanged (signature, encrypted content). Opaque. */
  vendor?: unknown;
}

/** A wish to call a tool. */
export interface AssistantBlockToolCall {
  type: 'toolCall';
  /** The call. */
  id: ToolCallId;
  /** The tool. */
  name: string;
  /** Its input, an object. */
  input: unknown;
  /** What the vendor wants back unchanged (a signature, its own id). Opaque. */
  vendor?: unknown;
}

/** For how long edits are accepted as they come. */
export type AutoScope =
  /** In this session, until the server ends. */
  | 'session'
  /** In every session of the project, for good. It is kept in the user's data, never in the project. */
  | 'project';

/** A prompt to begin with. */
export interface Beginning {
  /** What it does, for people, such as `Explain main.rs`. */
  title: string;
  /** The prompt. It can be sent as it is. */
  prompt: PromptBlock[];
}

/** How sure it is that a command waits for input. */
export type Certainty =
  /** It was seen to read from the terminal. */
  | 'certain'
  /** It has the terminal open, polls, uses no processor time and has printed nothing for a while. */
  | 'probable';

/** A file that a command changed. */
export interface ChangedFile {
  /** The document. */
  uri: string;
  /** What it was; absent where there was none, and where `unknown` says so. */
  before?: FileImage;
  /** What it is now; absent where there is none, and where `unknown` says so. */
  after?: FileImage;
  /** Why what it was, or is, is not kept, so that the change cannot be undone; absent where it can. */
  unknown?: string;
}

/** What a turn did to files. */
export interface Checkpoint {
  /** The turn. */
  turnId: TurnId;
  /** The files, sorted by path. */
  files: CheckpointFile[];
}

/** What turns did to a file, and how that stands. */
export interface CheckpointFile {
  /** The document. */
  uri: string;
  /** Its path for people: relative to the workspace folder. */
  path: string;
  /** What the turns made of it. To undo is the reverse of it. */
  change: FileChange;
  /** Lines that they added. */
  added: number;
  /** Lines that they removed. */
  removed: number;
  /** How it stands. */
  state: CheckpointState;
  /** Why it is so, in words, where it can be neither undone nor redone as it is. */
  reason?: string;
  /** Where it was changed since: whether what the turns did can be taken out of it, or put into it, while the rest stays. Confirmed, that is done then, and else all of it is set. */
  merges?: boolean;
  /** The hash of its text as it is now; absent where there is no file. Confirming needs it. */
  now?: string;
}

/** Parameters of `azimuth/checkpoint/list`. */
export interface CheckpointListParams {
  /** The session. */
  sessionId: SessionId;
  /** At most this many turns; 20 without it. */
  limit?: number;
}

/** Result of `azimuth/checkpoint/list`. */
export interface CheckpointListResult {
  /** The turns that changed files, newest first. */
  turns: Checkpoint[];
  /** Whether there are older ones. */
  more: boolean;
}

/** Parameters of `azimuth/checkpoint/preview`. */
export interface CheckpointPreviewParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn; without it, the one that `undo` or `redo` would take. */
  turnId?: TurnId;
  /** Also all turns after it: back to the message that began it. */
  andLater?: boolean;
  /** Whether to look at undoing, which it is without it, or at redoing. */
  direction?: Direction;
}

/** Result of `azimuth/checkpoint/preview`. */
export interface CheckpointPreviewResult {
  /** The turns, newest first. Empty where there is nothing to take back or to put again. */
  turnIds: TurnId[];
  /** The files that it is about, sorted by path, each as one step over all the turns. */
  files: CheckpointFile[];
  /** How many of these turns' hunks are undecided. To undo rejects them, and to redo does not bring them back. */
  pendingHunks: number;
}

/** Parameters of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`. */
export interface CheckpointRestoreParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn. Without it, to undo: the last one that changed files and was not undone; to redo: those that were undone last. */
  turnId?: TurnId;
  /** Also all turns after it: back to the message that began it. */
  andLater?: boolean;
  /** The files that were changed since and are to be set all the same, each as the user saw it. */
  confirmed?: ConfirmedFile[];
}

/** Result of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`. */
export interface CheckpointRestoreResult {
  /** The turns, newest first. Empty where there was nothing to take back or to put again. */
  turnIds: TurnId[];
  /** What became of each file, sorted by path. */
  files: RestoredFile[];
}

/** How a file that turns changed stands. */
export type CheckpointState =
  /** It is as the turns left it, and can be undone. */
  | 'applied'
  /** It is as it was before them: taken back, and can be put again. */
  | 'undone'
  /** It is neither: somebody changed it since. It is left as it is unless that is confirmed. */
  | 'changed_since'
  /** It cannot be taken back or put again: what it was is no longer kept, or never was. */
  | 'not_kept'
  /** What it is now cannot be told. */
  | 'unreadable';

/** What a client says of itself in `initialize`, under `capabilities.experimental.azimuth`. A client that says nothing there gets no `azimuth/*` message that it did not ask for. */
export interface ClientCapabilities {
  /** It shows sessions: it handles `azimuth/event` and `azimuth/terminal/output`, and answers questions. */
  panel?: boolean;
  /** It answers `azimuth/editor/save`. */
  save?: boolean;
  /** It answers `azimuth/editor/text`. */
  text?: boolean;
  /** It answers `azimuth/editor/format`. */
  format?: boolean;
  /** It answers `azimuth/editor/query`. */
  query?: boolean;
}

/** A completion of the prompt. */
export interface CompletionItem {
  /** What it is. */
  kind: CompletionKind;
  /** What to show. */
  label: string;
  /** A word about it. */
  detail: string;
  /** What to put in place of the token. */
  insert: string;
  /** For a file: its URI, to be sent as a `file` block. */
  uri?: string;
}

/** What a completion is. */
export type CompletionKind =
  /** A slash command. */
  | 'command'
  /** A value for a slash command's argument. */
  | 'argument'
  /** A file, after `@`. */
  | 'file';

/** A file that was changed since, and is to be set all the same. What it is now is kept, and `redo` brings it back. */
export interface ConfirmedFile {
  /** The document. */
  uri: string;
  /** The hash of its text as the user saw it, from `now` of the preview or the list; absent where there was no file. Of a file with another text by now nothing is confirmed. */
  now?: string;
}

/** What to do with hunks. */
export type Decision =
  /** Put them into the document. */
  | 'accept'
  /** Drop them; the model is told. */
  | 'reject';

/** What a decision is about. */
export interface DecisionTarget {
  /** The proposal. */
  proposalId: ProposalId;
  /** Its revision as the user saw it. */
  revision: number;
  /** The hunks; without them, all that are pending. */
  hunkIds?: HunkId[];
}

/** Which way. */
export type Direction =
  /** Back to what was before. */
  | 'undo'
  /** Again to what was undone. */
  | 'redo';

/** An empty result. */
export type Done = Record<string, never>;

/** Parameters of `azimuth/editor/save` and `azimuth/editor/text`. */
export interface EditorDocumentParams {
  /** The document. */
  uri: string;
}

/** Parameters of `azimuth/editor/format`. */
export interface EditorFormatParams {
  /** The document. */
  uri: string;
  /** The version of it that is to be formatted. For another one there is no text in the result. */
  version: number;
  /** The lines to format, from top to bottom, not overlapping; all of the document where there are none. A formatter that cannot format a part formats nothing then. */
  lines?: LineRange[];
}

/** Result of `azimuth/editor/format`. Nothing is changed by the request: the server puts the text into the document as it does an accepted edit. */
export interface EditorFormatResult {
  /** What the whole document would be, formatted; absent where nothing formats it, or it is at another version. */
  text?: string;
  /** What formats it, for people, such as a language server's name; absent where that is not known. */
  by?: string;
}

/** Parameters of `azimuth/editor/query`. */
export interface EditorQueryParams {
  /** The question. */
  query: LangQuery;
  /** How long the client may take, in milliseconds. Then it answers with the status `timedOut`, or with what it has as `partial`. */
  timeoutMs: number;
}

/** Result of `azimuth/editor/save`. */
export interface EditorSaveResult {
  /** Whether the document's text is on disk now. */
  saved: boolean;
}

/** Result of `azimuth/editor/text`. */
export interface EditorTextResult {
  /** The document's text as the editor holds it; absent where the editor does not have it open. */
  text?: string;
}

/** What happened in a session. */
export type Event =
  | EventSessionStarted
  | EventTitleChanged
  | EventModelChanged
  | EventAcceptEditsChanged
  | EventModeChanged
  | EventCommandExecuted
  | EventTurnStarted
  | EventSteered
  | EventPromptQueued
  | EventPromptDequeued
  | EventNoted
  | EventMessageDelta
  | EventThinkingDelta
  | EventEditDelta
  | EventMessageCompleted
  | EventMessageDiscarded
  | EventRetrying
  | EventPlanUpdated
  | EventToolCallStarted
  | EventToolCallEnded
  | EventPermissionAsked
  | EventPermissionAnswered
  | EventPermissionJudged
  | EventProposalChanged
  | EventReviewDecided
  | EventEditApplied
  | EventFormatted
  | EventTerminalStarted
  | EventTerminalEnded
  | EventTerminalChanged
  | EventTerminalInput
  | EventUserCommandStarted
  | EventUserCommandEnded
  | EventFilesChanged
  | EventFileSeen
  | EventCheckpointRestored
  | EventNotice
  | EventContextTrimmed
  | EventSideAsked
  | EventContextUsed
  | EventTurnEnded;

/** The session began. Always the first event. */
export interface EventSessionStarted {
  type: 'sessionStarted';
  /** Its folders, as URIs. */
  folders: string[];
  /** How many of the next changes of its model and mode only say what it begins with. */
  beginsWith: number;
  /** Whether the user asked for it by a command, so that it is kept even if nothing is said in it. Absent in logs of older versions. */
  askedFor?: boolean;
}

/** The session has a new title. */
export interface EventTitleChanged {
  type: 'titleChanged';
  /** The title. */
  title: string;
}

/** The session uses another model. */
export interface EventModelChanged {
  type: 'modelChanged';
  /** The model's id. */
  model: string;
  /** True for a model that plays a script; an interface must say so. */
  scripted: boolean;
}

/** Edits are accepted as they come from now on, or no longer. */
export interface EventAcceptEditsChanged {
  type: 'acceptEditsChanged';
  /** Whether edits are accepted as they come, from now on. */
  on: boolean;
  /** For how long. */
  scope: AutoScope;
}

/** The session is in another mode. */
export interface EventModeChanged {
  type: 'modeChanged';
  /** The mode. */
  mode: Mode;
}

/** A slash command was executed. It is not part of the model's context. */
export interface EventCommandExecuted {
  type: 'commandExecuted';
  /** The command as typed. */
  command: string;
  /** What came of it, in Markdown. */
  message: string;
  /** Whether it failed. */
  isError: boolean;
}

/** A turn began, with the user's prompt. */
export interface EventTurnStarted {
  type: 'turnStarted';
  /** The turn. */
  turnId: TurnId;
  /** The prompt. Empty where an earlier turn is gone on with. */
  prompt: PromptBlock[];
  /** What the prompt's mentions and the editor's state came to, as the model reads it. May be empty. */
  context: string;
  /** The model's id. */
  model: string;
  /** The mode. */
  mode: Mode;
}

/** The user said something to the running turn; the model reads it from here on. */
export interface EventSteered {
  type: 'steered';
  /** The turn. */
  turnId: TurnId;
  /** What was said. */
  prompt: PromptBlock[];
  /** What its mentions came to. */
  context: string;
}

/** A prompt waits for the turn's end. */
export interface EventPromptQueued {
  type: 'promptQueued';
  /** The waiting prompt. */
  queueId: QueueId;
  /** What it says. */
  prompt: PromptBlock[];
}

/** A waiting prompt is no longer one: it was started or taken back. */
export interface EventPromptDequeued {
  type: 'promptDequeued';
  /** The waiting prompt. */
  queueId: QueueId;
}

/** The model was told something by us: decisions on its edits, new problems. Part of its context. */
export interface EventNoted {
  type: 'noted';
  /** The turn. */
  turnId: TurnId;
  /** What it was told. */
  text: string;
}

/** A piece of the assistant's text. */
export interface EventMessageDelta {
  type: 'messageDelta';
  /** The message. */
  messageId: MessageId;
  /** The piece. */
  text: string;
}

/** A piece of the model's thinking. */
export interface EventThinkingDelta {
  type: 'thinkingDelta';
  /** The message. */
  messageId: MessageId;
  /** The piece. */
  text: string;
}

/** A piece of the diff that an edit comes to, while the call for it still arrives. It goes behind the pieces of the same call before it. What such pieces say is void once the message is whole or discarded, or the turn ends: the hunks that the call then proposes stand for it. */
export interface EventEditDelta {
  type: 'editDelta';
  /** The message. */
  messageId: MessageId;
  /** Tells the pieces of one call from those of others of the message. The call may be made under another id. */
  toolCallId: ToolCallId;
  /** The file, for people: as the model names it. */
  path: string;
  /** The piece, in Markdown's `diff` notation: lines that begin with a space, `-`, `+`, or `@`. It may end within a line. */
  text: string;
}

/** A message is whole. What its deltas said stands here again, with the tool calls. */
export interface EventMessageCompleted {
  type: 'messageCompleted';
  /** The turn. */
  turnId: TurnId;
  /** The message. */
  messageId: MessageId;
  /** All of it. */
  content: AssistantBlock[];
  /** What the request used. */
  usage: Usage;
  /** What the request cost in US dollars; absent where the price is unknown. */
  cost?: number;
}

/** A message broke off and will be asked for again; what was shown of it is void. */
export interface EventMessageDiscarded {
  type: 'messageDiscarded';
  /** The message. */
  messageId: MessageId;
}

/** A request to the model failed in passing and is tried again. */
export interface EventRetrying {
  type: 'retrying';
  /** The turn. */
  turnId: TurnId;
  /** Which retry this is, from 1. */
  attempt: number;
  /** How long it waits first, in milliseconds. */
  delayMs: number;
  /** What went wrong. */
  reason: string;
}

/** The model says what it is going to do, and how far it is. It takes the place of the turn's plan before it. */
export interface EventPlanUpdated {
  type: 'planUpdated';
  /** The turn. */
  turnId: TurnId;
  /** The steps, in their order. */
  entries: PlanEntry[];
}

/** A tool call begins. */
export interface EventToolCallStarted {
  type: 'toolCallStarted';
  /** The turn. */
  turnId: TurnId;
  /** The call. */
  toolCallId: ToolCallId;
  /** The tool. */
  name: string;
  /** What kind of thing it does. */
  kind: ToolKind;
  /** What it does, in a few words: `Reading main.rs`. */
  title: string;
  /** Its input. */
  input: unknown;
  /** The places it is about. */
  locations: Location[];
}

/** A tool call ended. */
export interface EventToolCallEnded {
  type: 'toolCallEnded';
  /** The turn. */
  turnId: TurnId;
  /** What the model reads of it. */
  result: ToolResult;
  /** What it came to, in a few words: `3 matches`, `+2 -1`. */
  summary: string;
  /** The places it is about. */
  locations: Location[];
  /** How long it ran, in milliseconds. */
  durationMs: number;
  /** The input as the model reads it from here on, where that is the edit that was applied and not the one that it wrote. */
  rewrittenInput?: unknown;
}

/** The user is asked. */
export interface EventPermissionAsked {
  type: 'permissionAsked';
  /** The turn. */
  turnId: TurnId;
  /** The question. */
  request: PermissionRequest;
}

/** A question was answered or fell away. */
export interface EventPermissionAnswered {
  type: 'permissionAnswered';
  /** The question. */
  permissionId: PermissionId;
  /** How. */
  outcome: PermissionOutcome;
}

/** Something was allowed or denied without asking; why. */
export interface EventPermissionJudged {
  type: 'permissionJudged';
  /** The call. */
  toolCallId: ToolCallId;
  /** Whether it may go on. */
  allowed: boolean;
  /** The rule or default, and where it comes from. */
  reason: string;
}

/** The pending change of a file is new, or has changed. */
export interface EventProposalChanged {
  type: 'proposalChanged';
  /** The proposal as it is now. */
  proposal: Proposal;
}

/** Hunks were decided. */
export interface EventReviewDecided {
  type: 'reviewDecided';
  /** The proposal. */
  proposalId: ProposalId;
  /** The hunks. */
  hunkIds: HunkId[];
  /** How. */
  decision: Decision;
  /** A word to the model. */
  message?: string;
}

/** Accepted hunks were put into their document, or could not be. */
export interface EventEditApplied {
  type: 'editApplied';
  /** The proposal. */
  proposalId: ProposalId;
  /** The hunks. */
  hunkIds: HunkId[];
  /** The document. */
  uri: string;
  /** How it went. */
  outcome: ApplyOutcome;
  /** The turn that they belong to: the last of those that had a part in them. Absent in logs of older versions. */
  turnId?: TurnId;
  /** The hash of its text before; absent for a file that was not there. The text is kept. */
  before?: string;
  /** The hash of its text after, which is kept too; absent where it is no more. */
  after?: string;
  /** Where a file was deleted, what it was beyond its text. */
  deleted?: FileImage;
}

/** A document was formatted after edits in it were accepted. */
export interface EventFormatted {
  type: 'formatted';
  /** The document. */
  uri: string;
  /** The hash of its text before. The text is kept. */
  before: string;
  /** The hash of its text after, which is kept too. */
  after: string;
  /** Lines that the formatter added. */
  added: number;
  /** Lines that it removed. */
  removed: number;
  /** The turn that the edits belong to. */
  turnId?: TurnId;
  /** What formatted it, for people; absent where that is not known. */
  by?: string;
}

/** A command begins in a terminal. */
export interface EventTerminalStarted {
  type: 'terminalStarted';
  /** The terminal. */
  terminalId: TerminalId;
  /** The call that started it. */
  toolCallId: ToolCallId;
  /** The command line. */
  command: string;
  /** The folder it starts in. */
  cwd: string;
  /** The offset of its first byte of output. */
  offset: number;
}

/** A command ended. */
export interface EventTerminalEnded {
  type: 'terminalEnded';
  /** The terminal. */
  terminalId: TerminalId;
  /** The call that started it. */
  toolCallId: ToolCallId;
  /** The offset after its last byte of output. */
  offset: number;
  /** Its exit code; absent where it was killed or timed out. */
  exitCode?: number;
}

/** A terminal is new or has changed: what runs in it, whether that waits for input, who has it. */
export interface EventTerminalChanged {
  type: 'terminalChanged';
  /** The terminal as it is now. */
  terminal: TerminalInfo;
}

/** Something was typed into a terminal. */
export interface EventTerminalInput {
  type: 'terminalInput';
  /** The terminal. */
  terminalId: TerminalId;
  /** Who typed. */
  by: Typist;
  /** What was typed, a line at a time; empty where it was not shown. */
  text: string;
  /** Whether it was typed while the terminal showed nothing of it, as a password. It is kept nowhere. */
  hidden: boolean;
  /** The call whose command read it. */
  toolCallId?: ToolCallId;
}

/** The user runs a command of their own: `!command`, or `!!command`, which the model does not see. */
export interface EventUserCommandStarted {
  type: 'userCommandStarted';
  /** Its id, where a call has one. */
  toolCallId: ToolCallId;
  /** The command line. */
  command: string;
  /** Whether it is part of the model's context. */
  inContext: boolean;
}

/** The user's own command ended. */
export interface EventUserCommandEnded {
  type: 'userCommandEnded';
  /** Its id. */
  toolCallId: ToolCallId;
  /** What it printed, as a model reads it. */
  text: string;
  /** How long it ran, in milliseconds. */
  durationMs: number;
  /** Its exit code; absent where it was stopped or could not be run. */
  exitCode?: number;
}

/** A command of a turn changed files of the project, or another program did while the turn ran. */
export interface EventFilesChanged {
  type: 'filesChanged';
  /** The turn. */
  turnId: TurnId;
  /** The files, sorted by URI. */
  files: ChangedFile[];
  /** The call that ran it; absent where it was not while a command ran. */
  toolCallId?: ToolCallId;
}

/** What a file is was looked at where nobody could tell it later. */
export interface EventFileSeen {
  type: 'fileSeen';
  /** The file. */
  uri: string;
  /** When it was looked at. */
  occasion: SeenOccasion;
  /** What it is; absent where there is no file. */
  now?: FileImage;
}

/** What turns did to files was taken back, or put again. Part of the model's context. */
export interface EventCheckpointRestored {
  type: 'checkpointRestored';
  /** Which way. */
  direction: Direction;
  /** The turns, newest first. */
  turnIds: TurnId[];
  /** What became of each file. */
  files: RestoredFile[];
}

/** A word to the user: something that is worth knowing and needs no answer. */
export interface EventNotice {
  type: 'notice';
  /** How grave it is. */
  severity: Severity;
  /** What it says. */
  text: string;
}

/** The context filled up: the results of these calls were replaced by a short note. */
export interface EventContextTrimmed {
  type: 'contextTrimmed';
  /** The turn. */
  turnId: TurnId;
  /** The calls whose results the model no longer sees. */
  toolCallIds: ToolCallId[];
}

/** A model was asked outside a turn. It counts for the session's usage and cost. */
export interface EventSideAsked {
  type: 'sideAsked';
  /** What for. */
  role: SideRole;
  /** The model's id. */
  model: string;
  /** What the request used. */
  usage: Usage;
  /** What it cost in US dollars; absent if the model's price is unknown. */
  cost?: number;
  /** Why there is no answer; absent if there is one. */
  error?: string;
}

/** How full the context is. */
export interface EventContextUsed {
  type: 'contextUsed';
  /** Tokens of the last request. */
  used: number;
  /** The model's limit. */
  limit: number;
}

/** A turn ended. */
export interface EventTurnEnded {
  type: 'turnEnded';
  /** The turn. */
  turnId: TurnId;
  /** Why. */
  stopReason: StopReason;
  /** What the turn used. */
  usage: Usage;
  /** What failed, or why the answer is not whole or the model would not give one, and what to do. */
  error?: string;
  /** What the turn cost in US dollars; absent where a price is unknown. */
  cost?: number;
  /** How many errors its edits brought that are still there, as language servers see it. Absent where there is none, and where nobody could tell. */
  newErrors?: number;
}

/** Parameters of the notification `azimuth/event`. */
export interface EventParams {
  /** The session. */
  sessionId: SessionId;
  /** Its number in the session: 1, 2, 3, … without gaps. */
  seq: number;
  /** When it happened. */
  at: number;
  /** What happened. */
  event: Event;
}

/** What becomes of a file. */
export type FileChange =
  /** It is new. */
  | 'create'
  /** It is changed. */
  | 'modify'
  /** It is deleted. */
  | 'delete';

/** A file as it was at a time. What it held is kept. */
export interface FileImage {
  /** The hash of its text, without byte order mark and with LF line ends. */
  hash: string;
  /** The hash of its bytes, where these are known and not just the text's. */
  bytes?: string;
  /** Whether it could be run as a program; false also where that is not known. */
  executable?: boolean;
}

/** A piece of a change that is decided as one. */
export interface Hunk {
  /** The hunk. */
  hunkId: HunkId;
  /** The tool calls it came from. */
  toolCallIds: ToolCallId[];
  /** First line it replaces in the document as it is now, from 0. */
  startLine: number;
  /** The lines it replaces, with their line ends (LF). Empty for an insertion. */
  oldText: string;
  /** The lines it puts there, with their line ends (LF). Empty for a deletion. */
  newText: string;
  /** How it stands. */
  state: HunkState;
  /** The line above those it replaces, with its line end; absent at the document's start. */
  lineBefore?: string;
  /** The line below them, with its line end; absent at the document's end. */
  lineAfter?: string;
  /** What the server finds the hunk by after a restart, where the document changed meanwhile; absent where its lines cannot be told from others in the document. Clients have no use for it. */
  anchor?: string;
  /** What the user said of it, the oldest first. */
  comments?: string[];
  /** How many of these, the last ones, the model has not been told. Clients have no use for it. */
  untoldComments?: number;
}

/** A hunk. It keeps its id for as long as its content stays the same. */
export type HunkId = string;

/** How a hunk stands. */
export type HunkState =
  /** Not decided. */
  | 'pending'
  /** Accepted, and on its way into the document. */
  | 'applying'
  /** Accepted, and seen in the document. */
  | 'accepted'
  /** Accepted and sent, but nobody could tell whether it arrived. */
  | 'unverified'
  /** Rejected. */
  | 'rejected'
  /** The text it was made for has changed; it cannot be accepted as it is. */
  | 'conflicted'
  /** Accepted, then taken back by the user in the editor. */
  | 'undone';

/** Something that can be done. */
export interface LangAction {
  /** What it does, for people; its name in `codeAction`. */
  title: string;
  /** Its kind, such as `quickfix` or `refactor.extract`. */
  kind?: string;
  /** Whether it is the one that is likely meant. */
  preferred?: boolean;
  /** Why it cannot be done here, if it cannot. */
  disabled?: string;
}

/** An answer, by what was asked. */
export type LangAnswer =
  | LangAnswerNothing
  | LangAnswerLocations
  | LangAnswerText
  | LangAnswerSymbols
  | LangAnswerCalls
  | LangAnswerEdit
  | LangAnswerDiagnostics
  | LangAnswerActions;

/** There is no answer; the status says why. */
export interface LangAnswerNothing {
  type: 'nothing';
}

/** Places in code. */
export interface LangAnswerLocations {
  type: 'locations';
  /** The places. */
  locations: LangLocation[];
}

/** Text in Markdown. */
export interface LangAnswerText {
  type: 'text';
  /** The text; empty where nothing is known. */
  text: string;
}

/** Symbols. */
export interface LangAnswerSymbols {
  type: 'symbols';
  /** The symbols. */
  symbols: LangSymbol[];
}

/** What calls or is called. */
export interface LangAnswerCalls {
  type: 'calls';
  /** The callers, or the called. */
  calls: LangCall[];
}

/** A change of files that was not made. */
export interface LangAnswerEdit {
  type: 'edit';
  /** Its steps, in their order; empty where nothing would have to change. */
  changes: LangChange[];
}

/** Problems. */
export interface LangAnswerDiagnostics {
  type: 'diagnostics';
  /** The documents, those without problems too where they are known to have none. */
  documents: LangDiagnostics[];
}

/** Things that can be done. */
export interface LangAnswerActions {
  type: 'actions';
  /** The actions. */
  actions: LangAction[];
}

/** A caller, or something called. */
export interface LangCall {
  /** What calls, or is called. */
  symbol: LangSymbol;
  /** Where the calls stand: in the caller, whichever that is. */
  ranges: Range[];
}

/** A step of a change of files. */
export type LangChange =
  | LangChangeText
  | LangChangeCreate
  | LangChangeRename
  | LangChangeDelete;

/** Parts of a document's text are replaced. */
export interface LangChangeText {
  type: 'text';
  /** The document. */
  uri: string;
  /** The edits, all of the text before any of them, not overlapping. */
  edits: LangTextEdit[];
  /** The version of it that the edits are made for, if it is open. */
  version?: number;
  /** The hash of the text that the edits are made for, where that is known: SHA-256 in hexadecimal, without byte order mark and with LF line ends. */
  hash?: string;
}

/** A file is made. */
export interface LangChangeCreate {
  type: 'create';
  /** The file. */
  uri: string;
}

/** A file or folder is moved. */
export interface LangChangeRename {
  type: 'rename';
  /** Where it is. */
  from: string;
  /** Where it goes. */
  to: string;
}

/** A file or folder is deleted. */
export interface LangChangeDelete {
  type: 'delete';
  /** The file. */
  uri: string;
}

/** A problem. */
export interface LangDiagnostic {
  /** Where. */
  range: Range;
  /** How bad. */
  severity: LangSeverity;
  /** What. */
  message: string;
  /** Who says so, such as `rustc`. */
  source?: string;
  /** Its code there, such as `E0308`. */
  code?: string;
}

/** The problems of a document. */
export interface LangDiagnostics {
  /** The document. */
  uri: string;
  /** The problems. */
  diagnostics: LangDiagnostic[];
  /** The version of it that they belong to, where that is known. */
  version?: number;
}

/** A place in code. */
export interface LangLocation {
  /** The document. */
  uri: string;
  /** The place in it. */
  range: Range;
}

/** A question about code. The document of a question need not be open. */
export type LangQuery =
  | LangQueryDefinition
  | LangQueryTypeDefinition
  | LangQueryImplementation
  | LangQueryReferences
  | LangQueryHover
  | LangQueryDocumentSymbols
  | LangQueryWorkspaceSymbols
  | LangQueryIncomingCalls
  | LangQueryOutgoingCalls
  | LangQuerySupertypes
  | LangQuerySubtypes
  | LangQueryRename
  | LangQueryMoveFile
  | LangQueryDiagnostics
  | LangQueryCodeActions
  | LangQueryCodeAction
  | LangQueryFormat
  | LangQueryServers;

/** Where is what stands here defined? Answered with `locations`. */
export interface LangQueryDefinition {
  type: 'definition';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** Where is the type of what stands here defined? Answered with `locations`. */
export interface LangQueryTypeDefinition {
  type: 'typeDefinition';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What implements what stands here? Answered with `locations`. */
export interface LangQueryImplementation {
  type: 'implementation';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** Where is what stands here used? Its declaration is among them. Answered with `locations`. */
export interface LangQueryReferences {
  type: 'references';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What is known of what stands here? Answered with `text`. */
export interface LangQueryHover {
  type: 'hover';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What symbols are in a document? Answered with `symbols`, each before those that are in it. */
export interface LangQueryDocumentSymbols {
  type: 'documentSymbols';
  /** The document. */
  uri: string;
}

/** What symbols of the workspace are called like this? Answered with `symbols`. */
export interface LangQueryWorkspaceSymbols {
  type: 'workspaceSymbols';
  /** What they are called, or a part of it. */
  query: string;
  /** A document whose language servers are asked; all that run without one. */
  uri?: string;
}

/** What calls what stands here? Answered with `calls`. */
export interface LangQueryIncomingCalls {
  type: 'incomingCalls';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What does that call which stands here? Answered with `calls`. */
export interface LangQueryOutgoingCalls {
  type: 'outgoingCalls';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What are the supertypes of the type that stands here? Answered with `symbols`. */
export interface LangQuerySupertypes {
  type: 'supertypes';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What are the subtypes of the type that stands here? Answered with `symbols`. */
export interface LangQuerySubtypes {
  type: 'subtypes';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
}

/** What would have to change, so that what stands here is called otherwise? Nothing is changed. Answered with `edit`. */
export interface LangQueryRename {
  type: 'rename';
  /** The document. */
  uri: string;
  /** The place. */
  position: Position;
  /** The new name. */
  newName: string;
}

/** What would have to change elsewhere, if a file or folder lay in another place? Nothing is changed, and the moving itself is not in the answer. Answered with `edit`. */
export interface LangQueryMoveFile {
  type: 'moveFile';
  /** Where it is. */
  from: string;
  /** Where it would be. */
  to: string;
}

/** What problems are known? Answered with `diagnostics`. */
export interface LangQueryDiagnostics {
  type: 'diagnostics';
  /** The document; all of which something is known without it. */
  uri?: string;
}

/** What can be done for a part of a document? Answered with `actions`. */
export interface LangQueryCodeActions {
  type: 'codeActions';
  /** The document. */
  uri: string;
  /** The part. */
  range: Range;
  /** Only actions of this kind, or of those below it, such as `quickfix`. */
  kind?: string;
}

/** What would an action change? Nothing is changed. Answered with `edit`; an action that does more than edit is `unsupported`. */
export interface LangQueryCodeAction {
  type: 'codeAction';
  /** The document. */
  uri: string;
  /** The part. */
  range: Range;
  /** The action, by its title. */
  title: string;
  /** The kind that it was asked for by, where it was: some servers make such actions only then. */
  kind?: string;
}

/** What would have to change, so that a document is formatted? Nothing is changed. Answered with `edit`. */
export interface LangQueryFormat {
  type: 'format';
  /** The document. */
  uri: string;
}

/** Which servers run for a document, or at all? Answered with `nothing`; `servers` says it. */
export interface LangQueryServers {
  type: 'servers';
  /** The document. */
  uri?: string;
}

/** What a question came to: result of `azimuth/editor/query`. */
export interface LangResult {
  /** How far the answer can be relied on. */
  status: LangStatus;
  /** The answer. */
  answer: LangAnswer;
  /** Who answered, or would have. Empty where that cannot be told. */
  servers?: LangServer[];
  /** The version of the document that it was answered for; none where it is not open. */
  version?: number;
  /** What went wrong, or what is still missing, for people. */
  message?: string;
}

/** A language server. */
export interface LangServer {
  /** Its name, as it or its configuration says it. */
  name: string;
  /** Its version, if it says one. */
  version?: string;
}

/** How bad a problem is. */
export type LangSeverity =
  /** An error. */
  | 'error'
  /** A warning. */
  | 'warning'
  /** A remark. */
  | 'information'
  /** A hint. */
  | 'hint';

/** How far an answer can be relied on. "There is none" is `ready` with an empty answer, and nothing else. */
export type LangStatus =
  /** It is whole. */
  | 'ready'
  /** The server still reads the project: what there is may be there, more may come. */
  | 'indexing'
  /** There is more than was given, one of several servers did not answer, or it is not known whether it is of the text as it is now. The message says which. */
  | 'partial'
  /** No server is there for the document. */
  | 'noServer'
  /** The servers that are there cannot answer this. */
  | 'unsupported'
  /** The server said that it could not; the message says why. */
  | 'failed'
  /** The server ended while it was asked. */
  | 'crashed'
  /** There was no answer in time. */
  | 'timedOut'
  /** The editor was busy and did not pass the question on. */
  | 'editorBusy'
  /** It takes edits that wait for the user, which the servers do not see; the message says which. */
  | 'unseen';

/** A symbol. */
export interface LangSymbol {
  /** Its name. */
  name: string;
  /** What it is: the number of LSP's `SymbolKind`. */
  kind: number;
  /** All of it. */
  location: LangLocation;
  /** Its name in its definition; where that is not known, its beginning. */
  selection: Range;
  /** More about it, such as its signature. */
  detail?: string;
  /** The name of what it is in. */
  container?: string;
  /** In how many symbols of the same answer it lies. */
  depth?: number;
}

/** A part of a text, and what stands there instead. */
export interface LangTextEdit {
  /** The part. */
  range: Range;
  /** The new text. */
  newText: string;
}

/** Whole lines of a document. */
export interface LineRange {
  /** The first, from 0. */
  start: number;
  /** The one after the last. */
  end: number;
}

/** A place in a file that an event speaks of; an editor can show it. */
export interface Location {
  /** The document. */
  uri: string;
  /** Line, from 0. */
  line?: number;
}

/** A message of the assistant, whose deltas carry the same id. */
export type MessageId = string;

/** What the agent may do in a turn. */
export type Mode =
  /** Look, and answer; nothing is changed or run. */
  | 'ask'
  /** Look, also with commands that are known only to read, and plan; nothing is changed. */
  | 'plan'
  /** Everything, within the permissions: edits under review, commands that are allowed or asked for. */
  | 'agent'
  /** As `agent`, and edits are accepted as they come. */
  | 'accept_edits'
  /** Nothing is asked. What rules deny stays denied, and what rules have asked is asked. It has to be confirmed. */
  | 'bypass';

/** A model that can be chosen. */
export interface ModelInfo {
  /** What to select it by: `provider/name`, such as `anthropic/claude-sonnet-5-5`. */
  id: string;
  /** Its name for people. */
  name: string;
  /** Who serves it, such as `anthropic`, `openai`, `ollama`, `scripted`. */
  provider: string;
  /** The context window in tokens. */
  contextTokens: number;
  /** The longest answer in tokens. */
  maxOutputTokens: number;
  /** Whether it can be used now: a key is there, or a local server answers. */
  available: boolean;
  /** Whether it takes images. */
  images: boolean;
  /** Whether it can think before it answers. */
  thinking: boolean;
  /** True for a model that plays a script; an interface must say so. */
  scripted: boolean;
  /** What it costs; absent where unknown, zero where it is free. */
  price?: Price;
  /** Why it cannot be used and what to do. */
  unavailableBecause?: string;
}

/** Parameters of `azimuth/model/list`. */
export type ModelListParams = Record<string, never>;

/** Result of `azimuth/model/list`. */
export interface ModelListResult {
  /** Every model known, the usable ones first. */
  models: ModelInfo[];
  /** The id of the model a new session gets, if any is usable. */
  default?: string;
}

/** Parameters of `azimuth/model/select`. */
export interface ModelSelectParams {
  /** A model's id, its name without the provider, or an alias. */
  model: string;
  /** The session; without it, the default of new sessions is set. */
  sessionId?: SessionId;
}

/** Result of `azimuth/model/select`. */
export interface ModelSelectResult {
  /** The model now chosen. */
  model: ModelInfo;
}

/** What a question is about. */
export type PermissionAbout =
  /** Whether a tool call may be made. */
  | 'tool_call'
  /** What becomes of pending hunks before a command runs. It is moot once none is pending any more. */
  | 'pending_edits'
  /** Whether the user's unsaved text is saved before a command runs. */
  | 'unsaved_text'
  /** Whether a command may run outside the sandbox. */
  | 'outside'
  /** Whether the workspace is trusted: whether what it supplies may run, and what it allows counts. */
  | 'trust'
  /** Whether a program that the project brings along, such as a language server, may be started as it is now. */
  | 'program';

/** Parameters of `azimuth/permission/answer`. */
export interface PermissionAnswerParams {
  /** The session. */
  sessionId: SessionId;
  /** The question. */
  permissionId: PermissionId;
  /** The option chosen. */
  optionId: string;
  /** A word to the model. */
  message?: string;
}

/** Result of `azimuth/permission/answer`. */
export interface PermissionAnswerResult {
  /** False if the question had already been answered, in another view or by the turn's end. No harm is done. */
  accepted: boolean;
}

/** A question for permission. */
export type PermissionId = string;

/** Parameters of `azimuth/permission/list`. */
export interface PermissionListParams {
  /** The session. */
  sessionId: SessionId;
}

/** Result of `azimuth/permission/list`. */
export interface PermissionListResult {
  /** The rules, in the order of their precedence. */
  rules: RuleInfo[];
}

/** One possible answer. */
export interface PermissionOption {
  /** What to answer with. */
  optionId: string;
  /** What it says, its scope in words: `Always allow cargo test … in this project`. */
  name: string;
  /** What it does. */
  kind: PermissionOptionKind;
}

/** What an option does; ACP's option kinds. */
export type PermissionOptionKind =
  /** Go on, this time. */
  | 'allow_once'
  /** Go on, and do not ask for this again in this project. */
  | 'allow_always'
  /** Do not. */
  | 'reject_once'
  /** Do not, and never again in this project. */
  | 'reject_always';

/** How a question ended. */
export type PermissionOutcome =
  | PermissionOutcomeSelected
  | PermissionOutcomeCancelled
  | PermissionOutcomeMoot;

/** An option was chosen. */
export interface PermissionOutcomeSelected {
  type: 'selected';
  /** Which. */
  optionId: string;
  /** A word to the model, such as why it was rejected. */
  message?: string;
}

/** The turn ended first, or nobody could answer. */
export interface PermissionOutcomeCancelled {
  type: 'cancelled';
}

/** What it was about was settled otherwise. */
export interface PermissionOutcomeMoot {
  type: 'moot';
}

/** A question. It stands until it is answered or its turn ends, across reconnects. */
export interface PermissionRequest {
  /** The question. */
  permissionId: PermissionId;
  /** What it is about. */
  about: PermissionAbout;
  /** The question in a few words: `Run a command?` */
  title: string;
  /** What exactly would be done: the command line, the paths. */
  detail: string;
  /** Why it is asked: the rule or default that led here. */
  reason: string;
  /** The answers to choose from. */
  options: PermissionOption[];
  /** The tool call that waits, where one does. */
  toolCallId?: ToolCallId;
}

/** Parameters of `azimuth/permission/revoke`: take back what was granted. Twice is harmless. */
export interface PermissionRevokeParams {
  /** The session. */
  sessionId: SessionId;
  /** The rule as listed. */
  rule: string;
  /** Its origin as listed: `granted` or `session`. */
  origin: RuleOrigin;
}

/** A step of a plan; ACP's plan entry. */
export interface PlanEntry {
  /** What is to be done: one line. */
  content: string;
  /** How far it is. */
  status: PlanEntryStatus;
}

/** How far a step of a plan is. */
export type PlanEntryStatus =
  /** It is to be done. */
  | 'pending'
  /** It is being done. */
  | 'in_progress'
  /** It is done. */
  | 'completed';

/** A position in a document: LSP's `Position`. */
export interface Position {
  /** Line, from 0. */
  line: number;
  /** Offset in the line, from 0, in units of the negotiated position encoding. */
  character: number;
}

/** US dollars per million tokens. */
export interface Price {
  /** Input that no cache served. */
  input: number;
  /** Output. */
  output: number;
  /** Input served by the cache. */
  cacheRead: number;
  /** Input stored to the cache. */
  cacheWrite: number;
}

/** Parameters of `azimuth/prompt/beginnings`. */
export interface PromptBeginningsParams {
  /** The document that the user has before them, if any. */
  uri?: string;
  /** The session that the chat is of, if any: its model counts then. */
  sessionId?: SessionId;
}

/** Result of `azimuth/prompt/beginnings`. */
export interface PromptBeginningsResult {
  /** How the workspace is set up, and what it lacks; what weighs most comes first. */
  setup: SetupFact[];
  /** What to try: about the document where it is one of the workspace's files, else about the project. */
  beginnings: Beginning[];
}

/** A piece of the user's prompt. */
export type PromptBlock =
  | PromptBlockText
  | PromptBlockFile
  | PromptBlockRange
  | PromptBlockSelection
  | PromptBlockImage;

/** Text as typed. Slash commands are looked for in it. */
export interface PromptBlockText {
  type: 'text';
  /** The text. */
  text: string;
}

/** A mention of a file. Its text, bounded, is put before the model. */
export interface PromptBlockFile {
  type: 'file';
  /** The document. */
  uri: string;
}

/** A mention of a part of a file. */
export interface PromptBlockRange {
  type: 'range';
  /** The document. */
  uri: string;
  /** Which part. */
  range: Range;
}

/** What the user has selected, as it stood when the prompt was sent. */
export interface PromptBlockSelection {
  type: 'selection';
  /** The document. */
  uri: string;
  /** Where the selection is. */
  range: Range;
  /** The selected text. */
  text: string;
}

/** An image. */
export interface PromptBlockImage {
  type: 'image';
  /** Such as `image/png`. */
  mimeType: string;
  /** The bytes, in base64. */
  data: string;
}

/** Parameters of `azimuth/prompt/complete`. */
export interface PromptCompleteParams {
  /** The session. */
  sessionId: SessionId;
  /** The prompt's text. */
  text: string;
  /** Where the cursor is: an offset into `text` in UTF-16 units. */
  cursor: number;
}

/** Result of `azimuth/prompt/complete`. */
export interface PromptCompleteResult {
  /** Where the token under the cursor begins, in UTF-16 units. */
  start: number;
  /** Where it ends, exclusive. */
  end: number;
  /** What could stand there, best first. */
  items: CompletionItem[];
}

/** Parameters of `azimuth/prompt/put`. */
export interface PromptPutParams {
  /** The prompt, or what is to be part of it. */
  prompt: PromptBlock[];
  /** Whether it is to be sent as it is, or once the running turn has ended. Else the user has something to add. */
  send: boolean;
}

/**
 * The pending change of one file: the difference between its text and what the agent proposes.
 *
 * Further edits of the same file join the proposal until all its hunks are decided.
 */
export interface Proposal {
  /** The proposal. */
  proposalId: ProposalId;
  /** Grows when a hunk appears, vanishes or changes, not when one is decided or merely moves. */
  revision: number;
  /** The document. */
  uri: string;
  /** Its path for people: relative to the workspace folder. */
  path: string;
  /** What becomes of the file. */
  change: FileChange;
  /** The hunks, from top to bottom, decided ones included. */
  hunks: Hunk[];
  /** The hash of the document in which the hunks have their lines; absent where there is no file. By it the server knows after a restart whether they still have them. */
  baseHash?: string;
  /** The document to which the deleted file's text goes; absent where it goes nowhere. The deletion can be accepted once that document has it, or together with it. */
  movedTo?: string;
  /** Whether the hunks are in the document already, since a command put them there, or another program while the turn ran. To accept such a hunk keeps it; to reject takes it back. Its `startLine` is that of `newText`, which stands in the document now; `oldText` is what was there. `change` is what became of the file. Nothing waits for the decision. A hunk that is `applying` is being taken back; one in conflict can only be kept; `undone` means that it was taken back and is there again. Without `toolCallIds` it was another program. */
  landed?: boolean;
}

/** The pending change of one file. */
export type ProposalId = string;

/** Result of `azimuth/review/text`: a file before and after all of its pending hunks, with LF line ends and without a byte order mark. */
export interface ProposedText {
  /** The document. */
  uri: string;
  /** Its path for people. */
  path: string;
  /** The proposal's revision. */
  revision: number;
  /** The text as the user has it; absent where there is no file. Where the hunks have landed, the text without those that are pending. */
  base?: string;
  /** The text with every pending hunk in it; absent where the file is to be deleted. Where the hunks have landed, the text as the user has it. */
  proposed?: string;
}

/** A prompt that waits for the running turn to end. */
export type QueueId = string;

/** A range in a document, its end exclusive: LSP's `Range`. */
export interface Range {
  /** Where it begins. */
  start: Position;
  /** Where it ends, exclusive. */
  end: Position;
}

/** What shows that a command in the background, such as a server, is up. */
export interface Ready {
  /** The TCP ports that its processes listen on, sorted. */
  ports: number[];
  /** The line that says so, if one did. */
  line?: string;
}

/** How setting a file back or again went. */
export type RestoreOutcome =
  | RestoreOutcomeDone
  | RestoreOutcomeUnverified
  | RestoreOutcomeLeft
  | RestoreOutcomeFailed;

/** It is as wanted. */
export interface RestoreOutcomeDone {
  type: 'done';
}

/** It is as wanted, as far as can be told: the client said yes, but did not show the text in time. */
export interface RestoreOutcomeUnverified {
  type: 'unverified';
}

/** It was left as it is. */
export interface RestoreOutcomeLeft {
  type: 'left';
  /** Why, and what to do. */
  reason: string;
}

/** It could not be done; nothing was changed. */
export interface RestoreOutcomeFailed {
  type: 'failed';
  /** Why. */
  reason: string;
}

/** A turn's change of a file, taken back or put again. */
export interface RestoreStep {
  /** The turn. */
  turnId: TurnId;
  /** What the file was; absent where there was none. */
  from?: FileImage;
  /** What it became; absent where there is none. */
  to?: FileImage;
}

/** What became of a file that was to be set back or again. */
export interface RestoredFile {
  /** The document. */
  uri: string;
  /** Its path for people. */
  path: string;
  /** How it went. */
  outcome: RestoreOutcome;
  /** The turns' changes that were taken back or put again, in the order in which that was done. Empty unless it is done. */
  steps?: RestoreStep[];
}

/** Parameters of `azimuth/review/auto`. */
export interface ReviewAutoParams {
  /** The session. */
  sessionId: SessionId;
  /** Whether edits are accepted as they come, from now on. */
  on: boolean;
  /** For how long. Switched off for a session, it is off in it even where it is on for the project. */
  scope?: AutoScope;
}

/** Parameters of `azimuth/review/change`: the user wants another text than the one proposed. */
export interface ReviewChangeParams {
  /** The session. */
  sessionId: SessionId;
  /** The proposal. */
  proposalId: ProposalId;
  /** Its revision as the user saw it. */
  revision: number;
  /** The text that is to be proposed in its place. Nothing is accepted by it. */
  text: string;
}

/** Parameters of `azimuth/review/comment`: the user says something of a hunk, which is not decided by it. The model is told at its next request, or with the next prompt. */
export interface ReviewCommentParams {
  /** The session. */
  sessionId: SessionId;
  /** The proposal. */
  proposalId: ProposalId;
  /** The hunk. */
  hunkId: HunkId;
  /** What is said of it. Not empty. */
  text: string;
}

/** Parameters of `azimuth/review/decide`. */
export interface ReviewDecideParams {
  /** The session. */
  sessionId: SessionId;
  /** Accept or reject. */
  decision: Decision;
  /** A file each, whole or in hunks. All proposals that the user saw, for "all". */
  targets: DecisionTarget[];
  /** A word to the model. */
  message?: string;
}

/** Parameters of `azimuth/review/list`. */
export interface ReviewListParams {
  /** The session. */
  sessionId: SessionId;
}

/** Result of `azimuth/review/list` and `azimuth/review/decide`. */
export interface ReviewResult {
  /** The proposals that still have undecided hunks; after `decide`, also those that it decided. */
  proposals: Proposal[];
}

/** Parameters of `azimuth/review/text`. */
export interface ReviewTextParams {
  /** The session. */
  sessionId: SessionId;
  /** The proposal. */
  proposalId: ProposalId;
}

/** How a rule decides. */
export type RuleEffect =
  /** What it fits runs without a question. */
  | 'allow'
  /** What it fits is asked. */
  | 'ask'
  /** What it fits is refused. */
  | 'deny';

/** A permission rule in force. */
export interface RuleInfo {
  /** The rule as written: `Shell(cargo test:*)`. */
  rule: string;
  /** How it decides. */
  effect: RuleEffect;
  /** Where it comes from. */
  origin: RuleOrigin;
  /** Where it comes from, in words: `your config.toml`. */
  source: string;
  /** What it covers, in words. */
  covers: string;
  /** Whether `azimuth/permission/revoke` takes it away. Others are changed where they are written. */
  revocable: boolean;
  /** Why it does not count just now, if so: an allow rule of a project that is not trusted. */
  void?: string;
}

/** Where a rule comes from. */
export type RuleOrigin =
  /** The user's own configuration, or what the editor was started with. */
  | 'user'
  /** A file of the project's, or settings that an editor read out of it. */
  | 'project'
  /** Granted by an answer "always", for the project. */
  | 'granted'
  /** Granted by an answer, for the session. */
  | 'session';

/** What runs in a shell. */
export interface RunningCommand {
  /** The call that started it, or the id of the user's own command. */
  toolCallId: ToolCallId;
  /** The command line. */
  command: string;
  /** When it began. */
  startedAt: number;
}

/** What commands may do to the machine. */
export type SandboxMode =
  /** Read the workspace, the system and toolchains; write nothing but temporary files. */
  | 'read_only'
  /** As `read_only`, and write in the workspace, temporary folders and package caches. */
  | 'workspace_write'
  /** Whatever the user may do: no sandbox. */
  | 'full';

/** When a file was looked at. */
export type SeenOccasion =
  /** An accepted edit is about to delete it. */
  | 'deletion'
  /** It was saved in the editor, after an edit had made it to which another file is still to be moved. */
  | 'save'
  /** The session was opened by another process, and the file is not as it was left. */
  | 'restart';

/** An event with its place in the session. */
export interface SequencedEvent {
  /** Its number in the session: 1, 2, 3, … without gaps. */
  seq: number;
  /** When it happened. */
  at: number;
  /** What happened. */
  event: Event;
}

/** How it stands with a language server. */
export interface ServerInfo {
  /** Its name. */
  name: string;
  /** The folder of the project that it is for, as a URI. */
  root: string;
  /** What it does. */
  state: ServerState;
  /** Its version, if it has said one. */
  version?: string;
  /** The path of its program, if that is there. */
  program?: string;
  /** The id of its process, while it runs. */
  pid?: number;
  /** The memory that it and all that it started hold, in bytes; absent where that cannot be known. */
  memoryBytes?: number;
  /** More about its state, for people. */
  why?: string;
}

/** What a language server does. */
export type ServerState =
  /** It is there, and starts with the first question. */
  | 'notStarted'
  /** The project brings it along, and the user has not allowed it as it is now. */
  | 'notAllowed'
  /** The project is of its kind, but its program was not found. */
  | 'missing'
  /** It has not yet said what it can. */
  | 'starting'
  /** It reads the project. */
  | 'indexing'
  /** It answers. */
  | 'ready'
  /** It ended by itself, or was ended since it did harm; it starts anew a while later. */
  | 'crashed'
  /** It was ended since it was not needed, or not wanted; it starts anew with the next question. */
  | 'stopped';

/** Parameters of `azimuth/servers/changed`. */
export type ServersChangedParams = Record<string, never>;

/** Parameters of `azimuth/servers/list`. */
export type ServersListParams = Record<string, never>;

/** Result of `azimuth/servers/list`. */
export interface ServersListResult {
  /** The servers for the client's workspace folders, by root and name: those that run or ran, and those that the folders are of the kind for. */
  servers: ServerInfo[];
  /** What is wrong with the configuration files of servers, for people. */
  problems: string[];
}

/** Parameters of `azimuth/servers/restart`. */
export interface ServersRestartParams {
  /** The server, by its name; all of the client's workspace folders without it. */
  name?: string;
}

/** Result of `azimuth/servers/restart`. */
export interface ServersRestartResult {
  /** How many were ended. They start anew with the next question. */
  restarted: number;
}

/** Parameters of `azimuth/session/close`: the client no longer follows the session. A running turn goes on. */
export interface SessionCloseParams {
  /** The session. */
  sessionId: SessionId;
}

/** Parameters of `azimuth/session/delete`. A running turn is cancelled first. */
export interface SessionDeleteParams {
  /** The session. */
  sessionId: SessionId;
}

/** A session: one conversation with all that happened in it. Six hexadecimal digits. */
export type SessionId = string;

/** A session in a list. */
export interface SessionInfo {
  /** The session. */
  sessionId: SessionId;
  /** Its title; empty before the first prompt. */
  title: string;
  /** The workspace folders it works in, as URIs. The first one is where commands start. */
  folders: string[];
  /** The mode of its next turn. */
  mode: Mode;
  /** When it was made. */
  createdAt: number;
  /** When something last happened in it. */
  updatedAt: number;
  /** The number of its last event; 0 before the first. */
  lastSeq: number;
  /** Tokens of all turns. */
  usage: Usage;
  /** Cost of all turns in US dollars. */
  cost: number;
  /** The model's id, if one is chosen. */
  model?: string;
}

/** Parameters of `azimuth/session/list`. */
export interface SessionListParams {
  /** Only sessions of this folder (a URI); without it, those of the client's workspace folders. */
  folder?: string;
  /** Sessions of every folder. */
  everywhere?: boolean;
  /** Only sessions with this text in their title, whatever its case. */
  query?: string;
  /** At most this many, 1 to 1000; 100 without it. */
  limit?: number;
}

/** Result of `azimuth/session/list`. */
export interface SessionListResult {
  /** The sessions, the last used first. */
  sessions: SessionInfo[];
}

/** Parameters of `azimuth/session/mode`: the mode of the session's next turns. */
export interface SessionModeParams {
  /** The session. */
  sessionId: SessionId;
  /** The mode. */
  mode: Mode;
  /** Whether the user has confirmed it, told what it means. `bypass` is refused without; the error's message says what it means, for the user to read. */
  confirmed?: boolean;
}

/** Parameters of `azimuth/session/new`. */
export interface SessionNewParams {
  /** The folders to work in, as URIs; without them, the client's workspace folders. */
  folders?: string[];
  /** The model's id; without it, the default. */
  model?: string;
  /** The mode; without it, `agent`. */
  mode?: Mode;
}

/** Result of `azimuth/session/new`. The client is attached to the session: its events follow as `azimuth/event`. */
export interface SessionNewResult {
  /** The session. */
  session: SessionInfo;
}

/** Parameters of `azimuth/session/open`. */
export interface SessionOpenParams {
  /** The session. */
  sessionId: SessionId;
  /** The number of the last event the client has; 0 for all. */
  since?: number;
}

/** Result of `azimuth/session/open`. The client is attached: later events follow as `azimuth/event`. */
export interface SessionOpenResult {
  /** The session. */
  session: SessionInfo;
  /** The events after `since`, in order. */
  events: SequencedEvent[];
  /** The prompts that wait, first to go first. */
  queue: QueueId[];
  /** The turn that runs, if one does. */
  runningTurn?: TurnId;
}

/** Parameters of `azimuth/session/rename`. */
export interface SessionRenameParams {
  /** The session. */
  sessionId: SessionId;
  /** The new title, one line, not empty. */
  title: string;
}

/** What a fact about the workspace is about. */
export type SetupAbout =
  /** The session's model, or else that of new sessions. */
  | 'model'
  /** Whether the workspace is trusted. */
  | 'trust'
  /** The project's rules for agents. */
  | 'rules'
  /** Language servers of our own. */
  | 'servers';

/** How the workspace is set up, in one respect. */
export interface SetupFact {
  /** What it is about, so that a client can offer to see to it. */
  about: SetupAbout;
  /** Whether that is well. */
  state: SetupState;
  /** How it is, for people; one line. */
  text: string;
}

/** Whether a fact about the workspace is well. */
export type SetupState =
  /** It is there, and works. */
  | 'inOrder'
  /** Something is missing that the user could mend. */
  | 'lacks'
  /** It is good to know, and neither. */
  | 'neutral';

/** How grave a notice is. */
export type Severity =
  /** Good to know. */
  | 'info'
  /** Something may not be as expected. */
  | 'warning'
  /** Something failed. */
  | 'error';

/** What a model is asked for outside a turn. */
export type SideRole =
  /** The session's title. */
  | 'title';

/** Why a turn ended. The first five are ACP's. */
export type StopReason =
  /** The model was done. */
  | 'end_turn'
  /** The answer reached the model's longest length. */
  | 'max_tokens'
  /** The turn reached its limit of rounds, or went in circles; it asks whether to go on. */
  | 'max_turn_requests'
  /** The model would not answer. */
  | 'refusal'
  /** The user cancelled it. */
  | 'cancelled'
  /** Something failed; `error` says what, and what to do. */
  | 'error'
  /** The server ended, or the client that started the turn left. It can be gone on with. */
  | 'interrupted';

/** Parameters of `azimuth/terminal/ack`: how far a client has come with a terminal's output. */
export interface TerminalAckParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** The offset after the last byte that it has shown. */
  offset: number;
}

/** Parameters of `azimuth/terminal/close`: no longer follow a terminal. What runs in it goes on. */
export interface TerminalCloseParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
}

/** A pseudo-terminal. */
export type TerminalId = string;

/** A terminal, as it is. */
export interface TerminalInfo {
  /** The terminal. */
  terminalId: TerminalId;
  /** What it is for. */
  kind: TerminalKind;
  /** For people: `shell`, or a job's command line. */
  title: string;
  /** The folder that it is in, or began in. */
  cwd: string;
  /** What its commands may do to the machine. */
  sandbox: SandboxMode;
  /** Whether its process lives. */
  alive: boolean;
  /** Whether the user has taken it over: the model cannot type into it until it is handed back. */
  taken: boolean;
  /** When it began. */
  startedAt: number;
  /** The offset after its last byte of output. */
  end: number;
  /** What runs in it. */
  running?: RunningCommand;
  /** Whether that waits for input. */
  waiting?: Waiting;
  /** For a job: what shows that it is up. */
  ready?: Ready;
  /** When it ended. */
  endedAt?: number;
  /** For a job that ended: its exit code; absent where it was killed. */
  exitCode?: number;
}

/** Parameters of `azimuth/terminal/kill`: end what runs in a terminal. */
export interface TerminalKillParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
}

/** What a terminal is for. */
export type TerminalKind =
  /** The session's shell, in which commands run one after the other. */
  | 'shell'
  /** The session's second shell, outside the sandbox. */
  | 'outside'
  /** A command in the background. */
  | 'job';

/** Parameters of `azimuth/terminal/list`. */
export interface TerminalListParams {
  /** The session. */
  sessionId: SessionId;
}

/** Result of `azimuth/terminal/list`. */
export interface TerminalListResult {
  /** The terminals: the shell first, then jobs, the oldest first. Jobs that ended stay until the session's host ends. */
  terminals: TerminalInfo[];
}

/** Parameters of `azimuth/terminal/open`: start to follow a terminal's output. */
export interface TerminalOpenParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal; without it, the session's shell, which is started if need be. */
  terminalId?: TerminalId;
  /** The offset to begin at, in bytes since the terminal's start. 0 gives all that is kept. */
  since?: number;
  /** The size of the view. */
  size?: TerminalSize;
  /** Whether the client says with `azimuth/terminal/ack` how far it has come. It is then sent at most 256 KiB ahead of that. */
  acknowledges?: boolean;
}

/** Result of `azimuth/terminal/open`. The bytes follow as `azimuth/terminal/output`. */
export interface TerminalOpenResult {
  /** The terminal. */
  terminalId: TerminalId;
  /** The offset of the first byte that will come. Larger than asked where older bytes are no longer kept. */
  since: number;
  /** Whether the terminal's process lives. */
  alive: boolean;
}

/** Parameters of the notification `azimuth/terminal/output`. */
export interface TerminalOutputParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** The offset of the first byte. */
  offset: number;
  /** The bytes, in base64. */
  data: string;
}

/** Parameters of `azimuth/terminal/resize`. */
export interface TerminalResizeParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** The new size. */
  size: TerminalSize;
}

/** A signal that can be sent to what runs in a terminal. */
export type TerminalSignal =
  /** SIGINT, as Ctrl-C sends it. */
  | 'interrupt'
  /** SIGQUIT, as Ctrl-\\ sends it. */
  | 'quit'
  /** SIGHUP. */
  | 'hangup'
  /** SIGTERM. */
  | 'terminate'
  /** SIGTSTP, as Ctrl-Z sends it. */
  | 'stop'
  /** SIGCONT. */
  | 'continue'
  /** SIGKILL. */
  | 'kill';

/** Parameters of `azimuth/terminal/signal`: send a signal to what runs in a terminal. */
export interface TerminalSignalParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** The signal. */
  signal: TerminalSignal;
}

/** A terminal's size in cells. */
export interface TerminalSize {
  /** Columns, 1 to 1000. */
  columns: number;
  /** Rows, 1 to 1000. */
  rows: number;
}

/** Parameters of `azimuth/terminal/take`: take a terminal over, so that only the user types into it and no time runs out meanwhile, or hand it back. Twice is harmless. */
export interface TerminalTakeParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** Whether it is taken over; false hands it back. */
  taken: boolean;
}

/** Parameters of `azimuth/terminal/write`: type into a terminal. */
export interface TerminalWriteParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** The bytes, in base64. */
  data: string;
}

/** One call of a tool. It is the vendor's id where the vendor gives one. */
export type ToolCallId = string;

/** What kind of thing a tool does; ACP's tool kinds. */
export type ToolKind =
  /** Reads files or other data. */
  | 'read'
  /** Changes files. */
  | 'edit'
  /** Deletes files. */
  | 'delete'
  /** Moves files. */
  | 'move'
  /** Searches. */
  | 'search'
  /** Runs commands. */
  | 'execute'
  /** Reasons. */
  | 'think'
  /** Fetches from outside. */
  | 'fetch'
  /** Anything else. */
  | 'other';

/** What a tool call came to. Every tool call has exactly one. */
export interface ToolResult {
  /** The call. */
  toolCallId: ToolCallId;
  /** What the model reads, bounded. */
  text: string;
  /** Whether the call failed. */
  isError: boolean;
}

/** Parameters of `azimuth/turn/cancel`. */
export interface TurnCancelParams {
  /** The session. */
  sessionId: SessionId;
  /** Only if this turn runs; without it, whichever does. */
  turnId?: TurnId;
}

/** Result of `azimuth/turn/cancel`. */
export interface TurnCancelResult {
  /** Whether a turn was running, or else a command of the user's own. Its end follows as an event. */
  cancelled: boolean;
}

/** One prompt turn of a session. */
export type TurnId = string;

/** Parameters of `azimuth/turn/queue`: a prompt for after the running turn, or one taken back. */
export type TurnQueueParams =
  | TurnQueueParamsAdd
  | TurnQueueParamsRemove;

/** Put a prompt at the queue's end. With no turn running it starts at once. */
export interface TurnQueueParamsAdd {
  type: 'add';
  /** The session. */
  sessionId: SessionId;
  /** The prompt. */
  prompt: PromptBlock[];
}

/** Take a waiting prompt back. */
export interface TurnQueueParamsRemove {
  type: 'remove';
  /** The session. */
  sessionId: SessionId;
  /** The waiting prompt. */
  queueId: QueueId;
}

/** Result of `azimuth/turn/queue`. */
export interface TurnQueueResult {
  /** The prompts that wait, first to go first. */
  queue: QueueId[];
  /** The waiting prompt that was added. */
  added?: QueueId;
}

/** Parameters of `azimuth/turn/start`. */
export interface TurnStartParams {
  /** The session. */
  sessionId: SessionId;
  /** The prompt. Empty to go on after a turn was interrupted or failed. One text that begins with `!` is a command of the user's own. */
  prompt: PromptBlock[];
  /** The mode of this turn and the next ones; without it, the session's. */
  mode?: Mode;
}

/** Result of `azimuth/turn/start`: an answer at once. What the turn does comes as events. */
export interface TurnStartResult {
  /** The turn; absent where the prompt held only slash commands, or was a command of the user's own (`!command`). What came of those are events. */
  turnId?: TurnId;
  /** Where the client should go on, after `/new` or `/resume`. */
  switchTo?: SessionId;
}

/** Parameters of `azimuth/turn/steer`: a word to the running turn, heard at its next request to the model. */
export interface TurnSteerParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn the user means. Another one, or none, running is the error `wrongTurn`. */
  expectedTurnId: TurnId;
  /** What to say. */
  prompt: PromptBlock[];
}

/** Who typed. */
export type Typist =
  /** The user. */
  | 'user'
  /** The model. */
  | 'model';

/** Tokens used, each kind counted once: `input` leaves out what the cache served or stored. */
export interface Usage {
  /** Input tokens billed in full. */
  input: number;
  /** Output tokens, thinking included. */
  output: number;
  /** Input tokens read from the vendor's cache. */
  cacheRead: number;
  /** Input tokens written to the vendor's cache. */
  cacheWrite: number;
}

/** A command that waits for input. */
export interface Waiting {
  /** How sure that is. */
  certainty: Certainty;
  /** What it asks: the last line that it printed, which may be empty. */
  prompt: string;
  /** Whether what is typed is not shown, as with a password. It is for the user then, and never kept. */
  hidden: boolean;
}

/** Parameters of `azimuth/workspace/trust`: whether what a folder supplies may run, and what it allows counts. */
export interface WorkspaceTrustParams {
  /** The folder, as a URI; without it, the client's workspace folders. */
  folder?: string;
  /** What the user says; without it, nothing is changed. */
  trusted?: boolean;
  /** Whether it is the editor's own trust, which counts while the editor is connected and is not kept. */
  byEditor?: boolean;
}

/** Result of `azimuth/workspace/trust`. */
export interface WorkspaceTrustResult {
  /** Whether the folder, or all of them, is trusted now. */
  trusted: boolean;
  /** Whether that was said by the user or the editor. Where it was not, the first turn asks. */
  decided: boolean;
}
