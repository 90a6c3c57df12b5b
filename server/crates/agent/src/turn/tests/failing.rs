use std::time::Duration;

use ports::model::ModelErrorKind::{
    ContextOverflow, Garbage, Incomplete, NoSuchModel, OrphanedToolCalls, QuotaUsedUp, RateLimited, Rejected,
    Transient, Unauthorized, UnreadableCall,
};
use ports::model::{Message, Request, Stop};
use protocol::content::Usage;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event};
use serde_json::json;
use tokio::time::Instant;

use super::fakes::{Stage, answer, breaking, call, calling, ending, ending_early, failure, says};

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
        assert_eq!(left.story()[0], "retry 1");
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
async fn an_answer_of_nothing_is_asked_for_once_more_and_then_said_to_be_one() {
    let nothing = || answer(vec![AssistantBlock::Thinking { text: "Hm.".into(), vendor: None }, says("\n")]);
    let left = Stage::new(vec![nothing(), answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["?Hm.", "~\n", "discarded", "noted", "retry 1", "~done", "completed", "EndTurn"]);
    assert_eq!(left.outcome.usage.output, 20, "the empty answer is paid for");
    assert!(left.log.iter().any(|event| matches!(event, Event::Retrying { attempt: 1, of: Some(1), .. })));

    let left = Stage::new(vec![nothing(), nothing()]).play().await;
    assert_eq!(left.outcome.stop, StopReason::Error);
    let error = left.outcome.error.unwrap();
    assert!(error.contains("answered nothing, twice") && error.contains("/model"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_its_vendor_paused_goes_on_and_does_not_do_so_for_ever() {
    let paused = |text: &str| ending(vec![says(text)], Stop::Pause);
    let left = Stage::new(vec![paused("Half"), answer(vec![says("whole")])]).play().await;
    assert_eq!(left.story(), ["~Half", "completed", "noted", "~whole", "completed", "EndTurn"]);
    let sent = format!("{:?}", left.requests[1].messages);
    assert!(sent.contains("Half") && sent.contains("Go on from there"), "{sent}");

    let mut stage = Stage::new(vec![paused("One"), paused("two")]);
    stage.limits.rounds = 2;
    assert_eq!(stage.play().await.outcome.stop, StopReason::MaxTurnRequests);

    let nothing = || ending(vec![], Stop::Pause);
    let left = Stage::new(vec![nothing(), answer(vec![says("whole")])]).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn, "a pause within the server's own tools is no empty answer");
    let left = Stage::new((0..4).map(|_| paused("Half")).collect()).play().await;
    assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::Error, 4));
    assert!(left.outcome.error.unwrap().contains("paused"));
}

#[tokio::test(start_paused = true)]
async fn calls_are_made_even_if_the_vendor_says_that_the_turn_has_ended() {
    let calls = ending(vec![call("a", "look", json!({}))], Stop::EndTurn);
    let left = Stage::new(vec![calls, answer(vec![says("done")])]).play().await;
    assert_eq!(left.story(), ["completed", "+a", "-a", "~done", "completed", "EndTurn"]);
}

#[tokio::test(start_paused = true)]
async fn the_next_model_of_the_chain_goes_on_where_one_failed_for_good() {
    for (kind, reason) in [
        (RateLimited { retry_after: Some(Duration::from_secs(3_600)) }, "RateLimited"),
        (QuotaUsedUp, "QuotaUsedUp"),
        (Unauthorized, "Unauthorized"),
    ] {
        let mut stage = Stage::new(vec![answer(vec![call("a", "look", json!({}))]), failure(kind)]);
        stage.chain = vec![("second", vec![breaking("I wa", Incomplete), answer(vec![says("done")])])];
        let left = stage.play().await;
        let switched = format!("second for {reason}");
        let story =
            ["completed", "+a", "-a", &switched, "~I wa", "discarded", "retry 1", "~done", "completed", "EndTurn"];
        assert_eq!(left.story(), story, "nothing is waited for, and the second has retries of its own");
        let told = left.log.iter().any(|event| {
            matches!(event, Event::TurnModelChanged { instead_of, until: Some(7), error: Some(_), .. } if instead_of == "scripted/fake")
        });
        assert!(told, "{:?}", left.log);
    }
}

#[tokio::test(start_paused = true)]
async fn a_chain_is_gone_through_to_its_end_and_never_for_a_request_that_is_itself_at_fault() {
    let busy = || (0..4).map(|_| failure(Transient)).collect::<Vec<_>>();
    let mut stage = Stage::new(busy());
    (stage.chain, stage.others) = (vec![("second", busy()), ("third", busy())], vec!["b/two", "c/three"]);
    let left = stage.play().await;
    assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::Error, 12));
    let error = left.outcome.error.unwrap();
    assert!(error.contains("b/two, c/three; /model chooses one"), "{error}");

    let mut stage = Stage::new(vec![failure(Rejected)]);
    (stage.chain, stage.others) = (vec![("second", vec![])], vec!["b/two"]);
    assert_eq!(stage.play().await.outcome.error.as_deref(), Some("the vendor said Rejected"));
}

