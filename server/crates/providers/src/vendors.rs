//! The vendors and local servers that are known by name, and what their hosts want. The facts are in `providers.toml`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use net::Url;
use serde::{Deserialize, Deserializer, de};

use crate::cloud::{Cloud, SIGN_IN_AT_GOOGLE};
use crate::compat::{Compat, KeyHeader};
use crate::wire::Wire;

/// A vendor, or a server on this machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vendor {
    /// Its name in ids of models and in the configuration.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: String,
    /// The variables that may hold its key; the first that is set counts.
    #[serde(default)]
    pub(crate) keys: Vec<String>,
    /// The page where a key is made; none for a server on this machine.
    pub(crate) page: Option<String>,
    /// Its address.
    pub(crate) base_url: String,
    /// The variables that may hold another address; the first that is set counts.
    #[serde(default)]
    pub(crate) base_url_env: Vec<String>,
    /// The wire format that it speaks.
    #[serde(deserialize_with = "wire")]
    pub(crate) wire: Wire,
    /// True if it is listed even without a key.
    #[serde(default)]
    pub(crate) always: bool,
    /// True if it is chosen as the default only after the servers on this machine.
    #[serde(default)]
    pub(crate) after_local: bool,
    /// True if its users sign in, and pay by a plan: it has no keys, and lists the models of the plan.
    #[serde(default)]
    pub(crate) sign_in: bool,
    /// True if it is a server on this machine.
    #[serde(default)]
    pub(crate) local: bool,
    /// Its models, if it does not list them itself.
    #[serde(default)]
    pub(crate) models: Vec<String>,
    /// The texts in ids of models that it lists and that only its own program may use.
    #[serde(default)]
    without: Vec<String>,
    /// The header that carries the key, if it is not the usual one of the wire.
    pub(crate) key_header: Option<KeyHeader>,
    /// The cloud with whose credentials requests without a key are sent.
    pub(crate) signed: Option<Cloud>,
    /// The path after the host, if the address has none of its own.
    pub(crate) path: Option<String>,
    /// The path after the host below which its list of models is, if the address has no path of its own.
    pub(crate) list_path: Option<String>,
    /// The path below the version where it tells the credit of a key, if it does.
    pub(crate) quota_path: Option<String>,
    /// The variable that names a dated version of the API.
    pub(crate) version_env: Option<String>,
    region: Option<Region>,
    #[serde(default)]
    routes: Vec<Route>,
    #[serde(default)]
    regions: BTreeMap<String, f64>,
    #[serde(default)]
    publishers: Vec<String>,
}

/// The region in an address.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Region {
    variables: Vec<String>,
    usual: String,
    /// The addresses of regions whose host is not called like the others'.
    #[serde(default)]
    addresses: BTreeMap<String, String>,
    /// The price as a multiple of that in the usual region, in any other.
    factor: Option<f64>,
    /// The beginnings of ids of models that cost the same everywhere.
    #[serde(default)]
    flat: Vec<String>,
}

/// The wire of some of a vendor's models.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Route {
    /// The text in the ids of these models.
    text: String,
    /// The wire.
    #[serde(deserialize_with = "wire")]
    pub(crate) wire: Wire,
    /// The path after the host. {PROJECT} and {REGION} are those of the user's account.
    pub(crate) path: String,
    /// The provider whose models these are, with the same ids and prices.
    pub(crate) maker: Option<String>,
}

/// The beginning of ids of models that are served from anywhere.
const WORLD: &str = "global";
/// The beginning of those that are served from the regions of the government of the US.
const GOVERNMENT: &str = "us-gov";
/// The text that stands for a region in an address.
pub(crate) const REGION: &str = "{REGION}";
/// The text that stands for a project in a path.
pub(crate) const PROJECT: &str = "{PROJECT}";

impl Vendor {
    /// Its address, in the region that the environment names.
    pub(crate) fn address(&self, lookup: impl Fn(&str) -> Option<String>) -> String {
        let Some(region) = &self.region else { return self.base_url.clone() };
        let named = self.named_region(lookup).ok().flatten().unwrap_or_else(|| region.usual.clone());
        region.addresses.get(&named).cloned().unwrap_or_else(|| self.base_url.replace(REGION, &named))
    }

    /// The region that the environment names: that of the first variable that is set.
    ///
    /// # Errors
    /// Its value is no region; gives its name.
    pub(crate) fn named_region(&self, lookup: impl Fn(&str) -> Option<String>) -> Result<Option<String>, &str> {
        let mut variables = self.region.iter().flat_map(|region| &region.variables);
        let named = variables.find_map(|name| {
            let region = lookup(name)?.trim().to_ascii_lowercase();
            (!region.is_empty()).then_some((name, region))
        });
        match named {
            // It becomes a part of a host's name, and nothing else.
            Some((name, region)) if !region.chars().all(is_of_region) => Err(name),
            named => Ok(named.map(|(_, region)| region)),
        }
    }

