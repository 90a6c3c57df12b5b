//! `shell_run`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use protocol::terminal::{Certainty, Typist};
use schemars::JsonSchema;
use serde::Deserialize;
use shell::{self, MAX_TIMEOUT, MIN_TIMEOUT, Outcome, Ran, RunOptions, Shell, Waits};

use crate::terminals::{execution, first_line, judged_folder};
use crate::typed::Typed;
use crate::{Services, blocking, how_to_read, location};

/// Runs a command line in the session's shell (bash in a terminal) and gives its output, its exit code and its
/// duration. The user sees the terminal.
///
/// - There is one persistent shell: folder, variables and functions carry over to the next command.
/// - One command runs at a time. Use shell_start for servers, watchers and whatever does not end on its own. Do not
///   start editors. Avoid questions with flags such as `--yes`. A command that waits for input is left running, and you
///   are told what it asks: answer with shell_write, or end it with shell_kill. The user types passwords. A command
///   that takes too long is stopped with everything it has started.
/// - Output is given without colours. Long output is cut in the middle, and expand_output reads the rest; better keep
///   it short: `--quiet`, `| tail -50`.
/// - Commands see the files on disk. Read, search and edit files with the tools for that, not with commands: those
///   tools see unsaved text and pending edits, and the user reviews their edits.
/// - If there is a sandbox, commands can write only in the workspace, temporary folders and package caches, and cannot
///   read keys. If a command fails and you are told that the sandbox refused something that it needs, run it again with
///   `outside`. Do not try to get around the sandbox, and do not use `outside` before that.
/// - Give one plain command line. The user has to allow each time what cannot be understood before it runs (`eval`,
///   `$(…)` as a command's name).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The command line, as for bash. It may have several lines.
    command: String,
    /// The folder to run it in, in the workspace, for this command only. Without it, the shell's folder.
    cwd: Option<String>,
    /// The number of seconds after which it is stopped, 1 to 3600. Without it, 120.
    timeout_seconds: Option<u64>,
    /// True to run it outside the sandbox, without restrictions. The user is asked each time. It runs in a separate
    /// shell, in the same folder, without the variables and functions of the other.
    outside: Option<bool>,
    /// With `outside`: what the sandbox refused, and why the command needs it, in one sentence for the user.
    why: Option<String>,
}

pub(crate) struct ShellRun {
    services: Services,
}

impl ShellRun {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }

    fn folder(&self, input: &Input) -> Result<Option<PathBuf>, ToolError> {
        Ok(input.cwd.as_deref().map(|cwd| self.services.roots.resolve(cwd)).transpose()?)
    }

    /// True if a command is to run outside the sandbox. Where there is none, the session's shell does.
    fn is_outside(&self, input: &Input) -> bool {
        input.outside == Some(true) && self.services.outside.is_needed()
    }

    fn in_words(&self, ran: &Ran, before: &PathBuf) -> Output {
        let summary = match ran.exit_code {
            _ if ran.timed_out => "timed out".to_owned(),
            _ if ran.cancelled => "stopped".to_owned(),
            Some(code) => format!("exit code {code}"),
            None => "ended by a signal".to_owned(),
        };
        let mut text = match ran.output.trim_end_matches('\n') {
            "" => "[no output]\n".to_owned(),
            output => format!("{output}\n"),
        };
        text.push_str(&format!("[{summary} after {:.1} s", ran.duration.as_secs_f64()));
        if ran.cwd_after != *before {
            text.push_str(&format!("; the shell is now in {}", self.services.roots.display(&ran.cwd_after)));
        }
        text.push(']');
        if let Some(note) = &ran.note {
            text.push_str(&format!("\n[{note}]"));
        }
        Output { text, summary, is_error: ran.exit_code != Some(0), ..Output::default() }
    }
}

