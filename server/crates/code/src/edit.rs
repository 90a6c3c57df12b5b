//! Where an edit goes: text in, new text out, or a reason that helps to try again.
//!
//! Nothing here touches a file. A form of edit finds its place with [`locate`], which tries passes from strict to
//! lenient ([`Pass`]), and makes the new text; where the place was found by a lenient pass, [`merge`] carries the edit
//! over to the file's own lines. Where no place is found, [`diagnose`] says what comes nearest. Texts have LF line ends
//! and no byte order mark. An edit whose place is not certain is an error with the candidates, never a guess.

mod anchor;
mod diagnose;
mod fold;
pub mod hashline;
mod indent;
mod locate;
mod merge;
mod notebook;
pub mod patch;
mod reindent;
pub mod structural;
pub mod symbol;

use std::borrow::Cow;
use std::ops::Range;

pub use anchor::{AnchorError, AnchorMode, ByAnchor, by_anchor, insert_at_line};
pub use diagnose::{Diagnosis, Difference, NearMatch, WhitespaceIssue, WhitespaceKind};
pub use fold::Pass;
pub use locate::Candidate;
use locate::{Located, Wanted, preview};
pub use merge::Uncertain;
pub use notebook::{CellEdit, CellKind, NotebookError, edit_cell};

/// A text with an edit in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// The pass that found the place.
    pub pass: Pass,
}

/// Replaces `old` by `new` where it occurs, which must be exactly `expected_count` times. Where it occurs nowhere byte
/// by byte, the lenient passes look for it, the strictest first; the text then keeps what the edit does not change as
/// it was.
///
/// CRLF in `old` and `new` counts as LF. Whether the text ends in a line break stays as it is, unless nothing is left
/// of it: an edit that reaches the end gives a text that ended in one (or in several) at least one, and leaves a text
/// that ended in none without any. What `new` brings beyond that stays.
///
/// # Errors
/// See [`EditError`]. `old` is found nowhere, or not as often as expected, or its occurrences overlap, or what the edit
/// puts in cannot be made to fit its surroundings with certainty.
pub fn replace(text: &str, old: &str, new: &str, expected_count: usize) -> Result<Edited, EditError> {
    let (old, new) = (with_lf(old), with_lf(new));
    if old.is_empty() {
        return Err(EditError::NothingToFind);
    }
    if old == new {
        return Err(EditError::SameText);
    }
    let Located { starts, overlap } = locate::exact(text, &old);
    if starts.is_empty() {
        return replace_leniently(text, &old, &new, expected_count);
    }
    if let Some(second) = overlap {
        return Err(EditError::Overlapping { candidates: locate::candidates(text, second) });
    }
    let found = starts.len();
    if found != expected_count {
        let candidates = locate::candidates(text, starts);
        return Err(EditError::Count { found, expected: expected_count, pass: Pass::Exact, candidates });
    }
    for &start in &starts {
        hanging(text, start, &old, &new).map_or(Ok(()), |reason| Err(uncertain(text, start, Pass::Exact, reason)))?;
    }
    let places: Vec<_> = starts.iter().map(|start| (*start..start + old.len(), new.as_ref().to_owned())).collect();
    Ok(Edited { text: with_places(text, &places), pass: Pass::Exact })
}

/// Looks whether [`replace`] may find `old` in a text, whatever is put in its place and however often it is expected.
///
/// # Errors
/// [`EditError::NothingToFind`] or [`EditError::NotFound`]: it will not.
pub fn may_replace(text: &str, old: &str) -> Result<(), EditError> {
    let old = with_lf(old);
    if old.is_empty() {
        return Err(EditError::NothingToFind);
    }
    let lines: Vec<&str> = old.lines().collect();
    let leniently = || {
        let file: Vec<&str> = text.lines().collect();
        !merge::is_long(lines.iter().copied())
            && (locate::places(text, &old).is_some() || locate::may_be_alike(&file, &lines))
    };
    if locate::exact(text, &old).starts.is_empty() && !leniently() {
        return Err(EditError::NotFound(Box::new(diagnose::diagnose(text, &old))));
    }
    Ok(())
}

