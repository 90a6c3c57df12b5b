//! Another model goes on: the next of the chain if the one that is asked fails, or a larger one if the conversation no
//! longer fits into its context.

use std::sync::Arc;

use ports::model::{ModelError, Successor};
use protocol::Event;
use protocol::model::{AccountSwitch, ModelInfo, SwitchReason};
use protocol::turn::StopReason;

use super::budget::{self, Budget};
use super::words::failed;
use super::{End, Turn};
use crate::wait::until_cancelled;

impl Turn {
    /// Has another key or account of the user's at the same provider go on: after a failure, or since the one that the
    /// session has rests. False if it stays the same.
    pub(super) async fn takes_other_account(&mut self, failure: Option<&ModelError>) -> bool {
        if failure.is_some_and(|failure| !failure.kind.is_of_account()) {
            return false;
        }
        let model = Arc::clone(&self.model);
        let other = model.account(self.session_id.as_str(), failure, &self.tried);
        let Some(other) = until_cancelled(&self.gate.cancel, other).await.flatten() else { return false };
        let info = model.info();
        let AccountSwitch { name, instead_of } = other.switch.clone();
        self.record(Event::TurnModelChanged {
            turn_id: self.gate.turn_id.clone(),
            model: info.id.clone(),
            thinking: self.thinking.or(info.level),
            instead_of: info.id.clone(),
            reason: other.reason,
            until: other.until,
            error: failure.map(|failure| failure.message.clone()),
            account: Some(other.switch),
        });
        if failure.is_some() && !self.tried.contains(&instead_of) {
            self.tried.push(instead_of);
        }
        // Two that fail in turn would else be asked without end.
        if !self.tried.contains(&name) {
            self.tried.push(name);
            self.failures = self.failures.over();
        }
        true
    }

    /// Has another account go on after a failure, else the next model of the chain. False if there is none.
    pub(super) async fn falls_back(&mut self, failure: &ModelError) -> bool {
        if self.takes_other_account(Some(failure)).await {
            return true;
        }
        let Some(reason) = failure.kind.switch_reason() else { return false };
        let next = self.fallbacks.next(self.model.info(), failure);
        let Some(next) = until_cancelled(&self.gate.cancel, next).await.flatten() else { return false };
        self.switch(next, reason, Some(failure.message.clone()));
        true
    }

    /// Has the next larger model of the same provider go on, if the user wants that and there is one.
    pub(super) async fn promoted(&mut self) -> bool {
        // Its server may have given it another window than was known.
        let known = ModelInfo { context_tokens: self.budget.limit(), ..self.model.info().clone() };
        let larger = self.fallbacks.larger(&known);
        let Some(larger) = until_cancelled(&self.gate.cancel, larger).await.flatten() else { return false };
        // Without this, a provider that describes its models wrongly could keep the turn here for ever.
        if larger.model.info().context_tokens <= known.context_tokens {
            return false;
        }
        self.switch(larger, SwitchReason::ContextFull, None);
        true
    }

    /// The end of a turn that no model can go on with, in words that name those that the user could choose.
    pub(super) async fn gave_up(&mut self, failure: ModelError) -> End {
        let ModelError { kind, message } = failure;
        if kind.switch_reason().is_none() {
            return failed(message);
        }
        let others = self.fallbacks.others(self.model.info());
        let Some(others) = until_cancelled(&self.gate.cancel, others).await else {
            return StopReason::Cancelled.into();
        };
        if others.is_empty() {
            return failed(message);
        }
        let message = message.trim_end_matches('.');
        failed(format!("{message}. Other models can be used now: {}; /model chooses one.", others.join(", ")))
    }

    fn switch(&mut self, successor: Successor, reason: SwitchReason, error: Option<String>) {
        let Successor { model, until } = successor;
        let (info, before) = (model.info(), self.model.info());
        let event = Event::TurnModelChanged {
            turn_id: self.gate.turn_id.clone(),
            model: info.id.clone(),
            thinking: self.thinking.or(info.level),
            instead_of: before.id.clone(),
            reason,
            until,
            error,
            account: None,
        };
        let sees_less = before.images && !info.images;
        self.budget = Budget::new(info, model.thinking_tokens(), &self.system, &self.tools);
        self.gate.limits.result_bytes = self.gate.limits.result_bytes.min(budget::longest_result(info.context_tokens));
        self.failures = self.failures.over();
        self.tried.clear();
        self.tells_calls = false;
        self.model = Arc::clone(&model);
        self.record(event);
        if sees_less && self.history.messages().iter().any(|message| message.has_images()) {
            self.tell_of_images();
        }
    }
}
