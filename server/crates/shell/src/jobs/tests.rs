use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use process::{Confinement, processes};
use protocol::terminal::TerminalSignal;

use super::*;
use crate::{RunOptions, StartFiles, Trust};

/// How long anything is waited for.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

struct World {
    folder: tempfile::TempDir,
    trusted: Arc<AtomicBool>,
    shell: Shell,
    jobs: Jobs,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let trust = Trust::default();
        let trusted = Arc::clone(&trust.trusted);
        let config = ShellConfig {
            cwd: folder.path().canonicalize().unwrap(),
            folder: folder.path().to_owned(),
            pass: Vec::new(),
            program: None,
            confinement: Confinement::default(),
            trust,
        };
        let shell = Shell::new(config.clone(), Arc::new(())).unwrap();
        Self { folder, trusted, shell, jobs: Jobs::new(config, 1, Box::new(|_| Arc::new(()))) }
    }

    async fn start(&self, command: &str) -> Arc<Job> {
        self.jobs.start(&self.shell, &"call".into(), command, None).await.unwrap()
    }

    async fn start_in_vain(&self, command: &str) -> JobError {
        self.jobs.start(&self.shell, &"call".into(), command, None).await.map(drop).unwrap_err()
    }

    async fn run(&self, command: &str) -> String {
        self.shell.run(&"call".into(), command, RunOptions::default()).await.unwrap().output
    }
}

