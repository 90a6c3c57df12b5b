//! The wires over which models fill in text, as pure functions: a request to a place and bytes.
//!
//! Equal requests give equal bytes. What changes least stands first, as far as the wire lets it, so that a server's
//! cache of prompts serves the next request.

use std::borrow::Cow;

use ports::complete::{Excerpt, Fill};
use serde::Serialize;

use super::excerpts::commented;
use super::family::Family;

/// Models of DeepSeek fill in no more tokens.
const DEEPSEEK_LONGEST: u32 = 4_096;
/// OpenAI, vLLM and others take no more texts to stop at.
const STOPS: usize = 4;
/// The time that Ollama keeps a model after a request: a pause in writing must not cost the time to load it again.
const KEEP_ALIVE: &str = "30m";
/// The temperature of a text that is not the most likely one.
const VARIED: f32 = 0.7;

/// The wire over which a model fills in text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillWire {
    /// The own endpoint of llama.cpp's server, which puts the model's tokens in: `llama.cpp`.
    LlamaCpp,
    /// The own endpoint of Ollama, whose template puts the model's tokens in: `ollama`.
    Ollama,
    /// OpenAI's Completions with a suffix: `suffix`.
    Suffix,
    /// OpenAI's Completions with a prompt into which the model's tokens are put here: `tokens`.
    Tokens,
    /// Mistral's: `mistral`.
    Mistral,
    /// DeepSeek's: `deepseek`.
    DeepSeek,
    /// Inception's: `inception`.
    Inception,
    /// A model to chat with, asked in words: `chat`.
    Chat,
}

/// Where a request goes, in relation to the provider's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// After the version.
    Versioned(&'static str),
    /// After the host.
    Beside(&'static str),
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Server-sent events with `content` and `stop`.
    LlamaCpp,
    /// Lines of JSON with `response` and `done`.
    Ollama,
    /// Server-sent events with `choices`, of texts or of messages.
    OpenAi,
}

impl FillWire {
    /// Every wire by its name in the configuration.
    pub const NAMES: [(&str, Self); 8] = [
        ("llama.cpp", Self::LlamaCpp),
        ("ollama", Self::Ollama),
        ("suffix", Self::Suffix),
        ("tokens", Self::Tokens),
        ("mistral", Self::Mistral),
        ("deepseek", Self::DeepSeek),
        ("inception", Self::Inception),
        ("chat", Self::Chat),
    ];

    /// The wire with this name in the configuration.
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, wire)| *wire)
    }

    /// Where requests go.
    pub(crate) fn place(self) -> Place {
        match self {
            Self::LlamaCpp => Place::Beside("/infill"),
            Self::Ollama => Place::Beside("/api/generate"),
            Self::Suffix | Self::Tokens => Place::Versioned("completions"),
            Self::Mistral | Self::Inception => Place::Versioned("fim/completions"),
            Self::DeepSeek => Place::Beside("/beta/completions"),
            Self::Chat => Place::Versioned("chat/completions"),
        }
    }

    /// The form of its answers.
    pub(crate) fn shape(self) -> Shape {
        match self {
            Self::LlamaCpp => Shape::LlamaCpp,
            Self::Ollama => Shape::Ollama,
            Self::Suffix | Self::Tokens | Self::Mistral | Self::DeepSeek | Self::Inception | Self::Chat => {
                Shape::OpenAi
            }
        }
    }

    /// The body of a request. Only a model whose family is known can be asked with its tokens; without one the prompt
    /// is the text before the cursor.
    pub(crate) fn body(
        self,
        model: &str,
        family: Option<&Family>,
        request: &Fill,
    ) -> Result<Vec<u8>, serde_json::Error> {
        match self {
            Self::LlamaCpp => llama_cpp(request),
            Self::Ollama => ollama(model, family, request),
            Self::Tokens => {
                let prompt = family.map_or_else(|| with_files(request), |family| family.prompt(request).into());
                serde_json::to_vec(&completion(model, prompt, None, stops(family, request, STOPS), request))
            }
            Self::Mistral => {
                let body = completion(model, headed(request), Some(&request.suffix), request.stops.clone(), request);
                serde_json::to_vec(&Completion { stream_options: None, ..body })
            }
            Self::DeepSeek => {
                let stops = stops(family, request, STOPS);
                let body = completion(model, with_files(request), Some(&request.suffix), stops, request);
                serde_json::to_vec(&Completion { max_tokens: request.max_tokens.min(DEEPSEEK_LONGEST), ..body })
            }
            Self::Suffix | Self::Inception | Self::Chat => {
                let stops = stops(family, request, STOPS);
                serde_json::to_vec(&completion(model, with_files(request), Some(&request.suffix), stops, request))
            }
        }
    }
}

