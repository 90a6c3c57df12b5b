//! Commands in the background: servers, watchers, whatever goes on while other commands run.
//!
//! A job is a [`Shell`] of its own that runs one command, without a limit of time: it is seen, typed into and stopped
//! as the session's shell is. It begins with what the user's start files make of a shell, the folder of the session's
//! shell, and the exported variables, functions and aliases that this one has then, if it is idle. When the command has
//! ended, so has all that it left in the background.

#![expect(clippy::disallowed_methods, reason = "what jobs print is no file of the project")]

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use protocol::{TerminalId, ToolCallId};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use self::job::Events;
use super::{Observer, Shell, ShellConfig, ShellError, Spool, StartFiles, check, enterable};

pub use self::job::{Job, JobStatus};

mod job;

pub(super) mod listening;

mod ready;

/// How many jobs of a session can run at once.
pub const MOST_LIVE: usize = 16;

/// How many jobs that ended are kept, with what they printed.
pub const MOST_ENDED: usize = 32;

/// The number of a job by its terminal; none for a terminal that is no job's.
pub fn number(terminal: &TerminalId) -> Option<u64> {
    terminal.as_str().strip_prefix("job-")?.parse().ok()
}

/// Removes what jobs of earlier processes printed, but for the last ones of them. Blocks.
pub fn forget_earlier(session_folder: &Path, last: u64) {
    let Ok(entries) = std::fs::read_dir(session_folder.join("jobs")) else { return };
    for entry in entries.flatten() {
        let number = entry.file_name().to_str().and_then(|name| number(&TerminalId::from(name)));
        if number.is_some_and(|number| number + (MOST_ENDED as u64) <= last)
            && let Err(error) = std::fs::remove_dir_all(entry.path())
        {
            tracing::info!(%error, path = %entry.path().display(), "what an old job printed could not be removed");
        }
    }
}

/// A job that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// So many run already.
    #[error("{MOST_LIVE} jobs run already, which is as many as can; end one that is not needed")]
    TooMany,
    /// The session ends.
    #[error("the session ends, so no job is started any more")]
    Ending,
    /// Its folder cannot be made.
    #[error("the folder for its output cannot be used: {0}")]
    Folder(io::Error),
    /// Its shell says no.
    #[error(transparent)]
    Shell(#[from] ShellError),
}

/// Who hears of a job's command, by the job's terminal.
pub type Observe = dyn Fn(&TerminalId) -> Arc<dyn Observer> + Send + Sync;

/// A session's jobs. When it is dropped they are stopped.
pub struct Jobs {
    /// As the session's shell is made.
    config: ShellConfig,
    observe: Box<Observe>,
    start_files: Option<Arc<StartFiles>>,
    state: Mutex<State>,
    cancel: CancellationToken,
}

struct State {
    /// The oldest first.
    jobs: Vec<Arc<Job>>,
    next: u64,
    /// How many are about to be among them.
    starting: usize,
    /// How far the model has read of each terminal.
    read: HashMap<TerminalId, u64>,
}

impl Jobs {
    /// A session's jobs, none yet; the first one will have this number. Each has a folder of its own in `jobs` in the
    /// configured folder.
    pub fn new(config: ShellConfig, first: u64, observe: Box<Observe>) -> Self {
        let state = State { jobs: Vec::new(), next: first, starting: 0, read: HashMap::new() };
        Self { config, observe, start_files: None, state: Mutex::new(state), cancel: CancellationToken::new() }
    }

    /// Jobs begin as the user's own shells do, whatever the session's shell hands over to them beside.
    #[must_use]
    pub fn with_start_files(mut self, files: Arc<StartFiles>) -> Self {
        self.start_files = Some(files);
        self
    }

