//! `azimuth exec`: one prompt, from beginning to end, without an editor. It is a client of the hub like any other.

mod open;
mod watch;

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use agent::commands::{self, Commands};
use async_trait::async_trait;
use hub::{Client, Connection, DocumentEdit, Editor, EditorError, Feed, Hub};
use hub::{meant, visible};
use permission::{Action, Case, Rule, Rules, SourcedRule, Surroundings, Verdict, accepting_rule, judge, weight};
use project::paths;
use project::text::PositionEncoding;
use protocol::editor::{EditorFormatParams, EditorFormatResult};
use protocol::methods::{self, Request as Method};
use protocol::permission::RuleOrigin;
use protocol::review::{Decision, DecisionTarget, HunkState, Proposal, ReviewDecideParams, ReviewListParams};
use protocol::session::Mode;
use protocol::terminal::TerminalOpenParams;
use protocol::turn::{TurnCancelParams, TurnStartParams};
use protocol::{ErrorCode, Event, PromptBlock, SequencedEvent, SessionId, TerminalId};
use providers::scripted::{Recorder, Scripted};
use shell::Spool;
use tokio::sync::mpsc;

pub(super) use self::open::Resume;
use self::watch::{CANCELLED, Watch};
use super::questions::Answerer;
use super::setup::{Setup, log_file};
use super::signals::Signals;
use super::style::Style;
use super::view::{View, is_job};
use super::{Exec, Failure, complain};
use crate::front::{mentions, on_disk};
use crate::serve;

/// The message if accepted edits, or the results of a slash command, do not arrive in time.
const LATE: &str = "the turn is over, but what came of it did not arrive in time; look at the files before you go on";
/// So many files that a prompt from standard input names are named to the user.
const NAMED: usize = 5;

/// Runs the command.
pub(super) async fn run(args: Exec, log: Option<String>) -> Result<ExitCode, Failure> {
    let prompt = prompt(args.prompt.as_deref())?;
    let folder = std::env::current_dir().map_err(|error| Failure::Said(format!("the current folder: {error}")))?;
    let setup = Setup::new(std::slice::from_ref(&folder), log)?;
    let mut config = setup.config.clone();
    for text in &args.allow {
        let rule = text.parse::<Rule>().map_err(|error| Failure::Usage(format!("--allow {text}: {error}")))?;
        config.rules.allow.push(SourcedRule { rule, origin: RuleOrigin::Session, source: "--allow".into() });
    }
    let resume = match args.resume {
        Some(typed) => Some(Resume::One(meant::session(&*setup.store, &typed).map_err(Failure::new)?.session_id)),
        None => args.latest.then_some(Resume::Latest),
    };
    let rules = config.rules.clone();
    let parts = setup.parts(config);
    let model = match &args.script {
        None => args.model,
        Some(file) => {
            let scripted = Scripted::load(file).map_err(Failure::new)?;
            let id = ports::model::Model::info(&scripted).id.clone();
            parts.catalog.add(Arc::new(scripted));
            Some(id)
        }
    };
    if let Some(file) = args.record {
        parts.catalog.record(Recorder::create(&file).map_err(Failure::new)?);
    }
    let signals = Signals::listen().map_err(Failure::new)?;
    let job = Job {
        prompt,
        folder,
        model,
        mode: args.mode,
        resume,
        rules,
        trusted: args.trust.then_some(true),
        json: args.json,
        answerer: Answerer::new(args.yes, &signals),
        style: if args.json { Style::PLAIN } else { Style::for_stdout() },
        signals,
    };
    let hub = Hub::start(parts);
    // A window may attach and look on.
    let others = serve::serve_others(hub.clone(), Arc::new(on_disk), log_file(&setup.data_folder));
    let code = job.run(hub.clone()).await;
    hub.ended().cancel();
    others.await;
    Ok(ExitCode::from(code?))
}

/// A prompt, and whose hand it is from.
pub(super) struct Prompt {
    pub(super) text: String,
    /// True if it was read from standard input: such a text may come from anywhere, and so gives no files.
    pub(super) piped: bool,
}

/// A prompt to do, and how.
pub(super) struct Job {
    pub(super) prompt: Prompt,
    pub(super) folder: PathBuf,
    pub(super) model: Option<String>,
    pub(super) mode: Option<Mode>,
    /// The session to go on with; without it, a new one.
    pub(super) resume: Option<Resume>,
    /// The rules given, to see whether one accepts an edit, or keeps a file that the prompt names from being read.
    pub(super) rules: Rules,
    /// The user's word on the trust in the folder in this run, if there is one.
    pub(super) trusted: Option<bool>,
    pub(super) json: bool,
    pub(super) answerer: Answerer,
    pub(super) style: Style,
    pub(super) signals: Signals,
}

