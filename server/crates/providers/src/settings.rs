//! The configuration of providers: keys, hosts, models. Plain data.
//!
//! It comes from the user's configuration and environment only, never from a project.

mod own;
mod several;
mod signing;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use net::header::{HeaderName, HeaderValue};
use serde_json::{Map, Value};

pub use self::own::Defined;
pub use self::several::NamedKey;
use self::signing::GoogleAccount;
use crate::account::Account;
use crate::compat::Compat;
use crate::google::GoogleError;
use crate::key_from::KeyFrom;
use crate::keys;
use crate::pool::Pools;
pub use crate::secret::Secret;
use crate::signers::Signer;
use crate::vendors::{self, Vendor, host};
use crate::wire::Wire;

/// How long a server may be silent within an answer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// The settings of the configuration.
#[derive(Clone)]
pub struct Settings {
    /// The providers, in the order in which a default model is looked for; those on this machine last.
    pub providers: Vec<Provider>,
    /// The model of new sessions: an id, a name or an alias.
    pub default_model: Option<String>,
    /// The patterns of the models that may be used, such as `anthropic/*`; all if empty.
    pub enabled_models: Vec<String>,
    /// The names of providers that may not be used.
    pub disabled_providers: Vec<String>,
    /// The names of the providers that come before all others, in this order.
    pub provider_order: Vec<String>,
    /// A PEM file with further certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// How long a server may send nothing within an answer. 120 seconds by default.
    pub idle_timeout: Duration,
    /// The addresses of vendors, and the versions of their API, that follow from the environment: for those that the
    /// configuration adds.
    pub(crate) addresses: BTreeMap<&'static str, (String, Option<String>)>,
}

/// A provider of models.
#[derive(Clone)]
pub struct Provider {
    /// Its name, the first part of its models' ids.
    pub name: String,
    /// The wire format that it speaks.
    pub wire: Wire,
    /// The flags of the dialect that the user named, which count instead of those of its host.
    pub(crate) dialect: Option<&'static Compat>,
    /// Its address, with or without a version such as `/v1`.
    pub base_url: String,
    /// The key.
    pub key: Option<Secret>,
    /// Where a key would come from, for words: environment variables and where to get one, or a setting.
    pub key_source: String,
    /// True if nothing can be done without a key.
    pub needs_key: bool,
    /// Its models, where the user names them. Otherwise they are those of the data file, or the provider is asked.
    pub models: Vec<String>,
    /// True if it is looked for on this machine: then it is no matter if it is not there.
    pub is_local: bool,
    /// True if it is chosen as the default only after the servers on this machine.
    pub(crate) is_after_local: bool,
    /// True if nobody spoke of it, and it is there only because of credentials that the user may keep for other work.
    /// Nothing is sent to it before one of its models is chosen.
    pub(crate) is_unasked: bool,
    /// The dated version of Azure's API, if the user names one.
    pub(crate) api_version: Option<String>,
    /// True if the user said what it speaks.
    is_wire_chosen: bool,
    /// Where the key is fetched from, if there is no key.
    pub(crate) key_from: Option<KeyFrom>,
    /// The keys and accounts that the user lists, instead of one.
    keys: Vec<NamedKey>,
    /// The rests of keys and accounts, and what sessions use.
    pub(crate) pools: Pools,
    /// The profile and the region of its account at AWS that the user chose.
    aws_profile: Option<String>,
    aws_region: Option<String>,
    /// The region that its requests are signed for, if the address does not name it.
    signed_region: Option<String>,
    /// Its account at Google.
    google: GoogleAccount,
    /// Makes the headers of its requests, if they carry no key and go to a cloud.
    signer: Option<Signer>,
    /// The accounts that the user keeps for it, if nothing else says the key.
    pub(crate) account: Option<Arc<dyn Account>>,
    /// The headers that the user adds to each request.
    pub(crate) headers: Vec<(HeaderName, Secret)>,
    /// The fields that the user adds to the body of each request for an answer.
    pub(crate) extra_body: Map<String, Value>,
    /// The user's own flags of what its server wants.
    pub(crate) own: Compat,
    /// The models that the user describes.
    pub(crate) defined: Vec<Defined>,
    /// The mistake in the configuration for which nothing is sent to it.
    mistake: Option<String>,
}

