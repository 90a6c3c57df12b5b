use protocol::session::Mode;
use serde_json::json;

use super::fakes::{Stage, answer, call, calling, says};
use crate::model::ModelErrorKind::Incomplete;
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
