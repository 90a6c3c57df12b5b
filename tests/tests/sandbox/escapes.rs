//! Ways out of the sandbox that were found once, and their relatives: other processes, their limits, and our own
//! sockets.

use super::*;

/// The word of a command that was refused a call.
const REFUSED: &str = "Operation not permitted";

/// A shell's own words for the process that supervises it.
const SUPERVISOR: &str = "$(cut -d' ' -f4 /proc/$$/stat)";

fn is_tried() -> bool {
    if !cfg!(target_arch = "x86_64") {
        harness::not_tried("the numbers of the calls are those of x86-64");
        return false;
    }
    is_installed("perl")
}

impl World {
    /// The words of each of these calls in the sandbox, all written in Perl: `ok`, or the reason why not.
    async fn calls(&self, calls: &[&str]) -> Vec<String> {
        let calls: String = calls
            .iter()
            .map(|call| {
                // Of a call, -1 is a failure; of Perl's own functions, what is false.
                let is_call = call.starts_with("syscall");
                let failed = if is_call { "$r < 0" } else { "!$r" };
                format!("$! = 0; $r = {call}; print \"said: \", ({failed} ? \"$!\" : \"ok\"), \"\\n\";")
            })
            .collect();
        let told = self.run(&format!("perl -MSocket -e '$x = \"\\0\" x 4096; {calls}'")).await;
        told.lines().filter_map(|line| line.strip_prefix("said: ")).map(str::to_owned).collect()
    }

