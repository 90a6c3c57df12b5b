//! Chains of edits that make, change, move and delete the same few files, in one turn and over several, as a list of
//! the files in memory says they are: on disk after each turn, and after each undo. And where the user rejects some of
//! them and a stranger writes into the files, no call ends half made without a word.

#![expect(clippy::disallowed_methods, reason = "a stranger takes files of the project away")]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::event::ApplyOutcome;
use protocol::review::{FileChange, HunkState, Proposal, ReviewResult};
use protocol::turn::StopReason;
use protocol::{Event, HunkId, ProposalId, SessionId, ToolCallId, TurnId, methods};
use serde_json::{Value, json};
use tokio::runtime::Handle;

const NAMES: [&str; 3] = ["a.txt", "b.txt", "in/c.txt"];
/// The error codes if the agent edited on: the proposal has another revision, or is gone.
const EDITED_ON: [i64; 2] = [-32011, -32010];

/// The files with their texts, as they should be.
type Files = BTreeMap<&'static str, String>;

/// How the edits of a turn are accepted.
#[derive(Clone, Copy, Debug)]
enum Accepting {
    AsTheyCome,
    /// As `azimuth exec --yes` does it.
    EachAsItIsListed,
    AllAtTheEnd,
}

/// A turn: its calls, each with what it does one after the other. A number chooses among what can be done to the files
/// as they are then.
type Turn = (Accepting, Vec<Vec<usize>>);

/// Something that happens between turns.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Another program writes a file, or takes it away.
    Stranger { file: usize, writes: bool },
    /// The user decides on what is pending, as far as these bits say so.
    Decision { which: usize, accepts: bool },
}

/// A turn whose edits are accepted automatically or not, with its calls, and what happens after it.
type Trouble = (bool, Vec<Vec<usize>>, Vec<Step>);

struct World {
    _setup: Setup,
    model: ModelServer,
    /// The answers that the model is to give, each with its patches.
    script: Arc<Mutex<VecDeque<Vec<String>>>>,
    project: Project,
    client: Client,
}

