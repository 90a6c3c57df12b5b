//! Servers of our own as a user meets them: a nasty one, written for it, that does what servers do at their worst.
#![expect(clippy::disallowed_methods, reason = "a test makes its project's files itself")]

use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use project::buffers::Buffers;
use project::paths;
use project::reader::{NoOverlay, Overlay, Pending};
use protocol::content::{Position, Range};
use protocol::lang::{LangAnswer, LangChange, LangLocation, LangQuery, LangResult, LangStatus, LangTextEdit};
use serde_json::json;

use super::*;

const SERVER: &str = include_str!("tests/nasty.py");

/// A project with the nasty server in its own `node_modules/.bin`, which behaves as the project's settings say.
struct World {
    folder: tempfile::TempDir,
    buffers: Arc<Buffers>,
    overlay: Arc<dyn Overlay>,
    servers: Arc<Servers>,
}

impl World {
    fn new(behaviour: &str) -> Self {
        Self::with(behaviour, ServersConfig::default())
    }

    fn with(behaviour: &str, config: ServersConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world =
            Self { folder, buffers: Arc::default(), overlay: Arc::new(NoOverlay), servers: Servers::new(config) };
        world.write("node_modules/.bin/nasty", SERVER);
        let program = world.path("node_modules/.bin/nasty");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let config = json!({ "nasty": {
            "command": "nasty",
            "args": [behaviour],
            "fileTypes": [".nasty"],
            "rootMarkers": ["nasty.project"],
            "settings": { "nasty": { "level": 7 } },
            "editCommands": ["nasty.edit"],
            "saysFiles": if behaviour.starts_with("finds-files") { vec!["Found * source file*"] } else { vec![] },
            "warmupTimeoutMs": if behaviour == "never-starts" { 3_000 } else { 60_000 },
        } });
        world.write(".azimuth/lsp.json", &config.to_string());
        world.write("nasty.project", "");
        world.write("a.nasty", "one two\nthree 😀 four\n");
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn uri(&self, name: &str) -> String {
        paths::to_uri(&self.path(name))
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn roots(&self) -> Roots {
        Roots::new([self.folder.path()]).unwrap()
    }

    fn source(&self) -> Arc<dyn Source> {
        self.source_with(self.overlay.clone())
    }

    fn source_with(&self, overlay: Arc<dyn Overlay>) -> Arc<dyn Source> {
        let reader = Reader::new(self.buffers.clone(), overlay);
        self.servers.source(self.roots(), reader, access(Arc::new(|| true)))
    }

    async fn ask(&self, query: LangQuery, seconds: u64) -> LangResult {
        let (began, within) = (Instant::now(), Duration::from_secs(seconds));
        let result = self.source().ask(&query, within).await;
        let took = began.elapsed();
        let nasty = self.servers.slots().values().next().map(|slot| slot.definition.args.clone());
        assert!(took < within + Duration::from_secs(1), "{nasty:?}: {query:?} took {took:?}: {result:?}");
        result
    }

    /// Asks again while the server is only starting, which beside other load may take longer than a question waits.
    async fn ask_when_there(&self, query: LangQuery, seconds: u64) -> LangResult {
        loop {
            let result = self.ask(query.clone(), seconds).await;
            if !why(&result).contains("is not yet there") {
                return result;
            }
        }
    }

    fn definition(&self) -> LangQuery {
        LangQuery::Definition { uri: self.uri("a.nasty"), position: at(1, 9) }
    }

    fn problems(&self) -> LangQuery {
        LangQuery::Diagnostics { uri: Some(self.uri("a.nasty")) }
    }

    /// The problems of all files, each as `file: message`, with what was said besides.
    async fn all_problems(&self) -> (LangResult, Vec<String>) {
        let result = self.ask(LangQuery::Diagnostics { uri: None }, 10).await;
        let LangAnswer::Diagnostics { documents } = &result.answer else { panic!("{result:?}") };
        let name = |uri: &str| uri.rsplit('/').next().unwrap_or_default().to_owned();
        let of_document = |document: &protocol::lang::LangDiagnostics| {
            let said = |found: &protocol::lang::LangDiagnostic| format!("{}: {}", name(&document.uri), found.message);
            document.diagnostics.iter().map(said).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = documents.iter().flat_map(of_document).collect();
        all.sort();
        (result, all)
    }

    /// Waits until a slow server answers such a question.
    async fn until_it_is_at(&self, method: &str) {
        let at = self.path(&format!("at-{method}"));
        while !at.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn log(&self) -> String {
        let hover = LangQuery::Hover { uri: self.uri("a.nasty"), position: at(0, 0) };
        // On a busy machine it takes long until a server is there.
        match self.ask(hover, 60).await.answer {
            LangAnswer::Text { text } => text,
            other => panic!("{other:?}"),
        }
    }
}

/// A session without a sandbox, whose user allows whatever the project brings along.
fn access(trusted: Arc<dyn Fn() -> bool + Send + Sync>) -> Access {
    struct Open;
    #[async_trait::async_trait]
    impl Gate for Open {
        async fn admit(&self, _: &Brought, _: bool) -> Result<(), String> {
            Ok(())
        }
    }
    let sessions = Arc::new(|| Ok(Vec::new()));
    Access { trusted, policy: None, pass: [].into(), gate: Arc::new(Open), sessions }
}

/// A session that proposes a text for a file.
struct Proposes(PathBuf, &'static str);

impl Overlay for Proposes {
    fn pending(&self, path: &Path) -> Option<Pending> {
        (path == self.0).then(|| Pending::Text(self.1.into()))
    }

    fn paths(&self) -> Vec<PathBuf> {
        vec![self.0.clone()]
    }
}

fn at(line: u32, character: u32) -> Position {
    Position { line, character }
}

fn why(result: &LangResult) -> &str {
    result.message.as_deref().unwrap_or_default()
}

#[tokio::test]
async fn a_question_starts_the_server_of_the_project_and_says_who_answered() {
    let world = World::new("good");
    let result = world.ask(world.definition(), 10).await;
    assert_eq!(result.status, LangStatus::Ready, "{result:?}");
    let location = LangLocation { uri: world.uri("a.nasty"), range: Range { start: at(1, 9), end: at(1, 13) } };
    assert_eq!(result.answer, LangAnswer::Locations { locations: vec![location] });
    let named: Vec<_> = result.servers.iter().map(|server| (&*server.name, server.version.as_deref())).collect();
    assert_eq!(named, [("nasty", Some("0.1"))]);
    let status = world.servers.status(&world.roots(), &access(Arc::new(|| true))).await;
    let nasty = status.iter().find(|one| one.name == "nasty").unwrap();
    assert_eq!(nasty.state, ServerState::Ready);
    assert!(nasty.pid.is_some() && (!cfg!(target_os = "linux") || nasty.memory > Some(1 << 20)), "{nasty:?}");
}

#[tokio::test]
async fn it_is_answered_what_it_asks_and_sees_unsaved_and_proposed_text() {
    let mut world = World::new("good");
    world.ask(world.definition(), 10).await;
    world.buffers.open(&world.uri("a.nasty"), "nastish", 4, "typed\r\n").unwrap();
    world.buffers.open(&world.uri("b.nasty"), "nastish", 1, "beside\n").unwrap();
    world.buffers.open(&world.uri("c.other"), "other", 1, "of another kind\n").unwrap();
    let result = world.ask(world.definition(), 5).await;
    assert_eq!(result.version, Some(4), "the editor's version, not ours: {result:?}");
    world.overlay = Arc::new(Proposes(world.path("a.nasty"), "proposed\n"));
    let result = world.ask(world.definition(), 5).await;
    assert_eq!(result.version, None, "no editor has the proposed text");
    let log = world.log().await;
    let expected = [
        "configuration: [7, null]",
        "unknown request: -32601",
        "open plaintext: one two\nthree \u{1F600} four\n",
        "open nastish: beside\n",
        "change: typed\n",
        "change: proposed\n",
    ];
    let found: Vec<_> = expected.iter().map(|line| log.find(line)).collect();
    assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{log}");
    assert!(!log.contains("another kind"), "{log}");
}

#[tokio::test]
async fn a_file_that_is_proposed_to_be_deleted_says_nothing_any_more() {
    struct Deletes(PathBuf);
    impl Overlay for Deletes {
        fn pending(&self, path: &Path) -> Option<Pending> {
            (path == self.0).then_some(Pending::Deleted)
        }
        fn paths(&self) -> Vec<PathBuf> {
            vec![self.0.clone()]
        }
    }
    let mut world = World::new("good");
    world.write("b.nasty", "to be deleted\n");
    let beside = || LangQuery::Definition { uri: world.uri("b.nasty"), position: at(0, 0) };
    assert_eq!(world.ask(beside(), 10).await.status, LangStatus::Ready);
    let beside = beside();
    world.overlay = Arc::new(Deletes(world.path("b.nasty")));
    let log = world.log().await;
    assert!(log.contains("open plaintext: to be deleted\n") && log.lines().any(|line| line == "change: "), "{log}");
    assert!(!log.contains("close"), "what is closed is as it is on disk: {log}");
    let result = world.ask(beside, 5).await;
    assert_eq!(result.status, LangStatus::Failed, "{result:?}");
    assert!(why(&result).contains("is deleted by an edit that waits for review"), "{result:?}");

    let place = |name: &str| LangLocation { uri: world.uri(name), range: Range { start: at(0, 0), end: at(0, 1) } };
    let mut answer = LangAnswer::Locations { locations: vec![place("a.nasty"), place("b.nasty")] };
    let reader = Reader::new(world.buffers.clone(), world.overlay.clone());
    super::super::answer::leave_out_deleted(&mut answer, &reader);
    assert_eq!(answer, LangAnswer::Locations { locations: vec![place("a.nasty")] });
}

#[tokio::test]
async fn what_another_program_writes_is_seen_at_the_next_question() {
    let world = World::new("good");
    world.ask(world.definition(), 10).await;
    world.write("a.nasty", "written by a command\n");
    let problems = world.ask(world.problems(), 5).await;
    assert_eq!(problems.status, LangStatus::Ready, "{problems:?}");
    assert!(format!("{:?}", problems.answer).contains("it says written by a command"), "{problems:?}");
    world.write("b.nasty", "x\n");
    world.ask(LangQuery::Hover { uri: world.uri("b.nasty"), position: at(0, 0) }, 5).await;
    std::fs::remove_file(world.path("a.nasty")).unwrap();
    let result = world.ask(LangQuery::Hover { uri: world.uri("b.nasty"), position: at(0, 0) }, 5).await;
    assert!(format!("{:?}", result.answer).contains("close"), "{result:?}");
}

#[tokio::test]
async fn positions_are_utf_16_whatever_a_server_counts_in() {
    for units in ["utf-8", "utf-32"] {
        let world = World::new(units);
        // Behind the emoji: what the server gives as four of its characters are four of ours there, and five before it.
        let result = world.ask(world.definition(), 10).await;
        let LangAnswer::Locations { locations } = &result.answer else { panic!("{result:?}") };
        assert_eq!(locations[0].range, Range { start: at(1, 9), end: at(1, 13) }, "{units}");
        let query = LangQuery::Definition { uri: world.uri("a.nasty"), position: at(1, 5) };
        let result = world.ask(query, 5).await;
        let LangAnswer::Locations { locations } = &result.answer else { panic!("{result:?}") };
        let end = if units == "utf-8" { at(1, 6) } else { at(1, 10) };
        assert_eq!(locations[0].range, Range { start: at(1, 5), end }, "{units}");
    }
}

#[tokio::test]
async fn every_way_to_fail_is_an_honest_status_in_time() {
    let cases = [
        ("mute", LangStatus::TimedOut, "did not answer in time"),
        ("never-starts", LangStatus::TimedOut, "is not yet there"),
        ("dies-at-once", LangStatus::Crashed, "no such interpreter"),
        ("crash", LangStatus::Crashed, "Segmentation fault"),
        ("unknown", LangStatus::Unsupported, "what?"),
        ("can-nothing", LangStatus::Unsupported, "cannot answer"),
        ("error", LangStatus::Failed, "the name is taken"),
        ("wrong-shape", LangStatus::Failed, "cannot be read"),
        ("no-json", LangStatus::Crashed, "cannot be read"),
        ("deep", LangStatus::Failed, "cannot be read"),
        ("garbage", LangStatus::Crashed, "does not speak the protocol"),
        ("endless", LangStatus::Crashed, "more than 64 MiB"),
        ("flood", LangStatus::Crashed, "floods"),
        ("flood-of-questions", LangStatus::Crashed, "floods"),
        ("slow", LangStatus::Ready, ""),
        ("fickle", LangStatus::Ready, ""),
        ("chatty", LangStatus::Ready, ""),
        ("reads-for-ever", LangStatus::Ready, ""),
    ];
    for (behaviour, status, words) in cases {
        let world = World::new(behaviour);
        // Those that flood are given the time to.
        let seconds = if matches!(behaviour, "mute" | "never-starts") { 2 } else { 20 };
        let result = match behaviour {
            "never-starts" => world.ask(world.definition(), seconds).await,
            _ => world.ask_when_there(world.definition(), seconds).await,
        };
        assert_eq!(result.status, status, "{behaviour}: {result:?}");
        assert!(why(&result).contains(words), "{behaviour}: {result:?}");
        world.servers.stop().await;
    }
}

#[tokio::test]
async fn one_that_did_not_format_in_time_is_waited_for_only_shortly_the_next_time() {
    let world = World::new("formats-never");
    let query = LangQuery::Format { uri: world.uri("a.nasty"), lines: Vec::new() };
    // It has the time to start.
    while !world.path("asked-to-format").exists() {
        assert_eq!(world.ask(query.clone(), 3).await.status, LangStatus::TimedOut);
    }
    let began = Instant::now();
    let result = world.ask(query, 60).await;
    assert_eq!((result.status, why(&result)), (LangStatus::TimedOut, "nasty: it did not answer in time"));
    assert!(began.elapsed() < Duration::from_secs(30), "it was waited for as long as the first time");
    // Other questions have the time that they are given.
    assert_eq!(world.ask(world.definition(), 20).await.status, LangStatus::Ready);
    world.servers.stop().await;
}

#[tokio::test]
async fn one_that_formats_in_its_time_is_waited_for_again_also_where_nobody_waited_then() {
    let world = World::new("formats-when-let");
    let query = LangQuery::Format { uri: world.uri("a.nasty"), lines: Vec::new() };
    while !world.path("asked-to-format").exists() {
        assert_eq!(world.ask(query.clone(), 3).await.status, LangStatus::TimedOut);
    }
    let is_late = || world.servers.slots().values().any(|slot| slot.formats_late());
    assert!(is_late());
    assert_eq!(world.ask(query, 60).await.status, LangStatus::TimedOut);
    world.write("may-format", "");
    let answered = async {
        while is_late() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(50), answered).await.expect("it has answered");
    world.servers.stop().await;
}

#[tokio::test]
async fn one_that_does_not_even_start_is_said_to_have_crashed_and_left_alone_for_a_while() {
    let world = World::new("never-starts");
    let result = world.ask(world.definition(), 5).await;
    assert_eq!(result.status, LangStatus::Crashed, "{result:?}");
    assert!(why(&result).contains("did not answer `initialize` in 3 s"), "{result:?}");
    let began = Instant::now();
    let result = world.ask(world.definition(), 5).await;
    assert_eq!(result.status, LangStatus::Crashed, "{result:?}");
    assert!(began.elapsed() < Duration::from_millis(500), "it is not tried at once again");
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let result = world.ask(world.definition(), 5).await;
    assert!(why(&result).contains("that happened 2 times in a row"), "{result:?}");
    // The user says that it is to be tried.
    assert_eq!(world.servers.restart(None, Some("nasty")).await, 1);
    let result = world.ask(world.definition(), 5).await;
    assert!(!why(&result).contains("in a row"), "{result:?}");
}

#[tokio::test]
async fn nothing_found_and_not_yet_read_do_not_look_alike() {
    let world = World::new("reads-for-ever");
    let rename = LangQuery::Rename { uri: world.uri("a.nasty"), position: at(0, 0), new_name: "ten".into() };
    let result = world.ask_when_there(rename, 2).await;
    assert_eq!(result.status, LangStatus::Indexing, "a rename needs all of the project: {result:?}");
    assert!(why(&result).contains("Reading (3 %)"), "{result:?}");
    let status = world.servers.all().await;
    assert_eq!(status[0].state, ServerState::Indexing, "{status:?}");

    let world = World::new("empty-while-reading");
    let result = world.ask(world.definition(), 10).await;
    assert_eq!(result.status, LangStatus::Ready, "it was asked again when it had read: {result:?}");
    assert!(!answer_is_empty(&result), "{result:?}");
}

fn answer_is_empty(result: &LangResult) -> bool {
    matches!(&result.answer, LangAnswer::Locations { locations } if locations.is_empty())
}

#[tokio::test]
async fn problems_are_of_the_text_as_it_is_now_or_none_are_told() {
    for behaviour in ["good", "slow-problems", "problems-without-version"] {
        let world = World::new(behaviour);
        let result = world.ask(world.problems(), 10).await;
        assert_eq!(result.status, LangStatus::Ready, "{behaviour}: {result:?}");
        let LangAnswer::Diagnostics { documents } = &result.answer else { panic!("{result:?}") };
        let found = &documents[0].diagnostics[0];
        assert_eq!((&*found.message, found.code.as_deref()), ("it says one two", Some("42")), "{behaviour}");
    }
    for behaviour in ["stale-problems", "no-problems"] {
        let world = World::new(behaviour);
        let result = world.ask(world.problems(), 3).await;
        assert_eq!(result.status, LangStatus::TimedOut, "{behaviour}: {result:?}");
        assert_eq!(result.answer, LangAnswer::Nothing, "{behaviour}");
    }
}

#[tokio::test]
async fn two_sessions_each_hear_of_the_problems_of_their_own_text() {
    for (behaviour, within) in [("late-problems", 10), ("answers-of-later", 10), ("answers-slowly-of-later", 30)] {
        each_hears_of_its_own_text(World::new(behaviour), Duration::from_secs(within)).await;
    }
}

async fn each_hears_of_its_own_text(world: World, within: Duration) {
    world.write("b.nasty", "beside\n");
    let proposes = |text| world.source_with(Arc::new(Proposes(world.path("a.nasty"), text)));
    let (one, other, without) = (proposes("mine\n"), proposes("yours\n"), world.source());
    let (query, beside) = (world.problems(), LangQuery::Hover { uri: world.uri("b.nasty"), position: at(0, 0) });
    // The server runs, so that what follows overlaps.
    without.ask(&beside, within).await;
    let later = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        tokio::join!(other.ask(&query, within), without.ask(&beside, within))
    };
    let (mine, (yours, _)) = tokio::join!(one.ask(&query, within), later);
    for (result, text) in [(mine, "it says mine"), (yours, "it says yours")] {
        assert_eq!(result.status, LangStatus::Ready, "{result:?}");
        let LangAnswer::Diagnostics { documents } = &result.answer else { panic!("{result:?}") };
        let said: Vec<_> = documents[0].diagnostics.iter().map(|found| &*found.message).collect();
        assert_eq!(said, [text]);
    }
}

#[tokio::test]
async fn what_is_proposed_for_another_file_counts_for_one_that_looks_at_others_only_when_they_change() {
    let world = World::new("hears-changes");
    world.write("b.nasty", "old\n");
    let proposes = world.source_with(Arc::new(Proposes(world.path("b.nasty"), "new\n")));
    for (source, said) in [(world.source(), "old"), (proposes, "new")] {
        let result = source.ask(&world.problems(), Duration::from_secs(10)).await;
        let LangAnswer::Diagnostics { documents } = &result.answer else { panic!("{result:?}") };
        let messages: Vec<_> = documents[0].diagnostics.iter().map(|found| &*found.message).collect();
        assert_eq!(messages, [format!("beside it says {said}")]);
    }
}

#[tokio::test]
async fn the_problems_of_a_proposed_text_are_told_by_those_that_say_nothing_twice_and_by_the_slowest() {
    for behaviour in ["says-once", "very-late-problems"] {
        let world = World::new(behaviour);
        let proposes = world.source_with(Arc::new(Proposes(world.path("a.nasty"), "mine\n")));
        let result = proposes.ask(&world.problems(), Duration::from_secs(20)).await;
        assert_eq!(result.status, LangStatus::Ready, "{behaviour}: {result:?}");
        assert!(format!("{:?}", result.answer).contains("it says mine"), "{behaviour}: {result:?}");
    }
}

#[tokio::test]
async fn an_edit_that_may_be_of_the_text_of_another_session_is_refused() {
    let world = World::new("renames-slowly");
    world.log().await;
    let proposes = |text| world.source_with(Arc::new(Proposes(world.path("a.nasty"), text)));
    let (one, other) = (proposes("mine\n"), proposes("yours\n"));
    let rename = LangQuery::Rename { uri: world.uri("a.nasty"), position: at(0, 0), new_name: "ten".into() };
    let later = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        other.ask(&world.definition(), Duration::from_secs(20)).await
    };
    // It is answered once, after the other has waited long enough, and there is no time to ask again.
    let (renamed, found) = tokio::join!(one.ask(&rename, Duration::from_secs(7)), later);
    assert_eq!((renamed.status, renamed.answer.clone()), (LangStatus::Failed, LangAnswer::Nothing), "{renamed:?}");
    assert!(why(&renamed).contains("may be about other versions; ask again"), "{renamed:?}");
    assert_eq!(found.status, LangStatus::Ready, "{found:?}");
}

#[tokio::test]
async fn one_that_never_answers_a_session_does_not_keep_another_from_its_problems() {
    let world = World::new("never-hovers");
    let proposes = |text| world.source_with(Arc::new(Proposes(world.path("a.nasty"), text)));
    let (one, other) = (proposes("mine\n"), proposes("yours\n"));
    let hover = LangQuery::Hover { uri: world.uri("a.nasty"), position: at(0, 0) };
    one.ask(&world.definition(), Duration::from_secs(10)).await;
    let later = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        other.ask(&world.problems(), Duration::from_secs(15)).await
    };
    let (hovered, problems) = tokio::join!(one.ask(&hover, Duration::from_secs(20)), later);
    assert_eq!(problems.status, LangStatus::Ready, "{problems:?}");
    assert!(format!("{:?}", problems.answer).contains("it says yours"), "{problems:?}");
    assert_eq!(hovered.status, LangStatus::TimedOut, "{hovered:?}");
}

#[tokio::test]
async fn a_document_that_is_waited_for_is_not_closed_by_another_session() {
    let world = World::new("late-problems");
    world.write("b.nasty", "beside\n");
    let within = Duration::from_secs(10);
    let (one, without) = (world.source_with(Arc::new(Proposes(world.path("a.nasty"), "mine\n"))), world.source());
    let (query, beside) = (world.problems(), LangQuery::Hover { uri: world.uri("b.nasty"), position: at(0, 0) });
    without.ask(&beside, within).await;
    let later = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        without.ask(&beside, within).await
    };
    let (mine, other) = tokio::join!(one.ask(&query, within), later);
    assert_eq!(mine.status, LangStatus::Ready, "{mine:?}");
    assert!(format!("{:?}", mine.answer).contains("it says mine"), "closed, it had none: {mine:?}");
    assert!(format!("{:?}", other.answer).contains("close"), "it does not see what is proposed elsewhere: {other:?}");
}

#[tokio::test]
async fn problems_that_may_be_of_an_earlier_text_are_not_called_whole() {
    for (behaviour, said) in
        [("old-first-without-version", "it says new"), ("old-only-without-version", "it says one two")]
    {
        let world = World::new(behaviour);
        assert_eq!(world.ask(world.problems(), 10).await.status, LangStatus::Ready, "there was no earlier one");
        world.write("a.nasty", "new\n");
        let result = world.ask(world.problems(), 10).await;
        assert_eq!(result.status, LangStatus::Partial, "{behaviour}: {result:?}");
        assert!(why(&result).contains("which version of the text"), "{behaviour}: {result:?}");
        assert!(format!("{:?}", result.answer).contains(said), "{behaviour}: {result:?}");
    }
}

#[tokio::test]
async fn when_another_file_has_changed_problems_are_those_of_now_or_it_is_said_that_nobody_knows() {
    for (behaviour, status) in [("good", LangStatus::Ready), ("says-once", LangStatus::Partial)] {
        let mut world = World::new(behaviour);
        world.write("b.nasty", "beside\n");
        world.ask(LangQuery::Hover { uri: world.uri("b.nasty"), position: at(0, 0) }, 10).await;
        assert_eq!(world.ask(world.problems(), 10).await.status, LangStatus::Ready);
        world.overlay = Arc::new(Proposes(world.path("b.nasty"), "otherwise\n"));
        // However often, and however late.
        for _ in 0..2 {
            let result = world.ask(world.problems(), 10).await;
            assert_eq!(result.status, status, "{behaviour}: {result:?}");
            assert_eq!(why(&result).contains("another file was changed"), behaviour == "says-once", "{result:?}");
            assert!(format!("{:?}", result.answer).contains("it says one two"), "{result:?}");
        }
    }
    // On disk, where the server looks for itself and is told of nothing.
    let world = World::new("reads-beside");
    let path = world.path("b.nasty");
    for text in ["old", "new"] {
        world.write("b.nasty", text);
        world.servers.files_changed(vec![path.clone()]).await;
        let result = world.ask(world.problems(), 10).await;
        assert_eq!(result.status, LangStatus::Ready, "{result:?}");
        let said = format!("it says one two beside {text}");
        assert!(format!("{:?}", result.answer).contains(&said), "{result:?}");
    }
}

#[tokio::test]
async fn what_is_published_beside_what_is_asked_for_is_said_to_be_left_out_when_it_is_of_an_earlier_text() {
    let world = World::new("pulls-and-publishes");
    let result = world.ask(world.problems(), 10).await;
    assert_eq!(result.status, LangStatus::Ready, "{result:?}");
    let all = format!("{:?}", result.answer);
    assert!(all.contains("asked, it says one two") && all.contains("\"it says one two"), "{result:?}");
    world.write("a.nasty", "new\n");
    let result = world.ask(world.problems(), 10).await;
    assert_eq!(result.status, LangStatus::Partial, "{result:?}");
    assert!(why(&result).contains("of the text before") && format!("{:?}", result.answer).contains("says new"));
}

#[tokio::test]
async fn a_server_hears_whether_a_file_was_made_changed_or_deleted() {
    let world = World::new("watches");
    world.log().await;
    let path = world.path("b.nasty");
    let tell = async || world.servers.files_changed(vec![path.clone()]).await;
    for _ in 0..2 {
        world.write("b.nasty", "x\n");
        tell().await;
        tell().await;
        std::fs::remove_file(&path).unwrap();
        tell().await;
    }
    let log = world.log().await;
    let told: Vec<_> = log.lines().filter(|line| line.starts_with("b.nasty")).collect();
    assert_eq!(told, [1, 2, 3, 1, 2, 3].map(|kind| format!("b.nasty: {kind}")));
}

#[tokio::test]
async fn one_that_still_looks_for_the_projects_files_is_waited_for_where_all_of_them_count() {
    for (behaviour, status, found) in
        [("finds-files", LangStatus::Ready, 1), ("finds-files-never", LangStatus::Indexing, 0)]
    {
        let world = World::new(behaviour);
        assert_eq!(world.ask(world.definition(), 10).await.status, LangStatus::Ready, "that takes no other file");
        let uses = LangQuery::References { uri: world.uri("a.nasty"), position: at(0, 0) };
        let result = world.ask(uses, 4).await;
        assert_eq!(result.status, status, "{behaviour}: {result:?}");
        let LangAnswer::Locations { locations } = &result.answer else { panic!("{result:?}") };
        assert_eq!(locations.len(), found, "{behaviour}");
        let is_said = why(&result).contains("found the project's files");
        assert_eq!(is_said, status == LangStatus::Indexing, "{result:?}");
    }
}

#[tokio::test]
async fn the_edits_of_a_command_are_its_own_and_of_the_text_that_was_asked_about() {
    let world = World::new("late-command");
    let ask = |seconds| world.ask(action(&world, "Ask to edit", None), seconds);
    world.log().await;
    assert_eq!(ask(4).await.status, LangStatus::TimedOut);
    let result = ask(20).await;
    let LangAnswer::Edit { changes } = &result.answer else { panic!("{result:?}") };
    assert!(changes.len() == 1 && format!("{changes:?}").contains("asked 2"), "{result:?}");

    let world = World::new("slow");
    world.log().await;
    world.ask(world.problems(), 10).await;
    world.write("hold", "");
    let types = async {
        world.until_it_is_at("codeAction").await;
        world.buffers.open(&world.uri("a.nasty"), "nastish", 1, "typed meanwhile\n").unwrap();
        std::fs::remove_file(world.path("hold")).unwrap();
    };
    let (result, ()) = tokio::join!(world.ask(action(&world, "Ask to edit", None), 10), types);
    assert_eq!(result.status, LangStatus::Failed, "{result:?}");
    assert!(why(&result).contains("the text changed while it was asked"), "{result:?}");
}

#[tokio::test]
async fn a_rename_over_a_file_that_is_written_meanwhile_is_refused() {
    let world = World::new("slow");
    world.write("c.nasty", "one\n");
    world.log().await;
    let rename = || LangQuery::Rename { uri: world.uri("a.nasty"), position: at(0, 0), new_name: "ten".into() };
    assert_eq!(world.ask(rename(), 60).await.status, LangStatus::Ready);
    world.write("hold", "");
    let writes = async {
        world.until_it_is_at("rename").await;
        world.write("c.nasty", "// new\none\n");
        std::fs::remove_file(world.path("hold")).unwrap();
    };
    let (result, ()) = tokio::join!(world.ask(rename(), 60), writes);
    assert_eq!((result.status, &result.answer), (LangStatus::Failed, &LangAnswer::Nothing), "{result:?}");
    assert!(why(&result).contains("c.nasty changed while it was asked; ask again"), "{result:?}");
}

#[tokio::test]
async fn actions_are_listed_where_the_problems_are_not_known_and_found_by_their_kind() {
    let world = World::new("pull-fails");
    let whole = Range { start: at(0, 0), end: at(1, 0) };
    let listed = world.ask(LangQuery::CodeActions { uri: world.uri("a.nasty"), range: whole, kind: None }, 10).await;
    assert_eq!(listed.status, LangStatus::Partial, "{listed:?}");
    assert!(why(&listed).contains("quick fixes may be missing"), "{listed:?}");
    assert!(matches!(&listed.answer, LangAnswer::Actions { actions } if actions.len() == 4), "{listed:?}");

    let sorted = world.ask(action(&world, "Sort", Some("source.sort")), 5).await;
    assert!(format!("{:?}", sorted.answer).contains("sorted"), "{sorted:?}");
    assert_eq!(world.ask(action(&world, "Sort", None), 5).await.status, LangStatus::Unsupported);
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn one_that_is_only_starting_ends_when_it_is_not_wanted_any_more_or_takes_too_much_memory() {
    for too_much in [false, true] {
        let world = World::new("never-starts");
        let starting = async {
            loop {
                tokio::time::sleep(Duration::from_millis(100)).await;
                let status = world.servers.all().await;
                if let Some(pid) = status.first().and_then(|one| one.pid) {
                    break pid;
                }
            }
        };
        let ends = async {
            let pid = starting.await;
            let slots: Vec<_> = world.servers.slots().values().cloned().collect();
            match too_much {
                true => slots[0].look(1 << 10).await,
                false => world.servers.leave(&world.roots()).await,
            }
            let gone = async {
                while Path::new(&format!("/proc/{pid}/stat")).exists() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            // Far below the time that it has to start.
            tokio::time::timeout(Duration::from_secs(1), gone).await.expect("its process is gone");
        };
        tokio::select! {
            () = ends => {}
            () = async { let _ = world.ask(world.definition(), 30).await; std::future::pending().await } => {}
        }
    }
}

#[tokio::test]
async fn one_that_is_being_asked_is_not_idle() {
    let config = ServersConfig { idle: Duration::from_millis(1), ..ServersConfig::default() };
    let world = World::with("slow", config);
    let look = async {
        world.until_it_is_at("definition").await;
        let slots: Vec<_> = world.servers.slots().values().cloned().collect();
        slots[0].look(u64::MAX).await;
        std::fs::remove_file(world.path("hold")).unwrap();
    };
    world.log().await;
    world.write("hold", "");
    let (result, ()) = tokio::join!(world.ask(world.definition(), 10), look);
    assert_eq!(result.status, LangStatus::Ready, "{result:?}");
}

fn action(world: &World, title: &str, kind: Option<&str>) -> LangQuery {
    let range = Range { start: at(0, 0), end: at(1, 0) };
    LangQuery::CodeAction { uri: world.uri("a.nasty"), range, title: title.into(), kind: kind.map(str::to_owned) }
}

#[tokio::test]
async fn the_problems_of_the_workspace_are_of_the_texts_as_they_are_now() {
    let world = World::new("tells-of-all");
    world.write("c.nasty", "never opened\n");
    world.ask(world.definition(), 10).await;
    let (result, all) = world.all_problems().await;
    assert_eq!(all, ["a.nasty: it says one two", "c.nasty: it says never opened"]);
    assert_eq!(result.status, LangStatus::Partial, "nobody knows whether it told of all: {result:?}");
    tokio::time::sleep(Duration::from_millis(50)).await;
    world.write("a.nasty", "new\n");
    world.write("c.nasty", "changed by a command\n");
    let (result, all) = world.all_problems().await;
    assert_eq!(all, ["a.nasty: it says new"]);
    assert!(why(&result).contains("what it said of 1 file that has changed is left out"), "{result:?}");
    std::fs::remove_file(world.path("c.nasty")).unwrap();
    let (result, all) = world.all_problems().await;
    assert_eq!(all, ["a.nasty: it says new"]);
    assert!(!why(&result).contains("left out"), "{result:?}");

    let world = World::new("stale-problems");
    world.ask(world.definition(), 10).await;
    let (result, all) = world.all_problems().await;
    assert_eq!(all, [""; 0], "{result:?}");
    assert_eq!(result.status, LangStatus::Partial, "{result:?}");
}

#[tokio::test]
async fn a_server_that_answers_for_the_whole_workspace_is_asked() {
    let world = World::new("pulls-all");
    world.write("c.nasty", "never opened\n");
    world.ask(world.definition(), 10).await;
    let (result, all) = world.all_problems().await;
    assert_eq!(all, ["a.nasty: asked, it says one two", "c.nasty: never opened"]);
    assert_eq!(result.status, LangStatus::Ready, "{result:?}");

    let world = World::new("pulls-for-ever");
    world.ask(world.definition(), 10).await;
    let (result, all) = world.all_problems().await;
    assert_eq!(all, ["a.nasty: it says one two"], "what it published counts: {result:?}");
    assert_eq!(result.status, LangStatus::Partial, "{result:?}");

    let world = World::new("pulls-old");
    world.ask(world.definition(), 10).await;
    let (result, all) = world.all_problems().await;
    assert_eq!(all, ["c.nasty: never opened"]);
    assert_eq!(result.status, LangStatus::Partial, "{result:?}");
    assert!(why(&result).contains("what it said of 1 file that has changed is left out"), "{result:?}");
}

#[tokio::test]
async fn an_action_is_shown_as_the_edit_that_it_is_and_never_done() {
    let world = World::new("good");
    let whole = Range { start: at(0, 0), end: at(1, 0) };
    let uri = world.uri("a.nasty");
    let actions = world.ask(LangQuery::CodeActions { uri: uri.clone(), range: whole, kind: None }, 10).await;
    let LangAnswer::Actions { actions } = actions.answer else { panic!("{actions:?}") };
    let titles: Vec<_> =
        actions.iter().map(|action| (&*action.title, action.preferred, action.disabled.is_some())).collect();
    let knows = ("Knows of it says one two", false, true);
    assert_eq!(
        titles,
        [("Mend it", true, false), ("Ask to edit", false, false), ("Burn it down", false, false), knows]
    );
    let kind = Some("quickfix".to_owned());
    let fixes = world.ask(LangQuery::CodeActions { uri: uri.clone(), range: whole, kind }, 5).await;
    assert!(matches!(&fixes.answer, LangAnswer::Actions { actions } if actions.len() == 2), "{fixes:?}");

    let ask = |title: &str| world.ask(action(&world, title, None), 5);
    let edit = |text: &str| {
        let range = Range { start: at(0, 0), end: at(0, 3) };
        let edits = vec![LangTextEdit { range, new_text: text.into() }];
        // The text that it was asked about.
        let hash = Some(project::text::hash("one two\nthree \u{1F600} four\n").0);
        LangAnswer::Edit { changes: vec![LangChange::Text { uri: uri.clone(), version: None, hash, edits }] }
    };
    assert_eq!(ask("Mend it").await.answer, edit("ten"));
    assert_eq!(ask("Ask to edit").await.answer, edit("asked"));
    assert!(world.log().await.contains("applied: False"));
    let burns = ask("Burn it down").await;
    assert_eq!(burns.status, LangStatus::Unsupported, "{burns:?}");
    assert!(why(&burns).contains("`nasty.burn`"), "{burns:?}");
    assert_eq!(ask("Knows of it says one two").await.status, LangStatus::Failed);
    assert_eq!(std::fs::read_to_string(world.path("a.nasty")).unwrap(), "one two\nthree \u{1F600} four\n");
}

#[tokio::test]
async fn a_huge_result_is_cut_and_said_to_be() {
    let world = World::new("huge");
    let result = world.ask(world.definition(), 20).await;
    assert_eq!(result.status, LangStatus::Partial, "{:?}", result.message);
    assert!(matches!(&result.answer, LangAnswer::Locations { locations } if locations.len() == 10_000));
}

#[tokio::test]
async fn one_question_that_is_given_up_is_cancelled_and_does_not_disturb_the_next() {
    let world = World::new("slow");
    world.log().await;
    let source = world.source();
    let query = world.definition();
    let given_up = source.ask(&query, Duration::from_secs(5));
    assert!(tokio::time::timeout(Duration::from_millis(200), given_up).await.is_err());
    assert!(world.log().await.contains("cancel"));
}

#[tokio::test]
async fn sessions_share_a_process_and_it_ends_when_nobody_asks() {
    let config = ServersConfig { idle: Duration::from_millis(500), ..ServersConfig::default() };
    let world = World::with("good", config);
    let (one, other) = (world.source(), world.source());
    let query = world.definition();
    let (first, second) =
        tokio::join!(one.ask(&query, Duration::from_secs(10)), other.ask(&query, Duration::from_secs(10)));
    assert_eq!((first.status, second.status), (LangStatus::Ready, LangStatus::Ready));
    let status = world.servers.all().await;
    assert_eq!(status.len(), 1, "{status:?}");
    let pid = status[0].pid.unwrap();
    tokio::time::sleep(Duration::from_millis(600)).await;
    let slots: Vec<_> = world.servers.slots().values().cloned().collect();
    for slot in slots {
        slot.look(u64::MAX).await;
    }
    let status = world.servers.all().await;
    assert_eq!(status[0].state, ServerState::Stopped, "{status:?}");
    assert!(!Path::new(&format!("/proc/{pid}/stat")).exists(), "its process is gone");
    assert_eq!(world.ask(query, 10).await.status, LangStatus::Ready, "it is started anew");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn one_that_takes_too_much_memory_is_ended_and_it_is_said_why() {
    let world = World::new("eats-memory");
    world.ask(world.definition(), 20).await;
    let slots: Vec<_> = world.servers.slots().values().cloned().collect();
    for slot in slots {
        slot.look(200 << 20).await;
    }
    let result = world.ask(world.definition(), 5).await;
    assert_eq!(result.status, LangStatus::Crashed, "{result:?}");
    assert!(why(&result).contains("of memory; it may take 200 MiB"), "{result:?}");
}

#[tokio::test]
async fn in_a_workspace_that_is_not_trusted_nothing_is_started() {
    let world = World::new("good");
    let reader = Reader::new(world.buffers.clone(), world.overlay.clone());
    let source = world.servers.source(world.roots(), reader, access(Arc::new(|| false)));
    let result = source.ask(&world.definition(), Duration::from_secs(1)).await;
    assert_eq!(result.status, LangStatus::NoServer);
    assert!(why(&result).contains("not trusted"), "{result:?}");
    assert!(world.servers.slots().is_empty());
    let status = world.servers.status(&world.roots(), &access(Arc::new(|| false))).await;
    assert!(status.iter().all(|one| one.name != "nasty"), "its own files do not count: {status:?}");
}

#[tokio::test]
async fn a_file_without_a_server_and_one_outside_are_told_apart() {
    let world = World::new("good");
    world.write("x.unknown", "");
    let result = world.ask(LangQuery::DocumentSymbols { uri: world.uri("x.unknown") }, 2).await;
    assert_eq!(result.status, LangStatus::NoServer);
    assert!(why(&result).contains("no language server is known for x.unknown"), "{result:?}");
    let result = world.ask(LangQuery::DocumentSymbols { uri: "file:///etc/passwd".into() }, 2).await;
    assert!(why(&result).contains("outside the workspace"), "{result:?}");
    std::fs::remove_file(world.path("node_modules/.bin/nasty")).unwrap();
    let result = world.ask(world.definition(), 2).await;
    assert!(why(&result).contains("`nasty` was found neither"), "{result:?}");
}

#[tokio::test]
async fn a_question_without_a_file_goes_to_the_projects_in_sub_folders_and_to_what_runs() {
    let world = World::new("tells-of-all");
    std::fs::remove_file(world.path("nasty.project")).unwrap();
    world.write("part/nasty.project", "");
    world.write("part/c.nasty", "never opened\n");
    let (_, all) = world.all_problems().await;
    assert_eq!(all, ["c.nasty: it says never opened"]);
    std::fs::remove_file(world.path("part/nasty.project")).unwrap();
    let (_, all) = world.all_problems().await;
    assert_eq!(all, ["c.nasty: it says never opened"], "it runs, so it is asked");
    world.servers.restart(None, None).await;
    let result = world.ask(LangQuery::Diagnostics { uri: None }, 5).await;
    assert_eq!(why(&result), "no language server is known for this project");
}

#[tokio::test]
async fn trust_that_is_taken_back_ends_the_servers_and_starts_none() {
    let world = World::new("good");
    let trusted = Arc::new(AtomicBool::new(true));
    let asked = trusted.clone();
    let is_trusted = move || asked.load(Ordering::SeqCst);
    let reader = Reader::new(world.buffers.clone(), world.overlay.clone());
    let source = world.servers.source(world.roots(), reader, access(Arc::new(is_trusted)));
    assert_eq!(source.ask(&world.definition(), Duration::from_secs(10)).await.status, LangStatus::Ready);
    let pid = world.servers.all().await[0].pid.unwrap();
    trusted.store(false, Ordering::SeqCst);
    world.servers.leave(&world.roots()).await;
    assert!(!Path::new(&format!("/proc/{pid}/stat")).exists(), "its process is gone");
    assert_eq!(source.ask(&world.definition(), Duration::from_secs(5)).await.status, LangStatus::NoServer);
    assert!(world.servers.slots().is_empty());
}

#[tokio::test]
async fn a_changed_configuration_counts_at_once_and_one_that_says_the_same_disturbs_nobody() {
    let world = World::new("good");
    world.ask(world.definition(), 10).await;
    let pid = async || world.servers.all().await.first().and_then(|one| one.pid);
    let (before, file) = (pid().await, world.path(".azimuth/lsp.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    world.write(".azimuth/lsp.json", &format!("{text}\n"));
    world.servers.files_changed(vec![file.clone()]).await;
    assert_eq!(pid().await, before);
    world.write(".azimuth/lsp.json", &text.replace("\"good\"", "\"can-nothing\""));
    world.servers.files_changed(vec![file]).await;
    assert_eq!(pid().await, None, "it is ended");
    assert_eq!(world.ask(world.definition(), 10).await.status, LangStatus::Unsupported);
}

#[tokio::test]
async fn a_changed_configuration_counts_for_a_question_that_waits_already() {
    let world = World::new("never-starts");
    let file = world.path(".azimuth/lsp.json");
    let changes = async {
        while world.servers.all().await.iter().all(|one| one.state != ServerState::Starting) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        world.write(".azimuth/lsp.json", &text.replace("\"never-starts\"", "\"good\""));
        world.servers.files_changed(vec![file.clone()]).await;
    };
    let (result, ()) = tokio::join!(world.ask(world.definition(), 20), changes);
    assert_eq!(result.status, LangStatus::Ready, "{result:?}");
}

#[tokio::test]
async fn at_the_end_servers_are_asked_to_go_and_none_is_started_any_more() {
    let world = World::new("says-goodbye");
    let changes = world.servers.watch();
    world.ask(world.definition(), 10).await;
    assert!(changes.has_changed().unwrap(), "it is told that one was started");
    world.servers.stop().await;
    assert_eq!(std::fs::read_to_string(world.path("goodbye")).unwrap(), "asked first");
    let result = world.ask(world.definition(), 5).await;
    assert_eq!(result.status, LangStatus::NoServer, "{result:?}");
}
