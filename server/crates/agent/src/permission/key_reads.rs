//! Whether a command that only reads may show a file that usually holds keys: by its name, by a glob, through a folder, or out
//! of git.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::lists::{glob_fits, is_often_settings, is_read_by_leave};
use super::places::Places;
use super::read_only::{self, argument, has_flag, search_pattern};
use super::{ShellLine, SimpleCommand, Word};

/// The files that usually hold keys where a command line may look, as the disk has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFiles {
    /// Each with whether ignore files leave it out.
    pub found: BTreeMap<PathBuf, bool>,
    /// Whether not all could be looked at, so that there may be others.
    pub is_cut_short: bool,
}

/// Commands that show names of files, and not what is in them.
const SHOW_NAMES: &[&str] = &["find", "fd", "tree", "file"];

/// Whether a line may show files that it does not name: then who judges it must know which files with keys there are.
pub(super) fn looks_around(parsed: &ShellLine) -> bool {
    let ShellLine::Commands(commands) = parsed else { return false };
    commands.iter().any(|command| {
        let is_glob = |word: &Word| matches!(word, Word::Unknown(_)) && argument(word).is_some();
        let name = match command.words.first() {
            Some(Word::Known(name)) => name.as_str(),
            _ => return false,
        };
        matches!(name, "grep" | "egrep" | "fgrep" | "rg" | "git" | "diff") || command.words.iter().any(is_glob)
    })
}

/// The file with keys that a command which only reads may show, in words; none where it shows none.
pub(super) fn shown_by(command: &SimpleCommand, places: &Places<'_>, keys: &KeyFiles) -> Option<String> {
    let inputs = command.redirects.iter().filter(|redirect| !redirect.writes).filter_map(|it| argument(&it.target));
    let input = inputs.filter(|text| is_named(text, places)).map(str::to_owned).next();
    if input.is_some() {
        return input;
    }
    let (Some(Word::Known(name)), Some(rest)) = (command.words.first(), command.words.get(1..)) else { return None };
    if read_only::only_names(&command.words) || SHOW_NAMES.contains(&name.as_str()) {
        return None;
    }
    let arguments = rest.iter().map(argument).collect::<Option<Vec<_>>>()?;
    let looked_at = files_among(name, &arguments);
    let by_name = looked_at.iter().find(|text| is_named(text, places));
    by_name
        .map(|text| (*text).to_owned())
        .or_else(|| by_glob(&looked_at, places, keys))
        .or_else(|| below(name, &arguments, places, keys))
}

/// The arguments that can name files: not what a search looks for, nor what it leaves out.
fn files_among<'a>(name: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    let pattern = match (name, arguments) {
        ("git", _) => {
            let at = arguments.iter().position(|word| *word == "grep");
            at.and_then(|at| {
                let after = arguments.get(at + 1..).unwrap_or_default();
                after.iter().position(|word| !word.starts_with('-')).map(|more| at + 1 + more)
            })
            .filter(|_| !has_flag(arguments, &["-e"]))
        }
        _ => search_pattern(name, arguments),
    };
    let takes_text = |flag: &str| {
        let searches = matches!(name, "grep" | "egrep" | "fgrep" | "rg" | "git");
        searches && matches!(flag, "-e" | "--regexp" | "-S" | "-G" | "--exclude" | "--exclude-dir" | "--grep")
    };
    let mut after_flag = false;
    let mut files = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let is_text = std::mem::replace(&mut after_flag, takes_text(word));
        let leaves_out = word.starts_with("--exclude") || EXCLUDES.iter().any(|start| word.starts_with(start));
        if !is_text && !leaves_out && Some(at) != pattern {
            files.push(*word);
        }
    }
    files
}

/// How a path that git is to leave out begins, and a glob of ripgrep's.
const EXCLUDES: &[&str] = &[":!", ":^", ":(exclude", "!", "--glob=!", "--iglob=!", "-g!"];

