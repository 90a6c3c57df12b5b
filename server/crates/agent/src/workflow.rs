//! Workflows that begin at a place in the code: what each asks the model for.
//!
//! An editor offers them where the user is (code actions). What is asked is a prompt like any other: the user reads it
//! in the chat and can write it themselves.

use std::fmt::Write;

use protocol::PromptBlock;
use protocol::content::Range;

use crate::commands::Commands;

/// How many problems a prompt tells at most, and how much of each, in characters.
const MOST_PROBLEMS: usize = 20;
const LONGEST_PROBLEM: usize = 2000;

/// The work to be done at a location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workflow {
    /// Whatever the user is about to ask.
    Ask,
    /// The problems there are mended.
    Fix,
    /// It, or the problems there if any are named, is explained.
    Explain,
    /// Tests are written for it.
    Test,
    /// It gets its documentation.
    Document,
    /// It is looked through for what is wrong in it.
    Review,
    /// It is brought up to date with what it is about.
    Update,
}

/// The subject of a workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The document.
    pub uri: String,
    /// The lines; none for all of it.
    pub range: Option<Range>,
    /// The name of these lines, if they have one.
    pub name: Option<String>,
    /// The problems that are reported there.
    pub problems: Vec<Problem>,
}

/// A problem that a language server reports: LSP's `Diagnostic`, as far as a model has use for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its line, from 0.
    pub line: u32,
    /// The message.
    pub message: String,
    /// Who says so.
    pub source: Option<String>,
    /// Their name for it.
    pub code: Option<String>,
}

impl Workflow {
    /// True if its prompt can be sent as it is. Else the user has to say something first.
    pub fn is_whole(self) -> bool {
        self != Self::Ask
    }

    /// The prompt: what is wanted, and the place that it is about.
    pub fn prompt(self, subject: &Subject) -> Vec<PromptBlock> {
        let place = match subject.range {
            Some(range) => PromptBlock::Range { uri: subject.uri.clone(), range },
            None => PromptBlock::File { uri: subject.uri.clone() },
        };
        let mut text = self.wish(subject);
        if !subject.problems.is_empty() {
            text.push_str(&told(&subject.problems));
        }
        let text = Some(inert(text)).filter(|text| !text.is_empty()).map(|text| PromptBlock::Text { text });
        text.into_iter().chain([place]).collect()
    }

    fn wish(self, subject: &Subject) -> String {
        let it = match (&subject.name, subject.range) {
            (Some(name), _) => format!("`{name}`"),
            (None, Some(_)) => "these lines".into(),
            (None, None) => "this file".into(),
        };
        let problem = match subject.problems.as_slice() {
            [_] => "this problem",
            _ => "these problems",
        };
        match self {
            Self::Ask => String::new(),
            Self::Fix => format!(
                "Fix {problem}. Fix the cause with the smallest correct change, not the symptom, and check that it is gone \
                 afterwards."
            ),
            Self::Explain if subject.problems.is_empty() => format!(
                "Explain {it}: what it is for, how it works, and what one has to know before changing it. Look at what it \
                 uses and at its users if that matters. Change nothing."
            ),
            Self::Explain => format!(
                "Explain {problem}: what it means, why it is reported here, and how it could be fixed. Change nothing."
            ),
            Self::Test => format!(
                "Write tests for {it}. Put them where this project has its tests, in the style of the others. Cover its \
                 promises, edge cases and errors. Leave the tested code as it is; if a test shows a fault in it, say so. Run \
                 the tests if you can."
            ),
            Self::Review => format!(
                "Look through {it} for faults: bugs, forgotten cases, broken promises. Report the most serious first, each \
                 with its location, why it is wrong and how it shows. Leave out matters of taste. Change nothing."
            ),
            Self::Update => format!(
                "Check that {it} is still true: compare it with the project, and propose the smallest edits that correct it."
            ),
            Self::Document => format!(
                "Document {it} in the style of this project: what it does, its parameters and results, its errors. Change \
                 only comments."
            ),
        }
    }
}

/// Returns the prompts to try at a file of a workspace: how each is called, and its prompt.
pub fn at_file(uri: &str, name: &str, is_program: bool) -> [(String, Vec<PromptBlock>); 3] {
    let subject = Subject { uri: uri.to_owned(), range: None, name: None, problems: Vec::new() };
    let last = if is_program {
        (Workflow::Test, format!("Write tests for {name}"))
    } else {
        (Workflow::Update, format!("Bring {name} up to date"))
    };
    let all = [
        (Workflow::Explain, format!("Explain {name}")),
        (Workflow::Review, format!("Look for faults in {name}")),
        last,
    ];
    all.map(|(workflow, title)| (title, workflow.prompt(&subject)))
}

/// Returns the prompts to try if no file is open: how each is called, and its prompt.
pub fn in_project() -> [(String, Vec<PromptBlock>); 3] {
    let all = [
        (
            "Show me around this project",
            "Show me around this project: its purpose, its parts and how they fit together, where to start reading, and how it \
             is built and tested. Give locations, so that I can open them. Change nothing.",
        ),
        (
            "Summarise the latest changes",
            "Look at the latest changes in this project: the last commits, and what is not committed yet. Say what they were \
             for, and what looks unfinished. Change nothing.",
        ),
        (
            "Find what is worth fixing first",
            "Look for what is worth fixing first in this project: failing or missing tests, notes of things to do, code that \
             does not keep its promises. Name the three that matter most, with their locations, and why. Change nothing.",
        ),
    ];
    all.map(|(title, text)| (title.to_owned(), vec![PromptBlock::Text { text: text.to_owned() }]))
}

