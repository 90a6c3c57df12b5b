use ports::model::{Message, Request, Stop, UserBlock};
use proptest::prelude::*;
use protocol::AssistantBlock;
use protocol::content::Usage;
use protocol::model::ThinkingLevel::{Medium, Off, Xhigh};
use serde_json::{Value, json};

use crate::compat::{AskThinking, CallContent, MaxTokensField};
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

/// Returns the fields of thinking that came from a provider.
fn own(provider: &str) -> Value {
    let field = if provider == "deepseek" { "reasoning_content" } else { "reasoning" };
    json!({"provider": provider, "model": "qwen3-coder", "field": field})
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
fn an_image_right_after_a_tool_has_a_word_of_the_models_before_it_where_a_server_wants_one() {
    let image = || Message::User(vec![UserBlock::Image { mime_type: "image/png".into(), data: "iVBO".into() }]);
    let messages = vec![
        says("go"),
        image(),
        Message::Assistant(vec![call("a", "read_file", json!({}))]),
        Message::ToolResults(vec![result("a", "ok")]),
        image(),
        says("this one"),
    ];
    let roles = |provider: &str| -> Vec<String> {
        let sent = body(WIRE, &server(provider), &request(messages.clone()));
        let roles =
            sent["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap().to_owned());
        roles.collect()
    };
    assert_eq!(roles("mistral"), ["system", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(roles("openai"), ["system", "user", "user", "assistant", "tool", "user", "user"]);
}

#[test]
fn each_server_gets_its_dialect() {
    let sent = |provider: &str| body(WIRE, &server(provider), &request(conversation(&own(provider))));
    let openai = sent("openai");
    assert_eq!((&openai["max_completion_tokens"], openai.get("max_tokens")), (&json!(8000), None));
    assert_eq!(openai["prompt_cache_key"], json!("abc123"));
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
    let said = foreign["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    let thinking: Vec<_> = said.map(|message| message["reasoning_content"].clone()).collect();
    assert_eq!(thinking, [" "; 4], "it refuses calls without any, and takes nothing for none");
    let before = json!({"provider": "deepseek", "model": "qwen3-coder"});
    let old = body(WIRE, &server("deepseek"), &request(conversation(&before)));
    assert_eq!(old["messages"][2]["reasoning_content"], json!("where?"), "a log from before the field was kept");
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
        (Stop::ToolUse, Usage { input: 40, output: 7, cache_read: 60, cache_write: 0, cache_write_hour: 0 })
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
        let [AssistantBlock::Thinking { text: thinking, .. }, said] = &response.content[..] else {
            panic!("{response:?}")
        };
        assert_eq!((thinking.as_str(), said), ("hm", &text("yes")));
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
        assert_eq!(response.usage, Usage { input: 6, output: 1, cache_read: 4, cache_write: 0, cache_write_hour: 0 });
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
        Fault::Vendor(words) => (words.code, words.message),
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
fn a_call_that_gemini_could_not_read_is_an_error_and_a_filtered_answer_says_so() {
    let events = [chunk(json!({"content": "I"})), finish("function_call_filter: MALFORMED_FUNCTION_CALL")];
    let fault = read(WIRE, &server("x"), &events).outcome.unwrap_err();
    assert!(matches!(&fault, Fault::Vendor(words) if words.code.contains("malformed_function_call")), "{fault:?}");
    let response =
        read(WIRE, &server("x"), &[chunk(json!({"content": "I"})), finish("content_filter")]).outcome.unwrap();
    assert_eq!((response.stop, response.why.unwrap().contains("filter")), (Stop::Refusal, true));
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
    assert!(matches!(&fault, Fault::Vendor(words) if words.message == "no such adapter"), "{fault:?}");
}

#[test]
fn what_a_stream_used_before_it_broke_off_is_told() {
    let read = read(WIRE, &server("x"), &[chunk(json!({"content": "a"})), counts()]);
    assert!(read.outcome.is_err());
    assert_eq!(read.used(), Some(Usage { input: 40, output: 7, cache_read: 60, cache_write: 0, cache_write_hour: 0 }));
}

/// Returns a model's answer as it is sent back to a model, after the tools it called.
fn sent_back(from: &Target, events: &[Value], to: &Target) -> Vec<Value> {
    let content = read(WIRE, from, events).outcome.unwrap().content;
    let results = content.iter().filter_map(|block| match block {
        AssistantBlock::ToolCall { id, .. } => Some(result(id.as_str(), "done")),
        AssistantBlock::Text { .. } | AssistantBlock::Thinking { .. } => None,
    });
    let results = Message::ToolResults(results.collect());
    let sent = body(WIRE, to, &request(vec![says("go"), Message::Assistant(content), results, says("on")]));
    sent["messages"].as_array().unwrap()[2..].to_vec()
}

#[test]
fn what_a_server_puts_to_a_call_or_a_text_goes_back_with_it_and_to_no_other_model() {
    let signature = json!({"google": {"thought_signature": "EoYC/+w=="}});
    let events = [
        chunk(json!({"content": "I look."})),
        chunk(json!({"content": "", "extra_content": {"google": {"thought_signature": "text=="}}})),
        called(json!({"index": 0, "id": "call_a", "type": "function", "extra_content": signature,
            "function": {"name": "read_file", "arguments": "{}"}})),
        called(
            json!({"index": 1, "id": "call_b", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}),
        ),
        finish("tool_calls"),
    ];
    let gemini = target("mine", "gemini-4-argon", Thinking::None);
    let messages = sent_back(&gemini, &events, &gemini);
    assert_eq!(messages[0]["tool_calls"][0]["extra_content"], signature);
    assert_eq!(messages[0]["tool_calls"][1].get("extra_content"), None, "only what came");
    assert_eq!(messages[0]["extra_content"], json!({"google": {"thought_signature": "text=="}}));
    for other in [target("mine", "qwen3-coder", Thinking::None), target("theirs", "gemini-4-argon", Thinking::None)] {
        assert!(!json!(sent_back(&gemini, &events, &other)).to_string().contains("google"), "{other:?}");
    }
}

#[test]
fn thinking_goes_back_in_the_field_in_which_it_came_whatever_the_provider_is_called() {
    for field in ["reasoning_content", "reasoning"] {
        let events = [
            chunk(json!({ field: "Where" })),
            chunk(json!({ field: "?" })),
            called(json!({"index": 0, "id": "call_a", "function": {"name": "read_file", "arguments": "{}"}})),
            finish("tool_calls"),
        ];
        for provider in ["mine", "openrouter", "ollama"] {
            let own = sent_back(&server(provider), &events, &server(provider));
            assert_eq!(own[0][field], json!("Where?"), "{provider}");
            assert!(!json!(sent_back(&server(provider), &events, &server("theirs"))).to_string().contains("Where"));
        }
    }
    let parts = json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Where?"}]}]});
    let events = [chunk(parts), chunk(json!({"content": "There."})), finish("stop")];
    assert_eq!(
        sent_back(&server("mine"), &events, &server("mine"))[0],
        json!({"role": "assistant", "content": "There."}),
        "nobody asks for thinking that came within the content"
    );
}

#[test]
fn details_of_reasoning_that_come_in_pieces_go_back_whole_and_in_their_order() {
    let text = |text: &str| json!({"type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0, "id": null});
    let encrypted = json!({"type": "reasoning.encrypted", "data": "b64==", "id": "rs_1", "format": "openai-responses-v1", "index": 1});
    let summary = |text: &str| json!({"type": "reasoning.summary", "summary": text, "index": 2});
    let events = [
        chunk(json!({"reasoning": "Wh", "reasoning_details": [text("Wh")]})),
        chunk(json!({"reasoning": "ere?", "reasoning_details": [text("ere?")]})),
        chunk(json!({"reasoning_details": [{"type": "reasoning.text", "signature": "c2ln", "index": 0}]})),
        chunk(json!({"reasoning_details": [encrypted]})),
        chunk(json!({"reasoning_details": [summary("In "), summary("short")]})),
        called(json!({"index": 0, "id": "call_a", "function": {"name": "read_file", "arguments": "{}"}})),
        finish("tool_calls"),
    ];
    let sent = sent_back(&server("mine"), &events, &server("mine"));
    assert_eq!(
        sent[0]["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "Where?", "format": "anthropic-claude-v1", "index": 0, "id": null,
                "signature": "c2ln"},
            encrypted,
            {"type": "reasoning.summary", "summary": "In short", "index": 2},
        ])
    );
    assert_eq!(sent[0].get("reasoning"), None, "the details say it already");
    let shown = read(WIRE, &server("mine"), &events).story();
    assert_eq!(shown[0], "(Where?In short)", "what stands only in the details is shown too");
}

#[test]
fn an_id_of_the_servers_own_making_stays_as_it_is() {
    let events = [
        called(
            json!({"index": 0, "id": "functions.read_file:0", "function": {"name": "read_file", "arguments": "{}"}}),
        ),
        finish("tool_calls"),
    ];
    let own = sent_back(&server("mine"), &events, &server("mine"));
    assert_eq!(own[0]["tool_calls"][0]["id"], json!("functions.read_file:0"));
    assert_eq!(own[1]["tool_call_id"], json!("functions.read_file:0"));
    let other = sent_back(&server("mine"), &events, &server("theirs"));
    assert!(!json!(other).to_string().contains("functions.read_file:0"));
    assert_eq!(other[0]["tool_calls"][0]["id"], other[1]["tool_call_id"]);
}

#[test]
fn calls_of_others_get_what_gemini_wants_of_its_own() {
    let others = [
        called(json!({"index": 0, "id": "call_a", "function": {"name": "read_file", "arguments": "{}"}})),
        called(json!({"index": 1, "id": "call_b", "function": {"name": "read_file", "arguments": "{}"}})),
        finish("tool_calls"),
    ];
    let sent = sent_back(&server("mine"), &others, &server("gemini"));
    let skip = json!({"google": {"thought_signature": "skip_thought_signature_validator"}});
    assert_eq!(sent[0]["tool_calls"][0]["extra_content"], skip);
    assert_eq!(sent[0]["tool_calls"][1].get("extra_content"), None, "the first of a step is looked at");
}

#[test]
fn thinking_is_asked_for_in_the_servers_own_way_and_refused_where_it_is_a_choice() {
    let body = |ask, thinking, level| {
        let mut target = target("plain", "m", thinking);
        target.compat.thinking = Some(ask);
        target.level = level;
        let mut body = body(WIRE, &target, &request(vec![says("Hi.")]));
        let fields = ["reasoning_effort", "reasoning", "thinking", "enable_thinking", "chat_template_kwargs"];
        let taken =
            fields.map(|field| body.as_object_mut().unwrap().remove(field).map(|value| json!({ field: value })));
        taken.into_iter().flatten().next().unwrap_or_default()
    };
    for (ask, on, off) in [
        (AskThinking::None, Value::Null, Value::Null),
        (AskThinking::ReasoningEffort, json!({ "reasoning_effort": "medium" }), Value::Null),
        (
            AskThinking::Reasoning,
            json!({ "reasoning": { "effort": "medium" } }),
            json!({ "reasoning": { "effort": "none" } }),
        ),
        (
            AskThinking::ReasoningEnabled,
            json!({ "reasoning": { "enabled": true } }),
            json!({ "reasoning": { "enabled": false } }),
        ),
        (
            AskThinking::ThinkingType,
            json!({ "thinking": { "type": "enabled" } }),
            json!({ "thinking": { "type": "disabled" } }),
        ),
        (AskThinking::EnableThinking, json!({ "enable_thinking": true }), json!({ "enable_thinking": false })),
        (
            AskThinking::ChatTemplateKwargs,
            json!({ "chat_template_kwargs": { "enable_thinking": true } }),
            json!({ "chat_template_kwargs": { "enable_thinking": false } }),
        ),
    ] {
        for thinking in [Thinking::Budget, Thinking::Adaptive] {
            assert_eq!(body(ask, thinking, Some(Medium)), on, "{ask:?}");
            assert_eq!(body(ask, thinking, None), off, "{ask:?}");
            assert_eq!(body(ask, thinking, Some(Off)), off, "{ask:?}");
        }
        for thinking in [Thinking::Effort, Thinking::Always] {
            assert_eq!(body(ask, thinking, Some(Medium)), on, "{ask:?}");
            assert_eq!(body(ask, thinking, None), Value::Null, "{ask:?}: it thinks as it likes");
        }
        assert_eq!(body(ask, Thinking::None, Some(Medium)), Value::Null, "{ask:?}");
    }
}

#[test]
fn flags_of_the_users_own_change_what_is_sent() {
    let mut server = target("openai", "m", Thinking::None);
    let body = |target: &Target| body(WIRE, target, &request(vec![says("Hi.")]));
    let usual = body(&server);
    assert_eq!((&usual["max_completion_tokens"], &usual["messages"][0]["role"]), (&json!(8000), &json!("system")));
    server.compat.max_tokens_field = Some(MaxTokensField::MaxTokens);
    server.compat.developer_role = Some(true);
    server.compat.stream_options = Some(false);
    let other = body(&server);
    assert_eq!((&other["max_tokens"], &other["messages"][0]["role"]), (&json!(8000), &json!("developer")));
    assert!(other["stream_options"].is_null() && other["max_completion_tokens"].is_null(), "{other}");
}

#[test]
fn a_server_is_told_to_keep_nothing_only_if_it_knows_that() {
    let store = |name: &str, own: Option<bool>| {
        let mut server = target(name, "m", Thinking::None);
        server.compat.store = own.or(server.compat.store);
        body(WIRE, &server, &request(vec![says("Hi.")])).get("store").cloned()
    };
    let openai = crate::vendors::of_address("https://api.openai.com").store;
    assert_eq!(store("openai", openai), Some(json!(false)));
    assert_eq!(store("openai", None), None, "others that speak like it may refuse the field");
    assert_eq!(store("plain", None), None);
    assert_eq!(store("plain", Some(true)), Some(json!(false)));
}

#[test]
fn an_answer_that_only_calls_tools_has_the_content_that_the_server_takes() {
    let said = |blocks: Vec<AssistantBlock>, own: Option<CallContent>| {
        let mut server = target("plain", "m", Thinking::None);
        server.compat.call_content = own;
        let messages = vec![says("go"), Message::Assistant(blocks), Message::ToolResults(vec![result("c", "ok")])];
        body(WIRE, &server, &request(messages))["messages"][2].get("content").cloned()
    };
    for (own, content) in [
        (None, Some(Value::Null)),
        (Some(CallContent::Null), Some(Value::Null)),
        (Some(CallContent::Empty), Some(json!(""))),
        (Some(CallContent::LeftOut), None),
    ] {
        let call = || call("c", "read_file", json!({}));
        assert_eq!(said(vec![call()], own), content, "{own:?}");
        assert_eq!(said(vec![text("I look."), call()], own), Some(json!("I look.")), "{own:?}: a text stays as it is");
    }
}

#[test]
fn levels_of_thinking_go_by_the_names_that_the_server_has_for_them() {
    let asked = |ask, level| {
        let mut server = target("plain", "m", Thinking::Effort);
        let names = [(Off, "disabled"), (Xhigh, "max")].map(|(level, name)| (level, name.to_owned()));
        (server.compat.thinking, server.compat.efforts) = (Some(ask), Some(names.into()));
        server.level = Some(level);
        body(WIRE, &server, &request(vec![says("Hi.")]))
    };
    for (level, name) in [(Off, "disabled"), (Medium, "medium"), (Xhigh, "max")] {
        assert_eq!(asked(AskThinking::ReasoningEffort, level)["reasoning_effort"], name);
        assert_eq!(asked(AskThinking::Reasoning, level)["reasoning"]["effort"], name);
    }
}

#[test]
fn opencode_is_told_over_every_wire_which_requests_belong_together() {
    let asked = Request { cache_key: "a-session".to_owned(), ..request(vec![says("Hi.")]) };
    let told = |wire: Wire, server: &Target| {
        let headers = wire.headers(server, &asked);
        headers.into_iter().find(|(name, _)| *name == "x-opencode-session").map(|(_, value)| value.into_owned())
    };
    let plain = target("plain", "m", Thinking::None);
    let opencode =
        Target { compat: crate::vendors::of_address("https://opencode.ai/inference/openai/v1"), ..plain.clone() };
    for wire in [WIRE, Wire::OpenAiResponses, Wire::Anthropic, Wire::Gemini] {
        assert_eq!(told(wire, &opencode).as_deref(), Some("a-session"), "{wire:?}");
        assert_eq!(told(wire, &plain), None, "{wire:?}");
    }
}
