//! `azimuth exec`: one prompt, from beginning to end, without an editor. It is a client of the hub like any other.

use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agent::permission::{Action, Rule, Rules, SourcedRule, Verdict, judge};
use async_trait::async_trait;
use protocol::permission::PermissionAnswerParams;
use protocol::review::{Decision, DecisionTarget, Proposal, ReviewDecideParams};
use protocol::session::{Mode, SessionNewParams, SessionOpenParams};
use protocol::terminal::TerminalOpenParams;
use protocol::turn::{StopReason, TurnCancelParams, TurnStartParams};
use protocol::{Event, HunkId, PromptBlock, ProposalId, SequencedEvent, SessionId, TerminalId};
use providers::scripted::{Recorder, Scripted};
use tokio::sync::{mpsc, oneshot};
use workspace::paths;
use workspace::shell::Spool;
use workspace::text::PositionEncoding;

use super::questions::Answerer;
use super::setup::Setup;
use super::style::Style;
use super::view::View;
use super::{Exec, Failure};
use crate::hub::{Client, Connection, DocumentEdit, Editor, EditorError, Error, Feed, Hub, Input, Reply, Request};

/// Exit code where something was refused.
const REFUSED: u8 = 3;
/// Exit code where the user cancelled.
const CANCELLED: u8 = 130;

/// Runs the command.
pub(super) async fn run(args: Exec, log: Option<String>) -> Result<ExitCode, Failure> {
    let prompt = prompt(args.prompt.as_deref())?;
    let folder = std::env::current_dir().map_err(|error| Failure(format!("the current folder: {error}")))?;
    let setup = Setup::new(std::slice::from_ref(&folder), log)?;
    let mut config = setup.config.clone();
    for text in &args.allow {
        let rule = text.parse::<Rule>().map_err(|error| Failure(format!("--allow {text}: {error}")))?;
        config.rules.allow.push(SourcedRule { rule, source: "--allow".into() });
    }
    let rules = config.rules.clone();
    let parts = setup.parts(config);
    let model = match &args.script {
        None => args.model,
        Some(file) => {
            let scripted = Scripted::load(file).map_err(Failure::new)?;
            let id = agent::model::Model::info(&scripted).id.clone();
            parts.catalog.add(Arc::new(scripted));
            Some(id)
        }
    };
    if let Some(file) = args.record {
        parts.catalog.record(Recorder::create(&file).map_err(Failure::new)?);
    }
    let job = Job {
        prompt,
        folder,
        model,
        mode: args.mode.map(Mode::from),
        resume: args.resume.map(SessionId::new),
        rules,
        json: args.json,
        answerer: Answerer::new(args.yes),
        style: if args.json { Style::PLAIN } else { Style::for_stdout() },
    };
    Ok(ExitCode::from(job.run(Hub::start(parts)).await?))
}

/// A prompt to do, and how.
pub(super) struct Job {
    pub(super) prompt: String,
    pub(super) folder: PathBuf,
    pub(super) model: Option<String>,
    pub(super) mode: Option<Mode>,
    pub(super) resume: Option<SessionId>,
    /// The rules given, to see whether one accepts an edit.
    pub(super) rules: Rules,
    pub(super) json: bool,
    pub(super) answerer: Answerer,
    pub(super) style: Style,
}

impl Job {
    /// Does it, and gives the exit code.
    pub(super) async fn run(mut self, hub: Hub) -> Result<u8, Failure> {
        let (shows, shown) = mpsc::unbounded_channel();
        let connection = hub.connect(Client {
            folders: vec![self.folder.clone()],
            encoding: PositionEncoding::Utf8,
            editor: Arc::new(Terminal { shows }),
        });
        let code = self.follow(&connection, shown).await;
        hub.shutdown().await;
        code
    }

