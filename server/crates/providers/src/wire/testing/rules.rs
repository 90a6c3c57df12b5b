//! The requests that each vendor takes, as pure rules over their bodies, and a property: whatever was said, by anyone,
//! is written as the vendor takes it. The model server of the stories has the same rules, and those that need to know
//! what came before (`tests/harness/src/model/strict.rs`).

use std::collections::HashSet;

use ports::model::{Message, UserBlock};
use ports::tool_names;
use proptest::prelude::*;
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use serde_json::{Map, Value, json};

use super::{body, request, target};
use crate::data::Thinking;
use crate::wire::{Target, Wire};

const USUAL: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const GOOGLES: [&str; 5] = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// A finding, in a few words.
type Checked = Result<(), String>;

/// The models whose rules are checked, one for each way to write a conversation.
fn targets() -> Vec<(Wire, Target)> {
    let chat = |provider: &str, model: &str| (Wire::OpenAiChat, target(provider, model, Thinking::None));
    let bound = Target { bound: true, ..target("anthropic", "claude-opus-5-5", Thinking::Always) };
    let converse = |model: &str, thinking| (Wire::Converse, target("bedrock", model, thinking));
    let bound_there = Target { bound: true, ..target("bedrock", "us.anthropic.claude-opus-5-5", Thinking::Always) };
    vec![
        (Wire::Anthropic, bound),
        (Wire::Anthropic, target("anthropic", "claude-sonnet-4-5", Thinking::Budget)),
        (Wire::AnthropicVertex, target("vertex", "claude-opus-5-5", Thinking::Always)),
        (Wire::OpenAiResponses, target("openai", "gpt-6.1-sol", Thinking::Effort)),
        chat("openai", "gpt-6.1-sol"),
        chat("deepseek", "deepseek-v4-pro"),
        chat("mistral", "mistral-large"),
        chat("gemini", "gemini-3.8-flash"),
        chat("somebody", "qwen3-coder"),
        (Wire::Gemini, target("gemini", "gemini-4-argon", Thinking::Level)),
        (Wire::Gemini, target("gemini", "gemini-2.5-pro", Thinking::Always)),
        (Wire::Converse, bound_there),
        converse("us.anthropic.claude-sonnet-4-5-v1:0", Thinking::Budget),
        converse("us.amazon.nova-2-lite-v1:0", Thinking::Effort),
        converse("mistral.devstral-2-123b", Thinking::None),
        converse("us.meta.llama4-scout-17b-instruct-v1:0", Thinking::None),
        converse("global.moonshotai.kimi-k3.1", Thinking::Always),
    ]
}

fn check(wire: Wire, target: &Target, body: &Value) -> Checked {
    match wire {
        Wire::Anthropic => anthropic(body),
        Wire::AnthropicVertex => of_vertex(body),
        Wire::OpenAiResponses => responses(body),
        Wire::OpenAiChat => chat(&target.provider, body),
        Wire::Gemini => gemini(&target.model, body),
        Wire::Converse => converse(&target.model, body),
    }
}

/// The model stands in the path there, and the version in the body.
fn of_vertex(body: &Value) -> Checked {
    holds(body["anthropic_version"] == "vertex-2023-10-16" && body.get("model").is_none(), "its version and no model")?;
    anthropic(body)
}

