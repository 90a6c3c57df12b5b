//! The rule that "always" offers: the narrowest that is still of use.

use super::rule::{is_about_secrets, secrets_in_words};
use super::{Rule, SimpleCommand, Word};

/// Programs whose first words say what they do, and how many of them.
const SUBCOMMANDS: &[(&str, usize)] = &[
    ("bun", 2),
    ("bundle", 2),
    ("cargo", 2),
    ("composer", 2),
    ("deno", 2),
    ("docker", 2),
    ("docker compose", 3),
    ("dotnet", 2),
    ("git", 2),
    ("go", 2),
    ("gradle", 2),
    ("helm", 2),
    ("just", 2),
    ("kubectl", 2),
    ("make", 2),
    ("mix", 2),
    ("mvn", 2),
    ("npm", 2),
    ("npm run", 3),
    ("npx", 2),
    ("pip", 2),
    ("pip3", 2),
    ("pnpm", 2),
    ("pnpm run", 3),
    ("poetry", 2),
    ("rails", 2),
    ("rake", 2),
    ("rustup", 2),
    ("swift", 2),
    ("terraform", 2),
    ("uv", 2),
    ("yarn", 2),
    ("yarn run", 3),
    ("zig", 2),
];
/// Programs that do one thing, within the project, whatever their arguments are.
const SINGLE: &[&str] = &[
    "black",
    "ctest",
    "eslint",
    "gofmt",
    "jest",
    "mypy",
    "prettier",
    "pyright",
    "pytest",
    "ruff",
    "rustfmt",
    "shellcheck",
    "tsc",
    "vitest",
];
/// Subcommands that run whatever their arguments say, for which no prefix is offered.
const RUNNERS: &[&str] = &["exec", "run", "x", "dlx", "eval", "-c", "submodule", "runner", "console", "dbconsole"];
/// The subcommands of git that run nothing of what their arguments say. Others can be given a program: `rebase --exec`,
/// `bisect run`, `fetch --upload-pack`, `config core.pager`.
const OF_GIT: &[&str] = &[
    "add",
    "branch",
    "checkout",
    "cherry-pick",
    "commit",
    "diff",
    "log",
    "merge",
    "mv",
    "reset",
    "restore",
    "revert",
    "rm",
    "show",
    "stash",
    "status",
    "switch",
    "tag",
    "worktree",
];

/// The narrowest rule that would allow a command and others like it; none if there is no such rule.
pub(super) fn rule_for(command: &SimpleCommand) -> Option<Rule> {
    let words = known(command)?;
    let pattern = match prefix(&words) {
        Some(prefix) => format!("{}:*", prefix.join(" ")),
        None => exact(&words)?,
    };
    Some(Rule { tool: "Shell".to_owned(), pattern: Some(pattern) })
}

/// Describes what rules cover, in words.
pub(super) fn in_words(rules: &[Rule]) -> String {
    let commands: Vec<_> = rules
        .iter()
        .map(|rule| match rule.pattern.as_deref() {
            Some(pattern) => match pattern.strip_suffix(":*") {
                Some(prefix) => format!("`{prefix} …`"),
                None if is_about_secrets(rule) => secrets_in_words(rule),
                None if rule.tool == "Type" => format!("typing into `{pattern}`"),
                None => format!("exactly `{pattern}`"),
            },
            None => format!("everything of {}", rule.tool),
        })
        .collect();
    commands.join(" and ")
}

/// The words up to the first unknown one, which only a prefix can be made of; none if the name itself is unknown.
fn known(command: &SimpleCommand) -> Option<Words<'_>> {
    let mut words = Words { known: Vec::new(), whole: true };
    for word in &command.words {
        match word {
            Word::Known(value) => words.known.push(value),
            Word::Unknown(_) => {
                words.whole = false;
                break;
            }
        }
    }
    (!words.known.is_empty()).then_some(words)
}

struct Words<'a> {
    known: Vec<&'a str>,
    whole: bool,
}

fn prefix<'a>(words: &'a Words<'a>) -> Option<&'a [&'a str]> {
    let name = *words.known.first()?;
    if SINGLE.contains(&name) {
        return words.known.get(..1);
    }
    let pair = words.known.get(..2).map(|pair| pair.join(" "));
    let depth = |key: &str| SUBCOMMANDS.iter().find(|(program, _)| *program == key).map(|(_, depth)| *depth);
    let depth = pair.as_deref().and_then(depth).or_else(|| depth(name))?;
    let prefix = words.known.get(..depth)?;
    let subcommands = prefix.get(1..)?;
    let is_plain = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:".contains(c));
    let is_safe = subcommands.iter().all(|word| is_plain(word) && !word.starts_with('-') && !word.ends_with(':'));
    let runs_anything =
        prefix.last().is_some_and(|last| RUNNERS.contains(last) && !(name == "cargo" && *last == "run"));
    let of_git = name != "git" || prefix.last().is_some_and(|last| OF_GIT.contains(last));
    (is_safe && !runs_anything && of_git).then_some(prefix)
}

/// The whole command as an exact pattern, where it can be written as one.
fn exact(words: &Words<'_>) -> Option<String> {
    let is_writable = |word: &&str| !word.is_empty() && !word.chars().any(|c| c.is_whitespace() || "*()".contains(c));
    (words.whole && words.known.iter().all(is_writable)).then(|| words.known.join(" "))
}
