//! The state of a turn while it is followed, and the exit code that it comes to.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol::event::ApplyOutcome;
use protocol::review::{HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, HunkId, ProposalId, SessionId};
use shell::Spool;
use tokio::time::Instant;

use crate::cli::questions::Decided;

/// Exit code where all was done.
const DONE: u8 = 0;
/// Exit code where something failed.
const FAILED: u8 = 1;
/// Exit code where something was refused.
const REFUSED: u8 = 3;
/// Exit code where the user cancelled.
pub(super) const CANCELLED: u8 = 130;
/// At most so many bytes of a terminal are written at once.
const PIECE: usize = 64 * 1024;
/// The time that accepted edits, or the results of slash commands, may take after everything else is over.
const LATE: Duration = Duration::from_secs(15);

/// The state of the turn.
pub(super) struct Watch {
    pub(super) session: SessionId,
    /// The folders it works in.
    pub(super) folders: Vec<PathBuf>,
    /// The number of the last event that was handled.
    pub(super) seq: u64,
    /// The proposals that were put to the user, by revision.
    pub(super) seen: HashSet<(ProposalId, u64)>,
    /// The answers on hunks, with the text that they had then.
    answers: HashMap<HunkId, Answer>,
    /// The terminal whose output is shown, and the offset up to which it was.
    pub(super) terminal: Option<(Arc<Spool>, u64)>,
    /// The files whose edits weigh more than those of sources, with whether one was accepted, and why they do.
    pub(super) weighty: BTreeMap<String, (bool, &'static str)>,
    /// True if something was denied or rejected.
    pub(super) refused: bool,
    /// True if the user asked to stop.
    pub(super) cancelled: bool,
    end: End,
    /// From when on nothing more is waited for; none while the turn runs.
    leave: Option<Instant>,
    /// Accepted hunks on their way into their document.
    arriving: HashSet<HunkId>,
    /// Accepted hunks that could not be put there, and were not later.
    failed: HashSet<(ProposalId, HunkId)>,
}

/// An answer on a hunk that replaces this text by that.
struct Answer {
    old_text: String,
    new_text: String,
    accepted: bool,
}

/// The end of the run.
enum End {
    /// The turn's end, which is still to come.
    Turn,
    /// The turn has ended.
    Ended(StopReason),
    /// The prompt held only slash commands, or was a command of the user's own: their results.
    Commands {
        /// True if there was one.
        any: bool,
        /// True if one failed.
        failed: bool,
    },
}

impl Watch {
    /// Nothing has happened after event number `seq`.
    pub(super) fn new(session: SessionId, folders: Vec<PathBuf>, seq: u64) -> Self {
        Self {
            session,
            folders,
            seq,
            seen: HashSet::new(),
            answers: HashMap::new(),
            terminal: None,
            weighty: BTreeMap::new(),
            refused: false,
            cancelled: false,
            end: End::Turn,
            leave: None,
            arriving: HashSet::new(),
            failed: HashSet::new(),
        }
    }

    /// There will be no turn: the prompt held only slash commands.
    pub(super) fn only_commands(&mut self) {
        self.end = End::Commands { any: false, failed: false };
        self.leave = Some(Instant::now() + LATE);
    }

    /// There will be no turn: the prompt is a command of the user's own, which takes the time that it takes.
    pub(super) fn only_a_command(&mut self) {
        self.end = End::Commands { any: false, failed: false };
    }

    /// Notes what an event says of how the run ends.
    pub(super) fn note(&mut self, event: &Event) {
        match event {
            Event::PermissionJudged { allowed: false, .. } => self.refused = true,
            Event::CommandExecuted { is_error, .. } => {
                if let End::Commands { any, failed } = &mut self.end {
                    *any = true;
                    *failed |= is_error;
                }
            }
            Event::UserCommandEnded { exit_code, .. } => {
                if let End::Commands { any, failed } = &mut self.end {
                    *any = true;
                    *failed |= *exit_code != Some(0);
                }
            }
            // A hunk that the agent took back or made anew did not fail.
            Event::ProposalChanged { proposal } => self.failed.retain(|(of, failed)| {
                *of != proposal.proposal_id || proposal.hunks.iter().any(|hunk| hunk.hunk_id == *failed)
            }),
            Event::EditApplied { proposal_id, hunk_ids, outcome, .. } => {
                for hunk in hunk_ids {
                    self.arriving.remove(hunk);
                    let hunk = (proposal_id.clone(), hunk.clone());
                    if matches!(outcome, ApplyOutcome::Failed { .. }) {
                        self.failed.insert(hunk);
                    } else {
                        self.failed.remove(&hunk);
                    }
                }
            }
            Event::TurnEnded { stop_reason, .. } => {
                self.end = End::Ended(*stop_reason);
                self.leave = Some(Instant::now() + LATE);
            }
            _ => {}
        }
    }

