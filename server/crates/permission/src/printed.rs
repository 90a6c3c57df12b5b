//! The words that `echo` and `printf` may print unasked: variables that hold no secret, and what commands print that
//! are judged themselves.

use super::Word;
use super::read_only::argument;

/// Variables that say where and as whom one works. Any other may hold a key.
const HARMLESS: &[&str] = &[
    "BASHPID",
    "BASH_VERSION",
    "CARGO_HOME",
    "CARGO_TARGET_DIR",
    "COLUMNS",
    "EDITOR",
    "EUID",
    "GOPATH",
    "GOROOT",
    "HOME",
    "HOSTNAME",
    "HOSTTYPE",
    "JAVA_HOME",
    "LANG",
    "LC_ALL",
    "LINENO",
    "LINES",
    "LOGNAME",
    "MACHTYPE",
    "NODE_ENV",
    "OLDPWD",
    "OSTYPE",
    "PAGER",
    "PATH",
    "PPID",
    "PWD",
    "PYTHONPATH",
    "RANDOM",
    "RUSTFLAGS",
    "RUSTUP_HOME",
    "SECONDS",
    "SHELL",
    "SHLVL",
    "TERM",
    "TMPDIR",
    "TZ",
    "UID",
    "USER",
    "VIRTUAL_ENV",
    "VISUAL",
];

/// True if this is `echo` or `printf`, or a program that takes a path apart and looks at no file, and all that is not
/// known of its words may be printed.
pub(super) fn is_harmless(name: &str, words: &[Word]) -> bool {
    let tells = words.iter().all(|word| argument(word).is_some() || is_printable(word));
    match (name, words) {
        ("basename" | "dirname" | "echo", _) => tells,
        // Its first word can be an option that sets a variable, and a format can set one too.
        ("printf", [Word::Known(format), ..]) => {
            let mut known = words.iter().filter_map(argument);
            tells && !format.starts_with('-') && !known.any(sets)
        }
        _ => false,
    }
}

/// True if a format sets a variable, by a `%n`.
pub(super) fn sets(format: &str) -> bool {
    let between = |c: char| c.is_ascii_digit() || "#-+ '.*hlqLjzt".contains(c);
    format.replace("%%", "").split('%').skip(1).any(|rest| rest.trim_start_matches(between).starts_with('n'))
}

/// True if a word that is known only when it runs comes to be nothing but such variables and what other commands print.
fn is_printable(word: &Word) -> bool {
    let (Word::Known(text) | Word::Unknown(text)) = word;
    let within = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|within| !within.contains('"'));
    // Without quotes around all of it, a glob tells names from anywhere, and other quotes stand for something else.
    let strange: &[char] = if within.is_some() { &['`', '\\'] } else { &['*', '?', '[', '`', '~', '\\', '\''] };
    let text = without_sums(within.unwrap_or(text));
    if text.replace("$?", "").contains(strange) {
        return false;
    }
    if text.contains("<(") || text.contains(">(") {
        return false;
    }
    let mut pieces = text.split('$');
    let begins_plainly = pieces.next().is_some_and(|first| within.is_some() || !first.contains('{'));
    // An empty piece is of `$$`, or a `$` that stands for itself.
    begins_plainly && pieces.all(|piece| piece.is_empty() || is_expanded_harmlessly(piece, within.is_some()))
}

/// A text with a number in the place of each sum of numbers: `$((3 * 4))`.
fn without_sums(text: &str) -> String {
    let mut pieces = text.split("$((");
    let mut made = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_sum = |sum: &str| sum.chars().all(|c| c.is_ascii_digit() || " +-*/%".contains(c));
        match piece.split_once("))").filter(|(sum, _)| is_sum(sum)) {
            Some((_, behind)) => made.extend(["0", behind]),
            None => made.extend(["$((", piece]),
        }
    }
    made
}

/// True if what follows a `$` begins with a variable that may be printed, or with a command that is judged by itself.
fn is_expanded_harmlessly(text: &str, in_quotes: bool) -> bool {
    let name_of = |text: &str| text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let (rest, in_braces) = text.strip_prefix('{').map_or((text, false), |rest| (rest, true));
    let (name, after) = rest.split_at(name_of(rest));
    let after = if in_braces { after.strip_prefix('}') } else { Some(after) };
    let Some(after) = after.filter(|after| in_quotes || !after.contains('{')) else { return false };
    HARMLESS.contains(&name) || (name.is_empty() && !in_braces && after.starts_with(['(', '?', '#', '!']))
}