impl fmt::Debug for Provider {
    /// Without what may be secret in its address.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Provider")
            .field("name", &self.name)
            .field("wire", &self.wire)
            .field("host", &crate::failure::host(&self.base_url))
            .field("key", &self.key)
            .field("models", &self.models)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Settings {
    /// Without the addresses of the environment, which may hold keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("providers", &self.providers)
            .field("default_model", &self.default_model)
            .field("ca_file", &self.ca_file)
            .field("idle_timeout", &self.idle_timeout)
            .finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_env(|_| None)
    }
}

impl Settings {
    /// The place of a provider among those that come before all others; none if it is none of them.
    pub(crate) fn place_of(&self, provider: &str) -> Option<usize> {
        self.provider_order.iter().position(|known| known == provider)
    }

    /// Puts the providers with these names before all others, in this order. The user has spoken of them. Gives the
    /// names that are neither a provider's nor a vendor's.
    pub fn put_first(&mut self, order: &[String]) -> Vec<String> {
        order.clone_into(&mut self.provider_order);
        for provider in self.providers.iter_mut().filter(|provider| order.contains(&provider.name)) {
            provider.is_unasked = false;
        }
        let is_there = |name: &str| self.providers.iter().any(|provider| provider.name == name);
        order.iter().filter(|name| !is_there(name) && vendors::named(name).is_none()).cloned().collect()
    }