    /// The proposal without the hunks that were answered before and have not changed since, and those answers.
    pub(super) fn remembered(&self, proposal: &Proposal) -> (Proposal, Decided) {
        let (mut asked, mut decided) = (proposal.clone(), Decided::default());
        for hunk in asked.hunks.iter_mut().filter(|hunk| hunk.state == HunkState::Pending) {
            let answer = self.answers.get(&hunk.hunk_id);
            match answer.filter(|answer| answer.old_text == hunk.old_text && answer.new_text == hunk.new_text) {
                Some(Answer { accepted: true, .. }) => {
                    hunk.state = HunkState::Applying;
                    decided.accepted.push(hunk.hunk_id.clone());
                }
                Some(Answer { accepted: false, .. }) => {
                    hunk.state = HunkState::Rejected;
                    decided.rejected.push(hunk.hunk_id.clone());
                }
                None => {}
            }
        }
        (asked, decided)
    }

    /// Keeps what was answered on a proposal's hunks.
    pub(super) fn remember(&mut self, proposal: &Proposal, decided: &Decided) {
        for (hunks, accepted) in [(&decided.accepted, true), (&decided.rejected, false)] {
            for hunk in proposal.hunks.iter().filter(|hunk| hunks.contains(&hunk.hunk_id)) {
                let (old_text, new_text) = (hunk.old_text.clone(), hunk.new_text.clone());
                self.answers.insert(hunk.hunk_id.clone(), Answer { old_text, new_text, accepted });
            }
        }
    }

    /// Notes hunks that were accepted just now; the proposals say what became of them.
    pub(super) fn accepted(&mut self, hunks: &[HunkId], proposals: &[Proposal]) {
        let applying = proposals.iter().flat_map(|proposal| &proposal.hunks);
        let applying = applying.filter(|hunk| hunk.state == HunkState::Applying && hunks.contains(&hunk.hunk_id));
        self.arriving.extend(applying.map(|hunk| hunk.hunk_id.clone()));
    }

    /// Notes hunks that could not even be accepted.
    pub(super) fn not_accepted(&mut self, proposal: &ProposalId, hunks: Vec<HunkId>) {
        self.failed.extend(hunks.into_iter().map(|hunk| (proposal.clone(), hunk)));
    }

    /// The exit code, once everything is over. `last`: the number of the session's last event.
    pub(super) fn code(&self, last: u64) -> Option<u8> {
        match self.end {
            End::Turn => None,
            End::Commands { .. } if self.cancelled => Some(CANCELLED),
            End::Commands { any, failed } => (any && last == self.seq).then_some(if failed { FAILED } else { DONE }),
            End::Ended(_) if !self.arriving.is_empty() => None,
            // An edit that failed may be proposed again with what comes next.
            End::Ended(_) if !self.failed.is_empty() && last != self.seq => None,
            End::Ended(_) if self.cancelled => Some(CANCELLED),
            End::Ended(reason) => Some(match reason {
                StopReason::Cancelled => CANCELLED,
                StopReason::EndTurn if !self.failed.is_empty() => FAILED,
                StopReason::EndTurn if self.refused => REFUSED,
                StopReason::EndTurn => DONE,
                StopReason::MaxTokens
                | StopReason::MaxTurnRequests
                | StopReason::Refusal
                | StopReason::Error
                | StopReason::Interrupted => FAILED,
            }),
        }
    }

    /// Ends when nothing that is still on its way is waited for any more.
    pub(super) fn late(&self) -> impl Future<Output = ()> + use<> {
        let leave = self.leave;
        async move {
            match leave {
                None => std::future::pending().await,
                Some(leave) => tokio::time::sleep_until(leave).await,
            }
        }
    }

    /// The next bytes of the terminal, once there are any.
    pub(super) async fn output(&mut self) -> Vec<u8> {
        match &mut self.terminal {
            None => std::future::pending().await,
            Some((spool, shown)) => {
                let shown_before = *shown;
                // The spool lives as long as this handle to it.
                let _ = spool.watch().wait_for(|end| *end > shown_before).await;
                let (offset, bytes) = spool.read_from(*shown, PIECE);
                *shown = offset + bytes.len() as u64;
                bytes
            }
        }
    }

    /// The rest of a command's output when it has ended.
    pub(super) fn output_until(&mut self, end: u64) -> Option<Vec<u8>> {
        let (spool, shown) = self.terminal.take()?;
        let wanted = usize::try_from(end.saturating_sub(shown)).unwrap_or(usize::MAX);
        Some(spool.read_from(shown, wanted).1)
    }
}
