//! Opening a session: a new one, or one from the store as its last process left it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ports::store::{SessionFilter, SessionLock, Store, StoreError};
use process::Confinement;
use project::baseline::Baseline;
use project::paths::{self, Roots};
use project::results::Results;
use project::review::Review;
use project::text::hash;
use protocol::checkpoint::FileImage;
use protocol::event::{SeenOccasion, Severity};
use protocol::role::Role;
use protocol::session::{Purpose, SessionInfo};
use protocol::{ErrorCode, Event, SessionId};
use shell::{Shell, ShellConfig, Spool, Trust, jobs};
use tokio::sync::mpsc;

use super::clients::Clients;
use super::edits::{self, CutOff, Edits};
use super::gate::{self, Gate, InForce};
use super::ids::Ids;
use super::lang;
use super::prompts::Prompts;
use super::reading::{self, Reading};
use super::state::State;
use super::terminals::{self, Terminals};
use super::undo::Undo;
use super::watch::{self, Watch};
use super::work::Work;
use super::{NewSession, Open, Own, Session};
use crate::Error;
use crate::config::Config;
use crate::confinement;
use crate::feed::{Log, blocking};
use crate::post::Shared;
use crate::trust::Workspace;

/// The time that a task of ours may take to leave a session that it held.
const LEAVING: Duration = Duration::from_secs(5);
/// A day in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
/// The key under which the store has when old checkpoints were last let go, in milliseconds since the Unix epoch.
const LAST_FORGOTTEN: &str = "checkpoints.forgotten";
/// The most events of the log that are in memory at once.
const PAGE: usize = 256;

/// Takes a session for this process, which from the first time on can be found by others.
///
/// # Errors
/// Another process has it; or there is no such session.
pub(super) async fn claim(shared: &Shared, id: &SessionId) -> Result<Box<dyn SessionLock>, StoreError> {
    let (parts, session) = (Arc::clone(&shared.parts), id.clone());
    blocking(move || {
        // Before it has the lock: whoever finds the session locked finds the socket.
        parts.sockets.listen();
        take(&*parts.store, &session)
    })
    .await
}

/// Opens a session that was taken for this process. Those who follow it go on following.
pub(super) async fn load(
    open: &Open,
    lock: Box<dyn SessionLock>,
    new: Option<NewSession>,
) -> Result<(Session, mpsc::UnboundedReceiver<Own>), Error> {
    let (store, session) = (Arc::clone(&open.shared.parts.store), open.id.clone());
    let info = blocking(move || store.info(&session)).await?;
    let folders = match &new {
        Some(new) => new.folders.clone(),
        None => info.folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect(),
    };
    // A log may be long, so it is read while what the folders come with is looked at.
    let (stored, confined) = tokio::join!(Stored::read(open, info), confined(folders, open));
    let (mut stored, (config, roots, confinement, unconfined)) = (stored?, confined?);
    if let Some(new) = &new {
        stored.state.created_at = open.shared.parts.clock.now();
        stored.state.parent.clone_from(&new.parent);
        stored.state.purpose = new.purpose;
    }
    open.feed.announce(stored.last);
    let (mut session, inbox) = build(open, lock, stored, (config, roots), confinement);
    session.gate.put_in_force(&session.config, session.state.mode);
    let mut warnings = session.shared.parts.warnings.clone();
    match new {
        Some(new) => {
            session.begin(new).await?;
            warnings.extend(session.config.warnings.iter().cloned());
            warnings.extend(unconfined);
        }
        None => session.restore().await,
    }
    let why = "mode `bypass` is confirmed anew each time that Azimuth starts";
    let left = session.gate.leave_bypass(why, session.state.mode, &session.config);
    session.record_all(left);
    session.forget_old_checkpoints();
    // A switch of the session's holds while the process lives that it was made in.
    let news = session.gate.news(&session.config, session.state.accept_edits);
    session.record_all(news);
    for text in warnings {
        session.record(Event::Notice { severity: Severity::Warning, text });
    }
    Ok((session, inbox))
}

