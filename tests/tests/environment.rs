//! The part of the user's environment that programs get: no secrets but those let through, and no folders of programs
//! that a project chooses.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files and starts the program itself")]

use std::os::unix::fs::PermissionsExt;

use harness::window::Window;
use harness::{Answer, ModelServer, Profile, Project, Setup, Wire, binary};
use protocol::SessionId;
use protocol::turn::StopReason;
use serde_json::{Value, json};
use tokio::process::Command;

/// Variables with a secret each, by their names or by their values.
const SECRETS: &[(&str, &str)] = &[
    ("PLAINLY_CALLED", "one-plain-word"),
    ("COPY_OF_IT", "one-plain-word"),
    ("OPENAI_KEY", "hidden-1"),
    ("PGPASSWORD", "hidden-2"),
    ("MYSQL_PWD", "hidden-3"),
    ("DATABASE_URL", "postgres://ada:hidden-4@db.example/app"),
    ("SSHPASS", "hidden-5"),
    ("GH_PAT", "hidden-6"),
    ("NPM_CONFIG__AUTH", "hidden-7"),
    ("DOCKER_AUTH_CONFIG", "{\"auths\":{\"x\":{\"auth\":\"hidden-8\"}}}"),
    ("SENTRY_DSN", "https://hidden-9@o1.example/1"),
    ("HTTPS_PROXY", "http://ada:hidden-10@127.0.0.1:1"),
    ("BENIGN_NAME", "ghp_hidden0123456789abcdefghij"),
    ("GITHUB_TOKEN", "hidden-11"),
];

/// Variables that stay, and one that a project would like to have as well.
const OTHERS: &[(&str, &str)] =
    &[("MY_SETTING", "kept-1"), ("REDIS_URL", "redis://localhost:6379"), ("LET_THROUGH_TOKEN", "kept-2")];

struct World {
    window: Window,
    model: ModelServer,
    session: SessionId,
    project: Project,
}

impl World {
    async fn new(settings: &str, project: Project, profile: Profile, variables: &[(&str, &str)]) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let configuration = Setup::configuration(&model, Wire::Chat);
        let more = "[providers.mine]\nbase_url = \"http://127.0.0.1:1\"\nkey_env = \"PLAINLY_CALLED\"\nmodels = [\"m\"]\n\
                    [permissions]\nallow = [\"Shell\", \"ShellOutside\"]\n";
        setup.configure(&format!("{settings}\n{configuration}{more}"));
        let mut command = Command::new(binary());
        command.envs(variables.iter().copied()).current_dir(project.folder());
        let window = Window::launch(command, &setup, &project, profile).await;
        let session = window.new_session().await;
        // The setup's folder is removed with the test's process.
        std::mem::forget(setup);
        Self { window, model, session, project }
    }

    /// Has the agent call a tool. Gives what it is told.
    async fn call(&self, tool: &str, input: Value) -> String {
        self.model.then(Answer::calls(tool, input));
        self.model.then(Answer::says("Done."));
        let before = self.model.asked().len();
        self.window.prompt(&self.session, "Run it.").await;
        self.window.until_end(&self.session, StopReason::EndTurn).await;
        self.model.asked()[before + 1].last_results()[0].to_owned()
    }

    /// The text that a command wrote to a file; empty until it has.
    fn written(&self, file: &str) -> String {
        std::fs::read_to_string(self.project.path(file)).unwrap_or_default()
    }
}

fn all() -> Vec<(&'static str, &'static str)> {
    SECRETS.iter().chain(OTHERS).copied().collect()
}

fn assert_clean(environment: &str, whose: &str) {
    assert!(environment.contains("MY_SETTING=kept-1"), "{whose}:\n{environment}");
    assert!(environment.contains("REDIS_URL=redis://localhost:6379"), "{whose}:\n{environment}");
    for (name, value) in SECRETS {
        assert!(!environment.contains(value) && !environment.contains(&format!("\n{name}=")), "{whose} has {name}");
    }
}

#[tokio::test]
async fn no_command_job_or_command_outside_gets_a_secret_and_the_model_is_told_once_which_are_missing() {
    let project = Project::new([("a.txt", "one\n")]);
    project.write(".azimuth/config.toml", "pass_environment = [\"LET_THROUGH_TOKEN\", \"GITHUB_TOKEN\"]\n");
    let pass = "pass_environment = [\"LET_THROUGH_TOKEN\", \"PLAINLY_CALLED\"]";
    let world = World::new(pass, project, Profile::panel(), &all()).await;
    let warning: Value = world.window.notification("window/showMessage").await;
    assert!(warning["message"].as_str().is_some_and(|text| text.contains("pass_environment ignored")), "{warning}");
    let told = world.call("shell_run", json!({ "command": "env > inside.txt" })).await;
    for (name, _) in SECRETS {
        assert!(told.contains(name), "it is not told of {name}: {told}");
    }
    assert!(!told.contains("LET_THROUGH_TOKEN") && !told.contains("hidden"), "{told}");
    let again = world.call("shell_run", json!({ "command": "true" })).await;
    assert!(!again.contains("PGPASSWORD"), "{again}");
    world.call("shell_start", json!({ "command": "env > job.txt", "wait_seconds": 30 })).await;
    let outside = json!({ "command": "env > outside.txt", "outside": true, "why": "to see" });
    world.call("shell_run", outside).await;
    for file in ["inside.txt", "job.txt", "outside.txt"] {
        let environment = world.written(file);
        assert_clean(&environment, file);
        assert!(environment.contains("LET_THROUGH_TOKEN=kept-2"), "{file}: the user lets it through");
    }
}

