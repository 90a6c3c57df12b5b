//! The words of a search: the query for the index, the look at a text, and the excerpt that shows them.

use std::collections::BTreeSet;

use protocol::search::SnippetMark;

/// The index has three characters at a time; shorter words are looked for in the texts.
const GRAM: usize = 3;
/// The most pieces that the index is asked for. The texts are looked at anyway.
const GRAMS: usize = 64;
/// The characters of an excerpt, and how many of them stand before its first word.
const EXCERPT: usize = 160;
const BEFORE: usize = 40;

/// Words, all of which a text must have, in any order and case.
pub(crate) struct Words {
    /// Each folded, the longest first.
    words: Vec<Vec<char>>,
    /// The pieces that the index is asked for. It folds characters itself, by a table of its own.
    grams: BTreeSet<String>,
    /// Patterns of SQL's `LIKE` for the longest, if the index knows none of them.
    patterns: Vec<String>,
}

/// An excerpt with the words in it.
pub(crate) struct Snippet {
    pub(crate) text: String,
    pub(crate) marks: Vec<SnippetMark>,
}

impl Words {
    /// The words of a query. No character has a meaning.
    pub(crate) fn new(query: &str) -> Self {
        let typed: Vec<&str> = query.split(is_space).filter(|word| !word.is_empty()).collect();
        let of_word = |word: &&str| {
            let chars: Vec<char> = word.chars().collect();
            chars.windows(GRAM).take(GRAMS).map(String::from_iter).collect::<Vec<_>>()
        };
        let grams = typed.iter().flat_map(of_word).take(GRAMS).collect();
        let words: BTreeSet<Vec<char>> = typed.into_iter().map(folded).collect();
        let mut words: Vec<_> = words.into_iter().collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let patterns = words.first().map(|word| patterns(word)).unwrap_or_default();
        Self { words, grams, patterns }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The query for the index; none if it knows no word. It may give more texts than have the words.
    pub(crate) fn for_index(&self) -> Option<String> {
        let quoted = |gram: &String| format!("\"{}\"", gram.replace('"', "\"\""));
        let asked: Vec<_> = self.grams.iter().map(quoted).collect();
        (!asked.is_empty()).then(|| asked.join(" "))
    }

    /// Patterns of SQL's `LIKE`, in which `\` escapes: a text that has the words fits one of them. None if the index
    /// knows a word, or if there is no word.
    pub(crate) fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// True if a text has all of them.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        let text = folded(text);
        self.words.iter().all(|word| position(&text, word).is_some())
    }

    /// The part of a text around its first word, in one line.
    pub(crate) fn snippet(&self, text: &str) -> Snippet {
        let chars: Vec<char> = text.chars().collect();
        let folded: Vec<char> = chars.iter().copied().map(fold).collect();
        let first = self.words.iter().filter_map(|word| position(&folded, word)).min().unwrap_or_default();
        let mut start = first.saturating_sub(BEFORE);
        if start > 0 {
            // At the beginning of a word, if one begins there.
            let space = chars.iter().take(first).skip(start).position(|char| is_space(*char));
            start += space.map_or(0, |space| space + 1);
        }
        let part: String = chars.iter().skip(start).take(EXCERPT).collect();
        let line = part.split(is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let more = if start + EXCERPT < chars.len() { "…" } else { "" };
        let text = format!("{}{line}{more}", if start > 0 { "…" } else { "" });
        let marks = self.marks(&text);
        Snippet { text, marks }
    }

    /// Where the words are in a text, in UTF-16 units. Those that overlap are one.
    fn marks(&self, text: &str) -> Vec<SnippetMark> {
        let folded = folded(text);
        let mut is_marked = vec![false; folded.len()];
        for word in &self.words {
            let mut from = 0;
            while let Some(at) = folded.get(from..).and_then(|rest| position(rest, word)) {
                is_marked.iter_mut().skip(from + at).take(word.len()).for_each(|marked| *marked = true);
                from += at + word.len();
            }
        }
        let (mut marks, mut unit) = (Vec::<SnippetMark>::new(), 0);
        for (char, marked) in text.chars().zip(is_marked) {
            let end = unit + char.len_utf16() as u32;
            match marks.last_mut() {
                Some(last) if marked && last.end == unit => last.end = end,
                _ if marked => marks.push(SnippetMark { start: unit, end }),
                _ => {}
            }
            unit = end;
        }
        marks
    }
}

/// White space and control characters part words.
fn is_space(char: char) -> bool {
    char.is_whitespace() || char.is_control()
}

/// A text without its case, each character for itself, so that positions stay.
fn folded(text: &str) -> Vec<char> {
    text.chars().map(fold).collect()
}

fn fold(char: char) -> char {
    if char.is_ascii() {
        return char.to_ascii_lowercase();
    }
    let mut lower = char.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => char,
    }
}