/// A body of OpenAI's Completions and what came of them.
#[derive(Serialize)]
pub(crate) struct Completion<'a> {
    pub(crate) model: &'a str,
    pub(crate) max_tokens: u32,
    pub(crate) temperature: f32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stop: Vec<String>,
    pub(crate) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream_options: Option<StreamOptions>,
    pub(crate) prompt: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suffix: Option<&'a str>,
}

/// The wish to be told the tokens used.
#[derive(Serialize)]
pub(crate) struct StreamOptions {
    pub(crate) include_usage: bool,
}

/// A body of Ollama's own wire.
#[derive(Serialize)]
pub(crate) struct Generate<'a> {
    pub(crate) model: &'a str,
    pub(crate) raw: bool,
    pub(crate) think: bool,
    pub(crate) stream: bool,
    pub(crate) keep_alive: &'static str,
    pub(crate) options: GenerateOptions,
    pub(crate) prompt: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) suffix: Option<&'a str>,
}

/// The options of such a body.
#[derive(Serialize)]
pub(crate) struct GenerateOptions {
    pub(crate) num_predict: u32,
    pub(crate) temperature: f32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stop: Vec<String>,
}

impl<'a> Generate<'a> {
    /// A request to go on with a prompt.
    pub(crate) fn new(model: &'a str, prompt: Cow<'a, str>, longest: u32, stop: Vec<String>) -> Self {
        let options = GenerateOptions { num_predict: longest, temperature: 0.0, stop };
        Self { model, raw: true, think: false, stream: true, keep_alive: KEEP_ALIVE, options, prompt, suffix: None }
    }
}

fn llama_cpp(request: &Fill) -> Result<Vec<u8>, serde_json::Error> {
    #[derive(Serialize)]
    struct Extra<'a> {
        filename: &'a str,
        text: &'a str,
    }
    #[derive(Serialize)]
    struct Body<'a> {
        n_predict: u32,
        temperature: f32,
        stop: &'a [String],
        stream: bool,
        cache_prompt: bool,
        n_cache_reuse: u32,
        t_max_predict_ms: u64,
        response_fields: [&'static str; 6],
        input_extra: Vec<Extra<'a>>,
        input_prefix: &'a str,
        input_suffix: &'a str,
        prompt: &'a str,
    }
    let extra = request.extra.iter().map(|excerpt| Extra { filename: &excerpt.path, text: &excerpt.text });
    serde_json::to_vec(&Body {
        n_predict: request.max_tokens,
        temperature: temperature(request),
        stop: &request.stops,
        stream: true,
        cache_prompt: true,
        // The server cuts a long prefix by tokens, so its beginning moves with each key. What comes after that is the
        // same, and is not read again.
        n_cache_reuse: 256,
        // The clock starts with the first token, and the prompt takes its time before that.
        t_max_predict_ms: u64::try_from(request.deadline.as_millis() / 2).unwrap_or(u64::MAX),
        // The last event would repeat the whole prompt.
        response_fields: ["content", "stop", "stop_type", "tokens_evaluated", "tokens_predicted", "timings"],
        input_extra: extra.collect(),
        input_prefix: &request.prefix,
        input_suffix: &request.suffix,
        prompt: "",
    })
}

