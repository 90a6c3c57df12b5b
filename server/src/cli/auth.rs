//! `azimuth auth`: signing in to providers, keeping keys, and what there is. No secret is ever printed.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use accounts::{Accounts, Browser, Granted, Listed, OAuthError, Removed, Status};
use clap::{Args, Subcommand};
use futures_util::future::join_all;
use hub::clock::now;
use hub::config::{Config, dirs, key_status};
use hub::key_check::{check_each, check_new};
use hub::{lists, visible};
use platform::terminal::Hidden;
use protocol::auth::{KeyCheck, KeyMember, KeyState};
use protocol::model::SwitchReason;
use providers::{Pools, Secret, Settings};
use serde_json::json;
use store::SqliteStore;
use tokio::sync::mpsc;

use super::Failure;
use super::questions::lines;
use super::setup::{configuration, environment};
use super::signals::Signals;

/// The exit code of a cancelled command, as of `exec`.
pub(super) const CANCELLED: u8 = 130;

#[derive(Debug, Subcommand)]
pub(super) enum Auth {
    /// Sign in to a provider, or keep a key for it.
    Login(Login),
    /// Forget the accounts of a provider, and end its sign-ins at the vendor.
    Logout {
        /// The provider, such as `chatgpt`.
        provider: String,
        /// Only the account with this label.
        #[arg(long, visible_alias = "name", value_name = "NAME")]
        label: Option<String>,
    },
    /// List the accounts.
    List {
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show for each provider where its key comes from. With a provider, exits with 1 if there is no key for it; with
    /// `--check` also if one is refused.
    Status {
        /// The provider.
        provider: Option<String>,
        /// Ask each provider about each of its keys, which costs nothing.
        #[arg(long)]
        check: bool,
        /// Write JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(super) struct Login {
    /// The provider, such as `chatgpt`.
    provider: Option<String>,
    /// Sign in with a code that you type on any device.
    #[arg(long, conflicts_with_all = ["paste", "key"])]
    device: bool,
    /// Open no port: sign in with a browser on any machine, and paste the address that it ends at.
    #[arg(long, conflicts_with = "key")]
    paste: bool,
    /// Keep an API key. It is asked for, or read from standard input; it is never an argument.
    #[arg(long)]
    key: bool,
    /// Keep the key without asking the vendor about it.
    #[arg(long, visible_alias = "no-check", requires = "key")]
    unchecked: bool,
    /// The account's name, to have several at one provider. The one that you signed in with last is used; other keys
    /// stand in for a key that has reached a limit.
    #[arg(long, visible_alias = "name", value_name = "NAME", default_value = accounts::DEFAULT_LABEL)]
    label: String,
}

/// Runs a subcommand.
pub(super) async fn run(command: Auth) -> Result<ExitCode, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let mut config = configuration(&[folder])?;
    share_rests(&mut config);
    let Some(accounts) = config.accounts.clone() else {
        return Err(Failure::Said("no home folder is known; set HOME, or AZIMUTH_DATA_DIR".into()));
    };
    match command {
        Auth::Login(login) => {
            let signals = Signals::listen().map_err(Failure::new)?;
            tokio::select! {
                done = sign_in(&accounts, config, login) => done,
                () = signals.received(1) => {
                    say(&mut io::stderr(), "azimuth: cancelled; nothing was kept")?;
                    Ok(ExitCode::from(CANCELLED))
                }
            }
        }
        Auth::Logout { provider, label } => sign_out(&accounts, &provider, label.as_deref()).await,
        Auth::List { json } => list(&config, &accounts, json).await,
        Auth::Status { provider, check, json } => {
            let live = check.then(|| config.providers.clone());
            status(&config, &accounts, provider.as_deref(), live, json).await
        }
    }
}

async fn sign_in(accounts: &Arc<Accounts>, mut config: Config, login: Login) -> Result<ExitCode, Failure> {
    let Login { provider, device, paste, key, unchecked, label } = login;
    let Some(provider) = provider else {
        let names: Vec<_> = accounts.vendors().iter().map(|vendor| vendor.provider.as_str()).collect();
        return Err(Failure::Usage(format!(
            "which provider? One can sign in to {}; a key is kept with `azimuth auth login PROVIDER --key`",
            names.join(", ")
        )));
    };
    config.providers.add_known(&provider);
    let Some(known) = config.providers.provider_mut(&provider) else {
        return Err(Failure::Usage(format!(
            "there is no provider `{}`; name a vendor that `azimuth providers` lists, or add one with `azimuth providers add`",
            providers::keys::left_out(&provider)
        )));
    };
    let address = known.base_url.clone();
    if accounts::vendor::origin(&address).is_none() {
        return Err(Failure::Said(format!("{provider} has no address yet: set providers.{provider}.base_url first")));
    }
    if !key && accounts.vendor(&provider).is_none() {
        return Err(Failure::Usage(format!(
            "{provider} has no sign-in for programs like this one; keep a key with `azimuth auth login {provider} --key`"
        )));
    }
    if let Some(text) = accounts.set_aside_if_damaged().await.map_err(Failure::new)? {
        say(&mut io::stderr(), &text)?;
    }
    let mut out = io::stdout();
    let mut checked = None;
    let name = if key {
        let key = read_key(&provider, &mut lines()).await?;
        if !unchecked {
            say(&mut io::stderr(), &format!("azimuth: asking {provider} about the key…"))?;
            let refused = |error| Failure::Said(format!("{error}, or {}", all_the_same(&provider, &label)));
            checked = Some(check_new(&config.providers, &provider, &key).await.map_err(refused)?);
        }
        accounts.keep_key(&provider, &label, &address, key).await.map_err(Failure::new)?;
        None
    } else if device {
        let device = accounts.device(&provider).await.map_err(Failure::new)?;
        let (page, code) = (device.complete_url().unwrap_or(device.url()), device.user_code());
        say(&mut out, &format!("Open this page on any device:\n\n  {page}\n\nand enter this code: {code}\n"))?;
        accounts.finish_device(device, &provider, &label, &address).await.map_err(Failure::new)?
    } else {
        let mut browser = accounts.browser(&provider, &label, !paste).await.map_err(Failure::new)?;
        let granted = granted(&mut browser, paste, &mut out).await?;
        accounts.finish((browser, granted), &provider, &label, &address).await.map_err(Failure::new)?
    };
    let kept = match (&name, key) {
        (_, true) => format!("The key for {provider} is kept"),
        (Some(name), false) => format!("Signed in to {provider} as {name}"),
        (None, false) => format!("Signed in to {provider}"),
    };
    let file = accounts.store().file();
    say(&mut out, &format!("{kept}, in {}, which only you can read. It is not encrypted.", file.display()))?;
    if let Some(KeyCheck { state, words }) = checked {
        let note = if state == KeyState::Taken { "" } else { "Note: " };
        say(&mut out, &format!("{note}{words}"))?;
    }
    if let Some(first) = config.source_before_account(&provider, &label, &environment) {
        say(&mut out, &format!("It is not used yet: {first} counts before it."))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The command that keeps a key that its vendor refuses, as a part of a sentence.
fn all_the_same(provider: &str, label: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    let name = match label {
        accounts::DEFAULT_LABEL => String::new(),
        plain if plain.chars().all(is_plain) && !plain.starts_with('-') => format!(" --name {plain}"),
        other => format!(" --name='{}'", other.replace('\'', r"'\''")),
    };
    format!("keep it all the same with `azimuth auth login {provider} --key --unchecked{name}`")
}

/// The vendor's answer: from the browser, or pasted.
async fn granted(browser: &mut Browser, paste: bool, out: &mut impl Write) -> Result<Granted, Failure> {
    let url = browser.url();
    say(out, &format!("Open this page in a browser and sign in:\n\n  {url}\n"))?;
    let redirect = browser.redirect();
    say(
        out,
        &match paste {
            true => format!(
                "The browser ends at a page that it cannot show, at an address that begins with\n{redirect}\nPaste that \
                 address here:"
            ),
            false => "Waiting for the browser. If it runs on another machine, paste the address here that it ends at."
                .to_owned(),
        },
    )?;
    let mut lines = lines();
    loop {
        let pasted = tokio::select! {
            granted = browser.wait() => return granted.map_err(Failure::new),
            line = lines.recv() => line,
        };
        match pasted {
            Some(line) if line.trim().is_empty() => {}
            Some(line) => match browser.pasted(&line) {
                Ok(granted) => return Ok(granted),
                // A wrong line costs nothing: the user can paste again.
                Err(error @ OAuthError::Pasted(_)) => say(&mut io::stderr(), &format!("azimuth: {error}"))?,
                Err(error) => return Err(Failure::new(error)),
            },
            None if paste => return Err(Failure::Said("no address was pasted; nothing was kept".into())),
            None => return browser.wait().await.map_err(Failure::new),
        }
    }
}

/// Reads a key from the terminal, which does not show it, or from standard input, whose lines these are.
pub(super) async fn read_key(provider: &str, lines: &mut mpsc::UnboundedReceiver<String>) -> Result<Secret, Failure> {
    let hidden = if io::stdin().is_terminal() {
        let hidden = Hidden::input().ok();
        let shown = if hidden.is_some() { "it is not shown" } else { "it is shown, since this system cannot hide it" };
        let mut out = io::stderr();
        write!(out, "The key for {provider} ({shown}): ").and_then(|()| out.flush()).map_err(Failure::new)?;
        hidden
    } else {
        None
    };
    let line = lines.recv().await.unwrap_or_default();
    drop(hidden);
    let key = Secret::new(&line);
    if key.expose().is_empty() {
        return Err(Failure::Usage("there is no key in standard input".into()));
    }
    if !key.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::Usage("this is no key: it holds blanks or characters that no key has".into()));
    }
    Ok(key)
}

async fn sign_out(accounts: &Accounts, provider: &str, label: Option<&str>) -> Result<ExitCode, Failure> {
    let removed = accounts.sign_out(provider, label).await.map_err(Failure::new)?;
    if removed.is_empty() {
        return Err(Failure::Said("there is no such account; `azimuth auth list` lists them".into()));
    }
    for Removed { provider, label, not_revoked } in removed {
        say(&mut io::stdout(), &format!("The account `{label}` at {provider} is forgotten."))?;
        if let Some(problem) = not_revoked {
            let text = format!(
                "azimuth: {provider} was not told that the sign-in has ended: {problem}. End it in your account there."
            );
            say(&mut io::stderr(), &text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(config: &Config, accounts: &Accounts, json: bool) -> Result<ExitCode, Failure> {
    let kept = accounts.list().map_err(Failure::new)?;
    let mut members = HashMap::new();
    for provider in &config.providers.providers {
        members.insert(provider.name.as_str(), provider.members().await);
    }
    let mut out = io::stdout();
    for account in &kept {
        let Listed { provider, label, name, origin, is_sign_in, status, expires } = account;
        let of_provider = members.get(provider.as_str()).into_iter().flatten();
        let member = of_provider.into_iter().find(|member| member.is_account && member.name == *label);
        if json {
            let line = json!({
                "provider": provider, "label": label, "name": name, "server": origin,
                "kind": if *is_sign_in { "signIn" } else { "key" },
                "status": if *status == Status::Usable { "usable" } else { "ended" }, "expires": expires,
                "restsUntil": member.and_then(|member| member.rests_until),
            });
            say(&mut out, &visible::json(&line.to_string()))?;
            continue;
        }
        let kind = if *is_sign_in { "signed in" } else { "key" };
        let name = name.as_deref().map(|name| format!(" as {}", visible::line(name))).unwrap_or_default();
        let end = match status {
            Status::Usable => member.map(|member| format!("  {}", of_member(member))).unwrap_or_default(),
            Status::Ended => format!("  ended; run `azimuth auth login {provider}`"),
        };
        say(&mut out, &format!("{provider}  {label}  {kind}{name}, for {origin}{end}"))?;
    }
    if kept.is_empty() && !json {
        say(&mut out, "no accounts; `azimuth auth login PROVIDER` signs in, with `--key` it keeps a key")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Tells the source of each key. With `live` settings, each provider that has keys is asked about them.
async fn status(
    config: &Config,
    accounts: &Accounts,
    only: Option<&str>,
    live: Option<Settings>,
    json: bool,
) -> Result<ExitCode, Failure> {
    // That the file cannot be read is no reason to say that nobody is signed in.
    let kept = accounts.list().map_err(Failure::new)?;
    let mut out = io::stdout();
    let shown = config.providers.providers.iter().filter(|it| only.is_none_or(|only| it.name == only));
    let shown = shown.filter(|provider| only.is_some() || provider.has_key());
    let shown: Vec<_> = shown.map(|it| (it, key_status(it, &kept, &environment).map(|status| status.source))).collect();
    let with_keys: Vec<_> =
        shown.iter().filter(|(_, source)| source.is_some()).map(|(it, _)| it.name.as_str()).collect();
    if live.is_some() && !with_keys.is_empty() && !json {
        say(&mut io::stderr(), &format!("azimuth: checking the keys of {}…", with_keys.join(", ")))?;
    }
    let checks = shown.iter().map(|(provider, source)| async {
        match &live {
            Some(settings) if source.is_some() => check_each(settings, &provider.name).await,
            _ => Vec::new(),
        }
    });
    let checks = join_all(checks).await;
    let is_refused = checks.iter().flatten().any(|(_, check)| check.state == KeyState::Refused);
    for ((provider, source), checks) in shown.iter().zip(&checks) {
        let name = &provider.name;
        let members = provider.members().await;
        let line = match (json, source) {
            (true, _) => {
                let mut line = json!({ "provider": name, "key": source, "members": members });
                if live.is_some() {
                    let check = |(name, check): &(Option<String>, KeyCheck)| json!({ "name": name, "state": check.state, "words": check.words });
                    line["checks"] = checks.iter().map(check).collect();
                }
                visible::json(&line.to_string()).into_owned()
            }
            (false, Some(source)) => format!("{name}: {source}"),
            (false, None) => format!("{name}: no key; run `azimuth auth login {name}`"),
        };
        say(&mut out, &line)?;
        for (name, check) in checks.iter().filter(|_| !json) {
            let name = name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            say(&mut out, &format!("  {name}{}", check.words))?;
        }
        for member in members.iter().filter(|_| !json) {
            say(&mut out, &format!("  {}  {}", member.name, of_member(member)))?;
        }
    }
    if !with_keys.is_empty() {
        return Ok(if is_refused { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    if only.is_none() && !json {
        say(&mut out, "no provider has a key; `azimuth auth login PROVIDER` signs in, with `--key` it keeps a key")?;
    }
    Ok(if only.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Reads what other processes know of keys and accounts that rest, if there is a database.
pub(super) fn share_rests(config: &mut Config) {
    let Ok(folder) = dirs::data_folder(&environment) else { return };
    if config.providers.providers.iter().any(|provider| provider.has_several())
        && SqliteStore::is_there(&folder)
        && let Ok(store) = SqliteStore::open(&folder)
    {
        let pools = Pools::default();
        pools.keep_by(lists::keeper(Arc::new(store)));
        config.providers.use_pools(&pools);
    }
}

/// The status of one of several keys and accounts.
pub(super) fn of_member(member: &KeyMember) -> String {
    let Some(until) = member.rests_until else {
        return if member.in_use { "in use".to_owned() } else { "ready".to_owned() };
    };
    let minutes = until.saturating_sub(now()).div_ceil(60_000);
    let rests = match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    };
    match member.reason {
        Some(SwitchReason::Unauthorized) => format!("refused by the provider; it is tried again in {rests}"),
        Some(SwitchReason::QuotaUsedUp) => format!("its quota is used up; it rests for {rests}"),
        _ => format!("it has reached a limit and rests for {rests}"),
    }
}

pub(super) fn say(out: &mut impl Write, text: &str) -> Result<(), Failure> {
    writeln!(out, "{}", visible::text(text)).and_then(|()| out.flush()).map_err(Failure::new)
}
