//! The bodies of requests, kept for who compares them with the vendors' types.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::Wire;

/// The fields of requests whose texts are one of a few.
const CHOICES: [&str; 11] = [
    "type",
    "role",
    "effort",
    "summary",
    "detail",
    "status",
    "phase",
    "media_type",
    "mimeType",
    "thinkingLevel",
    "reasoning_effort",
];

/// Keeps a body for who compares it with the vendors' types. Of those that differ in words alone, one is enough.
pub(super) fn keep(wire: Wire, body: &Value) {
    let Some(folder) = std::env::var_os("AZIMUTH_BODIES") else { return };
    let mut hasher = DefaultHasher::new();
    shape("", body).hash(&mut hasher);
    let file = Path::new(&folder).join(format!("{wire:?}-{:016x}.json", hasher.finish()));
    if !file.exists() {
        // Several tests may come to the same at once.
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = Path::new(&folder).join(format!(".{}-{number}", std::process::id()));
        std::fs::write(&own, body.to_string()).unwrap();
        std::fs::rename(own, file).unwrap();
    }
}

/// The shape of a value: its fields, the texts that are one of a few, and the kinds of items that a list has.
fn shape(name: &str, value: &Value) -> String {
    match value {
        Value::Object(_)
            if ["input", "args", "input_schema", "json", "parameters", "parametersJsonSchema"].contains(&name) =>
        {
            "any".into()
        }
        Value::Object(fields) => {
            let fields: Vec<_> = fields.iter().map(|(name, value)| format!("{name}: {}", shape(name, value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => {
            let kinds: BTreeSet<_> = items.iter().map(|item| shape(name, item)).collect();
            format!("{kinds:?}")
        }
        Value::String(text) if CHOICES.contains(&name) => text.clone(),
        Value::String(_) => "text".into(),
        Value::Number(_) => "number".into(),
        Value::Bool(_) | Value::Null => value.to_string(),
    }
}
