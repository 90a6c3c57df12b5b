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
#[derive(Clone, Default)]
pub struct Layer {
    pub(super) values: Values,
    pub(super) permissions: Permissions,
    /// Providers by name: `anthropic`, `openai`, or any other that speaks one of the protocols. Each is checked field
    /// by field, so that a mistake in one leaves the rest as it is.
    pub(super) providers: BTreeMap<String, Value>,
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

impl fmt::Debug for Layer {
    /// Without what may be secret: an address may hold a password or a key as well.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer").field("values", &self.values).finish_non_exhaustive()
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
