//! Playing a script: which step comes, and what it says.

use std::sync::Arc;
use std::time::Duration;

use ports::model::{Message, ModelError, ModelErrorKind, ModelEvent, Response, Stop};
use ports::tool::INTERRUPTED;
use protocol::{AssistantBlock, ToolCallId, ToolResult};
use regex::{Regex, RegexBuilder};

use super::Score;
use super::script::{Capture, Expect, Script, ScriptedStop, Step};
use super::template::{Input, Template, Values};
use crate::failure::error;

/// About how many bytes a piece of text has.
const PIECE: usize = 16;
/// The most of a result that an error repeats, in characters.
const REPEATED: usize = 300;

/// A script that can be played.
#[derive(Debug)]
pub(super) struct Compiled {
    steps: Vec<CompiledStep>,
}

#[derive(Debug)]
struct CompiledStep {
    expect: Option<CompiledExpect>,
    captures: Vec<(Capture, Regex)>,
    thinking: Option<Template>,
    text: Option<Template>,
    calls: Vec<CompiledCall>,
    step: Step,
    pause: Duration,
}

#[derive(Debug)]
struct CompiledExpect {
    expect: Expect,
    contains: Option<Template>,
    matches: Option<Regex>,
}

#[derive(Debug)]
struct CompiledCall {
    id: ToolCallId,
    tool: String,
    input: Input,
}

impl Compiled {
    pub(super) fn new(script: Script) -> Result<Self, String> {
        let pause = script.delay_ms;
        let steps = script.steps.into_iter().enumerate().map(|(at, step)| {
            CompiledStep::new(at + 1, step, pause).map_err(|problem| format!("step {}: {problem}", at + 1))
        });
        Ok(Self { steps: steps.collect::<Result<_, _>>()? })
    }

    /// The answer to a conversation.
    pub(super) fn answer(&self, messages: &[Arc<Message>]) -> Result<Score, ModelError> {
        let mut values = Values::new();
        let mut played = 0;
        for (at, message) in messages.iter().enumerate() {
            if let (Message::Assistant(blocks), Some(step)) = (&**message, self.steps.get(played))
                && step.is_said_by(blocks)
                && !is_interrupted(messages.get(at + 1))
            {
                // A missing value is found out where it is used: an old result may have been trimmed since.
                let _ = step.capture(messages.get(..at).unwrap_or_default(), &mut values);
                played += 1;
            }
        }
        let failed = |problem: String| error(ModelErrorKind::Rejected, problem);
        let Some(step) = self.steps.get(played) else {
            return Err(failed(format!("the script has ended: all of its {played} steps were played")));
        };
        let failed = |problem: String| failed(format!("step {} of the script: {problem}", played + 1));
        step.capture(messages, &mut values).map_err(failed)?;
        step.check(messages, &values).map_err(failed)?;
        step.score(&values).map_err(failed)
    }
}

impl CompiledStep {
    fn new(number: usize, step: Step, pause: Option<u64>) -> Result<Self, String> {
        if step.calls.is_empty() && step.text.as_ref().is_none_or(|text| text.trim().is_empty()) {
            return Err("it has neither text nor calls".to_owned());
        }
        let template = |text: &Option<String>| text.as_deref().map(Template::parse).transpose();
        let captures = step.captures.iter().map(|capture| {
            let pattern = regex(&capture.pattern)?;
            if capture.name.is_none() && pattern.capture_names().flatten().next().is_none() {
                return Err(format!("the capture `{}` has neither `name` nor a named group", capture.pattern));
            }
            Ok((capture.clone(), pattern))
        });
        let expect = step.expect.as_ref().map(|expect| {
            Ok::<_, String>(CompiledExpect {
                contains: template(&expect.contains)?,
                matches: expect.matches.as_deref().map(regex).transpose()?,
                expect: expect.clone(),
            })
        });
        let calls = step.calls.iter().enumerate().map(|(at, call)| {
            let id = call.id.clone().unwrap_or_else(|| format!("step{number}-{}", at + 1));
            let input = if call.input.is_null() { &serde_json::json!({}) } else { &call.input };
            Ok::<_, String>(CompiledCall {
                id: ToolCallId::new(id),
                tool: call.tool.clone(),
                input: Input::parse(input)?,
            })
        });
        Ok(Self {
            expect: expect.transpose()?,
            captures: captures.collect::<Result<_, String>>()?,
            thinking: template(&step.thinking)?,
            text: template(&step.text)?,
            calls: calls.collect::<Result<_, _>>()?,
            pause: Duration::from_millis(step.delay_ms.or(pause).unwrap_or_default()),
            step,
        })
    }

