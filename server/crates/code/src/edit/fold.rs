//! The passes by which texts count as the same, from strict to lenient (issue: one locator with its passes in a
//! documented order).
//!
//! A lenient pass compares *folded* texts: what the pass does not look at is taken out. Line breaks always stay, so the
//! lines of a folded text are those of the text itself, one for one.

use std::ops::Range;

/// The likeness that makes two texts the same place. Tried in this order; the first that finds anything counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pass {
    /// Byte for byte.
    Exact,
    /// White space at the end of lines does not count.
    TrailingSpace,
    /// Nor does indentation.
    Indentation,
    /// Nor how much white space is between two words.
    InnerSpace,
    /// Nor whether quotes and dashes are plain or typographic.
    Characters,
    /// Lines that the edit keeps may differ in a few letters; lines that it changes may not.
    Alike,
}

impl Pass {
    /// The passes between byte for byte and merely alike, the strictest first.
    pub(super) const LENIENT: [Self; 4] = [Self::TrailingSpace, Self::Indentation, Self::InnerSpace, Self::Characters];

    /// Names the differences that the pass leaves out of account, in words for the model; nothing for an exact one.
    pub fn leaves_out(self) -> Option<&'static str> {
        Some(match self {
            Self::Exact => return None,
            Self::TrailingSpace => "white space at the end of lines",
            Self::Indentation => "indentation",
            Self::InnerSpace => "white space",
            Self::Characters => "white space and the kind of quotes and dashes",
            Self::Alike => "a few letters of the lines that stay",
        })
    }

    /// True if two lines are the same to the pass. [`Pass::Alike`] compares as the pass before it.
    pub(super) fn same(self, a: &str, b: &str) -> bool {
        match self {
            Self::Exact => a == b,
            Self::TrailingSpace => a.trim_end() == b.trim_end(),
            Self::Indentation => a.trim() == b.trim(),
            Self::InnerSpace => a.split_whitespace().eq(b.split_whitespace()),
            Self::Characters | Self::Alike => {
                // A line break stands for the end of each word, since no line has one.
                fn letters(line: &str) -> impl Iterator<Item = char> {
                    line.split_whitespace().flat_map(|word| word.chars().map(plain).chain(['\n']))
                }
                letters(a).eq(letters(b))
            }
        }
    }
}

/// The plain form of a quote or dash, and every other character as it is.
pub(super) fn plain(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{2033}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        c => c,
    }
}

/// A text without what a pass does not look at, and where each of its bytes comes from.
pub(super) struct Folded {
    pub(super) text: String,
    /// For each byte of `text` the byte offset of its character in the source; then the source's end.
    from: Vec<usize>,
}

impl Folded {
    /// Folds a text. White space at its very begin and end counts as that of a line.
    pub(super) fn new(source: &str, pass: Pass) -> Self {
        let mut folded = Self { text: String::with_capacity(source.len()), from: Vec::with_capacity(source.len() + 1) };
        // White space that was met and not yet put: where it begins, and where it ends.
        let mut space: Option<Range<usize>> = None;
        for (at, c) in source.char_indices() {
            if c != '\n' && c.is_whitespace() {
                let start = space.map_or(at, |space| space.start);
                space = Some(start..at + c.len_utf8());
                continue;
            }
            if let Some(space) = space.take()
                && c != '\n'
            {
                folded.space(source, space, pass);
            }
            folded.push(if pass >= Pass::Characters { plain(c) } else { c }, at);
        }
        folded.from.push(source.len());
        folded
    }

    fn space(&mut self, source: &str, space: Range<usize>, pass: Pass) {
        let begins_line = self.text.is_empty() || self.text.ends_with('\n');
        if begins_line && pass >= Pass::Indentation {
            return;
        }
        if pass >= Pass::InnerSpace {
            self.push(' ', space.start);
            return;
        }
        for (at, c) in source.get(space.clone()).unwrap_or_default().char_indices() {
            self.push(c, space.start + at);
        }
    }

    fn push(&mut self, c: char, from: usize) {
        self.text.push(c);
        self.from.resize(self.text.len(), from);
    }

    /// The bytes of the source that some bytes of the folded text come from.
    pub(super) fn source(&self, source: &str, range: Range<usize>) -> Range<usize> {
        let start = self.from.get(range.start).copied().unwrap_or(source.len());
        let last = range.end.checked_sub(1).and_then(|last| self.from.get(last)).copied().unwrap_or(start);
        let end = source.get(last..).and_then(|rest| rest.chars().next()).map_or(last, |c| last + c.len_utf8());
        start..end.max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(text: &str, pass: Pass) -> String {
        Folded::new(text, pass).text
    }

    #[test]
    fn each_pass_leaves_out_what_it_says() {
        let text = "\tlet  a =\u{a0}\u{201C}x\u{201D};  \n  b \u{2014} c\n \n";
        assert_eq!(folded(text, Pass::TrailingSpace), "\tlet  a =\u{a0}\u{201C}x\u{201D};\n  b \u{2014} c\n\n");
        assert_eq!(folded(text, Pass::Indentation), "let  a =\u{a0}\u{201C}x\u{201D};\nb \u{2014} c\n\n");
        assert_eq!(folded(text, Pass::InnerSpace), "let a = \u{201C}x\u{201D};\nb \u{2014} c\n\n");
        assert_eq!(folded(text, Pass::Characters), "let a = \"x\";\nb - c\n\n");
    }

    #[test]
    fn a_place_in_the_folded_text_is_one_in_the_source() {
        let text = "  a  b \n\t\u{201C}c\u{201D} ";
        let folded = Folded::new(text, Pass::Characters);
        let at = folded.text.find("b\n\"c\"").unwrap();
        assert_eq!(&text[folded.source(text, at..at + 5)], "b \n\t\u{201C}c\u{201D}");
        assert_eq!(&text[folded.source(text, 0..3)], "a  b");
    }

    #[test]
    fn lines_are_compared_as_texts_are_folded() {
        assert!(Pass::TrailingSpace.same(" a ", " a") && !Pass::TrailingSpace.same("a", " a"));
        assert!(Pass::Indentation.same("\ta", "  a") && !Pass::Indentation.same("a  b", "a b"));
        assert!(Pass::InnerSpace.same("a  b", " a b") && !Pass::InnerSpace.same("ab", "a b"));
        assert!(Pass::Characters.same("it\u{2019}s", "it's") && !Pass::Characters.same("a", "b"));
    }
}
