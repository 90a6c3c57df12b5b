use ports::edit::EditRefused;
use ports::session::{Answer, Unsettled};
use ports::tool::Access;
use protocol::Event;
use protocol::permission::PermissionOptionKind::{AllowAlways, AllowOnce, RejectOnce};
use protocol::permission::RuleOrigin;
use protocol::session::Mode;
use protocol::turn::StopReason;
use serde_json::json;

use super::fakes::{Does, Left, Script, Stage, answer, call, says};

fn selected(option: &str) -> Answer {
    Answer::Selected { option_id: option.to_owned(), message: None, answers: Vec::new() }
}

fn one_command(line: &str) -> Vec<Script> {
    vec![answer(vec![call("x", "shell", json!({ "line": line }))]), answer(vec![says("done")])]
}

fn ran(left: &Left) -> bool {
    left.result("x").0.starts_with("a result")
}

#[tokio::test(start_paused = true)]
async fn a_command_that_is_not_allowed_is_asked_with_its_scope_in_words() {
    let left = Stage::new(one_command("cargo test --all")).answers([selected("allow_once")]).play().await;
    assert!(ran(&left) && left.outcome.refused.is_empty());
    let [request] = left.asked.as_slice() else { panic!() };
    assert_eq!((request.title.as_str(), request.detail.as_str()), ("Run a command?", "cargo test --all\nin /ws"));
    assert_eq!(request.reason, "no rule allows `cargo test --all`");
    assert_eq!(request.tool_call_id.as_ref().map(|id| id.as_str()), Some("x"));
    let options: Vec<_> = request.options.iter().map(|option| (option.name.as_str(), option.kind)).collect();
    let always = "Always allow `cargo test …` in this project";
    let session = "Allow `cargo test …` in this session";
    let expected = [("Allow once", AllowOnce), (always, AllowAlways), (session, AllowAlways), ("Reject", RejectOnce)];
    assert_eq!(options, expected);
}

#[tokio::test(start_paused = true)]
async fn what_is_allowed_in_the_session_is_not_asked_again_there_and_not_kept_for_the_project() {
    let mut scripts = vec![answer(vec![call("y", "shell", json!({ "line": "cargo test a" }))])];
    scripts.extend(one_command("cargo test b"));
    let left = Stage::new(scripts).answers([selected("session")]).play().await;
    assert_eq!(left.asked.len(), 1);
    let granted = left.rules.allow.first().map(|rule| (rule.rule.to_string(), rule.origin));
    assert_eq!(granted, Some(("Shell(cargo test:*)".to_owned(), RuleOrigin::Session)));
    assert!(ran(&left));
}

#[tokio::test(start_paused = true)]
async fn always_keeps_the_rule_and_asks_no_more() {
    let mut scripts = vec![answer(vec![call("y", "shell", json!({ "line": "cargo test a" }))])];
    scripts.extend(one_command("cargo test b"));
    let left = Stage::new(scripts).answers([selected("allow_always")]).play().await;
    assert_eq!(left.asked.len(), 1);
    assert_eq!(left.rules.allow[0].rule.to_string(), "Shell(cargo test:*)");
    assert!(ran(&left));
    let judged = left.log.iter().find_map(|event| match event {
        Event::PermissionJudged { allowed, reason, .. } => Some((*allowed, reason.as_str())),
        _ => None,
    });
    assert_eq!(judged, Some((true, "allowed by rule `Shell(cargo test:*)` from a grant")));
}

