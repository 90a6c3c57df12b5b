//! A layer as it is written, in TOML files and in an editor's settings. Its names and types are those of the table in
//! `protocol::settings`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use protocol::settings::{DefaultValue, Kind, SETTINGS, Setting};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::{Map, Value};

/// Values of settings, by their names in the table. They have been checked against it.
pub(super) type Values = BTreeMap<&'static str, Value>;

/// A layer. Names in it may be written in camelCase too.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    pub(super) values: Values,
    pub(super) permissions: Permissions,
    /// Providers by name: `anthropic`, `openai`, or any other that speaks the Chat Completions protocol.
    pub(super) providers: BTreeMap<String, Provider>,
    /// Secrets that models do not see, by name. Each is checked field by field.
    pub(super) secrets: BTreeMap<String, Value>,
}

/// Permission rules, each `Tool` or `Tool(pattern)`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// The rules for actions that run without asking.
    pub allow: Vec<String>,
    /// The rules for actions that are always asked.
    pub ask: Vec<String>,
    /// The rules for actions that never run.
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
    /// The wire format that it speaks: `anthropic`, `openai-responses` or `openai-chat`.
    pub wire: Option<String>,
    /// Whose Chat Completions it speaks, where that does not follow from its host.
    pub dialect: Option<String>,
    /// Its models, where it does not list them itself.
    pub models: Vec<String>,
    /// The command that prints the key. This and what follows is checked field by field, so that a mistake in one
    /// leaves the rest as it is.
    #[serde(alias = "keyCommand")]
    pub(super) key_command: Option<Value>,
    /// The headers of each request.
    pub(super) headers: Option<Value>,
    /// The fields of each request's body.
    #[serde(alias = "extraBody")]
    pub(super) extra_body: Option<Value>,
    /// The dated version of Azure's API.
    #[serde(alias = "apiVersion")]
    pub(super) api_version: Option<Value>,
    /// The profile of its account at AWS.
    #[serde(alias = "awsProfile")]
    pub(super) aws_profile: Option<Value>,
    /// The region of that account.
    #[serde(alias = "awsRegion")]
    pub(super) aws_region: Option<Value>,
    /// The way in which its users sign in.
    #[serde(alias = "signIn")]
    pub(super) sign_in: Option<Value>,
    /// The flags of what its server wants.
    pub(super) compat: Option<Value>,
    /// The models that the user describes.
    pub(super) model: Option<Value>,
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address may hold a password or a key as well.
        f.debug_struct("Provider").field("wire", &self.wire).finish_non_exhaustive()
    }
}

/// The settings that have one value each, in the table's order. The others are the fields of a [`Layer`].
pub(super) fn plain() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| !setting.name.contains('.'))
}

/// The value of a setting that nobody sets; null if it has none.
pub(super) fn default_of(setting: &Setting) -> Value {
    match (setting.default, setting.kind) {
        (DefaultValue::Unset(_), Kind::List(_)) => Value::Array(Vec::new()),
        (DefaultValue::Unset(_), _) => Value::Null,
        (DefaultValue::Bool(is_on), _) => is_on.into(),
        (DefaultValue::Word(choice), _) => choice.into(),
        (DefaultValue::Int(number), Kind::Decimal { .. }) => f64::from(number).into(),
        (DefaultValue::Int(number), _) => number.into(),
    }
}

impl<'de> Deserialize<'de> for Layer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Layer", &NAMES, Reader)
    }
}

/// The names that a layer may hold.
static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| plain().map(|setting| setting.name).chain(["permissions", "providers", "secrets"]).collect());

/// Reads a layer.
struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Layer;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of settings")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Layer, A::Error> {
        let mut layer = Layer::default();
        while let Some(name) = map.next_key()? {
            match name {
                Name::Permissions => layer.permissions = map.next_value()?,
                Name::Providers => layer.providers = map.next_value()?,
                Name::Secrets => layer.secrets = map.next_value()?,
                Name::Of(setting) => {
                    let value = map.next_value_seed(ValueOf(setting))?;
                    if layer.values.insert(setting.name, value).is_some() {
                        return Err(A::Error::duplicate_field(setting.name));
                    }
                }
            }
        }
        layer.values.retain(|_, value| !value.is_null());
        Ok(layer)
    }

    /// Lua writes an empty table as an empty list.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Layer, A::Error> {
        match list.next_element::<IgnoredAny>()? {
            None => Ok(Layer::default()),
            Some(_) => Err(A::Error::invalid_type(Unexpected::Seq, &self)),
        }
    }
}

/// A name in a layer.
enum Name {
    Of(&'static Setting),
    Permissions,
    Providers,
    Secrets,
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;

        impl Visitor<'_> for NameVisitor {
            type Value = Name;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a setting")
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
                match name {
                    "permissions" => Ok(Name::Permissions),
                    "providers" => Ok(Name::Providers),
                    "secrets" => Ok(Name::Secrets),
                    _ => plain()
                        .find(|setting| setting.name == name || setting.camel_case() == name)
                        .map(Name::Of)
                        .ok_or_else(|| E::unknown_field(name, &NAMES)),
                }
            }
        }

        deserializer.deserialize_identifier(NameVisitor)
    }
}

/// Reads the value of a setting. Null says nothing, so that it stays null.
struct ValueOf(&'static Setting);

impl<'de> DeserializeSeed<'de> for ValueOf {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Ok(match self.0.kind {
            Kind::Text(_) | Kind::Secret => Option::<String>::deserialize(deserializer)?.into(),
            Kind::Flag => Option::<bool>::deserialize(deserializer)?.into(),
            Kind::Number { min, max, .. } => {
                let number = Option::<u64>::deserialize(deserializer)?;
                number.map(|number| number.clamp(min.into(), max.into())).into()
            }
            Kind::Decimal { min, max, .. } => {
                let number = Option::<f64>::deserialize(deserializer)?;
                number.map(|number| number.clamp(min.into(), max.into())).into()
            }
            Kind::List(_) => Option::<Vec<String>>::deserialize(deserializer)?.into(),
            Kind::Texts(_) | Kind::Anything => Option::<Map<String, Value>>::deserialize(deserializer)?.into(),
            Kind::Choice(choices) => {
                let chosen = Option::<String>::deserialize(deserializer)?;
                if let Some(text) = chosen.as_deref().filter(|text| !choices.iter().any(|(choice, _)| choice == text)) {
                    return Err(D::Error::custom(format_args!(
                        "unknown variant `{text}`, expected {}",
                        any_of(choices)
                    )));
                }
                chosen.into()
            }
        })
    }
}

fn any_of(choices: &[(&str, &str)]) -> String {
    let quoted: Vec<_> = choices.iter().map(|(choice, _)| format!("`{choice}`")).collect();
    if quoted.len() > 2 { format!("one of {}", quoted.join(", ")) } else { quoted.join(" or ") }
}
