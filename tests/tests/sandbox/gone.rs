//! Folders of machines that are gone, whose disk never answers: nothing waits for them without bound, and who has one
//! in `PATH` is told of it and has commands without it.

use harness::Gone;
use shell::{Jobs, ShellError};

use super::*;

/// A session as it is opened with a folder of `PATH` that is gone. The folder is first, to be dropped first.
async fn with_gone_in_path(settings: &str, files: &[(&str, String)]) -> Option<(Gone, World)> {
    let mut gone = None;
    let first_in_path = |_: &Path| {
        gone = Gone::new();
        let path = gone.as_ref().map_or_else(|| std::env::var("PATH").unwrap(), Gone::first_in_path);
        vec![("PATH", path)]
    };
    let world = World::made(User::Same, settings, files, first_in_path).await;
    gone.zip(world)
}

/// The notices to the user about a folder.
async fn told_of(world: &World, folder: &Path) -> Vec<String> {
    let opened = world.window.call::<methods::SessionOpen>(json!({ "sessionId": world.session, "since": 0 })).await;
    let folder = folder.display().to_string();
    let told = opened.events.into_iter().filter_map(|event| match event.event {
        Event::Notice { text, .. } if text.contains(&folder) => Some(text),
        _ => None,
    });
    told.collect()
}

/// The number of the server's threads that wait for a disk, and not for something to look at; none if the kernel does
/// not say what threads wait for.
fn stuck(world: &World) -> Option<usize> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", world.window.process().as_raw_nonzero())).unwrap();
    let says = |task: &Path, file: &str| std::fs::read_to_string(task.join(file)).unwrap_or_default();
    let waits: Vec<_> = tasks.flatten().map(|task| (says(&task.path(), "comm"), says(&task.path(), "wchan"))).collect();
    let is_said = waits.iter().any(|(_, at)| at.starts_with("futex"));
    is_said.then(|| waits.iter().filter(|(name, at)| name == "look\n" && !at.starts_with("futex")).count())
}

#[tokio::test]
async fn a_session_opens_where_a_folder_of_path_is_gone_and_has_commands_without_it() {
    let Some((gone, world)) = with_gone_in_path("", &[]).await else { return };
    let entry = gone.folder().join("bin");
    let told = told_of(&world, &entry).await;
    assert!(told.len() == 1 && told[0].contains("does not answer"), "{told:?}");
    for _ in 0..2 {
        let told = world.works("ls; nowhere || echo \"PATH is $PATH.\"").await;
        assert!(told.contains("a.txt\n") && told.contains("PATH is "), "{told}");
        assert!(!told.contains(&format!("PATH is {}", entry.display())), "{told}");
    }
    assert_eq!(told_of(&world, &entry).await.len(), 1, "once is enough");
    assert_eq!(stuck(&world).unwrap_or(1), 1, "and it is asked once");
    drop(gone);
    world.window.close().await;
}

#[tokio::test]
async fn doctor_says_which_folder_of_path_is_gone_and_comes_to_its_end() {
    let (setup, project) = (Setup::empty(), Project::new([("a.txt", "one\n"), ("Cargo.toml", "")]));
    let Some(gone) = Gone::new() else { return };
    let mut doctor = tokio::process::Command::new(harness::binary());
    doctor.arg("doctor").current_dir(project.folder()).env("PATH", gone.first_in_path()).kill_on_drop(true);
    doctor.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    let output = harness::patiently("doctor's end", doctor.output()).await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let line = said.lines().find(|line| line.contains("PATH: ")).unwrap_or_default();
    assert!(line.contains(&format!("{}/bin", gone.folder().display())) && line.contains("does not answer"), "{said}");
    assert!(said.contains("shell: bash"), "{said}");
}

