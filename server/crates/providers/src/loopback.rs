//! Whole requests over real HTTP on this machine: the catalog's models against servers that speak the vendors' formats,
//! in pieces of any size, and against servers that fail in every way they can.

mod lists;
pub(crate) mod server;
mod streams;
mod vendors;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use ports::model::{
    Message, Model, ModelError, ModelErrorKind, ModelEvent, Request, Response, Stop, ToolSpec, UserBlock,
};
use protocol::AssistantBlock;
use protocol::content::Usage;
use serde_json::json;

use self::server::{Answer, Server};
use crate::scripted::{Recorder, Scripted};
use crate::{Catalog, Settings};

const KEY: &str = "sk-very-secret-key";

/// The signature that a vendor puts on its thinking.
const SIGNATURE: &str = "EqQBCg/+";

/// A vendor's wire, and how a server in its stead is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Vendor {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

const VENDORS: [Vendor; 4] = [Vendor::Anthropic, Vendor::Responses, Vendor::Chat, Vendor::Gemini];

impl Vendor {
    fn settings(self, server: &Server) -> Settings {
        let (name, wire, id) = match self {
            Self::Anthropic => ("anthropic", "anthropic", "claude-haiku-4-5"),
            Self::Responses => ("openai", "openai-responses", "gpt-5.1"),
            Self::Chat => ("mine", "openai-chat", "qwen3-coder"),
            Self::Gemini => ("gemini", "gemini", "gemini-3.8-flash"),
        };
        let mut settings = Settings::from_env(|_| None);
        let address = Some(server.url());
        settings.set_provider(name, address, Some(KEY.into()), Some(wire), vec![id.into()]).unwrap();
        settings.default_model = Some(id.into());
        settings
    }

    async fn model(self, server: &Server) -> Arc<dyn Model> {
        Catalog::new(self.settings(server)).default_model().await.unwrap()
    }

    fn stream(self) -> String {
        match self {
            Self::Anthropic => streams::anthropic(),
            Self::Responses => streams::responses(),
            Self::Chat => streams::chat(),
            Self::Gemini => streams::gemini(),
        }
    }

    /// An answer with thinking that is signed.
    fn thinking_stream(self) -> String {
        match self {
            Self::Anthropic => streams::anthropic_thinking(SIGNATURE),
            Self::Responses => streams::responses_thinking(SIGNATURE),
            Self::Chat => streams::chat_thinking(SIGNATURE),
            Self::Gemini => streams::gemini_thinking(SIGNATURE),
        }
    }

    /// A piece that stands within the input of the stream's tool call.
    fn within_call(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Gemini => "a.rs",
            Self::Responses | Self::Chat => "\\\"a.rs",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Responses => "/v1/responses",
            Self::Chat => "/v1/chat/completions",
            Self::Gemini => "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
        }
    }
}

fn request() -> Request {
    Request {
        system: "Be brief.".into(),
        tools: vec![ToolSpec {
            name: "read_file".into(),
            description: "Reads.".into(),
            input_schema: json!({"type": "object"}),
        }]
        .into(),
        messages: vec![Arc::new(Message::User(vec![UserBlock::Text("look".into())]))],
        max_output_tokens: 1_000,
        thinking: None,
        cache_key: "abc".into(),
    }
}

/// Sends a request, and returns the text that was shown, and the answer or the error.
async fn ask(model: &dyn Model) -> (String, Result<Response, ModelError>) {
    let mut text = String::new();
    let mut stream = match model.stream(request()).await {
        Ok(stream) => stream,
        Err(error) => return (text, Err(error)),
    };
    loop {
        match stream.next().await {
            Some(Ok(ModelEvent::Text(piece))) => text += &piece,
            Some(Ok(ModelEvent::Finished(response))) => {
                assert!(stream.next().await.is_none(), "nothing comes after the end");
                return (text, Ok(response));
            }
            Some(Ok(_)) => {}
            Some(Err(error)) => {
                assert!(stream.next().await.is_none(), "nothing comes after an error");
                return (text, Err(error));
            }
            None => panic!("the stream ended without an end"),
        }
    }
}

async fn failure(vendor: Vendor, answer: Answer) -> (String, ModelError) {
    let server = Server::start(vec![answer]).await;
    let (text, outcome) = ask(&*vendor.model(&server).await).await;
    let error = outcome.expect_err("it must fail");
    assert!(!error.message.contains(KEY), "{error}");
    (text, error)
}

