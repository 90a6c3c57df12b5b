//! Two windows on one server: each has documents of its own, and a session works with those of its home, the window
//! that started its last turn.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::FutureExt;
use harness::{Answer, Gate, ModelServer, Project, Setup, Wire, patiently};
use hub::clock::Clock;
use hub::config::{self, Config, Sources};
use hub::sockets::Sockets;
use hub::{Client, Connection, DocumentEdit, Editor, EditorError, Feed, Hub, Input, Parts};
use project::buffers::Change;
use project::text::PositionEncoding;
use protocol::editor::{EditorFormatParams, EditorFormatResult};
use protocol::event::ApplyOutcome;
use protocol::review::{Decision, DecisionTarget, HunkState, Proposal, ReviewDecideParams, ReviewListParams};
use protocol::session::{SessionNewParams, SessionOpenParams};
use protocol::turn::{StopReason, TurnStartParams};
use protocol::{Event, PromptBlock, SessionId, TerminalId, methods};
use serde_json::json;
use shell::Spool;
use store::SqliteStore;
use tokio::sync::watch;

fn hub(setup: &Setup) -> Hub {
    let sources = Sources {
        user_file: setup.config_file(),
        folders: &[],
        editor: config::Editor::default(),
        environment: &|_| None,
    };
    let config: Config = config::load(sources);
    Hub::start(Parts {
        store: Arc::new(SqliteStore::open(&setup.data_folder()).unwrap()),
        data_folder: setup.data_folder(),
        warnings: Vec::new(),
        catalog: Arc::new(providers::Catalog::new(config.providers.clone())),
        config: Arc::new(config),
        tools: Vec::new(),
        commands: Vec::new(),
        hooks: Vec::new(),
        sockets: Arc::new(Sockets::new(setup.home().join("run"), &setup.data_folder())),
        home: None,
        supervisor: None,
        user_file: setup.config_file(),
        clock: Clock::default(),
    })
}

/// A window: an editor that shows one session and has at most one document.
struct Window {
    connection: Arc<Connection>,
    screen: Arc<Screen>,
    seen: u64,
}

#[derive(Default)]
struct Screen {
    feed: watch::Sender<Option<Feed>>,
    connection: Mutex<Option<Arc<Connection>>>,
    applied: Mutex<Vec<DocumentEdit>>,
}

impl Window {
    fn new(hub: &Hub, project: &Project) -> Self {
        let screen = Arc::<Screen>::default();
        let folders = vec![project.folder().to_owned()];
        let client = Client {
            is_attached: false,
            folders,
            name: None,
            encoding: PositionEncoding::Utf8,
            editor: Arc::clone(&screen) as Arc<dyn Editor>,
            trusted: Some(true),
        };
        let connection = Arc::new(hub.connect(client));
        *screen.connection.lock().unwrap() = Some(Arc::clone(&connection));
        Self { connection, screen, seen: 0 }
    }

    fn close(self) {
        self.screen.connection.lock().unwrap().take();
    }

    fn open_document(&self, project: &Project, text: &str) {
        let path = project.path("a.txt");
        let (uri, file) = (project.uri("a.txt"), async move { Some(path) }.boxed());
        self.connection.post(Input::Opened { uri, language: "text".into(), version: 1, text: text.into(), file });
    }

    fn type_over(&self, project: &Project, version: i32, text: &str) {
        let changes = vec![Change { range: None, text: text.into() }];
        self.connection.post(Input::Changed { uri: project.uri("a.txt"), version, changes });
    }

    async fn new_session(&self) -> SessionId {
        let params = SessionNewParams::default();
        let made = self.connection.ask::<methods::SessionNew>(params).await.unwrap();
        made.session.session_id
    }

    async fn show(&self, session: &SessionId) {
        let params = SessionOpenParams { session_id: session.clone(), since: 0 };
        self.connection.ask::<methods::SessionOpen>(params).await.unwrap();
    }

    async fn prompt(&self, session: &SessionId) {
        let prompt = vec![PromptBlock::Text { text: "Go.".into() }];
        let params = TurnStartParams { session_id: session.clone(), prompt, mode: None };
        self.connection.ask::<methods::TurnStart>(params).await.unwrap();
    }

    /// The pending proposal, which is for one file.
    async fn last_proposal(&self, session: &SessionId) -> Proposal {
        let params = ReviewListParams { session_id: session.clone() };
        let listed = self.connection.ask::<methods::ReviewList>(params).await.unwrap();
        listed.proposals.into_iter().next().unwrap()
    }

