//! The lines of a long output that say why something failed: the errors of compilers, the failed tests of test runners,
//! panics and traces. They are known by the shapes of their own lines; no program is asked what it is.
//!
//! A wrong guess costs some room in the text and no more, since everything can be read by handle.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

use Until::{Blank, Indented, Lines, Match, One, Trace};

/// So many bytes of failures are kept: about a hundred lines, and less than the ends of a text have.
const MOST: usize = 12 << 10;

/// So many bytes of one are kept, and of one line.
const MOST_OF_ONE: usize = 4 << 10;
const MOST_OF_LINE: usize = 1 << 10;

/// A line's shape is looked for in so many bytes of its beginning.
const SHAPE: usize = 300;

/// How far a failure goes that begins with a line of some shape.
enum Until {
    /// The line alone.
    One,
    /// With so many lines after it.
    Lines(usize),
    /// To the next empty line.
    Blank,
    /// As long as lines are indented, or empty before one that is.
    Indented,
    /// As long as lines are indented, and one more.
    Trace,
    /// To the line before the next of a shape.
    Match(&'static str),
}

/// The shapes of the lines with which failures begin. Of several that fit, the first counts.
const SHAPES: &[(&str, Until)] = &[
    // Compilers and what builds with them: rustc and cargo; javac; TypeScript and C#; webpack, esbuild, and CMake; the
    // many that write `file:line:column: error: …`, such as gcc, clang, Go, Swift, mypy and Zig; linkers; Kotlin; make
    // and Ninja.
    (r"^error(\[E\d+\])?: ", Blank),
    (r"^\S+\.java:\d+: error: ", Lines(2)),
    (r"^\S.*\(\d+,\d+\): error [A-Z]+\d+: ", Indented),
    (r"^\S+:\d+:\d+ - error TS\d+: ", Lines(4)),
    (r"^(ERROR in |CMake Error|[^ ]+ \[ERROR\])", Blank),
    (r"^\S[^:]*:\d+(:\d+)?:? (fatal |internal compiler |syntax )?[Ee]rror\b", Indented),
    (r"^\S+\.(go|py):\d+:\d+: ", One),
    (r"undefined reference to |^collect2: error|^(\S*/)?(rust-)?ld(\.\w+)?: (error|cannot|undefined)", One),
    (r"^e: ", One),
    (r"^(g?make(\[\d+\])?: \*\*\* |ninja: (error|build stopped)|FAILED: )", One),
    (r"^\[(ERROR|FATAL|error)\]", One),
    (r"^(\* What went wrong:|FAILURE: Build failed)", Blank),
    (r"^> Task \S+ FAILED", One),
    (r"^npm (ERR!|error)", One),
    // Linters: eslint and what writes as it does.
    (r"^\s+\d+:\d+\s+error\s", One),
    // Test runners: cargo and nextest; pytest and unittest; Go; jest and vitest; mocha and node; TAP; RSpec, minitest
    // and PHPUnit; .NET; JUnit under Maven.
    (r"^---- .+ ----$", Match(r"^(---- .+ ----|failures:|test result: )")),
    (r"^test .+ \.\.\. FAILED", One),
    (r"^failures:$", Match(r"^(---- .+ ----|test result: )")),
    (r"^test result: FAILED", One),
    (r"^\s+(FAIL|ABORT|TIMEOUT|SIG[A-Z]+)\s+\[", One),
    (
        r"^\s*(stdout|stderr) (─){3,}",
        Match(r"^\s*((stdout|stderr) (─){3,}|(─){3,}|(PASS|FAIL|SLOW|Summary|Cancelling)\s)"),
    ),
    (r"^_{4,} .+ _{4,}$", Match(r"^(_{4,} .+ _{4,}|={4,}( .+ =+)?)$")),
    (r"^(FAILED|ERROR) \S+(::|\.py)", One),
    (r"^E   ", One),
    (r"^(FAIL|ERROR): \S+ \(", Match(r"^(={20,}$|Ran \d+ test)")),
    (r"^\s*--- FAIL: ", Indented),
    (r"^FAIL(\t|$)", One),
    (r"^\s*● .+", Match(r"^\s*(● |(PASS|FAIL|RUNS) |Test Suites: |Tests: )")),
    (r"^\s?FAIL ", Match(r"^(\s*(PASS|FAIL|RUNS|●|✓|✕|×) |(⎯){5,}|Test Suites: )")),
    (r"^\s*(✖|✕|✗|✘|×) .*\w", Indented),
    (r"^\s*not ok \d+", Match(r"^\s*((not )?ok \d+|# \w|\d+\.\.\d+)")),
    (r"^\s+\d+ failing$", Match("^npm ")),
    (r"^Failures:$", Match("^Finished in ")),
    (r"^rspec \./", One),
    (r"^\s+\d+\) (Failure|Error):$", Blank),
    (r"^There (was|were) \d+ (failure|error)s?:", Match(r"^(FAILURES!|ERRORS!|Tests: )")),
    (r"^\s+(Failed|X) \S+ \[", Match(r"^\s*((Passed|Failed|Skipped) |Total tests|Test Run )")),
    (r"<<< (FAILURE|ERROR)!", Indented),
    // Panics, traces, and ends that no program wanted.
    (r"^thread '.*' (\(\d+\) )?panicked at ", Blank),
    (r"^(panic|fatal error): ", Match(r"^(FAIL|ok|exit status|\?)\b")),
    (r"Traceback \(most recent call last\):$", Trace),
    (r#"^  File ".+", line \d+"#, Trace),
    (
        r"^(Exception in thread .*|Caused by: .*|(Uncaught )?([\w$]+\.)*[\w$]*(Error|Exception)( \[\w+\])?(:.*)?)$",
        Indented,
    ),
    (r"^(\S+: line \d+: +\d+ )?(Segmentation fault|Aborted|Killed|Bus error|Illegal instruction)\b", One),
    (r"(^==\d+==ERROR: |: runtime error: )", Lines(15)),
    (r"^(?i:fatal|error|critical)( error)?: ", Indented),
    (r"^.{0,60}\b(ERROR|FATAL|CRITICAL|SEVERE)\b[\]: ]", One),
];

/// A line that names the file of the indented findings below it, as eslint writes.
const HEADING: &str = r"^\S*[/\\.]\S+$";

/// So many lines of one failure are kept.
const MOST_LINES: usize = 80;

struct Known {
    all: RegexSet,
    ends: Vec<Option<Regex>>,
    heading: Regex,
}

static KNOWN: LazyLock<Option<Known>> = LazyLock::new(|| {
    // Bytes need no meaning to be looked at, and the shapes are of ASCII but for some marks.
    let plain = |pattern: &str| format!("(?-u:{pattern})");
    let end = |until: &Until| match until {
        Match(pattern) => Regex::new(&plain(pattern)).ok(),
        _ => None,
    };
    Some(Known {
        all: RegexSet::new(SHAPES.iter().map(|(pattern, _)| plain(pattern))).ok()?,
        ends: SHAPES.iter().map(|(_, until)| end(until)).collect(),
        heading: Regex::new(&plain(HEADING)).ok()?,
    })
});

/// Takes in a text line by line and keeps what failed, the first of it whole.
#[derive(Debug, Default)]
pub(super) struct Failures {
    kept: Vec<Block>,
    bytes: usize,
    /// How many more began that there was no room for.
    more: usize,
    open: Option<Open>,
    heading: Option<(u64, Vec<u8>)>,
    /// The last line that was no failure's. Another that differs from it only in digits is none either, and need not be
    /// looked at: most of a very long output is such lines.
    other: Vec<u8>,
}

/// Lines that follow one another.
#[derive(Debug)]
pub(super) struct Block {
    /// Where they stand in the text.
    pub(super) range: Range<u64>,
    pub(super) text: Vec<u8>,
}

/// The failure that the last line belongs to.
#[derive(Debug)]
struct Open {
    shape: usize,
    lines: usize,
    bytes: usize,
    /// True if it has room.
    is_kept: bool,
    /// Empty lines that may be its end.
    blank: Vec<(u64, Vec<u8>)>,
}

impl Failures {
    /// Takes in a line, with its end, that stands at an offset.
    pub(super) fn line(&mut self, line: &[u8], offset: u64) {
        let Some(known) = &*KNOWN else { return };
        let shown = line.trim_ascii_end();
        let shape = shown.get(..SHAPE).unwrap_or(shown);
        if self.open.is_some() && self.goes_on(known, shape, line, offset) {
            return;
        }
        if differs_in_digits(&self.other, shape) {
            return;
        }
        if !known.all.is_match(shape) {
            self.other.clear();
            if known.heading.is_match(shape) {
                self.heading = Some((offset, line.to_vec()));
                return;
            }
            if !shape.starts_with(b" ") {
                self.heading = None;
            }
            self.other.extend_from_slice(shape);
            return;
        }
        let Some(first) = known.all.matches(shape).iter().next() else { return };
        let is_kept = self.bytes < MOST;
        if !is_kept {
            self.more += 1;
        }
        self.open = Some(Open { shape: first, lines: 0, bytes: 0, is_kept, blank: Vec::new() });
        if shape.starts_with(b" ")
            && let Some((at, heading)) = self.heading.take()
        {
            self.add(&heading, at);
        }
        self.add(line, offset);
        if matches!(SHAPES.get(first), Some((_, One))) {
            self.open = None;
        }
    }

    /// Takes a line into the failure that is open, if it belongs there.
    fn goes_on(&mut self, known: &Known, shape: &[u8], line: &[u8], offset: u64) -> bool {
        let Some(open) = &mut self.open else { return false };
        let is_indented = shape.starts_with(b" ") || shape.starts_with(b"\t");
        let goes_on = match SHAPES.get(open.shape).map(|(_, until)| until) {
            None | Some(One) => false,
            Some(Lines(number)) => open.lines <= *number,
            Some(Blank) => !shape.is_empty(),
            Some(Indented) if shape.is_empty() && open.blank.len() < 2 => {
                open.blank.push((offset, line.to_vec()));
                return true;
            }
            Some(Indented) => is_indented && !known.all.is_match(shape),
            Some(Trace) if !is_indented => {
                self.add(line, offset);
                self.open = None;
                return true;
            }
            Some(Trace) => true,
            Some(Match(_)) => {
                !known.ends.get(open.shape).and_then(Option::as_ref).is_some_and(|end| end.is_match(shape))
            }
        };
        if !goes_on || open.lines >= MOST_LINES || open.bytes >= MOST_OF_ONE {
            self.open = None;
            return false;
        }
        for (at, blank) in std::mem::take(&mut open.blank) {
            self.add(&blank, at);
        }
        self.add(line, offset);
        true
    }

    fn add(&mut self, line: &[u8], offset: u64) {
        let Some(open) = &mut self.open else { return };
        open.lines += 1;
        open.bytes += line.len();
        if !open.is_kept {
            return;
        }
        let end = offset + line.len() as u64;
        let mut text = line.to_vec();
        if line.len() > MOST_OF_LINE {
            text.truncate(MOST_OF_LINE);
            text.extend_from_slice(format!(" [... {} bytes more]\n", line.len() - MOST_OF_LINE).as_bytes());
        }
        self.bytes += text.len();
        match self.kept.last_mut() {
            Some(last) if last.range.end == offset => {
                last.range.end = end;
                last.text.extend(text);
            }
            _ => self.kept.push(Block { range: offset..end, text }),
        }
    }

    /// Returns the blocks that were kept, in their order, and how many more there were.
    pub(super) fn finish(self) -> (Vec<Block>, usize) {
        (self.kept, self.more)
    }
}

/// True if two lines are the same but for their digits.
fn differs_in_digits(before: &[u8], line: &[u8]) -> bool {
    let (mut a, mut b) = (before, line);
    while let (Some((x, after_x)), Some((y, after_y))) = (a.split_first(), b.split_first()) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let after = |text: &mut &[u8]| {
                let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
                *text = text.get(digits..).unwrap_or_default();
            };
            after(&mut a);
            after(&mut b);
        } else if x == y {
            (a, b) = (after_x, after_y);
        } else {
            return false;
        }
    }
    a.is_empty() && b.is_empty() && !line.is_empty()
}

#[cfg(test)]
mod tests;
