//! "Change this" in an editor without our plugin: the instruction stands in a comment, a code action sends it, and the
//! hunks are decided by code actions.

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use serde_json::{Value, json};

const TEXT: &str = "\
// azimuth: make this iterative
fn sum(n: u32) -> u32 {
    if n == 0 { 0 } else { n + sum(n - 1) }
}

fn main() {
    println!(\"{}\", sum(3));
}
";
const NEW: &str = "\
fn sum(n: u32) -> u32 {
    (1..=n).sum()
}

fn main() {
    println!(\"{}\", sum(3));
}
";

struct World {
    model: ModelServer,
    _setup: Setup,
    _project: Project,
    client: Client,
    uri: String,
}

impl World {
    async fn new(answers: impl IntoIterator<Item = Answer>, profile: Profile) -> Self {
        let model = ModelServer::start(answers).await;
        let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("main.rs", TEXT)]));
        let client = Client::start(&setup, &project, profile).await;
        client.waive("textDocument/publishDiagnostics");
        let uri = project.uri("main.rs");
        client.open(&uri);
        Self { model, _setup: setup, _project: project, client, uri }
    }

    /// The actions that change what is selected, from a line and character to another.
    async fn changes(&self, [from, start, to, end]: [u32; 4], context: Value) -> Vec<Value> {
        let at = |line: u32, character: u32| json!({ "line": line, "character": character });
        let params = json!({ "textDocument": { "uri": self.uri },
            "range": { "start": at(from, start), "end": at(to, end) }, "context": context });
        let actions = self.client.request("textDocument/codeAction", params).await.unwrap();
        let is_change = |action: &&Value| action["kind"] == "azimuth.change";
        actions.as_array().unwrap().iter().filter(is_change).cloned().collect()
    }

    async fn run(&self, action: &Value) {
        self.client.request("workspace/executeCommand", action["command"].clone()).await.unwrap();
    }

    /// The next message to the user that has this.
    async fn until_said(&self, part: &str) -> String {
        loop {
            let message: Value = self.client.notification("window/showMessage").await;
            if let Some(text) = message["message"].as_str().filter(|text| text.contains(part)) {
                return text.to_owned();
            }
        }
    }
}

fn rewrite() -> Answer {
    Answer::nothing()
        .call(
            "edit_replace_exact",
            json!({ "path": "main.rs", "old_text": "// azimuth: make this iterative\n", "new_text": "" }),
        )
        .call(
            "edit_replace_exact",
            json!({ "path": "main.rs",
            "old_text": "if n == 0 { 0 } else { n + sum(n - 1) }", "new_text": "(1..=n).sum()" }),
        )
}

#[tokio::test]
async fn a_comment_says_what_to_change_and_the_hunks_are_decided_by_code_actions() {
    let world = World::new([rewrite(), Answer::says("It is a sum now.")], Profile::plain()).await;
    // Some editors select the character at the cursor.
    let of_cursor = world.changes([1, 3, 1, 4], json!({ "diagnostics": [], "triggerKind": 1 })).await;
    let [action] = of_cursor.as_slice() else { panic!("{of_cursor:?}") };
    assert_eq!(action["title"], "Change this with Azimuth: make this iterative");
    assert_eq!(action["command"]["command"], "azimuth.inline.instruct");
    let argument = &action["command"]["arguments"][0];
    let lines = json!([argument["selections"][0]["start"]["line"], argument["selections"][0]["end"]["line"]]);
    assert_eq!(lines, json!([0, 4]), "the comment and the function below it");

    world.run(action).await;
    let said = world.until_said("proposes").await;
    assert_eq!(said, "Azimuth proposes 2 changes: accept or reject them with code actions.");
    let asked = &world.model.asked()[0];
    assert!(asked.user_text().contains("make this iterative\n"), "{}", asked.user_text());
    assert!(asked.user_text().contains("main.rs lines 1-4, selected:"), "{}", asked.user_text());
    assert!(asked.system().contains("<changing_in_place>"));
    assert_eq!(world.client.text(&world.uri), TEXT, "nothing is in the document before it is accepted");

    world.client.choose_action(&world.uri, "Accept all in file").await;
    let accepted = async {
        while world.client.text(&world.uri) != NEW {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    harness::patiently("the edit", accepted).await;
    assert_eq!(
        world.changes([1, 0, 1, 0], json!({ "diagnostics": [] })).await,
        [Value::Null; 0],
        "the comment is gone"
    );
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn an_instruction_that_changes_nothing_or_fails_says_so() {
    let world = World::new([Answer::says("It cannot be iterative."), Answer::refused(401)], Profile::plain()).await;
    // Each instruction is a conversation of its own.
    world.model.may_rewrite();
    let [action] = <[Value; 1]>::try_from(world.changes([0, 0, 4, 0], json!({ "diagnostics": [] })).await).unwrap();
    world.run(&action).await;
    let said = world.until_said("proposes").await;
    assert_eq!(said, "Azimuth proposes no change. It cannot be iterative.");
    world.run(&action).await;
    world.until_said("Azimuth could not finish the change: ").await;
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn it_is_offered_only_to_who_asks_and_refused_for_a_text_that_has_changed() {
    let world = World::new([], Profile::plain()).await;
    let selected = [0, 0, 4, 0];
    for (context, count) in [
        (json!({ "diagnostics": [], "triggerKind": 2 }), 0),
        (json!({ "diagnostics": [], "only": ["quickfix"] }), 0),
        (json!({ "diagnostics": [], "only": ["azimuth"] }), 1),
    ] {
        assert_eq!(world.changes(selected, context.clone()).await.len(), count, "{context}");
    }
    assert!(world.changes([6, 4, 6, 4], json!({ "diagnostics": [] })).await.is_empty(), "no comment is there");
    let [action] = <[Value; 1]>::try_from(world.changes(selected, json!({ "diagnostics": [] })).await).unwrap();
    world.client.replace(&world.uri, "sum(3)", "sum(4)");
    let error = world.client.request("workspace/executeCommand", action["command"].clone()).await.unwrap_err();
    assert!(error.message.contains("has changed since"), "{error:?}");
    assert!(world.model.asked().is_empty());
    assert_eq!(world.client.finish().await, 0);

    let panel = World::new([], Profile::panel()).await;
    assert!(panel.changes(selected, json!({ "diagnostics": [] })).await.is_empty(), "a panel has its own");
    assert_eq!(panel.client.finish().await, 0);
}
