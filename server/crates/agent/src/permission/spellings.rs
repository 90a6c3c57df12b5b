//! The ways in which the same command or file can be written, for rules that deny and ask: told too often rather than too
//! seldom. What is allowed is never found by them.

use super::rule::text_fits;
use super::{SimpleCommand, Word, read_only};

/// Options of git's own, before its subcommand, whose value is the next word.
const OF_GIT: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--list-cmds",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// What git runs that its arguments or settings name.
const GIT_RUNS: &[&str] = &["bisect", "config", "difftool", "filter-branch", "mergetool", "rebase", "submodule"];

/// Programs that go through folders by themselves.
const GOES_THROUGH: &[&str] = &["7z", "7za", "ack", "ag", "bsdtar", "fd", "rg", "rsync", "tar", "ugrep", "zip"];

/// Programs that go through folders where a flag says so.
const MAY_GO_THROUGH: &[&str] = &["cp", "diff", "egrep", "fgrep", "grep", "scp"];

/// Programs that change the files they are given.
const CHANGES: &[&str] =
    &["cp", "dd", "install", "ln", "mv", "patch", "perl", "rm", "rsync", "sed", "shred", "tee", "touch", "truncate"];

/// The command without the options that stand before what it is told to do: `git push` of `git -C . push`.
pub(super) fn without_options(words: &[Word]) -> Vec<Vec<Word>> {
    let Some((Word::Known(name), rest)) = words.split_first() else { return Vec::new() };
    if let Some(subcommand) = name.strip_prefix("git-").filter(|rest| !rest.is_empty()) {
        let whole = ["git", subcommand].map(|word| Word::Known(word.to_owned()));
        return vec![whole.into_iter().chain(rest.iter().cloned()).collect()];
    }
    let is_option = |word: &Word| matches!(word, Word::Known(text) if text.starts_with(['-', '+']) && text.len() > 1);
    let mut found = Vec::new();
    let mut at = 0;
    while rest.get(at).is_some_and(is_option) && at < 32 {
        let is_valued = match rest.get(at) {
            Some(Word::Known(option)) if name == "git" => OF_GIT.contains(&option.as_str()),
            // Which option of another program takes a value is not for us to know.
            _ => {
                found.push(at + 1);
                matches!(rest.get(at + 1), Some(word) if !is_option(word)) && rest.len() > at + 2
            }
        };
        at += if is_valued { 2 } else { 1 };
    }
    found.push(at);
    found.dedup();
    let begun = found.into_iter().filter(|at| *at > 0).filter_map(|at| rest.get(at..));
    let told = begun.filter(|rest| {
        let is_told = |word: &Word| !is_option(word) && (name == "git" || matches!(word, Word::Known(_)));
        rest.first().is_some_and(is_told)
    });
    told.map(|rest| words.iter().take(1).chain(rest).cloned().collect()).collect()
}

/// Whether the text of a command could have the words of a rule run, as in code (`python -c "…"`), behind a program that runs
/// others, or as git's alias.
pub(super) fn may_run(command: &SimpleCommand, wanted: &[&str]) -> bool {
    let texts: Vec<&str> = command.words.iter().map(text).collect();
    let name = texts.first().copied().unwrap_or_default();
    let only_talks = matches!(name, "echo" | "printf" | "cat" | "tee" | "grep" | "rg" | "gh");
    let is_alias = |text: &&str| text.starts_with("alias.") || text.contains("=alias.");
    let is_git = name == "git" && !texts.iter().any(|text| GIT_RUNS.contains(text) || is_alias(text));
    if wanted.is_empty() || only_talks || is_git {
        return false;
    }
    // What such an alias stands for is known only when it runs.
    let is_from_elsewhere = texts.iter().any(|text| text.starts_with("--config-env"));
    if name == "git" && wanted.first() == Some(&"git") && is_from_elsewhere && texts.iter().any(is_alias) {
        return true;
    }
    match wanted {
        // One word alone may be any, so only code is looked at.
        [_] => texts.iter().any(|text| is_code(text) && mentions(text, wanted)),
        _ => {
            let alias =
                texts.iter().filter_map(|text| text.strip_prefix("alias.")).filter_map(|text| text.split_once('='));
            let aliased = alias.map(|(_, value)| format!("git {}", value.trim_start_matches('!')));
            mentions(&texts.join(" "), wanted) || aliased.into_iter().any(|text| mentions(&text, wanted))
        }
    }
}

