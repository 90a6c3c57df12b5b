//! The session's handling of clients that come and go.

use std::sync::Arc;

use ports::store::Store;
use protocol::methods;
use protocol::terminal::Done;

use crate::ClientId;
use crate::Reply;
use crate::feed::{Feed, blocking};
use crate::request::{Handlers, Opened};
use crate::session::{Caller, Own, Session};

/// Registers the requests about who sees the session.
pub(in crate::session) fn register(handlers: &mut Handlers<Session, Caller>) {
    handlers
        .on::<methods::SessionOpen>(|session, caller, params, reply| session.open(caller, params.since, reply))
        .at_once::<methods::SessionClose>(|session, caller, _| {
        session.clients.remove(caller.id);
        caller.editor.unfollow(session.id());
        Ok(Done {})
    });
}

impl Session {
    /// Has a client see the session's events after number `since`, and those that follow.
    pub(in crate::session) fn follow(&mut self, caller: &Caller, since: u64) {
        self.clients.add(caller.clone());
        caller.editor.follow(self.log.feed().clone(), since);
    }

    pub(in crate::session) fn gone(&mut self, client: ClientId) {
        self.clients.remove(client);
        self.prompts.gone(client);
        // The turn's home holds the unsaved texts that it works on.
        if self.prompts.home().is_some_and(|home| home.id == client) {
            self.interrupt_turn();
        }
        if self.clients.is_home(Some(client)) {
            let next = self.clients.followers().next().cloned();
            self.set_home(next);
        }
    }

    /// Reads through another client's open documents from now on.
    pub(in crate::session) fn set_home(&mut self, home: Option<Caller>) {
        let is_other = self.clients.set_home(home);
        self.reading.editors.set(self.clients.editor());
        if is_other {
            self.edits.leave_editor();
            self.reading.reader.set_buffers(self.clients.buffers());
            self.reading.search.forget_files();
            self.texts_changed();
            // Whoever waits for what the last one was to format waits no longer.
            self.settle();
        }
    }

    /// Gives all events up to now and has the later ones follow as notifications.
    fn open(&mut self, caller: Caller, since: u64, reply: Reply<Opened>) {
        self.clients.add(caller.clone());
        self.work.begin();
        let (log, own) = (self.log.clone(), self.work.own.clone());
        tokio::spawn(async move {
            log.flush().await;
            let _ = own.send(Own::Opened(caller, since, reply));
        });
    }

    pub(in crate::session) fn opened(&mut self, caller: Caller, since: u64, reply: Reply<Opened>) {
        self.work.end();
        let (feed, store) = (self.log.feed().clone(), Arc::clone(&self.shared.parts.store));
        let session = self.info();
        let running_turn = self.state.open_turn.as_ref().map(|turn| turn.id.clone());
        let queue = self.state.queue.iter().map(|(id, _)| id.clone()).collect();
        let follower = self.clients.follower(caller.id).cloned();
        let opened = Opened { session, events: Vec::new(), running_turn, queue };
        give_log(store, feed, since, opened, reply, follower);
    }
}

/// Answers who opened a session with its events after number `since`, and has those that follow shown.
pub(in crate::session) fn give_log(
    store: Arc<dyn Store>,
    feed: Feed,
    since: u64,
    mut opened: Opened,
    reply: Reply<Opened>,
    follower: Option<Caller>,
) {
    tokio::spawn(async move {
        let session = feed.session().clone();
        match blocking(move || store.raw_events(&session, since)).await {
            Ok(events) => opened.events = events,
            Err(error) => return drop(reply.send(Err(error.into()))),
        }
        // A client may count more events than there are, as after a database that was damaged and recovered.
        let last = opened.events.last().map_or(since.min(opened.session.last_seq), |event| event.seq);
        opened.session.last_seq = opened.session.last_seq.max(last);
        let _ = reply.send(Ok(opened));
        if let Some(follower) = follower {
            follower.editor.follow(feed, last);
        }
    });
}
