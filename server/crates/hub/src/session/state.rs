//! The state that a session's log comes to. The same fold serves a running session and one that is read from the store.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::time::SystemTime;

use agent::context::Counted;
use agent::history::History;
use ports::edit::TextHash;
use ports::facts::Facts;
use ports::spent::Sums;
use project::paths;
use project::text::hash;
use protocol::checkpoint::{ChangedFile, FileImage, RestoredFile};
use protocol::content::Usage;
use protocol::event::{ApplyOutcome, SeenOccasion};
use protocol::mode::{Edits, Mode};
use protocol::model::{SwitchReason, ThinkingLevel};
use protocol::permission::{PermissionAbout, PermissionRequest};
use protocol::review::{AutoScope, Decision, HunkState, Proposal};
use protocol::session::{Purpose, SessionInfo, Terms};
use protocol::turn::StopReason;
use protocol::{Event, PermissionId, PromptBlock, ProposalId, QueueId, SessionId, ToolCallId, TurnId};

use super::checkpoints::Checkpoints;
use super::facts::Gathered;
use super::halves::{self, Half, Told};
use super::models::Chosen;
use super::plan::Plan;
use super::terminals;
use crate::clock::now;

/// Of a command that the model is reminded of it hears this many characters.
const LONGEST_COMMAND: usize = 60;

/// A session's state, as far as its log tells it.
#[derive(Default)]
pub(super) struct State {
    /// The conversation as the model sees it.
    pub(super) history: History,
    pub(super) title: String,
    pub(super) folders: Vec<String>,
    /// The terms on which another session started it.
    pub(super) parent: Option<Terms>,
    pub(super) purpose: Purpose,
    pub(super) model: Option<String>,
    /// The level at which it thinks; none if it thinks as it does by itself.
    thinking: Option<ThinkingLevel>,
    /// True if nobody chose it for this session.
    is_default_model: bool,
    /// The chain that was chosen by name, of which it is one.
    chain: Option<String>,
    /// The larger model that goes on in another one's stead.
    pub(super) promoted: Option<Promoted>,
    pub(super) mode: Mode,
    /// The automatic acceptance of edits: whether it is on, and for how long.
    pub(super) accept_edits: (bool, AutoScope),
    pub(super) usage: Usage,
    pub(super) cost: f64,
    /// The part of these of sessions that calls started.
    pub(super) children: Sums,
    /// The models of turns whose cost is not known.
    pub(super) unpriced: BTreeSet<String>,
    pub(super) created_at: u64,
    pub(super) updated_at: u64,
    /// True if the user has asked for it by a command, or given it a prompt, a command, a name, a model or a mode of
    /// its own.
    pub(super) is_used: bool,
    /// True if its log says that the user did not ask for it; those of older versions say nothing of it.
    is_not_asked_for: bool,
    /// The number of changes of its model and mode, the next ones, that only say what it begins with.
    begins_with: u32,
    /// The tokens of the last request; none if no model has answered yet.
    pub(super) context: Option<u64>,
    /// The vendor's count of the last request and its answer, and the model's id; none if results were taken out since.
    pub(super) counted: Option<(Counted, String)>,
    /// The turn that has begun and not ended.
    pub(super) open_turn: Option<OpenTurn>,
    /// When the last turn ended.
    pub(super) turn_ended: Option<SystemTime>,
    /// The last turn that began.
    last_turn: Option<TurnId>,
    /// Decisions that the model has not been told of, and what was formatted after them, in words.
    untold: Vec<String>,
    /// The names of the files of proposals, and whether these had landed.
    paths: BTreeMap<ProposalId, (String, bool)>,
    /// The commands that were run, by their calls, as far as the model is reminded of them.
    commands: HashMap<ToolCallId, String>,
    /// The changes by others: what a file was beyond its text and what it became, by its URI and the hash of the text
    /// that it had.
    changed: HashMap<(String, String), (FileImage, Option<FileImage>)>,
    /// The files that edits and undos of ours deleted: their URIs and the hashes of the texts that they had.
    deleted: HashSet<(String, String)>,
    /// Every question ever asked here.
    pub(super) asked: BTreeSet<PermissionId>,
    /// True if one of them was whether the workspace is trusted.
    pub(super) trust_asked: bool,
    /// The questions without an answer.
    pub(super) questions: BTreeMap<PermissionId, PermissionRequest>,
    /// The plan of its task.
    pub(super) plan: Plan,
    /// The prompts that wait.
    pub(super) queue: VecDeque<(QueueId, Vec<PromptBlock>)>,
    /// The user's own commands that have not ended.
    pub(super) user_commands: BTreeSet<ToolCallId>,
    /// The changes that turns made to files.
    pub(super) checkpoints: Checkpoints,
    /// Who was told of calls of which only a part was made.
    pub(super) told: Told,
    /// The files that an accepted edit was about to delete, as they were, by URI.
    pub(super) deleting: HashMap<String, FileImage>,
    /// The proposals with undecided hunks, as last said.
    pub(super) proposals: BTreeMap<ProposalId, Proposal>,
    /// The log's record of the session's terminals.
    pub(super) terminals: terminals::Recorded,
    /// The log's record of the work, for a handover.
    gathered: Gathered,
}

