//! Lines and positions of a text.

use std::ops::Range;

use memchr::memchr_iter;
use protocol::content::Position;

/// The units in which a client counts characters in a line (negotiated in `initialize`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units; LSP's default.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// Where the lines of a text begin. It belongs to the text that it was made from; with another text its answers are
/// wrong, but never a panic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    /// The byte offset of each line's first character; the first is 0.
    starts: Vec<usize>,
}

impl LineIndex {
    /// The index of a text.
    pub fn new(text: &str) -> Self {
        Self { starts: std::iter::once(0).chain(starts_in(text, 0)).collect() }
    }

    /// How many lines there are, at least one. A final newline begins another, empty line, as editors count.
    pub fn lines(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of a line, from 0, its line end included.
    pub fn range(&self, text: &str, line: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(line)?;
        Some(start..self.starts.get(line + 1).copied().unwrap_or(text.len()))
    }

    /// A line, from 0, without its line end.
    pub fn line<'t>(&self, text: &'t str, line: usize) -> Option<&'t str> {
        Some(without_end(text.get(self.range(text, line)?)?))
    }

    /// The line, from 0, in which a byte stands.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The byte offset of a position; none if the line is not in the text.
    ///
    /// As LSP has it, a character past the end of its line is the line's end; the line after the last one, at
    /// character 0, is the text's end, which is how clients say "to the very end". A position inside a character
    /// is that character's begin. The CR of a line end can be stood behind, since editors that take it for a character
    /// of the line (see [`crate::text`]) delete it so.
    pub fn offset(&self, text: &str, position: Position, encoding: PositionEncoding) -> Option<usize> {
        let line = usize::try_from(position.line).ok()?;
        let character = usize::try_from(position.character).ok()?;
        if line == self.starts.len() {
            return (character == 0).then_some(text.len());
        }
        let range = self.range(text, line)?;
        let whole = text.get(range.clone())?;
        let content = without_end(whole);
        Some(range.start + in_line(content, whole.len() > content.len() + 1, character, encoding))
    }

    /// The position of a byte offset. An offset past the end is the end; one inside a character is its begin.
    pub fn position(&self, text: &str, offset: usize, encoding: PositionEncoding) -> Position {
        let offset = text.floor_char_boundary(offset);
        let line = self.line_of(offset);
        let before = self.starts.get(line).and_then(|start| text.get(*start..offset)).unwrap_or_default();
        Position { line: to_u32(line), character: to_u32(length(before, encoding)) }
    }

    /// Follows the replacement of `range` (bytes) by `new`. The same as [`LineIndex::new`] of the text after it, but
    /// without reading all of that text.
    pub fn replace(&mut self, range: Range<usize>, new: &str) {
        let first = self.starts.partition_point(|start| *start <= range.start);
        let last = self.starts.partition_point(|start| *start <= range.end).max(first);
        let removed = range.end.saturating_sub(range.start);
        for start in self.starts.iter_mut().skip(last) {
            *start = *start - removed + new.len();
        }
        self.starts.splice(first..last, starts_in(new, range.start));
    }
}

/// Where lines begin in a text that stands at `offset`, but for its first.
fn starts_in(text: &str, offset: usize) -> impl Iterator<Item = usize> {
    memchr_iter(b'\n', text.as_bytes()).map(move |at| offset + at + 1)
}

fn without_end(line: &str) -> &str {
    match line.strip_suffix('\n') {
        Some(line) => line.strip_suffix('\r').unwrap_or(line),
        None => line,
    }
}

/// The byte offset of a character in a line's content; past its end only by the CR that follows it.
fn in_line(content: &str, cr_follows: bool, character: usize, encoding: PositionEncoding) -> usize {
    // ASCII counts the same in all three.
    if character <= content.len() && content.as_bytes().get(..character).is_some_and(<[u8]>::is_ascii) {
        return character;
    }
    let mut units = 0;
    for (at, c) in content.char_indices() {
        units += width(c, encoding);
        if units > character {
            return at;
        }
    }
    content.len() + usize::from(cr_follows && character == units + 1)
}

fn width(c: char, encoding: PositionEncoding) -> usize {
    match encoding {
        PositionEncoding::Utf8 => c.len_utf8(),
        PositionEncoding::Utf16 => c.len_utf16(),
        PositionEncoding::Utf32 => 1,
    }
}

fn length(text: &str, encoding: PositionEncoding) -> usize {
    match encoding {
        PositionEncoding::Utf8 => text.len(),
        _ => text.chars().map(|c| width(c, encoding)).sum(),
    }
}

