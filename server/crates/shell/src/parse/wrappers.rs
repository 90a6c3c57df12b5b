//! The command that runs in truth: some programs and builtins run what their arguments say.

use permission::{Redirect, SimpleCommand, Word};

use super::{Unclear, guards};

/// The commands or the line that a command runs.
pub(super) enum Runs {
    /// The command itself.
    Itself(SimpleCommand),
    /// Not itself, but this one.
    Other(SimpleCommand),
    /// Itself and these.
    ItselfAnd(SimpleCommand, Vec<SimpleCommand>),
    /// A line of the shell, under the assignments and redirections of the wrapper.
    Line { line: String, wrapper: SimpleCommand },
}

/// Commands that run texts, run others with other rights, or change what later commands mean.
const UNCLEAR: &[&str] = &[
    ".", "alias", "bind", "compgen", "complete", "coproc", "doas", "enable", "eval", "fc", "let", "parallel", "pkexec",
    "runuser", "script", "source", "su", "sudo", "trap", "watch",
];

/// Words of the shell's own language. As a name of a command they show that the line was not understood. A test in
/// brackets is no such command but where its bracket is quoted, and then its operands were not looked at as those of a
/// test.
const RESERVED: &[&str] = &[
    "!", "[", "[[", "]]", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in", "select",
    "then", "until", "while", "{", "}",
];

/// Shells whose language this is.
const SHELLS: &[&str] = &["ash", "bash", "dash", "sh"];

/// Letters of these shells' options that leave the line what it says: with `-k` a word such as `PAGER=x` sets a
/// variable of the program that it is given to.
const SHELL_LETTERS: &str = "abcefhilmnptuvxBCEP";

/// The same by name. Others do more, such as to take what follows a `#` for more of the command.
const SHELL_OPTIONS: &[&str] =
    &["errexit", "errtrace", "functrace", "noclobber", "noglob", "nounset", "pipefail", "posix", "verbose", "xtrace"];

/// Shells with another language.
const OTHER_SHELLS: &[&str] = &["csh", "fish", "ksh", "nu", "pwsh", "tcsh", "zsh"];

/// The options of a program that runs the command after them.
struct Wrapper {
    name: &'static str,
    /// Short options without a value.
    flags: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// Long options without a value.
    long: &'static [&'static str],
    /// Long options with a value.
    long_valued: &'static [&'static str],
    /// How many words stand between the options and the command.
    operands: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "builtin", flags: "", valued: "", long: &[], long_valued: &[], operands: 0 },
    Wrapper { name: "command", flags: "p", valued: "", long: &[], long_valued: &[], operands: 0 },
    Wrapper {
        name: "env",
        flags: "i0",
        valued: "u",
        long: &["ignore-environment", "null"],
        long_valued: &["unset"],
        operands: 0,
    },
    Wrapper {
        name: "ionice",
        flags: "t",
        valued: "cn",
        long: &["ignore"],
        long_valued: &["class", "classdata"],
        operands: 0,
    },
    Wrapper { name: "nice", flags: "", valued: "n", long: &[], long_valued: &["adjustment"], operands: 0 },
    Wrapper { name: "nohup", flags: "", valued: "", long: &[], long_valued: &[], operands: 0 },
    Wrapper {
        name: "setsid",
        flags: "cfw",
        valued: "",
        long: &["ctty", "fork", "wait"],
        long_valued: &[],
        operands: 0,
    },
    Wrapper {
        name: "stdbuf",
        flags: "",
        valued: "ioe",
        long: &[],
        long_valued: &["input", "output", "error"],
        operands: 0,
    },
    Wrapper { name: "time", flags: "p", valued: "", long: &[], long_valued: &[], operands: 0 },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long: &["foreground", "preserve-status", "verbose"],
        long_valued: &["kill-after", "signal"],
        operands: 1,
    },
    Wrapper {
        name: "xargs",
        flags: "0oprtx",
        valued: "adEILnPs",
        long: &["exit", "interactive", "no-run-if-empty", "null", "open-tty", "verbose"],
        long_valued: &["arg-file", "delimiter", "max-args", "max-chars", "max-procs"],
        operands: 0,
    },
];

