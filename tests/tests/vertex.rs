//! Google's Vertex AI with Google's credentials: Gemini and Claude through the real server, with servers that give
//! access tokens, and that take requests, as Google's do.

#![expect(clippy::disallowed_methods, reason = "a test writes Google's files and starts programs itself")]

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use harness::google::{Instead, KEY, PROJECT, SUBJECT};
use harness::model::{Asked, Step};
use harness::{Answer, Client, GoogleServer, ModelServer, Profile, Project, Setup, Wire, not_tried, real};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};

use crate::vendors::{project, reads};

const GEMINI: &str = "gemini-3.8-flash";
const CLAUDE: &str = "claude-opus-5-5";
const FILE: &str = ".config/gcloud/application_default_credentials.json";

/// The configuration of a user of Vertex AI by this server, of which more is said.
fn configuration(model: &ModelServer, name: &str, more: &str) -> String {
    let url = model.url(Wire::Gemini);
    format!(
        "model = \"vertex/{name}\"\nshell_rc = false\n[providers.vertex]\nbase_url = \"{url}\"\n\
         google_location = \"eu\"\n{more}"
    )
}

/// A user of this model for whom `gcloud` keeps this file.
fn user(model: &ModelServer, google: &GoogleServer, name: &str, file: &Value) -> Setup {
    model.wants_tokens_of(google);
    let setup = Setup::empty();
    setup.configure(&configuration(model, name, ""));
    keep(&setup, &file.to_string());
    at_home(setup)
}

fn at_home(setup: Setup) -> Setup {
    let home = setup.home().display().to_string();
    setup.with_variable("HOME", &home).with_variable("NO_GCE_CHECK", "true")
}

fn keep(setup: &Setup, text: &str) {
    let file = setup.home().join(FILE);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

fn looks(paths: &[&str]) -> Answer {
    paths.iter().fold(Answer::nothing().thinking("What is there?").text("I look."), |answer, path| {
        let (tool, input) = reads(path);
        answer.call(tool, input)
    })
}

/// Turns in a session, one after the other, each with how it ends. Gives the events of the last.
async fn turns(setup: &Setup, count: usize, reason: StopReason) -> Vec<Event> {
    let project = project();
    let client = Client::start(setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let mut events = Vec::new();
    for _ in 0..count {
        client.prompt(&session, "Go.").await;
        events = client.until_end(&session, reason).await;
    }
    assert_eq!(client.finish().await, 0);
    events
}

fn error_of(events: &[Event]) -> String {
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    error.clone()
}

/// The path of a request to a model.
fn place(publisher: &str, model: &str) -> String {
    let end = if publisher == "google" { "streamGenerateContent?alt=sse" } else { "streamRawPredict" };
    format!("/v1/projects/{PROJECT}/locations/eu/publishers/{publisher}/models/{model}:{end}")
}

/// Checks that no file of the server's own has one of these texts.
fn is_in_no_file(folder: &Path, secrets: &[String]) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            is_in_no_file(&path, secrets);
        } else if kind.is_file() && !path.ends_with(FILE) {
            let bytes = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
            let found = secrets.iter().find(|secret| bytes.contains(*secret));
            assert_eq!(found, None, "{}", path.display());
        }
    }
}

#[tokio::test]
async fn whoever_has_signed_in_with_gcloud_works_with_gemini_and_one_token_is_enough() {
    let google = GoogleServer::start();
    let model = ModelServer::start([
        looks(&["a.txt", "b.txt"]),
        looks(&["a.txt"]),
        Answer::says("One and two."),
        Answer::says("Still one and two."),
    ])
    .await;
    let setup = user(&model, &google, GEMINI, &google.user());
    turns(&setup, 2, StopReason::EndTurn).await;
    let asked = model.asked();
    for asked in &asked {
        assert_eq!(asked.place(), place("google", GEMINI));
        let token = format!("Bearer {}", google.tokens()[0]);
        assert_eq!(asked.header("authorization"), Some(token.as_str()));
        assert_eq!((asked.header("x-goog-user-project"), asked.header("x-goog-api-key")), (Some(PROJECT), None));
    }
    let body = asked[3].body().to_string();
    assert!(!body.contains("skip_thought_signature_validator"), "each signature is the model's own: {body}");
    assert_eq!(body.matches("thoughtSignature").count(), 3, "{body}");
    assert_eq!(google.asked().0, 1, "the token is kept");
    assert_eq!(model.refusals(), Vec::<String>::new());
    let secrets = [google.tokens(), vec!["refresh-token-of-ada".into(), "secret-of-the-client".into()]].concat();
    is_in_no_file(setup.home(), &secrets);
}