impl World {
    async fn new() -> Self {
        let script = Arc::<Mutex<VecDeque<Vec<String>>>>::default();
        let (mut answer, answers) = (Vec::new(), Arc::clone(&script));
        let model = ModelServer::responding(move |asked| {
            // A call that a decision has overtaken is refused, all of it, and made again; those beside it are not.
            let results = asked.last_results();
            let mut results = results.iter();
            answer.retain(|_: &String| results.next().is_some_and(|it| it.contains("has changed since it was read")));
            if answer.is_empty() {
                answer = answers.lock().unwrap().pop_front().unwrap_or_default();
            }
            let call = |answer: Answer, patch: &String| answer.call("edit_apply_patch", json!({ "patch": patch }));
            if answer.is_empty() { Answer::says("Done.") } else { answer.iter().fold(Answer::nothing(), call) }
        })
        .await;
        // Each case is a session of its own.
        model.may_rewrite();
        let setup = Setup::empty();
        let settings = "edit_mode = \"patch\"\nreview_commands = false\nundo_commands = false\n";
        setup.configure(&(settings.to_owned() + &Setup::configuration(&model, Wire::Anthropic)));
        let project = Project::new([]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        Self { _setup: setup, model, script, project, client }
    }

    /// The files of a case as they are on disk.
    fn files(&self, folder: &str) -> Files {
        let at = |name: &str| format!("{folder}/{name}");
        let there = NAMES.into_iter().filter(|name| self.project.path(&at(name)).exists());
        there.map(|name| (name, self.project.read(&at(name)))).collect()
    }

    /// Has these turns, in a folder and a session of their own, and takes them back one by one.
    async fn case(&self, folder: &str, turns: &[Turn]) -> Result<(), TestCaseError> {
        let mut files = Files::from([("a.txt", text(0)), ("b.txt", text(1))]);
        files.iter().for_each(|(name, text)| self.project.write(&format!("{folder}/{name}"), text));
        let session = self.client.new_session().await;
        let mut done = Vec::new();
        let mut made = 1;
        for (accepting, calls) in turns {
            let before = files.clone();
            let patches: Vec<String> = calls.iter().map(|call| patch(folder, &mut files, call, &mut made)).collect();
            let turn = self.turn(&session, *accepting, &patches).await;
            let said =
                || format!("{patches:#?}\n{:#?}", self.model.asked().last().map(|it| it.last_results().join("\n")));
            prop_assert_eq!(&self.files(folder), &files, "{:?}: {}", accepting, said());
            done.push((turn, before));
        }
        while let Some((turn, before)) = done.pop() {
            let params = json!({ "sessionId": session, "turnId": turn });
            let restored = self.client.call::<methods::CheckpointUndo>(params).await;
            prop_assert_eq!(&self.files(folder), &before, "undo of {:?}: {:?}", turns, restored);
        }
        Ok(())
    }

    /// Has these turns, with what happens between them, in a folder and a session of their own. Gives the events of it.
    async fn trouble(&self, folder: &str, turns: &[Trouble]) -> Result<Vec<Event>, TestCaseError> {
        for (number, name) in [(0, "a.txt"), (1, "b.txt")] {
            self.project.write(&format!("{folder}/{name}"), &text(number));
        }
        let session = self.client.new_session().await;
        let (mut made, mut log) = (1, Vec::new());
        for (as_they_come, calls, steps) in turns {
            let mut files = self.as_the_model_reads(folder, &session).await;
            let patches: Vec<String> = calls.iter().map(|call| patch(folder, &mut files, call, &mut made)).collect();
            let auto = json!({ "sessionId": session, "on": as_they_come, "scope": "session" });
            self.client.call::<methods::ReviewAuto>(auto).await;
            self.script.lock().unwrap().extend(patches.iter().map(|patch| vec![patch.clone()]));
            self.client.prompt(&session, "Change the files.").await;
            log.extend(self.client.until_end(&session, StopReason::EndTurn).await);
            for step in steps {
                log.extend(self.step(folder, &session, *step, &mut made).await);
            }
        }
        // A last turn, which is told all that there is to tell.
        self.client.prompt(&session, "And?").await;
        log.extend(self.client.until_end(&session, StopReason::EndTurn).await);
        match untold(&log) {
            Some(untold) => Err(TestCaseError::fail(format!("{untold}\nafter {turns:#?}\n{log:#?}"))),
            None => Ok(log),
        }
    }

    /// Makes something happen between turns. Gives the events that were waited for.
    async fn step(&self, folder: &str, session: &SessionId, step: Step, made: &mut usize) -> Vec<Event> {
        let mut log = Vec::new();
        match step {
            Step::Stranger { file, writes } => {
                let file = format!("{folder}/{}", NAMES[file % NAMES.len()]);
                *made += 1;
                match writes {
                    true => self.project.write(&file, &text(*made)),
                    false => drop(std::fs::remove_file(self.project.path(&file))),
                }
            }
            Step::Decision { which, accepts } => {
                let listed = self.listed(session).await.into_iter().enumerate();
                let chosen: Vec<_> = listed.filter(|(at, _)| which >> at & 1 == 1).map(|(_, it)| it).collect();
                let mut params = decision(session, &chosen);
                params["decision"] = json!(if accepts { "accept" } else { "reject" });
                // A hunk that is in conflict by now cannot be accepted, and then nothing is accepted.
                let Ok(decided) = self.client.request("azimuth/review/decide", params).await else { return log };
                let decided: ReviewResult = serde_json::from_value(decided).expect("what came of it");
                let on_its_way =
                    |it: &&Proposal| accepts && it.hunks.iter().any(|hunk| hunk.state == HunkState::Applying);
                for _ in decided.proposals.iter().filter(on_its_way) {
                    let applied = |event: &Event| matches!(event, Event::EditApplied { .. });
                    log.extend(self.client.until(session, "the edit", applied).await);
                }
            }
        }
        log
    }

    /// The files with what is pending in them.
    async fn as_the_model_reads(&self, folder: &str, session: &SessionId) -> Files {
        let mut files = self.files(folder);
        for proposal in self.listed(session).await {
            let Some(name) = NAMES.into_iter().find(|name| proposal.path == format!("{folder}/{name}")) else {
                continue;
            };
            let params = json!({ "sessionId": session, "proposalId": proposal.proposal_id });
            match self.client.call::<methods::ReviewText>(params).await.proposed {
                Some(text) => drop(files.insert(name, text)),
                None => drop(files.remove(name)),
            }
        }
        files
    }

    async fn turn(&self, session: &SessionId, accepting: Accepting, patches: &[String]) -> TurnId {
        let on = matches!(accepting, Accepting::AsTheyCome);
        let auto = json!({ "sessionId": session, "on": on, "scope": "session" });
        self.client.call::<methods::ReviewAuto>(auto).await;
        let at_once = if matches!(accepting, Accepting::EachAsItIsListed) { 1 } else { patches.len() };
        self.script.lock().unwrap().extend(patches.chunks(at_once).map(<[String]>::to_vec));
        let turn = self.client.prompt(session, "Change the files.").await;
        match accepting {
            Accepting::AsTheyCome => drop(self.client.until_end(session, StopReason::EndTurn).await),
            Accepting::EachAsItIsListed => self.accept_each(session).await,
            Accepting::AllAtTheEnd => {
                self.client.until_end(session, StopReason::EndTurn).await;
                self.accept_all(session).await;
            }
        }
        turn
    }

    /// Accepts what is listed until the turn is over, each by itself.
    async fn accept_each(&self, session: &SessionId) {
        let (mut has_ended, mut arriving, mut seen) = (false, BTreeSet::new(), BTreeSet::new());
        loop {
            let listed = if has_ended && arriving.is_empty() {
                // A proposal that is made again once the last has arrived is listed, too.
                let listed = self.listed(session).await;
                if listed.iter().all(|it| seen.contains(&(it.proposal_id.clone(), it.revision))) {
                    return;
                }
                listed
            } else {
                let waits = format!("the turn's end (has come: {has_ended}) and {arriving:?}");
                match self.client.event(session, &waits).await.event {
                    Event::TurnEnded { .. } => has_ended = true,
                    Event::EditApplied { hunk_ids, .. } => arriving.retain(|hunk| !hunk_ids.contains(hunk)),
                    Event::ProposalChanged { proposal } if is_pending(&proposal) => {
                        arriving.extend(self.accept_one(session, proposal, &mut seen).await);
                    }
                    _ => {}
                }
                continue;
            };
            for proposal in listed {
                arriving.extend(self.accept_one(session, proposal, &mut seen).await);
            }
        }
    }

    /// Accepts a proposal that was not seen so. Gives the hunks that are on their way by that.
    async fn accept_one(
        &self,
        session: &SessionId,
        proposal: Proposal,
        seen: &mut BTreeSet<(ProposalId, u64)>,
    ) -> Vec<HunkId> {
        if !seen.insert((proposal.proposal_id.clone(), proposal.revision)) {
            return Vec::new();
        }
        match self.client.request("azimuth/review/decide", decision(session, &[proposal])).await {
            Ok(decided) => {
                let decided: ReviewResult = serde_json::from_value(decided).expect("what came of it");
                let hunks = decided.proposals.into_iter().flat_map(|proposal| proposal.hunks);
                hunks.filter(|hunk| hunk.state == HunkState::Applying).map(|hunk| hunk.hunk_id).collect()
            }
            Err(error) => {
                assert!(EDITED_ON.contains(&error.code), "{error:?}");
                Vec::new()
            }
        }
    }

    /// The pending proposals.
    async fn listed(&self, session: &SessionId) -> Vec<Proposal> {
        let listed = self.client.call::<methods::ReviewList>(json!({ "sessionId": session })).await.proposals;
        listed.into_iter().filter(is_pending).collect()
    }

    async fn accept_all(&self, session: &SessionId) {
        let pending = self.listed(session).await;
        if pending.is_empty() {
            return;
        }
        self.client.call::<methods::ReviewDecide>(decision(session, &pending)).await;
        for _ in pending {
            self.client.until(session, "the edit", |event| matches!(event, Event::EditApplied { .. })).await;
        }
    }
}

/// A part of a call, as the log has it.
#[derive(Default)]
struct Part {
    path: String,
    calls: Vec<ToolCallId>,
    state: Option<HunkState>,
    /// True if the file that it was made in has gone.
    gone: bool,
    /// Where in the log it was made, and where it failed last.
    made: Option<usize>,
    failed: Option<(usize, String)>,
    /// True if its file was deleted since it was made.
    deleted: bool,
}

/// A call of which a part is made and another was accepted in vain, and of which the user or the model was not told
/// since.
fn untold(events: &[Event]) -> Option<String> {
    let mut parts = BTreeMap::<(ProposalId, HunkId), Part>::new();
    let (mut to_user, mut to_model) = (Vec::new(), Vec::new());
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::ProposalChanged { proposal } if !proposal.landed => {
                let there = |hunk: &HunkId| proposal.hunks.iter().any(|it| it.hunk_id == *hunk);
                parts.retain(|(of, hunk), _| *of != proposal.proposal_id || there(hunk));
                for hunk in &proposal.hunks {
                    let part = parts.entry((proposal.proposal_id.clone(), hunk.hunk_id.clone())).or_default();
                    (part.path, part.calls) = (proposal.path.clone(), hunk.tool_call_ids.clone());
                    part.state = Some(hunk.state);
                    part.gone = proposal.base_hash.is_none() && proposal.change != FileChange::Delete;
                }
            }
            Event::EditApplied { proposal_id, hunk_ids, outcome, uri, after, .. } => {
                let failed = matches!(outcome, ApplyOutcome::Failed { .. });
                for hunk in hunk_ids {
                    let part = parts.entry((proposal_id.clone(), hunk.clone())).or_default();
                    match outcome {
                        ApplyOutcome::Failed { reason } => part.failed = Some((at, reason.clone())),
                        _ => (part.made, part.failed, part.deleted) = (Some(at), None, false),
                    }
                }
                if !failed && after.is_none() {
                    let others = parts.iter_mut().filter(|((_, hunk), _)| !hunk_ids.contains(hunk));
                    others.filter(|(_, it)| uri.ends_with(&it.path)).for_each(|(_, it)| it.deleted = true);
                }
            }
            Event::Notice { text, .. } if text.contains("made only in part") => to_user.push((at, text.clone())),
            Event::Noted { text, .. } if text.contains("made only in part") => to_model.push((at, text.clone())),
            Event::ToolCallEnded { result, .. } if result.text.contains("made only in part") => {
                to_model.push((at, result.text.clone()));
            }
            _ => {}
        }
    }
    let waits = |part: &&Part| matches!(part.state, Some(HunkState::Pending | HunkState::Conflicted));
    for missing in parts.values().filter(waits) {
        let Some((failed, reason)) = &missing.failed else { continue };
        for call in &missing.calls {
            let is_made = |it: &&Part| it.calls.contains(call) && it.state == Some(HunkState::Accepted) && !it.gone;
            let made: Vec<_> = parts.values().filter(is_made).filter(|part| part.made.is_some()).collect();
            if made.iter().all(|part| part.deleted) {
                continue;
            }
            // It was told of with the first part, even if that one is deleted by now.
            let first = made.iter().filter_map(|part| part.made).min();
            let since = first.unwrap_or_default().max(*failed);
            let is_told =
                |told: &[(usize, String)]| told.iter().any(|(at, it)| *at > since && it.contains(&missing.path));
            if !is_told(&to_user) || !is_told(&to_model) {
                let whom = if is_told(&to_user) { "the model" } else { "the user" };
                return Some(format!("{whom} was not told of {call}: {} is missing ({reason})", missing.path));
            }
        }
    }
    None
}

