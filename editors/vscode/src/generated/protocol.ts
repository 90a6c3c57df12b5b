// Generated from the Rust crate `protocol` by `cargo run -p xtask -- codegen`. Do not edit.

/** Requests from client to server, by method. */
export interface Requests {
  /**
   * Creates a session and attaches the client to it.
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
   * Searches the titles, prompts and answers of sessions. Any text is a valid query.
   *
   * Errors: `storeFailed`.
   */
  'azimuth/session/search': { params: SessionSearchParams; result: SessionSearchResult };
  /**
   * Opens a session, attaches the client to it, and returns its events after a number.
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
   * Renames a session.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/rename': { params: SessionRenameParams; result: Done };
  /**
   * Makes a session that was started by `azimuth/inline/instruct` a chat with all tools, to go on there.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/promote': { params: SessionPromoteParams; result: Done };
  /**
   * Sets the mode of a session's next turns. `bypass` needs a confirmation.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/mode': { params: SessionModeParams; result: Done };
  /**
   * Deletes a session and everything that belongs to it. This cannot be undone.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/session/delete': { params: SessionDeleteParams; result: Done };
  /**
   * Returns a session as a page or as JSON lines, without its secrets. It need not be open.
   *
   * Errors: `notFound`, `operationFailed`, `storeFailed`.
   */
  'azimuth/session/export': { params: SessionExportParams; result: SessionExportResult };
  /**
   * Starts a turn. Answers at once with the turn's id; the rest are events.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/start': { params: TurnStartParams; result: TurnStartResult };
  /**
   * Sends a message to the running turn.
   *
   * Errors: `notFound`, `wrongTurn`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/steer': { params: TurnSteerParams; result: Done };
  /**
   * Adds a prompt to the queue or in the place of what runs, takes one back, or moves it.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/queue': { params: TurnQueueParams; result: TurnQueueResult };
  /**
   * Sets the steps of the model's plan. The model is told with its next request.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/plan': { params: TurnPlanParams; result: Done };
  /**
   * Cancels the running turn.
   *
   * Errors: `notFound`, `wrongTurn`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/cancel': { params: TurnCancelParams; result: TurnCancelResult };
  /**
   * Tries a request to the model again now, if the running turn waits before it does so by itself.
   *
   * Errors: `notFound`, `wrongTurn`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/turn/retry': { params: TurnRetryParams; result: TurnRetryResult };
  /**
   * Answers a question for permission.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/permission/answer': { params: PermissionAnswerParams; result: PermissionAnswerResult };
  /**
   * Lists the permission rules in force, with their sources.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/permission/list': { params: PermissionListParams; result: PermissionListResult };
  /**
   * Revokes a rule that was granted.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/permission/revoke': { params: PermissionRevokeParams; result: Done };
  /**
   * Returns the trust in a folder, or changes it.
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
   * Returns a file before and after its pending hunks, for a comparison.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/text': { params: ReviewTextParams; result: ProposedText };
  /**
   * Replaces the proposed text of a file with the user's. It accepts nothing.
   *
   * Errors: `notFound`, `staleReview`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/change': { params: ReviewChangeParams; result: ReviewResult };
  /**
   * Sends a comment on a hunk to the model. It decides nothing.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/comment': { params: ReviewCommentParams; result: ReviewResult };
  /**
   * Switches automatic accepting of edits on or off: in the session until the server ends, or in its project permanently. The edits can be undone.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/review/auto': { params: ReviewAutoParams; result: Done };
  /**
   * Lists the turns that changed files, with their changes and the current status of each file.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/list': { params: CheckpointListParams; result: CheckpointListResult };
  /**
   * Returns what undoing or redoing a turn would do to each file. It changes nothing.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/preview': { params: CheckpointPreviewParams; result: CheckpointPreviewResult };
  /**
   * Undoes what a turn did to files, or what all turns from a message on did. A file that was changed since is left and named, unless it is confirmed. Undecided hunks of these turns are rejected. The same call twice is harmless.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/undo': { params: CheckpointRestoreParams; result: CheckpointRestoreResult };
  /**
   * Redoes what was undone, by the same rules.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/checkpoint/redo': { params: CheckpointRestoreParams; result: CheckpointRestoreResult };
  /**
   * Replaces what a model wrote of a handover. The model reads the new text from the next request on.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/compaction/correct': { params: CompactionCorrectParams; result: Done };
  /**
   * Takes a handover back: from the next request on the model sees the replaced messages again.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/compaction/undo': { params: CompactionUndoParams; result: Done };
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
   * Ends the command in a terminal.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/kill': { params: TerminalKillParams; result: Done };
  /**
   * Sends a signal to the command in a terminal.
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
   * Acknowledges a terminal's output.
   *
   * Errors: `notFound`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/terminal/ack': { params: TerminalAckParams; result: Done };
  /**
   * Stops following a terminal's output.
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
  /** Lists the roles of models, with what each comes to now, and why. */
  'azimuth/model/roles': { params: ModelRolesParams; result: ModelRolesResult };
  /**
   * Picks a model for a role, until Azimuth ends or for good. It counts in all conversations of this process; one for plans does not count in those in which a model was chosen.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/model/pick': { params: ModelPickParams; result: ModelPickResult };
  /**
   * Lists Azimuth's own language servers for the client's workspace folders, with their status. Servers that the editor runs are not among them.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/servers/list': { params: ServersListParams; result: ServersListResult };
  /**
   * Restarts Azimuth's own language servers with the next question, and reads their configuration files again.
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
   * Returns what the user has typed in earlier sessions, the last first.
   *
   * Errors: `storeFailed`.
   */
  'azimuth/prompt/history': { params: PromptHistoryParams; result: PromptHistoryResult };
  /**
   * Returns what an empty chat offers: the setup of the client's workspace, and prompts to try for a document.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/prompt/beginnings': { params: PromptBeginningsParams; result: PromptBeginningsResult };
  /** Returns suggestions of text at the cursor. The answer is empty, with the reason, if there is nothing to show; it is never for another text than the one that the server has when it answers. */
  'azimuth/inline/complete': { params: InlineCompleteParams; result: InlineCompleteResult };
  /** Returns the next edit: how the text goes on to change after what the user has just changed. The answer is empty, with the reason, if there is nothing to show. The edit is kept in step with what is typed; see `azimuth/inline/changed`. */
  'azimuth/inline/edit': { params: InlineEditParams; result: InlineEditResult };
  /**
   * Accepts a suggested edit, or some of its hunks.
   *
   * Errors: `notFound`, `staleReview`, `operationFailed`.
   */
  'azimuth/inline/accept': { params: InlineAcceptParams; result: InlineAcceptResult };
  /**
   * Has a model change what is selected as the user says ("change this"). Its changes are proposals.
   *
   * Errors: `notFound`, `turnRunning`, `sessionLocked`, `storeFailed`, `operationFailed`.
   */
  'azimuth/inline/instruct': { params: InlineInstructParams; result: InlineInstructResult };
  /** Tells what became of a suggestion. It can be sent as a notification too. */
  'azimuth/inline/feedback': { params: InlineFeedbackParams; result: Done };
  /** Returns the last decisions on suggestions: the rules that kept them back or changed them. */
  'azimuth/inline/explain': { params: InlineExplainParams; result: InlineExplainResult };
  /**
   * Returns how suggestions fare: numbers by model, which are kept on this machine only.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/inline/counts': { params: InlineCountsParams; result: InlineCountsResult };
  /**
   * Returns the costs of a session, of today and of all sessions, the budgets, and what vendors said of their limits.
   *
   * Errors: `storeFailed`.
   */
  'azimuth/costs/show': { params: CostsShowParams; result: CostsShowResult };
  /**
   * Returns the cost of today and of all time only. A client asks for it when the cost of a session has changed.
   *
   * Errors: `storeFailed`.
   */
  'azimuth/costs/sums': { params: CostsSumsParams; result: CostsSumsResult };
  /**
   * Lists the accounts that Azimuth keeps, the providers that can be signed in to, and the source of each key.
   *
   * Errors: `operationFailed`.
   */
  'azimuth/auth/list': { params: AuthListParams; result: AuthListResult };
  /**
   * Begins to sign in to a provider: the client shows the page, and the code if there is one. The client's sign-in that has begun before ends.
   *
   * Errors: `notFound`, `operationFailed`.
   */
  'azimuth/auth/login': { params: AuthLoginParams; result: AuthLoginResult };
  /**
   * Waits until a sign-in is done. The answer comes when the user has signed in or refused, after ten minutes, or when the sign-in is cancelled.
   *
   * Errors: `notFound`, `operationFailed`.
   */
  'azimuth/auth/wait': { params: AuthWaitParams; result: AuthWaitResult };
  /**
   * Ends a sign-in by the address that the browser ended at. If that is of another page, the sign-in goes on.
   *
   * Errors: `notFound`, `operationFailed`.
   */
  'azimuth/auth/paste': { params: AuthPasteParams; result: Done };
  /** Cancels a sign-in. Nothing is kept. */
  'azimuth/auth/cancel': { params: AuthCancelParams; result: Done };
  /**
   * Keeps an API key as an account, in the file of accounts. The key is in no log and no answer. A key that its vendor refuses is kept only with `unchecked`, which the user has to confirm.
   *
   * Errors: `notFound`, `operationFailed`, `notConfirmed`.
   */
  'azimuth/auth/keep': { params: AuthKeepParams; result: AuthKeepResult };
  /**
   * Forgets the accounts of a provider, or one of them, and tells the vendor that the sign-in has ended.
   *
   * Errors: `notFound`, `operationFailed`.
   */
  'azimuth/auth/logout': { params: AuthLogoutParams; result: AuthLogoutResult };
}

/** Requests from server to client, by method. */
export interface ClientRequests {
  /** Saves a document, including everything that the editor does on save. Needs the capability `save`. */
  'azimuth/editor/save': { params: EditorDocumentParams; result: EditorSaveResult };
  /** Returns a document's text in the editor. Needs the capability `text`. */
  'azimuth/editor/text': { params: EditorDocumentParams; result: EditorTextResult };
  /** Returns the text of a document, formatted by the editor or one of its language servers. Needs the capability `format`. */
  'azimuth/editor/format': { params: EditorFormatParams; result: EditorFormatResult };
  /** Passes a question about code to the language servers that the editor runs, never to this one, and returns their answer. It changes nothing. Needs the capability `query`. */
  'azimuth/editor/query': { params: EditorQueryParams; result: LangResult };
}

/** Notifications from server to client, by method. */
export interface Notifications {
  /** Something happened in a session that the client is attached to. */
  'azimuth/event': { params: EventParams };
  /** Bytes of a terminal that the client follows. */
  'azimuth/terminal/output': { params: TerminalOutputParams };
  /** The state of one of Azimuth's own language servers changed; `azimuth/servers/list` returns it. Sent at most twice a second, to a client that has used one of Azimuth's methods. */
  'azimuth/servers/changed': { params: ServersChangedParams };
  /** A provider that took its time has listed its models by now, or one was added or removed in a chat; `azimuth/model/list` returns the models. Sent to a client that has used one of Azimuth's methods. */
  'azimuth/model/changed': { params: ModelsChangedParams };
  /** The user has chosen a code action that starts a workflow; its prompt is for the visible chat. Sent to a client with the capability `panel`; other clients get it in a chat document. */
  'azimuth/prompt/put': { params: PromptPutParams };
  /** The state of suggestions where the user types; until the first of these it is `off`. Sent when it changes, to a client that has a panel or has used one of Azimuth's methods. */
  'azimuth/inline/status': { params: InlineStatusParams };
  /** A suggested edit is another one, or none, since the document has changed. */
  'azimuth/inline/changed': { params: InlineChangedParams };
}

/** The numbers of errors, by name. */
export const errorCodes = {
  /** The message is not JSON. */
  parseError: -32700,
  /** The JSON is not a request. */
  invalidRequest: -32600,
  /** There is no such method. */
  methodNotFound: -32601,
  /** The parameters are invalid; the message names the field. */
  invalidParams: -32602,
  /** A bug in the server, which continues. */
  internalError: -32603,
  /** A request came before `initialize` was answered. */
  serverNotInitialized: -32002,
  /** The client cancelled the request. */
  requestCancelled: -32800,
  /** There is no such session, turn, proposal, hunk, terminal, question or model. */
  notFound: -32010,
  /** The review has changed; `data.proposals` has the current proposals. */
  staleReview: -32011,
  /** The named turn is not the running one; `data.turnId` is the running one, or null. */
  wrongTurn: -32012,
  /** A turn is running in the session: steer it, queue the prompt, or cancel it. */
  turnRunning: -32013,
  /** Another process has the session open and cannot be reached; the message says which. */
  sessionLocked: -32014,
  /** The session's data could not be read or written; the message says why. */
  storeFailed: -32015,
  /** The operation could not be done; the message says why and what to do. */
  operationFailed: -32016,
  /** The user has to confirm it: show them the message, which explains it, and send the request again with `confirmed`. */
  notConfirmed: -32017,
} as const;

/** The name of an error. */
export type ErrorName = keyof typeof errorCodes;

/** The events that people see nothing of. */
export type UnseenEvent = Extract<Event, { type: 'fileSeen' | 'purposeChanged' }>;

/** The events that say in their own words, in `severity` and `text`, all that people see of them. */
export type SpokenEvent = Extract<Event, { type: 'notice' }>;

/** The reasons that `turnEnded` says as a whole in its `error`, so that no words are added. */
export const saidByError: readonly StopReason[] = ['max_tokens', 'refusal'];

/** A key or a sign-in that is kept for a provider. */
export interface Account {
  /** The provider, such as `chatgpt`. */
  provider: string;
  /** The user's name for the account, which tells it from others at the provider. */
  label: string;
  /** The server that it is for: scheme, host and port. */
  server: string;
  /** Its kind. */
  kind: AccountKind;
  /** True if the vendor has ended the sign-in, so that the user has to sign in again. */
  ended: boolean;
  /** The account at the vendor, such as an e-mail address, if the vendor says it. */
  name?: string;
}

/** The kind of an account. */
export type AccountKind =
  /** An API key. */
  | 'key'
  /** A sign-in. */
  | 'signIn';

/** Another key or account at the same provider that is used instead of one. */
export interface AccountSwitch {
  /** Its name, by which the user knows it: a variable, or the name of an account. */
  name: string;
  /** The name of the one before. */
  insteadOf: string;
}

/** The activity in sessions. */
export interface Activity {
  /** The number of the user's prompts, with those to a running turn. In sessions that a session started, there are none. */
  prompts: number;
  /** The number of turns, with those that continued an earlier one. */
  turns: number;
  /** The number of requests of turns to models whose tokens are known. */
  requests: number;
  /** The calls of tools, the tool that was called most first. */
  tools: ToolCalls[];
  /** The speed of models, the one with most answers first. Answers of older versions of Azimuth were not measured. */
  speeds: ModelSpeed[];
}

