//! A source that does not see what the session proposes: the editor's servers know the documents as the user has them.
//!
//! Above a source there is one text, the session's. So lines are counted over here, on the way in and on the way out,
//! by the difference of the two texts. What such a source cannot know of is said: a line of an edit that waits, and in
//! an answer about the whole project, all files with such edits. A change of files that would leave them out is none.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range as Span;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use ports::edit::TextHash;
use project::paths::{self, Roots};
use project::reader::{ReadError, Reader, Source as Origin};
use project::review::to_line_edits;
use protocol::lang::{LangAnswer, LangChange, LangLocation, LangQuery, LangResult, LangStatus, LangSymbol};
use protocol::{Position, Range};
use tokio::task::JoinError;

use super::Source;
use super::place::{word_at, words};

/// How many files or places are named.
const MOST: usize = 10;

/// A source over the documents as the user has them, as one over the session's texts.
pub struct Based<S> {
    source: S,
    reader: Reader,
    roots: Arc<Roots>,
}

impl<S: Source> Based<S> {
    /// Answers by this source about the texts of this reader. The roots are for how files are called.
    pub fn new(source: S, reader: Reader, roots: Arc<Roots>) -> Self {
        Self { source, reader, roots }
    }

    /// Does what may wait for the disk.
    async fn with_shifts<T: Send + 'static>(
        &self,
        what: impl FnOnce(&mut Shifts) -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let mut shifts = Shifts { reader: self.reader.clone(), roots: Arc::clone(&self.roots), of: HashMap::new() };
        tokio::task::spawn_blocking(move || what(&mut shifts)).await
    }

    async fn answer(&self, query: &LangQuery, within: Duration) -> Result<LangResult, JoinError> {
        let asked = query.clone();
        let (moved, before) = self
            .with_shifts(move |shifts| {
                let before = shifts.base_hash(&asked);
                (shifts.query(asked), before)
            })
            .await?;
        let (moved, name) = match moved {
            Ok(moved) => moved,
            Err(words) => {
                // Where it has no server for the file at all, there may be another source that has one, and sees the
                // edit.
                let of_file = LangQuery::Servers { uri: query.uri().map(str::to_owned) };
                let result = self.source.ask(&of_file, within).await;
                return Ok(if result.status == LangStatus::NoServer { result } else { unseen(result, words) });
            }
        };
        let result = self.source.ask(&moved, within).await;
        let asked = query.clone();
        self.with_shifts(move |shifts| shifts.result(&asked, name.as_deref(), before.as_ref(), result)).await
    }
}

#[async_trait]
impl<S: Source> Source for Based<S> {
    async fn ask(&self, query: &LangQuery, within: Duration) -> LangResult {
        let failed = |error: JoinError| LangResult::without_answer(LangStatus::Failed, Some(error.to_string()));
        self.answer(query, within).await.unwrap_or_else(failed)
    }
}

/// A result of the same servers that says that it takes what they do not see.
fn unseen(result: LangResult, words: String) -> LangResult {
    LangResult { servers: result.servers, ..LangResult::without_answer(LangStatus::Unseen, Some(words)) }
}

/// How lines differ between the texts of files as the user has them and the session's.
struct Shifts {
    reader: Reader,
    roots: Arc<Roots>,
    of: HashMap<PathBuf, Arc<Shift>>,
}

/// How the session's text of a file differs from the user's.
#[derive(Default)]
struct Shift {
    changes: Vec<Change>,
    /// The session's text, where something waits for the file and does not delete it.
    session: Option<Arc<str>>,
    /// True if the user has no such file.
    is_new: bool,
    /// True if the session has deleted the file.
    is_gone: bool,
}

/// Lines of the user's text, and those of the session's that stand in their place.
struct Change {
    base: Span<u32>,
    session: Span<u32>,
}

impl Shift {
    fn of(reader: &Reader, path: &Path) -> Self {
        let base = || reader.base(path).ok().map(|file| file.text);
        match reader.read(path) {
            Ok(file) if file.source == Origin::Pending => Self::between(base().as_deref(), file.text),
            Err(ReadError::Deleted { .. }) => Self { is_gone: base().is_some(), ..Self::default() },
            Ok(_) | Err(_) => Self::default(),
        }
    }

