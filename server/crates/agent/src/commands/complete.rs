//! Completing commands and their arguments.

use std::ops::Range;

use protocol::session::{CompletionItem, CompletionKind};

use super::{Choice, Choices, Commands, Named};

/// The token under the cursor of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its range in bytes. Empty at a blank.
    pub span: Range<usize>,
    /// Its kind.
    pub kind: TokenKind,
}

/// The kind of a token of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A command's name or the beginning of one, with its slash.
    Command,
    /// A word that belongs to a command with these choices.
    Argument(Choices),
    /// A mention or the beginning of one, with its `@`.
    Mention,
    /// Anything else.
    Text,
}

/// The values of choices that only the caller knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// For [`Choices::Models`].
    pub models: Vec<Choice>,
    /// For [`Choices::Sessions`].
    pub sessions: Vec<Choice>,
}

impl Commands {
    /// The token that the cursor stands in or at the end of. The cursor is in bytes; one past the end or inside a
    /// character counts as just before it.
    pub fn token_at_cursor(&self, input: &str, cursor: usize) -> Token {
        let cursor = input.floor_char_boundary(cursor);
        let (before, after) = input.split_at(cursor);
        let start = before.rfind(char::is_whitespace).map_or(0, |at| at + width(before, at));
        let end = cursor + after.find(char::is_whitespace).unwrap_or(after.len());
        let text = input.get(start..end).unwrap_or_default();
        let kind = if text.starts_with('@') {
            TokenKind::Mention
        } else if text.starts_with('/') {
            TokenKind::Command
        } else if let Some(named) = self.owner(input, start) {
            TokenKind::Argument(named.command.definition.choices.clone())
        } else {
            TokenKind::Text
        };
        Token { span: start..end, kind }
    }

    /// The completions of the token under the cursor, the best first: slash commands and their arguments. The caller
    /// completes mentions, since it knows the files.
    pub fn complete(&self, input: &str, cursor: usize, known: &Known) -> (Token, Vec<CompletionItem>) {
        let token = self.token_at_cursor(input, cursor);
        let typed = input.get(token.span.start..input.floor_char_boundary(cursor)).unwrap_or_default();
        let values = match &token.kind {
            TokenKind::Command => {
                let choice =
                    |it: &Named| Choice::new(format!("/{}", it.name), it.command.definition.description.to_string());
                return (token, ranked(CompletionKind::Command, typed, self.iter().map(choice)));
            }
            TokenKind::Argument(Choices::Fixed(choices)) => choices,
            TokenKind::Argument(Choices::Models) => &known.models,
            TokenKind::Argument(Choices::Sessions) => &known.sessions,
            TokenKind::Argument(Choices::None) | TokenKind::Mention | TokenKind::Text => return (token, Vec::new()),
        };
        let items = ranked(CompletionKind::Argument, typed, values.iter().cloned());
        (token, items)
    }
}

/// The candidates that begin with what was typed, then those that contain it, whatever the case.
fn ranked(kind: CompletionKind, typed: &str, candidates: impl Iterator<Item = Choice>) -> Vec<CompletionItem> {
    let wanted = typed.to_lowercase();
    let inner = wanted.trim_start_matches('/');
    let mut items: Vec<(bool, CompletionItem)> = candidates
        .filter(|choice| choice.value.to_lowercase().contains(inner))
        .map(|Choice { value, detail }| {
            let item = CompletionItem { kind, label: value.clone(), detail, insert: value, uri: None };
            (!item.label.to_lowercase().starts_with(&wanted), item)
        })
        .collect();
    items.sort_by_key(|(later, _)| *later);
    items.into_iter().map(|(_, item)| item).collect()
}

fn width(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}