fn anthropic(body: &Value) -> Checked {
    let (mut before, mut open, mut called) = ("assistant", Vec::new(), HashSet::new());
    holds(body.to_string().matches("\"cache_control\":").count() <= 4, "at most 4 marks")?;
    for message in list(&body["messages"]) {
        let (role, blocks) = (text(&message["role"]), list(&message["content"]));
        holds(role != before && !blocks.is_empty(), "roles alternate, and nothing is empty")?;
        before = role;
        let results: Vec<_> = blocks.iter().filter(|block| block["type"] == "tool_result").collect();
        let first = blocks.iter().take(results.len()).all(|block| block["type"] == "tool_result");
        let ids: Vec<_> = results.iter().map(|result| text(&result["tool_use_id"])).collect();
        holds(first && ids == std::mem::take(&mut open), "the results of a message's calls come first in the next")?;
        for block in blocks {
            match text(&block["type"]) {
                "text" => holds(!text(&block["text"]).trim().is_empty(), "texts have words")?,
                "image" => holds(USUAL.contains(&text(&block["source"]["media_type"])), "images can be read")?,
                "thinking" => holds(block["signature"] == "own", "thinking is the model's own, and signed")?,
                "redacted_thinking" => holds(block["data"] == "own", "what is hidden is the model's own")?,
                "tool_use" => {
                    let id = text(&block["id"]);
                    holds(is_plain(id, 64) && is_plain(text(&block["name"]), 64), "ids and names have a pattern")?;
                    holds(called.insert(id) && block["input"].is_object(), "ids are unique, and inputs objects")?;
                    open.push(id);
                }
                "tool_result" => {
                    let says = !text(&block["content"]).trim().is_empty();
                    holds(says || block["is_error"] != true, "a failure says something")?;
                }
                other => return Err(format!("no such block: {other}")),
            }
        }
        let last = blocks.last().map(|block| text(&block["type"]));
        holds(role == "user" || !last.unwrap_or_default().ends_with("thinking"), "no message ends in thinking")?;
    }
    holds(before == "user" && open.is_empty(), "the user has the last word")
}

fn responses(body: &Value) -> Checked {
    let (items, mut called, mut answered) = (list(&body["input"]), HashSet::new(), HashSet::new());
    for (at, item) in items.iter().enumerate() {
        match text(&item["type"]) {
            "message" => {
                let parts = list(&item["content"]);
                holds(!parts.is_empty() || !text(&item["content"]).is_empty(), "no message is empty")?;
                for part in parts {
                    match text(&part["type"]) {
                        "input_text" => holds(!text(&part["text"]).is_empty(), "texts say something")?,
                        _ => holds(is_url_of(&part["image_url"], &USUAL), "images can be read")?,
                    }
                }
            }
            "function_call" => {
                let id = text(&item["call_id"]);
                holds((1..=64).contains(&id.len()) && called.insert(id), "ids are short and unique")?;
                holds(is_plain(text(&item["name"]), 64), "names have a pattern")?;
            }
            "function_call_output" => {
                let id = text(&item["call_id"]);
                holds(called.contains(id) && answered.insert(id), "a result has one call, before it")?;
            }
            "reasoning" => {
                holds(item["encrypted_content"] == "own", "reasoning is the model's own")?;
                let next = items.get(at + 1);
                let is_followed = next.is_some_and(|next| {
                    next["type"] == "function_call" || next["type"] == "reasoning" || next["role"] == "assistant"
                });
                holds(is_followed, "reasoning is followed by what it led to")?;
            }
            other => return Err(format!("no such item: {other}")),
        }
    }
    holds(called == answered, "every call has a result")
}

