//! Rust: cargo, and what comes with it.

use super::arguments::{Arguments, is_name, leaves};
use super::names::{does_more, is_work, tells_more};
use super::{Check, Program};
use Check::{If, Without};

pub(super) const TABLE: &[Program] = &[
    ("cargo", If(cargo)),
    ("cross", If(cargo)),
    ("rustc", If(asks_rustc)),
    ("rustfmt", Without(&["--config", "--config-path"])),
    ("taplo", If(|arguments| matches!(arguments.first(), Some("fmt" | "format" | "lint" | "check")))),
    ("typos", Without(&["-w", "--write-changes"])),
    ("wasm-pack", If(|arguments| matches!(arguments.first(), Some("build" | "test")))),
];

/// Flags of cargo's own commands that take no value.
const FLAGS: &[&str] = &[
    "--all",
    "--all-features",
    "--all-targets",
    "--allow-dirty",
    "--benches",
    "--bins",
    "--check",
    "--doc",
    "--document-private-items",
    "--examples",
    "--exact",
    "--frozen",
    "--future-incompat-report",
    "--ignore-private",
    "--ignore-rust-version",
    "--keep-going",
    "--lib",
    "--list",
    "--locked",
    "--message-format-version",
    "--no-default-features",
    "--no-deps",
    "--no-fail-fast",
    "--no-run",
    "--offline",
    "--quiet",
    "--release",
    "--tests",
    "--timings",
    "--verbose",
    "--version",
    "--workspace",
    "-V",
    "-q",
    "-r",
    "-v",
];
/// Those that take one.
const VALUED: &[&str] = &[
    "--bench",
    "--bin",
    "--color",
    "--depth",
    "--edges",
    "--edition",
    "--example",
    "--exclude",
    "--features",
    "--filter-platform",
    "--format-version",
    "--invert",
    "--jobs",
    "--manifest-path",
    "--message-format",
    "--package",
    "--prefix",
    "--profile",
    "--target",
    "--target-dir",
    "--test",
    "-F",
    "-Z",
    "-e",
    "-i",
    "-j",
    "-p",
];

fn cargo(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    if rest.first().is_some_and(|first| first.strip_prefix('+').is_some_and(is_name)) {
        rest = rest.after(1);
    }
    loop {
        rest = match rest.first() {
            Some("--color" | "-Z") => rest.after(2),
            Some("--version" | "-V" | "-vV" | "--list") => return true,
            Some(
                "-v"
                | "-vv"
                | "-q"
                | "--verbose"
                | "--quiet"
                | "--locked"
                | "--offline"
                | "--frozen"
                | "--no-default-features",
            ) => rest.after(1),
            Some(flag) if flag.starts_with("--config=profile.") => rest.after(1),
            Some(_) => break,
            None => return false,
        };
    }
    let subcommand = rest.first().unwrap_or_default();
    let (of_cargo, passed_on) = rest.after(1).at_dashes();
    is_known(subcommand, &of_cargo, &passed_on)
}

/// True if a command of cargo with its arguments, and those after `--`, is known.
fn is_known(subcommand: &str, own: &Arguments<'_>, passed_on: &Arguments<'_>) -> bool {
    let usual = || own.operands(FLAGS, VALUED);
    match subcommand {
        // A name after them says which tests.
        "test" | "t" | "bench" => usual().is_some_and(|operands| operands.len() <= 1),
        "build" | "b" | "check" | "c" | "doc" | "d" | "tree" | "metadata" | "pkgid" | "locate-project" | "fetch"
        | "generate-lockfile" => usual().is_some_and(|operands| operands.is_empty()) && passed_on.is_empty(),
        // Files that are cleaned elsewhere may be something else.
        "clean" => own
            .operands(&["--doc", "--quiet", "--release", "-q", "-r", "-v"], &["--package", "--profile", "-p"])
            .is_some_and(|operands| operands.is_empty()),
        "clippy" | "rustdoc" => {
            usual().is_some_and(|operands| operands.is_empty()) && compiles_as_usual(passed_on.words)
        }
        "fmt" => usual().is_some_and(|operands| operands.is_empty()) && !passed_on.has(&["--config", "--config-path"]),
        "run" | "r" => {
            let is_task = own.words.contains(&"xtask");
            let given = || own.words.iter().chain(passed_on.words);
            let named = own.words.iter().filter_map(|word| word.split_once('=')).map(|(_, value)| value);
            usual().is_some()
                && !given().any(|word| tells_more(word))
                && !named.into_iter().any(does_more)
                && (!is_task || passed_on.first().is_none_or(is_work))
        }
        // They run cargo's own commands in their way.
        "careful" | "hack" | "hfuzz" | "llvm-cov" | "minimal-versions" | "miri" | "nextest" | "wasi" => {
            let is_safe = !own.has(OF_OTHERS);
            let inner = own.words.iter().find(|word| !word.starts_with('-'));
            let is_usual = |inner: &&str| {
                ["bench", "build", "check", "clippy", "doc", "list", "nextest", "report", "run", "setup", "t", "test"]
                    .contains(inner)
            };
            // The first of these measures tests where it is told nothing else.
            let begins_with_flag = subcommand == "llvm-cov" && own.first().is_some_and(|first| first.starts_with('-'));
            is_safe && (begins_with_flag || inner.is_none_or(is_usual))
        }
        "audit" | "bloat" | "criterion" | "expand" | "geiger" | "insta" | "machete" | "mutants" | "outdated"
        | "semver-checks" | "tarpaulin" | "udeps" => !own.has(OF_OTHERS),
        // The project's own, which may publish it, too.
        "xtask" => {
            let is_known = own.words.iter().find(|word| !word.starts_with('-')).is_none_or(|task| is_work(task));
            !own.has(OF_OTHERS) && !own.words.iter().any(|word| leaves(word) || tells_more(word)) && is_known
        }
        "deny" => own.words.contains(&"check") && !own.has(OF_OTHERS),
        "fuzz" => matches!(own.first(), Some("build" | "check" | "list" | "run")) && !own.has(OF_OTHERS),
        _ => false,
    }
}

