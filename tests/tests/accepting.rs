//! Edits that are accepted automatically: in a session, and always in a project.

use harness::window::Window;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::review::{AutoScope, HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::json;

struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new(profile: Profile) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::model(&model, Wire::Anthropic);
        let project = Project::new([("a.txt", "one\ntwo\nthree\n"), (".env", "KEY=old\n")]);
        let client = Client::start(&setup, &project, profile).await;
        let session = client.new_session().await;
        Self { setup, model, project, client, session }
    }

    async fn auto(&self, session: &SessionId, on: bool, scope: &str) {
        self.client.call::<methods::ReviewAuto>(json!({ "sessionId": session, "on": on, "scope": scope })).await;
    }

    /// A turn of a session in which the model makes these edits.
    async fn turn(&self, session: &SessionId, edits: &[(&str, &str, &str)]) -> Vec<Event> {
        let call = |answer: Answer, (path, old, new): &(&str, &str, &str)| {
            answer.call("edit_replace_exact", json!({ "path": path, "old_text": old, "new_text": new }))
        };
        self.model.then(edits.iter().fold(Answer::nothing(), call));
        self.model.then(Answer::says("Done."));
        self.client.prompt(session, "Change the files.").await;
        self.client.until_end(session, StopReason::EndTurn).await
    }

    async fn waits(&self, session: &SessionId) -> Vec<Proposal> {
        self.client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals
    }

    /// Waits until a session's log says so.
    async fn until_auto(&self, session: &SessionId, on: bool, scope: AutoScope) {
        let says = Event::AcceptEditsChanged { on, scope };
        self.client.until(session, "the switch", |event| *event == says).await;
    }

    async fn restarted(self) -> Self {
        let Self { setup, model, project, client, session } = self;
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        Self { setup, model, project, client, session }
    }

    /// How a session stands, by the events that a client gets when it opens it.
    async fn opened(&self, session: &SessionId) -> (bool, AutoScope) {
        let opened = self.client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        let said = opened.events.iter().rev().find_map(|event| match event.event {
            Event::AcceptEditsChanged { on, scope } => Some((on, scope)),
            _ => None,
        });
        said.unwrap_or_default()
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

#[tokio::test]
async fn what_is_always_accepted_in_a_project_is_so_in_all_its_sessions_and_after_a_restart() {
    let world = World::new(Profile::panel()).await;
    let other = world.client.new_session().await;
    world.model.may_rewrite();
    world.auto(&world.session, true, "project").await;
    world.until_auto(&other, true, AutoScope::Project).await;
    world.turn(&other, &[("a.txt", "one", "1")]).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\nthree\n");
    let in_project: Vec<_> =
        std::fs::read_dir(world.project.folder()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(in_project.len(), 2, "nothing is kept in the project: {in_project:?}");

    // Off in one session, it is off there and nowhere else, until the server ends.
    world.auto(&other, false, "session").await;
    world.until_auto(&other, false, AutoScope::Session).await;
    world.turn(&other, &[("a.txt", "two", "2")]).await;
    assert_eq!(world.waits(&other).await.len(), 1);
    world.turn(&world.session, &[("a.txt", "three", "3")]).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\n3\n");

    let world = world.restarted().await;
    for session in [&world.session, &other, &world.client.new_session().await] {
        assert_eq!(world.opened(session).await, (true, AutoScope::Project));
    }
    world.auto(&world.session, false, "project").await;
    world.until_auto(&other, false, AutoScope::Session).await;
    world.turn(&other, &[("a.txt", "1", "one")]).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\n3\n");

    let world = world.restarted().await;
    assert!(!world.opened(&world.client.new_session().await).await.0, "it is forgotten");
    world.finish().await;
}

#[tokio::test]
async fn off_in_the_project_is_off_in_each_of_its_sessions() {
    let world = World::new(Profile::panel()).await;
    let other = world.client.new_session().await;
    world.model.may_rewrite();
    world.auto(&other, true, "session").await;
    world.auto(&world.session, true, "project").await;
    world.auto(&world.session, false, "project").await;
    world.until_auto(&other, false, AutoScope::Session).await;
    world.turn(&other, &[("a.txt", "one", "1")]).await;
    assert_eq!(world.waits(&other).await.len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn another_windows_session_hears_of_the_project_with_its_next_prompt() {
    let model = ModelServer::start([]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let project = Project::new([("a.txt", "one\ntwo\n")]);
    let first = Window::open(&setup, &project, Profile::panel()).await;
    let second = Window::open(&setup, &project, Profile::panel()).await;
    let (here, there) = (first.new_session().await, second.new_session().await);
    let auto = |session: &SessionId, on: bool| json!({ "sessionId": session, "on": on, "scope": "project" });
    let edit = |old: &str, new: &str| {
        let edit = json!({ "path": "a.txt", "old_text": old, "new_text": new });
        model.then(Answer::calls("edit_replace_exact", edit));
        model.then(Answer::says("Done."));
    };
    first.call::<methods::ReviewAuto>(auto(&here, true)).await;
    edit("one", "1");
    second.prompt(&there, "Go on.").await;
    second.until_end(&there, StopReason::EndTurn).await;
    assert_eq!(project.read("a.txt"), "1\ntwo\n");
    first.call::<methods::ReviewAuto>(auto(&here, false)).await;
    edit("two", "2");
    second.prompt(&there, "Go on.").await;
    second.until_end(&there, StopReason::EndTurn).await;
    assert_eq!(project.read("a.txt"), "1\ntwo\n", "it waits for review again");
    second.close().await;
    first.close().await;
}

#[tokio::test]
async fn another_project_is_not_asked_to_accept_anything() {
    let world = World::new(Profile::panel()).await;
    world.auto(&world.session, true, "project").await;
    let elsewhere = Project::new([("a.txt", "one\n")]);
    let new = json!({ "folders": [elsewhere.uri("")] });
    let session = world.client.call::<methods::SessionNew>(new).await.session.session_id;
    assert!(!world.opened(&session).await.0);
    world.finish().await;
}

#[tokio::test]
async fn an_edit_of_a_file_with_keys_always_waits_for_the_user() {
    let world = World::new(Profile::panel()).await;
    world.auto(&world.session, true, "project").await;
    world.turn(&world.session, &[(".env", "KEY=old", "KEY=new")]).await;
    assert_eq!(world.project.read(".env"), "KEY=old\n");
    let waits = world.waits(&world.session).await;
    assert_eq!((waits[0].path.as_str(), waits[0].hunks[0].state), (".env", HunkState::Pending));
    let told = world.model.asked().last().unwrap().last_results().concat();
    assert!(told.contains("1 hunk waits for the user's review"), "{told}");

    // A file that belongs to git is not edited at all, whether edits are accepted automatically or not.
    world.project.write(".git/config", "[core]\n");
    world.turn(&world.session, &[(".git/config", "core", "alias")]).await;
    assert_eq!(world.project.read(".git/config"), "[core]\n");
    assert_eq!(world.waits(&world.session).await.len(), 1);
    let told = world.model.asked().last().unwrap().last_results().concat();
    assert!(told.contains("belongs to git itself"), "{told}");
    world.finish().await;
}

#[tokio::test]
async fn an_edit_that_makes_other_programs_run_always_waits_for_the_user() {
    let world = World::new(Profile::panel()).await;
    world.model.may_rewrite();
    world.auto(&world.session, true, "project").await;
    let files =
        [".vscode/tasks.json", ".mcp.json", ".github/workflows/ci.yml", "lsp.json", "bin/node", "terraform.tfvars"];
    for file in files {
        world.project.write(file, "old\n");
        world.turn(&world.session, &[(file, "old", "new")]).await;
        assert_eq!(world.project.read(file), "old\n", "{file}");
    }
    let waits = world.waits(&world.session).await;
    let waits: Vec<_> = waits.iter().map(|proposal| proposal.path.as_str()).collect();
    assert_eq!(waits.len(), files.len(), "{waits:?}");
    world.finish().await;
}

#[tokio::test]
async fn a_file_that_makes_other_programs_run_waits_also_where_it_was_moved_and_goes_on_from_there() {
    const FILE: &str = ".vscode/tasks.json";
    let model = ModelServer::start([]).await;
    model.may_rewrite();
    let setup = Setup::empty();
    let settings = "edit_mode = \"patch\"\naccept_edits = true\n";
    setup.configure(&(settings.to_owned() + &Setup::configuration(&model, Wire::Anthropic)));
    for then in ["*** Delete File: b.txt\n", "*** Update File: b.txt\n*** Move to: c.txt\n"] {
        let project = Project::new([(FILE, "old\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        for change in [&format!("*** Update File: {FILE}\n*** Move to: b.txt\n"), then] {
            let patch = format!("*** Begin Patch\n{change}*** End Patch\n");
            model.then(Answer::calls("edit_apply_patch", json!({ "patch": patch })));
        }
        model.then(Answer::says("Done."));
        client.prompt(&session, "Move it.").await;
        client.until_end(&session, StopReason::EndTurn).await;
        assert_eq!(project.read(FILE), "old\n", "{then}");
        let waits = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
        let waits: Vec<_> = waits.iter().map(|it| (it.path.as_str(), it.hunks[0].state)).collect();
        assert_eq!(waits, [(FILE, HunkState::Pending)], "{then}");
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_client_without_a_panel_switches_it_by_a_slash_command_or_a_command() {
    let world = World::new(Profile::plain()).await;
    world.client.waive("textDocument/publishDiagnostics");
    let said = async |prompt: &str| {
        let words = json!([{ "type": "text", "text": prompt }]);
        world.client.call::<methods::TurnStart>(json!({ "sessionId": world.session, "prompt": words })).await;
        let is_it = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        match world.client.until(&world.session, "the command", is_it).await.pop() {
            Some(Event::CommandExecuted { message, .. }) => message,
            _ => unreachable!("the last event is it"),
        }
    };
    assert_eq!(said("/auto").await, "edits wait for your review in this conversation");
    assert!(said("/auto on --project").await.starts_with("edits are accepted automatically in this project"));
    world.turn(&world.session, &[("a.txt", "one", "1")]).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\nthree\n");
    assert!(said("/auto").await.contains("in this project"));
    assert!(said("/auto yes").await.contains("`yes` is not understood"));

    let off = json!({ "sessionId": world.session, "on": false });
    let command = json!({ "command": "azimuth.review.auto", "arguments": [off] });
    world.client.request("workspace/executeCommand", command).await.unwrap();
    world.turn(&world.session, &[("a.txt", "two", "2")]).await;
    assert_eq!(world.project.read("a.txt"), "1\ntwo\nthree\n");
    world.finish().await;
}

#[tokio::test]
async fn what_is_pasted_into_a_prompt_switches_nothing_on() {
    let world = World::new(Profile::panel()).await;
    world.model.then(Answer::says("I see."));
    let body = json!([{ "type": "text", "text": "What does this page say?" },
        { "type": "text", "text": "/auto on --project\n```\n/auto on\n```\n" }]);
    world.client.call::<methods::TurnStart>(json!({ "sessionId": world.session, "prompt": body })).await;
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    assert!(world.model.asked().last().unwrap().user_text().contains("/auto on --project"), "the model reads it");
    assert!(!world.opened(&world.session).await.0);
    world.finish().await;
}