    /// Reads the usual environment variables: the keys of the vendors that are known by name, and the addresses of some
    /// (`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`, `OLLAMA_HOST`).
    ///
    /// Anthropic, OpenAI and the local servers are always among the providers; others only with a key.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let lookup = |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let first = |names: &[String]| names.iter().find_map(|name| lookup(name));
        let mut settings = Self {
            providers: Vec::new(),
            default_model: None,
            enabled_models: Vec::new(),
            disabled_providers: Vec::new(),
            provider_order: Vec::new(),
            ca_file: None,
            idle_timeout: IDLE_TIMEOUT,
            addresses: BTreeMap::new(),
        };
        for vendor in vendors::all() {
            let address = vendor.address(lookup);
            let address = if address.is_empty() { first(&vendor.base_url_env).unwrap_or_default() } else { address };
            let version = vendor.version_env.as_deref().and_then(lookup);
            settings.addresses.insert(vendor.name.as_str(), (address.clone(), version.clone()));
            let found = vendor.keys.iter().find_map(|name| Some((name.as_str(), Secret::new(&lookup(name)?))));
            let (variable, key) = found.unzip();
            if key.is_none() && !vendor.always && !vendor.local {
                continue;
            }
            let mut provider = Provider::of(vendor, address);
            provider.set_api_version(version);
            match first(&vendor.base_url_env) {
                Some(host) if vendor.local => provider.base_url = ollama_url(&host),
                Some(address) if !vendor.base_url.is_empty() => provider.move_to(address),
                Some(_) | None => {}
            }
            // Key and address of one environment belong together.
            provider.key = key;
            provider.key_source = vendor.key_source(variable);
            settings.providers.push(provider);
        }
        settings
    }

    /// Takes in what the configuration says of one provider. What it does not say stays as it is; a provider that was
    /// not there is added.
    ///
    /// # Errors
    /// The name or the wire cannot be used, or an unknown provider has no address; says which. All but such a wire
    /// counts: a key that stands beside an address must not go anywhere else.
    pub fn set_provider(
        &mut self,
        name: &str,
        base_url: Option<String>,
        key: Option<String>,
        wire: Option<&str>,
        models: Vec<String>,
    ) -> Result<(), String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(is_plain) || name == "scripted" {
            return Err(format!("providers.{name}: a provider's name is letters, digits, `-`, `_` and `.`"));
        }
        if keys::left_out(name) != name {
            return Err("providers.…: the name looks like a key; a key stands in `key_env` or `key`".into());
        }
        let at = match self.providers.iter().position(|provider| provider.name == name) {
            Some(at) => at,
            None => self.add(name, base_url.as_deref())?,
        };
        let Some(provider) = self.providers.get_mut(at) else { return Ok(()) };
        provider.is_after_local = false;
        if let Some(base_url) = base_url {
            provider.move_to(base_url);
        }
        if let Some(key) = key {
            provider.key = Some(Secret::new(&key)).filter(|key| !key.expose().is_empty());
            provider.key_from = None;
            provider.keys.clear();
        }
        if !models.is_empty() {
            provider.models = models;
        }
        let Some(wire) = wire else { return Ok(()) };
        let names = || Wire::NAMES.join(", ");
        provider.wire =
            Wire::parse(wire).ok_or_else(|| format!("providers.{name}.wire: `{wire}` is none of {}", names()))?;
        provider.is_wire_chosen = true;
        Ok(())
    }

    /// Takes in whose Chat Completions a provider speaks.
    ///
    /// # Errors
    /// Nobody's are called so; says whose there are.
    pub fn set_dialect(&mut self, name: &str, dialect: &str) -> Result<(), String> {
        let Some(flags) = vendors::dialect(dialect) else {
            let names: Vec<_> = vendors::dialects().collect();
            return Err(format!("providers.{name}.dialect: `{dialect}` is none of {}", names.join(", ")));
        };
        self.provider_mut(name).into_iter().for_each(|provider| provider.dialect = Some(flags));
        Ok(())
    }

    /// The provider with this name, to say more of it.
    pub fn provider_mut(&mut self, name: &str) -> Option<&mut Provider> {
        self.providers.iter_mut().find(|provider| provider.name == name)
    }

    /// Adds the vendor of this name, if it is known and not among the providers: one for which the user keeps an
    /// account. False if there is none.
    pub fn add_known(&mut self, name: &str) -> bool {
        let Some(vendor) = vendors::named(name).filter(|_| self.provider_mut(name).is_none()) else { return false };
        let added = self.add(name, None).ok();
        let Some(provider) = added.and_then(|at| self.providers.get_mut(at)) else { return false };
        provider.is_after_local = false;
        provider.key_source = vendor.key_source(None);
        true
    }

    /// Adds a provider, before those on this machine. Gives its place.
    fn add(&mut self, name: &str, base_url: Option<&str>) -> Result<usize, String> {
        let provider = match (vendors::named(name), base_url) {
            (Some(vendor), _) => {
                let (address, version) = self.addresses.get(name).cloned().unwrap_or_default();
                let mut provider = Provider { key_source: key_setting(name), ..Provider::of(vendor, address) };
                provider.set_api_version(version);
                provider
            }
            (None, Some(base_url)) => Provider {
                name: name.into(),
                wire: Wire::OpenAiChat,
                dialect: None,
                base_url: base_url.into(),
                key: None,
                key_source: key_setting(name),
                needs_key: false,
                models: Vec::new(),
                is_local: false,
                is_after_local: false,
                is_unasked: false,
                api_version: None,
                is_wire_chosen: false,
                key_from: None,
                keys: Vec::new(),
                pools: Pools::default(),
                aws_profile: None,
                aws_region: None,
                signed_region: None,
                google: GoogleAccount::default(),
                signer: None,
                account: None,
                headers: Vec::new(),
                extra_body: Map::new(),
                own: Compat::default(),
                defined: Vec::new(),
                mistake: None,
            },
            (None, None) => return Err(format!("providers.{name}.base_url is missing: where is the provider?")),
        };
        let at = self.providers.iter().position(|provider| provider.is_local).unwrap_or(self.providers.len());
        self.providers.insert(at, provider);
        Ok(at)
    }
}

