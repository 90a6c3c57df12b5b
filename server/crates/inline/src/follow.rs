//! The consequences of the user's last edit, as far as the text shows them: the other uses of a name that was changed
//! in one position, and the lines that are like one that was changed.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use code::syntax::{Language, Outline, Parsed, Scope, Symbol, SymbolKind};
use ports::complete::Edited;

use crate::rebase::Hunk;
use crate::splice::between;

/// The most uses of a name that are renamed at once. Nobody decides more one by one.
const MOST_USES: usize = 50;
/// The shortest name that is renamed, in bytes. Shorter ones mean many things.
const SHORTEST: usize = 2;
/// The largest text in which names are looked for, in bytes, since it has to be parsed.
const LARGEST: usize = 256 << 10;
/// The most edits in which a declaration is looked for.
const MOST_EDITS: usize = 5;
/// The least likeness of a line to one before it was changed, in common words of all words of both.
const LIKE: f32 = 0.6;
/// The fewest words of a line that is compared.
const FEWEST_WORDS: usize = 3;
/// So many lines that an edit rewrites need a reason. Fewer are soon read, and often a slip that the model has seen.
const REWRITTEN: usize = 2;
/// So many lines from an edit, a rewritten line is most likely its consequence.
const NEAR: usize = 10;

/// A name that the user changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// The name before.
    pub old: String,
    /// The name now.
    pub new: String,
    /// The other uses, in order.
    pub hunks: Vec<Hunk>,
}

/// The other uses of a name that the user's last edit changed, if it did no more than that, to a name that is new in
/// the text. In a function, only its own uses count.
///
/// The edits are those of the text's document, the newest last, as [`crate::journal::Journal::edited`] has them.
/// Several of the same line are one, since people pause while they type a name. Comments and texts in quotes stay as
/// they are.
pub fn rename(path: &Path, text: &str, edits: &[Edited]) -> Option<Renamed> {
    if text.len() > LARGEST {
        return None;
    }
    let last = edits.last()?;
    let of_line = edits.iter().rev().take_while(|edit| edit.line == last.line && is_one_line(edit));
    let before = &of_line.last()?.before;
    let (old, new) = changed_name(before, &last.after)?;
    let language = Language::of_text(path, text)?;
    let edited = lines(text, last.line, last.after.lines().count())?;
    // A name that was there before means something else already.
    let there = words(text, &new).count();
    let edited_text = text.get(edited.clone())?;
    if there == 0 || there != words(edited_text, &new).count() || words(edited_text, &old).next().is_some() {
        return None;
    }
    let parsed = Parsed::new(language, text).ok()?;
    let position = edited.start + words(edited_text, &new).next()?;
    let range = scope_of(&parsed, position, &new).unwrap_or(0..text.len());
    let uses = words(text, &old)
        .filter(|at| range.contains(at) && !edited.contains(at))
        .filter(|at| parsed.scope(at + 1) == Scope::Code);
    let hunks: Vec<_> = uses.take(MOST_USES + 1).map(|at| Hunk::new(at..at + old.len(), new.as_str())).collect();
    ((1..=MOST_USES).contains(&hunks.len())).then_some(Renamed { old, new, hunks })
}

