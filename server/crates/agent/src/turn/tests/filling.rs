use ports::model::{Message, ModelErrorKind};
use ports::tool::Access;
use protocol::Event;
use protocol::event::Severity;
use protocol::turn::StopReason;
use serde_json::json;

use super::fakes::{Does, Script, Stage, answer, call, failure, says};
use crate::history::TRIMMED;

/// Rounds that each read about 10 KB, and an end.
fn reading(rounds: usize) -> Vec<Script> {
    let mut scripts: Vec<_> =
        (0..rounds).map(|n| answer(vec![call(&format!("c{n}"), "ramble", json!({ "n": n }))])).collect();
    scripts.push(answer(vec![says("done")]));
    scripts
}

fn stage(rounds: usize) -> Stage {
    Stage::new(reading(rounds)).tool("ramble", Access::Read, Does::Rambles(10_000))
}

fn results(messages: &[std::sync::Arc<Message>]) -> Vec<String> {
    let text = |message: &std::sync::Arc<Message>| match &**message {
        Message::ToolResults(results) => results.iter().map(|result| result.text.clone()).collect(),
        Message::User(_) | Message::Assistant(_) => Vec::new(),
    };
    messages.iter().flat_map(text).collect()
}

#[tokio::test(start_paused = true)]
async fn old_results_make_room_before_the_context_overflows_and_it_is_said() {
    let mut stage = stage(12);
    // 12 results of about 3,150 tokens, each counted on top of the 1,110 that the vendor says of a request.
    stage.context_tokens = 24_000;
    stage.scripts = stage.scripts.into_iter().map(Script::counting_nothing).collect();
    let left = stage.play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    let trimmed = left.log.iter().filter(|event| matches!(event, Event::ContextTrimmed { .. })).count();
    let notices =
        left.log.iter().filter(|event| matches!(event, Event::Notice { severity: Severity::Info, .. })).count();
    assert!(trimmed >= 1 && notices == trimmed, "{trimmed} {notices}");
    let last = results(&left.requests.last().unwrap().messages);
    assert_eq!(last.len(), 12);
    assert!(last[0].starts_with(TRIMMED), "the oldest went first");
    assert!(last[8..].iter().all(|text| text.starts_with("ramble")), "the last rounds are whole");
    for request in &left.requests {
        let chars: usize = results(&request.messages).iter().map(String::len).sum();
        assert!((chars as f64 / 3.5 * 1.1) < 18_000.0, "no request is longer than the room: {chars}");
    }
    assert!(trimmed < 6, "it is not done every round, for the sake of the vendor's cache: {trimmed}");
}

#[tokio::test(start_paused = true)]
async fn a_window_that_turns_out_smaller_counts_from_the_first_answer_on_and_is_told_once() {
    let mut stage = stage(12);
    (stage.context_tokens, stage.given) = (1_000_000, Some(24_000));
    stage.scripts = stage.scripts.into_iter().map(Script::counting_nothing).collect();
    let left = stage.play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    let limits = left.log.iter().filter_map(|event| match event {
        Event::ContextUsed { limit, .. } => Some(*limit),
        _ => None,
    });
    assert!(limits.into_iter().all(|limit| limit == 24_000));
    let warnings = left.log.iter().filter(|event| matches!(event, Event::Notice { severity: Severity::Warning, .. }));
    assert_eq!(warnings.count(), 1);
    assert!(left.log.iter().any(|event| matches!(event, Event::ContextTrimmed { .. })), "the results no longer fit");
    let answers: Vec<_> = left.requests.iter().map(|request| request.max_output_tokens).collect();
    assert!(answers[1..].iter().all(|answer| *answer <= 6_000), "an answer leaves room for the prompt: {answers:?}");
}

#[tokio::test(start_paused = true)]
async fn the_count_of_a_server_that_cuts_off_what_does_not_fit_is_not_believed() {
    // It says 1,110 tokens of each request, since it has cut off all else.
    let mut stage = stage(12);
    (stage.context_tokens, stage.given) = (1_000_000, Some(24_000));
    let left = stage.play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert!(left.log.iter().any(|event| matches!(event, Event::ContextTrimmed { .. })), "the results no longer fit");
}

#[tokio::test(start_paused = true)]
async fn no_more_is_taken_out_than_makes_room() {
    let mut stage = Stage::new(reading(20)).tool("ramble", Access::Read, Does::Rambles(3_000));
    stage.context_tokens = 24_000;
    stage.scripts = stage.scripts.into_iter().map(Script::counting_nothing).collect();
    let left = stage.play().await;
    let taken = left.log.iter().filter_map(|event| match event {
        Event::ContextTrimmed { tool_call_ids, .. } => {
            Some(tool_call_ids.iter().map(|id| id.as_str()).collect::<Vec<_>>())
        }
        _ => None,
    });
    // About 940 tokens each: full at 17 or 18 of them, of which 13 or 14 could go; fewer are enough.
    let taken: Vec<_> = taken.collect();
    assert_eq!(taken, [["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"]]);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_says_too_long_is_asked_again_with_less() {
    let mut stage = stage(6);
    stage.scripts.insert(6, failure(ModelErrorKind::ContextOverflow));
    stage.scripts.insert(7, failure(ModelErrorKind::ContextOverflow));
    let left = stage.play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    let count = |n: usize| results(&left.requests[n].messages).iter().filter(|text| text.starts_with(TRIMMED)).count();
    assert_eq!((count(6), count(7), count(8)), (0, 2, 5), "all but the last four, then all but the last");
}
