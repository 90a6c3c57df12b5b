//! The messages and the requests that a server sends by itself: progress, problems, registrations, configuration,
//! edits. All of it is kept within bounds.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use globset::{Glob, GlobSet, GlobSetBuilder};
use project::paths;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::table::Definition;
use super::wire::RpcError;
use super::{Readiness, bounded};

/// So much is kept of the problems that a server tells of, in bytes of their messages, and of so many files. What is
/// over it is left out, and that is said.
const MAX_PROBLEMS: usize = 32 << 20;
const MAX_FILES: usize = 5_000;
/// So many things of a kind are kept that a server says: registrations, progress, edits. None has more than a few
/// dozens.
const MAX_THINGS: usize = 1_000;
/// The longest words of a server that are passed on, in bytes.
const MAX_WORDS: usize = 200;
/// How long a server that says when it has found the project's files is waited for. One that is set to log less never
/// says so.
const FINDS_FILES: Duration = Duration::from_secs(60);
/// The same after files were made or deleted. Of some of those it says nothing, such as those that its settings leave
/// out.
const FINDS_FILES_AGAIN: Duration = Duration::from_secs(5);

/// The state of a server, as far as it is known by what it said.
pub(super) struct Inside {
    root: PathBuf,
    settings: Value,
    /// True if it says by `experimental/serverStatus` when it has read the project.
    says_status: bool,
    /// The state that it said by that.
    is_quiescent: Option<bool>,
    /// The search for the project's files, if it says when it has found them.
    files: Option<Files>,
    registrations: HashMap<String, Registration>,
    /// The work that goes on, and what it says of that.
    progress: HashMap<String, String>,
    problems: HashMap<PathBuf, Published>,
    /// How large `problems` is, in bytes.
    size: usize,
    /// True if some were left out.
    overflowed: bool,
    /// True if it has told of the problems of any file.
    has_published: bool,
    /// True if that was waited for very long.
    was_waited_for: bool,
    /// The last error that it told the user of.
    complaint: Option<String>,
    /// The edits that it asks for while a command of it runs.
    captured: Option<Vec<Box<RawValue>>>,
}

/// The state of the project's files for a server that says when it has found them.
struct Files {
    /// The words by which it says that, as globs.
    says: GlobSet,
    /// Since when it looks for them, while it does.
    looks_since: Option<Instant>,
    /// True if it has ever found them.
    has_found: bool,
}

struct Registration {
    method: String,
    options: Value,
}

/// The problems of a file, as they were last told.
#[derive(Clone)]
pub(crate) struct Published {
    /// The version of the text that they are said to be of.
    pub(crate) version: Option<i32>,
    /// When they came.
    pub(crate) at: Instant,
    /// The same by the clock that files are dated by.
    pub(crate) dated: SystemTime,
    /// The list.
    pub(crate) diagnostics: Arc<RawValue>,
    /// True if there is none in it.
    is_empty: bool,
}

/// Keeps the edits that a server asks for, from now on until it is dropped.
pub(super) struct Capture(Arc<Mutex<Inside>>);

impl Capture {
    pub(super) fn begin(inside: Arc<Mutex<Inside>>) -> Self {
        inside.lock().unwrap_or_else(PoisonError::into_inner).captured = Some(Vec::new());
        Self(inside)
    }

    pub(super) fn edits(self) -> Vec<Box<RawValue>> {
        self.take().unwrap_or_default()
    }

    fn take(&self) -> Option<Vec<Box<RawValue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).captured.take()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        self.take();
    }
}

