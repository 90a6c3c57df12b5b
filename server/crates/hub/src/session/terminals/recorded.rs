//! The log's record of the session's terminals, as a fold of its events.

use std::collections::HashMap;

use protocol::terminal::{RunningCommand, TerminalInfo, TerminalKind};
use protocol::{Event, TerminalId};
use shell::jobs::{MOST_ENDED, number as job_number};

use crate::clock::now;

/// The longest command line that a terminal's state says, in characters; its start says all of it.
const LONGEST_COMMAND: usize = 1000;

/// The log's record of the session's terminals.
#[derive(Debug, Default)]
pub(in crate::session) struct Recorded {
    /// The terminals, as last said; of jobs that ended the last ones.
    pub(super) terminals: HashMap<TerminalId, TerminalInfo>,
    /// The commands that run in them.
    pub(super) running: HashMap<TerminalId, RunningCommand>,
    /// The number of the last job.
    pub(in crate::session) last_job: u64,
}

impl Recorded {
    /// Takes in the next event.
    pub(in crate::session) fn apply(&mut self, event: &Event) {
        match event {
            Event::TerminalStarted { terminal_id, tool_call_id, command, .. } => {
                self.last_job = self.last_job.max(job_number(terminal_id).unwrap_or_default());
                let (tool_call_id, command) = (tool_call_id.clone(), bounded(command));
                let running = RunningCommand { tool_call_id, command, started_at: now() };
                self.running.insert(terminal_id.clone(), running);
            }
            Event::TerminalEnded { terminal_id, .. } => drop(self.running.remove(terminal_id)),
            Event::TerminalChanged { terminal } => {
                self.terminals.insert(terminal.terminal_id.clone(), (**terminal).clone());
                self.forget_oldest();
            }
            _ => {}
        }
    }

    /// The commands that run in the background.
    pub(in crate::session) fn jobs(&self) -> impl Iterator<Item = &TerminalInfo> {
        self.terminals.values().filter(|info| info.kind == TerminalKind::Job && info.alive)
    }

    fn forget_oldest(&mut self) {
        let ended = self.terminals.values().filter(|info| info.kind == TerminalKind::Job && !info.alive);
        if ended.clone().count() > MOST_ENDED
            && let Some(oldest) = ended.min_by_key(|info| job_number(&info.terminal_id))
        {
            let oldest = oldest.terminal_id.clone();
            self.terminals.remove(&oldest);
        }
    }
}

/// A command line, cut if it is very long.
pub(super) fn bounded(command: &str) -> String {
    match command.char_indices().nth(LONGEST_COMMAND) {
        Some((end, _)) => format!("{}…", command.get(..end).unwrap_or_default()),
        None => command.to_owned(),
    }
}
