//! The ways in which the same command or file can be written, for rules that deny and ask: told too often rather than
//! too seldom. What is allowed is never found by them.

use std::collections::BTreeSet;

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

/// The endings of the names of settings, variables and options whose value is run, without what joins their words.
const RUN: &[&str] = &[
    "askpass",
    "bashenv",
    "clean",
    "cmd",
    "command",
    "driver",
    "editor",
    "exec",
    "execbatch",
    "external",
    "externaldiff",
    "difffilter",
    "fsmonitor",
    "gitproxy",
    "helper",
    "hook",
    "lessclose",
    "lessopen",
    "pager",
    "pre",
    "process",
    "program",
    "receivepack",
    "rsh",
    "runner",
    "shell",
    "smudge",
    "ssh",
    "textconv",
    "uploadpack",
    "visual",
    "wrapper",
];

/// Programs that only show or keep the text they are given.
const TALKS: &[&str] = &["echo", "printf", "cat", "tee", "grep", "egrep", "fgrep", "rg", "gh"];

/// Subcommands of git that take messages and texts to look for.
const GIT_TALKS: &[&str] = &[
    "blame",
    "branch",
    "commit",
    "diff",
    "for-each-ref",
    "format-patch",
    "grep",
    "log",
    "merge",
    "notes",
    "range-diff",
    "reflog",
    "rev-list",
    "shortlog",
    "show",
    "stash",
    "tag",
    "whatchanged",
    "worktree",
];

/// Their options whose value is such a text.
const GIT_TEXTS: &[&str] = &[
    "--after",
    "--author",
    "--before",
    "--date",
    "--format",
    "--grep",
    "--grep-reflog",
    "--message",
    "--pretty",
    "--reason",
    "--since",
    "--sort",
    "--trailer",
    "--until",
    "-G",
    "-S",
    "-m",
];

/// Programs that go through folders by themselves.
const GOES_THROUGH: &[&str] = &["7z", "7za", "ack", "ag", "bsdtar", "fd", "rg", "rsync", "tar", "ugrep", "zip"];

/// Programs that go through folders where a flag says so.
const MAY_GO_THROUGH: &[&str] = &["cp", "diff", "egrep", "fgrep", "grep", "scp"];

/// Programs that change the files they are given.
const CHANGES: &[&str] =
    &["cp", "dd", "install", "ln", "mv", "patch", "perl", "rm", "rsync", "sed", "shred", "tee", "touch", "truncate"];

/// Programs that show nothing of what is in files, though they do more than read.
const SHOWS_NOTHING: &[&str] = &["chmod", "export", "kill", "mkdir", "rm", "rmdir", "sleep", "touch", "unset"];

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
            // It is not for us to know which option of another program takes a value.
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

/// A text that a command may run, or hand on to what it runs.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) text: String,
    /// True if it is known to be run, so that one word alone is a program.
    pub(super) is_run: bool,
    /// True if it is known only when it runs.
    pub(super) is_unknown: bool,
}

