//! What a user sees of an answer while it still comes, and what becomes of one that breaks off: in every vendor's format.

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId};
use serde_json::json;

/// Starts an editor with a panel.
async fn start(model: &ModelServer, wire: Wire, settings: &str, project: &Project) -> (Setup, Client, SessionId) {
    let setup = Setup::empty();
    setup.configure(&(settings.to_owned() + &Setup::configuration(model, wire)));
    let client = Client::start(&setup, project, Profile::panel()).await;
    let session = client.new_session().await;
    (setup, client, session)
}

/// What was shown of edits that still came.
fn shown(events: &[Event]) -> String {
    let pieces = events.iter().filter_map(|event| match event {
        Event::EditDelta { text, .. } => Some(text.as_str()),
        _ => None,
    });
    pieces.collect()
}

#[tokio::test]
async fn the_diff_of_an_edit_grows_before_its_call_is_made() {
    for wire in Wire::ALL {
        let gate = Gate::default();
        let input =
            [("path", json!("a.txt")), ("old_text", json!("two\n")), ("new_text", json!("TWO \u{1F980}\nthree\n"))];
        let call = Answer::nothing().text("I change it.").slow_call("edit_replace_exact", &input, "\\nthree", &gate);
        let model = ModelServer::start([call, Answer::says("Done.")]).await;
        let project = Project::new([("a.txt", "one\ntwo\n")]);
        let (_setup, client, session) = start(&model, wire, "", &project).await;
        client.prompt(&session, "Change it.").await;
        let is_there = |event: &Event| matches!(event, Event::EditDelta { text, .. } if text.contains('\u{1F980}'));
        let seen = client.until(&session, "the diff", is_there).await;
        assert_eq!(shown(&seen), "-two\n+TWO \u{1F980}", "{wire:?}");
        assert!(!seen.iter().any(|event| matches!(event, Event::ToolCallStarted { .. })), "{wire:?}");
        let Some(Event::EditDelta { path, message_id, .. }) = seen.last() else { unreachable!() };
        assert_eq!(path, "a.txt");
        gate.open();
        let rest = client.until_end(&session, StopReason::EndTurn).await;
        assert_eq!(shown(&rest), "\n+three\n", "{wire:?}");
        let completed =
            |event: &&Event| matches!(event, Event::MessageCompleted { message_id: id, .. } if id == message_id);
        assert!(rest.iter().find(completed).is_some(), "the message that it was shown for is whole");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn an_edit_of_what_is_not_there_is_stopped_early_by_the_setting_and_only_by_it() {
    for wire in Wire::ALL {
        for stops in [true, false] {
            let gate = Gate::default();
            let input = [("path", json!("a.txt")), ("old_text", json!("four\n")), ("new_text", json!("FOUR\n"))];
            let call = Answer::nothing().slow_call("edit_replace_exact", &input, "FOUR", &gate);
            let model = ModelServer::start([call, Answer::says("I see.")]).await;
            let project = Project::new([("a.txt", "one\ntwo\n")]);
            let settings = format!("stop_early = {stops}\n");
            let (_setup, client, session) = start(&model, wire, &settings, &project).await;
            client.prompt(&session, "Change it.").await;
            if !stops {
                client.until(&session, "the diff", |event| matches!(event, Event::EditDelta { .. })).await;
                gate.open();
            }
            let asked = model.asked_times(2).await;
            let (told, failed) = (asked.user_text(), asked.last_results().concat());
            assert_eq!(told.contains("stopped within its call of `edit_replace_exact`"), stops, "{wire:?}: {told}");
            assert_eq!(failed.is_empty(), stops, "{wire:?}: {failed}");
            assert!((told + &failed).contains("a.txt: old_text"), "{wire:?}: it is told why");
            let events = client.until_end(&session, StopReason::EndTurn).await;
            let discarded = events.iter().any(|event| matches!(event, Event::MessageDiscarded { .. }));
            assert_eq!(discarded, stops, "{wire:?}");
            assert_eq!(client.finish().await, 0);
        }
    }
}
