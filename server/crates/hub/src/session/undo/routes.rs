//! The session's handling of the requests about checkpoints, and of the outcome of an undo or redo.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;
use project::buffers::Open;
use protocol::checkpoint::{
    Checkpoint, CheckpointListParams, CheckpointListResult, CheckpointPreviewParams, CheckpointPreviewResult,
    CheckpointRestoreResult, Direction, RestoreOutcome,
};
use protocol::review::{Decision, ReviewDecideParams};
use protocol::{ErrorCode, Event, TurnId, methods};
use serde_json::json;

use super::files::{Gone, go, looked_at};
use super::{Held, Restored, Restoring};
use crate::request::Handlers;
use crate::session::edits::Carrier;
use crate::session::{Caller, Own, Session};
use crate::{Error, Reply};

/// The number of turns that are listed if nothing is said.
const LISTED: usize = 20;
/// The reason that is given for the rejected hunks of turns that are undone.
const TAKEN_BACK: &str = "the user took the whole turn back";

/// Registers the requests about checkpoints.
pub(in crate::session) fn register(handlers: &mut Handlers<Session, Caller>) {
    handlers
        .on::<methods::CheckpointList>(|session, _, params, reply| session.list_checkpoints(&params, reply))
        .on::<methods::CheckpointPreview>(|session, _, params, reply| session.preview(&params, reply))
        .on::<methods::CheckpointUndo>(|session, _, params, reply| {
            session.restore_files(Restoring { direction: Direction::Undo, params, reply });
        })
        .on::<methods::CheckpointRedo>(|session, _, params, reply| {
            session.restore_files(Restoring { direction: Direction::Redo, params, reply });
        });
}