/// Whether a word names a file with keys, also as `HEAD:.env`, `--file=.env`, `-f.env`, `:(top).env`.
fn is_named(word: &str, places: &Places<'_>) -> bool {
    let is_key = |path: &Path| places.relatives(path).any(is_read_by_leave);
    let named = |text: &str| places.named(text).iter().any(|path| is_key(path));
    let glued = word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).and_then(|rest| rest.get(1..));
    let value = word.split_once('=').map(|(_, value)| value);
    let whole = (!word.starts_with('-')).then_some(word);
    // In git's words a path follows a colon, and stands from the top of the repository.
    let in_git = word.split(':').skip(1).map(|piece| piece.rsplit(')').next().unwrap_or(piece));
    let is_from_top = |text: &str| {
        let plain = text.replace('*', "");
        [text, plain.as_str()].iter().any(|text| is_read_by_leave(Path::new(text.trim_start_matches('/'))))
    };
    let is_glob = |text: &str| text.contains('*') && is_from_top(text);
    whole.into_iter().chain(glued).chain(value).any(|text| named(text) || is_glob(text))
        || in_git.clone().any(|text| is_from_top(text) || named(text))
}

/// A file with keys that a glob comes to.
fn by_glob(words: &[&str], places: &Places<'_>, keys: &KeyFiles) -> Option<String> {
    let globs = words.iter().filter(|word| word.contains(['*', '?', '[']) && !word.starts_with('-'));
    let mut paths = globs.filter_map(|word| places.resolve(word)).flatten();
    paths.find_map(|glob| {
        let is_it = |path: &&PathBuf| {
            let mut parts = glob.components().zip(path.components());
            glob.components().count() == path.components().count()
                && parts.all(|(glob, name)| {
                    part_fits(&glob.as_os_str().to_string_lossy(), &name.as_os_str().to_string_lossy())
                })
        };
        keys.found
            .keys()
            .filter(|path| places.relatives(path).any(is_read_by_leave))
            .find(is_it)
            .map(|path| shown(path, places))
    })
}

/// Whether a shell's glob fits a name; one that begins with a dot only where the glob does.
fn part_fits(glob: &str, name: &str) -> bool {
    let is_open = glob.starts_with(['*', '?', '[']);
    !(is_open && name.starts_with('.')) && glob_fits(glob, name)
}

fn shown(path: &Path, places: &Places<'_>) -> String {
    places.relative(path).display().to_string()
}

/// A file with keys that a command meets in a folder, or in what git keeps.
fn below(name: &str, arguments: &[&str], places: &Places<'_>, keys: &KeyFiles) -> Option<String> {
    let search = match name {
        "grep" | "egrep" | "fgrep" => grep(arguments)?,
        "rg" => ripgrep(arguments)?,
        "git" => git(arguments)?,
        "diff" => Search {
            folders: arguments.iter().copied().filter(|word| !word.starts_with('-')).collect(),
            hidden: true,
            ignored: true,
            ..Search::default()
        },
        _ => return None,
    };
    let resolve = |folder: &&str| places.resolve(folder.trim_start_matches(":/"));
    let folders: Vec<PathBuf> = search.folders.iter().filter_map(resolve).flatten().collect();
    let meets = |path: &PathBuf, ignored: bool| {
        let inside = folders.iter().filter(|folder| path.starts_with(literal(folder)));
        let mut reached = inside.filter(|folder| {
            let below = path.strip_prefix(literal(folder)).unwrap_or(path);
            search.hidden || !below.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
        });
        (search.everywhere || reached.next().is_some())
            && (search.ignored || !ignored)
            && !(search.everywhere && is_often_settings(path))
            && search.filter.lets(path)
            && places.relatives(path).any(is_read_by_leave)
    };
    let met = keys.found.iter().find(|(path, ignored)| meets(path, **ignored)).map(|(path, _)| shown(path, places));
    let unknown = keys.is_cut_short && !search.everywhere && search.filter.is_open();
    met.or_else(|| unknown.then(|| "one of the files that there are too many of to look at".to_owned()))
}

/// The part of a path before its first glob.
fn literal(path: &Path) -> PathBuf {
    path.components().take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '['])).collect()
}

/// Where a command looks, and at what.
#[derive(Default)]
struct Search<'a> {
    folders: Vec<&'a str>,
    /// In all of the repository, whatever the folders.
    everywhere: bool,
    hidden: bool,
    ignored: bool,
    filter: Filter<'a>,
}

