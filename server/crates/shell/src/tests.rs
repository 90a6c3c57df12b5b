//! Real shells in real pseudo-terminals.

#![expect(clippy::disallowed_methods, reason = "the tests look at /proc and at files that commands made")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use process::Confinement;
use tempfile::TempDir;

use super::*;

mod questions;
mod waiting;

const LONG: Duration = Duration::from_secs(60);

struct Fixture {
    folder: TempDir,
    shell: Arc<Shell>,
    log: Arc<Log>,
}

/// Keeps what an observer hears.
#[derive(Default)]
struct Log(Mutex<Vec<String>>);

impl Observer for Log {
    fn started(&self, call: &ToolCallId, command: &str, cwd: &Path, offset: u64) {
        self.0.lock().unwrap().push(format!("{call} started `{command}` in {} at {offset}", cwd.display()));
    }

    fn ended(&self, call: &ToolCallId, offset: u64, exit_code: Option<i32>) {
        self.0.lock().unwrap().push(format!("{call} ended at {offset} with {exit_code:?}"));
    }

    fn said(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn typed(&self, _: Option<&ToolCallId>, by: Typist, text: &str, hidden: bool) {
        self.0.lock().unwrap().push(format!("{by:?} typed `{text}`{}", if hidden { " hidden" } else { "" }));
    }
}

impl Fixture {
    fn new() -> Self {
        Self::with(None)
    }

    fn with(program: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap().join("project");
        let private = folder.path().join("private");
        std::fs::create_dir(&cwd).unwrap();
        std::fs::create_dir(&private).unwrap();
        let log = Arc::new(Log::default());
        let (program, confinement) = (program.map(PathBuf::from), Confinement::default());
        let config = ShellConfig { cwd, folder: private, pass: vec![], program, confinement, trust: Trust::default() };
        let shell = Shell::new(config, Arc::clone(&log) as Arc<dyn Observer>).unwrap();
        Self { folder, shell: Arc::new(shell), log }
    }

    async fn run(&self, command: &str) -> Ran {
        self.run_with(command, RunOptions { timeout: LONG, ..RunOptions::default() }).await
    }

    async fn run_with(&self, command: &str, options: RunOptions) -> Ran {
        self.shell.run(&ToolCallId::from("call"), command, options).await.unwrap()
    }

    /// Runs a command in the background, and waits until it has printed a text.
    async fn start(&self, command: &str, options: RunOptions, until: &str) -> tokio::task::JoinHandle<Ran> {
        let from = self.shell.spool().end();
        let (shell, owned) = (Arc::clone(&self.shell), command.to_owned());
        let task = tokio::spawn(async move { shell.run(&ToolCallId::from("call"), &owned, options).await.unwrap() });
        self.printed(from, until).await;
        task
    }

    /// Waits until the terminal has printed a text, and gives all that was printed.
    async fn printed(&self, from: u64, text: &str) -> String {
        let mut end = self.shell.spool().watch();
        loop {
            let seen = String::from_utf8_lossy(&self.shell.spool().read_from(from, 1 << 20).1).into_owned();
            if seen.contains(text) {
                return seen;
            }
            let more = tokio::time::timeout(LONG, end.changed()).await;
            more.unwrap_or_else(|_| panic!("the terminal does not print {text:?}: {seen}")).unwrap();
        }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }
}

/// True if a process lives; one that has ended but is not reaped yet does not.
fn lives(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with(['Z', 'X']))
}

#[tokio::test]
async fn folder_variables_functions_and_aliases_survive_from_command_to_command() {
    for program in [None, Some("/bin/sh")] {
        let fixture = Fixture::with(program);
        let ran = fixture.run("mkdir sub; cd sub; export A=5; f() { echo fun $1; }; alias greet='echo hello'").await;
        assert_eq!((ran.exit_code, ran.output.as_str()), (Some(0), ""));
        assert_eq!(ran.cwd_after, fixture.project().join("sub"));
        let ran = fixture.run("pwd; echo $A; f x; greet").await;
        assert_eq!(ran.output, format!("{}\n5\nfun x\nhello\n", fixture.project().join("sub").display()));
        assert_eq!(ran.note, None);
    }
}

