use ThinkingLevel::{High, Low, Max, Minimal, Off, Xhigh};
use ports::model::{Before, Message, ModelEvent, Request, Response, Stop};
use proptest::prelude::*;
use protocol::content::{CacheMiss, RequestPart, Usage};
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolResult};
use serde_json::{Value, json};

use crate::compat::Compat;
use crate::data::Thinking;
use crate::failure::Fault;
use crate::vendors::of_address;
use crate::wire::testing::{
    HOST, assert_prefixes_are_stable, body, call, conversation, read, request, result, says, target, text,
};
use crate::wire::{Pieces, Target, Wire};

const MARK: &str = r#","cache_control":{"type":"ephemeral"}"#;

fn sonnet() -> Target {
    target("anthropic", "claude-sonnet-4-5", Thinking::Budget)
}

fn signed(model: &str) -> Value {
    json!({"signature": "c2ln", "provider": "anthropic", "model": model})
}

#[test]
fn the_prefix_of_a_request_stays_the_same_but_for_the_cache_marks() {
    assert_prefixes_are_stable(Wire::Anthropic, &sonnet(), &signed("claude-sonnet-4-5"), MARK);
}

#[test]
fn a_conversation_reads_as_the_vendor_wants_it() {
    let sent = body(Wire::Anthropic, &sonnet(), &request(conversation(&signed("claude-sonnet-4-5"))));
    assert_eq!((&sent["stream"], &sent["max_tokens"]), (&json!(true), &json!(8000)));
    assert_eq!(sent.get("thinking"), None);
    let roles: Vec<_> =
        sent["messages"].as_array().unwrap().iter().map(|turn| turn["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant", "user"]);
    assert_eq!(
        sent["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "where?", "signature": "c2ln"},
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.rs"}},
            {"type": "tool_use", "id": "call_2", "name": "read_file", "input": {"path": "b.rs"}},
        ])
    );
    assert_eq!(
        sent["messages"][2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "call_1", "content": "fn a() {}"},
            {"type": "tool_result", "tool_use_id": "call_2"},
            {"type": "text", "text": "<note>\nhurry\n</note>"},
        ])
    );
    assert_eq!(sent["messages"][4]["content"][0]["is_error"], json!(true));
    assert_eq!(
        sent["messages"][6]["content"][1]["source"],
        json!({"type": "base64", "media_type": "image/png", "data": "iVBO"})
    );
}

#[test]
fn cache_marks_stand_on_the_system_prompt_the_last_tool_and_the_last_two_user_messages() {
    let sent = body(Wire::Anthropic, &sonnet(), &request(conversation(&Value::Null)));
    let marked = |value: &Value| value.get("cache_control").is_some();
    assert!(marked(&sent["system"][0]));
    assert!(!marked(&sent["tools"][0]) && marked(&sent["tools"][1]));
    let messages = sent["messages"].as_array().unwrap();
    let marks: Vec<usize> =
        (0..messages.len()).filter(|at| messages[*at]["content"].as_array().unwrap().iter().any(marked)).collect();
    assert_eq!(marks, [6, 8]);
    assert!(marked(&messages[6]["content"][1]), "the mark stands on the last block");
}

#[test]
fn thinking_of_others_is_left_out_and_other_ids_are_made_to_fit() {
    for vendor in [Value::Null, signed("claude-opus-5-5"), json!({"item": {}, "provider": "openai", "model": "gpt-5"})]
    {
        let sent = body(Wire::Anthropic, &sonnet(), &request(conversation(&vendor)));
        assert!(!sent.to_string().contains("where?"), "{vendor}");
        assert_eq!(sent["messages"][1]["content"][0]["type"], json!("text"));
    }
    let foreign = "call|fc_0a:1";
    let messages = vec![
        says("go"),
        Message::Assistant(vec![call(foreign, "read_file", json!({"path": "a"}))]),
        Message::ToolResults(vec![result(foreign, "ok")]),
    ];
    let sent = body(Wire::Anthropic, &sonnet(), &request(messages));
    let id = sent["messages"][1]["content"][0]["id"].as_str().unwrap();
    assert!(id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)), "{id}");
    assert_eq!(sent["messages"][2]["content"][0]["tool_use_id"], json!(id));
}