/// The files of its folders that a search looks at.
#[derive(Default)]
struct Filter<'a> {
    /// Only those; none where all are.
    only: Vec<&'a str>,
    without: Vec<&'a str>,
    /// Whether it looks at sources of programs alone.
    sources: bool,
}

impl Filter<'_> {
    fn lets(&self, path: &Path) -> bool {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_it = |glob: &&str| {
            let last = glob.trim_end_matches('/').rsplit('/').next().unwrap_or(glob);
            // A glob with braces is not looked into.
            glob.contains('{') || glob_fits(last, &name)
        };
        // What is left out by more than its name may be left out in one folder only.
        let is_out = |glob: &&str| !glob.contains(['/', '{', '[', '\\']) && glob_fits(glob, &name);
        !self.sources && (self.only.is_empty() || self.only.iter().any(is_it)) && !self.without.iter().any(is_out)
    }

    fn is_open(&self) -> bool {
        !self.sources && self.only.is_empty()
    }
}

/// The values of a flag, in the same word or in the next.
fn values<'a>(arguments: &[&'a str], flags: &[&str]) -> Vec<&'a str> {
    let mut values = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        for flag in flags {
            if word == flag {
                values.extend(arguments.get(at + 1));
            } else if flag.starts_with("--") {
                values.extend(word.strip_prefix(flag).and_then(|rest| rest.strip_prefix('=')));
            } else {
                values.extend(word.strip_prefix(flag).filter(|_| !word.starts_with("--")));
            }
        }
    }
    values
}

/// The ends of flags of searches that take the next word, also in a cluster.
const VALUED: &[&str] = &[
    "A",
    "B",
    "C",
    "D",
    "E",
    "M",
    "T",
    "d",
    "e",
    "f",
    "g",
    "j",
    "m",
    "r",
    "t",
    "--glob",
    "--iglob",
    "-context",
    "-type",
    "-type-not",
    "-max-depth",
    "-max-count",
    "-max-columns",
    "-max-filesize",
    "-threads",
    "-sort",
    "-sortr",
    "-color",
    "-colors",
    "-encoding",
    "-engine",
    "-replace",
    "-include",
    "-exclude",
    "-exclude-dir",
    "-directories",
    "-label",
];

/// What a search is to look through: its operands but for the pattern, or the folder that it is in.
fn operands<'a>(name: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    let among = files_among(name, arguments);
    let operands: Vec<_> = among.into_iter().filter(|word| !word.starts_with('-')).collect();
    // A flag's value may stand among them, and then what seems to be the folder may be what is looked for.
    let is_in_next =
        |word: &&str| word.starts_with('-') && !word.contains('=') && VALUED.iter().any(|flag| word.ends_with(flag));
    let is_alone = search_pattern(name, arguments).is_none() || arguments.iter().any(is_in_next);
    if operands.is_empty() || is_alone { operands.into_iter().chain(["."]).collect() } else { operands }
}

fn grep<'a>(arguments: &[&'a str]) -> Option<Search<'a>> {
    let recursive =
        has_flag(arguments, &["-r", "--recursive"]) || values(arguments, &["-d", "--directories"]).contains(&"recurse");
    let filter =
        Filter { only: values(arguments, &["--include"]), without: values(arguments, &["--exclude"]), sources: false };
    let folders = operands("grep", arguments);
    recursive.then_some(Search { folders, hidden: true, ignored: true, filter, everywhere: false })
}

