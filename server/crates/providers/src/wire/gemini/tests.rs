use ThinkingLevel::{High, Low, Medium, Minimal, Off, Xhigh};
use ports::model::{Message, Stop, ToolSpec, UserBlock};
use proptest::prelude::*;
use protocol::content::Usage;
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use serde_json::{Value, json};

use super::stream::text_mark;
use crate::data::Thinking;
use crate::failure::Fault;
use crate::wire::testing::{
    assert_prefixes_are_stable, body, call, conversation, read, request, result, says, target, text,
};
use crate::wire::{Decode, Pieces, Target, Wire};

const WIRE: Wire = Wire::Gemini;
const SKIP: &str = "skip_thought_signature_validator";

fn flash() -> Target {
    target("gemini", "gemini-3.8-flash", Thinking::Level)
}

/// An event with these parts.
fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}], "modelVersion": "gemini-3.8-flash"})
}

fn said(piece: &str) -> Value {
    parts(json!([{ "text": piece }]))
}

/// The last event.
fn ends(reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": reason, "index": 0}]})
}

fn answer(events: &[Value]) -> ports::model::Response {
    read(WIRE, &flash(), events).outcome.unwrap()
}

/// The parts of the model that go back after these events.
fn sent_back(events: &[Value], to: &Target) -> Vec<Value> {
    let content = answer(events).content;
    let results = content.iter().filter_map(|block| match block {
        AssistantBlock::ToolCall { id, .. } => Some(result(id.as_str(), "ok")),
        _ => None,
    });
    let results = Message::ToolResults(results.collect());
    let sent = body(WIRE, to, &request(vec![says("go"), Message::Assistant(content), results, says("on")]));
    sent["contents"][1]["parts"].as_array().unwrap().clone()
}

#[test]
fn the_prefix_of_a_request_stays_the_same() {
    let own = json!({"part": "thought", "signature": "c2ln", "provider": "gemini", "model": "gemini-3.8-flash"});
    for thinking in [Thinking::Level, Thinking::Budget, Thinking::Always, Thinking::None] {
        assert_prefixes_are_stable(WIRE, &Target { thinking, ..flash() }, &own, "");
    }
}

