use process::Confinement;
use protocol::ToolCallId;
use protocol::terminal::{Certainty, Waiting};
use shell::{RunOptions, Trust};
use store::SqliteStore;
use tempfile::TempDir;

use super::*;

/// The terminals of a session in a folder of its own.
struct World {
    terminals: Terminals,
    inbox: mpsc::UnboundedReceiver<Own>,
    recorded: Recorded,
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(&folder.path().join("data")).unwrap());
        let session = SessionId::new("abc123");
        let (own, inbox) = mpsc::unbounded_channel();
        let (cwd, private) = (folder.path().to_owned(), folder.path().join("private"));
        std::fs::create_dir(&private).unwrap();
        let spool = Arc::new(Spool::open(&private).unwrap());
        let config = ShellConfig {
            cwd,
            folder: private,
            pass: vec![],
            program: None,
            trust: Trust { trusted: Arc::new(true.into()), ..Trust::default() },
            confinement: Confinement::default(),
        };
        let recorded = Recorded::default();
        let made = Made { session, own, store, config, spool, start_files: false, created_at: 7 };
        Self { terminals: Terminals::new(made, &recorded), inbox, recorded, folder }
    }

    /// Records what the services told, and what there is to be said of its terminals. Gives all of it.
    fn told(&mut self) -> Vec<Event> {
        let mut told = Vec::new();
        while let Ok(message) = self.inbox.try_recv() {
            match message {
                Own::Terminals(Message::Event(event)) => told.push(*event),
                Own::Terminals(Message::Changed(id)) => told.extend(self.terminals.news(&id, &self.recorded)),
                _ => panic!("it is no message of a terminal"),
            }
            told.iter().for_each(|event| self.recorded.apply(event));
        }
        told
    }
}

#[tokio::test]
async fn a_state_that_was_said_is_not_said_again() {
    let mut world = World::new();
    let id = of_shell(&SessionId::new("abc123"));
    let said = world.terminals.news(&id, &world.recorded);
    let [Event::TerminalChanged { terminal }] = said.as_slice() else { panic!("{said:?}") };
    assert!(!terminal.alive && terminal.started_at == 7, "{terminal:?}");
    world.recorded.apply(&said[0]);
    assert!(world.terminals.news(&id, &world.recorded).is_empty());
    assert!(world.terminals.news(&of_outside(&SessionId::new("abc123")), &world.recorded).is_empty());
    world.terminals.end().await;
}

#[tokio::test]
async fn a_command_is_recorded_with_where_it_began_and_ended() {
    let mut world = World::new();
    let call = ToolCallId::from("call");
    let ran = world.terminals.shell().run(&call, "echo one", RunOptions::default()).await.unwrap();
    assert_eq!(ran.exit_code, Some(0));
    world.terminals.end().await;
    let told = world.told();
    let of_command = |event: &&Event| matches!(event, Event::TerminalStarted { .. } | Event::TerminalEnded { .. });
    let found: Vec<_> = told.iter().filter(of_command).collect();
    let [Event::TerminalStarted { command, offset, .. }, Event::TerminalEnded { offset: end, exit_code, .. }] =
        found.as_slice()
    else {
        panic!("{told:?}")
    };
    assert_eq!((command.as_str(), *exit_code), ("echo one", Some(0)));
    assert!(end > offset, "{offset}, {end}");
    assert!(world.recorded.running.is_empty());
    let listed = world.terminals.list(&world.recorded).terminals;
    assert_eq!(listed.iter().map(|info| info.kind).collect::<Vec<_>>(), [TerminalKind::Shell]);
    assert_eq!(listed[0].cwd, world.folder.path().display().to_string());
}

#[tokio::test]
async fn what_lived_in_an_earlier_process_has_ended_with_it() {
    let mut world = World::new();
    let job = TerminalId::new("job-3");
    let (tool_call_id, command) = (ToolCallId::from("call"), "serve".to_owned());
    let cwd = String::new();
    world.recorded.apply(&Event::TerminalStarted { terminal_id: job.clone(), tool_call_id, command, cwd, offset: 0 });
    let mut info = world.terminals.list(&world.recorded).terminals.remove(0);
    (info.terminal_id, info.kind, info.alive) = (job.clone(), TerminalKind::Job, true);
    info.waiting = Some(Waiting { certainty: Certainty::Certain, prompt: "name? ".to_owned(), hidden: false });
    world.recorded.apply(&Event::TerminalChanged { terminal: Box::new(info) });
    let left = world.terminals.left(&world.recorded).await;
    left.iter().for_each(|event| world.recorded.apply(event));
    let [Event::TerminalEnded { exit_code: None, .. }, Event::TerminalChanged { terminal }] = left.as_slice() else {
        panic!("{left:?}")
    };
    assert!(!terminal.alive && terminal.waiting.is_none() && terminal.ended_at.is_some(), "{terminal:?}");
    assert!(world.terminals.left(&world.recorded).await.is_empty());
    // The number of a job is never given out again.
    assert_eq!(world.recorded.last_job, 3);
}

#[tokio::test]
async fn a_terminal_that_is_not_there_is_named() {
    let world = World::new();
    let params =
        TerminalWriteParams { session_id: SessionId::new("abc123"), terminal_id: "job-9".into(), data: String::new() };
    let error = world.terminals.write(&params).unwrap_err();
    assert!(error.message.contains("job-9"), "{}", error.message);
}
