//! `/model` and `/thinking`.

use std::fmt::Write;
use std::sync::Arc;

use agent::commands::built_in::{ChooseModel, ChooseThinking};
use async_trait::async_trait;
use protocol::model::{DEFAULT_LEVEL, ModelInfo, ThinkingLevel, without_level};
use protocol::role::{Role, RoleInfo};
use providers::catalog::names;

use super::commands::{Done, Execute};
use super::preparation::Preparation;
use super::roles;
use crate::config::Config;
use crate::lists;
use crate::post::Shared;
use crate::session::{Chosen, Picked, choose_for_session, choose_model, pick, resolve_model, role, roles as all_roles};

#[async_trait]
impl Execute for ChooseModel {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let Preparation { shared, config, .. } = preparation;
        let config = done.config.clone().unwrap_or_else(|| Arc::clone(config));
        match self {
            Self::List => Ok(models(preparation, &config, chosen(preparation, done).as_deref()).await),
            Self::Show(of) => {
                let chosen = chosen(preparation, done);
                Ok(in_words(&role(shared, &config, of, chosen.as_deref()).await))
            }
            Self::Choose { role: Role::Default, name, keep } => {
                // If it cannot be kept, the conversation does not change either, nor the other way round.
                let kept = match keep {
                    true if choose_model(shared, &config, &name).await.is_err() => None,
                    true => Some(pick(shared, &config, Role::Default, Some(&name), true).await?),
                    false => None,
                };
                let text = for_conversation(preparation, name, done).await?;
                Ok(kept.map_or_else(|| text.clone(), |kept| format!("{text}\n\n{}", kept.text)))
            }
            Self::Choose { role: of, name, keep } => {
                let picked = pick(shared, &config, of, Some(&name), keep).await?;
                Ok(with_role(preparation, picked, of, done).await)
            }
            Self::Unset { role: of, keep } => {
                let picked = pick(shared, &config, of, None, keep).await?;
                Ok(with_role(preparation, picked, of, done).await)
            }
        }
    }
}

/// A change of a role, with what the role comes to from now on.
async fn with_role(preparation: &Preparation, picked: Picked, of: Role, done: &mut Done) -> String {
    let Picked { config, text } = picked;
    let chosen = chosen(preparation, done);
    let now = in_words(&role(&preparation.shared, done.config.insert(config), of, chosen.as_deref()).await);
    format!("{text}\n\n{now}")
}

/// The model that was chosen for the conversation, in this prompt or before.
fn chosen(preparation: &Preparation, done: &Done) -> Option<String> {
    let now = done.model.as_ref().map(|(model, _)| model.info().selector());
    now.or_else(|| preparation.chosen().map(Chosen::selector))
}

/// Chooses the model of the conversation.
async fn for_conversation(preparation: &Preparation, name: String, done: &mut Done) -> Result<String, String> {
    let Preparation { shared, config, .. } = preparation;
    let chosen = choose_for_session(shared, config, &name, preparation.model.as_ref(), false).await;
    let (model, name) = chosen.map_err(|error| error.message)?;
    let info = model.info();
    let others = after(shared, &name, info).await;
    let chain = if others.is_empty() { String::new() } else { format!("; if it fails, {}", others.join(", then ")) };
    let kept = roles::kept("; other work keeps its model: ", config);
    let (model_name, id) = (&info.name, info.selector());
    let text =
        format!("model {model_name} ({id}) for this conversation (the role `default`), in every mode{chain}{kept}");
    done.choose(model, name, false);
    Ok(text)
}

/// The names of a chain that come after the model that was chosen by it: those before it cannot be used.
async fn after<'a>(shared: &Shared, chain: &'a str, chosen: &ModelInfo) -> Vec<&'a str> {
    let mut names = names(chain).collect::<Vec<_>>().into_iter();
    for name in names.by_ref() {
        if resolve_model(shared, name).await.is_ok_and(|model| model.info().id == chosen.id) {
            break;
        }
    }
    names.collect()
}

/// A role with its model, and why it is that one.
fn in_words(info: &RoleInfo) -> String {
    let RoleInfo { role, words, model, why, .. } = info;
    let model = model.as_ref().map_or_else(|| "no model of its own".to_owned(), |model| format!("`{model}`"));
    format!("`{}` ({words}): {model}; {why}", role.name())
}

