//! Opening a session: a new one, or one from the store as its last process left it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use agent::permission::{self, Rule, Rules};
use agent::store::{SessionFilter, SessionLock, Store, StoreError};
use protocol::checkpoint::FileImage;
use protocol::event::{SeenOccasion, Severity};
use protocol::{ErrorCode, Event, SessionId};
use tokio::sync::mpsc;
use workspace::baseline::Baseline;
use workspace::lang::pool::Access;
use workspace::paths::{self, Roots};
use workspace::reader::Reader;
use workspace::results::Results;
use workspace::review::Review;
use workspace::search::{Hides, MayRead, Search};
use workspace::seen::Seen;
use workspace::shell::{Confinement, Shell, ShellConfig, Spool, Trust, jobs};
use workspace::text::hash;

use super::accepting::{self, Accepting};
use super::applying::Applying;
use super::brought;
use super::confinement;
use super::formatting::Formatting;
use super::halves::{CutOff, Halves};
use super::lang;
use super::overlay::Overlay;
use super::permissions::{self as permitting, Grants};
use super::problems::Problems;
use super::rounds::Rounds;
use super::state::State;
use super::terminals::{self, Terminals};
use super::watch::{self, Watch};
use super::{NewSession, Open, Own, Question, Reading, Session};
use crate::config::Config;
use crate::hub::Error;
use crate::hub::feed::{Log, blocking, now};
use crate::hub::router::Shared;
use crate::hub::trust::Workspace;

