use ports::model::{Message, Stop};
use proptest::prelude::*;
use protocol::AssistantBlock;
use protocol::content::Usage;
use protocol::model::ThinkingLevel;
use serde_json::{Value, json};

use crate::data::Thinking;
use crate::failure::Fault;
use crate::wire::testing::{
    assert_prefixes_are_stable, body, call, conversation, read, request, result, says, target, text,
};
use crate::wire::{Target, Wire};

const WIRE: Wire = Wire::OpenAiResponses;

fn gpt() -> Target {
    target("openai", "gpt-5.1", Thinking::Effort)
}

fn encrypted(model: &str) -> Value {
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    json!({"item": item, "provider": "openai", "model": model})
}

#[test]
fn the_prefix_of_a_request_stays_the_same() {
    assert_prefixes_are_stable(WIRE, &gpt(), &encrypted("gpt-5.1"), "");
}

#[test]
fn a_conversation_reads_as_the_vendor_wants_it() {
    let sent = body(WIRE, &gpt(), &request(conversation(&encrypted("gpt-5.1"))));
    assert_eq!((&sent["store"], &sent["stream"]), (&json!(false), &json!(true)));
    assert_eq!(sent["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(sent["instructions"], json!("Be brief."));
    assert_eq!(sent["prompt_cache_key"], json!("abc123"));
    assert_eq!(sent.get("reasoning"), None);
    let tool = &sent["tools"][0];
    assert_eq!(
        (&tool["type"], &tool["name"], &tool["strict"]),
        (&json!("function"), &json!("read_file"), &json!(false))
    );
    let input = sent["input"].as_array().unwrap();
    let shape: Vec<String> = input
        .iter()
        .map(|item| format!("{} {}", item["type"].as_str().unwrap(), item["role"].as_str().unwrap_or("")))
        .collect();
    assert_eq!(
        shape,
        [
            "message user",
            "reasoning ",
            "message assistant",
            "function_call ",
            "function_call ",
            "function_call_output ",
            "function_call_output ",
            "message user",
            "reasoning ",
            "function_call ",
            "function_call_output ",
            "message assistant",
            "message user",
            "message assistant",
            "message user",
        ]
    );
    assert_eq!(input[1], encrypted("gpt-5.1")["item"]);
    assert_eq!(
        input[3],
        json!({"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a.rs\"}"})
    );
    assert_eq!(input[5], json!({"type": "function_call_output", "call_id": "call_1", "output": "fn a() {}"}));
    assert_eq!(
        input[12]["content"][1],
        json!({"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBO"})
    );
}

#[test]
fn thinking_of_others_and_thinking_that_nothing_follows_is_left_out() {
    let foreign = json!({"signature": "x", "provider": "anthropic", "model": "claude"});
    for vendor in [Value::Null, foreign, encrypted("gpt-5-mini")] {
        let sent = body(WIRE, &gpt(), &request(conversation(&vendor)));
        assert!(!sent["input"].to_string().contains("reasoning"), "{vendor}");
    }
    let thinking = AssistantBlock::Thinking { text: String::new(), vendor: Some(encrypted("gpt-5.1")) };
    let messages = vec![says("go"), Message::Assistant(vec![text("a"), thinking]), says("on")];
    let sent = body(WIRE, &gpt(), &request(messages));
    assert!(!sent["input"].to_string().contains("rs_1"));
}

#[test]
fn reasoning_is_asked_for_only_of_models_that_reason() {
    let mut asked = request(vec![says("go")]);
    assert_eq!(body(WIRE, &gpt(), &asked).get("reasoning"), None, "it thinks as it does by itself");
    asked.thinking = Some(ThinkingLevel::Medium);
    assert_eq!(body(WIRE, &gpt(), &asked)["reasoning"], json!({"effort": "medium"}));
    let guess = Target { is_guess: true, ..gpt() };
    assert_eq!(body(WIRE, &guess, &asked).get("reasoning"), None, "only its user says a level that is a guess");
    let chosen = Target { level: Some(ThinkingLevel::Xhigh), ..gpt() };
    assert_eq!(body(WIRE, &chosen, &asked)["reasoning"]["effort"], "medium", "the request counts more");
    assert_eq!(
        body(WIRE, &chosen, &request(vec![says("go")]))["reasoning"],
        json!({"effort": "xhigh", "summary": "auto"})
    );
    asked.thinking = Some(ThinkingLevel::Off);
    assert_eq!(body(WIRE, &gpt(), &asked)["reasoning"], json!({"effort": "none"}));
    let never_off = Target { levels: vec![ThinkingLevel::Low, ThinkingLevel::High], ..gpt() };
    assert_eq!(body(WIRE, &never_off, &asked)["reasoning"]["effort"], "low");
    let plain = body(WIRE, &target("openai", "gpt-4.1", Thinking::None), &asked);
    assert_eq!((plain.get("reasoning"), plain.get("include")), (None, None));
}

#[test]
fn ids_that_are_too_long_are_made_to_fit() {
    let long = "x".repeat(90);
    let messages = vec![
        says("go"),
        Message::Assistant(vec![call(&long, "read_file", json!({}))]),
        Message::ToolResults(vec![result(&long, "ok")]),
    ];
    let sent = body(WIRE, &gpt(), &request(messages));
    assert!(sent["input"][1]["call_id"].as_str().unwrap().len() <= 64);
    assert_eq!(sent["input"][1]["call_id"], sent["input"][2]["call_id"]);
}

fn completed(details: Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "incomplete_details": details,
        "output": [], "usage": {"input_tokens": 5000, "output_tokens": 70, "total_tokens": 5070,
            "input_tokens_details": {"cached_tokens": 4000, "cache_write_tokens": 900},
            "output_tokens_details": {"reasoning_tokens": 20}}}})
}