#[test]
fn thinking_is_asked_for_as_each_model_takes_it() {
    let sent = |target: &Target, wanted: Option<ThinkingLevel>| {
        let mut request = request(vec![says("go")]);
        request.thinking = wanted;
        let mut body = body(Wire::Anthropic, target, &request);
        (body["thinking"].take(), body["output_config"]["effort"].take())
    };
    let nothing = (Value::Null, Value::Null);
    let budget = |target: &Target, wanted| sent(target, wanted).0["budget_tokens"].take();
    assert_eq!(sent(&sonnet(), None), nothing);
    assert_eq!(sent(&sonnet(), Some(Off)), nothing);
    assert_eq!(sent(&sonnet(), Some(Low)), (json!({"type": "enabled", "budget_tokens": 2048}), Value::Null));
    assert_eq!(budget(&sonnet(), Some(Minimal)), json!(1024));
    assert_eq!(budget(&sonnet(), Some(Xhigh)), json!(6976), "something is left to say");
    let variant = Target { is_thinking: true, ..sonnet() };
    assert_eq!(budget(&variant, None), json!(6976));
    assert_eq!((variant.thinking_tokens(), sonnet().thinking_tokens()), (Some(10_000), None));
    assert_eq!(budget(&Target { level: Some(Low), ..variant }, None), json!(2048));

    let adaptive = target("anthropic", "claude-opus-4-8", Thinking::Adaptive);
    let shown = json!({"type": "adaptive", "display": "summarized"});
    assert_eq!(sent(&adaptive, None), nothing);
    assert_eq!(sent(&adaptive, Some(Off)), nothing);
    assert_eq!(sent(&adaptive, Some(Max)), (shown.clone(), json!("max")));
    assert_eq!(
        sent(&Target { is_thinking: true, ..adaptive }, None),
        (shown, Value::Null),
        "as much as it finds right"
    );

    let always = Target { bound: true, ..target("anthropic", "claude-opus-5-5", Thinking::Always) };
    assert!(Wire::Anthropic.headers(&always, &request(Vec::new())).iter().any(|(name, _)| *name == "anthropic-beta"));
    let (setting, effort) = sent(&always, None);
    assert_eq!(setting["block_binding"], json!({"prefix_mismatch_behavior": "drop_block"}));
    assert_eq!(effort, Value::Null);
    assert_eq!(sent(&always, Some(Off)), (json!({"type": "disabled"}), Value::Null));
    let asked = |level| {
        let mut asked = request(conversation(&signed("claude-opus-5-5")));
        asked.thinking = Some(level);
        body(Wire::Anthropic, &always, &asked).to_string().contains("\"signature\"")
    };
    assert_eq!((asked(Low), asked(Off)), (true, false), "thoughts go back only to whom may drop them");
    let never_off = Target { levels: vec![Low, High], ..always };
    assert_eq!(sent(&never_off, Some(Off)), (setting, json!("low")));
}

#[test]
fn a_round_that_another_model_began_goes_on_without_thinking() {
    let mut messages = vec![
        says("go"),
        Message::Assistant(vec![call("a", "read_file", json!({}))]),
        Message::ToolResults(vec![result("a", "ok")]),
    ];
    let mut asked = request(messages.clone());
    asked.thinking = Some(Low);
    assert_eq!(body(Wire::Anthropic, &sonnet(), &asked).get("thinking"), None);
    messages.extend([Message::Assistant(vec![text("Done.")]), says("and on")]);
    asked.messages = messages.into_iter().map(Into::into).collect();
    assert!(body(Wire::Anthropic, &sonnet(), &asked).get("thinking").is_some());
}

