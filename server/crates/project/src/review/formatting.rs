//! The limits of a formatter: which lines it is asked for, and which texts are taken for formatting.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::diff::LineEdit;
use super::lines::{self, Block};
use crate::files::MAX_BYTES;
use crate::text::normalise;

/// The lines of a text that edits changed, followed through what is done to it further.
#[derive(Clone, Debug, Default)]
pub struct ChangedLines {
    text: Option<Arc<str>>,
    /// From top to bottom, none of them empty, and none adjoining another.
    lines: Vec<Range<usize>>,
}

impl ChangedLines {
    /// Takes in edits that made `after` of `before`. Whoever changed the text since the edits before these, the lines
    /// move with it.
    pub fn edited(&mut self, before: &Arc<str>, edits: &[LineEdit], after: &Arc<str>) {
        self.follow(before);
        let mut moved: isize = 0;
        let blocks: Vec<Block> = edits
            .iter()
            .map(|edit| {
                let (old, added) = (edit.start_line..edit.end_line, lines::count(&edit.new_text));
                let start = old.start.saturating_add_signed(moved);
                moved += added.cast_signed() - old.len().cast_signed();
                Block { old, new: start..start + added }
            })
            .collect();
        self.move_by(&blocks);
        self.lines.extend(blocks.into_iter().map(|block| block.new));
        self.tidy();
        self.text = Some(Arc::clone(after));
    }

    /// The lines in the text as it is now, from 0, their ends exclusive; from top to bottom, not overlapping.
    pub fn now(&mut self, text: &Arc<str>) -> &[Range<usize>] {
        self.follow(text);
        &self.lines
    }

    fn follow(&mut self, text: &Arc<str>) {
        if let Some(before) = self.text.replace(Arc::clone(text)).filter(|before| before != text) {
            self.move_by(&lines::changes(&before, text));
            self.tidy();
        }
    }

    fn move_by(&mut self, blocks: &[Block]) {
        for place in &mut self.lines {
            *place = lines::follow(place, blocks).place;
        }
    }

    fn tidy(&mut self) {
        self.lines.retain(|place| !place.is_empty());
        self.lines.sort_by_key(|place| (place.start, place.end));
        self.lines.dedup_by(|next, last| {
            let joins = next.start <= last.end;
            if joins {
                last.end = last.end.max(next.end);
            }
            joins
        });
    }
}

/// So many signs may be lost of any text.
const FEW_SIGNS: usize = 16;

/// Why a text is not taken for a formatted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFormatting {
    /// It holds a NUL, as texts never do.
    #[error("what it gave is not text")]
    NotText,
    /// It is larger than any text that is read.
    #[error("what it gave is too large")]
    TooLarge,
    /// It has other words than the text.
    #[error("what it gave is another text, not the same one formatted")]
    OtherText,
}

/// The normal text that a formatter made of a normal text; none if it changed nothing. Line ends and a byte order
/// mark are the document's own and no matter of the formatter's.
///
/// # Errors
/// A text that cannot be this one formatted, such as an error message or the first part of it. Formatters quote, break,
/// indent, sort and join lines, and lose few words and not many signs by it: of the text's words at least nine in ten
/// must be in the answer (of a short text two may be lost, but no more than a quarter) and about half as many signs,
/// and of all words of both at least half must be in both.
pub fn formatted(text: &str, answer: &str) -> Result<Option<String>, NotFormatting> {
    if u64::try_from(answer.len()).map_or(true, |length| length > MAX_BYTES) {
        return Err(NotFormatting::TooLarge);
    }
    if answer.contains('\0') {
        return Err(NotFormatting::NotText);
    }
    let answer = normalise(answer.strip_prefix('\u{FEFF}').unwrap_or(answer)).0;
    if answer == text {
        return Ok(None);
    }
    if !keeps_words(text, &answer) || !keeps_signs(text, &answer) {
        return Err(NotFormatting::OtherText);
    }
    Ok(Some(answer.into_owned()))
}

fn keeps_words(text: &str, answer: &str) -> bool {
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    words(text).for_each(|word| counts.entry(word).or_default().0 += 1);
    words(answer).for_each(|word| counts.entry(word).or_default().1 += 1);
    let sum = |of: fn(&(usize, usize)) -> usize| counts.values().map(of).sum::<usize>();
    let (old, common, all) = (sum(|it| it.0), sum(|it| it.0.min(it.1)), sum(|it| it.0.max(it.1)));
    old - common <= (old / 10).max(2.min(old / 4)) && all <= common * 2
}

