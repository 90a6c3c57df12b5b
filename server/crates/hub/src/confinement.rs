//! The confinement of a session's processes: the supervisor, and the sandbox that the configuration asks for.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use lang::pool::Sessions;
use permission::Rules;
use ports::store::{SessionFilter, Store, StoreError};
use process::sandbox::{self, Policy, Settings, World};
use process::{Confinement, programs};
use project::answers::{self, Looks};
use project::paths::{self, Roots};
use protocol::terminal::SandboxMode;

use crate::config::Config;

/// Of more sessions than this the folders are not looked at; the newest come first.
const MOST_SESSIONS: usize = 10_000;
/// The time that the disk may take to say all that a sandbox is made of. Without a sandbox no command can run, so a
/// slow disk gets its time; the folders of `PATH`, which go away most often, have their own.
const PATIENCE: Duration = Duration::from_secs(30);

/// Makes the confinement of a session's processes in these folders. They can read none of our `own` files: the data
/// folder and the configuration. Also returns what the user is to be told if it is not what they asked for.
pub async fn of(
    supervisor: Option<PathBuf>,
    own: [PathBuf; 2],
    config: &Config,
    roots: &Roots,
) -> (Confinement, Vec<String>) {
    static LOOKS: LazyLock<Looks> = LazyLock::new(Looks::default);
    let mut confinement = Confinement { supervisor, ..Confinement::default() };
    if SandboxMode::from(config.sandbox) == SandboxMode::Full {
        return (confinement, Vec::new());
    }
    let plan = Plan::new(own, config, roots);
    // A failure in a task of its own breaks nothing here.
    let made = tokio::spawn(async { LOOKS.answer(PATIENCE, move || plan.carried_out()).await }).await;
    let (policy, mut told, silent) = match made {
        Ok(Some(made)) => made,
        Ok(None) => failed("one of its folders does not answer, like a network folder whose server cannot be reached"),
        Err(error) => failed(&error.to_string()),
    };
    confinement.policy = policy.map(Arc::new);
    told.extend(confinement.told.of(&silent));
    (confinement, told)
}

/// The folders of all sessions of the user's, by their names and as they are without links, but for one that holds
/// their home folder or the system: it would leave no program that could be trusted. Blocks.
///
/// # Errors
/// The store cannot be read.
pub fn folders_of_sessions(store: &dyn Store) -> Result<Vec<PathBuf>, StoreError> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let all = store.list(&SessionFilter { limit: MOST_SESSIONS, ..SessionFilter::default() })?;
    let folders: BTreeSet<_> = all.into_iter().flat_map(|session| session.folders).collect();
    let mut folders: BTreeSet<_> = folders.iter().filter_map(|uri| paths::from_uri(uri).ok()).collect();
    // One may lie on a machine that is gone, which is no reason to wait for what has nothing to do with it.
    folders.extend(answers::resolved(folders.clone(), sandbox::resolved));
    Ok(narrow(folders.into_iter(), &home))
}

/// Those of the folders that hold neither the home folder, by whichever of its names, nor the system. Asks the disk.
fn narrow(folders: impl Iterator<Item = PathBuf>, home: &Path) -> Vec<PathBuf> {
    let real = home.canonicalize().unwrap_or_default();
    let is_held = |folder: &Path| [home, &real, Path::new("/usr/bin")].iter().any(|it| it.starts_with(folder));
    folders.filter(|folder| !is_held(folder)).collect()
}

/// The same for language servers, as it is when they are looked at.
pub fn sessions(store: &Arc<dyn Store>) -> Sessions {
    let store = Arc::clone(store);
    let error = |error: StoreError| format!("the folders of other sessions cannot be read: {error}");
    Arc::new(move || folders_of_sessions(&*store).map_err(error))
}

/// A policy, where there can be one, with what is to be said of it, and the folders of `PATH` that do not answer.
type Made = (Option<Policy>, Vec<String>, Vec<PathBuf>);

/// Returns what takes the place of a policy that could not be made, with words for the user.
fn failed(why: &str) -> Made {
    let (policy, words) = instead(why, sandbox::support().by.is_some());
    (policy, vec![words], Vec::new())
}

/// Returns the policy that takes the place of one that could not be made, though there could be one: without any,
/// commands would run free.
fn instead(why: &str, can_be: bool) -> (Option<Policy>, String) {
    let words =
        if can_be { "so no command can run in this session; open another one" } else { "and this system has none" };
    (can_be.then(Policy::closed), format!("the sandbox could not be made, {words}: {why}"))
}

