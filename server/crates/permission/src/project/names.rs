//! The names that projects give their commands: which of them say that they build, test, lint or format, and which
//! that they do more.

/// Words of names of what builds, tests, lints, formats or writes documentation.
const WORKS: &[&str] = &[
    "all",
    "assemble",
    "ava",
    "bench",
    "benchmark",
    "benchmarks",
    "benches",
    "black",
    "build",
    "builds",
    "bundle",
    "check",
    "checks",
    "ci",
    "clean",
    "clippy",
    "codegen",
    "compile",
    "cov",
    "coverage",
    "credo",
    "cspell",
    "debug",
    "detekt",
    "dialyzer",
    "dist",
    "doc",
    "doctest",
    "docs",
    "documentation",
    "e2e",
    "eslint",
    "examples",
    "fix",
    "flake8",
    "fmt",
    "format",
    "gen",
    "generate",
    "help",
    "html",
    "integration",
    "isort",
    "jar",
    "javadoc",
    "jest",
    "karma",
    "knip",
    "ktlint",
    "lib",
    "lint",
    "lints",
    "list",
    "minify",
    "mocha",
    "mypy",
    "nyc",
    "oxlint",
    "pack",
    "package",
    "prepare",
    "pretty",
    "prettier",
    "pylint",
    "pyright",
    "pytest",
    "quick",
    "rspec",
    "rubocop",
    "ruff",
    "runtests",
    "size",
    "spec",
    "specs",
    "sphinx",
    "spotless",
    "standard",
    "style",
    "stylelint",
    "tap",
    "tape",
    "test",
    "testing",
    "tests",
    "transpile",
    "tsc",
    "tsd",
    "tsup",
    "type",
    "typecheck",
    "typedoc",
    "types",
    "typing",
    "typos",
    "uvu",
    "unit",
    "validate",
    "verify",
    "version",
    "vet",
    "vitest",
    "xo",
];

/// Words of names of what destroys, deploys, publishes, serves, or otherwise acts on more than the project's files.
const MORE: &[&str] = &[
    "and",
    "apply",
    "approve",
    "artisan",
    "aws",
    "azure",
    "backup",
    "bootstrap",
    "bucket",
    "bump",
    "cdk",
    "charge",
    "cloud",
    "cluster",
    "commit",
    "database",
    "db",
    "delete",
    "deploy",
    "deployment",
    "dest",
    "destroy",
    "device",
    "disk",
    "down",
    "downgrade",
    "drop",
    "email",
    "erase",
    "exec",
    "flash",
    "flush",
    "fly",
    "ftp",
    "gcloud",
    "gcp",
    "grant",
    "helm",
    "heroku",
    "infra",
    "install",
    "invite",
    "invoice",
    "invoices",
    "k8s",
    "kill",
    "kube",
    "kubernetes",
    "launch",
    "live",
    "login",
    "logout",
    "mail",
    "mails",
    "merge",
    "migrate",
    "migration",
    "migrations",
    "netlify",
    "newsletter",
    "notify",
    "nuke",
    "partition",
    "pay",
    "payment",
    "payments",
    "prod",
    "production",
    "promote",
    "provision",
    "prune",
    "publish",
    "purge",
    "push",
    "release",
    "remove",
    "reset",
    "restart",
    "restore",
    "revoke",
    "rm",
    "rollback",
    "rollout",
    "rsync",
    "s3",
    "scp",
    "seed",
    "send",
    "serve",
    "ship",
    "sign",
    "sms",
    "ssh",
    "stage",
    "staging",
    "start",
    "stop",
    "submit",
    "sudo",
    "tag",
    "teardown",
    "terminate",
    "terraform",
    "tf",
    "transfer",
    "truncate",
    "uninstall",
    "up",
    "upload",
    "vercel",
    "wipe",
];

/// Words of work that say nothing by themselves beside one that is not known.
const BROAD: &[&str] = &[
    "all", "ci", "dist", "examples", "help", "jar", "lib", "list", "pack", "package", "prepare", "quick", "size",
    "standard", "version",
];

/// Where a build may be for. Elsewhere in a name it is where something is done.
const PLACES: &[&str] = &["prod", "production", "stage", "staging"];

/// True if the name of a script, target or task says that it builds, tests, lints or formats, and nothing more: one of
/// its words at its beginning or end does so, and none of the others is known to do more.
pub(super) fn is_work(name: &str) -> bool {
    let words = words(name);
    let works =
        |word: Option<&String>| word.is_some_and(|word| is_word_of_work(word) && !BROAD.contains(&word.as_str()));
    let all_known = !words.is_empty() && words.iter().all(|word| is_word_of_work(word));
    let first = words.first().map(String::as_str).unwrap_or_default();
    let is_build = ["build", "bundle", "compile"].contains(&first);
    let stays = |word: &String| !MORE.contains(&word.as_str()) || (is_build && PLACES.contains(&word.as_str()));
    // Files that are cleaned are lost, so it must be all known.
    let is_known = all_known || !words.iter().any(|word| word == "clean");
    (works(words.first()) || works(words.last()) || all_known) && words.iter().all(stays) && is_known
}

/// True if a name, of a program or of what it is told to do, says that it does more than work in the project's files.
pub(super) fn does_more(name: &str) -> bool {
    words(name).iter().any(|word| MORE.contains(&word.as_str()))
}

/// True if the operands of a program of the project's own tell it to do more: one of them is such a word.
pub(super) fn tells_more(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_:".contains(c);
    !word.starts_with('-') && word.chars().all(is_plain) && does_more(word)
}

fn is_word_of_work(word: &str) -> bool {
    // `py312`, `es5`, `cjs`: what it is tested with, or built for.
    let version = ["cpython", "cp", "jdk", "node", "pypy", "py"].iter().find_map(|begin| word.strip_prefix(begin));
    WORKS.contains(&word) || version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// The words of a name, in small letters: `dbDrop`, `db:drop` and `db_drop` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let joins = !c.is_ascii_alphanumeric();
        if joins || (c.is_ascii_uppercase() && was_small) {
            words.push(String::new());
        }
        if let Some(last) = words.last_mut().filter(|_| !joins) {
            last.push(c.to_ascii_lowercase());
        }
        was_small = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}
