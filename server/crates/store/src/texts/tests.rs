use std::io::Cursor;

use ports::store::{Store, StoreError};
use proptest::prelude::*;
use protocol::TurnId;
use protocol::content::Usage;
use protocol::session::Mode;

use super::*;
use crate::SqliteStore;
use crate::sqlite::Synchronous;
use crate::testing;

fn prompt(text: &str) -> Event {
    Event::TurnStarted {
        turn_id: TurnId::from("t"),
        prompt: vec![PromptBlock::Text { text: text.into() }],
        context: "not what the user said".into(),
        model: "m".into(),
        mode: Mode::Agent,
        thinks: None,
        compacts: false,
    }
}

fn answer(id: &str, text: &str) -> Event {
    let thought = AssistantBlock::Thinking { text: "unspoken".into(), vendor: None };
    let said = AssistantBlock::Text { text: text.into(), vendor: None };
    Event::MessageCompleted {
        turn_id: TurnId::from("t"),
        message_id: MessageId::from(id),
        content: vec![thought, said],
        usage: Usage::default(),
        cost: None,
        timing: None,
        opening: Default::default(),
    }
}

fn append(store: &SqliteStore, session: &SessionId, at: u64, events: impl IntoIterator<Item = Event>) {
    store.append(session, events.into_iter().map(|event| (at, event)).collect(), false).unwrap();
}

fn found(store: &SqliteStore, query: &str) -> Vec<SearchHit> {
    store.search(&TextFilter { query: query.into(), folders: None, limit: 100 }).unwrap().hits
}

/// The sessions and events of what is found.
fn places(store: &SqliteStore, query: &str) -> Vec<(String, Option<u64>)> {
    found(store, query).iter().map(|hit| (hit.session_id.to_string(), hit.seq)).collect()
}

/// Has the store be as an older version left it.
fn forget_texts(store: &SqliteStore) {
    let sql = "INSERT INTO texts_index (texts_index) VALUES ('delete-all'); DELETE FROM texts;
               UPDATE sessions SET texts_to = 0";
    store.write(Synchronous::Normal, |connection| Ok(connection.execute_batch(sql)?)).unwrap();
}

/// SQLite compares the index with the texts.
fn check_index(store: &SqliteStore) {
    let sql = "INSERT INTO texts_index (texts_index, rank) VALUES ('integrity-check', 1)";
    store.write(Synchronous::Normal, |connection| Ok(connection.execute_batch(sql)?)).unwrap();
}

#[test]
fn what_was_said_is_found_as_soon_as_it_is_stored() {
    let (_folder, store) = testing::store();
    let session = testing::session(&store, "a");
    append(&store, &session, 10, [prompt("Mend the Parser, please"), testing::delta("The lexer was wrong")]);
    assert_eq!(places(&store, "parser"), [("a".into(), Some(2))]);
    assert_eq!(places(&store, "lexer"), [], "it is not said yet");
    append(
        &store,
        &session,
        20,
        [answer("m1", "The lexer was wrong."), Event::TitleChanged { title: "Lexers".into() }],
    );
    assert_eq!(places(&store, "lexer"), [("a".into(), None), ("a".into(), Some(4))], "the title comes first");
    assert_eq!(places(&store, "please mend"), [("a".into(), Some(2))], "in any order");
    let hit = found(&store, "wrong").pop().unwrap();
    assert_eq!((hit.kind, hit.at, hit.title.as_str()), (HitKind::Answer, 20, "Lexers"));
    assert_eq!((hit.message_id, hit.snippet.as_str()), (Some(MessageId::from("m1")), "The lexer was wrong."));
    for nothing in ["unspoken", "not what the user said", "", "  \n", "lexer parser"] {
        assert_eq!(places(&store, nothing), [], "{nothing:?}");
    }
    check_index(&store);
}

