//! The places in a text that a request may mean.
//!
//! A request names its place by a text. [`places`] finds that text wherever it begins and ends; [`blocks`] finds whole
//! lines. Both try the passes in the order of [`Pass`], and the first that finds anything counts, so that a lenient one
//! never adds to what a stricter one found.

use std::ops::Range;

use super::diagnose::edits;
use super::fold::{Folded, Pass, plain};
use super::indent::indent_before;

/// A text is looked for by likeness only where it has so many lines or letters.
const LEAST_LINES: usize = 3;
const LEAST_LETTERS: usize = 40;
/// One letter in so many may differ where a text is found by likeness, and the next best place must differ in as many
/// more.
const LETTERS_FOR_ONE: usize = 20;
/// Of more occurrences than this none is looked at further, for the time it takes.
const MOST_OCCURRENCES: usize = 10_000;
/// Where the lines that must be right occur at more places than this, likeness of the others is no ground to choose.
const MOST_ALIKE: usize = 100;

/// A place that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its line, from 1.
    pub line: usize,
    /// The line's text, shortened.
    pub preview: String,
}

/// The places that were found byte by byte.
pub(super) struct Located {
    /// The byte offsets of the places, none of which overlaps another.
    pub(super) starts: Vec<usize>,
    /// The first place that overlaps another, with that other one.
    pub(super) overlap: Option<Vec<usize>>,
}

/// Finds `old`, byte by byte, up to the first place that overlaps another. It must not be empty. A place inside the
/// indentation of a line does not count where `old` begins with indentation itself: the lines are then indented
/// otherwise than those of `old`.
pub(super) fn exact(text: &str, old: &str) -> Located {
    let indented = old.starts_with([' ', '\t']) && !old.trim().is_empty();
    let mut located = Located { starts: Vec::new(), overlap: None };
    for start in occurrences(text, old) {
        if indented && indent_before(text, start).is_some_and(|indentation| !indentation.is_empty()) {
            continue;
        }
        if let Some(&last) = located.starts.last().filter(|&&last| start < last + old.len()) {
            located.overlap = Some(vec![last, start]);
            break;
        }
        located.starts.push(start);
    }
    located
}

/// Where a text begins in another, overlapping places too.
fn occurrences<'a>(text: &'a str, wanted: &'a str) -> impl Iterator<Item = usize> + 'a {
    let step = wanted.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find(wanted)?;
        from = start + step;
        Some(start)
    })
}

/// Finds `old` by the lenient passes, except by likeness. The ranges are of bytes; white space of the text that the
/// pass leaves out around a place belongs to it, so that a place that begins a line begins with the line's indentation.
/// A place has as many lines as `old`, and neither begins nor ends inside a word; nor does it begin inside a line's
/// indentation. The last may overlap the one before it, and then there may be more.
pub(super) fn places(text: &str, old: &str) -> Option<(Pass, Vec<Range<usize>>)> {
    let found = |pass| {
        let places = by(text, old, pass);
        (!places.is_empty()).then_some((pass, places))
    };
    // A text that the last of them does not find is found by none of the others.
    found(Pass::Characters)?;
    Pass::LENIENT.into_iter().find_map(found)
}

fn by(text: &str, old: &str, pass: Pass) -> Vec<Range<usize>> {
    let (wanted, folded) = (Folded::new(old, pass).text, Folded::new(text, pass));
    if wanted.trim().is_empty() {
        return Vec::new();
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let cuts = |before: Option<char>, after: Option<char>| before.is_some_and(is_word) && after.is_some_and(is_word);
    let mut places: Vec<Range<usize>> = Vec::new();
    for (count, start) in occurrences(&folded.text, &wanted).enumerate() {
        if count == MOST_OCCURRENCES {
            return Vec::new();
        }
        let Range { start, end } = folded.source(text, start..start + wanted.len());
        let (before, place, after) = (text.get(..start), text.get(start..end), text.get(end..));
        let (Some(before), Some(place), Some(after)) = (before, place, after) else { continue };
        if cuts(before.chars().next_back(), place.chars().next())
            || cuts(place.chars().next_back(), after.chars().next())
        {
            continue;
        }
        let indentation = indent_before(text, start).unwrap_or_default();
        if !indentation.is_empty() && pass < Pass::Indentation && old.starts_with(char::is_whitespace) {
            continue;
        }
        let start = if pass >= Pass::Indentation { start - indentation.len() } else { start };
        let tail = after.trim_start_matches(|c: char| c != '\n' && c.is_whitespace());
        let ends_line = !place.ends_with('\n') && (tail.is_empty() || tail.starts_with('\n'));
        let end = if ends_line { end + after.len() - tail.len() } else { end };
        let overlaps = places.last().is_some_and(|last| start < last.end);
        places.push(start..end);
        if overlaps {
            break;
        }
    }
    places
}

/// A line to find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) text: &'a str,
    /// True if the edit hangs on it: it changes the line, or puts something beside it. Such a line is never found by
    /// likeness.
    pub(super) certain: bool,
}

