//! The data that is measured on: a session of many events, and a project of many files.

use std::path::Path;

use ports::store::Store;
use protocol::content::{Opening, ToolKind, Usage};
use protocol::session::{Mode, Purpose};
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, MessageId, PromptBlock, SessionId, ToolCallId, ToolResult, TurnId};
use serde_json::json;
use store::SqliteStore;

/// Writes a session of turns with tool calls and streamed answers. Gives its id.
pub fn long_session(data: &Path, project: &Path, events: usize) -> String {
    let store = SqliteStore::open(data).expect("a store");
    let session = SessionId::from("abc123");
    let folders = [format!("file://{}", project.display())];
    store.create(&session, &folders, None, Purpose::Chat).expect("a session");
    let _lock = store.lock(&session).expect("the lock");
    let mut log = vec![Event::SessionStarted {
        folders: folders.to_vec(),
        asked_for: None,
        begins_with: 0,
        parent: None,
        purpose: Purpose::Chat,
    }];
    for turn in 0.. {
        if log.len() >= events {
            break;
        }
        one_turn(&mut log, turn);
    }
    let log = log.into_iter().enumerate().map(|(n, event)| (1_700_000_000_000 + n as u64, event)).collect();
    store.append(&session, log, false).expect("the events");
    session.to_string()
}

fn one_turn(log: &mut Vec<Event>, number: usize) {
    let turn_id = TurnId::new(format!("turn-{number}"));
    let text = "Find out where the dates are parsed, and mend the time zone.".to_owned();
    log.push(Event::TurnStarted {
        turn_id: turn_id.clone(),
        prompt: vec![PromptBlock::Text { text }],
        context: String::new(),
        model: "openai/gpt-5.1".into(),
        mode: Mode::Agent,
        thinks: None,
        compacts: false,
    });
    for round in 0..5 {
        let message_id = MessageId::new(format!("{turn_id}-m{round}"));
        let piece = "I look at the module that parses dates, since the test names it. ";
        for _ in 0..4 {
            log.push(Event::MessageDelta { message_id: message_id.clone(), text: piece.into() });
        }
        let id = ToolCallId::new(format!("{turn_id}-c{round}"));
        let input = json!({ "path": "src/date/parse.rs", "start_line": 1, "end_line": 120 });
        log.push(Event::MessageCompleted {
            turn_id: turn_id.clone(),
            message_id,
            content: vec![
                AssistantBlock::text(piece.repeat(4)),
                AssistantBlock::tool_call(id.clone(), "read_file", input.clone()),
            ],
            usage: Usage { input: 4000, output: 120, cache_read: 20_000, cache_write: 0, cache_write_hour: 0 },
            cost: Some(0.01),
            timing: None,
            opening: Opening::default(),
        });
        log.push(Event::ToolCallStarted {
            turn_id: turn_id.clone(),
            tool_call_id: id.clone(),
            name: "read_file".into(),
            kind: ToolKind::Read,
            title: "Reading parse.rs".into(),
            input,
            locations: Vec::new(),
        });
        let text = "   12  let offset = parse_offset(rest)?;\n".repeat(40);
        log.push(Event::ToolCallEnded {
            turn_id: turn_id.clone(),
            result: ToolResult { tool_call_id: id, text, is_error: false },
            summary: "40 lines".into(),
            locations: Vec::new(),
            duration_ms: 1,
            rewritten_input: None,
        });
    }
    log.push(Event::TurnEnded {
        turn_id,
        stop_reason: StopReason::EndTurn,
        error: None,
        usage: Usage::default(),
        cost: Some(0.05),
        new_errors: None,
    });
}

/// Makes a project of so many source files in folders, some of them ignored. The same each time.
pub fn project(folder: &Path, files: usize) {
    std::fs::create_dir_all(folder.join(".git")).expect("a folder");
    std::fs::write(folder.join(".gitignore"), "/target/\n*.log\n").expect("a file");
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    const WORDS: [&str; 12] =
        ["fn", "let", "value", "parser", "return", "offset", "struct", "Result", "match", "token", "self", "width"];
    for n in 0..files {
        let place = match n % 20 {
            0 => folder.join("target").join(format!("d{}", n % 97)),
            _ => folder.join(format!("src/m{}/n{}", n % 61, n % 13)),
        };
        std::fs::create_dir_all(&place).expect("a folder");
        let mut text = String::new();
        for _ in 0..20 + random() % 60 {
            for _ in 0..6 {
                text.push_str(WORDS[(random() % 12) as usize]);
                text.push(' ');
            }
            text.push('\n');
        }
        if n % 500 == 3 {
            text.push_str("let needle_in_the_haystack = true;\n");
        }
        std::fs::write(place.join(format!("file{n}.rs")), text).expect("a file");
    }
}
