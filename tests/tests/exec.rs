//! `azimuth exec` and `azimuth demo`: the whole job without an editor, on real input, as a user would start it.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files and starts the program itself")]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};

use harness::crates::source_of;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The arguments of one who trusts the folder, so that it is not asked.
fn trusting<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = arguments.to_vec();
    if arguments.first() == Some(&"exec") {
        arguments.insert(1, "--trust");
    }
    arguments
}

/// A folder to work in, a data folder of its own, and the program.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.project()).unwrap();
        world.configure("");
        world
    }

    /// Writes the configuration. Without the start files of whoever runs the tests, which may take any time.
    fn configure(&self, text: &str) {
        std::fs::write(self.folder.path().join("config.toml"), format!("shell_rc = false\n{text}")).unwrap();
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.project().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project().join(name)).unwrap()
    }

    /// Keeps a script beside the project, and gives its path.
    fn script(&self, steps: &Value) -> String {
        let path = self.folder.path().join("script.json");
        std::fs::write(&path, json!({ "name": "test", "steps": steps }).to_string()).unwrap();
        path.display().to_string()
    }

    /// Runs the program in the project, without a terminal and without any key.
    fn azimuth(&self, arguments: &[&str]) -> Output {
        self.command(harness::binary()).args(trusting(arguments)).output().unwrap()
    }

    /// Starts the program and leaves it running.
    fn start(&self, arguments: &[&str]) -> Child {
        self.command(harness::binary())
            .args(trusting(arguments))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Starts the program in a terminal.
    fn terminal(&self, arguments: &[&str]) -> Terminal {
        let program = harness::binary().display().to_string();
        let words = std::iter::once(program.as_str()).chain(trusting(arguments));
        let line: Vec<_> = words.map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let mut command = self.command(Path::new("script"));
        command.args(["-q", "-e", "-c", &line.join(" "), "/dev/null"]);
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (script.stdin.take().unwrap(), script.stdout.take().unwrap());
        Terminal { script, input, output, shown: String::new() }
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).stdin(Stdio::null());
        command.env("AZIMUTH_DATA_DIR", self.folder.path().join("data"));
        command.env("AZIMUTH_CONFIG", self.folder.path().join("config.toml"));
        command.env("CARGO_TARGET_DIR", self.folder.path().join("target"));
        for name in harness::vendors::variables() {
            command.env_remove(name);
        }
        command
    }
}

/// The program in a terminal, by `script` of util-linux.
struct Terminal {
    script: Child,
    input: ChildStdin,
    output: ChildStdout,
    shown: String,
}

