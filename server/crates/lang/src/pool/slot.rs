//! The place of a server: it has one process at most, and knows how the last one ended.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use process::Confinement;
use process::held::HeldId;
use project::paths::Roots;
use tokio::sync::watch;
use tokio::time::Instant;

use super::super::brought::Brought;
use super::super::client::{Client, Readiness, Start};
use super::super::detect::Detected;
use super::super::table::Definition;
use super::{Access, Key, ServerState, ServerStatus, ServersConfig, answering, blocking};

/// How long one that crashed is left alone; twice as long each time.
const FIRST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(60);
/// One that ran so long has not crashed for the reason that the one before did.
const LONG: Duration = Duration::from_secs(5 * 60);

/// The place of a server.
pub(super) struct Slot {
    pub(super) key: Key,
    pub(super) definition: Arc<Definition>,
    supervisor: Option<PathBuf>,
    /// The server as it is allowed, if the project brings it along. Its own files are not granted then by links, which
    /// could lead anywhere, and not at all if the project's files may have named the program.
    allowed: Mutex<Option<Brought>>,
    path: Option<OsString>,
    idle: Duration,
    state: watch::Sender<State>,
    /// When somebody last began or ended to ask.
    last_question: Mutex<Instant>,
    /// How many ask now.
    asking: AtomicUsize,
    /// True if it did not answer in time when it was last asked what a file would be, formatted.
    formats_late: AtomicBool,
    changes: Changes,
}

/// Tells that the state of some server is other than it was.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes(watch::Sender<u64>);

impl Changes {
    pub(super) fn announce(&self) {
        self.0.send_modify(|number| *number = number.wrapping_add(1));
    }

    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}

#[derive(Clone)]
enum State {
    Empty,
    Starting {
        since: Instant,
        process: Option<HeldId>,
        crashes: u32,
    },
    Running {
        client: Arc<Client>,
        since: Instant,
        crashes: u32,
    },
    Crashed(Crash),
    Stopped {
        why: Arc<str>,
    },
    /// Nothing is started here any more.
    Closed {
        why: Arc<str>,
    },
}

/// How a server ended that was not meant to.
#[derive(Clone)]
struct Crash {
    why: Arc<str>,
    /// So often in a row.
    times: u32,
    at: Instant,
}

/// Why a server cannot be asked.
pub(super) enum NotThere {
    /// It crashed, for this reason.
    Crashed(String),
    /// There is no place for it here any more; there may be elsewhere.
    Closed,
}

impl Slot {
    pub(super) fn new(key: Key, detected: &Detected, config: &ServersConfig, idle: Duration, changes: Changes) -> Self {
        let (supervisor, path) = (config.supervisor.clone(), config.path.clone());
        let (state, last_question) = (watch::Sender::new(State::Empty), Mutex::new(Instant::now()));
        let (asking, formats_late) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (definition, allowed) = (detected.definition.clone(), Mutex::new(detected.allowed.clone()));
        Self { key, definition, supervisor, allowed, path, idle, state, last_question, asking, formats_late, changes }
    }

    /// Notes what is allowed of it now, for when it starts the next time.
    pub(super) fn note_allowed(&self, detected: &Detected) {
        if !detected.only_as_it_runs {
            self.allowed().clone_from(&detected.allowed);
        }
    }

    fn allowed(&self) -> MutexGuard<'_, Option<Brought>> {
        self.allowed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if it did not answer in time when it was last asked what a file would be, formatted.
    pub(super) fn formats_late(&self) -> bool {
        self.formats_late.load(Ordering::Relaxed)
    }

    pub(super) fn note_formatting(&self, is_late: bool) {
        self.formats_late.store(is_late, Ordering::Relaxed);
    }

    /// True if it is this server for this project, for sessions like this one.
    pub(super) fn is_of(&self, server: &Detected, access: &Access) -> bool {
        Key::new(server, access).is_some_and(|key| key == self.key)
    }

    /// True if it is for sessions like this one.
    pub(super) fn is_for(&self, access: &Access) -> bool {
        self.key.policy == access.policy && self.key.pass == access.pass
    }

