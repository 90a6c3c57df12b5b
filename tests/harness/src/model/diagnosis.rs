//! Anthropic's diagnosis of its cache: each answer has a name, and a request that names the answer before learns what
//! has changed since the request for it (`Diagnostics` of npm `@anthropic-ai/sdk` 1.12). As at the vendor, only hashes
//! are kept, and only of requests that ask for it.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};

use super::asked;

/// The requests that were taken note of, by the names of their answers.
#[derive(Default)]
pub(super) struct Diagnosis {
    answers: u64,
    prints: HashMap<String, Print>,
}

/// The head of an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// The name of the answer.
    pub(super) id: String,
    /// The diagnosis, as it is sent.
    pub(super) diagnostics: Value,
    /// True if the request asks that what is written to the cache is kept for an hour.
    pub(super) keeps_for_hour: bool,
}

/// A request, as far as it is kept.
struct Print {
    model: u64,
    system: u64,
    tools: u64,
    /// The settings besides that change the prompt.
    settings: u64,
    messages: Vec<u64>,
    /// The length of each message.
    lengths: Vec<u64>,
}

impl Diagnosis {
    /// Names the answer to a request, and compares that with the one before, if it asks for it.
    pub(super) fn answer(&mut self, model: &str, body: &Value) -> Head {
        self.answers += 1;
        let id = format!("msg_{}", self.answers);
        let keeps_for_hour = body["system"].to_string().contains(r#""ttl":"1h""#);
        let Some(asked) = body.get("diagnostics") else {
            return Head { id, diagnostics: Value::Null, keeps_for_hour };
        };
        let print = Print::of(model, body);
        let reason = asked["previous_message_id"].as_str().and_then(|before| match self.prints.get(before) {
            Some(before) => print.differs(before),
            None => Some(json!({ "type": "previous_message_not_found" })),
        });
        self.prints.insert(id.clone(), print);
        let diagnostics = reason.map_or(Value::Null, |reason| json!({ "cache_miss_reason": reason }));
        Head { id, diagnostics, keeps_for_hour }
    }
}

impl Print {
    fn of(model: &str, body: &Value) -> Self {
        let messages: Vec<String> = body["messages"].as_array().into_iter().flatten().flat_map(asked::blocks).collect();
        Self {
            model: hash(model),
            system: hash(&asked::without_marks(&body["system"]).to_string()),
            tools: hash(&asked::without_marks(&body["tools"]).to_string()),
            settings: hash(&format!("{}{}", body["thinking"], body["output_config"])),
            lengths: messages.iter().map(|message| message.len() as u64).collect(),
            messages: messages.iter().map(|message| hash(message)).collect(),
        }
    }

    /// Why nothing of the request before can be read, or not all of it.
    fn differs(&self, before: &Self) -> Option<Value> {
        let lost = |from: usize| before.lengths.iter().skip(from).sum::<u64>().div_ceil(4);
        let changed = |kind: &str, from: usize| json!({ "type": kind, "cache_missed_input_tokens": lost(from) });
        let same = self.messages.iter().zip(&before.messages).take_while(|(now, then)| now == then).count();
        if self.model != before.model {
            Some(changed("model_changed", 0))
        } else if self.system != before.system {
            Some(changed("system_changed", 0))
        } else if self.tools != before.tools {
            Some(changed("tools_changed", 0))
        } else if self.settings != before.settings {
            Some(json!({ "type": "unavailable" }))
        } else if same < before.messages.len() {
            Some(changed("messages_changed", same))
        } else {
            None
        }
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