fn keeps_signs(text: &str, answer: &str) -> bool {
    let signs = |text: &str| text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace()).count();
    let (old, new) = (signs(text), signs(answer));
    old <= new * 2 + FEW_SIGNS && (old == 0) == (new == 0)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::to_line_edits;

    fn edited(changed: &mut ChangedLines, before: &str, after: &str) {
        changed.edited(&before.into(), &to_line_edits(before, after), &after.into());
    }

    #[test]
    fn lines_that_were_edited_are_found_after_further_edits_and_typing() {
        let mut changed = ChangedLines::default();
        edited(&mut changed, "a\nb\nc\nd\ne\n", "a\nB\nB2\nc\nd\ne\n");
        assert_eq!(changed.now(&"a\nB\nB2\nc\nd\ne\n".into()), std::slice::from_ref(&(1..3)));
        // The user types above, and then another edit arrives above that.
        edited(&mut changed, "typed\na\nB\nB2\nc\nd\ne\n", "T\nyped\na\nB\nB2\nc\nD\ne\n");
        assert_eq!(changed.now(&"T\nyped\na\nB\nB2\nc\nD\ne\n".into()), [0..2, 3..5, 6..7]);
        assert_eq!(changed.now(&"a\nB\nB2\nc\nD\ne\n".into()), [1..3, 4..5], "what is gone is not among them");
    }

    #[test]
    fn lines_that_only_went_away_are_none() {
        let mut changed = ChangedLines::default();
        edited(&mut changed, "a\nb\nc\n", "a\nc\n");
        assert!(changed.now(&"a\nc\n".into()).is_empty());
    }

    #[test]
    fn what_formatters_do_is_formatting() {
        for (text, answer) in [
            ("fn a(){let x=1;}\n", "fn a() {\n    let x = 1;\n}\n"),
            ("import b\nimport a\n", "import a\nimport b\n"),
            ("x='a'", "x = \"a\";\n"),
            ("{}", "{\n}\n"),
            ("\n\n\n", ""),
            (
                "use std::b;\nuse std::a;\nuse std::c;\nfn main() {}\n",
                "use std::{a, b};\nuse std::c;\n\nfn main() {}\n",
            ),
            ("n = u'x' + 0XFF\n", "n = 'x' + 0XFF\n"),
        ] {
            assert_eq!(formatted(text, answer), Ok(Some(answer.to_owned())));
        }
    }

    #[test]
    fn what_is_the_same_text_is_no_change() {
        for answer in ["one\ntwo\n", "one\r\ntwo\r\n", "\u{FEFF}one\r\ntwo\n"] {
            assert_eq!(formatted("one\ntwo\n", answer), Ok(None));
        }
    }

    #[test]
    fn a_text_that_breaks_off_is_not_taken() {
        let [short, long] =
            [7, 400].map(|lines| (0..lines).map(|n| format!("let x{n} = f({n});\n")).collect::<String>());
        for (text, lines) in [(&short, 7), (&long, 400)] {
            for kept in 0..lines * 4 / 5 {
                let answer: String = text.split_inclusive('\n').take(kept).collect();
                assert_eq!(formatted(text, &answer), Err(NotFormatting::OtherText), "{kept} of {lines} lines");
            }
        }
        let signs = format!("a\n{}", "((((!))))\n".repeat(100));
        assert_eq!(formatted(&signs, &signs[..400]), Err(NotFormatting::OtherText));
    }

    #[test]
    fn what_is_another_text_is_not_taken() {
        for answer in ["", "\n", "error: unexpected token at line 1, column 3", "one"] {
            assert_eq!(formatted("one\ntwo\nthree\n", answer), Err(NotFormatting::OtherText), "{answer:?}");
        }
        for (text, answer) in [("{}\n", "\n"), ("{}", ""), ("\n", "!")] {
            assert_eq!(formatted(text, answer), Err(NotFormatting::OtherText), "{answer:?}");
        }
        assert_eq!(formatted("one", "one\0"), Err(NotFormatting::NotText));
        let large = " ".repeat(usize::try_from(MAX_BYTES).unwrap() + 1);
        assert_eq!(formatted("one", &large), Err(NotFormatting::TooLarge));
    }
}