#[tokio::test]
async fn where_a_folder_of_path_goes_away_the_next_shell_is_without_it_and_the_user_and_the_model_are_told() {
    let first_in_path = |folder: &Path| {
        let gone = folder.parent().unwrap().join("gone");
        std::fs::create_dir_all(gone.join("bin")).unwrap();
        vec![("PATH", format!("{}/bin:{}", gone.display(), std::env::var("PATH").unwrap()))]
    };
    let Some(world) = World::with(User::Same, "", first_in_path).await else { return };
    let Some(gone) = Gone::mount(world.home.join("gone")) else { return world.window.close().await };
    let entry = world.home.join("gone/bin");
    let told = world.works("echo inside; echo \"PATH is $PATH.\"").await;
    assert!(told.contains("inside\n") && !told.contains(&format!("PATH is {}", entry.display())), "{told}");
    assert!(told.contains(&format!("{} does not answer", entry.display())), "the model: {told}");
    let notices = told_of(&world, &entry).await;
    assert!(notices.len() == 1 && notices[0].contains("does not answer"), "{notices:?}");
    assert!(world.runs_outside("echo outside; ls a.txt").await.contains("outside\na.txt\n"));
    drop(gone);
    world.window.close().await;
}

#[tokio::test]
async fn start_files_are_run_without_a_folder_of_path_that_is_gone_and_it_is_back_once_it_answers() {
    let profile = "greet() { echo \"hello from $WHO\"; }\nexport WHO=\"$(id -un)\"\nnowhere\n".to_owned();
    let made = with_gone_in_path("shell_rc = true", &[(".bash_profile", profile)]).await;
    let Some((gone, world)) = made else { return };
    let told = world.works("greet").await;
    assert!(told.contains("hello from ") && !told.contains("hello from \n"), "{told}");
    let entry = gone.folder().join("bin");
    drop(gone);
    // The same start files, in a shell that begins anew.
    let session = world.window.new_session().await;
    world.model.then(Answer::calls("shell_run", json!({ "command": "echo \"PATH is $PATH.\"; greet" })));
    world.model.then(Answer::says("Done."));
    world.window.prompt(&session, "Run it here.").await;
    world.window.until_end(&session, StopReason::EndTurn).await;
    let told = world.model.asked().last().unwrap().last_results()[0].to_owned();
    assert!(told.contains(&format!("PATH is {}:", entry.display())) && told.contains("hello from "), "{told}");
    world.window.close().await;
}

#[tokio::test]
async fn a_link_to_a_folder_that_is_gone_does_not_keep_commands_from_being_judged() {
    let Some(world) = World::new(User::Same, "").await else { return };
    let Some(gone) = Gone::mount(world.home.join("gone")) else { return world.window.close().await };
    std::os::unix::fs::symlink(world.home.join("gone/x"), world.project.path("link")).unwrap();
    for (name, text) in [("a/one", "1\n"), ("b/one", "1\n")] {
        std::fs::create_dir_all(world.project.path(name).parent().unwrap()).unwrap();
        std::fs::write(world.project.path(name), text).unwrap();
    }
    // The first is only judged: the shell would wait for what the glob comes to.
    for command in ["true || cat */one link/x", "diff a b"] {
        world.works(command).await;
    }
    drop(gone);
    world.window.close().await;
}

