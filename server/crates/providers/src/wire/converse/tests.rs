use ThinkingLevel::{High, Low, Max, Minimal, Off};
use ports::model::{Message, ModelErrorKind, Request, Response, Stop, ToolSpec, UserBlock};
use ports::tool_names;
use proptest::prelude::*;
use protocol::content::Usage;
use protocol::model::ThinkingLevel;
use protocol::{AssistantBlock, ToolResult};
use serde_json::{Value, json};

use crate::Settings;
use crate::compat::Compat;
use crate::data::Thinking;
use crate::failure::Fault;
use crate::wire::testing::{
    HOST, assert_prefixes_are_stable, body, call, conversation, read, request, result, says, target, text,
};
use crate::wire::{Family, Target, Wire};

const MARK: &str = r#",{"cachePoint":{"type":"default"}}"#;

fn model(id: &str, thinking: Thinking) -> Target {
    target("bedrock", id, thinking)
}

fn nova() -> Target {
    model("us.amazon.nova-pro-v1:0", Thinking::None)
}

fn claude() -> Target {
    model("global.anthropic.claude-sonnet-4-5-20250929-v1:0", Thinking::Budget)
}

fn kimi() -> Target {
    model("global.moonshotai.kimi-k3.1", Thinking::Always)
}

fn own(target: &Target, fields: Value) -> Value {
    target.tag(fields.as_object().unwrap().clone())
}

fn sent(target: &Target, request: &Request) -> Value {
    body(Wire::Converse, target, request)
}

#[test]
fn the_prefix_of_a_request_stays_the_same_but_for_the_cache_marks() {
    for target in [claude(), nova(), kimi(), model("meta.llama4-scout-17b-instruct-v1:0", Thinking::None)] {
        assert_prefixes_are_stable(Wire::Converse, &target, &own(&target, json!({ "signature": "c2ln" })), MARK);
    }
}

