//! Those who see the session, and the one among them whose documents count.

mod routes;

use std::collections::HashMap;
use std::sync::Arc;

use project::buffers::Buffers;

pub(super) use self::routes::{give_log, register};
use super::Caller;
use crate::{ClientId, Editor};

/// The clients of a session.
pub(super) struct Clients {
    /// Those who see it.
    followers: HashMap<ClientId, Caller>,
    /// Whose unsaved texts count, and whose editor changes documents: the client that started the last turn; before the
    /// first one, and once that is gone, any that follows.
    home: Option<Caller>,
}

impl Clients {
    /// Those who see the session as it is opened, and its home.
    pub(super) fn new(followers: HashMap<ClientId, Caller>, home: Caller) -> Self {
        Self { followers, home: Some(home) }
    }

    /// The one whose documents count.
    pub(super) fn home(&self) -> Option<&Caller> {
        self.home.as_ref()
    }

    /// True if this is the one whose documents count; without one, whether none is asked for.
    pub(super) fn is_home(&self, client: Option<ClientId>) -> bool {
        self.home.as_ref().map(|home| home.id) == client
    }

    /// The editor whose unsaved texts count.
    pub(super) fn editor(&self) -> Option<Arc<dyn Editor>> {
        self.home.as_ref().map(|home| Arc::clone(&home.editor))
    }

    /// The documents that count.
    pub(super) fn buffers(&self) -> Arc<Buffers> {
        self.home.as_ref().map(|home| Arc::clone(&home.buffers)).unwrap_or_default()
    }

    /// Another's documents count from now on; gives whether it is another.
    pub(super) fn set_home(&mut self, home: Option<Caller>) -> bool {
        let is_other = !self.is_home(home.as_ref().map(|home| home.id));
        self.home = home;
        is_other
    }

    /// Those who see the session.
    pub(super) fn followers(&self) -> impl Iterator<Item = &Caller> {
        self.followers.values()
    }

    /// Those who see the session, and its home.
    pub(super) fn all(&self) -> impl Iterator<Item = &Caller> {
        self.followers.values().chain(&self.home)
    }

    /// One that sees the session.
    pub(super) fn follower(&self, client: ClientId) -> Option<&Caller> {
        self.followers.get(&client)
    }

    /// The documents of a client that sees the session, or is its home.
    pub(super) fn buffers_of(&self, client: ClientId) -> Option<Arc<Buffers>> {
        let home = self.home.as_ref().filter(|home| home.id == client);
        self.follower(client).or(home).map(|caller| Arc::clone(&caller.buffers))
    }

    /// A client sees the session from now on.
    pub(super) fn add(&mut self, caller: Caller) {
        self.followers.insert(caller.id, caller);
    }

    /// A client sees the session no longer.
    pub(super) fn remove(&mut self, client: ClientId) {
        self.followers.remove(&client);
    }

    /// Nobody sees the session any more. Gives those who did.
    pub(super) fn take_followers(&mut self) -> impl Iterator<Item = Caller> + use<> {
        std::mem::take(&mut self.followers).into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::caller;

    #[test]
    fn the_documents_of_who_sees_the_session_are_known_and_those_of_its_home() {
        let (home, other) = (caller(), caller());
        let mut clients = Clients::new(HashMap::new(), home.clone());
        assert!(Arc::ptr_eq(&clients.buffers_of(home.id).unwrap(), &home.buffers));
        assert!(clients.buffers_of(other.id).is_none());
        clients.add(other.clone());
        assert!(Arc::ptr_eq(&clients.buffers_of(other.id).unwrap(), &other.buffers));
        assert_eq!((clients.followers().count(), clients.all().count()), (1, 2));
        clients.remove(other.id);
        assert!(clients.buffers_of(other.id).is_none());
    }

    #[test]
    fn it_is_told_whether_another_ones_documents_count() {
        let (home, other) = (caller(), caller());
        let mut clients = Clients::new(HashMap::new(), home.clone());
        assert!(!clients.set_home(Some(home)));
        assert!(clients.set_home(Some(other.clone())) && clients.is_home(Some(other.id)));
        assert!(clients.set_home(None) && clients.is_home(None) && clients.editor().is_none());
    }
}
