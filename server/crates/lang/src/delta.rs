//! The effect of edits on the problems of a text: those that came, and those that went.
//!
//! An edit moves lines, and a problem that only moved is no news. So lines are followed from the one text to the other,
//! and a problem is the same where its words are the same and its line is: the same line moved, a line of the same
//! change, or a line that says the same elsewhere.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::ops::Range;

use project::review::to_line_edits;
use protocol::lang::{LangDiagnostic, LangSeverity};

/// The problems of a text.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// The normal text.
    pub text: &'a str,
    /// Its problems, in any order.
    pub problems: &'a [LangDiagnostic],
}

/// The problems that came and those that went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// Problems of the text after, the worst first, then by their place.
    pub new: Vec<LangDiagnostic>,
    /// Problems of the text before, in the same order.
    pub gone: Vec<LangDiagnostic>,
}

impl Delta {
    /// The difference between the problems of two texts. What is there several times counts so often, but that one
    /// problem told twice in the same words and place is one.
    pub fn between(before: Told<'_>, after: Told<'_>) -> Self {
        let (gone, new) = (once(before.problems), once(after.problems));
        let moves = Moves::between(before.text, after.text);
        let (lines_before, lines_after): (Vec<&str>, Vec<&str>) =
            (before.text.lines().collect(), after.text.lines().collect());
        let mut pairs = Pairs { gone, new };
        pairs.take_same(
            |old| moves.line(line(old)).ok().map(|moved| (words(old), moved)),
            |now| Some((words(now), line(now))),
        );
        pairs.take_within(|old| moves.line(line(old)).err());
        pairs.take_same(
            |old| Some((words(old), said(&lines_before, old))),
            |now| Some((words(now), said(&lines_after, now))),
        );
        let owned = |problems: Vec<&LangDiagnostic>| problems.into_iter().cloned().collect();
        Self { new: owned(pairs.new), gone: owned(pairs.gone) }
    }

    /// Takes in the difference of other problems, such as another server's.
    pub fn extend(&mut self, other: Self) {
        for (all, more) in [(&mut self.new, other.new), (&mut self.gone, other.gone)] {
            all.extend(more);
            all.sort_by(|a, b| key(a).cmp(&key(b)));
        }
    }

    /// True if nothing came and nothing went.
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

fn line(problem: &LangDiagnostic) -> u32 {
    problem.range.start.line
}

/// The line that a problem is in.
fn said<'t>(lines: &[&'t str], problem: &LangDiagnostic) -> &'t str {
    let line = usize::try_from(line(problem)).ok().and_then(|line| lines.get(line).copied());
    line.unwrap_or_default().trim()
}

/// Each problem once, the worst first.
fn once(problems: &[LangDiagnostic]) -> Vec<&LangDiagnostic> {
    let mut sorted: Vec<_> = problems.iter().collect();
    sorted.sort_by(|a, b| key(a).cmp(&key(b)));
    sorted.dedup();
    sorted
}

type Key<'p> = (LangSeverity, protocol::content::Range, &'p str, Option<&'p str>, Option<&'p str>);

fn key(problem: &LangDiagnostic) -> Key<'_> {
    (problem.severity, problem.range, &problem.message, problem.source.as_deref(), problem.code.as_deref())
}

type Words<'p> = (LangSeverity, &'p str, Option<&'p str>, Option<&'p str>);

fn words(problem: &LangDiagnostic) -> Words<'_> {
    (problem.severity, &problem.message, problem.source.as_deref(), problem.code.as_deref())
}

/// The problems of both texts, less those that are in both. Both are sorted as [`once`] does it.
struct Pairs<'p> {
    gone: Vec<&'p LangDiagnostic>,
    new: Vec<&'p LangDiagnostic>,
}

impl<'p> Pairs<'p> {
    /// Takes out what has the same key, the first of each side with one another. What has none stays.
    fn take_same<K: Hash + Eq>(
        &mut self,
        key_before: impl Fn(&'p LangDiagnostic) -> Option<K>,
        key_after: impl Fn(&'p LangDiagnostic) -> Option<K>,
    ) {
        let mut by_key: HashMap<K, VecDeque<usize>> = HashMap::new();
        for (at, now) in self.new.iter().enumerate() {
            if let Some(key) = key_after(now) {
                by_key.entry(key).or_default().push_back(at);
            }
        }
        self.take(|old| by_key.get_mut(&key_before(old)?)?.pop_front());
    }

    /// Takes out what has the same words, and is now in one of the lines that came in place of the line that it was in.
    fn take_within(&mut self, came: impl Fn(&LangDiagnostic) -> Option<Range<u32>>) {
        let mut by_words: HashMap<Words<'_>, BTreeSet<(u32, usize)>> = HashMap::new();
        for (at, now) in self.new.iter().enumerate() {
            by_words.entry(words(now)).or_default().insert((line(now), at));
        }
        self.take(|old| {
            let lines = came(old)?;
            let places = by_words.get_mut(&words(old))?;
            let found = *places.range((lines.start, 0)..(lines.end, 0)).next()?;
            places.remove(&found);
            Some(found.1)
        });
    }

    /// Takes out each earlier problem for which another one is found, and that one, which is found only once.
    fn take(&mut self, mut find: impl FnMut(&'p LangDiagnostic) -> Option<usize>) {
        let mut found = HashSet::new();
        self.gone.retain(|old| find(old).is_none_or(|at| !found.insert(at)));
        let mut at = 0..;
        self.new.retain(|_| at.next().is_none_or(|at| !found.contains(&at)));
    }
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
        let before = self.0.partition_point(|(old, _)| old.start <= line);
        match before.checked_sub(1).and_then(|last| self.0.get(last)) {
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
    use spent::Spent;

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

    #[test]
    fn thousands_of_problems_are_compared_in_a_moment() {
        let text = |of: &str| (0..5_000).map(|line| format!("{of} {line}\n")).collect::<String>();
        let all = |of: &str| (0..5_000).map(|line| error(line, &format!("{of} {}", line % 7))).collect::<Vec<_>>();
        let began = Spent::start();
        let (new, gone) = delta((&text("old"), &all("wrong")), (&text("new"), &all("worse")));
        assert_eq!((new.len(), gone.len()), (5_000, 5_000));
        let (new, gone) = delta((&text("old"), &all("wrong")), (&text("new"), &all("wrong")));
        assert_eq!((new.len(), gone.len()), (0, 0));
        // Each with each would be millions of comparisons, and minutes.
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }

    #[test]
    fn what_another_server_said_is_sorted_in() {
        let of = |problems: &[LangDiagnostic]| {
            Delta::between(Told { text: "", problems: &[] }, Told { text: "a\nb\n", problems })
        };
        let mut delta = of(&[error(1, "late"), problem(0, LangSeverity::Warning, "w")]);
        delta.extend(of(&[error(0, "early")]));
        assert_eq!(delta.new.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(), ["early", "late", "w"]);
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