async fn until(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "waited in vain for {what}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

async fn status(job: &Job, what: &str, fits: impl Fn(&JobStatus) -> bool) -> JobStatus {
    let mut status = job.watch();
    let fitting = tokio::time::timeout(PATIENCE, status.wait_for(fits)).await;
    fitting.unwrap_or_else(|_| panic!("waited in vain for {what}: {:?}", job.shell().read_on(0))).unwrap().clone()
}

/// Waits for the end of a job that prints much, for as long as it prints.
async fn ended(job: &Job) {
    let mut status = job.watch();
    let mut printed = job.shell().spool().end();
    loop {
        if let Ok(ended) = tokio::time::timeout(PATIENCE, status.wait_for(|status| status.exit_code.is_some())).await {
            assert_eq!(ended.unwrap().exit_code, Some(0));
            return;
        }
        let before = std::mem::replace(&mut printed, job.shell().spool().end());
        assert!(printed > before, "it prints no more, and does not end");
    }
}

async fn printed(job: &Job, text: &str) {
    until(text, || job.shell().read_on(0).text.contains(text)).await;
}

fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[tokio::test]
async fn a_job_runs_beside_the_shell_and_its_exit_code_and_output_stay() {
    let world = World::new();
    let job = world.start("echo begun; read -r line; echo got $line; exit_with() { return 3; }; exit_with").await;
    assert_eq!((job.id().as_str(), job.is_alive()), ("job-1", true));
    assert_eq!(world.run("echo meanwhile").await, "meanwhile\n");
    printed(&job, "begun").await;
    let (_, begun) = job.shell().in_flight().unwrap();
    assert_eq!(begun, job.status().start_offset);
    job.shell().write(b"it\n").unwrap();
    let ended = status(&job, "its end", |status| status.ended_at.is_some()).await;
    assert_eq!(ended.exit_code, Some(3));
    assert!(job.shell().read_on(0).text.ends_with("got it\n"));
    until("the end of its shell", || !job.shell().is_alive()).await;
    assert!(matches!(job.shell().write(b"x"), Err(ShellError::Idle)));
    assert_eq!(world.jobs.all().len(), 1, "it stays in the list");
}

#[tokio::test]
async fn a_job_begins_as_the_shell_is_then() {
    let world = World::new();
    std::fs::create_dir(world.folder.path().join("in here")).unwrap();
    world.run("cd 'in here'; export WORD='two words'; not_exported=1; greet() { echo \"hello $1\"; }; alias hi='greet you'").await;
    let job = world.start("hi; echo \"$WORD|$not_exported|$(basename \"$PWD\")\"; pwd >&2; sh -c 'echo $WORD'").await;
    status(&job, "its end", |status| status.exit_code == Some(0)).await;
    let text = job.shell().read_on(0).text;
    assert!(text.contains("hello you\n") && text.contains("two words||in here\n"), "{text}");
    // Changes that the job makes to its own shell are its own.
    world.start("cd /; WORD=other; export WORD").await;
    assert_eq!(world.run("echo $WORD; basename \"$PWD\"").await, "two words\nin here\n");
    let left = std::fs::read_dir(std::env::temp_dir()).unwrap().filter(|entry| {
        let path = entry.as_ref().unwrap().path();
        let is_ours = path.file_name().unwrap().to_string_lossy().starts_with("azimuth-") && path.is_file();
        is_ours && std::fs::read_to_string(&path).is_ok_and(|text| text.contains("two words"))
    });
    assert_eq!(left.count(), 0, "what was handed over is removed");
}

#[tokio::test]
async fn a_job_can_start_while_the_shell_is_busy() {
    let world = World::new();
    world.run("mkdir sub; cd sub; export WORD=known").await;
    let call = ToolCallId::from("busy");
    let busy = world.shell.run(&call, "sleep 600", RunOptions::default());
    let starting = async {
        until("the command", || world.shell.in_flight().is_some()).await;
        let job = world.start("basename \"$PWD\"; echo \"[$WORD]\"").await;
        status(&job, "its end", |status| status.ended_at.is_some()).await;
        world.shell.kill().await;
        job
    };
    let (job, ran) = tokio::join!(starting, busy);
    assert!(ran.unwrap().cancelled);
    // Its folder is known; what only the shell itself could tell is not.
    assert_eq!((job.shell().read_on(0).text.as_str(), job.is_without()), ("sub\n[]\n", true));
}

#[tokio::test]
async fn signals_reach_a_job_and_a_stopped_one_goes_on() {
    let world = World::new();
    let job = world.start("trap 'echo hung up' HUP; for n in $(seq 10000); do echo tick $n; sleep 0.02; done").await;
    printed(&job, "tick 3\n").await;
    let send = |signal| job.shell().signal(signal).unwrap();
    send(TerminalSignal::Hangup).await;
    printed(&job, "hung up").await;
    assert!(job.is_alive());
    send(TerminalSignal::Interrupt).await;
    assert_eq!(status(&job, "its end", |status| status.ended_at.is_some()).await.exit_code, Some(130));
    assert!(job.shell().signal(TerminalSignal::Interrupt).is_err());

    let job = world
        .start("exec 3>&1; python3 -uc 'import time\nfor n in range(10**6): print(\"tock\", n); time.sleep(0.02)'")
        .await;
    printed(&job, "tock 3\n").await;
    job.shell().signal(TerminalSignal::Stop).unwrap().await;
    let is_stopped = || {
        let end = job.shell().spool().end();
        std::thread::sleep(std::time::Duration::from_millis(100));
        job.shell().spool().end() == end
    };
    until("it to stop", is_stopped).await;
    assert!(job.is_alive(), "one that is stopped has not ended");
    let end = job.shell().spool().end();
    job.shell().signal(TerminalSignal::Continue).unwrap().await;
    until("it to go on", || job.shell().spool().end() > end).await;
    job.shell().signal(TerminalSignal::Kill).unwrap().await;
    status(&job, "its end", |status| status.ended_at.is_some()).await;
}

#[tokio::test]
async fn what_a_job_leaves_behind_ends_with_it() {
    let world = World::new();
    let job =
        world.start("(setsid sleep 601 & echo $! >one); nohup sleep 602 >/dev/null 2>&1 & echo $! >two; cat").await;
    let pids =
        || ["one", "two"].map(|name| std::fs::read_to_string(world.folder.path().join(name)).unwrap_or_default());
    until("both to run", || pids().iter().all(|pid| !pid.trim().is_empty() && lives(pid.trim()))).await;
    job.kill().await;
    assert!(!job.is_alive() && job.status().exit_code.is_none());
    assert!(pids().iter().all(|pid| !lives(pid.trim())), "{:?}", pids());
    assert!(job.shell().ports().is_empty());
}

#[tokio::test]
async fn a_server_is_seen_to_be_up_by_its_port_and_by_its_line() {
    let world = World::new();
    let job = world.start("python3 -um http.server --bind 127.0.0.1 0").await;
    let ready = status(&job, "its port and its line", |status| {
        status.ready.as_ref().is_some_and(|ready| ready.line.is_some() && !ready.ports.is_empty())
    });
    let ready = ready.await.ready.unwrap();
    let (port, line) = (ready.ports[0], ready.line.unwrap());
    assert!(line.starts_with("Serving HTTP on 127.0.0.1 port"), "{line}");
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    // One that says nothing.
    let quiet = world
        .start("exec python3 -c 'import socket,time; s=socket.create_server((\"127.0.0.1\",0)); time.sleep(600)'")
        .await;
    let ready = status(&quiet, "its port", |status| status.ready.is_some()).await.ready.unwrap();
    assert_eq!((ready.line, ready.ports.len()), (None, 1));
    assert_ne!(ready.ports[0], port, "each has its own");
    job.kill().await;
    assert!(job.status().ready.is_some(), "what it was stays known");
}

#[tokio::test]
async fn a_server_that_says_so_just_after_it_listens_is_up_with_its_line() {
    let world = World::new();
    let command = "exec python3 -uc 'import socket,time; s=socket.create_server((\"127.0.0.1\",0)); time.sleep(0.05); \
                   print(\"Listening on port\", s.getsockname()[1]); time.sleep(600)'";
    let job = world.start(command).await;
    let ready = status(&job, "what shows that it is up", |status| status.ready.is_some()).await.ready.unwrap();
    assert!(ready.line.is_some_and(|line| line.starts_with("Listening on port")), "{:?}", ready.ports);
    job.kill().await;
}

#[tokio::test]
async fn no_more_than_16_jobs_run_at_once_and_all_end_together() {
    let world = World::new();
    let mut jobs = Vec::new();
    for _ in 0..MOST_LIVE {
        jobs.push(world.start("sleep 603").await);
    }
    let refused = world.jobs.start(&world.shell, &"call".into(), "sleep 603", None).await;
    assert!(refused.err().unwrap().to_string().contains("16 jobs run already"));
    jobs[3].kill().await;
    jobs.push(world.start("sleep 604").await);
    assert_eq!(jobs.last().unwrap().id().as_str(), "job-17");
    let began = Instant::now();
    world.jobs.end().await;
    assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    assert!(jobs.iter().all(|job| !job.is_alive() && !job.shell().is_alive()));
    assert!(matches!(world.jobs.start(&world.shell, &"call".into(), "true", None).await, Err(JobError::Ending)));
}

#[tokio::test]
async fn only_the_last_32_jobs_that_ended_are_kept() {
    let world = World::new();
    let long = world.start("sleep 605").await;
    for _ in 0..MOST_ENDED + 3 {
        let job = world.start("true").await;
        job.over.cancelled().await;
    }
    world.start("true").await;
    let kept: Vec<_> = world.jobs.all().iter().map(|job| job.id().as_str().to_owned()).collect();
    assert!(kept.contains(&long.id().as_str().to_owned()) && !kept.contains(&"job-2".to_owned()), "{kept:?}");
    assert!(kept.len() <= MOST_ENDED + 2, "{kept:?}");
    until("its folder to go", || !world.folder.path().join("jobs/job-2").exists()).await;
    assert!(world.folder.path().join("jobs/job-1").exists());
    // As a later process finds them.
    forget_earlier(world.folder.path(), 40);
    assert!(!world.folder.path().join("jobs/job-8").exists() && world.folder.path().join("jobs/job-9").exists());
}

#[tokio::test]
async fn a_job_that_cannot_begin_is_none() {
    let world = World::new();
    let start = |command: &'static str, cwd: Option<PathBuf>| {
        let call = ToolCallId::from("call");
        let (jobs, shell) = (&world.jobs, &world.shell);
        async move { jobs.start(shell, &call, command, cwd).await.err().unwrap().to_string() }
    };
    assert!(start(" ", None).await.contains("it is empty"));
    assert!(start("ls", Some("/no/such/folder".into())).await.contains("is no folder"));
    assert!(world.jobs.all().is_empty());
}

