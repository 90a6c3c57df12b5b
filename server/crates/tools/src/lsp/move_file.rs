//! `lsp_move_file`.

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use project::paths;
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangChange, LangQuery, LangStatus};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::Said;
use super::edit;
use crate::typed::Typed;
use crate::{Services, blocking, location, writable};

/// Moves or renames a file or a folder, and changes the imports and paths that refer to it, as far as the language
/// server knows them. If no server can do that, only the file is moved, and you are told so. A folder moves file by
/// file, and stays behind empty. Nothing is written: the user reviews all of it as one proposal, and until then you
/// read the files as if it were accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file or folder, relative to the workspace or absolute.
    from: String,
    /// The new path, where no file may exist. If it is an existing folder, a folder's files are added to it.
    to: String,
}

pub(super) struct LspMoveFile {
    services: Services,
}

impl LspMoveFile {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspMoveFile {
    type Input = Input;
    const NAME: &'static str = "lsp_move_file";
    const KIND: ToolKind = ToolKind::Move;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let (from, to) = (writable(&self.services, &input.from)?, writable(&self.services, &input.to)?);
        let title = format!("Moving {} to {}", self.services.roots.display(&from), self.services.roots.display(&to));
        let locations = vec![location(&from, None), location(&to, None)];
        Ok(Description { title, locations, action: Action::Edit { paths: vec![from, to] } })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let (from, to) = (writable(&self.services, &input.from)?, writable(&self.services, &input.to)?);
        let (from, to) = (paths::to_uri(&from), paths::to_uri(&to));
        let query = LangQuery::MoveFile { from: from.clone(), to: to.clone() };
        let result = super::ask(&self.services, &query, &call).await?;
        let said = Said::new(&result);
        let (mut changes, words) = match (result.status, result.answer) {
            (LangStatus::Ready, LangAnswer::Edit { changes }) => (changes, ""),
            // Without a server that can do it, a move is still a move.
            (LangStatus::NoServer | LangStatus::Unsupported, _) => {
                (Vec::new(), ". Nothing else was changed: look for what names it")
            }
            _ => return Ok(said.without_answer()),
        };
        // The server edits the file where it was.
        changes.push(LangChange::Rename { from, to });
        let services = self.services.clone();
        blocking(move || edit::output(&services, &call, None, &changes, &said, &format!("Moved{words}"))).await
    }
}
