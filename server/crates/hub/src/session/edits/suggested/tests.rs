use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use project::buffers::Change;
use project::files;
use project::text::{PositionEncoding, hash};
use protocol::checkpoint::CheckpointRestoreParams;
use protocol::editor::{EditorFormatParams, EditorFormatResult};
use protocol::review::ReviewListParams;
use protocol::session::{SessionDeleteParams, SessionInfo, SessionListParams, SessionOpenParams, SessionPromoteParams};
use protocol::turn::TurnStartParams;
use protocol::{SessionId, TerminalId, methods};
use shell::Spool;
use tempfile::TempDir;

use super::*;
use crate::clock::Clock;
use crate::config::{Config, FormatEdits};
use crate::feed::Feed;
use crate::post;
use crate::sockets::Sockets;
use crate::trust::Word;
use crate::{Client, Connection, DocumentEdit, Editor, EditorError, Error, Hub, Input, Parts};

const TEXT: &str = "one\ntwo\nthree\n";

/// An editor with one document, which says each change at once.
#[derive(Default)]
struct Typing {
    connection: OnceLock<Weak<Connection>>,
    /// When it was told to change the document.
    told: Mutex<Vec<Instant>>,
    refuses: AtomicBool,
    /// The questions to it that nobody is to ask while the user types.
    asked: Mutex<Vec<&'static str>>,
}

#[async_trait]
impl Editor for Typing {
    fn follow(&self, _: Feed, _: u64) {}

    fn unfollow(&self, _: &SessionId) {}

    fn follow_terminal(&self, _: &SessionId, _: &TerminalId, _: Arc<Spool>, _: u64) {}

    fn alert(&self, _: &str) {}

    async fn apply(&self, edit: DocumentEdit) -> Result<(), EditorError> {
        self.told.lock().unwrap().push(Instant::now());
        if self.refuses.load(Ordering::Relaxed) {
            return Err(EditorError::Refused("it is read-only".into()));
        }
        let connection = self.connection.get().unwrap().upgrade().unwrap();
        let document = connection.buffers().by_uri(&edit.uri).unwrap();
        let mut lines: Vec<_> = document.normal().split_inclusive('\n').map(str::to_owned).collect();
        for change in edit.edits.into_iter().rev() {
            lines.splice(change.start_line..change.end_line, [change.new_text]);
        }
        let changes = vec![Change { range: None, text: lines.concat() }];
        connection.post(Input::Changed { uri: edit.uri.to_string(), version: edit.version + 1, changes });
        Ok(())
    }

    async fn save(&self, _: &str) -> Result<bool, EditorError> {
        self.asked.lock().unwrap().push("to save");
        Ok(true)
    }

    async fn text(&self, _: &str) -> Result<Option<String>, EditorError> {
        Err(EditorError::Unsupported)
    }

    async fn format(&self, _: EditorFormatParams) -> Result<EditorFormatResult, EditorError> {
        self.asked.lock().unwrap().push("to format");
        Err(EditorError::Unsupported)
    }
}

/// A hub with an editor on a project, in which a document is open.
struct World {
    connection: Arc<Connection>,
    editor: Arc<Typing>,
    hub: Hub,
    root: PathBuf,
    _folder: TempDir,
}

