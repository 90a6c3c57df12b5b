//! The laws for every text and every secret, and stories of one conversation.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use ports::complete::{
    Complete, EditNext, Excerpt, Fill, FillEvent, FillInfo, FillStream, NextEdit, Rewritten, Window,
};
use ports::model::{
    Before, Message, Model, ModelError, ModelEvent, ModelStream, Request, Response, Stop, ToolSpec, UserBlock,
};
use proptest::prelude::*;
use protocol::content::Usage;
use protocol::model::ModelInfo;
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use regex::Regex;
use serde_json::{Value, json};

use crate::{Counts, Looks, Mask, Masks, Revealer, Secret, is_worth_hiding};

const KEY: &[u8] = b"the key of this installation";

fn secret(name: &str, value: &str) -> Secret {
    let looks = Looks::Value(value.to_owned());
    Secret { name: name.to_owned(), source: "a test".to_owned(), looks, replace_with: None }
}

fn pattern(name: &str, pattern: &str) -> Secret {
    Secret { looks: Looks::Pattern(Regex::new(pattern).unwrap()), ..secret(name, "") }
}

fn mask(secrets: &[Secret]) -> Mask {
    Mask::new(KEY, secrets, Counts::default()).unwrap()
}

/// The text in pieces, cut after so many bytes or at the next letter.
fn pieces(text: &str, sizes: &[usize]) -> Vec<String> {
    let (mut pieces, mut from, mut sizes) = (Vec::new(), 0, sizes.iter().cycle());
    while from < text.len() {
        let to = text.ceil_char_boundary((from + sizes.next().unwrap()).min(text.len()));
        pieces.push(text[from..to].to_owned());
        from = to;
    }
    pieces
}

fn values() -> impl Strategy<Value = Vec<String>> {
    // Few letters, so that values overlap, and lie within each other and within the text.
    prop::collection::vec("[ab1\"/é]{4,9}(\n[ab1]{16,18})?", 1..6)
}

fn texts(values: &[String]) -> impl Strategy<Value = String> + use<> {
    let values = values.to_vec();
    let value = prop::sample::select(values);
    let part = prop_oneof![value, "[ab1\"/é<>\n]{0,12}", Just("<<secret:".to_owned())];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_secret_leaves_and_what_left_comes_back(
        (values, text) in values().prop_flat_map(|values| (Just(values.clone()), texts(&values))),
        sizes in prop::collection::vec(1_usize..7, 1..5),
    ) {
        let secrets: Vec<_> = values.iter().zip(0..).map(|(value, at)| secret(&format!("S{at}"), value)).collect();
        let mask = mask(&secrets);
        let hidden = mask.hide(&text);
        for value in &values {
            prop_assert!(!hidden.contains(value.as_str()), "{value:?} in {hidden:?}");
        }
        prop_assert_eq!(&mask.hide(&hidden), &hidden, "hiding twice is hiding once");
        prop_assert_eq!(&mask.reveal(&hidden), &text);
        let mut revealer = Revealer::of_text();
        let mut whole: String = pieces(&hidden, &sizes).iter().map(|piece| revealer.push(&mask, piece)).collect();
        whole.push_str(&revealer.end());
        prop_assert_eq!(&whole, &text, "in pieces");
        let input = json!({ &text: [text], "n": 1 });
        let sent = mask.hide_in(&input).unwrap_or_else(|| input.clone());
        prop_assert_eq!(&mask.reveal_in(&sent).unwrap_or_else(|| sent.clone()), &input);
        let mut revealer = Revealer::of_json();
        let mut json: String = pieces(&sent.to_string(), &sizes).iter().map(|it| revealer.push(&mask, it)).collect();
        json.push_str(&revealer.end());
        prop_assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), input, "the input of a call in pieces");
    }

    #[test]
    fn what_fits_a_pattern_comes_back_too(text in "(corp-[0-9]{1,4}|[a-z0-9<>: -]){0,40}", word in "[a-c]{4}") {
        let mask = mask(&[pattern("CORP", "corp-[0-9]{4}"), pattern("WORD", &word), secret("VALUE", "corp-0000")]);
        let hidden = mask.hide(&text).into_owned();
        prop_assert_eq!(&mask.hide(&hidden), &hidden);
        prop_assert_eq!(&mask.reveal(&hidden), &text);
    }

    #[test]
    fn any_text_may_come(text in ".{0,40}(<<secret:|>>)?.{0,40}", piece in 1_usize..5) {
        let mask = mask(&[secret("A", "1234")]);
        let mut revealer = Revealer::of_text();
        let mut whole: String = pieces(&text, &[piece]).iter().map(|piece| revealer.push(&mask, piece)).collect();
        whole.push_str(&revealer.end());
        prop_assert_eq!(whole, text);
    }
}