/// Takes the wrappers off a command: returns what it runs.
pub(super) fn unwrap(command: SimpleCommand) -> Result<Runs, Unclear> {
    let name = match command.words.first() {
        None => return Ok(Runs::Itself(command)),
        Some(Word::Unknown(_)) => return Err("the name of a command is known only when it runs".into()),
        Some(Word::Known(name)) => name.clone(),
    };
    let base = name.rsplit('/').next().unwrap_or_default();
    if base.is_empty() || RESERVED.contains(&base) {
        return Err("the name of a command is not understood".into());
    }
    if UNCLEAR.contains(&base) || (base == "exec" && command.words.len() > 1) {
        return Err(Unclear(format!("it cannot be told what `{base}` runs")));
    }
    evaluates(base, &command.words)?;
    // A program of this name elsewhere is another one, and stands for itself.
    let is_usual = matches!(name.strip_suffix(base), Some("" | "/bin/" | "/usr/bin/" | "/usr/local/bin/"));
    if !is_usual {
        return Ok(Runs::Itself(command));
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == base) {
        return wrapped(wrapper, command);
    }
    match base {
        _ if SHELLS.contains(&base) => shell(base, command),
        _ if OTHER_SHELLS.contains(&base) => Err("it runs a shell of another kind".into()),
        "find" => find(command),
        _ => Ok(Runs::Itself(command)),
    }
}

/// Refuses builtins that take a text for the name of a variable: the name can have a subscript with a substitution.
fn evaluates(name: &str, words: &[Word]) -> Result<(), Unclear> {
    let text = |word: &Word| match word {
        Word::Known(text) | Word::Unknown(text) => text.clone(),
    };
    let arguments: Vec<String> = words.iter().skip(1).map(text).collect();
    let unknown = words.iter().any(|word| matches!(word, Word::Unknown(_)));
    let subscript = arguments.iter().any(|argument| argument.contains('['));
    let option =
        |letters: &[char]| arguments.iter().any(|argument| argument.starts_with('-') && argument.contains(letters));
    let unclear = match name {
        "read" | "unset" | "getopts" => unknown || subscript,
        "mapfile" | "readarray" => unknown || subscript || option(&['C']),
        "printf" | "test" | "[" | "wait" => option(&['v', 'p', 'R']) && (unknown || subscript),
        "declare" | "typeset" | "local" | "readonly" => option(&['i', 'n']) || subscript,
        "export" => subscript,
        "hash" => option(&['p']),
        _ => false,
    };
    if unclear { Err(Unclear(format!("it cannot be told what `{name}` evaluates"))) } else { Ok(()) }
}