    /// True if it is this server for this project, but another program.
    pub(super) fn is_instead_of(&self, server: &Detected, access: &Access) -> bool {
        let instead = Key::new(server, access).map(|key| Key { program: self.key.program.clone(), ..key });
        !self.is_of(server, access) && instead.is_some_and(|key| key == self.key)
    }

    /// True if its project lies in a workspace.
    pub(super) fn is_in(&self, roots: &Roots) -> bool {
        roots.iter().any(|root| self.key.root.starts_with(&root.path))
    }

    /// The server, if it runs.
    pub(super) fn client(&self) -> Option<Arc<Client>> {
        match &*self.state.borrow() {
            State::Running { client, .. } => Some(client.clone()),
            _ => None,
        }
    }

    /// The server, if it still runs.
    pub(super) fn only_as_it_runs(&self) -> Option<Arc<Client>> {
        self.note_end();
        self.client()
    }

    /// The server, started where it does not run.
    pub(super) async fn running(self: &Arc<Self>) -> Result<Arc<Client>, NotThere> {
        let mut state = self.state.subscribe();
        loop {
            self.note_end();
            let mut start = None;
            self.state.send_if_modified(|state| {
                let crashes = match &*state {
                    State::Empty | State::Stopped { .. } => 0,
                    State::Crashed(crash) if crash.at.elapsed() >= crash.rest() => crash.times,
                    _ => return false,
                };
                let since = Instant::now();
                start = Some((crashes, since));
                *state = State::Starting { since, process: None, crashes };
                true
            });
            if let Some((crashes, since)) = start {
                // On a task of its own: who asked may go away meanwhile, and others wait for it too.
                let this = self.clone();
                tokio::spawn(async move { this.start(crashes, since).await });
                self.changes.announce();
            }
            match &*state.borrow_and_update() {
                State::Running { client, .. } => return Ok(client.clone()),
                State::Crashed(crash) => return Err(NotThere::Crashed(crash.to_words())),
                State::Closed { .. } => return Err(NotThere::Closed),
                _ => {}
            }
            if state.changed().await.is_err() {
                return Err(NotThere::Crashed("it is not there any more".to_owned()));
            }
        }
    }

    async fn start(self: &Arc<Self>, crashes: u32, since: Instant) {
        let is_awaited = |state: &State| matches!(state, State::Starting { since: of, .. } if *of == since);

        let (confinement, path) = self.surroundings().await;
        let start = Start {
            program: &self.key.program,
            root: &self.key.root,
            confinement: &confinement,
            path: path.as_deref(),
            pass: &self.key.pass,
        };
        let has_process = |process| {
            self.state.send_if_modified(|state| {
                if let (true, State::Starting { process: known, .. }) = (is_awaited(state), &mut *state) {
                    *known = process;
                }
                false
            });
        };
        let mut state = self.state.subscribe();
        let is_over = async { state.wait_for(|state| !is_awaited(state)).await.is_ok() };
        // It may be stopped meanwhile: given up, it is killed.
        let started = tokio::select! {
            started = Client::start(&self.definition, start, has_process) => started,
            _ = is_over => return self.changes.announce(),
        };
        let now = Instant::now();
        let (next, client) = match started {
            Ok(client) => {
                let client = Arc::new(client);
                (State::Running { client: client.clone(), since: now, crashes }, Some(client))
            }
            Err(error) => {
                tracing::warn!(server = self.key.name, %error, "a language server could not be started");
                (State::Crashed(Crash { why: error.to_string().into(), times: crashes + 1, at: now }), None)
            }
        };
        let is_awaited = self.state.send_if_modified(|state| {
            let is_awaited = is_awaited(state);
            if is_awaited {
                *state = next;
            }
            is_awaited
        });
        self.changes.announce();
        match client {
            Some(client) if is_awaited => drop(tokio::spawn(follow(Arc::downgrade(self), client))),
            Some(client) => client.stop("it was not needed any more when it was there").await,
            None => {}
        }
    }