#[test]
fn the_thinking_of_one_of_several_accounts_goes_to_no_other_and_not_to_the_one_that_is_left_alone() {
    let of = |account: Option<&str>| Target { account: account.map(str::to_owned), ..sonnet() };
    for (thought, asked, goes_back) in [
        (Some("one"), Some("one"), true),
        (Some("one"), Some("two"), false),
        (Some("one"), None, false),
        (None, Some("one"), false),
        (None, None, true),
    ] {
        let answer = read(Wire::Anthropic, &of(thought), &whole()).outcome.unwrap();
        let messages =
            vec![says("go"), Message::Assistant(answer.content), Message::ToolResults(vec![result("toolu_1", "ok")])];
        let sent = body(Wire::Anthropic, &of(asked), &request(messages)).to_string();
        assert_eq!(sent.contains("\"signature\""), goes_back, "{thought:?} {asked:?}");
    }
}

fn opening() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "usage": {"input_tokens": 12, "cache_creation_input_tokens": 300, "cache_read_input_tokens": 4000, "output_tokens": 1}}})
}

fn start(index: usize, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: usize, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn ending(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 89}}),
        json!({"type": "message_stop"}),
    ]
}

/// An answer with thinking, text and a call.
fn whole() -> Vec<Value> {
    let mut events = vec![
        opening(),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        json!({"type": "ping"}),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me"})),
        delta(0, json!({"type": "thinking_delta", "thinking": " see"})),
        delta(0, json!({"type": "signature_delta", "signature": "EqQB"})),
        delta(0, json!({"type": "signature_delta", "signature": "Cg=="})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "xyz"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "I \"look\"\n"})),
        stop(2),
        start(3, json!({"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(3, json!({"type": "input_json_delta", "partial_json": "{\"path\": \"a"})),
        delta(3, json!({"type": "input_json_delta", "partial_json": ".rs\"}"})),
        stop(3),
    ];
    events.extend(ending("tool_use"));
    events
}

#[test]
fn an_answer_is_read_with_its_thinking_calls_and_counts() {
    let read = read(Wire::Anthropic, &sonnet(), &whole());
    assert_eq!(read.story(), ["(Let me see)", "I \"look\"\n", "read_file#toolu_1", r##"#toolu_1 {"path": "a.rs"}"##]);
    let response = read.outcome.unwrap();
    assert_eq!(response.stop, Stop::ToolUse);
    assert_eq!(
        response.usage,
        Usage { input: 12, output: 89, cache_read: 4000, cache_write: 300, cache_write_hour: 0 }
    );
    let tagged = |fields: Value| {
        let mut fields = fields.as_object().unwrap().clone();
        fields.extend([("provider".into(), json!("anthropic")), ("host".into(), json!(crate::wire::hashed(HOST)))]);
        fields.insert("model".into(), json!("claude-sonnet-4-5"));
        Some(Value::Object(fields))
    };
    assert_eq!(
        response.content,
        [
            AssistantBlock::Thinking { text: "Let me see".into(), vendor: tagged(json!({"signature": "EqQBCg=="})) },
            AssistantBlock::Thinking { text: String::new(), vendor: tagged(json!({"redacted": "xyz"})) },
            text("I \"look\"\n"),
            call("toolu_1", "read_file", json!({"path": "a.rs"})),
        ]
    );
}

#[test]
fn thinking_goes_back_to_the_vendor_as_it_came() {
    let response = read(Wire::Anthropic, &sonnet(), &whole()).outcome.unwrap();
    let messages =
        vec![says("go"), Message::Assistant(response.content), Message::ToolResults(vec![result("toolu_1", "ok")])];
    let sent = body(Wire::Anthropic, &sonnet(), &request(messages));
    assert_eq!(
        sent["messages"][1]["content"],
        json!([
            {"type": "thinking", "thinking": "Let me see", "signature": "EqQBCg=="},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "I \"look\"\n"},
            {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "a.rs"}},
        ])
    );
}