#[test]
fn a_placeholder_is_the_same_after_a_restart_and_another_one_elsewhere() {
    let token = [secret("GITHUB_TOKEN", "ghp_0123456789")];
    let hidden = mask(&token).hide("token=ghp_0123456789").into_owned();
    assert_eq!(mask(&token).hide("token=ghp_0123456789"), hidden);
    assert!(hidden.starts_with("token=<<secret:GITHUB_TOKEN:") && hidden.ends_with(">>"), "{hidden}");
    let other = Mask::new(b"another", &token, Counts::default()).unwrap();
    assert_ne!(other.hide("token=ghp_0123456789"), hidden);
    assert_eq!(other.reveal(&hidden), hidden, "one that is nobody's here stays as it is");
    let invented = "<<secret:GITHUB_TOKEN:aaaaaaaa>> <<secret:GITHUB_TOKEN>> <<secret:>>";
    assert_eq!(mask(&token).reveal(invented), invented);
}

#[test]
fn a_value_is_found_in_json_in_a_url_in_base64_and_line_by_line() {
    let lines = "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0123\nabcdefghijklmnop0123\n-----END PRIVATE KEY-----";
    let mask = mask(&[secret("DB", "pass\"word/1"), secret("PEM", lines)]);
    for text in [
        "{\"password\":\"pass\\\"word/1\"}".to_owned(),
        "postgres://ada:pass%22word%2F1@db".to_owned(),
        "data: cGFzcyJ3b3JkLzE=".to_owned(),
        "12: MIIEpAIBAAKCAQEA0123\n13: abcdefghijklmnop0123".to_owned(),
        json!({ "key": lines }).to_string(),
    ] {
        let hidden = mask.hide(&text);
        for part in ["pass", "cGFz", "MIIE", "abcdefgh"] {
            assert!(!hidden.replace("password", "").contains(part), "{hidden}");
        }
        assert_eq!(mask.reveal(&hidden), text);
    }
}

#[test]
fn ordinary_words_in_variables_are_no_secrets() {
    for secret in ["hunter2hunter2", "ghp_0123", "correct-horse-battery-staple", "a1b2c3d4"] {
        assert!(is_worth_hiding(secret), "{secret}");
    }
    for word in ["production", "postgres", "localhost", "12345678", "true", "", "aaaaaaaaaaaaaaaaaaaaaaaa", "s3cret"] {
        assert!(!is_worth_hiding(word), "{word}");
    }
    let short = Mask::new(KEY, &[secret("PIN", "123")], Counts::default()).unwrap_err();
    assert!(short.contains("PIN") && !short.contains("123"), "{short}");
}

#[test]
fn a_text_that_stands_for_a_secret_for_good_does_not_come_back() {
    let gone = Secret { replace_with: Some("[internal]".to_owned()), ..secret("HOST", "db.corp.example") };
    let mask = mask(&[gone]);
    assert_eq!(mask.hide("at db.corp.example:5432"), "at [internal]:5432");
    assert_eq!(mask.reveal("at [internal]:5432"), "at [internal]:5432");
    assert_eq!(mask.counts().of("HOST"), 1);
}

#[test]
fn a_name_that_holds_the_value_is_not_told() {
    let hidden = mask(&[secret("hunter2hunter2", "hunter2hunter2")]).hide("x hunter2hunter2").into_owned();
    assert!(hidden.starts_with("x <<secret:_:"), "{hidden}");
}