/** The outcome of applying an edit. */
export type ApplyOutcome =
  | ApplyOutcomeVerified
  | ApplyOutcomeUnverified
  | ApplyOutcomeFailed;

/** The expected text was seen. */
export interface ApplyOutcomeVerified {
  type: 'verified';
}

/** The client agreed, but did not show the text in time. */
export interface ApplyOutcomeUnverified {
  type: 'unverified';
}

/** Nothing was changed. */
export interface ApplyOutcomeFailed {
  type: 'failed';
  /** The reason. */
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
  /** The data that the vendor wants back unchanged (a signature, a phase). Opaque. */
  vendor?: unknown;
}

/** The model's thinking. */
export interface AssistantBlockThinking {
  type: 'thinking';
  /** The part that may be shown; it can be empty if the vendor hides it. */
  text: string;
  /** The data that the vendor wants back unchanged (signature, encrypted content). Opaque. */
  vendor?: unknown;
}

/** A call of a tool. */
export interface AssistantBlockToolCall {
  type: 'toolCall';
  /** The call. */
  id: ToolCallId;
  /** The tool. */
  name: string;
  /** Its input, an object. */
  input: unknown;
  /** The data that the vendor wants back unchanged (a signature, its own id). Opaque. */
  vendor?: unknown;
}

/** Parameters of `azimuth/auth/cancel`. */
export interface AuthCancelParams {
  /** The sign-in. It is harmless if it has ended. */
  loginId: number;
}

/** Parameters of `azimuth/auth/keep`. */
export interface AuthKeepParams {
  /** The provider, such as `openai`. */
  provider: string;
  /** The API key. It goes into the file of accounts, and to its vendor. */
  key: string;
  /** The user's name for the account; `default` without one. An account of this name is replaced. */
  label?: string;
  /** True if the vendor is not asked about the key first, as after its refusal. */
  unchecked?: boolean;
}

/** Result of `azimuth/auth/keep`. */
export interface AuthKeepResult {
  /** The account that is kept now. */
  account: Account;
  /** The source that counts instead, to be shown: a key of the settings or the environment; absent if it is used. */
  unusedBecause?: string;
  /** The finding about the key; absent if the vendor was not asked. A key that it refuses is not kept. */
  check?: KeyCheck;
}

/** Parameters of `azimuth/auth/list`. */
export type AuthListParams = Record<string, never>;

/** Result of `azimuth/auth/list`. */
export interface AuthListResult {
  /** The accounts. Of several at one provider, the first that can be used counts, and other keys stand in for a key that rests. */
  accounts: Account[];
  /** The providers that can be signed in to. */
  providers: SignInProvider[];
  /** The source of the key of each provider that has one, as `azimuth auth status` tells it. */
  keys: KeyStatus[];
  /** The providers for which a key can be kept, by their names. */
  keyProviders: KeyProvider[];
}

/** Parameters of `azimuth/auth/login`. */
export interface AuthLoginParams {
  /** The provider, such as `chatgpt`. */
  provider: string;
  /** The way. */
  way: SignInWay;
  /** The user's name for the account; `default` without one. An account of this name is replaced. */
  label?: string;
}

/** Result of `azimuth/auth/login`. */
export interface AuthLoginResult {
  /** The number of the sign-in, for what follows. */
  loginId: number;
  /** The page that the user opens. */
  url: string;
  /** The code that the user types there, if the way is `device`. */
  userCode?: string;
  /** The beginning of the address that the browser ends at, which can be pasted; absent if the way is `device`. */
  redirect?: string;
}

/** Parameters of `azimuth/auth/logout`. */
export interface AuthLogoutParams {
  /** The provider. */
  provider: string;
  /** The account's name; every account of the provider without one. */
  label?: string;
}

/** Result of `azimuth/auth/logout`. */
export interface AuthLogoutResult {
  /** The accounts that were forgotten. */
  removed: RemovedAccount[];
}

/** Parameters of `azimuth/auth/paste`. */
export interface AuthPasteParams {
  /** The sign-in. */
  loginId: number;
  /** The whole address that the browser ended at. */
  address: string;
}

/** Parameters of `azimuth/auth/wait`. */
export interface AuthWaitParams {
  /** The sign-in. */
  loginId: number;
}

/** Result of `azimuth/auth/wait`. */
export interface AuthWaitResult {
  /** The account that is kept now. */
  account: Account;
}

/** The scope of automatic accepting of edits. */
export type AutoScope =
  /** This session, until the server ends. */
  | 'session'
  /** Every session of the project, permanently. It is kept in the user's data, never in the project. */
  | 'project';

/** A prompt to start with. */
export interface Beginning {
  /** A title for the user, such as `Explain main.rs`. */
  title: string;
  /** The prompt. It can be sent as it is. */
  prompt: PromptBlock[];
}

/** The most that a session may use. What is absent has no bound of its own. */
export interface Budget {
  /** Rounds in each of its turns; one at least is made. */
  rounds?: number;
  /** Tokens of all its turns together, of all kinds that are counted. */
  tokens?: number;
  /** US dollars for all its turns together. Has no effect if the price of the model is unknown. */
  cost?: number;
}

/** The requests that a budget is for. */
export type BudgetScope =
  /** Those of a session, and of the sessions that it started. */
  | 'session'
  /** Those of all sessions in a day (UTC). */
  | 'day';

/** A budget, and how much of it is spent. */
export interface BudgetStatus {
  /** The scope. */
  scope: BudgetScope;
  /** The most that may be spent before the user is asked: the setting, and what was added to it by answers. */
  limit: number;
  /** The part that is spent, as far as prices are known. */
  spent: number;
}

/** A vendor's reason why its cache did not serve a request. */
export interface CacheMiss {
  /** The first part of the request that was not what it had been in the request before. */
  changed: RequestPart;
  /** The tokens that would have been read from the cache without that, by the vendor's estimate. */
  tokens: number;
}

/** The certainty that a command waits for input. */
export type Certainty =
  /** It was seen to read from the terminal. */
  | 'certain'
  /** It has the terminal open, polls, uses no processor time, and has printed nothing for a while. */
  | 'probable';

/** A file that a command changed. */
export interface ChangedFile {
  /** The document. */
  uri: string;
  /** The file before; absent if there was none, or if `unknown` says so. */
  before?: FileImage;
  /** The file now; absent if there is none, or if `unknown` says so. */
  after?: FileImage;
  /** The reason why the file before or after is not kept, so that the change cannot be undone; absent if it can. */
  unknown?: string;
}

/** The changes of files by a turn. */
export interface Checkpoint {
  /** The turn. */
  turnId: TurnId;
  /** The files, sorted by path. */
  files: CheckpointFile[];
}

/** The changes of a file by turns, and their status. */
export interface CheckpointFile {
  /** The document. */
  uri: string;
  /** Its path relative to the workspace folder, to be shown. */
  path: string;
  /** The turns' change of the file. Undo does the reverse. */
  change: FileChange;
  /** Lines that they added. */
  added: number;
  /** Lines that they removed. */
  removed: number;
  /** Its status. */
  state: CheckpointState;
  /** The reason, if it can be neither undone nor redone as it is. */
  reason?: string;
  /** For a file that was changed since: true if the turns' changes can be undone or redone while the rest stays. If the file is confirmed, that is done; otherwise all of the file is restored. */
  merges?: boolean;
  /** The hash of its current text; absent if there is no file. It is needed to confirm the file. */
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
  /** True if there are older ones. */
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
  /** The direction to look at; undo without it. */
  direction?: Direction;
}

/** Result of `azimuth/checkpoint/preview`. */
export interface CheckpointPreviewResult {
  /** The turns, newest first. Empty if there is nothing to undo or redo. */
  turnIds: TurnId[];
  /** The files, sorted by path, each as one step over all the turns. */
  files: CheckpointFile[];
  /** The number of these turns' undecided hunks. Undo rejects them, and redo does not bring them back. */
  pendingHunks: number;
}

/** Parameters of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`. */
export interface CheckpointRestoreParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn. Without it: for undo, the last one that changed files and is not undone; for redo, those that were undone last. */
  turnId?: TurnId;
  /** Also all turns after it: back to the message that began it. */
  andLater?: boolean;
  /** The files to restore although they were changed since, each as the user saw it. */
  confirmed?: ConfirmedFile[];
}

/** Result of `azimuth/checkpoint/undo` and `azimuth/checkpoint/redo`. */
export interface CheckpointRestoreResult {
  /** The turns, newest first. Empty if there was nothing to undo or redo. */
  turnIds: TurnId[];
  /** The outcome for each file, sorted by path. */
  files: RestoredFile[];
}

/** The status of a file that turns changed. */
export type CheckpointState =
  /** As the turns left it; it can be undone. */
  | 'applied'
  /** As it was before the turns; it can be redone. */
  | 'undone'
  /** Neither: it was changed since. It is left as it is unless it is confirmed. */
  | 'changed_since'
  /** It can be neither undone nor redone, because its former text is not kept. */
  | 'not_kept'
  /** Its current text cannot be read. */
  | 'unreadable';

/** The capabilities that a client announces in `initialize`, under `capabilities.experimental.azimuth`. A client that announces none gets no `azimuth/*` message that it did not ask for. */
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

/** A handover: the text that stands for the beginning of a conversation. */
export interface Compaction {
  /** The handover. */
  compactionId: CompactionId;
  /** The reason. */
  reason: CompactionReason;
  /** The number of messages that it stands for, of those that the model saw until then: the first of them. */
  messages: number;
  /** The facts that the session's log tells, in Markdown. The words of the user are among them as they were typed. */
  facts: string;
  /** The tokens of a request before. */
  before: number;
  /** The tokens of a request after it, estimated. */
  after: number;
  /** The part that a model wrote, in Markdown: what was decided, what failed, what is next. Absent if no model did. */
  written?: string;
  /** The subject that the user asked to pay attention to. */
  focus?: string;
}

/** Parameters of `azimuth/compaction/correct`. */
export interface CompactionCorrectParams {
  /** The session. */
  sessionId: SessionId;
  /** The handover. */
  compactionId: CompactionId;
  /** The text in place of the part that a model wrote. Blank for none. */
  written: string;
}

/** A handover, which stands for the beginning of a conversation. */
export type CompactionId = string;

/** Why a conversation is compacted. */
export type CompactionReason =
  /** The user asked for it. */
  | 'asked'
  /** The context is full. */
  | 'full'
  /** The model's vendor refused a request as too long. */
  | 'refused';

/** Parameters of `azimuth/compaction/undo`. */
export interface CompactionUndoParams {
  /** The session. */
  sessionId: SessionId;
  /** The handover; absent for the last one. */
  compactionId?: CompactionId;
}

/** A completion of the prompt. */
export interface CompletionItem {
  /** Its kind. */
  kind: CompletionKind;
  /** The text to show. */
  label: string;
  /** A short description. */
  detail: string;
  /** The text that replaces the token. */
  insert: string;
  /** For a file: its URI, to be sent as a `file` block. */
  uri?: string;
}

/** The kind of a completion. */
export type CompletionKind =
  /** A slash command. */
  | 'command'
  /** A value for a slash command's argument. */
  | 'argument'
  /** A file, after `@`. */
  | 'file';

/** A file to restore although it was changed since. Its current text is kept, and `redo` brings it back. */
export interface ConfirmedFile {
  /** The document. */
  uri: string;
  /** The hash of its text as the user saw it, from `now` of the preview or the list; absent if there was no file. If the text has changed by now, the file is not confirmed. */
  now?: string;
}

/** Parameters of `azimuth/costs/show`. */
export interface CostsShowParams {
  /** The session to tell of, too. */
  sessionId?: SessionId;
  /** The number of days, today among them, that the tables are of; all time without it. */
  days?: number;
}

/** Result of `azimuth/costs/show`. Costs are in US dollars, and days are of UTC. */
export interface CostsShowResult {
  /** Today, in all sessions. */
  today: Spending;
  /** The whole time that was asked for, in all sessions. */
  total: Spending;
  /** The same by model, the one that cost most first. */
  models: SpendingRow[];
  /** The same by provider, the one that cost most first. */
  providers: SpendingRow[];
  /** The same by day, the last first. */
  days: SpendingRow[];
  /** The same by project, the one that cost most first: the first folder of each session, as a path. Sessions that were deleted are a row of their own. */
  projects: SpendingRow[];
  /** The models of requests whose cost is unknown. */
  unpriced: UnpricedModel[];
  /** The cost of suggestions while the user types, of 90 days at most. It is in no other sum. */
  suggestionsCost: number;
  /** The budgets that are set. */
  budgets: BudgetStatus[];
  /** The limits of the user's accounts as vendors last told them, for each provider that did since this server started. */
  quotas: Quota[];
  /** The session that was asked for; absent if it is not known. */
  session?: SessionCosts;
}

/** Parameters of `azimuth/costs/sums`. */
export type CostsSumsParams = Record<string, never>;

/** Result of `azimuth/costs/sums`. */
export interface CostsSumsResult {
  /** Today (UTC), such as `2026-11-21`. */
  day: string;
  /** Today, in all sessions. */
  today: Spending;
  /** All time, in all sessions. */
  total: Spending;
}

/** A decision on hunks. */
export type Decision =
  /** Put them into the document. */
  | 'accept'
  /** Drop them; the model is told. */
  | 'reject';

/** The hunks that a decision is about. */
export interface DecisionTarget {
  /** The proposal. */
  proposalId: ProposalId;
  /** Its revision as the user saw it. */
  revision: number;
  /** The hunks; without them, all that are pending. */
  hunkIds?: HunkId[];
}

/** The direction. */
export type Direction =
  /** Back to the text before. */
  | 'undo'
  /** Forward to what was undone. */
  | 'redo';

/** An empty result. */
export type Done = Record<string, never>;

/** A prompt of an earlier time. */
export interface EarlierPrompt {
  /** The text as typed. */
  text: string;
  /** The time at which it was last sent. */
  at: number;
  /** The session that it was sent in then. */
  sessionId: SessionId;
}

/** Parameters of `azimuth/editor/save` and `azimuth/editor/text`. */
export interface EditorDocumentParams {
  /** The document. */
  uri: string;
}

/** Parameters of `azimuth/editor/format`. */
export interface EditorFormatParams {
  /** The document. */
  uri: string;
  /** The version to format. If the document has another version, the result has no text. */
  version: number;
  /** The lines to format, from top to bottom, not overlapping; empty for the whole document. A formatter that cannot format a part then formats nothing. */
  lines?: LineRange[];
}