#[tokio::test]
async fn calls_that_ask_a_disk_that_is_gone_fail_in_time_and_the_server_goes_on_meanwhile() {
    let Some(world) = World::new(User::Same, "intercept_commands = true").await else { return };
    std::fs::create_dir(world.home.join("far")).unwrap();
    world.works("cd ~/far").await;
    let Some(gone) = Gone::mount(world.home.join("far")) else { return world.window.close().await };
    let file = gone.folder().join("x").display().to_string();
    // As many as the runtime has workers, and one more in the shell's own folder.
    let calls = [
        ("read_file", json!({ "path": file })),
        ("shell_run", json!({ "command": format!("cat {file}"), "cwd": "." })),
        ("shell_run", json!({ "command": "ls" })),
    ];
    let others = [world.window.new_session().await, world.window.new_session().await];
    let sessions = others.iter().chain([&world.session]);
    let before = world.model.asked().len();
    for (session, (number, (tool, input))) in sessions.clone().zip(calls.into_iter().enumerate()) {
        world.model.then(Answer::calls(tool, input));
        world.window.prompt(session, &format!("Go, {number}.")).await;
        world.model.asked_times(before + number + 1).await;
    }
    world.window.call::<methods::SessionList>(json!({})).await;
    for _ in sessions.clone() {
        world.model.then(Answer::says("Done."));
    }
    for session in sessions {
        world.window.until_end(session, StopReason::EndTurn).await;
    }
    for asked in world.model.asked().iter().skip(before + 3) {
        assert!(asked.last_results()[0].contains("does not answer"), "{:?}", asked.last_results());
    }
    drop(gone);
    world.window.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_or_a_job_in_a_folder_that_is_gone_says_so_in_time() {
    let Some(gone) = Gone::new() else { return };
    let place = TempDir::new().unwrap();
    let config = |cwd: &Path, folder: &str| {
        let (cwd, folder) = (cwd.to_owned(), place.path().join(folder));
        std::fs::create_dir_all(&folder).unwrap();
        let (trust, confinement) = (Trust::default(), Confinement::default());
        ShellConfig { cwd, folder, pass: vec![], program: Some("/bin/bash".into()), trust, confinement }
    };
    let shell = |cwd: &Path, name: &str| Shell::new(config(cwd, name), std::sync::Arc::new(())).unwrap();
    let of_its_own = shell(gone.folder(), "own");
    let ran = tokio::spawn(async move { of_its_own.run(&"call".into(), "pwd", RunOptions::default()).await });
    let there = RunOptions { cwd: Some(gone.folder().to_owned()), ..RunOptions::default() };
    let elsewhere = shell(place.path(), "elsewhere");
    let sent = tokio::spawn(async move { elsewhere.run(&"call".into(), "pwd", there).await });
    for ran in [ran, sent] {
        let said = harness::patiently("the shell's word", ran).await.unwrap().unwrap_err();
        assert!(matches!(&said, ShellError::Silent(folder) if folder == gone.folder()), "{said}");
        assert!(said.to_string().contains("does not answer"), "{said}");
    }
    let jobs = Jobs::new(config(place.path(), "jobs"), 1, Box::new(|_| std::sync::Arc::new(())));
    let (beside, folder) = (shell(place.path(), "beside"), Some(gone.folder().to_owned()));
    let started = tokio::spawn(async move { jobs.start(&beside, &"call".into(), "pwd", folder).await.map(drop) });
    let said = harness::patiently("the job's word", started).await.unwrap().unwrap_err().to_string();
    assert!(said.contains("does not answer"), "{said}");
}

#[tokio::test]
async fn the_folder_of_an_earlier_session_that_is_gone_holds_up_no_session_elsewhere_and_no_doctor() {
    let Some(world) = World::new(User::Same, "").await else { return };
    let far = world.home.join("far");
    std::fs::create_dir_all(far.join("project")).unwrap();
    let folders = json!({ "folders": [format!("file://{}/project", far.display())] });
    let earlier = world.window.call::<methods::SessionNew>(folders).await.session.session_id;
    world.model.then(Answer::says("Done."));
    world.window.prompt(&earlier, "Hello.").await;
    world.window.until_end(&earlier, StopReason::EndTurn).await;
    let Some(gone) = Gone::mount(far) else { return world.window.close().await };

    let session = world.window.new_session().await;
    world.model.then(Answer::calls("shell_run", json!({ "command": "echo here" })));
    world.model.then(Answer::says("Done."));
    world.window.prompt(&session, "Say where.").await;
    world.window.until_end(&session, StopReason::EndTurn).await;
    assert!(world.model.asked().last().unwrap().last_results()[0].contains("here\n"));
    world.window.new_session().await;
    assert!(stuck(&world).unwrap_or(0) <= 2, "it is not asked again and again");

    let mut doctor = tokio::process::Command::new(harness::binary());
    doctor.arg("doctor").current_dir(world.project.folder()).env("HOME", &world.home).kill_on_drop(true);
    doctor.env("AZIMUTH_DATA_DIR", world.setup.data_folder()).env("AZIMUTH_CONFIG", world.setup.config_file());
    let output = harness::patiently("doctor's end", doctor.output()).await.unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("shell: "), "{output:?}");
    drop(gone);
    world.window.close().await;
}
