//! The edits of a document that the user rejected, so that they are not offered again.

use std::collections::VecDeque;

use crate::rebase::{self, Hunk, Meeting};
use crate::splice::{self, Splice};

/// The most rejections that are remembered.
const MOST: usize = 20;

/// The longest edit that is remembered, in bytes that it replaces or puts in their place.
const LONGEST: usize = 64 << 10;

/// The last rejections in one document.
///
/// They move with the text. A rejection is forgotten when its lines change, unless the user types a part of it: then
/// the rest of it is still rejected.
#[derive(Clone, Debug, Default)]
pub struct Rejected {
    /// One change for each, in the form of [`canonical`]; the oldest first.
    edits: VecDeque<Splice>,
}

impl Rejected {
    /// Remembers an edit of the present text: a next edit, or ghost text as one hunk.
    pub fn reject(&mut self, text: &str, hunks: &[Hunk]) {
        let Some(edit) = edit(text, hunks) else { return };
        self.edits.retain(|other| *other != edit);
        if self.edits.len() >= MOST {
            self.edits.pop_front();
        }
        self.edits.push_back(edit);
    }

    /// True if an edit of the present text gives the same text as one that was rejected.
    pub fn is_rejected(&self, text: &str, hunks: &[Hunk]) -> bool {
        !self.edits.is_empty() && edit(text, hunks).is_some_and(|edit| self.edits.contains(&edit))
    }

    /// Follows a change of the text from `old` to `new`.
    pub fn change(&mut self, old: &str, new: &str, change: &Splice) {
        let Some(change) = change.minimal(old).filter(|_| !self.edits.is_empty()) else { return };
        if !change.is_empty() {
            let edits = std::mem::take(&mut self.edits);
            self.edits = edits.into_iter().filter_map(|edit| follow(edit, old, new, &change)).collect();
        }
    }

    /// Remembers others that are of the present text, too.
    pub fn append(&mut self, others: Self) {
        for edit in others.edits {
            self.edits.retain(|other| *other != edit);
            if self.edits.len() >= MOST {
                self.edits.pop_front();
            }
            self.edits.push_back(edit);
        }
    }

    /// The number of rejections.
    pub fn len(&self) -> usize {
        self.edits.len()
    }