#[test]
fn an_input_that_is_empty_is_an_object_and_one_that_is_no_json_is_kept_as_text() {
    let input = |pieces: &[&str]| {
        let mut events = vec![opening(), start(0, json!({"type": "tool_use", "id": "t", "name": "n", "input": {}}))];
        events.extend(pieces.iter().map(|json| delta(0, json!({"partial_json": json}))));
        events.push(stop(0));
        events.extend(ending("tool_use"));
        match &read(Wire::Anthropic, &sonnet(), &events).outcome.unwrap().content[0] {
            AssistantBlock::ToolCall { input, .. } => input.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(input(&[]), json!({}));
    assert_eq!(input(&[" "]), json!({}));
    assert_eq!(input(&["{\"path\": ", "oops"]), json!("{\"path\": oops"));
}

#[test]
fn a_stream_that_ends_early_is_incomplete_wherever_it_ends() {
    let events = whole();
    let reason_at = events.len() - 2;
    for count in 0..=reason_at {
        let outcome = read(Wire::Anthropic, &sonnet(), &events[..count]).outcome;
        assert!(matches!(outcome, Err(Fault::Incomplete(_))), "after {count} events: {outcome:?}");
    }
    let inside = read(Wire::Anthropic, &sonnet(), &events[..16]).outcome;
    assert_eq!(inside, Err(Fault::Incomplete("it ended inside a tool call")));
    assert!(
        read(Wire::Anthropic, &sonnet(), &events[..=reason_at]).outcome.is_ok(),
        "the reason to stop says it is whole"
    );
}

#[test]
fn reasons_to_stop_are_told_apart() {
    for (reason, expected) in [
        ("end_turn", Stop::EndTurn),
        ("stop_sequence", Stop::EndTurn),
        ("tool_use", Stop::ToolUse),
        ("max_tokens", Stop::MaxTokens),
        ("model_context_window_exceeded", Stop::MaxTokens),
        ("refusal", Stop::Refusal),
        ("pause_turn", Stop::Pause),
    ] {
        let mut events = vec![opening()];
        events.extend(ending(reason));
        assert_eq!(read(Wire::Anthropic, &sonnet(), &events).outcome.unwrap().stop, expected, "{reason}");
    }
}

#[test]
fn an_error_within_the_stream_is_the_vendors_and_nonsense_is_garbage() {
    let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let fault = read(Wire::Anthropic, &sonnet(), &[opening(), error]).outcome.unwrap_err();
    assert_eq!(fault, Fault::vendor("overloaded_error", "Overloaded"));
    for nonsense in ["{\"type\":", "hello", "[]", "{}"] {
        let fault = read(Wire::Anthropic, &sonnet(), &[json!(nonsense)]).outcome.unwrap_err();
        assert!(matches!(fault, Fault::Garbage(_)), "{nonsense}: {fault:?}");
    }
}

proptest! {
    #[test]
    fn whatever_order_events_come_in_nothing_panics(order in prop::collection::vec(0usize..20, 0..40)) {
        let events = whole();
        let shuffled: Vec<Value> = order.into_iter().map(|at| events[at].clone()).collect();
        let _ = read(Wire::Anthropic, &sonnet(), &shuffled).outcome;
    }
}

#[test]
fn an_input_that_is_given_whole_and_streamed_too_counts_once() {
    let answer = |streamed: &[&str]| {
        let whole = json!({"type": "tool_use", "id": "t", "name": "n", "input": {"path": "a"}});
        let mut events = vec![opening(), start(0, whole)];
        events.extend(streamed.iter().map(|json| delta(0, json!({"type": "input_json_delta", "partial_json": json}))));
        events.push(stop(0));
        events.extend(ending("tool_use"));
        read(Wire::Anthropic, &sonnet(), &events)
    };
    for streamed in [&["", "{\"path\":", "\"a\"}"][..], &[""], &[]] {
        let read = answer(streamed);
        assert_eq!(read.story(), ["n#t", r##"#t {"path":"a"}"##], "{streamed:?}");
        assert_eq!(read.outcome.unwrap().content, [call("t", "n", json!({"path": "a"}))], "{streamed:?}");
    }
}

#[test]
fn odd_counts_never_fail_an_answer() {
    for (usage, output) in [
        (json!({"output_tokens": "7", "input_tokens": 3.0}), 7),
        (json!({"output_tokens": 7.0, "input_tokens": null}), 7),
        (json!({"output_tokens": {}}), 1),
        (json!("none"), 1),
        (json!([]), 1),
        (Value::Null, 1),
    ] {
        let [mut reason, end] = ending("end_turn");
        reason["usage"] = usage.clone();
        let response = read(Wire::Anthropic, &sonnet(), &[opening(), reason, end]).outcome.unwrap();
        assert_eq!(response.usage.output, output, "{usage}");
    }
    let opening = json!({"type": "message_start", "message": {"usage": "none"}});
    let [reason, end] = ending("end_turn");
    assert_eq!(read(Wire::Anthropic, &sonnet(), &[opening, reason, end]).outcome.unwrap().usage.output, 89);
}

#[test]
fn what_a_stream_used_before_it_broke_off_is_told() {
    let read = read(Wire::Anthropic, &sonnet(), &[opening(), start(0, json!({"type": "text", "text": "a"}))]);
    assert!(read.outcome.is_err());
    assert_eq!(
        read.used(),
        Some(Usage { input: 12, output: 1, cache_read: 4000, cache_write: 300, cache_write_hour: 0 })
    );
}

#[test]
fn thinking_without_a_signature_is_not_sent_back() {
    for vendor in [signed("claude-sonnet-4-5"), json!({"provider": "anthropic", "model": "claude-sonnet-4-5"})] {
        let mut vendor = vendor;
        vendor["signature"] = json!("");
        let mut asked = request(conversation(&vendor)[..3].to_vec());
        asked.thinking = Some(Low);
        let sent = body(Wire::Anthropic, &sonnet(), &asked);
        assert_eq!(sent["messages"][1]["content"][0], json!({"type": "text", "text": "Looking."}));
        assert_eq!(sent.get("thinking"), None, "the round does not begin with thinking");
    }
}

#[test]
fn a_round_is_judged_by_the_messages_that_are_sent() {
    let thinks = |messages: Vec<Message>| {
        let mut asked = request(messages);
        asked.thinking = Some(Low);
        body(Wire::Anthropic, &sonnet(), &asked).get("thinking").is_some()
    };
    let thought = |model: &str| AssistantBlock::Thinking { text: "where?".into(), vendor: Some(signed(model)) };
    let calls = || call("a", "read_file", json!({}));
    let results = || Message::ToolResults(vec![result("a", "ok")]);
    let left_out = Message::Assistant(vec![thought("claude-opus-4-1")]);
    let own = Message::Assistant(vec![thought("claude-sonnet-4-5"), calls()]);
    assert!(thinks(vec![says("go"), left_out, own.clone(), results()]), "what is not sent does not begin the round");
    let said = Message::Assistant(vec![text("Hm.")]);
    assert!(!thinks(vec![says("go"), said, own, results()]), "they are one message, which begins with text");
    let foreign = Message::Assistant(vec![calls()]);
    assert!(!thinks(vec![says("go"), foreign.clone(), results(), says(" ")]), "nothing was said");
    assert!(!thinks(vec![says("go"), foreign, results(), says("hurry")]), "a note stands in the results' message");
}

#[test]
fn an_answer_that_comes_at_once_is_read_too() {
    let whole = json!({"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use", "stop_sequence": null,
        "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}, {"type": "text", "text": "Hi"},
            {"type": "tool_use", "id": "t", "name": "n", "input": {"path": "a"}}],
        "usage": {"input_tokens": 3, "output_tokens": 2}});
    let read_whole = read(Wire::Anthropic, &sonnet(), &[whole]);
    assert_eq!(read_whole.story(), ["(hm)", "Hi", "n#t", r##"#t {"path":"a"}"##]);
    let response = read_whole.outcome.unwrap();
    assert_eq!(response.content[1..], [text("Hi"), call("t", "n", json!({"path": "a"}))]);
    assert_eq!((response.stop, response.usage.output), (Stop::ToolUse, 2));
    let bare = json!({"error": {"type": "overloaded_error", "message": "Overloaded"}});
    assert!(matches!(read(Wire::Anthropic, &sonnet(), &[bare]).outcome, Err(Fault::Vendor(_))));
}

#[test]
fn bound_thinking_goes_back_only_behind_what_it_came_behind() {
    let host = Target { bound: true, ..target("anthropic", "claude-opus-5-5", Thinking::Always) };
    let gateway = Target { compat: Compat { betas: Some(false), ..Compat::default() }, ..host.clone() };
    let round = |id: &str, text: &str| {
        [Message::Assistant(vec![call(id, "read_file", json!({}))]), Message::ToolResults(vec![result(id, text)])]
    };
    for target in [host, gateway] {
        let before = [vec![says("go")], round("a", "long").to_vec()].concat();
        let mut decoder = Wire::Anthropic.decoder(&target, &request(before.clone()));
        let mut pieces = Pieces::default();
        whole().iter().for_each(|event| decoder.event(event.to_string().as_bytes(), &mut pieces).unwrap());
        let answer = std::iter::from_fn(|| pieces.take()).last();
        let Some(ModelEvent::Finished(Response { content, .. })) = answer else { panic!("{answer:?}") };
        let after = [Message::Assistant(content), Message::ToolResults(vec![result("toolu_1", "ok")])];
        let sent = |before: Vec<Message>| {
            let sent = body(Wire::Anthropic, &target, &request([before, after.to_vec()].concat())).to_string();
            (sent.contains("EqQBCg=="), sent.contains("redacted_thinking"), sent.contains("toolu_1"))
        };
        assert_eq!(sent(before), (true, true, true));
        let trimmed = [vec![says("go")], round("a", "[removed]").to_vec()].concat();
        assert_eq!(sent(trimmed), (false, false, true), "what came before it has changed");
        let is_told =
            Wire::Anthropic.headers(&target, &request(Vec::new())).iter().any(|(name, _)| *name == "anthropic-beta");
        assert_eq!(is_told, target.compat.betas.is_none(), "a gateway knows no betas");
    }
}

#[test]
fn a_message_that_ends_in_thinking_and_a_failure_without_words_are_mended() {
    let thinking = AssistantBlock::Thinking { text: "so".into(), vendor: Some(signed("claude-sonnet-4-5")) };
    let failed = ToolResult { is_error: true, ..result("a", " ") };
    let messages = vec![
        says("go"),
        Message::Assistant(vec![call("a", "read.file", json!({})), thinking]),
        Message::ToolResults(vec![failed]),
    ];
    let sent = body(Wire::Anthropic, &sonnet(), &request(messages));
    let said = sent["messages"][1]["content"].as_array().unwrap();
    assert_eq!(said.len(), 1);
    assert!(said[0]["name"].as_str().unwrap().starts_with("read_file_"), "{}", said[0]);
    assert_eq!(sent["messages"][2]["content"][0]["content"], json!("The call failed."));
}

#[test]
fn the_inputs_of_tools_come_while_they_are_written_only_where_the_host_says_it_can() {
    let eager = Target { compat: Compat { eager_input_streaming: Some(true), ..Compat::default() }, ..sonnet() };
    let asked = request(conversation(&Value::Null));
    let said = |wire: Wire, target: &Target| -> Vec<_> {
        let sent = body(wire, target, &asked);
        sent["tools"].as_array().unwrap().iter().map(|tool| tool.get("eager_input_streaming").cloned()).collect()
    };
    assert_eq!(said(Wire::Anthropic, &eager), [Some(json!(true)), Some(json!(true))]);
    assert_eq!(said(Wire::Anthropic, &sonnet()), [None, None]);
    assert_eq!(said(Wire::AnthropicVertex, &sonnet()), [None, None]);
    let vertex = of_address("https://us-central1-aiplatform.googleapis.com/v1/projects/p");
    assert_eq!(vertex.eager_input_streaming, None, "some hosts and models refuse it");
}

#[test]
fn the_vendor_is_asked_why_its_cache_missed_and_its_word_comes_first() {
    let told = Target { compat: Compat { cache_diagnosis: Some(true), ..Compat::default() }, ..sonnet() };
    let asked = |in_conversation: bool, answer: Option<Value>| {
        let before = Before { in_conversation, answer, ..Before::default() };
        Request { before, ..request(vec![says("go")]) }
    };
    let sent = |target: &Target, asked: &Request| body(Wire::Anthropic, target, asked).get("diagnostics").cloned();
    assert_eq!(sent(&told, &asked(true, None)), Some(json!({ "previous_message_id": null })));
    assert_eq!(sent(&sonnet(), &asked(true, None)), None, "only where its host says it");
    assert_eq!(sent(&told, &asked(false, None)), None, "nothing follows a request that stands alone");

    let opened = |target: &Target, asked: &Request, diagnostics: Value| {
        let mut opening = opening();
        opening["message"]["diagnostics"] = diagnostics;
        let mut pieces = Pieces::default();
        Wire::Anthropic.decoder(target, asked).event(opening.to_string().as_bytes(), &mut pieces).unwrap();
        match pieces.take() {
            Some(ModelEvent::Opened(opening)) => Some(opening),
            _ => None,
        }
    };
    assert_eq!(opened(&sonnet(), &asked(true, None), Value::Null), None);
    assert_eq!(opened(&told, &asked(false, None), Value::Null), None);
    let named = opened(&told, &asked(true, None), Value::Null).unwrap();
    assert_eq!((&named.vendor.as_ref().unwrap()["id"], named.missed), (&json!("msg_1"), None));
    let next = asked(true, named.vendor);
    assert_eq!(sent(&told, &next), Some(json!({ "previous_message_id": "msg_1" })));
    let text = String::from_utf8(Wire::Anthropic.body(&told, &next).unwrap()).unwrap();
    assert!(text.ends_with(r#""diagnostics":{"previous_message_id":"msg_1"}}"#), "it stands behind what is cached");
    for other in [
        Target { model: "claude-opus-4-5".into(), ..told.clone() },
        Target { host: "gateway.example".to_owned().into(), ..told.clone() },
        Target { account: Some("two".into()), ..told.clone() },
    ] {
        assert_eq!(sent(&other, &next), Some(json!({ "previous_message_id": null })), "nobody else knows it");
    }

    let missed = |reason: Value| opened(&told, &next, json!({ "cache_miss_reason": reason })).unwrap().missed;
    for (kind, changed) in [
        ("model_changed", RequestPart::Model),
        ("system_changed", RequestPart::System),
        ("tools_changed", RequestPart::Tools),
        ("messages_changed", RequestPart::Messages),
    ] {
        let reason = json!({ "type": kind, "cache_missed_input_tokens": 12 });
        assert_eq!(missed(reason), Some(CacheMiss { changed, tokens: 12 }));
    }
    for nothing in
        [Value::Null, json!({ "type": "unavailable" }), json!({ "type": "previous_message_not_found" }), json!(7)]
    {
        assert_eq!(missed(nothing.clone()), None, "{nothing}");
    }
    let whole = json!({ "type": "message", "id": "msg_2", "content": [{ "type": "text", "text": "Hi" }],
        "diagnostics": { "cache_miss_reason": { "type": "tools_changed", "cache_missed_input_tokens": 3 } } });
    let mut pieces = Pieces::default();
    Wire::Anthropic.decoder(&told, &next).event(whole.to_string().as_bytes(), &mut pieces).unwrap();
    let Some(ModelEvent::Opened(opening)) = pieces.take() else { panic!("an answer that comes at once says it too") };
    assert_eq!(opening.missed, Some(CacheMiss { changed: RequestPart::Tools, tokens: 3 }));
}

#[test]
fn a_conversation_is_kept_for_an_hour_where_that_is_asked_and_the_server_can() {
    let able = Target { compat: Compat { cache_hour: Some(true), ..Compat::default() }, ..sonnet() };
    let hour = Request { cache_hour: true, ..request(conversation(&Value::Null)) };
    let usual = Request { cache_hour: false, ..hour.clone() };
    let (usual_mark, hour_mark) = (r#"{"type":"ephemeral"}"#, r#"{"type":"ephemeral","ttl":"1h"}"#);
    for wire in [Wire::Anthropic, Wire::AnthropicVertex] {
        let written =
            |target: &Target, request: &Request| String::from_utf8(wire.body(target, request).unwrap()).unwrap();
        let marks = |body: &str| [usual_mark, hour_mark].map(|mark| body.matches(mark).count());
        assert_eq!(marks(&written(&able, &usual)), [4, 0]);
        assert_eq!(marks(&written(&able, &hour)), [0, 4], "a longer time may not stand behind a shorter one");
        assert_eq!(marks(&written(&sonnet(), &hour)), [4, 0], "only where its host says it");
        let same = written(&able, &hour).replace(hour_mark, usual_mark);
        assert_eq!(same, written(&able, &usual), "nothing but the marks differs");
    }
}

#[test]
fn bedrock_is_asked_to_keep_only_the_models_for_an_hour_that_it_can() {
    let at = |host: &str, model: &str| {
        let compat = Compat { cache_hour: Some(true), ..of_address(&format!("https://{host}")) };
        Target { host: host.to_owned().into(), model: model.into(), compat, ..sonnet() }
    };
    let hour = Request { cache_hour: true, ..request(conversation(&Value::Null)) };
    let is_asked = |target: &Target| body(Wire::Anthropic, target, &hour).to_string().contains(r#""ttl":"1h""#);
    let bedrock = "bedrock-runtime.us-east-1.amazonaws.com";
    assert_eq!(of_address(&format!("https://{bedrock}/anthropic")).cache_hour, Some(true));
    for model in ["global.anthropic.claude-sonnet-5-5", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"] {
        assert!(is_asked(&at(bedrock, model)), "{model}");
    }
    for model in [
        "us.anthropic.claude-opus-4-1-20250805-v1:0",
        "anthropic.claude-sonnet-4-20250514-v1:0",
        "us.anthropic.claude-3-7-sonnet-20250219-v1:0",
        "arn:aws:bedrock:us-east-1:1:application-inference-profile/a",
    ] {
        for host in [bedrock, "bedrock-mantle.eu-west-1.api.aws", "bedrock-runtime.us-east-1.amazonaws.com:8443"] {
            assert!(!is_asked(&at(host, model)), "{model} at {host}");
        }
    }
    assert!(is_asked(&at("api.anthropic.com", "claude-opus-4-1-20250805")), "their maker keeps these too");
}

#[test]
fn what_is_written_for_an_hour_is_told_apart() {
    let able = Target { compat: Compat { cache_hour: Some(true), ..Compat::default() }, ..sonnet() };
    let hour = Request { cache_hour: true, ..request(vec![says("go")]) };
    let written = |target: &Target, request: &Request, opened: Value, ended: Value| {
        let mut decoder = Wire::Anthropic.decoder(target, request);
        let mut pieces = Pieces::default();
        let opening = json!({"type": "message_start", "message": {"id": "m", "usage": opened}});
        let ending = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": ended});
        for event in [opening, ending, json!({"type": "message_stop"})] {
            decoder.event(event.to_string().as_bytes(), &mut pieces).unwrap();
        }
        let events = std::iter::from_fn(|| pieces.take());
        let usage = events.filter_map(|event| match event {
            ModelEvent::Used(usage) => Some(usage),
            _ => None,
        });
        usage.last().map(|usage| (usage.cache_write, usage.cache_write_hour)).unwrap()
    };
    let of = |all: u64, hour: u64| {
        json!({"input_tokens": 1, "cache_creation_input_tokens": all,
            "cache_creation": {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": all - hour}})
    };
    let total = |all: u64| json!({"cache_creation_input_tokens": all, "output_tokens": 5});
    assert_eq!(written(&able, &hour, of(300, 200), total(300)), (300, 200), "the end says only the sum");
    assert_eq!(written(&able, &hour, of(0, 0), of(300, 250)), (300, 250));
    assert_eq!(written(&sonnet(), &hour, of(300, 0), total(300)), (300, 0));
    assert_eq!(written(&able, &hour, of(300, 0), total(300)), (300, 0), "the vendor's word counts");
    assert_eq!(written(&able, &hour, total(300), total(400)), (400, 400), "without one, as it was asked");
    assert_eq!(written(&sonnet(), &hour, total(300), total(400)), (400, 0), "it was not asked");
}