    fn between(base: Option<&str>, session: Arc<str>) -> Self {
        let number = |lines: usize| u32::try_from(lines).unwrap_or(u32::MAX);
        let mut changes = Vec::new();
        let (mut added, mut removed) = (0_u32, 0_u32);
        for edit in to_line_edits(base.unwrap_or_default(), &session) {
            let base = number(edit.start_line)..number(edit.end_line);
            let lines = number(edit.new_text.lines().count());
            let start = base.start + added - removed;
            added += lines;
            removed += base.end - base.start;
            changes.push(Change { base, session: start..start + lines });
        }
        Self { changes, session: Some(session), is_new: base.is_none(), is_gone: false }
    }

    /// True if the user has the same text as the session.
    fn is_seen(&self) -> bool {
        self.changes.is_empty() && !self.is_new && !self.is_gone
    }

    /// A line of the session's text in the user's; none for one of an edit that waits.
    fn to_base(&self, line: u32) -> Option<u32> {
        moved(line, self.changes.iter().map(|change| (&change.session, &change.base)))
    }

    /// A line of the user's text in the session's; none for one that an edit that waits takes away.
    fn to_session(&self, line: u32) -> Option<u32> {
        moved(line, self.changes.iter().map(|change| (&change.base, &change.session))).filter(|_| !self.is_gone)
    }

    /// The same, and for a line that is taken away, the one that stands there now.
    fn near(&self, line: u32) -> u32 {
        let inside = self.changes.iter().find(|change| change.base.contains(&line));
        self.to_session(line).or_else(|| inside.map(|change| change.session.start)).unwrap_or(line)
    }

    /// The lines of the session's text that the user does not have, from 0, with what they say.
    fn own_lines(&self) -> impl Iterator<Item = (u32, &str)> {
        let lines = self.session.as_deref().unwrap_or_default().lines();
        let is_own = |line: &u32| self.is_new || self.changes.iter().any(|change| change.session.contains(line));
        (0..).zip(lines).filter(move |(line, _)| is_own(line))
    }
}

/// A line on the other side of changes; none for one that they take away.
fn moved<'c>(line: u32, changes: impl Iterator<Item = (&'c Span<u32>, &'c Span<u32>)>) -> Option<u32> {
    let mut moved = line;
    for (from, to) in changes {
        if from.contains(&line) {
            return None;
        }
        if from.end <= line {
            moved = to.end + (line - from.end);
        }
    }
    Some(moved)
}

/// A range whose lines are moved; none if its first or last one is not there. That it ends where a line begins is no
/// part of that line.
fn range_moved(range: Range, line: impl Fn(u32) -> Option<u32>) -> Option<Range> {
    let at = |position: Position| Some(Position { line: line(position.line)?, ..position });
    let [_, last] = range.lines();
    let end = if last < range.end.line { Position { line: line(last)? + 1, ..range.end } } else { at(range.end)? };
    Some(Range { start: at(range.start)?, end })
}

impl Shifts {
    fn of(&mut self, uri: &str) -> Arc<Shift> {
        path(uri).map(|path| self.of_path(&path)).unwrap_or_default()
    }

    fn of_path(&mut self, path: &Path) -> Arc<Shift> {
        if !self.reader.is_pending(path) {
            return Arc::default();
        }
        let reader = &self.reader;
        let known = self.of.entry(path.to_owned()).or_insert_with(|| Arc::new(Shift::of(reader, path)));
        Arc::clone(known)
    }

    fn name(&self, uri: &str) -> String {
        path(uri).map_or_else(|| uri.to_owned(), |path| self.roots.display(&path))
    }

    /// The files with edits that wait, in the order of their paths.
    fn unseen(&mut self) -> BTreeMap<PathBuf, Arc<Shift>> {
        let all = self.reader.pending().into_iter();
        all.map(|path| (path.clone(), self.of_path(&path))).filter(|(_, shift)| !shift.is_seen()).collect()
    }

    /// The hash of the user's text of the file that a question about changes is about: its lines are meant in that one.
    fn base_hash(&self, query: &LangQuery) -> Option<TextHash> {
        let is_for_changes = matches!(
            query,
            LangQuery::Rename { .. }
                | LangQuery::CodeAction { .. }
                | LangQuery::Format { .. }
                | LangQuery::MoveFile { .. }
        );
        let path = query.uri().filter(|_| is_for_changes).and_then(path)?;
        Some(self.reader.base(&path).ok()?.hash)
    }

