//! How long a model thinks: a level that the user chooses, which reaches each vendor in its own words, stays with the
//! model, and does not count where somebody waits for a few words.

use harness::model::Asked;
use harness::{Answer, Client, ModelServer, Profile, Setup, Wire};
use protocol::model::ThinkingLevel;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

use crate::vendors::project;

/// A user whose model thinks in this way.
fn thinking(model: &ModelServer, wire: Wire, way: &str) -> Setup {
    thinking_with(model, wire, way, "")
}

/// The same, with a further line of the configuration.
fn thinking_with(model: &ModelServer, wire: Wire, way: &str, line: &str) -> Setup {
    let setup = Setup::empty();
    let compat = if matches!(wire, Wire::Chat) { "compat = { thinking = \"reasoning_effort\" }\n" } else { "" };
    let described = format!("[[providers.test.model]]\nid = \"model-1\"\nthinking = \"{way}\"\n");
    setup.configure(&format!("{line}\n{}{compat}{described}", Setup::configuration(model, wire)));
    setup
}

/// The parts of a request that speak of thinking.
fn asked(asked: &Asked) -> Value {
    let body = asked.body();
    let parts = [
        ("thinking", &body["thinking"]["type"]),
        ("budget", &body["thinking"]["budget_tokens"]),
        ("effort", &body["output_config"]["effort"]),
        ("reasoning", &body["reasoning"]["effort"]),
        ("reasoning_effort", &body["reasoning_effort"]),
        ("level", &body["generationConfig"]["thinkingConfig"]["thinkingLevel"]),
    ];
    parts
        .into_iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

async fn turn(client: &Client, session: &SessionId, prompt: &str) -> Vec<Event> {
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await
}

#[tokio::test]
async fn a_level_reaches_each_vendor_in_its_own_words_and_in_mid_session_nothing_is_refused() {
    for (wire, way, high, low, by_itself) in [
        (
            Wire::Anthropic,
            "budget",
            json!({ "thinking": "enabled", "budget": 15_360 }),
            json!({ "thinking": "enabled", "budget": 2_048 }),
            json!({}),
        ),
        (
            Wire::Anthropic,
            "adaptive",
            json!({ "thinking": "adaptive", "effort": "high" }),
            json!({ "thinking": "adaptive", "effort": "low" }),
            json!({}),
        ),
        (Wire::Responses, "effort", json!({ "reasoning": "high" }), json!({ "reasoning": "low" }), json!({})),
        (Wire::Chat, "effort", json!({ "reasoning_effort": "high" }), json!({ "reasoning_effort": "low" }), json!({})),
        (Wire::Gemini, "level", json!({ "level": "HIGH" }), json!({ "level": "LOW" }), json!({})),
    ] {
        let look = || Answer::nothing().thinking("What is there?").call("read_file", json!({ "path": "a.txt" }));
        // Google signs what is said, and knows if a signature comes twice.
        let said = |text| Answer::nothing().thinking("So.").text(text);
        let model = ModelServer::start([look(), said("One."), look(), said("Two."), said("Three.")]).await;
        let (setup, project) = (thinking(&model, wire, way), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let selected = json!({ "sessionId": session, "model": "model-1:high" });
        let selected = client.call::<methods::ModelSelect>(selected).await.model;
        assert_eq!((selected.id.as_str(), selected.level), ("test/model-1", Some(ThinkingLevel::High)), "{wire:?}");
        turn(&client, &session, "Look.").await;
        let events = turn(&client, &session, "/thinking low\nLook again.").await;
        let changed = |event: &Event| matches!(event, Event::ModelChanged { model, thinking: Some(ThinkingLevel::Low), .. } if model == "test/model-1");
        assert!(events.iter().any(changed), "{events:?}");
        turn(&client, &session, "/thinking default\nOnce more.").await;
        let requests: Vec<_> = model.asked().iter().map(asked).collect();
        assert_eq!(requests, [high.clone(), high, low.clone(), low, by_itself], "{wire:?} {way}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_level_is_remembered_for_its_model_and_one_that_it_has_not_is_refused() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    let (setup, project) = (thinking(&model, Wire::Responses, "effort"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let listed = client.call::<methods::ModelList>(json!({})).await.models;
    assert_eq!(listed[0].levels, [ThinkingLevel::Low, ThinkingLevel::Medium, ThinkingLevel::High]);
    let refused = json!({ "sessionId": session, "model": "model-1:max" });
    let refused = client.request("azimuth/model/select", refused).await.unwrap_err();
    assert!(refused.message.contains("`max`; it has low, medium, high"), "{}", refused.message);
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": "test/model-1:medium" })).await;
    turn(&client, &session, "Hello.").await;
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let prompt = json!([{ "type": "text", "text": "/thinking" }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    let told = |event: &Event| matches!(event, Event::CommandExecuted { message, .. } if message.contains("at the level medium; it has low, medium, high, and default"));
    client.until(&session, "the level", told).await;
    turn(&client, &session, "Hello again.").await;
    let requests: Vec<_> = model.asked().iter().map(asked).collect();
    assert_eq!(requests, [json!({ "reasoning": "medium" }), json!({ "reasoning": "medium" })]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_title_and_a_change_of_a_selection_wait_for_no_long_thoughts() {
    let model = ModelServer::responding(|asked| match asked.system().contains("You name conversations") {
        true => Answer::says("Greetings"),
        false => Answer::says("Done."),
    })
    .await;
    let setup = thinking_with(&model, Wire::Responses, "effort", "title_model = \"test/model-1\"");
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    // A level that was chosen for chats is none for these.
    client.call::<methods::ModelSelect>(json!({ "model": "test/model-1:high" })).await;
    let listed = client.call::<methods::ModelList>(json!({})).await.models;
    assert_eq!(listed[0].level, Some(ThinkingLevel::High));
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    client.until(&session, "the title", |event| *event == Event::TitleChanged { title: "Greetings".into() }).await;
    let uri = project.uri("a.txt");
    client.open(&uri);
    let start = json!({ "line": 0, "character": 0 });
    let selection = json!({ "start": start, "end": { "line": 1, "character": 0 } });
    let instruction = json!({ "textDocument": { "uri": uri }, "selections": [selection], "instruction": "shout" });
    let instructed = client.call::<methods::InlineInstruct>(instruction).await.session_id;
    client.until_end(&instructed, StopReason::EndTurn).await;
    let requests = model.asked();
    let is_title = |asked: &Asked| asked.system().contains("You name conversations");
    let of_title = requests.iter().find(|asked| is_title(asked)).map(asked);
    let of_selection = requests.last().map(asked);
    assert_eq!((of_title, of_selection), (Some(json!({ "reasoning": "low" })), Some(json!({ "reasoning": "low" }))));
    let of_turn = requests.iter().find(|asked| asked.user_text().contains("Hello.") && !is_title(asked)).map(asked);
    assert_eq!(of_turn, Some(json!({ "reasoning": "high" })));
    let summaries = requests.iter().filter(|asked| !asked.body()["reasoning"]["summary"].is_null()).count();
    assert_eq!(summaries, 1, "nobody reads the thoughts before a title, and some may not ask for them");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}
