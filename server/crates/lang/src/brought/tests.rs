#![expect(clippy::disallowed_methods, reason = "a test makes its files itself")]

use process::sandbox::{Settings, World};
use protocol::terminal::SandboxMode;

use super::super::table::{Places, Table};
use super::*;

#[test]
fn a_hash_that_is_known_is_used_until_the_file_is_written_or_it_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    std::fs::write(&path, "one").unwrap();
    let hashes = Hashes::default();
    let of = |anew: bool| hashes.of(&path, 6, anew).unwrap().1;
    let one = of(false);
    assert_eq!(one, in_digits(Sha256::digest("one")));
    let known = |hash: &str| (stamp(&path.metadata().unwrap()), hash.to_owned());
    hashes.0.lock().unwrap().insert(path.clone(), known("known"));
    assert_eq!(of(false), "known");
    assert_eq!(of(true), one);
    assert_eq!(of(false), one);
    std::fs::write(&path, "longer").unwrap();
    assert_eq!(of(false), in_digits(Sha256::digest("longer")));
    std::fs::write(&path, "more than 6").unwrap();
    assert!(hashes.of(&path, 6, false).is_err());
}

#[test]
fn what_was_allowed_in_a_sandbox_is_asked_for_again_where_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().canonicalize().unwrap().join("program");
    std::fs::write(&program, "one").unwrap();
    let definition = Table::load(Places { home: None, user: None, project: None }).servers[0].clone();
    let root = folder.path().to_owned();
    let server = Detected { definition, program: Some(program), root, allowed: None, only_as_it_runs: false };
    let roots = Roots::new([folder.path()]).unwrap();
    let world =
        World { folders: &[], repositories: &[], own: &[], denied: &[], credentials: &[], environment: &|_| None };
    let policy = Policy::new(&Settings::default(), &world);
    let looked = |policy: Option<&Policy>| {
        look(&server, &Ground::new(&roots, policy, Vec::new(), None), &Hashes::default(), true).unwrap()
    };
    let (with, without) = (looked(policy.as_ref()), looked(None));
    assert!(with.is_sandboxed && !without.is_sandboxed);
    assert_ne!(with.fingerprint, without.fingerprint);
    assert_eq!(with, looked(policy.as_ref()));
}

#[test]
fn what_commands_of_other_sessions_write_is_the_projects_where_they_only_read_too() {
    // Not among temporary ones, which are nobody's.
    let is_root = rustix::process::geteuid().is_root();
    let base = if is_root { PathBuf::from("/srv") } else { std::env::var_os("HOME").unwrap().into() };
    std::fs::create_dir_all(&base).unwrap();
    let folder = tempfile::Builder::new().prefix("azimuth-brought-").tempdir_in(base).unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    let (cached, own) = (at("ada/.npm/_npx/1/program"), at("ada/tools/bin/program"));
    for program in [&cached, &own] {
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(program, "").unwrap();
    }
    std::fs::create_dir_all(at("project")).unwrap();
    let environment = |name: &str| match name {
        "HOME" => Some(at("ada").into()),
        "PATH" => Some(at("ada/tools/bin").into()),
        _ => None,
    };
    let folders = [at("project")];
    let world = World {
        folders: &folders,
        repositories: &[],
        own: &[],
        denied: &[],
        credentials: &[],
        environment: &environment,
    };
    let roots = Roots::new(&folders).unwrap();
    for mode in [SandboxMode::WorkspaceWrite, SandboxMode::ReadOnly] {
        let policy = Policy::new(&Settings { mode, ..Settings::default() }, &world).map(Policy::resolved);
        let ground = Ground::new(&roots, policy.as_ref(), Vec::new(), None);
        assert!(ground.has(&cached) && !ground.has(&own), "{mode:?}");
    }
}

/// A workspace without a sandbox, of a user without another session and without `PATH`.
fn ground(roots: &Roots) -> Ground<'static> {
    Ground::new(roots, None, Vec::new(), None)
}

