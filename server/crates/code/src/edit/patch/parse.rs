//! A patch as data.
//!
//! A line decides by its first character what it is, so the parser goes line by line and never back. What models get
//! wrong and what can only mean one thing is taken as that: a missing or doubled envelope, fences around the patch,
//! CRLF, an empty line for an empty line that stays, numbers that do not count right, a line that stays without its
//! space, blanks before a marker. Whatever could mean two things is an error that names the line.

use project::text;

use super::unified::{self, FileHeader};
use super::{Hunk, Line, Mark, Operation, lines};

/// A longer patch is refused (in bytes). Everything else here takes time in proportion to its length.
const LONGEST: usize = 8 << 20;

/// The fences that Markdown puts around code.
const FENCES: [&str; 2] = ["```", "~~~"];

/// Reads a patch: one or several files, in the Codex envelope or as unified diffs, also mixed. Line ends do not matter.
///
/// Several updates of one file are joined: all hunks of a file are about the text it has now.
///
/// # Errors
/// See [`Problem`].
pub fn parse(patch: &str) -> Result<Vec<Operation>, ParseError> {
    if patch.len() > LONGEST {
        return Err(ParseError { line: 1, problem: Problem::TooLong });
    }
    let patch = text::normalise(patch.strip_prefix('\u{FEFF}').unwrap_or(patch)).0;
    let lines = lines(&patch).collect();
    let mut parser = Parser { lines, at: 0, fenced: false, in_envelope: false, blanks: None, operations: Vec::new() };
    parser.patch()?;
    joined(parser.operations)
}

/// A patch that cannot be read. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {problem}. Nothing was changed.")]
pub struct ParseError {
    /// The line of the patch, from 1.
    pub line: usize,
    /// The problem.
    pub problem: Problem,
}

/// A problem with a patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It is longer than can be sensible.
    #[error("the patch is longer than 8 MiB; split it")]
    TooLong,
    /// There is no change in it.
    #[error(
        "there is no change in the patch; it needs `*** Update File: path` (or Add, Delete) and then lines that begin \
         with a space, `-` or `+`, or it is a unified diff"
    )]
    Empty,
    /// A `***` line that is none we know.
    #[error(
        "`{0}` is no operation; there are `*** Add File: path`, `*** Update File: path`, `*** Move to: path`, \
         `*** Delete File: path`, `*** End of File` and `*** End Patch`"
    )]
    UnknownOperation(String),
    /// A known `***` line where it means nothing.
    #[error("`{0}` has no meaning here")]
    Misplaced(String),
    /// A path is missing.
    #[error("the path is missing")]
    NoPath,
    /// A path in quotes that is written wrong.
    #[error("the path {0} cannot be read")]
    BadPath(String),
    /// A change that belongs to no file.
    #[error("`{0}` belongs to no file; write `*** Update File: path` (or `--- a/path` and `+++ b/path`) before it")]
    NoFile(String),
    /// A line of a hunk with another first character than a space, `-` or `+`.
    #[error(
        "`{0}` begins with none of a space (the line stays), `-` (it goes) and `+` (it comes); every line of a hunk does"
    )]
    UnknownPrefix(String),
    /// Dots that stand for lines.
    #[error("`{0}` does not stand for lines that are left out; begin a second hunk with `@@` instead")]
    Ellipsis(String),
    /// A line of a new file without `+`.
    #[error("`{0}`: every line of a new file begins with `+`")]
    NotAdded(String),
    /// A line of a deleted file without `-`.
    #[error("`{0}`: where a file is deleted every line begins with `-`")]
    NotRemoved(String),
    /// A hunk without lines.
    #[error("the hunk has no lines")]
    EmptyHunk,
    /// An update without hunks.
    #[error("nothing is changed in {0}")]
    NoHunks(String),
    /// A `--- ` without `+++ `.
    #[error("after `--- path` the next line must be `+++ path`")]
    NoNewName,
    /// The names of a file before and after do not go together.
    #[error("`{old}` and `{new}` are two files; write the file's own path in both lines")]
    Names {
        /// The first.
        old: String,
        /// The second.
        new: String,
    },
    /// An operation that git can do and an edit cannot.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Two operations are about the same path.
    #[error("{path} has been named before, in line {before}; a patch does one thing to a file")]
    NamedTwice {
        /// The path.
        path: String,
        /// The line of the other operation, from 1.
        before: usize,
    },
}

