//! The configuration of providers: keys, hosts, models. Plain data.
//!
//! It comes from the user's configuration and environment only, never from a project.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::keys;
use crate::wire::{Dialect, Wire};

/// How long a server may be silent within an answer.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// The providers that we know by name: name, variable of the key, address, what it speaks.
const KNOWN: &[(&str, &str, &str, Wire)] = &[
    ("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com", Wire::Anthropic),
    ("openai", "OPENAI_API_KEY", "https://api.openai.com", Wire::OpenAiResponses),
    ("openrouter", "OPENROUTER_API_KEY", "https://openrouter.ai/api/v1", Wire::OpenAiChat),
    ("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com", Wire::OpenAiChat),
    ("groq", "GROQ_API_KEY", "https://api.groq.com/openai/v1", Wire::OpenAiChat),
    ("mistral", "MISTRAL_API_KEY", "https://api.mistral.ai/v1", Wire::OpenAiChat),
    ("xai", "XAI_API_KEY", "https://api.x.ai/v1", Wire::OpenAiChat),
    ("inception", "INCEPTION_API_KEY", "https://api.inceptionlabs.ai/v1", Wire::OpenAiChat),
    ("gemini", "GEMINI_API_KEY", "https://generativelanguage.googleapis.com", Wire::Gemini),
];

/// The variables that are looked at if a provider's own is not set. Google's SDKs read both of Gemini's.
const SECOND_KEYS: &[(&str, &str)] = &[("gemini", "GOOGLE_API_KEY")];

/// Servers that run on the user's machine: name, default address.
const LOCAL: &[(&str, &str)] = &[
    ("ollama", "http://127.0.0.1:11434"),
    ("lm-studio", "http://127.0.0.1:1234"),
    ("llama.cpp", "http://127.0.0.1:8080"),
];

/// The settings of the configuration.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The providers, in the order in which a default model is looked for; those on this machine last.
    pub providers: Vec<Provider>,
    /// The model of new sessions: an id, a name or an alias.
    pub default_model: Option<String>,
    /// A PEM file with further certificate authorities.
    pub ca_file: Option<PathBuf>,
    /// How long a server may send nothing within an answer. 120 seconds by default.
    pub idle_timeout: Duration,
}

/// A provider of models.
#[derive(Clone)]
pub struct Provider {
    /// Its name, the first part of its models' ids.
    pub name: String,
    /// The wire format that it speaks.
    pub wire: Wire,
    /// The vendor whose Chat Completions it speaks, if that does not follow from its host.
    pub dialect: Option<Dialect>,
    /// Its address, with or without a version such as `/v1`.
    pub base_url: String,
    /// The key.
    pub key: Option<Secret>,
    /// Where a key would come from, for words: an environment variable or a setting.
    pub key_source: String,
    /// True if nothing can be done without a key.
    pub needs_key: bool,
    /// Its models, where the user names them. Otherwise they are those of the data file, or the provider is asked.
    pub models: Vec<String>,
    /// True if it is looked for on this machine: then it is no matter if it is not there.
    pub is_local: bool,
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

/// A key. Shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The key with this text; blanks around it, as copying leaves them, are taken off.
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The key's text, to be sent to its provider and nowhere else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::from_env(|_| None)
    }
}