/// A server that is started in a project with this program and these arguments.
fn server(root: &Path, program: &Path, args: &[&str]) -> Detected {
    let mut definition = (*Table::load(Places { home: None, user: None, project: None }).servers[0]).clone();
    definition.args = args.iter().map(|arg| (*arg).to_owned()).collect();
    Detected {
        definition: definition.into(),
        program: Some(program.to_owned()),
        root: root.to_owned(),
        allowed: None,
        only_as_it_runs: false,
    }
}

fn write(file: &Path, text: &str) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

#[test]
fn a_toolchain_is_found_in_a_file_however_long_it_is_and_its_program_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for program in ["users/bin/rustup", "users/bin/server", "elsewhere/bin/server"] {
        write(&at(program), "one");
    }
    std::fs::create_dir(at("project")).unwrap();
    let roots = Roots::new([at("project")]).unwrap();
    let server = server(&at("project"), &at("users/bin/server"), &[]);
    let named = format!("[toolchain]\npath = \"{}\"\n", at("elsewhere").display());
    let file = at("project/rust-toolchain.toml");
    write(&file, "[toolchain]\nchannel = \"stable\"\n");
    assert!(!is_brought(&server, &ground(&roots)));
    for text in [format!("# {}\n{named}", "x".repeat(70_000)), named] {
        write(&file, &text);
        assert!(is_brought(&server, &ground(&roots)));
    }
    let looked = || look(&server, &ground(&roots), &Hashes::default(), true).unwrap().fingerprint;
    let before = looked();
    write(&at("elsewhere/bin/server"), "two");
    assert_ne!(before, looked());
}

