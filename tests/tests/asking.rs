//! The model asks the user: a form with several questions, filled in, dismissed, left alone; in an editor with a panel,
//! in a chat document, in message boxes and after the server was killed.

use std::sync::{Arc, Mutex};

use harness::process::Process;
use harness::vendor::{Instant, Vendor};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::permission::{PermissionAbout, PermissionOutcome, PermissionRequest};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// The questions of the model in these stories.
fn questions() -> Value {
    json!([
        { "header": "Storage", "question": "Where are the notes kept?", "options": [
            { "label": "A file", "description": "Easy to read and to lose." },
            { "label": "SQLite", "description": "Survives a crash.", "recommended": true },
        ] },
        { "header": "Tests", "question": "Which tests do you want?", "multiple": true, "options": [
            { "label": "Unit" }, { "label": "End to end" }, { "label": "Fuzz" },
        ] },
    ])
}

fn asks() -> Answer {
    Answer::calls("ask_user", json!({ "questions": questions() }))
}

struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    /// A user whose model asks, and then says that it is done.
    async fn new(asks: Answer) -> Self {
        let model = ModelServer::start([asks, Answer::says("Done.")]).await;
        let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.prompt(&session, "Keep my notes.").await;
        Self { setup, model, project, client, session }
    }

    fn answer(&self, question: &PermissionRequest, answers: &Value) -> Value {
        json!({ "sessionId": self.session, "permissionId": question.permission_id, "optionId": "send",
            "answers": answers })
    }

    /// The words that the model was told in the end, and how the question was closed.
    async fn told(self) -> (String, PermissionOutcome) {
        let events = self.client.until_end(&self.session, StopReason::EndTurn).await;
        let outcome = events.into_iter().find_map(|event| match event {
            Event::PermissionAnswered { outcome, .. } => Some(outcome),
            _ => None,
        });
        let told = self.model.asked()[1].last_results().join("\n");
        assert_eq!(self.client.finish().await, 0);
        (told, outcome.expect("an answer"))
    }
}

#[tokio::test]
async fn a_form_is_filled_in_with_options_and_the_users_own_words_and_the_model_is_told_what_was_left_open() {
    let world = World::new(asks()).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    assert_eq!(question.about, PermissionAbout::Form);
    assert_eq!(question.title, "2 questions: Storage, Tests");
    let form = question.form.clone().expect("a form");
    assert_eq!(form.questions[0].options[1].label, "SQLite");
    assert!(form.questions[0].options[1].recommended && form.questions[1].multiple && form.timeout_seconds.is_none());
    let answers = json!([{ "chosen": [0] }, { "chosen": [2, 0], "other": " and a bench " }]);
    world.client.call::<methods::PermissionAnswer>(world.answer(&question, &answers)).await;
    let (told, outcome) = world.told().await;
    let expected =
        "The user answered:\n- Storage: A file\n- Tests: Fuzz, Unit; and in the user's own words: and a bench";
    assert_eq!(told, expected);
    assert!(matches!(outcome, PermissionOutcome::Selected { answers, .. } if answers.len() == 2));

    let world = World::new(asks()).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    let answers = json!([{ "other": "Nowhere." }, {}]);
    world.client.call::<methods::PermissionAnswer>(world.answer(&question, &answers)).await;
    let (told, _) = world.told().await;
    let expected = "The user answered:\n- Storage, in the user's own words: Nowhere.\n- Tests: left open; assumed: Unit (the \
                    first)\nGo on with this, and tell the user what was assumed when you are done.";
    assert_eq!(told, expected);
}

#[tokio::test]
async fn a_form_that_is_dismissed_or_sent_as_it_is_says_so_to_the_model() {
    let world = World::new(asks()).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    world.client.choose(&world.session, &question, "reject_once").await;
    let (told, _) = world.told().await;
    assert!(
        told.starts_with("The user dismissed the questions without an answer. Do not ask the same again"),
        "{told}"
    );

    // An editor that knows no forms shows the options of the question alone.
    let world = World::new(asks()).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    assert!(question.detail.contains("- SQLite (recommended): Survives a crash."), "{}", question.detail);
    world.client.choose(&world.session, &question, "send").await;
    let (told, _) = world.told().await;
    assert!(told.contains("- Storage: left open; assumed: SQLite (as you recommend)"), "{told}");
}

