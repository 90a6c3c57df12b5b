//! The users' own details of providers, and the clouds that have keys, paths and ids of their own: through the real
//! server, with the model server in the vendor's stead.

#![expect(clippy::disallowed_methods, reason = "a test writes the user's file and starts the program itself")]

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};
use tokio::process::Command;

const KEY: &str = "key-of-the-test";

/// A user with a provider `mine`, of which more is said.
fn mine(model: &ModelServer, key: &str, more: &str) -> String {
    let url = model.url(Wire::Chat);
    format!("model = \"mine/big\"\nshell_rc = false\n[providers.mine]\nbase_url = \"{url}\"\n{key}\n{more}\n")
}

/// A turn of a user with this configuration: how it ended.
async fn one_turn(setup: &Setup, reason: StopReason) -> Vec<Event> {
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, reason).await;
    assert_eq!(client.finish().await, 0);
    events
}

fn said(events: &[Event]) -> String {
    serde_json::to_string(events).unwrap()
}

#[tokio::test]
async fn headers_and_fields_of_ones_own_reach_the_vendor_and_stay_out_of_the_log() {
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let more = "models = [\"big\"]\nheaders = { X-Tenant = \"env:TENANT\", X-Team = \"core\" }\n\
                extra_body = { prompt_cache_key = \"team\", model = \"other\" }";
    let setup = Setup::empty().with_variable("TENANT", "tenant-very-secret");
    setup.configure(&mine(&model, &format!("key = \"{KEY}\""), more));
    let events = one_turn(&setup, StopReason::EndTurn).await;
    let asked = model.asked().remove(0);
    assert_eq!((asked.header("x-tenant"), asked.header("x-team")), (Some("tenant-very-secret"), Some("core")));
    assert_eq!((&asked.body()["prompt_cache_key"], &asked.body()["model"]), (&json!("team"), &json!("big")));
    assert!(!said(&events).contains("tenant-very-secret"));
}