/// The lines outside a range that are like the last edit's were before it, the most alike first: offsets of their first
/// characters that are no space. At such a line the same edit may be due.
pub fn alike(text: &str, outside: &Range<usize>, edits: &[Edited]) -> Vec<usize> {
    let Some(last) = edits.last() else { return Vec::new() };
    let wanted = last.before.lines().map(word_set).max_by_key(HashSet::len).unwrap_or_default();
    if wanted.len() < FEWEST_WORDS {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start + (line.len() - line.trim_start().len());
        start += line.len();
        if outside.contains(&at) || line.len() > 1000 {
            continue;
        }
        let likeness = likeness(&wanted, &word_set(line));
        if likeness >= LIKE {
            found.push((likeness, at));
        }
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    found.into_iter().map(|(_, at)| at).collect()
}

/// The beginning of the name that was declared by the newest edit that declares one, such as a function whose
/// parameters were changed. Its uses may need a change, too. A name that is new is not one: nobody uses it yet.
///
/// The edits are those of the text's document, the newest last, as [`crate::journal::Journal::edited`] has them.
pub fn declared(path: &Path, text: &str, edits: &[Edited]) -> Option<usize> {
    if text.len() > LARGEST {
        return None;
    }
    let parsed = Parsed::new(Language::of_text(path, text)?, text).ok()?;
    let outline = Outline::new(&parsed);
    edits.iter().rev().take(MOST_EDITS).find_map(|edit| {
        let edited = lines(text, edit.line, edit.after.lines().count())?;
        let is_same = text.get(edited.clone())?.trim_end() == edit.after.trim_end();
        let declares = |symbol: &&Symbol| {
            let is_known = || words(&edit.before, symbol.own_name()).next().is_some();
            edited.contains(&symbol.selection.start) && is_known() || is_among_parameters(text, symbol, &edited)
        };
        let symbol = outline.symbols.iter().find(declares).filter(|_| is_same)?;
        Some(symbol.selection.start)
    })
}

/// True if some lines are in a list of parameters of a symbol that began on a line before them.
fn is_among_parameters(text: &str, symbol: &Symbol, lines: &Range<usize>) -> bool {
    let list = text.get(symbol.selection.end..lines.start).filter(|_| symbol.range.contains(&lines.start));
    let count = |list: &str, bracket| list.matches(bracket).count();
    list.is_some_and(|list| list.trim_start().starts_with(['(', '<']) && count(list, '(') > count(list, ')'))
}

/// The name before and after, if nothing but one name differs.
fn changed_name(before: &str, after: &str) -> Option<(String, String)> {
    let change = between(before, after)?;
    let start = before.get(..change.range.start)?.trim_end_matches(is_of_name).len();
    let tail = before.get(change.range.end..)?;
    let tail = tail.len() - tail.trim_start_matches(is_of_name).len();
    let old = before.get(start..change.range.end + tail)?;
    let new = after.get(start..change.range.start + change.text.len() + tail)?;
    let is_name = |name: &str| {
        name.len() >= SHORTEST && name.chars().all(is_of_name) && !name.starts_with(|c: char| c.is_ascii_digit())
    };
    (is_name(old) && is_name(new)).then(|| (old.to_owned(), new.to_owned()))
}

/// The function that a position is in, if the name is not the function's own.
fn scope_of(parsed: &Parsed, position: usize, name: &str) -> Option<Range<usize>> {
    let outline = Outline::new(parsed);
    let around = outline.symbols.iter().filter(|symbol| symbol.range.contains(&position));
    let is_function = |kind: SymbolKind| matches!(kind, SymbolKind::Function | SymbolKind::Method);
    let inner = around.filter(|symbol| is_function(symbol.kind)).min_by_key(|symbol| symbol.range.len())?;
    (inner.own_name() != name || !inner.selection.contains(&position)).then(|| inner.range.clone())
}

/// Where a name stands as a whole word.
fn words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name)
    })
}

/// True if an edit rewrites several lines of a text far from the user's last edits of it, and neither they nor the new
/// ones have a name in common with the user's last edits of any document: it follows from none of them. `edits` are
/// those of all documents, `own` those of the text's.
pub fn is_unrelated(text: &str, hunks: &[Hunk], edits: &[Edited], own: &[Edited]) -> bool {
    // Rows of data have names of their own, or none, and what is done to one is done to the next.
    let line_of = |at: usize| text.get(..at).unwrap_or_default().matches('\n').count();
    let is_near = |hunk: &Hunk| {
        let (first, last) = (line_of(hunk.range.start), line_of(hunk.range.end));
        own.iter().any(|edit| first <= edit.line + edit.after.lines().count() + NEAR && edit.line <= last + NEAR)
    };
    if hunks.iter().any(is_near) {
        return false;
    }
    // A hunk may be a part of a line, of which the rest says what it is about.
    let whole_lines = |range: &Range<usize>| {
        let start = text.get(..range.start)?.rfind('\n').map_or(0, |newline| newline + 1);
        // A range that ends with its line has all of it.
        let last = text.floor_char_boundary(range.end.saturating_sub(1)).max(range.start);
        let end = text.get(last..)?.find('\n').map_or(text.len(), |newline| last + newline);
        text.get(start..end)
    };
    let is_rewriting = |hunk: &&Hunk| !text.get(hunk.range.clone()).unwrap_or_default().trim().is_empty();
    let removed = || hunks.iter().filter(is_rewriting).filter_map(|hunk| whole_lines(&hunk.range));
    if removed().flat_map(str::lines).filter(|line| !line.trim().is_empty()).count() < REWRITTEN {
        return false;
    }
    let of_edits = names(edits.iter().flat_map(|edit| [edit.before.as_str(), &edit.after]));
    let changed = names(removed().chain(hunks.iter().map(|hunk| hunk.text.as_str())));
    changed.is_disjoint(&of_edits)
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_one_line(edit: &Edited) -> bool {
    edit.before.lines().count() <= 1 && edit.after.lines().count() <= 1
}

/// The bytes of so many lines from a line on.
fn lines(text: &str, first: usize, count: usize) -> Option<Range<usize>> {
    let start = match first {
        0 => 0,
        _ => text.match_indices('\n').nth(first - 1)?.0 + 1,
    };
    let rest = text.get(start..)?;
    let end = rest.match_indices('\n').nth(count.max(1) - 1).map_or(text.len(), |(at, _)| start + at);
    Some(start..end)
}

fn word_set(line: &str) -> HashSet<&str> {
    line.split(|c: char| !is_of_name(c)).filter(|word| !word.is_empty()).collect()
}

/// The words of texts but for the numbers, which mean nothing alone.
fn names<'t>(texts: impl Iterator<Item = &'t str>) -> HashSet<&'t str> {
    texts.flat_map(word_set).filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect()
}

