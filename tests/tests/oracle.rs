//! A second opinion: the model of a conversation asks a stronger one, which reads the project on its own. Its answer
//! and its cost come back, the user sees what it does, and can stop it, open it and go on with it.

use harness::model::Asked;
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use ports::model::cost;
use protocol::content::Usage;
use protocol::event::Severity;
use protocol::session::Mode;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// The tokens that the model server reports of each request.
const USAGE: Usage = Usage { input: 80, output: 10, cache_read: 20, cache_write: 0, cache_write_hour: 0 };
/// A model, and one that is dearer; the prices of both are in the program's data.
const OWN: &str = "claude-sonnet-4-6";
const WISE: &str = "claude-opus-4-6";
/// One without a price, which nobody asks unless the other fails.
const OTHER: &str = "model-2";
/// A secret that the user lists.
const SECRET: &str = "hunter2-hunter2";

/// A user with these models, who says this in addition.
fn configuration(model: &ModelServer, lines: &str) -> String {
    let usual = Setup::configuration(model, Wire::Anthropic).replace("test/model-1", &format!("test/{OWN}"));
    let models = format!("[{OWN:?}, {WISE:?}, {OTHER:?}]");
    format!("{lines}\n{}[secrets.DB]\nvalue = \"{SECRET}\"\n", usual.replace("[\"model-1\"]", &models))
}

/// True if the request is one of the conversation, and not of one that it started.
fn is_own(asked: &Asked) -> bool {
    asked.model() == OWN
}

fn asks(question: Value) -> Answer {
    Answer::calls("oracle", question)
}

async fn client(setup: &Setup, project: &Project) -> Client {
    Client::start(setup, project, Profile::panel()).await
}

async fn turn(client: &Client, session: &SessionId, prompt: &str) -> Vec<Event> {
    client.prompt(session, prompt).await;
    client.until_end(session, StopReason::EndTurn).await
}

/// The work of sessions that calls started, as the events tell it: model, call of a tool, and number of answers.
fn work(events: &[Event]) -> Vec<(&str, Option<&str>, u32)> {
    let work = events.iter().filter_map(|event| match event {
        Event::ChildWorked { model, doing, rounds, .. } => Some((model.as_str(), doing.as_deref(), *rounds)),
        _ => None,
    });
    work.collect()
}

async fn started(client: &Client, session: &SessionId) -> Vec<protocol::session::SessionInfo> {
    client.call::<methods::SessionList>(json!({ "parent": session })).await.sessions
}

