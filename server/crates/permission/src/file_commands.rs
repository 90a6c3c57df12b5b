//! The plain commands on files that run unasked in mode `accept_edits`: what they do is as good as an edit.

use super::places::{Places, climbs, is_hidden};
use super::{SimpleCommand, Word, lists};

/// A command and its flags, none of which takes a value.
const TABLE: &[(&str, &[&str])] = &[
    ("cp", &["-R", "-a", "-n", "-p", "-r", "-v", "--archive", "--no-clobber", "--recursive", "--verbose"]),
    ("ln", &["-s", "-v", "--symbolic", "--verbose"]),
    ("mkdir", &["-p", "-v", "--parents", "--verbose"]),
    ("mv", &["-n", "-v", "--no-clobber", "--verbose"]),
    ("rmdir", &["-p", "-v", "--parents", "--verbose"]),
    ("touch", &["-a", "-c", "-m", "--no-create"]),
];

/// True if a command is one of them, and all it names is known and a file of the workspace's own.
pub(super) fn is_plain(command: &SimpleCommand, places: &Places<'_>) -> bool {
    let known = |word: &Word| match word {
        Word::Known(text) => Some(text.clone()),
        Word::Unknown(_) => None,
    };
    let Some(words) = command.words.iter().map(known).collect::<Option<Vec<_>>>() else { return false };
    let Some((name, arguments)) = words.split_first() else { return false };
    let Some((_, flags)) = TABLE.iter().find(|(program, _)| program == name) else { return false };
    let (given, operands): (Vec<_>, Vec<_>) = arguments.iter().partition(|word| word.starts_with('-'));
    // A folder that is named may be a link when the command runs, and `..` then leads up from elsewhere.
    let is_own = |path: &str| {
        places.holds_inside(path) && is_plain_name(path) && !climbs(path) && !makes_programs_run(path, places)
    };
    let stays = operands.iter().all(|path| !path.is_empty() && is_own(path));
    let links = name == "ln";
    command.assignments.is_empty()
        && command.redirects.is_empty()
        && !operands.is_empty()
        && given.iter().all(|flag| is_of(flag, flags))
        && stays
        // A link leads from where it stands, so what it names must be no way up. One that is no symbolic one would be
        // another name of the same file.
        && (!links || (is_symbolic(&given) && operands.len() == 2 && !operands.iter().any(|path| leads_up(path))))
}

/// True if a flag, or each letter of a cluster, is one of these.
fn is_of(flag: &str, flags: &[&str]) -> bool {
    let mut letters = flag.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.starts_with('-'));
    match letters.take() {
        Some(cluster) => cluster.chars().all(|letter| flags.contains(&format!("-{letter}").as_str())),
        None => flags.contains(&flag),
    }
}

fn is_symbolic(flags: &[&String]) -> bool {
    flags.iter().any(|flag| *flag == "--symbolic" || (!flag.starts_with("--") && flag.contains('s')))
}

fn leads_up(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// True if what stands there, or in it if it is a folder, has other programs run something.
fn makes_programs_run(path: &str, places: &Places<'_>) -> bool {
    let named = places.named(path);
    named.iter().any(|path| places.relatives(path).any(lists::makes_programs_run))
}

/// No name that would be taken for a flag where a glob finds it, and none that tells programs what to do.
fn is_plain_name(path: &str) -> bool {
    !is_hidden(path) && !path.split('/').any(|part| part.starts_with('-'))
}
