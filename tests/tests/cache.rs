//! The vendor's cache: Anthropic's newest models take another level of thinking without losing it, and its own server
//! says why it missed: what changed since the request before.

use harness::model::Asked;
use harness::{Answer, Client, ModelServer, Profile, Setup, Wire};
use protocol::SessionId;
use protocol::costs::Round;
use protocol::methods;
use protocol::turn::StopReason;
use serde_json::{Value, json};

use crate::vendors::project;

const MODEL: &str = "test/claude-opus-5-5";

/// A user with two models of Anthropic's, at a server with these flags.
fn anthropic(model: &ModelServer, flags: &str) -> Setup {
    let setup = Setup::empty();
    setup.configure(&configuration(model, flags));
    setup
}

fn configuration(model: &ModelServer, flags: &str) -> String {
    let configuration = Setup::configuration(model, Wire::Anthropic).replace("test/model-1", MODEL);
    let models = configuration.replace("[\"model-1\"]", "[\"claude-opus-5-5\", \"claude-sonnet-5-5\"]");
    format!("{models}compat = {{ {flags} }}\n")
}

async fn turn(client: &Client, session: &SessionId, prompt: &str, end: StopReason) {
    client.prompt(session, prompt).await;
    client.until_end(session, end).await;
}

async fn select(client: &Client, session: &SessionId, model: &str) {
    client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": model })).await;
}