fn ripgrep<'a>(arguments: &[&'a str]) -> Option<Search<'a>> {
    const SOURCES: &[&str] = &[
        "c",
        "cpp",
        "cs",
        "css",
        "go",
        "html",
        "java",
        "js",
        "kotlin",
        "lua",
        "markdown",
        "md",
        "php",
        "py",
        "python",
        "ruby",
        "rust",
        "swift",
        "ts",
        "typescript",
    ];
    if has_flag(arguments, &["--files"]) && !has_flag(arguments, &["-e", "--regexp"]) {
        return None;
    }
    let unrestricted = arguments.iter().filter(|word| word.starts_with('-') && !word.starts_with("--"));
    let unrestricted: usize = unrestricted.map(|word| word.matches('u').count()).sum();
    let unrestricted = unrestricted + arguments.iter().filter(|word| **word == "--unrestricted").count();
    let hidden = unrestricted > 1 || has_flag(arguments, &["--hidden", "-."]);
    let ignored = unrestricted > 0 || arguments.iter().any(|word| word.starts_with("--no-ignore"));
    let globs = values(arguments, &["-g", "--glob", "--iglob"]);
    let (without, only): (Vec<_>, Vec<_>) = globs.into_iter().partition(|glob| glob.starts_with('!'));
    let without = without.into_iter().map(|glob| glob.trim_start_matches('!')).collect();
    let types = values(arguments, &["-t", "--type"]);
    let adds_types = arguments.iter().any(|word| word.starts_with("--type-add"));
    let sources = !adds_types && !types.is_empty() && types.iter().all(|kind| SOURCES.contains(kind));
    // A glob that names files overrules ignore files, and it and a type of files also what is hidden.
    let named = !only.is_empty();
    let hidden = hidden || named || (!types.is_empty() && !sources);
    let filter = Filter { only, without, sources };
    Some(Search { folders: operands("rg", arguments), hidden, ignored: ignored || named, filter, everywhere: false })
}

fn git<'a>(arguments: &[&'a str]) -> Option<Search<'a>> {
    const NO_TEXT: &[&str] = &[
        "--stat",
        "--shortstat",
        "--numstat",
        "--name-only",
        "--name-status",
        "--summary",
        "--dirstat",
        "-s",
        "--no-patch",
        "--quiet",
    ];
    const PATCHES: &[&str] = &[
        "-p",
        "-u",
        "--patch",
        "-U",
        "--unified",
        "--patch-with-stat",
        "--patch-with-raw",
        "--remerge-diff",
        "--dd",
        "-W",
        "--function-context",
        "-c",
        "--cc",
        "--binary",
    ];
    let at = arguments.iter().position(|word| !word.starts_with('-'))?;
    let (subcommand, rest) = arguments.get(at..)?.split_first()?;
    // What stands behind `--` is a path, whatever it looks like.
    let is = |flags: &[&str]| {
        rest.iter().take_while(|word| **word != "--").any(|word| {
            flags.iter().any(|flag| {
                word == flag
                    || (!flag.starts_with("--") && !word.starts_with("--") && word.len() > 2 && word.starts_with(flag))
                    || (flag.starts_with("--") && word.starts_with(&format!("{flag}=")))
            })
        })
    };
    let patches = is(PATCHES);
    let shows = match *subcommand {
        "grep" => true,
        "diff" | "show" => patches || !is(NO_TEXT),
        "stash" => rest.first() == Some(&"show") && patches,
        "log" | "reflog" | "diff-tree" => patches || rest.iter().any(|word| word.starts_with("-L")),
        _ => false,
    };
    let named =
        rest.iter().position(|word| *word == "--").and_then(|dashes| rest.get(dashes + 1..)).unwrap_or_default();
    let excluded = named.iter().filter_map(|path| path.strip_prefix(":!").or_else(|| path.strip_prefix(":^")));
    let excluded = excluded.chain(named.iter().filter_map(|path| path.strip_prefix(":(exclude)")));
    let filter = Filter { without: excluded.collect(), ..Filter::default() };
    let folders: Vec<_> =
        named.iter().copied().filter(|path| !EXCLUDES.iter().any(|out| path.starts_with(out))).collect();
    // What the object shown names by itself is no folder: `git show HEAD:src/a.rs`.
    let mut objects = rest.iter().filter(|word| !word.starts_with('-')).peekable();
    let is_object = *subcommand == "show"
        && objects.peek().is_some()
        && objects.all(|word| word.contains(':') && !word.starts_with(":/") && !word.contains("^{"));
    let everywhere = folders.is_empty() || folders.iter().any(|path| path.starts_with(':'));
    let ignored = is(&["--no-index", "--untracked", "--no-exclude-standard"]);
    (shows && !is_object).then_some(Search { folders, everywhere, hidden: true, ignored, filter })
}
