//! The state that a shell hands over to one that starts: its exported variables, functions and aliases at that time.

use std::path::Path;
use std::time::Duration;

use process::{git, processes};
use tempfile::TempPath;

use super::Shell;
use super::terminal::{Terminal, enter, quoted};

/// How long a shell may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(3);

/// A file that a shell has written, for another one to read. It is removed when this is dropped.
pub(super) struct HandedOver {
    file: TempPath,
}

impl HandedOver {
    /// The lines by which a shell takes it in; it is in the folder then.
    pub(super) fn load(&self, folder: &Path) -> String {
        format!(". {} 2>/dev/null; {}\n", quoted(&self.file.to_string_lossy()), enter(folder))
    }
}

impl Shell {
    /// Has the shell write down what another one is to begin with. None if it does not live, or runs a command: a
    /// shell that is busy cannot be asked.
    pub(super) async fn hand_over(&self) -> Option<HandedOver> {
        let terminal = self.idle()?;
        // In the folder for temporary files, as a sandbox leaves the shell no other to write to.
        let made = tokio::task::spawn_blocking(|| tempfile::Builder::new().prefix("azimuth-").tempfile());
        let file = made.await.ok()?.ok()?.into_temp_path();
        let written = tokio::time::timeout(PATIENCE, write(&terminal.terminal, &file)).await;
        matches!(written, Ok(Ok(()))).then_some(HandedOver { file })
    }
}

async fn write(terminal: &Terminal, file: &Path) -> std::io::Result<()> {
    let file = quoted(&file.to_string_lossy());
    // The mark says whose processes they are, and these are the other shell's own. So are git's settings, of which the
    // other one has those that hold as it starts. Not every shell has all of it.
    let own = format!("{} PWD OLDPWD SHLVL {} GIT_CONFIG_COUNT __azimuth", processes::MARK, git::NO_FETCH.0);
    let of_git = "__azimuth=${GIT_CONFIG_COUNT:-0}; while [ \"$__azimuth\" -gt 0 ]; do __azimuth=$((__azimuth-1)); \
                  unset \"GIT_CONFIG_KEY_$__azimuth\" \"GIT_CONFIG_VALUE_$__azimuth\"; done";
    // `GIT_DIR` is left out as well if it keeps git from working: the other shell sets it itself.
    let nowhere = format!("case \"${{GIT_DIR-}}\" in {}*) unset GIT_DIR ;; esac", git::NOWHERE);
    let all = format!("{of_git}; {nowhere}; unset {own}; command export -p; command declare -f; command alias -p");
    terminal.aside(&format!("({all}) >|{file} 2>/dev/null")).await
}