/** Result of `azimuth/editor/format`. The request changes nothing: the server applies the text like an accepted edit. */
export interface EditorFormatResult {
  /** The text of the whole document, formatted; absent if there is no formatter, or the document has another version. */
  text?: string;
  /** The formatter's name to show, such as a language server's; absent if it is unknown. */
  by?: string;
}

/** Parameters of `azimuth/editor/query`. */
export interface EditorQueryParams {
  /** The question. */
  query: LangQuery;
  /** The time that the client may take, in milliseconds. After that it answers with the status `timedOut`, or with what it has as `partial`. */
  timeoutMs: number;
}

/** Result of `azimuth/editor/save`. */
export interface EditorSaveResult {
  /** True if the document's text is on disk now. */
  saved: boolean;
}

/** Result of `azimuth/editor/text`. */
export interface EditorTextResult {
  /** The document's text in the editor; absent if it is not open there. */
  text?: string;
}

/** An event of a session. */
export type Event =
  | EventSessionStarted
  | EventPurposeChanged
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
  | EventRequestPaid
  | EventRetrying
  | EventTurnModelChanged
  | EventPlanUpdated
  | EventToolCallStarted
  | EventToolCallEnded
  | EventChildWorked
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
  | EventCompacting
  | EventCompacted
  | EventCompactionFailed
  | EventCompactionCorrected
  | EventCompactionTakenBack
  | EventSideAsked
  | EventContextUsed
  | EventTurnEnded;

/** The session began. Always the first event. */
export interface EventSessionStarted {
  type: 'sessionStarted';
  /** Its folders, as URIs. */
  folders: string[];
  /** The number of the following changes of model and mode that only say what the session starts with. */
  beginsWith: number;
  /** True if the user asked for it, so that it is kept even if it stays empty; absent in logs of older versions. */
  askedFor?: boolean;
  /** The terms on which another session started it. */
  parent?: Terms;
  /** Its purpose; absent for a chat. */
  purpose?: Purpose;
}

/** The session has another purpose: it became a chat. People see it by the session's being among the chats. */
export interface EventPurposeChanged {
  type: 'purposeChanged';
  /** The purpose. */
  purpose: Purpose;
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
  /** The level at which it thinks; absent if it thinks as it does by itself. */
  thinking?: ThinkingLevel;
  /** True if nobody chose it for this session: it is the model of new sessions. */
  byDefault?: boolean;
  /** The chain that was chosen by name, of which it is one: the others are asked if it fails. Absent for a model that was chosen alone, or by default. */
  chain?: string;
}

/** Automatic accepting of edits was switched on or off. */
export interface EventAcceptEditsChanged {
  type: 'acceptEditsChanged';
  /** True if edits are accepted automatically from now on. */
  on: boolean;
  /** The scope. */
  scope: AutoScope;
}

/** The session's mode has changed. */
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
  /** Its output, in Markdown. */
  message: string;
  /** True if it failed. */
  isError: boolean;
}

/** A turn began, with the user's prompt. */
export interface EventTurnStarted {
  type: 'turnStarted';
  /** The turn. */
  turnId: TurnId;
  /** The prompt. Empty if an earlier turn is continued. */
  prompt: PromptBlock[];
  /** The content of the prompt's mentions and the editor's state, as the model reads it. It may be empty. */
  context: string;
  /** The model's id. */
  model: string;
  /** The mode. */
  mode: Mode;
  /** The level at which the model thinks. Absent in logs of older versions. */
  thinks?: Thinks;
  /** True if it only compacts the conversation: the model does not read the prompt. */
  compacts?: boolean;
}

/** The user said something to the running turn; the model reads it from here on. */
export interface EventSteered {
  type: 'steered';
  /** The turn. */
  turnId: TurnId;
  /** The text. */
  prompt: PromptBlock[];
  /** The content of its mentions. */
  context: string;
}

/** A prompt waits for the turn's end. */
export interface EventPromptQueued {
  type: 'promptQueued';
  /** The waiting prompt. */
  queueId: QueueId;
  /** Its text. */
  prompt: PromptBlock[];
}

/** A waiting prompt has left the queue: it was started or taken back. */
export interface EventPromptDequeued {
  type: 'promptDequeued';
  /** The waiting prompt. */
  queueId: QueueId;
}

/** Azimuth told the model something: decisions on its edits, new problems. Part of its context. */
export interface EventNoted {
  type: 'noted';
  /** The turn. */
  turnId: TurnId;
  /** The text. */
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

/** A piece of an edit's diff, while its call still arrives. It follows the earlier pieces of the same call. These pieces are void once the message is complete or discarded, or the turn ends: the hunks that the call then proposes replace them. */
export interface EventEditDelta {
  type: 'editDelta';
  /** The message. */
  messageId: MessageId;
  /** An id that is the same for the pieces of one call in the message. The call may be made under another id. */
  toolCallId: ToolCallId;
  /** The file, as the model names it, to be shown. */
  path: string;
  /** The piece, in Markdown's `diff` notation: lines that begin with a space, `-`, `+`, or `@`. It may end within a line. */
  text: string;
}

/** A message is complete. It has the text of its deltas again, with the tool calls. */
export interface EventMessageCompleted {
  type: 'messageCompleted';
  /** The turn. */
  turnId: TurnId;
  /** The message. */
  messageId: MessageId;
  /** The complete content. */
  content: AssistantBlock[];
  /** The tokens of the request. */
  usage: Usage;
  /** The cost of the request in US dollars; absent if the price is unknown. */
  cost?: number;
  /** The time that the answer took; absent in logs of older versions, and if it broke off. */
  timing?: Timing;
  /** The vendor's words at the beginning of its answer; absent if there were none. */
  opening?: Opening;
}

/** A message was cut off and will be requested again; what was shown of it is void. */
export interface EventMessageDiscarded {
  type: 'messageDiscarded';
  /** The message. */
  messageId: MessageId;
}

/** A request to the model used tokens although no message came of it: it failed, was stopped, or its answer was empty. It is part of what the end of the turn says. */
export interface EventRequestPaid {
  type: 'requestPaid';
  /** The turn. */
  turnId: TurnId;
  /** The tokens of the request. */
  usage: Usage;
  /** The cost of the request in US dollars; absent if the price is unknown. */
  cost?: number;
  /** The vendor's words at the beginning of its answer; absent if there were none. */
  opening?: Opening;
}

/** A request to the model failed temporarily and is tried again. If the user ends the delay, it comes once more, with a delay of 0. */
export interface EventRetrying {
  type: 'retrying';
  /** The turn. */
  turnId: TurnId;
  /** The number of the retry, from 1. */
  attempt: number;
  /** The delay before it, in milliseconds from the time of the event. */
  delayMs: number;
  /** The reason for the failure. */
  reason: string;
  /** The number of retries that there may be; absent in logs of older versions. */
  of?: number;
}

/** The turn asks another model from here on. The session keeps its own. */
export interface EventTurnModelChanged {
  type: 'turnModelChanged';
  /** The turn. */
  turnId: TurnId;
  /** The id of the model that is asked from here on. */
  model: string;
  /** The id of the model that would have been asked. */
  insteadOf: string;
  /** The reason. */
  reason: SwitchReason;
  /** The level at which it thinks; absent if it thinks as it does by itself. */
  thinking?: ThinkingLevel;
  /** The time until which no turn asks that one if its chain has another; absent if it is asked again at once. */
  until?: number;
  /** The failure of that one; absent if the reason says it all. */
  error?: string;
  /** Set if the model stays the same, and another key or account of the user's at its provider is used from here on. Then reason, time and failure are those of the account before. */
  account?: AccountSwitch;
}

/** The model's plan, with the status of its steps. It replaces the turn's earlier plan. */
export interface EventPlanUpdated {
  type: 'planUpdated';
  /** The turn. */
  turnId: TurnId;
  /** The steps, in their order. */
  entries: PlanEntry[];
  /** True if the user changed it. */
  byUser?: boolean;
}

/** A tool call started. */
export interface EventToolCallStarted {
  type: 'toolCallStarted';
  /** The turn. */
  turnId: TurnId;
  /** The call. */
  toolCallId: ToolCallId;
  /** The tool. */
  name: string;
  /** The tool's kind. */
  kind: ToolKind;
  /** A short title: `Reading main.rs`. */
  title: string;
  /** Its input. */
  input: unknown;
  /** The locations that it is about. */
  locations: Location[];
}

/** A tool call ended. */
export interface EventToolCallEnded {
  type: 'toolCallEnded';
  /** The turn. */
  turnId: TurnId;
  /** The result that the model reads. */
  result: ToolResult;
  /** A short summary: `3 matches`, `+2 -1`. */
  summary: string;
  /** The locations that it is about. */
  locations: Location[];
  /** Its duration, in milliseconds. */
  durationMs: number;
  /** The input as the model reads it from here on, if that is the applied edit and not the one that it wrote. */
  rewrittenInput?: unknown;
}

/** A session that a call started did something: its turn began, its model answered or was changed, or called a tool. What its requests used is part of this session's usage and cost, but not of what the end of the turn says. */
export interface EventChildWorked {
  type: 'childWorked';
  /** The turn of the call. */
  turnId: TurnId;
  /** The call that started it. */
  toolCallId: ToolCallId;
  /** The session that was started. */
  child: SessionId;
  /** The id of the model that it asks. */
  model: string;
  /** The number of its model's answers so far. */
  rounds: number;
  /** The tokens of its requests since the last of these events of it. */
  usage: Usage;
  /** The title of the call of a tool that it makes: `Reading main.rs`. Absent if it waits for its model. */
  doing?: string;
  /** The cost of these requests in US dollars; absent if there were none, or if the price is unknown. */
  cost?: number;
}

/** The user is asked. */
export interface EventPermissionAsked {
  type: 'permissionAsked';
  /** The turn. */
  turnId: TurnId;
  /** The question. */
  request: PermissionRequest;
}

/** A question was answered or became moot. */
export interface EventPermissionAnswered {
  type: 'permissionAnswered';
  /** The question. */
  permissionId: PermissionId;
  /** The answer. */
  outcome: PermissionOutcome;
}

/** Something was allowed or denied without asking. */
export interface EventPermissionJudged {
  type: 'permissionJudged';
  /** The call. */
  toolCallId: ToolCallId;
  /** True if it was allowed. */
  allowed: boolean;
  /** The rule or default, and its source. */
  reason: string;
}

/** A proposal is new, or has changed. */
export interface EventProposalChanged {
  type: 'proposalChanged';
  /** The current proposal. */
  proposal: Proposal;
}

/** Hunks were decided. */
export interface EventReviewDecided {
  type: 'reviewDecided';
  /** The proposal. */
  proposalId: ProposalId;
  /** The hunks. */
  hunkIds: HunkId[];
  /** The answer. */
  decision: Decision;
  /** A message to the model. */
  message?: string;
}

/** Accepted hunks were applied to their document, or could not be. */
export interface EventEditApplied {
  type: 'editApplied';
  /** The proposal. */
  proposalId: ProposalId;
  /** The hunks. */
  hunkIds: HunkId[];
  /** The document. */
  uri: string;
  /** The outcome. */
  outcome: ApplyOutcome;
  /** The last turn that had a part in them. Absent in logs of older versions. */
  turnId?: TurnId;
  /** The hash of its text before; absent if there was no file. The text is kept. */
  before?: string;
  /** The hash of its text after, which is kept too; absent if there is no file any more. */
  after?: string;
  /** For a deleted file: the file before, beyond its text. */
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
  /** The formatter's name to show; absent if it is unknown. */
  by?: string;
}

/** A command started in a terminal. */
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
  /** Its exit code; absent if it was killed or timed out. */
  exitCode?: number;
}

/** A terminal is new or has changed: the command in it, if it waits for input, or who has taken it over. */
export interface EventTerminalChanged {
  type: 'terminalChanged';
  /** The current state of the terminal. */
  terminal: TerminalInfo;
}

/** Something was typed into a terminal. */
export interface EventTerminalInput {
  type: 'terminalInput';
  /** The terminal. */
  terminalId: TerminalId;
  /** Who typed. */
  by: Typist;
  /** The typed text, a line at a time; empty if it was not shown. */
  text: string;
  /** True if the terminal did not show it, as for a password. It is kept nowhere. */
  hidden: boolean;
  /** The call whose command read it. */
  toolCallId?: ToolCallId;
}

/** The user runs a command of their own: `!command`, or `!!command`, which the model does not see. */
export interface EventUserCommandStarted {
  type: 'userCommandStarted';
  /** Its id, in the place of a call's. */
  toolCallId: ToolCallId;
  /** The command line. */
  command: string;
  /** True if it is part of the model's context. */
  inContext: boolean;
}

/** The user's own command ended. */
export interface EventUserCommandEnded {
  type: 'userCommandEnded';
  /** Its id. */
  toolCallId: ToolCallId;
  /** Its output, as the model reads it. */
  text: string;
  /** Its duration, in milliseconds. */
  durationMs: number;
  /** Its exit code; absent if it was stopped or could not be run. */
  exitCode?: number;
}

/** A turn's command, or another program during the turn, changed files of the project. */
export interface EventFilesChanged {
  type: 'filesChanged';
  /** The turn. */
  turnId: TurnId;
  /** The files, sorted by URI. */
  files: ChangedFile[];
  /** The call that ran the command; absent if no command ran at that time. */
  toolCallId?: ToolCallId;
}

/** The state of a file was recorded because it could not be determined later. */
export interface EventFileSeen {
  type: 'fileSeen';
  /** The file. */
  uri: string;
  /** The occasion. */
  occasion: SeenOccasion;
  /** The file; absent if there is none. */
  now?: FileImage;
}

/** Turns' changes of files were undone or redone. Part of the model's context. */
export interface EventCheckpointRestored {
  type: 'checkpointRestored';
  /** The direction. */
  direction: Direction;
  /** The turns, newest first. */
  turnIds: TurnId[];
  /** The outcome for each file. */
  files: RestoredFile[];
}

/** A notice to the user, which needs no answer. */
export interface EventNotice {
  type: 'notice';
  /** Its severity. */
  severity: Severity;
  /** Its text. */
  text: string;
}

/** The context filled up: the results of these calls were replaced by a short note. */
export interface EventContextTrimmed {
  type: 'contextTrimmed';
  /** The turn. */
  turnId: TurnId;
  /** The calls whose results the model no longer sees. */
  toolCallIds: ToolCallId[];
  /** How the model reads those again that are kept, in words, in the same order; empty for one that is not, and in logs of older versions. */
  kept?: string[];
}

/** A handover is being written, for which the model is asked. */
export interface EventCompacting {
  type: 'compacting';
  /** The turn. */
  turnId: TurnId;
  /** The reason. */
  reason: CompactionReason;
}

