//! Commands that only read but may show a file that usually holds keys: by its name, by a glob, through a folder, or
//! out of git.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::flags::{self, Flags};
use super::lists::{glob_fits, is_often_settings, is_read_by_leave};
use super::places::Places;
use super::read_only::{self, argument, search_pattern};
use super::{ShellLine, SimpleCommand, Word};

/// The files that usually hold keys where a command line may look, as the disk has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyFiles {
    /// Each with whether ignore files leave it out.
    pub found: BTreeMap<PathBuf, bool>,
    /// Links there that lead to such a file, or out of where one looked; each with where it leads. None if the line
    /// follows none.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// True if not all could be looked at, so that there may be others.
    pub is_cut_short: bool,
}

/// Commands that show names of files, and not what is in them.
const SHOW_NAMES: &[&str] = &["find", "fd", "tree", "file"];

/// True if a line may show files that it does not name: then who judges it must know which files with keys there are.
pub(super) fn looks_around(parsed: &ShellLine) -> bool {
    let ShellLine::Commands(commands) = parsed else { return false };
    commands.iter().any(|command| {
        let is_glob = |word: &Word| matches!(word, Word::Unknown(_)) && argument(word).is_some();
        let Some((Word::Known(name), rest)) = command.words.split_first() else { return false };
        let arguments = read_only::arguments(name, rest);
        let is_written = arguments.iter().flatten().any(|word| word.contains(['*', '?', '[']));
        rest.iter().any(is_glob) || is_written || arguments.is_some_and(|arguments| search(name, &arguments).is_some())
    })
}

/// True if a line shows what links lead to that it does not name.
pub(super) fn follows_links(parsed: &ShellLine) -> bool {
    let ShellLine::Commands(commands) = parsed else { return false };
    commands.iter().any(|command| {
        let Some((Word::Known(name), rest)) = command.words.split_first() else { return false };
        let arguments = read_only::arguments(name, rest);
        arguments.is_some_and(|arguments| search(name, &arguments).is_some_and(|search| search.follows))
    })
}

/// The file with keys that a command which only reads may show, in words; none if it shows none.
pub(super) fn shown_by(command: &SimpleCommand, places: &Places<'_>, keys: &KeyFiles) -> Option<String> {
    let inputs = command.redirects.iter().filter(|redirect| !redirect.writes).filter_map(|it| argument(&it.target));
    let input = inputs.filter(|text| is_named(text, places)).map(str::to_owned).next();
    if input.is_some() {
        return input.map(usually_holds_keys);
    }
    let (Some(Word::Known(name)), Some(rest)) = (command.words.first(), command.words.get(1..)) else { return None };
    if read_only::only_names(&command.words) || SHOW_NAMES.contains(&name.as_str()) {
        return None;
    }
    let arguments = read_only::arguments(name, rest)?;
    let looked_at = files_among(name, &arguments);
    let by_name = looked_at.iter().find(|text| is_named(text, places));
    by_name
        .map(|text| (*text).to_owned())
        .or_else(|| by_glob(&looked_at, places, keys))
        .map(usually_holds_keys)
        .or_else(|| below(name, &arguments, places, keys))
}

fn usually_holds_keys(file: String) -> String {
    format!("{file}, which usually holds keys")
}

/// The arguments that can name files: not what a search looks for, nor what it leaves out.
fn files_among<'a>(name: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    /// Options whose values are text to look for, or say what is left out.
    const TEXTS: &[&str] = &["e", "G", "S", "--regexp", "--grep", "--exclude", "--exclude-dir"];
    let subcommand = arguments.iter().position(|word| !word.starts_with('-')).filter(|_| name == "git");
    let begin = subcommand.map_or(0, |at| at + 1);
    let kinds = flags::of(name, subcommand.and_then(|at| arguments.get(at)).copied());
    let texts = kinds.map(|kinds| Flags::read(arguments.get(begin..).unwrap_or_default(), kinds).places_of(TEXTS));
    let mut texts: Vec<_> = texts.unwrap_or_default().into_iter().map(|at| begin + at).collect();
    let is_search = name != "git" || subcommand.and_then(|at| arguments.get(at)) == Some(&"grep");
    texts.extend(search_pattern(name, arguments).filter(|_| is_search));
    let leaves_out = |word: &str| word.starts_with("--exclude") || EXCLUDES.iter().any(|start| word.starts_with(start));
    let files = arguments.iter().copied().enumerate();
    files.filter(|(at, word)| !texts.contains(at) && !leaves_out(word)).map(|(_, word)| word).collect()
}

/// The beginnings of a path that git is to leave out, and of a glob of ripgrep's.
const EXCLUDES: &[&str] = &[":!", ":^", ":(exclude", "!", "--glob=!", "--iglob=!", "-g!"];