/// Makes a session's parts, each of what it needs. Nothing is recorded and nothing started yet.
fn build(
    open: &Open,
    lock: Box<dyn SessionLock>,
    stored: Stored,
    (config, roots): (Arc<Config>, Arc<Roots>),
    confinement: Confinement,
) -> (Session, mpsc::UnboundedReceiver<Own>) {
    let (own, inbox) = mpsc::unbounded_channel();
    let (shared, store) = (open.shared.clone(), || Arc::clone(&open.shared.parts.store));
    let Stored { state, folder, spool, project, kept, elsewhere, .. } = stored;
    let trust = Workspace::new(&shared.trust, roots.iter().map(|root| root.path.clone()));
    let rules = InForce::default();
    let made = lang::Made {
        pool: Arc::clone(&shared.servers),
        roots: &roots,
        trust: &trust,
        policy: confinement.policy.clone().filter(|_| confinement.is_sandboxed()),
        pass: &config.pass_environment,
        gate: gate::Programs::new(&shared.trust, &own),
        sessions: confinement::sessions(&shared.parts.store),
    };
    let servers = lang::Servers::build(made, Arc::clone(&open.home.editor));
    let (results, baseline) = (Results::new(&folder), Arc::new(Baseline::new(&folder)));
    let made = terminals::Made {
        session: open.id.clone(),
        own: own.clone(),
        store: store(),
        config: shell_config((folder, elsewhere), &config, &roots, &trust, confinement),
        spool,
        start_files: config.shell_rc,
        created_at: state.created_at,
    };
    let terminals = Terminals::new(made, &state.terminals);
    let reading = Reading::build(reading::Made {
        roots,
        home: &open.home,
        results,
        rules: &rules,
        servers: &servers,
        terminals: &terminals,
        only: state.parent.as_ref().map(|parent| parent.tools.as_slice()),
        purpose: state.purpose,
        oracle_model: config.chain(Role::Oracle).as_deref(),
        more: &shared.parts.tools,
        more_commands: &shared.parts.commands,
        more_hooks: &shared.parts.hooks,
    });
    let Reading { roots, reader, overlay, search, .. } = &reading;
    let problems = servers.problems(reader, overlay.clone(), roots, rules.shown(search, roots));
    problems.set_wait(config.wait_for_problems());
    let seen = watch::Seen {
        baseline,
        search: search.clone(),
        reader: Arc::clone(reader),
        roots: Arc::clone(roots),
        rules: rules.clone(),
        store: store(),
    };
    let made = gate::Made { own: own.clone(), store: store(), project, kept, rules, trust };
    let session = Session {
        ids: Ids::new(),
        log: log(open, &own),
        gate: Gate::new(made, state.questions.values().cloned()),
        clients: Clients::new(open.followers.clone(), open.home.clone()),
        prompts: Prompts::new(),
        edits: Edits::new(own.clone(), problems),
        undo: Undo::default(),
        watch: Watch::new(seen, own.clone()),
        work: Work::new(own),
        reading,
        terminals,
        lock,
        config,
        state,
        shared,
    };
    (session, inbox)
}

/// A session as the store has it.
struct Stored {
    state: State,
    /// The number of the last event.
    last: u64,
    /// Its private folder.
    folder: PathBuf,
    /// The output of its shell.
    spool: Arc<Spool>,
    /// The session's first folder, under which everything is kept that outlasts the session.
    project: String,
    /// The decisions that are kept for it.
    kept: gate::Kept,
    /// The folders of other sessions, in which their commands write.
    elsewhere: Vec<PathBuf>,
}

