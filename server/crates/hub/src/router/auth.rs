//! Accounts for clients: what is kept, and one sign-in at a time for each client.

use std::collections::HashMap;
use std::sync::Arc;

use accounts::{Accounts, Browser, DEFAULT_LABEL, Device, Granted, Listed, OAuthError, Status, StoreError};
use protocol::auth::{
    Account, AccountKind, AuthCancelParams, AuthKeepParams, AuthKeepResult, AuthListParams, AuthListResult,
    AuthLoginParams, AuthLoginResult, AuthLogoutParams, AuthLogoutResult, AuthPasteParams, AuthWaitParams,
    AuthWaitResult, KeyProvider, RemovedAccount, SignInProvider, SignInWay,
};
use protocol::terminal::Done as Nothing;
use protocol::{ErrorCode, methods};
use providers::{Secret, keys};
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::task::AbortHandle;

use super::super::post::{Message, Shared};
use super::super::request::Handlers;
use super::super::session;
use super::{ClientId, Error, Reply, Router};
use crate::config::Config;
use crate::key_check::{KeyRefused, check_new};

/// The sign-ins that have begun, by their clients.
#[derive(Default)]
pub(super) struct SignIns {
    last: u64,
    open: HashMap<ClientId, Open>,
    /// The number of keys that were given to be kept.
    keys: u64,
    written: Written,
}

/// The number of the last key that was written or forgotten, for each provider and name. Held while one is written: a
/// vendor may take its time to be asked, and an older key never replaces a newer one.
type Written = Arc<Mutex<HashMap<(String, String), u64>>>;

/// A sign-in that has begun. Dropping it ends it: its port is closed, and nothing is kept.
struct Open {
    id: u64,
    pasted: mpsc::UnboundedSender<(String, Reply<Nothing>)>,
    /// The result, until somebody waits for it.
    result: Option<oneshot::Receiver<Result<AuthWaitResult, Error>>>,
    task: AbortHandle,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SignIns {
    /// Ends the sign-in of a client.
    pub(super) fn gone(&mut self, id: ClientId) {
        self.open.remove(&id);
    }

    /// The sign-in with this number.
    fn find(&mut self, client: ClientId, id: u64) -> Result<&mut Open, Error> {
        let open = self.open.get_mut(&client).filter(|open| open.id == id);
        open.ok_or_else(|| Error::not_found("sign-in", id))
    }
}

/// Registers what is answered here.
pub(super) fn register(handlers: &mut Handlers<Router, ClientId>) {
    handlers
        .on::<methods::AuthList>(Router::auth_list)
        .on::<methods::AuthKeep>(Router::auth_keep)
        .on::<methods::AuthLogin>(Router::auth_login)
        .on::<methods::AuthWait>(Router::auth_wait)
        .on::<methods::AuthPaste>(Router::auth_paste)
        .at_once::<methods::AuthCancel>(|router, client, params: AuthCancelParams| {
            if router.sign_ins.find(client, params.login_id).is_ok() {
                router.sign_ins.gone(client);
            }
            Ok(Nothing {})
        })
        .on::<methods::AuthLogout>(Router::auth_logout);
}

impl Router {
    /// Has everybody use another configuration.
    pub(super) fn use_config(&mut self, config: Arc<Config>) {
        let mut config = Config::clone(&config);
        config.providers.use_pools(self.shared.parts.catalog.pools());
        let config = Arc::new(config);
        self.config = Arc::clone(&config);
        self.shared.parts.catalog.configure(config.providers.clone());
        self.shared.cooldowns.clear();
        self.shared.secrets.configure(Arc::clone(&config));
        self.inline.configure(Arc::clone(&config));
        self.tell_all(|| session::Message::Config(Arc::clone(&config)));
    }

    /// Looks at the accounts again.
    pub(super) fn accounts_changed(&mut self) {
        let mut config = Config::clone(&self.config);
        config.look_at_accounts();
        self.use_config(Arc::new(config));
    }

    fn accounts(&self) -> Result<Arc<Accounts>, Error> {
        let none = || Error::new(ErrorCode::OperationFailed, "no home folder is known; set HOME, or AZIMUTH_DATA_DIR");
        self.config.accounts.clone().ok_or_else(none)
    }

