//! Whole requests for the next edit over real HTTP on this machine, in each dialect, and parsers that are given
//! anything.

use std::sync::Arc;
use std::time::Duration;

use ports::complete::{EditNext, NextEdit};
use ports::model::ModelErrorKind;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::parts::Parts;
use super::parts::testing::{NEW, request};
use super::{EditDialect, resolve, resolve_with};
use crate::loopback::server::{Answer, Server};
use crate::scripted::Scripted;
use crate::{Catalog, CatalogError, Settings};

const KEY: &str = "sk-very-secret-key";

fn settings(provider: &str, model: &str, server: &Server) -> Settings {
    let mut settings = Settings::from_env(|_| None);
    settings.providers.retain(|known| known.name == provider);
    let wire = (provider == "mine").then_some("openai-chat");
    settings.set_provider(provider, Some(server.url()), Some(KEY.into()), wire, vec![model.into()]).unwrap();
    settings
}

async fn model(provider: &str, model: &str, server: &Server) -> Arc<dyn EditNext> {
    let settings = settings(provider, model, server);
    resolve(&settings, &Catalog::new(settings.clone()), &format!("{provider}/{model}")).await.unwrap()
}

/// A stream of OpenAI's, with the text in this field of a choice.
fn stream(text: &str, piece: impl Fn(&str) -> Value) -> Answer {
    let (first, second) = text.split_at(text.len() / 2);
    let events = [first, second].map(|text| format!("data: {}\n\n", json!({"choices": [piece(text)]})));
    let last = json!({"choices": [{"finish_reason": "stop"}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 12}});
    Answer::stream(&format!("{}data: {last}\n\ndata: [DONE]\n\n", events.concat()))
}

fn completion(text: &str) -> Answer {
    stream(text, |text| json!({ "text": text }))
}

fn message(text: &str) -> Answer {
    stream(text, |text| json!({"delta": {"content": text}}))
}

