use agent::model::{Message, Stop};
use proptest::prelude::*;
use protocol::AssistantBlock;
use protocol::content::Usage;
use serde_json::{Value, json};

use crate::data::Thinking;
use crate::failure::Fault;
use crate::wire::testing::{
    assert_prefixes_are_stable, body, call, conversation, read, request, result, says, target, text,
};
use crate::wire::{Target, Wire};

const WIRE: Wire = Wire::OpenAiChat;

fn server(provider: &str) -> Target {
    target(provider, "qwen3-coder", Thinking::None)
}

fn own(provider: &str) -> Value {
    json!({"provider": provider, "model": "qwen3-coder"})
}

#[test]
fn the_prefix_of_a_request_stays_the_same_for_every_dialect() {
    for provider in ["openai", "mistral", "deepseek", "ollama", "somebody"] {
        assert_prefixes_are_stable(WIRE, &server(provider), &own(provider), "");
    }
}

#[test]
fn a_conversation_reads_as_servers_want_it() {
    let sent = body(WIRE, &server("ollama"), &request(conversation(&own("ollama"))));
    assert_eq!(sent["stream_options"], json!({"include_usage": true}));
    assert_eq!(sent["max_tokens"], json!(8000));
    assert_eq!(sent["tools"][0]["function"]["name"], json!("read_file"));
    let messages = sent["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
            "assistant",
            "tool",
            "assistant",
            "user",
            "assistant",
            "user"
        ]
    );
    assert_eq!(
        messages[2],
        json!({"role": "assistant", "reasoning": "where?", "content": "Looking.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"a.rs\"}"}},
            {"id": "call_2", "type": "function", "function": {"name": "read_file", "arguments": "{\"path\":\"b.rs\"}"}},
        ]})
    );
    assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "call_1", "content": "fn a() {}"}));
    assert_eq!(messages[6]["content"], Value::Null);
    assert_eq!(
        messages[9]["content"],
        json!([{"type": "text", "text": "thanks"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}])
    );
}

#[test]
fn what_the_user_says_in_a_row_is_one_message() {
    let sent = body(WIRE, &server("ollama"), &request(vec![says("one"), says("two")]));
    assert_eq!(sent["messages"][1], json!({"role": "user", "content": "one\n\ntwo"}));
}

#[test]
fn each_server_gets_its_dialect() {
    let sent = |provider: &str| body(WIRE, &server(provider), &request(conversation(&own(provider))));
    let openai = sent("openai");
    assert_eq!((&openai["max_completion_tokens"], openai.get("max_tokens")), (&json!(8000), None));
    assert_eq!(openai["prompt_cache_key"], json!("abc123"));
    assert!(!openai.to_string().contains("where?"), "no field for thinking");
    let mistral = sent("mistral");
    assert_eq!(mistral.get("stream_options"), None);
    let id = mistral["messages"][2]["tool_calls"][0]["id"].as_str().unwrap();
    assert_eq!((id.len(), &mistral["messages"][3]["tool_call_id"]), (9, &json!(id)));
    let devstral = target("ollama", "devstral:24b", Thinking::None);
    for sent in [&mistral, &body(WIRE, &devstral, &request(conversation(&Value::Null)))] {
        assert_eq!(sent["messages"][4]["content"], json!("\n\n<note>\nhurry\n</note>"), "the user after a tool");
        assert_eq!(sent["messages"][5]["role"], json!("assistant"));
    }
    assert_eq!(sent("deepseek")["messages"][2]["reasoning_content"], json!("where?"));
    let foreign = body(WIRE, &server("deepseek"), &request(conversation(&own("ollama"))));
    assert!(!foreign.to_string().contains("where?"), "thinking of another");
    assert_eq!(foreign["messages"][2]["reasoning_content"], json!(""), "it refuses calls without any");
    assert_eq!(foreign["messages"][5].get("reasoning_content"), None);
}

fn chunk(delta: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn counts() -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 60}}})
}

fn done() -> Value {
    json!("[DONE]")
}

fn called(delta: Value) -> Value {
    chunk(json!({ "tool_calls": [delta] }))
}

