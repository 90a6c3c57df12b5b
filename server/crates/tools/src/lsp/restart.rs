//! `lsp_restart`.

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;
use crate::{Services, counted};

/// Restarts Azimuth's own language servers with the next question, and reads their configuration files again. The
/// editor's servers are left alone. Useful if one has crashed, or gives impossible answers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The server, by the name that `lsp_status` gives; `all` for every one.
    server: String,
}

pub(super) struct LspRestart {
    services: Services,
}

impl LspRestart {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspRestart {
    type Input = Input;
    const NAME: &'static str = tool_names::LSP_RESTART;
    const KIND: ToolKind = ToolKind::Execute;
    // It ends processes: alone, and in no mode that only looks.
    const ACCESS: Access = Access::Background;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let title = match name(input) {
            Some(name) => format!("Starting {name} anew"),
            None => "Starting the language servers anew".to_owned(),
        };
        // No more is started than any question starts in a workspace that is trusted.
        Ok(Description { title, locations: Vec::new(), action: Action::Read })
    }

    async fn run(&self, _: Call, input: Input) -> Result<Output, ToolError> {
        let ended = self.services.lang.restart(name(&input)).await;
        let own = self.services.lang.own_servers().await;
        let done = match (ended, name(&input)) {
            (0, Some(name)) => {
                format!("No server `{name}` of Azimuth's own was running; the configuration was read anew.")
            }
            (0, None) => "No server of Azimuth's own was running; the configuration was read anew.".to_owned(),
            (ended, _) => {
                format!(
                    "{} ended; the next question starts it anew. The configuration was read anew.",
                    counted(ended, "server")
                )
            }
        };
        let text = format!("{done}\n{}", super::status::in_words(&self.services, &own)).trim_end().to_owned();
        Ok(Output { text, summary: format!("{} ended", counted(ended, "server")), ..Output::default() })
    }
}

/// The name of the server that is meant; none for all.
fn name(input: &Input) -> Option<&str> {
    Some(&*input.server).filter(|name| *name != "all")
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use lang::{Lang, Source};
    use protocol::lang::{LangQuery, LangResult, LangStatus};
    use serde_json::json;

    use super::*;
    use crate::fixture::{World, call};

    /// Notes what is to be started anew.
    #[derive(Default)]
    struct Notes(Mutex<Vec<Option<String>>>);

    #[async_trait]
    impl Source for Notes {
        async fn ask(&self, _: &LangQuery, _: Duration) -> LangResult {
            LangResult::without_answer(LangStatus::NoServer, None)
        }

        async fn restart(&self, name: Option<&str>) -> usize {
            self.0.lock().unwrap().push(name.map(str::to_owned));
            usize::from(name != Some("gone"))
        }
    }

    #[tokio::test]
    async fn one_or_all_servers_are_ended_and_it_is_said() {
        let world = World::new(&[]);
        let notes = Arc::new(Notes::default());
        let services = Services { lang: Lang::new(vec![notes.clone()]), ..world.services() };
        let mut said = Vec::new();
        for server in ["pyright", "all", "gone"] {
            said.push(call(&services, LspRestart::NAME, json!({ "server": server })).await.unwrap().text);
        }
        assert!(said[0].starts_with("1 server ended;") && said[1].starts_with("1 server ended;"), "{said:?}");
        assert!(said[2].starts_with("No server `gone`"), "{said:?}");
        let asked: Vec<_> = notes.0.lock().unwrap().clone();
        assert_eq!(asked, [Some("pyright".to_owned()), None, Some("gone".to_owned())]);
        assert!(LspRestart::ACCESS == Access::Background, "the modes that only look do not end processes");
    }
}
