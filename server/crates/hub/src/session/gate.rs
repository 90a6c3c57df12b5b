//! The actions that the session may do without asking, and its questions: its mode's rules and what was granted,
//! whether edits are accepted automatically, the questions that stand, and the trust in its workspace.
//!
//! [`Gate`] owns all of that. Its methods are told the configuration and what the log comes to, and give back what is
//! to be recorded; `routes` is what the session does where it takes more than the gate.

mod accepting;
mod programs;
mod questions;
mod routes;
mod rules;
mod trusting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use permission::Rule;
use ports::session::{Answer, GrantScope};
use ports::store::{Store, StoreError};
use protocol::event::Severity;
use protocol::mode::{Mode, Runs};
use protocol::permission::{
    PermissionAbout, PermissionAnswerParams, PermissionListResult, PermissionRequest, PermissionRevokeParams,
    RuleOrigin,
};
use protocol::review::AutoScope;
use protocol::terminal::Done;
use protocol::{ErrorCode, Event, PermissionId, TurnId};
use tokio::sync::{mpsc, oneshot};

use self::accepting::Accepting;
pub(super) use self::accepting::{accepts, is_looked_at};
pub(super) use self::programs::{Programs, Stand};
pub(super) use self::questions::Closed;
use self::questions::{Answered, Follow, Questions};
pub(super) use self::routes::register;
use self::rules::Grants;
pub(super) use self::rules::{BYPASS, InForce, refused};
pub(super) use self::trusting::Asking;
use super::{Caller, Own};
use crate::config::Config;
use crate::feed::blocking;
use crate::post::Shared;
use crate::trust::{Word, Workspace};
use crate::{Error, Reply};

/// The messages that come back to the session's task for its gate.
pub(super) enum Message {
    /// A turn asks the user.
    Ask(TurnId, PermissionRequest, oneshot::Sender<Answer>),
    /// The time of a form is over.
    TimedOut(PermissionId),
    /// The user granted a rule with an answer.
    Grant(Rule, GrantScope, oneshot::Sender<()>),
    /// A language server that the project brings along is wanted.
    ProgramWanted(oneshot::Sender<Stand>),
    /// The choice whether edits are accepted automatically in the whole project was kept, or could not be.
    AlwaysKept(bool, Result<(), StoreError>, Reply<Done>),
    /// The trust in the workspace, as just read; `None` if it was not decided.
    TrustRead(Option<bool>),
    /// An answer about trust that came after its turn had ended was kept.
    TrustKept(Caller),
}

/// The permissions of a session, and its questions.
pub(super) struct Gate {
    /// Back to the session's task.
    own: mpsc::UnboundedSender<Own>,
    store: Arc<dyn Store>,
    /// The session's first folder, under which everything is kept that outlasts the session.
    project: String,
    /// The rules in force, for the turn to read at any time.
    rules: InForce,
    grants: Grants,
    /// Who said that edits are accepted automatically, or not.
    accepting: Accepting,
    questions: Questions,
    /// The trust in the session's folders.
    trust: Workspace,
    /// The mode that the running turn began in.
    turn: Option<Mode>,
}

/// The parts that a gate is made of.
pub(super) struct Made {
    pub(super) own: mpsc::UnboundedSender<Own>,
    pub(super) store: Arc<dyn Store>,
    pub(super) project: String,
    pub(super) kept: Kept,
    pub(super) rules: InForce,
    pub(super) trust: Workspace,
}

/// The decisions on a project that are in the store.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Kept {
    /// The rules that are granted in it.
    grants: Vec<Rule>,
    /// True if edits are accepted automatically in it.
    always: bool,
}

impl Kept {
    /// Reads the decisions on this project from the store. Blocks.
    pub(super) fn read(store: &dyn Store, project: &str) -> Result<Self, StoreError> {
        Ok(Self { grants: rules::granted(store, project)?, always: accepting::of_project(store, project)? })
    }
}

/// The changes made here to what is kept for the project, counted so that what the store said before does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Changes {
    grants: u64,
    always: u64,
}

