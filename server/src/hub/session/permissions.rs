//! Permission as the session has it: its mode, the rules in force, what was granted and is taken back.

use std::sync::{Arc, PoisonError};

use agent::permission::{self, Rule, Rules, SourcedRule};
use agent::session::GrantScope;
use agent::store::{Store, StoreError};
use protocol::event::Severity;
use protocol::permission::{PermissionListResult, PermissionRevokeParams, RuleEffect, RuleInfo, RuleOrigin};
use protocol::session::{Mode, SessionModeParams};
use protocol::terminal::Done;
use protocol::{ErrorCode, Event};
use tokio::sync::oneshot;

use super::{Caller, Session};
use crate::config::Config;
use crate::hub::feed::blocking;
use crate::hub::{Error, Reply};

/// What mode `bypass` means, for whoever is to confirm it.
pub(super) const BYPASS: &str = "In mode `bypass` nothing is asked: every command runs as it comes, edits are accepted as \
     they come, and the sandbox is the only thing that holds commands back, where there is one. Only what `deny` rules and the \
     built-in list forbid is refused, and what `ask` rules want asked is asked. A wrong or misled model can delete or send away \
     what you can. It holds for this session until you leave it or Azimuth ends";

/// What was granted by answers.
#[derive(Default)]
pub(super) struct Grants {
    /// For the project, in their order.
    project: Vec<Rule>,
    /// For the session, in their order.
    session: Vec<Rule>,
    /// How often those for the project were changed here, so that what was read from the store before does not count.
    changed: u64,
}

impl Grants {
    /// What is kept for the project.
    pub(super) fn new(project: Vec<Rule>) -> Self {
        Self { project, ..Self::default() }
    }

    /// How often those for the project were changed here.
    pub(super) fn changed(&self) -> u64 {
        self.changed
    }
}

/// The rules that are kept for a project. Blocks.
pub(super) fn granted(store: &dyn Store, project: &str) -> Result<Vec<Rule>, StoreError> {
    Ok(store.grants(project)?.iter().filter_map(|rule| rule.parse().ok()).collect())
}

/// Why a mode cannot be entered with no word more.
pub(super) fn refused(config: &Config, mode: Mode, is_confirmed: bool) -> Option<Error> {
    let forbidden = |why: &str| Some(Error::new(ErrorCode::InvalidParams, why));
    match mode {
        Mode::Ask | Mode::Plan | Mode::Agent | Mode::AcceptEdits => None,
        Mode::Bypass if !config.allow_bypass => forbidden("mode `bypass` is forbidden by `allow_bypass = false`"),
        Mode::Bypass if !config.errors.is_empty() => {
            forbidden("mode `bypass` cannot be entered while your configuration is not understood")
        }
        Mode::Bypass if !is_confirmed => {
            let text = format!("mode `bypass` has to be confirmed. {BYPASS}");
            Some(Error::new(ErrorCode::NotConfirmed, text))
        }
        Mode::Bypass => None,
    }
}

impl Session {
    /// Puts the session into another mode, from its next turn on.
    pub(super) fn set_mode(&mut self, params: &SessionModeParams, reply: Reply<Done>) {
        let is_confirmed = params.confirmed || self.state.mode == Mode::Bypass;
        if let Some(error) = refused(&self.config, params.mode, is_confirmed) {
            return drop(reply.send(Err(error)));
        }
        self.enter(params.mode);
        self.answer_when_stored(reply, Ok(Done {}));
    }

    /// Puts the session into a mode that it may be in.
    pub(super) fn enter(&mut self, mode: Mode) {
        if mode != self.state.mode {
            self.record(Event::ModeChanged { mode });
            self.set_rules();
        }
    }

