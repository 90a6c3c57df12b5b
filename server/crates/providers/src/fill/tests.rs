//! Whole requests over real HTTP on this machine, to servers that speak the real formats of completion, and to servers
//! that fail in every way they can.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use ports::complete::{Complete, Excerpt, Fill, FillEvent};
use ports::model::{ModelError, ModelErrorKind};
use protocol::content::Usage;
use serde_json::{Value, json};

use super::{FillWire, Found, local, resolve, resolve_with};
use crate::loopback::server::{Answer, Server};
use crate::scripted::Scripted;
use crate::{Catalog, CatalogError, Settings};

const KEY: &str = "sk-very-secret-key";

/// A wire, with the provider and model by which it is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    wire: FillWire,
    provider: &'static str,
    model: &'static str,
    path: &'static str,
}

const CASES: [Case; 6] = [
    Case { wire: FillWire::LlamaCpp, provider: "llama.cpp", model: "", path: "/infill" },
    Case { wire: FillWire::Ollama, provider: "ollama", model: "qwen2.5-coder:1.5b-base", path: "/api/generate" },
    Case { wire: FillWire::Tokens, provider: "mine", model: "starcoder2-3b", path: "/v1/completions" },
    Case { wire: FillWire::Mistral, provider: "mistral", model: "codestral-latest", path: "/v1/fim/completions" },
    Case { wire: FillWire::DeepSeek, provider: "deepseek", model: "deepseek-v4-flash", path: "/beta/completions" },
    Case { wire: FillWire::Inception, provider: "inception", model: "mercury-edit-2", path: "/v1/fim/completions" },
];

impl Case {
    fn name(self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    async fn model(self, server: &Server) -> Arc<dyn Complete> {
        let settings = settings(self.provider, server);
        resolve(&settings, &Catalog::new(settings.clone()), &self.name()).await.unwrap()
    }

    /// An answer of these pieces, as the server streams it. The last of them is told to be the maximum length if
    /// `is_cut`.
    fn answer(self, pieces: &[&str], is_cut: bool) -> Answer {
        let end = if is_cut { "length" } else { "stop" };
        match self.wire {
            FillWire::LlamaCpp => {
                let piece = |text: &&str| {
                    json!({"index": 0, "content": text, "tokens": [1], "stop": false,
                    "id_slot": -1, "tokens_predicted": 1, "tokens_evaluated": 100})
                };
                let kind = if is_cut { "limit" } else { "eos" };
                let last = json!({"index": 0, "content": "", "stop": true, "stop_type": kind, "truncated": false,
                    "model": "m.gguf", "prompt": "…", "tokens_evaluated": 100, "tokens_predicted": 7,
                    "timings": {"cache_n": 90, "prompt_n": 10, "predicted_n": 7}});
                Answer::stream(&events(pieces.iter().map(piece).chain([last])))
            }
            FillWire::Ollama => {
                let piece = |text: &&str| {
                    json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "response": text,
                    "done": false})
                };
                let last = json!({"model": "m", "response": "", "done": true, "done_reason": end, "context": [1, 2],
                    "prompt_eval_count": 10, "eval_count": 7});
                let lines: String = pieces.iter().map(piece).chain([last]).map(|line| format!("{line}\n")).collect();
                Answer::status(200, &lines).with_header("content-type", "application/x-ndjson")
            }
            FillWire::Mistral => {
                let piece = |text: &&str| {
                    json!({"object": "chat.completion.chunk", "choices": [{"index": 0,
                    "delta": {"role": "assistant", "content": text}, "finish_reason": null}]})
                };
                let last = json!({"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": end}],
                    "usage": {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17}});
                Answer::stream(&(events(pieces.iter().map(piece).chain([last])) + "data: [DONE]\n\n"))
            }
            _ => {
                let piece = |text: &&str| {
                    json!({"object": "text_completion", "choices": [{"index": 0, "text": text,
                    "logprobs": null, "finish_reason": null}]})
                };
                let last = json!({"choices": [{"index": 0, "text": "", "finish_reason": end}]});
                let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7,
                    "prompt_cache_hit_tokens": 90}});
                Answer::stream(&(events(pieces.iter().map(piece).chain([last, usage])) + "data: [DONE]\n\n"))
            }
        }
    }
}

