use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use ports::hooks::{Chain, Hooks, PromptPoint, ToolPoint, TurnPoint};
use ports::tool::{Output, ToolError};
use protocol::content::Usage;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, TurnId};
use serde_json::json;

use super::fakes::{Left, Script, Stage, Steps, answer, call, says};

fn one_command() -> Vec<Script> {
    vec![answer(vec![call("x", "shell", json!({ "line": "make" }))]), answer(vec![says("done")])]
}

/// Writes down at which points it was called.
#[derive(Clone, Default)]
struct Listens(Arc<Mutex<Vec<String>>>);

impl Listens {
    fn heard(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }
}

#[async_trait]
impl Hooks for Listens {
    async fn before_turn(&self, _: &TurnPoint<'_>) {
        self.heard("turn begins");
    }

    async fn after_turn(&self, _: &TurnPoint<'_>, stop: StopReason, _: Option<&str>) {
        self.heard(format!("turn ended: {stop:?}"));
    }

    async fn before_request(&self, _: &TurnPoint<'_>) -> Option<String> {
        self.heard("asks");
        None
    }

    async fn after_request(&self, _: &TurnPoint<'_>, usage: &Usage) {
        self.heard(format!("answered: {}", usage.total() > 0));
    }

    async fn before_tool(&self, point: &ToolPoint<'_>) -> Result<(), String> {
        self.heard(format!("calls {} {}", point.tool, point.input["line"]));
        Ok(())
    }

    async fn after_tool(&self, point: &ToolPoint<'_>, result: &mut Result<Output, ToolError>) {
        self.heard(format!("{} gave {}", point.tool, result.is_ok()));
    }
}

#[tokio::test(start_paused = true)]
async fn hooks_are_called_at_every_point_of_a_turn_in_order() {
    let listens = Listens::default();
    Stage::new(one_command()).allows("Shell").hooked(listens.clone()).play().await;
    let heard = listens.0.lock().unwrap().clone();
    let expected = [
        "turn begins",
        "asks",
        "answered: true",
        "calls shell \"make\"",
        "shell gave true",
        "asks",
        "answered: true",
        "turn ended: EndTurn",
    ];
    assert_eq!(heard, expected);
}

/// Stops every call.
struct Stops;

#[async_trait]
impl Hooks for Stops {
    async fn before_tool(&self, point: &ToolPoint<'_>) -> Result<(), String> {
        Err(format!("{} is not for today", point.tool))
    }
}

/// Panics wherever it can.
struct Panics;

#[async_trait]
impl Hooks for Panics {
    async fn before_tool(&self, _: &ToolPoint<'_>) -> Result<(), String> {
        panic!("over a call");
    }

    async fn before_request(&self, _: &TurnPoint<'_>) -> Option<String> {
        panic!("over a request");
    }

    async fn after_tool(&self, _: &ToolPoint<'_>, _: &mut Result<Output, ToolError>) {
        panic!("over a result");
    }
}

fn ran(left: &Left) -> bool {
    left.result("x").0.starts_with("a result")
}

#[tokio::test(start_paused = true)]
async fn a_call_that_a_hook_stops_is_not_asked_for_and_the_model_and_the_user_read_why() {
    let left = Stage::new(one_command()).hooked(Stops).play().await;
    assert!(left.asked.is_empty() && !ran(&left));
    assert_eq!(left.result("x"), ("not made: shell is not for today", true));
    assert_eq!(left.outcome.refused, ["shell make: not made: shell is not for today"]);
    let judged = |event: &Event| matches!(event, Event::PermissionJudged { allowed: false, .. });
    assert!(left.log.iter().any(judged));
}