/// Where lines are read.
pub(super) struct Parser<'p> {
    pub(super) lines: Vec<&'p str>,
    /// The next line, from 0.
    pub(super) at: usize,
    /// True if a Markdown fence is open.
    fenced: bool,
    /// True if an envelope is open.
    in_envelope: bool,
    /// The blanks before the last marker, if it had some.
    blanks: Option<&'p str>,
    /// The operations that were read so far, with the line where each begins, from 1.
    operations: Vec<(usize, Operation)>,
}

/// The lines of a hunk that is being read, and what its numbers say of it.
#[derive(Default)]
struct Open {
    hunk: Hunk,
    /// How many old and new lines it says to have.
    counts: Option<(usize, usize)>,
    old: usize,
    new: usize,
    /// How many lines at its end are empty, without even a space.
    empty_tail: usize,
    /// True if it began with `@@`.
    headed: bool,
    closed: bool,
}

impl<'p> Parser<'p> {
    fn patch(&mut self) -> Result<(), ParseError> {
        // Before the first file, and after the end of a fence or of an envelope, people explain.
        let mut prose = true;
        while let Some(line) = self.peek() {
            let first = self.at + 1;
            let trimmed = line.trim();
            // In words a marker with blanks before it may be an example, unless it begins an envelope.
            let is_meant = |directive: &&str| !prose || blanks(line).is_none() || is(directive.trim(), "Begin Patch");
            if let Some(directive) = self.marker(line, false).filter(is_meant) {
                prose = self.directive(directive, line)?;
            } else if is_fence(line) {
                self.fenced = !self.fenced;
                prose = !self.fenced || self.operations.is_empty();
                self.at += 1;
            } else if unified::begins_file(&self.lines, self.at) {
                let header = FileHeader::read(self)?;
                let operation = self.unified(header)?;
                self.operations.push((first, operation));
                prose = false;
            } else if is_signature(&self.lines, self.at) {
                prose = true;
                self.at += 1;
            } else if trimmed.is_empty() || (prose && !is_change(line)) {
                self.at += 1;
            } else {
                return Err(self.error(Problem::NoFile(shown(line))));
            }
        }
        if self.operations.is_empty() {
            self.at = self.lines.len().saturating_sub(1);
            return Err(self.error(Problem::Empty));
        }
        Ok(())
    }

    /// Reads a `***` line and what belongs to it. Says whether prose may follow.
    fn directive(&mut self, directive: &str, line: &'p str) -> Result<bool, ParseError> {
        let directive = directive.trim();
        let start = self.at + 1;
        let path = |name: &str| with_name(directive, name).map(|path| path.trim_matches('`').trim().to_owned());
        self.blanks = blanks(line);
        if is(directive, "Begin Patch") || is(directive, "End Patch") {
            self.at += 1;
            self.in_envelope = is(directive, "Begin Patch");
            return Ok(!self.in_envelope);
        }
        let operation = if let Some(path) = path("Add File:") {
            let path = self.some(path)?;
            self.at += 1;
            Operation::Add { path, text: self.added()? }
        } else if let Some(path) = path("Delete File:") {
            let path = self.some(path)?;
            self.at += 1;
            Operation::Delete { path, text: None }
        } else if let Some(path) = path("Update File:") {
            let path = self.some(path)?;
            self.at += 1;
            self.update(path)?
        } else if is(directive, "End of File") || path("Move to:").is_some() {
            return Err(self.error(Problem::Misplaced(shown(line))));
        } else {
            return Err(self.error(Problem::UnknownOperation(shown(line))));
        };
        self.operations.push((start, operation));
        Ok(false)
    }

    /// The lines of `*** Add File`.
    fn added(&mut self) -> Result<String, ParseError> {
        let mut text = String::new();
        let mut empty = 0;
        if self.peek().is_some_and(|line| line.starts_with("@@")) {
            self.at += 1;
        }
        while let Some(line) = self.peek() {
            if self.marker(line, false).is_some_and(|rest| is(rest.trim(), "End of File")) {
                self.at += 1;
                break;
            }
            if self.ends_body(line, false) {
                break;
            }
            if line.trim().is_empty() {
                empty += 1;
            } else if let Some(added) = line.strip_prefix('+') {
                text.extend(std::iter::repeat_n('\n', empty));
                empty = 0;
                text += added;
                text.push('\n');
            } else {
                return Err(self.error(Problem::NotAdded(shown(line))));
            }
            self.at += 1;
        }
        Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
    }

