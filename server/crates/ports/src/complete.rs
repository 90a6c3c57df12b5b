//! The ports to models that write code where the user types: [`Complete`] fills in at the cursor, [`EditNext`] says how
//! the text around it goes on to change.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;
use protocol::content::Usage;
use protocol::model::Price;

use crate::model::ModelError;

/// A model that fills in text at a place. One value serves any number of requests at once.
#[async_trait]
pub trait Complete: Send + Sync {
    /// The model's properties.
    fn info(&self) -> &FillInfo;

    /// Asks for the text between a prefix and a suffix, and gives it piece by piece.
    ///
    /// The stream ends after [`FillEvent::Finished`] or an error. Dropping it cancels the request: the connection is
    /// closed at once. One attempt is made.
    ///
    /// # Errors
    /// Whatever went wrong before the first piece came.
    async fn fill(&self, request: Fill) -> Result<FillStream, ModelError>;
}

/// A model that edits the text around the cursor. One value serves any number of requests at once.
#[async_trait]
pub trait EditNext: Send + Sync {
    /// The model's properties.
    fn info(&self) -> &FillInfo;

    /// The lines of a window that the model was trained on, around the cursor: how many before its line, and after it.
    fn window(&self) -> Window;

    /// Asks for the new text of the window; none if the model would change nothing.
    ///
    /// Dropping the future cancels the request. One attempt is made.
    ///
    /// # Errors
    /// Whatever went wrong.
    async fn edit(&self, request: NextEdit) -> Result<Rewritten, ModelError>;
}

/// The properties of a model that writes where the user types.
#[derive(Clone, Debug, PartialEq)]
pub struct FillInfo {
    /// Its id, `provider/model`.
    pub id: String,
    /// True if it runs on this machine, so that asking it costs nothing and nothing leaves the machine.
    pub is_local: bool,
    /// Its price; none if it is not known, or it costs nothing.
    pub price: Option<Price>,
    /// The longest prefix and suffix together, in bytes.
    pub context_bytes: usize,
    /// Texts that control the model; a buffer that contains one of them must not be sent as it is.
    pub control_tokens: Arc<[String]>,
}

/// The pieces of a filled-in text.
pub type FillStream = BoxStream<'static, Result<FillEvent, ModelError>>;

/// A request to fill in text. Texts have LF line ends. Parts that change least come first on the wire, so that a
/// server's cache of prompts serves the next request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fill {
    /// The file, as the user knows it: relative to its workspace folder, with `/`.
    pub path: String,
    /// The editor's language identifier, such as `rust`.
    pub language: String,
    /// The text before the cursor.
    pub prefix: String,
    /// The text after the cursor.
    pub suffix: String,
    /// Parts of other files, the least likely to change first.
    pub extra: Vec<Excerpt>,
    /// The longest answer in tokens.
    pub max_tokens: u32,
    /// Texts at which the answer ends; they are not part of it.
    pub stops: Vec<String>,
    /// True for another text than the most likely one, since that is known.
    pub is_varied: bool,
    /// How long the whole answer may take.
    pub deadline: Duration,
}

/// A part of another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The file, as the user knows it.
    pub path: String,
    /// The text.
    pub text: String,
}

/// A piece of a filled-in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FillEvent {
    /// Text. The pieces together are the answer as the model gave it, without tokens of control.
    Text(String),
    /// The answer is whole.
    Finished {
        /// True if it ended because it reached the maximum length.
        is_cut: bool,
        /// The tokens used, as far as the server says.
        usage: Usage,
        /// How many tokens of the prompt the server had kept from the request before, if it says.
        cached: Option<u64>,
    },
}

/// Lines around the cursor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Lines before the cursor's.
    pub before: usize,
    /// Lines after it.
    pub after: usize,
}

/// A request for the next edit. Texts have LF line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextEdit {
    /// The file, as the user knows it: relative to its workspace folder, with `/`.
    pub path: String,
    /// The editor's language identifier.
    pub language: String,
    /// The text of the file around the window, the window in it.
    pub excerpt: String,
    /// The line of the file at which the excerpt begins, from 0.
    pub excerpt_line: usize,
    /// The window's bytes in the excerpt: whole lines.
    pub window: std::ops::Range<usize>,
    /// The cursor's byte in the excerpt; it is in the window.
    pub cursor: usize,
    /// The user's last edits, the oldest first.
    pub history: Vec<Edited>,
    /// Parts of other files, the least likely to change first.
    pub related: Vec<Excerpt>,
    /// Problems near the cursor: a line of the file, from 0, and what is wrong there.
    pub problems: Vec<(usize, String)>,
    /// How long the whole answer may take.
    pub deadline: Duration,
}

/// An edit that the user made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The file, as the user knows it.
    pub path: String,
    /// The line of the file at which both texts begin, from 0.
    pub line: usize,
    /// The lines before.
    pub before: String,
    /// The lines after.
    pub after: String,
}

/// The answer to a request for the next edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The new text of the window; none if nothing is to change.
    pub text: Option<String>,
    /// True if it ended because it reached the maximum length.
    pub is_cut: bool,
    /// The tokens used, as far as the server says.
    pub usage: Usage,
}
