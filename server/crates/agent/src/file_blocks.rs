//! Files that the model writes in the text of its answer, where a call is too short for them.
//!
//! ```text
//! <azimuth_file path="src/long.rs">
//! the file's lines, as they are
//! </azimuth_file>
//! ```
//!
//! Each tag is a line of its own. Text comes in pieces that are cut anywhere, so what may yet be a tag is held back. What
//! stands in a Markdown fence is text; within a file nothing is a tag but the end of it.
//!
//! A file becomes a call of `edit_create_file`. If the answer ends within it, the lines that came become one all the same,
//! and the model is asked for the rest, which it gives in a block with `mode="append"`: that becomes a call of
//! `edit_insert_at_line`, at the file's end. That a call was a block, and where it stands in such a chain, is said by its
//! id, so that the log alone tells it.

use std::sync::Arc;

use protocol::{AssistantBlock, MessageId, ToolCallId, TurnId};
use serde_json::{Value, json};

use crate::history::OpenCall;
use crate::model::Message;

/// The tool that a file becomes a call of.
pub const CREATE: &str = "edit_create_file";
/// The tool that the rest of a file becomes a call of.
pub const APPEND: &str = "edit_insert_at_line";

/// The longest file that is taken, in bytes of JSON.
pub(crate) const LONGEST: usize = 4 << 20;
/// How often the rest of a file is asked for.
const MOST_CONTINUED: u32 = 3;
/// How many lines of what has come the model is shown, to go on behind them, and how many bytes of these.
const TAIL_LINES: usize = 30;
const TAIL_BYTES: usize = 4_000;
/// A last line that is longer, in bytes, and not whole, is kept as it is; a shorter one is asked for again.
const LONGEST_LINE: usize = 4_000;

const OPENING: &str = "<azimuth_file";
const CLOSING: &str = "</azimuth_file>";
/// An opening tag that is longer, in bytes, is none.
const LONGEST_TAG: usize = 4_096;

/// How the ids of such calls begin.
const ID: &str = "file-";
/// What stands before the number of times that the file has broken off.
const CUT: &str = "-cut";
/// How they end for the rest of a file that never began, and for the beginning of one whose rest is due.
const NO_BEGINNING: &str = "-rest";
const BEGUN_ANEW: &str = "-anew";

/// A piece of an answer's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text to show.
    Text(String),
    /// A file begins.
    Begun(Head),
    /// Text of the file.
    Content(String),
    /// The file ends.
    Ended,
}

/// What an opening tag says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The file, as the model names it.
    pub path: String,
    /// Whether it is the rest of a file that broke off.
    pub appends: bool,
}

/// Tells files from text as an answer comes.
#[derive(Clone, Debug, Default)]
pub struct Parser {
    /// The line that is read, as far as it has come.
    line: String,
    /// How much of it has been given.
    given: usize,
    /// The fence that the text is in: its character and its length.
    fence: Option<(char, usize)>,
    in_file: bool,
}

impl Parser {
    /// Takes the next piece.
    pub fn push(&mut self, piece: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                self.end_line(&mut pieces);
            } else if !self.may_be_tag() {
                self.give(&mut pieces);
            }
        }
        pieces
    }

    /// The text ends, or something else stands between it and more of it. What was held back is given; a file goes on.
    pub fn pause(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if self.in_file && is_closing(&self.line) {
            self.end_line(&mut pieces);
        } else {
            self.give(&mut pieces);
            if !self.in_file {
                self.line.clear();
                self.given = 0;
            }
        }
        pieces
    }

    /// Whether the line may become a tag with what is still to come.
    fn may_be_tag(&self) -> bool {
        let line = self.line.as_str();
        if self.given > 0 {
            return false;
        }
        if self.in_file {
            return CLOSING.starts_with(line) || is_closing(line);
        }
        self.fence.is_none() && (OPENING.starts_with(line) || (line.starts_with(OPENING) && line.len() <= LONGEST_TAG))
    }

    fn end_line(&mut self, pieces: &mut Vec<Piece>) {
        if self.given == 0 && self.in_file && is_closing(&self.line) {
            self.in_file = false;
            pieces.push(Piece::Ended);
        } else if let Some(head) = head(&self.line).filter(|_| self.given == 0 && !self.in_file && self.fence.is_none())
        {
            self.in_file = true;
            pieces.push(Piece::Begun(head));
        } else {
            self.give(pieces);
            if !self.in_file {
                self.fence = fence_after(self.fence, &self.line);
            }
        }
        self.line.clear();
        self.given = 0;
    }

    fn give(&mut self, pieces: &mut Vec<Piece>) {
        let text = self.line.get(self.given..).unwrap_or_default();
        self.given = self.line.len();
        match pieces.last_mut() {
            _ if text.is_empty() => {}
            Some(Piece::Content(last)) if self.in_file => last.push_str(text),
            Some(Piece::Text(last)) if !self.in_file => last.push_str(text),
            _ if self.in_file => pieces.push(Piece::Content(text.to_owned())),
            _ => pieces.push(Piece::Text(text.to_owned())),
        }
    }
}

