//! Answers of a model, found again for the same place and for places that were typed on to or back to.
//!
//! An answer's key is a hash of the document, of the last [`BEFORE`] bytes before the cursor and of the first
//! [`AFTER`] after it; the bytes themselves are kept and compared, so that a hit is never another place by chance. What
//! changes farther away does not make an answer wrong enough to ask again. One rolling hash over the bytes before the
//! cursor gives the keys of all places from which the user may have typed, so that looking costs the same in a text of
//! any size.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The bytes before the cursor that an answer is for.
pub const BEFORE: usize = 2048;
/// The bytes after the cursor that an answer is for.
pub const AFTER: usize = 1024;
/// The most characters that may have been typed since the answer.
pub const MAX_TYPED: usize = 128;
/// The most characters that may have been deleted since the answer.
pub const MAX_DELETED: usize = 16;

/// The most answers that are kept.
const MOST: usize = 250;
/// The bytes that all of them may have.
const MOST_BYTES: usize = 2 << 20;
/// The longest answer that is kept, in bytes.
const LONGEST: usize = 32 << 10;
/// The time for which an answer is kept.
const KEPT: Duration = Duration::from_secs(300);

/// The base of the rolling hash: a large odd number.
const ROLL: u64 = 0x9E37_79B9_7F4A_7C15;
/// `ROLL` to the power of [`BEFORE`].
const POWER: u64 = power();

/// Answers for places in documents. The least recently used goes first.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    answers: HashMap<u64, Kept>,
    places: HashMap<u64, Place>,
    bytes: usize,
    next: u64,
}

/// A model's answer for a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The text to put at the cursor.
    pub text: String,
    /// The number of bytes after the cursor that it replaces.
    pub replaces: usize,
}

#[derive(Clone, Debug)]
struct Kept {
    document: Arc<str>,
    /// The bytes before the cursor; the characters at their end that may be deleted come on top of [`BEFORE`].
    before: Box<[u8]>,
    after: Box<[u8]>,
    answer: Answer,
    /// The keys that lead to it.
    keys: Vec<u64>,
    at: Instant,
    used: u64,
}

/// A place for which there is an answer.
#[derive(Clone, Copy, Debug)]
struct Place {
    answer: u64,
    /// The number of bytes between it and the answer's own place after it.
    deleted: usize,
}

impl Cache {
    /// Keeps an answer for a place. One that is empty, or too long, is not kept.
    pub fn insert(&mut self, document: &str, text: &str, cursor: usize, answer: Answer, now: Instant) {
        let (Some(before), Some(after)) = (text.get(..cursor), text.get(cursor..)) else { return };
        if answer.text.is_empty() || answer.text.len() > LONGEST || after.get(..answer.replaces).is_none() {
            return;
        }
        let deletable: Vec<_> = deletable(before).collect();
        let longest = deletable.last().copied().unwrap_or_default();
        let bytes = before.as_bytes();
        let windows = Windows::new(bytes, longest);
        let after = first_bytes(after.as_bytes());
        let id = self.next;
        self.next += 1;
        let mut kept = Kept {
            document: document.into(),
            before: bytes.get(bytes.len().saturating_sub(BEFORE + longest)..).unwrap_or_default().into(),
            after: after.into(),
            answer,
            keys: Vec::with_capacity(deletable.len() + 1),
            at: now,
            used: id,
        };
        let base = hash((document, after));
        for deleted in std::iter::once(0).chain(deletable) {
            let key = hash((base, windows.hash(deleted)));
            match self.places.get(&key).copied() {
                // A place that is only deleted back to must not hide one that was asked for.
                Some(_) if deleted > 0 => continue,
                Some(Place { answer, deleted: 0 }) => self.remove(answer),
                _ => {}
            }
            self.places.insert(key, Place { answer: id, deleted });
            kept.keys.push(key);
        }
        self.bytes += kept.bytes();
        self.answers.insert(id, kept);
        self.shrink(now);
    }

