//! A request for a suggestion, in bytes of the text that it is about.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use inline::splice::Splice;
use inline::tidy::Indent;
use project::buffers::Snapshot;
use project::text::PositionEncoding;
use protocol::content::Position;
use protocol::inline::{InlineCompleteParams, InlineCompleteResult, InlineTrigger, Reason, Rule};
use tokio::sync::oneshot;

use super::LARGEST;
use super::positions::offset;
use crate::ClientId;

/// A request for a suggestion.
pub(super) struct Asked {
    pub(super) client: ClientId,
    pub(super) document: Arc<Snapshot>,
    pub(super) encoding: PositionEncoding,
    pub(super) position: Position,
    /// The cursor, in bytes of the normal text.
    pub(super) offset: usize,
    pub(super) trigger: InlineTrigger,
    /// The selected entry of the completion menu, in bytes of the normal text.
    pub(super) selected: Option<Splice>,
    pub(super) indent: Option<Indent>,
    pub(super) selecting: bool,
}

/// A request that waits for its answer.
pub(super) struct Waiting {
    pub(super) asked: Asked,
    pub(super) answer: oneshot::Sender<InlineCompleteResult>,
    pub(super) number: u64,
    pub(super) begun: Instant,
    /// True if a model is asked, or is to be.
    pub(super) is_decided: bool,
    /// True if it waited for a request that ran already.
    pub(super) joined: bool,
}

impl Asked {
    /// Reads a request about a document as it is now.
    ///
    /// # Errors
    /// The document has another version by now, or there is no such place in it.
    pub(super) fn new(
        client: ClientId,
        params: InlineCompleteParams,
        document: Arc<Snapshot>,
        encoding: PositionEncoding,
    ) -> Result<Self, Reason> {
        // Before positions are looked up, which takes time in a large document.
        if document.text.len() > LARGEST {
            return Err(Rule::TooLarge.into());
        }
        let version = params.text_document.version;
        if version.is_some_and(|version| version != document.version) {
            return Err(Rule::Stale.into());
        }
        let place = |position| offset(&document, position, encoding);
        let offset = place(params.position).ok_or(Rule::Stale)?;
        let selected = match params.selected {
            Some(selected) => {
                let range = place(selected.range.start).zip(place(selected.range.end)).ok_or(Rule::Stale)?;
                Some(Splice { range: range.0..range.1.max(range.0), text: selected.text })
            }
            None => None,
        };
        let indent = params.indentation.map(|given| match given.insert_spaces {
            true => Indent::Spaces(usize::try_from(given.tab_size.clamp(1, 16)).unwrap_or(4)),
            false => Indent::Tab,
        });
        Ok(Self {
            client,
            document,
            encoding,
            position: params.position,
            offset,
            trigger: params.trigger,
            selected,
            indent,
            selecting: params.selecting,
        })
    }

    pub(super) fn is_invoked(&self) -> bool {
        self.trigger == InlineTrigger::Invoked
    }
}

impl Waiting {
    pub(super) fn new(asked: Asked, answer: oneshot::Sender<InlineCompleteResult>, number: u64) -> Self {
        Self { asked, answer, number, begun: Instant::now(), is_decided: false, joined: false }
    }
}

/// The number of the next request.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// An answer without a suggestion.
pub(super) fn nothing(reason: Reason) -> InlineCompleteResult {
    InlineCompleteResult { items: Vec::new(), reason: Some(reason) }
}
