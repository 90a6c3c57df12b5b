//! The user's own commands: a prompt that begins with `!` is a command line for the session's shell. With one `!` the
//! model reads what came of it, with two it does not.
//!
//! It is the user's own hand: no permission is asked, in any mode. So only what was typed as a prompt may become one,
//! by its very first character. `\!`, or a blank before it, makes it a prompt for the model, and so does an image of
//! Markdown's.

use protocol::PromptBlock;

/// A command of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// The command line. It may have several lines.
    pub command: String,
    /// True if the model reads it and what came of it.
    pub in_context: bool,
}

/// The command that a prompt is; none if it is a prompt for the model.
///
/// # Errors
/// It begins like one and is none; says why.
pub fn parse(prompt: &[PromptBlock]) -> Option<Result<UserCommand, String>> {
    let [PromptBlock::Text { text }, rest @ ..] = prompt else { return None };
    let line = text.strip_prefix('!').filter(|line| !is_image(line))?;
    let (line, in_context) = line.strip_prefix('!').map_or((line, true), |line| (line, false));
    let command = line.trim();
    Some(if command.is_empty() {
        Err("say what to run after the `!`, such as `!git status`".to_owned())
    } else if rest.iter().any(says_something) {
        Err("a command of your own is text alone: name files in it by their paths, or begin the prompt with `\\!` to \
             send it to the model"
            .to_owned())
    } else {
        Ok(UserCommand { command: command.to_owned(), in_context })
    })
}

/// Takes the `\` away that keeps a prompt from being a command.
pub fn unescape(prompt: &mut [PromptBlock]) {
    if let Some(PromptBlock::Text { text }) = prompt.first_mut()
        && text.starts_with("\\!")
    {
        text.remove(0);
    }
}

/// Keeps a prompt from being a command that was not sent as one, such as a word to a running turn.
pub fn escape(prompt: &mut [PromptBlock]) {
    if let Some(PromptBlock::Text { text }) = prompt.first_mut()
        && text.starts_with('!')
    {
        text.insert(0, '\\');
    }
}

/// True if what stands behind a `!` makes it an image of Markdown's.
fn is_image(line: &str) -> bool {
    line.starts_with('[') && line.lines().next().is_some_and(|line| line.contains("]("))
}

fn says_something(block: &PromptBlock) -> bool {
    !matches!(block, PromptBlock::Text { text } if text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> PromptBlock {
        PromptBlock::Text { text: text.to_owned() }
    }

    fn parsed(line: &str) -> Option<(String, bool)> {
        parse(&[text(line)]).map(|parsed| parsed.map(|it| (it.command, it.in_context)).unwrap())
    }

    #[test]
    fn the_very_first_character_makes_a_command() {
        assert_eq!(parsed("!git status"), Some(("git status".to_owned(), true)));
        assert_eq!(parsed("!!make"), Some(("make".to_owned(), false)));
        assert_eq!(parsed("! cd src\nls\n"), Some(("cd src\nls".to_owned(), true)));
        assert_eq!(parsed("![ -f a ] && ls"), Some(("[ -f a ] && ls".to_owned(), true)));
        assert_eq!(parsed("!/help"), Some(("/help".to_owned(), true)), "it is no slash command");
        for prompt in [" !ls", "\n!ls", "\\!ls", "Run !ls", "", "![a picture](a.png) is wrong"] {
            assert_eq!(parsed(prompt), None, "{prompt:?}");
        }
        assert_eq!(parse(&[PromptBlock::File { uri: "file:///a".into() }, text("!ls")]), None);
    }

    #[test]
    fn what_only_begins_like_a_command_says_why_it_is_none() {
        for prompt in ["!", "!!", "! \n"] {
            assert!(parse(&[text(prompt)]).unwrap().unwrap_err().contains("after the `!`"), "{prompt:?}");
        }
        let file = PromptBlock::File { uri: "file:///a".into() };
        assert!(parse(&[text("!ls"), file]).unwrap().unwrap_err().contains("text alone"));
        assert!(parse(&[text("!ls"), text(" ")]).unwrap().is_ok());
    }

    #[test]
    fn what_is_kept_from_being_a_command_reads_the_same_in_the_end() {
        for (words, read) in
            [("!important", "!important"), ("\\!important", "!important"), ("words", "words"), ("", "")]
        {
            let mut prompt = [text(words)];
            escape(&mut prompt);
            assert_eq!(parse(&prompt), None, "{words}");
            unescape(&mut prompt);
            assert_eq!(prompt, [text(read)]);
        }
    }
}
