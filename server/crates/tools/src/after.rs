//! A tool of whose results something more is made.

use std::sync::Arc;

use agent::model::ToolSpec;
use agent::partial::PartialInput;
use agent::tool::{Access, Call, Description, DiffPart, MayLook, Output, Tool, ToolError};
use async_trait::async_trait;
use protocol::content::ToolKind;
use serde_json::Value;

use crate::blocking;

/// The same tool, whose results `then` is given. It may block.
pub(crate) fn after(tool: Arc<dyn Tool>, then: impl Fn(&mut Output) + Send + Sync + 'static) -> Arc<dyn Tool> {
    Arc::new(After { tool, then: Arc::new(then) })
}

struct After {
    tool: Arc<dyn Tool>,
    then: Arc<dyn Fn(&mut Output) + Send + Sync>,
}

#[async_trait]
impl Tool for After {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    fn kind(&self) -> ToolKind {
        self.tool.kind()
    }

    fn access(&self) -> Access {
        self.tool.access()
    }

    async fn describe(&self, input: &Value) -> Result<Description, ToolError> {
        self.tool.describe(input).await
    }

    fn preview<'a>(&self, input: &'a PartialInput) -> Vec<DiffPart<'a>> {
        self.tool.preview(input)
    }

    fn places(&self, input: &PartialInput) -> usize {
        self.tool.places(input)
    }

    async fn foresee(&self, call: Call, input: PartialInput, may_look: Arc<MayLook>) -> Result<(), ToolError> {
        self.tool.foresee(call, input, may_look).await
    }

    async fn run(&self, call: Call, input: Value) -> Result<Output, ToolError> {
        let mut output = self.tool.run(call, input).await?;
        let then = Arc::clone(&self.then);
        blocking(move || {
            then(&mut output);
            Ok(output)
        })
        .await
    }
}