    /// A question as the source understands it, with the name whose places it changes; or why the source cannot know
    /// what is asked about.
    fn query(&mut self, mut query: LangQuery) -> Result<(LangQuery, Option<String>), String> {
        let Some(uri) = query.uri().map(str::to_owned) else { return Ok((query, None)) };
        let (shift, file, name) = (self.of(&uri), self.name(&uri), self.renamed(&query));
        let is_about_text = !matches!(query, LangQuery::WorkspaceSymbols { .. } | LangQuery::Servers { .. });
        if shift.is_seen() || !is_about_text {
            return Ok((query, name));
        }
        if shift.is_new {
            return Err(format!("{file} is only proposed"));
        }
        if shift.is_gone {
            return Err(format!("{file} is proposed to be deleted"));
        }
        let waits = |line: u32| {
            let line = line + 1;
            format!(
                "{file}:{line} is in one; ask about another place, or again when the user has accepted or rejected it"
            )
        };
        match &mut query {
            LangQuery::Definition { position, .. }
            | LangQuery::TypeDefinition { position, .. }
            | LangQuery::Implementation { position, .. }
            | LangQuery::References { position, .. }
            | LangQuery::Hover { position, .. }
            | LangQuery::IncomingCalls { position, .. }
            | LangQuery::OutgoingCalls { position, .. }
            | LangQuery::Supertypes { position, .. }
            | LangQuery::Subtypes { position, .. }
            | LangQuery::Rename { position, .. } => {
                position.line = shift.to_base(position.line).ok_or_else(|| waits(position.line))?;
            }
            LangQuery::CodeActions { range, .. } | LangQuery::CodeAction { range, .. } => {
                *range = range_moved(*range, |line| shift.to_base(line)).ok_or_else(|| waits(range.start.line))?;
            }
            // The half of it that the source knows would be another text.
            LangQuery::DocumentSymbols { .. } | LangQuery::Format { .. } => {
                return Err(format!("{file} has such edits"));
            }
            LangQuery::MoveFile { .. }
            | LangQuery::WorkspaceSymbols { .. }
            | LangQuery::Diagnostics { .. }
            | LangQuery::Servers { .. } => {}
        }
        Ok((query, name))
    }

    /// The name whose places a change of the whole project changes.
    fn renamed(&self, query: &LangQuery) -> Option<String> {
        match query {
            LangQuery::Rename { uri, position, .. } => {
                let text = self.reader.read(&path(uri)?).ok()?.text;
                word_at(&text, *position).map(str::to_owned)
            }
            LangQuery::MoveFile { from, .. } => {
                let from = path(from)?;
                let stem = from.file_stem()?.to_str()?;
                // These stand for their folder.
                let is_folders = ["index", "mod", "__init__"].contains(&stem);
                let folder = from.parent().and_then(Path::file_name).and_then(|name| name.to_str());
                folder.filter(|_| is_folders).or(Some(stem)).map(str::to_owned)
            }
            _ => None,
        }
    }