    /// Reads the lines that follow `*** Update File`.
    fn update(&mut self, path: String) -> Result<Operation, ParseError> {
        let start = self.at;
        let mut move_to = None;
        while let Some(line) = self.peek() {
            // With blanks it may be the first line of a hunk without `@@`.
            if let Some(to) = self.marker(line, true).and_then(|rest| with_name(rest.trim(), "Move to:")) {
                if move_to.is_some() {
                    return Err(self.error(Problem::Misplaced(shown(line))));
                }
                move_to = Some(self.some(to.trim_matches('`').trim().to_owned())?).filter(|to| *to != path);
            } else if unified::repeats_names(&self.lines, self.at, &path, move_to.as_deref()) {
                // The header of a unified diff inside of the envelope says the same once more.
                self.at += 1;
            } else if !line.trim().is_empty() {
                break;
            }
            self.at += 1;
        }
        let hunks = self.hunks(false)?;
        if hunks.is_empty() && move_to.is_none() {
            self.at = start.saturating_sub(1);
            return Err(self.error(Problem::NoHunks(path)));
        }
        Ok(Operation::Update { path, move_to, hunks })
    }

    /// Reads the lines that follow the header of a file in a unified diff.
    fn unified(&mut self, header: FileHeader) -> Result<Operation, ParseError> {
        let first = self.at;
        let mut hunks = if header.has_lines { self.hunks(true)? } else { Vec::new() };
        if let Some(hunk) = hunks.first_mut().filter(|hunk| hunk.hint == Some(0)) {
            // The file's byte order mark is no part of its text.
            for is_old in [true, false] {
                let first = hunk.lines.iter_mut().find(|line| (line.mark != Mark::Add) == is_old);
                if let Some(line) = first {
                    line.text = line.text.trim_start_matches('\u{FEFF}').to_owned();
                }
            }
        }
        let whole = |mark: Mark, wrong: fn(String) -> Problem| {
            let mut text = String::new();
            for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
                // Nothing can stay here, so a line without anything is an empty line.
                if line.mark != mark && !(line.mark == Mark::Keep && line.text.is_empty()) {
                    return Err(ParseError { line: first + 1, problem: wrong(shown(&line.text)) });
                }
                text.extend([line.text.as_str(), "\n"]);
            }
            match hunks.as_slice() {
                [] => {}
                [hunk] => text.truncate(text.len() - usize::from(hunk.final_newline.is_some())),
                [_, second, ..] => {
                    let problem = Problem::Unsupported("a file that is added or deleted has one hunk");
                    return Err(ParseError { line: second.line, problem });
                }
            }
            Ok(text)
        };
        let FileHeader { path, move_to, created, deleted, has_lines } = header;
        if created {
            return Ok(Operation::Add { path, text: whole(Mark::Add, Problem::NotAdded)? });
        }
        if deleted {
            return Ok(Operation::Delete { path, text: Some(whole(Mark::Remove, Problem::NotRemoved)?) });
        }
        if hunks.is_empty() && (has_lines || move_to.is_none()) {
            self.at = first.saturating_sub(1);
            return Err(self.error(Problem::NoHunks(path)));
        }
        Ok(Operation::Update { path, move_to, hunks })
    }

    /// Hunks, up to the next file or the end.
    fn hunks(&mut self, unified: bool) -> Result<Vec<Hunk>, ParseError> {
        let mut hunks = Vec::new();
        let mut open = Open { hunk: Hunk { line: self.at + 1, ..Hunk::default() }, ..Open::default() };
        while let Some(line) = self.peek() {
            if self.marker(line, true).is_some_and(|rest| is(rest.trim(), "End of File")) {
                if open.hunk.lines.is_empty() {
                    return Err(self.error(Problem::Misplaced(shown(line))));
                }
                open.hunk.end_of_file = true;
                open.closed = true;
            } else if self.ends_body(line, true) || (unified && open.ends_before(&self.lines, self.at)) {
                break;
            } else if line.starts_with("@@") {
                if line.starts_with("@@@") {
                    return Err(self.error(Problem::Unsupported("a combined diff of a merge cannot be applied")));
                }
                if !open.hunk.lines.is_empty() {
                    hunks.push(open.finished());
                    open = Open::default();
                }
                if !open.headed {
                    open.hunk.line = self.at + 1;
                }
                open.header(line);
            } else if line.starts_with("\\ ") || line == "\\" {
                if !open.no_newline() {
                    return Err(self.error(Problem::NoFile(shown(line))));
                }
            } else if open.closed && !line.trim().is_empty() {
                return Err(self.error(Problem::Misplaced(shown(line))));
            } else if !open.closed {
                open.push(line).map_err(|problem| self.error(problem))?;
            }
            self.at += 1;
        }
        if open.hunk.lines.is_empty() && open.headed {
            return Err(ParseError { line: open.hunk.line, problem: Problem::EmptyHunk });
        }
        let last = open.finished();
        if !last.lines.is_empty() {
            hunks.push(last);
        }
        Ok(hunks)
    }

    /// Returns the text behind the `***` of a line, if it is a marker. With blanks before it, it is one where nothing
    /// else could stand; a hunk could have such a line that stays, unless the marker before it had the same blanks, or
    /// an envelope is open and the line would end it as the patch's last.
    fn marker<'l>(&self, line: &'l str, in_hunk: bool) -> Option<&'l str> {
        let rest = line.trim_start_matches([' ', '\t']).strip_prefix("***")?;
        let Some(blanks) = blanks(line) else { return Some(rest) };
        let is_end = || self.in_envelope && is(rest.trim(), "End Patch") && self.is_last();
        let is_meant = is_marker(rest) && (!in_hunk || self.blanks == Some(blanks) || is_end());
        is_meant.then_some(rest)
    }

    /// True if nothing follows but the end of a fence.
    fn is_last(&self) -> bool {
        let mut rest = self.lines.iter().skip(self.at + 1);
        rest.all(|line| line.trim().is_empty() || (self.fenced && is_fence(line)))
    }

    /// True if the lines of a file end before this one.
    fn ends_body(&self, line: &str, in_hunk: bool) -> bool {
        self.marker(line, in_hunk).is_some()
            || (self.fenced && FENCES.iter().any(|fence| line.starts_with(fence)))
            || unified::begins_git_file(&self.lines, self.at)
    }

    pub(super) fn peek(&self) -> Option<&'p str> {
        self.lines.get(self.at).copied()
    }

    pub(super) fn error(&self, problem: Problem) -> ParseError {
        ParseError { line: self.at + 1, problem }
    }

    /// A path that must not be empty.
    pub(super) fn some(&self, path: String) -> Result<String, ParseError> {
        if path.is_empty() { Err(self.error(Problem::NoPath)) } else { Ok(path) }
    }
}

