//! Python: its tests, linters, and the programs that run them in an environment.

use super::arguments::{Arguments, is_name, leaves};
use super::names::{does_more, is_work, tells_more};
use super::options::is_result;
use super::{Check, Program, is_own};
use Check::{If, Without};

pub(super) const TABLE: &[Program] = &[
    ("bandit", Without(&["--exit-zero-hook"])),
    ("black", Without(&["--code", "-c", "--python-cell-magics"])),
    ("codespell", Without(&["-w", "--write-changes"])),
    ("coverage", If(coverage)),
    ("flake8", Without(&["--enable-extensions", "--output-file"])),
    ("hatch", If(hatch)),
    ("isort", Without(NONE)),
    ("mkdocs", If(|arguments| arguments.first() == Some("build"))),
    ("mypy", Without(&["--command", "-c", "--install-types", "--python-executable"])),
    ("nox", If(nox)),
    ("openapi-spec-validator", Without(NONE)),
    ("pdm", If(runs)),
    ("pip", If(pip)),
    ("pip3", If(pip)),
    ("pipenv", If(runs)),
    ("poetry", If(runs)),
    ("pre-commit", If(|arguments| arguments.first() == Some("run"))),
    ("py.test", If(pytest)),
    ("pydocstyle", Without(NONE)),
    ("pylint", Without(&["--init-hook", "--load-plugins"])),
    ("pyright", Without(&["--pythonpath", "--createstub"])),
    ("pytest", If(pytest)),
    ("python", If(python)),
    ("python3", If(python)),
    ("ruff", If(|arguments| matches!(arguments.first(), Some("check" | "format")) && !arguments.has(&["--config"]))),
    (
        "sphinx-build",
        If(|arguments| {
            let mut operands = arguments.words.iter().filter(|word| !word.starts_with('-'));
            // The last of them is where it writes.
            !arguments.has(&["-D", "-C", "-d", "-w"])
                && operands.next_back().is_some_and(|to| is_result(to.trim_start_matches("docs/")))
        }),
    ),
    ("tox", If(tox)),
    ("uv", If(uv)),
    ("yamllint", Without(&["-d", "--config-data"])),
];

const NONE: &[&str] = &["--exec"];
/// Modules that are programs of this table, or do as little.
const MODULES: &[&str] = &[
    "black",
    "build",
    "compileall",
    "coverage",
    "doctest",
    "flake8",
    "isort",
    "mypy",
    "nox",
    "py_compile",
    "pylint",
    "pyright",
    "pytest",
    "ruff",
    "sphinx",
    "tox",
    "unittest",
];
/// The folders that projects have their own modules in. A module of another name may be one of Python's own, which can
/// do anything (`timeit`, `pip`).
const FOLDERS: &[&str] = &["bench", "benchmarks", "examples", "scripts", "src", "test", "tests", "testing", "tools"];

/// `pytest`: tests by their files and names. Plugins, settings, and folders that it clears or writes logs to are none.
fn pytest(arguments: &Arguments<'_>) -> bool {
    let plugins = |words: &[&str]| {
        words.windows(2).any(|pair| matches!(pair, ["-p", name] if !name.starts_with("no:")))
            || words.iter().any(|word| word.len() > 2 && word.starts_with("-p") && !word.starts_with("-pno:"))
    };
    let others = [
        "--basetemp",
        "--config-file",
        "--debug",
        "--junit-prefix",
        "--log-file",
        "--override-ini",
        "--pastebin",
        "--pdb",
        "--pyargs",
        "--pdbcls",
        "--rootdir",
        "--trace",
        "-c",
        "-o",
    ];
    !arguments.has(&others) && !plugins(arguments.words)
}

fn python(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while let Some(flag) = rest.first().filter(|first| first.starts_with('-')) {
        rest = match flag {
            "-B" | "-E" | "-I" | "-O" | "-OO" | "-P" | "-s" | "-u" | "-v" => rest.after(1),
            "-W" | "-X" => rest.after(2),
            "--version" | "-V" => return rest.words.len() == 1,
            "-m" => return module(&rest.after(1)),
            _ => return false,
        };
    }
    let Some(file) = rest.first() else { return false };
    let given = rest.after(1);
    let name = file.rsplit('/').next().unwrap_or(file);
    // Django's program does what it is told to the database as well.
    let is_known = name != "manage.py" || given.first().is_some_and(|command| matches!(command, "check" | "test"));
    let tells_more = does_more(name) || given.words.iter().any(|word| tells_more(word));
    !leaves(file) && is_known && !tells_more && passes_on(&given)
}

/// `nox`: sessions by their names.
fn nox(arguments: &Arguments<'_>) -> bool {
    let (own, given) = arguments.at_dashes();
    let is_session = |word: &str| word.split(',').all(|name| is_work(name.split('(').next().unwrap_or(name)));
    let mut sessions = own.words.iter().filter(|word| !word.starts_with('-'));
    let glued = |word: &str| {
        ["--session=", "--sessions=", "-s"].iter().find_map(|flag| word.strip_prefix(flag)).map(str::to_owned)
    };
    let glued = own.words.iter().filter_map(|word| glued(word)).filter(|name| !name.is_empty());
    sessions.all(|word| is_session(word))
        && glued.into_iter().all(|name| is_session(&name))
        && !own.has(&["--extra-python", "--force-pythons", "--noxfile", "-f"])
        && pytest(&given)
}

