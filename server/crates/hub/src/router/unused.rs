//! Sessions in which nothing was said, left by processes that were killed: who ends in peace deletes its own.

use ports::store::{SessionFilter, Store, StoreError};
use protocol::content::Usage;
use protocol::session::SessionInfo;

use crate::session::load::is_unused;

/// A session with more events was used; so the logs of long ones are not read for this.
const MOST_EVENTS: u64 = 64;

/// Deletes them. Blocks.
pub(super) fn forget(store: &dyn Store) -> Result<(), StoreError> {
    let all = SessionFilter { limit: usize::MAX, ..SessionFilter::default() };
    for SessionInfo { session_id: session, .. } in store.list(&all)?.into_iter().filter(may_be_unused) {
        // One that cannot be read stays, and keeps no other.
        if !is_unused(store, &session).unwrap_or(false) {
            continue;
        }
        // A process that has it sees to it itself.
        let Ok(lock) = store.lock(&session) else { continue };
        // It may have been used before it was locked.
        if is_unused(store, &session)? {
            store.delete(&session)?;
        }
        drop(lock);
    }
    Ok(())
}

fn may_be_unused(info: &SessionInfo) -> bool {
    info.title.is_empty() && info.usage == Usage::default() && info.last_seq <= MOST_EVENTS
}
