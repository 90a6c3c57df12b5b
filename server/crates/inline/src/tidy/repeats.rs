//! Answers that repeat the text around the cursor.

use super::around::Around;
use super::brackets;
use super::indent;
use super::scan::State;

/// A line with fewer letters and digits says too little to be recognized.
const TELLING: usize = 8;

/// The most lines below the cursor that are compared.
const BELOW: usize = 40;

/// The answer without the text before the cursor that it begins with: the cursor's line, lines above it, or the part
/// of a word.
pub(super) fn before(around: &Around<'_>, answer: &str) -> Option<String> {
    let typed = around.line.trim();
    if typed.is_empty() {
        return without_lines_above(around, answer);
    }
    let body = answer.trim_start();
    let is_telling = typed.chars().filter(|c| c.is_alphabetic()).count() >= 2 && typed.len() >= 4;
    if is_telling
        && let Some(rest) = body.strip_prefix(typed)
        // Behind a space the word that is typed is complete.
        && !(around.line.ends_with(' ') && typed.ends_with(is_of_word) && rest.starts_with(is_of_word))
        && !is_nested(around, typed, body)
    {
        // A space behind what is typed is repeated too.
        let is_spaced = around.line.ends_with(' ');
        return Some(rest.strip_prefix(' ').filter(|_| is_spaced).unwrap_or(rest).to_owned());
    }
    let word = around.line.rsplit(|c: char| !is_of_word(c)).next().filter(|word| word.len() >= 4)?;
    let rest = answer.strip_prefix(word)?;
    let is_word = word.starts_with(|c: char| c.is_alphabetic()) && rest.starts_with(is_of_word);
    is_word.then(|| rest.to_owned())
}

/// The answer without the text after the cursor that it ends with: the rest of the line, or lines below.
pub(super) fn after(around: &Around<'_>, answer: &str) -> Option<String> {
    let cut = below(around, answer).or_else(|| closed_twice(around, answer));
    let kept = cut.and_then(|cut| answer.get(..cut)).map_or(answer, str::trim_end);
    let shortened = rest_of_line(around, kept);
    (shortened.is_some() || kept.len() < answer.len()).then(|| shortened.unwrap_or(kept).to_owned())
}

fn without_lines_above(around: &Around<'_>, answer: &str) -> Option<String> {
    let lines: Vec<&str> = answer.lines().map(str::trim).collect();
    let first = lines.iter().position(|line| !line.is_empty())?;
    // As many of the answer's lines as stand above the cursor, the most first.
    let count = (1..=8).rev().find(|count| {
        let repeated = lines.get(first..first + count).unwrap_or_default();
        repeated.len() == *count
            && repeated.iter().rev().eq(around.above().take(*count).map(str::trim).collect::<Vec<_>>().iter())
    })?;
    let repeated = lines.get(first..first + count)?;
    let said: usize = repeated.iter().map(|line| letters(line)).sum();
    let is_head = repeated.last().is_some_and(|line| indent::opens(line));
    let is_certain = said >= TELLING || (count == 1 && is_head && said > TELLING / 2);
    if !is_certain {
        return None;
    }
    let skipped: usize = answer.split_inclusive('\n').take(first + count).map(str::len).sum();
    let rest = answer.get(skipped..).unwrap_or_default();
    let lead = indent::lead(rest);
    // The cursor's line is indented already.
    Some(if lead == around.line { rest.get(lead.len()..).unwrap_or_default() } else { rest }.to_owned())
}

/// True if the answer begins as the cursor's line does because a call or type is nested in one of the same name: it
/// closes what the line opened.
fn is_nested(around: &Around<'_>, typed: &str, answer: &str) -> bool {
    if !typed.ends_with(['(', '[', '<']) || around.state.is_verbatim() {
        return false;
    }
    let line = answer.lines().next().unwrap_or_default();
    let (opened, closed, of_typed) = match typed.strip_suffix('<') {
        Some(_) => {
            let line = line.replace("=>", "").replace("->", "");
            (line.matches('<').count(), line.matches('>').count(), 1)
        }
        None => {
            let marks = |text: &str| State::default().scan(around.lexis, text);
            let count = |is_open: bool| marks(line).iter().filter(|mark| mark.is_open == is_open).count();
            (count(true), count(false), marks(typed).iter().filter(|mark| mark.is_open).count())
        }
    };
    let is_closed = if typed.ends_with('<') { around.rest.contains('>') } else { brackets::is_closed(around) };
    closed >= if is_closed { opened } else { opened + of_typed }
}