    fn auth_list(&mut self, _: ClientId, _: AuthListParams, reply: Reply<AuthListResult>) {
        let (accounts, config) = (self.accounts(), Arc::clone(&self.config));
        tokio::spawn(async move {
            let listed = match accounts {
                Ok(accounts) => listed(&accounts, &config).await,
                Err(error) => Err(error),
            };
            let _ = reply.send(listed);
        });
    }

    /// Keeps a key as an account.
    fn auth_keep(&mut self, _: ClientId, params: AuthKeepParams, reply: Reply<AuthKeepResult>) {
        let AuthKeepParams { provider, label, key, unchecked } = params;
        let (accounts, address) = match (self.accounts(), self.address_of(&provider)) {
            (Ok(accounts), Ok(address)) => (accounts, address),
            (Err(error), _) | (_, Err(error)) => return drop(reply.send(Err(error))),
        };
        let label = label.unwrap_or_else(|| DEFAULT_LABEL.to_owned());
        let (shared, config) = (self.shared.clone(), Arc::clone(&self.config));
        self.sign_ins.keys += 1;
        let (number, written) = (self.sign_ins.keys, Arc::clone(&self.sign_ins.written));
        tokio::spawn(async move {
            let (label, key) = (label.trim(), Secret::new(&key));
            let given = Given { provider: &provider, label, address: &address, key, number };
            let kept = keep(&accounts, &config, given, &written, unchecked).await;
            if kept.is_ok() {
                shared.post(None, Message::AccountsChanged);
            }
            let _ = reply.send(kept);
        });
    }

    /// The address of a provider that is set up, or known by name: what its accounts are for.
    fn address_of(&self, provider: &str) -> Result<String, Error> {
        let mut providers = self.config.providers.clone();
        providers.add_known(provider);
        let address = providers.provider_mut(provider).map(|known| known.base_url.clone());
        let address = address.ok_or_else(|| Error::not_found("provider", keys::left_out(provider)))?;
        if accounts::vendor::origin(&address).is_none() {
            let text = format!("{provider} has no address yet: set providers.{provider}.base_url first");
            return Err(Error::new(ErrorCode::OperationFailed, text));
        }
        Ok(address)
    }

    /// Begins a sign-in; one of the same client that has begun ends.
    fn auth_login(&mut self, client: ClientId, params: AuthLoginParams, reply: Reply<AuthLoginResult>) {
        let AuthLoginParams { provider, way, label } = params;
        let accounts = self.accounts().and_then(|accounts| match accounts.vendor(&provider) {
            Some(_) => Ok(accounts),
            None => Err(Error::not_found("sign-in for the provider", &provider)),
        });
        let (accounts, address) = match (accounts, self.address_of(&provider)) {
            (Ok(accounts), Ok(address)) => (accounts, address),
            (Err(error), _) | (_, Err(error)) => return drop(reply.send(Err(error))),
        };
        self.sign_ins.gone(client);
        self.sign_ins.last += 1;
        let id = self.sign_ins.last;
        let (pasted, pastes) = mpsc::unbounded_channel();
        let (done, result) = oneshot::channel();
        let label = label.unwrap_or_else(|| DEFAULT_LABEL.to_owned());
        let begun = Begun { id, accounts, provider, label, address };
        let shared = self.shared.clone();
        let task = tokio::spawn(async move {
            let started = begun.start(way).await;
            let _ = reply.send(started.as_ref().map(|(shown, _)| shown.clone()).map_err(Clone::clone));
            let Ok((_, way)) = started else { return };
            let _ = done.send(begun.finish(way, pastes, &shared).await);
        });
        let open = Open { id, pasted, result: Some(result), task: task.abort_handle() };
        self.sign_ins.open.insert(client, open);
    }

    fn auth_wait(&mut self, client: ClientId, params: AuthWaitParams, reply: Reply<AuthWaitResult>) {
        let found = self.sign_ins.find(client, params.login_id);
        let taken = || Error::new(ErrorCode::OperationFailed, "somebody waits for this sign-in already");
        match found.and_then(|open| open.result.take().ok_or_else(taken)) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(result) => drop(tokio::spawn(async move {
                let cancelled = |_| Err(Error::new(ErrorCode::OperationFailed, "the sign-in was cancelled"));
                let _ = reply.send(result.await.unwrap_or_else(cancelled));
            })),
        }
    }

