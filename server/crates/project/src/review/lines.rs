//! Texts as lines, what changed between two of them, and where a place in one is in the other.
//!
//! A line here has its line end. So the lines of a text, joined, are the text; a missing final line end is a property
//! of the last line; and the empty text has no lines. All ranges are of line numbers from 0, their ends exclusive.

use std::ops::Range;
use std::time::{Duration, Instant};

use similar::Algorithm;

use crate::buffers::Move;

/// The algorithm that compares two texts: lines that stand in each of them once are matched first, which is how people
/// see it.
pub(super) const ALGORITHM: Algorithm = Algorithm::Patience;
/// How long two texts may be compared. After that fewer lines count as unchanged.
/// A test takes its time, so that what it sees does not depend on what else the machine does.
pub(super) const COMPARING: Duration = Duration::from_secs(if cfg!(test) { 300 } else { 1 });
/// Changes in more pieces than this are one piece: nobody decides on so many of them one by one.
const MOST_PIECES: usize = 300;

/// A text with its lines.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// Where each line begins, and the text's end.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Self { text, starts }
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The byte where a line begins; past the last one, the text's end.
    pub(super) fn byte(&self, line: usize) -> usize {
        self.starts.get(line).copied().unwrap_or(self.text.len())
    }

    /// The text of some lines. What lies past the end is empty.
    pub(super) fn slice(&self, lines: Range<usize>) -> &'t str {
        self.text.get(self.byte(lines.start)..self.byte(lines.end)).unwrap_or_default()
    }

    /// The line above a place.
    pub(super) fn above(&self, place: &Range<usize>) -> Option<&'t str> {
        let line = place.start.checked_sub(1)?;
        (line < self.len()).then(|| self.slice(line..place.start))
    }

    /// The line below a place.
    pub(super) fn below(&self, place: &Range<usize>) -> Option<&'t str> {
        (place.end < self.len()).then(|| self.slice(place.end..place.end + 1))
    }

    /// The text with each block's old lines replaced by the text that goes with it. Blocks are sorted and disjoint.
    pub(super) fn replaced<'a>(&self, blocks: impl IntoIterator<Item = (Range<usize>, &'a str)>) -> String {
        self.replaced_in(0..self.len(), blocks)
    }

    /// The same of some lines of the text, in which all blocks are.
    fn replaced_in<'a>(
        &self,
        lines: Range<usize>,
        blocks: impl IntoIterator<Item = (Range<usize>, &'a str)>,
    ) -> String {
        let mut out = String::with_capacity(self.byte(lines.end) - self.byte(lines.start));
        let mut done = lines.start;
        for (old, new) in blocks {
            out.push_str(self.slice(done..old.start));
            out.push_str(new);
            done = old.end;
        }
        out.push_str(self.slice(done..lines.end));
        out
    }
}

/// How many lines a text has.
pub(super) fn count(text: &str) -> usize {
    text.matches('\n').count() + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Lines that differ between two texts: `old` in the one became `new` in the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

impl Block {
    /// The way back.
    pub(super) fn reversed(&self) -> Self {
        Self { old: self.new.clone(), new: self.old.clone() }
    }

    /// True if all that another block changes is among what this one changes.
    fn has(&self, other: &Self) -> bool {
        let within = |inner: &Range<usize>, outer: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
        within(&other.old, &self.old) && within(&other.new, &self.new)
    }

    /// How many lines differ.
    pub(super) fn size(&self) -> usize {
        self.old.len() + self.new.len()
    }
}

/// Returns the changes from one text to another, in as many blocks as there are, each apart from the next by at least
/// one line that did not change.
///
/// The work is in proportion to the lines between the first and the last change, and within these to the lines that
/// stand in both texts more than once times those that differ; it ends after [`COMPARING`], with larger blocks.
pub(super) fn changes(old: &str, new: &str) -> Vec<Block> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old.iter().skip(head).rev().zip(new.iter().skip(head).rev()).take_while(|(a, b)| a == b).count();
    let middle = |lines: &[&str]| head..lines.len() - tail;
    let (old_middle, new_middle) = (middle(&old), middle(&new));
    let ops = similar::capture_diff_slices_deadline(
        ALGORITHM,
        old.get(old_middle).unwrap_or_default(),
        new.get(new_middle).unwrap_or_default(),
        Some(Instant::now() + COMPARING),
    );
    let mut blocks: Vec<Block> = Vec::new();
    for op in ops.iter().filter(|op| op.tag() != similar::DiffTag::Equal) {
        let (old, new) = (op.old_range(), op.new_range());
        let block = Block { old: head + old.start..head + old.end, new: head + new.start..head + new.end };
        match blocks.last_mut() {
            Some(last) if last.old.end == block.old.start && last.new.end == block.new.start => {
                last.old.end = block.old.end;
                last.new.end = block.new.end;
            }
            _ => blocks.push(block),
        }
    }
    blocks
}