/// A client of a server that starts anew, with the session opened.
async fn again(setup: &Setup, project: &harness::Project, session: &SessionId) -> Client {
    let client = Client::start(setup, project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    client.waive("azimuth/event");
    client
}

/// The last requests as the panels show them, the first first.
async fn rounds(client: &Client, session: &SessionId) -> Vec<Round> {
    let costs = client.call::<methods::CostsShow>(json!({ "sessionId": session })).await;
    let mut rounds = costs.session.unwrap().rounds;
    rounds.reverse();
    rounds
}

/// The effort at the head of a request, and the messages by the first letter of their role. A change of the effort
/// stands there as its name.
fn efforts(asked: &Asked) -> (String, String, String) {
    let body = asked.body();
    let said = |message: &Value| match message["output_config"]["effort"].as_str() {
        Some(effort) => effort.to_owned(),
        None => message["role"].as_str().unwrap()[..1].to_owned(),
    };
    let said: Vec<_> = body["messages"].as_array().unwrap().iter().map(said).collect();
    let head = body["output_config"]["effort"].as_str().unwrap_or("none").to_owned();
    (asked.model().to_owned(), head, said.join(" "))
}

#[tokio::test]
async fn a_level_changes_within_the_conversation_and_all_that_was_sent_stays() {
    let look = |thought: &str| Answer::nothing().thinking(thought).call("read_file", json!({ "path": "a.txt" }));
    let said = |text: &str| Answer::nothing().thinking("So.").text(text);
    let model = ModelServer::start([
        look("What is there?"),
        said("One."),
        look("And now?"),
        said("Two."),
        Answer::refused(400),
    ])
    .await;
    let (setup, project) = (anthropic(&model, "effort_messages = true"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    select(&client, &session, "test/claude-opus-5-5:high").await;
    turn(&client, &session, "Look.", StopReason::EndTurn).await;
    turn(&client, &session, "/thinking low\nLook again.", StopReason::EndTurn).await;
    // Nothing comes of this turn, but it was asked.
    turn(&client, &session, "/thinking max\nNow think.", StopReason::Error).await;
    assert_eq!(client.finish().await, 0);

    for text in ["Three.", "Four.", "Five."] {
        model.then(said(text));
    }
    let client = again(&setup, &project, &session).await;
    turn(&client, &session, "/thinking default\nGo on.", StopReason::EndTurn).await;
    select(&client, &session, "test/claude-sonnet-5-5:low").await;
    turn(&client, &session, "And you?", StopReason::EndTurn).await;
    select(&client, &session, "test/claude-opus-5-5:high").await;
    turn(&client, &session, "Back.", StopReason::EndTurn).await;

    let (opus, sonnet) = ("claude-opus-5-5", "claude-sonnet-5-5");
    let expected = [
        (opus, "high", "u"),
        (opus, "high", "u a u"),
        (opus, "high", "u a u a low u"),
        (opus, "high", "u a u a low u a u"),
        (opus, "high", "u a u a low u a u a max u"),
        (opus, "high", "u a u a low u a u a max u medium u"),
        // The other model begins with its own level. What two prompts in a row say is one message to it.
        (sonnet, "low", "u a u a u a u a u a u"),
        (opus, "high", "u a u a low u a u a max u medium u a u a high u"),
    ];
    let asked: Vec<_> = model.asked().iter().map(efforts).collect();
    assert_eq!(asked, expected.map(|(model, head, said)| (model.to_owned(), head.to_owned(), said.to_owned())));
    let thoughts = |asked: &Asked| asked.body()["messages"].to_string().matches("\"type\":\"thinking\"").count();
    assert_eq!(model.asked().last().map(thoughts), Some(5), "no thought of its own is lost");
    let reasons: Vec<_> =
        rounds(&client, &session).await.into_iter().filter_map(|round| round.missed_because).collect();
    assert!(!reasons.iter().any(|reason| reason.contains("level")), "{reasons:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_server_that_is_not_said_to_take_it_is_told_another_level_at_the_head() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    let (setup, project) = (anthropic(&model, "betas = true"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    select(&client, &session, "test/claude-opus-5-5:high").await;
    turn(&client, &session, "One.", StopReason::EndTurn).await;
    turn(&client, &session, "/thinking low\nTwo.", StopReason::EndTurn).await;
    let asked: Vec<_> = model.asked().iter().map(|asked| (efforts(asked).1, efforts(asked).2)).collect();
    assert_eq!(asked, [("high", "u"), ("low", "u a u")].map(|(head, said)| (head.to_owned(), said.to_owned())));
    let missed = rounds(&client, &session).await.pop().unwrap().missed_because;
    assert_eq!(missed.as_deref(), Some("the thinking level changed from high to low"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_inputs_of_tools_come_while_they_are_written_where_the_server_can_do_that() {
    for (flags, is_eager) in [("eager_input_streaming = true", Some(true)), ("betas = false", None)] {
        let model = ModelServer::start([Answer::says("One.")]).await;
        let (setup, project) = (anthropic(&model, flags), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "One.", StopReason::EndTurn).await;
        let asked = model.asked().pop().unwrap();
        let tools = asked.body()["tools"].as_array().unwrap();
        let said = |tool: &Value| tool.get("eager_input_streaming").and_then(Value::as_bool);
        assert!(!tools.is_empty() && tools.iter().all(|tool| said(tool) == is_eager), "{tools:?}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn the_vendor_says_why_its_cache_missed_also_after_a_restart() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    let (setup, project) = (anthropic(&model, "cache_diagnosis = true"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "One.", StopReason::EndTurn).await;
    turn(&client, &session, "Two.", StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);

    model.then(Answer::says("Three."));
    let client = again(&setup, &project, &session).await;
    turn(&client, &session, "/mode plan\nThree.", StopReason::EndTurn).await;
    let named = |asked: &Asked| asked.body()["diagnostics"].clone();
    let named: Vec<_> = model.asked().iter().map(named).collect();
    let before = |name: Value| json!({ "previous_message_id": name });
    assert_eq!(named, [before(Value::Null), before(json!("msg_1")), before(json!("msg_2"))]);
    let reasons: Vec<_> = rounds(&client, &session).await.into_iter().map(|round| round.missed_because).collect();
    let (begin, end) = (
        "the vendor says that the system prompt changed, which cost about ",
        " tokens of it: the mode changed from agent to plan, and with it the system prompt and the tools",
    );
    let reason = reasons[2].as_deref().unwrap();
    let tokens = reason.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
    assert!(tokens.is_some_and(|tokens| tokens.parse::<u64>().is_ok_and(|tokens| tokens > 0)), "{reasons:?}");
    let own = "the last request was shorter than 1024 tokens, which vendors do not keep";
    assert_eq!(reasons[1].as_deref(), Some(own), "the vendor finds that nothing has changed");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_users_conversations_are_kept_for_an_hour_and_paid_for_so() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two."), Answer::says("Three.")]).await;
    let (setup, project) = (anthropic(&model, "cache_hour = true"), project());
    let usual = configuration(&model, "cache_hour = true");
    setup.configure(&format!("cache_hour = true\n{usual}"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "One.", StopReason::EndTurn).await;
    turn(&client, &session, "Two.", StopReason::EndTurn).await;
    assert_eq!(client.finish().await, 0);

    setup.configure(&usual);
    let client = again(&setup, &project, &session).await;
    turn(&client, &session, "Three.", StopReason::EndTurn).await;
    let marks = |asked: &Asked| {
        let body = asked.body().to_string();
        [r#""ephemeral","ttl":"1h""#, r#"{"type":"ephemeral"}"#].map(|mark| body.matches(mark).count())
    };
    let marks: Vec<_> = model.asked().iter().map(marks).collect();
    assert_eq!(marks, [[3, 0], [4, 0], [0, 4]]);
    let rounds = rounds(&client, &session).await;
    let written: Vec<_> = rounds.iter().map(|round| (round.usage.cache_write, round.usage.cache_write_hour)).collect();
    assert_eq!(written, [(30, 30), (30, 30), (0, 0)]);
    // $4 for a million tokens of input, $20 of output, $0.20 read, and $8 stored for an hour.
    let paid = (50.0 * 4.0 + 10.0 * 20.0 + 20.0 * 0.2 + 30.0 * 8.0) / 1e6;
    assert!(rounds[0].cost.is_some_and(|cost| (cost - paid).abs() < 1e-12), "{:?}", rounds[0].cost);
    assert_eq!(client.finish().await, 0);
}
