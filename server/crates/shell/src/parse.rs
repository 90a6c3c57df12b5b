//! The commands that a command line would run, as plain data for permission.
//!
//! [`parse`] lists every simple command of a line, wherever it stands: in lists, pipes, loops, functions and
//! substitutions. It is careful rather than clever. A line is unparsable when it holds anything whose commands depend
//! on more than the line itself, or that this grammar and the shell could read differently; such a line is asked about,
//! never allowed by itself.
//!
//! Wrappers that only change how a command runs (`time`, `timeout`, `env`, `xargs`, `bash -c '…'` and the like) are
//! taken off, and what they run is listed instead. The body of a `for` is listed once for each of its words, and in
//! that of a `while read` its variables stand for what is read. A redirection of a whole construct is listed with the
//! construct's last command; one without a command is listed as a command without words.
//!
//! Reading order: `guards` (texts that grammar and shell could read differently), [`parse`] and its walk over the
//! syntax tree, `words` (what a word's value is), `loops` (what it is in a round), `wrappers` (what a command runs in
//! truth).

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use permission::{Redirect, ShellLine, SimpleCommand, Word};
use tree_sitter::{Node, ParseOptions, Parser};

mod guards;

mod loops;

mod words;

mod wrappers;

use wrappers::Runs;

/// Longer lines are unparsable. A here-document that writes a file fits.
const MAX_LINE: usize = 64 << 10;

/// How deep constructs can be nested.
const MAX_DEPTH: usize = 60;

/// How many commands a line can have.
const MAX_COMMANDS: usize = 500;

/// How long parsing may take. Some texts make the grammar try very many readings.
const MAX_TIME: Duration = Duration::from_millis(500);

/// Parses a command line into the commands that it would run.
pub fn parse(line: &str) -> ShellLine {
    let mut commands = Vec::new();
    match collect(line, 0, &mut commands) {
        Ok(()) => ShellLine::Commands(commands),
        Err(Unclear(reason)) => ShellLine::Unparsable { reason },
    }
}

/// Why it cannot be told what runs.
#[derive(Debug)]
struct Unclear(String);

impl From<&str> for Unclear {
    fn from(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

/// Adds a line's commands. `depth` counts the lines within lines.
fn collect(line: &str, depth: usize, commands: &mut Vec<SimpleCommand>) -> Result<(), Unclear> {
    if depth > 4 {
        return Err("shells are nested too deeply".into());
    }
    if line.len() > MAX_LINE {
        return Err("it is too long".into());
    }
    guards::text(line)?;
    let mut parser = Parser::new();
    parser.set_language(&bash::language()).map_err(|error| Unclear(error.to_string()))?;
    let deadline = Instant::now() + MAX_TIME;
    let mut in_time =
        |_: &_| if Instant::now() < deadline { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let options = ParseOptions::new().progress_callback(&mut in_time);
    let mut text = |at: usize, _| line.as_bytes().get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut text, None, Some(options)).ok_or("it is too intricate")?;
    let root = tree.root_node();
    if root.has_error() {
        return Err("its syntax is not understood".into());
    }
    let mut walk = Walk { source: line, commands, depth, nesting: 0, rounds: Vec::new(), repeats: 1, grown: 0 };
    guards::tree(root, line)?;
    walk.statements(root)
}

struct Walk<'a> {
    source: &'a str,
    commands: &'a mut Vec<SimpleCommand>,
    /// How many lines within lines this is.
    depth: usize,
    /// How many nodes within nodes this is.
    nesting: usize,
    /// The loops that this is in, each in one of its rounds.
    rounds: Vec<loops::Round>,
    /// How many rounds of loops within loops there are.
    repeats: usize,
    /// How many bytes their words have put into the line.
    grown: usize,
}

impl Walk<'_> {
    /// Every statement that is a child of this node.
    fn statements(&mut self, parent: Node<'_>) -> Result<(), Unclear> {
        for child in children(parent).filter(Node::is_named) {
            self.statement(child)?;
        }
        Ok(())
    }

