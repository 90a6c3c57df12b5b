//! The table of commands that only read, with the flags that would make them do more.

use super::flags::{self, Flags};
use super::lists::is_for_keys;
use super::places::Places;
use super::{Word, awk, jq, printed, sed, tree};
use std::path::Path;

/// The arguments of a program that leave it reading.
enum Reads {
    /// Any.
    Always,
    /// All but flags of these names; a short one is found inside a cluster (`-rni`) too.
    Without(&'static [&'static str]),
    /// Those for which a function returns true.
    If(fn(&[&str]) -> bool),
}

use Reads::{Always, If, Without};

const TABLE: &[(&str, Reads)] = &[
    (":", Always),
    ("[", If(test)),
    ("arch", Always),
    ("awk", If(awk::only_reads)),
    ("b2sum", Always),
    ("basename", Always),
    ("cat", Always),
    ("cd", If(|arguments| arguments.len() == 1 && arguments.iter().all(|to| !to.starts_with('-')))),
    ("cksum", Always),
    ("cmp", Always),
    ("column", Always),
    ("comm", Always),
    // Anything else runs the program that it names.
    ("command", If(|arguments| matches!(arguments, ["-v" | "-V", ..]))),
    ("cut", Always),
    // Anything else sets the clock or reads a file.
    (
        "date",
        If(|arguments| {
            arguments.iter().all(|argument| argument.starts_with('+') || matches!(*argument, "-u" | "-R" | "-I"))
        }),
    ),
    ("df", Always),
    // Through folders, it follows links.
    ("diff", Without(&["-r", "--recursive"])),
    ("dirname", Always),
    ("du", Without(&["--files0-from"])),
    ("echo", Always),
    ("egrep", Without(SEARCH)),
    ("expand", Always),
    ("export", If(|arguments| !arguments.is_empty() && arguments.iter().all(|set| sets_harmlessly(set)))),
    ("expr", Always),
    ("false", Always),
    ("fd", Without(&["-x", "-X", "--exec", "--exec-batch", "-L", "--follow"])),
    ("fgrep", Without(SEARCH)),
    ("file", Without(&["-C", "--compile", "-f", "--files-from", "-m", "--magic-file", "-z", "-Z"])),
    ("find", If(find)),
    ("fmt", Always),
    ("fold", Always),
    ("gawk", If(awk::only_reads)),
    ("getconf", Always),
    ("git", If(git)),
    ("grep", Without(SEARCH)),
    ("groups", Always),
    ("gzip", If(gzip)),
    ("head", Always),
    ("hexdump", Without(&["-f", "--format-file"])),
    // Its operand is the machine's new name.
    ("hostname", If(|arguments| matches!(arguments, [] | ["-s" | "-f" | "-i" | "-I"]))),
    ("id", Always),
    ("join", Always),
    ("jq", If(jq::only_reads)),
    ("logname", Always),
    ("ls", Always),
    ("mawk", If(awk::only_reads)),
    ("md5sum", Always),
    ("nl", Always),
    ("nproc", Always),
    ("od", Always),
    ("paste", Always),
    ("printf", If(printf)),
    // Some of its letters print the environment of processes.
    (
        "ps",
        If(|arguments| {
            matches!(arguments, [] | ["a" | "ax" | "aux" | "auxf" | "axf" | "x" | "-A" | "-a" | "-e" | "-ef" | "-f"])
        }),
    ),
    ("pwd", Always),
    ("read", If(read)),
    ("readlink", Always),
    ("realpath", Always),
    ("rev", Always),
    ("rg", Without(RIPGREP)),
    ("sed", If(sed::only_reads)),
    ("seq", Always),
    ("sha1sum", Always),
    ("sha224sum", Always),
    ("sha256sum", Always),
    ("sha384sum", Always),
    ("sha512sum", Always),
    ("sleep", If(sleep)),
    ("sort", Without(&["-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from"])),
    ("stat", Always),
    ("tac", Always),
    // Following a file does not end.
    ("tail", Without(&["-f", "-F", "--follow", "--retry"])),
    ("test", If(test)),
    ("tr", Always),
    ("tree", If(tree::only_reads)),
    ("true", Always),
    ("tty", Always),
    ("type", Always),
    ("uname", Always),
    ("unexpand", Always),
    ("uniq", If(uniq)),
    ("uptime", Always),
    ("wc", Without(&["--files0-from"])),
    ("which", Always),
    ("whoami", Always),
    ("xxd", If(xxd)),
];

