//! What keeps git from running programs that a repository names, in a workspace that is not trusted.
//!
//! Git runs what a repository's configuration says: hooks, filters and diff drivers at a mere `git status` or `git diff`. A
//! clone does not bring that configuration along, but an archive with a `.git` folder does. Settings in the environment
//! hold over those of any repository. Keys with fixed names are set there blindly; those whose names the repository chooses
//! (`filter.<name>.clean`) are looked up first, which runs nothing.

#![expect(clippy::disallowed_methods, reason = "it is looked for repositories, and nothing of them is changed")]

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What merely looks at a repository (`git status`, after a `cd` even) never runs a program of it, trusted or not. A clone
/// can hold a bare repository whose own settings name one.
pub(super) const ALWAYS: &[(&str, &str)] = &[("core.fsmonitor", "false"), ("safe.bareRepository", "explicit")];

/// What else is set in a workspace that is not trusted, whatever its repositories say. Housekeeping, which runs by itself
/// after a commit, has a hook that no later value takes away.
const UNTRUSTED: &[(&str, &str)] = &[
    ("core.hooksPath", "/dev/null"),
    ("protocol.ext.allow", "never"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
];

/// A diff as any, in place of a driver's own. Git calls it with the path and, for each side, file, hash and mode.
const DIFF: &str = r#"f() { diff -u -- "$2" "$5"; true; }; f"#;

/// What takes the place of a program, by the first and last part of its key. Where the user's own settings have the key,
/// their value does. An empty value is no program.
const NEUTRAL: &[(&str, &str, &str)] = &[
    ("core", "alternaterefscommand", "true"),
    ("core", "askpass", ""),
    ("core", "editor", "vi"),
    ("core", "gitproxy", "none"),
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
    ("remote", "receivepack", "git-receive-pack"),
    ("remote", "uploadpack", "git-upload-pack"),
    ("sequence", "editor", "vi"),
    ("tar", "command", "cat"),
    ("trailer", "cmd", "true"),
    ("trailer", "command", "true"),
];

/// How deep below a workspace's folder repositories are looked for, and in how many folders at most.
const DEPTH: usize = 4;
const MOST_FOLDERS: usize = 2000;
/// So many repositories are looked at.
const MOST_REPOSITORIES: usize = 16;
/// Folders in which no repository of the user's lies, and many others do.
const PASSED_OVER: &[&str] = &[".git", "node_modules", "target", ".venv"];
/// How long git may take to say what its settings are; it takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// A setting as git gives it.
struct Setting {
    /// Whether it comes with the repository.
    is_local: bool,
    key: String,
    value: String,
}

/// The settings for a workspace of these folders that is not trusted, in the order in which they hold. Blocks.
pub(super) fn untrusted(folders: &[PathBuf]) -> Vec<(String, String)> {
    let mut guards: Vec<_> = UNTRUSTED.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    for repository in repositories(folders) {
        for guard in settings(&repository).map(|settings| against(&settings)).unwrap_or_default() {
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
    }
    guards
}

/// What holds against the settings that come with a repository.
fn against(settings: &[Setting]) -> Vec<(String, String)> {
    let mut guards: Vec<(String, String)> = Vec::new();
    let own = |key: &str| settings.iter().rev().find(|own| !own.is_local && own.key == key);
    for setting in settings.iter().filter(|setting| setting.is_local) {
        if let Some(neutral) = neutral(setting) {
            let value = own(&setting.key).map_or(neutral, |own| &own.value);
            let guard = (setting.key.clone(), value.to_owned());
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
    }
    let is_helper = |setting: &&Setting| parts(&setting.key) == ("credential", "helper");
    if settings.iter().filter(is_helper).any(|setting| setting.is_local) {
        // Helpers add up; an empty one takes all away, and the user's come again.
        guards.push(("credential.helper".to_owned(), String::new()));
        let again = settings.iter().filter(is_helper).filter(|setting| !setting.is_local);
        guards.extend(again.map(|own| (own.key.clone(), own.value.clone())));
    }
    guards
}

/// What takes the place of a setting's program; none where it has none.
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

/// The repositories that folders lie in, and that lie in them.
fn repositories(folders: &[PathBuf]) -> BTreeSet<PathBuf> {
    let has_git = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
    let mut found = BTreeSet::new();
    for folder in folders {
        found.extend(folder.ancestors().find(|folder| has_git(folder)).map(Path::to_path_buf));
        let (mut waiting, mut seen) = (vec![(folder.clone(), 0)], 0);
        while let Some((folder, depth)) = waiting.pop() {
            seen += 1;
            if seen > MOST_FOLDERS || found.len() >= MOST_REPOSITORIES {
                break;
            }
            if has_git(&folder) {
                found.insert(folder.clone());
            }
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().filter(|_| depth < DEPTH);
            // A link is no folder here, so that none is followed.
            let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            let inside = folders.filter(|entry| !PASSED_OVER.iter().any(|name| entry.file_name() == *name));
            waiting.extend(inside.map(|entry| (entry.path(), depth + 1)));
        }
    }
    found
}

/// What git reads in a repository, its own settings after the user's. None where git is not there, does not take it for one,
/// or does not answer, as where a file that is included is a pipe; then no command of the shell's reads it either.
fn settings(repository: &Path) -> Option<Vec<Setting>> {
    let mut git = Command::new("git")
        .args(["config", "--show-scope", "--includes", "--null", "--list"])
        .current_dir(repository)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut output = git.stdout.take()?;
    let (sender, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.read_to_end(&mut bytes).is_ok();
        let _ = sender.send(read.then_some(bytes));
    });
    let until = Instant::now() + PATIENCE;
    let bytes = answer.recv_timeout(until.saturating_duration_since(Instant::now())).ok().flatten();
    if bytes.is_none() {
        tracing::warn!(repository = %repository.display(), "git does not say what its settings are");
        let _ = git.kill();
    }
    let _ = git.wait();
    Some(read(&String::from_utf8_lossy(&bytes?)))
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
    use super::*;

    /// A repository that was handed over with its `.git` folder, in which everything that can be named is a program that
    /// leaves a mark.
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
            let mut git = Command::new("git");
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
            always.chain(untrusted(&[self.repository()])).collect()
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

    #[test]
    fn a_difference_is_shown_though_the_repository_has_its_own_way_to_show_it() {
        let hostile = Hostile::new();
        let said = hostile.git(&["diff"], &hostile.guards());
        assert!(said.contains("-two\n+three\n"), "{said}");
    }

    #[test]
    fn repositories_below_the_workspace_are_found_and_the_one_that_it_lies_in() {
        let hostile = Hostile::new();
        let found = |folder: &Path| repositories(&[folder.to_path_buf()]).into_iter().collect::<Vec<_>>();
        assert_eq!(found(hostile.folder.path()), [hostile.repository()]);
        let deep = hostile.repository().join("src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(found(&deep), [hostile.repository()]);
    }

    #[test]
    fn settings_of_the_users_own_are_kept() {
        let text = "global\0filter.lfs.clean\ngit-lfs clean\0global\0credential.helper\nstore\0local\0filter.lfs.clean\n\
                    evil\0local\0credential.https://x.helper\nevil\0local\0remote.origin.url\nhttps://x\0";
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = [
            pair("filter.lfs.clean", "git-lfs clean"),
            pair("credential.helper", ""),
            pair("credential.helper", "store"),
        ];
        assert_eq!(against(&read(text)), expected);
    }
}