/// Problems as a quotation, since they are nobody's wishes.
fn told(problems: &[Problem]) -> String {
    let mut text = String::from("\n");
    for problem in problems.iter().take(MOST_PROBLEMS) {
        let by: Vec<_> = problem.source.iter().chain(&problem.code).map(String::as_str).collect();
        let by = if by.is_empty() { String::new() } else { format!(" ({})", by.join(" ")) };
        let message: String = problem.message.trim().chars().take(LONGEST_PROBLEM).collect();
        let message = message.lines().collect::<Vec<_>>().join("\n> ");
        // Writing into a string cannot fail.
        let _ = write!(text, "\n> Line {}{by}: {message}\n", problem.line.saturating_add(1));
    }
    if let Some(more @ 1..) = problems.len().checked_sub(MOST_PROBLEMS) {
        let _ = write!(text, "\nAnd {more} more like these.\n");
    }
    text
}

/// A text in which nothing is a command of ours or mentions a file: what a server says of a project's code, the user
/// has not typed, and a file that they mention is read without a question, though other reads of it would be asked for.
fn inert(text: String) -> String {
    let mut begins = true;
    let mut without = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '@' && begins {
            without.push('`');
        }
        begins = c.is_whitespace()
            || (begins && c.is_ascii_punctuation() && c != '`')
            || matches!(c, '(' | '[' | '"' | '\'');
        without.push(c);
    }
    let mut text = without;
    for invocation in Commands::built_in().parse(&text).invocations.iter().rev() {
        let name = invocation.text.split_whitespace().next().unwrap_or_default();
        text.insert(invocation.span.start + name.len(), '`');
        text.insert(invocation.span.start, '`');
    }
    text
}

#[cfg(test)]
mod tests {
    use protocol::content::Position;

    use super::*;

    fn subject(problems: Vec<Problem>) -> Subject {
        let at = |line| Position { line, character: 0 };
        let range = Some(Range { start: at(2), end: at(9) });
        Subject { uri: "file:///p/a.rs".into(), range, name: Some("parse".into()), problems }
    }

    fn text(workflow: Workflow, subject: &Subject) -> String {
        match workflow.prompt(subject).first() {
            Some(PromptBlock::Text { text }) => text.clone(),
            _ => String::new(),
        }
    }

    #[test]
    fn a_prompt_says_what_is_wanted_and_where() {
        let subject = subject(Vec::new());
        for workflow in [Workflow::Explain, Workflow::Test, Workflow::Document] {
            assert!(text(workflow, &subject).contains("`parse`"), "{workflow:?}");
            let place = PromptBlock::Range { uri: subject.uri.clone(), range: subject.range.unwrap() };
            assert_eq!(workflow.prompt(&subject)[1..], [place]);
        }
        let lines = Subject { name: None, ..subject.clone() };
        assert!(text(Workflow::Explain, &lines).starts_with("Explain these lines: "));
        let file = Subject { range: None, ..lines };
        assert!(text(Workflow::Explain, &file).starts_with("Explain this file: "));
        assert_eq!(Workflow::Explain.prompt(&file)[1], PromptBlock::File { uri: subject.uri });
    }

    #[test]
    fn what_the_user_wants_to_ask_is_theirs_to_write() {
        let subject = subject(Vec::new());
        let place = PromptBlock::Range { uri: subject.uri.clone(), range: subject.range.unwrap() };
        assert_eq!(Workflow::Ask.prompt(&subject), [place]);
        assert!(!Workflow::Ask.is_whole() && Workflow::Fix.is_whole());
    }

    #[test]
    fn what_a_problem_says_is_no_command_of_the_users() {
        let problem = |message: &str| Problem { line: 0, message: message.into(), source: None, code: None };
        let messages = ["no such route: /new", "/model other", "a\n/mode bypass\n/undo", "see /new \"/resume\" /new"];
        let told = text(Workflow::Fix, &subject(messages.map(problem).to_vec()));
        assert!(Commands::built_in().parse(&told).invocations.is_empty(), "{told}");
        assert!(told.contains("> Line 1: no such route: `/new`\n"), "{told}");
    }

    #[test]
    fn what_a_problem_says_mentions_no_file_of_the_users() {
        let problem = |message: &str| Problem { line: 0, message: message.into(), source: None, code: None };
        let messages = ["no '@types/node'", "not assignable to '\"@.env\"'", "(see @.env)", "@.env", "a@b.c"];
        let told = text(Workflow::Fix, &subject(messages.map(problem).to_vec()));
        let bare = told.match_indices('@').filter(|(at, _)| !told[..*at].ends_with(['`', 'a'])).count();
        assert_eq!(bare, 0, "{told}");
        assert!(told.contains("no '`@types/node'") && told.contains("a@b.c"), "{told}");
    }

    #[test]
    fn problems_are_quoted_and_bounded() {
        let problem = |message: &str| Problem {
            line: 4,
            message: message.into(),
            source: Some("rustc".into()),
            code: Some("E0308".into()),
        };
        let one = text(Workflow::Fix, &subject(vec![problem("mismatched types\nexpected `u8`")]));
        assert!(one.starts_with("Fix this problem. "), "{one}");
        assert!(one.ends_with("\n\n> Line 5 (rustc E0308): mismatched types\n> expected `u8`\n"), "{one}");
        let many = text(Workflow::Explain, &subject(vec![problem(&"x".repeat(9999)); 25]));
        assert!(many.starts_with("Explain these problems: ") && many.ends_with("\nAnd 5 more like these.\n"));
        assert!(many.len() < 20 * 2100 + 500);
    }
}
