//! Other languages, and what builds in any: make, go, cmake, compilers, and the like.

use super::arguments::{Arguments, is_name, leaves, switches};
use super::names::{does_more, is_work, tells_more};
use super::{Check, Program, is_own};
use Check::{If, Without};

pub(super) const TABLE: &[Program] = &[
    ("actionlint", Without(&["-shellcheck", "-pyflakes"])),
    ("bundle", If(bundle)),
    ("cabal", If(|arguments| matches!(arguments.first(), Some("build" | "test")) && plain(arguments))),
    ("cc", If(compiles)),
    ("clang", If(compiles)),
    ("clang++", If(compiles)),
    ("clang-format", Without(&["--style", "-style", "-i"])),
    ("cmake", If(cmake)),
    ("composer", If(|arguments| matches!(arguments.words, ["install" | "test" | "validate"]))),
    ("ctest", If(ctest)),
    ("dart", If(|arguments| matches!(arguments.first(), Some("analyze" | "format" | "test")))),
    ("dotnet", If(dotnet)),
    ("dune", If(|arguments| matches!(arguments.first(), Some("build" | "runtest" | "test")) && plain(arguments))),
    ("flutter", If(|arguments| matches!(arguments.first(), Some("analyze" | "test")))),
    ("g++", If(compiles)),
    ("gcc", If(compiles)),
    ("go", If(go)),
    ("gofmt", Without(&["-w", "-r", "-cpuprofile"])),
    ("golangci-lint", If(|arguments| arguments.first() == Some("run") && !arguments.has(&["--fix"]))),
    ("gradle", If(gradle)),
    ("gradlew", If(gradle)),
    ("just", If(just)),
    ("make", If(make)),
    ("meson", If(|arguments| matches!(arguments.first(), Some("compile" | "setup" | "test")) && !arguments.has(MESON))),
    (
        "mix",
        If(|arguments| {
            matches!(arguments.first(), Some("compile" | "credo" | "dialyzer" | "format" | "test"))
                && passes_on(arguments)
        }),
    ),
    ("mvn", If(maven)),
    ("mvnw", If(maven)),
    ("ninja", If(ninja)),
    ("phpunit", Without(&["--bootstrap", "--configuration", "-c", "-d", "--prepend"])),
    ("rake", If(rake)),
    ("rspec", Without(&["--require", "-r", "-I", "--options", "-O"])),
    ("rubocop", Without(&["--require", "-r", "-A", "-a", "--autocorrect", "--autocorrect-all"])),
    ("ruby", If(ruby)),
    ("shellcheck", Without(&["-x", "--external-sources"])),
    ("shfmt", Without(&["-w", "--write"])),
    ("stack", If(|arguments| matches!(arguments.first(), Some("build" | "test")) && plain(arguments))),
    ("staticcheck", Without(&["-debug.cpuprofile"])),
    ("swift", If(|arguments| matches!(arguments.first(), Some("build" | "test")) && !arguments.has(SWIFT))),
    ("tree-sitter", If(|arguments| matches!(arguments.first(), Some("generate" | "parse" | "test")))),
    ("zig", If(|arguments| matches!(arguments.words, ["build"] | ["build", "test"] | ["test", _]))),
];

const MESON: &[&str] = &["--wrapper", "--gdb", "--gdb-path", "--native-file", "--cross-file"];
const SWIFT: &[&str] =
    &["-Xcc", "-Xlinker", "-Xswiftc", "--toolchain", "--sdk", "--package-path", "--scratch-path", "--disable-sandbox"];

fn passes_on(arguments: &Arguments<'_>) -> bool {
    !arguments.has(&["-e", "--eval", "--exec"])
}

/// Nothing but names.
fn plain(arguments: &Arguments<'_>) -> bool {
    arguments.operands(&["-q", "-v"], &[]).is_some()
}