impl Open {
    /// Takes a `@@` line.
    fn header(&mut self, line: &str) {
        self.headed = true;
        let rest = line.trim_start_matches('@').trim();
        if let Some(numbers) = unified::Numbers::of(rest) {
            self.counts = numbers.counts();
            self.hunk.hint = Some(numbers.start());
            self.hunk.heading = numbers.heading().or(self.hunk.heading.take());
            return;
        }
        if let Some(line) = line_number(rest) {
            self.hunk.hint = Some(line.saturating_sub(1));
            return;
        }
        // Several anchors may stand in one line.
        let anchors = rest.split("@@").map(str::trim).filter(|anchor| !matches!(*anchor, "" | "..." | "…"));
        self.hunk.anchors.extend(anchors.map(str::to_owned));
    }

    /// Takes a line of the hunk.
    fn push(&mut self, line: &str) -> Result<(), Problem> {
        let (mark, text) = match line.chars().next() {
            None => (Mark::Keep, ""),
            Some(' ') => (Mark::Keep, line.get(1..).unwrap_or_default()),
            Some('-') => (Mark::Remove, line.get(1..).unwrap_or_default()),
            Some('+') => (Mark::Add, line.get(1..).unwrap_or_default()),
            Some('.' | '…') if matches!(line.trim(), "..." | "…") => return Err(Problem::Ellipsis(shown(line))),
            // These mark lines in other kinds of diffs, or are no line of a file at all.
            Some('!' | '<' | '>' | '|' | '~' | '?' | '*' | '=' | '\\' | '`' | '%' | '^' | '&' | ':' | ';' | ',')
                if !is_tag(line) =>
            {
                return Err(Problem::UnknownPrefix(shown(line)));
            }
            Some(_) => (Mark::Bare, line),
        };
        self.empty_tail = if line.is_empty() { self.empty_tail + 1 } else { 0 };
        self.old += usize::from(mark != Mark::Add);
        self.new += usize::from(mark != Mark::Remove);
        self.hunk.lines.push(Line { mark, text: text.to_owned() });
        Ok(())
    }

    /// Takes git's note that the line before has no line break. False if there is no such line.
    fn no_newline(&mut self) -> bool {
        let Some(last) = self.hunk.lines.last() else { return false };
        self.hunk.end_of_file = true;
        self.hunk.final_newline = Some(last.mark == Mark::Remove);
        true
    }

