//! Providers that users add themselves: with `azimuth providers` in a terminal, and with `/provider` in a chat.

#![expect(clippy::disallowed_methods, reason = "a test makes its files and starts the program itself")]

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use harness::server::KEY;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::methods::Notification;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The configuration that the user has written so far.
const TEXT: &str =
    "# My configuration.\nshell_rc = false # my start files are slow\n\n# Never.\n[permissions]\ndeny = []\n";

struct User {
    folder: TempDir,
}

impl User {
    fn new() -> Self {
        let user = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(user.folder.path().join("project")).unwrap();
        std::fs::write(user.file(), TEXT).unwrap();
        std::fs::set_permissions(user.file(), PermissionsExt::from_mode(0o600)).unwrap();
        user
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("config.toml")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    /// Runs the program with this key in a variable, and this on its standard input. Gives its exit code, output and
    /// errors.
    fn azimuth(&self, key: &str, arguments: &[&str], input: &str) -> (i32, String, String) {
        let mut command = Command::new(harness::binary());
        command.args(arguments).current_dir(self.folder.path().join("project")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        command.env("AZIMUTH_DATA_DIR", self.folder.path().join("data")).env("AZIMUTH_CONFIG", self.file());
        command.env("NEW_KEY", key).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // It may end without reading.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }

    /// The same where all goes well. Gives the output.
    fn says(&self, arguments: &[&str], input: &str) -> String {
        let (code, output, errors) = self.azimuth(KEY, arguments, input);
        assert_eq!(code, 0, "{arguments:?}: {output}{errors}");
        output
    }

    /// A provider, as `azimuth providers --json` lists it.
    fn listed(&self, name: &str) -> Value {
        let lines = self.says(&["providers", "--json"], "");
        let mut rows = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.find(|row| row["provider"] == name).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_gateway_over_any_wire_is_added_by_its_address_alone_and_has_the_models_that_it_lists() {
    for wire in [Wire::Anthropic, Wire::Responses] {
        let model = ModelServer::start([Answer::says("ok")]).await;
        model.may_rewrite();
        let (user, url) = (User::new(), model.url(wire));
        let add =
            ["providers", "add", "gw", "--base-url", &url, "--wire", wire.name(), "--key-env", "NEW_KEY", "--check"];
        let told = user.says(&add, "");
        assert!(told.contains("gw/model-1"), "{told}");
        assert!(!user.text().contains("models ="), "{}", user.text());
        let models = user.says(&["models"], "");
        let of_it: Vec<_> = models.lines().filter(|line| line.starts_with("gw/")).collect();
        assert!(matches!(of_it[..], [line] if line.starts_with("gw/model-1")), "{of_it:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_is_added_once_its_key_is_right_and_its_models_can_be_asked_at_once() {
    let model = ModelServer::start([Answer::says("ok"), Answer::says("Hello yourself.")]).await;
    model.lists_for_its_key();
    model.may_rewrite();
    let (user, url) = (User::new(), model.url(Wire::Chat));
    let add = ["providers", "add", "new", "--base-url", &url, "--key-env", "NEW_KEY", "--check"];
    let (code, _, errors) = user.azimuth("key-that-is-wrong", &add, "");
    assert_eq!(code, 1);
    assert!(errors.contains("does not accept the key: status 401") && errors.contains("Check "), "{errors}");
    assert!(!errors.contains("key-that-is-wrong") && user.text() == TEXT, "{errors}");

    let output = user.says(&add, "");
    assert!(output.contains("model-1 answered a short request"), "{output}");
    assert!(output.contains("Try it: azimuth exec -m new/model-1"), "{output}");
    let table = format!("[providers.new]\nbase_url = \"{url}\"\nkey_env = \"NEW_KEY\"\n");
    assert_eq!(user.text(), format!("{TEXT}\n{table}"), "comments and order are kept");
    assert_eq!(user.file().metadata().unwrap().permissions().mode() & 0o777, 0o600);

    assert!(user.says(&["models"], "").contains("new/model-1"));
    let row = user.listed("new");
    let host = url.strip_prefix("http://").unwrap().split('/').next().unwrap();
    assert_eq!((&row["host"], &row["wire"], &row["models"]), (&json!(host), &json!("openai-chat"), &json!(1)));
    assert!(row["problem"].is_null() && !row.to_string().contains(KEY), "{row}");
    let other = user.listed("openrouter");
    assert!(other["problem"].as_str().unwrap().contains("OPENROUTER_API_KEY"), "{other}");
    let output = user.says(&["exec", "-m", "new/model-1", "Say hello"], "");
    assert!(output.contains("Hello yourself."), "{output}");

    // A key of the accounts is nowhere in the file.
    user.says(&["providers", "add", "kept", "--base-url", &url, "--sign-in"], &format!("{KEY}\n"));
    assert!(user.text().ends_with(&format!("[providers.kept]\nbase_url = \"{url}\"\n")), "{}", user.text());
    assert_eq!(user.listed("kept")["key"], "the account `default`");

    let (code, _, errors) = user.azimuth(KEY, &["exec", "/provider remove new"], "");
    assert!(code == 2 && errors.contains("use `azimuth providers` in a terminal"), "{errors}");
    let output = user.says(&["providers", "remove", "kept"], "");
    assert!(output.contains("`azimuth auth logout kept` forgets it"), "{output}");
    user.says(&["providers", "remove", "new"], "");
    assert_eq!(user.text().trim_end(), TEXT.trim_end());
}

/// Says a slash command, and gives its message, and true if it failed.
async fn say(client: &Client, session: &SessionId, text: &str) -> (String, bool) {
    let prompt = json!([{ "type": "text", "text": text }]);
    let said = client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    assert!(said.turn_id.is_none(), "{text} makes no turn");
    let is_one = |event: &Event| matches!(event, Event::CommandExecuted { .. });
    match client.until(session, "a command", is_one).await.last() {
        Some(Event::CommandExecuted { command, message, is_error }) => {
            assert!(!command.contains("sk-1"), "a key is not kept: {command}");
            (message.clone(), *is_error)
        }
        other => panic!("no command: {other:?}"),
    }
}

#[tokio::test]
async fn a_provider_that_is_added_in_a_chat_can_be_chosen_in_it_at_once() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    model.takes_any_key();
    let (setup, project, url) = (Setup::empty(), Project::new([]), model.url(Wire::Chat));
    setup.configure(TEXT);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let (message, failed) = say(&client, &session, "/provider add new --base-url http://127.0.0.1:9/v1").await;
    assert!(failed && message.contains("does not answer: nothing answers there"), "{message}");
    let (message, failed) = say(&client, &session, &format!("/provider add new --base-url {url} --key sk-1")).await;
    assert!(failed && message.contains("A key does not belong in a chat"), "{message}");
    let text = || std::fs::read_to_string(setup.config_file()).unwrap();
    assert_eq!(text(), TEXT);

    let (message, failed) = say(&client, &session, &format!("/provider add new --base-url {url}")).await;
    assert!(!failed && message.contains("- `/model new/model-1`"), "{message}");
    let _: Value = client.notification(methods::ModelsChanged::METHOD).await;
    assert_eq!(text(), format!("{TEXT}\n[providers.new]\nbase_url = \"{url}\"\n"));
    client.prompt(&session, "/model new/model-1 Say hello.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let (message, _) = say(&client, &session, "/provider list").await;
    assert!(message.contains("- `new`: 127.0.0.1:") && message.contains("- `openrouter`: "), "{message}");

    let (message, failed) = say(&client, &session, "/provider remove new").await;
    assert!(!failed && message.contains("`new` is removed from"), "{message}");
    let _: Value = client.notification(methods::ModelsChanged::METHOD).await;
    assert_eq!(text().trim_end(), TEXT.trim_end());
    let (message, failed) = say(&client, &session, "/model new/model-1").await;
    assert!(failed && message.contains("there is no model"), "{message}");
    assert_eq!(client.finish().await, 0);
}