/// A model whose context was too small, and the larger one of its provider that goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Promoted {
    pub(super) from: String,
    pub(super) to: String,
}

/// A turn that has begun, and what it came to so far.
pub(super) struct OpenTurn {
    pub(super) id: TurnId,
    /// The model that it asks. Another may be chosen for the next one while it runs.
    model: String,
    sums: Sums,
}

impl OpenTurn {
    fn new(id: &TurnId, model: &str) -> Self {
        Self { id: id.clone(), model: model.to_owned(), sums: Sums::default() }
    }

    /// The end of a turn that did not come to its own.
    pub(super) fn broken_off(&self, stop_reason: StopReason, error: &str) -> Event {
        let (turn_id, error) = (self.id.clone(), Some(error.into()));
        let (usage, cost) = (self.sums.usage, self.sums.known_cost());
        Event::TurnEnded { turn_id, stop_reason, error, usage, cost, new_errors: None }
    }

    /// The end of a turn whose process or home went away.
    pub(super) fn interrupted(&self) -> Event {
        self.broken_off(StopReason::Interrupted, "the turn was interrupted; send an empty prompt to continue it")
    }
}

impl State {
    /// The state before the first event.
    pub(super) fn new(folders: Vec<String>, created_at: u64) -> Self {
        Self { folders, created_at, ..Self::default() }
    }

