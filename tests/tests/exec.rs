//! `azimuth exec` and `azimuth demo`: the whole job without an editor, on real input, as a user would start it.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files and starts the program itself")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A folder to work in, a data folder of its own, and the program.
struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(world.project()).unwrap();
        world
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
        let mut command = Command::new(harness::binary());
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null());
        command.env("AZIMUTH_DATA_DIR", self.folder.path().join("data"));
        command.env("AZIMUTH_CONFIG", self.folder.path().join("config.toml"));
        command.env("CARGO_TARGET_DIR", self.folder.path().join("target"));
        for key in ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"] {
            command.env_remove(key);
        }
        command.output().unwrap()
    }
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
    assert!(text(&output).contains("search_text"), "{}", text(&output));
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
fn a_session_is_gone_on_with_listed_shown_and_deleted() {
    let world = World::new();
    let script = world.script(&json!([{ "text": "First answer." }, { "text": "Second answer." }]));
    let first = world.azimuth(&["exec", "--script", &script, "Remember the number seven."]);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first));
    let listed = text(&world.azimuth(&["sessions", "list"]));
    assert!(listed.contains("Remember the number seven"), "{listed}");
    let id = listed.split_whitespace().next().unwrap().to_owned();

    let second = world.azimuth(&["exec", "--script", &script, "--resume", &id, "Which number?"]);
    assert_eq!(second.status.code(), Some(0), "{}", text(&second));
    assert!(text(&second).contains("Second answer."), "{}", text(&second));

    let shown = text(&world.azimuth(&["sessions", "show", &id]));
    for expected in ["> Remember the number seven.", "First answer.", "> Which number?", "Second answer."] {
        assert!(shown.contains(expected), "`{expected}` is not in:\n{shown}");
    }
    assert!(world.azimuth(&["sessions", "delete", &id]).status.success());
    assert!(!text(&world.azimuth(&["sessions", "list"])).contains(&id));
}

#[test]
fn without_a_key_and_a_local_server_it_says_what_to_do() {
    let world = World::new();
    // A host where nobody answers keeps a local server of whoever runs the tests out of it.
    let output = world.azimuth(&["exec", "--model", "anthropic/claude-sonnet-4-5", "Hello."]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert!(text(&output).contains("ANTHROPIC_API_KEY"), "{}", text(&output));
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let world = World::new();
    assert_eq!(world.azimuth(&["exec", "--nonsense"]).status.code(), Some(2));
    assert_eq!(world.azimuth(&["nonsense"]).status.code(), Some(2));
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

/// Where cargo keeps the sources of a crate that we depend on.
fn source_of(name: &str) -> PathBuf {
    let metadata = cargo_metadata::MetadataCommand::new().other_options(["--offline".into()]).exec().unwrap();
    let package = metadata.packages.iter().find(|package| package.name.as_str() == name).unwrap();
    package.manifest_path.parent().unwrap().into()
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
