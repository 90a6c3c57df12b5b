//! The servers of our own: one process for each server and project, shared by all sessions, started at the first
//! question and ended when nobody has asked for long.

mod ask;
mod late;
mod problems;
mod send;
mod slot;
mod source;
mod typescript;
mod view;
mod warm;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use process::programs;
use process::sandbox::Policy;
use project::paths::{self, Roots};
use project::reader::Reader;
pub use protocol::servers::ServerState;
use tokio::sync::watch;

use self::slot::{Changes, Slot};
use super::Source;
use super::brought::{self, Brought, Gate, Ground, Hashes};
use super::detect::{self, Detected};
use super::table::{Places, Table};

/// How long a server may take to start that is only tried.
const TRIAL: Duration = Duration::from_secs(10);
/// After how long without a question a server is ended.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// How often it is looked who is idle, and who takes too much memory.
const LOOK: Duration = Duration::from_secs(5);
/// The memory that a server may take if the machine does not say how much it has, in bytes.
const MEMORY: u64 = 4 << 30;

/// The surroundings that servers need.
#[derive(Clone, Debug)]
pub struct ServersConfig {
    /// The user's home folder, for `lsp.json` and the like.
    pub home: Option<PathBuf>,
    /// The folder of the user's configuration, for the same.
    pub user_folder: Option<PathBuf>,
    /// Where programs are looked for, by us and by servers in turn, as in `PATH`.
    pub path: Option<OsString>,
    /// The supervisor of the servers' processes, as in [`Confinement`](process::Confinement).
    pub supervisor: Option<PathBuf>,
    /// After how long without a question a server is ended, where no file says it. Zero is never.
    pub idle: Duration,
    /// How much memory a server and all that it starts may take, in bytes. One that takes more is ended.
    pub memory: u64,
}

impl Default for ServersConfig {
    /// With the `PATH` of this process, half an hour, and half of the machine's memory.
    fn default() -> Self {
        Self {
            home: None,
            user_folder: None,
            path: std::env::var_os("PATH"),
            supervisor: None,
            idle: IDLE,
            memory: half_of_memory().unwrap_or(MEMORY),
        }
    }
}

/// All servers of our own.
pub struct Servers {
    config: ServersConfig,
    slots: Mutex<HashMap<Key, Arc<Slot>>>,
    tables: Mutex<HashMap<(PathBuf, bool), Arc<Table>>>,
    hashes: Arc<Hashes>,
    /// True if no server is started any more.
    is_over: AtomicBool,
    changes: Changes,
    this: Weak<Self>,
}

/// The server, the project and the surroundings that a process is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    program: PathBuf,
    root: PathBuf,
    /// The sandbox of the sessions that share it.
    policy: Option<Arc<Policy>>,
    /// The names of the variables that they let through of the environment.
    pass: Arc<[String]>,
}

/// Gives the folders of all of the user's sessions. Blocks.
pub type Sessions = Arc<dyn Fn() -> Result<Vec<PathBuf>, String> + Send + Sync>;

/// For whom servers answer.
#[derive(Clone)]
pub struct Access {
    /// True if the workspace is trusted. Without trust nothing is started.
    pub trusted: Arc<dyn Fn() -> bool + Send + Sync>,
    /// The session's sandbox; none if it has none. Sessions with the same one share servers, if they let the same
    /// through.
    pub policy: Option<Arc<Policy>>,
    /// Names of variables that servers get although they look like secrets.
    pub pass: Arc<[String]>,
    /// Who says what may start of the servers that the project brings along.
    pub gate: Arc<dyn Gate>,
    /// The folders of all sessions, as they are now: whatever lies there, commands may have written. Blocks. An error
    /// is in words for the user.
    pub sessions: Sessions,
}

/// Why there is no place for a server's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoSlot {
    /// None is started any more.
    Over,
    /// Its configuration says something else by now.
    Outdated,
}

/// The status of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// Its version, if it has said one.
    pub version: Option<String>,
    /// The folder of the project that it is for.
    pub root: PathBuf,
    /// Its state.
    pub state: ServerState,
    /// Its program, if that is there.
    pub program: Option<PathBuf>,
    /// Its process.
    pub pid: Option<u32>,
    /// The memory that it and all that it started hold, in bytes.
    pub memory: Option<u64>,
    /// More about its state, for people.
    pub why: Option<String>,
    /// The command that installs it, where one does whatever the system.
    pub install: Option<String>,
}