/// Returns the old and new text with which [`replace`] makes `after` of `before` in one place, copied exactly: whole
/// lines, as few as can be. None if a few lines do not tell the place.
pub fn exactly(before: &str, after: &str) -> Option<(String, String)> {
    const MOST_WIDENED: usize = 20;
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let least = old.len().min(new.len());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let above = old.iter().zip(&new).take_while(same).count();
    let below = old.iter().rev().zip(new.iter().rev()).take_while(same).count().min(least - above);
    (0..MOST_WIDENED).find_map(|more| {
        let (above, below) = (above.saturating_sub(more), below.saturating_sub(more));
        let text = |lines: &[&str]| lines.get(above..lines.len() - below).unwrap_or_default().concat();
        let (old, new) = (text(&old), text(&new));
        let edited = replace(before, &old, &new, 1).ok()?;
        (edited.pass == Pass::Exact && edited.text == after).then_some((old, new))
    })
}

fn replace_leniently(text: &str, old: &str, new: &str, expected: usize) -> Result<Edited, EditError> {
    let located = if merge::is_long(old.lines().chain(new.lines())) {
        None
    } else {
        locate::places(text, old).or_else(|| alike(text, old, new))
    };
    let Some((pass, places)) = located else {
        return Err(EditError::NotFound(Box::new(diagnose::diagnose(text, old))));
    };
    if let [.., first, second] = places.as_slice()
        && second.start < first.end
    {
        return Err(EditError::Overlapping { candidates: locate::candidates(text, [first.start, second.start]) });
    }
    let found = places.len();
    if found != expected {
        let candidates = locate::candidates(text, places.into_iter().map(|place| place.start));
        return Err(EditError::Count { found, expected, pass, candidates });
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let unit = indent::Unit::of(text);
    let mut edited = Vec::with_capacity(found);
    for place in places {
        let lines: Vec<&str> = text.get(place.clone()).unwrap_or_default().split('\n').collect();
        let merged =
            merge::merge(&lines, &old, &new, unit).map_err(|reason| uncertain(text, place.start, pass, reason))?;
        edited.push((place, merged.join("\n")));
    }
    let edited = with_places(text, &edited);
    if edited == text { Err(EditError::SameText) } else { Ok(Edited { text: edited, pass }) }
}

/// Why it is not certain how further lines are to be indented that an edit puts below a single line. Where the old line
/// comes without its indentation, so may they.
fn hanging(text: &str, start: usize, old: &str, new: &str) -> Option<Uncertain> {
    let single = !old.trim_end().contains('\n') && !old.starts_with(char::is_whitespace);
    let head = indent::indent_before(text, start).filter(|head| single && !head.is_empty())?;
    let further = new.lines().skip(1).find(|line| !line.trim().is_empty() && !line.starts_with(head))?;
    Some(Uncertain::Indentation { line: preview(further) })
}

fn uncertain(text: &str, at: usize, pass: Pass, reason: Uncertain) -> EditError {
    let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
    EditError::Uncertain { line, pass, reason }
}

/// The place of whole lines that are like the old ones, where they are but for a few letters of those that stay.
fn alike(text: &str, old: &str, new: &str) -> Option<(Pass, Vec<Range<usize>>)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let certain = merge::certain(&old, &new);
    let wanted: Vec<Wanted<'_>> = old.iter().zip(certain).map(|(&text, certain)| Wanted { text, certain }).collect();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let bare: Vec<&str> = lines.iter().map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    let (pass, starts) = locate::blocks(&bare, &wanted, 0..bare.len())?;
    let byte = |line: usize| lines.iter().take(line).map(|line| line.len()).sum::<usize>();
    let place = |start: usize| {
        let end = byte(start + old.len());
        byte(start)..text.get(..end).and_then(|head| head.strip_suffix('\n')).map_or(end, str::len)
    };
    Some((pass, starts.into_iter().map(place).collect()))
}