impl Session {
    fn list_checkpoints(&self, params: &CheckpointListParams, reply: Reply<CheckpointListResult>) {
        let limit = params.limit.map_or(LISTED, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let mut turns = self.state.checkpoints.changing();
        let more = turns.len() > limit;
        turns.truncate(limit);
        let checkpoints = self.state.checkpoints.clone();
        self.look(reply, move |carrier| {
            let of_turn = |turn_id: TurnId| {
                let turns = std::slice::from_ref(&turn_id);
                let mut files = looked_at(carrier, Direction::Undo, checkpoints.ways(Direction::Undo, turns));
                let undone = checkpoints.ways(Direction::Redo, turns).into_iter();
                let undone = undone.filter(|way| files.iter().all(|file| file.uri != way.uri)).collect();
                files.extend(looked_at(carrier, Direction::Redo, undone));
                files.sort_by(|a, b| a.path.cmp(&b.path));
                Checkpoint { turn_id, files }
            };
            CheckpointListResult { turns: turns.into_iter().map(of_turn).collect(), more }
        });
    }

    fn preview(&self, params: &CheckpointPreviewParams, reply: Reply<CheckpointPreviewResult>) {
        let direction = params.direction;
        let turn_ids = match self.turns_meant(direction, params.turn_id.as_ref(), params.and_later) {
            Ok(turn_ids) => turn_ids,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let undecided = self
            .edits
            .undecided_of(&turn_ids, &self.state.checkpoints)
            .into_iter()
            .filter(|_| direction == Direction::Undo);
        let pending: usize = undecided.filter_map(|target| target.hunk_ids).map(|ids| ids.len()).sum();
        let pending_hunks = u32::try_from(pending).unwrap_or(u32::MAX);
        let ways = self.state.checkpoints.ways(direction, &turn_ids);
        self.look(reply, move |carrier| {
            let files = looked_at(carrier, direction, ways);
            CheckpointPreviewResult { turn_ids, files, pending_hunks }
        });
    }

    /// Answers with what a look at files comes to, off this task.
    fn look<T: Send + 'static>(&self, reply: Reply<T>, look: impl FnOnce(&Carrier) -> T + Send + 'static) {
        let carrier = self.carrier();
        tokio::task::spawn_blocking(move || drop(reply.send(Ok(look(&carrier)))));
    }

    /// Takes up an undo or redo, unless a turn runs.
    fn restore_files(&mut self, restoring: Restoring) {
        if let Some(turn) = &self.state.open_turn {
            let text = "a turn is running in this session, and may be changing files: cancel it first, or let it end";
            let error = Error::new(ErrorCode::TurnRunning, text).with_data(json!({ "turnId": turn.id }));
            return drop(restoring.reply.send(Err(error)));
        }
        self.undo.take_up(restoring);
        // The change that a formatter would make is not waited for.
        self.settle();
    }

    /// Begins the undo or redo that waits, once no accepted hunk is on its way into a file, and what commands changed
    /// is recorded, which would else hold what the undo itself writes.
    pub(in crate::session) fn restore_if_settled(&mut self) {
        if self.edits.are_applying() || self.watch.is_looking() {
            return;
        }
        let Some(Restoring { direction, params, reply }) = self.undo.begin() else { return };
        let turn_ids = match self.turns_meant(direction, params.turn_id.as_ref(), params.and_later) {
            Ok(turn_ids) => turn_ids,
            Err(error) => {
                let _ = reply.send(Err(error));
                return self.go_on_with_held();
            }
        };
        if direction == Direction::Undo {
            self.reject_undecided_of(&turn_ids);
        }
        let ways = self.state.checkpoints.ways(direction, &turn_ids);
        let (carrier, own, confirmed) = (self.carrier(), self.work.own.clone(), params.confirmed);
        tokio::spawn(async move {
            let mut files = Vec::new();
            for way in ways {
                let going = AssertUnwindSafe(go(&carrier, &way, &confirmed)).catch_unwind();
                files.push(going.await.unwrap_or_else(|_| {
                    let reason = "a fault in Azimuth; its log says more".into();
                    Gone::not(&carrier, &way, RestoreOutcome::Failed { reason })
                }));
            }
            files.sort_by(|a, b| a.file.path.cmp(&b.file.path));
            let _ = own.send(Own::Undo(Box::new(Restored { direction, turn_ids, files, reply })));
        });
    }

    /// Takes the news of an undo or redo, and goes on with what waited for it.
    pub(in crate::session) fn files_restored(&mut self, restored: Restored) {
        let Restored { direction, turn_ids, files, reply } = restored;
        let wire: Vec<_> = files.iter().map(|gone| gone.file.clone()).collect();
        if wire.iter().any(|file| !file.steps.is_empty()) {
            let (turn_ids, files) = (turn_ids.clone(), wire.clone());
            self.record(Event::CheckpointRestored { direction, turn_ids, files });
            self.reading.search.forget_files();
            self.edits.problems().edited();
        }
        let mut written = Vec::new();
        for gone in files.iter().filter(|gone| !gone.file.steps.is_empty()) {
            written.extend(gone.text.is_some().then(|| gone.path.clone()));
            if let Some(text) = &gone.text {
                // An editor has said what its documents are now, or will; nobody tells of the disk.
                let is_closed = matches!(self.reading.reader.buffers().get(&gone.path), Open::No);
                let now = is_closed.then_some(text.as_deref());
                let hashes = (gone.before.as_ref(), gone.after.as_ref());
                self.edits.restored(&gone.path, hashes, gone.was_clean, now);
            }
            if direction == Direction::Undo {
                self.edits.drop_landed(&gone.path, &turn_ids, &self.state.checkpoints);
            }
            self.edits.told(&gone.path);
        }
        self.shared.tell_servers(written);
        self.answer_when_stored(reply, Ok(CheckpointRestoreResult { turn_ids, files: wire }));
        self.go_on_with_held();
    }

    /// Nothing is taken back or put again any more.
    fn go_on_with_held(&mut self) {
        let held = self.undo.end();
        self.review_changed();
        for held in held {
            match held {
                Held::Request(caller, request) => self.request(caller, request),
                Held::Prepared(prepared) => self.prepared(prepared),
            }
        }
        if self.undo.take_next() {
            self.next_in_queue();
        }
        self.next_suggestion();
    }

    fn turns_meant(&self, direction: Direction, turn: Option<&TurnId>, and_later: bool) -> Result<Vec<TurnId>, Error> {
        let meant = self.state.checkpoints.meant(direction, turn, and_later);
        meant.ok_or_else(|| Error::not_found("turn", turn.map_or("", TurnId::as_str)))
    }

    fn reject_undecided_of(&mut self, turns: &[TurnId]) {
        let targets = self.edits.undecided_of(turns, &self.state.checkpoints);
        if targets.is_empty() {
            return;
        }
        let (session_id, message) = (self.id().clone(), Some(TAKEN_BACK.to_owned()));
        let params = ReviewDecideParams { session_id, decision: Decision::Reject, targets, message };
        if let Err(error) = self.decide(&params) {
            tracing::warn!(%error, "hunks of a turn that is undone could not be rejected");
        }
    }
}
