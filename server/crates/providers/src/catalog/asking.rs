//! Asking a provider on purpose, to find out whether it can be used.

use std::time::Duration;

use futures_util::StreamExt;
use ports::model::{Before, Message, ModelError, ModelErrorKind, ModelEvent, Request, UserBlock};
use protocol::model::ThinkingLevel;

use super::listing::{Unlisted, ask_now};
use super::{Catalog, CatalogError};
use crate::failure::{error, late};

/// The longest answer to a request that only tries a model, in tokens. Some vendors refuse less than 16.
const TOKENS: u64 = 64;
/// How long such an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A model that was tried and cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Untried {
    /// There is no such model.
    #[error(transparent)]
    Unknown(#[from] CatalogError),
    /// It does not answer.
    #[error("{}", .0.message)]
    Failed(ModelError),
}

impl Catalog {
    /// The ids of the models that a provider lists now, whatever else is known of it; none if it is not among the
    /// providers.
    ///
    /// # Errors
    /// It does not list them; says why.
    pub async fn ask_for_list(&self, provider: &str) -> Result<Vec<String>, Unlisted> {
        let state = self.state();
        let Some(source) = state.sources().find(|source| source.provider().name == provider) else {
            return Ok(Vec::new());
        };
        let listed = ask_now(source.provider(), &state.http).await?;
        Ok(listed.into_iter().map(|model| model.id).collect())
    }

    /// Asks a model for a word, which costs a few tokens.
    ///
    /// # Errors
    /// There is no such model, or it does not answer; says what to do.
    pub async fn try_model(&self, name: &str) -> Result<(), Untried> {
        let model = self.resolve(name).await?;
        let request = Request {
            system: "Answer with one word.".into(),
            tools: [].into(),
            messages: vec![Message::User(vec![UserBlock::Text("Say ok.".to_owned())]).into()],
            max_output_tokens: TOKENS,
            thinking: Some(ThinkingLevel::Off),
            before: Before::default(),
            cache_key: "check".to_owned(),
            cache_hour: false,
        };
        let answered = async {
            let mut stream = model.stream(request).await?;
            while let Some(event) = stream.next().await {
                if matches!(event?, ModelEvent::Finished(_)) {
                    return Ok(());
                }
            }
            Err(error(ModelErrorKind::Incomplete, "the answer broke off"))
        };
        let answered = tokio::time::timeout(PATIENCE, answered).await;
        answered.unwrap_or_else(|_| Err(late(name, PATIENCE))).map_err(Untried::Failed)
    }
}