    fn auth_paste(&mut self, client: ClientId, params: AuthPasteParams, reply: Reply<Nothing>) {
        match self.sign_ins.find(client, params.login_id) {
            Err(error) => drop(reply.send(Err(error))),
            Ok(open) => {
                if let Err(mpsc::error::SendError((_, reply))) = open.pasted.send((params.address, reply)) {
                    let _ = reply.send(Err(not_waited_for()));
                }
            }
        }
    }

    fn auth_logout(&mut self, _: ClientId, params: AuthLogoutParams, reply: Reply<AuthLogoutResult>) {
        let accounts = match self.accounts() {
            Ok(accounts) => accounts,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let shared = self.shared.clone();
        self.sign_ins.keys += 1;
        let (number, written) = (self.sign_ins.keys, Arc::clone(&self.sign_ins.written));
        tokio::spawn(async move {
            // A key that was given before and is still being checked is not kept any more.
            let forgotten = (params.provider.clone(), params.label.clone().unwrap_or_default());
            let mut written = written.lock().await;
            let last = written.entry(forgotten).or_default();
            *last = number.max(*last);
            let removed = accounts.sign_out(&params.provider, params.label.as_deref()).await;
            shared.post(None, Message::AccountsChanged);
            let _ = reply.send(match removed {
                Err(error) => Err(error.into()),
                Ok(removed) if removed.is_empty() => Err(Error::not_found("account at", &params.provider)),
                Ok(removed) => {
                    let removed = removed.into_iter();
                    let shown = |it: accounts::Removed| RemovedAccount { label: it.label, not_revoked: it.not_revoked };
                    Ok(AuthLogoutResult { removed: removed.map(shown).collect() })
                }
            });
        });
    }
}

async fn listed(accounts: &Accounts, config: &Config) -> Result<AuthListResult, Error> {
    let providers = accounts.vendors().iter().map(|vendor| {
        let by_browser = [SignInWay::Browser, SignInWay::Paste].into_iter().filter(|_| vendor.authorize_url.is_some());
        let ways = by_browser.chain(vendor.device_url.as_ref().map(|_| SignInWay::Device)).collect();
        SignInProvider { provider: vendor.provider.clone(), title: vendor.title.clone(), ways }
    });
    let kept = accounts.list()?;
    let mut keys = config.key_statuses(&kept, &environment);
    config.tell_members(&mut keys).await;
    let with_keys = config.providers.with_keys().into_iter();
    Ok(AuthListResult {
        accounts: kept.into_iter().map(shown).collect(),
        providers: providers.collect(),
        keys,
        key_providers: with_keys.map(|(provider, title)| KeyProvider { provider, title }).collect(),
    })
}

/// A key that the user gives.
struct Given<'a> {
    provider: &'a str,
    label: &'a str,
    /// The provider's address, for which the key counts.
    address: &'a str,
    key: Secret,
    /// The number of keys that were given up to this one.
    number: u64,
}

async fn keep(
    accounts: &Accounts,
    config: &Config,
    Given { provider, label, address, key, number }: Given<'_>,
    written: &Written,
    unchecked: bool,
) -> Result<AuthKeepResult, Error> {
    let failed = |text: &str| Error::new(ErrorCode::OperationFailed, text);
    if label.is_empty() {
        return Err(failed("an account needs a name, such as `work`"));
    }
    if key.expose().is_empty() || !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(failed("this is no key: it is empty, or holds blanks or characters that no key has"));
    }
    let check = match unchecked {
        true => None,
        false => {
            let checked = check_new(&config.providers, provider, &key).await;
            let refused = |error: KeyRefused| Error::new(ErrorCode::NotConfirmed, format!("{error}."));
            Some(checked.map_err(refused)?)
        }
    };
    let mut written = written.lock().await;
    // Without a name, all of the provider's were forgotten.
    let last = [label, ""].map(|label| written.get(&(provider.to_owned(), label.to_owned())).copied());
    if last.into_iter().flatten().any(|last| last > number) {
        let text = "a newer key was kept under this name meanwhile, or it was forgotten, so this one was not kept";
        return Err(failed(text));
    }
    if let Some(text) = accounts.set_aside_if_damaged().await? {
        tracing::warn!("{text}");
    }
    accounts.keep_key(provider, label, address, key).await?;
    written.insert((provider.to_owned(), label.to_owned()), number);
    drop(written);
    let account = kept_as(accounts, provider, label)?;
    let counts = config.source_before_account(provider, label, &environment);
    let unused_because = counts.map(|source| format!("{source} counts before it"));
    Ok(AuthKeepResult { account, unused_because, check })
}

