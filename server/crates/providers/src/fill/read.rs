//! The answers on the wires of completion, as pure functions: the data of an event to text, and to the end.

use protocol::content::Usage;
use serde_json::Value;

use super::wire::Shape;
use crate::failure::{self, Fault};

/// Reads the events of one answer.
#[derive(Debug)]
pub(crate) struct Reader {
    shape: Shape,
    /// The reason to end, as soon as it came.
    cut: Option<bool>,
    ended: bool,
    /// The tokens used, as far as the server has said.
    pub(crate) usage: Usage,
    /// The tokens of the prompt that the server had kept, if it has said.
    pub(crate) cached: Option<u64>,
}

impl Reader {
    /// A reader of answers of this form.
    pub(crate) fn new(shape: Shape) -> Self {
        Self { shape, cut: None, ended: false, usage: Usage::default(), cached: None }
    }

    /// Takes in an event or a whole body, and gives the text in it.
    pub(crate) fn event(&mut self, data: &[u8]) -> Result<String, Fault> {
        if data.trim_ascii() == b"[DONE]" {
            self.ended = true;
            return Ok(String::new());
        }
        let value: Value = serde_json::from_slice(data).map_err(|problem| Fault::garbage(data, problem))?;
        if !value.is_object() {
            return Err(Fault::garbage(data, "no object"));
        }
        if value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Vendor(failure::words(data)));
        }
        let text = match self.shape {
            Shape::LlamaCpp => self.llama_cpp(&value),
            Shape::Ollama => self.ollama(&value),
            Shape::OpenAi => self.openai(&value),
        };
        text.ok_or_else(|| Fault::garbage(data, "no piece of an answer"))
    }

    /// Takes in the end of the body. An answer that has not said that it is over is not whole.
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        match self.ended || self.cut.is_some() {
            true => Ok(()),
            false => Err(Fault::Incomplete("the stream ended without an end")),
        }
    }

    /// True if nothing more is to come.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }

    /// True if the answer ended because it reached the maximum length.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut == Some(true)
    }

    fn llama_cpp(&mut self, value: &Value) -> Option<String> {
        let text = text_of(value.get("content")?)?;
        if value.get("stop").and_then(Value::as_bool).unwrap_or_default() {
            let kind = value.get("stop_type").and_then(Value::as_str).unwrap_or_default();
            let was_limited = value.get("stopped_limit").and_then(Value::as_bool).unwrap_or_default();
            self.cut = Some(kind == "limit" || was_limited);
            self.ended = true;
            let number = |places: &[&str]| places.iter().find_map(|place| value.pointer(place)?.as_u64());
            self.cached = number(&["/timings/cache_n"]);
            let cached = self.cached.unwrap_or_default();
            let read = number(&["/timings/prompt_n"])
                .or_else(|| Some(number(&["/tokens_evaluated"])?.saturating_sub(cached)))
                .unwrap_or_default();
            let output = number(&["/timings/predicted_n", "/tokens_predicted"]).unwrap_or_default();
            self.usage = Usage { input: read, output, cache_read: cached, cache_write: 0, cache_write_hour: 0 };
        }
        Some(text)
    }

    fn ollama(&mut self, value: &Value) -> Option<String> {
        let text = text_of(value.get("response")?)?;
        if value.get("done").and_then(Value::as_bool).unwrap_or_default() {
            self.cut = Some(value.get("done_reason").and_then(Value::as_str) == Some("length"));
            self.ended = true;
            let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
            self.usage.input = number("prompt_eval_count");
            self.usage.output = number("eval_count");
        }
        Some(text)
    }

    fn openai(&mut self, value: &Value) -> Option<String> {
        if let Some(usage) = value.get("usage").filter(|usage| usage.is_object()) {
            self.count(usage);
        }
        // The event with the usage has no choice, or an empty list of them.
        let Some(choices) = value.get("choices") else {
            return value.get("usage").is_some().then(String::new);
        };
        let Some(choice) = choices.as_array()?.first() else { return Some(String::new()) };
        let reason = choice.get("finish_reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
        if let Some(reason) = reason {
            self.cut = Some(matches!(reason, "length" | "model_length"));
        }
        let places = ["/text", "/delta/content", "/message/content"];
        let text = places.iter().find_map(|place| text_of(choice.pointer(place)?));
        Some(text.unwrap_or_default())
    }

    fn count(&mut self, usage: &Value) {
        let number = |places: &[&str]| places.iter().find_map(|place| usage.pointer(place)?.as_u64());
        self.cached = number(&["/prompt_tokens_details/cached_tokens", "/prompt_cache_hit_tokens", "/cached_tokens"]);
        let cached = self.cached.unwrap_or_default();
        let input = number(&["/prompt_tokens"]).unwrap_or_default().saturating_sub(cached);
        let output = number(&["/completion_tokens"]).unwrap_or_default();
        self.usage = Usage { input, output, cache_read: cached, cache_write: 0, cache_write_hour: 0 };
    }
}

/// The text of a field: a text, nothing, or Mistral's list of parts.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some(String::new()),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Takes lines of JSON apart.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    rest: Vec<u8>,
}