    async fn number_of_the_supervisor(&self) -> String {
        let told = self.run(&format!("echo {SUPERVISOR}")).await;
        told.lines().next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_command_cannot_blind_its_supervisor_and_come_back_as_an_editor() {
    if !is_tried() {
        return;
    }
    let Some(world) = World::new(User::Same, "").await else { return };
    let socket = std::fs::read_dir(world.setup.home().join("azimuth")).unwrap().next().unwrap().unwrap().path();
    let heard = world.project.path("heard");
    // A daemon without the mark of its terminal that takes all files from its supervisor, waits for its end, and asks
    // the server as an editor would.
    let daemon = world.project.path("daemon.pl");
    let script = r#"use Socket; use POSIX; my ($supervisor, $socket, $heard) = @ARGV;
        exit if fork; POSIX::setsid(); exit if fork; $SIG{$_} = "IGNORE" for qw(HUP TERM INT PIPE);
        open STDIN, "</dev/null"; open STDOUT, ">/dev/null"; open STDERR, ">/dev/null";
        sub say_it { open my $f, ">>", $heard; syswrite $f, "@_\n"; }
        say_it("limited", syscall(302, $supervisor + 0, 7, my $p = pack("QQ", 0, 0), 0));
        for (1 .. 300) { last unless -e "/proc/$supervisor"; select undef, undef, undef, 0.1; }
        socket(S, AF_UNIX, SOCK_STREAM, 0); connect(S, sockaddr_un($socket)) or say_it("no $!");
        my $m = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}';
        syswrite(S, "Content-Length: " . length($m) . "\r\n\r\n$m"); sysread(S, my $answer, 4000);
        say_it("outlived, and heard <$answer>"); sleep 600;"#;
    std::fs::write(&daemon, script).unwrap();
    let command = format!(
        "env -i $(command -v perl) daemon.pl {SUPERVISOR} {} {}; until grep -q limited heard; do sleep 0.05; done; kill -9 $$",
        socket.display(),
        heard.display()
    );
    let told = world.run(&command).await;
    assert!(told.contains("The shell ended too"), "{told}");
    until_none("daemon.pl").await;
    let heard = std::fs::read_to_string(heard).unwrap();
    assert_eq!(heard, "limited -1\n");
    world.works("echo again").await;
    world.window.close().await;
}

#[tokio::test]
async fn a_command_sets_its_own_limits_and_those_of_no_other_process() {
    if !is_tried() {
        return;
    }
    let Some(world) = World::new(User::Same, "").await else { return };
    let supervisor = world.number_of_the_supervisor().await;
    let bystander = std::process::id().to_string();
    for process in [supervisor, world.window.process().to_string(), bystander] {
        // Processor time, the size of files, memory, files and processes, set to what they are: asking is setting.
        let calls =
            [0, 1, 9, 7, 6].map(|limit| format!("syscall(302, {process}, {limit}, $p = pack(\"QQ\", ~0, ~0), 0)"));
        let words = world.calls(&calls.each_ref().map(String::as_str)).await;
        assert_eq!(words, [REFUSED; 5], "of {process}");
        let words = world.calls(&[&format!("syscall(302, {process}, 7, 0, $x)")]).await;
        assert_eq!(words, [REFUSED], "of {process}");
    }
    assert_eq!(world.calls(&["syscall(302, 0, 1, 0, $x)"]).await, ["ok"]);
    world.works("(ulimit -n 200 && ulimit -t 100 && ulimit -f 1000 && ls)").await;
    world.works("prlimit --nofile=100 ls").await;
    world.window.close().await;
}

#[tokio::test]
async fn a_command_cannot_act_on_processes_outside_its_sandbox() {
    if !is_tried() {
        return;
    }
    let Some(world) = World::new(User::Same, "").await else { return };
    // It would become the slowest process there is, were it not refused; so it is one that nobody needs.
    let mut bystander = tokio::process::Command::new("sleep").arg("600").kill_on_drop(true).spawn().unwrap();
    let process = bystander.id().unwrap();
    let calls = [
        format!("syscall(141, 0, {process}, 5)"),
        "syscall(141, 2, 0, 5)".to_owned(),
        format!("syscall(144, {process}, 3, $x)"),
        format!("syscall(142, {process}, $x)"),
        format!("syscall(203, {process}, 8, $p = pack(\"Q\", 1))"),
        format!("syscall(314, {process}, $p = pack(\"LLQlLQQQ\", 48, 3, 0, 0, 0, 0, 0, 0), 0)"),
        format!("syscall(251, 1, {process}, 3 << 13)"),
        "syscall(251, 3, 0, 3 << 13)".to_owned(),
        format!("syscall(310, {process}, $x, 1, $x, 1, 0)"),
        format!("syscall(311, {process}, $x, 1, $x, 1, 0)"),
        format!("syscall(312, {process}, {process}, 1, 0, 0)"),
        format!("syscall(256, {process}, 64, $x, $x)"),
        format!("syscall(279, {process}, 0, $x, 0, $x, 0)"),
        "syscall(438, 0, 0, 0)".to_owned(),
        "syscall(440, 0, 0, 0, 20, 0)".to_owned(),
        "syscall(448, 0, 0)".to_owned(),
        format!("syscall(62, {process}, 0)"),
    ];
    let words = world.calls(&calls.each_ref().map(String::as_str)).await;
    assert_eq!(words, [REFUSED; 17], "{calls:#?}");
    // A command can still act on itself and its own processes.
    world.works("nice -n 1 ls; [ $(nice -n 1 nice) -gt $(nice) ]").await;
    world
        .works("ionice -c 3 ls; taskset 1 ls; sleep 60 & kill %1; (sleep 60 & kill -STOP $!; kill -CONT $!; kill $!)")
        .await;
    if is_installed("strace") {
        assert!(world.works("strace -e trace=openat cat a.txt 2>&1").await.contains("\"a.txt\""));
    }
    bystander.kill().await.unwrap();
    world.window.close().await;
}

#[tokio::test]
async fn a_command_shares_no_memory_reaches_no_other_machine_below_the_network_and_makes_no_setuid_file() {
    if !is_tried() {
        return;
    }
    let Some(world) = World::new(User::Same, "").await else { return };
    let words = world
        .calls(&[
            // Shared memory, semaphores and queues, by System V and POSIX.
            "syscall(29, 0, 4096, 0600)",
            "syscall(30, 0, 0, 0)",
            "syscall(31, 0, 2, $x)",
            "syscall(64, 0, 1, 0600)",
            "syscall(68, 0, 0600)",
            "syscall(240, $x, 0)",
            // The host of a virtual machine, frames, raw packets, and rings that make sockets past a filter.
            "socket(S, 40, SOCK_STREAM, 0)",
            "socket(S, 17, SOCK_RAW, 0)",
            "socket(S, AF_INET, SOCK_RAW, 1)",
            "socket(S, 38, SOCK_STREAM, 0)",
            "syscall(425, 8, $x)",
            // All that a whole file system sees.
            "syscall(300, 0, 0)",
            // Programs with another's rights, however they are made.
            "syscall(90, $p = \"a.txt\", 04755)",
            "syscall(268, -100, $p = \"a.txt\", 04755)",
            "syscall(452, -100, $p = \"a.txt\", 04755, 0)",
            "syscall(2, $p = \"made\", 0101, 04755)",
            "syscall(257, -100, $p = \"made\", 0101, 04755)",
            "syscall(85, $p = \"made\", 04755)",
            "syscall(133, $p = \"made\", 0104755, 0)",
            // Another view of the file system.
            "syscall(467, -100, $p = \".\", 1, 0, 0)",
            // The processor for itself alone.
            "syscall(144, 0, 1, $p = pack(\"i\", 99))",
        ])
        .await;
    assert_eq!(words, [REFUSED; 21]);
    assert!(!world.project.path("made").exists());
    assert_eq!(world.calls(&["syscall(437, -100, $p = \"a.txt\", $x, 24)"]).await, ["Function not implemented"]);
    let mode = std::fs::metadata(world.project.path("a.txt")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7000, 0);
    let words = world
        .calls(&[
            "socket(S, AF_INET, SOCK_STREAM, 0)",
            "socket(S, AF_INET6, SOCK_DGRAM, 0)",
            "socket(S, AF_UNIX, SOCK_STREAM, 0)",
            "socket(S, 16, SOCK_RAW, 0)",
        ])
        .await;
    assert_eq!(words, ["ok"; 4]);
    world.works("chmod 1755 a.txt; chmod 700 a.txt; mkdir d; chmod +t d; touch d/b; umask 0; touch d/c; ls -l d").await;
    world.window.close().await;
}

/// Where build tools say how a daemon is reached that the user has started, with `USER=ada`.
const DAEMONS: &[&str] = &[
    ".buck/buckd/x/buckd.info",
    ".cache/bazel/_bazel_ada/0123/server/command_port",
    ".cache/bazel/_bazel_ada/0123/server/request_cookie",
    ".data/kotlin/daemon/x.17001.run",
    ".gradle/daemon/8.5/registry.bin",
    ".kotlin/daemon/x.17001.run",
    ".local/share/kotlin/daemon/x.17001.run",
    ".m2/mvnd/registry/1.0/registry.bin",
    ".sbt/1.0/server/0123/token.json",
];

#[tokio::test]
async fn a_command_is_told_of_no_build_daemon_outside_whenever_that_was_started() {
    let data = |project: &Path| {
        vec![
            ("USER", "ada".to_owned()),
            ("XDG_DATA_HOME", project.join("../.data").canonicalize().unwrap().display().to_string()),
        ]
    };
    let there: Vec<_> = DAEMONS.iter().map(|name| (*name, SECRET.to_owned())).collect();
    // With the folders that are there before any daemon is.
    let before = [
        ".buck/x",
        ".cache/bazel/_bazel_ada/cache/x",
        ".data/kotlin/x",
        ".gradle/wrapper/x",
        ".gradle/caches/x",
        ".m2/repository/x",
    ]
    .map(|name| (name, "x".to_owned()));
    for files in [&there[..], &before[..]] {
        let Some(world) = World::made(User::Same, "", files, data).await else { return };
        world.works("echo begun").await;
        for name in DAEMONS {
            let file = world.home.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, SECRET).unwrap();
        }
        let names: Vec<_> = DAEMONS.iter().map(|name| format!("~/{name}")).collect();
        let told = world.run(&format!("for f in {}; do cat $f; echo x > $f; done", names.join(" "))).await;
        assert!(!told.contains(SECRET), "{told}");
        for name in DAEMONS {
            assert_eq!(std::fs::read_to_string(world.home.join(name)).unwrap(), SECRET, "{name}");
        }
        world.window.close().await;
    }
    let Some(world) = World::made(User::Same, "", &before, data).await else { return };
    world.works("cat ~/.gradle/wrapper/x && echo y > ~/.gradle/caches/y && echo y > ~/.m2/repository/y && echo y > ~/.cache/bazel/_bazel_ada/cache/y").await;
    world.window.close().await;
}

