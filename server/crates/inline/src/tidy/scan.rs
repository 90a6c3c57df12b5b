//! Brackets, strings and comments of a text, without a grammar: it has to work on code that is being typed, from any
//! point on, and in languages that we have no grammar for.

use std::path::Path;

/// The marks of strings and comments in a kind of language.
#[derive(Debug)]
pub(super) struct Lexis {
    /// The begins of comments that end with their line.
    pub(super) line_comments: &'static [&'static str],
    /// The begins and ends of other comments.
    block_comments: &'static [(&'static str, &'static str)],
    /// The begins and ends of strings that may have many lines, and if a backslash escapes in them.
    long_strings: &'static [(&'static str, &'static str, bool)],
    /// The quotes around strings of one line.
    quotes: &'static [u8],
    /// True if `'` stands before and after a single character, and before a lifetime or the like.
    has_chars: bool,
    /// True if `/` may begin a regular expression.
    has_regex: bool,
    /// The brackets that are certain to be pairs, opening ones.
    brackets: &'static [u8],
    /// The words that end blocks.
    end_words: &'static [&'static str],
    /// True if it is text for people, which is not made of statements.
    pub(super) is_prose: bool,
}

const ALL_BRACKETS: &[u8] = b"([{";
const C_COMMENTS: &[(&str, &str)] = &[("/*", "*/")];
const MARKUP_COMMENTS: &[(&str, &str)] = &[("<!--", "-->")];

const C_LIKE: Lexis = Lexis {
    line_comments: &["//"],
    block_comments: C_COMMENTS,
    long_strings: &[("\"\"\"", "\"\"\"", true)],
    quotes: b"\"",
    has_chars: true,
    has_regex: false,
    brackets: ALL_BRACKETS,
    end_words: &[],
    is_prose: false,
};
const HASH: Lexis = Lexis {
    line_comments: &["#"],
    block_comments: &[],
    long_strings: &[("\"\"\"", "\"\"\"", true), ("'''", "'''", true)],
    quotes: b"\"'",
    has_chars: false,
    has_regex: false,
    brackets: ALL_BRACKETS,
    end_words: &[],
    is_prose: false,
};
static RUST: Lexis = Lexis { long_strings: &[("\"", "\"", true)], quotes: b"", ..C_LIKE };
static GO: Lexis = Lexis { long_strings: &[("`", "`", false)], ..C_LIKE };
static SCRIPT: Lexis =
    Lexis { long_strings: &[("`", "`", true)], quotes: b"\"'", has_chars: false, has_regex: true, ..C_LIKE };
static CPP: Lexis = C_LIKE;
static PHP: Lexis = Lexis {
    line_comments: &["//", "#"],
    long_strings: &[("\"", "\"", true), ("'", "'", true)],
    quotes: b"",
    has_chars: false,
    ..C_LIKE
};
static CSS: Lexis = Lexis { line_comments: &[], long_strings: &[], quotes: b"\"'", has_chars: false, ..C_LIKE };
static SCSS: Lexis = Lexis { line_comments: &["//"], ..CSS };
static PYTHON: Lexis = HASH;
static RUBY: Lexis = Lexis { end_words: &["end"], ..HASH };
static BASH: Lexis = Lexis {
    long_strings: &[("'", "'", false)],
    quotes: b"\"",
    brackets: b"{",
    end_words: &["fi", "done", "esac"],
    ..HASH
};
static LUA: Lexis = Lexis {
    line_comments: &["--"],
    block_comments: &[("--[[", "]]"), ("--[=[", "]=]")],
    long_strings: &[("[[", "]]", false), ("[=[", "]=]", false)],
    end_words: &["end"],
    ..HASH
};
static SQL: Lexis = Lexis {
    line_comments: &["--"],
    block_comments: C_COMMENTS,
    long_strings: &[("'", "'", false)],
    quotes: b"",
    ..HASH
};
static LISP: Lexis = Lexis { line_comments: &[";"], long_strings: &[("\"", "\"", true)], quotes: b"", ..HASH };
static MARKUP: Lexis =
    Lexis { line_comments: &[], block_comments: MARKUP_COMMENTS, long_strings: &[], quotes: b"", ..HASH };
