//! The key of a provider, and several keys and accounts instead of one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ports::model::{ModelError, ModelErrorKind, OtherAccount};
use protocol::auth::KeyMember;

use super::{Provider, Settings};
use crate::account::KeptAccount;
use crate::failure::{Whose, error};
use crate::pool::{Member, Pool, Pools, Rest, id_of};
use crate::secret::Secret;
use crate::vendors;

/// A key or an account that the user lists for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedKey {
    /// A key.
    Key {
        /// The variable that holds it.
        variable: String,
        /// The key; none if the variable is not set.
        key: Option<Secret>,
    },
    /// The account with this label.
    Account(String),
    /// A mistake, which stands for no key: what is beside it still counts instead of any other key.
    Faulty,
}

impl Settings {
    /// Has all providers share what is known of keys and accounts that rest.
    pub fn use_pools(&mut self, pools: &Pools) {
        self.providers.iter_mut().for_each(|provider| provider.pools = pools.clone());
    }

    /// The names and titles of the providers that take a key: those that are set up elsewhere than on this machine, and
    /// the vendors that are known.
    pub fn with_keys(&self) -> Vec<(String, String)> {
        let own = self.providers.iter().filter(|provider| !provider.is_local && !provider.is_plan());
        let own = own.map(|provider| (provider.name.clone(), provider.title()));
        let known = vendors::all().iter().filter(|vendor| !vendor.local && !vendor.sign_in);
        let known = known.map(|vendor| (vendor.name.clone(), vendor.title.clone()));
        own.chain(known).collect::<BTreeMap<_, _>>().into_iter().collect()
    }
}

impl Settings {
    /// One provider alone, which is asked with this key, to find out about the key.
    #[must_use]
    pub fn with_only(&self, provider: &str, key: &Secret) -> Self {
        let mut settings = self.clone();
        settings.add_known(provider);
        settings.providers.retain(|known| known.name == provider);
        settings.providers.iter_mut().for_each(|known| known.take_only(key));
        settings
    }

    /// One provider alone for each of its keys and accounts, which is asked with this one only, by its name. If there
    /// are not several, it is asked with what it has, and there is no name.
    pub fn each_alone(&self, provider: &str) -> Vec<(Option<String>, Self)> {
        let Some(known) = self.providers.iter().find(|known| known.name == provider) else { return Vec::new() };
        let only = |alone: Provider| Self { providers: vec![alone], ..self.clone() };
        let each = known.each_alone();
        if each.is_empty() {
            return vec![(None, only(known.clone()))];
        }
        each.into_iter().map(|(name, alone)| (Some(name), only(alone))).collect()
    }

    /// Why nothing is to be sent to a provider to find out about its key, or nothing would be found out; none if it can
    /// be asked.
    pub fn why_unchecked(&self, provider: &str) -> Option<String> {
        let Some(known) = self.providers.iter().find(|known| known.name == provider) else {
            return Some(format!("there is no provider `{provider}`"));
        };
        if let Some(rule) = self.rules().provider(provider) {
            return Some(format!("nothing is sent to {provider}, since {rule}"));
        }
        if known.is_unasked {
            return Some(format!(
                "{provider} is there only because of credentials that were found, and nothing is sent to it before one of \
                 its models is chosen"
            ));
        }
        if let Some(problem) = known.missing() {
            return Some(problem);
        }
        if known.signer().is_some() {
            let source = &known.key_source;
            return Some(format!(
                "requests to {provider} are sent with the credentials of a cloud ({source}), which no list checks"
            ));
        }
        let header = known.header_for_key()?;
        Some(format!("the header `{header}` in providers.{provider}.headers counts instead"))
    }
}

impl Provider {
    /// Takes the keys and accounts of this list, in their order and in turn, instead of one key.
    pub fn set_keys(&mut self, keys: Vec<NamedKey>) {
        if !keys.is_empty() {
            (self.key, self.key_from) = (None, None);
            self.key_source = format!("the setting providers.{}.keys", self.name);
        }
        self.keys = keys;
    }

    /// True if the user lists keys or accounts instead of one key.
    pub fn lists_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// True if the user's list has the account with this label.
    pub fn lists_account(&self, label: &str) -> bool {
        self.listed_accounts().any(|listed| listed == label)
    }

