//! A pending next edit while the user changes the text.
//!
//! A change outside the hunks moves them. A change in a hunk agrees with it if it does a part of what the hunk would
//! do; the rest of the hunk remains. Any other change of a hunk is a conflict, and the edit is dropped.

use std::ops::Range;

use crate::splice::{self, Splice};

/// The most characters of a hunk that the user may leave out before typing a part of it.
const MAX_OFFSET: usize = 10;

/// The most characters that may be typed at once if some are left out; more agree by chance too rarely to trust.
const MAX_INEXACT: usize = 5;

/// The fewest characters without space that a deleted text must have to be looked for in a hunk.
const MIN_KEPT: usize = 3;

/// The bytes by which an insertion may be moved to where the same text can also be inserted.
const MAX_SLIDE: usize = 1 << 10;

/// A part of a pending edit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hunk {
    /// The bytes that it replaces.
    pub range: Range<usize>,
    /// The new text for them.
    pub text: String,
    /// The end of the text before `range` that the user has typed in agreement with this hunk.
    typed: String,
}

impl Hunk {
    /// The replacement of bytes by a text.
    pub fn new(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into(), typed: String::new() }
    }

    /// The same as a replacement.
    pub fn splice(&self) -> Splice {
        Splice { range: self.range.clone(), text: self.text.clone() }
    }

    fn is_empty(&self) -> bool {
        self.range.is_empty() && self.text.is_empty()
    }

    fn moved_by(self, change: &Splice) -> Self {
        Self { range: change.moved(self.range.start)..change.moved(self.range.end), ..self }
    }

    /// The smallest hunk with the same result.
    fn minimal(&self, old: &str) -> Option<Self> {
        let Splice { range, text } = self.splice().minimal(old)?;
        let typed = if range.start == self.range.start { self.typed.clone() } else { String::new() };
        Some(Self { range, text, typed })
    }
}

/// The relation of a change to a hunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// The change is before the hunk.
    Before,
    /// The change is after it.
    After,
    /// The change does a part of the hunk; these parts of it remain, in the text after the change.
    Agrees(Vec<Hunk>),
    /// The change is another one of the same text.
    Conflict,
}

/// The text with all hunks in it; none if they are not in order, overlap, or are made for another text.
pub fn accept(hunks: &[Hunk], text: &str) -> Option<String> {
    let splices: Vec<_> = hunks.iter().map(Hunk::splice).collect();
    splice::apply_all(text, &splices)
}

/// The hunks after the user's change of `old`, the text that they were made for; none if the change conflicts with one
/// of them. If all of them are done, none remain, and the list is empty.
///
/// The hunks must be in order; those that touch become one. Accepting what remains gives the text of accepting at first
/// and changing then; what the user typed in agreement was in the accepted text already.
pub fn rebase(hunks: &[Hunk], old: &str, change: &Splice) -> Option<Vec<Hunk>> {
    let change = change.minimal(old)?;
    let hunks = joined(hunks)?;
    let mut remaining = Vec::with_capacity(hunks.len() + 1);
    let mut has_agreed = false;
    let mut previous = 0;
    for (at, hunk) in hunks.iter().enumerate() {
        let next = hunks.get(at + 1).map_or(old.len(), |next| next.range.start);
        let hunk = hunk.minimal(old)?;
        let end = hunk.range.end;
        if hunk.is_empty() {
            continue;
        }
        match met(&hunk, old, &change, previous..next) {
            _ if change.is_empty() => remaining.push(hunk),
            Meeting::Before => remaining.push(hunk.moved_by(&change)),
            Meeting::After => remaining.push(hunk),
            Meeting::Agrees(parts) if !has_agreed => {
                has_agreed = true;
                remaining.extend(parts);
            }
            Meeting::Agrees(_) | Meeting::Conflict => return None,
        }
        previous = end;
    }
    Some(remaining)
}