impl Terminal {
    /// Reads until this text is shown.
    fn until(&mut self, text: &str) {
        let mut piece = [0; 4096];
        while !self.shown.contains(text) {
            let count = self.output.read(&mut piece).unwrap();
            assert!(count > 0, "`{text}` is not in:\n{}", self.shown);
            self.shown.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
    }

    fn keys(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for the program's end. Its exit code, and all that was shown.
    fn end(mut self) -> (Option<i32>, String) {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        self.shown.push_str(&String::from_utf8_lossy(&rest));
        (self.script.wait().unwrap().code(), self.shown)
    }
}

/// Sends a signal, as a key or a supervisor does.
fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A script that makes one tool call and then says it is done.
fn one_call(tool: &str, input: &Value) -> Value {
    json!([{ "calls": [{ "tool": tool, "input": input }] }, { "text": "Done." }])
}

#[test]
fn the_demo_goes_from_red_to_green() {
    let world = World::new();
    let output = world.azimuth(&["demo", "--yes"]);
    let text = text(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    for expected in [
        "The model is scripted",
        "FAILED  0 C in F: expected 32, got 30",
        "Searching for",
        "-    echo $(($1 * 9 / 5 + 30))",
        "+    echo $(($1 * 9 / 5 + 32))",
        "ok      0 C in F = 32",
        "0 failed",
        "$0.00",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in:\n{text}");
    }
    let red = text.find("FAILED").unwrap();
    let again = text.find("Now the tests").unwrap();
    assert!(red < again && !text[again..].contains("FAILED"), "{text}");
    assert!(!text.contains('\x1b'), "colour where no terminal is:\n{text}");
}

#[test]
fn a_bug_in_a_real_crate_is_found_and_fixed() {
    let world = World::new();
    copy(&source_of("heck"), &world.project());
    let sound = world.read("src/lib.rs");
    let line = "if next_mode == WordMode::Lowercase && next.is_uppercase() {";
    assert_eq!(sound.matches(line).count(), 1);
    world.write("src/lib.rs", &sound.replace(line, &line.replace("is_uppercase", "is_lowercase")));
    let test = json!({ "command": "cargo test --offline --lib", "timeout_seconds": 300 });
    let steps = json!([
        { "text": "I run the crate's tests.", "calls": [{ "tool": "shell_run", "input": test }] },
        {
            "expect": { "from": "shell_run", "matches": "test result: FAILED" },
            "text": "They fail. I look for the word boundary.",
            "calls": [{ "tool": "search_text", "input": { "query": "next_mode == WordMode::Lowercase &&" } }]
        },
        {
            "captures": [{ "name": "path", "from": "search_text", "pattern": "(src/\\S+\\.rs)" }],
            "text": "I read ${path}.",
            "calls": [{ "tool": "read_file", "input": { "path": "${path}", "start_line": 100, "end_line": 140 } }]
        },
        {
            "captures": [
                { "name": "wrong", "from": "read_file", "pattern": "(if next_mode == WordMode::Lowercase && next\\.\\w+\\(\\) \\{)" },
                { "name": "head", "from": "read_file", "pattern": "(if next_mode == WordMode::Lowercase && next)\\.\\w+\\(\\) \\{" }
            ],
            "text": "A boundary comes before an upper case letter.",
            "calls": [{
                "tool": "edit_replace_exact",
                "input": { "path": "${path}", "old_text": "${wrong}", "new_text": "${head}.is_uppercase() {" }
            }]
        },
        { "text": "Again.", "calls": [{ "tool": "shell_run", "input": test }] },
        { "expect": { "from": "shell_run", "matches": "test result: ok" }, "text": "All pass." }
    ]);
    let output = world.azimuth(&["exec", "--script", &world.script(&steps), "--yes", "The tests fail. Fix the crate."]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(world.read("src/lib.rs"), sound);
    let green = Command::new("cargo")
        .args(["test", "--offline", "--lib"])
        .current_dir(world.project())
        .env("CARGO_TARGET_DIR", world.folder.path().join("target"))
        .output()
        .unwrap();
    assert!(green.status.success(), "{}", text(&green));
}

#[test]
fn a_search_that_does_not_find_the_place_fails_the_script() {
    let world = World::new();
    world.write(".ignore", "hidden.txt\n");
    world.write("hidden.txt", "the place\n");
    let steps = json!([
        { "calls": [{ "tool": "search_text", "input": { "query": "the place" } }] },
        { "captures": [{ "name": "path", "from": "search_text", "pattern": "(\\S+\\.txt):" }], "text": "${path}" }
    ]);
    let output = world.azimuth(&["exec", "--script", &world.script(&steps), "Find the place."]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("search_text"), "{}", text(&output));
}

#[test]
fn without_a_terminal_a_command_is_refused_and_said() {
    let world = World::new();
    let script = world.script(&one_call("shell_run", &json!({ "command": "touch made" })));
    let output = world.azimuth(&["exec", "--script", &script, "Make a file."]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("nobody could be asked"), "{}", text(&output));
    assert!(!world.project().join("made").exists());
}

/// A script whose model asks, for the next two stories.
fn asks() -> Value {
    let option =
        |label: &str, recommended: bool| json!({ "label": label, "description": "So.", "recommended": recommended });
    let questions = json!([
        { "header": "Storage", "question": "Where?", "options": [option("A file", false), option("SQLite", true)] },
        { "header": "Tests", "question": "Which?", "multiple": true, "options": [option("Unit", false), option("Fuzz", false)] },
        { "header": "Name", "question": "How is it called?", "options": [option("notes", false), option("memo", false)] },
    ]);
    one_call("ask_user", &json!({ "questions": questions }))
}

#[test]
fn where_nobody_is_asked_what_is_assumed_is_said() {
    let world = World::new();
    for arguments in [&["exec"][..], &["exec", "--yes"]] {
        let script = world.script(&asks());
        let output = world.azimuth(&[arguments, &["--script", &script, "Keep my notes."]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        for line in ["Storage: nobody was asked; assumed: SQLite", "Tests: nobody was asked; assumed: Unit"] {
            assert!(text(&output).contains(line), "{}", text(&output));
        }
    }
}

#[test]
fn on_a_terminal_each_question_of_a_form_is_answered_by_numbers_or_words() {
    let world = World::new();
    let script = world.script(&asks());
    let mut terminal = world.terminal(&["exec", "--json", "--script", &script, "Keep my notes."]);
    terminal.until("Enter for SQLite, or - to dismiss");
    terminal.keys("3\n");
    terminal.until("there is no such option, or more than one");
    terminal.keys("\n");
    terminal.until("Tests: Which?");
    terminal.keys("2,1\n");
    terminal.until("Name: How is it called?");
    terminal.keys("the jotter\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    for part in ["- Storage: SQLite", "- Tests: Unit, Fuzz", "- Name, in the user's own words: the jotter"] {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
}

#[test]
fn without_a_terminal_an_edit_is_refused_and_said() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let input = json!({ "path": "a.txt", "old_text": "one", "new_text": "two" });
    let script = world.script(&one_call("edit_replace_exact", &input));
    let output = world.azimuth(&["exec", "--script", &script, "Change it."]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert_eq!(world.read("a.txt"), "one\n");
}

#[test]
fn what_runs_in_the_background_is_told_in_words_and_ends_with_the_run() {
    let world = World::new();
    let brief = json!({ "command": "read -r line <fifo; echo over", "wait_seconds": 0 });
    let server =
        json!({ "command": "echo $$ >pid; exec python3 -um http.server --bind 127.0.0.1 0", "wait_seconds": 60 });
    let wait = json!({ "terminal": "job-1", "wait_seconds": 60 });
    let steps = json!([
        { "calls": [{ "tool": "shell_run", "input": { "command": "mkfifo fifo" } }] },
        { "calls": [{ "tool": "shell_start", "input": brief }] },
        { "calls": [{ "tool": "shell_start", "input": server }] },
        { "calls": [{ "tool": "shell_run", "input": { "command": "echo go >fifo" } }] },
        { "calls": [{ "tool": "shell_read", "input": wait }] },
        { "text": "Both were there." }
    ]);
    let output = world.azimuth(&["exec", "--script", &world.script(&steps), "--allow", "Shell", "Start them."]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("[job-1 runs]") && said.contains("; it listens on port "), "{said}");
    assert!(said.contains("job-1 (read -r line <fifo; echo over) ended with exit code 0"), "{said}");
    let pid = world.read("pid");
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "the server is gone");
}

#[test]
fn a_rule_on_the_command_line_allows_what_it_names_and_nothing_else() {
    let world = World::new();
    let script = world.script(&one_call("shell_run", &json!({ "command": "touch made" })));
    let output = world.azimuth(&["exec", "--script", &script, "--allow", "Shell(touch:*)", "Make a file."]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(world.project().join("made").exists());

    let script = world.script(&one_call("shell_run", &json!({ "command": "touch other && rm made" })));
    let output = world.azimuth(&["exec", "--script", &script, "--allow", "Shell(touch:*)", "Move it."]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(world.project().join("made").exists() && !world.project().join("other").exists());
}

#[test]
fn every_event_is_a_line_of_json() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let script = world.script(&one_call("read_file", &json!({ "path": "a.txt" })));
    let output = world.azimuth(&["exec", "--script", &script, "--json", "Read it."]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    assert_eq!(events[0]["event"]["type"], "sessionStarted");
    assert_eq!(events.last().unwrap()["event"]["type"], "turnEnded");
    assert!(stdout.contains("\"one\\n") || stdout.contains("one"), "{stdout}");
}

#[test]
fn a_file_that_a_prompt_names_by_at_is_put_before_the_model() {
    let world = World::new();
    world.write("notes.txt", "the meeting is at noon\n");
    world.write("src/long.rs", "one\ntwo\nthree\n");
    let script = world.script(&json!([{ "text": "At noon." }]));
    let prompt = "When is it, by @notes.txt? Look at @src/long.rs:2-3, too, not at @nowhere.txt or me@notes.txt.";
    let output = world.azimuth(&["exec", "--script", &script, "--json", prompt]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].take());
    let started = events.into_iter().find(|event| event["type"] == "turnStarted").unwrap();
    let kinds: Vec<_> = started["prompt"].as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["text", "file", "range"]);
    assert_eq!(started["prompt"][0]["text"], prompt, "what was typed stays as it was");
    let read = "notes.txt:\n```\nthe meeting is at noon\n```\nsrc/long.rs lines 2-3:\n```\ntwo\nthree\n```\n";
    assert_eq!(started["context"], read);
}

#[test]
fn a_prompt_from_standard_input_puts_no_file_before_the_model() {
    let world = World::new();
    world.write(".env", "KEY=never-sent\n");
    world.write("notes.txt", "the meeting is at noon\n");
    std::fs::write(world.folder.path().join("outside.txt"), "outside-never-sent\n").unwrap();
    let prompt = "Look at @.env, @notes.txt:1-1, @notes.txt and @../outside.txt";
    for arguments in [&[][..], &["-"]] {
        let script = world.script(&json!([{ "text": "I see none." }]));
        let mut command = world.command(harness::binary());
        let mut run = command
            .args(["exec", "--script", &script, "--json"])
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        run.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        let output = run.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let (blocks, context) = sent(&output);
        assert_eq!(blocks, [json!({ "type": "text", "text": prompt })]);
        assert_eq!(context, "");
        let told = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<_> = told.lines().filter(|line| line.contains("not put before the model")).collect();
        let [line] = lines[..] else { panic!("said once: {told}") };
        for name in ["@.env", "@notes.txt", "outside.txt"] {
            assert_eq!(line.matches(name).count(), 1, "{name}: {line}");
        }
    }
}

#[test]
fn a_prompt_as_an_argument_leaves_out_and_names_what_a_read_would_be_asked_for_or_denied() {
    let world = World::new();
    world.write(".env", "KEY=never-sent\n");
    world.write("plans.txt", "plans-never-sent\n");
    world.write("notes.txt", "the meeting is at noon\n");
    std::os::unix::fs::symlink(".env", world.project().join("link.txt")).unwrap();
    std::fs::write(world.folder.path().join("outside.txt"), "outside-never-sent\n").unwrap();
    world.configure("[permissions]\ndeny = ['Read(plans.txt)']\n");
    let prompt = "Look at @.env @.env:1 @link.txt @plans.txt @../outside.txt and @notes.txt";
    let run = |more: &[&str]| {
        let script = world.script(&json!([{ "text": "I see." }]));
        let output = world.azimuth(&[&["exec", "--script", &script, "--json"], more, &[prompt]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        (sent(&output).1, told)
    };
    for more in [&[][..], &["--yes"]] {
        let (context, told) = run(more);
        assert!(context.contains("noon") && !context.contains("never-sent"), "{context}");
        for name in [".env", "link.txt", "plans.txt"] {
            assert_eq!(told.matches(&format!("{name} is not put before the model: ")).count(), 1, "{name}: {told}");
        }
        assert!(told.contains("Read(plans.txt)"), "by which rule: {told}");
    }
    let (context, told) = run(&["--allow", "Read(.env)"]);
    assert!(context.contains("KEY=never-sent"), "the user's own rule allows it: {context}{told}");
    assert!(!context.contains("plans-never-sent"), "{context}");
}

#[test]
fn what_allows_a_file_that_a_prompt_names_is_advised_only_where_it_does() {
    let world = World::new();
    world.write("plans.txt", "plans\n");
    world.write("it's/.env", "KEY=1\n");
    world.write("[1].env", "KEY=1\n");
    std::os::unix::fs::symlink("it's/.env", world.project().join("id_rsa")).unwrap();
    world.configure("[permissions]\nask = ['Read(plans.txt)']\nallow = ['Read(plans.txt)']\n");
    // The file, what is advised, and what is said of it in the end.
    for (name, advised, said) in [
        ("plans.txt", false, "rule `Read(plans.txt)`"),
        ("it's/.env", true, "usually holds keys"),
        ("id_rsa", true, "usually holds keys"),
        ("[1].env", true, "usually holds keys"),
    ] {
        let run = |advice: &str| {
            let script = world.script(&json!([{ "text": "I see." }]));
            // By a shell, as the user follows it.
            let program = harness::binary();
            let line =
                format!("'{}' exec --trust --script '{script}' --json {advice} \"Look at @{name}\"", program.display());
            let output = world.command(Path::new("/bin/sh")).args(["-c", &line]).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
            (sent(&output).1, String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (context, told) = run("");
        assert!(context.is_empty() && told.contains(said), "{name}: {context}{told}");
        let advice = told.split_once("(`--allow ").map(|(_, rest)| rest.split_once('`').unwrap().0);
        assert_eq!(advice.is_some(), advised, "{told}");
        if let Some(advice) = advice {
            let (context, told) = run(&format!("--allow {advice}"));
            assert!(context.contains("KEY=1") && !told.contains(said), "{name}: {context}{told}");
        }
    }
}

/// The blocks and the context of the turn that a run with `--json` began.
fn sent(output: &Output) -> (Vec<Value>, String) {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let mut events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].take());
    let started = events.find(|event| event["type"] == "turnStarted").unwrap();
    (started["prompt"].as_array().unwrap().clone(), started["context"].as_str().unwrap().to_owned())
}

#[test]
fn a_command_of_the_users_own_names_no_file_by_at() {
    let world = World::new();
    world.write("notes.txt", "the meeting is at noon\n");
    let output = world.azimuth(&["exec", "!echo see @notes.txt"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(text(&output), "see @notes.txt\n");
}

#[test]
fn on_a_terminal_the_output_of_a_command_of_the_users_own_is_shown_once() {
    let world = World::new();
    let (code, shown) = world.terminal(&["exec", "!seq -s- 3; (exit 2)"]).end();
    assert_eq!(shown.matches("1-2-3").count(), 1, "{shown}");
    assert!(shown.contains("exit code 2"), "{shown}");
    assert_eq!(code, Some(1), "{shown}");
}

#[test]
fn the_last_session_of_a_folder_is_continued_and_what_was_said_is_found() {
    let world = World::new();
    let answers = ["The zebra is striped.", "Still striped.", "Really."].map(|text| json!({ "text": text }));
    let script = world.script(&json!(answers));
    let nothing = world.azimuth(&["exec", "--script", &script, "-c", "Go on."]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing).contains("there is no session of this folder to continue"), "{}", text(&nothing));
    let both = world.azimuth(&["exec", "-c", "--resume", "a", "Go on."]);
    assert_eq!(both.status.code(), Some(2), "{}", text(&both));
    for prompt in ["What about zebras?", "Something else."] {
        let first = world.azimuth(&["exec", "--script", &script, prompt]);
        assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    }
    let listed = text(&world.azimuth(&["sessions", "list"]));
    let ids: Vec<_> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let [last, zebras] = ids.as_slice() else { panic!("{listed}") };
    for arguments in [["-c", "Is it so?"], ["--continue", "Really?"]] {
        let on = world.azimuth(&[&["exec", "--script", &script], &arguments[..]].concat());
        assert_eq!(on.status.code(), Some(0), "{}", text(&on));
    }
    let shown = text(&world.azimuth(&["sessions", "show", last]));
    let is_there = |said: &str| shown.contains(said);
    assert!(is_there("> Something else.") && is_there("> Is it so?") && is_there("> Really?"), "{shown}");
    assert_eq!(text(&world.azimuth(&["sessions", "list"])).lines().count(), 2, "no other session was made");

    let found = text(&world.azimuth(&["sessions", "search", "ZEBRA", "striped"]));
    assert!(found.contains("model: The zebra is striped."), "{found}");
    let hit = text(&world.azimuth(&["sessions", "search", "--json", "about zebras"]));
    let hit: Value = serde_json::from_str(hit.lines().last().unwrap()).unwrap();
    assert_eq!((hit["sessionId"].as_str().unwrap(), hit["kind"].as_str().unwrap()), (*zebras, "prompt"), "{hit}");
    let none = text(&world.azimuth(&["sessions", "search", "unicorn"]));
    assert!(none.contains("nothing was found here"), "{none}");

    // Seventeen sessions cannot all begin with another digit.
    for at in 0..15 {
        world.azimuth(&["exec", "--script", &script, &format!("Number {at}.")]);
    }
    let listed = text(&world.azimuth(&["sessions", "list"]));
    let twice =
        "0123456789abcdef".chars().find(|digit| listed.lines().filter(|line| line.starts_with(*digit)).count() > 1);
    let digit = twice.unwrap().to_string();
    let unclear = world.azimuth(&["exec", "--script", &script, "--resume", &digit, "Which?"]);
    assert_eq!(unclear.status.code(), Some(1));
    let said = text(&unclear);
    assert!(said.contains(&format!("several sessions begin with {digit}")), "{said}");
    for line in listed.lines().filter(|line| line.starts_with(&digit)) {
        assert!(said.contains(line.split_whitespace().next().unwrap()), "{said}");
    }
}

#[test]
fn a_session_is_gone_on_with_listed_shown_deleted_and_brought_back() {
    let world = World::new();
    let script = world.script(&json!([{ "text": "First answer." }, { "text": "Second answer." }]));
    let first = world.azimuth(&["exec", "--script", &script, "Remember the number seven."]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let listed = text(&world.azimuth(&["sessions", "list"]));
    assert!(listed.contains("Remember the number seven"), "{listed}");
    let id = listed.split_whitespace().next().unwrap().to_owned();

    let second = world.azimuth(&["exec", "--script", &script, "--resume", &id[..3], "Which number?"]);
    assert_eq!(second.status.code(), Some(0), "{}", text(&second));
    assert!(text(&second).contains("Second answer."), "{}", text(&second));

    let shown = text(&world.azimuth(&["sessions", "show", &id[..5]]));
    for expected in ["> Remember the number seven.", "First answer.", "> Which number?", "Second answer."] {
        assert!(shown.contains(expected), "`{expected}` is not in:\n{shown}");
    }
    let exported = world.project().join("session.jsonl");
    std::fs::write(&exported, world.azimuth(&["sessions", "export", &id]).stdout).unwrap();
    let beginning = world.azimuth(&["sessions", "delete", &id[..5]]);
    assert_eq!(beginning.status.code(), Some(1));
    assert!(text(&beginning).contains("type its whole id") && text(&beginning).contains(&id), "{}", text(&beginning));
    assert!(world.azimuth(&["sessions", "delete", &id]).status.success());
    assert!(!text(&world.azimuth(&["sessions", "list"])).contains(&id));

    let imported = world.azimuth(&["sessions", "import", exported.to_str().unwrap()]);
    assert!(text(&imported).starts_with(&format!("session {id} is imported")), "{}", text(&imported));
    assert_eq!(text(&world.azimuth(&["sessions", "show", &id])), shown);
    let missing = world.azimuth(&["sessions", "import", "nowhere.jsonl"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing).contains("nowhere.jsonl cannot be read"), "{}", text(&missing));
}

#[test]
fn without_a_key_and_a_local_server_it_says_what_to_do() {
    let world = World::new();
    // A host where nobody answers keeps a local server of whoever runs the tests out of it.
    let output = world.azimuth(&["exec", "--model", "anthropic/claude-sonnet-5-5", "Hello."]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("ANTHROPIC_API_KEY"), "{}", text(&output));
}

#[test]
fn why_an_answer_is_not_whole_or_was_not_given_is_said() {
    for (stop, words, more) in
        [("maxTokens", "The answer is not whole", &[][..]), ("refusal", "The model would not answer", &["--json"])]
    {
        let world = World::new();
        let script = world.script(&json!([{ "text": "Well.", "stop": stop }]));
        let output = world.azimuth(&[&["exec", "--script", &script], more, &["Tell me."]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let [answer, why] = [output.stdout, output.stderr].map(|stream| String::from_utf8(stream).unwrap());
        let said = why.lines().find(|line| line.contains(words));
        assert!(said.is_some_and(|line| line.starts_with("azimuth: ")), "{stop}: {why}");
        match more {
            [] => assert!(answer.contains("Well.\n") && !answer.contains(words), "{answer}"),
            _ => answer.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).unwrap())),
        }
    }
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let world = World::new();
    assert_eq!(world.azimuth(&["exec", "--nonsense"]).status.code(), Some(2));
    assert_eq!(world.azimuth(&["nonsense"]).status.code(), Some(2));
}

#[test]
fn what_is_no_prompt_and_no_rule_is_wrong_usage() {
    let world = World::new();
    for arguments in [&["exec"][..], &["exec", ""], &["exec", " \n"], &["exec", "--allow", "Shell(", "Hello."]] {
        let output = world.azimuth(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output));
        assert!(text(&output).starts_with("azimuth: "), "{}", text(&output));
    }
}

#[test]
fn a_prompt_from_anywhere_does_not_switch_the_review_off() {
    let world = World::new();
    for prompt in ["/auto on --project", "\n/new /auto on --project\nFix it."] {
        let output = world.azimuth(&["exec", prompt]);
        assert_eq!(output.status.code(), Some(2), "{prompt}: {}", text(&output));
        assert!(text(&output).contains("`/auto on` is not for azimuth exec"), "{}", text(&output));
    }
}

#[test]
fn mode_ask_refuses_to_change_or_run_and_says_so() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let edit = json!({ "path": "a.txt", "old_text": "one", "new_text": "two" });
    for (tool, input) in [("edit_replace_exact", edit), ("shell_run", json!({ "command": "touch made" }))] {
        let script = world.script(&one_call(tool, &input));
        let output = world.azimuth(&["exec", "--script", &script, "--mode", "ask", "--yes", "Do it."]);
        assert_eq!(output.status.code(), Some(3), "{}", text(&output));
        assert!(text(&output).contains("mode `ask` only looks"), "{}", text(&output));
    }
    assert_eq!(world.read("a.txt"), "one\n");
    assert!(!world.project().join("made").exists());
}

#[test]
fn what_nobody_means_is_refused_even_with_yes() {
    let world = World::new();
    let script = world.script(&one_call("shell_run", &json!({ "command": "rm -rf /" })));
    let output = world.azimuth(&["exec", "--script", &script, "--yes", "Make room."]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("not allowed"), "{}", text(&output));
}

#[test]
fn yes_is_no_answer_to_what_a_rule_may_deny() {
    let world = World::new();
    world.write(".env", "KEY=never-shown\n");
    world.configure("[permissions]\ndeny = ['Read(.env)']\n");
    for line in ["cat .env", "cat .e*", "F=.env; cat $F", "cat $(echo .env)", "git show HEAD:.env", "tar c ."] {
        let script = world.script(&one_call("shell_run", &json!({ "command": line })));
        let output = world.azimuth(&["exec", "--script", &script, "--yes", "Look."]);
        assert!(!text(&output).contains("never-shown"), "{line}: {}", text(&output));
        assert_eq!(output.status.code(), Some(3), "{line}: {}", text(&output));
    }
}

#[test]
fn yes_changes_nothing_of_what_the_agent_may_do() {
    let world = World::new();
    world.write(".azimuth/notes.md", "one\n");
    world.write("a.txt", "one\n");
    let edit = |path: &str| {
        let input = json!({ "path": path, "old_text": "one", "new_text": "two" });
        let script = world.script(&one_call("edit_replace_exact", &input));
        world.azimuth(&["exec", "--script", &script, "--yes", "Change it."])
    };
    let output = edit(".azimuth/notes.md");
    assert_eq!(world.read(".azimuth/notes.md"), "one\n", "{}", text(&output));
    edit("a.txt");
    assert_eq!(world.read("a.txt"), "two\n");
    let script = world.script(&one_call("shell_run", &json!({ "command": "echo x > .azimuth/notes.md" })));
    let output = world.azimuth(&["exec", "--script", &script, "--yes", "Change it."]);
    assert_eq!(world.read(".azimuth/notes.md"), "one\n", "{}", text(&output));
}

#[test]
fn an_edit_that_makes_other_programs_run_is_accepted_by_no_wide_rule_and_told_at_the_end() {
    let edits = [(".vscode/tasks.json", "{}\n"), (".env", "A=1\n"), ("src/a.txt", "a\n")];
    let calls = edits
        .map(|(path, content)| json!({ "tool": "edit_create_file", "input": { "path": path, "content": content } }));
    let steps = json!([{ "calls": calls }, { "text": "Done." }]);
    let last = |shown: &str| shown.trim_end().lines().rev().take(2).collect::<Vec<_>>().join("\n");

    // A rule for all files is not about these two.
    let world = World::new();
    let output = world.azimuth(&["exec", "--script", &world.script(&steps), "--allow", "Edit(**)", "Make them."]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(3), "{shown}");
    assert_eq!(world.read("src/a.txt"), "a\n");
    assert!(!world.project().join(".vscode").exists() && !world.project().join(".env").exists(), "{shown}");
    let end = last(&shown);
    assert!(end.contains("not accepted: .vscode/tasks.json, which makes other programs run"), "{shown}");
    assert!(end.contains("not accepted: .env, which usually holds keys"), "{shown}");

    // One that names them is.
    let world = World::new();
    let script = world.script(&steps);
    let rules = ["--allow", "Edit(.vscode/**)", "--allow", "Edit(.env)", "--allow", "Edit(src/**)"];
    let output = world.azimuth(&[&["exec", "--script", &script], rules.as_slice(), &["Make them."]].concat());
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(world.project().join(".vscode/tasks.json").exists() && world.project().join(".env").exists(), "{shown}");
    assert!(last(&shown).contains("accepted: .env, which usually holds keys"), "{shown}");

    // `--yes` accepts them, and says which they are.
    let world = World::new();
    let output = world.azimuth(&["exec", "--script", &world.script(&steps), "--yes", "Make them."]);
    let shown = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert_eq!(world.read(".vscode/tasks.json"), "{}\n");
    let end = last(&shown);
    assert!(end.contains("accepted: .vscode/tasks.json, which makes other programs run"), "{shown}");
    assert!(end.contains("accepted: .env, which usually holds keys") && !end.contains("src/a.txt"), "{shown}");

    // At a terminal it is asked, whatever the rules say.
    let world = World::new();
    let script = world.script(&steps);
    let mut terminal = world.terminal(&["exec", "--script", &script, "--allow", "Edit(**)", "Make them."]);
    for answer in ["n\n", "n\n"] {
        terminal.until("accept (y) or reject (n)> ");
        terminal.shown.clear();
        terminal.input.write_all(answer.as_bytes()).unwrap();
    }
    terminal.until("not accepted: .vscode/tasks.json");
    terminal.script.wait().unwrap();
    assert_eq!(world.read("src/a.txt"), "a\n");
    assert!(!world.project().join(".vscode").exists());
}

#[test]
fn an_edit_that_makes_other_programs_run_is_told_also_where_the_run_fails() {
    let file = json!({ "tool": "edit_create_file", "input": { "path": ".vscode/tasks.json", "content": "{}\n" } });
    let waits = json!({ "tool": "shell_run", "input": { "command": "until [ -e go ]; do sleep 0.05; done" } });
    let steps = json!([{ "calls": [file] }, { "calls": [waits] }, { "text": "Done." }]);
    let world = World::new();
    let script = world.script(&steps);
    for options in [vec!["--json"], vec![]] {
        let mut child = world.start(&[&["exec", "--script", &script, "--yes"], options.as_slice(), &["Go."]].concat());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        lines.by_ref().find(|line| line.contains("until [ -e go ]")).unwrap();
        // Nobody reads on, so that the next line cannot be written.
        drop(lines);
        world.write("go", "");
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("accepted: .vscode/tasks.json, which makes other programs run"), "{told}");
        std::fs::remove_dir_all(world.project().join(".vscode")).unwrap();
        std::fs::remove_file(world.project().join("go")).unwrap();
    }
}

#[test]
fn slash_commands_alone_are_answered() {
    let world = World::new();
    let output = world.azimuth(&["exec", "/help"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("/conversations"), "{}", text(&output));
    let output = world.azimuth(&["exec", "/model nowhere/nothing"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("nowhere/nothing"), "{}", text(&output));
}

#[test]
fn a_session_that_began_elsewhere_works_there_and_says_so() {
    let world = World::new();
    world.write("src/a.txt", "one\n");
    let input = json!({ "path": "src/a.txt", "old_text": "one", "new_text": "two" });
    let script =
        world.script(&json!([{ "text": "Hello." }, one_call("edit_replace_exact", &input)[0], { "text": "Done." }]));
    assert_eq!(world.azimuth(&["exec", "--script", &script, "Hello."]).status.code(), Some(0));
    let id = text(&world.azimuth(&["sessions", "list"])).split_whitespace().next().unwrap().to_owned();

    let elsewhere = world.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let mut command = world.command(harness::binary());
    command.current_dir(elsewhere);
    command.args(["exec", "--script", &script, "--resume", &id, "--allow", "Edit(src/**)", "Change it."]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(world.read("src/a.txt"), "two\n");
    let said = format!("works in {}", world.project().canonicalize().unwrap().display());
    assert!(text(&output).contains(&said), "{}", text(&output));
}

#[test]
fn a_signal_while_a_command_runs_cancels_the_turn() {
    for sent in [Signal::INT, Signal::TERM] {
        let world = World::new();
        let script = world.script(&one_call("shell_run", &json!({ "command": "sleep 30" })));
        let mut child = world.start(&["exec", "--script", &script, "--yes", "--json", "Wait."]);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        lines.by_ref().find(|line| line.contains("terminalStarted")).unwrap();
        signal(&child, sent);
        let last = lines.last().unwrap();
        assert!(last.contains("turnEnded") && last.contains("cancelled"), "{last}");
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

#[test]
fn ctrl_c_at_a_question_cancels_the_turn() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let edit = json!({ "path": "a.txt", "old_text": "one", "new_text": "two" });
    let cases = [("edit_replace_exact", edit, "accept (y)"), ("shell_run", json!({ "command": "touch made" }), "1-4>")];
    for (tool, input, question) in cases {
        let script = world.script(&one_call(tool, &input));
        let mut terminal = world.terminal(&["exec", "--script", &script, "Do it."]);
        terminal.until(question);
        terminal.keys("\x03");
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(130), "{shown}");
    }
    assert_eq!(world.read("a.txt"), "one\n");
    assert!(!world.project().join("made").exists());
}

#[test]
fn questions_are_answered_at_the_terminal() {
    let world = World::new();
    world.write("a.txt", "one\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    let steps = json!([
        { "calls": [{ "tool": "edit_replace_exact", "input": { "path": "a.txt", "old_text": "one", "new_text": "1" } }] },
        { "calls": [{ "tool": "shell_run", "input": { "command": "touch made" } }] },
        { "text": "Done." }
    ]);
    let script = world.script(&steps);
    let mut terminal = world.terminal(&["exec", "--script", &script, "Do it."]);
    terminal.until("accept (y) or reject (n)");
    terminal.keys("what\n");
    terminal.keys("y\n");
    terminal.until("touch made");
    terminal.until("Reject");
    terminal.keys("1\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(world.read("a.txt").starts_with("1\n2\n"), "{shown}");
    assert!(world.project().join("made").exists(), "{shown}");
}

/// Text that a terminal would obey: clipboard, title, alternate screen, a query that is answered by typing, other
/// orders of words.
const NASTY: &str = "\u{1b}]52;c;eA==\u{7}\u{1b}]0;mine\u{7}\u{1b}[?1049h\u{1b}[6n\u{9b}2J\u{202e}\u{2066}\u{200f}";

/// One of each kind of what nobody sees, and joiners that join nothing.
const UNSEEN: &[char] = &[
    '\u{ad}',
    '\u{34f}',
    '\u{61c}',
    '\u{115f}',
    '\u{1160}',
    '\u{17b4}',
    '\u{17b5}',
    '\u{180b}',
    '\u{180e}',
    '\u{200b}',
    '\u{200c}',
    '\u{200d}',
    '\u{2028}',
    '\u{2060}',
    '\u{2065}',
    '\u{206a}',
    '\u{206f}',
    '\u{2800}',
    '\u{3164}',
    '\u{fe0f}',
    '\u{feff}',
    '\u{ffa0}',
    '\u{fff9}',
    '\u{fffb}',
    '\u{e0000}',
    '\u{e0041}',
    '\u{e01ef}',
];

/// True if nothing is there that hides or that a terminal would obey, except colours and what the line discipline makes
/// of a line's end.
fn is_harmless(shown: &str) -> bool {
    let mut colours = shown.split("\u{1b}[").skip(1).map(|rest| rest.split_once('m').map_or("no colour", |(it, _)| it));
    let is_colour = |parameters: &str| {
        parameters.chars().all(|c| c.is_ascii_digit() || c == ';') && parameters.split(';').all(|number| number != "8")
    };
    let marks = |c: char| {
        matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') || UNSEEN.contains(&c)
    };
    let mut bare = shown.replace("\u{1b}[", "").replace("\r\r\n", "\n").replace("\r\n", "\n");
    bare.retain(|c| c != '\n' && c != '\t');
    colours.all(is_colour) && !bare.contains(|c: char| c.is_control() || marks(c))
}

#[test]
fn what_models_files_commands_and_titles_say_to_a_terminal_is_shown_and_not_obeyed() {
    let world = World::new();
    let nasty = UNSEEN.iter().fold(NASTY.to_owned(), |all, unseen| format!("{all}x{unseen}"));
    let nasty = nasty.as_str();
    world.write("a.txt", &format!("one {nasty}\n"));
    let command = "printf '\\033[32mgreen \\033]52;c;eA==\\007\\033[?1049h\\033[6n\\033[8;1mhidden\\n'; cat a.txt";
    let steps = json!([
        { "text": format!("I say {nasty} so."), "calls": [
            { "tool": "shell_run", "input": { "command": format!("{command} # {nasty}") } },
            { "tool": "edit_replace_exact", "input": { "path": "a.txt", "old_text": "one", "new_text": format!("two {nasty}") } },
            { "tool": "read_file", "input": { "path": format!("no {nasty}") } }
        ] },
        { "text": "Done." }
    ]);
    let script = world.script(&steps);
    let prompt = format!("Do {nasty} it");
    let mut terminal = world.terminal(&["exec", "--script", &script, &prompt]);
    terminal.until("1-");
    terminal.keys("1\n");
    terminal.until("accept (y) or reject (n)");
    terminal.keys("y\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown:?}");
    assert!(
        shown.contains("I say \\u{1b}]52;c;eA==") && shown.contains("\u{1b}[32mgreen \u{1b}[1mhidden"),
        "{shown:?}"
    );
    assert!(shown.contains("\u{1b}[0m") && is_harmless(&shown), "{shown:?}");

    // Without a terminal it may come to one later, as by `less -r`.
    let piped = text(&world.azimuth(&["exec", "--yes", "--script", &script, &prompt]));
    assert!(is_harmless(&piped) && piped.contains("I say \\u{1b}"), "{piped:?}");
    let lines = text(&world.azimuth(&["exec", "--yes", "--json", "--script", &script, &prompt]));
    assert!(is_harmless(&lines) && lines.contains("\\u202e") && lines.contains("\\u009b"), "{lines:?}");
    let listed = text(&world.azimuth(&["sessions", "list"]));
    assert!(is_harmless(&listed) && listed.contains("x\\u{ad}x"), "{listed:?}");
    let id = listed.split_whitespace().next().unwrap();
    for arguments in
        [&["sessions", "show", id][..], &["sessions", "show", id, "--json"], &["sessions", "list", "--json"]]
    {
        let shown = text(&world.azimuth(arguments));
        assert!(shown.contains("Do ") && is_harmless(&shown), "{arguments:?} {shown:?}");
    }
    let missing = text(&world.azimuth(&["sessions", "show", nasty]));
    assert!(!missing.is_empty() && is_harmless(&missing), "{missing:?}");
}

#[test]
fn emoji_and_scripts_that_join_are_shown_as_they_are() {
    let world = World::new();
    let joined = "\u{1f469}\u{200d}\u{1f4bb} 1\u{fe0f}\u{20e3} \u{26a0}\u{fe0f} \u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645} \u{915}\u{94d}\u{200d}\u{937}";
    world.write("a.txt", &format!("{joined}\n"));
    let call = json!({ "tool": "shell_run", "input": { "command": "cat a.txt" } });
    let script = world.script(&json!([{ "text": format!("I say {joined}."), "calls": [call] }, { "text": "Done." }]));
    let shown = text(&world.azimuth(&["exec", "--yes", "--script", &script, joined]));
    assert!(shown.contains(&format!("I say {joined}.")), "{shown:?}");
    assert!(shown.matches(joined).count() >= 2, "the command's output, too: {shown:?}");
    let listed = text(&world.azimuth(&["sessions", "list"]));
    assert!(listed.contains(joined), "{listed:?}");
}

#[test]
fn an_imported_session_begins_in_mode_agent() {
    let world = World::new();
    let script = world.script(&json!([{ "text": "First." }, { "text": "Second." }]));
    let made = world.azimuth(&["exec", "--mode", "accept-edits", "--script", &script, "Begin."]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made));
    let id = text(&world.azimuth(&["sessions", "list"])).split_whitespace().next().unwrap().to_owned();
    let exported = world.azimuth(&["sessions", "export", &id]).stdout;
    // Whoever made the file may have written any mode into it.
    let bypassing = String::from_utf8(exported).unwrap().replace("acceptEdits", "bypass");
    for (name, text_of) in [("bypass", &bypassing), ("accepting", &bypassing.replace("bypass", "acceptEdits"))] {
        let file = world.project().join(name);
        std::fs::write(&file, text_of).unwrap();
        let imported = text(&world.azimuth(&["sessions", "import", file.to_str().unwrap()]));
        let id = imported.split_whitespace().nth(1).unwrap().to_owned();
        let lines = text(&world.azimuth(&["sessions", "list", "--json"]));
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let session = lines.iter().find(|session| session["sessionId"] == id.as_str()).unwrap();
        assert_eq!(session["mode"], "agent", "{name}: {session}");
    }
}

#[test]
fn each_hunk_is_asked_once_though_the_agent_edits_on_meanwhile() {
    let world = World::new();
    world.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let edit = |old: &str, new: &str| json!({ "tool": "edit_replace_exact", "input": { "path": "a.txt", "old_text": old, "new_text": new } });
    let calls = json!([edit("1\n", "one\n"), edit("5\n", "five\n"), edit("9\n", "")]);
    let script = world.script(&json!([{ "calls": calls }, { "text": "Done." }]));
    let mut terminal = world.terminal(&["exec", "--script", &script, "Do it."]);
    for (change, answer) in [("+one", "y\n"), ("+five", "n\n"), ("-9", "y\n")] {
        terminal.until(change);
        terminal.keys(answer);
    }
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(3), "{shown}");
    assert_eq!(world.read("a.txt"), "one\n2\n3\n4\n5\n6\n7\n8\n", "{shown}");
    assert_eq!(shown.matches("+one").count(), 1, "{shown}");
}

#[test]
fn an_accepted_edit_that_cannot_be_applied_is_a_failure() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let input = json!({ "path": "a.txt", "old_text": "one", "new_text": "two" });
    let script = world.script(&one_call("edit_replace_exact", &input));
    let mut terminal = world.terminal(&["exec", "--script", &script, "Change it."]);
    terminal.until("accept (y)");
    world.write("a.txt", "changed by somebody else\n");
    terminal.keys("y\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("a.txt was not changed"), "{shown}");
    assert_eq!(world.read("a.txt"), "changed by somebody else\n");
}

#[test]
fn with_yes_a_changed_file_moves_to_where_its_turn_has_deleted_or_moved_another() {
    let patch = |body: &str| {
        let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
        json!({ "tool": "edit_apply_patch", "input": { "patch": patch } })
    };
    let moved = |from: &str, to: &str, old: &str, new: &str| {
        patch(&format!("*** Update File: {from}\n*** Move to: {to}\n@@\n-{old}\n+{new}\n"))
    };
    let deleted = [patch("*** Delete File: new.txt\n"), moved("old.txt", "new.txt", "old", "changed")];
    let there_and_back = [moved("old.txt", "b.txt", "old", "one"), moved("b.txt", "old.txt", "one", "changed")];
    for ([first, second], file) in [(deleted, "new.txt"), (there_and_back, "old.txt")] {
        let at_once = json!([{ "calls": [first, second] }, { "text": "Done." }]);
        let after_another = json!([{ "calls": [first] }, { "calls": [second] }, { "text": "Done." }]);
        for steps in [at_once, after_another] {
            let world = World::new();
            world.write("old.txt", "old\n");
            if file == "new.txt" {
                world.write("new.txt", "new\n");
            }
            let output = world.azimuth(&["exec", "--yes", "--script", &world.script(&steps), "Move it."]);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output));
            let left: Vec<_> = std::fs::read_dir(world.project()).unwrap().map(|it| it.unwrap().file_name()).collect();
            assert_eq!((left.as_slice(), world.read(file).as_str()), ([file.into()].as_slice(), "changed\n"));
        }
    }
}

#[test]
fn a_reader_that_has_had_enough_cuts_a_turn_off_but_not_a_list() {
    let world = World::new();
    let script = world.script(&json!([{ "text": "Hello." }]));
    let mut child = world.start(&["exec", "--script", &script, "Hello."]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let mut child = world.start(&["models"]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn doctor_says_what_is_there_and_what_to_do() {
    let world = World::new();
    let output = world.azimuth(&["doctor"]);
    for expected in ["configuration: ", "shell: ", "sessions: ", "log: ", "ANTHROPIC_API_KEY"] {
        assert!(text(&output).contains(expected), "`{expected}` is not in:\n{}", text(&output));
    }
    world.write("mine.project", "");
    world.write("bin/mine-lsp", "");
    let program = world.project().join("bin/mine-lsp");
    std::fs::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mine = r#"{"command": "mine-lsp", "fileTypes": ["mine"], "rootMarkers": ["mine.project"]}"#;
    let lost =
        r#"{"command": "lost-lsp", "install": "get lost", "fileTypes": ["mine"], "rootMarkers": ["mine.project"]}"#;
    world.write("lsp.json", &format!(r#"{{"mine": {mine}, "lost": {lost}, "wrong": {{"argz": []}}}}"#));
    let output = world.azimuth(&["doctor"]);
    for expected in [
        "mine for .: ",
        "bin/mine-lsp (it belongs to the project, and starts once you have allowed it in its current form",
        "these are not installed; install those that you want into the project or your PATH:\n       lost  get lost\n",
        "unknown field `argz`",
    ] {
        assert!(text(&output).contains(expected), "`{expected}` is not in:\n{}", text(&output));
    }
    world.write("../config.toml", "nonsense = \n");
    let output = world.azimuth(&["doctor"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("bad  configuration"), "{}", text(&output));
}

#[test]
fn doctor_tries_the_language_servers_that_it_calls_ok_and_runs_nothing_of_the_folder_for_it() {
    let world = World::new();
    let home = world.folder.path().canonicalize().unwrap();
    let program = |name: &str, text: &str| {
        std::fs::create_dir_all(home.join("tools")).unwrap();
        std::fs::write(home.join("tools").join(name), text).unwrap();
        std::fs::set_permissions(home.join("tools").join(name), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
    };
    // The stub that rustup puts there says only when it runs that there is nothing behind it.
    let stub =
        "#!/bin/sh\necho \"error: Unknown binary 'rust-analyzer' in official toolchain '1.95.0'.\" >&2\nexit 1\n";
    program("rust-analyzer", stub);
    program("nasty", include_str!("../../server/crates/lang/src/pool/tests/nasty.py"));
    world.write("Cargo.toml", "");
    world.write("a.nasty", "");
    let nasty =
        json!({ "command": "nasty", "args": ["says-goodbye"], "fileTypes": ["nasty"], "rootMarkers": ["a.nasty"] });
    std::fs::write(home.join("lsp.json"), json!({ "nasty": nasty }).to_string()).unwrap();
    // The tools lie among temporary files here, where commands in the sandbox could write.
    std::fs::write(home.join("config.toml"), "sandbox = \"full\"\n").unwrap();
    let mut doctor = world.command(harness::binary());
    let path = format!("{}:{}", home.join("tools").display(), std::env::var("PATH").unwrap());
    let output = doctor.arg("doctor").env("PATH", path).output().unwrap();
    let shown = text(&output);
    let of = |name: &str| {
        shown.lines().find(|line| line.contains(&format!("{name} for .: "))).unwrap_or_else(|| panic!("{shown}"))
    };
    let tools = home.join("tools").display().to_string();
    let broken = format!("warn language servers: rust-analyzer for .: {tools}/rust-analyzer cannot run: ");
    assert!(of("rust-analyzer").starts_with(&broken), "{shown}");
    for expected in
        ["Unknown binary 'rust-analyzer' in official toolchain", "; `rustup component add rust-analyzer` installs it"]
    {
        assert!(of("rust-analyzer").contains(expected), "{shown}");
    }
    assert_eq!(of("nasty"), format!("ok   language servers: nasty for .: {tools}/nasty (0.1)"));
    assert!(!world.project().join("goodbye").exists(), "it was started in the folder, which is not trusted");
}

#[test]
fn a_language_servers_entry_with_a_field_that_we_do_not_know_counts_but_for_that() {
    let world = World::new();
    world.write("mine.project", "");
    let mine = r#"{"command": "lost-lsp", "capabilities": {"x": 1}, "install": "get mine", "fileTypes": ["mine"], "rootMarkers": ["mine.project"]}"#;
    world.write("lsp.json", &format!(r#"{{"mine": {mine}}}"#));
    let shown = text(&world.azimuth(&["doctor"]));
    assert!(shown.contains("`mine`: unknown field `capabilities`; that does not count, the rest does"), "{shown}");
    assert!(shown.contains("       mine  get mine\n"), "{shown}");
}

#[test]
fn doctor_finds_a_key_and_a_model_to_use() {
    let world = World::new();
    let mut command = world.command(harness::binary());
    // A proxy that is not there keeps the test from the vendor.
    command.env("HTTPS_PROXY", "http://127.0.0.1:9").env_remove("NO_PROXY").env_remove("no_proxy");
    let output = command.env("ANTHROPIC_API_KEY", "sk-ant-hunter2").arg("doctor").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("default model: anthropic/"), "{}", text(&output));
    assert!(!text(&output).contains("hunter2"), "{}", text(&output));
}

#[test]
fn models_says_what_each_one_lacks() {
    let world = World::new();
    let output = world.azimuth(&["models"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let line = text(&output).lines().find(|line| line.starts_with("anthropic/")).unwrap().to_owned();
    assert!(line.contains("ANTHROPIC_API_KEY"), "{line}");
    let output = world.azimuth(&["models", "--json"]);
    let models: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let anthropic = models.iter().find(|model| model["provider"] == "anthropic").unwrap();
    assert_eq!(anthropic["available"], false);
}

#[test]
fn a_turn_is_recorded_and_played_again() {
    let world = World::new();
    world.write("a.txt", "one\n");
    let script = world.script(&one_call("read_file", &json!({ "path": "a.txt" })));
    let recording = world.folder.path().join("recording.jsonl").display().to_string();
    let first = world.azimuth(&["exec", "--script", &script, "--record", &recording, "Read it."]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let again = world.azimuth(&["exec", "--script", &recording, "Read it."]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
    assert!(text(&again).contains("Done."), "{}", text(&again));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
