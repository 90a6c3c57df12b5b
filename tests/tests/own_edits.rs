//! The user's own edits between turns: the model is told of their files and lines with the next prompt, once.

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::json;

const BEGIN: &str = "The user has edited these files in the editor since the last turn";

struct World {
    model: ModelServer,
    _setup: Setup,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new() -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let rules = "[permissions]\nallow = [\"Shell\"]\ndeny = [\"Read(denied.txt)\"]\nask = [\"Read(asked.txt)\"]\n";
        setup.configure(&format!("{}{rules}", Setup::configuration(&model, Wire::Anthropic)));
        let lines = format!("one\ntwo\nthree\nfour\nfive\n{}last\nnine\n", "-\n".repeat(20));
        let files = ["a.txt", "b.txt", "denied.txt", "asked.txt", ".env"].map(|name| (name, lines.as_str()));
        let project = Project::new(files);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        files.iter().for_each(|(name, _)| client.open(&project.uri(name)));
        let session = client.new_session().await;
        Self { model, _setup: setup, project, client, session }
    }

    fn edit(&self, file: &str, old: &str, new: &str) {
        self.client.replace(&self.project.uri(file), old, new);
    }

    /// A turn with these answers. Gives what the user has said up to then, as the model reads it.
    async fn turn(&self, answers: impl IntoIterator<Item = Answer>) -> String {
        let before = self.model.asked().len();
        answers.into_iter().for_each(|answer| self.model.then(answer));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Go on.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await;
        self.model.asked()[before].user_text()
    }
}

#[tokio::test]
async fn the_model_is_told_once_which_lines_the_user_has_edited_and_never_their_text() {
    let world = World::new().await;
    assert!(!world.turn([]).await.contains(BEGIN), "nothing was edited");

    world.edit("a.txt", "two", "the second");
    world.edit("a.txt", "last", "the last");
    world.edit("b.txt", "nine\n", "");
    world.edit("denied.txt", "two", "hidden");
    world.edit("asked.txt", "two", "hidden");
    world.edit(".env", "two", "KEY=hidden");
    let said = world.turn([]).await;
    let told = format!("{BEGIN}, saved or not:\n- a.txt: line 2 and line 26\n- b.txt: lines deleted after line 26\n");
    assert_eq!(said.matches(BEGIN).count(), 1);
    assert!(said.contains(&told), "{said}");
    for unsaid in ["the second", "denied", "asked", ".env", "hidden"] {
        assert!(!said.contains(unsaid), "{unsaid}: {said}");
    }

    world.edit("b.txt", "one", "first");
    world.edit("b.txt", "first", "one");
    let asked = world.model.asked().last().unwrap().body()["messages"].clone();
    world.turn([]).await;
    let now = world.model.asked().last().unwrap().body()["messages"].clone();
    let (before, now) = (asked.as_array().unwrap(), now.as_array().unwrap());
    let told = |messages: &[serde_json::Value]| json!(messages).to_string().matches(BEGIN).count();
    assert_eq!(
        (told(before), told(now)),
        (1, 1),
        "an edit that was undone is none, and the old note stays where it was"
    );

    let uri = world.project.uri("b.txt");
    world.edit("b.txt", "five", "5");
    world.client.save(&uri);
    world.client.close(&uri);
    let said = world.turn([]).await;
    assert!(said.contains("- b.txt: line 5\n"), "a document that is closed counts too: {said}");
    world.client.open(&uri);
    world.edit("b.txt", "four", "4");
    world.client.close(&uri);
    let said = world.turn([]).await;
    assert!(!said.contains("- b.txt: line 4\n"), "what was not saved is gone: {said}");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn what_the_model_and_its_commands_did_to_a_file_is_not_the_users() {
    let world = World::new().await;
    let edit = json!({ "path": "a.txt", "old_text": "two", "new_text": "2" });
    world.turn([Answer::calls("edit_replace_exact", edit)]).await;
    let review = json!({ "sessionId": world.session });
    let proposals = world.client.call::<methods::ReviewList>(review).await.proposals;
    let target = json!({ "proposalId": proposals[0].proposal_id, "revision": proposals[0].revision });
    let decision = json!({ "sessionId": world.session, "decision": "accept", "targets": [target] });
    world.client.call::<methods::ReviewDecide>(decision).await;
    world.client.until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
    assert!(world.client.text(&world.project.uri("a.txt")).contains("2\n"));

    let said = world.turn([Answer::calls("shell_run", json!({ "command": "echo ten >> b.txt" }))]).await;
    assert!(!said.contains(BEGIN), "an accepted hunk is the model's: {said}");
    // The editor reads the file again.
    world.edit("b.txt", "nine\n", "nine\nten\n");
    let said = world.turn([]).await;
    assert!(!said.contains(BEGIN), "what a command wrote is not the user's: {said}");
    world.edit("b.txt", "ten", "eleven");
    let said = world.turn([]).await;
    assert!(said.contains("- b.txt: line 28\n"), "{said}");
    assert_eq!(world.client.finish().await, 0);
}