#[tokio::test]
async fn claude_thinks_and_calls_tools_at_vertex_as_at_its_maker() {
    let google = GoogleServer::start();
    let model = ModelServer::start([looks(&["a.txt", "b.txt"]), looks(&["b.txt"]), Answer::says("One and two.")]).await;
    let setup = user(&model, &google, CLAUDE, &google.user());
    turns(&setup, 1, StopReason::EndTurn).await;
    let asked = model.asked();
    assert!(asked.iter().all(|asked| asked.place() == place("anthropic", CLAUDE)), "{}", asked[0].place());
    assert_eq!((asked[0].model(), asked[0].header("anthropic-version")), (CLAUDE, None));
    assert_eq!(asked[0].header("anthropic-beta"), Some("thinking-binding-controls-2026-08-01"));
    assert_eq!(asked[2].body().to_string().matches("\"signature\":").count(), 2);
    // The id is sent as it was chosen: dated ones are not written as at Anthropic.
    for name in ["claude-haiku-4-5@20251001", "claude-haiku-4-5"] {
        let model = ModelServer::start([Answer::says("Done.")]).await;
        let setup = user(&model, &google, name, &google.user());
        setup.configure(&configuration(&model, name, &format!("models = [\"{name}\"]\n")));
        turns(&setup, 1, StopReason::EndTurn).await;
        assert_eq!(model.asked()[0].place(), place("anthropic", name));
    }
}

#[tokio::test]
async fn a_session_goes_from_googles_own_gemini_to_that_of_vertex_and_to_its_claude_and_back() {
    let google = GoogleServer::start();
    let answers = |count: usize| (0..count).flat_map(|_| [looks(&["a.txt", "b.txt"]), Answer::says("One and two.")]);
    let (native, model) = (ModelServer::start(answers(2)).await, ModelServer::start(answers(3)).await);
    [&native, &model].iter().for_each(|server| server.may_rewrite());
    let setup = user(&model, &google, GEMINI, &google.user());
    let (url, key) = (native.url(Wire::Gemini), harness::server::KEY);
    let native_one = format!(
        "[providers.native]\nbase_url = \"{url}\"\nkey = \"{key}\"\nwire = \"gemini\"\nmodels = [\"{GEMINI}\"]\n"
    );
    setup.configure(&(configuration(&model, GEMINI, "") + &native_one));
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let (native_name, gemini, claude) =
        (format!("native/{GEMINI}"), format!("vertex/{GEMINI}"), format!("vertex/{CLAUDE}"));
    for name in [&native_name, &gemini, &claude, &gemini, &native_name] {
        client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": name })).await;
        client.prompt(&session, "Look.").await;
        client.until_end(&session, StopReason::EndTurn).await;
    }
    assert_eq!(client.finish().await, 0);
    let skipped = |asked: &Asked| asked.body().to_string().matches("skip_thought_signature_validator").count();
    let asked = model.asked();
    assert_eq!(asked.iter().map(Asked::model).collect::<Vec<_>>(), [GEMINI, GEMINI, CLAUDE, CLAUDE, GEMINI, GEMINI]);
    assert_eq!(skipped(&asked[5]), 2, "the native model's step, and Claude's");
    assert_eq!(skipped(&native.asked()[3]), 3, "all that others said");
    let of_claude = asked[3].body().to_string();
    assert!(!of_claude.contains("thoughtSignature") && of_claude.matches("\"signature\":").count() == 1, "{of_claude}");
}