/// True if a word names a file with keys, also as `HEAD:.env`, `--file=.env`, `-f.env`, `:(top).env`.
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

/// True if a shell's glob fits a name; one that begins with a dot only where the glob does.
fn part_fits(glob: &str, name: &str) -> bool {
    let is_open = glob.starts_with(['*', '?', '[']);
    !(is_open && name.starts_with('.')) && glob_fits(glob, name)
}

fn shown(path: &Path, places: &Places<'_>) -> String {
    places.relative(path).display().to_string()
}

/// A file with keys that a command meets in a folder, or in what git keeps.
fn below(name: &str, arguments: &[&str], places: &Places<'_>, keys: &KeyFiles) -> Option<String> {
    let search = search(name, arguments)?;
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
    let is_shown = |led_to: &Path| {
        let is_inside = led_to.to_str().is_some_and(|path| places.holds(path));
        !is_inside || places.relatives(led_to).any(is_read_by_leave)
    };
    let mut links =
        keys.links.iter().filter(|(link, _)| folders.iter().any(|folder| link.starts_with(literal(folder))));
    if search.follows
        && let Some((link, _)) = links.find(|(_, led_to)| is_shown(led_to))
    {
        return Some(usually_holds_keys(format!("what {} leads to", shown(link, places))));
    }
    let met = keys.found.iter().find(|(path, ignored)| meets(path, **ignored)).map(|(path, _)| shown(path, places));
    let unknown = keys.is_cut_short && search.filter.is_open();
    met.map(usually_holds_keys)
        .or_else(|| unknown.then(|| "a file that holds keys: there are too many files to check them all".to_owned()))
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
    /// True if it looks at what the links that lie there lead to.
    follows: bool,
    filter: Filter<'a>,
}

/// The files of its folders that a search looks at.
#[derive(Default)]
struct Filter<'a> {
    /// Only those; none if all are.
    only: Vec<&'a str>,
    without: Vec<&'a str>,
    /// True if it looks at sources of programs alone.
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
        // A file that is left out by more than its name may be left out in one folder only.
        let is_out = |glob: &&str| !glob.contains(['/', '{', '[', '\\']) && glob_fits(glob, &name);
        !self.sources && (self.only.is_empty() || self.only.iter().any(is_it)) && !self.without.iter().any(is_out)
    }

    fn is_open(&self) -> bool {
        !self.sources && self.only.is_empty()
    }
}

/// Where a command looks of those that show files which they do not name; none if it shows none.
fn search<'a>(name: &str, arguments: &[&'a str]) -> Option<Search<'a>> {
    let flags = flags::of(name, None).map(|kinds| Flags::read(arguments, kinds));
    match (name, flags) {
        ("grep" | "egrep" | "fgrep", Some(flags)) => grep(&flags),
        ("rg", Some(flags)) => ripgrep(&flags),
        ("git", _) => git(arguments),
        ("diff", _) => {
            let folders = arguments.iter().map(|word| word.split_once('=').map_or(*word, |(_, value)| value));
            let folders = folders.filter(|word| !word.starts_with('-')).collect();
            Some(Search { folders, hidden: true, ignored: true, follows: true, ..Search::default() })
        }
        _ => None,
    }
}

/// Returns the folders that a search is to look through: its operands but for the pattern, or the folder that it is in.
fn folders<'a>(flags: &Flags<'a>) -> Vec<&'a str> {
    let is_elsewhere =
        flags.has(&["e", "f", "--regexp", "--file"]) || !flags.sure_values(&["e", "--regexp"]).is_empty();
    let operands: Vec<_> = flags.operands.iter().map(|(_, word)| *word).collect();
    // Where it cannot be told which of them is the pattern, any may be a folder.
    let among = if is_elsewhere || flags.is_open { operands.as_slice() } else { operands.get(1..).unwrap_or_default() };
    if among.is_empty() || flags.is_open { among.iter().copied().chain(["."]).collect() } else { among.to_vec() }
}

fn grep<'a>(flags: &Flags<'a>) -> Option<Search<'a>> {
    // The value of `-d` may be shortened, too.
    let directories = flags.values(&["d"]).into_iter().map(Some).chain(flags.shortened("--directories"));
    let directories = directories.filter(|value| !matches!(value, Some("skip" | "read"))).count() > 0;
    let recursive = flags.may_have(&["r", "--recursive"]) || directories;
    let without = flags.sure_values(&["--exclude"]);
    let filter = Filter { only: flags.sure_values(&["--include"]), without, sources: false };
    recursive.then(|| Search { folders: folders(flags), hidden: true, ignored: true, filter, ..Search::default() })
}