    /// The labels of the accounts in the user's list.
    pub fn listed_accounts(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().filter_map(|listed| match listed {
            NamedKey::Account(label) => Some(label.as_str()),
            NamedKey::Key { .. } | NamedKey::Faulty => None,
        })
    }

    /// True if there are several keys and accounts of which requests use one.
    pub fn has_several(&self) -> bool {
        self.pool().is_some_and(|pool| pool.members.len() > 1)
    }

    /// The keys and accounts of which requests use one, in their order; none if there are not several. Asks the store
    /// for what other processes know of them.
    pub async fn members(&self) -> Vec<KeyMember> {
        let Some(pool) = self.pool() else { return Vec::new() };
        let standing = self.pools.standing(&pool).await.into_iter();
        let shown = |(member, rest, in_use): (Member, Option<_>, bool)| {
            let (rests_until, reason) = rest.map(|rest: Rest| (rest.until, rest.reason)).unzip();
            KeyMember { is_account: member.key.is_none(), name: member.name, in_use, rests_until, reason }
        };
        standing.map(shown).collect()
    }

    /// The provider with each of its keys and accounts alone, by their names: all that are listed, also an account that
    /// has ended. None if there are not several.
    fn each_alone(&self) -> Vec<(String, Self)> {
        let of_account = |label: &str| {
            let mut alone = self.clone();
            alone.take_only_account(Arc::clone(self.account.as_ref()?), label);
            Some((label.to_owned(), alone))
        };
        if !self.lists_keys() {
            let members = self.pool().map(|pool| pool.members).unwrap_or_default();
            return members.iter().filter_map(|member| of_account(&member.name)).collect();
        }
        let listed = self.keys.iter().filter_map(|listed| match listed {
            NamedKey::Key { variable, key } => {
                let mut alone = self.clone();
                alone.take_only(key.as_ref()?);
                Some((variable.clone(), alone))
            }
            NamedKey::Account(label) => of_account(label),
            NamedKey::Faulty => None,
        });
        listed.collect()
    }

    /// True if its key is one of the settings or of the environment, and no account's.
    pub(super) fn has_own_key(&self) -> bool {
        self.key.is_some() || self.key_from.is_some() || self.listed_keys().next().is_some()
    }

    /// True if the user's list has an account.
    pub(super) fn lists_accounts(&self) -> bool {
        self.listed_accounts().next().is_some()
    }

    /// The keys of the user's list that are there.
    pub(super) fn listed_keys(&self) -> impl Iterator<Item = Secret> {
        self.keys.iter().filter_map(|listed| match listed {
            NamedKey::Key { key, .. } => key.clone(),
            NamedKey::Account(_) | NamedKey::Faulty => None,
        })
    }

    /// The keys and accounts of which a request uses one: those of the user's list, else all keys that are kept as
    /// accounts. Sign-ins stand in for each other, and for keys, only by the list: they are billed in other ways.
    pub(crate) fn pool(&self) -> Option<Pool> {
        let kept = || self.account.as_ref().map(|account| account.usable()).unwrap_or_default();
        let member = |kept: KeptAccount| Member {
            id: id_of(kept.identity.expose()),
            name: kept.label,
            is_sign_in: kept.is_sign_in,
            key: None,
        };
        let members: Vec<_> = if !self.keys.is_empty() {
            let kept = if self.lists_accounts() { kept() } else { Vec::new() };
            let listed = self.keys.iter().filter_map(|listed| match listed {
                NamedKey::Key { variable, key } => Some(Member::key(variable, key.as_ref()?)),
                NamedKey::Account(label) => kept.iter().find(|kept| kept.label == *label).cloned().map(member),
                NamedKey::Faulty => None,
            });
            listed.collect()
        } else if self.has_own_key() {
            Vec::new()
        } else {
            let kept = kept();
            let is_key = kept.first().is_some_and(|first| !first.is_sign_in);
            let keys: Vec<_> = kept.into_iter().filter(|kept| is_key && !kept.is_sign_in).map(member).collect();
            if keys.len() > 1 { keys } else { Vec::new() }
        };
        let pool = Pool { provider: self.name.clone(), in_turn: self.lists_keys(), members };
        (!pool.members.is_empty()).then_some(pool)
    }

    /// The one of several with which a session's next request goes out; none if there are not several.
    pub(crate) async fn member(&self, session: &str) -> Option<Member> {
        self.pools.choose(&self.pool()?, session).await
    }