fn ollama(model: &str, family: Option<&Family>, request: &Fill) -> Result<Vec<u8>, serde_json::Error> {
    // Without a suffix the template takes the prompt for a question and answers it.
    let suffix = if request.suffix.is_empty() { "\n" } else { &request.suffix };
    let prompt =
        if family.is_some_and(|family| family.name == "codestral") { headed(request) } else { with_files(request) };
    let body = Generate::new(model, prompt, request.max_tokens, stops(family, request, usize::MAX));
    let options = GenerateOptions { temperature: temperature(request), ..body.options };
    serde_json::to_vec(&Generate { raw: false, suffix: Some(suffix), options, ..body })
}

fn completion<'a>(
    model: &'a str,
    prompt: Cow<'a, str>,
    suffix: Option<&'a str>,
    stop: Vec<String>,
    request: &Fill,
) -> Completion<'a> {
    let stream_options = Some(StreamOptions { include_usage: true });
    let (max_tokens, temperature) = (request.max_tokens, temperature(request));
    Completion { model, max_tokens, temperature, stop, stream: true, stream_options, prompt, suffix }
}

/// The most likely text comes at the temperature 0. Another one that is still of use comes at this one.
fn temperature(request: &Fill) -> f32 {
    if request.is_varied { VARIED } else { 0.0 }
}

/// The texts at which the server is to stop: the request's first, then the family's, no more than so many.
fn stops(family: Option<&Family>, request: &Fill, most: usize) -> Vec<String> {
    let own = family.into_iter().flat_map(Family::stops).map(str::to_owned);
    request.stops.iter().cloned().chain(own).take(most).collect()
}

/// The text before the cursor, with the other files before it as comments.
fn with_files(request: &Fill) -> Cow<'_, str> {
    match request.extra.as_slice() {
        [] => Cow::Borrowed(&request.prefix),
        extra => Cow::Owned(commented(extra, &request.language) + &request.prefix),
    }
}

