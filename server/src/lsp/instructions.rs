//! "Change this" for clients without a panel: the instruction stands in a comment, such as `// azimuth: make this
//! iterative`, and a code action sends it for the selection, or for what the comment is about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use code::syntax::{Language, Outline, Parsed};
use project::buffers::Snapshot;
use project::paths::Roots;
use protocol::content::{Position, Range};
use protocol::inline::{InlineDocument, InlineInstructParams};
use serde_json::Value;

use super::abilities::Abilities;
use super::commands;
use super::messages::CodeActions;
use super::workflows::{is_whole, lines_of, shown};

/// The kind of the action.
pub(super) const KIND: &str = "azimuth.change";
/// The word that a comment with an instruction begins with.
const NAME: &str = "azimuth:";
/// The marks with which comments begin in the usual languages, the longer ones first, and those with which they end.
const BEGINNINGS: [&str; 12] = ["<!--", "///", "//!", "//", "/*", "--", "#", ";", "%", "\"", "*", "'"];
const ENDS: [&str; 2] = ["*/", "-->"];
/// The lines between a comment and the symbol that it is about, such as attributes.
const BETWEEN: u32 = 3;

/// An instruction in a comment.
#[derive(Debug, PartialEq, Eq)]
struct Comment {
    /// Its first line and its last, from 0.
    lines: [u32; 2],
    words: String,
}

/// The action for a place in an open document of one of the folders, if there is an instruction in a comment there.
/// Blocks for as long as the text takes to parse.
pub(super) fn action(
    params: &CodeActions,
    file: &Path,
    document: &Snapshot,
    folders: &[PathBuf],
    abilities: &Abilities,
) -> Option<Value> {
    // A panel asks for the words itself.
    if abilities.azimuth.panel || params.is_automatic() || !params.wants(KIND) {
        return None;
    }
    let text = document.normal();
    // Most documents have no such comment, and need not be parsed.
    if !text.as_bytes().windows(NAME.len()).any(|part| part.eq_ignore_ascii_case(NAME.as_bytes())) {
        return None;
    }
    if !Roots::new(folders).is_ok_and(|roots| roots.check(file).is_ok()) {
        return None;
    }
    let lines: Vec<_> = text.lines().collect();
    let [first, last] = params.range.lines();
    let symbols = symbols(file, text);
    let (comment, about) = found(&lines, &symbols, [first, last])?;
    let at = |line| Position { line, character: 0 };
    let instruction = format!(
        "{}\n\n(These words stand in the comment at line {}. Remove that comment with the change.)",
        comment.words,
        comment.lines[0] + 1
    );
    let argument = InlineInstructParams {
        text_document: InlineDocument { uri: params.text_document.uri.clone(), version: Some(document.version) },
        selections: vec![Range { start: at(about[0]), end: at(about[1].saturating_add(1)) }],
        instruction,
        session_id: None,
    };
    let title = format!("Change this with Azimuth: {}", shown(&comment.words));
    Some(commands::model_action((&title, KIND), commands::INSTRUCT, &argument, &[], abilities))
}

/// The comment that counts for selected lines, and the lines that it is about. It stands among them, or above them, or
/// for a cursor above the function or the like around it.
fn found(lines: &[&str], symbols: &[[u32; 2]], [first, last]: [u32; 2]) -> Option<(Comment, [u32; 2])> {
    let last = last.min(u32::try_from(lines.len()).unwrap_or(u32::MAX));
    let begins = |line: &u32| {
        let line = usize::try_from(*line).ok().and_then(|line| lines.get(line));
        line.and_then(|line| Line::read(line)).is_some_and(|line| is_instruction(line.words))
    };
    let above = |line: u32| line.checked_sub(1).and_then(|line| comment(lines, line));
    let inside = comment(lines, first).or_else(|| (first..=last).find(begins).and_then(|line| comment(lines, line)));
    // Some editors select the character at the cursor.
    let is_cursor = first >= last;
    let around = || {
        let [start, last] = symbols.iter().rfind(|[start, last]| is_cursor && (*start..=*last).contains(&first))?;
        // Attributes may stand between.
        let found = (0..BETWEEN).find_map(|up| above(start.checked_sub(up)?))?;
        (end(lines, symbols, found.lines[1]) == *last).then_some(found)
    };
    let comment = inside.or_else(|| above(first)).or_else(around)?;
    let [from, to] = comment.lines;
    let about = match !is_cursor && last > to {
        true => [first.min(from), last],
        false => [from, end(lines, symbols, to)],
    };
    Some((comment, about))
}

/// The lines of the functions, types and the like of a text, those within others after them.
fn symbols(file: &Path, text: &Arc<str>) -> Vec<[u32; 2]> {
    let parsed = Language::of_text(file, text).and_then(|language| Parsed::new(language, Arc::clone(text)).ok());
    let outline = parsed.as_ref().map(Outline::new);
    outline.map_or_else(Vec::new, |outline| outline.symbols.iter().filter(|it| is_whole(it)).map(lines_of).collect())
}

/// A line that is only a comment, or a part of one.
struct Line<'t> {
    mark: &'static str,
    words: &'t str,
    /// True if the comment ends here by a mark.
    is_last: bool,
}

