//! Whole requests over real HTTP on this machine: the catalog's models against servers that speak the vendors' formats,
//! in pieces of any size, and against servers that fail in every way they can.

mod anthropic;
mod converse;
mod lists;
pub(crate) mod server;
mod streams;
mod vendors;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use ports::model::{
    Before, Message, Model, ModelError, ModelErrorKind, ModelEvent, Request, Response, Stop, ToolSpec, UserBlock,
};
use protocol::AssistantBlock;
use protocol::content::Usage;
use serde_json::{Value, json};

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
    Converse,
}

const VENDORS: [Vendor; 5] = [Vendor::Anthropic, Vendor::Responses, Vendor::Chat, Vendor::Gemini, Vendor::Converse];

impl Vendor {
    fn settings(self, server: &Server) -> Settings {
        let (name, wire, id) = match self {
            Self::Anthropic => ("anthropic", "anthropic", "claude-haiku-4-5"),
            Self::Responses => ("openai", "openai-responses", "gpt-5.1"),
            Self::Chat => ("mine", "openai-chat", "qwen3-coder"),
            Self::Gemini => ("gemini", "gemini", "gemini-3.8-flash"),
            Self::Converse => ("bedrock", "converse", "amazon.nova-lite-v1:0"),
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

    fn stream(self) -> Vec<u8> {
        match self {
            Self::Anthropic => streams::anthropic().into_bytes(),
            Self::Responses => streams::responses().into_bytes(),
            Self::Chat => streams::chat().into_bytes(),
            Self::Gemini => streams::gemini().into_bytes(),
            Self::Converse => streams::converse(),
        }
    }

    /// An answer with thinking that is signed.
    fn thinking_stream(self) -> Vec<u8> {
        match self {
            Self::Anthropic => streams::anthropic_thinking(SIGNATURE).into_bytes(),
            Self::Responses => streams::responses_thinking(SIGNATURE).into_bytes(),
            Self::Chat => streams::chat_thinking(SIGNATURE).into_bytes(),
            Self::Gemini => streams::gemini_thinking(SIGNATURE).into_bytes(),
            Self::Converse => streams::converse_thinking(SIGNATURE),
        }
    }

    /// An answer that fails after its text, with this error of the vendor's.
    fn failing_stream(self, error: &Value) -> Vec<u8> {
        let stream = self.stream();
        let told = place_of(&stream, "now");
        if self == Self::Converse {
            return [&stream[..streams::end_of_message(&stream, told)], &streams::exception(error)].concat();
        }
        let end = told + place_of(&stream[told..], "\n\n") + 2;
        [&stream[..end], format!("data: {error}\n\n").as_bytes()].concat()
    }

    /// A piece that stands within the input of the stream's tool call.
    fn within_call(self) -> &'static str {
        match self {
            Self::Anthropic | Self::Gemini => "a.rs",
            Self::Responses | Self::Chat | Self::Converse => "\\\"a.rs",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Responses => "/v1/responses",
            Self::Chat => "/v1/chat/completions",
            Self::Gemini => "/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse",
            Self::Converse => "/model/amazon.nova-lite-v1%3A0/converse-stream",
        }
    }
}

/// Where words stand in a stream.
fn place_of(stream: &[u8], words: &str) -> usize {
    stream.windows(words.len()).position(|at| at == words.as_bytes()).unwrap()
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
        before: Before::default(),
        cache_key: "abc".into(),
        cache_hour: false,
    }
}

/// Sends a request, and returns the text that was shown, and the answer or the error.
async fn ask(model: &dyn Model) -> (String, Result<Response, ModelError>) {
    ask_for(model, request()).await
}

/// The same for another request.
async fn ask_for(model: &dyn Model, request: Request) -> (String, Result<Response, ModelError>) {
    let mut text = String::new();
    let mut stream = match model.stream(request).await {
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
            assert_eq!(
                response.usage,
                Usage { input: 100, output: 20, cache_read: 900, cache_write: 0, cache_write_hour: 0 }
            );
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
            Vendor::Responses | Vendor::Chat | Vendor::Converse => {
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
        (Vendor::Converse, "providers.bedrock.key_env"),
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
        let within = place_of(&stream, vendor.within_call());
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
        let stream = vendor.stream();
        let half = &stream[..place_of(&stream, "I look") + 3];
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
        let done = || Answer::stream(&[&vendor.stream(), &b"data: [DONE]\n\n"[..]].concat()).then_silent();
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
        let error = match vendor {
            Vendor::Anthropic => {
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
            }
            Vendor::Responses => json!({"type": "error", "code": "server_error", "message": "oops"}),
            Vendor::Chat => json!({"error": {"code": 503, "message": "no capacity"}}),
            Vendor::Gemini => json!({"error": {"code": 503, "message": "It is overloaded.", "status": "UNAVAILABLE"}}),
            Vendor::Converse => json!({"serviceUnavailableException": {"message": "no capacity"}}),
        };
        let (text, error) = failure(vendor, Answer::stream(&vendor.failing_stream(&error))).await;
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
    let message = json!({"role": "assistant", "content": [{"text": "Hi"}]});
    let converse = json!({"output": {"message": message}, "stopReason": "end_turn", "usage": {"inputTokens": 1}});
    for (vendor, whole) in [
        (Vendor::Anthropic, anthropic),
        (Vendor::Responses, responses),
        (Vendor::Gemini, gemini),
        (Vendor::Converse, converse),
    ] {
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
    let mut endless = Vec::new();
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
        let stream = format!("{opening}{}", format!("data: {piece}\n\n").repeat(66)).into_bytes();
        endless.push((vendor, stream));
    }
    let piece = json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}});
    endless.push((Vendor::Converse, streams::event(&piece).repeat(66)));
    for (vendor, stream) in endless {
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