/// The usable models by their providers, what each role comes to, and why the other providers have none.
async fn models(preparation: &Preparation, config: &Config, chosen: Option<&str>) -> String {
    let shared = &preparation.shared;
    let (listed, roles) = tokio::join!(shared.parts.catalog.list_soon(), all_roles(shared, config, chosen));
    let (mut text, mut last) = (String::new(), "");
    for model in listed.models.iter().filter(|model| model.available) {
        if last != model.provider {
            last = &model.provider;
            let _ = writeln!(text, "\n**{last}**\n");
        }
        let current = if preparation.info.model.as_deref() == Some(model.id.as_str()) { " (in use)" } else { "" };
        let _ = writeln!(text, "- `{}`: {} · {}{current}", model.id, model.name, lists::facts(model));
    }
    if text.is_empty() {
        text.push_str("no model can be used yet; run `azimuth doctor` for what to do\n");
    }
    let _ = writeln!(text, "\n**roles** (`/model plan opus` picks one, and `--keep` keeps it)\n");
    for role in &roles {
        let _ = writeln!(text, "- {}", in_words(role));
    }
    let is_usable = |provider: &str| listed.models.iter().any(|model| model.available && model.provider == provider);
    let mut told: Vec<&str> = Vec::new();
    for model in listed.models.iter().filter(|model| !model.ruled_out && !is_usable(&model.provider)) {
        if !told.contains(&model.provider.as_str()) {
            told.push(&model.provider);
            let why = model.unavailable_because.as_deref().unwrap_or("it is not available");
            let _ = writeln!(text, "\n{} cannot be used: {why}", model.provider);
        }
    }
    for note in &listed.notes {
        let _ = writeln!(text, "\n{note}");
    }
    text.trim().to_owned()
}

#[async_trait]
impl Execute for ChooseThinking {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let Preparation { shared, config, .. } = preparation;
        let mode = done.mode.unwrap_or(preparation.info.mode);
        let current = match (&done.model, preparation.chain_of_mode(mode).await) {
            (Some((model, _)), _) => Arc::clone(model),
            (None, Some(name)) => {
                // A blank would end the argument.
                let at_level: Vec<_> = names(&name).map(|name| format!("{}:high", without_level(name))).collect();
                return Err(format!(
                    "the mode {} asks the model of the role `plan`, which is {name}: a level can follow a name, as in \
                     `/model plan {}`, and `/model` chooses another model for this conversation",
                    mode.name(),
                    at_level.join(",")
                ));
            }
            (None, None) => preparation.model().await.map_err(|error| error.message)?,
        };
        let ModelInfo { id, name, levels, .. } = current.info();
        let Some(level) = self.0.filter(|_| !levels.is_empty()) else { return Ok(levels_in_words(current.info())) };
        let chosen = choose_model(shared, config, &format!("{id}:{level}")).await;
        let (model, _) = chosen.map_err(|error| error.message)?;
        let text = match model.info().level {
            Some(level) => format!("{name} thinks at the level {}", level.name()),
            None => format!("{name} thinks as much as it does by itself"),
        };
        // Another level of the same model is no other choice of a model.
        let is_default = preparation.model.as_ref().is_none_or(|known| known.is_default && known.model == *id);
        let chain = match &done.model {
            Some((_, name)) => name.clone(),
            None => preparation.chain().unwrap_or_else(|| id.clone()),
        };
        done.choose(Arc::clone(&model), chain, is_default);
        Ok(text)
    }
}

/// The levels of a model, with the one that counts.
fn levels_in_words(info: &ModelInfo) -> String {
    let ModelInfo { name, levels, level, .. } = info;
    if levels.is_empty() {
        return format!("{name} cannot be told how much to think");
    }
    let level = level.map_or(DEFAULT_LEVEL, ThinkingLevel::name);
    let names: Vec<_> = levels.iter().map(|level| level.name()).collect();
    format!("{name} thinks at the level {level}; it has {}, and {DEFAULT_LEVEL}", names.join(", "))
}