#[test]
fn what_an_older_version_stored_is_taken_in_in_steps_and_found_once() {
    let (_folder, store) = testing::store();
    let (a, b) = (testing::session(&store, "a"), testing::session(&store, "b"));
    append(&store, &a, 10, [prompt("first needle"), answer("m1", "needle")]);
    append(&store, &a, 11, (0..2_500).map(|_| testing::delta("x")));
    append(&store, &b, 20, [prompt("the needle of b")]);
    forget_texts(&store);
    append(&store, &a, 30, [prompt("last needle")]);
    let filter = TextFilter { query: "needle".into(), folders: None, limit: 100 };
    assert_eq!(store.search(&filter).unwrap(), Found { hits: Vec::new(), unread: 2 });
    let mut steps = 0;
    while !store.take_in_texts().unwrap() {
        steps += 1;
        append(&store, &a, 31, [testing::delta("it goes on meanwhile")]);
    }
    assert!(steps >= 4, "{steps}");
    let found = store.search(&filter).unwrap();
    let places: Vec<_> = found.hits.iter().map(|hit| (hit.session_id.as_str(), hit.at)).collect();
    assert_eq!((places, found.unread), (vec![("a", 30), ("b", 20), ("a", 10), ("a", 10)], 0));
    append(&store, &a, 40, [prompt("needles again")]);
    assert_eq!(behind(&store_connection(&store)).unwrap(), None, "it is in step again");
    check_index(&store);
}

fn store_connection(store: &SqliteStore) -> Connection {
    let path = store.read(|connection| Ok(connection.path().unwrap().to_owned())).unwrap();
    Connection::open(path).unwrap()
}

#[test]
fn a_deleted_session_leaves_nothing_in_the_index() {
    let (_folder, store) = testing::store();
    let (a, b) = (testing::session(&store, "a"), testing::session(&store, "b"));
    append(&store, &a, 10, [prompt("zanzibar")]);
    append(&store, &b, 10, [prompt("both zanzibar and quokka")]);
    store.delete(&b).unwrap();
    assert_eq!(places(&store, "quokka"), []);
    assert_eq!(places(&store, "zanzibar"), [("a".into(), Some(2))]);
    check_index(&store);
    let terms = "CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, texts_index, row)";
    let connection = store_connection(&store);
    connection.execute_batch(terms).unwrap();
    let count = |term: &str| -> i64 {
        connection.query_row("SELECT count(*) FROM temp.terms WHERE term = ?1", [term], |row| row.get(0)).unwrap()
    };
    // Until the index is merged, it has the words of b beside the note that they are gone.
    connection.execute_batch("INSERT INTO texts_index (texts_index) VALUES ('optimize')").unwrap();
    assert_eq!((count("zan"), count("quo")), (1, 0));
    connection.execute_batch("PRAGMA foreign_keys = ON; DELETE FROM sessions WHERE id = 'a'").unwrap();
    let texts: i64 = connection.query_row("SELECT count(*) FROM texts", [], |row| row.get(0)).unwrap();
    assert_eq!(texts, 0, "an older version deletes them too");
    check_index(&store);
}

#[test]
fn an_imported_session_and_one_of_a_recovered_database_are_found_once_they_are_read() {
    let (_folder, store) = testing::store();
    let session = testing::session(&store, "a");
    append(&store, &session, 10, [prompt("needle")]);
    let mut lines = Vec::new();
    store.export(&session, &mut lines).unwrap();
    let imported = store.import(Cursor::new(lines)).unwrap();
    while !store.take_in_texts().unwrap() {}
    let mut sessions: Vec<_> = found(&store, "needle").into_iter().map(|hit| hit.session_id).collect();
    sessions.sort();
    let mut expected = vec![session, imported.session_id];
    expected.sort();
    assert_eq!(sessions, expected);
}

#[test]
fn only_conversations_are_searched_and_of_each_a_few_places_are_given() {
    let (_folder, store) = testing::store();
    let long = testing::session(&store, "long");
    append(&store, &long, 10, (0..40).map(|at| answer(&format!("m{at}"), "needle")));
    let other = testing::session(&store, "other");
    append(&store, &other, 5, [prompt("needle")]);
    for (id, parent, purpose) in [("child", Some(&long), Purpose::Chat), ("change", None, Purpose::Instruct)] {
        store.create(&id.into(), &["file:///project".into()], parent, purpose).unwrap();
        append(&store, &id.into(), 20, [prompt("needle")]);
    }
    let places = places(&store, "needle");
    assert_eq!(places.iter().filter(|(session, _)| session == "long").count(), IN_ONE);
    assert_eq!(places.last().unwrap(), &("other".into(), Some(2)));
    assert_eq!(places.len(), IN_ONE + 1);
    let elsewhere = TextFilter { query: "needle".into(), folders: Some(vec!["file:///elsewhere".into()]), limit: 100 };
    assert_eq!(store.search(&elsewhere).unwrap().hits, []);
}

