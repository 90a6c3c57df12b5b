//! The requests that Anthropic refuses.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::{IMAGES, Sent, asked, can_see, is_plain, known_only, list, sign, text};
use crate::model::Step;

/// The models that take a block of thinking only after the same messages as those that it came after
/// (`BetaThinkingBlockBinding`).
const BOUND: [&str; 5] = ["fable-5-2", "fable-5-1", "opus-5-5", "sonnet-5-5", "haiku-5-5"];

/// The models whose effort may change within a conversation
/// (platform.claude.com/docs/en/build-with-claude/effort-per-message).
const EFFORT: [&str; 8] =
    ["fable-5-2", "mythos-5-2", "fable-5-1", "mythos-5-1", "opus-5-5", "opus-5", "sonnet-5-5", "haiku-5-5"];

/// All that was said before a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Prefix(u64);

pub(super) fn refusal(body: &Value, betas: &str, sent: &Sent) -> Result<(), String> {
    fields(body)?;
    let model = text(&body["model"]);
    let (mut before, mut called) = (HashMap::new(), HashSet::new());
    let (mut role, mut is_after_system) = ("assistant", false);
    for (at, message) in list(&body["messages"]).enumerate() {
        let place = format!("messages.{at}");
        if message["role"] == "system" {
            effort_message(message, model, betas, &place)?;
            if at == 0 || is_after_system || !before.is_empty() {
                return Err(format!("{place}: a system message cannot stand here"));
            }
            is_after_system = true;
            continue;
        }
        only(message, "messages", &["role", "content"])?;
        // Words of the user before and behind a change of the effort are two messages.
        let is_again = message["role"] == role && !(role == "user" && is_after_system);
        is_after_system = false;
        if is_again || list(&message["content"]).next().is_none() {
            return Err(format!(
                "{place}: roles must alternate between \"user\" and \"assistant\", and content must not be empty"
            ));
        }
        role = text(&message["role"]);
        list(&message["content"]).try_for_each(|content| block(content, model, role, &place))?;
        before = match role {
            "user" => results(message, &before, &place).map(|()| HashMap::new())?,
            _ => calls(message, &mut called, &place)?,
        };
        thinking(message, model, sent, &place)?;
    }
    if role != "user" {
        return Err(
            "This model does not support assistant message prefill. The conversation must end with a user message."
                .into(),
        );
    }
    binding(body, model, sent)
}

/// A message that changes the effort from there on, and says nothing. One that says something is not ours.
fn effort_message(message: &Value, model: &str, betas: &str, place: &str) -> Result<(), String> {
    if !EFFORT.iter().any(|name| model.contains(name)) {
        return Err(format!("{place}: role 'system' is not supported on this model"));
    }
    if !betas.split(',').any(|beta| beta == "mid-conversation-output-config-2026-07-01") {
        return Err(format!("{place}.output_config: Extra inputs are not permitted"));
    }
    only(message, place, &["role", "content", "output_config"])?;
    only(&message["output_config"], place, &["effort"])?;
    if message["content"] != Value::Array(Vec::new()) {
        return Err(format!("{place}.content: it is not empty"));
    }
    is_effort(&message["output_config"]["effort"], place)
}

fn is_effort(effort: &Value, place: &str) -> Result<(), String> {
    if ["low", "medium", "high", "xhigh", "max"].contains(&text(effort)) {
        return Ok(());
    }
    Err(format!("{place}output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max', not {effort}"))
}

/// Returns the signatures of an answer's thoughts, each with what was said before it.
pub(super) fn prefixes(model: &str, body: &Value, steps: &[Step]) -> Vec<(String, Prefix)> {
    // Thoughts in a row are one block, and what is said between two is not followed further than the first.
    let mut thoughts = vec![String::new()];
    for step in steps {
        match (step, thoughts.last_mut()) {
            (Step::Thinking(piece), Some(thought)) => thought.push_str(piece),
            (_, Some(thought)) if !thought.is_empty() => thoughts.push(String::new()),
            _ => {}
        }
    }
    let prefix = prefix(&flat(body));
    thoughts.iter().filter(|thought| !thought.is_empty()).map(|thought| (sign(model, thought), prefix)).collect()
}