/// True if the answer has gone on to the lines below the cursor for certain.
pub(super) fn has_reached_below(around: &Around<'_>, answer: &str) -> bool {
    runs(around, answer).iter().any(Run::is_long)
}

/// Lines of the answer that are the ones below the cursor.
struct Run {
    /// Where the first begins in the answer.
    at: usize,
    lines: usize,
    letters: usize,
    /// True if they are indented equally, and say at least a little or are the marks of a comment.
    is_exact: bool,
    /// True if the answer has no other line behind them.
    is_last: bool,
}

impl Run {
    fn is_long(&self) -> bool {
        self.lines >= 2 && self.letters >= 2 * TELLING && self.is_exact
    }
}

/// Where the answer begins to repeat the lines below the cursor.
fn below(around: &Around<'_>, answer: &str) -> Option<usize> {
    let is_repeat = |run: &Run| (run.is_last && (run.letters >= TELLING || run.is_exact)) || run.is_long();
    runs(around, answer).into_iter().find(is_repeat).map(|run| run.at)
}

fn runs(around: &Around<'_>, answer: &str) -> Vec<Run> {
    let below: Vec<&str> = around.below().take(BELOW).collect();
    let mut at = 0;
    let lines: Vec<(usize, &str)> = answer
        .split_inclusive('\n')
        .map(|line| {
            at += line.len();
            (at - line.len(), line.trim_end())
        })
        .filter(|(_, line)| !line.is_empty())
        .collect();
    let whole = lines.first().map(|(_, first)| format!("{}{first}", around.line)).unwrap_or_default();
    let line = |row: usize| if row == 0 { Some(whole.as_str()) } else { lines.get(row).map(|(_, line)| *line) };
    let run = |(row, (at, _)): (usize, &(usize, &str))| {
        let pairs = below.iter().enumerate().map_while(|(count, below)| Some((line(row + count)?, *below)));
        let equal = pairs.take_while(|(line, below)| is_same(line, below)).count();
        let letters = below.iter().take(equal).map(|line| letters(line)).sum();
        let is_mark = below.iter().take(equal).all(|line| around.lexis.begins_comment(line.trim_start()));
        let is_exact = (is_mark || letters >= TELLING / 2) && line(row) == below.first().copied();
        // The last line may not be complete.
        let is_begun = |last: &str| below.get(equal).is_some_and(|below| below.trim().starts_with(last.trim()));
        let is_last = match lines.len() - row - equal {
            0 => true,
            1 => line(row + equal).is_some_and(is_begun),
            _ => false,
        };
        Run { at: *at, lines: equal, letters, is_exact, is_last }
    };
    lines.iter().enumerate().map(run).filter(|run| run.lines > 0).collect()
}

