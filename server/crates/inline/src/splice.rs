//! The replacement of a part of a text, and the smallest one between two texts.

use std::ops::Range;

/// The bytes that are compared at once.
const BLOCK: usize = 256;

/// The replacement of bytes of a text. What is outside the text, or splits a character, is refused by everything here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Splice {
    /// The bytes that are replaced.
    pub range: Range<usize>,
    /// The new text for them.
    pub text: String,
}

impl Splice {
    /// The insertion of a text.
    pub fn insertion(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }

    /// The new text; none if the bytes are not in the old one.
    pub fn apply(&self, old: &str) -> Option<String> {
        apply_all(old, [self])
    }

    /// The end of the new text's part that it has put there.
    pub fn end(&self) -> usize {
        self.range.start.saturating_add(self.text.len())
    }

    /// True if it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty() && self.text.is_empty()
    }

    /// The offset in the new text of one behind the replaced bytes.
    pub fn moved(&self, offset: usize) -> usize {
        offset.saturating_sub(self.range.len()).saturating_add(self.text.len())
    }

    /// The smallest replacement with the same result; an empty one if it changes nothing, none if its bytes are not in
    /// the text.
    pub fn minimal(&self, old: &str) -> Option<Self> {
        let replaced = old.get(self.range.clone())?;
        Some(between(replaced, &self.text).map_or_else(
            || Self::insertion(self.range.start, ""),
            |inner| {
                let start = self.range.start;
                Self { range: start + inner.range.start..start + inner.range.end, text: inner.text }
            },
        ))
    }
}

/// The text after several replacements, which are in order and do not overlap; none if they are not so, or not in the
/// text.
pub fn apply_all<'s>(old: &str, splices: impl IntoIterator<Item = &'s Splice>) -> Option<String> {
    let mut new = String::with_capacity(old.len());
    let mut done = 0;
    for splice in splices {
        old.get(splice.range.clone())?;
        new.push_str(old.get(done..splice.range.start)?);
        new.push_str(&splice.text);
        done = splice.range.end;
    }
    new.push_str(old.get(done..)?);
    Some(new)
}

/// The single smallest replacement that makes one text of another; none if they are the same. If it could be in several
/// places, it is in the last of them.
pub fn between(old: &str, new: &str) -> Option<Splice> {
    let before = common_prefix(old, new);
    let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
    if old_rest.is_empty() && new_rest.is_empty() {
        return None;
    }
    let after = common_suffix(old_rest, new_rest);
    let text = new_rest.get(..new_rest.len() - after)?.to_owned();
    Some(Splice { range: before..old.len() - after, text })
}

/// The same as [`between`], but if it could be in several places, it is where it leaves the cursor at `cursor`.
pub fn between_at(old: &str, new: &str, cursor: usize) -> Option<Splice> {
    let splice = between(old, new)?;
    let slid = if splice.range.is_empty() {
        slid_insertion(new, &splice, cursor)
    } else if splice.text.is_empty() {
        slid_deletion(old, &splice, cursor)
    } else {
        None
    };
    Some(slid.unwrap_or(splice))
}

/// Several changes that were made one after the other, as changes of the text before them all: in order, and apart from
/// each other. None if one does not fit the ones before.
pub fn parallel(steps: &[Splice]) -> Option<Vec<Splice>> {
    let mut all = Vec::new();
    for step in steps {
        follow(&mut all, step)?;
    }
    Some(all)
}

