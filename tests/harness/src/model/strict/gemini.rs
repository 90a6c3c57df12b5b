//! The requests that Google refuses. The fields are those of npm `@google/genai` 3.1. Google looks for the signatures
//! of the current turn's steps; here those of all steps are looked for.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Sent, Signed, known_only, list, missing_signature, text};

/// The signature that stands for none.
const SKIPPED: &str = "skip_thought_signature_validator";

pub(super) fn refusal(model: &str, body: &Value, sent: &Sent) -> Result<(), String> {
    let only = |value: &Value, known: &[&str]| {
        known_only(value, known)
            .map_err(|name| format!("Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."))
    };
    only(body, &["contents", "systemInstruction", "tools", "toolConfig", "generationConfig"])?;
    only(&body["systemInstruction"], &["role", "parts"])?;
    let config = &body["generationConfig"];
    only(config, &["maxOutputTokens", "thinkingConfig"])?;
    let thinking = &config["thinkingConfig"];
    only(thinking, &["includeThoughts", "thinkingLevel", "thinkingBudget"])?;
    if thinking.get("thinkingLevel").is_some() && thinking.get("thinkingBudget").is_some() {
        return Err("You can only set one of thinking budget and thinking level.".into());
    }
    for tool in list(&body["tools"]) {
        only(tool, &["functionDeclarations"])?;
        for declared in list(&tool["functionDeclarations"]) {
            only(declared, &["name", "description", "parametersJsonSchema"])?;
            if !is_name(text(&declared["name"])) {
                return Err("Invalid function name. Must start with a letter or an underscore.".into());
            }
        }
    }
    let contents: Vec<&Value> = list(&body["contents"]).collect();
    if contents.first().is_none_or(|first| first["role"] != "user") {
        return Err("Please ensure that multiturn requests begin with a user turn.".into());
    }
    let mut seen = HashSet::new();
    for (at, content) in contents.iter().enumerate() {
        only(content, &["role", "parts"])?;
        if list(&content["parts"]).next().is_none() {
            return Err(format!("* GenerateContentRequest.contents[{at}].parts: contents.parts must not be empty."));
        }
        list(&content["parts"]).try_for_each(|part| is_part(part, text(&content["role"])))?;
        answers(contents.get(at.wrapping_sub(1)).copied().unwrap_or(&Value::Null), content)?;
        signatures(model, content, sent, &mut seen)?;
    }
    let last = contents.last().copied().unwrap_or(&Value::Null);
    if list(&last["parts"]).any(|part| part.get("functionCall").is_some()) {
        return Err(unequal());
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 128
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
}

fn is_part(part: &Value, role: &str) -> Result<(), String> {
    let only = |value: &Value, known: &[&str]| {
        known_only(value, known)
            .map_err(|name| format!("Invalid JSON payload received. Unknown name \"{name}\" at 'contents.parts'"))
    };
    let data: &[&str] = match role {
        "user" => &["text", "inlineData", "functionResponse"],
        "model" => &["text", "functionCall", "thought", "thoughtSignature"],
        _ => return Err("Please use a valid role: user, model.".into()),
    };
    only(part, data)?;
    let kinds = ["text", "inlineData", "functionCall", "functionResponse"];
    if kinds.iter().filter(|kind| part.get(**kind).is_some()).count() != 1 {
        return Err("oneof field 'data' must be set once".into());
    }
    only(&part["inlineData"], &["mimeType", "data"])?;
    only(&part["functionCall"], &["id", "name", "args"])?;
    only(&part["functionResponse"], &["id", "name", "response"])?;
    let response = &part["functionResponse"]["response"];
    if part.get("functionCall").is_some() && !part["functionCall"]["args"].is_object()
        || part.get("functionResponse").is_some() && !response.is_object()
    {
        return Err("Invalid value at 'contents.parts' (type.googleapis.com/google.protobuf.Struct)".into());
    }
    only(response, &["output", "error"])
}

/// The calls of a content are answered by the next one: all of them, in their order, by name and by id.
fn answers(before: &Value, content: &Value) -> Result<(), String> {
    let of = |content: &Value, kind: &str| -> Vec<Value> {
        let named = list(&content["parts"]).filter_map(|part| part.get(kind));
        named.map(|it| json!([it["name"], it["id"]])).collect()
    };
    let (calls, responses) = (of(before, "functionCall"), of(content, "functionResponse"));
    if calls.len() != responses.len() {
        return Err(unequal());
    }
    if calls != responses {
        return Err(format!("the responses {responses:?} are not for the calls {calls:?}"));
    }
    Ok(())
}

fn unequal() -> String {
    "Please ensure that the number of function response parts is equal to the number of function call parts of the \
     function call turn."
        .into()
}

/// The first call of a step has a signature; and a signature stands on the part that it came with, and nowhere else.
fn signatures(model: &str, content: &Value, sent: &Sent, seen: &mut HashSet<String>) -> Result<(), String> {
    let corrupted = || Err("Corrupted thought signature.".to_owned());
    let mut calls = 0;
    for part in list(&content["parts"]) {
        let signature = part["thoughtSignature"].as_str();
        let call = part.get("functionCall");
        calls += usize::from(call.is_some());
        match (signature, call) {
            (None, Some(call)) if calls == 1 => return Err(missing_signature(text(&call["name"]))),
            (Some(SKIPPED), Some(call)) if calls == 1 && !sent.is_signed(model, &call["id"]) => {}
            (Some(signature), _) if !seen.insert(signature.to_owned()) => return corrupted(),
            (Some(signature), _) => {
                let signed = match call {
                    Some(call) => Signed::Call(text(&call["name"]).to_owned()),
                    None if part.get("thought").is_none() => Signed::Text(text(&part["text"]).to_owned()),
                    None => return corrupted(),
                };
                if sent.signed(model, signature) != Some(&signed) {
                    return corrupted();
                }
            }
            (None, Some(call)) if sent.is_signed(model, &call["id"]) => {
                return Err(missing_signature(text(&call["name"])));
            }
            (None, _) => {}
        }
    }
    Ok(())
}
