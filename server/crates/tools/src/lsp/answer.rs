//! The outcome of a question, in words for the model.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ports::tool::Output;
use project::paths;
use protocol::lang::{LangLocation, LangResult, LangStatus};

use crate::{Services, counted, location};

/// How many places are given with their code.
pub(super) const MOST: usize = 50;
/// How many more are given by their lines only: who renames or removes something has to know of them all.
const MOST_LINES: usize = 1000;
/// How much of a line of code is given, in characters.
const MAX_LINE: usize = 200;
/// How many files an editor is told of.
const MAX_LOCATIONS: usize = 20;

/// A result without its answer: how far it can be relied on, and who gave it.
pub(super) struct Said {
    status: LangStatus,
    message: Option<String>,
    servers: Vec<String>,
    version: Option<i32>,
}

impl Said {
    pub(super) fn new(result: &LangResult) -> Self {
        let server = |server: &protocol::lang::LangServer| match &server.version {
            Some(version) => format!("{} {version}", server.name),
            None => server.name.clone(),
        };
        Self {
            status: result.status,
            message: result.message.clone().filter(|message| !message.is_empty()),
            servers: result.servers.iter().map(server).collect(),
            version: result.version,
        }
    }

    /// True if what was answered is all there is.
    pub(super) fn is_whole(&self) -> bool {
        self.status == LangStatus::Ready
    }

    /// True if there is an answer.
    pub(super) fn is_answered(&self) -> bool {
        matches!(self.status, LangStatus::Ready | LangStatus::Indexing | LangStatus::Partial)
    }

    /// How far the answer can be relied on, in a line.
    pub(super) fn words(&self) -> String {
        format!("[{}]", self.plain())
    }

    /// The same within a sentence.
    pub(super) fn plain(&self) -> String {
        let who = if self.servers.is_empty() { String::new() } else { format!("{}: ", self.servers.join(", ")) };
        let message = self.message.as_deref();
        let with = |words: &str| message.map_or_else(|| words.to_owned(), |message| format!("{words}: {message}"));
        let words = match self.status {
            LangStatus::Ready => match self.version {
                Some(version) => with(&format!("ready, for version {version} of the open document")),
                None => with("ready"),
            },
            LangStatus::Indexing => with("the server still reads the project, so there may be more; ask again later"),
            LangStatus::Partial => with("there may be more, or other"),
            LangStatus::NoServer => {
                with("no language server is there for it; use search_text, file_outline or read_file")
            }
            LangStatus::Unsupported => with("the language server cannot answer this"),
            LangStatus::Failed => with("the language server gave no answer"),
            LangStatus::Crashed => with("the language server ended while it was asked; ask again"),
            LangStatus::TimedOut => with("the language server did not answer in time; ask again later"),
            LangStatus::EditorBusy => with("the editor was busy and did not ask its language servers; ask again"),
            LangStatus::Unseen => with("the language server does not see the edits that wait for the user"),
        };
        format!("{who}{words}")
    }

    /// The output where there is no answer.
    pub(super) fn without_answer(&self) -> Output {
        Output { text: self.words(), summary: summary(self.status).to_owned(), is_error: true, ..Output::default() }
    }

    /// The output for an answer.
    pub(super) fn output(&self, text: String, summary: String, places: &Places) -> Output {
        let text = format!("{}\n{}", text.trim_end_matches('\n'), self.words());
        Output { text, summary, locations: places.locations(), ..Output::default() }
    }
}

fn summary(status: LangStatus) -> &'static str {
    match status {
        LangStatus::Ready => "nothing",
        LangStatus::Indexing => "indexing",
        LangStatus::Partial => "partial",
        LangStatus::NoServer => "no language server",
        LangStatus::Unsupported => "not supported",
        LangStatus::Failed => "failed",
        LangStatus::Crashed => "the server crashed",
        LangStatus::TimedOut => "no answer in time",
        LangStatus::EditorBusy => "the editor was busy",
        LangStatus::Unseen => "edits wait",
    }
}

/// The places of an answer, with the lines of code that stand there. What the user's rules keep from the model, and
/// what lies outside of the workspace, is named without its text.
pub(super) struct Places<'s> {
    services: &'s Services,
    texts: HashMap<PathBuf, Option<Arc<str>>>,
    shown: Vec<(PathBuf, u64)>,
}

impl<'s> Places<'s> {
    pub(super) fn new(services: &'s Services) -> Self {
        Self { services, texts: HashMap::new(), shown: Vec::new() }
    }