#[test]
fn an_answer_as_openai_sends_it_is_read() {
    let events = [
        chunk(json!({"role": "assistant", "content": "", "refusal": null})),
        chunk(json!({"content": "I \"look\""})),
        chunk(json!({"content": " now"})),
        called(
            json!({"index": 0, "id": "call_a", "type": "function", "function": {"name": "read_file", "arguments": ""}}),
        ),
        called(json!({"index": 0, "function": {"arguments": "{\"path\":"}})),
        called(json!({"index": 0, "function": {"arguments": "\"a\"}"}})),
        called(
            json!({"index": 1, "id": "call_b", "type": "function", "function": {"name": "shell_run", "arguments": "{}"}}),
        ),
        finish("tool_calls"),
        counts(),
        done(),
    ];
    let read = read(WIRE, &server("openai"), &events);
    assert_eq!(
        read.story(),
        ["I \"look\" now", "read_file#call_a", r##"#call_a {"path":"a"}"##, "shell_run#call_b", "#call_b {}"]
    );
    let response = read.outcome.unwrap();
    assert_eq!(
        (response.stop, response.usage),
        (Stop::ToolUse, Usage { input: 40, output: 7, cache_read: 60, cache_write: 0 })
    );
    assert_eq!(
        response.content,
        [
            text("I \"look\" now"),
            call("call_a", "read_file", json!({"path": "a"})),
            call("call_b", "shell_run", json!({}))
        ]
    );
}

#[test]
fn calls_without_ids_without_indexes_or_all_with_the_same_index_stay_apart() {
    let two = |first: Value, second: Value| {
        let read = read(WIRE, &server("ollama"), &[called(first), called(second), finish("stop"), done()]);
        let response = read.outcome.unwrap();
        assert_eq!(response.stop, Stop::ToolUse, "although the server said stop");
        let ids: Vec<_> = response
            .content
            .iter()
            .map(|block| match block {
                AssistantBlock::ToolCall { id, input, .. } => (id.to_string(), input["n"].clone()),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!((&ids[0].1, &ids[1].1), (&json!(1), &json!(2)));
        assert_ne!(ids[0].0, ids[1].0);
        assert_eq!(ids.len(), 2);
    };
    let f = |n: i32| json!({"name": "f", "arguments": format!("{{\"n\":{n}}}")});
    two(json!({"function": f(1)}), json!({"function": f(2)}));
    two(json!({"index": 0, "id": "a", "function": f(1)}), json!({"index": 0, "id": "b", "function": f(2)}));
    two(json!({"id": "a", "function": f(1)}), json!({"id": "b", "function": f(2)}));
    two(json!({"index": 0, "id": "", "function": f(1)}), json!({"index": 1, "function": f(2)}));
    two(
        json!({"function": {"name": "f", "arguments": {"n": 1}}}),
        json!({"function": {"name": "f", "arguments": {"n": 2}}}),
    );
}

#[test]
fn a_call_in_pieces_without_an_index_is_put_together() {
    let events = [
        called(json!({"id": "a", "function": {"name": "f", "arguments": "{\"n\""}})),
        called(json!({"function": {"arguments": ":1}"}})),
        called(json!({"id": "a", "function": {"arguments": " "}})),
        finish("tool_calls"),
    ];
    assert_eq!(read(WIRE, &server("x"), &events).outcome.unwrap().content, [call("a", "f", json!({"n": 1}))]);
}

#[test]
fn thinking_is_found_wherever_a_server_puts_it() {
    let parts =
        json!([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "yes"}]);
    for delta in [
        json!({"reasoning_content": "hm", "content": "yes"}),
        json!({"reasoning": "hm", "content": "yes"}),
        json!({"content": parts}),
    ] {
        let response = read(WIRE, &server("ollama"), &[chunk(delta), finish("stop"), done()]).outcome.unwrap();
        let thinking = AssistantBlock::Thinking { text: "hm".into(), vendor: Some(own("ollama")) };
        assert_eq!(response.content, [thinking, text("yes")]);
    }
}

#[test]
fn reasons_to_stop_are_told_apart_even_where_they_are_odd_or_missing() {
    let stop = |events: &[Value]| {
        let mut all = vec![chunk(json!({"content": "a"}))];
        all.extend_from_slice(events);
        read(WIRE, &server("x"), &all).outcome.unwrap().stop
    };
    assert_eq!(stop(&[finish("stop"), done()]), Stop::EndTurn);
    assert_eq!(stop(&[finish("eos"), done()]), Stop::EndTurn);
    assert_eq!(stop(&[done()]), Stop::EndTurn);
    assert_eq!(stop(&[finish("stop")]), Stop::EndTurn);
    assert_eq!(stop(&[finish("length"), done()]), Stop::MaxTokens);
    assert_eq!(stop(&[finish("content_filter"), done()]), Stop::Refusal);
    assert_eq!(stop(&[chunk(json!({"refusal": "no"})), finish("stop"), done()]), Stop::Refusal);
}

#[test]
fn an_answer_that_comes_at_once_is_read_too() {
    let whole = json!({"object": "chat.completion", "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Hi",
            "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]});
    let response = read(WIRE, &server("x"), &[whole]).outcome.unwrap();
    assert_eq!(response.content, [text("Hi"), call("a", "f", json!({}))]);
    assert_eq!(response.usage.output, 2);
}

#[test]
fn counts_are_found_wherever_a_server_puts_them() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4, "prompt_tokens_details": null});
    for counts in [
        json!({"choices": [], "usage": usage}),
        json!({"choices": [], "x_groq": {"usage": usage}}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop", "usage": usage}]}),
        json!({"choices": null, "usage": usage}),
    ] {
        let response = read(WIRE, &server("x"), &[chunk(json!({"content": "a"})), counts, done()]).outcome.unwrap();
        assert_eq!(response.usage, Usage { input: 6, output: 1, cache_read: 4, cache_write: 0 });
    }
    let none = read(WIRE, &server("x"), &[chunk(json!({"content": "a"})), finish("stop"), done()]).outcome.unwrap();
    assert_eq!(none.usage, Usage::default());
}

#[test]
fn a_stream_that_ends_early_is_incomplete() {
    let begun = called(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"n"}}));
    let cut = |events: &[Value]| read(WIRE, &server("x"), events).outcome.unwrap_err();
    assert_eq!(cut(&[begun]), Fault::Incomplete("it ended inside a tool call"));
    assert!(matches!(cut(&[chunk(json!({"content": "a"}))]), Fault::Incomplete(_)));
    assert!(matches!(cut(&[]), Fault::Incomplete(_)));
    assert!(matches!(cut(&[done()]), Fault::Incomplete(_)));
}

