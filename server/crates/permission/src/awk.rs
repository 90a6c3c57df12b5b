//! Programs of awk that only read: by their words, since a program can run commands, write files and read others.
//!
//! A program is taken apart into words, numbers, texts, patterns and signs. Where awk itself could take it apart in
//! another way, as a `/` that may divide or begin a pattern, it is not understood, and asked. What is understood only
//! reads if all its names are variables of its own or in the list of harmless ones, and if nothing in it is a sign that
//! writes or joins commands: `|`, and `>` but for comparisons in conditions.

/// Names of the language that neither run, nor write, nor read a file, nor tell of the environment.
const HARMLESS: &[&str] = &[
    "BEGIN",
    "BEGINFILE",
    "END",
    "ENDFILE",
    "FILENAME",
    "FNR",
    "FS",
    "NF",
    "NR",
    "OFMT",
    "OFS",
    "ORS",
    "RLENGTH",
    "RS",
    "RSTART",
    "SUBSEP",
    "atan2",
    "break",
    "continue",
    "cos",
    "delete",
    "do",
    "else",
    "exit",
    "exp",
    "for",
    "gensub",
    "gsub",
    "if",
    "in",
    "index",
    "int",
    "length",
    "log",
    "match",
    "next",
    "nextfile",
    "print",
    "printf",
    "rand",
    "return",
    "sin",
    "split",
    "sprintf",
    "sqrt",
    "srand",
    "sub",
    "substr",
    "tolower",
    "toupper",
    "while",
];

/// Names of the language, or of one of its dialects, that do more. A variable of the program's own is called otherwise.
const OTHERS: &[&str] = &[
    "adump",
    "and",
    "asort",
    "asorti",
    "bindtextdomain",
    "chdir",
    "close",
    "compl",
    "dcgettext",
    "dcngettext",
    "default",
    "extension",
    "fflush",
    "func",
    "function",
    "getline",
    "isarray",
    "lshift",
    "mktime",
    "namespace",
    "or",
    "patsplit",
    "rshift",
    "stopme",
    "strftime",
    "strtonum",
    "switch",
    "system",
    "systime",
    "typeof",
    "xor",
];

/// True if a command's arguments are a program that only reads, and the files that it reads.
pub(super) fn only_reads(arguments: &[&str]) -> bool {
    operands(arguments).is_some_and(|operands| match operands.split_first() {
        // An operand with `=` sets a variable when its turn comes; of its own, or how lines are taken apart.
        // Some take an option there, too.
        Some((program, files)) => {
            is_reading(program)
                && files.iter().all(|file| !file.contains('=') && (*file == "-" || !file.starts_with('-')))
        }
        None => false,
    })
}

/// The program's place among the arguments. It can look like a path, and names none.
pub(super) fn program_at(arguments: &[&str]) -> Option<usize> {
    let operands = operands(arguments)?;
    arguments.len().checked_sub(operands.len()).filter(|at| *at < arguments.len())
}

/// Returns the arguments after the options, of which only those are known that set how lines are taken apart, or a
/// variable.
fn operands<'a, 'b>(arguments: &'b [&'a str]) -> Option<&'b [&'a str]> {
    let mut rest = arguments;
    loop {
        rest = match rest {
            ["--", rest @ ..] => return Some(rest),
            ["-F", separator, after @ ..] if !separator.is_empty() => after,
            ["-v", set, after @ ..] if sets_its_own(set) => after,
            [option, after @ ..] if option.starts_with('-') && option.len() > 1 => {
                let is_separator = option.strip_prefix("-F").is_some_and(|separator| !separator.is_empty());
                let is_set = option.strip_prefix("-v").is_some_and(sets_its_own);
                if !(is_separator || is_set) {
                    return None;
                }
                after
            }
            rest => return Some(rest),
        };
    }
}

/// True if `name=value` sets a variable of the program's own, or a separator.
fn sets_its_own(set: &str) -> bool {
    set.split_once('=').is_some_and(|(name, _)| {
        is_name(name) && (is_own(name) || matches!(name, "FS" | "OFS" | "RS" | "ORS" | "SUBSEP" | "OFMT"))
    })
}

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && text.starts_with(|c: char| !c.is_ascii_digit())
}

/// True if a name is none of the language's, nor of its dialects': those in capitals may be.
fn is_own(name: &str) -> bool {
    !HARMLESS.contains(&name) && !OTHERS.contains(&name) && name.chars().any(|c| c.is_ascii_lowercase())
}

/// A token of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    /// A number, a text or a pattern.
    Value,
    /// A sign, of one character.
    Sign(char),
    /// `||`.
    Or,
    LineEnd,
}

