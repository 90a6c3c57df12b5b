use ports::facts::{Facts, FailedCommand, FileFacts};
use ports::model::{Message, ModelErrorKind, UserBlock};
use ports::tool::Access;
use protocol::compaction::{Compaction, CompactionReason};
use protocol::content::{PlanEntry, PlanEntryStatus};
use protocol::event::Severity;
use protocol::turn::StopReason;
use protocol::{Event, TurnId};
use serde_json::json;

use super::fakes::{Does, Left, Script, Stage, answer, call, failure, says, started};
use crate::handover::Asked as CompactionAsked;
use crate::history::{History, TRIMMED};

const WRITTEN: &str = "### Done\nThe parser.\n### Decided\nSpans are bytes.\n### Tried and failed\nA regex.\n### Next step\n\
                       Write the printer.";

/// A conversation of so many earlier turns, each with a long answer that nothing can be taken out of.
fn talked(turns: usize, length: usize) -> Vec<Event> {
    let turn = |n: usize| {
        let (turn_id, message_id) = (TurnId::from(&*format!("t{n}")), format!("t{n}-m1").as_str().into());
        let content = vec![says(&format!("answer {n} {}", "word ".repeat(length / 5)))];
        let (usage, opening) = (Default::default(), Default::default());
        let said = Event::MessageCompleted { turn_id, message_id, content, usage, cost: None, timing: None, opening };
        [started(&format!("t{n}"), &format!("wish number {n}: never use tabs")), said, ended(&format!("t{n}"))]
    };
    let mut events: Vec<_> = (0..turns).flat_map(turn).collect();
    events.push(started("now", "the last wish"));
    events
}

fn ended(turn: &str) -> Event {
    let (usage, stop_reason) = (Default::default(), StopReason::EndTurn);
    Event::TurnEnded { turn_id: turn.into(), stop_reason, error: None, usage, cost: None, new_errors: None }
}

/// A stage whose context is full, with these answers.
fn full(scripts: Vec<Script>) -> Stage {
    let mut stage = Stage::new(scripts.into_iter().map(Script::counting_nothing).collect());
    stage.context_tokens = 24_000;
    stage.events = talked(12, 5_000);
    stage
}

fn compactions(left: &Left) -> Vec<Compaction> {
    let compaction = |event: &Event| match event {
        Event::Compacted { compaction, .. } => Some((**compaction).clone()),
        _ => None,
    };
    left.log.iter().filter_map(compaction).collect()
}

/// The texts of a request's messages.
fn texts(left: &Left, request: usize) -> Vec<String> {
    let blocks = |message: &std::sync::Arc<Message>| match &**message {
        Message::User(blocks) => blocks
            .iter()
            .filter_map(|block| match block {
                UserBlock::Text(text) => Some(text.clone()),
                UserBlock::Image { .. } => None,
            })
            .collect(),
        Message::Assistant(_) => "(answer)".to_owned(),
        Message::ToolResults(_) => "(results)".to_owned(),
    };
    left.requests[request].messages.iter().map(blocks).collect()
}