impl Servers {
    /// Makes it with no servers yet. It works in the runtime of whoever asks.
    pub fn new(config: ServersConfig) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            config,
            slots: Mutex::default(),
            tables: Mutex::default(),
            hashes: Arc::default(),
            is_over: AtomicBool::new(false),
            changes: Changes::default(),
            this: this.clone(),
        })
    }

    /// Returns the source for a session's questions. Servers are started in its sandbox, and only while it is trusted.
    pub fn source(self: &Arc<Self>, roots: Roots, reader: Reader, access: Access) -> Arc<dyn Source> {
        Arc::new(source::Own { servers: self.clone(), roots, reader, access })
    }

    /// Changes whenever the state of some server becomes another.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.changes.watch()
    }

    /// Says that files were made, changed or deleted on disk, by whomever: servers that want to know it are told, and a
    /// file that configures servers is read anew.
    pub async fn files_changed(&self, paths: Vec<PathBuf>) {
        // A file of the user's may be a link to where they keep such files.
        let is_configured_by =
            |folder: &Path| paths.iter().any(|path| Table::is_made_of(self.places(Some(folder)), path));
        let is_configuration = self.tables().keys().any(|(folder, _)| is_configured_by(folder));
        let resolve = move || paths.into_iter().map(|path| paths::canonical(&path).unwrap_or(path)).collect();
        let paths: Vec<PathBuf> = blocking(resolve).await.unwrap_or_default();
        let slots: Vec<Arc<Slot>> = self.slots().values().cloned().collect();
        for slot in slots {
            let Some(client) = slot.client() else { continue };
            let inside: Vec<PathBuf> = paths.iter().filter(|path| path.starts_with(&slot.key.root)).cloned().collect();
            let tell = move || {
                let inside: Vec<&Path> = inside.iter().map(PathBuf::as_path).collect();
                client.files_changed(&inside, |path| slot.definition.is_for(path));
            };
            // This asks the disk whether a file is there.
            let _ = blocking(tell).await;
        }
        if is_configuration {
            self.reload().await;
        }
    }

    /// Returns the status of all servers that run or ran.
    pub async fn all(&self) -> Vec<ServerStatus> {
        self.started(|_| true).await
    }

    /// Returns the status of the servers of a workspace: those of the projects in it, and those among them that do not
    /// run. If it is not trusted, its own files do not count.
    pub async fn status(&self, roots: &Roots, access: &Access) -> Vec<ServerStatus> {
        let trusted = (access.trusted)();
        let mut list = self.started(|slot| slot.is_in(roots)).await;
        for root in roots.iter() {
            let mut found = self.detect(root.path.clone(), None, trusted).await;
            found.extend(self.detect_below(root.path.clone(), trusted).await);
            for one in found {
                let is_it = |known: &ServerStatus| {
                    let is_program = one.program.is_none() || one.program == known.program;
                    known.name == one.definition.name && known.root == one.root && is_program
                };
                if list.iter().any(is_it) {
                    continue;
                }
                let (state, why) = match (&one.program, self.look(&one, roots, access, false).await) {
                    (None, _) => (ServerState::Missing, Some(one.definition.missing())),
                    (_, Ok(None)) => (ServerState::NotStarted, None),
                    (_, Ok(Some(brought))) => match access.gate.admit(&brought, false).await {
                        Ok(()) => (ServerState::NotStarted, None),
                        Err(why) => (ServerState::NotAllowed, Some(why)),
                    },
                    (_, Err(why)) => (ServerState::NotAllowed, Some(why)),
                };
                list.push(ServerStatus {
                    install: one.definition.install.clone(),
                    name: one.definition.name.clone(),
                    version: None,
                    root: one.root,
                    state,
                    why,
                    program: one.program,
                    pid: None,
                    memory: None,
                });
            }
        }
        list.sort_by(|a, b| (&a.root, &a.name).cmp(&(&b.root, &b.name)));
        list
    }

    /// The servers for a file in a folder of the workspace, as they would be asked: the name of each, and where its
    /// program is not found that it is not, and how to get it.
    pub async fn known_for(&self, folder: PathBuf, file: PathBuf, trusted: bool) -> Vec<(String, Option<String>)> {
        let known = self.detect(folder, Some(file), trusted).await;
        let told =
            |one: Detected| (one.definition.name.clone(), one.program.is_none().then(|| one.definition.missing()));
        known.into_iter().map(told).collect()
    }

    /// Tries whether a server that does not run can: it is started in a folder, and ended again. In one outside the
    /// workspace it finds no program of the workspace's in `PATH`. Gives its version, if it says one.
    ///
    /// # Errors
    /// It cannot, for this reason.
    pub async fn try_out(
        &self,
        server: &ServerStatus,
        folder: &Path,
        roots: &Roots,
        access: &Access,
    ) -> Result<Option<String>, String> {
        let trusted = (access.trusted)();
        let is_it = |one: &Detected| {
            one.definition.name == server.name && one.root == server.root && one.program == server.program
        };
        let mut found = Vec::new();
        for root in roots.iter() {
            found.extend(self.detect(root.path.clone(), None, trusted).await);
            found.extend(self.detect_below(root.path.clone(), trusted).await);
        }
        let detected = found.into_iter().find(is_it).map(|found| Detected { root: folder.to_owned(), ..found });
        let key = detected.as_ref().and_then(|detected| Key::new(detected, access));
        let (Some(detected), Some(key)) = (detected, key) else { return Err("its program is not there".to_owned()) };
        let mut config = self.config.clone();
        let folders: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
        if !folders.iter().any(|own| folder.starts_with(own)) {
            let all = config.path.take();
            let path = blocking(move || programs::path(answering(all).as_deref(), &folders)).await;
            config.path = Some(path.unwrap_or_default());
        }
        let slot = Arc::new(Slot::new(key, &detected, &config, Duration::ZERO, self.changes.clone()));
        let tried = match tokio::time::timeout(TRIAL, slot.running()).await {
            Ok(Ok(client)) => Ok(client.version().map(str::to_owned)),
            Ok(Err(_)) => Err(slot.why_crashed().unwrap_or_else(|| "it ended at once".to_owned())),
            Err(_) => Err(format!("it did not answer within {} seconds", TRIAL.as_secs())),
        };
        slot.close("it was only tried").await;
        tried
    }

    async fn started(&self, is_meant: impl Fn(&Slot) -> bool) -> Vec<ServerStatus> {
        let slots: Vec<Arc<Slot>> = self.slots().values().filter(|slot| is_meant(slot)).cloned().collect();
        let mut list: Vec<ServerStatus> = Vec::new();
        for slot in slots {
            list.extend(blocking(move || slot.status()).await);
        }
        list.sort_by(|a, b| (&a.root, &a.name).cmp(&(&b.root, &b.name)));
        list
    }

    /// Returns what is to be allowed of a server, if the project brings it along. `anew` reads all of it, whatever is
    /// known of it.
    ///
    /// # Errors
    /// It cannot be read, for this reason.
    async fn look(
        &self,
        server: &Detected,
        roots: &Roots,
        access: &Access,
        anew: bool,
    ) -> Result<Option<Brought>, String> {
        let (server, hashes) = (server.clone(), self.hashes.clone());
        let look = move |ground: &Ground<'_>| {
            let is_brought = brought::is_brought(&server, ground);
            is_brought.then(|| brought::look(&server, ground, &hashes, anew)).transpose()
        };
        let looked = self.on_ground(roots, access, look).await?;
        looked.map_err(|error| format!("its program cannot be read: {error}"))
    }

    /// Does something that may wait for the disk with what counts as the project's.
    ///
    /// # Errors
    /// The folders that count so could not be looked up.
    async fn on_ground<T: Send + 'static>(
        &self,
        roots: &Roots,
        access: &Access,
        what: impl FnOnce(&Ground<'_>) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (roots, policy, sessions) = (roots.clone(), access.policy.clone(), access.sessions.clone());
        let search = self.config.path.clone();
        let done = blocking(move || {
            let search = answering(search);
            Ok(what(&Ground::new(&roots, policy.as_deref(), sessions()?, search.as_deref())))
        });
        done.await.unwrap_or_else(|| Err("it could not be looked at".to_owned()))
    }

    /// Returns the faults in the configuration files of servers, in words.
    pub async fn problems(&self, roots: &Roots, trusted: bool) -> Vec<String> {
        let mut problems: Vec<String> = Vec::new();
        for root in roots.iter() {
            let table = self.table(&root.path, trusted).await;
            for problem in &table.problems {
                let problem = problem.to_string();
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
        }
        problems
    }

    /// Ends the servers of this name, or all, in a workspace, or everywhere without one; the next question starts them
    /// anew, even one that crashed just now. Gives how many ran or had crashed.
    pub async fn restart(&self, roots: Option<&Roots>, name: Option<&str>) -> usize {
        let is_meant =
            |slot: &Slot| name.is_none_or(|name| name == slot.key.name) && roots.is_none_or(|roots| slot.is_in(roots));
        self.close(is_meant, "it was to be started anew").await
    }

    /// Ends the servers of a workspace that is not trusted any more.
    pub async fn leave(&self, roots: &Roots) {
        self.close(|slot| slot.is_in(roots), "the workspace is not trusted").await;
    }

    /// Reads the configuration files anew, and ends the servers of those folders for which they say something else now,
    /// so that it counts.
    pub async fn reload(&self) {
        let known: Vec<_> = self.tables().drain().collect();
        for ((folder, trusted), before) in known {
            if self.table(&folder, trusted).await != before {
                self.close(|slot| slot.key.root.starts_with(&folder), "what configures it has changed").await;
            }
        }
        self.changes.announce();
    }

    /// Ends all servers, as the protocol has it where they know that, and starts none any more. To be called before
    /// this process ends; takes a few seconds at most.
    pub async fn stop(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.close(|_| true, "the agent ends").await;
    }

    async fn close(&self, is_meant: impl Fn(&Slot) -> bool, why: &str) -> usize {
        let closed: Vec<Arc<Slot>> = self.slots().extract_if(|_, slot| is_meant(slot)).map(|(_, slot)| slot).collect();
        futures_util::future::join_all(closed.iter().map(|slot| slot.close(why))).await;
        closed.len()
    }

    fn places<'p>(&'p self, project: Option<&'p Path>) -> Places<'p> {
        Places { home: self.config.home.as_deref(), user: self.config.user_folder.as_deref(), project }
    }

    /// The table for a folder of the workspace.
    async fn table(&self, folder: &Path, trusted: bool) -> Arc<Table> {
        let key = (folder.to_owned(), trusted);
        if let Some(table) = self.tables().get(&key) {
            return table.clone();
        }
        let (this, folder) = (self.this.clone(), folder.to_owned());
        let load = move || {
            let this = this.upgrade()?;
            Some(Table::load(this.places(trusted.then_some(&*folder))))
        };
        let table = Arc::new(blocking(load).await.flatten().unwrap_or_default());
        self.tables().insert(key, table.clone());
        table
    }

    /// The servers that a file has, or a folder of the workspace itself.
    async fn detect(&self, folder: PathBuf, path: Option<PathBuf>, trusted: bool) -> Vec<Detected> {
        let table = self.table(&folder, trusted).await;
        let search = self.config.path.clone();
        let look = move || match (path, answering(search).as_deref()) {
            (Some(path), search) => detect::for_file(&table, &path, &folder, search),
            (None, search) => detect::for_folder(&table, &folder, search),
        };
        blocking(look).await.unwrap_or_default()
    }

    /// The servers of the projects in a folder of the workspace.
    async fn detect_below(&self, folder: PathBuf, trusted: bool) -> Vec<Detected> {
        let table = self.table(&folder, trusted).await;
        let search = self.config.path.clone();
        blocking(move || detect::below(&table, &folder, answering(search).as_deref())).await.unwrap_or_default()
    }

    /// The place of a server's process, made where there is none.
    fn slot(&self, detected: &Detected, idle: Option<Duration>, access: &Access) -> Result<Arc<Slot>, NoSlot> {
        if self.is_over.load(Ordering::SeqCst) {
            return Err(NoSlot::Over);
        }
        let mut tables = self.tables().values().cloned().collect::<Vec<_>>().into_iter();
        if !tables.any(|table| table.servers.contains(&detected.definition)) {
            return Err(NoSlot::Outdated);
        }
        let key = Key::new(detected, access).ok_or(NoSlot::Over)?;
        let mut slots = self.slots();
        if slots.is_empty() {
            self.look_after();
        }
        // The same program by other settings is another server: what was allowed of the one says nothing of the other.
        let is_other = |slot: &Arc<Slot>| slot.definition != detected.definition;
        if let Some(other) = slots.extract_if(|of, slot| *of == key && is_other(slot)).next() {
            tokio::spawn(async move { other.1.close("it is started by other settings").await });
        }
        let slot = slots.entry(key.clone()).or_insert_with(|| {
            let idle = idle.unwrap_or(self.config.idle);
            Arc::new(Slot::new(key, detected, &self.config, idle, self.changes.clone()))
        });
        slot.note_allowed(detected);
        Ok(slot.clone())
    }

    /// Ends those that are idle or take too much memory, as long as there are any.
    fn look_after(&self) {
        let (this, limit) = (self.this.clone(), self.config.memory);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(servers) = this.upgrade() else { return };
                let slots: Vec<Arc<Slot>> = {
                    let slots = servers.slots();
                    if slots.is_empty() {
                        return;
                    }
                    slots.values().cloned().collect()
                };
                drop(servers);
                for slot in slots {
                    slot.look(limit).await;
                }
            }
        });
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<Key, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<(PathBuf, bool), Arc<Table>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Key {
    /// None for a server without a program.
    fn new(detected: &Detected, access: &Access) -> Option<Self> {
        let (name, program, root) =
            (detected.definition.name.clone(), detected.program.clone()?, detected.root.clone());
        Some(Self { name, program, root, policy: access.policy.clone(), pass: access.pass.clone() })
    }
}

/// A `PATH` to look for programs in: without the folders that do not answer. Blocks.
fn answering(path: Option<OsString>) -> Option<OsString> {
    path.map(|path| programs::answering(&path).0)
}

/// Does what may wait for the disk. None if it panicked.
async fn blocking<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(what).await.ok()
}

#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "/proc is no project file")]
fn half_of_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024 / 2)
}

#[cfg(not(target_os = "linux"))]
fn half_of_memory() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests;
