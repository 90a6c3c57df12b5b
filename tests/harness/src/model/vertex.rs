//! Google's Vertex AI: the paths of its models, and what it has otherwise than the makers of the models. The paths and
//! the fields are those of npm `@google/genai` 3.1 and `@anthropic-ai/vertex-sdk` 1.1.

use hyper::header::HeaderMap;
use serde_json::{Value, json};

/// The project that requests are made in.
const PROJECT: &str = "project-of-the-test";

/// The maker of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Publisher {
    Google,
    Anthropic,
}

/// The maker and the model that a path of Vertex AI names.
pub(super) fn model(path: &str) -> Option<(Publisher, String)> {
    let rest = path.strip_prefix("/v1/projects/")?.strip_prefix(PROJECT)?.strip_prefix("/locations/")?;
    let (location, rest) = rest.split_once("/publishers/")?;
    let is_location = !location.is_empty() && location.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let (publisher, rest) = rest.split_once("/models/").filter(|_| is_location)?;
    let (publisher, model) = match publisher {
        "google" => (Publisher::Google, rest.strip_suffix(":streamGenerateContent")?),
        "anthropic" => (Publisher::Anthropic, rest.strip_suffix(":streamRawPredict")?),
        _ => return None,
    };
    Some((publisher, model.to_owned()))
}

/// The token of a request; none if it has a key besides.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let has_key = ["x-api-key", "x-goog-api-key", "api-key"].iter().any(|name| headers.contains_key(*name));
    text("authorization").filter(|_| !has_key)?.strip_prefix("Bearer ").map(str::to_owned)
}

/// Checks what Vertex AI has otherwise, and makes the body that of the model's maker.
///
/// # Errors
/// Vertex AI would refuse it.
pub(super) fn as_its_maker(
    publisher: Publisher,
    model: &str,
    headers: &HeaderMap,
    body: &mut Value,
) -> Result<(), String> {
    if publisher == Publisher::Google {
        return Ok(());
    }
    let fields = body.as_object_mut().ok_or("the body is no object")?;
    if headers.contains_key("anthropic-version") {
        return Err("Vertex AI has the version in the body, and not in a header".into());
    }
    if fields.remove("anthropic_version") != Some("vertex-2023-10-16".into()) {
        return Err("anthropic_version: Field required".into());
    }
    if fields.contains_key("diagnostics") {
        return Err("diagnostics: Extra inputs are not permitted".into());
    }
    // Not each model there takes it, so none is sent it unless the user says so.
    let mut tools = fields.get("tools").and_then(Value::as_array).into_iter().flatten();
    if tools.any(|tool| tool.get("eager_input_streaming").is_some()) {
        return Err("tools: eager_input_streaming: Extra inputs are not permitted".into());
    }
    if fields.insert("model".into(), model.into()).is_some() {
        return Err("model: Extra inputs are not permitted".into());
    }
    Ok(())
}

/// The body of a refusal of a token. It repeats what was sent, as servers do.
pub(super) fn unauthenticated(headers: &HeaderMap) -> String {
    let sent = token(headers).unwrap_or_default();
    let message = format!("Request had invalid authentication credentials: {sent}");
    let details = json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "ACCESS_TOKEN_EXPIRED" }]);
    json!([{ "error": { "code": 401, "message": message, "status": "UNAUTHENTICATED", "details": details } }])
        .to_string()
}
