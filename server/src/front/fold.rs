//! The one fold of a session's events into the entries that a person sees, which each front writes in its own way.
//!
//! It says of every kind of event what it shows, so a new one does not compile before that is said here. What depends
//! on earlier events is kept here too: the titles of calls, the plan as it was shown last, what was said already.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use ports::spent::Sums;
use protocol::checkpoint::{ChangedFile, Direction, RestoredFile};
use protocol::compaction::Compaction;
use protocol::content::{PlanEntry, Usage};
use protocol::event::{ApplyOutcome, Severity};
use protocol::model::ThinkingLevel;
use protocol::permission::{PermissionOutcome, PermissionRequest};
use protocol::review::{AutoScope, Proposal};
use protocol::terminal::{TerminalInfo, TerminalKind};
use protocol::turn::StopReason;
use protocol::{
    AssistantBlock, Event, MessageId, PermissionId, PromptBlock, SessionId, TerminalId, ToolCallId, ToolResult, TurnId,
};
use shell::jobs;

use super::words;

/// Something to show.
#[derive(Debug, PartialEq)]
pub(crate) enum Entry<'e> {
    /// Another model is used from now on.
    Model { id: &'e str, level: Option<ThinkingLevel>, scripted: bool },
    /// Edits are accepted automatically from now on; without a scope they wait for the user.
    Accepting(Option<AutoScope>),
    /// A turn began. Its prompt is empty if an earlier turn is continued.
    TurnStarted { prompt: &'e [PromptBlock] },
    /// The user said something to the running turn.
    Steered { prompt: &'e [PromptBlock] },
    /// The text of a message grew.
    Said { message: &'e MessageId, text: &'e str },
    /// A message is complete, with the texts that did not come in pieces before.
    Completed { message: &'e MessageId, unsaid: Vec<&'e str> },
    /// A message was cut off, and is asked for again.
    CutOff,
    /// A request to the model failed, and is tried again.
    Retrying { attempt: u32, of: Option<u32>, delay: Duration, reason: &'e str },
    /// The turn goes on with another model.
    Switched(words::Switch<'e>),
    /// The steps of the plan that are new or further than they were.
    Planned(Vec<&'e PlanEntry>),
    /// A tool call started.
    CallStarted { title: &'e str },
    /// A tool call ended. There is no title if it was refused before it started.
    CallEnded { title: Option<String>, result: &'e ToolResult, summary: &'e str, ran: Option<Ran> },
    /// A session that a call started asks this model from now on.
    ChildAsks { child: &'e SessionId, model: &'e str },
    /// A session that a call started calls a tool.
    ChildCalls { title: &'e str },
    /// A command in the background is up, or has ended: in words that were not said of it before.
    Job { words: String, start_is_told: bool },
    /// The user is asked.
    Asked(&'e PermissionRequest),
    /// A question that stood was answered, or became moot.
    Answered { question: PermissionRequest, outcome: &'e PermissionOutcome },
    /// Something was denied without asking.
    Denied { reason: &'e str },
    /// A proposal is new, or has changed.
    Proposal(&'e Proposal),
    /// Accepted hunks could not be put into their document.
    NotApplied { uri: &'e str, reason: &'e str },
    /// A command, or another program, changed files during a turn.
    FilesChanged { by_command: bool, files: &'e [ChangedFile] },
    /// Turns were undone or redone.
    Restored { direction: Direction, files: &'e [RestoredFile] },
    /// A slash command was executed.
    Command { message: &'e str, is_error: bool },
    /// The user runs a command of their own, in the form in which it was typed.
    OwnStarted { typed: String },
    /// The user's own command ended.
    OwnEnded { typed: String, text: &'e str, exit_code: Option<i32> },
    /// A notice, which needs no answer.
    Notice { severity: Severity, text: &'e str },
    /// The results of so many calls were left out of the context.
    Trimmed { calls: usize },
    /// A handover is being written for the earlier part of the conversation.
    Compacting,
    /// A handover has taken the place of the earlier part of the conversation.
    Compacted(&'e Compaction),
    /// The user corrected a handover, or took it back.
    HandoverChanged { is_back: bool },
    /// A turn ended, which used this with the sessions that its calls started. `is_unpriced` is true for the first one
    /// that used a model whose price is not known.
    TurnEnded { reason: StopReason, error: Option<&'e str>, usage: Usage, cost: Option<f64>, is_unpriced: bool },
}

/// The way in which a call ran a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ran {
    /// In the session's terminal, to its end.
    Command,
    /// In the background, where it may run on.
    Job,
}

/// The fold.
#[derive(Debug, Default)]
pub(crate) struct Fold {
    /// The titles of running calls, and the user's own commands as they were typed.
    titles: HashMap<ToolCallId, String>,
    /// The terminals in which running calls started commands.
    started: Vec<(ToolCallId, TerminalId)>,
    /// The commands in the background whose start was told by the end of their call.
    told_starts: HashSet<TerminalId>,
    /// The models that sessions ask which calls started.
    children: HashMap<SessionId, String>,
    /// The usage and cost of these sessions in the turn.
    of_children: Sums,
    /// The last words about commands in the background.
    jobs: HashMap<TerminalId, String>,
    /// The message whose text came in pieces last.
    streamed: Option<MessageId>,
    /// The plan as it was shown last.
    plan: Vec<PlanEntry>,
    questions: Vec<PermissionRequest>,
    accepting: Option<AutoScope>,
    /// The turn that runs.
    turn: Option<TurnId>,
    is_broken_off: bool,
    waits: bool,
    /// True if it was said that the model's price is not known.
    told_unpriced: bool,
    /// True if the turn has asked a model whose price is not known.
    asked_unpriced: bool,
}

impl Fold {
    /// The questions that stand, the oldest first.
    pub(crate) fn questions(&self) -> &[PermissionRequest] {
        &self.questions
    }

    /// The scope in which edits are accepted automatically, if they are.
    pub(crate) fn accepting(&self) -> Option<AutoScope> {
        self.accepting
    }

    /// True if a turn runs.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.turn.is_some()
    }

    /// True if the turn waits before it asks its model again.
    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    /// True if the last turn broke off, and can be continued.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.is_broken_off
    }

    /// Takes the next event, and gives what it shows.
    pub(crate) fn take<'e>(&mut self, event: &'e Event) -> Option<Entry<'e>> {
        self.waits = waits(self.waits, event);
        Some(match event {
            Event::ModelChanged { model, scripted, thinking, .. } => {
                // A script costs nothing, so its price is no news.
                self.told_unpriced &= *scripted;
                Entry::Model { id: model, level: *thinking, scripted: *scripted }
            }
            Event::AcceptEditsChanged { on, scope } => self.accepts(on.then_some(*scope)),
            Event::CommandExecuted { message, is_error, .. } => Entry::Command { message, is_error: *is_error },
            Event::TurnStarted { turn_id, prompt, .. } => self.turn_started(turn_id, prompt),
            Event::Steered { prompt, .. } => Entry::Steered { prompt },
            Event::MessageDelta { message_id, text } => {
                self.streamed = Some(message_id.clone());
                Entry::Said { message: message_id, text }
            }
            Event::MessageCompleted { message_id, content, usage, cost, .. } => {
                self.asked_unpriced |= cost.is_none() && *usage != Usage::default();
                self.completed(message_id, content)
            }
            Event::RequestPaid { cost, .. } => {
                self.asked_unpriced |= cost.is_none();
                return None;
            }
            Event::MessageDiscarded { .. } => {
                self.streamed = None;
                Entry::CutOff
            }
            Event::Retrying { .. } | Event::TurnModelChanged { .. } => return failure(event),
            Event::PlanUpdated { entries, .. } => self.planned(entries),
            Event::ToolCallStarted { tool_call_id, title, .. } => {
                self.titles.insert(tool_call_id.clone(), title.clone());
                Entry::CallStarted { title }
            }
            Event::ToolCallEnded { result, summary, .. } => {
                let title = self.titles.remove(&result.tool_call_id);
                Entry::CallEnded { title, result, summary, ran: self.ran(&result.tool_call_id) }
            }
            Event::ChildWorked { .. } => return self.child_worked(event),
            Event::PermissionAsked { request, .. } => {
                self.questions.push(request.clone());
                Entry::Asked(request)
            }
            Event::PermissionAnswered { permission_id, outcome } => return self.answered(permission_id, outcome),
            Event::PermissionJudged { allowed: false, reason, .. } => Entry::Denied { reason },
            Event::ProposalChanged { proposal } => Entry::Proposal(proposal),
            Event::EditApplied { uri, outcome: ApplyOutcome::Failed { reason }, .. } => {
                Entry::NotApplied { uri, reason }
            }
            Event::TerminalStarted { terminal_id, tool_call_id, .. } => {
                self.started.push((tool_call_id.clone(), terminal_id.clone()));
                return None;
            }
            Event::TerminalChanged { terminal } => return self.job(terminal),
            Event::UserCommandStarted { tool_call_id, command, in_context } => {
                let typed = format!("{}{command}", if *in_context { "!" } else { "!!" });
                self.titles.insert(tool_call_id.clone(), typed.clone());
                Entry::OwnStarted { typed }
            }
            Event::UserCommandEnded { tool_call_id, text, exit_code, .. } => {
                self.own_ended(tool_call_id, text, *exit_code)
            }
            Event::FilesChanged { tool_call_id, files, .. } => {
                Entry::FilesChanged { by_command: tool_call_id.is_some(), files }
            }
            Event::CheckpointRestored { direction, files, .. } => Entry::Restored { direction: *direction, files },
            protocol::spoken!() => return event.spoken().map(|(severity, text)| Entry::Notice { severity, text }),
            Event::ContextTrimmed { tool_call_ids, .. } => Entry::Trimmed { calls: tool_call_ids.len() },
            Event::Compacting { .. }
            | Event::Compacted { .. }
            | Event::CompactionCorrected { .. }
            | Event::CompactionTakenBack { .. } => return of_handover(event),
            Event::TurnEnded { stop_reason, error, usage, cost, .. } => {
                self.turn_ended(*stop_reason, error.as_deref(), *usage, *cost)
            }
            // Only the panels have a place for these: a title, the mode, thinking, an edit that still arrives, prompts
            // that wait, what the formatter did, what a terminal printed, tokens and cost as they grow.
            Event::TitleChanged { .. }
            | Event::ModeChanged { .. }
            | Event::ThinkingDelta { .. }
            | Event::EditDelta { .. }
            | Event::PromptQueued { .. }
            | Event::PromptDequeued { .. }
            | Event::Formatted { .. }
            | Event::TerminalEnded { .. }
            | Event::TerminalInput { .. }
            | Event::SideAsked { .. }
            | Event::ContextUsed { .. }
            // These show in something else: what was allowed in its call, what was decided or applied in the proposal,
            // why there is no handover in the question about that.
            | Event::CompactionFailed { .. }
            | Event::PermissionJudged { .. }
            | Event::ReviewDecided { .. }
            | Event::EditApplied { .. }
            // These are for the model, or for undo.
            | Event::SessionStarted { .. }
            | Event::Noted { .. }
            | protocol::unseen!() => return None,
        })
    }

    fn turn_started<'e>(&mut self, turn: &TurnId, prompt: &'e [PromptBlock]) -> Entry<'e> {
        self.turn = Some(turn.clone());
        (self.is_broken_off, self.asked_unpriced, self.of_children) = (false, false, Sums::default());
        Entry::TurnStarted { prompt }
    }

    fn own_ended<'e>(&mut self, id: &ToolCallId, text: &'e str, exit_code: Option<i32>) -> Entry<'e> {
        self.started.retain(|(call, _)| call != id);
        let typed = self.titles.remove(id).unwrap_or_default();
        Entry::OwnEnded { typed, text, exit_code }
    }

    fn accepts<'e>(&mut self, scope: Option<AutoScope>) -> Entry<'e> {
        self.accepting = scope;
        Entry::Accepting(scope)
    }

    fn completed<'e>(&mut self, message: &'e MessageId, content: &'e [AssistantBlock]) -> Entry<'e> {
        let is_said = self.streamed.as_ref() == Some(message);
        let texts = content.iter().filter_map(|block| match block {
            AssistantBlock::Text { text, .. } => Some(text.as_str()),
            AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
        });
        Entry::Completed { message, unsaid: texts.filter(|_| !is_said).collect() }
    }

    fn planned<'e>(&mut self, entries: &'e [PlanEntry]) -> Entry<'e> {
        let before = std::mem::replace(&mut self.plan, entries.to_vec());
        Entry::Planned(entries.iter().filter(|entry| !before.contains(entry)).collect())
    }

    /// The way in which a call that ends now ran a command, if it ran one.
    fn ran(&mut self, call: &ToolCallId) -> Option<Ran> {
        let mut ran = None;
        for (_, terminal) in self.started.extract_if(.., |(of, _)| of == call) {
            if jobs::number(&terminal).is_some() {
                self.told_starts.insert(terminal);
                ran = Some(Ran::Job);
            }
            ran = ran.or(Some(Ran::Command));
        }
        ran
    }

    /// A model is shown once. What comes late is of no other turn.
    fn child_worked<'e>(&mut self, event: &'e Event) -> Option<Entry<'e>> {
        let Event::ChildWorked { turn_id, child, model, doing, usage, cost, .. } = event else { return None };
        if *usage != Usage::default() && self.turn.as_ref() == Some(turn_id) {
            self.of_children += Sums::one(*usage, *cost);
            self.asked_unpriced |= cost.is_none();
        }
        if let Some(title) = doing {
            return Some(Entry::ChildCalls { title });
        }
        let before = self.children.insert(child.clone(), model.clone());
        (before.as_ref() != Some(model)).then_some(Entry::ChildAsks { child, model })
    }

    /// That it runs is said by the call that starts it.
    fn job(&mut self, job: &TerminalInfo) -> Option<Entry<'static>> {
        if job.kind != TerminalKind::Job {
            return None;
        }
        let words = words::of_job(job);
        let before = self.jobs.insert(job.terminal_id.clone(), words.clone());
        let is_news = before.as_ref() != Some(&words) && (!job.alive || job.ready.is_some());
        is_news.then(|| Entry::Job { words, start_is_told: self.told_starts.contains(&job.terminal_id) })
    }

    fn answered<'e>(&mut self, id: &PermissionId, outcome: &'e PermissionOutcome) -> Option<Entry<'e>> {
        let at = self.questions.iter().position(|question| question.permission_id == *id)?;
        Some(Entry::Answered { question: self.questions.remove(at), outcome })
    }

    fn turn_ended<'e>(
        &mut self,
        reason: StopReason,
        error: Option<&'e str>,
        mut usage: Usage,
        cost: Option<f64>,
    ) -> Entry<'e> {
        self.plan.clear();
        self.turn = None;
        self.is_broken_off = reason == StopReason::Interrupted;
        // An answer to a question of a turn that broke off goes on with it.
        if !self.is_broken_off {
            self.questions.clear();
        }
        let children = std::mem::take(&mut self.of_children);
        usage += children.usage;
        let of_children = children.known_cost().filter(|_| children.requests > 0);
        let cost = cost.into_iter().chain(of_children).reduce(|own, other| own + other);
        let tokens = usage.total();
        let is_unpriced = cost.is_none() || std::mem::take(&mut self.asked_unpriced);
        let is_unpriced = is_unpriced && tokens > 0 && !std::mem::replace(&mut self.told_unpriced, true);
        Entry::TurnEnded { reason, error, usage, cost, is_unpriced }
    }
}