/// The log's word on edits that are accepted automatically: whether they are, and for how long.
type Stands = (bool, AutoScope);

impl Gate {
    /// The gate of a session with these questions, to which nobody waits for an answer. No rules are in force before
    /// [`Gate::put_in_force`].
    pub(super) fn new(made: Made, standing: impl IntoIterator<Item = PermissionRequest>) -> Self {
        let Made { own, store, project, kept, rules, trust } = made;
        Self {
            own,
            store,
            project,
            rules,
            grants: Grants::new(kept.grants),
            accepting: Accepting::new(kept.always),
            questions: Questions::standing(standing),
            trust,
            turn: None,
        }
    }

    /// Returns the session's first folder, under which everything is kept that outlasts the session.
    pub(super) fn project(&self) -> &str {
        &self.project
    }

    /// The rules in force, as a turn reads them at any time.
    pub(super) fn rules(&self) -> &InForce {
        &self.rules
    }

    /// The workspace, and what was said of it.
    pub(super) fn trust(&self) -> &Workspace {
        &self.trust
    }

    /// Returns the numbers of changes made here to what is kept for the project.
    pub(super) fn changes(&self) -> Changes {
        Changes { grants: self.grants.changed(), always: self.accepting.said() }
    }

    /// True if the running turn began in mode `plan`.
    pub(super) fn turn_plans(&self) -> bool {
        self.turn.is_some_and(|mode| mode.runs() == Runs::OnlyReading)
    }

    /// A turn begins in this mode, which it keeps.
    pub(super) fn turn_began(&mut self, mode: Mode) {
        self.turn = Some(mode);
    }

    /// The mode of the turn that runs.
    pub(super) fn mode_of_turn(&self) -> Option<Mode> {
        self.turn
    }

    /// The turn is over.
    pub(super) fn turn_ended(&mut self, config: &Config, mode: Mode) {
        self.turn = None;
        self.put_in_force(config, mode);
    }

    /// Puts the session, which is in the mode `now`, into a mode that it may be in.
    pub(super) fn enter(&mut self, mode: Mode, now: Mode, config: &Config) -> Option<Event> {
        (mode != now).then(|| {
            self.put_in_force(config, mode);
            Event::ModeChanged { mode }
        })
    }

    /// Leaves mode `bypass`, for this reason.
    pub(super) fn leave_bypass(&mut self, why: &str, now: Mode, config: &Config) -> Vec<Event> {
        if !now.needs_confirmation() {
            return Vec::new();
        }
        let text = format!("the session is in mode `agent` again: {why}");
        let notice = Event::Notice { severity: Severity::Warning, text };
        self.enter(Mode::Agent, now, config).into_iter().chain([notice]).collect()
    }

    /// The configuration was another before.
    pub(super) fn configured(&mut self, before: &Config, config: &Config, now: Mode, stands: Stands) -> Vec<Event> {
        let mut events = match refused(config, Mode::Bypass, true) {
            Some(error) => self.leave_bypass(&error.message, now, config),
            None => Vec::new(),
        };
        let left = events.iter().any(|event| matches!(event, Event::ModeChanged { .. }));
        self.put_in_force(config, if left { Mode::Agent } else { now });
        self.accepting.configured(before, config);
        events.extend(self.news(config, stands));
        events
    }

    /// Puts the rules in force in this mode: the configuration's, and what was granted.
    pub(super) fn put_in_force(&self, config: &Config, mode: Mode) {
        // A turn keeps the mode it began in. One that began in `bypass` asks from where the user left that.
        let left_bypass = self.turn.is_some_and(|mode| !mode.asks()) && mode.asks();
        self.rules.set(self.grants.added_to(config.rules.clone(), left_bypass));
    }

