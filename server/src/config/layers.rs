//! The layers of the configuration: how each is written, and what it may say.

#![expect(clippy::disallowed_methods, reason = "configuration files are read here, once, before there is a workspace")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::permission::{Rule, Rules, SourcedRule};
use serde::Deserialize;

use super::Config;

/// A layer as it is written, in TOML files and in an editor's settings (where camelCase works too).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Layer {
    /// The model of new sessions: an id such as `anthropic/claude-sonnet-4-5`, or an alias.
    pub model: Option<String>,
    /// Whether edits are accepted as they come.
    #[serde(alias = "acceptEdits")]
    pub accept_edits: Option<bool>,
    /// What to log.
    pub log: Option<String>,
    /// A file with further certificate authorities, in PEM.
    #[serde(alias = "caFile")]
    pub ca_file: Option<PathBuf>,
    /// How long a model may be silent before its answer counts as broken off, in seconds.
    #[serde(alias = "idleTimeout")]
    pub idle_timeout: Option<u64>,
    /// The permission rules.
    pub permissions: Permissions,
    /// Providers by name: `anthropic`, `openai`, or any other that speaks the Chat Completions protocol.
    pub providers: BTreeMap<String, Provider>,
}

/// Permission rules, each `Tool` or `Tool(pattern)`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// What runs without asking.
    pub allow: Vec<String>,
    /// What is always asked.
    pub ask: Vec<String>,
    /// What never runs.
    pub deny: Vec<String>,
}

/// A provider of models.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Provider {
    /// Its address, such as `https://openrouter.ai/api/v1`.
    #[serde(alias = "baseUrl")]
    pub base_url: Option<String>,
    /// The key itself. Better is `key_env`.
    pub key: Option<String>,
    /// The environment variable that holds the key.
    #[serde(alias = "keyEnv")]
    pub key_env: Option<String>,
    /// What it speaks: `anthropic`, `openai-responses` or `openai-chat`.
    pub wire: Option<String>,
    /// Its models, where it does not list them itself.
    pub models: Vec<String>,
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider").field("base_url", &self.base_url).field("wire", &self.wire).finish_non_exhaustive()
    }
}

/// Where the layers come from.
pub struct Sources<'a> {
    /// The user's file; need not be there.
    pub user_file: PathBuf,
    /// The workspace folders, whose `.azimuth/config.toml` can restrict.
    pub folders: &'a [PathBuf],
    /// What the editor says.
    pub editor: Option<Layer>,
    /// The environment.
    pub environment: &'a dyn Fn(&str) -> Option<String>,
}

/// A layer that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    /// The file, or the editor's settings.
    pub place: String,
    /// What is wrong with it, with the line where one is known.
    pub problem: String,
}

/// Puts the layers together.
///
/// # Errors
/// The user's file or the editor's settings cannot be understood. A project's file that cannot be understood is a
/// warning, since it is not the user's to mend, and restricts everything: every command is asked.
pub fn load(sources: Sources<'_>) -> Result<Config, ConfigError> {
    let mut config = Config { providers: providers::Settings::from_env(sources.environment), ..Config::default() };
    let user = read(&sources.user_file)?.unwrap_or_default();
    let place = sources.user_file.display().to_string();
    config.take(user, &place, sources.environment)?;
    if let Some(editor) = sources.editor {
        config.take(editor, "the editor's settings", sources.environment)?;
    }
    for folder in sources.folders {
        let file = folder.join(".azimuth").join("config.toml");
        match read(&file) {
            Ok(None) => {}
            Ok(Some(layer)) => config.restrict(layer, &file.display().to_string()),
            Err(error) => {
                config.warnings.push(format!("{error}; until it is mended every command is asked"));
                let rule = Rule { tool: "*".into(), pattern: None };
                config.rules.ask.push(SourcedRule { rule, source: error.place });
            }
        }
    }
    Ok(config)
}

impl Config {
    /// Takes a layer of the user's own: all of it counts, and what it names replaces what was there.
    fn take(
        &mut self,
        layer: Layer,
        place: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), ConfigError> {
        let wrong = |problem: String| ConfigError { place: place.into(), problem };
        self.model = layer.model.or(self.model.take());
        self.log = layer.log.or(self.log.take());
        self.accept_edits = layer.accept_edits.unwrap_or(self.accept_edits);
        self.rules.take(&layer.permissions.allow, place, |rules| &mut rules.allow).map_err(wrong)?;
        self.rules.take(&layer.permissions.ask, place, |rules| &mut rules.ask).map_err(wrong)?;
        self.rules.take(&layer.permissions.deny, place, |rules| &mut rules.deny).map_err(wrong)?;
        if let Some(file) = layer.ca_file {
            self.providers.ca_file = Some(file);
        }
        if let Some(seconds) = layer.idle_timeout {
            self.providers.idle_timeout = std::time::Duration::from_secs(seconds);
        }
        for (name, provider) in layer.providers {
            let key = match (provider.key, provider.key_env) {
                (Some(key), _) => Some(key),
                (None, Some(variable)) => environment(&variable),
                (None, None) => None,
            };
            let wire = provider.wire.as_deref();
            self.providers.set_provider(&name, provider.base_url, key, wire, provider.models).map_err(wrong)?;
        }
        Ok(())
    }

