//! The models of roles, where a setting alone does not say which.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use ports::model::Model;
use protocol::ErrorCode;
use protocol::role::{Role, RoleInfo};
use protocol::session::Mode;
use providers::catalog::names;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout_at};

use super::small::cheaper_than;
use super::{default_model, named_model, usable};
use crate::Error;
use crate::config::{Config, LOCAL, Reference, with_found};
use crate::post::Shared;

/// The time that it may take to find a model that is only told of.
const FINDING: Duration = Duration::from_secs(2);

/// The chain of models of a role; none if no setting names one for it.
pub(crate) async fn chain_of(shared: &Shared, config: &Config, role: Role) -> Option<String> {
    Usual::new(shared, config).settle(config.chain(role)?).await
}

/// The chain of models of turns in a mode, if the mode has one of its own.
pub(crate) async fn chain_of_mode(shared: &Shared, config: &Config, mode: Mode) -> Option<String> {
    Usual::new(shared, config).settle(config.chain_of_mode(mode)?).await
}

/// A list of names in which roles may stand, with their models in their stead.
///
/// # Errors
/// A role in it comes to no model.
pub(super) async fn without_roles(shared: &Shared, config: &Config, list: &str) -> Result<String, Error> {
    let found = config.without_roles(list).map_err(|problem| Error::new(ErrorCode::NotFound, problem))?;
    Ok(Usual::new(shared, config).settle(found).await.unwrap_or_else(|| list.to_owned()))
}

/// The models that the roles come to now. `chosen` is the model that was chosen in the conversation that asks.
pub(crate) async fn roles(shared: &Shared, config: &Config, chosen: Option<&str>) -> Vec<RoleInfo> {
    let usual = Usual::new(shared, config);
    join_all(Role::ALL.into_iter().map(|role| usual.role(role, chosen))).await
}

/// The model that a role comes to now, and why.
pub(crate) async fn role(shared: &Shared, config: &Config, role: Role, chosen: Option<&str>) -> RoleInfo {
    Usual::new(shared, config).role(role, chosen).await
}

/// The models that only the catalog knows, each looked for once: that of new conversations, and the small one of its
/// maker.
struct Usual<'a> {
    shared: &'a Shared,
    config: &'a Config,
    default: OnceCell<Option<Arc<dyn Model>>>,
    small: OnceCell<Option<String>>,
}

impl<'a> Usual<'a> {
    fn new(shared: &'a Shared, config: &'a Config) -> Self {
        Self { shared, config, default: OnceCell::new(), small: OnceCell::new() }
    }

    async fn default(&self) -> Option<&Arc<dyn Model>> {
        let default = async || Box::pin(default_model(self.shared, self.config)).await.ok();
        self.default.get_or_init(default).await.as_ref()
    }

    async fn small(&self) -> Option<&str> {
        let small = async || Box::pin(cheaper_than(self.shared, self.config, self.default().await?.info())).await;
        self.small.get_or_init(small).await.as_deref()
    }

