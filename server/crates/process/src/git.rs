//! The settings that keep git from running programs that a repository names, in a workspace that is not trusted.
//!
//! Git runs what a repository's configuration says: hooks, filters and diff drivers at a mere `git status` or
//! `git diff`. A clone does not bring that configuration along, but an archive with a `.git` folder does. Settings in
//! the environment hold over those of any repository. Keys with fixed names are set there blindly; those whose names
//! the repository chooses (`filter.<name>.clean`) are looked up first, which runs nothing. Where that does not tell
//! all, git is kept from working.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use project::paths;

use super::{environment, programs};

mod found;

/// The settings that always hold: a command that merely looks at a repository (`git status`, after a `cd` even) never
/// runs a program of it, trusted or not. A clone can hold a bare repository whose own settings name one.
pub(super) const ALWAYS: &[(&str, &str)] = &[("core.fsmonitor", "false"), ("safe.bareRepository", "explicit")];

/// The further settings in a workspace that is not trusted, whatever its repositories say. Housekeeping, which runs
/// automatically after a commit, has a hook that no later value takes away. Git does not go into submodules by itself,
/// some of which may be checked out later.
const UNTRUSTED: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("protocol.ext.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("diff.ignoreSubmodules", "all"),
    ("diff.submodule", "short"),
    ("fetch.recurseSubmodules", "false"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
];

/// Has git (2.45 and those mended with it) fetch nothing by itself, as it would for what a partial clone lacks: also
/// what only looks at a repository would do that. Set where [`UNTRUSTED`] is.
pub const NO_FETCH: (&str, &str) = ("GIT_NO_LAZY_FETCH", "1");

/// A diff as any, in place of a driver's own. Git calls it with the path and, for each side, file, hash and mode.
const DIFF: &str = r#"f() { diff -u -- "$2" "$5"; true; }; f"#;

/// The values that take the place of a program, by the first and last part of its key. If the user's own settings have
/// the key, their value is used. An empty value is no program.
const NEUTRAL: &[(&str, &str, &str)] = &[
    ("core", "alternaterefscommand", "true"),
    ("core", "askpass", ""),
    ("core", "editor", "vi"),
    ("core", "pager", "cat"),
    ("core", "sshcommand", "ssh"),
    ("diff", "command", DIFF),
    ("diff", "external", DIFF),
    ("diff", "textconv", "cat"),
    ("difftool", "cmd", "true"),
    ("difftool", "path", "true"),
    ("filter", "clean", ""),
    ("filter", "process", ""),
    ("filter", "required", "false"),
    ("filter", "smudge", ""),
    ("gpg", "defaultkeycommand", ""),
    ("gpg", "program", "gpg"),
    ("interactive", "difffilter", "cat"),
    ("merge", "driver", "git merge-file %A %O %B"),
    ("mergetool", "cmd", "true"),
    ("mergetool", "path", "true"),
    ("pager", "", "cat"),
    ("sequence", "editor", "vi"),
    ("tar", "command", "cat"),
    ("trailer", "cmd", "true"),
    ("trailer", "command", "true"),
];

/// The setting that git reads first, and a value of it that it cannot read. It says both, and does nothing.
const HELD: (&str, &str) =
    ("core.quotePath", "kept from working by Azimuth until you trust the folder (/trust yes), as");

/// The place where git is sent for its repository when it is kept from working, with the same words behind it: there is
/// none. Git may still wait for ever for what it reads first, such as for a pipe that a repository's settings include.
pub const NOWHERE: &str = "/dev/null/";

/// The variable that sends it there, of such settings.
pub(super) fn nowhere(settings: &[(String, String)]) -> Option<(&'static str, String)> {
    let (_, words) = settings.iter().find(|(key, value)| key == HELD.0 && value.starts_with(HELD.1))?;
    Some(("GIT_DIR", format!("{NOWHERE}{words}")))
}

/// How long git may take to say what its settings are; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long that may take for all repositories.
const PATIENCE_FOR_ALL: Duration = Duration::from_secs(10);
/// So much of the shell's environment may be guards, in bytes. Linux starts no program with a variable of 128 KiB, or
/// with some MiB of them.
const MOST_BYTES: usize = 100 * 1024;
/// The bytes that a guard takes beside its key and its value: the names of its two variables.
const NAMES: usize = "GIT_CONFIG_KEY_1000=GIT_CONFIG_VALUE_1000=".len();

/// A setting as git gives it, with [`char::REPLACEMENT_CHARACTER`] for what is not UTF-8.
struct Setting {
    /// True if it comes with the repository.
    is_local: bool,
    key: String,
    value: String,
}

/// Git has not said what it was asked.
struct Silent;

/// The exit code of git where it can do nothing, for whatever reason.
const FATAL: i32 = 128;
/// Its words if there is no repository, whichever git it is. Of any other reason another git may know better, such as
/// one that is older or newer and stands first in the shell's `PATH`: an extension, a form of the index.
const NO_REPOSITORY: [&str; 2] = ["not a git repository", "invalid gitfile format"];
/// The exit code of git for an option that it does not know.
const NO_SUCH_OPTION: i32 = 129;
/// An option that git knows from 2.36 on.
const SPARSE: &str = "--sparse";

/// The settings for a workspace of these folders that is not trusted, in the order in which they hold. `written` is
/// where else commands may write. Blocks.
pub fn untrusted(folders: &[PathBuf], written: &[PathBuf]) -> Vec<(String, String)> {
    let mut guards: Vec<_> = UNTRUSTED.iter().map(|(key, value)| pair(key, value)).collect();
    let held = |why: &str| vec![pair(HELD.0, &format!("{} {why}", HELD.1))];
    // The shell may find one all the same, which runs in the sandbox: where commands write, such as in another project.
    let Some(program) = programs::find("git", &[folders, written].concat()) else {
        return held(
            "there is none that no command may have written, to be asked what the settings of repositories are",
        );
    };
    let program = program.as_path();
    let found = found::repositories(program, folders);
    if found.is_cut {
        return held("it has more repositories or folders than could be looked at");
    }
    let began = Instant::now();
    let mut known: HashSet<_> = guards.iter().cloned().collect();
    let mut bytes = 0;
    let kept = found.kept.iter().map(|folder| (folder, true));
    for (folder, is_kept) in found.work_trees.iter().map(|folder| (folder, false)).chain(kept) {
        let settings =
            if began.elapsed() > PATIENCE_FOR_ALL { Err(Silent) } else { settings(program, folder, is_kept) };
        let Ok(settings) = settings else {
            tracing::warn!(repository = %folder.display(), "git does not say what its settings are");
            return held(&format!("git did not say what the settings of {} are", folder.display()));
        };
        let settings = settings.unwrap_or_default();
        if let Some(why) = unguarded(program, &settings, folder, is_kept) {
            return held(&format!("{} {why}", folder.display()));
        }
        let new = against(&settings).into_iter().filter(|guard| known.insert(guard.clone()));
        guards.extend(new.inspect(|(key, value)| bytes += key.len() + value.len() + NAMES));
        if bytes > MOST_BYTES {
            return held(&format!("{} names more programs than can be replaced", folder.display()));
        }
    }
    guards
}

/// Why settings that come with a repository cannot be guarded against by others.
fn unguarded(git: &Path, settings: &[Setting], folder: &Path, is_kept: bool) -> Option<&'static str> {
    let local = |is_it: fn(&str) -> bool| settings.iter().any(|it| it.is_local && is_it(&it.key));
    if local(|key| matches!(parts(key), ("include" | "includeif", "path"))) {
        return Some("includes settings from a file that can change (include.path)");
    }
    // Of these git takes the first that fits, and the repository's come before those in the environment.
    if local(|key| matches!(parts(key), ("core", "gitproxy") | ("remote", "receivepack" | "uploadpack"))) {
        return Some("names programs for connections (core.gitProxy, remote.*.uploadpack or receivepack)");
    }
    // A guard would have another key.
    if local(|key| key.contains(char::REPLACEMENT_CHARACTER)) {
        return Some("has settings whose names are not UTF-8");
    }
    let work_tree = settings.iter().rev().find(|it| it.is_local && it.key == "core.worktree")?;
    let is_its_own = if is_kept { stays_with_keeper(folder, &work_tree.value) } else { is_top(git, folder) };
    (!is_its_own).then_some("has its files elsewhere (core.worktree)")
}

