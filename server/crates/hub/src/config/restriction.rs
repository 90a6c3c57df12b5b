//! The result of a layer that may only make a setting stricter.

use protocol::settings::{Kind, Setting, Stricter};
use serde_json::Value;

/// The value that holds from now on, and whether that is all that was said.
pub(super) fn restricted(setting: &Setting, how: Stricter, now: Value, said: Value) -> (Value, bool) {
    let rank = |value| rank(setting, value);
    match how {
        Stricter::Off if rank(&said) == 0 => (said, true),
        Stricter::Off => (now, false),
        Stricter::Lower if rank(&said) <= rank(&now) => (said, true),
        Stricter::Lower => (now, false),
        Stricter::Fewer => {
            let (Value::Array(mut now), Value::Array(said)) = (now, said) else { return (Value::Null, false) };
            let is_whole = said.iter().all(|entry| now.contains(entry));
            now.retain(|entry| said.contains(entry));
            (Value::Array(now), is_whole)
        }
    }
}

/// Returns the rank of a value by strictness; 0 is the strictest.
fn rank(setting: &Setting, value: &Value) -> u64 {
    match (setting.kind, value) {
        (Kind::Choice(choices), Value::String(text)) => {
            choices.iter().zip(0..).find(|((choice, _), _)| choice == text).map_or(u64::MAX, |(_, rank)| rank)
        }
        (_, Value::Bool(is_on)) => u64::from(*is_on),
        (_, value) => value.as_u64().unwrap_or(u64::MAX),
    }
}