/// An answer with reasoning, text and a call.
fn whole() -> Vec<Value> {
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "error": null, "usage": null, "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "summary": []}}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "First"}),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 1, "delta": "then"}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning", "id": "rs_1", "status": null,
            "summary": [{"type": "summary_text", "text": "First"}], "encrypted_content": "gAAA"}}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "id": "msg_1", "role": "assistant", "content": []}}),
        json!({"type": "response.content_part.added", "output_index": 1, "part": {"type": "output_text", "text": ""}}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "I look"}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": " now."}),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "I look now."}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "message", "content": [{"type": "output_text", "text": "I look now."}]}}),
        json!({"type": "response.output_item.added", "output_index": 2, "item": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": ""}}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "item_id": "fc_1", "delta": "{\"path\":"}),
        json!({"type": "response.function_call_arguments.delta", "output_index": 2, "item_id": "fc_1", "delta": "\"a.rs\"}"}),
        json!({"type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"path\":\"a.rs\"}"}),
        json!({"type": "response.output_item.done", "output_index": 2, "item": {"type": "function_call", "call_id": "call_1", "name": "read_file", "arguments": "{\"path\":\"a.rs\"}"}}),
        completed(Value::Null),
    ]
}

#[test]
fn an_answer_is_read_with_its_reasoning_calls_and_counts() {
    let read = read(WIRE, &gpt(), &whole());
    assert_eq!(read.story(), ["(First\n\nthen)", "I look now.", "read_file#call_1", r##"#call_1 {"path":"a.rs"}"##]);
    let response = read.outcome.unwrap();
    assert_eq!(
        (response.stop, response.usage),
        (Stop::ToolUse, Usage { input: 100, output: 70, cache_read: 4000, cache_write: 900, cache_write_hour: 0 })
    );
    assert_eq!(response.content[1..], [text("I look now."), call("call_1", "read_file", json!({"path": "a.rs"}))]);
    let messages =
        vec![says("go"), Message::Assistant(response.content), Message::ToolResults(vec![result("call_1", "ok")])];
    let sent = body(WIRE, &gpt(), &request(messages));
    assert_eq!(
        sent["input"][1],
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "First"}], "encrypted_content": "gAAA"})
    );
}

#[test]
fn a_server_that_sends_whole_items_and_no_pieces_is_understood() {
    let events = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}}),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}}),
        completed(Value::Null),
    ];
    let read = read(WIRE, &gpt(), &events);
    assert_eq!(read.story(), ["Hi", "n#c", "#c {}"]);
    assert_eq!(read.outcome.unwrap().content, [text("Hi"), call("c", "n", json!({}))]);
}