/// True if git takes a folder for the top of its work tree.
fn is_top(program: &Path, folder: &Path) -> bool {
    let Ok(Some(top)) = git(program, &["rev-parse", "--show-toplevel"], folder) else { return false };
    let top = Path::new(OsStr::from_bytes(top.strip_suffix(b"\n").unwrap_or(&top)));
    top.canonicalize().is_ok_and(|top| folder.canonicalize().is_ok_and(|folder| top == folder))
}

/// True if the work tree that a repository in a `.git` folder names lies beside that folder, as those of submodules do,
/// or will once it is there.
fn stays_with_keeper(repository: &Path, work_tree: &str) -> bool {
    // Behind a name, which may be a link, `..` leads anywhere.
    let mut parts = Path::new(work_tree).components().skip_while(|part| *part == Component::ParentDir);
    let climbs = parts.any(|part| part == Component::ParentDir);
    let keeper = repository.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".git"));
    let keeper = keeper.and_then(|git| git.parent()?.canonicalize().ok());
    let place = repository.canonicalize().ok().and_then(|from| paths::canonical(&from.join(work_tree)).ok());
    !climbs && keeper.zip(place).is_some_and(|(keeper, place)| place.starts_with(keeper))
}

/// Returns the settings that hold against those that come with a repository.
fn against(settings: &[Setting]) -> Vec<(String, String)> {
    let own = settings.iter().filter(|setting| !setting.is_local);
    let own: HashMap<&str, &str> = own.map(|own| (own.key.as_str(), own.value.as_str())).collect();
    let local = || settings.iter().filter(|setting| setting.is_local);
    let neutral = local().filter_map(|setting| {
        let neutral = neutral(setting)?;
        Some(pair(&setting.key, own.get(setting.key.as_str()).unwrap_or(&neutral)))
    });
    let hooks = local().filter_map(|setting| Some(setting.key.strip_prefix("hook.")?.rsplit_once('.')?.0));
    // An event adds to those before it; an empty one takes all away.
    let hooks = hooks.flat_map(|name| {
        [("enabled", "false"), ("event", "")].map(|(last, value)| (format!("hook.{name}.{last}"), value.to_owned()))
    });
    let mut known = HashSet::new();
    let mut guards: Vec<_> = neutral.chain(hooks).filter(|guard| known.insert(guard.clone())).collect();
    let is_helper = |setting: &&Setting| parts(&setting.key) == ("credential", "helper");
    if local().any(|setting| is_helper(&setting)) {
        // Helpers add up; an empty one takes all away, and the user's come again.
        guards.push(("credential.helper".to_owned(), String::new()));
        let again = settings.iter().filter(is_helper).filter(|setting| !setting.is_local);
        guards.extend(again.map(|own| (own.key.clone(), own.value.clone())));
    }
    guards
}