#[tokio::test]
async fn a_service_account_signs_for_its_token_and_googles_own_library_agrees() {
    let google = GoogleServer::start();
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let setup = user(&model, &google, GEMINI, &google.service_account());
    turns(&setup, 1, StopReason::EndTurn).await;
    let (asked, assertions) = google.asked();
    assert_eq!((asked, assertions.len()), (1, 1));
    assert_eq!(model.asked()[0].header("x-goog-user-project"), None);
    is_in_no_file(&setup.data_folder(), &[google.tokens(), assertions.clone()].concat());

    let key = setup.home().join("key.der");
    std::fs::write(&key, KEY).unwrap();
    let check = |assertion: &str| {
        let mut python = Command::new("python3");
        python.arg("-c").arg(VERIFY).arg(&key).arg(assertion).arg(google.token_url());
        python.env("PYTHONPATH", real::tools().join("python")).output()
    };
    let Ok(output) = check(&assertions[0]) else { return not_tried("there is no python3") };
    if String::from_utf8_lossy(&output.stderr).contains("No module named") {
        return not_tried("google-auth is not installed (tests/tools/install-python)");
    }
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("robot@project-of-the-test"), "{output:?}");
    let (text, _) = assertions[0].rsplit_once('.').unwrap();
    let forged = check(&format!("{text}.{}", "A".repeat(342))).unwrap();
    assert!(!forged.status.success() && String::from_utf8_lossy(&forged.stderr).contains("signature"), "{forged:?}");
}

#[tokio::test]
async fn an_identity_of_others_is_exchanged_for_a_token_with_the_requests_that_googles_own_library_makes() {
    let program = json!({ "version": 1, "success": true, "id_token": SUBJECT, "expiration_time": 9_999_999_999_u64,
        "token_type": "urn:ietf:params:oauth:token-type:id_token" });
    // A program that is in no project, and whose words say all.
    let program = json!({ "executable": { "command": format!("/bin/echo '{program}'") } });
    for (kind, acts) in [("file", false), ("file", true), ("url", true), ("executable", false)] {
        let google = GoogleServer::start();
        let model = ModelServer::start([Answer::says("Done.")]).await;
        let setup = Setup::empty();
        let token = setup.home().join("token");
        std::fs::write(&token, json!({ "held": SUBJECT }).to_string()).unwrap();
        let in_json = json!({ "type": "json", "subject_token_field_name": "held" });
        let source = match kind {
            "file" => json!({ "file": token, "format": in_json }),
            "url" => json!({ "url": google.subject_url(), "headers": { "x-asks": "us" } }),
            _ => program.clone(),
        };
        model.wants_tokens_of(&google);
        setup.configure(&configuration(&model, GEMINI, ""));
        keep(&setup, &google.external(&source, acts).to_string());
        let file = setup.home().join(FILE);
        let setup = at_home(setup).with_variable("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1");
        let setup = setup.with_variable("AZIMUTH_TEST_GOOGLE", &google.origin());
        turns(&setup, 1, StopReason::EndTurn).await;
        // Without a project that is named, it is that of the pool.
        assert!(model.asked()[0].place().contains(&format!("/projects/{PROJECT}/")), "{}", model.asked()[0].place());
        let own = google.exchanges();
        assert_eq!(own.len(), 1 + usize::from(acts), "{own:?}");
        is_in_no_file(&setup.data_folder(), &[google.tokens(), vec![SUBJECT.to_owned()]].concat());

        let mut python = Command::new("python3");
        python.arg("-c").arg(EXCHANGE).arg(&file).arg(if kind == "executable" { "pluggable" } else { "identity_pool" });
        python.env("PYTHONPATH", real::tools().join("python"));
        python.env("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1");
        let Ok(output) = python.output() else { return not_tried("there is no python3") };
        if String::from_utf8_lossy(&output.stderr).contains("No module named") {
            return not_tried("google-auth is not installed (tests/tools/install-python)");
        }
        assert!(output.status.success(), "{output:?}");
        let mut theirs = google.exchanges().split_off(own.len());
        // Accounts between the two are left out there if there are none, and empty here.
        let none = |body: &mut Value| body.get("delegates").is_some_and(|them| them.is_null() || *them == json!([]));
        let mut own = own;
        for body in own.iter_mut().chain(&mut theirs) {
            if none(body) {
                body.as_object_mut().unwrap().remove("delegates");
            }
        }
        assert_eq!(own, theirs, "{kind}");
    }
}

