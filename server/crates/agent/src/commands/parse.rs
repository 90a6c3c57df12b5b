//! Finding commands in a prompt: slash commands, and the user's own.
//!
//! A prompt that begins with `!` is a command line for the session's shell. With one `!` the model reads its result,
//! with two it does not. It is the user's own hand: no permission is asked, in any mode. So only what was typed as a
//! prompt may become one, by its very first character. `\!`, or a blank before it, makes it a prompt for the model, and
//! so does an image of Markdown's.

use std::ops::Range;
use std::sync::Arc;

use protocol::PromptBlock;

use super::{Command, Commands, Effects, Flag, Named};

/// A prompt's commands, and what is left for the model.
#[derive(Clone, Debug)]
pub struct Parsed {
    /// The commands in the order they were written, which is the order to execute them in.
    pub invocations: Vec<Invocation>,
    /// The prompt without them. If it is blank, nothing goes to the model.
    pub remaining: String,
}

/// A command in a prompt.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// As typed, but for arguments of which one may be a key.
    pub text: String,
    /// Its place, in bytes.
    pub span: Range<usize>,
    /// The command.
    pub command: Arc<Command>,
    /// Its arguments.
    pub words: Words,
    /// The things to be known of it; the error is for the user.
    pub effects: Result<Effects, String>,
}

/// The arguments of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// All of them, as typed.
    pub text: String,
    /// The words that are no flags, without their quotes.
    pub positionals: Vec<String>,
    /// The flags by their long names, with their values.
    pub flags: Vec<(String, Option<String>)>,
}

/// A command of the user's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserCommand {
    /// The command line. It may have several lines.
    pub command: String,
    /// True if the model reads it and what came of it.
    pub in_context: bool,
}

/// A word of a line.
struct Word {
    span: Range<usize>,
    value: String,
    quoted: bool,
}

impl Invocation {
    /// True if it was read, and has an effect of this kind.
    pub fn has(&self, effect: impl FnOnce(&Effects) -> bool) -> bool {
        self.effects.as_ref().is_ok_and(effect)
    }

    /// True if its answer goes to the model.
    pub fn is_for_the_model(&self) -> bool {
        self.command.does.is_for_the_model()
    }
}

impl Words {
    /// The first word, if it is there and not empty.
    pub fn first(&self) -> Option<&str> {
        self.positionals.first().map(String::as_str).filter(|first| !first.is_empty())
    }
}

