//! Commands that wait for input, and the user's time with the terminal.

use protocol::terminal::{Certainty, TerminalSignal};

use super::*;

impl Fixture {
    fn status_now(&self) -> Status {
        self.shell.status().borrow().clone()
    }

    /// Waits until the status is as wanted.
    async fn until(&self, what: &str, fits: impl Fn(&Status) -> bool) -> Status {
        let mut status = self.shell.status();
        let found = tokio::time::timeout(LONG, status.wait_for(|status| fits(status))).await;
        found.unwrap_or_else(|_| panic!("it never was {what}: {:?}", self.status_now())).unwrap().clone()
    }

    /// Runs a command until it waits.
    async fn until_it_waits(&self, command: &str) -> Waits {
        let call = ToolCallId::from("call");
        match self.shell.run_until_it_waits(&call, command, RunOptions::default()).await.unwrap() {
            Outcome::Waits(waits) => waits,
            Outcome::Ended(ran) => panic!("it ended: {ran:?}"),
        }
    }

    /// Types as the model into what runs.
    fn answer(&self, bytes: &[u8]) -> Result<(), ShellError> {
        self.shell.answer(&self.shell.running().unwrap(), now(&self.shell, None), bytes)
    }

    /// Waits until something was recorded.
    async fn recorded(&self, entry: &str) {
        let heard = async {
            while !self.log.0.lock().unwrap().iter().any(|line| line == entry) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let heard = tokio::time::timeout(LONG, heard).await;
        heard.unwrap_or_else(|_| panic!("{entry} is not in {:?}", self.log.0.lock().unwrap()));
    }
}

/// The question, as it is looked at now.
fn now<'a>(shell: &Shell, seen: Option<&'a str>) -> Asked<'a> {
    Asked { typed: shell.typed(), seen }
}

fn certainty(status: &Status) -> Option<Certainty> {
    status.waiting.as_ref().map(|waiting| waiting.certainty)
}

#[tokio::test]
async fn what_reads_from_the_terminal_certainly_waits() {
    let commands = [
        ("printf 'name? '; read name; echo \"<$name>\"", "name? ", "x\n"),
        ("cat | sort", "", "\x04"),
        ("echo one; sh -c 'printf \"deeper: \"; head -n1'", "deeper: ", "x\n"),
        ("x=$(head -n1); echo \"<$x>\"", "", "x\n"),
        ("stty raw -echo; dd bs=1 count=1 of=/dev/null 2>/dev/null", "", "q"),
    ];
    for program in [None, Some("/bin/sh")] {
        let fixture = Fixture::with(program);
        for (command, prompt, answer) in commands {
            let waits = fixture.until_it_waits(command).await;
            let waiting = waits.status.waiting.unwrap();
            assert_eq!((waiting.certainty, waiting.prompt.as_str()), (Certainty::Certain, prompt), "{command}");
            assert!(!waiting.hidden, "{command}");
            fixture.shell.write(answer.as_bytes()).unwrap();
            fixture.shell.at_rest().await;
            assert_eq!(fixture.status_now(), Status::default(), "{command}");
        }
    }
}

#[tokio::test]
async fn what_polls_the_terminal_probably_waits() {
    let fixture = Fixture::new();
    let command = "python3 -c 'import select,sys; print(\"key?\", end=\" \", flush=True); \
                   select.select([sys.stdin], [], []); sys.stdin.readline()'";
    let task = fixture.start(command, RunOptions { timeout: LONG, ..RunOptions::default() }, "key? ").await;
    let status = fixture.until("probable", |status| status.waiting.is_some()).await;
    assert_eq!(certainty(&status), Some(Certainty::Probable));
    assert_eq!(status.waiting.unwrap().prompt, "key? ");
    fixture.shell.write(b"\n").unwrap();
    assert_eq!(task.await.unwrap().exit_code, Some(0));
}

