//! Edits while their calls still arrive: their diffs are shown, and it is looked whether they can be made at all.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ports::partial::PartialInput;
use ports::tool::{Call, DiffKind, DiffPart, Tool, ToolError};
use protocol::{AssistantBlock, Event, MessageId, ToolCallId};

use crate::dispatch::Gate;
use crate::file_blocks::{self, Parser, Piece};

/// How much of one call's diff is shown, in bytes. The hunks that it proposes show all of it.
const LONGEST: usize = 64 << 10;
/// The line that is shown where it ends.
const ENDS: &str = "@@ the rest is not shown while it comes\n";
/// An input is looked at again when it has grown by this part of it.
const LEAST_GROWTH: usize = 256;

/// The calls of one answer that will change something.
#[derive(Default)]
pub(super) struct LiveCalls {
    calls: Vec<Arriving>,
    /// The look that is being taken at a call.
    look: Option<Look>,
}

/// A call that arrives.
struct Arriving {
    id: ToolCallId,
    tool: Arc<dyn Tool>,
    input: PartialInput,
    diff: LiveDiff,
    /// How much of its input was read when its diff was last shown.
    shown: usize,
    /// How much of its input was read when it was last asked for its places, and how many of these were looked for.
    asked: usize,
    looked_for: usize,
}

/// A look whether a call can be made.
type Look = BoxFuture<'static, Option<Doomed>>;

/// A call that cannot be made.
#[derive(Debug)]
pub(super) struct Doomed {
    /// Its tool.
    pub(super) tool: String,
    /// The tool's error.
    pub(super) error: ToolError,
}

impl LiveCalls {
    /// A call begins.
    pub(super) fn begin(&mut self, gate: &Gate, id: ToolCallId, name: &str) {
        if let Some(tool) = gate.changing(name) {
            let input = PartialInput::default();
            self.calls.push(Arriving { id, tool, input, diff: LiveDiff::default(), shown: 0, asked: 0, looked_for: 0 });
        }
    }

    /// Begins to look for the places that the first of the calls goes to, if more of them are known by now. What a
    /// later call finds may be changed by those before it, which are not made yet.
    pub(super) fn look(&mut self, gate: &Gate) {
        let Some(Arriving { id, tool, input, asked, looked_for, .. }) = self.calls.first_mut() else { return };
        if self.look.is_some() || !has_grown(input, asked) {
            return;
        }
        // A tool that cannot cope says nothing; when it is called it will say what is wrong.
        let known = catch_unwind(AssertUnwindSafe(|| tool.places(input))).unwrap_or_default();
        if known <= *looked_for {
            return;
        }
        *looked_for = known;
        let call = Call::unjudged(id.clone(), gate.cancel.child_token());
        let (tool, input, may_look) = (Arc::clone(tool), input.clone(), gate.may_look(&tool.spec().name));
        let look = async move {
            let seen = AssertUnwindSafe(tool.foresee(call, input, may_look)).catch_unwind().await;
            let name = || tool.spec().name.clone();
            seen.ok()?.err().map(|error| Doomed { tool: name(), error })
        };
        self.look = Some(look.boxed());
    }

    /// Waits for the end of the look that is taken, if there is one.
    pub(super) async fn looked(&mut self) -> Option<Doomed> {
        let Some(look) = &mut self.look else { return pending().await };
        let doomed = look.await;
        self.look = None;
        doomed
    }

    /// A call's input grows. Gives what there is more to show.
    pub(super) fn grow(&mut self, message_id: &MessageId, id: &ToolCallId, json: &str) -> Vec<Event> {
        let Some(Arriving { tool, input, diff, shown, .. }) = self.calls.iter_mut().rev().find(|call| call.id == *id)
        else {
            return Vec::new();
        };
        input.push(json);
        if !has_grown(input, shown) {
            return Vec::new();
        }
        let parts = catch_unwind(AssertUnwindSafe(|| tool.preview(input))).unwrap_or_default();
        deltas(message_id, id, diff.grow(&parts))
    }
}

/// True if so much more of an input has come since the last time that it is worth a look at all of it: what all looks
/// come to then stays within bounds, however small the pieces are.
fn has_grown(input: &PartialInput, last: &mut usize) -> bool {
    let has_grown = input.read() > *last + *last / LEAST_GROWTH;
    if has_grown {
        *last = input.read();
    }
    has_grown
}

/// The events that show more of a call's diff: the pieces with the files they are of.
fn deltas(message_id: &MessageId, id: &ToolCallId, pieces: Vec<(String, String)>) -> Vec<Event> {
    let delta =
        |(path, text)| Event::EditDelta { message_id: message_id.clone(), tool_call_id: id.clone(), path, text };
    pieces.into_iter().map(delta).collect()
}

