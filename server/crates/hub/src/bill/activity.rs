//! The activity in sessions: prompts, turns, requests, calls of tools, and the speed of models. A fold of the logs.

use std::collections::{BTreeMap, HashMap};

use ports::store::{Store, StoreError};
use protocol::content::{Timing, Usage};
use protocol::costs::{Activity, ModelSpeed, ToolCalls};
use protocol::{SequencedEvent, ToolCallId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::all_sessions;
use crate::clock::{day_of, name_of};

/// The kinds of events that count here. The kind is the first that is written of an event, so that the others need not
/// be read.
const KINDS: &[&str] = &[
    "turnStarted",
    "turnModelChanged",
    "steered",
    "messageCompleted",
    "requestPaid",
    "toolCallStarted",
    "toolCallEnded",
];
/// The tools that are named in a sentence.
const TOOLS: usize = 6;

/// The activity in all sessions that there are.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Overall {
    /// The number of days, today among them; none for all time.
    pub days: Option<u32>,
    /// The first of them, such as `2026-11-21`.
    pub since: Option<String>,
    /// The number of conversations with a turn, without those that another one started.
    pub conversations: u64,
    /// The activity.
    #[serde(flatten)]
    pub activity: Activity,
}

/// Reads the activity of the last days, today (UTC) among them, or of all time, from the logs of all sessions. Blocks,
/// and takes the longer the more there is in the logs.
///
/// # Errors
/// A failure of the store.
pub fn overall(store: &dyn Store, days: Option<u32>, now: u64) -> Result<Overall, StoreError> {
    let since = days.map(|days| day_of(now).saturating_sub(days.saturating_sub(1)));
    let (mut reading, mut conversations) = (Reading::since(since.unwrap_or_default()), 0);
    for info in all_sessions(store)? {
        let events = match store.raw_events(&info.session_id, 0) {
            Ok(events) => events,
            // It was deleted since it was listed.
            Err(StoreError::NotFound { .. }) => continue,
            Err(error) => return Err(error),
        };
        let turns = reading.turns;
        reading.read(&events, info.parent.is_some());
        conversations += u64::from(info.parent.is_none() && reading.turns > turns);
    }
    Ok(Overall { days, since: since.map(name_of), conversations, activity: reading.finish() })
}

/// The activity in a session, by its log.
pub(crate) fn of_session(events: &[SequencedEvent<Box<RawValue>>], is_child: bool) -> Activity {
    let mut reading = Reading::since(0);
    reading.read(events, is_child);
    reading.finish()
}

/// The activity in Markdown, as lines of a list; empty if there was none.
pub(crate) fn in_words(activity: &Activity) -> Vec<String> {
    let Activity { prompts, turns, requests, tools, speeds } = activity;
    if *turns == 0 {
        return Vec::new();
    }
    let number = |number: u64, noun: &str| format!("{number} {noun}{}", if number == 1 { "" } else { "s" });
    let mut lines =
        vec![format!("{}, {}, {}", number(*prompts, "prompt"), number(*turns, "turn"), number(*requests, "request"))];
    let (calls, failed) = tools.iter().fold((0, 0), |(calls, failed), tool| (calls + tool.calls, failed + tool.failed));
    if calls > 0 {
        let failures = |failed: u64| if failed == 0 { String::new() } else { format!(" ({failed} failed)") };
        let named =
            tools.iter().take(TOOLS).map(|tool| format!("`{}` {}{}", tool.name, tool.calls, failures(tool.failed)));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if tools.len() > TOOLS { format!(" and {} more tools", tools.len() - TOOLS) } else { String::new() };
        let calls = if calls == 1 { "1 call of a tool".to_owned() } else { format!("{calls} calls of tools") };
        lines.push(format!("{calls}{}: {named}{more}", failures(failed)));
    }
    lines.extend(speeds.iter().map(|speed| format!("`{}`: {}", speed.model, speed_in_words(speed))));
    lines
}

/// The time to the first piece of an answer.
pub fn first_in_words(speed: &ModelSpeed) -> String {
    match speed.first_ms {
        below @ ..1_000 => format!("{below} ms"),
        ms => format!("{:.1} s", ms as f64 / 1000.0),
    }
}

/// The tokens for each second.
pub fn rate_in_words(speed: &ModelSpeed) -> String {
    speed.tokens_per_second.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"))
}

