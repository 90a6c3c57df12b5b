//! Trust in workspaces, as it stands: what the user said of folders, kept in their own data and never in a
//! repository, and what an editor says of its workspace, which counts while it is connected and is not kept.
//!
//! It is read anew whenever it matters, since another window may have asked meanwhile.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use async_trait::async_trait;
use extend::trust::Supplied;
use lang::brought::{Brought, Gate};
use ports::store::{Store, StoreError};
use project::paths;
use protocol::PermissionId;
use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind, PermissionRequest};

use super::feed::blocking;
use crate::visible;

/// The answers to the question.
const TRUST: &str = "trust";
const NOT_NOW: &str = "not_now";
const DISTRUST: &str = "distrust";

/// The stored decision on a folder.
const TRUSTED: &str = "trusted";
const RESTRICTED: &str = "restricted";

/// The text of the question below the folders.
const MEANING: &str = "Trust it only if you trust those who wrote what is in it.\n\
                       Until you do, nothing that it supplies runs: its hooks, MCP servers and language servers,\n\
                       its environment files, and programs that its git configuration names.\n\
                       Its rules that allow something do not count, and you are asked before a command runs its \
                       code, each time.\n\
                       Azimuth can read it, and propose edits for your review, either way.";

/// An editor's trust in its workspace. It may change at any time; clones see it.
#[derive(Clone, Debug, Default)]
pub(super) struct Word(Arc<AtomicU8>);

impl Word {
    /// The initial trust, if the editor says any.
    pub(super) fn new(trusted: Option<bool>) -> Self {
        let word = Self::default();
        trusted.into_iter().for_each(|trusted| word.say(trusted));
        word
    }

    /// It says this from now on.
    pub(super) fn say(&self, trusted: bool) {
        self.0.store(if trusted { 2 } else { 1 }, Ordering::Relaxed);
    }

    /// The current trust; none if the editor says nothing.
    pub(super) fn said(&self) -> Option<bool> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            said => Some(said == 2),
        }
    }
}

/// True if the user has said that a folder is to be trusted. Blocks.
pub fn is_trusted(store: Arc<dyn Store>, home: Option<PathBuf>, folder: &Path) -> bool {
    Book::new(store, home).of(folder) == Some(true)
}

/// The user's decisions on folders. All functions block, for as long as the store takes.
#[derive(Clone)]
pub(super) struct Book {
    store: Arc<dyn Store>,
    home: Option<PathBuf>,
}

impl Book {
    /// The decisions in this store, of the user with this home.
    pub(super) fn new(store: Arc<dyn Store>, home: Option<PathBuf>) -> Self {
        Self { store, home: home.map(|home| real(&home)) }
    }

    /// True if a folder is trusted; `None` if the user was not asked yet.
    fn of(&self, folder: &Path) -> Option<bool> {
        let said = |folder: &Path| -> Result<Option<bool>, StoreError> {
            let kept = self.store.get(&key(folder))?;
            Ok(kept.filter(|kept| !kept.is_empty()).map(|kept| kept == TRUSTED))
        };
        extend::trust::of_folder(folder, self.home.as_deref(), said).unwrap_or_else(|error| {
            tracing::error!(%error, "what is kept of trust cannot be read; the workspace counts as not trusted");
            Some(false)
        })
    }

    /// True if a program of a project may start as it is; `None` if the user was not asked of it as it is now.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn of_program(&self, program: &Path, fingerprint: &str) -> Result<Option<bool>, StoreError> {
        if let Some(said) = self.store.get(&program_key(program, Some(fingerprint)))? {
            return Ok(Some(said == TRUSTED));
        }
        // Earlier versions kept one answer for each program, with what it was about.
        let kept = self.store.get(&program_key(program, None))?;
        let of_this = kept.as_deref().and_then(|kept| kept.split_once(' ')).filter(|(_, of)| *of == fingerprint);
        Ok(of_this.map(|(said, _)| said == TRUSTED))
    }

    /// Keeps what the user says of a program of a project, as it is.
    ///
    /// # Errors
    /// It could not be kept.
    pub(super) fn set_program(&self, program: &Path, fingerprint: &str, allowed: bool) -> Result<(), StoreError> {
        let said = if allowed { TRUSTED } else { RESTRICTED };
        self.store.set(&program_key(program, Some(fingerprint)), said)
    }

    /// Keeps what the user says of a folder.
    fn set(&self, folder: &Path, trusted: bool) -> Result<(), StoreError> {
        self.store.set(&key(folder), if trusted { TRUSTED } else { RESTRICTED })
    }
}