/// A project that brings programs along, each of which leaves a mark with what it was given.
fn hostile(places: &[&str]) -> Project {
    let project = Project::new([("a.txt", "one\n")]);
    let mark = project.path("mark.txt");
    for place in places {
        for name in ["git", "ls", "bash", "sh", "setsid"] {
            let file = format!("{place}{name}");
            project.write(&file, &format!("#!/bin/sh\necho \"$0 $PGPASSWORD\" >> {}\n", mark.display()));
            std::fs::set_permissions(project.path(&file), PermissionsExt::from_mode(0o755)).unwrap();
        }
    }
    let made = std::process::Command::new("/usr/bin/git").args(["init", "-q"]).current_dir(project.folder()).status();
    assert!(made.is_ok_and(|status| status.success()));
    project
}

#[tokio::test]
async fn programs_of_a_folder_that_is_not_trusted_are_not_run_by_a_path_with_relative_entries_or_ones_in_it() {
    let project = hostile(&["", "tools/", "bin/"]);
    let path = format!(":.:tools:{}:/usr/local/bin:/usr/bin:/bin:", project.path("bin").display());
    let restricted = Profile { trust: Some("restricted"), ..Profile::panel() };
    let world = World::new("", project, restricted, &[("PATH", &path), ("PGPASSWORD", "hidden-2")]).await;
    let told = world.call("shell_run", json!({ "command": "git status --short; ls; which -a git ls" })).await;
    assert_eq!(world.written("mark.txt"), "", "{told}");
    assert!(told.contains("/usr/bin/git"), "{told}");
    assert!(!told.contains(world.project.folder().to_str().unwrap()), "{told}");
}

#[tokio::test]
async fn in_a_trusted_folder_too_no_shell_has_relative_entries_and_what_we_start_is_not_the_projects() {
    let project = hostile(&["", "bin/"]);
    let bin = project.path("bin").display().to_string();
    std::fs::remove_file(project.path("bin/ls")).unwrap();
    let path = format!(".::{bin}:/usr/bin:/bin");
    let world = World::new("", project, Profile::panel(), &[("PATH", &path)]).await;
    let told = world.call("shell_run", json!({ "command": "ls; echo \"PATH is $PATH.\"" })).await;
    assert_eq!(world.written("mark.txt"), "", "{told}");
    assert!(told.contains(&format!("PATH is {bin}:/usr/bin:/bin.")), "{told}");
}

#[test]
fn doctor_says_which_entries_of_path_are_left_out_and_which_variables_are_kept_back() {
    let (setup, project) = (Setup::empty(), Project::new([("a.txt", "one\n")]));
    let mut doctor = std::process::Command::new(binary());
    doctor.arg("doctor").current_dir(project.folder()).env("PATH", ":/usr/bin:/bin:node_modules/.bin");
    doctor.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    let said = String::from_utf8(doctor.env("GH_PAT", "hidden").output().unwrap().stdout).unwrap();
    assert!(said.contains("PATH: an empty one, `node_modules/.bin` left out"), "{said}");
    let line = said.lines().find(|line| line.contains("environment: ")).unwrap_or_default();
    assert!(line.contains("GH_PAT") && line.contains("pass_environment") && !said.contains("hidden"), "{said}");
}

#[test]
fn doctor_asks_git_nothing_of_the_folder() {
    let base = if rustix::process::geteuid().is_root() { "/srv".into() } else { std::env::var_os("HOME").unwrap() };
    // Nothing is taken from among temporary files.
    let place = tempfile::TempDir::with_prefix_in("azimuth-doctor-", base).unwrap();
    let (git, asked) = (place.path().join("git"), place.path().join("asked"));
    let script = format!("#!/bin/sh\necho \"$@\" >>{}\nexec /usr/bin/git \"$@\"\n", asked.display());
    std::fs::write(&git, script).unwrap();
    std::fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).unwrap();
    let (setup, project) = (Setup::empty(), Project::new([("a.txt", "one\n")]));
    let init = std::process::Command::new("git").args(["init", "-q"]).current_dir(project.folder()).status();
    assert!(init.unwrap().success());
    let mut doctor = std::process::Command::new(binary());
    doctor.arg("doctor").current_dir(project.folder());
    doctor.env("PATH", format!("{}:{}", place.path().display(), std::env::var("PATH").unwrap()));
    doctor.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    let said = String::from_utf8(doctor.output().unwrap().stdout).unwrap();
    assert!(said.contains("shell: bash"), "{said}");
    let asked = std::fs::read_to_string(asked).unwrap_or_default();
    assert!(!asked.contains("--show-scope"), "{asked}");
}
