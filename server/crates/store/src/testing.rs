//! The helpers that the tests of this crate share.

use ports::store::{SessionFilter, Store};
use protocol::content::Usage;
use protocol::event::ApplyOutcome;
use protocol::session::Purpose;
use protocol::turn::StopReason;
use protocol::{Event, HunkId, MessageId, ProposalId, SessionId, TurnId};
use tempfile::TempDir;

use crate::SqliteStore;

/// A store in a folder of its own, which goes with the first value.
pub(crate) fn store() -> (TempDir, SqliteStore) {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    (folder, store)
}

/// A session with its first event.
pub(crate) fn session(store: &SqliteStore, id: &str) -> SessionId {
    let session = SessionId::from(id);
    let folders = vec!["file:///project".to_owned()];
    store.create(&session, &folders, None, Purpose::Chat).unwrap();
    store
        .append(
            &session,
            vec![(
                1,
                Event::SessionStarted {
                    folders,
                    asked_for: None,
                    begins_with: 0,
                    parent: None,
                    purpose: Purpose::Chat,
                },
            )],
            false,
        )
        .unwrap();
    session
}

/// A piece of a message.
pub(crate) fn delta(text: impl Into<String>) -> Event {
    Event::MessageDelta { message_id: MessageId::from("m"), text: text.into() }
}

/// Pieces of a message, as they are appended.
pub(crate) fn deltas(texts: impl IntoIterator<Item = String>) -> Vec<(u64, Event)> {
    texts.into_iter().map(|text| (2, delta(text))).collect()
}

/// An edit whose texts are kept under these hashes.
pub(crate) fn edit(before: &str, after: &str) -> Event {
    Event::EditApplied {
        proposal_id: ProposalId::from("p"),
        hunk_ids: vec![HunkId::from("h")],
        turn_id: None,
        uri: "file:///project/main.rs".into(),
        before: Some(before.into()),
        after: Some(after.into()),
        deleted: None,
        outcome: ApplyOutcome::Verified,
    }
}

/// The end of a turn.
pub(crate) fn turn_ended(usage: Usage, cost: Option<f64>) -> Event {
    let stop_reason = StopReason::EndTurn;
    Event::TurnEnded { turn_id: TurnId::from("t"), stop_reason, error: None, usage, cost, new_errors: None }
}

/// The ids of all sessions, in order of the id.
pub(crate) fn ids(store: &SqliteStore) -> Vec<String> {
    let filter = SessionFilter { limit: usize::MAX, ..SessionFilter::default() };
    let mut ids: Vec<_> = store.list(&filter).unwrap().iter().map(|info| info.session_id.to_string()).collect();
    ids.sort();
    ids
}
