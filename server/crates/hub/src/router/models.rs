//! The models that clients are told, and the one of new sessions.

use std::sync::Arc;
use std::time::Duration;

use protocol::model::{ModelListParams, ModelListResult, ModelSelectParams, ModelSelectResult};
use protocol::role::{ModelPickParams, ModelPickResult, ModelRolesParams, ModelRolesResult, Role};
use protocol::{ErrorCode, methods};
use tokio::sync::{mpsc, oneshot, watch};

use super::Router;
use crate::config::Config;
use crate::feed::blocking;
use crate::post::{LAST_MODEL, Message, Post, Shared};
use crate::request::Handlers;
use crate::session::Picked;
use crate::{ClientId, Error, Reply, session};

/// The time for which the default is looked for.
const DEFAULT: Duration = Duration::from_millis(500);

/// Registers the requests about models.
pub(super) fn register(handlers: &mut Handlers<Router, ClientId>) {
    handlers
        .on::<methods::ModelList>(Router::model_list)
        .on::<methods::ModelSelect>(Router::model_select)
        .on::<methods::ModelRoles>(Router::model_roles)
        .on::<methods::ModelPick>(Router::model_pick);
}

impl Router {
    fn model_list(&mut self, _: ClientId, params: ModelListParams, reply: Reply<ModelListResult>) {
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let catalog = &shared.parts.catalog;
            let listed = if params.unasked { catalog.list_unasked().await } else { catalog.list_soon().await };
            let (mut models, notes) = (listed.models, listed.notes);
            session::note_levels(&shared, &mut models).await;
            let default = tokio::time::timeout(DEFAULT, session::default_model(&shared, &config)).await;
            let default = default.ok().and_then(Result::ok).map(|model| model.info().id.clone());
            let recent = session::recent_models(&shared).await;
            let _ = reply.send(Ok(ModelListResult { models, default, notes, recent }));
        });
    }

    /// Chooses the model of new sessions.
    fn model_select(&mut self, _: ClientId, params: ModelSelectParams, reply: Reply<ModelSelectResult>) {
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let selected = select_default(&shared, &config, &params.model).await;
            let _ = reply.send(selected);
        });
    }
}

impl Router {
    fn model_roles(&mut self, _: ClientId, _: ModelRolesParams, reply: Reply<ModelRolesResult>) {
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let roles = session::roles(&shared, &config, None).await;
            let _ = reply.send(Ok(ModelRolesResult { roles }));
        });
    }

    /// Picks a model for a role.
    fn model_pick(&mut self, _: ClientId, params: ModelPickParams, reply: Reply<ModelPickResult>) {
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let ModelPickParams { role, model, keep } = params;
            let picked = session::pick(&shared, &config, role, model.as_deref(), keep).await;
            let answer = match picked {
                Ok(Picked { config, text }) => {
                    Ok(ModelPickResult { role: session::role(&shared, &config, role, None).await, text })
                }
                Err(problem) => Err(Error::new(ErrorCode::OperationFailed, problem)),
            };
            let _ = reply.send(answer);
        });
    }

    /// Has these models count for a role from now on, or again what the settings say.
    pub(super) fn pick_role(&mut self, role: Role, list: Option<String>, reply: oneshot::Sender<Arc<Config>>) {
        let mut picks = self.config.picks.clone();
        match list {
            Some(list) => picks.insert(role, list),
            None => picks.remove(&role),
        };
        if picks != self.config.picks {
            // Nothing of the providers has changed, so that what is known of them stays.
            let config = Arc::new(self.config.with_picks(picks));
            self.config = Arc::clone(&config);
            self.inline.configure(Arc::clone(&config));
            self.tell_all(|| session::Message::Config(Arc::clone(&config)));
        }
        let _ = reply.send(Arc::clone(&self.config));
    }
}

async fn select_default(shared: &Shared, config: &Config, name: &str) -> Result<ModelSelectResult, Error> {
    let (model, _) = session::choose_model(shared, config, name).await?;
    let (store, id) = (Arc::clone(&shared.parts.store), model.info().id.clone());
    blocking(move || store.set(LAST_MODEL, &id)).await?;
    Ok(ModelSelectResult { model: model.info().clone() })
}

/// Tells the router whenever a list of models has come that was gone without.
pub(super) async fn watch(mut changes: watch::Receiver<()>, router: mpsc::WeakUnboundedSender<Post>) {
    while changes.changed().await.is_ok() {
        let Some(router) = router.upgrade() else { return };
        if router.send(Post { client: None, message: Message::ModelsChanged }).is_err() {
            return;
        }
    }
}
