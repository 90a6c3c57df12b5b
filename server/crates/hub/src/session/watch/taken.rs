//! When the session looks at the project's files, and what it does with what was found.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use project::baseline::MAX_FILES;
use project::paths;
use protocol::event::Severity;
use protocol::mode::Runs;
use protocol::{Event, ToolCallId, TurnId};
use tokio::sync::oneshot;

use super::look::{SAVED_TOO, TOO_LATE};
use super::{COMPARING, Following, Found, Look, Message};
use crate::session::{Own, Session};

/// The most that a command waits until the files have been looked at, and that a look takes if nobody waits.
const LOOKING: Duration = Duration::from_secs(3);

/// The files as a command left them.
pub(in crate::session) struct AfterCommand {
    /// The texts of the files with pending hunks.
    texts: Vec<(PathBuf, Option<Arc<str>>)>,
    /// The changes that it made; `None` if these were not looked for.
    found: Option<Found>,
}

impl Session {
    /// Takes what comes back for the watch.
    pub(in crate::session) fn watch_message(&mut self, message: Message) {
        match message {
            Message::BeforeCommand(reply) => self.before_command(reply),
            Message::AfterCommand(turn, call, reply) => self.after_command(&turn, &call, reply),
            Message::Remembered(remembered, reply) => self.remembered(*remembered, reply),
            Message::Looked(found) => self.record_found(*found),
            Message::ReadAfterCommand(after, reply) => self.read_after_command(*after, reply),
            Message::LookEnded(number) => self.look_ended(number),
        }
    }

    /// A turn begins: what other programs change from here on is looked for, but where the agent only looks.
    pub(in crate::session) fn follow_turn(&mut self, turn: &TurnId) {
        self.watch.forget();
        if !self.reviews_others() || self.state.mode.runs() == Runs::Nothing {
            return;
        }
        let look = self.look_back(turn.clone(), Vec::new());
        self.follow_files(false);
        if self.watch.looks.are_on() {
            // That of the last turn's end remembers the files, too, and a command need not wait for both.
            return;
        }
        self.watch.begin_look(None, LOOKING, move |left| {
            let failed = left.is_none_or(|left| look.remember(left).is_err());
            Message::Looked(Box::new(Found { failed, ..Found::default() }))
        });
    }

    /// Looks at the project's files before a command, which waits for it a bounded time.
    fn before_command(&mut self, reply: oneshot::Sender<()>) {
        let (undo_commands, turn) = (self.config.undo_commands, self.state.last_turn());
        if !undo_commands {
            self.watch.forget();
            let _ = reply.send(());
            return;
        }
        let look = self.look_back(turn, Vec::new());
        // From here on: what others change while it is looked is not the command's either.
        self.follow_files(true);
        self.watch.begin_look(look.following.clone(), LOOKING, move |left| {
            let remembered = left.map_or_else(|| Err(TOO_LATE.to_owned()), |left| look.before_command(left));
            Message::Remembered(Box::new(remembered), reply)
        });
    }