    /// Takes in the next event.
    pub(super) fn apply(&mut self, event: &Event) {
        self.history.apply(event);
        self.checkpoints.apply(event);
        self.terminals.apply(event);
        self.gathered.apply(event);
        // The vendor has counted another conversation.
        self.counted.take_if(|_| event.changes_conversation());
        self.plan.apply(event);
        let mut told = std::mem::take(&mut self.told);
        told.apply(event, || self.halves());
        self.told = told;
        self.updated_at = now();
        self.is_used |= self.is_use(event);
        match event {
            Event::SessionStarted { folders, asked_for, begins_with, parent, purpose } => {
                self.folders.clone_from(folders);
                self.purpose = *purpose;
                self.parent.clone_from(parent);
                (self.is_not_asked_for, self.begins_with) = (*asked_for == Some(false), *begins_with);
            }
            Event::TitleChanged { title } => self.title.clone_from(title),
            Event::PurposeChanged { purpose } => self.purpose = *purpose,
            Event::ModelChanged { model, thinking, by_default, chain, .. } => {
                (self.model, self.thinking) = (Some(model.clone()), *thinking);
                (self.is_default_model, self.chain, self.promoted) = (*by_default, chain.clone(), None);
            }
            Event::TurnModelChanged { model, instead_of, reason, .. } => {
                self.turn_model_changed(model, instead_of, *reason);
            }
            Event::AcceptEditsChanged { on, scope } => self.accept_edits = (*on, *scope),
            Event::ModeChanged { mode } => self.mode = *mode,
            Event::TurnStarted { turn_id, model, .. } => {
                self.last_turn = Some(turn_id.clone());
                self.open_turn = Some(OpenTurn::new(turn_id, model));
            }
            Event::MessageCompleted { usage, cost, .. } | Event::RequestPaid { usage, cost, .. } => {
                self.requested(event, *usage, *cost);
            }
            Event::TurnEnded { usage, cost, .. } => {
                let turn = self.open_turn.take();
                self.turn_ended = Some(SystemTime::now());
                self.pay(turn.map(|turn| turn.model), *usage, *cost);
            }
            Event::SideAsked { model, usage, cost, .. } => self.pay(Some(model.clone()), *usage, *cost),
            Event::ChildWorked { model, usage, cost, .. } => self.child_worked(model, *usage, *cost),
            Event::UserCommandStarted { tool_call_id, .. } => drop(self.user_commands.insert(tool_call_id.clone())),
            Event::UserCommandEnded { tool_call_id, .. } => drop(self.user_commands.remove(tool_call_id)),
            Event::PromptQueued { queue_id, prompt } => self.queue.push_back((queue_id.clone(), prompt.clone())),
            Event::PromptDequeued { queue_id } => self.queue.retain(|(id, _)| id != queue_id),
            Event::PermissionAsked { request, .. } => {
                self.trust_asked |= request.about == PermissionAbout::Trust;
                self.asked.insert(request.permission_id.clone());
                self.questions.insert(request.permission_id.clone(), request.clone());
            }
            Event::PermissionAnswered { permission_id, .. } => drop(self.questions.remove(permission_id)),
            Event::Noted { .. } => self.untold.clear(),
            Event::ReviewDecided { proposal_id, hunk_ids, decision, message } => {
                self.decided(proposal_id, hunk_ids.len(), *decision, message.as_deref());
            }
            Event::TerminalStarted { tool_call_id, command, .. } => {
                self.commands.insert(tool_call_id.clone(), short(command));
            }
            Event::FilesChanged { files, .. } => self.files_changed(files),
            Event::CheckpointRestored { files, .. } => self.files_restored(files),
            Event::Formatted { uri, by, .. } => self.formatted(uri, by.as_deref()),
            Event::FileSeen { uri, now: Some(now), occasion: SeenOccasion::Deletion } => {
                self.deleting.insert(uri.clone(), now.clone());
            }
            Event::EditApplied { uri, before, after, outcome, .. } => {
                self.deleting.remove(uri);
                let is_gone = after.is_none() && *outcome == ApplyOutcome::Verified;
                self.deleted.extend(before.clone().filter(|_| is_gone).map(|before| (uri.clone(), before)));
            }
            Event::ProposalChanged { proposal } => self.proposal_changed(proposal),
            Event::ContextUsed { used, .. } => self.context = Some(*used),
            // These change none of this: they are only shown, or are for one of the parts above.
            Event::CommandExecuted { .. }
            | Event::Steered { .. }
            | Event::MessageDelta { .. }
            | Event::ThinkingDelta { .. }
            | Event::EditDelta { .. }
            | Event::MessageDiscarded { .. }
            | Event::Retrying { .. }
            | Event::PlanUpdated { .. }
            | Event::ToolCallStarted { .. }
            | Event::ToolCallEnded { .. }
            | Event::PermissionJudged { .. }
            | Event::TerminalEnded { .. }
            | Event::TerminalChanged { .. }
            | Event::TerminalInput { .. }
            | Event::FileSeen { .. }
            | Event::ContextTrimmed { .. }
            | Event::Compacting { .. }
            | Event::Compacted { .. }
            | Event::CompactionFailed { .. }
            | Event::CompactionCorrected { .. }
            | Event::CompactionTakenBack { .. }
            | protocol::spoken!() => {}
        }
    }

    /// A request to the turn's model used so much.
    fn requested(&mut self, event: &Event, usage: Usage, cost: Option<f64>) {
        self.note_count(event);
        if let Some(turn) = self.open_turn.as_mut().filter(|_| usage != Usage::default()) {
            turn.sums += Sums::one(usage, cost);
            self.unpriced.extend(cost.is_none().then(|| turn.model.clone()));
        }
    }

