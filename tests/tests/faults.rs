//! Model vendors that fail, each in its own way: what may pass is tried again, what will not pass is said with what to
//! do, and the server goes on. For each vendor's format.

use futures_util::future::join_all;
use harness::model::Step;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::Event;
use protocol::turn::StopReason;
use serde_json::json;

/// The events of a turn in each format, if the model first answers so and then well.
async fn turns(first: Answer, reason: StopReason) -> Vec<Vec<Event>> {
    join_all(Wire::ALL.map(|wire| turn(wire, first.clone(), reason))).await
}

async fn turn(wire: Wire, first: Answer, reason: StopReason) -> Vec<Event> {
    let mut script = vec![first];
    if reason == StopReason::EndTurn {
        script.push(Answer::says("Here I am."));
    }
    let model = ModelServer::start(script).await;
    let setup = Setup::empty();
    // A model may be silent for a second.
    setup.configure(&format!("idle_timeout = 1\n{}", Setup::configuration(&model, wire)));
    let project = Project::new([("a.txt", "")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Are you there?").await;
    let events = client.until_end(&session, reason).await;
    client.request("azimuth/session/list", json!({})).await.unwrap();

    // The session is none the worse for it.
    model.then(Answer::says("And again."));
    client.prompt(&session, "Still?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);
    events
}

fn retries(events: &[Event]) -> Vec<&str> {
    let reasons =
        events.iter().map(|event| if let Event::Retrying { reason, .. } = event { Some(reason) } else { None });
    reasons.flatten().map(String::as_str).collect()
}

#[tokio::test]
async fn a_wrong_key_is_said_and_not_tried_again() {
    for events in turns(Answer::refused(401), StopReason::Error).await {
        assert!(retries(&events).is_empty(), "{events:?}");
        let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
        assert!(error.to_lowercase().contains("key"), "{error}");
        assert!(!error.contains(harness::server::KEY), "{error}");
    }
}

#[tokio::test]
async fn too_many_requests_are_tried_again_when_the_vendor_says() {
    for events in turns(Answer::refused(429).header("retry-after", "1"), StopReason::EndTurn).await {
        assert_eq!(retries(&events).len(), 1, "{events:?}");
        let delay = events.iter().find_map(|event| match event {
            Event::Retrying { delay_ms, .. } => Some(*delay_ms),
            _ => None,
        });
        assert!(delay.is_some_and(|delay| delay >= 1000), "{delay:?}");
    }
}

#[tokio::test]
async fn a_vendor_in_trouble_is_tried_again() {
    for events in turns(Answer::refused(500), StopReason::EndTurn).await {
        assert_eq!(retries(&events).len(), 1, "{events:?}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_inside_a_tool_call_is_asked_for_again() {
    let cut = Answer::nothing().text("I look.").cut_inside_call("read_file");
    for events in turns(cut, StopReason::EndTurn).await {
        assert_eq!(retries(&events).len(), 1, "{events:?}");
        assert!(!events.iter().any(|event| matches!(event, Event::ToolCallStarted { .. })), "{events:?}");
    }
}

#[tokio::test]
async fn an_answer_that_stalls_is_asked_for_again() {
    let stalled = Answer::nothing().text("Let me").step(Step::Stall);
    for events in turns(stalled, StopReason::EndTurn).await {
        assert_eq!(retries(&events).len(), 1, "{events:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_garbage_is_asked_for_again() {
    let garbage = Answer::nothing().step(Step::Raw("data: {\"this is\": not it\n\n".into()));
    for events in turns(garbage, StopReason::EndTurn).await {
        assert_eq!(retries(&events).len(), 1, "{events:?}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_ends_the_turn_and_says_so() {
    turns(Answer::says("and so on").too_long(), StopReason::MaxTokens).await;
}

#[tokio::test]
async fn nothing_is_sent_while_the_users_own_configuration_cannot_be_read() {
    let model = ModelServer::start([]).await;
    let setup = Setup::empty();
    setup.configure(&Setup::configuration(&model, Wire::Anthropic));
    let project = Project::new([("a.txt", "")]);
    // It may have been meant to send prompts elsewhere.
    let profile = Profile { options: json!({ "providers": "my own server" }), ..Profile::panel() };
    let client = Client::start(&setup, &project, profile).await;
    let session = client.new_session().await;
    client.prompt(&session, "Are you there?").await;
    let events = client.until_end(&session, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    assert!(error.contains("initializationOptions") && error.contains("providers"), "{error}");
    assert!(error.contains("nothing is sent to a model"), "{error}");
    assert!(model.asked().is_empty());
    let _: serde_json::Value = client.notification("window/showMessage").await;
    assert_eq!(client.finish().await, 0);
}
