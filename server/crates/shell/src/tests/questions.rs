//! The tables of questions in `tests/permission`: each is shown as a terminal shows it, and judged as in a turn.

use std::path::Path;

use permission::{Action, Case, Rules, Surroundings, Typing, Verdict, judge};
use protocol::session::Mode;
use protocol::terminal::{Certainty, Waiting};
use serde_json::Value;

use crate::{parse, waiting};

fn table(name: &str) -> Vec<Value> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/permission").join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// True if an answer is typed unasked, by a model that types it with and without Enter.
fn is_unasked(entry: &Value, mode: Mode) -> bool {
    let text = |key: &str| entry[key].as_str().unwrap().to_owned();
    let mut shown = waiting::shown(text("shown").as_bytes());
    shown.is_cut = entry["cut"] == true;
    let prompt = shown.seen.rsplit('\n').next().unwrap_or_default().to_owned();
    let typing = Typing {
        terminal: "job-1".to_owned(),
        command: text("command"),
        parsed: parse(&text("command")),
        text: text("text"),
        key: Some("enter".to_owned()),
        waiting: Some(Waiting { certainty: Certainty::Certain, prompt, hidden: false }),
        shown,
        typed: 0,
        call: "call".into(),
        began: std::time::UNIX_EPOCH,
        outside: false,
        of_user: false,
    };
    let without_enter = Typing { key: None, ..typing.clone() };
    let allowed = |typing: Typing| {
        let action = Action::Type(Box::new(typing));
        let surroundings = Surroundings { trusted: true, sandboxed: true };
        let case = Case { tool: "shell_write", action: &action, reads: &[], mode, folders: &[], surroundings };
        matches!(judge(&Rules::default(), &case), Verdict::Allow { .. })
    };
    let (with, without) = (allowed(typing), allowed(without_enter));
    assert_eq!(with, without, "{entry}");
    with
}

#[test]
fn a_question_that_is_not_known_to_be_harmless_is_asked() {
    let table = table("questions_asked.jsonl");
    let unasked: Vec<_> = table
        .iter()
        .filter(|entry| [Mode::Agent, Mode::AcceptEdits].iter().any(|mode| is_unasked(entry, *mode)))
        .collect();
    assert!(table.len() >= 60, "there are only {} questions", table.len());
    assert!(unasked.is_empty(), "{} of {} are answered unasked: {unasked:#?}", unasked.len(), table.len());
}

#[test]
fn a_harmless_question_of_a_known_program_is_answered_unasked() {
    let table = table("questions_harmless.jsonl");
    let asked: Vec<_> = table.iter().filter(|entry| !is_unasked(entry, Mode::Agent)).collect();
    assert!(table.len() >= 25, "there are only {} questions", table.len());
    assert!(asked.is_empty(), "{} of {} are asked: {asked:#?}", asked.len(), table.len());
}
