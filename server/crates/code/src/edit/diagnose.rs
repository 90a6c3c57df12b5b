//! Why a text was not found, and what comes nearest to it.
//!
//! The work is bounded: lines of more than 500 characters are skipped, at most 5000 candidate lines are compared
//! letter by letter, and what was left out is said.

use std::fmt;

use super::preview;

/// Lines longer than this many characters are not compared.
const LONGEST_LINE: usize = 500;
/// At most this many lines are compared letter by letter; of more, an even sample.
const MOST_COMPARED: usize = 5000;
/// The least likeness of two lines that are called near: one minus edits per letter.
const LEAST_ALIKE: f64 = 0.6;
/// How many near places are told.
const MOST_NEAR: usize = 3;
/// How many pairs of lines the search under changed whitespace compares before it gives up.
const MOST_PAIRS: usize = 5_000_000;

/// The findings about a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Differences in white space that alone keep the text from being found.
    pub whitespace: Vec<WhitespaceIssue>,
    /// The places that come nearest, the nearest first.
    pub near: Vec<NearMatch>,
    /// True if only a part of the lines was compared.
    pub sampled: bool,
}

/// A difference in white space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhitespaceIssue {
    /// The kind of difference.
    pub kind: WhitespaceKind,
    /// The line where the text would be found without it, from 1.
    pub line: usize,
}

/// The kind of a difference in white space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhitespaceKind {
    /// The file is indented with tabs, the text with spaces.
    TabsInFile,
    /// The file is indented with spaces, the text with tabs.
    SpacesInFile,
    /// The indentation differs in depth.
    Indentation,
    /// Space at the end of lines.
    Trailing,
    /// Indentation, and space at the end of lines.
    Both,
    /// Line breaks at the beginning or end of the text.
    BlankEnds,
    /// The text has a backslash and an n where the file has line breaks.
    EscapedLineBreaks,
}

/// A place that comes near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearMatch {
    /// The line that the text's first line comes near to, from 1.
    pub line: usize,
    /// That line, shortened.
    pub preview: String,
    /// The first difference; none if only white space at the ends of lines differs.
    pub difference: Option<Difference>,
}

/// The first difference between the text and the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line in the file, from 1.
    pub line: usize,
    /// The column in that line, in characters, from 1.
    pub column: usize,
    /// The file's character there; none at the end of the line.
    pub in_file: Option<char>,
    /// The text's character there; none at the end of the line.
    pub in_text: Option<char>,
}

/// Finds out why `old` is not in `text`. Both have LF line ends.
pub(super) fn diagnose(text: &str, old: &str) -> Diagnosis {
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.lines().collect();
    let whitespace = whitespace(text, &lines, old, &wanted);
    let (near, sampled) = near(&lines, &wanted);
    Diagnosis { whitespace, near, sampled }
}

impl Diagnosis {
    /// Lists the findings, in whole lines that call the text by this name.
    pub(super) fn details(&self, name: &str) -> String {
        let mut lines = Vec::new();
        if !self.whitespace.is_empty() {
            lines.push("Possible whitespace issues:".to_owned());
            lines.extend(self.whitespace.iter().map(|issue| format!("- {}", issue.in_words(name))));
        }
        if !self.near.is_empty() {
            lines.push("Near matches:".to_owned());
            lines.extend(self.near.iter().map(|near| format!("- {}", near.in_words(name))));
        }
        if self.sampled {
            lines.push("(The file is large; only a part of its lines was compared.)".to_owned());
        }
        lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "old_text was not found in the file. Nothing was changed.")?;
        write!(f, "{}", self.details("old_text"))?;
        let place = self.whitespace.first().map(|issue| issue.line).or(self.near.first().map(|near| near.line));
        match place {
            Some(line) => write!(
                f,
                "Read the file around line {line} with read_file and copy old_text from it exactly, without line numbers."
            ),
            None => write!(
                f,
                "No line of the file comes near. Find the place with search_text, read it with read_file, and copy \
                 old_text from it exactly."
            ),
        }
    }
}