/// The length in bytes of what two texts begin with; it ends between characters.
pub fn common_prefix(one: &str, other: &str) -> usize {
    let (a, b) = (one.as_bytes(), other.as_bytes());
    let blocks = a.chunks_exact(BLOCK).zip(b.chunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    let rests = a.get(blocks..).unwrap_or_default().iter().zip(b.get(blocks..).unwrap_or_default());
    one.floor_char_boundary(blocks + rests.take_while(|(a, b)| a == b).count())
}

/// The length in bytes of what two texts end with; it begins between characters.
pub fn common_suffix(one: &str, other: &str) -> usize {
    let (a, b) = (one.as_bytes(), other.as_bytes());
    let blocks = a.rchunks_exact(BLOCK).zip(b.rchunks_exact(BLOCK)).take_while(|(a, b)| a == b).count() * BLOCK;
    let [a, b] = [a, b].map(|bytes| bytes.get(..bytes.len() - blocks).unwrap_or_default());
    let same = blocks + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    one.len() - one.ceil_char_boundary(one.len() - same)
}

fn slid_insertion(new: &str, splice: &Splice, cursor: usize) -> Option<Splice> {
    let (start, end) = (splice.range.start, splice.end());
    let steps = end.checked_sub(cursor).filter(|steps| *steps > 0)?;
    let to = start.checked_sub(steps)?;
    if new.get(to..start)? != new.get(cursor..end)? {
        return None;
    }
    Some(Splice::insertion(to, new.get(to..cursor)?))
}

fn slid_deletion(old: &str, splice: &Splice, cursor: usize) -> Option<Splice> {
    let Range { start, end } = splice.range;
    let steps = start.checked_sub(cursor).filter(|steps| *steps > 0)?;
    let to = end - steps;
    (old.get(cursor..start)? == old.get(to..end)?).then(|| Splice { range: cursor..to, text: String::new() })
}

/// Adds a change of the text after `all` to them.
fn follow(all: &mut Vec<Splice>, step: &Splice) -> Option<()> {
    if step.range.start > step.range.end || step.range.end > isize::MAX.unsigned_abs() {
        return None;
    }
    // The bytes that the changes before the present one have added and removed.
    let (mut added, mut removed) = (0_usize, 0_usize);
    let mut first = 0;
    let old = |at: usize, added: usize, removed: usize| (at + removed).checked_sub(added);
    for splice in all.iter() {
        let start = (splice.range.start + added).checked_sub(removed)?;
        if start + splice.text.len() >= step.range.start {
            break;
        }
        (added, removed, first) = (added + splice.text.len(), removed + splice.range.len(), first + 1);
    }
    let (mut from, mut head) = (old(step.range.start, added, removed)?, "");
    let (mut last, mut to, mut tail) = (first, None, "");
    for splice in all.get(first..)? {
        let start = (splice.range.start + added).checked_sub(removed)?;
        if start > step.range.end {
            break;
        }
        if start < step.range.start {
            (from, head) = (splice.range.start, splice.text.get(..step.range.start - start)?);
        }
        (to, tail) = match start + splice.text.len() > step.range.end {
            true => (Some(splice.range.end), splice.text.get(step.range.end - start..)?),
            false => (None, ""),
        };
        (added, removed, last) = (added + splice.text.len(), removed + splice.range.len(), last + 1);
    }
    let to = match to {
        Some(to) => to,
        None => old(step.range.end, added, removed)?,
    };
    let whole = Splice { range: from..to.max(from), text: [head, &step.text, tail].concat() };
    all.splice(first..last, (!whole.is_empty()).then_some(whole));
    Some(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn splice(range: Range<usize>, text: &str) -> Splice {
        Splice { range, text: text.to_owned() }
    }

    #[test]
    fn the_smallest_change_splits_no_character() {
        for (old, new, wanted) in [
            ("", "a", splice(0..0, "a")),
            ("abc", "abXc", splice(2..2, "X")),
            ("é", "è", splice(0..2, "è")),
            ("x\u{1F600}y", "x\u{1F601}y", splice(1..5, "\u{1F601}")),
            ("aa", "aaa", splice(2..2, "a")),
            ("aaa", "aa", splice(2..3, "")),
        ] {
            assert_eq!(between(old, new), Some(wanted), "{old:?} {new:?}");
        }
        assert_eq!(between("é", "é"), None);
    }

    #[test]
    fn a_change_that_could_be_in_several_places_is_where_the_cursor_is() {
        assert_eq!(between_at("x aaa", "x aaaa", 3), Some(splice(2..2, "a")));
        assert_eq!(between_at("x aaa", "x aa", 2), Some(splice(2..3, "")));
        assert_eq!(between_at("f(a, a)", "f(a, a, a)", 6), Some(splice(3..3, ", a")));
        assert_eq!(between_at("x aaa", "x aaaa", 0), Some(splice(5..5, "a")), "the cursor says nothing");
    }

    #[test]
    fn what_is_outside_the_text_is_refused() {
        for range in [0..9, 1..2, 3..3] {
            assert_eq!(splice(range.clone(), "a").apply("é"), None, "{range:?}");
        }
        assert_eq!(apply_all("abc", [&splice(1..2, ""), &splice(0..1, "")]), None);
    }

    #[test]
    fn changes_of_several_cursors_are_changes_of_one_text() {
        let steps = [splice(8..8, "x"), splice(4..4, "x"), splice(0..0, "x")];
        let wanted = vec![splice(0..0, "x"), splice(4..4, "x"), splice(8..8, "x")];
        assert_eq!(parallel(&steps), Some(wanted));
        assert_eq!(parallel(&[splice(0..0, "ab"), splice(1..2, "")]), Some(vec![splice(0..0, "a")]));
        assert_eq!(parallel(&[splice(0..0, "ab"), splice(0..2, "")]), Some(Vec::new()));
    }

    #[test]
    fn a_change_in_a_line_of_five_megabytes_is_found_at_once() {
        let old = "0123456789".repeat(500_000);
        let mut new = old.clone();
        new.insert(2_500_000, 'x');
        let began = Instant::now();
        let found = between(&old, &new);
        let took = began.elapsed();
        println!("between, 5 MB: {took:?}");
        assert_eq!(found, Some(splice(2_500_000..2_500_000, "x")));
        assert!(took.as_millis() < 500, "{took:?}");
    }

    proptest! {
        #[test]
        fn the_change_between_two_texts_makes_one_of_the_other(
            old in "[ab\u{e9}\u{e8}\u{1F600}\n]{0,12}", new in "[ab\u{e9}\u{e8}\u{1F600}\n]{0,12}",
            cursor in 0..30_usize,
        ) {
            match between(&old, &new) {
                None => prop_assert_eq!(&old, &new),
                Some(splice) => {
                    prop_assert_eq!(splice.apply(&old), Some(new.clone()));
                    prop_assert_eq!(splice.minimal(&old), Some(splice.clone()));
                    let at = between_at(&old, &new, cursor).unwrap();
                    prop_assert_eq!(at.apply(&old), Some(new));
                    prop_assert_eq!(at.range.len(), splice.range.len());
                }
            }
        }

        #[test]
        fn any_bytes_of_any_text_are_replaced_or_refused(
            old in any::<String>(), from in 0..40_usize, to in 0..40_usize, text in any::<String>(),
        ) {
            let splice = Splice { range: from..to, text };
            let new = splice.apply(&old);
            prop_assert_eq!(new.is_some(), old.get(from..to).is_some());
            let smallest = splice.minimal(&old);
            prop_assert_eq!(smallest.and_then(|smallest| smallest.apply(&old)), new);
        }

        #[test]
        fn steps_and_the_changes_made_of_them_have_the_same_result(
            old in "[abc]{0,10}", steps in prop::collection::vec((0..12_usize, 0..4_usize, "[xyz]{0,3}"), 0..6),
        ) {
            let mut text = old.clone();
            let mut made = Vec::new();
            for (at, length, new) in steps {
                let start = at.min(text.len());
                let step = Splice { range: start..(start + length).min(text.len()), text: new };
                text = step.apply(&text).unwrap();
                made.push(step);
            }
            let parallel = parallel(&made).unwrap();
            prop_assert_eq!(apply_all(&old, &parallel), Some(text));
            prop_assert!(parallel.is_sorted_by(|a, b| a.range.end < b.range.start));
        }

        #[test]
        fn steps_that_do_not_fit_are_no_panic(
            steps in prop::collection::vec((0..20_usize, 0..20_usize, "[x\u{e9}]{0,3}"), 0..5),
        ) {
            let steps: Vec<_> = steps.into_iter().map(|(from, to, text)| Splice { range: from..to, text }).collect();
            let _ = parallel(&steps);
        }
    }
}