    /// An answer says how long its request was, and it itself.
    fn note_count(&mut self, event: &Event) {
        let model = self.open_turn.as_ref().map(|turn| turn.model.clone());
        if let (Event::MessageCompleted { usage, .. }, Some(model)) = (event, model) {
            self.counted = Some((Counted { tokens: usage.total(), messages: self.history.settled() }, model));
        }
    }

    /// The model of the session with its level of thinking.
    pub(super) fn chosen(&self) -> Option<Chosen> {
        let model = self.model.clone()?;
        let chain = self.chain.clone();
        Some(Chosen { model, level: self.thinking, is_default: self.is_default_model, chain })
    }

    /// Another model goes on in the turn: for the turn, or if it is a larger one, for the session.
    fn turn_model_changed(&mut self, model: &str, instead_of: &str, reason: SwitchReason) {
        if let Some(turn) = &mut self.open_turn {
            model.clone_into(&mut turn.model);
        }
        if reason == SwitchReason::ContextFull {
            let first = self.promoted.take().filter(|before| before.to == instead_of);
            let from = first.map_or_else(|| instead_of.to_owned(), |first| first.from);
            self.promoted = Some(Promoted { from, to: model.to_owned() });
        }
    }

    /// Counts what a session used that a call started.
    fn child_worked(&mut self, model: &str, usage: Usage, cost: Option<f64>) {
        if usage != Usage::default() {
            self.children += Sums::one(usage, cost);
            self.pay(Some(model.to_owned()), usage, cost);
        }
    }

    /// Counts what was used of a model, and what it cost if that is known.
    fn pay(&mut self, model: Option<String>, usage: Usage, cost: Option<f64>) {
        self.usage += usage;
        self.cost += cost.unwrap_or_default();
        if cost.is_none() && usage != Usage::default() {
            self.unpriced.extend(model);
        }
    }

    fn decided(&mut self, proposal: &ProposalId, count: usize, decision: Decision, message: Option<&str>) {
        let (path, landed) = self.paths.get(proposal).map_or(("a file", false), |(path, landed)| (path, *landed));
        let what = match decision {
            // A change that stays as it is, is no news.
            Decision::Accept if landed => return,
            Decision::Reject if landed => "took back what was changed in",
            Decision::Accept => "accepted",
            Decision::Reject => "rejected",
        };
        let why = message.map(|message| format!(" (\u{201c}{message}\u{201d})")).unwrap_or_default();
        let parts = match (landed, count) {
            (true, 1) => "place",
            (true, _) => "places",
            (false, 1) => "hunk",
            (false, _) => "hunks",
        };
        self.untold.push(format!("{what} {count} {parts} of {path}{why}"));
    }

    fn formatted(&mut self, uri: &str, by: Option<&str>) {
        let path = paths::from_uri(uri).unwrap_or_default();
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        // Of our own language servers the name is known.
        let by = by.unwrap_or("the editor");
        self.untold.push(format!("and {by} formatted {file} then"));
    }

    fn proposal_changed(&mut self, proposal: &Proposal) {
        self.paths.insert(proposal.proposal_id.clone(), (proposal.path.clone(), proposal.landed));
        let open = |state| matches!(state, HunkState::Pending | HunkState::Applying | HunkState::Conflicted);
        if proposal.hunks.iter().any(|hunk| open(hunk.state)) {
            self.proposals.insert(proposal.proposal_id.clone(), proposal.clone());
        } else {
            self.proposals.remove(&proposal.proposal_id);
        }
    }

    fn files_restored(&mut self, files: &[RestoredFile]) {
        for file in files {
            let gone = file.steps.iter().filter(|step| step.to.is_none()).filter_map(|step| step.from.as_ref());
            self.deleted.extend(gone.map(|image| (file.uri.clone(), image.hash.clone())));
        }
    }

    fn files_changed(&mut self, files: &[ChangedFile]) {
        for file in files.iter().filter(|file| file.unknown.is_none()) {
            let Some(before) = &file.before else { continue };
            let key = (file.uri.clone(), before.hash.clone());
            self.changed.insert(key, (before.clone(), file.after.clone()));
        }
    }