fn likeness(one: &HashSet<&str>, other: &HashSet<&str>) -> f32 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f32 / all as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "\
struct Point {
    x: i32,
}

fn total(values: &[i32]) -> i32 {
    let mut sum = 0;
    for value in values {
        sum += value; // the sum so far
    }
    sum
}

fn other() -> i32 {
    let sum = 1;
    sum
}
";

    fn edited(line: usize, before: &str, after: &str) -> Edited {
        Edited { path: "a.rs".into(), line, before: before.into(), after: after.into() }
    }

    #[test]
    fn lines_that_have_nothing_to_do_with_what_was_edited_are_not_rewritten() {
        let rewritten = |start: &str, end: &str, new: &str| {
            let range = RUST.find(start).unwrap()..RUST.find(end).unwrap();
            [Hunk::new(range, new)]
        };
        let several = rewritten("    for value", "    sum\n}", "    sum = values.iter().sum();\n");
        let is_unrelated = |text: &str, hunks: &[Hunk], edits: &[Edited]| is_unrelated(text, hunks, edits, &[]);
        assert!(is_unrelated(RUST, &several, &[]));
        assert!(is_unrelated(RUST, &several, &[edited(1, "    x: i32,\n", "    x: i64,\n")]));
        assert!(!is_unrelated(RUST, &several, &[edited(5, "    let mut sum = 0;\n", "    let mut sum = 0_i32;\n")]));
        let parts = ["x: i32", "sum = 0"].map(|part| {
            let end = RUST.find(part).unwrap() + part.len();
            Hunk::new(end - 1..end, "9")
        });
        assert!(
            !is_unrelated(RUST, &parts, &[edited(9, "    sum\n", "    sum + 1\n")]),
            "a line says what its part is"
        );
        let one = rewritten("    x: i32", "}\n\nfn total", "    x: i64,\n");
        assert!(!is_unrelated(RUST, &one, &[]), "a line is soon read");
        let added = [Hunk::new(RUST.len()..RUST.len(), "\nfn third() {\n    other();\n}\n")];
        assert!(!is_unrelated(RUST, &added, &[]), "nothing is rewritten");
    }

    #[test]
    fn the_same_is_done_to_rows_of_data_near_the_one_that_was_edited_whatever_they_name() {
        for rows in [["(1, 2),", "[3, 4],", "[5, 6],"], ["\"a\": \"1\",", "\"b\": 2,", "\"c\": 3,"]] {
            let text = format!("{}\n{}\n{}\n{}", rows[0], rows[1], rows[2], "\n".repeat(40));
            let start = rows[0].len() + 1;
            let hunks = [Hunk::new(start..start + rows[1].len() + 1 + rows[2].len(), "x\ny")];
            let at = |line| [edited(line, "before\n", "after\n")];
            assert!(!is_unrelated(&text, &hunks, &at(0), &at(0)));
            assert!(is_unrelated(&text, &hunks, &at(30), &at(30)), "far from it, it follows from nothing");
        }
    }

    #[test]
    fn the_newest_edit_of_a_declaration_counts_unless_the_name_is_new_or_the_text_is_another_one() {
        let declared = |edits: &[Edited]| {
            let at = declared(Path::new("a.rs"), RUST, edits)?;
            RUST.get(at..)?.split(|c| !is_of_name(c)).next()
        };
        let total = edited(4, "fn total() -> i32 {\n", "fn total(values: &[i32]) -> i32 {\n");
        let body = edited(9, "    sum + 1\n", "    sum\n");
        assert_eq!(declared(std::slice::from_ref(&total)), Some("total"));
        assert_eq!(declared(&[total.clone(), body.clone()]), Some("total"), "the body was mended after it");
        let other = edited(12, "fn other() -> i64 {\n", "fn other() -> i32 {\n");
        assert_eq!(declared(&[total, other]), Some("other"));
        let broken = "fn area(\n    width: u32,\n    height: u32,\n) -> u32 {\n    width\n}\n";
        let of_broken = |line, after| super::declared(Path::new("a.rs"), broken, &[edited(line, "", after)]);
        assert_eq!(of_broken(2, "    height: u32,\n"), Some(3), "its parameters have a line each");
        assert_eq!(of_broken(4, "    width\n"), None);
        assert_eq!(declared(&[body]), None);
        assert_eq!(declared(&[edited(12, "", "fn other() -> i32 {\n")]), None, "nobody uses it yet");
        assert_eq!(declared(&[edited(3, "fn total() {\n", "fn total(a: i32) {\n")]), None, "it stands elsewhere");
    }

    fn renamed(text: &str, edits: &[Edited]) -> Option<(Renamed, String)> {
        let renamed = rename(Path::new("a.rs"), text, edits)?;
        let new = crate::rebase::accept(&renamed.hunks, text).unwrap();
        Some((renamed, new))
    }

    #[test]
    fn a_name_that_is_changed_where_it_is_declared_is_to_be_changed_in_its_function() {
        let text = RUST.replacen("let mut sum", "let mut total_sum", 1);
        let edits = [edited(5, "    let mut sum = 0;\n", "    let mut total_sum = 0;\n")];
        let (found, new) = renamed(&text, &edits).unwrap();
        assert_eq!((found.old.as_str(), found.new.as_str(), found.hunks.len()), ("sum", "total_sum", 2));
        assert!(new.contains("        total_sum += value; // the sum so far\n"), "comments stay: {new}");
        assert!(new.contains("let sum = 1;\n    sum\n"), "another function's name stays: {new}");
    }

    #[test]
    fn a_function_is_renamed_wherever_it_is_used() {
        let text = "fn sum_of(a: i32) -> i32 {\n    a\n}\n\nfn main() {\n    add(add(1));\n}\n";
        let (_, new) =
            renamed(text, &[edited(0, "fn add(a: i32) -> i32 {\n", "fn sum_of(a: i32) -> i32 {\n")]).unwrap();
        assert!(new.ends_with("    sum_of(sum_of(1));\n}\n"), "{new}");
    }

    #[test]
    fn a_name_that_is_typed_with_pauses_is_one() {
        let text = RUST.replacen("let mut sum", "let mut total_sum", 1);
        let edits = [
            edited(5, "    let mut sum = 0;\n", "    let mut to = 0;\n"),
            edited(5, "    let mut to = 0;\n", "    let mut total_sum = 0;\n"),
        ];
        assert_eq!(renamed(&text, &edits).unwrap().0.hunks.len(), 2);
    }

    #[test]
    fn nothing_is_renamed_to_a_name_that_means_something_already_nor_after_any_other_edit() {
        let text = RUST.replacen("let mut sum", "let mut value", 1);
        assert!(renamed(&text, &[edited(5, "    let mut sum = 0;\n", "    let mut value = 0;\n")]).is_none());
        let text = RUST.replacen("= 0;", "= 10;", 1);
        assert!(renamed(&text, &[edited(5, "    let mut sum = 0;\n", "    let mut sum = 10;\n")]).is_none());
        let text = RUST.replacen("let mut sum = 0;", "let mut all = zero();", 1);
        let edits = [edited(5, "    let mut sum = 0;\n", "    let mut all = zero();\n")];
        assert!(renamed(&text, &edits).is_none(), "more than a name has changed");
        assert!(renamed("", &[]).is_none());
    }

    #[test]
    fn lines_that_are_like_one_before_its_change_are_found_the_most_alike_first() {
        let text = "log(user, name, 1);\nlog(user, name);\n  log(other, name);\nreturn;\nlog(user, name);\n";
        let edits = [edited(0, "log(user, name);\n", "log(user, name, 1);\n")];
        let found: Vec<_> =
            alike(text, &(0..36), &edits).iter().map(|at| text[*at..].lines().next().unwrap()).collect();
        assert_eq!(found, ["log(user, name);"]);
        assert!(alike(text, &(0..0), &[edited(3, "x;\n", "return;\n")]).is_empty(), "too short to be alike");
    }
}
