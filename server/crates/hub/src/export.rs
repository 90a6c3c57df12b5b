//! A session as a document: a page to read (HTML or Markdown), or JSON lines for other programs. It leaves the machine
//! without the secrets that models do not see either.

mod answer;
mod html;
mod markdown;

use std::borrow::Cow;
use std::collections::HashMap;

use mask::Mask;
use ports::store::{Store, StoreError};
use protocol::content::PlanEntryStatus;
use protocol::review::{Hunk, Proposal};
use protocol::session::{ExportFormat, SessionInfo};
use protocol::{AssistantBlock, Event, PromptBlock, ProposalId, SequencedEvent, ToolCallId};
use serde_json::Value;

use crate::visible;

/// Writes a session that is stored. Blocks.
///
/// # Errors
/// There is no such session, or the store failed.
pub fn export(store: &dyn Store, info: &SessionInfo, format: ExportFormat, mask: &Mask) -> Result<String, StoreError> {
    let mut lines = Vec::new();
    store.export(&info.session_id, &mut lines)?;
    let lines = String::from_utf8_lossy(&lines);
    // Secrets are hidden before anything else reads the lines.
    let hidden = || lines.lines().map(|line| mask.hide_in_line(line));
    Ok(match format {
        ExportFormat::Jsonl => {
            joined(&lines, mask).iter().fold(String::new(), |all, line| all + &mask.hide_in_line(line) + "\n")
        }
        ExportFormat::Html => html::page(&document(info, mask, hidden())),
        ExportFormat::Markdown => markdown::page(&document(info, mask, hidden())),
    })
}

/// The lines, in which a text that came in pieces stands in the first of them, without its secrets: one may be cut
/// between two pieces. The others stay, empty, so that no event and no number is missing.
fn joined<'l>(lines: &'l str, mask: &Mask) -> Vec<Cow<'l, str>> {
    let mut lines: Vec<Cow<'l, str>> = lines.lines().map(Cow::from).collect();
    let mut streams: HashMap<_, (String, Vec<(usize, SequencedEvent)>)> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        // Most lines are pieces, but the others may be long.
        if !["messageDelta", "thinkingDelta", "editDelta"].iter().any(|kind| line.contains(kind)) {
            continue;
        }
        let Ok(mut event) = serde_json::from_str::<SequencedEvent>(line) else { continue };
        let (stream, piece) = match &mut event.event {
            Event::MessageDelta { message_id, text } => ((0, message_id.clone(), None), text),
            Event::ThinkingDelta { message_id, text } => ((1, message_id.clone(), None), text),
            Event::EditDelta { message_id, tool_call_id, text, .. } => {
                ((2, message_id.clone(), Some(tool_call_id.clone())), text)
            }
            _ => continue,
        };
        let (whole, pieces) = streams.entry(stream).or_default();
        whole.push_str(&std::mem::take(piece));
        pieces.push((at, event));
    }
    for (whole, mut pieces) in streams.into_values() {
        if let Some((_, first)) = pieces.first_mut()
            && let Event::MessageDelta { text, .. } | Event::ThinkingDelta { text, .. } | Event::EditDelta { text, .. } =
                &mut first.event
        {
            *text = mask.hide_uncounted(&whole).into_owned();
        }
        for (at, event) in pieces {
            if let (Some(line), Ok(written)) = (lines.get_mut(at), serde_json::to_string(&event)) {
                *line = written.into();
            }
        }
    }
    lines
}

/// A session as people read it.
struct Document {
    title: String,
    /// The session's folders, its model and its day.
    facts: Vec<String>,
    entries: Vec<Entry>,
}