impl World {
    async fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap()).await
    }

    /// One whose files are in memory, where the system has a folder for that: nobody waits for a disk.
    async fn in_memory() -> Self {
        Self::of(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()).await
    }

    async fn of(folder: TempDir) -> Self {
        let data_folder = folder.path().canonicalize().unwrap().join("data");
        let root = folder.path().canonicalize().unwrap().join("project");
        files::create(&root.join("a.txt"), TEXT).unwrap();
        let mut config = Config::default();
        // Both follow on any other edit.
        (config.settings.format_edits, config.settings.save_edits) = (FormatEdits::File, true);
        let hub = Hub::start(Parts {
            clock: Clock::default(),
            store: Arc::new(store::SqliteStore::open(&data_folder).unwrap()),
            warnings: Vec::new(),
            catalog: Arc::new(providers::Catalog::new(config.providers.clone())),
            config: Arc::new(config),
            tools: Vec::new(),
            commands: Vec::new(),
            hooks: Vec::new(),
            sockets: Arc::new(Sockets::new(folder.path().join("run"), &data_folder)),
            home: None,
            supervisor: None,
            user_file: folder.path().join("config.toml"),
            data_folder,
        });
        let editor = Arc::new(Typing::default());
        let connection = Arc::new(hub.connect(Client {
            is_attached: false,
            folders: vec![root.clone()],
            name: None,
            encoding: PositionEncoding::Utf8,
            editor: Arc::clone(&editor) as Arc<dyn Editor>,
            trusted: Some(true),
        }));
        editor.connection.set(Arc::downgrade(&connection)).unwrap();
        let path = root.join("a.txt");
        connection.post(Input::Opened {
            uri: paths::to_uri(&path),
            language: "plaintext".into(),
            version: 1,
            text: TEXT.into(),
            file: async { Some(path) }.boxed(),
        });
        connection.caught_up().await;
        Self { connection, editor, hub, root, _folder: folder }
    }

    /// Accepts a suggestion; the answer comes later.
    fn accept(&self, base: &str, new_text: &str) -> oneshot::Receiver<Result<(), String>> {
        let (done, answer) = oneshot::channel();
        let caller = Caller {
            id: self.connection.id,
            is_attached: false,
            name: None,
            editor: Arc::clone(&self.editor) as Arc<dyn Editor>,
            buffers: Arc::clone(self.connection.buffers()),
            trust: Word::new(Some(true)),
            encoding: PositionEncoding::Utf8,
        };
        let suggestion = AcceptedSuggestion {
            path: self.root.join("a.txt"),
            base: hash(base),
            new_text: new_text.into(),
            model: "local/coder".into(),
            done,
        };
        let folders = vec![self.root.clone()];
        self.connection.send(post::Message::AcceptSuggestion(caller, folders, Box::new(suggestion)));
        answer
    }

    fn text(&self) -> String {
        let uri = paths::to_uri(&self.root.join("a.txt"));
        self.connection.buffers().by_uri(&uri).unwrap().normal().to_string()
    }

    async fn listed(&self, purpose: Option<Purpose>) -> Vec<SessionInfo> {
        let params = SessionListParams { purpose, ..SessionListParams::default() };
        self.connection.ask::<methods::SessionList>(params).await.unwrap().sessions
    }

    async fn record(&self) -> SessionId {
        let records = self.listed(Some(Purpose::Suggestions)).await;
        let [record] = records.as_slice() else { panic!("not one record: {records:?}") };
        record.session_id.clone()
    }

    async fn events(&self, session: &SessionId) -> Vec<Event> {
        let params = SessionOpenParams { session_id: session.clone(), since: 0 };
        let opened = self.connection.ask::<methods::SessionOpen>(params).await.unwrap();
        opened.events.iter().map(|event| serde_json::from_str(event.event.get()).unwrap()).collect()
    }

    async fn end(self) {
        self.hub.shutdown().await;
    }
}

