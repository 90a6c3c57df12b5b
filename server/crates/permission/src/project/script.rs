//! JavaScript and TypeScript: package managers and their scripts, node, and the usual tools.

use super::arguments::{Arguments, is_name, leaves, may_leave};
use super::names::{does_more, is_work, tells_more};
use super::{Check, Program, is_own};
use Check::{If, Without};

pub(super) const TABLE: &[Program] = &[
    ("_mocha", Without(MOCHA)),
    ("api-extractor", Without(NONE)),
    ("attw", Without(&["--from-npm", "-p"])),
    ("ava", Without(NONE)),
    ("babel", Without(NONE)),
    ("biome", If(|arguments| subcommand(arguments, &["check", "ci", "format", "lint"]))),
    ("bun", If(bun)),
    ("bundt", Without(NONE)),
    ("c8", If(wraps)),
    ("cspell", Without(NONE)),
    (
        "deno",
        If(|arguments| {
            let task = arguments.words.iter().skip_while(|word| **word != "task").skip(1);
            subcommand(arguments, &["bench", "check", "fmt", "lint", "task", "test"])
                && task.filter(|word| !word.starts_with('-')).take(1).all(|name| is_script(name))
                && no_rights(arguments)
        }),
    ),
    ("depcheck", Without(NONE)),
    ("docula", If(|arguments| subcommand(arguments, &["build"]))),
    ("dprint", If(|arguments| subcommand(arguments, &["check", "fmt"]))),
    ("esbuild", Without(&["--serve", "--servedir", "--define"])),
    ("eslint", Without(&["--init", "--rulesdir", "--resolve-plugins-relative-to"])),
    ("grunt", If(|arguments| tasks(arguments, &["--base", "--gruntfile", "--tasks"]))),
    ("gulp", If(|arguments| tasks(arguments, &["--cwd", "--gulpfile", "--require", "-f"]))),
    ("hereby", If(|arguments| tasks(arguments, NONE))),
    ("jest", Without(&["--globals", "--runner", "--testRunner", "--rootDir"])),
    ("jshint", Without(NONE)),
    ("karma", If(|arguments| subcommand(arguments, &["run", "start"]))),
    ("knip", Without(NONE)),
    ("lint-staged", Without(NONE)),
    ("madge", Without(NONE)),
    ("markdownlint", Without(NONE)),
    ("markdownlint-cli2", Without(NONE)),
    ("mocha", Without(MOCHA)),
    ("next", If(|arguments| subcommand(arguments, &["build", "lint"]))),
    ("node", If(node)),
    ("nodemon", If(|_| false)),
    ("npm", If(npm)),
    ("npm-run-all", If(scripts)),
    ("npx", If(npx)),
    ("nx", If(nx)),
    ("nyc", If(wraps)),
    ("oxlint", Without(NONE)),
    ("playwright", If(|arguments| subcommand(arguments, &["test"]))),
    ("pnpm", If(other_manager)),
    ("prettier", Without(NONE)),
    ("publint", Without(NONE)),
    ("remark", Without(&["--rc-path", "--use", "-u", "-r"])),
    ("rollup", Without(&["--plugin", "-p", "--configPlugin", "--stdin"])),
    ("run-p", If(scripts)),
    ("run-s", If(scripts)),
    ("size-limit", Without(NONE)),
    ("standard", Without(NONE)),
    ("stylelint", Without(NONE)),
    ("svelte-check", Without(NONE)),
    ("swc", Without(NONE)),
    ("tap", Without(&["--node-arg", "--import", "--require"])),
    ("tape", Without(NONE)),
    ("ts-node", If(interprets)),
    ("tsc", Without(NONE)),
    ("tsd", Without(NONE)),
    ("tsdown", Without(&["--on-success", "--exec"])),
    ("tshy", Without(NONE)),
    ("tsup", Without(&["--onSuccess"])),
    ("tsx", If(interprets)),
    (
        "turbo",
        If(|arguments| {
            let given = if arguments.first() == Some("run") { arguments.after(1) } else { *arguments };
            tasks(&given, NONE) && !given.is_empty()
        }),
    ),
    ("typedoc", Without(NONE)),
    ("uvu", Without(NONE)),
    ("vite", If(|arguments| subcommand(arguments, &["build", "optimize"]))),
    ("vitepress", If(|arguments| subcommand(arguments, &["build"]))),
    ("vitest", Without(&["--globalSetup", "--browser"])),
    ("vue-tsc", Without(NONE)),
    ("web-test-runner", Without(NONE)),
    (
        "webpack",
        If(|arguments| {
            let command = arguments.words.iter().find(|word| !word.starts_with('-'));
            command.is_none_or(|command| matches!(*command, "build" | "bundle" | "b")) && !arguments.has(&["--env"])
        }),
    ),
    ("wtr", Without(NONE)),
    ("xo", Without(NONE)),
    ("yarn", If(other_manager)),
];