    /// The answer for a place: one for the same place, for one from which the user typed a part of the answer, or for
    /// one before which the user deleted something; what was typed is taken off, and what was deleted put in front.
    pub fn get(&mut self, document: &str, text: &str, cursor: usize, now: Instant) -> Option<Answer> {
        let (before, after) = (text.get(..cursor)?, text.get(cursor..)?);
        let typed: Vec<_> = before.char_indices().rev().take(MAX_TYPED).map(|(at, _)| before.len() - at).collect();
        let windows = Windows::new(before.as_bytes(), typed.last().copied().unwrap_or_default());
        let near = first_bytes(after.as_bytes());
        let base = hash((document, near));
        for typed in std::iter::once(0).chain(typed) {
            let Some(place) = self.places.get(&hash((base, windows.hash(typed)))).copied() else { continue };
            let Some((from, typed)) = before.split_at_checked(before.len() - typed) else { continue };
            let Some(kept) = self.answers.get_mut(&place.answer) else { continue };
            let Some(answer) = kept.answer_for(document, from, typed, near, place.deleted) else { continue };
            if now.saturating_duration_since(kept.at) > KEPT || after.get(..answer.replaces).is_none() {
                continue;
            }
            kept.used = self.next;
            self.next += 1;
            return Some(answer);
        }
        None
    }

    /// Forgets the answers for a document, as when it is closed.
    pub fn forget(&mut self, document: &str) {
        let ids: Vec<_> =
            self.answers.iter().filter(|(_, kept)| &*kept.document == document).map(|(id, _)| *id).collect();
        for id in ids {
            self.remove(id);
        }
    }

    /// The number of answers.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// True if none is.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// The memory of all answers, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn shrink(&mut self, now: Instant) {
        let is_old = |kept: &Kept| now.saturating_duration_since(kept.at) > KEPT;
        let old: Vec<_> = self.answers.iter().filter(|(_, kept)| is_old(kept)).map(|(id, _)| *id).collect();
        for id in old {
            self.remove(id);
        }
        while self.answers.len() > MOST || self.bytes > MOST_BYTES {
            let oldest = self.answers.iter().min_by_key(|(_, kept)| kept.used).map(|(id, _)| *id);
            let Some(id) = oldest else { return };
            self.remove(id);
        }
    }

    fn remove(&mut self, id: u64) {
        let Some(kept) = self.answers.remove(&id) else { return };
        self.bytes = self.bytes.saturating_sub(kept.bytes());
        for key in kept.keys {
            if self.places.get(&key).is_some_and(|place| place.answer == id) {
                self.places.remove(&key);
            }
        }
    }
}

impl Kept {
    /// The answer at the end of `from`, which is `deleted` bytes before its own place, after `typed` was typed there.
    fn answer_for(&self, document: &str, from: &str, typed: &str, after: &[u8], deleted: usize) -> Option<Answer> {
        let (own, back) = self.before.split_at_checked(self.before.len().checked_sub(deleted)?)?;
        let is_same =
            &*self.document == document && *self.after == *after && last_bytes(own) == last_bytes(from.as_bytes());
        let back = std::str::from_utf8(back).ok().filter(|_| is_same)?;
        let rest = match back.strip_prefix(typed) {
            Some(back) => [back, &self.answer.text].concat(),
            None => self.answer.text.strip_prefix(typed.strip_prefix(back)?)?.to_owned(),
        };
        (!rest.is_empty()).then_some(Answer { text: rest, ..self.answer })
    }

    fn bytes(&self) -> usize {
        let keys = self.keys.len() * (size_of::<u64>() * 2 + size_of::<Place>());
        let texts = self.before.len() + self.after.len() + self.answer.text.len() + self.document.len();
        keys + texts + size_of::<Self>()
    }
}

/// Hashes of the windows of [`BEFORE`] bytes that end near the end of a text.
struct Windows {
    /// The hash of the bytes up to each, from the first that is needed.
    sums: Vec<u64>,
}

impl Windows {
    /// The windows that end at most `back` bytes before the end.
    fn new(bytes: &[u8], back: usize) -> Self {
        let start = bytes.len().saturating_sub(BEFORE + back);
        let mut sums = Vec::with_capacity(bytes.len() - start + 1);
        let mut sum = 0_u64;
        sums.push(sum);
        for byte in bytes.get(start..).unwrap_or_default() {
            sum = sum.wrapping_mul(ROLL).wrapping_add(u64::from(*byte) + 1);
            sums.push(sum);
        }
        Self { sums }
    }

