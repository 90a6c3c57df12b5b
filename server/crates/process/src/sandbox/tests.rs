use std::collections::{BTreeSet, HashMap};

use super::*;

fn policy(settings: &Settings, more: &[(&str, &str)]) -> Policy {
    let denied = ["/home/ada/temporary/kept", "/home/ada/.config/kept"];
    policy_with(settings, more, &denied)
}

fn policy_with(settings: &Settings, more: &[(&str, &str)], denied: &[&str]) -> Policy {
    let known = [("HOME", "/home/ada"), ("PATH", "/usr/bin:/home/ada/tools/node/bin:relative:/home/ada")];
    let environment: HashMap<_, _> = known.iter().chain(more).copied().collect();
    let world = World {
        folders: &[PathBuf::from("/home/ada/project")],
        repositories: &[PathBuf::from("/home/ada/main/.git")],
        own: &[PathBuf::from("/home/ada/.local/share/azimuth"), PathBuf::from("/home/ada/.config/azimuth")],
        denied: &denied.iter().map(PathBuf::from).collect::<Vec<_>>(),
        credentials: &[PathBuf::from("/home/ada/.cargo/config.toml")],
        environment: &|name| environment.get(name).map(OsString::from),
    };
    Policy::new(settings, &world).expect("there is a sandbox")
}

fn may(policy: &Policy, how: Use, path: &str) -> bool {
    policy.allows(Path::new(path), how)
}

#[test]
fn the_workspace_its_repository_temporary_files_and_caches_are_written() {
    let policy = policy(&Settings::default(), &[("CARGO_HOME", "/home/ada/cargo")]);
    for path in [
        "/home/ada/project/src/main.rs",
        "/home/ada/main/.git/objects",
        "/tmp/x",
        "/home/ada/cargo/registry/cache",
        "/home/ada/.npm/_cacache",
        "/home/ada/.cache/pip",
        "/dev/null",
    ] {
        assert!(may(&policy, Use::Write, path), "{path}");
    }
    for path in [
        "/home/ada/.bashrc",
        "/home/ada/cargo/bin/cargo",
        "/home/ada/cargo/config.toml",
        "/home/ada/.local/bin/x",
        "/home/ada/projects",
        "/usr/bin/ls",
        "/etc/passwd",
        "/home/ada/main/src",
        "/dev/sda",
    ] {
        assert!(!may(&policy, Use::Write, path), "{path}");
    }
}

#[test]
fn the_system_and_toolchains_are_read_and_keys_are_not() {
    let policy = policy(&Settings::default(), &[]);
    for path in [
        "/usr/lib/x",
        "/etc/passwd",
        "/home/ada/.gitconfig",
        "/home/ada/.cargo/bin/cargo",
        "/home/ada/tools/node/lib/x",
        "/home/ada/.pyenv/shims/python3",
    ] {
        assert!(may(&policy, Use::Read, path), "{path}");
    }
    for path in [
        "/home/ada/.ssh/id_ed25519",
        "/home/ada/.aws/credentials",
        "/home/ada/.cargo/credentials.toml",
        "/home/ada/.npmrc",
        "/home/ada/.mozilla/firefox",
        "/home/ada/.local/share/azimuth/azimuth.db",
        "/home/ada/.config/azimuth/config.toml",
        "/home/ada/letter.txt",
        "/home/ada/tools/other",
        "/etc/shadow",
        "/home/eve/.bashrc",
        "/dev/sda",
    ] {
        assert!(!may(&policy, Use::Read, path), "{path}");
    }
}