fn events(events: impl Iterator<Item = Value>) -> String {
    events.map(|event| format!("data: {event}\n\n")).collect()
}

fn settings(provider: &str, server: &Server) -> Settings {
    let mut settings = Settings::from_env(|_| None);
    settings.providers.retain(|known| known.name == provider);
    let wire = (provider == "mine").then_some("openai-chat");
    settings.set_provider(provider, Some(server.url()), Some(KEY.into()), wire, vec![]).unwrap();
    settings
}

fn request() -> Fill {
    Fill {
        path: "src/a.rs".into(),
        language: "rust".into(),
        prefix: "fn area(w: u32, h: u32) -> u32 {\n    ".into(),
        suffix: "\n}\n".into(),
        extra: vec![Excerpt { path: "src/b.rs".into(), text: "fn b() {}\n".into() }],
        max_tokens: 64,
        stops: Vec::new(),
        is_varied: false,
        deadline: Duration::from_secs(20),
    }
}

/// Sends a request, and returns the text that came, and the end or the error.
async fn ask(model: &dyn Complete, request: Fill) -> (String, Result<(bool, Usage, Option<u64>), ModelError>) {
    let mut text = String::new();
    let mut stream = match model.fill(request).await {
        Ok(stream) => stream,
        Err(failure) => return (text, Err(failure)),
    };
    loop {
        match stream.next().await {
            Some(Ok(FillEvent::Text(piece))) => {
                assert!(!piece.is_empty());
                text += &piece;
            }
            Some(Ok(FillEvent::Finished { is_cut, usage, cached })) => {
                assert!(stream.next().await.is_none(), "nothing comes after the end");
                return (text, Ok((is_cut, usage, cached)));
            }
            Some(Err(failure)) => {
                assert!(stream.next().await.is_none(), "nothing comes after an error");
                return (text, Err(failure));
            }
            None => panic!("the stream ended without an end"),
        }
    }
}

async fn failure(case: Case, answer: Answer) -> (String, ModelError) {
    failure_within(case, answer, request().deadline).await
}

async fn failure_within(case: Case, answer: Answer, deadline: Duration) -> (String, ModelError) {
    let server = Server::start(vec![answer]).await;
    let model = case.model(&server).await;
    let (text, outcome) = ask(&*model, Fill { deadline, ..request() }).await;
    let failure = outcome.expect_err("it must fail");
    assert!(!failure.message.contains(KEY), "{failure}");
    (text, failure)
}

#[tokio::test]
async fn an_answer_is_read_on_every_wire_whatever_pieces_it_comes_in() {
    for case in CASES {
        for seed in 0..4 {
            let pieces = ["w", " * h // ä 🦀", "\n    + 1"];
            let server = Server::start(vec![case.answer(&pieces, seed % 2 == 1).in_pieces(seed)]).await;
            let (text, end) = ask(&*case.model(&server).await, request()).await;
            let (is_cut, usage, cached) = end.unwrap();
            assert_eq!((text.as_str(), is_cut), ("w * h // ä 🦀\n    + 1", seed % 2 == 1), "{case:?}");
            assert_eq!((usage.input, usage.output), (10, 7), "{case:?}");
            let expected = (!matches!(case.wire, FillWire::Ollama | FillWire::Mistral)).then_some(90);
            assert_eq!(cached, expected, "{case:?}");
        }
    }
}

#[tokio::test]
async fn a_request_goes_where_it_should_with_its_key_and_is_the_same_each_time() {
    for case in CASES {
        let server = Server::start(vec![case.answer(&["x"], false), case.answer(&["x"], false)]).await;
        let model = case.model(&server).await;
        assert_eq!(model.info().id, case.name());
        assert!(model.info().is_local && model.info().price.is_none(), "the server is on this machine");
        ask(&*model, request()).await.1.unwrap();
        ask(&*model, request()).await.1.unwrap();
        let asked = server.asked();
        assert_eq!((asked.len(), asked[0].path.as_str()), (2, case.path), "{case:?}");
        assert_eq!(asked[0].body, asked[1].body);
        assert_eq!(asked[0].headers["authorization"], format!("Bearer {KEY}"), "{case:?}");
        assert_eq!(asked[0].headers["content-type"], "application/json");
        assert!(!asked[0].body.contains(KEY));
    }
}

