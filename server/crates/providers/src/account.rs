//! A key or a sign-in that the user keeps for a provider.

use async_trait::async_trait;

use crate::secret::Secret;

/// The accounts of the user at one provider. They are kept and renewed elsewhere than here.
#[async_trait]
pub trait Account: Send + Sync {
    /// True if there is one. Costs no more than the reading of a small file.
    fn is_there(&self) -> bool;

    /// The name of the one that counts, by which the user tells it from others. Costs as little.
    fn label(&self) -> Option<String> {
        None
    }

    /// The key or access token to send; none if there is no account. A sign-in that is about to expire is renewed.
    ///
    /// # Errors
    /// The accounts cannot be read, or the sign-in has ended; says what to do.
    async fn key(&self) -> Result<Option<Secret>, String>;

    /// Says that the provider refused this key or token. A sign-in is renewed, so that [`key`](Self::key) gives
    /// another, or the problem if that fails.
    async fn refused(&self, key: &Secret);
}
