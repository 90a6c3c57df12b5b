//! The table of a project's own commands: its tests, its build, its linters. In a sandbox of a trusted workspace they
//! run without a question. What they run is the project's, whatever it does; so it matters that they run nothing else:
//! no code given in the line, no program, package or configuration from elsewhere, nothing that publishes.

mod arguments;
mod build;
mod names;
mod options;
mod python;
mod rust;
mod script;

use super::places::{Places, is_harmless, is_hidden};
use super::{SimpleCommand, Word};

use self::arguments::{Arguments, stays, switches, tells_to_leave};

/// A program of the table, and what says whether its arguments leave it the project's own.
type Program = (&'static str, Check);

/// Gives whether a program with these arguments is a command of the project's own.
enum Check {
    /// Any arguments but these flags. What follows them is names of tests, files of the workspace and the like.
    Without(&'static [&'static str]),
    /// Those for which a function returns true.
    If(fn(&Arguments<'_>) -> bool),
}

/// The name of a command that is one of the project's own, as `cargo test`; none if it is not.
pub(super) fn own_command(command: &SimpleCommand, places: &Places<'_>) -> Option<String> {
    let set = command.assignments.iter().all(|text| sets_nothing_else(text));
    let reads = command.redirects.iter().all(|redirect| {
        let Word::Known(target) = &redirect.target else { return false };
        let is_result = || options::is_result(target) && !is_hidden(target);
        is_harmless(target) || (places.holds_own(target) && (!redirect.writes || is_result()))
    });
    if !set || !reads || !places.is_in_workspace() {
        return None;
    }
    let counted: Vec<Word> = command.words.iter().map(with_processors).collect();
    let words = counted.iter().map(argument).collect::<Option<Vec<_>>>()?;
    let arguments = Arguments { words: &words, places };
    is_own(&arguments).then(|| arguments.name())
}

/// A word that says how many jobs there are to be, with a number where it asks for that of the processors:
/// `-j$(nproc)`.
fn with_processors(word: &Word) -> Word {
    let Word::Unknown(text) = word else { return word.clone() };
    let plain = text.replace('"', "").replace("$(nproc)", "2");
    let number =
        ["-j", "--jobs=", "--parallel="].iter().find_map(|option| plain.strip_prefix(option)).unwrap_or(&plain);
    if text.contains("$(nproc)") && number.bytes().all(|byte| byte.is_ascii_digit()) {
        Word::Known(plain)
    } else {
        word.clone()
    }
}

/// An argument's text, where what it becomes has no other commands or variables in it. A glob becomes names of files.
pub(super) fn argument(word: &Word) -> Option<&str> {
    let (Word::Known(text) | Word::Unknown(text)) = word;
    let is_plain = match word {
        Word::Known(_) => true,
        Word::Unknown(text) => !text.contains(['$', '`', '<', '>', '(', '\\', '"', '\'']),
    };
    is_plain.then_some(text)
}

/// The parts of an argument that could be paths.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    arguments::pieces(word)
}

/// True if a program with its arguments is a command of the project's own.
fn is_own(arguments: &Arguments<'_>) -> bool {
    let Some((name, rest)) = arguments.split() else { return false };
    let check = tables().find(|(program, _)| *program == name).map(|(_, check)| check);
    rest.words.iter().all(|word| {
        (stays(word, rest.places) || (name == "cargo" && rust::sets_profile(word))) && !tells_to_leave(word)
    }) && options::opens_nothing(&rest)
        && options::hides_no_options(&rest, knows_scopes(name))
        && (runs_own_program(name) || options::writes_results(&rest, short_outputs(name)))
        && check.is_some_and(|check| match check {
            Check::Without(flags) => !rest.has(flags),
            Check::If(check) => check(&rest),
        })
}

/// True if a program of the table knows packages by `@scope/name`. A compiler takes the same for a file of options.
fn knows_scopes(name: &str) -> bool {
    script::TABLE.iter().any(|(program, _)| *program == name) && !matches!(name, "tsc" | "vue-tsc")
}

/// True if what a program is given is for a program that the project has written, so that it means what that says.
fn runs_own_program(name: &str) -> bool {
    matches!(name, "node" | "python" | "python3" | "ruby" | "ts-node" | "tsx")
}

/// Short options by which programs of the table are told what to write. Compilers are looked at by themselves.
fn short_outputs(name: &str) -> &'static [&'static str] {
    match name {
        "babel" => &["-o", "-d"],
        "coverage" => &["-o", "-d"],
        "cmake" => &["-B"],
        "eslint" | "jest" | "rollup" | "ruff" | "swc" | "webpack" | "xo" => &["-o"],
        _ => &[],
    }
}

fn tables() -> impl Iterator<Item = &'static Program> {
    [rust::TABLE, script::TABLE, python::TABLE, build::TABLE].into_iter().flatten()
}

/// True if an assignment before a command says nothing of what runs: a switch, or flags for the compiler that are
/// known.
fn sets_nothing_else(text: &str) -> bool {
    /// Variables that hold names and numbers.
    const PLAIN: &[&str] = &[
        "BABEL_ENV",
        "CARGO_INCREMENTAL",
        "CARGO_TERM_COLOR",
        "CARGO_TERM_VERBOSE",
        "CI",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLUMNS",
        "DEBUG",
        "FORCE_COLOR",
        "GOARCH",
        "GOOS",
        "INSTA_UPDATE",
        "LANG",
        "LC_ALL",
        "LINES",
        "LOG_LEVEL",
        "NODE_ENV",
        "NO_COLOR",
        "PROPTEST_CASES",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONHASHSEED",
        "PYTHONUNBUFFERED",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "RUST_MIN_STACK",
        "RUST_TEST_THREADS",
        "TERM",
        "TRYBUILD",
        "TZ",
    ];
    let Some((name, value)) = text.split_once('=') else { return false };
    let Some(value) = unquoted(value) else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:=* ".contains(c);
    match name {
        "RUSTFLAGS" | "RUSTDOCFLAGS" | "MIRIFLAGS" => {
            rust::compiles_as_usual(&value.split_whitespace().collect::<Vec<_>>())
        }
        _ if PLAIN.contains(&name) => value.chars().all(is_plain),
        _ if name.starts_with("CARGO_PROFILE_") => value.chars().all(|c| c.is_ascii_alphanumeric()),
        _ => switches(name, value),
    }
}

/// A value without its quotes; none if it has others in it, or is not known.
fn unquoted(value: &str) -> Option<&str> {
    let inside = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let value = inside.unwrap_or(value);
    (!value.contains(['"', '\'', '\\', '$', '`', '(', '~'])).then_some(value)
}
