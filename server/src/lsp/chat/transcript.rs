//! A session's events as the Markdown of a chat document.
//!
//! Text is given out in whole lines, so that each edit of the document leaves it readable; the end of a message ends
//! its line.

use std::fmt::Write;

use hub::clock::now;
use protocol::checkpoint::{ChangedFile, Direction, RestoreOutcome, RestoredFile};
use protocol::content::{PlanEntry, PlanEntryStatus};
use protocol::event::Severity;
use protocol::permission::PermissionRequest;
use protocol::review::{AutoScope, HunkState, Proposal};
use protocol::{Event, MessageId, PromptBlock};

use super::document::{ANSWER, MARK, quoted};
use crate::front::fold::{Entry, Fold};
use crate::front::words;

/// The longest line of a model's that is written; editors are slow with longer ones.
const LONGEST_LINE: usize = 10_000;

/// Of what a command of the user's own printed so many lines are shown, the last ones.
const LAST_LINES: usize = 20;

/// Of files that others changed so many are named.
const MOST_NAMED: usize = 10;

/// The text to write of a session.
#[derive(Default)]
pub(super) struct Transcript {
    fold: Fold,
    /// Whole lines that wait to be written.
    ready: String,
    /// The begun line of the message that streams in.
    line: String,
    /// The message that streams in, or did last.
    message: Option<MessageId>,
    /// The ends of commands in the background between turns, where the next prompt is written.
    meanwhile: Vec<String>,
    /// True if the next prompt is the one that was sent from the document, and stands there already.
    is_own: bool,
}

impl Transcript {
    /// The next prompt stands in the document already.
    pub(super) fn sent(&mut self) {
        self.is_own = true;
    }

    /// The prompt was not taken.
    pub(super) fn not_sent(&mut self) {
        self.is_own = false;
    }

    /// The questions that stand.
    pub(super) fn questions(&self) -> &[PermissionRequest] {
        self.fold.questions()
    }

    /// True if the turn waits before it asks its model again.
    pub(super) fn waits(&self) -> bool {
        self.fold.waits()
    }

    /// True if the last turn broke off, and can be gone on with.
    pub(super) fn is_broken_off(&self) -> bool {
        self.fold.is_broken_off()
    }

    /// Writes a line of the document's own.
    pub(super) fn line(&mut self, line: &str) {
        self.paragraph(line);
    }

    /// Invites the next prompt.
    pub(super) fn mark(&mut self) {
        self.paragraph(MARK);
        self.ready.push('\n');
    }

    /// Puts other lines in place of those that are ready. The line that a message has begun goes on below them.
    pub(super) fn show(&mut self, with: impl FnOnce(&str) -> String) {
        self.ready = with(&self.ready);
    }