#[tokio::test]
async fn any_text_can_be_a_command() {
    let cases: &[(&str, &str, i32)] = &[
        ("echo one\necho two", "one\ntwo\n", 0),
        ("cat <<EOF\nhere $((1+1))\nEOF", "here 2\n", 0),
        ("cat <<'EOF'\nit's $HOME\nEOF\n", "it's $HOME\n", 0),
        ("echo hi # a comment", "hi\n", 0),
        ("echo 'it'\\''s'", "it's\n", 0),
        ("echo \"a\\\"b\"; echo a\\\n b", "a\"b\na b\n", 0),
        ("for i in 1 2 3; do\n  echo $i\ndone", "1\n2\n3\n", 0),
        ("printf 'no newline'", "no newline", 0),
        ("echo 'ünïcode 漢字'", "ünïcode 漢字\n", 0),
        ("echo wow!! !x", "wow!! !x\n", 0),
        ("printf '%s\\n' \"$0\"", "", 0),
        ("false", "", 1),
        ("(exit 42)", "", 42),
        ("echo out; echo err >&2; exec 3>&1; echo three >&3", "out\nerr\nthree\n", 0),
        ("exec </dev/null; cat", "", 0),
        ("cat </dev/null", "", 0),
        ("set -u; echo $nosuchvariable; set +u", "bash: nosuchvariable: unbound variable\n", 1),
        ("echo still here", "still here\n", 0),
    ];
    let fixture = Fixture::new();
    for (command, output, code) in cases {
        let ran = fixture.run(command).await;
        assert_eq!(ran.exit_code, Some(*code), "{command}: {ran:?}");
        if !output.is_empty() {
            assert_eq!(ran.output, *output, "{command}");
        }
        assert_eq!(ran.note, None, "{command}");
    }
}

#[tokio::test]
async fn a_command_that_is_no_shell_is_an_error_and_does_not_hang() {
    for program in [None, Some("/bin/sh")] {
        let fixture = Fixture::with(program);
        for command in ["echo 'unbalanced", "echo \"unbalanced", "if true; then", "echo $(", "fi", "cat <<EOF | (", "}"]
        {
            let ran = fixture.run(command).await;
            assert_ne!(ran.exit_code, Some(0), "{command}");
            assert!(!ran.output.is_empty(), "{command} says nothing");
        }
        assert_eq!(fixture.run("echo on").await.output, "on\n");
    }
}

#[tokio::test]
async fn a_command_that_cannot_be_given_to_a_shell_is_refused() {
    let fixture = Fixture::new();
    for command in ["", " \n", "echo a\0b", &"x".repeat(MAX_COMMAND + 1)] {
        let refused = fixture.shell.run(&ToolCallId::from("call"), command, RunOptions::default()).await;
        assert!(matches!(refused, Err(ShellError::InvalidCommand(_))));
    }
    let long = format!("true {}; echo ran", "x".repeat(200_000));
    assert_eq!(fixture.run(&long).await.output, "ran\n");
}

#[tokio::test]
async fn a_command_can_leave_the_shell_and_the_next_one_gets_a_new_shell() {
    let fixture = Fixture::new();
    let ran = fixture.run("export A=5; cd /; echo last words; exit 3").await;
    assert_eq!(ran.exit_code, Some(3));
    assert!(ran.output.starts_with("last words\n"), "{}", ran.output);
    assert!(ran.note.unwrap().contains("the next command gets a new one"));
    assert_eq!(ran.cwd_after, fixture.project());
    assert!(!fixture.shell.is_alive());
    let ran = fixture.run("echo \"[$A]\"; pwd").await;
    assert_eq!(ran.output, format!("[]\n{}\n", fixture.project().display()));
}

