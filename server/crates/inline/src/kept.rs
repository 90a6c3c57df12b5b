//! Retention: is a text that the user accepted still there some time later? Words are compared, so that another
//! indentation, or a name that was changed in a long text, does not count as its end. The time is given.

use std::ops::Range;
use std::time::Duration;

use crate::splice::Splice;

/// The times after which an accepted text is looked for.
pub const AFTER: [Duration; 3] = [Duration::from_secs(30), Duration::from_secs(120), Duration::from_secs(600)];

/// The bytes on both sides of a text's position that belong to it. The change between two texts can be read in several
/// ways, so the position is not exact.
const MARGIN: usize = 50;
/// The words of a text that count: its first.
const WORDS: usize = 200;
/// The words at its position that they are compared with.
const NEAR: usize = 2_000;
/// The texts that are watched at once. An older one is let go.
const WATCHED: usize = 64;

/// The words of a text: names and numbers. A text without any is compared by its characters.
pub fn words(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let words: Vec<_> = text.split(|letter| !is_part(letter)).filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        false => words,
        true => letters(text),
    }
}

/// True if at least half of the words are in the text, in their order. Without words there is nothing that could go.
pub fn is_kept<W: AsRef<str>>(accepted: &[W], text: &str) -> bool {
    let accepted = accepted.get(..WORDS).unwrap_or(accepted);
    let has_words = accepted.iter().any(|word| word.as_ref().contains(|letter: char| letter.is_alphanumeric()));
    let found = if has_words { words(text) } else { letters(text) };
    let common = common(accepted, found.get(..NEAR).unwrap_or(&found));
    common * 2 >= accepted.len()
}

fn letters(text: &str) -> Vec<&str> {
    text.split("").filter(|letter| !letter.trim().is_empty()).collect()
}