/** The beginning of the conversation was replaced by a handover. */
export interface EventCompacted {
  type: 'compacted';
  /** The turn. */
  turnId: TurnId;
  /** The handover. */
  compaction: Compaction;
}

/** No handover could be written. The conversation stays as it is. */
export interface EventCompactionFailed {
  type: 'compactionFailed';
  /** The turn. */
  turnId: TurnId;
  /** The reason, and what to do. */
  error: string;
}

/** The user corrected what a model wrote of a handover. */
export interface EventCompactionCorrected {
  type: 'compactionCorrected';
  /** The handover. */
  compactionId: CompactionId;
  /** The text in its place. */
  written: string;
}

/** The user took a handover back: the model sees the replaced messages again. */
export interface EventCompactionTakenBack {
  type: 'compactionTakenBack';
  /** The handover. */
  compactionId: CompactionId;
}

/** A model was asked outside a turn. It counts for the session's usage and cost. */
export interface EventSideAsked {
  type: 'sideAsked';
  /** The purpose. */
  role: SideRole;
  /** The model's id. */
  model: string;
  /** The tokens of the request. */
  usage: Usage;
  /** The cost of the request in US dollars; absent if the model's price is unknown. */
  cost?: number;
  /** Why there is no answer; absent if there is one. */
  error?: string;
}

/** The size of the context. */
export interface EventContextUsed {
  type: 'contextUsed';
  /** Tokens of the last request. */
  used: number;
  /** The model's limit, in tokens. */
  limit: number;
  /** The tokens from which on old results are taken out; absent in logs of older versions. */
  full?: number;
}

/** A turn ended. */
export interface EventTurnEnded {
  type: 'turnEnded';
  /** The turn. */
  turnId: TurnId;
  /** The reason. */
  stopReason: StopReason;
  /** The tokens of the turn, without those of sessions that its calls started. */
  usage: Usage;
  /** The failure, or why the answer is incomplete or the model refused, and what to do. */
  error?: string;
  /** The cost of the turn in US dollars, as far as it is known; absent if no price is. The events of its requests say for which the price is unknown. Without that of sessions that its calls started. */
  cost?: number;
  /** The number of errors that its edits caused and that language servers still report. Absent if there are none, or if it is unknown. */
  newErrors?: number;
}

/** Parameters of the notification `azimuth/event`. */
export interface EventParams {
  /** The session. */
  sessionId: SessionId;
  /** Its number in the session: 1, 2, 3, … without gaps. */
  seq: number;
  /** The time of the event. */
  at: number;
  /** The event itself. */
  event: Event;
}

/** The format of an exported session. */
export type ExportFormat =
  /** A page in one file, which loads and runs nothing. */
  | 'html'
  /** Markdown. */
  | 'markdown'
  /** The events as JSON lines, to be imported again. */
  | 'jsonl';

/** The kind of change of a file. */
export type FileChange =
  /** It is new. */
  | 'create'
  /** It is changed. */
  | 'modify'
  /** It is deleted. */
  | 'delete';

/** A file at one moment. Its content is kept. */
export interface FileImage {
  /** The hash of its text, without byte order mark and with LF line ends. */
  hash: string;
  /** The hash of its bytes, if the bytes are known and not only the text. */
  bytes?: string;
  /** True if it was executable; false if that is unknown. */
  executable?: boolean;
}

/** Questions that are answered together. Whatever is left open is assumed: what is recommended, else the first option. */
export interface Form {
  /** The questions, in their order. */
  questions: FormQuestion[];
  /** The seconds after which everything is assumed, from when it is asked; absent to wait for the user. */
  timeoutSeconds?: number;
}

/** The answer to a question of a form. Without either, the question is left open. */
export interface FormAnswer {
  /** The chosen options, by their places from 0. */
  chosen?: number[];
  /** The user's own words, instead of an option or, where several can be chosen, beside them. */
  other?: string;
}

/** An option of a question. */
export interface FormOption {
  /** The option in a few words. */
  label: string;
  /** The consequence of choosing it; may be empty. */
  description: string;
  /** True if the model recommends it. */
  recommended: boolean;
}

/** A question of a form. The user can always answer it in words of their own instead. */
export interface FormQuestion {
  /** One to three words that name the question. */
  header: string;
  /** The question. */
  question: string;
  /** The options to choose from. */
  options: FormOption[];
  /** True if several of them can be chosen. */
  multiple: boolean;
}

/** A replacement that an editor can show as ghost text. */
export interface GhostText {
  /** The range. */
  range: Range;
  /** The text in its place. */
  text: string;
}

/** The part of a session that has the words of a search. */
export type HitKind =
  /** The session's title. */
  | 'title'
  /** Something that the user said. */
  | 'prompt'
  /** Something that the model said. */
  | 'answer';

/** A part of a proposal that is decided on its own. */
export interface Hunk {
  /** The hunk. */
  hunkId: HunkId;
  /** The tool calls it came from. */
  toolCallIds: ToolCallId[];
  /** The first line that it replaces in the current document, from 0. */
  startLine: number;
  /** The lines it replaces, with their line ends (LF). Empty for an insertion. */
  oldText: string;
  /** The lines it puts there, with their line ends (LF). Empty for a deletion. */
  newText: string;
  /** Its state. */
  state: HunkState;
  /** The line above those it replaces, with its line end; absent at the document's start. */
  lineBefore?: string;
  /** The line below them, with its line end; absent at the document's end. */
  lineAfter?: string;
  /** A mark with which the server finds the hunk after a restart if the document has changed; absent if its lines are not unique in the document. Clients do not need it. */
  anchor?: string;
  /** The user's comments, the oldest first. */
  comments?: string[];
  /** The number of the last comments that the model has not been told. Clients do not need it. */
  untoldComments?: number;
}

/** A hunk. It keeps its id for as long as its content stays the same. */
export type HunkId = string;

/** The state of a hunk. */
export type HunkState =
  /** Not decided. */
  | 'pending'
  /** Accepted, and on its way into the document. */
  | 'applying'
  /** Accepted, and seen in the document. */
  | 'accepted'
  /** Accepted and sent, but not seen in the document. */
  | 'unverified'
  /** Rejected. */
  | 'rejected'
  /** In conflict: the text that it was made for has changed, and it cannot be accepted. */
  | 'conflicted'
  /** Accepted, then undone by the user in the editor. */
  | 'undone';

/** The way in which the editor indents a document. */
export interface Indentation {
  /** The width of a tab, in columns. */
  tabSize: number;
  /** True if it indents with spaces. */
  insertSpaces: boolean;
}

/** Parameters of `azimuth/inline/accept`: puts a suggested edit, or a part of it, into the document. */
export interface InlineAcceptParams {
  /** The edit. */
  id: string;
  /** The hunks; without them, all. */
  hunks?: string[];
}

/** Result of `azimuth/inline/accept`. The server has changed the document with `workspace/applyEdit`, in one step, and has seen the changed text. */
export interface InlineAcceptResult {
  /** The document that was changed. */
  uri: string;
  /** The end of what was put into it, where the cursor belongs. */
  cursor: Position;
  /** The rest of the edit, if there is any. */
  rest?: InlineEdit;
}

/** Parameters of the notification `azimuth/inline/changed`: the suggested edit is another one, since the document has changed. Sent only to clients that asked for edits. */
export interface InlineChangedParams {
  /** The edit as it was named. */
  id: string;
  /** The rest of it, at its new position; absent if it is to go off the screen. */
  edit?: InlineEdit;
  /** The rule that took it off the screen, if it is to go. */
  reason?: Reason;
}

/** Parameters of `azimuth/inline/complete`. */
export interface InlineCompleteParams {
  /** The document. */
  textDocument: InlineDocument;
  /** The cursor. */
  position: Position;
  /** The reason. */
  trigger?: InlineTrigger;
  /** The entry that is selected in the completion menu, if it is open. A suggestion extends it. */
  selected?: SelectedCompletion;
  /** The way in which the editor indents; without it, the document shows it. */
  indentation?: Indentation;
  /** True if something is selected, or there are several cursors. */
  selecting?: boolean;
}

/** Result of `azimuth/inline/complete`. */
export interface InlineCompleteResult {
  /** The suggestions, the best first: at most one if the user types, at most three if the user asked. */
  items: InlineItem[];
  /** The rule that left nothing to show, if there is nothing. */
  reason?: Reason;
}

/** Parameters of `azimuth/inline/counts`. */
export interface InlineCountsParams {
  /** The days that are counted, today among them: 1 to 90, by default 30. Days are those of UTC. */
  days?: number;
}

/** Result of `azimuth/inline/counts`. */
export interface InlineCountsResult {
  /** False if the user has switched the counting off. Then only the cost is known. */
  counted: boolean;
  /** The days that are counted. */
  days: number;
  /** The models, by their names. */
  models: InlineModelCounts[];
}

/** The fate of a request for a suggestion. It contains nothing of the text. */
export interface InlineDecision {
  /** The document. */
  uri: string;
  /** The cursor. */
  position: Position;
  /** The reason why it was asked for. */
  trigger: InlineTrigger;
  /** The time, in milliseconds since the Unix epoch. */
  at: number;
  /** The source of what was shown, or where the search for it ended. */
  source: InlineSource;
  /** The milliseconds from the request to its answer. */
  tookMs: number;
  /** True for an edit, and not for text at the cursor. */
  isEdit?: boolean;
  /** The rule that left nothing to show, if there was nothing. */
  reason?: Reason;
  /** The rules that changed the model's answer. */
  changedBy?: Rule[];
  /** The model that was asked, if one was. */
  model?: string;
}

/** A document at a version. */
export interface InlineDocument {
  /** The document. */
  uri: string;
  /** The version that the client shows. If the server has another one by now, the answer is empty. Without it, the document is taken as the server has it when the request comes. */
  version?: number;
}

/** A suggested edit. Nothing of it is in the document until it is accepted. */
export interface InlineEdit {
  /** Its name in `azimuth/inline/accept` and `azimuth/inline/feedback`. */
  id: string;
  /** Its kind. */
  kind: InlineEditKind;
  /** The document that it changes, which may be another than the one that was asked about, as the client names it. */
  uri: string;
  /** The parts that can be accepted one by one, from top to bottom, at least one. They do not overlap. */
  hunks: InlineHunk[];
  /** The position to jump to before it is accepted: that of the part that is nearest to the cursor. */
  target: Position;
  /** The version of the document that the ranges are of. Absent if the document is not open: the ranges are of the file on disk. The edit can be accepted once the client has opened it, and `azimuth/inline/changed` then says its version. */
  version?: number;
  /** The only hunk as ghost text at the cursor, if it can be shown so: a range on the cursor's line that ends at or after the cursor, and a text that begins with what stands between the beginning of the range and the cursor. */
  ghost?: GhostText;
  /** The model that it is from. Absent if it follows from the text alone. */
  model?: string;
}

/** The kind of a suggested edit. */
export type InlineEditKind =
  /** It changes the text around the cursor. */
  | 'edit'
  /** It changes another part of the document, or another document: jump there first. */
  | 'jump'
  /** It renames what the user has renamed in one place in the others. */
  | 'rename';

/** Parameters of `azimuth/inline/edit`: asks for the next edit, that is how the text goes on to change after what the user has just changed. */
export interface InlineEditParams {
  /** The document. */
  textDocument: InlineDocument;
  /** The cursor. */
  position: Position;
  /** The reason. */
  trigger?: InlineTrigger;
  /** True if something is selected, or there are several cursors. */
  selecting?: boolean;
}

/** Result of `azimuth/inline/edit`. */
export interface InlineEditResult {
  /** The edit, if there is one. It takes the place of the one before. */
  edit?: InlineEdit;
  /** The rule that left nothing to show, if there is nothing. */
  reason?: Reason;
}

/** The fate of a suggestion. */
export type InlineEvent =
  /** It is on the screen. */
  | 'shown'
  /** All of it was accepted. */
  | 'accepted'
  /** A word or a line of it was accepted. */
  | 'partly'
  /** The user dismissed it. The same one is not shown there again. */
  | 'rejected'
  /** It went off the screen because the user did something else. */
  | 'ignored'
  /** Another one took its place. */
  | 'replaced';

/** Parameters of `azimuth/inline/explain`. */
export interface InlineExplainParams {
  /** The document; without it, all documents. */
  uri?: string;
}

/** Result of `azimuth/inline/explain`. */
export interface InlineExplainResult {
  /** The last decisions, the newest first; at most 50. */
  decisions: InlineDecision[];
}

/** Parameters of `azimuth/inline/feedback`. */
export interface InlineFeedbackParams {
  /** The suggestion. */
  id: string;
  /** The event. */
  event: InlineEvent;
  /** For a part of an edit: the hunk. */
  hunk?: string;
  /** For `partly`: the characters of the suggestion's text that have been accepted so far, from its beginning, in UTF-16. */
  length?: number;
}

/** A part of a suggested edit. */
export interface InlineHunk {
  /** Its name in `azimuth/inline/accept` and `azimuth/inline/feedback`. */
  id: string;
  /** The range that it replaces. Whole lines, unless both the old and the new text are parts of one line. */
  range: Range;
  /** The text in its place, with LF line ends. */
  text: string;
}

/** Parameters of `azimuth/inline/instruct`: has a model change what is selected, or write at the cursor, as the user says. Its changes are proposals, which are reviewed like those of a chat; nothing is in the document before. */
export interface InlineInstructParams {
  /** The document. */
  textDocument: InlineDocument;
  /** The change that is wanted, in the user's words. Nothing in it is a slash command. */
  instruction: string;
  /** The selected ranges. An empty range is a cursor, at which something is to be written. Without any, the whole document is meant. */
  selections?: Range[];
  /** The session of an earlier instruction, to go on from what it has proposed. A client that does not follow it follows it from here on; one in another window than the session's host opens it first. */
  sessionId?: SessionId;
}

/** Result of `azimuth/inline/instruct`. The client follows the session: its events arrive as `azimuth/event`, from the first one on if it is new. `azimuth/session/promote` makes it a chat, to go on there. */
export interface InlineInstructResult {
  /** The session. */
  sessionId: SessionId;
  /** The turn that does it. */
  turnId: TurnId;
}

/** A suggestion at the cursor. */
export interface InlineItem {
  /** Its name in `azimuth/inline/feedback`. */
  id: string;
  /** The range that it replaces: on the cursor's line, with the cursor in it or at its end. */
  range: Range;
  /** The text in its place, plain. It begins with the text from the range's beginning to the cursor. */
  text: string;
  /** The version of the document that the range is of. */
  version: number;
}

