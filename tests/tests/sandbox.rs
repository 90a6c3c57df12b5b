//! The sandbox: what a command may not do fails and is explained, what a developer does works, and nothing that
//! commands start is left behind.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harness::window::Window;
use harness::{Answer, ModelServer, Profile, Project, Setup, Wire};
use process::Confinement;
use process::sandbox::Policy;
use protocol::permission::PermissionAbout;
use protocol::terminal::{SandboxMode, TerminalKind};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, ToolCallId, methods};
use serde_json::json;
use shell::{RunOptions, Shell, ShellConfig, Trust};
use tempfile::TempDir;

mod escapes;
mod gone;
mod start_files;

const SECRET: &str = "c2VjcmV0IGtleSBvZiBBZGE";
const NOBODY: u32 = 65534;

/// Whose the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// The one that runs the tests; in CI that is root.
    Same,
    /// Somebody else.
    Nobody,
}

/// A user with a home that holds a key, and an editor on a project there. It is not among temporary files, which every
/// command may use.
struct World {
    window: Window,
    model: ModelServer,
    session: SessionId,
    setup: Setup,
    project: Project,
    /// A folder of the user's beside the project.
    beside: PathBuf,
    home: PathBuf,
    _place: TempDir,
}

impl World {
    /// None if it cannot be tried here.
    async fn new(user: User, settings: &str) -> Option<Self> {
        Self::made(user, settings, &[], |_| Vec::new()).await
    }

    /// With files in the home folder; one that says `-> …` is a link there.
    async fn with_files(user: User, settings: &str, files: &[(&str, String)]) -> Option<Self> {
        Self::made(user, settings, files, |_| Vec::new()).await
    }

