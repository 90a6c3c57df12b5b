//! Tests of the sums: each request once, whoever deletes, imports or recovers its session.

use std::time::{Duration, Instant};

use ports::store::Store;
use protocol::content::{Opening, SideRole};
use protocol::session::{Mode, Purpose};
use protocol::{Event, MessageId};

use super::*;
use crate::SqliteStore;
use crate::testing::{deltas, session, store, turn_ended};

const NOON: u64 = DAY / 2;

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn started(model: &str) -> Event {
    let turn_id = TurnId::from("t");
    Event::TurnStarted {
        turn_id,
        prompt: Vec::new(),
        context: String::new(),
        model: model.into(),
        mode: Mode::Agent,
        thinks: None,
        compacts: false,
    }
}

fn message(usage: Usage, cost: Option<f64>) -> Event {
    let (turn_id, message_id) = (TurnId::from("t"), MessageId::from("m"));
    Event::MessageCompleted {
        turn_id,
        message_id,
        content: Vec::new(),
        usage,
        cost,
        timing: None,
        opening: Opening::default(),
    }
}

fn title(usage: Usage, cost: Option<f64>) -> Event {
    Event::SideAsked { role: SideRole::Title, model: "b".into(), usage, cost, error: None }
}

/// The rows without their session: day, turn or role, model, requests, unpriced, input, cost.
fn rows(store: &SqliteStore) -> Vec<(u32, String, String, u64, u64, u64, f64)> {
    let rows = store.spent(0).unwrap().into_iter().map(|row| {
        let Spent { day, turn, role, model, sums, .. } = row;
        let of = turn.map(|turn| turn.to_string()).or(role).unwrap();
        (day, of, model, sums.requests, sums.unpriced, sums.usage.input, sums.cost)
    });
    rows.collect()
}

fn exported(store: &SqliteStore, id: &SessionId) -> Vec<u8> {
    let mut lines = Vec::new();
    store.export(id, &mut lines).unwrap();
    lines
}

#[test]
fn requests_are_of_their_turn_its_model_and_the_day_on_which_they_ended() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let events = vec![
        (NOON, started("a")),
        (NOON, message(usage(10, 1), Some(0.25))),
        (NOON, title(usage(3, 1), None)),
        (NOON + DAY, message(usage(20, 1), Some(0.5))),
        // A message of Azimuth's own is no request.
        (NOON + DAY, message(Usage::default(), Some(0.0))),
        (NOON + DAY, turn_ended(usage(30, 2), Some(0.75))),
    ];
    store.append(&id, events, false).unwrap();
    let expected = [
        (0, "t".to_owned(), "a".to_owned(), 1, 0, 10, 0.25),
        (0, "title".into(), "b".into(), 1, 1, 3, 0.0),
        (1, "t".into(), "a".into(), 1, 0, 20, 0.5),
    ];
    assert_eq!(rows(&store), expected);
    assert_eq!(rows(&store), expected, "each event is taken in once");
    assert_eq!(store.spent(1).unwrap().len(), 1);
    for day in [0, 1] {
        let mut sums = Sums::default();
        store.spent(day).unwrap().iter().for_each(|row| sums += row.sums);
        assert_eq!(store.sums(day).unwrap(), sums);
    }
}

#[test]
fn requests_are_of_the_model_that_answered_where_another_one_went_on_in_the_turn() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let switched = Event::TurnModelChanged {
        turn_id: "t".into(),
        model: "a/next".into(),
        thinking: None,
        instead_of: "b".into(),
        reason: protocol::model::SwitchReason::Failed,
        until: None,
        error: None,
        account: None,
    };
    let began = vec![(NOON, started("b")), (NOON, message(usage(10, 1), Some(0.25))), (NOON, switched)];
    store.append(&id, began, false).unwrap();
    assert_eq!(rows(&store).len(), 1, "the other one has answered nothing yet");
    let rest = vec![
        (NOON, message(usage(20, 1), Some(0.5))),
        (NOON + DAY, message(usage(5, 1), Some(0.125))),
        (NOON + DAY, turn_ended(usage(36, 4), Some(1.0))),
    ];
    store.append(&id, rest, false).unwrap();
    let expected = [
        (0, "t".to_owned(), "b".to_owned(), 1, 0, 10, 0.25),
        (0, "t".into(), "a/next".into(), 1, 0, 20, 0.5),
        (1, "t".into(), "a/next".into(), 2, 0, 6, 0.25),
    ];
    assert_eq!(rows(&store), expected);
}

#[test]
fn a_request_that_became_no_message_counts_at_once_and_for_the_model_that_was_asked() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let paid = |usage, cost| Event::RequestPaid { turn_id: "t".into(), usage, cost, opening: Opening::default() };
    let switched = Event::TurnModelChanged {
        turn_id: "t".into(),
        model: "b".into(),
        thinking: None,
        instead_of: "a".into(),
        reason: protocol::model::SwitchReason::Failed,
        until: None,
        error: None,
        account: None,
    };
    let began = vec![(NOON, started("a")), (NOON, paid(usage(10, 1), Some(0.25))), (NOON, switched)];
    store.append(&id, began, false).unwrap();
    let of_a = (0, "t".to_owned(), "a".to_owned(), 1, 0, 10, 0.25);
    assert_eq!(rows(&store), std::slice::from_ref(&of_a));
    let rest = vec![(NOON, message(usage(20, 1), None)), (NOON, turn_ended(usage(30, 2), Some(0.25)))];
    store.append(&id, rest, false).unwrap();
    assert_eq!(rows(&store), [of_a, (0, "t".into(), "b".into(), 1, 1, 20, 0.0)]);
}