fn facts() -> Facts {
    let file = FileFacts { path: "src/a.rs".into(), accepted: 2, pending: 1, ..FileFacts::default() };
    let step = PlanEntry { content: "print it".into(), status: PlanEntryStatus::Pending };
    Facts {
        files: vec![file],
        plan: vec![step],
        questions: vec!["Run `rm x`?".into()],
        jobs: vec!["`npm start` (job-1)".into()],
        children: vec!["abc123".into()],
        failed: Some(FailedCommand { command: "make".into(), exit_code: Some(2), tail: "no rule".into() }),
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_context_goes_on_with_a_hand_over_of_facts_and_of_what_the_model_looked_at_twice() {
    let stage = full(vec![answer(vec![says("### Done\nAll.")]), answer(vec![says(WRITTEN)]), answer(vec![says("ok")])]);
    *stage.session.facts.lock().unwrap() = facts();
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0));
    let [compaction] = &compactions(&left)[..] else { panic!("{:#?}", left.story()) };
    assert_eq!((compaction.reason, compaction.written.as_deref()), (CompactionReason::Full, Some(WRITTEN)));
    assert!(compaction.after < compaction.before / 2, "{compaction:?}");
    // The model was asked within the conversation, so that the cache has it, and shown its own words.
    let [first, second, third] = &left.requests[..] else { panic!() };
    assert!(second.messages.starts_with(&first.messages) && second.tools == first.tools);
    assert_eq!(second.messages.len(), first.messages.len() + 2);
    // The messages that it goes on with.
    let said = texts(&left, 2);
    assert!(said[0].starts_with("<azimuth_handover>") && said[0].contains("Spans are bytes"), "{}", said[0]);
    for n in 0..12 {
        let count = said.iter().filter(|text| text.contains(&format!("wish number {n}: never use tabs"))).count();
        assert_eq!(count, 1, "each word of the user stands once: {n}");
    }
    assert_eq!(said.last().map(String::as_str), Some("the last wish"));
    for fact in [
        "`src/a.rs`: 2 changes in the file, 1 change waiting",
        "[ ] print it",
        "rm x",
        "job-1",
        "abc123",
        "`make` (exit code 2)",
    ] {
        assert!(said[0].contains(fact), "{fact}\n{}", said[0]);
    }
    assert!(said[0].contains("kept"), "what it stands for can be read: {}", said[0]);
    assert!(left.kept.iter().any(|kept| kept.contains("answer 0 word")));
    assert!(third.messages.len() < first.messages.len());
}

#[tokio::test(start_paused = true)]
async fn a_hand_over_may_come_between_the_calls_of_a_turn_and_keeps_what_was_not_answered() {
    let stage = full(vec![
        answer(vec![says("ok"), call("c1", "ramble", json!({}))]),
        answer(vec![says(WRITTEN)]),
        answer(vec![says("SAME.")]),
        answer(vec![says("done")]),
    ]);
    let mut stage = stage.tool("ramble", Access::Read, Does::Rambles(9_000));
    stage.events = talked(9, 5_600);
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
    let story = left.story();
    let at = |what: &str| story.iter().position(|line| line == what).unwrap();
    assert!(at("-c1") < at("compacted"), "{story:?}");
    let said = texts(&left, 3);
    assert_eq!(said[said.len() - 2..], ["(answer)", "(results)"]);
    assert!(said.iter().any(|text| text.contains("the last wish")), "{said:#?}");
}