    /// The files have been looked at, all of them or not, or could not be.
    fn remembered(&mut self, remembered: Result<(Found, bool), String>, reply: oneshot::Sender<()>) {
        let limit = match remembered {
            Ok((found, all)) => {
                self.record_found(found);
                (!all).then(|| format!("only the first {MAX_FILES} files of the project are followed"))
            }
            Err(error) => {
                // One that nobody waits for any more says nothing of the command that runs now.
                if !reply.is_closed() {
                    self.watch.forget();
                }
                Some(error)
            }
        };
        // Once: it is so with every command.
        if let Some(limit) = limit
            && !std::mem::replace(&mut self.watch.limit_told, true)
        {
            let text = format!("not all that commands change can be undone here: {limit}");
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        let _ = reply.send(());
    }

    /// Returns a look at the files after a command, once; `None` if they were not looked at before it. What other
    /// programs change from here on is looked for.
    fn look_after_command(&mut self, turn: &TurnId, call: &ToolCallId) -> Option<(Following, Look)> {
        let since = self.watch.since_command()?;
        let look = self.look_back(turn.clone(), vec![call.clone()]);
        if self.reviews_others() {
            self.follow_files(false);
        }
        Some((since, look))
    }

    /// Looks at all files with pending hunks again after a command, which may have changed any of them, and then at
    /// what the model has seen of other files.
    fn after_command(&mut self, turn: &TurnId, call: &ToolCallId, reply: oneshot::Sender<Vec<String>>) {
        self.watch.command_ended();
        let look = self.look_after_command(turn, call);
        // The look finds what becomes of what others changed.
        let paths = self.edits.undecided_files(look.is_none());
        let reader = Arc::clone(&self.reading.reader);
        let read = move |path: PathBuf| match reader.base_text(&path) {
            Ok(text) => Some((path, text)),
            Err(error) => {
                tracing::warn!(%error, "a file with pending hunks cannot be read");
                None
            }
        };
        // An undo waits for it, whatever comes of it.
        let texts = move || {
            let reading = || paths.into_iter().filter_map(read).collect();
            std::panic::catch_unwind(AssertUnwindSafe(reading)).unwrap_or_default()
        };
        match look {
            Some((since, look)) => self.watch.begin_look(Some(since), COMPARING, move |left| {
                let after = AfterCommand { texts: texts(), found: Some(look.find(left)) };
                Message::ReadAfterCommand(Box::new(after), reply)
            }),
            None => {
                let own = self.work.own.clone();
                tokio::task::spawn_blocking(move || {
                    let after = AfterCommand { texts: texts(), found: None };
                    let _ = own.send(Own::Watch(Message::ReadAfterCommand(Box::new(after), reply)));
                });
            }
        }
    }

    /// Takes the texts that a command left.
    fn read_after_command(&mut self, after: AfterCommand, reply: oneshot::Sender<Vec<String>>) {
        let AfterCommand { texts, found } = after;
        self.watch.command_compared();
        for (path, text) in texts {
            self.base_read(&path, text.as_deref());
        }
        if let Some(found) = found {
            self.record_found(found);
        }
        let (reader, roots, seen) =
            (Arc::clone(&self.reading.reader), Arc::clone(&self.reading.roots), self.reading.seen.clone());
        tokio::task::spawn_blocking(move || {
            let changed = seen.take_changed(&reader);
            let _ = reply.send(changed.iter().map(|path| roots.display(path)).collect());
        });
        self.restore_if_settled();
    }

    /// The turn has ended: what other programs changed since the last look is looked for.
    pub(in crate::session) fn look_after_turn(&mut self, turn: &TurnId) {
        if !self.watch.follows_others() || !self.reviews_others() {
            return;
        }
        let look = Look { until: self.state.turn_ended, ..self.look_back(turn.clone(), Vec::new()) };
        self.watch.begin_look(look.following.clone(), LOOKING, move |left| Message::Looked(Box::new(look.find(left))));
    }

    /// Lets go of a look whose result has been taken.
    fn look_ended(&mut self, number: u64) {
        self.watch.looks.ends.remove(&number);
        self.restore_if_settled();
    }

    /// Records what others changed, and lists it for review.
    fn record_found(&mut self, found: Found) {
        let Found { turn, call, mut files, mut landings, saves, warning, failed } = found;
        let touched: Vec<_> = files.iter().filter_map(|file| paths::from_uri(&file.uri).ok()).collect();
        self.shared.tell_servers(touched);
        // The editor may have said only after the look that it was the user.
        for (path, text) in saves.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let uri = paths::to_uri(path);
            landings.drop(path);
            files.retain_mut(|file| {
                if file.uri != uri || file.unknown.is_some() {
                    return true;
                }
                let is_all = text.as_ref().map(|text| &*text.0) == file.after.as_ref().map(|after| &*after.hash);
                (file.before, file.after, file.unknown) = (None, None, Some(SAVED_TOO.to_owned()));
                call.is_some() && !is_all
            });
        }
        if failed {
            self.watch.following.take_if(|following| !following.in_command);
        }
        if let Some(text) = warning {
            self.record(Event::Notice { severity: Severity::Warning, text });
        }
        let Some(turn_id) = turn else { return };
        if !files.is_empty() {
            self.record(Event::FilesChanged { turn_id: turn_id.clone(), tool_call_id: call, files });
            self.list_landed(&turn_id, landings);
        }
    }

    /// True if what others change is listed for review.
    fn reviews_others(&self) -> bool {
        self.config.undo_commands && self.config.review_commands
    }

    /// Follows what changes from here on.
    fn follow_files(&mut self, in_command: bool) {
        self.watch.follow(self.clients.all(), in_command);
        self.edits.on_their_way().for_each(|application| self.watch.changed_by_us(application));
        self.edits.mark();
    }

    /// A look at what has changed since the last one.
    fn look_back(&mut self, turn: TurnId, calls: Vec<ToolCallId>) -> Look {
        self.watch.look_back(turn, calls, self.clients.home().map(|home| home.id))
    }
}