#[tokio::test]
async fn answers_that_do_not_fit_the_form_are_refused_and_the_question_stands() {
    let world = World::new(asks()).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    for (answers, words) in [
        (json!([{}]), "there are 1, and 2 questions"),
        (json!([{ "chosen": [2] }, {}]), "question 1 has no option 2"),
        (json!([{ "chosen": [0, 1] }, {}]), "question 1 takes one answer"),
        (json!([{ "chosen": [0], "other": "x" }, {}]), "question 1 takes one answer"),
        (json!([{}, { "chosen": [1, 1] }]), "an option of question 2 is chosen twice"),
        (json!([{ "chosen": [-1] }, {}]), "-1"),
    ] {
        let refused = world.client.request("azimuth/permission/answer", world.answer(&question, &answers)).await;
        let message = refused.expect_err("it fits no form").message;
        assert!(message.starts_with("invalid params") && message.contains(words), "{message}");
    }
    world.client.call::<methods::PermissionAnswer>(world.answer(&question, &json!([{ "chosen": [1] }, {}]))).await;
    let (told, _) = world.told().await;
    assert!(told.contains("- Storage: SQLite"), "{told}");
}

#[tokio::test]
async fn a_question_that_is_cancelled_or_passed_over_ends_with_the_turn_and_is_not_asked_again() {
    let mut world = World::new(asks()).await;
    world.client.until_asked(&world.session).await;
    world.client.hang_up();
    world.client.ended().await;
    world.client = Client::start(&world.setup, &world.project, Profile::panel()).await;
    let open = json!({ "sessionId": world.session });
    let opened = world.client.call::<methods::SessionOpen>(open).await;
    let closed = opened.events.iter().any(|event| matches!(event.event, Event::PermissionAnswered { .. }));
    assert!(!closed, "it stands");
    world.model.may_rewrite();
    world.client.prompt(&world.session, "Never mind, just begin.").await;
    let (told, outcome) = world.told().await;
    assert_eq!(outcome, PermissionOutcome::Cancelled);
    assert!(told.starts_with("not answered: the user went on without an answer."), "{told}");
}

#[test]
fn a_form_survives_a_kill_and_its_answer_goes_to_the_model_that_asked() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap().join("project");
    std::fs::create_dir(&project).unwrap();
    let asks = Instant::Call { tool: "ask_user", input: json!({ "questions": questions() }) };
    let vendor = Vendor::by_progress(vec![asks, Instant::Text { pieces: 2 }]);
    let start = || Process::start(harness::binary(), &folder.path().join("data"), &project, &vendor.url());
    let mut process = start();
    let session = process.session();
    let prompt = json!([{ "type": "text", "text": "Keep my notes." }]);
    process.ask("azimuth/turn/start", &json!({ "sessionId": session, "prompt": prompt }));
    let asked = process.event("permissionAsked")["event"].clone();
    process.kill();

    let mut process = start();
    let opened = process.request("azimuth/session/open", &json!({ "sessionId": session }));
    let kept = opened["events"].as_array().unwrap().clone();
    assert!(kept.iter().any(|event| event["event"]["request"] == asked["request"]), "{kept:#?}");
    let answer = json!({ "sessionId": session, "permissionId": asked["request"]["permissionId"], "optionId": "send",
        "answers": [{ "chosen": [1] }, { "other": "None." }] });
    process.ask("azimuth/permission/answer", &answer);
    let ended = process.event("toolCallEnded");
    let text = ended["event"]["result"]["text"].as_str().unwrap();
    assert_eq!(text, "The user answered:\n- Storage: SQLite\n- Tests, in the user's own words: None.");
    assert_eq!(process.event("turnEnded")["event"]["stopReason"], "end_turn");
}

#[tokio::test]
async fn without_a_panel_each_question_is_a_message_box_after_the_other() {
    let model = ModelServer::start([asks(), Answer::says("Done.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), Project::new([]));
    let profile = Profile::plain().with("/window/showMessage", json!({ "messageActionItem": {} }));
    let client = Client::start(&setup, &project, profile).await;
    let boxes = Arc::new(Mutex::new(Vec::new()));
    let shown = Arc::clone(&boxes);
    client.on_request("window/showMessageRequest", move |params| {
        let titles: Vec<_> =
            params["actions"].as_array().unwrap().iter().map(|action| action["title"].clone()).collect();
        let mut shown = shown.lock().unwrap();
        shown.push((params["message"].clone(), titles));
        let choices = ["SQLite (recommended)", "+ Fuzz", "+ Unit", "That is all: Fuzz, Unit"];
        Ok(json!({ "title": choices[shown.len() - 1] }))
    });
    let session = client.new_session().await;
    client.prompt(&session, "Keep my notes.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let told = model.asked()[1].last_results().join("\n");
    assert_eq!(told, "The user answered:\n- Storage: SQLite\n- Tests: Fuzz, Unit");
    let boxes = boxes.lock().unwrap().clone();
    let (message, titles) = &boxes[0];
    assert_eq!(message, "Where are the notes kept?\nA file: Easy to read and to lose.\nSQLite: Survives a crash.");
    assert_eq!(titles, &["A file", "SQLite (recommended)", "Dismiss"]);
    assert_eq!(boxes[3].1, ["That is all: Fuzz, Unit", "+ End to end", "Dismiss"]);
    assert_eq!(client.finish().await, 0);
}
