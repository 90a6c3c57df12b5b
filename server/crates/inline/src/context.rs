//! The parts of the project that a model reads for a suggestion: the text around the cursor, and parts of other files
//! that are like it.
//!
//! A server keeps what it has read of the last prompt as long as the next one begins with it. So what changes least
//! comes first, and nothing here moves with each key: the prefix begins at a multiple of [`STEP`] lines, and the parts
//! of other files are chosen by the block of [`STEP`] lines that the cursor is in, and not by the cursor.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr_iter;
use ports::complete::Excerpt;

/// The lines by which the beginning of a prefix moves.
pub const STEP: usize = 32;
/// The share of the text around the cursor that stands before it, of 4.
const BEFORE: usize = 3;
/// The lines of a part of another file, and how far apart two parts begin. Half of each is in the next, so that nothing
/// is cut in two by chance.
const WINDOW: usize = 40;
const APART: usize = WINDOW / 2;
/// The most parts of other files.
const PARTS: usize = 4;
/// The most bytes of a part.
const PART_BYTES: usize = 3 * 1024;
/// The least likeness of a part, of 1 (Jaccard: words in both, of the words in either). Below it, files have little
/// more in common than the language's keywords.
const LEAST: f32 = 0.12;
/// The most likeness. What is more alike is the same text, which a model would only repeat.
const MOST: f32 = 0.9;
/// The largest file of which parts are taken, in bytes.
pub const LARGEST: usize = 100 * 1024;

/// Returns the range of a text that a model reads around the cursor, at most so many bytes, and in whole lines as far
/// as that leaves any.
pub fn around(text: &str, offset: usize, bytes: usize) -> Range<usize> {
    let offset = floor(text, offset);
    if text.len() <= bytes {
        return 0..text.len();
    }
    let after = bytes / 4;
    let end = cut_end(text, offset, floor(text, offset.saturating_add(after).min(text.len())));
    let before = bytes.saturating_sub(end - offset).max(bytes / 4 * BEFORE);
    cut_start(text, offset, offset.saturating_sub(before))..end
}

/// The end of a suffix: the end of the last line that is whole before `limit`.
fn cut_end(text: &str, offset: usize, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    let part = text.get(offset..limit).unwrap_or_default();
    part.rfind('\n').map_or(limit, |end| offset + end + 1)
}

/// The beginning of a prefix: the first line after `limit` whose number is a multiple of [`STEP`].
fn cut_start(text: &str, offset: usize, limit: usize) -> usize {
    let limit = ceil(text, limit);
    if limit == 0 {
        return 0;
    }
    let skipped = text.get(..limit).unwrap_or_default();
    let lines = memchr_iter(b'\n', skipped.as_bytes()).count();
    let part = text.get(limit..offset).unwrap_or_default();
    // The line that `limit` is in has begun before it, so the next multiple is of a line that begins after it.
    let wanted = STEP - lines % STEP;
    let mut ends = part.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| limit + at + 1);
    let mut first = None;
    for (index, end) in ends.by_ref().enumerate() {
        first = first.or(Some(end));
        if index + 1 == wanted {
            return end;
        }
    }
    // In a text of long lines there may be no such line; a whole one is better than none.
    first.unwrap_or(limit)
}

/// The words of a file's parts, to compare others with. Made once for each text.
#[derive(Debug, Default)]
pub struct Parts {
    path: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    line: usize,
    text: Arc<str>,
    words: Words,
}

impl Parts {
    /// Reads the parts of a file, which the user knows by this path.
    pub fn new(path: &str, text: &str) -> Self {
        let mut parts = Vec::new();
        if text.len() <= LARGEST {
            let lines: Vec<_> = text.split_inclusive('\n').collect();
            let mut line = 0;
            while line < lines.len() {
                let window = lines.get(line..(line + WINDOW).min(lines.len())).unwrap_or_default().concat();
                let words = Words::of(&window);
                if window.len() <= PART_BYTES && !words.is_empty() {
                    parts.push(Part { line, text: window.into(), words });
                }
                if line + WINDOW >= lines.len() {
                    break;
                }
                line += APART;
            }
        }
        Self { path: path.to_owned(), parts }
    }

    /// Its size in memory, in bytes, roughly.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.text.len() + 2 * part.words.0.len() * size_of::<u64>()).sum()
    }
}

/// Returns the lines of a text by which parts of other files are chosen: those of the block of [`STEP`] lines that the
/// cursor is in, and of the one before it.
pub fn block(text: &str, offset: usize) -> (usize, Range<usize>) {
    let offset = floor(text, offset);
    let before = text.get(..offset).unwrap_or_default();
    let line = memchr_iter(b'\n', before.as_bytes()).count();
    let number = line / STEP;
    let back = line % STEP + STEP;
    let start = before.rmatch_indices('\n').nth(back).map_or(0, |(at, _)| at + 1);
    let rest = text.get(offset..).unwrap_or_default();
    let ahead = STEP - line % STEP;
    let end = rest.match_indices('\n').nth(ahead - 1).map_or(text.len(), |(at, _)| offset + at + 1);
    (number, start..end)
}