const NONE: &[&str] = &["-e", "--eval", "--exec"];
const MOCHA: &[&str] = &["--node-option", "-n", "--import", "--loader", "--eval", "-e"];
/// The words of `nx` that are no targets of the project's.
const OF_NX: &[&str] =
    &["add", "connect", "daemon", "exec", "import", "init", "login", "migrate", "release", "repair", "reset"];
/// The tools that find what they need in the project alone, so that they may be run by way of a package manager.
const NOT_TOOLS: &[&str] = &["node", "npm", "npx", "pnpm", "yarn", "bun", "deno"];
/// The usual names of projects' scripts, for package managers that take the name of a script, and that of any program,
/// for a command.
const SCRIPTS: &[&str] = &[
    "bench",
    "benchmark",
    "build",
    "check",
    "ci",
    "clean",
    "compile",
    "coverage",
    "docs",
    "e2e",
    "fmt",
    "format",
    "lint",
    "prepare",
    "pretty",
    "spec",
    "test",
    "tests",
    "tsc",
    "type-check",
    "typecheck",
    "types",
    "unit",
    "verify",
];
/// Flags of package managers that say how much they print, and where in the project they work.
const FLAGS: &[&str] = &[
    "--aggregate-output",
    "--color",
    "--frozen-lockfile",
    "--if-present",
    "--ignore-scripts",
    "--immutable",
    "--include-workspace-root",
    "--legacy-peer-deps",
    "--no-audit",
    "--no-bail",
    "--no-color",
    "--no-frozen-lockfile",
    "--no-fund",
    "--no-optional",
    "--no-package-lock",
    "--no-progress",
    "--no-save",
    "--offline",
    "--parallel",
    "--prefer-offline",
    "--production",
    "--quiet",
    "--recursive",
    "--silent",
    "--verbose",
    "--workspace-root",
    "--workspaces",
    "-q",
    "-r",
    "-s",
    "-w",
    "-ws",
];
/// Those that take a value.
const VALUED: &[&str] = &["--filter", "--include", "--loglevel", "--omit", "--prefix", "--reporter", "--workspace"];

fn subcommand(arguments: &Arguments<'_>, known: &[&str]) -> bool {
    arguments.words.iter().find(|word| !word.starts_with('-')).is_some_and(|first| known.contains(first))
        && !arguments.has(NONE)
}

fn nx(arguments: &Arguments<'_>) -> bool {
    let mut operands = arguments.words.iter().filter(|word| !word.starts_with('-'));
    let is_known = match operands.next() {
        Some(&"run") => operands.next().and_then(|task| task.split(':').nth(1)).is_some_and(is_work),
        Some(&("affected" | "run-many")) => targets(arguments),
        Some(target) => !OF_NX.contains(target) && is_work(target),
        None => false,
    };
    is_known && passes_on(arguments)
}

/// True if all that `-t` of `nx` names is known.
fn targets(arguments: &Arguments<'_>) -> bool {
    let is_flag = |word: &str| matches!(word, "-t" | "--target" | "--targets");
    let next = arguments.words.windows(2).filter_map(|pair| match pair {
        [flag, value] if is_flag(flag) => Some(*value),
        _ => None,
    });
    let glued = arguments.words.iter().filter_map(|word| word.split_once('=').filter(|(flag, _)| is_flag(flag)));
    let named: Vec<_> = next.chain(glued.map(|(_, value)| value)).flat_map(|value| value.split(',')).collect();
    !named.is_empty() && named.iter().all(|name| is_work(name))
}