    /// A result, in the session's lines.
    fn result(
        &mut self,
        query: &LangQuery,
        name: Option<&str>,
        before: Option<&TextHash>,
        mut result: LangResult,
    ) -> LangResult {
        let is_of_project = matches!(query, LangQuery::Rename { .. } | LangQuery::MoveFile { .. });
        if is_of_project && is_answered(result.status) {
            if let LangQuery::MoveFile { from, .. } = query
                && !self.of(from).is_seen()
            {
                let file = self.name(from);
                let words = format!("{file} has such edits; ask again when the user has accepted or rejected them");
                return unseen(result, words);
            }
            let places = name.map(|name| self.places(name)).unwrap_or_default();
            if let (Some(name), false) = (name, places.is_empty()) {
                let words = format!(
                    "`{name}` stands in them at {}, which would be left out; ask again when the user has accepted or \
                     rejected them, or make the change with the edit tools",
                    listed(&places)
                );
                return unseen(result, words);
            }
        }
        let mut has_left_out = false;
        match &mut result.answer {
            LangAnswer::Nothing | LangAnswer::Text { .. } | LangAnswer::Actions { .. } => {}
            LangAnswer::Locations { locations } => {
                locations.retain_mut(|place| keep(self.location(place), &mut has_left_out));
            }
            LangAnswer::Symbols { symbols } => {
                symbols.retain_mut(|symbol| keep(self.symbol(symbol), &mut has_left_out));
            }
            LangAnswer::Calls { calls } => calls.retain_mut(|call| {
                // The calls stand in the caller: in what was asked about, or in the symbol.
                let caller = match query {
                    LangQuery::OutgoingCalls { uri, .. } => uri.clone(),
                    _ => call.symbol.location.uri.clone(),
                };
                let is_there = keep(self.symbol(&mut call.symbol), &mut has_left_out);
                call.ranges.retain_mut(|range| keep(self.range(&caller, range), &mut has_left_out));
                is_there
            }),
            LangAnswer::Diagnostics { documents } => {
                for document in documents {
                    let problems = &mut document.diagnostics;
                    problems
                        .retain_mut(|problem| keep(self.range(&document.uri, &mut problem.range), &mut has_left_out));
                    has_left_out |= !self.of(&document.uri).is_seen();
                }
            }
            LangAnswer::Edit { changes } => {
                if let Some(stale) = self.stale(query, before, changes) {
                    let words = format!("{stale} changed while the server was asked; ask again");
                    let failed = LangResult::without_answer(LangStatus::Failed, Some(words));
                    return LangResult { servers: result.servers, ..failed };
                }
                let conflicts = self.edit(changes);
                // A part of a change would break what it leaves out.
                if !conflicts.is_empty() {
                    let words = format!(
                        "it would change what they change too, at {}; ask again when the user has accepted or rejected them",
                        listed(&conflicts)
                    );
                    return unseen(result, words);
                }
            }
        }
        // Where no name tells that nothing was left out, something may have been.
        let is_wide = if is_of_project { name.is_none() } else { query.is_wide() };
        let is_doubtful = is_wide
            || matches!(query, LangQuery::CodeAction { .. } | LangQuery::Diagnostics { .. })
            || matches!(
                query,
                LangQuery::Definition { .. } | LangQuery::TypeDefinition { .. } | LangQuery::Hover { .. }
            ) && super::answer::is_empty(&result.answer);
        if (is_doubtful || has_left_out) && is_answered(result.status) {
            self.say_unseen(&mut result);
        }
        result
    }

    /// Says in a result that it leaves out the edits that wait, if there are any.
    fn say_unseen(&mut self, result: &mut LangResult) {
        let unseen = self.unseen();
        let named = |(path, shift): (&PathBuf, &Arc<Shift>)| {
            let what = match (shift.is_new, shift.is_gone) {
                (true, _) => " (new)",
                (_, true) => " (deleted)",
                _ => "",
            };
            format!("{}{what}", self.roots.display(path))
        };
        let files: Vec<String> = unseen.iter().map(named).collect();
        if files.is_empty() {
            return;
        }
        let words = format!(
            "the editor's language servers do not see the edits that wait for the user in {}, so what these add or remove does \
             not count here",
            listed(&files)
        );
        if result.status == LangStatus::Ready {
            result.status = LangStatus::Partial;
        }
        let said = result.message.take().filter(|said| !said.is_empty());
        result.message = Some(said.map_or(words.clone(), |said| format!("{said}; {words}")));
    }

    /// The places of a name in the lines of edits that wait: `path:line`.
    fn places(&mut self, name: &str) -> Vec<String> {
        let mut places = Vec::new();
        for (path, shift) in self.unseen() {
            let with_name = shift.own_lines().filter(|(_, line)| words(line, name).next().is_some());
            places.extend(with_name.map(|(line, _)| format!("{}:{}", self.roots.display(&path), line + 1)));
        }
        places
    }

    /// The file that is not as it was when a change was asked for, if there is one.
    fn stale(&self, query: &LangQuery, before: Option<&TextHash>, changes: &[LangChange]) -> Option<String> {
        if let Some(uri) = query.uri()
            && self.base_hash(query).as_ref() != before
        {
            return Some(self.name(uri));
        }
        changes.iter().find_map(|change| {
            let LangChange::Text { uri, version, hash, .. } = change else { return None };
            let now = self.reader.base(&path(uri)?).ok()?;
            let is_other_version = match (version, now.source) {
                (Some(version), Origin::Buffer { version: now }) => *version != now,
                _ => false,
            };
            let is_other_text = hash.as_ref().is_some_and(|hash| *hash != now.hash.0);
            (is_other_version || is_other_text).then(|| self.name(uri))
        })
    }

