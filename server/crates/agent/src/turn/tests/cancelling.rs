use std::sync::Arc;
use std::time::Duration;

use ports::model::{Message, ModelErrorKind};
use ports::session::{Answer, Interjection, Unsettled};
use ports::tool::Access;
use protocol::content::Usage;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, PromptBlock};
use serde_json::json;
use tokio::time::Instant;

use super::fakes::{Does, Left, Stage, Steps, answer, breaking, call, hanging, note, says, started};

/// A turn with everything in it: retries, words meanwhile, reads side by side, an edit, a question, the barrier.
fn eventful(steps: Steps) -> Stage {
    let selected = |option: &str| Answer::Selected { option_id: option.to_owned(), message: None, answers: Vec::new() };
    let steer =
        Interjection::Steer { prompt: vec![PromptBlock::Text { text: "hurry".to_owned() }], context: String::new() };
    let thinking = AssistantBlock::Thinking { text: "hm".to_owned(), vendor: None };
    Stage::with_steps(
        steps,
        vec![
            breaking("I wa", ModelErrorKind::Incomplete),
            answer(vec![
                thinking,
                says("I look and edit"),
                call("a", "look", json!({ "say": "1" })),
                call("b", "look", json!({ "say": "2" })),
                call("c", "edit", json!({})),
                call("d", "shell", json!({})),
            ]),
            answer(vec![call("e", "look", json!({ "say": "3" }))]),
            breaking("I write it.\n<azimuth_file mark=\"k\" path=\"a\">\none\ntw", ModelErrorKind::Incomplete),
            answer(vec![says("<azimuth_file mark=\"k\" path=\"a\" mode=\"append\">\ntwo\n</azimuth_file>\n")]),
            answer(vec![says("all done")]),
        ],
    )
    .tool("edit_create_file", Access::Edit, Does::Plans)
    .tool("edit_insert_at_line", Access::Edit, Does::Plans)
    .answers([selected("allow_always"), selected("settle_and_run")])
    .unsettled(Unsettled { pending_hunks: 1, pending_files: vec!["a.rs".to_owned()], ..Unsettled::default() })
    .hears([vec![], vec![note("a.rs changed")], vec![steer]])
}

#[tokio::test(start_paused = true)]
async fn a_turn_cancelled_at_any_instant_leaves_a_log_to_go_on_with() {
    let uncancelled = eventful(Steps::default());
    let counted = Arc::clone(&uncancelled.steps);
    let whole = uncancelled.play().await;
    assert_eq!((whole.outcome.stop, whole.unplayed), (StopReason::EndTurn, 0));
    let steps = counted.count();
    assert!(steps > 80, "there are many instants: {steps}");

    let mut cancelled = 0;
    for step in 1..=steps {
        // `play` checks that the log is sound.
        let left = eventful(Steps::cancelling_at(step)).play().await;
        match left.outcome.stop {
            StopReason::Cancelled => cancelled += 1,
            // The cancel came when everything was done.
            StopReason::EndTurn => assert!(step > steps - 8, "the cancel at step {step} of {steps} was not heard"),
            other => panic!("cancelled at {step}: {other:?}"),
        }
        goes_on(left).await;
    }
    assert!(cancelled + 8 >= steps, "{cancelled} of {steps}");
}

/// Another turn can follow; its model checks every request as a vendor would.
async fn goes_on(left: Left) {
    for prompt in ["", "and now?"] {
        let mut stage = Stage::new(vec![answer(vec![call("z", "look", json!({}))]), answer(vec![says("yes")])]);
        stage.events = left.log.clone();
        stage.events.push(started("t2", prompt));
        let next = stage.play().await;
        assert_eq!(next.outcome.stop, StopReason::EndTurn);
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_of_an_answer_stays_said() {
    let stage = Stage::new(vec![hanging("half an ans")]);
    let steps = Arc::clone(&stage.steps);
    let cancelling = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        steps.cancel();
    });
    let left = stage.play().await;
    cancelling.await.unwrap();
    assert_eq!(left.story(), ["~half an ans", "Cancelled"]);
    assert_eq!(*left.messages()[1], Message::Assistant(vec![says("half an ans")]));
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_when_cancelled_is_waited_for_and_one_that_does_not_is_left_behind() {
    for (does, seconds) in [(Does::WaitsForCancel, 0), (Does::Hangs, 5)] {
        let content = vec![call("a", "wait", json!({})), call("b", "edit", json!({}))];
        let stage = Stage::new(vec![answer(content)]).tool("wait", Access::Read, does);
        let steps = Arc::clone(&stage.steps);
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            steps.cancel();
        });
        let began = Instant::now();
        let left = stage.play().await;
        assert_eq!(began.elapsed().as_secs(), 1 + seconds);
        assert_eq!(left.story(), ["completed", "+a", "-a", "-b", "Cancelled"]);
        assert_eq!(left.result("a"), ("cancelled by the user", true));
        assert_eq!(left.result("b"), ("cancelled by the user", true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_retry_is_cut_short() {
    let busy = ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(100)) };
    let stage = Stage::new(vec![super::fakes::failure(busy)]);
    let steps = Arc::clone(&stage.steps);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        steps.cancel();
    });
    let began = Instant::now();
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, began.elapsed().as_secs()), (StopReason::Cancelled, 1));
}

#[tokio::test(start_paused = true)]
async fn words_that_a_cancelled_turn_did_not_hear_are_kept_for_the_next() {
    let left = Stage::with_steps(Steps::cancelling_at(4), vec![answer(vec![says("never")])])
        .hears([vec![], vec![note("hunk 1 was rejected")]])
        .play()
        .await;
    assert_eq!(left.outcome.stop, StopReason::Cancelled);
    assert!(matches!(left.log[left.log.len() - 2], Event::Noted { .. }), "{:?}", left.story());
}

#[tokio::test(start_paused = true)]
async fn what_a_cancelled_answer_used_is_paid_for_too() {
    let early = Usage { input: 40, output: 2, cache_read: 500, cache_write: 0, cache_write_hour: 0 };
    let stage = Stage::new(vec![hanging("I wa").using(early)]);
    let steps = Arc::clone(&stage.steps);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        steps.cancel();
    });
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.outcome.usage), (StopReason::Cancelled, early));
    assert!(left.outcome.cost.unwrap() > 0.0);
}