impl Provider {
    /// The provider that a vendor is at this address, without a key.
    fn of(vendor: &Vendor, base_url: String) -> Self {
        Self {
            name: vendor.name.clone(),
            wire: vendor.wire,
            dialect: None,
            base_url,
            key: None,
            key_source: vendor.key_source(None),
            needs_key: !vendor.local,
            models: Vec::new(),
            is_local: vendor.local,
            is_after_local: vendor.after_local,
            is_unasked: false,
            api_version: None,
            is_wire_chosen: false,
            key_from: None,
            keys: Vec::new(),
            pools: Pools::default(),
            aws_profile: None,
            aws_region: None,
            signed_region: None,
            google: GoogleAccount::default(),
            signer: None,
            account: None,
            headers: Vec::new(),
            extra_body: Map::new(),
            own: Compat::default(),
            defined: Vec::new(),
            mistake: None,
        }
    }

    /// Gives it another address. A server in OpenAI's or Google's stead most likely speaks Chat Completions only, and
    /// may not want a key. The key it had was meant for another server, and stays behind where this is one; a key of a
    /// vendor without an address was meant for the one that is said now.
    fn move_to(&mut self, base_url: String) {
        if !self.base_url.is_empty() && origin(&self.base_url) != origin(&base_url) {
            self.forget_secrets();
        }
        self.mistake = None;
        let is_home = self.vendor().is_some_and(|vendor| vendor.is_at(&base_url));
        self.wire = match self.name.as_str() {
            "openai" | "gemini" if self.is_wire_chosen => self.wire,
            "openai" if is_home => Wire::OpenAiResponses,
            // Google's own server speaks Chat Completions below this folder.
            "gemini" if is_home && !has_folder(&base_url, "openai") => Wire::Gemini,
            "openai" | "gemini" => Wire::OpenAiChat,
            _ => self.wire,
        };
        // A vendor without an address of its own is at home wherever its user has it.
        let is_home_anywhere = self.vendor().is_some_and(|vendor| vendor.base_url.is_empty());
        self.needs_key = is_home || is_home_anywhere || self.is_plan();
        self.base_url = base_url;
    }

    /// Forgets all that was meant for its server alone.
    fn forget_secrets(&mut self) {
        (self.key, self.key_from) = (None, None);
        self.keys.clear();
        (self.aws_profile, self.aws_region, self.signed_region) = (None, None, None);
        self.forget_google();
        // One of them may be a key too.
        self.headers.clear();
        self.defined.iter_mut().for_each(Defined::clear_headers);
    }

    /// Sends nothing to it for a mistake in what the configuration says of it: it may have named another server. Its
    /// address and its key are gone until a layer names a server.
    pub fn leave_out(&mut self, mistake: String) {
        self.move_to(String::new());
        // It may have had no address, by which it would not have moved.
        self.forget_secrets();
        self.mistake = Some(mistake);
    }

    /// Its host and port; empty if it has no address.
    pub fn host(&self) -> String {
        crate::failure::host(&self.base_url)
    }

    /// Its name for people.
    pub fn title(&self) -> String {
        let vendor = self.vendor().filter(|_| self.is_home() || self.is_local);
        vendor.map_or_else(|| self.name.clone(), |vendor| vendor.title.clone())
    }