/// The texts that a command may run as code: values of variables, settings and options, code in the line, and what
/// stands behind a program that runs others. What is known to be text alone, such as the message of a commit, is none.
pub(super) fn codes(command: &SimpleCommand) -> Vec<Code> {
    let is_unknown = |text: &str| text.contains(['$', '`']);
    let mut codes = Vec::new();
    for assignment in &command.assignments {
        let unquoted = assignment.replace(['"', '\'', '\\'], "");
        for set in [assignment.as_str(), unquoted.as_str()] {
            let values = values(set);
            codes.extend(values.map(|(name, value)| Code { is_unknown: is_unknown(value), ..Code::of(name, value) }));
        }
    }
    let words = run_words(command);
    let of_git = command.words.split_first().filter(|(name, _)| bare(text(name)) == "git").map(|(_, words)| words);
    let sets = of_git.is_some_and(|words| words.iter().any(|word| text(word) == "config"));
    let run = run_places(bare(command.words.first().map(text).unwrap_or_default()), &words);
    for (at, word) in words.iter().enumerate() {
        let text = text(word);
        let is_open = matches!(word, Word::Unknown(_)) && is_unknown(text);
        let option = at.checked_sub(1).and_then(|at| words.get(at)).map(self::text);
        let is_name = |option: &&str| option.starts_with('-') || (sets && option.contains('.'));
        let option = option.filter(|option| is_name(option) && !option.contains('=')).unwrap_or_default();
        let glued = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
        let glued = glued.into_iter().map(|rest| ("", rest));
        let found = values(text).chain([(option, text)]).chain(glued);
        codes.extend(found.map(|(name, value)| {
            let code = Code::of(name, value);
            Code { is_unknown: is_open, is_run: code.is_run || run.contains(&at), ..code }
        }));
    }
    if of_git.is_some_and(sets_unknown) {
        codes.push(Code { text: String::new(), is_run: true, is_unknown: true });
    }
    // The text of an alias of git's is a subcommand, and so is what it runs for each of several repositories.
    let is_alias = |text: &str| text.to_lowercase().contains("alias.") || text == "for-each-repo";
    let names_alias = match of_git {
        Some(words) => sets_an_alias(words),
        None => command.words.iter().map(text).any(is_alias),
    };
    if names_alias || command.assignments.iter().map(String::as_str).any(is_alias) {
        let subcommands = codes.iter().map(|code| (format!("git {}", code.text), code.is_unknown));
        let subcommands: Vec<_> = subcommands.collect();
        codes.extend(subcommands.into_iter().map(|(text, is_unknown)| Code { text, is_run: true, is_unknown }));
    }
    let texts = || command.words.iter().map(text);
    let is_from_elsewhere = texts().any(|text| text.starts_with("--config-env"));
    let sets_run = texts().any(|text| is_alias(text) || values(text).any(|(name, _)| is_run(name)));
    let name = texts().next().unwrap_or_default();
    if bare(name) == "git" && is_from_elsewhere && sets_run {
        codes.push(Code { text: String::new(), is_run: true, is_unknown: true });
    }
    codes
}

/// True if a word of git's is set to be an alias: behind `-c`, in `git config`, or from the environment.
fn sets_an_alias(words: &[Word]) -> bool {
    let texts: Vec<_> = words.iter().map(|word| text(word).replace(['"', '\'', '\\'], "").to_lowercase()).collect();
    let configures = texts.iter().any(|text| text == "config");
    texts.iter().enumerate().any(|(at, text)| {
        let is_behind_c = at.checked_sub(1).and_then(|at| texts.get(at)).is_some_and(|before| before == "-c");
        text == "for-each-repo"
            || (text.starts_with("alias.") && (configures || is_behind_c))
            || (text.starts_with("--config-env") && text.contains("alias."))
    })
}

/// True if git takes a word that is known only when it runs for the name of a setting.
fn sets_unknown(words: &[Word]) -> bool {
    let is_name_unknown =
        |word: &Word| is_expanded(word) && text(word).split('=').next().is_some_and(|name| name.contains(['$', '`']));
    let config = words.iter().position(|word| text(word) == "config");
    let mut set = config.and_then(|at| words.get(at + 1..)).unwrap_or_default().iter();
    let set = set
        .find(|word| !text(word).starts_with('-') && !matches!(text(word), "set" | "get" | "unset" | "list" | "edit"));
    let mut behind_c = words.iter().zip(words.iter().skip(1)).filter(|(before, _)| text(before) == "-c");
    behind_c.any(|(_, word)| is_name_unknown(word)) || set.is_some_and(is_name_unknown)
}

/// The places of the words that a program runs, as a program or by a shell: behind an option such as `-x`, or a word
/// such as `run`.
fn run_places(name: &str, words: &[Word]) -> BTreeSet<usize> {
    let has = |wanted: &str| name == "git" && words.iter().any(|word| text(word) == wanted);
    let letters: &[char] = match name {
        "fd" | "fdfind" => &['x', 'X'],
        _ if has("rebase") || has("difftool") => &['x'],
        _ => &[],
    };
    let filters = has("filter-branch");
    let is_x = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains(letters);
    let is_behind = |option: &str| is_x(option) || (filters && option.ends_with("-filter"));
    let texts = || words.iter().map(text).enumerate();
    let mut places: BTreeSet<_> =
        texts().filter(|(_, text)| is_behind(text)).flat_map(|(at, _)| [at, at + 1]).collect();
    let command = match () {
        () if has("bisect") => Some("run"),
        () if has("submodule") => Some("foreach"),
        () => None,
    };
    let begin = command.and_then(|word| words.iter().position(|other| text(other) == word));
    let rest = || texts().skip(begin.map_or(usize::MAX, |at| at + 1));
    places.extend(rest().find(|(_, text)| !text.starts_with('-')).map(|(at, _)| at));
    places.extend(rest().map(|(at, _)| at).filter(|at| words.get(*at).is_some_and(is_expanded)));
    places
}

