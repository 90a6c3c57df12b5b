//! A session's events on a terminal, or piped: what a person reads of a headless turn.

use std::io::{self, Write};

use hub::clock::now;
use hub::visible::{self, Colours, Pieces};
use project::paths;
use protocol::content::{PlanEntry, PlanEntryStatus, Usage};
use protocol::event::Severity;
use protocol::model::selector;
use protocol::review::{FileChange, Hunk, HunkState, Proposal};
use protocol::turn::StopReason;
use protocol::{Event, MessageId, TerminalId, ToolResult};
use providers::cost::format_cost;

use super::style::Style;
use crate::front::fold::{Entry, Fold, Ran};
use crate::front::words;

/// The longest piece of a tool result's summary that is shown, in characters.
const SUMMARY: usize = 100;

/// Writes events as text.
pub(super) struct View<W> {
    out: W,
    style: Style,
    fold: Fold,
    /// The message whose text was written last.
    message: Option<MessageId>,
    /// The part of its text that depends on what comes next.
    pieces: Pieces,
    /// True if a command's output was written last.
    in_output: bool,
    colours: Colours,
    /// True if the last thing written ended its line.
    at_line_start: bool,
    /// True if commands' output is shown as it comes. Where it is not, it is shown plain when they have ended.
    live: bool,
    /// True if a command's output was shown since the user's own command started.
    own_is_shown: bool,
    /// True if it says why a turn ended as it did.
    says_why: bool,
}

impl<W: Write> View<W> {
    /// A view of what has happened, without live output.
    pub(super) fn new(out: W, style: Style) -> Self {
        Self {
            out,
            style,
            fold: Fold::default(),
            message: None,
            pieces: Pieces::default(),
            in_output: false,
            colours: Colours::default(),
            at_line_start: true,
            live: false,
            own_is_shown: false,
            says_why: true,
        }
    }

    /// A view of what happens, on a terminal.
    pub(super) fn live(out: W, style: Style) -> Self {
        Self { live: true, ..Self::new(out, style) }
    }

    /// Leaves it to somebody else to say why a turn ended as it did.
    pub(super) fn without_why(self) -> Self {
        Self { says_why: false, ..self }
    }

    /// Writes a step of a plan.
    fn step(&mut self, entry: &PlanEntry) -> io::Result<()> {
        let (style, content) = (self.style, visible::line(&entry.content));
        self.line(&match entry.status {
            PlanEntryStatus::Pending => style.dim(format!("  ○ {content}")),
            PlanEntryStatus::InProgress => format!("  {} {content}", style.cyan("▸")),
            PlanEntryStatus::Completed => format!("  {} {}", style.green("✓"), style.dim(&content)),
        })
    }

    /// True if commands' output is shown as it comes.
    pub(super) fn is_live(&self) -> bool {
        self.live
    }

    /// Writes what an event says to a person. Nothing in it is obeyed by a terminal.
    pub(super) fn event(&mut self, event: &Event) -> io::Result<()> {
        // Text comes in pieces, and a character in it may belong to the one before.
        let is_piece = matches!(event, Event::MessageDelta { .. });
        let visible = if is_piece { None } else { Some(visible::within(event)?) };
        let entry = self.fold.take(visible.as_ref().unwrap_or(event));
        entry.map_or(Ok(()), |entry| self.entry(entry))
    }