fn wrapped(wrapper: &Wrapper, mut command: SimpleCommand) -> Result<Runs, Unclear> {
    let asks = |word: &Word| matches!(word, Word::Known(text) if text == "-v" || text == "-V");
    if wrapper.name == "command" && command.words.get(1).is_some_and(asks) {
        return Ok(Runs::Itself(command));
    }
    let Options { end: mut start, replaced, appends, unsets, read } = options(wrapper, &command.words)?;
    let read = read.into_iter().map(|file| Redirect { writes: false, target: Word::Known(file) });
    command.redirects.extend(read);
    // The variables taken away may be what keeps the command from running programs of a repository's, so it counts
    // itself, too. A lone `-` takes all.
    let is_dash = |word: &Word| matches!(word, Word::Known(text) if text == "-");
    let takes_all = wrapper.name == "env" && command.words.get(start).is_some_and(is_dash);
    start += usize::from(takes_all);
    let unsetting = (unsets || takes_all).then(|| command.clone());
    let mut assignments = Vec::new();
    // `time` is a word of the shell, so what follows it is a command of the shell. `env` takes any name for a
    // variable's.
    let is_assignment = |word: &str| match word.split_once('=') {
        Some((name, _)) if wrapper.name == "time" => is_variable(name.strip_suffix('+').unwrap_or(name)),
        Some(_) => wrapper.name == "env",
        None => false,
    };
    while let Some(Word::Known(word)) = command.words.get(start)
        && is_assignment(word)
    {
        assignments.push(word.clone());
        start += 1;
    }
    // One that is not known may come to be several words, of which the second is the command.
    for _ in 0..wrapper.operands {
        if matches!(command.words.get(start), Some(Word::Unknown(_))) {
            return Err(Unclear(format!("an argument of `{}` is known only when it runs", wrapper.name)));
        }
        start += 1;
    }
    if start >= command.words.len() {
        return Ok(Runs::Itself(command));
    }
    let mut words = command.words.split_off(start);
    if let Some(replaced) = &replaced {
        words.iter_mut().for_each(|word| unknown_where(word, replaced));
    }
    if wrapper.name == "xargs" && appends {
        words.push(Word::Unknown("(what xargs reads)".to_owned()));
    }
    command.words = words;
    command.assignments.extend(assignments);
    if wrapper.name == "nohup" {
        // There goes what it prints to a terminal, and where else it goes is not told from here.
        command.redirects.push(Redirect { writes: true, target: Word::Known("nohup.out".to_owned()) });
    }
    Ok(match unsetting {
        Some(wrapped) => Runs::ItselfAnd(wrapped, vec![command]),
        None => Runs::Other(command),
    })
}

/// True if a text can be the name of a variable.
pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The options before a wrapped command, as they are read.
struct Options {
    /// Where they end.
    end: usize,
    /// The text that `xargs -I` replaces.
    replaced: Option<String>,
    /// True if `xargs` adds to the command what it reads: it does without `-I`, and may where another option that comes
    /// with `-I` takes its effect away.
    appends: bool,
    /// True if `env` takes variables away.
    unsets: bool,
    /// The files that `xargs` reads, of which it makes arguments.
    read: Vec<String>,
}

/// Reads a wrapper's options. A value that is not known may come to be several words or none, so it is refused.
fn options(wrapper: &Wrapper, words: &[Word]) -> Result<Options, Unclear> {
    let unclear = || Unclear(format!("an argument of `{}` is not understood", wrapper.name));
    let mut replaced = None;
    let mut is_limited = false;
    let mut unsets = false;
    let mut read = Vec::new();
    let mut words = words.iter().enumerate().skip(1);
    let mut next = || match words.next() {
        Some((at, Word::Known(word))) => Ok(Some((at, word.as_str()))),
        Some((_, Word::Unknown(_))) => Err(unclear()),
        None => Ok(None),
    };
    let mut end = 1;
    while let Some((at, word)) = next()? {
        end = at + 1;
        if word == "--" {
            break;
        }
        let mut value = || match next()? {
            Some((at, value)) => {
                end = at + 1;
                Ok(value)
            }
            None => Err(unclear()),
        };
        if let Some(long) = word.strip_prefix("--") {
            let (name, given) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            is_limited |= name == "max-args";
            unsets |= matches!(name, "ignore-environment" | "unset");
            if wrapper.long_valued.contains(&name) {
                let value = given.map_or_else(&mut value, Ok)?;
                read.extend((name == "arg-file").then(|| value.to_owned()));
            } else if given.is_some() || !wrapper.long.contains(&name) {
                return Err(unclear());
            }
            continue;
        }
        let Some(short) = word.strip_prefix('-').filter(|short| !short.is_empty()) else {
            end = at;
            break;
        };
        if wrapper.name == "nice" && short.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        for (index, letter) in short.char_indices() {
            unsets |= wrapper.name == "env" && matches!(letter, 'i' | 'u');
            if wrapper.flags.contains(letter) {
                continue;
            }
            if !wrapper.valued.contains(letter) {
                return Err(unclear());
            }
            let attached = short.get(index + letter.len_utf8()..).unwrap_or_default();
            let value = if attached.is_empty() { value()? } else { attached };
            match letter {
                'I' => replaced = Some(value.to_owned()),
                'a' => read.push(value.to_owned()),
                'L' | 'n' => is_limited = true,
                _ => {}
            }
            break;
        }
    }
    let appends = replaced.is_none() || is_limited;
    Ok(Options { end, replaced, appends, unsets, read })
}