/// The blocks of a conversation, each with its role, and the changes of the effort.
fn flat(body: &Value) -> Vec<String> {
    list(&body["messages"]).flat_map(asked::blocks).collect()
}

fn prefix(blocks: &[String]) -> Prefix {
    let mut hasher = DefaultHasher::new();
    blocks.hash(&mut hasher);
    Prefix(hasher.finish())
}

fn only(value: &Value, place: &str, known: &[&str]) -> Result<(), String> {
    known_only(value, known).map_err(|name| format!("{place}.{name}: Extra inputs are not permitted"))
}

fn fields(body: &Value) -> Result<(), String> {
    let top =
        ["model", "max_tokens", "stream", "thinking", "output_config", "system", "tools", "messages", "diagnostics"];
    only(body, "body", &top)?;
    only(&body["diagnostics"], "diagnostics", &["previous_message_id"])?;
    if let Some(before) = body["diagnostics"].get("previous_message_id")
        && !before.is_null()
        && !text(before).starts_with("msg_")
    {
        return Err("diagnostics.previous_message_id: String should match pattern '^msg_'".into());
    }
    only(&body["output_config"], "output_config", &["effort"])?;
    body["output_config"].get("effort").map_or(Ok(()), |effort| is_effort(effort, ""))?;
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
    for tool in list(&body["tools"]) {
        only(tool, "tools", &["name", "description", "input_schema", "eager_input_streaming", "cache_control"])?;
        if tool.get("eager_input_streaming").is_some_and(|eager| !eager.is_boolean()) {
            return Err("tools: eager_input_streaming: Input should be a valid boolean".into());
        }
        if !is_plain(text(&tool["name"]), 64) {
            return Err("tools: name: String should match pattern '^[a-zA-Z0-9_-]{1,64}$'".into());
        }
    }
    if body.to_string().matches("\"cache_control\":").count() > 4 {
        return Err("A maximum of 4 blocks with cache_control may be provided.".into());
    }
    Ok(())
}

fn block(block: &Value, model: &str, role: &str, place: &str) -> Result<(), String> {
    let known: &[&str] = match (role, text(&block["type"])) {
        (_, "text") => &["type", "text", "cache_control"],
        ("user", "image") => &["type", "source", "cache_control"],
        ("assistant", "thinking") => &["type", "thinking", "signature"],
        ("assistant", "redacted_thinking") => &["type", "data"],
        ("assistant", "tool_use") => &["type", "id", "name", "input"],
        ("user", "tool_result") => &["type", "tool_use_id", "content", "is_error", "cache_control"],
        (_, other) => return Err(format!("{place}: Input tag '{other}' does not match any of the expected tags")),
    };
    only(block, place, known)?;
    match text(&block["type"]) {
        "text" if text(&block["text"]).trim().is_empty() => {
            Err(format!("{place}: text content blocks must contain non-whitespace text"))
        }
        "image" => {
            let source = &block["source"];
            only(source, place, &["type", "media_type", "data"])?;
            can_see(model, text(&source["media_type"]), text(&source["data"]), &IMAGES)
        }
        "thinking" if block["signature"] != sign(model, text(&block["thinking"])) => {
            Err(format!("{place}: Invalid `signature` in `thinking` block"))
        }
        "tool_result" if block["is_error"] == true && text(&block["content"]).trim().is_empty() => {
            Err(format!("{place}: tool_result: content cannot be empty if `is_error` is true"))
        }
        _ => Ok(()),
    }
}