/// Tasks by their names, and flags but these.
fn tasks(arguments: &Arguments<'_>, flags: &[&str]) -> bool {
    let words = arguments.words.iter().take_while(|word| **word != "--").enumerate();
    // The amount to print is no task.
    let is_amount = |at: usize| at.checked_sub(1).is_some_and(|at| arguments.words.get(at) == Some(&"--output-logs"));
    let mut names = words.filter(|(at, word)| !word.starts_with('-') && !is_amount(*at)).map(|(_, word)| word);
    names.all(|name| is_script(name)) && !arguments.has(flags)
}

fn no_rights(arguments: &Arguments<'_>) -> bool {
    !arguments.has(&[
        "-A",
        "--allow-all",
        "--allow-run",
        "--allow-net",
        "--allow-ffi",
        "--import-map",
        "--config",
        "-c",
    ])
}

/// `node`: a file of the project, or its tests. Code in the line, another program's way to it (`--require`), a debugger
/// and what it reads itself are none.
fn node(arguments: &Arguments<'_>) -> bool {
    let tests = arguments.first().is_some_and(|first| first == "--test");
    let mut rest = *arguments;
    while let Some(flag) = rest.first().filter(|first| first.starts_with('-')) {
        let known = [
            "--check",
            "--enable-source-maps",
            "--expose-gc",
            "--no-deprecation",
            "--no-warnings",
            "--preserve-symlinks",
        ];
        let beginnings = [
            "--conditions=",
            "--experimental-",
            "--harmony",
            "--max-old-space-size=",
            "--stack-size=",
            "--test",
            "--trace-",
        ];
        rest = match flag {
            "--version" | "-v" | "--help" => return rest.words.len() == 1,
            "--conditions" | "-C" => rest.after(2),
            // They name programs of their own.
            _ if ["--experimental-loader", "--experimental-config-file", "--experimental-default-config-file"]
                .iter()
                .any(|other| flag.starts_with(other)) =>
            {
                return false;
            }
            _ if known.contains(&flag) || beginnings.iter().any(|beginning| flag.starts_with(beginning)) => {
                rest.after(1)
            }
            _ => return false,
        };
    }
    match rest.first() {
        Some(file) => names_a_file(file) && tells_no_more(&rest.after(1)),
        None => tests,
    }
}

/// Runs a file of the project, and nothing else.
fn interprets(arguments: &Arguments<'_>) -> bool {
    arguments.first().is_some_and(names_a_file) && tells_no_more(&arguments.after(1))
}

/// True if a program of the project's own is told nothing by name that does more than work in its files.
fn tells_no_more(arguments: &Arguments<'_>) -> bool {
    passes_on(arguments) && !arguments.words.iter().any(|word| tells_more(word))
}

fn names_a_file(word: &str) -> bool {
    let file = word.rsplit('/').next().unwrap_or(word);
    !word.starts_with('-') && word != "inspect" && !leaves(word) && !does_more(file)
}

/// True if what a project's own program is given is names and settings, not code.
fn passes_on(arguments: &Arguments<'_>) -> bool {
    !arguments.has(&[
        "-e",
        "--eval",
        "--exec",
        "--inspect",
        "--inspect-brk",
        "--inspect-wait",
        "--require",
        "--import",
        "--loader",
    ])
}

/// `c8`, `nyc`: another command, measured.
fn wraps(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while let Some(flag) = rest.first().filter(|first| first.starts_with('-')) {
        let valued = ["--exclude", "--include", "--reporter", "--report-dir", "--src", "-n", "-r", "-x"];
        let plain = ["--100", "--all", "--check-coverage", "--clean", "--no-clean", "--silent", "--skip-full"];
        rest = if valued.contains(&flag) {
            rest.after(2)
        } else if plain.contains(&flag) || valued.iter().any(|known| flag.split('=').next() == Some(known)) {
            rest.after(1)
        } else {
            return false;
        };
    }
    rest.first() == Some("report") || is_own(&rest)
}

/// `run-s`, `run-p`: scripts by their names.
fn scripts(arguments: &Arguments<'_>) -> bool {
    let flags = [
        "--continue-on-error",
        "--parallel",
        "--print-label",
        "--print-name",
        "--sequential",
        "--silent",
        "-c",
        "-l",
        "-n",
        "-p",
        "-s",
    ];
    let names = arguments.operands(&flags, &[]);
    names.is_some_and(|names| !names.is_empty() && names.iter().all(|name| is_script(name)))
}