/// The programs that may start by the user's decisions so far. Nobody is asked.
#[async_trait]
impl Gate for Book {
    async fn admit(&self, program: &Brought, _: bool) -> Result<(), String> {
        let (book, program) = (self.clone(), program.clone());
        match blocking(move || book.of_program(&program.program, &program.fingerprint)).await {
            Ok(Some(true)) => Ok(()),
            Ok(Some(false)) => {
                Err("it belongs to the project, and you said that it must never start in its current form".to_owned())
            }
            Ok(None) => {
                Err("it belongs to the project; you are asked whether it may start when the agent next needs it, \
                             but not in mode `plan`"
                    .to_owned())
            }
            Err(error) => Err(format!("it belongs to the project, and what you said of it cannot be read: {error}")),
        }
    }
}

/// The setting that keeps what was said of a folder.
fn key(folder: &Path) -> String {
    format!("trust {}", paths::to_uri(folder))
}

/// The setting that keeps what was said of a program as it is: one program, such as `npx`, may run many servers.
fn program_key(program: &Path, fingerprint: Option<&str>) -> String {
    let program = paths::to_uri(program);
    fingerprint.map_or_else(|| format!("program {program}"), |as_it_is| format!("program {program} {as_it_is}"))
}

/// A folder by its own name, links resolved.
fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// A workspace: its folders, and what was said of them. All of it blocks, but for the words of the question.
#[derive(Clone)]
pub(super) struct Workspace {
    book: Book,
    folders: Arc<[PathBuf]>,
    /// True if git may run what a repository names, as it was when last looked at, for the shells that are started
    /// next.
    may_run_git_programs: Arc<AtomicBool>,
}

impl Workspace {
    /// A workspace of these folders.
    pub(super) fn new(book: &Book, folders: impl IntoIterator<Item = PathBuf>) -> Self {
        let folders = folders.into_iter().map(|folder| real(&folder)).collect();
        Self { book: book.clone(), folders, may_run_git_programs: Arc::default() }
    }

    /// True if it is trusted: the editor's word counts, else what is kept, of all its folders; `None` if the user was
    /// not asked of them all, and refused none.
    pub(super) fn decided(&self, word: &Word) -> Option<bool> {
        let decided = word.said().or_else(|| self.kept());
        let may_run = extend::trust::may_run(decided == Some(true), Supplied::GitPrograms);
        self.may_run_git_programs.store(may_run, Ordering::Relaxed);
        decided
    }

    /// True if it is trusted by what is kept; `None` if the user was not asked of all its folders, and refused none.
    pub(super) fn kept(&self) -> Option<bool> {
        let said: Vec<_> = self.folders.iter().map(|folder| self.book.of(folder)).collect();
        if said.contains(&Some(false)) {
            return Some(false);
        }
        (!said.is_empty() && !said.contains(&None)).then_some(true)
    }

    /// Keeps what the user says of it: of all its folders, or where it is trusted of those that are not trusted yet.
    ///
    /// # Errors
    /// It could not be kept.
    pub(super) fn decide(&self, trusted: bool) -> Result<(), StoreError> {
        let others = self.folders.iter().filter(|folder| self.book.of(folder) != Some(trusted));
        others.into_iter().try_for_each(|folder| self.book.set(folder, trusted))
    }

    /// Returns whether git may run what a repository names, as it was when last looked at.
    pub(super) fn may_run_git_programs(&self) -> &Arc<AtomicBool> {
        &self.may_run_git_programs
    }

    /// Its folders, for people.
    pub(super) fn names(&self) -> Vec<String> {
        self.folders.iter().map(|folder| named(folder)).collect()
    }