#[tokio::test]
async fn an_answer_is_read_whatever_pieces_it_comes_in() {
    for vendor in VENDORS {
        for seed in 0..8 {
            let server = Server::start(vec![Answer::stream(&vendor.stream()).in_pieces(seed)]).await;
            let model = vendor.model(&server).await;
            let (text, outcome) = ask(&*model).await;
            let response = outcome.unwrap();
            assert_eq!(text, "I look, ä 🦀 \"now\".\n", "{vendor:?} {seed}");
            assert_eq!(response.stop, Stop::ToolUse);
            assert_eq!(response.usage, Usage { input: 100, output: 20, cache_read: 900, cache_write: 0 });
            let call = response.content.last().unwrap();
            assert!(
                matches!(call, AssistantBlock::ToolCall { id, name, input, .. }
                    if id.as_str() == "call_1" && name == "read_file" && *input == json!({"path": "a.rs"})),
                "{call:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_request_goes_where_it_should_with_its_key_and_is_the_same_each_time() {
    for vendor in VENDORS {
        let server = Server::start(vec![Answer::stream(&vendor.stream()), Answer::stream(&vendor.stream())]).await;
        let model = vendor.model(&server).await;
        ask(&*model).await.1.unwrap();
        ask(&*model).await.1.unwrap();
        let asked = server.asked();
        assert_eq!(asked.len(), 2);
        assert_eq!(asked[0].path, vendor.path());
        assert_eq!(asked[0].body, asked[1].body);
        let header = |name: &str| asked[0].headers.get(name).map(|value| value.to_str().unwrap().to_owned());
        match vendor {
            Vendor::Anthropic => {
                assert_eq!(header("x-api-key").as_deref(), Some(KEY));
                assert_eq!(header("anthropic-version").as_deref(), Some("2023-06-01"));
            }
            Vendor::Gemini => {
                assert_eq!(header("x-goog-api-key").as_deref(), Some(KEY));
            }
            Vendor::Responses | Vendor::Chat => {
                assert_eq!(header("authorization"), Some(format!("Bearer {KEY}")));
            }
        }
        assert!(!asked[0].body.contains(KEY));
        assert_eq!(header("accept-encoding"), None, "a stream is not compressed");
    }
}

#[tokio::test]
async fn a_wrong_key_is_said_with_the_place_to_mend_it() {
    let body = r#"{"error":{"type":"authentication_error","message":"invalid key sk-very-secret-key"}}"#;
    for (vendor, source) in [
        (Vendor::Anthropic, "ANTHROPIC_API_KEY"),
        (Vendor::Responses, "OPENAI_API_KEY"),
        (Vendor::Chat, "providers.mine.key_env"),
        (Vendor::Gemini, "providers.gemini.key_env"),
    ] {
        let (_, error) = failure(vendor, Answer::status(401, body)).await;
        assert_eq!(error.kind, ModelErrorKind::Unauthorized);
        assert!(error.message.contains(source) && error.message.contains("[key]"), "{error}");
    }
}

#[tokio::test]
async fn too_many_requests_say_when_to_come_back() {
    for vendor in VENDORS {
        let answer = Answer::status(429, r#"{"error":{"message":"slow down"}}"#).with_header("retry-after", "7");
        let (_, error) = failure(vendor, answer).await;
        assert_eq!(error.kind, ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) });
    }
}

#[tokio::test]
async fn a_server_that_is_out_of_order_may_be_asked_again() {
    for vendor in VENDORS {
        for (status, body) in
            [(500, "{}"), (529, r#"{"error":{"type":"overloaded_error"}}"#), (502, "<html>bad</html>")]
        {
            let (_, error) = failure(vendor, Answer::status(status, body)).await;
            assert_eq!(error.kind, ModelErrorKind::Transient, "{error}");
        }
    }
}

#[tokio::test]
async fn a_stream_that_is_cut_inside_a_tool_call_is_incomplete_and_what_came_was_shown() {
    for vendor in VENDORS {
        let stream = vendor.stream();
        let within = stream.find(vendor.within_call()).unwrap();
        let (text, error) = failure(vendor, Answer::stream(&stream[..within])).await;
        assert_eq!(error.kind, ModelErrorKind::Incomplete, "{vendor:?}: {error}");
        assert_eq!(text, "I look, ä 🦀 \"now\".\n", "{vendor:?}");
        // A connection that is dropped may take with it what was sent last.
        let (_, error) = failure(vendor, Answer::stream(&stream[..within]).then_dropped()).await;
        assert_eq!(error.kind, ModelErrorKind::Incomplete, "{vendor:?}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_within_its_answer_is_given_up() {
    for vendor in VENDORS {
        let half = &vendor.stream()[..vendor.stream().find("I look").unwrap() + 3];
        let server = Server::start(vec![Answer::stream(half).then_silent()]).await;
        let mut settings = vendor.settings(&server);
        settings.idle_timeout = Duration::from_millis(50);
        let model = Catalog::new(settings).default_model().await.unwrap();
        let error = ask(&*model).await.1.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Incomplete, "{error}");
        assert!(error.message.contains("0.05 seconds"), "{error}");
    }
}

#[tokio::test]
async fn a_whole_answer_counts_though_its_connection_is_not_closed() {
    for vendor in VENDORS {
        let stream = Answer::stream(&vendor.stream());
        let mut answers = vec![stream.clone().then_dropped(), stream.clone().then_silent()];
        let done = || Answer::stream(&format!("{}data: [DONE]\n\n", vendor.stream())).then_silent();
        answers.extend((vendor == Vendor::Gemini).then(done));
        for (at, answer) in answers.into_iter().enumerate() {
            let server = Server::start(vec![answer]).await;
            let mut settings = vendor.settings(&server);
            // An answer that says that it is over is not waited for.
            settings.idle_timeout = Duration::from_millis(if at == 2 { 60_000 } else { 50 });
            let model = Catalog::new(settings).default_model().await.unwrap();
            let response = tokio::time::timeout(Duration::from_secs(20), ask(&*model)).await.unwrap().1.unwrap();
            assert_eq!((response.stop, response.usage.output), (Stop::ToolUse, 20), "{vendor:?} {at}");
        }
    }
}

#[tokio::test]
async fn what_is_no_protocol_is_garbage() {
    for vendor in VENDORS {
        for answer in [
            Answer::stream("<html>\n<body>Sign in</body>\n</html>\n"),
            Answer::stream("data: {\"type\": oops\n\n"),
            Answer::status(200, "<html>Sign in</html>").with_header("content-type", "text/html"),
        ] {
            let (_, error) = failure(vendor, answer).await;
            assert_eq!(error.kind, ModelErrorKind::Garbage, "{vendor:?}: {error}");
        }
        let (_, error) = failure(vendor, Answer::stream("")).await;
        assert_eq!(error.kind, ModelErrorKind::Incomplete, "an empty answer: {error}");
    }
}

#[tokio::test]
async fn an_error_within_the_stream_comes_after_what_was_said() {
    for vendor in VENDORS {
        let stream = vendor.stream();
        let told = stream.find("now").unwrap();
        let end = told + stream[told..].find("\n\n").unwrap() + 2;
        let error = match vendor {
            Vendor::Anthropic => r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            Vendor::Responses => r#"{"type":"error","code":"server_error","message":"oops"}"#,
            Vendor::Chat => r#"{"error":{"code":503,"message":"no capacity"}}"#,
            Vendor::Gemini => r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
        };
        let (text, error) = failure(vendor, Answer::stream(&format!("{}data: {error}\n\n", &stream[..end]))).await;
        assert_eq!(error.kind, ModelErrorKind::Transient, "{error}");
        assert!(text.starts_with("I look"), "{text}");
    }
}

#[tokio::test]
async fn what_a_vendor_says_of_an_end_is_one_short_line_without_the_key() {
    let message = format!("{KEY}\n\u{1b}[31m{}", "long ".repeat(500));
    let event = json!({"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "SAFETY",
        "finishMessage": message}]});
    let server = Server::start(vec![Answer::stream(&format!("data: {event}\n\n"))]).await;
    let response = ask(&*Vendor::Gemini.model(&server).await).await.1.unwrap();
    let why = response.why.unwrap();
    assert!(why.contains("safety filter") && why.contains("[key]"), "{why}");
    assert!(!why.contains(KEY) && !why.contains('\n') && why.chars().count() < 500, "{why}");
}

#[tokio::test]
async fn a_redirection_is_not_followed_since_it_would_take_the_key_along() {
    for vendor in VENDORS {
        let elsewhere = Server::start(vec![]).await;
        let answer = Answer::status(307, "").with_header("location", &elsewhere.url());
        let (_, error) = failure(vendor, answer).await;
        assert_eq!(error.kind, ModelErrorKind::Rejected);
        assert!(error.message.contains("redirection"), "{error}");
        assert!(elsewhere.asked().is_empty());
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_transient_and_named() {
    for vendor in VENDORS {
        let server = Server::start(vec![]).await;
        let model = vendor.model(&server).await;
        let host = server.url();
        server.stop().await;
        let error = ask(&*model).await.1.unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Transient, "{error}");
        assert!(error.message.contains(host.trim_start_matches("http://")), "{error}");
    }
}

#[tokio::test]
async fn an_answer_that_comes_at_once_is_taken_from_compatible_servers() {
    let whole =
        json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}}]});
    let answer = Answer::status(200, &whole.to_string()).with_header("content-type", "application/json");
    let server = Server::start(vec![answer]).await;
    let (text, outcome) = ask(&*Vendor::Chat.model(&server).await).await;
    assert_eq!((text.as_str(), outcome.unwrap().stop), ("Hi", Stop::EndTurn));
}