#[test]
fn the_user_finds_what_they_typed_once_and_the_last_first() {
    let (_folder, store) = testing::store();
    let (a, b) = (testing::session(&store, "a"), testing::session(&store, "b"));
    let own = Event::UserCommandStarted { tool_call_id: "c".into(), command: "ls -l".into(), in_context: false };
    append(&store, &a, 10, [prompt("run the tests"), answer("m", "run the tests"), own]);
    append(&store, &b, 20, [prompt("mend it")]);
    append(&store, &b, 30, [prompt("run the tests")]);
    let filter = PromptFilter { limit: 10, ..PromptFilter::default() };
    let texts = |filter: &PromptFilter| -> Vec<_> {
        store.prompts(filter).unwrap().into_iter().map(|prompt| (prompt.text, prompt.at)).collect()
    };
    append(&store, &a, 5, [prompt("an older one that was taken in last")]);
    let all = [("run the tests".into(), 30), ("mend it".into(), 20), ("!!ls -l".into(), 10)];
    assert_eq!(texts(&PromptFilter { limit: 3, ..filter.clone() }), all);
    assert_eq!(texts(&filter).last().unwrap().1, 5);
    assert_eq!(texts(&PromptFilter { limit: 1, ..filter.clone() }), all[..1]);
    assert_eq!(texts(&PromptFilter { query: "TESTS run".into(), ..filter.clone() }), all[..1]);
    assert_eq!(texts(&PromptFilter { query: "ls".into(), ..filter.clone() }), all[2..]);
    assert_eq!(texts(&PromptFilter { folders: Some(vec!["file:///no".into()]), ..filter }), []);
}

#[test]
fn a_window_without_a_folder_is_given_only_what_is_of_no_folder() {
    let (_folder, store) = testing::store();
    let (of_project, of_none) = (testing::session(&store, "a"), SessionId::from("none"));
    store.create(&of_none, &[], None, Purpose::Chat).unwrap();
    append(&store, &of_project, 10, [prompt("needle of the project")]);
    append(&store, &of_none, 20, [prompt("needle of none")]);
    let texts = |folders| {
        let prompts = store.prompts(&PromptFilter { query: String::new(), folders, limit: 9 }).unwrap();
        prompts.into_iter().map(|prompt| prompt.text).collect::<Vec<_>>()
    };
    assert_eq!(texts(None), ["needle of none", "needle of the project"]);
    assert_eq!(texts(Some(Vec::new())), ["needle of none"]);
    let of_none = TextFilter { query: "needle".into(), folders: Some(Vec::new()), limit: 9 };
    assert_eq!(store.search(&of_none).unwrap().hits.len(), 1);
}

#[test]
fn the_newest_hits_are_given_though_they_were_taken_in_first() {
    let (_folder, store) = testing::store();
    for at in [30, 20, 10_u64] {
        let session = testing::session(&store, &format!("s{at}"));
        append(&store, &session, at, [prompt("needle"), answer("m", "it")]);
    }
    for query in ["needle", "ne"] {
        let filter = TextFilter { query: query.into(), folders: None, limit: 2 };
        let at: Vec<_> = store.search(&filter).unwrap().hits.iter().map(|hit| hit.at).collect();
        assert_eq!(at, [30, 20], "{query}");
    }
}

#[test]
fn only_the_beginning_of_a_long_text_is_searched() {
    let (_folder, store) = testing::store();
    let session = testing::session(&store, "a");
    append(&store, &session, 10, [prompt(&format!("needle {} haystack", "€".repeat(BEGINNING / 3)))]);
    assert_eq!((places(&store, "needle").len(), places(&store, "haystack").len()), (1, 0));
    append(&store, &session, 10, (0..8).map(|at| answer(&format!("m{at}"), &"long ".repeat(200_000))));
    forget_texts(&store);
    let mut steps = 0;
    while !store.take_in_texts().unwrap() {
        steps += 1;
    }
    assert!(steps > 2, "a step has an end in bytes too: {steps}");
}