    /// Starts a command in the background, in a folder or in that of the session's shell. Gives the job once its
    /// command has begun.
    ///
    /// # Errors
    /// See [`JobError`].
    pub async fn start(
        &self,
        shell: &Shell,
        call: &ToolCallId,
        command: &str,
        cwd: Option<PathBuf>,
    ) -> Result<Arc<Job>, JobError> {
        check(command)?;
        let cwd = cwd.unwrap_or_else(|| shell.cwd());
        enterable(&cwd).await?;
        let (number, place) = self.reserve()?;
        let folder = self.folder(number);
        let made = tokio::task::spawn_blocking({
            let folder = folder.clone();
            move || make_private(&folder).and_then(|()| Spool::open(&folder))
        });
        let spool = made.await.map_err(io::Error::other).flatten().map_err(JobError::Folder)?;
        let handed_over = shell.hand_over().await;
        let is_without = handed_over.is_none() && shell.is_alive();
        // In one process group with its shell, what is stopped (Ctrl-Z) does not end the command.
        let mut prologue = String::from("set +m\n");
        prologue.extend(handed_over.iter().map(|file| file.load(&cwd)));

        let id = TerminalId::new(format!("job-{number}"));
        let (begun, has_begun) = oneshot::channel();
        let events = Arc::new(Events::new((self.observe)(&id), begun, handed_over));
        let config = ShellConfig { cwd: cwd.clone(), folder, ..self.config.clone() };
        let observer: Arc<dyn Observer> = Arc::<Events>::clone(&events);
        let mut own = Shell::with_spool(config, Arc::new(spool), observer).for_a_job(prologue);
        own.start_files.clone_from(&self.start_files);
        own.resize(shell.size());
        let (call, command) = (call.clone(), command.to_owned());
        let job = Arc::new(Job {
            id,
            number,
            call,
            command,
            cwd,
            is_without,
            shell: Arc::new(own),
            events,
            over: CancellationToken::new(),
        });
        self.state().jobs.push(Arc::clone(&job));
        drop(place);
        job.begin(self.cancel.child_token());
        if let Err(error) = has_begun.await.unwrap_or(Err(ShellError::NotResponding)) {
            self.state().jobs.retain(|known| known.id != job.id);
            return Err(error.into());
        }
        self.forget_old();
        Ok(job)
    }

    /// The job of a terminal.
    pub fn get(&self, id: &TerminalId) -> Option<Arc<Job>> {
        self.state().jobs.iter().find(|job| job.id == *id).cloned()
    }

    /// All jobs, the oldest first.
    pub fn all(&self) -> Vec<Arc<Job>> {
        self.state().jobs.clone()
    }

    /// Where in a terminal the model reads on, if it has read in it.
    pub fn read_up_to(&self, terminal: &TerminalId) -> Option<u64> {
        self.state().read.get(terminal).copied()
    }

    /// The model has read a terminal up to this offset.
    pub fn set_read(&self, terminal: &TerminalId, offset: u64) {
        self.state().read.insert(terminal.clone(), offset);
    }

    /// Stops all jobs with all that they have started, and waits for their ends. No other can be started.
    pub async fn end(&self) {
        self.cancel.cancel();
        join_all(self.all().iter().map(|job| job.over.cancelled())).await;
    }

    /// A number for a job, and its place among those that live.
    fn reserve(&self) -> Result<(u64, Place<'_>), JobError> {
        let mut state = self.state();
        if self.cancel.is_cancelled() {
            return Err(JobError::Ending);
        }
        let live = state.jobs.iter().filter(|job| !job.over.is_cancelled()).count();
        if live + state.starting >= MOST_LIVE {
            return Err(JobError::TooMany);
        }
        state.starting += 1;
        state.next += 1;
        Ok((state.next - 1, Place(self)))
    }

    /// Lets go of the oldest jobs that ended, and of what they printed.
    fn forget_old(&self) {
        let forgotten: Vec<_> = {
            let mut state = self.state();
            let ended = state.jobs.iter().filter(|job| job.over.is_cancelled()).count();
            let mut surplus = ended.saturating_sub(MOST_ENDED);
            let is_one = |job: &mut Arc<Job>| {
                let is_one = surplus > 0 && job.over.is_cancelled();
                surplus -= usize::from(is_one);
                is_one
            };
            state.jobs.extract_if(.., is_one).collect()
        };
        for job in forgotten {
            self.state().read.remove(&job.id);
            let folder = self.folder(job.number);
            tokio::task::spawn_blocking(move || {
                if let Err(error) = std::fs::remove_dir_all(&folder) {
                    tracing::info!(%error, path = %folder.display(), "what an old job printed could not be removed");
                }
            });
        }
    }

    fn folder(&self, number: u64) -> PathBuf {
        self.config.folder.join("jobs").join(format!("job-{number}"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// A job's place while it is not yet among the others.
struct Place<'a>(&'a Jobs);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state().starting -= 1;
    }
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    platform::rights::private_folders().create(folder)
}

#[cfg(test)]
mod tests;