    async fn accept(&self, session: &SessionId, proposal: &Proposal) {
        let target =
            DecisionTarget { proposal_id: proposal.proposal_id.clone(), revision: proposal.revision, hunk_ids: None };
        let params = ReviewDecideParams {
            session_id: session.clone(),
            decision: Decision::Accept,
            targets: vec![target],
            message: None,
        };
        self.connection.ask::<methods::ReviewDecide>(params).await.unwrap();
    }

    /// The next event that something is made of.
    async fn until<T>(&mut self, what: &str, mut take: impl FnMut(&Event) -> Option<T>) -> T {
        let mut feed = self.screen.feed.subscribe();
        let found = async {
            let feed = feed.wait_for(Option::is_some).await.unwrap().clone().unwrap();
            loop {
                for event in feed.after(self.seen).await.unwrap() {
                    self.seen = event.seq;
                    if let Some(found) = take(&event.event) {
                        return found;
                    }
                }
            }
        };
        patiently(what, found).await
    }

    async fn until_end(&mut self) {
        self.until("the turn's end", |event| matches!(event, Event::TurnEnded { .. }).then_some(())).await;
    }

    async fn until_proposed(&mut self, state: HunkState) -> Proposal {
        self.until("a proposal", |event| match event {
            Event::ProposalChanged { proposal } if proposal.hunks.iter().all(|hunk| hunk.state == state) => {
                Some(proposal.clone())
            }
            _ => None,
        })
        .await
    }
}

#[async_trait]
impl Editor for Screen {
    fn follow(&self, feed: Feed, _: u64) {
        self.feed.send_replace(Some(feed));
    }

    fn unfollow(&self, _: &SessionId) {}

    fn follow_terminal(&self, _: &SessionId, _: &TerminalId, _: Arc<Spool>, _: u64) {}

    fn alert(&self, text: &str) {
        panic!("{text}");
    }

    /// Puts whole lines in place, and tells it, as an editor does.
    async fn apply(&self, edit: DocumentEdit) -> Result<(), EditorError> {
        let connection = self.connection.lock().unwrap().clone().ok_or(EditorError::Gone)?;
        let shown = connection.buffers().by_uri(&edit.uri).ok_or(EditorError::Gone)?;
        let mut lines: Vec<&str> = shown.text.split_inclusive('\n').collect();
        for change in edit.edits.iter().rev() {
            lines.splice(change.start_line..change.end_line, [change.new_text.as_str()]);
        }
        let changes = vec![Change { range: None, text: lines.concat() }];
        connection.post(Input::Changed { uri: edit.uri.to_string(), version: edit.version + 1, changes });
        self.applied.lock().unwrap().push(edit);
        Ok(())
    }

    async fn save(&self, _: &str) -> Result<bool, EditorError> {
        Err(EditorError::Unsupported)
    }

    async fn text(&self, _: &str) -> Result<Option<String>, EditorError> {
        Err(EditorError::Unsupported)
    }

    async fn format(&self, _: EditorFormatParams) -> Result<EditorFormatResult, EditorError> {
        Err(EditorError::Unsupported)
    }
}

