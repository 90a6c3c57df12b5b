//! Models for different work: planning has one of its own, small work a fast one, and each may be a chain.

#![expect(clippy::disallowed_methods, reason = "a test reads the user's file")]

use harness::model::Asked;
use harness::{Answer, Client, ModelServer, Profile, Setup, Wire};
use protocol::role::Role;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

use crate::vendors::project;

/// A user with three models, who says this about them.
fn configured(model: &ModelServer, lines: &str) -> Setup {
    configured_with(model, lines, "")
}

/// The same user, who has these tables too.
fn configured_with(model: &ModelServer, lines: &str, tables: &str) -> Setup {
    let setup = Setup::empty();
    let models = "[\"model-1\", \"model-2\", \"model-3\"]";
    let usual = Setup::configuration(model, Wire::Anthropic).replace("[\"model-1\"]", models);
    setup.configure(&format!("{lines}\n{usual}{tables}"));
    setup
}

fn is_title(asked: &Asked) -> bool {
    asked.system().contains("You name conversations")
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
    small_work_is_done_by_model_3("fast_model = \"test/model-3\"", "").await;
}

#[tokio::test]
async fn without_a_fast_model_it_is_the_cheapest_of_the_same_maker() {
    let priced = |id: &str, maker: &str, price: &str| {
        format!("[[providers.test.model]]\nid = \"{id}\"\nwire_id = \"{maker}\"\nprice = {{ {price} }}\n")
    };
    let prices = [
        priced("claude-opus-5-5", "model-1", "input = 5, output = 25"),
        priced("claude-sonnet-5-5", "model-2", "input = 2, output = 10"),
        priced("claude-haiku-5-5", "model-3", "input = 0.5, output = 2"),
        priced("gpt-5-nano", "model-2", "input = 0.1, output = 0.5"),
        priced("unknown", "model-2", "input = 0.1, output = 0.5"),
    ];
    let lines = "title_model = \"@fast\"\ninstruct_model = \"@fast\"";
    let tables = format!("{}\n", prices.concat());
    small_work_is_done_by_model_3_for("test/claude-opus-5-5", lines, &tables).await;
}

#[tokio::test]
async fn a_setting_that_names_another_role_follows_it() {
    small_work_is_done_by_model_3(
        "plan_model = \"test/model-3\"\ntitle_model = \"nobody/nothing, @plan\"\ninstruct_model = \"@title\"",
        "",
    )
    .await;
}

async fn small_work_is_done_by_model_3(lines: &str, tables: &str) {
    small_work_is_done_by_model_3_for("test/model-1", lines, tables).await;
}

