//! Permission: one pure function of rules, mode and action (design D7).

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What a tool call would do, as far as permission cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads files of the workspace.
    Read,
    /// Proposes edits of these files. Review is the gate, so it is allowed unless a rule denies it.
    Edit {
        /// The files, absolute.
        paths: Vec<PathBuf>,
    },
    /// Runs a shell command line.
    Execute {
        /// The line as it will run.
        line: String,
        /// The line, parsed.
        parsed: ShellLine,
        /// The folder it starts in.
        cwd: PathBuf,
    },
}

/// A shell command line as plain data (made by `workspace::shell`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellLine {
    /// Every simple command in it, whatever joins them (`;`, `&&`, `|`, subshells, loops, functions).
    Commands(Vec<SimpleCommand>),
    /// It cannot be told for sure what runs; such a line is never allowed without asking.
    Unparsable {
        /// Why, in words.
        reason: String,
    },
}

/// One simple command of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Name and arguments, quotes removed. A word whose value cannot be known (a variable, a substitution, a glob)
    /// is [`Word::Unknown`].
    pub words: Vec<Word>,
    /// Assignments before the name, as written.
    pub assignments: Vec<String>,
    /// Files its output or input goes to or comes from.
    pub redirects: Vec<Redirect>,
}

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// Its value is this.
    Known(String),
    /// Its value is known only when it runs; this is how it is written.
    Unknown(String),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Whether the file is written to.
    pub writes: bool,
    /// The file.
    pub target: Word,
}

/// A permission rule, `Tool` or `Tool(pattern)`, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool's name, or `*`.
    pub tool: String,
    /// The pattern; none fits every call.
    pub pattern: Option<String>,
}

/// The rules in force.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// What runs without asking.
    pub allow: Vec<SourcedRule>,
    /// What is always asked.
    pub ask: Vec<SourcedRule>,
    /// What never runs.
    pub deny: Vec<SourcedRule>,
}

/// A rule with where it comes from, in words: `your config.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedRule {
    /// The rule.
    pub rule: Rule,
    /// Where it comes from.
    pub source: String,
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a permission rule ({problem}); write `Tool` or `Tool(pattern)`, such as `Shell(cargo test:*)`"
)]
pub struct RuleError {
    /// What was written.
    pub text: String,
    /// What is wrong with it.
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
