//! A key or a sign-in that the user keeps for a provider.

use std::sync::Arc;

use async_trait::async_trait;
use ports::model::{ModelError, ModelErrorKind};

use crate::failure::error;
use crate::secret::Secret;

/// An account that can be used, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptAccount {
    /// The user's name for it.
    pub label: String,
    /// A text that stands for it and for no other, in no log and no file. It may be secret.
    pub identity: Secret,
    /// True if it is a sign-in, false if it is a key.
    pub is_sign_in: bool,
}

/// Why the key of an account is not known. The words say what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyProblem {
    /// Only the user can change it: the sign-in has ended or was refused, or the accounts cannot be read.
    #[error("{0}")]
    Refused(String),
    /// It may pass: the vendor that renews the sign-in cannot be reached, for example.
    #[error("{0}")]
    Passing(String),
}

impl From<KeyProblem> for ModelError {
    fn from(problem: KeyProblem) -> Self {
        let kind = match &problem {
            KeyProblem::Refused(_) => ModelErrorKind::Unauthorized,
            KeyProblem::Passing(_) => ModelErrorKind::Transient,
        };
        error(kind, problem.to_string())
    }
}

/// The accounts of the user at one provider. They are kept and renewed elsewhere than here.
#[async_trait]
pub trait Account: Send + Sync {
    /// True if there is one. Costs no more than the reading of a small file.
    fn is_there(&self) -> bool;

    /// Those that can be used, the one that counts first. Costs as little.
    fn usable(&self) -> Vec<KeptAccount> {
        Vec::new()
    }

    /// The name of the one that counts, by which the user tells it from others. Costs as little.
    fn label(&self) -> Option<String> {
        None
    }

    /// The key or access token to send, of the account with this label or of the one that counts; none if there is no
    /// such account. A sign-in that is about to expire is renewed.
    ///
    /// # Errors
    /// The accounts cannot be read, or the sign-in has ended or cannot be renewed; says what to do.
    async fn key(&self, label: Option<&str>) -> Result<Option<Secret>, KeyProblem>;

    /// Says that the provider refused this key or token of that account. A sign-in is renewed, so that
    /// [`key`](Self::key) gives another, or the problem if that fails.
    async fn refused(&self, label: Option<&str>, key: &Secret);
}

/// One account of several, as if the user kept no other.
pub(crate) struct Alone {
    /// The accounts.
    pub(crate) accounts: Arc<dyn Account>,
    /// The label of the one.
    pub(crate) label: String,
}

#[async_trait]
impl Account for Alone {
    fn is_there(&self) -> bool {
        true
    }

    fn label(&self) -> Option<String> {
        Some(self.label.clone())
    }

    async fn key(&self, _: Option<&str>) -> Result<Option<Secret>, KeyProblem> {
        // Without a key the request would say nothing of it.
        let none = || KeyProblem::Passing(format!("there is no account `{}`", self.label));
        self.accounts.key(Some(&self.label)).await?.map(Some).ok_or_else(none)
    }

    async fn refused(&self, _: Option<&str>, key: &Secret) {
        self.accounts.refused(Some(&self.label), key).await;
    }
}
