//! The common parts of the tools for terminals: which one is meant, its state, and its output.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use permission::{self, Action, KeyFiles, ShellLine};
use ports::tool::{Call, ToolError};
use project::{answers, paths, search};
use protocol::TerminalId;
use protocol::terminal::{Certainty, Ready};
use shell::{self, Excerpt, Job, Shell, ShellError};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{Services, blocking, how_to_read};

/// How a tool calls the session's shell.
const SHELL: &str = "shell";

/// How a tool calls the shell outside the sandbox.
const OUTSIDE: &str = "outside";

/// How often it is looked whether something became of a terminal that says nothing by itself.
const TICK: Duration = Duration::from_millis(50);

/// After so long without more output, what was waited for has come.
const QUIET: Duration = Duration::from_millis(200);

/// The longest time that output may go on before it is given as it is.
const LONGEST: Duration = Duration::from_secs(1);

/// A terminal that the model named.
pub(crate) struct Terminal {
    id: TerminalId,
    pub(crate) shell: Arc<Shell>,
    pub(crate) job: Option<Arc<Job>>,
}

/// The event that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Something that was printed after this offset, and some quiet then.
    Printed(u64),
    /// Something that shows that a job is up.
    Ready,
    /// That it waits for input, or has ended.
    Waits,
}

impl Terminal {
    /// The terminal with this name.
    ///
    /// # Errors
    /// There is none; the words say which there are.
    pub(crate) fn find(services: &Services, name: &str) -> Result<Self, ToolError> {
        let (shell, jobs) = (&services.shell, &services.jobs);
        if name == SHELL || name.starts_with("shell-") {
            return Ok(Self { id: TerminalId::from(SHELL), shell: Arc::clone(shell), job: None });
        }
        let outside = services.outside.get();
        if let Some(shell) = &outside
            && (name == OUTSIDE || name.starts_with("outside-"))
        {
            return Ok(Self { id: TerminalId::from(OUTSIDE), shell: Arc::clone(shell), job: None });
        }
        let id = TerminalId::from(name);
        let Some(job) = jobs.get(&id) else {
            let mut names = vec![SHELL.to_owned()];
            names.extend(outside.map(|_| OUTSIDE.to_owned()));
            names.extend(jobs.all().iter().map(|job| job.id().to_string()));
            let text = format!("there is no terminal `{name}`; there are: {}", names.join(", "));
            return Err(ToolError::Failed(text));
        };
        Ok(Self::of(job))
    }

    /// A job's.
    pub(crate) fn of(job: Arc<Job>) -> Self {
        Self { id: job.id().clone(), shell: Arc::clone(job.shell()), job: Some(job) }
    }

    /// How it is called.
    pub(crate) fn name(&self) -> &str {
        self.id.as_str()
    }

    /// True if what runs in it runs outside the sandbox.
    pub(crate) fn is_outside(&self) -> bool {
        self.name() == OUTSIDE
    }

    /// The command line that runs in it, if one does.
    pub(crate) fn command(&self) -> Option<String> {
        self.shell.in_flight().map(|(command, _)| command)
    }

    /// Where the model reads on: after what it has read; else where what runs, or the job, began; else at the end.
    pub(crate) fn unread(&self, services: &Services) -> u64 {
        let began = match &self.job {
            Some(job) => Some(job.status().start_offset),
            None => self.shell.in_flight().map(|(_, offset)| offset),
        };
        let read = services.jobs.read_up_to(&self.id);
        // The output of an earlier command is no news.
        read.max(began).unwrap_or_else(|| self.shell.spool().end())
    }

    /// Reads what was printed from an offset on; the model has read that far then.
    pub(crate) async fn read(&self, services: &Services, since: u64) -> Result<Excerpt, ToolError> {
        let (shell, job) = (Arc::clone(&self.shell), self.job.clone());
        let excerpt = blocking(move || Ok(job.map_or_else(|| shell.read_on(since), |job| job.read_on(since)))).await?;
        services.jobs.set_read(&self.id, excerpt.end);
        Ok(excerpt)
    }

