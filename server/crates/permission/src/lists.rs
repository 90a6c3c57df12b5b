//! Files that are more than a project's text: those that usually hold keys, and those that make programs run. This is
//! the one place that names them; `docs/security.md` quotes both lists, and a test compares.
//!
//! A name fits a file of that name at any depth, whatever its case, and `*` is any text in a name. With `/` between,
//! the last names of a path must be so; with `/` at the end it is a folder, and all that is in it.

use std::path::Path;

/// The content of a list: what the files are, in words, and their names.
type Listed = (&'static str, &'static [&'static str]);

/// Files that usually hold keys, passwords or tokens. An edit of them always waits, and reading them is asked.
const KEYS: &[Listed] = &[
    ("variables of the environment", &[".env", ".env.*", ".env-*", ".env_*", ".env~", "*.env", ".envrc", ".dev.vars"]),
    (
        "passwords of programs",
        &[
            ".netrc",
            "_netrc",
            ".npmrc",
            ".pypirc",
            ".pgpass",
            ".my.cnf",
            ".git-credentials",
            ".htpasswd",
            ".dockercfg",
            ".docker/config.json",
            ".s3cfg",
            ".boto",
            ".vault-token",
            ".terraformrc",
            ".databrickscfg",
            ".condarc",
        ],
    ),
    (
        "secrets of a deployment",
        &[
            "secrets.yaml",
            "secrets.yml",
            "secrets.json",
            "secrets.toml",
            "secrets.ini",
            "secrets.properties",
            "secrets.*.yaml",
            "secrets.*.yml",
            "*.secrets.yaml",
            "*.secrets.yml",
            "secret.yaml",
            "secret.yml",
            "secret.json",
            "secret.toml",
            ".secrets",
            "local.settings.json",
            "*.tfvars",
            "*.tfvars.json",
            "*.tfstate",
            "*.tfstate.backup",
            "kubeconfig",
            "kubeconfig.*",
            "*.kubeconfig",
            ".kube/config",
        ],
    ),
    (
        "credentials of an account",
        &[
            "credentials",
            "credentials.*",
            "*.credentials.json",
            "client_secret*.json",
            "service-account*.json",
            "service_account*.json",
            "serviceaccount*.json",
            "*-service-account.json",
            "*_service_account.json",
            "*firebase-adminsdk*.json",
            "application_default_credentials.json",
            ".aws/",
        ],
    ),
    (
        "private keys by their names",
        &["id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", ".ssh/", ".gnupg/"],
    ),
];

/// The same by the kind of the file. In folders of tests these are made for the tests, and committed.
const KEY_KINDS: Listed = (
    "keys, certificates and stores of them",
    &[
        "*.pem",
        "*.key",
        "*.p8",
        "*.p12",
        "*.pfx",
        "*.ppk",
        "*.jks",
        "*.keystore",
        "*.keytab",
        "*.kdbx",
        "*.agekey",
        "*.ovpn",
    ],
);

/// A part of a name that says that the file shows only how another one looks.
const EXAMPLES: &[&str] = &["example", "sample", "template", "tmpl", "tpl", "dist"];

/// Folders in which a project keeps what its tests need.
const OF_TESTS: &[&str] = &["test", "tests", "__tests__", "testdata", "test-data", "fixtures", "__fixtures__", "spec"];

/// Of the files that hold keys those that are as often mere settings, and committed.
const OFTEN_SETTINGS: &[&str] = &[".npmrc", ".envrc", ".condarc"];

/// Files that make other programs run something: an edit of them always waits.
const STARTERS: &[Listed] = &[
    (
        "editors",
        &[
            ".vscode/",
            ".idea/",
            ".zed/",
            ".fleet/",
            ".helix/",
            ".nvim/",
            ".nvim.lua",
            ".nvimrc",
            ".vimrc",
            ".lvimrc",
            ".local.vimrc",
            ".exrc",
            ".vimspector.json",
            ".dir-locals.el",
            ".dir-locals-2.el",
            "*.code-workspace",
            "*.sublime-project",
            ".luarc.json",
            "pyrightconfig.json",
        ],
    ),
    (
        "agents and what they start",
        &[
            ".azimuth/",
            "lsp.json",
            ".lsp.json",
            "mcp.json",
            ".mcp.json",
            ".cursor/",
            ".claude/",
            ".claude.json",
            ".codex/",
            ".gemini/",
            ".windsurf/",
            ".continue/",
            ".roo/",
            ".kiro/",
            ".amazonq/",
            ".opencode/",
            "opencode.json",
            "opencode.jsonc",
            ".aider.conf.yml",
        ],
    ),
    (
        "git and its hooks",
        &[
            ".git/",
            ".gitmodules",
            ".gitconfig",
            ".husky/",
            ".githooks/",
            "githooks/",
            ".git-hooks/",
            "lefthook.yml",
            "lefthook.yaml",
            ".lefthook.yml",
            ".lefthook.yaml",
            "lefthook-local.yml",
            ".pre-commit-config.yaml",
            ".pre-commit-hooks.yaml",
            ".overcommit.yml",
            ".huskyrc*",
            ".lintstagedrc*",
        ],
    ),
    (
        "builds, by another compiler or tool",
        &[
            ".cargo/",
            "rust-toolchain",
            "rust-toolchain.toml",
            ".yarnrc",
            ".yarnrc.yml",
            ".yarn/",
            ".pnpmfile.cjs",
            "gradlew",
            "gradlew.bat",
            "gradle/wrapper/",
            "mvnw",
            "mvnw.cmd",
            ".mvn/",
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
            "mise.local.toml",
            ".mise.local.toml",
            ".mise/",
            ".config/mise/",
            ".asdfrc",
            ".direnv/",
            ".devcontainer/",
            ".devcontainer.json",
        ],
    ),
    (
        "machines that build and publish",
        &[
            ".github/workflows/",
            ".github/actions/",
            ".gitea/workflows/",
            ".forgejo/workflows/",
            ".gitlab-ci.yml",
            ".circleci/",
            ".buildkite/",
            ".woodpecker/",
            ".woodpecker.yml",
            ".drone.yml",
            ".travis.yml",
            "jenkinsfile",
            "azure-pipelines.yml",
            "bitbucket-pipelines.yml",
            "appveyor.yml",
            ".appveyor.yml",
            "cloudbuild.yaml",
        ],
    ),
    ("programs that are found by their names", &["bin/", ".bin/", ".venv/", "venv/"]),
    (
        "shells, debuggers and interpreters as they start",
        &[
            ".bashrc",
            ".bash_profile",
            ".bash_login",
            ".bash_aliases",
            ".profile",
            ".zshrc",
            ".zshenv",
            ".zprofile",
            ".zlogin",
            ".inputrc",
            ".tmux.conf",
            ".screenrc",
            ".gdbinit",
            ".lldbinit",
            ".pythonrc",
            "sitecustomize.py",
            "usercustomize.py",
            "*.pth",
            ".irbrc",
            ".pryrc",
            ".rprofile",
            ".ghci",
            ".ocamlinit",
            ".iex.exs",
            "*.desktop",
        ],
    ),
];

/// True if keys, passwords or tokens are usually in a file of this path.
pub fn is_for_keys(path: &Path) -> bool {
    let names = names(path);
    is_of_kind(&names) || is_named_for_keys(&names)
}

/// True if such a file is read only where the user says so. A key of a kind that tests need, and in a folder of tests,
/// is read like any file: it was made for them. The path is from a folder of the workspace.
pub(super) fn is_read_by_leave(relative: &Path) -> bool {
    let names = names(relative);
    let is_of_tests = || names.iter().rev().skip(1).any(|name| OF_TESTS.contains(&name.as_str()));
    is_named_for_keys(&names) || (is_of_kind(&names) && (is_listed(KEYS, &names) || !is_of_tests()))
}

fn is_of_kind(names: &[String]) -> bool {
    is_listed(&[KEY_KINDS], names)
}

fn is_named_for_keys(names: &[String]) -> bool {
    let Some(name) = names.last() else { return false };
    let is_example = || name.split(['.', '-', '_']).any(|part| EXAMPLES.contains(&part));
    // Names that programs use for the environment in their own code.
    let is_code = matches!(name.as_str(), "process.env" | "meta.env" | "import.meta.env");
    !is_code && is_listed(KEYS, names) && !is_example()
}

/// True if it is as often mere settings that are committed.
pub(super) fn is_often_settings(path: &Path) -> bool {
    names(path).last().is_some_and(|name| OFTEN_SETTINGS.contains(&name.as_str()))
}

/// True if a file of the workspace makes programs other than the project's own run something. The path is from a folder
/// of the workspace.
pub fn makes_programs_run(relative: &Path) -> bool {
    let names = names(relative);
    // Sources of programs lie there, as cargo has them.
    let is_source = names.windows(2).any(|pair| matches!(pair, [src, bin] if src == "src" && bin == "bin"));
    let is_listed = |names: &[String]| is_listed(STARTERS, names);
    if !is_source {
        return is_listed(&names);
    }
    let others: Vec<_> = names.into_iter().filter(|name| name != "bin").collect();
    is_listed(&others)
}

/// Both lists, as the docs have them.
#[cfg(test)]
fn in_markdown() -> Vec<String> {
    let rows = KEYS.iter().chain([&KEY_KINDS]).chain(STARTERS);
    let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    rows.map(|(what, names)| format!("| {what} | {} |", quoted(names))).collect()
}

fn names(path: &Path) -> Vec<String> {
    path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase()).collect()
}

fn is_listed(list: &[Listed], names: &[String]) -> bool {
    list.iter().flat_map(|(_, listed)| *listed).any(|pattern| fits(pattern, names))
}

/// Every file of a project is held against every pattern, so nothing is allocated here.
fn fits(pattern: &str, names: &[String]) -> bool {
    let folder = pattern.strip_suffix('/');
    let parts = folder.unwrap_or(pattern);
    let count = parts.split('/').count();
    let is_it = |window: &[String]| parts.split('/').zip(window).all(|(part, name)| name_fits(part, name));
    if folder.is_some() {
        return names.windows(count).any(is_it);
    }
    names.len().checked_sub(count).and_then(|from| names.get(from..)).is_some_and(is_it)
}

/// True if a name is as a pattern with `*` says. One that begins with `*.` is about what has a name before the dot.
fn name_fits(pattern: &str, name: &str) -> bool {
    (!pattern.starts_with("*.") || name.len() >= pattern.len()) && glob_fits(pattern, name)
}

/// True if a name is as a glob says. What stands in brackets is taken for any one letter.
pub(super) fn glob_fits(glob: &str, name: &str) -> bool {
    let mut letters = glob.chars();
    match letters.next() {
        None => name.is_empty(),
        Some('*') if !letters.as_str().contains(['*', '?', '[']) => name.ends_with(letters.as_str()),
        Some('*') => {
            let rest = letters.as_str();
            name.char_indices()
                .map(|(at, _)| at)
                .chain([name.len()])
                .any(|at| glob_fits(rest, name.get(at..).unwrap_or_default()))
        }
        Some('?') => glob_after_one(letters.as_str(), name),
        Some('[') if letters.as_str().contains(']') => {
            let rest = letters.as_str().split_once(']').map(|(_, rest)| rest).unwrap_or_default();
            glob_after_one(rest, name)
        }
        Some(letter) => name.strip_prefix(letter).is_some_and(|name| glob_fits(letters.as_str(), name)),
    }
}

fn glob_after_one(rest: &str, name: &str) -> bool {
    let mut name = name.chars();
    name.next().is_some() && glob_fits(rest, name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_docs_name_every_file_of_both_lists() {
        let docs = include_str!("../../../../docs/security.md");
        let missing: Vec<_> = in_markdown().into_iter().filter(|row| !docs.contains(row.as_str())).collect();
        assert!(missing.is_empty(), "docs/security.md lacks these rows, word for word:\n{}", missing.join("\n"));
    }

    #[test]
    fn an_example_of_a_file_with_keys_holds_none() {
        for file in [
            ".env.example",
            ".env.sample",
            ".env.template",
            "example.env",
            "terraform.tfvars.example",
            "secrets.example.yaml",
            "kubeconfig.example",
            "config/.env.dist",
            ".key",
            "src/secrets.rs",
            "credentials_test.go",
            "process.env",
            "tokens.json",
        ] {
            assert!(!is_for_keys(Path::new(file)), "{file}");
        }
        for file in [
            ".ENV",
            "a/.env.local",
            "terraform.tfvars",
            "x/secrets.yaml",
            "service-account.json",
            "kubeconfig",
            ".kube/config",
            "example.com.key",
            "tests/server.key",
            ".ssh/known",
        ] {
            assert!(is_for_keys(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn a_certificate_of_the_tests_is_read_like_any_file_and_an_environment_of_theirs_is_not() {
        for file in ["tests/server.pem", "crates/x/testdata/ca/root.key", "spec/fixtures/store.jks"] {
            assert!(is_for_keys(Path::new(file)) && !is_read_by_leave(Path::new(file)), "{file}");
        }
        for file in ["tests/.env", "tests/id_rsa", "server.pem", "deploy/server.key", "fixtures/.ssh/host.key"] {
            assert!(is_read_by_leave(Path::new(file)), "{file}");
        }
    }

    #[test]
    fn what_makes_programs_run_is_told_from_sources() {
        for file in [
            ".vscode/tasks.json",
            ".vscode/settings.json",
            "a/.mcp.json",
            ".cursor/mcp.json",
            ".claude/settings.json",
            ".helix/languages.toml",
            ".nvim.lua",
            ".exrc",
            ".dir-locals.el",
            ".husky/pre-commit",
            ".githooks/x/y",
            ".cargo/config.toml",
            ".github/workflows/ci.yml",
            "lsp.json",
            ".lsp.json",
            ".azimuth/lsp.json",
            "bin/node",
            "node_modules/.bin/eslint",
            ".venv/bin/python",
            "vendor/bin/phpunit",
            "Jenkinsfile",
            ".VSCODE/tasks.json",
            "src/bin/.vscode/tasks.json",
        ] {
            assert!(makes_programs_run(Path::new(file)), "{file}");
        }
        for file in [
            "src/bin/main.rs",
            "crates/a/src/bin/b/main.rs",
            "src/main.rs",
            "Makefile",
            ".github/CODEOWNERS",
            "vscode/a",
            "binary/a",
            ".gitignore",
        ] {
            assert!(!makes_programs_run(Path::new(file)), "{file}");
        }
    }
}
