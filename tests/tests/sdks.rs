//! The model server is as good as the vendors' own only if the programs that vendors publish can talk with it: their
//! SDKs ask for a step with two calls, send the results, and go on, with all that they got before.

#![expect(clippy::disallowed_methods, reason = "the vendors' SDKs are no programs of the server's")]

use std::path::Path;

use harness::{Answer, ModelServer, Wire};
use serde_json::{Value, json};

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
        let ((tool, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
        let step = Answer::nothing().thinking("Bo").thinking("th.").text("I look.").call(tool, a).call(tool, b);
        let said = Answer::nothing().text("One ").text("and two.");
        let server = ModelServer::start([step, said, Answer::says("The same.")]).await;
        let output = tokio::process::Command::new("node")
            .arg(script)
            .args([&server.url(wire), harness::server::KEY, model, more])
            .current_dir(&folder)
            .output()
            .await
            .unwrap();
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
    }
}