/// The files of a project that are run, by which program of the user's with which arguments.
const RUNS: &[(&str, &str, &[&str])] = &[
    // Behind whatever runs it.
    ("package.json", "npm", &["run", "lsp"]),
    ("package.json", "nice", &["-n", "5", "npm", "run", "lsp"]),
    ("package.json", "env", &["FOO=1", "npm", "run", "lsp"]),
    ("pyproject.toml", "env", &["-S", "FOO=1 poetry run x"]),
    ("package.json", "sh", &["-c", "exec npm run lsp"]),
    ("package.json", "bash", &["-lc", "cd /tmp;A=b npm run lsp"]),
    ("package.json", "timeout", &["5", "setsid", "stdbuf", "-oL", "sh", "-c", "nohup npm run lsp"]),
    ("package.json", "sudo", &["-u", "ada", "/usr/bin/npm", "run", "lsp"]),
    ("Makefile", "wrapper-of-next-year", &["--", "make", "lsp"]),
    ("server.js", "nice", &["node", "server.js"]),
    ("a/b.py", "sh", &["-c", "exec python -m a.b"]),
    ("my tools/x.sh", "sh", &["-c", "exec './my tools/x.sh'"]),
    ("my tools/x.sh", "sh", &["-c", "exec ./my\\ tools/x.sh"]),
    // Folders, and names without their endings.
    ("server/index.js", "node", &["./server"]),
    ("server/package.json", "node", &["server"]),
    ("server.cjs", "node", &["./server"]),
    ("server/__main__.py", "python", &["./server"]),
    ("pylsp/__main__.py", "python3", &["-m", "pylsp"]),
    ("pylsp/__init__.py", "python3.12", &["-Im", "pylsp"]),
    ("pylsp.py", "python", &["-mpylsp"]),
    ("a/__init__.py", "python", &["-m", "a.b"]),
    ("a/b.py", "python", &["-I", "-m", "a.b"]),
    ("x.rb", "ruby", &["-r./x", "/opt/server.rb"]),
    ("x.js", "node", &["-r", "./x", "/opt/server.js"]),
    ("x.mjs", "node", &["--import=./x.mjs", "/opt/server.js"]),
    ("x.mjs", "node", &["--loader", "./x.mjs", "/opt/server.js"]),
    ("build/com/ada/Main.class", "java", &["-cp", "/opt/a.jar:build", "com.ada.Main"]),
    ("Main.class", "java", &["Main"]),
    ("lib/Server.pm", "perl", &["-Ilib", "-MServer", "-e", "1"]),
    ("lib/A/B.pm", "perl", &["-I", "lib", "-MA::B", "-e", "1"]),
    ("server.lua", "lua", &["-l", "server"]),
    ("server.php", "php", &["server.php"]),
    ("server.ts", "deno", &["run", "-A", "./server.ts"]),
    ("server.ts", "deno", &["run", "-A", "server.ts"]),
    ("server.ts", "tsx", &["./server.ts"]),
    ("x.fish", "fish", &["x.fish"]),
    ("x.so", "env", &["LD_PRELOAD=./x.so", "/opt/server"]),
    ("server.conf", "mine-lsp", &["--config", "server.conf"]),
    // Paths that only a shell knows.
    ("x.sh", "sh", &["-c", ". \"$PWD/x.sh\""]),
    ("tools/x.sh", "sh", &["-c", "cd tools && ./x.sh"]),
    ("tools/x.sh", "sh", &["-c", "D=tools; exec $D/x.sh"]),
    // Packages and programs of the project.
    (".venv/bin/pylsp", "poetry", &["run", "pylsp"]),
    ("node_modules/.bin/ls", "npx", &["ls", "--stdio"]),
    ("node_modules/@ada/ls/package.json", "npx", &["@ada/ls", "--stdio"]),
    ("node_modules/tsx/package.json", "node", &["--import", "tsx", "/opt/server.ts"]),
    // Files that launchers read.
    ("deno.json", "deno", &["task", "lsp"]),
    ("mise.toml", "mise", &["x", "--", "lsp"]),
    (".tool-versions", "asdf", &["exec", "lsp"]),
    (".envrc", "direnv", &["exec", "/tmp", "lsp"]),
    ("flake.nix", "nix", &["develop", "-c", "lsp"]),
    ("shell.nix", "nix-shell", &["--run", "lsp"]),
    (".config/dotnet-tools.json", "dotnet", &["tool", "run", "lsp"]),
    ("a.csproj", "dotnet", &["run"]),
    ("deps.edn", "clojure", &["-M:lsp"]),
    ("project.clj", "lein", &["lsp"]),
    ("Cargo.toml", "cargo", &["run", "--release"]),
    ("go.mod", "go", &["run", "example.org/lsp"]),
    ("package.json", "pnpm", &["dlx", "lsp"]),
    ("package.json", "node", &["--run", "lsp"]),
    ("bunfig.toml", "bun", &["x", "lsp"]),
    ("pyproject.toml", "uv", &["run", "lsp"]),
    ("Pipfile", "pipenv", &["run", "lsp"]),
    ("Gemfile", "bundle", &["exec", "solargraph", "stdio"]),
    ("Rakefile", "rake", &["lsp"]),
    ("justfile", "just", &["lsp"]),
    ("Taskfile.yml", "task", &["lsp"]),
    ("build.gradle.kts", "gradle", &["lsp"]),
    ("pom.xml", "mvn", &["exec:java"]),
    ("mix.exs", "mix", &["lsp"]),
    ("stack.yaml", "stack", &["exec", "lsp"]),
    ("ada.cabal", "cabal", &["run", "lsp"]),
    ("Package.swift", "swift", &["run", "lsp"]),
    ("build.zig", "zig", &["build", "lsp"]),
    ("pubspec.yaml", "dart", &["run", "lsp"]),
    ("composer.json", "composer", &["exec", "lsp"]),
    ("compose.yaml", "docker", &["compose", "run", "lsp"]),
    (".Rprofile", "R", &["--no-echo", "-e", "languageserver::run()"]),
    ("Project.toml", "julia", &["--project", "-e", "using LanguageServer"]),
];