/// The patterns for a word that the index does not know; none for others.
fn patterns(word: &[char]) -> Vec<String> {
    if word.len() >= GRAM {
        return Vec::new();
    }
    // `LIKE` knows the case of ASCII only.
    let cases = |char: &char| -> BTreeSet<String> {
        match char {
            '%' | '_' | '\\' => [format!("\\{char}")].into(),
            char if char.is_ascii() => [char.to_string()].into(),
            char => [char.to_uppercase().to_string(), char.to_lowercase().to_string(), char.to_string()].into(),
        }
    };
    let spelled = word.iter().map(cases).fold(vec![String::new()], |words, cases| {
        words.iter().flat_map(|word| cases.iter().map(move |case| format!("{word}{case}"))).collect()
    });
    spelled.iter().map(|word| format!("%{word}%")).collect()
}

fn position(text: &[char], word: &[char]) -> Option<usize> {
    let first = word.first()?;
    let last = text.len().checked_sub(word.len())?;
    (0..=last).find(|at| text.get(*at) == Some(first) && text.get(*at..*at + word.len()) == Some(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(query: &str, text: &str) -> (String, Vec<String>) {
        let Snippet { text, marks } = Words::new(query).snippet(text);
        let units: Vec<u16> = text.encode_utf16().collect();
        let part = |mark: &SnippetMark| String::from_utf16(&units[mark.start as usize..mark.end as usize]).unwrap();
        let marks = marks.iter().map(part).collect();
        (text, marks)
    }

    #[test]
    fn all_words_must_be_there_in_any_order_and_case() {
        for query in ["parser fix", "FIX pars", "ix arse", "parser\0fix", "parser\nfix"] {
            assert!(Words::new(query).are_in("Fix the Parser"), "{query}");
        }
        for query in ["parser fixed", "p arser x y", "\"fix the\""] {
            assert!(!Words::new(query).are_in("Fix the Parser"), "{query}");
        }
        assert!(Words::new("ÄRGER").are_in("kein ärger"));
        assert!(Words::new("編集").are_in("この編集は"));
    }

    #[test]
    fn an_excerpt_is_one_line_around_the_first_word_and_marks_all_of_them() {
        let text = format!("{} needle\n\n\tin the 😀 haystack needles {}", "hay ".repeat(60), "straw ".repeat(60));
        let (excerpt, marks) = marked("Needle hayst", &text);
        assert!(excerpt.starts_with("…hay hay") && excerpt.ends_with('…'), "{excerpt}");
        assert!(excerpt.contains("needle in the 😀 haystack needles straw"), "{excerpt}");
        assert_eq!(marks, ["needle", "hayst", "needle"]);
        assert_eq!(marked("ab bc", "xabcx"), ("xabcx".into(), vec!["abc".into()]), "what overlaps is one");
    }

    #[test]
    fn the_index_is_asked_for_pieces_of_words_whatever_is_in_them() {
        assert_eq!(Words::new("a\"bc OR").for_index().unwrap(), "\"\"\"bc\" \"a\"\"b\"");
        assert_eq!(Words::new("ab 編").for_index(), None);
        assert!(Words::new(&"abcdefghij".repeat(1000)).for_index().unwrap().len() < 1000);
    }
}
