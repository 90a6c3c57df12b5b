//! Text suggested at the cursor, by LSP's own method and by ours, with a model server that speaks llama.cpp's format.

use std::time::{Duration, Instant};

use harness::{Client, FillServer, Filled, Profile, Project, Setup};
use protocol::inline::{InlineCompleteResult, Rule};
use protocol::methods;
use serde_json::{Value, json};

const MAIN: &str = "fn main() {\n    let numbers = [1, 2, 3];\n    let sum = \n}\n";

/// An editor that knows LSP 3.18 and has no plugin of ours.
fn standard() -> Profile {
    Profile::plain().with("/textDocument/inlineCompletion", json!({ "dynamicRegistration": false }))
}

/// The folders of a test, which are there as long as it runs.
struct World {
    project: Project,
    _setup: Setup,
}

/// A user whose suggestions come from this server, with the first of some files open.
async fn typing(model: &FillServer, files: &[(&str, &str)], profile: Profile) -> (Client, World, String) {
    let setup = Setup::empty();
    setup.configure(&model.configuration());
    let project = Project::new(files.iter().copied());
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    let uri = project.uri(files[0].0);
    client.open(&uri);
    (client, World { project, _setup: setup }, uri)
}

/// Asks at the end of what first fits a text.
async fn asked(client: &Client, uri: &str, behind: &str, trigger: u32) -> Value {
    client.request("textDocument/inlineCompletion", at(client, uri, behind, trigger)).await.unwrap()
}

fn at(client: &Client, uri: &str, behind: &str, trigger: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": place(client, uri, behind), "context": { "triggerKind": trigger } })
}

fn place(client: &Client, uri: &str, behind: &str) -> Value {
    let text = client.text(uri);
    let end = text.find(behind).unwrap_or_else(|| panic!("{behind:?} is not in {text:?}")) + behind.len();
    let line = text[..end].matches('\n').count();
    let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": text[start..end].encode_utf16().count() })
}

async fn ours(client: &Client, uri: &str, behind: &str) -> InlineCompleteResult {
    ours_with(client, uri, behind, json!({})).await
}

/// The same with further parameters.
async fn ours_with(client: &Client, uri: &str, behind: &str, more: Value) -> InlineCompleteResult {
    let mut params = json!({ "textDocument": { "uri": uri }, "position": place(client, uri, behind) });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.call::<methods::InlineComplete>(params).await
}

fn rule(result: &InlineCompleteResult) -> Option<Rule> {
    assert!(result.items.is_empty(), "{result:?}");
    result.reason.as_ref().map(|reason| reason.rule)
}

