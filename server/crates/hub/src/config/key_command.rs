//! Runs the commands that print keys, and those that print credentials for AWS.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use process::held::Held;
use process::{Confinement, environment, programs};
use tokio::io::{AsyncRead, AsyncReadExt};

/// The time that a command may take. A password manager may wait for the user's finger.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most bytes of its output that are read. A key is shorter.
const OUTPUT: u64 = 64 * 1024;
/// The time that the disk may take to say which program it is.
const LOOK: Duration = Duration::from_secs(10);

/// The folders that were opened in this process: no program that keys depend on is taken from one.
static PROJECTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Takes no program from a folder from now on, by its name and as it is without links. Asks the disk.
pub(super) fn keep_out_of(project: &Path) {
    let real = project.canonicalize().ok();
    PROJECTS.lock().unwrap_or_else(PoisonError::into_inner).extend(real.into_iter().chain([project.to_owned()]));
}

fn projects() -> Vec<PathBuf> {
    PROJECTS.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

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

    fn is_users_own(&self, file: &Path) -> bool {
        !programs::is_of_others(file, &projects())
    }
}

/// The output of a command, which is ended when the future is dropped.
async fn output(words: &[String]) -> Result<Vec<u8>, String> {
    let (program, args) = words.split_first().ok_or("it has no words")?;
    let (program, path) = find(program, programs::path(std::env::var_os("PATH").as_deref(), &[]), projects()).await?;
    // Password managers have sessions and tokens in variables. The keys of models stay out of them all the same.
    let pass = environment::withheld(std::env::vars_os(), &[]);
    let started = Held::start(&Confinement::default(), &program, args, Path::new("/"), Some(&path), &pass);
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

/// The program of this name, and the `PATH` for it: the name itself if it is a path, else the first in the folders of
/// `PATH` that are no project's. It runs outside any sandbox, whether a project is trusted or not.
async fn find(name: &str, path: OsString, projects: Vec<PathBuf>) -> Result<(PathBuf, OsString), String> {
    let is_path = name.starts_with('/');
    if !is_path && name.contains('/') {
        return Err("a program with `/` in it must be named from the root on, since it depends on no folder".to_owned());
    }
    let named = name.to_owned();
    let (found, path) = programs::answered(LOOK, move || programs::of_user(&named, &path, &projects)).await?;
    let program = if is_path { Some(PathBuf::from(name)) } else { found };
    let none = || "there is no such program in PATH, projects left out; install it, or name it from the root on";
    Ok((program.ok_or_else(none)?, path))
}

async fn read(pipe: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    pipe.take(OUTPUT).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes a program")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

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
    async fn a_program_of_a_project_that_stands_first_in_path_is_passed_over() {
        let project = tempfile::tempdir().unwrap();
        let bin = project.path().join(".venv/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(project.path().join(".venv/pyvenv.cfg"), "").unwrap();
        for name in ["sh", "aws-of-the-project"] {
            std::fs::write(bin.join(name), "#!/bin/sh\necho evil\n").unwrap();
            std::fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let path = std::env::join_paths([bin.as_path(), Path::new("/usr/bin"), Path::new("/bin")]).unwrap();
        let (program, path) = find("sh", path, vec![]).await.unwrap();
        assert!(program.ends_with("bin/sh") && !program.starts_with(project.path()), "{program:?}");
        assert_eq!(path, "/usr/bin:/bin", "what it starts in turn is no project's either");
        let only = find("aws-of-the-project", bin.into_os_string(), vec![]).await.unwrap_err();
        assert!(only.contains("no such program"), "{only}");
    }

    #[test]
    fn a_file_of_an_opened_folder_is_not_the_users_own() {
        let temporary = tempfile::tempdir().unwrap();
        let is_users_own = |file: &Path| providers::RunProgram::is_users_own(&Starter, file);
        assert!(!is_users_own(&temporary.path().join("config")), "commands may write there");
        assert!(is_users_own(Path::new("/usr/lib/aws/config")));
        keep_out_of(Path::new("/usr/lib/aws"));
        assert!(!is_users_own(Path::new("/usr/lib/aws/config")));
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