#[async_trait]
impl Typed for ShellRun {
    type Input = Input;
    const NAME: &'static str = tool_names::SHELL_RUN;
    const KIND: ToolKind = ToolKind::Execute;
    const ACCESS: Access = Access::Execute;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        timeout(input)?;
        let folder = self.folder(input)?;
        let locations = folder.iter().map(|folder| location(folder, None)).collect();
        let mut action = execution(&input.command, folder.unwrap_or_else(|| self.services.shell.cwd()))?;
        let mut title = format!("Running {}", first_line(&input.command));
        if self.is_outside(input) {
            let why = input.why.as_deref().map(str::trim).filter(|why| !why.is_empty()).ok_or_else(|| {
                ToolError::InvalidInput("`outside` needs `why`: what the sandbox has refused, for the user".to_owned())
            })?;
            title.push_str(&format!(" outside the sandbox: {}", first_line(why)));
            if let Action::Execute { outside, .. } = &mut action {
                *outside = Some(why.to_owned());
            }
        }
        if let Action::Execute { parsed, cwd, .. } = &action
            && let Some(refusal) = self.services.intercept.refusal(&input.command, parsed, cwd, &self.services.roots)
        {
            return Err(ToolError::Failed(refusal));
        }
        Ok(Description { title, locations, action })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        // It runs where it was judged, or not at all: the user may have gone elsewhere in the shell meanwhile.
        let judged = judged_folder(&call)?;
        let cwd = input.cwd.as_ref().map(|_| judged.clone());
        let mut options = RunOptions {
            cwd,
            home: Some(judged.clone()),
            timeout: timeout(&input)?,
            cancel: call.cancel,
            by: Typist::Model,
        };
        let failed = |error: &dyn std::fmt::Display| ToolError::Failed(error.to_string());
        let (shell, outcome, before);
        if self.is_outside(&input) {
            let outside = Arc::clone(&self.services.outside);
            shell = blocking(move || Ok(outside.open())).await?.map_err(|error| failed(&error))?;
            options.cwd = Some(judged);
            shell.until_handed_back(&options.cancel).await;
            before = shell.cwd();
            // Its questions are for the user, who sees its terminal.
            outcome = shell.run(&call.id, &input.command, options).await.map(Outcome::Ended);
        } else {
            shell = Arc::clone(&self.services.shell);
            before = shell.cwd();
            outcome = shell.run_until_it_waits(&call.id, &input.command, options).await;
        }
        let ran = match outcome.map_err(|error| failed(&error))? {
            Outcome::Ended(ran) => ran,
            Outcome::Waits(waits) => return Ok(still_runs(&waits)),
        };
        let mut output = self.in_words(&ran, &before);
        if ran.is_cut {
            let services = self.services.clone();
            let kept = blocking(move || Ok(keep(&services, &shell, &ran))).await?;
            output.text.push_str(&match kept {
                Ok((handle, 0)) => format!("\n[not all of its output is shown: {}]", how_to_read(&handle, None)),
                Ok((handle, lost)) => {
                    let but = format!("its first {lost} bytes");
                    format!("\n[not all of its output is shown: {}]", how_to_read(&handle, Some(&but)))
                }
                Err(error) => format!("\n[not all of its output is shown, and it could not be kept: {error}]"),
            });
        }
        Ok(output)
    }
}

/// Returns the outcome so far of a command that waits for input.
fn still_runs(waits: &Waits) -> Output {
    let mut text = match waits.output.trim_end_matches('\n') {
        "" => "[no output]\n".to_owned(),
        output => format!("{output}\n"),
    };
    let after = format!("after {:.1} s", waits.duration.as_secs_f64());
    let goes_on = "It still runs in the shell, so no other command can be run there.";
    let summary = match &waits.status.waiting {
        _ if waits.status.taken => {
            text.push_str(&format!("[still running {after}: the user has taken the terminal over. {goes_on}]"));
            "taken over by the user"
        }
        Some(waiting) if waiting.hidden => {
            text.push_str(&format!(
                "[still waiting {after} for the user to type something that is not shown, such as a password. \
                 {goes_on} Ask the user, or end it with shell_kill]"
            ));
            "waits for a password"
        }
        Some(waiting) => {
            let (word, how) = match waiting.certainty {
                Certainty::Certain => ("waits for input", "it was seen to read from the terminal"),
                Certainty::Probable => (
                    "probably waits for input",
                    "it looks at the terminal, does nothing else and has printed nothing for a while",
                ),
            };
            text.push_str(&format!("[{word} {after}: {how}."));
            match waiting.prompt.trim() {
                "" => {}
                prompt => text.push_str(&format!(" It asks: {prompt}")),
            }
            text.push_str(&format!(
                "\n{goes_on} Answer with shell_write, end it with shell_kill, or let the user answer in the terminal]"
            ));
            word
        }
        None => "still runs",
    };
    Output { text, summary: summary.to_owned(), ..Output::default() }
}

