//! The schema of `config.toml`.

use protocol::settings::Setting;
use serde_json::{Map, Value, json};

use super::{ANY_NAME, default_value, described, is_written, value_schema};

/// The schema's text.
pub fn render(settings: &[Setting]) -> String {
    let mut properties = Map::new();
    for setting in settings.iter().filter(is_written) {
        put(&mut properties, setting.name, schema_of(setting));
    }
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Azimuth's config.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    format!("{schema:#}\n")
}

fn schema_of(setting: &Setting) -> Value {
    let mut schema = value_schema(setting);
    schema["description"] = described(setting).into();
    if let Some(value) = default_value(setting) {
        schema["default"] = value;
    }
    schema
}

/// Puts a schema where a name with dots leads.
fn put(properties: &mut Map<String, Value>, name: &str, schema: Value) {
    let Some((group, rest)) = name.split_once('.') else {
        properties.insert(name.to_owned(), schema);
        return;
    };
    let (is_any, rest) = match rest.strip_prefix(ANY_NAME).and_then(|rest| rest.strip_prefix('.')) {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let table = || json!({ "type": "object", "additionalProperties": false, "properties": {} });
    let mut group = properties
        .entry(group)
        .or_insert_with(|| if is_any { json!({ "type": "object", "additionalProperties": table() }) } else { table() });
    if is_any {
        group = &mut group["additionalProperties"];
    }
    if let Some(properties) = group["properties"].as_object_mut() {
        put(properties, rest, schema);
    }
}