    fn entry(&mut self, entry: Entry<'_>) -> io::Result<()> {
        let style = self.style;
        match entry {
            Entry::Said { message, text } => self.stream(message, text),
            Entry::Completed { message, unsaid } => unsaid.into_iter().try_for_each(|text| self.stream(message, text)),
            Entry::Model { id, scripted: true, .. } => {
                self.line(&style.yellow(format!("{id} plays a script: no model is asked. Everything else is real.")))
            }
            Entry::Model { id, level, scripted: false } => {
                self.line(&style.dim(format!("model {}", selector(id, level))))
            }
            Entry::CutOff => self.line(&style.dim("(the answer was cut off; asking again)")),
            Entry::Retrying { attempt, of, delay, reason } => {
                self.line(&style.yellow(words::of_retry(attempt, of, delay, reason)))
            }
            Entry::Switched(switch) => self.line(&style.yellow(words::of_switch(&switch, now()))),
            Entry::CallStarted { title } => self.line(&format!("{} {}", style.cyan("●"), visible::line(title))),
            Entry::ChildAsks { child, model } => {
                self.line(&style.dim(format!("  asks {}, in conversation {child}", visible::line(model))))
            }
            Entry::ChildCalls { title } => self.line(&style.dim(format!("  · {}", visible::line(title)))),
            Entry::Planned(steps) => steps.into_iter().try_for_each(|step| self.step(step)),
            Entry::CallEnded { result, summary, ran, .. } => self.call_ended(result, summary, ran),
            // The state of a job when its start was told is in what the call printed.
            Entry::Job { words, start_is_told: true } => self.line(&style.dim(visible::line(&words))),
            Entry::Denied { reason } => self.line(&style.red(format!("  not allowed: {reason}"))),
            Entry::NotApplied { uri, reason } => {
                let path = paths::from_uri(uri).map_or_else(|_| uri.to_owned(), |path| path.display().to_string());
                self.line(&style.red(format!("  {} was not changed: {reason}", visible::line(&path))))
            }
            Entry::Notice { severity, text } => self.line(&match severity {
                Severity::Info => style.dim(text),
                Severity::Warning => style.yellow(text),
                Severity::Error => style.red(text),
            }),
            Entry::Trimmed { calls } => {
                self.line(&style.dim(format!("the context filled up: {calls} old tool results were left out")))
            }
            Entry::Compacting => {
                self.line(&style.dim("a handover is written for the earlier part of the conversation"))
            }
            Entry::Compacted(compaction) => {
                self.line(&style.dim(words::of_handover(compaction)))?;
                let written = compaction.written.as_deref().unwrap_or_default();
                written.lines().try_for_each(|line| self.line(&style.dim(format!("  {line}"))))
            }
            Entry::HandoverChanged { is_back } => self.line(&style.dim(words::of_changed_handover(is_back))),
            Entry::Command { message, is_error } => {
                self.line(&if is_error { style.red(message) } else { message.to_owned() })
            }
            Entry::OwnStarted { .. } => {
                self.own_is_shown = false;
                Ok(())
            }
            Entry::OwnEnded { text, exit_code, .. } => {
                let unseen = if self.own_is_shown { notes(text) } else { text };
                if !unseen.is_empty() {
                    self.line(unseen)?;
                }
                match exit_code {
                    Some(0) => Ok(()),
                    _ => self.line(&style.red(words::of_exit(exit_code))),
                }
            }
            Entry::TurnEnded { reason, error, usage, cost, is_unpriced } => {
                if let Some(error) = error.filter(|_| self.says_why) {
                    let paint = if reason == StopReason::Error { Style::red } else { Style::yellow };
                    self.line(&paint(style, error))?;
                }
                self.spent(usage, cost, is_unpriced)
            }
            // The user has typed the prompt and the answers here, and what is proposed is shown when it is asked about.
            Entry::TurnStarted { .. }
            | Entry::Steered { .. }
            | Entry::Asked(_)
            | Entry::Answered { .. }
            | Entry::Proposal(_)
            | Entry::Accepting(_)
            | Entry::FilesChanged { .. }
            | Entry::Restored { .. }
            | Entry::Job { start_is_told: false, .. } => Ok(()),
        }
    }

    /// Writes what a call came to: what its command printed, if that was not shown as it came, and a summary that says
    /// more than that.
    fn call_ended(&mut self, result: &ToolResult, summary: &str, ran: Option<Ran>) -> io::Result<()> {
        let summary = if summary.is_empty() { first_line(&result.text) } else { visible::line(summary).into_owned() };
        let mut said = summary.is_empty();
        let is_printed = match ran {
            Some(Ran::Command) => !self.live,
            Some(Ran::Job) => true,
            None => false,
        };
        if is_printed {
            let text = result.text.trim_end();
            self.line(text)?;
            said |= text.lines().last().is_some_and(|last| last.contains(&summary));
        }
        if said {
            return Ok(());
        }
        let mark = if result.is_error { self.style.red("  ✗") } else { self.style.dim("  └") };
        self.line(&format!("{mark} {}", self.style.dim(clip(&summary))))
    }