#[tokio::test]
async fn all_output_before_the_shell_leaves_is_seen() {
    let fixture = Fixture::new();
    for _ in 0..5 {
        let ran = fixture.run("seq 1 3000; exit 0").await;
        assert!(ran.output.contains("\n3000\n"), "the output ends with {:?}", ran.output.lines().last());
    }
}

#[tokio::test]
async fn a_shell_that_is_killed_is_replaced() {
    let fixture = Fixture::new();
    let ran = fixture.run("echo before; kill -9 $$").await;
    assert_eq!((ran.exit_code, ran.output.as_str()), (None, "before\n"));
    assert!(ran.note.is_some());
    assert_eq!(fixture.run("echo after").await.output, "after\n");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_stopped_with_all_it_started() {
    let fixture = Fixture::new();
    let ran = fixture
        .run_with(
            // A child that does not mind being interrupted, one in a session of its own, and one that lost its parent.
            "export KEPT=1; sh -c 'trap \"\" INT TERM; sleep 1000 & echo $!; \
             setsid sh -c \"echo \\$\\$; sleep 1000\" & (setsid sleep 1000 & echo $!); wait; sleep 1000'; echo not reached",
            RunOptions { timeout: 3 * MIN_TIMEOUT, ..RunOptions::default() },
        )
        .await;
    assert!(ran.timed_out && !ran.cancelled);
    assert_eq!(ran.exit_code, None);
    assert!(!ran.output.contains("not reached"));
    assert!(ran.note.as_ref().unwrap().contains("its 3 s were over"), "{:?}", ran.note);
    let pids: Vec<&str> = ran.output.lines().filter(|line| line.parse::<i32>().is_ok()).collect();
    assert_eq!(pids.len(), 3, "{}", ran.output);
    for pid in pids {
        assert!(!lives(pid), "process {pid} was left behind");
    }
    assert_eq!(fixture.run("echo $KEPT").await.output, "1\n", "the shell goes on");
}

#[tokio::test]
async fn a_loop_that_never_ends_can_be_stopped() {
    for program in [None, Some("/bin/sh")] {
        for command in
            ["while :; do :; done", "while :; do sleep 100; done", "while :; do sh -c 'trap \"\" INT; sleep 100'; done"]
        {
            let fixture = Fixture::with(program);
            let ran = fixture.run_with(command, RunOptions { timeout: MIN_TIMEOUT, ..RunOptions::default() }).await;
            assert!(ran.timed_out, "{command}");
            assert!(ran.note.unwrap().contains("The shell goes on"), "{command} in {program:?}");
            assert_eq!(fixture.run("echo on").await.output, "on\n");
        }
    }
}

#[tokio::test]
async fn a_shell_that_does_not_listen_is_replaced() {
    let fixture = Fixture::new();
    let ran = fixture
        .run_with(
            "trap '' INT TERM; echo $$; while :; do :; done",
            RunOptions { timeout: MIN_TIMEOUT, ..RunOptions::default() },
        )
        .await;
    assert!(ran.timed_out);
    assert!(ran.note.unwrap().contains("The shell ended too"));
    assert!(!lives(&ran.output));
    assert_eq!(fixture.run("echo on").await.output, "on\n");
}

#[tokio::test]
async fn jobs_of_earlier_commands_outlive_a_timeout() {
    let fixture = Fixture::new();
    let job = fixture.run("sleep 1000 & echo pid $!").await.output;
    let pid = job.lines().find_map(|line| line.strip_prefix("pid ")).unwrap().to_owned();
    // Processes are dated in hundredths of a second.
    fixture.run("sleep 0.05").await;
    let ran = fixture.run_with("sleep 1000", RunOptions { timeout: MIN_TIMEOUT, ..RunOptions::default() }).await;
    assert!(ran.timed_out);
    assert!(lives(&pid));
    fixture.shell.kill().await;
    assert!(!lives(&pid), "ending the shell ends its jobs");
}

#[tokio::test]
async fn a_cancelled_command_ends_soon() {
    let fixture = Fixture::new();
    let cancel = CancellationToken::new();
    let options = RunOptions { timeout: LONG, cancel: cancel.clone(), ..RunOptions::default() };
    let task = fixture.start("echo ready; sleep 1000", options, "ready").await;
    let asked = Instant::now();
    cancel.cancel();
    let ran = task.await.unwrap();
    assert!(asked.elapsed() < Duration::from_secs(10), "it took {:?}", asked.elapsed());
    assert!(ran.cancelled && !ran.timed_out);
    assert!(ran.output.starts_with("ready\n"));
}

#[tokio::test]
async fn the_user_can_stop_a_command() {
    let fixture = Fixture::new();
    let task =
        fixture.start("echo ready; sleep 1000", RunOptions { timeout: LONG, ..RunOptions::default() }, "ready").await;
    fixture.shell.kill().await;
    let ran = task.await.unwrap();
    assert!(ran.cancelled);
    assert!(ran.note.unwrap().contains("The user stopped"));
}

#[tokio::test]
async fn the_user_can_answer_a_question() {
    let fixture = Fixture::new();
    let command = "printf 'name? '; read name; echo \"hello $name\"";
    let task = fixture.start(command, RunOptions { timeout: LONG, ..RunOptions::default() }, "name? ").await;
    fixture.shell.write(b"Ada\n").unwrap();
    let ran = task.await.unwrap();
    assert_eq!(ran.output, "name? Ada\nhello Ada\n");
}

#[tokio::test]
async fn the_user_can_type_control_c() {
    // The job itself says when it is in the foreground.
    let command = "sh -c 'echo ready; exec sleep 1000'; echo not reached";
    for program in [None, Some("/bin/sh")] {
        let fixture = Fixture::with(program);
        let options = RunOptions { timeout: LONG, ..RunOptions::default() };
        let task = fixture.start(command, options, "ready").await;
        fixture.shell.write(b"\x03").unwrap();
        let ran = task.await.unwrap();
        assert_eq!(ran.exit_code, Some(130));
        assert!(!ran.output.contains("not reached"));
        assert_eq!(fixture.run("echo on").await.output, "on\n");
    }
}

#[tokio::test]
async fn what_was_typed_and_not_read_does_not_reach_the_next_command() {
    let fixture = Fixture::new();
    let options = RunOptions { timeout: LONG, ..RunOptions::default() };
    let task = fixture.start("stty -echo; echo ready; read first; echo got $first", options, "ready").await;
    fixture.shell.write(b"one\nrm -rf two\n").unwrap();
    assert_eq!(task.await.unwrap().output, "ready\ngot one\n");
    let ran = fixture.run("read -t 0.2 x; echo \"[$x]\"; stty -a | grep -o '.echo '").await;
    assert_eq!(ran.output, "[]\n echo \n", "the terminal's settings are put back too");
}

#[tokio::test]
async fn typing_when_nothing_runs_is_refused() {
    let fixture = Fixture::new();
    assert!(matches!(fixture.shell.write(b"x"), Err(ShellError::Idle)));
    fixture.run("true").await;
    assert!(matches!(fixture.shell.write(b"x"), Err(ShellError::Idle)));
}

#[tokio::test]
async fn a_second_command_is_refused_while_one_runs() {
    let fixture = Fixture::new();
    let options = RunOptions { timeout: LONG, ..RunOptions::default() };
    let task = fixture.start("echo ready; read x", options, "ready").await;
    let refused = fixture.shell.run(&ToolCallId::from("call"), "echo second", RunOptions::default()).await;
    assert!(matches!(refused, Err(ShellError::Busy { command }) if command == "echo ready; read x"));
    fixture.shell.write(b"\n").unwrap();
    assert_eq!(task.await.unwrap().exit_code, Some(0));
}

#[tokio::test]
async fn a_folder_given_for_one_command_does_not_stay() {
    let fixture = Fixture::new();
    let other = fixture.project().join("it's other");
    std::fs::create_dir(&other).unwrap();
    let options = RunOptions { cwd: Some(other.clone()), timeout: LONG, ..RunOptions::default() };
    let ran = fixture.run_with("pwd; cd /", options.clone()).await;
    assert_eq!(ran.output, format!("{}\n", other.display()));
    assert_eq!(ran.cwd_after, fixture.project());
    assert_eq!(fixture.run("pwd").await.output, format!("{}\n", fixture.project().display()));

    let options = RunOptions { cwd: Some(other.join("nothing")), ..options };
    let refused = fixture.shell.run(&ToolCallId::from("call"), "pwd", options).await;
    assert!(matches!(refused, Err(ShellError::NoSuchFolder(_))));
}

#[tokio::test]
async fn marks_are_never_shown() {
    let fixture = Fixture::new();
    fixture.run("printf 'no newline'").await;
    fixture.run("echo \"$(seq 1 2000)\"").await;
    fixture.run("printf '\\033'").await;
    fixture.run("exit 1").await;
    fixture.run("echo end").await;
    let shown = String::from_utf8_lossy(&fixture.shell.spool().read_from(0, 1 << 20).1).into_owned();
    assert!(!shown.contains("azimuth") && !shown.contains("\x1b_"), "{shown:?}");
    assert!(shown.starts_with("no newline1\r\n2\r\n"), "{shown:?}");
    assert!(shown.ends_with("end\r\n"), "{shown:?}");
}

#[tokio::test]
async fn a_session_hears_where_a_commands_output_is() {
    let fixture = Fixture::new();
    let ran = fixture.run("echo one; (exit 2)").await;
    assert_eq!(fixture.shell.spool().read_from(ran.start_offset, 100).1, b"one\r\n");
    assert_eq!(ran.end_offset - ran.start_offset, 5);
    let project = fixture.project();
    assert_eq!(
        *fixture.log.0.lock().unwrap(),
        [
            format!("call started `echo one; (exit 2)` in {} at {}", project.display(), ran.start_offset),
            format!("call ended at {} with Some(2)", ran.end_offset),
        ]
    );
}

#[tokio::test]
async fn a_hundred_megabytes_of_output_stay_bounded() {
    let fixture = Fixture::new();
    // Two lines take turns, since one that comes again and again would be folded.
    let line = "all work and no play makes a dull boy of everybody who has nothing else to do ".repeat(3);
    let command = format!("echo first; yes $'{line}\\nand no end of it' | head -c 100000000; echo; echo last");
    let ran = fixture.run(&command).await;
    assert_eq!(ran.exit_code, Some(0));
    assert!(ran.output.len() < 40_000, "{} bytes for the model", ran.output.len());
    assert!(ran.output.starts_with("first\n") && ran.output.ends_with("\nlast\n"));
    assert!(ran.output.contains("bytes left out here"));
    assert!(ran.end_offset - ran.start_offset >= 100_000_000);
    let kept: u64 = std::fs::read_dir(fixture.folder.path().join("private"))
        .unwrap()
        .map(|f| f.unwrap().metadata().unwrap().len())
        .sum();
    assert!(kept < 9 << 20, "{kept} bytes on disk");
    let mut read = Vec::new();
    let lost = fixture.shell.printed(ran.start_offset, ran.end_offset, &mut read).unwrap();
    assert!(lost > 90_000_000 && lost + (4 << 20) <= ran.end_offset - ran.start_offset, "{lost} bytes are lost");
    assert!(read.ends_with(b"\nlast\n") && read.len() > 4 << 20, "{} bytes", read.len());
}

#[tokio::test]
async fn output_that_is_no_text_is_kept_as_it_is_for_views() {
    let fixture = Fixture::new();
    let ran = fixture.run("stty -opost; printf '\\000\\377\\033[31m\\200\\n'").await;
    let bytes = fixture.shell.spool().read_from(ran.start_offset, 100).1;
    assert_eq!(bytes, b"\0\xff\x1b[31m\x80\n");
    assert_eq!(ran.output, "\u{fffd}\u{fffd}\n");
}

#[tokio::test]
async fn nothing_outlives_the_shell() {
    let fixture = Fixture::new();
    let ran = fixture
        .run("sleep 1000 & echo pid $!; (setsid sleep 1000 & echo pid $!); nohup sleep 1000 >/dev/null 2>&1 & echo pid $!; echo pid $$")
        .await;
    let pids: Vec<String> =
        ran.output.lines().filter_map(|line| line.strip_prefix("pid ")).map(str::to_owned).collect();
    assert_eq!(pids.len(), 4, "{}", ran.output);
    drop(fixture.shell);
    for pid in pids {
        assert!(!lives(&pid), "process {pid} was left behind");
    }
}

#[tokio::test]
async fn a_command_nobody_waits_for_is_killed() {
    let fixture = Fixture::new();
    let options = RunOptions { timeout: LONG, ..RunOptions::default() };
    let task = fixture.start("echo pid $$; sleep 1000", options, "\n").await;
    let shown = String::from_utf8(fixture.shell.spool().read_from(0, 100).1).unwrap();
    while fixture.log.0.lock().unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.is_err());
    fixture.shell.at_rest().await;
    assert!(!lives(shown.trim().strip_prefix("pid ").unwrap()));
    assert!(fixture.log.0.lock().unwrap().last().unwrap().ends_with("with None"));
    assert_eq!(fixture.run("echo on").await.output, "on\n");
}

