//! The window of a model whose server decides it when it loads the model, which is with the first request.

use std::sync::Arc;

use protocol::Event;
use protocol::event::Severity;

use super::{Turn, budget};
use crate::wait::until_cancelled;

impl Turn {
    /// Asks for the window that the model's server has really given it, once for each model of the turn, and keeps the
    /// conversation within it from now on. Its warning is told once in a session.
    pub(super) async fn learn_window(&mut self) {
        if self.budget.was_asked_for() {
            return;
        }
        let model = Arc::clone(&self.model);
        let Some(window) = until_cancelled(&self.gate.cancel, model.window()).await.flatten() else { return };
        self.budget.resize(window.tokens);
        let limits = &mut self.gate.limits;
        limits.result_bytes = limits.result_bytes.min(budget::longest_result(window.tokens));
        if let Some(warning) = window.warning {
            let text = format!("{}: {warning}.", self.model.info().name);
            if !self.history.has_warned(&text) {
                self.record(Event::Notice { severity: Severity::Warning, text });
            }
        }
    }
}