#[tokio::test]
async fn gradle_has_a_register_of_daemons_of_its_own_in_the_sandbox_beside_the_users_options() {
    for is_killed in [false, true] {
        let options = |_: &Path| vec![("GRADLE_OPTS", "-Xmx64m".to_owned())];
        let Some(world) = World::with(User::Same, "", options).await else { return };
        // As Gradle's start script takes the variable apart.
        let command = "eval set -- \"$GRADLE_OPTS\"; echo \"given <$1> <${2%%=*}>\"; d=${2#*=}; mkdir -p \"$d/8.5\" && echo x >\"$d/8.5/registry.bin\" && echo \"register <$d>\"";
        let told = world.works(command).await;
        assert!(told.contains("given <-Xmx64m> <-Dorg.gradle.daemon.registry.base>"), "{told}");
        let register = told.split_once("register <").unwrap().1.split_once('>').unwrap().0;
        assert!(Path::new(register).join("8.5/registry.bin").is_file(), "{register}");
        if is_killed {
            world.window.kill().await;
        } else {
            world.window.close().await;
        }
        let removed = async {
            while Path::new(register).exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        harness::patiently("the end of its register", removed).await;
    }
}

#[tokio::test]
async fn a_command_changes_no_attribute_of_a_file_and_copies_go_on_without() {
    if !is_tried() {
        return;
    }
    let Some(world) = World::new(User::Same, "").await else { return };
    let calls = |path: &str| {
        let path = format!("$p = \"{path}\", $n = \"user.note\"");
        [188, 189]
            .map(|call| format!("syscall({call}, {path}, $v = \"x\", 1, 0)"))
            .into_iter()
            .chain([197, 198].map(|call| format!("syscall({call}, {path})")))
            .chain([
                "syscall(463, -100, $p = \"a.txt\", 0, $n = \"user.note\", $x, 16)".to_owned(),
                "syscall(466, -100, $p = \"a.txt\", 0, $n = \"user.note\")".to_owned(),
                "syscall(469, -100, $p = \"a.txt\", $x, 24, 0)".to_owned(),
                "syscall(190, 0, $n = \"user.note\", $x, 1, 0)".to_owned(),
                "syscall(199, 0, $n = \"user.note\")".to_owned(),
            ])
            .collect::<Vec<_>>()
    };
    for path in ["a.txt".to_owned(), world.home.join(".ssh/id_ed25519").display().to_string()] {
        let calls = calls(&path);
        let words = world.calls(&calls.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert_eq!(words, ["Operation not supported"; 9], "{path}");
    }
    world.works("mkdir f && echo x > f/x && chmod 750 f/x && cp -a f g && cp --preserve=all f/x y && mv y z && install -m 755 z w && tar cf - f | tar xf - -C g && stat -c %a g/x | grep 750").await;
    world.window.close().await;
}

/// A library that says in the project which program has loaded it, and outside too where it may.
const LIBRARY: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static void say(const char *path) {
    char line[200] = "";
    FILE *from = fopen("/proc/self/comm", "r"), *to = fopen(path, "a");
    if (from && fgets(line, sizeof line, from) && to) fputs(line, to);
    if (from) fclose(from);
    if (to) fclose(to);
}
__attribute__((constructor)) static void load(void) { say(INSIDE); say(OUTSIDE); }
"#;

#[tokio::test]
async fn a_library_that_a_command_puts_where_the_users_environment_names_one_is_loaded_in_the_sandbox_alone() {
    if !is_installed("cc") || !is_installed("git") {
        return;
    }
    let by_path = |project: &Path| vec![("LD_PRELOAD", project.join("lib/own.so").display().to_string())];
    let by_name = |project: &Path| {
        vec![("LD_PRELOAD", "own.so".to_owned()), ("LD_LIBRARY_PATH", project.join("lib").display().to_string())]
    };
    for environment in [by_path as fn(&Path) -> Vec<(&'static str, String)>, by_name] {
        let Some(world) = World::with(User::Same, "", environment).await else { return };
        let (inside, outside) = (world.project.path("loaded"), world.beside.join("loaded"));
        world.project.write("own.c", LIBRARY);
        std::fs::create_dir(world.project.path("lib")).unwrap();
        let place = |name: &str, path: &Path| format!("-D{name}=\"{}\"", path.display());
        // Before there is any shell, as a language server could do in the sandbox.
        let compiled = std::process::Command::new("cc")
            .args(["-shared", "-fPIC", "-o", "lib/own.so", "own.c"])
            .args([place("INSIDE", &inside), place("OUTSIDE", &outside)])
            .current_dir(world.project.folder())
            .status();
        assert!(compiled.unwrap().success());

        world.works("git init -q . && /bin/true").await;
        world.model.then(Answer::calls("shell_start", json!({ "command": "/bin/cat a.txt" })));
        world.model.then(Answer::says("Done."));
        world.window.prompt(&world.session, "Run it.").await;
        world.window.until_end(&world.session, StopReason::EndTurn).await;
        world.run("kill -9 $$").await;
        world.works("ls").await;
        // Without trust git is asked what the repository's settings are, before there is a shell.
        world.window.call::<methods::WorkspaceTrust>(json!({ "trusted": false, "byEditor": true })).await;
        world.works("cat a.txt").await;

        assert!(!outside.exists(), "loaded outside by {:?}", std::fs::read_to_string(&outside));
        let loaded = world.project.read("loaded");
        assert!(["bash", "true", "cat"].iter().all(|name| loaded.lines().any(|line| line == *name)), "{loaded}");
        assert!(!loaded.lines().any(|line| line == "exe"), "our own program has loaded it: {loaded}");
        world.window.close().await;
    }
}

#[tokio::test]
async fn a_supervisor_that_cannot_see_what_is_left_kills_all_of_it_and_says_so() {
    let Some(world) = World::new(User::Same, "").await else { return };
    let number = (86_000_000 + u64::from(std::process::id())).to_string();
    let supervisor = world.number_of_the_supervisor().await;
    // From outside the sandbox this may be done.
    let supervisor = rustix::process::Pid::from_raw(supervisor.parse().unwrap()).unwrap();
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    rustix::process::prlimit(Some(supervisor), rustix::process::Resource::Nofile, none).unwrap();
    // It is left only once it is there: a class keeps the search from finding itself.
    let (first, rest) = number.split_at(1);
    let is_there = format!("until grep -qsz '^[{first}]{rest}$' /proc/[0-9]*/cmdline; do sleep 0.01; done");
    let leaves = format!("(env -i setsid sleep {number} >/dev/null 2>&1 &); {is_there}; kill -9 $$");
    let told = world.run(&leaves).await;
    assert!(told.contains("could not see") && told.contains("killed all"), "{told}");
    until_none(&number).await;
    // One that sees says nothing.
    let told = world.run(&leaves).await;
    assert!(told.contains("The shell ended too") && !told.contains("could not see"), "{told}");
    until_none(&number).await;
    world.window.close().await;
}

/// The code of a daemon whose first thread ends while another goes on: `/proc` shows it as a zombie without a command
/// line.
const HEADLESS: &str = r#"
import ctypes, threading, time

def stay():
    while ") Z" not in open(f"/proc/{os.getpid()}/stat").read(): time.sleep(0.01)
    open("headless", "w").close()
    time.sleep(600)

threading.Thread(target=stay).start()
ctypes.CDLL(None).syscall(60, 0)
"#;

#[tokio::test]
async fn a_process_whose_first_thread_has_ended_is_not_left_behind() {
    if !is_tried() || !is_installed("python3") {
        return;
    }
    for is_server_killed in [false, true] {
        let Some(world) = World::new(User::Same, "").await else { return };
        world.project.write("headless.py", &format!("{}{HEADLESS}", harness::daemon::BEGINNING));
        let command = "python3 headless.py; until [ -e headless ]; do sleep 0.05; done";
        if is_server_killed {
            world.works(command).await;
            world.window.kill().await;
        } else {
            let told = world.run(&format!("{command}; kill -9 $$")).await;
            assert!(told.contains("The shell ended too"), "{told}");
        }
        let case = format!("with the server killed: {is_server_killed}");
        harness::daemon::until_gone(world.project.folder(), &case).await;
    }
}

#[tokio::test]
async fn what_acts_on_others_is_refused_however_they_are_named() {
    if !is_tried() {
        return;
    }
    let Some(world) = World::new(User::Same, "").await else { return };
    let supervisor = world.number_of_the_supervisor().await;
    let threads = std::fs::read_dir(format!("/proc/{supervisor}/task")).unwrap();
    let mut numbers: Vec<String> = threads.map(|thread| thread.unwrap().file_name().into_string().unwrap()).collect();
    // The kernel looks at the lower half of a number.
    numbers.extend([&supervisor, &world.window.process().to_string()].map(|number| format!("{number} + 2**32")));
    for number in numbers {
        let calls = [
            // The size of what a crash leaves, which is of no account to either.
            format!("syscall(302, {number}, 4, $p = pack(\"QQ\", ~0, ~0), 0)"),
            format!("syscall(302, {number}, 4 + 2**32, 0, $x)"),
            format!("syscall(141, 0, {number}, 0)"),
            format!("syscall(251, 1, {number}, 2 << 13 | 4)"),
        ];
        let words = world.calls(&calls.each_ref().map(String::as_str)).await;
        assert_eq!(words, [REFUSED; 4], "of {number}");
    }
    world.window.close().await;
}

/// Where a project's own folders are among those of programs, packages and caches, as an activated environment or
/// direnv has it.
fn of_an_activated_environment(folder: &Path) -> Vec<(&'static str, String)> {
    let (folder, path) = (folder.display(), std::env::var("PATH").unwrap());
    vec![
        ("PATH", format!("{folder}/.venv/bin:{path}")),
        ("GOPATH", format!("{folder}/.go")),
        ("CARGO_HOME", format!("{folder}/.cargo")),
        ("XDG_CACHE_HOME", format!("{folder}/.cache")),
        ("TMPDIR", format!("{folder}/tmp")),
    ]
}

#[tokio::test]
async fn a_link_that_a_command_puts_where_something_is_granted_opens_nothing() {
    let Some(world) = World::with(User::Same, "", of_an_activated_environment).await else { return };
    let home = world.home.display().to_string();
    let planted = [".venv/share", ".venv/lib", ".go/pkg", ".cargo/registry", ".cache/pip", "tmp"];
    let plant: String =
        planted.map(|link| format!("rm -rf {link}; mkdir -p $(dirname {link}); ln -s {home} {link}; ")).concat();
    // The new shell is begun while they are there, and so is the new session.
    world.model.may_rewrite();
    world.run(&format!("{plant} kill -9 $$")).await;
    let refuses = async |world: &World| {
        for key in [".ssh/id_ed25519", "beside/letter.txt"] {
            let told = world.run(&format!("cat {home}/{key}")).await;
            assert!(!told.contains(SECRET), "{told}");
        }
        world.run(&format!("echo x > {home}/.bashrc; echo x > {home}/beside/new")).await;
        assert!(!world.home.join(".bashrc").exists() && !world.beside.join("new").exists());
        world.works("echo x > b.txt && cat b.txt").await;
    };
    refuses(&world).await;
    let world = World { session: world.window.new_session().await, ..world };
    refuses(&world).await;
    world.window.close().await;
}

/// Where something is granted in [`of_an_activated_environment`], or in a folder that is taken apart for what is hidden
/// in it.
const GRANTED: [&str; 10] = [
    ".venv/bin",
    ".venv/share",
    ".venv/lib",
    ".go/pkg",
    ".go/bin",
    ".cargo/registry",
    ".cargo/other",
    ".cache/pip",
    ".cache/Cypress",
    "tmp",
];

impl World {
    /// The links in these places of the project, to these paths, by which a new session in this folder can do more than
    /// it could: each with what it can.
    async fn opened_by_links(mut self, folder: &str, places: &[&str], targets: &[&Path]) -> Vec<String> {
        self.model.may_rewrite();
        let (key, letter) = (self.home.join(".ssh/id_ed25519"), self.beside.join("letter.txt"));
        let new = [self.home.join("new"), self.home.join(".ssh/new"), self.beside.join("new")];
        let mut script = format!("cat {} {};", key.display(), letter.display());
        script.extend(new.iter().map(|path| format!("echo x > {};", path.display())));
        let mut opened = Vec::new();
        for place in places {
            for target in targets {
                let link = self.project.path(place);
                std::fs::create_dir_all(link.parent().unwrap()).unwrap();
                let _ = std::fs::remove_dir(&link);
                std::os::unix::fs::symlink(target, &link).unwrap();
                let params = json!({ "folders": [self.project.uri(folder)] });
                self.session = self.window.call::<methods::SessionNew>(params).await.session.session_id;
                let is_read = self.run(&script).await.contains(SECRET);
                let is_written = new.iter().any(|path| std::fs::remove_file(path).is_ok());
                if is_read || is_written {
                    let target = target.display();
                    opened.push(format!("{place} -> {target}, read: {is_read}, written: {is_written}"));
                }
                std::fs::remove_file(link).unwrap();
            }
        }
        self.window.close().await;
        opened
    }
}

#[tokio::test]
async fn a_link_in_another_project_opens_nothing_where_a_variable_leads_through_it() {
    let Some(world) = World::with(User::Same, "", of_an_activated_environment).await else { return };
    world.model.may_rewrite();
    // The other one is around the session's own, and its commands can make all of these links.
    world.works("mkdir -p packages/b && ln -s ~ tmp && rm tmp").await;
    let (home, beside) = (world.home.clone(), world.beside.clone());
    let keys = home.join(".ssh");
    let targets = [home.as_path(), &keys, &beside, Path::new("../..")];
    assert_eq!(world.opened_by_links("packages/b", &GRANTED, &targets).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_link_in_the_workspace_opens_nothing_to_commands_that_only_read() {
    let settings = "sandbox = \"read-only\"";
    let Some(world) = World::with(User::Same, settings, of_an_activated_environment).await else { return };
    let (home, beside) = (world.home.clone(), world.beside.clone());
    let targets = [home.as_path(), &beside, Path::new("/")];
    assert_eq!(world.opened_by_links("", &GRANTED, &targets).await, Vec::<String>::new());

    let Some(world) = World::with(User::Same, settings, of_an_activated_environment).await else { return };
    assert!(world.works("cat a.txt").await.starts_with("one\n"));
    world.refuses("echo x > b.txt", "b.txt cannot be written in it").await;
    world.window.close().await;
}

#[tokio::test]
async fn what_a_projects_own_environment_has_is_used_as_it_lies_in_the_project() {
    let Some(world) = World::with(User::Same, "", of_an_activated_environment).await else { return };
    world.model.may_rewrite();
    world
        .works("mkdir -p .venv/bin tmp .go/pkg .cache && echo 'echo ran' > .venv/bin/tool && chmod +x .venv/bin/tool")
        .await;
    let world = World { session: world.window.new_session().await, ..world };
    let told = world.works("tool; f=$(mktemp) && echo x > $f && echo x > .go/pkg/x && mkdir -p .cache/pip/x").await;
    assert!(told.starts_with("ran\n"), "{told}");
    world.window.close().await;
}
