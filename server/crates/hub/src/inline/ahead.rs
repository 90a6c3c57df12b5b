//! Looking ahead: while an edit is on the screen, the one after it is looked for as if it had been accepted. Only a
//! model of this machine is asked so, since most of these questions are for nothing.

use std::sync::Arc;

use inline::rebase::Hunk;
use ports::complete::Edited;
use protocol::inline::{InlineEditKind, Reason};
use tokio_util::sync::CancellationToken;

use super::Task;
use super::asked::{Asked, next_number};
use super::edits::{Ahead, Suggested, WaitingEdit};
use super::rewriting::{Found, Rewritten};
use crate::ClientId;

impl Task {
    /// Looks for the edit after one that is about to be suggested.
    pub(super) fn look_ahead(&mut self, suggested: &Suggested, asked: &Asked) {
        let client = suggested.key.0;
        self.edits.of(client).ahead = None;
        let is_local = self.source.edits.as_ref().is_ok_and(|model| model.info().is_local);
        let is_here = suggested.kind == InlineEditKind::Edit && *suggested.key.1 == *asked.document.uri;
        let all: Vec<_> = (0..suggested.pending.hunks().len()).collect();
        let Some(accepted) = suggested.pending.accept(&all).filter(|_| is_local && is_here) else { return };
        let (key, number, text) = (suggested.key.clone(), next_number(), Arc::<str>::from(accepted.text));
        let Some(mut work) = self.rewriting(&key, number, asked, Arc::clone(&text), accepted.cursor) else { return };
        // The problems that are known are those of the text as it is.
        work.version = None;
        let display = work.file.display.clone();
        for edit in edited(suggested.pending.text(), suggested.pending.hunks()) {
            work.own.push(Edited { path: String::new(), ..edit.clone() });
            work.history.push(Edited { path: display.clone(), ..edit });
        }
        let cancel = CancellationToken::new();
        let run = cancel.clone().drop_guard();
        self.edits.of(client).ahead = Some(Ahead { number, key, text, found: None, _run: run });
        tokio::spawn(async move {
            let _ = cancel.run_until_cancelled(work.run()).await;
        });
    }

    /// Has a request answered by what was looked for ahead, now or once it is there.
    pub(super) fn take_ahead(&mut self, mut waiting: WaitingEdit) {
        let client = waiting.asked.client;
        let of = self.edits.of(client);
        let Some(ahead) = of.ahead.as_mut() else { return };
        let (number, found) = (ahead.number, ahead.found.take());
        waiting.search = number;
        waiting.is_decided = true;
        of.waiting = Some(waiting);
        if let Some(found) = found {
            of.ahead = None;
            self.edit_answered(client, Rewritten { is_asked: true, ..Rewritten::new(number, found) });
        }
    }

    /// The request that an answer is for; none if nobody waits for it. One that was looked for ahead is kept then.
    pub(super) fn awaited_edit(
        &mut self,
        client: ClientId,
        number: u64,
        found: Result<Found, Reason>,
    ) -> Option<(Result<Found, Reason>, WaitingEdit)> {
        let of = self.edits.of(client);
        if let Some(waiting) = of.waiting.take_if(|waiting| waiting.search == number) {
            of.ahead.take_if(|ahead| ahead.number == number);
            return Some((found, waiting));
        }
        if let Some(ahead) = of.ahead.as_mut().filter(|ahead| ahead.number == number) {
            ahead.found = Some(found);
        }
        None
    }
}

/// The hunks of an edit as edits of the user's, in whole lines.
fn edited(text: &str, hunks: &[Hunk]) -> Vec<Edited> {
    let of_hunk = |hunk: &Hunk| {
        let start = text.get(..hunk.range.start)?.rfind('\n').map_or(0, |at| at + 1);
        let is_whole =
            hunk.range.start == start && (hunk.range.is_empty() || text.get(hunk.range.clone())?.ends_with('\n'));
        let rest = text.get(hunk.range.end..)?;
        let end = match is_whole && hunk.text.ends_with('\n') {
            true => hunk.range.end,
            false => rest.find('\n').map_or(text.len(), |at| hunk.range.end + at + 1),
        };
        let before = text.get(start..end)?.to_owned();
        let after = [text.get(start..hunk.range.start)?, &hunk.text, text.get(hunk.range.end..end)?].concat();
        let line = text.get(..start)?.matches('\n').count();
        Some(Edited { path: String::new(), line, before, after })
    };
    hunks.iter().filter_map(of_hunk).collect()
}
