//! Rules: how they are written, and what they fit.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use super::places::Places;
use super::{Action, Case, Rule, SourcedRule, Word};

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a permission rule ({problem}); write `Tool` or `Tool(pattern)`, such as `Shell(cargo test:*)`"
)]
pub struct RuleError {
    /// The rule as it was written.
    pub text: String,
    /// The problem with it.
    pub problem: &'static str,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let error = |problem| RuleError { text: text.to_owned(), problem };
        let (tool, pattern) = match text.trim().split_once('(') {
            None => (text.trim(), None),
            Some((tool, rest)) => {
                let pattern = rest.strip_suffix(')').ok_or_else(|| error("the closing parenthesis is missing"))?;
                if pattern.trim().is_empty() {
                    return Err(error("nothing stands between the parentheses"));
                }
                (tool, Some(pattern.trim().to_owned()))
            }
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-*.".contains(c);
        if tool.is_empty() || !tool.chars().all(is_name) {
            return Err(error("it does not begin with a tool's name"));
        }
        Ok(Self { tool: tool.to_owned(), pattern })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            None => f.write_str(&self.tool),
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
        }
    }
}

impl fmt::Display for SourcedRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule `{}` from {}", self.rule, self.source)
    }
}

/// The first rule that names the call's tool and whose pattern, if it has one, fits.
pub(super) fn find<'a>(
    rules: &'a [SourcedRule],
    case: &Case<'_>,
    fits: impl Fn(&Pattern<'_>) -> bool,
) -> Option<&'a SourcedRule> {
    rules.iter().find(|sourced| names(&sourced.rule, case) && Pattern::of(&sourced.rule).is_none_or(|p| fits(&p)))
}

/// The first rule that fits and counts as one that allows.
pub(super) fn find_counting<'a>(
    rules: &'a [SourcedRule],
    case: &Case<'_>,
    fits: impl Fn(&Pattern<'_>) -> bool,
) -> Option<&'a SourcedRule> {
    find_allowing(rules, case, fits).find(|rule| void(rule, case).is_none())
}

/// A rule that would allow the call if it counted, and why it does not.
pub(super) fn find_void<'a>(
    rules: &'a [SourcedRule],
    case: &Case<'_>,
    fits: impl Fn(&Pattern<'_>) -> bool,
) -> Option<(&'a SourcedRule, &'static str)> {
    find_allowing(rules, case, fits).find_map(|rule| Some((rule, void(rule, case)?)))
}

fn find_allowing<'a>(
    rules: &'a [SourcedRule],
    case: &Case<'_>,
    fits: impl Fn(&Pattern<'_>) -> bool,
) -> impl Iterator<Item = &'a SourcedRule> {
    // A command that may run in the sandbox may not therefore run outside of it.
    let is_outside = matches!(case.action, Action::Execute { outside: Some(_), .. });
    rules.iter().filter(move |sourced| {
        (!is_outside || is_about_outside(&sourced.rule))
            && names(&sourced.rule, case)
            && Pattern::of(&sourced.rule).is_none_or(|pattern| fits(&pattern))
    })
}

fn void(rule: &SourcedRule, case: &Case<'_>) -> Option<&'static str> {
    rule.void(matches!(case.action, Action::Execute { .. } | Action::Type(_)), case.surroundings.trusted)
}

/// True if a rule is about the call's tool.
fn names(rule: &Rule, case: &Case<'_>) -> bool {
    let (class, outside) = match case.action {
        Action::Read => (Class::Read, false),
        Action::Edit { .. } => (Class::Edit, false),
        Action::Execute { outside, .. } => (Class::Shell, outside.is_some()),
        Action::Type(_) => (Class::Type, false),
    };
    class.is_named(&rule.tool) || text_fits(&rule.tool, case.tool) || (outside && is_about_outside(rule))
}

/// True if a rule is about commands outside the sandbox only.
pub(super) fn is_about_outside(rule: &Rule) -> bool {
    rule.tool.eq_ignore_ascii_case("ShellOutside")
}

/// The tool's name in a rule about secrets in commands.
pub(super) const SECRET: &str = "Secret";

/// True if a rule is about secrets in commands.
pub(super) fn is_about_secrets(rule: &Rule) -> bool {
    rule.tool.eq_ignore_ascii_case(SECRET)
}

/// Describes the commands that a rule about secrets is about.
pub(super) fn secrets_in_words(rule: &Rule) -> String {
    match &rule.pattern {
        None => "commands with any secret in them".to_owned(),
        Some(pattern) => format!("commands with the secret `{pattern}` in them"),
    }
}

/// True if a rule may be about running commands: not where it names another kind of tool.
pub(super) fn is_about_commands(rule: &Rule) -> bool {
    !Class::Read.is_named(&rule.tool) && !Class::Edit.is_named(&rule.tool)
}

/// Describes what a rule is about, in words.
pub(super) fn covers(rule: &Rule) -> String {
    if is_about_secrets(rule) {
        return secrets_in_words(rule);
    }
    let about = |class: Class| class.is_named(&rule.tool);
    let pattern = rule.pattern.as_deref();
    if about(Class::Shell) || is_about_outside(rule) {
        let place = if is_about_outside(rule) { " outside the sandbox" } else { "" };
        return match pattern {
            None => format!("every command{place}"),
            Some(pattern) => match pattern.strip_suffix(":*") {
                Some(prefix) => format!("commands{place} that begin with `{prefix}`"),
                None if pattern.contains('*') => format!("commands{place} such as `{pattern}`"),
                None => format!("exactly the command `{pattern}`{place}"),
            },
        };
    }
    let what = match rule.tool.as_str() {
        "*" => "every call".to_owned(),
        _ if about(Class::Edit) => "edits".to_owned(),
        _ if about(Class::Read) => "reading".to_owned(),
        tool => format!("calls of `{tool}`"),
    };
    pattern.map_or(what.clone(), |pattern| format!("{what} of `{pattern}`"))
}

/// A class of tools, as rules name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Read,
    Edit,
    Shell,
    Type,
}