/// The account with this label.
fn kept_as(accounts: &Accounts, provider: &str, label: &str) -> Result<Account, Error> {
    let kept = accounts.list()?.into_iter().find(|kept| kept.provider == provider && kept.label == label);
    kept.map(shown).ok_or_else(|| Error::not_found("account at", provider))
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|it| !it.is_empty())
}

/// A sign-in in a task of its own.
struct Begun {
    id: u64,
    accounts: Arc<Accounts>,
    provider: String,
    label: String,
    /// The provider's address, for which the account counts.
    address: String,
}

/// The sign-in that is waited for.
enum Way {
    Browser(Box<Browser>),
    Device(Box<Device>),
}

impl Begun {
    async fn start(&self, way: SignInWay) -> Result<(AuthLoginResult, Way), Error> {
        let Self { id, accounts, provider, label, .. } = self;
        if let Some(text) = accounts.set_aside_if_damaged().await? {
            tracing::warn!("{text}");
        }
        if way == SignInWay::Device {
            let device = accounts.device(provider).await?;
            let url = device.complete_url().unwrap_or(device.url()).to_owned();
            let user_code = Some(device.user_code().to_owned());
            let shown = AuthLoginResult { login_id: *id, url, user_code, redirect: None };
            return Ok((shown, Way::Device(Box::new(device))));
        }
        let browser = accounts.browser(provider, label, way == SignInWay::Browser).await?;
        let (url, redirect) = (browser.url().to_string(), Some(browser.redirect().to_string()));
        Ok((AuthLoginResult { login_id: *id, url, user_code: None, redirect }, Way::Browser(Box::new(browser))))
    }

    async fn finish(
        &self,
        way: Way,
        mut pastes: mpsc::UnboundedReceiver<(String, Reply<Nothing>)>,
        shared: &Shared,
    ) -> Result<AuthWaitResult, Error> {
        let Self { accounts, provider, label, address, .. } = self;
        match way {
            Way::Device(device) => {
                refuse(&mut pastes);
                accounts.finish_device(*device, provider, label, address).await?;
            }
            Way::Browser(mut browser) => {
                let granted = granted(&mut browser, &mut pastes).await;
                refuse(&mut pastes);
                accounts.finish((*browser, granted?), provider, label, address).await?;
            }
        }
        shared.post(None, Message::AccountsChanged);
        Ok(AuthWaitResult { account: kept_as(accounts, provider, label)? })
    }
}

/// The vendor's answer, from the browser or pasted. A wrong address is answered, and the wait goes on.
async fn granted(
    browser: &mut Browser,
    pastes: &mut mpsc::UnboundedReceiver<(String, Reply<Nothing>)>,
) -> Result<Granted, Error> {
    loop {
        let (text, reply) = tokio::select! {
            granted = browser.wait() => return Ok(granted?),
            Some(pasted) = pastes.recv() => pasted,
        };
        match browser.pasted(&text) {
            Ok(granted) => {
                let _ = reply.send(Ok(Nothing {}));
                return Ok(granted);
            }
            Err(error @ OAuthError::Pasted(_)) => drop(reply.send(Err(error.into()))),
            Err(error) => {
                let _ = reply.send(Ok(Nothing {}));
                return Err(error.into());
            }
        }
    }
}

/// Answers the addresses that come too late, and takes no more.
fn refuse(pastes: &mut mpsc::UnboundedReceiver<(String, Reply<Nothing>)>) {
    pastes.close();
    while let Ok((_, reply)) = pastes.try_recv() {
        let _ = reply.send(Err(not_waited_for()));
    }
}

fn not_waited_for() -> Error {
    Error::new(ErrorCode::OperationFailed, "this sign-in waits for no address")
}

fn shown(kept: Listed) -> Account {
    Account {
        provider: kept.provider,
        label: kept.label,
        name: kept.name,
        server: kept.origin,
        kind: if kept.is_sign_in { AccountKind::SignIn } else { AccountKind::Key },
        ended: kept.status == Status::Ended,
    }
}

impl From<OAuthError> for Error {
    fn from(error: OAuthError) -> Self {
        Self::new(ErrorCode::OperationFailed, error.to_string())
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        Self::new(ErrorCode::OperationFailed, error.to_string())
    }
}