impl Inside {
    pub(super) fn new(definition: &Definition, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            settings: definition.settings.clone(),
            says_status: definition.says_status,
            is_quiescent: None,
            files: Files::of(definition),
            registrations: HashMap::new(),
            progress: HashMap::new(),
            problems: HashMap::new(),
            size: 0,
            overflowed: false,
            has_published: false,
            was_waited_for: false,
            complaint: None,
            captured: None,
        }
    }

    pub(super) fn has_registered(&self, method: &str) -> bool {
        self.registrations.values().any(|registration| registration.method == method)
    }

    /// The options of what was registered for a method.
    pub(super) fn options(&self, method: &str) -> impl Iterator<Item = &Value> {
        self.registrations.values().filter(move |one| one.method == method).map(|one| &one.options)
    }

    /// Returns what the server does before it can answer in full; `None` if it can.
    fn busy(&self) -> Option<String> {
        // Of one that says when it has read all, other progress is of other things, such as a build.
        if self.says_status {
            let said = self.progress.values().find(|said| !said.is_empty());
            let what = || said.cloned().unwrap_or_else(|| "it reads the project".to_owned());
            return (self.is_quiescent != Some(true)).then(what);
        }
        self.progress.values().max_by_key(|said| said.len()).cloned()
    }

    /// True if it says that it does something, such as a build.
    pub(super) fn is_at_work(&self) -> bool {
        !self.progress.is_empty()
    }

    /// How far it has read the project, and where that matters, found its files.
    pub(super) fn readiness(&self, is_wide: bool) -> Readiness {
        let of_files = || self.files.as_ref().filter(|_| is_wide).map_or(Readiness::Ready, Files::readiness);
        self.busy().map_or_else(of_files, Readiness::Busy)
    }

    /// Files of its kind were made or deleted: it looks for them again.
    pub(super) fn looks_for_files_again(&mut self) {
        if let Some(files) = self.files.as_mut().filter(|files| files.has_found) {
            files.looks_since = Some(Instant::now());
        }
    }

    pub(super) fn complaint(&self) -> Option<String> {
        self.complaint.clone()
    }

    pub(super) fn was_waited_for(&mut self) {
        self.was_waited_for = true;
    }

    pub(super) fn is_mute(&self) -> bool {
        self.was_waited_for && !self.has_published
    }

    pub(super) fn published(&self, path: &Path) -> Option<Published> {
        self.problems.get(path).cloned()
    }

    pub(super) fn all_published(&self) -> (Vec<(PathBuf, Published)>, bool) {
        let mut all: Vec<_> = self.problems.iter().map(|(path, published)| (path.clone(), published.clone())).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        (all, self.overflowed)
    }

    /// Answers a request of the server.
    pub(super) fn asked(&mut self, method: &str, params: Option<&RawValue>) -> Result<Value, RpcError> {
        match method {
            "workspace/configuration" => {
                let asked: Configuration = read(params)?;
                let value = |item: Item| section(&self.settings, item.section.as_deref().unwrap_or_default());
                Ok(asked.items.into_iter().take(MAX_THINGS).map(value).collect())
            }
            "client/registerCapability" => {
                let asked: Registrations = read(params)?;
                for one in asked.registrations {
                    if self.registrations.len() >= MAX_THINGS {
                        return Err(refusal("there are too many registrations"));
                    }
                    let registration = Registration { method: one.method, options: one.register_options };
                    self.registrations.insert(one.id, registration);
                }
                Ok(Value::Null)
            }
            "client/unregisterCapability" => {
                let asked: Unregistrations = read(params)?;
                for one in asked.unregisterations {
                    self.registrations.remove(&one.id);
                }
                Ok(Value::Null)
            }
            "workspace/applyEdit" => {
                let asked: ApplyEdit = read(params)?;
                let why = match &mut self.captured {
                    Some(edits) if edits.len() < MAX_THINGS => {
                        edits.push(asked.edit);
                        "it is shown to the user, and made if they accept it"
                    }
                    _ => "nobody asked for an edit",
                };
                Ok(json!({ "applied": false, "failureReason": why }))
            }
            "workspace/workspaceFolders" => Ok(json!([folder(&self.root)])),
            "window/showDocument" => Ok(json!({ "success": false })),
            // Progress is noted when it begins; a question for the user has no answer; what was told before is asked
            // anew whenever we want to know it.
            "window/workDoneProgress/create" | "window/showMessageRequest" => Ok(Value::Null),
            method if method.ends_with("/refresh") => Ok(Value::Null),
            _ => Err(RpcError { code: -32601, message: "the method is not known".to_owned() }),
        }
    }

    /// Takes down what the server tells. Returns true if somebody may wait for that.
    pub(super) fn told(&mut self, method: &str, params: Option<&RawValue>) -> bool {
        match method {
            "$/progress" => read(params).is_ok_and(|progress| self.goes_on(progress)),
            "experimental/serverStatus" => {
                let Ok(ServerStatus { quiescent }) = read(params) else { return false };
                self.says_status = true;
                self.is_quiescent = Some(quiescent);
                true
            }
            "window/showMessage" | "window/logMessage" => {
                let Ok(Shown { kind, message }) = read(params) else { return false };
                let has_found = self.files.as_mut().is_some_and(|files| files.hears(&message));
                if kind == 1 {
                    self.complaint = Some(bounded(message, MAX_WORDS));
                }
                has_found
            }
            "textDocument/publishDiagnostics" => {
                read(params).is_ok_and(|publish: Publish| self.publish(publish).is_some())
            }
            _ => false,
        }
    }

    fn goes_on(&mut self, progress: Progress) -> bool {
        let token = bounded(progress.token.to_string(), MAX_WORDS);
        let said = |value: &WorkDone| {
            let words = [value.title.as_deref(), value.message.as_deref()];
            let mut said = words.into_iter().flatten().collect::<Vec<_>>().join(": ");
            if let Some(percentage) = value.percentage {
                said.push_str(&format!(" ({percentage:.0} %)"));
            }
            bounded(said, MAX_WORDS)
        };
        match progress.value.kind.as_str() {
            "begin" if self.progress.len() < MAX_THINGS => {
                self.progress.insert(token, said(&progress.value));
                true
            }
            "report" => {
                if let Some(known) = self.progress.get_mut(&token) {
                    *known = said(&progress.value);
                }
                false
            }
            "end" => self.progress.remove(&token).is_some(),
            _ => false,
        }
    }

    fn publish(&mut self, publish: Publish) -> Option<()> {
        let path = paths::from_uri(&publish.uri).ok()?;
        self.size -= self.problems.remove(&path).map_or(0, |old| old.diagnostics.get().len());
        let size = publish.diagnostics.get().len();
        if self.problems.len() >= MAX_FILES {
            self.forget_one_without_problems();
        }
        if self.size + size > MAX_PROBLEMS || self.problems.len() >= MAX_FILES {
            self.overflowed = true;
            return None;
        }
        self.size += size;
        let is_empty = publish.diagnostics.get().trim_start_matches('[').trim_start().starts_with(']');
        let diagnostics = publish.diagnostics.into();
        let (at, dated) = (Instant::now(), SystemTime::now());
        self.problems.insert(path, Published { version: publish.version, at, dated, diagnostics, is_empty });
        self.has_published = true;
        Some(())
    }

    /// Makes place for another file: servers tell of each that they look at, and most have no problems.
    fn forget_one_without_problems(&mut self) {
        let without = self.problems.iter().filter(|(_, published)| published.is_empty);
        let oldest = without.min_by_key(|(_, published)| published.at);
        if let Some(path) = oldest.map(|(path, _)| path.clone()) {
            self.size -= self.problems.remove(&path).map_or(0, |old| old.diagnostics.get().len());
        }
    }
}

