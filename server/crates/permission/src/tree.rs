//! The check that `tree` only lists folders. Some of its options show what is in files, or write them, and a long one
//! may be shortened, so what is not known is asked.

/// Letters without a value.
const LETTERS: &str = "adfixqNQpughsDFvtcUrASnCXJ";

/// Letters with a value, which is the next word.
const VALUED_LETTERS: &str = "LPIHT";

const OPTIONS: &[&str] = &[
    "acl",
    "caseless",
    "device",
    "dirsfirst",
    "du",
    "filesfirst",
    "gitignore",
    "help",
    "ignore-case",
    "inodes",
    "matchdirs",
    "metafirst",
    "nolinks",
    "noreport",
    "prune",
    "selinux",
    "si",
    "version",
];

const VALUED_OPTIONS: &[&str] = &["charset", "filelimit", "sort", "timefmt"];

pub(super) fn only_reads(arguments: &[&str]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let takes_next = match (word.strip_prefix("--"), word.strip_prefix('-')) {
            (Some(""), _) => return true,
            (Some(long), _) => match long.split_once('=') {
                Some((name, _)) if VALUED_OPTIONS.contains(&name) => false,
                None if OPTIONS.contains(&long) => false,
                None if VALUED_OPTIONS.contains(&long) => true,
                _ => return false,
            },
            (None, Some(short)) if !short.is_empty() => {
                let plain = short.trim_end_matches(|letter| VALUED_LETTERS.contains(letter));
                if !plain.chars().all(|letter| LETTERS.contains(letter)) || short.len() > plain.len() + 1 {
                    return false;
                }
                short.len() > plain.len()
            }
            _ => false,
        };
        // A word that begins as an option may be taken for one.
        if takes_next && words.next().is_none_or(|value| value.starts_with('-')) {
            return false;
        }
    }
    true
}
