//! The options of a command that searches or compares, as the program itself takes them: which words are options, which
//! are values of options, and which are neither.

/// The options of a program that take the next word.
pub(super) struct Kinds {
    /// Letters that do. In a word of several letters the rest of it is the value.
    pub(super) valued: &'static str,
    /// Long options that do where no `=` follows.
    pub(super) long_valued: &'static [&'static str],
    /// Long options that do not. Of any other it is not known.
    pub(super) switches: &'static [&'static str],
    /// True if one word may hold several letters (`-rn`).
    pub(super) clusters: bool,
}

/// The words of a command behind its name.
pub(super) struct Flags<'a> {
    found: Vec<Flag<'a>>,
    /// Words that are no options, with their places among all words.
    pub(super) operands: Vec<(usize, &'a str)>,
    /// True if one of the operands may be the value of an option.
    pub(super) is_open: bool,
    /// Where the operands begin that stand behind `--`, whatever they look like.
    pub(super) behind: Option<usize>,
}

struct Flag<'a> {
    /// A letter, or a long option with its dashes.
    name: &'a str,
    value: Option<&'a str>,
    /// Where the value is the whole of a word.
    value_at: Option<usize>,
    /// True if it may be the value of another option instead.
    is_sure: bool,
}

impl<'a> Flags<'a> {
    pub(super) fn read(words: &[&'a str], kinds: &Kinds) -> Self {
        let mut flags = Self { found: Vec::new(), operands: Vec::new(), is_open: false, behind: None };
        let (mut at, mut is_sure) = (0, true);
        while let Some(word) = words.get(at).copied() {
            let next = words.get(at + 1).copied();
            let (mut step, mut is_next_sure) = (1, true);
            if word == "--" && is_sure {
                let rest = words.iter().copied().enumerate().skip(at + 1);
                flags.behind = Some(flags.operands.len());
                flags.operands.extend(rest);
                break;
            } else if word.starts_with("--") && word.len() > 2 {
                let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
                let takes = value.is_none() && kinds.long_valued.contains(&name);
                is_next_sure = value.is_some() || takes || kinds.switches.contains(&name);
                let (value, value_at) = if takes { (next, Some(at + 1)) } else { (value, None) };
                flags.found.push(Flag { name, value, value_at, is_sure });
                step += usize::from(takes);
            } else if word.starts_with('-') && word.len() > 1 && word != "--" {
                let takes = flags.letters(word, next.map(|next| (at + 1, next)), is_sure, kinds);
                step += usize::from(takes);
            } else {
                flags.is_open |= !is_sure;
                flags.operands.push((at, word));
            }
            (at, is_sure) = (at + step, is_next_sure);
        }
        flags
    }

    /// Reads a word of short options. Gives whether it takes the next word.
    fn letters(&mut self, word: &'a str, next: Option<(usize, &'a str)>, is_sure: bool, kinds: &Kinds) -> bool {
        for (at, letter) in word.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let name = word.get(at..end).unwrap_or_default();
            let rest = word.get(end..).filter(|rest| !rest.is_empty());
            let is_valued = kinds.valued.contains(letter);
            let (value, value_at) = match (is_valued, rest) {
                (true, None) => (next.map(|(_, word)| word), next.map(|(at, _)| at)),
                (true, rest) => (rest, None),
                (false, rest) => (rest.filter(|_| !kinds.clusters), None),
            };
            self.found.push(Flag { name, value, value_at, is_sure });
            if is_valued || !kinds.clusters {
                return is_valued && rest.is_none();
            }
        }
        false
    }

    /// True if one of these may be given, the long ones also shortened.
    pub(super) fn may_have(&self, names: &[&str]) -> bool {
        self.found.iter().any(|flag| {
            names.contains(&flag.name)
                || (flag.name.starts_with("--") && names.iter().any(|name| name.starts_with(flag.name)))
        })
    }

    /// True if one of these is given for sure.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.found.iter().any(|flag| flag.is_sure && flag.value.is_none() && names.contains(&flag.name))
    }

    /// True if there is any option at all.
    pub(super) fn is_any(&self) -> bool {
        !self.found.is_empty()
    }

    /// How often a letter may be given.
    pub(super) fn count(&self, letter: &str) -> usize {
        self.found.iter().filter(|flag| flag.name == letter).count()
    }

    /// True if a long option may be given that begins so.
    pub(super) fn may_begin(&self, start: &str) -> bool {
        self.found.iter().any(|flag| flag.name.starts_with(start))
    }

    /// The values of what may be this long option, also shortened.
    pub(super) fn shortened(&self, name: &str) -> impl Iterator<Item = Option<&'a str>> {
        self.found
            .iter()
            .filter(move |flag| flag.name.starts_with("--") && name.starts_with(flag.name))
            .map(|flag| flag.value)
    }

    /// The values of these options, also where they may be values of others.
    pub(super) fn values(&self, names: &[&str]) -> Vec<&'a str> {
        self.found.iter().filter(|flag| names.contains(&flag.name)).filter_map(|flag| flag.value).collect()
    }

    /// The values of these options where they are sure to be theirs.
    pub(super) fn sure_values(&self, names: &[&str]) -> Vec<&'a str> {
        let sure = self.found.iter().filter(|flag| flag.is_sure && names.contains(&flag.name));
        sure.filter_map(|flag| flag.value).collect()
    }

    /// The places of the words that are for sure values of these options.
    pub(super) fn places_of(&self, names: &[&str]) -> Vec<usize> {
        let sure = self.found.iter().filter(|flag| flag.is_sure && names.contains(&flag.name));
        sure.filter_map(|flag| flag.value_at).collect()
    }
}

