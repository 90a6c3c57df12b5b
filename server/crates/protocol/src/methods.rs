//! The table of methods: one line each, with everything that is generated from it.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::SessionId;
use crate::auth::{
    AuthCancelParams, AuthKeepParams, AuthKeepResult, AuthListParams, AuthListResult, AuthLoginParams, AuthLoginResult,
    AuthLogoutParams, AuthLogoutResult, AuthPasteParams, AuthWaitParams, AuthWaitResult,
};
use crate::beginnings::{PromptBeginningsParams, PromptBeginningsResult};
use crate::checkpoint::{
    CheckpointListParams, CheckpointListResult, CheckpointPreviewParams, CheckpointPreviewResult,
    CheckpointRestoreParams, CheckpointRestoreResult,
};
use crate::compaction::{CompactionCorrectParams, CompactionUndoParams};
use crate::costs::{CostsShowParams, CostsShowResult, CostsSumsParams, CostsSumsResult};
use crate::editor::{EditorDocumentParams, EditorFormatParams, EditorFormatResult, EditorSaveResult, EditorTextResult};
use crate::errors::ErrorCode;
use crate::event::EventParams;
use crate::inline::counts::{InlineCountsParams, InlineCountsResult};
use crate::inline::{
    InlineAcceptParams, InlineAcceptResult, InlineChangedParams, InlineCompleteParams, InlineCompleteResult,
    InlineEditParams, InlineEditResult, InlineExplainParams, InlineExplainResult, InlineFeedbackParams,
    InlineInstructParams, InlineInstructResult, InlineStatusParams,
};
use crate::lang::{EditorQueryParams, LangResult};
use crate::model::{ModelListParams, ModelListResult, ModelSelectParams, ModelSelectResult, ModelsChangedParams};
use crate::permission::{
    PermissionAnswerParams, PermissionAnswerResult, PermissionListParams, PermissionListResult, PermissionRevokeParams,
    WorkspaceTrustParams, WorkspaceTrustResult,
};
use crate::review::{
    ProposedText, ReviewAutoParams, ReviewChangeParams, ReviewCommentParams, ReviewDecideParams, ReviewListParams,
    ReviewResult, ReviewTextParams,
};
use crate::role::{ModelPickParams, ModelPickResult, ModelRolesParams, ModelRolesResult};
use crate::search::{PromptHistoryParams, PromptHistoryResult, SessionSearchParams, SessionSearchResult};
use crate::servers::{
    ServersChangedParams, ServersListParams, ServersListResult, ServersRestartParams, ServersRestartResult,
};
use crate::session::{
    PromptCompleteParams, PromptCompleteResult, PromptPutParams, SessionCloseParams, SessionDeleteParams,
    SessionExportParams, SessionExportResult, SessionListParams, SessionListResult, SessionModeParams,
    SessionNewParams, SessionNewResult, SessionOpenParams, SessionOpenResult, SessionPromoteParams,
    SessionRenameParams,
};
use crate::terminal::{
    Done, TerminalAckParams, TerminalCloseParams, TerminalKillParams, TerminalListParams, TerminalListResult,
    TerminalOpenParams, TerminalOpenResult, TerminalOutputParams, TerminalResizeParams, TerminalSignalParams,
    TerminalTakeParams, TerminalWriteParams,
};
use crate::turn::{
    TurnCancelParams, TurnCancelResult, TurnPlanParams, TurnQueueParams, TurnQueueResult, TurnRetryParams,
    TurnRetryResult, TurnStartParams, TurnStartResult, TurnSteerParams,
};

/// A request.
pub trait Request: 'static {
    /// The method's name.
    const METHOD: &'static str;
    /// The parameters.
    type Params: DeserializeOwned + Serialize + JsonSchema + Send + 'static;
    /// The result.
    type Result: DeserializeOwned + Serialize + JsonSchema + Send + 'static;
    /// The result as the server gives it. It is the same in JSON, but a log in it may be the store's own text.
    type Answer: DeserializeOwned + Serialize + Send + 'static;

    /// The session that a request with these parameters is about.
    fn session(params: &Self::Params) -> Option<&SessionId>;
}

