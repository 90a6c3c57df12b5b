//! Ghost text while the user types it.
//!
//! An [`Item`] stays anchored: its bytes grow and shrink with what is typed in them, and its text stays whole. So a
//! character that is deleted again is part of the suggestion again, and accepting it always gives the text that
//! accepting it at first would have given. An editor is shown the [rest](Item::rest).

use std::ops::Range;

use crate::splice::{self, Splice};

/// A suggestion at the cursor.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Item {
    /// The bytes that it replaces, on one line when it is made. The text from their start to the cursor is the
    /// beginning of `text`.
    pub range: Range<usize>,
    /// The new text for them.
    pub text: String,
}

impl Item {
    /// The text with the suggestion in it; none if it is made for another text.
    pub fn accept(&self, text: &str) -> Option<String> {
        splice::apply_all(text, [&Splice { range: self.range.clone(), text: self.text.clone() }])
    }

    /// The part that is not typed yet: from the cursor on, and on one line. None if the text before the cursor is not
    /// the beginning of the suggestion, or if no part on one line has the same result.
    pub fn rest(&self, text: &str, cursor: usize) -> Option<Self> {
        let rest = self.text.strip_prefix(text.get(self.range.start..cursor)?)?;
        let replaced = text.get(cursor..self.range.end)?;
        if !replaced.contains('\n') {
            return Some(Self { range: cursor..self.range.end, text: rest.to_owned() });
        }
        // An editor may have put the closing bracket on a line of its own, as the suggestion does too.
        let same = splice::common_suffix(replaced, rest);
        let replaced = replaced.get(..replaced.len() - same)?;
        let rest = rest.get(..rest.len() - same)?;
        (!replaced.contains('\n')).then(|| Self { range: cursor..cursor + replaced.len(), text: rest.to_owned() })
    }

    /// True if all of it is typed.
    pub fn is_done(&self, text: &str) -> bool {
        text.get(self.range.clone()) == Some(self.text.as_str())
    }
}

/// The suggestion after a change and with the cursor at `cursor`, both in the new `text`; none if the user typed
/// something else.
///
/// Typing agrees if the text before the cursor is still the beginning of the suggestion. What an editor adds behind the
/// cursor, such as the bracket that closes one, agrees if it is part of what is still to come. A change elsewhere moves
/// the suggestion.
pub fn typed_through(item: &Item, change: &Splice, text: &str, cursor: usize) -> Option<Item> {
    let (range, is_inside) = moved(&item.range, change)?;
    let item = Item { range, text: item.text.clone() };
    let rest = item.rest(text, cursor)?;
    let adds_behind = is_inside && change.end() > cursor;
    (!adds_behind || is_in_order(text.get(rest.range.clone())?, &rest.text)).then_some(item)
}

/// The bytes after a change, and true if it is in them or at an end of them; none if it is partly in them.
fn moved(range: &Range<usize>, change: &Splice) -> Option<(Range<usize>, bool)> {
    let Range { start, end } = *range;
    if change.range.start > change.range.end {
        None
    } else if change.range.end < start {
        Some((change.moved(start)..change.moved(end), false))
    } else if change.range.start > end {
        Some((start..end, false))
    } else {
        (start <= change.range.start && change.range.end <= end).then(|| (start..change.moved(end), true))
    }
}

