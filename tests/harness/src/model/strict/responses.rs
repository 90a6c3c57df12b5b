//! The requests that OpenAI's Responses refuses.

use std::collections::HashSet;

use serde_json::Value;

use super::{Sent, can_see_url, is_plain, known_only, list, sign, text};

pub(super) fn refusal(body: &Value, sent: &Sent) -> Result<(), String> {
    let top = [
        "model",
        "stream",
        "store",
        "max_output_tokens",
        "prompt_cache_key",
        "include",
        "reasoning",
        "instructions",
        "tools",
        "input",
    ];
    only(body, "body", &top)?;
    list(&body["tools"])
        .try_for_each(|tool| only(tool, "tools", &["type", "name", "description", "parameters", "strict"]))?;
    if text(&body["prompt_cache_key"]).len() > 64 {
        return Err(too_long("prompt_cache_key", 64));
    }
    list(&body["tools"]).try_for_each(|tool| name("tools", &tool["name"]))?;
    let model = text(&body["model"]);
    let items: Vec<&Value> = list(&body["input"]).collect();
    let mut called = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let place = format!("input[{at}]");
        match text(&item["type"]) {
            "message" if item["role"] == "assistant" && item["content"].is_array() => {
                let whole = item["id"].is_string() && item["status"].is_string();
                if !whole || list(&item["content"]).any(|part| !part["annotations"].is_array()) {
                    return Err(format!(
                        "Missing required parameter: '{place}.id' or '{place}.content[0].annotations'."
                    ));
                }
            }
            "message" => {
                only(item, &place, &["type", "role", "content", "phase"])?;
                if !item["content"].is_string() && list(&item["content"]).next().is_none() {
                    return Err(format!("Invalid '{place}.content': empty array."));
                }
                list(&item["content"]).try_for_each(|part| match text(&part["type"]) {
                    "input_text" => only(part, &place, &["type", "text"]),
                    "input_image" => only(part, &place, &["type", "detail", "image_url"])
                        .and_then(|()| can_see_url(model, text(&part["image_url"]))),
                    other => {
                        Err(format!("Invalid value: '{other}'. Supported values are: 'input_text' and 'input_image'."))
                    }
                })?;
            }
            "function_call" | "function_call_output" => call(item, &place, &mut called)?,
            "reasoning" => {
                only(item, &place, &["type", "id", "summary", "content", "encrypted_content"])?;
                let summary: String = list(&item["summary"]).map(|part| text(&part["text"])).collect();
                if item["encrypted_content"] != sign(model, &summary) {
                    return Err(format!("The encrypted content for item {} could not be verified.", item["id"]));
                }
                let next = items.get(at + 1).map(|next| text(&next["type"]));
                if !matches!(next, Some("function_call")) && items.get(at + 1).is_none_or(|n| n["role"] != "assistant")
                {
                    return Err(format!(
                        "Item '{}' of type 'reasoning' was provided without its required following item.",
                        item["id"]
                    ));
                }
            }
            other => return Err(format!("Invalid value: '{other}' for '{place}.type'.")),
        }
        if item["type"] == "function_call"
            && let Some(with) = sent.with(&item["call_id"], model).filter(|with| !with.thinking.is_empty())
        {
            let wanted = sign(model, &with.thinking);
            if !items.iter().take(at).any(|before| before["encrypted_content"] == wanted) {
                return Err(format!(
                    "Item '{}' of type 'function_call' was provided without its required 'reasoning' item.",
                    item["call_id"]
                ));
            }
        }
    }
    Ok(())
}

fn only(value: &Value, place: &str, known: &[&str]) -> Result<(), String> {
    known_only(value, known).map_err(|name| format!("Unknown parameter: '{place}.{name}'."))
}

/// Refuses a call or its result.
fn call<'a>(item: &'a Value, place: &str, called: &mut HashSet<&'a str>) -> Result<(), String> {
    let id = text(&item["call_id"]);
    if !(1..=64).contains(&id.len()) {
        return Err(too_long(&format!("{place}.call_id"), 64));
    }
    if item["type"] == "function_call_output" {
        only(item, place, &["type", "call_id", "output"])?;
        let is_known = called.contains(id);
        return if is_known {
            Ok(())
        } else {
            Err(format!("No tool call found for function call output with call_id {id}."))
        };
    }
    only(item, place, &["type", "call_id", "name", "arguments"])?;
    name(place, &item["name"])?;
    if !called.insert(id) {
        return Err(format!("Duplicate call_id in '{place}'."));
    }
    match serde_json::from_str::<Value>(text(&item["arguments"])) {
        Ok(_) => Ok(()),
        Err(_) => Err(format!("Invalid '{place}.arguments': it is no JSON.")),
    }
}

fn too_long(place: &str, most: usize) -> String {
    format!("Invalid '{place}': string too long or empty. Expected a string with maximum length {most}.")
}

/// Refuses the name of a tool.
fn name(place: &str, name: &Value) -> Result<(), String> {
    if is_plain(text(name), 64) {
        return Ok(());
    }
    Err(format!(
        "Invalid '{place}.name': string does not match pattern. Expected a string that matches '^[a-zA-Z0-9_-]+$'."
    ))
}