static PROSE: Lexis = Lexis {
    line_comments: &[],
    block_comments: MARKUP_COMMENTS,
    long_strings: &[],
    quotes: b"",
    brackets: b"",
    is_prose: true,
    ..HASH
};

impl Lexis {
    /// The marks in a file of this name. One that is not known is prose.
    pub(super) fn of(path: &Path) -> &'static Self {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "rs" => &RUST,
            "go" => &GO,
            "ts" | "mts" | "cts" | "tsx" | "js" | "jsx" | "mjs" | "cjs" => &SCRIPT,
            "c" | "h" | "cpp" | "cc" | "cxx" | "hpp" | "hh" | "hxx" | "inl" | "ipp" | "m" | "mm" | "cs" | "java"
            | "kt" | "kts" | "scala" | "swift" | "dart" | "zig" | "proto" | "groovy" | "gradle" | "v" | "sv"
            | "json" | "jsonc" | "json5" | "fs" | "fsx" | "glsl" | "cu" => &CPP,
            "php" | "phtml" => &PHP,
            "css" | "less" => &CSS,
            "scss" => &SCSS,
            "rb" | "rake" | "gemspec" | "ex" | "exs" | "jl" => &RUBY,
            "py" | "pyi" | "yaml" | "yml" | "toml" | "pl" | "r" | "nix" | "tf" | "hcl" | "cmake" | "conf" => &PYTHON,
            "sh" | "bash" | "zsh" => &BASH,
            "lua" => &LUA,
            "sql" => &SQL,
            "lisp" | "el" | "clj" | "cljs" | "scm" | "rkt" => &LISP,
            "html" | "htm" | "xhtml" | "xml" | "svg" | "vue" | "svelte" => &MARKUP,
            _ => &PROSE,
        }
    }

    /// True if a line begins with what closes a block.
    pub(super) fn begins_closing(&self, line: &str) -> bool {
        let line = line.trim_start();
        line.starts_with([')', ']', '}']) || line.starts_with("</") || self.without_end_word(line).is_some()
    }

    /// True if a line is only what closes blocks.
    pub(super) fn is_closing(&self, line: &str) -> bool {
        let line = line.trim().trim_end_matches([',', ';']);
        let is_brackets = |text: &str| text.chars().all(|c| ")]}".contains(c));
        let is_element = line.starts_with("</") && line.ends_with('>');
        !line.is_empty() && (is_brackets(line) || is_element || self.without_end_word(line).is_some_and(is_brackets))
    }

    /// The text behind the word that ends a block, if a line begins with one.
    fn without_end_word<'t>(&self, line: &'t str) -> Option<&'t str> {
        let rest = self.end_words.iter().find_map(|word| line.strip_prefix(*word))?;
        let is_end = |c: char| c.is_whitespace() || ")]},;.|&<>:".contains(c);
        (rest.is_empty() || rest.starts_with(is_end)).then_some(rest)
    }

    /// True if a text has a bracket or a quote of the language's in it.
    pub(super) fn has_marks(&self, text: &str) -> bool {
        let is_long = |byte: u8| self.long_strings.iter().any(|(_, end, _)| end.as_bytes().first() == Some(&byte));
        text.bytes().any(|byte| {
            self.quotes.contains(&byte)
                || is_long(byte)
                || self.brackets.iter().any(|kind| closer(*kind) == Some(char::from(byte)))
        })
    }

    /// True if a comment that ends with its line begins a text.
    pub(super) fn begins_comment(&self, text: &str) -> bool {
        let begins = |mark: &&str| text.starts_with(*mark);
        self.line_comments.iter().any(begins)
            || self.block_comments.iter().any(|(begin, _)| text.starts_with(*begin))
            || (!self.block_comments.is_empty() && text.starts_with('*'))
    }
}

/// The part of a language that a point of a text is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    within: Option<Within>,
    /// The last character that is no space; none at the beginning.
    last: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Within {
    end: String,
    quote: Option<u8>,
    is_of_line: bool,
    has_escapes: bool,
}

