//! Chains of edits that make, change, move and delete the same few files, in one turn and over several, as a list of the
//! files in memory says they are: on disk after each turn, and after each undo.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::review::{HunkState, Proposal, ReviewResult};
use protocol::turn::StopReason;
use protocol::{Event, HunkId, ProposalId, SessionId, TurnId, methods};
use serde_json::{Value, json};
use tokio::runtime::Handle;

const NAMES: [&str; 3] = ["a.txt", "b.txt", "in/c.txt"];
/// What is answered where the agent edited on: the proposal has another revision, or is gone.
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
            // A call that a decision has overtaken is refused, all of it, and made again.
            if !asked.last_results().iter().any(|result| result.contains("has changed since it was read")) {
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
                // What is proposed again once the last has arrived is listed, too.
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

    /// What is pending.
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
    let config = Config { cases: 24, max_shrink_iters: 64, failure_persistence: None, ..Config::default() };
    let cases = AtomicUsize::new(0);
    let ran = tokio::task::block_in_place(|| {
        TestRunner::new(config).run(&turns, |turns| {
            let folder = format!("case{}", cases.fetch_add(1, Ordering::Relaxed));
            Handle::current().block_on(world.case(&folder, &turns))
        })
    });
    world.client.waive("azimuth/event");
    if let Err(error) = ran {
        panic!("{error}");
    }
}