#[tokio::test]
async fn a_program_for_an_identity_of_others_does_not_run_unless_the_user_allows_it() {
    let google = GoogleServer::start();
    let model = ModelServer::start([]).await;
    let source = json!({ "executable": { "command": "/bin/echo hunter2" } });
    let setup = user(&model, &google, GEMINI, &google.external(&source, false));
    let setup = setup.with_variable("AZIMUTH_TEST_GOOGLE", &google.origin());
    let error = error_of(&turns(&setup, 1, StopReason::Error).await);
    assert!(error.contains("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES") && !error.contains("hunter2"), "{error}");
    assert_eq!((google.asked().0, model.asked().len()), (0, 0));
}

/// Has google-auth exchange the token of an identity, by a file of credentials.
const EXCHANGE: &str = r#"
import importlib, sys, urllib.request
def request(url, method="GET", body=None, headers=None, **more):
    asked = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
    with urllib.request.urlopen(asked) as answer:
        answer.data = answer.read()
        return answer
kind = importlib.import_module("google.auth." + sys.argv[2]).Credentials
kind.from_file(sys.argv[1], scopes=["https://www.googleapis.com/auth/cloud-platform"]).refresh(request)
"#;

/// Has google-auth verify an assertion with the public half of a key.
const VERIFY: &str = r#"
import json, sys
from cryptography.hazmat.primitives import serialization
from google.auth import jwt
key = serialization.load_der_private_key(open(sys.argv[1], "rb").read(), None).public_key()
form = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
print(json.dumps(jwt.decode(sys.argv[2], certs=key.public_bytes(*form), audience=sys.argv[3])))
"#;

#[tokio::test]
async fn a_token_whose_time_is_over_costs_one_more_request() {
    let google = GoogleServer::start();
    let model = ModelServer::start([Answer::says("Done."), Answer::says("Done.")]).await;
    let setup = user(&model, &google, GEMINI, &google.user());
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    for _ in 0..2 {
        client.prompt(&session, "Go.").await;
        client.until_end(&session, StopReason::EndTurn).await;
        google.forget_tokens();
    }
    assert_eq!(client.finish().await, 0);
    assert_eq!((model.refusals(), google.asked().0), (vec!["UNAUTHENTICATED".to_owned()], 2));
}

#[tokio::test]
async fn a_wrong_clock_is_set_by_that_of_the_server_of_tokens() {
    let google = GoogleServer::start();
    google.ahead_by(Duration::from_secs(3 * 3_600));
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let setup = user(&model, &google, GEMINI, &google.service_account());
    turns(&setup, 1, StopReason::EndTurn).await;
    assert_eq!(google.asked().0, 2);
}

#[tokio::test]
async fn a_sign_in_that_has_ended_is_said_with_the_command_that_renews_it() {
    let google = GoogleServer::start();
    google.gives_instead(Instead::Ended);
    let model = ModelServer::start([]).await;
    let setup = user(&model, &google, GEMINI, &google.user());
    let error = error_of(&turns(&setup, 1, StopReason::Error).await);
    for part in ["invalid_grant", FILE, "`gcloud auth application-default login`"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("refresh-token-of-ada") && model.asked().is_empty(), "{error}");
}

#[tokio::test]
async fn a_server_of_tokens_that_answers_with_something_else_is_named() {
    for (instead, part) in [(Instead::Page, "no JSON"), (Instead::Empty, "without an `access_token`")] {
        let google = GoogleServer::start();
        google.gives_instead(instead);
        let model = ModelServer::start([]).await;
        let setup = user(&model, &google, GEMINI, &google.user());
        let error = error_of(&turns(&setup, 1, StopReason::Error).await);
        let host = google.metadata_host();
        assert!(error.contains(part) && error.contains(&host) && error.contains("proxy"), "{error}");
    }
    // A failure that may pass is tried again.
    let google = GoogleServer::start();
    google.gives_instead(Instead::Failure);
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let setup = user(&model, &google, GEMINI, &google.user());
    let events = turns(&setup, 1, StopReason::EndTurn).await;
    assert!(events.iter().any(|event| matches!(event, Event::Retrying { .. })), "{events:?}");
}