    /// The hash of the window that ends `back` bytes before the end.
    fn hash(&self, back: usize) -> u64 {
        let end = self.sums.len().saturating_sub(back + 1);
        let sum = |at: usize| self.sums.get(at).copied().unwrap_or_default();
        match end.checked_sub(BEFORE) {
            Some(start) => sum(end).wrapping_sub(sum(start).wrapping_mul(POWER)),
            None => sum(end),
        }
    }
}

const fn power() -> u64 {
    let (mut power, mut exponent) = (1_u64, 0);
    while exponent < BEFORE {
        (power, exponent) = (power.wrapping_mul(ROLL), exponent + 1);
    }
    power
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The numbers of bytes in the last character, the last two, and so on, of the cursor's line.
fn deletable(before: &str) -> impl Iterator<Item = usize> {
    let on_line = before.char_indices().rev().take_while(|(_, c)| *c != '\n');
    on_line.take(MAX_DELETED).map(|(at, _)| before.len() - at)
}

fn last_bytes(bytes: &[u8]) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(BEFORE)..).unwrap_or_default()
}

fn first_bytes(bytes: &[u8]) -> &[u8] {
    bytes.get(..AFTER).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn answer(text: &str) -> Answer {
        Answer { text: text.to_owned(), replaces: 0 }
    }

    /// The answer's text at `|`.
    fn found(cache: &mut Cache, marked: &str, now: Instant) -> Option<String> {
        let cursor = marked.find('|').unwrap();
        cache.get("a", &marked.replacen('|', "", 1), cursor, now).map(|answer| answer.text)
    }

    fn with(marked: &str, text: &str) -> (Cache, Instant) {
        let (mut cache, now) = (Cache::default(), Instant::now());
        let cursor = marked.find('|').unwrap();
        cache.insert("a", &marked.replacen('|', "", 1), cursor, answer(text), now);
        (cache, now)
    }

    #[test]
    fn an_answer_is_found_at_its_place_and_after_typing_a_part_of_it() {
        let (mut cache, now) = with("x = |;\n", "foo(b)");
        for (at, wanted) in [
            ("x = |;\n", Some("foo(b)")),
            ("x = fo|;\n", Some("o(b)")),
            ("x = fa|;\n", None),
            ("x = foo(b)|;\n", None),
            ("y = |;\n", None),
            ("x = |; \n", None),
        ] {
            assert_eq!(found(&mut cache, at, now).as_deref(), wanted, "{at:?}");
        }
        assert_eq!(cache.get("b", "x = ;\n", 4, now), None, "another document");
    }

    #[test]
    fn an_answer_is_found_after_deleting_and_typing_on() {
        let (mut cache, now) = with("x = foo|;\n", "bar()");
        for (at, wanted) in [
            ("x = fo|;\n", Some("obar()")),
            ("x = |;\n", Some("foobar()")),
            ("x = f|;\n", Some("oobar()")),
            ("x = foob|;\n", Some("ar()")),
            ("x = g|;\n", None),
        ] {
            assert_eq!(found(&mut cache, at, now).as_deref(), wanted, "{at:?}");
        }
    }

    #[test]
    fn the_answer_for_a_place_itself_is_the_last_one_and_goes_first() {
        let (mut cache, now) = with("x = f|", "irst()");
        cache.insert("a", "x = fo", 6, answer("o()"), now);
        assert_eq!(found(&mut cache, "x = f|", now).as_deref(), Some("irst()"));
        cache.insert("a", "x = f", 5, answer("ast()"), now);
        assert_eq!(found(&mut cache, "x = f|", now).as_deref(), Some("ast()"));
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn a_change_far_away_loses_no_answer_and_one_near_does() {
        let far = "// line\n".repeat(1000);
        let (mut cache, now) = with(&format!("{far}x|\n{far}"), "yz");
        assert_eq!(found(&mut cache, &format!("// changed\n{far}x|\n{far}// changed\n"), now).as_deref(), Some("yz"));
        assert_eq!(found(&mut cache, &format!("{far}// changed\nx|\n{far}"), now), None);
    }

    #[test]
    fn an_answer_is_kept_for_five_minutes() {
        let (mut cache, now) = with("x|", "yz");
        assert!(found(&mut cache, "x|", now + KEPT).is_some());
        assert!(found(&mut cache, "x|", now + KEPT + Duration::from_secs(1)).is_none());
        cache.insert("a", "other", 5, answer("b"), now + KEPT * 2);
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn the_least_recently_used_answer_goes_first() {
        let (mut cache, now) = with("x0x|", "yz");
        for number in 1..MOST {
            let text = format!("x{number}x");
            cache.insert("a", &text, text.len(), answer("yz"), now);
        }
        assert!(found(&mut cache, "x0x|", now).is_some());
        cache.insert("a", "w", 1, answer("yz"), now);
        assert_eq!(cache.len(), MOST);
        assert!(found(&mut cache, "x0x|", now).is_some());
        assert!(found(&mut cache, "x1x|", now).is_none());
    }

    #[test]
    fn the_memory_is_bounded_and_closed_documents_have_none() {
        let (mut cache, now) = (Cache::default(), Instant::now());
        let text = "z".repeat(4000);
        for number in 0..500 {
            cache.insert("a", &format!("{text}{number}"), 4000, answer(&"a".repeat(30_000)), now);
            assert!(cache.bytes() <= MOST_BYTES);
        }
        assert!(cache.len() > 40);
        cache.forget("a");
        assert!(cache.is_empty() && cache.bytes() == 0 && cache.places.is_empty());
        cache.insert("a", "x", 1, answer(&"a".repeat(LONGEST + 1)), now);
        cache.insert("a", "x", 1, Answer { replaces: 1, ..answer("a") }, now);
        assert!(cache.is_empty());
    }

    #[test]
    fn looking_costs_the_same_in_a_large_text() {
        let text = "    let value = compute(input);\n".repeat(10_000);
        let (mut cache, now) = (Cache::default(), Instant::now());
        for number in 0..MOST {
            cache.insert("a", &text, number * 1000, answer("x"), now);
        }
        let began = Instant::now();
        for number in 0..100 {
            assert!(cache.get("a", &text, text.len() - number, now).is_none());
        }
        let took = began.elapsed() / 100;
        println!("a look into the cache, 10,000 lines: {took:?}");
        assert!(took.as_micros() < 2000, "{took:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn a_hit_gives_the_text_that_the_answer_gave(
            before in "[ab\n\u{e9}]{0,30}", after in "[ab\n\u{e9}]{0,6}", text in "[ab\u{e9}]{1,10}",
            deleted in 0..6_usize, typed in 0..12_usize, wrong in prop::option::of("[ab]{1,2}"),
        ) {
            let (mut cache, now) = (Cache::default(), Instant::now());
            cache.insert("a", &format!("{before}{after}"), before.len(), answer(&text), now);
            let result = format!("{before}{text}{after}");
            let kept = before.floor_char_boundary(before.len().saturating_sub(deleted));
            let back = format!("{}{text}", &before[kept..]);
            let typed = &back[..back.floor_char_boundary(typed)];
            let now_before = format!("{}{typed}{}", &before[..kept], wrong.as_deref().unwrap_or_default());
            match cache.get("a", &format!("{now_before}{after}"), now_before.len(), now) {
                Some(hit) => prop_assert_eq!(format!("{now_before}{}{after}", hit.text), result),
                None => prop_assert!(wrong.is_some() || typed == back || before[kept..].contains('\n')),
            }
        }

        #[test]
        fn any_offsets_are_no_panic(text in any::<String>(), cursor in 0..40_usize, replaces in 0..9_usize) {
            let (mut cache, now) = (Cache::default(), Instant::now());
            cache.insert("a", &text, cursor, Answer { text: text.clone(), replaces }, now);
            if let Some(hit) = cache.get("a", &text, cursor, now) {
                prop_assert_eq!(hit, Answer { text, replaces });
            }
        }

        #[test]
        fn rolling_hashes_are_those_of_each_window(
            bytes in prop::collection::vec(any::<u8>(), 0..40), pad in 0..3_usize,
        ) {
            let all = [vec![7; pad * (BEFORE - 10)], bytes].concat();
            let windows = Windows::new(&all, 20);
            for back in 0..=20.min(all.len()) {
                let cut = &all[..all.len() - back];
                prop_assert_eq!(windows.hash(back), Windows::new(last_bytes(cut), 0).hash(0));
            }
        }
    }
}
