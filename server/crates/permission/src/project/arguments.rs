//! The arguments of programs, as far as all programs of the table have them in common.

use super::super::places::Places;

/// A program's words, or what follows some of them.
#[derive(Clone, Copy)]
pub(super) struct Arguments<'a> {
    pub(super) words: &'a [&'a str],
    pub(super) places: &'a Places<'a>,
}

impl<'a> Arguments<'a> {
    /// The program's name and its arguments. A program of the project's own packages goes by its name, as does a
    /// wrapper that projects bring along (`./gradlew`).
    pub(super) fn split(&self) -> Option<(&'a str, Self)> {
        let (first, rest) = self.words.split_first()?;
        let rest = Self { words: rest, places: self.places };
        let Some((folder, name)) = first.rsplit_once('/') else { return Some((first, rest)) };
        let of_packages = ["node_modules/.bin", "vendor/bin", ".venv/bin", "venv/bin"];
        let folder = folder.strip_prefix("./").unwrap_or(folder);
        let is_own = of_packages.contains(&folder) || (folder == "." && matches!(name, "gradlew" | "mvnw"));
        (is_own && self.places.holds_own(first)).then_some((name, rest))
    }

    /// The program and what it is told to do, for people.
    pub(super) fn name(&self) -> String {
        let plain = |word: &&&str| !word.starts_with(['-', '+']) && !word.contains(['/', '=', '.', '*']);
        let operand = self.words.iter().skip(1).find(|word| !word.starts_with(['-', '+'])).filter(plain);
        let name = self.words.first().copied().unwrap_or_default();
        operand.map_or_else(|| name.to_owned(), |operand| format!("{name} {operand}"))
    }

    /// Returns the arguments after the first `count` words.
    pub(super) fn after(&self, count: usize) -> Self {
        Self { words: self.words.get(count..).unwrap_or_default(), places: self.places }
    }

    pub(super) fn with(&self, words: &'a [&'a str]) -> Self {
        Self { words, places: self.places }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    pub(super) fn first(&self) -> Option<&'a str> {
        self.words.first().copied()
    }

    /// Returns the arguments before `--`, and those after it.
    pub(super) fn at_dashes(&self) -> (Self, Self) {
        let at = self.words.iter().position(|word| *word == "--").unwrap_or(self.words.len());
        (self.with(self.words.get(..at).unwrap_or_default()), self.after(at + 1))
    }

    /// True if one of these flags is among them, also shortened, or with its value in the same word.
    pub(super) fn has(&self, flags: &[&str]) -> bool {
        self.words.iter().any(|word| flags.iter().any(|flag| is_flag(word, flag)))
    }

    /// The operands, where no flags but these are given: those without and those with a value. A flag's value may be in
    /// the same word or in the next. None if there is another flag.
    pub(super) fn operands(&self, flags: &[&str], valued: &[&str]) -> Option<Vec<&'a str>> {
        let mut operands = Vec::new();
        let mut words = self.words.iter();
        while let Some(word) = words.next() {
            if !word.starts_with('-') {
                operands.push(*word);
                continue;
            }
            let name = word.split('=').next().unwrap_or_default();
            let is_glued = |flag: &&&str| flag.len() == 2 && !word.starts_with("--") && word.starts_with(**flag);
            if flags.contains(&name) && name.len() == word.len() {
                continue;
            }
            if valued.contains(&name) {
                if name.len() == word.len() {
                    words.next()?;
                }
            } else if !valued.iter().any(|flag| is_glued(&flag)) && !is_cluster(word, flags) {
                return None;
            }
        }
        Some(operands)
    }
}

/// Flags of one letter each in one word.
fn is_cluster(word: &str, flags: &[&str]) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| letters.len() > 1 && !letters.starts_with('-'));
    letters.is_some_and(|letters| letters.chars().all(|letter| flags.contains(&format!("-{letter}").as_str())))
}

fn is_flag(word: &str, flag: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    if flag.starts_with("--") {
        // Many programs take the beginning of a flag for the flag.
        return name == flag || (name.len() > 3 && word.starts_with("--") && flag.starts_with(name));
    }
    if flag.len() > 2 {
        // Some programs take one dash or two.
        return name == flag || name.strip_prefix('-') == Some(flag);
    }
    !word.starts_with("--") && word.starts_with(flag)
}

/// True if a word names nothing outside the workspace, nothing of the network, and holds no code.
pub(super) fn stays(word: &str, places: &Places<'_>) -> bool {
    let holds_code =
        word.contains(['$', '`', ';', '|', '&', '<', '>', '"', '\'', '\\', '(', ')', '\n', '\r', '#', '%']);
    let is_other_file = |piece: &str| {
        let from = if piece.starts_with('-') { piece.find('/').unwrap_or(piece.len()) } else { 0 };
        let path = piece.get(from..).unwrap_or_default();
        let leaves = path.starts_with('~') || (piece.starts_with('-') && piece.contains(".."));
        !path.is_empty() && (leaves || !places.holds_own(path))
    };
    // The input that a program reads may be code.
    word != "-" && !holds_code && !has_scheme(word) && !pieces(word).any(is_other_file)
}

