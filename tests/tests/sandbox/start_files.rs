//! The code that runs outside the sandbox before the first command does, the user's start files and bash itself, runs
//! nothing that commands may have written or a project has brought along.

use super::*;

/// Plants a program of this name that says how it was run, and then does what the system's program of that name does.
fn plant(folder: &Path, name: &str, loot: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let (program, loot) = (folder.join(name), loot.display());
    let script = format!("#!/bin/sh\ngrep Seccomp: /proc/self/status >>{loot}\nexec /usr/bin/{name} \"$@\"\n");
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(program, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Start files as many people have them.
fn profile() -> [(&'static str, String); 3] {
    let text = "export WHO=\"$(id -un)\" MADE=\"$(mktemp)\" PATH=\"$HOME/mine:$PATH\"\n\
                greet() { echo \"hello from $WHO\"; }\n[ -e \"$MADE\" ] && export SPACE=there\n\
                . \"$PYENV_ROOT/init\"\n";
    let init = "(set -C; : >\"$PYENV_ROOT/shims\") && export VERSIONS=known\n";
    let files = [(".bash_profile", ". ~/.bashrc\n"), (".bashrc", text), (".pyenv/init", init)];
    files.map(|(name, text)| (name, text.to_owned()))
}

#[tokio::test]
async fn the_users_start_files_run_no_program_of_an_environment_that_lies_in_the_project() {
    let with_a_program = |folder: &Path| {
        plant(&folder.join(".venv/bin"), "id", &folder.join("loot"));
        plant(&folder.join("tools"), "mktemp", &folder.join("loot"));
        let path = std::env::var("PATH").unwrap();
        let home = folder.parent().unwrap().display();
        let (folder, temporary) = (folder.display(), TempDir::new().unwrap().keep());
        plant(&temporary, "id", Path::new(&format!("{folder}/loot")));
        let path = format!("{folder}/.venv/bin:{}:{path}:{folder}/tools", temporary.display());
        vec![("PATH", path), ("PYENV_ROOT", format!("{home}/.pyenv"))]
    };
    let Some(world) = World::made(User::Same, "shell_rc = true", &profile(), with_a_program).await else { return };
    let told = world.works("greet; echo \"<$SPACE> <$TMPDIR> <$VERSIONS>\"; command -v id; echo $PATH").await;
    assert!(told.contains("hello from ") && told.contains("<there> <> <known>"), "{told}");
    // Commands still have the user's own environment.
    let folder = world.project.folder().display();
    assert!(told.contains(&format!("\n{folder}/.venv/bin/id\n")), "{told}");
    assert!(told.contains(&format!("{}/mine:{folder}/.venv/bin:/tmp/", world.home.display())), "{told}");
    assert!(told.contains(&format!(":{folder}/tools\n")), "{told}");
    assert!(!world.project.path("loot").exists(), "{}", std::fs::read_to_string(world.project.path("loot")).unwrap());
    world.window.close().await;
}

#[tokio::test]
async fn start_files_that_lie_where_commands_write_are_not_run_and_the_user_is_told() {
    let link = |folder: &Path| {
        let home = folder.parent().unwrap();
        std::fs::write(folder.join("bashrc"), "export OWNED=yes\ntouch ~/beside/owned\n").unwrap();
        std::os::unix::fs::symlink(folder.join("bashrc"), home.join(".bashrc")).unwrap();
        vec![]
    };
    let files = [(".profile", ". ~/.bashrc\n".to_owned())];
    let Some(world) = World::made(User::Same, "shell_rc = true", &files, link).await else { return };
    let told = world.works("echo \"<$OWNED>\"").await;
    assert!(told.contains("<>"), "{told}");
    assert!(!world.beside.join("owned").exists());
    let told = notices(&world).await;
    let [words] = told.as_slice() else { panic!("{told:?}") };
    assert!(words.contains("/.bashrc lies where commands may write"), "{words}");
    world.window.close().await;
}

/// Puts a bash and a git that tell of themselves in `~/loot` where commands of some session may write, in folders that
/// `PATH` then begins with.
fn where_commands_write(folder: &Path) -> Vec<(&'static str, String)> {
    let home = folder.parent().unwrap();
    let (other, dotfiles) = (home.join("other/.venv"), home.join("dotfiles"));
    let temporary = TempDir::new().unwrap().keep();
    let folders =
        [home.join(".npm/_npx/1f/node_modules/.bin"), other.join("bin"), dotfiles.join("bin"), temporary.clone()];
    for (folder, name) in folders.iter().flat_map(|folder| [(folder, "bash"), (folder, "git")]) {
        plant(folder, name, &home.join("loot"));
    }
    std::fs::write(other.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    std::fs::create_dir(dotfiles.join(".git")).unwrap();
    std::fs::create_dir_all(home.join(".local")).unwrap();
    std::fs::create_dir(home.join("single")).unwrap();
    for link in ["bin", ".local/bin"] {
        std::os::unix::fs::symlink(dotfiles.join("bin"), home.join(link)).unwrap();
    }
    for name in ["bash", "git"] {
        std::os::unix::fs::symlink(dotfiles.join("bin").join(name), home.join("single").join(name)).unwrap();
    }
    let [cache, environment, _, _] = folders;
    let folders = [cache, environment, home.join("bin"), home.join(".local/bin"), home.join("single"), temporary];
    let folders = folders.map(|folder| folder.display().to_string()).join(":");
    let path = format!("{folders}:{}", std::env::var("PATH").unwrap());
    vec![("PATH", path), ("PYENV_ROOT", format!("{}/.pyenv", home.display()))]
}

#[tokio::test]
async fn bash_is_not_taken_from_where_commands_of_any_session_may_write() {
    let Some(world) = World::made(User::Same, "shell_rc = true", &profile(), where_commands_write).await else {
        return;
    };
    let told = world.works("greet; echo $BASH_VERSION").await;
    assert!(told.contains("hello from "), "{told}");
    world.runs_outside("echo outside").await;
    let loot = world.home.join("loot");
    assert!(!loot.exists(), "{}", std::fs::read_to_string(&loot).unwrap());
    world.window.close().await;
}

#[tokio::test]
async fn where_the_folder_is_not_trusted_git_is_not_taken_from_where_commands_of_any_session_may_write() {
    let with_a_repository = |folder: &Path| {
        assert!(std::process::Command::new("git").args(["init", "-q"]).current_dir(folder).status().unwrap().success());
        where_commands_write(folder)
    };
    let profile = Profile::panel().that_trusts_nothing();
    let Some(world) = World::seen_by(profile, User::Same, "", &[], with_a_repository).await else { return };
    world.model.then(Answer::calls("shell_run", json!({ "command": "git status --short" })));
    world.model.then(Answer::says("Done."));
    world.window.prompt(&world.session, "Run it.").await;
    let (_, question) = world.window.until_asked(&world.session).await;
    world.window.answer(&world.session, &question, "reject_once").await;
    world.window.until_end(&world.session, StopReason::EndTurn).await;
    let told = world.model.asked()[1].last_results()[0].to_owned();
    assert!(told.contains("?? a.txt"), "{told}");
    let loot = world.home.join("loot");
    assert!(!loot.exists(), "{}", std::fs::read_to_string(&loot).unwrap());
    world.window.close().await;
}

#[tokio::test]
async fn the_users_start_files_run_no_program_of_another_project_that_path_leads_to() {
    let with_a_project = |folder: &Path| {
        let home = folder.parent().unwrap();
        plant(&home.join("tools/bin"), "id", &home.join("beside/loot"));
        plant(&home.join("dotfiles/bin"), "mktemp", &home.join("beside/loot"));
        for project in ["tools", "dotfiles"] {
            std::fs::create_dir(home.join(project).join(".git")).unwrap();
        }
        std::os::unix::fs::symlink(home.join("dotfiles/bin"), home.join("bin")).unwrap();
        let (home, path) = (home.display(), std::env::var("PATH").unwrap());
        vec![("PATH", format!("{home}/tools/bin:{home}/bin:{path}")), ("PYENV_ROOT", format!("{home}/.pyenv"))]
    };
    let Some(world) = World::made(User::Same, "shell_rc = true", &profile(), with_a_project).await else { return };
    let told = world.works("greet; command -v id mktemp").await;
    let loot = world.beside.join("loot");
    assert!(!loot.exists(), "{}", std::fs::read_to_string(&loot).unwrap());
    let home = world.home.display();
    assert!(told.contains("hello from "), "{told}");
    assert!(told.contains(&format!("{home}/tools/bin/id\n{home}/bin/mktemp\n")), "commands have them: {told}");
    world.window.close().await;
}

#[tokio::test]
async fn start_files_that_name_what_commands_have_written_by_its_path_see_nothing_of_it() {
    let with_a_program = |folder: &Path| {
        let home = folder.parent().unwrap();
        plant(folder, "id", &home.join("beside/loot"));
        std::fs::write(folder.join("more.sh"), "export MORE=run\n").unwrap();
        let folder = folder.display();
        let profile =
            format!("export WHO=\"$({folder}/id -un || echo nobody)\"\n. {folder}/more.sh\nexport LAST=reached\n");
        std::fs::write(home.join(".bash_profile"), profile).unwrap();
        vec![]
    };
    let Some(world) = World::made(User::Same, "shell_rc = true", &[], with_a_program).await else { return };
    let told = world.works("echo \"<$WHO> <$MORE> <$LAST>\"").await;
    assert!(told.contains("<nobody> <> <reached>"), "{told}");
    assert!(!world.beside.join("loot").exists());
    let told = notices(&world).await;
    let folder = world.project.folder().display();
    let [words] = told.as_slice() else { panic!("{told:?}") };
    assert!(words.contains(&format!("{folder}/more.sh cannot be read in it")), "{words}");
    world.window.close().await;
}

/// The notices to the user about start files.
async fn notices(world: &World) -> Vec<String> {
    let opened = world.window.call::<methods::SessionOpen>(json!({ "sessionId": world.session, "since": 0 })).await;
    let told = opened.events.into_iter().filter_map(|event| match event.event {
        Event::Notice { text, .. } if text.contains("start files") => Some(text),
        _ => None,
    });
    told.collect()
}

#[tokio::test]
async fn nothing_is_left_of_start_files_where_the_turn_is_cancelled_while_they_run() {
    // Nothing but its parents tells whose it is.
    let seconds = 31_536_000 + std::process::id();
    let profile = format!("(env -i setsid sleep {seconds} &)\n: >~/beside/began\nsleep {seconds}\n");
    let Some(world) = World::made(User::Same, "shell_rc = true", &[(".bash_profile", profile)], |_| vec![]).await
    else {
        return;
    };
    world.model.then(Answer::calls("shell_run", json!({ "command": "echo hello" })));
    world.window.prompt(&world.session, "Run it.").await;
    let line = format!("sleep\0{seconds}\0");
    let count = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.filter(|it| std::fs::read_to_string(it.path().join("cmdline")).is_ok_and(|it| it == line)).count()
    };
    let until = async |wanted: usize| {
        while count() != wanted || !world.beside.join("began").exists() {
            tokio::task::yield_now().await;
        }
    };
    harness::patiently("start files that run", until(2)).await;
    world.window.call::<methods::TurnCancel>(json!({ "sessionId": world.session })).await;
    world.window.until_end(&world.session, StopReason::Cancelled).await;
    harness::patiently("the end of what start files have started", until(0)).await;
    world.window.close().await;
}

#[tokio::test]
async fn bash_is_not_taken_from_a_folder_that_the_user_lets_commands_write() {
    let first_in_path = |folder: &Path| {
        let home = folder.parent().unwrap();
        plant(&home.join("mine/bin"), "bash", &home.join("beside/loot"));
        vec![("PATH", format!("{}/mine/bin:{}", home.display(), std::env::var("PATH").unwrap()))]
    };
    let settings = "sandbox_write = [\"~/mine\"]";
    let Some(world) = World::made(User::Same, settings, &[], first_in_path).await else { return };
    world.works("echo inside").await;
    let told = world.runs_outside("echo outside").await;
    assert!(told.contains("outside\n"), "{told}");
    assert!(!world.beside.join("loot").exists());
    world.window.close().await;
}

#[tokio::test]
async fn bash_is_not_taken_from_a_folder_in_which_another_session_works_whatever_lies_there() {
    let first_in_path = |folder: &Path| {
        let home = folder.parent().unwrap();
        plant(&home.join("mine/bin"), "bash", &home.join("beside/loot"));
        plant(&home.join("mine/bin"), "id", &home.join("beside/loot"));
        vec![("PATH", format!("{}/mine/bin:{}", home.display(), std::env::var("PATH").unwrap()))]
    };
    let profile = [(".bash_profile", "export WHO=\"$(id -un)\"\n".to_owned())];
    let Some(world) = World::made(User::Same, "shell_rc = true", &profile, first_in_path).await else { return };
    let folders = json!({ "folders": [format!("file://{}/mine/bin", world.home.display())] });
    world.window.call::<methods::SessionNew>(folders).await;
    let session = world.window.new_session().await;
    world.model.then(Answer::calls("shell_run", json!({ "command": "echo \"<$WHO>\"" })));
    world.model.then(Answer::says("Done."));
    world.window.prompt(&session, "Run it.").await;
    world.window.until_end(&session, StopReason::EndTurn).await;
    let told = world.model.asked()[1].last_results()[0].to_owned();
    assert!(told.contains('<') && !told.contains("<>"), "{told}");
    assert!(!world.beside.join("loot").exists(), "{}", std::fs::read_to_string(world.beside.join("loot")).unwrap());
    world.window.waive("azimuth/event");
    world.window.close().await;
}

#[tokio::test]
async fn bash_is_not_taken_from_a_folder_in_which_a_session_has_worked_that_is_deleted() {
    let first_in_path = |folder: &Path| {
        let home = folder.parent().unwrap();
        plant(&home.join("mine/bin"), "bash", &home.join("beside/loot"));
        vec![("PATH", format!("{}/mine/bin:{}", home.display(), std::env::var("PATH").unwrap()))]
    };
    let Some(world) = World::with(User::Same, "", first_in_path).await else { return };
    let folders = json!({ "folders": [format!("file://{}/mine/bin", world.home.display())] });
    let made = world.window.call::<methods::SessionNew>(folders).await;
    let gone = json!({ "sessionId": made.session.session_id });
    world.window.call::<methods::SessionDelete>(gone).await;
    // In the sandbox a planted one could not tell that it ran.
    assert!(world.runs_outside("echo outside").await.contains("outside\n"));
    assert!(!world.beside.join("loot").exists(), "{}", std::fs::read_to_string(world.beside.join("loot")).unwrap());
    world.window.waive("azimuth/event");
    world.window.close().await;
}
