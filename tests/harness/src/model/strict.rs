//! The requests that the vendors refuse.
//!
//! A vendor does not forgive what a lenient server reads over: a field that its published types do not have; an id, a
//! name or an order of messages that it does not take; an image that it cannot read; thinking or a signature that is
//! missing, changed, another model's, or in another place. The fields are those of npm `@anthropic-ai/sdk` 1.12,
//! `openai` 7.57 and `@google/genai` 3.1; the words are the vendors' own.

mod anthropic;
mod chat;
mod converse;
mod gemini;
mod responses;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::answer::Step;
use super::{Asked, Wire, asked};

/// The data that came with the calls of answers, by their ids, as the vendor wants it back.
#[derive(Default)]
pub(super) struct Sent {
    calls: HashMap<String, With>,
    /// Gemini's signatures, each with the part that it stands on.
    signed: HashMap<String, (String, Signed)>,
    /// Gemini's signatures that it does not know any more.
    forgotten: HashSet<String>,
    /// The prefixes behind which Anthropic's thoughts stood, by their signatures.
    prefixes: HashMap<String, HashSet<anthropic::Prefix>>,
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

/// True if a model of Bedrock's signs its thoughts.
pub(super) fn signs(model: &str) -> bool {
    model.contains("anthropic.")
}

/// Returns the text that the signature at the end of an answer is for.
pub(super) fn end_of(said: &str) -> String {
    format!("the end of {said}")
}

impl Sent {
    /// Remembers an answer that a model gives to a request.
    pub(super) fn remember(&mut self, wire: Wire, model: &str, body: &Value, steps: &[Step]) {
        if wire == Wire::Anthropic {
            for (signature, prefix) in anthropic::prefixes(model, body, steps) {
                self.prefixes.entry(signature).or_default().insert(prefix);
            }
        }
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
pub(super) fn refusal(wire: Wire, asked: &Asked, sent: &Sent) -> Result<(), String> {
    let (model, body) = (asked.model(), asked.body());
    match wire {
        Wire::Gemini => gemini::refusal(model, body, sent),
        Wire::Anthropic => anthropic::refusal(body, asked.header("anthropic-beta").unwrap_or_default(), sent),
        Wire::Responses => responses::refusal(body, sent),
        Wire::Converse => converse::refusal(model, body, sent),
        _ => chat::refusal(wire, body, sent),
    }
}

/// The beginning of the names of models without eyes.
const BLIND: [&str; 2] = ["blind", "deepseek"];
/// The types of images that all but Google read.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// Refuses an image that the model cannot see: one of another type, one that is no base64, and any for a model without
/// eyes.
fn can_see(model: &str, mime_type: &str, data: &str, types: &[&str]) -> Result<(), String> {
    if BLIND.iter().any(|name| model.starts_with(name)) {
        return Err(format!("No endpoints found that support image input for {model}"));
    }
    if !types.contains(&mime_type) {
        return Err(format!("Unsupported MIME type: {mime_type}; it should be one of {types:?}"));
    }
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    if data.is_empty() || !data.len().is_multiple_of(4) || !data.bytes().all(is_base64) {
        return Err("Could not process image: it is not valid base64".into());
    }
    Ok(())
}

/// The same for an image in a URL, as OpenAI takes it.
fn can_see_url(model: &str, url: &str) -> Result<(), String> {
    let image = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let (mime_type, data) = image.ok_or_else(|| format!("Invalid image_url: {url}"))?;
    can_see(model, mime_type, data, &IMAGES)
}

/// True if an id or a name has only letters, digits, `_` and `-`, and at most so many of them.
fn is_plain(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
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