/// The parts of a word that could be paths.
pub(super) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let split = word.split_inclusive(['=', ',', ':', '{', '}', '@', ' ', '\t', '[', ']']);
    // `{,x}/y` becomes `/y`, too.
    let may_be_empty = ["{,", ",,", ",}", "{}"].iter().any(|empty| word.contains(empty));
    let mut goes_on = false;
    let pieces = split.map(move |piece| {
        // Text after a brace goes on with what stands in it.
        let text = if goes_on { piece.trim_start_matches('/') } else { piece };
        goes_on = piece.ends_with('}') && !may_be_empty;
        text.trim_end_matches(['=', ',', ':', '{', '}', '@', ' ', '\t', '[', ']'])
    });
    pieces.filter(|piece| !piece.is_empty())
}

/// True if it names something of the network, or is code itself.
fn has_scheme(word: &str) -> bool {
    const SCHEMES: &[&str] =
        &["data", "ftp", "gist", "git", "github", "http", "https", "javascript", "jsr", "npm", "ssh"];
    let mut parts = word.split(['=', ',', ' ', '{', '@', '+']).filter_map(|part| part.split_once(':'));
    word.contains("://") || parts.any(|(scheme, _)| SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known)))
}

/// True if what a project calls one of its commands says that it leaves the machine or the workspace.
pub(super) fn leaves(name: &str) -> bool {
    name.to_lowercase().split([':', '-', '_', '.', '/']).any(|part| part == "install" || LEAVES.contains(&part))
}

/// True if a pattern of such names may come to one that leaves, by a word of it that is written only in part.
pub(super) fn may_leave(pattern: &str) -> bool {
    let partial = |word: &str| {
        let (fixed, rest) = word.split_once('*')?;
        (!fixed.is_empty() || !rest.trim_matches('*').is_empty()).then(|| fixed.to_owned())
    };
    let pattern = pattern.to_lowercase();
    let mut begun = pattern.split([':', '-', '_', '.', '/']).filter_map(partial);
    begun.any(|fixed| LEAVES.iter().chain(&["install"]).any(|word| word.starts_with(&fixed)))
}

/// True if a word, as a whole or before a colon, tells a program to leave the machine or the workspace.
pub(super) fn tells_to_leave(word: &str) -> bool {
    word.split(':').next().is_some_and(|first| LEAVES.contains(&first.to_lowercase().as_str()))
}

/// The names that projects give to what leaves them. One called `install` may be what only fetches packages, too.
const LEAVES: &[&str] = &[
    "deploy",
    "deployment",
    "login",
    "logout",
    "postinstall",
    "preinstall",
    "publish",
    "push",
    "release",
    "ship",
    "sudo",
    "uninstall",
    "upload",
];

/// True if it can be a name of a test, a target, a script: nothing but letters and what joins them.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-.:/+*".contains(c))
}

/// True if an assignment is a switch of the project's own: on or off, and of no name by which programs are told what to
/// run or whom to trust.
pub(super) fn switches(name: &str, value: &str) -> bool {
    const OTHERS: &[&str] = &[
        "BASH",
        "CARGO",
        "CLASSPATH",
        "CURL",
        "DOCKER",
        "DYLD",
        "ENV",
        "GEM",
        "GIT",
        "GO",
        "HISTFILE",
        "HOME",
        "IFS",
        "JAVA",
        "LD",
        "MAKE",
        "MAVEN",
        "NODE",
        "NPM",
        "PATH",
        "PERL",
        "PIP",
        "PNPM",
        "PROMPT",
        "PS",
        "PYTHON",
        "RUBY",
        "RUSTC",
        "RUSTUP",
        "SHELL",
        "SHELLOPTS",
        "SSH",
        "SUDO",
        "UV",
        "XDG",
        "YARN",
    ];
    const DOUBTFUL: &[&str] = &[
        "CA", "CERT", "HOST", "INSECURE", "KEY", "PROXY", "SECURE", "SSL", "STRICT", "TLS", "TOKEN", "UNSAFE", "VERIFY",
    ];
    let is_upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default();
    let is_switch = ["0", "1", "true", "false", "on", "off", "yes", "no"].contains(&value.to_lowercase().as_str());
    !name.is_empty()
        && name.chars().all(is_upper)
        && is_switch
        && !OTHERS.contains(&first)
        && !name.split('_').any(|part| DOUBTFUL.contains(&part))
}