/// Returns what takes the place of a setting's program; `None` if it has none.
fn neutral(setting: &Setting) -> Option<&'static str> {
    let (first, last) = parts(&setting.key);
    if (first, last) == ("submodule", "update") && setting.value.starts_with('!') {
        return Some("checkout");
    }
    let is_it = |(section, name, _): &&(&str, &str, &str)| *section == first && (*name == last || name.is_empty());
    NEUTRAL.iter().find(is_it).map(|(.., value)| *value)
}

/// The first and the last part of a key, which git gives in lower case.
fn parts(key: &str) -> (&str, &str) {
    let first = key.split('.').next().unwrap_or_default();
    (first, key.rsplit('.').next().unwrap_or_default())
}

fn pair(key: &str, value: &str) -> (String, String) {
    (key.to_owned(), value.to_owned())
}

/// Returns what git reads in a work tree, or in a repository itself, whose own settings come after the user's. `None`
/// if that is none; then no command of the shell's reads it either.
fn settings(program: &Path, folder: &Path, is_repository: bool) -> Result<Option<Vec<Setting>>, Silent> {
    // The work tree that the settings themselves name may come to be there later only.
    let place = if is_repository { &["--git-dir=.", "--work-tree=."][..] } else { &["--work-tree=."] };
    let ask = |command: &[&str]| git(program, &[place, command].concat(), folder);
    let told = ask(&["config", "--show-scope", "--includes", "--null", "--list"])?;
    let settings = told.map(|text| read(&String::from_utf8_lossy(&text)));
    // Of a repository that it cannot read, this command says nothing but the user's settings.
    let is_read = settings.iter().flatten().any(|setting| setting.is_local);
    Ok(if is_read || ask(&["rev-parse", "--git-dir"])?.is_some() { settings } else { None })
}

/// Returns git's answer in a folder; `None` if it is no repository, or git is too old for `--sparse`. Git gets only
/// arguments with which it runs nothing and fetches nothing, and looks for programs of its own, such as a script's
/// interpreter in its place, among the system's. The repository's owner does not matter: in the shell it may not.
#[expect(clippy::disallowed_methods, reason = "a repository is asked, and nothing of it is changed")]
fn git(program: &Path, arguments: &[&str], folder: &Path) -> Result<Option<Vec<u8>>, Silent> {
    let mut git = Command::new(program);
    let environment = environment::of_ours(&[]).into_iter().filter(|(name, _)| !environment::loads(name));
    git.env_clear().envs(environment);
    git.args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*"]);
    git.arg("--no-optional-locks").args(arguments).current_dir(folder);
    git.envs([NO_FETCH, ("GIT_ALLOW_PROTOCOL", "none"), ("PATH", programs::USUAL), ("LC_ALL", "C")]);
    let spawned = git.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut git = spawned.map_err(|_| Silent)?;
    let (answer, complaint) = (git.stdout.take().map(all_of), git.stderr.take().map(all_of));
    let until = Instant::now() + PATIENCE;
    let wait = |pipe: Option<Receiver<_>>| pipe?.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
    let (answer, complaint) = (wait(answer), wait(complaint));
    if answer.is_none() || complaint.is_none() {
        let _ = git.kill();
    }
    let status = git.wait().map_err(|_| Silent)?;
    let complaint = String::from_utf8_lossy(&complaint.ok_or(Silent)?).to_ascii_lowercase();
    match status.code() {
        Some(0) => answer.map(Some).ok_or(Silent),
        Some(FATAL) if NO_REPOSITORY.iter().any(|words| complaint.contains(words)) => Ok(None),
        Some(NO_SUCH_OPTION) if arguments.contains(&SPARSE) => Ok(None),
        // It may not find its libraries without the variables that it does not get here, or be too old: what it would
        // read in a shell is not known.
        _ => Err(Silent),
    }
}

