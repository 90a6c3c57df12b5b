//! `lsp_status`.

use agent::permission::Action;
use agent::tool::{Access, Call, Description, Output, ToolError};
use async_trait::async_trait;
use protocol::content::ToolKind;
use protocol::lang::LangQuery;
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::paths;

use super::answer::Said;
use crate::typed::Typed;
use crate::{Services, location};

/// Says which language servers answer for a file, or for the workspace, and whether they are ready.
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
    const NAME: &'static str = "lsp_status";
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
        Ok(Output { text: said.words(), summary: "looked".to_owned(), ..Output::default() })
    }
}