/// An answer's text, and the files in it.
#[derive(Default)]
pub(super) struct LiveText {
    parser: Option<Parser>,
    mark: Option<String>,
    /// True if their diffs are shown.
    shows_files: bool,
    /// How many files have begun, and the one that comes.
    files: usize,
    file: Option<(String, LiveDiff)>,
    /// All that came, as the model wrote it.
    content: Vec<AssistantBlock>,
    /// True if something else came since the last of it.
    is_apart: bool,
    /// How much of it there was when a call came within a file: what follows is not kept.
    kept: Option<usize>,
}

impl LiveText {
    /// With the mark of files, those in it are told apart, and with `shows_files` their diffs shown.
    pub(super) fn new(mark: Option<&str>, shows_files: bool) -> Self {
        Self { parser: mark.map(Parser::new), mark: mark.map(str::to_owned), shows_files, ..Self::default() }
    }

    /// A piece comes. Gives what there is to show of it.
    pub(super) fn grow(&mut self, message_id: &MessageId, text: String) -> Vec<Event> {
        let Some(parser) = &mut self.parser else { return vec![said(message_id, text)] };
        let pieces = parser.push(&text);
        match self.content.last_mut().filter(|_| !self.is_apart) {
            Some(AssistantBlock::Text { text: last, .. }) => last.push_str(&text),
            _ => self.content.push(AssistantBlock::text(text)),
        }
        self.is_apart = false;
        self.show(message_id, pieces)
    }

    /// The text ends, or something else comes.
    pub(super) fn pause(&mut self, message_id: &MessageId) -> Vec<Event> {
        self.is_apart = true;
        let pieces = self.parser.as_mut().map(Parser::pause).unwrap_or_default();
        self.show(message_id, pieces)
    }

    /// A call comes: a file that is open goes on no more.
    pub(super) fn cut(&mut self, message_id: &MessageId) -> Vec<Event> {
        let events = self.pause(message_id);
        self.parser.iter_mut().for_each(Parser::cut);
        if self.file.take().is_some() {
            self.kept.get_or_insert(self.content.len());
        }
        events
    }

    /// Returns the blocks that came, if there is a file in them that is worth keeping.
    pub(super) fn kept(mut self) -> Option<Vec<AssistantBlock>> {
        self.content.truncate(self.kept.unwrap_or(self.content.len()));
        let mark = self.mark?;
        file_blocks::is_worth_keeping(&self.content, &mark).then_some(self.content)
    }

    /// True if a file has begun.
    pub(super) fn has_files(&self) -> bool {
        self.files > 0
    }

    fn show(&mut self, message_id: &MessageId, pieces: Vec<Piece>) -> Vec<Event> {
        let mut events = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => events.push(said(message_id, text)),
                Piece::Begun(head) => {
                    self.files += 1;
                    self.file = Some((head.path, LiveDiff::default()));
                }
                Piece::Content(text) => {
                    let Some((path, diff)) = self.file.as_mut().filter(|_| self.shows_files) else { continue };
                    let mut shown = Vec::new();
                    diff.lines(&mut shown, DiffPart { path, kind: DiffKind::Added, text: &text });
                    events.extend(deltas(message_id, &file_blocks::call_id(message_id, self.files), shown));
                }
                Piece::Ended => self.file = None,
                Piece::Missed | Piece::Stray => {}
            }
        }
        events
    }
}

fn said(message_id: &MessageId, text: String) -> Event {
    Event::MessageDelta { message_id: message_id.clone(), text }
}

/// A diff of which more and more is shown.
#[derive(Default)]
struct LiveDiff {
    /// The part that was shown last, and how much of it.
    part: usize,
    offset: usize,
    /// The file of an unfinished line.
    within_line: Option<String>,
    shown: usize,
    /// True if what was shown last ends within a line, and whether no more is shown.
    is_within: bool,
    is_ended: bool,
}