/// True if a word has a variable or a command in it, of which only the running shell knows what it comes to.
pub(super) fn is_expanded(word: &Word) -> bool {
    matches!(word, Word::Unknown(text) if text.contains(['$', '`']))
}

/// A text with `$` alone in the place of each `${…}`, `$(…)` and what stands in backticks.
pub(super) fn without_substitutions(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        plain.push('$');
        let behind = from.get(1..).unwrap_or_default();
        rest = match (from.starts_with('`'), behind.chars().next()) {
            (true, _) => behind.split_once('`').map_or("", |(_, rest)| rest),
            (false, Some(open @ ('{' | '('))) => behind_closed(behind, open),
            (false, _) => behind,
        };
    }
    plain + rest
}

/// A text with `$name` in the place of each `${name}`.
pub(super) fn without_braces(text: &str) -> String {
    let mut pieces = text.split("${");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        match piece.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, behind)) => plain.extend(["$", name, behind]),
            None => plain.extend(["${", piece]),
        }
    }
    plain
}

/// A text without what is calculated in it (`$((…))`), but with the commands whose output that is calculated with.
pub(super) fn without_arithmetic(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, from)) = rest.split_once("$((") {
        plain.push_str(before);
        // Where another bracket closes first, it is a command in brackets of its own.
        let behind = inner_closed(from).and_then(|at| Some((from.get(..at)?, from.get(at..)?.strip_prefix("))")?)));
        // Numbers need no quotes: brackets in quotes or in a comment are none, and what stands between two of them is
        // run.
        let is_plain = |inner: &str| !inner.contains(['"', '\'', '\\', '\n', ';']);
        let Some((inner, behind)) = behind.filter(|(inner, _)| is_plain(inner)) else {
            plain.push_str("$((");
            rest = from;
            continue;
        };
        plain.push('$');
        let calculated = without_arithmetic(inner);
        substituted(&calculated).iter().for_each(|command| plain.push_str(&format!("({command})")));
        rest = behind;
    }
    plain + rest
}

/// The commands in a text's `$(…)` and backticks.
fn substituted(text: &str) -> Vec<&str> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some(at) = rest.find("$(").into_iter().chain(rest.find('`')).min() {
        let is_tick = rest.get(at..).is_some_and(|rest| rest.starts_with('`'));
        let from = rest.get(at + if is_tick { 1 } else { 2 }..).unwrap_or_default();
        let end = if is_tick { from.find('`') } else { inner_closed(from) }.unwrap_or(from.len());
        found.push(from.get(..end).unwrap_or_default());
        rest = from.get(end + 1..).unwrap_or_default();
    }
    found
}

/// Where the first bracket is that closes none of a text's own.
fn inner_closed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// True if a program such as `parallel` is told what to run: a word that no option stands before which it could be the
/// value of.
pub(super) fn names_a_command(words: &[Word]) -> bool {
    /// Options of theirs that take no value.
    const ALONE: &[&str] = &[
        "--bar",
        "--eta",
        "--keep-order",
        "--no-run-if-empty",
        "--null",
        "--progress",
        "--tag",
        "--verbose",
        "--will-cite",
        "-0",
        "-k",
        "-r",
        "-t",
        "-u",
        "-v",
    ];
    let is_option = |text: &str| text.starts_with('-');
    // `-j4`, `--jobs=4`
    let has_value = |text: &str| text.contains('=') || text.get(2..).is_some_and(|value| value.parse::<u32>().is_ok());
    let mut before = "";
    words.iter().skip(1).map(text).any(|text| {
        let may_be_value = is_option(before) && !ALONE.contains(&before) && !has_value(before);
        before = text;
        !is_option(text) && !may_be_value
    })
}