/// The part of the server that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The server as a whole.
    Global,
    /// The session that the parameters name. It may have to be opened first, or be another window's.
    Session,
    /// The session that the parameters name, or the server as a whole if they name none.
    Either,
}

/// A notification from the server to the client.
pub trait Notification {
    /// The method's name.
    const METHOD: &'static str;
    /// The parameters.
    type Params: DeserializeOwned + Serialize + JsonSchema + Send + 'static;
}

/// A method as data, for documents and generated types.
pub struct MethodSpec {
    /// The method's name.
    pub method: &'static str,
    /// The description.
    pub doc: &'static str,
    /// The schema of its parameters.
    pub params: fn(&mut SchemaGenerator) -> Schema,
    /// The schema of its result; none for a notification.
    pub result: Option<fn(&mut SchemaGenerator) -> Schema>,
    /// The part of the server that it is for.
    pub scope: Scope,
    /// The errors of its own: see [`MethodSpec::errors`].
    own_errors: &'static [ErrorCode],
}

impl MethodSpec {
    /// Its errors, in addition to `invalidParams`, `internalError` and `requestCancelled`. Every request about a
    /// session can fail to open it, or to reach the window that has it.
    pub fn errors(&self) -> impl Iterator<Item = ErrorCode> {
        let (first, rest): (&[_], &[_]) = match self.scope {
            Scope::Global => (&[], &[]),
            Scope::Session | Scope::Either => (
                &[ErrorCode::NotFound],
                &[ErrorCode::SessionLocked, ErrorCode::StoreFailed, ErrorCode::OperationFailed],
            ),
        };
        first.iter().chain(self.own_errors).chain(rest).copied()
    }
}

macro_rules! scope {
    (global) => {
        Scope::Global
    };
    (either) => {
        Scope::Either
    };
    ($($session:ident)+) => {
        Scope::Session
    };
}

macro_rules! session_of {
    ($params:ident, global) => {{
        let _ = $params;
        None
    }};
    ($params:ident, either) => {
        $params.session_id.as_ref()
    };
    ($params:ident, session) => {
        Some(&$params.session_id)
    };
    ($params:ident, session of variant) => {
        Some($params.session_id())
    };
}

macro_rules! answer {
    ($result:ty) => {
        $result
    };
    ($result:ty, $answer:ty) => {
        $answer
    };
}

