//! The automatic acceptance of edits: in a session until the server ends, in a project for good, or by the
//! configuration.
//!
//! The modes `accept_edits` and `bypass` accept them, too, whatever else was said. Else what is said of the session
//! counts most, then what is kept for its project, then the configuration. A change of the configuration's word is
//! newer than what was said of the session, and takes its place.

use std::path::Path;

use ports::store::{Store, StoreError};
use project::paths::{self, Roots};
use protocol::review::AutoScope;

use crate::config::Config;
use crate::session::state::State;

/// Who said that edits are accepted automatically, or not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Accepting {
    /// The user's word on this session.
    session: Option<bool>,
    /// True if it is so in the whole project.
    always: bool,
    /// The number of times that this was said here, so that what was read from the store before it does not count.
    said: u64,
}

impl Accepting {
    /// Nothing was said of the session yet; `always` is what is kept for its project.
    pub(super) fn new(always: bool) -> Self {
        Self { session: None, always, said: 0 }
    }

    /// It is so in this session from now on, or no longer.
    pub(super) fn say(&mut self, on: bool) {
        self.session = Some(on);
    }

    /// It is so in the whole project from now on, or no longer. Where it no longer is, no session of it goes on by
    /// itself.
    pub(super) fn set_always(&mut self, on: bool) {
        (self.always, self.said) = (on, self.said + 1);
        self.session.take_if(|session| *session && !on);
    }

    /// It is so in the whole project, or no longer, since the user has just said so in this session.
    pub(super) fn said_always(&mut self, on: bool, config: &Config) {
        self.set_always(on);
        // With the configuration's word it would go on here.
        self.session = (!on && config.accept_edits).then_some(false);
    }

    /// The configuration was another before.
    pub(super) fn configured(&mut self, before: &Config, config: &Config) {
        if before.accept_edits != config.accept_edits {
            self.session = None;
        }
    }

    /// True if this is other than what is known to be kept for the project.
    pub(super) fn is_other(self, always: bool) -> bool {
        self.always != always
    }

    /// Returns the number of times that it was said for the whole project.
    pub(super) fn said(self) -> u64 {
        self.said
    }

    /// Returns whether edits are accepted automatically, and for how long.
    pub(super) fn in_force(self, config: &Config) -> (bool, AutoScope) {
        // While the user's own configuration is not understood, nothing is accepted that they do not see.
        let always = self.always && config.errors.is_empty();
        match self.session {
            Some(on) => (on, AutoScope::Session),
            None if always => (true, AutoScope::Project),
            None => (config.accept_edits, AutoScope::Session),
        }
    }
}

/// True if edits of these files are accepted automatically. If one of them usually holds keys, makes other programs run
/// or says what the agent may do, all of the edit waits for the user: nobody looks at what is accepted automatically.
pub(in crate::session) fn accepts<'p>(state: &State, roots: &Roots, mut files: impl Iterator<Item = &'p Path>) -> bool {
    state.accepts_as_they_come() && !files.any(|file| is_looked_at(roots, file))
}

/// True if an edit of a file always waits for the user, in every mode.
pub(in crate::session) fn is_looked_at(roots: &Roots, file: &Path) -> bool {
    roots.protected(file).is_some()
        || roots.steers_us(file)
        || roots.makes_programs_run(file)
        || paths::is_for_keys(file)
}

/// True if the user has edits accepted automatically in a project. Blocks.
pub(super) fn of_project(store: &dyn Store, project: &str) -> Result<bool, StoreError> {
    Ok(store.get(&key(project))?.is_some_and(|kept| kept == ALWAYS))
}

/// Keeps whether the user has edits accepted automatically in a project. Blocks.
pub(super) fn keep(store: &dyn Store, project: &str, on: bool) -> Result<(), StoreError> {
    store.set(&key(project), if on { ALWAYS } else { "" })
}

/// The value that is kept for a project if edits are accepted automatically; anything else says that they are not.
const ALWAYS: &str = "always";

/// The setting that keeps it, in the user's data and never in the project.
fn key(project: &str) -> String {
    format!("accept_edits {project}")
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