impl<'t> Line<'t> {
    fn read(line: &'t str) -> Option<Self> {
        let line = line.trim();
        let closed = ENDS.iter().find_map(|mark| line.strip_suffix(mark));
        let (is_last, line) = (closed.is_some(), closed.unwrap_or(line));
        let (mark, words) = BEGINNINGS.iter().find_map(|mark| Some((*mark, line.strip_prefix(mark)?)))?;
        Some(Self { mark, words: words.trim(), is_last })
    }

    /// True if the words go on in this line. An attribute such as `#[test]` below `//` is no comment.
    fn goes_on_in(&self, next: &Line<'_>) -> bool {
        let is_like = next.mark == self.mark || (self.mark == "/*" && next.mark == "*");
        is_like && !is_instruction(next.words)
    }
}

/// The instruction in the comment that a line belongs to.
fn comment(lines: &[&str], line: u32) -> Option<Comment> {
    let at = usize::try_from(line).ok()?;
    let of = |at: usize| lines.get(at).and_then(|line| Line::read(line));
    let above = (0..=at).rev().map_while(|at| Some((at, of(at)?)));
    let (first, begin) = above.into_iter().find(|(_, line)| is_instruction(line.words))?;
    let mut words = vec![begin.words.get(NAME.len()..)?.trim()];
    let (mut last, mut is_over) = (first, begin.is_last);
    while let Some(next) = of(last + 1).filter(|next| !is_over && begin.goes_on_in(next)) {
        words.push(next.words);
        (last, is_over) = (last + 1, next.is_last);
    }
    words.retain(|words| !words.is_empty());
    let number = |at: usize| u32::try_from(at).ok();
    let is_one = at <= last && !words.is_empty();
    is_one.then_some(Comment { lines: [number(first)?, number(last)?], words: words.join(" ") })
}

fn is_instruction(words: &str) -> bool {
    words.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME))
}

/// The last line of what a comment is about: the symbol below it; else the lines up to the next blank one.
fn end(lines: &[&str], symbols: &[[u32; 2]], comment: u32) -> u32 {
    let below = comment.saturating_add(1)..=comment.saturating_add(BETWEEN);
    if let Some([_, end]) = symbols.iter().filter(|it| below.contains(&it[0])).min_by_key(|it| it[0]) {
        return *end;
    }
    let from = usize::try_from(comment).unwrap_or(usize::MAX).saturating_add(1);
    let paragraph = lines.iter().skip(from).take_while(|line| !line.trim().is_empty()).count();
    comment.saturating_add(u32::try_from(paragraph).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
use std::fmt;

// Azimuth: make this iterative,
// and keep its name.
fn sum(n: u32) -> u32 {
    if n == 0 {
        return 0;
    }

    n + sum(n - 1)
}

fn other() {
    let a = 1;
    /* azimuth: rename this */
    let b = 2;
    let c = 3;

    drop((a, b, c));
}
";

    fn about(name: &str, text: &str, selected: [u32; 2]) -> Option<(String, [u32; 2])> {
        let lines: Vec<_> = text.lines().collect();
        let symbols = symbols(Path::new(name), &Arc::from(text));
        found(&lines, &symbols, selected).map(|(comment, about)| (comment.words, about))
    }

    #[test]
    fn an_instruction_in_a_comment_is_about_what_is_below_it_or_selected_with_it() {
        let iterative = |lines| Some(("make this iterative, and keep its name.".to_owned(), lines));
        let rename = |lines| Some(("rename this".to_owned(), lines));
        for (selected, expected) in [
            ([2, 2], iterative([2, 10])),
            ([3, 3], iterative([2, 10])),
            ([4, 4], iterative([2, 10])),
            ([9, 9], iterative([2, 10])),
            ([2, 3], iterative([2, 10])),
            ([0, 6], iterative([0, 6])),
            ([4, 6], iterative([2, 6])),
            ([14, 14], rename([14, 16])),
            ([15, 15], rename([14, 16])),
            ([13, 15], rename([13, 15])),
            ([0, 0], None),
            ([12, 12], None),
            ([18, 18], None),
            ([5, 8], None),
            ([400, u32::MAX], None),
        ] {
            assert_eq!(about("a.rs", TEXT, selected), expected, "{selected:?}");
        }
    }

    #[test]
    fn comments_of_many_languages_are_known_and_other_lines_are_none() {
        for line in [
            "# azimuth: do it",
            "-- azimuth: do it",
            "<!-- azimuth: do it -->",
            "  ; AZIMUTH: do it",
            "% azimuth:do it",
        ] {
            assert_eq!(about("a.txt", &format!("{line}\nx\n"), [0, 0]), Some(("do it".to_owned(), [0, 1])), "{line}");
        }
        for line in
            ["// azimuth:", "// azimuth is good", "let azimuth: u32 = 1;", "azimuth: do it", "// see azimuth: it"]
        {
            assert_eq!(about("a.txt", &format!("{line}\nx\n"), [0, 0]), None, "{line}");
        }
        let attribute = "// azimuth: do it\n#[test]\nfn a() {\n}\n\n";
        for line in 0..4 {
            let found = about("a.rs", attribute, [line, line]);
            assert_eq!(found, Some(("do it".to_owned(), [0, 3])), "{line}");
        }
        let block = "/* azimuth: do it\n * well\n */\nx = 1;\n*y = 2;\n";
        assert_eq!(about("a.c", block, [1, 1]), Some(("do it well".to_owned(), [0, 4])));
        assert_eq!(about("a.txt", "# azimuth: write it", [0, 0]), Some(("write it".to_owned(), [0, 0])));
    }
}