#[tokio::test(start_paused = true)]
async fn two_accounts_with_one_limit_are_not_asked_in_turn_without_end() {
    let busy = || failure(RateLimited { retry_after: Some(Duration::from_secs(30)) });
    let mut stage = Stage::new((0..5).map(|_| busy()).collect());
    stage.accounts = Some(["one", "two"]);
    stage.chain = vec![("second", vec![answer(vec![says("done")])])];
    let other = "scripted/fake for RateLimited";
    let story = [other, "retry 1", other, "retry 2", other, "retry 3", other, "second for RateLimited"];
    assert_eq!(stage.play().await.story()[..8], story, "the first switch alone begins a new count");

    let mut stage = Stage::new(vec![failure(NoSuchModel), failure(NoSuchModel)]);
    stage.accounts = Some(["one", "two"]);
    stage.chain = vec![("second", vec![answer(vec![says("done")])])];
    let story = stage.play().await.story();
    assert_eq!(story[..2], ["scripted/fake for Unauthorized", "second for Unauthorized"], "each is asked once");
}

#[tokio::test(start_paused = true)]
async fn what_breaks_off_while_the_chain_goes_on_is_void() {
    let mut stage = Stage::new(vec![breaking("half an answer", QuotaUsedUp)]);
    stage.chain = vec![("second", vec![answer(vec![says("done")])])];
    let story = stage.play().await.story();
    assert_eq!(story, ["~half an answer", "second for QuotaUsedUp", "discarded", "~done", "completed", "EndTurn"]);
}

#[tokio::test(start_paused = true)]
async fn a_larger_model_goes_on_before_anything_is_taken_out_of_the_context() {
    let mut stage = Stage::new(vec![answer(vec![call("a", "look", json!({}))]), failure(ContextOverflow)]);
    stage.larger = vec![(1_000_000, vec![answer(vec![says("done")])])];
    let left = stage.play().await;
    assert_eq!(
        left.story(),
        ["completed", "+a", "-a", "scripted/fake for ContextFull", "~done", "completed", "EndTurn"]
    );

    let looks = call("a", "look", json!({ "say": "blue ".repeat(1_000) }));
    let mut stage = Stage::new(vec![answer(vec![looks]), failure(ContextOverflow), answer(vec![says("done")])]);
    stage.larger = vec![(100_000, vec![])];
    let story = stage.play().await.story();
    assert!(story.contains(&"trimmed".to_owned()), "one that is no larger is not taken: {story:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_want_to_wait_has_it_tried_now() {
    let busy = RateLimited { retry_after: Some(Duration::from_secs(100)) };
    let stage = Stage::new(vec![failure(busy), answer(vec![says("done")])]);
    let (began, wait) = (Instant::now(), stage.retry_wait.clone());
    let now = async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        wait.end()
    };
    let (left, was_waiting) = tokio::join!(stage.play(), now);
    assert!(was_waiting && began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
    assert_eq!(left.story(), ["retry 1", "retry 1", "~done", "completed", "EndTurn"]);
    let delays = left.log.iter().filter_map(|event| match event {
        Event::Retrying { delay_ms, of, .. } => Some((*delay_ms, *of)),
        _ => None,
    });
    assert_eq!(delays.collect::<Vec<_>>(), [(100_000, Some(3)), (0, Some(3))]);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_cannot_be_made_shorter_says_what_to_do() {
    let left = Stage::new(vec![failure(ContextOverflow)]).play().await;
    let error = left.outcome.error.unwrap();
    assert!(error.contains("/new") && error.contains("the vendor said ContextOverflow"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_broken_answers_used_is_paid_for_too() {
    let early = Usage { input: 40, output: 2, cache_read: 500, cache_write: 0, cache_write_hour: 0 };
    let left = Stage::new(vec![breaking("I wa", Incomplete).using(early), answer(vec![says("I did")]).using(early)])
        .play()
        .await;
    assert_eq!(
        left.outcome.usage,
        Usage { input: 140, output: 12, cache_read: 1_500, cache_write: 0, cache_write_hour: 0 }
    );
    let cost = left.outcome.cost.unwrap();
    assert!((cost - (140.0 * 3.0 + 12.0 * 15.0 + 1_500.0 * 0.3) / 1e6).abs() < 1e-12, "{cost}");
    let at_once = left.log.iter().find_map(|event| match event {
        Event::RequestPaid { usage, cost, .. } => Some((*usage, cost.is_some())),
        _ => None,
    });
    assert_eq!(at_once, Some((early, true)), "and on record before the turn ends");
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_an_attempt_spent_keeps_any_model_from_being_asked_again() {
    let used = Usage { input: 40, ..Usage::default() };
    for (why, first) in [
        ("another model", breaking("I wa", QuotaUsedUp).using(used)),
        ("a retry", breaking("I wa", Incomplete).using(used)),
        ("an unreadable call", breaking("I wa", UnreadableCall).using(used)),
        ("an empty answer", answer(vec![])),
        ("a stopped answer", calling("edit", &["{\"old\":\"gone\",", "\"new\":\"x\"}"], None).using(used)),
    ] {
        let mut stage = Stage::new(vec![first, answer(vec![says("done")])]);
        stage.chain = vec![("second", vec![answer(vec![says("done")])])];
        stage.limits.cost = Some(1e-9);
        stage.stop_early = true;
        let left = stage.play().await;
        assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::Error, 1), "{why}");
        let error = left.outcome.error.unwrap();
        assert!(error.contains("budget of money is spent"), "{why}: {error}");
    }
}