/** The counts of a model. */
export interface InlineModelCounts {
  /** The model. */
  model: string;
  /** The changes that the user made to documents, as a key makes them, while it was the model. */
  changes: number;
  /** The requests to it. Divided by `changes`, they are the requests for each key. */
  requests: number;
  /** The requests that had no answer in time. */
  late: number;
  /** The requests that failed. */
  failed: number;
  /** The suggestions that editors were given. */
  given: number;
  /** Those of them that needed no request: they were typed into, or kept. */
  givenFromCache: number;
  /** The suggestions that were on a screen, as far as editors tell. */
  shown: number;
  /** The suggestions that were accepted to their end. */
  accepted: number;
  /** The suggestions of which a word or a line was accepted. */
  partly: number;
  /** The characters of those parts, in UTF-16. */
  partlyCharacters: number;
  /** The suggestions that were dismissed. */
  rejected: number;
  /** The suggestions that went off the screen because the user did something else. */
  ignored: number;
  /** The suggestions that another one took the position of. */
  replaced: number;
  /** The retention of accepted text, after each time. */
  retention: InlineRetention[];
  /** The cost in US dollars; 0 if it costs nothing, or its price is not known. */
  cost: number;
  /** The milliseconds within which half of the requests were answered, at most a quarter too many. Absent if none was. */
  p50Ms?: number;
  /** The milliseconds within which nine of ten requests were answered. */
  p90Ms?: number;
}

/** The share of accepted text that is still there. */
export interface InlineRetention {
  /** The seconds since the acceptance. */
  afterSeconds: number;
  /** The suggestions that were looked for: those whose document was still open. */
  lookedFor: number;
  /** Those of which at least half of the words were still there. */
  kept: number;
}

/** The source of a suggestion. */
export type InlineSource =
  /** Nothing was looked for. */
  | 'none'
  /** An answer that the user has typed into, or that was kept. */
  | 'kept'
  /** A request that was running already. */
  | 'running'
  /** The model. */
  | 'model';

/** The state of ghost text. */
export type InlineState =
  /** No model is set or found, or today's limit of cost is reached: nothing is suggested, and asking is of no use. */
  | 'off'
  /** Suggestions can be asked for. */
  | 'ready'
  /** They can be asked for, but lately the model took so long that most of them come too late. */
  | 'slow'
  /** The model's server has failed several times in a row. It is asked again, less often. */
  | 'failing';

/** Parameters of the notification `azimuth/inline/status`. */
export interface InlineStatusParams {
  /** The state. */
  state: InlineState;
  /** The model that suggests, if there is one. */
  model?: string;
  /** The model that suggests edits, if there is one. Without it, asking for edits is of no use. */
  editModel?: string;
  /** The reason, if nothing is suggested, or the model is slow. */
  reason?: Reason;
  /** The cost of today's suggestions (UTC) in US dollars, in all windows, rounded to a tenth of a cent. Absent if nothing costs. */
  cost?: number;
  /** True if a model may cost something, but its price is not known: `cost` lacks it, and no limit holds for it. */
  costUnknown?: boolean;
}

/** The reason why a suggestion is asked for. */
export type InlineTrigger =
  /** The user asked for it. Rules that only keep suggestions from being a nuisance do not hold. */
  | 'invoked'
  /** The user types. */
  | 'automatic';

/** A finding about a key, of its vendor's. */
export interface KeyCheck {
  /** The finding. */
  state: KeyState;
  /** The same for the user, as a whole sentence, with the vendor's own words if it said any. */
  words: string;
}

/** A key or an account of several at a provider. */
export interface KeyMember {
  /** Its name: a variable, or the name of an account. */
  name: string;
  /** True if it is an account that Azimuth keeps. */
  isAccount: boolean;
  /** True if a new session would begin with it now. */
  inUse: boolean;
  /** The time until which it is not used if another one can be, in milliseconds since 1970; absent if it does not rest. */
  restsUntil?: number;
  /** Why it rests. */
  reason?: SwitchReason;
}

/** A provider for which a key can be kept. */
export interface KeyProvider {
  /** The provider, such as `openai`. */
  provider: string;
  /** Its name, to be shown. */
  title: string;
}

/** A vendor's word about a key. */
export type KeyState =
  /** It takes it: it tells its credit, or lists its models with the key and not without. */
  | 'taken'
  /** It does not know the key, or has ended the sign-in. */
  | 'refused'
  /** It knows the key, and does not list its models for it. */
  | 'forbidden'
  /** Nothing is known: it could not be asked, has no list, or lists its models to whoever asks. */
  | 'unknown';

/** The source of a provider's key. Only this one counts, even if there are others. */
export interface KeyStatus {
  /** The provider, such as `anthropic`. */
  provider: string;
  /** The source, to be shown: `the environment variable ANTHROPIC_API_KEY`. */
  source: string;
  /** The environment variable, if the key comes from one. */
  variable?: string;
  /** The name of the account, if the key comes from one. */
  label?: string;
  /** The keys and accounts of which requests use one, in their order, if there are several. */
  members?: KeyMember[];
}

/** An available action. */
export interface LangAction {
  /** Its title, to be shown; its name in `codeAction`. */
  title: string;
  /** Its kind, such as `quickfix` or `refactor.extract`. */
  kind?: string;
  /** True for the most likely action. */
  preferred?: boolean;
  /** The reason why it cannot be done here, if it cannot. */
  disabled?: string;
}

/** An answer, by the kind of question. */
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

/** Locations in code. */
export interface LangAnswerLocations {
  type: 'locations';
  /** The locations. */
  locations: LangLocation[];
}

/** Text in Markdown. */
export interface LangAnswerText {
  type: 'text';
  /** The text; empty if nothing is known. */
  text: string;
}

/** Symbols. */
export interface LangAnswerSymbols {
  type: 'symbols';
  /** The symbols. */
  symbols: LangSymbol[];
}

/** Callers, or called functions. */
export interface LangAnswerCalls {
  type: 'calls';
  /** The callers, or the called functions. */
  calls: LangCall[];
}

/** A change of files that was not made. */
export interface LangAnswerEdit {
  type: 'edit';
  /** Its steps, in their order; empty if nothing would change. */
  changes: LangChange[];
}

/** Problems. */
export interface LangAnswerDiagnostics {
  type: 'diagnostics';
  /** The documents, including those that are known to have no problems. */
  documents: LangDiagnostics[];
}

/** Available actions. */
export interface LangAnswerActions {
  type: 'actions';
  /** The actions. */
  actions: LangAction[];
}

/** A caller, or a called function. */
export interface LangCall {
  /** The caller, or the called function. */
  symbol: LangSymbol;
  /** The ranges of the calls, in the caller. */
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
  /** The edits, with ranges in the text before all of them, not overlapping. */
  edits: LangTextEdit[];
  /** The version of it that the edits are made for, if it is open. */
  version?: number;
  /** The hash of the text that the edits are made for, if it is known: SHA-256 in hexadecimal, without byte order mark and with LF line ends. */
  hash?: string;
}

/** A file is created. */
export interface LangChangeCreate {
  type: 'create';
  /** The file. */
  uri: string;
}

/** A file or folder is moved. */
export interface LangChangeRename {
  type: 'rename';
  /** The current path, as a URI. */
  from: string;
  /** The new path, as a URI. */
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
  /** The range. */
  range: Range;
  /** The severity. */
  severity: LangSeverity;
  /** The message. */
  message: string;
  /** The source, such as `rustc`. */
  source?: string;
  /** The source's code for it, such as `E0308`. */
  code?: string;
}

/** The problems of a document. */
export interface LangDiagnostics {
  /** The document. */
  uri: string;
  /** The problems. */
  diagnostics: LangDiagnostic[];
  /** The version that they belong to, if it is known. */
  version?: number;
}

