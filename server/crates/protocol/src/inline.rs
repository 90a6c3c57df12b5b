//! Suggestions where the user types: `azimuth/inline/*`.
//!
//! Ghost text also has LSP's own method, `textDocument/inlineCompletion` (3.18), which has the same source.

pub mod counts;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::{Position, Range};
use crate::{SessionId, TurnId};

/// A document at a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineDocument {
    /// The document.
    pub uri: String,
    /// The version that the client shows. If the server has another one by now, the answer is empty. Without it, the
    /// document is taken as the server has it when the request comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
}

/// The reason why a suggestion is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineTrigger {
    /// The user asked for it. Rules that only keep suggestions from being a nuisance do not hold.
    Invoked,
    /// The user types.
    #[default]
    Automatic,
}

/// The entry that is selected in the completion menu.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SelectedCompletion {
    /// The range that the entry would replace.
    pub range: Range,
    /// The entry's text.
    pub text: String,
}

/// The way in which the editor indents a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Indentation {
    /// The width of a tab, in columns.
    pub tab_size: u32,
    /// True if it indents with spaces.
    pub insert_spaces: bool,
}

/// Parameters of `azimuth/inline/complete`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineCompleteParams {
    /// The document.
    pub text_document: InlineDocument,
    /// The cursor.
    pub position: Position,
    /// The reason.
    #[serde(default)]
    pub trigger: InlineTrigger,
    /// The entry that is selected in the completion menu, if it is open. A suggestion extends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected: Option<SelectedCompletion>,
    /// The way in which the editor indents; without it, the document shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indentation: Option<Indentation>,
    /// True if something is selected, or there are several cursors.
    #[serde(default)]
    pub selecting: bool,
}

/// Result of `azimuth/inline/complete`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineCompleteResult {
    /// The suggestions, the best first: at most one if the user types, at most three if the user asked.
    pub items: Vec<InlineItem>,
    /// The rule that left nothing to show, if there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A suggestion at the cursor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineItem {
    /// Its name in `azimuth/inline/feedback`.
    pub id: String,
    /// The range that it replaces: on the cursor's line, with the cursor in it or at its end.
    pub range: Range,
    /// The text in its place, plain. It begins with the text from the range's beginning to the cursor.
    pub text: String,
    /// The version of the document that the range is of.
    pub version: i32,
}

/// Parameters of `azimuth/inline/edit`: asks for the next edit, that is how the text goes on to change after what the
/// user has just changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineEditParams {
    /// The document.
    pub text_document: InlineDocument,
    /// The cursor.
    pub position: Position,
    /// The reason.
    #[serde(default)]
    pub trigger: InlineTrigger,
    /// True if something is selected, or there are several cursors.
    #[serde(default)]
    pub selecting: bool,
}

/// Result of `azimuth/inline/edit`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineEditResult {
    /// The edit, if there is one. It takes the place of the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<InlineEdit>,
    /// The rule that left nothing to show, if there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// A suggested edit. Nothing of it is in the document until it is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineEdit {
    /// Its name in `azimuth/inline/accept` and `azimuth/inline/feedback`.
    pub id: String,
    /// Its kind.
    pub kind: InlineEditKind,
    /// The document that it changes, which may be another than the one that was asked about, as the client names it.
    pub uri: String,
    /// The version of the document that the ranges are of. Absent if the document is not open: the ranges are of the
    /// file on disk. The edit can be accepted once the client has opened it, and `azimuth/inline/changed` then says
    /// its version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
    /// The parts that can be accepted one by one, from top to bottom, at least one. They do not overlap.
    pub hunks: Vec<InlineHunk>,
    /// The position to jump to before it is accepted: that of the part that is nearest to the cursor.
    pub target: Position,
    /// The only hunk as ghost text at the cursor, if it can be shown so: a range on the cursor's line that ends at or
    /// after the cursor, and a text that begins with what stands between the beginning of the range and the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ghost: Option<GhostText>,
    /// The model that it is from. Absent if it follows from the text alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A replacement that an editor can show as ghost text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GhostText {
    /// The range.
    pub range: Range,
    /// The text in its place.
    pub text: String,
}

/// The kind of a suggested edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineEditKind {
    /// It changes the text around the cursor.
    Edit,
    /// It changes another part of the document, or another document: jump there first.
    Jump,
    /// It renames what the user has renamed in one place in the others.
    Rename,
}

