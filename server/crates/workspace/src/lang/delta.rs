//! What edits did to the problems of a text: those that came, and those that went.
//!
//! An edit moves lines, and a problem that only moved is no news. So lines are followed from the one text to the other, and a
//! problem is the same where its words are the same and its line is: the same line moved, a line of the same change, or a
//! line that says the same elsewhere.

use std::ops::Range;

use protocol::lang::{LangDiagnostic, LangSeverity};

use crate::review::to_line_edits;

/// The problems of a text.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The normal text.
    pub text: &'a str,
    /// Its problems, in any order.
    pub problems: &'a [LangDiagnostic],
}

/// What came and what went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Problems of the text after, the worst first, then by their place.
    pub new: Vec<LangDiagnostic>,
    /// Problems of the text before, in the same order.
    pub gone: Vec<LangDiagnostic>,
}

impl Delta {
    /// The difference between the problems of two texts. What is there several times counts so often, but that one problem told
    /// twice in the same words and place is one.
    pub fn between(before: Told<'_>, after: Told<'_>) -> Self {
        let (mut gone, mut new) = (once(before.problems), once(after.problems));
        let moves = Moves::between(before.text, after.text);
        let (lines_before, lines_after): (Vec<&str>, Vec<&str>) =
            (before.text.lines().collect(), after.text.lines().collect());
        let line = |problem: &LangDiagnostic| problem.range.start.line;
        let said = |lines: &[&str], problem: &LangDiagnostic| {
            let line = usize::try_from(line(problem)).ok().and_then(|line| lines.get(line).copied());
            line.unwrap_or_default().trim().to_owned()
        };
        pair(&mut gone, &mut new, |old, now| moves.line(line(old)) == Ok(line(now)));
        pair(&mut gone, &mut new, |old, now| match moves.line(line(old)) {
            Err(changed) => changed.contains(&line(now)),
            Ok(_) => false,
        });
        pair(&mut gone, &mut new, |old, now| said(&lines_before, old) == said(&lines_after, now));
        Self { new, gone }
    }

    /// Whether nothing came and nothing went.
    pub fn is_empty(&self) -> bool {
        self.new.is_empty() && self.gone.is_empty()
    }
}

/// The line of a text in another one, if it is there.
pub fn line_in(line: u32, from: &str, to: &str) -> Option<u32> {
    Moves::between(from, to).line(line).ok()
}

/// How many problems there are of each severity, in words, the worst first: `1 error, 2 warnings`.
pub fn counted<'p>(problems: impl IntoIterator<Item = &'p LangDiagnostic>) -> String {
    let mut counts = [0_usize; 4];
    for problem in problems {
        let [errors, warnings, remarks, hints] = &mut counts;
        *match problem.severity {
            LangSeverity::Error => errors,
            LangSeverity::Warning => warnings,
            LangSeverity::Information => remarks,
            LangSeverity::Hint => hints,
        } += 1;
    }
    let words = counts.iter().zip(["error", "warning", "remark", "hint"]).filter(|(count, _)| **count > 0);
    let words = words.map(|(count, what)| format!("{count} {what}{}", if *count == 1 { "" } else { "s" }));
    words.collect::<Vec<_>>().join(", ")
}

/// Each problem once, the worst first.
fn once(problems: &[LangDiagnostic]) -> Vec<LangDiagnostic> {
    let mut sorted = problems.to_vec();
    sorted.sort_by(|a, b| key(a).cmp(&key(b)));
    sorted.dedup();
    sorted
}

type Key<'p> = (LangSeverity, protocol::content::Range, &'p str, Option<&'p str>, Option<&'p str>);

fn key(problem: &LangDiagnostic) -> Key<'_> {
    (problem.severity, problem.range, &problem.message, problem.source.as_deref(), problem.code.as_deref())
}

/// Takes out of both lists what is in both, by the same words and this rule about places.
fn pair(
    gone: &mut Vec<LangDiagnostic>,
    new: &mut Vec<LangDiagnostic>,
    is_same_place: impl Fn(&LangDiagnostic, &LangDiagnostic) -> bool,
) {
    gone.retain(|old| {
        let is_it = |now: &LangDiagnostic| has_same_words(old, now) && is_same_place(old, now);
        match new.iter().position(is_it) {
            Some(at) => {
                new.remove(at);
                false
            }
            None => true,
        }
    });
}

fn has_same_words(one: &LangDiagnostic, other: &LangDiagnostic) -> bool {
    let words = |problem: &LangDiagnostic| {
        let LangDiagnostic { severity, message, source, code, range: _ } = problem.clone();
        (severity, message, source, code)
    };
    words(one) == words(other)
}

/// How lines moved between two texts.
struct Moves(Vec<(Range<u32>, Range<u32>)>);

impl Moves {
    fn between(before: &str, after: &str) -> Self {
        let number = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        let (mut added, mut removed) = (0_u32, 0_u32);
        let edits = to_line_edits(before, after);
        let changes = edits.iter().map(|edit| {
            let old = number(edit.start_line)..number(edit.end_line);
            let lines = number(edit.new_text.lines().count());
            let start = (old.start + added).saturating_sub(removed);
            added += lines;
            removed += old.end - old.start;
            (old, start..start + lines)
        });
        Self(changes.collect())
    }