fn is_target(name: &str) -> bool {
    // A file that compilers write is what it says.
    let is_file = ["a", "dll", "exe", "o", "obj", "so", "wasm"].iter().any(|end| name.ends_with(&format!(".{end}")));
    is_name(name) && !leaves(name) && (is_work(name) || is_file)
}

/// `make`: targets by their names. Its variables can be programs, but for switches.
fn make(arguments: &Arguments<'_>) -> bool {
    let flags = [
        "--always-make",
        "--dry-run",
        "--ignore-errors",
        "--jobs",
        "--keep-going",
        "--no-print-directory",
        "--quiet",
        "--silent",
        "--version",
        "-B",
        "-i",
        "-j",
        "-k",
        "-n",
        "-s",
        "-w",
    ];
    let operands = arguments.operands(&flags, &["-C", "--directory", "-f", "--file", "-j", "--jobs", "-l"]);
    let is_known = |word: &&str| match word.split_once('=') {
        Some((name, value)) => is_switch(name, value),
        None => is_target(word),
    };
    // The value of `-j` may be missing.
    operands.is_some_and(|operands| operands.iter().all(is_known))
}

fn is_switch(name: &str, value: &str) -> bool {
    let counts = name == "V" || name == "VERBOSE";
    (counts && value.bytes().all(|byte| byte.is_ascii_digit())) || switches(name, value)
}

fn just(arguments: &Arguments<'_>) -> bool {
    let recipes = arguments.operands(&["--list", "--summary", "--quiet", "--dry-run", "-l", "-n", "-q"], &[]);
    recipes.is_some_and(|recipes| recipes.iter().all(|name| is_target(name)))
}

fn ninja(arguments: &Arguments<'_>) -> bool {
    let targets = arguments.operands(&["-n", "-v", "--verbose", "--quiet"], &["-C", "-j", "-k", "-l"]);
    targets.is_some_and(|targets| targets.iter().all(|name| is_target(name)))
}

fn rake(arguments: &Arguments<'_>) -> bool {
    let tasks = arguments.operands(&["-T", "-q", "-s", "-v", "--trace", "--tasks"], &[]);
    tasks.is_some_and(|tasks| tasks.iter().all(|name| is_target(name)))
}

fn go(arguments: &Arguments<'_>) -> bool {
    let given = arguments.after(1);
    let others = [
        "-C",
        "-asmflags",
        "-exec",
        "-fix",
        "-gccgoflags",
        "-gcflags",
        "-ldflags",
        "-mod",
        "-modcacherw",
        "-modfile",
        "-o",
        "-outputdir",
        "-overlay",
        "-pkgdir",
        "-toolexec",
        "-vettool",
        "-compiler",
        "-workfile",
    ];
    // A package of another place than this module has a host's name.
    let is_own = |word: &&str| {
        word.starts_with('-')
            || !word
                .split('/')
                .next()
                .is_some_and(|host| host.contains('.') && !host.starts_with('.') && !host.ends_with(".go"))
    };
    let here = !given.has(&others) && given.words.iter().all(|word| is_own(word) && !word.contains('@'));
    match arguments.first() {
        Some("build" | "test" | "vet" | "fmt" | "list" | "doc") => here,
        Some("run") => {
            here && given
                .words
                .iter()
                .find(|word| !word.starts_with('-'))
                .is_some_and(|word| word.starts_with('.') || word.ends_with(".go"))
                && !given
                    .words
                    .iter()
                    .any(|word| tells_more(word) || does_more(word.rsplit('/').next().unwrap_or(word)))
        }
        Some("mod") => matches!(given.words, ["tidy" | "verify" | "download" | "graph"]),
        Some("version") => given.is_empty(),
        _ => false,
    }
}

