//! Signing in and out, and the accounts as the providers' source of keys.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use net::Clients;
use providers::{KeptAccount, KeyProblem, Secret};

use crate::credential::{Credential, Proof, Tokens};
use crate::oauth::{self, Browser, Device, Granted, OAuthError};
use crate::renewal::{self, Asked};
use crate::store::{Contents, Registered, Store, StoreError};
use crate::vendor::{Vendor, origin};

/// The accounts of the user, and how to sign in.
#[derive(Debug)]
pub struct Accounts {
    store: Store,
    http: Clients,
    vendors: Vec<Vendor>,
    /// Words on a damaged file that was set aside.
    set_aside: Mutex<Option<String>>,
}

/// An account as it is listed, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The name of the provider.
    pub provider: String,
    /// The user's name for the account.
    pub label: String,
    /// The server that it was given for.
    pub origin: String,
    /// The account at the vendor, for people, if the vendor says it.
    pub name: Option<String>,
    /// True if it is a sign-in, false if it is a key.
    pub is_sign_in: bool,
    /// Its status.
    pub status: Status,
    /// When its access token expires, in seconds since 1970. Until then it is usually renewed.
    pub expires: Option<u64>,
}

/// The status of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It can be used, as far as is known on this machine.
    Usable,
    /// The vendor has ended it, or it has expired and cannot be renewed: the user must sign in again.
    Ended,
}

/// An account that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The name of the provider.
    pub provider: String,
    /// The user's name for the account.
    pub label: String,
    /// Why the vendor does not know that the sign-in has ended, in words; none if it knows, or need not.
    pub not_revoked: Option<String>,
}

impl Accounts {
    /// The accounts in this folder, whose file is read when it is needed. `vendors` count before those that are known;
    /// `ca_file` has further certificate authorities.
    pub fn new(data_folder: &Path, ca_file: Option<PathBuf>, mut vendors: Vec<Vendor>) -> Arc<Self> {
        for vendor in crate::vendor::known() {
            if !vendors.iter().any(|own| own.provider == vendor.provider) {
                vendors.push(vendor.clone());
            }
        }
        let (store, http) = (Store::new(data_folder), Clients::new(ca_file));
        Arc::new(Self { store, http, vendors, set_aside: Mutex::default() })
    }

    /// The file.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The vendors that let their users sign in.
    pub fn vendors(&self) -> &[Vendor] {
        &self.vendors
    }

    /// The vendor of a provider, if its users can sign in.
    pub fn vendor(&self, provider: &str) -> Option<&Vendor> {
        self.vendors.iter().find(|vendor| vendor.provider == provider)
    }

