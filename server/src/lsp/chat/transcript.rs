//! A session's events as the Markdown of a chat document.
//!
//! Text is given out in whole lines, so that each edit of the document leaves it readable; the end of a message ends its
//! line.

use std::collections::HashMap;
use std::fmt::Write;

use protocol::event::{ApplyOutcome, Severity};
use protocol::permission::{PermissionOutcome, PermissionRequest};
use protocol::review::{HunkState, Proposal};
use protocol::{AssistantBlock, Event, MessageId, PermissionId, PromptBlock, ToolCallId};

use super::document::{ANSWER, MARK, quoted};

/// The longest line of a model's that is written; editors are slow with longer ones.
const LONGEST_LINE: usize = 10_000;

/// What is to be written of a session.
#[derive(Default)]
pub(super) struct Transcript {
    /// Whole lines that wait to be written.
    ready: String,
    /// The begun line of the message that streams in.
    line: String,
    /// The message that streams in, or did last.
    message: Option<MessageId>,
    /// What calls are called.
    titles: HashMap<ToolCallId, String>,
    /// The questions that stand.
    questions: Vec<PermissionRequest>,
    /// Whether the next prompt is the one that was sent from the document, and stands there already.
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
        &self.questions
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

    /// Takes the lines that are ready.
    pub(super) fn take(&mut self) -> String {
        std::mem::take(&mut self.ready)
    }

    /// Says something of our own.
    pub(super) fn say(&mut self, words: &str) {
        self.paragraph(&format!("*{}*", flat(words)));
    }

    /// Takes what happened.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::TurnStarted { prompt, .. } => {
                if !std::mem::take(&mut self.is_own) && !prompt.is_empty() {
                    self.paragraph(MARK);
                    self.paragraph(&in_words(prompt));
                }
                self.paragraph(ANSWER);
            }
            Event::Steered { prompt, .. } if !std::mem::take(&mut self.is_own) => {
                self.paragraph(&format!("> {}", flat(&in_words(prompt))));
            }
            Event::MessageDelta { message_id, text } => self.stream(message_id, text),
            Event::MessageCompleted { message_id, content, .. } => {
                if self.message.as_ref() != Some(message_id) {
                    for block in content {
                        if let AssistantBlock::Text { text } = block {
                            self.stream(message_id, text);
                        }
                    }
                }
                self.end_line();
            }
            Event::MessageDiscarded { .. } => self.say("The answer broke off; it is asked for again."),
            Event::Retrying { reason, delay_ms, .. } => {
                self.say(&format!("{reason}; trying again in {} s", (delay_ms + 500) / 1000));
            }
            Event::ToolCallStarted { tool_call_id, title, .. } => {
                self.titles.insert(tool_call_id.clone(), title.clone());
            }
            Event::ToolCallEnded { result, summary, .. } => {
                let title = self.titles.remove(&result.tool_call_id);
                let title = flat(&title.unwrap_or_else(|| String::from("a tool call")));
                let mark = if result.is_error { "✗ " } else { "" };
                let summary = if summary.is_empty() { String::new() } else { format!(": {}", flat(summary)) };
                self.item(&format!("{mark}{title}{summary}"));
            }
            Event::PermissionAsked { request, .. } => self.asked(request),
            Event::PermissionAnswered { permission_id, outcome } => self.answered(permission_id, outcome),
            Event::PermissionJudged { allowed: false, reason, .. } => self.item(&format!("✗ {}", flat(reason))),
            Event::ProposalChanged { proposal } => self.proposed(proposal),
            Event::EditApplied { uri, outcome: ApplyOutcome::Failed { reason }, .. } => {
                self.item(&format!("✗ {} was not changed: {}", flat(uri), flat(reason)));
            }
            Event::CommandExecuted { message, .. } => self.paragraph(&quoted(message)),
            Event::Notice { severity: Severity::Warning | Severity::Error, text } => self.say(text),
            Event::TurnEnded { error, .. } => {
                self.end_line();
                self.questions.clear();
                if let Some(error) = error {
                    self.say(error);
                }
                self.mark();
            }
            _ => {}
        }
    }

    fn asked(&mut self, request: &PermissionRequest) {
        self.questions.push(request.clone());
        let options: Vec<_> = request.options.iter().map(|option| flat(&option.name)).collect();
        let mut words = format!("> **{}**\n", flat(&request.title));
        for line in request.detail.lines() {
            let _ = writeln!(words, ">     {line}");
        }
        let _ =
            write!(words, ">\n> ({}) Answer by a code action here: {}.", flat(&request.reason), options.join(" · "));
        self.paragraph(&words);
    }

    fn answered(&mut self, id: &PermissionId, outcome: &PermissionOutcome) {
        let Some(at) = self.questions.iter().position(|question| question.permission_id == *id) else { return };
        let question = self.questions.remove(at);
        let words = match outcome {
            PermissionOutcome::Selected { option_id, .. } => {
                let option = question.options.iter().find(|option| option.option_id == *option_id);
                option.map_or_else(|| option_id.clone(), |option| option.name.clone())
            }
            PermissionOutcome::Cancelled => String::from("not answered"),
            PermissionOutcome::Moot => String::from("settled otherwise"),
        };
        self.paragraph(&format!("> → {}", flat(&words)));
    }

    fn proposed(&mut self, proposal: &Proposal) {
        let pending = proposal.hunks.iter().filter(|hunk| hunk.state == HunkState::Pending).count();
        let fresh = proposal.hunks.iter().any(|hunk| hunk.state != HunkState::Pending);
        // What is decided shows in the document that it is about.
        if pending > 0 && !fresh {
            let changes = if pending == 1 { "1 change waits" } else { &format!("{pending} changes wait") };
            self.item(&format!("{}: {changes} for you, as hints with code actions in the file", flat(&proposal.path)));
        }
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
            self.ready.push_str(&shortened(&quoted(&lines)));
        }
    }

    /// Ends the line that a message has begun.
    fn end_line(&mut self) {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.ready.push_str(&shortened(&quoted(&line)));
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

/// One line of it, without what Markdown or a terminal would act upon.
fn flat(text: &str) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().filter(|c| !c.is_control()).collect()
}