#[tokio::test(start_paused = true)]
async fn what_is_rejected_does_not_run_and_the_turn_goes_on() {
    let with_words = Answer::Selected {
        option_id: "reject_once".to_owned(),
        message: Some("use make".to_owned()),
        answers: Vec::new(),
    };
    let cases = [
        (selected("reject_once"), "the user rejected this. Do not try it in another way"),
        (with_words, "the user rejected this, and said: use make"),
        (Answer::Nobody, "rejected, since nobody is there to answer: Run a command?"),
        (selected("an option that was not offered"), "the user rejected this"),
    ];
    for (given, words) in cases {
        let left = Stage::new(one_command("cargo test")).answers([given]).play().await;
        let (text, is_error) = left.result("x");
        assert!(text.starts_with(words) && is_error, "{text}");
        assert_eq!(left.outcome.stop, StopReason::EndTurn);
        assert_eq!(left.outcome.refused.len(), 1);
        assert!(left.outcome.refused[0].starts_with("shell cargo test: "), "{:?}", left.outcome.refused);
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_rule_denies_is_not_even_asked() {
    let left = Stage::new(one_command("git push")).allows("Shell").denies("Shell(git push:*)").play().await;
    assert!(left.asked.is_empty() && !ran(&left));
    assert!(left.result("x").0.starts_with("denied: rule `Shell(git push:*)` from your config.toml"));
    assert!(left.log.iter().any(|event| matches!(event, Event::PermissionJudged { allowed: false, .. })));
    assert_eq!(left.outcome.refused.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn mode_ask_offers_only_what_reads_and_refuses_the_rest() {
    let mut stage = Stage::new(vec![
        answer(vec![
            call("r", "look", json!({})),
            call("w", "edit", json!({})),
            call("x", "shell", json!({ "line": "ls" })),
            call("z", "missing", json!({})),
        ]),
        answer(vec![says("I would change it")]),
    ]);
    stage.mode = Mode::Ask;
    let left = stage.play().await;
    let offered: Vec<_> = left.requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(offered, ["look"]);
    assert_eq!(left.result("r"), ("a result", false));
    assert!(left.result("w").0.contains("mode `ask` only looks") && left.result("x").0.contains("mode `ask`"));
    assert_eq!(left.result("z").0, "there is no tool `missing`; there are: look");
    assert!(left.proposed.is_empty());
    assert_eq!(left.outcome.refused.len(), 2);
    let denied = left.log.iter().filter_map(|event| match event {
        Event::PermissionJudged { tool_call_id, allowed: false, reason } => {
            Some((tool_call_id.as_str(), reason.as_str()))
        }
        _ => None,
    });
    let why = "mode `ask` only looks; nothing is changed or run in it";
    assert_eq!(denied.collect::<Vec<_>>(), [("w", why), ("x", why)]);
}

fn pending() -> Unsettled {
    Unsettled { pending_hunks: 2, pending_files: vec!["a.rs".to_owned()], ..Unsettled::default() }
}

#[tokio::test(start_paused = true)]
async fn pending_edits_are_settled_before_a_command_as_the_user_says() {
    let stage = || Stage::new(one_command("make check")).allows("Shell").unsettled(pending());

    let left = stage().answers([selected("settle_and_run")]).play().await;
    assert!(ran(&left));
    assert_eq!(left.result("x").0, "a result", "the command saw everything");
    assert_eq!(left.saved, [false], "what was accepted is saved, and only that");
    let request = &left.asked[0];
    assert_eq!(request.detail, "2 pending hunks in a.rs");
    assert_eq!(request.options[0].name, "Accept 2 pending hunks and run");

    let left = stage().answers([selected("run_without")]).play().await;
    assert!(ran(&left) && left.saved.is_empty());
    assert!(left.result("x").0.ends_with("[the command saw these files without your pending edits: a.rs]"));

    let left = stage().answers([selected("reject_once")]).play().await;
    assert!(!ran(&left) && left.outcome.refused.len() == 1);
}

#[tokio::test(start_paused = true)]
async fn the_question_about_pending_edits_falls_away_when_they_are_decided_meanwhile() {
    let left =
        Stage::new(one_command("make check")).allows("Shell").unsettled(pending()).answers([Answer::Moot]).play().await;
    assert!(ran(&left) && left.outcome.refused.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_command_says_which_files_are_not_as_the_model_last_saw_them() {
    let left = Stage::new(one_command("make check")).allows("Shell").changes(&["a.rs", "b.rs"]).play().await;
    let words = "[changed since you last saw them, by this command or the user: a.rs, b.rs; read them again]";
    assert_eq!(left.result("x").0, format!("a result\n\n{words}"));
}

#[tokio::test(start_paused = true)]
async fn unsaved_text_of_ours_is_saved_and_the_users_own_only_if_they_say_so() {
    let unsettled =
        || Unsettled { ours: vec!["a.rs".to_owned()], own: vec!["b.rs".to_owned()], ..Unsettled::default() };
    let stage = || Stage::new(one_command("make check")).allows("Shell").unsettled(unsettled());

    let left = stage().answers([selected("settle_and_run")]).play().await;
    assert_eq!((left.saved.as_slice(), left.result("x").0), ([true].as_slice(), "a result"));

    let left = stage().answers([selected("run_without")]).play().await;
    assert_eq!(left.saved, [false]);
    assert!(left.result("x").0.ends_with("[the command saw these files without the user's unsaved text: b.rs]"));

    let left = stage().answers([Answer::Nobody]).play().await;
    assert!(!ran(&left) && left.saved.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_only_reads_is_no_reason_to_ask() {
    let unsettled = Unsettled { own: vec!["b.rs".to_owned()], ..pending() };
    let left = Stage::new(one_command("git status")).unsettled(unsettled).play().await;
    assert!(ran(&left) && left.asked.is_empty());
    let (text, _) = left.result("x");
    assert!(text.contains("without your pending edits: a.rs") && text.contains("unsaved text: b.rs"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn an_edit_that_is_refused_is_a_failed_call() {
    let left = Stage::new(vec![answer(vec![call("w", "edit", json!({}))]), answer(vec![says("I see")])])
        .refuses_edits(EditRefused::Stale { path: "a.rs".to_owned() })
        .play()
        .await;
    let (text, is_error) = left.result("w");
    assert!(text.starts_with("a.rs has changed since it was read") && is_error, "{text}");
}

#[tokio::test(start_paused = true)]
async fn files_of_a_plan_that_the_call_did_not_name_are_judged_before_they_are_proposed() {
    let stage = |path: &str| {
        Stage::new(vec![answer(vec![call("w", "edit", json!({ "plans": path }))]), answer(vec![says("done")])])
    };
    let left = stage("/ws/gen/b.rs").denies("Edit(gen/**)").play().await;
    assert!(left.proposed.is_empty());
    assert!(left.result("w").0.starts_with("denied: rule `Edit(gen/**)` from your config.toml"));
    assert_eq!(left.outcome.refused.len(), 1);

    let left = stage("/ws/src/b.rs").denies("Edit(gen/**)").play().await;
    assert_eq!(left.proposed.len(), 1);

    let left = stage("/ws/gen/b.rs").asks("Edit(gen/**)").answers([selected("allow_once")]).play().await;
    assert_eq!((left.proposed.len(), left.asked.len()), (1, 1));
    assert_eq!(left.asked[0].detail, "edit: gen/b.rs");
}

#[tokio::test(start_paused = true)]
async fn a_command_with_a_secret_is_asked_though_a_rule_allows_it_and_nothing_is_fetched_with_one() {
    let calls = vec![
        call("x", "shell", json!({ "line": "login hunter2" })),
        call("y", "fetch", json!({ "url": "https://example.org/?q=hunter2" })),
        call("z", "shell", json!({ "line": "login ada" })),
    ];
    let stage = Stage::new(vec![answer(calls), answer(vec![says("done")])]);
    let stage = stage.tool("fetch", Access::Read, Does::Says).allows("Shell(login:*)");
    let left = stage.answers([selected("reject_once")]).play().await;
    let [request] = left.asked.as_slice() else { panic!("{:?}", left.asked) };
    assert_eq!(
        (request.title.as_str(), request.detail.as_str()),
        ("Run a command with a secret?", "login hunter2\nin /ws")
    );
    assert_eq!(request.options[1].name, "Always allow commands with the secret `PASSWORD` in them in this project");
    assert!(left.result("y").0.contains("`PASSWORD`, which is sent nowhere"), "{:?}", left.result("y"));
    assert!(!ran(&left) && left.result("z").0.starts_with("a result"));
}