/// The hunks with those in one that touch each other, since a change between these would be in both; none if they are
/// not in order.
fn joined(hunks: &[Hunk]) -> Option<Vec<Hunk>> {
    let mut all: Vec<Hunk> = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        match all.last_mut() {
            Some(last) if hunk.range.start < last.range.end => return None,
            Some(last) if hunk.range.start == last.range.end => {
                last.range.end = hunk.range.end;
                last.text.push_str(&hunk.text);
            }
            _ => all.push(hunk.clone()),
        }
    }
    Some(all)
}

/// The same as [`meet`], for a hunk that may be moved between its neighbours to where the user typed a part of it.
fn met(hunk: &Hunk, old: &str, change: &Splice, neighbours: Range<usize>) -> Meeting {
    let slid = change.range.is_empty().then(|| slid(hunk, old, change.range.start, neighbours)).flatten();
    match slid.map(|slid| meet(&slid, old, change)) {
        Some(agrees @ Meeting::Agrees(_)) => agrees,
        _ => meet(hunk, old, change),
    }
}

/// The relation of a change of `old` to a hunk for it. Both are the smallest with their results.
pub(crate) fn meet(hunk: &Hunk, old: &str, change: &Splice) -> Meeting {
    if change.range.end < hunk.range.start {
        return Meeting::Before;
    }
    if change.range.start > hunk.range.end {
        return Meeting::After;
    }
    if let Some(restored) = restored(hunk, old, change) {
        return Meeting::Agrees(vec![restored]);
    }
    let is_inside = hunk.range.start <= change.range.start && change.range.end <= hunk.range.end;
    if let Some(parts) = is_inside.then(|| agreement(hunk, old, change)).flatten() {
        return Meeting::Agrees(parts);
    }
    // A change of whole lines leaves neighbouring lines alone.
    if change.range.end == hunk.range.start
        && begins_line(old, hunk.range.start)
        && (change.text.ends_with('\n') || change.text.is_empty() && begins_line(old, change.range.start))
    {
        return Meeting::Before;
    }
    if change.range.start == hunk.range.end
        && begins_line(old, hunk.range.end)
        && (hunk.text.ends_with('\n') || hunk.text.is_empty() && begins_line(old, hunk.range.start))
    {
        return Meeting::After;
    }
    Meeting::Conflict
}

/// The hunk after characters that were typed in agreement with it are deleted again.
fn restored(hunk: &Hunk, old: &str, change: &Splice) -> Option<Hunk> {
    if change.range.end != hunk.range.start || !change.text.is_empty() {
        return None;
    }
    let deleted = old.get(change.range.clone()).filter(|deleted| !deleted.is_empty())?;
    let typed = hunk.typed.strip_suffix(deleted)?.to_owned();
    let range = change.range.start..hunk.range.end - deleted.len();
    Some(Hunk { range, text: [deleted, &hunk.text].concat(), typed })
}

/// The rest of a hunk after a change inside it that agrees with it.
fn agreement(hunk: &Hunk, old: &str, change: &Splice) -> Option<Vec<Hunk>> {
    let kept_before = old.get(hunk.range.start..change.range.start)?;
    let kept_after = old.get(change.range.end..hunk.range.end)?;
    let typed = change.text.as_str();
    let start = hunk.range.start;
    if typed.is_empty() {
        let deleted = old.get(change.range.clone())?.trim();
        let is_kept = deleted.chars().nth(MIN_KEPT - 1).is_some() && hunk.text.contains(deleted);
        let mut rest = part(start, &[kept_before, kept_after].concat(), &hunk.text);
        if rest.range.start == start {
            rest.typed.clone_from(&hunk.typed);
        }
        return (!is_kept).then(|| non_empty([rest]));
    }
    if kept_before.chars().nth(MAX_OFFSET).is_some() {
        return None;
    }
    for (offset, _) in hunk.text.char_indices().take(MAX_OFFSET + 1) {
        let (left_out, text) = hunk.text.split_at(offset);
        let is_exact = offset == 0 && kept_before.is_empty();
        if !is_exact && typed.chars().nth(MAX_INEXACT).is_some() {
            break;
        }
        let Some((opened, between, closed, text)) = found(text, typed) else { continue };
        let first = part(start, kept_before, left_out);
        let mut inner = part(start + kept_before.len() + opened.len(), "", between);
        let mut last = part(start + kept_before.len() + typed.len(), kept_after, text);
        let before_last = if closed.is_empty() { &mut last } else { &mut inner };
        // Only if nothing is left between them, deleting the typed text restores the hunk.
        if is_exact && before_last.range.start == start + opened.len() {
            before_last.typed = [&hunk.typed, opened].concat();
        }
        return Some(non_empty([first, inner, last]));
    }
    None
}