#[tokio::test(start_paused = true)]
async fn no_hook_allows_what_a_rule_denies() {
    let stage = Stage::new(one_command()).denies("Shell(make)").hooked(Listens::default());
    let left = stage.play().await;
    assert!(left.result("x").0.starts_with("denied: rule `Shell(make)`"), "{:?}", left.result("x"));
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_breaks_down_stops_the_call_and_not_the_turn() {
    let left = Stage::new(one_command()).allows("Shell").hooked(Panics).play().await;
    assert!(!ran(&left) && left.result("x").0.contains("a hook broke down"), "{:?}", left.result("x"));
    assert_eq!(left.unplayed, 0);
}

/// Adds its word to every result, and to every request.
struct Adds(&'static str);

#[async_trait]
impl Hooks for Adds {
    async fn before_request(&self, _: &TurnPoint<'_>) -> Option<String> {
        Some(format!("by {}", self.0))
    }

    async fn after_tool(&self, _: &ToolPoint<'_>, result: &mut Result<Output, ToolError>) {
        if let Ok(output) = result {
            output.text.push_str(self.0);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_hooks_add_is_read_by_the_model_in_their_order() {
    let left = Stage::new(one_command()).allows("Shell").hooked(Adds(" one")).hooked(Adds(" two")).play().await;
    assert!(left.result("x").0.ends_with(" one two"), "{:?}", left.result("x"));
    let last = format!("{:?}", left.requests[0].messages.last().unwrap());
    assert!(last.contains("by  one\\n\\nby  two"), "{last}");
    let (first, second) = (&left.requests[0].messages, &left.requests[1].messages);
    assert_eq!(second.get(..first.len()), Some(first.as_slice()), "what was sent stays as it was sent");
}

/// Never comes back.
struct Hangs(Arc<Steps>);

#[async_trait]
impl Hooks for Hangs {
    async fn before_tool(&self, _: &ToolPoint<'_>) -> Result<(), String> {
        self.0.cancel();
        pending().await
    }

    async fn after_turn(&self, _: &TurnPoint<'_>, _: StopReason, _: Option<&str>) {
        pending().await
    }
}

/// Cancels the turn while the tool's result is on its way.
struct CancelsAfter(Arc<Steps>);

#[async_trait]
impl Hooks for CancelsAfter {
    async fn after_tool(&self, _: &ToolPoint<'_>, result: &mut Result<Output, ToolError>) {
        self.0.cancel();
        if let Ok(output) = result {
            output.text.push_str(" [looked at]");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_tool_gave_is_kept_though_the_turn_is_cancelled_while_hooks_look_at_it() {
    let stage = Stage::new(one_command()).allows("Shell");
    let cancels = CancelsAfter(Arc::clone(&stage.steps));
    let left = stage.hooked(cancels).play().await;
    assert!(ran(&left) && left.result("x").0.contains("[looked at]"), "{:?}", left.result("x"));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_waits_for_no_hook() {
    let stage = Stage::new(one_command()).allows("Shell");
    let hangs = Hangs(Arc::clone(&stage.steps));
    let left = stage.hooked(hangs).play().await;
    assert_eq!(left.result("x").0, "cancelled by the user");
}

/// Never comes back from the points that nobody can cancel.
struct Hanging;

#[async_trait]
impl Hooks for Hanging {
    async fn session_closed(&self, _: &SessionId) {
        pending().await
    }

    async fn after_turn(&self, _: &TurnPoint<'_>, _: StopReason, _: Option<&str>) {
        pending().await
    }

    async fn before_prompt(&self, _: &PromptPoint<'_>) -> Option<String> {
        pending().await
    }
}

/// Hearing a word to every prompt, and hears a session's end.
#[derive(Clone, Default)]
struct Hearing(Listens);

#[async_trait]
impl Hooks for Hearing {
    async fn session_closed(&self, session: &SessionId) {
        self.0.heard(format!("{session} closed"));
    }

    async fn before_prompt(&self, _: &PromptPoint<'_>) -> Option<String> {
        Some("added".to_owned())
    }
}

#[tokio::test(start_paused = true)]
async fn a_hook_that_hangs_holds_up_neither_a_session_nor_the_hooks_behind_it_for_ever() {
    let left = Stage::new(one_command()).allows("Shell").hooked(Hanging).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);

    let (adds, session, turn) = (Hearing::default(), SessionId::from("s"), TurnId::from("t"));
    let chain = Chain::new([Arc::new(Hanging) as Arc<dyn Hooks>, Arc::new(adds.clone())]);
    let point = PromptPoint { session: &session, turn: &turn, prompt: &[] };
    assert_eq!(chain.before_prompt(&point).await.as_deref(), Some("added"));
    // The process's end waits for a second.
    let _ = tokio::time::timeout(Duration::from_secs(1), chain.session_closed(&session)).await;
    assert_eq!(*adds.0.0.lock().unwrap(), ["s closed"]);
}