/// How long a task of ours may take to leave a session that it held.
const LEAVING: Duration = Duration::from_secs(5);
/// A day in milliseconds.
const DAY: u64 = 24 * 60 * 60 * 1000;
/// The key under which the store has when old checkpoints were last let go, in milliseconds since the Unix epoch.
const LAST_FORGOTTEN: &str = "checkpoints.forgotten";
/// How many events of the log are in memory at once.
const PAGE: usize = 256;
/// Of more sessions than this the folders are not looked at; the newest come first.
const MOST_SESSIONS: usize = 10_000;

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
    let (shared, id) = (open.shared.clone(), open.id.clone());
    let Stored { state, last, folder, spool, grants, always, elsewhere } = Stored::read(open).await?;
    let folders = match &new {
        Some(new) => new.folders.clone(),
        None => state.folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect(),
    };
    let (config, roots) = look_at(folders, open).await?;
    let overlay = Overlay::default();
    let editors = lang::Editors::default();
    editors.set(Some(Arc::clone(&open.home.editor)));
    let reader = Arc::new(Reader::new(Arc::clone(&open.home.buffers), Arc::new(overlay.clone())));
    let (own, inbox) = mpsc::unbounded_channel();
    let results = Results::new(&folder);
    let baseline = Arc::new(Baseline::new(&folder));
    let trust = Workspace::new(&shared.trust, roots.iter().map(|root| root.path.clone()));
    let (confinement, unconfined) =
        confinement::of(shared.parts.supervisor.clone(), shared.parts.own(), &config, &roots).await;
    let policy = confinement.policy.clone().filter(|_| confinement.is_sandboxed());
    let created_at = if new.is_some() { now() } else { state.created_at };
    let made = terminals::Made {
        session: id.clone(),
        own: own.clone(),
        store: Arc::clone(&shared.parts.store),
        config: shell_config((folder, elsewhere), &config, &roots, &trust, confinement),
        spool,
        start_files: config.shell_rc,
        created_at,
    };
    let terminals = Terminals::new(made, &state.terminals);
    let seen = Seen::default();
    let search = Search::new(Arc::clone(&roots), Reader::clone(&reader));
    let rules: Arc<RwLock<Arc<Rules>>> = Arc::default();
    let watched = watch::Seen {
        baseline,
        search: search.clone(),
        reader: Arc::clone(&reader),
        roots: Arc::clone(&roots),
        rules: Arc::clone(&rules),
        store: Arc::clone(&shared.parts.store),
    };
    let watch = Watch::new(watched, own.clone());
    let tags = tools::Tags::default();
    let intercept = tools::Intercept::default();
    let trusted = Arc::clone(trust.may_run_git_programs());
    let is_trusted: Arc<dyn Fn() -> bool + Send + Sync> = Arc::new(move || trusted.load(Ordering::Relaxed));
    let gate = brought::Programs::new(&shared.trust, &own);
    let pass = config.pass_environment.as_slice().into();
    let access = Access { trusted: Arc::clone(&is_trusted), policy, pass, gate };
    let (servers, of) = (Arc::clone(&shared.servers), Roots::clone(&roots));
    let own_servers = move |reader| servers.source(of.clone(), reader, access.clone());
    let shown = search.clone().showing_only(may_read(&rules, &roots)).knowing_if(hides_files(&rules, &roots));
    let problems = Problems::new(
        lang::of_editor(&editors, Arc::clone(&is_trusted)),
        Box::new(own_servers.clone()),
        (Reader::clone(&reader), Arc::new(overlay.clone())),
        Arc::clone(&roots),
        shown.clone(),
    );
    problems.set_wait(config.wait_for_problems());
    let own_servers = own_servers(Reader::clone(&reader));
    let lang = lang::of(&editors, &reader, &roots, Arc::clone(&own_servers), is_trusted);
    let services = tools::Services {
        roots: Arc::clone(&roots),
        reader: Reader::clone(&reader),
        search: shown,
        seen: seen.clone(),
        shell: Arc::clone(terminals.shell()),
        jobs: Arc::clone(terminals.jobs()),
        outside: Arc::clone(terminals.outside()),
        lang,
        results: results.clone(),
        edits: tools::Edits::default(),
        tags: tags.clone(),
        intercept: intercept.clone(),
    };
    open.feed.announce(last);
    let log = log(open, &own);
    let tools = tools::builtin(&services).into_iter().chain(shared.parts.tools.iter().cloned()).collect();
    let reading =
        Reading { roots, reader, overlay, search, seen, results, tags, intercept, tools, editors, own_servers };
    let mut session = Session {
        // Milliseconds: ids of an earlier process are always lower.
        next_id: now(),
        log,
        reading,
        trust,
        followers: open.followers.clone(),
        home: Some(open.home.clone()),
        turn: None,
        user_command: None,
        queue: VecDeque::new(),
        interjections: Vec::new(),
        questions: state
            .questions
            .iter()
            .map(|(id, request)| (id.clone(), Question { request: request.clone(), waiting: None }))
            .collect(),
        review: Review::default(),
        settling: Vec::new(),
        not_saved: Vec::new(),
        halves: Halves::default(),
        applying: Applying::default(),
        formatting: Formatting::default(),
        problems,
        held: None,
        restoring: None,
        watch,
        rounds: Rounds::default(),
        begun: 0,
        went_well: true,
        ours: HashMap::new(),
        rules,
        grants: Grants::new(grants),
        accepting: Accepting::new(always),
        terminals,
        last_caller: None,
        given: None,
        lock,
        own,
        config,
        state,
        shared,
        id,
    };
    session.set_rules();
    let mut warnings = session.shared.parts.warnings.clone();
    match new {
        Some(new) => {
            session.begin(new).await?;
            warnings.extend(session.config.warnings.iter().cloned());
            warnings.extend(unconfined);
        }
        None => session.restore().await,
    }
    session.leave_bypass("mode `bypass` is confirmed anew each time that Azimuth starts");
    session.forget_old_checkpoints();
    // A switch of the session's holds while the process lives that it was made in.
    session.accepting_changed();
    for text in warnings {
        session.record(Event::Notice { severity: Severity::Warning, text });
    }
    Ok((session, inbox))
}