/// True if all characters of the one text are in the other, in their order.
fn is_in_order(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|c| whole.any(|other| other == c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A text with its cursor at `|`.
    fn at_cursor(marked: &str) -> (String, usize) {
        let cursor = marked.find('|').unwrap();
        (marked.replacen('|', "", 1), cursor)
    }

    /// The rest of an item for the text before and its cursor after the text becomes another.
    fn rest_after(before: &str, item: &str, after: &[&str]) -> Option<(String, String)> {
        let (mut text, at) = at_cursor(before);
        let mut item = Item { range: at..at, text: item.to_owned() };
        let accepted = item.accept(&text);
        let mut cursor = at;
        for after in after {
            let new;
            (new, cursor) = at_cursor(after);
            item = typed_through(&item, &splice::between_at(&text, &new, cursor)?, &new, cursor)?;
            assert_eq!(item.accept(&new), accepted);
            text = new;
        }
        let rest = item.rest(&text, cursor)?;
        Some((text[rest.range.clone()].to_owned(), rest.text))
    }

    fn rest(replaced: &str, text: &str) -> Option<(String, String)> {
        Some((replaced.to_owned(), text.to_owned()))
    }

    #[test]
    fn what_is_typed_in_agreement_is_taken_off() {
        assert_eq!(rest_after("x = |", "foo()", &["x = f|", "x = fo|"]), rest("", "o()"));
        assert_eq!(rest_after("x = |", "foo()", &["x = foo()|"]), rest("", ""));
        assert_eq!(rest_after("x |aaa", "aab", &["x a|aaa"]), rest("", "ab"), "the cursor says where it was typed");
    }

    #[test]
    fn what_is_typed_otherwise_is_a_mismatch() {
        assert_eq!(rest_after("x = |", "foo()", &["x = g|"]), None);
        assert_eq!(rest_after("x = |", "foo()", &["x = f|", "x = fa|"]), None);
        assert_eq!(rest_after("x = |", "foo()", &["x = foo();|"]), None);
        assert_eq!(rest_after("x = |", "foo()", &["x =|"]), None, "deleted before the suggestion");
    }

    #[test]
    fn a_character_that_is_deleted_again_is_suggested_again() {
        assert_eq!(rest_after("x = |", "foo()", &["x = f|", "x = fo|", "x = f|"]), rest("", "oo()"));
        assert_eq!(rest_after("x = |", "foo()", &["x = foo|", "x = |"]), rest("", "foo()"));
    }

    #[test]
    fn a_bracket_that_the_editor_closes_is_replaced_by_the_suggestions_own() {
        assert_eq!(rest_after("f|", "(a, b);", &["f(|)"]), rest(")", "a, b);"));
        assert_eq!(rest_after("f|", "(a, b);", &["f(|)", "f(a|)"]), rest(")", ", b);"));
        assert_eq!(rest_after("f|", "(a, b);", &["f(|)", "f(a, b)|"]), rest("", ";"));
        assert_eq!(rest_after("f|", "(a", &["f(|)"]), None, "nothing in the suggestion closes it");
        assert_eq!(rest_after("f |", "{\n    a\n}", &["f {\n    |\n}"]), rest("", "a"));
    }

    #[test]
    fn a_new_line_agrees_with_the_indentation_that_the_suggestion_has() {
        assert_eq!(rest_after("{|", "\n    foo", &["{\n    |"]), rest("", "foo"));
        assert_eq!(rest_after("{|", "\n    foo", &["{\n|"]), rest("", "    foo"));
        assert_eq!(rest_after("{|", "\n  foo", &["{\n    |"]), None);
    }

    #[test]
    fn typing_over_a_closing_bracket_is_a_move_that_agrees() {
        let item = Item { range: 2..3, text: "a)".to_owned() };
        let change = Splice::insertion(2, "a");
        let item = typed_through(&item, &change, "f(a)", 3).unwrap();
        assert_eq!(item.rest("f(a)", 4), Some(Item { range: 4..4, text: String::new() }));
        assert!(item.is_done("f(a)"));
    }

    #[test]
    fn a_change_elsewhere_moves_the_suggestion() {
        let item = Item { range: 6..6, text: "foo".to_owned() };
        let change = Splice { range: 0..1, text: "use a;\n".to_owned() };
        let text = "use a;\n\nx = ";
        assert_eq!(typed_through(&item, &change, text, 12), Some(Item { range: 12..12, text: "foo".to_owned() }));
        assert_eq!(typed_through(&item, &Splice::insertion(8, "b"), "\n\nx = \nb", 8), None, "the cursor has left");
    }

    /// A text, an item in it whose beginning may be there already, and the cursor.
    fn suggested() -> impl Strategy<Value = (String, Item, usize)> {
        let parts = ("[ab(\n\u{e9}]{0,6}", "[ab()\\{\\}\n \u{e9}]{1,8}", 0..9_usize, "[)}]{0,1}", "[ab\n\u{e9}]{0,6}");
        parts.prop_map(|(before, text, typed, replaced, after)| {
            let typed = &text[..text.floor_char_boundary(typed)];
            let start = before.len();
            let cursor = start + typed.len();
            let whole = [&before, typed, &replaced, &after].concat();
            (whole, Item { range: start..cursor + replaced.len(), text: text.clone() }, cursor)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn accepting_after_typing_is_accepting_before(
            (old, item, cursor) in suggested(), typed in 0..4_usize, deleted in 0..3_usize, pair in any::<bool>(),
            other in "[ab)(\n\u{e9}]{0,2}",
        ) {
            let rest = item.rest(&old, cursor).unwrap();
            let typed = &rest.text[..rest.text.floor_char_boundary(typed)];
            let start = old.floor_char_boundary(cursor.saturating_sub(deleted));
            let closer = if pair { ")" } else { "" };
            for (text, behind) in [(typed, closer), (other.as_str(), "")] {
                let change = Splice { range: start..cursor, text: [text, behind].concat() };
                let new = change.apply(&old).unwrap();
                let after = start + text.len();
                let through = typed_through(&item, &change, &new, after);
                if start == cursor && text == typed && behind.is_empty() {
                    prop_assert!(through.is_some(), "typing what is suggested agrees");
                }
                if let Some(through) = through {
                    prop_assert_eq!(through.accept(&new), item.accept(&old));
                    let rest = through.rest(&new, after).unwrap();
                    prop_assert_eq!(rest.accept(&new), item.accept(&old));
                    prop_assert!(!new[rest.range.clone()].contains('\n') && rest.range.start == after);
                    prop_assert_eq!(through.is_done(&new), rest.accept(&new) == Some(new.clone()));
                }
            }
        }

        #[test]
        fn a_change_elsewhere_is_also_in_the_accepted_text(
            (old, item, cursor) in suggested(), from in 0..20_usize, to in 0..20_usize, text in "[ab\n\u{e9}]{0,3}",
        ) {
            let change = Splice { range: from..to, text };
            if let (Some(new), true) = (change.apply(&old), to < item.range.start || from > item.range.end) {
                let after = if to < item.range.start { change.moved(cursor) } else { cursor };
                let through = typed_through(&item, &change, &new, after).unwrap();
                let mut in_accepted = change.clone();
                if from > item.range.end {
                    let accept = Splice { range: item.range.clone(), text: item.text.clone() };
                    in_accepted.range = accept.moved(from)..accept.moved(to);
                }
                prop_assert_eq!(through.accept(&new), in_accepted.apply(&item.accept(&old).unwrap()));
            }
        }

        #[test]
        fn any_offsets_are_no_panic(
            text in any::<String>(), of in any::<String>(), offsets in prop::array::uniform5(0..30_usize),
        ) {
            let [start, end, from, to, cursor] = offsets;
            let item = Item { range: start..end, text: of.clone() };
            let change = Splice { range: from..to, text: of };
            let _ = typed_through(&item, &change, &text, cursor);
            let _ = (item.rest(&text, cursor), item.accept(&text), item.is_done(&text));
        }
    }
}