    /// Moves a change to the session's lines, and gives the places where it would take an edit that waits with it.
    fn edit(&mut self, changes: &mut [LangChange]) -> Vec<String> {
        let mut conflicts = Vec::new();
        for change in changes {
            match change {
                LangChange::Text { uri, hash, edits, .. } => {
                    let shift = self.of(uri);
                    let text = path(uri).and_then(|path| self.reader.read(&path).ok());
                    *hash = text.map(|text| text.hash.0);
                    for edit in edits {
                        let [first, last] = edit.range.lines();
                        let swallows = |change: &Change| first < change.base.start && change.base.end <= last;
                        let is_apart = !shift.changes.iter().any(swallows);
                        match range_moved(edit.range, |line| shift.to_session(line)).filter(|_| is_apart) {
                            Some(range) => edit.range = range,
                            None => conflicts.push(format!("{}:{}", self.name(uri), shift.near(first) + 1)),
                        }
                    }
                }
                LangChange::Create { uri } | LangChange::Delete { uri } if !self.of(uri).is_seen() => {
                    conflicts.push(self.name(uri));
                }
                LangChange::Rename { from, to } => {
                    let places = [&*from, &*to].map(|uri| (!self.of(uri).is_seen()).then(|| self.name(uri)));
                    conflicts.extend(places.into_iter().flatten());
                }
                LangChange::Create { .. } | LangChange::Delete { .. } => {}
            }
        }
        conflicts.dedup();
        conflicts
    }

    fn symbol(&mut self, symbol: &mut LangSymbol) -> bool {
        let uri = symbol.location.uri.clone();
        if !self.range(&uri, &mut symbol.selection) {
            return false;
        }
        // A symbol that was changed within is still the same symbol.
        let (shift, all) = (self.of(&uri), &mut symbol.location.range);
        all.start.line = shift.near(all.start.line).min(symbol.selection.start.line);
        all.end.line = shift.near(all.end.line).max(symbol.selection.end.line);
        true
    }

    fn location(&mut self, place: &mut LangLocation) -> bool {
        self.range(&place.uri, &mut place.range)
    }

    /// Moves a range to the session's lines. Returns true if it is there.
    fn range(&mut self, uri: &str, range: &mut Range) -> bool {
        let shift = self.of(uri);
        let moved = range_moved(*range, |line| shift.to_session(line));
        moved.map(|moved| *range = moved).is_some()
    }
}

/// Notes what is not kept.
fn keep(is_there: bool, has_left_out: &mut bool) -> bool {
    *has_left_out |= !is_there;
    is_there
}

fn is_answered(status: LangStatus) -> bool {
    matches!(status, LangStatus::Ready | LangStatus::Indexing | LangStatus::Partial)
}

fn path(uri: &str) -> Option<PathBuf> {
    paths::from_uri(uri).ok().map(|path| paths::canonical(&path).unwrap_or(path))
}

