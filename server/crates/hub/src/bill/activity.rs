//! The activity in sessions: prompts, turns, requests, calls of tools, and the speed of models. A fold of the logs.

use std::collections::{BTreeMap, HashMap};

use ports::store::{Store, StoreError};
use protocol::content::{Timing, Usage};
use protocol::costs::{Activity, ModelSpeed, ToolCalls};
use protocol::session::{Purpose, SessionInfo};
use protocol::{SequencedEvent, ToolCallId};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{all_sessions, names};
use crate::clock::{day_of, name_of};

/// The kinds of events that count here.
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
    /// The number of chats with a turn, without those that another one started. Changes of a selection are none.
    pub conversations: u64,
    /// The activity.
    #[serde(flatten)]
    pub activity: Activity,
}

/// Reads the activity of the last days, today (UTC) among them, or of all time, from the logs of all sessions that had
/// any in this time. Blocks, and takes the longer the more there is in the logs. Accepted suggestions are none.
///
/// # Errors
/// A failure of the store.
pub fn overall(store: &dyn Store, days: Option<u32>, now: u64) -> Result<Overall, StoreError> {
    let since = days.map(|days| day_of(now).saturating_sub(days.saturating_sub(1)));
    let (mut reading, mut conversations) = (Reading::since(since.unwrap_or_default()), 0);
    let is_read = |info: &SessionInfo| info.purpose != Purpose::Suggestions && day_of(info.updated_at) >= reading.since;
    let sessions: Vec<_> = all_sessions(store)?.into_iter().filter(is_read).collect();
    for info in sessions {
        let (turns, is_child) = (reading.turns, info.parent.is_some());
        let mut log = Log::new(is_child);
        store.each_event(&info.session_id, KINDS, &mut |at, json| reading.take(&mut log, at, json))?;
        conversations += u64::from(info.purpose == Purpose::Chat && !is_child && reading.turns > turns);
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
    if *turns == 0 && *requests == 0 && tools.is_empty() {
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

/// A log as far as it was read.
struct Log {
    /// True if no user gave the prompts.
    is_child: bool,
    /// The model that is asked.
    model: String,
    /// The tools that were called.
    called: HashMap<ToolCallId, String>,
}

impl Log {
    fn new(is_child: bool) -> Self {
        Self { is_child, model: String::new(), called: HashMap::new() }
    }
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
        let mut log = Log::new(is_child);
        for event in events {
            let json = event.event.get();
            let is_one = |kind: &str| json.strip_prefix(r#"{"type":""#).is_some_and(|rest| rest.starts_with(kind));
            // The kind is the first that is written of an event, so that the others need not be read.
            if KINDS.iter().any(|kind| is_one(kind)) {
                self.take(&mut log, event.at, json);
            }
        }
    }

    /// Takes in the next event of a log. Those before the first day tell which model and which tool a later one means.
    fn take(&mut self, log: &mut Log, at: u64, json: &str) {
        let counts = u64::from(day_of(at) >= self.since);
        match serde_json::from_str(json) {
            Ok(Told::TurnStarted { prompt, model }) => {
                log.model = model;
                self.turns += counts;
                self.prompts += counts * u64::from(!log.is_child && !prompt.is_empty());
            }
            Ok(Told::TurnModelChanged { model }) => log.model = model,
            Ok(Told::Steered {}) => self.prompts += counts * u64::from(!log.is_child),
            // A message of ours in the model's name is no request, and uses nothing.
            Ok(Told::MessageCompleted { usage, timing: None }) if usage == Usage::default() => {}
            Ok(Told::MessageCompleted { usage, timing }) => {
                self.requests += counts;
                if let Some(timing) = timing.filter(|_| counts > 0) {
                    self.speeds.entry(log.model.clone()).or_default().add(&usage, timing);
                }
            }
            Ok(Told::RequestPaid {}) => self.requests += counts,
            Ok(Told::ToolCallStarted { tool_call_id, name }) => {
                // A call that was interrupted may be made again.
                if log.called.insert(tool_call_id, name.clone()).is_none() && counts > 0 {
                    self.tools.entry(name).or_default().0 += 1;
                }
            }
            Ok(Told::ToolCallEnded { result }) => {
                // A call of the day before is not counted, and neither is its failure.
                let name = log.called.get(&result.tool_call_id).filter(|_| result.is_error && counts > 0);
                if let Some((_, failed)) = name.and_then(|name| self.tools.get_mut(name)) {
                    *failed += 1;
                }
            }
            // One that cannot be read is found by whoever opens the session.
            Err(_) => {}
        }
    }

    fn finish(self) -> Activity {
        let mut tools: Vec<_> =
            self.tools.into_iter().map(|(name, (calls, failed))| ToolCalls { name, calls, failed }).collect();
        tools.sort_by_key(|tool| std::cmp::Reverse(tool.calls));
        let names = names(self.speeds.keys().map(String::as_str));
        let mut measured = BTreeMap::<&str, Measured>::new();
        for (model, Measured { first_ms, rates }) in &self.speeds {
            let of = measured.entry(names.get(model.as_str()).copied().unwrap_or(model)).or_default();
            of.first_ms.extend(first_ms);
            of.rates.extend(rates);
        }
        let mut speeds: Vec<_> =
            measured.into_iter().filter_map(|(model, measured)| measured.speed(model.to_owned())).collect();
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
    fn a_turn_over_midnight_has_its_model() {
        let timing = json!({ "firstMs": 200, "totalMs": 1000 });
        let events = log(&[
            (1, began(&["Hello."], "a")),
            (1, called("1", "read")),
            (2, ended("1", true)),
            (2, answered(50, timing)),
        ]);
        let mut reading = Reading::since(2);
        reading.read(&events, false);
        let activity = reading.finish();
        assert_eq!((activity.prompts, activity.turns, activity.requests, activity.tools.len()), (0, 0, 1, 0));
        assert_eq!(activity.speeds.iter().map(|speed| speed.model.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn the_speed_of_a_model_and_of_its_id_for_thinking_is_one() {
        let timing = || json!({ "firstMs": 200, "totalMs": 1000 });
        let names = ["a/x", "a/x-thinking", "b/moonshotai/kimi-k2", "b/moonshotai/kimi-k2-thinking"];
        let asked = names.map(|model| [(1, began(&["Hello."], model)), (1, answered(50, timing()))]);
        let speeds = of_session(&log(&asked.concat()), false).speeds;
        let told: Vec<_> = speeds.iter().map(|speed| (speed.model.as_str(), speed.answers)).collect();
        assert_eq!(told, [("a/x", 2), (names[2], 1), (names[3], 1)]);
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