/// Returns the options that searches for text take, also git's.
pub(super) fn of(name: &str, subcommand: Option<&str>) -> Option<&'static Kinds> {
    match (name, subcommand) {
        ("grep" | "egrep" | "fgrep", _) => Some(&GREP),
        ("rg", _) => Some(&RIPGREP),
        ("git", Some("grep")) => Some(&GIT_GREP),
        ("git", Some(_)) => Some(&GIT),
        _ => None,
    }
}

const GREP: Kinds = Kinds {
    valued: "ABCDdefm",
    long_valued: &[
        "--after-context",
        "--before-context",
        "--binary-files",
        "--context",
        "--devices",
        "--directories",
        "--exclude",
        "--exclude-dir",
        "--exclude-from",
        "--file",
        "--include",
        "--label",
        "--max-count",
        "--regexp",
    ],
    switches: &[
        "--basic-regexp",
        "--byte-offset",
        "--color",
        "--colour",
        "--count",
        "--extended-regexp",
        "--files-with-matches",
        "--files-without-match",
        "--fixed-strings",
        "--ignore-case",
        "--initial-tab",
        "--invert-match",
        "--line-buffered",
        "--line-number",
        "--line-regexp",
        "--no-filename",
        "--no-ignore-case",
        "--no-messages",
        "--null",
        "--null-data",
        "--only-matching",
        "--perl-regexp",
        "--quiet",
        "--recursive",
        "--silent",
        "--text",
        "--with-filename",
        "--word-regexp",
    ],
    clusters: true,
};

const RIPGREP: Kinds = Kinds {
    valued: "ABCEMTdefgjmrt",
    long_valued: &[
        "--after-context",
        "--before-context",
        "--color",
        "--colors",
        "--context",
        "--context-separator",
        "--encoding",
        "--engine",
        "--field-context-separator",
        "--field-match-separator",
        "--file",
        "--glob",
        "--iglob",
        "--max-columns",
        "--max-count",
        "--max-depth",
        "--max-filesize",
        "--path-separator",
        "--regexp",
        "--replace",
        "--sort",
        "--sortr",
        "--threads",
        "--type",
        "--type-add",
        "--type-clear",
        "--type-not",
    ],
    switches: &[
        "--case-sensitive",
        "--column",
        "--count",
        "--count-matches",
        "--files",
        "--files-with-matches",
        "--files-without-match",
        "--fixed-strings",
        "--heading",
        "--hidden",
        "--ignore-case",
        "--invert-match",
        "--json",
        "--line-number",
        "--line-regexp",
        "--multiline",
        "--multiline-dotall",
        "--no-config",
        "--no-filename",
        "--no-heading",
        "--no-ignore",
        "--no-ignore-vcs",
        "--no-line-number",
        "--no-messages",
        "--null",
        "--only-matching",
        "--passthru",
        "--pcre2",
        "--pretty",
        "--quiet",
        "--smart-case",
        "--stats",
        "--text",
        "--trim",
        "--unrestricted",
        "--vimgrep",
        "--with-filename",
        "--word-regexp",
    ],
    clusters: true,
};