macro_rules! requests {
    ($(#[doc = $table_doc:literal])+ $table:ident; $($(#[doc = $doc:literal])+ $name:ident = $method:literal, $($scope:ident)+: $params:ty => $result:ty $(as $answer:ty)?, [$($error:ident),*];)*) => {
        $(
            $(#[doc = $doc])+
            pub struct $name;
            impl Request for $name {
                const METHOD: &'static str = $method;
                type Params = $params;
                type Result = $result;
                type Answer = answer!($result $(, $answer)?);

                fn session(params: &Self::Params) -> Option<&SessionId> {
                    session_of!(params, $($scope)+)
                }
            }
        )*

        $(#[doc = $table_doc])+
        pub const $table: &[MethodSpec] = &[$(
            MethodSpec {
                method: $method,
                doc: concat!($($doc, "\n"),+),
                params: |generator| generator.subschema_for::<$params>(),
                result: Some(|generator| generator.subschema_for::<$result>()),
                scope: scope!($($scope)+),
                own_errors: &[$(ErrorCode::$error),*],
            },
        )*];
    };
}

macro_rules! notifications {
    ($($(#[doc = $doc:literal])+ $name:ident = $method:literal, $params:ty;)*) => {
        $(
            $(#[doc = $doc])+
            pub struct $name;
            impl Notification for $name {
                const METHOD: &'static str = $method;
                type Params = $params;
            }
        )*

        /// Every notification from server to client, in the order of the documentation.
        pub const NOTIFICATIONS: &[MethodSpec] = &[$(
            MethodSpec {
                method: $method,
                doc: concat!($($doc, "\n"),+),
                params: |generator| generator.subschema_for::<$params>(),
                result: None,
                scope: Scope::Global,
                own_errors: &[],
            },
        )*];
    };
}

requests! {
    /// Every request from client to server, in the order of the documentation.
    REQUESTS;
    /// Creates a session and attaches the client to it.
    SessionNew = "azimuth/session/new", global: SessionNewParams => SessionNewResult, [NotFound, SessionLocked, StoreFailed, OperationFailed];
    /// Lists sessions.
    SessionList = "azimuth/session/list", global: SessionListParams => SessionListResult, [StoreFailed];
    /// Searches the titles, prompts and answers of sessions. Any text is a valid query.
    SessionSearch = "azimuth/session/search", global: SessionSearchParams => SessionSearchResult, [StoreFailed];
    /// Opens a session, attaches the client to it, and returns its events after a number.
    SessionOpen = "azimuth/session/open", session: SessionOpenParams => SessionOpenResult as SessionOpenResult<Box<RawValue>>, [];
    /// Detaches the client from a session.
    SessionClose = "azimuth/session/close", session: SessionCloseParams => Done, [];
    /// Renames a session.
    SessionRename = "azimuth/session/rename", session: SessionRenameParams => Done, [];
    /// Makes a session that was started by `azimuth/inline/instruct` a chat with all tools, to go on there.
    SessionPromote = "azimuth/session/promote", session: SessionPromoteParams => Done, [];
    /// Sets the mode of a session's next turns. `bypass` needs a confirmation.
    SessionMode = "azimuth/session/mode", session: SessionModeParams => Done, [];
    /// Deletes a session and everything that belongs to it. This cannot be undone.
    SessionDelete = "azimuth/session/delete", session: SessionDeleteParams => Done, [];
    /// Returns a session as a page or as JSON lines, without its secrets. It need not be open.
    SessionExport = "azimuth/session/export", global: SessionExportParams => SessionExportResult, [NotFound, OperationFailed, StoreFailed];
    /// Starts a turn. Answers at once with the turn's id; the rest are events.
    TurnStart = "azimuth/turn/start", session: TurnStartParams => TurnStartResult, [TurnRunning];
    /// Sends a message to the running turn.
    TurnSteer = "azimuth/turn/steer", session: TurnSteerParams => Done, [WrongTurn];
    /// Adds a prompt to the queue or in the place of what runs, takes one back, or moves it.
    TurnQueue = "azimuth/turn/queue", session of variant: TurnQueueParams => TurnQueueResult, [];
    /// Sets the steps of the model's plan. The model is told with its next request.
    TurnPlan = "azimuth/turn/plan", session: TurnPlanParams => Done, [];
    /// Cancels the running turn.
    TurnCancel = "azimuth/turn/cancel", session: TurnCancelParams => TurnCancelResult, [WrongTurn];
    /// Tries a request to the model again now, if the running turn waits before it does so by itself.
    TurnRetry = "azimuth/turn/retry", session: TurnRetryParams => TurnRetryResult, [WrongTurn];
    /// Answers a question for permission.
    PermissionAnswer = "azimuth/permission/answer", session: PermissionAnswerParams => PermissionAnswerResult, [];
    /// Lists the permission rules in force, with their sources.
    PermissionList = "azimuth/permission/list", session: PermissionListParams => PermissionListResult, [];
    /// Revokes a rule that was granted.
    PermissionRevoke = "azimuth/permission/revoke", session: PermissionRevokeParams => Done, [];
    /// Returns the trust in a folder, or changes it.
    WorkspaceTrust = "azimuth/workspace/trust", global: WorkspaceTrustParams => WorkspaceTrustResult, [StoreFailed, OperationFailed];
    /// Lists the proposals that wait for a decision.
    ReviewList = "azimuth/review/list", session: ReviewListParams => ReviewResult, [];
    /// Accepts or rejects hunks. The same call twice is harmless; a stale one changes nothing.
    ReviewDecide = "azimuth/review/decide", session: ReviewDecideParams => ReviewResult, [StaleReview];
    /// Returns a file before and after its pending hunks, for a comparison.
    ReviewText = "azimuth/review/text", session: ReviewTextParams => ProposedText, [];
    /// Replaces the proposed text of a file with the user's. It accepts nothing.
    ReviewChange = "azimuth/review/change", session: ReviewChangeParams => ReviewResult, [StaleReview];
    /// Sends a comment on a hunk to the model. It decides nothing.
    ReviewComment = "azimuth/review/comment", session: ReviewCommentParams => ReviewResult, [];
    /// Switches automatic accepting of edits on or off: in the session until the server ends, or in its project
    /// permanently. The edits can be undone.
    ReviewAuto = "azimuth/review/auto", session: ReviewAutoParams => Done, [];
    /// Lists the turns that changed files, with their changes and the current status of each file.
    CheckpointList = "azimuth/checkpoint/list", session: CheckpointListParams => CheckpointListResult, [];
    /// Returns what undoing or redoing a turn would do to each file. It changes nothing.
    CheckpointPreview = "azimuth/checkpoint/preview", session: CheckpointPreviewParams => CheckpointPreviewResult, [];
    /// Undoes what a turn did to files, or what all turns from a message on did. A file that was changed since is left
    /// and named, unless it is confirmed. Undecided hunks of these turns are rejected. The same call twice is harmless.
    CheckpointUndo = "azimuth/checkpoint/undo", session: CheckpointRestoreParams => CheckpointRestoreResult, [TurnRunning];
    /// Redoes what was undone, by the same rules.
    CheckpointRedo = "azimuth/checkpoint/redo", session: CheckpointRestoreParams => CheckpointRestoreResult, [TurnRunning];
    /// Replaces what a model wrote of a handover. The model reads the new text from the next request on.
    CompactionCorrect = "azimuth/compaction/correct", session: CompactionCorrectParams => Done, [TurnRunning];
    /// Takes a handover back: from the next request on the model sees the replaced messages again.
    CompactionUndo = "azimuth/compaction/undo", session: CompactionUndoParams => Done, [TurnRunning];
    /// Lists a session's terminals: its shell and its jobs.
    TerminalList = "azimuth/terminal/list", session: TerminalListParams => TerminalListResult, [];
    /// Follows a terminal's output from an offset on.
    TerminalOpen = "azimuth/terminal/open", session: TerminalOpenParams => TerminalOpenResult, [];
    /// Types into a terminal.
    TerminalWrite = "azimuth/terminal/write", session: TerminalWriteParams => Done, [];
    /// Sets a terminal's size.
    TerminalResize = "azimuth/terminal/resize", session: TerminalResizeParams => Done, [];
    /// Ends the command in a terminal.
    TerminalKill = "azimuth/terminal/kill", session: TerminalKillParams => Done, [];
    /// Sends a signal to the command in a terminal.
    TerminalSignal = "azimuth/terminal/signal", session: TerminalSignalParams => Done, [];
    /// Takes a terminal over from the model, or hands it back.
    TerminalTake = "azimuth/terminal/take", session: TerminalTakeParams => Done, [];
    /// Acknowledges a terminal's output.
    TerminalAck = "azimuth/terminal/ack", session: TerminalAckParams => Done, [];
    /// Stops following a terminal's output.
    TerminalClose = "azimuth/terminal/close", session: TerminalCloseParams => Done, [];
    /// Lists the models.
    ModelList = "azimuth/model/list", global: ModelListParams => ModelListResult, [];
    /// Chooses a model for a session, or for new sessions.
    ModelSelect = "azimuth/model/select", either: ModelSelectParams => ModelSelectResult, [];
    /// Lists the roles of models, with what each comes to now, and why.
    ModelRoles = "azimuth/model/roles", global: ModelRolesParams => ModelRolesResult, [];
    /// Picks a model for a role, until Azimuth ends or for good. It counts in all conversations of this process; one
    /// for plans does not count in those in which a model was chosen.
    ModelPick = "azimuth/model/pick", global: ModelPickParams => ModelPickResult, [OperationFailed];
    /// Lists Azimuth's own language servers for the client's workspace folders, with their status. Servers that the
    /// editor runs are not among them.
    ServersList = "azimuth/servers/list", global: ServersListParams => ServersListResult, [OperationFailed];
    /// Restarts Azimuth's own language servers with the next question, and reads their configuration files again.
    ServersRestart = "azimuth/servers/restart", global: ServersRestartParams => ServersRestartResult, [OperationFailed];
    /// Completes a prompt: slash commands and their arguments after `/`, files after `@`.
    PromptComplete = "azimuth/prompt/complete", session: PromptCompleteParams => PromptCompleteResult, [];
    /// Returns what the user has typed in earlier sessions, the last first.
    PromptHistory = "azimuth/prompt/history", global: PromptHistoryParams => PromptHistoryResult, [StoreFailed];
    /// Returns what an empty chat offers: the setup of the client's workspace, and prompts to try for a document.
    PromptBeginnings = "azimuth/prompt/beginnings", global: PromptBeginningsParams => PromptBeginningsResult, [OperationFailed];
    /// Returns suggestions of text at the cursor. The answer is empty, with the reason, if there is nothing to show;
    /// it is never for another text than the one that the server has when it answers.
    InlineComplete = "azimuth/inline/complete", global: InlineCompleteParams => InlineCompleteResult, [];
    /// Returns the next edit: how the text goes on to change after what the user has just changed. The answer is empty,
    /// with the reason, if there is nothing to show. The edit is kept in step with what is typed; see
    /// `azimuth/inline/changed`.
    InlineEdit = "azimuth/inline/edit", global: InlineEditParams => InlineEditResult, [];
    /// Accepts a suggested edit, or some of its hunks.
    InlineAccept = "azimuth/inline/accept", global: InlineAcceptParams => InlineAcceptResult, [NotFound, StaleReview, OperationFailed];
    /// Has a model change what is selected as the user says ("change this"). Its changes are proposals.
    InlineInstruct = "azimuth/inline/instruct", either: InlineInstructParams => InlineInstructResult, [TurnRunning];
    /// Tells what became of a suggestion. It can be sent as a notification too.
    InlineFeedback = "azimuth/inline/feedback", global: InlineFeedbackParams => Done, [];
    /// Returns the last decisions on suggestions: the rules that kept them back or changed them.
    InlineExplain = "azimuth/inline/explain", global: InlineExplainParams => InlineExplainResult, [];
    /// Returns how suggestions fare: numbers by model, which are kept on this machine only.
    InlineCounts = "azimuth/inline/counts", global: InlineCountsParams => InlineCountsResult, [OperationFailed];
    /// Returns the costs of a session, of today and of all sessions, the budgets, and what vendors said of their
    /// limits.
    CostsShow = "azimuth/costs/show", global: CostsShowParams => CostsShowResult, [StoreFailed];
    /// Returns the cost of today and of all time only. A client asks for it when the cost of a session has changed.
    CostsSums = "azimuth/costs/sums", global: CostsSumsParams => CostsSumsResult, [StoreFailed];
    /// Lists the accounts that Azimuth keeps, the providers that can be signed in to, and the source of each key.
    AuthList = "azimuth/auth/list", global: AuthListParams => AuthListResult, [OperationFailed];
    /// Begins to sign in to a provider: the client shows the page, and the code if there is one. The client's sign-in
    /// that has begun before ends.
    AuthLogin = "azimuth/auth/login", global: AuthLoginParams => AuthLoginResult, [NotFound, OperationFailed];
    /// Waits until a sign-in is done. The answer comes when the user has signed in or refused, after ten minutes, or
    /// when the sign-in is cancelled.
    AuthWait = "azimuth/auth/wait", global: AuthWaitParams => AuthWaitResult, [NotFound, OperationFailed];
    /// Ends a sign-in by the address that the browser ended at. If that is of another page, the sign-in goes on.
    AuthPaste = "azimuth/auth/paste", global: AuthPasteParams => Done, [NotFound, OperationFailed];
    /// Cancels a sign-in. Nothing is kept.
    AuthCancel = "azimuth/auth/cancel", global: AuthCancelParams => Done, [];
    /// Keeps an API key as an account, in the file of accounts. The key is in no log and no answer. A key that its
    /// vendor refuses is kept only with `unchecked`, which the user has to confirm.
    AuthKeep = "azimuth/auth/keep", global: AuthKeepParams => AuthKeepResult, [NotFound, OperationFailed, NotConfirmed];
    /// Forgets the accounts of a provider, or one of them, and tells the vendor that the sign-in has ended.
    AuthLogout = "azimuth/auth/logout", global: AuthLogoutParams => AuthLogoutResult, [NotFound, OperationFailed];
}

notifications! {
    /// Something happened in a session that the client is attached to.
    EventNotification = "azimuth/event", EventParams;
    /// Bytes of a terminal that the client follows.
    TerminalOutput = "azimuth/terminal/output", TerminalOutputParams;
    /// The state of one of Azimuth's own language servers changed; `azimuth/servers/list` returns it. Sent at most
    /// twice a second, to a client that has used one of Azimuth's methods.
    ServersChanged = "azimuth/servers/changed", ServersChangedParams;
    /// A provider that took its time has listed its models by now, or one was added or removed in a chat;
    /// `azimuth/model/list` returns the models. Sent to a client that has used one of Azimuth's methods.
    ModelsChanged = "azimuth/model/changed", ModelsChangedParams;
    /// The user has chosen a code action that starts a workflow; its prompt is for the visible chat. Sent to a client
    /// with the capability `panel`; other clients get it in a chat document.
    PromptPut = "azimuth/prompt/put", PromptPutParams;
    /// The state of suggestions where the user types; until the first of these it is `off`. Sent when it changes, to a
    /// client that has a panel or has used one of Azimuth's methods.
    InlineStatus = "azimuth/inline/status", InlineStatusParams;
    /// A suggested edit is another one, or none, since the document has changed.
    InlineChanged = "azimuth/inline/changed", InlineChangedParams;
}

requests! {
    /// Every request from server to client, in the order of the documentation. Each is sent only to a client that
    /// announced it, and has a deadline.
    CLIENT_REQUESTS;
    /// Saves a document, including everything that the editor does on save. Needs the capability `save`.
    EditorSave = "azimuth/editor/save", global: EditorDocumentParams => EditorSaveResult, [];
    /// Returns a document's text in the editor. Needs the capability `text`.
    EditorText = "azimuth/editor/text", global: EditorDocumentParams => EditorTextResult, [];
    /// Returns the text of a document, formatted by the editor or one of its language servers. Needs the capability
    /// `format`.
    EditorFormat = "azimuth/editor/format", global: EditorFormatParams => EditorFormatResult, [];
    /// Passes a question about code to the language servers that the editor runs, never to this one, and returns their
    /// answer. It changes nothing. Needs the capability `query`.
    EditorQuery = "azimuth/editor/query", global: EditorQueryParams => LangResult, [];
}