/** A location in code. */
export interface LangLocation {
  /** The document. */
  uri: string;
  /** The range in it. */
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

/** The definition of the symbol here. Answered with `locations`. */
export interface LangQueryDefinition {
  type: 'definition';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The definition of the symbol's type. Answered with `locations`. */
export interface LangQueryTypeDefinition {
  type: 'typeDefinition';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The implementations of the symbol here. Answered with `locations`. */
export interface LangQueryImplementation {
  type: 'implementation';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The uses of the symbol here, including its declaration. Answered with `locations`. */
export interface LangQueryReferences {
  type: 'references';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The description of the symbol here. Answered with `text`. */
export interface LangQueryHover {
  type: 'hover';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The symbols of a document. Answered with `symbols`, each before those that it contains. */
export interface LangQueryDocumentSymbols {
  type: 'documentSymbols';
  /** The document. */
  uri: string;
}

/** The symbols of the workspace with this name. Answered with `symbols`. */
export interface LangQueryWorkspaceSymbols {
  type: 'workspaceSymbols';
  /** The name, or a part of it. */
  query: string;
  /** A document whose language servers are asked; without it, all that run are asked. */
  uri?: string;
}

/** The callers of the function here. Answered with `calls`. */
export interface LangQueryIncomingCalls {
  type: 'incomingCalls';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The functions that the function here calls. Answered with `calls`. */
export interface LangQueryOutgoingCalls {
  type: 'outgoingCalls';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The supertypes of the type here. Answered with `symbols`. */
export interface LangQuerySupertypes {
  type: 'supertypes';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The subtypes of the type here. Answered with `symbols`. */
export interface LangQuerySubtypes {
  type: 'subtypes';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
}

/** The changes that would rename the symbol here. Nothing is changed. Answered with `edit`. */
export interface LangQueryRename {
  type: 'rename';
  /** The document. */
  uri: string;
  /** The position. */
  position: Position;
  /** The new name. */
  newName: string;
}

/** The changes elsewhere that would move a file or folder. Nothing is changed, and the move itself is not in the answer. Answered with `edit`. */
export interface LangQueryMoveFile {
  type: 'moveFile';
  /** The current path, as a URI. */
  from: string;
  /** The new path, as a URI. */
  to: string;
}

/** The known problems. Answered with `diagnostics`. */
export interface LangQueryDiagnostics {
  type: 'diagnostics';
  /** The document; without it, all documents with known problems. */
  uri?: string;
}

/** The actions for a part of a document. Answered with `actions`. */
export interface LangQueryCodeActions {
  type: 'codeActions';
  /** The document. */
  uri: string;
  /** The part. */
  range: Range;
  /** Only actions of this kind, or of those below it, such as `quickfix`. */
  kind?: string;
}

/** The changes that an action would make. Nothing is changed. Answered with `edit`; an action that does more than edit is `unsupported`. */
export interface LangQueryCodeAction {
  type: 'codeAction';
  /** The document. */
  uri: string;
  /** The part. */
  range: Range;
  /** The action, by its title. */
  title: string;
  /** The kind with which it was requested, if any: some servers offer such actions only then. */
  kind?: string;
}

/** The changes that would format a document. Nothing is changed. Answered with `edit`. */
export interface LangQueryFormat {
  type: 'format';
  /** The document. */
  uri: string;
}

/** The servers that run for a document, or all of them. Answered with `nothing`; the result is in `servers`. */
export interface LangQueryServers {
  type: 'servers';
  /** The document. */
  uri?: string;
}

/** Result of `azimuth/editor/query`. */
export interface LangResult {
  /** The reliability of the answer. */
  status: LangStatus;
  /** The answer. */
  answer: LangAnswer;
  /** The servers that answered, or would have. Empty if they are unknown. */
  servers?: LangServer[];
  /** The version of the document that the answer is for; none if it is not open. */
  version?: number;
  /** The failure, or what is still missing, to be shown. */
  message?: string;
}

/** A language server. */
export interface LangServer {
  /** Its name, as given by the server or its configuration. */
  name: string;
  /** Its version, if it says one. */
  version?: string;
}

/** The severity of a problem. */
export type LangSeverity =
  /** An error. */
  | 'error'
  /** A warning. */
  | 'warning'
  /** A remark. */
  | 'information'
  /** A hint. */
  | 'hint';

/** The reliability of an answer. "There is none" is `ready` with an empty answer, and nothing else. */
export type LangStatus =
  /** The answer is complete. */
  | 'ready'
  /** The server is still reading the project: the answer may be incomplete. */
  | 'indexing'
  /** There is more than was given, one of several servers did not answer, or the answer may be for another text than the current one. The message says which. */
  | 'partial'
  /** There is no server for the document. */
  | 'noServer'
  /** The servers cannot answer this. */
  | 'unsupported'
  /** The server said that it could not; the message says why. */
  | 'failed'
  /** The server ended while it was asked. */
  | 'crashed'
  /** There was no answer in time. */
  | 'timedOut'
  /** The editor was busy and did not pass the question on. */
  | 'editorBusy'
  /** The answer depends on pending edits, which the servers do not see; the message names them. */
  | 'unseen';

/** A symbol. */
export interface LangSymbol {
  /** Its name. */
  name: string;
  /** Its kind: the number of LSP's `SymbolKind`. */
  kind: number;
  /** Its whole range. */
  location: LangLocation;
  /** Its name in its definition; if that is unknown, its beginning. */
  selection: Range;
  /** Details, such as its signature. */
  detail?: string;
  /** The name of its container. */
  container?: string;
  /** Its depth: the number of symbols of the same answer that contain it. */
  depth?: number;
}

/** A part of a text, and its replacement. */
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
  /** The line after the last one. */
  end: number;
}

/** A location in a file that an event is about; an editor can show it. */
export interface Location {
  /** The document. */
  uri: string;
  /** Line, from 0. */
  line?: number;
}

/** US dollars per million tokens, for each token of a request whose prompt is long. */
export interface LongPrice {
  /** The number of tokens that the prompt must have more than, all input together. */
  above: number;
  /** Input that no cache served. */
  input: number;
  /** Output. */
  output: number;
  /** Input served by the cache. */
  cacheRead: number;
  /** Input stored to the cache. */
  cacheWrite: number;
}

/** A message of the assistant, whose deltas carry the same id. */
export type MessageId = string;

/** The mode of a turn: what the agent may do in it. */
export type Mode =
  /** Look and answer; nothing is changed or run. */
  | 'ask'
  /** Look, also with commands that are known to be read-only, and plan; nothing is changed. */
  | 'plan'
  /** Everything within the permissions: edits are reviewed, commands are allowed or asked about. */
  | 'agent'
  /** Like `agent`, and edits are accepted automatically. */
  | 'accept_edits'
  /** Nothing is asked, except by `ask` rules; `deny` rules still deny. It has to be confirmed. */
  | 'bypass';

/** A model that can be chosen. */
export interface ModelInfo {
  /** The id to select it with: `provider/name`, such as `anthropic/claude-sonnet-5-5`. */
  id: string;
  /** Its name, to be shown. */
  name: string;
  /** The provider, such as `anthropic`, `openai`, `ollama`, `scripted`. */
  provider: string;
  /** The context window in tokens. */
  contextTokens: number;
  /** The longest answer in tokens. */
  maxOutputTokens: number;
  /** True if it can be used now: there is a key, or a local server answers. */
  available: boolean;
  /** True if it takes images. */
  images: boolean;
  /** True if it can think before it answers. */
  thinking: boolean;
  /** True for a model that plays a script; an interface must say so. */
  scripted: boolean;
  /** Other names that select it, such as `opus`. */
  aliases?: string[];
  /** The price; absent if unknown, zero if it is free. */
  price?: Price;
  /** The reason why it cannot be used, and what to do. */
  unavailableBecause?: string;
  /** True if the configuration rules it out (`enabled_models`, `disabled_providers`): a picker leaves it out. */
  ruledOut?: boolean;
  /** The levels at which it can be told to think, the lowest first; empty if it can be told none. */
  levels?: ThinkingLevel[];
  /** The level at which it thinks if nobody chooses another for a session; absent if it thinks as it does by itself. */
  level?: ThinkingLevel;
  /** A problem that the user should know of before choosing it, and what to do, such as a window of Ollama's that is too small. It can be used all the same. */
  warning?: string;
}

/** Parameters of `azimuth/model/list`. */
export interface ModelListParams {
  /** True if the user has not asked for the list: vendors whose models are known without their own lists are not asked for these. */
  unasked?: boolean;
}

/** Result of `azimuth/model/list`. */
export interface ModelListResult {
  /** Every model known, the usable ones first. */
  models: ModelInfo[];
  /** The id of the model a new session gets, if any is usable. */
  default?: string;
  /** For each provider whose own list could not be had, why, and which models stand there instead. */
  notes?: string[];
  /** The ids of the models that were chosen last, the last one first; at most ten. */
  recent?: string[];
}

/** Parameters of `azimuth/model/pick`. */
export interface ModelPickParams {
  /** The role. */
  role: Role;
  /** The name of its model, or of several with commas between them; absent for what the settings say without the pick. */
  model?: string;
  /** True to write it into the user's `config.toml`. Otherwise it holds until Azimuth ends. */
  keep?: boolean;
}

/** Result of `azimuth/model/pick`. */
export interface ModelPickResult {
  /** The role, with the model that it comes to from now on. */
  role: RoleInfo;
  /** The change, in words for the user. */
  text: string;
}

/** Parameters of `azimuth/model/roles`. */
export type ModelRolesParams = Record<string, never>;

/** Result of `azimuth/model/roles`. */
export interface ModelRolesResult {
  /** Each role. */
  roles: RoleInfo[];
}

/** Parameters of `azimuth/model/select`. */
export interface ModelSelectParams {
  /** A model's id, its name without the provider, or an alias; behind it possibly a colon and a level of thinking, or `default` for as much as the model thinks by itself. Without one, the level counts that was last chosen for it. */
  model: string;
  /** The session; without it, the default of new sessions is set. */
  sessionId?: SessionId;
  /** True if new sessions do not begin with it. */
  onlyHere?: boolean;
}

/** Result of `azimuth/model/select`. */
export interface ModelSelectResult {
  /** The selected model. */
  model: ModelInfo;
}

/** The speed of a model: medians of its answers. */
export interface ModelSpeed {
  /** The model's id. */
  model: string;
  /** The number of answers that were measured. */
  answers: number;
  /** The time from the request to the first piece of the answer, in milliseconds. */
  firstMs: number;
  /** The tokens of the answer for each second from the request to its end; absent if the vendor reported none. */
  tokensPerSecond?: number;
}

/** Parameters of `azimuth/model/changed`. */
export type ModelsChangedParams = Record<string, never>;

/** A vendor's words at the beginning of its answer, besides the answer itself. */
export interface Opening {
  /** The name of the answer, as its vendor is told it with the next request. Nobody else gets it. */
  vendor?: unknown;
  /** The reason why its cache did not serve what it had served before; absent if it says none. */
  missed?: CacheMiss;
}

/** The subject of a question. */
export type PermissionAbout =
  /** A tool call. */
  | 'tool_call'
  /** The pending hunks before a command runs. It is moot once none is pending any more. */
  | 'pending_edits'
  /** Saving the user's unsaved text before a command runs. */
  | 'unsaved_text'
  /** Running a command outside the sandbox. */
  | 'outside'
  /** Trust in the workspace: with it, what the workspace supplies may run, and what it allows counts. */
  | 'trust'
  /** Starting a program that comes with the project, such as a language server, in its current form. */
  | 'program'
  /** Spending more than the user's budget. */
  | 'budget'
  /** The model's own questions, in the request's form. The option that allows sends what is filled in. */
  | 'form';

/** Parameters of `azimuth/permission/answer`. */
export interface PermissionAnswerParams {
  /** The session. */
  sessionId: SessionId;
  /** The question. */
  permissionId: PermissionId;
  /** The option chosen. */
  optionId: string;
  /** A message to the model. */
  message?: string;
  /** The answers to a form, one for each of its questions; without any, all are left open. */
  answers?: FormAnswer[];
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
  /** The id to answer with. */
  optionId: string;
  /** The text, with its scope: `Always allow cargo test … in this project`. */
  name: string;
  /** Its effect. */
  kind: PermissionOptionKind;
}

/** The effect of an option; ACP's option kinds. */
export type PermissionOptionKind =
  /** Allow it, this time. */
  | 'allow_once'
  /** Allow it, and do not ask for this again in this project. */
  | 'allow_always'
  /** Do not. */
  | 'reject_once'
  /** Reject it, always in this project. */
  | 'reject_always';

/** The outcome of a question. */
export type PermissionOutcome =
  | PermissionOutcomeSelected
  | PermissionOutcomeCancelled
  | PermissionOutcomeTimedOut
  | PermissionOutcomeMoot;

/** An option was chosen. */
export interface PermissionOutcomeSelected {
  type: 'selected';
  /** The option. */
  optionId: string;
  /** A message to the model, such as why it was rejected. */
  message?: string;
  /** The answers to a form, one for each of its questions; empty if all are left open. */
  answers?: FormAnswer[];
}

/** The turn ended first, or nobody could answer. */
export interface PermissionOutcomeCancelled {
  type: 'cancelled';
}

/** Nobody answered a form in time: everything in it is assumed. */
export interface PermissionOutcomeTimedOut {
  type: 'timedOut';
}

/** The subject was settled in another way. */
export interface PermissionOutcomeMoot {
  type: 'moot';
}

/** A question. It stays open until it is answered or its turn ends, across reconnects. */
export interface PermissionRequest {
  /** The question. */
  permissionId: PermissionId;
  /** The subject. */
  about: PermissionAbout;
  /** The question in a few words: `Run a command?` */
  title: string;
  /** The details: the command line, the paths. */
  detail: string;
  /** The reason: the rule or default that led here. */
  reason: string;
  /** The answers to choose from. */
  options: PermissionOption[];
  /** The tool call that waits, if one does. */
  toolCallId?: ToolCallId;
  /** The form, if the model asks questions of its own. */
  form?: Form;
}

/** Parameters of `azimuth/permission/revoke`. The same call twice is harmless. */
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
  /** The task, one line. */
  content: string;
  /** How far it is. */
  status: PlanEntryStatus;
}

/** The status of a step of a plan. */
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
  /** Input stored to the cache for an hour; absent if it is twice that of input. With a long prompt, it rises as that of input does. */
  cacheWriteHour?: number;
  /** The price of requests with a long prompt; absent if it is the same. */
  long?: LongPrice;
}

/** Parameters of `azimuth/prompt/beginnings`. */
export interface PromptBeginningsParams {
  /** The document that the user is looking at, if any. */
  uri?: string;
  /** The chat's session, if any; its model is then the one that is described. */
  sessionId?: SessionId;
}

/** Result of `azimuth/prompt/beginnings`. */
export interface PromptBeginningsResult {
  /** The facts about the workspace's setup, the most important first. */
  setup: SetupFact[];
  /** Prompts to try: about the document if it is one of the workspace's files, else about the project. */
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

/** The user's selection at the time of the prompt. */
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
  /** The cursor: an offset into `text` in UTF-16 units. */
  cursor: number;
}

/** Result of `azimuth/prompt/complete`. */
export interface PromptCompleteResult {
  /** The beginning of the token under the cursor, in UTF-16 units. */
  start: number;
  /** Its end, exclusive. */
  end: number;
  /** The completions, the best first. */
  items: CompletionItem[];
}

/** Parameters of `azimuth/prompt/history`. */
export interface PromptHistoryParams {
  /** Only prompts that have these words, as for `azimuth/session/search`; all without a word. */
  query?: string;
  /** Only prompts of sessions of this folder (a URI); without it, those of the client's workspace folders. */
  folder?: string;
  /** True for the prompts of every folder. */
  everywhere?: boolean;
  /** At most this many, 1 to 1000; 100 without it. */
  limit?: number;
}

/** Result of `azimuth/prompt/history`. */
export interface PromptHistoryResult {
  /** The prompts that the user has typed, with slash commands and commands after `!`, the last first. Each text is there once. */
  prompts: EarlierPrompt[];
}

/** Parameters of `azimuth/prompt/put`. */
export interface PromptPutParams {
  /** The prompt, or a part of it. */
  prompt: PromptBlock[];
  /** True to send it at once, or after the running turn. Otherwise the user wants to add something. */
  send: boolean;
}

/**
 * The pending change of one file: the difference between its text and the agent's proposal.
 *
 * Further edits of the same file join the proposal until all its hunks are decided.
 */
export interface Proposal {
  /** The proposal. */
  proposalId: ProposalId;
  /** A number that grows when a hunk appears, disappears or changes, but not when one is decided or only moves. */
  revision: number;
  /** The document. */
  uri: string;
  /** Its path relative to the workspace folder, to be shown. */
  path: string;
  /** The kind of change. */
  change: FileChange;
  /** The hunks, from top to bottom, decided ones included. */
  hunks: Hunk[];
  /** The hash of the document that the hunks' lines refer to; absent if there is no file. With it the server knows after a restart if the lines are still right. */
  baseHash?: string;
  /** For a move: the document that gets the deleted file's text; otherwise absent. The deletion can be accepted once that document has the text, or together with it. */
  movedTo?: string;
  /** True if the hunks are already in the document, because a command or, during the turn, another program put them there. To accept such a hunk keeps it; to reject it takes it back. Its `startLine` is that of `newText`, which is in the document now; `oldText` is the text before. `change` is what happened to the file. Nothing waits for the decision. A hunk that is `applying` is being taken back; one in conflict can only be kept; `undone` means that it was taken back and is there again. Without `toolCallIds` another program made the change. */
  landed?: boolean;
}

/** The pending change of one file. */
export type ProposalId = string;

/** Result of `azimuth/review/text`: a file before and after all of its pending hunks, with LF line ends and without a byte order mark. */
export interface ProposedText {
  /** The document. */
  uri: string;
  /** Its path, to be shown. */
  path: string;
  /** The proposal's revision. */
  revision: number;
  /** The current text; absent if there is no file. If the hunks have landed, the text without the pending ones. */
  base?: string;
  /** The text with every pending hunk; absent if the file is to be deleted. If the hunks have landed, the current text. */
  proposed?: string;
}

/** The purpose of a session. */
export type Purpose =
  /** A conversation, with all tools. */
  | 'chat'
  /** It changes what is selected, as `azimuth/inline/instruct` says: its tools only read and propose edits. */
  | 'instruct'
  /** The record of the suggestions that were accepted. No model is asked in it. */
  | 'suggestions';

/** A prompt that waits for the running turn to end. */
export type QueueId = string;

/** The limits of the user's account at a vendor, as its last answer told them. */
export interface Quota {
  /** The provider. */
  provider: string;
  /** The time of that answer. */
  at: number;
  /** The limits. */
  windows: QuotaWindow[];
  /** The name of the key or account that the limits are of, if the user has several at the provider. */
  account?: string;
}

/** A limit that a vendor sets for some time. */
export interface QuotaWindow {
  /** The subject of the limit, to be shown: `requests`, `input tokens`, `5 hours of the plan`. */
  name: string;
  /** The share that is used, from 0 to 1. */
  used: number;
  /** The limit, in what it is about; absent if the vendor tells only a share. */
  limit?: number;
  /** The part of it that is left. */
  remaining?: number;
  /** The rest in words, to be shown instead of these numbers: `$7.50 of $10.00 left`. */
  left?: string;
  /** The time at which it begins again, if the vendor tells it. */
  resetsAt?: number;
}

/** A range in a document, its end exclusive: LSP's `Range`. */
export interface Range {
  /** Where it begins. */
  start: Position;
  /** Where it ends, exclusive. */
  end: Position;
}

/** The evidence that a command in the background, such as a server, is up. */
export interface Ready {
  /** The TCP ports that its processes listen on, sorted. */
  ports: number[];
  /** The line that says so, if one did. */
  line?: string;
}

/** A rule that applied, with its meaning. */
export interface Reason {
  /** The rule. */
  rule: Rule;
  /** Its meaning in a sentence, for the user, with details where there are some. */
  words: string;
}

/** An account that was forgotten. */
export interface RemovedAccount {
  /** The account's name. */
  label: string;
  /** Why the vendor could not be told that the sign-in has ended, to be shown; absent if it knows, or need not. */
  notRevoked?: string;
}

/** A part of a request to a model. */
export type RequestPart =
  /** The model, or how it is served. */
  | 'model'
  /** The system prompt. */
  | 'system'
  /** The tools. */
  | 'tools'
  /** The conversation. */
  | 'messages';

/** How the undo or redo of a file ended. */
export type RestoreOutcome =
  | RestoreOutcomeDone
  | RestoreOutcomeUnverified
  | RestoreOutcomeLeft
  | RestoreOutcomeFailed;

/** Done: the file has the wanted text. */
export interface RestoreOutcomeDone {
  type: 'done';
}

/** Probably done: the client agreed, but did not show the text in time. */
export interface RestoreOutcomeUnverified {
  type: 'unverified';
}

/** It was left as it is. */
export interface RestoreOutcomeLeft {
  type: 'left';
  /** The reason, and what to do. */
  reason: string;
}

/** It could not be done; nothing was changed. */
export interface RestoreOutcomeFailed {
  type: 'failed';
  /** The reason. */
  reason: string;
}

/** A turn's change of a file that was undone or redone. */
export interface RestoreStep {
  /** The turn. */
  turnId: TurnId;
  /** The file before; absent if there was none. */
  from?: FileImage;
  /** The file after; absent if there is none. */
  to?: FileImage;
}

/** The outcome of undo or redo for a file. */
export interface RestoredFile {
  /** The document. */
  uri: string;
  /** Its path, to be shown. */
  path: string;
  /** The outcome. */
  outcome: RestoreOutcome;
  /** The turns' changes that were undone or redone, in that order. Empty unless the outcome is `done`. */
  steps?: RestoreStep[];
}

/** Parameters of `azimuth/review/auto`. */
export interface ReviewAutoParams {
  /** The session. */
  sessionId: SessionId;
  /** True to accept edits automatically from now on. */
  on: boolean;
  /** The scope. A session in which it is switched off keeps it off even if it is on for the project. */
  scope?: AutoScope;
}

/** Parameters of `azimuth/review/change`: the user wants another text than the proposed one. */
export interface ReviewChangeParams {
  /** The session. */
  sessionId: SessionId;
  /** The proposal. */
  proposalId: ProposalId;
  /** Its revision as the user saw it. */
  revision: number;
  /** The new proposed text. It is not accepted by this. */
  text: string;
}

/** Parameters of `azimuth/review/comment`: a comment of the user on a hunk, which decides nothing. The model gets it with its next request, or with the next prompt. */
export interface ReviewCommentParams {
  /** The session. */
  sessionId: SessionId;
  /** The proposal. */
  proposalId: ProposalId;
  /** The hunk. */
  hunkId: HunkId;
  /** The comment, not empty. */
  text: string;
}

/** Parameters of `azimuth/review/decide`. */
export interface ReviewDecideParams {
  /** The session. */
  sessionId: SessionId;
  /** Accept or reject. */
  decision: Decision;
  /** One item per file, with all or some of its hunks. For "all", every proposal that the user saw. */
  targets: DecisionTarget[];
  /** A message to the model. */
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

/** The work that a model is asked for. */
export type Role =
  /** Conversations. */
  | 'default'
  /** Turns in the mode `plan`. */
  | 'plan'
  /** Small work that names no model of its own. */
  | 'fast'
  /** Second opinions. */
  | 'oracle'
  /** Titles of conversations. */
  | 'title'
  /** Changes of a selection ("change this"). */
  | 'instruct'
  /** Text that is suggested where the user types. */
  | 'completion'
  /** Edits that are suggested. */
  | 'next_edit';

/** The model that a role comes to now. */
export interface RoleInfo {
  /** The role. */
  role: Role;
  /** The work that its model is asked for, in words. */
  words: string;
  /** Why it is this one, or why there is none, in words. */
  why: string;
  /** The model that would be asked now, by its id and its level; absent if none would be. */
  model?: string;
  /** True if it was picked, and holds until Azimuth ends. */
  picked?: boolean;
  /** True if its setting is in the user's `config.toml`, from which it can be taken out. */
  kept?: boolean;
}

/** A request of a turn that was answered. */
export interface Round {
  /** The time of the end of its answer. */
  at: number;
  /** The model's id. */
  model: string;
  /** The tokens. */
  usage: Usage;
  /** The cost; absent if the price is unknown. */
  cost?: number;
  /** The share of the input that was read from the cache, from 0 to 1; absent if there was no input. */
  cacheHits?: number;
  /** Why less was read from the cache than was in it, as far as the session's log tells, in words; absent if the cache was hit, or if the reason is unknown. */
  missedBecause?: string;
}

/** A rule that kept a suggestion from being asked for, changed or withheld it, or took it off the screen. */
export type Rule =
  /** Suggestions are switched off, for all or for this language. */
  | 'off'
  /** The user paused them. */
  | 'snoozed'
  /** No model is named for suggestions. */
  | 'not_set'
  /** The model that is named for suggestions cannot be used. */
  | 'no_model'
  /** The workspace is not trusted. */
  | 'untrusted'
  /** The document is no file of the workspace. */
  | 'outside'
  /** The file's name is one for keys and other secrets. */
  | 'secret_file'
  /** A rule of the user's denies reading the file. */
  | 'denied'
  /** Git ignores the file. */
  | 'ignored'
  /** The file is too large. */
  | 'too_large'
  /** The line is too long. */
  | 'long_line'
  /** The place is a comment or a text in quotes, where suggestions are switched off. */
  | 'scope'
  /** The cursor is inside a word. */
  | 'mid_word'
  /** The rest of the line is more than closing brackets and quotes. */
  | 'mid_line'
  /** There is too little text to go on from. */
  | 'too_short'
  /** Nothing was changed here lately, so there is nothing for an edit to follow from. */
  | 'nothing_changed'
  /** The completion menu shows an entry that the suggestion cannot extend. */
  | 'menu'
  /** The last change was an undo or a redo. */
  | 'undo'
  /** The last change only deleted something. */
  | 'deletion'
  /** The last change pasted many lines. */
  | 'paste'
  /** There are several cursors, or something is selected. */
  | 'cursors'
  /** The last change was made by Azimuth. */
  | 'own_edit'
  /** The text contains what controls the model. */
  | 'control_tokens'
  /** There is what looks like a secret near the cursor. */
  | 'secret_near'
  /** Today's limit of cost for suggestions is reached. */
  | 'cost_limit'
  /** There was no answer in time. */
  | 'late'
  /** The model's server failed. */
  | 'failed'
  /** The answer is empty. */
  | 'empty'
  /** The answer is no answer of this model's format. */
  | 'garbage'
  /** The answer is too long. */
  | 'too_long'
  /** The answer changes nothing. */
  | 'no_change'
  /** The answer changes only blank space. */
  | 'blank_space'
  /** The answer was in a code fence, which is taken off. */
  | 'fence'
  /** The answer contained the model's thoughts, which are taken off. */
  | 'thoughts'
  /** The answer contained tokens that control the model, which are taken off. */
  | 'answer_tokens'
  /** The answer repeats the text before the cursor. */
  | 'repeats_before'
  /** The answer repeats the text after the cursor. */
  | 'repeats_after'
  /** The answer repeats itself. */
  | 'repetition'
  /** The answer closes what it did not open. */
  | 'brackets'
  /** The answer would break the syntax. */
  | 'syntax'
  /** The answer leaves the block that the cursor is in. */
  | 'block'
  /** The answer's indentation is not the document's. */
  | 'indentation'
  /** The last line of the answer is cut off. */
  | 'cut_off'
  /** The answer undoes what the user has just done. */
  | 'reversal'
  /** The answer rewrites lines that are far from what the user changed lately, and have nothing to do with it. */
  | 'unrelated'
  /** The user rejected it before. */
  | 'rejected'
  /** The answer contains what looks like a key. */
  | 'secret_answer'
  /** The document has changed in the meantime. */
  | 'stale'
  /** Another request took its place. */
  | 'overtaken'
  /** The user typed something else. */
  | 'mismatch'
  /** The cursor left the place. */
  | 'moved'
  /** The document was closed. */
  | 'closed';

/** The effect of a rule. */
export type RuleEffect =
  /** Matching actions run without a question. */
  | 'allow'
  /** The user is asked about matching actions. */
  | 'ask'
  /** Matching actions are refused. */
  | 'deny';

/** A permission rule in force. */
export interface RuleInfo {
  /** The rule as written: `Shell(cargo test:*)`. */
  rule: string;
  /** Its effect. */
  effect: RuleEffect;
  /** Its source. */
  origin: RuleOrigin;
  /** Its source, to be shown: `your config.toml`. */
  source: string;
  /** A description of what it covers. */
  covers: string;
  /** True if `azimuth/permission/revoke` can revoke it. Others are changed in their files. */
  revocable: boolean;
  /** The reason if it does not count at the moment, such as an allow rule of a project that is not trusted. */
  void?: string;
}

/** The source of a rule. */
export type RuleOrigin =
  /** The user's own configuration, or what the editor was started with. */
  | 'user'
  /** A file of the project, or settings that an editor read from it. */
  | 'project'
  /** Granted by an answer "always", for the project. */
  | 'granted'
  /** Granted by an answer, for the session. */
  | 'session';

/** The command in a shell. */
export interface RunningCommand {
  /** The call that started it, or the id of the user's own command. */
  toolCallId: ToolCallId;
  /** The command line. */
  command: string;
  /** The time of its start. */
  startedAt: number;
}

/** The access that commands have to the machine. */
export type SandboxMode =
  /** Read the workspace, the system and toolchains; write nothing but temporary files. */
  | 'read_only'
  /** Like `read_only`, and write in the workspace, temporary folders and package caches. */
  | 'workspace_write'
  /** Everything that the user may do: no sandbox. */
  | 'full';

/** A place in a session that has all words of a search. */
export interface SearchHit {
  /** The session. */
  sessionId: SessionId;
  /** Its title; empty if it has none. */
  title: string;
  /** Its folders, as URIs. */
  folders: string[];
  /** The part of the session that has the words. */
  kind: HitKind;
  /** The time at which it was said; for a title, that of the session's last event. */
  at: number;
  /** An excerpt in one line, with the first of the words. */
  snippet: string;
  /** The words in the excerpt, in order; they do not overlap. */
  marks: SnippetMark[];
  /** The number of its event: of `turnStarted` or `steered` for a prompt, of `messageCompleted` for an answer. Absent for a title. */
  seq?: number;
  /** The message, for an answer. */
  messageId?: MessageId;
}

/** The occasion on which a file's state was recorded. */
export type SeenOccasion =
  /** An accepted edit is about to delete it. */
  | 'deletion'
  /** It was saved in the editor, after an edit had created it as the new path of a file that is still to be moved. */
  | 'save'
  /** Another process opened the session, and the file is not as it was left. */
  | 'restart';

/** The entry that is selected in the completion menu. */
export interface SelectedCompletion {
  /** The range that the entry would replace. */
  range: Range;
  /** The entry's text. */
  text: string;
}

/** An event with its number in the session. */
export interface SequencedEvent {
  /** Its number in the session: 1, 2, 3, … without gaps. */
  seq: number;
  /** The time of the event. */
  at: number;
  /** The event itself. */
  event: Event;
}

/** The status of a language server. */
export interface ServerInfo {
  /** Its name. */
  name: string;
  /** The folder of the project that it is for, as a URI. */
  root: string;
  /** Its state. */
  state: ServerState;
  /** Its version, if it has reported one. */
  version?: string;
  /** The path of its program, if it is installed. */
  program?: string;
  /** The id of its process, while it runs. */
  pid?: number;
  /** The memory of the server and everything that it started, in bytes; absent if it is unknown. */
  memoryBytes?: number;
  /** Details of its state, to be shown. */
  why?: string;
}

/** The state of a language server. */
export type ServerState =
  /** Installed; it starts with the first question. */
  | 'notStarted'
  /** It comes with the project, and the user has not allowed it in its current form. */
  | 'notAllowed'
  /** The project is of its kind, but its program was not found. */
  | 'missing'
  /** It is starting. */
  | 'starting'
  /** It is reading the project. */
  | 'indexing'
  /** It answers. */
  | 'ready'
  /** It crashed, or was ended because it did harm; it starts again after a while. */
  | 'crashed'
  /** It was ended because it was not needed or not wanted; it starts again with the next question. */
  | 'stopped';

/** Parameters of `azimuth/servers/changed`. */
export type ServersChangedParams = Record<string, never>;

/** Parameters of `azimuth/servers/list`. */
export type ServersListParams = Record<string, never>;

/** Result of `azimuth/servers/list`. */
export interface ServersListResult {
  /** The servers for the client's workspace folders, sorted by root and name: those that run or ran, and those for projects of these folders' kinds. */
  servers: ServerInfo[];
  /** The problems of the servers' configuration files, to be shown. */
  problems: string[];
}

/** Parameters of `azimuth/servers/restart`. */
export interface ServersRestartParams {
  /** The server's name; without it, all servers of the client's workspace folders. */
  name?: string;
}

/** Result of `azimuth/servers/restart`. */
export interface ServersRestartResult {
  /** The number of ended servers. They start again with the next question. */
  restarted: number;
}

/** Parameters of `azimuth/session/close`: the client no longer follows the session. A running turn continues. */
export interface SessionCloseParams {
  /** The session. */
  sessionId: SessionId;
}

/** The costs of a session. */
export interface SessionCosts {
  /** The sum, with the sessions that it started. */
  total: Spending;
  /** The same by model, the one that cost most first. */
  models: SpendingRow[];
  /** The part of it that was asked outside turns, by role, such as `titles`. */
  side: SpendingRow[];
  /** The part of it of the sessions that it started. */
  children: Spending;
  /** The last requests of its turns, the last first. */
  rounds: Round[];
  /** The activity in it, without that of the sessions that it started. */
  activity: Activity;
}

/** Parameters of `azimuth/session/delete`. A running turn is cancelled first. The sessions that it started are deleted too, except for those that are running. */
export interface SessionDeleteParams {
  /** The session. */
  sessionId: SessionId;
}

/** Parameters of `azimuth/session/export`. */
export interface SessionExportParams {
  /** The session. */
  sessionId: SessionId;
  /** The format. */
  format: ExportFormat;
}

/** Result of `azimuth/session/export`. */
export interface SessionExportResult {
  /** A name for the file. */
  name: string;
  /** Its text, in which placeholders stand for the secrets that models do not see. */
  text: string;
}

/** A session: one conversation with its log. Six hexadecimal digits. */
export type SessionId = string;

/** A session in a list. */
export interface SessionInfo {
  /** The session. */
  sessionId: SessionId;
  /** Its title; empty before the first prompt. */
  title: string;
  /** The workspace folders that it works in, as URIs. Commands start in the first one. */
  folders: string[];
  /** The mode of its next turn. */
  mode: Mode;
  /** The time of its creation. */
  createdAt: number;
  /** The time of its last event. */
  updatedAt: number;
  /** The number of its last event; 0 before the first. */
  lastSeq: number;
  /** Tokens of all turns, of requests outside turns, and of the sessions that its calls started. */
  usage: Usage;
  /** The cost of the same in US dollars, as far as prices are known. */
  cost: number;
  /** The model's id, if one is chosen. */
  model?: string;
  /** The session that started it, if a session did. */
  parent?: SessionId;
  /** Its purpose; absent for a chat. */
  purpose?: Purpose;
}

/** Parameters of `azimuth/session/list`. */
export interface SessionListParams {
  /** Only sessions of this folder (a URI); without it, those of the client's workspace folders. */
  folder?: string;
  /** True for the sessions of every folder. */
  everywhere?: boolean;
  /** Only sessions with this text in their title, ignoring case. */
  query?: string;
  /** Only the sessions that this one started; without it, those that none started, or whose parent is gone. */
  parent?: SessionId;
  /** Only sessions of this purpose; without it, chats. */
  purpose?: Purpose;
  /** At most this many, 1 to 1000; 100 without it. */
  limit?: number;
}

/** Result of `azimuth/session/list`. */
export interface SessionListResult {
  /** The sessions, the most recently used first. */
  sessions: SessionInfo[];
}

/** Parameters of `azimuth/session/mode`: the mode of the session's next turns. */
export interface SessionModeParams {
  /** The session. */
  sessionId: SessionId;
  /** The mode. */
  mode: Mode;
  /** True if the user has confirmed it after reading what it means. Without it, `bypass` is refused; the error's message explains it to the user. */
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
  /** The number of the last event that the client has; 0 for all. */
  since?: number;
}

/** Result of `azimuth/session/open`. The client is attached: later events follow as `azimuth/event`. */
export interface SessionOpenResult {
  /** The session. */
  session: SessionInfo;
  /** The events after `since`, in order. */
  events: SequencedEvent[];
  /** The waiting prompts, the next one first. */
  queue: QueueId[];
  /** The running turn, if there is one. */
  runningTurn?: TurnId;
}

/** Parameters of `azimuth/session/promote`: makes a session that was started by `azimuth/inline/instruct` a chat with all tools, to go on there. Its next turn has them. A chat stays one. */
export interface SessionPromoteParams {
  /** The session. */
  sessionId: SessionId;
}

/** Parameters of `azimuth/session/rename`. */
export interface SessionRenameParams {
  /** The session. */
  sessionId: SessionId;
  /** The new title, one line, not empty. */
  title: string;
}

/** Parameters of `azimuth/session/search`. */
export interface SessionSearchParams {
  /** The words to find, separated by white space, in any order and case. Each may be a part of a word in the text, and no character has a special meaning. Without a word nothing is found. */
  query: string;
  /** Only sessions of this folder (a URI); without it, those of the client's workspace folders. */
  folder?: string;
  /** True for the sessions of every folder. */
  everywhere?: boolean;
  /** At most this many hits, 1 to 1000; 50 without it. */
  limit?: number;
}

/** Result of `azimuth/session/search`. */
export interface SessionSearchResult {
  /** The hits: first the sessions whose title has all words, then the prompts and answers that have them, newest first. Of one session there are at most five of the latter. */
  hits: SearchHit[];
  /** The number of sessions that were not searched to their end, because an older version stored them. They are read in the background, so that the same search may find more later. */
  unread: number;
}

/** The subject of a fact about the workspace. */
export type SetupAbout =
  /** The session's model, or else that of new sessions. */
  | 'model'
  /** The trust in the workspace. */
  | 'trust'
  /** The project's rules for agents. */
  | 'rules'
  /** Azimuth's own language servers. */
  | 'servers';

/** A fact about the workspace's setup. */
export interface SetupFact {
  /** The subject, so that a client can offer a remedy. */
  about: SetupAbout;
  /** Its status. */
  state: SetupState;
  /** A description of one line, for the user. */
  text: string;
}

/** The status of a fact about the workspace. */
export type SetupState =
  /** It is set up, and works. */
  | 'inOrder'
  /** Something is missing that the user could fix. */
  | 'lacks'
  /** Information that is neither. */
  | 'neutral';

/** The severity of a notice. */
export type Severity =
  /** Good to know. */
  | 'info'
  /** Something may not be as expected. */
  | 'warning'
  /** Something failed. */
  | 'error';

/** The purpose of a request to a model outside a turn. */
export type SideRole =
  /** The session's title. */
  | 'title';

/** A provider that can be signed in to. */
export interface SignInProvider {
  /** The provider, such as `chatgpt`. */
  provider: string;
  /** Its name, to be shown. */
  title: string;
  /** The ways to sign in, the best first. */
  ways: SignInWay[];
}

/** A way to sign in. */
export type SignInWay =
  /** By a browser on this machine, which comes back to a port that is open until then. Its address can be pasted too. */
  | 'browser'
  /** By a browser on any machine, whose last address is pasted. No port is opened. */
  | 'paste'
  /** By a code that the user types on any device. */
  | 'device';

/** A part of an excerpt, in UTF-16 units. */
export interface SnippetMark {
  /** Its beginning. */
  start: number;
  /** Its end, exclusive. */
  end: number;
}

/** The sum of requests to models. */
export interface Spending {
  /** The number of requests whose tokens are known. */
  requests: number;
  /** Their tokens. */
  usage: Usage;
  /** The number of requests that the cost does not contain, since the price of the model was unknown. */
  unpricedRequests: number;
  /** The share of the input that was read from the cache, from 0 to 1; absent if there was no input. */
  cacheHits?: number;
  /** The cost, or the part of it that is known; absent if nothing is known of it. */
  cost?: number;
}

/** A row of a table of costs. */
export interface SpendingRow {
  /** The model, provider, day (`2026-11-21`), role, or the path of a project. */
  name: string;
  /** The sum. */
  spending: Spending;
  /** A shorter name to show: that of the project's folder, with those above it if two are called the same. */
  title?: string;
}

/** The reason why a turn ended. The first five are ACP's. */
export type StopReason =
  /** The model was done. */
  | 'end_turn'
  /** The answer reached the model's maximum length. */
  | 'max_tokens'
  /** The turn reached its limit of rounds, or went in circles; it asks if it should continue. */
  | 'max_turn_requests'
  /** The model refused to answer. */
  | 'refusal'
  /** The user cancelled it. */
  | 'cancelled'
  /** A failure; `error` says what failed, and what to do. */
  | 'error'
  /** The server ended, or the client that started the turn disconnected. The turn can be continued. */
  | 'interrupted';

/** The reason why a turn asks another model than its own. */
export type SwitchReason =
  /** The vendor takes no more requests for a while. */
  | 'rate_limited'
  /** Its quota, or the account's credit, is used up. */
  | 'quota_used_up'
  /** Its key is refused, or there is none, or its vendor does not serve it. */
  | 'unauthorized'
  /** Its requests failed until no retry was left. */
  | 'failed'
  /** The conversation no longer fits into its context. */
  | 'context_full';

/** Parameters of `azimuth/terminal/ack`: the client has shown a terminal's output up to an offset. */
export interface TerminalAckParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** The offset after the last byte that it has shown. */
  offset: number;
}

/** Parameters of `azimuth/terminal/close`: stop following a terminal. Its command continues. */
export interface TerminalCloseParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
}

/** A pseudo-terminal. */
export type TerminalId = string;

/** The current state of a terminal. */
export interface TerminalInfo {
  /** The terminal. */
  terminalId: TerminalId;
  /** Its purpose. */
  kind: TerminalKind;
  /** The title to show: `shell`, or a job's command line. */
  title: string;
  /** Its current folder, or the one in which it started. */
  cwd: string;
  /** The access that its commands have to the machine. */
  sandbox: SandboxMode;
  /** True if its process lives. */
  alive: boolean;
  /** True if the user has taken it over: the model cannot type into it until it is handed back. */
  taken: boolean;
  /** The time of its start. */
  startedAt: number;
  /** The offset after its last byte of output. */
  end: number;
  /** The command that runs in it. */
  running?: RunningCommand;
  /** Present if that command waits for input. */
  waiting?: Waiting;
  /** For a job: the evidence that it is up. */
  ready?: Ready;
  /** The time of its end. */
  endedAt?: number;
  /** For a job that ended: its exit code; absent if it was killed. */
  exitCode?: number;
}

/** Parameters of `azimuth/terminal/kill`: end the command in a terminal. */
export interface TerminalKillParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
}

/** The purpose of a terminal. */
export type TerminalKind =
  /** The session's shell, in which commands run one after another. */
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

/** Parameters of `azimuth/terminal/open`: follow a terminal's output. */
export interface TerminalOpenParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal; without it, the session's shell, which is started if need be. */
  terminalId?: TerminalId;
  /** The offset to start at, in bytes since the terminal's start. 0 gives everything that is kept. */
  since?: number;
  /** The size of the view. */
  size?: TerminalSize;
  /** True if the client acknowledges output with `azimuth/terminal/ack`. It is then sent at most 256 KiB ahead of that. */
  acknowledges?: boolean;
}

/** Result of `azimuth/terminal/open`. The bytes follow as `azimuth/terminal/output`. */
export interface TerminalOpenResult {
  /** The terminal. */
  terminalId: TerminalId;
  /** The offset of the first byte that will be sent. Larger than requested if older bytes are no longer kept. */
  since: number;
  /** True if the terminal's process lives. */
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

/** A signal for the command in a terminal. */
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

/** Parameters of `azimuth/terminal/signal`: send a signal to the command in a terminal. */
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

/** Parameters of `azimuth/terminal/take`: take a terminal over, so that only the user types into it and its time limits pause, or hand it back. The same call twice is harmless. */
export interface TerminalTakeParams {
  /** The session. */
  sessionId: SessionId;
  /** The terminal. */
  terminalId: TerminalId;
  /** True takes it over; false hands it back. */
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

/** The terms on which a session started another one. */
export interface Terms {
  /** The session that started it. */
  sessionId: SessionId;
  /** The names of the only tools that it has. */
  tools: string[];
  /** The most that it may use. */
  budget: Budget;
}

/** How long a model thinks before it answers. */
export type ThinkingLevel =
  /** Not at all. */
  | 'off'
  /** As little as it can. */
  | 'minimal'
  /** Little. */
  | 'low'
  /** Some. */
  | 'medium'
  /** Much. */
  | 'high'
  /** Very much. */
  | 'xhigh'
  /** As much as it can. */
  | 'max';

/** The level at which the model of a turn thinks. */
export interface Thinks {
  /** The level; absent if it thinks as it does by itself. */
  level?: ThinkingLevel;
  /** True if another level is told within the conversation, so that the vendor's cache still has what came before. */
  inPlace?: boolean;
}

/** The time that a model's answer took, by a clock that is never set back. */
export interface Timing {
  /** From the request to the first piece of the answer, in milliseconds. */
  firstMs: number;
  /** From the request to the end of the answer, in milliseconds. */
  totalMs: number;
}

/** One call of a tool. It is the vendor's id if the vendor gives one. */
export type ToolCallId = string;

/** The calls of a tool. */
export interface ToolCalls {
  /** The tool. */
  name: string;
  /** The number of calls. */
  calls: number;
  /** The number of those of them that failed, or were refused. */
  failed: number;
}

/** The kind of a tool; ACP's tool kinds. */
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

/** The result of a tool call. Every tool call has exactly one. */
export interface ToolResult {
  /** The call. */
  toolCallId: ToolCallId;
  /** The text that the model reads, bounded. */
  text: string;
  /** True if the call failed. */
  isError: boolean;
}

/** Parameters of `azimuth/turn/cancel`. */
export interface TurnCancelParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn to cancel; without it, the one that runs. */
  turnId?: TurnId;
}

/** Result of `azimuth/turn/cancel`. */
export interface TurnCancelResult {
  /** True if a turn or a user command was running. Its end follows as an event. */
  cancelled: boolean;
}

/** One prompt turn of a session. */
export type TurnId = string;

/** Parameters of `azimuth/turn/plan`: the plan of the session's task, as the user wants it. */
export interface TurnPlanParams {
  /** The session. */
  sessionId: SessionId;
  /** The steps, in their order, at most 50; none to drop the plan. */
  entries: PlanEntry[];
}

/** Parameters of `azimuth/turn/queue`: add a prompt for after the running turn or in its place, take one back, or move it. */
export type TurnQueueParams =
  | TurnQueueParamsAdd
  | TurnQueueParamsRemove
  | TurnQueueParamsNow
  | TurnQueueParamsMove;

/** Add a prompt at the queue's end. If no turn runs, it starts at once. */
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

/** Break off the turn, or the user's own command, and begin with this prompt. If nothing runs, it starts at once. */
export interface TurnQueueParamsNow {
  type: 'now';
  /** The session. */
  sessionId: SessionId;
  /** The prompt. */
  prompt: PromptBlock[];
}

/** Give a waiting prompt another place among those that wait. One that was said to the running turn stays. */
export interface TurnQueueParamsMove {
  type: 'move';
  /** The session. */
  sessionId: SessionId;
  /** The waiting prompt. */
  queueId: QueueId;
  /** The place, from 0; behind the others if there are not so many. */
  to: number;
}

/** Result of `azimuth/turn/queue`. */
export interface TurnQueueResult {
  /** The waiting prompts, the next one first. */
  queue: QueueId[];
  /** The waiting prompt that was added. */
  added?: QueueId;
}

/** Parameters of `azimuth/turn/retry`. */
export interface TurnRetryParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn that waits; without it, the one that runs. */
  turnId?: TurnId;
}

/** Result of `azimuth/turn/retry`. */
export interface TurnRetryResult {
  /** True if the turn was waiting. An event `retrying` with a delay of 0 follows. */
  retried: boolean;
}

/** Parameters of `azimuth/turn/start`. */
export interface TurnStartParams {
  /** The session. */
  sessionId: SessionId;
  /** The prompt. Empty to continue a turn that was interrupted or failed. A single text that begins with `!` is a user command. */
  prompt: PromptBlock[];
  /** The mode of this turn and the next ones; without it, the session's. */
  mode?: Mode;
}

/** Result of `azimuth/turn/start`, which is answered at once. The rest comes as events. */
export interface TurnStartResult {
  /** The turn; absent if the prompt contained only slash commands, or was a user command (`!command`). Their results are events. */
  turnId?: TurnId;
  /** The session in which the client should continue, after `/new` or `/resume`. */
  switchTo?: SessionId;
}

/** Parameters of `azimuth/turn/steer`: a message to the running turn, for its next request to the model. */
export interface TurnSteerParams {
  /** The session. */
  sessionId: SessionId;
  /** The turn that the user means. If another one runs, or none, the error is `wrongTurn`. */
  expectedTurnId: TurnId;
  /** The message. */
  prompt: PromptBlock[];
}

/** The one who typed. */
export type Typist =
  /** The user. */
  | 'user'
  /** The model. */
  | 'model';

/** A model of requests whose cost is unknown. */
export interface UnpricedModel {
  /** The model's id. */
  model: string;
  /** The number of these requests. */
  requests: number;
}

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
  /** Those of them that were written for an hour, which costs more. Sums of several requests may leave it out, since they have the cost beside them. */
  cacheWriteHour?: number;
}

/** A command that waits for input. */
export interface Waiting {
  /** The certainty. */
  certainty: Certainty;
  /** Its question: the last line that it printed, which may be empty. */
  prompt: string;
  /** True if the input is hidden, as for a password. Then only the user can type it, and it is never kept. */
  hidden: boolean;
}

/** Parameters of `azimuth/workspace/trust`. What a trusted folder supplies may run, and what it allows counts. */
export interface WorkspaceTrustParams {
  /** The folder, as a URI; without it, the client's workspace folders. */
  folder?: string;
  /** The user's answer; without it, nothing is changed. */
  trusted?: boolean;
  /** True for the editor's own trust, which counts while the editor is connected and is not kept. */
  byEditor?: boolean;
}

/** Result of `azimuth/workspace/trust`. */
export interface WorkspaceTrustResult {
  /** True if the folder, or all of them, are trusted now. */
  trusted: boolean;
  /** True if the user or the editor has decided that. Otherwise the first turn asks. */
  decided: boolean;
}
