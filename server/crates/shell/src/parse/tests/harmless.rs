//! The commands that are known to be read-only, held against the real programs: no program of `awk` or `jq` that runs
//! unasked writes, runs another or tells of the environment, and a loop's words are those that bash gives.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use permission::{Surroundings, Verdict};
use proptest::sample::select;

use super::*;

/// The value that no program may print.
const SECRET: &str = "ghp_not_to_be_told";

fn runs_unasked(line: &str, folder: &Path) -> bool {
    let surroundings = Surroundings { trusted: true, sandboxed: true };
    matches!(state::judged(line, folder, surroundings), Verdict::Allow { .. })
}

/// Runs a program for two seconds at most, with a secret in its environment; none if there is no such program.
fn run(program: &str, arguments: &[&str], folder: &Path) -> Option<Output> {
    let done = Command::new("timeout")
        .args(["2", program])
        .args(arguments)
        .current_dir(folder)
        .env("CANARY", SECRET)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (done.status.code() != Some(127)).then_some(done)
}

/// The programs that may be called `awk`, each with the words that run it.
const AWKS: &[&[&str]] = &[&["mawk"], &["gawk"], &["busybox", "awk"], &["original-awk"]];

const JQ: &[&[&str]] = &[&["jq"]];

/// Those of these that are there, once; what is missing is said to be not tried.
fn installed(programs: &'static [&'static [&'static str]]) -> Vec<&'static [&'static str]> {
    let (there, missing): (Vec<_>, Vec<_>) = programs.iter().copied().partition(|words| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_in = |name: &&str| std::env::split_paths(&folders).any(|folder| folder.join(name).is_file());
        words.first().is_some_and(is_in)
    });
    for words in missing {
        let what = format!("programs of {} that only read, since it is not installed", words.join(" "));
        eprintln!("not tried: {what}");
        if let Some(list) = std::env::var_os("AZIMUTH_NOT_TRIED") {
            let mut list = std::fs::File::options().append(true).create(true).open(list).unwrap();
            writeln!(list, "{what}").unwrap();
        }
    }
    there
}

/// Runs a program on a file by each of these that is there, if it needs no question, and sees to it that nothing came
/// of it but output. Gives whether all of them ran it.
fn only_reads(program: &str, by: &[&[&str]], text: &str) -> bool {
    !by.is_empty() && by.iter().all(|words| only_reads_by(program, words, text))
}

fn only_reads_by(program: &str, words: &[&str], text: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("in.txt"), "{\"a\": 1}\n").unwrap();
    let written = format!("{program} '{}' in.txt", text.replace('\'', "'\\''"));
    if !runs_unasked(&written, folder.path()) {
        return false;
    }
    let (name, before) = words.split_first().unwrap();
    let arguments: Vec<_> = before.iter().copied().chain([text, "in.txt"]).collect();
    let Some(done) = run(name, &arguments, folder.path()) else { return false };
    let told = [done.stdout, done.stderr].concat();
    assert!(!String::from_utf8_lossy(&told).contains(SECRET), "{written} tells of the environment by {words:?}");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["in.txt"], "{written} has written by {words:?}");
    assert_eq!(
        std::fs::read_to_string(folder.path().join("in.txt")).unwrap(),
        "{\"a\": 1}\n",
        "{written} has written by {words:?}"
    );
    done.status.success()
}

/// Parts of programs, joined with and without a blank.
fn program(parts: Vec<&'static str>) -> impl Strategy<Value = String> {
    let part = (select(parts), any::<bool>());
    prop::collection::vec(part, 1..14).prop_map(|parts| {
        parts.into_iter().map(|(part, blank)| if blank { format!("{part} ") } else { part.to_owned() }).collect()
    })
}

#[test]
fn the_programs_that_are_tried_do_run() {
    for words in installed(AWKS) {
        assert!(
            only_reads_by("awk", words, "{ print $1; n[$1]++ } END { for (k in n) if (n[k] > 0) print k }"),
            "{words:?}"
        );
    }
    for words in installed(JQ) {
        assert!(only_reads_by("jq", words, ".a"));
    }
}