impl WhitespaceIssue {
    fn in_words(&self, name: &str) -> String {
        let what = match self.kind {
            WhitespaceKind::TabsInFile => format!("the file is indented with tabs, {name} with spaces"),
            WhitespaceKind::SpacesInFile => format!("the file is indented with spaces, {name} with tabs"),
            WhitespaceKind::Indentation => "the indentation differs".to_owned(),
            WhitespaceKind::Trailing => "white space at the end of lines differs".to_owned(),
            WhitespaceKind::Both => "indentation and white space at the end of lines differ".to_owned(),
            WhitespaceKind::BlankEnds => {
                format!("{name} begins or ends with line breaks that the file does not have there")
            }
            WhitespaceKind::EscapedLineBreaks => {
                format!("{name} has a backslash and an n where the file has line breaks")
            }
        };
        format!("line {}: {what}", self.line)
    }
}

impl NearMatch {
    /// The place and the first difference, for which the text is called by this name.
    pub(super) fn in_words(&self, name: &str) -> String {
        let place = format!("line {}: {}", self.line, self.preview);
        let Some(difference) = &self.difference else { return place };
        let character = |c: Option<char>| match c {
            None => "the end of the line".to_owned(),
            Some('\t') => "a tab".to_owned(),
            Some(' ') => "a space".to_owned(),
            Some(c) if c.is_control() || c.is_whitespace() => format!("the character U+{:04X}", u32::from(c)),
            Some(c) => format!("'{c}'"),
        };
        format!(
            "{place} (first difference at line {}, column {}: the file has {}, {name} has {})",
            difference.line,
            difference.column,
            character(difference.in_file),
            character(difference.in_text)
        )
    }
}

/// Looks for the text once more with each kind of white space made equal.
fn whitespace(text: &str, lines: &[&str], old: &str, wanted: &[&str]) -> Vec<WhitespaceIssue> {
    let mut issues = Vec::new();
    let line_of = |offset: usize| text.get(..offset).unwrap_or_default().matches('\n').count() + 1;
    if let Some(at) = find(lines, wanted, str::trim_start) {
        issues.push(WhitespaceIssue { kind: indentation(lines, wanted, at), line: at + 1 });
    }
    if let Some(at) = find(lines, wanted, str::trim_end) {
        issues.push(WhitespaceIssue { kind: WhitespaceKind::Trailing, line: at + 1 });
    }
    if issues.is_empty()
        && let Some(at) = find(lines, wanted, str::trim)
    {
        issues.push(WhitespaceIssue { kind: WhitespaceKind::Both, line: at + 1 });
    }
    let trimmed = old.trim_matches('\n');
    if trimmed != old
        && !trimmed.is_empty()
        && let Some(offset) = text.find(trimmed)
    {
        issues.push(WhitespaceIssue { kind: WhitespaceKind::BlankEnds, line: line_of(offset) });
    }
    if old.contains("\\n")
        && let Some(offset) = text.find(&old.replace("\\n", "\n"))
    {
        issues.push(WhitespaceIssue { kind: WhitespaceKind::EscapedLineBreaks, line: line_of(offset) });
    }
    issues
}

/// The first line from which all wanted lines follow, when `normal` has been applied to both. The first wanted line may
/// begin inside a line, and the last may end inside one.
fn find(lines: &[&str], wanted: &[&str], normal: fn(&str) -> &str) -> Option<usize> {
    let wanted: Vec<&str> = wanted.iter().map(|line| normal(line)).collect();
    if wanted.is_empty() || wanted.iter().all(|line| line.is_empty()) {
        return None;
    }
    let last = wanted.len() - 1;
    let mut pairs = 0;
    for (at, window) in lines.windows(wanted.len()).enumerate() {
        let fits = window.iter().zip(&wanted).enumerate().all(|(i, (line, wanted))| {
            pairs += 1;
            let line = normal(line);
            match (i == 0, i == last) {
                (true, true) => line.contains(wanted),
                (true, false) => line.ends_with(wanted),
                (false, true) => line.starts_with(wanted),
                (false, false) => line == *wanted,
            }
        });
        if fits {
            return Some(at);
        }
        if pairs > MOST_PAIRS {
            return None;
        }
    }
    None
}