    /// Writes what a turn took, and once that its price is not known.
    fn spent(&mut self, usage: Usage, cost: Option<f64>, is_unpriced: bool) -> io::Result<()> {
        let input = usage.input + usage.cache_read + usage.cache_write;
        let cached = if usage.cache_read > 0 { format!(" ({} cached)", usage.cache_read) } else { String::new() };
        let cost = match cost {
            Some(cost) if is_unpriced => {
                format!(", {}, not counting a model whose price is unknown", format_cost(cost))
            }
            Some(cost) => format!(", {}", format_cost(cost)),
            None if is_unpriced => ", cost unknown: the model has no known price".into(),
            None => String::new(),
        };
        self.line(&self.style.dim(format!("{input} tokens in{cached}, {} out{cost}", usage.output)))
    }

    /// Writes a proposal's pending hunks as a coloured diff. Where there are several, each has its number.
    pub(super) fn diff(&mut self, proposal: &Proposal) -> io::Result<()> {
        let style = self.style;
        let change = match proposal.change {
            FileChange::Create => " (new file)",
            FileChange::Modify => "",
            FileChange::Delete => " (deleted)",
        };
        self.line(&format!("  {}{change}", style.bold(visible::line(&proposal.path))))?;
        let count = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
        let (mut number, mut shift) = (0, 0);
        // A hunk on its way moves those below it as much as one that waits.
        let open = |state| matches!(state, HunkState::Pending | HunkState::Applying);
        for hunk in proposal.hunks.iter().filter(|hunk| open(hunk.state)) {
            if hunk.state == HunkState::Pending {
                number += 1;
                let of = if count > 1 { format!(" {number} of {count}") } else { String::new() };
                self.line(&style.cyan(format!("  {}{of}", head(hunk, shift))))?;
                self.side(' ', hunk.line_before.as_deref().unwrap_or_default(), |_, line| line)?;
                self.side('-', &hunk.old_text, Style::red)?;
                self.side('+', &hunk.new_text, Style::green)?;
                self.side(' ', hunk.line_after.as_deref().unwrap_or_default(), |_, line| line)?;
            }
            shift += lines(&hunk.new_text) - lines(&hunk.old_text);
        }
        Ok(())
    }

    /// Writes lines of one side of a diff.
    fn side(&mut self, mark: char, text: &str, paint: fn(Style, String) -> String) -> io::Result<()> {
        for line in text.lines() {
            self.line(&paint(self.style, format!("  {mark}{}", visible::line(line))))?;
        }
        if mark != ' ' && !text.is_empty() && !text.ends_with('\n') {
            self.line(&self.style.dim("  \\ No newline at end of file"))?;
        }
        Ok(())
    }

    /// Writes a command's output, with its colours and nothing else that a terminal would obey.
    pub(super) fn terminal(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.in_output {
            self.end_line()?;
            self.in_output = true;
            self.colours.begin_line();
        }
        let shown = self.colours.push(bytes);
        self.own_is_shown = true;
        self.out.write_all(shown.as_bytes())?;
        self.at_line_start = self.colours.is_at_line_start();
        self.out.flush()
    }

    /// Writes a line of its own, as it is: what is not ours in it has been made visible.
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
            self.pieces = Pieces::default();
        }
        let shown = self.pieces.push(text);
        if shown.is_empty() {
            return Ok(());
        }
        self.out.write_all(shown.as_bytes())?;
        self.at_line_start = shown.ends_with('\n');
        self.out.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.in_output = false;
        // The next text is not painted by a command, nor hidden.
        write!(self.out, "{}", self.colours.pause())?;
        if !self.at_line_start {
            self.at_line_start = true;
            writeln!(self.out)?;
        }
        Ok(())
    }
}

