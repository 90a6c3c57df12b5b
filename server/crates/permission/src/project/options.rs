//! Options that many programs have, by which a build would do more than build: write over sources, read further options
//! from a file, or open a port.

use super::arguments::Arguments;

/// Options, without their dashes, by which others can reach the program over the network, or a browser is opened.
const OPENS: &[&str] = &[
    "address",
    "api",
    "bind",
    "debug-port",
    "host",
    "hostname",
    "inspect",
    "inspect-brk",
    "inspect-config",
    "inspect-port",
    "inspect-wait",
    "listen",
    "live",
    "livereload",
    "looponfail",
    "open",
    "port",
    "serve",
    "servedir",
    "tx",
    "ui",
    "ui-host",
    "ui-port",
];

/// Options that name what is written, without dashes and in small letters. Others are found by their words.
const WRITES: &[&str] = &[
    "artifactdir",
    "basetemp",
    "blockprofile",
    "cachedir",
    "cachelocation",
    "coveragedirectory",
    "coverprofile",
    "cpuprofile",
    "cpuprof",
    "declarationdir",
    "destination",
    "dest",
    "generatecpuprofile",
    "generatetrace",
    "junitxml",
    "logfile",
    "memprofile",
    "mutexprofile",
    "reportdir",
    "reportsdir",
    "coveragereportsdirectory",
    "resultlog",
    "targetdir",
    "tempdir",
    "tempdirectory",
    "trace",
    "tsbuildinfofile",
];

/// Options that only sound so.
const NO_FILES: &[&str] =
    &["futureincompatreport", "outputformat", "outputlogs", "outputonfailure", "outputstyle", "outputsync"];

/// When something is traced, where the same option of another program names the file of the trace.
const WHEN: &[&str] =
    &["on", "off", "on-first-retry", "on-all-retries", "retain-on-failure", "retain-on-first-failure"];

/// Options that choose tests by their names, in which `@` is a tag.
const CHOOSES: &[&str] = &["-g", "--grep", "--grep-invert", "-t", "--testNamePattern"];

/// Folders that builds write to.
const RESULTS: &[&str] = &[
    "_build",
    "artifacts",
    "build",
    "cov",
    "coverage",
    "coverage-report",
    "dist",
    "htmlcov",
    "log",
    "logs",
    "obj",
    "out",
    "output",
    "public",
    "report",
    "reports",
    "result",
    "results",
    "site",
    "target",
    "temp",
    "test-results",
    "tmp",
];

/// Ends of files that programs write and people do not.
const ENDS: &[&str] = &[
    "a", "cov", "csv", "d", "dll", "dylib", "exe", "info", "junit", "lcov", "log", "o", "obj", "out", "prof",
    "profraw", "sarif", "so", "svg", "tap", "trx", "wasm",
];

/// Ends of files that programs write and people do too: the name must say that it is a result.
const EITHER: &[&str] = &["html", "json", "md", "txt", "xml"];

/// Words by which the name of a file says so.
const SAYS_RESULT: &[&str] = &[
    "bench", "cov", "coverage", "junit", "lint", "log", "out", "output", "report", "result", "results", "stats", "test",
];

/// True if no option of a program opens a port.
pub(super) fn opens_nothing(arguments: &Arguments<'_>) -> bool {
    !arguments.words.iter().any(|word| {
        let name = word.split(['=', '.']).next().unwrap_or_default();
        let Some(name) = word.strip_prefix('-').and(Some(name.trim_start_matches('-'))) else { return false };
        let name = name.to_ascii_lowercase();
        // Many programs take the beginning of a flag for the flag. What is shorter is too often another.
        let is_other = matches!(name.as_str(), "debug" | "list");
        let begins = |option: &str| !is_other && word.starts_with("--") && name.len() > 3 && option.starts_with(&name);
        OPENS.iter().any(|option| *option == name || begins(option))
    })
}