/// Compilers: files of the project, flags about code and warnings, and a file to write.
fn compiles(arguments: &Arguments<'_>) -> bool {
    let is_known = |word: &&str| {
        let beginnings = [
            "-D",
            "-I",
            "-L",
            "-O",
            "-U",
            "-g",
            "-l",
            "-m",
            "-std=",
            "-fsanitize=",
            "-fno-",
            "-fPIC",
            "-fopenmp",
            "-fstack-",
        ];
        let exactly = [
            "-E",
            "-M",
            "-MD",
            "-MM",
            "-MMD",
            "-S",
            "-c",
            "-o",
            "-pthread",
            "-pipe",
            "-shared",
            "-static",
            "-v",
            "--version",
        ];
        let warns = word.starts_with("-W") && !["-Wl,", "-Wa,", "-Wp,"].iter().any(|tool| word.starts_with(tool));
        let sources = ["a", "c", "cc", "cpp", "cxx", "h", "hpp", "m", "o", "s", "S", "so"];
        match word.strip_prefix('-') {
            Some(_) => {
                warns || exactly.contains(word) || beginnings.iter().any(|beginning| word.starts_with(beginning))
            }
            None => word.rsplit_once('.').is_some_and(|(_, end)| sources.contains(&end)),
        }
    };
    // The file that is written must not be one of the sources.
    let mut words = arguments.words.iter().peekable();
    let mut others = Vec::new();
    while let Some(word) = words.next() {
        let is_written = *word == "-o" || (word.starts_with("-o") && word.len() > 2);
        let written = if *word == "-o" { words.next().copied() } else { word.strip_prefix("-o") };
        match written.filter(|_| is_written) {
            Some(file) => {
                // A file that people write has a name in capitals if it has no end: `Makefile`.
                let is_program = !file.contains('.') && !file.contains(|c: char| c.is_ascii_uppercase());
                let is_result = is_program
                    || ["o", "so", "a", "out", "exe", "wasm", "s"].iter().any(|end| file.ends_with(&format!(".{end}")));
                if !is_result || file.is_empty() {
                    return false;
                }
            }
            None => others.push(*word),
        }
    }
    !others.is_empty() && others.iter().all(is_known)
}

fn cmake(arguments: &Arguments<'_>) -> bool {
    if let Some("--build") = arguments.first() {
        let (own, given) = arguments.after(1).at_dashes();
        let operands = own.operands(
            &["--clean-first", "--parallel", "--verbose", "-j", "-v"],
            &["--config", "--parallel", "--preset", "--target", "-j", "-t"],
        );
        let targets = own.words.windows(2).filter(|pair| matches!(pair, ["--target" | "-t", _]));
        let stays = targets.filter_map(|pair| pair.get(1)).all(|word| is_target(word))
            && own.words.iter().filter_map(|word| word.strip_prefix("--target=")).all(is_target)
            && !own.words.iter().any(|word| word.starts_with("-t") && word.len() > 2);
        return operands.is_some() && stays && given.operands(&["-k", "-s", "-v"], &["-j"]).is_some();
    }
    let defines = |value: &str| {
        let (name, value) = value.split_once('=').unwrap_or((value, ""));
        let name = name.split(':').next().unwrap_or_default();
        let usual = [
            "CMAKE_BUILD_TYPE",
            "CMAKE_CXX_STANDARD",
            "CMAKE_C_STANDARD",
            "CMAKE_EXPORT_COMPILE_COMMANDS",
            "CMAKE_VERBOSE_MAKEFILE",
        ];
        usual.contains(&name) || (!name.starts_with("CMAKE_") && switches(name, value))
    };
    let mut rest = *arguments;
    while let Some(word) = rest.first() {
        rest = match word {
            "-S" | "-B" | "-G" | "--preset" => rest.after(2),
            "-D" if rest.words.get(1).is_some_and(|value| defines(value)) => rest.after(2),
            "--fresh" | "--version" | "-Wno-dev" => rest.after(1),
            _ if word.strip_prefix("-D").is_some_and(defines) => rest.after(1),
            _ if ["-S", "-B", "-G", "--preset="].iter().any(|flag| word.starts_with(flag)) => rest.after(1),
            _ if !word.starts_with('-') => rest.after(1),
            _ => return false,
        };
    }
    !arguments.is_empty()
}