impl Stored {
    async fn read(open: &Open, info: SessionInfo) -> Result<Self, Error> {
        let (store, session) = (Arc::clone(&open.shared.parts.store), open.id.clone());
        let spool = open.spools.get(&terminals::of_shell(&open.id));
        let read = blocking(move || {
            let mut state = State::new(info.folders, info.created_at);
            let last = fold(&*store, &session, &mut state)?;
            state.updated_at = info.updated_at;
            let folder = store.session_folder(&session)?;
            jobs::forget_earlier(&folder, state.terminals.last_job);
            Shell::remove_left_pipes(&folder);
            let project = state.folders.first().cloned().unwrap_or_default();
            let kept = gate::Kept::read(&*store, &project)?;
            let spool = match spool {
                Some(spool) => spool.catch_up().map(|()| spool),
                None => Spool::open(&folder).map(Arc::new),
            };
            let elsewhere = confinement::folders_of_sessions(&*store)?;
            Ok(spool.map(|spool| Self { state, last, folder, spool, project, kept, elsewhere }))
        });
        read.await?.map_err(|error| {
            let text = format!("the folder of the session's terminal cannot be used: {error}");
            Error::new(ErrorCode::OperationFailed, text)
        })
    }
}

/// The configuration in these folders, the folders themselves, and what confines commands in them, with what the user
/// is to be told of that.
async fn confined(
    folders: Vec<PathBuf>,
    open: &Open,
) -> Result<(Arc<Config>, Arc<Roots>, Confinement, Vec<String>), Error> {
    let user = Arc::clone(&open.config);
    let looked = tokio::task::spawn_blocking(move || (user.with_projects(&folders), Roots::new(folders))).await;
    let (config, roots) = looked.map_err(|error| Error::new(ErrorCode::InternalError, error.to_string()))?;
    let roots = roots.map_err(|error| Error::new(ErrorCode::OperationFailed, error.to_string()))?;
    open.shared.secrets.learn(&config);
    let parts = &open.shared.parts;
    let roots = roots.with_own_data([parts.data_folder.clone()]);
    let (confinement, unconfined) = confinement::of(parts.supervisor.clone(), parts.own(), &config, &roots).await;
    Ok((Arc::new(config), Arc::new(roots), confinement, unconfined))
}

/// Configures the session's shells. The folders are its private one, and where commands of other sessions write.
fn shell_config(
    (folder, elsewhere): (PathBuf, Vec<PathBuf>),
    config: &Config,
    roots: &Roots,
    trust: &Workspace,
    confinement: Confinement,
) -> ShellConfig {
    let cwd = roots.iter().next().map_or_else(PathBuf::new, |root| root.path.clone());
    let folders = roots.iter().map(|root| root.path.clone()).collect();
    let mut written = confinement.policy.as_ref().map(|policy| policy.of_commands()).unwrap_or_default();
    written.extend(elsewhere);
    let trust = Trust { trusted: Arc::clone(trust.may_run_git_programs()), folders, written };
    let pass = config.pass_environment.clone();
    ShellConfig { cwd, folder, pass, program: None, trust, confinement }
}

/// The session's log, which tells its user when it cannot be stored.
fn log(open: &Open, own: &mpsc::UnboundedSender<Own>) -> Log {
    let alerts = own.clone();
    Log::start(open.feed.clone(), open.shared.parts.clock.clone(), move |error: &StoreError| {
        let text = format!("the session cannot be stored: {error}. Azimuth keeps trying");
        let _ = alerts.send(Own::Alert(text));
    })
}

/// True if nobody would miss a session of the store, as its log is now. Blocks.
pub(crate) fn is_unused(store: &dyn Store, session: &SessionId) -> Result<bool, StoreError> {
    let mut state = State::default();
    fold(store, session, &mut state)?;
    Ok(state.is_unused())
}

