//! Runs the commands that print keys, and those that print credentials for AWS.

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
        let output = match tokio::time::timeout(PATIENCE, output(words)).await {
            Err(_) => return Err(format!("it took longer than {} seconds and was ended", PATIENCE.as_secs())),
            Ok(output) => output.map_err(|problem| format!("{problem}. Run it in a terminal to see why"))?,
        };
        Ok(String::from_utf8_lossy(&output).lines().next().unwrap_or_default().to_owned())
    }
}

#[async_trait]
impl providers::RunProgram for Starter {
    async fn output(&self, words: &[String]) -> Result<Vec<u8>, String> {
        output(words).await
    }
}

/// The output of a command, which is ended when the future is dropped.
async fn output(words: &[String]) -> Result<Vec<u8>, String> {
    let (program, args) = words.split_first().ok_or("it has no words")?;
    let path = std::env::var_os("PATH");
    let program = find(program, path.as_deref())?;
    // Password managers have sessions and tokens in variables. The keys of models stay out of them all the same.
    let pass = environment::withheld(std::env::vars_os(), &[]);
    let started = Held::start(&Confinement::default(), &program, args, Path::new("/"), path.as_deref(), &pass);
    let (mut held, pipes) = started.map_err(|error| format!("it does not start: {error}"))?;
    drop(pipes.stdin);
    let (output, said) = tokio::join!(read(pipes.stdout), read(pipes.stderr));
    let unread = |error: io::Error| format!("its output cannot be read: {error}");
    let (output, said, status) = (output.map_err(unread)?, said.map_err(unread)?, held.wait().await.map_err(unread)?);
    if !status.success() {
        let said = String::from_utf8_lossy(&said);
        // AWS's own program begins with an empty line.
        let said = said.lines().map(str::trim).find(|line| !line.is_empty());
        let said = said.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let said = said.map(|line| format!(": {}", providers::keys::left_out(&line))).unwrap_or_default();
        return Err(format!("it failed ({status}){said}"));
    }
    Ok(output)
}

/// The program of this name: the name itself if it is a path, else the first in the folders of `PATH`.
fn find(name: &str, path: Option<&std::ffi::OsStr>) -> Result<PathBuf, String> {
    if name.starts_with('/') {
        return Ok(PathBuf::from(name));
    }
    if name.contains('/') {
        return Err("a program with `/` in it must be named from the root on, since it depends on no folder".to_owned());
    }
    let path = programs::path(path, &[]);
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| programs::is_program(file));
    found.ok_or_else(|| "there is no such program in PATH; install it, or name it from the root on".to_owned())
}

async fn read(pipe: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(OUTPUT).read_to_end(&mut bytes).await?;
    Ok(bytes)
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
        let relative = run(&["bin/vault"]).await.unwrap_err();
        assert!(relative.contains("named from the root on"), "{relative}");
    }
}