    /// Where a line went; or for one that was changed, the lines that came in its place.
    fn line(&self, line: u32) -> Result<u32, Range<u32>> {
        let before = self.0.iter().take_while(|(old, _)| old.start <= line);
        match before.last() {
            None => Ok(line),
            Some((old, now)) if old.contains(&line) => Err(now.clone()),
            Some((old, now)) => Ok(now.end + (line - old.end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::content::{Position, Range};

    use super::*;

    fn problem(line: u32, severity: LangSeverity, message: &str) -> LangDiagnostic {
        let at = |character| Position { line, character };
        LangDiagnostic {
            range: Range { start: at(0), end: at(1) },
            severity,
            message: message.to_owned(),
            source: Some("test".to_owned()),
            code: None,
        }
    }

    fn error(line: u32, message: &str) -> LangDiagnostic {
        problem(line, LangSeverity::Error, message)
    }

    fn delta(before: (&str, &[LangDiagnostic]), after: (&str, &[LangDiagnostic])) -> (Vec<String>, Vec<String>) {
        let told = |(text, problems)| Told { text, problems };
        let Delta { new, gone } = Delta::between(told(before), told(after));
        let words = |problems: Vec<LangDiagnostic>| {
            problems.iter().map(|one| format!("{}:{}", one.range.start.line, one.message)).collect()
        };
        (words(new), words(gone))
    }

    #[test]
    fn a_problem_that_only_moved_with_its_line_is_no_news() {
        let before = ("a\nb\nc\n", [error(1, "wrong"), error(2, "worse")]);
        let after = ("new\nnewer\na\nb\nc\n", [error(3, "wrong"), error(4, "worse")]);
        assert_eq!(delta((before.0, &before.1), (after.0, &after.1)), (vec![], vec![]));
        // A function that moved below another one.
        let (before, after) = ("one\nmoved\ntwo\nthree\nfour\n", "one\ntwo\nthree\nfour\nmoved\n");
        assert_eq!(delta((before, &[error(1, "x")]), (after, &[error(4, "x")])), (vec![], vec![]));
    }

    #[test]
    fn a_problem_of_a_line_that_was_changed_and_still_has_it_is_the_same() {
        let (before, after) = ("a\ncall(x)\nb\n", "a\nlet y = 1\ncall(x, 1)\nb\n");
        assert_eq!(delta((before, &[error(1, "no `call`")]), (after, &[error(2, "no `call`")])), (vec![], vec![]));
    }

    #[test]
    fn what_came_and_what_went_is_told_even_in_the_same_line() {
        let (before, after) = ("a\ncall(x)\n", "a\ncall(y)\n");
        let expected = (vec!["1:no y".to_owned()], vec!["1:no x".to_owned()]);
        assert_eq!(delta((before, &[error(1, "no x")]), (after, &[error(1, "no y")])), expected);
        let worse = [error(1, "no x")];
        let milder = [problem(1, LangSeverity::Warning, "no x")];
        let (new, gone) = delta((before, &milder), (before, &worse));
        assert_eq!((new.len(), gone.len()), (1, 1), "an error is not the warning that it was");
    }

    #[test]
    fn the_same_problem_in_another_line_is_another_one() {
        let text = "a\nb\nc\n";
        let one = [error(0, "unknown")];
        let two = [error(0, "unknown"), error(2, "unknown")];
        assert_eq!(delta((text, &one), (text, &two)), (vec!["2:unknown".to_owned()], vec![]));
        assert_eq!(delta((text, &two), (text, &one)), (vec![], vec!["2:unknown".to_owned()]));
        let told_twice = [error(0, "unknown"), error(0, "unknown")];
        assert_eq!(delta((text, &one), (text, &told_twice)), (vec![], vec![]));
    }

    #[test]
    fn the_worst_comes_first() {
        let found = [problem(0, LangSeverity::Warning, "w"), error(2, "late"), error(1, "early")];
        let (new, _) = delta(("a\nb\nc\n", &[]), ("a\nb\nc\n", &found));
        assert_eq!(new, ["1:early", "2:late", "0:w"]);
        assert_eq!(counted(&found), "2 errors, 1 warning");
    }

    fn problems(lines: u32) -> impl Strategy<Value = Vec<LangDiagnostic>> {
        let severity = prop_oneof![Just(LangSeverity::Error), Just(LangSeverity::Warning)];
        let one = (0..lines, severity, "[ab]").prop_map(|(line, severity, message)| problem(line, severity, &message));
        prop::collection::vec(one, 0..8)
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec("[abc]", 6..12).prop_map(|lines| lines.join("\n") + "\n")
    }

    proptest! {
        #[test]
        fn what_came_less_what_went_is_what_there_is_more(
            (before, after, old, now) in (text(), text(), problems(6), problems(6)),
        ) {
            let delta = Delta::between(Told { text: &before, problems: &old }, Told { text: &after, problems: &now });
            prop_assert_eq!(delta.new.len() + once(&old).len(), delta.gone.len() + once(&now).len());
            prop_assert!(delta.new.iter().all(|problem| now.contains(problem)));
            prop_assert!(delta.gone.iter().all(|problem| old.contains(problem)));
        }

        #[test]
        fn lines_that_come_between_others_make_no_news(
            (lines, at, more, found) in (6..12_usize, 0..6_usize, 1..4_u32, problems(6)),
        ) {
            // Every line is another one, as in real texts where it matters.
            let mut all: Vec<_> = (0..lines).map(|line| format!("line {line}")).collect();
            let before = all.join("\n");
            (0..more).for_each(|one| all.insert(at, format!("new {one}")));
            let after = all.join("\n");
            let shift = |line: u32| if usize::try_from(line).unwrap() < at { line } else { line + more };
            let moved = found.iter().map(|one| problem(shift(one.range.start.line), one.severity, &one.message));
            let moved: Vec<_> = moved.collect();
            let delta = Delta::between(Told { text: &before, problems: &found }, Told { text: &after, problems: &moved });
            prop_assert!(delta.is_empty(), "{:?}", delta);
        }
    }
}