impl Job {
    /// Does it, and gives the exit code.
    pub(super) async fn run(mut self, hub: Hub) -> Result<u8, Failure> {
        let (shows, shown) = mpsc::unbounded_channel();
        let connection = hub.connect(Client {
            is_attached: false,
            folders: vec![self.folder.clone()],
            name: None,
            encoding: PositionEncoding::Utf8,
            editor: Arc::new(Terminal { shows }),
            trusted: self.trusted,
        });
        let signals = self.signals.clone();
        let all = async {
            let code = self.follow(&connection, shown).await;
            hub.shutdown().await;
            code
        };
        tokio::select! {
            // First, so that it can still tell what it has to.
            biased;
            code = all => code,
            // Whoever asks twice does not want to wait for an orderly end.
            () = signals.received(2) => Ok(CANCELLED),
        }
    }

    /// Makes the turn and follows it. However it ends, what was accepted of some weight is told last.
    async fn follow(&mut self, connection: &Connection, shown: mpsc::UnboundedReceiver<Show>) -> Result<u8, Failure> {
        let signals = self.signals.clone();
        let mut turn = self.open(connection).await?;
        let live = !self.json && io::stdout().is_terminal();
        let view = if live { View::live(io::stdout(), self.style) } else { View::new(io::stdout(), self.style) };
        let mut view = view.without_why();
        let code = tokio::select! {
            code = self.watch(connection, shown, &mut view, &mut turn) => code,
            () = signals.received(2) => Ok(CANCELLED),
        };
        self.tell_weighty(&mut view, &turn);
        code
    }

    async fn watch(
        &mut self,
        connection: &Connection,
        mut shown: mpsc::UnboundedReceiver<Show>,
        view: &mut View<io::Stdout>,
        turn: &mut Watch,
    ) -> Result<u8, Failure> {
        let signals = self.signals.clone();
        let feed = loop {
            match shown.recv().await {
                Some(Show::Feed(feed)) => break feed,
                Some(Show::Terminal(..)) => {}
                None => return Err(Failure::Said("the session ended".into())),
            }
        };
        let params = TurnStartParams {
            session_id: turn.session.clone(),
            prompt: self.blocks(connection).await,
            mode: self.mode,
        };
        let is_command = commands::user_command(&params.prompt).is_some();
        match ask::<methods::TurnStart>(connection, params).await?.turn_id {
            _ if is_command => turn.only_a_command(),
            None => turn.only_commands(),
            Some(_) => {}
        }
        loop {
            let (late, seq) = (turn.late(), turn.seq);
            tokio::select! {
                Some(show) = shown.recv() => {
                    if let Show::Terminal(spool, offset) = show {
                        turn.terminal = Some((spool, offset));
                    }
                }
                bytes = turn.output() => view.terminal(&bytes).map_err(Failure::new)?,
                events = feed.after(seq) => {
                    for event in events.map_err(Failure::new)? {
                        turn.seq = event.seq;
                        self.event(connection, view, turn, &event).await?;
                    }
                }
                () = signals.received(1), if !turn.cancelled => cancel(connection, turn).await?,
                () = late => return Err(Failure::Said(LATE.into())),
            }
            if let Some(code) = turn.code(feed.last())
                && !self.review_left(connection, view, turn).await?
                && turn.seq == feed.last()
            {
                return Ok(code);
            }
        }
    }

    /// The prompt, with the files of the current folder that it names. What a command of the user's own names is its
    /// own affair.
    async fn blocks(&self, connection: &Connection) -> Vec<PromptBlock> {
        let text = self.prompt.text.clone();
        let typed = vec![PromptBlock::Text { text: text.clone() }];
        if commands::user_command(&typed).is_some() {
            return typed;
        }
        let (folder, buffers, piped) = (self.folder.clone(), Arc::clone(connection.buffers()), self.prompt.piped);
        let (rules, mode) = (self.rules.clone(), self.mode.unwrap_or_default());
        let named = tokio::task::spawn_blocking(move || {
            let mut blocks = mentions::blocks(text, std::slice::from_ref(&folder), &buffers);
            if piped {
                left_where_they_are(&blocks, &folder).iter().for_each(|words| complain(words));
                blocks.retain(|block| mentioned(block).is_none());
                return blocks;
            }
            let mut left_out = BTreeSet::new();
            blocks.retain(|block| match kept_back(block, &rules, mode, &folder) {
                Some(words) => {
                    left_out.insert(words);
                    false
                }
                None => true,
            });
            left_out.iter().for_each(|words| complain(words));
            blocks
        });
        named.await.unwrap_or(typed)
    }