    /// Keeps all that was printed between two offsets where an excerpt of it does not say all, and says how it is read.
    pub(crate) async fn kept(&self, services: &Services, since: u64, excerpt: &Excerpt) -> Result<String, ToolError> {
        if !excerpt.is_cut {
            return Ok(String::new());
        }
        let (shell, results, end) = (Arc::clone(&self.shell), services.results.clone(), excerpt.end);
        let keep = move || -> io::Result<(String, u64)> {
            let mut keeper = results.keeper()?;
            let lost = shell.printed(since, end, &mut keeper)?;
            Ok((keeper.finish()?, lost))
        };
        Ok(match blocking(move || Ok(keep())).await? {
            Ok((handle, 0)) => format!("\n[not all of it is shown: {}]", how_to_read(&handle, None)),
            Ok((handle, lost)) => {
                let but = format!("its first {lost} bytes");
                format!("\n[not all of it is shown: {}]", how_to_read(&handle, Some(&but)))
            }
            Err(error) => format!("\n[not all of it is shown, and it could not be kept: {error}]"),
        })
    }

    /// Waits for something to come of the terminal, at most this long. Ends too where its command ends, or waits for
    /// input.
    pub(crate) async fn wait(&self, until: Until, most: Duration, cancel: &CancellationToken) {
        let deadline = Instant::now() + most;
        let mut end = self.shell.spool().watch();
        // When it last printed, and when it first did, since it is waited for.
        let (mut last, mut first): (_, Option<Instant>) = (*end.borrow_and_update(), None);
        let mut printed_at = Instant::now();
        while Instant::now() < deadline {
            let now = *end.borrow_and_update();
            if now != last {
                (last, printed_at) = (now, Instant::now());
            }
            let is_over = match until {
                Until::Printed(since) => {
                    if now > since {
                        first.get_or_insert_with(Instant::now);
                    }
                    first.is_some_and(|first| printed_at.elapsed() >= QUIET || first.elapsed() >= LONGEST)
                }
                Until::Waits => false,
                // A job that says that it is up is mostly about to listen, and one that listens is about to say so.
                Until::Ready => self.ready().is_some_and(|Ready { line, ports }| {
                    let first = first.get_or_insert_with(Instant::now);
                    (line.is_some() && !ports.is_empty()) || first.elapsed() >= LONGEST
                }),
            };
            let has_ended = self.command().is_none() && self.job.as_ref().is_none_or(|job| !job.is_alive());
            if is_over || has_ended || self.shell.waiting().is_some() {
                return;
            }
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(TICK) => {}
            }
        }
    }

    fn ready(&self) -> Option<Ready> {
        self.job.as_ref()?.status().ready
    }

    /// How it is, in a few words for people: `runs`, `exit code 1`.
    pub(crate) fn summary(&self) -> String {
        let Some(job) = &self.job else {
            return if self.command().is_some() { "runs" } else { "idle" }.to_owned();
        };
        let status = job.status();
        match (status.ended_at, status.exit_code) {
            (Some(_), Some(code)) => format!("exit code {code}"),
            (Some(_), None) => "stopped".to_owned(),
            (None, _) if status.ready.is_some() => "ready".to_owned(),
            (None, _) => "runs".to_owned(),
        }
    }

    /// How it is, for the model: `job-1 runs; it listens on port 8000`.
    pub(crate) fn state(&self) -> String {
        let name = self.name();
        let Some(job) = &self.job else {
            return match self.command() {
                Some(command) => format!("`{}` runs in the shell{}", first_line(&command), self.waiting()),
                None => "nothing runs in the shell".to_owned(),
            };
        };
        let status = job.status();
        match (status.ended_at, status.exit_code) {
            (Some(_), Some(code)) => format!("{name} ended with exit code {code}"),
            (Some(_), None) => format!("{name} was stopped"),
            (None, _) => {
                format!("{name} runs{}{}", status.ready.as_ref().map(in_words).unwrap_or_default(), self.waiting())
            }
        }
    }

    fn waiting(&self) -> String {
        let Some(waiting) = self.shell.waiting() else { return String::new() };
        let surely = match waiting.certainty {
            Certainty::Certain => "waits for input",
            Certainty::Probable => "probably waits for input",
        };
        match (waiting.hidden, waiting.prompt.as_str()) {
            (true, _) => format!("; it {surely} that is not shown, such as a password, which is for the user to type"),
            (false, "") => format!("; it {surely}"),
            (false, prompt) => format!("; it {surely}: \u{201c}{prompt}\u{201d}"),
        }
    }
}