/// Deletes the sessions that are no chats, if they were last used before a time and nothing in them waits for the user.
/// Blocks.
fn forget_old(store: &dyn Store, before: u64) -> Result<(), StoreError> {
    for purpose in [Purpose::Instruct, Purpose::Suggestions] {
        let filter = SessionFilter { purpose: Some(purpose), limit: usize::MAX, ..SessionFilter::default() };
        let old = store.list(&filter)?.into_iter().filter(|info| info.updated_at < before);
        for SessionInfo { session_id: session, .. } in old {
            // A process that has it may be about to use it.
            let Ok(lock) = store.lock(&session) else { continue };
            let mut state = State::default();
            let is_read = fold(store, &session, &mut state).is_ok();
            // It may have been used, or become a chat, before it was locked.
            let is_old = state.purpose == purpose && store.info(&session)?.updated_at < before;
            if is_read && is_old && state.proposals.is_empty() && state.queue.is_empty() && state.questions.is_empty() {
                store.delete(&session)?;
            }
            drop(lock);
        }
    }
    Ok(())
}

/// Takes the session's log into its state, in pages, since a log may be long. Gives the number of its last event.
fn fold(store: &dyn Store, session: &SessionId, state: &mut State) -> Result<u64, StoreError> {
    let mut last = 0;
    loop {
        let page = store.events(session, last, PAGE)?;
        let Some(event) = page.last() else { return Ok(last) };
        last = event.seq;
        page.iter().for_each(|event| state.apply(&event.event));
    }
}