    /// Puts these models in where their roles are left in a chain.
    fn settle(&self, chain: String) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            if !names(&chain).any(|name| Reference::of(name).is_some()) {
                return Some(chain);
            }
            let default = self.default().await.map(|model| model.info().selector());
            let needs_small = |name| Reference::of(name).is_some_and(|reference| reference.role == Some(Role::Fast));
            let small = if names(&chain).any(needs_small) { self.small().await } else { None };
            with_found(&chain, default.as_deref(), small)
        })
    }

    fn role<'s>(&'s self, role: Role, chosen: Option<&'s str>) -> BoxFuture<'s, RoleInfo> {
        Box::pin(self.found(role, chosen))
    }

    /// The model that a role comes to now, and why, as far as that is found in time.
    async fn found(&self, role: Role, chosen: Option<&str>) -> RoleInfo {
        let (words, picked) = (role.words().to_owned(), self.config.picks.contains_key(&role));
        let user_file = self.shared.parts.user_file.display().to_string();
        let kept = self.config.settings.of_role(role).is_some() && self.config.places.get(&role) == Some(&user_file);
        let info = |model, why| RoleInfo { role, words, model, why, picked, kept };
        if let Some(chosen) = chosen.filter(|_| role == Role::Plan) {
            let others = match self.config.named_for(role) {
                Some(_) => format!("; in other conversations: {}", source(self.config, role)),
                None => String::new(),
            };
            return info(Some(chosen.to_owned()), format!("chosen for this conversation, in every mode{others}"));
        }
        let mut why = source(self.config, role);
        let until = Instant::now() + FINDING;
        let silent = || "its provider does not answer".to_owned();
        let Ok(chain) = timeout_at(until, self.chain(role)).await else {
            return info(None, format!("{why}; {}", silent()));
        };
        // It was looked for, since the chain is `@fast`.
        let has_no_small = matches!(self.small.get(), Some(None)) && self.config.named_for(role).is_none();
        if role == Role::Fast && has_no_small && chain.is_some() {
            why.push_str("; no cheaper one is known, so it is the model of new conversations itself");
        }
        if let Some(problem) = self.config.why_none(role) {
            why.push_str(&format!("; {problem}"));
        }
        let chain: Vec<_> = names(chain.as_deref().unwrap_or_default()).collect();
        let found = join_all(chain.iter().map(|name| timeout_at(until, self.usable_for(role, name)))).await;
        for (name, found) in chain.into_iter().zip(found) {
            match found.unwrap_or_else(|_| Err(silent())) {
                Ok(model) => return info(Some(model), why),
                Err(problem) => why.push_str(&format!("; `{name}` is left out: {problem}")),
            }
        }
        info(None, why)
    }

    /// The chain of a role, as it is told.
    async fn chain(&self, role: Role) -> Option<String> {
        match role {
            Role::Default | Role::Fast | Role::Instruct if !self.config.has_model_for(role) => {
                self.settle(format!("@{}", role.name())).await
            }
            _ => self.settle(self.config.chain(role)?).await,
        }
    }

    /// The model with a name for a role, if it can be asked now, by its id and level; else why not.
    async fn usable_for(&self, role: Role, name: &str) -> Result<String, String> {
        let Self { shared, config, .. } = self;
        let (catalog, settings) = (&shared.parts.catalog, &config.providers);
        match role {
            Role::Completion if name == LOCAL => Ok(name.to_owned()),
            Role::Completion => {
                let found = providers::fill::resolve(settings, catalog, name).await;
                found.map(|model| model.info().id.clone()).map_err(|error| error.to_string())
            }
            Role::NextEdit => {
                let found = providers::next_edit::resolve(settings, catalog, name).await;
                found.map(|model| model.info().id.clone()).map_err(|error| error.to_string())
            }
            _ => {
                let model = named_model(shared, name).await.and_then(|model| usable(model, config));
                let model = model.map_err(|error| error.message)?;
                match shared.cooldowns.of(&model.info().id, shared.parts.clock.now()) {
                    Some(rests) => Err(format!("it is left alone for now, since it failed: {}", rests.error)),
                    None => Ok(model.info().selector()),
                }
            }
        }
    }
}

/// Where it is said which models a role has, in words.
fn source(config: &Config, role: Role) -> String {
    let Some(named) = config.named_for(role) else {
        let setting = role.setting();
        return match role {
            Role::Default => "the one that was chosen last, else the first that can be used".to_owned(),
            Role::Plan => "that of the conversation".to_owned(),
            Role::Fast => format!(
                "no `{setting}` is set, so `@fast` stands for the cheapest model of the maker of the model of new \
                 conversations; no work asks it unless a setting says `@fast`"
            ),
            Role::Title => {
                format!("no `{setting}` and no `fast_model` is set; the first sentence of the prompt is taken")
            }
            Role::Instruct => "that of new conversations".to_owned(),
            Role::Oracle => format!("no `{setting}` is set, so no other model is asked"),
            Role::Completion | Role::NextEdit => format!("no `{setting}` is set, so nothing is suggested"),
        };
    };
    let list = config.of_role(named).unwrap_or_default();
    let says = if names(list).any(|name| Reference::of(name).is_some()) {
        format!(", which is `{list}`")
    } else {
        String::new()
    };
    if config.picks.contains_key(&named) {
        let of = if named == role { String::new() } else { format!(" for `{}`", named.name()) };
        return format!("picked{of} until Azimuth ends{says}");
    }
    let place = config.places.get(&named).map_or("the configuration", String::as_str);
    format!("`{}` in {place}{says}", named.setting())
}