/// The length of the longest list of words that both have in their order.
fn common<W: AsRef<str>>(one: &[W], other: &[&str]) -> usize {
    let mut row = vec![0_usize; other.len() + 1];
    for word in one {
        let mut diagonal = 0;
        for (at, theirs) in other.iter().enumerate() {
            let left = row.get(at).copied().unwrap_or_default();
            let Some(cell) = row.get_mut(at + 1) else { break };
            let above = *cell;
            *cell = if word.as_ref() == *theirs { diagonal + 1 } else { above.max(left) };
            diagonal = above;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// The accepted texts that are watched, in all documents.
#[derive(Debug, Default)]
pub struct Watches {
    watched: Vec<Watched>,
}

#[derive(Debug)]
struct Watched {
    document: String,
    model: String,
    range: Range<usize>,
    words: Vec<String>,
    /// The time of the acceptance, in milliseconds.
    at: u64,
    /// The next of [`AFTER`].
    next: usize,
}

/// A text that was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// The model that it was from.
    pub model: String,
    /// The time since it was accepted, as an index of [`AFTER`].
    pub after: usize,
    /// True if it is still there.
    pub is_kept: bool,
}

impl Watches {
    /// Watches a text that was accepted at a position of a document, in bytes, at this time in milliseconds. The change
    /// that puts it there may still be on its way.
    pub fn watch(&mut self, document: &str, model: &str, position: usize, text: &str, at: u64) {
        let words: Vec<_> = words(text).into_iter().take(WORDS).map(str::to_owned).collect();
        if words.is_empty() {
            return;
        }
        if self.watched.len() >= WATCHED {
            self.watched.remove(0);
        }
        let (document, model) = (document.to_owned(), model.to_owned());
        self.watched.push(Watched { document, model, range: position..position + text.len(), words, at, next: 0 });
    }

    /// True if a text of this document is watched, so that its changes are needed.
    pub fn has(&self, document: &str) -> bool {
        self.watched.iter().any(|watched| watched.document == document)
    }

    /// Takes a change of a document.
    pub fn changed(&mut self, document: &str, change: &Splice) {
        for watched in self.watched.iter_mut().filter(|watched| watched.document == document) {
            watched.range = followed(&watched.range, change);
        }
    }

    /// Lets the texts of a document go, or all.
    pub fn forget(&mut self, document: Option<&str>) {
        self.watched.retain(|watched| document.is_some_and(|document| watched.document != document));
    }

    /// Looks for the texts whose time has come. A text of a document that is not given is let go.
    pub fn look<'t>(&mut self, now: u64, text_of: impl Fn(&str) -> Option<&'t str>) -> Vec<Looked> {
        let mut looked = Vec::new();
        self.watched.retain_mut(|watched| {
            let is_due = |next: usize| {
                let after = AFTER.get(next).map(|after| u64::try_from(after.as_millis()).unwrap_or(u64::MAX));
                after.is_some_and(|after| now.saturating_sub(watched.at) >= after)
            };
            if !is_due(watched.next) {
                return true;
            }
            let Some(text) = text_of(&watched.document) else { return false };
            let is_kept = is_kept(&watched.words, near(text, &watched.range));
            while is_due(watched.next) {
                looked.push(Looked { model: watched.model.clone(), after: watched.next, is_kept });
                watched.next += 1;
            }
            watched.next < AFTER.len()
        });
        looked
    }
}

/// A range of bytes after a change. What is put at its edges, or over them, belongs to it.
fn followed(range: &Range<usize>, change: &Splice) -> Range<usize> {
    if change.range.end < range.start {
        return change.moved(range.start)..change.moved(range.end);
    }
    if change.range.start > range.end {
        return range.clone();
    }
    range.start.min(change.range.start)..change.moved(range.end.max(change.range.end))
}

/// The text at a range, with its margins.
fn near<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let start = text.floor_char_boundary(range.start.saturating_sub(MARGIN).min(text.len()));
    let end = text.ceil_char_boundary(range.end.saturating_add(MARGIN).min(text.len()));
    text.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::splice::between;

    const CALL: &str = "numbers.iter().sum::<i32>();";

    fn kept(accepted: &str, text: &str) -> bool {
        is_kept(&words(accepted), text)
    }

    #[test]
    fn a_text_is_kept_while_half_of_its_words_are_there_in_their_order() {
        assert!(kept(CALL, "let sum = numbers.iter().sum::<i32>();"));
        assert!(kept(CALL, "let sum = values\n    .iter()\n    .sum::<i64>();"), "two of four");
        assert!(!kept(CALL, "let sum = values.iter().max();"), "one of four");
        assert!(!kept("one two three four", "four three two one"), "the order counts");
        assert!(!kept(CALL, ""));
    }

    #[test]
    fn a_text_without_words_is_compared_by_its_characters() {
        assert!(kept(");\n}", "foo(bar);\n}\n"));
        assert!(!kept("});\n", "foo"));
    }

    #[test]
    fn a_text_is_looked_for_where_it_has_moved_to_and_each_time_once() {
        let mut watches = Watches::default();
        let mut text = format!("let sum = {CALL}\n");
        watches.watch("a", "m", 10, CALL, 1_000);
        let mut change = |watches: &mut Watches, new: String| {
            watches.changed("a", &between(&text, &new).unwrap());
            text = new;
            text.clone()
        };
        let above = change(&mut watches, format!("{}let sum = {CALL}\n", "// A line above it.\n".repeat(20)));
        assert_eq!(watches.look(30_999, |_| Some(&above)), []);
        let seen = |after, is_kept| Looked { model: "m".into(), after, is_kept };
        assert_eq!(watches.look(31_000, |_| Some(&above)), [seen(0, true)]);
        assert_eq!(watches.look(31_001, |_| Some(&above)), []);
        let gone = change(&mut watches, above.replace(CALL, "0;"));
        assert_eq!(watches.look(700_000, |_| Some(&gone)), [seen(1, false), seen(2, false)]);
        assert!(!watches.has("a"), "it is looked for no more");
    }

    #[test]
    fn the_change_that_accepts_a_text_may_come_after_the_word_of_it() {
        let mut watches = Watches::default();
        let (before, after) = ("let sum = \n", format!("let sum = {CALL}\n"));
        watches.watch("a", "m", 10, CALL, 0);
        watches.changed("a", &between(before, &after).unwrap());
        assert!(watches.look(30_000, |_| Some(&after))[0].is_kept);
    }

    #[test]
    fn a_text_of_a_closed_document_counts_neither_way() {
        let mut watches = Watches::default();
        watches.watch("a", "m", 0, CALL, 0);
        watches.watch("b", "m", 0, CALL, 0);
        watches.forget(Some("a"));
        assert_eq!((watches.has("a"), watches.has("b")), (false, true));
        assert_eq!(watches.look(30_000, |_| None), []);
        assert!(!watches.has("b"));
    }

    #[test]
    fn no_more_texts_are_watched_than_fit() {
        let mut watches = Watches::default();
        for number in 0..WATCHED + 1 {
            watches.watch(&number.to_string(), "m", 0, CALL, 0);
        }
        assert!(!watches.has("0") && watches.has("1"));
    }

    proptest! {
        #[test]
        fn what_is_untouched_is_kept_wherever_the_user_types(
            edits in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>(), "[a-zé\n ]{0,40}"), 0..20),
        ) {
            let accepted = " first_word second_word third_word ";
            let (mut before, mut after) = ("fn a() {\n".repeat(3), "}\n".repeat(3));
            let mut watches = Watches::default();
            watches.watch("a", "m", before.len(), accepted, 0);
            let mut text = format!("{before}{accepted}{after}");
            for (is_before, at, typed) in edits {
                let side = if is_before { &mut before } else { &mut after };
                let at = side.floor_char_boundary(at.index(side.len() + 1));
                side.insert_str(at, &typed);
                let new = format!("{before}{accepted}{after}");
                if let Some(change) = between(&text, &new) {
                    watches.changed("a", &change);
                }
                text = new;
            }
            let looked = watches.look(30_000, |_| Some(&text));
            prop_assert!(looked[0].is_kept, "{text:?}");
        }

        #[test]
        fn any_changes_of_any_texts_are_followed_without_a_fault(
            texts in prop::collection::vec("[a-c é\n]{0,60}", 2..10), position in 0..80_usize,
        ) {
            let mut watches = Watches::default();
            watches.watch("a", "m", position, "abc é", 0);
            for pair in texts.windows(2) {
                if let Some(change) = between(&pair[0], &pair[1]) {
                    watches.changed("a", &change);
                }
            }
            prop_assert_eq!(watches.look(u64::MAX, |_| texts.last().map(String::as_str)).len(), AFTER.len());
        }

        #[test]
        fn a_text_keeps_itself(text in "\\PC{1,80}") {
            prop_assert!(kept(&text, &text));
        }
    }
}