fn whole(text: &str) -> Answer {
    let body = json!({"id": "1", "object": "chat.completion", "choices": [{"index": 0,
        "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 12}});
    Answer::status(200, &body.to_string()).with_header("content-type", "application/json")
}

fn lines(text: &str) -> Answer {
    let lines = [
        json!({"response": text, "done": false}),
        json!({"response": "", "done": true, "done_reason": "stop", "prompt_eval_count": 50, "eval_count": 12}),
    ];
    Answer::status(200, &lines.map(|line| format!("{line}\n")).concat())
        .with_header("content-type", "application/x-ndjson")
}

#[tokio::test]
async fn each_dialect_asks_where_its_model_is_and_reads_the_answer() {
    let rest = "    w * h\n}\n";
    let words = format!("<azimuth_window>\n{NEW}</azimuth_window>");
    for (provider, name, answer, path, window) in [
        ("mine", "sweepai/sweep-next-edit-1.5b", completion(rest), "/v1/completions", (10, 10)),
        ("ollama", "sweep-next-edit:1.5b", lines(rest), "/api/generate", (10, 10)),
        ("mine", "zed-industries/zeta", completion(NEW), "/v1/completions", (15, 15)),
        ("llama.cpp", "zeta-2-q4_k_m", completion(NEW), "/v1/completions", (15, 15)),
        ("inception", "mercury-edit-2", whole(&format!("```\n{NEW}```")), "/v1/edit/completions", (5, 10)),
        ("mine", "continuedev/instinct", message(NEW), "/v1/chat/completions", (1, 5)),
        ("mine", "some-chat-model", message(&words), "/v1/chat/completions", (10, 10)),
    ] {
        let server = Server::start(vec![answer]).await;
        let model = model(provider, name, &server).await;
        assert_eq!((model.window().before, model.window().after), window, "{name}");
        assert_eq!(model.info().id, format!("{provider}/{name}"));
        let rewritten = model.edit(request()).await.unwrap();
        assert_eq!(rewritten.text.as_deref(), Some(NEW), "{name}");
        assert_eq!((rewritten.is_cut, rewritten.usage.input, rewritten.usage.output), (false, 50, 12), "{name}");
        let asked = server.asked();
        assert_eq!((asked.len(), asked[0].path.as_str()), (1, path), "{name}");
        assert_eq!(asked[0].headers["authorization"], format!("Bearer {KEY}"), "{name}");
    }
}

#[tokio::test]
async fn bodies_are_what_the_servers_take_and_the_same_each_time() {
    let none = whole("None");
    let server = Server::start(vec![none.clone(), none]).await;
    let mercury = model("inception", "mercury-edit-2", &server).await;
    assert_eq!(mercury.edit(request()).await.unwrap().text, None);
    assert_eq!(mercury.edit(request()).await.unwrap().text, None);
    let asked = server.asked();
    assert_eq!(asked[0].body, asked[1].body);
    let sent: Value = serde_json::from_str(&asked[0].body).unwrap();
    let prompt = super::mercury::prompt(&request(), &Parts::of(&request()).unwrap());
    let expected = json!({"model": "mercury-edit-2", "stream": false,
        "messages": [{"role": "user", "content": prompt}]});
    assert_eq!(sent, expected, "one message, and no stream");

    let server = Server::start(vec![lines("NO_EDITS")]).await;
    let zeta = model("ollama", "zeta-2", &server).await;
    assert_eq!(zeta.edit(request()).await.unwrap().text, None);
    let sent: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    let prompt = super::zeta2::prompt(&request(), &Parts::of(&request()).unwrap());
    let expected = json!({"model": "zeta-2", "raw": true, "think": false, "stream": true, "keep_alive": "30m",
        "options": {"num_predict": 278, "temperature": 0.0, "stop": [">>>>>>> UPDATED", "<[end▁of▁sentence]>"]},
        "prompt": prompt});
    assert_eq!(sent, expected, "the template of the server is not used");

    let server = Server::start(vec![completion("")]).await;
    let sweep = model("mine", "sweep-next-edit-1.5b", &server).await;
    assert_eq!(sweep.edit(request()).await.unwrap().text, None);
    let sent: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    assert_eq!((&sent["stop"], &sent["max_tokens"]), (&json!(["<|file_sep|>", "<|endoftext|>"]), &json!(278)));
    assert!(sent.get("suffix").is_none());
}

#[tokio::test]
async fn an_answer_in_another_language_is_garbage() {
    let prose = "I would multiply the two.";
    for (provider, name, answer) in [
        ("inception", "mercury-edit-2", whole(prose)),
        ("mine", "some-chat-model", message(prose)),
        ("mine", "zeta", completion("<|fim_prefix|>")),
        ("mine", "sweep-next-edit-1.5b", completion("    w<|im_start|>")),
        ("mine", "zeta-2", completion("<[fim-suffix]>")),
        ("mine", "instinct", message("<|im_start|>")),
        ("mine", "zeta", Answer::stream("<html>\n</html>\n")),
        ("mine", "zeta", Answer::status(200, "<html>").with_header("content-type", "text/html")),
    ] {
        let server = Server::start(vec![answer]).await;
        let failure = model(provider, name, &server).await.edit(request()).await.unwrap_err();
        assert_eq!(failure.kind, ModelErrorKind::Garbage, "{name}: {failure}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_dies_or_refuses_gives_a_typed_error() {
    for (provider, name) in [("inception", "mercury-edit-2"), ("mine", "zeta"), ("mine", "some-chat-model")] {
        for (answer, kind) in [
            (Answer::never(), ModelErrorKind::Incomplete),
            (Answer::stream("data: {\"choices\":[]}\n\n").then_silent(), ModelErrorKind::Incomplete),
            (Answer::stream("data: {\"choices\":[]}\n\n").then_dropped(), ModelErrorKind::Incomplete),
            (Answer::status(500, "{}"), ModelErrorKind::Transient),
            (Answer::status(401, "{}"), ModelErrorKind::Unauthorized),
            (Answer::status(429, "{}"), ModelErrorKind::RateLimited { retry_after: None }),
        ] {
            let server = Server::start(vec![answer]).await;
            let request = NextEdit { deadline: Duration::from_millis(200), ..request() };
            let failure = model(provider, name, &server).await.edit(request).await.unwrap_err();
            assert_eq!(failure.kind, kind, "{name}: {failure}");
            assert!(!failure.message.contains(KEY));
        }
    }
}

#[tokio::test]
async fn dropping_the_request_closes_the_connection_within_a_second() {
    for (provider, name) in [("inception", "mercury-edit-2"), ("ollama", "zeta-2")] {
        let server = Server::start(vec![Answer::stream("").then_silent()]).await;
        let model = model(provider, name, &server).await;
        assert!(tokio::time::timeout(Duration::from_millis(100), model.edit(request())).await.is_err());
        tokio::time::timeout(Duration::from_secs(1), server.until_left()).await.expect("the connection is closed");
    }
}

#[tokio::test]
async fn a_text_with_a_mark_of_the_dialect_is_not_sent_and_what_is_beside_it_is_left_out() {
    let server = Server::start(vec![lines("NO_EDITS")]).await;
    let model = model("ollama", "zeta-2", &server).await;
    let mut marked = request();
    marked.excerpt = marked.excerpt.replace("fmt", "<|user_cursor|>");
    assert_eq!(model.edit(marked).await.unwrap_err().kind, ModelErrorKind::Rejected);
    assert!(server.asked().is_empty());
    let mut beside = request();
    beside.related[0].text = "<[fim-prefix]>".into();
    beside.history[0].before = ">>>>>>> UPDATED\n".into();
    model.edit(beside).await.unwrap();
    let body = &server.asked()[0].body;
    assert!(!body.contains("src/b.rs") && !body.contains("edit_history"), "{body}");
    let outside = NextEdit { cursor: 0, ..request() };
    assert_eq!(model.edit(outside).await.unwrap_err().kind, ModelErrorKind::Rejected);
}

#[tokio::test]
async fn a_dialect_can_be_named_and_one_that_is_not_known_is_said() {
    let server = Server::start(vec![completion("    w * h\n}\n")]).await;
    let settings = settings("mine", "my-finetune", &server);
    let catalog = Catalog::new(settings.clone());
    let model = resolve_with(&settings, &catalog, "mine/my-finetune", EditDialect::Sweep).await.unwrap();
    assert_eq!(model.edit(request()).await.unwrap().text.as_deref(), Some(NEW));
    for later in ["mine/zeta-2.1", "mine/zeta2.1-q4"] {
        let unfit = resolve(&settings, &catalog, later).await.err().unwrap();
        assert!(matches!(unfit, CatalogError::Unfit { .. }), "{unfit}");
    }
    for (name, dialect) in EditDialect::NAMES {
        assert_eq!(EditDialect::parse(name), Some(dialect));
    }
}

#[tokio::test]
async fn a_model_that_the_configuration_rules_out_suggests_no_edits() {
    let server = Server::start(vec![]).await;
    let allowing = settings("mine", "zeta", &server);
    let catalog = Catalog::new(allowing.clone());
    let disabled = Settings { disabled_providers: vec!["mine".into()], ..allowing.clone() };
    let other_model = Settings { enabled_models: vec!["sweep*".into()], ..allowing.clone() };
    for (settings, setting) in [(&disabled, "disabled_providers"), (&other_model, "enabled_models")] {
        for dialect in [EditDialect::Zeta, EditDialect::Chat] {
            let Err(error) = resolve_with(settings, &catalog, "mine/zeta", dialect).await else { panic!("{setting}") };
            assert!(matches!(&error, CatalogError::RuledOut { .. }), "{error}");
            assert!(error.to_string().contains(setting), "{error}");
        }
    }
    assert!(resolve(&allowing, &catalog, "mine/zeta").await.is_ok());
}

#[tokio::test]
async fn a_model_is_resolved_in_a_task_of_its_own() {
    let settings = Settings { providers: Vec::new(), ..Settings::default() };
    let task = tokio::spawn(async move {
        let catalog = Catalog::new(settings.clone());
        resolve(&settings, &catalog, "a/b").await.is_ok()
    });
    assert!(!task.await.unwrap());
}

#[tokio::test]
async fn a_scripted_model_edits_next_under_its_name() {
    let settings = Settings::from_env(|_| None);
    let catalog = Catalog::new(settings.clone());
    let script = json!({"name": "typing", "edits": [{"after": "w * ", "replace": {"old": "w * ", "new": "w * h"}}]});
    catalog.add_scripted(Scripted::from_json(&script.to_string()).unwrap());
    let model = resolve(&settings, &catalog, "scripted/typing").await.unwrap();
    assert_eq!(model.edit(request()).await.unwrap().text.as_deref(), Some(NEW));
}

#[test]
fn recorded_answers_come_to_the_new_text_of_the_windows_that_they_were_asked_for() {
    macro_rules! recorded {
        ($name:literal) => {
            include_str!(concat!("../../../../../tests/corpus/inline/cursortab/next_edits/", $name, ".json"))
        };
    }
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let scenarios = read(recorded!("scenarios"));
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    let targets = [
        recorded!("mercuryapi"),
        recorded!("sweep-next-edit-0.5B"),
        recorded!("sweep-next-edit-1.5B"),
        recorded!("sweep-next-edit-7B"),
        recorded!("zeta"),
        recorded!("zeta-2"),
    ];
    for target in targets.map(read) {
        let dialect = EditDialect::parse(target["dialect"].as_str().unwrap()).unwrap();
        let answers = target["answers"].as_object().unwrap();
        assert_eq!(answers.len(), 35);
        for (name, recorded) in answers {
            let window = number(&recorded["window"][0])..number(&recorded["window"][1]);
            let excerpt = scenarios[name]["text"].as_str().unwrap().to_owned();
            let request = NextEdit { excerpt, window, cursor: number(&recorded["cursor"]), ..request() };
            let parts = Parts::of(&request).unwrap();
            let new = dialect.parse_answer(recorded["answer"].as_str().unwrap(), &parts).unwrap();
            assert_eq!(new.as_deref(), recorded["new"].as_str(), "{dialect:?}, {name}");
        }
    }
}

proptest! {
    #[test]
    fn no_answer_makes_a_parser_panic(
        answer in concat!(
            ".{0,80}|(```|\\n|None|NO_EDITS|NO_CHANGE|<azimuth_window>|</azimuth_window>|<\\|code_to_edit\\|>|",
            "<\\|/code_to_edit\\|>|<\\|editable_region_start\\|>|<\\|editable_region_end\\|>|>>>>>>> UPDATED|",
            "ä|fn area){0,12}",
        ),
    ) {
        let request = request();
        let parts = Parts::of(&request).unwrap();
        for (_, dialect) in EditDialect::NAMES {
            if let Ok(Some(text)) = dialect.parse_answer(&answer, &parts) {
                prop_assert!(text.ends_with('\n') && text != parts.window, "{dialect:?}: {text:?}");
            }
        }
    }

    #[test]
    fn no_request_makes_a_prompt_panic(
        excerpt in "[a-zä\\n ]{0,40}", start in 0..50usize, end in 0..50usize, cursor in 0..50usize,
        before in "[ab\\n]{0,8}", after in "[ab\\n]{0,8}", line in 0..9usize,
    ) {
        let mut request = request();
        request.history[0].before = before;
        request.history[0].after = after;
        request.history[0].line = line;
        let request = NextEdit { excerpt, window: start.min(end)..end, cursor, ..request };
        if let Some(parts) = Parts::of(&request) {
            for (_, dialect) in EditDialect::NAMES {
                let (one, other) = (dialect.prompt(&request, &parts), dialect.prompt(&request, &parts));
                prop_assert_eq!(one, other);
            }
        }
    }
}
