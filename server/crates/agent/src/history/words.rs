//! The words of prompts, mentions and notes as the model reads them.

use ports::model::UserBlock;
use protocol::checkpoint::{Direction, RestoreOutcome, RestoredFile};
use protocol::{PromptBlock, Range};

use crate::tags::{self, NOTE};
use crate::uri::path_of;

/// True if a prompt says nothing.
pub(super) fn is_empty(prompt: &[PromptBlock]) -> bool {
    prompt.iter().all(|block| matches!(block, PromptBlock::Text { text } if text.trim().is_empty()))
}

/// A user's message: what the mentions came to, then the prompt as it was typed, mentions as `@path` in their place.
pub(super) fn user(context: &str, prompt: &[PromptBlock]) -> Vec<UserBlock> {
    let mut blocks = Vec::new();
    push_text(&mut blocks, tags::quoted(context).into_owned());
    if is_empty(prompt) {
        return blocks;
    }
    let mut text = String::new();
    for block in prompt {
        match block {
            PromptBlock::Text { text: typed } => {
                // A mention that ends in a letter must not run into the word after it.
                if text.ends_with(|c: char| !c.is_whitespace()) && typed.starts_with(char::is_alphanumeric) {
                    text.push(' ');
                }
                text.push_str(typed);
            }
            PromptBlock::File { uri } => mention(&mut text, &path(uri)),
            PromptBlock::Range { uri, range } => mention(&mut text, &format!("{}:{}", path(uri), lines(range))),
            PromptBlock::Selection { uri, range, .. } => {
                mention(&mut text, &format!("{}:{} (selected)", path(uri), lines(range)));
            }
            PromptBlock::Image { mime_type, data } => {
                push_text(&mut blocks, std::mem::take(&mut text));
                blocks.push(UserBlock::Image { mime_type: mime_type.clone(), data: data.clone() });
            }
        }
    }
    push_text(&mut blocks, text);
    blocks
}

/// The words of a prompt as they were typed, mentions as `@path`, and an image as the words that there is one.
pub(super) fn typed(prompt: &[PromptBlock]) -> String {
    let text = |block: &UserBlock| match block {
        UserBlock::Text(text) => text.clone(),
        UserBlock::Image { .. } => "[an image]".to_owned(),
    };
    user("", prompt).iter().map(text).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Words that came with a decision or an answer.
pub(super) fn aside(text: &str) -> String {
    format!("(with a decision or an answer) {}", text.trim())
}

/// A note of ours. It is marked, so that the model does not take it for the user's words.
pub(super) fn note(text: &str) -> Vec<UserBlock> {
    let mut blocks = Vec::new();
    if !text.trim().is_empty() {
        // Anybody may have written what it tells of.
        push_text(&mut blocks, format!("<{NOTE}>\n{}\n</{NOTE}>", tags::quoted(text.trim())));
    }
    blocks
}

/// A command of the user's own, and what came of it.
pub(super) fn ran(command: &str, text: &str, exit_code: Option<i32>) -> String {
    let printed = if text.trim().is_empty() { "[no output]" } else { text.trim_end() };
    let how = exit_code.map_or_else(|| "[it was stopped, or not run]".to_owned(), |code| format!("[exit code {code}]"));
    format!("The user ran a command in the session's shell:\n$ {command}\n{printed}\n{how}")
}

/// Describes what the user undid or redid. Empty if no file was changed by it.
pub(super) fn restored(direction: Direction, files: &[RestoredFile]) -> String {
    let is_set = |file: &&RestoredFile| matches!(file.outcome, RestoreOutcome::Done | RestoreOutcome::Unverified);
    let (set, others): (Vec<_>, Vec<_>) = files.iter().partition(is_set);
    if set.is_empty() {
        return String::new();
    }
    let mut text = match direction {
        Direction::Undo => "The user took back what you did to files. As they were before: ",
        Direction::Redo => "The user redid your changes that had been undone. As you left them: ",
    }
    .to_owned();
    text.push_str(&names(&set));
    if !others.is_empty() {
        text.push_str("; not touched by it: ");
        text.push_str(&names(&others));
    }
    text.push_str(". Read them again before you rely on them.");
    text
}

/// At most this many files are named.
const MOST_NAMED: usize = 30;

fn names(files: &[&RestoredFile]) -> String {
    let named: Vec<&str> = files.iter().take(MOST_NAMED).map(|file| file.path.as_str()).collect();
    let rest = files.len() - named.len();
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    named.join(", ") + &more
}

/// Returns the words to use if the user said nothing but that the work should go on.
pub(super) fn go_on() -> Vec<UserBlock> {
    vec![UserBlock::Text("Go on from where you stopped.".to_owned())]
}

fn push_text(blocks: &mut Vec<UserBlock>, text: String) {
    if !text.trim().is_empty() {
        blocks.push(UserBlock::Text(text));
    }
}

fn mention(text: &mut String, what: &str) {
    if text.ends_with(|c: char| !c.is_whitespace() && c != '(') {
        text.push(' ');
    }
    text.push('@');
    text.push_str(what);
}

/// Line numbers as people count, from 1, the last one included.
fn lines(range: &Range) -> String {
    let [first, last] = range.lines().map(|line| line.saturating_add(1));
    if last > first { format!("{first}-{last}") } else { first.to_string() }
}

fn path(uri: &str) -> String {
    path_of(uri).unwrap_or_else(|| uri.to_owned())
}
