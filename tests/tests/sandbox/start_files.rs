//! What runs outside the sandbox before the first command does, the user's start files and bash itself, runs nothing
//! that commands may have written or a project has brought along.

use super::*;

/// What a program is called that says how it was run, and does then what the system's of that name does.
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
    let opened = world.window.call::<methods::SessionOpen>(json!({ "sessionId": world.session, "since": 0 })).await;
    let words = opened.events.iter().find_map(|event| match &event.event {
        Event::Notice { text, .. } if text.contains("start files") => Some(text.clone()),
        _ => None,
    });
    let words = words.unwrap_or_else(|| panic!("{:?}", opened.events));
    assert!(words.contains("/.bashrc lies where commands may write"), "{words}");
    world.window.close().await;
}

#[tokio::test]
async fn bash_and_git_are_not_taken_from_where_commands_of_any_session_may_write() {
    let loot = std::cell::RefCell::new(PathBuf::new());
    let of_a_cache = |folder: &Path| {
        let home = folder.parent().unwrap();
        *loot.borrow_mut() = home.join("loot");
        let other = home.join("other/.venv");
        let folders = [home.join(".npm/_npx/1f/node_modules/.bin"), other.join("bin"), TempDir::new().unwrap().keep()];
        for (folder, name) in folders.iter().flat_map(|folder| [(folder, "bash"), (folder, "git")]) {
            plant(folder, name, &home.join("loot"));
        }
        std::fs::write(other.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        let folders = folders.map(|folder| folder.display().to_string()).join(":");
        let path = format!("{folders}:{}", std::env::var("PATH").unwrap());
        vec![("PATH", path), ("PYENV_ROOT", format!("{}/.pyenv", home.display()))]
    };
    let Some(world) = World::made(User::Same, "shell_rc = true", &profile(), of_a_cache).await else { return };
    let told = world.works("greet; echo $BASH_VERSION").await;
    assert!(told.contains("hello from "), "{told}");
    let loot = loot.into_inner();
    assert!(!loot.exists(), "{}", std::fs::read_to_string(&loot).unwrap());
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