#[tokio::test]
async fn jobs_end_when_nobody_holds_them_any_more() {
    let World { folder, shell, jobs, .. } = World::new();
    let job = jobs.start(&shell, &"call".into(), "sleep 606 & echo $! >pid; wait", None).await.unwrap();
    let pid = || std::fs::read_to_string(folder.path().join("pid")).unwrap_or_default().trim().to_owned();
    until("it to run", || !pid().is_empty() && lives(&pid())).await;
    drop(jobs);
    tokio::time::timeout(PATIENCE, job.over.cancelled()).await.unwrap();
    assert!(!lives(&pid()));
    assert!(processes::now() > 0);
}

#[tokio::test]
async fn of_20_megabytes_the_beginning_and_the_end_are_there_and_how_much_is_not() {
    let world = World::new();
    let job = world.start("echo the first line; seq -f '%0100.0f' 200000; echo the last line").await;
    ended(&job).await;
    let read = job.read_on(job.status().start_offset);
    assert!(
        read.text.starts_with("the first line\n000") && read.text.ends_with("the last line\n"),
        "{}",
        read.text.len()
    );
    assert!(read.text.contains("bytes are no longer kept") && read.text.contains("bytes left out here"));
    assert!(read.is_cut && read.missing > 10_000_000 && read.text.len() < 64 << 10, "{}", read.text.len());
    assert_eq!(read.end, job.shell().spool().end());
    // From within the beginning, and from later on.
    assert!(job.read_on(job.status().start_offset + 4).text.starts_with("first line\n"));
    assert!(job.read_on(read.end - 15).text.ends_with("last line\n"));
}