/// A part of a suggested edit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineHunk {
    /// Its name in `azimuth/inline/accept` and `azimuth/inline/feedback`.
    pub id: String,
    /// The range that it replaces. Whole lines, unless both the old and the new text are parts of one line.
    pub range: Range,
    /// The text in its place, with LF line ends.
    pub text: String,
}

/// Parameters of `azimuth/inline/accept`: puts a suggested edit, or a part of it, into the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineAcceptParams {
    /// The edit.
    pub id: String,
    /// The hunks; without them, all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<String>>,
}

/// Result of `azimuth/inline/accept`. The server has changed the document with `workspace/applyEdit`, in one step, and
/// has seen the changed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineAcceptResult {
    /// The document that was changed.
    pub uri: String,
    /// The end of what was put into it, where the cursor belongs.
    pub cursor: Position,
    /// The rest of the edit, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest: Option<InlineEdit>,
}

/// Parameters of the notification `azimuth/inline/changed`: the suggested edit is another one, since the document has
/// changed. Sent only to clients that asked for edits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineChangedParams {
    /// The edit as it was named.
    pub id: String,
    /// The rest of it, at its new position; absent if it is to go off the screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<InlineEdit>,
    /// The rule that took it off the screen, if it is to go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// Parameters of `azimuth/inline/instruct`: has a model change what is selected, or write at the cursor, as the user
/// says. Its changes are proposals, which are reviewed like those of a chat; nothing is in the document before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineInstructParams {
    /// The document.
    pub text_document: InlineDocument,
    /// The selected ranges. An empty range is a cursor, at which something is to be written. Without any, the whole
    /// document is meant.
    #[serde(default)]
    pub selections: Vec<Range>,
    /// The change that is wanted, in the user's words. Nothing in it is a slash command.
    pub instruction: String,
    /// The session of an earlier instruction, to go on from what it has proposed. A client that does not follow it
    /// follows it from here on; one in another window than the session's host opens it first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// Result of `azimuth/inline/instruct`. The client follows the session: its events arrive as `azimuth/event`, from the
/// first one on if it is new. `azimuth/session/promote` makes it a chat, to go on there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineInstructResult {
    /// The session.
    pub session_id: SessionId,
    /// The turn that does it.
    pub turn_id: TurnId,
}

/// A rule that applied, with its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// The rule.
    pub rule: Rule,
    /// Its meaning in a sentence, for the user, with details where there are some.
    pub words: String,
}

impl From<Rule> for Reason {
    fn from(rule: Rule) -> Self {
        Self { rule, words: rule.words().to_owned() }
    }
}

/// Parameters of `azimuth/inline/feedback`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineFeedbackParams {
    /// The suggestion.
    pub id: String,
    /// The event.
    pub event: InlineEvent,
    /// For a part of an edit: the hunk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunk: Option<String>,
    /// For `partly`: the characters of the suggestion's text that have been accepted so far, from its beginning, in
    /// UTF-16.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
}

/// The fate of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineEvent {
    /// It is on the screen.
    Shown,
    /// All of it was accepted.
    Accepted,
    /// A word or a line of it was accepted.
    Partly,
    /// The user dismissed it. The same one is not shown there again.
    Rejected,
    /// It went off the screen because the user did something else.
    Ignored,
    /// Another one took its place.
    Replaced,
}

/// Parameters of the notification `azimuth/inline/status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineStatusParams {
    /// The state.
    pub state: InlineState,
    /// The model that suggests, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that suggests edits, if there is one. Without it, asking for edits is of no use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit_model: Option<String>,
    /// The reason, if nothing is suggested, or the model is slow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The cost of today's suggestions (UTC) in US dollars, in all windows, rounded to a tenth of a cent. Absent if
    /// nothing costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// True if a model may cost something, but its price is not known: `cost` lacks it, and no limit holds for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cost_unknown: bool,
}

/// The state of ghost text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineState {
    /// No model is set or found, or today's limit of cost is reached: nothing is suggested, and asking is of no use.
    Off,
    /// Suggestions can be asked for.
    Ready,
    /// They can be asked for, but lately the model took so long that most of them come too late.
    Slow,
    /// The model's server has failed several times in a row. It is asked again, less often.
    Failing,
}

/// Parameters of `azimuth/inline/explain`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InlineExplainParams {
    /// The document; without it, all documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
}

/// Result of `azimuth/inline/explain`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineExplainResult {
    /// The last decisions, the newest first; at most 50.
    pub decisions: Vec<InlineDecision>,
}

