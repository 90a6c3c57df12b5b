//! Trust in a workspace: whether what it brings along may run.
//!
//! Whatever is about to run something that a workspace supplies asks [`may_run`] first. What was said of folders is the
//! user's data and not ours to keep; [`of_folder`] says what it comes to.

use std::path::Path;

/// A thing that a workspace can supply and that would run, or would let something run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supplied {
    /// Commands that run at certain moments of a session.
    Hooks,
    /// Servers of tools, started by a command.
    McpServers,
    /// Language servers that are started by a command of the repository's, or lie in it.
    LanguageServers,
    /// Files of environment variables, which choose what programs run.
    EnvironmentFiles,
    /// Slash commands and skills that run something as they are read.
    Commands,
    /// Permission rules that allow.
    AllowRules,
    /// Programs that a repository's git configuration names: hooks, filters, diff and merge drivers, helpers.
    GitPrograms,
    /// Text for the model, such as `AGENTS.md`. It runs nothing by itself.
    RulesText,
}

/// True if something that a workspace supplies may run there, or count.
pub fn may_run(trusted: bool, supplied: Supplied) -> bool {
    match supplied {
        Supplied::RulesText => true,
        Supplied::Hooks
        | Supplied::McpServers
        | Supplied::LanguageServers
        | Supplied::EnvironmentFiles
        | Supplied::Commands
        | Supplied::AllowRules
        | Supplied::GitPrograms => trusted,
    }
}

/// True if the user trusts a folder; none if nothing was said of it. What was said of the nearest folder above holds
/// for it too, unless that one is [wide](is_wide).
///
/// # Errors
/// Those of `said`, which returns what was said of one folder.
pub fn of_folder<E>(
    folder: &Path,
    home: Option<&Path>,
    said: impl Fn(&Path) -> Result<Option<bool>, E>,
) -> Result<Option<bool>, E> {
    for above in folder.ancestors() {
        if above != folder && is_wide(above, home) {
            break;
        }
        if let Some(trusted) = said(above)? {
            return Ok(Some(trusted));
        }
    }
    Ok(None)
}

/// True if a folder holds more than anybody has looked at: the root of the file system, the user's home, and what is
/// above that. To trust it says nothing of the folders in it.
pub fn is_wide(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(folder: &str, said: &[(&str, bool)]) -> Option<bool> {
        let said = |folder: &Path| {
            Ok::<_, ()>(said.iter().find(|(known, _)| Path::new(known) == folder).map(|(_, trusted)| *trusted))
        };
        of_folder(Path::new(folder), Some(Path::new("/home/me")), said).unwrap()
    }

    #[test]
    fn what_was_said_of_a_folder_holds_for_those_in_it() {
        let said = [("/home/me/src", true), ("/home/me/src/other", false)];
        assert_eq!(trust("/home/me/src", &said), Some(true));
        assert_eq!(trust("/home/me/src/mine/deep", &said), Some(true));
        assert_eq!(trust("/home/me/src/other/deep", &said), Some(false));
        assert_eq!(trust("/home/me/srcs", &said), None);
        assert_eq!(trust("/home/me", &said), None, "a folder below says nothing of the one above");
    }

    #[test]
    fn to_trust_the_home_folder_is_not_to_trust_all_that_lies_in_it() {
        let said = [("/home/me", true), ("/", true), ("/home", true)];
        assert_eq!(trust("/home/me", &said), Some(true));
        assert_eq!(trust("/", &said), Some(true));
        for folder in ["/home/me/downloads/clone", "/srv/clone", "/home/other"] {
            assert_eq!(trust(folder, &said), None, "{folder}");
        }
    }

    #[test]
    fn only_text_needs_no_trust() {
        assert!(may_run(false, Supplied::RulesText));
        for supplied in [Supplied::Hooks, Supplied::EnvironmentFiles, Supplied::GitPrograms, Supplied::AllowRules] {
            assert!(!may_run(false, supplied) && may_run(true, supplied), "{supplied:?}");
        }
    }
}