    /// Every account, without secrets.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        Ok(self.store.read()?.credentials.iter().map(listed).collect())
    }

    /// Keeps a damaged file under another name, so that a new one can be made. Gives words on that for the user; none
    /// if the file is not damaged.
    ///
    /// # Errors
    /// It cannot be read for another reason, or not be renamed.
    pub async fn set_aside_if_damaged(&self) -> Result<Option<String>, StoreError> {
        let Some(aside) = self.store.set_aside_if_damaged().await? else { return Ok(None) };
        let text = format!("The file of accounts was damaged, and is now {}. Its accounts are gone.", aside.display());
        *self.set_aside.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.clone());
        Ok(Some(text))
    }

    /// The words on the damaged file that was set aside last.
    pub fn set_aside(&self) -> Option<String> {
        self.set_aside.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps a key for the server at this address.
    ///
    /// # Errors
    /// The file cannot be written, or is damaged.
    pub async fn keep_key(&self, provider: &str, label: &str, address: &str, key: Secret) -> Result<(), StoreError> {
        self.keep(provider, label, address, Proof::Key(key)).await
    }

    /// Begins a sign-in by a browser. With `listen`, its return is waited for at a port of this machine.
    ///
    /// # Errors
    /// The provider has no such sign-in, the port is taken, or the file of accounts could not be written at its end.
    pub async fn browser(&self, provider: &str, label: &str, listen: bool) -> Result<Browser, OAuthError> {
        let vendor = self.vendor_or_error(provider, "by a browser")?;
        let mut change = self.store.change().await?;
        // A sign-in by a code registers none.
        let is_own = |id: &&str| vendor.registers && *id != vendor.client_id;
        let known = change.contents.client(provider, label, &vendor.token_url).filter(is_own).map(str::to_owned);
        let host = match &change.contents.host {
            Some(host) => host.clone(),
            None => {
                let host = format!("urn:uuid:{}", oauth::uuid()?);
                change.contents.host = Some(host.clone());
                change.write()?;
                host
            }
        };
        Browser::start(vendor, known.as_deref(), &host, listen).await
    }

    /// Ends a sign-in by a browser: exchanges the vendor's answer for tokens, and keeps them for the server at this
    /// address.
    ///
    /// # Errors
    /// The vendor refuses or cannot be asked, its answer is of no use, or the file cannot be written.
    pub async fn finish(
        &self,
        (mut browser, granted): (Browser, Granted),
        provider: &str,
        label: &str,
        address: &str,
    ) -> Result<Option<String>, OAuthError> {
        browser.close();
        // Kept before anything can go wrong, so that the next try does not register another one.
        if let Some(client_id) = granted.client_id() {
            let token_url = self.vendor(provider).map(|vendor| vendor.token_url.clone()).unwrap_or_default();
            let (provider, label, id) = (provider.to_owned(), label.to_owned(), client_id.to_owned());
            let mut change = self.store.change().await?;
            change.contents.register(Registered { provider, label, token_url, id });
            change.write()?;
        }
        match browser.finish(granted, &self.http, now()).await {
            Ok(tokens) => self.keep_tokens(provider, label, address, tokens).await,
            Err(error) => {
                // It may be the client that is refused.
                if matches!(error, OAuthError::Refused { .. })
                    && let Ok(mut change) = self.store.change().await
                {
                    change.contents.forget_clients(provider, Some(label));
                    let _ = change.write();
                }
                Err(error)
            }
        }
    }

    /// Begins a sign-in by a device code.
    ///
    /// # Errors
    /// The provider has no such sign-in, the vendor cannot be asked, or the file of accounts could not be written at
    /// the end.
    pub async fn device(&self, provider: &str) -> Result<Device, OAuthError> {
        let vendor = self.vendor_or_error(provider, "by a code")?;
        drop(self.store.change().await?);
        Device::start(vendor, &self.http).await
    }

    /// Waits until the user has typed the code, and keeps the tokens for the server at this address.
    ///
    /// # Errors
    /// The user refuses or takes too long, the vendor's answer is of no use, or the file cannot be written.
    pub async fn finish_device(
        &self,
        device: Device,
        provider: &str,
        label: &str,
        address: &str,
    ) -> Result<Option<String>, OAuthError> {
        let tokens = device.wait(&self.http, now).await?;
        self.keep_tokens(provider, label, address, tokens).await
    }

    /// Removes the accounts of a provider, or the one with this label, and revokes those that are sign-ins. One that
    /// cannot be revoked is removed all the same.
    ///
    /// # Errors
    /// The file cannot be written, or is damaged.
    pub async fn sign_out(&self, provider: &str, label: Option<&str>) -> Result<Vec<Removed>, StoreError> {
        // Held while the vendor is told, so that no other process renews what is being revoked.
        let mut change = self.store.change().await?;
        let goes = |known: &Credential| known.provider == provider && label.is_none_or(|label| known.label == label);
        let (gone, stays): (Vec<_>, Vec<_>) =
            std::mem::take(&mut change.contents.credentials).into_iter().partition(goes);
        let mut removed = Vec::new();
        for credential in gone {
            let not_revoked = match (&credential.proof, self.vendor(provider)) {
                (Proof::Tokens(tokens), Some(vendor)) if !tokens.ended => {
                    match oauth::revoke(vendor, &self.http, tokens).await {
                        Ok(true) => None,
                        Ok(false) => Some("it has no address for that".to_owned()),
                        Err(error) => Some(error.to_string()),
                    }
                }
                (Proof::Tokens(tokens), None) if !tokens.ended => Some("it is not known any more".to_owned()),
                _ => None,
            };
            removed.push(Removed { provider: credential.provider, label: credential.label, not_revoked });
        }
        change.contents.credentials = stays;
        change.contents.forget_clients(provider, label);
        change.write()?;
        Ok(removed)
    }

    /// The accounts of a provider at this address, as its source of keys. One that needs a key is told if the file
    /// cannot be read; others go on without.
    pub fn of_provider(
        self: &Arc<Self>,
        provider: &str,
        address: &str,
        needs_key: bool,
    ) -> Arc<dyn providers::Account> {
        let origin = origin(address).unwrap_or_default();
        Arc::new(OfProvider { accounts: Arc::clone(self), provider: provider.to_owned(), origin, needs_key })
    }

    async fn keep(&self, provider: &str, label: &str, address: &str, proof: Proof) -> Result<(), StoreError> {
        let mut change = self.store.change().await?;
        let origin = origin(address).unwrap_or_default();
        change.contents.put(Credential { provider: provider.to_owned(), label: label.to_owned(), origin, proof });
        change.write()
    }

    async fn keep_tokens(
        &self,
        provider: &str,
        label: &str,
        address: &str,
        tokens: Tokens,
    ) -> Result<Option<String>, OAuthError> {
        let name = tokens.name.clone();
        self.keep(provider, label, address, Proof::Tokens(Box::new(tokens))).await?;
        Ok(name)
    }

    fn vendor_or_error(&self, provider: &str, way: &'static str) -> Result<&Vendor, OAuthError> {
        let advice = "; use `--key`, or describe the sign-in in `providers.NAME.sign_in`";
        let none = || OAuthError::NoSuchWay { provider: provider.to_owned(), way, advice };
        self.vendor(provider).ok_or_else(none)
    }

    /// Renews a sign-in whose access token is stale or was refused, unless another process has. The lock is held from
    /// the reading of the refresh token to the writing of the next, which may make the first void.
    async fn renewed(&self, known: &Credential) -> Result<Secret, OAuthError> {
        let provider = known.provider.as_str();
        let mut change = self.store.change().await?;
        let gone = || OAuthError::Gone(provider.to_owned());
        let found = change.contents.find_mut(provider, &known.label);
        // By now the user may have signed in to another server under this label.
        let Credential { proof, .. } = found.filter(|found| found.origin == known.origin).ok_or_else(gone)?;
        let Proof::Tokens(tokens) = proof else { return Err(gone()) };
        if tokens.ended {
            let vendor = self.vendor(provider).map_or(provider, |vendor| &vendor.title).to_owned();
            let said = "it said so a moment ago".to_owned();
            return Err(OAuthError::Ended { vendor, said, provider: provider.to_owned() });
        }
        if tokens.access != *known.secret() && !tokens.is_stale(now()) {
            return Ok(tokens.access.clone());
        }
        let vendor = self.vendor_or_error(provider, "again")?;
        match oauth::refresh(vendor, &self.http, tokens, now()).await {
            Ok(new) => {
                let access = new.access.clone();
                **tokens = new;
                change.write()?;
                Ok(access)
            }
            Err(error) => {
                if matches!(error, OAuthError::Ended { .. }) {
                    tokens.ended = true;
                    change.write()?;
                }
                Err(error)
            }
        }
    }
}

