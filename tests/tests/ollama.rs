//! Ollama, which serves a model with the window that it loaded it with, and cuts off what does not fit: through the
//! real server, with the model server in Ollama's stead.

use harness::{Answer, Client, ModelServer, Ollama, Profile, Project, Setup, Wire};
use protocol::event::Severity;
use protocol::model::ModelInfo;
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::json;

const MODEL: &str = "ollama/coder:7b";

/// The configuration of a user whose Ollama is this server.
fn configuration(server: &ModelServer, more: &str) -> String {
    let url = server.url(Wire::Chat);
    let url = url.trim_end_matches("/v1");
    format!(
        "model = \"{MODEL}\"\nshell_rc = false\n[providers.ollama]\nbase_url = \"{url}\"\nkey = \"{}\"\n{more}",
        harness::server::KEY
    )
}

fn setup(server: &ModelServer, more: &str) -> Setup {
    let setup = Setup::empty();
    setup.configure(&configuration(server, more));
    setup
}

/// The model as the picker shows it.
async fn listed(client: &Client, unasked: bool) -> ModelInfo {
    let listed = client.call::<methods::ModelList>(json!({ "unasked": unasked })).await;
    assert_eq!(listed.notes, [""; 0]);
    listed.models.into_iter().find(|model| model.id == MODEL).unwrap()
}

/// The sizes of the window that a turn told, and its warnings.
fn told(events: &[Event]) -> (Vec<u64>, Vec<&str>) {
    let limits = events.iter().filter_map(|event| match event {
        Event::ContextUsed { limit, .. } => Some(*limit),
        _ => None,
    });
    let warnings = events.iter().filter_map(|event| match event {
        Event::Notice { severity: Severity::Warning, text } => Some(text.as_str()),
        _ => None,
    });
    (limits.collect(), warnings.collect())
}