    fn statement(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        self.deeper(|walk| match node.kind() {
            "comment" => Ok(()),
            "command" => walk.command(node),
            "declaration_command" | "unset_command" => walk.declaration(node),
            "variable_assignment" => walk.assignments([node]),
            "variable_assignments" => walk.assignments(children(node).filter(Node::is_named)),
            "redirected_statement" => walk.redirected(node),
            "test_command" => walk.test(node),
            "for_statement" => walk.for_each(node),
            "while_statement" => walk.while_reading(node),
            "case_statement" | "case_item" => walk.case(node),
            "function_definition" => walk.function(node),
            "compound_statement" if children(node).next().is_some_and(|first| first.kind() != "{") => {
                Err("arithmetic can run commands that are not written in it".into())
            }
            "list"
            | "pipeline"
            | "subshell"
            | "compound_statement"
            | "do_group"
            | "if_statement"
            | "elif_clause"
            | "else_clause"
            | "negated_command"
            | "command_substitution" => walk.statements(node),
            kind => Err(Unclear(format!("it has a {}", kind.replace('_', " ")))),
        })
    }

    /// A simple command: assignments, name, arguments, and redirections among them.
    fn command(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut command = SimpleCommand { words: Vec::new(), assignments: Vec::new(), redirects: Vec::new() };
        for child in children(node) {
            match child.kind() {
                "variable_assignment" => command.assignments.push(self.assignment(child)?),
                "file_redirect" | "herestring_redirect" => command.redirects.extend(self.redirect(child)?),
                "subshell" if matches!(command.words.as_slice(), [Word::Known(time)] if time == "time") => {
                    return self.statement(child);
                }
                "subshell" => return Err("it has a subshell where an argument should be".into()),
                _ => {
                    let word = match child.kind() {
                        "command_name" => {
                            child.child(0).filter(|_| child.child_count() == 1).ok_or("a command has no name")?
                        }
                        _ => child,
                    };
                    let value = self.word(word)?;
                    command.words.push(self.after_dashes(&command.words, value, self.text(word)));
                }
            }
        }
        self.add(command)
    }

    /// `export`, `declare`, `local`, `readonly`, `typeset`, `unset`.
    fn declaration(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut words = Vec::new();
        for child in children(node) {
            words.push(match child.kind() {
                "variable_assignment" => {
                    let text = self.assignment(child)?;
                    if text.contains(['$', '`', '*', '?', '[', '~', '{', '\\', '(']) {
                        Word::Unknown(text)
                    } else {
                        Word::Known(text)
                    }
                }
                _ if !child.is_named() => Word::Known(self.text(child).to_owned()),
                _ => self.word(child)?,
            });
        }
        self.add(SimpleCommand { words, assignments: Vec::new(), redirects: Vec::new() })
    }

