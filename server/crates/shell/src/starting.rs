//! How a session's shell is started: which program, with what environment, and without what does not answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use process::environment::withheld;
use process::{git, programs};
use protocol::terminal::TerminalSize;

use super::start_files::Made;
use super::terminal::{Start, Terminal};
use super::{Missing, Shell, ShellError, Trust, enterable};

impl Shell {
    /// The shell's terminal; a new one if there is none.
    pub(super) async fn terminal(&self) -> Result<Arc<Terminal>, ShellError> {
        let trusted = self.config.trust.trusted.load(Ordering::Relaxed);
        if let Some(terminal) = self.state().terminal.clone().filter(|terminal| !terminal.is_gone()) {
            return Ok(terminal);
        }
        // The state is not held meanwhile: a disk may not answer.
        let Trust { folders, written, .. } = &self.config.trust;
        let program = match self.config.program.clone() {
            Some(program) => program,
            None => programs::shell([folders.as_slice(), written].concat()).await.map_err(ShellError::Start)?,
        };
        let mut start = {
            let mut state = self.state();
            // Where there was none, the folder is the one that a command was judged in.
            if state.terminal.is_some() {
                state.cwd.clone_from(&self.config.cwd);
            }
            Start {
                program,
                cwd: state.cwd.clone(),
                folder: self.config.folder.clone(),
                pass: self.config.pass.clone(),
                of_git: Vec::new(),
                without: Vec::new(),
                confinement: self.config.confinement.clone(),
                environment: Vec::new(),
                size: state.size,
            }
        };
        if let Err(error) = enterable(&start.cwd).await {
            self.state().cwd.clone_from(&self.config.cwd);
            return Err(error);
        }
        let is_bash = start.is_bash();
        let mut prologue = String::new();
        start.environment = match self.made(&start).await {
            Some(made) => {
                prologue.clone_from(&made.prologue);
                made.environment.clone()
            }
            None => std::env::vars_os().collect(),
        };
        let (size, terminal, missing) = self.open(start, trusted).await?;
        let terminal = Arc::new(terminal);
        if let Some(words) = self.config.confinement.told.of(&missing.folders) {
            self.common.observer.said(&words);
        }
        if is_bash {
            // No history, no word about mail, and the empty prompts are not for the shells started from this one.
            let quiet = "set +o history; unset HISTFILE MAILCHECK; export -n PS1 PS2\n";
            terminal.control(quiet).await.map_err(|error| ShellError::Start(error.to_string()))?;
            terminal.control(&prologue).await.map_err(|error| ShellError::Start(error.to_string()))?;
        }
        terminal.control(&self.prologue).await.map_err(|error| ShellError::Start(error.to_string()))?;
        let mut state = self.state();
        // The view may have got another size while the shell was starting.
        if state.size != size {
            terminal.resize(state.size);
        }
        state.terminal = Some(Arc::clone(&terminal));
        state.is_lax = trusted;
        state.missing.iter_mut().for_each(|known| known.clone_from(&missing));
        Ok(terminal)
    }

    /// Starts it, with the size that it has then and what it lacks. What does not answer by now is left out of its
    /// `PATH` and its sandbox, which would wait for that.
    async fn open(&self, mut start: Start, trusted: bool) -> Result<(TerminalSize, Terminal, Missing), ShellError> {
        let size = start.size;
        let variables = withheld(start.environment.iter().cloned(), &start.pass);
        let (spool, trust) = (Arc::clone(&self.spool), self.config.trust.clone());
        let typed = self.recorder();
        let open = move || {
            let folders = programs::leave_out_silent(&mut start.environment);
            start.confinement = start.confinement.answering();
            if !trusted {
                start.of_git = git::untrusted(&trust.folders, &trust.written);
                start.without = trust.folders;
            }
            Terminal::open(&start, spool, typed).map(|terminal| (terminal, folders))
        };
        match tokio::task::spawn_blocking(open).await {
            Ok(Ok((terminal, folders))) => Ok((size, terminal, Missing { variables, folders })),
            Ok(Err(error)) => Err(ShellError::Start(error.to_string())),
            Err(error) => Err(ShellError::Start(error.to_string())),
        }
    }

    /// Returns what the user's start files make of a shell. Tells the user if that cannot be had, or lacks something.
    async fn made(&self, start: &Start) -> Option<Arc<Made>> {
        let files = self.start_files.as_ref().filter(|_| start.is_bash())?;
        let made = files.made(&start.program, &start.pass).await;
        if let Some(words) = files.words_of(&made) {
            self.common.observer.said(&words);
        }
        made.ok()
    }
}
