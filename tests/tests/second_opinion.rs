//! A second opinion on the wires: a model server that others wrote reads what we send and answers as it believes that
//! vendors do, with the faults that it knows; and a gateway that companies use stands between. Another one on signing
//! in: by an OAuth server that others wrote.

#![expect(clippy::disallowed_methods, reason = "the model server and the gateway are no programs of the server's")]

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use futures_util::future::join_all;
use harness::{Answer, Client, ModelServer, Profile, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdout, Command};

use crate::auth::{Login, User, files_with};
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

/// A server that others wrote, as a program of `tests/vendors` plays it.
struct Played {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Played {
    /// Starts this program with these arguments, if the package that it is made of is installed.
    async fn start(program: &str, package: &str, arguments: &[&str]) -> Option<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("vendors");
        if !folder.join("node_modules").join(package).exists() {
            harness::not_tried(&format!("{package} is not there; tests/vendors/run installs it"));
            return None;
        }
        let mut command = Command::new("node");
        command.arg(program).args(arguments).current_dir(folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut played = Self { child, output, url: String::new() };
        played.url = played.line().await;
        Some(played)
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        harness::patiently("a server that others wrote", self.output.read_line(&mut line)).await.unwrap();
        line.trim().to_owned()
    }

    /// Makes the next answer different; `oauth.mjs` says in which ways.
    async fn next_has(&mut self, different: &str) {
        self.child.stdin.as_mut().unwrap().write_all(format!("{different}\n").as_bytes()).await.unwrap();
        assert_eq!(self.line().await, different);
    }

