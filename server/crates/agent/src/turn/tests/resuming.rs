//! Going on with a turn that was interrupted within its calls.

use ports::tool::{Access, INTERRUPTED};
use protocol::content::{Opening, Usage};
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, ToolCallId};
use serde_json::json;

use super::fakes::{Does, Stage, answer, call, says, started};

/// A turn that made these calls, let those of `begun` through the gate, and was killed; then one that goes on with it.
fn cut_off(calls: Vec<AssistantBlock>, begun: &[&str]) -> Stage {
    let names = calls.clone().into_iter().filter_map(|block| match block {
        AssistantBlock::ToolCall { id, name, input, .. } => Some((id, name, input)),
        AssistantBlock::Text { .. } | AssistantBlock::Thinking { .. } => None,
    });
    let begun = names.filter(|(id, ..)| begun.contains(&id.as_str())).map(|(id, name, input)| Event::ToolCallStarted {
        turn_id: "t1".into(),
        tool_call_id: id,
        title: name.clone(),
        name,
        kind: protocol::content::ToolKind::Other,
        input,
        locations: vec![],
    });
    let mut stage = Stage::new(vec![answer(vec![says("done")])]);
    stage.events.push(Event::MessageCompleted {
        turn_id: "t1".into(),
        message_id: "m".into(),
        content: calls.clone(),
        usage: Usage::default(),
        cost: None,
        timing: None,
        opening: Opening::default(),
    });
    stage.events.extend(begun);
    stage.events.push(Event::TurnEnded {
        turn_id: "t1".into(),
        stop_reason: StopReason::Interrupted,
        error: None,
        usage: Usage::default(),
        cost: None,
        new_errors: None,
    });
    stage.events.push(started("t2", ""));
    stage
}

#[tokio::test]
async fn what_was_looked_at_or_planned_when_the_server_died_is_looked_at_and_planned_again() {
    let calls = vec![call("a", "look", json!({ "say": "a" })), call("b", "edit", json!({}))];
    let left = cut_off(calls, &["a", "b"]).play().await;
    assert_eq!((left.result("a"), left.proposed.len()), (("a", false), 1));
    assert!(left.result("b").0.contains("Proposed"), "{:?}", left.result("b"));
}

#[tokio::test]
async fn an_edit_that_was_proposed_before_the_server_died_is_not_proposed_twice() {
    let left = cut_off(vec![call("b", "edit", json!({}))], &["b"]).has_proposed("b").play().await;
    assert!(left.result("b").0.starts_with("Proposed (+3 -1 lines); 2 hunks wait"), "{:?}", left.result("b"));
    assert!(left.proposed.is_empty());
    let cut = call("file-t1-m1-1-cut1", "edit_create_file", json!({ "path": "a", "content": "one\n" }));
    let left = cut_off(vec![cut], &["file-t1-m1-1-cut1"]).has_proposed("file-t1-m1-1-cut1").play().await;
    let (told, _) = left.result("file-t1-m1-1-cut1");
    assert!(told.contains("Proposed") && told.contains("Go on now with the line below these"), "{told}");
}

#[tokio::test]
async fn a_command_that_had_begun_does_not_run_twice_and_one_that_had_not_runs() {
    let calls =
        vec![call("a", "shell", json!({ "line": "date" })), call("b", "shell", json!({ "line": "ls", "say": "b" }))];
    let left = cut_off(calls, &["a"]).allows("Shell").play().await;
    assert_eq!(left.result("a"), (INTERRUPTED, true));
    assert_eq!(left.result("b"), ("b", false));
}

#[tokio::test]
async fn what_is_paid_for_is_not_asked_again_and_the_model_learns_where_its_answer_may_be() {
    let calls = ["a", "b", "c"].map(|id| call(id, "consult", json!({ "say": id })));
    let mut stage = cut_off(calls.into(), &["a", "b"]).tool("consult", Access::Read, Does::Says);
    let at = stage.events.iter().position(|event| matches!(event, Event::TurnEnded { .. })).unwrap();
    let worked = Event::ChildWorked {
        turn_id: "t1".into(),
        tool_call_id: "a".into(),
        child: "abc123".into(),
        model: "wise".into(),
        rounds: 1,
        doing: None,
        usage: Usage::default(),
        cost: None,
    };
    stage.events.insert(at, worked);
    let left = stage.play().await;
    let (told, is_error) = left.result("a");
    assert!(is_error && told.contains("conversation abc123, where its answer may be"), "{told}");
    assert_eq!(left.result("b"), (INTERRUPTED, true));
    assert_eq!(left.result("c"), ("c", false), "it had not begun");
}

#[tokio::test]
async fn a_command_whose_question_was_answered_after_the_server_died_runs() {
    let mut stage = cut_off(vec![call("a", "shell", json!({ "line": "date", "say": "today" }))], &["a"]);
    stage.answered = Some(ToolCallId::from("a"));
    let left = stage.allows("Shell").play().await;
    assert_eq!(left.result("a"), ("today", false));
}
