use std::sync::Arc;

use futures_util::StreamExt;
use ports::model::{Message, Model, ModelError, ModelErrorKind, ModelEvent, Response, Stop};
use protocol::content::Usage;
use protocol::{AssistantBlock, ToolResult};
use serde_json::json;

use super::{Recorder, Scripted};
use crate::wire::testing::{call, request, result, says, text};

/// Returns a model's answer to a conversation.
async fn answer(model: &dyn Model, messages: &[Message]) -> Result<Response, ModelError> {
    let (_, outcome) = listen(model, messages).await;
    outcome
}

/// The same, with the pieces of text that came.
async fn listen(model: &dyn Model, messages: &[Message]) -> (Vec<String>, Result<Response, ModelError>) {
    let mut stream = match model.stream(request(messages.to_vec())).await {
        Ok(stream) => stream,
        Err(error) => return (vec![], Err(error)),
    };
    let mut pieces = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(ModelEvent::Text(text)) => pieces.push(text),
            Ok(ModelEvent::Finished(response)) => {
                assert!(stream.next().await.is_none(), "nothing comes after the end");
                return (pieces, Ok(response));
            }
            Ok(_) => {}
            Err(error) => return (pieces, Err(error)),
        }
    }
    panic!("the stream ended without an end");
}

fn scripted(script: serde_json::Value) -> Scripted {
    Scripted::from_json(&script.to_string()).unwrap()
}

/// Looks for something, reads where it was found, and ends; then, in a second turn, says goodbye.
fn tour() -> Scripted {
    scripted(json!({
        "name": "tour",
        "steps": [
            {"thinking": "hm", "text": "I look for it.", "calls": [{"tool": "search_text", "input": {"query": "add"}}]},
            {
                "captures": [{"from": "search_text", "pattern": "^(?<path>[^:\\n]+):(?<line>\\d+):"}],
                "text": "It is in ${path}, line ${line}.",
                "calls": [{"tool": "read_file", "input": {"path": "${path}", "from": "${line:int-1}", "all": false}}]
            },
            {"expect": {"from": "read_file", "contains": "a - b", "isError": false}, "text": "Seen in ${path}.",
             "usage": {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0}},
            {"text": "Goodbye."}
        ]
    }))
}

/// The tour's conversation as far as it goes with these results.
async fn tour_with(found: &str, read: &str) -> (Vec<Message>, Result<Response, ModelError>) {
    let model = tour();
    let mut messages = vec![says("go")];
    let mut results = [found, read].into_iter();
    loop {
        let response = match answer(&model, &messages).await {
            Ok(response) if response.stop == Stop::ToolUse => response,
            end => return (messages, end),
        };
        let id = response.content.iter().find_map(|block| match block {
            AssistantBlock::ToolCall { id, .. } => Some(id.to_string()),
            _ => None,
        });
        messages.push(Message::Assistant(response.content));
        messages.push(Message::ToolResults(vec![result(&id.unwrap(), results.next().unwrap())]));
    }
}

#[tokio::test]
async fn a_script_takes_what_it_needs_from_the_results() {
    let (messages, end) = tour_with("src/a.rs:12: fn add\nsrc/b.rs:7: add", "let c = a - b;").await;
    let Message::Assistant(blocks) = &messages[3] else { panic!() };
    assert_eq!(blocks[0], text("It is in src/a.rs, line 12."));
    assert_eq!(blocks[1], call("step2-1", "read_file", json!({"path": "src/a.rs", "from": 11, "all": false})));
    let response = end.unwrap();
    assert_eq!((response.stop, response.usage), (Stop::EndTurn, Usage { input: 10, output: 5, ..Usage::default() }));
    assert_eq!(response.content, [text("Seen in src/a.rs.")]);
}

#[tokio::test]
async fn a_tool_that_does_not_find_it_makes_the_turn_fail() {
    let (_, end) = tour_with("nothing found", "").await;
    let error = end.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Rejected);
    let message = error.message;
    assert!(
        message.contains("step 2") && message.contains("search_text") && message.contains("nothing found"),
        "{message}"
    );
    let (_, end) = tour_with("a.rs:1: x", "let c = a + b;").await;
    let message = end.unwrap_err().message;
    assert!(message.contains("expected `a - b` in the result of read_file") && message.contains("a + b"), "{message}");
}