fn is_pending(proposal: &Proposal) -> bool {
    !proposal.landed && proposal.hunks.iter().any(|hunk| hunk.state == HunkState::Pending)
}

fn decision(session: &SessionId, proposals: &[Proposal]) -> Value {
    let target = |it: &Proposal| json!({ "proposalId": it.proposal_id, "revision": it.revision });
    let targets: Vec<_> = proposals.iter().map(target).collect();
    json!({ "sessionId": session, "decision": "accept", "targets": targets })
}

/// A text that no other file has.
fn text(number: usize) -> String {
    format!("top\n{number}\nend\n")
}

/// A patch that does what was chosen, which the files are changed by.
fn patch(folder: &str, files: &mut Files, chosen: &[usize], made: &mut usize) -> String {
    let mut patch = "*** Begin Patch\n".to_owned();
    // A patch does one thing to a file.
    let mut left = NAMES.to_vec();
    for choice in chosen {
        let (there, free): (Vec<_>, Vec<_>) = left.iter().copied().partition(|name| files.contains_key(name));
        let mut can: Vec<(Option<&'static str>, Option<&'static str>, bool)> = Vec::new();
        can.extend(free.iter().map(|to| (None, Some(*to), true)));
        for from in there {
            can.extend([(Some(from), None, true), (Some(from), Some(from), true)]);
            can.extend(free.iter().flat_map(|to| [(Some(from), Some(*to), false), (Some(from), Some(*to), true)]));
        }
        if can.is_empty() {
            break;
        }
        let (from, to, changes) = can[choice % can.len()];
        left.retain(|name| Some(*name) != from && Some(*name) != to);
        let old = from.and_then(|from| files.remove(from));
        *made += 1;
        let new = if changes { text(*made) } else { old.clone().unwrap_or_default() };
        let lines = |mark: char, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        match (from, to) {
            (Some(from), None) => patch += &format!("*** Delete File: {folder}/{from}\n"),
            (Some(from), Some(to)) => {
                patch += &format!("*** Update File: {folder}/{from}\n");
                if from != to {
                    patch += &format!("*** Move to: {folder}/{to}\n");
                }
                if changes {
                    let old = old.unwrap_or_default();
                    patch += &format!("@@\n{}{}", lines('-', &old), lines('+', &new));
                }
            }
            (None, to) => patch += &format!("*** Add File: {folder}/{}\n{}", to.unwrap_or_default(), lines('+', &new)),
        }
        if let Some(to) = to {
            files.insert(to, new);
        }
    }
    patch + "*** End Patch\n"
}

