//! Finding text in files: ripgrep's own engine, on many files at once.
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use grep_matcher::{LineTerminator, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use platform::open;
use tokio_util::sync::CancellationToken;

use super::{Resolved, Scope, SearchError, Verdict, walk};
use crate::reader::OverDisk;

/// How much of a line is given, in bytes. Of a longer one, such as minified code has, it is what stands around the
/// match.
pub const MAX_LINE_BYTES: usize = 500;

/// How long a line may be to be searched, in bytes: 16 MiB. A line is held whole, by each thread one, and what has such
/// lines was not made to be read.
pub const MAX_HELD_LINE: usize = 16 << 20;

/// How much of a long line is given before the match.
const BEFORE_MATCH: usize = 100;

/// The text to search for, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextQuery {
    /// The text, or the regular expression. Neither goes across lines.
    pub pattern: String,
    /// True if it is a regular expression, in the syntax of Rust's `regex`.
    pub regex: bool,
    /// True if upper and lower case are the same.
    pub ignore_case: bool,
    /// Where to search.
    pub scope: Scope,
    /// Only these lines of each file, from 1; none for all.
    pub lines: Option<RangeInclusive<u64>>,
    /// How many lines to give around each match.
    pub context: usize,
    /// How many matching lines to give. The rest is only counted.
    pub limit: usize,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The first matches in order of path and line, at most as many as were asked for.
    pub files: Vec<FileMatches>,
    /// How many lines match in all.
    pub total_matches: u64,
    /// How many files they are in.
    pub total_files: usize,
    /// How many files and folders could not be read; a file with a line longer than [`MAX_HELD_LINE`] is one.
    pub unreadable: usize,
    /// How many files were not searched because they may not be shown.
    pub left_out: usize,
}

/// The matches in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMatches {
    /// The file, absolute.
    pub path: PathBuf,
    /// The lines that match with those around them, in order, each once.
    pub lines: Vec<Line>,
}

/// A line that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its text without line end, at most about [`MAX_LINE_BYTES`] of it, with `…` where something was cut off. Bytes
    /// that are not UTF-8 are replaced.
    pub text: String,
    /// Why it is given.
    pub kind: LineKind,
}

/// Why a line is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// It matches.
    Match {
        /// Where its first match begins: in characters, from 1.
        column: usize,
    },
    /// It stands near one that does.
    Context,
}

impl Found {
    /// How many matching lines are given.
    pub fn given(&self) -> usize {
        self.files.iter().map(FileMatches::matches).sum()
    }
}

impl FileMatches {
    /// How many of the lines match.
    pub fn matches(&self) -> usize {
        self.lines.iter().filter(|line| line.kind != LineKind::Context).count()
    }
}

impl TextQuery {
    /// The pattern, compiled.
    pub(super) fn matcher(&self) -> Result<RegexMatcher, SearchError> {
        let bad = |reason: String| SearchError::BadPattern { pattern: self.pattern.clone(), reason };
        if self.pattern.is_empty() {
            return Err(bad("it is empty".to_owned()));
        }
        // A regular expression that needs a line end is noticed by the builder, in other words.
        if self.pattern.contains('\n') {
            return Err(bad("it spans lines; search for a part that stands on one line".to_owned()));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder.fixed_strings(!self.regex).case_insensitive(self.ignore_case).multi_line(true).crlf(true);
        builder.ban_byte(Some(0)).build(&self.pattern).map_err(|error| match error.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => bad("it spans lines; matches are within one line".to_owned()),
            _ => bad(format!("{error}\nTo search for the text as it stands, set `regex` to false.")),
        })
    }
}

