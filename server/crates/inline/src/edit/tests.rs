use proptest::prelude::*;

use super::*;
use crate::splice::apply_all;

const TEXT: &str = "fn main() {\n    let a = 1;\n    let b = 2;\n    let c = 3;\n    print(a);\n}\n";

fn of(new: &str) -> Result<Vec<Hunk>, Rule> {
    hunks(Path::new("a.rs"), TEXT, 0..TEXT.len(), new)
}

fn at(text: &str, behind: &str) -> usize {
    text.find(behind).unwrap() + behind.len()
}

#[test]
fn changes_apart_are_hunks_of_their_own_and_one_in_a_line_is_small() {
    let found =
        of(&TEXT.replace("= 1", "= 10").replace("    let c = 3;\n", "    let c = a + b;\n    let d = c;\n")).unwrap();
    let shown: Vec<_> = found.iter().map(|hunk| (&TEXT[hunk.range.clone()], hunk.text.as_str())).collect();
    assert_eq!(shown, [("", "0"), ("    let c = 3;\n", "    let c = a + b;\n    let d = c;\n")]);
}

#[test]
fn an_answer_that_is_not_fit_to_be_shown_is_refused_by_a_rule() {
    assert_eq!(of(TEXT), Err(Rule::NoChange));
    assert_eq!(of("\n"), Err(Rule::Empty));
    assert_eq!(of(&TEXT.replace("= 2;\n", "= 2;  \n\n")), Err(Rule::BlankSpace));
    assert_eq!(of(&TEXT.replace("print(a);", "print(a;")), Err(Rule::Syntax));
    assert_eq!(of(&TEXT.replace("let a = 1;", &"let a = 1;\n".repeat(80))), Err(Rule::TooLong));
    let key = format!("let key = \"ghp_{}\";", "a1B2".repeat(9));
    assert_eq!(of(&TEXT.replace("let a = 1;", &key)), Err(Rule::SecretAnswer));
    assert!(of(&TEXT.replace("    print", "        print")).is_ok(), "a line is moved in, which may mean something");
}

#[test]
fn an_answer_that_stops_before_the_end_of_its_window_is_not_a_deletion() {
    let window = 0..TEXT.find("    print").unwrap();
    let answer = "fn main() {\n    let a = 10;\n";
    assert_eq!(hunks(Path::new("a.rs"), TEXT, window.clone(), answer), Err(Rule::CutOff));
    let whole = "fn main() {\n    let a = 10;\n    let b = 2;\n    let c = 3;\n";
    assert_eq!(hunks(Path::new("a.rs"), TEXT, window, whole).unwrap().len(), 1);
}

#[test]
fn a_frame_is_of_whole_lines_with_the_cursor_in_its_window() {
    let text: String = (0..500).map(|line| format!("line {line}\n")).collect();
    let cursor = at(&text, "line 250");
    let frame = frame(&text, cursor, Window { before: 2, after: 3 }, 2000).unwrap();
    assert_eq!(&text[frame.window.clone()], "line 248\nline 249\nline 250\nline 251\nline 252\nline 253\n");
    assert!(frame.excerpt.start < frame.window.start && frame.excerpt.end > frame.window.end);
    assert!(super::frame(&"x".repeat(20_000), 5, Window { before: 2, after: 2 }, 12_000).is_none(), "a long line");
}

#[test]
fn an_edit_that_only_adds_at_the_cursor_can_be_ghost_text() {
    let ghost_of = |new: &str, cursor| ghost(TEXT, cursor, &differences(TEXT, new, 0));
    let end = at(TEXT, "let b = 2;");
    let next_line = ghost_of(&TEXT.replace("let b = 2;\n", "let b = 2;\n    let x = b;\n"), end);
    assert_eq!(next_line, Some(Splice::insertion(end, "\n    let x = b;")));
    let inside = at(TEXT, "print(");
    let filled = ghost_of(&TEXT.replace("print(a)", "print(b, a)"), inside);
    assert_eq!(filled.map(|it| it.text), Some("b, ".into()));
    assert_eq!(ghost_of(&TEXT.replace("print(a)", "print()"), inside), None, "a deletion is none");
    assert_eq!(ghost_of(&TEXT.replace("= 1", "= 10"), end), None, "it is on another line");
}

#[test]
fn one_hunk_is_accepted_and_the_rest_stays_where_it_belongs() {
    let new = TEXT.replace("= 1", "= 100").replace("= 3", "= 300");
    let pending = Pending::new(TEXT.into(), of(&new).unwrap());
    let accepted = pending.accept(&[0]).unwrap();
    assert_eq!(accepted.text, TEXT.replace("= 1", "= 100"));
    assert_eq!(accepted.cursor, at(&accepted.text, "= 100"));
    assert_eq!(rebase::accept(&accepted.rest, &accepted.text).unwrap(), new);
    assert!(pending.is_accepted_by(&accepted.text) && pending.is_accepted_by(&new));
    assert!(!pending.is_accepted_by(&TEXT.replace("= 1", "= 101")));
    assert!(pending.accept(&[7]).is_none());
}