/// Spoils the index as a fault of the disk or of SQLite would.
fn damage_index(store: &SqliteStore) {
    let sql = "UPDATE texts_index_data SET block = x'ff00ff00ff00'";
    store.write(Synchronous::Normal, |connection| Ok(connection.execute_batch(sql)?)).unwrap();
}

#[test]
fn a_damaged_index_stops_nothing_and_is_made_again() {
    let (folder, store) = testing::store();
    let (a, b) = (testing::session(&store, "a"), testing::session(&store, "b"));
    append(&store, &a, 10, [prompt("needle of a")]);
    append(&store, &b, 20, [prompt("needle of b")]);
    damage_index(&store);
    drop(store);

    let store = SqliteStore::open(folder.path()).unwrap();
    append(&store, &a, 30, [prompt("needle again")]);
    assert_eq!(store.events(&a, 0, usize::MAX).unwrap().len(), 3);
    // The texts that the index has lost are looked for without it.
    assert_eq!(places(&store, "needle of"), [("b".into(), Some(2)), ("a".into(), Some(2))]);
    while !store.take_in_texts().unwrap() {}
    check_index(&store);
    assert_eq!(places(&store, "needle"), [("a".into(), Some(3)), ("b".into(), Some(2)), ("a".into(), Some(2))]);

    damage_index(&store);
    drop(store);
    assert_eq!(crate::check::damage(&folder.path().join("azimuth.db")).unwrap(), None);
    let store = SqliteStore::open(folder.path()).unwrap();
    store.delete(&b).unwrap();
    while !store.take_in_texts().unwrap() {}
    check_index(&store);
    assert_eq!(places(&store, "needle"), [("a".into(), Some(3)), ("a".into(), Some(2))]);
    drop(store);
    assert_eq!(SqliteStore::open(folder.path()).unwrap().recovered(), None);
}

#[test]
fn a_session_that_is_gone_is_no_failure() {
    let (_folder, store) = testing::store();
    let gone: SessionId = "gone".into();
    assert!(store.write(Synchronous::Normal, |connection| take_in(connection, &gone)).is_ok());
    assert!(matches!(store.append(&gone, vec![(1, prompt("x"))], false), Err(StoreError::NotFound { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Words of few letters, so that many are found, with what may mean something to SQLite or to us.
    #[test]
    fn a_search_finds_what_has_the_words_and_nothing_else(
        texts in prop::collection::vec("[aAbÄ編\"*() \\n:-]{0,12}", 1..12),
        queries in prop::collection::vec("[abä編\"*() :^-]{0,8}|AND|OR|NOT|NEAR\\(a b\\)|text:a|'|%_", 1..8),
    ) {
        let (_folder, store) = testing::store();
        for (at, text) in texts.iter().enumerate() {
            let session = testing::session(&store, &format!("s{at}"));
            append(&store, &session, 10, [prompt(text)]);
        }
        for query in &queries {
            let mut expected: Vec<_> = texts.iter().enumerate().filter(|(_, text)| {
                let text = text.to_lowercase();
                !query.trim().is_empty() && query.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
            }).map(|(at, _)| format!("s{at}")).collect();
            expected.sort();
            let mut found: Vec<_> = places(&store, query).into_iter().map(|(session, _)| session).collect();
            found.sort();
            prop_assert_eq!(found, expected, "{:?} in {:?}", query, texts);
        }
    }

    #[test]
    fn no_query_fails(query in any::<String>(), times in prop_oneof![Just(1_usize), Just(500)]) {
        let (_folder, store) = testing::store();
        let session = testing::session(&store, "a");
        append(&store, &session, 10, [prompt(&query), answer("m", "😀 something else")]);
        let asked = query.repeat(times);
        let hits = found(&store, &asked);
        let is_text = !Words::new(&query).is_empty();
        prop_assert!(times > 1 || hits.is_empty() != is_text, "{:?}", query);
        store.prompts(&PromptFilter { query: asked, folders: None, limit: 5 }).unwrap();
    }
}
