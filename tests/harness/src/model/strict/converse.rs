//! The requests that Bedrock's Converse refuses: the fields are those of PyPI `botocore` 1.44, and the words of a
//! maker's models are those of the issues in which they came up (`family.rs` of the crate `providers`).

use std::collections::HashSet;

use serde_json::Value;

use super::{Sent, can_see, is_plain, known_only, list, sign, signs, text};

/// The formats of images.
const FORMATS: [&str; 4] = ["png", "jpeg", "gif", "webp"];

pub(super) fn refusal(model: &str, body: &Value, sent: &Sent) -> Result<(), String> {
    fields(model, body)?;
    let (mut before, mut called): (Vec<&str>, HashSet<&str>) = (Vec::new(), HashSet::new());
    let mut role = "assistant";
    for (at, message) in list(&body["messages"]).enumerate() {
        only(message, "messages", &["role", "content"])?;
        let place = format!("messages.{at}");
        let blocks: Vec<&Value> = list(&message["content"]).collect();
        if message["role"] == role || blocks.is_empty() {
            return Err(format!("{place}: A conversation must alternate between user and assistant roles."));
        }
        role = text(&message["role"]);
        blocks.iter().try_for_each(|it| block(it, model, role, body, &place))?;
        let results: Vec<&str> =
            blocks.iter().filter_map(|block| Some(text(&block.get("toolResult")?["toolUseId"]))).collect();
        if results != before {
            return Err(format!(
                "{place}: Expected toolResult blocks for the following Ids: {before:?}, not {results:?}"
            ));
        }
        before = blocks.iter().filter_map(|block| Some(text(&block.get("toolUse")?["toolUseId"]))).collect();
        if before.iter().any(|id| !called.insert(id)) {
            return Err(format!("{place}: The messages contain duplicate toolUse Ids"));
        }
        if role == "assistant" && blocks.last().is_some_and(|block| block.get("reasoningContent").is_some()) {
            return Err(format!("{place}: The final block in an assistant message cannot be `thinking`"));
        }
        mixture(&blocks, model, &place)?;
        thinking(&blocks, model, sent, &place)?;
    }
    if role == "user" { Ok(()) } else { Err("The conversation must end with a user message.".into()) }
}

fn only(value: &Value, place: &str, known: &[&str]) -> Result<(), String> {
    known_only(value, known).map_err(|name| format!("{place}: extraneous key [{name}] is not permitted"))
}

fn fields(model: &str, body: &Value) -> Result<(), String> {
    only(body, "#", &["inferenceConfig", "additionalModelRequestFields", "system", "toolConfig", "messages"])?;
    only(&body["inferenceConfig"], "#/inferenceConfig", &["maxTokens"])?;
    let more = &body["additionalModelRequestFields"];
    let known: &[&str] = match model {
        claude if signs(claude) => &["thinking", "output_config", "anthropic_beta"],
        nova if nova.contains("amazon.nova-2") => &["reasoningConfig"],
        gpt if gpt.contains("openai.gpt") => &["reasoning", "reasoning_effort"],
        _ => &[],
    };
    only(more, "#/additionalModelRequestFields", known)?;
    if more["reasoningConfig"]["maxReasoningEffort"] == "high" && !body["inferenceConfig"].is_null() {
        return Err("maxTokens must be unset when maxReasoningEffort is set to high".into());
    }
    for part in list(&body["system"]) {
        only(part, "#/system", &["text", "cachePoint"])?;
        if part.get("text").is_some_and(|part| text(part).trim().is_empty()) {
            return Err("The text field in the SystemContentBlock object is blank.".into());
        }
    }
    let mut names = HashSet::new();
    for tool in list(&body["toolConfig"]["tools"]) {
        let known: &[&str] = if signs(model) { &["toolSpec", "cachePoint"] } else { &["toolSpec"] };
        only(tool, "#/toolConfig/tools", known)?;
        let Some(spec) = tool.get("toolSpec") else { continue };
        only(spec, "#/toolConfig/tools", &["name", "description", "inputSchema"])?;
        let name = text(&spec["name"]);
        if !is_name(model, name) || !names.insert(name) || !spec["inputSchema"]["json"].is_object() {
            return Err(format!("Value '{name}' at 'toolConfig.tools' failed to satisfy constraint"));
        }
        if spec.get("description").is_some_and(|words| text(words).is_empty()) {
            return Err("The description of a tool has a length less than 1".into());
        }
    }
    let marks = body.to_string().matches("\"cachePoint\":").count();
    let takes_marks = signs(model) || model.contains("amazon.nova");
    if marks > 4 || marks > 0 && !takes_marks {
        return Err("You invoked an unsupported model or your request did not allow prompt caching.".into());
    }
    Ok(())
}

