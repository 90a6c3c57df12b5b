//! `shell_list`.

use std::fmt::Write;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::terminals::{Terminal, first_line};
use crate::typed::Typed;
use crate::{Services, counted};

/// Lists the shell and the jobs of this session, with the command in each, and its status: up, or how it ended.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

pub(crate) struct ShellList {
    services: Services,
}

impl ShellList {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for ShellList {
    type Input = Input;
    const NAME: &'static str = "shell_list";
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, _: &Input) -> Result<Description, ToolError> {
        Ok(Description { title: "Listing terminals".to_owned(), locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, _: Call, _: Input) -> Result<Output, ToolError> {
        let services = &self.services;
        let cwd = |path: &std::path::Path| services.roots.display(path);
        let shell = Terminal::find(services, "shell")?;
        let mut text = format!("shell: {}, in {}\n", shell.state(), cwd(&services.shell.cwd()));
        let mut live = 0;
        for job in services.jobs.all() {
            live += usize::from(job.is_alive());
            let (command, folder) = (first_line(job.command()), cwd(job.cwd()));
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}: `{command}` in {folder}", Terminal::of(job).state());
        }
        Ok(Output { text, summary: format!("{} running", counted(live, "job")), ..Output::default() })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn all_that_runs_and_ran_is_listed() {
        let world = World::new(&[("web/a.txt", "")]);
        let services = world.services();
        let start = |input| call(&services, "shell_start", input);
        start(json!({ "command": "sh -c 'exit 2'", "wait_seconds": 60 })).await.unwrap();
        start(json!({ "command": "cat", "cwd": "web", "wait_seconds": 0 })).await.unwrap();
        let output = call(&services, "shell_list", json!({})).await.unwrap();
        let lines: Vec<_> = output.text.lines().collect();
        assert!(lines[0].starts_with("shell: nothing runs in the shell, in "), "{}", lines[0]);
        assert!(lines[1].starts_with("job-1 ended with exit code 2: `sh -c 'exit 2'` in "), "{}", lines[1]);
        assert_eq!(lines[2], "job-2 runs: `cat` in web");
        assert_eq!(output.summary, "1 job running");
        services.jobs.end().await;
    }
}