impl Class {
    pub(super) fn is_named(self, name: &str) -> bool {
        let names: &[&str] = match self {
            Self::Read => &["read"],
            Self::Edit => &["edit", "write"],
            Self::Shell => &["shell", "bash"],
            Self::Type => &["type"],
        };
        names.iter().any(|known| name.eq_ignore_ascii_case(known))
    }
}

/// The text between a rule's parentheses.
pub(super) struct Pattern<'a>(pub(super) &'a str);

impl<'a> Pattern<'a> {
    pub(super) fn of(rule: &'a Rule) -> Option<Self> {
        rule.pattern.as_deref().map(Self)
    }

    /// True if it fits a simple command.
    pub(super) fn fits_words(&self, words: &[Word]) -> bool {
        if let Some(prefix) = self.0.strip_suffix(":*") {
            let prefix: Vec<_> = prefix.split_whitespace().collect();
            words.len() >= prefix.len() && prefix.iter().zip(words).all(|(wanted, word)| is(word, wanted))
        } else if self.0.contains('*') {
            self.fits_joined(words)
        } else {
            let wanted: Vec<_> = self.0.split_whitespace().collect();
            wanted.len() == words.len() && wanted.iter().zip(words).all(|(wanted, word)| is(word, wanted))
        }
    }

    /// True if it could fit a command once the unknown words in it are known: for rules that deny and ask. Told too
    /// often rather than too seldom.
    pub(super) fn may_fit_words(&self, words: &[Word]) -> bool {
        let Some(known) = words.iter().position(|word| matches!(word, Word::Unknown(_))) else {
            return self.fits_words(words);
        };
        let wanted = self.first_words();
        if let ([_, second, ..], [program, rest @ ..]) = (wanted.as_slice(), words)
            && is_one_word(program)
        {
            // Whatever program it is, the next word that is wanted stands behind it.
            return rest.iter().any(|word| match word {
                Word::Known(text) => text.contains(second),
                Word::Unknown(_) => true,
            });
        }
        wanted.iter().zip(words.iter().take(known)).all(|(wanted, word)| is(word, wanted))
    }

    /// The words that a fitting command begins with.
    pub(super) fn first_words(&self) -> Vec<&str> {
        let (literal, is_open) = match self.0.split_once('*') {
            Some((literal, _)) => (literal.strip_suffix(':').unwrap_or(literal), true),
            None => (self.0, false),
        };
        let mut wanted: Vec<_> = literal.split_whitespace().collect();
        if is_open && !literal.ends_with(char::is_whitespace) && !self.0.ends_with(":*") {
            // A piece of a word.
            wanted.pop();
        }
        wanted
    }

    /// With an unknown word in it, a command is fitted up to that word, and only a `*` at the end takes the rest.
    fn fits_joined(&self, words: &[Word]) -> bool {
        let mut text = String::new();
        for word in words {
            if !text.is_empty() {
                text.push(' ');
            }
            match word {
                Word::Known(value) => text.push_str(value),
                Word::Unknown(_) => return self.0.ends_with('*') && text_fits(self.0, &text),
            }
        }
        text_fits(self.0, &text)
    }

    /// True if it fits a file.
    pub(super) fn fits_path(&self, path: &Path, places: &Places<'_>) -> bool {
        let pattern = self.0.strip_prefix("./").unwrap_or(self.0);
        if pattern.starts_with('/') {
            return path_fits(pattern, path);
        }
        let anchored = pattern.trim_end_matches('/').contains('/');
        places.relatives(path).any(|relative| {
            if anchored || pattern == "**" {
                path_fits(pattern, relative)
            } else {
                path_fits(&format!("**/{pattern}"), relative)
            }
        })
    }
}

/// True if a word that is known only when it runs is one word then, and no command with its arguments: a variable in
/// quotes.
fn is_one_word(word: &Word) -> bool {
    let Word::Unknown(text) = word else { return false };
    let within = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    within.is_some_and(|within| !within.is_empty() && !within.contains(['"', '@', '\\']))
}

fn is(word: &Word, wanted: &str) -> bool {
    matches!(word, Word::Known(value) if value == wanted)
}

/// True if a text is as a pattern says, in which `*` is any text.
pub(super) fn text_fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        match rest.find(piece) {
            Some(at) => rest = rest.get(at + piece.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// True if a path, or a folder that it is in, is as a pattern says.
fn path_fits(pattern: &str, path: &Path) -> bool {
    let pattern: Vec<_> = pattern.split('/').filter(|part| !part.is_empty()).collect();
    let path = path.to_string_lossy();
    let path: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    parts_fit(&pattern, &path)
}

fn parts_fit(pattern: &[&str], path: &[&str]) -> bool {
    match pattern {
        // The pattern is used up: what is left of the path lies in the folder that it fits.
        [] => true,
        ["**"] => true,
        ["**", rest @ ..] => (0..=path.len()).any(|skip| parts_fit(rest, path.get(skip..).unwrap_or_default())),
        [first, rest @ ..] => match path {
            [] => false,
            [name, deeper @ ..] => text_fits(first, name) && parts_fit(rest, deeper),
        },
    }
}