/// The accounts of one provider.
struct OfProvider {
    accounts: Arc<Accounts>,
    provider: String,
    /// The server that keys may go to.
    origin: String,
    needs_key: bool,
}

impl OfProvider {
    /// The accounts at this server, the newest first.
    fn all<'a>(&self, contents: &'a Contents) -> impl Iterator<Item = &'a Credential> {
        // An address that is none has no origin, and gets no key.
        let is_here = |origin: &str| !origin.is_empty() && origin == self.origin;
        contents.credentials.iter().filter(move |known| known.provider == self.provider && is_here(&known.origin))
    }

    /// The account with this label; without one the account that counts: the first that can be used, else the first.
    fn chosen(&self, contents: &Contents, label: Option<&str>) -> Option<Credential> {
        if let Some(label) = label {
            return self.all(contents).find(|known| known.label == label).cloned();
        }
        let usable = self.all(contents).find(|known| known.is_usable(now()));
        usable.or_else(|| self.all(contents).next()).cloned()
    }

    /// Renews. `is_refused` says that the provider has refused the access token.
    async fn renew(&self, asked: Asked, is_refused: bool) -> Result<Secret, KeyProblem> {
        let (accounts, known) = (Arc::clone(&self.accounts), asked.known.clone());
        let work = || async move { accounts.renewed(&known).await.map_err(renewal::problem) };
        renewal::renew(asked, is_refused, work).await
    }

    fn asked(&self, known: Credential) -> Asked {
        Asked { file: self.accounts.store.file(), vendor: self.accounts.vendor(&self.provider).cloned(), known }
    }
}

