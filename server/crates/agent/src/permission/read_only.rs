//! The table of commands that only read, with the flags that would make them do more.

use super::flags::{self, Flags};
use super::places::Places;
use super::{Word, awk, jq, printed, tree};

/// Which arguments of a program leave it reading.
enum Reads {
    /// Any.
    Always,
    /// All but flags of these names; a short one is found inside a cluster (`-rni`) too.
    Without(&'static [&'static str]),
    /// What a function says.
    If(fn(&[&str]) -> bool),
}

use Reads::{Always, If, Without};

const TABLE: &[(&str, Reads)] = &[
    (":", Always),
    ("[", If(test)),
    ("awk", If(awk::only_reads)),
    ("basename", Always),
    ("cat", Always),
    ("cd", If(|arguments| arguments.len() == 1 && arguments.iter().all(|to| !to.starts_with('-')))),
    ("cmp", Always),
    ("column", Always),
    ("comm", Always),
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
    ("false", Always),
    ("fd", Without(&["-x", "-X", "--exec", "--exec-batch", "-L", "--follow"])),
    ("fgrep", Without(SEARCH)),
    ("file", Without(&["-C", "--compile", "-f", "--files-from", "-m", "--magic-file", "-z", "-Z"])),
    ("find", If(find)),
    ("gawk", If(awk::only_reads)),
    ("git", If(git)),
    ("grep", Without(SEARCH)),
    ("gzip", If(gzip)),
    ("head", Always),
    ("id", Always),
    ("jq", If(jq::only_reads)),
    ("ls", Always),
    ("mawk", If(awk::only_reads)),
    ("md5sum", Always),
    ("nl", Always),
    ("nproc", Always),
    ("printf", If(printf)),
    // Some of its letters print the environment of processes.
    (
        "ps",
        If(|arguments| {
            matches!(arguments, [] | ["a" | "ax" | "aux" | "auxf" | "axf" | "x" | "-A" | "-a" | "-e" | "-ef" | "-f"])
        }),
    ),
    ("pwd", Always),
    ("readlink", Always),
    ("realpath", Always),
    ("rg", Without(RIPGREP)),
    ("sed", If(sed)),
    ("seq", Always),
    ("sha1sum", Always),
    ("sha256sum", Always),
    ("sort", Without(&["-o", "--output", "-T", "--temporary-directory", "--compress-program", "--files0-from"])),
    ("stat", Always),
    ("tac", Always),
    // Following a file does not end.
    ("tail", Without(&["-f", "-F", "--follow", "--retry"])),
    ("test", If(test)),
    ("tr", Always),
    ("tree", If(tree::only_reads)),
    ("true", Always),
    ("type", Always),
    ("uname", Always),
    ("uniq", If(uniq)),
    ("wc", Without(&["--files0-from"])),
    ("which", Always),
    ("whoami", Always),
];

const SEARCH: &[&str] = &["-f", "--file", "-R", "--dereference-recursive"];
const RIPGREP: &[&str] =
    &["--pre", "--pre-glob", "--hostname-bin", "-z", "--search-zip", "-f", "--file", "--ignore-file", "-L", "--follow"];

/// Programs that may be asked for their version or their help. Those that a project's own files have run another program in
/// their place are none of them (rustup's `cargo` and `rustc`, `yarn`, `pnpm`, `go`, `dotnet`).
const ASKABLE: &[&str] = &[
    "bash", "bun", "clang", "cmake", "deno", "docker", "gcc", "git", "java", "just", "make", "node", "npm", "nvim",
    "perl", "php", "pip", "pip3", "python", "python3", "rg", "ruby", "tsc", "uv", "zig",
];

/// Whether a command is known only to read, and that within the workspace.
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
    let Some(arguments) = rest.iter().map(argument).collect::<Option<Vec<_>>>() else { return false };
    if matches!(*arguments, ["--version" | "-V" | "--help"]) && ASKABLE.contains(&name.as_str()) {
        return true;
    }
    let Some((_, reads)) = TABLE.iter().find(|(program, _)| *program == name.as_str()) else { return false };
    let reads = match reads {
        Always => true,
        Without(flags) => !has_flag(&arguments, flags),
        If(check) => check(&arguments),
    };
    let pattern = search_pattern(name, &arguments);
    // What a glob becomes before or in place of a program could be the program.
    let mut up_to = pattern.filter(|_| is_programmed(name)).and_then(|at| rest.get(..=at)).unwrap_or_default().iter();
    if up_to.any(|word| matches!(word, Word::Unknown(_))) {
        return false;
    }
    let mut looked_at = arguments.iter().enumerate().filter(|(at, _)| Some(*at) != pattern);
    // What these print is no file, and the second takes a command line of any kind.
    let prints = matches!(name.as_str(), "echo" | "printf");
    reads && if prints { rest.iter().all(is_inside) } else { looked_at.all(|(_, word)| stays(word, places)) }
}

