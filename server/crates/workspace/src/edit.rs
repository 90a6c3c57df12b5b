//! Where an edit goes: text in, new text out, or a reason that helps to try again.
//!
//! Nothing here touches a file. A form of edit (today: exact replacement) finds its place with [`locate`] and makes the
//! new text; where no place is found, [`diagnose`] says what comes nearest. Texts have LF line ends and no byte order
//! mark. An edit whose place is not certain is an error with the candidates, never a guess (design D4).

pub mod structural;

pub mod symbol;

mod diagnose;
mod locate;
mod reindent;

use std::borrow::Cow;

pub use diagnose::{Diagnosis, Difference, NearMatch, WhitespaceIssue, WhitespaceKind};
pub use locate::Candidate;
use locate::{Located, preview};

/// Replaces `old` by `new` where it occurs, which must be exactly `expected_count` times (001 §13.5).
///
/// CRLF in `old` and `new` counts as LF. Whether the text ends in a line break stays as it is, unless nothing is left of
/// it: an edit that reaches the end gives a text that ended in one (or in several) at least one, and leaves a text that
/// ended in none without any. What `new` brings beyond that stays.
///
/// # Errors
/// See [`EditError`]. `old` is found nowhere, or not as often as expected, or its occurrences overlap.
pub fn replace_exact(text: &str, old: &str, new: &str, expected_count: usize) -> Result<String, EditError> {
    let (old, new) = (with_lf(old), with_lf(new));
    if old.is_empty() {
        return Err(EditError::NothingToFind);
    }
    if old == new {
        return Err(EditError::SameText);
    }
    let Located { starts, overlap } = locate::exact(text, &old);
    let found = starts.len();
    if found == 0 {
        return Err(EditError::NotFound(Box::new(diagnose::diagnose(text, &old))));
    }
    if let Some(second) = overlap {
        return Err(EditError::Overlapping { candidates: locate::candidates(text, second) });
    }
    if found != expected_count {
        let candidates = locate::candidates(text, starts);
        return Err(EditError::Count { found, expected: expected_count, candidates });
    }
    let changed = text.replace(old.as_ref(), &new);
    let reaches_end = starts.last().is_some_and(|start| start + old.len() == text.len());
    Ok(if reaches_end { with_final_newline_of(text, changed) } else { changed })
}

/// Why an edit has no certain place. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text to find is empty.
    #[error("old_text is empty; give the lines to replace, or use edit_create_file for a new file")]
    NothingToFind,
    /// Old and new text are the same.
    #[error("old_text and new_text are the same, so the edit would change nothing")]
    SameText,
    /// The text occurs nowhere.
    #[error("{0}")]
    NotFound(Box<Diagnosis>),
    /// The text occurs more often, or less often, than expected.
    #[error(
        "old_text occurs {found} times, but expected_count is {expected}. Nothing was changed. It occurs at:\n{}{}\
         Add lines around the place you mean to old_text until it is unique, or set expected_count to {found} to \
         replace every one.",
        locate::list(candidates),
        locate::more(*found, candidates.len())
    )]
    Count {
        /// How often it occurs.
        found: usize,
        /// How often it should.
        expected: usize,
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
}

fn with_lf(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { Cow::Owned(text.replace("\r\n", "\n")) } else { Cow::Borrowed(text) }
}

