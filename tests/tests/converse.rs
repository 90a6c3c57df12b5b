//! Amazon Bedrock's Converse through the real server: models of several makers, with a key and with AWS's credentials,
//! streams that fail as only Amazon's do, and bodies that Amazon's own SDK takes.

#![expect(clippy::disallowed_methods, reason = "botocore is no program of the server's")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use harness::model::{Account, Asked, Step};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};

use crate::vendors::{error_of, one_turn, project, reads};

const NOVA: &str = "us.amazon.nova-2-lite-v1:0";
const CLAUDE: &str = "us.anthropic.claude-opus-4-6-v1";
const MISTRAL: &str = "mistral.mistral-large-3-675b-instruct";
const LLAMA: &str = "us.meta.llama4-scout-17b-instruct-v1:0";
const KIMI: &str = "global.moonshotai.kimi-k3.1";

/// An event of a stream.
fn event(event: &Value) -> Step {
    Step::Raw(format!("{event}\n"))
}

/// A user of Bedrock at this server, with this model and more.
fn bedrock(model: &ModelServer, id: &str, more: &str) -> Setup {
    let setup = Setup::empty();
    let url = model.url(Wire::Converse);
    let described = "thinking = \"effort\"\nlevels = [\"off\", \"low\", \"medium\", \"high\"]\nmax_output = 64000\n";
    setup.configure(&format!(
        "model = \"bedrock/{id}\"\nshell_rc = false\n[providers.bedrock]\nbase_url = \"{url}\"\nmodels = [\"{id}\"]\n{more}\n\
         [[providers.bedrock.model]]\nid = \"{id}\"\n{}",
        if id == NOVA { described } else { "" }
    ));
    setup
}

fn key() -> String {
    format!("key = \"{}\"", harness::server::KEY)
}

async fn turn(client: &Client, session: &protocol::SessionId, prompt: &str) -> Vec<Event> {
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await
}