impl Lines {
    /// Takes in a piece, and gives the lines that are whole now, without blank ones.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<Vec<u8>> {
        self.rest.extend_from_slice(piece);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Vec::new() };
        let after = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, after);
        let lines = whole.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    /// The last line, if it has no end.
    pub(crate) fn finish(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.rest);
        let line = rest.trim_ascii();
        (!line.is_empty()).then(|| line.to_vec())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(shape: Shape, events: &[Value]) -> (String, Reader) {
        let mut reader = Reader::new(shape);
        let text = events.iter().map(|event| reader.event(event.to_string().as_bytes()).unwrap()).collect();
        reader.end().unwrap();
        (text, reader)
    }

    #[test]
    fn llama_cpp_tells_at_the_end_what_it_had_kept() {
        let (text, reader) = read(
            Shape::LlamaCpp,
            &[
                json!({"index": 0, "content": "a", "tokens": [1], "stop": false}),
                json!({"content": "b", "stop": false}),
                json!({"content": "", "stop": true, "stop_type": "limit", "tokens_evaluated": 120,
                    "tokens_predicted": 2, "timings": {"cache_n": 100, "prompt_n": 20, "predicted_n": 2}}),
            ],
        );
        assert_eq!((text.as_str(), reader.is_cut(), reader.is_ended()), ("ab", true, true));
        assert_eq!((reader.cached, reader.usage.input, reader.usage.output), (Some(100), 20, 2));
    }

    #[test]
    fn ollama_ends_with_a_line_that_counts() {
        let end =
            json!({"response": "", "done": true, "done_reason": "stop", "prompt_eval_count": 26, "eval_count": 4});
        let (text, reader) = read(Shape::Ollama, &[json!({"response": "x", "done": false}), end]);
        assert_eq!((text.as_str(), reader.is_cut()), ("x", false));
        assert_eq!((reader.usage.input, reader.usage.output, reader.cached), (26, 4, None));
    }

    #[test]
    fn completions_come_as_texts_and_as_messages_and_whole() {
        for (events, text) in [
            (vec![json!({"choices": [{"text": "a", "finish_reason": "stop"}]})], "a"),
            (
                vec![
                    json!({"choices": [{"delta": {"role": "assistant", "content": "a"}, "finish_reason": null}]}),
                    json!({"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}),
                ],
                "ab",
            ),
            (vec![json!({"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]})], "whole"),
            (
                vec![json!({"choices": [{"message": {"content": [{"type": "text", "text": "list"}]},
                    "finish_reason": "stop"}]})],
                "list",
            ),
        ] {
            assert_eq!(read(Shape::OpenAi, &events).0, text);
        }
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 5,
            "prompt_cache_hit_tokens": 64}});
        let cut = json!({"choices": [{"text": "a", "finish_reason": "length"}]});
        let (_, reader) = read(Shape::OpenAi, &[cut, usage]);
        assert_eq!((reader.is_cut(), reader.cached), (true, Some(64)));
        assert_eq!((reader.usage.input, reader.usage.output, reader.usage.cache_read), (36, 5, 64));
    }

    #[test]
    fn an_error_within_the_answer_is_the_vendors() {
        for (shape, event) in [
            (Shape::Ollama, json!({"error": "model runner has stopped"})),
            (Shape::LlamaCpp, json!({"error": {"code": 500, "message": "slot", "type": "server_error"}})),
            (Shape::OpenAi, json!({"error": {"message": "no capacity"}})),
        ] {
            let fault = Reader::new(shape).event(event.to_string().as_bytes()).unwrap_err();
            assert!(matches!(fault, Fault::Vendor(_)), "{fault:?}");
        }
    }

    #[test]
    fn an_answer_without_an_end_is_not_whole() {
        for shape in [Shape::LlamaCpp, Shape::Ollama, Shape::OpenAi] {
            assert!(matches!(Reader::new(shape).end(), Err(Fault::Incomplete(_))));
        }
    }

    #[test]
    fn lines_are_whole_whatever_pieces_they_come_in() {
        let text = b"{\"a\":1}\r\n\n{\"b\":\"\xc3\xa4\"}\n{\"c\"";
        for length in 1..text.len() {
            let mut lines = Lines::default();
            let mut found: Vec<_> = text.chunks(length).flat_map(|piece| lines.push(piece)).collect();
            found.extend(lines.finish());
            assert_eq!(found, [&b"{\"a\":1}"[..], "{\"b\":\"ä\"}".as_bytes(), b"{\"c\""]);
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(data in ".{0,200}", shape in 0..3usize) {
            let shape = [Shape::LlamaCpp, Shape::Ollama, Shape::OpenAi][shape];
            let _ = Reader::new(shape).event(data.as_bytes());
        }

        #[test]
        fn no_object_makes_a_reader_panic(
            name in "(choices|content|response|usage|stop|done|error)",
            value in "[\\[\\]{}\",:a-z0-9]{0,40}",
        ) {
            for shape in [Shape::LlamaCpp, Shape::Ollama, Shape::OpenAi] {
                let _ = Reader::new(shape).event(format!("{{\"{name}\":{value}}}").as_bytes());
            }
        }
    }
}
