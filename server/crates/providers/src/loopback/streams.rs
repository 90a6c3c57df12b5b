//! The same answer as each vendor streams it: a text with letters of several bytes, then a tool call.

use serde_json::{Value, json};

/// Its text, in pieces.
const TEXT: [&str; 3] = ["I look", ", ä 🦀", " \"now\".\n"];

pub(super) fn anthropic() -> String {
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let usage = json!({"input_tokens": 100, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 0, "output_tokens": 1});
    let call = json!({"type": "tool_use", "id": "call_1", "name": "read_file", "input": {}});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": [], "usage": usage}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
    ];
    events.extend(TEXT.map(|text| delta(0, json!({"type": "text_delta", "text": text}))));
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "content_block_start", "index": 1, "content_block": call}),
        delta(1, json!({"type": "input_json_delta", "partial_json": "{\"path\": \""})),
        delta(1, json!({"type": "input_json_delta", "partial_json": "a.rs\"}"})),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 20}}),
        json!({"type": "message_stop"}),
    ]);
    events.into_iter().map(named).collect()
}

pub(super) fn responses() -> String {
    let call = |arguments: &str| json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "read_file", "arguments": arguments});
    let piece =
        |delta: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 1, "delta": delta});
    let usage = json!({"input_tokens": 1000, "output_tokens": 20, "input_tokens_details": {"cached_tokens": 900}});
    let mut events = vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "output": []}}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "id": "msg_1", "content": []}}),
    ];
    events.extend(TEXT.map(|text| json!({"type": "response.output_text.delta", "output_index": 0, "delta": text})));
    events.extend([
        json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "content": [{"type": "output_text", "text": TEXT.concat()}]}}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": call("")}),
        piece("{\"path\":"),
        piece("\"a.rs\"}"),
        json!({"type": "response.output_item.done", "output_index": 1, "item": call("{\"path\":\"a.rs\"}")}),
        json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed", "output": [], "usage": usage}}),
    ]);
    events.into_iter().map(named).collect()
}

pub(super) fn chat() -> String {
    let chunk = |delta: Value| json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let piece = |arguments: &str| chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}));
    let usage =
        json!({"prompt_tokens": 1000, "completion_tokens": 20, "prompt_tokens_details": {"cached_tokens": 900}});
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}))];
    events.extend(TEXT.map(|text| chunk(json!({ "content": text }))));
    events.extend([
        chunk(json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": ""}}]})),
        piece("{\"path\":"),
        piece("\"a.rs\"}"),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!({"choices": [], "usage": usage}),
    ]);
    let lines: String = events.into_iter().map(|event| format!("data: {event}\n\n")).collect();
    format!(": keep-alive\n\n{lines}data: [DONE]\n\n")
}