/// Whether a command that only reads shows nothing of what is in files, but at most their names.
pub(super) fn only_names(words: &[Word]) -> bool {
    const NAMES: &[&str] = &[
        ":", "[", "basename", "cd", "date", "df", "dirname", "du", "echo", "false", "id", "ls", "nproc", "printf",
        "pwd", "readlink", "realpath", "stat", "test", "true", "type", "uname", "which", "whoami",
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

/// An argument's text. A glob is as good as known if what it becomes cannot be taken for a flag.
pub(super) fn argument(word: &Word) -> Option<&str> {
    match word {
        Word::Known(text) => Some(text),
        Word::Unknown(text) => {
            let is_glob = !text.contains(['$', '`', '{', '<', '>', '(', '\\', '"', '\'']);
            let begins_plainly = text.starts_with(|c: char| c.is_ascii_alphanumeric() || "._".contains(c));
            (is_glob && begins_plainly).then_some(text)
        }
    }
}

/// Whether a word names nothing outside the workspace.
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

/// Which argument of a search is its pattern, or of `awk` and `jq` their program, which can look like a path and names none.
/// None where it cannot be told.
pub(super) fn search_pattern(name: &str, arguments: &[&str]) -> Option<usize> {
    match name {
        "jq" => return jq::program_at(arguments),
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

/// Which argument of `awk` and `jq` is their program.
pub(super) fn program_at(name: &str, arguments: &[&str]) -> Option<usize> {
    if is_programmed(name) { search_pattern(name, arguments) } else { None }
}

fn is_programmed(name: &str) -> bool {
    matches!(name, "awk" | "gawk" | "jq" | "mawk")
}

/// Whether one of the arguments is one of these flags.
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

/// It packs files in place but where it is told to print. What looks like that may be the value of another option, or a file.
fn gzip(arguments: &[&str]) -> bool {
    const PRINTS: &[&str] = &["-c", "-cd", "-dc", "--stdout"];
    let mut options = arguments.iter().filter(|argument| argument.starts_with('-') && argument.len() > 1);
    arguments.iter().any(|argument| PRINTS.contains(argument))
        && options.all(|option| PRINTS.contains(option) || matches!(*option, "-d" | "--decompress"))
}

/// Its second operand is written, and a glob may become two. A lone `-` is an operand, and what stands behind `--` is one.
fn uniq(arguments: &[&str]) -> bool {
    if arguments.contains(&"--") {
        return false;
    }
    let mut operands = arguments.iter().filter(|argument| !argument.starts_with('-') || **argument == "-");
    operands.next().is_none_or(|operand| !operand.contains(['*', '?', '['])) && operands.next().is_none()
}

/// `sed -n 10,20p file`: prints lines. Any other script could write files or run commands.
fn sed(arguments: &[&str]) -> bool {
    let [first, script, files @ ..] = arguments else { return false };
    let is_line = |text: &str| text == "$" || (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    let prints =
        script.strip_suffix('p').is_some_and(|lines| lines.split(',').count() <= 2 && lines.split(',').all(is_line));
    *first == "-n" && prints && files.iter().all(|file| !file.starts_with('-'))
}

fn git(arguments: &[&str]) -> bool {
    let globals = arguments.iter().take_while(|argument| matches!(**argument, "--no-pager" | "-P")).count();
    let Some((subcommand, rest)) = arguments.get(globals..).and_then(<[_]>::split_first) else { return false };
    let positionals = rest.iter().filter(|argument| !argument.starts_with('-')).count();
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
        "branch" => {
            let lists = ["-a", "-r", "-v", "-vv", "--list", "--all", "--remotes", "--show-current", "--verbose"];
            positionals == 0 && rest.iter().all(|argument| lists.contains(argument))
        }
        "tag" => rest.is_empty() || matches!(rest, ["-l" | "--list", ..] if without(&["-d", "--delete", "-f", "-m"])),
        "remote" => matches!(rest, [] | ["-v" | "--verbose"]),
        "stash" => matches!(rest, ["list"] | ["show", ..]),
        "worktree" => matches!(rest, ["list"] | ["list", "--porcelain" | "-v" | "--verbose"]),
        "reflog" => matches!(rest, [] | ["show", ..]),
        _ => false,
    }
}
