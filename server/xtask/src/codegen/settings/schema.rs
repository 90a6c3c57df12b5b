//! The schema of `config.toml`.

use protocol::settings::Setting;
use serde_json::{Map, Value, json};

use super::{default_value, described, is_written, put, value_schema};

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