    /// Shows an event and does what it asks for.
    async fn event(
        &mut self,
        connection: &Connection,
        view: &mut View<io::Stdout>,
        turn: &mut Watch,
        event: &SequencedEvent,
    ) -> Result<(), Failure> {
        turn.note(&event.event);
        if self.json {
            let line = serde_json::to_string(event).map_err(Failure::new)?;
            view.line(&visible::json(&line)).map_err(Failure::new)?;
        } else {
            if let Event::TerminalEnded { terminal_id, offset, .. } = &event.event
                && !is_job(terminal_id)
                && let Some(bytes) = turn.output_until(*offset)
            {
                view.terminal(&bytes).map_err(Failure::new)?;
            }
            view.event(&event.event).map_err(Failure::new)?;
        }
        // Not on standard output, which a script may read as the answer.
        if let Event::TurnEnded { error: Some(error), .. } = &event.event {
            complain(error);
        }
        match &event.event {
            Event::TerminalStarted { terminal_id, offset, .. } if view.is_live() && !is_job(terminal_id) => {
                let params = TerminalOpenParams {
                    acknowledges: false,
                    session_id: turn.session.clone(),
                    terminal_id: Some(terminal_id.clone()),
                    since: *offset,
                    size: None,
                };
                ask::<methods::TerminalOpen>(connection, params).await?;
            }
            Event::PermissionAsked { request, .. } => {
                let answered = if self.json {
                    let mut quiet = View::new(io::stderr(), Style::PLAIN);
                    self.answerer.permission(&mut quiet, Style::PLAIN, request).await
                } else {
                    self.answerer.permission(view, self.style, request).await
                };
                let Some(chosen) = answered.map_err(Failure::new)? else { return cancel(connection, turn).await };
                turn.refused |= chosen.refused;
                ask::<methods::PermissionAnswer>(connection, chosen.params(turn.session.clone())).await?;
            }
            // A change that has landed is kept; it can be taken back in an editor.
            Event::ProposalChanged { proposal } if !proposal.landed => {
                self.review(connection, view, turn, proposal).await?
            }
            _ => {}
        }
        Ok(())
    }
}

impl Job {
    /// Looks once more at what is pending before the end: what an edit that arrived has proposed anew may not have been
    /// among the events when it was looked whether they are all. Says whether there was something new.
    async fn review_left(
        &mut self,
        connection: &Connection,
        view: &mut View<io::Stdout>,
        turn: &mut Watch,
    ) -> Result<bool, Failure> {
        if turn.cancelled {
            return Ok(false);
        }
        let (params, seen) = (ReviewListParams { session_id: turn.session.clone() }, turn.seen.len());
        let listed = ask::<methods::ReviewList>(connection, params).await?.proposals;
        for proposal in listed.iter().filter(|proposal| !proposal.landed) {
            self.review(connection, view, turn, proposal).await?;
        }
        Ok(turn.seen.len() > seen)
    }

    /// Shows a proposal's pending hunks and decides them.
    async fn review(
        &mut self,
        connection: &Connection,
        view: &mut View<io::Stdout>,
        turn: &mut Watch,
        proposal: &Proposal,
    ) -> Result<(), Failure> {
        let pending = proposal.hunks.iter().any(|hunk| hunk.state == HunkState::Pending);
        let version = (proposal.proposal_id.clone(), proposal.revision);
        if !pending || !turn.seen.insert(version) {
            return Ok(());
        }
        // While the user looked at it, the agent may have edited on: only what is new is asked.
        let (asked, mut decided) = turn.remembered(proposal);
        if asked.hunks.iter().any(|hunk| hunk.state == HunkState::Pending) {
            let allowed = self.accepts(turn, proposal);
            let answered = if self.json {
                let mut quiet = View::new(io::stderr(), Style::PLAIN);
                self.answerer.review(&mut quiet, Style::PLAIN, &asked, allowed).await
            } else {
                view.diff(&asked).map_err(Failure::new)?;
                self.answerer.review(view, self.style, &asked, allowed).await
            };
            let Some(answered) = answered.map_err(Failure::new)? else { return cancel(connection, turn).await };
            turn.remember(proposal, &answered);
            self.note_weight(turn, proposal, !answered.accepted.is_empty());
            decided.accepted.extend(answered.accepted);
            decided.rejected.extend(answered.rejected);
            decided.message = answered.message;
        }
        turn.refused |= !decided.rejected.is_empty();
        for (decision, hunks) in [(Decision::Accept, decided.accepted), (Decision::Reject, decided.rejected)] {
            if hunks.is_empty() {
                continue;
            }
            let params = ReviewDecideParams {
                session_id: turn.session.clone(),
                decision,
                targets: vec![DecisionTarget {
                    proposal_id: proposal.proposal_id.clone(),
                    revision: proposal.revision,
                    hunk_ids: Some(hunks.clone()),
                }],
                message: decided.message.clone().filter(|_| decision == Decision::Reject),
            };
            match connection.ask::<methods::ReviewDecide>(params).await {
                Ok(result) => turn.accepted(&hunks, &result.proposals),
                // The agent edited on meanwhile, or took the edit back: what is proposed now comes with the next
                // events.
                Err(error) if matches!(error.code, ErrorCode::StaleReview | ErrorCode::NotFound) => {}
                // The file changed meanwhile. The turn goes on, and its model hears of it.
                Err(error) if error.code == ErrorCode::OperationFailed => {
                    turn.not_accepted(&proposal.proposal_id, hunks);
                    complain(&error.to_string());
                }
                Err(error) => return Err(Failure::new(error)),
            }
        }
        Ok(())
    }

