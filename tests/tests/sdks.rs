//! The model server is as good as the vendors' own only if the programs that vendors publish can talk with it: their
//! SDKs ask for a step with two calls, send the results, and go on, with all that they got before.

#![expect(clippy::disallowed_methods, reason = "the vendors' SDKs are no programs of the server's")]

use std::path::Path;

use harness::model::{Account, Region};
use harness::{Answer, ModelServer, Wire};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::vendors::reads;

#[tokio::test]
async fn the_vendors_own_sdks_talk_with_the_model_server() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendors");
    if !folder.join("node_modules/@google/genai").exists() {
        return harness::not_tried("the vendors' SDKs are not there; tests/vendors/run installs them");
    }
    for (wire, script, model, more, signatures) in [
        (Wire::Anthropic, "sdk-anthropic.mjs", "claude-opus-5-5", "", [1, 0]),
        (Wire::Responses, "sdk-openai.mjs", "gpt-6.1-sol", "responses", [1, 0]),
        (Wire::Chat, "sdk-openai.mjs", "model-1", "chat", [0, 0]),
        // Google signs the end of an answer too.
        (Wire::Gemini, "sdk-google.mjs", "gemini-4-argon", "", [1, 1]),
    ] {
        let server = ModelServer::start(script_of_three()).await;
        let mut node = Command::new("node");
        node.arg(script).args([&server.url(wire), harness::server::KEY, model, more]).current_dir(&folder);
        let read = talk(wire, &server, node, signatures).await;
        if wire == Wire::Anthropic {
            let missed = ["step", "answer", "last"].map(|answer| read[answer]["missed"].as_str());
            assert_eq!(missed, [None, None, Some("tools_changed")]);
        }
    }
}

#[tokio::test]
async fn amazons_own_sdk_talks_with_the_model_server_and_signs_its_requests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendors");
    if !folder.join("python/botocore").exists() {
        return harness::not_tried("botocore is not there; tests/vendors/run installs it");
    }
    for (model, signatures) in [("us.anthropic.claude-opus-5-5", [1, 0]), ("amazon.nova-pro-v1:0", [0, 0])] {
        let server = ModelServer::start(script_of_three()).await;
        server.wants_signatures(Account::new("bedrock", "eu-west-1").with_key("AKIDEXAMPLE", "secret", None));
        let mut python = amazons(&folder, "sdk-amazon.py");
        python.args([&server.url(Wire::Converse), model]);
        talk(Wire::Converse, &server, python, signatures).await;
        assert_eq!(server.refusals(), Vec::<String>::new());
    }
    let server = ModelServer::start([]).await;
    server.wants_signatures(Account::new("bedrock", "eu-west-1").with_key("AKIDEXAMPLE", "secret", None));
    let profiles = ["eu.amazon.nova-pro-v1:0", "eu.a.b", "us.a.b", "jp.a.b", "global.a.b"];
    let region = Region::new("eu-west-1").with_model("amazon.nova-pro-v1:0", &["ON_DEMAND"]);
    server.lists(profiles.iter().fold(region, |region, profile| region.with_profile(profile, "a.b")));
    let output = amazons(&folder, "sdk-amazon-lists.py").arg(server.url(Wire::Converse)).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((read, server.refusals()), (json!([["amazon.nova-pro-v1:0"], profiles]), Vec::new()));
}

/// A program with Amazon's own SDK.
fn amazons(folder: &Path, script: &str) -> Command {
    let mut python = Command::new("python3");
    python.arg(script).current_dir(folder);
    python.env("PYTHONPATH", folder.join("python")).env("AWS_EC2_METADATA_DISABLED", "true");
    python.env("AWS_CONFIG_FILE", "/dev/null").env("AWS_SHARED_CREDENTIALS_FILE", "/dev/null");
    python.env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "secret");
    // It sends a key over TLS only.
    python.env_remove("AWS_BEARER_TOKEN_BEDROCK");
    python
}

/// A step with two calls, and two answers.
fn script_of_three() -> [Answer; 3] {
    let ((tool, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
    let step = Answer::nothing().thinking("Bo").thinking("th.").text("I look.").call(tool, a).call(tool, b);
    [step, Answer::nothing().text("One ").text("and two."), Answer::says("The same.")]
}

/// Runs the program of an SDK, and checks what it read: of the step, and of the answers, each with so many signatures.
async fn talk(wire: Wire, server: &ModelServer, mut program: Command, signatures: [u8; 2]) -> Value {
    let output = program.output().await.unwrap();
    assert!(output.status.success(), "{wire:?}: {}", String::from_utf8_lossy(&output.stderr));
    let read: Value = serde_json::from_slice(&output.stdout).unwrap();
    let step = &read["step"];
    let shown = (&step["text"], &step["thought"], &step["signatures"]);
    assert_eq!(shown, (&json!("I look."), &json!("Both."), &json!(signatures[0])), "{wire:?}");
    let calls = step["calls"].as_array().unwrap().iter();
    assert_eq!(calls.map(|call| &call["args"]["path"]).collect::<Vec<_>>(), ["a.txt", "b.txt"], "{wire:?}");
    for (answer, text) in [(&read["answer"], "One and two."), (&read["last"], "The same.")] {
        let shown = (&answer["text"], &answer["signatures"], &answer["finished"], &answer["cached"]);
        assert_eq!(shown, (&json!(text), &json!(signatures[1]), &json!(true), &json!(20)), "{wire:?}");
    }
    assert_eq!(server.asked()[1].last_results(), ["of a.txt", "of b.txt"], "{wire:?}");
    read
}
