//! The offers of an empty chat: how the workspace is set up, what it lacks, and what to try at the open file.

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::PromptBlock;
use protocol::beginnings::SetupState::{InOrder, Lacks, Neutral};
use protocol::beginnings::{PromptBeginningsResult, SetupAbout, SetupState};
use protocol::methods;
use protocol::turn::StopReason;
use serde_json::{Value, json};

async fn beginnings(client: &Client, params: Value) -> PromptBeginningsResult {
    client.call::<methods::PromptBeginnings>(params).await
}

fn titles(told: &PromptBeginningsResult) -> Vec<&str> {
    told.beginnings.iter().map(|beginning| beginning.title.as_str()).collect()
}

/// The facts about the setup in one respect, each with its state, which says whether that is well.
fn said(told: &PromptBeginningsResult, about: SetupAbout) -> Vec<(SetupState, &str)> {
    let facts = told.setup.iter().filter(|fact| fact.about == about);
    facts.map(|fact| (fact.state, fact.text.as_str())).collect()
}

#[tokio::test]
async fn an_empty_chat_is_told_how_it_is_set_up_and_three_things_to_try_at_the_open_file() {
    let model = ModelServer::start([Answer::says("It prints.")]).await;
    let project = Project::new([
        ("AGENTS.md", "Use tabs.\n"),
        ("Cargo.toml", "[package]\nname = \"p\"\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("notes.md", "Notes.\n"),
        // Servers of many languages are for any repository.
        (".git/HEAD", "ref: refs/heads/main\n"),
    ]);
    let setup = Setup::model(&model, Wire::Chat);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let uri = project.uri("src/main.rs");
    client.open(&uri);
    client.replace(&uri, "{}", "{ println!() }");
    let told = beginnings(&client, json!({ "uri": uri })).await;
    let named = format!("Model: {}", harness::server::MODEL);
    assert_eq!(said(&told, SetupAbout::Model), [(InOrder, named.as_str())]);
    assert_eq!(said(&told, SetupAbout::Rules), [(InOrder, "Rules: AGENTS.md")]);
    assert!(said(&told, SetupAbout::Trust).is_empty(), "what is trusted needs no word");
    // The machine may have the server or not.
    let [(_, server)] = said(&told, SetupAbout::Servers)[..] else { panic!("{told:?}") };
    assert!(server.contains("rust-analyzer"), "{server}");
    let of_code = ["Explain src/main.rs", "Look for faults in src/main.rs", "Write tests for src/main.rs"];
    assert_eq!(titles(&told), of_code);
    let told_of_notes = beginnings(&client, json!({ "uri": project.uri("notes.md") })).await;
    assert_eq!(titles(&told_of_notes)[2], "Bring notes.md up to date", "nobody tests a text");

    // Each can be sent as it is.
    let session = client.new_session().await;
    let prompt = told.beginnings[0].prompt.clone();
    assert!(prompt.contains(&PromptBlock::File { uri }), "{prompt:?}");
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(model.asked()[0].user_text().contains("println"), "with what is typed and not saved");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_empty_chat_is_told_what_is_missing_and_what_to_try_without_a_file() {
    let huge = "long\n".repeat(300_000);
    let project = Project::new([("go.mod", "module example.com/m\n"), ("AGENTS.md", huge.as_str())]);
    let setup = Setup::empty();
    let profile = Profile { trust: Some("restricted"), ..Profile::panel() };
    let client = Client::start(&setup, &project, profile).await;
    for uri in [Value::Null, "file:///etc/hostname".into(), project.uri("none.rs").into(), "untitled:1".into()] {
        let told = beginnings(&client, json!({ "uri": uri })).await;
        let [(Lacks, model)] = said(&told, SetupAbout::Model)[..] else { panic!("{told:?}") };
        assert!(model.contains("model"), "{model}");
        assert_eq!(
            said(&told, SetupAbout::Trust),
            [(Lacks, "This folder is not trusted: nothing that it supplies runs")]
        );
        let left_out = "The rules in AGENTS.md were left out: a file of 1500000 bytes is too large for rules.";
        assert_eq!(said(&told, SetupAbout::Rules), [(Lacks, left_out)]);
        assert!(said(&told, SetupAbout::Servers).is_empty(), "no file is open that one would be for: {told:?}");
        assert_eq!(titles(&told)[0], "Show me around this project", "{uri}");
        assert_eq!(told.beginnings.len(), 3);
    }
    project.write("AGENTS.md", "");
    let told = beginnings(&client, json!({})).await;
    let [(Neutral, none)] = said(&told, SetupAbout::Rules)[..] else { panic!("no rules are no fault: {told:?}") };
    assert!(none.starts_with("No rules: "), "{none}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_open_file_that_usually_holds_keys_is_not_offered_as_a_prompt() {
    let project = Project::new([("go.mod", "module example.com/m\n"), (".env", "KEY=1\n"), ("deploy.tf", "a = 1\n")]);
    std::os::unix::fs::symlink(".env", project.path("link.txt")).unwrap();
    let setup = Setup::empty();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    for name in [".env", "link.txt"] {
        let told = beginnings(&client, json!({ "uri": project.uri(name) })).await;
        assert_eq!(titles(&told)[0], "Show me around this project", "{name}");
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_open_file_that_a_rule_keeps_from_being_read_is_not_offered_as_a_prompt() {
    let project = Project::new([("go.mod", "module example.com/m\n"), ("plans.txt", "Plans.\n"), ("a.txt", "A.\n")]);
    std::os::unix::fs::symlink("plans.txt", project.path("link.txt")).unwrap();
    let setup = Setup::empty();
    setup.configure("[permissions]\ndeny = ['Read(plans.txt)']\nask = ['Read(a.txt)']\n");
    let client = Client::start(&setup, &project, Profile::panel()).await;
    for name in ["plans.txt", "link.txt"] {
        let told = beginnings(&client, json!({ "uri": project.uri(name) })).await;
        assert_eq!(titles(&told)[0], "Show me around this project", "{name}");
    }
    let told = beginnings(&client, json!({ "uri": project.uri("a.txt") })).await;
    assert_eq!(titles(&told)[0], "Explain a.txt", "what the user mentions is not asked for");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_model_of_a_chat_is_that_of_its_session() {
    let model = ModelServer::start([]).await;
    let project = Project::new([]);
    let setup = Setup::empty();
    let configured = Setup::configuration(&model, Wire::Chat);
    // One that has no key is the default.
    setup.configure(&configured.replace(harness::server::MODEL, "anthropic/claude-haiku-4-5"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (session, other) = (client.new_session().await, client.new_session().await);
    let selected = json!({ "sessionId": session, "model": harness::server::MODEL });
    client.call::<methods::ModelSelect>(selected).await;
    let named = format!("Model: {}", harness::server::MODEL);
    let told = beginnings(&client, json!({ "sessionId": session })).await;
    assert_eq!(said(&told, SetupAbout::Model), [(InOrder, named.as_str())]);
    for params in [json!({}), json!({ "sessionId": other }), json!({ "sessionId": "none" })] {
        let told = beginnings(&client, params.clone()).await;
        let [(Lacks, why)] = said(&told, SetupAbout::Model)[..] else { panic!("{params}: {told:?}") };
        assert!(why.contains("cannot be used"), "{why}");
    }
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_model_is_as_missing_as_it_is_for_a_turn_while_the_configuration_cannot_be_read() {
    let project = Project::new([]);
    let setup = Setup::empty().with_variable("ANTHROPIC_API_KEY", "sk-ant-1");
    setup.configure("\n[permissions\n");
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let _: Value = client.notification("window/showMessage").await;
    let told = beginnings(&client, json!({})).await;
    let [(Lacks, why)] = said(&told, SetupAbout::Model)[..] else { panic!("{told:?}") };
    assert!(why.contains("Until this is fixed, nothing is sent to a model"), "{why}");
    assert_eq!(client.finish().await, 0);
}
