//! `shell_read`.

use std::time::Duration;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Services;
use crate::terminals::{Terminal, Until, last_lines, shown};
use crate::typed::Typed;

/// The longest that can be waited, in seconds.
const MOST: u64 = 300;

/// Reads what a job, or a command that still runs in the shell, has printed since you last read it, and gives its
/// status: running, waiting for input, or ended with an exit code. Long output is cut in the middle, and expand_output
/// reads the rest.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The terminal: a job's name such as `job-1`, or `shell`.
    terminal: String,
    /// Read from this offset instead, as given by an earlier result; 0 is the beginning.
    since: Option<u64>,
    /// The maximum number of seconds to wait until something new is printed, it ends or asks something, 0 to 300.
    /// Without it, there is no wait.
    wait_seconds: Option<u64>,
    /// Only this many of the last lines.
    tail: Option<usize>,
}

pub(crate) struct ShellRead {
    services: Services,
}

impl ShellRead {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for ShellRead {
    type Input = Input;
    const NAME: &'static str = "shell_read";
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        if input.wait_seconds.is_some_and(|seconds| seconds > MOST) {
            return Err(ToolError::InvalidInput(format!("`wait_seconds` goes from 0 to {MOST}")));
        }
        if input.tail == Some(0) {
            return Err(ToolError::InvalidInput("`tail` is at least 1".to_owned()));
        }
        let title = format!("Reading what {} prints", input.terminal);
        Ok(Description { title, locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = &self.services;
        let terminal = Terminal::find(services, &input.terminal)?;
        let since = input.since.unwrap_or_else(|| terminal.unread(services));
        if let Some(seconds) = input.wait_seconds {
            terminal.wait(Until::Printed(since), Duration::from_secs(seconds), &call.cancel).await;
        }
        // Before what it printed is read, so that no end is told without the words that came before it.
        let (state, summary) = (terminal.state(), terminal.summary());
        let printed = terminal.read(services, since).await?;
        let text = match input.tail {
            Some(count) => format!("{}[{state}; next offset {}]", shown(last_lines(&printed.text, count)), printed.end),
            None => {
                let kept = terminal.kept(services, since, &printed).await?;
                let missing = match printed.missing {
                    0 => String::new(),
                    missing => format!("[{missing} bytes before are no longer kept]\n"),
                };
                let text = shown(&printed.text);
                format!("{missing}{text}[{state}; next offset {}]{kept}", printed.end)
            }
        };
        Ok(Output { text, summary, ..Output::default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn each_reading_gives_what_is_new_and_an_offset_gives_it_again() {
        let world = World::new(&[]);
        let services = world.services();
        let text = |tool: &'static str, input: Value| {
            let services = services.clone();
            async move { call(&services, tool, input).await.unwrap().text }
        };
        let command = "echo one; read -r x; echo two $x; read -r x; exit 4";
        let started = text("shell_start", json!({ "command": command, "wait_seconds": 1 })).await;
        assert!(started.starts_with("one\n[job-1 runs"), "{started}");
        let nothing = text("shell_read", json!({ "terminal": "job-1" })).await;
        assert!(nothing.starts_with("[no new output]\n[job-1 runs") && nothing.contains("; next offset "), "{nothing}");
        let written = text("shell_write", json!({ "terminal": "job-1", "text": "x" })).await;
        assert!(written.starts_with("x\ntwo x\n[job-1 runs"), "{written}");
        services.jobs.get(&"job-1".into()).unwrap().shell().write(b"\n").unwrap();
        // A reading ends with the first new output, and the end may come after it.
        let mut last = String::new();
        while !last.contains("ended") {
            last = text("shell_read", json!({ "terminal": "job-1", "wait_seconds": 60 })).await;
        }
        assert!(last.contains("[job-1 ended with exit code 4; next offset"), "{last}");
        let again = text("shell_read", json!({ "terminal": "job-1", "since": 0 })).await;
        assert!(again.starts_with("one\nx\ntwo x\n"), "{again}");
        let tail = text("shell_read", json!({ "terminal": "job-1", "since": 0, "tail": 2 })).await;
        assert!(!tail.contains("one"), "{tail}");
    }

    #[tokio::test]
    async fn a_long_output_is_shown_by_its_ends_and_kept_by_a_handle() {
        let world = World::new(&[]);
        let services = world.services();
        let input = json!({ "command": "seq 100000", "wait_seconds": 60 });
        let started = call(&services, "shell_start", input).await.unwrap().text;
        assert!(started.starts_with("1\n2\n3\n") && started.contains("\n100000\n[job-1 ended with exit code 0]"));
        let (_, rest) = started.split_once("reads it by the handle `").unwrap();
        let input = json!({ "handle": rest.split_once('`').unwrap().0, "start_line": 50_000, "end_line": 50_000 });
        let text = call(&services, "expand_output", input).await.unwrap().text;
        assert!(text.contains("50000\n[50000 lines more]"), "{text}");
    }

    #[tokio::test]
    async fn what_is_no_terminal_is_said_with_those_that_there_are() {
        let world = World::new(&[]);
        let services = world.services();
        call(&services, "shell_start", json!({ "command": "true" })).await.unwrap();
        for tool in ["shell_read", "shell_kill"] {
            let error = call(&services, tool, json!({ "terminal": "job-9" })).await.unwrap_err().to_string();
            assert_eq!(error, "there is no terminal `job-9`; there are: shell, job-1");
        }
        let idle = call(&services, "shell_read", json!({ "terminal": "shell" })).await.unwrap().text;
        assert_eq!(idle, "[no new output]\n[nothing runs in the shell; next offset 0]");
    }
}