    /// True if a hunk of a unified diff ends before this line: another file begins, or the mail that the diff came in
    /// is signed. `--- x` and `+++ y` may also be lines of the hunk, which its numbers tell.
    fn ends_before(&self, lines: &[&str], at: usize) -> bool {
        let inside = self.counts.is_some_and(|(old, new)| self.old < old && self.new < new);
        let complete = self.counts.is_some_and(|(old, new)| self.old >= old && self.new >= new);
        (complete && is_signature(lines, at)) || (!inside && unified::begins_file(lines, at))
    }

    /// The hunk, without the empty lines that only part it from what follows.
    fn finished(mut self) -> Hunk {
        let tail = self.empty_tail;
        // Its numbers may want some of them; numbers that fit with no part of them say nothing.
        let fitting = self.counts.and_then(|(old, _)| (old + tail).checked_sub(self.old));
        let kept = fitting.filter(|kept| *kept <= tail).unwrap_or(0);
        self.hunk.lines.truncate(self.hunk.lines.len() - (tail - kept));
        self.hunk
    }
}

/// Joins updates of one file, and refuses a patch that does several things to it.
fn joined(operations: Vec<(usize, Operation)>) -> Result<Vec<Operation>, ParseError> {
    let mut names = std::collections::HashMap::<String, (usize, Option<usize>)>::new();
    let mut joined: Vec<Operation> = Vec::new();
    for (line, operation) in operations {
        if let Operation::Update { path, move_to: None, hunks } = &operation
            && let Some((_, Some(index))) = names.get(path)
            && let Some(Operation::Update { hunks: before, .. }) = joined.get_mut(*index)
        {
            before.extend(hunks.iter().cloned());
            continue;
        }
        let (to, joins) = match &operation {
            Operation::Update { move_to: Some(to), .. } => (Some(to.clone()), None),
            Operation::Update { .. } => (None, Some(joined.len())),
            _ => (None, None),
        };
        for path in [Some(operation.path().to_owned()), to].into_iter().flatten() {
            if let Some((before, _)) = names.insert(path.clone(), (line, joins)) {
                return Err(ParseError { line, problem: Problem::NamedTwice { path, before } });
            }
        }
        joined.push(operation);
    }
    Ok(joined)
}

/// True if a line outside of all files looks like a part of a change.
fn is_change(line: &str) -> bool {
    let rule = line.chars().all(|c| c == '-') && line.len() >= 3;
    line.starts_with(['+', '-']) && !rule || line.starts_with("@@")
}

/// True if the mail that a patch came in is signed here: with the version of git.
fn is_signature(lines: &[&str], at: usize) -> bool {
    lines.get(at).is_some_and(|line| line.trim_end() == "--")
        && lines.get(at + 1).is_some_and(|line| line.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_fence(line: &str) -> bool {
    FENCES.iter().any(|fence| line.trim_start().starts_with(fence))
}

/// True if a line begins with a tag of markup, which no kind of diff has at the beginning of a line.
fn is_tag(line: &str) -> bool {
    line.strip_prefix('<').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '!')))
}

fn is(directive: &str, name: &str) -> bool {
    directive.trim_end_matches(['*', ' ']).eq_ignore_ascii_case(name)
}

/// The blanks before a line, if there are any.
fn blanks(line: &str) -> Option<&str> {
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..length).filter(|blanks| !blanks.is_empty())
}

/// True if what stands behind `***` is a marker that we know, and whole.
pub fn is_marker(rest: &str) -> bool {
    let rest = rest.trim();
    let names = |name| with_name(rest, name).is_some_and(|path| !path.is_empty());
    ["Begin Patch", "End Patch", "End of File"].into_iter().any(|name| is(rest, name))
        || ["Add File:", "Update File:", "Delete File:", "Move to:"].into_iter().any(names)
}

/// Returns the text that follows a name, such as the path in `Add File: path`.
fn with_name<'a>(directive: &'a str, name: &str) -> Option<&'a str> {
    let (head, rest) = directive.split_at_checked(name.len())?;
    head.eq_ignore_ascii_case(name).then(|| rest.trim())
}

/// The number in `line 12` or `lines 12-20`.
fn line_number(text: &str) -> Option<usize> {
    let text = text.trim_end_matches('@').trim();
    let (word, number) = text.split_once([' ', ':'])?;
    if !["line", "lines"].iter().any(|name| word.eq_ignore_ascii_case(name)) {
        return None;
    }
    let mut parts = number.trim().split(['-', ',', '–']).map(|part| part.trim().parse::<usize>().ok());
    let first = parts.next()??;
    (parts.all(|part| part.is_some())).then_some(first)
}

/// A line in an error.
pub(super) fn shown(line: &str) -> String {
    super::super::locate::preview(line)
}