/// Keeps what a command printed. Gives its handle, and how many bytes of it were no longer there. Blocks.
fn keep(services: &Services, shell: &Shell, ran: &Ran) -> io::Result<(String, u64)> {
    let mut keeper = services.results.keeper()?;
    let lost = shell.printed(ran.start_offset, ran.end_offset, &mut keeper)?;
    Ok((keeper.finish()?, lost))
}

fn timeout(input: &Input) -> Result<Duration, ToolError> {
    let Some(seconds) = input.timeout_seconds else { return Ok(shell::DEFAULT_TIMEOUT) };
    let timeout = Duration::from_secs(seconds);
    if (MIN_TIMEOUT..=MAX_TIMEOUT).contains(&timeout) {
        return Ok(timeout);
    }
    Err(ToolError::InvalidInput("`timeout_seconds` goes from 1 to 3600".to_owned()))
}

#[cfg(test)]
mod tests {
    use permission::{Action, KeyFiles, Links, ShellLine, SimpleCommand, Word};
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::fixture::{World, call};

    /// Without how long it took.
    fn timeless(text: &str) -> String {
        let (before, rest) = text.rsplit_once(" after ").expect("it says how long it took");
        let (_, after) = rest.split_once(" s").unwrap();
        format!("{before}{after}")
    }

    #[tokio::test]
    async fn a_command_gives_output_and_exit_code() {
        let world = World::new(&[("a.txt", "hello\n")]);
        let output = world.call("shell_run", json!({ "command": "cat a.txt" })).await.unwrap();
        assert_eq!(timeless(&output.text), "hello\n[exit code 0]");
        assert_eq!((output.summary.as_str(), output.is_error), ("exit code 0", false));
        let output =
            world.call("shell_run", json!({ "command": "exit_with() { return 3; }; exit_with" })).await.unwrap();
        assert_eq!(timeless(&output.text), "[no output]\n[exit code 3]");
        assert!(output.is_error);
    }

    #[tokio::test]
    async fn a_command_runs_in_the_folder_that_it_was_judged_for_or_not_at_all() {
        let world = World::new(&[("a.txt", ""), ("src/a.txt", "")]);
        let services = world.services();
        let tool = ShellRun::new(&services);
        let input = |cwd: Option<&str>| Input {
            command: "rm a.txt".to_owned(),
            cwd: cwd.map(str::to_owned),
            timeout_seconds: None,
            outside: None,
            why: None,
        };
        let judged = |cwd| {
            let judged = Some(tool.describe(&input(cwd)).unwrap().action);
            Call { judged, ..Call::unjudged("1".into(), CancellationToken::new()) }
        };
        let (plain, named) = (judged(None), judged(Some(".")));
        // The user goes elsewhere while the question is open.
        services.shell.run(&"user".into(), "cd src; X=1", RunOptions::default()).await.unwrap();
        let error = tool.run(plain, input(None)).await.unwrap_err().to_string();
        assert!(error.contains("folder has changed") && error.contains("src"), "{error}");
        assert!(world.path("a.txt").exists() && world.path("src/a.txt").exists(), "nothing was removed");
        tool.run(named, input(Some("."))).await.unwrap();
        assert!(!world.path("a.txt").exists() && world.path("src/a.txt").exists());
        let text = call(&services, "shell_run", json!({ "command": "rm a.txt; echo $X" })).await.unwrap().text;
        assert!(text.starts_with("1\n") && !world.path("src/a.txt").exists(), "the shell has stayed: {text}");
    }

    #[tokio::test]
    async fn the_shell_stays_from_call_to_call() {
        let world = World::new(&[("src/a.txt", "")]);
        let services = world.services();
        let text = |input| async { timeless(&call(&services, "shell_run", input).await.unwrap().text) };
        assert_eq!(
            text(json!({ "command": "cd src; X=1" })).await,
            "[no output]\n[exit code 0; the shell is now in src]"
        );
        assert_eq!(text(json!({ "command": "ls; echo $X" })).await, "a.txt\n1\n[exit code 0]");
        assert_eq!(text(json!({ "command": "ls", "cwd": "." })).await, "src\n[exit code 0]");
        assert_eq!(text(json!({ "command": "ls" })).await, "a.txt\n[exit code 0]");
    }