fn is_closing(line: &str) -> bool {
    line.strip_prefix(CLOSING).is_some_and(|rest| rest.trim().is_empty())
}

/// What an opening tag says; none for any other line.
fn head(line: &str) -> Option<Head> {
    let mut rest = line.strip_prefix(OPENING)?.trim_end().strip_suffix('>')?;
    let (mut path, mut appends) = (None, false);
    while let Some(attribute) = rest.strip_prefix(char::is_whitespace).map(str::trim_start) {
        let (name, value) = attribute.split_once("=\"")?;
        let (value, behind) = value.split_once('"')?;
        match name {
            "path" if path.is_none() && !value.trim().is_empty() => path = Some(value.trim().to_owned()),
            "mode" if value == "append" => appends = true,
            _ => return None,
        }
        rest = behind;
    }
    rest.is_empty().then_some(Head { path: path?, appends })
}

/// The fence that the text is in after a line.
fn fence_after(fence: Option<(char, usize)>, line: &str) -> Option<(char, usize)> {
    let bare = line.trim_start_matches(' ');
    let mark = bare.chars().next().filter(|mark| ['`', '~'].contains(mark) && line.len() - bare.len() < 4);
    let Some(mark) = mark else { return fence };
    let info = bare.trim_start_matches(mark);
    let length = bare.len() - info.len();
    match fence {
        None if length >= 3 && !(mark == '`' && info.contains('`')) => Some((mark, length)),
        Some((open, least)) if open == mark && length >= least && info.trim().is_empty() => None,
        _ => fence,
    }
}

/// An answer's content with its files as calls, each in its place. `messages` is the conversation before it.
pub(crate) fn into_calls(
    content: Vec<AssistantBlock>,
    message_id: &MessageId,
    messages: &[Arc<Message>],
) -> Vec<AssistantBlock> {
    let mut made = Vec::with_capacity(content.len());
    let mut parser = Parser::default();
    let mut file: Option<File> = None;
    let mut number = 0;
    for block in content {
        let AssistantBlock::Text { text } = block else {
            made.push(block);
            continue;
        };
        let mut shown = String::new();
        for piece in parser.push(&text).into_iter().chain(parser.pause()) {
            match piece {
                Piece::Text(text) => shown.push_str(&text),
                Piece::Begun(head) => {
                    number += 1;
                    made.extend(text_block(std::mem::take(&mut shown)));
                    file = Some(File { head, content: String::new() });
                }
                Piece::Content(text) => file.iter_mut().for_each(|file| file.content.push_str(&text)),
                Piece::Ended => {
                    made.extend(file.take().map(|file| file.call(&call_id(message_id, number), false, messages)))
                }
            }
        }
        made.extend(text_block(shown));
    }
    // It ends within a file.
    let rest = file.and_then(|File { head, content }| match whole_lines(&content) {
        "" => text_block(content),
        lines => Some(File { head, content: lines.to_owned() }.call(&call_id(message_id, number), true, messages)),
    });
    made.extend(rest);
    made
}

/// A vendor's own call, with another id where its own is one that only files have.
pub(crate) fn without_claim(block: AssistantBlock) -> AssistantBlock {
    match block {
        AssistantBlock::ToolCall { id, name, input } if is_block(&id) => {
            AssistantBlock::ToolCall { id: ToolCallId::new(format!("call-{id}")), name, input }
        }
        other => other,
    }
}

fn text_block(text: String) -> Option<AssistantBlock> {
    (!text.is_empty()).then_some(AssistantBlock::Text { text })
}

