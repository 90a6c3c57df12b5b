//! Suggestions for editors without a plugin of ours: text at the cursor as an entry of the completion menu, edits as
//! hints with code actions, and edits in the dialect of Copilot's server.

use std::time::{Duration, Instant};

use harness::{Client, FillServer, Filled, Profile, Project, Setup};
use protocol::inline::Rule;
use protocol::methods;
use serde_json::{Value, json};

const MAIN: &str = "fn main() {\n    let numbers = [1, 2, 3];\n    let sum = nu\n}\n";
const ADDED: &str = "mbers.iter().sum::<i32>();";

/// An editor that has a completion menu, such as Helix or Emacs.
fn menu() -> Profile {
    Profile::plain().with("/textDocument/completion", json!({ "dynamicRegistration": false }))
}

/// A user whose suggestions come from this server, with this at the end of the configuration.
async fn typing(model: &FillServer, more: &str, profile: Profile) -> (Client, Project, Setup, String) {
    let setup = Setup::empty();
    setup.configure(&format!("{more}\n{}", model.configuration()));
    let project = Project::new([("main.rs", MAIN)]);
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    let uri = project.uri("main.rs");
    client.open(&uri);
    (client, project, setup, uri)
}

/// The parameters that ask behind a text in the third line.
fn behind(client: &Client, uri: &str, text: &str) -> Value {
    let of_document = client.text(uri);
    let line = of_document.lines().nth(2).unwrap();
    let end = line.find(text).unwrap_or_else(|| panic!("{text:?} is not in {line:?}")) + text.len();
    let position = json!({ "line": 2, "character": line[..end].encode_utf16().count() });
    json!({ "textDocument": { "uri": uri }, "position": position, "context": { "triggerKind": 1 } })
}

async fn asked(client: &Client, uri: &str, text: &str) -> Value {
    client.request("textDocument/completion", behind(client, uri, text)).await.unwrap()
}

fn announced(client: &Client) -> &Value {
    &client.server["capabilities"]["completionProvider"]
}

fn nothing_yet() -> Value {
    json!({ "isIncomplete": true, "items": [] })
}