/// A text with other texts at some places of it, which are in order and apart.
fn with_places(text: &str, places: &[(Range<usize>, String)]) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut copied = 0;
    for (place, new) in places {
        changed += text.get(copied..place.start).unwrap_or_default();
        changed += new;
        copied = place.end;
    }
    changed += text.get(copied..).unwrap_or_default();
    let reaches_end = places.last().is_some_and(|(place, _)| place.end == text.len());
    if reaches_end { with_final_newline_of(text, changed) } else { changed }
}

/// Why an edit has no certain place. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text to find is empty.
    #[error("old_text is empty; give the lines to replace. A new file is made by another tool")]
    NothingToFind,
    /// Old and new text are the same.
    #[error("old_text and new_text are the same, so the edit would change nothing")]
    SameText,
    /// The text occurs nowhere.
    #[error("{0}")]
    NotFound(Box<Diagnosis>),
    /// The text occurs more often, or less often, than expected.
    #[error(
        "old_text occurs {found} times{}, but expected_count is {expected}. Nothing was changed. It occurs at:\n{}{}\
         Add lines around the place you mean to old_text until it is unique, or set expected_count to {found} to \
         replace every one.",
        pass.leaves_out().map(|what| format!(" if {what} does not count")).unwrap_or_default(),
        locate::list(candidates),
        locate::more(*found, candidates.len())
    )]
    Count {
        /// How often it occurs.
        found: usize,
        /// How often it should.
        expected: usize,
        /// The pass that found it.
        pass: Pass,
        /// Where; the first ten.
        candidates: Vec<Candidate>,
    },
    /// Two occurrences share text, so it is not certain which one is meant.
    #[error(
        "old_text occurs at places that overlap, so it is not certain which is meant. Nothing was changed. It occurs \
         at:\n{}Add lines around the place you mean to old_text until it is unique.",
        locate::list(candidates)
    )]
    Overlapping {
        /// The first two that overlap.
        candidates: Vec<Candidate>,
    },
    /// The place is certain, but not what would be there.
    #[error(
        "old_text was found at line {line}{}, but {reason}. Nothing was changed. Read the file around line {line} with \
         read_file and copy old_text from it exactly, whole lines with their indentation.",
        pass.leaves_out().map(|what| format!(" if {what} does not count")).unwrap_or_default()
    )]
    Uncertain {
        /// The line, from 1.
        line: usize,
        /// The pass that found it.
        pass: Pass,
        /// The uncertainty.
        reason: Uncertain,
    },
}

fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// Gives `changed` a final line break if and only if `original` has one, as every edit must. What is put into
/// an empty text stays as it is.
fn with_final_newline_of(original: &str, mut changed: String) -> String {
    if original.is_empty() {
        return changed;
    }
    if original.ends_with('\n') {
        if !changed.is_empty() && !changed.ends_with('\n') {
            changed.push('\n');
        }
    } else {
        changed.truncate(changed.trim_end_matches('\n').len());
    }
    changed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "fn main() {\n    let a = 1;\n    let b = 2;\n}\n\nfn other() {\n    let a = 1;\n}\n";

    fn replaced(text: &str, old: &str, new: &str, count: usize) -> Result<String, EditError> {
        replace(text, old, new, count).map(|edited| edited.text)
    }

    fn words(result: Result<String, EditError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_unique_text_is_replaced() {
        let edited = replaced(TEXT, "let b = 2;", "let b = 3;", 1).unwrap();
        assert_eq!(edited, TEXT.replace("let b = 2;", "let b = 3;"));
    }

    #[test]
    fn as_many_as_expected_are_replaced() {
        let edited = replaced(TEXT, "let a = 1;", "let a = 9;", 2).unwrap();
        assert_eq!(edited.matches("let a = 9;").count(), 2);
    }

    #[test]
    fn an_ambiguous_text_is_refused_with_its_places() {
        let error = replaced(TEXT, "let a = 1;", "let a = 9;", 1).unwrap_err();
        let EditError::Count { found: 2, expected: 1, pass: Pass::Exact, candidates } = &error else {
            panic!("{error:?}")
        };
        assert_eq!(candidates.iter().map(|c| c.line).collect::<Vec<_>>(), [2, 7]);
        assert!(error.to_string().contains("  line 7: let a = 1;\n"), "{error}");
        assert!(error.to_string().contains("set expected_count to 2"), "{error}");
    }

    #[test]
    fn fewer_than_expected_is_an_error_too() {
        assert!(words(replaced(TEXT, "let b = 2;", "", 3)).contains("occurs 1 times, but expected_count is 3"));
    }

    #[test]
    fn overlapping_places_are_ambiguous() {
        let error = replaced("}\n}\n}\n", "}\n}\n", "]\n", 1).unwrap_err();
        let EditError::Overlapping { candidates } = error else { panic!("{error:?}") };
        assert_eq!(candidates.iter().map(|c| c.line).collect::<Vec<_>>(), [1, 2]);
        let error = replaced("}  \n}  \n}  \n", "}\n}\n", "]\n", 1).unwrap_err();
        assert!(matches!(error, EditError::Overlapping { .. }), "{error:?}");
        let five = "\tx;\n".repeat(5);
        let error = replaced(&five, "  x;\n  x;\n", "  y;\n", 2).unwrap_err();
        assert!(matches!(error, EditError::Overlapping { .. }), "{error:?}");
    }

    #[test]
    fn windows_line_ends_in_the_request_do_not_matter() {
        let edited = replaced("a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", 1).unwrap();
        assert_eq!(edited, "x\ny\nc\n");
    }

    #[test]
    fn the_final_line_break_survives() {
        assert_eq!(replaced("a\nb\n", "b\n", "c", 1).unwrap(), "a\nc\n");
        assert_eq!(replaced("a\nb", "b", "c\n", 1).unwrap(), "a\nc");
        assert_eq!(replaced("a\n", "a\n", "", 1).unwrap(), "");
        assert_eq!(replaced("a\nb\n", "b\n", "c\n\n", 1).unwrap(), "a\nc\n\n", "more is what was asked for");
        assert_eq!(replaced("a\n\nb\n", "b\n", "", 1).unwrap(), "a\n\n");
    }

    #[test]
    fn a_text_without_a_final_line_break_gets_none_however_many_there_are() {
        assert_eq!(replaced("a\n\nb", "b", "", 1).unwrap(), "a");
        assert_eq!(replaced("a\nb", "b", "c\n\n", 1).unwrap(), "a\nc");
        assert_eq!(replaced("a\nb", "a\nb", "\n", 1).unwrap(), "");
        assert_eq!(replaced("a\n\nb", "a\n", "c\n\n\n", 1).unwrap(), "c\n\n\n\nb", "away from the end");
    }

    #[test]
    fn an_empty_search_and_an_empty_change_are_refused() {
        assert_eq!(replaced(TEXT, "", "x", 1).unwrap_err(), EditError::NothingToFind);
        assert_eq!(replaced(TEXT, "a", "a", 1).unwrap_err(), EditError::SameText);
    }

    #[test]
    fn a_long_list_of_places_is_cut_and_says_so() {
        let text = "same\n".repeat(500);
        let error = words(replaced(&text, "same\n", "other\n", 1));
        assert!(error.contains("occurs 500 times") && error.contains("and 490 more"), "{error}");
    }

    #[test]
    fn lines_that_are_indented_otherwise_are_found_and_the_new_ones_indented_like_them() {
        let text = "impl A {\n        fn a() {\n            one();\n        }\n}\n";
        let edited = replace(
            text,
            "    fn a() {\n        one();\n",
            "    fn a() {\n        two();\n        if x {\n            three();\n        }\n",
            1,
        )
        .unwrap();
        assert_eq!(edited.pass, Pass::Indentation);
        let wanted =
            "        fn a() {\n            two();\n            if x {\n                three();\n            }\n";
        assert_eq!(edited.text, text.replace("        fn a() {\n            one();\n", wanted));
        let edited = replaced(text, "    fn a() {\n", "    fn b() {\n    }\n    fn c() {\n", 1).unwrap();
        assert_eq!(edited, text.replace("        fn a() {\n", "        fn b() {\n        }\n        fn c() {\n"));
    }

    #[test]
    fn quotes_and_spaces_of_the_file_stay() {
        let text = "let a  = \"x\";\t\nlet b = 'y';\n";
        let edited =
            replace(text, "let a = \u{201C}x\u{201D};\nlet b", "let a = \u{201C}z\u{201D};\nlet c", 1).unwrap();
        assert_eq!((edited.pass, edited.text.as_str()), (Pass::Characters, "let a  = \"z\";\t\nlet c = 'y';\n"));
    }

    #[test]
    fn a_misremembered_line_that_stays_is_not_written() {
        let text = "/// Opens the file with this name.\nfn open(name: &str) {\n    now(name);\n}\n";
        let old = "/// Opens the file with that name.\nfn open(name: &str) {\n    now(name);\n}\n";
        let edited = replace(text, old, &old.replace("now(name)", "later(name)"), 1).unwrap();
        assert_eq!((edited.pass, edited.text), (Pass::Alike, text.replace("now(name)", "later(name)")));
        let changed = old.replace("with that name", "called so");
        assert!(words(replaced(text, old, &changed, 1)).contains("not found"), "a line that changes must be right");
    }

    #[test]
    fn a_very_long_text_is_placed_only_as_it_is() {
        let line = format!("let a = [{}];\n", "1, ".repeat(100_000));
        let edited = replaced(&line, &line, &line.replace("let a", "let b"), 1).unwrap();
        assert!(edited.starts_with("let b"));
        assert!(words(replaced(&line, &line.replacen("1, ", "1,  ", 1), "x\n", 1)).contains("was not found"));
    }

    #[test]
    fn lines_below_one_without_its_indentation_are_not_guessed() {
        let error = words(replaced(TEXT, "let b = 2;", "let b = 2;\nlet c = 3;", 1));
        assert!(error.contains("found at line 3, but") && error.contains("`let c = 3;` is not certain"), "{error}");
        let error = words(replaced(TEXT, "let  b = 2;", "let  b = 2;\nlet c = 3;", 1));
        assert!(error.contains("if white space does not count, but"), "{error}");
        assert!(replaced(TEXT, "let b = 2;", "let b = 2;\n    let c = 3;", 1).unwrap().contains("\n    let c = 3;\n"));
    }

    #[test]
    fn what_is_found_leniently_at_several_places_is_ambiguous() {
        let error = words(replaced(TEXT, "let  a = 1;", "let  a = 2;", 1));
        assert!(error.starts_with("old_text occurs 2 times if white space does not count"), "{error}");
        assert_eq!(replaced(TEXT, "let  a = 1;", "let  a = 2;", 2).unwrap(), TEXT.replace("a = 1", "a = 2"));
    }

    proptest! {
        #[test]
        fn an_edit_with_slips_of_white_space_gives_the_text_meant_or_is_refused(
            lines in proptest::collection::vec("( |  |    ){0,2}[ab]( | {1,3})[cd\"]{1,3};?", 3..12),
            at in 0usize..9, len in 1usize..3, put in "[ef]{1,3}", shift in 0usize..3, trailing in any::<bool>(),
        ) {
            let at = at.min(lines.len() - 1);
            let end = (at + len).min(lines.len());
            let text = lines.join("\n") + "\n";
            let new_line = format!("{}{put}", indent::indent(&lines[at]));
            let (old, new) = (lines[at..end].join("\n") + "\n", new_line.clone() + "\n" + &lines[at + 1..end].iter().map(|l| format!("{l}\n")).collect::<String>());
            let mut wanted = lines.clone();
            wanted[at] = new_line;
            let wanted = wanted.join("\n") + "\n";
            let slip = |text: &str| text.lines().map(|line| format!("{}{line}{}\n", " ".repeat(shift), if trailing { " " } else { "" })).collect::<String>();
            if let Ok(edited) = replace(&text, &slip(&old), &slip(&new), 1) {
                let same = |a: &str, b: &str| a.lines().map(str::trim_end).eq(b.lines().map(str::trim_end));
                // Where the slip made of the old lines what others are, those are what was asked for.
                let other = edited.pass < Pass::Indentation && shift > 0;
                prop_assert!(other || same(&edited.text, &wanted), "{:?}\n{}\n{wanted}", edited.pass, edited.text);
            }
        }

        #[test]
        fn a_single_occurrence_is_replaced_in_place(head in "[a-y \n]{0,40}", tail in "[a-y \n]{0,40}", new in "[a-y]{1,9}") {
            let edited = replaced(&format!("{head}Z{tail}"), "Z", &new, 1).unwrap();
            prop_assert_eq!(edited, format!("{head}{new}{tail}"));
        }

        #[test]
        fn the_end_of_a_text_stays_as_it_is(text in "[ab\n]{1,12}", old in "[ab\n]{1,3}", new in "[ab\n]{0,3}") {
            if let Ok(edited) = replaced(&text, &old, &new, text.matches(&old).count()) {
                prop_assert!(edited.is_empty() || edited.ends_with('\n') == text.ends_with('\n'), "{edited:?}");
            }
        }

        #[test]
        fn what_can_be_replaced_is_never_foreseen_to_fail(
            lines in proptest::collection::vec("( |  ){0,2}(read the whole file|write it all down|close);?", 3..9),
            at in 0usize..9, len in 1usize..5, slips in proptest::collection::vec((0usize..60, "[a-e ]"), 0..4),
            changed in 0usize..4, new in "[a-e\n]{0,9}", count in 1usize..3,
        ) {
            let at = at.min(lines.len() - 1);
            let mut old = lines[at..(at + len).min(lines.len())].join("\n");
            let mut new_lines: Vec<&str> = old.lines().collect();
            let place = changed.min(new_lines.len() - 1);
            new_lines[place] = &new;
            let mut new = new_lines.join("\n");
            // A letter misremembered here and there, in lines that stay too.
            for (place, letter) in slips {
                if old.get(place..=place).is_some_and(|it| it != "\n") {
                    old.replace_range(place..=place, &letter);
                }
                if new.get(place..=place).is_some_and(|it| it != "\n") {
                    new.replace_range(place..=place, &letter);
                }
            }
            let text = lines.join("\n") + "\n";
            if replace(&text, &old, &new, count).is_ok() {
                prop_assert_eq!(may_replace(&text, &old), Ok(()));
            }
        }

        #[test]
        fn what_an_edit_came_to_can_be_said_exactly(
            lines in proptest::collection::vec("( |  )?[a-d]{1,2}", 1..12), at in 0usize..12, len in 0usize..3, new in "([a-f]{1,3}\n){0,3}",
        ) {
            let at = at.min(lines.len());
            let end = (at + len).min(lines.len());
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let before = text(&lines);
            let after = text(&lines[..at]) + &new + &text(&lines[end..]);
            match exactly(&before, &after) {
                Some((old, new)) => prop_assert_eq!(replace(&before, &old, &new, 1).unwrap().text, after),
                None => prop_assert!(before == after || after.is_empty(), "{:?} {:?}", before, after),
            }
        }

        #[test]
        fn any_request_is_answered(text in "[ab\\t \r\n\u{e9}]{0,60}", old in "[ab\\t \r\n\u{e9}]{0,6}", new in "[ab\n]{0,6}", count in 0usize..4) {
            if let Err(error) = replaced(&text, &old, &new, count) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
