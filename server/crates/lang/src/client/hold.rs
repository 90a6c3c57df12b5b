//! The texts that a server sees, kept while one waits for what it says of them.

use std::path::{Path, PathBuf};

use super::Client;
use super::documents::{Documents, Sent, Waits};

/// Texts that a server was sent, while one waits for what it says of them. Dropped, others may be sent.
pub(crate) struct Hold<'c> {
    client: &'c Client,
    world: u64,
    waits: Waits,
    path: Option<PathBuf>,
    /// The texts that were sent.
    pub(crate) sent: Sent,
}

impl<'c> Hold<'c> {
    /// Of what the server has just been sent, for a question about this file.
    pub(super) fn of(client: &'c Client, documents: &mut Documents, waits: Waits, path: Option<&Path>) -> Self {
        documents.wait(waits, path);
        Self { client, world: documents.world(), waits, path: path.map(Path::to_owned), sent: documents.sent(path) }
    }

    /// True if the server still sees these texts. Where it does not, what it says may be of others.
    pub(crate) fn stands(&self) -> bool {
        self.client.documents().world() == self.world
    }

    /// True if it does, and was not sent the one that was asked about once more: what it says by itself has the version
    /// of that then.
    pub(crate) fn stands_with_version(&self) -> bool {
        let version = |path: &PathBuf| self.client.documents().get(path).map(|synced| synced.version);
        let text = self.path.as_ref().map(version);
        self.stands() && text.is_none_or(|version| version == self.sent.text.as_ref().map(|it| it.version))
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.client.documents().release(self.world, self.waits, self.path.as_deref());
        // Others may wait for that.
        self.client.transport.announce();
    }
}