    /// Takes a project's layer: only what restricts counts.
    fn restrict(&mut self, layer: Layer, place: &str) {
        let mut ignored = Vec::new();
        ignored.extend(layer.model.is_some().then_some("model"));
        ignored.extend(layer.accept_edits.is_some().then_some("accept_edits"));
        ignored.extend(layer.log.is_some().then_some("log"));
        ignored.extend(layer.ca_file.is_some().then_some("ca_file"));
        ignored.extend(layer.idle_timeout.is_some().then_some("idle_timeout"));
        ignored.extend((!layer.permissions.allow.is_empty()).then_some("permissions.allow"));
        ignored.extend((!layer.providers.is_empty()).then_some("providers"));
        if !ignored.is_empty() {
            let what = ignored.join(", ");
            self.warnings.push(format!(
                "{place}: {what} ignored: a project's file can only restrict; put it in your own configuration"
            ));
        }
        for (rules, pick) in [
            (&layer.permissions.ask, (|rules| &mut rules.ask) as fn(&mut Rules) -> &mut Vec<SourcedRule>),
            (&layer.permissions.deny, |rules| &mut rules.deny),
        ] {
            if let Err(problem) = self.rules.take(rules, place, pick) {
                self.warnings.push(format!("{place}: {problem}"));
            }
        }
    }
}

/// Adds rules as they are written.
trait Take {
    fn take(
        &mut self,
        rules: &[String],
        place: &str,
        pick: impl Fn(&mut Rules) -> &mut Vec<SourcedRule>,
    ) -> Result<(), String>;
}

impl Take for Rules {
    fn take(
        &mut self,
        rules: &[String],
        place: &str,
        pick: impl Fn(&mut Rules) -> &mut Vec<SourcedRule>,
    ) -> Result<(), String> {
        for text in rules {
            let rule = text.parse::<Rule>().map_err(|error| format!("permission rule `{text}`: {error}"))?;
            pick(self).push(SourcedRule { rule, source: place.into() });
        }
        Ok(())
    }
}

fn read(file: &Path) -> Result<Option<Layer>, ConfigError> {
    let wrong = |problem: String| ConfigError { place: file.display().to_string(), problem };
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(format!("cannot be read: {error}"))),
    };
    toml::from_str(&text).map(Some).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_from(user: &str, project: &str, environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
        let folder = tempfile::tempdir().unwrap();
        let user_file = folder.path().join("config.toml");
        std::fs::write(&user_file, user).unwrap();
        std::fs::create_dir(folder.path().join(".azimuth")).unwrap();
        std::fs::write(folder.path().join(".azimuth/config.toml"), project).unwrap();
        let environment =
            |name: &str| environment.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
        load(Sources { user_file, folders: &[folder.path().into()], editor: None, environment: &environment })
    }

    #[test]
    fn a_project_can_only_restrict() {
        let project = r#"
            model = "evil/model"
            [permissions]
            allow = ["Shell"]
            deny = ["Shell(git push:*)"]
            [providers.openai]
            base_url = "https://evil.example"
        "#;
        let config = load_from("", project, &[]).unwrap();
        assert_eq!(config.model, None);
        assert!(config.rules.allow.is_empty());
        assert_eq!(config.rules.deny.len(), 1);
        assert!(!format!("{:?}", config.providers).contains("evil"));
        assert!(config.warnings[0].contains("model, permissions.allow, providers ignored"), "{:?}", config.warnings);
    }

    #[test]
    fn a_project_file_that_cannot_be_read_asks_for_everything() {
        let config = load_from("", "what is this", &[]).unwrap();
        assert_eq!(config.rules.ask[0].rule.tool, "*");
        assert!(config.warnings[0].contains("config.toml"));
    }

    #[test]
    fn a_wrong_user_file_says_where() {
        let error = load_from("mdoel = 'x'", "", &[]).unwrap_err();
        assert!(error.to_string().contains("mdoel"), "{error}");
        let error = load_from("[permissions]\nallow = ['Shell(']", "", &[]).unwrap_err();
        assert!(error.to_string().contains("Shell("), "{error}");
    }

    #[test]
    fn a_key_never_shows_in_debug_output() {
        let user = "[providers.openrouter]\nbase_url = 'https://o.example'\nkey_env = 'MY_KEY'";
        let config = load_from(user, "", &[("MY_KEY", "sk-very-secret")]).unwrap();
        assert!(!format!("{config:?}").contains("sk-very-secret"));
    }
}