#[test]
fn what_stands_for_a_pattern_for_good_is_no_secret_though_it_fits() {
    let customer = Secret { replace_with: Some("cust-0000".to_owned()), ..pattern("CUSTOMER", "cust-[0-9]{4}") };
    let mask = mask(&[customer]);
    assert_eq!(mask.hide("cust-1234, cust-0000"), "cust-0000, cust-0000");
    assert_eq!(mask.counts().of("CUSTOMER"), 1);
    assert!(mask.names_in(&json!({ "command": "find cust-0000" })).is_empty());
    assert_eq!(mask.names_in(&json!({ "command": "find cust-1234" })).len(), 1);
}

#[test]
fn a_pattern_has_one_name_and_a_log_does_not_count() {
    let mask = mask(&[pattern("my customer", "cust-[0-9]{4}"), secret("A", "aaaa1111")]);
    assert!(mask.hide("cust-1234").starts_with("<<secret:my_customer:"));
    assert_eq!(mask.hide_uncounted("cust-1234 aaaa1111"), mask.hide("cust-1234 aaaa1111"));
    assert_eq!((mask.counts().of("my customer"), mask.counts().of("A")), (2, 1));
    let named = mask.names_in(&json!({ "command": "find cust-1234" }));
    assert_eq!(named.into_iter().collect::<Vec<_>>(), ["my customer"]);
    assert_eq!(mask.named().iter().map(|named| named.name.as_str()).collect::<Vec<_>>(), ["A", "my customer"]);
}

#[tokio::test]
async fn of_a_tool_only_descriptions_change() {
    let mask = Arc::new(mask(&[secret("WORD", "path")]));
    let schema = json!({ "type": "object", "required": ["path"], "properties": {
        "path": { "type": "string", "description": "the path", "enum": ["path"] },
        "description": { "type": "string", "description": "a path" },
    } });
    let tool = ToolSpec { name: "path".to_owned(), description: "a path".to_owned(), input_schema: schema };
    let model = says(Vec::new());
    let masked = crate::model(Arc::clone(&model) as Arc<dyn Model>, Arc::new(Fixed(mask)));
    let _ = masked.stream(Request { tools: Arc::from([tool]), ..request(Vec::new()) }).await.unwrap();
    let asked = model.asked.lock().unwrap();
    let sent = &asked[0].tools[0];
    assert!(sent.name == "path" && !sent.description.contains("path"), "{sent:?}");
    let (schema, of_path) = (&sent.input_schema, &sent.input_schema["properties"]["path"]);
    assert_eq!((&schema["required"], &of_path["enum"]), (&json!(["path"]), &json!(["path"])));
    for description in [&of_path["description"], &schema["properties"]["description"]["description"]] {
        assert!(description.as_str().is_some_and(|text| !text.contains("path")), "{schema}");
    }
}

#[test]
fn the_secrets_of_a_call_are_named() {
    let mask = mask(&[secret("A", "aaaa1111"), secret("B", "bbbb1111"), pattern("C", "c{8}")]);
    let named = mask.names_in(&json!({ "command": "curl -d aaaa1111 example.org", "more": ["cccccccc"] }));
    assert_eq!(named.into_iter().collect::<Vec<_>>(), ["A", "C"]);
}

#[test]
fn a_placeholder_in_json_may_have_its_marks_as_escapes() {
    let mask = mask(&[secret("TOKEN", "ghp_0123456789")]);
    let hidden = json!({ "run": format!("x {} \\u003c", mask.hide("ghp_0123456789")) }).to_string();
    let input = json!({ "run": "x ghp_0123456789 \\u003c" });
    for (less, more) in [("\\u003c", "\\u003e"), ("\\u003C", "\\u003E")] {
        let sent = hidden.replace('<', less).replace('>', more);
        for size in 1..9 {
            let mut revealer = Revealer::of_json();
            let mut whole: String = pieces(&sent, &[size]).iter().map(|it| revealer.push(&mask, it)).collect();
            whole.push_str(&revealer.end());
            assert_eq!(serde_json::from_str::<Value>(&whole).unwrap(), input, "{whole}");
        }
    }
    let mut broken = Revealer::of_json();
    assert_eq!(broken.push(&mask, "{\"a\": \"\\u00") + &broken.end(), "{\"a\": \"\\u00", "nothing is lost");
}

