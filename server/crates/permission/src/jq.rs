//! Calls of jq that only read: a program of it can tell of the environment and take in modules, and its options name
//! further files.

/// Options without a value, by their letters and in full. Others may name a file, and some builds write in place.
const LETTERS: &str = "rcsSenjaCMR";
const OPTIONS: &[&str] = &[
    "--args",
    "--ascii-output",
    "--color-output",
    "--compact-output",
    "--exit-status",
    "--join-output",
    "--jsonargs",
    "--monochrome-output",
    "--null-input",
    "--raw-input",
    "--raw-output",
    "--raw-output0",
    "--seq",
    "--slurp",
    "--sort-keys",
    "--stream",
    "--tab",
    "--unbuffered",
];

/// Names in a program that are not only about its input.
const TELLING: &[&str] = &["env", "ENV", "import", "include", "modulemeta", "get_search_list"];

/// True if a command's arguments are a program that only reads, and the files that it reads.
pub(super) fn only_reads(arguments: &[&str]) -> bool {
    program_at(arguments).and_then(|at| arguments.get(at)).is_some_and(|program| is_about_its_input(program))
}

/// The program's place among the arguments, if all options are known. It can look like a path, and names none.
pub(super) fn program_at(arguments: &[&str]) -> Option<usize> {
    let (mut at, mut found) = (0, None);
    while let Some(argument) = arguments.get(at) {
        at += match *argument {
            "--arg" | "--argjson" => 3,
            "--indent" => 2,
            "--" => 1,
            option if OPTIONS.contains(&option) => 1,
            option if option.starts_with('-') => {
                let letters = option.get(1..).unwrap_or_default();
                if letters.is_empty() || !letters.chars().all(|letter| LETTERS.contains(letter)) {
                    return None;
                }
                1
            }
            _ => {
                found = found.or(Some(at));
                1
            }
        };
    }
    found
}

/// True if a program names nothing that tells of more than its input. The field `.env`, the key of
/// `{env: 1}` and the text `"env"` do not.
fn is_about_its_input(program: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut before = None;
    let mut rest = program;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end.max(first.len_utf8()).min(rest.len()));
        let is_text = before == Some('"') && after.starts_with('"');
        let is_key = before == Some('{') && after.starts_with(':') && !after.starts_with("::");
        let is_field = before == Some('.') || is_text || is_key;
        if (TELLING.contains(&name) && !is_field) || (name.starts_with("__prog") && before == Some('$')) {
            return false;
        }
        before = name.chars().last();
        rest = after;
    }
    true
}
