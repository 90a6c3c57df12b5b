//! The pending hunks of all sessions, for whoever shows them beside the text: diagnostics, code actions, lenses.

use std::collections::BTreeMap;
use std::sync::Arc;

use protocol::SessionId;
use protocol::review::Proposal;
use tokio::sync::watch;

/// Proposals with undecided hunks, by session. Readers get immutable snapshots and can wait for the next.
#[derive(Clone)]
pub struct Board {
    reviews: watch::Sender<Reviews>,
}

/// A snapshot of the board.
pub type Reviews = Arc<BTreeMap<SessionId, Arc<[Proposal]>>>;

impl Default for Board {
    fn default() -> Self {
        Self { reviews: watch::Sender::new(Reviews::default()) }
    }
}

impl Board {
    /// The board as it is, and as it becomes.
    pub fn watch(&self) -> watch::Receiver<Reviews> {
        self.reviews.subscribe()
    }

    /// Puts up a session's proposals in place of those it had.
    pub(super) fn put(&self, session: &SessionId, proposals: Vec<Proposal>) {
        self.reviews.send_if_modified(|reviews| {
            if proposals.is_empty() && !reviews.contains_key(session) {
                return false;
            }
            let map = Arc::make_mut(reviews);
            if proposals.is_empty() {
                map.remove(session);
            } else {
                map.insert(session.clone(), proposals.into());
            }
            true
        });
    }
}