    /// True if none is.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// A rejected edit after a change; none if the change is in its lines and not a part of it.
fn follow(edit: Splice, old: &str, new: &str, change: &Splice) -> Option<Splice> {
    let lines = line_start(old, edit.range.start)..line_end(old, edit.range.end);
    let hunk = Hunk::new(edit.range.clone(), edit.text.as_str());
    let is_elsewhere = change.range.end < lines.start
        || change.range.start > lines.end
        || change.range.end == lines.start && change.text.ends_with('\n');
    match rebase::meet(&hunk, old, change) {
        Meeting::Agrees(rest) => self::edit(new, &rest),
        Meeting::After if is_elsewhere => Some(edit),
        Meeting::Before if is_elsewhere => {
            Some(Splice { range: change.moved(edit.range.start)..change.moved(edit.range.end), text: edit.text })
        }
        _ => None,
    }
}

/// All hunks as one change; none if they change nothing, or too much.
fn edit(text: &str, hunks: &[Hunk]) -> Option<Splice> {
    let range = hunks.first()?.range.start..hunks.last()?.range.end;
    let shifted: Vec<_> = hunks
        .iter()
        .map(|hunk| {
            let range = hunk.range.start.checked_sub(range.start)?..hunk.range.end.checked_sub(range.start)?;
            Some(Splice { range, text: hunk.text.clone() })
        })
        .collect::<Option<_>>()?;
    let new = splice::apply_all(text.get(range.clone())?, &shifted)?;
    if range.len().max(new.len()) > LONGEST {
        return None;
    }
    canonical(text, &Splice { range, text: new }).filter(|edit| !edit.is_empty())
}

/// The smallest change with the same result, in the last of its possible places: two edits of a text have the same
/// result only if they are the same in this form.
fn canonical(text: &str, edit: &Splice) -> Option<Splice> {
    let Splice { range, text: new } = edit.minimal(text)?;
    let follows = text.get(range.end..)?;
    let changed = if range.is_empty() { new.as_str() } else { text.get(range.clone())? };
    if changed.is_empty() || !(range.is_empty() || new.is_empty()) {
        return Some(Splice { range, text: new });
    }
    // A change can slide as far as the text that follows repeats it.
    let same = changed.chars().cycle().zip(follows.chars()).take(LONGEST).take_while(|(a, b)| a == b);
    let slid: usize = same.map(|(c, _)| c.len_utf8()).sum();
    let text = match new.is_empty() {
        true => String::new(),
        false => {
            let at = slid % new.len();
            [new.get(at..)?, new.get(..at)?].concat()
        }
    };
    Some(Splice { range: range.start + slid..range.end + slid, text })
}

fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|after| after.find('\n')).map_or(text.len(), |end| at + end)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use proptest::prelude::*;

    use super::*;

    fn ghost(at: usize, text: &str) -> [Hunk; 1] {
        [Hunk::new(at..at, text)]
    }

    fn replace(text: &mut String, rejected: &mut Rejected, range: Range<usize>, new: &str) {
        let change = Splice { range, text: new.to_owned() };
        let after = change.apply(text).unwrap();
        rejected.change(text, &after, &change);
        *text = after;
    }

    #[test]
    fn a_rejected_edit_is_known_again_after_the_document_moved() {
        let mut text = "fn f() {\n    \n}\n".to_owned();
        let mut rejected = Rejected::default();
        rejected.reject(&text, &ghost(13, "todo!()"));
        assert!(rejected.is_rejected(&text, &ghost(13, "todo!()")));
        replace(&mut text, &mut rejected, 0..0, "use a;\n\n");
        replace(&mut text, &mut rejected, 23..23, "\nfn g() {}\n");
        assert!(rejected.is_rejected(&text, &ghost(21, "todo!()")));
        assert!(!rejected.is_rejected(&text, &ghost(21, "return")));
        assert!(!rejected.is_rejected(&text, &ghost(13, "todo!()")), "another place");
    }

    #[test]
    fn the_same_result_is_the_same_edit_however_it_is_put() {
        let text = "a = b;\n";
        let mut rejected = Rejected::default();
        rejected.reject(text, &[Hunk::new(0..1, "x"), Hunk::new(4..5, "y")]);
        assert!(rejected.is_rejected(text, &[Hunk::new(0..6, "x = y;")]));
        assert!(!rejected.is_rejected(text, &[Hunk::new(0..1, "x")]));
        rejected.reject("aab", &[Hunk::new(0..0, "a")]);
        assert!(rejected.is_rejected("aab", &[Hunk::new(2..2, "a")]));
        rejected.reject("(a, a)", &[Hunk::new(1..4, "")]);
        assert!(rejected.is_rejected("(a, a)", &[Hunk::new(2..5, "")]));
    }

    #[test]
    fn a_rejection_is_forgotten_when_its_lines_change() {
        let mut text = "one\ntwo\nthree\n".to_owned();
        let mut rejected = Rejected::default();
        rejected.reject(&text, &[Hunk::new(4..7, "zwei")]);
        replace(&mut text, &mut rejected, 12..13, "EE");
        replace(&mut text, &mut rejected, 4..4, "before\n");
        assert_eq!(rejected.len(), 1);
        replace(&mut text, &mut rejected, 14..14, "!");
        assert!(rejected.is_empty());
        rejected.reject("a = b; // c", &[Hunk::new(4..5, "d")]);
        rejected.change("a = b; // c", "a = b; // cc", &Splice::insertion(11, "c"));
        assert!(rejected.is_empty(), "the same line");
    }

    #[test]
    fn typing_a_part_of_what_was_rejected_does_not_bring_back_the_rest() {
        let mut text = "x = ".to_owned();
        let mut rejected = Rejected::default();
        rejected.reject(&text, &ghost(4, "compute()"));
        replace(&mut text, &mut rejected, 4..4, "c");
        assert!(rejected.is_rejected(&text, &ghost(5, "ompute()")));
        replace(&mut text, &mut rejected, 5..5, "r");
        assert!(rejected.is_empty());
    }

    #[test]
    fn only_the_last_twenty_are_remembered_and_each_once() {
        let mut rejected = Rejected::default();
        for at in 0..30 {
            rejected.reject(&"\n".repeat(40), &ghost(at, &format!("{at}")));
            rejected.reject(&"\n".repeat(40), &ghost(at, &format!("{at}")));
        }
        assert_eq!(rejected.len(), MOST);
        assert!(!rejected.is_rejected(&"\n".repeat(40), &ghost(9, "9")));
        assert!(rejected.is_rejected(&"\n".repeat(40), &ghost(10, "10")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn two_edits_are_the_same_if_their_results_are(
            text in "[ab\n]{0,8}",
            one in (0..9_usize, 0..3_usize, "[ab]{0,3}"), other in (0..9_usize, 0..3_usize, "[ab]{0,3}"),
        ) {
            let [one, other] = [one, other].map(|(at, length, new)| {
                let start = at.min(text.len());
                Hunk::new(start..(start + length).min(text.len()), new)
            });
            let results = [&one, &other].map(|hunk| hunk.splice().apply(&text).unwrap());
            let mut rejected = Rejected::default();
            rejected.reject(&text, std::slice::from_ref(&one));
            let is_same = results[0] == results[1] && results[0] != text;
            prop_assert_eq!(rejected.is_rejected(&text, &[other]), is_same);
        }

        #[test]
        fn an_edit_is_still_rejected_after_changes_in_other_lines(
            changes in prop::collection::vec((any::<bool>(), 0..12_usize, 0..4_usize, "[ab\n]{0,4}"), 0..6),
            new in "[cd\u{e9}]{1,4}",
        ) {
            let (mut before, mut after) = ("ab\nab\n".to_owned(), "ab\nab\n".to_owned());
            let mut rejected = Rejected::default();
            let mut text = format!("{before}x = y\n{after}");
            let edit = |before: &str| [Hunk::new(before.len() + 4..before.len() + 5, new.as_str())];
            rejected.reject(&text, &edit(&before));
            for (is_before, at, length, new) in changes {
                // The text before must go on to end with a line end.
                let behind = text.len() - after.len();
                let (part, offset) = if is_before { (&mut before, 0) } else { (&mut after, behind) };
                let start = at.min(part.len().saturating_sub(1));
                let end = (start + length).min(part.len().saturating_sub(1)).max(start);
                part.replace_range(start..end, &new);
                replace(&mut text, &mut rejected, offset + start..offset + end, &new);
            }
            prop_assert!(rejected.is_rejected(&text, &edit(&before)), "{text:?}");
        }

        #[test]
        fn any_edits_and_changes_are_no_panic(
            text in any::<String>(), new in any::<String>(),
            offsets in prop::collection::vec((0..30_usize, 0..30_usize), 0..3), from in 0..30_usize, to in 0..30_usize,
        ) {
            let hunks: Vec<_> = offsets.into_iter().map(|(start, end)| Hunk::new(start..end, new.as_str())).collect();
            let mut rejected = Rejected::default();
            rejected.reject(&text, &hunks);
            rejected.change(&text, &new, &Splice { range: from..to, text: new.clone() });
            let _ = rejected.is_rejected(&new, &hunks);
        }
    }
}