#[tokio::test]
async fn an_answer_that_comes_at_once_is_taken_from_every_vendor() {
    let anthropic = json!({"type": "message", "content": [{"type": "text", "text": "Hi"}], "stop_reason": "end_turn"});
    let message = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]});
    let responses = json!({"object": "response", "status": "completed", "output": [message]});
    let gemini = json!([{"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}]);
    for (vendor, whole) in [(Vendor::Anthropic, anthropic), (Vendor::Responses, responses), (Vendor::Gemini, gemini)] {
        let answer = Answer::status(200, &whole.to_string()).with_header("content-type", "application/json");
        let server = Server::start(vec![answer]).await;
        let (text, outcome) = ask(&*vendor.model(&server).await).await;
        assert_eq!((text.as_str(), outcome.unwrap().stop), ("Hi", Stop::EndTurn), "{vendor:?}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_broken_off_at_its_limit() {
    let text = "x".repeat(1 << 20);
    let started = json!({"type": "message_start", "message": {}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    for (vendor, opening, piece) in [
        (
            Vendor::Anthropic,
            format!("data: {started}\n\ndata: {block}\n\n"),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        ),
        (
            Vendor::Responses,
            String::new(),
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
        ),
        (Vendor::Chat, String::new(), json!({"choices": [{"index": 0, "delta": {"content": text}}]})),
        (Vendor::Gemini, String::new(), json!({"candidates": [{"content": {"parts": [{"text": text}]}}]})),
    ] {
        let stream = format!("{opening}{}", format!("data: {piece}\n\n").repeat(66));
        let (_, error) = failure(vendor, Answer::stream(&stream).then_silent()).await;
        assert_eq!(error.kind, ModelErrorKind::Rejected, "{error}");
        assert!(error.message.contains("64 MiB"), "{error}");
    }
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let half = &streams::chat()[..streams::chat().find("finish_reason\":\"tool_calls").unwrap()];
    let server = Server::start(vec![Answer::stream(half).then_silent()]).await;
    let model = Vendor::Chat.model(&server).await;
    let mut stream = model.stream(request()).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    drop(stream);
    tokio::time::timeout(Duration::from_secs(10), server.until_left()).await.expect("the connection is closed");
}

#[tokio::test]
async fn a_key_that_may_be_for_another_service_of_google_moves_no_session_to_the_cloud() {
    let list = r#"{"object":"list","data":[{"id":"qwen3:8b"}]}"#;
    for variable in ["GOOGLE_API_KEY", "GEMINI_API_KEY"] {
        let server = Server::start(vec![Answer::status(200, list)]).await;
        let mut settings = Settings::from_env(|name| match name {
            "OLLAMA_HOST" => Some(server.url()),
            name => (name == variable).then(|| "k".to_owned()),
        });
        settings.providers.retain(|provider| matches!(provider.name.as_str(), "ollama" | "gemini"));
        let default = async |settings| Catalog::new(settings).default_model().await.unwrap().info().provider.clone();
        assert_eq!(default(settings.clone()).await, "ollama", "{variable}");
        settings.providers.retain(|provider| provider.name == "gemini");
        assert_eq!(default(settings).await, "gemini", "it is used if there is nothing else");
    }
}

#[tokio::test]
async fn a_server_that_speaks_gemini_is_asked_for_its_models_and_has_the_vendors_where_it_does_not_tell() {
    let list = r#"{"models":[
        {"name":"models/gemini-9-neon","displayName":"Neon","inputTokenLimit":2000000,"outputTokenLimit":100000,
            "supportedGenerationMethods":["generateContent","countTokens"],"thinking":true},
        {"name":"models/gemini-9-plain","inputTokenLimit":9000,"outputTokenLimit":1000,
            "supportedGenerationMethods":["generateContent"],"thinking":false},
        {"name":"models/gemma-4-31b-it","inputTokenLimit":9000,"supportedGenerationMethods":["generateContent"]},
        {"name":"models/gemini-3.8-flash-live","supportedGenerationMethods":["bidiGenerateContent"]},
        {"name":"models/gemini-embedding-001","supportedGenerationMethods":["embedContent"]}]}"#;
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    let answers = vec![json(list), Answer::stream(&streams::gemini()), Answer::status(404, "{}")];
    let server = Server::start(answers).await;
    let catalog = || {
        let mut settings = Settings::from_env(|_| None);
        settings.providers.clear();
        settings.set_provider("mine", Some(server.url()), Some(KEY.into()), Some("gemini"), vec![]).unwrap();
        Catalog::new(settings)
    };
    let first = catalog();
    let models = first.list().await;
    let told: Vec<_> =
        models.iter().map(|it| (it.id.as_str(), it.context_tokens, it.max_output_tokens, it.thinking)).collect();
    assert_eq!(
        told,
        [
            ("mine/gemini-9-neon", 2_000_000, 100_000, true),
            ("mine/gemini-9-plain", 9_000, 1_000, false),
            ("mine/gemma-4-31b-it", 9_000, 4_500, false),
        ]
    );
    ask(&*first.resolve("gemini-9-neon").await.unwrap()).await.1.unwrap();
    let asked = server.asked();
    assert_eq!(asked[0].path, "/v1beta/models?pageSize=1000");
    assert_eq!(asked[1].path, "/v1beta/models/gemini-9-neon:streamGenerateContent?alt=sse");
    assert!(asked[1].body.contains(r#""thinkingConfig":{"includeThoughts":true,"#), "{}", asked[1].body);
    assert!(catalog().list().await.iter().any(|model| model.id == "mine/gemini-4-argon"));
}

#[tokio::test]
async fn whether_a_model_of_ollama_sees_is_what_ollama_says_and_an_old_one_is_known_by_its_name() {
    let own = r#"{"models":[{"name":"llama4:scout","capabilities":["completion","vision"]},
        {"name":"gemma3:1b","capabilities":["completion"]}]}"#;
    let old = r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"gemma3:12b"}]}"#;
    // From before 0.6.4, as its `api/types.go` then had it.
    let silent = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","modified_at":"2025-01-01T00:00:00Z","size":1,
        "digest":"0","details":{"format":"gguf","family":"qwen3","families":["qwen3"]}},
        {"name":"gemma3:12b","model":"gemma3:12b"}]}"#;
    let by_name = [("ollama/qwen3:8b", false), ("ollama/gemma3:12b", true)];
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    for (answers, sees) in [
        (vec![json(own)], [("ollama/llama4:scout", true), ("ollama/gemma3:1b", false)]),
        (vec![json(silent)], by_name),
        (vec![Answer::status(404, ""), json(old)], by_name),
    ] {
        let server = Server::start(answers).await;
        let mut settings = Settings::from_env(|name| (name == "OLLAMA_HOST").then(|| server.url() + "/v1"));
        settings.providers.retain(|provider| provider.name == "ollama");
        let models = Catalog::new(settings).list().await;
        let seen: Vec<_> = models.iter().map(|model| (model.id.as_str(), model.images)).collect();
        assert_eq!(seen, sees, "{:?}", server.asked());
    }
}