#[async_trait]
impl providers::Account for OfProvider {
    fn is_there(&self) -> bool {
        // One in a file that cannot be read may be there; whoever asks for the key learns what is wrong.
        self.accounts.store.read().map_or(self.needs_key, |contents| self.chosen(&contents, None).is_some())
    }

    fn label(&self) -> Option<String> {
        self.accounts.store.read().ok().and_then(|contents| Some(self.chosen(&contents, None)?.label))
    }

    fn usable(&self) -> Vec<KeptAccount> {
        let Ok(contents) = self.accounts.store.read() else { return Vec::new() };
        let usable = self.all(&contents).filter(|known| known.is_usable(now()));
        let kept = |known: &Credential| KeptAccount {
            label: known.label.clone(),
            identity: match &known.proof {
                Proof::Key(key) => key.clone(),
                // Its tokens are others each hour.
                Proof::Tokens(tokens) => Secret::new(&format!(
                    "{}\0{}\0{}",
                    known.origin,
                    known.label,
                    tokens.subject.as_deref().unwrap_or_default()
                )),
            },
            is_sign_in: matches!(known.proof, Proof::Tokens(_)),
        };
        usable.map(kept).collect()
    }

    async fn key(&self, label: Option<&str>) -> Result<Option<Secret>, KeyProblem> {
        let contents = match self.accounts.store.read() {
            Ok(contents) => contents,
            Err(_) if !self.needs_key => return Ok(None),
            Err(error) => return Err(KeyProblem::Refused(error.to_string())),
        };
        let Some(credential) = self.chosen(&contents, label) else { return Ok(None) };
        let Proof::Tokens(tokens) = &credential.proof else { return Ok(Some(credential.secret().clone())) };
        if tokens.ended {
            let text = format!("the sign-in to {0} has ended; run `azimuth auth login {0}`", self.provider);
            return Err(KeyProblem::Refused(text));
        }
        let asked = self.asked(credential.clone());
        if let Some(problem) = renewal::refused_lately(&asked) {
            return Err(problem);
        }
        let is_all = tokens.refresh.is_none() && !tokens.is_expired(now());
        if is_all || !tokens.is_stale(now()) {
            return Ok(Some(tokens.access.clone()));
        }
        match self.renew(asked, false).await {
            Ok(access) => Ok(Some(access)),
            // It is good for a little longer, and the vendor may be back by then.
            Err(_) if !tokens.is_expired(now()) => Ok(Some(tokens.access.clone())),
            Err(problem) => Err(problem),
        }
    }

    async fn refused(&self, label: Option<&str>, key: &Secret) {
        let Ok(contents) = self.accounts.store.read() else { return };
        let Some(credential) = self.chosen(&contents, label) else { return };
        // Renewed by another, or a key, which cannot be.
        if credential.secret() == key && matches!(credential.proof, Proof::Tokens(_)) {
            // Whoever asks for the key next is told of a failure.
            let _ = self.renew(self.asked(credential), true).await;
        }
    }
}

fn listed(credential: &Credential) -> Listed {
    let tokens = match &credential.proof {
        Proof::Tokens(tokens) => Some(tokens),
        Proof::Key(_) => None,
    };
    Listed {
        provider: credential.provider.clone(),
        label: credential.label.clone(),
        origin: credential.origin.clone(),
        name: tokens.and_then(|tokens| tokens.name.clone()),
        is_sign_in: tokens.is_some(),
        status: if credential.is_usable(now()) { Status::Usable } else { Status::Ended },
        expires: tokens.and_then(|tokens| tokens.expires()),
    }
}

