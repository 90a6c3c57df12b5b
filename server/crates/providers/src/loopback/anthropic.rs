//! The fields that a server of Messages may refuse, and that can be done without.

use std::sync::Arc;

use ports::model::{Before, LevelAt, Message, Request, UserBlock};
use protocol::AssistantBlock;
use protocol::model::ThinkingLevel::{High, Low};
use serde_json::{Value, json};

use super::server::{Answer, Asked, Server};
use super::{ask_for, request, streams};
use crate::vendors::of_address;
use crate::{Catalog, Settings};

/// The second turn of a conversation that began at another level.
fn second_turn() -> Request {
    let says = |text: &str| Message::User(vec![UserBlock::Text(text.into())]);
    let messages = vec![says("look"), Message::Assistant(vec![AssistantBlock::text("I did.")]), says("again")];
    let levels = vec![LevelAt { at: 0, level: Some(High) }, LevelAt { at: 2, level: Some(Low) }];
    let before = Before { in_conversation: true, answer: None, levels };
    Request { messages: messages.into_iter().map(Arc::new).collect(), before, ..request() }
}

#[tokio::test]
async fn a_server_that_refuses_what_it_is_said_to_take_is_asked_again_without_it_and_then_always() {
    let refused = |message: &str| {
        let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } });
        Answer::status(400, &error.to_string())
    };
    let answered = || Answer::stream(streams::anthropic().as_bytes());
    let server = Server::start(vec![
        refused("diagnostics: Extra inputs are not permitted"),
        answered(),
        refused("messages.2: role 'system' is not supported on this model"),
        answered(),
        answered(),
        refused("output_config.effort: not supported"),
    ])
    .await;
    let mut settings = Settings::from_env(|_| None);
    let id = "claude-opus-5-5";
    settings.set_provider("anthropic", Some(server.url()), Some("k".into()), None, vec![id.into()]).unwrap();
    settings.provider_mut("anthropic").unwrap().set_compat(&of_address("https://api.anthropic.com"));
    let model = Catalog::new(settings).resolve(&format!("anthropic/{id}:low")).await.unwrap();
    assert!(model.changes_level_in_place());
    let first = Request { before: Before { in_conversation: true, ..Before::default() }, ..request() };
    ask_for(&*model, first).await.1.unwrap();
    assert!(model.changes_level_in_place(), "only what was refused is left out");
    ask_for(&*model, second_turn()).await.1.unwrap();
    assert!(!model.changes_level_in_place());
    ask_for(&*model, second_turn()).await.1.unwrap();
    ask_for(&*model, second_turn()).await.1.unwrap_err();

    let sent = |asked: &Asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        let betas = asked.headers["anthropic-beta"].to_str().unwrap();
        let is_told = body["messages"].to_string().contains("output_config");
        assert_eq!(is_told, betas.contains("mid-conversation-output-config"), "{betas}");
        (body.get("diagnostics").is_some(), is_told, body["output_config"]["effort"].clone())
    };
    let sent: Vec<_> = server.asked().iter().map(sent).collect();
    let head = |diagnosis: bool| (diagnosis, false, json!("low"));
    assert_eq!(sent, [head(true), head(false), (false, true, json!("high")), head(false), head(false), head(false)]);
}