/// `sh` and its like: a line after `-c`, or a script, which stands for itself.
fn shell(name: &str, command: SimpleCommand) -> Result<Runs, Unclear> {
    let unclear = || Unclear::from("an argument of a shell is not understood");
    let mut is_line = false;
    let mut at = 1;
    while let Some(word) = command.words.get(at) {
        let Word::Known(word) = word else { break };
        match word.as_str() {
            "--" => {
                at += 1;
                break;
            }
            "--norc" | "--noprofile" | "--login" | "--posix" | "--version" | "--help" => {}
            _ => match word.strip_prefix(['-', '+']) {
                Some(letters)
                    if !letters.is_empty() && letters.chars().all(|c| c == 'o' || SHELL_LETTERS.contains(c)) =>
                {
                    is_line |= word.starts_with('-') && letters.contains('c');
                    // Each takes a further word, which must be known to be one.
                    for _ in letters.matches('o') {
                        at += 1;
                        match command.words.get(at) {
                            Some(Word::Known(option)) if SHELL_OPTIONS.contains(&option.as_str()) => {}
                            _ => return Err(unclear()),
                        }
                    }
                }
                Some(_) => return Err(unclear()),
                None => break,
            },
        }
        at += 1;
    }
    match command.words.get(at) {
        Some(Word::Known(line)) if is_line => {
            if name != "bash" {
                guards::portable(line)?;
            }
            Ok(Runs::Line { line: line.clone(), wrapper: command })
        }
        Some(Word::Unknown(_)) if is_line => Err("a shell's line is known only when it runs".into()),
        Some(_) => Ok(Runs::Itself(command)),
        None if command
            .words
            .iter()
            .any(|word| matches!(word, Word::Known(text) if text == "--version" || text == "--help")) =>
        {
            Ok(Runs::Itself(command))
        }
        None => Err("a shell reads its commands from its input".into()),
    }
}

/// `find`, with what it runs for each file.
fn find(command: SimpleCommand) -> Result<Runs, Unclear> {
    let mut inner = Vec::new();
    let mut words = command.words.iter();
    while let Some(word) = words.next() {
        let action = match word {
            Word::Known(action) => action,
            Word::Unknown(text) if text.starts_with(['$', '`']) => {
                return Err("it is not clear what `find` runs".into());
            }
            Word::Unknown(_) => continue,
        };
        if !matches!(action.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            continue;
        }
        let mut run = Vec::new();
        for word in words.by_ref() {
            let after_file = matches!(run.last(), Some(Word::Unknown(file)) if file == "{}");
            match word {
                Word::Known(end) if end == ";" || (end == "+" && after_file) => break,
                _ => run.push(word.clone()),
            }
            run.iter_mut().for_each(|word| unknown_where(word, "{}"));
        }
        if run.is_empty() {
            return Err("it is not clear what `find` runs".into());
        }
        inner.push(SimpleCommand { words: run, assignments: command.assignments.clone(), redirects: Vec::new() });
    }
    Ok(Runs::ItselfAnd(command, inner))
}

/// A word in which a text will be replaced is not known.
fn unknown_where(word: &mut Word, replaced: &str) {
    if let Word::Known(text) = word
        && text.contains(replaced)
    {
        *word = Word::Unknown(std::mem::take(text));
    }
}
