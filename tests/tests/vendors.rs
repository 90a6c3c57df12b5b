//! Every vendor refuses something of its own; the model server refuses it in its stead (`harness::model`). Here are the
//! stories in which it shows: rounds of calls with thinking, a server that starts anew, another model in mid-session, a
//! context that is trimmed.

use harness::model::MARK;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{SessionId, methods};
use serde_json::{Value, json};

fn reads(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

/// An answer in which the model thinks, says something and calls a tool twice.
fn thinks_and_calls(thinking: &str) -> Answer {
    let ((tool, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
    Answer::nothing().thinking(thinking).thinking(" Both.").text("I look.").call(tool, a).call(tool, b)
}

fn project() -> Project {
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
        let asked: Vec<_> = model.asked().iter().map(|asked| asked.body()["model"].clone()).collect();
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