#[tokio::test]
async fn a_turn_reads_the_unsaved_text_of_the_window_that_started_it() {
    let read = || Answer::calls("read_file", json!({ "path": "a.txt" }));
    let model = ModelServer::start([read(), Answer::says("Yours."), read(), Answer::says("Theirs.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("a.txt", "on disk\n")]));
    let hub = hub(&setup);
    let (mut left, mut right) = (Window::new(&hub, &project), Window::new(&hub, &project));
    left.open_document(&project, "typed on the left\n");
    right.open_document(&project, "typed on the right\n");
    let session = left.new_session().await;
    right.show(&session).await;

    right.prompt(&session).await;
    right.until_end().await;
    left.until_end().await;
    left.prompt(&session).await;
    left.until_end().await;
    let asked = model.asked();
    let read = |at: usize| asked[at].last_results().join("\n");
    assert!(read(1).contains("typed on the right"), "{}", read(1));
    assert!(read(3).contains("typed on the left"), "{}", read(3));
    hub.shutdown().await;
}

#[tokio::test]
async fn an_edit_goes_to_the_window_that_started_the_turn_whatever_is_typed_in_the_other() {
    let edit = json!({ "path": "a.txt", "old_text": "two", "new_text": "2" });
    let model = ModelServer::start([Answer::calls("edit_replace_exact", edit), Answer::says("Done.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), Project::new([("a.txt", "one\n")]));
    let hub = hub(&setup);
    let (left, mut right) = (Window::new(&hub, &project), Window::new(&hub, &project));
    left.open_document(&project, "one\n");
    right.open_document(&project, "one\ntwo\n");
    let session = left.new_session().await;
    right.show(&session).await;
    right.prompt(&session).await;
    let proposal = right.until_proposed(HunkState::Pending).await;
    right.until_end().await;
    left.type_over(&project, 2, "something else\n");
    // Decided here, done there.
    left.accept(&session, &proposal).await;
    right.until_proposed(HunkState::Accepted).await;
    assert_eq!(&*right.connection.buffers().by_uri(&project.uri("a.txt")).unwrap().text, "one\n2\n");
    assert_eq!(right.screen.applied.lock().unwrap().len(), 1);
    assert!(left.screen.applied.lock().unwrap().is_empty());
    hub.shutdown().await;
}

#[tokio::test]
async fn hunks_are_measured_against_the_other_windows_text_once_their_home_is_gone() {
    let edit = json!({ "path": "a.txt", "old_text": "two", "new_text": "2" });
    let model = ModelServer::start([Answer::calls("edit_replace_exact", edit), Answer::says("Done.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Responses), Project::new([("a.txt", "one\ntwo\n")]));
    let hub = hub(&setup);
    let (mut left, mut right) = (Window::new(&hub, &project), Window::new(&hub, &project));
    left.open_document(&project, "one\ntwo\n");
    let session = left.new_session().await;
    right.open_document(&project, "zero\none\ntwo\n");
    right.show(&session).await;
    left.prompt(&session).await;
    left.until_end().await;
    let proposal = right.until_proposed(HunkState::Pending).await;
    assert_eq!(proposal.hunks[0].start_line, 1);
    left.close();
    let proposal = right.until_proposed(HunkState::Pending).await;
    assert_eq!(proposal.hunks[0].start_line, 2, "a line further down, as the right has it");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_file_is_not_written_under_the_unsaved_text_of_a_window_that_is_not_the_home() {
    let edit = json!({ "path": "a.txt", "old_text": "two", "new_text": "2" });
    let answers = [Answer::calls("edit_replace_exact", edit), Answer::says("Done."), Answer::says("Yes.")];
    let model = ModelServer::start(answers).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([("a.txt", "one\ntwo\n")]));
    let hub = hub(&setup);
    let (mut left, mut right) = (Window::new(&hub, &project), Window::new(&hub, &project));
    left.open_document(&project, "typed\none\ntwo\n");
    let session = left.new_session().await;
    right.show(&session).await;
    left.prompt(&session).await;
    left.until_end().await;
    right.until_end().await;
    // From here on the hunk is measured against the disk.
    right.prompt(&session).await;
    right.until_end().await;
    let proposal = right.last_proposal(&session).await;
    left.accept(&session, &proposal).await;
    let reason = right
        .until("what became of it", |event| match event {
            Event::EditApplied { outcome: ApplyOutcome::Failed { reason }, .. } => Some(reason.clone()),
            _ => None,
        })
        .await;
    assert!(reason.contains("another window"), "{reason}");
    assert_eq!(project.read("a.txt"), "one\ntwo\n");

    // Once that one has saved it, the file is as good as closed there.
    project.write("a.txt", "typed\none\ntwo\n");
    right.connection.post(Input::FilesChanged { paths: vec![project.path("a.txt")] });
    let proposal = right
        .until("the hunk further down", |event| match event {
            Event::ProposalChanged { proposal } if proposal.hunks[0].start_line == 2 => Some(proposal.clone()),
            _ => None,
        })
        .await;
    left.accept(&session, &proposal).await;
    right.until_proposed(HunkState::Accepted).await;
    assert_eq!(project.read("a.txt"), "typed\none\n2\n");
    hub.shutdown().await;
}

#[tokio::test]
async fn a_window_that_leaves_breaks_off_no_turn_of_another() {
    let gate = Gate::default();
    let model = ModelServer::start([Answer::nothing().text("half ").wait(&gate).text("whole")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Chat), Project::new([]));
    let hub = hub(&setup);
    let (mut left, right) = (Window::new(&hub, &project), Window::new(&hub, &project));
    let session = left.new_session().await;
    right.show(&session).await;
    left.prompt(&session).await;
    left.until("a word", |event| matches!(event, Event::MessageDelta { .. }).then_some(())).await;
    right.close();
    // The session has heard of it before it answers this.
    left.show(&session).await;
    gate.open();
    let reason = left
        .until("the turn's end", |event| match event {
            Event::TurnEnded { stop_reason, .. } => Some(*stop_reason),
            _ => None,
        })
        .await;
    assert_eq!(reason, StopReason::EndTurn);
    hub.shutdown().await;
}
