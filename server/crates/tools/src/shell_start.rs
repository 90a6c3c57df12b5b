//! `shell_start`.

use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::terminals::{Terminal, Until, execution, first_line, judged_folder, shown};
use crate::typed::Typed;
use crate::{Services, location};

/// How long a job has to show that it is up unless the call says otherwise, in seconds.
const WAIT: u64 = 5;

/// The longest that can be waited, in seconds.
const MOST: u64 = 120;

/// Starts a command line in the background, in a terminal of its own: for servers, watchers, and long commands while
/// you do something else. It waits a little until the command is up (a line that says so, a port that it listens on),
/// ends, or asks something, and gives the job's name and its output so far.
///
/// - It starts in the shell's folder, with the shell's exported variables and functions unless the shell is busy. What
///   it sets does not affect the shell.
/// - No `&`, `nohup` or the like: whatever the command leaves behind is ended with it.
/// - It runs across turns until it ends, until shell_kill, or until the session ends. At most 16 run at once. End those
///   that you no longer need.
/// - The user sees its terminal and may type into it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The command line, as for bash.
    command: String,
    /// The folder to run it in, in the workspace. Without it, the shell's folder.
    cwd: Option<String>,
    /// The maximum number of seconds to wait until it is up, 0 to 120. Without it, 5.
    wait_seconds: Option<u64>,
}

pub(crate) struct ShellStart {
    services: Services,
}

impl ShellStart {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }

    fn folder(&self, input: &Input) -> Result<Option<PathBuf>, ToolError> {
        Ok(input.cwd.as_deref().map(|cwd| self.services.roots.resolve(cwd)).transpose()?)
    }
}

#[async_trait]
impl Typed for ShellStart {
    type Input = Input;
    const NAME: &'static str = tool_names::SHELL_START;
    const KIND: ToolKind = ToolKind::Execute;
    const ACCESS: Access = Access::Background;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        wait(input)?;
        let folder = self.folder(input)?;
        let locations = folder.iter().map(|folder| location(folder, None)).collect();
        let action = execution(&input.command, folder.unwrap_or_else(|| self.services.shell.cwd()))?;
        Ok(Description { title: format!("Starting {}", first_line(&input.command)), locations, action })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let (services, folder, most) = (&self.services, judged_folder(&call)?, wait(&input)?);
        let started = services.jobs.start(&services.shell, &call.id, &input.command, Some(folder)).await;
        let terminal = Terminal::of(started.map_err(|error| ToolError::Failed(error.to_string()))?);
        terminal.wait(Until::Ready, most, &call.cancel).await;
        let since = terminal.unread(services);
        let printed = terminal.read(services, since).await?;
        let kept = terminal.kept(services, since, &printed).await?;
        let (name, state, summary) = (terminal.name(), terminal.state(), terminal.summary());
        let is_alive = terminal.job.as_ref().is_some_and(|job| job.is_alive());
        let mut text = format!("{}[{state}]{kept}", shown(&printed.text));
        if terminal.job.as_ref().is_some_and(|job| job.is_without()) {
            text.push_str(
                "\n[the session's shell could not be asked, since it is busy or the user has it, so this job began without the \
                 variables and functions set there]",
            );
        }
        if is_alive {
            text.push_str(&format!(
                "\n[shell_read with `terminal: \"{name}\"` gives what it prints from here on, shell_kill ends it]"
            ));
        }
        let is_error = !is_alive && summary != "exit code 0";
        Ok(Output { text, summary: format!("{name}: {summary}"), is_error, ..Output::default() })
    }
}

fn wait(input: &Input) -> Result<Duration, ToolError> {
    match input.wait_seconds.unwrap_or(WAIT) {
        seconds @ 0..=MOST => Ok(Duration::from_secs(seconds)),
        _ => Err(ToolError::InvalidInput(format!("`wait_seconds` goes from 0 to {MOST}"))),
    }
}

#[cfg(test)]
mod tests {
    use permission::Action;
    use serde_json::json;

    use super::*;
    use crate::fixture::{World, call};

    #[tokio::test]
    async fn a_server_is_given_back_as_soon_as_it_is_up() {
        let world = World::new(&[("index.html", "hello")]);
        let services = world.services();
        let began = std::time::Instant::now();
        let input = json!({ "command": "python3 -um http.server --bind 127.0.0.1 0", "wait_seconds": 60 });
        let output = call(&services, "shell_start", input).await.unwrap();
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(output.text.starts_with("Serving HTTP on 127.0.0.1 port"), "{}", output.text);
        assert!(output.text.contains("[job-1 runs; it said \u{201c}Serving HTTP on"), "{}", output.text);
        assert!(output.text.contains("; it listens on port "), "{}", output.text);
        assert_eq!((output.summary.as_str(), output.is_error), ("job-1: ready", false));
        services.jobs.end().await;
    }

    #[tokio::test]
    async fn a_job_that_ends_at_once_says_how() {
        let world = World::new(&[]);
        let services = world.services();
        let start = |command: &str| call(&services, "shell_start", json!({ "command": command, "wait_seconds": 60 }));
        let output = start("echo no such thing; sh -c 'exit 3'").await.unwrap();
        assert_eq!(output.text, "no such thing\n[job-1 ended with exit code 3]");
        assert_eq!((output.summary.as_str(), output.is_error), ("job-1: exit code 3", true));
        let output = start("true").await.unwrap();
        assert_eq!(output.text, "[no new output]\n[job-2 ended with exit code 0]");
        assert!(!output.is_error);
    }

    #[tokio::test]
    async fn a_job_begins_in_the_folder_that_it_was_judged_for() {
        let world = World::new(&[("src/a.txt", "")]);
        let services = world.services();
        let tool = ShellStart::new(&services);
        let input = || Input { command: "pwd".to_owned(), cwd: None, wait_seconds: Some(60) };
        let judged = Some(tool.describe(&input()).unwrap().action);
        services.shell.run(&"user".into(), "cd src", Default::default()).await.unwrap();
        let call = Call { judged, ..Call::unjudged("1".into(), Default::default()) };
        let text = tool.run(call, input()).await.unwrap().text;
        let folder = world.path("a").parent().unwrap().display().to_string();
        assert_eq!(text.lines().next(), Some(folder.as_str()), "{text}");
    }

    #[tokio::test]
    async fn permission_is_told_what_would_run_and_where() {
        let world = World::new(&[("src/a.txt", "")]);
        let tool = ShellStart::new(&world.services());
        let input = |cwd: Option<&str>, wait_seconds| Input {
            command: "npm run dev\n# really".to_owned(),
            cwd: cwd.map(str::to_owned),
            wait_seconds,
        };
        let described = tool.describe(&input(Some("src"), None)).unwrap();
        assert_eq!(described.title, "Starting npm run dev …");
        let Action::Execute { line, cwd, .. } = described.action else { panic!() };
        assert_eq!((line.as_str(), cwd), ("npm run dev\n# really", world.path("src")));
        assert!(tool.describe(&input(Some(".."), None)).unwrap_err().to_string().contains("outside the workspace"));
        let error = tool.describe(&input(None, Some(121))).unwrap_err();
        assert_eq!(error.to_string(), "invalid input: `wait_seconds` goes from 0 to 120");
    }
}