fn is_script(name: &str) -> bool {
    is_name(name) && !leaves(name) && !may_leave(name) && is_work(name)
}

/// A script's name and what it is given.
fn runs_script(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while rest.first().is_some_and(|first| FLAGS.contains(&first)) {
        rest = rest.after(1);
    }
    let Some(name) = rest.first() else { return false };
    // Before `--` a package manager takes flags for its own.
    let (own, given) = rest.after(1).at_dashes();
    is_script(name) && own.operands(FLAGS, VALUED).is_some() && passes_on(&given)
}

fn npm(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while let Some(flag) = rest.first().filter(|first| first.starts_with('-')) {
        rest = match flag {
            "--version" | "-v" => return rest.words.len() == 1,
            _ if FLAGS.contains(&flag) => rest.after(1),
            _ if VALUED.contains(&flag) => rest.after(2),
            _ => return false,
        };
    }
    let given = rest.after(1);
    let nothing = || given.operands(FLAGS, VALUED).is_some_and(|operands| operands.is_empty());
    match rest.first() {
        Some("ci" | "install" | "i" | "clean-install" | "install-ci-test" | "install-test" | "it" | "cit") => nothing(),
        Some("test" | "t" | "tst") => {
            let (own, passed_on) = given.at_dashes();
            own.operands(FLAGS, VALUED).is_some() && passes_on(&passed_on)
        }
        Some("run" | "run-script" | "rum" | "urn") => given.is_empty() || runs_script(&given),
        Some("ls" | "list" | "outdated" | "audit") => nothing(),
        _ => false,
    }
}

/// `npx`: fetches what the project does not have, and whoever owns that name says what runs. So it must be told not to,
/// or the program must be known to be there.
fn npx(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while rest.first() == Some("--no-install") || rest.first() == Some("--no") {
        rest = rest.after(1);
    }
    let is_told = rest.words.len() < arguments.words.len();
    let is_of_scripts = |name: &str| TABLE.iter().any(|(program, _)| *program == name);
    let is_there = |name: &str| is_told || rest.places.has_package_program(name);
    rest.first().is_some_and(|name| is_of_scripts(name) && is_there(name)) && is_tool(&rest)
}

/// True if it is a tool of the table, called by its own name.
fn is_tool(arguments: &Arguments<'_>) -> bool {
    arguments.first().is_some_and(|name| !NOT_TOOLS.contains(&name) && !name.contains('/')) && is_own(arguments)
}

/// `pnpm` and `yarn`, which also take the names of scripts and of programs for commands.
fn other_manager(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while let Some(flag) = rest.first().filter(|first| first.starts_with('-')) {
        rest = match flag {
            "--version" | "-v" => return rest.words.len() == 1,
            _ if FLAGS.contains(&flag) => rest.after(1),
            "--filter" | "-F" => rest.after(2),
            _ if flag.starts_with("--filter=") => rest.after(1),
            _ => return false,
        };
    }
    let given = rest.after(1);
    let nothing = || given.operands(FLAGS, VALUED).is_some_and(|operands| operands.is_empty());
    match rest.first() {
        // `yarn` alone installs what the project names.
        None => true,
        Some("install" | "i" | "ci") => nothing(),
        Some("dedupe") => given.words == ["--check"],
        Some("ls" | "list" | "outdated" | "audit" | "why") => nothing(),
        Some("run" | "run-script") => runs_script(&given),
        Some("exec") => is_tool(&given),
        Some(name) if SCRIPTS.contains(&name) || name.contains(':') => runs_script(&rest),
        Some(_) => is_tool(&rest),
    }
}

fn bun(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    match arguments.first() {
        Some("test") => passes_on(&given) && !given.has(&["--preload", "-r"]),
        Some("install" | "i") => given.operands(FLAGS, VALUED).is_some_and(|operands| operands.is_empty()),
        Some("build") => !given.has(&["--app", "--define"]),
        Some("run") => runs_script(&given),
        Some("--version" | "-v") => given.is_empty(),
        _ => false,
    }
}