impl Settings {
    /// Reads the usual environment variables: `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`, `OPENAI_API_KEY`,
    /// `OPENAI_BASE_URL`, the keys of other known providers (`GOOGLE_API_KEY` if Gemini has no other), `OLLAMA_HOST`.
    ///
    /// Anthropic, OpenAI and the local servers are always among the providers; others only with a key.
    pub fn from_env(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let lookup = |name: &str| lookup(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        let mut settings =
            Self { providers: Vec::new(), default_model: None, ca_file: None, idle_timeout: IDLE_TIMEOUT };
        for &(name, variable, base_url, wire) in KNOWN {
            let second = SECOND_KEYS.iter().filter(|(of, _)| *of == name).map(|(_, variable)| *variable);
            let found = std::iter::once(variable).chain(second).find_map(|name| Some((name, lookup(name)?)));
            let (variable, key) = found.map_or((variable, None), |(name, key)| (name, Some(Secret::new(&key))));
            let is_asked_for = matches!(name, "anthropic" | "openai");
            if key.is_none() && !is_asked_for {
                continue;
            }
            let mut provider = Provider {
                name: name.into(),
                wire,
                dialect: None,
                base_url: base_url.into(),
                key: None,
                key_source: variable.into(),
                needs_key: true,
                models: Vec::new(),
                is_local: false,
            };
            if is_asked_for && let Some(host) = lookup(&format!("{}_BASE_URL", name.to_uppercase())) {
                provider.move_to(host);
            }
            // Key and address of one environment belong together.
            provider.key = key;
            settings.providers.push(provider);
        }
        for &(name, base_url) in LOCAL {
            let host = lookup("OLLAMA_HOST").filter(|_| name == "ollama");
            settings.providers.push(Provider {
                name: name.into(),
                wire: Wire::OpenAiChat,
                dialect: None,
                base_url: host.map_or_else(|| base_url.to_owned(), |host| ollama_url(&host)),
                key: None,
                key_source: format!("the setting providers.{name}.key"),
                needs_key: false,
                models: Vec::new(),
                is_local: true,
            });
        }
        settings
    }

    /// Takes in what the configuration says of one provider. What it does not say stays as it is; a provider that was
    /// not there is added.
    ///
    /// # Errors
    /// The name or the wire cannot be used, or an unknown provider has no address; says which.
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
        let wire = match wire {
            None => None,
            Some(text) => Some(
                Wire::parse(text)
                    .ok_or_else(|| format!("providers.{name}.wire: `{text}` is none of {}", Wire::NAMES.join(", ")))?,
            ),
        };
        let at = match self.providers.iter().position(|provider| provider.name == name) {
            Some(at) => at,
            None => self.add(name, base_url.as_deref())?,
        };
        let Some(provider) = self.providers.get_mut(at) else { return Ok(()) };
        if let Some(base_url) = base_url {
            provider.move_to(base_url);
        }
        if let Some(key) = key {
            provider.key = Some(Secret::new(&key)).filter(|key| !key.expose().is_empty());
        }
        provider.wire = wire.unwrap_or(provider.wire);
        if !models.is_empty() {
            provider.models = models;
        }
        Ok(())
    }

    /// Takes in whose Chat Completions a provider speaks.
    ///
    /// # Errors
    /// Nobody's are called so; says whose there are.
    pub fn set_dialect(&mut self, name: &str, dialect: &str) -> Result<(), String> {
        let Some(known) = Dialect::parse(dialect) else {
            let names: Vec<_> = Dialect::NAMES.iter().map(|(name, _)| *name).collect();
            return Err(format!("providers.{name}.dialect: `{dialect}` is none of {}", names.join(", ")));
        };
        let provider = self.providers.iter_mut().find(|provider| provider.name == name);
        provider.into_iter().for_each(|provider| provider.dialect = Some(known));
        Ok(())
    }

    /// Adds a provider, before those on this machine. Gives its place.
    fn add(&mut self, name: &str, base_url: Option<&str>) -> Result<usize, String> {
        let known = KNOWN.iter().find(|(known, ..)| *known == name);
        let base_url = base_url
            .or(known.map(|(_, _, base_url, _)| *base_url))
            .ok_or_else(|| format!("providers.{name}.base_url is missing: where is the provider?"))?;
        let at = self.providers.iter().position(|provider| provider.is_local).unwrap_or(self.providers.len());
        let provider = Provider {
            name: name.into(),
            wire: known.map_or(Wire::OpenAiChat, |(.., wire)| *wire),
            dialect: None,
            base_url: base_url.into(),
            key: None,
            key_source: format!("the setting providers.{name}.key_env"),
            needs_key: known.is_some(),
            models: Vec::new(),
            is_local: false,
        };
        self.providers.insert(at, provider);
        Ok(at)
    }
}

impl Provider {
    /// Gives it another address. A server in OpenAI's stead most likely speaks Chat Completions only, and may not want
    /// a key. The key it had was meant for another server, and stays behind where this is one.
    fn move_to(&mut self, base_url: String) {
        if origin(&self.base_url) != origin(&base_url) {
            self.key = None;
        }
        let home = KNOWN.iter().find(|(name, ..)| *name == self.name).map(|(_, _, home, _)| *home);
        let is_home = home.is_some_and(|home| host(home) == host(&base_url));
        if self.name == "openai" {
            self.wire = if is_home { Wire::OpenAiResponses } else { Wire::OpenAiChat };
        }
        // Google's own server speaks Chat Completions below this folder.
        if self.name == "gemini" && base_url.trim_end_matches('/').ends_with("/openai") {
            self.wire = Wire::OpenAiChat;
        }
        self.needs_key = is_home;
        self.base_url = base_url;
    }