    /// True if a message of the conversation is this step's answer.
    fn is_said_by(&self, blocks: &[AssistantBlock]) -> bool {
        let called = blocks.iter().filter_map(|block| match block {
            AssistantBlock::ToolCall { name, .. } => Some(name.as_str()),
            AssistantBlock::Text { .. } | AssistantBlock::Thinking { .. } => None,
        });
        if !called.eq(self.calls.iter().map(|call| call.tool.as_str())) {
            return false;
        }
        let said: String = blocks
            .iter()
            .filter_map(|block| match block {
                AssistantBlock::Text { text, .. } => Some(text.as_str()),
                AssistantBlock::Thinking { .. } | AssistantBlock::ToolCall { .. } => None,
            })
            .collect();
        // With calls the answer was whole: they come at its end.
        !self.calls.is_empty() || self.text.as_ref().is_some_and(|text| text.fits(&said))
    }

    /// Takes the values out of the results. The first that cannot be taken is an error.
    fn capture(&self, messages: &[Arc<Message>], values: &mut Values) -> Result<(), String> {
        for (capture, pattern) in &self.captures {
            let Some((whose, result)) = result_of(messages, Some(&capture.from)) else {
                return Err(format!("the script expected a result of {}, but there is none", capture.from));
            };
            let mut matches = pattern.captures_iter(&result.text);
            let Some(found) = (if capture.last { matches.last() } else { matches.next() }) else {
                return Err(disappointed(&format!("a match of /{}/", capture.pattern), whose, result));
            };
            for name in pattern.capture_names().flatten() {
                if let Some(group) = found.name(name) {
                    values.insert(name.to_owned(), group.as_str().to_owned());
                }
            }
            if let Some(name) = &capture.name
                && let Some(group) = found.get(1).or(found.get(0))
            {
                values.insert(name.clone(), group.as_str().to_owned());
            }
        }
        Ok(())
    }

    /// Checks what the step demands.
    fn check(&self, messages: &[Arc<Message>], values: &Values) -> Result<(), String> {
        let Some(CompiledExpect { expect, contains, matches }) = &self.expect else { return Ok(()) };
        let Some((whose, result)) = result_of(messages, expect.from.as_deref()) else {
            let whose = expect.from.as_deref().unwrap_or("a tool");
            return Err(format!("the script expected a result of {whose}, but there is none"));
        };
        if let Some(wanted) = contains {
            let wanted = wanted.fill(values)?;
            if !result.text.contains(&wanted) {
                return Err(disappointed(&format!("`{wanted}`"), whose, result));
            }
        }
        if let Some(pattern) = matches
            && !pattern.is_match(&result.text)
        {
            return Err(disappointed(&format!("a match of /{pattern}/"), whose, result));
        }
        match expect.is_error {
            Some(true) if !result.is_error => Err(disappointed("a failure", whose, result)),
            Some(false) if result.is_error => Err(disappointed("no failure", whose, result)),
            _ => Ok(()),
        }
    }

