//! Answers that repeat themselves, as small models do until they are stopped.

use super::around::Around;

/// The least number of times that lines of a repetition are there. Code has pairs of equal lines, and rarely more.
const TIMES: usize = 3;
/// The same of words within a line.
const WORD_TIMES: usize = 8;
/// The same of numbers, of which there are tables.
const NUMBER_TIMES: usize = 40;
/// The least number of letters and digits that are repeated; half as many if they are repeated more often.
const LETTERS: usize = 6;

/// The extensions of files in which a key stands once.
const WITH_KEYS: &[&str] = &["yaml", "yml", "toml", "ini", "env", "properties", "json", "jsonc"];

/// The answer up to where it begins to repeat itself.
pub(super) fn repetition(around: &Around<'_>, answer: &str) -> Option<String> {
    let text = answer.trim_end();
    let lines: Vec<&str> = text.split('\n').collect();
    let first = lines.first().copied().unwrap_or_default();
    let whole = format!("{}{first}", around.line);
    // The first line is repeated as the answer has it, or as the document has it then.
    let with_first = |first| std::iter::once(first).chain(lines.iter().skip(1).copied()).collect::<Vec<&str>>();
    let variants = [lines.clone(), with_first(whole.as_str()), with_first(first.trim_start())];
    let key = || variants.iter().find_map(|lines| keys(around, lines));
    let found = key().or_else(|| variants.iter().find_map(|lines| repeated_lines(lines)));
    if let Some(kept) = found {
        return Some(lines.get(..kept)?.join("\n").trim_end().to_owned());
    }
    let words = words(text);
    let texts: Vec<&str> = words.iter().filter_map(|(at, length)| text.get(*at..at + length)).collect();
    let (period, times) = cycle(&texts);
    let part = texts.get(texts.len().checked_sub(period)?..)?;
    let is_telling = part.iter().any(|word| word.chars().any(char::is_alphabetic));
    let least = if is_telling { WORD_TIMES } else { NUMBER_TIMES };
    let is_ruler = part.iter().all(|word| !word.chars().any(char::is_alphanumeric));
    // There is no telling where the first of them was to end.
    (times >= least && !is_ruler).then(String::new)
}

/// The number of lines to keep if the same key is given again and again.
fn keys(around: &Around<'_>, lines: &[&str]) -> Option<usize> {
    let extension = around.path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !WITH_KEYS.contains(&extension) {
        return None;
    }
    let is_key = |line: &str| {
        let key = line.trim().split([':', '=']).next().unwrap_or_default();
        key.len() < line.trim().len() && key.chars().any(char::is_alphabetic) && !key.starts_with(['-', '#', '{', '['])
    };
    let is_again = |pair: &&[&str]| pair.first() == pair.last() && pair.first().is_some_and(|line| is_key(line));
    lines.windows(2).position(|pair| is_again(&pair)).map(|at| at + 1)
}

/// The number of lines to keep if the last ones are repeated; the very last may be cut off.
fn repeated_lines(lines: &[&str]) -> Option<usize> {
    let complete = lines.get(..lines.len() - 1)?;
    [lines, complete].into_iter().find_map(|lines| {
        let (period, times) = cycle(lines);
        let part = lines.get(lines.len().checked_sub(period)?..)?;
        let said: usize = part.iter().map(|line| line.chars().filter(|c| c.is_alphanumeric()).count()).sum();
        let is_telling = said >= LETTERS || (said >= LETTERS / 2 && said * times >= LETTERS * TIMES);
        (times >= TIMES && is_telling).then(|| lines.len() - (times - 1) * period)
    })
}

/// The shortest cycle that a list ends with and that is there the most often: its length, and how often it is there.
/// It is found in linear time, as the borders of the list read backwards.
fn cycle(list: &[&str]) -> (usize, usize) {
    let at = |from_end: usize| list.len().checked_sub(from_end + 1).and_then(|at| list.get(at));
    let mut borders = vec![0_usize; list.len()];
    let mut best = (1, 1);
    let mut matched = 0;
    for end in 1..list.len() {
        while matched > 0 && at(matched) != at(end) {
            matched = borders.get(matched - 1).copied().unwrap_or_default();
        }
        matched += usize::from(at(matched) == at(end));
        if let Some(border) = borders.get_mut(end) {
            *border = matched;
        }
        let period = end + 1 - matched;
        let times = (end + 1) / period;
        if times > best.1 {
            best = (period, times);
        }
    }
    best
}

/// The words and marks of a text, as offsets and lengths.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut is_open = false;
    for (at, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() || c == '_';
        match words.last_mut() {
            Some((_, length)) if is_word && is_open => *length += c.len_utf8(),
            _ if c.is_whitespace() => {}
            _ => words.push((at, c.len_utf8())),
        }
        is_open = is_word;
    }
    words
}