fn ends(events: &[Event]) -> Vec<StopReason> {
    let end = |event: &Event| match event {
        Event::TurnEnded { stop_reason, .. } => Some(*stop_reason),
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

#[tokio::test]
async fn an_accepted_suggestion_is_in_its_document_on_record_and_can_be_undone() {
    let world = World::new().await;
    let (first, second) = ("one\n2\nthree\n", "one\n2\n3\n");
    // The second is accepted before the first has arrived.
    let answers = [world.accept(TEXT, first), world.accept(first, second)];
    for answer in answers {
        assert_eq!(answer.await.unwrap(), Ok(()));
    }
    assert_eq!(world.text(), second);
    assert!(world.editor.asked.lock().unwrap().is_empty(), "{:?}", world.editor.asked);
    assert!(world.listed(None).await.is_empty(), "it is no chat");

    let session = world.record().await;
    let events = world.events(&session).await;
    let prompts = events.iter().filter_map(|event| match event {
        Event::TurnStarted { prompt, model, .. } => Some((prompt.clone(), model.as_str())),
        _ => None,
    });
    let accepted = || vec![PromptBlock::Text { text: "Suggestion accepted in a.txt".into() }];
    assert_eq!(prompts.collect::<Vec<_>>(), [(accepted(), "local/coder"), (accepted(), "local/coder")]);
    assert_eq!(ends(&events), [StopReason::EndTurn; 2]);
    let is_verified = |event: &&Event| matches!(event, Event::EditApplied { outcome: ApplyOutcome::Verified, .. });
    assert_eq!(events.iter().filter(is_verified).count(), 2);
    assert!(!events.iter().any(|event| matches!(event, Event::Noted { .. })), "no model is to hear of it");

    for before in [first, TEXT] {
        let params = CheckpointRestoreParams {
            session_id: session.clone(),
            turn_id: None,
            and_later: false,
            confirmed: Vec::new(),
        };
        world.connection.ask::<methods::CheckpointUndo>(params).await.unwrap();
        assert_eq!(world.text(), before);
    }
    world.end().await;
}

#[tokio::test]
async fn of_a_suggestion_that_does_not_arrive_nothing_stays_proposed() {
    let world = World::new().await;
    let stale = world.accept("another text\n", "new\n").await.unwrap().unwrap_err();
    assert!(stale.contains("a.txt has changed"), "{stale}");
    world.editor.refuses.store(true, Ordering::Relaxed);
    let refused = world.accept(TEXT, "new\n").await.unwrap().unwrap_err();
    assert!(refused.contains("it is read-only"), "{refused}");
    assert_eq!(world.text(), TEXT);
    let session = world.record().await;
    let params = ReviewListParams { session_id: session.clone() };
    let listed = world.connection.ask::<methods::ReviewList>(params).await.unwrap();
    assert!(listed.proposals.is_empty(), "{listed:?}");
    assert_eq!(ends(&world.events(&session).await), [StopReason::Error; 2]);
    world.editor.refuses.store(false, Ordering::Relaxed);
    assert_eq!(world.accept(TEXT, "new\n").await.unwrap(), Ok(()));
    world.end().await;
}

#[tokio::test]
async fn the_record_takes_no_prompt_becomes_no_chat_and_is_made_again_once_deleted() {
    let world = World::new().await;
    world.accept(TEXT, "new\n").await.unwrap().unwrap();
    let session_id = world.record().await;
    let is_refused = |error: Error| assert!(error.message.contains("the record of accepted"), "{error:?}");
    let prompt = vec![PromptBlock::Text { text: "Hello?".into() }];
    let params = TurnStartParams { session_id: session_id.clone(), prompt, mode: None };
    is_refused(world.connection.ask::<methods::TurnStart>(params).await.unwrap_err());
    let params = SessionPromoteParams { session_id: session_id.clone() };
    is_refused(world.connection.ask::<methods::SessionPromote>(params).await.unwrap_err());
    let params = SessionDeleteParams { session_id: session_id.clone() };
    world.connection.ask::<methods::SessionDelete>(params).await.unwrap();
    world.accept("new\n", "newer\n").await.unwrap().unwrap();
    assert_ne!(world.record().await, session_id);
    assert_eq!(world.text(), "newer\n");
    world.end().await;
}

#[tokio::test]
async fn once_there_is_a_record_the_editor_is_told_at_once() {
    // The work is measured. The disk of a machine that is busy with other tests may take longer than all of it.
    let world = World::in_memory().await;
    let long = "a line of some length\n".repeat(2000);
    let texts: Vec<_> = (0..11).map(|n| format!("{n}\n{long}")).collect();
    world.accept(TEXT, &texts[0]).await.unwrap().unwrap();
    let mut times = Vec::new();
    for (base, new) in texts.iter().zip(&texts[1..]) {
        let began = Instant::now();
        world.accept(base, new).await.unwrap().unwrap();
        times.push(world.editor.told.lock().unwrap().last().unwrap().duration_since(began));
    }
    times.sort();
    // The best of them, since others may be at work on the machine.
    assert!(times[0] < Duration::from_millis(20), "{times:?}");
    println!("from the acceptance to the editor: {times:?}");
    world.end().await;
}
