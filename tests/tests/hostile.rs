//! Files and disks that play foul: paths that lead out, links that come between a proposal and its acceptance, devices,
//! files that may not be written, full disks. Each is said with what to do, nothing is lost, nothing outside of the
//! project is touched, and the session goes on.

#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use harness::window::Window;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::event::ApplyOutcome;
use protocol::review::{HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// The text of each file outside.
const THEIRS: &str = "fn one() {}\nmod two;\n";

/// A session, and a folder beside its project.
struct World {
    _setup: Setup,
    model: ModelServer,
    project: Project,
    outside: Project,
    client: Client,
    session: SessionId,
}

impl World {
    async fn new(files: &[(&str, &str)]) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let rules = "[permissions]\nallow = [\"Shell\", \"Edit\", \"Read\"]\n";
        // Changes that the test itself makes to the files right after a turn are to be found out when an edit is
        // accepted, not by the look for what other programs did in the meantime.
        let review = "review_commands = false\n";
        setup.configure(&(review.to_owned() + &Setup::configuration(&model, Wire::Anthropic) + rules));
        let project = Project::new(files.iter().copied());
        let outside = Project::new([("a.rs", THEIRS), ("b.ipynb", THEIRS)]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        Self { _setup: setup, model, project, outside, client, session }
    }

    /// The results of these calls as the model reads them, each with true if it failed.
    async fn call(&self, calls: &[(&'static str, Value)]) -> Vec<(String, bool)> {
        self.model.then(calls.iter().fold(Answer::nothing(), |answer, (tool, input)| answer.call(tool, input.clone())));
        self.model.then(Answer::says("I see."));
        self.client.prompt(&self.session, "Do it.").await;
        let events = self.client.until_end(&self.session, StopReason::EndTurn).await;
        let results: Vec<_> = events
            .into_iter()
            .filter_map(|event| match event {
                Event::ToolCallEnded { result, .. } => Some((result.text, result.is_error)),
                _ => None,
            })
            .collect();
        assert_eq!(results.len(), calls.len());
        results
    }

    async fn listed(&self) -> Vec<Proposal> {
        self.client.call::<methods::ReviewList>(json!({ "sessionId": self.session })).await.proposals
    }

    /// Proposes one edit of a file.
    async fn propose(&self, tool: &'static str, input: Value) {
        let results = self.call(&[(tool, input)]).await;
        assert!(!results[0].1, "{results:?}");
    }

    /// Accepts all that is pending, and gives how each file went, by its name.
    async fn accept(&self) -> Vec<(String, ApplyOutcome)> {
        decide(&self.client, &self.session, "accept").await
    }

    /// Waits until a file has a hunk that can be accepted.
    async fn until_pending(&self) {
        let pending = async {
            while !self.listed().await.iter().flat_map(|it| &it.hunks).any(|hunk| hunk.state == HunkState::Pending) {
                tokio::task::yield_now().await;
            }
        };
        harness::patiently("a pending hunk", pending).await;
    }

    /// Rejects all that is undecided.
    async fn reject(&self) {
        decide(&self.client, &self.session, "reject").await;
    }

    /// Accepts the one pending file, which must fail, and gives why.
    async fn refused(&self) -> String {
        match self.accept().await.as_slice() {
            [(_, ApplyOutcome::Failed { reason })] => reason.clone(),
            other => panic!("it did not fail: {other:?}"),
        }
    }

    /// Nothing outside of the project was touched.
    fn assert_outside(&self) {
        for name in ["a.rs", "b.ipynb"] {
            assert_eq!(self.outside.read(name), THEIRS, "{name}");
        }
        assert_eq!(names(self.outside.folder()), ["a.rs", "b.ipynb"]);
    }

    /// The session works on: an edit of a good file arrives.
    async fn goes_on(self) {
        self.project.write("good.txt", "good\n");
        self.propose("edit_replace_exact", replace("good.txt", "good", "better")).await;
        let outcomes = self.accept().await;
        assert!(outcomes.contains(&("good.txt".to_owned(), ApplyOutcome::Verified)), "{outcomes:?}");
        assert_eq!(self.project.read("good.txt"), "better\n");
        self.assert_outside();
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

/// Decides on all that is pending, or undecided where it is rejected. Gives how each accepted file went, by its name.
async fn decide(client: &Client, session: &SessionId, decision: &str) -> Vec<(String, ApplyOutcome)> {
    let accepts = decision == "accept";
    // Changes by others are in the files already.
    let is_pending = |it: &Proposal| !it.landed && it.hunks.iter().any(|hunk| hunk.state == HunkState::Pending);
    let mut left = loop {
        let listed = client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
        let open = listed.iter().filter(|it| !accepts || is_pending(it));
        let target = |it: &Proposal| json!({ "proposalId": it.proposal_id, "revision": it.revision });
        let targets: Vec<Value> = open.map(target).collect();
        let count = if accepts { targets.len() } else { 0 };
        let params = json!({ "sessionId": session, "decision": decision, "targets": targets });
        match client.request("azimuth/review/decide", params).await {
            Ok(_) => break count,
            // A file that was read meanwhile has another revision: it is looked at again.
            Err(error) => assert_eq!(error.code, -32011, "{error:?}"),
        }
    };
    let mut outcomes = Vec::new();
    while left > 0 {
        let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
        let events = client.until(session, "the edit", applied).await;
        let Some(Event::EditApplied { uri, outcome, .. }) = events.into_iter().next_back() else { unreachable!() };
        outcomes.push((uri.rsplit('/').next().unwrap().to_owned(), outcome));
        left -= 1;
    }
    outcomes.sort_by(|a, b| a.0.cmp(&b.0));
    outcomes
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn replace(path: &str, old: &str, new: &str) -> Value {
    json!({ "path": path, "old_text": old, "new_text": new })
}

/// A call of each tool that edits, for a file.
fn edits(path: &str) -> Vec<(&'static str, Value)> {
    let patch =
        format!("*** Begin Patch\n*** Update File: {path}\n@@\n-fn one() {{}}\n+fn eins() {{}}\n*** End Patch\n");
    let added = format!("*** Begin Patch\n*** Add File: {path}.new\n+fn one() {{}}\n*** End Patch\n");
    let unified = format!("--- {path}\n+++ {path}\n@@ -1,2 +1,2 @@\n-fn one() {{}}\n+fn eins() {{}}\n mod two;\n");
    let mut replacing = replace(path, "one", "eins");
    let alone = replacing.clone();
    replacing["op"] = json!("replace_exact");
    vec![
        ("edit_replace_exact", alone),
        ("edit_insert_at_line", json!({ "path": path, "line": 1, "content": "x" })),
        ("edit_by_anchor", json!({ "path": path, "mode": "insert_after", "anchor": "fn one() {}", "content": "x" })),
        ("edit_create_file", json!({ "path": path, "content": "x\n", "overwrite": true })),
        ("edit_create_file", json!({ "path": format!("{path}.new"), "content": "x\n" })),
        ("edit_move_file", json!({ "path": path, "to": "moved.rs" })),
        ("edit_move_file", json!({ "path": "mine.rs", "to": format!("{path}.new") })),
        ("edit_delete_file", json!({ "path": path })),
        (
            "edit_apply_batch",
            json!({ "edits": [
            { "op": "create_file", "path": "first.rs", "content": "x\n" }, replacing] }),
        ),
        ("edit_hashline", json!({ "path": path, "edits": [{ "line": "1:abcd", "content": "x" }] })),
        ("edit_apply_patch", json!({ "patch": patch })),
        ("edit_apply_patch", json!({ "patch": added })),
        ("edit_apply_patch", json!({ "patch": unified })),
        (
            "edit_structural",
            json!({ "ops": [{ "pattern": "fn one() {}", "rewrite": "fn eins() {}" }],
            "paths": [path], "language": "rust" }),
        ),
        ("edit_symbol", json!({ "path": path, "symbol": "one", "operation": "replace", "text": "fn eins() {}" })),
        ("edit_notebook", json!({ "path": path, "action": "delete", "cell_index": 0 })),
        ("undo_edit", json!({ "path": path })),
    ]
}

#[tokio::test]
async fn no_edit_of_any_form_leaves_the_project() {
    let world = World::new(&[("mine.rs", THEIRS)]).await;
    let (outside, project) = (world.outside.folder(), world.project.folder());
    symlink(outside.join("a.rs"), project.join("link.rs")).unwrap();
    symlink(outside, project.join("folder")).unwrap();
    symlink("folder", project.join("twice")).unwrap();
    symlink("..", project.join("up")).unwrap();
    let name = outside.file_name().unwrap().to_str().unwrap();
    let absolute = outside.join("a.rs");
    let paths = [
        format!("../{name}/a.rs"),
        format!("src/../../{name}/a.rs"),
        format!("up/{name}/a.rs"),
        absolute.to_str().unwrap().to_owned(),
        format!("file://{}", absolute.display()),
        "link.rs".to_owned(),
        "folder/a.rs".to_owned(),
        "twice/a.rs".to_owned(),
        "folder/deep/new.rs".to_owned(),
    ];
    for path in paths {
        for ((tool, input), (text, failed)) in edits(&path).into_iter().zip(world.call(&edits(&path)).await) {
            // A name beside the link is in the project.
            let beside = path == "link.rs" && input.to_string().contains("link.rs.new");
            if !beside {
                assert!(failed && text.contains("outside the workspace"), "{tool} {input}: {text}");
            }
        }
    }
    let listed: Vec<_> = world.listed().await.into_iter().map(|proposal| proposal.path).collect();
    assert!(listed.iter().all(|path| path == "link.rs.new" || path == "mine.rs"), "{listed:?}");
    world.assert_outside();
    world.goes_on().await;
}

#[tokio::test]
async fn what_is_no_file_is_not_edited_and_not_waited_for() {
    let world = World::new(&[("mine.rs", THEIRS), ("folder/x", "")]).await;
    let special = |name: &str, kind, device| {
        let path = world.project.path(name);
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, 0o666.into(), device).is_ok()
    };
    assert!(special("pipe", rustix::fs::FileType::Fifo, 0));
    let _socket = std::os::unix::net::UnixListener::bind(world.project.path("socket")).unwrap();
    let mut paths = vec!["pipe", "socket", "folder"];
    // As /dev/zero, which never ends.
    match special("zero", rustix::fs::FileType::CharacterDevice, rustix::fs::makedev(1, 5)) {
        true => paths.push("zero"),
        false => harness::not_tried("only root can make a device"),
    }
    let mut wrong = Vec::new();
    for path in paths {
        for ((tool, input), (text, failed)) in edits(path).into_iter().zip(world.call(&edits(path)).await) {
            // A name beside it is another, and code can be looked for in a folder.
            let beside =
                input.to_string().contains(&format!("{path}.new")) || (path, tool) == ("folder", "edit_structural");
            let said = ["not a file", "is a folder", "a folder,", "nothing to undo", "no edit", "no file"]
                .iter()
                .any(|words| text.contains(words));
            let refused = failed && said;
            if !beside && !refused {
                wrong.push(format!("{tool} {input}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    world.goes_on().await;
}

/// Puts a link in the place of a file or a folder, which goes to another name.
fn replace_by_link(project: &Project, name: &str, target: &Path) {
    std::fs::rename(project.path(name), project.path(&format!("{name}.away"))).unwrap();
    symlink(target, project.path(name)).unwrap();
}

#[tokio::test]
async fn a_link_that_comes_in_the_place_of_a_file_before_its_edit_is_accepted_is_not_followed() {
    let create = |path: &str| ("edit_create_file", json!({ "path": path, "content": "x\n" }));
    let edit = |path: &str| ("edit_replace_exact", replace(path, "one", "eins"));
    let delete = |path: &str| ("edit_delete_file", json!({ "path": path }));
    for (name, swapped, (tool, input)) in [
        ("a.rs", "a.rs", edit("a.rs")),
        ("a.rs", "a.rs", delete("a.rs")),
        ("src/a.rs", "src", edit("src/a.rs")),
        ("src/a.rs", "src", delete("src/a.rs")),
        ("src/a.rs", "src", create("src/new.rs")),
        ("src/a.rs", "src", create("src/deep/new.rs")),
        ("src/deep/a.rs", "src", edit("src/deep/a.rs")),
    ] {
        let world = World::new(&[(name, THEIRS)]).await;
        world.propose(tool, input).await;
        let is_file = name == swapped;
        let target = if is_file { world.outside.path("a.rs") } else { world.outside.folder().to_owned() };
        replace_by_link(&world.project, swapped, &target);
        let reason = world.refused().await;
        assert!(reason.contains("outside the workspace"), "{tool} {name}: {reason}");
        assert_eq!(world.project.read(&name.replace(swapped, &format!("{swapped}.away"))), THEIRS);
        world.assert_outside();

        // Once the file is back, the hunk can be accepted: nothing of the proposal is lost.
        std::fs::remove_file(world.project.path(swapped)).unwrap();
        std::fs::rename(world.project.path(&format!("{swapped}.away")), world.project.path(swapped)).unwrap();
        world.client.notify(
            "workspace/didChangeWatchedFiles",
            json!({ "changes": [
            { "uri": world.project.uri(name), "type": 2 } ] }),
        );
        world.until_pending().await;
        let outcomes = world.accept().await;
        assert!(matches!(outcomes.as_slice(), [(_, ApplyOutcome::Verified)]), "{tool} {name}: {outcomes:?}");
        world.goes_on().await;
    }
}

#[tokio::test]
async fn an_open_document_behind_a_link_that_came_since_is_not_edited_or_saved() {
    for swapped in ["a.rs", "src"] {
        let name = if swapped == "src" { "src/a.rs" } else { "a.rs" };
        let world = World::new(&[(name, THEIRS)]).await;
        let uri = world.project.uri(name);
        world.client.open(&uri);
        world.propose("edit_replace_exact", replace(name, "one", "eins")).await;
        let target = if swapped == "src" { world.outside.folder().to_owned() } else { world.outside.path("a.rs") };
        replace_by_link(&world.project, swapped, &target);
        let reason = world.refused().await;
        assert!(reason.contains("outside the workspace"), "{name}: {reason}");
        assert_eq!(world.client.text(&uri), THEIRS);

        // Nor does a command have it saved there.
        world.reject().await;
        world.client.replace(&uri, "two", "zwei");
        world.call(&[("shell_run", json!({ "command": "touch ran" }))]).await;
        assert!(world.project.path("ran").exists());
        world.goes_on().await;
    }
}

#[tokio::test]
async fn a_file_of_the_users_that_is_not_saved_for_them_though_they_said_so_is_said() {
    let world = World::new(&[("a.txt", "a\n"), ("b.txt", "b\n")]).await;
    // Only the agent's own hands are off what belongs to git.
    world.project.write(".git/COMMIT_EDITMSG", "m\n");
    let [message, other] = [".git/COMMIT_EDITMSG", "b.txt"].map(|name| world.project.uri(name));
    for (uri, old) in [(&message, "m"), (&other, "b")] {
        world.client.open(uri);
        world.client.replace(uri, old, "mine");
    }
    world.model.then(Answer::calls("shell_run", json!({ "command": "cat b.txt | tee seen.txt" })));
    world.model.then(Answer::says("I see."));
    world.client.prompt(&world.session, "Do it.").await;
    let (_, question) = world.client.until_asked(&world.session).await;
    assert_eq!(question.detail, ".git/COMMIT_EDITMSG, b.txt");
    replace_by_link(&world.project, "b.txt", &world.project.path("a.txt"));
    world.client.choose(&world.session, &question, "settle_and_run").await;
    world.client.until_end(&world.session, StopReason::EndTurn).await;
    let seen = world.model.asked().last().unwrap().last_results().join("\n");
    assert!(seen.contains("a file could not be saved: b.txt is not saved: b.txt leads to a.txt by now"), "{seen}");
    assert_eq!(world.project.read("a.txt"), "a\n");
    assert_eq!(world.project.read(".git/COMMIT_EDITMSG"), "mine\n");
    world.client.waive("azimuth/event");
    assert_eq!(world.client.finish().await, 0);
}

#[tokio::test]
async fn a_file_that_was_swapped_before_its_edit_is_accepted_is_left_whole() {
    let world = World::new(&[("a.rs", THEIRS)]).await;
    world.propose("edit_replace_exact", replace("a.rs", "one", "eins")).await;
    // By another text, in one step.
    world.project.write("b.rs", "fn one() {}\nmod other;\n");
    std::fs::rename(world.project.path("b.rs"), world.project.path("a.rs")).unwrap();
    let reason = world.refused().await;
    assert!(reason.contains("a.rs has changed on disk since it was read; nothing was written"), "{reason}");
    assert_eq!(world.project.read("a.rs"), "fn one() {}\nmod other;\n");
    // It fits there too, and can be accepted for what is there now.
    assert!(matches!(world.accept().await.as_slice(), [(_, ApplyOutcome::Verified)]));
    assert_eq!(world.project.read("a.rs"), "fn eins() {}\nmod other;\n");

    // By a folder, and by nothing.
    for (folder, expected) in [(true, "a.rs is a folder, not a file"), (false, "a.rs does not exist")] {
        world.project.write("a.rs", THEIRS);
        world.propose("edit_replace_exact", replace("a.rs", "one", "eins")).await;
        std::fs::remove_file(world.project.path("a.rs")).unwrap();
        if folder {
            world.project.write("a.rs/inner", "x");
        }
        match world.accept().await.as_slice() {
            [(_, ApplyOutcome::Failed { reason })] => assert!(reason.contains(expected), "{reason}"),
            // The file may have been looked at after the turn already: then the edit cannot be accepted.
            [] => assert!(
                world.listed().await.iter().flat_map(|it| &it.hunks).any(|it| it.state == HunkState::Conflicted)
            ),
            other => panic!("it did not fail: {other:?}"),
        }
        if folder {
            assert_eq!(world.project.read("a.rs/inner"), "x");
            std::fs::remove_dir_all(world.project.path("a.rs")).unwrap();
        }
        world.reject().await;
    }
    world.goes_on().await;
}

#[tokio::test]
async fn a_folder_that_is_swapped_for_a_link_again_and_again_never_has_edits_written_outside() {
    let files: Vec<(String, &str)> = (0..60).map(|at| (format!("src/{at}.rs"), THEIRS)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let world = World::new(&files).await;
    for (name, _) in &files {
        world.outside.write(name.trim_start_matches("src/"), THEIRS);
    }
    let calls: Vec<_> = files
        .iter()
        .flat_map(|(name, _)| {
            let create = json!({ "path": format!("{name}.new"), "content": "x\n" });
            [("edit_replace_exact", replace(name, "one", "eins")), ("edit_create_file", create)]
        })
        .collect();
    for (text, failed) in world.call(&calls).await {
        assert!(!failed, "{text}");
    }
    let (folder, link) = (world.project.path("src"), world.project.path("link"));
    symlink(world.outside.folder(), &link).unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let (swapped, begun) = std::sync::mpsc::channel();
    let swapping = {
        let done = Arc::clone(&done);
        std::thread::spawn(move || {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            let mut swaps = 0_u64;
            // An even number of times, so that the folder is in its place at the end.
            while !done.load(Ordering::Relaxed) || swaps % 2 == 1 {
                renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                swaps += 1;
                let _ = swapped.send(());
            }
            swaps
        })
    };
    begun.recv().unwrap();
    let outcomes = world.accept().await;
    done.store(true, Ordering::Relaxed);
    let swaps = swapping.join().unwrap();
    assert!(swaps > 2, "it was swapped while edits were written: {swaps} times");
    let verified = outcomes.iter().filter(|(_, outcome)| *outcome == ApplyOutcome::Verified).count();
    eprintln!("{swaps} swaps, {verified} of {} arrived", outcomes.len());
    for (name, _) in &files {
        let name = name.trim_start_matches("src/");
        assert_eq!(world.outside.read(name), THEIRS);
        assert!(!world.outside.path(&format!("{name}.new")).exists());
        // An edit that is said to have arrived is there, and the file of one that did not is unchanged.
        let arrived = |name: &str| outcomes.contains(&(name.to_owned(), ApplyOutcome::Verified));
        let expected = if arrived(name) { THEIRS.replace("one", "eins") } else { THEIRS.to_owned() };
        assert_eq!(world.project.read(&format!("src/{name}")), expected);
        let new = format!("{name}.new");
        assert_eq!(world.project.path(&format!("src/{new}")).exists(), arrived(&new));
        std::fs::remove_file(world.outside.path(name)).unwrap();
    }
    world.goes_on().await;
}

/// A window whose server runs as another user, whom the project and the data belong to; none if that cannot be.
async fn as_somebody_else(setup: &Setup, project: &Project) -> Option<Window> {
    if !rustix::process::geteuid().is_root() {
        harness::not_tried("only root can run the server as another user");
        return None;
    }
    if !std::process::Command::new("setpriv").arg("--version").output().is_ok_and(|it| it.status.success()) {
        harness::not_tried("there is no setpriv to run the server as another user");
        return None;
    }
    // Where the program was built may be closed to others.
    let program = setup.home().join("azimuth");
    if std::fs::hard_link(harness::binary(), &program).is_err() {
        std::fs::copy(harness::binary(), &program).unwrap();
    }
    for folder in [setup.home(), project.folder()] {
        give_away(folder);
    }
    let mut command = tokio::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    Some(Window::launch(command, setup, project, Profile::panel()).await)
}

fn give_away(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        names(path).iter().for_each(|name| give_away(&path.join(name)));
    }
}

const NOBODY: u32 = 65534;

#[tokio::test]
async fn files_and_folders_that_may_not_be_written_are_said_to_be_so_and_stay_as_they_are() {
    let call = |tool: &str, input: Value| Answer::calls(tool, input);
    let edit = |path: &str| call("edit_replace_exact", replace(path, "one", "eins"));
    let model = ModelServer::start([]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let names = ["protected.rs", "roots.rs", "closed/a.rs", "closed/b.rs"];
    let project = Project::new(names.map(|name| (name, THEIRS)).into_iter().chain([("good.rs", THEIRS)]));
    let Some(window) = as_somebody_else(&setup, &project).await else { return };
    let mode = |name: &str, mode| std::fs::set_permissions(project.path(name), Permissions::from_mode(mode)).unwrap();
    mode("protected.rs", 0o444);
    std::os::unix::fs::chown(project.path("roots.rs"), Some(0), Some(0)).unwrap();
    mode("closed", 0o555);
    let session = window.new_session().await;
    let no_right = "cannot be written: Permission denied (os error 13); the rights of its folder do not allow it";
    let not_deleted = "cannot be deleted: Permission denied (os error 13); the rights of its folder do not allow it";
    for (answer, expected) in [
        (
            edit("protected.rs"),
            "protected.rs is write-protected; nothing was written. To have it changed, make it writable",
        ),
        (edit("roots.rs"), "roots.rs is write-protected; nothing was written. To have it changed, make it writable"),
        (call("edit_create_file", json!({ "path": "closed/new.rs", "content": "x\n" })), no_right),
        (call("edit_create_file", json!({ "path": "closed/deep/new.rs", "content": "x\n" })), no_right),
        (call("edit_delete_file", json!({ "path": "closed/b.rs" })), not_deleted),
        // A file that may be written can be, also in a folder that takes no new ones.
        (edit("closed/a.rs"), ""),
        (edit("good.rs"), ""),
    ] {
        model.then(answer);
        model.then(Answer::says("Done."));
        window.prompt(&session, "Change it.").await;
        window.until_end(&session, StopReason::EndTurn).await;
        let outcome = decide(&window, &session, "accept").await.pop();
        match outcome {
            Some((name, ApplyOutcome::Failed { reason })) => {
                assert!(!expected.is_empty() && reason.contains(expected), "{name}: {reason}");
                assert!(reason.contains(project.folder().to_str().unwrap()), "it says which file: {reason}");
                decide(&window, &session, "reject").await;
            }
            Some((name, outcome)) => assert!(expected.is_empty(), "{name}: {outcome:?}"),
            None => panic!("nothing was proposed; expected {expected}"),
        }
    }
    for name in ["protected.rs", "roots.rs", "closed/b.rs"] {
        assert_eq!(project.read(name), THEIRS, "{name}");
    }
    for name in ["closed/a.rs", "good.rs"] {
        assert_eq!(project.read(name), THEIRS.replace("one", "eins"), "{name}");
    }
    assert_eq!(self::names(&project.path("closed")), ["a.rs", "b.rs"]);
    window.close().await;
}

/// A small disk, mounted on a folder.
struct Disk {
    folder: PathBuf,
}

impl Disk {
    /// None if it cannot be mounted.
    fn mount(folder: &Path, kib: usize) -> Option<Self> {
        std::fs::create_dir_all(folder).unwrap();
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={kib}k"), "azimuth-test"])
            .arg(folder)
            .output();
        if mount.is_ok_and(|it| it.status.success()) {
            return Some(Self { folder: folder.to_owned() });
        }
        harness::not_tried("no small disk can be mounted here");
        None
    }

    /// Takes all room that is left.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        while std::io::Write::write_all(&mut file, &[b'x'; 1024]).is_ok() {}
    }

    fn make_room(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Also while the server still has files open there.
        let _ = std::process::Command::new("umount").arg("--lazy").arg(&self.folder).status();
    }
}

#[tokio::test]
async fn a_full_disk_leaves_files_as_they_are_and_the_edit_can_be_accepted_once_there_is_room() {
    let world = World::new(&[]).await;
    let Some(disk) = Disk::mount(world.project.folder(), 256) else { return world.goes_on().await };
    let old = "one\n".repeat(5_000);
    let grown = old.replace("one", "two, which is longer");
    for in_place in [false, true] {
        world.project.write("a.rs", &old);
        if in_place {
            // A file with attributes is written where it is, so that it keeps them.
            let flags = rustix::fs::XattrFlags::empty();
            if rustix::fs::setxattr(world.project.path("a.rs"), c"trusted.azimuth", b"kept", flags).is_err() {
                harness::not_tried("this disk keeps no attributes");
                continue;
            }
        }
        let mut input = replace("a.rs", "one", "two, which is longer");
        input["expected_count"] = json!(5_000);
        world.propose("edit_replace_exact", input).await;
        disk.fill();
        let reason = world.refused().await;
        let expected = "a.rs cannot be written: No space left on device (os error 28); make room on that disk";
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(world.project.read("a.rs"), old, "in place: {in_place}");
        assert_eq!(names(world.project.folder()), ["a.rs", "filler"]);
        disk.make_room();
        assert!(matches!(world.accept().await.as_slice(), [(_, ApplyOutcome::Verified)]));
        assert_eq!(world.project.read("a.rs"), grown);
    }
    world.goes_on().await;
    drop(disk);
}

#[tokio::test]
async fn what_cannot_be_kept_for_an_undo_since_our_own_disk_is_full_is_not_written_over() {
    let model = ModelServer::start([]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let Some(disk) = Disk::mount(&setup.data_folder(), 8 * 1024) else { return };
    let project = Project::new([("a.rs", THEIRS)]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    model.then(Answer::calls("edit_replace_exact", replace("a.rs", "one", "eins")));
    model.then(Answer::says("Done."));
    client.prompt(&session, "Change it.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    disk.fill();
    client.waive("window/showMessage");
    let params = json!({ "sessionId": session });
    let listed = client.call::<methods::ReviewList>(params.clone()).await.proposals;
    let target = json!({ "proposalId": listed[0].proposal_id, "revision": listed[0].revision });
    let accept = json!({ "sessionId": session, "decision": "accept", "targets": [target] });
    client.call::<methods::ReviewDecide>(accept).await;
    // Other requests are answered while nothing can be stored. What is shown is stored before, so it waits for room.
    let tried = async {
        loop {
            let hunk = client.call::<methods::ReviewList>(params.clone()).await.proposals[0].hunks[0].clone();
            if hunk.state == HunkState::Pending {
                return;
            }
        }
    };
    harness::patiently("the hunk to be pending again", tried).await;
    assert_eq!(project.read("a.rs"), THEIRS);
    disk.make_room();
    let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
    let events = client.until(&session, "the edit", applied).await;
    let Some(Event::EditApplied { outcome: ApplyOutcome::Failed { reason }, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert!(reason.contains("could not be kept, so it was not changed"), "{reason}");
    assert!(matches!(decide(&client, &session, "accept").await.as_slice(), [(_, ApplyOutcome::Verified)]));
    assert_eq!(project.read("a.rs"), THEIRS.replace("one", "eins"));
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
    drop(disk);
}

#[tokio::test]
async fn a_limit_on_the_size_of_files_is_said_and_leaves_the_file_as_it_is() {
    let model = ModelServer::start([]).await;
    let setup = Setup::model(&model, Wire::Anthropic);
    let limit = 5 << 20;
    let old = format!("{}\n", "x".repeat(1023)).repeat(limit / 1024 - 1) + "the end\n";
    let project = Project::new([("a.rs", old.as_str())]);
    // In blocks of half a KiB. By itself the limit would end the process.
    let mut command = tokio::process::Command::new("sh");
    command.args(["-c", "ulimit -f 10240; exec \"$@\"", "sh"]).arg(harness::binary());
    let window = Window::launch(command, &setup, &project, Profile::panel()).await;
    let session = window.new_session().await;
    let long = "no end ".repeat(200);
    for (new, arrives) in [(long.trim(), false), ("end", true)] {
        model.then(Answer::calls("edit_replace_exact", replace("a.rs", "the end", new)));
        model.then(Answer::says("Done."));
        window.prompt(&session, "Change it.").await;
        window.until_end(&session, StopReason::EndTurn).await;
        let outcomes = decide(&window, &session, "accept").await;
        match outcomes.as_slice() {
            [(_, ApplyOutcome::Verified)] if arrives => assert!(project.read("a.rs") == old.replace("the end", new)),
            [(_, ApplyOutcome::Failed { reason })] if !arrives => {
                assert!(reason.contains("File too large"), "{reason}");
                assert!(project.read("a.rs") == old);
                decide(&window, &session, "reject").await;
            }
            other => panic!("{other:?}"),
        }
    }
    window.close().await;
}