/// Returns the text behind the bracket that closes the one that a text begins with.
fn behind_closed(text: &str, open: char) -> &str {
    let close = if open == '{' { '}' } else { ')' };
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        depth += usize::from(c == open);
        depth -= usize::from(c == close);
        if depth == 0 {
            return text.get(at + 1..).unwrap_or_default();
        }
    }
    ""
}

impl Code {
    fn of(name: &str, value: &str) -> Self {
        let text = value.trim_start_matches(['!', '|', '+', ':', ' ', '"', '\'']);
        let text = text.strip_prefix("ext::").unwrap_or(text);
        Self { text: text.to_owned(), is_run: is_run(name), is_unknown: false }
    }

    /// True if it may become any command.
    pub(super) fn may_be_any(&self) -> bool {
        self.is_run && self.is_unknown
    }
}

/// The words behind a command's name that it may run, or hand on to what it runs.
pub(super) fn run_words(command: &SimpleCommand) -> Vec<Word> {
    let Some((name, words)) = command.words.split_first() else { return Vec::new() };
    let name = bare(text(name));
    let is_any = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&text(word)));
    if name == "git" {
        return without_texts(words);
    }
    let only_talks = match name {
        "gh" => !is_any(&["alias", "extension", "codespace", "cs"]),
        "rg" => !words.iter().any(|word| ["--pre", "--hostname-bin"].iter().any(|flag| text(word).starts_with(flag))),
        _ => TALKS.contains(&name),
    };
    if only_talks { Vec::new() } else { words.to_vec() }
}

/// Words of git without messages and what it is to look for.
fn without_texts(words: &[Word]) -> Vec<Word> {
    let mut begin = 0;
    while let Some(option) = words.get(begin).map(text).filter(|word| word.starts_with('-')) {
        begin += if OF_GIT.contains(&option) { 2 } else { 1 };
    }
    let subcommand = words.get(begin).map(text).unwrap_or_default();
    let is_text = match subcommand {
        // They name commits alone.
        "cherry-pick" | "revert" => true,
        "stash" => words.get(begin + 1).map(text) == Some("save"),
        _ => false,
    };
    if is_text {
        let is_kept = |(at, word): &(usize, &Word)| *at <= begin || text(word).starts_with('-');
        return words.iter().enumerate().filter(is_kept).map(|(_, word)| word.clone()).collect();
    }
    if !GIT_TALKS.contains(&subcommand) {
        return words.to_vec();
    }
    let (mut kept, mut is_value, mut is_searched) = (Vec::new(), false, subcommand == "grep");
    for (at, word) in words.iter().enumerate() {
        let text = text(word);
        let is_short = text.starts_with('-') && !text.starts_with("--");
        let takes_next = GIT_TEXTS.contains(&text) || (is_short && text.ends_with('m') && subcommand != "grep");
        let is_glued = GIT_TEXTS.iter().any(|option| match option.strip_prefix("--") {
            Some(_) => text.strip_prefix(option).is_some_and(|rest| rest.starts_with('=')),
            None => is_short && text.len() > 2 && text.starts_with(option),
        });
        let is_pattern = at > begin && is_searched && !text.starts_with('-') && !is_value;
        is_searched &= !is_pattern;
        if at <= begin || !(is_value || is_glued || is_pattern) {
            kept.push(word.clone());
        }
        is_value = at > begin && !is_value && takes_next;
    }
    kept
}

/// Returns the text behind each `=` of a text, after the text before it.
fn values(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('=')
        .take(8)
        .map(|(at, _)| (text.get(..at).unwrap_or(text), text.get(at + 1..).unwrap_or_default()))
}

/// True if the value of what has this name is run.
fn is_run(name: &str) -> bool {
    let name = name.rsplit(['.', '=', ' ', '\'']).next().unwrap_or(name);
    let name = name.trim_end_matches('+').to_lowercase().replace(['-', '_'], "");
    RUN.iter().any(|end| name.ends_with(end))
}

