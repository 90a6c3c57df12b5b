use std::sync::Arc;

use ports::model::{Message, Stop};
use ports::session::Interjection;
use ports::tool::{Access, ToolError};
use protocol::turn::StopReason;
use protocol::{Event, PromptBlock};
use serde_json::json;

use super::fakes::{Does, Left, Script, Stage, answer, call, ending, note, says, started};

fn steer(text: &str) -> Interjection {
    let prompt = vec![PromptBlock::Text { text: text.to_owned() }];
    Interjection::Steer { prompt, context: String::new() }
}

fn last_words(left: &Left) -> String {
    match left.messages().last().map(|last| Message::clone(last)) {
        Some(Message::Assistant(blocks)) => format!("{blocks:?}"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_is_answered_through_a_tool() {
    let left = Stage::new(vec![
        answer(vec![says("I look"), call("a", "look", json!({ "say": "42" }))]),
        answer(vec![says("It is 42.")]),
    ])
    .play()
    .await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert_eq!(left.story(), ["~I ", "~look", "completed", "+a", "-a", "~It ", "~is ", "~42.", "completed", "EndTurn"]);
    assert_eq!(left.result("a"), ("42", false));
    assert_eq!(left.outcome.usage.input, 200);
    let cost = left.outcome.cost.unwrap();
    assert!((cost - 2.0 * (100.0 * 3.0 + 10.0 * 15.0 + 1_000.0 * 0.3) / 1e6).abs() < 1e-12, "{cost}");
    assert!(left.outcome.refused.is_empty() && left.unplayed == 0);
    let used = left.log.iter().filter_map(|event| match event {
        Event::ContextUsed { used, limit, .. } => Some((*used, *limit)),
        _ => None,
    });
    assert_eq!(used.collect::<Vec<_>>(), [(1_110, 100_000), (1_110, 100_000)]);
}

#[tokio::test(start_paused = true)]
async fn each_request_begins_with_the_one_before_it() {
    let look = |id: &str| answer(vec![call(id, "look", json!({ "say": id }))]);
    let left = Stage::new(vec![look("a"), look("b"), look("c"), answer(vec![says("done")])])
        .hears([vec![], vec![steer("and hurry")], vec![note("a.rs changed")]])
        .play()
        .await;
    assert_eq!(left.requests.len(), 4);
    for pair in left.requests.windows(2) {
        assert!(pair[1].messages.starts_with(&pair[0].messages));
        assert_eq!((&pair[0].system, &pair[0].tools), (&pair[1].system, &pair[1].tools));
        assert_eq!(pair[0].max_output_tokens, pair[1].max_output_tokens);
    }
}

#[tokio::test(start_paused = true)]
async fn reading_calls_run_side_by_side() {
    let meeting = Arc::new(tokio::sync::Barrier::new(3));
    let left = Stage::new(vec![
        answer(vec![call("a", "meet", json!({})), call("b", "meet", json!({})), call("c", "meet", json!({}))]),
        answer(vec![says("done")]),
    ])
    .tool("meet", Access::Read, Does::Meets(meeting))
    .play()
    .await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn, "they would wait for each other for ever, one by one");
}

#[tokio::test(start_paused = true)]
async fn calls_with_effects_run_alone_and_in_order_and_results_keep_it() {
    let stage = Stage::new(vec![
        answer(vec![
            call("r1", "look", json!({})),
            call("r2", "look", json!({})),
            call("w1", "edit", json!({})),
            call("w2", "edit", json!({})),
            call("r3", "look", json!({})),
            call("x1", "shell", json!({})),
        ]),
        answer(vec![says("done")]),
    ])
    .allows("Shell");
    let running = Arc::clone(&stage.running);
    let left = stage.play().await;
    let order = running.order.lock().unwrap().clone();
    assert_eq!(order[..2], ["+r1", "+r2"], "{order:?}");
    assert_eq!(order[4..], ["+w1", "-w1", "+w2", "-w2", "+r3", "-r3", "+x1", "-x1"], "{order:?}");
    let Message::ToolResults(results) = &**left.requests[1].messages.last().unwrap() else { panic!() };
    let ids: Vec<_> = results.iter().map(|result| result.tool_call_id.as_str()).collect();
    assert_eq!(ids, ["r1", "r2", "w1", "w2", "r3", "x1"]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_is_proposed_and_the_model_told_so() {
    let left = Stage::new(vec![answer(vec![call("w", "edit", json!({ "say": "" }))]), answer(vec![says("done")])])
        .play()
        .await;
    assert_eq!(left.proposed.len(), 1);
    let (text, is_error) = left.result("w");
    assert!(text.starts_with("Proposed (+3 -1 lines); 2 hunks wait for the user's review.") && !is_error, "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_the_user_says_meanwhile_is_heard_between_rounds_and_keeps_the_turn_going() {
    let left = Stage::new(vec![
        answer(vec![call("a", "look", json!({}))]),
        answer(vec![says("done")]),
        answer(vec![says("tests too")]),
    ])
    // Looked for before the first request, after the round, and after the answer that would have been the last.
    .hears([vec![], vec![steer("be brief")], vec![steer("and the tests")]])
    .play()
    .await;
    let expected =
        ["completed", "+a", "-a", "steered", "~done", "completed", "steered", "~tests ", "~too", "completed"];
    assert_eq!(left.story()[..10], expected);
    assert_eq!(left.unplayed, 0);
}

#[tokio::test(start_paused = true)]
async fn a_word_that_comes_with_the_last_answer_starts_another_round() {
    let left = Stage::new(vec![answer(vec![says("done")]), answer(vec![says("tests too")])])
        .hears([vec![], vec![steer("and the tests"), note("hunk rejected")]])
        .play()
        .await;
    assert_eq!(left.story(), ["~done", "completed", "steered", "noted", "~tests ", "~too", "completed", "EndTurn"]);
    assert_eq!(left.messages().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_word_of_the_users_about_a_hunk_starts_another_round_and_a_mere_decision_does_not() {
    let scripts = || vec![answer(vec![says("done")]), answer(vec![says("then so")])];
    let left = Stage::new(scripts()).hears([vec![], vec![note("hunk accepted")]]).play().await;
    assert_eq!(left.unplayed, 1);
    let said = Interjection::Note { text: "hunk rejected; they said: use a map".to_owned(), wants_answer: true };
    let left = Stage::new(scripts()).hears([vec![], vec![said]]).play().await;
    assert_eq!(left.unplayed, 0);
}

#[tokio::test(start_paused = true)]
async fn tools_that_fail_or_panic_or_do_not_exist_are_failed_calls_and_the_turn_goes_on() {
    let left = Stage::new(vec![
        answer(vec![
            call("a", "fail", json!({})),
            call("b", "panic", json!({})),
            call("c", "missing", json!({})),
            call("d", "look", json!({ "bad": 1 })),
            call("e", "look", json!({ "panic": 1 })),
            call("f", "look", json!({ "say": "x".repeat(60_000) })),
            call("g", "look", json!("not an object")),
        ]),
        answer(vec![says("I see")]),
    ])
    .tool("fail", Access::Read, Does::Fails(ToolError::Failed("no such file".to_owned())))
    .tool("panic", Access::Read, Does::Panics)
    .play()
    .await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    let shown = left.log.iter().find_map(|event| match event {
        Event::ToolCallStarted { tool_call_id, name, .. } if tool_call_id.as_str() == "g" => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(shown, Some("look"), "also of a call that is not made it is shown which tool it was for");
    let expected = [
        ("a", "no such file"),
        ("b", "out of cheese"),
        ("c", "there is no tool `missing`; there are: look, edit, shell"),
        ("d", "invalid input: `bad` is not a field"),
        ("e", "this input is too much"),
        ("f", "more than the 51200"),
        ("g", "not a JSON object"),
    ];
    for (id, words) in expected {
        let (text, is_error) = left.result(id);
        assert!(text.contains(words) && is_error, "{id}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_result_is_cut_and_says_where_all_of_it_is() {
    let left = Stage::new(vec![answer(vec![call("a", "ramble", json!({}))]), answer(vec![says("ok")])])
        .tool("ramble", Access::Read, Does::Rambles(1_000_000))
        .play()
        .await;
    let (text, _) = left.result("a");
    assert!(text.len() < 51_000 && text.contains("bytes are left out here"), "{}", text.len());
    assert!(text.ends_with("\n[This is not all of it: 999999 bytes are kept]"));
    assert_eq!(left.kept.iter().map(String::len).collect::<Vec<_>>(), [999_999]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_with_routing_text_in_it_is_not_proposed_and_the_model_may_make_it_again() {
    let leaked = format!("let a = 1;\n】【commentary to={}edit code {{", "functions.");
    let left = Stage::new(vec![
        answer(vec![call("a", "edit", json!({ "new_text": leaked })), call("b", "look", json!({ "say": leaked }))]),
        answer(vec![call("c", "edit", json!({ "new_text": "let a = 1;\n" }))]),
        answer(vec![says("done")]),
    ])
    .play()
    .await;
    let (text, is_error) = left.result("a");
    assert!(is_error && text.starts_with("`new_text` holds text that routes messages between tools"), "{text}");
    assert!(!left.result("b").1, "what only reads does no harm");
    assert!(!left.result("c").1);
    assert_eq!(left.proposed.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn ids_that_a_vendor_uses_twice_are_told_apart() {
    let left = Stage::new(vec![
        answer(vec![call("call_0", "look", json!({ "say": "1" })), call("call_0", "look", json!({ "say": "2" }))]),
        answer(vec![call("call_0", "look", json!({ "say": "3" })), call("", "look", json!({ "say": "4" }))]),
        answer(vec![says("done")]),
    ])
    .play()
    .await;
    let texts: Vec<_> = left
        .messages()
        .iter()
        .filter_map(|message| match &**message {
            Message::ToolResults(results) => Some(results.iter().map(|result| result.text.clone()).collect::<Vec<_>>()),
            Message::User(_) | Message::Assistant(_) => None,
        })
        .collect();
    assert_eq!(texts, [["1", "2"], ["3", "4"]]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_reached_its_length_ends_the_turn_or_only_its_last_call() {
    let left = Stage::new(vec![ending(vec![says("so much")], Stop::MaxTokens)]).play().await;
    assert_eq!(left.outcome.stop, StopReason::MaxTokens);
    let error = left.outcome.error.unwrap();
    assert!(error.contains("maximum length") && error.contains("go on"), "{error}");

    let cut = ending(vec![call("a", "look", json!({})), call("b", "edit", json!({}))], Stop::MaxTokens);
    let left = Stage::new(vec![cut, answer(vec![says("in parts, then")])]).play().await;
    assert_eq!(left.outcome.stop, StopReason::EndTurn);
    assert_eq!(left.result("a"), ("a result", false));
    assert!(left.result("b").0.contains("may be cut off; nothing was done"));
    assert!(left.proposed.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_ends_the_turn_and_its_calls_are_not_made() {
    let left = Stage::new(vec![ending(vec![call("w", "edit", json!({}))], Stop::Refusal)]).play().await;
    assert_eq!(left.outcome.stop, StopReason::Refusal);
    assert!(left.outcome.error.as_ref().is_some_and(|error| error.contains("/model")), "{:?}", left.outcome.error);
    assert!(left.proposed.is_empty() && left.result("w").1);
}

#[tokio::test(start_paused = true)]
async fn the_same_call_with_the_same_result_three_times_stops_with_a_question() {
    let again = |id: &str| answer(vec![call(id, "look", json!({ "say": "nothing" }))]);
    let left = Stage::new(vec![again("a"), again("b"), again("c"), again("d")]).play().await;
    assert_eq!(left.outcome.stop, StopReason::MaxTurnRequests);
    assert_eq!(left.unplayed, 1);
    assert!(last_words(&left).contains("`look` in the same way 3 times"));

    let mut events = left.log;
    events.push(started("t2", "yes, go on"));
    let mut stage = Stage::new(vec![again("a"), answer(vec![says("done")])]);
    stage.events = events;
    assert_eq!(stage.play().await.outcome.stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn looking_again_after_an_edit_is_no_circle() {
    let mut scripts: Vec<Script> = Vec::new();
    for n in 0..5 {
        scripts.push(answer(vec![call(&format!("r{n}"), "look", json!({}))]));
        scripts.push(answer(vec![call(&format!("w{n}"), "edit", json!({ "say": format!("edit {n}") }))]));
    }
    scripts.push(answer(vec![says("done")]));
    assert_eq!(Stage::new(scripts).play().await.outcome.stop, StopReason::EndTurn);
}

#[tokio::test(start_paused = true)]
async fn too_many_rounds_stop_with_a_question() {
    let look = |n: usize| answer(vec![call(&format!("c{n}"), "look", json!({ "say": n.to_string() }))]);
    let left = Stage::new((0..101).map(look).collect()).play().await;
    assert_eq!((left.outcome.stop, left.requests.len()), (StopReason::MaxTurnRequests, 100));
    assert!(last_words(&left).contains("Shall I go on?"));
}
