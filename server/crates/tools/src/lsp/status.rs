//! `lsp_status`.

use std::fmt::Write;

use async_trait::async_trait;
use lang::OwnServers;
use lang::pool::{ServerState, ServerStatus};
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::paths;
use protocol::content::ToolKind;
use protocol::lang::LangQuery;
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::Said;
use crate::typed::Typed;
use crate::{Services, location};

/// Lists the language servers that answer for a file, or for the workspace, with their status: those of the editor, and
/// Azimuth's own, which `lsp_restart` restarts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file, relative to the workspace or absolute; all servers without it.
    path: Option<String>,
}

pub(super) struct LspStatus {
    services: Services,
}

impl LspStatus {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspStatus {
    type Input = Input;
    const NAME: &'static str = tool_names::LSP_STATUS;
    const KIND: ToolKind = ToolKind::Search;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let path = input.path.as_ref().map(|path| self.services.roots.resolve(path)).transpose()?;
        let locations = path.iter().map(|path| location(path, None)).collect();
        Ok(Description { title: "Looking at the language servers".to_owned(), locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let path = input.path.as_ref().map(|path| self.services.roots.resolve(path)).transpose()?;
        let query = LangQuery::Servers { uri: path.as_deref().map(paths::to_uri) };
        let said = Said::new(&super::ask(&self.services, &query, &call).await?);
        let own = self.services.lang.own_servers().await;
        let text = format!("{}\n{}", said.words(), in_words(&self.services, &own));
        Ok(Output { text: text.trim_end().to_owned(), summary: "looked".to_owned(), ..Output::default() })
    }
}

/// Azimuth's own servers, a line for each, and what is wrong with the files that configure them.
pub(super) fn in_words(services: &Services, own: &OwnServers) -> String {
    let mut text = String::new();
    if !own.servers.is_empty() {
        text.push_str("Azimuth's own servers:\n");
    }
    for server in &own.servers {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}", line(services, server));
    }
    for problem in &own.problems {
        let _ = writeln!(text, "[{problem}]");
    }
    text
}

/// A server as `pyright 1.1.400 in backend: ready, process 4711, 210 MiB, /usr/bin/pyright-langserver`.
fn line(services: &Services, server: &ServerStatus) -> String {
    let state = match server.state {
        ServerState::NotStarted => "not started yet",
        ServerState::NotAllowed => "not allowed to start",
        ServerState::Missing => "missing",
        ServerState::Starting => "starting",
        ServerState::Indexing => "reading the project",
        ServerState::Ready => "ready",
        ServerState::Crashed => "crashed",
        ServerState::Stopped => "stopped",
    };
    let version = server.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let mut words = format!("{}{version} in {}: {state}", server.name, services.roots.display(&server.root));
    let more = [
        server.why.clone(),
        server.pid.map(|pid| format!("process {pid}")),
        server.memory.map(|memory| format!("{} MiB", memory >> 20)),
        server.program.as_ref().map(|program| program.display().to_string()),
    ];
    more.into_iter().flatten().for_each(|more| words.push_str(&format!(", {more}")));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::World;

    #[test]
    fn a_server_is_told_with_its_state_why_version_process_and_memory() {
        let world = World::new(&[]);
        let server = ServerStatus {
            name: "pyright".into(),
            version: Some("1.1.400".into()),
            root: world.path("backend"),
            state: ServerState::Crashed,
            program: Some("/bin/pyright".into()),
            pid: Some(7),
            memory: Some(210 << 20),
            why: Some("it took too much".into()),
            install: None,
        };
        let own = OwnServers { servers: vec![server], problems: vec!["lsp.json: it is wrong".into()] };
        let line = "pyright 1.1.400 in backend: crashed, it took too much, process 7, 210 MiB, /bin/pyright";
        let expected = format!("Azimuth's own servers:\n{line}\n[lsp.json: it is wrong]\n");
        assert_eq!(in_words(&world.services(), &own), expected);
    }
}