/// A bracket or a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its first byte.
    pub(super) start: usize,
    /// The byte after its last.
    pub(super) end: usize,
    /// The opening bracket of the pair, or the quote.
    pub(super) kind: u8,
    /// True if it opens.
    pub(super) is_open: bool,
    /// True if nothing closes the string but the end of the line.
    pub(super) is_implied: bool,
}

impl State {
    /// True in a comment.
    pub(super) fn is_comment(&self) -> bool {
        self.within.as_ref().is_some_and(|within| within.quote.is_none())
    }

    /// True in a comment or a string that ends with its line.
    pub(super) fn is_of_line(&self) -> bool {
        self.within.as_ref().is_some_and(|within| within.is_of_line)
    }

    /// True in a string that may have many lines and mostly has one.
    fn is_mostly_of_line(&self) -> bool {
        self.within.as_ref().is_some_and(|within| within.quote.is_some() && matches!(within.end.as_str(), "\"" | "'"))
    }

    /// The state at the end of a line, of which it goes through the rest. A string whose end is missing there is
    /// taken to end: otherwise code and strings would change places in all that follows.
    pub(super) fn at_end_of_line(mut self, lexis: &Lexis, rest: &str) -> Self {
        let is_open = self.is_mostly_of_line();
        let marks = self.scan(lexis, rest);
        if is_open && !marks.iter().any(|mark| !mark.is_open) { Self::default() } else { self }
    }

    /// True in a comment or a string.
    pub(super) fn is_verbatim(&self) -> bool {
        self.within.is_some()
    }

    /// The text that ends the string it is in.
    pub(super) fn end_of_string(&self) -> Option<&str> {
        self.within.as_ref().filter(|within| within.quote.is_some()).map(|within| within.end.as_str())
    }

    /// True if a text begins and ends within the same string or comment.
    pub(super) fn holds(&self, lexis: &Lexis, text: &str) -> bool {
        let mut after = self.clone();
        self.is_verbatim() && after.scan(lexis, text).is_empty() && after.within == self.within
    }

