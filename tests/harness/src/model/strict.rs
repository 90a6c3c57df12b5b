//! The requests that the vendors refuse.
//!
//! A vendor does not forgive what a lenient server reads over: a field that its published types do not have, thinking
//! or a signature that is missing, changed, or another model's. The fields are those of npm `@anthropic-ai/sdk` 1.12,
//! `openai` 7.57 and `@google/genai` 3.1; the words are the vendors' own.

mod gemini;

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::Wire;
use super::answer::Step;

/// The data that came with the calls of answers, by their ids, as the vendor wants it back.
#[derive(Default)]
pub(super) struct Sent {
    calls: HashMap<String, With>,
    /// Gemini's signatures, each with the part that it stands on.
    signed: HashMap<String, (String, Signed)>,
    /// Gemini's signatures that it does not know any more.
    forgotten: HashSet<String>,
}

/// A part that Gemini signed.
#[derive(Debug, PartialEq)]
enum Signed {
    /// A call of this tool.
    Call(String),
    /// This text.
    Text(String),
}

/// The data that came with a call.
struct With {
    /// The model that made it.
    model: String,
    /// The model's thinking before the call.
    thinking: String,
    /// True if the call itself was signed: Gemini signs the first of a step.
    signed: bool,
}

/// Returns the signature by which a vendor knows something again. Another model's is different.
pub(super) fn sign(model: &str, what: &str) -> String {
    let hash = format!("{model}\0{what}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("c2ln/{hash:016x}+==")
}

/// Returns the text that the signature at the end of an answer is for.
pub(super) fn end_of(said: &str) -> String {
    format!("the end of {said}")
}

impl Sent {
    /// Remembers an answer that a model gives.
    pub(super) fn remember(&mut self, model: &str, steps: &[Step]) {
        let (mut thinking, mut said, mut calls) = (String::new(), String::new(), 0);
        for step in steps {
            match step {
                Step::Thinking(piece) => thinking.push_str(piece),
                Step::Text(piece) => said.push_str(piece),
                Step::Call { id, name, .. } | Step::SlowCall { id, name, .. } | Step::HalfCall { id, name, .. } => {
                    calls += 1;
                    if calls == 1 {
                        let signed = (model.to_owned(), Signed::Call(name.clone()));
                        self.signed.insert(sign(model, id), signed);
                    }
                    if !matches!(step, Step::HalfCall { .. }) {
                        let with = With { model: model.to_owned(), thinking: thinking.clone(), signed: calls == 1 };
                        self.calls.insert(id.clone(), with);
                    }
                }
                _ => {}
            }
        }
        if calls == 0 {
            let signed = (model.to_owned(), Signed::Text(String::new()));
            self.signed.insert(sign(model, &end_of(&said)), signed);
        }
    }

    /// Forgets all signatures so far. From now on they are refused, and the one that stands for none is taken instead.
    pub(super) fn forget(&mut self) {
        self.forgotten.extend(self.signed.drain().map(|(signature, _)| signature));
        self.calls.values_mut().for_each(|with| with.signed = false);
    }

    /// True if a request is refused only because a signature in it was forgotten.
    pub(super) fn has_forgotten(&self, body: &Value, words: &str) -> bool {
        let body = body.to_string();
        words == "Corrupted thought signature." && self.forgotten.iter().any(|signature| body.contains(signature))
    }

    /// The data that came with a call, if this model made it.
    fn with(&self, id: &Value, model: &str) -> Option<&With> {
        self.calls.get(id.as_str()?).filter(|with| with.model == model)
    }

    /// True if this model signed the call with this id.
    fn is_signed(&self, model: &str, id: &Value) -> bool {
        self.with(id, model).is_some_and(|with| with.signed)
    }

    /// The part that this signature of this model stands on.
    fn signed(&self, model: &str, signature: &str) -> Option<&Signed> {
        self.signed.get(signature).filter(|(whose, _)| whose == model).map(|(_, signed)| signed)
    }
}

/// Why the vendor refuses a request, in its words.
pub(super) fn refusal(wire: Wire, model: &str, body: &Value, sent: &Sent) -> Result<(), String> {
    match wire {
        Wire::Gemini => gemini::refusal(model, body, sent),
        Wire::Anthropic => anthropic(body, sent),
        Wire::Responses => responses(body, sent),
        _ => chat(wire, body, sent),
    }
}

fn anthropic(body: &Value, sent: &Sent) -> Result<(), String> {
    let wrong = |place: &str, name: &str| format!("{place}.{name}: Extra inputs are not permitted");
    let only = |value: &Value, place: &str, known: &[&str]| known_only(value, known).map_err(|name| wrong(place, name));
    let top = ["model", "max_tokens", "stream", "thinking", "output_config", "system", "tools", "messages"];
    only(body, "body", &top)?;
    only(&body["output_config"], "output_config", &["effort"])?;
    if let Some(effort) = body["output_config"].get("effort")
        && !["low", "medium", "high", "xhigh", "max"].contains(&text(effort))
    {
        return Err(format!(
            "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max', not {effort}"
        ));
    }
    match text(&body["thinking"]["type"]) {
        "enabled" => {
            only(&body["thinking"], "thinking", &["type", "budget_tokens"])?;
            let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or_default();
            if budget < 1_024 || Some(budget) >= body["max_tokens"].as_u64() {
                return Err("`max_tokens` must be greater than `thinking.budget_tokens`, and that at least 1024".into());
            }
        }
        "adaptive" => only(&body["thinking"], "thinking", &["type", "display", "block_binding"])?,
        _ => only(&body["thinking"], "thinking", &["type"])?,
    }
    list(&body["tools"])
        .try_for_each(|tool| only(tool, "tools", &["name", "description", "input_schema", "cache_control"]))?;
    let model = text(&body["model"]);
    for (at, message) in list(&body["messages"]).enumerate() {
        only(message, "messages", &["role", "content"])?;
        let place = format!("messages.{at}");
        let blocks: Vec<&Value> = list(&message["content"]).collect();
        for block in &blocks {
            let known: &[&str] = match text(&block["type"]) {
                "text" => &["type", "text", "cache_control"],
                "image" => &["type", "source", "cache_control"],
                "thinking" => &["type", "thinking", "signature"],
                "redacted_thinking" => &["type", "data"],
                "tool_use" => &["type", "id", "name", "input"],
                "tool_result" => &["type", "tool_use_id", "content", "is_error", "cache_control"],
                other => return Err(format!("{place}: Input tag '{other}' does not match any of the expected tags")),
            };
            only(block, &place, known)?;
            if block["type"] == "thinking" && block["signature"] != sign(model, text(&block["thinking"])) {
                return Err(format!("{place}: Invalid `signature` in `thinking` block"));
            }
        }
        if blocks.last().is_some_and(|block| block["type"] == "thinking") && message["role"] == "assistant" {
            return Err(format!("{place}: The final block in an assistant message cannot be `thinking`"));
        }
        for call in blocks.iter().filter(|block| block["type"] == "tool_use") {
            let Some(with) = sent.with(&call["id"], model).filter(|with| !with.thinking.is_empty()) else { continue };
            if !blocks.iter().any(|block| block["thinking"] == with.thinking) {
                return Err(format!(
                    "{place}: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, \
                     a final `assistant` message must start with a thinking block"
                ));
            }
        }
    }
    Ok(())
}

fn responses(body: &Value, sent: &Sent) -> Result<(), String> {
    let only = |value: &Value, place: &str, known: &[&str]| {
        known_only(value, known).map_err(|name| format!("Unknown parameter: '{place}.{name}'."))
    };
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
    let model = text(&body["model"]);
    let items: Vec<&Value> = list(&body["input"]).collect();
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
                list(&item["content"]).try_for_each(|part| match text(&part["type"]) {
                    "input_text" => only(part, &place, &["type", "text"]),
                    "input_image" => only(part, &place, &["type", "detail", "image_url"]),
                    other => {
                        Err(format!("Invalid value: '{other}'. Supported values are: 'input_text' and 'input_image'."))
                    }
                })?;
            }
            "function_call" => only(item, &place, &["type", "call_id", "name", "arguments"])?,
            "function_call_output" => only(item, &place, &["type", "call_id", "output"])?,
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

fn chat(wire: Wire, body: &Value, sent: &Sent) -> Result<(), String> {
    let only = |value: &Value, place: &str, known: &[&str]| {
        known_only(value, known).map_err(|name| format!("'{place}': property '{name}' is unsupported"))
    };
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
    let effort = if wire == Wire::Chat { "reasoning_effort" } else { "model" };
    only(body, "body", &[&top[..], &[effort]].concat())?;
    if let Some(effort) = body.get("reasoning_effort")
        && !["none", "minimal", "low", "medium", "high", "xhigh"].contains(&text(effort))
    {
        return Err(format!("Invalid value: {effort} for 'reasoning_effort'"));
    }
    list(&body["tools"]).try_for_each(|tool| only(tool, "tools", &["type", "function"]))?;
    let own: &[&str] = match wire {
        Wire::Chat | Wire::Moonshot => &["reasoning_content"],
        Wire::OpenRouter => &["reasoning", "reasoning_details"],
        Wire::Groq => &["reasoning"],
        _ => &["extra_content"],
    };
    let model = text(&body["model"]);
    for (at, message) in list(&body["messages"]).enumerate() {
        let place = format!("messages.{at}");
        match text(&message["role"]) {
            "system" | "user" => only(message, &place, &["role", "content"])?,
            "tool" => only(message, &place, &["role", "tool_call_id", "content"])?,
            "assistant" => only(message, &place, &[&["role", "content", "tool_calls"], own].concat())?,
            other => return Err(format!("'{place}.role': '{other}' is none of the roles")),
        }
        // An empty text is none, and DeepSeek misses it in what the model only said too.
        if wire == Wire::Moonshot && message["role"] == "assistant" && text(&message["reasoning_content"]).is_empty() {
            return Err(format!(
                "thinking is enabled but reasoning_content is missing in assistant message at index {at}"
            ));
        }
        let calls: Vec<&Value> = list(&message["tool_calls"]).collect();
        for (place_in_step, call) in calls.iter().enumerate() {
            let with = sent.with(&call["id"], model);
            let known: &[&str] = &["id", "type", "function"];
            match wire {
                Wire::GeminiChat => {
                    only(call, &place, &[known, &["extra_content"]].concat())?;
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
                _ => only(call, &place, known)?,
            }
            let thinking = with.map(|with| with.thinking.as_str()).unwrap_or_default();
            match wire {
                Wire::Chat | Wire::Moonshot if !thinking.is_empty() && message["reasoning_content"] != thinking => {
                    return Err(format!("the reasoning_content at index {at} is not what was sent"));
                }
                Wire::Groq if !thinking.is_empty() && message["reasoning"] != thinking => {
                    return Err(format!("the reasoning at index {at} is not what was sent"));
                }
                Wire::OpenRouter
                    if !thinking.is_empty() && message["reasoning_details"] != details(model, thinking) =>
                {
                    return Err(format!("{place}: Invalid `signature` in `thinking` block"));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Thinking as OpenRouter wants it back: in one, and with its signature.
fn details(model: &str, thinking: &str) -> Value {
    json!([{ "type": "reasoning.text", "text": thinking, "format": "anthropic-claude-v1", "index": 0,
        "signature": sign(model, thinking) }])
}

fn missing_signature(name: &str) -> String {
    format!(
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. \
         Additional data, function call `default_api:{name}`"
    )
}

/// Fails with the first field that is none of these.
fn known_only<'a>(value: &'a Value, known: &[&str]) -> Result<(), &'a str> {
    let mut names = value.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    names.find(|name| !known.contains(name)).map_or(Ok(()), Err)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