    /// Returns the vendor whose Chat Completions it speaks.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect.unwrap_or_else(|| Dialect::of_address(&self.base_url))
    }

    /// True if nobody spoke of it: a server that may be on this machine, at its usual port.
    pub(crate) fn is_guess(&self) -> bool {
        self.is_local && LOCAL.contains(&(self.name.as_str(), self.base_url.as_str()))
    }

    /// True if it is at its vendor's own address, so that the data file says what models it has.
    pub(crate) fn is_home(&self) -> bool {
        KNOWN.iter().any(|(name, _, home, _)| *name == self.name && host(home) == host(&self.base_url))
    }
}

/// The variable of the key of a provider that is known by name.
pub(crate) fn key_variable(name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(known, ..)| *known == name).map(|(_, variable, ..)| *variable)
}

/// Scheme, host and port: what a key was given for. Over `http` it would be for all to read, so that is another.
fn origin(url: &str) -> Option<(String, String)> {
    let scheme = url.split_once("://")?.0;
    Some((scheme.to_ascii_lowercase(), host(url)?.to_ascii_lowercase()))
}

fn host(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '?', '#']).next()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Settings {
        Settings::from_env(|name| {
            variables.iter().find(|(variable, _)| *variable == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn provider<'a>(settings: &'a Settings, name: &str) -> &'a Provider {
        settings.providers.iter().find(|provider| provider.name == name).unwrap()
    }

    #[test]
    fn keys_come_from_the_usual_variables_and_never_show() {
        let settings =
            from(&[("ANTHROPIC_API_KEY", " sk-ant-1 \n"), ("GROQ_API_KEY", "gsk-2"), ("OPENAI_API_KEY", "")]);
        assert_eq!(provider(&settings, "anthropic").key.as_ref().unwrap().expose(), "sk-ant-1");
        assert_eq!(provider(&settings, "openai").key, None);
        assert_eq!(provider(&settings, "groq").wire, Wire::OpenAiChat);
        let names: Vec<_> = settings.providers.iter().map(|provider| provider.name.as_str()).collect();
        assert_eq!(names, ["anthropic", "openai", "groq", "ollama", "lm-studio", "llama.cpp"]);
        let shown = format!("{settings:?}");
        assert!(!shown.contains("sk-ant-1") && !shown.contains("gsk-2"), "{shown}");
    }

    #[test]
    fn gemini_has_two_names_for_its_key_and_two_wires() {
        for (variables, key, source) in [
            (vec![("GEMINI_API_KEY", "a"), ("GOOGLE_API_KEY", "b")], "a", "GEMINI_API_KEY"),
            (vec![("GOOGLE_API_KEY", "b"), ("GEMINI_API_KEY", " ")], "b", "GOOGLE_API_KEY"),
        ] {
            let mut settings = from(&variables);
            let gemini = provider(&settings, "gemini");
            assert_eq!((gemini.wire, gemini.key_source.as_str()), (Wire::Gemini, source));
            assert_eq!(gemini.key.as_ref().unwrap().expose(), key);
            let compatible = "https://generativelanguage.googleapis.com/v1beta/openai/".to_owned();
            settings.set_provider("gemini", Some(compatible), None, None, vec![]).unwrap();
            let gemini = provider(&settings, "gemini");
            assert_eq!((gemini.wire, gemini.key.is_some(), gemini.is_home()), (Wire::OpenAiChat, true, true));
        }
        assert!(from(&[]).providers.iter().all(|provider| provider.name != "gemini"));
    }

    #[test]
    fn a_server_in_openais_stead_speaks_chat_completions_and_needs_no_key() {
        let settings = from(&[("OPENAI_BASE_URL", "http://localhost:8000/v1")]);
        let openai = provider(&settings, "openai");
        assert_eq!((openai.wire, openai.needs_key, openai.is_home()), (Wire::OpenAiChat, false, false));
        let settings = from(&[("OPENAI_BASE_URL", "https://api.openai.com/v1/")]);
        let openai = provider(&settings, "openai");
        assert_eq!((openai.wire, openai.needs_key, openai.is_home()), (Wire::OpenAiResponses, true, true));
    }

    #[test]
    fn a_key_does_not_go_along_to_another_server() {
        let moved = |address: &str, key: Option<&str>| {
            let mut settings = from(&[("ANTHROPIC_API_KEY", "sk-ant-1")]);
            settings.set_provider("anthropic", Some(address.into()), key.map(Into::into), None, vec![]).unwrap();
            provider(&settings, "anthropic").key.as_ref().map(|key| key.expose().to_owned())
        };
        for elsewhere in [
            "https://evil.example",
            "http://api.anthropic.com",
            "https://api.anthropic.com@evil.example",
            "https://api.anthropic.com:444",
            "api.anthropic.com",
        ] {
            assert_eq!(moved(elsewhere, None), None, "{elsewhere}");
        }
        assert_eq!(moved("https://gateway.example", Some("k-2")).as_deref(), Some("k-2"));
        assert_eq!(moved("https://API.anthropic.com/v1", None).as_deref(), Some("sk-ant-1"));

        let pair = [("ANTHROPIC_API_KEY", "sk-ant-1"), ("ANTHROPIC_BASE_URL", "https://gateway.example")];
        let mut settings = from(&pair);
        assert!(provider(&settings, "anthropic").key.is_some(), "key and address of one environment belong together");
        settings.set_provider("anthropic", Some("https://evil.example".into()), None, None, vec![]).unwrap();
        assert_eq!(provider(&settings, "anthropic").key, None);
    }

    #[test]
    fn the_configuration_can_say_that_such_a_server_speaks_more() {
        let mut settings = Settings::default();
        let address = Some("http://127.0.0.1:9/v1".to_owned());
        settings.set_provider("openai", address, None, Some("openai-responses"), vec![]).unwrap();
        assert_eq!(provider(&settings, "openai").wire, Wire::OpenAiResponses);
    }

    #[test]
    fn a_dialect_is_that_of_the_host_whatever_the_provider_is_called_or_that_of_the_setting() {
        let mut settings = Settings::default();
        for (name, address) in [("kimi", "https://api.moonshot.ai/v1"), ("openai", "http://127.0.0.1:8000/v1")] {
            settings.set_provider(name, Some(address.into()), None, None, vec![]).unwrap();
        }
        assert_eq!(provider(&settings, "kimi").dialect(), Dialect::DeepSeek);
        assert_eq!(provider(&settings, "openai").dialect(), Dialect::Plain);
        settings.set_dialect("openai", "gemini").unwrap();
        assert_eq!(provider(&settings, "openai").dialect(), Dialect::Gemini);
        let problem = settings.set_dialect("openai", "klingon").unwrap_err();
        assert!(problem.contains("providers.openai.dialect") && problem.contains("deepseek"), "{problem}");
    }

    #[test]
    fn providers_of_ones_own_stand_before_the_local_servers() {
        let mut settings = Settings::default();
        let address = Some("https://models.example".to_owned());
        settings.set_provider("mine", address, Some("k".into()), None, vec!["m".into()]).unwrap();
        let names: Vec<_> = settings.providers.iter().map(|provider| provider.name.as_str()).collect();
        assert_eq!(names, ["anthropic", "openai", "mine", "ollama", "lm-studio", "llama.cpp"]);
        settings.set_provider("mistral", None, Some("k".into()), None, vec![]).unwrap();
        assert_eq!(provider(&settings, "mistral").base_url, "https://api.mistral.ai/v1");
    }

    #[test]
    fn what_cannot_be_used_is_said_by_name() {
        let mut settings = Settings::default();
        let mut set =
            |name: &str, wire: Option<&str>| settings.set_provider(name, None, None, wire, vec![]).unwrap_err();
        assert!(set("mine", None).contains("providers.mine.base_url"));
        assert!(set("openai", Some("gopher")).contains("`gopher`"));
        assert!(set("a/b", None).contains("a/b"));
    }

    #[test]
    fn every_form_of_ollama_host_gives_an_address() {
        for (host, url) in [
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("127.0.0.1:1000", "http://127.0.0.1:1000"),
            (":2000", "http://127.0.0.1:2000"),
            ("box", "http://box:11434"),
            ("https://box.example/ollama/", "https://box.example:443/ollama"),
            ("[::1]:5000", "http://[::1]:5000"),
        ] {
            assert_eq!(ollama_url(host), url);
        }
    }
}
