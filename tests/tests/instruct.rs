//! "Change this": a selection and an instruction become proposals in place; nothing is in the document before.

use harness::client::RpcError;
use harness::model::Asked;
use harness::window::Window;
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::event::ApplyOutcome;
use protocol::inline::InlineInstructResult;
use protocol::model::ThinkingLevel;
use protocol::review::{HunkState, Proposal};
use protocol::session::{Purpose, SessionInfo};
use protocol::turn::StopReason;
use protocol::{Event, PromptBlock, SessionId, methods};
use serde_json::{Value, json};

const TEXT: &str = "one\ntwo\nthree\nfour\n\nsix\nseven\n";

/// An editor with a document open, and a model that answers by a script.
struct World {
    model: ModelServer,
    setup: Setup,
    project: Project,
    client: Client,
    uri: String,
}

impl World {
    async fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(TEXT, answers).await
    }

    async fn with(text: &str, answers: impl IntoIterator<Item = Answer>) -> Self {
        let model = ModelServer::start(answers).await;
        let setup = Setup::model(&model, Wire::Anthropic);
        let project = Project::new([("a.txt", text), ("b.txt", "uses two\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let uri = project.uri("a.txt");
        client.open(&uri);
        Self { model, setup, project, client, uri }
    }

    /// Sends an instruction for selections, each from a line and character to another.
    async fn instruct(&self, words: &str, selections: &[[u32; 4]]) -> InlineInstructResult {
        self.client.call::<methods::InlineInstruct>(instruction(&self.uri, words, selections)).await
    }

    /// Sends a further instruction.
    async fn refine(&self, session: &SessionId, words: &str, selections: &[[u32; 4]]) -> InlineInstructResult {
        let mut params = instruction(&self.uri, words, selections);
        params["sessionId"] = json!(session);
        self.client.call::<methods::InlineInstruct>(params).await
    }

    async fn refused(&self, params: Value) -> RpcError {
        self.client.request("azimuth/inline/instruct", params).await.unwrap_err()
    }

    async fn until_end(&self, session: &SessionId) -> Vec<Event> {
        self.client.until_end(session, StopReason::EndTurn).await
    }

    async fn listed(&self, purpose: Option<Purpose>) -> Vec<SessionInfo> {
        self.client.call::<methods::SessionList>(json!({ "purpose": purpose })).await.sessions
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

fn instruction(uri: &str, words: &str, selections: &[[u32; 4]]) -> Value {
    let at = |line: u32, character: u32| json!({ "line": line, "character": character });
    let range = |it: &[u32; 4]| json!({ "start": at(it[0], it[1]), "end": at(it[2], it[3]) });
    let selections: Vec<_> = selections.iter().map(range).collect();
    json!({ "textDocument": { "uri": uri }, "selections": selections, "instruction": words })
}

fn edit(old: &str, new: &str) -> Value {
    json!({ "path": "a.txt", "old_text": old, "new_text": new })
}

async fn proposals(client: &Client, session: &SessionId) -> Vec<Proposal> {
    client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals
}

/// Decides on hunks of the only proposal, by their places; without any, on all.
async fn decide(client: &Client, session: &SessionId, decision: &str, hunks: &[usize]) {
    let listed = proposals(client, session).await;
    let [proposal] = listed.as_slice() else { panic!("not one proposal: {listed:?}") };
    let mut target = json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision });
    if !hunks.is_empty() {
        target["hunkIds"] = hunks.iter().map(|at| json!(proposal.hunks[*at].hunk_id)).collect();
    }
    let params = json!({ "sessionId": session, "decision": decision, "targets": [target] });
    client.call::<methods::ReviewDecide>(params).await;
}

async fn until_applied(client: &Client, session: &SessionId) {
    let is_applied = |event: &Event| matches!(event, Event::EditApplied { .. });
    let events = client.until(session, "the edit", is_applied).await;
    let Some(Event::EditApplied { outcome, .. }) = events.last() else { unreachable!() };
    assert_eq!(*outcome, ApplyOutcome::Verified);
}

fn has_tool(asked: &Asked, name: &str) -> bool {
    asked.tools().iter().any(|tool| tool == name)
}

#[tokio::test]
async fn a_selection_becomes_hunks_in_place_of_which_one_is_accepted_and_undone() {
    let edits = Answer::nothing()
        .call("edit_replace_exact", edit("two\n", "2\n"))
        .call("edit_replace_exact", edit("four\n", "4\n"));
    let world = World::new([edits, Answer::says("Done.")]).await;
    let InlineInstructResult { session_id: session, turn_id } =
        world.instruct("Write the even numbers as digits.", &[[1, 0, 4, 0]]).await;
    let events = world.until_end(&session).await;
    let started = events.iter().find_map(|event| match event {
        Event::TurnStarted { turn_id, prompt, .. } => Some((turn_id, prompt)),
        _ => None,
    });
    let (started, prompt) = started.expect("the events begin before the turn");
    assert_eq!(*started, turn_id);
    let selected =
        |block: &PromptBlock| matches!(block, PromptBlock::Selection { text, .. } if text == "two\nthree\nfour\n");
    assert!(prompt.iter().any(selected), "people see what was selected: {prompt:?}");
    assert!(events.iter().any(|event| matches!(event, Event::EditDelta { .. })), "its diff is shown while it comes");

    let asked = &world.model.asked()[0];
    let said = asked.user_text();
    assert!(said.contains("a.txt lines 2-4, selected:\n```\ntwo\nthree\nfour\n```"), "{said}");
    assert!(said.contains("a.txt line 1, around it:\n```\none\n```"), "{said}");
    assert!(said.contains("Write the even numbers as digits."), "{said}");
    assert!(asked.system().contains("<changing_in_place>"));
    for (tool, is_there) in
        [("read_file", true), ("search_text", true), ("edit_replace_exact", true), ("lsp_references", true)]
    {
        assert_eq!(has_tool(asked, tool), is_there, "{tool}: {:?}", asked.tools());
    }
    let of_commands = asked.tools().into_iter().filter(|tool| tool.starts_with("shell_")).count();
    assert_eq!(of_commands, 0, "{:?}", asked.tools());

    assert_eq!(world.client.text(&world.uri), TEXT, "nothing is in the document before it is accepted");
    assert_eq!(proposals(&world.client, &session).await[0].hunks.len(), 2);
    decide(&world.client, &session, "accept", &[0]).await;
    until_applied(&world.client, &session).await;
    assert_eq!(world.client.text(&world.uri), TEXT.replace("two", "2"));
    decide(&world.client, &session, "reject", &[]).await;
    world.client.call::<methods::CheckpointUndo>(json!({ "sessionId": session })).await;
    assert_eq!(world.client.text(&world.uri), TEXT);
    world.finish().await;
}

#[tokio::test]
async fn a_further_instruction_is_about_the_text_with_what_is_pending() {
    let first = Answer::calls("edit_replace_exact", edit("two\n", "2\nzwei\n"));
    let second = Answer::calls("edit_replace_exact", edit("2\nzwei\n", "II\n"));
    let world = World::new([first, Answer::says("Done."), second, Answer::says("Done.")]).await;
    let session = world.instruct("As a digit.", &[[1, 0, 2, 0]]).await.session_id;
    world.until_end(&session).await;
    let before = proposals(&world.client, &session).await;
    let again = world.refine(&session, "In Roman.", &[[1, 0, 2, 0]]).await;
    assert_eq!(again.session_id, session);
    world.until_end(&session).await;
    let said = world.model.asked()[2].user_text();
    assert!(said.contains("a.txt lines 2-3, selected:\n```\n2\nzwei\n```"), "{said}");
    let now = proposals(&world.client, &session).await;
    assert_eq!((before[0].hunks.len(), now[0].hunks.len()), (1, 1));
    assert_eq!(before[0].proposal_id, now[0].proposal_id, "it is the same proposal");
    assert_eq!((now[0].hunks[0].old_text.as_str(), now[0].hunks[0].new_text.as_str()), ("two\n", "II\n"));
    decide(&world.client, &session, "accept", &[]).await;
    until_applied(&world.client, &session).await;
    assert_eq!(world.client.text(&world.uri), TEXT.replace("two", "II"));
    world.finish().await;
}

#[tokio::test]
async fn at_a_cursor_something_is_written() {
    let written = Answer::calls("edit_replace_exact", edit("four\n\nsix\n", "four\nfive\nsix\n"));
    let world = World::new([written, Answer::says("Done.")]).await;
    let session = world.instruct("Write what is missing here.", &[[4, 0, 4, 0]]).await.session_id;
    world.until_end(&session).await;
    let said = world.model.asked()[0].user_text();
    assert!(said.contains("a.txt line 5, with the cursor:"), "{said}");
    decide(&world.client, &session, "accept", &[]).await;
    until_applied(&world.client, &session).await;
    assert_eq!(world.client.text(&world.uri), TEXT.replace("four\n\n", "four\nfive\n"));
    world.finish().await;
}

#[tokio::test]
async fn several_selections_or_none_are_told_as_such() {
    let done = || Answer::says("There is nothing to do.");
    let world = World::with("one\nzwölf 𝄞 drei\nthree\nfour\n", [done(), done()]).await;
    // In UTF-16, in which the clef takes two units.
    let session = world.instruct("Look.", &[[3, 0, 4, 0], [1, 9, 1, 13]]).await.session_id;
    world.until_end(&session).await;
    let said = world.model.asked()[0].user_text();
    assert!(said.contains("a.txt line 2, selected:\n```\nzwölf 𝄞 drei\n```"), "{said}");
    assert!(said.contains("exactly this is selected:\n```\ndrei\n```"), "{said}");
    assert!(said.contains("a.txt line 4, selected:\n```\nfour\n```"), "{said}");

    let whole = world.instruct("Look at all.", &[]).await.session_id;
    world.until_end(&whole).await;
    let said = world.model.asked()[1].user_text();
    assert!(said.contains("a.txt, all of it:\n```\none\nzwölf"), "{said}");
    world.finish().await;
}

#[tokio::test]
async fn an_instruction_that_cannot_be_followed_says_why() {
    let gate = Gate::default();
    let world = World::new([Answer::nothing().text("I am").wait(&gate), Answer::says("Done.")]).await;
    let refused = world.refused(instruction(&world.uri, "  ", &[])).await;
    assert!(refused.message.contains("`instruction`"), "{refused:?}");
    let refused = world.refused(instruction(&world.project.uri("b.txt"), "Do.", &[])).await;
    assert!(refused.message.contains("is not open in the editor"), "{refused:?}");
    let mut old = instruction(&world.uri, "Do.", &[]);
    old["textDocument"]["version"] = json!(-1);
    assert!(world.refused(old).await.message.contains("has changed since"));
    let elsewhere = Project::new([("c.txt", "c\n")]);
    world.client.open_with(&elsewhere.uri("c.txt"), "c\n");
    let refused = world.refused(instruction(&elsewhere.uri("c.txt"), "Do.", &[])).await;
    assert!(refused.message.contains("c.txt"), "{refused:?}");
    assert_eq!(world.model.asked().len(), 0, "no model was asked");

    let session = world.instruct("Do.", &[]).await.session_id;
    let is_said = |event: &Event| matches!(event, Event::MessageDelta { .. });
    world.client.until(&session, "a word", is_said).await;
    let mut while_it_runs = instruction(&world.uri, "And this.", &[]);
    while_it_runs["sessionId"] = json!(session);
    let refused = world.refused(while_it_runs.clone()).await;
    assert!(refused.message.contains("a turn is running"), "{refused:?}");
    gate.open();
    world.until_end(&session).await;
    // It can be sent as soon as the turn has said its end.
    world.client.call::<methods::InlineInstruct>(while_it_runs).await;
    world.until_end(&session).await;
    let of_instructions = world.listed(Some(Purpose::Instruct)).await;
    assert_eq!(of_instructions.len(), 1, "of those that were refused no session is left: {of_instructions:?}");
    world.finish().await;
}

#[tokio::test]
async fn its_model_can_be_another_and_one_that_is_not_there_is_named() {
    let model = ModelServer::start([Answer::says("Done.")]).await;
    let setup = Setup::empty();
    let usual = Setup::configuration(&model, Wire::Anthropic).replace("[\"model-1\"]", "[\"model-1\", \"model-2\"]");
    setup.configure(&format!("instruct_model = \"test/model-2\"\n{usual}"));
    let project = Project::new([("a.txt", TEXT)]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.open(&project.uri("a.txt"));
    let params = instruction(&project.uri("a.txt"), "Do.", &[]);
    let session = client.call::<methods::InlineInstruct>(params.clone()).await.session_id;
    client.until_end(&session, StopReason::EndTurn).await;
    assert_eq!(model.asked()[0].body()["model"], "model-2");
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    setup.configure(&format!("instruct_model = \"nobody/nothing\"\n{usual}"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.open(&project.uri("a.txt"));
    let refused = client.request("azimuth/inline/instruct", params).await.unwrap_err();
    assert!(refused.message.contains("nobody"), "{refused:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_goes_on_from_the_beginning_thinks_as_little_too_and_nothing_is_kept_for_an_hour() {
    let limited = Answer::refused(429).header("retry-after", "3600");
    let model = ModelServer::start([limited, Answer::says("By the second."), Answer::says("Done.")]).await;
    let setup = Setup::empty();
    let usual = Setup::configuration(&model, Wire::Anthropic).replace("[\"model-1\"]", "[\"model-1\", \"model-2\"]");
    let usual = usual.replace("model = \"test/model-1\"", "model = \"test/model-1, test/model-2\"");
    setup.configure(&format!("cache_hour = true\n{usual}compat = {{ cache_hour = true }}\n"));
    let project = Project::new([("a.txt", TEXT)]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.open(&project.uri("a.txt"));
    let chat = client.new_session().await;
    client.prompt(&chat, "Are you there?").await;
    client.until_end(&chat, StopReason::EndTurn).await;
    let params = instruction(&project.uri("a.txt"), "Do.", &[]);
    let session = client.call::<methods::InlineInstruct>(params).await.session_id;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let went_on = events.iter().find_map(|event| match event {
        Event::TurnModelChanged { model, thinking, .. } => Some((model.as_str(), *thinking)),
        _ => None,
    });
    assert_eq!(went_on, Some(("test/model-2", Some(ThinkingLevel::Off))));
    let hours: Vec<_> = model.asked().iter().map(|asked| asked.body().to_string().contains("\"ttl\":\"1h\"")).collect();
    assert_eq!(hours, [true, true, false]);
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn it_is_no_chat_until_it_is_handed_over_and_then_has_all_tools() {
    let say = || Answer::says("Done.");
    let world = World::new([say(), say(), say(), say()]).await;
    let session = world.instruct("Do this.", &[[0, 0, 1, 0]]).await.session_id;
    world.until_end(&session).await;
    assert!(world.listed(None).await.is_empty(), "it is not among the chats");
    let listed = world.listed(Some(Purpose::Instruct)).await;
    assert_eq!((listed[0].session_id.clone(), listed[0].purpose), (session.clone(), Purpose::Instruct));
    assert!(listed[0].title.starts_with("Do this"), "{listed:?}");
    let completed = json!({ "sessionId": session, "text": "/resume ", "cursor": 8 });
    assert!(world.client.call::<methods::PromptComplete>(completed).await.items.is_empty(), "nor is it offered");
    // A prompt in it goes on with the tools that it has.
    world.client.prompt(&session, "And the callers.").await;
    world.until_end(&session).await;
    assert!(!has_tool(&world.model.asked()[1], "shell_run"));

    for _ in 0..2 {
        world.client.request("azimuth/session/promote", json!({ "sessionId": session })).await.unwrap();
    }
    assert_eq!(world.listed(None).await[0].session_id, session);
    world.client.prompt(&session, "Run the tests.").await;
    world.until_end(&session).await;
    let asked = world.model.asked()[2].clone();
    assert!(has_tool(&asked, "shell_run") && has_tool(&asked, "update_plan"), "{:?}", asked.tools());
    assert!(!asked.system().contains("<changing_in_place>") && asked.system().contains("<commands>"));
    assert!(asked.user_text().contains("a.txt line 1, selected"), "it knows what was done");
    let World { model, setup, project, client, .. } = world;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);

    // It stays a chat.
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    client.prompt(&session, "Again.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(has_tool(model.asked().last().unwrap(), "shell_run"));
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn after_a_crash_what_was_proposed_is_there_and_can_be_gone_on_with() {
    let first = Answer::calls("edit_replace_exact", edit("two\n", "2\n"));
    let second = Answer::calls("edit_replace_exact", edit("2\n", "II\n"));
    let gate = Gate::default();
    let model =
        ModelServer::start([first, Answer::nothing().text("I").wait(&gate), second, Answer::says("Done.")]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let project = Project::new([("a.txt", TEXT)]);
    let uri = project.uri("a.txt");
    let window = Window::open(&setup, &project, Profile::panel()).await;
    window.open(&uri);
    let params = instruction(&uri, "As a digit.", &[[1, 0, 2, 0]]);
    let session = window.call::<methods::InlineInstruct>(params).await.session_id;
    window.until(&session, "a word", |event| matches!(event, Event::MessageDelta { .. })).await;
    let before = proposals(&window, &session).await;
    window.kill().await;

    let window = Window::open(&setup, &project, Profile::panel()).await;
    window.open(&uri);
    let listed = window.call::<methods::SessionList>(json!({ "purpose": "instruct" })).await.sessions;
    assert_eq!(listed[0].session_id, session);
    window.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    let after = proposals(&window, &session).await;
    assert_eq!(after[0].hunks[0].state, HunkState::Pending);
    assert_eq!((&after[0].hunks[0].new_text, after[0].hunks.len()), (&before[0].hunks[0].new_text, 1));
    let mut params = instruction(&uri, "In Roman.", &[[1, 0, 2, 0]]);
    params["sessionId"] = json!(session);
    window.call::<methods::InlineInstruct>(params).await;
    window.until_end(&session, StopReason::EndTurn).await;
    assert!(!has_tool(model.asked().last().unwrap(), "shell_run"), "it still has only the tools that change in place");
    decide(&window, &session, "accept", &[]).await;
    until_applied(&window, &session).await;
    assert_eq!(window.text(&uri), TEXT.replace("two", "II"));
    window.close().await;
}

#[tokio::test]
async fn another_window_gives_a_further_instruction_for_its_own_document() {
    let second = Answer::calls("edit_replace_exact", edit("zwölf 𝄞 drei", "zwölf 𝄞 3"));
    let model = ModelServer::start([Answer::says("Nothing."), second, Answer::says("Done.")]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let text = "one\nzwölf 𝄞 drei vier\n";
    let project = Project::new([("a.txt", text)]);
    let uri = project.uri("a.txt");
    let host = Window::open(&setup, &project, Profile::panel()).await;
    host.open(&uri);
    let session = host.call::<methods::InlineInstruct>(instruction(&uri, "Look.", &[])).await.session_id;
    host.until_end(&session, StopReason::EndTurn).await;

    let window = Window::open(&setup, &project, Profile::panel()).await;
    window.open(&uri);
    window.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
    let mut params = instruction(&uri, "As a digit.", &[[1, 9, 1, 13]]);
    params["sessionId"] = json!(session);
    window.call::<methods::InlineInstruct>(params).await;
    window.until_end(&session, StopReason::EndTurn).await;
    let said = model.asked()[1].user_text();
    assert!(said.contains("exactly this is selected:\n```\ndrei\n```"), "{said}");
    decide(&window, &session, "accept", &[]).await;
    until_applied(&window, &session).await;
    assert_eq!(window.text(&uri), text.replace("drei", "3"));
    assert_eq!(host.text(&uri), text, "the other window's document is its own");
    window.close().await;
    host.close().await;
}