/// The id of the call that a message's file becomes, if it is whole; the files of a message count from 1.
pub(crate) fn call_id(message_id: &MessageId, number: usize) -> ToolCallId {
    ToolCallId::new(format!("{ID}{message_id}-{number}"))
}

/// Whether a call was a file in an answer's text.
pub fn is_block(id: &ToolCallId) -> bool {
    id.as_str().starts_with(ID)
}

/// Whether a call was a file of which the rest is missing.
pub fn is_cut(id: &ToolCallId) -> bool {
    cuts(id).is_some()
}

/// How often a file has broken off, the last time with this call.
fn cuts(id: &ToolCallId) -> Option<u32> {
    let (_, cuts) = id.as_str().strip_prefix(ID)?.rsplit_once(CUT)?;
    cuts.parse().ok()
}

/// Whether an answer's text has come to something that is worth to be kept if the rest of the answer is lost: a file, or
/// whole lines of one.
pub(crate) fn is_worth_keeping(content: &[AssistantBlock]) -> bool {
    let made = into_calls(content.to_vec(), &MessageId::from(""), &[]);
    made.iter().any(|block| matches!(block, AssistantBlock::ToolCall { id, .. } if is_block(id)))
}

/// What the model is told with the result of a call that was the beginning of a file; none for any other call.
pub(crate) fn go_on(call: &OpenCall) -> Option<String> {
    let cuts = cuts(&call.id)?;
    let (path, content) = (field(&call.input, "path")?, field(&call.input, "content")?);
    let lines = first_line(&call.input) + count(content);
    if !is_continued(content, cuts) {
        return Some(format!(
            "The answer ended within the file {path}: {lines} lines of it have come, and it is not whole. Add what is \
             missing with further edits, or tell the user."
        ));
    }
    Some(format!(
        "The answer ended within the file {path}: {lines} lines of it have come, and the rest is missing. They end \
         with:\n{}\nGo on now with the line below these, and repeat none of them. Begin with the line `{OPENING} \
         path=\"{path}\" mode=\"append\">` and end with the line `{CLOSING}`.",
        tail(content).trim_end_matches('\n')
    ))
}

/// The file of a call that is not whole and whose rest is not asked for.
pub(crate) fn given_up(call: &OpenCall) -> Option<&str> {
    let (cuts, content) = (cuts(&call.id)?, field(&call.input, "content")?);
    field(&call.input, "path").filter(|_| !is_continued(content, cuts))
}

/// Why a call that was a file must not be made; none for any other call.
pub(crate) fn problem(call: &OpenCall) -> Option<String> {
    let path = field(&call.input, "path").filter(|_| is_block(&call.id))?;
    if call.id.as_str().ends_with(NO_BEGINNING) {
        return Some(format!(
            "no block of {path} broke off, so there is nothing to append to; nothing was done. Add to a file that is there \
             with an edit of it"
        ));
    }
    call.id.as_str().ends_with(BEGUN_ANEW).then(|| {
        format!(
            "the beginning of {path} is there already, as you were told; nothing was done. Give what is missing, from where \
             it broke off, in a block with mode=\"append\""
        )
    })
}

/// A file, or the rest of one, as an answer has it.
struct File {
    head: Head,
    content: String,
}

impl File {
    /// The call that it becomes; `is_cut` if the answer ended within it.
    fn call(self, id: &ToolCallId, is_cut: bool, messages: &[Arc<Message>]) -> AssistantBlock {
        let Self { head: Head { path, appends }, content } = self;
        let beginning = Beginning::of(&path, appends, messages);
        let create = json!({ "path": path, "content": content });
        let (name, input, mark) = match beginning {
            Some(Beginning { content: above, lines, cuts }) if appends => {
                let content = without_repetition(&above, &content);
                let mark = if is_cut { format!("{CUT}{}", cuts + 1) } else { String::new() };
                (APPEND, json!({ "path": path, "line": lines + 1, "content": content }), mark)
            }
            None if appends => (CREATE, create, NO_BEGINNING.to_owned()),
            // It may be the rest, or all of it once more: written over the beginning, the rest alone would be wrong.
            Some(_) => (CREATE, create, BEGUN_ANEW.to_owned()),
            None => (CREATE, create, if is_cut { format!("{CUT}1") } else { String::new() }),
        };
        AssistantBlock::ToolCall { id: ToolCallId::new(format!("{id}{mark}")), name: name.to_owned(), input }
    }
}

