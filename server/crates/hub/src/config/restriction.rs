//! The result of a layer that may only make a setting stricter.

use protocol::settings::{Kind, Setting, Stricter};
use serde_json::Value;

/// The most patterns of a project that count: each is combined with each of the user's.
const MOST_PATTERNS: usize = 64;

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
        Stricter::Within => {
            let (Value::Array(now), Value::Array(said)) = (now, said) else { return (Value::Null, false) };
            let is_whole = said.len() <= MOST_PATTERNS;
            (Value::Array(within(now, said)), is_whole)
        }
        Stricter::More => {
            let (Value::Array(mut now), Value::Array(said)) = (now, said) else { return (Value::Null, false) };
            for entry in said {
                if !now.contains(&entry) {
                    now.push(entry);
                }
            }
            (Value::Array(now), true)
        }
    }
}

/// The patterns that fit what one of `now` and one of `said` fit; an empty list stands for everything. The patterns of
/// a project after the first [`MOST_PATTERNS`] allow nothing.
fn within(now: Vec<Value>, said: Vec<Value>) -> Vec<Value> {
    if now.is_empty() || said.is_empty() {
        return if now.is_empty() { said } else { now };
    }
    let said: Vec<_> = said.into_iter().take(MOST_PATTERNS).collect();
    let both = |now: &Value, said: &Value| match (now.as_str(), said.as_str()) {
        _ if now == said => now.clone(),
        (Some(now), Some(said)) => format!("{now} & {said}").into(),
        _ => Value::Null,
    };
    now.iter().flat_map(|now| said.iter().map(move |said| both(now, said))).collect()
}

/// Returns the rank of a value by strictness; 0 is the strictest.
fn rank(setting: &Setting, value: &Value) -> u64 {
    match (setting.kind, value) {
        (Kind::Choice(choices), Value::String(text)) => {
            choices.iter().zip(0..).find(|((choice, _), _)| choice == text).map_or(u64::MAX, |(_, rank)| rank)
        }
        (_, Value::Bool(is_on)) => u64::from(*is_on),
        // The bits of numbers that are not negative are in the numbers' order.
        (Kind::Decimal { .. }, value) => value.as_f64().map_or(u64::MAX, |number| number.max(0.0).to_bits()),
        (_, value) => value.as_u64().unwrap_or(u64::MAX),
    }
}
