use std::sync::Arc;
use std::time::Duration;

use ports::model::{ModelErrorKind, Stop};
use ports::session::NewErrors;
use protocol::Event;
use protocol::turn::StopReason;
use serde_json::json;

use super::fakes::{Left, Script, Stage, answer, call, ending, failure, hanging, note, says};

fn edits() -> Script {
    answer(vec![call("a", "edit", json!({}))])
}

fn errors(count: u32) -> Option<NewErrors> {
    let shown = vec!["a.rs:3:1: error: no such name\n    frob()".to_owned(), "a.rs:9:1: error: another".to_owned()];
    Some(NewErrors { count, shown })
}

/// Returns the texts that we told the model, and the user at the end.
fn told(left: &Left) -> Vec<String> {
    let text = |event: &Event| match event {
        Event::Noted { text, .. } | Event::Notice { text, .. } => Some(text.clone()),
        Event::TurnEnded { new_errors, .. } => Some(format!("ended with {new_errors:?}")),
        _ => None,
    };
    left.log.iter().filter_map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn what_edits_did_to_problems_is_in_the_very_next_request_after_what_else_is_told() {
    let left = Stage::new(vec![edits(), answer(vec![says("done")])])
        .hears([vec![], vec![note("The user accepted it.")]])
        .breaks([None, Some("1 error is new.")], [])
        .play()
        .await;
    assert_eq!(told(&left), ["The user accepted it.", "1 error is new.", "ended with None"]);
    let request = format!("{:?}", left.requests[1].messages);
    assert!(request.contains("1 error is new."), "{request}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_with_errors_that_its_edits_brought_says_so() {
    let left = Stage::new(vec![edits(), answer(vec![says("done")])]).breaks([], [errors(2)]).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert_eq!(
        told(&left),
        [
            "The edits of this turn brought 2 errors that are there still: a.rs:3:1: error: no such name; a.rs:9:1: error: \
             another",
            "ended with Some(2)"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn where_the_user_wants_it_the_turn_goes_on_to_mend_them_no_more_often_than_allowed() {
    let done = || answer(vec![says("done")]);
    let mut stage = Stage::new(vec![edits(), done(), done(), done()]).breaks([], [errors(2), errors(1), errors(1)]);
    stage.mend_errors = 2;
    let left = stage.play().await;
    assert_eq!((left.requests.len(), left.unplayed), (4, 0), "twice more, and then it ends");
    let told = told(&left);
    assert!(
        told[0].starts_with("You ended, but 2 errors are there that were not there before your edits:"),
        "{told:?}"
    );
    assert!(told[0].contains("a.rs:3:1: error: no such name\n    frob()"), "{told:?}");
    assert!(told[1].starts_with("You ended, but 1 error is there"), "{told:?}");
    assert!(told[2].starts_with("The edits of this turn brought 1 error that is there still"), "{told:?}");
    assert_eq!(told[3], "ended with Some(1)");

    // An error that is fixed is not spoken of.
    let mut stage = Stage::new(vec![edits(), done(), done()]).breaks([], [errors(1), None]);
    stage.mend_errors = 2;
    let left = stage.play().await;
    assert_eq!((left.requests.len(), self::told(&left).len()), (3, 2), "{:?}", left.story());
    assert_eq!(self::told(&left)[1], "ended with None");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cut_short_says_what_it_left_broken_too_and_one_that_was_cancelled_asks_nobody() {
    let refusal = || ending(vec![says("I must not.")], Stop::Refusal);
    let ends: [(StopReason, Script, usize); 3] = [
        (StopReason::MaxTurnRequests, edits(), 2),
        (StopReason::Error, failure(ModelErrorKind::Rejected), 100),
        (StopReason::Refusal, refusal(), 100),
    ];
    for (stop, last, rounds) in ends {
        let mut stage = Stage::new(vec![edits(), last]).breaks([], [errors(1)]);
        (stage.limits.rounds, stage.mend_errors) = (rounds, 2);
        let left = stage.play().await;
        assert_eq!(left.outcome.stop, stop);
        let told = told(&left);
        let told: Vec<_> = told
            .iter()
            .map(String::as_str)
            .filter(|text| text.contains("edits") || text.starts_with("ended"))
            .collect();
        let expected = "The edits of this turn brought 1 error that is there still: a.rs:3:1: error: no such name";
        assert!(told.first().is_some_and(|text| text.starts_with(expected)), "{stop:?}: {told:?}");
        assert_eq!(told.last().copied(), Some("ended with Some(1)"), "{stop:?}");
    }

    let stage = Stage::new(vec![edits(), hanging("I was about to")]).breaks([], [errors(1)]);
    let steps = Arc::clone(&stage.steps);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        steps.cancel();
    });
    let left = stage.play().await;
    assert_eq!(
        (left.outcome.stop, told(&left).last().map(String::as_str)),
        (StopReason::Cancelled, Some("ended with None"))
    );
}