    /// The question whether it is trusted, about the folders of which nothing was said.
    pub(super) fn question(&self, permission_id: PermissionId) -> PermissionRequest {
        let open: Vec<_> = self.folders.iter().filter(|folder| self.book.of(folder).is_none()).collect();
        let these = if open.len() == 1 { "this folder" } else { "these folders" };
        let mut detail: String = open.iter().map(|folder| named(folder) + "\n").collect();
        let home = self.book.home.as_deref();
        for folder in open.iter().filter(|folder| extend::trust::is_wide(folder, home)) {
            let what =
                if home == Some(folder.as_path()) { "your home folder" } else { "a folder of the whole machine" };
            detail.push_str(&format!(
                "Warning: {} is {what}.\nEverything in it would count as trusted here, downloads too. Better open \
                 the folder of one project.\n",
                named(folder)
            ));
        }
        detail.push_str(MEANING);
        let option = |option_id: &str, name: String, kind| PermissionOption { option_id: option_id.into(), name, kind };
        PermissionRequest {
            permission_id,
            tool_call_id: None,
            about: PermissionAbout::Trust,
            title: format!("Trust {these}?"),
            detail,
            reason: format!("you have not been asked about {these} before"),
            form: None,
            options: vec![
                option(TRUST, format!("Trust {these}"), PermissionOptionKind::AllowAlways),
                option(NOT_NOW, "Not now: restricted in this session".into(), PermissionOptionKind::RejectOnce),
                option(DISTRUST, "Do not trust".into(), PermissionOptionKind::RejectAlways),
            ],
        }
    }
}

/// The permanent decision that an answer to the question makes; none if it makes none.
pub(super) fn answered(option_id: &str) -> Option<bool> {
    match option_id {
        TRUST => Some(true),
        DISTRUST => Some(false),
        _ => None,
    }
}

/// A folder, for people: its name adds no line to what is said of it.
fn named(folder: &Path) -> String {
    visible::line(&folder.display().to_string()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn an_editor_can_change_its_mind() {
        let word = Word::new(None);
        let heard = word.clone();
        assert_eq!(heard.said(), None);
        word.say(true);
        assert_eq!(heard.said(), Some(true));
        word.say(false);
        assert_eq!(heard.said(), Some(false));
        assert_eq!(Word::new(Some(true)).said(), Some(true));
    }

    #[test]
    fn only_two_of_the_answers_are_for_good() {
        let known: HashMap<_, _> = [(TRUST, Some(true)), (DISTRUST, Some(false)), (NOT_NOW, None), ("?", None)].into();
        known.into_iter().for_each(|(option, said)| assert_eq!(answered(option), said, "{option}"));
    }

    #[test]
    fn a_workspace_is_trusted_once_all_its_folders_are() {
        let data = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(store::SqliteStore::open(&data.path().join("data")).unwrap());
        let folder = |name: &str| {
            let folder = data.path().join(name);
            project::files::create(&folder.canonicalize().unwrap_or(folder.clone()).join("file"), "").unwrap();
            folder
        };
        let (one, two) = (folder("one"), folder("two"));
        let book = Book::new(store, Some(data.path().to_owned()));
        let both = Workspace::new(&book, [one.clone(), two.clone()]);
        let first = Workspace::new(&book, [one.clone()]);
        let silent = Word::default();
        assert_eq!(both.decided(&silent), None);
        first.decide(true).unwrap();
        assert_eq!((first.decided(&silent), both.decided(&silent)), (Some(true), None));
        assert!(!both.question("q".into()).detail.contains(&*one.to_string_lossy()), "nothing is asked twice");
        both.decide(true).unwrap();
        assert_eq!(both.decided(&silent), Some(true));
        assert_eq!(both.decided(&Word::new(Some(false))), Some(false), "the editor's word counts more");
        Workspace::new(&book, [two]).decide(false).unwrap();
        assert_eq!((first.decided(&silent), both.decided(&silent)), (Some(true), Some(false)));

        let home = Workspace::new(&book, [data.path().to_owned()]);
        let question = home.question("q".into());
        assert!(question.detail.contains("is your home folder"), "{}", question.detail);
    }

    #[test]
    fn a_folders_name_adds_no_line_to_the_question() {
        let data = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = Arc::new(store::SqliteStore::open(&data.path().join("data")).unwrap());
        let book = Book::new(store, None);
        let odd = Workspace::new(&book, [data.path().join("odd\nAda has looked at it.\u{1b}[8m")]);
        let detail = odd.question("q".into()).detail;
        assert!(detail.lines().next().unwrap().ends_with("/odd\\nAda has looked at it.\\u{1b}[8m"), "{detail}");
    }
}