/// True if a turn waits before it asks its model again, after an event and as it was before it.
fn waits(waited: bool, event: &Event) -> bool {
    match event {
        Event::Retrying { delay_ms, .. } => *delay_ms > 0,
        Event::MessageDelta { .. }
        | Event::ThinkingDelta { .. }
        | Event::EditDelta { .. }
        | Event::MessageCompleted { .. }
        | Event::ToolCallStarted { .. }
        | Event::TurnModelChanged { .. }
        | Event::TurnStarted { .. }
        | Event::TurnEnded { .. } => false,
        _ => waited,
    }
}

/// The entry of an event about a handover.
fn of_handover(event: &Event) -> Option<Entry<'_>> {
    Some(match event {
        Event::Compacting { .. } => Entry::Compacting,
        Event::Compacted { compaction, .. } => Entry::Compacted(compaction),
        Event::CompactionCorrected { .. } => Entry::HandoverChanged { is_back: false },
        Event::CompactionTakenBack { .. } => Entry::HandoverChanged { is_back: true },
        _ => return None,
    })
}

/// An entry about a request that failed: it is made again, or another model goes on.
fn failure(event: &Event) -> Option<Entry<'_>> {
    match event {
        Event::Retrying { attempt, of, delay_ms, reason, .. } => {
            Some(Entry::Retrying { attempt: *attempt, of: *of, delay: Duration::from_millis(*delay_ms), reason })
        }
        Event::TurnModelChanged { model, instead_of, reason, until, error, account, .. } => {
            let (reason, until, error, account) = (*reason, *until, error.as_deref(), account.as_ref());
            Some(Entry::Switched(words::Switch { model, instead_of, reason, until, error, account }))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::{Opening, PlanEntryStatus};
    use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind};
    use protocol::session::Mode;
    use protocol::terminal::{Ready, SandboxMode};

    use super::*;

    fn started() -> Event {
        let (model, mode) = ("m".into(), Mode::Agent);
        Event::TurnStarted {
            turn_id: "t".into(),
            prompt: vec![],
            context: String::new(),
            model,
            mode,
            thinks: None,
            compacts: false,
        }
    }

    fn ended(stop_reason: StopReason) -> Event {
        let usage = Usage { input: 1, ..Usage::default() };
        Event::TurnEnded { turn_id: "t".into(), stop_reason, error: None, usage, cost: None, new_errors: None }
    }

    fn in_terminal(terminal: &str, call: &str) -> Event {
        let (command, cwd) = ("npm run dev".into(), "/p".into());
        Event::TerminalStarted { terminal_id: terminal.into(), tool_call_id: call.into(), command, cwd, offset: 0 }
    }

    fn returned(call: &str) -> Event {
        Event::ToolCallEnded {
            turn_id: "t".into(),
            result: ToolResult { tool_call_id: call.into(), text: String::new(), is_error: false },
            summary: String::new(),
            locations: vec![],
            duration_ms: 1,
            rewritten_input: None,
        }
    }

    fn job(alive: bool, ports: &[u16]) -> Event {
        let ready = (!ports.is_empty()).then(|| Ready { line: None, ports: ports.to_vec() });
        Event::TerminalChanged {
            terminal: Box::new(TerminalInfo {
                terminal_id: "job-1".into(),
                kind: TerminalKind::Job,
                title: "npm run dev".into(),
                cwd: "/p".into(),
                sandbox: SandboxMode::Full,
                alive,
                running: None,
                waiting: None,
                taken: false,
                ready,
                started_at: 1,
                ended_at: None,
                exit_code: None,
                end: 0,
            }),
        }
    }

    fn question(id: &str) -> PermissionRequest {
        let (option_id, name) = ("yes".to_owned(), "Allow once".to_owned());
        PermissionRequest {
            permission_id: id.into(),
            tool_call_id: None,
            about: PermissionAbout::ToolCall,
            title: "Run a command?".into(),
            detail: String::new(),
            reason: String::new(),
            form: None,
            options: vec![PermissionOption { option_id, name, kind: PermissionOptionKind::AllowOnce }],
        }
    }

    fn is_unpriced(entry: Option<Entry<'_>>) -> bool {
        matches!(entry, Some(Entry::TurnEnded { is_unpriced: true, .. }))
    }

    #[test]
    fn a_message_that_came_in_pieces_is_not_said_again_whatever_was_shown_meanwhile() {
        let text = |text: &str| AssistantBlock::Text { text: text.into(), vendor: None };
        let completed = |id: &str| Event::MessageCompleted {
            turn_id: "t".into(),
            message_id: id.into(),
            content: vec![text("Hello.")],
            usage: Usage::default(),
            cost: None,
            timing: None,
            opening: Opening::default(),
        };
        let unsaid = |fold: &mut Fold, id: &str| match fold.take(&completed(id)) {
            Some(Entry::Completed { unsaid, .. }) => unsaid.concat(),
            other => panic!("{other:?}"),
        };
        let said = |id: &str| Event::MessageDelta { message_id: id.into(), text: "Hello.".into() };
        let mut fold = Fold::default();
        assert_eq!(fold.take(&said("m")), Some(Entry::Said { message: &"m".into(), text: "Hello." }));
        assert!(fold.take(&job(true, &[80])).is_some());
        assert_eq!(unsaid(&mut fold, "m"), "");
        assert_eq!(unsaid(&mut fold, "n"), "Hello.", "of this one nothing has come");
        fold.take(&said("o"));
        fold.take(&Event::MessageDiscarded { message_id: "o".into() });
        assert_eq!(unsaid(&mut fold, "o"), "Hello.", "what came of it is void");
    }

    #[test]
    fn of_a_plan_the_steps_are_shown_that_are_new_or_further_and_in_a_new_turn_all() {
        let step = |content: &str, status| PlanEntry { content: content.into(), status };
        let (first, second) = (step("Find it", PlanEntryStatus::InProgress), step("Mend it", PlanEntryStatus::Pending));
        let found = step("Find it", PlanEntryStatus::Completed);
        let plan = |entries: [&PlanEntry; 2]| Event::PlanUpdated {
            turn_id: "t".into(),
            entries: entries.into_iter().cloned().collect(),
            by_user: false,
        };
        let mut fold = Fold::default();
        assert_eq!(fold.take(&plan([&first, &second])), Some(Entry::Planned(vec![&first, &second])));
        assert_eq!(fold.take(&plan([&found, &second])), Some(Entry::Planned(vec![&found])));
        fold.take(&ended(StopReason::EndTurn));
        assert_eq!(fold.take(&plan([&found, &second])), Some(Entry::Planned(vec![&found, &second])));
    }

    #[test]
    fn a_call_ends_with_its_title_and_the_way_in_which_it_ran_a_command() {
        let mut fold = Fold::default();
        let mut ran = |events: &[Event]| {
            events.iter().for_each(|event| drop(fold.take(event)));
            match fold.take(&returned("c")) {
                Some(Entry::CallEnded { title, ran, .. }) => (title, ran),
                other => panic!("{other:?}"),
            }
        };
        let begun = Event::ToolCallStarted {
            turn_id: "t".into(),
            tool_call_id: "c".into(),
            name: "shell_run".into(),
            kind: protocol::content::ToolKind::Execute,
            title: "Running make".into(),
            input: serde_json::Value::Null,
            locations: vec![],
        };
        assert_eq!(ran(&[begun, in_terminal("shell", "c")]), (Some("Running make".into()), Some(Ran::Command)));
        assert_eq!(ran(&[in_terminal("shell", "c"), in_terminal("job-1", "c")]), (None, Some(Ran::Job)));
        assert_eq!(ran(&[in_terminal("shell", "of-another-call")]), (None, None));
    }

    #[test]
    fn a_job_is_shown_once_it_is_up_and_when_that_changes() {
        let mut fold = Fold::default();
        let mut said = |event: Event| match fold.take(&event) {
            Some(Entry::Job { words, start_is_told }) => Some((words, start_is_told)),
            _ => None,
        };
        let up = |port: u16| format!("job-1 (npm run dev) is up: it listens on port {port}");
        assert_eq!(said(job(true, &[])), None, "the call that starts it says so");
        assert_eq!(said(job(true, &[80])), Some((up(80), false)));
        assert_eq!(said(job(true, &[80])), None);
        said(in_terminal("job-1", "c"));
        said(returned("c"));
        assert_eq!(said(job(true, &[81])), Some((up(81), true)));
        let gone = "job-1 (npm run dev) was stopped".to_owned();
        assert_eq!(said(job(false, &[81])), Some((gone, true)));
        assert_eq!(said(job(false, &[81])), None);
    }

    #[test]
    fn a_question_stands_until_it_is_answered_or_its_turn_ends_other_than_by_a_crash() {
        let asked = |id: &str| Event::PermissionAsked { turn_id: "t".into(), request: question(id) };
        let standing = |fold: &Fold| fold.questions().iter().map(|it| it.permission_id.to_string()).collect::<Vec<_>>();
        let mut fold = Fold::default();
        [started(), asked("a"), asked("b"), asked("c")].iter().for_each(|event| drop(fold.take(event)));
        let outcome = PermissionOutcome::Cancelled;
        let answer = Event::PermissionAnswered { permission_id: "b".into(), outcome: outcome.clone() };
        let entry = Entry::Answered { question: question("b"), outcome: &outcome };
        assert_eq!(fold.take(&answer), Some(entry));
        assert_eq!(fold.take(&answer), None, "it stands no more");
        assert_eq!(standing(&fold), ["a", "c"]);
        fold.take(&ended(StopReason::Interrupted));
        assert_eq!((standing(&fold).len(), fold.is_broken_off(), fold.is_in_turn()), (2, true, false));
        fold.take(&started());
        assert_eq!((fold.is_broken_off(), fold.is_in_turn()), (false, true));
        fold.take(&ended(StopReason::EndTurn));
        assert!(standing(&fold).is_empty() && !fold.is_broken_off());
    }

    #[test]
    fn that_a_price_is_not_known_is_said_once_for_each_model() {
        let model = |id: &str| Event::ModelChanged {
            model: id.into(),
            scripted: false,
            thinking: None,
            by_default: false,
            chain: None,
        };
        let mut fold = Fold::default();
        assert!(is_unpriced(fold.take(&ended(StopReason::EndTurn))));
        assert!(!is_unpriced(fold.take(&ended(StopReason::EndTurn))));
        fold.take(&model("other"));
        assert!(is_unpriced(fold.take(&ended(StopReason::EndTurn))));
    }

    #[test]
    fn a_turn_ends_with_what_the_sessions_used_that_its_calls_started_and_each_model_of_theirs_is_named_once() {
        let worked = |model: &str, doing: Option<&str>, output, cost| Event::ChildWorked {
            turn_id: "t".into(),
            tool_call_id: "c".into(),
            child: "abc123".into(),
            model: model.into(),
            rounds: 1,
            doing: doing.map(str::to_owned),
            usage: Usage { output, ..Usage::default() },
            cost,
        };
        let ended = |cost| Event::TurnEnded {
            turn_id: "t".into(),
            stop_reason: StopReason::EndTurn,
            error: None,
            usage: Usage { output: 1, ..Usage::default() },
            cost,
            new_errors: None,
        };
        let end = |fold: &mut Fold, cost| match fold.take(&ended(cost)) {
            Some(Entry::TurnEnded { usage, cost, is_unpriced, .. }) => (usage.output, cost, is_unpriced),
            other => panic!("{other:?}"),
        };
        let mut fold = Fold::default();
        fold.take(&started());
        let asks = Entry::ChildAsks { child: &"abc123".into(), model: "wise" };
        assert_eq!(fold.take(&worked("wise", None, 0, None)), Some(asks));
        assert_eq!(fold.take(&worked("wise", None, 5, Some(0.5))), None);
        let calls = Entry::ChildCalls { title: "Reading a.txt" };
        assert_eq!(fold.take(&worked("wise", Some("Reading a.txt"), 0, None)), Some(calls));
        let asks = Entry::ChildAsks { child: &"abc123".into(), model: "clever" };
        assert_eq!(fold.take(&worked("clever", None, 0, None)), Some(asks));
        assert_eq!(end(&mut fold, Some(0.25)), (6, Some(0.75), false));
        fold.take(&started());
        assert_eq!(end(&mut fold, Some(0.25)), (1, Some(0.25), false), "each turn has its own");
        let Event::TurnStarted { prompt, context, model, mode, .. } = started() else { panic!() };
        fold.take(&Event::TurnStarted {
            turn_id: "t2".into(),
            prompt,
            context,
            model,
            mode,
            thinks: None,
            compacts: false,
        });
        fold.take(&worked("clever", None, 5, None));
        assert_eq!(end(&mut fold, Some(0.25)), (1, Some(0.25), false), "what comes late is of no other turn");
        fold.take(&started());
        fold.take(&worked("clever", None, 5, None));
        assert_eq!(end(&mut fold, Some(0.25)), (6, Some(0.25), true), "that a price is not known is said");
    }

    #[test]
    fn a_command_of_the_users_own_is_shown_as_it_was_typed() {
        let mut fold = Fold::default();
        let begun = Event::UserCommandStarted { tool_call_id: "u".into(), command: "ls".into(), in_context: false };
        assert_eq!(fold.take(&begun), Some(Entry::OwnStarted { typed: "!!ls".into() }));
        let end =
            Event::UserCommandEnded { tool_call_id: "u".into(), text: "a".into(), exit_code: Some(0), duration_ms: 1 };
        assert_eq!(fold.take(&end), Some(Entry::OwnEnded { typed: "!!ls".into(), text: "a", exit_code: Some(0) }));
    }
}
