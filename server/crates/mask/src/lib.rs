//! Secrets on the way to a model: each is replaced by a placeholder before a request leaves, and each placeholder by
//! the secret in what comes back.
//!
//! Reading order: `secret` (one that is known, and the forms in which it is looked for), `placeholder` (how one is
//! written), [`Mask`] (all that are known, and both directions for a text), `reveal` (a text that comes in pieces),
//! `model` and `complete` (the models that read and write through a mask).
//!
//! Since both directions lie in front of a model, whatever stands behind it has the real values: the log, the panels,
//! the gate to effects and the tools. So nothing of it need know a placeholder, and the same conversation gives the
//! same request whenever it is made.

mod complete;
mod masking;
mod model;
mod placeholder;
mod reveal;
mod secret;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;

pub use self::masking::{Counts, Mask, Named};
pub use self::placeholder::EXAMPLE;
pub use self::reveal::Revealer;
pub use self::secret::{Looks, SHORTEST, Secret, is_worth_hiding};

/// The mask in force.
#[async_trait]
pub trait Masks: Send + Sync {
    /// The mask for a request that is made now.
    ///
    /// # Errors
    /// The value of a secret is not known, so that it could not be hidden; says of which, and what to do.
    async fn mask(&self) -> Result<Arc<Mask>, String>;
}

/// The same model, through the mask in force.
pub fn model(model: Arc<dyn ports::model::Model>, masks: Arc<dyn Masks>) -> Arc<dyn ports::model::Model> {
    Arc::new(model::Masked::new(model, masks))
}

/// The same model that fills in text, through the mask in force.
pub fn complete(
    model: Arc<dyn ports::complete::Complete>,
    masks: Arc<dyn Masks>,
) -> Arc<dyn ports::complete::Complete> {
    Arc::new(complete::MaskedFill { model, masks })
}

/// The same model that edits next, through the mask in force.
pub fn edit_next(
    model: Arc<dyn ports::complete::EditNext>,
    masks: Arc<dyn Masks>,
) -> Arc<dyn ports::complete::EditNext> {
    Arc::new(complete::MaskedEdit { model, masks })
}
