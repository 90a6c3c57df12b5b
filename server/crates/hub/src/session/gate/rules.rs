//! The rules in force: the configuration's, and what the user granted with answers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use permission::{self, Rule, Rules, SourcedRule};
use ports::session::GrantScope;
use ports::store::{Store, StoreError};
use project::paths::Roots;
use project::search::{MayRead, Search};
use protocol::ErrorCode;
use protocol::permission::{PermissionListResult, RuleEffect, RuleInfo, RuleOrigin};
use protocol::session::Mode;

use crate::Error;
use crate::config::Config;

/// The meaning of mode `bypass`, for whoever is to confirm it.
pub(in crate::session) const BYPASS: &str = "In mode `bypass` you are not asked: every command runs at once, edits \
     are accepted automatically, and only the sandbox, if there is one, limits what commands can do. Only what \
     `deny` rules and the built-in list forbid is refused, and you are still asked about what `ask` rules name. A \
     mistaken or misled model can delete or send out anything that you can. This lasts in this session until you \
     leave the mode or Azimuth ends";

/// The rules in force, to be read at any time and on any thread. Clones share them.
#[derive(Clone, Default)]
pub(in crate::session) struct InForce(Arc<RwLock<Arc<Rules>>>);

impl InForce {
    /// The rules as they are now.
    pub(in crate::session) fn get(&self) -> Arc<Rules> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Puts others in force.
    pub(super) fn set(&self, rules: Rules) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(rules);
    }

    /// Returns the test for what the model's searches may show, and what may be kept of what commands change, by the
    /// rules in force when one begins.
    pub(in crate::session) fn may_read(&self, roots: &Roots) -> Arc<MayRead> {
        let (rules, folders) = (self.clone(), folders(roots));
        Arc::new(move |named| {
            let rules = rules.get();
            let (folders, named) = (Arc::clone(&folders), named.map(Path::to_path_buf));
            Box::new(move |path| permission::may_read(&rules, &folders, named.as_deref(), path))
        })
    }

    /// A search that shows the model what it may read, and knows whether any file is kept from it.
    pub(in crate::session) fn shown(&self, search: &Search, roots: &Roots) -> Search {
        let (rules, folders) = (self.clone(), folders(roots));
        let hides = Arc::new(move || permission::hides_files(&rules.get(), &folders));
        search.clone().showing_only(self.may_read(roots)).knowing_if(hides)
    }
}

fn folders(roots: &Roots) -> Arc<[PathBuf]> {
    roots.iter().map(|root| root.path.clone()).collect()
}

/// Why a mode cannot be entered with no word more.
pub(in crate::session) fn refused(config: &Config, mode: Mode, is_confirmed: bool) -> Option<Error> {
    let forbidden = |why: &str| Some(Error::new(ErrorCode::InvalidParams, why));
    if !mode.needs_confirmation() {
        return None;
    }
    if !config.allow_bypass {
        return forbidden("mode `bypass` is forbidden by `allow_bypass = false`");
    }
    if !config.errors.is_empty() {
        return forbidden("mode `bypass` cannot be entered while your configuration is not understood");
    }
    let text = format!("mode `bypass` has to be confirmed. {BYPASS}");
    (!is_confirmed).then(|| Error::new(ErrorCode::NotConfirmed, text))
}

/// The rules that are kept for a project. Blocks.
pub(super) fn granted(store: &dyn Store, project: &str) -> Result<Vec<Rule>, StoreError> {
    Ok(store.grants(project)?.iter().filter_map(|rule| rule.parse().ok()).collect())
}

/// The rules that were granted by answers.
#[derive(Default)]
pub(super) struct Grants {
    /// For the project, in their order.
    project: Vec<Rule>,
    /// For the session, in their order.
    session: Vec<Rule>,
    /// The number of changes made here to those for the project: what was read from the store before does not count.
    changed: u64,
}

impl Grants {
    /// Makes the grants from those that are kept for the project.
    pub(super) fn new(project: Vec<Rule>) -> Self {
        Self { project, ..Self::default() }
    }

    /// Returns the number of changes made here to those for the project.
    pub(super) fn changed(&self) -> u64 {
        self.changed
    }

    /// Adds a rule; gives whether it is new.
    pub(super) fn add(&mut self, rule: Rule, scope: GrantScope) -> bool {
        let granted = self.of(scope);
        let is_new = !granted.contains(&rule);
        if is_new {
            granted.push(rule);
        }
        self.changed += u64::from(scope == GrantScope::Project);
        is_new
    }

    /// Takes a rule back.
    pub(super) fn remove(&mut self, rule: &str, scope: GrantScope) {
        self.of(scope).retain(|it| it.to_string() != rule);
        self.changed += u64::from(scope == GrantScope::Project);
    }

    /// Takes those that are kept for the project, as just read again; returns whether that is news.
    pub(super) fn read(&mut self, project: Vec<Rule>) -> bool {
        let is_news = project != self.project;
        self.project = project;
        is_news
    }

    /// The configuration's rules and what was granted. Where the user left mode `bypass` while a turn runs that began
    /// in it, all is asked besides.
    pub(super) fn added_to(&self, mut rules: Rules, left_bypass: bool) -> Rules {
        let sourced =
            |rule: &Rule, origin, source: &str| SourcedRule { rule: rule.clone(), origin, source: source.into() };
        if left_bypass {
            let all = Rule { tool: "*".to_owned(), pattern: None };
            rules.ask.push(sourced(&all, RuleOrigin::Session, "your leaving mode `bypass`"));
        }
        let of_project = self.project.iter();
        let project =
            of_project.map(|rule| sourced(rule, RuleOrigin::Granted, "what you always allowed in this project"));
        let of_session = self.session.iter();
        let session = of_session.map(|rule| sourced(rule, RuleOrigin::Session, "what you allowed in this session"));
        rules.allow.extend(project.chain(session));
        rules
    }

    /// These rules for clients, in the order of their precedence.
    pub(super) fn list(&self, rules: &Rules, trusted: bool) -> PermissionListResult {
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
            RuleOrigin::Granted => self.project.contains(&sourced.rule),
            RuleOrigin::Session => self.session.contains(&sourced.rule),
            RuleOrigin::User | RuleOrigin::Project => false,
        }
    }

    fn of(&mut self, scope: GrantScope) -> &mut Vec<Rule> {
        match scope {
            GrantScope::Project => &mut self.project,
            GrantScope::Session => &mut self.session,
        }
    }
}
