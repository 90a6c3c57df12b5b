//! `lsp_rename`.

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use protocol::lang::{LangAnswer, LangQuery};

use super::answer::Said;
use super::edit;
use super::target::{Aim, Targeted, targeted};
use crate::typed::Typed;
use crate::{Services, blocking, location};

targeted! {
    /// Renames a symbol everywhere in the workspace, as the language server knows its uses: in all files, through
    /// imports, and not what is only called the same. One call instead of many edits. Nothing is written: the user
    /// reviews all of it as one proposal, and until then you read the files as if it were accepted.
    Input {
        /// The new name.
        new_name: String,
    }
}

pub(super) struct LspRename {
    services: Services,
}

impl LspRename {
    pub(super) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for LspRename {
    type Input = Input;
    const NAME: &'static str = "lsp_rename";
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        if input.new_name.trim().is_empty() {
            return Err(ToolError::InvalidInput("`new_name` is empty".to_owned()));
        }
        let target = input.target();
        let path = target.check(&self.services)?;
        let title = format!("Renaming {} to {}", target.words(&self.services), input.new_name);
        let locations = path.iter().map(|path| location(path, None)).collect();
        // Which files are changed is known only when the server was asked; permission then judges the plan.
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let at = input.target().find(&self.services, &call, Aim::Change).await?;
        let new_name = input.new_name.trim().to_owned();
        let what = format!("Renamed `{}` of {} to `{new_name}`", at.name, at.place(&self.services));
        let query = LangQuery::Rename { uri: at.uri, position: at.position, new_name };
        let result = super::ask(&self.services, &query, &call).await?;
        let said = Said::new(&result);
        match result.answer {
            // A part of a rename would break what it leaves out.
            LangAnswer::Edit { changes } if said.is_whole() && !changes.is_empty() => {
                let services = self.services.clone();
                blocking(move || edit::output(&services, &call, Some(&at.text), &changes, &said, &what)).await
            }
            LangAnswer::Edit { changes } if said.is_whole() && changes.is_empty() => {
                Err(ToolError::Failed(format!("the language server would change nothing there {}", said.words())))
            }
            _ => Ok(said.without_answer()),
        }
    }
}