    /// A place as `path:line: code`. Blocks.
    pub(super) fn show(&mut self, place: &LangLocation) -> String {
        let line = place.range.start.line;
        let Ok(path) = paths::from_uri(&place.uri) else { return format!("{}:{}", place.uri, line + 1) };
        let path = self.services.roots.check(&path).unwrap_or(path);
        let name = self.services.roots.display(&path);
        let code = self.line(&path, line).map(|code| format!(": {code}")).unwrap_or_default();
        if !self.shown.iter().any(|(shown, _)| *shown == path) {
            self.shown.push((path, u64::from(line) + 1));
        }
        format!("{name}:{}{code}", line + 1)
    }

    /// Places in the order of their files and lines: the first [`MOST`] on a line of their own with the code there,
    /// then up to [`MOST_LINES`] with a line for each file. Blocks.
    pub(super) fn list(&mut self, locations: &[LangLocation]) -> String {
        let mut sorted: Vec<_> = locations.iter().collect();
        sorted.sort_by(|a, b| (&a.uri, a.range).cmp(&(&b.uri, b.range)));
        sorted.dedup();
        let mut text = String::new();
        for place in sorted.iter().take(MOST) {
            let shown = self.show(place);
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{shown}");
        }
        let rest = sorted.get(MOST..).unwrap_or_default();
        if rest.is_empty() {
            return text;
        }
        let _ = writeln!(text, "[{} in all; of these only the lines:]", counted(sorted.len(), "place"));
        let is_same_file = |a: &&LangLocation, b: &&LangLocation| a.uri == b.uri;
        for in_file in rest.get(..MOST_LINES).unwrap_or(rest).chunk_by(is_same_file) {
            let mut lines: Vec<_> = in_file.iter().map(|place| place.range.start.line + 1).collect();
            lines.dedup();
            let lines: Vec<_> = lines.iter().map(u32::to_string).collect();
            let name = in_file.first().map(|place| self.name(&place.uri)).unwrap_or_default();
            let _ = writeln!(text, "{name}:{}", lines.join(","));
        }
        if rest.len() > MOST_LINES {
            let _ = writeln!(text, "[the first {} of {}]", MOST + MOST_LINES, counted(sorted.len(), "place"));
        }
        text
    }

    fn name(&self, uri: &str) -> String {
        let Ok(path) = paths::from_uri(uri) else { return uri.to_owned() };
        self.services.roots.display(&self.services.roots.check(&path).unwrap_or(path))
    }

    fn line(&mut self, path: &Path, line: u32) -> Option<String> {
        let services = self.services;
        let text = self.texts.entry(path.to_owned()).or_insert_with(|| {
            let is_ours = services.roots.check(path).is_ok() && services.search.shows(path);
            is_ours.then(|| services.reader.read(path).ok().map(|file| file.text)).flatten()
        });
        let line = text.as_ref()?.lines().nth(usize::try_from(line).ok()?)?.trim();
        let cut: String = line.chars().take(MAX_LINE).collect();
        Some(if cut.len() < line.len() { format!("{cut} …") } else { cut })
    }

    fn locations(&self) -> Vec<protocol::content::Location> {
        self.shown.iter().take(MAX_LOCATIONS).map(|(path, line)| location(path, Some(*line))).collect()
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::{Position, Range};

    use super::*;
    use crate::fixture::World;

    #[test]
    fn of_very_many_places_all_are_told_the_first_with_their_code() {
        let world = World::new(&[("a.rs", &"x();\n".repeat(40)), ("b.rs", &"x();\n".repeat(2000))]);
        let services = world.services();
        let at = |file: &str, line: u32| {
            let place = Position { line, character: 0 };
            let path = services.roots.resolve(file).unwrap();
            LangLocation { uri: paths::to_uri(&path), range: Range { start: place, end: place } }
        };
        let list = |in_b: u32| {
            let places = (0..40).map(|line| at("a.rs", line)).chain((0..in_b).map(|line| at("b.rs", line)));
            Places::new(&services).list(&places.collect::<Vec<_>>())
        };
        let told = list(10);
        assert!(told.ends_with("\nb.rs:10: x();\n") && told.lines().count() == 50, "{told}");
        let told = list(13);
        assert!(
            told.ends_with("\nb.rs:10: x();\n[53 places in all; of these only the lines:]\nb.rs:11,12,13\n"),
            "{told}"
        );
        let told = list(2000);
        assert!(told.ends_with(",1010\n[the first 1050 of 2040 places]\n"), "{told}");
    }
}