    /// True if an event makes the session one that is kept. What it begins with is no use of it, and whether edits are
    /// accepted automatically is said anew by each process.
    fn is_use(&mut self, event: &Event) -> bool {
        match event {
            Event::SessionStarted { asked_for, .. } => *asked_for == Some(true),
            Event::ModelChanged { .. } | Event::ModeChanged { .. } if self.begins_with > 0 => {
                self.begins_with -= 1;
                false
            }
            Event::ModelChanged { .. }
            | Event::ModeChanged { .. }
            | Event::TurnStarted { .. }
            | Event::PromptQueued { .. }
            | Event::CommandExecuted { .. }
            | Event::UserCommandStarted { .. }
            | Event::TitleChanged { .. } => true,
            _ => false,
        }
    }

    /// The facts for a handover.
    pub(super) fn facts(&self) -> Facts {
        self.gathered.facts(&self.folders, &self.plan.steps, self.questions.values(), self.terminals.jobs())
    }

    /// The calls of which a part is made and a part is not.
    pub(super) fn halves(&self) -> Vec<Half> {
        halves::halves(&self.checkpoints.parts, &self.proposals)
    }

    /// True if edits are accepted automatically, because it was said so, or by the mode.
    pub(super) fn accepts_as_they_come(&self) -> bool {
        self.accept_edits.0 || self.mode.edits() == Edits::Accepted
    }

    /// True if nobody would miss it: nothing was said in it, and nobody asked for it. Of an older version's log that is
    /// not known.
    pub(super) fn is_unused(&self) -> bool {
        self.is_not_asked_for && !self.is_used
    }

    /// Returns what a file was beyond this text when others changed it, if they did, and what it became; the inner
    /// `None` if they deleted it.
    pub(super) fn changed(&self, path: &Path, text: &str) -> Option<&(FileImage, Option<FileImage>)> {
        self.changed.get(&(paths::to_uri(path), hash(text).0))
    }

    /// The texts that commands and other programs left in files: URIs with hashes.
    pub(super) fn left_by_others(&self) -> HashSet<(String, String)> {
        let left = self.changed.iter().filter_map(|((uri, _), (_, after))| Some((uri, after.as_ref()?)));
        left.map(|(uri, after)| (uri.clone(), after.hash.clone())).collect()
    }

    /// True if a file that had the text with this hash was changed by others, or deleted by us.
    pub(super) fn has_changed(&self, path: &Path, text: &TextHash) -> bool {
        let key = (paths::to_uri(path), text.0.clone());
        self.changed.contains_key(&key) || self.deleted.contains(&key)
    }

    /// Who changed something by these calls, in words for the model.
    pub(super) fn who(&self, calls: &[ToolCallId]) -> String {
        let Some(last) = calls.last() else { return String::from("another program") };
        let Some(command) = self.commands.get(last) else { return String::from("a command") };
        format!("`{command}`")
    }

    /// The last turn that began; before the first one an id that is none's.
    pub(super) fn last_turn(&self) -> TurnId {
        self.last_turn.clone().unwrap_or_else(|| TurnId::from("turn-0"))
    }

    /// A note of the decisions that an earlier process did not come to tell.
    pub(super) fn untold(&self) -> Option<String> {
        let decisions = self.untold.join("; ");
        (!decisions.is_empty())
            .then(|| format!("The user decided on your edits: {decisions}. Read the files before you rely on them."))
    }

    /// The session for a list.
    pub(super) fn info(&self, id: &SessionId, last_seq: u64) -> SessionInfo {
        SessionInfo {
            session_id: id.clone(),
            title: self.title.clone(),
            folders: self.folders.clone(),
            model: self.model.clone(),
            mode: self.mode,
            created_at: self.created_at,
            updated_at: self.updated_at,
            last_seq,
            usage: self.usage,
            cost: self.cost,
            parent: self.parent.as_ref().map(|parent| parent.session_id.clone()),
            purpose: self.purpose,
        }
    }
}