#[tokio::test]
async fn a_job_whose_terminal_is_taken_ends_with_its_command() {
    let world = World::new();
    let job = world.start("read -r line; exit 4").await;
    job.shell().take(true);
    job.shell().write(b"done\n").unwrap();
    let over = tokio::time::timeout(PATIENCE, job.over.cancelled());
    over.await.expect("it ends though the user has its terminal");
    assert_eq!(job.status().exit_code, Some(4));
    assert!(!job.shell().status().borrow().taken && !job.shell().is_alive());
    job.shell().take(true);
    assert!(!job.shell().status().borrow().taken, "there is nothing left to take over");
    assert!(!job.shell().read_on(0).text.contains("azimuth:"), "a job's terminal has no prompt");
}

#[tokio::test]
async fn a_job_whose_terminal_is_taken_can_be_ended_by_the_user_and_with_the_session_but_not_by_the_model() {
    let world = World::new();
    let (one, two) = (world.start("sleep 1000").await, world.start("sleep 1000").await);
    for job in [&one, &two] {
        job.shell().take(true);
        assert!(matches!(job.kill_as_model().map(drop), Err(ShellError::Taken)));
        let signalled = job.shell().signal_as_model(TerminalSignal::Kill).map(drop);
        assert!(matches!(signalled, Err(ShellError::Taken)));
        assert!(job.is_alive());
    }
    tokio::time::timeout(PATIENCE, one.kill()).await.expect("the user's kill comes to an end");
    tokio::time::timeout(PATIENCE, world.jobs.end()).await.expect("the session's end does");
    assert!(!one.shell().is_alive() && !two.shell().is_alive());
    let three = world.start_in_vain("echo no").await;
    assert!(matches!(three, JobError::Ending), "{three:?}");
}