fn module(arguments: &Arguments<'_>) -> bool {
    let Some(name) = arguments.first() else { return false };
    let given = arguments.after(1);
    let folder = name.split('.').next().unwrap_or_default();
    match name {
        "pip" => pip(&given),
        "doctest" | "unittest" | "build" | "py_compile" => passes_on(&given),
        "compileall" => !given.has(&["-b", "-i"]),
        "sphinx" => !given.has(&["-D", "-C"]),
        _ if MODULES.contains(&name) => is_own(arguments),
        // The modules that `test` names in Python are its own tests.
        _ => is_name(name) && name.contains('.') && FOLDERS.contains(&folder) && passes_on(&given),
    }
}

fn passes_on(arguments: &Arguments<'_>) -> bool {
    !arguments.has(&["-c", "-e", "--eval", "--exec", "--code"])
}

fn coverage(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    match arguments.first() {
        Some("combine" | "erase" | "html" | "json" | "lcov" | "report" | "xml") => !given.has(&["--rcfile"]),
        Some("run") => {
            let mut rest = given;
            while rest
                .first()
                .is_some_and(|flag| ["--append", "--branch", "--parallel-mode", "-a", "-p"].contains(&flag))
            {
                rest = rest.after(1);
            }
            python(&rest)
        }
        _ => false,
    }
}

/// `tox`: environments by their names, and what their commands are given.
fn tox(arguments: &Arguments<'_>) -> bool {
    let (own, given) = arguments.at_dashes();
    let flags = ["-q", "-r", "-v", "--recreate", "--parallel", "--skip-missing-interpreters", "--notest"];
    let operands = own.operands(&flags, &["-e", "-p", "-m"]);
    let ways = ["p", "r", "run", "run-parallel", "l", "list"];
    let mut named = Vec::new();
    let mut words = own.words.iter();
    while let Some(word) = words.next() {
        named.extend(match word.strip_prefix("-e") {
            Some("") => words.next().copied(),
            glued => glued,
        });
    }
    let is_known = named.iter().flat_map(|names| names.split(',')).all(|name| is_work(name) || name == "ALL");
    is_known
        && operands.is_some_and(|operands| operands.iter().all(|word| ways.contains(word) || *word == "auto"))
        && pytest(&given)
}

/// `poetry`, `pipenv`, `pdm`: a command in the project's environment, or that environment as the project names it.
fn runs(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    let plain = ["--no-interaction", "--no-root", "--sync", "--dev", "--deploy", "-n", "-q", "-v"];
    match arguments.first() {
        Some("run") => is_own(&given),
        Some("install" | "check" | "build" | "lock" | "sync") => given
            .operands(&plain, &["--with", "--without", "--only", "--extras", "-E"])
            .is_some_and(|operands| operands.is_empty()),
        _ => false,
    }
}

fn hatch(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    match arguments.first() {
        Some("run") => {
            let is_script = given.words.len() == 1 && given.first().is_some_and(|name| is_name(name) && !leaves(name));
            // The name of any program is taken, too.
            let known = [
                "build",
                "check",
                "cov",
                "docs",
                "format",
                "fmt",
                "lint",
                "style",
                "test",
                "tests",
                "typecheck",
                "typing",
                "types",
            ];
            (is_script
                && given.first().is_some_and(|name| known.contains(&name) || (name.contains(':') && is_work(name))))
                || is_own(&given)
        }
        Some("test" | "fmt" | "build") => passes_on(&given),
        _ => false,
    }
}

fn uv(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    match arguments.first() {
        Some("run") => is_own(&given),
        Some("sync" | "lock" | "build") => {
            let plain = [
                "--all-extras",
                "--all-groups",
                "--check",
                "--dev",
                "--frozen",
                "--locked",
                "--no-dev",
                "--offline",
                "-q",
                "-v",
            ];
            given.operands(&plain, &["--extra", "--group"]).is_some_and(|operands| operands.is_empty())
        }
        Some("--version") => given.is_empty(),
        _ => false,
    }
}

/// `pip`: what a file of the project names, or the project itself.
fn pip(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    match arguments.first() {
        Some("install") => {
            let plain = [
                "-q",
                "--quiet",
                "-U",
                "--upgrade",
                "--no-deps",
                "--no-build-isolation",
                "--disable-pip-version-check",
            ];
            let named = given.has(&["-r", "-e", "--requirement", "--editable"]);
            let operands = given.operands(&plain, &["-r", "-e", "--requirement", "--editable"]);
            let is_project = |word: &str| word == "." || word.starts_with("./") || word.starts_with(".[");
            operands
                .is_some_and(|operands| (named || !operands.is_empty()) && operands.iter().all(|word| is_project(word)))
        }
        Some("list" | "freeze" | "check") => given.is_empty(),
        _ => false,
    }
}