fn ripgrep<'a>(flags: &Flags<'a>) -> Option<Search<'a>> {
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
    if flags.has(&["--files"]) && !flags.may_have(&["e", "--regexp"]) {
        return None;
    }
    let unrestricted = flags.count("u") + flags.count("--unrestricted");
    let hidden = unrestricted > 1 || flags.may_have(&[".", "--hidden"]);
    let ignored = unrestricted > 0 || flags.may_begin("--no-ignore");
    const GLOBS: &[&str] = &["g", "--glob", "--iglob"];
    // A glob that names files overrules ignore files, and it and a type of files also what is hidden.
    let named = flags.values(GLOBS).iter().any(|glob| !glob.starts_with('!'));
    let (without, only): (Vec<_>, Vec<_>) =
        flags.sure_values(GLOBS).into_iter().partition(|glob| glob.starts_with('!'));
    let without = without.into_iter().map(|glob| glob.trim_start_matches('!')).collect();
    let (types, sure) = (flags.values(&["t", "--type"]), flags.sure_values(&["t", "--type"]));
    let sources = !flags.may_begin("--type-add") && !sure.is_empty() && types.iter().all(|kind| SOURCES.contains(kind));
    let hidden = hidden || named || (!types.is_empty() && !sources);
    let filter = Filter { only, without, sources };
    Some(Search { folders: folders(flags), hidden, ignored: ignored || named, filter, ..Search::default() })
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
        "s",
        "--no-patch",
        "--quiet",
    ];
    const PATCHES: &[&str] = &[
        "p",
        "u",
        "--patch",
        "U",
        "--unified",
        "--patch-with-stat",
        "--patch-with-raw",
        "--remerge-diff",
        "--dd",
        "W",
        "--function-context",
        "c",
        "--cc",
        "--binary",
        "--check",
        "--no-no-patch",
        // It takes a `--quiet` back.
        "--no-quiet",
    ];
    let at = arguments.iter().position(|word| !word.starts_with('-'))?;
    let (subcommand, rest) = arguments.get(at..)?.split_first()?;
    let flags = Flags::read(rest, flags::of("git", Some(subcommand))?);
    let patches = flags.may_have(PATCHES);
    let shows = match *subcommand {
        "grep" => true,
        "diff" | "show" => patches || !flags.has(NO_TEXT),
        // With any option, it shows more than how much has changed.
        "stash" => rest.first() == Some(&"show") && flags.is_any() && (patches || !flags.has(NO_TEXT)),
        "log" | "reflog" | "diff-tree" => patches || flags.may_have(&["L"]),
        "status" => read_only::has_flag(rest, &["-v", "--verbose"]),
        // An object's name does not say which file it is of.
        "cat-file" => {
            let tells_only_of_it = flags.has(&["t", "s", "e"]) && !flags.may_have(&["p"]) && !flags.may_begin("--");
            let is_no_file = matches!(flags.operands.first(), Some((0, "commit" | "tag" | "tree")));
            !tells_only_of_it && !is_no_file
        }
        _ => false,
    };
    let named: Vec<_> = flags.operands.iter().skip(flags.behind.unwrap_or(usize::MAX)).map(|(_, word)| *word).collect();
    let excluded = named.iter().filter_map(|path| path.strip_prefix(":!").or_else(|| path.strip_prefix(":^")));
    let excluded = excluded.chain(named.iter().filter_map(|path| path.strip_prefix(":(exclude)")));
    let filter = Filter { without: excluded.collect(), ..Filter::default() };
    let folders: Vec<_> =
        named.iter().copied().filter(|path| !EXCLUDES.iter().any(|out| path.starts_with(out))).collect();
    // The path that the shown object names itself is no folder: `git show HEAD:src/a.rs`.
    let is_path =
        |word: &str| word.contains(':') && !word.starts_with(":/") && !["^{", "@{"].iter().any(|it| word.contains(it));
    let objects = match flags.operands.as_slice() {
        [(_, "blob"), objects @ ..] if *subcommand == "cat-file" => objects,
        objects => objects,
    };
    // An option may say to show more than that: `--all`, `--batch`, `-g`.
    let names_all = match *subcommand {
        "show" => !flags.is_any(),
        "cat-file" => !flags.may_begin("--"),
        _ => false,
    };
    let is_object = names_all && !flags.is_open && !objects.is_empty() && objects.iter().all(|(_, word)| is_path(word));
    let everywhere = folders.is_empty() || folders.iter().any(|path| path.starts_with(':'));
    let ignored = flags.may_have(&["--no-index", "--untracked", "--no-exclude-standard"]);
    (shows && !is_object).then_some(Search { folders, everywhere, hidden: true, ignored, filter, follows: false })
}
