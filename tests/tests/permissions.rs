//! Permission to act without a question, over the wire: the modes, the grants and their revocation, and the reasons.

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::permission::{RuleEffect, RuleInfo, RuleOrigin};
use protocol::session::Mode;
use protocol::turn::{StopReason, TurnStartResult};
use protocol::{ErrorCode, Event, SessionId, methods};
use serde_json::{Value, json};

struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    client: Client,
    session: SessionId,
}

impl World {
    /// With settings at the head of the configuration, and tables at its end.
    async fn new(settings: &str, tables: &str) -> Self {
        let model = ModelServer::start([]).await;
        // The mode is part of what the model is told, and each turn of these may be in another.
        model.may_rewrite();
        let setup = Setup::empty();
        setup.configure(&format!("{settings}\n{}\n{tables}", Setup::configuration(&model, Wire::Anthropic)));
        let project = Project::new([("a.txt", "one\ntwo\nthree\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        Self { setup, model, project, client, session }
    }

    /// Begins a turn in which the model runs these commands, one after the other.
    async fn begin(&self, commands: &[&str]) {
        for command in commands {
            self.model.then(Answer::calls("shell_run", json!({ "command": command })));
        }
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Do it.").await;
    }

    async fn until_end(&self) -> Vec<Event> {
        self.client.until_end(&self.session, StopReason::EndTurn).await
    }

    async fn runs(&self, command: &str) -> Vec<Event> {
        self.begin(&[command]).await;
        self.until_end().await
    }

    async fn rules(&self) -> Vec<RuleInfo> {
        self.client.call::<methods::PermissionList>(json!({ "sessionId": self.session })).await.rules
    }

    /// Enters a mode. Gives the words of a refusal.
    async fn mode(&self, mode: &str, confirmed: bool) -> Result<(), String> {
        let params = json!({ "sessionId": self.session, "mode": mode, "confirmed": confirmed });
        self.client.request("azimuth/session/mode", params).await.map(|_| ()).map_err(|error| error.message)
    }

    /// Sends a slash command. Gives what it came to.
    async fn says(&self, command: &str) -> String {
        let prompt = json!([{ "type": "text", "text": command }]);
        let params = json!({ "sessionId": self.session, "prompt": prompt });
        let started: TurnStartResult = self.client.call::<methods::TurnStart>(params).await;
        assert_eq!(started.turn_id, None);
        let is_answer = |event: &Event| matches!(event, Event::CommandExecuted { .. });
        match self.client.until(&self.session, "the command's answer", is_answer).await.pop() {
            Some(Event::CommandExecuted { message, .. }) => message,
            other => panic!("{other:?}"),
        }
    }

    async fn restarted(self) -> Self {
        let Self { setup, model, project, client, session } = self;
        client.waive("azimuth/event");
        assert_eq!(client.finish().await, 0);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        Self { setup, model, project, client, session }
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

/// For each command that was judged, true if it was let through, and the reason.
fn judged(events: &[Event]) -> Vec<(bool, String)> {
    let judged = events.iter().filter_map(|event| match event {
        Event::PermissionJudged { allowed, reason, .. } => Some((*allowed, reason.clone())),
        _ => None,
    });
    judged.collect()
}

#[tokio::test]
async fn keys_in_the_project_are_read_only_where_the_user_says_so() {
    let world = World::new("", "").await;
    world.project.write(".env", "KEY=hunter2\n");
    world.project.write("config/secrets.yaml", "key: hunter2\n");
    std::os::unix::fs::symlink(world.project.folder().join(".env"), world.project.folder().join("plain.txt")).unwrap();
    let commands = [
        "cat .env",
        "cat plain.txt",
        "cat .e*",
        "grep -rh hunter .",
        "cat config/*",
        "cd config && cat secrets.yaml",
        "rg hunter config",
    ];
    let shell = |command: &str| ("shell_run", json!({ "command": command }));
    let tools = [
        ("read_file", json!({ "path": ".env" })),
        ("read_file", json!({ "path": "plain.txt" })),
        ("search_text", json!({ "query": "hunter", "path": ".env" })),
    ];
    for (tool, input) in commands.map(shell).into_iter().chain(tools) {
        world.model.then(Answer::calls(tool, input.clone()));
        world.model.then(Answer::says("Done."));
        world.client.prompt(&world.session, "Look.").await;
        let (_, question) = world.client.until_asked(&world.session).await;
        assert!(question.reason.contains("usually holds keys"), "{input}: {question:?}");
        world.client.choose(&world.session, &question, "reject_once").await;
        world.until_end().await;
        let told = world.model.asked().last().unwrap().last_results().concat();
        assert!(!told.contains("hunter2"), "{input}: {told}");
    }

    // A search of the agent's own goes past them, and says so; a command that does not come by them is not asked.
    world.model.then(Answer::calls("search_text", json!({ "query": "hunter|two", "regex": true })));
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Look.").await;
    world.until_end().await;
    let told = world.model.asked().last().unwrap().last_results().concat();
    assert!(told.contains("two") && !told.contains("hunter2") && told.contains("2 files left out"), "{told}");
    world.runs("grep -rh two --include='a.*' .").await;
    let told = world.model.asked().last().unwrap().last_results().concat();
    assert!(told.contains("two"), "{told}");
    world.finish().await;
}

#[tokio::test]
async fn an_edit_of_a_file_with_keys_tells_nothing_of_what_is_in_it() {
    let world = World::new("", "").await;
    world.project.write(".env", "NAME=one\nKEY=hunter2\nEND=three\n");
    world.project.write("config/secrets.json", "{\n  \"name\": \"one\",\n  \"key\": \"hunter2\"\n}\n");
    let patch = "*** Begin Patch\n*** Update File: .env\n@@\n NAME=one\n-KEY=hunter1\n+KEY=x\n*** End Patch\n";
    for (tool, input) in [
        ("edit_replace_exact", json!({ "path": ".env", "old_text": "NAME=one\nKEY=hunter1\n", "new_text": "x\n" })),
        ("edit_replace_exact", json!({ "path": ".env", "old_text": "=", "new_text": "x" })),
        ("edit_replace_exact", json!({ "path": "config/secrets.json", "old_text": "\"key\": \"?\"", "new_text": "x" })),
        (
            "edit_structural",
            json!({ "paths": ["config/secrets.json"], "ops": [{ "pattern": "\"hunter2\"", "rewrite": "\"x\"" }] }),
        ),
        ("edit_apply_patch", json!({ "patch": patch })),
        ("edit_move_file", json!({ "path": ".env", "to": "plain.txt" })),
    ] {
        world.model.then(Answer::calls(tool, input.clone()));
        world.model.then(Answer::calls("search_text", json!({ "query": "hunter" })));
        world.model.then(Answer::says("Done."));
        world.client.prompt(&world.session, "Change it.").await;
        world.until_end().await;
        let asked = world.model.asked();
        let last = asked.iter().rev().take(2).map(|request| request.last_results().concat());
        let told = last.collect::<Vec<_>>().concat();
        assert!(!told.contains("hunter2"), "{tool} {input}: {told}");
        assert!(told.contains("kept from you") || told.contains("left out by permission"), "{tool} {input}: {told}");
    }

    // Once the user has let it be read, an edit is as any other.
    world.model.then(Answer::calls("read_file", json!({ "path": ".env" })));
    let edit = json!({ "path": ".env", "old_text": "NAME=one", "new_text": "NAME=two" });
    world.model.then(Answer::calls("edit_replace_exact", edit));
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Change it.").await;
    let (_, question) = world.client.until_asked(&world.session).await;
    world.client.choose(&world.session, &question, "allow_once").await;
    world.until_end().await;
    let told = world.model.asked().last().unwrap().last_results().concat();
    assert!(told.contains("Edit of .env"), "{told}");
    world.finish().await;
}

#[tokio::test]
async fn what_is_allowed_for_the_project_and_for_the_session_is_listed_and_taken_back() {
    let world = World::new("", "[permissions]\ndeny = ['Shell(git push:*)']").await;
    world.begin(&["touch made", "mkdir folder", "touch made", "mkdir folder"]).await;
    for (option, words) in [
        ("allow_always", "Always allow exactly `touch made` in this project"),
        ("session", "Allow exactly `mkdir folder` in this session"),
    ] {
        let (_, question) = world.client.until_asked(&world.session).await;
        assert!(question.options.iter().any(|option| option.name == words), "{question:?}");
        world.client.choose(&world.session, &question, option).await;
    }
    let events = world.until_end().await;
    let reasons = judged(&events);
    assert!(
        reasons[0].1 == "allowed by rule `Shell(touch made)` from what you always allowed in this project",
        "{reasons:?}"
    );
    assert!(reasons[1].1.ends_with("from what you allowed in this session"), "{reasons:?}");

    let rules = world.rules().await;
    let shown: Vec<_> =
        rules.iter().map(|info| (info.rule.as_str(), info.effect, info.origin, info.revocable)).collect();
    let expected = [
        ("Shell(git push:*)", RuleEffect::Deny, RuleOrigin::User, false),
        ("Shell(touch made)", RuleEffect::Allow, RuleOrigin::Granted, true),
        ("Shell(mkdir folder)", RuleEffect::Allow, RuleOrigin::Session, true),
    ];
    assert_eq!(shown, expected);
    assert_eq!(rules[0].covers, "commands that begin with `git push`");
    let said = world.says("/permissions").await;
    assert!(said.contains("2. allow `Shell(touch made)`: exactly the command `touch made`"), "{said}");
    assert!(world.says("/permissions revoke 1").await.contains("it is changed there"));

    // A grant that is taken back is asked for again, by a new server too; so is one that was for the session only.
    assert!(world.says("/permissions revoke 2").await.contains("is revoked"));
    let world = world.restarted().await;
    world.client.call::<methods::SessionOpen>(json!({ "sessionId": world.session, "since": 0 })).await;
    assert_eq!(world.rules().await.len(), 1);
    world.finish().await;
}

#[tokio::test]
async fn a_grant_is_taken_back_by_its_method_and_twice_is_harmless() {
    let world = World::new("", "").await;
    world.begin(&["touch made"]).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    world.client.choose(&world.session, &question, "allow_always").await;
    world.until_end().await;
    let params = json!({ "sessionId": world.session, "rule": "Shell(touch made)", "origin": "granted" });
    for _ in 0..2 {
        world.client.call::<methods::PermissionRevoke>(params.clone()).await;
        assert!(world.rules().await.is_empty());
    }
    let of_user = json!({ "sessionId": world.session, "rule": "Shell", "origin": "user" });
    let error = world.client.request("azimuth/permission/revoke", of_user).await.unwrap_err();
    assert!(error.message.contains("where they are written"), "{}", error.message);
    world.begin(&["touch made"]).await;
    let (_, question) = world.client.until_asked(&world.session).await;
    world.client.choose(&world.session, &question, "reject_once").await;
    world.until_end().await;
    world.finish().await;
}

#[tokio::test]
async fn in_mode_plan_only_what_reads_runs_and_the_model_is_told_to_plan() {
    let world = World::new("", "[permissions]\nallow = ['Shell']").await;
    assert_eq!(
        world.says("/mode plan").await,
        "mode plan: reads, runs commands that only read, and plans; changes nothing"
    );
    world.begin(&["ls", "touch made"]).await;
    let events = world.until_end().await;
    let reasons = judged(&events);
    assert!(reasons[0].0 && !reasons[1].0 && reasons[1].1.contains("mode `plan` only looks"), "{reasons:?}");
    assert!(!world.project.path("made").exists());
    let asked = world.model.asked_times(1).await;
    assert!(asked.body().to_string().contains("You are in mode `plan`"));
    assert!(!asked.body().to_string().contains("edit_replace_exact"), "no tool that edits is offered");
    world.finish().await;
}

#[tokio::test]
async fn in_mode_accept_edits_edits_and_plain_file_commands_are_not_asked_and_others_are() {
    let world = World::new("", "").await;
    world.mode("accept_edits", false).await.unwrap();
    world
        .model
        .then(Answer::calls("edit_replace_exact", json!({ "path": "a.txt", "old_text": "two\n", "new_text": "2\n" })));
    world.begin(&["mkdir -p lib/deep", "rm a.txt"]).await;
    let (events, question) = world.client.until_asked(&world.session).await;
    assert!(question.reason.contains("`rm a.txt`"), "{question:?}");
    assert!(judged(&events)[0].1.contains("mode `accept-edits`"), "{events:?}");
    assert!(world.project.path("lib/deep").is_dir());
    assert_eq!(world.project.read("a.txt"), "one\n2\nthree\n");
    world.client.choose(&world.session, &question, "reject_once").await;
    world.until_end().await;
    world.finish().await;
}

#[tokio::test]
async fn bypass_is_entered_only_by_who_was_told_what_it_means_and_deny_rules_hold_in_it() {
    let world = World::new("", "[permissions]\ndeny = ['Shell(git push:*)']\nask = ['Shell(touch asked)']").await;
    let told = world.mode("bypass", false).await.unwrap_err();
    assert!(told.contains("has to be confirmed") && told.contains("you are not asked"), "{told}");
    let begun = json!({ "sessionId": world.session, "prompt": [{ "type": "text", "text": "Go." }], "mode": "bypass" });
    let told = world.client.request("azimuth/turn/start", begun).await.unwrap_err();
    assert!(told.message.contains("has to be confirmed"), "{}", told.message);
    assert_eq!(told.code, i64::from(ErrorCode::NotConfirmed.code()));
    let new: Result<Value, _> = world.client.request("azimuth/session/new", json!({ "mode": "bypass" })).await;
    assert!(new.is_err_and(|error| error.message.contains("azimuth/session/mode")));

    let told = world.says("/mode bypass").await;
    assert!(told.contains("`/mode bypass yes`") && told.contains("you are not asked"), "{told}");
    assert!(judged(&world.runs("cat a.txt").await)[0].1.contains("read-only"), "it is not entered yet");
    assert!(world.says("/mode bypass yes").await.starts_with("mode bypass"));
    world.begin(&["touch made", "git push", "rm -rf /", "touch asked"]).await;
    let (events, question) = world.client.until_asked(&world.session).await;
    let reasons = judged(&events);
    let allowed: Vec<_> = reasons.iter().map(|(allowed, _)| *allowed).collect();
    assert_eq!(allowed, [true, false, false], "{reasons:?}");
    assert!(reasons[0].1.contains("mode `bypass`") && world.project.path("made").exists());
    assert!(question.reason.contains("Shell(touch asked)"), "{question:?}");
    world.client.choose(&world.session, &question, "reject_once").await;
    world.until_end().await;

    // A server that begins anew asks again.
    let world = world.restarted().await;
    let opened = world.client.call::<methods::SessionOpen>(json!({ "sessionId": world.session, "since": 0 })).await;
    assert_eq!(opened.session.mode, Mode::Agent);
    let told = opened.events.iter().any(|event| match &event.event {
        Event::Notice { text, .. } => text.contains("mode `agent` again"),
        _ => false,
    });
    assert!(told, "{:?}", opened.events);
    world.finish().await;
}

#[tokio::test]
async fn who_leaves_bypass_while_a_turn_runs_is_asked_from_there_on() {
    let world = World::new("", "").await;
    world.mode("bypass", true).await.unwrap();
    let gate = harness::Gate::default();
    world.model.then(
        Answer::nothing()
            .text("First ")
            .wait(&gate)
            .text("this.")
            .call("shell_run", json!({ "command": "touch made" })),
    );
    world.model.then(Answer::says("Done."));
    world.client.prompt(&world.session, "Do it.").await;
    world.client.until(&world.session, "a word", |event| matches!(event, Event::MessageDelta { .. })).await;
    world.mode("agent", false).await.unwrap();
    gate.open();
    let (_, question) = world.client.until_asked(&world.session).await;
    assert!(question.reason.contains("leaving mode `bypass`"), "{question:?}");
    world.client.choose(&world.session, &question, "reject_once").await;
    world.until_end().await;
    assert!(world.rules().await.is_empty(), "the next turn begins in the mode that was chosen");
    world.finish().await;
}

#[tokio::test]
async fn where_it_is_forbidden_bypass_is_entered_by_nobody() {
    let world = World::new("allow_bypass = false", "").await;
    let told = world.mode("bypass", true).await.unwrap_err();
    assert!(told.contains("`allow_bypass = false`"), "{told}");
    let told = world.says("/mode bypass yes").await;
    assert!(told.contains("`allow_bypass = false`"), "{told}");
    world.finish().await;
}