/// Gives `changed` a final line break if and only if `original` has one, as every edit must (001 §13.5).
fn with_final_newline_of(original: &str, mut changed: String) -> String {
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

    fn words(result: Result<String, EditError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_unique_text_is_replaced() {
        let edited = replace_exact(TEXT, "let b = 2;", "let b = 3;", 1).unwrap();
        assert_eq!(edited, TEXT.replace("let b = 2;", "let b = 3;"));
    }

    #[test]
    fn as_many_as_expected_are_replaced() {
        let edited = replace_exact(TEXT, "let a = 1;", "let a = 9;", 2).unwrap();
        assert_eq!(edited.matches("let a = 9;").count(), 2);
    }

    #[test]
    fn an_ambiguous_text_is_refused_with_its_places() {
        let error = replace_exact(TEXT, "let a = 1;", "let a = 9;", 1).unwrap_err();
        let EditError::Count { found: 2, expected: 1, candidates } = &error else { panic!("{error:?}") };
        assert_eq!(candidates.iter().map(|c| c.line).collect::<Vec<_>>(), [2, 7]);
        assert!(error.to_string().contains("  line 7: let a = 1;\n"), "{error}");
        assert!(error.to_string().contains("set expected_count to 2"), "{error}");
    }

    #[test]
    fn fewer_than_expected_is_an_error_too() {
        assert!(words(replace_exact(TEXT, "let b = 2;", "", 3)).contains("occurs 1 times, but expected_count is 3"));
    }

    #[test]
    fn overlapping_places_are_ambiguous() {
        let error = replace_exact("}\n}\n}\n", "}\n}\n", "]\n", 1).unwrap_err();
        let EditError::Overlapping { candidates } = error else { panic!("{error:?}") };
        assert_eq!(candidates.iter().map(|c| c.line).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn windows_line_ends_in_the_request_do_not_matter() {
        let edited = replace_exact("a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", 1).unwrap();
        assert_eq!(edited, "x\ny\nc\n");
    }

    #[test]
    fn the_final_line_break_survives() {
        assert_eq!(replace_exact("a\nb\n", "b\n", "c", 1).unwrap(), "a\nc\n");
        assert_eq!(replace_exact("a\nb", "b", "c\n", 1).unwrap(), "a\nc");
        assert_eq!(replace_exact("a\n", "a\n", "", 1).unwrap(), "");
        assert_eq!(replace_exact("a\nb\n", "b\n", "c\n\n", 1).unwrap(), "a\nc\n\n", "more is what was asked for");
        assert_eq!(replace_exact("a\n\nb\n", "b\n", "", 1).unwrap(), "a\n\n");
    }

    #[test]
    fn a_text_without_a_final_line_break_gets_none_however_many_there_are() {
        assert_eq!(replace_exact("a\n\nb", "b", "", 1).unwrap(), "a");
        assert_eq!(replace_exact("a\nb", "b", "c\n\n", 1).unwrap(), "a\nc");
        assert_eq!(replace_exact("a\nb", "a\nb", "\n", 1).unwrap(), "");
        assert_eq!(replace_exact("a\n\nb", "a\n", "c\n\n\n", 1).unwrap(), "c\n\n\n\nb", "away from the end");
    }

    #[test]
    fn an_empty_search_and_an_empty_change_are_refused() {
        assert_eq!(replace_exact(TEXT, "", "x", 1).unwrap_err(), EditError::NothingToFind);
        assert_eq!(replace_exact(TEXT, "a", "a", 1).unwrap_err(), EditError::SameText);
    }

    #[test]
    fn a_long_list_of_places_is_cut_and_says_so() {
        let text = "same\n".repeat(500);
        let error = words(replace_exact(&text, "same\n", "other\n", 1));
        assert!(error.contains("occurs 500 times") && error.contains("and 490 more"), "{error}");
    }

    proptest! {
        #[test]
        fn a_single_occurrence_is_replaced_in_place(head in "[a-y \n]{0,40}", tail in "[a-y \n]{0,40}", new in "[a-y]{1,9}") {
            let edited = replace_exact(&format!("{head}Z{tail}"), "Z", &new, 1).unwrap();
            prop_assert_eq!(edited, format!("{head}{new}{tail}"));
        }

        #[test]
        fn the_end_of_a_text_stays_as_it_is(text in "[ab\n]{1,12}", old in "[ab\n]{1,3}", new in "[ab\n]{0,3}") {
            if let Ok(edited) = replace_exact(&text, &old, &new, text.matches(&old).count()) {
                prop_assert!(edited.is_empty() || edited.ends_with('\n') == text.ends_with('\n'), "{edited:?}");
            }
        }

        #[test]
        fn any_request_is_answered(text in "[ab\\t \r\n\u{e9}]{0,60}", old in "[ab\\t \r\n\u{e9}]{0,6}", new in "[ab\n]{0,6}", count in 0usize..4) {
            if let Err(error) = replace_exact(&text, &old, &new, count) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}
