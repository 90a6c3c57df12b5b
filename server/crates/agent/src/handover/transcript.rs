//! A conversation as a text: to be kept, and for a model that reads only a part of it.

use std::fmt::Write;
use std::sync::Arc;

use ports::model::{Message, UserBlock};
use protocol::{AssistantBlock, ToolResult};

/// Of a result this many characters are in a shortened transcript, its head and its tail.
const OF_RESULT: usize = 2_000;

/// All of a conversation but for images and thinking.
pub fn transcript(messages: &[Arc<Message>]) -> String {
    let mut text = String::new();
    messages.iter().for_each(|message| write_message(&mut text, message, usize::MAX));
    text
}

/// The end of a conversation in at most so many characters, long results shortened.
pub fn shortened(messages: &[Arc<Message>], longest: usize) -> String {
    let mut parts = Vec::new();
    let mut left = longest;
    for message in messages.iter().rev() {
        let mut part = String::new();
        write_message(&mut part, message, OF_RESULT);
        // One that is very long must not be all that there is, nor end it.
        let part = super::middle_cut(&part, longest / 4);
        let length = part.chars().count();
        if length > left {
            parts.push("[The conversation before this is left out here.]\n\n".to_owned());
            break;
        }
        left -= length;
        parts.push(part);
    }
    parts.into_iter().rev().collect()
}

fn write_message(text: &mut String, message: &Message, of_result: usize) {
    // Writing into a string cannot fail.
    match message {
        Message::User(blocks) => {
            let _ = writeln!(text, "USER:");
            for block in blocks {
                let said = match block {
                    UserBlock::Text(said) => said.as_str(),
                    UserBlock::Image { .. } => "[an image]",
                };
                let _ = writeln!(text, "{said}");
            }
        }
        Message::Assistant(blocks) => {
            let _ = writeln!(text, "ASSISTANT:");
            for block in blocks {
                let _ = match block {
                    AssistantBlock::Text { text: said, .. } => writeln!(text, "{said}"),
                    AssistantBlock::ToolCall { name, input, .. } => writeln!(text, "[calls {name} with {input}]"),
                    AssistantBlock::Thinking { .. } => Ok(()),
                };
            }
        }
        Message::ToolResults(results) => {
            for ToolResult { text: said, is_error, .. } in results {
                let what = if *is_error { "ERROR" } else { "RESULT" };
                let _ = writeln!(text, "{what}:\n{}", super::middle_cut(said, of_result));
            }
        }
    }
    text.push('\n');
}