/// What has come of a file whose rest is due.
struct Beginning {
    /// What came last of it.
    content: String,
    /// How many lines there are.
    lines: usize,
    /// How often it has broken off.
    cuts: u32,
}

impl Beginning {
    /// The beginning of this file, if its rest is due. Where the rest is said to come, other calls may have been made since:
    /// whether it still fits is seen when it is put there.
    fn of(path: &str, is_rest: bool, messages: &[Arc<Message>]) -> Option<Self> {
        let (_, input, cuts) = due(messages, is_rest)?;
        let content = field(input, "content").filter(|_| field(input, "path").map(plain) == Some(plain(path)))?;
        Some(Self { content: content.to_owned(), lines: first_line(input) + count(content), cuts })
    }
}

/// The last call of all, or with `past_others` the last that was a file, and how often the file has broken off, if it is the
/// beginning of one whose rest is due. Blocks that were no call do not count.
fn due(messages: &[Arc<Message>], past_others: bool) -> Option<(&ToolCallId, &Value, u32)> {
    let is_call = |id: &str| !(id.ends_with(NO_BEGINNING) || id.ends_with(BEGUN_ANEW));
    let counts = |id: &ToolCallId| if is_block(id) { is_call(id.as_str()) } else { !past_others };
    let mut failed: Vec<&ToolCallId> = Vec::new();
    for message in messages.iter().rev() {
        match &**message {
            Message::User(_) => {}
            Message::ToolResults(results) => {
                failed.extend(results.iter().filter(|result| result.is_error).map(|result| &result.tool_call_id));
            }
            Message::Assistant(blocks) => {
                let last = blocks.iter().rev().find_map(|block| match block {
                    AssistantBlock::ToolCall { id, input, .. } if counts(id) => Some((id, input)),
                    _ => None,
                });
                let Some((id, input)) = last else { continue };
                let cuts = cuts(id).filter(|_| !failed.contains(&id))?;
                return is_continued(field(input, "content")?, cuts).then_some((id, input, cuts));
            }
        }
    }
    None
}

/// The file whose rest is still due, if this turn began it or went on with it, and has called nothing since that may have
/// made it whole.
pub(crate) fn unfinished<'m>(messages: &'m [Arc<Message>], turn: &TurnId) -> Option<&'m str> {
    let (id, input, _) = due(messages, false)?;
    field(input, "path").filter(|_| id.as_str().starts_with(&format!("{ID}{turn}-")))
}

/// Whether the rest of a file is asked for.
fn is_continued(content: &str, cuts: u32) -> bool {
    // Nothing can be put behind a line that is not whole.
    cuts <= MOST_CONTINUED && content.ends_with('\n')
}

fn plain(path: &str) -> &str {
    path.trim_start_matches("./")
}

fn field<'a>(input: &'a Value, name: &str) -> Option<&'a str> {
    input.get(name)?.as_str()
}

/// How many lines stand above what a call puts in.
fn first_line(input: &Value) -> usize {
    let line = input.get("line").and_then(Value::as_u64).and_then(|line| usize::try_from(line).ok());
    line.unwrap_or(1).saturating_sub(1)
}

fn count(content: &str) -> usize {
    content.matches('\n').count()
}

/// What of a file that broke off is kept: its whole lines, or all of it where the last line is long.
fn whole_lines(content: &str) -> &str {
    let end = content.rfind('\n').map_or(0, |at| at + 1);
    if content.len() - end > LONGEST_LINE { content } else { content.get(..end).unwrap_or_default() }
}

/// The last lines of a text, whole ones where there are any so short.
fn tail(content: &str) -> &str {
    let lines = content.trim_end_matches('\n').rmatch_indices('\n').nth(TAIL_LINES - 1).map_or(0, |(at, _)| at + 1);
    let tail = content.get(lines..).unwrap_or_default();
    let cut = tail.get(tail.ceil_char_boundary(tail.len().saturating_sub(TAIL_BYTES))..).unwrap_or_default();
    match cut.split_once('\n') {
        Some((_, whole)) if cut.len() < tail.len() && !whole.is_empty() => whole,
        _ => cut,
    }
}