/// Reads a pipe to its end on a thread of its own. Sends `None` if it cannot be read.
fn all_of(mut pipe: impl Read + Send + 'static) -> Receiver<Option<Vec<u8>>> {
    let (sender, all) = std::sync::mpsc::channel();
    let read = move || {
        let mut bytes = Vec::new();
        let _ = sender.send(pipe.read_to_end(&mut bytes).is_ok().then_some(bytes));
    };
    // If the system gives no more threads, the sender is gone, and nothing comes.
    let _ = std::thread::Builder::new().spawn(read);
    all
}

/// Reads pairs of a scope and a setting, each with a NUL behind it; a key is parted from its value by a line's end.
fn read(text: &str) -> Vec<Setting> {
    let mut words = text.split('\0');
    let mut settings = Vec::new();
    while let (Some(scope), Some(setting)) = (words.next(), words.next()) {
        let (key, value) = setting.split_once('\n').unwrap_or((setting, "true"));
        let is_local = !matches!(scope, "system" | "global" | "command");
        settings.push(Setting { is_local, key: key.to_owned(), value: value.to_owned() });
    }
    settings
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes its repositories itself")]

    use super::*;

    /// A repository that was handed over with its `.git` folder, in which everything that can be named is a program
    /// that leaves a mark.
    struct Hostile {
        folder: tempfile::TempDir,
    }

    impl Hostile {
        fn new() -> Self {
            let hostile = Self { folder: tempfile::tempdir().unwrap() };
            let repository = hostile.repository();
            std::fs::create_dir(&repository).unwrap();
            hostile.git(&["init", "-q", "-b", "main"], &[]);
            hostile.git(&["config", "user.name", "n"], &[]);
            hostile.git(&["config", "user.email", "n@example.org"], &[]);
            std::fs::write(repository.join("a.txt"), "one\ntwo\n").unwrap();
            hostile.git(&["add", "."], &[]);
            hostile.git(&["commit", "-q", "-m", "first"], &[]);
            std::fs::write(repository.join("a.txt"), "one\nthree\n").unwrap();
            std::fs::write(repository.join(".git/info/attributes"), "*.txt diff=evil filter=evil merge=evil\n")
                .unwrap();
            for (key, with) in [
                ("core.fsmonitor", ""),
                ("diff.external", "; true"),
                ("diff.evil.command", "; true"),
                ("diff.evil.textconv", "; cat"),
                ("filter.evil.clean", "; cat"),
                ("filter.evil.smudge", "; cat"),
                ("merge.evil.driver", "; false"),
                ("core.sshCommand", "; false"),
                ("credential.helper", ""),
            ] {
                let program = format!("!touch {}{with}", hostile.mark().display());
                let program = if key == "credential.helper" { &program } else { program.trim_start_matches('!') };
                hostile.git(&["config", key, program], &[]);
            }
            hostile.git(&["config", "alias.status", &format!("!touch {}", hostile.mark().display())], &[]);
            for hook in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
                let file = repository.join(".git/hooks").join(hook);
                std::fs::write(&file, format!("#!/bin/sh\ntouch {}\n", hostile.mark().display())).unwrap();
                Command::new("chmod").arg("+x").arg(&file).status().unwrap();
            }
            let _ = std::fs::remove_file(hostile.mark());
            hostile
        }

        fn repository(&self) -> PathBuf {
            self.folder.path().join("clone")
        }

        fn mark(&self) -> PathBuf {
            self.folder.path().join("ran")
        }

        /// Runs git with these settings in its environment. Gives what it said.
        fn git(&self, arguments: &[&str], guards: &[(String, String)]) -> String {
            self.git_with(&[], arguments, guards)
        }

        /// The same with more variables.
        fn git_with(&self, variables: &[(&str, &str)], arguments: &[&str], guards: &[(String, String)]) -> String {
            let mut git = Command::new("git");
            git.envs(variables.iter().copied());
            git.args(arguments).current_dir(self.repository()).env("GIT_PAGER", "cat");
            git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_COUNT", guards.len().to_string());
            for (number, (key, value)) in guards.iter().enumerate() {
                git.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
            }
            let output = git.stdin(Stdio::null()).output().unwrap();
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
        }

        fn guards(&self) -> Vec<(String, String)> {
            let always = ALWAYS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            always.chain(untrusted(&[self.repository()], &[])).collect()
        }

        /// Runs git. Returns true if it ran something of the repository, with what it said.
        fn runs(&self, variables: &[(&str, &str)], arguments: &[&str], guards: &[(String, String)]) -> (bool, String) {
            let said = self.git_with(variables, arguments, guards);
            (std::fs::remove_file(self.mark()).is_ok(), said)
        }

        /// Makes a repository in the repository, in which a filter of this name leaves a mark when one looks at it.
        fn more(&self, git_dir: &str, work_tree: &str, filter: &[u8]) {
            let at = |path: &str| self.repository().join(path);
            for folder in [git_dir, work_tree] {
                std::fs::create_dir_all(at(folder)).unwrap();
            }
            let (kept_in, work) = (format!("--git-dir={git_dir}"), format!("--work-tree={work_tree}"));
            let in_it = |arguments: &[&str]| self.git(&[&[kept_in.as_str(), &work], arguments].concat(), &[]);
            in_it(&["init", "-q", "-b", "main"]);
            std::fs::write(at(work_tree).join("b.txt"), "one\n").unwrap();
            in_it(&["add", "b.txt"]);
            in_it(&["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "x"]);
            std::fs::create_dir_all(at(git_dir).join("info")).unwrap();
            std::fs::write(at(git_dir).join("info/attributes"), [b"*.txt filter=", filter].concat()).unwrap();
            let program = format!("\"]\n clean = touch {}; cat\n", self.mark().display());
            let config = std::fs::read(at(git_dir).join("config")).unwrap();
            let config = [&config, &b"[filter \""[..], filter, program.as_bytes()].concat();
            std::fs::write(at(git_dir).join("config"), config).unwrap();
            std::fs::write(at(work_tree).join("b.txt"), "two\n").unwrap();
            // Git takes a file of the same size for unchanged that was written in the second in which it was added.
            let file = std::fs::File::options().write(true).open(at(work_tree).join("b.txt")).unwrap();
            file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3_600)).unwrap();
        }
    }

    #[test]
    fn looking_at_a_hostile_repository_and_working_in_it_runs_nothing_that_it_names() {
        let hostile = Hostile::new();
        let guards = hostile.guards();
        let work: &[&[&str]] = &[
            &["status", "--short"],
            &["diff"],
            &["log", "-p", "--ext-diff"],
            &["show", "--textconv", "HEAD"],
            &["blame", "a.txt"],
            &["stash"],
            &["checkout", "-q", "-b", "other"],
            &["stash", "pop"],
            &["commit", "-q", "-a", "-m", "second"],
            &["checkout", "-q", "main"],
            &["merge", "-q", "other"],
            &["fetch", "ssh://127.0.0.1:1/x"],
        ];
        for arguments in work {
            let said = hostile.git(arguments, &guards);
            assert!(!hostile.mark().exists(), "git {arguments:?} ran something: {said}");
        }
        assert!(hostile.git(&["log", "--oneline"], &guards).contains("second"), "the work was done");
        // The test would see it: without the settings, it runs.
        for arguments in [&["status"][..], &["diff"], &["checkout", "-q", "other"]] {
            std::fs::write(hostile.repository().join("a.txt"), "one\nfour\n").unwrap();
            let said = hostile.git(arguments, &[]);
            assert!(std::fs::remove_file(hostile.mark()).is_ok(), "git {arguments:?}: {said}");
        }
    }

    /// The settings that are there without a look at any repository.
    fn fixed() -> Vec<(String, String)> {
        ALWAYS.iter().chain(UNTRUSTED).map(|(key, value)| pair(key, value)).collect()
    }

    #[test]
    fn what_is_missing_is_fetched_by_no_program_of_the_repository() {
        let hostile = Hostile::new();
        let blob = hostile.git(&["rev-parse", "HEAD:a.txt"], &fixed());
        let (folder, name) = blob.trim().split_at(2);
        std::fs::remove_file(hostile.repository().join(".git/objects").join(folder).join(name)).unwrap();
        for (key, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", "."),
            ("remote.origin.uploadpack", &format!("touch {}; git-upload-pack", hostile.mark().display())),
        ] {
            hostile.git(&["config", key, value], &fixed());
        }
        let look = ["cat-file", "-p", "HEAD:a.txt"];
        let (ran, said) = hostile.runs(&[], &look, &fixed());
        assert!(ran, "the test would see it: {said}");
        let (ran, said) = hostile.runs(&[NO_FETCH], &look, &fixed());
        assert!(!ran, "{said}");
        let (ran, said) = hostile.runs(&[], &look, &hostile.guards());
        assert!(!ran && said.contains("until you trust the folder"), "{said}");
    }

    #[test]
    fn git_does_not_work_where_a_setting_has_a_name_that_is_not_utf_8() {
        let hostile = Hostile::new();
        hostile.more("more/.git", "more", b"\xff");
        let look = ["-C", "more", "status"];
        let (ran, said) = hostile.runs(&[], &look, &fixed());
        assert!(ran, "the test would see it: {said}");
        let (ran, said) = hostile.runs(&[], &look, &hostile.guards());
        assert!(!ran && said.contains("until you trust the folder"), "{said}");
    }

    #[test]
    fn a_repository_in_a_git_folder_runs_nothing() {
        for (git_dir, work_tree, of_settings) in [
            (".git/evil/.git", ".git/evil", None),
            (".git/worktrees/evil", ".git/worktrees/evil", Some(".")),
            (".git/modules/evil", ".git/modules/evil", Some(".")),
            (".git/modules/a/b/evil", "beside", Some("../../../../../beside")),
        ] {
            let hostile = Hostile::new();
            hostile.more(git_dir, work_tree, b"more");
            let folder = if of_settings.is_some() { git_dir } else { work_tree };
            let config = |key: &str, value: &str| {
                let config = format!("--file={git_dir}/config");
                hostile.git(&["config", &config, key, value], &fixed());
            };
            config("core.bare", "false");
            of_settings.inspect(|work_tree| config("core.worktree", work_tree));
            if git_dir == ".git/modules/evil" {
                let head = hostile.repository().join(git_dir).join("HEAD");
                std::fs::remove_file(&head).unwrap();
                std::os::unix::fs::symlink("refs/heads/nowhere", head).unwrap();
            }
            let look = ["-C", folder, "status"];
            let (ran, said) = hostile.runs(&[], &look, &fixed());
            assert!(ran, "the test would see it in {folder}: {said}");
            let (ran, said) = hostile.runs(&[], &look, &hostile.guards());
            assert!(!ran && said.contains("b.txt"), "{folder}: {said}");
            if folder == git_dir {
                // While its files are not there, git says nothing of its settings.
                let (there, away) = (hostile.repository().join("beside"), hostile.repository().join("away"));
                let is_away = std::fs::rename(&there, &away).is_ok();
                let guards = hostile.guards();
                assert!(!is_away || std::fs::rename(&away, &there).is_ok());
                let (ran, said) = hostile.runs(&[], &look, &guards);
                assert!(!ran && said.contains("b.txt"), "{folder}: {said}");
                let up = "../".repeat(git_dir.split('/').count());
                std::os::unix::fs::symlink(hostile.folder.path(), hostile.repository().join("link")).unwrap();
                for elsewhere in ["/", "..", "link", "link/../x"] {
                    config("core.worktree", &Path::new(&up).join(elsewhere).to_string_lossy());
                    let said = hostile.git(&["status"], &hostile.guards());
                    assert!(said.contains("until you trust the folder"), "{folder} {elsewhere}: {said}");
                }
            }
        }
    }

    #[test]
    fn a_repository_whose_settings_lie_elsewhere_in_the_workspace_runs_nothing() {
        let hostile = Hostile::new();
        hostile.more("data", "data", b"more");
        let kept = hostile.repository().join(".git/worktrees/evil");
        std::fs::create_dir_all(&kept).unwrap();
        for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("commondir", "../../../data\n")] {
            std::fs::write(kept.join(name), text).unwrap();
        }
        std::fs::write(kept.join("config.worktree"), "[core]\n worktree = ../../../data\n bare = false\n").unwrap();
        std::fs::copy(hostile.repository().join("data/index"), kept.join("index")).unwrap();
        for (key, value) in [("core.bare", "false"), ("extensions.worktreeConfig", "true")] {
            hostile.git(&["config", "--file=data/config", key, value], &fixed());
        }
        let look = ["-C", ".git/worktrees/evil", "status"];
        let (ran, said) = hostile.runs(&[], &look, &fixed());
        assert!(ran, "the test would see it: {said}");
        let (ran, said) = hostile.runs(&[], &look, &hostile.guards());
        assert!(!ran && !said.contains("fatal"), "{said}");
    }

    #[test]
    fn git_does_not_work_where_more_programs_are_named_than_the_environment_has_room_for() {
        let many: String = (0..100_000).map(|number| format!("[filter \"{number}\"]\nclean=x\n")).collect();
        let long = format!("[filter \"{}\"]\nclean=x\n", "x".repeat(MOST_BYTES));
        for settings in [many, long] {
            let hostile = Hostile::new();
            let config = hostile.repository().join(".git/config");
            std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + &settings).unwrap();
            let began = Instant::now();
            let said = hostile.git(&["status"], &hostile.guards());
            assert!(said.contains("until you trust the folder"), "{said}");
            assert!(began.elapsed() < Duration::from_secs(20), "it took {:?}", began.elapsed());
        }
    }

    #[test]
    fn a_difference_is_shown_though_the_repository_has_its_own_way_to_show_it() {
        let hostile = Hostile::new();
        let said = hostile.git(&["diff"], &hostile.guards());
        assert!(said.contains("-two\n+three\n"), "{said}");
    }

    /// Settings of a repository's, after the user's.
    fn local(settings: &[(&str, &str)]) -> Vec<Setting> {
        let local =
            |(key, value): &(&str, &str)| Setting { is_local: true, key: (*key).into(), value: (*value).into() };
        settings.iter().map(local).collect()
    }

    #[test]
    fn a_submodule_runs_nothing_wherever_it_is_checked_out() {
        let hostile = Hostile::new();
        let repository = hostile.repository();
        for place in ["target", "node_modules/x", "a/b/c/d/e/f"] {
            // The submodule's own repository lies in the outer one's, as an archive would bring it.
            let name = place.replace('/', "-");
            let inner = repository.join(place);
            std::fs::create_dir_all(&inner).unwrap();
            let kept = repository.join(".git/modules").join(&name);
            std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
            let work = format!("--work-tree={}", inner.display());
            let kept_in = format!("--git-dir={}", kept.display());
            let in_it = |arguments: &[&str]| hostile.git(&[&[kept_in.as_str(), &work], arguments].concat(), &[]);
            in_it(&["init", "-q"]);
            std::fs::write(inner.join(".git"), format!("gitdir: {}\n", kept.display())).unwrap();
            std::fs::write(inner.join("a.txt"), "one\n").unwrap();
            in_it(&["add", "a.txt"]);
            in_it(&["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "-m", "x"]);
            hostile.git(&["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "add", "-f", place], &[]);
            std::fs::create_dir_all(kept.join("info")).unwrap();
            std::fs::write(kept.join("info/attributes"), format!("*.txt filter={name}\n")).unwrap();
            in_it(&["config", "core.bare", "false"]);
            in_it(&["config", &format!("filter.{name}.clean"), &format!("touch {}; cat", hostile.mark().display())]);
            std::fs::write(inner.join("a.txt"), "two\n").unwrap();
            let _ = std::fs::remove_file(hostile.mark());
            let into = ["status", "--ignore-submodules=none"];
            let said = hostile.git(&into, &fixed());
            assert!(std::fs::remove_file(hostile.mark()).is_ok(), "without a look at it, it runs: {said}");
            for arguments in [&into[..], &["status"], &["-C", place, "diff"], &["diff", "--submodule=diff"]] {
                let said = hostile.git(arguments, &hostile.guards());
                assert!(!hostile.mark().exists(), "git {arguments:?} ran something in {place}: {said}");
                assert!(!said.contains("fatal"), "git {arguments:?}: {said}");
            }
        }
    }

    #[test]
    fn git_does_not_work_where_a_repository_reads_settings_or_has_files_elsewhere() {
        for (key, value) in [
            ("include.path", "../a.cfg"),
            ("includeIf.onbranch:x.path", "../a.cfg"),
            ("core.worktree", "/"),
            ("core.worktree", "../nowhere"),
            ("core.gitProxy", "evil"),
            ("remote.origin.uploadpack", "evil"),
            ("remote.origin.receivepack", "evil"),
        ] {
            let hostile = Hostile::new();
            assert!(!hostile.git(&["diff"], &hostile.guards()).contains("fatal"));
            hostile.git(&["config", key, value], &[]);
            let guards = hostile.guards();
            // One that is not there may come to be.
            std::fs::create_dir(hostile.repository().join("nowhere")).unwrap();
            for arguments in [&["status"][..], &["diff"], &["log"], &["grep", "x"], &["blame", "a.txt"]] {
                let said = hostile.git(arguments, &guards);
                assert!(said.contains("until you trust the folder"), "git {arguments:?} with {key}: {said}");
            }
            assert!(!hostile.mark().exists());
        }
    }

    #[test]
    fn git_does_not_work_where_not_all_repositories_could_be_looked_at() {
        let hostile = Hostile::new();
        for number in 0..=found::MOST_REPOSITORIES {
            std::fs::create_dir_all(hostile.repository().join(number.to_string()).join(".git")).unwrap();
        }
        let said = hostile.git(&["status"], &hostile.guards());
        assert!(said.contains("until you trust the folder"), "{said}");
    }

    #[test]
    fn git_does_not_work_where_only_one_is_there_that_commands_may_have_written() {
        let hostile = Hostile::new();
        let anywhere = [PathBuf::from("/")];
        let said = hostile.git(&["status"], &untrusted(&[hostile.repository()], &anywhere));
        assert!(said.contains("until you trust the folder") && said.contains("there is none"), "{said}");
        assert!(!hostile.mark().exists());
    }

    #[test]
    fn git_does_not_work_where_a_repository_is_not_read_that_another_git_might_read() {
        let index = |hostile: &Hostile| std::fs::write(hostile.repository().join(".git/index"), "of tomorrow").unwrap();
        let settings = |hostile: &Hostile, text: &str| {
            let config = hostile.repository().join(".git/config");
            std::fs::write(&config, std::fs::read_to_string(&config).unwrap() + text).unwrap();
        };
        let extension = "[core]\n repositoryFormatVersion = 1\n[extensions]\n ofTomorrow = true\n";
        for text in [extension, "[ofTomorrow!]\n x = 1\n"] {
            let hostile = Hostile::new();
            assert_eq!(nowhere(&hostile.guards()), None);
            settings(&hostile, text);
            assert!(nowhere(&hostile.guards()).is_some(), "{text}");
        }
        // The submodules of a repository around the workspace are in its index.
        let hostile = Hostile::new();
        let inside = hostile.repository().join("inside");
        std::fs::create_dir(&inside).unwrap();
        assert_eq!(nowhere(&untrusted(std::slice::from_ref(&inside), &[])), None);
        index(&hostile);
        assert!(nowhere(&untrusted(&[inside], &[])).is_some());
        // A folder that is no repository for any git keeps none from working.
        let hostile = Hostile::new();
        std::fs::create_dir_all(hostile.repository().join("empty/.git")).unwrap();
        for (name, text) in [("gone", "gitdir: ../nowhere\n"), ("other", "no link\n")] {
            std::fs::create_dir(hostile.repository().join(name)).unwrap();
            std::fs::write(hostile.repository().join(name).join(".git"), text).unwrap();
        }
        assert_eq!(nowhere(&hostile.guards()), None);
    }

    #[test]
    fn a_repository_runs_nothing_whoever_owns_it() {
        let hostile = Hostile::new();
        // Only root gives files away.
        let is_given = std::os::unix::fs::chown(hostile.repository(), Some(12_345), None).is_ok();
        let look = ["-c", "safe.directory=*", "diff"];
        let (ran, said) = hostile.runs(&[], &look, &fixed());
        assert!(ran, "the test would see it: {said}");
        let (ran, said) = hostile.runs(&[], &look, &hostile.guards());
        assert!(!ran && said.contains("-two\n+three\n"), "given away: {is_given}: {said}");
    }

    #[test]
    fn hooks_that_settings_name_are_switched_off() {
        let of_hooks = [("hook.a.b.command", "evil"), ("hook.a.b.event", "post-index-change")];
        assert_eq!(against(&local(&of_hooks)), [pair("hook.a.b.enabled", "false"), pair("hook.a.b.event", "")]);

        let hostile = Hostile::new();
        let mark = format!("touch {}", hostile.mark().display());
        for (key, value) in [("hook.evil.command", mark.as_str()), ("hook.evil.event", "pre-commit")] {
            hostile.git(&["config", key, value], &[]);
        }
        let commit = ["commit", "-q", "--allow-empty", "-m", "x"];
        // Before 2.54 git knows of no such hooks, so that this cannot fail with it.
        let said = hostile.git(&commit, &hostile.guards());
        assert!(!hostile.mark().exists(), "{said}");
    }

    #[test]
    fn settings_of_the_users_own_are_kept() {
        let text = "global\0filter.lfs.clean\ngit-lfs clean\0global\0credential.helper\nstore\0local\0filter.lfs.clean\n\
                    evil\0local\0credential.https://x.helper\nevil\0local\0remote.origin.url\nhttps://x\0";
        let expected = [
            pair("filter.lfs.clean", "git-lfs clean"),
            pair("credential.helper", ""),
            pair("credential.helper", "store"),
        ];
        assert_eq!(against(&read(text)), expected);
    }

    #[test]
    fn where_git_cannot_say_its_settings_it_ends_at_once_and_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let of_git = |environment: Vec<_>, arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(arguments).current_dir(folder.path()).env_clear().envs(environment);
            git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            git.spawn().unwrap()
        };
        assert!(of_git(std::env::vars_os().collect(), &["init", "-q"]).wait().unwrap().success());
        let (pipe, config) = (folder.path().join("pipe"), folder.path().join(".git/config"));
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, format!("{text}[include]\n\tpath = ../pipe\n")).unwrap();

        let guards = untrusted(&[folder.path().to_owned()], &[]);
        let mut git = of_git(environment::for_shell(std::env::vars_os(), &[], &guards, &[]), &["status"]);
        let (sender, said) = std::sync::mpsc::channel();
        let mut errors = git.stderr.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            let _ = sender.send(text);
        });
        let said = said.recv_timeout(Duration::from_secs(10));
        let _ = git.kill();
        git.wait().unwrap();
        reader.join().unwrap();
        let said = said.expect("git waits for the pipe");
        assert!(
            said.contains("until you trust the folder") && said.contains("did not say what the settings"),
            "{said}"
        );
    }
}