#[tokio::test]
async fn secrets_and_the_pager_are_no_trouble() {
    let fixture = Fixture::new();
    let ran =
        fixture.run("env | grep -c '_API_KEY='; echo $PAGER $GIT_PAGER $TERM [$HISTFILE] [$PS1] [$BASH_ENV]").await;
    assert_eq!(ran.output, "0\ncat cat xterm-256color [] [] []\n");
}

#[tokio::test]
async fn the_terminal_has_the_size_of_its_view() {
    let fixture = Fixture::new();
    assert_eq!(fixture.run("stty size").await.output, "30 120\n");
    fixture.shell.resize(TerminalSize { columns: 77, rows: 11 });
    assert_eq!(fixture.run("stty size").await.output, "11 77\n");
    fixture.run("exit").await;
    assert_eq!(fixture.run("stty size").await.output, "11 77\n");
}

#[tokio::test]
async fn a_home_that_is_not_set_does_no_harm() {
    let fixture = Fixture::new();
    assert_eq!(fixture.run("unset HOME; cd; echo on").await.output.lines().last(), Some("on"));
    assert_eq!(fixture.run("env -u HOME bash -c 'echo inner'").await.output, "inner\n");
}

#[tokio::test]
async fn twenty_shells_run_side_by_side() {
    let done = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..20)
        .map(|n| {
            let done = Arc::clone(&done);
            tokio::spawn(async move {
                let fixture = Fixture::new();
                for round in 0..5 {
                    let ran = fixture.run(&format!("echo {n} {round}")).await;
                    assert_eq!(ran.output, format!("{n} {round}\n"));
                }
                done.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(done.load(Ordering::Relaxed), 20);
}

#[tokio::test]
async fn a_program_that_handles_control_c_is_given_it_once() {
    let fixture = Fixture::new();
    let command = r#"sh -c 'trap "echo caught" INT; echo ready; for i in 1 2 3 4 5 6 7 8; do sleep 0.1; done; exit 7'"#;
    let task = fixture.start(command, RunOptions { timeout: LONG, ..RunOptions::default() }, "ready").await;
    fixture.shell.write(b"\x03").unwrap();
    let ran = task.await.unwrap();
    assert_eq!((ran.exit_code, ran.output.matches("caught").count()), (Some(7), 1), "{}", ran.output);
}

#[tokio::test]
async fn a_program_in_raw_mode_reads_control_c_as_a_byte() {
    let fixture = Fixture::new();
    let command = "stty raw -echo; echo ready; dd bs=1 count=2 2>/dev/null | od -An -tx1";
    let task = fixture.start(command, RunOptions { timeout: LONG, ..RunOptions::default() }, "ready").await;
    fixture.shell.write(b"\x03").unwrap();
    fixture.shell.write(b"x").unwrap();
    let ran = task.await.unwrap();
    assert!(ran.output.contains("03 78"), "{}", ran.output);
    assert_eq!(ran.exit_code, Some(0));
}

#[tokio::test]
async fn what_is_typed_before_a_command_has_started_is_for_the_command() {
    for program in [None, Some("/bin/sh")] {
        let fixture = Fixture::with(program);
        // A new shell is started here, and there is one already the next time.
        for _ in 0..2 {
            let (ran, typed) =
                tokio::join!(fixture.run("read name; echo hello $name"), async { fixture.shell.write(b"Ada\n") });
            typed.unwrap();
            assert!(ran.output.ends_with("hello Ada\n"), "{}", ran.output);
            let (ran, typed) = tokio::join!(fixture.run("sleep 1000"), async { fixture.shell.write(b"\x03") });
            typed.unwrap();
            assert_eq!(ran.exit_code, Some(130));
        }
    }
}

#[tokio::test]
async fn the_shell_is_back_in_its_folder_after_control_c() {
    for program in [None, Some("/bin/sh")] {
        let fixture = Fixture::with(program);
        let options = RunOptions { cwd: Some("/".into()), timeout: LONG, ..RunOptions::default() };
        let task = fixture.start("pwd; echo ready; sleep 1000", options, "ready").await;
        fixture.shell.write(b"\x03\x03").unwrap();
        assert!(task.await.unwrap().output.starts_with("/\n"));
        assert_eq!(fixture.run("pwd").await.output, format!("{}\n", fixture.project().display()));
    }
}

/// Types Ctrl-C at many instants into a command that goes from builtins to programs and back, and checks that each one
/// ends the command and leaves a shell that works. Instants are spread over the command's first milliseconds.
async fn control_c_at_instants(instants: u32, program: Option<&str>) {
    let fixture = Fixture::with(program);
    fixture.run("mark=kept").await;
    let command = "echo ready; for i in 1 2 3 4 5 6 7 8 9 10; do :; /bin/true; done; sleep 1000; echo not reached";
    for instant in 0..instants {
        let options = RunOptions { timeout: Duration::from_secs(20), ..RunOptions::default() };
        let task = fixture.start(command, options, "ready").await;
        let typed = Instant::now();
        while typed.elapsed() < Duration::from_micros(u64::from(instant * 577 % 12_000)) {
            tokio::task::yield_now().await;
        }
        fixture.shell.write(b"\x03").unwrap();
        let ran = task.await.unwrap();
        assert_eq!((ran.exit_code, ran.note.as_deref()), (Some(130), None), "instant {instant}: {}", ran.output);
        assert!(!ran.output.contains("not reached"), "instant {instant}");
        let ran = fixture.run("echo $mark").await;
        assert_eq!(ran.output, "kept\n", "instant {instant}");
        assert!(ran.duration < Duration::from_secs(5), "instant {instant}: the next command took {:?}", ran.duration);
    }
}

#[tokio::test]
async fn a_typed_control_c_ends_the_command_at_any_instant() {
    // The environment asks for a longer test.
    let instants = std::env::var("AZIMUTH_TEST_INSTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(40);
    for program in [None, Some("/bin/sh")] {
        control_c_at_instants(instants, program).await;
    }
}

#[tokio::test]
async fn a_size_given_while_the_shell_starts_holds_for_its_first_command() {
    let fixture = Fixture::new();
    // The run is polled first, and waits for the shell's start.
    let (ran, ()) = tokio::join!(fixture.run("stty size"), async {
        assert!(!fixture.shell.is_alive());
        fixture.shell.resize(TerminalSize { columns: 77, rows: 33 });
    });
    assert_eq!(ran.output, "33 77\n");
    assert_eq!(fixture.run("stty size").await.output, "33 77\n");
}

#[tokio::test]
async fn a_shell_of_a_workspace_that_is_no_longer_trusted_makes_way_before_the_next_command() {
    let folder = tempfile::tempdir().unwrap();
    let cwd = folder.path().canonicalize().unwrap();
    std::fs::create_dir(cwd.join("sub")).unwrap();
    let trust = Trust { trusted: Arc::new(AtomicBool::new(true)), folders: vec![cwd.clone()], written: vec![] };
    let (trusted, confinement) = (Arc::clone(&trust.trusted), Confinement::default());
    let config = ShellConfig { cwd, folder: folder.path().to_owned(), pass: vec![], program: None, confinement, trust };
    let shell = Shell::new(config, Arc::new(())).unwrap();
    let run = |command: &'static str| {
        let shell = &shell;
        async move { shell.run(&ToolCallId::from("call"), command, RunOptions::default()).await.unwrap() }
    };
    run("cd sub; WORD=known").await;
    let (during, ()) = tokio::join!(run("echo $WORD; sleep 0.5"), async {
        while shell.running().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        trusted.store(false, Ordering::Relaxed);
    });
    assert_eq!((during.output.as_str(), during.note), ("known\n", None));
    assert!(shell.state().is_lax && shell.hand_over().await.is_none(), "its settings of git are for nobody");
    let after = run("echo \"[$WORD] ${PWD##*/}\"").await;
    assert_eq!(after.output, "[] sub\n");
    assert!(after.note.unwrap().contains("not trusted any more"));
    assert!(!shell.state().is_lax);
    assert_eq!(run("true").await.note, None);

    // One that does nothing does so at once, in its folder; the model hears of it.
    shell.make_way().await;
    assert!(shell.is_alive() && shell.take_news().is_empty(), "it has no reason to");
    trusted.store(true, Ordering::Relaxed);
    shell.kill().await;
    run("cd sub; WORD=known").await;
    trusted.store(false, Ordering::Relaxed);
    shell.make_way().await;
    assert!(!shell.is_alive());
    assert_eq!(shell.cwd().file_name().unwrap(), "sub", "commands are judged for the folder that it was in");
    assert!(shell.take_news().join("").contains("not trusted any more"));
    let after = run("echo \"[$WORD] ${PWD##*/}\"").await;
    assert_eq!((after.output.as_str(), after.note), ("[] sub\n", None));
}

#[tokio::test]
async fn the_users_prompt_in_a_shell_that_makes_way_goes_on_in_a_new_one_and_it_is_said() {
    let fixture = Fixture::new();
    let trusted = &fixture.shell.config.trust.trusted;
    trusted.store(true, Ordering::Relaxed);
    std::fs::create_dir(fixture.project().join("sub")).unwrap();
    fixture.run("cd sub; WORD=known").await;
    fixture.shell.take(true);
    fixture.printed(0, "$ ").await;
    trusted.store(false, Ordering::Relaxed);
    let from = fixture.shell.spool().end();
    fixture.shell.make_way().await;
    fixture.printed(from, "$ ").await;
    assert!(fixture.shell.status().borrow().taken, "it is still the user's");
    fixture.shell.write(b"echo \"[$WORD] ${PWD##*/}\"\r").unwrap();
    fixture.printed(from, "[] sub\r\n").await;
    let said = fixture.log.0.lock().unwrap().iter().filter(|line| line.contains("your prompt is one in a new")).count();
    assert_eq!(said, 1);
    assert!(fixture.shell.take_news().join("").contains("not trusted any more"));
}
