//! Suggestions where the user types: `azimuth/inline/*`.
//!
//! Ghost text also has LSP's own method, `textDocument/inlineCompletion` (3.18), which has the same source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::{Position, Range};

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InlineStatusParams {
    /// The state.
    pub state: InlineState,
    /// The model that suggests, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The reason, if nothing is suggested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
}

/// The state of suggestions where the user types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InlineState {
    /// No model is set or found: nothing is suggested, and asking is of no use.
    Off,
    /// Suggestions can be asked for.
    Ready,
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
