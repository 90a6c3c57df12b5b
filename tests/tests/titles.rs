//! A session's title by a model of its own, asked outside the turn.

#![expect(clippy::disallowed_methods, reason = "a test writes its script and starts the program itself")]

use std::time::Duration;

use harness::model::Asked;
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::json;

fn is_title(asked: &Asked) -> bool {
    asked.system().contains("You name conversations")
}

/// A user who has titles made by the same server's model.
fn titling(model: &ModelServer) -> Setup {
    let setup = Setup::empty();
    setup.configure(&format!("title_model = \"test/model-1\"\n{}", Setup::configuration(model, Wire::Anthropic)));
    setup
}

#[tokio::test]
async fn a_model_for_titles_names_the_session_and_what_it_used_counts() {
    let model = ModelServer::responding(|asked| match is_title(asked) {
        true => Answer::says("\"Mend the line parser.\""),
        false => Answer::says("It is mended."),
    })
    .await;
    let (setup, project) = (titling(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "It panics on empty input, would you have a look at why?").await;
    let named = |event: &Event| *event == Event::TitleChanged { title: "Mend the line parser".into() };
    let mut events = client.until(&session, "the title", named).await;
    if !events.iter().any(|event| matches!(event, Event::TurnEnded { .. })) {
        events.extend(client.until_end(&session, StopReason::EndTurn).await);
    }
    let used = events.iter().find_map(|event| match event {
        Event::SideAsked { usage, model, error: None, .. } => Some((usage.output, model.as_str())),
        _ => None,
    });
    assert!(used.is_some_and(|(output, model)| output > 0 && model == "test/model-1"), "{events:?}");
    let turns: u64 = events
        .iter()
        .filter_map(|event| if let Event::TurnEnded { usage, .. } = event { Some(usage.output) } else { None })
        .sum();
    let asked = model.asked();
    let title = asked.iter().find(|asked| is_title(asked)).unwrap();
    assert!(title.tools().is_empty() && title.user_text().contains("It panics"), "{title:?}");
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert_eq!(opened.session.title, "Mend the line parser");
    assert_eq!(opened.session.usage.output, turns + used.unwrap().0, "both count");

    client.prompt(&session, "And now?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(model.asked().iter().filter(|asked| is_title(asked)).count(), 1, "it is asked once");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_title_of_the_users_own_stays_and_a_model_that_fails_leaves_the_prompts() {
    let gate = Gate::default();
    let slow = gate.clone();
    let mut titles = 0;
    let model = ModelServer::responding(move |asked| {
        titles += usize::from(is_title(asked));
        match is_title(asked) {
            true if titles == 1 => Answer::nothing().text("Too ").wait(&slow).text("late"),
            true => Answer::refused(500),
            false => Answer::says("Done."),
        }
    })
    .await;
    let (setup, project) = (titling(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Mend it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    client.call::<methods::SessionRename>(json!({ "sessionId": session, "title": "Mine" })).await;
    client.until(&session, "the name", |event| *event == Event::TitleChanged { title: "Mine".into() }).await;
    gate.open();
    client.until(&session, "the side request", |event| matches!(event, Event::SideAsked { .. })).await;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    assert_eq!(opened.session.title, "Mine");

    let other = client.new_session().await;
    client.prompt(&other, "Mend the other.").await;
    let failed = |event: &Event| matches!(event, Event::SideAsked { error: Some(_), .. });
    let events = client.until(&other, "the failure", failed).await;
    if !events.iter().any(|event| matches!(event, Event::TurnEnded { .. })) {
        client.until_end(&other, StopReason::EndTurn).await;
    }
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": other })).await;
    assert_eq!(opened.session.title, "Mend the other");
    client.finish().await;
}

#[tokio::test]
async fn a_title_that_is_under_way_when_the_window_closes_is_cancelled_and_counts() {
    let gate = Gate::default();
    let slow = gate.clone();
    let model = ModelServer::responding(move |asked| match is_title(asked) {
        true => Answer::nothing().text("Too ").wait(&slow).text("late"),
        false => Answer::says("Done."),
    })
    .await;
    let (setup, project) = (titling(&model), Project::new([]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Mend it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let asked = async {
        while !model.asked().iter().any(is_title) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    harness::patiently("the request for a title", asked).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    let asked = opened.events.iter().filter(|event| matches!(event.event, Event::SideAsked { error: Some(_), .. }));
    assert_eq!(asked.count(), 1, "{:?}", opened.events);
    client.finish().await;
    gate.open();
}

#[tokio::test]
async fn a_prompt_without_words_and_a_scripted_turn_have_no_title_asked_for() {
    let model = ModelServer::responding(|_| Answer::says("Done.")).await;
    let (setup, project) = (titling(&model), Project::new([("a.txt", "one\n")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let lines = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 1, "character": 0 } });
    let selection = json!([{ "type": "range", "uri": project.uri("a.txt"), "range": lines }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": selection })).await;
    client.until_end(&session, StopReason::EndTurn).await;
    client.finish().await;
    assert!(!model.asked().iter().any(is_title), "{:?}", model.asked());

    let (place, before) = (tempfile::tempdir().unwrap(), model.asked().len());
    let script = place.path().join("script.json");
    std::fs::write(&script, json!({ "name": "test", "steps": [{ "text": "Done." }] }).to_string()).unwrap();
    let mut exec = tokio::process::Command::new(harness::binary());
    exec.args(["exec", "--trust", "--script"]).arg(&script).arg("Mend the parser.").current_dir(project.folder());
    exec.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    let output = harness::patiently("the end", exec.output()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(model.asked().len(), before, "nothing leaves this machine");
}
