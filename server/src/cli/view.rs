//! A session's events on a terminal, or piped: what a person reads of a headless turn.

use std::io::{self, Write};

use protocol::event::{ApplyOutcome, Severity};
use protocol::review::{HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, MessageId, ToolCallId};
use providers::cost::format_cost;

use super::style::Style;

/// The longest piece of a tool result's summary that is shown, in characters.
const SUMMARY: usize = 100;

/// Writes events as text.
pub(super) struct View<W> {
    out: W,
    style: Style,
    /// The message whose text was written last.
    message: Option<MessageId>,
    /// Whether the last thing written ended its line.
    at_line_start: bool,
    /// Whether commands' output is shown as it comes. Where it is not, it is shown plain when they have ended.
    live: bool,
    /// The calls that run a command.
    commands: Vec<ToolCallId>,
}

impl<W: Write> View<W> {
    /// A view of what has happened, without live output.
    pub(super) fn new(out: W, style: Style) -> Self {
        Self { out, style, message: None, at_line_start: true, live: false, commands: Vec::new() }
    }

    /// A view of what happens, on a terminal.
    pub(super) fn live(out: W, style: Style) -> Self {
        Self { live: true, ..Self::new(out, style) }
    }

    /// Whether commands' output is shown as it comes.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Writes what an event says to a person.
    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        let style = self.style;
        match event {
            Event::ModelChanged { model, scripted: true } => {
                self.line(&style.yellow(format!("{model} plays a script: no model is asked. All else is real.")))
            }
            Event::ModelChanged { model, .. } => self.line(&style.dim(format!("model {model}"))),
            Event::MessageDelta { message_id, text } => self.stream(message_id, text),
            Event::MessageDiscarded { .. } => self.line(&style.dim("(the answer broke off; asking again)")),
            Event::Retrying { attempt, delay_ms, reason, .. } => {
                let seconds = (delay_ms + 500) / 1000;
                self.line(&style.yellow(format!("{reason}; retry {attempt} in {seconds} s")))
            }
            Event::ToolCallStarted { title, .. } => self.line(&format!("{} {title}", style.cyan("●"))),
            Event::TerminalStarted { tool_call_id, .. } => {
                self.commands.push(tool_call_id.clone());
                Ok(())
            }
            Event::ToolCallEnded { result, summary, .. } => {
                if !self.live && self.commands.contains(&result.tool_call_id) {
                    self.line(result.text.trim_end())?;
                }
                let summary = if summary.is_empty() { first_line(&result.text) } else { summary.clone() };
                if summary.is_empty() {
                    return Ok(());
                }
                let mark = if result.is_error { style.red("  ✗") } else { style.dim("  └") };
                self.line(&format!("{mark} {}", style.dim(clip(&summary))))
            }
            Event::PermissionJudged { allowed: false, reason, .. } => {
                self.line(&style.red(format!("  not allowed: {reason}")))
            }
            Event::EditApplied { uri, outcome: ApplyOutcome::Failed { reason }, .. } => {
                self.line(&style.red(format!("  {uri} was not changed: {reason}")))
            }
            Event::Notice { severity, text } => self.line(&match severity {
                Severity::Info => style.dim(text),
                Severity::Warning => style.yellow(text),
                Severity::Error => style.red(text),
            }),
            Event::ContextTrimmed { tool_call_ids, .. } => {
                let count = tool_call_ids.len();
                self.line(&style.dim(format!("the context filled up: {count} old tool results were left out")))
            }
            Event::CommandExecuted { message, is_error, .. } => {
                self.line(&if *is_error { style.red(message) } else { message.clone() })
            }
            Event::TurnEnded { stop_reason, error, usage, cost, .. } => {
                if let Some(error) = error {
                    let paint = if *stop_reason == StopReason::Error { Style::red } else { Style::yellow };
                    self.line(&paint(style, error))?;
                }
                let input = usage.input + usage.cache_read + usage.cache_write;
                let cached =
                    if usage.cache_read > 0 { format!(" ({} cached)", usage.cache_read) } else { String::new() };
                let cost = cost.map_or_else(|| "cost unknown".into(), format_cost);
                self.line(&style.dim(format!("{input} tokens in{cached}, {} out, {cost}", usage.output)))
            }
            _ => Ok(()),
        }
    }

    /// Writes a proposal's pending hunks as a coloured diff.
    pub(super) fn diff(&mut self, proposal: &Proposal) -> io::Result<()> {
        let style = self.style;
        self.line(&style.bold(format!("  {}", proposal.path)))?;
        let pending = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending);
        let mut shift = 0;
        for hunk in pending {
            let (old, new) = (hunk.old_text.lines().count(), hunk.new_text.lines().count());
            let start = i64::from(hunk.start_line) + 1;
            let head = format!("  @@ -{start},{old} +{},{new} @@", start + shift);
            self.line(&style.cyan(head))?;
            for line in hunk.old_text.lines() {
                self.line(&style.red(format!("  -{line}")))?;
            }
            for line in hunk.new_text.lines() {
                self.line(&style.green(format!("  +{line}")))?;
            }
            shift += i64::try_from(new).unwrap_or(0) - i64::try_from(old).unwrap_or(0);
        }
        Ok(())
    }

    /// Writes bytes of a terminal as they are.
    pub(super) fn terminal(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.end_line()?;
        self.out.write_all(bytes)?;
        self.at_line_start = bytes.last().is_none_or(|byte| *byte == b'\n');
        self.out.flush()
    }

    /// Writes a line of its own.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        self.message = None;
        writeln!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Writes text and leaves the cursor behind it, for an answer.
    pub(super) fn prompt(&mut self, text: &str) -> io::Result<()> {
        self.end_line()?;
        write!(self.out, "{text}")?;
        self.at_line_start = false;
        self.out.flush()
    }

    /// Says that the user ended the line of a prompt.
    pub(super) fn answered(&mut self) {
        self.at_line_start = true;
    }

    fn stream(&mut self, message: &MessageId, text: &str) -> io::Result<()> {
        if self.message.as_ref() != Some(message) {
            self.end_line()?;
            self.message = Some(message.clone());
        }
        if text.is_empty() {
            return Ok(());
        }
        write!(self.out, "{text}")?;
        self.at_line_start = text.ends_with('\n');
        self.out.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            self.at_line_start = true;
            writeln!(self.out)?;
        }
        Ok(())
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().into()
}

fn clip(text: &str) -> String {
    match text.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.into(),
    }
}