    /// Takes the lines that are ready.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.ready)
    }

    /// Says something of our own.
    pub(super) fn say(&mut self, words: &str) {
        self.paragraph(&format!("*{}*", flat(words)));
    }

    /// Says that turns were undone or redone.
    fn restored(&mut self, direction: Direction, files: &[RestoredFile]) {
        let what = match direction {
            Direction::Undo => "Undone",
            Direction::Redo => "Redone",
        };
        let (mut set, mut rest) = (0, String::new());
        for file in files {
            match &file.outcome {
                RestoreOutcome::Done | RestoreOutcome::Unverified => set += 1,
                RestoreOutcome::Left { reason } | RestoreOutcome::Failed { reason } => {
                    let _ = write!(rest, "; not {}: {reason}", file.path);
                }
            }
        }
        self.say(&format!("{what}: {set} of {} files{rest}", files.len()));
    }

    /// Takes what happened.
    pub(super) fn event(&mut self, event: &Event) {
        if let Some(entry) = self.fold.take(event) {
            self.entry(entry);
        }
    }

    fn entry(&mut self, entry: Entry<'_>) {
        match entry {
            Entry::TurnStarted { prompt } => self.turn_started(prompt),
            Entry::Steered { prompt } => {
                if !std::mem::take(&mut self.is_own) {
                    self.paragraph(&format!("> {}", flat(&in_words(prompt))));
                }
            }
            Entry::Said { message, text } => self.stream(message, text),
            Entry::Completed { message, unsaid } => {
                unsaid.into_iter().for_each(|text| self.stream(message, text));
                self.end_line();
            }
            Entry::CutOff => self.say("The answer was cut off; asking again."),
            Entry::Retrying { attempt, of, delay, reason } => self.say(&words::of_retry(attempt, of, delay, reason)),
            Entry::Switched(switch) => self.say(&words::of_switch(&switch, now())),
            Entry::Accepting(scope) => {
                // Between turns it would stand where the next prompt is written; whoever switches it there is told.
                if self.fold.is_in_turn() {
                    self.say_accepting(scope);
                }
            }
            Entry::Planned(steps) => steps.into_iter().for_each(|step| self.step(step)),
            Entry::CallEnded { title, result, summary, .. } => {
                let title = flat(title.as_deref().unwrap_or("a tool call"));
                let mark = if result.is_error { "✗ " } else { "" };
                let summary = if summary.is_empty() { String::new() } else { format!(": {}", flat(summary)) };
                self.item(&format!("{mark}{title}{summary}"));
            }
            Entry::Job { words, .. } => {
                let words = flat(&words);
                if self.fold.is_in_turn() { self.item(&words) } else { self.meanwhile.push(words) }
            }
            Entry::Asked(request) => self.asked(request),
            Entry::Answered { question, outcome } => {
                self.paragraph(&format!("> → {}", flat(&words::of_answer(&question, outcome))));
            }
            Entry::Denied { reason } => self.item(&format!("✗ {}", flat(reason))),
            Entry::Proposal(proposal) => self.proposed(proposal),
            Entry::FilesChanged { by_command, files } => self.changed(by_command, files),
            Entry::NotApplied { uri, reason } => {
                self.item(&format!("✗ {} was not changed: {}", flat(uri), flat(reason)));
            }
            Entry::Restored { direction, files } => self.restored(direction, files),
            Entry::Command { message, .. } => self.paragraph(&shown(message)),
            Entry::OwnStarted { typed } => {
                if !std::mem::take(&mut self.is_own) && !self.fold.is_in_turn() {
                    self.paragraph(MARK);
                    self.paragraph(shown(&typed).trim_start());
                }
            }
            Entry::OwnEnded { typed, text, exit_code, .. } => self.ran(&typed, text, exit_code),
            Entry::Notice { severity: Severity::Warning | Severity::Error, text } => self.say(text),
            Entry::Compacted(compaction) => {
                let can = "`/compact --correct <text>` replaces the notes, `/compact --undo` takes all of it back.";
                self.say(&format!("{} {can}", words::of_handover(compaction)));
                if let Some(written) = &compaction.written {
                    self.paragraph(&shown(written));
                }
            }
            Entry::HandoverChanged { is_back } => self.say(words::of_changed_handover(is_back)),
            Entry::TurnEnded { error, .. } => {
                self.end_line();
                if let Some(error) = error {
                    self.say(error);
                }
                self.mark();
            }
            Entry::ChildAsks { child, model } => self.item(&format!("asks {}, in conversation {child}", flat(model))),
            // A call stands here when it has ended; the others are no part of the conversation.
            Entry::CallStarted { .. }
            | Entry::ChildCalls { .. }
            | Entry::Model { .. }
            | Entry::Trimmed { .. }
            | Entry::Compacting
            | Entry::Notice { severity: Severity::Info, .. } => {}
        }
    }

    fn turn_started(&mut self, prompt: &[PromptBlock]) {
        if !std::mem::take(&mut self.is_own) && !prompt.is_empty() {
            self.paragraph(MARK);
            self.paragraph(in_words(prompt).trim_start());
        }
        self.paragraph(ANSWER);
        std::mem::take(&mut self.meanwhile).iter().for_each(|words| self.item(words));
        if let Some(scope) = self.fold.accepting() {
            self.say_accepting(Some(scope));
        }
    }

    /// Says what came of a command of the user's own, with the end of what it printed.
    fn ran(&mut self, typed: &str, text: &str, exit_code: Option<i32>) {
        let mut words = format!("> **{}**: {}\n", flat(typed), words::of_exit(exit_code));
        let text = shown(text);
        let skipped = text.lines().count().saturating_sub(LAST_LINES);
        if skipped > 0 {
            let _ = writeln!(words, ">     … ({skipped} more lines; the terminal has them)");
        }
        for line in text.lines().skip(skipped) {
            let _ = writeln!(words, ">     {line}");
        }
        self.paragraph(&words);
        if !self.fold.is_in_turn() {
            self.mark();
        }
    }

    /// Says whether edits wait for the user.
    fn say_accepting(&mut self, scope: Option<AutoScope>) {
        self.say(match scope {
            Some(AutoScope::Session) => "Edits are accepted automatically in this conversation.",
            Some(AutoScope::Project) => "Edits are accepted automatically in this project.",
            None => "Edits wait for your review.",
        });
    }

    fn step(&mut self, step: &PlanEntry) {
        let content = flat(&step.content);
        self.item(&match step.status {
            PlanEntryStatus::Pending => format!("[ ] {content}"),
            PlanEntryStatus::InProgress => format!("[ ] **now:** {content}"),
            PlanEntryStatus::Completed => format!("[x] {content}"),
        });
    }

    fn asked(&mut self, request: &PermissionRequest) {
        let options: Vec<_> = request.options.iter().map(|option| flat(&option.name)).collect();
        let mut words = format!("> **{}**\n", flat(&request.title));
        for line in shown(&request.detail).lines() {
            let _ = writeln!(words, ">     {line}");
        }
        let _ =
            write!(words, ">\n> ({}) Answer with a code action here: {}.", flat(&request.reason), options.join(" · "));
        self.paragraph(&words);
    }

    fn proposed(&mut self, proposal: &Proposal) {
        let pending = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
        let fresh = proposal.hunks.iter().any(|hunk| hunk.state != HunkState::Pending);
        // A decision shows in the document that it is about.
        if pending > 0 && !fresh && !proposal.landed {
            let changes = if pending == 1 { "1 change waits" } else { &format!("{pending} changes wait") };
            self.item(&format!("{}: {changes} for you, as hints with code actions in the file", flat(&proposal.path)));
        }
    }

    /// Says which files others changed. In the files themselves they are hints with code actions.
    fn changed(&mut self, is_command: bool, files: &[ChangedFile]) {
        // Between turns it would stand where the next prompt is written.
        if !self.fold.is_in_turn() {
            return;
        }
        let who = if is_command { "a command" } else { "another program" };
        let name = |file: &ChangedFile| flat(file.uri.rsplit('/').next().unwrap_or(&file.uri));
        let named: Vec<_> = files.iter().take(MOST_NAMED).map(name).collect();
        let more = files.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.item(&format!("{who} changed {}{more}", named.join(", ")));
    }

    fn stream(&mut self, message: &MessageId, text: &str) {
        if self.message.as_ref() != Some(message) {
            self.end_line();
            self.gap();
            self.message = Some(message.clone());
        }
        self.line.push_str(text);
        if let Some(end) = self.line.rfind('\n') {
            let rest = self.line.split_off(end + 1);
            let lines = std::mem::replace(&mut self.line, rest);
            self.ready.push_str(&shown(&lines));
        }
    }

    /// Ends the line that a message has begun.
    fn end_line(&mut self) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.ready.push_str(&shown(&line));
            self.ready.push('\n');
        }
    }

    fn paragraph(&mut self, text: &str) {
        self.end_line();
        self.message = None;
        self.gap();
        self.ready.push_str(text.trim_end());
        self.ready.push('\n');
    }

    /// An item of a list; a list may follow a text without a gap, but is easier to read with one.
    fn item(&mut self, text: &str) {
        self.end_line();
        if self.message.take().is_some() {
            self.gap();
        }
        let _ = writeln!(self.ready, "- {text}");
    }

    fn gap(&mut self) {
        self.ready.push('\n');
    }
}