/// Of the programs that may be given other options than any those that have none which does harm where what follows it
/// is only a file's name without a `/`: what a glob such as `*.rs` can come to be.
const TAKES_ANY_NAME: &[&str] = &["du", "echo", "egrep", "fgrep", "grep", "printf", "wc"];

/// Programs that read what another command prints, where its name stands (`<(…)`).
const TAKES_PIPES: &[&str] = &["cat", "cmp", "comm", "diff", "head", "join", "paste", "tail", "wc"];

const SEARCH: &[&str] = &["-f", "--file", "-R", "--dereference-recursive"];
const RIPGREP: &[&str] =
    &["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip", "-f", "--file", "--ignore-file", "-L", "--follow"];

/// Programs that may be asked for their version or their help. Those that a project's own files have run another
/// program in their place are none of them (rustup's `cargo` and `rustc`, `yarn`, `pnpm`, `go`, `dotnet`).
const ASKABLE: &[&str] = &[
    "bash", "bun", "clang", "cmake", "deno", "docker", "gcc", "git", "java", "just", "make", "node", "npm", "nvim",
    "perl", "php", "pip", "pip3", "python", "python3", "rg", "ruby", "tsc", "uv", "zig",
];

/// True if a command is known to be read-only within the workspace.
pub(super) fn only_reads(words: &[Word], places: &Places<'_>) -> bool {
    let Some((Word::Known(name), rest)) = words.split_first() else { return false };
    // A whole test is one word that is not known; the parser lists what it runs and refuses what it evaluates.
    if matches!((name.as_str(), rest), ("[" | "[[", [Word::Unknown(_)])) {
        return true;
    }
    // A glob is printed as the names that it matches.
    let is_inside = |word: &Word| match word {
        Word::Known(_) => true,
        Word::Unknown(_) => argument(word).is_none_or(|glob| places.holds(glob)),
    };
    if printed::is_harmless(name, rest) {
        return rest.iter().all(is_inside);
    }
    if name == "test" && compares(rest) {
        return true;
    }
    let Some(arguments) = arguments(name, rest) else { return false };
    if matches!(*arguments, ["--version" | "-V" | "--help"]) && ASKABLE.contains(&name.as_str()) {
        return true;
    }
    let Some((_, reads)) = TABLE.iter().find(|(program, _)| *program == name.as_str()) else { return false };
    if !rest.iter().all(|word| is_no_option(name, reads, word)) {
        return false;
    }
    let reads = match reads {
        Always => true,
        Without(flags) => !has_flag(&arguments, flags),
        If(check) => check(&arguments),
    };
    let pattern = search_pattern(name, &arguments);
    // A glob before or in place of a program could become the program.
    let mut up_to = pattern.filter(|_| is_programmed(name)).and_then(|at| rest.get(..=at)).unwrap_or_default().iter();
    if up_to.any(|word| matches!(word, Word::Unknown(_))) {
        return false;
    }
    let mut looked_at = arguments.iter().enumerate().filter(|(at, _)| Some(*at) != pattern);
    // The words that these print are no files, and the second takes a command line of any kind.
    let prints = matches!(name.as_str(), "echo" | "printf");
    reads && if prints { rest.iter().all(is_inside) } else { looked_at.all(|(_, word)| stays(word, places)) }
}

/// True if a command that only reads shows nothing of what is in files, but at most their names.
pub(super) fn only_names(words: &[Word]) -> bool {
    const NAMES: &[&str] = &[
        ":", "[", "arch", "basename", "cd", "command", "date", "df", "dirname", "du", "echo", "export", "expr",
        "false", "getconf", "groups", "hostname", "id", "logname", "ls", "nproc", "printf", "pwd", "read", "readlink",
        "realpath", "sleep", "stat", "test", "true", "tty", "type", "uname", "uptime", "which", "whoami",
    ];
    const SUBCOMMANDS: &[&str] = &["ls-files", "ls-tree", "rev-parse", "describe", "merge-base", "branch", "remote"];
    match words {
        [] => true,
        // With `-v` it shows what is staged.
        [Word::Known(git), Word::Known(subcommand), rest @ ..] if git == "git" && subcommand == "status" => {
            let rest: Option<Vec<_>> = rest.iter().map(argument).collect();
            rest.is_some_and(|rest| !has_flag(&rest, &["-v", "--verbose"]))
        }
        [Word::Known(git), Word::Known(subcommand), ..] if git == "git" => SUBCOMMANDS.contains(&subcommand.as_str()),
        [Word::Known(name), ..] => NAMES.contains(&name.as_str()),
        [Word::Unknown(_), ..] => false,
    }
}