#[tokio::test]
async fn a_second_turn_goes_on_with_the_next_step_and_past_the_last_it_says_so() {
    let (mut messages, end) = tour_with("a.rs:1: x", "a - b").await;
    messages.push(Message::Assistant(end.unwrap().content));
    messages.push(says("and now?"));
    let response = answer(&tour(), &messages).await.unwrap();
    assert_eq!(response.content, [text("Goodbye.")]);
    messages.push(Message::Assistant(response.content));
    messages.push(says("more"));
    let error = answer(&tour(), &messages).await.unwrap_err();
    assert!(error.message.contains("the script has ended"), "{error}");
}

#[tokio::test]
async fn what_a_crash_left_of_an_answer_does_not_count_as_a_step() {
    let (messages, _) = tour_with("a.rs:1: x", "a - b").await;
    let first_round = &messages[..3];
    let cut = |part: &str| {
        let mut messages = first_round.to_vec();
        messages.push(Message::Assistant(vec![text(part)]));
        messages.push(says("Go on from where you stopped."));
        messages
    };
    let response = answer(&tour(), &cut("It is in a.r")).await.unwrap();
    assert_eq!(response.content[0], text("It is in a.rs, line 1."));
    // Words of another model, or of ours, count as little.
    let mut messages = vec![says("hello"), Message::Assistant(vec![text("Hi, I am another model.")])];
    messages.push(says("go"));
    assert_eq!(answer(&tour(), &messages).await.unwrap().content[1], text("I look for it."));
}

#[tokio::test]
async fn calls_that_the_servers_end_interrupted_are_made_again() {
    let interrupted = |results: Vec<ToolResult>| {
        let made = call("step1-1", "search_text", json!({"query": "add"}));
        let go_on = says("Go on from where you stopped.");
        [says("go"), Message::Assistant(vec![made]), Message::ToolResults(results), go_on]
    };
    let lost = interrupted(vec![result("step1-1", ports::tool::INTERRUPTED)]);
    let again = answer(&tour(), &lost).await.unwrap();
    assert_eq!(again.content[1], text("I look for it."));
    let done = interrupted(vec![result("step1-1", "a.rs:1: x")]);
    assert_eq!(answer(&tour(), &done).await.unwrap().content[0], text("It is in a.rs, line 1."));
}

#[tokio::test]
async fn an_answer_that_was_cut_off_before_it_was_whole_is_given_again() {
    let model = scripted(json!({"name": "t", "steps": [{"text": "One two three."}, {"text": "Four."}]}));
    let cut = [says("go"), Message::Assistant(vec![text("One tw")]), says("on")];
    assert_eq!(answer(&model, &cut).await.unwrap().content, [text("One two three.")]);
    let whole = [says("go"), Message::Assistant(vec![text("One two three.")]), says("on")];
    assert_eq!(answer(&model, &whole).await.unwrap().content, [text("Four.")]);
}

#[tokio::test]
async fn values_of_old_results_survive_as_long_as_nobody_uses_them_after_they_were_trimmed() {
    let model = scripted(json!({"name": "t", "steps": [
        {"calls": [{"tool": "look"}]},
        {"captures": [{"from": "look", "pattern": "x=(\\d+)", "name": "x"}], "calls": [{"tool": "act", "input": {"x": "${x}"}}]},
        {"text": "done"},
        {"text": "x was ${x}"},
    ]}));
    let mut messages = vec![
        says("go"),
        Message::Assistant(vec![call("step1-1", "look", json!({}))]),
        Message::ToolResults(vec![result("step1-1", "x=7")]),
        Message::Assistant(vec![call("step2-1", "act", json!({"x": "7"}))]),
        Message::ToolResults(vec![result("step2-1", "ok")]),
    ];
    messages[2] = Message::ToolResults(vec![result("step1-1", "[removed]")]);
    let response = answer(&model, &messages).await.unwrap();
    assert_eq!(response.content, [text("done")]);
    messages.extend([Message::Assistant(response.content), says("what was x?")]);
    let error = answer(&model, &messages).await.unwrap_err();
    assert!(error.message.contains("${x}"), "{error}");
}