#[tokio::test]
async fn a_key_of_a_command_is_asked_for_again_once_the_vendor_refuses_it() {
    let refused = r#"{"error":{"message":"the key stale-key has expired","code":"invalid_api_key"}}"#;
    let refusal = Answer::Refused { status: 401, headers: Vec::new(), body: refused.into() };
    let model = ModelServer::start([refusal, Answer::says("Done.")]).await;
    model.takes_any_key();
    let setup = Setup::empty();
    let mark = setup.data_folder().with_file_name("asked-once").display().to_string();
    let script = format!("if [ -e '{mark}' ]; then echo {KEY}; else touch '{mark}'; echo stale-key; fi; echo more");
    let command = format!("key_command = {}", json!(["/bin/sh", "-c", script]));
    setup.configure(&mine(&model, &command, "models = [\"big\"]"));
    one_turn(&setup, StopReason::EndTurn).await;
    let keys: Vec<_> = model.asked().iter().map(|asked| asked.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(keys, ["Bearer stale-key".to_owned(), format!("Bearer {KEY}")]);
}

#[tokio::test]
async fn a_key_in_a_file_is_read_again_when_it_has_changed_and_shows_nowhere() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    model.takes_any_key();
    let setup = Setup::empty();
    let file = setup.home().join("the-key");
    setup.configure(&mine(&model, "key_file = \"~/the-key\"", "models = [\"big\"]"));
    let home = setup.home().display().to_string();
    let setup = setup.with_variable("HOME", &home);
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    assert!(error.contains("the-key` in providers.mine.key_file: the file cannot be read"), "{error}");
    let mut shown = said(&events);
    for key in ["first-key-of-the-file", "second-key-of-the-file"] {
        std::fs::write(&file, format!("{key}\n")).unwrap();
        client.prompt(&session, "Go.").await;
        shown.push_str(&said(&client.until_end(&session, StopReason::EndTurn).await));
    }
    let keys: Vec<_> = model.asked().iter().map(|asked| asked.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(keys, ["Bearer first-key-of-the-file", "Bearer second-key-of-the-file"]);
    let mut azimuth = Command::new(harness::binary());
    azimuth.args(["auth", "status"]).current_dir(project.folder()).env("HOME", setup.home());
    azimuth.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    let status = azimuth.env("XDG_RUNTIME_DIR", setup.home()).output().await.unwrap();
    assert!(status.status.success() && String::from_utf8_lossy(&status.stdout).contains("mine"), "{status:?}");
    shown.push_str(&format!("{status:?}"));
    shown.push_str(&std::fs::read_to_string(setup.home().join("azimuth.log")).unwrap_or_default());
    assert!(!shown.contains("key-of-the-file"), "{shown}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_command_that_fails_is_told_with_its_setting() {
    let model = ModelServer::start([]).await;
    let setup = Setup::empty();
    setup.configure(&mine(&model, "key_command = [\"no-such-vault\"]", "models = [\"big\"]"));
    let events = one_turn(&setup, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    assert!(error.contains("`no-such-vault` in providers.mine.key_command: there is no such program"), "{error}");
}

#[tokio::test]
async fn a_model_of_ones_own_has_its_window_and_its_price_in_the_bill() {
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let more = "[[providers.mine.model]]\nid = \"big\"\nwire_id = \"deployment-7\"\nname = \"Big\"\ncontext = 64000\n\
                price = { input = 1000, output = 2000, cache_read = 100 }\n";
    let setup = Setup::empty();
    setup.configure(&mine(&model, &format!("key = \"{KEY}\""), more));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let models: Value = serde_json::to_value(client.call::<methods::ModelList>(json!({})).await).unwrap();
    let big = models["models"].as_array().unwrap().iter().find(|model| model["id"] == "mine/big").unwrap();
    assert_eq!((&big["name"], &big["contextTokens"]), (&json!("Big"), &json!(64_000)));
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let Some(Event::TurnEnded { cost: Some(cost), .. }) = events.last() else { panic!("{events:?}") };
    // 80 tokens of input, 20 of the cache and 10 of output.
    assert!((cost - 0.102).abs() < 1e-9, "{cost}");
    assert_eq!(model.asked()[0].body()["model"], "deployment-7");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_gateway_that_speaks_each_makers_protocol_is_one_provider() {
    let model = ModelServer::start([Answer::says("One."), Answer::says("Two."), Answer::says("Three.")]).await;
    let gateway = format!(
        "model = \"gateway/claude-opus-5-5\"\nshell_rc = false\n[providers.gateway]\nbase_url = \"{}\"\n\
         key = \"{KEY}\"\nmodels = [\"claude-opus-5-5\", \"gpt-6.1-sol\", \"other\"]\n\
         [[providers.gateway.model]]\nid = \"claude-opus-5-5\"\nwire = \"anthropic\"\n\
         [[providers.gateway.model]]\nid = \"gpt-6.1-sol\"\nwire = \"openai-responses\"\n",
        model.url(Wire::Chat)
    );
    let setup = Setup::empty();
    setup.configure(&gateway);
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    for name in ["claude-opus-5-5", "gpt-6.1-sol", "other"] {
        let chosen = json!({ "sessionId": session, "model": format!("gateway/{name}") });
        client.call::<methods::ModelSelect>(chosen).await;
        client.prompt(&session, "Go.").await;
        client.until_end(&session, StopReason::EndTurn).await;
    }
    let asked = model.asked();
    let places: Vec<_> = asked.iter().map(|asked| (asked.model(), asked.place())).collect();
    let expected =
        [("claude-opus-5-5", "/v1/messages"), ("gpt-6.1-sol", "/v1/responses"), ("other", "/v1/chat/completions")];
    assert_eq!(places, expected);
    assert_eq!((asked[0].header("x-api-key"), asked[0].header("authorization")), (Some(KEY), None));
    assert_eq!(asked[1].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn azure_is_asked_at_its_own_path_with_its_own_header() {
    for (version, wire, place) in [
        (None, Wire::Responses, "/openai/v1/responses"),
        (
            Some("2025-04-01-preview"),
            Wire::Chat,
            "/openai/deployments/team-gpt/chat/completions?api-version=2025-04-01-preview",
        ),
    ] {
        let model = ModelServer::start([Answer::says("Done.")]).await;
        let endpoint = format!("{}/", model.url(Wire::Anthropic));
        let mut setup =
            Setup::empty().with_variable("AZURE_OPENAI_ENDPOINT", &endpoint).with_variable("AZURE_OPENAI_API_KEY", KEY);
        if let Some(version) = version {
            setup = setup.with_variable("OPENAI_API_VERSION", version);
        }
        setup.configure(
            "model = \"azure/gpt-6.1-sol\"\nshell_rc = false\n[[providers.azure.model]]\nid = \"gpt-6.1-sol\"\n\
             wire_id = \"team-gpt\"\n",
        );
        let events = one_turn(&setup, StopReason::EndTurn).await;
        let asked = model.asked().remove(0);
        assert_eq!((asked.place(), asked.header("api-key")), (place, Some(KEY)), "{wire:?}");
        assert_eq!((asked.header("authorization"), &asked.body()["model"]), (None, &json!("team-gpt")));
        let Some(Event::TurnEnded { cost: Some(cost), .. }) = events.last() else { panic!("{events:?}") };
        assert!(*cost > 0.0, "the deployment has its model's price");
    }
}

#[tokio::test]
async fn bedrock_is_asked_for_claude_at_its_own_path_and_for_a_regions_price() {
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let setup = Setup::empty();
    let url = model.url(Wire::Anthropic);
    setup.configure(&format!(
        "model = \"bedrock/us.anthropic.claude-opus-5-5\"\nshell_rc = false\n[providers.bedrock]\nbase_url = \"{url}\"\n\
         key = \"{KEY}\"\nmodels = [\"us.anthropic.claude-opus-5-5\"]\ncompat = {{ betas = false }}\n"
    ));
    one_turn(&setup, StopReason::EndTurn).await;
    let asked = model.asked().remove(0);
    assert_eq!((asked.place(), asked.header("x-api-key")), ("/anthropic/v1/messages", Some(KEY)));
    assert_eq!((asked.header("anthropic-version"), asked.header("anthropic-beta")), (Some("2023-06-01"), None));
    assert_eq!(asked.body()["model"], "us.anthropic.claude-opus-5-5");
}

#[tokio::test]
async fn a_prompt_that_azures_filter_refuses_is_said_in_words() {
    let body = r#"{"error":{"message":"The response was filtered","code":"content_filter","innererror":{"code":
        "ResponsibleAIPolicyViolation","content_filter_result":{"jailbreak":{"filtered":true,"detected":true}}}}}"#;
    let model = ModelServer::start([Answer::Refused { status: 400, headers: Vec::new(), body: body.into() }]).await;
    let setup = Setup::empty();
    setup.configure(&mine(&model, &format!("key = \"{KEY}\""), "models = [\"big\"]"));
    let events = one_turn(&setup, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    assert!(error.contains("the content filter of mine refused the prompt (jailbreak)"), "{error}");
}