fn chat(provider: &str, body: &Value) -> Checked {
    let is_mistral = provider == "mistral";
    let (mut before, mut open, mut called) = ("system", Vec::new(), HashSet::new());
    for message in list(&body["messages"]) {
        let (role, parts) = (text(&message["role"]), list(&message["content"]));
        holds(open.is_empty() || role == "tool", "results come right after their calls")?;
        let is_wrong = matches!((before, role), ("tool" | "user", "user") | ("user", "tool"));
        holds(!is_mistral || !is_wrong, "a role comes after one that it may come after")?;
        before = role;
        for part in parts {
            match text(&part["type"]) {
                "text" => holds(!text(&part["text"]).is_empty(), "texts say something")?,
                _ => {
                    let known: &[&str] = if provider == "gemini" { &GOOGLES } else { &USUAL };
                    holds(role == "user" && is_url_of(&part["image_url"]["url"], known), "images can be read")?;
                }
            }
        }
        match role {
            "system" => {}
            "user" => holds(!parts.is_empty() || !text(&message["content"]).is_empty(), "the user says something")?,
            "tool" => {
                let is_due = open.first() == Some(&text(&message["tool_call_id"]));
                holds(is_due && message["content"].is_string(), "results come in the order of their calls")?;
                open.remove(0);
            }
            "assistant" => {
                let calls = list(&message["tool_calls"]);
                holds(!calls.is_empty() || !text(&message["content"]).is_empty(), "the model says something")?;
                holds(!message.to_string().contains("foreign"), "nothing that another wanted back")?;
                let thinks = !text(&message["reasoning_content"]).is_empty();
                holds(provider != "deepseek" || thinks, "each answer has its thinking")?;
                let signature = &calls.first().unwrap_or(&Value::Null)["extra_content"];
                let is_signed = provider != "gemini" || calls.is_empty() || signature.is_object();
                holds(is_signed, "the first call of a step is signed")?;
                for call in calls {
                    let id = text(&call["id"]);
                    let fits = if is_mistral {
                        id.len() == 9 && is_plain(id.trim_matches(['_', '-']), 9)
                    } else {
                        is_plain(id, 40)
                    };
                    holds(fits && called.insert(id), "ids are short and unique")?;
                    holds(is_plain(text(&call["function"]["name"]), 64), "names have a pattern")?;
                    open.push(id);
                }
            }
            other => return Err(format!("no such role: {other}")),
        }
    }
    holds(open.is_empty() && before != "assistant", "somebody else has the last word")
}

fn gemini(model: &str, body: &Value) -> Checked {
    let (mut before, mut open) = ("model", Vec::new());
    for content in list(&body["contents"]) {
        let (role, parts) = (text(&content["role"]), list(&content["parts"]));
        holds(role != before && !parts.is_empty(), "roles alternate, and nothing is empty")?;
        before = role;
        let named = |part: &Value, kind: &str| part.get(kind).map(|it| (it["name"].clone(), it["id"].clone()));
        let results: Vec<_> = parts.iter().filter_map(|part| named(part, "functionResponse")).collect();
        holds(
            results == std::mem::take(&mut open),
            "the results of a content's calls are in the next, in their order",
        )?;
        let calls: Vec<_> = parts.iter().filter(|part| part.get("functionCall").is_some()).collect();
        let is_signed = calls.first().is_none_or(|first| first["thoughtSignature"].is_string());
        holds(model.contains("2.5") || is_signed, "the first call of a step is signed")?;
        open.extend(parts.iter().filter_map(|part| named(part, "functionCall")));
        for part in parts {
            let signature = &part["thoughtSignature"];
            holds(signature.is_null() || signature != "foreign", "a signature is the model's own")?;
            let says = !text(&part["text"]).trim().is_empty() || signature.is_string();
            holds(part.get("text").is_none() || says, "a text says something or is signed")?;
            let kind = &part["inlineData"]["mimeType"];
            holds(kind.is_null() || GOOGLES.contains(&text(kind)), "images can be read")?;
            let name = text(&part["functionCall"]["name"]);
            let fits = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.len() <= 128;
            holds(part.get("functionCall").is_none() || fits, "names have a pattern")?;
        }
    }
    holds(before == "user" && open.is_empty(), "the user has the last word")
}