#[tokio::test]
async fn a_file_of_credentials_that_is_of_no_use_is_named_with_what_to_do() {
    let google = GoogleServer::start();
    let mut without_key = google.service_account();
    without_key["private_key"] = json!("-----BEGIN PRIVATE KEY-----\naHVudGVyMg==\n-----END PRIVATE KEY-----\n");
    let mut in_the_open = google.user();
    in_the_open["token_uri"] = json!("http://tokens.example/token");
    let of_aws = json!({ "type": "external_account", "audience": "//iam",
        "subject_token_type": "urn:ietf:params:aws:token-type:aws4_request" });
    for (text, part) in [
        ("{\"type\":".to_owned(), "not valid JSON"),
        (without_key.to_string(), "`private_key` is not an RSA key"),
        (in_the_open.to_string(), "without https"),
        (of_aws.to_string(), "of the kind `external_account of AWS`"),
        (json!({ "type": "authorized_user" }).to_string(), "it has no `client_id`"),
    ] {
        let model = ModelServer::start([]).await;
        model.wants_tokens_of(&google);
        let setup = Setup::empty();
        setup.configure(&configuration(&model, GEMINI, &format!("google_project = \"{PROJECT}\"\n")));
        keep(&setup, &text);
        let setup = at_home(setup);
        let error = error_of(&turns(&setup, 1, StopReason::Error).await);
        let parts = [part, FILE, "gcloud auth application-default login"];
        for part in parts.iter().take(if part.contains("RSA") { 2 } else { 3 }) {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!error.contains("aHVudGVyMg"), "{error}");
    }
    assert_eq!(google.asked().0, 0);
}

#[tokio::test]
async fn a_machine_at_google_needs_no_file_and_knows_its_project() {
    let google = GoogleServer::start();
    let model = ModelServer::start([Answer::says("Done.")]).await;
    model.wants_tokens_of(&google);
    let setup = Setup::empty();
    setup.configure(&configuration(&model, CLAUDE, ""));
    let home = setup.home().display().to_string();
    let setup = setup.with_variable("HOME", &home).with_variable("GCE_METADATA_HOST", &google.metadata_host());
    turns(&setup, 1, StopReason::EndTurn).await;
    assert_eq!(model.asked()[0].place(), place("anthropic", CLAUDE));
    assert_eq!(google.asked().0, 1);
}

#[tokio::test]
async fn a_model_without_rights_or_in_another_location_is_said_with_what_to_do() {
    let refused = |status: u16, code: &str, message: &str| {
        let body = json!({ "error": { "code": status, "status": code, "message": message } }).to_string();
        Answer::Refused { status, headers: Vec::new(), body }
    };
    for (answer, part) in [
        (
            refused(403, "PERMISSION_DENIED", "Permission 'aiplatform.endpoints.predict' denied"),
            "roles/aiplatform.user",
        ),
        (refused(404, "NOT_FOUND", "Publisher Model `x` was not found"), "google_location"),
    ] {
        let google = GoogleServer::start();
        let model = ModelServer::start([answer]).await;
        let setup = user(&model, &google, CLAUDE, &google.user());
        let error = error_of(&turns(&setup, 1, StopReason::Error).await);
        assert!(error.contains(part), "{error}");
        assert_eq!((model.asked().len(), google.asked().0), (1, 1), "no other token would have more rights");
    }
}