#[test]
fn folders_of_toolchains_are_read_without_the_credentials_and_the_projects_in_them() {
    let policy = policy(&Settings::default(), &[]);
    for path in [
        ".cabal/bin/hlint",
        ".cabal/store/x",
        ".cargo/registry/x",
        ".foundry/bin/forge",
        ".gradle/wrapper/x",
        ".local/share/uv/python/x",
        ".luarocks/share/lua/x",
        ".nimble/pkgs2/x",
        "go/bin/gopls",
        "go/pkg/mod/x",
    ] {
        assert!(may(&policy, Use::Read, &format!("/home/ada/{path}")), "{path}");
    }
    for path in [
        ".cabal/world",
        ".cargo/config.toml",
        ".condarc",
        ".dotnet/corefx/cryptography/x509stores/my/x",
        ".foundry/foundry.toml",
        ".foundry/keystores/mine",
        ".local/share/uv/credentials/credentials.toml",
        ".luarocks/config-5.4.lua",
        ".luarocks/upload_config.lua",
        ".nimble/github_api_token",
        ".nuget/NuGet/NuGet.Config",
        ".local/share/NuGet/x",
        ".stack/upload/credentials.json",
        "go/src/example.org/mine/main.go",
    ] {
        assert!(!may(&policy, Use::Read, &format!("/home/ada/{path}")), "{path}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its files itself")]
fn settings_that_tools_need_are_hidden_where_credentials_stand_in_them() {
    let home = tempfile::tempdir().unwrap();
    let environment = |name: &str| (name == "HOME").then(|| home.path().as_os_str().to_owned());
    let found = |files: &[(&str, &str)]| {
        for (name, text) in files {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let found: BTreeSet<_> = settings_with_credentials(&environment).into_iter().collect();
        found.iter().map(|path| path.strip_prefix(home.path()).unwrap().to_owned()).collect::<Vec<_>>()
    };
    let plain = [
        (".cargo/config.toml", "[build]\njobs = 4\n[registries.mine]\nindex = \"sparse+https://x.example/index/\"\n"),
        (".cabal/config", "-- username:\n-- password:\nrepository hackage\n  url: https://hackage.example/\n"),
        (".gradle/init.d/mirror.gradle", "allprojects { repositories { maven { url 'https://x.example/m2' } } }\n"),
        ("miniconda3/.condarc", "channels:\n  - conda-forge\n"),
    ];
    assert_eq!(found(&plain), Vec::<PathBuf>::new());
    let secret = [
        (".cargo/config.toml", "[registries.mine]\ntoken = \"abcdefgh12\"\n"),
        (".cabal/config", "password: hunter2\n"),
        (".gradle/init.d/mirror.gradle", "credentials { username 'a'; password = 'hunter2' }\n"),
        ("miniconda3/.condarc", "channels:\n  - https://conda.example/t/x\n  - https://a:b@conda.example/\n"),
    ];
    let expected = [".cabal/config", ".cargo/config.toml", ".gradle/init.d/mirror.gradle", "miniconda3/.condarc"];
    assert_eq!(found(&secret), expected.map(PathBuf::from));
    let words = format!("VIMspell2\0token = hunter2hunter{}", "a".repeat(2 << 20));
    let of_editors = [
        (".config/nvim/init.lua", "token = token or nil\n"),
        (".config/nvim/lua/plain.lua", "vim.opt.number = true\n"),
        (".config/nvim/spell/de.utf-8.spl", words.as_str()),
        (".config/nvim/.git/modules/one/config", "[remote \"origin\"]\n\turl = https://a:b@c.example/\n"),
    ];
    let of_editors = found(&of_editors).into_iter().filter(|path| path.starts_with(".config")).collect::<Vec<_>>();
    assert_eq!(of_editors, [".config/nvim/.git", ".config/nvim/init.lua"].map(PathBuf::from));
}

#[test]
fn read_only_writes_temporary_files_only() {
    let policy = policy(&Settings { mode: SandboxMode::ReadOnly, ..Settings::default() }, &[]);
    assert!(may(&policy, Use::Read, "/home/ada/project/a") && may(&policy, Use::Write, "/tmp/a"));
    for path in ["/home/ada/project/a", "/home/ada/.cargo/registry", "/home/ada/main/.git"] {
        assert!(!may(&policy, Use::Write, path), "{path}");
    }
}

#[test]
fn without_a_sandbox_there_is_no_policy() {
    let world =
        World { folders: &[], repositories: &[], own: &[], denied: &[], credentials: &[], environment: &|_| None };
    assert_eq!(Policy::new(&Settings { mode: SandboxMode::Full, ..Settings::default() }, &world), None);
}

#[test]
fn what_the_user_names_is_added_even_if_it_holds_keys_but_never_our_own_files() {
    let settings = Settings {
        read: vec!["~/.ssh/known_hosts".into(), "~/.aws".into(), "~".into()],
        write: vec!["/srv/data/".into(), "relative".into()],
        ..Settings::default()
    };
    let policy = policy(&settings, &[]);
    assert!(may(&policy, Use::Read, "/home/ada/.aws/credentials"));
    assert!(may(&policy, Use::Read, "/home/ada/letter.txt"));
    assert!(may(&policy, Use::Write, "/srv/data/x"));
    assert!(!may(&policy, Use::Write, "/home/ada/.aws/credentials"));
    assert!(!may(&policy, Use::Read, "/home/ada/.local/share/azimuth/azimuth.db"));
}

#[test]
fn what_a_rule_denies_is_not_opened_by_name_and_closes_no_folder_for_temporary_files() {
    let settings = Settings { read: vec!["~/.config/kept".into()], ..Settings::default() };
    let beside = policy(&settings, &[("TMPDIR", "/home/ada/temporary")]);
    assert!(!may(&beside, Use::Read, "/home/ada/.config/kept/x"));
    assert!(may(&beside, Use::Write, "/home/ada/temporary/x"));
    let ours = [("TMPDIR", "/home/ada/.local/share")];
    assert!(!may(&policy(&settings, &ours), Use::Write, "/home/ada/.local/share/x"), "it holds our data");
}

#[test]
fn who_denies_the_home_folder_keeps_the_files_in_it_and_not_the_toolchains_and_the_workspace() {
    let settings = Settings {
        read: vec!["~/letters".into()],
        write: vec!["~/data".into(), "/srv/x".into()],
        ..Settings::default()
    };
    let policy = policy_with(&settings, &[], &["/home/ada"]);
    for path in [
        "/home/ada/.cargo/bin/cargo",
        "/home/ada/.rustup/toolchains/x/bin/rustc",
        "/home/ada/.nvm/versions/node/v22/bin/node",
        "/home/ada/tools/node/bin/node",
        "/home/ada/.local/bin/uv",
        "/home/ada/.npm/_cacache/x",
        "/home/ada/project/src/main.rs",
        "/home/ada/main/.git/objects/x",
        "/srv/x/y",
        "/usr/bin/ls",
    ] {
        assert!(may(&policy, Use::Read, path), "{path}");
    }
    assert!(may(&policy, Use::Write, "/home/ada/project/new") && may(&policy, Use::Write, "/home/ada/.npm/x"));
    for path in [
        "/home/ada/letter.txt",
        "/home/ada/letters/one",
        "/home/ada/data/x",
        "/home/ada/.gitconfig",
        "/home/ada/.vimrc",
        "/home/ada/.config/git/config",
        "/home/ada/.inputrc",
        "/home/ada/.ssh/id_ed25519",
        "/home/ada/.cargo/credentials.toml",
        "/home/ada/.cargo/config.toml",
    ] {
        assert!(!may(&policy, Use::Read, path), "{path}");
    }
    // One that names a toolchain means it.
    let policy = policy_with(&settings, &[], &["/home/ada/.rustup"]);
    assert!(
        !may(&policy, Use::Read, "/home/ada/.rustup/toolchains/x") && may(&policy, Use::Read, "/home/ada/.gitconfig")
    );
}

#[test]
fn what_programs_of_homebrew_are_made_of_is_read() {
    let reads = |more: &[(&str, &str)], path: &str| may(&policy(&Settings::default(), more), Use::Read, path);
    for (prefix, named) in
        [("/home/linuxbrew/.linuxbrew", None), ("/home/ada/.linuxbrew", None), ("/srv/brew", Some("/srv/brew"))]
    {
        let path = format!("/usr/bin:{prefix}/bin:{prefix}/sbin");
        let mut more = vec![("PATH", path.as_str())];
        more.extend(named.map(|named| ("HOMEBREW_PREFIX", named)));
        for file in ["bin/jq", "Cellar/jq/1.7/bin/jq", "opt/openssl@3/lib/x", "lib/x", "etc/openssl@3/cert.pem"] {
            assert!(reads(&more, &format!("{prefix}/{file}")), "{prefix}/{file}");
        }
        for file in ["etc/my.cnf", "var/postgres/x", "letters"] {
            assert!(!reads(&more, &format!("{prefix}/{file}")), "{prefix}/{file}");
        }
    }
    assert!(
        !reads(&[("PATH", "/srv/other/bin")], "/srv/other/opt/x"),
        "what is not Homebrew's may keep anything there"
    );
}

#[test]
fn links_in_what_is_written_open_nothing_and_others_lead_where_they_do() {
    let place = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let place = place.path().canonicalize().unwrap();
    let at = |name: &str| place.join(name);
    for folder in ["project/.venv/bin", "caches", "data/tools/bin", "data/key"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    for (to, link) in [
        ("data/key", "project/.venv/share"),
        ("data/key", "project/pkg"),
        ("data/tools", "tools"),
        ("project", "linked"),
        ("data/key", "caches/led"),
    ] {
        std::os::unix::fs::symlink(at(to), at(link)).unwrap();
    }
    let all = |names: &[&str]| names.iter().map(|name| at(name)).collect::<Vec<_>>();
    let policy = Policy {
        write: all(&["caches", "linked/pkg", "project", "project/pkg"]),
        read: all(&["caches/led", "linked/.venv/share", "project/.venv/bin", "project/.venv/share", "tools/bin"]),
        temporary: all(&["linked", "project/tmp"]),
        ..Policy::nothing()
    };
    let policy = policy.resolved();
    assert_eq!(policy.write, all(&["caches", "project"]));
    assert_eq!(policy.read, all(&["data/tools/bin"]));
    assert_eq!(policy.temporary, all(&[]));
}

/// A policy with its links resolved, of a home folder `ada` and a workspace in it, which these variables are set in.
fn on_disk(place: &Path, mode: SandboxMode, variables: &[(&str, &str)]) -> Policy {
    let at = |name: &str| place.join(name);
    let environment = |name: &str| {
        let of = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, below)| at(below).into());
        of(name).or_else(|| (name == "HOME").then(|| at("ada").into()))
    };
    let world = World {
        folders: &[at("ada/work/mono/b")],
        repositories: &[],
        own: &[at("ada/.local/share/azimuth")],
        denied: &[at("ada/denied")],
        credentials: &[],
        environment: &environment,
    };
    Policy::new(&Settings { mode, ..Settings::default() }, &world).unwrap().resolved()
}

/// A folder that is not among temporary ones, with these links in it, each after the folders that it lies in and leads
/// to.
fn with_links(links: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let is_root = rustix::process::geteuid().is_root();
    let base = if is_root { PathBuf::from("/srv") } else { std::env::var_os("HOME").unwrap().into() };
    std::fs::create_dir_all(&base).unwrap();
    let place = tempfile::Builder::new().prefix("azimuth-sandbox-").tempdir_in(base).unwrap();
    let at = place.path().canonicalize().unwrap();
    for (link, to) in links {
        let link = at.join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::fs::create_dir_all(link.parent().unwrap().join(to)).unwrap();
        std::os::unix::fs::symlink(to, link).unwrap();
    }
    (place, at)
}

#[test]
fn a_link_that_a_variable_leads_through_stays_in_its_folder_and_the_users_own_lead_anywhere() {
    let links = [
        ("ada", "data/ada"),
        ("data/ada/work", "../../disk/work"),
        ("data/ada/.cargo", "../../disk/cargo"),
        ("data/ada/tools/node", "node-22"),
        ("disk/work/mono/.go/pkg", "../../../letters"),
        ("disk/work/mono/.venv/share", "../../../letters"),
        ("disk/work/mono/tmp", "../../letters"),
        ("disk/work/mono/.cache", "caches"),
    ];
    let (_place, at) = with_links(&links);
    std::fs::create_dir_all(at.join("disk/work/mono/b")).unwrap();
    let variables = [
        ("PATH", "ada/tools/node/bin"),
        ("CARGO_HOME", "ada/.cargo"),
        ("GOPATH", "ada/work/mono/.go"),
        ("TMPDIR", "disk/work/mono/tmp"),
        ("XDG_CACHE_HOME", "ada/work/mono/.cache"),
    ];
    for mode in [SandboxMode::WorkspaceWrite, SandboxMode::ReadOnly] {
        let policy = on_disk(&at, mode, &variables);
        let may = |how: Use, name: &str| policy.allows(&at.join(name), how);
        for name in ["data/ada/tools/node-22/bin/x", "data/ada/tools/node-22/lib/x", "disk/cargo/bin/x"] {
            assert!(may(Use::Read, name) && !may(Use::Write, name), "{name}");
        }
        for name in ["disk/work/mono/b/x", "disk/cargo/registry/x", "disk/work/mono/caches/pip/x"] {
            assert!(may(Use::Read, name), "{name}");
            assert_eq!(may(Use::Write, name), mode == SandboxMode::WorkspaceWrite, "{name}");
        }
        for name in ["disk/letters/x", "disk/work/mono/a", "disk/work/mono/tmp/x"] {
            assert!(!may(Use::Read, name) && !may(Use::Write, name), "{name}");
        }
        let with_venv = on_disk(&at, mode, &[("PATH", "disk/work/mono/.venv/bin")]);
        assert!(!with_venv.allows(&at.join("disk/letters/x"), Use::Read));
    }
}

#[test]
fn no_folder_for_temporary_files_holds_a_secret_or_lies_in_one() {
    let links =
        [("ada/inside", ".ssh/deep"), ("ada/around", ".config"), ("ada/denies", "denied"), ("ada/.aws", "keys/aws")];
    let (_place, at) = with_links(&links);
    for folder in ["ada/.local/share/azimuth/x", "ada/denied", "ada/t"] {
        std::fs::create_dir_all(at.join(folder)).unwrap();
    }
    let refused = [
        ("ada/.ssh", "ada/.ssh/x"),
        ("ada/.ssh/deep", "ada/.ssh/deep/x"),
        ("ada/.config", "ada/.config/gh/x"),
        ("ada/.local", "ada/.local/share/azimuth/x"),
        ("ada/.local/share/azimuth/x", "ada/.local/share/azimuth/x/y"),
        ("ada/keys", "ada/keys/aws/x"),
        ("ada/inside", "ada/.ssh/deep/x"),
        ("ada/around", "ada/.config/gh/x"),
        ("ada/denies", "ada/denied/x"),
    ];
    for (folder, secret) in refused {
        let policy = on_disk(&at, SandboxMode::WorkspaceWrite, &[("TMPDIR", folder)]);
        assert!(!policy.allows(&at.join(secret), Use::Read), "{folder}");
    }
    for folder in ["ada/t", "ada/denied"] {
        let policy = on_disk(&at, SandboxMode::WorkspaceWrite, &[("TMPDIR", folder)]);
        assert!(policy.allows(&at.join(folder).join("x"), Use::Write), "{folder}");
    }
}

#[test]
fn a_variable_does_not_open_the_home_folder() {
    let more = [("TMPDIR", "/home"), ("CARGO_HOME", "/home/ada"), ("GOPATH", "/"), ("XDG_CACHE_HOME", "../x")];
    let policy = policy(&Settings::default(), &more);
    assert!(!may(&policy, Use::Read, "/home/ada/letter.txt"));
    assert!(!may(&policy, Use::Write, "/home/ada/letter.txt"));
}

#[test]
fn a_policy_is_read_back_from_the_arguments_that_it_makes() {
    let settings = Settings { network: false, ..Settings::default() };
    let (policy, own) = (policy(&settings, &[]), [PathBuf::from("/data/pipe")]);
    let policy = Policy { credentials: Vec::new(), ..policy }.resolved();
    let mut args = policy.to_args(&own);
    args.extend(["--", "bash", "--"].map(OsString::from));
    let (read, program) = Policy::from_args(&args).unwrap();
    assert_eq!(read, Some((policy, own.to_vec())));
    assert_eq!(program, ["bash", "--"].map(OsString::from));
    assert_eq!(Policy::from_args(&args[args.len() - 3..]).unwrap().0, None);
    assert_eq!(Policy::from_args(&["bash".into()]), None);
}

#[test]
fn what_leads_out_of_the_sandbox_is_not_passed_on() {
    for name in ["SSH_AUTH_SOCK", "DOCKER_HOST", "DISPLAY", "VSCODE_IPC_HOOK_CLI", "NVIM"] {
        assert!(is_withheld(name), "{name}");
    }
    for name in ["PATH", "HOME", "LANG", "SSH_CONNECTION"] {
        assert!(!is_withheld(name), "{name}");
    }
}

#[test]
fn a_profile_for_macos_denies_first_and_allows_what_the_policy_does() {
    let settings = Settings { network: false, ..Settings::default() };
    let profile = profile::of(&policy(&settings, &[]), &[PathBuf::from("/data/a \"pipe\"")]);
    let at = |line: &str| profile.find(line).unwrap_or_else(|| panic!("{line} is not in\n{profile}"));
    assert!(at("(deny file-write* (subpath \"/\"))") < at("(allow file-write* (subpath \"/home/ada/project\"))"));
    assert!(
        at("(deny file-read-data (subpath \"/Users\"))") < at("(allow file-read-data (subpath \"/home/ada/.cargo\"))")
    );
    let hidden = at("(deny file-read* file-write* (subpath \"/home/ada/.ssh\"))");
    assert!(at("(allow file-read-data (subpath \"/home/ada/project\"))") < hidden);
    assert!(at("(allow file-read* (subpath \"/data/a \\\"pipe\\\"\"))") > hidden);
    at("(deny network*)\n");
}

#[test]
fn a_refusal_is_explained_only_where_the_policy_is_the_reason() {
    let place = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let place = place.path().canonicalize().unwrap();
    let (project, outside) = (place.join("project"), place.join("outside"));
    for folder in [&project, &outside] {
        rustix::fs::mkdir(folder, rustix::fs::Mode::RWXU).unwrap();
    }
    std::os::unix::fs::symlink(&outside, project.join("link")).unwrap();
    let policy = Policy { write: vec![project.clone()], network: true, ..Policy::nothing() };
    let explain = |output: &str| policy.explain(output, &[&project]);
    let in_words = |output: String| explain(&output).unwrap_or_else(|| panic!("nothing is said about {output}"));

    let path = outside.display();
    for output in [
        format!("bash: {path}/new: Permission denied"),
        format!("touch: cannot touch '{path}/new': Permission denied"),
        "bash: line 1: ../outside/new: Permission denied".to_owned(),
        "bash: link/new: Permission denied".to_owned(),
        format!("Error: EACCES: permission denied, open '{path}/new'\n    at x"),
        format!("PermissionError: [Errno 13] Permission denied: '{path}/new'"),
    ] {
        let words = in_words(output.clone());
        assert!(words.contains(&format!("{path}/new cannot be written in it")), "{output}: {words}");
        assert!(words.contains("`outside: true`"), "{words}");
    }
    let listed = in_words(format!("ls: cannot open directory '{path}': Permission denied"));
    assert!(listed.contains(&format!("{path} cannot be read in it")), "{listed}");
    for output in [
        "bash: ./script: Permission denied".to_owned(),
        format!("cat: {}/a: Permission denied", project.display()),
        "remote: Permission denied to ada".to_owned(),
        "Operation not permitted".to_owned(),
        "curl: (6) Could not resolve host: example.org".to_owned(),
        format!("{path}/new: no such file"),
    ] {
        assert_eq!(explain(&output), None, "{output}");
    }

    let offline = Policy { network: false, ..policy.clone() };
    for output in ["curl: (6) Could not resolve host: x", "bash: socket: Operation not permitted"] {
        assert!(offline.explain(output, &[&project]).is_some_and(|words| words.contains("network is off")), "{output}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its files itself")]
fn what_a_server_of_another_project_is_made_of_is_read_but_by_no_link() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().canonicalize().unwrap().join(name);
    for folder in ["other/bin", "other/share", "letters"] {
        std::fs::create_dir_all(at(folder)).unwrap();
    }
    std::fs::write(at("other/bin/server"), "").unwrap();
    std::os::unix::fs::symlink(at("letters"), at("other/lib")).unwrap();
    for (follows_links, is_read) in [(true, true), (false, false)] {
        let policy = Policy::closed().with_program(Some(&at("other/bin/server")), follows_links, &[], &|_| None);
        assert!(policy.allows(&at("other/bin/server"), Use::Read) && policy.allows(&at("other/share/x"), Use::Read));
        assert_eq!(policy.allows(&at("letters/x"), Use::Read), is_read);
    }
}