#[tokio::test]
async fn a_model_of_each_maker_thinks_calls_tools_and_goes_on_by_its_own_rules() {
    for (id, path) in [
        (NOVA, "/model/us.amazon.nova-2-lite-v1%3A0/converse-stream"),
        (MISTRAL, "/model/mistral.mistral-large-3-675b-instruct/converse-stream"),
        (KIMI, "/model/global.moonshotai.kimi-k3.1/converse-stream"),
        // It takes tools only without a stream.
        (LLAMA, "/model/us.meta.llama4-scout-17b-instruct-v1%3A0/converse"),
    ] {
        let ((tool, a), (_, missing)) = (reads("a.txt"), reads("missing.txt"));
        let step =
            Answer::nothing().thinking("What is th").thinking("ere?").text("I look.").call(tool, a).call(tool, missing);
        let model = ModelServer::start([step, Answer::says("One."), Answer::says("Welcome.")]).await;
        let (setup, project) = (bedrock(&model, id, &key()), project());
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Look.").await;
        turn(&client, &session, "Thanks.").await;
        let asked = model.asked();
        assert_eq!(asked[0].place(), path);
        assert_eq!(asked[0].header("authorization"), Some(format!("Bearer {}", harness::server::KEY).as_str()));
        let last = asked[2].body().to_string();
        // It takes no text beside calls.
        assert!(last.contains("What is there?") && last.contains("I look.") == (id != LLAMA), "{id}: {last}");
        assert_eq!(last.contains("\"status\":\"error\""), id == NOVA, "{id}");
        // Nova takes none behind results: behind the system prompt, and what the user says.
        let marks: Vec<_> = asked.iter().map(|it| it.body().to_string().matches("cachePoint").count()).collect();
        assert_eq!(marks, if id == NOVA { [2, 2, 3] } else { [0; 3] }, "{id}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn requests_are_signed_with_a_model_in_the_path_whose_id_has_colons_and_slashes() {
    let arn = "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/a1b2c3";
    for id in [NOVA, arn] {
        let model = ModelServer::start([Answer::says("Signed.")]).await;
        model.wants_signatures(Account::new("bedrock", "eu-west-1").with_key("AKIDEXAMPLE", "secret", None));
        let setup = bedrock(&model, id, "aws_region = \"eu-west-1\"")
            .with_variable("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
            .with_variable("AWS_SECRET_ACCESS_KEY", "secret");
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        turn(&client, &session, "Go.").await;
        assert_eq!((model.refusals(), model.asked()[0].model()), (Vec::new(), id));
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_level_of_thinking_reaches_nova_in_its_own_words() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two."), Answer::says("Three.")]).await;
    let (setup, project) = (bedrock(&model, NOVA, &key()), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "/thinking high\nLook.").await;
    turn(&client, &session, "/thinking low\nAgain.").await;
    turn(&client, &session, "/thinking off\nOnce more.").await;
    let asked = |asked: &Asked| {
        let effort = asked.body()["additionalModelRequestFields"]["reasoningConfig"]["maxReasoningEffort"].clone();
        (effort, asked.body()["inferenceConfig"].is_object())
    };
    let told: Vec<_> = model.asked().iter().map(asked).collect();
    assert_eq!(told, [(json!("high"), false), (json!("low"), true), (Value::Null, true)]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_exception_within_the_stream_is_waited_for_or_told() {
    let said =
        |name: &str, words: &str| Answer::nothing().text("Well").step(event(&json!({ name: { "message": words } })));
    for (name, words) in [
        ("throttlingException", "Too many requests, please wait before trying again."),
        ("serviceUnavailableException", "Bedrock is unable to process your request."),
        ("internalServerException", "The system encountered an unexpected error."),
        ("modelStreamErrorException", "The model failed."),
    ] {
        let (events, asked) =
            one_turn(Wire::Converse, vec![said(name, words), Answer::says("Done.")], StopReason::EndTurn).await;
        let retried = events.iter().filter(|event| matches!(event, Event::Retrying { .. })).count();
        assert_eq!((asked.len(), retried), (2, 1), "{name}");
    }
    for (name, words) in [("validationException", "The value is invalid."), ("accessDeniedException", "You may not.")] {
        let (events, asked) = one_turn(Wire::Converse, vec![said(name, words)], StopReason::Error).await;
        assert!(asked.len() == 1 && error_of(&events).contains(words), "{name}: {}", error_of(&events));
    }
    // Nova's models fail to write a call now and then; they are told.
    let failed = said("modelStreamErrorException", "Model produced invalid sequence as part of ToolUse.");
    let (tool, input) = reads("a.txt");
    let script = vec![failed, Answer::calls(tool, input), Answer::says("There.")];
    let (_, asked) = one_turn(Wire::Converse, script, StopReason::EndTurn).await;
    assert!(asked[1].user_text().contains("could not be read"), "{}", asked[1].user_text());
}

#[tokio::test]
async fn an_answer_that_a_guardrail_broke_off_ends_the_turn_and_says_so() {
    for (reason, words) in [("guardrail_intervened", "guardrail"), ("content_filtered", "content filter")] {
        let stopped = event(&json!({ "messageStop": { "stopReason": reason } }));
        let told = event(&json!({ "metadata": { "usage": { "inputTokens": 1 }, "metrics": { "latencyMs": 1 } } }));
        let answer = Answer::nothing().text("Well").step(stopped).step(told);
        let (events, _) = one_turn(Wire::Converse, vec![answer], StopReason::Refusal).await;
        assert!(format!("{events:?}").contains(words), "{reason}: {events:?}");
    }
}

#[tokio::test]
async fn what_bedrock_answers_in_place_of_a_stream_is_said_with_what_to_do() {
    let refused = |status: u16, body: Value| Answer::Refused { status, headers: Vec::new(), body: body.to_string() };
    for (answer, parts) in [
        (
            refused(403, json!({ "Message": "Authentication failed: Please make sure your API Key is valid." })),
            ["does not accept the key", "API Key is valid"],
        ),
        (
            refused(404, json!({ "message": "This Model has reached the end of its life." })),
            ["is not served by", "/model"],
        ),
        (
            refused(400, json!({ "message": "The provided model identifier is invalid." })),
            ["is not served by", "identifier is invalid"],
        ),
    ] {
        let (events, asked) = one_turn(Wire::Converse, vec![answer], StopReason::Error).await;
        let error = error_of(&events);
        assert!(asked.len() == 1 && parts.iter().all(|part| error.contains(part)), "{error}");
    }
    let limited = refused(429, json!({ "message": "Too many tokens, please wait before trying again." }));
    let (_, asked) = one_turn(Wire::Converse, vec![limited, Answer::says("Done.")], StopReason::EndTurn).await;
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn amazons_own_sdk_takes_every_body_that_is_sent() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendors");
    if !folder.join("python/botocore").exists() {
        return harness::not_tried("botocore is not there; tests/vendors/run installs it");
    }
    let image = json!([{ "type": "text", "text": "What is this?" },
        { "type": "image", "mimeType": "image/png", "data": "aGVsbG8=" }]);
    for id in [NOVA, CLAUDE, MISTRAL, KIMI] {
        let ((tool, a), (_, missing)) = (reads("a.txt"), reads("missing.txt"));
        let step = Answer::nothing().thinking("Hm.").text("I look.").call(tool, a).call(tool, missing);
        let model = ModelServer::start([step, Answer::says("One.")]).await;
        let setup = bedrock(&model, id, &format!("wire = \"converse\"\n{}", key()));
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": image })).await;
        client.until_end(&session, StopReason::EndTurn).await;
        for asked in model.asked() {
            check(&folder, asked.body()).unwrap();
        }
        // It would say so.
        let mut wrong = model.asked()[1].body().clone();
        wrong["messages"][0]["cache_control"] = json!({ "type": "ephemeral" });
        assert!(check(&folder, &wrong).unwrap_err().contains("cache_control"));
        assert_eq!(client.finish().await, 0);
    }
}

/// Holds a body against botocore's model.
fn check(folder: &Path, body: &Value) -> Result<(), String> {
    let mut python = Command::new("python3");
    python.arg("check-amazon.py").current_dir(folder).env("PYTHONPATH", folder.join("python"));
    let mut python = python.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(body.to_string().as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

#[tokio::test]
async fn a_user_adds_a_server_that_speaks_converse_and_asks_its_models() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let setup = Setup::empty();
    setup.configure("shell_rc = false\n");
    let project = Project::new([("a.txt", "one\n")]);
    let azimuth = |words: &[&str]| {
        let mut command = Command::new(harness::binary());
        command.args(words).current_dir(project.folder()).stdin(Stdio::null());
        command.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
        command.env("XDG_RUNTIME_DIR", setup.home()).env("HOME", setup.home()).env("GATEWAY_KEY", harness::server::KEY);
        tokio::task::spawn_blocking(move || command.output())
    };
    let url = model.url(Wire::Converse);
    let add = ["providers", "add", "gateway", "--base-url", &url, "--wire", "converse", "--key-env", "GATEWAY_KEY"];
    let added = azimuth(&[&add[..], &["--model", MISTRAL, "--no-check"]].concat()).await.unwrap().unwrap();
    assert!(added.status.success(), "{added:?}");
    let name = format!("gateway/{MISTRAL}");
    let said = azimuth(&["exec", "--trust", "--model", &name, "Hello?"]).await.unwrap().unwrap();
    assert!(said.status.success() && String::from_utf8_lossy(&said.stdout).contains("Hello."), "{said:?}");
    assert_eq!(model.asked()[0].model(), MISTRAL);
}