#[tokio::test]
async fn an_editor_without_inline_completion_has_the_suggestion_in_its_menu() {
    let model = FillServer::start(|_| Filled::with(ADDED));
    let (client, _project, _setup, uri) = typing(&model, "", menu()).await;
    assert!(announced(&client).is_object(), "{}", client.server);
    assert!(announced(&client)["triggerCharacters"].is_null(), "no character opens a menu");
    let list = asked(&client, &uri, "let sum = nu").await;
    let entry = &list["items"][0];
    assert_eq!(list["isIncomplete"], true);
    assert_eq!(list["items"].as_array().unwrap().len(), 1);
    assert_eq!((&entry["label"], &entry["detail"]), (&json!(format!("nu{ADDED}")), &json!("Azimuth")));
    let edit = &entry["textEdit"];
    assert_eq!(edit["newText"], format!("nu{ADDED}"));
    assert_eq!((&edit["range"]["start"]["character"], &edit["range"]["end"]["character"]), (&json!(14), &json!(16)));
    client.request("workspace/executeCommand", entry["command"].clone()).await.unwrap();

    client.replace(&uri, "let sum = nu", "let sum = numb");
    let entry = asked(&client, &uri, "let sum = numb").await["items"][0].clone();
    assert_eq!(entry["textEdit"]["newText"], format!("nu{ADDED}"), "what was typed of it is part of the word");
    assert_eq!(model.asked().len(), 1, "the model is not asked again");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_menu_is_offered_only_to_those_that_have_use_for_it() {
    let model = FillServer::start(|_| Filled::with(ADDED));
    let with_menu = |profile: Profile| profile.with("/textDocument/completion", json!({}));
    let inline = || menu().with("/textDocument/inlineCompletion", json!({ "dynamicRegistration": false }));
    for (which, profile, more, is_offered) in [
        ("with inline completion", inline(), "", false),
        ("with inline completion, always", inline(), "inline_in_completion = \"always\"", true),
        ("with a panel", with_menu(Profile::panel()), "", false),
        ("never", menu(), "inline_in_completion = \"never\"", false),
        ("without a menu", Profile::plain(), "inline_in_completion = \"always\"", false),
    ] {
        let (client, _project, _setup, uri) = typing(&model, more, profile).await;
        assert_eq!(announced(&client).is_object(), is_offered, "{which}");
        let list = asked(&client, &uri, "let sum = nu").await;
        match is_offered {
            true => assert_eq!(list["items"].as_array().unwrap().len(), 1, "{which}"),
            false => assert_eq!(list, json!({ "isIncomplete": false, "items": [] }), "{which}"),
        }
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn without_a_model_an_editor_that_can_register_nothing_is_told_of_no_menu() {
    let (setup, project) = (Setup::empty(), Project::new([("main.rs", MAIN)]));
    let client = Client::start(&setup, &project, menu()).await;
    assert!(announced(&client).is_null(), "{}", client.server);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_menu_is_registered_while_there_is_a_model_and_the_settings_want_it() {
    let model = FillServer::start(|_| Filled::with(ADDED));
    let setup = Setup::empty();
    let project = Project::new([("main.rs", MAIN)]);
    let profile = Profile::plain().with("/textDocument/completion", json!({ "dynamicRegistration": true }));
    let (seen, mut registered) = tokio::sync::mpsc::unbounded_channel();
    let client = Client::start(&setup, &project, profile).await;
    assert!(announced(&client).is_null());
    for method in ["client/registerCapability", "client/unregisterCapability"] {
        let seen = seen.clone();
        client.on_request(method, move |params| {
            seen.send(params.to_string()).unwrap();
            Ok(Value::Null)
        });
    }
    let set = |settings: Value| {
        client.notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": settings } }));
    };
    let mut said = async |words: &[&str]| {
        let said = harness::patiently("a registration", registered.recv()).await.unwrap();
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    };
    setup.configure(&model.configuration());
    set(json!({ "codeActions": true }));
    said(&["textDocument/completion", "registrations"]).await;
    let uri = project.uri("main.rs");
    client.open(&uri);
    assert_eq!(asked(&client, &uri, "let sum = nu").await["items"].as_array().unwrap().len(), 1);
    set(json!({ "inlineInCompletion": "never" }));
    said(&["textDocument/completion", "unregisterations"]).await;
    set(json!({ "inlineInCompletion": "auto" }));
    said(&["textDocument/completion", "registrations"]).await;
    setup.configure("");
    set(json!({ "codeActions": false }));
    said(&["textDocument/completion", "unregisterations"]).await;
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_slow_model_holds_up_no_menu_and_its_answer_serves_the_next_key() {
    let model = FillServer::start(|_| Filled::with(ADDED).after(Duration::from_millis(1200)));
    let (client, _project, _setup, uri) = typing(&model, "", menu()).await;
    let begun = Instant::now();
    assert_eq!(asked(&client, &uri, "let sum = nu").await, nothing_yet());
    let took = begun.elapsed();
    assert!(took < Duration::from_millis(900), "{took:?}");
    client.replace(&uri, "let sum = nu", "let sum = num");
    let answered = async {
        let mut list = nothing_yet();
        while list == nothing_yet() {
            list = asked(&client, &uri, "let sum = num").await;
        }
        assert_eq!(list["items"][0]["label"], format!("nu{ADDED}"));
    };
    harness::patiently("the answer", answered).await;
    assert_eq!(model.asked().len(), 1, "the request that ran was enough");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_menu_that_is_cancelled_ends_the_request_to_the_model() {
    let model = FillServer::start(|_| Filled::with("mb").hanging());
    let (client, _project, _setup, uri) = typing(&model, "", menu()).await;
    let (id, request) = client.request_with_id("textDocument/completion", behind(&client, &uri, "let sum = nu"));
    model.asked_times(1).await;
    client.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(request.await.unwrap_err().code, -32800);
    model.closed(0).await;
    assert_eq!(client.finish().await, 0);
}

/// Lines of which a model changes three that are apart.
fn three_apart() -> (FillServer, String) {
    let model = FillServer::start(|asked| {
        let window = asked.window();
        asked.rewritten(&window.replace("= 2;", "= 20;").replace("= 4;", "= 40;").replace("= 6;", "= 60;"))
    });
    let lines: String = (1..=7).map(|n| format!("    let v{n} = {n};\n")).collect();
    (model, format!("fn main() {{\n{lines}}}\n"))
}

/// A user whose suggested edits come from this server.
async fn editing(model: &FillServer, text: &str, more: &str, profile: Profile) -> (Client, Project, Setup, String) {
    let setup = Setup::empty();
    setup.configure(&format!("{more}\n{}", model.edit_configuration()));
    let project = Project::new([("main.rs", text)]);
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    let uri = project.uri("main.rs");
    client.open(&uri);
    (client, project, setup, uri)
}

/// The lines of the hints that the client is shown next, and the first of them in words.
async fn hints(client: &Client, uri: &str) -> (Vec<u64>, String) {
    let shown: Value = client.notification("textDocument/publishDiagnostics").await;
    assert_eq!(shown["uri"], uri);
    let hints = shown["diagnostics"].as_array().unwrap();
    assert!(hints.iter().all(|hint| hint["severity"] == 4 && hint["source"] == "azimuth"), "{shown}");
    let lines = hints.iter().map(|hint| hint["range"]["start"]["line"].as_u64().unwrap()).collect();
    (lines, hints.first().map(|hint| hint["message"].as_str().unwrap().to_owned()).unwrap_or_default())
}

/// The actions of suggested edits on a line: their titles, and themselves.
async fn actions(client: &Client, uri: &str, line: u32) -> (Vec<String>, Vec<Value>) {
    let at = json!({ "line": line, "character": 0 });
    let context = json!({ "diagnostics": [], "only": ["refactor.rewrite"] });
    let params = json!({ "textDocument": { "uri": uri }, "range": { "start": at, "end": at }, "context": context });
    let actions = client.request("textDocument/codeAction", params).await.unwrap();
    let actions = actions.as_array().unwrap().clone();
    (actions.iter().map(|action| action["title"].as_str().unwrap().to_owned()).collect(), actions)
}

#[tokio::test]
async fn a_suggested_edit_is_hints_whose_hunks_are_accepted_and_rejected_by_code_actions() {
    let (model, text) = three_apart();
    let profile = Profile::plain().with("/textDocument/codeAction/tagSupport", json!({ "valueSet": [1] }));
    let (client, _project, _setup, uri) = editing(&model, &text, "", profile).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    let (lines, words) = hints(&client, &uri).await;
    assert_eq!((lines, words.as_str()), (vec![2, 4, 6], "Azimuth suggests:\n-     let v2 = 2;\n+     let v2 = 20;"));
    let (titles, found) = actions(&client, &uri, 4).await;
    assert_eq!(
        titles,
        [
            "Accept Azimuth's edit (line 5)",
            "Accept Azimuth's edit (line 3)",
            "Accept Azimuth's edit (line 7)",
            "Accept all of Azimuth's edit",
            "Reject Azimuth's edit",
        ]
    );
    assert!(found.iter().all(|action| action["kind"] == "refactor.rewrite" && action["tags"] == json!([1])));
    assert!(client.text(&uri).contains("v4 = 4;"), "nothing is in the document before it is accepted");

    client.request("workspace/executeCommand", found[0]["command"].clone()).await.unwrap();
    assert!(client.text(&uri).contains("v2 = 2;") && client.text(&uri).contains("v4 = 40;"), "{}", client.text(&uri));
    let rest = async { while hints(&client, &uri).await.0 != [2, 6] {} };
    harness::patiently("the rest of the edit", rest).await;
    let (titles, found) = actions(&client, &uri, 0).await;
    assert_eq!(titles[0], "Accept Azimuth's edit (line 3)");
    client.request("workspace/executeCommand", found.last().unwrap()["command"].clone()).await.unwrap();
    assert!(actions(&client, &uri, 0).await.0.is_empty());
    let gone = async { while !hints(&client, &uri).await.0.is_empty() {} };
    harness::patiently("the end of the hints", gone).await;
    assert!(client.text(&uri).contains("v2 = 2;") && client.text(&uri).contains("v6 = 6;"));
    let again = json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 16 } });
    let result = client.call::<methods::InlineEdit>(again).await;
    assert_eq!(result.reason.unwrap().rule, Rule::Rejected, "it is not suggested again");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn all_hunks_are_accepted_in_one_step() {
    let (model, text) = three_apart();
    let (client, _project, _setup, uri) = editing(&model, &text, "", Profile::plain()).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    hints(&client, &uri).await;
    let version = client.version(&uri);
    let (titles, found) = actions(&client, &uri, 0).await;
    let all = titles.iter().position(|title| title == "Accept all of Azimuth's edit").unwrap();
    client.request("workspace/executeCommand", found[all]["command"].clone()).await.unwrap();
    let changed = ["v2 = 20;", "v4 = 40;", "v6 = 60;"];
    assert!(changed.iter().all(|line| client.text(&uri).contains(line)), "{}", client.text(&uri));
    assert_eq!(client.version(&uri), version + 1);
    assert_eq!(hints(&client, &uri).await.0, [0; 0]);
    assert!(actions(&client, &uri, 0).await.0.is_empty());
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn hints_move_with_what_is_typed_and_go_with_their_document() {
    let (model, text) = three_apart();
    let (client, _project, _setup, uri) = editing(&model, &text, "", Profile::plain()).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    assert_eq!(hints(&client, &uri).await.0, [2, 4, 6]);
    client.replace(&uri, "fn main() {\n", "// Typed above.\nfn main() {\n");
    assert_eq!(hints(&client, &uri).await.0, [3, 5, 7]);
    assert_eq!(actions(&client, &uri, 0).await.0[0], "Accept Azimuth's edit (line 4)");
    client.close(&uri);
    assert_eq!(hints(&client, &uri).await.0, [0; 0]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn no_edit_is_asked_for_in_the_name_of_those_that_do_not_want_it() {
    let (model, text) = three_apart();
    for (more, profile) in [("inline_edits_as_actions = false", Profile::plain()), ("", Profile::panel())] {
        let (client, _project, _setup, uri) = editing(&model, &text, more, profile).await;
        client.replace(&uri, "v1 = 1;", "v1 = 10;");
        // This request is answered after one that was made before it would have been.
        let invoked = json!({ "textDocument": { "uri": uri }, "position": { "line": 1, "character": 16 } });
        client.call::<methods::InlineEdit>(invoked).await;
        assert!(actions(&client, &uri, 4).await.0.is_empty());
        let explained = client.call::<methods::InlineExplain>(json!({ "uri": uri })).await;
        assert_eq!(explained.decisions.len(), 1, "{explained:?}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_client_of_copilots_dialect_puts_an_edit_into_the_document_itself_and_tells_of_it() {
    let (model, text) = three_apart();
    let (client, _project, _setup, uri) =
        editing(&model, &text, "inline_edits_as_actions = false", Profile::plain()).await;
    client.notify("textDocument/didFocus", json!({ "textDocument": { "uri": uri } }));
    client.notify("textDocument/didFocus", json!({}));
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    let ask = |version: i64| {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "position": { "line": 1, "character": 16 } });
        client.request("textDocument/copilotInlineEdit", params)
    };
    let answer = ask(client.version(&uri)).await.unwrap();
    let edits = answer["edits"].as_array().unwrap();
    let lines: Vec<_> = edits.iter().map(|edit| edit["range"]["start"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [2, 4, 6]);
    assert_eq!(edits[0]["textDocument"], json!({ "uri": uri, "version": client.version(&uri) }));
    client.notify("textDocument/didShowInlineEdit", json!({ "item": edits[0] }));

    client.replace(&uri, "v2 = 2;", "v2 = 20;");
    client.request("workspace/executeCommand", edits[0]["command"].clone()).await.unwrap();
    let rest = ask(client.version(&uri)).await.unwrap();
    let lines: Vec<_> =
        rest["edits"].as_array().unwrap().iter().map(|edit| edit["range"]["start"]["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [4, 6], "what was put into the document is taken off the edit");
    assert_eq!(ask(1).await.unwrap(), json!({ "edits": [] }), "an old version");
    let foreign = json!({ "command": "azimuth.inline.acceptedEdit", "arguments": ["theirs"] });
    assert!(client.request("workspace/executeCommand", foreign).await.is_err());
    let windows: Vec<_> = model.asked().iter().map(|asked| asked.window()).collect();
    assert_eq!(windows.iter().filter(|window| window.contains("v2 = 2;")).count(), 1, "{windows:?}");
    assert_eq!(client.finish().await, 0);
}