/// Whether words stand one after the other in a text, whatever stands between them but letters.
pub(super) fn mentions(text: &str, wanted: &[&str]) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || "-_.:@+".contains(c);
    let words: Vec<&str> = text.split(|c: char| !is_of_word(c)).filter(|word| !word.is_empty()).collect();
    !wanted.is_empty() && words.windows(wanted.len()).any(|some| some == wanted)
}

/// The files that a word may name besides the one of its whole text: `.env` of `--env-file=.env`, `HEAD:.env`, `@.env`,
/// `-f.env`.
pub(super) fn files_in(word: &str) -> Vec<&str> {
    let mut files: Vec<&str> = word.split(['=', '@', ':', ',']).collect();
    if word.starts_with('-') && !word.starts_with("--") {
        files.extend(word.get(2..));
    }
    files.retain(|file| !file.is_empty() && *file != word);
    files
}

/// Whether a text could name a file that a rule is about, once its globs are known; or names it where the folder is not
/// known. Of both the last names are looked at.
pub(super) fn may_name(written: &str, pattern: &str) -> bool {
    let last = |path: &str| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
    let (written, pattern) = (last(&loosened(written)), last(pattern));
    if pattern.contains('*') && written.contains('*') {
        let begins = |text: &str| text.split('*').next().unwrap_or_default().to_owned();
        let (one, other) = (begins(&written), begins(&pattern));
        return one.starts_with(&other) || other.starts_with(&one);
    }
    !written.is_empty() && (text_fits(&written, &pattern) || text_fits(&pattern, &written))
}

/// Whether a text has a glob in it.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// Whether a command goes through folders, and so comes upon files that it does not name.
pub(super) fn goes_through(command: &SimpleCommand, pattern: &str) -> bool {
    let texts: Vec<&str> = command.words.iter().map(text).collect();
    let Some((name, arguments)) = texts.split_first() else { return false };
    let name = name.rsplit('/').next().unwrap_or(name);
    let has = |letters: &[char], long: &[&str]| {
        arguments.iter().any(|word| match word.strip_prefix("--") {
            Some(flag) => long.contains(&flag),
            None => word.starts_with('-') && word.contains(letters),
        })
    };
    // What is hidden these leave out, unless they are told not to.
    let is_hidden = pattern.rsplit('/').next().is_some_and(|last| last.starts_with('.'));
    if matches!(name, "rg" | "fd" | "ag") && is_hidden {
        return has(&['.', 'u', 'H'], &["hidden", "no-ignore", "unrestricted"]);
    }
    GOES_THROUGH.contains(&name)
        || (MAY_GO_THROUGH.contains(&name) && has(&['r', 'R', 'a'], &["recursive", "dereference-recursive", "archive"]))
        || (matches!(name, "docker" | "podman") && arguments.contains(&"build"))
}

/// Whether a command changes the files that it is given.
pub(super) fn changes_files(command: &SimpleCommand) -> bool {
    let name = command.words.first().map(text).unwrap_or_default();
    CHANGES.contains(&name.rsplit('/').next().unwrap_or(name))
}

/// Whether a command may show what is in files.
pub(super) fn shows_files(command: &SimpleCommand) -> bool {
    !read_only::only_names(&command.words)
}

/// A word as it is written.
pub(super) fn text(word: &Word) -> &str {
    match word {
        Word::Known(text) | Word::Unknown(text) => text,
    }
}

/// Whether a word can only be code, or a sentence.
pub(super) fn is_code(text: &str) -> bool {
    text.contains(|c: char| c.is_whitespace() || "('\"`;|&<>".contains(c))
}

/// A glob with nothing but `*` in it.
fn loosened(glob: &str) -> String {
    let mut loose = String::new();
    let mut rest = glob.chars();
    while let Some(c) = rest.next() {
        match c {
            '?' => loose.push('*'),
            '[' | '{' => {
                let end = if c == '[' { ']' } else { '}' };
                let inside = rest.by_ref().take_while(|c| *c != end).count();
                loose.push(if inside == 0 { c } else { '*' });
            }
            '\\' | '"' | '\'' => {}
            _ => loose.push(c),
        }
    }
    loose
}