    /// The answer, in pieces.
    fn score(&self, values: &Values) -> Result<Score, String> {
        let mut score: Score = Vec::new();
        let mut content = Vec::new();
        let fill = |template: &Option<Template>| template.as_ref().map(|text| text.fill(values)).transpose();
        if let Some(text) = fill(&self.thinking)? {
            score.extend(pieces(&text).map(|piece| (self.pause, Ok(ModelEvent::Thinking(piece.to_owned())))));
            content.push(AssistantBlock::Thinking { text, vendor: None });
        }
        if let Some(text) = fill(&self.text)? {
            score.extend(pieces(&text).map(|piece| (self.pause, Ok(ModelEvent::Text(piece.to_owned())))));
            content.push(AssistantBlock::text(text));
        }
        let mut event = |event: ModelEvent| score.push((Duration::ZERO, Ok(event)));
        for CompiledCall { id, tool, input } in &self.calls {
            let input = input.fill(values)?;
            event(ModelEvent::ToolCallStarted { id: id.clone(), name: tool.clone() });
            event(ModelEvent::ToolCallInput { id: id.clone(), json: input.to_string() });
            content.push(AssistantBlock::tool_call(id.clone(), tool.clone(), input));
        }
        let stop = match self.step.stop {
            None if self.calls.is_empty() => Stop::EndTurn,
            None | Some(ScriptedStop::ToolUse) => Stop::ToolUse,
            Some(ScriptedStop::EndTurn) => Stop::EndTurn,
            Some(ScriptedStop::MaxTokens) => Stop::MaxTokens,
            Some(ScriptedStop::Refusal) => Stop::Refusal,
        };
        let usage = self.step.usage.unwrap_or_default();
        event(ModelEvent::Finished(Response { content, stop, why: None, usage }));
        Ok(score)
    }
}

/// True if calls got no results because the server ended: then they are made again, as a model would.
fn is_interrupted(answer: Option<&Arc<Message>>) -> bool {
    match answer.map(|message| &**message) {
        Some(Message::ToolResults(results)) => results.iter().any(|result| result.text == INTERRUPTED),
        Some(Message::User(_) | Message::Assistant(_)) | None => false,
    }
}

/// The latest result: of the call with this id, else of the tool with this name, else of all. With whose it is.
fn result_of<'a>(messages: &'a [Arc<Message>], from: Option<&str>) -> Option<(&'a str, &'a ToolResult)> {
    let results = messages.iter().rev().filter_map(|message| match &**message {
        Message::ToolResults(results) => Some(results),
        Message::User(_) | Message::Assistant(_) => None,
    });
    let mut all = results.flat_map(|results| results.iter().rev()).map(|result| (tool_of(messages, result), result));
    match from {
        None => all.next(),
        Some(from) => all
            .clone()
            .find(|(_, result)| result.tool_call_id.as_str() == from)
            .or_else(|| all.find(|(tool, _)| *tool == from)),
    }
}

/// The tool that a result is of.
fn tool_of<'a>(messages: &'a [Arc<Message>], result: &'a ToolResult) -> &'a str {
    let calls = messages.iter().rev().filter_map(|message| match &**message {
        Message::Assistant(blocks) => Some(blocks),
        Message::User(_) | Message::ToolResults(_) => None,
    });
    let name = calls.flatten().find_map(|block| match block {
        AssistantBlock::ToolCall { id, name, .. } if *id == result.tool_call_id => Some(name.as_str()),
        _ => None,
    });
    name.unwrap_or(result.tool_call_id.as_str())
}

fn disappointed(wanted: &str, whose: &str, result: &ToolResult) -> String {
    let mut says: String = result.text.chars().take(REPEATED).collect();
    if says.len() < result.text.len() {
        says.push('…');
    }
    let how = if result.is_error { "it failed and says" } else { "it says" };
    format!("the script expected {wanted} in the result of {whose}, but {how}: {says}")
}

fn regex(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(pattern).multi_line(true).build().map_err(|problem| problem.to_string())
}

/// A text in small pieces, apart at the beginnings of words.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let least = rest.ceil_char_boundary(PIECE);
        let end = rest.get(least..)?.find(' ').map_or(rest.len(), |at| least + at);
        // A very long word is cut.
        let end = if end > 4 * PIECE { least } else { end };
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}