/// Returns the changes from one text to another as the editor has said them; none if they do not fit the texts. Only
/// lines that were replaced by others in one go are compared, and not even these where some blocks are `known` and are
/// all that changed among them.
pub(super) fn told(old: &str, new: &str, moves: &[Move], known: &[Block]) -> Option<Vec<Block>> {
    let (old, new) = (Lines::new(old), Lines::new(new));
    // Editors count the empty line after a final line end.
    let within = |range: &Range<usize>, lines: &Lines<'_>| range.start.min(lines.len())..range.end.min(lines.len());
    let mut blocks = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for moved in moves {
        let block = Block { old: within(&moved.old, &old), new: within(&moved.new, &new) };
        let (was, is) = (old.slice(block.old.clone()), new.slice(block.new.clone()));
        if old.slice(old_at..block.old.start) != new.slice(new_at..block.new.start) {
            return None;
        }
        (old_at, new_at) = (block.old.end, block.new.end);
        if moved.rewritten {
            let own = || known.iter().filter(|known| block.has(known));
            let made = own().map(|own| (own.old.clone(), new.slice(own.new.clone())));
            if old.replaced_in(block.old.clone(), made) == is {
                blocks.extend(own().cloned());
            } else {
                let shift = |range: Range<usize>, by: usize| range.start + by..range.end + by;
                let (by_old, by_new) = (block.old.start, block.new.start);
                let inner = changes(was, is).into_iter();
                blocks.extend(inner.map(|it| Block { old: shift(it.old, by_old), new: shift(it.new, by_new) }));
            }
        } else if was != is {
            blocks.push(block);
        }
    }
    (old.slice(old_at..old.len()) == new.slice(new_at..new.len())).then_some(blocks)
}

/// True if these blocks hold all that the editor told, so that both move every line beside them alike. The two make the
/// same text, but of equal lines the editor may mean others.
pub(super) fn explains(blocks: &[Block], told: &[Block]) -> bool {
    let mut rest = told;
    let explained = blocks.iter().all(|block| {
        let (own, later) = rest.split_at(rest.iter().take_while(|told| block.has(told)).count());
        rest = later;
        let (old, new) = own.iter().fold((0, 0), |(old, new), told| (old + told.old.len(), new + told.new.len()));
        new + block.old.len() == old + block.new.len()
    });
    explained && rest.is_empty()
}

/// Returns the changes from one text to another, in the blocks that a person decides on.
///
/// These are the blocks of [`changes`] with two differences. A block that only inserts or only deletes can often stand
/// at several places with the same effect (a function after a function: does its `}` belong to the one before it?); it
/// goes where it begins at the least indentation, and after a blank line if it can. And two blocks with a single line
/// between them that has neither letter nor digit (blank, or a bracket) are one, since such a line is no border that
/// anyone sees and half of such a change is seldom of use. More than [`MOST_PIECES`] are one.
pub(super) fn pieces(old: &str, new: &str) -> Vec<Block> {
    let mut blocks = few(changes(old, new));
    let (old, new) = (Lines::new(old), Lines::new(new));
    for at in 0..blocks.len() {
        let floor = at.checked_sub(1).and_then(|before| blocks.get(before)).map_or(0, |before| before.old.end + 1);
        let ceiling = blocks.get(at + 1).map_or(old.len(), |after| after.old.start.saturating_sub(1));
        if let Some(block) = blocks.get_mut(at) {
            slide(block, &old, &new, floor..ceiling);
        }
    }
    let mut joined: Vec<Block> = Vec::new();
    for block in blocks {
        match joined.last_mut() {
            Some(last)
                if block.old.start == last.old.end + 1
                    && !old.slice(last.old.end..block.old.start).contains(char::is_alphanumeric) =>
            {
                last.old.end = block.old.end;
                last.new.end = block.new.end;
            }
            _ => joined.push(block),
        }
    }
    joined
}

