//! The places in a text that a request may mean.
//!
//! One pass today, [`exact`]. A more lenient pass is a function with the same answer, tried when the one before it
//! found nothing.

/// A place that may be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its line, from 1.
    pub line: usize,
    /// The line's text, shortened.
    pub preview: String,
}

/// What a pass found.
pub(super) struct Located {
    /// The byte offsets of the places, none of which overlaps another.
    pub(super) starts: Vec<usize>,
    /// The first place that overlaps another, with that other one.
    pub(super) overlap: Option<Vec<usize>>,
}

/// Finds `old`, byte by byte. It must not be empty.
pub(super) fn exact(text: &str, old: &str) -> Located {
    let starts: Vec<usize> = text.match_indices(old).map(|(start, _)| start).collect();
    let step = old.chars().next().map_or(1, char::len_utf8);
    let overlap = starts.iter().find_map(|&start| {
        // Any occurrence that begins inside this one ends before twice its length.
        let from = start + step;
        let mut to = (start + 2 * old.len() - 1).min(text.len());
        while !text.is_char_boundary(to) {
            to += 1;
        }
        let inside = text.get(from..to)?.find(old)?;
        let other = from + inside;
        (other < start + old.len()).then(|| vec![start, other])
    });
    Located { starts, overlap }
}

/// The first ten of the places at these byte offsets, which must be in ascending order.
pub(super) fn candidates(text: &str, starts: Vec<usize>) -> Vec<Candidate> {
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
