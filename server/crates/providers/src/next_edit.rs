//! Models that say how the text around the cursor goes on to change, behind the port [`EditNext`].
//!
//! Reading order: [`resolve`] (a name to a model), `parts` (a request taken apart, and the new text of its window), the
//! dialects (`sweep`, `zeta`, `zeta2`, `mercury`, `instinct`, and `words` for a model to chat with), pure functions of
//! texts, with `diff` for the user's last edits, and `remote` and `chat` (the models). A dialect's marks are those that
//! its models were trained with; the words around them are ours.

mod chat;
mod diff;
mod instinct;
mod mercury;
mod parts;
mod remote;
mod sweep;
mod words;
mod zeta;
mod zeta2;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use ports::complete::{EditNext, NextEdit, Window};
use ports::model::Model;

use self::chat::ChatEdit;
use self::parts::Parts;
use self::remote::RemoteEdit;
use crate::catalog::{Catalog, CatalogError};
use crate::failure::Fault;
use crate::fill::family::letters;
use crate::fill::{FillWire, allowed, is_local, known_wire, provider_of};
use crate::keys;
use crate::settings::{Provider, Settings};

/// The language in which a model is asked for the next edit, and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditDialect {
    /// Sweep's: `sweep`.
    Sweep,
    /// Zed's first: `zeta`.
    Zeta,
    /// Zed's second: `zeta2`.
    Zeta2,
    /// Inception's: `mercury`.
    Mercury,
    /// Continue's: `instinct`.
    Instinct,
    /// Words, for a model to chat with: `chat`.
    Chat,
}

/// The prompt of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Prompt {
    /// A text to go on with.
    Text(String),
    /// A message, with a system prompt before it if there is one.
    Message { system: Option<&'static str>, user: String },
}

impl EditDialect {
    /// Every dialect by its name in the configuration.
    pub const NAMES: [(&str, Self); 6] = [
        ("sweep", Self::Sweep),
        ("zeta", Self::Zeta),
        ("zeta2", Self::Zeta2),
        ("mercury", Self::Mercury),
        ("instinct", Self::Instinct),
        ("chat", Self::Chat),
    ];

    /// The dialect with this name in the configuration.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, dialect)| *dialect)
    }

    /// The lines of a window that its models were trained on.
    pub fn window(self) -> Window {
        let (before, after) = match self {
            Self::Sweep | Self::Chat => (10, 10),
            Self::Zeta | Self::Zeta2 => (15, 15),
            Self::Mercury => (5, 10),
            Self::Instinct => (1, 5),
        };
        Window { before, after }
    }

    /// The prompt for a request.
    fn prompt(self, request: &NextEdit, parts: &Parts<'_>) -> Prompt {
        let message = |system, user| Prompt::Message { system, user };
        match self {
            Self::Sweep => Prompt::Text(sweep::prompt(request, parts)),
            Self::Zeta => Prompt::Text(zeta::prompt(request, parts)),
            Self::Zeta2 => Prompt::Text(zeta2::prompt(request, parts)),
            Self::Mercury => message(None, mercury::prompt(request, parts)),
            Self::Instinct => message(Some(instinct::SYSTEM), instinct::prompt(request, parts)),
            Self::Chat => message(Some(words::SYSTEM), words::prompt(request, parts)),
        }
    }

    /// The new text of the window in an answer; none if the model would change nothing.
    fn parse_answer(self, answer: &str, parts: &Parts<'_>) -> Result<Option<String>, Fault> {
        match self {
            Self::Sweep => sweep::parse(answer, parts),
            Self::Zeta => zeta::parse(answer, parts),
            Self::Zeta2 => zeta2::parse(answer, parts),
            Self::Mercury => mercury::parse(answer, parts),
            Self::Instinct => instinct::parse(answer, parts),
            Self::Chat => words::parse(answer, parts),
        }
    }

    /// The texts at which an answer ends.
    fn stops(self) -> &'static [&'static str] {
        match self {
            Self::Sweep => sweep::STOPS,
            Self::Zeta => zeta::STOPS,
            Self::Zeta2 => zeta2::STOPS,
            Self::Mercury | Self::Instinct | Self::Chat => &[],
        }
    }

    /// The marks that may stand in no text that is sent.
    fn marks(self) -> &'static [&'static str] {
        match self {
            Self::Sweep => sweep::MARKS,
            Self::Zeta => zeta::MARKS,
            Self::Zeta2 => zeta2::MARKS,
            Self::Mercury => mercury::MARKS,
            Self::Instinct => instinct::MARKS,
            Self::Chat => words::MARKS,
        }
    }
}