    /// Where the user's environment has these variables besides, made of the project's folder.
    async fn with(
        user: User,
        settings: &str,
        environment: impl FnOnce(&Path) -> Vec<(&'static str, String)>,
    ) -> Option<Self> {
        Self::made(user, settings, &[], environment).await
    }

    async fn made(
        user: User,
        settings: &str,
        files: &[(&str, String)],
        environment: impl FnOnce(&Path) -> Vec<(&'static str, String)>,
    ) -> Option<Self> {
        Self::seen_by(Profile::panel(), user, settings, files, environment).await
    }

    /// The same in this editor.
    async fn seen_by(
        profile: Profile,
        user: User,
        settings: &str,
        files: &[(&str, String)],
        environment: impl FnOnce(&Path) -> Vec<(&'static str, String)>,
    ) -> Option<Self> {
        if process::sandbox::support().by.is_none() {
            harness::not_tried("this kernel has no Landlock");
            return None;
        }
        let is_root = rustix::process::geteuid().is_root();
        if user == User::Nobody {
            if !is_root {
                harness::not_tried("only root can run the server as another user");
                return None;
            }
            if !std::process::Command::new("setpriv").arg("--version").output().is_ok_and(|it| it.status.success()) {
                harness::not_tried("there is no setpriv to run the server as another user");
                return None;
            }
        }
        let base = if is_root { PathBuf::from("/srv") } else { std::env::var_os("HOME")?.into() };
        std::fs::create_dir_all(&base).unwrap();
        let place = TempDir::with_prefix_in("azimuth-sandbox-", &base).unwrap();
        std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let (home, beside) = (place.path().join("ada"), place.path().join("ada/beside"));
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::fs::create_dir_all(&beside).unwrap();
        std::fs::write(home.join(".ssh/id_ed25519"), SECRET).unwrap();
        std::fs::write(beside.join("letter.txt"), SECRET).unwrap();
        for (name, text) in files {
            let file = home.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            match text.strip_prefix("-> ") {
                Some(to) => std::os::unix::fs::symlink(home.join(to), file).unwrap(),
                None => std::fs::write(file, text).unwrap(),
            }
        }

        let model = ModelServer::start([]).await;
        let setup = Setup::empty_in(&home);
        let (settings, denied) = settings.split_once("permissions.").unwrap_or((settings, ""));
        let permissions = format!("[permissions]\nallow = [\"Shell\"]\n{denied}\n");
        let configuration = Setup::configuration(&model, Wire::Chat);
        let is_told = settings.contains("shell_rc");
        let configuration = if is_told { configuration.replace("shell_rc = false\n", "") } else { configuration };
        // The stories look for the secret in the output of commands, as the model gets it.
        setup.configure(&format!("hide_secrets = false\n{settings}\n{configuration}{permissions}"));
        let project = Project::new_in(&home, [("a.txt", "one\n")]);
        let mut command = match user {
            User::Same => tokio::process::Command::new(harness::binary()),
            User::Nobody => {
                let program = place.path().join("azimuth");
                std::fs::copy(harness::binary(), &program).unwrap();
                // A helper that would make them root.
                let helper = project.path("become-root");
                std::fs::copy("/usr/bin/id", &helper).unwrap();
                give_away(&home);
                std::os::unix::fs::chown(&helper, Some(0), Some(0)).unwrap();
                std::fs::set_permissions(&helper, PermissionsExt::from_mode(0o4755)).unwrap();
                let mut command = tokio::process::Command::new("setpriv");
                command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
                command
            }
        };
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup"), ("PYENV_ROOT", ".pyenv")] {
            if std::env::var_os(name).is_none() {
                command.env(name, Path::new(&std::env::var_os("HOME")?).join(folder));
            }
        }
        command.env("HOME", &home).env("SECRET_OF_THE_SERVER", SECRET).env_remove("TMPDIR").env_remove("PYTHONHOME");
        command.envs(environment(project.folder()));
        let window = Window::launch(command, &setup, &project, profile).await;
        let session = window.new_session().await;
        Some(Self { window, model, session, setup, project, beside, home, _place: place })
    }

    /// Has the agent run a command. Gives what it is told.
    async fn run(&self, command: &str) -> String {
        self.model.then(Answer::calls("shell_run", json!({ "command": command, "timeout_seconds": 60 })));
        self.model.then(Answer::says("Done."));
        let before = self.model.asked().len();
        self.window.prompt(&self.session, "Run it.").await;
        self.window.until_end(&self.session, StopReason::EndTurn).await;
        self.model.asked()[before + 1].last_results()[0].to_owned()
    }

    /// A command fails, shows nothing secret, and what the agent is told explains why.
    async fn refuses(&self, command: &str, why: &str) {
        let told = self.run(command).await;
        assert!(!told.contains("[exit code 0"), "{command}\n{told}");
        assert!(!told.contains(SECRET), "{command}\n{told}");
        assert!(told.contains("The sandbox that commands run in has refused this:"), "{command}\n{told}");
        assert!(told.contains(why), "{command}: {why}\n{told}");
    }

    async fn works(&self, command: &str) -> String {
        let told = self.run(command).await;
        assert!(told.contains("[exit code 0"), "{command}\n{told}");
        assert!(!told.contains("The sandbox that"), "{command}\n{told}");
        told
    }

    /// The user lets the agent run a command outside the sandbox. Gives what it is told.
    async fn runs_outside(&self, command: &str) -> String {
        let input = json!({ "command": command, "outside": true, "why": "to see how it fares there" });
        self.model.then(Answer::calls("shell_run", input));
        self.model.then(Answer::says("Done."));
        let before = self.model.asked().len();
        self.window.prompt(&self.session, "Run it outside.").await;
        let is_asked = |event: &Event| matches!(event, Event::PermissionAsked { .. });
        let events = self.window.until(&self.session, "the question", is_asked).await;
        let Some(Event::PermissionAsked { request, .. }) = events.last() else { unreachable!() };
        let id = &request.permission_id;
        let answer = json!({ "sessionId": self.session, "permissionId": id, "optionId": "allow_once" });
        self.window.call::<methods::PermissionAnswer>(answer).await;
        self.window.until_end(&self.session, StopReason::EndTurn).await;
        self.model.asked()[before + 1].last_results()[0].to_owned()
    }
}

#[tokio::test]
async fn where_the_sandbox_could_not_be_made_no_shell_starts() {
    if process::sandbox::support().by.is_none() {
        harness::not_tried("this kernel has no Landlock");
        return;
    }
    let place = TempDir::new().unwrap();
    let cwd = place.path().canonicalize().unwrap();
    let policy = Some(std::sync::Arc::new(Policy::closed()));
    let supervisor = Some(harness::binary().to_owned());
    let confinement = Confinement { supervisor, policy, ..Confinement::default() };
    let (folder, trust) = (cwd.join("private"), Trust::default());
    std::fs::create_dir(&folder).unwrap();
    let config = ShellConfig { cwd, folder, pass: vec![], program: None, trust, confinement };
    let shell = Shell::new(config, std::sync::Arc::new(())).unwrap();
    let ran = shell.run(&ToolCallId::from("call"), "pwd", RunOptions::default()).await;
    let error = ran.expect_err("no shell starts").to_string();
    assert!(error.contains("Permission denied"), "{error}");
    shell.close().await;
}

fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() && !path.is_symlink() {
        for entry in std::fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}

fn is_installed(program: &str) -> bool {
    let there = std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|folder| folder.join(program).is_file());
    if !there {
        harness::not_tried(&format!("{program} is not installed"));
    }
    there
}

async fn nothing_leads_out(user: User) {
    let Some(world) = World::new(user, "").await else { return };
    let (beside, home) = (world.beside.display().to_string(), world.home.display().to_string());
    let key = format!("{home}/.ssh/id_ed25519");

    // Writing and reading elsewhere, straight and by links.
    let new = format!("{beside}/new cannot be written in it");
    world.refuses(&format!("echo x > {beside}/new"), &new).await;
    world.refuses(&format!("ln -s {beside} link; echo x > link/new"), &new).await;
    world.refuses("echo x > ../beside/new", &new).await;
    world.refuses(&format!("echo x > /proc/self/root{beside}/new"), &new).await;
    world.refuses(&format!("cp a.txt {beside}/new"), &new).await;
    world.refuses(&format!("rm {beside}/letter.txt"), "letter.txt cannot be").await;
    assert_eq!(std::fs::read_dir(&world.beside).unwrap().count(), 1);
    let unread = format!("{key} cannot be read in it");
    for command in
        ["cat ~/.ssh/id_ed25519", "ln -s ~/.ssh keys; cat keys/id_ed25519", "cat /proc/self/root$HOME/.ssh/id_ed25519"]
    {
        world.refuses(command, &unread).await;
    }
    let hard = world.run(&format!("ln {key} hard; cat hard")).await;
    assert!(!hard.contains(SECRET), "{hard}");
    let data = world.setup.data_folder();
    let database = std::fs::read_dir(&data).unwrap().map(|it| it.unwrap().path()).find(|it| it.is_file()).unwrap();
    world.refuses(&format!("cat {}", database.display()), "cannot be read in it").await;
    let configuration = world.setup.config_file();
    world.refuses(&format!("cat {}", configuration.display()), "config.toml cannot be read in it").await;
    if user == User::Same && rustix::process::geteuid().is_root() {
        world.refuses("cat /etc/shadow", "/etc/shadow cannot be read in it").await;
        world.refuses("echo x > /usr/lib/azimuth-was-here", "/usr/lib/azimuth-was-here cannot be written").await;
        world.refuses("mknod disk b 8 0 || { echo 'mknod: /dev/sdz: Permission denied'; cat /etc/shadow; }", "").await;
        assert!(!world.project.path("disk").exists());
        world.refuses("mkdir m && mount -t tmpfs none m; cat /etc/shadow", "").await;
    }

    // The server's process.
    let server = world.window.process();
    let held = "what other processes hold";
    world.refuses(&format!("cat /proc/{server}/environ"), held).await;
    world.refuses(&format!("cat /proc/{server}/cwd/a.txt"), held).await;
    world.refuses(&format!("cat /proc/{server}/root{key}"), held).await;
    world.refuses(&format!("cat /proc/{server}/fd/3"), held).await;
    world.refuses(&format!("head -c 1 /proc/{server}/mem"), held).await;
    world.refuses(&format!("kill -9 {server}"), "only processes that run in it can be signalled").await;
    let supervisor = "$(cut -d' ' -f4 /proc/$$/stat)";
    world.refuses(&format!("kill -9 {supervisor}"), "only processes that run in it can be signalled").await;
    if is_installed("strace") {
        world.refuses(&format!("strace -p {server}"), "only processes that run in it can be traced").await;
    }
    if is_installed("gdb") {
        let told = world.run(&format!("HOME=/tmp gdb -batch -nx -p {server} -ex 'info proc'")).await;
        assert!(told.contains("only processes that run in it can be traced"), "{told}");
    }

    // Rights cannot be gained.
    assert!(world.works("grep NoNewPrivs /proc/self/status").await.contains("NoNewPrivs:\t1"));
    if user == User::Nobody {
        assert!(world.works("./become-root -u").await.starts_with("65534\n"));
    }

    // Sockets of others, terminals.
    if is_installed("perl") {
        let name = format!("azimuth-test-{user:?}-{}", std::process::id());
        let address = <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name);
        let _listener = std::os::unix::net::UnixListener::bind_addr(&address.unwrap()).unwrap();
        let connect = |address: &str| {
            format!("perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, {address}) or die \"no: $!\";")
        };
        let told = world.run(&format!("{}'", connect(&format!("pack(\"S a*\", AF_UNIX, \"\\0{name}\")")))).await;
        assert!(told.contains("no: Operation not permitted"), "{told}");
        let socket = std::fs::read_dir(world.setup.home().join("azimuth")).unwrap().next().unwrap().unwrap().path();
        let ask = r#"$SIG{PIPE} = "IGNORE"; $m="{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"capabilities\":{}}}";
            syswrite(S, "Content-Length: ".length($m)."\r\n\r\n$m"); sysread(S, $a, 100); print "heard <$a>"'"#;
        let told = world.run(&format!("{}{ask}", connect(&format!("sockaddr_un(\"{}\")", socket.display())))).await;
        assert!(told.contains("heard <>"), "our own server was asked from the sandbox: {told}");
        let told = world.run("perl -e '$x = \"x\"; ioctl(STDIN, 0x5412, $x) or die \"no: $!\"'").await;
        assert!(told.contains("no: Operation not permitted"), "{told}");
    }
    assert!(world.works("env").await.find("SSH_AUTH_SOCK").is_none());
    world.window.close().await;
}