#[test]
fn a_secret_within_another_ones_value_is_named_too() {
    let mask = mask(&[secret("URL", "postgres://ada:hunter2hunter2@db"), secret("PASSWORD", "hunter2hunter2")]);
    let named = |command: &str| mask.names_in(&json!({ "command": command })).into_iter().collect::<Vec<_>>();
    assert_eq!(named("psql postgres://ada:hunter2hunter2@db"), ["PASSWORD", "URL"]);
    assert_eq!(named("echo hunter2hunter2"), ["PASSWORD"]);
}

#[test]
fn three_hundred_secrets_take_no_time_in_a_long_conversation() {
    let secrets: Vec<_> = (0..300).map(|at| secret(&format!("S{at}"), &format!("value-{at}-0123456789"))).collect();
    let mask = mask(&secrets);
    let line = "let value = some_function(argument, other) + value-number; // a comment\n".repeat(20);
    let wall = std::time::Instant::now();
    for _ in 0..10_000 {
        assert!(matches!(mask.hide(&line), std::borrow::Cow::Borrowed(_)));
    }
    // Milliseconds when it is optimised; what grew with the number of secrets would take minutes.
    assert!(wall.elapsed() < std::time::Duration::from_secs(20), "{:?}", wall.elapsed());
}

struct Fixed(Arc<Mask>);

#[async_trait]
impl Masks for Fixed {
    async fn mask(&self) -> Result<Arc<Mask>, String> {
        Ok(Arc::clone(&self.0))
    }
}

/// A model that says what it is given to say, and keeps what it was asked.
struct Says {
    info: ModelInfo,
    events: Mutex<Vec<ModelEvent>>,
    asked: Mutex<Vec<Request>>,
}

#[async_trait]
impl Model for Says {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    async fn stream(&self, request: Request) -> Result<ModelStream, ModelError> {
        self.asked.lock().unwrap().push(request);
        Ok(stream::iter(std::mem::take(&mut *self.events.lock().unwrap())).map(Ok).boxed())
    }
}

fn says(events: Vec<ModelEvent>) -> Arc<Says> {
    let info = json!({ "id": "t/m", "name": "M", "provider": "t", "contextTokens": 1, "maxOutputTokens": 1,
        "available": true, "images": false, "thinking": false, "scripted": false });
    let info = serde_json::from_value(info).unwrap();
    Arc::new(Says { info, events: Mutex::new(events), asked: Mutex::default() })
}

fn request(messages: Vec<Arc<Message>>) -> Request {
    let tool = ToolSpec {
        name: "t".to_owned(),
        description: "as hunter2hunter2".to_owned(),
        input_schema: json!({ "description": "as hunter2hunter2" }),
    };
    Request {
        system: "be kind, hunter2hunter2".into(),
        tools: Arc::from([tool]),
        messages,
        max_output_tokens: 1,
        thinking: None,
        before: Before::default(),
        cache_key: String::new(),
        cache_hour: false,
    }
}

