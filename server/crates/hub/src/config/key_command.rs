//! Runs the commands that print keys.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use process::held::Held;
use process::{Confinement, environment, programs};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The time that a command may take. A password manager may wait for the user's finger.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most bytes of its output that are read. A key is shorter.
const OUTPUT: u64 = 64 * 1024;

/// Starts the commands: as the user would, outside any sandbox and from the root, so that nothing depends on a project.
pub(super) struct Starter;

#[async_trait]
impl providers::RunCommand for Starter {
    async fn first_line(&self, words: &[String]) -> Result<String, String> {
        let (program, args) = words.split_first().ok_or("it has no words")?;
        let path = std::env::var_os("PATH");
        let program = find(program, path.as_deref())?;
        // Password managers have sessions and tokens in variables. The keys of models stay out of them all the same.
        let pass = environment::withheld(std::env::vars_os(), &[]);
        let started = Held::start(&Confinement::default(), &program, args, Path::new("/"), path.as_deref(), &pass);
        let (mut held, pipes) = started.map_err(|error| format!("it does not start: {error}"))?;
        drop(pipes.stdin);
        let run = async {
            let (output, said) = tokio::join!(read(pipes.stdout), read(pipes.stderr));
            Ok::<_, io::Error>((output?, said?, held.wait().await?))
        };
        let (output, said, status) = match tokio::time::timeout(PATIENCE, run).await {
            Err(_) => return Err(format!("it took longer than {} seconds and was ended", PATIENCE.as_secs())),
            Ok(ran) => ran.map_err(|error| format!("its output cannot be read: {error}"))?,
        };
        if !status.success() {
            let said = said.lines().next().map(str::trim).filter(|line| !line.is_empty());
            let said = said.map(|line| format!(": {}", providers::keys::left_out(line))).unwrap_or_default();
            return Err(format!("it failed ({status}){said}. Run it in a terminal to see why"));
        }
        Ok(output.lines().next().unwrap_or_default().to_owned())
    }
}

/// The program of this name: the name itself if it is a path, else the first in the folders of `PATH`.
fn find(name: &str, path: Option<&std::ffi::OsStr>) -> Result<PathBuf, String> {
    if name.starts_with('/') {
        return Ok(PathBuf::from(name));
    }
    let path = programs::path(path, &[]);
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| programs::is_program(file));
    found.ok_or_else(|| "there is no such program in PATH; install it, or name it from the root on".to_owned())
}

async fn read(pipe: impl AsyncRead + Unpin) -> io::Result<String> {
    let mut bytes = Vec::new();
    pipe.take(OUTPUT).read_to_end(&mut bytes).await?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use providers::RunCommand;

    use super::*;

    async fn run(words: &[&str]) -> Result<String, String> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        Starter.first_line(&words).await
    }

    #[tokio::test]
    async fn the_first_line_of_a_commands_output_is_the_key_and_no_shell_reads_it() {
        assert_eq!(run(&["printf", "%s\\nmore\\n", "$HOME"]).await.unwrap(), "$HOME");
        assert_eq!(run(&["/bin/sh", "-c", "pwd"]).await.unwrap(), "/");
    }

    #[tokio::test]
    async fn a_command_that_fails_says_so_without_its_output() {
        let failed = run(&["/bin/sh", "-c", "echo sk-secret-secret; echo 'no session' >&2; exit 3"]).await.unwrap_err();
        assert!(failed.contains("no session") && failed.contains('3') && !failed.contains("sk-secret"), "{failed}");
        let leaks = run(&["/bin/sh", "-c", "echo 'key sk-secret-secret is locked' >&2; exit 1"]).await.unwrap_err();
        assert!(leaks.contains("is locked") && !leaks.contains("sk-secret"), "{leaks}");
        let missing = run(&["no-such-program-here"]).await.unwrap_err();
        assert!(missing.contains("no such program"), "{missing}");
    }
}