#[tokio::test]
async fn nothing_leads_out_of_the_sandbox() {
    nothing_leads_out(User::Same).await;
}

#[tokio::test]
async fn nothing_leads_out_of_the_sandbox_of_another_user() {
    nothing_leads_out(User::Nobody).await;
}

#[tokio::test]
async fn where_the_network_is_off_it_cannot_be_reached_and_that_is_said() {
    for user in [User::Same, User::Nobody] {
        let Some(world) = World::new(user, "sandbox_network = false").await else { return };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let off = "the network is off in it";
        world.refuses(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}"), off).await;
        world.refuses(&format!("exec 3<>/dev/udp/127.0.0.1/{port}"), off).await;
        if is_installed("perl") {
            for (domain, kind) in
                [("AF_INET", "SOCK_STREAM"), ("AF_INET", "SOCK_DGRAM"), ("AF_INET6", "SOCK_DGRAM"), ("17", "SOCK_RAW")]
            {
                let command = format!("perl -MSocket -e 'socket(S, {domain}, {kind}, 0) or die \"socket: $!\"'");
                world.refuses(&command, off).await;
            }
            // Making one past the filter.
            let told =
                world.run("perl -e '$p = \"\\0\" x 120; syscall(425, 8, $p) >= 0 and exit; die \"no: $!\"'").await;
            assert!(told.contains("no: Operation not permitted"), "{told}");
            let told = world.run("perl -e 'syscall(0x40000029, 2, 1, 0) >= 0 and exit; die \"no: $!\"'").await;
            assert!(told.contains("no: Function not implemented"), "{told}");
            world.works("perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die $!'").await;
        }
        if is_installed("git") {
            world.refuses("git ls-remote https://example.org/x.git", off).await;
        }
        world.window.close().await;
    }
}

#[tokio::test]
async fn where_it_is_read_only_the_project_is_not_written() {
    let Some(world) = World::new(User::Same, "sandbox = \"read-only\"").await else { return };
    let file = world.project.path("a.txt").canonicalize().unwrap();
    world.refuses("echo two > a.txt", &format!("{} cannot be written in it", file.display())).await;
    assert!(world.works("cat a.txt; f=$(mktemp) && echo x > $f && rm $f").await.starts_with("one\n"));
    assert_eq!(world.project.read("a.txt"), "one\n");
    world.window.close().await;
}

#[tokio::test]
async fn without_the_sandbox_commands_do_what_the_user_may_do() {
    let Some(world) = World::new(User::Same, "sandbox = \"full\"").await else { return };
    assert!(world.works("cat ~/.ssh/id_ed25519; echo x > ../beside/new").await.contains(SECRET));
    assert!(world.beside.join("new").exists());
    world.window.close().await;
}