/// The rest of a file without the lines that it repeats of what came before. Lines count as repeated only where they stand
/// nowhere else above: of those that do, such as a lone bracket, nobody can tell.
fn without_repetition<'r>(before: &str, rest: &'r str) -> &'r str {
    let above: Vec<&str> = before.split_inclusive('\n').collect();
    let lines: Vec<&str> = rest.split_inclusive('\n').collect();
    let same = |one: &str, other: &str| one.trim_end_matches(['\r', '\n']) == other.trim_end_matches(['\r', '\n']);
    let repeats = |count: &usize| {
        let end = above.get(above.len() - count..).unwrap_or_default();
        let head = lines.get(..*count).unwrap_or_default();
        let is_there = |window: &[&str]| window.iter().zip(head).all(|(one, other)| same(one, other));
        is_there(end)
            && head.iter().any(|line| line.chars().any(char::is_alphanumeric))
            && above.windows(*count).filter(|window| is_there(window)).count() == 1
    };
    let most = TAIL_LINES.min(above.len()).min(lines.len());
    let repeated = (1..=most).rev().find(repeats).unwrap_or_default();
    let bytes = lines.iter().take(repeated).map(|line| line.len()).sum::<usize>();
    rest.get(bytes..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use protocol::ToolResult;

    use super::*;

    /// What a text comes to, cut into these pieces: neighbouring pieces of one kind are one.
    fn parsed<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<Piece> {
        let mut parser = Parser::default();
        let mut all: Vec<Piece> = Vec::new();
        let mut found: Vec<Piece> = pieces.into_iter().flat_map(|piece| parser.push(piece)).collect();
        found.extend(parser.pause());
        for piece in found {
            match (all.last_mut(), piece) {
                (Some(Piece::Text(last)), Piece::Text(more)) => last.push_str(&more),
                (Some(Piece::Content(last)), Piece::Content(more)) => last.push_str(&more),
                (_, piece) => all.push(piece),
            }
        }
        all
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.into())
    }

    fn begun(path: &str, appends: bool) -> Piece {
        Piece::Begun(Head { path: path.into(), appends })
    }

    fn content(text: &str) -> Piece {
        Piece::Content(text.into())
    }

    #[test]
    fn a_file_is_told_from_the_text_around_it() {
        let answer = "Here it is:\n<azimuth_file path=\"src/a b.rs\">\nfn a() {}\n\n</azimuth_file>\nDone.";
        let file =
            [text("Here it is:\n"), begun("src/a b.rs", false), content("fn a() {}\n\n"), Piece::Ended, text("Done.")];
        assert_eq!(parsed([answer]), file);
        let rest = "<azimuth_file path=\"a\" mode=\"append\">  \r\nx\r\n</azimuth_file> \r\n<azimuth_file mode=\"append\" path=\"b\">\n</azimuth_file>";
        let files = [begun("a", true), content("x\r\n"), Piece::Ended, begun("b", true), Piece::Ended];
        assert_eq!(parsed([rest]), files);
        assert_eq!(
            parsed(["<azimuth_file path=\"a\">\nx\n</azimuth_fi"]),
            [begun("a", false), content("x\n</azimuth_fi")]
        );
    }

    #[test]
    fn within_a_file_only_its_end_is_a_tag() {
        let inner = "say </azimuth_file> here\n  </azimuth_file>\n</azimuth_file> no\n</azimuth_files>\n<azimuth_file path=\"b\">\n```\n";
        let answer = format!("<azimuth_file path=\"a\">\n{inner}</azimuth_file>\n");
        assert_eq!(parsed([answer.as_str()]), [begun("a", false), content(inner), Piece::Ended]);
    }

    #[test]
    fn what_is_no_tag_of_its_own_line_is_text() {
        let tag = "<azimuth_file path=\"a\">\n";
        for answer in [
            format!("`{tag}"),
            format!(" {tag}"),
            format!("```xml\n{tag}```\n"),
            format!("   ~~~~\n~~~\n{tag}"),
            "<azimuth_file>\n".into(),
            "<azimuth_file path=\"\">\n".into(),
            "<azimuth_file path=\"a\" mode=\"x\">\n".into(),
            "<azimuth_file path=\"a\" path=\"b\">\n".into(),
            "<azimuth_file path=\"a\"> x\n".into(),
            "<azimuth_file path=\"a\">".into(),
            "<azimuth_filepath=\"a\">\n".into(),
            "</azimuth_file>\n".into(),
            format!("<azimuth_file path=\"{}\">\n", "a".repeat(LONGEST_TAG)),
        ] {
            let mut cut = answer.split_inclusive(|_| true);
            assert_eq!(parsed(cut.by_ref()), [text(&answer)], "{answer}");
        }
        let behind = format!("```\ncode\n```\n```not a fence` \n{tag}");
        assert_eq!(parsed([behind.as_str()]).last(), Some(&begun("a", false)));
    }

    #[test]
    fn what_may_be_a_tag_is_held_back_and_nothing_else() {
        let mut parser = Parser::default();
        assert_eq!(parser.push("Look: <azi"), [text("Look: <azi")]);
        assert_eq!(parser.push("\n<azimuth_f"), [text("\n")]);
        assert_eq!(parser.push("ish>"), [text("<azimuth_fish>")]);
        assert_eq!(parser.push("\n<azimuth_file path=\"a"), [text("\n")]);
        assert_eq!(parser.push("\">\nfirst\n</azimuth"), [begun("a", false), content("first\n")]);
        assert_eq!(parser.push("_x>"), [content("</azimuth_x>")]);
        assert_eq!(parser.push("\n</azimuth_file>"), [content("\n")]);
        assert_eq!(parser.pause(), [Piece::Ended]);
    }

    proptest! {
        #[test]
        fn wherever_an_answer_is_cut_it_comes_to_the_same_and_nothing_is_lost(
            parts in prop::collection::vec(prop::sample::select(vec![
                "<azimuth_file path=\"a\">", "<azimuth_file path=\"b\" mode=\"append\">", "</azimuth_file>", "\n", "\n", "\r\n", "```",
                "~~~~", " ", "x", "\u{e9}", "<", "<azimuth", "</azimuth_file", "path",
            ]), 0..24),
            cuts in prop::collection::vec(0usize..200, 0..6),
        ) {
            let answer = parts.concat();
            let whole = parsed([answer.as_str()]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| answer.floor_char_boundary(cut.min(answer.len()))).collect();
            cuts.extend([0, answer.len()]);
            cuts.sort_unstable();
            prop_assert_eq!(&parsed(cuts.windows(2).map(|cut| &answer[cut[0]..cut[1]])), &whole);
            prop_assert_eq!(&parsed(answer.split_inclusive(|_| true)), &whole);
            let (mut kept, mut tags, mut in_file) = (0, 0, false);
            for piece in &whole {
                match piece {
                    Piece::Text(text) => { kept += text.len(); prop_assert!(!in_file); }
                    Piece::Content(text) => { kept += text.len(); prop_assert!(in_file); }
                    Piece::Begun(_) => { tags += 1; prop_assert!(!std::mem::replace(&mut in_file, true)); }
                    Piece::Ended => { tags += 1; prop_assert!(std::mem::replace(&mut in_file, false)); }
                }
            }
            prop_assert!(kept <= answer.len() && (tags > 0 || kept == answer.len()));
        }

        #[test]
        fn a_file_comes_out_as_it_went_in(lines in prop::collection::vec("[a-z<>/ `~_\u{e9}]{0,20}", 0..20), cut in 0usize..300) {
            let file: String = lines.iter().map(|line| format!("{line}\n")).collect();
            let answer = format!("<azimuth_file path=\"a\">\n{file}</azimuth_file>\n");
            let (head, tail) = answer.split_at(answer.floor_char_boundary(cut.min(answer.len())));
            let inner = parsed([head, tail]).into_iter().filter_map(|piece| match piece {
                Piece::Content(text) => Some(text),
                _ => None,
            });
            prop_assert_eq!(inner.collect::<String>(), file);
        }

        #[test]
        fn the_rest_of_a_file_is_joined_to_what_it_repeats(
            lines in prop::collection::vec("[a-c]{0,2}[})]?", 2..50), at in 1usize..50, repeated in 0usize..TAIL_LINES,
        ) {
            // Every line but lone brackets is the only one of its kind.
            let lines: Vec<String> = lines.iter().enumerate().map(|(at, line)| match line.as_str() {
                "" | "}" | ")" => format!("{line}\n"),
                line => format!("{line}{at}\n"),
            }).collect();
            let at = at.min(lines.len() - 1);
            let (above, below) = (lines[..at].concat(), lines[at..].concat());
            prop_assert_eq!(without_repetition(&above, &below), &below, "what repeats nothing stays");
            let from = at.saturating_sub(repeated);
            let unique = lines[from..at].iter().any(|line| line.chars().any(char::is_alphanumeric));
            let with_more = lines[from..].concat();
            if unique {
                prop_assert_eq!(without_repetition(&above, &with_more), &below);
            }
        }
    }

    fn id(id: &str) -> MessageId {
        MessageId::from(id)
    }

    fn called(content: &str, message: &str, before: &[Arc<Message>]) -> Vec<AssistantBlock> {
        let text = AssistantBlock::Text { text: content.to_owned() };
        into_calls(vec![text], &id(message), before)
    }

    fn made(id: &str, name: &str, input: Value) -> AssistantBlock {
        AssistantBlock::ToolCall { id: id.into(), name: name.into(), input }
    }

    fn spoken(text: &str) -> AssistantBlock {
        AssistantBlock::Text { text: text.into() }
    }

    /// A conversation in which these blocks were said, and their calls made.
    fn after(blocks: Vec<AssistantBlock>, is_error: bool) -> Vec<Arc<Message>> {
        let results = blocks.iter().filter_map(|block| match block {
            AssistantBlock::ToolCall { id, .. } => {
                Some(ToolResult { tool_call_id: id.clone(), text: "ok".into(), is_error })
            }
            _ => None,
        });
        let results = Message::ToolResults(results.collect());
        vec![Arc::new(Message::Assistant(blocks)), Arc::new(results)]
    }

    fn as_call(block: &AssistantBlock) -> OpenCall {
        let AssistantBlock::ToolCall { id, name, input } = block.clone() else { panic!("no call: {block:?}") };
        OpenCall { id, name, input, has_begun: true }
    }

    #[test]
    fn a_file_becomes_a_call_in_its_place() {
        let answer = "One:\n<azimuth_file path=\"a\">\nx\n</azimuth_file>\nTwo:\n<azimuth_file path=\"b\">\ny\n</azimuth_file>\nEnd.";
        let calls = called(answer, "t1-m1", &[]);
        assert_eq!(
            calls,
            [
                spoken("One:\n"),
                made("file-t1-m1-1", CREATE, json!({ "path": "a", "content": "x\n" })),
                spoken("Two:\n"),
                made("file-t1-m1-2", CREATE, json!({ "path": "b", "content": "y\n" })),
                spoken("End."),
            ]
        );
        assert!(go_on(&as_call(&calls[1])).is_none() && problem(&as_call(&calls[1])).is_none());
        let vendor = made("file-1-cut9", "x", json!({}));
        assert_eq!(without_claim(vendor), made("call-file-1-cut9", "x", json!({})));
    }

    #[test]
    fn a_file_that_breaks_off_goes_on_behind_its_last_whole_line() {
        let first = called("<azimuth_file path=\"a\">\none 1\n}\ntwo 2\nthr", "m1", &[]);
        assert_eq!(first, [made("file-m1-1-cut1", CREATE, json!({ "path": "a", "content": "one 1\n}\ntwo 2\n" }))]);
        let told = go_on(&as_call(&first[0])).unwrap();
        assert!(told.contains("3 lines") && told.contains("one 1\n}\ntwo 2\nGo on"), "{told}");
        let said = after(first, false);

        let second = called("<azimuth_file path=\"./a\" mode=\"append\">\ntwo 2\nthree 3\nfour\nfi", "m2", &said);
        assert_eq!(
            second,
            [made("file-m2-1-cut2", APPEND, json!({ "path": "./a", "line": 4, "content": "three 3\nfour\n" }))]
        );
        assert!(go_on(&as_call(&second[0])).unwrap().contains("5 lines"));
        let said = [said, after(second, false)].concat();
        let third = called("<azimuth_file path=\"a\" mode=\"append\">\nfive\n</azimuth_file>", "m3", &said);
        assert_eq!(third, [made("file-m3-1", APPEND, json!({ "path": "a", "line": 6, "content": "five\n" }))]);
    }

    #[test]
    fn the_rest_is_asked_for_three_times_and_of_a_long_line_not_at_all() {
        let mut said = Vec::new();
        for round in 1..=4 {
            let mode = if round == 1 { "" } else { " mode=\"append\"" };
            let calls =
                called(&format!("<azimuth_file path=\"a\"{mode}>\nline {round}\n"), &format!("m{round}"), &said);
            let call = as_call(&calls[0]);
            assert_eq!(call.id.as_str(), format!("file-m{round}-1-cut{round}"));
            assert_eq!(given_up(&call), (round == 4).then_some("a"), "{round}");
            assert_eq!(go_on(&call).unwrap().contains("Go on now"), round < 4);
            said.extend(after(calls, false));
        }
        let late = called("<azimuth_file path=\"a\" mode=\"append\">\nx\n</azimuth_file>", "m5", &said);
        assert!(problem(&as_call(&late[0])).unwrap().contains("nothing to append to"));

        let long = format!("<azimuth_file path=\"a\">\n[\n{}", "1,".repeat(LONGEST_LINE));
        let calls = called(&long, "m1", &[]);
        assert_eq!(field(&as_call(&calls[0]).input, "content").unwrap().len(), 2 + 2 * LONGEST_LINE);
        assert_eq!(given_up(&as_call(&calls[0])), Some("a"));
        assert_eq!(called("<azimuth_file path=\"a\">\nhalf a line", "m1", &[]), [spoken("half a line")]);
    }

    #[test]
    fn only_what_broke_off_and_was_made_is_gone_on_with() {
        let append = "<azimuth_file path=\"a\" mode=\"append\">\nx\n</azimuth_file>";
        let anew = "<azimuth_file path=\"a\">\nx\n</azimuth_file>";
        let first = called("<azimuth_file path=\"a\">\none\n", "m1", &[]);
        let is_problem =
            |answer: &str, before: &[Arc<Message>]| problem(&as_call(&called(answer, "m2", before)[0])).is_some();
        let (good, bad) = (after(first.clone(), false), after(first, true));
        assert!(!is_problem(append, &good) && is_problem(anew, &good), "the beginning must not be lost");
        assert!(is_problem(append, &bad) && !is_problem(anew, &bad), "there is none");
        assert!(is_problem(append, &[]) && !is_problem(anew, &[]));
        assert!(
            is_problem(&append.replace("\"a\"", "\"b\""), &good) && !is_problem(&anew.replace("\"a\"", "\"b\""), &good)
        );
        let refused = [good.clone(), after(called(anew, "m2", &good), true)].concat();
        assert!(!is_problem(append, &refused), "what was no call changes nothing");
        let other = [good, after(vec![made("v1", "edit", json!({}))], false)].concat();
        assert!(!is_problem(append, &other), "whether it fits is the tool's to see");
        assert!(!is_problem(anew, &other), "it may be meant");
        assert!(is_worth_keeping(&[spoken("<azimuth_file path=\"a\">\none\ntw")]));
        assert!(!is_worth_keeping(&[spoken("<azimuth_file path=\"a\">\non"), spoken("x")]));
    }

    #[test]
    fn lines_that_stand_above_more_than_once_are_not_taken_for_repeated() {
        let rows = "begin\n0, 0,\n0, 0,\n0, 0,\n";
        assert_eq!(without_repetition(rows, "0, 0,\n0, 0,\nend\n"), "0, 0,\n0, 0,\nend\n");
        assert_eq!(without_repetition(rows, &format!("{rows}end\n")), "end\n", "all of it stands there once");
        assert_eq!(without_repetition("a {\n}\n", "}\nb\n"), "}\nb\n");
    }

    #[test]
    fn the_end_that_is_shown_is_bounded() {
        let lines = |count: usize| (1..=count).map(|n| format!("line {n}\n")).collect::<String>();
        assert_eq!(tail(&lines(5)), lines(5));
        assert_eq!(tail(&lines(100)).lines().count(), TAIL_LINES);
        assert!(tail(&lines(100)).starts_with("line 71\n"));
        let long = format!("{}\n", "\u{e9}".repeat(500)).repeat(20);
        assert!(tail(&long).len() <= TAIL_BYTES && tail(&long).lines().all(|line| line.len() == 1000));
        assert!(tail(&"x".repeat(9_000)).len() <= TAIL_BYTES);
    }
}
