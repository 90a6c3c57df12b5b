//! The output of terminals, as long as somebody may ask for it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::TerminalId;
use shell::jobs::number as job_number;
use shell::{OUTSIDE_FOLDER, Spool};

/// The output of terminals, as far as somebody asked. Clones share it.
#[derive(Clone, Default)]
pub(in crate::session) struct Spools(Arc<Mutex<HashMap<TerminalId, Arc<Spool>>>>);

impl Spools {
    /// A terminal's, if it is open.
    pub(in crate::session) fn get(&self, terminal: &TerminalId) -> Option<Arc<Spool>> {
        self.lock().get(terminal).cloned()
    }

    /// Those that are open.
    pub(in crate::session) fn all(&self) -> Vec<(TerminalId, Arc<Spool>)> {
        self.lock().iter().map(|(terminal, spool)| (terminal.clone(), Arc::clone(spool))).collect()
    }

    /// A terminal's, opened if need be: its files are in the session's folder. Blocks.
    ///
    /// # Errors
    /// There is no such terminal, or its files cannot be read.
    pub(in crate::session) fn open(&self, session_folder: &Path, terminal: &TerminalId) -> io::Result<Arc<Spool>> {
        if let Some(spool) = self.get(terminal) {
            return Ok(spool);
        }
        let folder = folder_of(session_folder, terminal).ok_or(io::ErrorKind::NotFound)?;
        let spool = Arc::new(Spool::open(&folder)?);
        Ok(Arc::clone(self.lock().entry(terminal.clone()).or_insert(spool)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TerminalId, Arc<Spool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where a terminal's files are; none for what is no name of one.
pub(super) fn folder_of(session_folder: &Path, terminal: &TerminalId) -> Option<PathBuf> {
    match job_number(terminal) {
        Some(number) => Some(session_folder.join("jobs").join(format!("job-{number}"))),
        None if terminal.as_str().starts_with("outside-") => Some(session_folder.join(OUTSIDE_FOLDER)),
        None => terminal.as_str().starts_with("shell-").then(|| session_folder.to_owned()),
    }
}