/// Settings that tools read, each as it is without credentials and with one.
const SETTINGS: &[(&str, &str, &str)] = &[
    (".cargo/config.toml", "[build]\njobs = 4\n", "[registries.mine]\ntoken = \"SECRET\"\n"),
    (".cabal/config", "jobs: 4\n", "password: SECRET\n"),
    (".gradle/init.d/mirror.gradle", "allprojects { }\n", "credentials { username 'a'; password = 'SECRET' }\n"),
    (
        ".gitconfig",
        "[user]\n\tname = Ada\n\temail = ada@b.example\n\tsigningkey = ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQ1\n\tsigningKey = 3AA5C34371567BD2\n[url \"git@c.example:\"]\n\tinsteadOf = https://c.example/\n[url \"https://ada@d.example/\"]\n\tinsteadOf = https://d.example/\n[credential]\n\thelper = store\n\tcredentialStore = secretservice\n",
        "[url \"https://ada:SECRET@c.example/\"]\n\tinsteadOf = https://c.example/\n",
    ),
    (
        ".config/git/config",
        "[core]\n\tpager = less\n",
        "[http \"https://c.example/\"]\n\textraheader = AUTHORIZATION: basic SECRET\n",
    ),
    (
        ".config/git/work.inc",
        "[core]\n\teditor = vi\n",
        "[url \"https://ada:SECRET@d.example/\"]\n\tinsteadOf = https://d.example/\n",
    ),
    (".config/mise/conf.d/work.toml", "[env]\nEDITOR = \"vi\"\n", "[env]\nGITHUB_TOKEN = \"SECRET\"\n"),
    (".config/nvim/lua/ai.lua", "vim.opt.number = true\n", "require('ai').setup({ api_key = \"SECRET\" })\n"),
    (".nvm/versions/node/v22.0.0/etc/npmrc", "fund=false\n", "//registry.c.example/:_authToken=SECRET\n"),
    (
        ".config/pip/pip.conf",
        "[global]\nindex-url = https://c.example/simple\n",
        "[global]\nindex-url = https://ada:SECRET@c.example/simple\n",
    ),
    (".pip/pip.conf", "[global]\ntimeout = 60\n", "[global]\nextra-index-url = https://SECRET@c.example/simple\n"),
    (".config/uv/uv.toml", "offline = false\n", "[[index]]\nurl = \"https://ada:SECRET@c.example/simple\"\n"),
    (
        ".bundle/config",
        "---\nBUNDLE_JOBS: \"4\"\nBUNDLE_BUILD__NOKOGIRI: \"--use-system-libraries\"\n",
        "---\nBUNDLE_GEMS__C__EXAMPLE: \"ada:SECRET\"\n",
    ),
    (".vim/vimrc", "set number\n", "let g:ai_api_key = 'SECRET'\n"),
    (".vim/bundle/one/plugin/one.vim", "set ruler\n", "let g:one_token = 'SECRET'\n"),
    (".yarnrc.yml", "nodeLinker: node-modules\n", "npmAuthIdent: \"ada:SECRET\"\n"),
    (
        ".m2/settings.xml",
        "<settings><offline>false</offline></settings>\n",
        "<settings><servers><server><password>SECRET</password></server></servers></settings>\n",
    ),
];

/// Programs and packages in folders that hold credentials too.
const PROGRAMS: &[&str] = &[
    ".cabal/bin/hlint",
    ".cargo/bin/tool",
    ".foundry/bin/forge",
    ".local/share/uv/python/tool",
    ".luarocks/share/lua/tool.lua",
    ".nimble/pkgs2/tool.nim",
    "go/bin/tool",
    "go/pkg/mod/tool.go",
];

/// Files that hold credentials, or the user's own work, and nothing that a build needs.
const CREDENTIALS: &[&str] = &[
    ".cargo/credentials.toml",
    ".condarc",
    ".config/NuGet/NuGet.Config",
    ".config/uv/credentials/credentials.toml",
    ".docker/config.json",
    ".foundry/foundry.toml",
    ".foundry/keystores/mine",
    ".gem/credentials",
    ".gradle/gradle.properties",
    ".kube/config",
    ".local/share/uv/credentials/credentials.toml",
    ".luarocks/config-5.4.lua",
    ".luarocks/upload_config.lua",
    ".nimble/github_api_token",
    ".npmrc",
    ".nuget/NuGet/NuGet.Config",
    "go/src/c.example/mine/main.go",
];

#[tokio::test]
async fn settings_and_programs_of_tools_are_read() {
    let plain = SETTINGS.iter().map(|(name, plain, _)| (*name, (*plain).to_owned()));
    let programs = PROGRAMS.iter().map(|name| (*name, format!("the contents of {name}\n")));
    let files: Vec<_> = plain.chain(programs).collect();
    let Some(world) = World::with_files(User::Same, "", &files).await else { return };
    let names: Vec<_> = files.iter().map(|(name, _)| *name).collect();
    let told = world.works(&format!("cd && cat {}; cd - >/dev/null", names.join(" "))).await;
    for (name, text) in &files {
        assert!(told.contains(text.lines().next_back().unwrap()), "{name}:\n{told}");
    }
    if is_installed("git") {
        assert!(world.works("git config --global user.name").await.starts_with("Ada\n"));
    }
    world.window.close().await;
}

#[tokio::test]
async fn credentials_of_tools_are_not_read_nor_settings_in_which_they_stand() {
    let secret = SETTINGS.iter().map(|(name, _, secret)| (*name, secret.replace("SECRET", SECRET)));
    let files: Vec<_> = secret.chain(CREDENTIALS.iter().map(|name| (*name, SECRET.to_owned()))).collect();
    let Some(world) = World::with_files(User::Same, "", &files).await else { return };
    for (name, _) in &files {
        let told = world.run(&format!("cat ~/{name}")).await;
        assert!(!told.contains(SECRET) && told.contains(&format!("{name}: Permission denied")), "{name}:\n{told}");
    }
    if is_installed("git") {
        world.works("git init -q && git status --short").await;
    }
    world.window.close().await;
}