/// The options that commands written by others may take, and that run something else or write elsewhere.
const OF_OTHERS: &[&str] = &[
    "--config",
    "--config-file",
    "--cargo",
    "--fix",
    "--exec",
    "--execute",
    "--open",
    "--runner",
    "--rustc",
    "--rustc-wrapper",
    "--tool-config-file",
    "--git",
    "--archive-file",
    "-C",
];

fn asks_rustc(arguments: &Arguments<'_>) -> bool {
    let asks = ["--version", "-V", "-vV", "-Vv", "--verbose", "-v", "--print=cfg", "--print=sysroot", "--help"];
    !arguments.is_empty() && arguments.words.iter().all(|word| asks.contains(word))
}

/// True if a word says how a profile compiles: `--config=profile.dev.opt-level="s"`.
pub(super) fn sets_profile(word: &str) -> bool {
    const KEYS: &[&str] =
        &["codegen-units", "debug", "incremental", "lto", "opt-level", "overflow-checks", "panic", "strip"];
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let setting = word.strip_prefix("--config=profile.").and_then(|setting| setting.split_once('='));
    setting.is_some_and(|(key, value)| {
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        let known = key.split_once('.').is_some_and(|(profile, key)| is_name(profile) && KEYS.contains(&key));
        known && is_name(value)
    })
}

/// True if flags of the compiler change how it compiles and what it complains of, but nothing of what it runs or links.
pub(super) fn compiles_as_usual(flags: &[&str]) -> bool {
    const CODEGEN: &[&str] = &[
        "codegen-units",
        "debug-assertions",
        "debuginfo",
        "force-frame-pointers",
        "inline-threshold",
        "instrument-coverage",
        "lto",
        "opt-level",
        "overflow-checks",
        "panic",
        "relocation-model",
        "strip",
        "symbol-mangling-version",
        "target-cpu",
        "target-feature",
        "unsafe-allow-abi-mismatch",
    ];
    const UNSTABLE: &[&str] = &[
        "fmt-debug",
        "minimal-versions",
        "randomize-layout",
        "sanitizer",
        "share-generics",
        "threads",
        "unstable-options",
    ];
    let is_lint = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-:".contains(c));
    let is_in = |list: &[&str], text: &str| list.contains(&text.split('=').next().unwrap_or_default());
    let mut words = flags.iter().copied();
    while let Some(word) = words.next() {
        // The value may stand in the next word.
        let (flag, glued) = match word.get(..2) {
            Some(short @ ("-A" | "-C" | "-D" | "-F" | "-W" | "-Z")) => (short, word.get(2..).unwrap_or_default()),
            _ => word.split_once('=').unwrap_or((word, "")),
        };
        let mut value = || if glued.is_empty() { words.next().unwrap_or_default() } else { glued };
        let is_usual = match flag {
            "-A" | "-D" | "-F" | "-W" | "--allow" | "--deny" | "--forbid" | "--warn" => is_lint(value()),
            "-C" | "--codegen" => is_in(CODEGEN, value()),
            "-Z" => {
                let value = value();
                is_in(UNSTABLE, value) || value.starts_with("miri-")
            }
            "--cfg" | "--check-cfg" | "--cap-lints" => !value().is_empty(),
            _ => false,
        };
        if !is_usual {
            return false;
        }
    }
    true
}