/// The beginning of a command.
pub(super) fn short(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST_COMMAND).collect();
    let rest = if short.len() < command.len() { "…" } else { "" };
    format!("{short}{rest}")
}

#[cfg(test)]
mod tests {
    use protocol::content::Opening;

    use super::*;

    #[test]
    fn a_price_that_is_not_known_is_the_turns_models_and_not_the_last_chosen_ones() {
        let mut state = State::default();
        let chosen = |model: &str| Event::ModelChanged {
            model: model.into(),
            scripted: false,
            thinking: None,
            by_default: false,
            chain: None,
        };
        let usage = Usage { output: 1, ..Usage::default() };
        let (turn_id, stop_reason) = (TurnId::from("t"), StopReason::EndTurn);
        let began = Event::TurnStarted {
            turn_id: turn_id.clone(),
            prompt: Vec::new(),
            context: String::new(),
            model: "a".into(),
            mode: Mode::Agent,
            thinks: None,
            compacts: false,
        };
        let ended = Event::TurnEnded { turn_id, stop_reason, error: None, usage, cost: None, new_errors: None };
        [chosen("a"), began, chosen("b"), ended].iter().for_each(|event| state.apply(event));
        assert_eq!(state.unpriced, BTreeSet::from(["a".to_owned()]));
    }

    #[test]
    fn a_turn_that_ends_with_its_process_keeps_the_costs_that_are_known_and_names_the_other_models() {
        let (mut state, turn_id) = (State::default(), TurnId::from("t"));
        let usage = Usage { output: 1, ..Usage::default() };
        let began = Event::TurnStarted {
            turn_id: turn_id.clone(),
            prompt: Vec::new(),
            context: String::new(),
            model: "a".into(),
            mode: Mode::Agent,
            thinks: None,
            compacts: false,
        };
        let paid = |cost| Event::RequestPaid { turn_id: turn_id.clone(), usage, cost, opening: Opening::default() };
        [began, paid(Some(0.5)), paid(None)].iter().for_each(|event| state.apply(event));
        let end = state.open_turn.as_ref().unwrap().interrupted();
        state.apply(&end);
        assert_eq!((state.usage.output, state.cost), (2, 0.5));
        assert_eq!(state.unpriced, BTreeSet::from(["a".to_owned()]));
    }

    #[test]
    fn a_larger_model_goes_on_in_the_stead_of_the_one_that_was_chosen_until_another_is() {
        let mut state = State::default();
        let larger = |from: &str, to: &str, reason| Event::TurnModelChanged {
            turn_id: "t".into(),
            model: to.into(),
            thinking: None,
            instead_of: from.into(),
            reason,
            until: None,
            error: None,
            account: None,
        };
        state.apply(&larger("x", "y", SwitchReason::Failed));
        assert_eq!(state.promoted, None);
        state.apply(&larger("a", "b", SwitchReason::ContextFull));
        state.apply(&larger("b", "c", SwitchReason::ContextFull));
        assert_eq!(state.promoted, Some(Promoted { from: "a".into(), to: "c".into() }));
        let (model, chain) = ("a".to_owned(), Some("a, z".to_owned()));
        state.apply(&Event::ModelChanged { model, scripted: false, thinking: None, by_default: false, chain });
        assert_eq!((state.promoted.clone(), state.chosen().unwrap().chain), (None, Some("a, z".to_owned())));
    }

    #[test]
    fn what_the_model_was_not_told_of_formatting_names_who_formatted() {
        let formatted = |by: Option<&str>| Event::Formatted {
            turn_id: None,
            uri: "file:///p/a.txt".into(),
            before: "b".into(),
            after: "a".into(),
            added: 1,
            removed: 1,
            by: by.map(Into::into),
        };
        for (by, who) in [(Some("rust-analyzer"), "rust-analyzer"), (None, "the editor")] {
            let mut state = State::default();
            state.apply(&formatted(by));
            let told = state.untold().unwrap();
            assert!(told.contains(&format!("and {who} formatted a.txt then")), "{told}");
        }
    }
}