    /// Keeps in mind an edit that makes other programs run, or of a file that usually holds keys.
    fn note_weight(&self, turn: &mut Watch, proposal: &Proposal, accepted: bool) {
        let Ok(path) = paths::from_uri(&proposal.uri) else { return };
        let mut relative = turn.folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        if let Some(why) = relative.find_map(weight) {
            let accepted = accepted || turn.weighty.get(&proposal.path).is_some_and(|(accepted, _)| *accepted);
            turn.weighty.insert(proposal.path.clone(), (accepted, why));
        }
    }

    /// Tells at the end which of these were accepted and which were not; as a complaint where nobody reads the rest any
    /// more.
    fn tell_weighty(&self, view: &mut View<io::Stdout>, turn: &Watch) {
        for (path, (accepted, why)) in &turn.weighty {
            let said = if *accepted { "accepted" } else { "not accepted" };
            let line = format!("{said}: {}, {why}", visible::line(path));
            if self.json || view.line(&self.style.yellow(&line)).is_err() {
                complain(&line);
            }
        }
    }

    /// True if a rule the user gave accepts the edits of this file.
    fn accepts(&self, turn: &Watch, proposal: &Proposal) -> bool {
        let Ok(path) = paths::from_uri(&proposal.uri) else { return false };
        accepting_rule(&self.rules, &turn.folders, &path).is_some()
    }
}

/// The command line as the hub's client. It holds no documents.
struct Terminal {
    shows: mpsc::UnboundedSender<Show>,
}

/// The start of what the hub shows.
enum Show {
    Feed(Feed),
    Terminal(Arc<Spool>, u64),
}

#[async_trait]
impl Editor for Terminal {
    fn follow(&self, feed: Feed, _since: u64) {
        let _ = self.shows.send(Show::Feed(feed));
    }

    fn unfollow(&self, _session: &SessionId) {}

    fn follow_terminal(&self, _session: &SessionId, _terminal: &TerminalId, spool: Arc<Spool>, since: u64) {
        let _ = self.shows.send(Show::Terminal(spool, since));
    }

    fn alert(&self, text: &str) {
        complain(text);
    }

    async fn apply(&self, _edit: DocumentEdit) -> Result<(), EditorError> {
        Err(EditorError::Unsupported)
    }

    async fn save(&self, _uri: &str) -> Result<bool, EditorError> {
        Err(EditorError::Unsupported)
    }

    async fn text(&self, _uri: &str) -> Result<Option<String>, EditorError> {
        Ok(None)
    }

    async fn format(&self, _params: EditorFormatParams) -> Result<EditorFormatResult, EditorError> {
        Err(EditorError::Unsupported)
    }
}

async fn ask<M: Method>(connection: &Connection, params: M::Params) -> Result<M::Answer, Failure> {
    connection.ask::<M>(params).await.map_err(Failure::new)
}

/// Cancels the turn. Its end comes as an event.
async fn cancel(connection: &Connection, turn: &mut Watch) -> Result<(), Failure> {
    turn.cancelled = true;
    let params = TurnCancelParams { session_id: turn.session.clone(), turn_id: None };
    ask::<methods::TurnCancel>(connection, params).await.map(drop)
}

