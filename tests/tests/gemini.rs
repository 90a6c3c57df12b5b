//! Gemini's native format in whole sessions: steps with one call and with several, images, an interruption, models
//! that give their calls no ids, answers that are none, and the change from every other format and back. The model
//! server refuses what Google refuses (`harness::model`).

use harness::model::{NO_IDS, Step};
use harness::{Answer, Client, Gate, ModelServer, Profile, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

use crate::vendors::{error_of, one_turn, project, reads};

const SKIPPED: &str = "skip_thought_signature_validator";

fn looks(thinking: &str, paths: &[&str]) -> Answer {
    let answer = Answer::nothing().thinking(thinking).text("I look.");
    paths.iter().fold(answer, |answer, path| {
        let (tool, input) = reads(path);
        answer.call(tool, input)
    })
}

async fn turn(client: &Client, session: &SessionId, prompt: &str) -> Vec<Event> {
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await
}

/// The parts that the model said, of each content.
fn of_model(body: &Value) -> Vec<Vec<Value>> {
    let contents = body["contents"].as_array().unwrap().iter().filter(|content| content["role"] == "model");
    contents.map(|content| content["parts"].as_array().unwrap().clone()).collect()
}

/// For each call of a step, true if it is signed.
fn signed(parts: &[Value]) -> Vec<bool> {
    let calls = parts.iter().filter(|part| part.get("functionCall").is_some());
    calls.map(|part| part.get("thoughtSignature").is_some()).collect()
}

#[tokio::test]
async fn a_session_of_steps_images_and_an_interruption_is_one_that_google_takes() {
    for name in ["gemini-4-argon".to_owned(), format!("gemini-3.8-flash{NO_IDS}")] {
        let gate = Gate::default();
        let model = ModelServer::start([
            looks("Both.", &["a.txt", "b.txt"]),
            looks("Once more.", &["a.txt"]),
            Answer::nothing().text("One ").text("and two."),
            Answer::says("A cat."),
            Answer::nothing().text("I will ").call("list_files", json!({})).wait(&gate),
            Answer::says("Here I am."),
        ])
        .await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, Wire::Gemini).replace("model-1", &name));
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let events = turn(&client, &session, "What is in them?").await;
        assert!(events.iter().any(|event| matches!(event, Event::ThinkingDelta { .. })), "{name}");

        let prompt = json!([{ "type": "text", "text": "What is this?" },
            { "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" }]);
        client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
        client.until_end(&session, StopReason::EndTurn).await;

        client.prompt(&session, "Go on.").await;
        let is_said = |event: &Event| matches!(event, Event::MessageDelta { text, .. } if text.contains("I will"));
        client.until(&session, "a word", is_said).await;
        client.call::<methods::TurnCancel>(json!({ "sessionId": session })).await;
        client.until_end(&session, StopReason::Cancelled).await;
        turn(&client, &session, "Are you there?").await;

        let last = model.asked_times(6).await;
        let (body, said) = (last.body(), of_model(last.body()));
        assert_eq!(signed(&said[0]), [true, false], "{name}: {said:?}");
        assert_eq!(signed(&said[1]), [true], "{name}: {said:?}");
        assert!(!body.to_string().contains(SKIPPED), "{name}: each signature is the model's own");
        let has_ids = body.to_string().contains("\"id\":");
        assert_eq!(has_ids, !name.ends_with(NO_IDS), "{name}: an id goes back if one came");
        let [text, end] = said[2].as_slice() else { panic!("{said:?}") };
        assert_eq!((&text["text"], text.get("thoughtSignature")), (&json!("One and two."), None), "{name}");
        assert_eq!(end["text"], "", "{name}: the signature has its own part");
        assert!(end["thoughtSignature"].is_string(), "{name}");
        assert!(body.to_string().contains(r#"{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}}"#), "{name}");
        assert_eq!(said[4][0]["text"], "I will ", "{name}: what was said before the interruption stays");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_session_changes_from_every_format_to_gemini_and_back() {
    for other in Wire::VENDORS.into_iter().filter(|wire| *wire != Wire::Gemini) {
        let model = ModelServer::start([
            looks("What is there?", &["a.txt", "b.txt"]),
            Answer::says("That is all."),
            looks("What did the other see?", &["b.txt", "a.txt"]),
            Answer::says("The same."),
            looks("And I?", &["a.txt"]),
            Answer::says("I too."),
            looks("Back again.", &["b.txt"]),
            Answer::says("Still the same."),
        ])
        .await;
        let setup = Setup::empty();
        let google = format!(
            "[providers.google]\nbase_url = \"{}\"\nkey = \"{}\"\nwire = \"gemini\"\nmodels = [\"gemini-3.8-flash\"]\n",
            model.url(Wire::Gemini),
            harness::server::KEY
        );
        setup.configure(&(Setup::configuration(&model, other) + &google));
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let select = |id: &str| client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": id }));
        turn(&client, &session, "Look.").await;
        select("google/gemini-3.8-flash").await;
        turn(&client, &session, "Now you.").await;
        select("test/model-1").await;
        turn(&client, &session, "And the first once more.").await;
        select("google/gemini-3.8-flash").await;
        turn(&client, &session, "And you.").await;

        let asked = model.asked();
        let models: Vec<_> = asked.iter().map(|asked| asked.model()).collect();
        let (first, gemini) = (["model-1"; 2], ["gemini-3.8-flash"; 2]);
        assert_eq!(models, [first, gemini, first, gemini].concat(), "{other:?}");
        let said = of_model(asked[7].body());
        let calls: Vec<_> = said.iter().map(|parts| signed(parts)).filter(|calls| !calls.is_empty()).collect();
        assert_eq!(calls, [vec![true, false], vec![true, false], vec![true], vec![true]], "{other:?}: {said:?}");
        let body = asked[7].body().to_string();
        assert_eq!(body.matches(SKIPPED).count(), 2, "{other:?}: one for each step of the other model");
        assert!(!body.contains("What is there?") && body.contains("What did the other see?"), "{other:?}: {body}");
        assert!(!asked[5].body().to_string().contains("thoughtSignature"), "{other:?}");
        assert_eq!(client.finish().await, 0);
    }
}

/// The event with which an answer ends for another reason than that it is whole.
fn ends(reason: &str, message: &str) -> Step {
    let candidate = json!({ "finishReason": reason, "finishMessage": message, "index": 0 });
    Step::Raw(format!("data: {}\r\n\r\n", json!({ "candidates": [candidate] })))
}

#[tokio::test]
async fn a_call_that_google_could_not_read_is_told_to_the_model() {
    let message = "Malformed function call: print(default_api.read_file(path='a.txt'))";
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        let failed = Answer::nothing().step(ends(reason, message));
        let (tool, input) = reads("a.txt");
        let script = vec![failed, Answer::calls(tool, input), Answer::says("There.")];
        let (_, asked) = one_turn(Wire::Gemini, script, StopReason::EndTurn).await;
        let told = asked[1].user_text();
        assert!(told.contains("could not be read") && told.contains("default_api.read_file"), "{told}");
    }
}

#[tokio::test]
async fn an_answer_that_is_none_is_asked_for_once_more_and_then_said() {
    let (empty, malformed) = (Answer::nothing(), Answer::nothing().step(ends("MALFORMED_RESPONSE", "")));
    for failed in [empty, malformed] {
        let (events, _) =
            one_turn(Wire::Gemini, vec![failed.clone(), Answer::says("Done.")], StopReason::EndTurn).await;
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Retrying { .. })).count(), 1, "{events:?}");
        let (events, _) = one_turn(Wire::Gemini, vec![failed.clone(), failed], StopReason::Error).await;
        assert!(error_of(&events).contains("cannot be used"), "{}", error_of(&events));
    }
}

