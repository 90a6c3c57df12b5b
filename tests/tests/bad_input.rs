//! Calls that cannot be carried out say so, to the user and to the model, and end nothing.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Runs a script of one tool call, and gives the call's result and the exit code.
fn result_of(prepare: impl Fn(&std::path::Path), tool: &str, input: &Value) -> (Value, Option<i32>) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    std::fs::write(folder.path().join("secret.txt"), "the secret\n").unwrap();
    prepare(&project);
    let steps = json!([{ "calls": [{ "tool": tool, "input": input }] }, { "text": "Done." }]);
    let script = folder.path().join("script.json");
    std::fs::write(&script, json!({ "name": "test", "steps": steps }).to_string()).unwrap();
    let output = Command::new(harness::binary())
        .args(["exec", "--trust", "--json", "--yes", "--script"])
        .arg(&script)
        .arg("Do it.")
        .current_dir(&project)
        .env("AZIMUTH_DATA_DIR", folder.path().join("data"))
        .env("AZIMUTH_CONFIG", folder.path().join("config.toml"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let events = stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let ended: Vec<Value> = events.filter(|event| event["event"]["type"] == "toolCallEnded").collect();
    assert_eq!(ended.len(), 1, "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    (ended[0]["event"]["result"].clone(), output.status.code())
}

/// The words of a call that must fail while the turn goes on to its end.
fn failure_of(prepare: impl Fn(&std::path::Path), tool: &str, input: &Value) -> String {
    let (result, code) = result_of(prepare, tool, input);
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(code, Some(0), "{result}");
    let text = result["text"].as_str().unwrap().to_owned();
    assert!(!text.contains("the secret"), "{text}");
    text
}

#[test]
fn a_file_outside_the_workspace_is_not_read() {
    for path in ["../secret.txt", "/etc/passwd", "a/../../secret.txt", "~/.bashrc"] {
        let text = failure_of(|_| {}, "read_file", &json!({ "path": path }));
        assert!(text.contains("outside the workspace") || text.contains('~'), "{path}: {text}");
    }
}

#[test]
fn a_link_that_leaves_the_workspace_is_not_followed() {
    let link = |project: &std::path::Path| {
        std::os::unix::fs::symlink(project.join("../secret.txt"), project.join("link.txt")).unwrap();
        std::os::unix::fs::symlink(project.join(".."), project.join("up")).unwrap();
    };
    for path in ["link.txt", "up/secret.txt"] {
        let text = failure_of(link, "read_file", &json!({ "path": path }));
        assert!(text.contains("outside the workspace"), "{path}: {text}");
    }
    let text = failure_of(link, "edit_create_file", &json!({ "path": "up/made.txt", "content": "x\n" }));
    assert!(text.contains("outside the workspace"), "{text}");
}

#[test]
fn a_search_does_not_leave_the_workspace_either() {
    let link = |project: &std::path::Path| {
        std::os::unix::fs::symlink(project.join("../secret.txt"), project.join("link.txt")).unwrap();
    };
    let (result, _) = result_of(link, "search_text", &json!({ "query": "secret" }));
    assert!(!result["text"].as_str().unwrap().contains("the secret"), "{result}");
}

#[test]
fn a_file_that_is_not_utf_8_is_said_to_be_so() {
    let latin = |project: &std::path::Path| std::fs::write(project.join("a.txt"), b"caf\xe9\n").unwrap();
    let text = failure_of(latin, "read_file", &json!({ "path": "a.txt" }));
    assert!(text.contains("UTF-8"), "{text}");
}

#[test]
fn a_file_of_2_gb_is_refused_before_it_is_read() {
    let huge = |project: &std::path::Path| {
        std::fs::File::create(project.join("huge.txt")).unwrap().set_len(2 << 30).unwrap();
    };
    let text = failure_of(huge, "read_file", &json!({ "path": "huge.txt" }));
    assert!(text.contains("large") || text.contains("MiB") || text.contains("bytes"), "{text}");
}

#[test]
fn git_s_own_files_are_not_edited() {
    let git = |project: &std::path::Path| std::fs::create_dir(project.join(".git")).unwrap();
    let text = failure_of(git, "edit_create_file", &json!({ "path": ".git/hooks/post-commit", "content": "x\n" }));
    assert!(text.contains("git"), "{text}");
}

#[test]
fn an_input_that_does_not_fit_names_the_field() {
    let text = failure_of(|_| {}, "read_file", &json!({ "paht": "a.txt" }));
    assert!(text.contains("paht") || text.contains("path"), "{text}");
    let text = failure_of(|_| {}, "no_such_tool", &json!({}));
    assert!(text.contains("read_file"), "{text}");
}
