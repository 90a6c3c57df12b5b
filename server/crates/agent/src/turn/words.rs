//! The words of a turn to the user that are its own.

use protocol::Event;
use protocol::event::Severity;
use protocol::turn::StopReason;

use super::End;

/// That the model would not answer, for the user.
pub(super) fn refused(why: Option<String>) -> String {
    let why = why.map(|why| format!(": {}", why.trim_end_matches('.'))).unwrap_or_default();
    format!("The model would not answer{why}. Ask in another way, or choose another model with /model.")
}

/// Tells the user that only a part of a file is proposed.
pub(super) fn not_whole(path: &str) -> Event {
    let text = format!("{path} is not whole: the model's answers ended within it. What came of it is proposed.");
    Event::Notice { severity: Severity::Warning, text }
}

/// The end of a turn that failed, and why.
pub(super) fn failed(error: String) -> End {
    End { stop: StopReason::Error, error: Some(error) }
}