#[tokio::test]
async fn a_session_goes_on_when_its_signatures_are_not_known_any_more() {
    let body =
        json!({ "error": { "code": 400, "message": "Corrupted thought signature.", "status": "INVALID_ARGUMENT" } });
    let refused = Answer::Refused { status: 400, headers: Vec::new(), body: body.to_string() };
    let model = ModelServer::start([
        looks("Both.", &["a.txt", "b.txt"]),
        Answer::says("One and two."),
        refused,
        Answer::says("Here I am."),
    ])
    .await;
    model.may_rewrite();
    let (setup, project) = (Setup::model(&model, Wire::Gemini), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "Look.").await;
    model.forgets_thoughts();
    let events = turn(&client, &session, "Are you there?").await;
    assert_eq!(model.refusals().len(), 1, "the signature that stands for none was tried before");
    let why = events.iter().find_map(|event| match event {
        Event::Retrying { reason, .. } => Some(reason.as_str()),
        _ => None,
    });
    assert!(why.is_some_and(|why| why.contains("does not know the signatures")), "{why:?}");
    let last = model.asked_times(4).await.body().to_string();
    assert!(!last.contains("thoughtSignature") && !last.contains("functionCall\""), "{last}");
    assert!(last.contains("I called `read_file`"), "the calls are told in words: {last}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn signatures_that_are_not_known_any_more_cost_one_more_request_and_no_call() {
    for wire in [Wire::Gemini, Wire::GeminiChat] {
        let model = ModelServer::start([
            looks("Both.", &["a.txt", "b.txt"]),
            Answer::says("One and two."),
            looks("Once more.", &["a.txt"]),
            Answer::says("Here I am."),
        ])
        .await;
        model.may_rewrite();
        let (setup, project) = (Setup::model(&model, wire), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Look.").await;
        model.forgets_thoughts();
        let events = turn(&client, &session, "Are you there?").await;
        assert!(!events.iter().any(|event| matches!(event, Event::Retrying { .. })), "{wire:?}: {events:?}");
        // The second request of the turn knows which signatures are of no use, and has the new one.
        assert_eq!(model.refusals(), ["Corrupted thought signature."], "{wire:?}");
        let last = model.asked_times(4).await.body().to_string();
        assert_eq!(last.matches(SKIPPED).count(), 1, "{wire:?}: {last}");
        let calls = if wire == Wire::Gemini { "\"functionCall\"" } else { "\"tool_call_id\"" };
        assert_eq!(last.matches(calls).count(), 3, "{wire:?}: {last}");
        assert_eq!(last.matches("c2ln/").count(), 1, "{wire:?}: {last}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_filter_of_googles_is_named_in_plain_words() {
    let stopped = Answer::nothing().text("Well,").step(ends("RECITATION", ""));
    let blocked = json!({ "promptFeedback": { "blockReason": "SAFETY" } });
    let blocked = Answer::nothing().step(Step::Raw(format!("data: {blocked}\r\n\r\n")));
    for (answer, words) in [(stopped, "a text that Google may not repeat"), (blocked, "the request was blocked")] {
        let (events, _) = one_turn(Wire::Gemini, vec![answer], StopReason::Refusal).await;
        assert!(error_of(&events).contains(words), "{}", error_of(&events));
    }
}