/// The same change in no more than [`MOST_PIECES`] blocks: in one, if there are more.
pub(super) fn few(blocks: Vec<Block>) -> Vec<Block> {
    match blocks.as_slice() {
        [first, .., last] if blocks.len() > MOST_PIECES => {
            vec![Block { old: first.old.start..last.old.end, new: first.new.start..last.new.end }]
        }
        _ => blocks,
    }
}

/// Moves a block that only inserts or only deletes to where it reads best. `within` are the old lines it may use.
fn slide(block: &mut Block, old: &Lines<'_>, new: &Lines<'_>, within: Range<usize>) {
    let (side, place) = match (block.old.is_empty(), block.new.is_empty()) {
        (true, false) => (new, block.new.clone()),
        (false, true) => (old, block.old.clone()),
        _ => return,
    };
    let line = |at: usize| side.slice(at..at + 1);
    // A block can go up by a line if the line above it is its last one, and down if the line below it is its first.
    let up_most = block.old.start.saturating_sub(within.start).min(place.start);
    let up = (1..=up_most).take_while(|n| line(place.start - n) == line(place.end - n)).count();
    let down_most = within.end.saturating_sub(block.old.end).min(side.len() - place.end);
    let down = (0..down_most).take_while(|n| line(place.start + n) == line(place.end + n)).count();
    if up + down == 0 {
        return;
    }
    let blank = |at: usize| line(at).trim().is_empty();
    let worse = |start: usize| {
        let first = line(start);
        let indent = first.len() - first.trim_start().len();
        let after_blank = start == 0 || blank(start - 1);
        (blank(start), indent, !after_blank, usize::MAX - start)
    };
    let Some(best) = (place.start - up..=place.start + down).min_by_key(|start| worse(*start)) else { return };
    let shift = |range: &Range<usize>| range.start + best - place.start..range.end + best - place.start;
    *block = Block { old: shift(&block.old), new: shift(&block.new) };
}

/// Where a place is after a change.
pub(super) struct Moved {
    /// The lines that are now there.
    pub(super) place: Range<usize>,
    /// True if any of its lines changed; for a place without lines, whether one beside it did.
    pub(super) touched: bool,
}

/// Follows a place through a change. Blocks are sorted and disjoint. What is far from the place costs next to nothing.
pub(super) fn follow(place: &Range<usize>, blocks: &[Block]) -> Moved {
    let first = blocks.partition_point(|block| block.old.end < place.start);
    let (mut start, mut end) = (shifted(place.start, blocks, first), shifted(place.end, blocks, first));
    let mut touched = false;
    for Block { old, new } in blocks.iter().skip(first).take_while(|block| block.old.start <= place.end) {
        let inserts_here = place.is_empty() && old.is_empty() && old.start == place.start;
        if old.end <= place.start && !inserts_here {
            start = place.start - old.end + new.end;
        } else if old.start < place.start {
            start = new.start;
        }
        if old.end <= place.end && (old.start < place.end || place.is_empty()) {
            end = place.end - old.end + new.end;
        } else if old.start < place.end {
            end = new.end;
        }
        touched |= if place.is_empty() {
            old.start <= place.start && place.start <= old.end
        } else {
            old.start < place.end && place.start < old.end
        };
    }
    Moved { place: start..end.max(start), touched }
}

/// A place together with all blocks that touch or adjoin it, before and after. Blocks are sorted and disjoint.
pub(super) fn hull(place: &Range<usize>, blocks: &[Block]) -> Block {
    let first = blocks.partition_point(|block| block.old.end < place.start);
    let mut old = place.clone();
    let mut behind = first;
    while let Some(block) = blocks.get(behind).filter(|block| block.old.start <= old.end) {
        old = old.start.min(block.old.start)..old.end.max(block.old.end);
        behind += 1;
    }
    let new = shifted(old.start, blocks, first)..shifted(old.end, blocks, behind);
    Block { old, new }
}