/// Returns the parts of other files that are most like a text, ordered by path and line, so that the same parts always
/// come in the same order.
pub fn alike<'p>(text: &str, others: impl IntoIterator<Item = &'p Parts>) -> Vec<Excerpt> {
    let words = Words::of(text);
    let mut found = Vec::new();
    for other in others {
        let alike = |part: &'p Part| (words.likeness(&part.words), &*other.path, part);
        let mut of_one: Vec<_> = other.parts.iter().map(alike).filter(|(alike, ..)| *alike >= LEAST).collect();
        of_one.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.2.line.cmp(&b.2.line)));
        // Of parts that overlap, the one that is most alike.
        let mut taken: Vec<usize> = Vec::new();
        for (likeness, path, part) in of_one {
            if taken.iter().all(|line| line.abs_diff(part.line) >= WINDOW) && likeness <= MOST {
                taken.push(part.line);
                found.push((likeness, path, part));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2.line).cmp(&(b.1, b.2.line))));
    found.truncate(PARTS);
    found.sort_by_key(|(_, path, part)| (*path, part.line));
    found.into_iter().map(|(_, path, part)| Excerpt { path: path.to_owned(), text: part.text.to_string() }).collect()
}

/// The words of a text, as hashes.
#[derive(Debug, Default)]
struct Words(HashSet<u64>);

impl Words {
    fn of(text: &str) -> Self {
        use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| word.len() > 1);
        Self(words.map(|word| hasher.hash_one(word)).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn likeness(&self, other: &Self) -> f32 {
        let common = self.0.intersection(&other.0).count();
        let all = self.0.len() + other.0.len() - common;
        if all == 0 { 0.0 } else { common as f32 / all as f32 }
    }
}

fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

fn ceil(text: &str, offset: usize) -> usize {
    (offset..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(lines: usize) -> String {
        (0..lines).map(|line| format!("line {line}\n")).collect()
    }

    #[test]
    fn a_small_text_is_read_whole() {
        assert_eq!(around("a\nb\n", 2, 100), 0..4);
    }

    #[test]
    fn a_prefix_begins_at_the_same_line_while_the_user_types() {
        let text = numbered(2000);
        let at = text.find("line 1000").unwrap();
        let first = around(&text, at, 4096);
        assert!(text[first.clone()].starts_with("line "));
        let line: usize = text[first.start + 5..].lines().next().unwrap().parse().unwrap();
        assert_eq!(line % STEP, 0);
        for typed in 1..200 {
            let longer = format!("{}{}{}", &text[..at], "x".repeat(typed), &text[at..]);
            let now = around(&longer, at + typed, 4096);
            assert!(now.start == first.start || now.start > first.start + STEP, "{typed}");
        }
    }

    #[test]
    fn parts_of_other_files_that_share_words_are_found_and_in_a_steady_order() {
        let near = "fn parse_header(reader: &mut Reader) -> Result<Header, ParseError> { reader.expect(MAGIC) }\n";
        let far = "The quick brown fox jumps over the lazy dog while nobody watches it at all today\n";
        let (like, unlike) = (Parts::new("src/b.rs", &near.repeat(3)), Parts::new("notes.md", far));
        let also =
            Parts::new("src/a.rs", "struct Header; struct ParseError; impl Reader { fn expect(&mut self) {} }\n");
        let text = "fn parse_body(reader: &mut Reader, header: &Header) -> Result<Body, ParseError> { reader }\n";
        let paths: Vec<_> = alike(text, [&like, &unlike, &also]).into_iter().map(|part| part.path).collect();
        assert_eq!(paths, ["src/a.rs", "src/b.rs"]);
    }

    #[test]
    fn the_same_text_in_another_file_is_no_help() {
        let text = "fn parse_header(reader: &mut Reader) -> Result<Header, ParseError> { reader.expect(MAGIC) }\n";
        assert!(alike(text, [&Parts::new("copy.rs", text)]).is_empty());
    }

    #[test]
    fn the_block_of_the_cursor_stays_while_the_cursor_is_in_it() {
        let text = numbered(200);
        let of = |line: usize| block(&text, text.find(&format!("line {line}\n")).unwrap());
        assert_eq!(of(70), of(80));
        assert_ne!(of(70).0, of(100).0);
        let (number, range) = of(70);
        assert_eq!(number, 2);
        assert!(text[range.clone()].starts_with("line 32\n") && text[range].ends_with("line 95\n"));
    }

    proptest! {
        #[test]
        fn the_text_around_a_cursor_is_in_the_text_and_holds_the_cursor(
            text in "([a-z€ ]{0,12}\n?){0,60}", offset in 0_usize..800, bytes in 0_usize..300,
        ) {
            let offset = floor(&text, offset);
            let range = around(&text, offset, bytes);
            prop_assert!(text.get(range.clone()).is_some());
            prop_assert!(range.start <= offset && offset <= range.end);
            prop_assert!(range.len() <= bytes.max(4) || text.len() <= bytes);
            let (_, block) = block(&text, offset);
            prop_assert!(text.get(block).is_some());
        }
    }
}