#[test]
fn a_server_is_brought_along_where_a_program_of_the_users_runs_what_lies_in_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for (file, program, args) in RUNS {
        let (project, program) = (at("project"), at("users").join(program));
        std::fs::create_dir(&project).unwrap();
        write(&program, "");
        let server = server(&project, &program, args);
        let roots = Roots::new([&project]).unwrap();
        assert!(!is_brought(&server, &ground(&roots)), "{program:?} {args:?}");
        write(&project.join(file), "one");
        assert!(is_brought(&server, &ground(&roots)), "{program:?} {args:?}");
        let looked = || look(&server, &ground(&roots), &Hashes::default(), true).unwrap().fingerprint;
        let before = looked();
        write(&project.join(file), "two");
        assert_ne!(before, looked(), "{program:?} {args:?}");
        std::fs::remove_dir_all(project).unwrap();
    }
}

#[test]
fn the_folder_itself_is_asked_for_whatever_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    std::fs::create_dir(at("project")).unwrap();
    let roots = Roots::new([at("project")]).unwrap();
    let by_path = at("project").display().to_string();
    for (program, args) in [
        ("node", &["."][..]),
        ("java", &["-cp", ".", "Main"]),
        ("ruby", &["-I.", "/opt/server.rb"]),
        ("perl", &["-I", &by_path, "/opt/server.pl"]),
        ("sh", &["-c", "exec $(pwd)/x.sh"]),
        ("sh", &["-c", "node $PWD"]),
        ("sh", &["-c", "exec ./x*"]),
        ("sh", &["-c", "./x*"]),
        ("java", &["-cp", "*", "Main"]),
    ] {
        write(&at("users").join(program), "");
        let server = server(&at("project"), &at("users").join(program), args);
        assert!(is_brought(&server, &ground(&roots)), "{program} {args:?}");
        assert_eq!(look(&server, &ground(&roots), &Hashes::default(), true).unwrap().said_by, [at("project")]);
    }
}

#[test]
fn what_a_launcher_finds_above_the_workspace_is_the_projects_up_to_the_users_home_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    std::fs::create_dir_all(at("mono/pkg/deep")).unwrap();
    let roots = Roots::new([at("mono/pkg")]).unwrap();
    for (file, program, args) in [
        ("mono/package.json", "npm", &["run", "lsp"][..]),
        ("mono/node_modules/.bin/ls", "npx", &["ls"]),
        ("mono/pkg/node_modules/.bin/ls", "timeout", &["5", "npx", "ls"]),
    ] {
        write(&at("users").join(program), "");
        let server = server(&at("mono/pkg/deep"), &at("users").join(program), args);
        assert!(!is_brought(&server, &ground(&roots)), "{file}");
        write(&at(file), "one");
        assert!(is_brought(&server, &ground(&roots)), "{file}");
        std::fs::remove_file(at(file)).unwrap();
    }
}