#[tokio::test(flavor = "multi_thread")]
async fn chains_of_edits_leave_the_files_as_they_say_and_each_turn_can_be_taken_back() {
    let world = World::new().await;
    let accepting =
        prop::sample::select(vec![Accepting::AsTheyCome, Accepting::EachAsItIsListed, Accepting::AllAtTheEnd]);
    let call = prop::collection::vec(0usize..1000, 1..=2);
    let turns = prop::collection::vec((accepting, prop::collection::vec(call, 1..=4)), 1..=3);
    run(&world, &turns, async |folder, turns| world.case(&folder, &turns).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_call_ends_half_made_untold_whatever_is_rejected_and_whoever_else_writes_into_the_files() {
    let world = World::new().await;
    let call = prop::collection::vec(0usize..1000, 1..=3);
    let decision = (0usize..8, prop::bool::weighted(0.75));
    let step = prop_oneof![
        1 => (0..NAMES.len(), any::<bool>()).prop_map(|(file, writes)| Step::Stranger { file, writes }),
        3 => decision.prop_map(|(which, accepts)| Step::Decision { which, accepts }),
    ];
    let trouble = (prop::bool::weighted(0.25), prop::collection::vec(call, 1..=3), prop::collection::vec(step, 1..=5));
    run(&world, &prop::collection::vec(trouble, 1..=3), async |folder, turns| {
        world.trouble(&folder, &turns).await.map(drop)
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_part_need_not_be_told_of_again_when_another_one_is_deleted() {
    let world = World::new().await;
    // One call changes, makes and deletes a file. The deletion fails, which is told of with the new file. That is
    // deleted, and then the change is accepted.
    let stranger = Step::Stranger { file: 1, writes: true };
    let accepted = |which| Step::Decision { which, accepts: true };
    let first = (false, vec![vec![857, 0, 0]], vec![stranger, accepted(0b110)]);
    let second = (true, vec![vec![526]], vec![accepted(0b101)]);
    let log = world.trouble("case", &[first, second]).await.unwrap();
    let is_failure = |event: &Event| matches!(event, Event::EditApplied { outcome: ApplyOutcome::Failed { .. }, .. });
    assert!(log.iter().any(is_failure), "the deletion did not fail: {log:#?}");
    assert!(log.iter().any(|event| matches!(event, Event::Notice { text, .. } if text.contains("made only in part"))));
    world.client.waive("azimuth/event");
}

/// Tries random cases, each in a folder of its own.
fn run<S: Strategy>(world: &World, turns: &S, case: impl AsyncFn(String, S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases: 24, max_shrink_iters: 64, failure_persistence: None, ..Config::default() };
    let cases = AtomicUsize::new(0);
    let ran = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(turns, |turns| {
            let folder = format!("case{}", cases.fetch_add(1, Ordering::Relaxed));
            Handle::current().block_on(case(folder, turns))
        })
    });
    world.client.waive("azimuth/event");
    if let Err(error) = ran {
        panic!("{error}");
    }
}