#[tokio::test]
async fn what_works_or_sleeps_does_not_wait() {
    let fixture = Fixture::new();
    let commands = [
        "sleep 4",
        "sh -c 'sleep 4'",
        // It polls, but not the terminal.
        "python3 -c 'import select,os; r,w=os.pipe(); select.select([r],[],[],4)'",
        "python3 -c 'import select,os; r,w=os.pipe(); p=select.poll(); p.register(r); p.poll(4000)'",
        "python3 -c 'import select,os; r,w=os.pipe(); p=select.epoll(); p.register(r); p.poll(4)'",
    ];
    let tasks: Vec<_> = commands
        .into_iter()
        .map(|command| {
            let fixture = Fixture::new();
            tokio::spawn(async move {
                let mut status = fixture.shell.status();
                let ran = fixture.run(command).await;
                assert_eq!(ran.exit_code, Some(0), "{}", ran.output);
                assert!(!status.has_changed().unwrap(), "{command}: {:?}", status.borrow_and_update());
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    drop(fixture);
}

#[tokio::test]
async fn a_command_that_waits_goes_on_when_its_call_has_returned() {
    let fixture = Fixture::new();
    let waits = fixture.until_it_waits("echo begun; printf 'go on? '; read answer; echo \"so: $answer\"").await;
    assert_eq!(waits.output, "begun\ngo on? ");
    let flight = fixture.shell.running().unwrap();
    assert!(flight.command.starts_with("echo begun"), "{flight:?}");
    let refused = fixture.shell.run(&ToolCallId::from("second"), "echo second", RunOptions::default()).await;
    assert!(matches!(refused, Err(ShellError::Busy { .. })), "{refused:?}");
    fixture.answer(b"yes\n").unwrap();
    fixture.shell.at_rest().await;
    let end = fixture.shell.wait_for_more(waits.offset, LONG).await;
    assert_eq!(fixture.shell.read_on(waits.offset).text, "yes\nso: yes\n");
    assert_eq!(fixture.shell.running(), None);
    let news = fixture.shell.take_news();
    assert!(
        news.len() == 1 && news[0].contains("has ended with exit code 0") && news[0].ends_with("so: yes"),
        "{news:?}"
    );
    assert_eq!(fixture.shell.take_news(), Vec::<String>::new());
    fixture.recorded("Model typed `yes`").await;
    fixture.recorded(&format!("call ended at {end} with Some(0)")).await;
    assert_eq!(fixture.run("echo on").await.output, "on\n");
}

#[tokio::test]
async fn a_question_that_was_answered_is_not_asked_any_longer() {
    let (first, second) = ("Continue? [y/N] ", "Delete everything? [y/N] ");
    for (read, answer) in [("read -n1 -p", "y"), ("read -p", "y\n")] {
        let fixture = Fixture::new();
        let shell = &fixture.shell;
        let command = format!("{read} '{first}' a; {read} '{second}' b; echo \"<$a$b>\"");
        let waits = fixture.until_it_waits(&command).await;
        assert_eq!(waits.status.waiting.unwrap().prompt, first);
        let flight = shell.running().unwrap();
        let asked = now(shell, Some(first));
        shell.answer(&flight, asked, answer.as_bytes()).unwrap();
        assert_eq!(shell.waiting(), None, "{read}");
        let again = shell.answer(&flight, asked, answer.as_bytes());
        assert!(matches!(again, Err(ShellError::Another)), "{read}: {again:?}");
        let is_second =
            |status: &Status| status.waiting.as_ref().is_some_and(|waiting| waiting.prompt.ends_with(second));
        fixture.until("asked the second question", is_second).await;
        let asked = shell.waiting().unwrap().prompt;
        assert!(asked.ends_with(second) && asked != first, "{read}: {asked}");
        assert_eq!(fixture.status_now().waiting.unwrap().prompt, asked);
        let asked = shell.shown().seen;
        assert!(matches!(shell.answer(&flight, now(shell, Some(first)), b"y"), Err(ShellError::Another)));
        shell.answer(&flight, now(shell, Some(&asked)), answer.as_bytes()).unwrap();
        shell.at_rest().await;
        assert!(shell.read_on(0).text.ends_with("<yy>\n"), "{:?}", shell.read_on(0).text);
    }
}

#[tokio::test]
async fn what_was_printed_before_more_than_is_looked_at_is_said_to_be_cut_off() {
    for (blanks, is_cut) in [(20_000, true), (20, false)] {
        let fixture = Fixture::new();
        let command = format!("printf 'This deletes it.%{blanks}s' ''; read -n1 -p 'Press any key to continue'");
        fixture.until_it_waits(&command).await;
        assert_eq!(fixture.shell.shown().is_cut, is_cut, "{blanks}");
        fixture.shell.write(b" ").unwrap();
        fixture.shell.at_rest().await;
    }
}

#[tokio::test]
async fn a_question_to_which_the_user_has_begun_an_answer_stays() {
    let fixture = Fixture::new();
    fixture.until_it_waits("read -p 'name? ' name; echo \"<$name>\"").await;
    fixture.shell.write(b"Jo").unwrap();
    fixture.printed(0, "name? Jo").await;
    assert_eq!(fixture.status_now().waiting.unwrap().prompt, "name? ");
    assert_eq!(fixture.shell.waiting().unwrap().prompt, "name? Jo", "permission sees what an answer would go to");
    fixture.shell.write(b"\n").unwrap();
    fixture.shell.at_rest().await;
}

#[tokio::test]
async fn a_program_that_reads_single_keys_waits_on_for_whoever_looks_at_it_while_keys_come() {
    let fixture = Fixture::new();
    let command = "while read -rsn1 -p '\r: ' key; do [ \"$key\" = q ] && break; done";
    fixture.until_it_waits(command).await;
    let mut status = fixture.shell.status();
    status.mark_unchanged();
    for _ in 0..3 {
        fixture.shell.write(b" ").unwrap();
        assert_eq!(fixture.shell.waiting(), None, "a key is no answer to what comes next");
        while fixture.shell.waiting().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    assert!(!status.has_changed().unwrap(), "{:?}", status.borrow());
    fixture.shell.write(b"q").unwrap();
    fixture.shell.at_rest().await;
}

#[tokio::test]
async fn the_model_types_only_into_what_it_looked_at() {
    let fixture = Fixture::new();
    let shell = &fixture.shell;
    fixture.until_it_waits("cat").await;
    let first = shell.running().unwrap();
    shell.answer(&first, now(shell, None), b"\x04").unwrap();
    shell.at_rest().await;
    assert!(matches!(shell.answer(&first, now(shell, None), b"x\n"), Err(ShellError::Idle)));
    fixture.until_it_waits("cat").await;
    assert!(matches!(shell.answer(&first, now(shell, None), b"x\n"), Err(ShellError::Another)));
    fixture.answer(b"\x04").unwrap();
    shell.at_rest().await;

    // One that only starts reads no keys yet.
    let starting = shell.register(&ToolCallId::from("call"), Some("cat"), Typist::Model).unwrap();
    assert!(matches!(fixture.answer(b"x\n"), Err(ShellError::Another)));
    drop(starting);

    // The user's prompt is theirs, handed back or not; so are the lines before the one that runs.
    shell.take(true);
    fixture.printed(0, "azimuth:").await;
    shell.write(b"cat; cat\r").unwrap();
    let runs = |shell: &Arc<Shell>| shell.running().filter(|flight| flight.command == "cat; cat");
    while runs(shell).is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let theirs = runs(shell).unwrap();
    shell.write(b"\x04\x04").unwrap();
    while runs(shell).is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    shell.take(false);
    let typed = shell.answer(&theirs, now(shell, None), b"x\n");
    assert!(matches!(typed, Err(ShellError::Idle | ShellError::Another)), "{typed:?}");
    shell.at_rest().await;
}

#[tokio::test]
async fn a_command_that_ends_just_as_its_call_returns_gives_its_own_end() {
    let fixture = Fixture::new();
    fixture.run("echo before").await;
    let call = ToolCallId::from("call");
    let start = |command| fixture.shell.start(&call, command, RunOptions::default());
    let mut flown = start("echo mine; exit_with() { return 3; }; exit_with").await.unwrap();
    fixture.shell.at_rest().await;
    // Somebody else's command runs by now.
    let other = fixture.start("echo theirs; sleep 1", RunOptions::default(), "theirs").await;
    assert!(!flown.release(), "there is nothing that goes on");
    let ran = flown.ended.await.unwrap();
    assert_eq!((ran.output.as_str(), ran.exit_code), ("mine\n", Some(3)));
    other.await.unwrap();
    assert_eq!(fixture.shell.take_news(), Vec::<String>::new());
    let mut flown = start("echo mine; read x").await.unwrap();
    assert!(flown.release());
    fixture.shell.write(b"\n").unwrap();
    fixture.shell.at_rest().await;
    assert_eq!(fixture.shell.take_news().len(), 1);
}

#[tokio::test]
async fn a_cancelled_turn_ends_the_command_that_waits() {
    let fixture = Fixture::new();
    let cancel = CancellationToken::new();
    let options = RunOptions { cancel: cancel.clone(), ..RunOptions::default() };
    let outcome = fixture.shell.run_until_it_waits(&ToolCallId::from("call"), "cat", options).await.unwrap();
    assert!(matches!(outcome, Outcome::Waits(_)));
    cancel.cancel();
    fixture.shell.at_rest().await;
    assert_eq!(fixture.shell.running(), None);
}

#[tokio::test]
async fn a_password_is_for_the_user_and_is_recorded_nowhere() {
    let commands = [
        "read -s -p 'Password: ' x; echo; echo \"length ${#x}\"",
        "python3 -c 'import getpass; print(\"length\", len(getpass.getpass(\"Password: \")))'",
    ];
    for command in commands {
        let fixture = Fixture::new();
        let shell = Arc::clone(&fixture.shell);
        let task = tokio::spawn(async move {
            shell.run_until_it_waits(&ToolCallId::from("call"), command, RunOptions::default()).await.unwrap()
        });
        let status =
            fixture.until("hidden", |status| status.waiting.as_ref().is_some_and(|waiting| waiting.hidden)).await;
        assert_eq!(status.waiting.unwrap().prompt, "Password: ");
        assert!(matches!(fixture.answer(b"guess\n"), Err(ShellError::Secret)));
        fixture.shell.write(b"hunter2-swordfish\n").unwrap();
        let Outcome::Ended(ran) = task.await.unwrap() else { panic!("it went on waiting for the user") };
        assert!(ran.output.contains("length 17"), "{}", ran.output);
        fixture.recorded("User typed `` hidden").await;
        assert!(!format!("{:?}{ran:?}", fixture.log.0.lock().unwrap()).contains("swordfish"));
        let folder = fixture.folder.path().join("private");
        for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap()) {
            if file.file_type().unwrap().is_file() {
                assert!(!String::from_utf8_lossy(&std::fs::read(file.path()).unwrap()).contains("swordfish"));
            }
        }
    }
}

#[tokio::test]
async fn what_is_typed_is_recorded_line_by_line_as_it_was_sent() {
    let fixture = Fixture::new();
    let command = "echo ready; read a; read b; echo \"$a $b\"; python3 -q -i -c ''";
    let task = fixture.start(command, RunOptions { timeout: LONG, ..RunOptions::default() }, "ready").await;
    fixture.shell.write(b"fir").unwrap();
    fixture.shell.write(b"xx\x7f\x7fst\nsecond\n").unwrap();
    fixture.printed(0, ">>> ").await;
    fixture.shell.write(b"print(6*7)\r").unwrap();
    fixture.printed(0, "42").await;
    fixture.recorded("User typed `print(6*7)`").await;
    fixture.shell.write(b"\x04").unwrap();
    let ran = task.await.unwrap();
    assert!(ran.output.contains("first second"), "{}", ran.output);
    fixture.recorded("User typed `first`").await;
    fixture.recorded("User typed `second`").await;
    fixture.recorded("User typed `[ctrl-d]`").await;
}

#[tokio::test]
async fn time_stands_still_while_the_user_has_the_terminal() {
    let fixture = Fixture::new();
    let options = RunOptions { timeout: MIN_TIMEOUT, ..RunOptions::default() };
    let task = fixture.start("echo begun; sleep 3; echo over", options, "begun").await;
    fixture.shell.take(true);
    assert!(matches!(fixture.answer(b"x"), Err(ShellError::Taken)));
    fixture.printed(0, "over").await;
    let ran = task.await.unwrap();
    assert_eq!((ran.exit_code, ran.timed_out), (Some(0), false));
}

#[tokio::test]
async fn what_the_user_does_at_their_prompt_holds_for_the_model() {
    for (program, mark) in [(None, "$ "), (Some("/bin/sh"), "azimuth$ ")] {
        let fixture = Fixture::with(program);
        std::fs::create_dir(fixture.project().join("sub")).unwrap();
        fixture.shell.take(true);
        fixture.printed(0, mark).await;
        let refused = fixture.shell.run(&ToolCallId::from("call"), "echo no", RunOptions::default()).await;
        assert!(matches!(refused, Err(ShellError::Taken)), "{refused:?}");
        fixture.shell.write(b"cd sub\r").unwrap();
        fixture.recorded("User typed `cd sub`").await;
        fixture.shell.write(b"export WORD=kept; f() { echo fun; }\r").unwrap();
        fixture.recorded("User typed `export WORD=kept; f() { echo fun; }`").await;
        // Ctrl-C gives another prompt, and what runs can be stopped by it.
        fixture.shell.write(b"abandoned").unwrap();
        fixture.printed(0, "abandoned").await;
        let from = fixture.shell.spool().end();
        fixture.shell.write(b"\x03").unwrap();
        fixture.printed(from, mark).await;
        fixture.shell.write(b"echo asleep; sleep 1000\r").unwrap();
        fixture.printed(0, "asleep\r\n").await;
        let from = fixture.shell.spool().end();
        fixture.shell.write(b"\x03").unwrap();
        fixture.printed(from, mark).await;
        fixture.shell.write(b"echo aw'a'ke\r").unwrap();
        fixture.printed(from, "awake\r\n").await;
        fixture.shell.take(false);
        let (call, command) = (ToolCallId::from("call"), "pwd; echo $WORD; f");
        let outcome = fixture.shell.run_until_it_waits(&call, command, RunOptions::default()).await;
        let Ok(Outcome::Ended(ran)) = outcome else { panic!("the terminal is the model's again: {outcome:?}") };
        assert_eq!(ran.output, format!("{}\nkept\nfun\n", fixture.project().join("sub").display()));
        let news = fixture.shell.take_news().join("\n");
        assert!(news.contains("handed it back") && news.contains("ran `cd sub`, ran `export"), "{news}");
        assert!(news.contains("The shell is in"), "{news}");
    }
}

#[tokio::test]
async fn lines_that_are_not_whole_are_gone_on_with_and_leaving_hands_back() {
    let fixture = Fixture::new();
    for leave in ["\x04", "exit\r"] {
        let from = fixture.shell.spool().end();
        fixture.shell.take(true);
        fixture.printed(from, "$ ").await;
        fixture.shell.write(b"for i in 1 2; do\r").unwrap();
        fixture.printed(from, "> ").await;
        let line = fixture.shell.spool().end();
        fixture.shell.write(b"echo \"item $i\"; done\r").unwrap();
        fixture.printed(from, "item 2").await;
        fixture.recorded("User typed `for i in 1 2; do\necho \"item $i\"; done`").await;
        // Between two prompts a Ctrl-D is the end of a line that nobody reads, as in any terminal.
        fixture.printed(line, "$ ").await;
        fixture.shell.write(leave.as_bytes()).unwrap();
        fixture.until("handed back", |status| !status.taken).await;
        fixture.shell.at_rest().await;
        assert_eq!(fixture.run("echo \"${i}\"").await.output, "2\n");
    }
}

#[tokio::test]
async fn what_the_user_runs_goes_on_when_they_hand_back() {
    let fixture = Fixture::new();
    fixture.shell.take(true);
    fixture.printed(0, "$ ").await;
    fixture.shell.write(b"sleep 1000 & cat\r").unwrap();
    while fixture.shell.running().is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    fixture.shell.take(false);
    let flight = fixture.shell.running().unwrap();
    assert_eq!(flight.command, "sleep 1000 & cat");
    let refused = fixture.shell.run(&ToolCallId::from("call"), "echo no", RunOptions::default()).await;
    assert!(matches!(refused, Err(ShellError::Users { .. })), "{refused:?}");
    assert!(fixture.shell.take_news()[0].contains("`sleep 1000 & cat` runs there now"));
    fixture.answer(b"\x04").unwrap();
    fixture.shell.at_rest().await;
    // Their background job is none of ours to end.
    assert_eq!(fixture.run("jobs | grep -c 'sleep 1000'").await.output, "1\n");
}

#[tokio::test]
async fn a_program_that_runs_when_the_terminal_is_taken_is_followed_by_a_prompt() {
    let fixture = Fixture::new();
    let task =
        fixture.start("echo begun; read x", RunOptions { timeout: LONG, ..RunOptions::default() }, "begun").await;
    fixture.shell.take(true);
    fixture.shell.write(b"answer\n").unwrap();
    assert_eq!(task.await.unwrap().exit_code, Some(0));
    fixture.printed(0, "azimuth:").await;
    fixture.shell.write(b"echo \"[$x]\"\r").unwrap();
    fixture.printed(0, "[answer]").await;
}

#[tokio::test]
async fn a_shell_at_the_users_prompt_can_be_closed_and_the_model_ends_nothing_there() {
    let fixture = Fixture::new();
    for line in ["", "sleep 1000\r"] {
        let fixture = Fixture::new();
        fixture.shell.take(true);
        fixture.printed(0, "$ ").await;
        fixture.shell.write(line.as_bytes()).unwrap();
        while fixture.shell.running().is_none() && !line.is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(matches!(fixture.shell.kill_as_model().map(drop), Err(ShellError::Taken)));
        if !line.is_empty() {
            // Handed back it is the user's program still.
            fixture.shell.take(false);
            assert!(matches!(fixture.shell.kill_as_model().map(drop), Err(ShellError::Users { .. })));
            fixture.shell.take(true);
        }
        tokio::time::timeout(LONG, fixture.shell.close()).await.expect("the prompt does not begin anew");
        assert!(!fixture.shell.is_alive() && !fixture.status_now().taken);
        let refused = fixture.shell.run(&ToolCallId::from("call"), "echo no", RunOptions::default()).await;
        assert!(matches!(refused, Err(ShellError::Closed)), "{refused:?}");
    }
    // The user's own kill comes to an end too, though another prompt follows.
    fixture.shell.take(true);
    fixture.printed(0, "$ ").await;
    tokio::time::timeout(LONG, fixture.shell.kill()).await.expect("the prompt that was there is gone");
}

#[tokio::test]
async fn a_command_of_the_users_own_is_not_the_models_to_end_or_to_signal() {
    let fixture = Fixture::new();
    let options = RunOptions { timeout: LONG, by: Typist::User, ..RunOptions::default() };
    let task = fixture.start("echo begun; read x; echo \"<$x>\"", options, "begun").await;
    let shell = &fixture.shell;
    assert_eq!(shell.running().unwrap().by, Typist::User);
    assert!(matches!(shell.kill_as_model().map(drop), Err(ShellError::Users { .. })));
    assert!(matches!(shell.signal_as_model(TerminalSignal::Interrupt).map(drop), Err(ShellError::Users { .. })));
    let error = shell.run(&"call".into(), "ls", RunOptions::default()).await.unwrap_err().to_string();
    assert!(error.contains("the user's own command `echo begun; read x") && !error.contains("or stop it"), "{error}");
    shell.write(b"on\n").unwrap();
    assert_eq!(task.await.unwrap().output, "begun\non\n<on>\n");
}

#[tokio::test]
async fn a_secret_that_the_user_sets_at_their_prompt_is_in_no_arguments_and_not_told() {
    let fixture = Fixture::new();
    let seen = fixture.project().join("seen");
    // A shell that keeps what it is started with.
    let spy = fixture.project().join("spy");
    let text = format!("#!/bin/sh\nprintf '[%s]' \"$@\" >>{0}\nexec bash \"$@\"\n", seen.display());
    std::fs::write(&spy, text).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&spy).status().unwrap();
    fixture.run(&format!("BASH={}", spy.display())).await;
    fixture.shell.take(true);
    fixture.printed(0, "$ ").await;
    fixture.shell.write(b"export MY_TOKEN=swordfish; echo ${#MY_TOKEN}\r").unwrap();
    fixture.recorded("User typed `export MY_TOKEN=…; echo ${#MY_TOKEN}`").await;
    fixture.printed(0, "9\r\n").await;
    let from = fixture.shell.spool().end();
    fixture.shell.write(b" echo un't'old\r").unwrap();
    fixture.printed(from, "untold\r\n").await;
    fixture.recorded("User typed `` hidden").await;
    // Nor is one that is typed ahead.
    let from = fixture.shell.spool().end();
    fixture.shell.write(b"sleep 1; echo sle'p't\r").unwrap();
    while fixture.shell.running().is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    fixture.shell.write(b" echo ah'e'ad\r").unwrap();
    fixture.printed(from, "slept\r\n").await;
    fixture.printed(from, "ahead\r\n").await;
    fixture.shell.take(false);
    fixture.shell.at_prompt_no_more().await;
    let news = fixture.shell.take_news().join("\n");
    assert!(news.contains("MY_TOKEN=…") && news.contains("something that is not told"), "{news}");
    assert!(!news.contains("swordfish") && !news.contains("un't'old") && !news.contains("ah'e'ad"), "{news}");
    assert!(!format!("{:?}", fixture.log.0.lock().unwrap()).contains("ah'e'ad"));
    assert!(!format!("{:?}", fixture.log.0.lock().unwrap()).contains("swordfish"));
    let seen = std::fs::read_to_string(seen).unwrap();
    assert!(seen.contains("[--norc][-n]") && !seen.contains("swordfish"), "{seen}");
}

#[test]
fn pipes_that_a_killed_process_has_left_are_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let job = folder.path().join("jobs").join("job-1");
    std::fs::create_dir_all(&job).unwrap();
    let make = |path: &Path| {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, 0).unwrap();
    };
    let gone = [folder.path().join("shell-12"), folder.path().join("start-12"), job.join("shell-3")];
    gone.iter().for_each(|path| make(path));
    let kept = [folder.path().join("other"), folder.path().join("shell-file")];
    make(&kept[0]);
    std::fs::write(&kept[1], "").unwrap();
    Shell::remove_left_pipes(folder.path());
    assert!(gone.iter().all(|path| !path.exists()) && kept.iter().all(|path| path.exists()));
}
