//! Who holds a session: this process, by its lock, or another one, to which it is relayed until that one ends.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ports::store::StoreError;
use protocol::{ErrorCode, SessionId, TerminalId};
use tokio::sync::mpsc;

use super::relay::{self, Ended};
use super::terminals::Spools;
use super::{Caller, Message, NewSession, load};
use crate::config::Config;
use crate::feed::Feed;
use crate::post::{self, Requester, Shared};
use crate::{ClientId, Error};

/// The time that a session's holder may be out of reach before who wants the session is refused.
const REACHABLE: Duration = Duration::from_secs(2);
/// The pause before it is tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// The parts of a session that stay in this process while it passes from host to host.
pub(super) struct Open {
    pub(super) shared: Shared,
    pub(super) config: Arc<Config>,
    pub(super) id: SessionId,
    pub(super) inbox: Inbox,
    /// True if this process has its lock.
    pub(super) holds: Arc<AtomicBool>,
    pub(super) home: Caller,
    pub(super) followers: HashMap<ClientId, Caller>,
    pub(super) feed: Feed,
    /// The output of its terminals, once somebody asked.
    pub(super) spools: Spools,
    /// The terminals that somebody sees.
    pub(super) shown: HashSet<TerminalId>,
}

/// The messages to a session, and how many of them were taken: the router lets go of a task only if that is all.
pub(super) struct Inbox {
    pub(super) messages: mpsc::UnboundedReceiver<Message>,
    pub(super) handled: u64,
}

impl Inbox {
    pub(super) async fn recv(&mut self) -> Option<Message> {
        let message = self.messages.recv().await;
        self.handled += 1;
        message
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Takes nothing more, and answers what is there with an error.
    pub(super) fn close(&mut self, error: &Error) {
        self.messages.close();
        while let Ok(message) = self.messages.try_recv() {
            if let Message::Request(_, request) = message {
                request.fail(error.clone());
            }
        }
    }
}

/// Holds the session, or relays to the process that does, and takes it over when that one ends.
pub(super) async fn begin(mut open: Open, mut new: Option<NewSession>) {
    // The time since the holder could not be reached, without an end in between.
    let mut unreachable_since = None;
    loop {
        let error = match load::claim(&open.shared, &open.id).await {
            Ok(lock) => {
                open.holds.store(true, Ordering::Relaxed);
                match load::load(&open, lock, new.take()).await {
                    Ok((session, own)) => return session.run(open.inbox, own).await,
                    Err(error) => {
                        open.holds.store(false, Ordering::Relaxed);
                        return refuse(open, &error).await;
                    }
                }
            }
            Err(StoreError::Locked { process: Some(process), session, holder }) => {
                match relay::run(&mut open, process).await {
                    Ended::Over => return,
                    Ended::HostGone => {
                        unreachable_since = None;
                        continue;
                    }
                    Ended::Foreign(why) => {
                        let text = format!("session {session} is open in another process ({holder}), and {why}");
                        return refuse(open, &Error::new(ErrorCode::SessionLocked, text)).await;
                    }
                    Ended::Unreachable => StoreError::Locked { session, holder, process: Some(process) },
                }
            }
            Err(error @ StoreError::Locked { .. }) => error,
            Err(error) => return refuse(open, &error.into()).await,
        };
        // It may be about to begin, or to end: a lock says who holds it a moment after it is held.
        if unreachable_since.get_or_insert_with(Instant::now).elapsed() > REACHABLE {
            return refuse(open, &error.into()).await;
        }
        tokio::time::sleep(AGAIN).await;
    }
}

/// Answers all that is sent to a session that could not be opened, until the router forgets it.
async fn refuse(open: Open, error: &Error) {
    let Open { shared, id, mut inbox, followers, .. } = open;
    // They looked on until its host ended.
    shared.board.put(&id, Vec::new());
    followers.values().for_each(|follower| follower.editor.alert(&error.message));
    loop {
        if inbox.is_empty() {
            shared.post(None, post::Message::Idle { session: id.clone(), handled: inbox.handled });
        }
        let Some(message) = inbox.recv().await else { return };
        match message {
            Message::Request(_, request) => request.fail(error.clone()),
            Message::Attach(_, reply) => drop(reply.send(Err(error.clone()))),
            Message::Begin(_, first) => Requester::Session(first).fail(error.clone()),
            Message::Instruct(_, instruction, reply) => {
                Requester::Instruction(instruction, reply).fail(error.clone());
            }
            Message::Suggestion(_, suggestion) => Requester::Suggestion(suggestion).fail(error.clone()),
            Message::Shutdown(done) => drop(done.send(())),
            Message::Gone(_)
            | Message::TextChanged(..)
            | Message::FilesChanged(_)
            | Message::Config(_)
            | Message::Always(..)
            | Message::Trust(_) => {}
        }
    }
}