    /// Leaves mode `bypass`, for this reason.
    pub(super) fn leave_bypass(&mut self, why: &str) {
        if self.state.mode == Mode::Bypass {
            self.enter(Mode::Agent);
            let text = format!("the session is in mode `agent` again: {why}");
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
    }

    /// The configuration changed.
    pub(super) fn permissions_configured(&mut self) {
        if let Some(error) = refused(&self.config, Mode::Bypass, true) {
            self.leave_bypass(&error.message);
        }
        self.set_rules();
    }

    /// Puts the rules in force: the configuration's, and what was granted.
    pub(super) fn set_rules(&self) {
        let mut rules = self.config.rules.clone();
        // A turn keeps the mode it began in. One that began in `bypass` asks from where the user left that.
        if self.turn_bypasses() && self.state.mode != Mode::Bypass {
            let rule = Rule { tool: "*".to_owned(), pattern: None };
            let source = "your leaving mode `bypass`".to_owned();
            rules.ask.push(SourcedRule { rule, origin: RuleOrigin::Session, source });
        }
        let sourced =
            |rule: &Rule, origin, source: &str| SourcedRule { rule: rule.clone(), origin, source: source.into() };
        let of_project = self.grants.project.iter();
        let project =
            of_project.map(|rule| sourced(rule, RuleOrigin::Granted, "what you always allowed in this project"));
        let of_session = self.grants.session.iter();
        let session = of_session.map(|rule| sourced(rule, RuleOrigin::Session, "what you allowed in this session"));
        rules.allow.extend(project.chain(session));
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// The rules in force.
    pub(super) fn rules_in_force(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps a rule that the user granted, here at once and, for a project, in the store for later.
    pub(super) fn grant(&mut self, rule: Rule, scope: GrantScope, done: oneshot::Sender<()>) {
        let granted = match scope {
            GrantScope::Project => &mut self.grants.project,
            GrantScope::Session => &mut self.grants.session,
        };
        let text = rule.to_string();
        if !granted.contains(&rule) {
            granted.push(rule);
            self.set_rules();
        }
        if scope == GrantScope::Session {
            let _ = done.send(());
            return;
        }
        self.grants.changed += 1;
        let (store, project) = (Arc::clone(&self.shared.parts.store), self.project());
        tokio::spawn(async move {
            if let Err(error) = blocking(move || store.grant(&project, &text)).await {
                tracing::error!(%error, "a permission that was granted for good could not be kept");
            }
            let _ = done.send(());
        });
    }

    /// What is kept for the project, which another session may have changed, was read when it had been changed here
    /// `changed` times.
    pub(super) fn grants_read(&mut self, project: Vec<Rule>, changed: u64) {
        if changed == self.grants.changed && project != self.grants.project {
            self.grants.project = project;
            self.set_rules();
        }
    }

    /// Takes back what was granted.
    pub(super) fn revoke(&mut self, params: PermissionRevokeParams, reply: Reply<Done>) {
        let is_it = |rule: &Rule| rule.to_string() == params.rule;
        match params.origin {
            RuleOrigin::Session => {
                self.grants.session.retain(|rule| !is_it(rule));
                self.set_rules();
                let _ = reply.send(Ok(Done {}));
            }
            RuleOrigin::Granted => {
                self.grants.project.retain(|rule| !is_it(rule));
                self.grants.changed += 1;
                self.set_rules();
                let (store, project) = (Arc::clone(&self.shared.parts.store), self.project());
                tokio::spawn(async move {
                    let revoked = blocking(move || store.revoke(&project, &params.rule)).await;
                    let _ = reply.send(revoked.map(|()| Done {}).map_err(Error::from));
                });
            }
            RuleOrigin::User | RuleOrigin::Project => {
                let text = "invalid params: `origin`: only what was granted by an answer is taken back here; change the others \
                            where they are written";
                let _ = reply.send(Err(Error::new(ErrorCode::InvalidParams, text)));
            }
        }
    }

    /// Answers with the rules in force. Whether the workspace is trusted is looked up beside the session's task.
    pub(super) fn permission_list(&self, caller: &Caller, reply: Reply<PermissionListResult>) {
        let (trusted, restricted) = (self.list_permissions(true), self.list_permissions(false));
        let (workspace, word) = (self.trust.clone(), caller.trust.clone());
        tokio::task::spawn_blocking(move || {
            let is_trusted = workspace.decided(&word) == Some(true);
            let _ = reply.send(Ok(if is_trusted { trusted } else { restricted }));
        });
    }

    /// The rules in force, in the order of their precedence.
    fn list_permissions(&self, trusted: bool) -> PermissionListResult {
        let rules = self.rules_in_force();
        let effects =
            [(RuleEffect::Deny, &rules.deny), (RuleEffect::Ask, &rules.ask), (RuleEffect::Allow, &rules.allow)];
        let all = effects.into_iter().flat_map(|(effect, rules)| rules.iter().map(move |rule| (effect, rule)));
        let info = |(effect, sourced): (RuleEffect, &SourcedRule)| RuleInfo {
            rule: sourced.rule.to_string(),
            effect,
            origin: sourced.origin,
            source: sourced.source.clone(),
            covers: permission::covers(&sourced.rule),
            revocable: effect == RuleEffect::Allow && self.is_granted(sourced),
            void: (effect == RuleEffect::Allow)
                .then(|| sourced.void(permission::is_about_commands(&sourced.rule), trusted))
                .flatten()
                .map(str::to_owned),
        };
        PermissionListResult { rules: all.map(info).collect() }
    }

    fn is_granted(&self, sourced: &SourcedRule) -> bool {
        match sourced.origin {
            RuleOrigin::Granted => self.grants.project.contains(&sourced.rule),
            RuleOrigin::Session => self.grants.session.contains(&sourced.rule),
            RuleOrigin::User | RuleOrigin::Project => false,
        }
    }
}
