//! An instruction to change a document ("change this"), as it is when the user gives it.

use std::ops;
use std::sync::Arc;

use project::buffers::{Buffers, Open, Snapshot};
use project::paths;
use project::text::{LineIndex, PositionEncoding};
use protocol::content::{Position, Range};
use protocol::inline::InlineInstructParams;
use protocol::{ErrorCode, PromptBlock};

use crate::Error;

/// The most selections that are taken.
const MOST_SELECTIONS: usize = 100;

/// An instruction to change a document.
pub(crate) struct Instruction {
    /// The document, of which the selections are.
    pub(crate) document: Arc<Snapshot>,
    /// The selections, from top to bottom; none if the whole document is meant.
    pub(crate) selections: Vec<Selected>,
    /// The user's words, not empty.
    words: String,
}

/// A selection.
pub(crate) struct Selected {
    /// The range as the client says it.
    range: Range,
    /// The same in bytes of the document's normal text. Empty for a cursor.
    pub(crate) bytes: ops::Range<usize>,
}

impl Instruction {
    /// Reads an instruction about a document of these.
    ///
    /// # Errors
    /// It says nothing; the document is not open, its text is not known, or it has another version by now.
    pub(crate) fn new(
        params: InlineInstructParams,
        buffers: &Buffers,
        encoding: PositionEncoding,
    ) -> Result<Self, Error> {
        let InlineInstructParams { text_document, selections, instruction, .. } = params;
        let words = instruction.trim().to_owned();
        if words.is_empty() {
            return Err(invalid("`instruction`: it is empty; say what is to be changed"));
        }
        if selections.len() > MOST_SELECTIONS {
            return Err(invalid(&format!("`selections`: there are more than {MOST_SELECTIONS}")));
        }
        let document = opened(buffers, &text_document.uri)?;
        let name = name(&document);
        if let Some(version) = text_document.version.filter(|version| *version != document.version) {
            let now = document.version;
            return Err(failed(format!(
                "{name} has changed since the instruction was sent (version {version}, now {now}); send it again"
            )));
        }
        let lines = LineIndex::new(document.normal());
        let mut selections: Vec<_> =
            selections.into_iter().map(|it| selected(&document, &lines, it, encoding)).collect();
        selections.sort_by_key(|it| (it.bytes.start, it.bytes.end));
        selections.dedup_by(|a, b| a.bytes == b.bytes);
        Ok(Self { document, selections, words })
    }

    /// The prompt as people see it: the words, with the selections as mentions.
    pub(crate) fn prompt(&self) -> Vec<PromptBlock> {
        let uri = || self.document.uri.to_string();
        let mention = |selected: &Selected| match self.document.normal().get(selected.bytes.clone()) {
            Some(text) if !text.is_empty() => {
                PromptBlock::Selection { uri: uri(), range: selected.range, text: text.to_owned() }
            }
            _ => PromptBlock::Range { uri: uri(), range: selected.range },
        };
        let mut prompt = vec![PromptBlock::Text { text: self.words.clone() }];
        prompt.extend(self.selections.iter().map(mention));
        if self.selections.is_empty() {
            prompt.push(PromptBlock::File { uri: uri() });
        }
        prompt
    }
}

/// Gives the selections of an instruction in another encoding of positions. What is not open stays as it is.
pub(crate) fn encode(
    params: &mut InlineInstructParams,
    buffers: &Buffers,
    from: PositionEncoding,
    to: PositionEncoding,
) {
    let Some(document) = buffers.by_uri(&params.text_document.uri) else { return };
    let (text, lines) = (document.normal(), LineIndex::new(document.normal()));
    let encoded = |position: Position| {
        lines.offset(text, position, from).map_or(position, |offset| lines.position(text, offset, to))
    };
    for range in &mut params.selections {
        *range = Range { start: encoded(range.start), end: encoded(range.end) };
    }
}

fn opened(buffers: &Buffers, uri: &str) -> Result<Arc<Snapshot>, Error> {
    if let Some(document) = buffers.by_uri(uri) {
        return Ok(document);
    }
    match paths::from_uri(uri).map(|path| buffers.get(&path)) {
        Ok(Open::Yes(document)) => Ok(document),
        Ok(Open::OutOfSync) => {
            Err(failed(format!("the text of {uri} in the editor is not known; close the document and open it again")))
        }
        Ok(Open::No) => Err(failed(format!("{uri} is not open in the editor; open it and try again"))),
        Err(_) => Err(failed(format!("{uri} is not a file; save it in the workspace first"))),
    }
}

/// A position behind the text is its end, since editors select the last line up to the next one.
fn selected(document: &Snapshot, lines: &LineIndex, range: Range, encoding: PositionEncoding) -> Selected {
    let text = document.normal();
    let offset = |position| lines.offset(text, position, encoding).unwrap_or(text.len());
    let (start, end) = (offset(range.start), offset(range.end));
    Selected { range, bytes: start.min(end)..start.max(end) }
}

fn name(document: &Snapshot) -> String {
    document.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn invalid(why: &str) -> Error {
    Error::new(ErrorCode::InvalidParams, format!("invalid params: {why}"))
}

fn failed(why: String) -> Error {
    Error::new(ErrorCode::OperationFailed, why)
}