/// The same with this model of new conversations, by its id.
async fn small_work_is_done_by_model_3_for(default: &str, lines: &str, tables: &str) {
    let model =
        ModelServer::responding(move |asked| Answer::says(if is_title(asked) { "Greetings" } else { "Done." })).await;
    let (setup, project) = (configured_with(&model, lines, tables), project());
    let setup = setup.with_variable("AZIMUTH_MODEL", default);
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
    let model = ModelServer::responding(|_| Answer::says("Done.")).await;
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
    let asked: Vec<_> = model.asked().into_iter().filter(|asked| !is_title(asked)).collect();
    assert_eq!(asked.iter().map(Asked::model).collect::<Vec<_>>(), ["model-2", "model-3"]);
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

/// Says something that is a command, and gives the answer.
async fn command(client: &Client, session: &SessionId, text: &str) -> String {
    let prompt = json!([{ "type": "text", "text": text }]);
    let said = client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    assert!(said.turn_id.is_none(), "{text} makes no turn");
    let is_answer = |event: &Event| matches!(event, Event::CommandExecuted { .. });
    match client.until(session, "the answer to the command", is_answer).await.pop() {
        Some(Event::CommandExecuted { message, is_error: false, .. }) => message,
        other => panic!("{text}: {other:?}"),
    }
}

#[tokio::test]
async fn model_says_what_each_role_comes_to_and_why_and_picks_one_until_azimuth_ends() {
    let model = ModelServer::start(["Planned.", "Planned.", "Done."].map(Answer::says)).await;
    let (setup, project) = (configured(&model, "plan_model = \"nobody/nothing, test/model-2\""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let listed = command(&client, &session, "/model").await;
    let plan = listed.lines().find(|line| line.starts_with("- `plan` ")).unwrap();
    assert!(plan.starts_with("- `plan` (plans): `test/model-2`; `plan_model` in "), "{plan}");
    assert!(plan.contains("config.toml; `nobody/nothing` is left out: "), "{plan}");
    assert!(listed.contains("- `oracle` (second opinions): no model of its own; no `oracle_model` is set"), "{listed}");
    let chosen = command(&client, &session, "/model test/model-1").await;
    assert!(chosen.contains("for this conversation (the role `default`), in every mode"), "{chosen}");
    let picked = command(&client, &session, "/model PLAN model-3").await;
    let reach = "in all conversations of this Azimuth process, but for those in which a model was chosen";
    assert!(picked.starts_with(&format!("plans ask `model-3` until Azimuth ends, {reach}")), "{picked}");
    let own = "`plan` (plans): `test/model-1`; chosen for this conversation, in every mode; in other conversations: \
               picked until Azimuth ends";
    assert!(picked.ends_with(own), "{picked}");
    assert!(command(&client, &session, "/model").await.contains(own));
    turn(&client, &session, "/mode plan\nHow would you do it?").await;
    let other = client.new_session().await;
    let told = command(&client, &other, "/model plan").await;
    assert!(told.ends_with("`plan` (plans): `test/model-3`; picked until Azimuth ends"), "{told}");
    turn(&client, &other, "/mode plan\nHow would you do it?").await;
    turn(&client, &other, "/mode agent\nDo it.").await;
    let back = command(&client, &other, "/model plan --unset").await;
    assert!(back.starts_with("what was picked for plans no longer counts, in all conversations"), "{back}");
    assert!(back.contains("`plan` (plans): `test/model-2`; `plan_model` in "), "{back}");
    let back = command(&client, &other, "/model plan --unset").await;
    assert!(back.starts_with("nothing was picked for plans"), "{back}");
    let asked: Vec<_> = model.asked().iter().map(|asked| asked.model().to_owned()).collect();
    assert_eq!(asked, ["model-1", "model-3", "model-1"], "a model that is chosen in a conversation counts there");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_text_that_is_pasted_picks_no_model_for_other_work() {
    let model = ModelServer::start(["Nothing."].map(Answer::says)).await;
    let (setup, project) = (configured(&model, ""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    turn(&client, &session, "What does this say? /model oracle test/model-2").await;
    assert!(
        model.asked_times(1).await.user_text().contains("/model oracle test/model-2"),
        "it is a part of the prompt"
    );
    let told = command(&client, &session, "/model oracle").await;
    assert!(told.contains("no `oracle_model` is set"), "{told}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_cannot_be_kept_is_not_chosen_either() {
    let model = ModelServer::start(["Done."].map(Answer::says)).await;
    let (setup, project) = (configured(&model, ""), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let kept = std::fs::read_to_string(setup.config_file()).unwrap();
    setup.configure(&format!("{kept}\n[permissions]\nask = 7\n"));
    let prompt = json!([{ "type": "text", "text": "/model model-2 --keep" }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    let is_answer = |event: &Event| matches!(event, Event::CommandExecuted { is_error: true, .. });
    client.until(&session, "why it is not kept", is_answer).await;
    setup.configure(&kept);
    turn(&client, &session, "Hello.").await;
    assert_eq!(model.asked_times(1).await.model(), "model-1");
    client.waive("azimuth/model/changed");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn roles_that_come_to_no_model_ask_no_other_provider() {
    let model = ModelServer::start([]).await;
    let (setup, project) = (configured(&model, ""), project());
    let setup = setup.with_variable("AZIMUTH_MODEL", "@oracle");
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    let events = client.until_end(&session, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(why), .. }) = events.last() else { panic!("{events:?}") };
    assert!(why.contains("`@oracle` names no model, since `oracle_model` does not"), "{why}");
    assert!(model.asked().is_empty());
    let warned: Value = client.notification("window/showMessage").await;
    assert!(warned["message"].as_str().unwrap().contains("AZIMUTH_MODEL"), "{warned}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_is_kept_for_a_role_in_the_users_file_at_once_and_taken_out_again() {
    let model = ModelServer::responding(|_| Answer::says("Done.")).await;
    let (setup, project) = (configured(&model, "# Mine.\nfast_model = \"test/model-3\" # small"), project());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let text = || std::fs::read_to_string(setup.config_file()).unwrap();
    let before = text();
    let session = client.new_session().await;
    let picked = json!({ "role": "plan", "model": "test/model-2", "keep": true });
    let picked = client.call::<methods::ModelPick>(picked).await;
    assert_eq!((picked.role.model.as_deref(), picked.role.picked), (Some("test/model-2"), false), "{picked:?}");
    let after = text();
    assert!(after.contains("plan_model = \"test/model-2\"\n") && after.contains("# Mine.\n"), "{after}");
    assert!(after.contains("fast_model = \"test/model-3\" # small"), "{after}");
    turn(&client, &session, "/mode plan\nHow would you do it?").await;
    let roles = client.call::<methods::ModelRoles>(json!({})).await.roles;
    let of = |role: Role| roles.iter().find(|info| info.role == role).unwrap();
    assert_eq!(of(Role::Plan).model.as_deref(), Some("test/model-2"));
    assert_eq!(of(Role::Title).model.as_deref(), Some("test/model-3"));
    assert!(of(Role::Title).why.starts_with("`fast_model` in "), "{:?}", of(Role::Title));
    let told = command(&client, &session, "/model plan --unset --keep").await;
    assert!(told.starts_with("`plan_model` is no longer in "), "{told}");
    assert_eq!(text(), before);
    let told = command(&client, &session, "/model plan --unset --keep").await;
    assert!(told.starts_with("`plan_model` was not in "), "{told}");
    turn(&client, &session, "/model plan @fast\n/mode plan\nAnd in one prompt?").await;
    let asked: Vec<_> = model.asked().into_iter().filter(|asked| !is_title(asked)).collect();
    let asked: Vec<_> = asked.iter().map(Asked::model).collect();
    assert_eq!(asked, ["model-2", "model-3"], "what is picked counts for the prompt that picks it");
    let wrong = json!({ "role": "fast", "model": "@plan" });
    let error = client.request("azimuth/model/pick", wrong).await.unwrap_err();
    assert!(error.message.contains("`@plan` leads back to this role"), "{}", error.message);
    client.waive("azimuth/event");
    client.waive("azimuth/model/changed");
    assert_eq!(client.finish().await, 0);
}