#[tokio::test]
async fn vertex_is_offered_if_there_are_credentials_and_a_project_and_nobody_is_asked_for_that() {
    let google = GoogleServer::start();
    let mut without_project = google.user();
    without_project.as_object_mut().unwrap().remove("quota_project_id");
    for (file, variable, is_offered) in [
        (None, Some("p"), false),
        (Some(&without_project), None, false),
        (Some(&without_project), Some("p"), true),
        (Some(&google.user()), None, true),
    ] {
        let setup = Setup::empty();
        setup.configure("shell_rc = false\n");
        file.into_iter().for_each(|file| keep(&setup, &file.to_string()));
        let setup = variable
            .into_iter()
            .fold(at_home(setup), |setup, project| setup.with_variable("GOOGLE_CLOUD_PROJECT", project));
        let project = project();
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let models: Value = serde_json::to_value(client.call::<methods::ModelList>(json!({})).await).unwrap();
        let of_vertex = models["models"].as_array().unwrap().iter().filter(|model| model["provider"] == "vertex");
        let available = of_vertex.filter(|model| model["available"] == true).count();
        // All of the data file, where those that think only if asked to are there twice; or none.
        assert_eq!(available, if is_offered { 25 } else { 0 }, "{models}");
        assert_eq!(client.finish().await, 0);
    }
    assert_eq!(google.asked().0, 0);
}

#[tokio::test]
async fn without_a_project_the_list_of_models_says_what_to_set() {
    let google = GoogleServer::start();
    let mut file = google.user();
    file.as_object_mut().unwrap().remove("quota_project_id");
    let setup = Setup::empty();
    setup.configure("shell_rc = false\n[providers.vertex]\n");
    keep(&setup, &file.to_string());
    let setup = at_home(setup);
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let models: Value = serde_json::to_value(client.call::<methods::ModelList>(json!({})).await).unwrap();
    let one = models["models"].as_array().unwrap().iter().find(|model| model["provider"] == "vertex").unwrap();
    let why = one["unavailableBecause"].as_str().unwrap();
    assert!(why.contains("GOOGLE_CLOUD_PROJECT") && why.contains("google_project"), "{why}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_repository_chooses_neither_the_account_nor_the_project_nor_the_server() {
    let google = GoogleServer::start();
    let (model, evil) = (ModelServer::start([Answer::says("Signed and sealed.")]).await, ModelServer::start([]).await);
    let setup = user(&model, &google, GEMINI, &google.user());
    let project = Project::new([("a.txt", "one\n")]);
    project.write(".azimuth/config.toml", &configuration(&evil, GEMINI, "google_project = \"evil\"\n"));
    project.write("key.json", &google.service_account().to_string());
    let output = exec(&setup, &project, &[]).await;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("Signed and sealed."), "{output:?}");
    // A variable that a repository's own tools may have set names a file in it.
    let key = project.path("key.json").display().to_string();
    for (variable, value) in
        [("GOOGLE_APPLICATION_CREDENTIALS", key.as_str()), ("GOOGLE_APPLICATION_CREDENTIALS", "key.json")]
    {
        let output = exec(&setup, &project, &[(variable, value)]).await;
        let said = String::from_utf8_lossy(&output.stderr);
        let is_named =
            said.contains("a project or a command may have written") || said.contains("its path is relative");
        assert!(!output.status.success() && is_named, "{variable}: {output:?}");
    }
    assert_eq!(google.asked(), (1, Vec::new()), "the key of the repository signs nothing");
}

/// Runs the real binary in a project, with these variables.
async fn exec(setup: &Setup, project: &Project, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(harness::binary());
    command.args(["exec", "--trust", "Go."]).current_dir(project.folder());
    command.env_remove("GOOGLE_APPLICATION_CREDENTIALS").env_remove("CLOUDSDK_CONFIG").env("NO_GCE_CHECK", "true");
    command.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    command.env("XDG_RUNTIME_DIR", setup.home()).env("HOME", setup.home());
    command.envs(variables.iter().copied());
    tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap()
}

#[tokio::test]
async fn an_answer_that_breaks_off_at_vertex_is_asked_for_again_with_the_same_token() {
    for name in [GEMINI, CLAUDE] {
        let google = GoogleServer::start();
        let cut = Answer::nothing().text("I be").step(Step::Cut);
        let model = ModelServer::start([cut, Answer::says("Done.")]).await;
        let setup = user(&model, &google, name, &google.user());
        turns(&setup, 1, StopReason::EndTurn).await;
        assert_eq!((model.asked().len(), google.asked().0), (2, 1), "{name}");
    }
}