    /// Keeps a rule that the user granted, here at once and, for a project, in the store for later.
    pub(super) fn grant(
        &mut self,
        rule: Rule,
        scope: GrantScope,
        done: oneshot::Sender<()>,
        config: &Config,
        mode: Mode,
    ) {
        let text = rule.to_string();
        if self.grants.add(rule, scope) {
            self.put_in_force(config, mode);
        }
        if scope == GrantScope::Session {
            let _ = done.send(());
            return;
        }
        let (store, project) = (Arc::clone(&self.store), self.project.clone());
        tokio::spawn(async move {
            if let Err(error) = blocking(move || store.grant(&project, &text)).await {
                tracing::error!(%error, "a permission that was granted for good could not be kept");
            }
            let _ = done.send(());
        });
    }

    /// Takes back what was granted.
    pub(super) fn revoke(&mut self, params: PermissionRevokeParams, reply: Reply<Done>, config: &Config, mode: Mode) {
        let scope = match params.origin {
            RuleOrigin::Session => GrantScope::Session,
            RuleOrigin::Granted => GrantScope::Project,
            RuleOrigin::User | RuleOrigin::Project => {
                let text = "invalid params: `origin`: only what was granted by an answer can be revoked here; change the others \
                            where they are written";
                return drop(reply.send(Err(Error::new(ErrorCode::InvalidParams, text))));
            }
        };
        self.grants.remove(&params.rule, scope);
        self.put_in_force(config, mode);
        if scope == GrantScope::Session {
            return drop(reply.send(Ok(Done {})));
        }
        let (store, project) = (Arc::clone(&self.store), self.project.clone());
        tokio::spawn(async move {
            let revoked = blocking(move || store.revoke(&project, &params.rule)).await;
            let _ = reply.send(revoked.map(|()| Done {}).map_err(Error::from));
        });
    }

    /// Answers with the rules in force, in the order of their precedence. Whether the workspace is trusted is looked up
    /// beside the session's task.
    pub(super) fn list(&self, word: &Word, reply: Reply<PermissionListResult>) {
        let rules = self.rules.get();
        let (trusted, restricted) = (self.grants.list(&rules, true), self.grants.list(&rules, false));
        let (workspace, word) = (self.trust.clone(), word.clone());
        tokio::task::spawn_blocking(move || {
            let is_trusted = workspace.decided(&word) == Some(true);
            let _ = reply.send(Ok(if is_trusted { trusted } else { restricted }));
        });
    }

    /// Takes what is kept for the project, which another session or process may have changed. It was read when these
    /// were the changes made here.
    pub(super) fn kept_read(
        &mut self,
        kept: Kept,
        at: Changes,
        config: &Config,
        mode: Mode,
        stands: Stands,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let now = self.changes();
        if at.always == now.always && self.accepting.is_other(kept.always) {
            self.accepting.set_always(kept.always);
            events.extend(self.news(config, stands));
        }
        if at.grants == now.grants && self.grants.read(kept.grants) {
            self.put_in_force(config, mode);
        }
        events
    }

    /// Has edits accepted automatically in this session from now on, or no longer.
    pub(super) fn accept_here(&mut self, on: bool, config: &Config, stands: Stands) -> Option<Event> {
        self.accepting.say(on);
        self.news(config, stands)
    }

    /// Keeps whether edits are accepted automatically in the whole project; comes back as [`Message::AlwaysKept`].
    pub(super) fn keep_always(&self, on: bool, reply: Reply<Done>) {
        let (store, project, own) = (Arc::clone(&self.store), self.project.clone(), self.own.clone());
        tokio::spawn(async move {
            let kept = blocking(move || accepting::keep(&*store, &project, on)).await;
            let _ = own.send(Own::Gate(Message::AlwaysKept(on, kept, reply)));
        });
    }

    /// Takes the user's decision for the project, said in this session, once it is kept.
    pub(super) fn always_kept(&mut self, on: bool, config: &Config) -> Vec<Event> {
        self.accepting.said_always(on, config);
        let said = Event::AcceptEditsChanged { on, scope: AutoScope::Project };
        [said].into_iter().chain(self.news(config, (on, AutoScope::Project))).collect()
    }

