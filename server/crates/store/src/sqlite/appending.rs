//! Tests of the log: what is appended is what is read.

use ports::store::{Store, StoreError};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use protocol::content::{Opening, ToolKind, Usage};
use protocol::model::ThinkingLevel;
use protocol::session::Mode;
use protocol::turn::StopReason;
use protocol::{AssistantBlock, Event, MessageId, PromptBlock, SequencedEvent, ToolCallId, ToolResult, TurnId};
use serde_json::{Value, json};

use super::Synchronous;
use crate::SqliteStore;
use crate::testing::{delta, deltas, edit, session, store, turn_ended};

fn seqs(events: &[SequencedEvent]) -> Vec<u64> {
    events.iter().map(|event| event.seq).collect()
}

/// The level of `synchronous` of the connection that writes, as SQLite numbers it.
fn level(store: &SqliteStore) -> i64 {
    let writer = store.writer.lock().unwrap();
    writer.connection.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
}

#[test]
fn events_are_numbered_without_gaps_and_read_from_anywhere() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let appended = store.append(&id, deltas(["a", "b", "c"].map(String::from)), false).unwrap();
    assert_eq!(seqs(&appended), [2, 3, 4]);
    assert_eq!(seqs(&store.append(&id, deltas(["d".into()]), true).unwrap()), [5]);
    assert_eq!(store.events(&id, 1, 3).unwrap(), appended);
    assert_eq!(seqs(&store.events(&id, 0, usize::MAX).unwrap()), [1, 2, 3, 4, 5]);
    assert_eq!(seqs(&store.events(&id, 3, 1).unwrap()), [4]);
    assert_eq!(store.events(&id, 5, 10).unwrap(), []);
    assert_eq!(store.events(&id, u64::MAX, 10).unwrap(), []);
    assert_eq!(store.append(&id, Vec::new(), true).unwrap(), []);
    assert_eq!(store.info(&id).unwrap().last_seq, 5);
}

#[test]
fn the_list_follows_the_events() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let usage = Usage { input: 10, output: 2, cache_read: 5, cache_write: u64::MAX, cache_write_hour: 0 };
    let events = vec![
        Event::TitleChanged { title: "First".into() },
        Event::TitleChanged { title: "Second".into() },
        Event::ModelChanged {
            model: "scripted/tour".into(),
            scripted: true,
            thinking: Some(ThinkingLevel::High),
            by_default: true,
            chain: None,
        },
        Event::ModeChanged { mode: Mode::Ask },
        turn_ended(usage, Some(0.25)),
        turn_ended(usage, Some(f64::NAN)),
        turn_ended(usage, None),
    ];
    let last = events.len() as u64 + 1;
    store.append(&id, events.into_iter().map(|event| (77, event)).collect(), false).unwrap();
    let info = store.info(&id).unwrap();
    assert_eq!((info.title.as_str(), info.model.as_deref(), info.mode), ("Second", Some("scripted/tour"), Mode::Ask));
    assert_eq!((info.usage.input, info.usage.output, info.usage.cache_read), (30, 6, 15));
    assert_eq!(info.cost, 0.25);
    assert_eq!((info.created_at, info.last_seq), (1, last));
    assert_eq!(info.folders, ["file:///project"]);
}

#[test]
fn decisions_are_written_to_the_disk_and_the_rest_to_the_system() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let (normal, full) = (1, 2);
    assert_eq!(level(&store), normal);
    store.append(&id, deltas(["a".into()]), true).unwrap();
    assert_eq!(level(&store), full);
    store.append(&id, deltas(["b".into()]), false).unwrap();
    assert_eq!(level(&store), normal);
    store.grant("project", "shell(ls)").unwrap();
    assert_eq!(level(&store), full);
    let writer = store.writer.lock().unwrap();
    let pragma = |name| writer.connection.pragma_query_value(None, name, |row| row.get::<_, String>(0));
    assert_eq!(pragma("journal_mode").unwrap(), "wal");
    let keys: i64 = writer.connection.pragma_query_value(None, "foreign_keys", |row| row.get(0)).unwrap();
    assert_eq!(keys, 1);
}