/// What the store has of a session.
struct Stored {
    state: State,
    /// The number of the last event.
    last: u64,
    /// Its private folder.
    folder: PathBuf,
    /// What its shell has printed.
    spool: Arc<Spool>,
    /// What is granted in its project.
    grants: Vec<Rule>,
    /// Whether edits are accepted as they come in its project.
    always: bool,
    /// The folders of other sessions, in which their commands write.
    elsewhere: Vec<PathBuf>,
}

impl Stored {
    async fn read(open: &Open) -> Result<Self, Error> {
        let (store, session) = (Arc::clone(&open.shared.parts.store), open.id.clone());
        let spool = open.spools.get(&terminals::of_shell(&open.id));
        let read = blocking(move || {
            let info = store.info(&session)?;
            let mut state = State::new(info.folders, info.created_at);
            let last = fold(&*store, &session, &mut state)?;
            state.updated_at = info.updated_at;
            let folder = store.session_folder(&session)?;
            jobs::forget_earlier(&folder, state.terminals.last_job);
            Shell::remove_left_pipes(&folder);
            let project = state.folders.first().cloned().unwrap_or_default();
            let grants = permitting::granted(&*store, &project)?;
            let always = accepting::of_project(&*store, &project)?;
            let spool = match spool {
                Some(spool) => spool.catch_up().map(|()| spool),
                None => Spool::open(&folder).map(Arc::new),
            };
            let elsewhere = folders_of_sessions(&*store)?;
            Ok(spool.map(|spool| Self { state, last, folder, spool, grants, always, elsewhere }))
        });
        read.await?.map_err(|error| {
            let text = format!("the folder of the session's terminal cannot be used: {error}");
            Error::new(ErrorCode::OperationFailed, text)
        })
    }
}

/// The configuration in these folders, and the folders themselves.
async fn look_at(folders: Vec<PathBuf>, open: &Open) -> Result<(Arc<Config>, Arc<Roots>), Error> {
    let user = Arc::clone(&open.config);
    let looked = tokio::task::spawn_blocking(move || (user.with_projects(&folders), Roots::new(folders))).await;
    let (config, roots) = looked.map_err(|error| Error::new(ErrorCode::InternalError, error.to_string()))?;
    let roots = roots.map_err(|error| Error::new(ErrorCode::OperationFailed, error.to_string()))?;
    let roots = roots.with_own_data([open.shared.parts.data_folder.clone()]);
    Ok((Arc::new(config), Arc::new(roots)))
}

/// The folders of all sessions of the user's, but for one that holds their home folder or the system: it would leave no
/// program that could be trusted. Blocks.
fn folders_of_sessions(store: &dyn Store) -> Result<Vec<PathBuf>, StoreError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let all = store.list(&SessionFilter { limit: MOST_SESSIONS, ..SessionFilter::default() })?;
    let folders: BTreeSet<_> = all.into_iter().flat_map(|session| session.folders).collect();
    Ok(narrow(folders.iter().filter_map(|uri| paths::from_uri(uri).ok()), &home))
}

/// Those of the folders that hold neither the home folder, by whichever of its names, nor the system. Asks the disk.
fn narrow(folders: impl Iterator<Item = PathBuf>, home: &Path) -> Vec<PathBuf> {
    let real = home.canonicalize().unwrap_or_default();
    let is_held = |folder: &Path| [home, &real, Path::new("/usr/bin")].iter().any(|it| it.starts_with(folder));
    folders.filter(|folder| !is_held(folder)).collect()
}

/// How the session's shells are started. The folders are its private one, and where commands of other sessions write.
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
    Log::start(open.feed.clone(), move |error: &StoreError| {
        let text = format!("the session cannot be stored: {error}. Azimuth keeps trying");
        let _ = alerts.send(Own::Alert(text));
    })
}