#[test]
fn a_server_of_the_users_own_is_not_brought_along_by_a_project_that_it_does_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for file in [
        "Cargo.toml",
        "Makefile",
        "a.csproj",
        "deno.json",
        "go.mod",
        "gopls.toml",
        "index.js",
        "node_modules/typescript/package.json",
        "package.json",
        "pyproject.toml",
        "server/index.js",
        "src/main.rs",
    ] {
        write(&at("project").join(file), "");
    }
    for program in ["gopls", "mine-lsp", "node", "zls"] {
        write(&at("users").join(program), "");
        let path = at("users").join(program);
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    write(&at("users/lib/x.js"), "");
    let script = at("users/lib/x.js").display().to_string();
    let roots = Roots::new([at("project")]).unwrap();
    for (program, args) in [
        ("rust-analyzer", &[][..]),
        ("gopls", &["serve"]),
        ("ruff", &["server"]),
        ("clangd", &["--background-index", "--compile-commands-dir=build"]),
        ("pyright-langserver", &["--stdio"]),
        ("typescript-language-server", &["--stdio"]),
        ("deno", &["lsp"]),
        ("dart", &["language-server", "--protocol=lsp"]),
        ("node", &[&script, "--stdio"]),
        ("node", &["--max-old-space-size=4096", &script, "--stdio"]),
        ("java", &["-Xmx1G", "-Declipse.product=org.eclipse.jdt.ls.core.product", "-jar", "/opt/jdtls/a.jar"]),
        ("dotnet", &["/opt/omnisharp/OmniSharp.dll", "-lsp"]),
        ("sh", &["-c", "exec gopls"]),
        ("sh", &["-c", "exec ruff server"]),
        ("sh", &["-c", ". /etc/profile; PATH=$HOME/bin:$PATH exec gopls -logfile=$HOME/x.log"]),
        ("nice", &["-n", "5", "zls"]),
        ("env", &["-u", "FOO", "A=b", "deno", "lsp"]),
        ("mine-lsp", &["--stdio", "--log=/var/log/x"]),
        ("mine-lsp", &["--include=*.ts", "--exclude", "**/node_modules"]),
        ("python3", &["-m", "mine_lsp"]),
    ] {
        let server = server(&at("project"), &at("users").join(program), args);
        let path = at("users");
        let ground = Ground::new(&roots, None, Vec::new(), Some(path.as_os_str()));
        assert!(!is_brought(&server, &ground), "{program} {args:?}: {:?}", Parts::of(&server, &ground).files);
    }
}

#[test]
fn modules_that_python_would_take_from_the_project_before_all_others_are_the_projects() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    std::fs::create_dir(at("project")).unwrap();
    let roots = Roots::new([at("project")]).unwrap();
    let brought = |args: &[&str]| is_brought(&server(&at("project"), &at("python3"), args), &ground(&roots));
    write(&at("python3"), "");
    assert!(!brought(&["-m", "pylsp"]));
    write(&at("project/logging.py"), "one");
    for (args, is_it) in [
        (&["-m", "pylsp"][..], true),
        (&["-c", "import pylsp"], true),
        (&["-I", "-m", "pylsp"], false),
        (&["-Pm", "pylsp"], false),
        (&["-I", "-W", "ignore", "-m", "pylsp"], false),
        (&["-m", "mine_ls", "-P", "2087"], true),
        (&["-Wignore::PendingDeprecationWarning", "-m", "pylsp"], true),
        (&["-W", "ignore", "-m", "pylsp"], true),
        (&["--check-hash-based-pycs", "never", "-m", "pylsp"], true),
        (&["/opt/pylsp.py", "--stdio"], false),
    ] {
        assert_eq!(brought(args), is_it, "{args:?}");
    }
    let server = server(&at("project"), &at("python3"), &["-m", "pylsp"]);
    let looked = || look(&server, &ground(&roots), &Hashes::default(), true).unwrap().fingerprint;
    let before = looked();
    write(&at("project/json/__init__.py"), "one");
    assert_ne!(before, looked());
}

#[test]
fn what_was_allowed_of_modules_in_one_project_is_asked_for_in_another_with_the_same_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    write(&at("python3"), "");
    let looked = |project: &str| {
        write(&at(project).join("jedi.py"), project);
        let server = server(&at(project), &at("python3"), &["-m", "pylsp"]);
        look(&server, &ground(&Roots::new([at(project)]).unwrap()), &Hashes::default(), true).unwrap().fingerprint
    };
    assert_ne!(looked("mine"), looked("fork"));
}