/// Why a file that the prompt names is not put before the model: a rule denies it, or it is one that is asked for, and
/// a script may have put the name there. Where rules of the user's would change that, it says which. Asks the disk.
fn kept_back(block: &PromptBlock, rules: &Rules, mode: Mode, folder: &Path) -> Option<String> {
    let named = mentioned(block)?;
    let mut reads = vec![named.clone(), paths::canonical(&named).unwrap_or_else(|_| named.clone())];
    reads.dedup();
    let folders = [folder.to_owned()];
    // A project's own file allows nothing here: nobody has been asked whether it is trusted there.
    let surroundings = Surroundings { trusted: false, ..Surroundings::default() };
    let refusal = |rules: &Rules, path: &PathBuf| {
        let reads = std::slice::from_ref(path);
        match judge(rules, &Case { tool: "", action: &Action::Read, reads, mode, folders: &folders, surroundings }) {
            Verdict::Allow { .. } => None,
            Verdict::Deny { reason } | Verdict::Ask { reason, .. } => Some(reason),
        }
    };
    let refused: Vec<_> = reads.iter().filter_map(|path| Some((path, refusal(rules, path)?))).collect();
    let (_, why) = refused.first()?;
    let name = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let texts: Vec<_> = refused.iter().map(|(path, _)| format!("Read({})", name(path))).collect();
    // A rule that denies or asks comes before every one that allows, so the advice is tried before it is given.
    let mut with_more = rules.clone();
    let more = texts.iter().filter_map(|text| text.parse().ok());
    with_more.allow.extend(more.map(|rule| SourcedRule {
        rule,
        origin: RuleOrigin::Session,
        source: "--allow".into(),
    }));
    let helps = reads.iter().all(|path| refusal(&with_more, path).is_none());
    let advice = match texts.iter().map(|text| format!("--allow {}", quoted(text))).collect::<Vec<_>>().as_slice() {
        _ if !helps => String::new(),
        [one] => format!(" (`{one}` allows it)"),
        several => format!(" (`{}` allow it)", several.join(" ")),
    };
    Some(format!("{} is not put before the model: {why}{advice}", name(&named)))
}

/// A text as one word for the user's shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The file that a block mentions.
fn mentioned(block: &PromptBlock) -> Option<PathBuf> {
    let (PromptBlock::File { uri } | PromptBlock::Range { uri, .. }) = block else { return None };
    paths::from_uri(uri).ok()
}

/// The message about a prompt from standard input that names files; none if it names none.
fn left_where_they_are(blocks: &[PromptBlock], folder: &Path) -> Option<String> {
    let paths: BTreeSet<_> = blocks.iter().filter_map(mentioned).collect();
    let name = |path: &PathBuf| format!("@{}", path.strip_prefix(folder).unwrap_or(path).display());
    let mut named: Vec<_> = paths.iter().take(NAMED).map(name).collect();
    if let Some(more @ 1..) = paths.len().checked_sub(NAMED) {
        named.push(format!("{more} more"));
    }
    let last = named.pop()?;
    let (all, are) = match named.as_slice() {
        [] => (last, "is"),
        first => (format!("{} and {last}", first.join(", ")), "are"),
    };
    Some(format!(
        "{all} {are} not put before the model: a prompt from standard input may come from anywhere; name files in a \
         prompt that is an argument"
    ))
}

/// The prompt: the argument, or standard input where that is asked for or nothing else is there.
fn prompt(argument: Option<&str>) -> Result<Prompt, Failure> {
    let text = match argument {
        Some("-") => None,
        None if !io::stdin().is_terminal() => None,
        None => return Err(Failure::Usage("there is no prompt: azimuth exec \"what to do\"".into())),
        Some(text) => Some(text.to_owned()),
    };
    let piped = text.is_none();
    let text = match text {
        Some(text) => text,
        None => {
            let mut text = String::new();
            io::stdin()
                .read_to_string(&mut text)
                .map_err(|error| Failure::Said(format!("standard input cannot be read: {error}")))?;
            // The user's own hand is on the command line; what is read may come from anywhere.
            if text.starts_with('!') {
                let words = "a prompt from standard input runs no command: give `!command` as an argument";
                return Err(Failure::Usage(words.into()));
            }
            text
        }
    };
    if text.trim().is_empty() {
        return Err(Failure::Usage("the prompt is empty: azimuth exec \"what to do\"".into()));
    }
    // A switch in it would hold after this prompt, and the text may come from anywhere.
    let mut invocations = Commands::built_in().parse(&text).invocations.into_iter();
    if let Some(lasts) = invocations.find_map(|it| it.effects.ok()?.lasts) {
        return Err(Failure::Usage(lasts.into()));
    }
    Ok(Prompt { text, piped })
}