    /// Assignments without a command.
    fn assignments<'n>(&mut self, nodes: impl IntoIterator<Item = Node<'n>>) -> Result<(), Unclear> {
        let assignments = nodes.into_iter().map(|node| self.assignment(node)).collect::<Result<_, _>>()?;
        self.push(SimpleCommand { words: Vec::new(), assignments, redirects: Vec::new() })
    }

    /// An assignment as it is written.
    fn assignment(&mut self, node: Node<'_>) -> Result<String, Unclear> {
        guards::word(node, self.source)?;
        for child in children(node).filter(Node::is_named) {
            match child.kind() {
                "variable_name" => guards::assigned(child, self.source)?,
                "array" => {
                    for element in children(child).filter(Node::is_named) {
                        self.word(element)?;
                    }
                }
                _ => {
                    self.word(child)?;
                }
            }
        }
        Ok(self.text(node).to_owned())
    }

    /// A statement with redirections.
    fn redirected(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let mut last = None;
        let mut redirects = Vec::new();
        for child in children(node).filter(Node::is_named) {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => redirects.extend(self.redirect(child)?),
                "heredoc_redirect" => self.heredoc(child, last)?,
                _ => last = self.last_of(|walk| walk.statement(child))?,
            }
        }
        self.attach(last, redirects)
    }

    /// The last command that some work has added, if it has.
    fn last_of(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Unclear>) -> Result<Option<usize>, Unclear> {
        let before = self.commands.len();
        work(self)?;
        Ok(self.commands.len().checked_sub(1).filter(|last| *last >= before))
    }

    /// Adds redirections to a command; without one they stand alone.
    fn attach(&mut self, command: Option<usize>, redirects: Vec<Redirect>) -> Result<(), Unclear> {
        match command.and_then(|at| self.commands.get_mut(at)) {
            _ if redirects.is_empty() => Ok(()),
            Some(command) => {
                command.redirects.extend(redirects);
                Ok(())
            }
            None => self.push(SimpleCommand { words: Vec::new(), assignments: Vec::new(), redirects }),
        }
    }

    /// The file a redirection is about; none if it only joins descriptors.
    fn redirect(&mut self, node: Node<'_>) -> Result<Option<Redirect>, Unclear> {
        let mut operator = "";
        let mut target = None;
        for child in children(node) {
            match child.kind() {
                "file_descriptor" => {}
                _ if !child.is_named() => operator = child.kind(),
                _ if target.is_some() => return Err("it has words after a redirection".into()),
                _ => target = Some(self.word(child)?),
            }
        }
        Ok(match (operator, target) {
            ("<&-" | ">&-", None) | ("<<<", Some(_)) => None,
            ("<&" | ">&", Some(Word::Known(to))) if to.chars().all(|c| c.is_ascii_digit() || c == '-') => None,
            ("<", Some(target)) => Some(Redirect { writes: false, target }),
            (">" | ">>" | ">|" | "&>" | "&>>" | ">&", Some(target)) => Some(Redirect { writes: true, target }),
            _ => return Err("it has a redirection that is not understood".into()),
        })
    }

    /// A here-document for a command. Its node also holds what follows on the line.
    fn heredoc(&mut self, node: Node<'_>, command: Option<usize>) -> Result<(), Unclear> {
        guards::heredoc(node, self.source)?;
        if node.child_by_field_name("argument").is_some() {
            return Err("it has words after a here-document".into());
        }
        let mut redirects = Vec::new();
        let mut following = Vec::new();
        for child in children(node).filter(Node::is_named) {
            match child.kind() {
                "heredoc_start" | "heredoc_end" | "file_descriptor" => {}
                "heredoc_body" => self.expansions(child)?,
                "file_redirect" | "herestring_redirect" => redirects.extend(self.redirect(child)?),
                _ => following.push(child),
            }
        }
        self.attach(command, redirects)?;
        following.into_iter().try_for_each(|statement| self.statement(statement))
    }

    /// `[ … ]` or `[[ … ]]`.
    fn test(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let bracket = children(node).next().map_or("", |first| first.kind());
        if bracket != "[" && bracket != "[[" {
            return Err("arithmetic can run commands that are not written in it".into());
        }
        let mut parts = Vec::new();
        // A test is judged by how it is written.
        let rounds = std::mem::take(&mut self.rounds);
        for child in children(node).filter(Node::is_named) {
            self.condition(child, bracket, &mut parts)?;
        }
        self.rounds = rounds;
        if bracket == "[" {
            guards::test(&parts)?;
        }
        let inside = self.text(node).trim_start_matches('[').trim_end_matches(']').trim().to_owned();
        let words = vec![Word::Known(bracket.to_owned()), Word::Unknown(inside)];
        self.push(SimpleCommand { words, assignments: Vec::new(), redirects: Vec::new() })
    }

    /// A part of a test. Its operators and operands are added to `parts`, in their order.
    fn condition(&mut self, node: Node<'_>, bracket: &str, parts: &mut Vec<Word>) -> Result<(), Unclear> {
        self.deeper(|walk| match node.kind() {
            "unary_expression" | "binary_expression" | "parenthesized_expression" => {
                for child in children(node) {
                    let operator = walk.text(child);
                    let evaluates = matches!(operator, "-v" | "-R")
                        || (bracket == "[[" && matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"));
                    if evaluates && !numbers_only(node, walk.source) {
                        return Err(
                            "a test that evaluates a variable can run commands that are not written in it".into()
                        );
                    }
                    if bracket == "[" && matches!(operator, "<" | ">" | "(" | ")") {
                        return Err("it has a redirection in a test".into());
                    }
                    if child.is_named() && child.kind() != "test_operator" {
                        walk.condition(child, bracket, parts)?;
                    } else {
                        parts.push(Word::Known(operator.to_owned()));
                    }
                }
                Ok(())
            }
            "extglob_pattern" | "regex" => {
                parts.push(Word::Unknown(walk.text(node).to_owned()));
                guards::pattern(walk.text(node))
            }
            _ => {
                parts.push(walk.word(node)?);
                Ok(())
            }
        })
    }

    /// `for` and `select`, which set their variable as an assignment does.
    fn for_each(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let unclear = || Unclear::from("the variable of a loop is not understood");
        let variable = node.child_by_field_name("variable").ok_or_else(unclear)?;
        let name = self.text(variable).to_owned();
        if !wrappers::is_variable(&name) {
            return Err(unclear());
        }
        let (mut values, mut words) = (Vec::new(), Vec::new());
        let mut bodies = Vec::new();
        for child in children(node).filter(|child| child.is_named() && child.id() != variable.id()) {
            match child.kind() {
                "comment" => {}
                "do_group" => bodies.push(child),
                _ => {
                    words.push(self.word(child)?);
                    values.push(self.text(child).to_owned());
                }
            }
        }
        let values = if values.is_empty() { "\"$@\"".to_owned() } else { values.join(" ") };
        let mut assignments = vec![format!("{name}=(each of {values})")];
        if children(node).next().is_some_and(|first| first.kind() == "select") {
            assignments.push("REPLY=(what is typed)".to_owned());
            // It is not known which of them is chosen, nor that one is.
            words.clear();
        }
        self.push(SimpleCommand { words: Vec::new(), assignments, redirects: Vec::new() })?;
        self.rounds(&name, words, &bodies)
    }

    fn case(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let values: Vec<_> = node.children_by_field_name("value", &mut node.walk()).map(|value| value.id()).collect();
        for child in children(node).filter(Node::is_named) {
            match child.kind() {
                "extglob_pattern" => guards::pattern(self.text(child))?,
                _ if values.contains(&child.id()) => {
                    self.word(child)?;
                }
                _ => self.statement(child)?,
            }
        }
        Ok(())
    }

    /// A function: what it will run is judged where it is defined. The definition is a command of its own, since from
    /// then on the function runs in place of any program or builtin of its name.
    fn function(&mut self, node: Node<'_>) -> Result<(), Unclear> {
        let name = node.child_by_field_name("name").ok_or("a function has no name")?;
        let words = vec![Word::Known("function".to_owned()), Word::Unknown(self.text(name).to_owned())];
        self.push(SimpleCommand { words, assignments: Vec::new(), redirects: Vec::new() })?;
        let mut last = None;
        let mut redirects = Vec::new();
        for child in children(node).filter(|child| child.is_named() && child.id() != name.id()) {
            match child.kind() {
                "file_redirect" | "herestring_redirect" => redirects.extend(self.redirect(child)?),
                _ => last = self.last_of(|walk| walk.statement(child))?,
            }
        }
        self.attach(last, redirects)
    }

    /// Adds what a command runs in truth.
    fn add(&mut self, command: SimpleCommand) -> Result<(), Unclear> {
        self.deeper(|walk| match wrappers::unwrap(command)? {
            Runs::Itself(command) => walk.push(command),
            Runs::Other(command) => walk.add(command),
            Runs::ItselfAnd(command, others) => {
                walk.push(command)?;
                others.into_iter().try_for_each(|other| walk.add(other))
            }
            Runs::Line { line, wrapper } => {
                let before = walk.commands.len();
                let last = walk.last_of(|walk| collect(&line, walk.depth + 1, walk.commands))?;
                for inner in walk.commands.get_mut(before..).unwrap_or_default() {
                    inner.assignments.splice(..0, wrapper.assignments.iter().cloned());
                }
                walk.attach(last, wrapper.redirects)
            }
        })
    }

    fn push(&mut self, command: SimpleCommand) -> Result<(), Unclear> {
        if self.commands.len() >= MAX_COMMANDS {
            return Err("it has too many commands".into());
        }
        self.commands.push(command);
        Ok(())
    }

    fn deeper<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Unclear>) -> Result<T, Unclear> {
        if self.nesting >= MAX_DEPTH {
            return Err("it is nested too deeply".into());
        }
        self.nesting += 1;
        let done = work(self);
        self.nesting -= 1;
        done
    }

    fn text(&self, node: Node<'_>) -> &str {
        text(node, self.source)
    }
}

/// True if all operands of an expression are numbers.
fn numbers_only(expression: Node<'_>, source: &str) -> bool {
    children(expression)
        .filter(|child| child.is_named() && child.kind() != "test_operator")
        .all(|operand| text(operand, source).bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
}

fn children(node: Node<'_>) -> impl Iterator<Item = Node<'_>> {
    (0..u32::try_from(node.child_count()).unwrap_or(u32::MAX)).filter_map(move |at| node.child(at))
}

fn text<'a>(node: Node<'_>, source: &'a str) -> &'a str {
    source.get(node.byte_range()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
