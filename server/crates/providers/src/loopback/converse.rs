//! Bedrock's Converse over real HTTP on this machine: what only it has.

use ports::model::{ModelErrorKind, Request, Stop};
use ports::tool_names::READ_FILE;
use serde_json::json;

use super::server::{Answer, Server};
use super::{Vendor, ask, ask_for, failure, request, streams};
use crate::settings::Defined;
use crate::{Catalog, Settings};

fn limited() -> ModelErrorKind {
    ModelErrorKind::RateLimited { retry_after: None }
}

#[tokio::test]
async fn a_request_asks_for_an_event_stream_of_amazons() {
    let server = Server::start(vec![Answer::stream(&streams::converse())]).await;
    ask(&*Vendor::Converse.model(&server).await).await.1.unwrap();
    let asked = server.asked().remove(0);
    assert_eq!(asked.headers["accept"], "application/vnd.amazon.eventstream");
    assert!(!asked.body.contains("amazon.nova"), "the model is in the path alone: {}", asked.body);
}

#[tokio::test]
async fn a_damaged_message_is_garbage_and_what_came_before_it_was_shown() {
    let stream = streams::converse();
    let middle = streams::end_of_message(&stream, stream.len() / 2) - 9;
    let mut flipped = stream.clone();
    flipped[middle] ^= 0x10;
    let (text, error) = failure(Vendor::Converse, Answer::stream(&flipped)).await;
    assert_eq!((error.kind, text.as_str()), (ModelErrorKind::Garbage, "I look, ä 🦀 \"now\".\n"));
    assert!(error.message.contains("checksum"), "{error}");
    let first = streams::event(&json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "Hi."}}}));
    let foreign = [&first, &b"{\"message\":\"an error of a proxy\"}"[..]].concat();
    let (text, error) = failure(Vendor::Converse, Answer::stream(&foreign)).await;
    assert_eq!((error.kind, text.as_str()), (ModelErrorKind::Garbage, "Hi."));
}

#[tokio::test]
async fn an_exception_within_the_stream_is_what_it_would_be_as_an_answer() {
    for (name, status, message, expected) in [
        ("throttlingException", 429, "Too many requests, please wait before trying again.", limited()),
        (
            "throttlingException",
            429,
            "Too many tokens per day, please wait before trying again.",
            ModelErrorKind::QuotaUsedUp,
        ),
        ("validationException", 400, "Input is too long for requested model.", ModelErrorKind::ContextOverflow),
        (
            "validationException",
            400,
            "The model returned the following errors: Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            ModelErrorKind::ContextOverflow,
        ),
        ("validationException", 400, "The text field in the ContentBlock object is blank.", ModelErrorKind::Rejected),
        (
            "validationException",
            400,
            "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1",
            ModelErrorKind::OrphanedToolCalls,
        ),
        (
            "modelErrorException",
            424,
            "Model produced invalid sequence as part of ToolUse.",
            ModelErrorKind::UnreadableCall,
        ),
        ("modelErrorException", 424, "The system encountered an unexpected error.", ModelErrorKind::Transient),
        ("serviceUnavailableException", 503, "Bedrock is unable to process your request.", ModelErrorKind::Transient),
        ("internalServerException", 500, "oops", ModelErrorKind::Transient),
        ("accessDeniedException", 403, "You don't have access to the model.", ModelErrorKind::Unauthorized),
        ("resourceNotFoundException", 404, "This Model has reached the end of its life.", ModelErrorKind::NoSuchModel),
    ] {
        let body = json!({ "message": message });
        let (_, answered) = failure(Vendor::Converse, Answer::status(status, &body.to_string())).await;
        let (_, streamed) =
            failure(Vendor::Converse, Answer::stream(&streams::exception(&json!({ name: body })))).await;
        assert_eq!((answered.kind, streamed.kind), (expected, expected), "{name}: {message}");
        let says = |message: &str| answered.message.contains(message) && streamed.message.contains(message);
        assert!(says(message), "{answered} {streamed}");
    }
}

#[tokio::test]
async fn what_bedrock_says_of_a_key_and_of_a_model_is_said_with_what_to_do() {
    let refused = r#"{"Message":"Authentication failed: Please make sure your API Key is valid."}"#;
    let (_, error) = failure(Vendor::Converse, Answer::status(403, refused)).await;
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("your API Key is valid") && error.message.contains("Check "), "{error}");
    for words in [
        "The provided model identifier is invalid.",
        "Invocation of model ID amazon.nova-lite-v1:0 with on-demand throughput isn’t supported. Retry your request with \
         the ID or ARN of an inference profile that contains this model.",
    ] {
        let (_, error) = failure(Vendor::Converse, Answer::status(400, &json!({ "message": words }).to_string())).await;
        assert_eq!(error.kind, ModelErrorKind::NoSuchModel, "{error}");
        assert!(error.message.contains(words) && error.message.contains("/model"), "{error}");
    }
}