/// The arguments' texts, without what other commands print in the place of a file (`<(…)`), which are judged by
/// themselves. None if one is not known.
pub(super) fn arguments<'a>(name: &str, words: &'a [Word]) -> Option<Vec<&'a str>> {
    let is_left_out = |word: &&Word| match word {
        Word::Known(_) => false,
        Word::Unknown(text) => TAKES_PIPES.contains(&name) && is_pipe(text),
    };
    words.iter().filter(|word| !is_left_out(word)).map(argument).collect()
}

/// True if a word is what a command prints, in the place of a file: `<(…)`.
pub(super) fn is_pipe(text: &str) -> bool {
    let within = text.strip_prefix("<(").and_then(|text| text.strip_suffix(')'));
    within.is_some_and(|within| !within.contains(['(', ')']))
}

/// An argument's text. A glob is as good as known, but for whether it can be taken for an option: of one that begins
/// with its wildcard [`is_no_option`] tells.
pub(super) fn argument(word: &Word) -> Option<&str> {
    match word {
        Word::Known(text) => Some(text),
        Word::Unknown(text) => {
            let is_glob = !text.contains(['$', '`', '{', '<', '>', '(', '\\', '"', '\'']);
            let begins_plainly = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "._*?[".contains(c));
            (is_glob && begins_plainly).then_some(text)
        }
    }
}

/// True if what a glob becomes is no option, or one that leaves the program reading.
fn is_no_option(name: &str, reads: &Reads, word: &Word) -> bool {
    let Word::Unknown(glob) = word else { return true };
    if !glob.starts_with(['*', '?', '[']) {
        return true;
    }
    // One with an ending comes to be no option of a letter alone, and names a file with that ending.
    let has_ending = || {
        let ending = glob.strip_prefix('*').and_then(|ending| ending.strip_prefix('.')).unwrap_or_default();
        let is_plain = !ending.is_empty() && ending.chars().all(|c| c.is_ascii_alphanumeric());
        is_plain && ![format!("x.{ending}"), format!(".{ending}")].iter().any(|file| is_for_keys(Path::new(file)))
    };
    matches!(reads, Always) || (TAKES_ANY_NAME.contains(&name) && has_ending())
}

/// True if a `test` compares texts or looks at one, some of them variables in quotes, so that they stay one word each.
fn compares(words: &[Word]) -> bool {
    let is_operand = |word: &Word| match word {
        Word::Known(_) => true,
        Word::Unknown(text) => {
            let within = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            within.is_some_and(|within| !within.contains(['"', '@', '*', '`']))
        }
    };
    match words {
        [Word::Known(look), operand] => matches!(look.as_str(), "-n" | "-z") && is_operand(operand),
        [one, Word::Known(sign), other] => {
            matches!(sign.as_str(), "=" | "==" | "!=") && is_operand(one) && is_operand(other)
        }
        _ => false,
    }
}

/// True if a word names nothing outside the workspace.
fn stays(word: &str, places: &Places<'_>) -> bool {
    if word == "-" || word == "--" {
        return true;
    }
    let Some(flag) = word.strip_prefix('-') else { return places.holds(word) };
    let value = flag.split_once('=').map_or(flag, |(_, value)| value);
    // A flag may have a path glued to it (`-I/etc`), and a name without a `/` may be a link.
    let is_linked = !places.named(value).is_empty() && !places.holds(value);
    !is_linked
        && !value.starts_with('~')
        && !value.contains("..")
        && value.find('/').is_none_or(|at| at > 0 && value != flag && places.holds(value))
}

/// Returns the argument of a search, by its index, that is its pattern, or of `awk`, `jq` and `sed` their program,
/// which can look like a path and names none. None if it cannot be told.
pub(super) fn search_pattern(name: &str, arguments: &[&str]) -> Option<usize> {
    match name {
        "jq" => return jq::program_at(arguments),
        "sed" => return sed::script_at(arguments),
        _ if is_programmed(name) => return awk::program_at(arguments),
        _ => {}
    }
    let begin = if name == "git" { arguments.iter().position(|word| *word == "grep")? + 1 } else { 0 };
    let kinds = flags::of(name, (name == "git").then_some("grep"))?;
    let flags = Flags::read(arguments.get(begin..)?, kinds);
    let is_elsewhere = flags.may_have(&["e", "f", "--regexp", "--file"]) || flags.has(&["--files"]);
    let (at, _) = flags.operands.first()?;
    (!is_elsewhere && !flags.is_open).then_some(begin + at)
}

