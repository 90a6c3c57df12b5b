//! A second opinion on the wires: a model server that others wrote reads what we send and answers as it believes that
//! vendors do, with the faults that it knows; and a gateway that companies use stands between.

#![expect(clippy::disallowed_methods, reason = "the model server and the gateway are no programs of the server's")]

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures_util::future::join_all;
use harness::{Client, Profile, Setup};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::vendors::{project, reads};

/// The vendors that it plays: each one's name, wire, address below its own, and model.
const VENDORS: [(&str, &str, &str, &str); 6] = [
    ("chat", "openai-chat", "/v1", "model-chat"),
    ("responses", "openai-responses", "/v1", "gpt-6.1-sol"),
    ("claude", "anthropic", "", "claude-opus-5-5"),
    ("gemini", "gemini", "", "gemini-3.8-flash"),
    // Google's cloud and Amazon's.
    ("vertex", "gemini", "/v1/projects/p/locations/global/publishers/google", "gemini-4-argon"),
    ("bedrock", "converse", "", "us.amazon.nova-2-lite-v1:0"),
];

/// The program `aimock.mjs`.
struct Aimock {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Aimock {
    /// Starts it, if it is installed.
    async fn start() -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendors");
        if !folder.join("node_modules/@copilotkit/aimock").exists() {
            harness::not_tried("aimock is not there; tests/vendors/run installs it");
            return None;
        }
        let ((tool, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
        let mut command = Command::new("node");
        command.args(["aimock.mjs", tool, &a.to_string(), &b.to_string()]).current_dir(folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        harness::patiently("the address of aimock", output.read_line(&mut url)).await.unwrap();
        Some(Self { child, output, url: url.trim().to_owned() })
    }

    /// The configuration of a user who has all of its vendors.
    fn configure(&self) -> Setup {
        let setup = Setup::empty();
        let mut lines = "model = \"chat/model-chat\"\nshell_rc = false\n".to_owned();
        for (name, wire, folder, model) in VENDORS {
            let (url, key) = (&self.url, harness::server::KEY);
            lines += &format!("[providers.{name}]\nbase_url = \"{url}{folder}\"\nkey = \"{key}\"\nwire = \"{wire}\"\n");
            lines += &format!("models = [\"{model}\"]\n");
        }
        setup.configure(&lines);
        setup
    }

    /// Ends it. The requests that it took, as it understood them.
    async fn end(mut self) -> Vec<Value> {
        drop(self.child.stdin.take());
        let mut taken = Vec::new();
        harness::patiently("the end of aimock", self.output.read_to_end(&mut taken)).await.unwrap();
        assert!(self.child.wait().await.unwrap().success());
        serde_json::from_slice(&taken).unwrap()
    }
}

/// A turn with this model: its events.
async fn turn(
    client: &Client,
    session: &SessionId,
    (name, .., model): (&str, &str, &str, &str),
    prompt: &str,
) -> Vec<Event> {
    let choice = json!({ "sessionId": session, "model": format!("{name}/{model}") });
    client.call::<methods::ModelSelect>(choice).await;
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await
}

/// The results of a turn's calls, sorted.
fn results(events: &[Event]) -> Vec<&str> {
    let results = events.iter().filter_map(|event| match event {
        Event::ToolCallEnded { result, .. } => Some(result.text.as_str()),
        _ => None,
    });
    let mut results: Vec<_> = results.collect();
    results.sort_unstable();
    results
}

#[tokio::test]
async fn a_conversation_goes_through_all_vendors_as_others_play_them() {
    let Some(aimock) = Aimock::start().await else { return };
    let (setup, project) = (aimock.configure(), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    for vendor in VENDORS.into_iter().chain(VENDORS) {
        let events = turn(&client, &session, vendor, "Read both.").await;
        let read = results(&events);
        assert!(read.len() == 2 && read[0].contains("one") && read[1].contains("two"), "{vendor:?}: {events:?}");
        let said = serde_json::to_string(&events).unwrap();
        assert!(said.contains("I look.") && said.contains("One and two."), "{vendor:?}: {events:?}");
        let Some(Event::TurnEnded { usage, .. }) = events.last() else { panic!("{events:?}") };
        assert_eq!((usage.input, usage.output), (1400, 60), "{vendor:?}: what two requests used");
    }
    assert_eq!(client.finish().await, 0);
    let taken = aimock.end().await;
    assert_eq!(taken.len(), 4 * VENDORS.len());
    for (number, request) in taken.iter().enumerate() {
        assert_eq!(request["status"], json!(200), "{request}");
        let messages = request["body"]["messages"].as_array().unwrap();
        let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
        let calls: Vec<_> = calls.map(|call| &call["id"]).collect();
        let answers = messages.iter().filter(|message| message["role"] == "tool");
        let answers: Vec<_> = answers.map(|message| &message["tool_call_id"]).collect();
        assert_eq!(calls, answers, "every call has its result, in order: {request}");
        assert_eq!(calls.len(), number.div_ceil(2) * 2, "nothing of what went before is left out: {request}");
    }
}

#[tokio::test]
async fn a_turn_lives_through_the_faults_of_a_model_server_that_others_wrote() {
    let Some(aimock) = Aimock::start().await else { return };
    let (setup, project) = (aimock.configure(), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let sessions = join_all(VENDORS.map(|_| client.new_session())).await;
    let plays = VENDORS.iter().zip(&sessions).map(|(vendor, session)| {
        let client = &client;
        async move {
            for fault in ["Too many.", "Broken.", "Garbage.", "Hung up.", "Cut."] {
                let events = turn(client, session, *vendor, fault).await;
                let retries = events.iter().filter(|event| matches!(event, Event::Retrying { .. })).count();
                assert_eq!(retries, 1, "{vendor:?}, {fault}: {events:?}");
                let whole = events.iter().rev().find_map(|event| match event {
                    Event::MessageCompleted { content, .. } => Some(serde_json::to_string(content).unwrap()),
                    _ => None,
                });
                assert!(
                    whole.is_some_and(|whole| whole.contains("several pieces.")),
                    "{vendor:?}, {fault}: {events:?}"
                );
            }
        }
    });
    join_all(plays).await;
    assert_eq!(client.finish().await, 0);
    let taken = aimock.end().await;
    assert_eq!(taken.len(), 2 * 5 * VENDORS.len());
}

/// A gateway that turns each wire into each, in front of a model server.
struct Gateway {
    _child: Child,
    _folder: tempfile::TempDir,
    url: String,
}

impl Gateway {
    /// The vendors whose wires it speaks.
    const SPOKEN: [(&str, &str, &str, &str); 4] = [VENDORS[0], VENDORS[1], VENDORS[2], VENDORS[3]];
    /// Its models, with what stands behind each. It writes Gemini's requests in another spelling than aimock reads.
    const MODELS: [(&str, &str, &str); 2] =
        [("up-chat", "openai/model-chat", "/v1"), ("up-claude", "anthropic/claude-opus-5-5", "")];

    /// Starts litellm from the folder in which `tests/vendors/run gateway` has installed it.
    async fn start(packages: &Path, behind: &Aimock) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = Self::MODELS.map(|(name, model, path)| {
            let to = json!({ "model": model, "api_base": format!("{}{path}", behind.url), "api_key": "upstream" });
            json!({ "model_name": name, "litellm_params": to })
        });
        let configuration = json!({
            "model_list": models,
            "litellm_settings": { "drop_params": true },
            "general_settings": { "master_key": harness::server::KEY },
        });
        let file = folder.path().join("config.yaml");
        // JSON is YAML.
        std::fs::write(&file, configuration.to_string()).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("python3");
        command.arg(packages.join("bin/litellm")).arg("--config").arg(&file);
        command.args(["--host", "127.0.0.1", "--port", &port.to_string(), "--telemetry", "False"]);
        let log = std::fs::File::create(folder.path().join("log")).unwrap();
        command.env("PYTHONPATH", packages).current_dir(folder.path()).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).kill_on_drop(true).spawn().unwrap();
        let listens = async {
            while tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        harness::patiently("the gateway", listens).await;
        Self { _child: child, _folder: folder, url: format!("http://127.0.0.1:{port}") }
    }

    /// The configuration of a user whose models are all behind it, over each wire.
    fn configure(&self) -> Setup {
        let setup = Setup::empty();
        let mut lines = "model = \"chat/up-chat\"\nshell_rc = false\n".to_owned();
        for (name, wire, folder, _) in Self::SPOKEN {
            let (url, key) = (&self.url, harness::server::KEY);
            lines += &format!("[providers.{name}]\nbase_url = \"{url}{folder}\"\nkey = \"{key}\"\nwire = \"{wire}\"\n");
            lines += &format!("models = {}\n", json!(Self::MODELS.map(|(name, ..)| name)));
        }
        setup.configure(&lines);
        setup
    }
}

/// By hand, by `tests/vendors/run gateway`, since the gateway is several hundred megabytes of packages.
#[tokio::test]
#[ignore = "tests/vendors/run gateway installs the gateway and runs this"]
async fn a_gateway_turns_each_wire_into_each_and_a_conversation_goes_through_all_of_them() {
    let packages = std::env::var_os("AZIMUTH_LITELLM").expect("AZIMUTH_LITELLM is the folder of litellm");
    let aimock = Aimock::start().await.expect("aimock is installed");
    let gateway = Gateway::start(Path::new(&packages), &aimock).await;
    let (setup, project) = (gateway.configure(), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    for (name, wire, folder, _) in Gateway::SPOKEN {
        for (model, ..) in Gateway::MODELS {
            let events = turn(&client, &session, (name, wire, folder, model), "Read both.").await;
            let read = results(&events);
            assert!(
                read.len() == 2 && read[0].contains("one") && read[1].contains("two"),
                "{name}/{model}: {events:?}"
            );
            let said = serde_json::to_string(&events).unwrap();
            assert!(said.contains("One and two."), "{name}/{model}: {events:?}");
        }
    }
    assert_eq!(client.finish().await, 0);
    let taken = aimock.end().await;
    let calls = |request: &Value| {
        let messages = request["body"]["messages"].as_array().unwrap().clone();
        messages.iter().filter_map(|message| message["tool_calls"].as_array().map(Vec::len)).sum::<usize>()
    };
    // From Gemini to Messages, the last pair, the gateway makes a call's id of the tool's name, and so two calls one.
    let faithful = 2 * (Gateway::SPOKEN.len() * Gateway::MODELS.len() - 1);
    let expected: Vec<_> = (0..faithful).map(|request| request.div_ceil(2) * 2).collect();
    let carried: Vec<_> = taken.iter().take(faithful).map(calls).collect();
    assert_eq!(carried, expected, "nothing of what went before is left out");
}