/// The calls of a message of the model's, each of which awaits a result.
fn calls<'a>(
    message: &'a Value,
    called: &mut HashSet<&'a str>,
    place: &str,
) -> Result<HashMap<&'a str, usize>, String> {
    let mut open = HashMap::new();
    for call in list(&message["content"]).filter(|block| block["type"] == "tool_use") {
        let (id, name) = (text(&call["id"]), text(&call["name"]));
        if !is_plain(id, 64) || !is_plain(name, 64) || !call["input"].is_object() {
            return Err(format!(
                "{place}: tool_use.id and tool_use.name should match pattern '^[a-zA-Z0-9_-]+$', and tool_use.input should \
                 be a valid dictionary, not {call}"
            ));
        }
        if !called.insert(id) {
            return Err(format!("{place}: `tool_use` ids must be unique"));
        }
        open.insert(id, open.len());
    }
    Ok(open)
}

/// The results stand first in the message after the calls, one for each.
fn results(message: &Value, calls: &HashMap<&str, usize>, place: &str) -> Result<(), String> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let results: HashSet<&str> = list(&message["content"])
        .take_while(is_result)
        .map(|block| text(&block["tool_use_id"]))
        .filter(|id| calls.contains_key(id))
        .collect();
    let all = list(&message["content"]).filter(is_result).count();
    if results.len() == calls.len() && all == calls.len() {
        return Ok(());
    }
    Err(format!(
        "{place}: `tool_use` ids were found without `tool_result` blocks immediately after. Each `tool_use` block must have \
         a corresponding `tool_result` block in the next message."
    ))
}

/// A message of the model's does not end in thinking, and has what led to its calls. Models that bind their thinking
/// may have lost it.
fn thinking(message: &Value, model: &str, sent: &Sent, place: &str) -> Result<(), String> {
    let blocks: Vec<&Value> = list(&message["content"]).collect();
    if blocks.last().is_some_and(|block| text(&block["type"]).ends_with("thinking")) {
        return Err(format!("{place}: The final block in an assistant message cannot be `thinking`"));
    }
    for call in blocks.iter().filter(|block| block["type"] == "tool_use" && !is_bound(model)) {
        let Some(with) = sent.with(&call["id"], model).filter(|with| !with.thinking.is_empty()) else { continue };
        if !blocks.iter().any(|block| block["thinking"] == with.thinking) {
            return Err(expected_thinking(place));
        }
    }
    Ok(())
}

fn is_bound(model: &str) -> bool {
    BOUND.iter().any(|name| model.contains(name))
}

fn expected_thinking(place: &str) -> String {
    format!(
        "{place}: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final \
         `assistant` message must start with a thinking block"
    )
}

/// Each thought stands behind what it stood behind when it came, unless the vendor is told to drop those that do not. A
/// thought that could stand there, and led to a call, must not be missing either.
fn binding(body: &Value, model: &str, sent: &Sent) -> Result<(), String> {
    if !is_bound(model) {
        return Ok(());
    }
    let drops = body["thinking"]["block_binding"]["prefix_mismatch_behavior"] == "drop_block";
    let (flat, mut at) = (flat(body), 0);
    for (number, message) in list(&body["messages"]).enumerate() {
        let place = format!("messages.{number}");
        let first = at;
        let blocks: Vec<&Value> = list(&message["content"]).collect();
        at += asked::blocks(message).len();
        // An answer may stand behind what the model said before it broke off.
        let is_behind = |signature: &str, end: usize| {
            let known = sent.prefixes.get(signature);
            known.is_some_and(|known| (first..=end).any(|end| known.contains(&prefix(&flat[..end]))))
        };
        for (inner, block) in blocks.iter().enumerate() {
            match text(&block["type"]) {
                "thinking" if !drops && !is_behind(text(&block["signature"]), first + inner) => {
                    return Err(format!(
                        "{place}.content.{inner}: `thinking` block was created in a different conversation"
                    ));
                }
                "tool_use" if body["thinking"]["type"] != "disabled" => {
                    let with = sent.with(&block["id"], model).filter(|with| !with.thinking.is_empty());
                    let Some(with) = with else { continue };
                    let is_there = blocks.iter().any(|block| block["thinking"] == with.thinking);
                    if !is_there && is_behind(&sign(model, &with.thinking), first + inner) {
                        return Err(expected_thinking(&place));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(())
}