    #[tokio::test]
    async fn permission_is_told_what_would_run_and_where() {
        let world = World::new(&[("src/a.txt", "")]);
        let tool = ShellRun::new(&world.services());
        let input = |command: &str, cwd: Option<&str>| Input {
            command: command.to_owned(),
            cwd: cwd.map(str::to_owned),
            timeout_seconds: None,
            outside: None,
            why: None,
        };
        let described = tool.describe(&input("rm a.txt\n# really", Some("src"))).unwrap();
        assert_eq!(described.title, "Running rm a.txt …");
        let words = ["rm", "a.txt"].map(|word| Word::Known(word.to_owned())).to_vec();
        let parsed = ShellLine::Commands(vec![SimpleCommand { words, assignments: Vec::new(), redirects: Vec::new() }]);
        let line = "rm a.txt\n# really".to_owned();
        let (links, keys) = (Links::new(), KeyFiles::default());
        assert_eq!(
            described.action,
            Action::Execute { line, parsed, cwd: world.path("src"), links, keys, outside: None }
        );
        let described = tool.describe(&input("ls", None)).unwrap();
        assert!(matches!(described.action, Action::Execute { cwd, .. } if cwd == world.path("")));

        let outside = world.path("").parent().unwrap().to_owned();
        std::os::unix::fs::symlink(&outside, world.path("src/out")).unwrap();
        for line in ["cat src/out", "cd src && cat o*", "cat < src/out"] {
            let Action::Execute { links, .. } = tool.describe(&input(line, None)).unwrap().action else { panic!() };
            assert_eq!(links.values().flatten().collect::<Vec<_>>(), [&outside], "{line}");
        }
    }

    #[tokio::test]
    async fn looking_at_a_repository_that_came_with_a_project_runs_no_program_of_it() {
        let world = World::new(&[("a.txt", "")]);
        let ran = world.path("ran");
        let of_sub = "git --git-dir=sub config";
        let command = format!(
            "git init -q --bare sub && {of_sub} core.bare false && {of_sub} core.worktree . && {of_sub} core.fsmonitor \
             'touch {}; false' && cd sub && git status; git config --get core.fsmonitor",
            ran.display()
        );
        let output = world.call("shell_run", json!({ "command": command })).await.unwrap();
        assert!(!ran.exists(), "{}", output.text);
        assert!(output.text.contains("safe.bareRepository"), "git was there and said why: {}", output.text);
    }

    #[tokio::test]
    async fn what_cannot_be_run_says_why() {
        let world = World::new(&[("a.txt", "")]);
        let run = |input| world.text("shell_run", input);
        assert!(run(json!({ "command": "ls", "cwd": ".." })).await.contains("outside the workspace"));
        assert!(run(json!({ "command": "ls", "cwd": "a.txt" })).await.contains("is no folder"));
        assert!(run(json!({ "command": " " })).await.contains("it is empty"));
        for seconds in [0, 3601] {
            let text = run(json!({ "command": "ls", "timeout_seconds": seconds })).await;
            assert_eq!(text, "error: invalid input: `timeout_seconds` goes from 1 to 3600");
        }
    }

    #[tokio::test]
    async fn a_command_that_is_stopped_says_so() {
        let world = World::new(&[]);
        let output =
            world.call("shell_run", json!({ "command": "echo begun; sleep 100", "timeout_seconds": 1 })).await.unwrap();
        assert!(output.text.starts_with("begun\n"), "{}", output.text);
        assert!(output.text.contains("[timed out after 1."), "{}", output.text);
        assert!(output.text.contains("its 1 s were over"), "{}", output.text);
        assert_eq!((output.summary.as_str(), output.is_error), ("timed out", true));

        let cancel = CancellationToken::new();
        cancel.cancel();
        let input =
            Input { command: "sleep 100".to_owned(), cwd: None, timeout_seconds: None, outside: None, why: None };
        let tool = ShellRun::new(&world.services());
        let judged = Some(tool.describe(&input).unwrap().action);
        let output = tool.run(Call { judged, ..Call::unjudged("1".into(), cancel) }, input).await.unwrap();
        assert_eq!(output.summary, "stopped");
    }
}