#[tokio::test]
async fn whether_a_model_of_lm_studio_sees_is_what_its_own_list_says_and_its_name_where_that_does_not_come() {
    let list = r#"{"object":"list","data":[{"id":"a/finetune","object":"model"},{"id":"b/gemma-3-12b-text-only"},
        {"id":"c/qwen3-vl"}]}"#;
    let new = r#"{"models":[{"type":"llm","key":"a/finetune","max_context_length":131072,
        "loaded_instances":[{"id":"a/finetune","config":{"context_length":8192}}],
        "capabilities":{"vision":true,"trained_for_tool_use":true}},
        {"type":"llm","key":"b/gemma-3-12b-text-only","max_context_length":32000,"loaded_instances":[],
        "capabilities":{"vision":false,"trained_for_tool_use":false}},
        {"type":"llm","key":"d/not-offered","max_context_length":4096},{"type":"embedding","key":"nomic-embed"}]}"#;
    let old = r#"{"object":"list","data":[{"id":"a/finetune","type":"vlm","max_context_length":131072,
        "loaded_context_length":8192},{"id":"b/gemma-3-12b-text-only","type":"llm","max_context_length":32000}]}"#;
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    // Of a place that it does not know it says so with the status 200.
    let unknown = || json(r#"{"error":"Unexpected endpoint or method. (GET /api/v1/models)"}"#);
    let names = ["lm-studio/a/finetune", "lm-studio/b/gemma-3-12b-text-only", "lm-studio/c/qwen3-vl"];
    for (answers, known) in [
        (vec![json(list), json(new)], [(8192, true), (32_000, false), (32_768, true)]),
        (vec![json(list), unknown(), json(old)], [(8192, true), (32_000, false), (32_768, true)]),
        (vec![json(list), unknown(), unknown()], [(32_768, false), (32_768, true), (32_768, true)]),
        (vec![json(list), Answer::status(200, "").then_silent()], [(32_768, false), (32_768, true), (32_768, true)]),
    ] {
        let server = Server::start(answers).await;
        let mut settings = Settings::from_env(|_| None);
        settings.providers.retain(|provider| provider.name == "lm-studio");
        settings.providers[0].base_url = server.url() + "/v1";
        let models = Catalog::new(settings).list().await;
        let told: Vec<_> = models.iter().map(|it| (it.id.as_str(), (it.context_tokens, it.images))).collect();
        let expected: Vec<_> = names.into_iter().zip(known).collect();
        assert_eq!(told, expected, "{:?}", server.asked());
    }
}