/// True if a tool may be called so. Nova's fail to call one with a hyphen.
fn is_name(model: &str, name: &str) -> bool {
    is_plain(name, 64) && !(model.contains("amazon.nova") && name.contains('-'))
}

fn block(block: &Value, model: &str, role: &str, body: &Value, place: &str) -> Result<(), String> {
    let fields = block.as_object().filter(|fields| fields.len() == 1);
    let (kind, value) = fields.and_then(|fields| fields.iter().next()).ok_or(format!("{place}: no union: {block}"))?;
    let lacks_tools = body["toolConfig"].is_null();
    match (role, kind.as_str()) {
        (_, "text") if text(value).trim().is_empty() => {
            Err(format!("{place}: The text field in the ContentBlock object is blank. Add text to the text field"))
        }
        (_, "text") => Ok(()),
        ("user", "cachePoint") => only(value, place, &["type"]),
        ("user", "image") => {
            only(value, place, &["format", "source"])?;
            only(&value["source"], place, &["bytes"])?;
            can_see(model, text(&value["format"]), text(&value["source"]["bytes"]), &FORMATS)
        }
        (_, "toolUse" | "toolResult") if lacks_tools => {
            Err("The toolConfig field must be defined when using toolUse and toolResult content blocks.".into())
        }
        ("assistant", "toolUse") => {
            only(value, place, &["toolUseId", "name", "input"])?;
            let id = text(&value["toolUseId"]);
            let fits = is_plain(id, 64) && (!model.contains("mistral.") || id.len() == 9);
            if !fits || !is_name(model, text(&value["name"])) || !value["input"].is_object() {
                return Err(format!("{place}: Tool call id was {id} but must be a-z, A-Z, 0-9: {value}"));
            }
            Ok(())
        }
        ("user", "toolResult") => {
            let takes_status = signs(model) || model.contains("amazon.nova");
            let known: &[&str] =
                if takes_status { &["toolUseId", "content", "status"] } else { &["toolUseId", "content"] };
            only(value, place, known)?;
            let says = list(&value["content"]).all(|part| !text(&part["text"]).trim().is_empty());
            if says { Ok(()) } else { Err(format!("{place}: text content blocks must be non-empty")) }
        }
        ("assistant", "reasoningContent") => {
            only(value, place, &["reasoningText"])?;
            let thought = &value["reasoningText"];
            only(thought, place, &["text", "signature"])?;
            match thought.get("signature") {
                Some(signature) if signs(model) && *signature == sign(model, text(&thought["text"])) => Ok(()),
                None if !signs(model) && !text(&thought["text"]).is_empty() => Ok(()),
                None if signs(model) => Err(format!("{place}: thinking.signature: Field required")),
                Some(_) if signs(model) => Err(format!("{place}: Invalid `signature` in `thinking` block")),
                _ => Err("This model doesn't support the reasoningContent.reasoningText.signature field.".into()),
            }
        }
        (role, other) => Err(format!("{place}: no {other} from the {role}")),
    }
}

/// Some makers' models take less beside each other than others.
fn mixture(blocks: &[&Value], model: &str, place: &str) -> Result<(), String> {
    let has = |kind: &str| blocks.iter().any(|block| block.get(kind).is_some());
    let beside = ["toolUse", "toolResult"].into_iter().find(|kind| has(kind));
    if model.contains("meta.llama")
        && let Some(kind) = beside.filter(|_| has("text") || has("image"))
    {
        let kind = if kind == "toolUse" { "tool use" } else { "tool result" };
        return Err(format!("{place}: Conversation blocks and {kind} blocks cannot be provided in the same turn."));
    }
    let is_refused = |pair: &[&Value]| pair[1].get("cachePoint").is_some() && pair[0].get("text").is_none();
    if model.contains("amazon.nova") && blocks.windows(2).any(is_refused) {
        return Err(format!("{place}: Malformed input request: extraneous key [cachePoint] is not permitted"));
    }
    Ok(())
}

/// A message of the model's has what led to its calls, as the model said it.
fn thinking(blocks: &[&Value], model: &str, sent: &Sent, place: &str) -> Result<(), String> {
    for call in blocks.iter().filter_map(|block| block.get("toolUse")) {
        let Some(with) = sent.with(&call["toolUseId"], model).filter(|with| !with.thinking.is_empty()) else {
            continue;
        };
        if !blocks.iter().any(|block| block["reasoningContent"]["reasoningText"]["text"] == with.thinking) {
            return Err(format!("{place}: Expected `thinking` or `redacted_thinking`, but found `tool_use`"));
        }
    }
    Ok(())
}