/// Takes the session for this process. An earlier task of ours may still be on its way out of it.
fn take(store: &dyn Store, session: &SessionId) -> Result<Box<dyn SessionLock>, StoreError> {
    let until = Instant::now() + LEAVING;
    loop {
        match store.lock(session) {
            Err(StoreError::Locked { process, .. })
                if process == Some(std::process::id()) && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

impl Session {
    /// The first events of a new session.
    async fn begin(&mut self, new: NewSession) -> Result<(), Error> {
        let folders = new.folders.iter().map(|folder| paths::to_uri(folder)).collect();
        let mut settings = Vec::new();
        if let Some(name) = new.model {
            // A level that was chosen for chats is none for a change of a selection.
            let model = match new.purpose {
                Purpose::Instruct => super::resolve_model(&self.shared, &name).await?,
                Purpose::Chat | Purpose::Suggestions => super::named_model(&self.shared, &name).await?,
            };
            settings.push(super::model_changed(model.info(), Some(&name), false));
        }
        if new.mode != self.state.mode {
            settings.push(Event::ModeChanged { mode: new.mode });
        }
        let begins_with = u32::try_from(settings.len()).unwrap_or(u32::MAX);
        let (asked_for, parent, purpose) = (Some(new.is_asked_for), new.parent, new.purpose);
        self.record(Event::SessionStarted { folders, asked_for, begins_with, parent, purpose });
        settings.into_iter().for_each(|event| self.record(event));
        Ok(())
    }

    /// Lets go of what edits wrote over longer ago than the user wants it kept, once a day; and with it of the sessions
    /// that are no chats, of which nothing else is left to see.
    fn forget_old_checkpoints(&self) {
        let days = u64::from(self.config.checkpoint_days);
        // The user's wish is not known if the configuration cannot be understood.
        if days == 0 || !self.config.errors.is_empty() {
            return;
        }
        let (store, now) = (Arc::clone(&self.shared.parts.store), self.shared.parts.clock.now());
        tokio::task::spawn_blocking(move || {
            let last = store.get(LAST_FORGOTTEN).ok().flatten().and_then(|at| at.parse::<u64>().ok());
            if last.is_some_and(|last| last <= now && now - last < DAY) {
                return;
            }
            let before = now.saturating_sub(days * DAY);
            if let Err(error) = forget_old(&*store, before) {
                tracing::warn!(%error, "sessions that are no chats and were long not used could not be deleted");
            }
            let forgotten = store.forget_blobs(before);
            if let Err(error) = forgotten.and_then(|_| store.set(LAST_FORGOTTEN, &now.to_string())) {
                tracing::warn!(%error, "what old edits wrote over could not be let go");
            }
        });
    }

    /// Takes up what the last process left: a turn that was cut off, commands that ended with it, questions, waiting
    /// prompts, pending hunks.
    async fn restore(&mut self) {
        if let Some(turn) = &self.state.open_turn {
            self.record(turn.interrupted());
        }
        self.end_lost_user_commands();
        for event in self.terminals.left(&self.state.terminals).await {
            self.record(event);
        }
        self.prompts.take_up(self.state.queue.clone());
        if let Some(text) = self.state.untold() {
            self.record(Event::Noted { turn_id: self.state.last_turn(), text });
        }
        let proposals: Vec<_> = self.state.proposals.values().cloned().collect();
        if proposals.is_empty() {
            return;
        }
        let reader = Arc::clone(&self.reading.reader);
        let restored = tokio::task::spawn_blocking(move || {
            let read = |path: &Path| reader.base_text(path);
            let cut_off = proposals
                .iter()
                .filter_map(|seen| CutOff::of(seen, || paths::from_uri(&seen.uri).ok().and_then(|it| read(&it).ok())));
            let cut_off: Vec<_> = cut_off.collect();
            let places: BTreeSet<_> = proposals.iter().filter_map(|seen| seen.moved_to.clone()).collect();
            let places = places.into_iter().filter_map(|uri| {
                let text = read(&paths::from_uri(&uri).ok()?).ok()?;
                Some((uri, text.as_deref().map(hash)))
            });
            let places: Vec<_> = places.collect();
            (Review::restore(proposals, |path| read(path).ok().flatten()), cut_off, places)
        });
        let Ok((review, cut_off, places)) = restored.await else { return };
        let ended = edits::ended(cut_off, &review, &self.state);
        self.record_all(ended);
        self.review_restored(review);
        for (uri, text) in places {
            if self.state.checkpoints.parts.is_other(&uri, text.as_ref().map(|hash| hash.0.as_str())) {
                let now = text.map(|hash| FileImage::text(&hash.0));
                self.record(Event::FileSeen { uri, now, occasion: SeenOccasion::Restart });
            }
        }
        self.tell_halves();
    }
}

#[cfg(test)]
mod tests {
    use ports::edit::FilePlan;
    use protocol::session::SessionInfo;

    use super::*;
    use crate::clock::now;

    #[test]
    fn of_old_sessions_those_that_are_no_chats_go_unless_something_waits_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let store = store::SqliteStore::open(folder.path()).unwrap();
        let mut review = Review::default();
        let (path, read) = (PathBuf::from("/p/a.txt"), Some(hash("one\n")));
        let plan = FilePlan { path, read, new_text: Some("two\n".into()), moved_to: None };
        review.propose(&plan, Some("one\n"), "a.txt", "file:///p/a.txt", &"call".into()).unwrap();
        let waiting = review.proposals().remove(0);
        let made = [
            ("chat", Purpose::Chat, None),
            ("decided", Purpose::Instruct, None),
            ("waiting", Purpose::Instruct, Some(waiting)),
            ("held", Purpose::Instruct, None),
            ("record", Purpose::Suggestions, None),
        ];
        for (id, purpose, proposal) in made {
            let id = SessionId::from(id);
            store.create(&id, &[], None, purpose).unwrap();
            let (folders, asked_for, begins_with, parent) = (Vec::new(), Some(false), 0, None);
            let mut events = vec![(1, Event::SessionStarted { folders, asked_for, begins_with, parent, purpose })];
            events.extend(proposal.map(|proposal| (2, Event::ProposalChanged { proposal })));
            store.append(&id, events, false).unwrap();
        }
        let _held = store.lock(&"held".into()).unwrap();
        let left = |before: u64| {
            forget_old(&store, before).unwrap();
            let all = SessionFilter { limit: 9, ..SessionFilter::default() };
            let mut ids: Vec<_> =
                store.list(&all).unwrap().into_iter().map(|SessionInfo { session_id, .. }| session_id).collect();
            ids.sort();
            ids.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(left(1).len(), 5, "they were just used");
        assert_eq!(left(now() + 1000), ["chat", "held", "waiting"]);
    }
}
