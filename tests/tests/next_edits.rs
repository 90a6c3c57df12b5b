//! Suggested edits: shown after what the user changes, in step with what is typed, accepted and rejected by the hunk.
//! The model is a server that speaks llama.cpp's format and Sweep's dialect.

use std::time::{Duration, Instant};

use harness::{Answer, Client, FillServer, Filled, ModelServer, Profile, Project, Setup, Wire};
use protocol::inline::{
    InlineAcceptResult, InlineChangedParams, InlineEdit, InlineEditKind, InlineEditResult, InlineExplainResult, Rule,
};
use protocol::methods::{self, Notification, Request};
use serde_json::{Value, json};

const MAIN: &str = "\
fn area(width: u32) -> u32 {
    width * 2
}

fn main() {
    let one = area(1);
    let two = area(2);
    let three = area(3);
    println!(\"{one} {two} {three}\");
}
";

/// The folders of a test, which are there as long as it runs.
struct World {
    project: Project,
    _setup: Setup,
}

/// A user whose suggested edits come from this server, with the first of some files open.
async fn editing(model: &FillServer, files: &[(&str, &str)]) -> (Client, World, String) {
    editing_with(model, files, "").await
}

async fn editing_with(model: &FillServer, files: &[(&str, &str)], more: &str) -> (Client, World, String) {
    let setup = Setup::empty();
    setup.configure(&format!("{more}{}", model.edit_configuration()));
    let project = Project::new(files.iter().copied());
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("azimuth/inline/status");
    let uri = project.uri(files[0].0);
    client.open(&uri);
    (client, World { project, _setup: setup }, uri)
}

/// A model that gives every use of `area` a second argument.
fn arguments() -> FillServer {
    FillServer::start(|asked| {
        let window = asked.window();
        let new = (1..=3).fold(window, |window, n| window.replace(&format!("area({n})"), &format!("area({n}, 1)")));
        asked.rewritten(&new)
    })
}

fn position(client: &Client, uri: &str, behind: &str) -> Value {
    let text = client.text(uri);
    let end = text.find(behind).unwrap_or_else(|| panic!("{behind:?} is not in {text:?}")) + behind.len();
    let line = text[..end].matches('\n').count();
    let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": text[start..end].encode_utf16().count() })
}

async fn next(client: &Client, uri: &str, behind: &str, trigger: &str) -> InlineEditResult {
    let document = json!({ "uri": uri, "version": client.version(uri) });
    let params = json!({ "textDocument": document, "position": position(client, uri, behind), "trigger": trigger });
    client.call::<methods::InlineEdit>(params).await
}

async fn shown(client: &Client, uri: &str, behind: &str) -> InlineEdit {
    let result = next(client, uri, behind, "automatic").await;
    result.edit.clone().unwrap_or_else(|| panic!("nothing is suggested: {result:?}"))
}

async fn silent(client: &Client, uri: &str, behind: &str) -> Rule {
    let result = next(client, uri, behind, "automatic").await;
    assert!(result.edit.is_none(), "{result:?}");
    result.reason.unwrap().rule
}

async fn accept(client: &Client, edit: &InlineEdit, hunks: &[usize]) -> InlineAcceptResult {
    let hunks: Vec<_> = hunks.iter().map(|index| edit.hunks[*index].id.clone()).collect();
    client.call::<methods::InlineAccept>(json!({ "id": edit.id, "hunks": hunks })).await
}

async fn reject(client: &Client, edit: &InlineEdit, hunk: Option<usize>) {
    let mut params = json!({ "id": edit.id, "event": "rejected" });
    if let Some(hunk) = hunk {
        params["hunk"] = json!(edit.hunks[hunk].id);
    }
    client.call::<methods::InlineFeedback>(params).await;
}

async fn changed(client: &Client) -> InlineChangedParams {
    client.notification(methods::InlineChanged::METHOD).await
}

/// The user gives the function a second parameter.
fn add_parameter(client: &Client, uri: &str) {
    client.replace(uri, "(width: u32)", "(width: u32, height: u32)");
}

#[tokio::test]
async fn an_edit_follows_from_what_the_user_changed_and_is_accepted_by_the_hunk() {
    let model = arguments();
    let (client, _world, uri) = editing(&model, &[("main.rs", MAIN)]).await;
    add_parameter(&client, &uri);
    let edit = shown(&client, &uri, "height: u32").await;
    assert_eq!(edit.kind, InlineEditKind::Edit);
    assert_eq!(edit.model.as_deref(), Some("llama.cpp/sweep-next-edit"));
    assert_eq!(edit.hunks.len(), 1, "lines that follow each other are one hunk: {edit:?}");
    assert_eq!(json!(edit.target), json!({ "line": 5, "character": 0 }));
    assert!(model.asked()[0].prompt().contains("updated:\nfn area(width: u32, height: u32) -> u32 {"), "the last edit");
    assert!(!client.text(&uri).contains("area(1, 1)"), "nothing is in the document before it is accepted");

    let accepted = accept(&client, &edit, &[0]).await;
    assert!(
        client.text(&uri).contains("let one = area(1, 1);\n    let two = area(2, 1);\n    let three = area(3, 1);")
    );
    assert_eq!((json!(accepted.cursor), accepted.rest), (json!({ "line": 7, "character": 27 }), None));
    let error = client.request(methods::InlineAccept::METHOD, json!({ "id": edit.id })).await.unwrap_err();
    assert!(error.message.contains("not there any more"), "{error:?}");
    assert_eq!(client.finish().await, 0);
}

/// A model that changes three lines that are apart.
fn three_apart() -> (FillServer, String) {
    let model = FillServer::start(|asked| {
        let window = asked.window();
        asked.rewritten(&window.replace("= 2;", "= 20;").replace("= 4;", "= 40;").replace("= 6;", "= 60;"))
    });
    let lines: String = (1..=7).map(|n| format!("    let v{n} = {n};\n")).collect();
    (model, format!("fn main() {{\n{lines}}}\n"))
}

#[tokio::test]
async fn one_hunk_of_three_is_accepted_one_rejected_and_the_third_moves_with_what_is_typed() {
    let (model, text) = three_apart();
    let (client, _world, uri) = editing(&model, &[("main.rs", &text)]).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    let edit = shown(&client, &uri, "v1 = 10").await;
    let texts: Vec<_> = edit.hunks.iter().map(|hunk| (hunk.range.start.line, hunk.text.as_str())).collect();
    assert_eq!(texts, [(2, "0"), (4, "0"), (6, "0")]);

    let accepted = accept(&client, &edit, &[1]).await;
    assert!(client.text(&uri).contains("v2 = 2;") && client.text(&uri).contains("v4 = 40;"));
    let rest = accepted.rest.unwrap();
    assert_eq!(rest.hunks.iter().map(|hunk| hunk.range.start.line).collect::<Vec<_>>(), [2, 6]);

    reject(&client, &rest, Some(0)).await;
    let left = changed(&client).await.edit.unwrap();
    assert_eq!(left.hunks.iter().map(|hunk| hunk.range.start.line).collect::<Vec<_>>(), [6]);

    client.replace(&uri, "fn main() {\n", "// Typed above.\nfn main() {\n");
    let moved = changed(&client).await.edit.unwrap();
    assert_eq!((moved.id.clone(), moved.hunks[0].range.start.line), (left.id, 7));
    let done = client.call::<methods::InlineAccept>(json!({ "id": moved.id })).await;
    assert_eq!(done.rest, None);
    assert!(client.text(&uri).contains("v6 = 60;") && client.text(&uri).contains("v2 = 2;"), "{}", client.text(&uri));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn lines_that_have_nothing_to_do_with_what_was_changed_are_not_rewritten_unless_the_user_asks() {
    let far = MAIN.replace("fn main", &format!("{}fn main", "// A line between.\n".repeat(15)));
    let model = FillServer::start(|asked| {
        let new =
            asked.window().replace("let one = area(1);\n    let two = area(2);", "let [one, two] = [1, 2].map(area);");
        asked.rewritten(&new)
    });
    let (client, _world, uri) = editing(&model, &[("main.rs", &far)]).await;
    client.replace(&uri, "width * 2", "width * 3");
    assert_eq!(silent(&client, &uri, "fn main() {").await, Rule::Unrelated);
    let asked = next(&client, &uri, "fn main() {", "invoked").await;
    assert!(asked.edit.is_some(), "{asked:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_rejected_edit_is_not_seen_again_unless_the_user_asks() {
    let (model, text) = three_apart();
    let (client, _world, uri) = editing(&model, &[("main.rs", &text)]).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    let edit = shown(&client, &uri, "v1 = 10").await;
    reject(&client, &edit, None).await;
    client.replace(&uri, "v7 = 7;", "v7 = 77;");
    let began = Instant::now();
    assert_eq!(silent(&client, &uri, "v1 = 10").await, Rule::Rejected);
    assert!(began.elapsed() > Duration::from_secs(4), "after a rejection it is quiet for a while");
    assert!(next(&client, &uri, "v1 = 10", "invoked").await.edit.is_some(), "who asks is shown it all the same");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn typing_what_an_edit_says_shortens_it_and_typing_something_else_ends_it() {
    let (model, text) = three_apart();
    let (client, _world, uri) = editing(&model, &[("main.rs", &text)]).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    let edit = shown(&client, &uri, "v1 = 10").await;
    client.replace(&uri, "v2 = 2;", "v2 = 20;");
    let shorter = changed(&client).await.edit.unwrap();
    assert_eq!((shorter.id, shorter.hunks.len()), (edit.id, 2));
    client.replace(&uri, "v4 = 4;", "v4 = 5;");
    let gone = changed(&client).await;
    assert_eq!((gone.edit, gone.reason.unwrap().rule), (None, Rule::Mismatch));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_only_adds_at_the_cursor_can_be_shown_as_ghost_text() {
    let model = FillServer::start(|asked| asked.replaced("    width * 2\n", "    width * 2 + height\n"));
    let (client, _world, uri) = editing(&model, &[("main.rs", MAIN)]).await;
    add_parameter(&client, &uri);
    let elsewhere = shown(&client, &uri, "height: u32").await;
    assert_eq!(elsewhere.ghost, None);
    reject(&client, &elsewhere, None).await;

    let model = FillServer::start(|asked| asked.replaced("let five = ", "let five = area(5);"));
    let (other, _world, uri) = editing(&model, &[("main.rs", MAIN)]).await;
    other.replace(&uri, "area(3);\n", "area(3);\n    let five = \n");
    let here = shown(&other, &uri, "let five = ").await;
    let ghost = here.ghost.unwrap();
    assert_eq!((ghost.text.as_str(), ghost.range.start.line, ghost.range.start.character), ("area(5);", 8, 15));
    assert_eq!(client.finish().await, 0);
    assert_eq!(other.finish().await, 0);
}

#[tokio::test]
async fn a_name_that_is_changed_once_is_changed_in_all_its_uses_without_a_model() {
    let model = arguments();
    let (client, _world, uri) = editing(&model, &[("main.rs", MAIN)]).await;
    client.replace(&uri, "fn area(", "fn surface(");
    let edit = shown(&client, &uri, "fn surface").await;
    assert_eq!((edit.kind, edit.model.as_deref(), edit.hunks.len()), (InlineEditKind::Rename, None, 3));
    let all = client.call::<methods::InlineAccept>(json!({ "id": edit.id })).await;
    assert_eq!(all.rest, None);
    assert_eq!(client.text(&uri), MAIN.replace("area", "surface"));
    assert!(model.asked().is_empty(), "no model is asked");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn where_nothing_is_to_change_at_the_cursor_the_same_edit_is_looked_for_elsewhere_and_in_other_files() {
    let filler: String = (0..60).map(|n| format!("// line {n}\n")).collect();
    let call = |user: &str| format!("    log(name, count, {user});\n");
    let first = format!("fn one() {{\n{}}}\n{filler}", call("user"));
    let second = format!("{filler}fn two() {{\n{}}}\n", call("user"));
    let model = FillServer::start(|asked| asked.replaced("log(name, count, user);", "log(name, count, user, now);"));
    let (client, world, uri) = editing(&model, &[("one.rs", &first), ("two.rs", &second)]).await;
    let other = world.project.uri("two.rs");
    client.open(&other);
    // The user asks once, so that it is known that both files may be sent.
    assert!(next(&client, &uri, "fn one", "invoked").await.edit.is_some());
    client.replace(&uri, "log(name, count, user);", "log(name, count, user, now);");
    let _ = changed(&client).await;
    let edit = shown(&client, &uri, "user, now").await;
    assert_eq!((edit.kind, edit.uri.as_str()), (InlineEditKind::Jump, other.as_str()));
    assert_eq!(edit.target.line, 61);
    let accepted = client.call::<methods::InlineAccept>(json!({ "id": edit.id })).await;
    assert_eq!(accepted.uri, other);
    assert!(client.text(&other).contains("user, now"), "{}", client.text(&other));
    assert_eq!(client.finish().await, 0);
}

/// A user whose function is called in files that are not open, and an editor whose language server knows it.
async fn with_callers(model: &FillServer) -> (Client, World, String) {
    let setup = Setup::empty();
    setup.configure(&format!("{}\n[permissions]\ndeny = [\"Read(denied.rs)\"]\n", model.edit_configuration()));
    let caller = "fn call() {\n    area(1);\n}\n";
    let project = Project::new([("main.rs", FUNCTION), ("denied.rs", caller), ("called.rs", caller)]);
    let profile = Profile::panel().with("/experimental/azimuth/query", json!(true));
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    let uses = ["main.rs", "denied.rs", "called.rs"].map(|name| project.uri(name));
    client.on_request("azimuth/editor/query", move |params| {
        let query = &params["query"];
        if query["type"] != "references" {
            return Ok(json!({ "status": "no_server", "servers": [], "answer": { "type": "nothing" } }));
        }
        assert_eq!(query["position"], json!({ "line": 0, "character": 3 }), "the name that was declared");
        let line = |uri: &String| u32::from(*uri != uses[0]);
        let at = |uri: &String| json!({ "line": line(uri), "character": if line(uri) == 0 { 3 } else { 4 } });
        let locations = uses.iter().map(|uri| json!({ "uri": uri, "range": { "start": at(uri), "end": at(uri) } }));
        let answer = json!({ "type": "locations", "locations": locations.collect::<Vec<_>>() });
        Ok(json!({ "status": "ready", "servers": [{ "name": "theirs" }], "answer": answer }))
    });
    let uri = project.uri("main.rs");
    client.open(&uri);
    (client, World { project, _setup: setup }, uri)
}

const FUNCTION: &str = "fn area(width: u32) -> u32 {\n    width * 2\n}\n";

#[tokio::test]
async fn the_calls_of_a_changed_function_in_a_file_that_is_not_open_are_changed_once_it_is_opened() {
    let model = arguments();
    let (client, world, uri) = with_callers(&model).await;
    let called = world.project.uri("called.rs");
    add_parameter(&client, &uri);
    let edit = shown(&client, &uri, "fn area").await;
    assert_eq!((edit.uri.as_str(), edit.kind, edit.version), (called.as_str(), InlineEditKind::Jump, None));
    assert_eq!(edit.target.line, 1);
    assert!(model.asked().iter().all(|asked| !asked.prompt().contains("denied.rs")), "{:?}", model.asked());
    let asked_so_far = model.asked().len();
    assert_eq!(shown(&client, &uri, "fn area").await, edit, "it is kept while the user goes on");
    assert_eq!(model.asked().len(), asked_so_far);

    let refused = client.request(methods::InlineAccept::METHOD, json!({ "id": edit.id })).await.unwrap_err();
    assert!(refused.message.contains("called.rs is not open: open it"), "{}", refused.message);
    client.open(&called);
    let opened = changed(&client).await.edit.unwrap();
    assert_eq!((opened.id.as_str(), opened.version), (edit.id.as_str(), Some(1)));
    accept(&client, &opened, &[0]).await;
    assert!(client.text(&called).contains("area(1, 1);"), "{}", client.text(&called));
}

#[tokio::test]
async fn a_rejected_edit_of_a_file_that_is_not_open_is_not_seen_again_and_one_whose_text_has_changed_goes() {
    let model = arguments();
    let (client, world, uri) = with_callers(&model).await;
    let called = world.project.uri("called.rs");
    add_parameter(&client, &uri);
    let edit = shown(&client, &uri, "fn area").await;
    reject(&client, &edit, None).await;
    assert_eq!(silent(&client, &uri, "fn area").await, Rule::NoChange);
    let again = next(&client, &uri, "fn area", "invoked").await.edit.expect("the user asks for it");
    assert_eq!(again.uri, called);

    world.project.write("called.rs", "fn call() {}\n");
    client.open(&called);
    let told = changed(&client).await;
    assert_eq!((told.id, told.edit, told.reason.unwrap().rule), (again.id, None, Rule::Mismatch));
}

#[tokio::test]
async fn every_silence_has_a_reason_and_a_model_that_fails_is_no_error() {
    let model = FillServer::start(|asked| match asked.window().contains("hang") {
        true => Filled::with("x").hanging(),
        false => Filled::raw("500 Internal Server Error", "text/plain", "no"),
    });
    let (client, _world, uri) = editing_with(&model, &[("main.rs", MAIN)], "inline_off_languages = [\"go\"]\n").await;
    assert_eq!(silent(&client, &uri, "fn main").await, Rule::NothingChanged);
    add_parameter(&client, &uri);
    assert_eq!(silent(&client, &uri, "height: u32").await, Rule::Failed);
    client.replace(&uri, "height: u32", "height: i32");
    client.replace(&uri, "height: i32", "height: u32");
    assert_eq!(silent(&client, &uri, "height: u32").await, Rule::Undo);

    client.replace(&uri, "let one", "let hang");
    let (id, request) = client.request_with_id(
        methods::InlineEdit::METHOD,
        json!({ "textDocument": { "uri": uri }, "position": position(&client, &uri, "let hang") }),
    );
    let asked = model.asked_times(2).await;
    client.notify("$/cancelRequest", json!({ "id": id }));
    assert_eq!(request.await.unwrap_err().code, -32800);
    let took = model.closed(1).await - asked.at;
    assert!(took < Duration::from_secs(5), "the connection is closed: {took:?}");
    let explained: InlineExplainResult = client.call::<methods::InlineExplain>(json!({})).await;
    let rules: Vec<_> = explained.decisions.iter().filter_map(|it| Some(it.reason.as_ref()?.rule)).collect();
    assert!(rules.contains(&Rule::Undo) && rules.contains(&Rule::Failed), "{rules:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn nothing_of_secrets_and_ignored_files_is_sent_for_an_edit() {
    let key = format!("ghp_{}", "Zx9Q".repeat(9));
    let far: String = (0..40).map(|n| format!("// line {n}\n")).collect();
    let text = format!("const TOKEN: &str = \"{key}\";\n{far}{MAIN}");
    let (model, files) =
        (arguments(), [("main.rs", text.as_str()), ("ignored.rs", MAIN), (".gitignore", "ignored.rs\n")]);
    let (client, world, uri) = editing(&model, &files).await;
    let ignored = world.project.uri("ignored.rs");
    client.open(&ignored);
    client.replace(&ignored, "fn main", "fn hidden_main");
    assert_eq!(silent(&client, &ignored, "hidden_main").await, Rule::Ignored);
    add_parameter(&client, &uri);
    shown(&client, &uri, "height: u32").await;
    for asked in model.asked() {
        let sent = String::from_utf8_lossy(&asked.bytes).into_owned();
        assert!(!sent.contains(&key) && !sent.contains("hidden_main"), "{sent}");
    }
    client.replace(&uri, "// line 0\n", "// line zero\n");
    let _ = changed(&client).await;
    assert_eq!(next(&client, &uri, "// line zero", "invoked").await.reason.unwrap().rule, Rule::SecretNear);
    assert_eq!(changed(&client).await.reason.unwrap().rule, Rule::Moved, "the user is far from the edit before");
    assert!(model.asked().iter().all(|asked| !asked.window().contains("TOKEN")), "the window has the secret in it");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn an_edit_of_a_document_that_is_closed_goes_with_it() {
    let (model, text) = three_apart();
    let (client, _world, uri) = editing(&model, &[("main.rs", &text)]).await;
    client.replace(&uri, "v1 = 1;", "v1 = 10;");
    shown(&client, &uri, "v1 = 10").await;
    client.close(&uri);
    let gone = changed(&client).await;
    assert_eq!((gone.edit, gone.reason.unwrap().rule), (None, Rule::Closed));
    assert_eq!(client.finish().await, 0);
}

/// An editor whose language servers know of these problems: lines and messages.
fn with_problems(client: &Client, problems: &'static [(u32, &'static str)]) {
    client.on_request("azimuth/editor/query", move |params| {
        let of = |(line, message): &(u32, &str)| {
            let at = json!({ "line": line, "character": 4 });
            json!({ "range": { "start": at, "end": at }, "severity": "error", "message": message })
        };
        let diagnostics: Vec<_> = problems.iter().map(of).collect();
        let documents = json!([{ "uri": params["query"]["uri"], "diagnostics": diagnostics }]);
        Ok(json!({ "status": "ready", "answer": { "type": "diagnostics", "documents": documents } }))
    });
}

#[tokio::test]
async fn a_model_reads_the_problems_near_the_cursor_and_is_asked_at_the_next_one_elsewhere() {
    let filler: String = (0..60).map(|n| format!("// line {n}\n")).collect();
    let text = format!("fn one() -> u32 {{\n    1\n}}\n{filler}fn two() {{\n    let x = on();\n}}\n");
    let model = FillServer::start(|asked| asked.replaced("on();", "one();"));
    let setup = Setup::empty();
    setup.configure(&model.edit_configuration());
    let project = Project::new([("main.rs", text.as_str())]);
    let profile = Profile::panel().with("/experimental/azimuth/query", json!(true));
    let client = Client::start(&setup, &project, profile).await;
    client.waive("azimuth/inline/status");
    with_problems(&client, &[(1, "expected `u64`, found `u32`"), (64, "cannot find function `on` in this scope")]);
    let uri = project.uri("main.rs");
    client.open(&uri);
    client.replace(&uri, "    1\n", "    1 + 1\n");
    let edit = shown(&client, &uri, "1 + 1").await;
    assert_eq!((edit.kind, edit.target.line), (InlineEditKind::Jump, 64));
    let asked = model.asked();
    assert_eq!(asked.len(), 2, "at the cursor, then at the problem");
    assert_eq!(client.finish().await, 0);
}

/// Numbers that look as if by chance, the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    /// Types something somewhere: above, below, or in a line that the model wants to change.
    fn types(&mut self, client: &Client, uri: &str, round: usize) {
        let text = client.text(uri);
        let lines: Vec<_> = text.lines().collect();
        let line = lines[self.below(lines.len())];
        let new = match self.below(4) {
            0 => format!("{line} // {round}"),
            1 => format!("// {round}\n{line}"),
            2 if line.contains("// ") => line.split(" // ").next().unwrap().to_owned(),
            _ => line.replacen("let", "let mut", 1),
        };
        if new != line {
            client.replace(uri, line, &new);
        }
    }
}

/// A text with an edit in it, as a client puts it there that knows only what it was told.
fn with_edit(text: &str, edit: &InlineEdit) -> String {
    let offset = |at: &protocol::content::Position| {
        let line: usize = text.split_inclusive('\n').take(at.line as usize).map(str::len).sum();
        line + at.character as usize
    };
    let mut new = text.to_owned();
    for hunk in edit.hunks.iter().rev() {
        new.replace_range(offset(&hunk.range.start)..offset(&hunk.range.end), &hunk.text);
    }
    new
}

#[tokio::test]
async fn whatever_is_typed_meanwhile_what_is_accepted_is_what_was_shown_or_nothing() {
    let (model, text) = three_apart();
    let (client, _world, uri) = editing(&model, &[("main.rs", &text)]).await;
    let mut chance = Chance(20);
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..40 {
        let now = client.text(&uri);
        client.replace(&uri, &now, &text.replace("v1 = 1;", &format!("v1 = {};", round + 100)));
        let behind = format!("v1 = {}", round + 100);
        let params = json!({
            "textDocument": { "uri": uri }, "position": position(&client, &uri, &behind), "trigger": "invoked",
        });
        let asking = client.request(methods::InlineEdit::METHOD, params);
        (0..chance.below(3)).for_each(|_| chance.types(&client, &uri, round));
        let answer: InlineEditResult = serde_json::from_value(asking.await.unwrap()).unwrap();
        let Some(mut edit) = answer.edit else {
            refused += 1;
            continue;
        };
        (0..chance.below(4)).for_each(|_| chance.types(&client, &uri, round));
        // The answer to a request comes after all that was said before it.
        client.call::<methods::InlineExplain>(json!({})).await;
        let mut is_gone = false;
        while let Some(changed) = client.taken_notification::<InlineChangedParams>(methods::InlineChanged::METHOD) {
            match changed.edit {
                Some(now) if changed.id == edit.id => edit = now,
                None if changed.id == edit.id => is_gone = true,
                _ => {}
            }
        }
        let before = client.text(&uri);
        let result = client.request(methods::InlineAccept::METHOD, json!({ "id": edit.id })).await;
        if is_gone {
            assert!(result.is_err() && client.text(&uri) == before, "{result:?}");
            refused += 1;
            continue;
        }
        result.unwrap();
        let expected = with_edit(&before, &edit);
        assert_eq!(client.text(&uri), expected, "round {round}");
        assert!(expected.lines().all(|line| !line.contains("= 2;") && !line.contains("= 200;")), "{expected}");
        accepted += 1;
    }
    assert!(accepted >= 10 && refused >= 2, "{accepted} accepted, {refused} refused");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn while_an_edit_is_shown_the_one_after_it_is_looked_for_already() {
    let model = FillServer::start(|asked| match asked.window().contains("area(1, 1)") {
        true => asked.replaced("println!(\"{one}", "println!(\"sizes: {one}"),
        false => asked.replaced("area(1)", "area(1, 1)"),
    });
    let (client, _world, uri) = editing(&model, &[("main.rs", MAIN)]).await;
    add_parameter(&client, &uri);
    let first = shown(&client, &uri, "height: u32").await;
    model.asked_times(2).await;
    accept(&client, &first, &[0]).await;
    let second = shown(&client, &uri, "area(1, 1").await;
    assert_eq!(second.hunks[0].text, "sizes: ");
    assert!(model.asked()[1].prompt().contains("updated:\n    let one = area(1, 1);"), "as if it had been accepted");
    model.asked_times(3).await;
    assert_eq!(model.asked().len(), 3, "the second edit was there already; the third request is for the one after it");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn nothing_follows_from_an_edit_of_the_agents_until_the_user_changes_something() {
    let agent = ModelServer::responding(|asked| match asked.last_results().len() {
        0 => Answer::calls("read_file", json!({ "path": "main.rs" })),
        1 if asked.last_results()[0].contains("fn area") => Answer::calls(
            "edit_replace_exact",
            json!({ "path": "main.rs", "old_text": "let one = area(1);", "new_text": "let one = area(10);" }),
        ),
        _ => Answer::says("Done."),
    })
    .await;
    let model = arguments();
    let setup = Setup::empty();
    let settings = format!("accept_edits = true\n{}", model.edit_configuration());
    let (first, tables) = settings.split_once("[providers").unwrap();
    let of_agent = Setup::configuration(&agent, Wire::Anthropic);
    setup.configure(&format!("{first}{of_agent}[providers{tables}"));
    let project = Project::new([("main.rs", MAIN)]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.waive("azimuth/inline/status");
    let uri = project.uri("main.rs");
    client.open(&uri);
    add_parameter(&client, &uri);
    let session = client.new_session().await;
    client.prompt(&session, "Change it.").await;
    client.until_end(&session, protocol::turn::StopReason::EndTurn).await;
    assert!(client.text(&uri).contains("area(10)"), "{}", client.text(&uri));
    assert_eq!(silent(&client, &uri, "area(10").await, Rule::OwnEdit);
    client.replace(&uri, "height: u32", "height: u64");
    assert!(next(&client, &uri, "height: u64", "automatic").await.reason.is_none_or(|it| it.rule != Rule::OwnEdit));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn where_there_is_nothing_more_to_do_every_question_is_answered_so() {
    let model = FillServer::start(|asked| asked.replaced("area(1)", "area(1, 1)"));
    let (client, _world, uri) = editing(&model, &[("main.rs", MAIN)]).await;
    add_parameter(&client, &uri);
    let edit = shown(&client, &uri, "height: u32").await;
    model.asked_times(2).await;
    accept(&client, &edit, &[0]).await;
    for trigger in ["automatic", "invoked", "automatic", "invoked"] {
        let result = next(&client, &uri, "area(1, 1", trigger).await;
        assert_eq!(result.reason.unwrap().rule, Rule::NoChange);
    }
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_question_that_waits_is_answered_though_files_are_judged_anew() {
    let model = FillServer::start(|asked| asked.replaced("area(1)", "area(1, 1)").after(Duration::from_millis(300)));
    let (client, world, uri) = editing(&model, &[("main.rs", MAIN), (".gitignore", "target\n")]).await;
    add_parameter(&client, &uri);
    let params = json!({ "textDocument": { "uri": uri }, "position": position(&client, &uri, "height: u32") });
    let asking = client.request(methods::InlineEdit::METHOD, params);
    model.asked_times(1).await;
    let ignores = world.project.uri(".gitignore");
    client.open(&ignores);
    client.save(&ignores);
    let answer: InlineEditResult = serde_json::from_value(asking.await.unwrap()).unwrap();
    assert!(answer.edit.is_some(), "{answer:?}");
    assert_eq!(client.finish().await, 0);
}