impl Files {
    /// None if it is not known that the server says when it has found them.
    fn of(definition: &Definition) -> Option<Self> {
        let mut says = GlobSetBuilder::new();
        definition.says_files.iter().filter_map(|glob| Glob::new(glob).ok()).for_each(|glob| {
            says.add(glob);
        });
        let says = says.build().ok().filter(|says| !says.is_empty())?;
        Some(Self { says, looks_since: Some(Instant::now()), has_found: false })
    }

    fn readiness(&self) -> Readiness {
        let Some(since) = self.looks_since else { return Readiness::Ready };
        let until = since + if self.has_found { FINDS_FILES_AGAIN } else { FINDS_FILES };
        match (Instant::now() < until, self.has_found) {
            (true, _) => Readiness::Finding(until),
            (false, true) => Readiness::Ready,
            (false, false) => Readiness::Untold,
        }
    }

    /// True if it said by this that it has found them.
    fn hears(&mut self, message: &str) -> bool {
        let has_found = self.says.is_match(bounded(message.to_owned(), MAX_WORDS));
        if has_found {
            (self.looks_since, self.has_found) = (None, true);
        }
        has_found
    }
}

/// The folder of the project, as the protocol has it.
pub(super) fn folder(root: &Path) -> Value {
    let name = root.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy());
    json!({ "uri": paths::to_uri(root), "name": name })
}

