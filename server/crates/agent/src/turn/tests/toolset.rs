use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::hooks::{Hooks, TurnPoint};
use ports::tool::Access;
use protocol::Event;
use protocol::session::Mode;
use serde_json::json;

use super::fakes::{Does, Left, Stage, answer, call, says};
use crate::toolset::ToolSet;

type Change = Box<dyn FnMut(&ToolSet) + Send>;

/// Changes the tools before the requests, each of which has its change.
struct Changes {
    set: ToolSet,
    asked: AtomicUsize,
    changes: Vec<Mutex<Change>>,
}

#[async_trait]
impl Hooks for Changes {
    async fn before_turn(&self, _: &TurnPoint<'_>) {
        self.next();
    }

    async fn after_request(&self, _: &TurnPoint<'_>, _: &protocol::content::Usage) {
        self.next();
    }
}

impl Changes {
    fn next(&self) {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(change) = self.changes.get(at) {
            change.lock().unwrap()(&self.set);
        }
    }
}

/// A turn before whose first, second … round these changes are made.
async fn with_changes<const N: usize>(mut stage: Stage, changes: [Change; N]) -> Left {
    stage.set.may_change();
    let changes = changes.into_iter().map(Mutex::new).collect();
    let hooks = Changes { set: stage.set.clone(), asked: AtomicUsize::new(0), changes };
    stage.hooks.push(std::sync::Arc::new(hooks));
    stage.play().await
}

fn last(left: &Left, request: usize) -> String {
    format!("{:?}", left.requests[request].messages.last().unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_comes_between_rounds_is_told_of_and_can_be_called_and_the_request_begins_as_before() {
    let stage = Stage::new(vec![
        answer(vec![call("a", "look", json!({}))]),
        answer(vec![call("b", "call_tool", json!({ "name": "fetch", "input": { "say": "fetched" } }))]),
        answer(vec![call("c", "call_tool", json!({ "name": "push", "input": { "line": "x" } }))]),
        answer(vec![says("done")]),
    ])
    .denies("push");
    let tools = [stage.late("fetch", Access::Read, Does::Says), stage.late("push", Access::Execute, Does::Says)];
    let nothing = Box::new(|_: &ToolSet| {});
    let came = Box::new(move |set: &ToolSet| assert!(set.put("a server", tools.clone()).is_empty()));
    let left = with_changes(stage, [nothing, came]).await;
    assert!(!last(&left, 0).contains("fetch"));
    let note = last(&left, 1);
    assert!(note.contains("These tools are available now") && note.contains("- `fetch`: does as it is told"), "{note}");
    assert_eq!(left.result("b"), ("fetched", false));
    assert!(left.result("c").1, "it passes permission as what it calls: {:?}", left.result("c"));
    for pair in left.requests.windows(2) {
        let [before, after] = pair else { panic!() };
        assert_eq!((&before.system, &before.tools), (&after.system, &after.tools));
        assert_eq!(after.messages.get(..before.messages.len()), Some(before.messages.as_slice()));
    }
    assert!(!last(&left, 2).contains("available now"), "it is told once");
    let names = left.log.iter().filter_map(|event| match event {
        Event::ToolCallStarted { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["look", "fetch", "push"], "the user sees which tool was called");
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_goes_is_told_of_and_a_call_of_it_fails_in_words() {
    let stage = Stage::new(vec![
        answer(vec![call("a", "look", json!({}))]),
        answer(vec![call("b", "search", json!({}))]),
        answer(vec![call("c", "search", json!({ "say": "found" }))]),
        answer(vec![says("done")]),
    ]);
    let search = [stage.late("search", Access::Read, Does::Says)];
    stage.set.put("a server", search.clone());
    let nothing = Box::new(|_: &ToolSet| {});
    let gone = Box::new(|set: &ToolSet| set.remove("a server"));
    let back = Box::new(move |set: &ToolSet| drop(set.put("a server", search.clone())));
    let left = with_changes(stage, [nothing, gone, back]).await;
    assert!(left.requests.iter().all(|request| request.tools.iter().any(|tool| tool.name == "search")));
    assert!(last(&left, 1).contains("These tools are gone: search."), "{}", last(&left, 1));
    assert!(last(&left, 2).contains("These tools are back: search."), "{}", last(&left, 2));
    assert_eq!(left.result("c"), ("found", false));
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_tool_that_is_gone_says_so() {
    let stage = Stage::new(vec![answer(vec![call("a", "search", json!({}))]), answer(vec![says("done")])]);
    stage.set.put("a server", [stage.late("search", Access::Read, Does::Says)]);
    let nothing = Box::new(|_: &ToolSet| {});
    let gone = Box::new(|set: &ToolSet| set.remove("a server"));
    let left = with_changes(stage, [nothing, gone]).await;
    assert_eq!(left.result("a"), ("the tool `search` is no longer available; continue without it", true));
}

#[tokio::test(start_paused = true)]
async fn a_mode_has_no_tools_by_way_of_another_name() {
    let mut stage = Stage::new(vec![
        answer(vec![call("a", "call_tool", json!({ "name": "late_edit", "input": {} }))]),
        answer(vec![says("done")]),
    ]);
    stage.mode = Mode::Ask;
    let tools = [stage.late("late_edit", Access::Edit, Does::Plans)];
    let came = Box::new(move |set: &ToolSet| drop(set.put("a server", tools.clone())));
    let left = with_changes(stage, [came]).await;
    assert!(left.result("a").0.contains("mode `ask` only looks"), "{:?}", left.result("a"));
    assert!(!last(&left, 0).contains("late_edit"));
}

#[tokio::test(start_paused = true)]
async fn a_session_whose_tools_stay_is_offered_nothing_more() {
    let left = Stage::new(vec![answer(vec![says("done")])]).play().await;
    let names: Vec<_> = left.requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["look", "edit", "shell"]);
}

#[test]
fn the_first_source_of_a_name_has_it_and_the_later_is_told() {
    let stage = Stage::new(Vec::new());
    let set = ToolSet::new("built-in", [stage.late("look", Access::Read, Does::Says)]);
    set.may_change();
    let late = ["look", "call_tool", "other"].map(|name| stage.late(name, Access::Read, Does::Says));
    assert_eq!(set.put("a server", late), ["look", "call_tool"]);
    let offered = set.offered(Mode::Agent);
    let offered: Vec<_> = offered.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["look", "other", "call_tool"]);
}

#[test]
fn a_set_that_is_restricted_has_only_these_tools_whoever_brings_them_and_whenever() {
    let stage = Stage::new(Vec::new());
    let late = |name: &'static str| stage.late(name, Access::Read, Does::Says);
    let set = ToolSet::new("built-in", ["look", "edit"].map(late));
    set.restrict(["look".to_owned(), "other".to_owned()]);
    assert!(set.put("a server", ["other", "edit", "more"].map(late)).is_empty(), "nobody had a name before them");
    let offered = set.offered(Mode::Agent);
    let offered: Vec<_> = offered.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["look", "other"]);
    assert!(set.get("edit").is_none() && set.get("more").is_none(), "what is not offered cannot be called either");

    set.release();
    let offered = set.offered(Mode::Agent);
    let offered: Vec<_> = offered.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["look", "edit", "other", "more"], "all are, though it was offered others before");
    assert!(set.get("edit").is_some() && set.news(Mode::Agent).is_none(), "there is nothing to tell of");
}
