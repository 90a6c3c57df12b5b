//! `lsp_format`.

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::paths;
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangQuery};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::Said;
use super::edit;
use crate::typed::Typed;
use crate::{Services, blocking, location, writable};

/// Formats a file as the project's own formatter or language server does. Nothing is written: the user reviews it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
}

pub(super) struct LspFormat {
    services: Services,
}

impl LspFormat {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspFormat {
    type Input = Input;
    const NAME: &'static str = tool_names::LSP_FORMAT;
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let path = writable(&self.services, &input.path)?;
        let title = format!("Formatting {}", self.services.roots.display(&path));
        Ok(Description { title, locations: vec![location(&path, None)], action: Action::Edit { paths: vec![path] } })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let path = writable(&self.services, &input.path)?;
        let uri = paths::to_uri(&path);
        let asked = edit::asked(&self.services, &call, path).await?;
        let result = super::ask(&self.services, &LangQuery::Format { uri, lines: Vec::new() }, &call).await?;
        let said = Said::new(&result);
        match result.answer {
            LangAnswer::Edit { changes } if said.is_whole() => {
                let services = self.services.clone();
                blocking(move || match edit::changes_nothing(&services, &call, &changes)? {
                    true => {
                        let text = format!("It is formatted already.\n{}", said.words());
                        Ok(Output { text, summary: "formatted already".to_owned(), ..Output::default() })
                    }
                    false => edit::output(&services, &call, Some(&asked), &changes, &said, "Formatted"),
                })
                .await
            }
            _ => Ok(said.without_answer()),
        }
    }
}
