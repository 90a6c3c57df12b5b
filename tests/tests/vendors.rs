//! Every vendor refuses something of its own; the model server refuses it in its stead (`harness::model`). Here are the
//! stories in which it shows: rounds of calls with thinking, a server that starts anew, another model in mid-session, a
//! context that is trimmed.

use harness::model::{Asked, MARK, Step};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

pub(crate) fn reads(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

/// An answer in which the model thinks, says something and calls a tool twice.
fn thinks_and_calls(thinking: &str) -> Answer {
    let ((tool, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
    Answer::nothing().thinking(thinking).thinking(" Both.").text("I look.").call(tool, a).call(tool, b)
}

pub(crate) fn project() -> Project {
    Project::new([("a.txt", "one\n"), ("b.txt", "two\n")])
}

/// A user with two models of a vendor.
fn two_models(model: &ModelServer, wire: Wire) -> Setup {
    let setup = Setup::empty();
    setup.configure(&Setup::configuration(model, wire).replace("[\"model-1\"]", "[\"model-1\", \"model-2\"]"));
    setup
}

async fn turn(client: &Client, session: &SessionId, prompt: &str) {
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await;
}

#[tokio::test]
async fn what_a_vendor_wants_back_is_sent_back_also_by_a_server_that_starts_anew() {
    for wire in Wire::VENDORS {
        let model = ModelServer::start([
            thinks_and_calls("What is there?"),
            thinks_and_calls("And now?"),
            Answer::says("That is all."),
        ])
        .await;
        let (setup, project) = (Setup::model(&model, wire), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Look.").await;
        assert_eq!(client.finish().await, 0);

        model.then(thinks_and_calls("Once more."));
        model.then(Answer::says("The same."));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        client.waive("azimuth/event");
        turn(&client, &session, "Look again.").await;
        assert_eq!(model.asked().len(), 5, "{wire:?}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn another_model_in_mid_session_gets_nothing_that_only_the_first_understands() {
    for wire in Wire::VENDORS {
        let model = ModelServer::start([
            thinks_and_calls("What is there?"),
            Answer::says("That is all."),
            thinks_and_calls("What did the other see?"),
            Answer::says("The same."),
            Answer::says("Back again."),
        ])
        .await;
        let (setup, project) = (two_models(&model, wire), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Look.").await;
        let select = |id: &str| client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": id }));
        select("test/model-2").await;
        turn(&client, &session, "Now you.").await;
        select("test/model-1").await;
        turn(&client, &session, "And the first once more.").await;
        let asked: Vec<_> = model.asked().iter().map(|asked| asked.model().to_owned()).collect();
        assert_eq!(asked, ["model-1", "model-1", "model-2", "model-2", "model-1"], "{wire:?}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_context_that_is_trimmed_keeps_what_the_vendors_want_back() {
    let long: String = (1..=200).map(|number| format!("line number {number}\n")).collect();
    let read = |from: u64| {
        let input = json!({ "path": "long.txt", "start_line": from, "end_line": from + 9 });
        Answer::nothing().thinking(&format!("From line {from}.")).call("read_file", input)
    };
    let too_long = r#"{"error":{"message":"maximum context length exceeded","code":"context_length_exceeded"}}"#;
    for wire in Wire::VENDORS {
        let mut script: Vec<_> = (0..6).map(|round| read(round * 10 + 1)).collect();
        script.push(Answer::Refused { status: 400, headers: Vec::new(), body: too_long.into() });
        script.push(Answer::says("Done."));
        let model = ModelServer::start(script).await;
        model.may_rewrite();
        let (setup, project) = (Setup::model(&model, wire), Project::new([("long.txt", long.as_str())]));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Read it.").await;
        let last = model.asked_times(8).await;
        assert!(last.body().to_string().contains("removed to make room"), "{wire:?}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_file_in_an_answers_text_beside_a_call_is_taken_by_every_vendor() {
    for wire in Wire::VENDORS {
        let (tool, input) = reads("a.txt");
        let file = format!("I write.\n<azimuth_file mark=\"{MARK}\" path=\"new.txt\">\nnew\n</azimuth_file>\n");
        let model = ModelServer::start([
            Answer::nothing().thinking("A file.").text(&file).call(tool, input),
            Answer::says("Done."),
        ])
        .await;
        let (setup, project) = (Setup::model(&model, wire), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Write.").await;
        assert_eq!(model.asked_times(2).await.last_results().len(), 2, "{wire:?}");
        assert_eq!(client.finish().await, 0);
    }
}

/// A turn against these answers: its events, and what the model was asked.
pub(crate) async fn one_turn(wire: Wire, script: Vec<Answer>, reason: StopReason) -> (Vec<Event>, Vec<Asked>) {
    let model = ModelServer::start(script).await;
    let (setup, project) = (Setup::model(&model, wire), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, reason).await;
    assert_eq!(client.finish().await, 0);
    (events, model.asked())
}

pub(crate) fn error_of(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::TurnEnded { error, .. }) => error.as_deref().unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

fn begun(events: &[Event]) -> Vec<&str> {
    let names = events.iter().filter_map(|event| match event {
        Event::ToolCallStarted { name, .. } => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

/// An event of a stream.
fn raw(event: &Value) -> Step {
    Step::Raw(format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("message")))
}

#[tokio::test]
async fn a_call_that_the_server_cannot_read_is_told_to_the_model_and_does_not_end_the_turn() {
    let failed = json!({ "error": { "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' \
        for more details.", "type": "invalid_request_error", "code": "tool_use_failed",
        "failed_generation": "<function=read_file{\"path\": the context window, a.txt}</function>", "status_code": 400 } });
    let refused = Answer::Refused { status: 400, headers: Vec::new(), body: failed.to_string() };
    for failing in [refused, Answer::nothing().text("I look.").step(raw(&failed))] {
        let (tool, input) = reads("a.txt");
        let script = vec![failing.clone(), Answer::calls(tool, input), Answer::says("There.")];
        let (_, asked) = one_turn(Wire::Groq, script, StopReason::EndTurn).await;
        let told = asked[1].user_text();
        assert!(told.contains("could not be read") && told.contains("<function=read_file"), "{told}");

        let (events, asked) = one_turn(Wire::Groq, vec![failing; 4], StopReason::Error).await;
        assert_eq!(asked.len(), 4, "it is not told for ever");
        assert!(error_of(&events).contains("Failed to call a function"), "{}", error_of(&events));
    }
}

#[tokio::test]
async fn a_number_in_an_error_within_a_stream_decides_whether_to_ask_again() {
    let error = |wire, code: u16| match wire {
        Wire::Anthropic => json!({ "type": "error", "error": { "code": code, "message": "so it is" } }),
        Wire::Responses => json!({ "type": "error", "code": code, "message": "so it is" }),
        _ => json!({ "error": { "code": code, "message": "so it is" } }),
    };
    for wire in Wire::ALL {
        for code in [400, 402, 403] {
            let answer = Answer::nothing().text("Well").step(raw(&error(wire, code)));
            let (events, asked) = one_turn(wire, vec![answer], StopReason::Error).await;
            assert_eq!(asked.len(), 1, "{wire:?} {code}");
            assert!(error_of(&events).contains("so it is"), "{wire:?} {code}");
        }
        for code in [429, 500, 529] {
            let answer = Answer::nothing().text("Well").step(raw(&error(wire, code)));
            let (_, asked) = one_turn(wire, vec![answer, Answer::says("Done.")], StopReason::EndTurn).await;
            assert_eq!(asked.len(), 2, "{wire:?} {code}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_spliced_into_another_is_an_error_and_its_call_is_not_made() {
    let message = json!({ "type": "message_start", "message": { "id": "msg_2", "usage": { "input_tokens": 1 } } });
    let call = json!({ "type": "content_block_start", "index": 0,
        "content_block": { "type": "tool_use", "id": "call_spliced", "name": "read_file", "input": { "path": "a.txt" } } });
    let spliced = Answer::nothing().text("I look.").step(raw(&message)).step(raw(&call));
    let (events, _) = one_turn(Wire::Anthropic, vec![spliced, Answer::says("Done.")], StopReason::EndTurn).await;
    assert_eq!(begun(&events), [""; 0]);

    let created = json!({ "type": "response.created", "response": { "id": "resp_2", "status": "in_progress" } });
    let item = json!({ "type": "function_call", "id": "fc_2", "call_id": "call_spliced", "name": "read_file",
        "arguments": "{\"path\":\"a.txt\"}", "status": "completed" });
    let done = json!({ "type": "response.output_item.done", "output_index": 7, "item": item });
    let spliced = Answer::nothing().text("I look.").step(raw(&created)).step(raw(&done));
    let (events, _) = one_turn(Wire::Responses, vec![spliced, Answer::says("Done.")], StopReason::EndTurn).await;
    assert_eq!(begun(&events), [""; 0]);
}

#[tokio::test]
async fn why_the_model_would_not_answer_is_said_and_so_is_an_answer_that_is_too_long() {
    let details = json!({ "type": "refusal", "category": "cyber", "explanation": "This may help an attack." });
    let delta = json!({ "type": "message_delta", "delta": { "stop_reason": "refusal", "stop_details": details },
        "usage": { "output_tokens": 1 } });
    let refused = Answer::nothing().step(raw(&delta)).step(raw(&json!({ "type": "message_stop" })));
    let (events, _) = one_turn(Wire::Anthropic, vec![refused], StopReason::Refusal).await;
    let error = error_of(&events);
    assert!(
        error.contains("This may help an attack") && error.contains("cyber") && error.contains("/model"),
        "{error}"
    );

    for wire in Wire::ALL {
        let (events, _) = one_turn(wire, vec![Answer::says("and so on").too_long()], StopReason::MaxTokens).await;
        let error = error_of(&events);
        assert!(error.contains("16384 tokens") && error.contains("go on"), "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn a_call_whose_input_is_no_json_shows_which_tool_it_was_for() {
    for wire in Wire::ALL {
        let half = Step::HalfCall { id: "call_half".into(), name: "read_file".into(), input: "{\"path\": a".into() };
        let script = vec![Answer::nothing().step(half), Answer::says("I see.")];
        let (events, asked) = one_turn(wire, script, StopReason::EndTurn).await;
        assert_eq!(begun(&events), ["read_file"], "{wire:?}");
        assert!(asked[1].last_results().concat().contains("not a JSON object"), "{wire:?}");
    }
}

#[tokio::test]
async fn an_image_goes_to_no_model_that_cannot_see_and_the_user_is_told() {
    for wire in Wire::ALL {
        let model = ModelServer::start([Answer::says("I see nothing."), Answer::says("Still nothing.")]).await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, wire).replace("model-1", "deepseek-v4-pro"));
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let prompt = json!([{ "type": "text", "text": "What is this?" },
            { "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" }]);
        client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
        let events = client.until_end(&session, StopReason::EndTurn).await;
        let said = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("cannot see images"));
        assert_eq!(events.iter().filter(|event| said(event)).count(), 1, "{wire:?}: {events:?}");
        turn(&client, &session, "Look closer.").await;
        for asked in model.asked() {
            let body = asked.body().to_string();
            assert!(!body.contains("aGVsbG8=") && body.contains("What is this?"), "{wire:?}: {body}");
            assert!(asked.user_text().contains("cannot see"), "{wire:?}: the model knows of it");
        }
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn every_way_of_thinking_an_image_and_a_failed_call_are_sent_as_the_vendors_take_them() {
    let models = [
        (Wire::Anthropic, "claude-sonnet-5-5"),
        (Wire::Anthropic, "claude-opus-4-8-thinking"),
        (Wire::Anthropic, "claude-haiku-4-5-thinking"),
        (Wire::Responses, "gpt-6.1-sol"),
        (Wire::Chat, "gpt-6.1-sol"),
        (Wire::Gemini, "gemini-4-argon"),
        (Wire::Gemini, "gemini-2.5-pro"),
        (Wire::Gemini, "gemini-2.5-flash"),
        (Wire::Gemini, "gemini-2.5-flash-thinking"),
        (Wire::Converse, "us.anthropic.claude-opus-4-8"),
        (Wire::Converse, "us.amazon.nova-pro-v1:0"),
        (Wire::Converse, "mistral.mistral-large-3-675b-instruct"),
        // It is asked without a stream.
        (Wire::Converse, "us.meta.llama4-scout-17b-instruct-v1:0"),
    ];
    for (wire, name) in models {
        let (tool, input) = reads("missing.txt");
        let failing = Answer::nothing().thinking("Is it there?").call(tool, input);
        let model = ModelServer::start([failing, Answer::says("It is not.")]).await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, wire).replace("model-1", name));
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        let prompt = json!([{ "type": "text", "text": "What is this?" },
            { "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" }]);
        client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
        client.until_end(&session, StopReason::EndTurn).await;
        assert!(model.asked_times(2).await.body().to_string().contains("aGVsbG8="), "{name}");
        assert_eq!(client.finish().await, 0);
    }
}