/// Positions are 32 bits wide on the wire; texts are far below that (see `MAX_BYTES` in `files`).
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "aé\u{1F600}z\r\nb\n\nlast";

    fn offset(line: u32, character: u32, encoding: PositionEncoding) -> Option<usize> {
        LineIndex::new(TEXT).offset(TEXT, Position { line, character }, encoding)
    }

    #[test]
    fn characters_count_in_the_units_of_the_encoding() {
        let z = TEXT.find('z');
        assert_eq!(offset(0, 7, PositionEncoding::Utf8), z);
        assert_eq!(offset(0, 4, PositionEncoding::Utf16), z);
        assert_eq!(offset(0, 3, PositionEncoding::Utf32), z);
    }

    #[test]
    fn a_position_inside_a_surrogate_pair_is_the_begin_of_the_character() {
        assert_eq!(offset(0, 3, PositionEncoding::Utf16), TEXT.find('\u{1F600}'));
        assert_eq!(offset(0, 2, PositionEncoding::Utf8), TEXT.find('é'));
    }

    #[test]
    fn past_the_end_of_a_line_is_its_end() {
        let end = TEXT.find('\r');
        assert_eq!(offset(0, 99, PositionEncoding::Utf16), end);
        assert_eq!(offset(0, u32::MAX, PositionEncoding::Utf8), end);
        assert_eq!(offset(0, 6, PositionEncoding::Utf16), end.map(|at| at + 1), "behind the CR");
        assert_eq!(offset(2, 5, PositionEncoding::Utf16), TEXT.find("\nlast"));
    }

    #[test]
    fn the_line_after_the_last_is_the_end_and_what_follows_is_nowhere() {
        assert_eq!(offset(4, 0, PositionEncoding::Utf16), Some(TEXT.len()));
        assert_eq!(offset(4, 1, PositionEncoding::Utf16), None);
        assert_eq!(offset(5, 0, PositionEncoding::Utf16), None);
        assert_eq!(offset(u32::MAX, u32::MAX, PositionEncoding::Utf16), None);
    }

    #[test]
    fn lines_are_given_without_their_ends() {
        let index = LineIndex::new(TEXT);
        let lines: Vec<_> = (0..index.lines()).filter_map(|line| index.line(TEXT, line)).collect();
        assert_eq!(lines, ["aé\u{1F600}z", "b", "", "last"]);
        assert_eq!(index.line(TEXT, 4), None);
    }

    fn encodings() -> impl Strategy<Value = PositionEncoding> {
        prop::sample::select(vec![PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32])
    }

    proptest! {
        #[test]
        fn offsets_and_positions_are_each_others_inverse(
            text in "[ab\u{e9}\u{1F600}\r\n]{0,20}", encoding in encodings(), at in 0..200_usize,
        ) {
            let index = LineIndex::new(&text);
            let offset = text.floor_char_boundary(at);
            let position = index.position(&text, at, encoding);
            prop_assert_eq!(index.offset(&text, position, encoding), Some(offset));
        }

        #[test]
        fn following_an_edit_is_the_same_as_a_new_index(
            text in "[ab\n]{0,20}", new in "[ab\n]{0,6}", from in 0..21_usize, length in 0..21_usize,
        ) {
            let start = from.min(text.len());
            let end = (start + length).min(text.len());
            let mut index = LineIndex::new(&text);
            index.replace(start..end, &new);
            let mut after = text;
            after.replace_range(start..end, &new);
            prop_assert_eq!(index, LineIndex::new(&after));
        }

        #[test]
        fn a_position_is_where_a_naive_count_finds_it(
            text in "[ab\u{e9}\u{1F600}\r\n]{0,20}", encoding in encodings(), line in 0..6_u32, character in 0..9_u32,
        ) {
            let naive = || {
                let mut start = 0;
                for _ in 0..line {
                    start += text[start..].find('\n')? + 1;
                }
                let content = text[start..].split('\n').next()?;
                let content = if text[start + content.len()..].is_empty() {
                    content
                } else {
                    content.strip_suffix('\r').unwrap_or(content)
                };
                let mut units = 0;
                let mut at = start;
                for c in content.chars() {
                    units += match encoding {
                        PositionEncoding::Utf8 => c.len_utf8(),
                        PositionEncoding::Utf16 => c.len_utf16(),
                        PositionEncoding::Utf32 => 1,
                    } as u32;
                    if units > character {
                        return Some(at);
                    }
                    at += c.len_utf8();
                }
                let behind_cr = character == units + 1 && text[at..].starts_with("\r\n");
                Some(at + usize::from(behind_cr))
            };
            let index = LineIndex::new(&text);
            if (line as usize) < index.lines() {
                prop_assert_eq!(index.offset(&text, Position { line, character }, encoding), naive());
            }
        }
    }
}