/// The text before the cursor, with the other files before it as Codestral learned to read them.
fn headed(request: &Fill) -> Cow<'_, str> {
    if request.extra.is_empty() {
        return Cow::Borrowed(&request.prefix);
    }
    let one = |excerpt: &Excerpt| format!("+++++ {}\n{}\n\n", excerpt.path, excerpt.text.trim_end_matches('\n'));
    let files: String = request.extra.iter().map(one).collect();
    Cow::Owned(format!("{files}+++++ {}\n{}", request.path, request.prefix))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::super::family;
    use super::*;

    fn request() -> Fill {
        Fill {
            path: "src/a.rs".into(),
            language: "rust".into(),
            prefix: "fn a() {\n".into(),
            suffix: "\n}\n".into(),
            extra: vec![Excerpt { path: "b.rs".into(), text: "fn b() {}\n".into() }],
            max_tokens: 64,
            stops: vec!["\n\n".into()],
            is_varied: false,
            deadline: Duration::from_millis(900),
        }
    }

    fn body(wire: FillWire, model: &str, request: &Fill) -> Value {
        let bytes = wire.body(model, family::find(model), request).unwrap();
        assert_eq!(bytes, wire.body(model, family::find(model), request).unwrap(), "equal requests give equal bytes");
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn every_wire_has_a_name() {
        for (name, wire) in FillWire::NAMES {
            assert_eq!(FillWire::parse(name), Some(wire));
        }
        assert_eq!(FillWire::parse("gopher"), None);
    }

    #[test]
    fn llama_cpp_is_given_the_parts_and_puts_the_tokens_in() {
        let expected = json!({
            "n_predict": 64, "temperature": 0.0, "stop": ["\n\n"], "stream": true, "cache_prompt": true,
            "n_cache_reuse": 256, "t_max_predict_ms": 450,
            "response_fields": ["content", "stop", "stop_type", "tokens_evaluated", "tokens_predicted", "timings"], "input_extra": [{"filename": "b.rs", "text": "fn b() {}\n"}],
            "input_prefix": "fn a() {\n", "input_suffix": "\n}\n", "prompt": "",
        });
        assert_eq!(body(FillWire::LlamaCpp, "", &request()), expected);
    }

    #[test]
    fn ollama_is_given_prompt_and_suffix_and_never_thinks() {
        let stops = json!([
            "\n\n",
            "<|endoftext|>",
            "<|fim_prefix|>",
            "<|fim_suffix|>",
            "<|file_sep|>",
            "<|fim_pad|>",
            "<|im_start|>",
            "<|im_end|>"
        ]);
        let expected = json!({
            "model": "qwen2.5-coder:1.5b-base", "raw": false, "think": false, "stream": true, "keep_alive": "30m",
            "options": {"num_predict": 64, "temperature": 0.0, "stop": stops},
            "prompt": "// b.rs\nfn b() {}\n\nfn a() {\n", "suffix": "\n}\n",
        });
        assert_eq!(body(FillWire::Ollama, "qwen2.5-coder:1.5b-base", &request()), expected);
        let last = Fill { suffix: String::new(), ..request() };
        assert_eq!(body(FillWire::Ollama, "qwen2.5-coder", &last)["suffix"], "\n", "or it would chat");
    }

    #[test]
    fn completions_take_a_suffix_or_a_prompt_with_the_tokens_in_it() {
        let suffix = json!({
            "model": "some-model", "max_tokens": 64, "temperature": 0.0, "stop": ["\n\n"], "stream": true,
            "stream_options": {"include_usage": true},
            "prompt": "// b.rs\nfn b() {}\n\nfn a() {\n", "suffix": "\n}\n",
        });
        assert_eq!(body(FillWire::Suffix, "some-model", &request()), suffix);
        let tokens = json!({
            "model": "codellama", "max_tokens": 64, "temperature": 0.0, "stop": ["\n\n", "<EOT>", "<PRE>", "<SUF>"],
            "stream": true, "stream_options": {"include_usage": true},
            "prompt": "// b.rs\nfn b() {}\n\n<PRE> fn a() {\n <SUF>\n}\n <MID>",
        });
        assert_eq!(body(FillWire::Tokens, "codellama", &request()), tokens);
    }

    #[test]
    fn no_completion_stops_at_more_texts_than_servers_take() {
        let stops = body(FillWire::Tokens, "qwen2.5-coder", &request())["stop"].as_array().unwrap().len();
        assert_eq!(stops, 4);
    }

    #[test]
    fn vendors_get_what_they_document() {
        let mistral = json!({
            "model": "codestral-latest", "max_tokens": 64, "temperature": 0.0, "stop": ["\n\n"], "stream": true,
            "prompt": "+++++ b.rs\nfn b() {}\n\n+++++ src/a.rs\nfn a() {\n", "suffix": "\n}\n",
        });
        assert_eq!(body(FillWire::Mistral, "codestral-latest", &request()), mistral);
        let long = Fill { max_tokens: 9_000, extra: Vec::new(), ..request() };
        let deepseek = json!({
            "model": "deepseek-v4-flash", "max_tokens": 4096, "temperature": 0.0, "stop": ["\n\n"], "stream": true,
            "stream_options": {"include_usage": true}, "prompt": "fn a() {\n", "suffix": "\n}\n",
        });
        assert_eq!(body(FillWire::DeepSeek, "deepseek-v4-flash", &long), deepseek);
        let inception = body(FillWire::Inception, "mercury-edit-2", &long);
        assert_eq!((&inception["prompt"], &inception["suffix"]), (&json!("fn a() {\n"), &json!("\n}\n")));
    }

    #[test]
    fn bytes_begin_alike_while_the_user_types() {
        for (wire, model) in [(FillWire::LlamaCpp, ""), (FillWire::Suffix, "m"), (FillWire::Tokens, "qwen2.5-coder")] {
            let typed = Fill { prefix: request().prefix + "    let", ..request() };
            let (one, other) = [request(), typed].map(|it| wire.body(model, family::find(model), &it).unwrap()).into();
            let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
            let text = String::from_utf8_lossy(&one[..same]).into_owned();
            assert!(text.contains("fn a() {"), "{wire:?}: {text}");
        }
    }
}