/// Finds what is typed at the beginning of a hunk's text: the typed text up to the cursor, what the hunk has between
/// this and what the editor added behind the cursor, that, and what comes then.
fn found<'t>(text: &'t str, typed: &'t str) -> Option<(&'t str, &'t str, &'t str, &'t str)> {
    if let Some(rest) = text.strip_prefix(typed) {
        return Some((typed, "", "", rest));
    }
    let (opened, closed) = pair(typed)?;
    let rest = text.strip_prefix(opened)?;
    let end = closing(rest, opened.chars().next()?, closed.chars().next_back()?)?;
    let (before, after) = rest.split_at(end);
    Some((opened, before.strip_suffix(closed)?, closed, after))
}

/// The two parts of what an editor makes of an opening bracket or quote: with nothing between them, or on lines of
/// their own.
fn pair(typed: &str) -> Option<(&str, &str)> {
    let (open, close) = (typed.chars().next()?, typed.chars().next_back()?);
    let is_pair = matches!((open, close), ('(', ')') | ('[', ']') | ('{', '}') | ('<', '>'))
        || open == close && matches!(open, '"' | '\'' | '`') && typed.len() > open.len_utf8();
    let inner = typed.get(open.len_utf8()..typed.len() - close.len_utf8())?;
    if !is_pair || !inner.trim().is_empty() {
        return None;
    }
    Some(typed.split_at(open.len_utf8() + inner.rfind('\n').unwrap_or(inner.len())))
}

/// The end of the bracket or quote that closes what is open at the beginning of a text.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if c == close && !is_escaped {
            if depth == 0 {
                return Some(at + c.len_utf8());
            }
            depth -= 1;
        } else if c == open && !is_escaped {
            depth += 1;
        }
        is_escaped = c == '\\' && !is_escaped && open == close;
    }
    None
}

/// The smallest hunk that makes `new` of the `old` text at `start`; an empty one if they are the same.
fn part(start: usize, old: &str, new: &str) -> Hunk {
    match splice::between(old, new) {
        Some(Splice { range, text }) => Hunk::new(start + range.start..start + range.end, text),
        None => Hunk::new(start..start, ""),
    }
}

fn non_empty<const N: usize>(hunks: [Hunk; N]) -> Vec<Hunk> {
    hunks.into_iter().filter(|hunk| !hunk.is_empty()).collect()
}