/// Searches a scope; what stands over the disk in the place of it.
pub(super) fn search(
    query: &TextQuery,
    matcher: &RegexMatcher,
    scope: &Resolved,
    over_disk: &HashMap<PathBuf, OverDisk>,
    cancel: &CancellationToken,
) -> Result<Found, SearchError> {
    let first = Mutex::new(First { files: BTreeMap::new(), kept: 0, limit: query.limit });
    let make = || Worker { searcher: searcher(query), files: 0, matches: 0, unreadable: 0, left_out: 0 };
    let visit = |worker: &mut Worker, path: PathBuf| {
        match scope.judge(&path) {
            Verdict::Taken => {}
            Verdict::NotMeant => return,
            Verdict::LeftOut => return worker.left_out += 1,
        }
        match over_disk.get(&path) {
            Some(OverDisk::Text(text)) => worker.search(query, matcher, path, text.as_bytes(), &first),
            Some(OverDisk::Deleted) => {}
            Some(OverDisk::Unknown) => worker.unreadable += 1,
            // No link is followed: what was put in its place since it was met is not what was asked for.
            None => match open::regular(&path) {
                Ok((file, _)) => worker.search(query, matcher, path, Cancellable { file, cancel }, &first),
                Err(_) => worker.unreadable += 1,
            },
        }
    };
    let mut walked = walk::files(scope.walked(), cancel, make, visit, |_| ())?;
    let mut worker = make();
    scope.unwalked(over_disk).into_iter().for_each(|path| visit(&mut worker, path));
    if cancel.is_cancelled() {
        return Err(SearchError::Cancelled);
    }
    walked.states.push(worker);
    let sum = |of: fn(&Worker) -> usize| walked.states.iter().map(of).sum::<usize>();
    Ok(Found {
        files: first.into_inner().unwrap_or_else(PoisonError::into_inner).into_files(),
        total_matches: walked.states.iter().map(|worker| worker.matches).sum(),
        total_files: sum(|worker| worker.files),
        unreadable: walked.unreadable + sum(|worker| worker.unreadable),
        left_out: sum(|worker| worker.left_out),
    })
}

fn searcher(query: &TextQuery) -> Searcher {
    // As ripgrep does in folders: no memory maps, and a NUL ends the search of a file.
    SearcherBuilder::new()
        .line_terminator(LineTerminator::crlf())
        .line_number(true)
        .before_context(query.context)
        .after_context(query.context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HELD_LINE))
        .build()
}

/// One thread's searcher, which keeps its memory from file to file, and its counts.
struct Worker {
    searcher: Searcher,
    files: usize,
    matches: u64,
    unreadable: usize,
    left_out: usize,
}

impl Worker {
    fn search(
        &mut self,
        query: &TextQuery,
        matcher: &RegexMatcher,
        path: PathBuf,
        text: impl Read,
        first: &Mutex<First>,
    ) {
        let mut sink = FileSink::new(query, matcher);
        if self.searcher.search_reader(matcher, text, &mut sink).is_err() {
            self.unreadable += 1;
            return;
        }
        if sink.total == 0 || sink.binary {
            return;
        }
        self.files += 1;
        self.matches += sink.total;
        let found = FileMatches { path, lines: sink.lines };
        first.lock().unwrap_or_else(PoisonError::into_inner).insert(found, sink.kept);
    }
}

/// A file whose reading ends with an error once the search is cancelled, so that a huge one does not hold it up.
struct Cancellable<'c> {
    file: File,
    cancel: &'c CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

/// The first matches of all, whatever the order in which files are searched. Never holds much more than the limit.
struct First {
    files: BTreeMap<OsString, (Vec<Line>, usize)>,
    kept: usize,
    limit: usize,
}

impl First {
    fn insert(&mut self, found: FileMatches, matches: usize) {
        let path = found.path.into_os_string();
        if self.kept >= self.limit && self.files.last_key_value().is_none_or(|(last, _)| *last < path) {
            return;
        }
        self.files.insert(path, (found.lines, matches));
        self.kept += matches;
        while let Some(last) = self.files.last_entry() {
            let matches = last.get().1;
            if self.kept - matches < self.limit {
                break;
            }
            last.remove();
            self.kept -= matches;
        }
    }