/// True if a program only reads.
fn is_reading(program: &str) -> bool {
    let Some(tokens) = tokens(program) else { return false };
    // A `>` within a `print` writes, though it compares within parentheses there. A line's end need not end the
    // statement.
    let mut prints = false;
    tokens.iter().enumerate().all(|(at, token)| match *token {
        Token::Name(name) => {
            prints |= matches!(name, "print" | "printf");
            // Who calls a function that is not in the list calls one that is not known.
            HARMLESS.contains(&name) || (is_own(name) && tokens.get(at + 1) != Some(&Token::Sign('(')))
        }
        Token::Sign(';' | '}') => {
            prints = false;
            true
        }
        Token::Sign('>') => !prints,
        _ => true,
    })
}

/// A program's parts; none if it is not understood.
fn tokens(program: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            ' ' | '\t' => c.len_utf8(),
            '\n' => {
                tokens.push(Token::LineEnd);
                1
            }
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' => {
                tokens.push(Token::Value);
                closed(rest, '"')?
            }
            '/' if begins_a_pattern(&tokens)? => {
                tokens.push(Token::Value);
                closed(rest, '/')?
            }
            c if c.is_ascii_digit() || c == '.' => {
                tokens.push(Token::Value);
                // `1e3` is one number; `1x` is two words, and rare.
                let end_of = |text: &str| text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
                let end = end_of(rest);
                let power = rest.get(end..).and_then(|rest| rest.strip_prefix(['e', 'E'])).map_or(0, end_of);
                let end = if power > 0 { end + 1 + power } else { end };
                if rest.get(end..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')) {
                    return None;
                }
                end
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                tokens.push(Token::Name(rest.get(..end)?));
                end
            }
            '|' if rest.starts_with("||") => {
                tokens.push(Token::Or);
                2
            }
            '<' | '>' | '=' | '!' | '+' | '-' | '*' | '/' | '%' | '^' | '~' | '?' | ':' | ',' | ';' | '$' | '&'
            | '(' | ')' | '[' | ']' | '{' | '}' => {
                tokens.push(Token::Sign(c));
                1
            }
            // A single `|`, `@`, a line that goes on, and what is no sign of awk's.
            _ => return None,
        };
        rest = rest.get(length..)?;
    }
    Some(tokens)
}

/// True if a `/` begins a pattern, by what stands before it. None if it could also divide.
fn begins_a_pattern(before: &[Token<'_>]) -> Option<bool> {
    match before.last() {
        None | Some(Token::LineEnd | Token::Or) => Some(true),
        Some(Token::Sign('(' | ',' | '{' | '}' | ';' | '!' | '~' | '&' | '?' | ':' | '=')) => Some(true),
        // After a value, a closing bracket or a name it divides; what follows is then read as more of the program.
        // After the condition of a statement, the statement begins.
        Some(Token::Sign(')')) => (!closes_a_condition(before)).then_some(false),
        Some(Token::Value | Token::Sign(']')) => Some(false),
        Some(Token::Name(name)) if is_own(name) || matches!(*name, "NF" | "NR" | "FNR") => Some(false),
        _ => None,
    }
}

/// True if the last token, a `)`, may end what stands behind `if`, `while` or `for`.
fn closes_a_condition(tokens: &[Token<'_>]) -> bool {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token {
            Token::Sign(')') => open += 1,
            Token::Sign('(') => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            let before = tokens.get(..at).unwrap_or_default();
            let before = before.iter().rev().find(|token| **token != Token::LineEnd);
            return matches!(before, Some(Token::Name("if" | "while" | "for")));
        }
    }
    // A bracket that closes nothing is none of awk's.
    true
}

/// The length of a text or pattern with its marks, from its first. It ends in its line.
fn closed(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return None,
            c if c == mark && !escaped => return Some(at + 1),
            '[' if mark == '/' && !escaped && !is_plain_set(text.get(at + 1..)?) => return None,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

/// True if what follows a `[` in a pattern is a set that each awk ends at the same place: some take a `/` in it for the
/// pattern's end.
fn is_plain_set(text: &str) -> bool {
    /// The names that stand for many letters in a set.
    const CLASSES: &[&str] = &["[:alnum:]", "[:alpha:]", "[:digit:]", "[:lower:]", "[:space:]", "[:upper:]"];
    let inner = text.strip_prefix('^').unwrap_or(text);
    let inner = CLASSES.iter().fold(inner.to_owned(), |inner, class| inner.replace(class, "a"));
    inner.split_once(']').is_some_and(|(set, _)| !set.is_empty() && !set.contains(['/', '[', '\\', '\n']))
}