#[test]
fn an_answer_that_is_cut_off_says_why() {
    let stop = |details: Value| read(WIRE, &gpt(), &[completed(details)]).outcome.unwrap().stop;
    assert_eq!(stop(Value::Null), Stop::EndTurn);
    assert_eq!(stop(json!({"reason": "max_output_tokens"})), Stop::MaxTokens);
    assert_eq!(stop(json!({"reason": "content_filter"})), Stop::Refusal);
    let refusal = json!({"type": "response.refusal.delta", "output_index": 0, "delta": "I cannot"});
    let response = read(WIRE, &gpt(), &[refusal, completed(Value::Null)]).outcome.unwrap();
    assert_eq!((response.stop, &response.content[..]), (Stop::Refusal, &[text("I cannot")][..]));
}

#[test]
fn a_stream_that_ends_early_is_incomplete_wherever_it_ends() {
    let events = whole();
    for count in 0..events.len() {
        let outcome = read(WIRE, &gpt(), &events[..count]).outcome;
        assert!(matches!(outcome, Err(Fault::Incomplete(_))), "after {count} events: {outcome:?}");
    }
    assert_eq!(read(WIRE, &gpt(), &events[..15]).outcome, Err(Fault::Incomplete("it ended inside a tool call")));
}

#[test]
fn failures_within_the_stream_are_the_vendors_in_both_their_forms() {
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "oops"}}});
    let error = json!({"type": "error", "code": "rate_limit_exceeded", "message": "slow"});
    let nested = json!({"type": "error", "error": {"type": "invalid_request_error", "code": null, "message": "bad"}});
    for (event, code, message) in [
        (failed, "server_error", "oops"),
        (error, "rate_limit_exceeded", "slow"),
        (nested, "invalid_request_error", "bad"),
    ] {
        let fault = read(WIRE, &gpt(), &[event]).outcome.unwrap_err();
        assert_eq!(fault, Fault::vendor(code, message));
    }
    assert!(matches!(read(WIRE, &gpt(), &[json!("nonsense")]).outcome, Err(Fault::Garbage(_))));
}

proptest! {
    #[test]
    fn whatever_order_events_come_in_nothing_panics(order in prop::collection::vec(0usize..19, 0..40)) {
        let events = whole();
        let shuffled: Vec<Value> = order.into_iter().map(|at| events[at].clone()).collect();
        let _ = read(WIRE, &gpt(), &shuffled).outcome;
    }
}

#[test]
fn a_server_that_numbers_nothing_has_each_call_made_once() {
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "n", "arguments": arguments});
    let added = |item: Value| json!({"type": "response.output_item.added", "item": item});
    let done = |item: Value| json!({"type": "response.output_item.done", "item": item});
    let piece = |item: &str, delta: &str| json!({"type": "response.function_call_arguments.delta", "item_id": item, "delta": delta});
    let said = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]});
    let events = [
        json!({"type": "response.output_text.delta", "delta": "Hi"}),
        done(said),
        added(call("a", "")),
        added(call("b", "")),
        piece("fc_a", "{\"x\":"),
        piece("fc_b", "{\"y\":"),
        piece("fc_a", "1}"),
        piece("fc_b", "2}"),
        done(call("a", "{\"x\":1}")),
        done(call("b", "{\"y\":2}")),
        completed(Value::Null),
    ];
    let response = read(WIRE, &gpt(), &events).outcome.unwrap();
    assert_eq!(response.content, [text("Hi"), call_of("a", json!({"x": 1})), call_of("b", json!({"y": 2}))]);
}

#[test]
fn items_without_index_and_id_are_told_apart_by_their_calls() {
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "n", "arguments": arguments});
    let events = [
        json!({"type": "response.output_item.added", "item": call("a", "")}),
        json!({"type": "response.function_call_arguments.delta", "delta": "{}"}),
        json!({"type": "response.output_item.done", "item": call("a", "{}")}),
        json!({"type": "response.output_item.done", "item": call("b", "{}")}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "content": [{"type": "output_text", "text": "x"}]}}),
        json!({"type": "response.output_item.done", "item": {"type": "message", "content": [{"type": "output_text", "text": "y"}]}}),
        completed(Value::Null),
    ];
    let response = read(WIRE, &gpt(), &events).outcome.unwrap();
    assert_eq!(response.content, [call_of("a", json!({})), call_of("b", json!({})), text("x"), text("y")]);
}

fn call_of(id: &str, input: Value) -> AssistantBlock {
    call(id, "n", input)
}