#[tokio::test]
async fn a_model_that_takes_tools_only_without_a_stream_is_asked_without_one() {
    let call = json!({"toolUse": {"toolUseId": "tooluse_1", "name": READ_FILE, "input": {"path": "a.rs"}}});
    let message = json!({"role": "assistant", "content": [{"text": "I look."}, call]});
    let usage = json!({"inputTokens": 100, "outputTokens": 20, "totalTokens": 120});
    let answer = json!({"output": {"message": message}, "stopReason": "tool_use", "usage": usage}).to_string();
    let server =
        Server::start(vec![Answer::status(200, &answer).with_header("content-type", "application/json")]).await;
    let mut settings = Settings::from_env(|_| None);
    let id = "us.meta.llama4-maverick-17b-instruct-v1:0";
    settings.set_provider("bedrock", Some(server.url()), Some("k".into()), Some("converse"), vec![id.into()]).unwrap();
    let model = Catalog::new(settings).resolve(&format!("bedrock/{id}")).await.unwrap();
    let (text, outcome) = ask(&*model).await;
    let response = outcome.unwrap();
    assert_eq!((text.as_str(), response.stop, response.content.len()), ("I look.", Stop::ToolUse, 2));
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/model/us.meta.llama4-maverick-17b-instruct-v1%3A0/converse");
    assert_eq!(asked.headers["accept"], "application/json");
}

#[tokio::test]
async fn a_model_that_refuses_tools_in_a_stream_is_asked_again_without_one_and_then_always() {
    let refusal = json!({"message": "This model doesn't support tool use in streaming mode."}).to_string();
    let message = json!({"role": "assistant", "content": [{"text": "Hi."}]});
    let answer = json!({"output": {"message": message}, "stopReason": "end_turn", "usage": {}}).to_string();
    let whole = || Answer::status(200, &answer).with_header("content-type", "application/json");
    let server = Server::start(vec![Answer::status(400, &refusal), whole(), whole()]).await;
    let mut settings = Settings::from_env(|_| None);
    let id = "cohere.command-r-v1:0";
    settings.set_provider("bedrock", Some(server.url()), Some("k".into()), Some("converse"), vec![id.into()]).unwrap();
    let model = Catalog::new(settings).resolve(&format!("bedrock/{id}")).await.unwrap();
    for _ in 0..2 {
        let (text, outcome) = ask(&*model).await;
        assert_eq!((text.as_str(), outcome.map(|response| response.stop)), ("Hi.", Ok(Stop::EndTurn)));
    }
    let asked = server.asked();
    let seen: Vec<_> = asked.iter().map(|it| (it.path.as_str(), it.headers["accept"].to_str().unwrap())).collect();
    let path = "/model/cohere.command-r-v1%3A0/converse";
    let (stream, once) = ("application/vnd.amazon.eventstream", "application/json");
    assert_eq!(seen, [(format!("{path}-stream").as_str(), stream), (path, once), (path, once)]);
    assert!(asked.iter().all(|it| it.body == asked[0].body), "the request is the same");
}

#[tokio::test]
async fn a_profile_that_is_said_to_equal_a_model_is_asked_as_that_one() {
    let server = Server::start(vec![Answer::stream(&streams::converse())]).await;
    let mut settings = Settings::from_env(|_| None);
    settings.set_provider("bedrock", Some(server.url()), Some("k".into()), None, vec![]).unwrap();
    let arn = "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/a1b2c3";
    let own = json!({ "id": arn, "equivalent_to": "anthropic/claude-opus-4-6" });
    let own = Defined::read(own.as_object().unwrap().clone()).unwrap();
    settings.provider_mut("bedrock").unwrap().defined.push(own);
    let model = Catalog::new(settings).resolve(&format!("bedrock/{arn}")).await.unwrap();
    ask(&*model).await.1.unwrap();
    let asked = server.asked().remove(0);
    assert!(asked.path.ends_with("a1b2c3/converse-stream") && asked.body.contains("cachePoint"), "{}", asked.body);
}

#[tokio::test]
async fn the_longest_answer_of_a_model_that_nobody_knows_is_not_said() {
    let server = Server::start(vec![Answer::stream(&streams::converse()), Answer::stream(&streams::converse())]).await;
    let mut settings = Settings::from_env(|_| None);
    let ids = ["nobody.knows-v1:0", "the.user-knows-v1:0"];
    let named = ids.map(str::to_owned).to_vec();
    settings.set_provider("bedrock", Some(server.url()), Some("k".into()), Some("converse"), named).unwrap();
    let own = json!({ "id": ids[1], "max_output": 4096 });
    let own = Defined::read(own.as_object().unwrap().clone()).unwrap();
    settings.provider_mut("bedrock").unwrap().defined.push(own);
    let catalog = Catalog::new(settings);
    for id in ids {
        let long = Request { max_output_tokens: 8_000, ..request() };
        ask_for(&*catalog.resolve(&format!("bedrock/{id}")).await.unwrap(), long).await.1.unwrap();
    }
    let says: Vec<_> = server.asked().iter().map(|asked| asked.body.contains("maxTokens")).collect();
    assert_eq!(says, [false, true]);
}