    /// The region without a name.
    pub(crate) fn usual_region(&self) -> Option<&str> {
        self.region.as_ref().map(|region| region.usual.as_str())
    }

    /// The region of an address of its own; none if it is not its own, or has none.
    pub(crate) fn region_of(&self, base_url: &str) -> Option<String> {
        let (region, other) = (self.region.as_ref()?, host(base_url)?);
        let by_name = region.addresses.iter().find(|(_, address)| host(address) == Some(other));
        let (before, after) = host(&self.base_url)?.split_once(REGION)?;
        let by_host = || other.strip_prefix(before)?.strip_suffix(after).map(str::to_owned);
        by_name.map(|(name, _)| name.clone()).or_else(by_host).filter(|region| region.chars().all(is_of_region))
    }

    /// The price of a model in a region as a multiple of the usual one.
    pub(crate) fn factor(&self, model: &str, region: Option<&str>) -> f64 {
        let Some(known) = &self.region else { return 1.0 };
        let is_flat = known.flat.iter().any(|beginning| model.starts_with(beginning.as_str()));
        let is_usual = region.is_none_or(|region| region == known.usual);
        known.factor.filter(|_| !is_flat && !is_usual).unwrap_or(1.0)
    }

    /// True if an address is its own, in whatever region.
    pub(crate) fn is_at(&self, base_url: &str) -> bool {
        let (own, other) = (host(&self.base_url), host(base_url));
        let mut addresses = self.region.iter().flat_map(|region| region.addresses.values());
        if other.is_some() && addresses.any(|address| host(address) == other) {
            return true;
        }
        match (own.and_then(|own| own.split_once(REGION)), other) {
            (Some((before, after)), Some(other)) => other.starts_with(before) && other.ends_with(after),
            (None, other) => own.is_some_and(|own| !own.is_empty()) && own == other,
            (Some(_), None) => false,
        }
    }

    /// True if it names its models with a region.
    pub(crate) fn has_regions(&self) -> bool {
        !self.regions.is_empty()
    }

    /// True if the project of its users' account is a part of its paths.
    pub(crate) fn has_projects(&self) -> bool {
        self.routes.iter().any(|route| route.path.contains(PROJECT))
    }

    /// True if it has paths of its own, for conversations only.
    pub(crate) fn has_own_paths(&self) -> bool {
        self.path.is_some() || !self.routes.is_empty()
    }

    /// True if it serves a model of its list to other programs than its own.
    pub(crate) fn serves(&self, model: &str) -> bool {
        !self.without.iter().any(|text| model.contains(text.as_str()))
    }

    /// True if it says who makes some of its models, which have the prices of their makers there.
    pub(crate) fn names_makers(&self) -> bool {
        self.routes.iter().any(|route| route.maker.is_some())
    }

    /// The wire of a model, if it has wires by the model.
    pub(crate) fn route(&self, model: &str) -> Option<&Route> {
        self.routes.iter().find(|route| model.contains(route.text.as_str()))
    }

    /// The route of a model over a wire that need not be its own there, such as one that the user chose; none if the
    /// vendor has no models of this wire.
    pub(crate) fn route_over(&self, wire: Wire, model: &str) -> Option<&Route> {
        let own = self.route(model).filter(|route| route.wire == wire);
        own.or_else(|| self.routes.iter().find(|route| route.wire == wire))
    }