/// Something that was said or done. All its texts show what hides in them.
enum Entry {
    /// The user's words, with the names of attachments.
    Prompt { who: &'static str, text: String, attached: Vec<String>, images: Vec<Image> },
    /// The model's words, in Markdown.
    Answer(String),
    /// Something that is folded away behind a line.
    Folded { line: String, failed: bool, parts: Vec<Part> },
    /// A sentence of Azimuth's, or its answer to a slash command.
    Note { text: String, failed: bool },
}

/// A part of what is folded away.
struct Part {
    name: &'static str,
    text: String,
    /// True for lines that begin with `+`, `-`, `@` or a space.
    is_diff: bool,
}

/// A picture that was attached.
struct Image {
    mime_type: String,
    /// In base64.
    data: String,
}

fn document<L: AsRef<str>>(info: &SessionInfo, mask: &Mask, lines: impl Iterator<Item = L>) -> Document {
    let mut gathering = Gathering::default();
    for line in lines {
        // The header is no event, and an event of a newer version shows nothing here.
        if let Ok(event) = serde_json::from_str::<SequencedEvent>(line.as_ref()) {
            gathering.take(event.event);
        }
    }
    let said = |text: &str| visible::line(&mask.hide_uncounted(text)).into_owned();
    let mut facts: Vec<_> = info.folders.iter().map(|folder| said(folder)).collect();
    facts.extend(info.model.as_deref().map(said));
    facts.push(crate::clock::name_of(crate::clock::day_of(info.created_at)));
    let title = if info.title.is_empty() { "A session without a title".into() } else { said(&info.title) };
    Document { title, facts, entries: gathering.entries }
}

/// The entries so far, and where those are that later events belong to.
#[derive(Default)]
struct Gathering {
    entries: Vec<Entry>,
    calls: HashMap<ToolCallId, usize>,
    proposals: HashMap<ProposalId, usize>,
}

impl Gathering {
    fn take(&mut self, event: Event) {
        match event {
            // A turn that only goes on was not asked for in words.
            Event::TurnStarted { prompt, .. } if prompt.is_empty() => {}
            Event::TurnStarted { prompt, .. } => self.prompt("You", prompt),
            Event::Steered { prompt, .. } => self.prompt("You, to the running turn", prompt),
            Event::MessageCompleted { content, .. } => self.message(content),
            Event::ToolCallStarted { tool_call_id, title, input, .. } => {
                let parts = vec![part("Input", &input_in_words(&input))];
                self.calls.insert(tool_call_id, self.entries.len());
                self.fold(&title, parts);
            }
            Event::ToolCallEnded { result, summary, .. } => {
                if !self.calls.contains_key(&result.tool_call_id) {
                    self.calls.insert(result.tool_call_id.clone(), self.entries.len());
                    self.fold(&summary, Vec::new());
                }
                self.ended(&result.tool_call_id, &summary, result.is_error, &result.text);
            }
            Event::ProposalChanged { proposal } => self.proposed(proposal),
            Event::PlanUpdated { entries, .. } => {
                let sign = |status| match status {
                    PlanEntryStatus::Completed => "[x]",
                    PlanEntryStatus::InProgress => "[>]",
                    PlanEntryStatus::Pending => "[ ]",
                };
                let steps: Vec<_> =
                    entries.iter().map(|step| format!("{} {}", sign(step.status), step.content)).collect();
                self.fold("Plan", vec![part("Steps", &steps.join("\n"))]);
            }
            Event::UserCommandStarted { tool_call_id, command, .. } => {
                self.calls.insert(tool_call_id, self.entries.len());
                self.fold(&format!("You ran: {command}"), Vec::new());
            }
            Event::UserCommandEnded { tool_call_id, text, exit_code, .. } => {
                self.ended(&tool_call_id, "", exit_code != Some(0), &text);
            }
            Event::CommandExecuted { command, message, is_error } => {
                self.note(&format!("{command}\n{message}"), is_error)
            }
            Event::TurnEnded { error: Some(error), .. } => self.note(&error, true),
            Event::Notice { text, .. } => self.note(&text, false),
            _ => {}
        }
    }

    fn prompt(&mut self, who: &'static str, prompt: Vec<PromptBlock>) {
        let (mut texts, mut attached, mut images) = (Vec::new(), Vec::new(), Vec::new());
        for block in prompt {
            match block {
                PromptBlock::Text { text } => texts.push(text),
                PromptBlock::File { uri } | PromptBlock::Range { uri, .. } | PromptBlock::Selection { uri, .. } => {
                    attached.push(visible::line(&uri).into_owned());
                }
                PromptBlock::Image { mime_type, data } => images.push(Image { mime_type, data }),
            }
        }
        let text = visible::text(&texts.join("\n")).into_owned();
        self.entries.push(Entry::Prompt { who, text, attached, images });
    }

    fn message(&mut self, content: Vec<AssistantBlock>) {
        for block in content {
            match block {
                AssistantBlock::Text { text, .. } if !text.trim().is_empty() => {
                    self.entries.push(Entry::Answer(visible::text(&text).into_owned()));
                }
                AssistantBlock::Thinking { text, .. } if !text.trim().is_empty() => {
                    self.fold("Thinking", vec![part("", &text)]);
                }
                _ => {}
            }
        }
    }

    /// A proposal stands where it first was, as it is now.
    fn proposed(&mut self, Proposal { proposal_id, path, hunks, landed, .. }: Proposal) {
        let diff: String = hunks.iter().map(in_lines).collect();
        let parts = vec![Part { name: "", text: visible::text(&diff).into_owned(), is_diff: true }];
        let line = if landed { "Changed by a command: " } else { "Edit: " };
        let line = visible::line(&format!("{line}{path}")).into_owned();
        let entry = Entry::Folded { line, failed: false, parts };
        match self.proposals.get(&proposal_id).and_then(|at| self.entries.get_mut(*at)) {
            Some(old) => *old = entry,
            None => {
                self.proposals.insert(proposal_id, self.entries.len());
                self.entries.push(entry);
            }
        }
    }

    fn ended(&mut self, call: &ToolCallId, summary: &str, is_error: bool, result: &str) {
        let entry = self.calls.get(call).and_then(|at| self.entries.get_mut(*at));
        if let Some(Entry::Folded { line, failed, parts }) = entry {
            *failed = is_error;
            if !summary.is_empty() && !line.contains(summary) {
                *line += &format!(" ({})", visible::line(summary));
            }
            parts.push(part("Result", result));
        }
    }

    fn fold(&mut self, line: &str, parts: Vec<Part>) {
        self.entries.push(Entry::Folded { line: visible::line(line).into_owned(), failed: false, parts });
    }

    fn note(&mut self, text: &str, failed: bool) {
        self.entries.push(Entry::Note { text: visible::text(text).into_owned(), failed });
    }
}

fn part(name: &'static str, text: &str) -> Part {
    Part { name, text: visible::text(text).into_owned(), is_diff: false }
}

/// The input of a call: a line for each text, and the rest as JSON.
fn input_in_words(input: &Value) -> String {
    let Value::Object(fields) = input else { return input.to_string() };
    let line = |(name, value): (&String, &Value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        value => format!("{name}: {value}"),
    };
    fields.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A hunk as lines of a diff.
fn in_lines(hunk: &Hunk) -> String {
    let mut diff = format!("@@ line {} @@\n", u64::from(hunk.start_line) + 1);
    for (sign, text) in [('-', &hunk.old_text), ('+', &hunk.new_text)] {
        for line in text.lines() {
            diff.push(sign);
            diff.push_str(line);
            diff.push('\n');
        }
    }
    diff
}
