use protocol::checkpoint::{ChangedFile, Direction, RestoredFile};
use protocol::content::Location;
use protocol::review::{FileChange, Hunk, Proposal};
use protocol::{HunkId, ToolResult};
use serde_json::json;

use super::*;

fn called(id: &str, kind: ToolKind) -> Event {
    Event::ToolCallStarted {
        turn_id: "t".into(),
        tool_call_id: id.into(),
        name: "tool".into(),
        kind,
        title: "T".into(),
        input: json!({}),
        locations: vec![],
    }
}

fn ended(id: &str, text: &str, uri: &str) -> Event {
    Event::ToolCallEnded {
        turn_id: "t".into(),
        result: ToolResult { tool_call_id: id.into(), text: text.into(), is_error: false },
        summary: String::new(),
        locations: vec![Location { uri: uri.into(), line: None }],
        duration_ms: 1,
        rewritten_input: None,
    }
}

fn proposed(id: &str, path: &str, states: &[HunkState]) -> Event {
    let hunk = |(number, state): (usize, &HunkState)| Hunk {
        hunk_id: HunkId::from(&*format!("{id}-{number}")),
        tool_call_ids: vec!["c".into()],
        start_line: 0,
        old_text: String::new(),
        new_text: "x\n".into(),
        line_before: None,
        line_after: None,
        anchor: None,
        state: *state,
        comments: Vec::new(),
        untold_comments: 0,
    };
    let proposal = Proposal {
        proposal_id: id.into(),
        revision: 1,
        uri: format!("file:///p/{path}"),
        path: path.into(),
        change: FileChange::Modify,
        hunks: states.iter().enumerate().map(hunk).collect(),
        base_hash: None,
        moved_to: None,
        landed: false,
    };
    Event::ProposalChanged { proposal }
}

fn ran(id: &str, command: &str, exit_code: i32, text: &str) -> [Event; 4] {
    [
        called(id, ToolKind::Execute),
        Event::TerminalStarted {
            terminal_id: "shell".into(),
            tool_call_id: id.into(),
            command: command.into(),
            cwd: "/p".into(),
            offset: 0,
        },
        Event::TerminalEnded {
            terminal_id: "shell".into(),
            tool_call_id: id.into(),
            offset: 1,
            exit_code: Some(exit_code),
        },
        ended(id, text, "file:///p"),
    ]
}

fn facts(events: &[Event]) -> Facts {
    let mut gathered = Gathered::default();
    events.iter().for_each(|event| gathered.apply(event));
    gathered.facts(&["file:///p".to_owned()], &[], std::iter::empty(), std::iter::empty())
}

#[test]
fn files_are_named_by_what_was_done_to_them_last() {
    use HunkState::{Accepted, Pending, Rejected, Undone};
    let changed = ChangedFile { uri: "file:///p/made.txt".into(), before: None, after: None, unknown: None };
    let restored = RestoredFile {
        uri: "file:///p/a.rs".into(),
        path: "a.rs".into(),
        outcome: RestoreOutcome::Done,
        steps: vec![],
    };
    let events = [
        called("r", ToolKind::Read),
        ended("r", "text", "file:///p/src/read.rs"),
        called("s", ToolKind::Search),
        ended("s", "text", "file:///p/src/found.rs"),
        called("o", ToolKind::Read),
        ended("o", "text", "file:///other/o.rs"),
        proposed("p1", "a.rs", &[Pending, Pending]),
        proposed("p1", "a.rs", &[Accepted, Rejected]),
        proposed("p2", "a.rs", &[Pending]),
        Event::FilesChanged { turn_id: "t".into(), tool_call_id: None, files: vec![changed] },
        proposed("p3", "b.rs", &[Undone]),
    ];
    let known = |path: &str| FileFacts { path: path.into(), ..FileFacts::default() };
    let a = FileFacts { accepted: 1, pending: 1, rejected: 1, ..known("a.rs") };
    let made = FileFacts { by_command: true, ..known("made.txt") };
    let b = FileFacts { taken_back: true, ..known("b.rs") };
    let (read, other) =
        (FileFacts { read: true, ..known("src/read.rs") }, FileFacts { read: true, ..known("/other/o.rs") });
    assert_eq!(facts(&events).files, [read, other, a.clone(), made, b]);
    let undone = Event::CheckpointRestored {
        direction: Direction::Undo,
        turn_ids: vec!["t".into()],
        files: vec![restored.clone()],
    };
    let after = facts(&[&events[..], std::slice::from_ref(&undone)].concat());
    assert_eq!(after.files.last(), Some(&FileFacts { taken_back: true, ..a.clone() }));
    let files = vec![restored];
    let redone = Event::CheckpointRestored { direction: Direction::Redo, turn_ids: vec!["t".into()], files };
    assert_eq!(facts(&[&events[..], &[undone, redone]].concat()).files.last(), Some(&a), "it is there again");
}

#[test]
fn the_last_command_that_failed_is_forgotten_once_the_same_line_succeeds() {
    let failed = ran("1", "make", 2, &format!("{}the end", "a line\n".repeat(1_000)));
    let known = facts(&failed).failed.unwrap();
    assert_eq!((known.command.as_str(), known.exit_code), ("make", Some(2)));
    assert!(known.tail.starts_with("a line\n") && known.tail.ends_with("the end"), "{}", known.tail);
    assert!((TAIL - 7..TAIL).contains(&known.tail.chars().count()));
    let other = [&failed[..], &ran("2", "ls", 0, "")].concat();
    assert!(facts(&other).failed.is_some());
    assert_eq!(facts(&[&other[..], &ran("3", "make", 0, "")].concat()).failed, None);
}

#[test]
fn a_session_works_for_this_one_as_long_as_its_call_runs() {
    let worked = |call: &str, child: &str| Event::ChildWorked {
        turn_id: "t".into(),
        tool_call_id: call.into(),
        child: child.into(),
        model: "m".into(),
        rounds: 1,
        doing: None,
        usage: Default::default(),
        cost: None,
    };
    let calls = [called("c", ToolKind::Other), called("d", ToolKind::Other)];
    let events = [&calls[..], &[worked("c", "aaaaaa"), worked("d", "bbbbbb"), ended("c", "", "file:///p")]].concat();
    assert_eq!(facts(&events).children, ["conversation `bbbbbb`"]);
    let late = [&events[..], &[worked("c", "aaaaaa")]].concat();
    assert_eq!(facts(&late).children, ["conversation `bbbbbb`"]);
    let (stop_reason, usage) = (protocol::turn::StopReason::Interrupted, Default::default());
    let over = Event::TurnEnded { turn_id: "t".into(), stop_reason, error: None, usage, cost: None, new_errors: None };
    assert_eq!(facts(&[&events[..], &[over]].concat()).children, [""; 0], "it ended with its turn");
}