#[test]
fn of_a_batch_that_fails_nothing_is_appended() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let poison = "CREATE TEMP TRIGGER poison BEFORE INSERT ON events WHEN new.json LIKE '%poison%'
                  BEGIN SELECT raise(ABORT, 'poisoned'); END";
    store.writer.lock().unwrap().connection.execute_batch(poison).unwrap();
    let before = store.info(&id).unwrap();
    let batch = deltas(["fine", "poison", "fine too"].map(String::from));
    assert!(matches!(store.append(&id, batch, false), Err(StoreError::Failed(_))));
    assert_eq!(store.info(&id).unwrap(), before);
    assert_eq!(seqs(&store.append(&id, deltas(["next".into()]), false).unwrap()), [2]);
}

#[test]
fn a_reader_does_not_wait_for_a_writer() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let seen = store.write(Synchronous::Normal, |connection| {
        connection.execute("DELETE FROM events", [])?;
        // On this very thread, so that waiting would be for good.
        Ok(store.events(&id, 0, 10)?)
    });
    assert_eq!(seqs(&seen.unwrap()), [1]);
    assert_eq!(store.events(&id, 0, 10).unwrap(), []);
}

#[test]
fn many_threads_share_one_store() {
    let (_folder, store) = store();
    let ids: Vec<_> = (0..4).map(|n| session(&store, &format!("s{n}"))).collect();
    std::thread::scope(|scope| {
        for id in &ids {
            scope.spawn(|| {
                for n in 0..50 {
                    store.append(id, deltas([format!("{n}")]), n % 10 == 0).unwrap();
                    assert_eq!(store.events(id, n, 10).unwrap().len(), 2);
                }
            });
        }
    });
    for id in &ids {
        let events = store.events(id, 1, usize::MAX).unwrap();
        assert_eq!(seqs(&events), (2..=51).collect::<Vec<_>>());
        let texts: Vec<_> = events.into_iter().map(|event| event.event).collect();
        assert_eq!(texts, (0..50).map(|n| delta(n.to_string())).collect::<Vec<_>>());
    }
}

#[test]
fn a_tool_call_nested_as_deep_as_a_model_can_send_it_stays_readable() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let deep = (0..990).fold(json!(1), |inner, _| json!([inner]));
    let call = AssistantBlock::tool_call(ToolCallId::from("c"), "x", deep);
    let event = message(vec![call]);
    let appended = store.append(&id, vec![(2, event)], false).unwrap();
    assert_eq!(store.events(&id, 1, 10).unwrap(), appended);

    let mut lines = Vec::new();
    store.export(&id, &mut lines).unwrap();
    let imported = store.import(lines.as_slice()).unwrap();
    assert_eq!(store.events(&imported.session_id, 1, 10).unwrap(), appended);
}

#[test]
fn the_json_of_events_is_given_as_it_was_stored() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let appended = store.append(&id, deltas(["a\u{2028}\n\"".into(), "b".into()]), false).unwrap();
    let raw = store.raw_events(&id, 1).unwrap();
    let read =
        raw.iter().map(|event| (event.seq, event.at, crate::sessions::decode(event.event.get().as_bytes()).unwrap()));
    assert!(read.eq(appended.iter().map(|event| (event.seq, event.at, event.event.clone()))));
    assert_eq!(serde_json::to_value(&raw).unwrap(), serde_json::to_value(&appended).unwrap());
    assert_eq!(store.raw_events(&id, 3).unwrap().len(), 0);
    let nobody = store.raw_events(&"nobody".into(), 0).map(|events| events.len());
    assert!(matches!(nobody, Err(StoreError::NotFound { .. })), "{nobody:?}");
}

#[test]
fn an_event_that_is_no_json_and_one_that_is_missing_are_damage_and_are_handed_to_nobody() {
    for damage in ["UPDATE events SET json = '{\"type\":\"me' WHERE seq = 2", "DELETE FROM events WHERE seq = 2"] {
        let (_folder, store) = store();
        let id = session(&store, "one");
        store.append(&id, deltas(["a".into(), "b".into()]), false).unwrap();
        store.writer.lock().unwrap().connection.execute(damage, []).unwrap();
        let error = store.raw_events(&id, 0).map(|events| events.len()).unwrap_err().to_string();
        assert!(error.contains("event 2"), "{error}");
        assert!(crate::recover::is_due(&store.layout), "the next process looks at it");
    }
}

#[test]
fn an_event_of_a_newer_azimuth_is_no_damage() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    store.writer.lock().unwrap().connection.execute("UPDATE events SET json = '{\"type\":\"danced\"}'", []).unwrap();
    let error = store.events(&id, 0, 10).unwrap_err().to_string();
    assert!(error.contains("update Azimuth"), "{error}");
    assert!(!crate::recover::is_due(&store.layout));
}