fn converse(model: &str, body: &Value) -> Checked {
    let is = |maker: &str| model.contains(maker);
    let (mut before, mut open, mut called) = ("assistant", Vec::new(), HashSet::new());
    holds(body.to_string().matches("\"cachePoint\":").count() <= 4, "at most 4 marks")?;
    holds(!body["toolConfig"].is_null(), "calls and results want tools")?;
    for message in list(&body["messages"]) {
        let (role, blocks) = (text(&message["role"]), list(&message["content"]));
        holds(role != before && !blocks.is_empty(), "roles alternate, and nothing is empty")?;
        before = role;
        let results: Vec<_> = blocks.iter().filter_map(|block| block.get("toolResult")).collect();
        let first = blocks.iter().take(results.len()).all(|block| block.get("toolResult").is_some());
        let ids: Vec<_> = results.iter().map(|result| text(&result["toolUseId"])).collect();
        holds(first && ids == std::mem::take(&mut open), "the results of a message's calls come first in the next")?;
        for block in blocks {
            let fields = block.as_object().ok_or("a block is an object")?;
            holds(fields.len() == 1, "a block is of one kind")?;
            let (kind, value) = fields.iter().next().ok_or("a block has a kind")?;
            match kind.as_str() {
                "text" => holds(!text(value).trim().is_empty(), "texts have words")?,
                "image" => {
                    let format = text(&value["format"]);
                    holds(["png", "jpeg", "gif", "webp"].contains(&format), "images can be read")?;
                }
                "reasoningContent" => {
                    let (thought, hidden) = (&value["reasoningText"], value.get("redactedContent"));
                    let signature = thought.get("signature");
                    let proof = signature.or(hidden);
                    holds(proof.is_none_or(|proof| proof == "own"), "thinking is the model's own")?;
                    holds(proof.is_some() || !is("anthropic"), "Claude has signed what it thought")?;
                }
                "toolUse" => {
                    let (id, name) = (text(&value["toolUseId"]), text(&value["name"]));
                    let fits = if is("mistral") { id.len() == 9 && is_plain(id, 9) } else { is_plain(id, 64) };
                    holds(fits && is_plain(name, 64), "ids and names have a pattern")?;
                    holds(!is("amazon") || !name.contains('-'), "Nova reads no hyphens")?;
                    holds(called.insert(id) && value["input"].is_object(), "ids are unique, and inputs objects")?;
                    open.push(id);
                }
                "toolResult" => {
                    let says = !text(&value["content"][0]["text"]).trim().is_empty();
                    holds(says, "a result says something")?;
                    let has_status = value.get("status").is_some();
                    holds(
                        !has_status || is("anthropic") || is("amazon"),
                        "only some know how a result says that it failed",
                    )?;
                }
                "cachePoint" => {
                    holds(is("anthropic") || is("amazon"), "only some take marks")?;
                    let is_behind_text = |pair: &[Value]| pair[1] != *block || pair[0].get("text").is_some();
                    holds(is("anthropic") || blocks.windows(2).all(is_behind_text), "Nova takes marks behind texts")?;
                }
                other => return Err(format!("no such block: {other}")),
            }
        }
        let has = |kind: &str| blocks.iter().any(|block| block.get(kind).is_some());
        let is_mixed = (has("toolUse") || has("toolResult")) && (has("text") || has("image"));
        holds(!is("meta.llama") || !is_mixed, "Llama takes nothing beside calls and results")?;
        let is_thinking = |block: &Value| block.get("reasoningContent").is_some();
        holds(role == "user" || !blocks.last().is_some_and(is_thinking), "no message ends in thinking")?;
    }
    holds(before == "user" && open.is_empty(), "the user has the last word")
}