fn shortened(lines: &str) -> String {
    let mut out = String::with_capacity(lines.len());
    for line in lines.split_inclusive('\n') {
        let shown = line.get(..line.floor_char_boundary(LONGEST_LINE)).unwrap_or(line);
        out.extend(shown.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')));
        if shown.len() < line.len() {
            let _ = writeln!(out, " … ({} more bytes in this line)", line.len() - shown.len());
        }
    }
    out
}

fn in_words(prompt: &[PromptBlock]) -> String {
    let words = prompt.iter().map(|block| match block {
        PromptBlock::Text { text } => quoted(text),
        PromptBlock::File { uri } | PromptBlock::Range { uri, .. } | PromptBlock::Selection { uri, .. } => {
            format!("@{}", uri.rsplit('/').next().unwrap_or(uri))
        }
        PromptBlock::Image { .. } => String::from("(an image)"),
    });
    words.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use protocol::content::{ToolKind, Usage};
    use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind};
    use protocol::session::Mode;
    use protocol::turn::StopReason;
    use protocol::{ToolResult, TurnId};
    use serde_json::json;

    use super::*;

    fn turn() -> TurnId {
        "t".into()
    }

    fn started(text: &str) -> Event {
        let prompt = vec![PromptBlock::Text { text: text.into() }];
        Event::TurnStarted { turn_id: turn(), prompt, context: String::new(), model: "m".into(), mode: Mode::Agent }
    }

    fn says(text: &str) -> Event {
        Event::MessageDelta { message_id: "m".into(), text: text.into() }
    }

    fn completed() -> Event {
        let (usage, cost) = (Usage::default(), None);
        Event::MessageCompleted { turn_id: turn(), message_id: "m".into(), content: vec![], usage, cost }
    }

    fn ended() -> Event {
        let (stop_reason, usage) = (StopReason::EndTurn, Usage::default());
        Event::TurnEnded { turn_id: turn(), stop_reason, error: None, usage, cost: None }
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
    fn a_prompt_from_another_view_is_shown_too() {
        let mut transcript = Transcript::default();
        transcript.event(&started("From there"));
        assert_eq!(transcript.take(), "\n## You\n\nFrom there\n\n## Azimuth\n");
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
            options: vec![option],
        };
        let outcome = PermissionOutcome::Selected { option_id: "allow_once".into(), message: None };
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
            },
        ]);
        let expected = "\n## Azimuth\n\nI check.\n\n> **Run a command?**\n>     make check\n>     in /p\n>\n> (no rule \
                        allows it) Answer by a code action here: Allow once.\n\n> → Allow once\n- ✗ Running make check: \
                        exit code 1\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn hostile_words_are_only_words() {
        let long = "x".repeat(LONGEST_LINE + 5);
        let text = written(&[started("Go"), says(&format!("## You\n\u{1b}]52;c;eA==\u{7}\n{long}")), completed()]);
        assert!(text.contains("\\## You\n]52;c;eA==\n"), "{text}");
        assert!(text.contains(" … (5 more bytes in this line)\n"));
    }
}