/// Where the answer closes a block that is closed already, as indentation tells: the line above or the next one below
/// the cursor closes a block at the same indentation, or the next one belongs to the block.
fn closed_twice(around: &Around<'_>, answer: &str) -> Option<usize> {
    if around.lexis.is_prose {
        return None;
    }
    let whole = format!("{}{}", around.line, answer.lines().next().unwrap_or_default());
    let mut at = 0;
    let mut above: Option<&str> = None;
    let mut last = (0, whole.as_str());
    for (row, line) in answer.split_inclusive('\n').enumerate() {
        let line_whole = if row == 0 { whole.as_str() } else { line };
        let is_same = |above: &str| around.lexis.is_closing(above) && indent::width(above) == indent::width(line_whole);
        if around.lexis.is_closing(line_whole) && above.is_some_and(is_same) {
            return Some(at);
        }
        if !line_whole.trim().is_empty() {
            (above, last) = (Some(line_whole), (at, line_whole));
        }
        at += line.len();
    }
    let next = around.below().next().filter(|_| around.rest.trim().is_empty() && around.lexis.is_closing(last.1))?;
    let (own, below) = (indent::width(last.1), indent::width(next));
    // The brackets of others are counted. A block that ends with a word has its lines and its other branches before it.
    let is_word = last.1.trim_start().starts_with(char::is_alphabetic);
    let word = next.trim_start().split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_branch = own == below && matches!(word, "else" | "elseif" | "elif" | "elsif" | "rescue" | "ensure" | "when");
    let is_open = is_word && (own < below || is_branch);
    (is_open || (own == below && around.lexis.is_closing(next))).then_some(last.0)
}

/// The answer without what the rest of the line says too.
fn rest_of_line<'t>(around: &Around<'_>, answer: &'t str) -> Option<&'t str> {
    let rest = around.rest.trim_end();
    if rest.trim().is_empty() {
        return None;
    }
    let first = answer.split('\n').next().unwrap_or_default();
    let is_closers = is_closers(rest);
    // More than closers can only follow the first line.
    let text = if is_closers { answer } else { first };
    let overlap = overlap(text.trim_end(), rest);
    let is_whole = overlap == rest.len();
    let kept = text.trim_end().get(..text.trim_end().len() - overlap)?;
    let is_telling = is_whole || letters(rest.get(..overlap)?) >= 4;
    if overlap > 0 && is_telling && !(is_closers && around.lexis.has_marks(rest)) && !leaves_open(around, kept) {
        return Some(kept);
    }
    let trimmed = text.trim_start();
    // The rest of the line, with its space or without it.
    if !is_closers && rest.trim() == text.trim() && trimmed.len() >= 2 {
        return Some("");
    }
    (text.len() < answer.len()).then_some(text)
}

/// True if the answer opens more than it closes.
fn leaves_open(around: &Around<'_>, answer: &str) -> bool {
    let mut open = 0_usize;
    for mark in around.state.clone().scan(around.lexis, answer) {
        open = if mark.is_open { open + 1 } else { open.saturating_sub(1) };
    }
    let arrows = answer.matches("->").count() + answer.matches("=>").count();
    open > 0 || answer.matches('<').count() > answer.matches('>').count().saturating_sub(arrows)
}

/// The length of the longest end of a text that is the beginning of another, in linear time.
fn overlap(text: &str, other: &str) -> usize {
    let (text, other) = (text.as_bytes(), other.as_bytes());
    let text = text.get(text.len().saturating_sub(other.len())..).unwrap_or_default();
    let mut borders = vec![0; other.len()];
    let mut matched = 0;
    let step = |borders: &[usize], mut matched: usize, byte: u8| {
        while matched > 0 && other.get(matched) != Some(&byte) {
            matched = borders.get(matched - 1).copied().unwrap_or_default();
        }
        matched + usize::from(other.get(matched) == Some(&byte))
    };
    for (at, byte) in other.iter().enumerate().skip(1) {
        matched = step(&borders, matched, *byte);
        if let Some(border) = borders.get_mut(at) {
            *border = matched;
        }
    }
    text.iter().fold(0, |matched, byte| step(&borders, matched, *byte))
}

/// True if lines are the same but for white space, the kind of quotes, and what separates them from the next line.
fn is_same(line: &str, other: &str) -> bool {
    let said = |line: &str| {
        let line = line.trim().trim_end_matches([',', ';']);
        let letters = line.chars().filter(|c| !c.is_whitespace());
        letters.map(|c| if c == '\'' { '"' } else { c }).collect::<String>()
    };
    said(line) == said(other)
}

/// True if a text is only what closes something, and what separates.
pub(super) fn is_closers(text: &str) -> bool {
    text.trim().chars().all(|c| ")]}>\"'`;,:/ ".contains(c))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}