fn ctest(arguments: &Arguments<'_>) -> bool {
    let flags =
        ["--output-on-failure", "--parallel", "--progress", "--rerun-failed", "--verbose", "-N", "-V", "-VV", "-j"];
    let valued = ["--build-config", "--preset", "--test-dir", "--timeout", "-C", "-E", "-L", "-LE", "-R", "-j"];
    arguments
        .operands(&flags, &valued)
        .is_some_and(|operands| operands.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_digit())))
}

fn maven(arguments: &Arguments<'_>) -> bool {
    let goals = [
        "clean",
        "compile",
        "dependency:tree",
        "integration-test",
        "package",
        "test",
        "test-compile",
        "validate",
        "verify",
    ];
    let mut rest = *arguments;
    while let Some(word) = rest.first() {
        let is_known = goals.contains(&word)
            || ["-B", "-X", "-am", "-e", "-ntp", "-o", "-q", "-DskipTests", "--batch-mode", "--no-transfer-progress"]
                .contains(&word)
            || word.strip_prefix("-Dtest=").is_some_and(is_name);
        rest = match word {
            "-pl" | "-T" => rest.after(2),
            _ if is_known => rest.after(1),
            _ => return false,
        };
    }
    !arguments.is_empty()
}

fn gradle(arguments: &Arguments<'_>) -> bool {
    let flags = [
        "--continue",
        "--info",
        "--no-daemon",
        "--offline",
        "--parallel",
        "--quiet",
        "--rerun-tasks",
        "--stacktrace",
        "--version",
        "-q",
        "-i",
        "-s",
    ];
    let known = [
        "assemble", "build", "check", "clean", "classes", "compile", "detekt", "jar", "javadoc", "ktlint", "lint",
        "spotless", "test",
    ];
    let is_task = |name: &&str| {
        let task = name.rsplit(':').next().unwrap_or_default();
        known.iter().any(|known| task.starts_with(known)) && !leaves(task) && !does_more(task)
    };
    let tasks = arguments.operands(&flags, &["--tests", "-x", "--exclude-task"]);
    tasks.is_some_and(|tasks| tasks.iter().all(is_task))
}

fn dotnet(arguments: &Arguments<'_>) -> bool {
    let flags = ["--no-build", "--no-restore", "--nologo", "--verify-no-changes"];
    let valued = ["--configuration", "--filter", "--framework", "--verbosity", "-c", "-f", "-v"];
    let operands = arguments.after(1).operands(&flags, &valued);
    let is_file = |word: &&str| word.ends_with("proj") || word.ends_with(".sln") || *word == ".";
    matches!(arguments.first(), Some("build" | "format" | "restore" | "test"))
        && operands.is_some_and(|operands| operands.iter().all(is_file))
}

fn bundle(arguments: &Arguments<'_>) -> bool {
    match arguments.first() {
        Some("exec") => {
            let inner = arguments.after(1);
            matches!(inner.first(), Some("rspec" | "rubocop" | "rake")) && is_own(&inner)
        }
        Some("install" | "check") => arguments.words.len() == 1,
        _ => false,
    }
}

fn ruby(arguments: &Arguments<'_>) -> bool {
    let mut rest = *arguments;
    while let Some(flag) = rest.first().filter(|first| first.starts_with('-')) {
        if !["-w", "-W", "-Ilib", "-Itest", "-Ispec"].contains(&flag) {
            return false;
        }
        rest = rest.after(1);
    }
    rest.first().is_some_and(|file| file.ends_with(".rb") && !does_more(file.rsplit('/').next().unwrap_or(file)))
        && passes_on(&rest.after(1))
        && !rest.words.iter().any(|word| tells_more(word))
}