#[tokio::test]
async fn captures_come_from_a_call_or_a_tool_first_match_or_last() {
    let captured = async |capture: serde_json::Value| {
        let model = scripted(json!({"name": "t", "steps": [
            {"calls": [{"id": "a", "tool": "look"}, {"id": "b", "tool": "look"}]},
            {"captures": [capture], "text": "${v}"},
        ]}));
        let messages = [
            says("go"),
            Message::Assistant(vec![call("a", "look", json!({})), call("b", "look", json!({}))]),
            Message::ToolResults(vec![result("a", "n=1"), result("b", "n=2\nn=3")]),
        ];
        match &answer(&model, &messages).await.unwrap().content[0] {
            AssistantBlock::Text { text, .. } => text.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(captured(json!({"from": "look", "pattern": "^n=(\\d)$", "name": "v"})).await, "2");
    assert_eq!(captured(json!({"from": "look", "pattern": "n=(\\d)", "name": "v", "last": true})).await, "3");
    assert_eq!(captured(json!({"from": "a", "pattern": "n=(?<v>\\d)"})).await, "1");
    assert_eq!(captured(json!({"from": "a", "pattern": "n=\\d", "name": "v"})).await, "n=1");
}

#[tokio::test]
async fn a_failed_call_can_be_demanded() {
    let model = scripted(json!({"name": "t", "steps": [
        {"calls": [{"tool": "shell_run"}]},
        {"expect": {"isError": true, "matches": "^FAILED \\d+$"}, "text": "red"},
    ]}));
    let after = |result: ToolResult| {
        [says("go"), Message::Assistant(vec![call("c", "shell_run", json!({}))]), Message::ToolResults(vec![result])]
    };
    let failed = ToolResult { is_error: true, ..result("c", "running\nFAILED 2\nend") };
    assert_eq!(answer(&model, &after(failed)).await.unwrap().content, [text("red")]);
    let error = answer(&model, &after(result("c", "FAILED 2"))).await.unwrap_err();
    assert!(error.message.contains("expected a failure"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn text_comes_in_small_pieces_with_the_pause_that_is_asked_for() {
    let words = "a few words that are rather more than one piece would hold, ä and ö too";
    let model = scripted(json!({"name": "t", "delayMs": 10, "steps": [{"text": words}]}));
    let began = tokio::time::Instant::now();
    let (pieces, _) = listen(&model, &[says("go")]).await;
    assert_eq!(pieces.concat(), words);
    assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.len() <= 40), "{pieces:?}");
    assert_eq!(began.elapsed().as_millis(), 10 * pieces.len() as u128);
}

#[tokio::test]
async fn it_says_that_it_is_scripted_and_costs_nothing() {
    let model = tour();
    let info = model.info();
    assert!(info.scripted && info.available);
    assert_eq!((info.id.as_str(), info.provider.as_str()), ("scripted/tour", "scripted"));
    assert_eq!(info.price, Some(protocol::model::Price::default()));
}

#[test]
fn a_script_that_cannot_be_understood_says_where() {
    let error = |script: serde_json::Value| match Scripted::from_json(&script.to_string()) {
        Ok(_) => panic!("it was understood"),
        Err(error) => error.to_string(),
    };
    assert!(error(json!({"name": "t", "steps": [{"txt": "x"}]})).contains("txt"));
    assert!(error(json!({"name": "t", "steps": [{"text": "a"}, {"text": "${"}]})).contains("step 2"));
    assert!(error(json!({"name": "t", "steps": [{"captures": [{"from": "a", "pattern": "("}]}]})).contains("step 1"));
    assert!(
        error(json!({"name": "t", "steps": [{"captures": [{"from": "a", "pattern": "x"}], "text": "a"}]}))
            .contains("named group")
    );
    assert!(error(json!({"name": "t", "steps": [{"text": "a"}, {"thinking": "b"}]})).contains("step 2"));
    assert!(Scripted::from_json("{").is_err());
}

#[test]
fn the_example_in_the_documentation_is_a_script() {
    let source = include_str!("script.rs");
    let example: String = source
        .lines()
        .skip_while(|line| *line != "/// ```json")
        .skip(1)
        .take_while(|line| *line != "/// ```")
        .map(|line| line.trim_start_matches("///").to_owned() + "\n")
        .collect();
    Scripted::from_json(&example).unwrap();
}

#[tokio::test]
async fn a_recorded_session_plays_without_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tape.jsonl");
    let recorder = Recorder::create(&file).unwrap();
    let model: Arc<dyn Model> = recorder.wrap(Arc::new(tour()));
    assert!(model.info().scripted, "what is recorded stays what it is");
    let mut messages = vec![says("go")];
    let first = listen(&*model, &messages).await;
    messages.push(Message::Assistant(first.1.clone().unwrap().content));
    messages.push(Message::ToolResults(vec![result("step1-1", "a.rs:1: x")]));
    let second = answer(&*model, &messages).await.unwrap();

    let played = Scripted::load(&file).unwrap().strict(true);
    assert_eq!((played.info().id.as_str(), played.info().scripted), ("scripted/tour", true));
    assert_eq!(listen(&played, &messages[..1]).await, first);
    assert_eq!(answer(&played, &messages).await.unwrap(), second);

    // Another machine: other results. It plays on, but not where it must be the same.
    messages[2] = Message::ToolResults(vec![result("step1-1", "/tmp/other/a.rs:1: x")]);
    assert!(answer(&played, &messages).await.unwrap_err().message.contains("digest"));
    let lenient = Scripted::load(&file).unwrap();
    assert_eq!(answer(&lenient, &messages).await.unwrap(), second);
    messages.extend([Message::Assistant(second.content), says("more")]);
    assert!(answer(&lenient, &messages).await.unwrap_err().message.contains("the recording has ended"));
}

#[tokio::test]
async fn failures_are_recorded_but_what_went_on_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tape.jsonl");
    let recorder = Recorder::create(&file).unwrap();
    let model = recorder.wrap(Arc::new(scripted(json!({"name": "t", "steps": [
        {"calls": [{"tool": "look"}]},
        {"expect": {"contains": "good"}, "text": "fine"},
    ]}))));
    let after = |found: &str| {
        [
            says("go"),
            Message::Assistant(vec![call("step1-1", "look", json!({}))]),
            Message::ToolResults(vec![result("step1-1", found)]),
        ]
    };
    answer(&*model, &after("bad")).await.unwrap_err();
    answer(&*model, &after("good")).await.unwrap();
    // An answer that nobody listened to the end of.
    drop(model.stream(request(after("good").to_vec())).await.unwrap());
    let recorded = super::recorder::read(&file).unwrap();
    assert!(recorded.contains("\"failed\"") && !recorded.contains("go\""), "{recorded}");
    let played = Scripted::from_json(&recorded).unwrap();
    assert_eq!(answer(&played, &after("anything")).await.unwrap().content, [text("fine")]);
}

#[tokio::test]
async fn a_recording_that_was_cut_off_plays_as_far_as_it_goes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tape.jsonl");
    let model = Recorder::create(&file).unwrap().wrap(Arc::new(tour()));
    answer(&*model, &[says("go")]).await.unwrap();
    let whole = super::recorder::read(&file).unwrap();
    let cut = format!("{whole}{{\"type\":\"requ");
    let played = Scripted::from_json(&cut).unwrap();
    assert!(answer(&played, &[says("go")]).await.is_ok());
    let broken = whole.replacen("\"type\":\"event\"", "\"type\":\"evil\"", 1);
    assert!(Scripted::from_json(&broken).err().unwrap().to_string().contains("line 3"));
    let newer = whole.replacen("\"version\":1", "\"version\":2", 1);
    assert!(Scripted::from_json(&newer).err().unwrap().to_string().contains("version 2"));
}

#[cfg(unix)]
#[test]
fn a_recording_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tape.jsonl");
    Recorder::create(&file).unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let error = Recorder::create(&folder.path().join("no/such/folder")).unwrap_err();
    assert!(error.to_string().contains("no/such/folder"));
}