/// How the user's name and a secret can stand in the settings of git, and what the session is set to.
const SETTINGS_OF_GIT: &[(&str, &[(&str, &str)])] = &[
    (
        "",
        &[(
            ".gitconfig",
            "[user]\n\tname = Ada\n\temail = ada@b.example\n\ttoken = SECRET\n[alias]\n\tsaid = log -1\n",
        )],
    ),
    (
        "",
        &[
            (".gitconfig", "-> dotfiles/gitconfig"),
            (
                "dotfiles/gitconfig",
                "[url \"https://ada:SECRET@c.example/\"]\n\tinsteadOf = https://c.example/\n[include]\n\tpath = dotfiles/more\n",
            ),
            ("dotfiles/more", "[user]\n\tname = Ada\n\temail = ada@b.example\n[alias]\n\tsecret = SECRET\n"),
        ],
    ),
    (
        "",
        &[
            (".gitconfig", "[user]\n\tname = Ada\n\temail = ada@b.example\n"),
            (".config/git/config", "[http \"https://c.example/\"]\n\textraheader = AUTHORIZATION: basic SECRET\n"),
        ],
    ),
    (
        "permissions.deny = [\"Read(~/.config/git/**)\"]",
        &[(".config/git/config", "[user]\n\tname = Ada\n\temail = ada@b.example\n[alias]\n\tsecret = SECRET\n")],
    ),
    // A comment does not go on in the next line.
    (
        "permissions.deny = [\"Read(~/.gitconfig)\"]",
        &[(".gitconfig", "[user]\n\temail = ada@b.example\n\tname = Ada # \\\n\ttoken = SECRET\n")],
    ),
    // Where who one is stands in what is included by what commands may not read.
    (
        "",
        &[
            (".gitconfig", "[user]\n\ttoken = SECRET\n[include]\n\tpath = dotfiles/main # mine\n"),
            ("dotfiles/main", "[alias]\n\tsecret = SECRET\n[include]\n\tpath = \"identity\"\n"),
            ("dotfiles/identity", "[user]\n\tname = Ada\n\temail = ada@b.example\n\tpassword = SECRET\n"),
        ],
    ),
    // A condition that is meant from the folder of its file, and one that does not hold.
    (
        "",
        &[
            (
                ".gitconfig",
                "[user]\n\ttoken = SECRET\n[includeIf \"gitdir:./\"]\n\tpath = dotfiles/here\n\
                 [includeIf \"gitdir:./elsewhere/\"]\n\tpath = dotfiles/there\n",
            ),
            ("dotfiles/here", "[user]\n\tname = Ada\n\temail = ada@b.example\n"),
            ("dotfiles/there", "[user]\n\tname = Eve\n\temail = eve@b.example\n"),
        ],
    ),
    // Files that include each other, which git would refuse if they were not conditional.
    (
        "",
        &[
            (
                ".gitconfig",
                "[user]\n\tname = Ada\n\temail = ada@b.example\n\ttoken = SECRET\n\
                 [includeIf \"gitdir:/none/\"]\n\tpath = dotfiles/a\n\tpath = dotfiles/a\n",
            ),
            ("dotfiles/a", "[include]\n\tpath = b\n\tpath = b\n[alias]\n\tsecret = SECRET\n"),
            ("dotfiles/b", "[include]\n\tpath = a\n\tpath = a\n"),
        ],
    ),
];

#[tokio::test]
async fn git_goes_on_under_the_users_name_where_credentials_stand_in_its_settings() {
    if !is_installed("git") {
        return;
    }
    for (settings, files) in SETTINGS_OF_GIT {
        let files: Vec<_> = files.iter().map(|(name, text)| (*name, text.replace("SECRET", SECRET))).collect();
        let Some(world) = World::with_files(User::Same, settings, &files).await else { return };
        let told =
            world.works("git init -q && git commit -q --allow-empty -m x && git log -1 --format='%an <%ae>'").await;
        assert!(told.contains("Ada <ada@b.example>"), "{files:?}\n{told}");
        assert_eq!(told.contains("credentials stand in them"), settings.is_empty(), "{files:?}\n{told}");
        // A repository's own settings come before those of the user.
        let told = world
            .works("git config user.name Eve && git commit -q --allow-empty -m y && git log -1 --format=%an")
            .await;
        assert!(told.contains("Eve"), "{files:?}\n{told}");
        assert!(!told.contains("credentials stand in them"), "it is told once: {told}");
        let told = world.works("git config --list").await;
        assert!(!told.contains(SECRET), "{files:?}\n{told}");
        world.window.close().await;
    }
}