    /// Returns what holds its process, the session's sandbox with what the server is made of and its own caches in it,
    /// and its `PATH`. Neither has what does not answer by now.
    async fn surroundings(&self) -> (Confinement, Option<OsString>) {
        let (supervisor, policy) = (self.supervisor.clone(), self.key.policy.clone());
        let given = (Confinement { supervisor, policy, ..Confinement::default() }, self.path.clone());
        let (mut confinement, path) = given.clone();
        let (definition, key) = (self.definition.clone(), self.key.clone());
        let is_chosen = self.allowed().as_ref().is_none_or(|allowed| allowed.is_users_choice);
        let (program, follows_links) = (is_chosen.then_some(key.program), self.allowed().is_none());
        let look = move || {
            let (environment, caches) = (|name: &str| std::env::var_os(name), &definition.caches);
            confinement.policy = confinement.policy.map(|policy| {
                let policy = Arc::unwrap_or_clone(policy);
                Arc::new(policy.with_program(program.as_deref(), follows_links, caches, &environment))
            });
            (confinement.answering(), answering(path))
        };
        // Where it could not be looked, it has what the session has.
        blocking(look).await.unwrap_or(given)
    }

    /// Notes that the process has ended by itself, if it has.
    pub(super) fn note_end(&self) {
        let has_ended = self.state.send_if_modified(|state| {
            let State::Running { client, since, crashes } = state else { return false };
            let Some(why) = client.ended() else { return false };
            tracing::warn!(server = self.key.name, %why, "a language server has ended");
            let times = if since.elapsed() > LONG { 1 } else { *crashes + 1 };
            *state = State::Crashed(Crash { why, times, at: Instant::now() });
            true
        });
        if has_ended {
            self.changes.announce();
        }
    }

    /// Ends the server, for this reason, and starts none here any more.
    pub(super) async fn close(&self, why: &str) {
        self.end(State::Closed { why: why.into() }, why).await;
    }

    /// Ends the server, for this reason, until somebody asks it something.
    pub(super) async fn stop(&self, why: &str) {
        self.end(State::Stopped { why: why.into() }, why).await;
    }

    async fn end(&self, state: State, why: &str) {
        let before = self.state.send_replace(state);
        self.changes.announce();
        if let State::Running { client, .. } = before {
            client.stop(why).await;
        }
    }

    /// Ends the server if it is idle, or takes more memory than this.
    pub(super) async fn look(&self, limit: u64) {
        self.note_end();
        let client = self.client();
        let is_asked = self.is_asked();
        if client.is_some() && !is_asked && !self.idle.is_zero() && self.last_question().elapsed() > self.idle {
            return self.stop(&format!("nobody has asked it anything for {}", in_words(self.idle))).await;
        }
        let starting = match &*self.state.borrow() {
            State::Starting { process, .. } => *process,
            _ => None,
        };
        let Some(process) = client.as_ref().map_or(starting, |client| client.process()) else { return };
        let memory = blocking(move || process.memory()).await.flatten();
        let Some(memory) = memory.filter(|memory| *memory > limit) else { return };
        let why = format!("it took {} MiB of memory; it may take {} MiB", memory >> 20, limit >> 20);
        match client {
            Some(client) => {
                client.kill(&why);
                self.note_end();
            }
            None => self.give_up(process, &why),
        }
    }

    /// Ends the server that is only starting, if it still is this one, for this reason.
    fn give_up(&self, process: HeldId, why: &str) {
        self.state.send_if_modified(|state| {
            let State::Starting { process: Some(of), crashes, .. } = &*state else { return false };
            let (is_it, times) = (*of == process, crashes + 1);
            if is_it {
                *state = State::Crashed(Crash { why: why.into(), times, at: Instant::now() });
            }
            is_it
        });
        self.changes.announce();
    }

    /// Somebody asks it something, until what is given is dropped. It is not idle meanwhile.
    pub(super) fn asked(self: Arc<Self>) -> Asked {
        self.asking.fetch_add(1, Ordering::SeqCst);
        Asked(self)
    }

    /// True if somebody asks it something now.
    pub(super) fn is_asked(&self) -> bool {
        self.asking.load(Ordering::SeqCst) > 0
    }