#[tokio::test(start_paused = true)]
async fn results_that_can_be_read_again_go_first_and_a_hand_over_comes_when_that_pays_no_more() {
    let mut scripts: Vec<_> =
        (0..8).map(|n| answer(vec![call(&format!("c{n}"), "ramble", json!({ "n": n }))])).collect();
    scripts.push(answer(vec![says("done")]));
    let stage = Stage::new(scripts.into_iter().map(Script::counting_nothing).collect());
    let mut stage = stage.tool("ramble", Access::Read, Does::Rambles(10_000));
    stage.context_tokens = 24_000;
    let left = stage.play().await;
    assert!(compactions(&left).is_empty() && left.story().contains(&"trimmed".to_owned()), "{:?}", left.story());
    let last = &left.requests.last().unwrap().messages;
    let Message::ToolResults(results) = &*last[2] else { panic!() };
    assert!(results[0].text.starts_with(TRIMMED) && results[0].text.contains("kept"), "{}", results[0].text);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_asked_with_all_of_it_gets_a_transcript() {
    let left = full(vec![
        failure(ModelErrorKind::ContextOverflow),
        answer(vec![says(WRITTEN)]),
        answer(vec![says("same")]),
        answer(vec![says("ok")]),
    ])
    .play()
    .await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert_eq!(compactions(&left)[0].written.as_deref(), Some(WRITTEN));
    let said = texts(&left, 1);
    assert!(said[0].starts_with("<transcript>") && left.requests[1].tools.is_empty());
    assert!(said[0].len() < 24_000 * 3, "{}", said[0].len());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_hand_over_is_none_and_the_user_is_asked_before_facts_alone_have_to_do() {
    for bad in [vec![], vec![says("  ")], vec![call("c", "look", json!({}))], vec![says(&"word ".repeat(40_000))]] {
        let stage = full(vec![answer(bad.clone()), answer(bad.clone())]);
        let left = stage.play().await;
        assert_eq!(left.outcome.stop, StopReason::MaxTurnRequests, "{bad:?} {:?}", left.story());
        assert!(left.story().contains(&"not compacted".to_owned()) && compactions(&left).is_empty());
        let Some(Event::MessageCompleted { content, .. }) =
            left.log.iter().rev().find(|event| matches!(event, Event::MessageCompleted { .. }))
        else {
            panic!()
        };
        let question = format!("{content:?}");
        assert!(question.contains("Say \\\"go on\\\"") && question.contains("answers (about"), "{question}");

        let mut again = full(vec![answer(bad.clone()), answer(bad.clone()), answer(vec![says("ok")])]);
        again.events = left.log.clone();
        again.events.push(started("then", "go on"));
        let left = again.play().await;
        assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
        let compactions = compactions(&left);
        assert_eq!(compactions[0].written, None);
        assert!(compactions[0].facts.contains("wish number 0"));
        let warned = |event: &&Event| matches!(event, Event::Notice { severity: Severity::Warning, .. });
        assert_eq!(left.log.iter().filter(warned).count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_waited_for_and_a_cancel_leaves_all_as_it_was() {
    let left = full(vec![
        failure(ModelErrorKind::Transient),
        answer(vec![says(WRITTEN)]),
        failure(ModelErrorKind::Rejected),
        answer(vec![says("ok")]),
    ])
    .play()
    .await;
    assert_eq!((left.outcome.stop, compactions(&left).len()), (StopReason::EndTurn, 1));
    assert!(left.story().contains(&"retry 1".to_owned()), "{:?}", left.story());
    assert_eq!(compactions(&left)[0].written.as_deref(), Some(WRITTEN), "a second look that fails changes nothing");

    let stage = full(vec![super::fakes::hanging("### Do")]);
    let cancel = std::sync::Arc::clone(&stage.steps);
    let (left, ()) = tokio::join!(stage.play(), async move {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        cancel.cancel();
    });
    assert_eq!((left.outcome.stop, compactions(&left).len()), (StopReason::Cancelled, 0));
    assert_eq!(left.messages(), History::from_events(&talked(12, 5_000)).messages());
}

#[tokio::test(start_paused = true)]
async fn a_context_that_is_full_again_at_once_three_times_in_a_row_ends_in_a_question() {
    let mut scripts = Vec::new();
    for n in 0..3 {
        scripts.push(answer(vec![says(WRITTEN)]));
        scripts.push(answer(vec![says("same")]));
        // Each answer alone fills the context anew.
        scripts.push(answer(vec![says(&"word ".repeat(11_000)), call(&format!("c{n}"), "look", json!({ "n": n }))]));
    }
    let left = full(scripts).play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::MaxTurnRequests, 0), "{:?}", left.story());
    assert_eq!(compactions(&left).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_vendor_that_says_too_long_gets_a_hand_over_once_nothing_else_can_go() {
    let mut stage = full(vec![
        failure(ModelErrorKind::ContextOverflow),
        answer(vec![says(WRITTEN)]),
        answer(vec![says("same")]),
        answer(vec![says("ok")]),
    ]);
    stage.events = talked(6, 5_000);
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
    assert_eq!(compactions(&left)[0].reason, CompactionReason::Refused);
    assert!(texts(&left, 1)[0].starts_with("<transcript>"), "a request that was too long is not sent with more in it");
}

#[tokio::test(start_paused = true)]
async fn the_user_can_ask_for_it_with_a_focus_and_say_how_much_stays() {
    for (keep_last, stays) in [(Some(0), 0), (Some(2), 2), (None, 2)] {
        let mut stage = full(vec![answer(vec![says(WRITTEN)]), answer(vec![says("same")])]);
        stage.events = talked(4, 5_000);
        stage.events.pop();
        let mut asked = started("now", "/compact the printer");
        if let Event::TurnStarted { compacts, .. } = &mut asked {
            *compacts = true;
        }
        stage.events.push(asked);
        stage.compaction = Some(CompactionAsked { focus: Some("the printer".into()), keep_last });
        let left = stage.play().await;
        assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
        let compaction = &compactions(&left)[0];
        assert_eq!((compaction.reason, compaction.focus.as_deref()), (CompactionReason::Asked, Some("the printer")));
        assert!(texts(&left, 0).last().unwrap().contains("special attention to this: the printer"));
        assert_eq!(left.messages().len(), 1 + stays, "{keep_last:?}");
    }
    let mut nothing = full(vec![]);
    nothing.events = vec![started("t", "hello")];
    nothing.compaction = Some(CompactionAsked::default());
    let left = nothing.play().await;
    assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::EndTurn, 0));
    assert!(
        left.log.iter().any(|event| matches!(event, Event::Notice { text, .. } if text.contains("nothing to compact")))
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_look_that_is_no_handover_corrects_nothing() {
    for look in [
        vec![says("Nothing is wrong, so: SAME.")],
        vec![says("### Done\nIs wrong.")],
        vec![says(WRITTEN), call("c", "look", json!({}))],
    ] {
        let left = full(vec![answer(vec![says(WRITTEN)]), answer(look.clone()), answer(vec![says("ok")])]).play().await;
        assert_eq!(left.outcome.stop, StopReason::EndTurn);
        assert_eq!(compactions(&left)[0].written.as_deref(), Some(WRITTEN), "{look:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_model_of_the_chain_writes_it_if_the_first_cannot() {
    let mut stage = full(vec![failure(ModelErrorKind::QuotaUsedUp)]);
    let answers = |text: &str| answer(vec![says(text)]).counting_nothing();
    stage.chain = vec![("p/other", vec![answers(WRITTEN), answers("same"), answers("ok")])];
    let left = stage.play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn, "{:?}", left.story());
    assert_eq!(compactions(&left)[0].written.as_deref(), Some(WRITTEN));
}

#[tokio::test(start_paused = true)]
async fn where_nobody_can_be_asked_the_facts_have_to_do() {
    let mut stage = full(vec![answer(vec![]), answer(vec![]), answer(vec![says("ok")])]);
    stage.may_ask = false;
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
    assert_eq!(compactions(&left)[0].written, None);
}

#[tokio::test(start_paused = true)]
async fn a_part_that_is_longer_than_what_it_replaces_is_left_out() {
    let long = format!("### Done\n{}", "word ".repeat(4_700));
    let mut stage = full(vec![answer(vec![says(&long)]), answer(vec![says("same")]), answer(vec![says("ok")])]);
    stage.context_tokens = 16_000;
    stage.events = talked(6, 6_000);
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
    let compaction = &compactions(&left)[0];
    assert!(compaction.after < compaction.before, "{compaction:?}");
}

#[tokio::test(start_paused = true)]
async fn results_that_the_model_has_not_seen_outlive_the_talk_before_them() {
    let mut stage = full(vec![
        answer(vec![call("c1", "ramble", json!({}))]),
        failure(ModelErrorKind::ContextOverflow),
        answer(vec![says(WRITTEN)]),
        answer(vec![says("same")]),
        answer(vec![says("ok")]),
    ])
    .tool("ramble", Access::Read, Does::Rambles(3_000));
    stage.events = talked(5, 5_000);
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.unplayed), (StopReason::EndTurn, 0), "{:?}", left.story());
    let Message::ToolResults(results) = &**left.requests.last().unwrap().messages.last().unwrap() else { panic!() };
    assert!(!results[0].text.starts_with(TRIMMED), "{}", results[0].text);
}

#[tokio::test(start_paused = true)]
async fn what_a_user_switches_off_stays_off() {
    let mut stage = full(vec![answer(vec![says("ok")])]);
    stage.compacts = false;
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, compactions(&left).len()), (StopReason::EndTurn, 0));
}