impl LiveDiff {
    /// Returns the parts that have come since the last time, in Markdown's `diff` notation, each with its file.
    fn grow(&mut self, parts: &[DiffPart<'_>]) -> Vec<(String, String)> {
        let mut pieces: Vec<(String, String)> = Vec::new();
        for (at, part) in parts.iter().enumerate().skip(self.part) {
            if at > self.part {
                (self.part, self.offset) = (at, 0);
            }
            let more = part.text.get(self.offset..).unwrap_or_default();
            if more.is_empty() {
                continue;
            }
            if self.offset == 0
                && let Some(path) = self.within_line.take()
            {
                self.add(&mut pieces, &path, "\n");
            }
            self.offset = part.text.len();
            self.lines(&mut pieces, DiffPart { text: more, ..*part });
        }
        pieces
    }

    /// More of the lines that were shown last.
    fn lines(&mut self, pieces: &mut Vec<(String, String)>, more: DiffPart<'_>) {
        for line in more.text.split_inclusive('\n') {
            let mark = if self.within_line.is_none() { more.kind.mark() } else { "" };
            self.add(pieces, more.path, mark);
            self.add(pieces, more.path, line);
            self.within_line = (!line.ends_with('\n')).then(|| more.path.to_owned());
        }
    }

    fn add(&mut self, pieces: &mut Vec<(String, String)>, path: &str, text: &str) {
        if self.is_ended {
            return;
        }
        let fits = text.floor_char_boundary(LONGEST.saturating_sub(self.shown));
        self.shown += fits;
        let mut shown = text.get(..fits).unwrap_or_default().to_owned();
        self.is_within = shown.chars().last().map_or(self.is_within, |last| last != '\n');
        if fits < text.len() {
            self.is_ended = true;
            shown += if self.is_within { "\n" } else { "" };
            shown += ENDS;
        }
        match pieces.last_mut() {
            _ if shown.is_empty() => {}
            Some((last, piece)) if last == path => piece.push_str(&shown),
            _ => pieces.push((path.to_owned(), shown)),
        }
    }
}

#[cfg(test)]
mod tests {
    use ports::tool::DiffKind::{Added, Marked, Place, Removed};

    use super::*;

    fn part<'a>(path: &'a str, kind: DiffKind, text: &'a str) -> DiffPart<'a> {
        DiffPart { path, kind, text }
    }

    #[test]
    fn lines_are_marked_once_however_they_come() {
        let mut diff = LiveDiff::default();
        let shown: Vec<_> = [
            diff.grow(&[part("a", Removed, "on")]),
            diff.grow(&[part("a", Removed, "one\ntw")]),
            diff.grow(&[part("a", Removed, "one\ntwo"), part("a", Added, "")]),
            diff.grow(&[part("a", Removed, "one\ntwo"), part("a", Added, "1\n\n2")]),
            diff.grow(&[part("a", Removed, "one\ntwo"), part("a", Added, "1\n\n2"), part("b", Marked, "@@ x\n+y")]),
        ]
        .into_iter()
        .flatten()
        .collect();
        let pieces = ["-on", "e\n-tw", "o", "\n+1\n+\n+2", "\n"].map(|text| ("a".to_owned(), text.to_owned()));
        assert_eq!(shown[..5], pieces);
        assert_eq!(shown[5..], [("b".to_owned(), "@@ x\n+y".to_owned())]);
        let whole =
            LiveDiff::default().grow(&[part("a", Place, "12#AB"), part("a", Added, "new\n"), part("a", Removed, "x")]);
        assert_eq!(whole, [("a".to_owned(), "@@ 12#AB\n+new\n-x".to_owned())]);
    }

    #[test]
    fn a_long_call_in_small_pieces_is_looked_at_few_times_and_one_that_is_not_read_never() {
        let (mut input, mut last, mut looks) = (PartialInput::default(), 0, 0);
        for (at, piece) in std::iter::once("{\"a\":\"").chain(std::iter::repeat("x")).take(4 << 20).enumerate() {
            input.push(piece);
            let grown = has_grown(&input, &mut last);
            assert!(grown || at >= LEAST_GROWTH / 2, "a short one is looked at with every piece");
            looks += usize::from(grown);
        }
        assert!(looks < 2_500, "{looks}");
    }

    #[test]
    fn what_follows_a_call_within_a_file_is_not_taken_for_more_of_the_file() {
        let (id, mut text) = (MessageId::from("m1"), LiveText::new(Some("k"), true));
        text.grow(&id, "<azimuth_file mark=\"k\" path=\"a\">\none\ntw".to_owned());
        text.cut(&id);
        let shown = text.grow(&id, "So it is.\n".to_owned());
        assert!(matches!(shown.as_slice(), [Event::MessageDelta { text, .. }] if text == "So it is.\n"), "{shown:?}");
        assert_eq!(text.kept().unwrap().len(), 1);
    }

    #[test]
    fn a_long_diff_is_shown_up_to_a_bound() {
        let text = "\u{e9}\n".repeat(LONGEST);
        let shown = LiveDiff::default().grow(&[part("a", Added, &text)]);
        let (diff, end) = shown[0].1.split_at(shown[0].1.len() - ENDS.len());
        assert!(diff.len() <= LONGEST + 1 && diff.len() > LONGEST - 4 && diff.ends_with('\n') && end == ENDS);
        assert!(LiveDiff::default().grow(&[part("a", Added, &text[..3 * 1000])])[0].1.ends_with("+\u{e9}\n"));
    }
}