#[test]
fn a_rejected_hunk_is_taken_out_and_the_nearest_is_known() {
    let mut pending = Pending::new(TEXT.into(), of(&TEXT.replace("= 1", "= 9").replace("= 3", "= 7")).unwrap());
    assert_eq!(nearest(pending.hunks(), at(TEXT, "print")), 1);
    assert_eq!(nearest(pending.hunks(), 0), 0);
    assert_eq!(pending.reject(1).unwrap().text, "7");
    assert_eq!(pending.hunks().len(), 1);
    assert!(pending.reject(1).is_none());
}

/// A text of a few lines, and another that differs in some of them.
fn two_texts() -> impl Strategy<Value = (String, String)> {
    let line = "[ab(){};= ]{0,6}";
    prop::collection::vec((line, prop::option::of(prop::collection::vec(line, 0..3))), 1..8).prop_map(|lines| {
        let old = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
        let changed = lines.iter().map(|(line, other)| match other {
            None => format!("{line}\n"),
            Some(lines) => lines.iter().map(|line| format!("{line}\n")).collect(),
        });
        (old, changed.collect())
    })
}

proptest! {
    #[test]
    fn the_hunks_between_two_texts_make_one_of_the_other((old, new) in two_texts()) {
        let hunks = differences(&old, &new, 0);
        prop_assert_eq!(rebase::accept(&hunks, &old), Some(new));
    }

    #[test]
    fn hunks_that_are_accepted_one_by_one_in_any_order_give_the_text_of_all(
        (old, new) in two_texts(), order in prop::collection::vec(0_usize..8, 0..20),
    ) {
        let mut pending = Pending::new(old.as_str().into(), differences(&old, &new, 0));
        let remaining = |count: usize| order.iter().copied().filter(move |at| *at < count).chain(std::iter::repeat(0));
        while !pending.hunks().is_empty() {
            let next = remaining(pending.hunks().len()).next().unwrap_or_default();
            let accepted = pending.accept(&[next]).unwrap();
            pending = Pending::new(accepted.text.as_str().into(), accepted.rest);
        }
        prop_assert_eq!(&**pending.text(), new.as_str());
    }

    #[test]
    fn a_change_elsewhere_moves_an_edit_and_both_are_in_the_text_that_follows(
        (old, new) in two_texts(), position in 0_usize..60, length in 0_usize..4, typed in "[ab;\n]{0,3}",
    ) {
        let hunks = differences(&old, &new, 0);
        let start = position.min(old.len());
        let change = Splice { range: start..(start + length).min(old.len()), text: typed };
        let now: Arc<str> = change.apply(&old).unwrap().into();
        let mut pending = Pending::new(old.as_str().into(), hunks.clone());
        let is_elsewhere = !hunks.is_empty() && pending.changed(&now) == Ok(true);
        // Of two changes at one position either may come first.
        let touches = |hunk: &Hunk, it: &Splice| it.range.start <= hunk.range.end && hunk.range.start <= it.range.end;
        let change = between(&old, &now);
        if !is_elsewhere || change.is_some_and(|change| hunks.iter().any(|hunk| touches(hunk, &change))) {
            return Ok(());
        }
        let mut both: Vec<_> = hunks.iter().map(Hunk::splice).collect();
        both.extend(between(&old, &now));
        both.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let all: Vec<_> = (0..pending.hunks().len()).collect();
        let result = pending.accept(&all).unwrap().text;
        prop_assert_eq!(Some(result), apply_all(&old, &both));
    }

    #[test]
    fn ghost_text_gives_the_text_of_the_edit((old, new) in two_texts(), cursor in 0_usize..60) {
        let hunks = differences(&old, &new, 0);
        let cursor = cursor.min(old.len());
        if let Some(ghost) = ghost(&old, cursor, &hunks) {
            prop_assert_eq!(ghost.apply(&old), Some(new));
            prop_assert_eq!(ghost.range.start, cursor);
            prop_assert!(!old[ghost.range].contains('\n'));
        }
    }

    #[test]
    fn any_answer_to_any_text_is_judged(
        text in "([ab(){};\" ]{0,9}\n?){0,9}", answer in "\\PC{0,60}", start in 0_usize..40, end in 0_usize..40,
    ) {
        let _ = hunks(Path::new("a.rs"), &text, start.min(end)..start.max(end), &answer);
    }
}