/// The `awk`s that are there, looked for once and not for each program that is tried.
static AWK: LazyLock<Vec<&[&str]>> = LazyLock::new(|| installed(AWKS));
static JQS: LazyLock<Vec<&[&str]>> = LazyLock::new(|| installed(JQ));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn no_awk_program_that_runs_unasked_does_more_than_read(text in program(vec![
        "print", "print", "printf", "$1", "x", "f", "1", "\"ran\"", "\"id>ran\"", "\"sh\"", ">", ">>", "|", "|&", "&", "&&",
        "getline", "system", "close", "ENVIRON", "ENVIRON[\"CANARY\"]", "(", "(", ")", ")", "{", "{", "}", "}", ";", "\n",
        "/", "/", "[", "]", "\"", "\\", "#", ",", "if", "in", "=", "+", "?", ":", "BEGIN", "END", "a[1]", "while", "-", "<",
        "~", "!", "||", "@", "function", "/a/", "/\"/", "else", "do", "print > \"ran\"", "system(\"id>ran\")",
        "print | \"id>ran\"", "{ print \"a\" }", "BEGIN {", "x = 1", ") /\"", "if (1)", "for (;;)", "/; system(\"id>ran\") #\"/", "1e3",
        "[[:alpha:]]",
    ])) {
        only_reads("awk", &AWK, &text);
    }

    #[test]
    fn no_jq_program_that_runs_unasked_tells_of_more_than_its_input(text in program(vec![
        ".", ".a", "env", "$ENV", "ENV", "$", ".CANARY", ".env", "\"env\"", "\"", "\"", "\\(", "(", ")", "[", "]", "{", "}",
        "|", ",", ":", "a", "import", "include", "as", "$x", "#", "\n", "def f:", ";", "f", "input", "debug", "keys", "..",
        "?", "//", "+", "\"a\"", "tojson", "@sh", "if", "then", "else", "end", "reduce", "error", "$__prog_args",
    ])) {
        only_reads("jq", &JQS, &text);
    }

    /// Each word that a loop's command is listed with is the one that bash runs it with.
    #[test]
    fn what_a_loop_is_taken_for_is_what_bash_runs(
        words in prop::collection::vec(select(vec!["a", "b.c", "src/x", "'q'", "\"r\"", "'x y'", "{1..3}", "1", "''", "-z", "=", "$g", "'$f'"]), 0..4),
        inner in prop::collection::vec(select(vec!["c", "d", "$f", "\"$f\"", "{2..4}"]), 0..3),
        parts in prop::collection::vec((select(vec![
            "$f", "\"$f\"", "${f}", "\"${f}\"", "x$f", "\"x $f\"", "$fb", "'$f'", "\\$f", "$f$g", "\"$g\"", "\"$f/$g\"", "${f}b",
            "f", "-f", "f=", "{f,g}", "\"\\$f\"", "$f*", "~$f",
        ]), any::<bool>()), 1..4),
        sets in select(vec!["", "", "f=set; ", "read f <<< set; ", "for f in other; do :; done; "]),
    ) {
        let text: String = parts.iter().map(|(part, blank)| if *blank { format!(" {part}") } else { (*part).to_owned() }).collect();
        let line = format!(
            "for f in {}; do {sets}for g in {}; do printf '<%s>' begin {text}; done; done",
            words.join(" "),
            inner.join(" "),
        );
        let ShellLine::Commands(commands) = parse(&line) else { return Ok(()) };
        let printed: Vec<_> = commands.iter().filter(|command| {
            matches!(command.words.first(), Some(Word::Known(name)) if name == "printf")
        }).collect();
        let known: Option<Vec<String>> = printed.iter().map(|command| {
            let words = command.words.iter().skip(2).map(|word| match word {
                Word::Known(text) => Some(format!("<{text}>")),
                Word::Unknown(_) => None,
            });
            words.collect()
        }).collect();
        let Some(known) = known else { return Ok(()) };
        let folder = tempfile::tempdir().unwrap();
        let done = run("bash", &["-c", &line], folder.path()).unwrap();
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        for ran in said.split("<begin>").skip(1) {
            prop_assert!(known.contains(&format!("<begin>{ran}")), "{line}: {ran} is none of {known:?}");
        }
    }
}