/// A program's name without its path.
pub(super) fn bare(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// True if words stand one after the other in a text, whatever stands between them but letters.
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

/// True if a text could name a file that a rule is about, once its globs are known; or names it where the folder is not
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

/// The same where a folder on the way could be it.
pub(super) fn may_lead_to(written: &str, pattern: &str) -> bool {
    let folders = written.match_indices('/').filter_map(|(at, _)| written.get(..at));
    folders.filter(|folder| !folder.is_empty()).chain([written]).any(|path| may_name(path, pattern))
}

/// Returns the texts that the first braces of a text stand for, each with what is before and behind: itself if there
/// are none that say.
pub(super) fn alternatives(text: &str) -> Vec<String> {
    let braces = text.split_once('{').and_then(|(before, rest)| {
        let (inside, behind) = rest.split_once('}')?;
        (!inside.contains('{') && !behind.contains('{') && !inside.contains("..")).then_some((before, inside, behind))
    });
    match braces {
        // They stand for themselves.
        Some((_, inside, _)) if !inside.contains(',') => Vec::new(),
        Some((before, inside, behind)) => inside.split(',').map(|one| format!("{before}{one}{behind}")).collect(),
        None => vec![text.to_owned()],
    }
}

/// True if a text has a glob in it.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// True if a command goes through folders, and so comes upon files that it does not name.
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
    // Hidden files are left out by these, unless they are told not to.
    let is_hidden = pattern.rsplit('/').next().is_some_and(|last| last.starts_with('.'));
    if matches!(name, "rg" | "fd" | "ag") && is_hidden {
        // By a link of another name they come upon it, too.
        return has(&['.', 'u', 'H', 'L'], &["hidden", "no-ignore", "unrestricted", "follow"]);
    }
    // It goes through two folders without being told to; what has an ending is mostly a file.
    if name == "diff" {
        let is_folder = |word: &&&str| {
            let last = word.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            !word.starts_with('-') && (word.ends_with('/') || !last.trim_start_matches('.').contains('.'))
        };
        if arguments.iter().filter(is_folder).count() > 1 {
            return true;
        }
    }
    GOES_THROUGH.contains(&name)
        || (MAY_GO_THROUGH.contains(&name) && has(&['r', 'R', 'a'], &["recursive", "dereference-recursive", "archive"]))
        || (matches!(name, "docker" | "podman") && arguments.contains(&"build"))
}

/// True if a command changes the files that it is given.
pub(super) fn changes_files(command: &SimpleCommand) -> bool {
    let name = command.words.first().map(text).unwrap_or_default();
    CHANGES.contains(&name.rsplit('/').next().unwrap_or(name))
}

/// True if a command may show what is in files.
pub(super) fn shows_files(command: &SimpleCommand) -> bool {
    !read_only::only_names(&command.words) && !keeps_files(&command.words)
}

/// True if a command takes files in, gives them back or sets something, and shows nothing of them.
fn keeps_files(words: &[Word]) -> bool {
    let Some((name, words)) = words.split_first().map(|(name, words)| (text(name), words)) else { return false };
    if name != "git" {
        return SHOWS_NOTHING.contains(&name);
    }
    let kept = without_texts(words);
    let texts: Vec<_> = kept.iter().map(text).collect();
    if let ["config", rest @ ..] = texts.as_slice() {
        // Behind the name of a setting stands its value, whatever it looks like.
        let name = rest.iter().position(|word| !word.starts_with('-') && word.contains('.'));
        let before = name.and_then(|name| rest.get(..name)).filter(|_| !sets_unknown(words));
        return before.is_some_and(|options| {
            options.iter().all(|option| matches!(*option, "set" | "--global" | "--local" | "--add" | "--replace-all"))
        });
    }
    let shows =
        ["-p", "--patch", "-i", "--interactive", "-e", "--edit", "-v", "--verbose", "-F", "--file", "-t", "--template"];
    matches!(texts.first(), Some(&("add" | "checkout" | "commit" | "switch" | "tag")))
        && !texts.get(1..).is_some_and(|texts| read_only::has_flag(texts, &shows))
}

/// The words of a command that can name files: of git none that are messages or texts to look for.
pub(super) fn file_words(command: &SimpleCommand) -> Vec<Word> {
    match command.words.split_first() {
        Some((name, words)) if text(name) == "git" => without_texts(words),
        _ => command.words.clone(),
    }
}

/// A word as it is written.
pub(super) fn text(word: &Word) -> &str {
    match word {
        Word::Known(text) | Word::Unknown(text) => text,
    }
}

/// True if a word can only be code, or a sentence.
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