fn message(content: Vec<AssistantBlock>) -> Event {
    let usage = Usage::default();
    Event::MessageCompleted {
        turn_id: TurnId::from("t"),
        message_id: MessageId::from("m"),
        content,
        usage,
        cost: None,
        timing: None,
        opening: Opening::default(),
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just("\0\u{2028}\u{fffd}\"\\ \r\n".to_owned()), "[a-z ]{0,3000}"]
}

fn number() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("JSON has no such number", |number| number.is_finite())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        number().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn usage() -> impl Strategy<Value = Usage> {
    any::<[u64; 4]>().prop_map(|[input, output, cache_read, cache_write]| Usage {
        input,
        output,
        cache_read,
        cache_write,
        cache_write_hour: 0,
    })
}

fn block() -> impl Strategy<Value = AssistantBlock> {
    // An absent value and null are the same in JSON.
    let vendor = || option::of(value().prop_filter("null is absence", |value| !value.is_null()));
    prop_oneof![
        (text(), vendor()).prop_map(|(text, vendor)| AssistantBlock::Text { text, vendor }),
        (text(), vendor()).prop_map(|(text, vendor)| AssistantBlock::Thinking { text, vendor }),
        (text(), text(), value(), vendor()).prop_map(|(id, name, input, vendor)| AssistantBlock::ToolCall {
            id: ToolCallId::new(id),
            name,
            input,
            vendor
        }),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let turn = || text().prop_map(TurnId::new);
    prop_oneof![
        text().prop_map(delta),
        text().prop_map(|title| Event::TitleChanged { title }),
        (turn(), text(), text()).prop_map(|(turn_id, text, model)| Event::TurnStarted {
            turn_id,
            prompt: vec![PromptBlock::Text { text: text.clone() }],
            context: text,
            model,
            mode: Mode::Agent,
            thinks: None,
            compacts: false,
        }),
        (vec(block(), 0..4), usage(), option::of(number())).prop_map(|(content, usage, cost)| {
            let (turn_id, message_id) = (TurnId::from("t"), MessageId::from("m"));
            Event::MessageCompleted {
                turn_id,
                message_id,
                content,
                usage,
                cost,
                timing: None,
                opening: Opening::default(),
            }
        }),
        (turn(), text(), value()).prop_map(|(turn_id, title, input)| Event::ToolCallStarted {
            turn_id,
            tool_call_id: ToolCallId::new(title.as_str()),
            name: title.clone(),
            kind: ToolKind::Other,
            title,
            input,
            locations: Vec::new(),
        }),
        (turn(), text(), any::<bool>(), any::<u64>()).prop_map(|(turn_id, text, is_error, duration_ms)| {
            let result = ToolResult { tool_call_id: ToolCallId::from("c"), text, is_error };
            Event::ToolCallEnded {
                turn_id,
                result,
                summary: String::new(),
                locations: Vec::new(),
                duration_ms,
                rewritten_input: None,
            }
        }),
        (text(), text()).prop_map(|(before, after)| edit(&before, &after)),
        (turn(), option::of(text()), usage(), option::of(number())).prop_map(|(turn_id, error, usage, cost)| {
            Event::TurnEnded { turn_id, stop_reason: StopReason::Error, error, usage, cost, new_errors: None }
        }),
    ]
}

proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 48, ..Default::default() })]

    #[test]
    fn any_event_comes_back_as_it_was(
        batches in vec(vec((any::<u64>(), event()), 0..6), 1..6),
        since in 0_u64..12,
        limit in 0_usize..12,
    ) {
        let (folder, store) = store();
        let id = session(&store, "one");
        let mut log = store.events(&id, 0, 1).unwrap();
        for batch in batches {
            let given: Vec<_> = batch.iter().map(|(_, event)| event.clone()).collect();
            let appended = store.append(&id, batch, false).unwrap();
            prop_assert_eq!(appended.iter().map(|event| event.event.clone()).collect::<Vec<_>>(), given);
            log.extend(appended);
        }
        drop(store);
        let store = SqliteStore::open(folder.path()).unwrap();
        prop_assert_eq!(&store.events(&id, 0, usize::MAX).unwrap(), &log);
        let page: Vec<_> = log.iter().filter(|event| event.seq > since).take(limit).cloned().collect();
        prop_assert_eq!(store.events(&id, since, limit).unwrap(), page);
        prop_assert_eq!(store.info(&id).unwrap().last_seq, log.len() as u64);
    }
}