/// The fate of a request for a suggestion. It contains nothing of the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineDecision {
    /// The document.
    pub uri: String,
    /// The cursor.
    pub position: Position,
    /// The reason why it was asked for.
    pub trigger: InlineTrigger,
    /// True for an edit, and not for text at the cursor.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_edit: bool,
    /// The time, in milliseconds since the Unix epoch.
    pub at: u64,
    /// The source of what was shown, or where the search for it ended.
    pub source: InlineSource,
    /// The rule that left nothing to show, if there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The rules that changed the model's answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_by: Vec<Rule>,
    /// The model that was asked, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The milliseconds from the request to its answer.
    pub took_ms: u32,
}

/// The source of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineSource {
    /// Nothing was looked for.
    None,
    /// An answer that the user has typed into, or that was kept.
    Kept,
    /// A request that was running already.
    Running,
    /// The model.
    Model,
}

macro_rules! rules {
    ($($(#[doc = $words:literal])+ $name:ident;)*) => {
        /// A rule that kept a suggestion from being asked for, changed or withheld it, or took it off the screen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Rule {
            $($(#[doc = $words])+ $name,)*
        }

        impl Rule {
            /// Its meaning in a sentence, for the user.
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$name => concat!($($words),+).trim(),)*
                }
            }
        }
    };
}

rules! {
    // Before a request.
    /// Suggestions are switched off, for all or for this language.
    Off;
    /// The user paused them.
    Snoozed;
    /// No model is named for suggestions.
    NotSet;
    /// The model that is named for suggestions cannot be used.
    NoModel;
    /// The workspace is not trusted.
    Untrusted;
    /// The document is no file of the workspace.
    Outside;
    /// The file's name is one for keys and other secrets.
    SecretFile;
    /// A rule of the user's denies reading the file.
    Denied;
    /// Git ignores the file.
    Ignored;
    /// The file is too large.
    TooLarge;
    /// The line is too long.
    LongLine;
    /// The place is a comment or a text in quotes, where suggestions are switched off.
    Scope;
    /// The cursor is inside a word.
    MidWord;
    /// The rest of the line is more than closing brackets and quotes.
    MidLine;
    /// There is too little text to go on from.
    TooShort;
    /// Nothing was changed here lately, so there is nothing for an edit to follow from.
    NothingChanged;
    /// The completion menu shows an entry that the suggestion cannot extend.
    Menu;
    /// The last change was an undo or a redo.
    Undo;
    /// The last change only deleted something.
    Deletion;
    /// The last change pasted many lines.
    Paste;
    /// There are several cursors, or something is selected.
    Cursors;
    /// The last change was made by Azimuth.
    OwnEdit;
    /// The text contains what controls the model.
    ControlTokens;
    /// There is what looks like a secret near the cursor.
    SecretNear;
    /// Today's limit of cost for suggestions is reached.
    CostLimit;

    // After an answer.
    /// There was no answer in time.
    Late;
    /// The model's server failed.
    Failed;
    /// The answer is empty.
    Empty;
    /// The answer is no answer of this model's format.
    Garbage;
    /// The answer is too long.
    TooLong;
    /// The answer changes nothing.
    NoChange;
    /// The answer changes only blank space.
    BlankSpace;
    /// The answer was in a code fence, which is taken off.
    Fence;
    /// The answer contained the model's thoughts, which are taken off.
    Thoughts;
    /// The answer contained tokens that control the model, which are taken off.
    AnswerTokens;
    /// The answer repeats the text before the cursor.
    RepeatsBefore;
    /// The answer repeats the text after the cursor.
    RepeatsAfter;
    /// The answer repeats itself.
    Repetition;
    /// The answer closes what it did not open.
    Brackets;
    /// The answer would break the syntax.
    Syntax;
    /// The answer leaves the block that the cursor is in.
    Block;
    /// The answer's indentation is not the document's.
    Indentation;
    /// The last line of the answer is cut off.
    CutOff;
    /// The answer undoes what the user has just done.
    Reversal;
    /// The answer rewrites lines that are far from what the user changed lately, and have nothing to do with it.
    Unrelated;
    /// The user rejected it before.
    Rejected;
    /// The answer contains what looks like a key.
    SecretAnswer;
    /// The document has changed in the meantime.
    Stale;
    /// Another request took its place.
    Overtaken;

    // While a suggestion is shown.
    /// The user typed something else.
    Mismatch;
    /// The cursor left the place.
    Moved;
    /// The document was closed.
    Closed;
}
