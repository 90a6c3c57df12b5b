//! A source that does not see what the session proposes: the editor's servers know the documents as the user has them.
//!
//! Above a source there is one text, the session's. So lines are counted over here, on the way in and on the way out, by the
//! difference of the two texts. A line of an edit that waits is one that such a source knows nothing of.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::lang::{LangAnswer, LangChange, LangLocation, LangQuery, LangResult, LangStatus, LangSymbol};
use protocol::{Position, Range};

use super::Source;
use crate::paths;
use crate::reader::{Reader, Source as Origin};
use crate::review::to_line_edits;

/// Words for a question about what the source does not see.
const UNSEEN: &str =
    "the place is in an edit that waits for the user, which the editor's language servers do not see yet";
/// Words for an answer that is right but for the edits that wait.
const WITHOUT: &str = "edits that wait for the user are not seen by the editor's language servers, so what they change is \
                       missing here";

/// A source over the documents as the user has them, as one over the session's texts.
pub struct Based<S> {
    source: S,
    reader: Reader,
}

impl<S: Source> Based<S> {
    /// Answers by this source about the texts of this reader.
    pub fn new(source: S, reader: Reader) -> Self {
        Self { source, reader }
    }
}

#[async_trait]
impl<S: Source> Source for Based<S> {
    async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
        let (reader, asked) = (self.reader.clone(), query.clone());
        let moved = tokio::task::spawn_blocking(move || Shifts::new(reader).query(asked)).await;
        let Ok(Some(asked)) = moved else {
            // Where it has no server for the file at all, there may be another source that has one, and sees the edit.
            let of_file = LangQuery::Servers { uri: query.uri().map(str::to_owned) };
            let result = self.source.ask(&of_file, within).await;
            let is_missing = result.status == LangStatus::NoServer;
            let unseen = || LangResult::without_answer(LangStatus::Unsupported, Some(UNSEEN.to_owned()));
            return if is_missing { result } else { unseen() };
        };
        let result = self.source.ask(&asked, within).await;
        let (reader, status) = (self.reader.clone(), result.status);
        let moved = tokio::task::spawn_blocking(move || Shifts::new(reader).result(result)).await;
        moved.unwrap_or_else(|error| LangResult::without_answer(status, Some(error.to_string())))
    }
}

/// How lines differ between the texts of files as the user has them and the session's.
struct Shifts {
    reader: Reader,
    of: HashMap<String, Arc<Shift>>,
    /// Whether something was left out.
    has_left_out: bool,
}

/// The changes between two texts, in lines: those before, and those after.
#[derive(Default)]
struct Shift {
    changes: Vec<(std::ops::Range<u32>, std::ops::Range<u32>)>,
    /// Whether the session has deleted the file.
    is_gone: bool,
}

impl Shift {
    fn of(reader: &Reader, path: &Path) -> Self {
        let session = match reader.read(path) {
            Ok(file) if file.source != Origin::Pending => return Self::default(),
            Ok(file) => file.text,
            Err(crate::reader::ReadError::Deleted { .. }) => return Self { changes: Vec::new(), is_gone: true },
            Err(_) => return Self::default(),
        };
        let base = reader.base(path).map(|file| file.text).unwrap_or_default();
        let mut changes = Vec::new();
        let (mut added, mut removed) = (0_u32, 0_u32);
        let number = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        for edit in to_line_edits(&base, &session) {
            let before = number(edit.start_line)..number(edit.end_line);
            let lines = number(edit.new_text.lines().count());
            let start = before.start + added - removed;
            changes.push((before.clone(), start..start + lines));
            added += lines;
            removed += before.end - before.start;
        }
        Self { changes, is_gone: false }
    }

    /// A line of the session's text in the user's; none for one of an edit that waits.
    fn to_base(&self, line: u32) -> Option<u32> {
        self.line(line, |(before, after)| (after, before))
    }

    /// A line of the user's text in the session's; none for one that an edit that waits takes away.
    fn to_session(&self, line: u32) -> Option<u32> {
        self.line(line, |(before, after)| (before, after))
    }