#[test]
fn an_answer_that_comes_at_once_is_read_too() {
    let mut whole = json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
            {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}],
        "usage": {"input_tokens": 3, "output_tokens": 2}});
    let response = read(WIRE, &gpt(), std::slice::from_ref(&whole)).outcome.unwrap();
    assert_eq!(response.content, [text("Hi"), call_of("c", json!({}))]);
    assert_eq!((response.stop, response.usage.output), (Stop::ToolUse, 2));
    whole["status"] = json!("failed");
    whole["error"] = json!({"code": "server_error", "message": "oops"});
    let fault = read(WIRE, &gpt(), &[whole]).outcome.unwrap_err();
    assert_eq!(fault, Fault::vendor("server_error", "oops"));
    let bare = json!({"error": {"type": "invalid_request_error", "message": "bad"}});
    assert!(matches!(read(WIRE, &gpt(), &[bare]).outcome, Err(Fault::Vendor(_))));
}

#[test]
fn odd_counts_never_fail_an_answer() {
    for (usage, output) in [
        (json!({"input_tokens": "12", "output_tokens": 7.0, "input_tokens_details": []}), 7),
        (json!({"input_tokens": null, "output_tokens": "7"}), 7),
        (json!({"output_tokens": {}}), 0),
        (json!("none"), 0),
        (json!([]), 0),
        (Value::Null, 0),
    ] {
        let event = json!({"type": "response.completed", "response": {"output": [], "usage": usage}});
        assert_eq!(read(WIRE, &gpt(), &[event]).outcome.unwrap().usage.output, output, "{usage}");
    }
}

#[test]
fn what_a_failed_response_used_is_told() {
    let failed = json!({"type": "response.failed", "response": {"error": {"code": "server_error", "message": "oops"},
        "usage": {"input_tokens": 30, "output_tokens": 4}}});
    let read = read(WIRE, &gpt(), &[failed]);
    assert!(read.outcome.is_err());
    assert_eq!(read.used(), Some(Usage { input: 30, output: 4, ..Usage::default() }));
}

#[test]
fn text_of_the_model_is_sent_in_the_easy_form_with_the_phase_that_it_had() {
    let item = |phase: Value| {
        json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "phase": phase, "content": [{"type": "output_text", "text": "I look.", "annotations": []}]})
    };
    let events = |phase: Value| {
        [
            json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1",
                "role": "assistant", "status": "in_progress", "content": []}}),
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": "I look."}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item(phase)}),
            json!({"type": "response.completed", "response": {"usage": {"input_tokens": 1, "output_tokens": 1}}}),
        ]
    };
    let own = target("openai", "gpt-6.1-sol", Thinking::Effort);
    let sent = |phase: Value, to: &Target| {
        let content = read(WIRE, &own, &events(phase)).outcome.unwrap().content;
        body(WIRE, to, &request(vec![says("go"), Message::Assistant(content), says("on")]))["input"][1].clone()
    };
    assert_eq!(
        sent(json!("commentary"), &own),
        json!({"type": "message", "role": "assistant", "content": "I look.", "phase": "commentary"})
    );
    let without = json!({"type": "message", "role": "assistant", "content": "I look."});
    assert_eq!(sent(Value::Null, &own), without);
    assert_eq!(sent(json!("commentary"), &target("openai", "gpt-5.1", Thinking::Effort)), without);
}

#[test]
fn strict_is_left_out_for_a_server_that_does_not_know_it() {
    let strict = |target: &Target| body(WIRE, target, &request(vec![says("Hi.")]))["tools"][0]["strict"].clone();
    let mut server = gpt();
    assert_eq!(strict(&server), false);
    server.compat.strict = Some(false);
    assert!(strict(&server).is_null());
}

#[test]
fn what_a_server_does_not_know_is_left_out_and_levels_go_by_its_names() {
    let mut server = Target { level: Some(ThinkingLevel::Xhigh), ..gpt() };
    let asked = |server: &Target| body(WIRE, server, &request(vec![says("Hi.")]));
    assert_eq!(asked(&server)["store"], false);
    server.compat.store = Some(false);
    server.compat.efforts = Some([(ThinkingLevel::Xhigh, "max".to_owned())].into());
    let other = asked(&server);
    assert_eq!((other.get("store"), &other["reasoning"]["effort"]), (None, &json!("max")));
}