#[tokio::test]
async fn a_token_that_controls_the_model_ends_the_answer_and_the_connection() {
    for case in CASES {
        let token = match case.wire {
            FillWire::Tokens => "<|endoftext|>",
            FillWire::Mistral => "[PREFIX]",
            _ => "<|fim_prefix|>",
        };
        let server = Server::start(vec![case.answer(&["w * h", token, "rest"], false).then_silent()]).await;
        let (text, end) = ask(&*case.model(&server).await, request()).await;
        assert_eq!(text, "w * h", "{case:?}");
        assert!(!end.unwrap().0);
        tokio::time::timeout(Duration::from_secs(10), server.until_left()).await.expect("the connection is closed");
    }
}

#[tokio::test]
async fn a_text_with_such_a_token_is_not_sent_and_an_excerpt_with_one_is_left_out() {
    let case = CASES[1];
    let server = Server::start(vec![case.answer(&["x"], false)]).await;
    let model = case.model(&server).await;
    let failure = ask(&*model, Fill { suffix: "<|fim_middle|>".into(), ..request() }).await.1.unwrap_err();
    assert_eq!(failure.kind, ModelErrorKind::Rejected);
    assert!(server.asked().is_empty());
    let extra = vec![Excerpt { path: "tokens.py".into(), text: "END = \"<|endoftext|>\"".into() }];
    ask(&*model, Fill { extra, ..request() }).await.1.unwrap();
    assert!(!server.asked()[0].body.contains("tokens.py"));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection_within_a_second() {
    for case in CASES {
        let server = Server::start(vec![half(case).then_silent()]).await;
        let mut stream = case.model(&server).await.fill(request()).await.unwrap();
        assert!(stream.next().await.unwrap().is_ok());
        let dropped = Instant::now();
        drop(stream);
        let left = tokio::time::timeout(Duration::from_secs(1), server.until_left()).await;
        println!("{}: closed after {:?}", case.name(), dropped.elapsed());
        left.expect("the connection is closed");
    }
}

#[tokio::test]
async fn a_connection_serves_the_next_request_too() {
    for case in CASES {
        let server = Server::start(vec![case.answer(&["x"], false); 3]).await;
        let model = case.model(&server).await;
        for _ in 0..3 {
            ask(&*model, request()).await.1.unwrap();
        }
        assert_eq!(server.accepted(), 1, "{case:?}");
    }
}

#[tokio::test]
async fn dropping_a_request_that_has_no_answer_yet_closes_the_connection() {
    let case = CASES[0];
    let server = Server::start(vec![Answer::never()]).await;
    let model = case.model(&server).await;
    let asking = tokio::time::timeout(Duration::from_millis(100), model.fill(request())).await;
    assert!(asking.is_err() && server.asked().len() == 1);
    tokio::time::timeout(Duration::from_secs(1), server.until_left()).await.expect("the connection is closed");
}

#[tokio::test]
async fn an_answer_that_is_not_whole_in_time_is_given_up() {
    for case in CASES {
        for answer in [Answer::never(), Answer::stream("").then_silent(), half(case).then_silent()] {
            let started = Instant::now();
            let (_, failure) = failure_within(case, answer, Duration::from_millis(400)).await;
            assert_eq!(failure.kind, ModelErrorKind::Incomplete, "{case:?}: {failure}");
            assert!(failure.message.contains("0.4 seconds"), "{failure}");
            assert!(started.elapsed() < Duration::from_secs(5));
        }
    }
}

#[tokio::test]
async fn a_server_that_dies_within_its_answer_leaves_what_came() {
    for case in CASES {
        let (text, failure) = failure(case, half(case).then_dropped()).await;
        assert_eq!(failure.kind, ModelErrorKind::Incomplete, "{case:?}: {failure}");
        assert!("half of it".starts_with(&text), "{text}");
        let (text, failure) = self::failure(case, half(case)).await;
        assert_eq!((text.as_str(), failure.kind), ("half of it", ModelErrorKind::Incomplete), "{case:?}");
    }
}

#[tokio::test]
async fn refusals_are_told_apart_and_say_what_to_do() {
    for case in CASES {
        let (_, wrong) =
            failure(case, Answer::status(401, r#"{"error":{"message":"bad key sk-very-secret-key"}}"#)).await;
        assert_eq!(wrong.kind, ModelErrorKind::Unauthorized);
        assert!(wrong.message.contains("[key]"), "{wrong}");
        let many = Answer::status(429, r#"{"error":"slow down"}"#).with_header("retry-after", "7");
        let retry_after = Some(Duration::from_secs(7));
        assert_eq!(failure(case, many).await.1.kind, ModelErrorKind::RateLimited { retry_after });
        assert_eq!(failure(case, Answer::status(500, "{}")).await.1.kind, ModelErrorKind::Transient);
        let refused = Answer::status(400, r#"{"error":"registry/m:latest does not support insert"}"#);
        let refused = failure(case, refused).await.1;
        assert_eq!(refused.kind, ModelErrorKind::Rejected);
        assert!(refused.message.contains("does not support insert"), "{refused}");
    }
}

#[tokio::test]
async fn what_is_no_protocol_is_garbage() {
    for case in CASES {
        for answer in [
            Answer::status(200, "<html>Sign in</html>").with_header("content-type", "text/html; charset=utf-8"),
            Answer::stream("data: {\"content\": oops\n\ndata: [1]\n\n"),
            Answer::stream("<html>\n<body>Sign in</body>\n</html>\n"),
            Answer::status(200, "[]\n").with_header("content-type", "application/json"),
            Answer::status(200, "{\"hello\": 1}\n").with_header("content-type", "application/json"),
        ] {
            let (_, failure) = failure(case, answer).await;
            assert_eq!(failure.kind, ModelErrorKind::Garbage, "{case:?}: {failure}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_measure_is_broken_off() {
    for case in CASES {
        let text = "x".repeat(64 * 1024);
        let (came, long) = failure(case, case.answer(&[text.as_str(); 5], false)).await;
        assert_eq!(long.kind, ModelErrorKind::Rejected, "{case:?}: {long}");
        assert!(long.message.contains("256 KiB") && came.len() <= 256 * 1024, "{long}");
        let flood = Answer::stream(&format!("data: {}\n\n", "y".repeat(10 << 20)));
        let (_, long) = failure(case, flood).await;
        assert_eq!(long.kind, ModelErrorKind::Rejected, "{case:?}: {long}");
        assert!(long.message.contains("4 MiB"), "{long}");
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_transient_and_named() {
    let server = Server::start(vec![]).await;
    let model = CASES[0].model(&server).await;
    let host = server.url();
    server.stop().await;
    let failure = ask(&*model, request()).await.1.unwrap_err();
    assert_eq!(failure.kind, ModelErrorKind::Transient, "{failure}");
    assert!(failure.message.contains(host.trim_start_matches("http://")), "{failure}");
}

#[tokio::test]
async fn an_answer_that_comes_at_once_is_taken() {
    let whole = json!({"choices": [{"index": 0, "text": "w * h", "finish_reason": "stop"}]});
    let message = json!({"choices": [{"message": {"role": "assistant", "content": "w * h"}, "finish_reason": "stop"}]});
    for (case, whole) in [(CASES[2], &whole), (CASES[3], &message), (CASES[5], &whole)] {
        let answer = Answer::status(200, &whole.to_string()).with_header("content-type", "application/json");
        let server = Server::start(vec![answer]).await;
        assert_eq!(ask(&*case.model(&server).await, request()).await.0, "w * h", "{case:?}");
    }
}

#[tokio::test]
async fn the_wire_follows_from_the_provider_and_the_model() {
    for (provider, model, path) in [
        ("llama.cpp", "anything", "/infill"),
        ("ollama", "codellama:7b-code", "/api/generate"),
        ("mine", "Qwen/Qwen2.5-Coder-7B", "/v1/completions"),
        ("mine", "some-chat-model", "/v1/chat/completions"),
        ("mistral", "codestral-2508", "/v1/fim/completions"),
        ("mistral", "mistral-large-latest", "/v1/chat/completions"),
        ("deepseek", "deepseek-v4-pro", "/beta/completions"),
        ("inception", "mercury-coder", "/v1/fim/completions"),
        ("inception", "mercury-2", "/v1/chat/completions"),
        ("lm-studio", "stable-code-3b", "/v1/completions"),
    ] {
        let server = Server::start(vec![Answer::status(500, ""), Answer::status(500, "")]).await;
        let mut settings = settings(provider, &server);
        settings.providers.iter_mut().for_each(|provider| provider.models = vec![model.to_owned()]);
        let catalog = Catalog::new(settings.clone());
        let resolved = resolve(&settings, &catalog, &format!(" {provider}/{model} ")).await.unwrap();
        ask(&*resolved, request()).await.1.unwrap_err();
        assert_eq!(server.asked().last().unwrap().path, path, "{provider}/{model}");
        let bare = resolve(&settings, &catalog, model).await.unwrap();
        assert_eq!(bare.info().id, format!("{provider}/{model}"), "a name without its provider");
    }
}

#[tokio::test]
async fn a_wire_can_be_named() {
    let server = Server::start(vec![Answer::status(500, "")]).await;
    let settings = settings("mine", &server);
    let catalog = Catalog::new(settings.clone());
    let resolved = resolve_with(&settings, &catalog, "mine/m", FillWire::Suffix).await.unwrap();
    ask(&*resolved, request()).await.1.unwrap_err();
    assert!(server.asked()[0].body.contains("\"suffix\":\"\\n}\\n\""));
    let unfit = resolve_with(&settings, &catalog, "mine/m", FillWire::Tokens).await.err().unwrap();
    assert!(matches!(&unfit, CatalogError::Unfit { name, .. } if name == "mine/m"), "{unfit}");
}

#[tokio::test]
async fn models_are_resolved_and_looked_for_in_tasks_of_their_own() {
    let settings = Settings { providers: Vec::new(), ..Settings::default() };
    let task = tokio::spawn(async move {
        let catalog = Catalog::new(settings.clone());
        (resolve(&settings, &catalog, "a/b").await.is_ok(), local(&settings).await)
    });
    assert_eq!(task.await.unwrap(), (false, vec![]));
}

#[tokio::test]
async fn a_provider_without_a_key_and_an_unknown_one_are_said() {
    let settings = Settings::from_env(|_| None);
    let catalog = Catalog::new(settings.clone());
    let missing = resolve(&settings, &catalog, "mistral/codestral-latest").await.err().unwrap().to_string();
    assert!(missing.contains("MISTRAL_API_KEY"), "{missing}");
    let missing = resolve(&settings, &catalog, "inception/mercury-edit-2").await.err().unwrap().to_string();
    assert!(missing.contains("INCEPTION_API_KEY"), "{missing}");
    assert!(resolve(&settings, &catalog, "nobody/nothing").await.is_err());
}

#[tokio::test]
async fn a_model_that_the_configuration_rules_out_fills_in_nothing_and_its_server_is_not_asked() {
    let server = Server::start(vec![]).await;
    let mut allowing = settings("ollama", &server);
    allowing.providers[0].models = vec!["qwen2.5-coder".into(), "codellama".into()];
    let catalog = Catalog::new(allowing.clone());
    let disabled = Settings { disabled_providers: vec!["ollama".into()], ..allowing.clone() };
    let other_model = Settings { enabled_models: vec!["*chat*".into()], ..allowing.clone() };
    for (settings, setting) in [(&disabled, "disabled_providers"), (&other_model, "enabled_models")] {
        // The second is only to chat with; the catalog's own settings allow it.
        for (name, wire) in [("ollama/qwen2.5-coder", FillWire::Ollama), ("ollama/codellama", FillWire::Chat)] {
            let Err(error) = resolve_with(settings, &catalog, name, wire).await else { panic!("{name}: {setting}") };
            assert!(matches!(&error, CatalogError::RuledOut { .. }), "{name}: {error}");
            assert!(error.to_string().contains(setting), "{name}: {error}");
        }
    }
    assert_eq!(local(&disabled).await, vec![]);
    assert_eq!(server.asked().len(), 0);
    assert!(resolve_with(&allowing, &catalog, "ollama/qwen2.5-coder", FillWire::Ollama).await.is_ok());
}

#[tokio::test]
async fn a_models_price_is_that_of_its_vendor() {
    let keys = ["MISTRAL_API_KEY", "INCEPTION_API_KEY", "DEEPSEEK_API_KEY"];
    let settings = Settings::from_env(|name| keys.contains(&name).then(|| "k".into()));
    let catalog = Catalog::new(settings.clone());
    for (name, price) in [
        ("mistral/codestral-latest", Some(0.3)),
        ("inception/mercury-edit-2", Some(0.25)),
        ("deepseek/deepseek-v4-pro", Some(1.32)),
        ("deepseek/deepseek-v4-flash", None),
    ] {
        let model = resolve(&settings, &catalog, name).await.unwrap();
        let info = model.info();
        assert_eq!((info.price.map(|price| price.input), info.is_local), (price, false), "{name}");
        assert!((16_000..64_000).contains(&info.context_bytes), "{name}");
    }
}

#[tokio::test]
async fn a_model_to_chat_with_is_asked_in_words_and_its_fence_is_taken_off() {
    let piece = |text: &str, end: Option<&str>| {
        let delta = json!({ "content": text });
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
    };
    let stream = events([piece("```rust\nw *", None), piece(" h\n``", None), piece("`", Some("stop"))].into_iter());
    let server = Server::start(vec![Answer::stream(&(stream + "data: [DONE]\n\n")).in_pieces(3)]).await;
    let mut settings = settings("mine", &server);
    settings.providers[0].models = vec!["some-chat-model".into()];
    let model = resolve(&settings, &Catalog::new(settings.clone()), "mine/some-chat-model").await.unwrap();
    let (text, end) = ask(&*model, request()).await;
    assert_eq!(text, "w * h");
    end.unwrap();
    let sent: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    assert_eq!(sent["max_tokens"], 64);
    assert!(sent["messages"][0]["content"].as_str().unwrap().contains("cursor"));
    assert_eq!(
        sent["messages"][1]["content"],
        "<file path=\"src/b.rs\">\nfn b() {}\n</file>\n\nThe file is src/a.rs (rust).\n\n\
         <after_cursor>\n}\n</after_cursor>\n\n<before_cursor>fn area(w: u32, h: u32) -> u32 {\n    </before_cursor>"
    );
}

#[tokio::test]
async fn a_model_to_chat_with_that_hangs_is_given_up() {
    let server = Server::start(vec![Answer::never()]).await;
    let mut settings = settings("mine", &server);
    settings.providers[0].models = vec!["some-chat-model".into()];
    let model = resolve(&settings, &Catalog::new(settings.clone()), "mine/some-chat-model").await.unwrap();
    let failure = ask(&*model, Fill { deadline: Duration::from_millis(100), ..request() }).await.1.unwrap_err();
    assert_eq!(failure.kind, ModelErrorKind::Incomplete);
    tokio::time::timeout(Duration::from_secs(1), server.until_left()).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_scripted_model_fills_in_under_its_name() {
    let settings = Settings::from_env(|_| None);
    let catalog = Catalog::new(settings.clone());
    let script = json!({"name": "typing", "fills": [{"text": "w * h"}]});
    catalog.add_scripted(Scripted::from_json(&script.to_string()).unwrap());
    let model = resolve(&settings, &catalog, "scripted/typing").await.unwrap();
    assert_eq!(ask(&*model, request()).await.0, "w * h");
}

/// Settings in which the only servers on this machine are these.
fn local_settings(llama: &Server, ollama: &Server) -> Settings {
    let mut settings = Settings::from_env(|_| None);
    for (name, server) in [("llama.cpp", llama), ("ollama", ollama)] {
        settings.set_provider(name, Some(server.url()), None, None, vec![]).unwrap();
    }
    settings.providers.retain(|provider| provider.name != "lm-studio");
    settings
}

#[tokio::test]
async fn servers_on_this_machine_are_found_if_their_models_can_fill_in() {
    let json = |body: Value| Answer::status(200, &body.to_string()).with_header("content-type", "application/json");
    let props = json(json!({"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1,
        "model_path": "/models/qwen2.5-coder-1.5b-q8_0.gguf"}));
    let nothing = json(json!({"content": "", "stop": true, "stop_type": "limit"}));
    let llama = Server::start(vec![props.clone(), nothing]).await;
    let tags = json(json!({"models": [
        {"name": "qwen3:8b", "capabilities": ["completion", "tools"]},
        {"name": "codestral:22b", "capabilities": ["completion", "insert"]},
        {"name": "old-model"},
    ]}));
    let show = json(json!({"details": {}, "capabilities": ["completion", "insert"]}));
    let ollama = Server::start(vec![tags, show]).await;
    let found = local(&local_settings(&llama, &ollama)).await;
    let expected = [
        ("llama.cpp/qwen2.5-coder-1.5b-q8_0", FillWire::LlamaCpp, Some(8192)),
        ("ollama/codestral:22b", FillWire::Ollama, None),
        ("ollama/old-model", FillWire::Ollama, None),
    ];
    let expected = expected.map(|(name, wire, context)| Found { name: name.into(), wire, context });
    assert_eq!(found, expected);
    let probe: Value = serde_json::from_str(&llama.asked()[1].body).unwrap();
    assert_eq!((llama.asked()[1].path.as_str(), &probe["n_predict"]), ("/infill", &json!(0)));
    assert_eq!(ollama.asked()[1].body, r#"{"model":"old-model"}"#);

    // A model without the tokens.
    let refused = Answer::status(501, r#"{"error":{"message":"Infill is not supported by this model"}}"#);
    let llama = Server::start(vec![props, refused]).await;
    let ollama = Server::start(vec![json(json!({"models": []}))]).await;
    assert_eq!(local(&local_settings(&llama, &ollama)).await, []);
}

#[tokio::test]
async fn nothing_is_found_and_soon_if_nothing_answers() {
    let (hanging, html) = (Answer::never(), Answer::status(200, "<html>").with_header("content-type", "text/html"));
    let (llama, ollama) = (Server::start(vec![hanging]).await, Server::start(vec![html]).await);
    let started = Instant::now();
    let settings = local_settings(&llama, &ollama);
    assert_eq!(local(&settings).await, []);
    assert!(started.elapsed() < Duration::from_secs(5));
    llama.stop().await;
    ollama.stop().await;
    assert_eq!(local(&settings).await, []);
}

#[tokio::test]
async fn a_model_of_ollama_that_cannot_fill_in_is_asked_in_words() {
    let json = |body: Value| Answer::status(200, &body.to_string()).with_header("content-type", "application/json");
    let show = json(json!({"capabilities": ["completion"]}));
    let server = Server::start(vec![show, Answer::status(500, "")]).await;
    let mut settings = settings("ollama", &server);
    settings.providers[0].models = vec!["llama3.2".into()];
    let model = resolve(&settings, &Catalog::new(settings.clone()), "ollama/llama3.2").await.unwrap();
    ask(&*model, request()).await.1.unwrap_err();
    let paths: Vec<_> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths, ["/api/show", "/v1/chat/completions"]);
}

/// An answer without its end.
fn half(case: Case) -> Answer {
    let text = "half of it";
    match case.wire {
        FillWire::LlamaCpp => Answer::stream(&events([json!({"content": text, "stop": false})].into_iter())),
        FillWire::Ollama => Answer::status(200, &format!("{}\n", json!({"response": text, "done": false})))
            .with_header("content-type", "application/x-ndjson"),
        _ => Answer::stream(&events([json!({"choices": [{"text": text, "finish_reason": null}]})].into_iter())),
    }
}
