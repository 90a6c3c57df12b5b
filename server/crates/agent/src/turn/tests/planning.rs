use protocol::Event;
use protocol::content::{PlanEntry, PlanEntryStatus};
use protocol::session::Mode;
use serde_json::json;

use super::fakes::{Left, Script, Stage, answer, call, says};

fn step(content: &str, status: PlanEntryStatus) -> PlanEntry {
    PlanEntry { content: content.to_owned(), status }
}

/// A plan of which a step is done and two are not.
fn planned(scripts: Vec<Script>) -> Stage {
    use PlanEntryStatus::{Completed, InProgress, Pending};
    Stage::new(scripts).planned([step("Find it", Completed), step("Mend it", InProgress), step("Test it", Pending)])
}

fn done() -> Script {
    answer(vec![says("done")])
}

fn told(left: &Left) -> Vec<&str> {
    let text = |event: &'_ Event| matches!(event, Event::Noted { .. });
    let texts = left.log.iter().filter(|event| text(event));
    texts.filter_map(|event| if let Event::Noted { text, .. } = event { Some(text.as_str()) } else { None }).collect()
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_would_end_with_open_steps_goes_on_as_often_as_the_user_wants() {
    for (reminders, requests) in [(0, 1), (1, 2), (2, 3)] {
        let mut stage = planned((0..requests).map(|_| done()).collect());
        stage.plan_reminders = reminders;
        let left = stage.play().await;
        assert_eq!((left.requests.len(), left.unplayed), (requests, 0));
        for text in told(&left) {
            let begins = "You ended your turn, but these steps of the plan are open: Mend it; Test it. Go on with them";
            assert!(text.starts_with(begins), "{text}");
        }
        assert_eq!(told(&left).len(), requests - 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_is_done_or_that_only_looks_ahead_is_not_spoken_of() {
    let mut stage = Stage::new(vec![done()]).planned([step("Find it", PlanEntryStatus::Completed)]);
    stage.plan_reminders = 1;
    assert_eq!(stage.play().await.requests.len(), 1);
    let mut stage = planned(vec![done()]);
    (stage.plan_reminders, stage.mode) = (1, Mode::Plan);
    assert_eq!(stage.play().await.requests.len(), 1, "its steps are for another mode");
}

#[tokio::test(start_paused = true)]
async fn after_ten_rounds_without_an_update_the_model_is_reminded_of_its_plan() {
    let look = |n: usize| answer(vec![call(&format!("c{n}"), "look", json!({ "n": n }))]);
    let mut stage = planned((0..12).map(look).chain([done(), done()]).collect());
    stage.plan_reminders = 1;
    let left = stage.play().await;
    let told = told(&left);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0]
            .starts_with("You have not updated the plan for 10 rounds. These of its steps are open: Mend it; Test it.")
    );
    assert!(told[1].starts_with("You ended your turn"));
}
