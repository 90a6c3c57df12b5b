//! Whether edits are accepted as they come: in a session until the server ends, in a project for good, or by the
//! configuration.
//!
//! The modes `accept_edits` and `bypass` accept them, too, whatever else was said. Else what is said of the session
//! counts most, then what is kept for its project, then the configuration. A change of the configuration's word is
//! newer than what was said of the session, and takes its place.

use std::path::Path;
use std::sync::Arc;

use agent::store::{Store, StoreError};
use protocol::Event;
use protocol::review::{AutoScope, ReviewAutoParams};
use protocol::session::Mode;
use protocol::terminal::Done;
use workspace::paths::{self, Roots};

use super::{Own, Session, tell_router};
use crate::config::Config;
use crate::hub::feed::blocking;
use crate::hub::{Error, Reply, router};

/// Who said that edits are accepted as they come, or not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accepting {
    /// What was said of this session.
    session: Option<bool>,
    /// Whether it is so in the whole project.
    always: bool,
    /// How often that was said here, so that what was read from the store before it does not count.
    said: u64,
}

impl Accepting {
    /// Nothing was said of the session yet; `always` is what is kept for its project.
    pub(super) fn new(always: bool) -> Self {
        Self { session: None, always, said: 0 }
    }

    /// It is so in the whole project from now on, or no longer. Where it no longer is, no session of it goes on by
    /// itself.
    fn set_always(&mut self, on: bool) {
        (self.always, self.said) = (on, self.said + 1);
        self.session.take_if(|session| *session && !on);
    }

    /// How often it was said for the whole project.
    pub(super) fn said(self) -> u64 {
        self.said
    }

    /// Whether edits are accepted as they come, and for how long.
    fn in_force(self, config: &Config) -> (bool, AutoScope) {
        // While the user's own configuration is not understood, nothing is accepted that they do not see.
        let always = self.always && config.errors.is_empty();
        match self.session {
            Some(on) => (on, AutoScope::Session),
            None if always => (true, AutoScope::Project),
            None => (config.accept_edits, AutoScope::Session),
        }
    }
}

/// Whether an edit of a file always waits for the user, in every mode.
fn is_looked_at(roots: &Roots, file: &Path) -> bool {
    roots.protected(file).is_some()
        || roots.steers_us(file)
        || roots.makes_programs_run(file)
        || paths::is_for_keys(file)
}

/// Whether the user has edits accepted as they come in a project. Blocks.
pub(super) fn of_project(store: &dyn Store, project: &str) -> Result<bool, StoreError> {
    Ok(store.get(&key(project))?.is_some_and(|kept| kept == ALWAYS))
}

/// What is kept for a project where edits are accepted as they come; anything else says that they are not.
const ALWAYS: &str = "always";

/// The setting that keeps it, in the user's data and never in the project.
fn key(project: &str) -> String {
    format!("accept_edits {project}")
}

impl Session {
    /// Whether edits of these files are accepted as they come. Where one of them usually holds keys, makes other
    /// programs run or says what the agent may do, all of the edit waits for the user: what is accepted by itself is
    /// not looked at.
    pub(super) fn accepts<'p>(&self, mut files: impl Iterator<Item = &'p Path>) -> bool {
        self.accepts_as_they_come() && !files.any(|file| is_looked_at(&self.reading.roots, file))
    }

    /// Whether edits are accepted as they come, because it was said so, or by the mode.
    pub(super) fn accepts_as_they_come(&self) -> bool {
        self.state.accept_edits.0 || matches!(self.state.mode, Mode::AcceptEdits | Mode::Bypass)
    }

    /// Has edits accepted as they come from now on, or no longer.
    pub(super) fn accept_edits(&mut self, params: &ReviewAutoParams, reply: Reply<Done>) {
        let on = params.on;
        if params.scope == AutoScope::Session {
            self.accepting.session = Some(on);
            self.accepting_changed();
            return self.answer_when_stored(reply, Ok(Done {}));
        }
        let (store, project, own) = (Arc::clone(&self.shared.parts.store), self.project(), self.own.clone());
        self.begun += 1;
        tokio::spawn(async move {
            let kept = blocking(move || store.set(&key(&project), if on { ALWAYS } else { "" })).await;
            let _ = own.send(Own::AlwaysKept(on, kept, reply));
        });
    }

    /// What the user wants for the project is kept, or could not be.
    pub(super) fn always_kept(&mut self, on: bool, kept: Result<(), StoreError>, reply: Reply<Done>) {
        self.begun -= 1;
        if let Err(error) = kept {
            return drop(reply.send(Err(Error::from(error))));
        }
        self.accepting.set_always(on);
        self.accepting.session = None;
        if !on && self.config.accept_edits {
            // The user has just switched it off here.
            self.accepting.session = Some(false);
        }
        self.record(Event::AcceptEditsChanged { on, scope: AutoScope::Project });
        self.accepting_changed();
        tell_router(&self.shared, router::Message::Always(self.project().into(), on));
        self.answer_when_stored(reply, Ok(Done {}));
    }

    /// A session of some project had edits accepted as they come in all of the project, or no longer.
    pub(super) fn always(&mut self, project: &str, on: bool) {
        if project == self.project() {
            self.accepting.set_always(on);
            self.accepting_changed();
        }
    }

    /// What is kept for the project, which another process may have changed, was read when it had been said here `said`
    /// times.
    pub(super) fn always_read(&mut self, on: bool, said: u64) {
        if said == self.accepting.said && on != self.accepting.always {
            self.accepting.set_always(on);
            self.accepting_changed();
        }
    }

    /// The configuration changed.
    pub(super) fn accepting_configured(&mut self, before: &Config) {
        if before.accept_edits != self.config.accept_edits {
            self.accepting.session = None;
        }
        self.accepting_changed();
    }

    /// Records how it stands, where that is news.
    pub(super) fn accepting_changed(&mut self) {
        let (on, scope) = self.accepting.in_force(&self.config);
        let (was, until) = self.state.accept_edits;
        if on != was || (on && scope != until) {
            self.record(Event::AcceptEditsChanged { on, scope });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigError;

    #[test]
    fn the_session_counts_more_than_its_project_and_that_more_than_the_configuration() {
        let (off, mut on) = (Config::default(), Config::default());
        on.accept_edits = true;
        let of = |session, always, config| Accepting { session, always, said: 0 }.in_force(config);
        assert_eq!(of(None, false, &off), (false, AutoScope::Session));
        assert_eq!(of(None, false, &on), (true, AutoScope::Session));
        assert_eq!(of(None, true, &off), (true, AutoScope::Project));
        assert_eq!(of(Some(false), true, &on), (false, AutoScope::Session));
        assert_eq!(of(Some(true), false, &off), (true, AutoScope::Session));
    }

    #[test]
    fn an_edit_of_what_says_what_the_agent_may_do_always_waits_for_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::new([folder.path()]).unwrap();
        let top = folder.path().canonicalize().unwrap();
        for file in [".azimuth/config.toml", "part/.azimuth/config.toml", ".git/config", ".env", "lsp.json", "bin/tool"]
        {
            assert!(is_looked_at(&roots, &top.join(file)), "{file}");
        }
        assert!(!is_looked_at(&roots, &top.join("src/config.toml")));
    }

    #[test]
    fn while_the_users_configuration_is_not_understood_the_project_accepts_nothing_by_itself() {
        let error = ConfigError { place: "config.toml".into(), problem: "line 1".into() };
        let config = Config { errors: vec![error], ..Config::default() };
        assert!(!Accepting::new(true).in_force(&config).0);
    }
}