/// Returns the argument of `awk`, `jq` and `sed`, by its index, that is their program.
pub(super) fn program_at(name: &str, arguments: &[&str]) -> Option<usize> {
    if is_programmed(name) { search_pattern(name, arguments) } else { None }
}

fn is_programmed(name: &str) -> bool {
    matches!(name, "awk" | "gawk" | "jq" | "mawk" | "sed")
}

/// True if one of the arguments is one of these flags.
pub(super) fn has_flag(arguments: &[&str], flags: &[&str]) -> bool {
    arguments.iter().any(|argument| {
        flags.iter().any(|flag| match (argument.strip_prefix("--"), flag.strip_prefix("--")) {
            // Long flags may be shortened.
            (Some(given), Some(long)) => {
                let given = given.split('=').next().unwrap_or_default();
                !given.is_empty() && long.starts_with(given)
            }
            (None, None) => match (argument.strip_prefix('-'), flag.strip_prefix('-')) {
                (Some(cluster), Some(short)) => cluster.contains(short),
                _ => false,
            },
            _ => false,
        })
    })
}

fn find(arguments: &[&str]) -> bool {
    const ACTS: &[&str] =
        &["-delete", "-exec", "-execdir", "-files0-from", "-fls", "-fprint", "-fprint0", "-fprintf", "-ok", "-okdir"];
    !arguments.iter().any(|argument| ACTS.contains(argument))
}

/// `-v` sets a variable, and so does a `%n` in the format.
fn printf(arguments: &[&str]) -> bool {
    !has_flag(arguments, &["-v"]) && !arguments.iter().any(|argument| printed::sets(argument))
}

/// Asking whether an array's element is set runs the substitutions in its index.
fn test(arguments: &[&str]) -> bool {
    !arguments.iter().any(|argument| matches!(*argument, "-v" | "-R"))
}

/// It packs files in place but where it is told to print. What looks like that may be the value of another option, or a
/// file.
fn gzip(arguments: &[&str]) -> bool {
    const PRINTS: &[&str] = &["-c", "-cd", "-dc", "--stdout"];
    let mut options = arguments.iter().filter(|argument| argument.starts_with('-') && argument.len() > 1);
    arguments.iter().any(|argument| PRINTS.contains(argument))
        && options.all(|option| PRINTS.contains(option) || matches!(*option, "-d" | "--decompress"))
}

/// Its second operand is written, and a glob may become two. A lone `-` is an operand, and what stands behind `--` is
/// one.
fn uniq(arguments: &[&str]) -> bool {
    if arguments.contains(&"--") {
        return false;
    }
    let mut operands = arguments.iter().filter(|argument| !argument.starts_with('-') || **argument == "-");
    operands.next().is_none_or(|operand| !operand.contains(['*', '?', '['])) && operands.next().is_none()
}

/// It sets variables, by names by which nothing goes but a line's own.
fn read(arguments: &[&str]) -> bool {
    let names: Vec<_> = arguments.iter().skip_while(|argument| **argument == "-r").collect();
    !names.is_empty() && names.iter().all(|name| is_lines_own(name))
}

/// It must end while somebody waits for it.
fn sleep(arguments: &[&str]) -> bool {
    /// Seconds.
    const LONGEST: f64 = 600.0;
    let seconds = |argument: &&str| {
        let number = argument.strip_suffix('s').unwrap_or(argument);
        let is_number = number.chars().all(|c| c.is_ascii_digit() || c == '.');
        number.parse::<f64>().ok().filter(|seconds| is_number && *seconds <= LONGEST)
    };
    matches!(arguments, [one] if seconds(one).is_some())
}

/// Its second operand is written, and with `-r` it makes bytes of text.
fn xxd(arguments: &[&str]) -> bool {
    const VALUED: &[&str] = &["-c", "-l", "-s", "-g"];
    let mut operands = 0;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match *word {
            "-p" | "-b" | "-u" | "-i" => {}
            word if VALUED.contains(&word) => {
                let is_number = |value: &&str| value.chars().all(|c| c.is_ascii_alphanumeric());
                if !words.next().is_some_and(is_number) {
                    return false;
                }
            }
            word if word.starts_with('-') || word.contains(['*', '?', '[']) => return false,
            _ => operands += 1,
        }
    }
    operands < 2
}