#[test]
fn an_error_within_the_stream_is_the_vendors_and_nonsense_is_garbage() {
    let code = |event: Value| match read(WIRE, &server("x"), &[event]).outcome.unwrap_err() {
        Fault::Vendor { code, message } => (code, message),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        code(json!({"error": {"code": 502, "message": "Provider returned error"}})),
        ("502".into(), "Provider returned error".into())
    );
    assert_eq!(code(json!({"error": "boom"})).1, "boom");
    assert_eq!(code(json!({"choices": [{"delta": {}, "error": {"message": "inner"}}]})).1, "inner");
    assert!(matches!(read(WIRE, &server("x"), &[json!("<html>")]).outcome, Err(Fault::Garbage(_))));
}

#[test]
fn messages_without_anything_to_say_are_left_out() {
    let thinking = AssistantBlock::Thinking { text: "hm".into(), vendor: None };
    let messages = vec![says("go"), Message::Assistant(vec![thinking]), Message::ToolResults(vec![result("a", "x")])];
    let sent = body(WIRE, &server("x"), &request(messages));
    assert_eq!(sent["messages"].as_array().unwrap().len(), 3);
}

proptest! {
    #[test]
    fn no_deltas_make_it_panic(deltas in prop::collection::vec(
        (prop::option::of(0usize..3), prop::option::of("[ab]{0,1}"), prop::option::of("[fg]{0,1}"), "[{}\"a]{0,3}"), 0..12,
    )) {
        let mut events: Vec<Value> = deltas.into_iter().map(|(index, id, name, arguments)| {
            called(json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}}))
        }).collect();
        events.push(finish("stop"));
        let response = read(WIRE, &server("x"), &events).outcome.unwrap();
        let is_call = |block: &AssistantBlock| matches!(block, AssistantBlock::ToolCall { .. });
        prop_assert!(response.content.iter().all(is_call));
    }
}

