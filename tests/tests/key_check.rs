//! A key is looked at before it is kept, and whenever the user wants it: the vendor is asked with it.

#![expect(clippy::disallowed_methods, reason = "a test reads the file of accounts")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harness::{Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::auth::KeyState;
use protocol::{ErrorCode, methods};
use serde_json::{Value, json};

use crate::auth::User;

const WRONG: &str = "sk-a-wrong-key-0123456789";
const GOOD: &str = "sk-a-good-key-0123456789";
const OLD: &str = "sk-an-old-key-0123456789";

const LIST: &str = r#"{"data":[{"id":"model-1"}]}"#;
const UNKNOWN: &str = r#"{"error":{"message":"this key is unknown."}}"#;

/// A vendor that says to each path and key what a test says; a request without a key has an empty one.
struct Vendor {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<(String, String)>>>,
}

type Said = (u16, &'static str);

impl Vendor {
    fn start(answer: impl Fn(&str, &str) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, asked) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<_>>>::default());
        let (heard, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (heard, answer) = (Arc::clone(&heard), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &heard, &*answer));
            }
        });
        Self { address, asked }
    }

    /// One that lists its models for this key only.
    fn for_key(key: &'static str) -> Self {
        Self::start(move |_, asked| if asked == key { (200, LIST) } else { (401, UNKNOWN) })
    }

    fn configuration(&self, name: &str, more: &str) -> String {
        let address = self.address;
        format!("[providers.{name}]\nbase_url = \"http://{address}/v1\"\nwire = \"openai-chat\"\n{more}")
    }

    fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(mut stream: TcpStream, heard: &Mutex<Vec<(String, String)>>, answer: &dyn Fn(&str, &str) -> Said) {
    let (mut path, mut key) = (String::new(), String::new());
    for line in BufReader::new(stream.try_clone().unwrap()).lines() {
        let line = line.unwrap_or_default();
        if line.is_empty() {
            break;
        }
        if path.is_empty() {
            line.split(' ').nth(1).unwrap_or_default().clone_into(&mut path);
        }
        if let Some(sent) = line.to_ascii_lowercase().strip_prefix("authorization: bearer ") {
            key = line[line.len() - sent.len()..].to_owned();
        }
    }
    heard.lock().unwrap_or_else(PoisonError::into_inner).push((path.clone(), key.clone()));
    let (status, body) = answer(&path, &key);
    let length = body.len();
    let _ = write!(stream, "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
}

fn kept(data: &Path) -> String {
    std::fs::read_to_string(data.join("credentials.json")).unwrap_or_default()
}

/// Keeps a key by the command line. Gives the exit code, the output and the errors, in none of which is the key.
fn login(user: &User, provider: &str, more: &[&str], key: &str) -> (i32, String, String) {
    let arguments = [&["auth", "login", provider, "--key"], more].concat();
    let (code, output, errors) = user.run(&arguments, &format!("{key}\n"));
    assert!(!output.contains(key) && !errors.contains(key), "{output}{errors}");
    (code, output, errors)
}

/// The configuration of a vendor without a key, and the key that it takes.
fn vendor(model: &ModelServer) -> (String, String) {
    let usual = Setup::configuration(model, Wire::Chat);
    let line = usual.lines().find(|line| line.starts_with("key = ")).unwrap();
    let key = line.trim_start_matches("key = ").trim_matches('"').to_owned();
    (usual.replace(&format!("{line}\n"), "").replace("shell_rc = false\n", ""), key)
}

/// A vendor that nobody answers for.
const GONE: &str = "[providers.gone]\nbase_url = \"http://127.0.0.1:9/v1\"\nwire = \"openai-chat\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_is_kept_only_on_demand_a_good_one_is_and_so_is_one_that_nobody_can_be_asked_about() {
    let model = ModelServer::start([]).await;
    model.lists_for_its_key();
    let (configuration, good) = vendor(&model);
    let user = User::new(|_| format!("{configuration}{GONE}"));
    let (code, _, errors) = login(&user, "test", &[], WRONG);
    assert_eq!(code, 1);
    let advice = "or keep it all the same with `azimuth auth login test --key --unchecked`";
    for said in
        ["asking test about the key", "test (127.0.0.1", "refuses the key: status 401", "It was not kept.", advice]
    {
        assert!(errors.contains(said), "{said}: {errors}");
    }
    let (_, _, errors) = login(&user, "test", &["--name", "work"], WRONG);
    assert!(errors.contains("login test --key --unchecked --name work`"), "{errors}");
    let (_, _, errors) = login(&user, "test", &["--name", "my work"], WRONG);
    assert!(errors.contains("login test --key --unchecked --name='my work'`"), "{errors}");
    assert_eq!(user.azimuth(&["auth", "list", "--json"]), (0, String::new(), String::new()));

    let (code, output, errors) = login(&user, "test", &["--unchecked"], WRONG);
    assert!(code == 0 && !output.contains("takes the key") && !errors.contains("asking"), "{output}{errors}");
    assert_eq!(login(&user, "test", &["--no-check"], WRONG).0, 0);
    let (code, status, errors) = user.azimuth(&["auth", "status", "test", "--check"]);
    assert!(code == 1 && status.contains("refuses the key") && !status.contains(WRONG), "{status}");
    assert!(errors.contains("checking the keys of test"), "{errors}");

    let (code, output, errors) = login(&user, "test", &[], &good);
    assert!(code == 0 && output.contains("takes the key.") && !output.contains("Note:"), "{output}{errors}");
    let (code, status, errors) = user.azimuth(&["auth", "status", "test", "--check", "--json"]);
    assert_eq!(errors, "");
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((code, &status["checks"][0]["state"], &status["checks"][0]["name"]), (0, &json!("taken"), &Value::Null));

    let (code, output, errors) = login(&user, "gone", &[], &good);
    assert_eq!(code, 0, "{output}{errors}");
    assert!(output.contains("Note: The key is not checked, since gone (127.0.0.1:9) does not answer"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_words_that_the_key_is_wrong_keep_it_out_and_then_the_accounts_stay_as_they_are() {
    let wrong = [
        (401, UNKNOWN),
        (401, ""),
        (400, r#"{"error":{"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}"#),
        (400, r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk."}"#),
    ];
    for said in wrong {
        let vendor = Vendor::start(move |_, _| said);
        let user = User::new(|_| vendor.configuration("test", "") + GONE);
        for provider in ["gone", "test"] {
            assert_eq!(login(&user, provider, &["--unchecked"], OLD).0, 0);
        }
        let before = kept(&user.data());
        assert!(before.contains(OLD), "{before}");
        let (code, _, errors) = login(&user, "test", &[], WRONG);
        assert!(
            code == 1 && errors.contains("refuses the key: status ") && !errors.contains(".."),
            "{said:?}: {errors}"
        );
        assert_eq!(kept(&user.data()), before, "{said:?}");
    }
    let vendor = Vendor::start(|_, key| if key.is_empty() { (429, "") } else { (200, LIST) });
    let user = User::new(|_| vendor.configuration("test", ""));
    let (_, output, errors) = login(&user, "test", &[], GOOD);
    assert!(output.contains("is not checked: status 429."), "it may list for anybody: {output}{errors}");
    let says_nothing = [
        ((403, r#"{"error":{"message":"not for you."}}"#), "does not list its models for the key: status 403"),
        ((404, ""), "lists no models: status 404."),
        ((400, r#"{"error":{"message":"not in your country","status":"FAILED_PRECONDITION"}}"#), "status 400"),
        ((429, ""), "is not checked: status 429."),
        ((500, ""), "is not checked: status 500."),
        ((200, LIST), "lists its models without a key too"),
        ((200, r#"{"data":[]}"#), "lists no model, which says nothing of the key."),
    ];
    for (said, words) in says_nothing {
        let vendor = Vendor::start(move |_, _| said);
        let user = User::new(|_| vendor.configuration("test", ""));
        let (code, output, errors) = login(&user, "test", &[], GOOD);
        assert!(code == 0 && output.contains("Note: ") && output.contains(words), "{said:?}: {output}{errors}");
        assert!(!output.contains(".."), "{output}");
        assert!(kept(&user.data()).contains(GOOD), "{said:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vendor_that_never_answers_says_nothing_of_the_key() {
    let vendor = Vendor::start(|_, _| {
        std::thread::sleep(Duration::from_secs(60));
        (200, LIST)
    });
    let user = User::new(|_| vendor.configuration("test", ""));
    let (code, output, errors) = login(&user, "test", &[], GOOD);
    assert!(code == 0 && output.contains("does not answer: no answer within 5 seconds."), "{output}{errors}");
    assert!(kept(&user.data()).contains(GOOD));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_several_keys_is_checked_by_itself_and_one_that_is_refused_is_told() {
    let vendor = Vendor::for_key(GOOD);
    let more = "keys = [\"env:ONE_KEY\", \"account:mine\", \"env:TWO_KEY\"]\n";
    let variables = [("ONE_KEY", WRONG), ("TWO_KEY", GOOD)];
    let user = User::new(|_| vendor.configuration("test", more)).with_variables(&variables);
    assert_eq!(login(&user, "test", &["--unchecked", "--name", "mine"], OLD).0, 0);
    let (code, status, errors) = user.azimuth(&["auth", "status", "test", "--check"]);
    assert_eq!(code, 1, "{status}{errors}");
    for (name, finding) in [("ONE_KEY", "refuses"), ("mine", "refuses"), ("TWO_KEY", "takes")] {
        let line = format!("  {name}: test ({}) {finding} the key", vendor.address);
        assert!(status.contains(&line), "{line}: {status}");
    }
    let mut keys: Vec<_> = vendor.asked().into_iter().map(|(_, key)| key).collect();
    keys.sort();
    assert_eq!(keys, ["", GOOD, WRONG, OLD], "each is asked about once, and a good one again without it");

    // Keys that are kept as accounts stand in for each other without a list.
    let user = User::new(|_| vendor.configuration("test", ""));
    for (name, key) in [("default", WRONG), ("work", GOOD)] {
        assert_eq!(login(&user, "test", &["--unchecked", "--name", name], key).0, 0);
    }
    let (code, status, _) = user.azimuth(&["auth", "status", "test", "--check", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    let of = |name: &str| {
        let checks = status["checks"].as_array().unwrap();
        checks.iter().find(|check| check["name"] == name).unwrap()["state"].clone()
    };
    assert_eq!((code, of("default"), of("work")), (1, json!("refused"), json!("taken")));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_to_whoever_is_ruled_out_signs_or_would_see_another_key() {
    let vendor = Vendor::for_key(GOOD);
    let configuration = |more: &str| vendor.configuration("test", more);
    let cloud = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "s"), ("AWS_REGION", "eu-west-1")];
    let disabled = "disabled_providers = [\"test\"]\n".to_owned() + &configuration(&format!("key = \"{GOOD}\"\n"));
    let header = configuration(&format!("key = \"{WRONG}\"\nheaders = {{ Authorization = \"Bearer {GOOD}\" }}\n"));
    for (configuration, provider, why) in [
        (disabled, "test", "nothing is sent to test, since the setting disabled_providers names it."),
        (header, "test", "the header `authorization` in providers.test.headers counts instead."),
        (configuration("aws_region = \"eu-west-1\"\n"), "test", "are sent with the credentials of a cloud"),
        (String::new(), "bedrock", "only because of credentials that were found"),
    ] {
        let user = User::new(|_| configuration).with_variables(&cloud);
        let (code, status, errors) = user.azimuth(&["auth", "status", provider, "--check"]);
        assert!(code == 0 && status.contains("The key is not checked: "), "{why}: {status}{errors}");
        assert!(status.contains(why), "{why}: {status}");
        assert_eq!(vendor.asked(), [], "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn openrouter_which_lists_for_any_key_is_asked_for_the_credit_of_the_key() {
    let vendor = Vendor::start(|path, key| match (path, key) {
        ("/v1/key", GOOD) => (200, r#"{"data":{"usage":1}}"#),
        ("/v1/key", _) => (401, UNKNOWN),
        _ => (200, LIST),
    });
    let user = User::new(|_| vendor.configuration("openrouter", ""));
    let (code, _, errors) = login(&user, "openrouter", &[], WRONG);
    assert!(code == 1 && errors.contains("refuses the key: status 401: this key is unknown."), "{errors}");
    let (code, output, _) = login(&user, "openrouter", &[], GOOD);
    assert!(code == 0 && output.contains("takes the key."), "{output}");
    let asked = vendor.asked();
    let with_good: Vec<_> = asked.iter().filter(|(_, key)| key == GOOD).map(|(path, _)| path.as_str()).collect();
    assert_eq!(with_good, ["/v1/key"], "{asked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gateway_in_openrouters_stead_need_not_know_the_place_of_the_credit() {
    for place in [(401, UNKNOWN), (403, UNKNOWN), (404, ""), (200, "<html>Welcome</html>")] {
        let vendor = Vendor::start(move |path, key| match (path, key) {
            ("/v1/key", _) => place,
            (_, GOOD) => (200, LIST),
            _ => (401, UNKNOWN),
        });
        let user = User::new(|_| vendor.configuration("openrouter", ""));
        let (code, _, errors) = login(&user, "openrouter", &[], WRONG);
        assert!(code == 1 && errors.contains("refuses the key: status 401"), "{place:?}: {errors}");
        let (code, output, errors) = login(&user, "openrouter", &[], GOOD);
        assert!(code == 0 && output.contains("takes the key."), "{place:?}: {output}{errors}");
    }
}

/// A panel at this vendor, and the folder of its accounts.
async fn panel(configuration: &str) -> (Client, Setup, Project) {
    let setup = Setup::empty();
    let data = setup.data_folder().display().to_string();
    let setup = setup.with_variable("AZIMUTH_DATA_DIR", &data);
    setup.configure(&format!("shell_rc = false\n{configuration}"));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    (client, setup, project)
}

fn keep(provider: &str, key: &str) -> Value {
    json!({ "provider": provider, "key": key })
}

#[tokio::test]
async fn a_panel_learns_the_finding_and_a_refused_key_does_not_replace_a_good_one() {
    let vendor = Vendor::for_key(GOOD);
    let (client, setup, _project) = panel(&format!("{}{GONE}", vendor.configuration("test", ""))).await;
    let data = setup.data_folder();
    let check = client.call::<methods::AuthKeep>(keep("test", GOOD)).await.check.unwrap();
    assert_eq!((check.state, check.words), (KeyState::Taken, format!("test ({}) takes the key.", vendor.address)));
    let check = client.call::<methods::AuthKeep>(keep("gone", GOOD)).await.check.unwrap();
    assert_eq!(check.state, KeyState::Unknown);

    let before = kept(&data);
    let refused = client.request("azimuth/auth/keep", keep("test", WRONG)).await.unwrap_err();
    assert_eq!(refused.code, i64::from(ErrorCode::NotConfirmed.code()));
    let said = "refuses the key: status 401: this key is unknown. It was not kept. Check that it is whole";
    assert!(refused.message.contains(said), "{refused:?}");
    assert!(!refused.message.contains(WRONG) && !refused.message.contains("azimuth auth"), "{refused:?}");
    assert!(before.contains(GOOD) && !before.contains(WRONG));
    assert_eq!(kept(&data), before, "the good key is still there");

    // The user confirms it: the same key goes without being asked about.
    let mut unchecked = keep("test", WRONG);
    unchecked["unchecked"] = json!(true);
    assert_eq!(client.call::<methods::AuthKeep>(unchecked).await.check, None);
    assert!(kept(&data).contains(WRONG));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_key_whose_vendor_takes_its_time_does_not_replace_one_that_was_given_later() {
    let vendor = Vendor::start(|_, key| {
        if key == OLD {
            std::thread::sleep(Duration::from_millis(1_500));
        }
        if key.is_empty() { (401, UNKNOWN) } else { (200, LIST) }
    });
    let (client, setup, _project) = panel(&vendor.configuration("test", "")).await;
    let slow = client.request("azimuth/auth/keep", keep("test", OLD));
    let other = client.request("azimuth/auth/keep", json!({ "provider": "test", "key": OLD, "label": "other" }));
    let quick = client.request("azimuth/auth/keep", keep("test", GOOD));
    let (slow, other, quick) = tokio::join!(slow, other, quick);
    assert!(quick.is_ok() && other.is_ok(), "{quick:?} {other:?}");
    let problem = slow.unwrap_err();
    assert!(problem.message.contains("a newer key was kept under this name meanwhile"), "{problem:?}");
    let text = kept(&setup.data_folder());
    assert_eq!((text.matches(OLD).count(), text.matches(GOOD).count()), (1, 1), "the one under another name is kept");
    assert_eq!(client.finish().await, 0);
}