pub(super) fn gemini() -> String {
    let parts = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]});
    let call = json!({"functionCall": {"id": "call_1", "name": ports::tool_names::READ_FILE, "args": {"path": "a.rs"}},
        "thoughtSignature": "c2ln"});
    let usage = json!({"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 15,
        "thoughtsTokenCount": 5, "totalTokenCount": 1020});
    let mut events: Vec<_> = TEXT.map(|text| parts(json!([{ "text": text }]))).into();
    events.extend([parts(json!([call])), json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": usage})]);
    events.into_iter().map(|event| format!("data: {event}\n\n")).collect()
}

pub(super) fn converse() -> Vec<u8> {
    let delta = |index: usize, delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}});
    let stop = |index: usize| json!({"contentBlockStop": {"contentBlockIndex": index}});
    let call = json!({"toolUse": {"toolUseId": "call_1", "name": ports::tool_names::READ_FILE}});
    let usage = json!({"inputTokens": 100, "outputTokens": 20, "totalTokens": 1020, "cacheReadInputTokens": 900});
    let mut events = vec![json!({"messageStart": {"role": "assistant"}})];
    events.extend(TEXT.map(|text| delta(0, json!({ "text": text }))));
    events.extend([
        stop(0),
        json!({"contentBlockStart": {"contentBlockIndex": 1, "start": call}}),
        delta(1, json!({"toolUse": {"input": "{\"path\":"}})),
        delta(1, json!({"toolUse": {"input": "\"a.rs\"}"}})),
        stop(1),
        json!({"messageStop": {"stopReason": "tool_use"}}),
        json!({"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}),
    ]);
    events.iter().flat_map(event).collect()
}

/// An event as a message of Amazon's event streams; its one field has its name.
pub(super) fn event(event: &Value) -> Vec<u8> {
    message("event", event)
}

/// The same for an exception.
pub(super) fn exception(exception: &Value) -> Vec<u8> {
    message("exception", exception)
}

/// Where the message of such a stream ends that a place is in.
pub(super) fn end_of_message(stream: &[u8], place: usize) -> usize {
    let mut end = 0;
    while end <= place {
        end += u32::from_be_bytes(stream[end..end + 4].try_into().unwrap()) as usize;
    }
    end
}

fn message(kind: &str, event: &Value) -> Vec<u8> {
    let (name, payload) = event.as_object().unwrap().iter().next().unwrap();
    let named = format!(":{kind}-type");
    let texts = [(named.as_str(), name.as_str()), (":content-type", "application/json"), (":message-type", kind)];
    let header = |(name, value): (&str, &str)| {
        let (name_length, length) = (u8::try_from(name.len()).unwrap(), u16::try_from(value.len()).unwrap());
        [&[name_length], name.as_bytes(), &[7], &length.to_be_bytes(), value.as_bytes()].concat()
    };
    let headers: Vec<u8> = texts.into_iter().flat_map(header).collect();
    let payload = payload.to_string();
    let length = |bytes: usize| u32::try_from(bytes).unwrap().to_be_bytes();
    let mut message = [length(16 + headers.len() + payload.len()), length(headers.len())].concat();
    message.extend(crc32(&message).to_be_bytes());
    message.extend(headers);
    message.extend(payload.into_bytes());
    message.extend(crc32(&message).to_be_bytes());
    message
}

/// Bit by bit, unlike the one that reads.
fn crc32(bytes: &[u8]) -> u32 {
    let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xEDB8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit))
}

/// Thinking that is signed, and a word.
pub(super) fn anthropic_thinking(signature: &str) -> String {
    let begin =
        |index: usize, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let events = [
        json!({"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 1}}}),
        begin(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Hm."})),
        delta(0, json!({"type": "signature_delta", "signature": signature})),
        json!({"type": "content_block_stop", "index": 0}),
        begin(1, json!({"type": "text", "text": ""})),
        delta(1, json!({"type": "text_delta", "text": "Yes."})),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
        json!({"type": "message_stop"}),
    ];
    events.into_iter().map(named).collect()
}

/// The same.
pub(super) fn responses_thinking(signature: &str) -> String {
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": signature});
    let said = json!({"type": "message", "content": [{"type": "output_text", "text": "Yes."}]});
    let done =
        |index: usize, item: Value| json!({"type": "response.output_item.done", "output_index": index, "item": item});
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}),
        done(0, thought),
        done(1, said),
        json!({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}}),
    ];
    events.into_iter().map(named).collect()
}

/// The same.
pub(super) fn chat_thinking(signature: &str) -> String {
    let detail = json!({"type": "reasoning.text", "text": "Hm.", "index": 0, "signature": signature});
    let chunk =
        |delta: Value, end: Option<&str>| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    let events = [
        chunk(json!({"reasoning_details": [detail]}), None),
        chunk(json!({"content": "Yes."}), None),
        chunk(json!({}), Some("stop")),
    ];
    let lines: String = events.into_iter().map(|event| format!("data: {event}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n")
}

/// The same.
pub(super) fn gemini_thinking(signature: &str) -> String {
    let parts = json!([{"thought": true, "text": "Hm.", "thoughtSignature": signature}, {"text": "Yes."}]);
    let event = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    format!("data: {event}\r\n\r\n")
}

/// The same.
pub(super) fn converse_thinking(signature: &str) -> Vec<u8> {
    let delta = |index: usize, delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": index, "delta": delta}});
    let events = [
        json!({"messageStart": {"role": "assistant"}}),
        delta(0, json!({"reasoningContent": {"text": "Hm."}})),
        delta(0, json!({"reasoningContent": {"signature": signature}})),
        delta(1, json!({"text": "Yes."})),
        json!({"messageStop": {"stopReason": "end_turn"}}),
        json!({"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}}}),
    ];
    events.iter().flat_map(event).collect()
}

fn named(event: Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap())
}
