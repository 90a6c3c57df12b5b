use std::time::Duration;

use ports::model::ModelErrorKind::{
    ContextOverflow, Garbage, Incomplete, OrphanedToolCalls, RateLimited, Rejected, Transient, Unauthorized,
    UnreadableCall,
};
use ports::model::{Message, Request};
use protocol::Event;
use protocol::content::Usage;
use protocol::turn::StopReason;
use serde_json::json;
use tokio::time::Instant;

use super::fakes::{Stage, answer, breaking, call, ending_early, failure, says};

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again_after_a_growing_wait() {
    let began = Instant::now();
    let left = Stage::new(vec![
        failure(Transient),
        breaking("I wa", Incomplete),
        ending_early("I want"),
        answer(vec![says("I did")]),
    ])
    .play()
    .await;
    assert_eq!(
        left.story(),
        [
            "retry 1",
            "~I wa",
            "discarded",
            "retry 2",
            "~I want",
            "discarded",
            "retry 3",
            "~I ",
            "~did",
            "completed",
            "EndTurn"
        ]
    );
    assert!((Duration::from_millis(5_250)..Duration::from_millis(8_750)).contains(&began.elapsed()));
    let requests: Vec<_> = left.requests.iter().map(|request| &request.messages).collect();
    assert!(requests.windows(2).all(|pair| pair[0] == pair[1]), "nothing of a broken answer is sent back");
}

#[tokio::test(start_paused = true)]
async fn a_fourth_failure_in_a_row_ends_the_turn_and_a_success_between_begins_anew() {
    let left = Stage::new((0..4).map(|_| failure(Transient)).collect()).play().await;
    assert_eq!(left.outcome.stop, StopReason::Error);
    assert_eq!(left.outcome.error.as_deref(), Some("the vendor said Transient"));

    let mut scripts: Vec<_> = (0..3).map(|_| failure(Transient)).collect();
    scripts.push(answer(vec![call("a", "look", json!({}))]));
    scripts.extend((0..3).map(|_| failure(Transient)));
    scripts.push(answer(vec![says("done")]));
    assert_eq!(Stage::new(scripts).play().await.outcome.stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn the_vendors_own_time_is_waited_for() {
    let began = Instant::now();
    let busy = RateLimited { retry_after: Some(Duration::from_secs(17)) };
    let left = Stage::new(vec![failure(busy), answer(vec![says("done")])]).play().await;
    assert_eq!(began.elapsed().as_secs(), 17);
    assert!(left.log.iter().any(|event| matches!(event, Event::Retrying { attempt: 1, delay_ms: 17_000, .. })));
}

#[tokio::test(start_paused = true)]
async fn what_stays_wrong_is_told_at_once_and_what_was_shown_stays() {
    for kind in [Unauthorized, Rejected] {
        let left = Stage::new(vec![failure(kind)]).play().await;
        assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::Error, 1));
    }
    let left = Stage::new(vec![breaking("half an answer", Rejected)]).play().await;
    assert_eq!(left.story(), ["~half an answer", "Error"]);
    assert_eq!(left.messages().len(), 2, "the half answer is part of the conversation");
}

#[tokio::test(start_paused = true)]
async fn garbage_and_orphaned_calls_get_one_more_try() {
    for kind in [Garbage, OrphanedToolCalls] {
        let left = Stage::new(vec![failure(kind), answer(vec![says("done")])]).play().await;
        assert_eq!(left.outcome.stop, StopReason::EndTurn);
        let left = Stage::new(vec![failure(kind), failure(kind)]).play().await;
        assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::Error, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn of_a_call_that_the_vendor_could_not_read_the_model_is_told_three_times_at_most() {
    let left = Stage::new(vec![failure(UnreadableCall), answer(vec![says("as text, then")])]).play().await;
    assert_eq!(left.story(), ["noted", "retry 1", "~as ", "~text, ", "~then", "completed", "EndTurn"]);
    let told = format!("{:?}", left.requests[1].messages);
    assert!(told.contains("could not be read") && told.contains("the vendor said UnreadableCall"), "{told}");

    let left = Stage::new((0..4).map(|_| failure(UnreadableCall)).collect()).play().await;
    assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::Error, 4));
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_finds_fault_with_calls_is_told_of_them_in_words_for_the_rest_of_the_turn() {
    let left = Stage::new(vec![
        answer(vec![call("a", "look", json!({ "say": "blue" }))]),
        failure(OrphanedToolCalls),
        answer(vec![says("it is blue")]),
    ])
    .play()
    .await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    let [_, refused, told] = left.requests.as_slice() else { panic!("{:?}", left.requests) };
    let has_calls = |request: &Request| request.messages.iter().any(|it| matches!(**it, Message::ToolResults(_)));
    assert!(has_calls(refused) && !has_calls(told));
    let text = format!("{:?}", told.messages);
    assert!(text.contains("I called `look` (a)") && text.contains("blue"), "{text}");
    assert!(left.messages().iter().any(|it| matches!(**it, Message::ToolResults(_))), "the history is as it was");
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_nothing_is_said_to_be_one() {
    let left = Stage::new(vec![answer(vec![])]).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    let said = |event: &Event| matches!(event, Event::Notice { text, .. } if text.contains("answered nothing"));
    assert!(left.log.iter().any(said), "{:?}", left.story());
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_cannot_be_made_shorter_says_what_to_do() {
    let left = Stage::new(vec![failure(ContextOverflow)]).play().await;
    let error = left.outcome.error.unwrap();
    assert!(error.contains("/new") && error.contains("the vendor said ContextOverflow"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_broken_answers_used_is_paid_for_too() {
    let early = Usage { input: 40, output: 2, cache_read: 500, cache_write: 0 };
    let left = Stage::new(vec![breaking("I wa", Incomplete).using(early), answer(vec![says("I did")]).using(early)])
        .play()
        .await;
    assert_eq!(left.outcome.usage, Usage { input: 140, output: 12, cache_read: 1_500, cache_write: 0 });
    let cost = left.outcome.cost.unwrap();
    assert!((cost - (140.0 * 3.0 + 12.0 * 15.0 + 1_500.0 * 0.3) / 1e6).abs() < 1e-12, "{cost}");
}