/// The copies of git's settings that lie in the data folder.
fn copies(setup: &Setup) -> Vec<String> {
    let entries = std::fs::read_dir(setup.data_folder().join("git")).into_iter().flatten();
    entries.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[tokio::test]
async fn copies_of_gits_settings_are_there_as_long_as_a_window_uses_them() {
    if !is_installed("git") {
        return;
    }
    let settings = |name: &str| format!("[user]\n\tname = {name}\n\temail = a@b.example\n\ttoken = {SECRET}\n");
    let Some(world) = World::with_files(User::Same, "", &[(".gitconfig", settings("Ada"))]).await else { return };
    let open = || async {
        let mut command = tokio::process::Command::new(harness::binary());
        command.env("HOME", &world.home).env_remove("TMPDIR");
        let window = Window::launch(command, &world.setup, &world.project, Profile::panel()).await;
        window.new_session().await;
        window
    };
    std::fs::write(world.home.join(".gitconfig"), settings("Grace")).unwrap();
    let second = open().await;
    assert_eq!(copies(&world.setup).len(), 2, "{:?}", copies(&world.setup));
    // A shell that is begun anew has what its session began with.
    world.run("kill -9 $$").await;
    assert!(world.works("git config user.name").await.starts_with("Ada\n"));
    second.close().await;
    let World { setup, home, project, window, _place, .. } = world;
    window.close().await;

    std::fs::write(home.join(".gitconfig"), settings("Edsger")).unwrap();
    let mut command = tokio::process::Command::new(harness::binary());
    command.env("HOME", &home).env_remove("TMPDIR");
    let third = Window::launch(command, &setup, &project, Profile::panel()).await;
    third.new_session().await;
    let left = copies(&setup);
    assert!(left.len() == 1 && left[0].contains("Edsger"), "{left:?}");
    // Nothing is left where git can read its settings again.
    std::fs::write(home.join(".gitconfig"), "[user]\n\tname = Ada\n").unwrap();
    third.close().await;
    let mut command = tokio::process::Command::new(harness::binary());
    command.env("HOME", &home).env_remove("TMPDIR");
    let fourth = Window::launch(command, &setup, &project, Profile::panel()).await;
    fourth.new_session().await;
    assert_eq!(copies(&setup), [""; 0]);
    fourth.close().await;
}

#[tokio::test]
async fn a_deny_rule_about_a_place_in_a_folder_for_temporary_files_leaves_that_folder_as_it_is() {
    let rule = "permissions.deny = [\"Read(~/temporary/kept/**)\"]";
    let in_home = |project: &Path| {
        let folder = project.parent().unwrap().join("temporary");
        std::fs::create_dir_all(&folder).unwrap();
        vec![("TMPDIR", folder.display().to_string())]
    };
    let Some(world) = World::with(User::Same, rule, in_home).await else { return };
    let told = world.works("f=$(mktemp) && echo x > $f && echo $f").await;
    assert!(told.contains("/temporary/"), "{told}");
    world.window.close().await;
}

#[tokio::test]
async fn what_the_user_opens_is_open() {
    let Some(world) = World::new(User::Same, "sandbox_read = [\"~/.ssh\"]\nsandbox_write = [\"~/beside\"]").await
    else {
        return;
    };
    assert!(world.works("cat ~/.ssh/id_ed25519; echo x > ../beside/new").await.contains(SECRET));
    world.refuses("echo x > ~/.ssh/config", "cannot be written in it").await;
    world.window.close().await;
}

#[tokio::test]
async fn what_a_rule_denies_outside_the_workspace_no_program_reads() {
    let settings = "sandbox_read = [\"~/.ssh\", \"~/beside\"]\npermissions.deny = [\"Read(~/beside/**)\"]";
    let Some(world) = World::new(User::Same, settings).await else { return };
    // Neither the rule nor the line says what the script reads.
    world.project.write("both.sh", "cat ~/.ssh/id_ed25519\n");
    assert!(world.works("sh both.sh").await.contains(SECRET));
    world.project.write("both.sh", "cat ~/beside/letter.txt\n");
    world.refuses("sh both.sh", "cannot be read in it").await;
    world.window.close().await;
}

/// A program, and what it is made of, as toolchains have it in a folder of their own. It prints a word.
fn install(prefix: &Path, program: &str, library: &str) {
    for (file, text) in
        [(program, format!("#!/bin/sh\n. {}/{library}\n", prefix.display())), (library, "echo installed\n".into())]
    {
        std::fs::create_dir_all(prefix.join(file).parent().unwrap()).unwrap();
        std::fs::write(prefix.join(file), text).unwrap();
    }
    std::fs::set_permissions(prefix.join(program), PermissionsExt::from_mode(0o755)).unwrap();
}

fn first_in_path(folder: &Path) -> Vec<(&'static str, String)> {
    vec![("PATH", format!("{}:{}", folder.display(), std::env::var("PATH").unwrap()))]
}

#[tokio::test]
async fn who_denies_the_home_folder_runs_the_programs_of_toolchains_in_it_and_keeps_the_files() {
    let installed = |project: &Path| {
        let toolchain = project.parent().unwrap().join(".nvm");
        install(&toolchain, "versions/node/v1/bin/installed", "versions/node/v1/lib/words.sh");
        std::fs::write(project.parent().unwrap().join(".gitconfig"), "[user]\nname = Ada\n").unwrap();
        first_in_path(&toolchain.join("versions/node/v1/bin"))
    };
    let rule = "sandbox_read = [\"~/beside\"]\npermissions.deny = [\"Read(~/**)\"]";
    let Some(world) = World::with(User::Same, rule, installed).await else { return };
    assert!(world.works("installed").await.starts_with("installed\n"));
    for file in ["letter.txt", "../.gitconfig"] {
        world.project.write("reads.sh", &format!("cat ../beside/{file}\n"));
        world.refuses("sh reads.sh", "cannot be read in it").await;
    }
    world.window.close().await;
}

#[tokio::test]
async fn a_program_of_homebrew_finds_what_it_is_made_of() {
    let installed = |project: &Path| {
        let prefix = project.parent().unwrap().join(".linuxbrew");
        install(&prefix, "Cellar/words/1.0/bin/installed", "opt/words/lib/words.sh");
        std::fs::create_dir_all(prefix.join("Cellar/words/1.0/lib")).unwrap();
        std::fs::rename(prefix.join("opt/words/lib/words.sh"), prefix.join("Cellar/words/1.0/lib/words.sh")).unwrap();
        std::fs::remove_dir_all(prefix.join("opt/words")).unwrap();
        std::fs::create_dir_all(prefix.join("bin")).unwrap();
        for (to, link) in [("../Cellar/words/1.0/bin/installed", "bin/installed"), ("../Cellar/words/1.0", "opt/words")]
        {
            std::os::unix::fs::symlink(to, prefix.join(link)).unwrap();
        }
        std::fs::create_dir_all(prefix.join("var/words")).unwrap();
        std::fs::write(prefix.join("var/words/data"), SECRET).unwrap();
        first_in_path(&prefix.join("bin"))
    };
    let Some(world) = World::with(User::Same, "", installed).await else { return };
    assert!(world.works("installed").await.starts_with("installed\n"));
    world.refuses("cat ../.linuxbrew/var/words/data", "cannot be read in it").await;
    world.window.close().await;
}

#[tokio::test]
async fn ordinary_work_goes_on_in_the_sandbox() {
    let Some(world) = World::new(User::Same, "").await else { return };
    world
        .works("ls -la / >/dev/null 2>&1; ls; id; date; uname -a; ps >/dev/null; mkdir -p d/e; mv d/e f; rm -r d f")
        .await;
    world.works("f=$(mktemp) && echo x > $f && cat $f && rm $f; echo y > /dev/shm/az-$$ && rm /dev/shm/az-$$").await;
    world
        .works("sleep 100 & kill %1; trap 'echo bye' EXIT; (sleep 0.1 && echo done) | cat; echo x | tee /dev/null")
        .await;
    if is_installed("git") {
        let commit = "git -c user.name=a -c user.email=a@b commit -qm x";
        world.works(&format!("git init -q && git add a.txt && {commit} && git log --oneline && git status")).await;
        // A work tree writes in the repository that it is of.
        world.works("git worktree add -q ../tree 2>/dev/null || git worktree add -q tree && git worktree list").await;
    }
    if is_installed("node") {
        let told = world.works("node -e 'require(\"fs\").writeFileSync(\"n.txt\", \"x\"); console.log(6 * 7)'").await;
        assert!(told.starts_with("42\n"), "{told}");
    }
    if is_installed("npm") {
        world.works("echo '{\"name\":\"x\",\"version\":\"1.0.0\",\"scripts\":{\"go\":\"echo gone\"}}' > package.json && npm run go").await;
    }
    if is_installed("python3") {
        let told = world.works("python3 -c 'import multiprocessing, tempfile, subprocess; print(subprocess.check_output([\"echo\", \"hi\"]))'").await;
        assert!(told.contains("hi"), "{told}");
    }
    if is_installed("cargo") {
        world.works("cargo new -q --vcs none tiny && cd tiny && CARGO_TARGET_DIR=target cargo build -q --offline && target/debug/tiny; cd ..").await;
    }
    if is_installed("vim") {
        world.works("vim -es -u NONE -c '%s/one/two/' -c wq a.txt && cat a.txt").await;
    }
    if is_installed("ssh-keygen") {
        world.works("ssh-keygen -q -t ed25519 -N '' -f made && cat made.pub").await;
    }
    if is_installed("perl") {
        let listen = "perl -MSocket -e 'socket(S, AF_INET, SOCK_STREAM, 0); bind(S, sockaddr_in(0, INADDR_LOOPBACK)) or die $!; listen(S, 1) or die $!'";
        world.works(listen).await;
    }
    if is_installed("gdb") {
        // A program that runs in the sandbox can be traced in it.
        world.works("HOME=/tmp gdb -batch -nx -ex run --args /bin/true").await;
    }
    world.window.close().await;
}

/// The processes whose command line holds a word, but for this one.
fn processes_with(word: &str) -> Vec<u32> {
    let entries =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let holds = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(word)
    };
    entries.filter(|pid| *pid != std::process::id()).filter(holds).collect()
}

