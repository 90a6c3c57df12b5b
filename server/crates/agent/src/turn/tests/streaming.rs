use protocol::content::Usage;
use protocol::session::Mode;
use serde_json::json;

use super::fakes::{Stage, answer, call, calling, says};
use crate::model::ModelErrorKind::Incomplete;
use crate::model::{Message, UserBlock};
use crate::tool::Access;

#[tokio::test(start_paused = true)]
async fn the_diff_of_an_edit_is_shown_while_its_call_arrives_and_taken_back_with_a_broken_answer() {
    let pieces = ["{\"old\":\"x\",\"new\":\"on", "e\\ntw", "o\"", "}"];
    let left = Stage::new(vec![calling("edit", &pieces, Some(Incomplete)), answer(vec![says("no")])]).play().await;
    assert_eq!(left.story(), ["%+on", "%e\n+tw", "%o", "discarded", "retry 1", "~no", "completed", "EndTurn"]);
    assert_eq!(left.requests[0].messages, left.requests[1].messages);

    let whole = answer(vec![call("a", "edit", json!({ "new": "one" }))]);
    let left = Stage::new(vec![whole, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["%+one", "completed", "+a", "-a", "~done", "completed", "EndTurn"]);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_edit_or_may_not_shows_no_diff() {
    let calls = || vec![call("a", "look", json!({ "new": "x" })), call("b", "edit", json!({ "new": "x" }))];
    let stage = Stage::new(vec![answer(calls()), answer(vec![says("done")])]);
    let left = stage.tool("look", Access::Read, super::fakes::Does::Says).play().await;
    assert_eq!(left.story().iter().filter(|line| line.starts_with('%')).count(), 1);
    let mut stage = Stage::new(vec![answer(calls()), answer(vec![says("done")])]);
    stage.mode = Mode::Ask;
    assert!(!stage.play().await.story().iter().any(|line| line.starts_with('%')));
}

/// The input of an edit of a text that is not there, in pieces.
const DOOMED: [&str; 4] = ["{\"old\":\"go", "ne\",", "\"new\":\"x\"", "}"];

fn stopping(scripts: Vec<super::fakes::Script>) -> Stage {
    let mut stage = Stage::new(scripts);
    stage.stop_early = true;
    stage
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_cannot_be_made_stops_the_answer_and_the_model_is_told_why() {
    let used = Usage { input: 100, output: 3, ..Usage::default() };
    let doomed = calling("edit", &DOOMED, None).using(used);
    let left = stopping(vec![doomed, answer(vec![says("I see")])]).play().await;
    assert_eq!(left.story(), ["noted", "~I ", "~see", "completed", "EndTurn"], "nothing more of it is even shown");
    let (first, second) = (&left.requests[0].messages, &left.requests[1].messages);
    assert_eq!(second[..first.len()], first[..]);
    let Some(Message::User(blocks)) = second.last().map(|last| &**last) else { panic!("{second:?}") };
    let [UserBlock::Text(note)] = blocks.as_slice() else { panic!("{blocks:?}") };
    assert!(note.contains("within its call of `edit`") && note.contains("a.rs has no `gone`"), "{note}");
    assert_eq!(left.outcome.usage.output, 3 + 10, "what it had used is paid for");
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_stopped_twice_in_a_row_at_most_and_only_by_the_setting() {
    let doomed = || answer(vec![says("I try."), call("a", "edit", json!({ "old": "gone" }))]);
    let done = || answer(vec![says("done")]);
    let left = stopping(vec![doomed(), doomed(), doomed(), done()]).play().await;
    let stopped = ["~I ", "~try.", "discarded", "noted"];
    let through = ["~I ", "~try.", "completed", "+a", "-a", "~done", "completed", "EndTurn"];
    assert_eq!(left.story(), [&stopped[..], &stopped, &through].concat());
    let left = Stage::new(vec![doomed(), done()]).play().await;
    assert_eq!(left.story(), through);
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_another_call_may_mend_is_not_judged_nor_one_that_the_tool_cannot_judge() {
    let two = answer(vec![call("a", "edit", json!({ "old": "there" })), call("b", "edit", json!({ "old": "gone" }))]);
    let left = stopping(vec![two, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["completed", "+a", "-a", "+b", "-b", "~done", "completed", "EndTurn"]);
    let behind = answer(vec![call("a", "look", json!({ "old": "gone" })), call("b", "edit", json!({ "old": "gone" }))]);
    let left = stopping(vec![behind, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story()[0], "noted", "looking changes nothing");
    let panics = answer(vec![call("a", "edit", json!({ "old": "panic" }))]);
    let left = stopping(vec![panics, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story()[..3], ["completed", "+a", "-a"]);
}