    fn line(
        &self,
        line: u32,
        sides: impl for<'c> Fn(
            &'c (std::ops::Range<u32>, std::ops::Range<u32>),
        ) -> (&'c std::ops::Range<u32>, &'c std::ops::Range<u32>),
    ) -> Option<u32> {
        if self.is_gone {
            return None;
        }
        let mut moved = line;
        for change in &self.changes {
            let (from, to) = sides(change);
            if from.contains(&line) {
                return None;
            }
            if from.end <= line {
                moved = to.end + (line - from.end);
            }
        }
        Some(moved)
    }
}

impl Shifts {
    fn new(reader: Reader) -> Self {
        Self { reader, of: HashMap::new(), has_left_out: false }
    }

    fn of(&mut self, uri: &str) -> Arc<Shift> {
        if let Some(known) = self.of.get(uri) {
            return Arc::clone(known);
        }
        let path = paths::from_uri(uri).ok().map(|path| paths::canonical(&path).unwrap_or(path));
        let shift = Arc::new(path.map(|path| Shift::of(&self.reader, &path)).unwrap_or_default());
        self.of.insert(uri.to_owned(), Arc::clone(&shift));
        shift
    }

    /// A question, as the source understands it.
    fn query(&mut self, mut query: LangQuery) -> Option<LangQuery> {
        let shift = query.uri().map(str::to_owned).map(|uri| self.of(&uri)).unwrap_or_default();
        match &mut query {
            LangQuery::Definition { position, .. }
            | LangQuery::TypeDefinition { position, .. }
            | LangQuery::Implementation { position, .. }
            | LangQuery::References { position, .. }
            | LangQuery::Hover { position, .. }
            | LangQuery::IncomingCalls { position, .. }
            | LangQuery::OutgoingCalls { position, .. }
            | LangQuery::Supertypes { position, .. }
            | LangQuery::Subtypes { position, .. }
            | LangQuery::Rename { position, .. } => position.line = shift.to_base(position.line)?,
            LangQuery::CodeActions { range, .. } | LangQuery::CodeAction { range, .. } => {
                range.start.line = shift.to_base(range.start.line)?;
                range.end.line = shift.to_base(range.end.line)?;
            }
            // A file that the session makes or formats anew is another text.
            LangQuery::Format { .. } | LangQuery::MoveFile { .. } => {
                if shift.is_gone || !shift.changes.is_empty() {
                    return None;
                }
            }
            LangQuery::DocumentSymbols { .. }
            | LangQuery::WorkspaceSymbols { .. }
            | LangQuery::Diagnostics { .. }
            | LangQuery::Servers { .. } => {}
        }
        Some(query)
    }

    /// A result, in the session's lines.
    fn result(&mut self, mut result: LangResult) -> LangResult {
        match &mut result.answer {
            LangAnswer::Nothing | LangAnswer::Text { .. } | LangAnswer::Actions { .. } => {}
            LangAnswer::Locations { locations } => locations.retain_mut(|place| self.location(place)),
            LangAnswer::Symbols { symbols } => symbols.retain_mut(|symbol| self.symbol(symbol)),
            LangAnswer::Calls { calls } => calls.retain_mut(|call| {
                let uri = call.symbol.location.uri.clone();
                let is_there = self.symbol(&mut call.symbol);
                call.ranges.retain_mut(|range| self.range(&uri, range));
                is_there
            }),
            LangAnswer::Diagnostics { documents } => {
                for document in documents {
                    document.diagnostics.retain_mut(|problem| self.range(&document.uri, &mut problem.range));
                    if !self.of(&document.uri).changes.is_empty() {
                        self.has_left_out = true;
                    }
                }
            }
            LangAnswer::Edit { changes } => {
                for change in changes.iter_mut() {
                    if let LangChange::Text { uri, edits, .. } = change {
                        edits.retain_mut(|edit| !self.swallows(uri, &edit.range) && self.range(uri, &mut edit.range));
                    }
                }
                // A part of a change would break what it leaves out.
                if self.has_left_out {
                    let words = "it would change lines that an edit which waits for the user changes too; have that decided first";
                    return LangResult::without_answer(LangStatus::Failed, Some(words.to_owned()));
                }
            }
        }
        if self.has_left_out && result.status == LangStatus::Ready {
            result.status = LangStatus::Partial;
            result.message = Some(WITHOUT.to_owned());
        }
        result
    }