    pub(super) fn status(&self) -> ServerStatus {
        self.note_end();
        let state = self.state.borrow().clone();
        let client = self.client();
        let starting = match state {
            State::Starting { process, .. } => process,
            _ => None,
        };
        let process = client.as_ref().map_or(starting, |client| client.process());
        let (state, why) = match state {
            State::Empty => (ServerState::NotStarted, None),
            State::Starting { since, .. } => {
                (ServerState::Starting, Some(format!("it was started {} s ago", since.elapsed().as_secs())))
            }
            State::Running { client, .. } => match client.readiness(true) {
                Readiness::Busy(what) => (ServerState::Indexing, Some(what)),
                Readiness::Finding(_) => (ServerState::Indexing, Some("it looks for the project's files".to_owned())),
                Readiness::Untold => {
                    (ServerState::Ready, Some("it has not said that it has found the project's files".to_owned()))
                }
                Readiness::Ready | Readiness::Settling(_) => (ServerState::Ready, None),
            },
            State::Crashed(crash) => (ServerState::Crashed, Some(crash.to_words())),
            State::Stopped { why } | State::Closed { why } => (ServerState::Stopped, Some(why.to_string())),
        };
        ServerStatus {
            name: self.key.name.clone(),
            version: client.and_then(|client| client.version().map(str::to_owned)),
            root: self.key.root.clone(),
            state,
            program: Some(self.key.program.clone()),
            pid: process.map(|process| process.number()),
            memory: process.and_then(|process| process.memory()),
            why,
            install: self.definition.install.clone(),
        }
    }

    /// Why it ended though it was not meant to, if it did.
    pub(super) fn why_crashed(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Crashed(crash) => Some(crash.why.to_string()),
            _ => None,
        }
    }

    /// For how long it has been starting; none if it does not.
    pub(super) fn starting(&self) -> Option<Duration> {
        match &*self.state.borrow() {
            State::Starting { since, .. } => Some(since.elapsed()),
            _ => None,
        }
    }

    fn last_question(&self) -> MutexGuard<'_, Instant> {
        self.last_question.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody asks a server something.
pub(super) struct Asked(Arc<Slot>);

impl Drop for Asked {
    fn drop(&mut self) {
        *self.0.last_question() = Instant::now();
        self.0.asking.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A time, for people.
fn in_words(time: Duration) -> String {
    match (time.as_secs(), time.as_secs() / 60) {
        (1, _) => "1 second".to_owned(),
        (seconds, 0) => format!("{seconds} seconds"),
        (_, 1) => "1 minute".to_owned(),
        (_, minutes) => format!("{minutes} minutes"),
    }
}

/// Notes what becomes of a server that runs: that it has read the project, reads it again, or has ended.
async fn follow(slot: Weak<Slot>, client: Arc<Client>) {
    let mut news = client.watch();
    let client = {
        let weak = Arc::downgrade(&client);
        drop(client);
        weak
    };
    let mut was_busy = None;
    loop {
        {
            // Nobody is kept by being followed.
            let (Some(slot), Some(client)) = (slot.upgrade(), client.upgrade()) else { return };
            if client.ended().is_some() {
                return slot.note_end();
            }
            let is_busy = matches!(client.readiness(true), Readiness::Busy(_) | Readiness::Finding(_));
            if was_busy.replace(is_busy) != Some(is_busy) {
                slot.changes.announce();
            }
        }
        if news.changed().await.is_err() {
            return;
        }
    }
}

impl Crash {
    fn rest(&self) -> Duration {
        let doubled = FIRST_REST.saturating_mul(1 << self.times.saturating_sub(1).min(10));
        doubled.min(LONGEST_REST)
    }

    fn to_words(&self) -> String {
        let left = self.rest().saturating_sub(self.at.elapsed()).as_secs() + 1;
        match self.times {
            1 => format!("{}; it starts again in {left} s", self.why),
            times => format!("{}; that happened {times} times in a row, and it starts again in {left} s", self.why),
        }
    }
}
