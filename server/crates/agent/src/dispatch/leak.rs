//! Routing text that leaked into a call's input.
//!
//! Some models now and then write the plain text of their routing tokens into what they pass to a tool: a marker that
//! names the next tool, `code`, and junk behind it. In a command or an edit that would be taken for what was meant.
//! The text behind the marker cannot be trusted, nor can one tell where the junk before it begins; so the call is
//! refused as a whole, and the model makes it again.

use serde_json::Value;

/// The beginning of the marker; the tool's name follows.
const MARKER: &str = concat!("to=", "functions.");
/// The words that name a channel, one of which stands before a marker.
const CHANNELS: [&str; 4] = ["analysis", "assistant", "commentary", "user"];
/// Tokens that are seldom anything else than the beginning of such junk.
const GLITCHES: [&str; 5] = ["Japgolly", "Jsii", "Jsii_commentary", "changedFiles", "RTLU"];

/// The name of the field of an input that holds leaked text; empty where the input has no fields.
pub(super) fn field(input: &Value) -> Option<String> {
    match input {
        Value::String(text) => leaked(text).then(String::new),
        Value::Array(values) => values.iter().find_map(field),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| field(value).map(|_| name.clone())),
        _ => None,
    }
}

/// True if a text holds a marker with what else belongs to a leak. A marker alone may be what a file is about.
fn leaked(text: &str) -> bool {
    text.match_indices(MARKER).any(|(at, _)| {
        let (before, behind) = text.split_at(at);
        let behind = behind.get(MARKER.len()..).unwrap_or_default();
        let name = behind.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        let is_named = name.len() < behind.len();
        let code = name.trim_start().strip_prefix("code").filter(|_| name.starts_with(char::is_whitespace));
        let has_code = code.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
        is_named && (has_code || is_lead(before))
    })
}

/// True if a text ends in what leads to a marker: a channel, a glitch token, or letters of another script.
fn is_lead(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    CHANNELS.contains(&word) || GLITCHES.contains(&word) || before.ends_with("】【") || before.ends_with(is_foreign)
}

/// Letters of the scripts that the junk is written in: Cyrillic, Armenian, Indic, Thai, Georgian, Chinese, Japanese,
/// Korean.
fn is_foreign(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{58F}' | '\u{900}'..='\u{E7F}' | '\u{10A0}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(before: &str, behind: &str) -> String {
        format!("    let a = 1;\n{before}{MARKER}{behind}")
    }

    #[test]
    fn routing_text_is_found_wherever_it_leaked_to() {
        let leaks = [
            with("", "edit_apply_patch code {\"patch\""),
            with("commentary ", "shell_run\n"),
            with("Jsii_commentary ", "x"),
            with("彩票 ", "edit \n"),
            with("}】【", "eval"),
        ];
        for leak in leaks {
            assert_eq!(field(&json!({ "path": "a", "new_text": leak })).as_deref(), Some("new_text"), "{leak}");
            assert_eq!(field(&json!({ "edits": [{ "content": leak }] })).as_deref(), Some("edits"));
        }
    }

    #[test]
    fn a_text_that_is_about_such_markers_is_none() {
        for text in [
            with("the marker ", "name of a tool"),
            with("", "x codec"),
            with("`", "` is one"),
            "to=functions".to_owned(),
        ] {
            assert_eq!(field(&json!({ "new_text": text })), None, "{text}");
        }
    }
}