/// A part of the settings, by its name with dots; null where there is none.
fn section(settings: &Value, name: &str) -> Value {
    let found = name.split('.').filter(|part| !part.is_empty()).try_fold(settings, |at, part| at.get(part));
    found.cloned().unwrap_or_default()
}

fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    serde_json::from_str(params.map_or("null", RawValue::get))
        .map_err(|error| RpcError { code: -32602, message: error.to_string() })
}

fn refusal(why: &str) -> RpcError {
    RpcError { code: -32803, message: why.to_owned() }
}

#[derive(Deserialize)]
struct Configuration {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    section: Option<String>,
}

#[derive(Deserialize)]
struct Registrations {
    registrations: Vec<Register>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Register {
    id: String,
    method: String,
    #[serde(default)]
    register_options: Value,
}

/// The protocol spells it so.
#[derive(Deserialize)]
struct Unregistrations {
    unregisterations: Vec<Unregister>,
}

#[derive(Deserialize)]
struct Unregister {
    id: String,
}

#[derive(Deserialize)]
struct ApplyEdit {
    edit: Box<RawValue>,
}

#[derive(Deserialize)]
struct ServerStatus {
    quiescent: bool,
}

#[derive(Deserialize)]
struct Progress {
    token: Value,
    value: WorkDone,
}

#[derive(Deserialize)]
struct WorkDone {
    kind: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    percentage: Option<f64>,
}

/// `ShowMessageParams` and `LogMessageParams`; 1 is an error.
#[derive(Deserialize)]
struct Shown {
    #[serde(rename = "type")]
    kind: u8,
    message: String,
}

#[derive(Deserialize)]
struct Publish {
    uri: String,
    #[serde(default)]
    version: Option<i32>,
    diagnostics: Box<RawValue>,
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;

    use super::super::super::table::{Places, Table};
    use super::*;

    fn tell(inside: &mut Inside, file: &str, diagnostics: &Value) -> bool {
        let params = json!({ "uri": format!("file:///{file}"), "diagnostics": diagnostics });
        inside.told("textDocument/publishDiagnostics", Some(&to_raw_value(&params).unwrap()))
    }

    #[test]
    fn of_very_many_files_those_without_problems_make_place() {
        let table = Table::load(Places { home: None, user: None, project: None });
        let mut inside = Inside::new(&table.servers[0], Path::new("/"));
        let problem = json!([{ "message": "wrong" }]);
        assert!(tell(&mut inside, "first", &problem));
        for number in 0..MAX_FILES + 10 {
            assert!(tell(&mut inside, &format!("clean-{number}"), &json!([])));
        }
        assert!(tell(&mut inside, "last", &problem));
        let (all, overflowed) = inside.all_published();
        assert!(!overflowed && all.len() == MAX_FILES, "{}", all.len());
        for file in ["/first", "/last"] {
            assert!(inside.published(Path::new(file)).is_some(), "{file}");
        }

        for number in 0..MAX_FILES {
            tell(&mut inside, &format!("wrong-{number}"), &problem);
        }
        assert!(inside.all_published().1, "there are too many with problems");
    }

    #[test]
    fn a_server_is_mute_once_it_was_waited_for_in_vain_and_until_it_speaks() {
        let table = Table::load(Places { home: None, user: None, project: None });
        let mut inside = Inside::new(&table.servers[0], Path::new("/"));
        assert!(!inside.is_mute());
        inside.was_waited_for();
        assert!(inside.is_mute());
        tell(&mut inside, "a", &json!([]));
        assert!(!inside.is_mute());
    }
}