fn speed_in_words(speed: &ModelSpeed) -> String {
    let answers = if speed.answers == 1 { "1 answer" } else { &format!("{} answers", speed.answers) };
    let first = first_in_words(speed);
    match speed.tokens_per_second {
        Some(_) => {
            format!("begins after {first}, {} tokens for each second (median of {answers})", rate_in_words(speed))
        }
        None => format!("begins after {first} (median of {answers})"),
    }
}

/// Events, as far as they speak of this.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Told {
    TurnStarted { prompt: Vec<IgnoredAny>, model: String },
    TurnModelChanged { model: String },
    Steered {},
    MessageCompleted { usage: Usage, timing: Option<Timing> },
    RequestPaid {},
    ToolCallStarted { tool_call_id: ToolCallId, name: String },
    ToolCallEnded { result: Outcome },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    tool_call_id: ToolCallId,
    #[serde(default)]
    is_error: bool,
}

/// The measured answers of a model.
#[derive(Default)]
struct Measured {
    first_ms: Vec<f64>,
    rates: Vec<f64>,
}

#[derive(Default)]
struct Reading {
    /// The first day that counts.
    since: u32,
    prompts: u64,
    turns: u64,
    requests: u64,
    /// The calls of each tool, and those of them that failed.
    tools: BTreeMap<String, (u64, u64)>,
    speeds: BTreeMap<String, Measured>,
}

impl Reading {
    fn since(since: u32) -> Self {
        Self { since, ..Self::default() }
    }

    /// Reads the log of a session.
    fn read(&mut self, events: &[SequencedEvent<Box<RawValue>>], is_child: bool) {
        let (mut model, mut open) = (String::new(), HashMap::new());
        for event in events {
            let json = event.event.get();
            let is_one = |kind: &str| json.strip_prefix(r#"{"type":""#).is_some_and(|rest| rest.starts_with(kind));
            // One that cannot be read is found by whoever opens the session.
            if !KINDS.iter().any(|kind| is_one(kind)) || day_of(event.at) < self.since {
                continue;
            }
            match serde_json::from_str(json) {
                Ok(Told::TurnStarted { prompt, model: asked }) => {
                    model = asked;
                    self.turns += 1;
                    self.prompts += u64::from(!is_child && !prompt.is_empty());
                }
                Ok(Told::TurnModelChanged { model: asked }) => model = asked,
                Ok(Told::Steered {}) => self.prompts += u64::from(!is_child),
                // A message of ours in the model's name is no request, and uses nothing.
                Ok(Told::MessageCompleted { usage, timing: None }) if usage == Usage::default() => {}
                Ok(Told::MessageCompleted { usage, timing }) => {
                    self.requests += 1;
                    if let Some(timing) = timing {
                        self.speeds.entry(model.clone()).or_default().add(&usage, timing);
                    }
                }
                Ok(Told::RequestPaid {}) => self.requests += 1,
                Ok(Told::ToolCallStarted { tool_call_id, name }) => {
                    // A call that was interrupted may be made again.
                    if open.insert(tool_call_id, name.clone()).is_none() {
                        self.tools.entry(name).or_default().0 += 1;
                    }
                }
                Ok(Told::ToolCallEnded { result }) => {
                    if let Some(name) = open.get(&result.tool_call_id).filter(|_| result.is_error) {
                        self.tools.entry(name.clone()).or_default().1 += 1;
                    }
                }
                Err(_) => {}
            }
        }
    }

    fn finish(self) -> Activity {
        let mut tools: Vec<_> =
            self.tools.into_iter().map(|(name, (calls, failed))| ToolCalls { name, calls, failed }).collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        let mut speeds: Vec<_> =
            self.speeds.into_iter().filter_map(|(model, measured)| measured.speed(model)).collect();
        speeds.sort_by_key(|speed| std::cmp::Reverse(speed.answers));
        Activity { prompts: self.prompts, turns: self.turns, requests: self.requests, tools, speeds }
    }
}

impl Measured {
    fn add(&mut self, usage: &Usage, timing: Timing) {
        self.first_ms.push(timing.first_ms as f64);
        if usage.output > 0 && timing.total_ms > 0 {
            self.rates.push(usage.output as f64 * 1000.0 / timing.total_ms as f64);
        }
    }

