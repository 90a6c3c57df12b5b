//! A key is looked at before it is kept: the vendor is asked for its models with it.

use harness::{Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::auth::KeyState;
use protocol::{ErrorCode, methods};
use serde_json::{Value, json};

use crate::auth::User;

const WRONG: &str = "sk-a-wrong-key-0123456789";

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
    let login = |provider: &str, more: &[&str], key: &str| {
        let arguments = [&["auth", "login", provider, "--key"], more].concat();
        let (code, output, errors) = user.run(&arguments, &format!("{key}\n"));
        assert!(!output.contains(key) && !errors.contains(key), "{output}{errors}");
        (code, output, errors)
    };
    let (code, _, errors) = login("test", &[], WRONG);
    assert_eq!(code, 1);
    for said in ["test at 127.0.0.1", "refuses the key: status 401", "not kept", "--unchecked"] {
        assert!(errors.contains(said), "{said}: {errors}");
    }
    assert_eq!(user.azimuth(&["auth", "list", "--json"]), (0, String::new(), String::new()));

    let (code, output, _) = login("test", &["--unchecked"], WRONG);
    assert!(code == 0 && !output.contains("Note:"), "{output}");
    let (code, status, _) = user.azimuth(&["auth", "status", "test", "--check"]);
    assert!(code == 1 && status.contains("refuses the key") && !status.contains(WRONG), "{status}");

    let (code, output, errors) = login("test", &[], &good);
    assert!(code == 0 && output.contains("listed its models for the key"), "{output}{errors}");
    let (code, status, _) = user.azimuth(&["auth", "status", "test", "--check", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    assert_eq!((code, &status["check"]["state"]), (0, &json!("listed")));

    let (code, output, errors) = login("gone", &[], &good);
    assert!(code == 0 && output.contains("not checked, since gone at 127.0.0.1:9 does not answer"), "{output}{errors}");
}

#[tokio::test]
async fn a_panel_learns_the_finding_and_a_refused_key_does_not_replace_a_good_one() {
    let model = ModelServer::start([]).await;
    model.lists_for_its_key();
    let (configuration, good) = vendor(&model);
    let setup = Setup::empty();
    let data = setup.data_folder().display().to_string();
    let setup = setup.with_variable("AZIMUTH_DATA_DIR", &data);
    setup.configure(&format!("shell_rc = false\n{configuration}{GONE}"));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let keep = |provider: &str, key: &str| json!({ "provider": provider, "key": key });

    let check = client.call::<methods::AuthKeep>(keep("test", &good)).await.check.unwrap();
    assert_eq!(check.state, KeyState::Listed);
    let refused = client.request("azimuth/auth/keep", keep("test", WRONG)).await.unwrap_err();
    assert_eq!(refused.code, i64::from(ErrorCode::OperationFailed.code()));
    assert!(refused.message.contains("refuses the key") && !refused.message.contains(WRONG), "{refused:?}");
    let status = client.call::<methods::AuthKeep>(keep("test", &good)).await;
    assert_eq!(status.account.label, "default");

    let check = client.call::<methods::AuthKeep>(keep("gone", &good)).await.check.unwrap();
    assert_eq!(check.state, KeyState::Unknown);
    let mut unchecked = keep("test", WRONG);
    unchecked["unchecked"] = json!(true);
    assert_eq!(client.call::<methods::AuthKeep>(unchecked).await.check, None);
    assert_eq!(client.finish().await, 0);
}