#[tokio::test]
async fn a_stronger_model_reads_on_its_own_and_its_answer_and_its_cost_come_back_to_the_conversation() {
    let model = ModelServer::responding(|asked| match (is_own(asked), asked.last_results().len()) {
        (true, 0) => asks(json!({ "question": "Is the port right?", "files": ["a.txt"] })),
        (true, _) => Answer::says("Done."),
        (false, 0) if asked.user_text().contains("And now?") => Answer::says("Still wrong."),
        (false, 0) => Answer::nothing()
            .call("read_file", json!({ "path": "b.txt" }))
            .call("edit_create_file", json!({ "path": "c.txt", "content": "no" })),
        (false, _) => Answer::says("The port is wrong."),
    })
    .await;
    let setup = Setup::empty();
    setup.configure(&configuration(&model, &format!("oracle_model = \"test/{WISE}\"\nsession_budget = 5")));
    let files = [("a.txt", format!("password = {SECRET}\n")), ("b.txt", format!("port = 1\n# {SECRET}\n"))];
    let project = Project::new(files.each_ref().map(|(name, text)| (*name, text.as_str())));
    let client = client(&setup, &project).await;
    let listed = client.call::<methods::ModelList>(json!({})).await.models;
    let price = |name: &str| listed.iter().find(|model| model.id == format!("test/{name}")).unwrap().price.unwrap();
    let (own, wise) = (2.0 * cost(&price(OWN), &USAGE), 2.0 * cost(&price(WISE), &USAGE));
    let is = |told: f64, expected: f64| assert!((told - expected).abs() < 1e-9, "{told}, not {expected}");
    let session = client.new_session().await;
    let events = turn(&client, &session, "Ask whether it is right.").await;

    // The one that is asked has what reads, and nothing else; what it has not it cannot call either.
    let asked = model.asked();
    let [first, child, child_again, last] = asked.as_slice() else { panic!("{asked:?}") };
    assert!(first.tools().contains(&"oracle".to_owned()));
    let tools = child.tools();
    let is_other = |name: &String| ["edit_", "shell_", "oracle", "update_plan"].iter().any(|it| name.starts_with(it));
    assert!(tools.contains(&"read_file".to_owned()) && !tools.iter().any(is_other), "{tools:?}");
    let results = child_again.last_results();
    assert!(results[0].contains("port = 1") && results[1].contains("no tool"), "{results:?}");
    assert!(!project.path("c.txt").exists());
    let prompt = child.user_text();
    assert!(prompt.contains("Is the port right?") && prompt.contains("password = <<secret:DB:"), "{prompt}");
    assert!(!format!("{asked:?}").contains("hunter2"), "no vendor sees a secret: {asked:?}");
    let answer = last.last_results()[0];
    assert!(answer.contains(&format!("The port is wrong.\n\n[test/{WISE}, 2 rounds, conversation ")), "{answer}");

    // The user sees what it does, and can open it.
    let model_id = format!("test/{WISE}");
    let expected = [(None, 0), (None, 1), (Some("Reading b.txt"), 1)].map(|(doing, of)| (model_id.as_str(), doing, of));
    let told = work(&events);
    assert_eq!(told[..3], expected, "{told:?}");
    assert_eq!(told.last(), Some(&(model_id.as_str(), None, 2)));
    let child = started(&client, &session).await.remove(0);
    assert_eq!(child.title, "Is the port right?");
    let child = child.session_id;
    assert!(answer.contains(child.as_str()), "{answer}");
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": child, "since": 0 })).await;
    assert_eq!((opened.session.parent.as_ref(), opened.session.mode), (Some(&session), Mode::Ask));
    let listed = client.call::<methods::SessionList>(json!({})).await.sessions;
    assert_eq!(listed.len(), 1, "it is found by the one that started it: {listed:?}");

    // It is paid for by the conversation, and counts once in all.
    let Some(Event::TurnEnded { cost: Some(of_turn), .. }) = events.last() else { panic!("{events:?}") };
    let of_child = events.iter().filter_map(|event| match event {
        Event::ChildWorked { cost, .. } => *cost,
        _ => None,
    });
    is(*of_turn, own);
    is(of_child.sum(), wise);
    is(listed[0].cost, own + wise);
    let shown = client.call::<methods::CostsShow>(json!({ "sessionId": session })).await;
    let costs = shown.session.unwrap();
    is(costs.total.cost.unwrap(), own + wise);
    is(costs.children.cost.unwrap(), wise);
    is(shown.today.cost.unwrap(), own + wise);
    is(shown.total.cost.unwrap(), own + wise);
    is(shown.budgets[0].spent, own + wise);
    assert_eq!((costs.total.requests, shown.total.requests, costs.models.len()), (4, 4, 2));
    let prompt = json!([{ "type": "text", "text": "/costs" }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    let told = client.until(&session, "the costs", |event| matches!(event, Event::CommandExecuted { .. })).await;
    let Some(Event::CommandExecuted { message, .. }) = told.last() else { panic!("{told:?}") };
    let whole = format!("this conversation: ${:.3} (320 tokens in, 80 from the cache", own + wise);
    assert!(message.starts_with(&whole), "{message}");
    assert!(message.contains(&format!("- of this, conversations that this one started: ${wise:.3}, 2 requests")));

    // It goes on as any session does, and has no more tools than before, after a start of the server too.
    assert_eq!(client.finish().await, 0);
    let client = self::client(&setup, &project).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": child, "since": 0 })).await;
    turn(&client, &child, "And now?").await;
    let asked = model.asked();
    assert_eq!(asked.last().unwrap().tools(), tools);
    let shown = client.call::<methods::CostsShow>(json!({ "sessionId": session })).await;
    is(shown.budgets[0].spent, own + 1.5 * wise);
    is(shown.total.cost.unwrap(), own + 1.5 * wise);
    client.call::<methods::SessionDelete>(json!({ "sessionId": child })).await;
    assert!(started(&client, &session).await.is_empty());
    assert_eq!(model.refusals(), [""; 0]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn whoever_stops_the_turn_stops_the_one_that_is_asked() {
    let gate = Gate::default();
    let held = gate.clone();
    let model = ModelServer::responding(move |asked| match is_own(asked) {
        true => asks(json!({ "question": "Why?" })),
        false => Answer::says("Never").wait(&held),
    })
    .await;
    let (setup, project) = (Setup::empty(), Project::new([]));
    setup.configure(&configuration(&model, &format!("oracle_model = \"test/{WISE}\"")));
    let client = client(&setup, &project).await;
    let session = client.new_session().await;
    client.prompt(&session, "Ask.").await;
    model.asked_times(2).await;
    client.call::<methods::TurnCancel>(json!({ "sessionId": session })).await;
    client.until_end(&session, StopReason::Cancelled).await;
    let child = started(&client, &session).await.remove(0).session_id;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": child, "since": 0 })).await;
    let ended = |event: &Event| matches!(event, Event::TurnEnded { stop_reason: StopReason::Cancelled, .. });
    if !opened.events.iter().any(|event| ended(&event.event)) {
        client.until_end(&child, StopReason::Cancelled).await;
    }
    gate.open();
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn if_the_one_that_is_asked_fails_the_next_of_its_chain_answers_and_if_all_do_the_model_is_told() {
    let model = ModelServer::responding(|asked| match (is_own(asked), asked.user_text().contains("All are broke.")) {
        (true, _) if asked.last_results().is_empty() => asks(json!({ "question": asked.user_text() })),
        (true, _) => Answer::says(asked.last_results()[0]),
        (false, is_broke) if is_broke || asked.model() == WISE => Answer::refused(402),
        (false, _) => Answer::says("Because."),
    })
    .await;
    let (setup, project) = (Setup::empty(), Project::new([]));
    // A model that failed is asked again with the next question.
    let chain = format!("oracle_model = \"test/{WISE}, test/{OTHER}\"\nmodel_cooldown = 0");
    setup.configure(&configuration(&model, &chain));
    let client = client(&setup, &project).await;
    for (prompt, says) in [("Why?", "Because."), ("All are broke.", "there is no second opinion: ")] {
        let session = client.new_session().await;
        let events = turn(&client, &session, prompt).await;
        let models: Vec<_> = work(&events).into_iter().filter(|(_, _, rounds)| *rounds == 0).map(|it| it.0).collect();
        assert_eq!(models, [format!("test/{WISE}"), format!("test/{OTHER}")], "{prompt}");
        let asked = model.asked();
        let answer = asked.last().unwrap().last_results()[0].to_owned();
        assert!(answer.contains(says) && answer.contains(&format!("test/{OTHER}")), "{answer}");
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn only_the_user_gives_a_conversation_this_tool_and_it_goes_and_comes_with_the_setting() {
    let model = ModelServer::responding(|asked| match asked.user_text().contains("Ask.") {
        true if asked.last_results().is_empty() => asks(json!({ "question": "Why?" })),
        true => Answer::says(asked.last_results()[0]),
        false => Answer::says("Hello."),
    })
    .await;
    let setup = Setup::empty();
    setup.configure(&configuration(&model, ""));
    let of_project = format!("oracle_model = \"test/{WISE}\"\n");
    let project = Project::new([(".azimuth/config.toml", of_project.as_str())]);
    let client = client(&setup, &project).await;
    let has_tool = || model.asked().last().unwrap().tools().contains(&"oracle".to_owned());
    let set = |lines: &str| {
        setup.configure(&configuration(&model, lines));
        client
            .notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": { "codeActions": true } } }));
    };
    let before = client.new_session().await;
    let events = turn(&client, &before, "Hello.").await;
    let is_told = |event: &Event| matches!(event, Event::Notice { severity: Severity::Warning, text } if text.contains("oracle_model ignored"));
    assert!(!has_tool() && events.iter().any(is_told), "a project's file names no model: {events:?}");

    // The prompt of a conversation stays as it began; the next one has the tool.
    set(&of_project);
    turn(&client, &before, "And now?").await;
    assert!(!has_tool() && !model.asked().last().unwrap().user_text().contains("available now"));
    let session = client.new_session().await;
    turn(&client, &session, "Good day.").await;
    assert!(has_tool());
    set("");
    turn(&client, &session, "Ask.").await;
    let asked = model.asked();
    let answer = asked.last().unwrap().last_results()[0];
    assert!(answer.contains("is no longer available"), "{answer}");
    assert!(asked.iter().all(is_own), "nobody else was asked");
    client.waive("azimuth/event");
    client.waive("window/showMessage");
    assert_eq!(client.finish().await, 0);
}
