//! The requests that Google refuses. The fields are those of npm `@google/genai` 3.1. Google looks for the signatures
//! of the current turn's steps; here those of all steps are looked for.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Sent, Signed, can_see, known_only, list, missing_signature, text};

/// The types of images that Google reads.
const IMAGES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
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
        list(&content["parts"])
            .filter_map(|part| part.get("inlineData"))
            .try_for_each(|image| can_see(model, text(&image["mimeType"]), text(&image["data"]), &IMAGES))?;
        answers(contents.get(at.wrapping_sub(1)).copied().unwrap_or(&Value::Null), content)?;
        signatures(model, content, sent, &mut seen)?;
    }
    let last = contents.last().copied().unwrap_or(&Value::Null);
    if last["role"] != "user" {
        return Err("Please ensure that single turn requests end with a user role.".into());
    }
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
    if part["text"] == "" && part.get("thoughtSignature").is_none() {
        return Err("Unable to submit request because it has an empty text parameter.".into());
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

#[cfg(test)]
mod tests {
    use super::super::sign;
    use super::*;
    use crate::model::{Step, Wire};

    const MODEL: &str = "gemini-4-argon";

    fn call(id: &str, signature: Option<&str>) -> Value {
        let mut part = json!({ "functionCall": { "id": id, "name": "look", "args": {} } });
        if let Some(signature) = signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    }

    fn response(id: &str) -> Value {
        json!({ "functionResponse": { "id": id, "name": "look", "response": { "output": "" } } })
    }

    /// Returns why a conversation is refused in which the model said this, and the user that.
    fn refused(said: &Value, answered: &Value) -> Option<String> {
        let steps = ["a", "b"].map(|id| Step::Call { id: id.into(), name: "look".into(), input: json!({}) });
        let mut sent = Sent::default();
        sent.remember(Wire::Gemini, MODEL, &Value::Null, &steps);
        let other = [Step::Call { id: "c".into(), name: "look".into(), input: json!({}) }];
        sent.remember(Wire::Gemini, "gemini-3.8-flash", &Value::Null, &other);
        let user = json!({ "role": "user", "parts": [{ "text": "Go." }] });
        let contents = json!([user, { "role": "model", "parts": said }, { "role": "user", "parts": answered }]);
        refusal(MODEL, &json!({ "contents": contents }), &sent).err()
    }

    #[test]
    fn a_signature_that_is_missing_moved_or_anothers_is_refused() {
        let (own, both) = (sign(MODEL, "a"), json!([response("a"), response("b")]));
        let why =
            |first: Option<&str>, second: Option<&str>| refused(&json!([call("a", first), call("b", second)]), &both);
        assert_eq!(why(Some(&own), None), None);
        assert!(why(None, None).unwrap().contains("missing a thought_signature"));
        assert!(why(None, Some(&own)).unwrap().contains("missing a thought_signature"));
        for other in [SKIPPED.to_owned(), sign("gemini-3.8-flash", "c"), "c2ln".into()] {
            assert_eq!(why(Some(&other), None).as_deref(), Some("Corrupted thought signature."), "{other}");
        }
        assert_eq!(why(Some(&own), Some(&own)).as_deref(), Some("Corrupted thought signature."));
        let text = json!([{ "text": "", "thoughtSignature": own }]);
        assert_eq!(refused(&text, &json!([{ "text": "On." }])).as_deref(), Some("Corrupted thought signature."));
        let foreign = json!([call("x", Some(SKIPPED))]);
        assert_eq!(refused(&foreign, &json!([response("x")])), None, "a call of another vendor's model");
    }

    #[test]
    fn results_that_do_not_match_their_calls_are_refused() {
        let own = sign(MODEL, "a");
        let said = json!([call("a", Some(&own)), call("b", None)]);
        for answered in [json!([response("a")]), json!([{ "text": "On." }]), json!([response("b"), response("a")])] {
            assert!(refused(&said, &answered).is_some(), "{answered}");
        }
        assert!(refused(&json!([{ "text": "Hm." }]), &json!([response("a")])).is_some(), "there is no such call");
    }

    #[test]
    fn fields_that_google_does_not_know_and_a_beginning_by_the_model_are_refused() {
        let user = json!({ "role": "user", "parts": [{ "text": "Go." }] });
        let why = |body: Value| refusal(MODEL, &body, &Sent::default()).err().unwrap_or_default();
        assert_eq!(why(json!({ "contents": [user] })), "");
        assert!(why(json!({ "contents": [user], "model": "m" })).contains("Unknown name \"model\""));
        let noted = json!({ "role": "user", "parts": [{ "text": "Go.", "note": 1 }] });
        assert!(why(json!({ "contents": [noted] })).contains("Unknown name \"note\""));
        assert!(why(json!({ "contents": [{ "role": "model", "parts": [{ "text": "Hi." }] }] })).contains("user turn"));
        assert!(why(json!({ "contents": [user, { "role": "model", "parts": [] }] })).contains("must not be empty"));
        let thinking = json!({ "thinkingLevel": "LOW", "thinkingBudget": 1 });
        assert!(
            why(json!({ "contents": [user], "generationConfig": { "thinkingConfig": thinking } })).contains("only")
        );
        let declared = json!([{ "functionDeclarations": [{ "name": "1 look", "description": "" }] }]);
        assert!(why(json!({ "contents": [user], "tools": declared })).contains("function name"));
    }
}