/// Returns the difference in indentation between the file from line `at` and the text.
fn indentation(lines: &[&str], wanted: &[&str], at: usize) -> WhitespaceKind {
    let indent = |line: &str| -> String { line.chars().take_while(|c| c.is_whitespace()).collect() };
    for (line, wanted) in lines.iter().skip(at).zip(wanted) {
        let (line, wanted) = (indent(line), indent(wanted));
        if line != wanted {
            if line.contains('\t') && !wanted.contains('\t') && wanted.contains(' ') {
                return WhitespaceKind::TabsInFile;
            }
            if wanted.contains('\t') && !line.contains('\t') && line.contains(' ') {
                return WhitespaceKind::SpacesInFile;
            }
        }
    }
    WhitespaceKind::Indentation
}

/// The lines nearest to the first wanted line that is not blank, and whether only a sample was compared.
fn near(lines: &[&str], wanted: &[&str]) -> (Vec<NearMatch>, bool) {
    let Some((skipped, first)) = wanted.iter().enumerate().find(|(_, line)| !line.trim().is_empty()) else {
        return (Vec::new(), false);
    };
    let first: Vec<char> = first.trim().chars().collect();
    if first.len() > LONGEST_LINE {
        return (Vec::new(), false);
    }
    let letters = letters(&first);
    // Cheap bounds sort out nearly every line, so that the sample is taken only of those that may be near.
    let mut possible: Vec<(usize, Vec<char>)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.len() > 4 * LONGEST_LINE {
            continue;
        }
        let line: Vec<char> = line.chars().collect();
        let longest = line.len().max(first.len());
        if line.len() <= LONGEST_LINE && least_edits(&letters, &line) <= allowed_edits(longest) {
            possible.push((at, line));
        }
    }
    let step = possible.len().div_ceil(MOST_COMPARED).max(1);
    let mut alike: Vec<(usize, usize, usize)> = possible
        .iter()
        .step_by(step)
        .filter_map(|(at, line)| {
            let longest = line.len().max(first.len());
            let edits = edits(&first, line, allowed_edits(longest))?;
            let following = wanted.iter().skip(skipped).zip(lines.iter().skip(*at));
            let agreeing = following.skip(1).take_while(|(wanted, line)| wanted.trim() == line.trim()).count();
            // Per thousand letters, so that the order is total.
            Some((edits * 1000 / longest.max(1), usize::MAX - agreeing, *at))
        })
        .collect();
    alike.sort_unstable();
    let near = alike
        .into_iter()
        .take(MOST_NEAR)
        .map(|(_, _, at)| NearMatch {
            line: at + 1,
            preview: preview(lines.get(at).copied().unwrap_or_default()),
            difference: first_difference(
                lines.get(at..).unwrap_or_default(),
                wanted.get(skipped..).unwrap_or_default(),
                at,
            ),
        })
        .collect();
    (near, step > 1)
}

/// The first difference between lines of the file, of which the first is number `at` from 0, and the wanted lines.
///
/// The indentation of the very first line is left out where the wanted text has none: it may begin inside the line.
fn first_difference(lines: &[&str], wanted: &[&str], at: usize) -> Option<Difference> {
    for (i, wanted_line) in wanted.iter().enumerate() {
        let line = lines.get(i).copied().unwrap_or_default();
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        let skip = if i == 0 && !wanted_line.starts_with(char::is_whitespace) { indent } else { 0 };
        let mut in_file = line.chars().skip(skip);
        let mut in_text = wanted_line.chars();
        let mut column = skip;
        loop {
            column += 1;
            match (in_file.next(), in_text.next()) {
                (None, None) => break,
                (a, b) if a == b => {}
                // The last line may end inside a line of the file.
                (Some(_), None) if i + 1 == wanted.len() => break,
                (a, b) => return Some(Difference { line: at + i + 1, column, in_file: a, in_text: b }),
            }
        }
    }
    None
}

fn allowed_edits(longest: usize) -> usize {
    // In integers: (1 - LEAST_ALIKE) of the longer line's letters, rounded down.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 500"
    )]
    let allowed = (longest as f64 * (1.0 - LEAST_ALIKE)) as usize;
    allowed
}

/// How often each letter occurs, by its code point modulo the table's size.
fn letters(line: &[char]) -> [i32; 64] {
    let mut counts = [0; 64];
    for &c in line {
        if let Some(count) = counts.get_mut(u32::from(c) as usize % 64) {
            *count += 1;
        }
    }
    counts
}