/// Seconds since 1970, by this machine's clock.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "https://models.example/v1";

    /// Accounts with a vendor that nobody can reach.
    fn world() -> (tempfile::TempDir, Arc<Accounts>) {
        let folder = tempfile::tempdir().unwrap();
        let vendor = Vendor { provider: "p".into(), token_url: "http://127.0.0.1:1/token".into(), ..Vendor::default() };
        let accounts = Accounts::new(folder.path(), None, vec![vendor]);
        (folder, accounts)
    }

    fn tokens(lifetime: u64) -> Tokens {
        Tokens {
            access: Secret::new("at"),
            refresh: Some(Secret::new("rt")),
            issued: now() - 100,
            lifetime: Some(lifetime),
            client_id: "c".into(),
            token_url: "http://127.0.0.1:1/token".into(),
            scopes: vec![],
            name: None,
            subject: None,
            ended: false,
        }
    }

    async fn key(accounts: &Arc<Accounts>, address: &str) -> Result<Option<Secret>, String> {
        accounts.of_provider("p", address, true).key(None).await.map_err(|problem| problem.to_string())
    }

    #[tokio::test]
    async fn a_key_goes_to_the_server_that_it_was_given_for_and_the_newest_counts() {
        let (_folder, accounts) = world();
        assert_eq!(key(&accounts, HOME).await, Ok(None));
        for (label, text) in [("a", "k-1"), ("b", "k-2")] {
            accounts.keep_key("p", label, HOME, Secret::new(text)).await.unwrap();
        }
        assert_eq!(key(&accounts, "https://models.example").await, Ok(Some(Secret::new("k-2"))));
        for other in ["https://models.example:8443", "http://models.example", "https://other.example", ""] {
            assert_eq!(key(&accounts, other).await, Ok(None), "{other}");
            assert!(!accounts.of_provider("p", other, true).is_there(), "{other}");
        }
        let provider = accounts.of_provider("p", HOME, true);
        let labels: Vec<_> = provider.usable().into_iter().map(|kept| (kept.label, kept.is_sign_in)).collect();
        assert_eq!(labels, [("b".to_owned(), false), ("a".to_owned(), false)]);
        assert_eq!(provider.key(Some("a")).await, Ok(Some(Secret::new("k-1"))), "each has its own");
        let removed = accounts.sign_out("p", Some("b")).await.unwrap();
        assert_eq!((removed.len(), removed[0].not_revoked.as_deref()), (1, None));
        assert_eq!(key(&accounts, HOME).await, Ok(Some(Secret::new("k-1"))));
    }

    #[tokio::test]
    async fn a_client_that_was_registered_before_a_failure_is_not_registered_again() {
        let folder = tempfile::tempdir().unwrap();
        let vendor = Vendor {
            provider: "p".into(),
            authorize_url: Some("https://v.example/authorize".into()),
            token_url: "http://127.0.0.1:1/token".into(),
            client_id: "new".into(),
            registers: true,
            ..Vendor::default()
        };
        let accounts = Accounts::new(folder.path(), None, vec![vendor]);
        let field = |browser: &Browser, name: &str| {
            browser.url().query_pairs().find(|(known, _)| known == name).unwrap().1.into_owned()
        };
        let browser = accounts.browser("p", "a", false).await.unwrap();
        assert_eq!(field(&browser, "client_id"), "new");
        let state = field(&browser, "state");
        let address = format!("{}?code=c&client_id=app_1&state={state}", browser.redirect());
        let granted = browser.pasted(&address).unwrap();
        let failed = accounts.finish((browser, granted), "p", "a", HOME).await;
        assert!(matches!(failed, Err(OAuthError::Unreachable { .. })), "{failed:?}");
        assert_eq!(accounts.list().unwrap(), []);
        assert_eq!(field(&accounts.browser("p", "a", false).await.unwrap(), "client_id"), "app_1");
        accounts.sign_out("p", None).await.unwrap();
        assert_eq!(field(&accounts.browser("p", "a", false).await.unwrap(), "client_id"), "new");
    }

    #[tokio::test]
    async fn a_token_without_a_successor_is_used_to_its_end() {
        let (_folder, accounts) = world();
        let last = |lifetime| Tokens { refresh: None, ..tokens(lifetime) };
        accounts.keep_tokens("p", "a", HOME, last(160)).await.unwrap();
        assert_eq!(key(&accounts, HOME).await, Ok(Some(Secret::new("at"))));
        assert_eq!(accounts.list().unwrap()[0].status, Status::Usable);
        accounts.keep_tokens("p", "a", HOME, last(100)).await.unwrap();
        assert!(key(&accounts, HOME).await.unwrap_err().contains("has ended"));
    }

    #[tokio::test]
    async fn a_token_that_was_refused_and_cannot_be_renewed_is_not_sent_again_at_once() {
        let (_folder, accounts) = world();
        accounts.keep_tokens("p", "a", HOME, tokens(3_600)).await.unwrap();
        let provider = accounts.of_provider("p", HOME, true);
        assert_eq!(provider.key(None).await, Ok(Some(Secret::new("at"))));
        provider.refused(None, &Secret::new("of another")).await;
        assert_eq!(provider.key(None).await, Ok(Some(Secret::new("at"))));
        provider.refused(None, &Secret::new("at")).await;
        let problem = provider.key(None).await.unwrap_err();
        assert!(matches!(&problem, KeyProblem::Passing(text) if text.contains("cannot be reached")), "{problem}");
        let ended = Tokens { ended: true, ..tokens(100) };
        accounts.keep_tokens("p", "a", HOME, ended).await.unwrap();
        assert!(matches!(provider.key(None).await, Err(KeyProblem::Refused(_))), "a vendor that is away ends nothing");
    }

    #[tokio::test]
    async fn a_sign_in_that_another_process_found_ended_is_not_renewed() {
        let (_folder, accounts) = world();
        accounts.keep_tokens("p", "a", HOME, tokens(100)).await.unwrap();
        let known = accounts.store.read().unwrap().credentials.remove(0);
        accounts.keep_tokens("p", "a", HOME, Tokens { ended: true, ..tokens(100) }).await.unwrap();
        // The vendor cannot be reached, so asking it would be another error.
        assert!(matches!(accounts.renewed(&known).await, Err(OAuthError::Ended { .. })));
    }

    #[tokio::test]
    async fn a_token_that_is_still_good_is_used_while_the_vendor_cannot_be_reached() {
        let (_folder, accounts) = world();
        accounts.keep_tokens("p", "a", HOME, tokens(160)).await.unwrap();
        assert_eq!(key(&accounts, HOME).await, Ok(Some(Secret::new("at"))));
        accounts.keep_tokens("p", "a", HOME, tokens(100)).await.unwrap();
        let problem = key(&accounts, HOME).await.unwrap_err();
        assert!(problem.contains("cannot be reached") && !problem.contains("rt"), "{problem}");
        // A vendor that is away has not ended the sign-in.
        assert_eq!(accounts.list().unwrap()[0].status, Status::Usable);
    }

    #[tokio::test]
    async fn tokens_go_to_no_other_server_than_the_one_that_issued_them() {
        let (folder, accounts) = world();
        accounts.keep_tokens("p", "a", HOME, tokens(100)).await.unwrap();
        let vendor = Vendor { provider: "p".into(), token_url: "http://127.0.0.1:2/token".into(), ..Vendor::default() };
        let moved = Accounts::new(folder.path(), None, vec![vendor]);
        let problem = key(&moved, HOME).await.unwrap_err();
        assert!(problem.contains("another server"), "{problem}");
        // It counts again once the configuration names its server again.
        assert_eq!(moved.list().unwrap()[0].status, Status::Usable);
        let removed = moved.sign_out("p", None).await.unwrap();
        assert!(removed[0].not_revoked.is_some());
    }

    #[tokio::test]
    #[expect(clippy::disallowed_methods, reason = "the test damages the file")]
    async fn whoever_needs_no_key_does_not_mind_a_damaged_file() {
        let (_folder, accounts) = world();
        std::fs::write(accounts.store().file(), "damaged").unwrap();
        assert!(key(&accounts, HOME).await.unwrap_err().contains("is damaged"));
        let without = accounts.of_provider("p", HOME, false);
        assert_eq!((without.key(None).await, without.is_there()), (Ok(None), false));
    }
}
