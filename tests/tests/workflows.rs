//! Code actions at a place in the code begin a workflow in the chat: in the panel, and without one in a chat document.

use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::PromptBlock;
use protocol::session::PromptPutParams;
use serde_json::{Value, json};
use tokio::sync::mpsc;

const CODE: &str = "fn side() -> u32 {\n    2\n}\n\nfn area() -> u32 {\n    side() * side()\n}\n";
const FILE: &str = "src/an area.rs";

struct World {
    _setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    code: String,
    shown: mpsc::UnboundedReceiver<String>,
}

impl World {
    async fn new(answers: impl IntoIterator<Item = Answer>, profile: Profile) -> Self {
        let model = ModelServer::start(answers).await;
        let setup = Setup::model(&model, Wire::Anthropic);
        let project = Project::new([(FILE, CODE)]);
        let client = Client::start(&setup, &project, profile).await;
        let (show, shown) = mpsc::unbounded_channel();
        client.on_request("window/showDocument", move |params| {
            let _ = show.send(params["uri"].as_str().unwrap().to_owned());
            Ok(json!({ "success": true }))
        });
        let code = project.uri(FILE);
        client.open(&code);
        Self { _setup: setup, model, project, client, code, shown }
    }

    /// The code actions at a line, where these problems are reported.
    async fn actions(&self, line: u32, diagnostics: Value) -> Vec<Value> {
        let here = json!({ "line": line, "character": 4 });
        let params = json!({ "textDocument": { "uri": self.code }, "range": { "start": here, "end": here },
            "context": { "diagnostics": diagnostics } });
        self.client.request("textDocument/codeAction", params).await.unwrap().as_array().unwrap().clone()
    }

    /// Chooses one by its title.
    async fn choose(&self, line: u32, diagnostics: Value, title: &str) -> Result<Value, String> {
        let actions = self.actions(line, diagnostics).await;
        let action = actions.iter().find(|action| action["title"] == title);
        let action = action.unwrap_or_else(|| panic!("no action {title}: {actions:?}"));
        self.client.request("workspace/executeCommand", action["command"].clone()).await.map_err(|error| error.message)
    }

    /// The chat that the client was asked to show.
    async fn shown(&mut self) -> String {
        harness::in_time(self.shown.recv()).await.expect("nothing was to be shown").unwrap()
    }

    async fn until_end(&self, chat: &str, end: &str) -> String {
        self.until(chat, end, "").await
    }

