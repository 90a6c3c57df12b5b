//! Tools that are one kind of edit each, and what they have in common.

use std::marker::PhantomData;

use agent::permission::Action;
use agent::tool::{Access, Call, Description, Output, ToolError};
use async_trait::async_trait;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::draft::Draft;
use crate::typed::Typed;
use crate::{Services, blocking, location, writable};

/// One edit, as the model asks for it.
pub(crate) trait OneEdit: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    /// The tool's name.
    const NAME: &'static str;
    /// What it does, for people, such as `Editing`.
    const VERB: &'static str;

    /// The files it is about, of which there is at least one, as the model names them.
    fn paths(&self) -> Vec<&str>;

    /// Whether it can be meant at all.
    fn check(&self) -> Result<(), ToolError> {
        Ok(())
    }

    /// What this one does, for people, before the file's name.
    fn doing(&self) -> String {
        Self::VERB.to_owned()
    }

    /// Makes the edit in a draft. Gives what it comes to, for the model.
    fn make(&self, draft: &mut Draft<'_>, services: &Services) -> Result<String, ToolError>;
}

/// The tool for one kind of edit.
pub(crate) struct Editing<E> {
    services: Services,
    kind: PhantomData<fn() -> E>,
}

impl<E> Editing<E> {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone(), kind: PhantomData }
    }
}

#[async_trait]
impl<E: OneEdit> Typed for Editing<E> {
    type Input = E;
    const NAME: &'static str = E::NAME;
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &E) -> Result<Description, ToolError> {
        input.check()?;
        let mut paths = Vec::new();
        for path in input.paths() {
            let path = writable(&self.services, path)?;
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        let first = paths.first().map(|path| self.services.roots.display(path)).unwrap_or_default();
        let more = match paths.len() {
            0 | 1 => String::new(),
            2 => " and another file".to_owned(),
            several => format!(" and {} other files", several - 1),
        };
        let title = format!("{} {first}{more}", input.doing());
        let locations = paths.iter().map(|path| location(path, None)).collect();
        Ok(Description { title, locations, action: Action::Edit { paths } })
    }

    async fn run(&self, call: Call, input: E) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let mut draft = Draft::new(&services, &call);
            let text = input.make(&mut draft, &services)?;
            draft.output(text)
        })
        .await
    }
}