/// A line, moved by as much as the first `count` blocks, all above it, move it.
fn shifted(line: usize, blocks: &[Block], count: usize) -> usize {
    match count.checked_sub(1).and_then(|last| blocks.get(last)) {
        Some(Block { old, new }) => line + new.end - old.end,
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(old: &str, new: &str, blocks: &[Block]) -> Vec<(String, String)> {
        let (old, new) = (Lines::new(old), Lines::new(new));
        blocks.iter().map(|b| (old.slice(b.old.clone()).to_owned(), new.slice(b.new.clone()).to_owned())).collect()
    }

    fn pieces_of(old: &str, new: &str) -> Vec<(String, String)> {
        texts(old, new, &pieces(old, new))
    }

    fn pair(old: &str, new: &str) -> (String, String) {
        (old.to_owned(), new.to_owned())
    }

    #[test]
    fn changes_with_a_line_between_them_are_pieces_of_their_own() {
        let pieces = pieces_of("a\nb\nc\nd\ne\n", "A\nb\nC\nd\ne\nf\n");
        assert_eq!(pieces, [pair("a\n", "A\n"), pair("c\n", "C\n"), pair("", "f\n")]);
    }

    #[test]
    fn a_bracket_or_a_blank_line_is_no_border() {
        assert_eq!(pieces_of("a\n}\nb\n", "A\n}\nB\n"), [pair("a\n}\nb\n", "A\n}\nB\n")]);
        assert_eq!(pieces_of("a\n\n}\nb\n", "A\n\n}\nB\n").len(), 2);
    }

    #[test]
    fn an_inserted_function_is_one_piece_from_head_to_foot() {
        let old = "fn a() {\n    one();\n}\n\nfn c() {\n    three();\n}\n";
        let new = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n\nfn c() {\n    three();\n}\n";
        assert_eq!(pieces_of(old, new), [pair("", "fn b() {\n    two();\n}\n\n")]);
        assert_eq!(pieces_of(new, old), [pair("fn b() {\n    two();\n}\n\n", "")]);
    }

    #[test]
    fn a_missing_final_line_end_belongs_to_the_last_line() {
        assert_eq!(pieces_of("a\nb", "a\nb\n"), [pair("b", "b\n")]);
        assert_eq!(pieces_of("a\nb", "a\nb\nc"), [pair("b", "b\nc")]);
        assert_eq!(pieces_of("a\nb\n", "a\n"), [pair("b\n", "")]);
        assert_eq!(pieces_of("", "a"), [pair("", "a")]);
        assert_eq!(pieces_of("a", ""), [pair("a", "")]);
    }

    #[test]
    fn a_place_is_followed_through_changes_around_it() {
        let blocks = changes("1\n2\n3\n4\n5\n", "0\n1\n3\n4\n5\n6\n");
        let moved = follow(&(2..4), &blocks);
        assert_eq!((moved.place, moved.touched), (2..4, false));
        assert!(follow(&(1..2), &blocks).touched);
        assert!(follow(&(5..5), &blocks).touched, "something was inserted at the same place");
        assert!(!follow(&(4..4), &blocks).touched);
    }

    #[test]
    fn a_hundred_thousand_lines_are_no_trouble() {
        let line = |n: usize| format!("line {} {}\n", n, n % 7);
        let old: String = (0..100_000).map(line).collect();
        let new: String =
            (0..100_000).map(|n| if n % 1000 == 500 { "changed\n".to_owned() } else { line(n) }).collect();
        assert_eq!(pieces(&old, &new).len(), 100);
        let other: String = (0..100_000).map(|n| format!("other {n}\n")).collect();
        assert_eq!(pieces(&old, &other).len(), 1);
    }

    proptest! {
        #[test]
        fn pieces_make_the_new_text_of_the_old(old in "([ab{}]{0,2}\n){0,12}[ab]{0,2}", new in "([ab{}]{0,2}\n){0,12}[ab]{0,2}") {
            for blocks in [changes(&old, &new), pieces(&old, &new)] {
                let lines = (Lines::new(&old), Lines::new(&new));
                let made = lines.0.replaced(blocks.iter().map(|b| (b.old.clone(), lines.1.slice(b.new.clone()))));
                prop_assert_eq!(&made, &new);
                for two in blocks.windows(2) {
                    prop_assert!(two[0].old.end < two[1].old.start, "a line lies between: {:?}", two);
                }
            }
        }

        #[test]
        fn a_place_that_is_not_touched_keeps_its_lines(old in "([abc]{1,2}\n){0,10}", new in "([abc]{1,2}\n){0,10}", a in 0usize..10, b in 0usize..10) {
            let (before, after) = (Lines::new(&old), Lines::new(&new));
            let place = a.min(b).min(before.len())..a.max(b).min(before.len());
            let moved = follow(&place, &changes(&old, &new));
            prop_assert!(moved.place.end <= after.len());
            if !moved.touched {
                prop_assert_eq!(before.slice(place), after.slice(moved.place));
            }
        }
    }
}