#[test]
fn a_conversation_reads_as_the_vendor_wants_it() {
    let sent = sent(&claude(), &request(conversation(&own(&claude(), json!({ "signature": "c2ln" })))));
    assert_eq!(sent["inferenceConfig"], json!({ "maxTokens": 8000 }));
    assert_eq!(sent["system"][0], json!({ "text": "Be brief." }));
    assert_eq!(sent["toolConfig"]["tools"][0]["toolSpec"]["name"], json!("read_file"));
    assert_eq!(sent["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]["required"], json!(["path"]));
    let messages = sent["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|turn| turn["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user", "assistant", "user", "assistant", "user"]);
    let signed = |text: &str| json!({ "reasoningContent": { "reasoningText": { "text": text, "signature": "c2ln" } } });
    let called = |id: &str, name: &str, path: &str| json!({ "toolUse": { "toolUseId": id, "name": name, "input": { "path": path } } });
    let result = |id: &str, text: &str| json!({ "toolResult": { "toolUseId": id, "content": [{ "text": text }] } });
    assert_eq!(
        messages[1]["content"],
        json!([
            signed("where?"),
            { "text": "Looking." },
            called("call_1", "read_file", "a.rs"),
            called("call_2", "read_file", "b.rs"),
        ])
    );
    assert_eq!(
        messages[2]["content"],
        json!([result("call_1", "fn a() {}"), result("call_2", "(empty)"), { "text": "<note>\nhurry\n</note>" }])
    );
    assert_eq!(messages[4]["content"][0]["toolResult"]["status"], json!("error"));
    assert_eq!(messages[6]["content"][1], json!({ "image": { "format": "png", "source": { "bytes": "iVBO" } } }));
}

#[test]
fn marks_for_the_cache_stand_only_where_the_model_takes_them() {
    let marks = |id: &str| {
        let sent = sent(&model(id, Thinking::None), &request(conversation(&Value::Null)));
        let count = |part: &Value| part.to_string().matches(r#"{"cachePoint":{"type":"default"}}"#).count();
        [count(&sent["system"]), count(&sent["toolConfig"]), count(&sent["messages"])]
    };
    assert_eq!(marks("us.anthropic.claude-opus-5-5"), [1, 1, 2]);
    assert_eq!(marks("amazon.nova-lite-v1:0"), [1, 0, 2]);
    for id in ["mistral.devstral-2-123b", "meta.llama3-3-70b-instruct-v1:0", "qwen.qwen3-coder-next", "my-profile"] {
        assert_eq!(marks(id), [0, 0, 0], "{id}");
    }
}

#[test]
fn each_makers_models_get_ids_names_and_results_as_they_take_them() {
    let name = "web-search.page";
    let failed = ToolResult { is_error: true, ..result("call|fc_0a:1", " ") };
    let asked = |id: &str| {
        let mut request = request(vec![
            says("go"),
            Message::Assistant(vec![call("call|fc_0a:1", name, json!("no object"))]),
            Message::ToolResults(vec![failed.clone()]),
        ]);
        request.tools = vec![ToolSpec { name: name.into(), description: " ".into(), input_schema: json!({}) }].into();
        let sent = sent(&model(id, Thinking::None), &request);
        let (used, answered) =
            (&sent["messages"][1]["content"][0]["toolUse"], &sent["messages"][2]["content"][0]["toolResult"]);
        let spec = &sent["toolConfig"]["tools"][0]["toolSpec"];
        assert_eq!((&used["toolUseId"], &used["name"]), (&answered["toolUseId"], &spec["name"]), "{id}");
        assert_eq!((spec.get("description"), &used["input"]), (None, &json!({})), "{id}");
        assert_eq!(answered["content"], json!([{ "text": "The call failed." }]), "{id}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&used["toolUseId"]), text(&used["name"]), answered.get("status").is_some())
    };
    let (id, name, has_status) = asked("amazon.nova-pro-v1:0");
    assert!(id.starts_with("call_") && has_status);
    assert!(name.starts_with("web_search_page_") && !name.contains('-'), "{name}");
    let (id, name, has_status) = asked("us.mistral.pixtral-large-2502-v1:0");
    assert!(id.len() == 9 && name.starts_with("web-search_page_") && !has_status);
    assert!(asked("us.anthropic.claude-opus-5-5").2, "a failure has a field of its own");
    assert!(!asked("meta.llama3-3-70b-instruct-v1:0").2, "which others refuse");
}

#[test]
fn thoughts_go_back_as_they_came_and_to_their_model_alone() {
    let thoughts = |target: &Target, vendor: &Value| {
        let sent = sent(target, &request(conversation(vendor)));
        sent["messages"][1]["content"][0].get("reasoningContent").cloned()
    };
    let text = |signature: Option<&str>| {
        let mut text = json!({ "reasoningText": { "text": "where?" } });
        if let Some(signature) = signature {
            text["reasoningText"]["signature"] = json!(signature);
        }
        Some(text)
    };
    let (signature, unsigned) = (json!({ "signature": "EqQB+/==" }), json!({}));
    assert_eq!(thoughts(&claude(), &own(&claude(), signature.clone())), text(Some("EqQB+/==")));
    assert_eq!(thoughts(&claude(), &own(&claude(), unsigned.clone())), None, "it takes only what it has signed");
    assert_eq!(thoughts(&kimi(), &own(&kimi(), unsigned.clone())), text(None));
    let r1 = model("us.deepseek.r1-v1:0", Thinking::Always);
    assert_eq!(thoughts(&r1, &own(&r1, unsigned)), None, "it takes none");
    let hidden = own(&claude(), json!({ "redacted": "AAEC" }));
    assert_eq!(thoughts(&claude(), &hidden), Some(json!({ "redactedContent": "AAEC" })));
    for foreign in [Value::Null, own(&kimi(), signature), json!({ "signature": "c2ln", "provider": "anthropic" })] {
        assert_eq!(thoughts(&claude(), &foreign), None, "{foreign}");
    }
}

#[test]
fn a_message_that_is_nothing_but_thinking_is_left_out() {
    let thought = AssistantBlock::Thinking { text: "hm".into(), vendor: Some(own(&kimi(), json!({}))) };
    let messages = vec![says("go"), Message::Assistant(vec![thought.clone()]), says("and?")];
    let sent_alone = sent(&kimi(), &request(messages));
    assert_eq!(sent_alone["messages"], json!([{ "role": "user", "content": [{ "text": "go" }, { "text": "and?" }] }]));
    let messages = vec![says("go"), Message::Assistant(vec![text("Yes."), thought]), says("and?")];
    assert_eq!(sent(&kimi(), &request(messages))["messages"][1]["content"], json!([{ "text": "Yes." }]));
}

#[test]
fn thinking_is_asked_for_in_the_words_of_each_maker() {
    let asked = |target: &Target, level: Option<ThinkingLevel>| {
        let mut request = request(vec![says("go")]);
        request.thinking = level;
        let mut sent = sent(target, &request);
        (sent["additionalModelRequestFields"].take(), sent["inferenceConfig"]["maxTokens"].is_number())
    };
    let nothing = (Value::Null, true);
    let budget = json!({ "thinking": { "type": "enabled", "budget_tokens": 2048 } });
    assert_eq!(asked(&claude(), Some(Low)), (budget, true));
    assert_eq!(asked(&claude(), Some(Off)), nothing);

    let opus = Target { bound: true, ..model("us.anthropic.claude-opus-5-5", Thinking::Always) };
    let (fields, _) = asked(&opus, Some(Max));
    assert_eq!(fields["thinking"]["block_binding"], json!({ "prefix_mismatch_behavior": "drop_block" }));
    assert_eq!(fields["output_config"], json!({ "effort": "max" }));
    assert_eq!(fields["anthropic_beta"], json!(["thinking-binding-controls-2026-08-01"]));
    let careful = Target { compat: Compat { betas: Some(false), ..Compat::default() }, ..opus };
    assert_eq!(asked(&careful, None), (json!({ "thinking": { "type": "adaptive", "display": "summarized" } }), true));

    let nova = model("us.amazon.nova-2-lite-v1:0", Thinking::Effort);
    let enabled = |effort: &str| json!({ "reasoningConfig": { "type": "enabled", "maxReasoningEffort": effort } });
    assert_eq!(asked(&nova, None), nothing);
    assert_eq!(asked(&nova, Some(Off)), nothing);
    assert_eq!(asked(&nova, Some(Low)), (enabled("low"), true));
    assert_eq!(asked(&nova, Some(High)), (enabled("high"), false), "it refuses a limit then");
    assert_eq!(asked(&model("us.amazon.nova-pro-v1:0", Thinking::None), Some(High)), nothing);

    let gpt = model("us.openai.gpt-6.1-sol", Thinking::Effort);
    assert_eq!(asked(&gpt, Some(Max)), (json!({ "reasoning": { "effort": "max" } }), true));
    assert_eq!(asked(&gpt, Some(Off)), (json!({ "reasoning": { "effort": "none" } }), true));
    let oss = model("openai.gpt-oss-120b-1:0", Thinking::Effort);
    assert_eq!(asked(&oss, Some(Minimal)), (json!({ "reasoning_effort": "low" }), true));
    assert_eq!(asked(&kimi(), Some(High)), nothing, "it is not known how to ask it");
}

#[test]
fn a_round_that_another_model_began_goes_on_without_thinking() {
    let mut messages = vec![
        says("go"),
        Message::Assistant(vec![call("a", "read_file", json!({}))]),
        Message::ToolResults(vec![result("a", "ok")]),
    ];
    let thinks = |messages: &[Message]| {
        let mut asked = request(messages.to_vec());
        asked.thinking = Some(Low);
        sent(&claude(), &asked).get("additionalModelRequestFields").is_some()
    };
    assert!(!thinks(&messages));
    messages.extend([Message::Assistant(vec![text("Done.")]), says("and now?")]);
    assert!(thinks(&messages));
}

#[test]
fn thinking_that_came_after_what_was_changed_stays_away() {
    let target = Target { bound: true, ..model("us.anthropic.claude-opus-5-5", Thinking::Always) };
    let mut asked = request(vec![says("one")]);
    let answer = |asked: &Request| {
        let mut decoder = Wire::Converse.decoder(&target, asked);
        let mut pieces = crate::wire::Pieces::default();
        for event in whole() {
            decoder.event(event.to_string().as_bytes(), &mut pieces).unwrap();
        }
        let finished = std::iter::from_fn(|| pieces.take()).last().unwrap();
        let ports::model::ModelEvent::Finished(response) = finished else { panic!("{finished:?}") };
        Message::Assistant(response.content)
    };
    let said = answer(&asked);
    asked.messages.extend([said, Message::ToolResults(vec![result("tooluse_1", "ok")])].map(std::sync::Arc::new));
    let signatures = |asked: &Request| sent(&target, asked).to_string().matches("\"signature\":").count();
    assert_eq!(signatures(&asked), 1);
    asked.messages[0] = std::sync::Arc::new(says("two"));
    assert_eq!(signatures(&asked), 0);
}

#[test]
fn calls_of_a_conversation_are_declared_even_where_no_tools_are_given() {
    let mut asked = request(conversation(&Value::Null));
    asked.tools = [].into();
    let sent_calls = sent(&nova(), &asked);
    let names: Vec<_> =
        sent_calls["toolConfig"]["tools"].as_array().unwrap().iter().map(|it| &it["toolSpec"]["name"]).collect();
    assert_eq!(names, ["read_file", "shell_run"]);
    let mut plain = request(vec![says("go")]);
    plain.tools = [].into();
    assert_eq!(sent(&nova(), &plain).get("toolConfig"), None);
}

#[test]
fn a_request_goes_to_the_path_of_its_model_at_any_base() {
    let url = |base: &str, model: &str| {
        let mut settings = Settings::default();
        settings.set_provider("mine", Some(base.into()), None, Some("converse"), vec![]).unwrap();
        settings.provider_mut("mine").unwrap().request_url(Wire::Converse, model).unwrap().to_string()
    };
    for (base, model, expected) in [
        (
            "https://b.example",
            "us.amazon.nova-pro-v1:0",
            "https://b.example/model/us.amazon.nova-pro-v1%3A0/converse-stream",
        ),
        (
            "https://b.example/team/",
            "mistral.devstral-2-123b",
            "https://b.example/team/model/mistral.devstral-2-123b/converse-stream",
        ),
        (
            "https://b.example",
            "arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/a1?b",
            "https://b.example/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A111122223333%3Aapplication-inference-profile%2Fa1%3Fb/converse-stream",
        ),
    ] {
        assert_eq!(url(base, model), expected);
    }
}

#[test]
fn a_family_is_known_by_any_name_of_a_model_the_surest_first() {
    let arn = "arn:aws:bedrock:eu-west-1:111122223333:application-inference-profile/a1b2c3";
    for (names, expected) in [
        (&["global.anthropic.claude-opus-5-5"][..], Family::Claude),
        (&["anthropic/claude-opus-5-5", arn, "team"], Family::Claude),
        (&[arn, "team-claude"], Family::Claude),
        (&["bedrock/us.amazon.nova-pro-v1:0", arn, "meta.llama4"], Family::Nova),
        (&["arn:aws:bedrock:us-east-1:1:inference-profile/us.meta.llama3-3-70b-instruct-v1:0"], Family::Llama),
        (&["meta-llama/llama-3.3-70b-instruct", arn], Family::Llama),
        (&[arn, "mistral.devstral-2-123b"], Family::Mistral),
        (&["us.deepseek.r1-v1:0"], Family::R1),
        (&["deepseek.v3-v1:0"], Family::Other),
        (&["openai.gpt-oss-120b-1:0"], Family::GptOss),
        (&["openai/gpt-6.1-sol", arn], Family::Gpt),
        (&["us.writer.palmyra-x5-v1:0"], Family::Palmyra),
        (&[arn, "my-profile"], Family::Other),
    ] {
        assert_eq!(Family::of(names.iter().copied()), expected, "{names:?}");
    }
}

#[test]
fn a_model_behind_a_profile_is_asked_as_the_model_that_it_equals() {
    let profile = Target { family: claude().family, ..model("arn:aws:bedrock:profile/a1", Thinking::Budget) };
    let mut asked = request(conversation(&Value::Null));
    asked.thinking = Some(Low);
    let told = sent(&profile, &asked);
    assert_eq!(told["additionalModelRequestFields"]["thinking"]["budget_tokens"], json!(2048));
    assert_eq!(told["messages"][4]["content"][0]["toolResult"]["status"], json!("error"));
}

#[test]
fn nova_gets_no_mark_in_a_message_with_a_result_or_an_image() {
    let picture = UserBlock::Image { mime_type: "image/png".into(), data: "iVBO".into() };
    let round = [
        says("go"),
        Message::Assistant(vec![call("a", "read_file", json!({}))]),
        Message::ToolResults(vec![result("a", "ok")]),
        Message::Assistant(vec![text("Done.")]),
        Message::User(vec![UserBlock::Text("Look.".into()), picture]),
    ];
    let marked = |target: &Target, count: usize| -> Vec<bool> {
        let sent = sent(target, &request(round[..count].to_vec()));
        let has_mark =
            |turn: &Value| turn["content"].as_array().unwrap().iter().any(|it| it.get("cachePoint").is_some());
        sent["messages"].as_array().unwrap().iter().filter(|turn| turn["role"] == "user").map(has_mark).collect()
    };
    assert_eq!((marked(&nova(), 1), marked(&claude(), 1)), (vec![true], vec![true]));
    assert_eq!((marked(&nova(), 3), marked(&claude(), 3)), (vec![true, false], vec![true, true]));
    assert_eq!((marked(&nova(), 5), marked(&claude(), 5)), (vec![true, false, false], vec![false, true, true]));
}

#[test]
fn llama_gets_no_text_beside_calls_and_results() {
    let llama = model("us.meta.llama4-scout-17b-instruct-v1:0", Thinking::None);
    let picture = || UserBlock::Image { mime_type: "image/png".into(), data: "iVBO".into() };
    let sent = sent(
        &llama,
        &request(vec![
            says("go"),
            Message::Assistant(vec![
                text("Looking."),
                call("a", "read_file", json!({})),
                call("b", "read_file", json!({})),
            ]),
            Message::ToolResults(vec![result("a", "ok"), result("b", "fine")]),
            says("hurry"),
            Message::User(vec![UserBlock::Text("see".into()), picture(), UserBlock::Text("this".into())]),
            Message::Assistant(vec![text("Done.")]),
            says("thanks"),
        ]),
    );
    let called = |id: &str| json!({ "toolUse": { "toolUseId": id, "name": "read_file", "input": {} } });
    let result = |id: &str, text: &str| json!({ "toolResult": { "toolUseId": id, "content": [{ "text": text }] } });
    let image = json!({ "image": { "format": "png", "source": { "bytes": "iVBO" } } });
    assert_eq!(
        sent["messages"],
        json!([
            { "role": "user", "content": [{ "text": "go" }] },
            { "role": "assistant", "content": [called("a"), called("b")] },
            { "role": "user", "content": [result("a", "ok"), result("b", "fine\n\nhurry\n\nsee")] },
            { "role": "assistant", "content": [{ "text": "Go on." }] },
            { "role": "user", "content": [image, { "text": "this" }] },
            { "role": "assistant", "content": [{ "text": "Done." }] },
            { "role": "user", "content": [{ "text": "thanks" }] },
        ])
    );
}

#[test]
fn the_longest_answer_is_said_only_where_it_is_known_or_short() {
    let asked = request(vec![says("go")]);
    assert_eq!(sent(&kimi(), &asked)["inferenceConfig"], json!({ "maxTokens": 8000 }));
    let unknown = Target { has_limit: false, ..kimi() };
    assert_eq!(sent(&unknown, &asked).get("inferenceConfig"), None);
    let short = Request { max_output_tokens: 64, ..asked };
    assert_eq!(sent(&unknown, &short)["inferenceConfig"], json!({ "maxTokens": 64 }), "every model can do that");
}

fn start(index: u64, tool: Value) -> Value {
    json!({ "contentBlockStart": { "contentBlockIndex": index, "start": { "toolUse": tool } } })
}

fn delta(index: u64, delta: Value) -> Value {
    json!({ "contentBlockDelta": { "contentBlockIndex": index, "delta": delta, "p": "abcdefgh" } })
}

fn stop(index: u64) -> Value {
    json!({ "contentBlockStop": { "contentBlockIndex": index } })
}

fn ending(reason: &str) -> [Value; 2] {
    let usage = json!({ "inputTokens": 12, "outputTokens": 89, "totalTokens": 4401, "cacheReadInputTokens": 4000,
        "cacheWriteInputTokens": 300, "cacheDetails": [{ "ttl": "5m", "inputTokens": 300 }] });
    let metadata = json!({ "metadata": { "usage": usage, "metrics": { "latencyMs": 7 } } });
    [json!({ "messageStop": { "stopReason": reason } }), metadata]
}

fn opening() -> Value {
    json!({ "messageStart": { "role": "assistant" } })
}

/// An answer with thinking, text and a call.
fn whole() -> Vec<Value> {
    let thought = |fields: Value| json!({ "reasoningContent": fields });
    let mut events = vec![
        opening(),
        delta(0, thought(json!({ "text": "Let me" }))),
        delta(0, thought(json!({ "text": " see" }))),
        delta(0, thought(json!({ "signature": "EqQB" }))),
        delta(0, thought(json!({ "signature": "Cg==" }))),
        stop(0),
        delta(1, thought(json!({ "redactedContent": "AA==" }))),
        delta(1, thought(json!({ "redactedContent": "AQI=" }))),
        stop(1),
        delta(2, json!({ "text": "I \"look\"" })),
        delta(2, json!({ "text": "\n" })),
        stop(2),
        start(3, json!({ "toolUseId": "tooluse_1", "name": "read_file" })),
        delta(3, json!({ "toolUse": { "input": "" } })),
        delta(3, json!({ "toolUse": { "input": "{\"path\": \"a" } })),
        delta(3, json!({ "toolUse": { "input": ".rs\"}" } })),
        stop(3),
    ];
    events.extend(ending("tool_use"));
    events
}

fn content(target: &Target) -> [AssistantBlock; 4] {
    let thinking =
        |text: &str, fields: Value| AssistantBlock::Thinking { text: text.into(), vendor: Some(own(target, fields)) };
    [
        thinking("Let me see", json!({ "signature": "EqQBCg==" })),
        thinking("", json!({ "redacted": "AAEC" })),
        text("I \"look\"\n"),
        call("tooluse_1", "read_file", json!({ "path": "a.rs" })),
    ]
}

#[test]
fn an_answer_is_read_with_its_thinking_calls_and_counts() {
    let read = read(Wire::Converse, &claude(), &whole());
    assert_eq!(
        read.story(),
        ["(Let me see)", "I \"look\"\n", "read_file#tooluse_1", r##"#tooluse_1 {"path": "a.rs"}"##]
    );
    let Response { content: read, stop, usage, .. } = read.outcome.unwrap();
    assert_eq!(
        (stop, usage),
        (Stop::ToolUse, Usage { input: 12, output: 89, cache_read: 4000, cache_write: 300, cache_write_hour: 0 })
    );
    assert_eq!(read, content(&claude()));
    let tag = json!({ "provider": "bedrock", "host": crate::wire::hashed(HOST), "model": claude().model });
    assert_eq!(own(&claude(), json!({})), tag, "the thoughts are tagged with whose they are");
    let messages = vec![says("go"), Message::Assistant(read), Message::ToolResults(vec![result("tooluse_1", "ok")])];
    assert_eq!(
        sent(&claude(), &request(messages))["messages"][1]["content"],
        json!([
            { "reasoningContent": { "reasoningText": { "text": "Let me see", "signature": "EqQBCg==" } } },
            { "reasoningContent": { "redactedContent": "AAEC" } },
            { "text": "I \"look\"\n" },
            { "toolUse": { "toolUseId": "tooluse_1", "name": "read_file", "input": { "path": "a.rs" } } },
        ])
    );
}

#[test]
fn an_answer_that_comes_at_once_is_the_same() {
    let [_, metadata] = ending("tool_use");
    let answer = json!({
        "metrics": { "latencyMs": 7 },
        "output": { "message": { "role": "assistant", "content": [
            { "reasoningContent": { "reasoningText": { "text": "Let me see", "signature": "EqQBCg==" } } },
            { "reasoningContent": { "redactedContent": "AAEC" } },
            { "text": "I \"look\"\n" },
            { "toolUse": { "toolUseId": "tooluse_1", "name": "read_file", "input": { "path": "a.rs" } } },
        ] } },
        "stopReason": "tool_use",
        "usage": metadata["metadata"]["usage"],
    });
    let read = read(Wire::Converse, &claude(), &[answer]);
    assert_eq!(
        read.story(),
        ["(Let me see)", "I \"look\"\n", "read_file#tooluse_1", r##"#tooluse_1 {"path":"a.rs"}"##]
    );
    let Response { content: read, stop, usage, .. } = read.outcome.unwrap();
    assert_eq!((stop, usage.cache_read), (Stop::ToolUse, 4000));
    assert_eq!(read, content(&claude()));
}

#[test]
fn a_tools_own_name_is_found_again_in_the_call() {
    let mut asked = request(vec![says("go")]);
    asked.tools = vec![ToolSpec { name: "web-search".into(), description: "s".into(), input_schema: json!({}) }].into();
    let declared = sent(&nova(), &asked)["toolConfig"]["tools"][0]["toolSpec"]["name"].clone();
    let mut decoder = Wire::Converse.decoder(&nova(), &asked);
    let mut pieces = crate::wire::Pieces::default();
    let mut events = vec![opening(), start(0, json!({ "toolUseId": "t", "name": declared })), stop(0)];
    events.extend(ending("tool_use"));
    events.iter().for_each(|event| decoder.event(event.to_string().as_bytes(), &mut pieces).unwrap());
    let told = std::iter::from_fn(|| pieces.take()).map(|event| format!("{event:?}")).collect::<String>();
    assert!(told.contains("web-search") && !told.contains(declared.as_str().unwrap()), "{told}");
}

#[test]
fn an_input_that_is_empty_is_an_object_and_one_that_is_no_json_is_kept_as_text() {
    let input = |pieces: &[&str]| {
        let mut events = vec![opening(), start(0, json!({ "toolUseId": "t", "name": tool_names::READ_FILE }))];
        events.extend(pieces.iter().map(|json| delta(0, json!({ "toolUse": { "input": json } }))));
        events.push(stop(0));
        // Not every maker's model says that it waits for its tools.
        events.extend(ending("end_turn"));
        let response = read(Wire::Converse, &nova(), &events).outcome.unwrap();
        assert_eq!(response.stop, Stop::ToolUse);
        match &response.content[0] {
            AssistantBlock::ToolCall { input, .. } => input.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(input(&[]), json!({}));
    assert_eq!(input(&["{\"path\": ", "oops"]), json!("{\"path\": oops"));
}

#[test]
fn blocks_that_come_without_their_index_are_not_lost() {
    let call_of = |id: &str| start(0, json!({ "toolUseId": id, "name": tool_names::READ_FILE }));
    let input = |json: &str| delta(0, json!({ "toolUse": { "input": json } }));
    let mut events = vec![
        opening(),
        delta(0, json!({ "reasoningContent": { "text": "Hm." } })),
        delta(0, json!({ "text": "I look." })),
        call_of("a"),
        input("{\"path\":\"a\"}"),
        stop(0),
        call_of("b"),
        input("{\"path\":"),
        input("\"b\"}"),
        stop(0),
    ];
    events.extend(ending("tool_use"));
    let response = read(Wire::Converse, &nova(), &events).outcome.unwrap();
    let path = |id: &str| call(id, tool_names::READ_FILE, json!({ "path": id }));
    assert_eq!(response.content[1..], [text("I look."), path("a"), path("b")]);
    let endless: Vec<_> = std::iter::repeat_n(call_of("c"), 1_001).collect();
    assert!(matches!(read(Wire::Converse, &nova(), &endless).outcome, Err(Fault::Unusable(_))));
}

#[test]
fn what_was_not_asked_for_is_read_over() {
    let mut events = vec![
        opening(),
        json!({ "contentBlockStart": { "contentBlockIndex": 0, "start": { "image": { "format": "png" } } } }),
        delta(0, json!({ "image": { "source": { "bytes": "iVBO" } } })),
        start(1, json!({ "toolUseId": "s", "name": "nova_grounding", "type": "server_tool_use" })),
        delta(1, json!({ "toolUse": { "input": "{}" } })),
        json!({ "somethingNew": {} }),
        delta(2, json!({ "text": "Hi." })),
        delta(2, json!({ "citation": { "title": "t" } })),
    ];
    events.extend(ending("end_turn"));
    let response = read(Wire::Converse, &nova(), &events).outcome.unwrap();
    assert_eq!((response.content, response.stop), (vec![text("Hi.")], Stop::EndTurn));
}

#[test]
fn a_stream_that_ends_early_is_incomplete_wherever_it_ends() {
    let events = whole();
    let reason_at = events.len() - 2;
    for count in 0..=reason_at {
        let outcome = read(Wire::Converse, &claude(), &events[..count]).outcome;
        assert!(matches!(outcome, Err(Fault::Incomplete(_))), "after {count} events: {outcome:?}");
    }
    let inside = read(Wire::Converse, &claude(), &events[..15]).outcome;
    assert_eq!(inside, Err(Fault::Incomplete("it ended inside a tool call")));
    let told = read(Wire::Converse, &claude(), &events[..=reason_at]).outcome;
    assert!(told.is_ok(), "the reason to stop says it is whole");
    let twice = read(Wire::Converse, &claude(), &[opening(), opening()]).outcome;
    assert!(matches!(twice, Err(Fault::Garbage(_))), "{twice:?}");
}

#[test]
fn reasons_to_stop_are_told_apart() {
    let outcome = |reason: &str| {
        let mut events = vec![opening(), delta(0, json!({ "text": "Hi." }))];
        events.extend(ending(reason));
        read(Wire::Converse, &nova(), &events).outcome
    };
    for (reason, expected, why) in [
        ("end_turn", Stop::EndTurn, ""),
        ("stop_sequence", Stop::EndTurn, ""),
        ("tool_use", Stop::ToolUse, ""),
        ("max_tokens", Stop::MaxTokens, ""),
        ("model_context_window_exceeded", Stop::MaxTokens, "context is full"),
        ("guardrail_intervened", Stop::Refusal, "guardrail"),
        ("content_filtered", Stop::Refusal, "content filter"),
    ] {
        let response = outcome(reason).unwrap();
        assert_eq!(response.stop, expected, "{reason}");
        let said = response.why.unwrap_or_default();
        assert!(said.contains(why) && said.is_empty() == why.is_empty(), "{reason}: {said}");
    }
    assert!(matches!(outcome("malformed_model_output"), Err(Fault::Unusable(_))));
    let whose = Settings::from_env(|_| None).providers[0].whose("m");
    assert_eq!(whose.fault(outcome("malformed_tool_use").unwrap_err()).kind, ModelErrorKind::UnreadableCall);
}

#[test]
fn an_exception_within_the_stream_is_what_its_status_would_be() {
    let whose = Settings::from_env(|_| None).providers[0].whose("m");
    let limited = ModelErrorKind::RateLimited { retry_after: None };
    for (exception, expected) in [
        (json!({ "throttlingException": { "message": "Too many requests" } }), limited),
        (
            json!({ "throttlingException": { "message": "Too many tokens per day, please wait" } }),
            ModelErrorKind::QuotaUsedUp,
        ),
        (json!({ "serviceUnavailableException": { "message": "busy" } }), ModelErrorKind::Transient),
        (json!({ "internalServerException": { "message": "oops" } }), ModelErrorKind::Transient),
        (json!({ "modelStreamErrorException": { "message": "it failed" } }), ModelErrorKind::Transient),
        (json!({ "modelStreamErrorException": { "originalStatusCode": 429, "originalMessage": "slow" } }), limited),
        (
            json!({ "modelStreamErrorException": { "message": "Model produced invalid sequence as part of ToolUse." } }),
            ModelErrorKind::UnreadableCall,
        ),
        (json!({ "validationException": { "message": "The text field is blank." } }), ModelErrorKind::Rejected),
        (
            json!({ "validationException": { "message": "Input is too long for requested model." } }),
            ModelErrorKind::ContextOverflow,
        ),
        (json!({ "accessDeniedException": { "message": "no" } }), ModelErrorKind::Unauthorized),
        (json!({ "modelTimeoutException": { "message": "slow" } }), ModelErrorKind::Transient),
        (json!({ "aNewException": { "message": "?" } }), ModelErrorKind::Transient),
        (json!({ "error": { "code": "InternalFailure", "message": "" } }), ModelErrorKind::Transient),
    ] {
        let fault = read(Wire::Converse, &nova(), &[opening(), exception.clone()]).outcome.unwrap_err();
        assert!(matches!(fault, Fault::Vendor(_)), "{exception}: {fault:?}");
        assert_eq!(whose.fault(fault).kind, expected, "{exception}");
    }
    for nonsense in ["{\"messageStop\":", "hello", "{\"contentBlockDelta\":7}"] {
        let fault = read(Wire::Converse, &nova(), &[json!(nonsense)]).outcome.unwrap_err();
        assert!(matches!(fault, Fault::Garbage(_)), "{nonsense}: {fault:?}");
    }
    let hidden = delta(0, json!({ "reasoningContent": { "redactedContent": "no base64" } }));
    assert!(matches!(read(Wire::Converse, &nova(), &[opening(), hidden]).outcome, Err(Fault::Garbage(_))));
}

proptest! {
    #[test]
    fn whatever_order_events_come_in_nothing_panics(order in prop::collection::vec(0usize..19, 0..40)) {
        let events = whole();
        let shuffled: Vec<Value> = order.into_iter().map(|at| events[at].clone()).collect();
        let _ = read(Wire::Converse, &claude(), &shuffled).outcome;
    }
}

#[test]
fn a_model_that_bedrock_can_keep_for_an_hour_is_kept_so_if_asked() {
    let able = |id: &str| {
        let compat = Compat { cache_hour: Some(true), ..Compat::default() };
        Target { compat, ..model(id, Thinking::None) }
    };
    let asked = |cache_hour: bool| Request { cache_hour, ..request(conversation(&Value::Null)) };
    let marks = |target: &Target, asked: &Request| {
        let sent = sent(target, asked).to_string();
        [r#"{"type":"default"}"#, r#"{"type":"default","ttl":"1h"}"#].map(|mark| sent.matches(mark).count())
    };
    assert_eq!(marks(&able("us.anthropic.claude-opus-5-5"), &asked(true)), [0, 4]);
    assert_eq!(marks(&able("us.anthropic.claude-opus-5-5"), &asked(false)), [4, 0]);
    assert_eq!(marks(&model("us.anthropic.claude-opus-5-5", Thinking::None), &asked(true)), [4, 0]);
    for (id, usual) in [
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", 4),
        ("anthropic.claude-sonnet-4-20250514-v1:0", 4),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", 4),
        ("amazon.nova-lite-v1:0", 3),
    ] {
        assert_eq!(marks(&able(id), &asked(true)), [usual, 0], "{id}");
    }
    assert_eq!(marks(&able("eu.anthropic.claude-sonnet-4-5-20250929-v1:0"), &asked(true)), [0, 4]);
}

#[test]
fn what_bedrock_wrote_for_an_hour_is_told_apart() {
    let compat = Compat { cache_hour: Some(true), ..Compat::default() };
    let able = Target { compat, ..model("us.anthropic.claude-opus-5-5", Thinking::None) };
    let written = |target: &Target, details: Value| {
        let usage = json!({ "inputTokens": 1, "outputTokens": 2, "totalTokens": 303, "cacheWriteInputTokens": 300,
            "cacheDetails": details });
        let mut pieces = crate::wire::Pieces::default();
        let asked = Request { cache_hour: true, ..request(vec![says("go")]) };
        let event = json!({ "metadata": { "usage": usage } }).to_string();
        Wire::Converse.decoder(target, &asked).event(event.as_bytes(), &mut pieces).unwrap();
        match pieces.take() {
            Some(ports::model::ModelEvent::Used(usage)) => (usage.cache_write, usage.cache_write_hour),
            event => panic!("{event:?}"),
        }
    };
    let detail = |ttl: &str, tokens: u64| json!({ "ttl": ttl, "inputTokens": tokens });
    assert_eq!(written(&able, json!([detail("1h", 200), detail("5m", 100)])), (300, 200));
    assert_eq!(written(&able, json!([detail("5m", 300)])), (300, 0), "the vendor's word counts");
    assert_eq!(written(&able, Value::Null), (300, 300), "without one, as it was asked");
    assert_eq!(written(&claude(), Value::Null), (300, 0), "it was not asked");
}
