//! A turn whose model fails: the wait that the user sees and can end, the next model of the chain, the larger one of
//! the same provider, and the words for who has to choose.

#![expect(clippy::disallowed_methods, reason = "a test reads its own configuration")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harness::{Answer, Client, ModelServer, Profile, Setup, Wire};
use hub::clock::Clock;
use protocol::model::SwitchReason;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::json;

use crate::vendors::project;

const HOUR: u64 = 3_600_000;

/// A user with two models, who says this about them.
fn configured(model: &ModelServer, wire: Wire, chain: &str, lines: &str) -> Setup {
    let setup = Setup::empty();
    let usual = Setup::configuration(model, wire).replace("model = \"test/model-1\"", &format!("model = \"{chain}\""));
    setup.configure(&format!("{lines}\n{}", usual.replace("[\"model-1\"]", "[\"model-1\", \"model-2\"]")));
    setup
}

async fn turn(client: &Client, session: &SessionId, prompt: &str, reason: StopReason) -> Vec<Event> {
    client.prompt(session, prompt).await;
    client.until_end(session, reason).await
}

fn models(model: &ModelServer) -> Vec<String> {
    model.asked().iter().map(|asked| asked.model().to_owned()).collect()
}

/// Who went on, in whose stead, and why.
fn switches(events: &[Event]) -> Vec<(&str, &str, SwitchReason)> {
    let mut switches = Vec::new();
    for event in events {
        if let Event::TurnModelChanged { model, instead_of, reason, .. } = event {
            switches.push((model.as_str(), instead_of.as_str(), *reason));
        }
    }
    switches
}

fn said_by_the_command(events: &[Event]) -> &str {
    let message = events.iter().find_map(|event| match event {
        Event::CommandExecuted { message, .. } => Some(message.as_str()),
        _ => None,
    });
    message.unwrap_or_else(|| panic!("{events:?}"))
}