#[tokio::test]
async fn what_a_server_wants_back_goes_to_no_other_server_of_the_same_name() {
    for vendor in VENDORS {
        let answers = || {
            let again = || Answer::stream(&vendor.stream());
            vec![Answer::stream(&vendor.thinking_stream()), again(), again(), again()]
        };
        let (first, second) = (Server::start(answers()).await, Server::start(answers()).await);
        let model = vendor.model(&first).await;
        let thought = ask(&*model).await.1.unwrap().content;
        let again = |content: Vec<AssistantBlock>| {
            let mut request = request();
            let said = [Message::Assistant(content), Message::User(vec![UserBlock::Text("go on".into())])];
            request.messages.extend(said.map(Arc::new));
            request
        };
        let host_of = |server: &Server| server.url().trim_start_matches("http://").to_owned();
        let told = serde_json::to_string(&thought).unwrap();
        assert!(!told.contains(&host_of(&first)), "a session that is given away names no server: {told}");
        // The value that older logs have in place of a host.
        let has_old = |content: &[AssistantBlock], host: Option<String>| {
            let mut content = content.to_vec();
            for block in &mut content {
                if let AssistantBlock::Thinking { vendor: Some(vendor), .. } = block {
                    let fields = vendor.as_object_mut().unwrap();
                    fields.remove("host").unwrap();
                    fields.extend(host.clone().map(|host| ("host".into(), host.into())));
                }
            }
            content
        };
        let sent = async |model: &dyn Model, content: Vec<AssistantBlock>, server: &Server| {
            drop(model.stream(again(content)).await.unwrap());
            server.asked().last().unwrap().body.contains(SIGNATURE)
        };
        assert!(sent(&*model, thought.clone(), &first).await, "{vendor:?}");
        let moved = vendor.model(&second).await;
        assert!(!sent(&*moved, thought.clone(), &second).await, "{vendor:?}");
        let (bare, of_first) = (has_old(&thought, None), has_old(&thought, Some(host_of(&first))));
        assert!(sent(&*moved, bare, &second).await, "{vendor:?}: a log from before the host was kept");
        assert!(!sent(&*moved, of_first.clone(), &second).await, "{vendor:?}: a log that names the host");
        assert!(sent(&*model, of_first, &first).await, "{vendor:?}: a log that names the host");
    }
}

#[tokio::test]
async fn what_a_real_model_answered_over_http_can_be_played_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tape.jsonl");
    let server = Server::start(vec![Answer::stream(&streams::anthropic())]).await;
    let catalog = Catalog::new(Vendor::Anthropic.settings(&server));
    catalog.record(Recorder::create(&file).unwrap());
    let model = catalog.resolve("claude-haiku-4-5").await.unwrap();
    let live = ask(&*model).await;
    server.stop().await;
    let played = Scripted::load(&file).unwrap().strict(true);
    assert_eq!(ask(&played).await, live);
}