    /// The usual id of a model that it names with a region, and its price as a multiple of the usual one.
    pub(crate) fn usual_id<'a>(&self, id: &'a str) -> Option<(&'a str, f64)> {
        let (region, rest) = id.split_once('.')?;
        let factor = *self.regions.get(region)?;
        let (publisher, model) = rest.split_once('.')?;
        if !self.publishers.iter().any(|known| known == publisher) {
            return None;
        }
        // A version such as `-v1` or `-v1:0`.
        let is_version = |end: &str| !end.is_empty() && end.chars().all(|c| c.is_ascii_digit() || c == ':');
        let usual = model.rsplit_once("-v").filter(|(_, end)| is_version(end)).map_or(model, |(usual, _)| usual);
        Some((usual, factor))
    }

    /// The ids under which its data may have a model that is named with a region: without one, where the price is the
    /// same but for the government's, and for the whole world; with the price here as a multiple of the one there.
    pub(crate) fn in_other_regions<'a>(&self, id: &'a str) -> impl Iterator<Item = (Cow<'a, str>, f64)> {
        let named = id.split_once('.').and_then(|(region, rest)| Some((region, *self.regions.get(region)?, rest)));
        let world = self.regions.get(WORLD).copied().unwrap_or(1.0);
        let others = named.map(|(region, factor, rest)| {
            let plain = if region == GOVERNMENT { factor } else { 1.0 };
            [(Cow::Borrowed(rest), plain), (Cow::Owned(format!("{WORLD}.{rest}")), factor / world)]
        });
        others.into_iter().flatten()
    }

    /// The words for a request to it if it is not set up.
    pub(crate) fn not_set_up(&self) -> String {
        match self.signed {
            Some(Cloud::Aws) => {
                let source = self.key_source(None);
                format!("there is no key for {}; set {source}, or AWS's credentials and AWS_REGION", self.name)
            }
            Some(Cloud::Google) => format!(
                "no credentials or no project: run `{SIGN_IN_AT_GOOGLE}` and set GOOGLE_CLOUD_PROJECT, or set \
                 providers.{}.key_env",
                self.name
            ),
            None => format!("there is no key for {}; set {}", self.name, self.key_source(None)),
        }
    }

    /// Where its key comes from, in words: the variable that holds it, or those that may.
    pub(crate) fn key_source(&self, variable: Option<&str>) -> String {
        match &self.page {
            Some(page) => {
                let variables = variable.map_or_else(|| self.keys.join(" or "), str::to_owned);
                format!("{variables} (a key is made at {page})")
            }
            None if self.sign_in => format!("an account by `azimuth auth login {}`", self.name),
            None => format!("the setting providers.{}.key_env", self.name),
        }
    }
}

/// Every vendor, in the order in which a default model is looked for.
pub(crate) fn all() -> &'static [Vendor] {
    &file().vendor
}

/// The vendors and local servers that are known: their names in the configuration, and for people.
pub fn known() -> impl Iterator<Item = (&'static str, &'static str)> {
    all().iter().map(|vendor| (vendor.name.as_str(), vendor.title.as_str()))
}

/// The vendor with this name.
pub(crate) fn named(name: &str) -> Option<&'static Vendor> {
    all().iter().find(|vendor| vendor.name == name)
}

/// The flags of the dialect with this name.
pub(crate) fn dialect(name: &str) -> Option<&'static Compat> {
    file().dialect.iter().find(|dialect| dialect.name == name).map(|dialect| &dialect.compat)
}

/// The names of the dialects.
pub fn dialects() -> impl Iterator<Item = &'static str> {
    file().dialect.iter().map(|dialect| dialect.name.as_str())
}

/// The flags of the server at an address: those of its host, or of the nearest host above it.
pub(crate) fn of_address(base_url: &str) -> Compat {
    nearest(base_url)
        .map(|host| {
            let usual = host.dialect.as_deref().and_then(dialect);
            usual.map_or_else(|| host.compat.clone(), |usual| host.compat.over(usual))
        })
        .unwrap_or_default()
}

/// True if the server at an address has no version before this path.
pub(crate) fn is_unversioned(base_url: &str, path: &str) -> bool {
    nearest(base_url).is_some_and(|host| host.unversioned.iter().any(|known| known == path))
}

/// The facts about the host of an address, or about the nearest host above it.
fn nearest(base_url: &str) -> Option<&'static Host> {
    let url = Url::parse(base_url.trim()).ok();
    let address = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let is_at = |home: &str| {
        // Google's regions stand before this host with a hyphen: `us-central1-aiplatform.googleapis.com`.
        let is_hyphened = home == "aiplatform.googleapis.com";
        address
            .strip_suffix(home)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.') || is_hyphened && rest.ends_with('-'))
    };
    file().host.iter().filter(|host| is_at(&host.home)).max_by_key(|host| host.home.len())
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "the day of the facts, for those who read them")]
    as_of: String,
    vendor: Vec<Vendor>,
    dialect: Vec<Dialect>,
    host: Vec<Host>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Dialect {
    name: String,
    #[serde(default)]
    compat: Compat,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Host {
    home: String,
    dialect: Option<String>,
    #[serde(default)]
    compat: Compat,
    /// The paths that have no version before them.
    #[serde(default)]
    unversioned: Vec<String>,
}

fn file() -> &'static File {
    static FILE: LazyLock<File> = LazyLock::new(|| {
        // A test reads the file, so this cannot fail in a program that passed it.
        toml::from_str(include_str!("providers.toml")).unwrap_or_default()
    });
    &FILE
}

/// The host and port of an address, as it is written.
pub(crate) fn host(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '?', '#']).next()
}

fn is_of_region(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-'
}

fn wire<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wire, D::Error> {
    let name = String::deserialize(deserializer)?;
    Wire::parse(&name).ok_or_else(|| de::Error::custom(format!("`{name}` is no wire")))
}

#[cfg(test)]
mod tests;