    /// The vendor of its name.
    pub(crate) fn vendor(&self) -> Option<&'static Vendor> {
        vendors::named(&self.name)
    }

    /// The header that carries a key over this wire; none if the key holds what no header can.
    pub(crate) fn key_header(&self, wire: Wire, key: &Secret) -> Option<(&'static str, HeaderValue)> {
        let of_vendor = || self.vendor().and_then(|vendor| vendor.key_header);
        let header = self.compat().key_header.or_else(of_vendor);
        header.map_or_else(|| wire.key_header(key), |header| header.with(key))
    }

    /// The flags of its server: the user's own, then those of the dialect that the user named, else those of its
    /// host. How a key is sent, what a server keeps and what only Anthropic has is no matter of a dialect.
    pub(crate) fn compat(&self) -> Compat {
        let host = vendors::of_address(&self.base_url);
        let usual = match self.dialect {
            Some(flags) => Compat {
                key_header: host.key_header,
                store: host.store,
                opencode_session: host.opencode_session,
                betas: host.betas,
                effort_messages: host.effort_messages,
                cache_diagnosis: host.cache_diagnosis,
                cache_hour: host.cache_hour,
                eager_input_streaming: host.eager_input_streaming,
                ..flags.clone()
            },
            None => host,
        };
        self.own.over(&usual)
    }

    /// The wire of a model: the user's for this model, else its vendor's, unless the user said what the provider
    /// speaks.
    pub(crate) fn wire_of(&self, model: &str) -> Wire {
        if let Some(wire) = self.described(model).and_then(|own| own.wire) {
            return wire;
        }
        let route = self.vendor().filter(|_| !self.is_wire_chosen).and_then(|vendor| vendor.route(model));
        match route.map_or(self.wire, |route| route.wire) {
            Wire::Converse if !self.is_wire_chosen && self.has_no_converse() => Wire::OpenAiChat,
            wire => wire,
        }
    }

    /// True if its address is Bedrock's other one, which speaks OpenAI's formats and not Converse, or a gateway's that
    /// is like it: Converse has no version in its path.
    pub(crate) fn has_no_converse(&self) -> bool {
        let is_mantle = host(&self.base_url).is_some_and(|host| host.starts_with("bedrock-mantle."));
        is_mantle || has_folder(&self.base_url, "v1")
    }

    /// Why it cannot be asked, and what to do; none if it can.
    pub fn missing(&self) -> Option<String> {
        if let Some(mistake) = &self.mistake {
            return Some(mistake.clone());
        }
        if self.base_url.is_empty() {
            let variables = self.vendor().map(|vendor| vendor.base_url_env.join(" or ")).unwrap_or_default();
            return Some(format!("no address: set {variables}, or providers.{}.base_url", self.name));
        }
        if self.lacks_project() && !self.lacks_key() {
            return Some(GoogleError::NoProject { provider: self.name.clone() }.to_string());
        }
        self.lacks_key().then(|| match self.is_plan() {
            true => format!("not signed in: run `azimuth auth login {}`", self.name),
            false => format!("no key: set {}", self.key_source),
        })
    }

    /// True if its users pay by a plan and sign in, so that it has neither keys nor prices.
    pub(crate) fn is_plan(&self) -> bool {
        self.vendor().is_some_and(|vendor| vendor.sign_in)
    }

    /// True if nobody spoke of it: a server that may be on this machine, at its usual port.
    pub(crate) fn is_guess(&self) -> bool {
        self.is_local && self.vendor().is_some_and(|vendor| vendor.base_url == self.base_url)
    }

    /// True if it is at its vendor's own address, so that the data file says what models it has.
    pub(crate) fn is_home(&self) -> bool {
        self.vendor().is_some_and(|vendor| vendor.is_at(&self.base_url))
    }
}

/// The words for a provider that is known by name and is not set up: its key is missing, or its credentials are.
pub(crate) fn not_set_up(name: &str) -> Option<String> {
    vendors::named(name).filter(|vendor| !vendor.local).map(Vendor::not_set_up)
}

/// The setting that a key would come from, for words.
fn key_setting(name: &str) -> String {
    format!("the setting providers.{name}.key_env")
}

/// Scheme, host and port: what a key was given for. Over `http` it would be for all to read, so that is another.
fn origin(url: &str) -> Option<(String, String)> {
    let scheme = url.split_once("://")?.0;
    Some((scheme.to_ascii_lowercase(), host(url)?.to_ascii_lowercase()))
}

/// True if a folder of the path of an address has this name.
fn has_folder(url: &str, name: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    // Before it are the scheme, nothing, and the host.
    path.split('/').skip(3).any(|folder| folder == name)
}

/// `OLLAMA_HOST` is a host, a host and a port, or a URL; and what a server listens on (all interfaces) is not where it
/// is asked.
fn ollama_url(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(host, port)| port.parse::<u16>().is_ok() && (!host.contains(':') || host.ends_with(']')));
    let (host, port) = match authority.rsplit_once(':').filter(|_| has_port) {
        Some((host, port)) => (host, port),
        None if scheme == "https" => (authority, "443"),
        None => (authority, "11434"),
    };
    let host = match host {
        "" | "0.0.0.0" | "::" | "[::]" => "127.0.0.1",
        host => host,
    };
    format!("{scheme}://{host}:{port}/{path}").trim_end_matches('/').to_owned()
}