#[test]
fn a_conversation_reads_as_the_vendor_wants_it() {
    let foreign = json!({"signature": "c2ln", "provider": "anthropic", "model": "claude-sonnet-4-5"});
    let sent = body(WIRE, &flash(), &request(conversation(&foreign)));
    let fields: Vec<_> = sent.as_object().unwrap().keys().collect();
    assert_eq!(fields, ["generationConfig", "systemInstruction", "tools", "contents"], "the conversation is last");
    assert_eq!(sent["generationConfig"], json!({"maxOutputTokens": 8000, "thinkingConfig": {"includeThoughts": true}}));
    assert_eq!(sent["systemInstruction"], json!({"parts": [{"text": "Be brief."}]}));
    let declared = &sent["tools"][0]["functionDeclarations"][0];
    assert_eq!(declared["name"], "read_file");
    assert_eq!(declared["parametersJsonSchema"]["required"], json!(["path"]));
    assert_eq!(declared.get("parameters"), None, "they exclude each other");
    let contents = sent["contents"].as_array().unwrap();
    let roles: Vec<_> = contents.iter().map(|content| content["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "model", "user", "model", "user", "model", "user", "model", "user"]);
    assert_eq!(
        contents[1]["parts"],
        json!([
            {"text": "Looking."},
            {"functionCall": {"name": "read_file", "args": {"path": "a.rs"}}, "thoughtSignature": SKIP},
            {"functionCall": {"name": "read_file", "args": {"path": "b.rs"}}},
        ]),
        "the thinking of another is left out, and the first call of a step has a signature"
    );
    assert_eq!(
        contents[2]["parts"],
        json!([
            {"functionResponse": {"name": "read_file", "response": {"output": "fn a() {}"}}},
            {"functionResponse": {"name": "read_file", "response": {"output": ""}}},
            {"text": "<note>\nhurry\n</note>"},
        ])
    );
    assert_eq!(
        contents[4]["parts"],
        json!([{"functionResponse": {"name": "shell_run", "response": {"error": "exit 1"}}}])
    );
    assert_eq!(
        contents[6]["parts"],
        json!([{"text": "thanks"}, {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}])
    );
}

#[test]
fn what_is_empty_is_left_out() {
    let mut bare = request(vec![says("go"), Message::Assistant(vec![text(" ")]), says(" \n"), says("on")]);
    bare.system = " ".into();
    bare.tools = Vec::new().into();
    let sent = body(WIRE, &flash(), &bare);
    assert_eq!(sent["contents"], json!([{"role": "user", "parts": [{"text": "go"}, {"text": "on"}]}]));
    assert_eq!((sent.get("systemInstruction"), sent.get("tools")), (None, None));
}

#[test]
fn each_generation_is_asked_to_think_in_its_own_way() {
    let asked = |thinking: Thinking, wanted: Option<ThinkingLevel>, longest: u64| {
        let request =
            ports::model::Request { thinking: wanted, max_output_tokens: longest, ..request(vec![says("go")]) };
        let model = if thinking == Thinking::Always { "gemini-2.5-pro" } else { "gemini-3.8-flash" };
        let mut target = target("gemini", model, thinking);
        if thinking == Thinking::Level {
            target.levels = vec![Low, Medium, High];
        }
        body(WIRE, &target, &request)["generationConfig"]["thinkingConfig"].take()
    };
    for (level, name) in [(Off, "LOW"), (Low, "LOW"), (Medium, "MEDIUM"), (High, "HIGH")] {
        let expected = json!({"includeThoughts": true, "thinkingLevel": name});
        assert_eq!(asked(Thinking::Level, Some(level), 8_000), expected);
    }
    for none in [None, Some(Off)] {
        assert_eq!(asked(Thinking::Budget, none, 8_000), json!({"thinkingBudget": 0}));
        assert_eq!(asked(Thinking::Budget, none, 1_000), json!({"thinkingBudget": 0}));
    }
    assert_eq!(
        asked(Thinking::Budget, Some(Medium), 65_536),
        json!({"includeThoughts": true, "thinkingBudget": 10_000})
    );
    assert_eq!(asked(Thinking::Budget, Some(Medium), 8_000), json!({"includeThoughts": true, "thinkingBudget": 6_976}));
    assert_eq!(asked(Thinking::Budget, Some(Xhigh), 65_536)["thinkingBudget"], 24_576);
    assert_eq!(asked(Thinking::Budget, Some(Minimal), 100), json!({"thinkingBudget": 0}), "there is no room for it");
    assert_eq!(asked(Thinking::Always, None, 8_000), json!({"includeThoughts": true}));
    assert_eq!(asked(Thinking::Always, Some(Low), 8_000), json!({"includeThoughts": true, "thinkingBudget": 2_048}));
    assert_eq!(asked(Thinking::Always, Some(Off), 8_000)["thinkingBudget"], 512, "it cannot be kept from it");
    assert_eq!(asked(Thinking::None, Some(Low), 8_000), Value::Null);
    assert_eq!(asked(Thinking::Level, None, 8_000), json!({"includeThoughts": true}));
    assert_eq!(asked(Thinking::Level, None, 1_000)["thinkingLevel"], "LOW", "a short answer needs its room");
    assert_eq!(asked(Thinking::Always, None, 1_000)["thinkingBudget"], 512);
    assert_eq!(asked(Thinking::Always, None, 100), json!({"includeThoughts": true}), "less than that it does not take");
}

#[test]
fn a_model_that_is_only_guessed_to_think_gets_no_budget() {
    let request = ports::model::Request { thinking: Some(Minimal), ..request(vec![says("go")]) };
    let asked = |model: &str| {
        body(WIRE, &target("mine", model, Thinking::Always), &request)["generationConfig"]["thinkingConfig"].take()
    };
    assert_eq!(asked("google/gemma-4-31b-it"), json!({"includeThoughts": true}));
    assert_eq!(asked("a-gateways-name"), json!({"includeThoughts": true}));
    assert_eq!(asked("google/gemini-2.5-flash")["thinkingBudget"], 1_024);
}

#[test]
fn a_text_comes_in_pieces_and_its_signature_in_an_empty_part_at_the_end() {
    let last = parts(json!([{"text": "", "thoughtSignature": "EoYC/+w=="}]));
    let events = [said("It is "), said("fixed."), last, ends("STOP")];
    let read = read(WIRE, &flash(), &events);
    assert_eq!(read.story(), ["It is fixed."]);
    let response = read.outcome.unwrap();
    assert_eq!(response.stop, Stop::EndTurn);
    assert_eq!(response.content[0], text("It is fixed."));
    assert!(matches!(&response.content[1], AssistantBlock::Thinking { text, vendor: Some(_) } if text.is_empty()));
    assert_eq!(
        sent_back(&events, &flash()),
        [json!({"text": "It is fixed."}), json!({"text": "", "thoughtSignature": "EoYC/+w=="})]
    );
    let others = [
        target("mine", "gemini-3.8-flash", Thinking::Level),
        target("gemini", "gemini-4-argon", Thinking::Level),
        Target { host: "other.example".to_owned().into(), ..flash() },
    ];
    for other in others {
        assert_eq!(sent_back(&events, &other), [json!({"text": "It is fixed."})], "{other:?}");
    }
}

#[test]
fn every_part_with_a_signature_stays_what_it_is_and_where_it_is() {
    let signed = [
        json!({"thought": true, "text": "Hm.", "thoughtSignature": "dGhvdWdodA=="}),
        json!({"text": "A", "thoughtSignature": "YQ=="}),
        json!({"text": "B", "thoughtSignature": "Yg=="}),
        json!({"functionCall": {"id": "f1", "name": "read_file", "args": {"path": "a"}}, "thoughtSignature": "Y2FsbA=="}),
        json!({"text": "", "thoughtSignature": "ZW5k"}),
    ];
    let events = [
        parts(json!([{"thought": true, "text": "I "}, {"thought": true, "text": "see. "}])),
        parts(json!([signed[0], {"text": "So: "}])),
        parts(json!([signed[1], signed[2], {"text": "C"}])),
        parts(json!([signed[3]])),
        parts(json!([signed[4]])),
        ends("STOP"),
    ];
    let expected = [
        json!({"thought": true, "text": "I see. "}),
        signed[0].clone(),
        json!({"text": "So: "}),
        signed[1].clone(),
        signed[2].clone(),
        json!({"text": "C"}),
        signed[3].clone(),
        signed[4].clone(),
    ];
    assert_eq!(sent_back(&events, &flash()), expected);
    let read = read(WIRE, &flash(), &events);
    assert_eq!(read.story(), ["(I see. Hm.)", "So: ABC", "read_file#f1", r##"#f1 {"path":"a"}"##]);
    assert_eq!(read.outcome.unwrap().stop, Stop::ToolUse, "`STOP` with a call wants the tool called");
}

#[test]
fn a_thought_without_words_and_without_a_signature_is_dropped_also_out_of_an_old_log() {
    let events = [parts(json!([{"thought": true, "text": ""}])), said("Yes."), ends("STOP")];
    assert_eq!(answer(&events).content, [text("Yes.")]);
    let vendor = json!({"part": "thought", "provider": "gemini", "model": "gemini-3.8-flash"});
    let empty = AssistantBlock::Thinking { text: " ".into(), vendor: Some(vendor) };
    let sent =
        body(WIRE, &flash(), &request(vec![says("go"), Message::Assistant(vec![empty, text("Yes.")]), says("on")]));
    assert_eq!(sent["contents"][1]["parts"], json!([{"text": "Yes."}]));
}

#[test]
fn a_part_that_is_nothing_but_its_signature_is_kept() {
    let events = [said("Yes."), parts(json!([{"thoughtSignature": "ZW5k"}])), ends("STOP")];
    assert_eq!(sent_back(&events, &flash())[1], json!({"text": "", "thoughtSignature": "ZW5k"}));
}

#[test]
fn a_text_that_is_no_longer_the_one_that_was_signed_goes_without_the_signature() {
    let kept = |text: &str| {
        let vendor =
            json!({"signature": "YQ==", "of": text_mark("whole"), "provider": "gemini", "model": "gemini-3.8-flash"});
        let block = AssistantBlock::Text { text: text.into(), vendor: Some(vendor) };
        body(WIRE, &flash(), &request(vec![says("go"), Message::Assistant(vec![block]), says("on")]))["contents"][1]
            .take()
    };
    assert_eq!(kept("whole")["parts"], json!([{"text": "whole", "thoughtSignature": "YQ=="}]));
    assert_eq!(kept("half")["parts"], json!([{"text": "half"}]));
}

#[test]
fn of_parallel_calls_only_the_first_is_signed_and_each_step_has_its_own() {
    let step = |signature: &str, calls: &[&str]| {
        let calls: Vec<_> =
            calls.iter().map(|path| json!({"functionCall": {"name": "read_file", "args": {"path": path}}})).collect();
        let mut calls = json!(calls);
        calls[0]["thoughtSignature"] = json!(signature);
        answer(&[parts(calls), ends("STOP")]).content
    };
    let (mut first, second) = (step("Zmlyc3Q=", &["a", "b"]), step("c2Vjb25k", &["c"]));
    // The session gives a call another id if it has one with this.
    for block in &mut first {
        let AssistantBlock::ToolCall { id, .. } = block else { panic!() };
        *id = ToolCallId::new(format!("turn-{id}"));
    }
    let messages = vec![
        says("go"),
        Message::Assistant(first),
        Message::ToolResults(vec![result("turn-call_1", "A"), result("turn-call_2", "B")]),
        Message::Assistant(second),
        Message::ToolResults(vec![result("call_1", "C")]),
    ];
    let sent = body(WIRE, &flash(), &request(messages));
    let signatures = |at: usize| -> Vec<Value> {
        sent["contents"][at]["parts"].as_array().unwrap().iter().map(|part| part["thoughtSignature"].clone()).collect()
    };
    assert_eq!(signatures(1), [json!("Zmlyc3Q="), Value::Null]);
    assert_eq!(signatures(3), [json!("c2Vjb25k")]);
    assert_eq!(
        sent["contents"][2]["parts"][1],
        json!({"functionResponse": {"name": "read_file", "response": {"output": "B"}}}),
        "no id came, so none goes back"
    );
}

#[test]
fn an_id_goes_back_with_call_and_result_if_the_model_gave_it() {
    let called = json!({"functionCall": {"id": "fc/7", "name": "read_file", "args": {}}, "thoughtSignature": "YQ=="});
    let content = answer(&[parts(json!([called])), ends("STOP")]).content;
    let AssistantBlock::ToolCall { id, .. } = &content[0] else { panic!() };
    assert_eq!(id.as_str(), "fc/7");
    let results = Message::ToolResults(vec![ToolResult { is_error: true, ..result("fc/7", "no") }]);
    let messages = vec![says("go"), Message::Assistant(content), results];
    let sent = |to: &Target| body(WIRE, to, &request(messages.clone()))["contents"].take();
    let own = sent(&flash());
    assert_eq!(own[1]["parts"][0], called);
    assert_eq!(
        own[2]["parts"][0],
        json!({"functionResponse": {"id": "fc/7", "name": "read_file", "response": {"error": "no"}}})
    );
    let other = sent(&target("gemini", "gemini-4-argon", Thinking::Level));
    assert_eq!(
        other[1]["parts"][0],
        json!({"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": SKIP}),
        "another model knows neither its id nor its signature"
    );
    assert_eq!(other[2]["parts"][0]["functionResponse"].get("id"), None);
}

#[test]
fn a_model_that_looks_for_no_signature_gets_none() {
    let calls = vec![
        says("go"),
        Message::Assistant(vec![call("c", "read_file", json!("no object"))]),
        Message::ToolResults(vec![result("c", "")]),
    ];
    let first_part = |model: &str, thinking: Thinking| {
        body(WIRE, &target("gemini", model, thinking), &request(calls.clone()))["contents"][1]["parts"].take()
    };
    let bare = json!([{"functionCall": {"name": "read_file", "args": {}}}]);
    for (model, thinking) in [
        ("gemini-2.5-flash", Thinking::Budget),
        ("gemini-2.5-pro", Thinking::Always),
        ("gemini-2.0-flash", Thinking::None),
        ("gemma-4-31b-it", Thinking::None),
        ("google/gemini-2.5-flash", Thinking::Always),
        ("google/gemma-4-31b-it", Thinking::Always),
    ] {
        assert_eq!(first_part(model, thinking), bare, "{model}");
    }
    for (model, thinking) in [
        ("gemini-3.8-flash", Thinking::Level),
        ("a-gateways-name", Thinking::None),
        ("google/gemini-3.8-flash", Thinking::Always),
    ] {
        assert_eq!(first_part(model, thinking)[0]["thoughtSignature"], SKIP, "{model}");
    }
}

#[test]
fn a_tool_whose_name_does_not_fit_is_called_by_another_and_known_again() {
    let name = "1 größe/of it";
    let mut request = request(vec![
        says("go"),
        Message::Assistant(vec![call("c", name, json!({}))]),
        Message::ToolResults(vec![result("c", "7")]),
    ]);
    let tool = ToolSpec { name: name.into(), description: String::new(), input_schema: json!({"type": "object"}) };
    request.tools = vec![tool].into();
    let sent = body(WIRE, &flash(), &request);
    let made = sent["tools"][0]["functionDeclarations"][0]["name"].as_str().unwrap();
    assert!(made.starts_with("_1_gr") && made.is_ascii(), "{made}");
    assert_eq!(sent["contents"][1]["parts"][0]["functionCall"]["name"], made);
    assert_eq!(sent["contents"][2]["parts"][0]["functionResponse"]["name"], made);
    let mut decoder = WIRE.decoder(&flash(), &request);
    let mut pieces = Pieces::default();
    let event = parts(json!([{"functionCall": {"name": made, "args": {}}}]));
    decoder.event(event.to_string().as_bytes(), &mut pieces).unwrap();
    let Some(ports::model::ModelEvent::ToolCallStarted { name: called, .. }) = pieces.take() else { panic!() };
    assert_eq!(called, name);
}

#[test]
fn calls_come_whole_with_and_without_ids_and_inputs() {
    let events = [
        parts(
            json!([{"functionCall": {"name": "read_file", "args": {"path": "a", "lines": [1, 2]}}, "thoughtSignature": "YQ=="},
            {"functionCall": {"name": "shell_run"}}, {"functionCall": {"id": "x", "name": "shell_run", "args": null}}]),
        ),
        ends("STOP"),
    ];
    let read = read(WIRE, &flash(), &events);
    let story = [
        "read_file#call_1",
        r##"#call_1 {"path":"a","lines":[1,2]}"##,
        "shell_run#call_2",
        "#call_2 {}",
        "shell_run#x",
        "#x {}",
    ];
    assert_eq!(read.story(), story);
    let inputs: Vec<_> = read
        .outcome
        .unwrap()
        .content
        .into_iter()
        .map(|block| match block {
            AssistantBlock::ToolCall { input, .. } => input,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(inputs, [json!({"path": "a", "lines": [1, 2]}), json!({}), json!({})]);
}

#[test]
fn an_answer_of_calls_without_end_and_counts_without_sense_harm_nothing() {
    let called = json!({"functionCall": {"name": "read_file", "args": {}}});
    let outcome =
        |calls: usize| read(WIRE, &flash(), &[parts(vec![called.clone(); calls].into()), ends("STOP")]).outcome;
    let content = outcome(1_000).unwrap().content;
    assert!(matches!(&content[999], AssistantBlock::ToolCall { id, .. } if id.as_str() == "call_1000"));
    assert!(matches!(outcome(1_001), Err(Fault::Unusable(words)) if words.contains("1000 tool calls")));
    let counts = json!({"candidatesTokenCount": u64::MAX, "thoughtsTokenCount": 1});
    let response = answer(&[said("Hi."), json!({"usageMetadata": counts}), ends("STOP")]);
    assert_eq!(response.usage.output, u64::MAX);
}

#[test]
fn what_the_cache_served_is_in_the_prompts_count_and_thinking_is_output_too() {
    let counts = |counts: Value| json!({"candidates": [], "usageMetadata": counts});
    let mut last = ends("STOP");
    last["usageMetadata"] = json!({"promptTokenCount": 1000, "cachedContentTokenCount": 900,
        "candidatesTokenCount": 20, "thoughtsTokenCount": 30, "totalTokenCount": 1050});
    let events = [
        counts(json!({"promptTokenCount": 1000, "cachedContentTokenCount": 900})),
        said("Hi."),
        last,
        counts(json!({"candidatesTokenCount": 21})),
    ];
    let read = read(WIRE, &flash(), &events);
    let usage = Usage { input: 100, output: 51, cache_read: 900, cache_write: 0, cache_write_hour: 0 };
    assert_eq!(read.used(), Some(usage));
    assert_eq!(read.outcome.unwrap().usage, usage, "what comes after the reason to end counts too");
    assert!(matches!(read.events[0], ports::model::ModelEvent::Used(Usage { input: 100, output: 0, .. })));
}

#[test]
fn every_reason_to_end_says_what_happened() {
    let ended = |reason: &str| {
        let mut last = ends(reason);
        last["candidates"][0]["finishMessage"] = json!("So it is.");
        read(WIRE, &flash(), &[said("Hi."), last]).outcome
    };
    assert_eq!((ended("STOP").unwrap().stop, ended("FUNCTION_CALL").unwrap().stop), (Stop::EndTurn, Stop::EndTurn));
    assert_eq!((ended("MAX_TOKENS").unwrap().stop, ended("MAX_TOKENS").unwrap().why), (Stop::MaxTokens, None));
    assert_eq!(ended("CONTINUATION").unwrap().stop, Stop::MaxTokens);
    for (reason, words) in [
        ("SAFETY", "safety filter"),
        ("RECITATION", "may not repeat"),
        ("LANGUAGE", "language"),
        ("BLOCKLIST", "blocklist"),
        ("PROHIBITED_CONTENT", "prohibited"),
        ("SPII", "personal data"),
        ("IMAGE_SAFETY", "image"),
        ("NO_IMAGE", "image"),
        ("OTHER", "does not say why"),
        ("NEW_REASON", "NEW_REASON"),
    ] {
        let response = ended(reason).unwrap();
        let why = response.why.unwrap();
        assert_eq!(response.stop, Stop::Refusal, "{reason} is not a whole answer");
        assert!(why.contains(words) && why.contains(reason) && why.ends_with("So it is."), "{why}");
    }
    for reason in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"] {
        let Err(Fault::Vendor(words)) = ended(reason) else { panic!("{reason}") };
        assert_eq!((words.code.as_str(), words.written.as_str()), (reason, "So it is."));
    }
    for reason in ["MALFORMED_RESPONSE", "TOO_MANY_TOOL_CALLS"] {
        assert!(matches!(ended(reason), Err(Fault::Unusable(words)) if words.contains(reason)), "{reason}");
    }
    assert!(matches!(ended("FINISH_REASON_UNSPECIFIED"), Err(Fault::Incomplete(_))));
}

#[test]
fn a_request_that_is_blocked_says_why() {
    let events = [json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "No."},
        "usageMetadata": {"promptTokenCount": 7}})];
    let response = answer(&events);
    assert_eq!((response.stop, response.content.len(), response.usage.input), (Stop::Refusal, 0, 7));
    let why = response.why.unwrap();
    assert!(why.contains("the request was blocked") && why.contains("prohibited") && why.contains("No."), "{why}");
}

#[test]
fn of_several_reasons_to_end_the_last_counts_and_one_that_is_not_named_is_none() {
    let unnamed = json!({"promptFeedback": {"blockReason": "BLOCKED_REASON_UNSPECIFIED"}});
    let response = answer(&[unnamed.clone(), said("Hi."), ends("STOP"), ends("MAX_TOKENS"), ends("")]);
    assert_eq!((response.stop, response.why), (Stop::MaxTokens, None));
    let response = answer(&[said("Hi."), ends("SAFETY"), ends("STOP")]);
    assert_eq!(response.stop, Stop::Refusal, "an ordinary end takes nothing back");
    assert!(matches!(read(WIRE, &flash(), &[unnamed]).outcome, Err(Fault::Incomplete(_))));
}

#[test]
fn an_answer_without_an_end_or_without_anything_in_it_is_none() {
    let outcome = |events: &[Value]| read(WIRE, &flash(), events).outcome;
    assert!(matches!(outcome(&[said("Hi.")]), Err(Fault::Incomplete(_))));
    assert!(matches!(outcome(&[]), Err(Fault::Incomplete(_))));
    assert!(matches!(outcome(&[ends("STOP")]), Err(Fault::Unusable(_))));
    let thought = parts(json!([{"thought": true, "text": "Hm."}, {"text": "", "thoughtSignature": "YQ=="}]));
    assert!(matches!(outcome(&[thought.clone(), ends("STOP")]), Err(Fault::Unusable(_))));
    assert_eq!(outcome(&[thought, ends("MAX_TOKENS")]).unwrap().stop, Stop::MaxTokens);
    assert!(matches!(outcome(&[json!("<html>")]), Err(Fault::Garbage(_))));
}

#[test]
fn an_error_within_the_stream_is_the_vendors() {
    let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    for event in [error.clone(), json!([said("Hi."), error])] {
        let Err(Fault::Vendor(words)) = read(WIRE, &flash(), &[event]).outcome else { panic!() };
        assert_eq!((words.code.as_str(), words.message.as_str()), ("503 UNAVAILABLE", "The model is overloaded."));
    }
}

#[test]
fn an_answer_that_comes_at_once_is_read_too() {
    let call = parts(json!([{"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": "YQ=="}]));
    let read = read(WIRE, &flash(), &[json!([said("Hi."), call, ends("STOP")])]);
    assert_eq!(read.story(), ["Hi.", "read_file#call_1", "#call_1 {}"]);
    assert_eq!(read.outcome.unwrap().stop, Stop::ToolUse);
}

#[test]
fn fields_that_are_not_known_and_other_candidates_are_read_over() {
    let events = [
        json!({"candidates": [
            {"index": 0, "content": {"parts": [{"text": "Hi."}, {"executableCode": {"code": "1"}}, {"inlineData": {}}]},
                "safetyRatings": [], "groundingMetadata": {}},
            {"index": 1, "content": {"parts": [{"text": "No."}]}, "finishReason": "SAFETY"}], "responseId": "x"}),
        json!({"candidates": [{"finishReason": "STOP", "content": null}]}),
    ];
    assert_eq!(answer(&events).content, [text("Hi.")]);
}

#[test]
fn images_of_the_user_stand_where_they_were() {
    let image = UserBlock::Image { mime_type: "image/jpeg".into(), data: "/9j/".into() };
    let sent = body(WIRE, &flash(), &request(vec![Message::User(vec![image, UserBlock::Text("what is it?".into())])]));
    let inline = json!({"inlineData": {"mimeType": "image/jpeg", "data": "/9j/"}});
    assert_eq!(sent["contents"][0]["parts"], json!([inline, {"text": "what is it?"}]));
}

/// A part as the model may send it.
fn any_part() -> impl Strategy<Value = Value> {
    let signature = prop::option::of("[A-Za-z0-9+/]{4}");
    let kind = prop_oneof![
        ("[a-z \n]{0,6}", any::<bool>()).prop_map(|(text, thought)| {
            if thought { json!({"thought": true, "text": text}) } else { json!({ "text": text }) }
        }),
        ("[a-z]{1,6}", prop::option::of("[a-z]{1,4}"), "[a-z]{0,6}").prop_map(|(name, id, path)| {
            let mut called = json!({"name": name, "args": {"path": path}});
            if let Some(id) = id {
                called["id"] = json!(id);
            }
            json!({ "functionCall": called })
        }),
    ];
    (kind, signature).prop_map(|(mut part, signature)| {
        if let Some(signature) = signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    })
}

proptest! {
    /// In any order and in any events: each part with a signature goes back unchanged, and to no other model; and of
    /// the rest no letter is lost.
    #[test]
    fn what_is_signed_goes_back_unchanged(sent in prop::collection::vec(any_part(), 0..12), at_once in 1_usize..4) {
        let mut events: Vec<_> = sent.chunks(at_once).map(|some| parts(json!(some))).collect();
        events.push(said("."));
        events.push(ends("STOP"));
        let back = sent_back(&events, &Target { thinking: Thinking::Budget, ..flash() });
        let signed = |parts: &[Value]| -> Vec<Value> {
            parts.iter().filter(|part| part.get("thoughtSignature").is_some()).cloned().collect()
        };
        prop_assert_eq!(signed(&back), signed(&sent));
        let words = |parts: &[Value]| -> String { parts.iter().filter_map(|part| part["text"].as_str()).collect() };
        let plain = |parts: &[Value]| words(parts).replace([' ', '\n'], "");
        prop_assert_eq!(plain(&back), plain(&sent) + ".");
        let other = sent_back(&events, &Target { model: "other".into(), thinking: Thinking::Budget, ..flash() });
        prop_assert!(signed(&other).is_empty());
        prop_assert!(other.iter().all(|part| part.get("thought").is_none()));
    }

    #[test]
    fn nonsense_is_a_fault_and_no_panic(data in ".{0,60}", cut in 0_usize..200) {
        let mut pieces = Pieces::default();
        let mut decoder = super::Decoder::new(&flash(), &[]);
        let _ = decoder.event(data.as_bytes(), &mut pieces);
        let event = parts(json!([{"functionCall": {"name": "read_file", "args": {"path": "a"}}}])).to_string();
        let _ = decoder.event(event.as_bytes().get(..cut).unwrap_or(event.as_bytes()), &mut pieces);
        let _ = decoder.end(&mut pieces);
    }

    /// Equal requests give equal bytes, and each begins with the one before.
    #[test]
    fn a_conversation_only_grows(rounds in prop::collection::vec(prop::collection::vec(any_part(), 0..4), 1..6)) {
        let mut messages = vec![says("go")];
        let mut before = String::new();
        for (round, parts_of) in rounds.iter().enumerate() {
            let sent = String::from_utf8(WIRE.body(&flash(), &request(messages.clone())).unwrap()).unwrap();
            prop_assert_eq!(&sent.clone().into_bytes(), &WIRE.body(&flash(), &request(messages.clone())).unwrap());
            prop_assert!(sent.starts_with(before.trim_end_matches(['}', ']', '"'])), "{}\n{}", before, sent);
            before = sent;
            let mut content = answer(&[parts(json!(parts_of)), said("."), ends("STOP")]).content;
            let mut results = Vec::new();
            for (at, block) in content.iter_mut().enumerate() {
                if let AssistantBlock::ToolCall { id, .. } = block {
                    *id = ToolCallId::new(format!("{round}-{at}"));
                    results.push(result(id.as_str(), "ok"));
                }
            }
            messages.push(Message::Assistant(content));
            messages.push(if results.is_empty() { says("on") } else { Message::ToolResults(results) });
        }
    }
}