async fn until_none(word: &str) {
    until_there_are(word, |count| count == 0).await;
}

async fn until_many(word: &str, least: usize) {
    until_there_are(word, |count| count >= least).await;
}

async fn until_there_are(word: &str, is_it: impl Fn(usize) -> bool) {
    let until = Instant::now() + harness::PATIENCE;
    loop {
        let found = processes_with(word);
        if is_it(found.len()) {
            return;
        }
        assert!(Instant::now() < until, "these are there: {found:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A command that starts 200 children, a daemon that forgets where it came from, and something that does not want to
/// end. Each carries a number that no other process has.
fn swarm(number: u64) -> String {
    format!(
        "for i in $(seq 200); do sleep {number} & done; \
         (setsid sh -c 'env -i setsid sh -c \"sleep {number} & sleep {number}\" >/dev/null 2>&1 </dev/null &' &) ; \
         (trap '' TERM HUP INT; exec nohup sh -c 'trap \"\" TERM HUP INT; sleep {number}; sleep {number}' >/dev/null 2>&1) & \
         until [ $(pgrep -cf 'sleep {number}') -ge 203 ]; do sleep 0.05; done; echo swarming"
    )
}

fn number(salt: u64) -> u64 {
    7_000_000_000 + u64::from(std::process::id()) * 100 + salt
}

#[tokio::test]
async fn nothing_is_left_when_the_server_ends_or_is_killed_in_mid_command() {
    for (salt, settings, is_killed) in
        [(1, "", false), (2, "", true), (3, "sandbox = \"full\"", true), (4, "sandbox = \"full\"", false)]
    {
        let Some(world) = World::new(User::Same, settings).await else { return };
        let number = number(salt);
        let command = format!("{}; sleep {number}", swarm(number));
        let terminal = world.window.open_terminal(&world.session).await;
        world.model.then(Answer::calls("shell_run", json!({ "command": command })));
        world.window.prompt(&world.session, "Run it.").await;
        world.window.terminal_until(&terminal, "swarming\r\n").await;
        // The last one comes after the word.
        until_many(&number.to_string(), 204).await;
        if is_killed {
            world.window.kill().await;
        } else {
            let World { window, .. } = world;
            window.close().await;
        }
        until_none(&number.to_string()).await;
    }
}

#[tokio::test]
async fn nothing_is_left_when_the_shell_ends_and_the_next_command_has_a_new_one() {
    let Some(world) = World::new(User::Same, "").await else { return };
    for (salt, end) in [(5, "exit 3"), (6, "kill -9 $$")] {
        let number = number(salt);
        let told = world.run(&format!("{}; {end}", swarm(number))).await;
        assert!(told.contains("swarming") && told.contains("The shell ended too"), "{told}");
        until_none(&number.to_string()).await;
        assert!(world.works("echo again").await.starts_with("again\n"));
    }
    world.window.close().await;
}

#[tokio::test]
async fn a_supervisor_that_is_killed_takes_the_shell_with_it() {
    let Some(world) = World::new(User::Same, "").await else { return };
    let supervisor = world.works("cut -d' ' -f4 /proc/$$/stat").await;
    let supervisor: i32 = supervisor.lines().next().unwrap().parse().unwrap();
    let number = number(7);
    world.works(&format!("sleep {number} & true")).await;
    rustix::process::kill_process(rustix::process::Pid::from_raw(supervisor).unwrap(), rustix::process::Signal::KILL)
        .unwrap();
    until_none(&number.to_string()).await;
    // The server may not have noticed yet; then it says so.
    let told = world.run("echo again").await;
    if !told.starts_with("again\n") {
        assert!(told.contains("the next command starts a new one"), "{told}");
        assert!(world.works("echo again").await.starts_with("again\n"));
    }
    world.window.close().await;
}

#[tokio::test]
async fn what_the_sandbox_refuses_runs_outside_it_once_the_user_has_said_so() {
    let Some(world) = World::new(User::Same, "").await else { return };
    world.refuses("cat ~/.ssh/id_ed25519", "cannot be read in it").await;
    world.works("kept=inside; mkdir d; cd d").await;
    let command = "cat ~/.ssh/id_ed25519; pwd; echo \"<$kept>\"";
    let why = "the sandbox refused to read the key, which the release is signed with";
    let call = |more| {
        let mut input = json!({ "command": command, "outside": true });
        input.as_object_mut().unwrap().extend::<serde_json::Map<_, _>>(more);
        Answer::calls("shell_run", input)
    };
    world.model.then(call(serde_json::Map::new()));
    world.model.then(call(serde_json::Map::from_iter([("why".to_owned(), json!(why))])));
    world.model.then(Answer::says("Done."));
    let before = world.model.asked().len();
    world.window.prompt(&world.session, "Run it.").await;
    let is_asked = |event: &Event| matches!(event, Event::PermissionAsked { .. });
    let events = world.window.until(&world.session, "the question", is_asked).await;
    // The rule that allows every command is about those in the sandbox.
    let Some(Event::PermissionAsked { request, .. }) = events.last() else { unreachable!() };
    assert_eq!(request.about, PermissionAbout::Outside);
    assert!(request.title.contains("outside the sandbox") && request.detail.contains(command), "{request:?}");
    assert!(request.detail.contains(why), "{request:?}");
    let shown = events.iter().any(|event| matches!(event, Event::ToolCallStarted { title, .. } if title.contains(why)));
    assert!(shown, "{events:?}");
    let answer = json!({ "sessionId": world.session, "permissionId": request.permission_id, "optionId": "allow_once" });
    world.window.call::<methods::PermissionAnswer>(answer).await;
    world.window.until_end(&world.session, StopReason::EndTurn).await;
    assert!(world.model.asked()[before + 1].last_results()[0].contains("`outside` needs `why`"));
    let told = world.model.asked()[before + 2].last_results()[0].to_owned();
    let folder = world.project.path("d");
    assert!(told.contains(SECRET) && told.contains(&format!("{}\n<>\n", folder.display())), "{told}");

    let params = json!({ "sessionId": world.session });
    let listed = world.window.call::<methods::TerminalList>(params).await.terminals;
    let kinds: Vec<_> = listed.iter().map(|terminal| (terminal.kind, terminal.sandbox)).collect();
    let expected = [(TerminalKind::Shell, SandboxMode::WorkspaceWrite), (TerminalKind::Outside, SandboxMode::Full)];
    assert_eq!(kinds, expected);
    world.refuses("cat ~/.ssh/id_ed25519", "cannot be read in it").await;

    // While the user has that terminal, what they have allowed waits until they hand it back.
    let take = async |taken: bool| {
        let params = json!({ "sessionId": world.session, "terminalId": listed[1].terminal_id, "taken": taken });
        world.window.call::<methods::TerminalTake>(params).await;
    };
    take(true).await;
    world.model.then(call(serde_json::Map::from_iter([("why".to_owned(), json!(why))])));
    world.model.then(Answer::says("Done."));
    world.window.prompt(&world.session, "Run it again.").await;
    let events = world.window.until(&world.session, "the question", is_asked).await;
    let Some(Event::PermissionAsked { request, .. }) = events.last() else { unreachable!() };
    let answer = json!({ "sessionId": world.session, "permissionId": request.permission_id, "optionId": "allow_once" });
    world.window.call::<methods::PermissionAnswer>(answer).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    take(false).await;
    world.window.until_end(&world.session, StopReason::EndTurn).await;
    let told = world.model.asked().last().unwrap().last_results()[0].to_owned();
    assert!(told.contains(SECRET), "{told}");
    world.window.close().await;
}

/// A terminal of the user's, and what it shows.
struct Screen {
    script: std::process::Child,
    name: String,
}

impl Screen {
    fn open(place: &Path) -> Self {
        let told = place.join("terminal");
        let line = format!("tty > {0}.new && mv {0}.new {0} && exec sleep 100", told.display());
        let mut script = std::process::Command::new("script");
        script.args(["-qfc", &line, "/dev/null"]).stdin(std::process::Stdio::null());
        let script = script.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while !told.exists() {
            assert!(Instant::now() < until, "the terminal does not say its name");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { script, name: std::fs::read_to_string(&told).unwrap().trim().to_owned() }
    }

    /// Ends it. Gives all that it has shown.
    fn shown(mut self) -> String {
        // Text that was written before this was shown before it.
        std::fs::write(&self.name, "the last of it\n").unwrap();
        let mut shown = Vec::new();
        let mut output = self.script.stdout.take().unwrap();
        while !String::from_utf8_lossy(&shown).contains("the last of it") {
            let mut some = [0; 4096];
            let count = std::io::Read::read(&mut output, &mut some).unwrap();
            assert!(count > 0, "the terminal has ended");
            shown.extend_from_slice(&some[..count]);
        }
        self.script.kill().unwrap();
        self.script.wait().unwrap();
        String::from_utf8(shown).unwrap()
    }
}

#[tokio::test]
async fn a_sandboxed_command_cannot_write_to_or_read_from_any_terminal_but_its_own() {
    let Some(world) = World::new(User::Same, "").await else { return };
    if !is_installed("script") {
        return harness::not_tried("there is no script(1) to make a terminal with");
    }
    let screen = Screen::open(&world.home);
    let name = &screen.name;
    for command in [
        format!("echo painted over > {name}"),
        format!("echo painted over >> /proc/self/root{name}"),
        "for t in /dev/pts/[0-9]*; do [ $t = $(tty) ] || echo painted over > $t; done; false".to_owned(),
        format!("setsid -w sh -c 'echo painted over > {name}'"),
        format!("head -c 1 {name}"),
        format!("stty -F {name} -echo"),
    ] {
        let told = world.run(&command).await;
        assert!(told.contains("ermission denied") && !told.contains("[exit code 0"), "{command}\n{told}");
    }
    let shown = screen.shown();
    assert!(!shown.contains("painted over"), "{shown}");

    let told = world.works("echo mine > $(tty); echo too > /dev/tty; stty -a < $(tty) | head -n 1; stty sane").await;
    assert!(told.contains("mine") && told.contains("too") && told.contains("speed"), "{told}");
    let told = world.run("script -qec 'echo in a terminal' /dev/null").await;
    assert!(!told.contains("[exit code 0"), "{told}");
    world.window.close().await;
}

#[tokio::test]
async fn who_opens_the_terminals_can_have_programs_make_some() {
    let Some(world) = World::new(User::Same, "sandbox_write = [\"/dev/pts\"]").await else { return };
    if is_installed("script") {
        world.works("script -qec 'tty && stty -echo && echo in a terminal' /dev/null").await;
    }
    world.window.close().await;
}
