//! The requests that OpenAI's Chat Completions refuse, and those who are compatible with them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Sent, can_see_url, is_plain, known_only, list, missing_signature, sign, text};
use crate::model::Wire;

pub(super) fn refusal(wire: Wire, body: &Value, sent: &Sent) -> Result<(), String> {
    fields(wire, body)?;
    let own: &[&str] = match wire {
        Wire::Chat | Wire::Moonshot => &["reasoning_content"],
        Wire::OpenRouter => &["reasoning", "reasoning_details"],
        Wire::Groq => &["reasoning"],
        Wire::Mistral => &[],
        _ => &["extra_content"],
    };
    let model = text(&body["model"]);
    let mut called = HashSet::new();
    let mut before = "";
    for (at, message) in list(&body["messages"]).enumerate() {
        let place = format!("messages.{at}");
        let role = text(&message["role"]);
        order(wire, before, role, &place)?;
        before = role;
        match role {
            "system" if at == 0 => only(message, &place, &["role", "content"])?,
            "user" => {
                only(message, &place, &["role", "content"])?;
                user(&message["content"], model, &place)?;
            }
            "tool" => {
                only(message, &place, &["role", "tool_call_id", "content"])?;
                if !called.contains(text(&message["tool_call_id"])) || !message["content"].is_string() {
                    return Err(format!(
                        "Invalid parameter: '{place}' with role 'tool' must be a response to a preceding message with 'tool_calls'."
                    ));
                }
            }
            "assistant" => {
                only(message, &place, &[&["role", "content", "tool_calls"], own].concat())?;
                if text(&message["content"]).is_empty() && list(&message["tool_calls"]).next().is_none() {
                    return Err(format!("the message at position {at} with role 'assistant' must not be empty"));
                }
            }
            other => return Err(format!("'{place}.role': '{other}' is none of the roles")),
        }
        // An empty text is none, and DeepSeek misses it in what the model only said too.
        if wire == Wire::Moonshot && role == "assistant" && text(&message["reasoning_content"]).is_empty() {
            return Err(format!(
                "thinking is enabled but reasoning_content is missing in assistant message at index {at}"
            ));
        }
        for (place_in_step, call) in list(&message["tool_calls"]).enumerate() {
            plain_call(wire, model, call, sent, &place)?;
            if !called.insert(text(&call["id"])) {
                return Err(format!("Duplicate value for 'tool_call_id' in {place}"));
            }
            own_call(wire, model, (message, call, place_in_step), sent, &place)?;
        }
    }
    if wire == Wire::Mistral && !["user", "tool"].contains(&before) {
        return Err(format!(
            "Expected last role User or Tool (or Assistant with prefix True) for serving but got {before}"
        ));
    }
    Ok(())
}

fn only(value: &Value, place: &str, known: &[&str]) -> Result<(), String> {
    known_only(value, known).map_err(|name| format!("'{place}': property '{name}' is unsupported"))
}

fn fields(wire: Wire, body: &Value) -> Result<(), String> {
    let top = [
        "model",
        "stream",
        "stream_options",
        "max_tokens",
        "max_completion_tokens",
        "prompt_cache_key",
        "tools",
        "messages",
    ];
    let of_openai: &[_] = if wire == Wire::Chat { &["reasoning_effort", "store"] } else { &[] };
    only(body, "body", &[&top[..], of_openai].concat())?;
    if wire == Wire::Mistral && (body.get("stream_options").is_some() || body.get("max_completion_tokens").is_some()) {
        return Err("Extra inputs are not permitted: stream_options or max_completion_tokens".into());
    }
    if let Some(effort) = body.get("reasoning_effort")
        && !["none", "minimal", "low", "medium", "high", "xhigh"].contains(&text(effort))
    {
        return Err(format!("Invalid value: {effort} for 'reasoning_effort'"));
    }
    for tool in list(&body["tools"]) {
        only(tool, "tools", &["type", "function"])?;
        only(&tool["function"], "tools.function", &["name", "description", "parameters"])?;
        if !is_plain(text(&tool["function"]["name"]), 64) {
            return Err("Invalid 'tools.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.".into());
        }
    }
    Ok(())
}