/// Names in a row, no more than [`MOST`].
fn listed(names: &[String]) -> String {
    let shown = names.get(..MOST).unwrap_or(names).join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use project::buffers::Buffers;
    use project::reader::{Overlay, Pending};
    use protocol::lang::{LangCall, LangTextEdit};

    use super::*;

    struct Proposes(HashMap<PathBuf, Pending>);

    impl Overlay for Proposes {
        fn pending(&self, path: &Path) -> Option<Pending> {
            self.0.get(path).cloned()
        }

        fn paths(&self) -> Vec<PathBuf> {
            self.0.keys().cloned().collect()
        }
    }

    /// Answers all with the same, and notes what it was asked.
    struct Says(LangResult, Arc<Mutex<Vec<LangQuery>>>);

    #[async_trait]
    impl Source for Says {
        async fn ask(&self, query: &LangQuery, _: Duration) -> LangResult {
            self.1.lock().unwrap().push(query.clone());
            self.0.clone()
        }
    }

    /// A project whose user has `a.rs` and `b.rs`, and what the session proposes for it.
    struct World {
        folder: tempfile::TempDir,
        buffers: Arc<Buffers>,
        pending: HashMap<PathBuf, Pending>,
        asked: Arc<Mutex<Vec<LangQuery>>>,
    }

    impl World {
        #[expect(clippy::disallowed_methods, reason = "the user's own files")]
        fn new(pending: &[(&str, Option<&str>)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut world = Self { folder, buffers: Arc::default(), pending: HashMap::new(), asked: Arc::default() };
            std::fs::write(world.path("a.rs"), "0\n1\n2\n3\n4\n5\n").unwrap();
            std::fs::write(world.path("b.rs"), "fn area() {}\narea();\n").unwrap();
            for (name, text) in pending {
                let pending = text.map_or(Pending::Deleted, |text| Pending::Text(text.into()));
                world.pending.insert(world.path(name), pending);
            }
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        fn uri(&self, name: &str) -> String {
            paths::to_uri(&self.path(name))
        }

        fn reader(&self) -> Reader {
            Reader::new(self.buffers.clone(), Arc::new(Proposes(self.pending.clone())))
        }

        async fn ask(&self, query: LangQuery, answer: LangAnswer) -> LangResult {
            let says = LangResult { answer, ..LangResult::without_answer(LangStatus::Ready, None) };
            let roots = Arc::new(Roots::new([self.folder.path()]).unwrap());
            let source = Based::new(Says(says, self.asked.clone()), self.reader(), roots);
            source.ask(&query, Duration::from_secs(1)).await
        }

        fn place(&self, name: &str, line: u32) -> LangLocation {
            LangLocation { uri: self.uri(name), range: range((line, 0), (line, 1)) }
        }

        fn rename(&self, line: u32) -> LangQuery {
            LangQuery::Rename { uri: self.uri("b.rs"), position: at(line, 3), new_name: "size".into() }
        }

        fn edit(&self, name: &str, edits: &[Range]) -> LangChange {
            let edit = |range: &Range| LangTextEdit { range: *range, new_text: "size".into() };
            LangChange::Text { uri: self.uri(name), version: None, hash: None, edits: edits.iter().map(edit).collect() }
        }
    }

    fn at(line: u32, character: u32) -> Position {
        Position { line, character }
    }

    fn range(start: (u32, u32), end: (u32, u32)) -> Range {
        Range { start: at(start.0, start.1), end: at(end.0, end.1) }
    }

    fn none() -> LangAnswer {
        LangAnswer::Locations { locations: Vec::new() }
    }

    fn why(result: &LangResult) -> &str {
        result.message.as_deref().unwrap_or_default()
    }

    /// One line goes, two come, and another comes at the end.
    const CHANGED: (&str, Option<&str>) = ("a.rs", Some("0\nnew\nnewer\n2\n3\n4\n5\nlast\n"));

    #[tokio::test]
    async fn lines_are_those_of_the_text_with_the_edits_that_wait() {
        let world = World::new(&[CHANGED]);
        let ask = |line| LangQuery::Definition { uri: world.uri("a.rs"), position: at(line, 0) };
        let locations = (0..6).map(|line| world.place("a.rs", line)).collect();
        let result = world.ask(ask(3), LangAnswer::Locations { locations }).await;
        let LangAnswer::Locations { locations } = &result.answer else { panic!("{result:?}") };
        let lines: Vec<_> = locations.iter().map(|place| place.range.start.line).collect();
        assert_eq!(lines, [0, 3, 4, 5, 6], "what was line 2 is line 3, and what was line 1 is no more");
        assert_eq!(result.status, LangStatus::Partial);
        let LangQuery::Definition { position, .. } = &world.asked.lock().unwrap()[0] else { panic!() };
        assert_eq!(position.line, 2, "the source is asked in its own lines");
    }

    #[tokio::test]
    async fn a_place_in_an_edit_that_waits_is_said_to_be_unseen_with_its_line() {
        let world = World::new(&[CHANGED, ("c.rs", Some("area();\n"))]);
        let hover = |name: &str, line| LangQuery::Hover { uri: world.uri(name), position: at(line, 0) };
        let result = world.ask(hover("a.rs", 2), none()).await;
        assert_eq!((result.status, &result.answer), (LangStatus::Unseen, &LangAnswer::Nothing));
        assert!(why(&result).starts_with("a.rs:3 is in one; "), "{result:?}");
        let result = world.ask(hover("c.rs", 0), none()).await;
        assert_eq!((result.status, why(&result)), (LangStatus::Unseen, "c.rs is only proposed"));
    }

    #[tokio::test]
    async fn an_answer_about_the_whole_project_names_the_files_that_are_not_seen() {
        let world = World::new(&[CHANGED, ("c.rs", Some("area();\n")), ("b.rs", None)]);
        let uri = world.uri("a.rs");
        let queries = [
            LangQuery::References { uri: uri.clone(), position: at(0, 0) },
            LangQuery::Implementation { uri: uri.clone(), position: at(0, 0) },
            LangQuery::IncomingCalls { uri: uri.clone(), position: at(0, 0) },
            LangQuery::Subtypes { uri: uri.clone(), position: at(0, 0) },
            LangQuery::WorkspaceSymbols { query: "area".into(), uri: None },
            // Nothing found may be found in what waits.
            LangQuery::Definition { uri, position: at(0, 0) },
        ];
        for query in queries {
            let result = world.ask(query.clone(), none()).await;
            assert_eq!(result.status, LangStatus::Partial, "{query:?}");
            assert!(why(&result).contains("in a.rs, b.rs (deleted), c.rs (new), so"), "{query:?}: {result:?}");
        }
        let seen = World::new(&[("a.rs", Some("0\n1\n2\n3\n4\n5\n"))]);
        let query = LangQuery::References { uri: seen.uri("a.rs"), position: at(0, 0) };
        assert_eq!(seen.ask(query, none()).await.status, LangStatus::Ready, "what waits changes nothing");
    }

    #[tokio::test]
    async fn what_stands_in_a_file_that_is_proposed_to_be_deleted_is_left_out() {
        let world = World::new(&[("b.rs", None)]);
        let query = LangQuery::References { uri: world.uri("a.rs"), position: at(0, 0) };
        let locations = vec![world.place("a.rs", 1), world.place("b.rs", 1)];
        let result = world.ask(query, LangAnswer::Locations { locations }).await;
        assert_eq!(result.answer, LangAnswer::Locations { locations: vec![world.place("a.rs", 1)] });
    }

    #[tokio::test]
    async fn calls_that_something_makes_are_in_its_own_file_whatever_it_calls() {
        let world = World::new(&[CHANGED]);
        let location = LangLocation { uri: world.uri("b.rs"), range: range((0, 0), (0, 12)) };
        let symbol = LangSymbol {
            name: "area".into(),
            kind: 12,
            detail: None,
            container: None,
            depth: 0,
            location,
            selection: range((0, 3), (0, 7)),
        };
        let calls = vec![LangCall { symbol, ranges: vec![range((4, 0), (4, 1))] }];
        let query = LangQuery::OutgoingCalls { uri: world.uri("a.rs"), position: at(0, 0) };
        let result = world.ask(query, LangAnswer::Calls { calls }).await;
        let LangAnswer::Calls { calls } = &result.answer else { panic!("{result:?}") };
        assert_eq!(calls[0].ranges, [range((5, 0), (5, 1))]);
    }

    #[tokio::test]
    async fn a_rename_is_refused_where_an_edit_that_waits_has_the_name() {
        let new = World::new(&[("c.rs", Some("x\narea();\n"))]);
        let answer = LangAnswer::Edit { changes: vec![new.edit("b.rs", &[range((0, 3), (0, 7))])] };
        let result = new.ask(new.rename(0), answer.clone()).await;
        assert_eq!((result.status, &result.answer), (LangStatus::Unseen, &LangAnswer::Nothing));
        assert!(why(&result).starts_with("`area` stands in them at c.rs:2, "), "{result:?}");

        let changed = World::new(&[("a.rs", Some("0\n1\n2\n3\nmore(area());\n5\n"))]);
        let result = changed.ask(changed.rename(0), answer.clone()).await;
        assert!(why(&result).starts_with("`area` stands in them at a.rs:5, "), "{result:?}");

        let other = World::new(&[("a.rs", Some("0\nareas\n2\n3\n4\n5\n"))]);
        let answer = LangAnswer::Edit { changes: vec![other.edit("b.rs", &[range((0, 3), (0, 7))])] };
        let result = other.ask(other.rename(0), answer).await;
        assert_eq!(result.status, LangStatus::Ready, "another name is not in the way: {result:?}");
    }

    #[tokio::test]
    async fn an_edit_that_would_take_one_that_waits_with_it_is_refused_with_its_place() {
        let world = World::new(&[CHANGED]);
        let ask = async |edits: &[Range]| {
            world.ask(world.rename(0), LangAnswer::Edit { changes: vec![world.edit("a.rs", edits)] }).await
        };
        for (edits, place) in [
            ([range((1, 0), (1, 1))], "a.rs:2"),
            ([range((0, 0), (3, 0))], "a.rs:1"),
            ([range((5, 1), (7, 0))], "a.rs:7"),
        ] {
            let result = ask(&edits).await;
            assert_eq!(result.status, LangStatus::Unseen, "{edits:?}");
            assert!(
                why(&result).starts_with(&format!("it would change what they change too, at {place}; ")),
                "{result:?}"
            );
        }
        // Lines that touch one that waits are not part of it.
        let result = ask(&[range((0, 0), (1, 0)), range((2, 0), (3, 0)), range((5, 0), (6, 0))]).await;
        let LangAnswer::Edit { changes } = &result.answer else { panic!("{result:?}") };
        let LangChange::Text { edits, hash, .. } = &changes[0] else { panic!("{changes:?}") };
        let ranges: Vec<_> = edits.iter().map(|edit| edit.range).collect();
        assert_eq!(ranges, [range((0, 0), (1, 0)), range((3, 0), (4, 0)), range((6, 0), (7, 0))]);
        assert_eq!(hash.as_deref(), Some(&*world.reader().read(&world.path("a.rs")).unwrap().hash.0));
    }

    #[tokio::test]
    async fn a_change_made_for_another_version_of_a_document_is_refused() {
        let world = World::new(&[]);
        world.buffers.open(&world.uri("b.rs"), "rust", 4, "fn area() {}\n").unwrap();
        for (version, status) in [(4, LangStatus::Ready), (3, LangStatus::Failed)] {
            let mut change = world.edit("b.rs", &[range((0, 3), (0, 7))]);
            if let LangChange::Text { version: made_for, .. } = &mut change {
                *made_for = Some(version);
            }
            let result = world.ask(world.rename(0), LangAnswer::Edit { changes: vec![change] }).await;
            assert_eq!(result.status, status, "{result:?}");
            assert!(status == LangStatus::Ready || why(&result).starts_with("b.rs changed while"), "{result:?}");
        }
    }

    #[tokio::test]
    async fn a_move_is_refused_where_an_edit_that_waits_names_the_file_or_changes_it() {
        let names = World::new(&[("c.rs", Some("mod b;\n"))]);
        let query = LangQuery::MoveFile { from: names.uri("b.rs"), to: names.uri("d.rs") };
        let result = names.ask(query, LangAnswer::Edit { changes: Vec::new() }).await;
        assert!(why(&result).starts_with("`b` stands in them at c.rs:1, "), "{result:?}");
        let changed = World::new(&[CHANGED]);
        let query = LangQuery::MoveFile { from: changed.uri("a.rs"), to: changed.uri("d.rs") };
        let result = changed.ask(query, LangAnswer::Edit { changes: Vec::new() }).await;
        assert_eq!(result.status, LangStatus::Unseen);
        assert!(why(&result).starts_with("a.rs has such edits; "), "{result:?}");
    }

    #[tokio::test]
    async fn the_symbols_of_a_changed_file_are_not_told_by_halves() {
        let world = World::new(&[CHANGED]);
        let symbols = |name: &str| LangQuery::DocumentSymbols { uri: world.uri(name) };
        let answer = LangAnswer::Symbols { symbols: Vec::new() };
        let result = world.ask(symbols("a.rs"), answer.clone()).await;
        assert_eq!((result.status, why(&result)), (LangStatus::Unseen, "a.rs has such edits"));
        assert_eq!(world.ask(symbols("b.rs"), answer).await.status, LangStatus::Ready);
    }
}
