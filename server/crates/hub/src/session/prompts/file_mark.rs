//! The mark that files in a model's answer have: it tells them from what the model only quotes.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use ports::store::Store;
use protocol::SessionId;

use crate::feed::blocking;

/// A session's mark. It is kept beside the session's log and in no export, so that the system prompt stays the same and
/// whoever has written a file, or a session that is imported, does not know it.
pub(super) async fn of(store: &Arc<dyn Store>, session: &SessionId) -> Arc<str> {
    let (store, key) = (Arc::clone(store), format!("file_mark/{session}"));
    let kept = blocking(move || match store.get(&key)? {
        Some(kept) => Ok(Arc::from(kept)),
        None => {
            let made = random();
            store.set(&key, &made).map(|()| made)
        }
    });
    kept.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the mark of files cannot be kept, so this is for one turn");
        random()
    })
}

fn random() -> Arc<str> {
    // Each state hashes with random keys of its own.
    format!("{:012x}", RandomState::new().hash_one(()) & 0xffff_ffff_ffff).into()
}
