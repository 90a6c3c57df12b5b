//! The user's file, read again because it was changed here.

use tokio::sync::oneshot;

use super::Router;

impl Router {
    /// Has the clients read the configuration again that have part in it. `reply` is answered once it is in force, and
    /// dropped if there is no such client.
    pub(super) fn file_changed(&mut self, reply: oneshot::Sender<()>) {
        let reads: Vec<_> = self.clients.values().map(|client| client.caller.editor.configuration_changed()).collect();
        if reads.contains(&true) {
            self.reloads.push(reply);
        }
    }

    /// A configuration is in force that was read.
    pub(super) fn reloaded(&mut self) {
        if self.reloads.is_empty() {
            return;
        }
        for reply in self.reloads.drain(..) {
            let _ = reply.send(());
        }
        self.clients.values().for_each(|client| client.caller.editor.models_changed());
    }
}