/// Mistral's messages have an order, also where others serve its models.
fn order(wire: Wire, before: &str, role: &str, place: &str) -> Result<(), String> {
    let is_wrong = match (before, role) {
        ("tool", "user") | ("user", "user") | ("assistant", "assistant") | ("user", "tool") => true,
        ("" | "system", role) => !["system", "user"].contains(&role),
        _ => false,
    };
    if wire == Wire::Mistral && is_wrong {
        return Err(format!("{place}: Unexpected role '{role}' after role '{before}'"));
    }
    Ok(())
}

fn user(content: &Value, model: &str, place: &str) -> Result<(), String> {
    if text(content).is_empty() && list(content).next().is_none() {
        return Err(format!("'{place}.content' must not be empty"));
    }
    list(content).try_for_each(|part| match text(&part["type"]) {
        "text" if text(&part["text"]).is_empty() => Err("text content is empty".into()),
        "text" => only(part, place, &["type", "text"]),
        "image_url" => {
            only(part, place, &["type", "image_url"])?;
            only(&part["image_url"], place, &["url"])?;
            can_see_url(model, text(&part["image_url"]["url"]))
        }
        other => Err(format!("'{place}': '{other}' is no type of content")),
    })
}

/// Ids of its own making a vendor knows again; others must be short.
fn plain_call(wire: Wire, model: &str, call: &Value, sent: &Sent, place: &str) -> Result<(), String> {
    let (id, function) = (text(&call["id"]), &call["function"]);
    only(function, place, &["name", "arguments"])?;
    if !is_plain(text(&function["name"]), 64) {
        return Err(format!(
            "Invalid '{place}.tool_calls.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
        ));
    }
    if !serde_json::from_str::<Value>(text(&function["arguments"])).is_ok_and(|arguments| arguments.is_object()) {
        return Err(format!("Invalid '{place}.tool_calls.function.arguments': can only get item pairs from a mapping"));
    }
    let is_taken = match wire {
        Wire::Mistral => id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()),
        _ => is_plain(id, 40) || sent.with(&call["id"], model).is_some(),
    };
    if is_taken {
        Ok(())
    } else {
        Err(format!("Invalid '{place}.tool_calls.id': {id:?} is too long, or has other characters"))
    }
}

/// Its own calls a vendor wants back with all that came with them.
fn own_call(
    wire: Wire,
    model: &str,
    (message, call, place_in_step): (&Value, &Value, usize),
    sent: &Sent,
    place: &str,
) -> Result<(), String> {
    let with = sent.with(&call["id"], model);
    let known: &[&str] = &["id", "type", "function"];
    if wire != Wire::GeminiChat {
        only(call, place, known)?;
    } else {
        only(call, place, &[known, &["extra_content"]].concat())?;
        let signature = &call["extra_content"]["google"]["thought_signature"];
        let is_own = with.is_some_and(|with| with.signed);
        if is_own && *signature != sign(model, text(&call["id"])) {
            return Err(missing_signature(text(&call["function"]["name"])));
        }
        let is_skipped = signature == "skip_thought_signature_validator";
        let is_known = signature.is_null() || is_skipped || is_own;
        if !is_known {
            return Err("Corrupted thought signature.".into());
        }
        if place_in_step == 0 && signature.is_null() {
            return Err(missing_signature(text(&call["function"]["name"])));
        }
    }
    let thinking = with.map(|with| with.thinking.as_str()).unwrap_or_default();
    match wire {
        _ if thinking.is_empty() => Ok(()),
        Wire::Chat | Wire::Moonshot if message["reasoning_content"] != thinking => {
            Err(format!("the reasoning_content in {place} is not what was sent"))
        }
        Wire::Groq if message["reasoning"] != thinking => Err(format!("the reasoning in {place} is not what was sent")),
        Wire::OpenRouter if message["reasoning_details"] != details(model, thinking) => {
            Err(format!("{place}: Invalid `signature` in `thinking` block"))
        }
        _ => Ok(()),
    }
}

/// Thinking as OpenRouter wants it back: in one, and with its signature.
fn details(model: &str, thinking: &str) -> Value {
    json!([{ "type": "reasoning.text", "text": thinking, "format": "anthropic-claude-v1", "index": 0,
        "signature": sign(model, thinking) }])
}