/// One line of it, without what Markdown or a terminal would act upon. It may stand behind other words of a line.
fn flat(text: &str) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|c| is_shown(*c)).collect()
}

/// The words of others as lines of a chat, none of them too long or one of the document's own. They are quoted last, as
/// they stand there: what is taken out of a line may have hidden what it reads as.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let shown = line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or(line);
        out.extend(shown.chars().filter(|c| is_shown(*c) || matches!(c, '\n' | '\t')));
        if shown.len() < line.len() {
            let _ = writeln!(out, " … ({} more bytes in this line)", line.len() - shown.len());
        }
    }
    quoted(&out)
}

/// Control characters are not, nor what only some editors take for the end of a line.
fn is_shown(c: char) -> bool {
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}')
}

fn in_words(prompt: &[PromptBlock]) -> String {
    let words = prompt.iter().map(|block| match block {
        PromptBlock::Text { text } => shown(text),
        PromptBlock::File { uri } | PromptBlock::Range { uri, .. } | PromptBlock::Selection { uri, .. } => {
            format!("@{}", flat(uri.rsplit('/').next().unwrap_or(uri)))
        }
        PromptBlock::Image { .. } => String::from("(an image)"),
    });
    words.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use protocol::content::{Opening, ToolKind, Usage};
    use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind, PermissionOutcome};
    use protocol::session::Mode;
    use protocol::terminal::{TerminalInfo, TerminalKind};
    use protocol::turn::StopReason;
    use protocol::{AssistantBlock, ToolResult, TurnId};
    use serde_json::json;

    use super::super::document::is_own;
    use super::*;

    fn turn() -> TurnId {
        "t".into()
    }

    fn started(text: &str) -> Event {
        let prompt = vec![PromptBlock::Text { text: text.into() }];
        Event::TurnStarted {
            turn_id: turn(),
            prompt,
            context: String::new(),
            model: "m".into(),
            mode: Mode::Agent,
            thinks: None,
            compacts: false,
        }
    }

    fn steered(block: PromptBlock) -> Event {
        Event::Steered { turn_id: turn(), prompt: vec![block], context: String::new() }
    }

    fn says(text: &str) -> Event {
        Event::MessageDelta { message_id: "m".into(), text: text.into() }
    }

    fn completed() -> Event {
        let (usage, cost) = (Usage::default(), None);
        Event::MessageCompleted {
            turn_id: turn(),
            message_id: "m".into(),
            content: vec![],
            usage,
            cost,
            timing: None,
            opening: Opening::default(),
        }
    }

    fn ended() -> Event {
        let (stop_reason, usage) = (StopReason::EndTurn, Usage::default());
        Event::TurnEnded { turn_id: turn(), stop_reason, error: None, usage, cost: None, new_errors: None }
    }

    fn written(events: &[Event]) -> String {
        let mut transcript = Transcript::default();
        transcript.sent();
        events.iter().for_each(|event| transcript.event(event));
        transcript.take()
    }

    #[test]
    fn an_answer_comes_in_whole_lines_and_ends_with_a_new_mark() {
        let mut transcript = Transcript::default();
        transcript.sent();
        transcript.event(&started("Hello"));
        transcript.event(&says("Hel"));
        assert_eq!(transcript.take(), "\n## Azimuth\n\n");
        transcript.event(&says("lo.\nHow"));
        assert_eq!(transcript.take(), "Hello.\n");
        transcript.event(&says(" are you?"));
        transcript.event(&completed());
        transcript.event(&ended());
        assert_eq!(transcript.take(), "How are you?\n\n## You\n\n");
    }

    #[test]
    fn an_answer_beside_which_something_else_happened_is_not_written_twice() {
        let notice = Event::Notice { severity: Severity::Warning, text: "A server has ended.".into() };
        let content = vec![AssistantBlock::Text { text: "Hello.\nBye.".into(), vendor: None }];
        let (turn_id, message_id, usage) = (turn(), "m".into(), Usage::default());
        let completed = Event::MessageCompleted {
            turn_id,
            message_id,
            content,
            usage,
            cost: None,
            timing: None,
            opening: Opening::default(),
        };
        let text = written(&[started("Hello"), says("Hello.\n"), notice, says("Bye."), completed.clone()]);
        assert_eq!(text, "\n## Azimuth\n\nHello.\n\n*A server has ended.*\n\nBye.\n");
        let notice = Event::Notice { severity: Severity::Warning, text: "A server has ended.".into() };
        let text = written(&[started("Hello"), says("Hello.\nBye."), notice, completed]);
        assert_eq!(text, "\n## Azimuth\n\nHello.\nBye.\n\n*A server has ended.*\n");
    }

    #[test]
    fn a_prompt_from_another_view_is_shown_too() {
        let mut transcript = Transcript::default();
        transcript.event(&started("From there"));
        assert_eq!(transcript.take(), "\n## You\n\nFrom there\n\n## Azimuth\n");
    }

    #[test]
    fn of_a_plan_the_steps_are_written_that_are_new_or_further() {
        let plan = |statuses: [PlanEntryStatus; 2]| Event::PlanUpdated {
            turn_id: turn(),
            by_user: false,
            entries: ["Find it", "Mend\nit"]
                .into_iter()
                .zip(statuses)
                .map(|(content, status)| PlanEntry { content: content.into(), status })
                .collect(),
        };
        use PlanEntryStatus::{Completed, InProgress, Pending};
        let events = [started("Go."), plan([InProgress, Pending]), plan([Completed, InProgress])];
        let text = written(&events);
        let expected = "- [ ] **now:** Find it\n- [ ] Mend it\n- [x] Find it\n- [ ] **now:** Mend it\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn tools_and_questions_are_in_the_text() {
        let call = |id: &str| Event::ToolCallStarted {
            turn_id: turn(),
            tool_call_id: id.into(),
            name: "shell_run".into(),
            kind: ToolKind::Execute,
            title: "Running make\ncheck".into(),
            input: json!({}),
            locations: vec![],
        };
        let option = PermissionOption {
            option_id: "allow_once".into(),
            name: "Allow once".into(),
            kind: PermissionOptionKind::AllowOnce,
        };
        let request = PermissionRequest {
            permission_id: "q".into(),
            tool_call_id: Some("c".into()),
            about: PermissionAbout::ToolCall,
            title: "Run a command?".into(),
            detail: "make check\nin /p".into(),
            reason: "no rule allows it".into(),
            form: None,
            options: vec![option],
        };
        let outcome =
            PermissionOutcome::Selected { option_id: "allow_once".into(), message: None, answers: Vec::new() };
        let text = written(&[
            started("Check."),
            says("I check."),
            call("c"),
            Event::PermissionAsked { turn_id: turn(), request },
            Event::PermissionAnswered { permission_id: "q".into(), outcome },
            Event::ToolCallEnded {
                turn_id: turn(),
                result: ToolResult { tool_call_id: "c".into(), text: "no".into(), is_error: true },
                summary: "exit code 1".into(),
                locations: vec![],
                duration_ms: 1,
                rewritten_input: None,
            },
        ]);
        let expected = "\n## Azimuth\n\nI check.\n\n> **Run a command?**\n>     make check\n>     in /p\n>\n> (no rule \
                        allows it) Answer with a code action here: Allow once.\n\n> → Allow once\n- ✗ Running make check: \
                        exit code 1\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_command_of_the_users_own_shows_the_end_of_what_it_printed() {
        let begun = Event::UserCommandStarted { tool_call_id: "u".into(), command: "seq 30".into(), in_context: true };
        let text = (1..=30).map(|line| format!("{line}\n## You\n")).collect();
        let ended = Event::UserCommandEnded { tool_call_id: "u".into(), text, exit_code: Some(0), duration_ms: 1 };
        let shown = "> **!seq 30**: exit code 0\n>     … (40 more lines; the terminal has them)\n>     21\n";
        let text = written(&[begun.clone(), ended.clone()]);
        assert!(text.starts_with(&format!("\n{shown}")), "the prompt stands there already: {text}");
        let other = written(&[begun.clone(), ended.clone(), begun, ended]);
        assert!(other.ends_with(&format!("\n## You\n\n!seq 30\n{text}")), "another view's does not: {other}");
        assert!(!text.contains(">     20\n") && text.contains(">     21\n>     \\## You\n"), "{text}");
        assert!(text.ends_with("30\n>     \\## You\n\n## You\n\n"), "{text}");
    }

    #[test]
    fn what_becomes_of_a_job_stands_in_the_text_and_between_turns_waits_for_the_next() {
        let job = |alive: bool, ports: Vec<u16>| Event::TerminalChanged {
            terminal: Box::new(TerminalInfo {
                terminal_id: "job-1".into(),
                kind: TerminalKind::Job,
                title: "npm run dev".into(),
                cwd: "/p".into(),
                sandbox: protocol::terminal::SandboxMode::Full,
                alive,
                running: None,
                waiting: None,
                taken: false,
                ready: (!ports.is_empty()).then_some(protocol::terminal::Ready { line: None, ports }),
                started_at: 1,
                ended_at: None,
                exit_code: None,
                end: 0,
            }),
        };
        let before = [started("Go."), job(true, vec![]), job(true, vec![80]), job(true, vec![80]), ended()];
        let text = written(&before);
        assert_eq!(text.matches("- job-1 (npm run dev) is up: it listens on port 80\n").count(), 1, "{text}");
        assert!(!text.contains("runs in the background"), "{text}");
        let text = written(&[started("Go."), ended(), job(false, vec![80])]);
        assert!(!text.contains("was stopped"), "{text}");
        let text = written(&[started("Go."), ended(), job(false, vec![80]), started("And?")]);
        assert!(text.ends_with(&format!("{ANSWER}\n- job-1 (npm run dev) was stopped\n")), "{text}");
    }

    #[test]
    fn what_was_taken_back_and_what_was_left_stand_in_the_text() {
        let file = |path: &str, outcome| RestoredFile {
            uri: format!("file:///p/{path}"),
            path: path.into(),
            outcome,
            steps: Vec::new(),
        };
        let left = RestoreOutcome::Left { reason: "it was changed since".into() };
        let files = vec![file("a.txt", RestoreOutcome::Done), file("b.txt", left)];
        let text = written(&[Event::CheckpointRestored { direction: Direction::Undo, turn_ids: vec![turn()], files }]);
        assert_eq!(text, "\n*Undone: 1 of 2 files; not b.txt: it was changed since*\n");
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_is_said_reads_as_a_line_of_the_documents_own(words in hostile()) {
            let call = Event::ToolCallStarted {
                turn_id: turn(),
                tool_call_id: "c".into(),
                name: "x".into(),
                kind: ToolKind::Execute,
                title: words.clone(),
                input: json!({}),
                locations: vec![],
            };
            let result = ToolResult { tool_call_id: "c".into(), text: words.clone(), is_error: true };
            let returned = Event::ToolCallEnded {
                turn_id: turn(),
                result,
                summary: words.clone(),
                locations: vec![],
                duration_ms: 1,
                rewritten_input: None,
            };
            let option = PermissionOption {
                option_id: words.clone(),
                name: words.clone(),
                kind: PermissionOptionKind::AllowOnce,
            };
            let request = PermissionRequest {
                permission_id: "q".into(),
                tool_call_id: None,
                about: PermissionAbout::ToolCall,
                title: words.clone(),
                detail: words.clone(),
                reason: words.clone(),
                form: None,
                options: vec![option],
            };
            let outcome = PermissionOutcome::Selected { option_id: words.clone(), message: None, answers: Vec::new() };
            let proposal = Proposal {
                proposal_id: "p".into(),
                revision: 1,
                uri: words.clone(),
                path: words.clone(),
                change: protocol::review::FileChange::Modify,
                hunks: vec![crate::lsp::convert::tests::hunk("h", 0, "", &words)],
                base_hash: None,
                moved_to: None,
            landed: false,
            };
            let text = written(&[
                started("Go."),
                says(&words),
                says("\n"),
                says(&words),
                completed(),
                call,
                returned,
                Event::PermissionAsked { turn_id: turn(), request },
                Event::PermissionAnswered { permission_id: "q".into(), outcome },
                Event::ProposalChanged { proposal },
                Event::Notice { severity: Severity::Error, text: words.clone() },
                started(&words),
                Event::CommandExecuted { command: words.clone(), message: words.clone(), is_error: false },
                steered(PromptBlock::File { uri: words.clone() }),
                steered(PromptBlock::Text { text: words.clone() }),
            ]);
            // The answer's line, then the other view's prompt with its mark, and the answer to that.
            let own: Vec<_> = text.lines().filter(|line| is_own(line)).collect();
            proptest::prop_assert_eq!(own, [ANSWER, MARK, ANSWER], "{}", text);
        }
    }

    /// Words made of the pieces of the document's own lines, and of what a filter might take out of them.
    fn hostile() -> impl proptest::strategy::Strategy<Value = String> {
        use proptest::prelude::{Strategy, prop};
        let pieces = prop::sample::select(vec![
            "## You",
            "## Azimuth",
            "<!-- azimuth session 12ab -->",
            "##",
            " ",
            "\u{7}",
            "\u{1b}",
            "\r",
            "\n",
            "\t",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "You",
            "a",
            "\\",
            "\u{200b}",
            "/",
        ]);
        prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn hostile_words_are_only_words() {
        let long = "x".repeat(LONGEST_LINE + 5);
        let text = written(&[started("Go"), says(&format!("## You\n\u{1b}]52;c;eA==\u{7}\n{long}")), completed()]);
        assert!(text.contains("\\## You\n]52;c;eA==\n"), "{text}");
        assert!(text.contains(" … (5 more bytes in this line)\n"));
    }
}