/// True if no word has a program read its options from a file. `@scope/package` names a package, for programs that know
/// packages by such names.
pub(super) fn hides_no_options(arguments: &Arguments<'_>, knows_scopes: bool) -> bool {
    let is_scoped = |piece: &str| knows_scopes && piece.split('/').count() == 2;
    let is_tag = |at: usize, word: &str| {
        let before = at.checked_sub(1).and_then(|at| arguments.words.get(at));
        let chooses = |option: &str| knows_scopes && CHOOSES.contains(&option);
        before.is_some_and(|option| chooses(option)) || word.split_once('=').is_some_and(|(name, _)| chooses(name))
    };
    !arguments.words.iter().enumerate().any(|(at, word)| {
        !is_tag(at, word) && word.split(['=', ',']).any(|piece| piece.starts_with('@') && !is_scoped(piece))
    })
}

/// True if what the options name to be written are results of a build, as far as they are known. `short` are those of
/// one letter that do so.
pub(super) fn writes_results(arguments: &Arguments<'_>, short: &[&str]) -> bool {
    let mut words = arguments.words.iter().peekable();
    while let Some(word) = words.next() {
        if *word == "--" {
            break;
        }
        if !word.starts_with('-') {
            continue;
        }
        let glued = short.iter().find_map(|flag| word.strip_prefix(flag)).filter(|_| !word.starts_with("--"));
        let (name, value) = match (glued, word.split_once('=')) {
            (Some(""), _) => ("", None),
            (Some(value), _) => ("", Some(value.trim_start_matches('='))),
            (None, Some((name, value))) => (name, Some(value)),
            (None, None) => (*word, None),
        };
        if glued.is_none() && !names_output(name) {
            continue;
        }
        let value = value.or_else(|| words.next_if(|next| !next.starts_with('-')).copied());
        // A kind of report may stand before its file: `xml:cov.xml`. Without a file it is the usual one.
        let is_kind = name.ends_with("cov-report");
        let file =
            value.and_then(|value| if is_kind { value.split_once(':').map(|(_, file)| file) } else { Some(value) });
        let is_when = |file: &str| name == "--trace" && WHEN.contains(&file);
        if file.is_some_and(|file| !is_result(file) && !is_when(file)) {
            return false;
        }
    }
    true
}

/// True if an option, by its name, says what is written.
fn names_output(name: &str) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let says =
        name.starts_with("out") || name.starts_with("output") || name.contains("output") || name.ends_with("report");
    (says || WRITES.contains(&name.as_str())) && !NO_FILES.contains(&name.as_str())
}

/// True if a path is one that builds write to, by its name.
pub(super) fn is_result(path: &str) -> bool {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let Some((last, folders)) = parts.split_last() else { return false };
    if parts.contains(&"..") {
        return false;
    }
    let is_of_results = |name: &&str| {
        RESULTS.contains(name)
            || name.starts_with("build-")
            || name.starts_with("cmake-build")
            || name.starts_with("out-")
    };
    // Files that tools keep beside the packages that they come with.
    let is_cache = matches!(parts.as_slice(), ["node_modules", ".cache", ..]);
    if is_cache || matches!(parts.as_slice(), [".nyc_output" | ".cache" | ".tshy" | ".turbo", ..]) {
        return true;
    }
    let (stem, end) = last.rsplit_once('.').unwrap_or((last, ""));
    let in_results = folders.first().is_some_and(is_of_results);
    match end {
        "" => in_results || is_of_results(last),
        _ if ENDS.contains(&end) => true,
        _ if EITHER.contains(&end) => {
            let says = || stem.split(['-', '_', '.']).any(|word| SAYS_RESULT.contains(&word.to_lowercase().as_str()));
            in_results || says()
        }
        // A file written into such a folder may be a program of a build, but is no source where people keep none.
        _ => folders.first().is_some_and(|first| is_of_results(first) && *first != "build"),
    }
}