#[test]
fn a_folder_of_jars_in_the_project_is_the_projects() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    write(&at("java"), "");
    std::fs::create_dir(at("project")).unwrap();
    let roots = Roots::new([at("project")]).unwrap();
    let server = server(&at("project"), &at("java"), &["-cp", "lib/*:/opt/ls.jar", "com.ada.Main"]);
    assert!(!is_brought(&server, &ground(&roots)));
    write(&at("project/lib/a.jar"), "one");
    assert!(is_brought(&server, &ground(&roots)));
    assert_eq!(look(&server, &ground(&roots), &Hashes::default(), true).unwrap().said_by, [at("project/lib")]);
}

#[test]
fn what_a_server_writes_into_the_project_is_asked_for_once_and_keeps_it_from_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    write(&at("mine-ls"), "");
    write(&at("project/ls.log"), "one");
    let _socket = std::os::unix::net::UnixListener::bind(at("project/ls.sock")).unwrap();
    let roots = Roots::new([at("project")]).unwrap();
    let server = server(&at("project"), &at("mine-ls"), &["--log", "./ls.log", "--socket=./ls.sock"]);
    let looked = || look(&server, &ground(&roots), &Hashes::default(), true).unwrap();
    let before = looked();
    assert_eq!(before.said_by, [at("project/ls.log"), at("project/ls.sock")]);
    write(&at("project/ls.log"), "two");
    assert_eq!(before, looked());
}

#[test]
fn a_script_that_is_called_a_log_is_asked_for_whenever_it_changes_and_no_pipe_can_be_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    write(&at("sh"), "");
    write(&at("project/start.log"), "one");
    let roots = Roots::new([at("project")]).unwrap();
    let looked = |word: &str| {
        let server = server(&at("project"), &at("sh"), &[word]);
        look(&server, &ground(&roots), &Hashes::default(), true).map(|brought| brought.fingerprint)
    };
    let before = looked("./start.log").unwrap();
    write(&at("project/start.log"), "two");
    assert_ne!(before, looked("./start.log").unwrap());
    rustix::fs::mkfifoat(rustix::fs::CWD, at("project/pipe"), Mode::RWXU).unwrap();
    assert!(looked("./pipe").is_err());
}

#[test]
fn what_lies_in_the_folder_of_another_session_or_is_reached_by_a_link_there_is_brought_along() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for file in ["users/node", "users/server", "other/server", "other/server.js"] {
        write(&at(file), "");
    }
    std::fs::create_dir(at("project")).unwrap();
    std::os::unix::fs::symlink(at("users/server"), at("other/link")).unwrap();
    std::os::unix::fs::symlink(at("other/link"), at("users/led")).unwrap();
    let (roots, sessions) = (Roots::new([at("project")]).unwrap(), vec![at("other")]);
    let script = at("other/server.js").display().to_string();
    for (program, args, is_it) in [
        ("users/server", &[][..], false),
        ("other/server", &[], true),
        ("users/led", &[], true),
        ("users/node", &[script.as_str()], true),
    ] {
        let server = server(&at("project"), &at(program), args);
        assert!(!is_brought(&server, &ground(&roots)), "{program}: without that session");
        let ground = Ground::new(&roots, None, sessions.clone(), None);
        assert_eq!(is_brought(&server, &ground), is_it, "{program}");
    }
}

#[test]
fn a_program_of_the_project_that_path_has_first_is_asked_for_behind_a_wrapper_too() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
    for file in ["project/tools/ls", "project/tools/deno", "users/ls", "users/deno", "users/nice"] {
        write(&at(file), "");
        std::fs::set_permissions(at(file), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    let roots = Roots::new([at("project")]).unwrap();
    for args in [&["ls", "--stdio"][..], &["deno", "lsp"]] {
        let server = server(&at("project"), &at("users/nice"), args);
        for (path, is_it) in [(["project/tools", "users"], true), (["users", "project/tools"], false)] {
            let search = std::env::join_paths(path.map(at)).unwrap();
            let ground = Ground::new(&roots, None, Vec::new(), Some(&search));
            assert_eq!(is_brought(&server, &ground), is_it, "{args:?} {path:?}");
        }
    }
}