    fn symbol(&mut self, symbol: &mut LangSymbol) -> bool {
        let uri = symbol.location.uri.clone();
        let is_there = self.range(&uri, &mut symbol.selection);
        // A symbol that was changed within is still the same symbol.
        let end = symbol.location.range.end.line;
        let shift = self.of(&uri);
        symbol.location.range.start.line =
            shift.to_session(symbol.location.range.start.line).unwrap_or(symbol.selection.start.line);
        symbol.location.range.end.line = (end..end + 50).find_map(|line| shift.to_session(line)).unwrap_or(end);
        is_there
    }

    fn location(&mut self, place: &mut LangLocation) -> bool {
        self.range(&place.uri, &mut place.range)
    }

    /// Whether an edit of these lines would take an edit that waits with it.
    fn swallows(&mut self, uri: &str, range: &Range) -> bool {
        let lines = range.start.line..=range.end.line;
        let is_within = |(before, _): &(std::ops::Range<u32>, std::ops::Range<u32>)| {
            *lines.start() < before.start && before.end <= *lines.end()
        };
        let swallows = self.of(uri).changes.iter().any(is_within);
        self.has_left_out |= swallows;
        swallows
    }

    fn range(&mut self, uri: &str, range: &mut Range) -> bool {
        let shift = self.of(uri);
        let line = |position: &mut Position| shift.to_session(position.line).map(|line| position.line = line);
        let is_there = line(&mut range.start).is_some() && line(&mut range.end).is_some();
        self.has_left_out |= !is_there;
        is_there
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::buffers::Buffers;
    use crate::reader::{Overlay, Pending};

    use super::*;

    struct Proposes(PathBuf, &'static str);

    impl Overlay for Proposes {
        fn pending(&self, path: &Path) -> Option<Pending> {
            (path == self.0).then(|| Pending::Text(self.1.into()))
        }

        fn paths(&self) -> Vec<PathBuf> {
            vec![self.0.clone()]
        }
    }

    /// Says that what is asked about is defined where it stands, and on all of the first six lines.
    struct Echo;

    #[async_trait]
    impl Source for Echo {
        async fn ask(&self, query: &LangQuery, _: Duration) -> LangResult {
            let LangQuery::Definition { uri, position } = query else {
                return LangResult::without_answer(LangStatus::Ready, None);
            };
            let lines = std::iter::once(position.line).chain(0..6);
            let place = |line| Position { line, character: 0 };
            let location =
                |line| LangLocation { uri: uri.clone(), range: Range { start: place(line), end: place(line) } };
            let answer = LangAnswer::Locations { locations: lines.map(location).collect() };
            LangResult { answer, ..LangResult::without_answer(LangStatus::Ready, None) }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the user's own file")]
    #[tokio::test]
    async fn lines_are_those_of_the_text_with_the_edits_that_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("a.rs");
        std::fs::write(&path, "0\n1\n2\n3\n4\n5\n").unwrap();
        // One line goes, two come, and another comes at the end.
        let overlay = Proposes(path.clone(), "0\nnew\nnewer\n2\n3\n4\n5\nlast\n");
        let source = Based::new(Echo, Reader::new(Arc::<Buffers>::default(), Arc::new(overlay)));
        let uri = paths::to_uri(&path);
        let ask = |line| LangQuery::Definition { uri: uri.clone(), position: Position { line, character: 0 } };
        let result = source.ask(&ask(3), Duration::from_secs(1)).await;
        let LangAnswer::Locations { locations } = &result.answer else { panic!("{result:?}") };
        let lines: Vec<_> = locations.iter().map(|place| place.range.start.line).collect();
        assert_eq!(lines, [3, 0, 3, 4, 5, 6], "what was line 2 is line 3, and what was line 1 is no more");
        assert_eq!(result.status, LangStatus::Partial);
        let result = source.ask(&ask(2), Duration::from_secs(1)).await;
        assert_eq!((result.status, result.answer), (LangStatus::Unsupported, LangAnswer::Nothing));
    }
}
