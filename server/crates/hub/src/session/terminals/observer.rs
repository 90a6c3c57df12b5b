//! Has the session record where in a terminal each command begins and ends, and what is typed into it.

use std::path::Path;

use protocol::event::Severity;
use protocol::terminal::Typist;
use protocol::{Event, TerminalId, ToolCallId};
use shell::Observer;
use tokio::sync::mpsc;

use super::Message;
use crate::session::Own;

/// The observer of one terminal.
pub(super) struct Recorder {
    pub(super) own: mpsc::UnboundedSender<Own>,
    pub(super) terminal: TerminalId,
}

impl Recorder {
    fn record(&self, event: Event) {
        let _ = self.own.send(Own::Terminals(Message::Event(Box::new(event))));
    }
}

impl Observer for Recorder {
    fn started(&self, call: &ToolCallId, command: &str, cwd: &Path, offset: u64) {
        let (terminal_id, tool_call_id) = (self.terminal.clone(), call.clone());
        let (command, cwd) = (command.to_owned(), cwd.display().to_string());
        self.record(Event::TerminalStarted { terminal_id, tool_call_id, command, cwd, offset });
    }

    fn ended(&self, call: &ToolCallId, offset: u64, exit_code: Option<i32>) {
        let (terminal_id, tool_call_id) = (self.terminal.clone(), call.clone());
        self.record(Event::TerminalEnded { terminal_id, tool_call_id, offset, exit_code });
    }

    fn changed(&self) {
        let _ = self.own.send(Own::Terminals(Message::Changed(self.terminal.clone())));
    }

    fn said(&self, text: &str) {
        self.record(Event::Notice { severity: Severity::Warning, text: text.to_owned() });
    }

    fn typed(&self, call: Option<&ToolCallId>, by: Typist, text: &str, hidden: bool) {
        let (terminal_id, tool_call_id) = (self.terminal.clone(), call.cloned());
        self.record(Event::TerminalInput { terminal_id, tool_call_id, by, text: text.to_owned(), hidden });
    }
}
