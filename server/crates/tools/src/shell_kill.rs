//! `shell_kill`.

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use protocol::terminal::TerminalSignal;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::terminals::{Terminal, Until, shown};
use crate::typed::Typed;

/// How long a signal may take to have its effect.
const WAIT: std::time::Duration = std::time::Duration::from_secs(2);

/// Ends a job, or the command that still runs in the shell, with everything that it has started: it is asked first and
/// forced after two seconds. Or sends it a signal.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The terminal: a job's name such as `job-1`, or `shell`.
    terminal: String,
    /// A signal to send instead of ending it.
    signal: Option<Signal>,
}

/// A signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Signal {
    Interrupt,
    Quit,
    Hangup,
    Terminate,
    Stop,
    Continue,
    Kill,
}

impl From<Signal> for TerminalSignal {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Self::Interrupt,
            Signal::Quit => Self::Quit,
            Signal::Hangup => Self::Hangup,
            Signal::Terminate => Self::Terminate,
            Signal::Stop => Self::Stop,
            Signal::Continue => Self::Continue,
            Signal::Kill => Self::Kill,
        }
    }
}

pub(crate) struct ShellKill {
    services: Services,
}

impl ShellKill {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for ShellKill {
    type Input = Input;
    const NAME: &'static str = "shell_kill";
    const KIND: ToolKind = ToolKind::Execute;
    const ACCESS: Access = Access::Background;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        Terminal::find(&self.services, &input.terminal)?;
        let title = match input.signal {
            Some(_) => format!("Sending a signal to {}", input.terminal),
            None => format!("Ending {}", input.terminal),
        };
        // A command that was allowed to run may be ended.
        Ok(Description { title, locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = &self.services;
        let terminal = Terminal::find(services, &input.terminal)?;
        if terminal.command().is_none() {
            return Ok(Output {
                text: format!("[{}]", terminal.state()),
                summary: terminal.summary(),
                ..Output::default()
            });
        }
        let (since, before) = (terminal.unread(services), terminal.shell.spool().end());
        match (input.signal, &terminal.job) {
            (Some(signal), _) => {
                let sending = terminal.shell.signal_as_model(signal.into());
                sending.map_err(|error| ToolError::Failed(error.to_string()))?.await;
                terminal.wait(Until::Printed(before), WAIT, &call.cancel).await;
            }
            (None, Some(job)) => job.kill_as_model().map_err(|error| ToolError::Failed(error.to_string()))?.await,
            (None, None) => {
                let killing = terminal.shell.kill_as_model();
                killing.map_err(|error| ToolError::Failed(error.to_string()))?.await;
            }
        }
        let (state, summary) = (terminal.state(), terminal.summary());
        let printed = terminal.read(services, since).await?;
        let kept = terminal.kept(services, since, &printed).await?;
        let text = format!("{}[{state}]{kept}", shown(&printed.text));
        Ok(Output { text, summary, ..Output::default() })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::Services;
    use crate::fixture::{World, call};

    /// Before that it may not have set its traps.
    async fn until_up(services: &Services) {
        let read = || call(services, "shell_read", json!({ "terminal": "job-1", "since": 0 }));
        let is_up = async {
            while !read().await.unwrap().text.contains("up") {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), is_up).await.unwrap();
    }

    #[tokio::test]
    async fn a_job_is_ended_with_its_last_words_and_to_end_it_again_is_harmless() {
        let world = World::new(&[]);
        let services = world.services();
        let command = "trap 'echo goodbye; exit 0' INT; echo up; while :; do sleep 0.05; done";
        call(&services, "shell_start", json!({ "command": command, "wait_seconds": 0 })).await.unwrap();
        until_up(&services).await;
        let signal = json!({ "terminal": "job-1", "signal": "hangup" });
        let output = call(&services, "shell_kill", json!({ "terminal": "job-1" })).await.unwrap();
        assert!(output.text.contains("goodbye\n[job-1 was stopped]"), "{}", output.text);
        for input in [json!({ "terminal": "job-1" }), signal] {
            let output = call(&services, "shell_kill", input).await.unwrap();
            assert_eq!(output.text, "[job-1 was stopped]");
        }
    }

    #[tokio::test]
    async fn a_signal_is_only_sent() {
        let world = World::new(&[]);
        let services = world.services();
        let command = "trap 'echo again' HUP; echo up; while :; do sleep 0.05; done";
        call(&services, "shell_start", json!({ "command": command, "wait_seconds": 0 })).await.unwrap();
        until_up(&services).await;
        let input = json!({ "terminal": "job-1", "signal": "hangup" });
        let output = call(&services, "shell_kill", input).await.unwrap();
        assert_eq!((output.text.as_str(), output.summary.as_str()), ("again\n[job-1 runs]", "runs"));
        services.jobs.end().await;
    }
}