fn begins_line(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

/// An insertion moved to where the user types, if inserting there has the same result.
fn slid(hunk: &Hunk, old: &str, to: usize, within: Range<usize>) -> Option<Hunk> {
    let from = hunk.range.start;
    if !hunk.range.is_empty()
        || from == to
        || from.abs_diff(to) > MAX_SLIDE
        || !(within.start..=within.end).contains(&to)
    {
        return None;
    }
    let whole = [old.get(to..from).unwrap_or_default(), &hunk.text, old.get(from..to).unwrap_or_default()].concat();
    let text =
        if to < from { whole.strip_suffix(old.get(to..from)?)? } else { whole.strip_prefix(old.get(from..to)?)? };
    Some(Hunk::new(to..to, text))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    fn rows(hunks: &[Hunk]) -> Vec<(Range<usize>, &str)> {
        hunks.iter().map(|hunk| (hunk.range.clone(), hunk.text.as_str())).collect()
    }

    fn change(range: Range<usize>, text: &str) -> Splice {
        Splice { range, text: text.to_owned() }
    }

    /// The hunks after changes one after the other, as accepting them shows them.
    fn after(hunks: &[Hunk], old: &str, changes: &[Splice]) -> Option<(Vec<Hunk>, String)> {
        let (mut hunks, mut text) = (hunks.to_vec(), old.to_owned());
        for change in changes {
            hunks = rebase(&hunks, &text, change)?;
            text = change.apply(&text)?;
        }
        Some((hunks, text))
    }

    #[test]
    fn hunks_move_with_changes_before_them_and_stay_before_changes_after_them() {
        let old = "one\ntwo\nthree\nfour\n";
        let hunks = [Hunk::new(4..7, "zwei"), Hunk::new(14..18, "vier")];
        let rebased = rebase(&hunks, old, &change(9..9, "XX")).unwrap();
        assert_eq!(rows(&rebased), [(4..7, "zwei"), (16..19, "vie")]);
        let rebased = rebase(&hunks, old, &change(0..4, "")).unwrap();
        assert_eq!(rows(&rebased), [(0..3, "zwei"), (10..13, "vie")]);
    }

    #[test]
    fn a_hunk_that_is_typed_gets_smaller_and_disappears_and_with_the_last_the_edit_is_done() {
        let old = "let a = b;\nuse(b);\n";
        let hunks = [Hunk::new(9..9, ".c()"), Hunk::new(15..16, "a")];
        let (rest, text) = after(&hunks, old, &[change(9..9, "."), change(10..10, "c")]).unwrap();
        assert_eq!(rows(&rest), [(11..11, "()"), (17..18, "a")]);
        let (rest, text) = after(&rest, &text, &[change(11..11, "()")]).unwrap();
        assert_eq!(rows(&rest), [(19..20, "a")]);
        let (rest, text) = after(&rest, &text, &[change(19..20, ""), change(19..19, "a")]).unwrap();
        assert_eq!((rows(&rest), text.as_str()), (Vec::new(), "let a = b.c();\nuse(a);\n"));
    }

    #[test]
    fn characters_that_were_typed_in_agreement_and_deleted_again_are_suggested_again() {
        let hunks = [Hunk::new(2..2, "foo()")];
        let (rest, text) = after(&hunks, "= ", &[change(2..2, "f"), change(3..3, "oo")]).unwrap();
        assert_eq!(rows(&rest), [(5..5, "()")]);
        let (rest, _) = after(&rest, &text, &[change(4..5, ""), change(3..4, "")]).unwrap();
        assert_eq!(rows(&rest), [(3..3, "oo()")]);
        assert_eq!(rebase(&hunks, "= ", &change(1..2, "")), None, "nothing of this was typed");
    }

    #[test]
    fn another_change_of_the_same_text_drops_the_whole_edit() {
        let hunks = [Hunk::new(2..5, "bar"), Hunk::new(9..9, "!")];
        for conflict in [change(3..3, "x"), change(1..4, ""), change(5..5, "d"), change(2..2, "d"), change(8..9, "")] {
            assert_eq!(rebase(&hunks, "a foo\nfoo", &conflict), None, "{conflict:?}");
        }
    }

    #[test]
    fn a_few_characters_may_be_left_out_if_few_are_typed() {
        let hunks = [Hunk::new(0..0, "let value = compute(input);")];
        let rebased = |text| rebase(&hunks, "", &change(0..0, text));
        assert_eq!(rows(&rebased("value").unwrap()), [(0..0, "let "), (5..5, " = compute(input);")]);
        assert_eq!(rebased("value ="), None, "that is more than five");
        assert_eq!(rebased("comp"), None, "twelve characters are left out");
        let replacing = [Hunk::new(0..14, "xyz")];
        assert_eq!(rebase(&replacing, "0123456789abcd", &change(11..11, "x")), None, "eleven are left to be deleted");
        assert!(rebase(&replacing, "0123456789abcd", &change(10..10, "x")).is_some());
        assert!(rebased("let value = compute").is_some());
    }

    #[test]
    fn a_bracket_that_the_editor_closes_is_the_hunks_own() {
        let hunks = [Hunk::new(1..1, "(a(b), c);")];
        assert_eq!(rows(&rebase(&hunks, "f", &change(1..1, "()")).unwrap()), [(2..2, "a(b), c"), (3..3, ";")]);
        let (rest, _) = after(&hunks, "f", &[change(1..1, "()"), change(2..2, "a")]).unwrap();
        assert_eq!(rows(&rest), [(3..3, "(b), c"), (4..4, ";")]);
        let nested = [Hunk::new(1..1, "(a((b)), c)")];
        assert_eq!(rows(&rebase(&nested, "f", &change(1..1, "()")).unwrap()), [(2..2, "a((b)), c")]);
        let block = [Hunk::new(2..2, "{\n    a;\n}")];
        assert_eq!(rows(&rebase(&block, "f ", &change(2..2, "{\n    \n}")).unwrap()), [(8..8, "a;")]);
        let quoted = [Hunk::new(0..0, r#""a\"b", c"#)];
        assert_eq!(rows(&rebase(&quoted, "", &change(0..0, "\"\"")).unwrap()), [(1..1, "a\\\"b"), (2..2, ", c")]);
        assert_eq!(rebase(&[Hunk::new(0..0, "(a")], "", &change(0..0, "()")), None);
    }

    #[test]
    fn replacing_by_hand_what_a_hunk_replaces_agrees_with_it() {
        let hunks = [Hunk::new(2..5, "bar")];
        assert_eq!(rows(&rebase(&hunks, "a foo b", &change(2..5, "b")).unwrap()), [(3..3, "ar")]);
        let (rest, _) = after(&hunks, "a foo b", &[change(4..5, ""), change(2..4, ""), change(2..2, "ba")]).unwrap();
        assert_eq!(rows(&rest), [(4..4, "r")]);
        let moved = [Hunk::new(0..6, "new\nfoo()\n")];
        assert_eq!(rebase(&moved, "foo()x", &change(0..5, "")), None, "the hunk would bring the deleted text back");
    }

    #[test]
    fn whole_lines_beside_a_hunk_are_no_part_of_it() {
        let hunks = [Hunk::new(2..4, "B\nB\n")];
        assert_eq!(rows(&rebase(&hunks, "a\nb\nc\n", &change(2..2, "x\n")).unwrap()), [(4..5, "B\nB")]);
        assert_eq!(rows(&rebase(&[Hunk::new(2..2, "B\n")], "a\nc\n", &change(2..2, "x")).unwrap()), [(2..2, "B\n")]);
    }

    #[test]
    fn an_insertion_is_where_the_user_types_it() {
        // The smallest change from "aab" to "aaab" is at 2, and the user may type it anywhere before.
        assert_eq!(rebase(&[Hunk::new(0..3, "aaab")], "aab", &change(0..0, "a")), Some(Vec::new()));
    }

    #[test]
    fn a_keystroke_in_a_large_edit_is_quick() {
        let line = "let value = compute(input);\n";
        let old = line.repeat(10_000);
        let hunks: Vec<_> =
            (0..100).map(|n| Hunk::new(n * 100 * line.len()..n * 100 * line.len() + 3, "const")).collect();
        let began = Instant::now();
        for _ in 0..100 {
            assert!(rebase(&hunks, &old, &change(10..10, "x")).is_some());
        }
        let took = began.elapsed() / 100;
        println!("rebase of 100 hunks: {took:?}");
        assert!(took.as_millis() < 10, "{took:?}");
    }

    fn edit() -> impl Strategy<Value = (String, Vec<Hunk>)> {
        let hunks = prop::collection::vec((0..5_usize, 0..4_usize, "[ab(){}\n \u{e9}]{0,6}"), 1..4);
        ("[ab(\n \u{e9}]{0,24}", hunks).prop_map(|(old, parts)| {
            let mut at = 0;
            let mut hunks = Vec::new();
            for (gap, length, text) in parts {
                let start = old.floor_char_boundary(at + gap).max(at);
                let end = old.floor_char_boundary(start + length).max(start);
                if end <= old.len() {
                    hunks.push(Hunk::new(start..end, text));
                    at = end;
                }
            }
            (old, hunks)
        })
    }

    /// A change: of any part of the text, or at one of the hunks with a part of its text.
    fn random_change(text: &str, hunks: &[Hunk], (kind, at, length): (u8, usize, usize), typed: &str) -> Splice {
        match hunks.get(at % hunks.len().max(1)).filter(|_| kind < 6) {
            Some(hunk) => {
                let new = &hunk.text[..hunk.text.floor_char_boundary(length)];
                let start = hunk.range.start;
                match kind {
                    0 | 1 => Splice::insertion(start, new),
                    2 => change(hunk.range.clone(), new),
                    3 => change(start..text.floor_char_boundary(start + length).min(hunk.range.end).max(start), ""),
                    4 => change(text.floor_char_boundary(start.saturating_sub(length))..start, ""),
                    _ => Splice::insertion(start, new.chars().next().map_or("()".into(), |c| format!("{c})"))),
                }
            }
            None => {
                let start = text.floor_char_boundary(at);
                change(start..text.floor_char_boundary(start + length), typed)
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn accepting_after_changes_is_accepting_and_then_changing(
            (old, hunks) in edit(),
            changes in prop::collection::vec(((0..10_u8, 0..30_usize, 0..4_usize), "[ab(\n]{0,3}"), 1..8),
        ) {
            let (mut text, mut hunks) = (old, hunks);
            for (numbers, typed) in changes {
                let change = random_change(&text, &hunks, numbers, &typed);
                let accepted = accept(&hunks, &text).unwrap();
                let Some(rebased) = rebase(&hunks, &text, &change) else { break };
                let new = change.apply(&text).unwrap();
                let result = accept(&rebased, &new);
                prop_assert!(result.is_some(), "{rebased:?}");
                let change = change.minimal(&text).unwrap();
                // The same change of the accepted text, if it is after no hunk, the first, and so on.
                let mut shifts = vec![0_isize];
                for hunk in &hunks {
                    shifts.push(shifts.last().unwrap() + hunk.text.len() as isize - hunk.range.len() as isize);
                }
                let mut possible: Vec<_> = shifts
                    .into_iter()
                    .filter_map(|shift| {
                        let start = change.range.start.checked_add_signed(shift)?;
                        let range = start..start + change.range.len();
                        let is_same = accepted.get(range.clone())? == &text[change.range.clone()];
                        is_same.then(|| Splice { range, text: change.text.clone() }.apply(&accepted)).flatten()
                    })
                    .collect();
                possible.push(accepted);
                prop_assert!(possible.contains(&result.unwrap()), "{text:?} {hunks:?} {change:?} {rebased:?}");
                (text, hunks) = (new, rebased);
            }
        }

        #[test]
        fn typing_all_hunks_from_the_first_to_the_last_does_the_edit((old, hunks) in edit()) {
            let accepted = accept(&hunks, &old).unwrap();
            let (mut text, mut hunks) = (old, hunks);
            for _ in 0..100 {
                // A change of nothing makes the hunks the smallest.
                hunks = rebase(&hunks, &text, &Splice::default()).unwrap();
                let Some(hunk) = hunks.first() else { break };
                let typed = hunk.text.chars().next().map_or(String::new(), String::from);
                let start = hunk.range.start;
                let range = if hunk.range.is_empty() { start..start } else { hunk.range.clone() };
                let change = change(range, &typed);
                // The deleted text may be part of the hunk's own.
                let Some(rebased) = rebase(&hunks, &text, &change) else { return Ok(()) };
                text = change.apply(&text).unwrap();
                hunks = rebased;
                prop_assert_eq!(accept(&hunks, &text), Some(accepted.clone()));
            }
            prop_assert_eq!(text, accepted);
        }

        #[test]
        fn any_ranges_are_no_panic(
            text in any::<String>(), new in any::<String>(),
            offsets in prop::collection::vec((0..30_usize, 0..30_usize), 1..4), from in 0..30_usize, to in 0..30_usize,
        ) {
            let hunks: Vec<_> = offsets.into_iter().map(|(start, end)| Hunk::new(start..end, new.as_str())).collect();
            if let Some(rebased) = rebase(&hunks, &text, &Splice { range: from..to, text: new }) {
                prop_assert!(rebased.iter().all(|hunk| hunk.range.start <= hunk.range.end));
            }
        }
    }
}