/// A lower bound of the number of edits between two lines, by their letters alone.
fn least_edits(wanted: &[i32; 64], line: &[char]) -> usize {
    let (mut missing, mut extra) = (0, 0);
    for (a, b) in wanted.iter().zip(letters(line)) {
        let difference = a - b;
        missing += difference.max(0).unsigned_abs() as usize;
        extra += difference.min(0).unsigned_abs() as usize;
    }
    missing.max(extra)
}

/// The Levenshtein distance of two lines, if it is at most `most`.
pub(super) fn edits(a: &[char], b: &[char], most: usize) -> Option<usize> {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut least = left;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(b) {
            let here = if x == y { diagonal } else { 1 + diagonal.min(left).min(*cell) };
            diagonal = *cell;
            *cell = here;
            left = here;
            least = least.min(here);
        }
        if least > most {
            return None;
        }
    }
    row.last().copied().filter(|&distance| distance <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "fn first() {\n\tlet total = 1;\n\tlet other = 2;\n}\n\nfn second() {\n    call(1);   \n    end();\n}\n";

    fn kinds(old: &str) -> Vec<(WhitespaceKind, usize)> {
        diagnose(TEXT, old).whitespace.iter().map(|issue| (issue.kind, issue.line)).collect()
    }

    #[test]
    fn spaces_for_tabs_are_named() {
        assert_eq!(kinds("    let total = 1;\n    let other = 2;\n"), [(WhitespaceKind::TabsInFile, 2)]);
    }

    #[test]
    fn tabs_for_spaces_are_named() {
        assert_eq!(kinds("\tend();\n}"), [(WhitespaceKind::SpacesInFile, 8)]);
    }

    #[test]
    fn another_depth_is_named() {
        assert_eq!(kinds("        end();\n}"), [(WhitespaceKind::Indentation, 8)]);
    }

    #[test]
    fn space_at_the_end_of_a_line_is_named() {
        assert_eq!(kinds("    call(1);\n    end();"), [(WhitespaceKind::Trailing, 7)]);
        assert_eq!(kinds("\tcall(1);\n\tend();"), [(WhitespaceKind::Both, 7)]);
    }

    #[test]
    fn extra_line_breaks_and_escaped_ones_are_named() {
        assert_eq!(kinds("\n\nfn first() {"), [(WhitespaceKind::BlankEnds, 1)]);
        assert_eq!(kinds("}\\n\\nfn second() {"), [(WhitespaceKind::EscapedLineBreaks, 4)]);
    }

    #[test]
    fn the_nearest_line_is_shown_with_its_first_difference() {
        let found = diagnose(TEXT, "\tlet totel = 1;\n");
        let near = &found.near[0];
        assert_eq!(near.line, 2);
        let difference = Difference { line: 2, column: 9, in_file: Some('a'), in_text: Some('e') };
        assert_eq!(near.difference, Some(difference));
        let words = found.to_string();
        assert!(words.contains("line 2, column 9: the file has 'a', old_text has 'e'"), "{words}");
        assert!(words.contains("Read the file around line 2 with read_file"), "{words}");
    }

    #[test]
    fn a_difference_in_a_later_line_is_shown_where_it_is() {
        let found = diagnose(TEXT, "fn first() {\n\tlet total = 1;\n\tlet other = 3;\n}");
        let difference = found.near[0].difference.clone().unwrap();
        assert_eq!((difference.line, difference.column), (3, 14));
        assert_eq!((difference.in_file, difference.in_text), (Some('2'), Some('3')));
    }

    #[test]
    fn a_text_like_nothing_in_the_file_points_to_the_search() {
        let found = diagnose(TEXT, "zzzzzzzzzzzzzzzzzzzzzz");
        assert!(found.near.is_empty() && found.whitespace.is_empty());
        assert!(found.to_string().contains("search_text"));
    }

    #[test]
    fn a_huge_file_is_sampled_and_says_so() {
        let text = "let value = compute(1);\n".repeat(60_000) + &"x".repeat(1_000_000);
        let found = diagnose(&text, "let value = compute(2);");
        assert!(found.sampled && found.near.len() == 3);
        assert!(found.to_string().contains("only a part of its lines"));
    }

    #[test]
    fn the_distance_is_levenshteins() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(edits(&chars("kitten"), &chars("sitting"), 9), Some(3));
        assert_eq!(edits(&chars(""), &chars("abc"), 9), Some(3));
        assert_eq!(edits(&chars("abc"), &chars("xyz"), 2), None);
    }
}