/// Describes what shows that a job is up.
fn in_words(ready: &Ready) -> String {
    let line = ready.line.as_ref().map(|line| format!("; it said \u{201c}{line}\u{201d}")).unwrap_or_default();
    let ports: Vec<_> = ready.ports.iter().map(u16::to_string).collect();
    match ports.as_slice() {
        [] => line,
        [port] => format!("{line}; it listens on port {port}"),
        ports => format!("{line}; it listens on ports {}", ports.join(", ")),
    }
}

/// A command's first line, not too long.
pub(crate) fn first_line(command: &str) -> String {
    const LONGEST: usize = 80;
    let command = command.trim();
    let line = command.lines().next().unwrap_or_default();
    let shown = line.char_indices().nth(LONGEST).map_or(line, |(end, _)| line.get(..end).unwrap_or(line));
    if shown.len() < command.len() { format!("{shown} …") } else { shown.to_owned() }
}

/// Returns the action that permission is to judge for a command line that would run in a folder. Asks the disk.
///
/// # Errors
/// The folder does not answer.
pub(crate) fn execution(line: &str, cwd: PathBuf) -> Result<Action, ToolError> {
    // It is known of a folder that did not answer before, so the next command is refused at once.
    if !answers::answers(&cwd) {
        return Err(ToolError::Failed(ShellError::Silent(cwd).to_string()));
    }
    let parsed = shell::parse(line);
    let named = permission::named_paths(&parsed, &cwd);
    let keys = if permission::looks_around(&parsed) { keys_around(&parsed, &named, &cwd) } else { KeyFiles::default() };
    let links = paths::links_of(named);
    Ok(Action::Execute { line: line.to_owned(), parsed, cwd, links, keys, outside: None })
}

/// The files that usually hold keys in the folder of a line, in the repository that this is of, and in the folders that
/// the line names, but for those that the folder lies in.
fn keys_around(parsed: &ShellLine, named: &BTreeSet<PathBuf>, cwd: &Path) -> KeyFiles {
    let top = cwd.ancestors().find(|folder| folder.join(".git").symlink_metadata().is_ok()).unwrap_or(cwd);
    let others = named.iter().filter(|path| !top.starts_with(path));
    // First what is surely there.
    let folders: Vec<_> = [top.to_path_buf()].into_iter().chain(others.cloned()).collect();
    search::key_files(&folders, permission::follows_links(parsed))
}

/// The folder that a command line was judged for.
pub(crate) fn judged_folder(call: &Call) -> Result<PathBuf, ToolError> {
    match &call.judged {
        Some(Action::Execute { cwd, .. }) => Ok(cwd.clone()),
        _ => Err(ToolError::Failed("nobody has judged this command, so it was not run".to_owned())),
    }
}

/// Text with its last lines only.
pub(crate) fn last_lines(text: &str, count: usize) -> &str {
    let trimmed = text.trim_end_matches('\n');
    let mut ends = trimmed.rmatch_indices('\n').map(|(at, _)| at + 1);
    count.checked_sub(1).and_then(|nth| ends.nth(nth)).and_then(|start| text.get(start..)).unwrap_or(text)
}

/// Returns what was printed, or a note that nothing was, as whole lines.
pub(crate) fn shown(text: &str) -> String {
    match text.trim_end_matches('\n') {
        "" => "[no new output]\n".to_owned(),
        text => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_text_are_its_last() {
        assert_eq!(last_lines("one\ntwo\nthree\n", 2), "two\nthree\n");
        assert_eq!(last_lines("one\ntwo\nthree", 1), "three");
        assert_eq!(last_lines("one\ntwo\n", 5), "one\ntwo\n");
        assert_eq!(last_lines("", 1), "");
    }
}