/// The head of a hunk with its lines of context, as `diff -u` counts. `shift`: the lines that the hunks above add.
fn head(hunk: &Hunk, shift: i64) -> String {
    let before = i64::from(hunk.line_before.is_some());
    let context = before + i64::from(hunk.line_after.is_some());
    let (old, new) = (lines(&hunk.old_text) + context, lines(&hunk.new_text) + context);
    let above = i64::from(hunk.start_line) - before;
    // A side without lines is named by the line above it.
    let first = |above: i64, count: i64| above + i64::from(count > 0);
    format!("@@ -{},{old} +{},{new} @@", first(above, old), first(above + shift, new))
}

fn lines(text: &str) -> i64 {
    i64::try_from(text.lines().count()).unwrap_or(i64::MAX)
}

/// The lines in brackets at the end, which are ours and not the command's.
fn notes(text: &str) -> &str {
    let is_note = |line: &&str| line.starts_with('[') && line.trim_end().ends_with(']');
    let length: usize = text.split_inclusive('\n').rev().take_while(is_note).map(str::len).sum();
    text.get(text.len() - length..).unwrap_or_default()
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

/// True if a terminal is that of a command in the background.
pub(super) fn is_job(terminal: &TerminalId) -> bool {
    shell::jobs::number(terminal).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunk(start_line: u32, old_text: &str, new_text: &str, around: [Option<&str>; 2]) -> Hunk {
        let [line_before, line_after] = around.map(|line| line.map(str::to_owned));
        Hunk {
            hunk_id: protocol::HunkId::new(format!("h{start_line}")),
            tool_call_ids: Vec::new(),
            start_line,
            old_text: old_text.into(),
            new_text: new_text.into(),
            line_before,
            line_after,
            anchor: None,
            state: HunkState::Pending,
            comments: Vec::new(),
            untold_comments: 0,
        }
    }

    fn shown(change: FileChange, hunks: Vec<Hunk>) -> String {
        let proposal = Proposal {
            proposal_id: "p".into(),
            revision: 1,
            uri: "file:///w/a.txt".into(),
            path: "a.txt".into(),
            change,
            hunks,
            base_hash: None,
            moved_to: None,
            landed: false,
        };
        let mut out = Vec::new();
        View::new(&mut out, Style::PLAIN).diff(&proposal).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_plan_shows_its_steps_and_then_how_they_go_on() {
        let entry = |content: &str, status| PlanEntry { content: content.into(), status };
        let plan = |entries: Vec<_>| Event::PlanUpdated { turn_id: "t".into(), entries, by_user: false };
        let mut out = Vec::new();
        let mut view = View::new(&mut out, Style::PLAIN);
        let second = entry("Mend it", PlanEntryStatus::Pending);
        view.event(&plan(vec![entry("Find \u{1b}[2Kit", PlanEntryStatus::InProgress), second.clone()])).unwrap();
        view.event(&plan(vec![entry("Find \u{1b}[2Kit", PlanEntryStatus::Completed), second])).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown, "  ▸ Find \\u{1b}[2Kit\n  ○ Mend it\n  ✓ Find \\u{1b}[2Kit\n");
    }

    #[test]
    fn a_call_shows_whom_it_asks_and_what_is_done_for_it_each_in_one_line() {
        let worked = |doing: Option<&str>| Event::ChildWorked {
            turn_id: "t".into(),
            tool_call_id: "c".into(),
            child: "abc123".into(),
            model: "wi\nse".into(),
            rounds: 0,
            doing: doing.map(str::to_owned),
            usage: Usage::default(),
            cost: None,
        };
        let mut out = Vec::new();
        let mut view = View::new(&mut out, Style::PLAIN);
        [None, Some("Reading\na.txt")].into_iter().for_each(|doing| view.event(&worked(doing)).unwrap());
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown, "  asks wi\\nse, in conversation abc123\n  · Reading\\na.txt\n");
    }

    #[test]
    fn the_output_of_a_command_of_the_users_own_is_shown_once() {
        let started = Event::UserCommandStarted { tool_call_id: "u".into(), command: "ls".into(), in_context: true };
        let ended = |exit_code| Event::UserCommandEnded {
            tool_call_id: "u".into(),
            text: "a.txt\n[The shell ended too.]".into(),
            exit_code,
            duration_ms: 1,
        };
        let mut out = Vec::new();
        let mut view = View::live(&mut out, Style::PLAIN);
        view.event(&started).unwrap();
        view.terminal(b"a.txt\n").unwrap();
        view.event(&ended(Some(2))).unwrap();
        view.event(&started).unwrap();
        view.event(&ended(Some(0))).unwrap();
        let expected = "a.txt\n[The shell ended too.]\nexit code 2\na.txt\n[The shell ended too.]\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected, "the second time it was not seen as it came");
    }

    #[test]
    fn that_a_price_is_not_known_is_said_once_for_each_model() {
        let model = |id: &str| Event::ModelChanged {
            model: id.into(),
            scripted: false,
            thinking: None,
            by_default: false,
            chain: None,
        };
        let end = |input, cost| Event::TurnEnded {
            turn_id: "t".into(),
            stop_reason: StopReason::EndTurn,
            error: None,
            usage: Usage { input, ..Default::default() },
            cost,
            new_errors: None,
        };
        let mut out = Vec::new();
        let mut view = View::new(&mut out, Style::PLAIN);
        let events = [end(0, None), end(1, None), end(2, None), model("b"), end(3, None), end(4, Some(0.5))];
        events.iter().for_each(|event| view.event(event).unwrap());
        let shown = String::from_utf8(out).unwrap();
        let expected = "0 tokens in, 0 out\n1 tokens in, 0 out, cost unknown: the model has no known price\n\
                        2 tokens in, 0 out\nmodel b\n3 tokens in, 0 out, cost unknown: the model has no known price\n\
                        4 tokens in, 0 out, $0.500\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_diff_counts_lines_as_diff_does() {
        let hunks = vec![
            hunk(0, "", "new\n", [None, Some("one\n")]),
            hunk(2, "three\n", "3\n3a\n", [Some("two\n"), Some("four\n")]),
            hunk(9, "ten\n", "ten", [Some("nine\n"), None]),
        ];
        let expected = "  a.txt\n\
                        \x20 @@ -1,1 +1,2 @@ 1 of 3\n  +new\n   one\n\
                        \x20 @@ -2,3 +3,4 @@ 2 of 3\n   two\n  -three\n  +3\n  +3a\n   four\n\
                        \x20 @@ -9,2 +11,2 @@ 3 of 3\n   nine\n  -ten\n  +ten\n  \\ No newline at end of file\n";
        assert_eq!(shown(FileChange::Modify, hunks), expected);
    }

    #[test]
    fn a_new_file_begins_at_line_one_and_a_deleted_one_leaves_none() {
        let made = shown(FileChange::Create, vec![hunk(0, "", "one\n", [None, None])]);
        assert_eq!(made, "  a.txt (new file)\n  @@ -0,0 +1,1 @@\n  +one\n");
        let gone = shown(FileChange::Delete, vec![hunk(0, "one\n", "", [None, None])]);
        assert_eq!(gone, "  a.txt (deleted)\n  @@ -1,1 +0,0 @@\n  -one\n");
    }

    #[test]
    fn a_hunk_on_its_way_moves_those_below_it() {
        let applying = Hunk { state: HunkState::Applying, ..hunk(0, "", "a\nb\n", [None, None]) };
        let text = shown(FileChange::Modify, vec![applying, hunk(4, "five\n", "5\n", [None, None])]);
        assert_eq!(text, "  a.txt\n  @@ -5,1 +7,1 @@\n  -five\n  +5\n");
    }

    #[test]
    fn control_characters_cannot_hide_what_is_proposed() {
        let text = shown(FileChange::Modify, vec![hunk(0, "a\n", "\tevil\x1b[2K\rgood\n", [None, None])]);
        assert!(text.ends_with("  +\tevil\\u{1b}[2K\\rgood\n"), "{text}");
    }
}