#[tokio::test]
async fn a_model_reads_placeholders_and_what_is_behind_it_reads_values() {
    let mask = Arc::new(mask(&[secret("PASSWORD", "hunter2hunter2")]));
    let placeholder = mask.hide("hunter2hunter2").into_owned();
    let signed = json!({ "signature": "c2lnbmVk" });
    let thinking = AssistantBlock::Thinking { text: format!("use {placeholder}"), vendor: Some(signed.clone()) };
    let (id, input) = (ToolCallId::from("c1"), json!({ "command": format!("login '{placeholder}'") }));
    let content = vec![
        thinking.clone(),
        AssistantBlock::text(format!("With {placeholder}.")),
        AssistantBlock::tool_call(id.clone(), "run", input.clone()),
    ];
    let response = Response { content: content.clone(), stop: Stop::ToolUse, why: None, usage: Usage::default() };
    let (begin, end) = placeholder.split_at(11);
    let json = input.to_string();
    let (json_begin, json_end) = json.split_at(30);
    let model = says(vec![
        ModelEvent::Thinking(format!("use {placeholder}")),
        ModelEvent::Text(format!("With {begin}")),
        ModelEvent::Used(Usage::default()),
        ModelEvent::Text(format!("{end}.<<")),
        ModelEvent::ToolCallStarted { id: id.clone(), name: "run".to_owned() },
        ModelEvent::ToolCallInput { id: id.clone(), json: json_begin.to_owned() },
        ModelEvent::ToolCallInput { id: id.clone(), json: json_end.to_owned() },
        ModelEvent::Finished(response),
    ]);
    let masked = crate::model(Arc::clone(&model) as Arc<dyn Model>, Arc::new(Fixed(Arc::clone(&mask))));
    let asked = Arc::new(Message::User(vec![UserBlock::Text("log in with hunter2hunter2".to_owned())]));
    let events: Vec<_> = masked.stream(request(vec![Arc::clone(&asked)])).await.unwrap().collect().await;
    let (mut text, mut typed, mut whole) = (String::new(), String::new(), Vec::new());
    for event in events {
        match event.unwrap() {
            ModelEvent::Text(piece) => text.push_str(&piece),
            ModelEvent::ToolCallInput { json, .. } => typed.push_str(&json),
            ModelEvent::Finished(response) => whole = response.content,
            ModelEvent::Thinking(piece) => assert_eq!(piece, format!("use {placeholder}"), "as it was sent"),
            ModelEvent::Opened(_) | ModelEvent::Used(_) | ModelEvent::ToolCallStarted { .. } => {}
        }
    }
    assert_eq!(text, "With hunter2hunter2.<<");
    assert_eq!(typed, "{\"command\":\"login 'hunter2hunter2'\"}");
    assert_eq!(whole[0], thinking, "signed thinking stays byte for byte");
    assert_eq!(whole[2], AssistantBlock::tool_call(id.clone(), "run", json!({ "command": "login 'hunter2hunter2'" })));
    // The conversation goes on, over the same model and over one after a restart.
    let result = ToolResult { tool_call_id: id, text: "welcome, hunter2hunter2".to_owned(), is_error: false };
    let messages = vec![asked, Arc::new(Message::Assistant(whole)), Arc::new(Message::ToolResults(vec![result]))];
    let again = crate::model(Arc::clone(&model) as Arc<dyn Model>, Arc::new(Fixed(Arc::clone(&mask))));
    let _ = masked.stream(request(messages.clone())).await.unwrap();
    let _ = again.stream(request(messages)).await.unwrap();
    let asked = model.asked.lock().unwrap();
    assert!(!format!("{asked:?}").contains("hunter2hunter2"), "{asked:?}");
    assert_eq!(asked[1].messages[0], asked[0].messages[0], "the beginning stays, for the vendor's cache");
    assert_eq!(*asked[1].messages[1], Message::Assistant(content), "the model reads what it wrote");
    assert_eq!(asked[2].messages, asked[1].messages);
    assert_eq!((&asked[2].system, &asked[2].tools), (&asked[0].system, &asked[0].tools));
}

struct Edits {
    info: FillInfo,
    asked: Mutex<Option<NextEdit>>,
}

#[async_trait]
impl EditNext for Edits {
    fn info(&self) -> &FillInfo {
        &self.info
    }

    fn window(&self) -> Window {
        Window { before: 1, after: 1 }
    }

    async fn edit(&self, request: NextEdit) -> Result<Rewritten, ModelError> {
        let text = request.excerpt.get(request.window.clone()).map(|text| text.replace('1', "2"));
        *self.asked.lock().unwrap() = Some(request);
        Ok(Rewritten { text, is_cut: false, usage: Usage::default() })
    }
}