/// True if a name is one that lines give to what they count or go through, and that no program goes by.
pub(super) fn is_lines_own(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "_", "crate", "dir", "file", "item", "key", "line", "name", "number", "path", "rest", "test", "value", "word",
    ];
    NAMES.contains(&name) || matches!(name.as_bytes(), [letter] if letter.is_ascii_lowercase())
}

/// Variables that may be set: they change how programs talk, not what they do.
pub(super) const HARMLESS_VARIABLES: &[&str] = &[
    "CARGO_TERM_COLOR",
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_ALL",
    "LINES",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
];

/// True if a word of `export` sets such a variable.
fn sets_harmlessly(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        HARMLESS_VARIABLES.contains(&name) && value.chars().all(|c| c.is_ascii_alphanumeric() || "-_.,:=".contains(c))
    })
}

fn git(arguments: &[&str]) -> bool {
    let globals = arguments.iter().take_while(|argument| matches!(**argument, "--no-pager" | "-P")).count();
    let Some((subcommand, rest)) = arguments.get(globals..).and_then(<[_]>::split_first) else { return false };
    let without = |flags: &[&str]| !has_flag(rest, flags);
    // They write files and run programs, and most subcommands have them.
    if !without(&["--output", "--ext-diff", "--textconv", "--no-index"]) {
        return false;
    }
    match *subcommand {
        "status" | "ls-files" | "ls-tree" | "rev-parse" | "describe" | "merge-base" | "rev-list" | "shortlog"
        | "name-rev" | "for-each-ref" | "count-objects" | "check-ignore" | "check-attr" => true,
        "diff" | "log" | "show" | "blame" | "diff-tree" => true,
        "grep" => without(&["-O", "--open-files-in-pager", "-f"]),
        "cat-file" => without(&["--filters", "--batch-command"]),
        "branch" => lists(rest, &["-a", "-r", "-v", "-vv", "--all", "--remotes", "--show-current", "--verbose"], &[]),
        "tag" => {
            matches!(rest, ["-l" | "--list", ..] if without(&["-d", "--delete", "-f", "-m"]))
                || lists(rest, &[], &["-l", "-n"])
        }
        "config" => tells_a_setting(rest),
        "remote" => {
            matches!(rest, [] | ["-v" | "--verbose"]) || matches!(rest, ["get-url", name] if !name.starts_with('-'))
        }
        "stash" => matches!(rest, ["list"] | ["show", ..]),
        "worktree" => matches!(rest, ["list"] | ["list", "--porcelain" | "-v" | "--verbose"]),
        "reflog" => matches!(rest, [] | ["show", ..]),
        _ => false,
    }
}

/// True if `git branch` or `git tag` only lists: with these options besides those that both have, and with names only
/// if an option says that they are what is looked for. Elsewhere a name is one to be made.
fn lists(arguments: &[&str], options: &[&str], also_listing: &[&str]) -> bool {
    const OPTIONS: &[&str] =
        &["--column", "--no-column", "--color", "--no-color", "--ignore-case", "--sort", "--format"];
    const LISTING: &[&str] = &["--list", "--merged", "--no-merged", "--contains", "--no-contains", "--points-at"];
    let name = |argument: &str| argument.split('=').next().unwrap_or_default().to_owned();
    let is_listing = |argument: &str| {
        let is_count = also_listing.contains(&"-n") && argument.strip_prefix("-n").is_some_and(is_number);
        LISTING.contains(&name(argument).as_str()) || also_listing.contains(&name(argument).as_str()) || is_count
    };
    // The value that an option takes without a `=` is a word of its own, which must not be taken for a name.
    let is_option = |argument: &str| match name(argument).as_str() {
        "--sort" | "--format" => argument.contains('='),
        option => OPTIONS.contains(&option) || options.contains(&argument),
    };
    let (given, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().copied().partition(|argument| argument.starts_with('-'));
    given.iter().all(|argument| is_option(argument) || is_listing(argument))
        && (names.is_empty() || given.iter().any(|argument| is_listing(argument)))
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if `git config` tells a setting that says how one works. Others may hold keys, or addresses with passwords.
fn tells_a_setting(arguments: &[&str]) -> bool {
    const SECTIONS: &[&str] = &["branch", "core", "init", "merge", "pull", "push", "user"];
    let names = match arguments {
        ["--get" | "--get-all" | "get", name] | [name] => name,
        _ => return false,
    };
    let is_name = !names.starts_with('-') && names.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    is_name && names.split_once('.').is_some_and(|(section, _)| SECTIONS.contains(&section))
}
