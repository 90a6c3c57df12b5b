//! The session's second shell, which has no sandbox: a sandbox cannot be taken off a shell that runs in it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::jobs::make_private;
use super::{Observer, Shell, ShellConfig, StartFiles};

/// The folder of its files, in the session's.
pub const OUTSIDE_FOLDER: &str = "outside";

/// The shell outside the sandbox. It is made when it is first needed.
///
/// It begins as the session's shell began, and takes nothing over from that but the folder that each command is run in:
/// what was set in the sandbox (`PATH`, functions, a variable that names a program) would change what the user allows
/// to run.
pub struct Outside {
    config: ShellConfig,
    observer: Arc<dyn Observer>,
    start_files: Option<Arc<StartFiles>>,
    /// True if the session's shell has a sandbox.
    is_needed: bool,
    made: Mutex<Option<Arc<Shell>>>,
}

impl Outside {
    /// The one beside a shell that is made so.
    pub fn new(beside: &ShellConfig, observer: Arc<dyn Observer>) -> Self {
        let mut config = beside.clone();
        let is_needed = config.confinement.is_sandboxed();
        config.folder.push(OUTSIDE_FOLDER);
        config.confinement.policy = None;
        Self { config, observer, start_files: None, is_needed, made: Mutex::default() }
    }

    /// Begins as the user's own shells do, as the session's shell.
    #[must_use]
    pub fn with_start_files(mut self, files: Arc<StartFiles>) -> Self {
        self.start_files = Some(files);
        self
    }

    /// True if there is a sandbox to be outside of. Where there is none, the session's shell does.
    pub fn is_needed(&self) -> bool {
        self.is_needed
    }

    /// The shell, if it was needed already.
    pub fn get(&self) -> Option<Arc<Shell>> {
        self.made().clone()
    }

    /// The shell. Blocks.
    ///
    /// # Errors
    /// Its folder cannot be made or read.
    pub fn open(&self) -> io::Result<Arc<Shell>> {
        let mut made = self.made();
        if let Some(shell) = &*made {
            return Ok(Arc::clone(shell));
        }
        make_private(&self.config.folder)?;
        let mut shell = Shell::new(self.config.clone(), Arc::clone(&self.observer))?;
        shell.start_files.clone_from(&self.start_files);
        let shell = Arc::new(shell);
        *made = Some(Arc::clone(&shell));
        Ok(shell)
    }

    /// Ends it with all that it has started.
    pub async fn end(&self) {
        let Some(shell) = self.get() else { return };
        shell.close().await;
    }

    fn made(&self) -> MutexGuard<'_, Option<Arc<Shell>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
