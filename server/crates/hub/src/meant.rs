//! The session meant by an id, or by the beginning of one.

use ports::store::{Origin, SessionFilter, Store, StoreError};
use protocol::SessionId;
use protocol::session::{Purpose, SessionInfo};

/// The most sessions that are named if an id may mean several.
const NAMED: usize = 8;

/// The reason why nobody knows which session is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unclear {
    /// None has an id that begins so.
    #[error("there is no session {0}")]
    None(String),
    /// Several have.
    #[error("several sessions begin with {typed}; type more of the id:{}", in_lines(.sessions))]
    Several {
        /// The beginning that was typed.
        typed: String,
        /// Some of them, with their titles, the last used first.
        sessions: Vec<(SessionId, String)>,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn in_lines(sessions: &[(SessionId, String)]) -> String {
    let line = |(id, title): &(SessionId, String)| {
        let title = if title.is_empty() { "(no title)" } else { title };
        format!("\n  {id}  {title}")
    };
    let named: String = sessions.iter().take(NAMED).map(line).collect();
    let more = sessions.len().saturating_sub(NAMED);
    if more > 0 { format!("{named}\n  and {more} more") } else { named }
}

/// The session with this id, or the only conversation whose id begins so. Blocks.
///
/// # Errors
/// It is none, or may be one of several; a failure of the store.
pub fn session(store: &dyn Store, typed: &str) -> Result<SessionInfo, Unclear> {
    session_near(store, typed, &[])
}

/// The same. Of several conversations, the only one with one of these folders (URIs) is meant. Blocks.
///
/// # Errors
/// As [`session`].
pub fn session_near(store: &dyn Store, typed: &str, folders: &[String]) -> Result<SessionInfo, Unclear> {
    match store.info(&SessionId::new(typed)) {
        Err(StoreError::NotFound { .. }) => {}
        found => return Ok(found?),
    }
    let filter = SessionFilter {
        origin: Origin::Roots,
        purpose: Some(Purpose::Chat),
        limit: usize::MAX,
        ..SessionFilter::default()
    };
    let begins = |info: &SessionInfo| !typed.is_empty() && info.session_id.as_str().starts_with(typed);
    let mut sessions: Vec<_> = store.list(&filter)?.into_iter().filter(begins).collect();
    let is_near = |info: &&SessionInfo| info.folders.iter().any(|folder| folders.contains(folder));
    if let [near] = sessions.iter().filter(is_near).collect::<Vec<_>>()[..] {
        return Ok(near.clone());
    }
    match sessions.pop() {
        None => Err(Unclear::None(typed.to_owned())),
        Some(session) if sessions.is_empty() => Ok(session),
        Some(last) => {
            sessions.push(last);
            let sessions = sessions.into_iter().map(|info| (info.session_id, info.title)).collect();
            Err(Unclear::Several { typed: typed.to_owned(), sessions })
        }
    }
}

#[cfg(test)]
mod tests {
    use store::SqliteStore;

    use super::*;

    #[test]
    fn an_id_may_be_cut_off_while_only_one_session_begins_so() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        for id in ["abc123", "abd456", "a"] {
            store.create(&id.into(), &[], None, Purpose::Chat).unwrap();
        }
        store.create(&"fee".into(), &[], None, Purpose::Suggestions).unwrap();
        store.create(&"child".into(), &[], Some(&"a".into()), Purpose::Chat).unwrap();
        store.create(&"abe789".into(), &["file:///here".into()], None, Purpose::Chat).unwrap();
        let meant = |typed: &str| session(&store, typed).map(|info| info.session_id.to_string());
        assert_eq!(meant("abc"), Ok("abc123".into()));
        assert_eq!(meant("a"), Ok("a".into()), "a whole id is that one");
        assert_eq!(meant("fee"), Ok("fee".into()), "a whole id, whatever its purpose");
        let Err(unclear) = meant("ab") else { panic!("which?") };
        let words = unclear.to_string();
        assert!(words.contains("begin with ab") && words.contains("  abc123  (no title)"), "{words}");
        let near = session_near(&store, "ab", &["file:///here".into()]).unwrap();
        assert_eq!(near.session_id, "abe789".into(), "that of the project is meant");
        for nobody in ["x", "chi", "abc1234", "", "%", "fe"] {
            assert_eq!(meant(nobody), Err(Unclear::None(nobody.into())));
        }
    }
}
