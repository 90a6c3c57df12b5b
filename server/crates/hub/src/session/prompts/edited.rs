//! The user's own edits since the last turn, as the model is told of them with a prompt: lines of files, and never a
//! text. The model reads on by itself if they matter.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use permission::{denied_reading, may_read};
use project::buffers::Open;
use project::paths;
use tokio::sync::oneshot;

use super::preparation::Preparation;
use crate::post::{EditedLines, Message};

/// The time after which a prompt goes on without them.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most files, and the most ranges of lines of one.
const FILES: usize = 10;
const RANGES: usize = 5;
/// Ranges with so few lines between them are told as one.
const NEAR: usize = 3;

/// The edits since the last turn, in words; empty if there are none, or if the model is not told.
pub(super) async fn since(preparation: &Preparation) -> String {
    let Some(since) = preparation.edits_since else { return String::new() };
    let edited = edited_since(preparation, since).await;
    let may_be_named = |file: &EditedLines| may_be_named(preparation, &file.path) && !is_left(preparation, &file.path);
    let files = edited.into_iter().filter(may_be_named);
    to_words(files.map(|file| (preparation.roots.display(&file.path), file.lines)).collect())
}

async fn edited_since(preparation: &Preparation, since: Instant) -> Vec<EditedLines> {
    let (reply, edited) = oneshot::channel();
    preparation.shared.post(None, Message::EditedSince(since, reply));
    let edited = tokio::time::timeout(PATIENCE, edited).await;
    edited.ok().and_then(Result::ok).unwrap_or_default()
}

/// True if a file is the project's, and the model may read it without asking.
fn may_be_named(preparation: &Preparation, path: &Path) -> bool {
    let folders: Vec<_> = preparation.roots.iter().map(|root| root.path.clone()).collect();
    folders.iter().any(|folder| path.starts_with(folder))
        && !paths::is_for_keys(path)
        && denied_reading(&preparation.rules, &folders, &[path]).is_none()
        && may_read(&preparation.rules, &folders, None, path)
}

/// True if an editor has only read a file again that a command or another program wrote.
fn is_left(preparation: &Preparation, path: &Path) -> bool {
    match preparation.caller.buffers.get(path) {
        Open::Yes(document) => preparation.left_by_others.contains(&(paths::to_uri(path), document.hash().0.clone())),
        _ => false,
    }
}

fn to_words(files: Vec<(String, Vec<Range<usize>>)>) -> String {
    let mut words = String::new();
    let count = files.len();
    for (name, lines) in files.into_iter().take(FILES) {
        if words.is_empty() {
            words.push_str("The user has edited these files in the editor since the last turn, saved or not:\n");
        }
        let ranges = together(lines);
        let mut told: Vec<_> = ranges.iter().take(RANGES).map(in_words).collect();
        if ranges.len() > RANGES {
            told.push("others".to_owned());
        }
        let last = told.pop().unwrap_or_default();
        let lines = if told.is_empty() { last } else { format!("{} and {last}", told.join(", ")) };
        let _ = writeln!(words, "- {name}: {lines}");
    }
    if count > FILES {
        let _ = writeln!(words, "- {} more", count - FILES);
    }
    words
}

/// Ranges of lines from top to bottom, those near each other as one.
fn together(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut all: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end + NEAR => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}

/// Lines as people count them.
fn in_words(lines: &Range<usize>) -> String {
    match lines.len() {
        0 if lines.start == 0 => "lines deleted at the top".to_owned(),
        0 => format!("lines deleted after line {}", lines.start),
        1 => format!("line {}", lines.end),
        _ => format!("lines {}-{}", lines.start + 1, lines.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_of_files_and_lines_up_to_a_size() {
        let one = |lines: &[Range<usize>]| to_words(vec![("a.rs".to_owned(), lines.to_vec())]);
        let begin = "The user has edited these files in the editor since the last turn, saved or not:\n- a.rs: ";
        let told = |lines: &[Range<usize>]| one(lines).strip_prefix(begin).unwrap().to_owned();
        assert_eq!(told(std::slice::from_ref(&(2..3))), "line 3\n");
        assert_eq!(told(&[40..41, 2..5, 7..9]), "lines 3-9 and line 41\n");
        assert_eq!(told(&[0..0, 20..20]), "lines deleted at the top and lines deleted after line 20\n");
        let many: Vec<_> = (0..30).map(|n| n * 10..n * 10 + 1).collect();
        assert_eq!(told(&many), "line 1, line 11, line 21, line 31, line 41 and others\n");
        let files = (0..30).map(|n| (format!("{n}.rs"), many.clone())).collect();
        let all = to_words(files);
        assert!(all.ends_with("- 20 more\n") && all.len() < 1000, "{all}");
        assert_eq!(to_words(Vec::new()), "");
    }
}