    async fn follow(
        &mut self,
        connection: &Connection,
        mut shown: mpsc::UnboundedReceiver<Show>,
    ) -> Result<u8, Failure> {
        let (session, mut seq) = self.open(connection).await?;
        let mut view = View::new(io::stdout(), self.style);
        let mut turn = Watch { session, refused: false, seen: Vec::new(), terminal: None, cancelled: false };
        let feed = loop {
            match shown.recv().await {
                Some(Show::Feed(feed)) => break feed,
                Some(Show::Terminal(..)) => {}
                None => return Err(Failure::new("the session ended")),
            }
        };
        let params = TurnStartParams {
            session_id: turn.session.clone(),
            prompt: vec![PromptBlock::Text { text: self.prompt.clone() }],
            mode: self.mode,
        };
        let started = ask(connection, |reply| Request::TurnStart(params, reply)).await?;
        loop {
            tokio::select! {
                Some(show) = shown.recv() => {
                    if let Show::Terminal(spool, offset) = show {
                        turn.terminal = Some((spool, offset));
                    }
                }
                bytes = turn.output() => self.output(&mut view, &bytes).map_err(Failure::new)?,
                events = feed.after(seq) => {
                    for event in events.map_err(Failure::new)? {
                        seq = event.seq;
                        if let Some(code) = self.event(connection, &mut view, &mut turn, &event).await? {
                            return Ok(code);
                        }
                    }
                }
                _ = tokio::signal::ctrl_c() => {
                    if turn.cancelled {
                        return Ok(CANCELLED);
                    }
                    turn.cancelled = true;
                    let params = TurnCancelParams { session_id: turn.session.clone(), turn_id: None };
                    ask(connection, |reply| Request::TurnCancel(params, reply)).await?;
                }
            }
            // A prompt of nothing but slash commands has no turn that could end.
            if started.turn_id.is_none() && feed.last() == seq {
                return Ok(0);
            }
        }
    }

    /// Makes the session, or opens the one to go on with. Gives the number of the last event that is old.
    async fn open(&self, connection: &Connection) -> Result<(SessionId, u64), Failure> {
        match &self.resume {
            None => {
                let params = SessionNewParams { folders: None, model: self.model.clone(), mode: self.mode };
                let new = ask(connection, |reply| Request::SessionNew(params, reply)).await?;
                Ok((new.session.session_id, 0))
            }
            Some(session) => {
                let params = SessionOpenParams { session_id: session.clone(), since: 0 };
                let opened = ask(connection, |reply| Request::SessionOpen(params, reply)).await?;
                if let Some(model) = &self.model {
                    let params =
                        ModelSelectParams { session_id: Some(session.clone()), model: model.clone() };
                    ask(connection, |reply| Request::ModelSelect(params, reply)).await?;
                }
                Ok((session.clone(), opened.events.last().map_or(0, |event| event.seq)))
            }
        }
    }

    /// Shows an event and does what it asks for. Gives the exit code once the turn has ended.
    async fn event(
        &mut self,
        connection: &Connection,
        view: &mut View<io::Stdout>,
        turn: &mut Watch,
        event: &SequencedEvent,
    ) -> Result<Option<u8>, Failure> {
        if self.json {
            let line = serde_json::to_string(event).map_err(Failure::new)?;
            view.line(&line).map_err(Failure::new)?;
        } else {
            if let Event::TerminalEnded { offset, .. } = &event.event
                && let Some(bytes) = turn.output_until(*offset)
            {
                self.output(view, &bytes).map_err(Failure::new)?;
            }
            view.event(&event.event).map_err(Failure::new)?;
        }
        match &event.event {
            Event::TerminalStarted { terminal_id, offset, .. } if !self.json => {
                let params = TerminalOpenParams {
                    session_id: turn.session.clone(),
                    terminal_id: Some(terminal_id.clone()),
                    since: *offset,
                    size: None,
                };
                ask(connection, |reply| Request::TerminalOpen(params, reply)).await?;
            }
            Event::PermissionJudged { allowed: false, .. } => turn.refused = true,
            Event::PermissionAsked { request, .. } => {
                let answered = self.answerer.permission(&mut self.quiet(view), self.style, request).await;
                let Some(chosen) = answered.map_err(Failure::new)? else { return Ok(Some(CANCELLED)) };
                turn.refused |= chosen.refused;
                let params = PermissionAnswerParams {
                    session_id: turn.session.clone(),
                    permission_id: chosen.permission_id,
                    option_id: chosen.option_id,
                    message: chosen.message,
                };
                ask(connection, |reply| Request::PermissionAnswer(params, reply)).await?;
            }
            Event::ProposalChanged { proposal } => {
                if !self.review(connection, view, turn, proposal).await? {
                    return Ok(Some(CANCELLED));
                }
            }
            Event::TurnEnded { stop_reason, .. } => {
                return Ok(Some(match stop_reason {
                    StopReason::Cancelled => CANCELLED,
                    StopReason::EndTurn if turn.refused => REFUSED,
                    StopReason::EndTurn => 0,
                    StopReason::MaxTokens
                    | StopReason::MaxTurnRequests
                    | StopReason::Refusal
                    | StopReason::Error
                    | StopReason::Interrupted => 1,
                }));
            }
            _ => {}
        }
        Ok(None)
    }
}