#[test]
fn what_a_session_used_that_a_call_started_counts_once_where_that_one_says_it_and_in_the_summary_of_both() {
    let (_folder, store) = store();
    let (id, child) = (session(&store, "one"), SessionId::from("child"));
    store.create(&child, &["file:///project".to_owned()], Some(&id), Purpose::Chat).unwrap();
    let paid = vec![(NOON, started("wise")), (NOON, message(usage(20, 1), Some(0.5)))];
    store.append(&child, [paid, vec![(NOON, turn_ended(usage(20, 1), Some(0.5)))]].concat(), false).unwrap();
    let worked = Event::ChildWorked {
        turn_id: "t".into(),
        tool_call_id: "c".into(),
        child: child.clone(),
        model: "wise".into(),
        rounds: 1,
        doing: None,
        usage: usage(20, 1),
        cost: Some(0.5),
    };
    let own = vec![(NOON, started("a")), (NOON, message(usage(10, 1), Some(0.25))), (NOON, worked)];
    store.append(&id, [own, vec![(NOON, turn_ended(usage(10, 1), Some(0.25)))]].concat(), false).unwrap();
    let spent = store.spent(0).unwrap();
    let costs: Vec<_> = spent.iter().map(|row| (row.model.as_str(), row.parent.is_some(), row.sums.cost)).collect();
    assert_eq!(costs, [("wise", true, 0.5), ("a", false, 0.25)]);
    let summary = |id| store.info(id).unwrap();
    assert_eq!((summary(&id).cost, summary(&id).usage.input), (0.75, 30));
    assert_eq!(summary(&child).cost, 0.5);
}

#[test]
fn a_request_that_became_no_message_counts_when_its_turn_ends() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let began = vec![(NOON, started("a")), (NOON, message(usage(10, 1), Some(0.25)))];
    store.append(&id, began, false).unwrap();
    assert_eq!(rows(&store), [(0, "t".into(), "a".into(), 1, 0, 10, 0.25)]);
    // The beginning of the turn was taken in before.
    store.append(&id, vec![(NOON, turn_ended(usage(16, 1), Some(0.75)))], false).unwrap();
    assert_eq!(rows(&store), [(0, "t".into(), "a".into(), 2, 0, 16, 0.75)]);
}

#[test]
fn what_a_deleted_session_spent_stays_and_importing_it_again_does_not_count_twice() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let child = SessionId::from("two");
    store.create(&child, &[], Some(&id), Purpose::Chat).unwrap();
    for id in [&id, &child] {
        store.append(id, vec![(NOON, started("a")), (NOON, message(usage(10, 1), Some(0.25)))], false).unwrap();
    }
    let exported = [&id, &child].map(|id| exported(&store, id));
    store.delete(&id).unwrap();
    let spent = store.spent(0).unwrap();
    assert_eq!(spent.iter().map(|row| row.sums.cost).collect::<Vec<_>>(), [0.25, 0.25]);
    assert_eq!((&spent[1].session, &spent[1].parent), (&child, &Some(id.clone())), "it is known that it was a child");
    for lines in &exported {
        store.import(lines.as_slice()).unwrap();
    }
    assert_eq!(store.spent(0).unwrap(), spent, "the child that was deleted with it is still one");
    store.append(&id, vec![(NOON, message(usage(1, 1), Some(0.5)))], false).unwrap();
    let goes_on = store.spent(0).unwrap();
    assert_eq!(goes_on.iter().map(|row| row.sums.cost).sum::<f64>(), 1.0, "but what comes then counts");
}

#[test]
fn a_copy_was_paid_for_with_its_original_and_a_session_from_elsewhere_by_nobody_yet() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    store.append(&id, vec![(NOON, started("a")), (NOON, message(usage(10, 1), Some(0.25)))], false).unwrap();
    let lines = exported(&store, &id);
    let before = rows(&store);
    let copy = store.import(lines.as_slice()).unwrap().session_id;
    assert_ne!(copy, id);
    assert_eq!(rows(&store), before);
    store.append(&copy, vec![(NOON, title(usage(3, 1), Some(0.5)))], false).unwrap();
    assert_eq!(rows(&store).len(), before.len() + 1, "its own requests count");

    // One of a turn that runs is opened later, and its turn ends with all that it used.
    store
        .append(
            &id,
            vec![(
                NOON,
                Event::TurnStarted {
                    turn_id: "u".into(),
                    prompt: Vec::new(),
                    context: String::new(),
                    model: "a".into(),
                    mode: Mode::Agent,
                    thinks: None,
                    compacts: false,
                },
            )],
            false,
        )
        .unwrap();
    let running = exported(&store, &id);
    let copy = store.import(running.as_slice()).unwrap().session_id;
    let before_end = rows(&store);
    let ended = Event::TurnEnded {
        turn_id: "u".into(),
        stop_reason: protocol::turn::StopReason::Cancelled,
        error: None,
        usage: usage(7, 7),
        cost: Some(1.0),
        new_errors: None,
    };
    store.append(&copy, vec![(NOON, ended)], false).unwrap();
    assert_eq!(rows(&store), before_end);

    let (_folder, elsewhere) = crate::testing::store();
    elsewhere.import(lines.as_slice()).unwrap();
    assert_eq!(rows(&elsewhere), before);
}