/// The command that a prompt is; none if it is a prompt for the model.
///
/// # Errors
/// It begins like one and is none; says why.
pub fn user_command(prompt: &[PromptBlock]) -> Option<Result<UserCommand, String>> {
    let [PromptBlock::Text { text }, rest @ ..] = prompt else { return None };
    let line = text.strip_prefix('!').filter(|line| !is_image(line))?;
    let (line, in_context) = line.strip_prefix('!').map_or((line, true), |line| (line, false));
    let command = line.trim();
    Some(if command.is_empty() {
        Err("say what to run after the `!`, such as `!git status`".to_owned())
    } else if rest.iter().any(is_more) {
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

/// True if there is something for a model to do in what is left of a prompt. Mentions alone are no prompt, with nothing
/// said about them.
pub fn says_something(rest: &[PromptBlock]) -> bool {
    rest.iter().any(|block| !matches!(block, PromptBlock::File { .. }))
}

impl Commands {
    /// The commands of a prompt, and what is left of it for a model.
    pub fn split(&self, prompt: Vec<PromptBlock>) -> (Vec<Invocation>, Vec<PromptBlock>) {
        let (mut invocations, mut rest, mut leads) = (Vec::new(), Vec::new(), true);
        for block in prompt {
            let PromptBlock::Text { text } = block else {
                rest.push(block);
                continue;
            };
            let parsed = self.parse_block(&text, leads);
            leads &= parsed.remaining.trim().is_empty();
            invocations.extend(parsed.invocations);
            if !parsed.remaining.trim().is_empty() {
                rest.push(PromptBlock::Text { text: parsed.remaining });
            }
        }
        (invocations, rest)
    }

    /// Finds the commands of a prompt.
    ///
    /// A command is `/name` at a line's start or after a blank, with a blank or the end after it, where `name` is one
    /// of these; so paths and unknown names stay text. Its arguments follow on the same line, as many as it takes, up
    /// to the next command; a word in quotes is one argument, and a quote without an end runs to the line's end. What
    /// follows its arguments belongs to the prompt again. A command that must lead ([`Effects::must_lead`]) counts only
    /// if nothing but blanks and other commands is before it; anywhere else it stays text, because it may have been
    /// pasted.
    pub fn parse(&self, input: &str) -> Parsed {
        self.parse_block(input, true)
    }

    /// The same for one text of a prompt of several; `leads` says that no other text stands before it.
    pub fn parse_block(&self, input: &str, mut leads: bool) -> Parsed {
        let mut invocations: Vec<Invocation> = Vec::new();
        let mut at = 0;
        while let Some((start, named)) = self.next_command(input, at) {
            let name_end = start + 1 + named.name.len();
            let (words, end) = self.words(input, name_end, &named.command);
            leads &= input.get(at..start).is_some_and(|between| between.trim().is_empty());
            at = end;
            let effects = named.command.effects(&words);
            if !leads && effects.as_ref().is_ok_and(|effects| effects.must_lead) {
                continue;
            }
            let text = match (named.command.definition.secret)(&words) {
                true => format!("/{} …", named.name),
                false => input.get(start..end).unwrap_or_default().to_owned(),
            };
            let command = Arc::clone(&named.command);
            invocations.push(Invocation { text, span: start..end, command, words, effects });
        }
        let ends = invocations.iter().map(|invocation| invocation.span.end);
        let starts = invocations.iter().map(|invocation| invocation.span.start).chain([input.len()]);
        let between = [0].into_iter().chain(ends).zip(starts).filter_map(|(end, start)| input.get(end..start));
        let remaining = between.collect();
        Parsed { invocations, remaining }
    }

    /// The next command at or after `from`.
    fn next_command(&self, input: &str, from: usize) -> Option<(usize, &Named)> {
        let rest = input.get(from..)?;
        rest.match_indices('/').find_map(|(at, _)| Some((from + at, self.command_at(input, from + at)?)))
    }

    /// The command whose slash stands at `at`.
    fn command_at(&self, input: &str, at: usize) -> Option<&Named> {
        let (before, slash) = (input.get(..at)?, input.get(at..)?);
        // A long text without blanks may have thousands of slashes, and only one of them can begin a word.
        if !before.chars().next_back().is_none_or(char::is_whitespace) {
            return None;
        }
        let word = slash.strip_prefix('/')?.split(char::is_whitespace).next()?;
        self.iter().find(|named| named.name == word)
    }

    /// The command that would take the word at `start` as its argument.
    pub(super) fn owner(&self, input: &str, start: usize) -> Option<&Named> {
        let (mut at, mut last) = (0, None);
        while let Some((slash, named)) = self.next_command(input, at) {
            if slash >= start {
                break;
            }
            last = Some((slash, named));
            at = self.words(input, slash + 1 + named.name.len(), &named.command).1;
        }
        let (slash, named) = last?;
        let name_end = slash + 1 + named.name.len();
        // With any word put at `start`, would it be the command's?
        let probed = format!("{}x", input.get(..start)?);
        let (_, end) = self.words(&probed, name_end, &named.command);
        (end > start).then_some(named)
    }

    /// Words and flags of a command, up to its limits, and where they end.
    pub(super) fn words(&self, input: &str, from: usize, command: &Command) -> (Words, usize) {
        let definition = &command.definition;
        let mut words = Words::default();
        let (mut at, mut end) = (from, from);
        while let Some(word) = next_word(input, at) {
            if self.command_at(input, word.span.start).is_some() {
                break;
            }
            let flag = definition.flags.iter().find(|flag| {
                !word.quoted && (word.value.strip_prefix("--") == Some(&flag.name) || is_short(&word.value, flag))
            });
            at = word.span.end;
            if flag.is_some_and(|flag| definition.rest_after == Some(&flag.name)) && words == Words::default() {
                words.flags.extend(flag.map(|flag| (flag.name.to_string(), None)));
                end = input.len();
                break;
            }
            if let Some(flag) = flag {
                let value = next_word(input, at).filter(|value| {
                    flag.takes_value
                        && (value.quoted || !value.value.starts_with('-'))
                        && self.command_at(input, value.span.start).is_none()
                });
                at = value.as_ref().map_or(at, |value| value.span.end);
                words.flags.push((flag.name.to_string(), value.map(|value| value.value)));
            } else if words.positionals.len() < definition.words || (definition.also)(&words.positionals, &word.value) {
                words.positionals.push(word.value);
            } else {
                break;
            }
            end = at;
        }
        words.text = input.get(from..end).unwrap_or_default().trim().to_owned();
        (words, end)
    }
}

/// The next word of the line, if there is one.
fn next_word(input: &str, from: usize) -> Option<Word> {
    const LINE_ENDS: [char; 2] = ['\n', '\r'];
    let rest = input.get(from..)?;
    let start = rest.find(|c: char| !c.is_whitespace() || LINE_ENDS.contains(&c))?;
    let text = rest.get(start..).filter(|text| !text.starts_with(LINE_ENDS))?;
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''));
    let (value, length) = match quote {
        Some(quote) => {
            let inner = text.get(1..)?;
            let end = inner.find([quote, '\n', '\r']).unwrap_or(inner.len());
            let closed = inner.get(end..)?.starts_with(quote);
            (inner.get(..end)?, 1 + end + usize::from(closed))
        }
        None => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            (text.get(..end)?, end)
        }
    };
    let span = from + start..from + start + length;
    Some(Word { span, value: value.to_owned(), quoted: quote.is_some() })
}

fn is_short(word: &str, flag: &Flag) -> bool {
    word.strip_prefix('-').is_some_and(|short| flag.short.is_some_and(|c| short.chars().eq([c])))
}

/// True if what stands behind a `!` makes it an image of Markdown's.
fn is_image(line: &str) -> bool {
    line.starts_with('[') && line.lines().next().is_some_and(|line| line.contains("]("))
}

fn is_more(block: &PromptBlock) -> bool {
    !matches!(block, PromptBlock::Text { text } if text.trim().is_empty())
}