#[test]
fn calls_that_all_have_index_0_are_told_apart() {
    let piece =
        |index: Value, id: Value, function: Value| called(json!({"index": index, "id": id, "function": function}));
    let named = |name: &str, arguments: &str| json!({"name": name, "arguments": arguments});
    let rest = |arguments: &str| json!({"arguments": arguments});
    let two = [call("call_1", "f", json!({"n": "}"})), call("call_2", "g", json!({}))];
    let content = |pieces: Vec<Value>| {
        let mut events = pieces;
        events.push(finish("tool_calls"));
        read(WIRE, &server("x"), &events).outcome.unwrap().content
    };
    for (index, id) in [(json!(0), json!("")), (json!(0), Value::Null), (Value::Null, Value::Null)] {
        let piece = |function: Value| piece(index.clone(), id.clone(), function);
        assert_eq!(content(vec![piece(named("f", "{\"n\":\"}\"}")), piece(named("g", "{}"))]), two, "whole");
        assert_eq!(
            content(vec![
                piece(named("f", "{\"n\":")),
                piece(rest("\"}\"}")),
                piece(named("g", "")),
                piece(rest("{}"))
            ]),
            two,
            "in pieces"
        );
    }
    let bare = [piece(json!(0), Value::Null, json!({"name": "f"})), piece(json!(0), Value::Null, named("g", "{}"))];
    assert_eq!(content(bare.to_vec()), [call("call_1", "f", json!({})), call("call_2", "g", json!({}))]);
    let twins = content(vec![
        piece(json!(0), Value::Null, named("f", "")),
        piece(json!(0), Value::Null, rest("{}")),
        piece(json!(0), Value::Null, named("f", "")),
        piece(json!(0), Value::Null, rest("{\"n\":1}")),
    ]);
    assert_eq!(twins, [call("call_1", "f", json!({})), call("call_2", "f", json!({"n": 1}))]);
    let other_ids =
        content(vec![piece(json!(0), json!("a"), named("f", "{}")), piece(json!(0), json!("b"), named("f", "{}"))]);
    assert_eq!(other_ids, [call("a", "f", json!({})), call("b", "f", json!({}))]);
}

#[test]
fn a_call_whose_name_is_repeated_with_every_piece_stays_one() {
    let piece = |arguments: &str| called(json!({"index": 0, "function": {"name": "f", "arguments": arguments}}));
    let events = [piece("{\"n\""), piece(":1"), piece("}"), piece(""), finish("tool_calls")];
    assert_eq!(read(WIRE, &server("x"), &events).outcome.unwrap().content, [call("call_1", "f", json!({"n": 1}))]);
    let piece =
        |arguments: &str| called(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}));
    let events = [piece("{\"n\""), piece(":1}"), piece("\n"), finish("tool_calls")];
    assert_eq!(read(WIRE, &server("x"), &events).outcome.unwrap().content, [call("a", "f", json!({"n": 1}))]);
}

#[test]
fn odd_counts_never_fail_an_answer() {
    for (usage, output) in [
        (json!({"prompt_tokens": "12", "completion_tokens": 7.9, "prompt_tokens_details": []}), 7),
        (json!({"prompt_tokens": null, "completion_tokens": "7", "prompt_tokens_details": 3}), 7),
        (json!({"completion_tokens": {"n": 1}}), 0),
        (json!({"completion_tokens": -4}), 0),
        (json!("none"), 0),
        (json!([1]), 0),
    ] {
        let events = [chunk(json!({"content": "a"})), json!({"choices": [], "usage": usage}), done()];
        assert_eq!(read(WIRE, &server("x"), &events).outcome.unwrap().usage.output, output, "{usage}");
    }
}

#[test]
fn empty_fields_do_not_hide_the_thinking_beside_them() {
    let parts = json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}]);
    for delta in [json!({"reasoning_content": "", "reasoning": "hm", "content": "yes"}), json!({"content": parts})] {
        let read = read(WIRE, &server("x"), &[chunk(delta), finish("stop"), done()]);
        assert_eq!(read.story(), ["(hm)", "yes"]);
    }
}

#[test]
fn an_error_that_is_the_event_itself_is_the_vendors() {
    let event = json!({"object": "error", "message": "no such adapter", "type": "BadRequestError", "code": 400});
    let fault = read(WIRE, &server("x"), &[event, done()]).outcome.unwrap_err();
    assert!(matches!(&fault, Fault::Vendor { message, .. } if message == "no such adapter"), "{fault:?}");
}

#[test]
fn what_a_stream_used_before_it_broke_off_is_told() {
    let read = read(WIRE, &server("x"), &[chunk(json!({"content": "a"})), counts()]);
    assert!(read.outcome.is_err());
    assert_eq!(read.used(), Some(Usage { input: 40, output: 7, cache_read: 60, cache_write: 0 }));
}