#[test]
fn a_recovered_store_has_the_sums_of_deleted_sessions_and_those_of_others_once() {
    let (folder, store) = store();
    let ids = ["one", "two"].map(|id| session(&store, id));
    for id in &ids {
        store.append(id, vec![(NOON, started("a")), (NOON, message(usage(10, 1), Some(0.25)))], false).unwrap();
    }
    let before = store.spent(0).unwrap();
    store.delete(&ids[0]).unwrap();
    session(&store, "three");
    let damage = "UPDATE events SET json = '{' WHERE session = 'three'";
    store.write(crate::sqlite::Synchronous::Normal, |connection| Ok(connection.execute(damage, [])?)).unwrap();
    store.events(&"three".into(), 0, 1).unwrap_err();
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert!(store.recovered().is_some(), "the damage is seen");
    assert_eq!(store.spent(0).unwrap(), before);
}

#[test]
fn what_a_session_spent_stays_where_the_damage_cuts_its_log_before() {
    let (folder, store) = store();
    let id = session(&store, "one");
    let asked = || vec![(NOON, started("a")), (NOON, message(usage(10, 1), Some(0.25)))];
    store.append(&id, asked(), false).unwrap();
    store.append(&id, asked(), false).unwrap();
    let before = store.spent(0).unwrap();
    let damage = "UPDATE events SET json = '{' WHERE seq = 3";
    store.write(crate::sqlite::Synchronous::Normal, |connection| Ok(connection.execute(damage, [])?)).unwrap();
    store.events(&id, 0, usize::MAX).unwrap_err();
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(store.info(&id).unwrap().last_seq, 2, "its log is cut");
    assert_eq!(store.spent(0).unwrap(), before);
    store.append(&id, vec![(NOON, message(usage(1, 1), Some(0.5)))], false).unwrap();
    assert_eq!(rows(&store), [(0, "t".into(), "a".into(), 3, 0, 21, 1.0)], "and goes on");
}

#[test]
fn sums_that_fit_in_no_number_and_events_that_cannot_be_read_spoil_nothing() {
    let (_folder, store) = store();
    let id = session(&store, "one");
    let most = message(usage(u64::MAX, 1), None);
    store
        .append(&id, vec![(NOON, started("a")), (NOON, most.clone()), (NOON, most), (NOON, started("a"))], false)
        .unwrap();
    let damage = "UPDATE events SET json = '{\"type\":\"messageCompleted\",' WHERE seq = 5";
    store.write(crate::sqlite::Synchronous::Normal, |connection| Ok(connection.execute(damage, [])?)).unwrap();
    let most = from_sql(i64::MAX);
    assert_eq!(rows(&store), [(0, "t".into(), "a".into(), 2, 2, most, 0.0)]);
}

#[test]
fn sums_are_those_of_one_process_however_many_ask_at_once() {
    let (folder, one) = store();
    let id = session(&one, "one");
    let mut events = vec![(NOON, started("a"))];
    events.extend((0..200).map(|_| (NOON, message(usage(1, 1), Some(0.0)))));
    one.append(&id, events, false).unwrap();
    let other = SqliteStore::open(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for store in [&one, &other, &one, &other] {
            scope.spawn(|| assert_eq!(rows(store), [(0, "t".into(), "a".into(), 200, 0, 200, 0.0)]));
        }
    });
}

#[test]
fn a_log_of_ten_thousand_events_is_read_once() {
    let (_folder, store) = store();
    for session_name in 0..10 {
        let id = session(&store, &format!("s{session_name}"));
        let mut events = vec![(NOON, started("a"))];
        for _ in 0..100 {
            events.extend(deltas((0..9).map(|_| "x".repeat(400))));
            events.push((NOON, message(usage(1, 1), Some(0.01))));
        }
        store.append(&id, events, false).unwrap();
    }
    let asked = || {
        let began = Instant::now();
        let requests: u64 = store.spent(0).unwrap().iter().map(|row| row.sums.requests).sum();
        assert_eq!(requests, 1_000);
        began.elapsed()
    };
    let (first, again) = (asked(), asked());
    eprintln!("10,000 events: {first:?} the first time, {again:?} from then on");
    // Far above what it takes, so that only reading the log anew fails it on a busy machine.
    assert!(again < Duration::from_secs(1) && store.read(behind).unwrap().is_empty(), "{again:?}");
}