#[tokio::test]
async fn the_window_that_ollama_loads_a_model_with_is_known_from_its_first_answer_on_and_a_small_one_is_told() {
    let server = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    server.plays(Ollama::new("coder:7b", 8192).with_abilities(&["completion", "tools", "vision"]));
    let setup = setup(&server, "");
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let model = listed(&client, false).await;
    assert_eq!((model.context_tokens, model.warning.as_deref(), model.images), (32_768, None, true));
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let (limits, warnings) = told(&events);
    assert_eq!(limits.last(), Some(&8192), "{limits:?}");
    let [warning] = warnings[..] else { panic!("{warnings:?}") };
    assert!(
        warning.contains("a window of 8192 tokens") && warning.contains("OLLAMA_CONTEXT_LENGTH=64000"),
        "{warning}"
    );
    client.prompt(&session, "Go on.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let (limits, warnings) = told(&events);
    assert!(
        limits.iter().all(|limit| *limit == 8192) && warnings.is_empty(),
        "it is told once: {limits:?} {warnings:?}"
    );
    let most = server.asked()[1].body()["max_tokens"].as_u64().unwrap();
    assert!(most <= 2048, "the answer leaves room for the prompt: {most}");
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let model = listed(&client, false).await;
    let warning = model.warning.unwrap();
    assert_eq!(model.context_tokens, 8192);
    assert!(warning.contains("at least 64000") && warning.contains("`num_ctx`"), "{warning}");
    assert!(model.available, "it can be used all the same");
    assert_eq!(client.finish().await, 0);
    assert_eq!(server.times("show"), 2, "the details of a model are asked for once by each process");
}

#[tokio::test]
async fn a_window_that_is_large_enough_and_one_that_the_user_set_are_taken_without_a_word() {
    for (window, own, expected) in [(131_072, None, 131_072), (65_536, Some(64_000), 64_000)] {
        let server = ModelServer::start([Answer::says("One.")]).await;
        server.plays(Ollama::new("coder:7b", window));
        let more = own.map(|own| format!("[[providers.ollama.model]]\nid = \"coder:7b\"\ncontext = {own}\n"));
        let setup = setup(&server, &more.unwrap_or_default());
        let project = Project::new([("a.txt", "one\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.prompt(&session, "Go.").await;
        let events = client.until_end(&session, StopReason::EndTurn).await;
        let (limits, warnings) = told(&events);
        assert_eq!((limits.last(), warnings), (Some(&expected), Vec::new()));
        let model = listed(&client, false).await;
        assert_eq!((model.context_tokens, model.warning), (expected, None));
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn the_window_is_remembered_once_ollama_has_unloaded_the_model_and_of_a_model_that_the_user_describes() {
    let described = "[[providers.ollama.model]]\nid = \"coder:7b\"\ncontext = 100000\n";
    for more in ["", described, "models = [\"coder:7b\"]\n"] {
        let server = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
        server.plays(Ollama::new("coder:7b", 8192).unloading());
        let setup = setup(&server, more);
        let project = Project::new([("a.txt", "one\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.prompt(&session, "Go.").await;
        let events = client.until_end(&session, StopReason::EndTurn).await;
        let (limits, warnings) = told(&events);
        assert_eq!((limits.last(), warnings.len()), (Some(&8192), 1), "{more}");
        let model = listed(&client, true).await;
        assert_eq!(model.context_tokens, 8192, "{more}");
        assert!(model.warning.is_some_and(|warning| warning.contains("a window of 8192 tokens")), "{more}");

        client.prompt(&session, "Go on.").await;
        let events = client.until_end(&session, StopReason::EndTurn).await;
        let (limits, warnings) = told(&events);
        assert!(limits.iter().all(|limit| *limit == 8192) && warnings.is_empty(), "{more}: {limits:?} {warnings:?}");
        assert!(server.asked()[1].body()["max_tokens"].as_u64().unwrap() <= 4096, "{more}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn what_is_known_of_a_model_before_a_conversation_is_told_in_it_once_with_advice_that_can_help() {
    let server = ModelServer::start([Answer::says("One."), Answer::says("Two.")]).await;
    let parameters = "num_ctx 4096";
    server.plays(
        Ollama::new("coder:7b", 4096).with_parameters(parameters).with_longest(8192).with_abilities(&["completion"]),
    );
    let (setup, project) = (setup(&server, ""), Project::new([("a.txt", "one\n")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let (_, warnings) = told(&events);
    let [warning] = warnings[..] else { panic!("{warnings:?}") };
    for words in ["a window of 4096 tokens", "can have no more than 8192. Choose another model", "cannot call tools"] {
        assert!(warning.contains(words), "{words}: {warning}");
    }
    client.prompt(&session, "Go on.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(told(&events).1, [""; 0]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_a_modelfile_sets_is_known_before_the_model_is_loaded_and_what_it_lacks_is_told() {
    let server = ModelServer::start([]).await;
    let parameters = "num_ctx                        16384\nstop                           \"num_ctx 9\"";
    server.plays(Ollama::new("coder:7b", 16_384).with_parameters(parameters).with_abilities(&["completion"]));
    let (setup, project) = (setup(&server, ""), Project::new([("a.txt", "one\n")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let model = listed(&client, false).await;
    let warning = model.warning.unwrap();
    assert_eq!(model.context_tokens, 16_384);
    assert!(warning.contains("a window of 16384 tokens") && warning.contains("cannot call tools"), "{warning}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn if_ollama_does_not_say_its_windows_conversations_go_on_and_the_picker_says_so() {
    let server = ModelServer::start([Answer::says("One.")]).await;
    server.plays(Ollama::new("coder:7b", 4096).hiding_windows());
    let (setup, project) = (setup(&server, ""), Project::new([("a.txt", "one\n")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let (limits, warnings) = told(&events);
    assert_eq!((limits.last(), warnings), (Some(&32_768), Vec::new()));
    let model = listed(&client, true).await;
    let warning = model.warning.unwrap();
    assert!(warning.contains("(status 500)") && warning.contains("`ollama ps` shows it"), "{warning}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_ollama_that_is_disabled_is_asked_nothing() {
    let server = ModelServer::start([]).await;
    server.plays(Ollama::new("coder:7b", 4096));
    let setup = Setup::empty();
    setup.configure(&format!("disabled_providers = [\"ollama\"]\n{}", configuration(&server, "")));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let listed = client.call::<methods::ModelList>(json!({})).await;
    assert!(listed.models.iter().all(|model| model.provider != "ollama" || model.ruled_out));
    assert_eq!(client.finish().await, 0);
    assert_eq!(["tags", "ps", "show"].map(|path| server.times(path)), [0; 3]);
}