/// The model that edits next under this name, which is `provider/model`. The dialect follows from both; a model that
/// learned none is asked in words.
///
/// # Errors
/// There is no such model, its provider cannot be asked, or its dialect is not known here.
pub async fn resolve(settings: &Settings, catalog: &Catalog, name: &str) -> Result<Arc<dyn EditNext>, CatalogError> {
    find(settings, catalog, name, None).await.map(|model| masked(catalog, model))
}

/// The same in this dialect.
///
/// # Errors
/// There is no such model, or its provider cannot be asked.
pub async fn resolve_with(
    settings: &Settings,
    catalog: &Catalog,
    name: &str,
    dialect: EditDialect,
) -> Result<Arc<dyn EditNext>, CatalogError> {
    find(settings, catalog, name, Some(dialect)).await.map(|model| masked(catalog, model))
}

/// The model without a view of secrets.
fn masked(catalog: &Catalog, model: Arc<dyn EditNext>) -> Arc<dyn EditNext> {
    match catalog.masks() {
        Some(masks) => mask::edit_next(model, masks),
        None => model,
    }
}

async fn find(
    settings: &Settings,
    catalog: &Catalog,
    name: &str,
    dialect: Option<EditDialect>,
) -> Result<Arc<dyn EditNext>, CatalogError> {
    let name = name.trim();
    if let Some(model) = catalog.added_edit(name) {
        return Ok(model);
    }
    let Some((provider, model)) = provider_of(settings, name)? else {
        // A name without its provider is one of the catalog's.
        let model = catalog.resolve_aside(name).await?;
        let id = model.info().id.clone();
        return match provider_of(settings, &id)? {
            Some((provider, own)) => made(settings, catalog, (provider, own), dialect, Some(Arc::clone(&model))).await,
            None => Ok(Arc::new(ChatEdit::new(model, false))),
        };
    };
    made(settings, catalog, (provider, model), dialect, None).await
}

async fn made(
    settings: &Settings,
    catalog: &Catalog,
    (provider, model): (&Provider, &str),
    dialect: Option<EditDialect>,
    chat: Option<Arc<dyn Model>>,
) -> Result<Arc<dyn EditNext>, CatalogError> {
    let name = format!("{}/{model}", provider.name);
    let dialect = match dialect {
        Some(dialect) => dialect,
        None => chosen(provider, model).map_err(|problem| {
            let name = keys::left_out(&name).into_owned();
            CatalogError::Unfit { name, problem }
        })?,
    };
    if dialect != EditDialect::Chat {
        allowed(&name, settings.rules().model(&name))?;
        return Ok(Arc::new(RemoteEdit::new(provider, model, dialect, catalog.http())));
    }
    let model = match chat {
        Some(model) => model,
        None => catalog.resolve_aside(&name).await?,
    };
    // The name may have been an alias, and these settings may rule out more than the catalog's.
    allowed(&name, settings.rules_out(model.info()))?;
    Ok(Arc::new(ChatEdit::new(model, is_local(provider))))
}

/// The dialect that a model learned, by its name.
fn chosen(provider: &Provider, model: &str) -> Result<EditDialect, String> {
    let (lower, plain) = (model.to_lowercase(), letters(model));
    let has = |part: &str| plain.contains(part);
    // Those after the second mark regions of a file, or of several, in ways of their own.
    let is_later = ["zeta-2.", "zeta2.", "zeta_2.", "zeta-3", "zeta3"].iter().any(|part| lower.contains(part));
    if is_later {
        return Err("the dialect of this model is not known; Azimuth knows those of zeta and zeta-2".to_owned());
    }
    let is_mercury = has("mercuryedit") || has("mercurycoder") && known_wire(provider) == Some(FillWire::Inception);
    Ok(if has("sweepnextedit") {
        EditDialect::Sweep
    } else if has("zeta2") {
        EditDialect::Zeta2
    } else if has("zeta") {
        EditDialect::Zeta
    } else if has("instinct") {
        EditDialect::Instinct
    } else if is_mercury {
        EditDialect::Mercury
    } else {
        EditDialect::Chat
    })
}