const GIT_GREP: Kinds = Kinds {
    valued: "ABCefm",
    long_valued: &["--after-context", "--before-context", "--context", "--max-count", "--max-depth", "--threads"],
    switches: &[
        "--and",
        "--basic-regexp",
        "--break",
        "--cached",
        "--color",
        "--count",
        "--extended-regexp",
        "--files-with-matches",
        "--files-without-match",
        "--fixed-strings",
        "--full-name",
        "--heading",
        "--ignore-case",
        "--invert-match",
        "--line-number",
        "--name-only",
        "--no-index",
        "--only-matching",
        "--or",
        "--perl-regexp",
        "--quiet",
        "--show-function",
        "--text",
        "--untracked",
        "--word-regexp",
    ],
    clusters: true,
};

const GIT: Kinds = Kinds {
    valued: "GILOSUln",
    long_valued: &[
        "--after",
        "--anchored",
        "--author",
        "--before",
        "--committer",
        "--diff-algorithm",
        "--diff-filter",
        "--dst-prefix",
        "--find-object",
        "--grep",
        "--ignore-matching-lines",
        "--inter-hunk-context",
        "--line-prefix",
        "--max-count",
        "--rotate-to",
        "--since",
        "--skip",
        "--skip-to",
        "--src-prefix",
        "--until",
        "--word-diff-regex",
        "--ws-error-highlight",
    ],
    switches: &[
        "--abbrev-commit",
        "--all",
        "--binary",
        "--branches",
        "--cached",
        "--cc",
        "--check",
        "--color",
        "--color-moved",
        "--color-words",
        "--date-order",
        "--decorate",
        "--dirstat",
        "--exit-code",
        "--find-renames",
        "--first-parent",
        "--follow",
        "--full-index",
        "--function-context",
        "--graph",
        "--histogram",
        "--ignore-all-space",
        "--ignore-blank-lines",
        "--ignore-space-at-eol",
        "--ignore-space-change",
        "--include-untracked",
        "--merge-base",
        "--merges",
        "--minimal",
        "--name-only",
        "--name-status",
        "--no-color",
        "--no-commit-id",
        "--no-decorate",
        "--no-ext-diff",
        "--no-merges",
        "--no-patch",
        "--no-prefix",
        "--no-renames",
        "--numstat",
        "--oneline",
        "--patch",
        "--patch-with-raw",
        "--patch-with-stat",
        "--patience",
        "--pretty",
        "--quiet",
        "--raw",
        "--relative",
        "--reverse",
        "--root",
        "--shortstat",
        "--staged",
        "--stat",
        "--summary",
        "--tags",
        "--text",
        "--topo-order",
        "--walk-reflogs",
        "--word-diff",
    ],
    clusters: false,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_an_option_is_none_itself() {
        let flags = Flags::read(&["-nd", "recurse", "-e", "-r", "--include=*.rs", "KEY", "src"], &GREP);
        assert_eq!(flags.values(&["d"]), ["recurse"]);
        assert!(!flags.may_have(&["r"]));
        assert_eq!(flags.operands, [(5, "KEY"), (6, "src")]);
        let flags = Flags::read(&["-I", "--stat", "HEAD"], &GIT);
        assert!(!flags.has(&["--stat"]) && flags.operands == [(2, "HEAD")]);
    }

    #[test]
    fn behind_an_option_that_is_not_known_nothing_is_sure() {
        let flags = Flags::read(&["--new-option", "--stat", "HEAD"], &GIT);
        assert!(!flags.has(&["--stat"]) && flags.may_have(&["--stat"]) && !flags.is_open);
        let flags = Flags::read(&["--direct", "recurse", "KEY"], &GREP);
        assert!(flags.is_open && flags.may_have(&["--directories"]));
    }
}