#[tokio::test]
async fn the_next_edit_of_a_line_with_a_secret_keeps_the_secret() {
    let (id, tokens) = ("t/m".to_owned(), Arc::from([]));
    let info = FillInfo { id, is_local: true, price: None, context_bytes: 100, control_tokens: tokens };
    let model = Arc::new(Edits { info, asked: Mutex::default() });
    let masks = Arc::new(Fixed(Arc::new(mask(&[secret("P", "hunter-hunter-hunter!")]))));
    let edits = crate::edit_next(Arc::clone(&model) as Arc<dyn EditNext>, masks);
    let (before, window) = ("p = hunter-hunter-hunter!\n", "a = 1 # hunter-hunter-hunter!\n");
    let request = NextEdit {
        path: "a.py".to_owned(),
        language: "python".to_owned(),
        excerpt: format!("{before}{window}"),
        excerpt_line: 0,
        window: before.len()..before.len() + window.len(),
        cursor: before.len() + 5,
        history: Vec::new(),
        related: vec![Excerpt { path: "b".to_owned(), text: before.to_owned() }],
        problems: Vec::new(),
        deadline: std::time::Duration::from_secs(1),
    };
    let answer = edits.edit(request).await.unwrap();
    assert_eq!(answer.text.unwrap(), "a = 2 # hunter-hunter-hunter!\n");
    let asked = model.asked.lock().unwrap().take().unwrap();
    assert!(!format!("{asked:?}").contains("hunter-hunter"), "{asked:?}");
    assert!(asked.excerpt[..asked.cursor].ends_with("a = 1") && asked.excerpt[asked.window].starts_with("a = 1 # <<"));
}

struct Fills {
    info: FillInfo,
    asked: Mutex<Option<Fill>>,
}

#[async_trait]
impl Complete for Fills {
    fn info(&self) -> &FillInfo {
        &self.info
    }

    /// Gives what stands before the cursor, in two pieces.
    async fn fill(&self, request: Fill) -> Result<FillStream, ModelError> {
        let (begin, end) = request.prefix.split_at(request.prefix.len() / 2);
        let pieces = [begin, end].map(|piece| Ok(FillEvent::Text(piece.to_owned())));
        let finished = FillEvent::Finished { is_cut: false, usage: Usage::default(), cached: None };
        *self.asked.lock().unwrap() = Some(request);
        Ok(stream::iter(pieces.into_iter().chain([Ok(finished)])).boxed())
    }
}

#[tokio::test]
async fn what_is_filled_in_has_the_secret_and_the_model_that_fills_it_in_has_not() {
    let (id, tokens) = ("t/m".to_owned(), Arc::from([]));
    let info = FillInfo { id, is_local: true, price: None, context_bytes: 100, control_tokens: tokens };
    let model = Arc::new(Fills { info, asked: Mutex::default() });
    let masks = Arc::new(Fixed(Arc::new(mask(&[secret("P", "hunter-hunter-hunter!")]))));
    let fills = crate::complete(Arc::clone(&model) as Arc<dyn Complete>, masks);
    let text = "hunter-hunter-hunter!";
    let request = Fill {
        path: format!("{text}.py"),
        language: "python".to_owned(),
        prefix: text.to_owned(),
        suffix: format!("# {text}"),
        extra: vec![Excerpt { path: "b".to_owned(), text: text.to_owned() }],
        max_tokens: 10,
        stops: Vec::new(),
        is_varied: false,
        deadline: std::time::Duration::from_secs(1),
    };
    let events: Vec<_> = fills.fill(request).await.unwrap().collect().await;
    let filled = events.iter().filter_map(|event| match event {
        Ok(FillEvent::Text(text)) => Some(text.as_str()),
        _ => None,
    });
    assert_eq!(filled.collect::<String>(), text);
    assert!(matches!(events.last(), Some(Ok(FillEvent::Finished { .. }))));
    assert!(!format!("{:?}", model.asked.lock().unwrap()).contains("hunter-hunter"));
}