    fn speed(self, model: String) -> Option<ModelSpeed> {
        let answers = self.first_ms.len() as u64;
        let first_ms = median(self.first_ms)?.round() as u64;
        Some(ModelSpeed { model, answers, first_ms, tokens_per_second: median(self.rates) })
    }
}

/// The value in the middle, or the mean of the two; none if there are none.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn log(events: &[(u64, Value)]) -> Vec<SequencedEvent<Box<RawValue>>> {
        let written = events.iter().map(|(day, event)| {
            let mut rest = event.clone();
            let kind = rest.as_object_mut().unwrap().remove("type").unwrap();
            // The kind comes first, as in the log.
            let text = format!(r#"{{"type":{kind},{}"#, &rest.to_string()[1..]);
            SequencedEvent { seq: 1, at: day * 86_400_000, event: RawValue::from_string(text).unwrap() }
        });
        written.collect()
    }

    fn began(prompt: &[&str], model: &str) -> Value {
        json!({ "type": "turnStarted", "turnId": "t", "prompt": prompt, "model": model, "mode": "agent" })
    }

    fn answered(output: u64, timing: Value) -> Value {
        let usage = json!({ "input": 1, "output": output, "cacheRead": 0, "cacheWrite": 0 });
        json!({ "type": "messageCompleted", "a": 1, "usage": usage, "timing": timing })
    }

    fn called(id: &str, name: &str) -> Value {
        json!({ "type": "toolCallStarted", "a": 1, "toolCallId": id, "name": name })
    }

    fn ended(id: &str, is_error: bool) -> Value {
        json!({ "type": "toolCallEnded", "a": 1, "result": { "toolCallId": id, "isError": is_error } })
    }

    fn some() -> Vec<SequencedEvent<Box<RawValue>>> {
        let fast = json!({ "firstMs": 200, "totalMs": 1000 });
        let slow = json!({ "firstMs": 600, "totalMs": 2000 });
        log(&[
            (1, began(&["Hello."], "a")),
            (1, called("1", "read")),
            (1, ended("1", true)),
            (2, answered(50, fast)),
            (2, answered(50, slow)),
            (2, json!({ "type": "steered", "turnId": "t" })),
            (2, json!({ "type": "turnModelChanged", "turnId": "t", "model": "b" })),
            (2, answered(10, Value::Null)),
            (2, json!({ "type": "requestPaid", "turnId": "t" })),
            (3, began(&[], "a")),
            (3, called("2", "shell")),
            (3, called("2", "shell")),
            (3, called("3", "shell")),
            (3, ended("3", false)),
        ])
    }

    #[test]
    fn prompts_turns_requests_and_calls_are_counted_and_speeds_are_medians() {
        let activity = of_session(&some(), false);
        assert_eq!((activity.prompts, activity.turns, activity.requests), (2, 2, 4));
        let tools: Vec<_> = activity.tools.iter().map(|tool| (tool.name.as_str(), tool.calls, tool.failed)).collect();
        assert_eq!(tools, [("shell", 2, 0), ("read", 1, 1)]);
        let speed = ModelSpeed { model: "a".into(), answers: 2, first_ms: 400, tokens_per_second: Some(37.5) };
        assert_eq!(activity.speeds, [speed], "nothing is known of an answer that was not measured");
        assert_eq!(of_session(&some(), true).prompts, 0, "no user gave them");
    }

    #[test]
    fn only_the_days_that_are_asked_for_count() {
        let mut reading = Reading::since(3);
        reading.read(&some(), false);
        let activity = reading.finish();
        assert_eq!((activity.prompts, activity.turns, activity.requests, activity.tools.len()), (0, 1, 0, 1));
    }

    #[test]
    fn it_is_said_in_words() {
        let lines = in_words(&of_session(&some(), false));
        assert_eq!(
            lines,
            [
                "2 prompts, 2 turns, 4 requests",
                "3 calls of tools (1 failed): `shell` 2, `read` 1 (1 failed)",
                "`a`: begins after 400 ms, 38 tokens for each second (median of 2 answers)",
            ]
        );
        assert!(in_words(&Activity::default()).is_empty());
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 100.0]), Some(3.0));
        assert_eq!(median(vec![4.0, 1.0]), Some(2.5));
    }
}