    /// Has a session's next request go out with one that does not rest. Gives it if it is another one than before.
    pub(crate) async fn other_member(
        &self,
        session: &str,
        failed: Option<ModelErrorKind>,
        tried: &[String],
    ) -> Option<OtherAccount> {
        self.pools.go_on(&self.pool()?, session, failed, tried).await
    }

    /// Takes in that a request of one of several, which began then, was answered.
    pub(crate) async fn answered(&self, whose: &Whose, began: u64) {
        if let Some(member) = &whose.member {
            self.pools.answered(member, began).await;
        }
    }

    /// The failure of a request, once its key or account rests if it has reached a limit. If all of several rest, the
    /// failure says when the first is there again. `asked` is the time that the vendor names.
    pub(crate) async fn failed(&self, whose: &Whose, mut failure: ModelError, asked: Option<Duration>) -> ModelError {
        let (Some(member), Some(pool)) = (&whose.member, self.pool()) else { return failure };
        let first = self.pools.failed(&pool, member, failure.kind, asked).await;
        if let Some(first) = first.filter(|_| pool.members.len() > 1) {
            failure.kind = ModelErrorKind::RateLimited { retry_after: Some(first) };
        }
        failure
    }

    /// Its key; none if it has none. Of several it is that of the one that is to be used now.
    ///
    /// # Errors
    /// The command that prints it fails, or its file cannot be read; says why and where it stands.
    pub(crate) async fn secret(&self) -> Result<Option<Secret>, String> {
        let secret = self.secret_of(self.member("").await.as_ref()).await;
        secret.map_err(|failure| failure.message)
    }

    /// The key of one of several; without one, the only key.
    ///
    /// # Errors
    /// The command that prints it fails, its file cannot be read, or the account has ended or cannot be renewed; says
    /// what to do.
    pub(crate) async fn secret_of(&self, member: Option<&Member>) -> Result<Option<Secret>, ModelError> {
        match (member, &self.key, &self.key_from, &self.account) {
            (Some(Member { key: Some(key), .. }), ..) => Ok(Some(key.clone())),
            (Some(member), _, _, Some(account)) => Ok(account.key(Some(&member.name)).await?),
            // Only the accounts that the list names are used.
            (None, None, None, _) if self.lists_keys() => Ok(None),
            (None, None, None, Some(account)) => Ok(account.key(None).await?),
            (None, None, Some(from), _) => from.key().await.map(Some).map_err(|problem| {
                let (name, way) = (&self.name, from.in_words(&self.name));
                error(ModelErrorKind::Unauthorized, format!("the key for {name} is not known: {way}: {problem}"))
            }),
            (_, key, _, _) => Ok(key.clone()),
        }
    }

    /// The account that its server is asked for, as far as it is known without asking: the key, the command that prints
    /// one, the file that holds it, or the label of an account. It may be secret.
    pub(crate) fn asked_as(&self) -> Option<Secret> {
        if let Some(pool) = self.pool() {
            let ids: Vec<_> = pool.members.into_iter().map(|member| member.id).collect();
            return Some(Secret::new(&ids.join("\0")));
        }
        let text = match (&self.key, &self.key_from, &self.account) {
            (Some(key), _, _) => return Some(key.clone()),
            (None, Some(from), _) => from.identity(),
            (None, None, account) => account.as_ref()?.label()?,
        };
        Some(Secret::new(&text))
    }

    /// Says that the server refused a key. False if there can be no other: then the refusal stands.
    pub(crate) async fn refused(&self, key: &Secret) -> bool {
        if let Some(pool) = self.pool() {
            let refused = pool.members.iter().find(|member| member.key.as_ref() == Some(key));
            match (refused, &self.account) {
                (Some(member), _) => {
                    self.pools.failed(&pool, member, ModelErrorKind::Unauthorized, None).await;
                }
                (None, Some(account)) => {
                    for member in pool.members.iter().filter(|member| member.key.is_none()) {
                        account.refused(Some(&member.name), key).await;
                    }
                }
                (None, None) => return false,
            }
            return true;
        }
        match (&self.key, &self.key_from, &self.account) {
            (None, Some(from), _) => from.forget(key),
            (None, None, Some(account)) => account.refused(None, key).await,
            _ => return false,
        }
        true
    }
}