/// Returns the policy that would hold them, to tell of it; `None` if nothing would. Nothing is made for that, and the
/// settings of tools are looked through for credentials only with `of_credentials`.
pub async fn told(own: [PathBuf; 2], config: &Config, roots: &Roots, of_credentials: bool) -> Option<Arc<Policy>> {
    static LOOKS: LazyLock<Looks> = LazyLock::new(Looks::default);
    let plan = Plan::new(own, config, roots);
    let made = move || {
        let (environment, _) = answering();
        let credentials = if of_credentials { sandbox::settings_with_credentials(&environment) } else { Vec::new() };
        plan.policy(credentials, &environment)
    };
    let made = tokio::spawn(async { LOOKS.answer(PATIENCE, made).await }).await.ok().flatten();
    // Where it cannot be made, nothing could run in a session either.
    made.unwrap_or_else(|| sandbox::support().by.is_some().then(Policy::closed)).map(Arc::new)
}

/// The parts that a policy is made of.
struct Plan {
    settings: Settings,
    folders: Vec<PathBuf>,
    own: [PathBuf; 2],
    rules: Rules,
}

/// The places outside the workspace that rules keep from being read by their whole names, with all that is in them. In
/// the workspace, wherever links lead, a command makes new files beside what it must not read, which a sandbox cannot
/// tell apart. The home folder counts, by its own name, also where the workspace lies in it: of what is read there by
/// default the workspace is none. Blocks.
fn denied(rules: &Rules, folders: &[PathBuf], home: Option<&Path>) -> Vec<PathBuf> {
    let about_reading = rules.deny.iter().filter(|sourced| sourced.rule.tool.eq_ignore_ascii_case("read"));
    let folders: Vec<PathBuf> = folders.iter().map(|folder| sandbox::resolved(folder)).collect();
    let places = about_reading.filter_map(|sourced| {
        let pattern = sourced.rule.pattern.as_deref()?;
        let place = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*")).unwrap_or(pattern);
        let place = match place.strip_prefix('~') {
            Some("" | "/") => home?.to_owned(),
            Some(below) => home?.join(below.strip_prefix('/')?),
            None => PathBuf::from(place),
        };
        let is_whole = place.is_absolute() && !place.to_string_lossy().contains('*');
        let place = is_whole.then(|| sandbox::resolved(&place))?;
        if let Some(home) = home.filter(|home| sandbox::resolved(home).starts_with(&place)) {
            return Some(home.to_owned());
        }
        let is_meant = |folder: &PathBuf| folder.starts_with(&place) || place.starts_with(folder);
        (!folders.iter().any(is_meant)).then_some(place)
    });
    places.collect()
}

impl Plan {
    fn new(own: [PathBuf; 2], config: &Config, roots: &Roots) -> Self {
        let settings = Settings {
            mode: SandboxMode::from(config.sandbox),
            network: config.sandbox_network,
            write: config.sandbox_write.clone(),
            read: config.sandbox_read.clone(),
        };
        let folders = roots.iter().map(|root| root.path.clone()).collect();
        Self { settings, folders, own, rules: config.rules.clone() }
    }

    /// The policy with all that it needs on disk. Blocks.
    fn carried_out(&self) -> Made {
        let (environment, silent) = answering();
        if self.settings.mode == SandboxMode::WorkspaceWrite && sandbox::support().by.is_some() {
            sandbox::make_caches(&environment, &self.folders);
        }
        let credentials = sandbox::settings_with_credentials(&environment);
        let Some(policy) = self.policy(credentials, &environment) else {
            let words = "commands run without a sandbox, since this system has none that Azimuth can use; `azimuth \
                         doctor` says more";
            return (None, vec![words.to_owned()], silent);
        };
        let told = policy.told_of_credentials().into_iter().collect();
        let [data_folder, _] = self.own.each_ref().map(|path| sandbox::resolved(path));
        (Some(policy.with_settings_of_git(&environment, &data_folder.join("git"))), told, silent)
    }

    /// The policy, where these settings of tools hold credentials; none if there is to be none, or can be none.
    /// Blocks.
    fn policy(&self, mut credentials: Vec<PathBuf>, environment: &Environment) -> Option<Policy> {
        sandbox::support().by?;
        let home = environment("HOME").map(PathBuf::from);
        let denied = denied(&self.rules, &self.folders, home.as_deref());
        // By both names they are found in what is granted.
        let own: Vec<PathBuf> = self.own.iter().flat_map(|path| [sandbox::resolved(path), path.clone()]).collect();
        let kept: Vec<PathBuf> = own.iter().cloned().chain(home.clone()).collect();
        let repositories = sandbox::repositories(&self.folders, &kept);
        let is_closed = |path: &Path| {
            let place = sandbox::resolved(path);
            let is_home = |denied: &&PathBuf| home.as_deref().is_some_and(|home| home.starts_with(denied));
            own.iter().chain(denied.iter().filter(|denied| !is_home(denied))).any(|closed| place.starts_with(closed))
        };
        credentials.retain(|path| !is_closed(path));
        let (folders, repositories) = (self.folders.as_slice(), repositories.as_slice());
        let world = World { folders, repositories, own: &own, denied: &denied, credentials: &credentials, environment };
        Policy::new(&self.settings, &world).map(Policy::resolved)
    }
}