/// Whether nobody would miss a session of the store, as its log is now. Blocks.
pub(in crate::hub) fn is_unused(store: &dyn Store, session: &SessionId) -> Result<bool, StoreError> {
    let mut state = State::default();
    fold(store, session, &mut state)?;
    Ok(state.is_unused())
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

/// What the model's searches may show, and what may be kept of what commands change, by the rules in force when one
/// begins.
pub(super) fn may_read(rules: &Arc<RwLock<Arc<Rules>>>, roots: &Roots) -> Arc<MayRead> {
    let (rules, folders) = (Arc::clone(rules), roots.iter().map(|root| root.path.clone()).collect::<Arc<[_]>>());
    Arc::new(move |named| {
        let rules = Arc::clone(&rules.read().unwrap_or_else(PoisonError::into_inner));
        let (folders, named) = (Arc::clone(&folders), named.map(Path::to_path_buf));
        Box::new(move |path| permission::may_read(&rules, &folders, named.as_deref(), path))
    })
}

/// Whether the rules in force keep any file from the model's searches.
fn hides_files(rules: &Arc<RwLock<Arc<Rules>>>, roots: &Roots) -> Arc<Hides> {
    let (rules, folders) = (Arc::clone(rules), roots.iter().map(|root| root.path.clone()).collect::<Arc<[_]>>());
    Arc::new(move || permission::hides_files(&rules.read().unwrap_or_else(PoisonError::into_inner), &folders))
}

impl Session {
    /// The first events of a new session.
    async fn begin(&mut self, new: NewSession) -> Result<(), Error> {
        let folders = new.folders.iter().map(|folder| paths::to_uri(folder)).collect();
        let mut settings = Vec::new();
        if let Some(name) = new.model {
            let model = super::resolve_model(&self.shared, &name).await?;
            let info = model.info();
            settings.push(Event::ModelChanged { model: info.id.clone(), scripted: info.scripted });
        }
        if new.mode != self.state.mode {
            settings.push(Event::ModeChanged { mode: new.mode });
        }
        self.state.created_at = now();
        let begins_with = u32::try_from(settings.len()).unwrap_or(u32::MAX);
        self.record(Event::SessionStarted { folders, asked_for: Some(new.is_asked_for), begins_with });
        settings.into_iter().for_each(|event| self.record(event));
        Ok(())
    }

    /// Lets go of what edits wrote over longer ago than the user wants it kept, once a day.
    fn forget_old_checkpoints(&self) {
        let days = u64::from(self.config.checkpoint_days);
        // What the user wants is not known where the configuration cannot be understood.
        if days == 0 || !self.config.errors.is_empty() {
            return;
        }
        let store = Arc::clone(&self.shared.parts.store);
        tokio::task::spawn_blocking(move || {
            let now = now();
            let last = store.get(LAST_FORGOTTEN).ok().flatten().and_then(|at| at.parse::<u64>().ok());
            if last.is_some_and(|last| last <= now && now - last < DAY) {
                return;
            }
            let forgotten = store.forget_blobs(now.saturating_sub(days * DAY));
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
        self.queue = self.state.queue.clone();
        if let Some(text) = self.state.untold() {
            self.record(Event::Noted { turn_id: self.state.last_turn(), text });
        }
        let proposals: Vec<_> = self.state.proposals.values().cloned().collect();
        if proposals.is_empty() {
            return;
        }
        let reader = Arc::clone(&self.reading.reader);
        let restored = tokio::task::spawn_blocking(move || {
            let read = |path: &Path| super::carry::base(&reader, path);
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
        self.end_cut_off(cut_off, &review);
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
    use super::*;

    #[test]
    fn a_session_in_the_home_folder_makes_no_project_of_it_by_either_of_its_names() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().canonicalize().unwrap().join(path);
        std::fs::create_dir_all(at("var/home/ada")).unwrap();
        std::os::unix::fs::symlink("var/home", at("home")).unwrap();
        let wide = ["home/ada", "home", "var/home/ada", "var/home"].map(at);
        let wide = wide.into_iter().chain(["/", "/usr"].map(PathBuf::from));
        let projects = [at("home/ada/one"), at("var/home/ada/two"), at("tools"), "/usr/local".into()];
        assert_eq!(narrow(wide.chain(projects.clone()), &at("home/ada")), projects);
    }
}
