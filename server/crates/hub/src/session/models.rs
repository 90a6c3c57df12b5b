//! The choice of the model that a session asks.

use std::sync::Arc;

use ports::model::Model;
use protocol::ErrorCode;

use crate::Error;
use crate::config::Config;
use crate::feed::blocking;
use crate::post::{LAST_MODEL, Shared};

/// The model with this name.
pub(crate) async fn resolve_model(shared: &Shared, name: &str) -> Result<Arc<dyn Model>, Error> {
    let resolved = shared.parts.catalog.resolve(name).await;
    resolved.map_err(|error| Error::new(ErrorCode::NotFound, error.to_string()))
}

/// The model of new sessions: the configured one, else the last one chosen, else the first that can be used.
pub(crate) async fn default_model(shared: &Shared, config: &Config) -> Result<Arc<dyn Model>, Error> {
    if let Some(name) = &config.model {
        return resolve_model(shared, name).await;
    }
    let store = Arc::clone(&shared.parts.store);
    if let Ok(Some(last)) = blocking(move || store.get(LAST_MODEL)).await
        && let Ok(model) = shared.parts.catalog.resolve(&last).await
        && model.info().available
    {
        return Ok(model);
    }
    let first = shared.parts.catalog.default_model().await;
    first.map_err(|error| Error::new(ErrorCode::NotFound, error.to_string()))
}

/// The model, if it can be asked now; else what to do about it.
pub(crate) fn usable(model: Arc<dyn Model>, config: &Config) -> Result<Arc<dyn Model>, Error> {
    let info = model.info();
    if let Some(error) = config.errors.first().filter(|_| config.hosts_unknown && !info.scripted) {
        let text = format!(
            "{error}. Until this is fixed, nothing is sent to a model, since the configuration may name its server"
        );
        return Err(Error::new(ErrorCode::OperationFailed, text));
    }
    if info.available {
        return Ok(model);
    }
    let why = info.unavailable_because.as_deref().unwrap_or("it is not available");
    Err(Error::new(ErrorCode::NotFound, format!("{} cannot be used: {why}", info.name)))
}