#[tokio::test]
async fn jobs_and_the_shell_outside_begin_as_the_users_own_shells_do() {
    let world = World::new();
    let files = || Arc::new(StartFiles::making("FROM_START", "files"));
    let config = world.jobs.config.clone();
    let jobs = Jobs::new(config.clone(), 1, Box::new(|_| Arc::new(()))).with_start_files(files());
    let job = jobs.start(&world.shell, &"call".into(), "echo \"[$FROM_START]\"", None).await.unwrap();
    status(&job, "its end", |status| status.ended_at.is_some()).await;
    assert_eq!((job.shell().read_on(0).text.as_str(), job.is_without()), ("[files]\n", false));
    let outside = crate::Outside::new(&config, Arc::new(())).with_start_files(files());
    let ran = outside.open().unwrap().run(&"call".into(), "echo \"[$FROM_START]\"", RunOptions::default()).await;
    assert_eq!(ran.unwrap().output, "[files]\n");
    outside.end().await;
}

/// Counts the words to the user.
#[derive(Default)]
struct Words(std::sync::atomic::AtomicUsize);

impl Observer for Words {
    fn started(&self, _: &ToolCallId, _: &str, _: &Path, _: u64) {}
    fn ended(&self, _: &ToolCallId, _: u64, _: Option<i32>) {}

    fn said(&self, _: &str) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn that_start_files_fail_is_said_once_in_a_session_and_not_with_each_job() {
    let world = World::new();
    let (of_process, words) = (StartFiles::failing("they take too long"), Arc::new(Words::default()));
    for sessions in 1..=2 {
        let config = world.jobs.config.clone();
        let files = Arc::new(of_process.for_session(&config));
        let heard = Arc::clone(&words);
        let observe = move |_: &TerminalId| Arc::clone(&heard) as Arc<dyn Observer>;
        let first = sessions * 10;
        let jobs = Jobs::new(config.clone(), first, Box::new(observe)).with_start_files(Arc::clone(&files));
        for _ in 0..2 {
            let job = jobs.start(&world.shell, &"call".into(), "true", None).await.unwrap();
            status(&job, "its end", |status| status.ended_at.is_some()).await;
        }
        let observer = Arc::clone(&words) as Arc<dyn Observer>;
        let outside = crate::Outside::new(&config, observer).with_start_files(files);
        outside.open().unwrap().run(&"call".into(), "true", RunOptions::default()).await.unwrap();
        outside.end().await;
        let said = words.0.load(Ordering::Relaxed);
        assert_eq!(said, usize::try_from(sessions).unwrap());
    }
}

#[tokio::test]
async fn while_a_job_starts_the_shell_is_not_busy_and_what_the_user_types_waits_for_their_prompt() {
    let world = World::new();
    world.run("true").await;
    let idle = world.shell.idle().unwrap();
    assert_eq!(world.shell.running(), None);
    {
        let mut ran = std::pin::pin!(world.run("echo after"));
        let early = tokio::time::timeout(std::time::Duration::from_millis(100), &mut ran).await;
        assert!(early.is_err(), "it waits until the shell has said how it is");
        drop(idle);
        assert_eq!(ran.await, "after\n");
    }
    let shell = Arc::new(world.shell);
    let idle = shell.idle().unwrap();
    shell.take(true);
    shell.write(b"echo ty'p'ed\r").unwrap();
    drop(idle);
    until("the line to run", || shell.read_on(0).text.contains("typed\n")).await;
}

#[tokio::test]
async fn a_job_has_the_settings_of_git_that_hold_when_it_starts() {
    let world = World::new();
    world.trusted.store(false, Ordering::Relaxed);
    world.run("export WORD=handed-over").await;
    world.trusted.store(true, Ordering::Relaxed);
    let told = "echo \"$WORD $GIT_CONFIG_COUNT/$(env | grep -c GIT_CONFIG_KEY_) [$(git config core.hooksPath)] \
                [$GIT_NO_LAZY_FETCH] [$__azimuth]\"";
    assert!(world.run(told).await.contains("[/dev/null] [1] []"), "the shell keeps what it was started with");
    let job = world.start(told).await;
    printed(&job, "handed-over 2/2 [] [] []").await;
}