    /// Waits until the chat ends so, and has this in it.
    async fn until(&self, chat: &str, end: &str, part: &str) -> String {
        let wished = async {
            loop {
                let text = self.client.text(chat);
                if text.ends_with(end) && text.contains(part) {
                    return text;
                }
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        };
        let wished = harness::in_time(wished).await;
        wished.unwrap_or_else(|| panic!("it does not end so: {}", self.client.text(chat)))
    }
}

fn without_panel() -> Profile {
    Profile::plain().with("/window/showDocument", json!({ "support": true }))
}

#[tokio::test]
async fn what_stands_at_the_cursor_is_explained_in_a_chat_that_opens() {
    let mut world = World::new([Answer::says("Twice the side.")], without_panel()).await;
    let chosen = async {
        let chosen = world.choose(5, json!([]), "Explain `area` with Azimuth");
        let mut chosen = std::pin::pin!(chosen);
        tokio::select! {
            done = &mut chosen => panic!("the chat is not open, and yet: {done:?}"),
            () = tokio::time::sleep(std::time::Duration::from_millis(300)) => {}
        }
        world.client.open(&world.project.uri(".azimuth/chats/azimuth-chat.md"));
        chosen.await.unwrap();
    };
    chosen.await;
    let chat = world.shown().await;
    assert_eq!(chat, world.project.uri(".azimuth/chats/azimuth-chat.md"));
    let text = world.until_end(&chat, "Twice the side.\n\n## You\n\n").await;
    assert!(text.starts_with("## You\n\nExplain `area`: "), "{text}");
    assert!(text.contains("\n\n@src/an%20area.rs:5-7\n"), "the place can be read, and changed, as any mention: {text}");
    let asked = &world.model.asked()[0];
    assert!(
        asked.user_text().contains("src/an area.rs lines 5-7:\n```\nfn area() -> u32 {\n"),
        "{}",
        asked.user_text()
    );
    assert!(!asked.user_text().contains("fn side"), "only that is put before the model");
    world.client.finish().await;
}

#[tokio::test]
async fn a_problem_is_sent_to_be_mended_with_what_its_server_says() {
    let mut world = World::new([Answer::says("Mended.")], without_panel()).await;
    let chat = world.project.uri(".azimuth/chats/azimuth-chat.md");
    world.client.request("workspace/executeCommand", json!({ "command": "azimuth.chat.open" })).await.unwrap();
    assert_eq!(world.shown().await, chat);
    world.client.open(&chat);
    // As the user types: what the server knows is what stands in the editor.
    world.client.replace(&world.code, "    2\n", "    // Wrong.\n    \"2\"\n");
    let at = |line: u32| json!({ "start": { "line": line, "character": 4 }, "end": { "line": line, "character": 7 } });
    let problem = json!({ "range": at(2), "message": "mismatched types\nexpected u32, see /new", "source": "rustc",
        "code": "E0308" });
    world.choose(2, json!([problem]), "Fix this problem with Azimuth").await.unwrap();
    let text = world.until_end(&chat, "Mended.\n\n## You\n\n").await;
    assert!(text.contains("> Line 3 (rustc E0308): mismatched types\n> expected u32, see `/new`\n"), "{text}");
    let asked = world.model.asked()[0].user_text();
    assert!(asked.contains("lines 1-4:\n```\nfn side() -> u32 {\n    // Wrong.\n    \"2\"\n}\n```"), "{asked}");
    world.client.finish().await;
}

#[tokio::test]
async fn what_the_user_was_writing_and_an_answer_under_way_are_left_alone() {
    let gate = Gate::default();
    let mut world =
        World::new([Answer::nothing().text("First.\n").wait(&gate), Answer::says("Second.")], without_panel()).await;
    let chat = world.project.uri(".azimuth/chats/azimuth-chat.md");
    world.client.request("workspace/executeCommand", json!({ "command": "azimuth.chat.open" })).await.unwrap();
    world.shown().await;
    world.client.open(&chat);
    world.client.replace(&chat, "## You\n\n", "## You\n\nI wonder\n");
    world.choose(1, json!([]), "Explain `side` with Azimuth").await.unwrap();
    let said: Value = world.client.notification("window/showMessage").await;
    assert!(said["message"].as_str().unwrap().contains("not sent yet"), "{said}");
    let text = world.client.text(&chat);
    assert!(text.starts_with("## You\n\nI wonder\n\nExplain `side`: "), "{text}");
    assert!(world.model.asked().is_empty(), "nothing is sent that is not whole");

    let send = json!({ "command": "azimuth.chat.send", "arguments": [{ "uri": chat }] });
    world.client.request("workspace/executeCommand", send.clone()).await.unwrap();
    world.until_end(&chat, "First.\n").await;
    world.choose(5, json!([]), "Document `area` with Azimuth").await.unwrap();
    let said: Value = world.client.notification("window/showMessage").await;
    assert!(said["message"].as_str().unwrap().contains("is still answering"), "{said}");
    gate.open();
    // The mark below an answer says that its turn has ended.
    let text = world.until(&chat, "@src/an%20area.rs:5-7\n", "First.\n\n## You\n").await;
    assert_eq!(world.model.asked().len(), 1, "{text}");
    world.client.request("workspace/executeCommand", send).await.unwrap();
    world.until_end(&chat, "Second.\n\n## You\n\n").await;
    assert!(world.model.asked()[1].user_text().contains("Document `area`"));
    world.client.finish().await;
}

#[tokio::test]
async fn a_question_waits_for_its_words() {
    let mut world = World::new([], without_panel()).await;
    let chat = world.project.uri(".azimuth/chats/azimuth-chat.md");
    world.client.request("workspace/executeCommand", json!({ "command": "azimuth.chat.open" })).await.unwrap();
    world.shown().await;
    world.client.open(&chat);
    world.choose(1, json!([]), "Ask Azimuth about `side`").await.unwrap();
    assert_eq!(world.shown().await, chat, "the user is taken there");
    assert_eq!(world.client.text(&chat), "## You\n\n@src/an%20area.rs:1-3\n");
    world.client.finish().await;
}

#[tokio::test]
async fn a_panel_gets_the_prompt() {
    let world = World::new([], Profile::panel()).await;
    world.choose(5, json!([]), "Write tests for `area` with Azimuth").await.unwrap();
    let put: PromptPutParams = world.client.notification("azimuth/prompt/put").await;
    assert!(put.send);
    let [PromptBlock::Text { text }, PromptBlock::Range { uri, range }] = put.prompt.as_slice() else {
        panic!("{put:?}");
    };
    assert!(text.starts_with("Write tests for `area`. "), "{text}");
    assert_eq!((uri, range.lines()), (&world.code, [4, 6]));
    world.choose(3, json!([]), "Ask Azimuth about this file").await.unwrap();
    let put: PromptPutParams = world.client.notification("azimuth/prompt/put").await;
    assert_eq!(put, PromptPutParams { prompt: vec![PromptBlock::File { uri: world.code.clone() }], send: false });
    world.client.finish().await;
}

#[tokio::test]
async fn who_wants_no_such_actions_says_so() {
    let model = ModelServer::start([]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let project = Project::new([(FILE, CODE)]);
    let mut client = Client::connect(&setup);
    let options = json!({ "initializationOptions": { "codeActions": false } });
    client.initialize(Some(project.folder()), Profile::panel(), options).await;
    let code = project.uri(FILE);
    client.open(&code);
    let here = json!({ "line": 1, "character": 4 });
    let params = json!({ "textDocument": { "uri": code }, "range": { "start": here, "end": here },
        "context": { "diagnostics": [] } });
    // The settings are read beside.
    let none = async {
        while client.request("textDocument/codeAction", params.clone()).await.unwrap() != json!([]) {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    harness::in_time(none).await.expect("they are offered still");
    client.finish().await;
}