    /// Ends it. The requests that it took, as it understood them.
    async fn end(mut self) -> Vec<Value> {
        drop(self.child.stdin.take());
        let mut taken = Vec::new();
        harness::patiently("the requests that were taken", self.output.read_to_end(&mut taken)).await.unwrap();
        assert!(self.child.wait().await.unwrap().success());
        serde_json::from_slice(&taken).unwrap()
    }
}

/// The program `aimock.mjs`.
struct Aimock(Played);

impl Aimock {
    /// Starts it, if it is installed.
    async fn start() -> Option<Self> {
        let ((tool, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
        let arguments = [tool, &a.to_string(), &b.to_string()];
        Played::start("aimock.mjs", "@copilotkit/aimock", &arguments).await.map(Self)
    }

    /// The configuration of a user who has all of its vendors.
    fn configure(&self) -> Setup {
        let setup = Setup::empty();
        let mut lines = "model = \"chat/model-chat\"\nshell_rc = false\n".to_owned();
        for (name, wire, folder, model) in VENDORS {
            let (url, key) = (&self.0.url, harness::server::KEY);
            lines += &format!("[providers.{name}]\nbase_url = \"{url}{folder}\"\nkey = \"{key}\"\nwire = \"{wire}\"\n");
            lines += &format!("models = [\"{model}\"]\n");
        }
        setup.configure(&lines);
        setup
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
    let taken = aimock.0.end().await;
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
    let taken = aimock.0.end().await;
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
            let to = json!({ "model": model, "api_base": format!("{}{path}", behind.0.url), "api_key": "upstream" });
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
    let taken = aimock.0.end().await;
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

/// A user who signs in at this OAuth server, and whose models are at this one.
fn who_signs_in(server: &Played, model: &ModelServer) -> User {
    let (home, models) = (&server.url, model.url(Wire::Chat));
    User::new(|_| {
        format!(
            "[providers.elsewhere]\nbase_url = \"{models}\"\nwire = \"openai-chat\"\nmodels = [\"model-1\"]\n\
             [providers.elsewhere.sign_in]\nauthorize_url = \"{home}/authorize\"\ntoken_url = \"{home}/token\"\n\
             revoke_url = \"{home}/revoke\"\njwks_url = \"{home}/jwks\"\nissuer = \"{home}\"\n\
             client_id = \"azimuth\"\nscopes = [\"models\"]\n"
        )
    })
}

const SIGN_IN: [&str; 3] = ["auth", "login", "elsewhere"];
const TURN: [&str; 5] = ["exec", "--trust", "--model", "elsewhere/model-1", "Go."];

/// Signs in by a browser.
fn signs_in(user: &User) {
    let login = Login::start(user, &SIGN_IN);
    assert_eq!(login.browser().0, 200);
    let (code, output, errors) = login.end();
    assert!(code == 0 && output.contains("Signed in to elsewhere"), "{output}{errors}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_at_an_oauth_server_that_others_wrote_is_used_renewed_and_ended() {
    let Some(mut server) = Played::start("oauth.mjs", "oauth2-mock-server", &[]).await else { return };
    let model = ModelServer::start(["One.", "Two.", "Three."].map(Answer::says)).await;
    model.takes_any_key();
    // Each turn is a session of its own.
    model.may_rewrite();
    let user = who_signs_in(&server, &model);

    // A callback that does not know the secret of this sign-in does not count, and the next one does.
    let login = Login::start(&user, &SIGN_IN);
    server.next_has("another state").await;
    assert_eq!(login.browser().0, 400);
    server.next_has("over").await;
    assert_eq!(login.browser().0, 200);
    let (code, output, errors) = login.end();
    assert!(code == 0 && output.contains("Signed in to elsewhere"), "{output}{errors}");
    // Its token is over at once, so the first turn renews it, and the second too.
    server.next_has("over, and the old refresh token stays").await;
    for said in ["One.", "Two.", "Three."] {
        let (code, output, errors) = user.azimuth(&TURN);
        assert!(code == 0 && output.contains(said), "{output}{errors}");
    }

    server.next_has("over").await;
    let mut login = Login::start(&user, &[&SIGN_IN[..], &["--paste"]].concat());
    writeln!(login.child.stdin.take().unwrap(), "{}", login.callback()).unwrap();
    let (code, output, errors) = login.end();
    assert_eq!(code, 0, "{output}{errors}");
    server.next_has("ended").await;
    let (code, output, errors) = user.azimuth(&TURN);
    let words = [output, errors].concat();
    assert!(code == 1 && words.contains("run `azimuth auth login elsewhere`"), "{words}");
    assert_eq!(user.azimuth(&["auth", "status", "elsewhere"]).0, 1);

    signs_in(&user);
    server.next_has("not revoked").await;
    let (code, output, errors) = user.azimuth(&["auth", "logout", "elsewhere"]);
    assert!(code == 0 && output.contains("forgotten") && errors.contains("status 503"), "{output}{errors}");
    signs_in(&user);
    let (code, output, errors) = user.azimuth(&["auth", "logout", "elsewhere"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");

    let taken = server.end().await;
    let revoked = taken.iter().filter(|it| it["path"] == "/revoke").map(|it| &it["status"]).collect::<Vec<_>>();
    assert_eq!(revoked, [503, 200]);
    let asked: Vec<_> = taken.iter().filter(|it| it["path"] == "/token").collect();
    let grants: Vec<_> = asked.iter().map(|it| it["asked"]["grant_type"].as_str().unwrap()).collect();
    let (by_code, by_token) = ("authorization_code", "refresh_token");
    assert_eq!(grants, [by_code, by_token, by_token, by_code, by_token, by_code, by_code]);
    // It takes any refresh token, so here is which one it must be: a new one if there is one, else the old one.
    for (renewal, of) in [(1, 0), (2, 0), (4, 3)] {
        assert_eq!(asked[renewal]["asked"]["refresh_token"], asked[of]["given"]["refresh_token"], "{renewal}");
    }
    let sent: Vec<_> = model.asked().iter().map(|asked| asked.header("authorization").unwrap().to_owned()).collect();
    let tokens = [1, 2, 2].map(|at: usize| format!("Bearer {}", asked[at]["given"]["access_token"].as_str().unwrap()));
    assert_eq!(sent, tokens);
    let given = asked.iter().filter_map(|it| it["given"].as_object()).flatten();
    let given = given.filter(|(name, _)| name.ends_with("_token")).map(|(_, token)| token.as_str().unwrap().to_owned());
    let secrets: Vec<_> = given.collect();
    assert!(secrets.len() > 12);
    assert_eq!(files_with(&user.data(), &secrets), Vec::<std::path::PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_that_an_oauth_server_answers_wrongly_keeps_nothing() {
    let Some(mut server) = Played::start("oauth.mjs", "oauth2-mock-server", &[]).await else { return };
    let model = ModelServer::start([]).await;
    let user = who_signs_in(&server, &model);
    for (different, said) in [
        ("no consent", "elsewhere refused the sign-in: access_denied"),
        ("another issuer", "it is another issuer's"),
        ("another program", "it is for another program"),
        ("another sign-in", "it is of another sign-in"),
        ("long ago", "it has expired"),
        ("another key", "none of the vendor's keys signed it"),
        ("no id token", "no id token"),
        ("no token", "no access token"),
        ("another kind", "a token of an unknown type"),
        ("a text", "something that is no token"),
        ("away", "status 503"),
        ("ended", "elsewhere refused the sign-in: invalid_grant"),
    ] {
        server.next_has(different).await;
        let login = Login::start(&user, &SIGN_IN);
        login.browser();
        let (code, output, errors) = login.end();
        assert!(code == 1 && errors.contains(said), "{different}: {output}{errors}");
        assert!(!errors.contains("hunter2"), "{errors}");
    }
    assert_eq!(user.azimuth(&["auth", "list", "--json"]), (0, String::new(), String::new()));
    signs_in(&user);
    assert_eq!(server.end().await.last().unwrap()["status"], 200);
}