#[tokio::test]
async fn an_editor_that_knows_only_lsp_is_given_text_at_the_cursor() {
    let model = FillServer::start(|_| Filled::with("numbers.iter().sum::<i32>();"));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    let answer = asked(&client, &uri, "let sum = ", 2).await;
    let item = &answer["items"][0];
    assert_eq!(item["insertText"], "numbers.iter().sum::<i32>();");
    let here = json!({ "line": 2, "character": 14 });
    assert_eq!(item["range"], json!({ "start": here, "end": here }), "a range is always given, on one line");
    assert_eq!(item["command"]["command"], "azimuth.inline.accepted");
    assert_eq!(answer["items"].as_array().unwrap().len(), 1);
    let asked = model.asked_times(1).await;
    assert!(asked.prefix().ends_with("    let sum = ") && asked.suffix().starts_with("\n}\n"), "{asked:?}");
    client.request("workspace/executeCommand", item["command"].clone()).await.unwrap();
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_the_user_types_of_a_suggestion_is_taken_off_it_without_asking_again() {
    let model = FillServer::start(|_| Filled::with("numbers.iter().sum::<i32>();"));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    asked(&client, &uri, "let sum = ", 2).await;
    let mut typed = "let sum = ".to_owned();
    for letter in "numbers.iter()".chars() {
        let next = format!("{typed}{letter}");
        client.replace(&uri, &typed, &next);
        typed = next;
        let answer = asked(&client, &uri, &typed, 2).await;
        let text = format!("{typed}{}", answer["items"][0]["insertText"].as_str().unwrap());
        assert_eq!(text, "let sum = numbers.iter().sum::<i32>();");
    }
    client.replace(&uri, "numbers.iter()", "numbers.it");
    let answer = asked(&client, &uri, "numbers.it", 2).await;
    assert_eq!(answer["items"][0]["insertText"], "er().sum::<i32>();", "what is deleted comes back");
    assert_eq!(model.asked().len(), 1, "one request served all keys");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_request_that_runs_serves_the_keys_that_follow_it_and_any_other_key_ends_it() {
    let pause = Duration::from_millis(600);
    let model = FillServer::start(move |asked| match asked.prefix().ends_with("= x") {
        true => Filled::with(".len();"),
        false => Filled::with("numbers").then(pause, ".iter().sum::<i32>();"),
    });
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    let first = client.request("textDocument/inlineCompletion", at(&client, &uri, "let sum = ", 2));
    model.asked_times(1).await;
    client.replace(&uri, "let sum = ", "let sum = n");
    let second = asked(&client, &uri, "let sum = n", 2).await;
    assert_eq!(second["items"][0]["insertText"], "umbers.iter().sum::<i32>();");
    assert_eq!(first.await.unwrap(), Value::Null, "the earlier request is of a text that is gone");
    assert_eq!(model.asked().len(), 1);

    client.replace(&uri, "let sum = n", "let sum = ");
    client.replace(&uri, "[1, 2, 3]", "[1, 2, 3, 4]");
    let slow = client.request("textDocument/inlineCompletion", at(&client, &uri, "let sum = ", 2));
    model.asked_times(2).await;
    let typed = Instant::now();
    client.replace(&uri, "let sum = ", "let sum = x");
    let ended = model.closed(1).await - typed;
    assert!(ended < Duration::from_millis(100), "{ended:?}");
    assert_eq!(slow.await.unwrap(), Value::Null);
    assert_eq!(asked(&client, &uri, "let sum = x", 1).await["items"][0]["insertText"], ".len();");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_request_that_is_cancelled_closes_its_connection_at_once() {
    let model = FillServer::start(|_| Filled::with("numbers").hanging());
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    let (id, request) = client.request_with_id("textDocument/inlineCompletion", at(&client, &uri, "let sum = ", 2));
    model.asked_times(1).await;
    let cancelled = Instant::now();
    client.notify("$/cancelRequest", json!({ "id": id }));
    let ended = model.closed(0).await - cancelled;
    assert!(ended < Duration::from_millis(100), "the aim is 10 ms: {ended:?}");
    assert_eq!(request.await.unwrap_err().code, -32800);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_answer_for_another_text_is_never_given() {
    let model = FillServer::start(|_| Filled::with("numbers.len();").after(Duration::from_millis(300)));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    let request = client.request("textDocument/inlineCompletion", at(&client, &uri, "let sum = ", 2));
    model.asked_times(1).await;
    client.replace(&uri, "fn main", "pub fn main");
    assert_eq!(request.await.unwrap(), Value::Null);
    let params =
        json!({ "textDocument": { "uri": uri, "version": 1 }, "position": place(&client, &uri, "let sum = ") });
    let old = client.call::<methods::InlineComplete>(params).await;
    assert_eq!(rule(&old), Some(Rule::Stale), "a version that is gone");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_was_rejected_is_not_suggested_there_again() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], Profile::panel()).await;
    let result = ours(&client, &uri, "let sum = ").await;
    let id = &result.items[0].id;
    for event in ["shown", "rejected"] {
        client.notify("azimuth/inline/feedback", json!({ "id": id, "event": event }));
    }
    assert_eq!(rule(&ours(&client, &uri, "let sum = ").await), Some(Rule::Rejected));
    client.replace(&uri, "fn main", "// The sum of some numbers.\nfn main");
    assert_eq!(rule(&ours(&client, &uri, "let sum = ").await), Some(Rule::Rejected), "it moved with the text");
    let explained = client.call::<methods::InlineExplain>(json!({ "uri": uri })).await;
    let reasons: Vec<_> = explained.decisions.iter().map(|it| it.reason.as_ref().map(|reason| reason.rule)).collect();
    assert_eq!(reasons, [Some(Rule::Rejected), Some(Rule::Rejected), None]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn nothing_of_a_file_that_must_not_be_read_is_sent() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let files = [
        ("main.rs", MAIN),
        (".gitignore", "ignored/\n"),
        ("ignored/a.rs", MAIN),
        (".env", "API_TOKEN=aaaaaaaaaaaaaaaaaa\nOTHER_TOKEN="),
        ("denied.rs", MAIN),
    ];
    let setup = Setup::empty();
    setup.configure(&format!("{}\n[permissions]\ndeny = [\"Read(denied.rs)\"]\n", model.configuration()));
    let project = Project::new(files);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("azimuth/inline/status");
    for (file, behind, expected) in [
        ("ignored/a.rs", "let sum = ", Rule::Ignored),
        (".env", "OTHER_TOKEN=", Rule::SecretFile),
        ("denied.rs", "let sum = ", Rule::Denied),
    ] {
        let uri = project.uri(file);
        client.open(&uri);
        assert_eq!(rule(&ours(&client, &uri, behind).await), Some(expected), "{file}");
    }
    assert!(model.asked().is_empty());
    let uri = project.uri("main.rs");
    client.open(&uri);
    assert_eq!(ours(&client, &uri, "let sum = ").await.items.len(), 1);
    let sent = model.asked().into_iter().flat_map(|asked| asked.bytes).collect::<Vec<_>>();
    assert!(!String::from_utf8_lossy(&sent).contains("aaaaaaaa"), "no other file's secrets come along either");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_link_to_a_file_and_the_file_must_both_be_allowed() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let (client, world, _) = typing(&model, &[("main.rs", MAIN), ("env/development", MAIN)], Profile::panel()).await;
    std::os::unix::fs::symlink(world.project.path("env/development"), world.project.path(".env")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", world.project.path("host.rs")).unwrap();
    for (file, expected) in [(".env", Rule::SecretFile), ("host.rs", Rule::Outside)] {
        let uri = world.project.uri(file);
        client.open_with(&uri, MAIN);
        assert_eq!(rule(&ours(&client, &uri, "let sum = ").await), Some(expected), "{file}");
    }
    assert!(model.asked().is_empty());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_file_of_a_folder_that_has_left_the_workspace_is_not_sent() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], Profile::panel()).await;
    assert_eq!(ours(&client, &uri, "let sum = ").await.items.len(), 1);
    let folder = json!({ "uri": uri.strip_suffix("/main.rs").unwrap(), "name": "project" });
    client.notify("workspace/didChangeWorkspaceFolders", json!({ "event": { "added": [], "removed": [folder] } }));
    client.replace(&uri, "let sum = ", "let total = ");
    assert!(rule(&ours(&client, &uri, "let total = ").await).is_some());
    assert_eq!(model.asked().len(), 1);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_request_that_a_rule_silences_leaves_nothing_behind_that_asks_the_model() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], Profile::panel()).await;
    let params = json!({ "textDocument": { "uri": uri }, "position": place(&client, &uri, "let sum = ") });
    let first = client.request("azimuth/inline/complete", params);
    let second = ours_with(&client, &uri, "let sum = ", json!({ "selecting": true })).await;
    assert_eq!(rule(&second), Some(Rule::Cursors));
    let first: InlineCompleteResult = serde_json::from_value(first.await.unwrap()).unwrap();
    assert_eq!(rule(&first), Some(Rule::Overtaken));
    // This one comes to the model after the pause of the first would have been over.
    ours(&client, &uri, "[1, 2, 3];").await;
    let asked = model.asked();
    assert!(asked.len() == 1 && asked[0].prefix().ends_with("[1, 2, 3];"), "{asked:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn who_undoes_an_accepted_suggestion_does_not_see_it_again_unless_they_ask() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    asked(&client, &uri, "let sum = ", 2).await;
    client.replace(&uri, "let sum = ", "let sum = numbers.len();");
    client.replace(&uri, "let sum = numbers.len();", "let sum = ");
    assert_eq!(asked(&client, &uri, "let sum = ", 2).await, Value::Null);
    assert_eq!(asked(&client, &uri, "let sum = ", 1).await["items"][0]["insertText"], "numbers.len();");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn nothing_is_sent_before_the_workspace_is_trusted() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let profile = Profile { trust: Some("restricted"), ..Profile::panel() };
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], profile).await;
    assert_eq!(rule(&ours(&client, &uri, "let sum = ").await), Some(Rule::Untrusted));
    assert!(model.asked().is_empty());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_looks_like_a_key_in_a_file_is_not_sent() {
    let key = ["sk-ant-", "api03-Zx81mQ0pLr7Tn2Vb5Yc9Wd4Ue6"].concat();
    let main = format!("const KEY: &str = \"{key}\";\n{MAIN}");
    let other = format!(
        "const OTHER: &str = \"{key}\";\nfn sum(numbers: &[i32]) -> i32 {{ let sum = numbers.iter().sum(); sum }}\n"
    );
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let (client, world, uri) = typing(&model, &[("main.rs", &main), ("other.rs", &other)], Profile::panel()).await;
    client.open(&world.project.uri("other.rs"));
    assert_eq!(ours(&client, &uri, "let sum = ").await.items.len(), 1);
    client.replace(&uri, "let sum = ", "let total = ");
    ours(&client, &uri, "let total = ").await;
    let asked = model.asked();
    assert!(
        asked.len() >= 2 && asked.iter().any(|asked| !asked.extra().is_empty()),
        "another file is like it: {asked:?}"
    );
    let sent = asked.into_iter().flat_map(|asked| asked.bytes).collect::<Vec<_>>();
    assert!(!String::from_utf8_lossy(&sent).contains("Zx81mQ0"));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_server_that_answers_badly_ends_in_silence_with_a_reason() {
    let model = FillServer::start(|asked| match asked.prefix() {
        text if text.ends_with("garbage = ") => Filled::raw("200 OK", "text/event-stream", "data: {]\n\n"),
        text if text.ends_with("page = ") => Filled::raw("200 OK", "text/html", "<html>Sign in</html>"),
        text if text.ends_with("error = ") => Filled::raw("500 Internal Server Error", "text/plain", "no"),
        text if text.ends_with("long = ") => Filled::with(&"x = 1;\n".repeat(1_500_000)),
        text if text.ends_with("death = ") => Filled::with("numb").dying(),
        text if text.ends_with("blank = ") => Filled::with("  \n"),
        _ => Filled::with("numbers.len();"),
    });
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], Profile::panel()).await;
    let mut name = "sum".to_owned();
    for (next, expected) in [
        ("garbage", &[Rule::Garbage, Rule::Failed][..]),
        ("page", &[Rule::Garbage, Rule::Failed]),
        ("error", &[Rule::Failed]),
        ("long", &[Rule::TooLong, Rule::Repetition, Rule::Failed, Rule::Garbage]),
        ("death", &[Rule::Failed]),
        ("blank", &[Rule::Empty]),
    ] {
        client.replace(&uri, &format!("let {name} = "), &format!("let {next} = "));
        name = next.to_owned();
        // A server that fails is asked less often, but at once for who asks.
        let result = ours_with(&client, &uri, &format!("let {next} = "), json!({ "trigger": "invoked" })).await;
        assert!(rule(&result).is_some_and(|found| expected.contains(&found)), "{next}: {result:?}");
    }
    client.replace(&uri, &format!("let {name} = "), "let good = ");
    let good = ours_with(&client, &uri, "let good = ", json!({ "trigger": "invoked" })).await;
    assert_eq!(good.items.len(), 1, "and it goes on: {good:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_document_that_is_closed_meanwhile_ends_the_request() {
    let model = FillServer::start(|_| Filled::with("numbers").hanging());
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], Profile::panel()).await;
    let params = json!({ "textDocument": { "uri": uri }, "position": place(&client, &uri, "let sum = ") });
    let request = client.request("azimuth/inline/complete", params);
    model.asked_times(1).await;
    client.close(&uri);
    let result: InlineCompleteResult = serde_json::from_value(request.await.unwrap()).unwrap();
    assert_eq!(rule(&result), Some(Rule::Closed));
    model.closed(0).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn inline_completion_is_registered_only_while_there_is_a_model() {
    let model = FillServer::start(|_| Filled::with("numbers.len();"));
    let setup = Setup::empty();
    let project = Project::new([("main.rs", MAIN)]);
    let profile = Profile::plain().with("/textDocument/inlineCompletion", json!({ "dynamicRegistration": true }));
    let (seen, mut registered) = tokio::sync::mpsc::unbounded_channel();
    let client = Client::start(&setup, &project, profile).await;
    for method in ["client/registerCapability", "client/unregisterCapability"] {
        let seen = seen.clone();
        client.on_request(method, move |params| {
            seen.send(params.to_string()).unwrap();
            Ok(Value::Null)
        });
    }
    let uri = project.uri("main.rs");
    client.open(&uri);
    assert_eq!(asked(&client, &uri, "let sum = ", 2).await, Value::Null);

    setup.configure(&model.configuration());
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": { "codeActions": true } } }));

    let said = harness::patiently("the registration", registered.recv()).await.unwrap();
    assert!(said.contains("textDocument/inlineCompletion"), "{said}");
    assert_eq!(asked(&client, &uri, "let sum = ", 2).await["items"][0]["insertText"], "numbers.len();");
    setup.configure("");
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": { "codeActions": false } } }));
    let said = harness::patiently("the end of it", registered.recv()).await.unwrap();
    assert!(said.contains("unregisterations"), "{said}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_user_who_asks_again_is_given_another_suggestion_up_to_three() {
    let texts = ["numbers.len();", "numbers.len();", "numbers[0];", "numbers.iter().sum::<i32>();"];
    let next = std::sync::atomic::AtomicUsize::new(0);
    let model = FillServer::start(move |asked| {
        let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let is_varied = asked.body["temperature"].as_f64().unwrap() > 0.0;
        assert_eq!(is_varied, number > 0, "only further ones are varied");
        Filled::with(texts[number.min(3)])
    });
    let (client, _world, uri) = typing(&model, &[("main.rs", MAIN)], standard()).await;
    let texts_of = |answer: &Value| -> Vec<String> {
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| item["insertText"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts_of(&asked(&client, &uri, "let sum = ", 1).await), ["numbers.len();"]);
    let second = texts_of(&asked(&client, &uri, "let sum = ", 1).await);
    assert_eq!(second, ["numbers.len();"], "the model said the same again");
    assert_eq!(texts_of(&asked(&client, &uri, "let sum = ", 1).await), ["numbers.len();", "numbers[0];"]);
    let all = ["numbers.len();", "numbers[0];", "numbers.iter().sum::<i32>();"];
    assert_eq!(texts_of(&asked(&client, &uri, "let sum = ", 1).await), all);
    assert_eq!(texts_of(&asked(&client, &uri, "let sum = ", 1).await), all);
    assert_eq!(model.asked().len(), 4, "three are enough");
    assert_eq!(texts_of(&asked(&client, &uri, "let sum = ", 2).await), ["numbers.len();"], "who types is shown one");

    client.replace(&uri, "let sum = ", "let sum = n");
    assert_eq!(texts_of(&asked(&client, &uri, "let sum = n", 2).await), ["umbers.len();"]);
    assert_eq!(client.finish().await, 0);
}