/// Finds lines that follow each other, all of them within a range of lines: the pass, and the lines where they begin,
/// of which some may overlap.
pub(super) fn blocks(lines: &[&str], wanted: &[Wanted<'_>], within: Range<usize>) -> Option<(Pass, Vec<usize>)> {
    let lines = lines.get(within.start..within.end.min(lines.len()))?;
    if wanted.is_empty() || wanted.iter().all(|wanted| wanted.text.trim().is_empty()) {
        return None;
    }
    let find = |pass: Pass| {
        let fits = |window: &[&str]| window.iter().zip(wanted).all(|(line, wanted)| pass.same(line, wanted.text));
        let windows = lines.windows(wanted.len()).enumerate();
        let starts: Vec<usize> = windows.filter(|(_, it)| fits(it)).map(|(at, _)| within.start + at).collect();
        (!starts.is_empty()).then_some((pass, starts))
    };
    let found = find(Pass::Exact).or_else(|| {
        find(Pass::Characters)?;
        Pass::LENIENT.into_iter().find_map(find)
    });
    found.or_else(|| {
        let start = alike(lines, wanted)?;
        Some((Pass::Alike, vec![within.start + start]))
    })
}

/// The one place where the lines that must be right are, and the others differ in a few letters.
fn alike(lines: &[&str], wanted: &[Wanted<'_>]) -> Option<usize> {
    let texts: Vec<Vec<char>> = wanted.iter().map(|wanted| letters_of(wanted.text)).collect();
    let letters: usize = texts.iter().map(Vec::len).sum();
    let certain = wanted.iter().any(|wanted| wanted.certain && !wanted.text.trim().is_empty());
    if !certain || (wanted.len() < LEAST_LINES && letters < LEAST_LETTERS) {
        return None;
    }
    let right = |window: &&[&str]| {
        window.iter().zip(wanted).all(|(line, wanted)| !wanted.certain || Pass::Characters.same(line, wanted.text))
    };
    let windows = lines.windows(wanted.len());
    let possible: Vec<(usize, &[&str])> =
        windows.enumerate().filter(|(_, it)| right(it)).take(MOST_ALIKE + 1).collect();
    if possible.len() > MOST_ALIKE {
        return None;
    }
    let allowed = letters / LETTERS_FOR_ONE;
    // The next best is looked at as far as it can be a rival.
    let mut near: Vec<(usize, usize)> =
        possible.into_iter().filter_map(|(at, window)| Some((distance(window, &texts, 2 * allowed)?, at))).collect();
    near.sort_unstable();
    match near.as_slice() {
        [(best, at)] if *best <= allowed => Some(*at),
        [(best, at), (next, _), ..] if *best <= allowed && *next > best + allowed => Some(*at),
        _ => None,
    }
}

/// True if there may be a place that [`blocks`] finds by likeness, whichever of the lines must be right.
pub(super) fn may_be_alike(lines: &[&str], old: &[&str]) -> bool {
    let texts: Vec<Vec<char>> = old.iter().map(|line| letters_of(line)).collect();
    let letters: usize = texts.iter().map(Vec::len).sum();
    if old.is_empty() || (old.len() < LEAST_LINES && letters < LEAST_LETTERS) {
        return false;
    }
    // One line at least must be right.
    let right = |window: &&[&str]| {
        window.iter().zip(old).any(|(line, old)| !old.trim().is_empty() && Pass::Characters.same(line, old))
    };
    let possible: Vec<&[&str]> = lines.windows(old.len()).filter(right).take(MOST_ALIKE + 1).collect();
    let is_near = |window: &&[&str]| distance(window, &texts, letters / LETTERS_FOR_ONE).is_some();
    possible.len() > MOST_ALIKE || possible.iter().any(is_near)
}

/// How many letters differ, up to so many.
fn distance(window: &[&str], texts: &[Vec<char>], most: usize) -> Option<usize> {
    let mut sum = 0;
    for (line, text) in window.iter().zip(texts) {
        sum += edits(&letters_of(line), text, most - sum)?;
        if sum > most {
            return None;
        }
    }
    Some(sum)
}

/// A line's letters, as likeness compares them.
fn letters_of(line: &str) -> Vec<char> {
    line.split_whitespace().collect::<Vec<_>>().join(" ").chars().map(plain).collect()
}

/// The first ten of the places at these byte offsets, which must be in ascending order.
pub(super) fn candidates(text: &str, starts: impl IntoIterator<Item = usize>) -> Vec<Candidate> {
    let mut line = 1;
    let mut counted = 0;
    let mut found = Vec::new();
    for start in starts.into_iter().take(10) {
        line += text.get(counted..start).unwrap_or_default().matches('\n').count();
        counted = start;
        let from = text.get(..start).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
        let content = text.get(from..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        found.push(Candidate { line, preview: preview(content) });
    }
    found
}

/// A line for people and models: without the space around it, and not too long.
pub(super) fn preview(line: &str) -> String {
    const LONGEST: usize = 120;
    let line = line.trim();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// The candidates, a line each.
pub(super) fn list(candidates: &[Candidate]) -> String {
    candidates.iter().map(|c| format!("  line {}: {}\n", c.line, c.preview)).collect()
}

/// How many more there are than were listed.
pub(super) fn more(found: usize, listed: usize) -> String {
    if found > listed { format!("  … and {} more\n", found - listed) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'t>(text: &'t str, old: &str) -> Option<(Pass, Vec<&'t str>)> {
        let (pass, ranges) = places(text, old)?;
        Some((pass, ranges.into_iter().map(|range| &text[range]).collect()))
    }

    #[test]
    fn the_strictest_pass_that_finds_anything_counts() {
        let text = "if a {\n    b(\"x\");\n}\nif a {\n\tb(\"x\");  \n}\n";
        assert_eq!(
            found(text, "if a {\n\tb(\"x\");\n}"),
            Some((Pass::TrailingSpace, vec!["if a {\n\tb(\"x\");  \n}"]))
        );
        let both = vec!["if a {\n    b(\"x\");\n}", "if a {\n\tb(\"x\");  \n}"];
        assert_eq!(found(text, "if a {\n  b(\"x\");\n}"), Some((Pass::Indentation, both.clone())));
        assert_eq!(found(text, "if  a {\n b(\"x\");\n}"), Some((Pass::InnerSpace, both.clone())));
        assert_eq!(found(text, "if a {\n b(\u{201C}x\u{201D});\n}"), Some((Pass::Characters, both)));
        assert_eq!(found(text, "if c {"), None);
    }

    #[test]
    fn a_place_may_begin_and_end_inside_a_line_but_not_inside_a_word() {
        assert_eq!(found("let total  = 1;", "total = 1"), Some((Pass::InnerSpace, vec!["total  = 1"])));
        assert_eq!(found("let subtotal  = 1;", "total = 1"), None);
        assert_eq!(found("let total  = 12;", "total = 1"), None);
        assert_eq!(found("let ab = 1;", "let a "), None);
    }

    #[test]
    fn a_place_that_begins_a_line_begins_with_its_indentation() {
        assert_eq!(found("{\n        a;\n}\n", "    a;\n"), Some((Pass::Indentation, vec!["        a;\n"])));
        assert_eq!(found("{\n\ta;\t\n}\n", "a;\n}"), Some((Pass::TrailingSpace, vec!["a;\t\n}"])));
    }

    #[test]
    fn a_place_behind_one_that_does_not_count_is_found() {
        let text = "            }\n        }\n        }\nend\n";
        assert_eq!(exact(text, "        }\n        }\n").starts, [14]);
        let text = "        a\n    a\n    a\n    a\n";
        assert_eq!(exact(text, "    a\n    a\n").overlap, Some(vec![10, 16]));
    }

    #[test]
    fn places_that_overlap_are_all_seen() {
        assert_eq!(found("}  \n}  \n}  \n", "}\n}\n").unwrap().1.len(), 2);
        assert_eq!(found("\tx(1);\n\n\tx(1);\n\n\tx(1);\n", "    x(1);\n\n    x(1);\n").unwrap().1.len(), 2);
    }

    #[test]
    fn a_long_line_is_searched_in_a_bounded_time() {
        let line = "x,".repeat(400_000);
        assert!(found(&line, ", x").is_none());
        assert_eq!(exact(&line, " x").starts.len(), 0);
        assert!(found(&line.replace(',', ", "), ",  x").is_none(), "too many to look at");
    }

    #[test]
    fn white_space_alone_is_no_place() {
        assert_eq!(found("a\n\t\nb", "  \n"), None);
    }

    fn block(text: &str, wanted: &[(&str, bool)]) -> Option<(Pass, Vec<usize>)> {
        let lines: Vec<&str> = text.lines().collect();
        let wanted: Vec<Wanted<'_>> = wanted.iter().map(|(text, certain)| Wanted { text, certain: *certain }).collect();
        blocks(&lines, &wanted, 0..lines.len())
    }

    #[test]
    fn lines_that_stay_may_be_misremembered_a_little() {
        let text = "// Reads the whole configuration file.\nfn read() {\n    open();\n}\n";
        let typo = ("// Reads the whole configuraton file.", false);
        assert_eq!(block(text, &[typo, ("fn read() {", false), ("    open();", true)]), Some((Pass::Alike, vec![0])));
        assert_eq!(block(text, &[(typo.0, true), ("fn read() {", true), ("    open();", true)]), None);
    }

    #[test]
    fn likeness_does_not_choose_between_two() {
        let one = "// Reads the first of all the files.\nfn read() {\n    open();\n}\n";
        let text = one.to_owned() + &one.replace("first", "other");
        let wanted = [("// Reads the fourth of all the files.", false), ("fn read() {", false), ("    open();", true)];
        assert_eq!(block(&text, &wanted), None);
    }
}