    /// A session of some project had edits accepted automatically in all of the project, or no longer.
    pub(super) fn always(&mut self, project: &str, on: bool, config: &Config, stands: Stands) -> Option<Event> {
        if project != self.project {
            return None;
        }
        self.accepting.set_always(on);
        self.news(config, stands)
    }

    /// Returns the event that says whether edits are accepted automatically, if the log says otherwise.
    pub(super) fn news(&self, config: &Config, (was, until): Stands) -> Option<Event> {
        let (on, scope) = self.accepting.in_force(config);
        (on != was || (on && scope != until)).then_some(Event::AcceptEditsChanged { on, scope })
    }

    /// Puts a question of a turn to the user. A form comes back as [`Message::TimedOut`] when its time is over.
    pub(super) fn ask(&mut self, turn_id: TurnId, request: PermissionRequest, asker: oneshot::Sender<Answer>) -> Event {
        if let Some(seconds) = request.form.as_ref().and_then(|form| form.timeout_seconds) {
            let (own, id) = (self.own.downgrade(), request.permission_id.clone());
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(seconds.into())).await;
                if let Some(own) = own.upgrade() {
                    let _ = own.send(Own::Gate(Message::TimedOut(id)));
                }
            });
        }
        self.questions.put(request.clone(), asker);
        Event::PermissionAsked { turn_id, request }
    }

    /// Takes the user's answer. None if the question, one of `asked`, was answered already: in another view, or by
    /// its turn's end.
    ///
    /// # Errors
    /// There never was such a question, or the answer is none of its options.
    fn answer(
        &mut self,
        params: PermissionAnswerParams,
        asked: &BTreeSet<PermissionId>,
    ) -> Result<Option<Answered>, Error> {
        self.questions.answer(params, asked)
    }

    /// Closes every question: their turn ended, or something else was begun.
    pub(super) fn close_questions(&mut self) -> Vec<Closed> {
        self.questions.close(&Answer::Cancelled, |_, _| true)
    }

    /// The questions stay, and nobody waits for their answers any more.
    pub(super) fn leave_questions(&mut self) {
        self.questions.leave();
    }

    /// No hunks are pending any more: a turn that waits to be told what becomes of them goes on.
    pub(super) fn nothing_pending(&mut self) -> Vec<Closed> {
        let is_one = |asked: &PermissionRequest, waits| asked.about == PermissionAbout::PendingEdits && waits;
        self.questions.close(&Answer::Moot, is_one)
    }

    /// The time of a form is over: what it asks is assumed, if it still stands and a turn waits.
    pub(super) fn timed_out(&mut self, id: &PermissionId) -> Vec<Closed> {
        self.questions.close(&Answer::TimedOut, |asked, waits| asked.permission_id == *id && waits)
    }

    /// Somebody has said whether the workspace is trusted: a question about it is settled.
    pub(super) fn trust_decided(&mut self) -> Vec<Closed> {
        self.questions.close(&Answer::Moot, |asked, _| asked.about == PermissionAbout::Trust)
    }

    /// Returns the parts that it takes to ask whether the workspace is trusted.
    pub(super) fn asking(&self, shared: Shared, word: Word) -> Asking {
        Asking { shared, workspace: self.trust.clone(), word, own: self.own.clone() }
    }

    /// Looks whether the workspace is trusted; comes back as [`Message::TrustRead`].
    pub(super) fn look_at_trust(&self, word: Word) {
        let (workspace, own) = (self.trust.clone(), self.own.clone());
        tokio::spawn(async move { trusting::look(&workspace, &word, &own).await });
    }

    /// Keeps an answer about trust whose turn ended with an earlier process; comes back as [`Message::TrustKept`].
    pub(super) fn keep_trust(&self, shared: Shared, caller: Caller, answer: &Answer) {
        let said = trusting::said(answer);
        let (workspace, own) = (self.trust.clone(), self.own.clone());
        tokio::spawn(async move {
            if let Some(trusted) = said {
                trusting::keep(&shared, workspace, trusted, &own).await;
            }
            let _ = own.send(Own::Gate(Message::TrustKept(caller)));
        });
    }
}

#[cfg(test)]
mod tests;