    /// Goes on through a text, and returns the brackets and quotes in it.
    pub(super) fn scan(&mut self, lexis: &Lexis, text: &str) -> Vec<Mark> {
        let bytes = text.as_bytes();
        let mut marks = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at).copied() {
            at = match self.within.take() {
                Some(within) => self.go_on_within(within, bytes, at, byte, &mut marks),
                None => self.go_on_in_code(lexis, bytes, at, byte, &mut marks),
            };
        }
        marks
    }

    fn go_on_within(&mut self, within: Within, bytes: &[u8], at: usize, byte: u8, marks: &mut Vec<Mark>) -> usize {
        let is_escape = byte == b'\\' && within.has_escapes;
        let ends = bytes.get(at..).is_some_and(|rest| rest.starts_with(within.end.as_bytes()));
        let is_implied = within.is_of_line && byte == b'\n';
        if !is_escape && (ends || is_implied) {
            let end = if is_implied { at } else { at + within.end.len() };
            if let Some(kind) = within.quote {
                marks.push(Mark { start: at, end, kind, is_open: false, is_implied });
                self.last = Some(kind);
            }
            // An implied end is the line's, which is read again as code.
            return end.max(at + usize::from(is_implied));
        }
        self.within = Some(within);
        at + if is_escape { 2 } else { 1 }
    }

    fn go_on_in_code(&mut self, lexis: &Lexis, bytes: &[u8], at: usize, byte: u8, marks: &mut Vec<Mark>) -> usize {
        let rest = bytes.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| bytes.get(before).copied());
        if byte.is_ascii_whitespace() {
            return at + 1;
        }
        let last = self.last.replace(byte);
        if byte.is_ascii_alphanumeric() && !matches!(byte, b'r' | b'b') {
            return at + 1;
        }
        if let Some((begin, end)) = lexis.block_comments.iter().find(|(begin, _)| rest.starts_with(begin.as_bytes())) {
            self.last = last;
            self.enter(end, None, false, false);
            return at + begin.len();
        }
        let is_free = before.is_none_or(|before| before.is_ascii_whitespace());
        let is_comment = |mark: &&&str| rest.starts_with(mark.as_bytes()) && (**mark != "#" || is_free);
        if let Some(mark) = lexis.line_comments.iter().find(is_comment) {
            self.last = last;
            self.enter("\n", None, true, false);
            return at + mark.len();
        }
        if let Some(length) = self.raw_string(lexis, rest, before) {
            marks.push(Mark { start: at, end: at + length, kind: b'"', is_open: true, is_implied: false });
            return at + length;
        }
        let long = lexis.long_strings.iter().find(|(begin, _, _)| rest.starts_with(begin.as_bytes()));
        if let Some((begin, end, has_escapes)) = long {
            self.enter(end, Some(byte), false, *has_escapes);
            marks.push(Mark { start: at, end: at + begin.len(), kind: byte, is_open: true, is_implied: false });
            return at + begin.len();
        }
        if lexis.has_chars && byte == b'\'' {
            return at + char_length(rest);
        }
        let is_regex = byte == b'/' && lexis.has_regex && last.is_none_or(|last| b"(,=:[!&|?{;+".contains(&last));
        if lexis.quotes.contains(&byte) || is_regex {
            let end = if is_regex {
                "/"
            } else if byte == b'"' {
                "\""
            } else {
                "'"
            };
            self.enter(end, Some(byte), true, true);
            marks.push(Mark { start: at, end: at + 1, kind: byte, is_open: true, is_implied: false });
            return at + 1;
        }
        let kind = match byte {
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            other => other,
        };
        if lexis.brackets.contains(&kind) {
            marks.push(Mark { start: at, end: at + 1, kind, is_open: kind == byte, is_implied: false });
        }
        at + 1
    }

    /// Enters a raw string of Rust's, if one begins here, and returns the length of its beginning.
    fn raw_string(&mut self, lexis: &Lexis, rest: &[u8], before: Option<u8>) -> Option<usize> {
        let is_word = before.is_some_and(|before| before.is_ascii_alphanumeric() || before == b'_');
        if !std::ptr::eq(lexis, &raw const RUST) || is_word {
            return None;
        }
        let prefix = if rest.starts_with(b"br") { 2 } else { 1 };
        let hashes = rest.strip_prefix(b"br").or_else(|| rest.strip_prefix(b"r"))?;
        let count = hashes.iter().take_while(|byte| **byte == b'#').count();
        if hashes.get(count) != Some(&b'"') {
            return None;
        }
        self.enter(&format!("\"{}", "#".repeat(count)), Some(b'"'), false, false);
        Some(prefix + count + 1)
    }

    fn enter(&mut self, end: &str, quote: Option<u8>, is_of_line: bool, has_escapes: bool) {
        self.within = Some(Within { end: end.to_owned(), quote, is_of_line, has_escapes });
    }
}

/// The bracket that closes a pair.
pub(super) fn closer(kind: u8) -> Option<char> {
    match kind {
        b'(' => Some(')'),
        b'[' => Some(']'),
        b'{' => Some('}'),
        _ => None,
    }
}

/// The length of a character in quotes, or of the quote before a lifetime.
fn char_length(rest: &[u8]) -> usize {
    let Some(first) = rest.get(1) else { return 1 };
    if *first == b'\\' {
        let tail = rest.get(3..).unwrap_or_default();
        return tail.iter().take(10).position(|byte| *byte == b'\'').map_or(1, |at| at + 4);
    }
    let is_end = |at: usize| rest.get(at) == Some(&b'\'');
    (2..=5).find(|at| is_end(*at)).filter(|at| *at == 2 || !first.is_ascii()).map_or(1, |at| at + 1)
}

/// The lines of a text that begin inside a string, where white space counts, when it is scanned from a state on.
pub(super) fn verbatim_lines(lexis: &Lexis, state: &State, text: &str) -> Vec<bool> {
    let mut state = state.clone();
    let mut lines = Vec::new();
    let mut is_joined = false;
    for line in text.split_inclusive('\n') {
        // Rust leaves out the white space behind a line that ends so.
        lines.push(state.end_of_string().is_some() && !(is_joined && std::ptr::eq(lexis, &raw const RUST)));
        state.scan(lexis, line);
        is_joined = line.trim_end_matches('\n').ends_with('\\');
    }
    lines
}