fn error(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::TurnEnded { error: Some(error), .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_limit_that_ran_out_is_waited_for_in_sight_and_whoever_does_not_want_to_wait_tries_now_or_stops() {
    let limited = Answer::refused(429)
        .header("x-ratelimit-remaining-requests", "0")
        .header("x-ratelimit-reset-requests", "1m40s")
        .header("x-ratelimit-remaining-tokens", "5000")
        .header("x-ratelimit-reset-tokens", "20m");
    let model = ModelServer::start([limited.clone(), Answer::says("Here I am."), limited]).await;
    let (setup, project) = (configured(&model, Wire::Chat, "test/model-1", ""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let now = json!({ "sessionId": session });
    let waits = |event: &Event| matches!(event, Event::Retrying { attempt: 1, of: Some(3), delay_ms: 100_000, .. });

    let turn_id = client.prompt(&session, "Are you there?").await;
    client.until(&session, "the wait", waits).await;
    let other = json!({ "sessionId": session, "turnId": "another" });
    let wrong = client.request("azimuth/turn/retry", other).await.unwrap_err();
    assert_eq!(wrong.data["turnId"], json!(turn_id), "{wrong:?}");
    assert!(client.call::<methods::TurnRetry>(now.clone()).await.retried);
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert!(events.iter().any(|event| matches!(event, Event::Retrying { attempt: 1, delay_ms: 0, .. })), "{events:?}");
    assert!(!client.call::<methods::TurnRetry>(now.clone()).await.retried, "nothing waits any more");

    client.prompt(&session, "And now?").await;
    client.until(&session, "the wait", waits).await;
    client.call::<methods::TurnCancel>(now).await;
    client.until_end(&session, StopReason::Cancelled).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_next_model_of_the_chain_goes_on_until_the_first_can_be_asked_again() {
    let limited = Answer::refused(429).header("retry-after", "3600");
    let says = ["By the second.", "Again.", "For another.", "By the first."].map(Answer::says);
    let model = ModelServer::start([limited].into_iter().chain(says)).await;
    let mut setup = configured(&model, Wire::Anthropic, "test/model-1, nobody/nothing, test/model-2", "");
    let time = Arc::new(AtomicU64::new(1_000 * HOUR));
    let read = Arc::clone(&time);
    setup.custom.clock = Clock::new(move || read.load(Ordering::Relaxed));
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (one, two) = (client.new_session().await, client.new_session().await);

    let went_on = [("test/model-2", "test/model-1", SwitchReason::RateLimited)];
    let events = turn(&client, &one, "Are you there?", StopReason::EndTurn).await;
    assert_eq!(switches(&events), went_on);
    let until = events.iter().find_map(|event| match event {
        Event::TurnModelChanged { until, .. } => *until,
        _ => None,
    });
    assert_eq!(until, Some(1_001 * HOUR));
    for session in [&one, &two] {
        let events = turn(&client, session, "And now?", StopReason::EndTurn).await;
        assert_eq!(switches(&events), went_on, "the first one rests, for each session");
    }
    time.fetch_add(HOUR, Ordering::Relaxed);
    let events = turn(&client, &one, "Who is there?", StopReason::EndTurn).await;
    assert_eq!(switches(&events), []);
    assert_eq!(models(&model), ["model-1", "model-2", "model-2", "model-2", "model-1"]);
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_was_named_alone_is_never_exchanged_and_a_chain_that_was_named_is() {
    let broke = Answer::refused(402);
    let model = ModelServer::start([broke.clone(), broke, Answer::says("By the second.")]).await;
    let setup = configured(&model, Wire::Responses, "test/model-1, test/model-2", "model_cooldown = 0");
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let named = client.call::<methods::SessionNew>(json!({ "model": "test/model-1" })).await.session.session_id;
    let events = turn(&client, &named, "Are you there?", StopReason::Error).await;
    assert_eq!(switches(&events), []);
    let error = error(&events);
    assert!(error.contains("no credit is left") && error.contains("test/model-2; /model chooses one"), "{error}");

    let chain = "/model test/model-1,test/model-2\nAnd now?";
    let events = turn(&client, &named, chain, StopReason::EndTurn).await;
    let message = said_by_the_command(&events);
    assert!(message.ends_with("; if it fails, test/model-2"), "{message}");
    assert_eq!(switches(&events), [("test/model-2", "test/model-1", SwitchReason::QuotaUsedUp)]);
    assert_eq!(models(&model), ["model-1", "model-1", "model-2"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn whoever_chooses_a_chain_reads_only_what_comes_after_the_model_that_can_be_used() {
    let model = ModelServer::start(["By the first.", "By the second."].map(Answer::says)).await;
    let (setup, project) = (configured(&model, Wire::Responses, "test/model-1", ""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    // Nobody has a key of Anthropic's here.
    for (chain, chosen, after) in [
        ("test/model-1,test/model-2", "(test/model-1)", Some("; if it fails, test/model-2")),
        ("test/model-2", "(test/model-2)", None),
    ] {
        let prompt = format!("/model anthropic/claude-opus-5,{chain}\nWho is there?");
        let events = turn(&client, &session, &prompt, StopReason::EndTurn).await;
        let message = said_by_the_command(&events);
        assert!(message.contains(chosen), "{message}");
        assert_eq!(message.find("; if it fails").map(|at| &message[at..]), after);
    }
    assert_eq!(models(&model), ["model-1", "model-2"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_conversation_that_no_longer_fits_goes_on_with_a_larger_model_if_the_user_wants_that() {
    let says = Answer::says;
    let model = ModelServer::start([too_long(), says("It fits."), says("And goes on."), says("Alone.")]).await;
    let lines = "context_promotion = true\n";
    let setup = configured(&model, Wire::Anthropic, "test/model-1", lines);
    let text = std::fs::read_to_string(setup.config_file()).unwrap();
    let sized = |id: &str, context: u64| format!("[[providers.test.model]]\nid = \"{id}\"\ncontext = {context}\n");
    setup.configure(&format!("{text}{}{}", sized("model-1", 200_000), sized("model-2", 1_000_000)));
    let (project, elsewhere) = (project(), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let folders = json!({ "folders": [elsewhere.uri("")] });
    let session = client.call::<methods::SessionNew>(folders).await.session.session_id;
    let events = turn(&client, &session, "Read it all.", StopReason::EndTurn).await;
    assert_eq!(switches(&events), [("test/model-2", "test/model-1", SwitchReason::ContextFull)]);
    let events = turn(&client, &session, "And?", StopReason::EndTurn).await;
    assert_eq!(switches(&events), [], "it stays for the conversation");
    assert_eq!(models(&model), ["model-1", "model-2", "model-2"]);
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert_eq!(opened.session.model.as_deref(), Some("test/model-1"), "which keeps its own model");
    assert_eq!(client.finish().await, 0);

    // Its own model goes on if the larger one is ruled out in the meantime.
    elsewhere.write(".azimuth/config.toml", "enabled_models = [\"model-1\"]\n");
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    turn(&client, &session, "Still?", StopReason::EndTurn).await;
    assert_eq!(models(&model).last().map(String::as_str), Some("model-1"));
    assert_eq!(client.finish().await, 0);
}

/// A user with three models, each larger than the one before, who wants larger ones.
fn growing(model: &ModelServer, chain: &str) -> Setup {
    let setup = configured(model, Wire::Anthropic, chain, "context_promotion = true\n");
    let text = std::fs::read_to_string(setup.config_file()).unwrap();
    let text = text.replace("[\"model-1\", \"model-2\"]", "[\"model-1\", \"model-2\", \"model-3\"]");
    let sized = |n: u64| format!("[[providers.test.model]]\nid = \"model-{n}\"\ncontext = {}\n", 200_000 * n);
    setup.configure(&format!("{text}{}", [1, 2, 3].map(sized).concat()));
    setup
}

fn too_long() -> Answer {
    let body =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "prompt is too long" } });
    Answer::Refused { status: 400, headers: Vec::new(), body: body.to_string() }
}

#[tokio::test]
async fn a_larger_model_that_fails_makes_way_for_the_chain_and_one_that_rests_is_not_taken() {
    let limited = || Answer::refused(429).header("retry-after", "3600");
    let model =
        ModelServer::start([too_long(), limited(), Answer::says("By the third."), too_long(), too_long()]).await;
    let (setup, project) = (growing(&model, "test/model-1, test/model-3"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let events = turn(&client, &session, "Read it all.", StopReason::EndTurn).await;
    let (full, limit) = (SwitchReason::ContextFull, SwitchReason::RateLimited);
    let went_on = [("test/model-2", "test/model-1", full), ("test/model-3", "test/model-2", limit)];
    assert_eq!(switches(&events), went_on, "the larger one stands for the first of the chain");

    let other = client.new_session().await;
    let events = turn(&client, &other, "And this?", StopReason::Error).await;
    assert_eq!(switches(&events), [("test/model-3", "test/model-1", full)], "the second one rests");
    assert!(error(&events).contains("no longer fits"), "{events:?}");
    assert_eq!(models(&model), ["model-1", "model-2", "model-3", "model-1", "model-3"]);
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_chain_does_not_go_back_to_a_larger_model_that_failed_in_the_turn() {
    let model = ModelServer::start([Answer::refused(402), too_long()]).await;
    let (setup, project) = (growing(&model, "test/model-3, test/model-2"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let events = turn(&client, &session, "Read it all.", StopReason::Error).await;
    assert_eq!(switches(&events), [("test/model-2", "test/model-3", SwitchReason::QuotaUsedUp)]);
    assert_eq!(models(&model), ["model-3", "model-2"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn another_level_keeps_the_chain_and_a_chain_with_a_name_of_nothing_is_refused() {
    let (broke, says) = (|| Answer::refused(402), Answer::says);
    let model =
        ModelServer::start([says("One."), broke(), says("By the second."), broke(), says("By the second.")]).await;
    let setup = configured(&model, Wire::Responses, "test/model-1", "model_cooldown = 0");
    let text = std::fs::read_to_string(setup.config_file()).unwrap();
    setup.configure(&format!("{text}[[providers.test.model]]\nid = \"model-1\"\nthinking = \"effort\"\n"));
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "/model test/model-1,test/model-2\nHello.", StopReason::EndTurn).await;
    let went_on = [("test/model-2", "test/model-1", SwitchReason::QuotaUsedUp)];
    let events = turn(&client, &session, "/thinking low\nAnd now?", StopReason::EndTurn).await;
    assert_eq!(switches(&events), went_on);
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": "test/model-1:high" })).await;
    let events = turn(&client, &session, "And now?", StopReason::EndTurn).await;
    assert_eq!(switches(&events), went_on);

    let wrong = json!({ "sessionId": session, "model": "test/model-1, nobody/nothing" });
    let wrong = client.request("azimuth/model/select", wrong).await.unwrap_err();
    assert!(wrong.message.contains("`nobody/nothing`"), "{}", wrong.message);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_once_more_and_a_second_one_is_told() {
    let model =
        ModelServer::start([Answer::nothing(), Answer::says("Yes."), Answer::nothing(), Answer::nothing()]).await;
    let (setup, project) = (configured(&model, Wire::Anthropic, "test/model-1", ""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "Are you there?", StopReason::EndTurn).await;
    let asked = model.asked_times(2).await;
    assert!(asked.user_text().contains("Your answer was empty"), "{}", asked.user_text());
    let events = turn(&client, &session, "And now?", StopReason::Error).await;
    assert!(error(&events).contains("answered nothing, twice"), "{events:?}");
    assert_eq!(client.finish().await, 0);
}