/// The values of the environment's variables, by their names.
type Environment = dyn Fn(&str) -> Option<OsString>;

/// The environment of this process without the folders of `PATH` that do not answer, and these. Blocks.
fn answering() -> (Box<Environment>, Vec<PathBuf>) {
    let (path, silent) = programs::answering(&std::env::var_os("PATH").unwrap_or_default());
    let environment = move |name: &str| if name == "PATH" { Some(path.clone()) } else { std::env::var_os(name) };
    (Box::new(environment), silent)
}

#[cfg(test)]
mod tests {
    use permission::SourcedRule;
    use protocol::permission::RuleOrigin;

    use super::*;

    #[test]
    fn where_the_sandbox_cannot_be_made_nothing_is_opened_rather_than_everything() {
        let (policy, warning) = instead("a fault of ours", true);
        let policy = policy.unwrap();
        for path in ["/usr/bin/bash", "/tmp", "/dev/null"] {
            assert!(!policy.allows(Path::new(path), sandbox::Use::Read), "{path}");
        }
        assert!(warning.contains("no command can run") && warning.contains("a fault of ours"), "{warning}");
        assert_eq!(instead("a fault of ours", false).0, None);
    }

    #[test]
    fn what_a_rule_denies_outside_the_workspace_is_found_by_its_whole_name() {
        let deny = |text: &str| SourcedRule {
            rule: text.parse().unwrap(),
            origin: RuleOrigin::User,
            source: "your config.toml".to_owned(),
        };
        let found = |text: &str| {
            let rules = Rules { deny: vec![deny(text)], ..Rules::default() };
            denied(&rules, &[PathBuf::from("/home/ada/project")], Some(Path::new("/home/ada")))
        };
        for (rule, place) in [
            ("Read(~/.config/foo/**)", "/home/ada/.config/foo"),
            ("read(~/.config/foo)", "/home/ada/.config/foo"),
            ("Read(/opt/keys/*)", "/opt/keys"),
            ("Read(/opt/key.pem)", "/opt/key.pem"),
            ("Read(~/**)", "/home/ada"),
            ("Read(~)", "/home/ada"),
            ("Read(/home/**)", "/home/ada"),
        ] {
            assert_eq!(found(rule), [PathBuf::from(place)], "{rule}");
        }
        for rule in [
            "Read(.env)",
            "Read(/opt/*.pem)",
            "Read(/home/ada/project/.env)",
            "Read(/**)",
            "Read(~eve/**)",
            "Edit(/opt/x)",
        ] {
            assert!(found(rule).is_empty(), "{rule}");
        }
    }

    #[test]
    fn what_a_rule_denies_lies_where_links_lead() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let at = |name: &str| place.join(name);
        for folder in ["data/w/app", "data/keys"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::os::unix::fs::symlink(at("data"), at("ada")).unwrap();
        std::os::unix::fs::symlink(at("data/keys"), at("data/w/app/keys")).unwrap();
        let found = |text: &str, folder: &str| {
            let rule = SourcedRule {
                rule: text.parse().unwrap(),
                origin: RuleOrigin::User,
                source: "your config.toml".to_owned(),
            };
            let rules = Rules { deny: vec![rule], ..Rules::default() };
            denied(&rules, &[at(folder)], Some(&at("ada")))
        };
        for folder in ["data/w/app", "ada/w/app"] {
            for rule in ["Read(~/w/app/.env)", "Read(~/w/**)"] {
                assert!(found(rule, folder).is_empty(), "{rule} in {folder}");
            }
            assert_eq!(found("Read(~/keys/**)", folder), [at("data/keys")]);
            assert_eq!(found("Read(~/w/app/keys/**)", folder), [at("data/keys")]);
        }
    }

    #[test]
    fn a_session_in_the_home_folder_makes_no_project_of_it_by_either_of_its_names() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().canonicalize().unwrap().join(path);
        std::fs::create_dir_all(at("var/home/ada")).unwrap();
        std::os::unix::fs::symlink("var/home", at("home")).unwrap();
        let wide = ["home/ada", "home", "var/home/ada", "var/home"].map(at);
        let wide = wide.into_iter().chain(["/", "/usr"].map(PathBuf::from));
        let projects = [at("home/ada/one"), at("var/home/ada/two"), at("tools"), "/usr/local".into()];
        assert_eq!(narrow(wide.chain(projects.clone()), &at("home/ada")), projects);
    }
}
