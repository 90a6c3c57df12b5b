//! The problems that edits cause and fix, as language servers see them before and after the edits, and as the model and
//! the user hear of them.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harness::real::Real;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, not_tried};
use protocol::review::Proposal;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

const QUERY: &str = "azimuth/editor/query";

/// A language server of our own, which finds what the editor's does.
const MINE: &str = include_str!("problems/mine.py");

/// How the editor's language server answers. It finds an error wherever a line says `bad`, or `needs` something that no
/// line of an open document `has`, and a warning wherever one says `odd`.
#[derive(Clone, Copy, PartialEq)]
enum Server {
    /// Of the text as it is.
    Attentive,
    /// Of what it saw first, whatever was changed since.
    Old,
    /// Not at all.
    Silent,
    /// It says nothing of the text that the first edit makes.
    Mute,
    /// It reads the project after the first edit, until the model has been asked twice.
    Slow,
}

struct World {
    model: ModelServer,
    _setup: Setup,
    project: Project,
    client: Client,
    session: SessionId,
}

/// Texts that an edit replaces by others, each in a file.
type Edits<'e> = &'e [(&'e str, &'e str, &'e str)];

impl World {
    /// A project with an open Python file. `settings` are lines of the user's configuration.
    async fn new(profile: Profile, settings: &str) -> Self {
        let files = [("main.py", "import one\n\nfirst(bad)\n"), ("notes.txt", "bad\n")];
        let world = Self::with(profile, settings, &files).await;
        world.client.open(&world.project.uri("main.py"));
        world
    }

    async fn with(profile: Profile, settings: &str, files: &[(&str, &str)]) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        setup.configure(&format!("{settings}\n{}", Setup::configuration(&model, Wire::Chat)));
        let project = Project::new(files.iter().copied());
        Self::of(project, (model, setup), profile).await
    }

    async fn of(project: Project, (model, setup): (ModelServer, Setup), profile: Profile) -> Self {
        let client = Client::start(&setup, &project, profile).await;
        let session = client.new_session().await;
        Self { model, _setup: setup, project, client, session }
    }

    /// A real project, whose server is among its own programs; none if either is not installed.
    async fn real(real: Real) -> Option<Self> {
        let project = real.project()?;
        project.write("node_modules/.bin/.keep", "");
        symlink(real.server(), project.path("node_modules/.bin").join(real.program())).unwrap();
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        // It reads hundreds of files first.
        let read = harness::real::tools();
        let settings = format!("check_edits = 60\nsandbox_read = [{read:?}]\n");
        setup.configure(&format!("{settings}{}", Setup::configuration(&model, Wire::Chat)));
        Some(Self::of(project, (model, setup), Profile::panel()).await)
    }

    /// An editor that can be asked what its language servers know.
    fn editor() -> Profile {
        Profile::panel().with("/experimental/azimuth/query", json!(true))
    }

    /// A project with a closed file that needs another one, where these language servers of our own are for such.
    #[expect(clippy::disallowed_methods, reason = "the home and what is in it are the test's own")]
    async fn with_own(profile: Profile, servers: &Value) -> Self {
        let files = [
            ("main.py", "first(bad)\n"),
            ("mine.project", ""),
            ("main.mine", "needs area\n"),
            ("shapes.mine", "has area\n"),
        ];
        // It is a slow machine's.
        let world = Self::with(profile, "check_edits = 20", &files).await;
        // It is the user's own: one of the project's would have to be allowed first.
        let program = world._setup.home().join("bin/mine");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, MINE).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let servers = servers.to_string().replace(r#""command":"mine""#, &format!(r#""command":{program:?}"#));
        std::fs::write(world._setup.home().join("lsp.json"), servers).unwrap();
        world
    }

    async fn accept_as_they_come(&self) {
        let params = json!({ "sessionId": self.session, "on": true, "scope": "session" });
        self.client.call::<methods::ReviewAuto>(params).await;
    }

    /// A turn in which the model makes these edits, each group of them in an answer.
    async fn turn(&self, groups: &[Edits<'_>]) -> Vec<Event> {
        let call = |answer: Answer, (path, old, new): &(&str, &str, &str)| {
            answer.call("edit_replace_exact", json!({ "path": path, "old_text": old, "new_text": new }))
        };
        for edits in groups {
            self.model.then(edits.iter().fold(Answer::nothing(), call));
        }
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Change it.").await;
        self.client.until_end(&self.session, StopReason::EndTurn).await
    }

    /// Has the model ask about a file, which starts the project's own server, once the user has allowed it.
    async fn allow_server(&self, file: &str) {
        self.model.then(Answer::calls("lsp_diagnostics", json!({ "path": file })));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Look at it.").await;
        self.client.until_end_allowing_programs(&self.session, StopReason::EndTurn).await;
    }

    /// The editor's language server answers while something is done.
    async fn with_server<T>(&self, server: Server, work: impl Future<Output = T>) -> T {
        self.client.hold(QUERY);
        let answers = async {
            let mut unanswered = Vec::new();
            loop {
                let asked = self.client.asked(QUERY).await;
                match server {
                    Server::Silent => unanswered.push(asked),
                    Server::Attentive | Server::Old | Server::Mute | Server::Slow => {
                        let result = self.answer(&asked.params, server);
                        asked.answer(result);
                    }
                }
            }
        };
        tokio::select! {
            done = work => done,
            () = answers => unreachable!("it answers for ever"),
        }
    }

    fn answer(&self, params: &Value, server: Server) -> Value {
        let servers = json!([{ "name": "badly" }]);
        if params["query"]["type"] == "servers" {
            // To ask about what is not open would open it.
            if let Some(uri) = params["query"]["uri"].as_str() {
                self.client.text(uri);
            }
            return json!({ "status": "ready", "servers": servers, "answer": { "type": "nothing" } });
        }
        let uri = params["query"]["uri"].as_str().unwrap();
        let text = self.client.text(uri);
        let version = if server == Server::Old { 1 } else { self.client.version(uri) };
        let nothing = |status: &str| json!({ "status": status, "servers": servers, "answer": { "type": "nothing" } });
        match server {
            Server::Mute if version == 2 => return nothing("unsupported"),
            Server::Slow if version == 2 && self.model.asked().len() == 1 => return nothing("indexing"),
            _ => {}
        }
        let shapes = self.project.uri("shapes.py");
        let is_bad = |line: &str| match line.split_once("needs ") {
            Some((_, name)) => !self.client.text(&shapes).contains(&format!("has {name}")),
            None => line.contains("bad") || line.contains("odd"),
        };
        let bad = text.lines().enumerate().filter(|(_, line)| is_bad(line));
        let problems: Vec<_> = bad
            .map(|(line, text)| {
                let severity = if text.contains("odd") { "warning" } else { "error" };
                let place = json!({ "line": line, "character": 0 });
                let range = json!({ "start": place, "end": place });
                json!({ "range": range, "severity": severity, "message": "this is bad", "source": "badly" })
            })
            .collect();
        let documents = json!([{ "uri": uri, "diagnostics": problems }]);
        let answer = json!({ "type": "diagnostics", "documents": documents });
        json!({ "status": "ready", "servers": servers, "version": version, "answer": answer })
    }

    async fn finish(self) {
        self.client.waive("azimuth/event");
        assert_eq!(self.client.finish().await, 0);
    }
}

/// The notes that told the model of problems.
fn told(events: &[Event]) -> Vec<&str> {
    let is_of_problems = |text: &&str| text.contains("roblems") || text.starts_with("You ended");
    let noted = events.iter().filter_map(|event| match event {
        Event::Noted { text, .. } => Some(text.as_str()),
        _ => None,
    });
    noted.filter(is_of_problems).collect()
}

fn new_errors(events: &[Event]) -> Option<u32> {
    match events.last() {
        Some(Event::TurnEnded { new_errors, .. }) => *new_errors,
        other => panic!("{other:?}"),
    }
}

const NEW: &str =
    "Problems since your edits (badly): 1 error is new.\nmain.py:5:1: error: this is bad (badly)\n    second(bad)";
const GONE: &str = "Problems since your edits (badly): 1 error is gone.";

#[tokio::test]
async fn the_next_request_says_what_applied_edits_broke_and_mended_and_nothing_of_lines_that_only_moved() {
    let world = World::new(World::editor(), "").await;
    world.accept_as_they_come().await;
    let edits: [Edits<'_>; 4] = [
        &[("main.py", "import one\n", "import one\nimport two\n")],
        &[("main.py", "first(bad)\n", "first(bad)\nsecond(bad)\n"), ("main.py", "import two", "import three")],
        &[("main.py", "second(bad)", "second(good)")],
        // No server is there for it.
        &[("notes.txt", "bad", "bad and worse")],
    ];
    let events = world.with_server(Server::Attentive, world.turn(&edits)).await;
    assert_eq!(told(&events), [NEW, GONE]);
    assert_eq!(new_errors(&events), None, "the first was there before");
    let asked = world.model.asked();
    let told = |text: &str| asked.iter().map(|asked| asked.user_text().contains(text)).collect::<Vec<_>>();
    assert_eq!(told(NEW), [false, false, true, true, true]);
    assert_eq!(told(GONE), [false, false, false, true, true]);
    world.finish().await;
}

#[tokio::test]
async fn a_turn_that_ends_with_an_error_that_it_brought_says_so_and_may_go_on_by_itself() {
    let world = World::new(World::editor(), "mend_errors = 1").await;
    world.accept_as_they_come().await;
    let turn = async {
        let edit = json!({ "path": "main.py", "old_text": "import one\n", "new_text": "import bad\n" });
        world.model.then(Answer::calls("edit_replace_exact", edit));
        world.model.then(Answer::says("Done."));
        world.model.then(Answer::says("It stays."));
        world.client.prompt(&world.session, "Change it.").await;
        world.client.until_end(&world.session, StopReason::EndTurn).await
    };
    let events = world.with_server(Server::Attentive, turn).await;
    let told = told(&events);
    assert!(told[0].contains("1 error is new.\nmain.py:1:1: error: this is bad (badly)\n    import bad"), "{told:?}");
    assert!(told[1].starts_with("You ended, but 1 error is there that was not there before your edits:"), "{told:?}");
    let notice = events.iter().find_map(|event| match event {
        Event::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let expected =
        "The edits of this turn brought 1 error that is there still: main.py:1:1: error: this is bad (badly)";
    assert_eq!((notice, new_errors(&events), world.model.asked().len()), (Some(expected), Some(1), 3));

    // An error that was there when a turn began is not its own.
    let more: [Edits<'_>; 1] = [&[("main.py", "first", "last")]];
    let events = world.with_server(Server::Attentive, world.turn(&more)).await;
    assert_eq!((self::told(&events).len(), new_errors(&events)), (0, None));
    world.finish().await;
}

#[tokio::test]
async fn an_answer_about_the_text_before_the_edit_is_not_believed() {
    let world = World::new(World::editor(), "check_edits = 1").await;
    world.accept_as_they_come().await;
    let edits: [Edits<'_>; 2] = [
        &[("main.py", "import one\n", "import one\nsecond(bad)\n")],
        &[("main.py", "import one\n", "import one\nthird(bad)\n")],
    ];
    let events = world.with_server(Server::Old, world.turn(&edits)).await;
    let expected = "What your edits did to the problems of main.py is not known: what the language server said is of another \
                    text than the one that stands there.";
    // A machine that is busy may keep the server from answering at all, once.
    let late =
        "What your edits did to the problems of main.py is not known: the language server did not answer in time.";
    let told: Vec<_> = told(&events).into_iter().filter(|note| *note != late).collect();
    assert_eq!(told, [expected], "once");
    assert_eq!(new_errors(&events), None);
    world.finish().await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_costs_no_more_than_the_time_that_is_set_and_that_is_said_once() {
    let world = World::new(World::editor(), "check_edits = 1").await;
    world.accept_as_they_come().await;
    let edits: [Edits<'_>; 2] =
        [&[("main.py", "import one", "import two")], &[("main.py", "import two", "import three")]];
    let began = Instant::now();
    let events = world.with_server(Server::Silent, world.turn(&edits)).await;
    // An edit waits a moment, and a second is waited after each.
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    let expected =
        "What your edits did to the problems of main.py is not known: the language server did not answer in time.";
    assert_eq!(told(&events), [expected]);
    assert_eq!(world.client.text(&world.project.uri("main.py")), "import three\n\nfirst(bad)\n");
    world.finish().await;
}

#[tokio::test]
async fn what_the_editors_servers_do_not_see_yet_is_told_once_it_is_accepted() {
    let world = World::new(World::editor(), "").await;
    let edits: [Edits<'_>; 2] = [
        &[("main.py", "import one\n", "import one\nsecond(bad)\n")],
        &[("main.py", "import one\n", "import one\nimport two\n")],
    ];
    let events = world.with_server(Server::Attentive, world.turn(&edits)).await;
    let expected = "What your edits did to the problems of main.py is not known: the editor's language servers see edits only \
                    when the user has accepted them; you are told then.";
    assert_eq!(told(&events), [expected]);

    let accepted = async {
        let listed = world.client.call::<methods::ReviewList>(json!({ "sessionId": world.session })).await;
        let target = |proposal: &Proposal| json!({ "proposalId": proposal.proposal_id, "revision": proposal.revision });
        let targets: Vec<_> = listed.proposals.iter().map(target).collect();
        let params = json!({ "sessionId": world.session, "decision": "accept", "targets": targets });
        world.client.call::<methods::ReviewDecide>(params).await;
        world.client.until(&world.session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
        world.turn(&[]).await
    };
    let events = world.with_server(Server::Attentive, accepted).await;
    let told = told(&events);
    assert!(told.len() == 1 && told[0].contains("1 error is new.\nmain.py:3:1: error: this is bad"), "{told:?}");
    world.finish().await;
}

/// The note on files for which the effect of the edits is not known, and why.
fn not_known(names: &str, why: &str) -> String {
    format!("What your edits did to the problems of {names} is not known: {why}.")
}

const CLOSED: &str = "the editor's language servers are asked only about what is open in the editor";

fn mine() -> Value {
    json!({ "mine": { "command": "mine", "fileTypes": ["mine"], "rootMarkers": ["mine.project"] } })
}

#[tokio::test]
async fn a_file_of_which_the_server_once_said_nothing_is_judged_again_as_soon_as_it_does() {
    let world = World::new(World::editor(), "").await;
    world.accept_as_they_come().await;
    let edits: [Edits<'_>; 2] = [
        &[("main.py", "import one\n", "import one\nimport two\n")],
        &[("main.py", "first(bad)\n", "first(bad)\nsecond(bad)\n")],
    ];
    let events = world.with_server(Server::Mute, world.turn(&edits)).await;
    assert_eq!(told(&events), [&not_known("main.py", "the language server says nothing of this text"), NEW]);
    assert_eq!(new_errors(&events), Some(1));
    world.finish().await;
}

#[tokio::test]
async fn what_was_mended_between_two_turns_is_no_news_in_the_second() {
    let world = World::new(World::editor(), "check_edits = 1").await;
    world.accept_as_they_come().await;
    let edits: [Edits<'_>; 1] = [&[("main.py", "import one\n", "import one\nsecond(bad)\n")]];
    let events = world.with_server(Server::Slow, world.turn(&edits)).await;
    // It is known only when the turn ends.
    assert_eq!(told(&events), [not_known("main.py", "the language server still reads the project")]);
    assert_eq!(new_errors(&events), Some(1));

    world.client.replace(&world.project.uri("main.py"), "second(bad)", "second(good)");
    let events = world.with_server(Server::Slow, world.turn(&[])).await;
    assert_eq!((told(&events).len(), new_errors(&events)), (0, None), "{events:?}");
    world.finish().await;
}

#[tokio::test]
async fn an_error_that_is_told_where_the_turn_goes_on_to_mend_it_is_not_told_again_as_news() {
    let world = World::new(World::editor(), "check_edits = 1\nmend_errors = 1").await;
    world.accept_as_they_come().await;
    let turn = async {
        let edit = json!({ "path": "main.py", "old_text": "import one\n", "new_text": "import bad\nodd\n" });
        world.model.then(Answer::calls("edit_replace_exact", edit));
        world.model.then(Answer::says("Done."));
        world.model.then(Answer::says("It stays."));
        world.client.prompt(&world.session, "Change it.").await;
        world.client.until_end(&world.session, StopReason::EndTurn).await
    };
    let events = world.with_server(Server::Slow, turn).await;
    let told = told(&events);
    assert_eq!((told.len(), new_errors(&events)), (2, Some(1)), "{told:?}");
    assert!(told[0].ends_with("still reads the project.") && told[1].starts_with("You ended, but 1 error is there"));
    // A problem that is not an error, and would be news as well, is told with it.
    let warning =
        "\nProblems since your edits (badly): 1 warning is new.\nmain.py:2:1: warning: this is bad (badly)\n    odd\n";
    assert!(told[1].contains(warning), "{told:?}");
    world.finish().await;
}

#[tokio::test]
async fn that_closed_files_and_new_ones_are_not_judged_by_the_editors_servers_is_said_once_for_each() {
    let files = [("main.py", "first(bad)\n"), ("app.py", "one\n"), ("notes.txt", "one\n")];
    let world = World::with(World::editor(), "", &files).await;
    world.client.open(&world.project.uri("main.py"));
    let turn = async {
        let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "old_text": old, "new_text": new });
        world.model.then(
            Answer::calls("edit_replace_exact", edit("app.py", "one", "bad"))
                // No server is there for it.
                .call("edit_replace_exact", edit("notes.txt", "one", "bad"))
                .call("edit_create_file", json!({ "path": "new.txt", "content": "bad\n" })),
        );
        let new = json!({ "path": "new.py", "content": "bad\n" });
        world
            .model
            .then(Answer::calls("edit_create_file", new).call("edit_replace_exact", edit("app.py", "bad", "worse")));
        world.model.then(Answer::says("Done."));
        world.client.prompt(&world.session, "Change it.").await;
        world.client.until_end(&world.session, StopReason::EndTurn).await
    };
    let events = world.with_server(Server::Attentive, turn).await;
    assert_eq!(told(&events), [not_known("app.py", CLOSED), not_known("new.py", CLOSED)]);
    world.finish().await;
}

#[tokio::test]
async fn our_own_server_judges_closed_files_of_a_kind_that_the_editors_are_not_for() {
    let world = World::with_own(World::editor(), &mine()).await;
    world.client.open(&world.project.uri("main.py"));
    let edits: [Edits<'_>; 2] =
        [&[("main.mine", "needs area\n", "needs area\nbad\n")], &[("main.mine", "needs area\nbad", "needs area")]];
    let events = world.with_server(Server::Attentive, world.turn(&edits)).await;
    let new = "Problems since your edits (mine): 1 error is new.\nmain.mine:2:1: error: this is bad (mine)\n    bad";
    assert_eq!(told(&events), [new, "Problems since your edits (mine): 1 error is gone."]);
    world.finish().await;

    // One that runs in the editor is not doubled.
    let mut named = mine();
    named["badly"] = named["mine"].take();
    named.as_object_mut().unwrap().remove("mine");
    let world = World::with_own(World::editor(), &named).await;
    world.client.open(&world.project.uri("main.py"));
    let edits: [Edits<'_>; 1] = [&[("main.mine", "needs area\n", "bad\n")]];
    let events = world.with_server(Server::Attentive, world.turn(&edits)).await;
    assert_eq!(told(&events), [not_known("main.mine", CLOSED)]);
    world.finish().await;
}

#[tokio::test]
async fn what_the_turn_broke_in_a_file_before_it_edited_that_is_its_own_too() {
    // Our own server judges what waits for review.
    let world = World::with_own(Profile::panel(), &mine()).await;
    let edits: [Edits<'_>; 2] =
        [&[("shapes.mine", "has area", "has volume")], &[("main.mine", "needs area\n", "needs area\n# A comment.\n")]];
    let events = world.turn(&edits).await;
    let new = "Problems since your edits (mine): 1 error is new.\nmain.mine:1:1: error: nobody has area (mine)\n    needs area";
    assert_eq!((told(&events), new_errors(&events)), (vec![new], Some(1)));
    world.finish().await;

    // The editor's see what is accepted.
    let files = [("main.py", "needs area\n"), ("shapes.py", "has area\n")];
    let world = World::with(World::editor(), "", &files).await;
    world.accept_as_they_come().await;
    for (name, _) in files {
        world.client.open(&world.project.uri(name));
    }
    let edits: [Edits<'_>; 2] =
        [&[("shapes.py", "has area", "has volume")], &[("main.py", "needs area\n", "needs area\n# A comment.\n")]];
    let events = world.with_server(Server::Attentive, world.turn(&edits)).await;
    let new =
        "Problems since your edits (badly): 1 error is new.\nmain.py:1:1: error: this is bad (badly)\n    needs area";
    assert_eq!((told(&events), new_errors(&events)), (vec![new], Some(1)));
    world.finish().await;
}

#[tokio::test]
async fn a_linter_that_ends_is_named_and_the_other_servers_judge_all_the_same() {
    let mut servers = mine();
    servers["fussy"] = servers["mine"].clone();
    servers["fussy"]["args"] = json!(["crashes"]);
    servers["fussy"]["isLinter"] = json!(true);
    let world = World::with_own(Profile::panel(), &servers).await;
    let edits: [Edits<'_>; 2] =
        [&[("main.mine", "needs area\n", "needs area\nbad\n")], &[("main.mine", "needs area\nbad", "needs area")]];
    let events = world.turn(&edits).await;
    let told = told(&events);
    assert_eq!(told.len(), 2, "{told:?}");
    let new = "Problems since your edits (mine): 1 error is new.\nmain.mine:2:1: error: this is bad (mine)\n    bad\n";
    let (changes, missing) = told[0].split_at(new.len());
    assert_eq!(changes, new);
    assert!(missing.starts_with("What your edits did to the problems of main.mine is not known"), "{missing}");
    assert!(missing.contains("fussy"), "{missing}");
    assert_eq!(told[1], "Problems since your edits (mine): 1 error is gone.");
    world.finish().await;
}

#[tokio::test]
async fn what_a_compiler_said_of_an_earlier_text_keeps_nobody_from_judging_the_edit() {
    let mut servers = mine();
    servers["mine"]["args"] = json!(["compiles"]);
    let world = World::with_own(Profile::panel(), &servers).await;
    let edits: [Edits<'_>; 2] =
        [&[("main.mine", "needs area\n", "needs area\nbad\n")], &[("main.mine", "needs area\nbad", "needs area")]];
    let events = world.turn(&edits).await;
    let told = told(&events);
    assert_eq!(told.len(), 2, "{told:?}");
    let new = "Problems since your edits (mine): 1 error is new.\nmain.mine:2:1: error: this is bad (mine)\n    bad\n";
    let (changes, missing) = told[0].split_at(new.len());
    assert_eq!(changes, new);
    assert!(missing.contains("what it told by itself of the text before"), "{missing}");
    assert_eq!(told[1], "Problems since your edits (mine): 1 error is gone.");
    world.finish().await;
}

#[tokio::test]
async fn a_server_that_never_tells_of_problems_is_waited_for_once() {
    let mut servers = mine();
    servers["mine"]["args"] = json!(["silent"]);
    let world = World::with_own(Profile::panel(), &servers).await;
    world.turn(&[&[("main.mine", "needs area", "needs volume")]]).await;
    let began = Instant::now();
    let events = world.turn(&[&[("main.mine", "needs volume", "needs area")]]).await;
    assert_eq!(told(&events), [""; 0]);
    // It was 20 s before.
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    world.finish().await;
}

#[tokio::test]
async fn our_own_servers_hear_of_what_an_undo_writes() {
    let world = World::with_own(Profile::panel(), &mine()).await;
    world.accept_as_they_come().await;
    let look = async || {
        world.model.then(Answer::calls("lsp_diagnostics", json!({ "path": "main.mine" })));
        world.turn(&[]).await;
        let text = format!("{:?}", world.model.asked().last().unwrap().last_results());
        text.contains("nobody has area")
    };
    world.turn(&[&[("shapes.mine", "has area", "has volume")]]).await;
    assert!(look().await);
    for (method, breaks) in [("azimuth/checkpoint/undo", false), ("azimuth/checkpoint/redo", true)] {
        let params = json!({ "sessionId": world.session });
        world.client.request(method, params).await.unwrap();
        assert_eq!(look().await, breaks, "{method}");
    }
    world.finish().await;
}

#[tokio::test]
async fn files_beyond_the_first_twenty_are_counted_once() {
    let names: Vec<_> = (1..=22).map(|number| format!("{number}.txt")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), "one\n")).collect();
    let world = World::with(Profile::panel(), "", &files).await;
    let all: Vec<_> = names.iter().take(21).map(|name| (name.as_str(), "one", "two")).collect();
    let edits: [Edits<'_>; 3] =
        [&all, &[("21.txt", "two", "three")], &[("22.txt", "one", "two"), ("21.txt", "three", "four")]];
    let events = world.turn(&edits).await;
    let one_more = "The problems of 1 more edited file were not looked at.";
    assert_eq!(told(&events), [one_more, one_more]);
    world.finish().await;
}

#[tokio::test]
async fn nobody_is_asked_where_the_folder_is_not_trusted_or_the_user_does_not_want_it() {
    // This client fails the test for a question, which it does not know.
    let restricted = Profile { trust: Some("restricted"), ..World::editor() };
    for (profile, settings) in [(restricted, ""), (World::editor(), "check_edits = 0")] {
        let world = World::new(profile, settings).await;
        let edits: [Edits<'_>; 1] = [&[("main.py", "import one", "import bad")]];
        let events = world.turn(&edits).await;
        assert_eq!((told(&events).len(), new_errors(&events)), (0, None));
        world.finish().await;
    }
}

#[tokio::test]
async fn a_server_of_our_own_judges_edits_before_the_user_does() {
    let home = || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cache/azimuth-tests");
    let tools = std::env::var_os("AZIMUTH_TEST_TOOLS").map_or_else(home, PathBuf::from);
    let program = tools.join("language-servers/bin/pyright-langserver");
    if !program.exists() {
        return not_tried("pyright: it is not installed (tests/tools/install-language-servers)");
    }
    let files = [
        ("pyproject.toml", "[project]\nname = \"x\"\n"),
        ("shapes.py", "def area(side: int) -> int:\n    return side * side\n"),
        ("main.py", "from shapes import area\n\nprint(area(3))\n"),
        ("node_modules/.bin/.keep", ""),
    ];
    // It is a slow machine's.
    let settings = format!("check_edits = 60\nsandbox_read = [{tools:?}]");
    let world = World::with(Profile::panel(), &settings, &files).await;
    symlink(program, world.project.path("node_modules/.bin/pyright-langserver")).unwrap();
    let edits: [Edits<'_>; 4] = [
        &[("main.py", "area(3)", "area(\"three\")")],
        &[("main.py", "from shapes", "# Shapes.\nfrom shapes")],
        &[("main.py", "area(\"three\")", "area(4)")],
        // This edit breaks another file of the same turn.
        &[("shapes.py", "area(side: int)", "area(side: int, height: int)")],
    ];
    // The project brings it along, so it starts once it was asked for and allowed; looking at edits does not ask.
    world.allow_server("main.py").await;
    let events = world.turn(&edits).await;
    let told = told(&events);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].starts_with("Problems since your edits (pyright): 1 error is new.\nmain.py:3:12: error["),
        "{told:?}"
    );
    assert!(told[0].ends_with("    print(area(\"three\"))") && told[0].contains("\"Literal['three']\""), "{told:?}");
    assert_eq!(told[1], "Problems since your edits (pyright): 1 error is gone.");
    assert!(told[2].contains("1 error is new.\nmain.py:4:7: error[") && told[2].contains("\"height\""), "{told:?}");
    assert_eq!(new_errors(&events), Some(1));
    assert_eq!(world.project.read("main.py"), "from shapes import area\n\nprint(area(3))\n", "nothing is accepted");
    world.finish().await;
}

/// In a real project an edit breaks something, and its language server says so before the user has seen it; then either
/// the server's own quick fix mends it, or the edit is taken back, and that is said too.
async fn is_broken_and_mended(real: Real, file: &str, edit: (&str, &str), error: &str, fix: Option<&str>) {
    let Some(world) = World::real(real).await else { return };
    let before = world.project.read(file);
    // It may have to start beside others.
    world.allow_server(file).await;
    let events = world.turn(&[&[(file, edit.0, edit.1)]]).await;
    let broken = told(&events);
    assert!(broken.len() == 1 && broken[0].contains(" new.\n") && broken[0].contains(error), "{broken:?}");
    let place = broken[0].lines().nth(1).and_then(|line| line.strip_prefix(&format!("{file}:")));
    let line: usize = place.and_then(|place| place.split(':').next()).and_then(|line| line.parse().ok()).unwrap();
    assert!(new_errors(&events).is_some_and(|count| count > 0), "{events:?}");

    let events = match fix {
        None => world.turn(&[&[(file, edit.1, edit.0)]]).await,
        Some(fix) => {
            let mut input = json!({ "path": file, "line": line });
            world.model.then(Answer::calls("lsp_code_actions", input.clone()));
            let listed = result(&world.turn(&[]).await);
            let action = listed.lines().find(|line| line.contains(fix)).unwrap_or_else(|| panic!("{listed}"));
            input["apply"] = json!(action.split(" [quickfix").next());
            world.model.then(Answer::calls("lsp_code_actions", input));
            let events = world.turn(&[]).await;
            assert!(result(&events).starts_with("Applied "), "{}", result(&events));
            events
        }
    };
    let mended = told(&events);
    assert!(mended.len() == 1 && mended[0].contains(" gone."), "{mended:?}");
    assert!(!mended[0].contains(" new"), "{mended:?}");
    assert_eq!(new_errors(&events), None);
    assert_eq!(world.project.read(file), before, "nothing is accepted");
    world.finish().await;
}

/// The text that a tool gave the model.
fn result(events: &[Event]) -> String {
    let told = events.iter().find_map(|event| match event {
        Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
        _ => None,
    });
    told.unwrap_or_default()
}

#[tokio::test]
async fn typescripts_server_says_in_rxjs_what_an_edit_broke_and_mends_it() {
    let import = ("import { arrRemove } from './util/arrRemove';\n", "");
    let (error, fix) = ("Cannot find name 'arrRemove'", "Add import from \"./util/arrRemove\"");
    is_broken_and_mended(Real::TypeScript, "internal/Subscription.ts", import, error, Some(fix)).await;
}

#[tokio::test]
async fn clangd_says_in_leveldb_what_an_edit_broke_and_mends_it() {
    let call = ("PutVarint32(dst, value.size());", "PutVarint3(dst, value.size());");
    is_broken_and_mended(Real::Cpp, "util/coding.cc", call, "'PutVarint3'", Some("change 'PutVarint3' to")).await;
}

#[tokio::test]
async fn rust_analyzer_says_in_futures_util_what_an_edit_broke_and_what_mended_it() {
    let value = ("assert_future::<(), _>(MaybeDone::Future(future))", "4_u8");
    let error = "expected MaybeDone<Fut>, found u8";
    is_broken_and_mended(Real::Rust, "src/future/maybe_done.rs", value, error, None).await;
}

#[tokio::test]
async fn pyright_says_in_networkx_what_an_edit_broke_and_what_mended_it() {
    let import = ("from networkx.utils import groups", "from networkx.utils import group");
    is_broken_and_mended(Real::Python, "networkx/utils/union_find.py", import, "\"groups\" is not defined", None).await;
}