fn holds(is_so: bool, rule: &str) -> Checked {
    if is_so { Ok(()) } else { Err(rule.to_owned()) }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn is_plain(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn is_url_of(url: &Value, known: &[&str]) -> bool {
    text(url).strip_prefix("data:").and_then(|rest| rest.split_once(';')).is_some_and(|(kind, _)| known.contains(&kind))
}

/// A piece of an answer, before it is known which model it came from.
#[derive(Clone, Debug)]
enum Said {
    Text(String),
    Thinking(String),
    Call { id: String, name: String },
}

/// The next step of a conversation.
#[derive(Clone, Debug)]
enum Next {
    /// The user says and shows this.
    User(Vec<Option<usize>>),
    /// A model answers: the number of the vendor in [`targets`], or one that is none of them.
    Answer(usize, Vec<Said>),
}

fn any_said() -> impl Strategy<Value = Said> {
    let id = prop_oneof![
        "[a-z]{1,8}",
        "call_[0-9]{20,40}",
        "functions\\.[a-z]{3}:[0-9]",
        "call_[a-z]{4}\\|fc_[0-9]{80}",
        ".{1,12}"
    ];
    let name = prop_oneof![Just(tool_names::READ_FILE.to_owned()), Just("browser.tabs.open".to_owned()), ".{0,80}"];
    prop_oneof![
        "[ \n]{0,2}[a-z ]{0,6}".prop_map(Said::Text),
        "[ \n]{0,2}[a-z ]{0,6}".prop_map(Said::Thinking),
        (id, name).prop_map(|(id, name)| Said::Call { id, name }),
    ]
}

fn any_next() -> impl Strategy<Value = Next> {
    let shown = prop::collection::vec(prop::option::of(0_usize..7), 1..4);
    let answer = (0_usize..18, prop::collection::vec(any_said(), 1..6));
    prop_oneof![shown.prop_map(Next::User), answer.prop_map(|(who, said)| Next::Answer(who, said))]
}

/// The fields that a block of a vendor's has. Those of another have the word `foreign` where the model's own has `own`.
fn fields(wire: Wire, said: &Said, word: &str) -> Value {
    match (wire, said) {
        (Wire::Anthropic | Wire::AnthropicVertex | Wire::Converse, Said::Thinking(text)) if text.trim().is_empty() => {
            json!({ "redacted": word })
        }
        (Wire::Anthropic | Wire::AnthropicVertex | Wire::Converse, Said::Thinking(_)) => json!({ "signature": word }),
        (Wire::OpenAiResponses, Said::Thinking(_)) => {
            json!({ "item": { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": word } })
        }
        (Wire::OpenAiChat, Said::Thinking(_)) => {
            json!({ "field": "reasoning_content", "reasoning_details": Value::Null })
        }
        (Wire::OpenAiChat, Said::Call { .. }) => {
            json!({ "extra_content": { "google": { "thought_signature": word } } })
        }
        (Wire::Gemini, Said::Thinking(text)) if text.trim().is_empty() => json!({ "part": "text", "signature": word }),
        (Wire::Gemini, Said::Thinking(_)) => json!({ "part": "thought" }),
        (Wire::Gemini, Said::Call { id, .. }) => json!({ "id": id, "signature": word }),
        _ => Value::Null,
    }
}

/// A conversation as the core keeps it: it begins with the user's words, every call has its result, no answer is
/// thinking alone or follows another, no text is blank, and the last word is not the model's.
fn conversation(steps: &[Next], reader: &(Wire, Target)) -> Vec<Message> {
    let user = |text: &str| Message::User(vec![UserBlock::Text(text.into())]);
    let (mut messages, mut ids) = (vec![user("Go.")], HashSet::new());
    for step in steps {
        match step {
            Next::User(shown) => {
                const TYPES: [&str; 7] =
                    ["image/png", "image/jpg", "image/gif", "image/heic", "image/svg+xml", "IMAGE/WEBP", ""];
                let block = |shown: &Option<usize>| match shown {
                    Some(at) => UserBlock::Image { mime_type: TYPES[*at].into(), data: "iVBO".into() },
                    None => UserBlock::Text("And on.".into()),
                };
                messages.push(Message::User(shown.iter().map(block).collect()));
            }
            Next::Answer(who, said) => {
                if matches!(messages.last(), Some(Message::Assistant(_))) {
                    messages.push(user("Go on."));
                }
                let (blocks, results) = answer(*who, said, reader, &mut ids);
                let is_said = blocks.iter().any(|block| !matches!(block, AssistantBlock::Thinking { .. }));
                messages.extend(is_said.then_some(Message::Assistant(blocks)));
                messages.extend((is_said && !results.is_empty()).then_some(Message::ToolResults(results)));
            }
        }
    }
    if matches!(messages.last(), Some(Message::Assistant(_))) {
        messages.push(user("The end."));
    }
    messages
}

fn answer(
    who: usize,
    said: &[Said],
    (wire, reader): &(Wire, Target),
    ids: &mut HashSet<String>,
) -> (Vec<AssistantBlock>, Vec<ToolResult>) {
    let all = targets();
    let by = all.get(who);
    let is_own = by.is_some_and(|(_, by)| by.provider == reader.provider && by.model == reader.model);
    let vendor = |said: &Said| {
        let (written, by) = by?;
        let fields = fields(*written, said, if is_own && written == wire { "own" } else { "foreign" });
        let fields: Map<String, Value> = fields.as_object()?.clone();
        Some(by.tag(fields))
    };
    let (mut blocks, mut results) = (Vec::new(), Vec::new());
    for piece in said {
        let vendor = vendor(piece);
        match piece {
            Said::Text(text) if text.trim().is_empty() => {}
            Said::Text(text) => blocks.push(AssistantBlock::Text { text: text.clone(), vendor: None }),
            Said::Thinking(text) => blocks.push(AssistantBlock::Thinking { text: text.clone(), vendor }),
            Said::Call { id, .. } if !ids.insert(id.clone()) => {}
            Said::Call { id, name } => {
                let id = ToolCallId::from(id.as_str());
                let is_error = name.len().is_multiple_of(2);
                let text = if id.as_str().len().is_multiple_of(3) { "\n" } else { "done" };
                results.push(ToolResult { tool_call_id: id.clone(), text: text.into(), is_error });
                blocks.push(AssistantBlock::ToolCall { id, name: name.clone(), input: json!({ "path": "a" }), vendor });
            }
        }
    }
    (blocks, results)
}

/// The messages of a body, in the pieces that the vendors' caches go by.
fn pieces(wire: Wire, body: &Value) -> Vec<String> {
    let (name, inner) = match wire {
        Wire::Anthropic | Wire::AnthropicVertex | Wire::Converse => ("messages", "content"),
        Wire::OpenAiResponses => ("input", ""),
        Wire::OpenAiChat => ("messages", ""),
        Wire::Gemini => ("contents", "parts"),
    };
    let of = |message: &Value| match list(&message[inner]) {
        [] => vec![message.to_string()],
        blocks => {
            let own = blocks.iter().filter(|block| block.get("cachePoint").is_none());
            own.map(|block| format!("{} {block}", message["role"])).collect()
        }
    };
    let pieces = list(&body[name]).iter().flat_map(of);
    pieces.map(|piece| piece.replace(r#","cache_control":{"type":"ephemeral"}"#, "")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_said_and_by_whomever_is_written_as_the_vendor_takes_it(steps in prop::collection::vec(any_next(), 0..10)) {
        for reader in targets() {
            let messages = conversation(&steps, &reader);
            let (wire, target) = &reader;
            let mut asked = request(messages.clone());
            let all = body(*wire, target, &asked);
            prop_assert_eq!(check(*wire, target, &all), Ok(()), "{} of {}: {}", &target.model, &target.provider, &all);
            asked.thinking = Some(ThinkingLevel::High);
            let high = body(*wire, target, &asked);
            prop_assert_eq!(check(*wire, target, &high), Ok(()), "{} of {}, at a level", &target.model, &target.provider);
            // Each request before it began in the same way, so that the vendor's cache hits.
            let all = pieces(*wire, &all);
            for end in (1..messages.len()).filter(|end| matches!(messages[*end], Message::Assistant(_))) {
                let before = pieces(*wire, &body(*wire, target, &request(messages[..end].to_vec())));
                prop_assert_eq!(&before[..], &all[..before.len()], "{} of {}", &target.model, &target.provider);
            }
        }
    }
}
