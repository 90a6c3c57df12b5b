//! Models for different work: planning has one of its own, small work a fast one, and each may be a chain.

use harness::model::Asked;
use harness::{Answer, Client, ModelServer, Profile, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::json;

use crate::vendors::project;

/// A user with three models, who says this about them.
fn configured(model: &ModelServer, lines: &str) -> Setup {
    let setup = Setup::empty();
    let models = "[\"model-1\", \"model-2\", \"model-3\"]";
    let usual = Setup::configuration(model, Wire::Anthropic).replace("[\"model-1\"]", models);
    setup.configure(&format!("{lines}\n{usual}"));
    setup
}

async fn turn(client: &Client, session: &SessionId, prompt: &str) -> Vec<Event> {
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await
}

#[tokio::test]
async fn plans_are_made_by_a_model_of_their_own_and_the_conversation_keeps_its_model() {
    let model =
        ModelServer::start(["Planned.", "Done.", "Planned again.", "By the other.", "And again."].map(Answer::says))
            .await;
    let setup = configured(&model, "plan_model = \"nobody/nothing, test/model-2\"");
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "/mode plan\nHow would you do it?").await;
    turn(&client, &session, "/mode agent\nDo it.").await;
    turn(&client, &session, "/mode plan\nAnd next?").await;
    turn(&client, &session, "/model test/model-3\nAnd next?").await;
    turn(&client, &session, "And then?").await;
    let asked: Vec<_> = model.asked().iter().map(|asked| asked.model().to_owned()).collect();
    assert_eq!(
        asked,
        ["model-2", "model-1", "model-2", "model-3", "model-3"],
        "a model that is chosen counts in each mode"
    );
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert_eq!(opened.session.model.as_deref(), Some("test/model-3"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn whoever_names_a_model_for_a_plan_gets_it() {
    let model = ModelServer::start(["Planned."].map(Answer::says)).await;
    let (setup, project) = (configured(&model, "plan_model = \"test/model-2\""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let new = json!({ "model": "test/model-3", "mode": "plan" });
    let session = client.call::<methods::SessionNew>(new).await.session.session_id;
    turn(&client, &session, "How would you do it?").await;
    assert_eq!(model.asked_times(1).await.model(), "model-3");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_is_picked_is_a_choice_even_if_it_is_the_usual_one_and_a_level_of_it_is_none() {
    let model = ModelServer::start(["Planned.", "And again."].map(Answer::says)).await;
    let (setup, project) = (configured(&model, "plan_model = \"test/model-2\""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    for picked in ["test/model-1:default", "test/model-1"] {
        let session = client.call::<methods::SessionNew>(json!({ "mode": "plan" })).await.session.session_id;
        client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": picked })).await;
        turn(&client, &session, "How would you do it?").await;
    }
    let asked: Vec<_> = model.asked().iter().map(|asked| asked.model().to_owned()).collect();
    assert_eq!(asked, ["model-2", "model-1"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_fast_model_names_the_conversation_and_changes_selections() {
    small_work_is_done_by_model_3("fast_model = \"test/model-3\"").await;
}

#[tokio::test]
async fn a_setting_that_names_another_role_follows_it() {
    small_work_is_done_by_model_3(
        "plan_model = \"test/model-3\"\ntitle_model = \"nobody/nothing, @plan\"\ninstruct_model = \"@title\"",
    )
    .await;
}

async fn small_work_is_done_by_model_3(lines: &str) {
    let is_title = |asked: &Asked| asked.system().contains("You name conversations");
    let model =
        ModelServer::responding(move |asked| Answer::says(if is_title(asked) { "Greetings" } else { "Done." })).await;
    let (setup, project) = (configured(&model, lines), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    client.until(&session, "the title", |event| *event == Event::TitleChanged { title: "Greetings".into() }).await;
    let uri = project.uri("a.txt");
    client.open(&uri);
    let range = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    let instruction = json!({ "textDocument": { "uri": uri }, "selections": [range], "instruction": "shout" });
    let instructed = client.call::<methods::InlineInstruct>(instruction).await.session_id;
    client.until_end(&instructed, StopReason::EndTurn).await;
    let requests = model.asked();
    let title = requests.iter().find(|asked| is_title(asked)).map(Asked::model);
    assert_eq!((title, requests.last().map(Asked::model)), (Some("model-3"), Some("model-3")));
    let of_turn = requests.iter().find(|asked| !is_title(asked) && asked.user_text().contains("Hello."));
    assert_eq!(of_turn.map(Asked::model), Some("model-1"));
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_role_is_a_name_for_its_models_wherever_one_is_named_and_one_without_is_an_error() {
    let model = ModelServer::start(["Fast.", "Wise."].map(Answer::says)).await;
    let lines = "fast_model = \"test/model-2\"\nplan_model = \"test/model-3\"";
    let (setup, project) = (configured(&model, lines), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let new = json!({ "model": "@fast" });
    let session = client.call::<methods::SessionNew>(new).await.session.session_id;
    turn(&client, &session, "Who is there?").await;
    let wrong = json!({ "sessionId": session, "model": "@oracle" });
    let error = client.request("azimuth/model/select", wrong).await.unwrap_err();
    assert!(error.message.contains("`@oracle` names no model, since `oracle_model` does not"), "{}", error.message);
    turn(&client, &session, "/model @plan\nAnd now?").await;
    let asked: Vec<_> = model.asked().iter().map(|asked| asked.model().to_owned()).collect();
    assert_eq!(asked, ["model-2", "model-3"]);
    assert_eq!(client.finish().await, 0);
}