    fn into_files(mut self) -> Vec<FileMatches> {
        // The last file may have more than is left of the limit.
        if let (Some(excess), Some(mut last)) = (self.kept.checked_sub(self.limit), self.files.last_entry()) {
            let (lines, matches) = last.get_mut();
            let keep = *matches - excess;
            let mut seen = 0;
            lines.retain(|line| {
                seen += usize::from(line.kind != LineKind::Context);
                seen <= keep
            });
        }
        self.files.into_iter().map(|(path, (lines, _))| FileMatches { path: path.into(), lines }).collect()
    }
}

/// Gathers the lines of one file.
struct FileSink<'q> {
    query: &'q TextQuery,
    matcher: &'q RegexMatcher,
    lines: Vec<Line>,
    /// How many of them match.
    kept: usize,
    total: u64,
    /// Lines that may turn out to stand before a match.
    before: Vec<Line>,
    /// True if the last match was kept, and the lines after it are too.
    after: bool,
    binary: bool,
}

impl<'q> FileSink<'q> {
    fn new(query: &'q TextQuery, matcher: &'q RegexMatcher) -> Self {
        Self { query, matcher, lines: Vec::new(), kept: 0, total: 0, before: Vec::new(), after: false, binary: false }
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let number = found.line_number().unwrap_or_default();
        if let Some(lines) = &self.query.lines {
            if number > *lines.end() {
                return Ok(false);
            }
            if number < *lines.start() {
                self.before.clear();
                self.after = false;
                return Ok(true);
            }
        }
        self.total += 1;
        if self.kept == self.query.limit {
            self.after = false;
            return Ok(true);
        }
        let bytes = without_end(found.bytes());
        let start = self.matcher.find(bytes).ok().flatten().map_or(0, |at| at.start());
        let column = bytes.get(..start).map_or(0, |before| String::from_utf8_lossy(before).chars().count()) + 1;
        self.lines.append(&mut self.before);
        self.lines.push(Line { number, text: shown(bytes, start), kind: LineKind::Match { column } });
        self.kept += 1;
        self.after = true;
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if self.kept == self.query.limit && !self.after {
            return Ok(true);
        }
        let text = shown(without_end(context.bytes()), 0);
        let line = Line { number: context.line_number().unwrap_or_default(), text, kind: LineKind::Context };
        if self.after && *context.kind() == SinkContextKind::After {
            self.lines.push(line);
        } else {
            if self.before.len() == self.query.context {
                self.before.remove(0);
            }
            self.before.push(line);
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.binary = finish.binary_byte_offset().is_some();
        Ok(())
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A line as it is shown: whole, or what stands around the match that begins at `start`.
fn shown(line: &[u8], start: usize) -> String {
    if line.len() <= MAX_LINE_BYTES {
        return String::from_utf8_lossy(line).into_owned();
    }
    let is_boundary = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
    let from = start.saturating_sub(BEFORE_MATCH).min(line.len() - MAX_LINE_BYTES);
    let from = (from..line.len()).find(is_boundary).unwrap_or(from);
    let to = (from + MAX_LINE_BYTES..line.len()).find(is_boundary).unwrap_or(line.len());
    let text = String::from_utf8_lossy(line.get(from..to).unwrap_or_default());
    format!("{}{text}{}", if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ever the same byte, and how many of them were asked for.
    struct Endless<'c>(&'c mut usize);

    impl Read for Endless<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            buffer.fill(b'x');
            *self.0 += buffer.len();
            Ok(buffer.len())
        }
    }

    #[test]
    fn of_a_line_without_end_no_more_is_read_and_held_than_a_line_may_have() {
        let query = TextQuery { pattern: "needle".to_owned(), limit: 1, ..TextQuery::default() };
        let matcher = query.matcher().unwrap();
        let first = Mutex::new(First { files: BTreeMap::new(), kept: 0, limit: 1 });
        let mut worker = Worker { searcher: searcher(&query), files: 0, matches: 0, unreadable: 0, left_out: 0 };
        let mut read = 0;
        worker.search(&query, &matcher, "endless".into(), Endless(&mut read), &first);
        assert_eq!((worker.unreadable, worker.matches), (1, 0));
        // The reader that turns other encodings into UTF-8 reads ahead a little.
        assert!(read <= MAX_HELD_LINE + (64 << 10), "{read}");
    }
}
