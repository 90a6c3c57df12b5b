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

const MODEL: &str = "anthropic/claude-opus-5-5:low";

/// A server that is said to take all that Anthropic's own takes.
fn catalog(server: &Server) -> Catalog {
    let mut settings = Settings::from_env(|_| None);
    let models = vec!["claude-opus-5-5".to_owned()];
    settings.set_provider("anthropic", Some(server.url()), Some("k".into()), None, models).unwrap();
    settings.provider_mut("anthropic").unwrap().set_compat(&of_address("https://api.anthropic.com"));
    Catalog::new(settings)
}

fn refused(message: &str) -> Answer {
    let error = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": message } });
    Answer::status(400, &error.to_string())
}

fn answered() -> Answer {
    Answer::stream(streams::anthropic().as_bytes())
}

#[tokio::test]
async fn what_a_server_refuses_is_known_of_it_in_the_next_turn_and_another_refusal_is_none() {
    let server = Server::start(vec![
        refused("your role may not use this model"),
        refused("diagnostics: Extra inputs are not permitted"),
        refused("something else"),
        refused("diagnostics: Extra inputs are not permitted"),
        refused("messages.2: role 'system' is not supported on this model"),
        answered(),
        answered(),
    ])
    .await;
    let catalog = catalog(&server);
    let model = catalog.resolve(MODEL).await.unwrap();
    ask_for(&*model, second_turn()).await.1.unwrap_err();
    ask_for(&*model, second_turn()).await.1.unwrap_err();
    assert!(model.changes_level_in_place());
    ask_for(&*model, second_turn()).await.1.unwrap();
    // A model is given out anew for each turn.
    let model = catalog.resolve(MODEL).await.unwrap();
    assert!(!model.changes_level_in_place());
    ask_for(&*model, second_turn()).await.1.unwrap();

    let parts = |asked: &Asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        (body.get("diagnostics").is_some(), body["messages"].to_string().contains("output_config"))
    };
    let sent: Vec<_> = server.asked().iter().map(parts).collect();
    let (all, without) = ((true, true), (false, true));
    assert_eq!(sent, [all, all, without, all, without, (false, false), (false, false)]);
}

#[tokio::test]
async fn a_server_that_refuses_what_it_is_said_to_take_is_asked_again_without_it_and_then_always() {
    let server = Server::start(vec![
        refused("diagnostics: Extra inputs are not permitted"),
        answered(),
        refused("messages.2: role 'system' is not supported on this model"),
        answered(),
        refused("tools.0.custom.eager_input_streaming: Extra inputs are not permitted"),
        answered(),
        refused("output_config.effort: not supported"),
    ])
    .await;
    let model = catalog(&server).resolve(MODEL).await.unwrap();
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
        let is_eager = body["tools"][0].get("eager_input_streaming").is_some();
        (body.get("diagnostics").is_some(), is_eager, is_told, body["output_config"]["effort"].clone())
    };
    let sent: Vec<_> = server.asked().iter().map(sent).collect();
    let head = |diagnosis: bool, eager: bool| (diagnosis, eager, false, json!("low"));
    let moved = (false, true, true, json!("high"));
    let first = [head(true, true), head(false, true), moved, head(false, true)];
    let then = [head(false, true), head(false, false), head(false, false)];
    assert_eq!(sent, [&first[..], &then].concat());
}

#[tokio::test]
async fn a_place_that_a_server_refuses_is_no_word_about_later_requests() {
    let server = Server::start(vec![
        refused("messages.2: a message with the role 'system' must stand before one of the user's"),
        answered(),
        answered(),
        refused("messages.4: a message with the role 'system' must stand before one of the user's"),
        answered(),
        answered(),
    ])
    .await;
    let catalog = catalog(&server);
    let model = catalog.resolve(MODEL).await.unwrap();
    ask_for(&*model, second_turn()).await.1.unwrap();
    assert!(catalog.resolve(MODEL).await.unwrap().changes_level_in_place());
    ask_for(&*model, second_turn()).await.1.unwrap();
    ask_for(&*model, second_turn()).await.1.unwrap();
    assert!(!catalog.resolve(MODEL).await.unwrap().changes_level_in_place(), "it would be refused each time");
    ask_for(&*model, second_turn()).await.1.unwrap();
    let is_told = |asked: &Asked| {
        let body: Value = serde_json::from_str(&asked.body).unwrap();
        body["messages"].to_string().contains("output_config")
    };
    let told: Vec<_> = server.asked().iter().map(is_told).collect();
    assert_eq!(told, [true, false, true, true, false, false]);
}

#[tokio::test]
async fn a_server_that_refuses_the_hour_is_asked_for_minutes_from_then_on() {
    let server = Server::start(vec![
        refused("the throttle is at its limit, and that is not supported"),
        refused("tools.0.cache_control.ephemeral.ttl: Extra inputs are not permitted"),
        answered(),
        answered(),
    ])
    .await;
    let model = catalog(&server).resolve(MODEL).await.unwrap();
    let hour = || Request { cache_hour: true, ..request() };
    ask_for(&*model, hour()).await.1.unwrap_err();
    ask_for(&*model, hour()).await.1.unwrap();
    ask_for(&*model, hour()).await.1.unwrap();
    let asks = |asked: &Asked| asked.body.contains(r#""ttl":"1h""#);
    assert_eq!(server.asked().iter().map(asks).collect::<Vec<_>>(), [true, true, false, false]);
}
