//! The requests of a session's turns, one by one, with the share that came from the vendor's cache, and why one missed
//! it: a fold of the log, which has everything but the system prompt and the tools.

use std::collections::{BTreeMap, VecDeque};

use ports::spent::Sums;
use protocol::content::{CacheMiss, Opening, RequestPart, Usage};
use protocol::costs::Round;
use protocol::mode::Mode;
use protocol::model::{AccountSwitch, ThinkingLevel, Thinks};
use protocol::{SequencedEvent, TurnId};
use serde::Deserialize;
use serde_json::value::RawValue;

/// The number of requests that are told of.
const ROUNDS: usize = 20;
/// The milliseconds for which vendors keep a prompt by default since it was last used (Anthropic's documentation names
/// five minutes, OpenAI's five to ten).
const KEPT: u64 = 5 * 60_000;
/// The milliseconds for which a prompt is kept that was written for an hour.
const KEPT_FOR_HOUR: u64 = 60 * 60_000;
/// A prompt of fewer tokens is not kept (OpenAI's and Anthropic's documentation; some models want more).
const SHORTEST: u64 = 1_024;
/// The kinds of events that count here. The kind is the first that is written of an event, so that the others need not
/// be read.
const KINDS: &[&str] = &[
    "modelChanged",
    "turnStarted",
    "turnModelChanged",
    "toolCallEnded",
    "contextTrimmed",
    "messageCompleted",
    "requestPaid",
];

/// The last requests of a session's turns, the last first.
pub(crate) fn rounds(events: &[SequencedEvent<Box<RawValue>>]) -> Vec<Round> {
    let mut reading = Reading::default();
    for event in events {
        let json = event.event.get();
        let is_one = |kind: &str| json.strip_prefix(r#"{"type":""#).is_some_and(|rest| rest.starts_with(kind));
        // One that cannot be read is found by whoever opens the session.
        if KINDS.iter().any(|kind| is_one(kind))
            && let Ok(told) = serde_json::from_str(json)
        {
            reading.apply(event.at, told);
        }
    }
    reading.finish()
}

/// Events, as far as they speak of requests and of what these are made of.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Told {
    ModelChanged {
        thinking: Option<ThinkingLevel>,
    },
    TurnStarted {
        turn_id: TurnId,
        model: String,
        mode: Mode,
        thinks: Option<Thinks>,
    },
    TurnModelChanged {
        model: String,
        thinking: Option<ThinkingLevel>,
        account: Option<AccountSwitch>,
    },
    ToolCallEnded {},
    ContextTrimmed {},
    Compacted {},
    CompactionCorrected {},
    CompactionTakenBack {},
    MessageCompleted {
        usage: Usage,
        cost: Option<f64>,
        #[serde(default)]
        opening: Opening,
    },
    RequestPaid {
        usage: Usage,
        cost: Option<f64>,
        #[serde(default)]
        opening: Opening,
    },
}

/// The parts of a request that a cache depends on, as far as the log has them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Asked {
    turn: Option<TurnId>,
    model: String,
    level: Option<ThinkingLevel>,
    /// True if a change of it is told within the conversation.
    in_place: bool,
    mode: Mode,
}

/// The reason why a cache missed, as the log tells it.
struct Found {
    /// The part of the request that changed by it, and in which the vendor sees it.
    parts: &'static [RequestPart],
    words: String,
}

/// The last request.
struct Last {
    asked: Asked,
    at: u64,
    /// The tokens of its input.
    input: u64,
    /// The milliseconds for which it is kept.
    kept: u64,
}

#[derive(Default)]
struct Reading {
    /// The level of turns that begin now.
    level: Option<ThinkingLevel>,
    now: Asked,
    /// The time at which the next request began, at the earliest.
    began: u64,
    trimmed: bool,
    /// True if a handover was put in, changed or taken back.
    compacted: bool,
    /// The account that went on since the last request, if another one did.
    other_account: Option<AccountSwitch>,
    last: Option<Last>,
    rounds: VecDeque<Round>,
    /// The number of each model's requests, and of the tokens that its vendor said of a cache.
    cached: BTreeMap<String, (u64, u64)>,
}

impl Reading {
    fn apply(&mut self, at: u64, told: Told) {
        match told {
            Told::ModelChanged { thinking } => self.level = thinking,
            Told::TurnStarted { turn_id, model, mode, thinks } => {
                self.began = at;
                // The turn may have another model than the session, with another level.
                let Thinks { level, in_place } = thinks.unwrap_or(Thinks { level: self.level, in_place: false });
                self.now = Asked { turn: Some(turn_id), model, level, in_place, mode };
            }
            Told::TurnModelChanged { model, thinking, account } => {
                self.now.in_place &= self.now.model == model;
                (self.now.model, self.now.level) = (model, thinking);
                self.other_account = account.or(self.other_account.take());
            }
            Told::ToolCallEnded {} => self.began = at,
            Told::ContextTrimmed {} => self.trimmed = true,
            Told::Compacted {} | Told::CompactionCorrected {} | Told::CompactionTakenBack {} => self.compacted = true,
            // A message of ours in the model's name is no request, and uses nothing.
            Told::MessageCompleted { usage, .. } if usage == Usage::default() => {}
            Told::MessageCompleted { usage, cost, opening } | Told::RequestPaid { usage, cost, opening } => {
                self.answered(at, usage, cost, opening.missed);
            }
        }
    }

    fn answered(&mut self, at: u64, usage: Usage, cost: Option<f64>, missed: Option<CacheMiss>) {
        let input = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        let missed_because = self.why_missed(&usage, missed);
        let model = self.now.model.clone();
        let (requests, tokens) = self.cached.entry(model.clone()).or_default();
        *requests += 1;
        // A vendor that says why its cache missed has one.
        *tokens = tokens.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        *tokens = tokens.saturating_add(missed.map_or(0, |missed| missed.tokens));
        let cache_hits = Sums::one(usage, cost).cache_hits();
        self.rounds.push_front(Round { at, model, usage, cost, cache_hits, missed_because });
        self.rounds.truncate(ROUNDS);
        let kept = self.kept(&usage);
        self.last = Some(Last { asked: self.now.clone(), at, input, kept });
        (self.began, self.trimmed, self.compacted, self.other_account) = (at, false, false, None);
    }

    /// The time for which a request is kept: as it was written, or if nothing was, as what it read from.
    fn kept(&self, usage: &Usage) -> u64 {
        match &self.last {
            _ if usage.cache_write_hour > 0 => KEPT_FOR_HOUR,
            Some(last) if usage.cache_write == 0 && usage.cache_read > 0 => last.kept,
            _ => KEPT,
        }
    }

    /// Why the last request was not read from the cache: in the vendor's words, if it says so; else as the log tells
    /// it, if less than half of it was read. None if nothing tells why.
    fn why_missed(&self, usage: &Usage, missed: Option<CacheMiss>) -> Option<String> {
        let Some(last) = &self.last else {
            return (usage.cache_read == 0).then(|| "it is the first request, so nothing was kept yet".to_owned());
        };
        let found = || self.found(last);
        match missed.filter(|missed| missed.tokens > 0 && usage.cache_read < last.input) {
            Some(CacheMiss { changed, tokens }) => {
                let what = match changed {
                    RequestPart::Model => "the model or its speed",
                    RequestPart::System => "the system prompt",
                    RequestPart::Tools => "the list of tools",
                    RequestPart::Messages => "an earlier message",
                };
                let cause = found().filter(|found| found.parts.contains(&changed));
                let cause = cause.map(|found| format!(": {}", found.words)).unwrap_or_default();
                Some(format!("the vendor says that {what} changed, which cost about {tokens} tokens of it{cause}"))
            }
            None if usage.cache_read >= last.input / 2 => None,
            None => found().map(|found| found.words),
        }
    }

    /// The reason of a miss that the log tells.
    fn found(&self, Last { asked, at, input, kept }: &Last) -> Option<Found> {
        let passed = self.began.saturating_sub(*at);
        let Asked { model, level, in_place, mode, turn } = &self.now;
        // Without thinking it is asked in another way, which no place within the conversation can tell.
        let is_off = [*level, asked.level].contains(&Some(ThinkingLevel::Off));
        let (parts, words): (&'static [RequestPart], String) = if *model != asked.model {
            (&[RequestPart::Model], format!("the model changed; the last one was {}", asked.model))
        } else if let Some(AccountSwitch { name, instead_of }) = &self.other_account {
            (&[], format!("the account changed from {instead_of} to {name}, whose cache is its own"))
        } else if *level != asked.level && (!in_place || is_off) {
            let level = |level: Option<ThinkingLevel>| level.map_or("default", ThinkingLevel::name);
            (&[], format!("the thinking level changed from {} to {}", level(asked.level), level(self.now.level)))
        } else if self.trimmed {
            let words = "the context filled up, and old results were taken out of it";
            (&[RequestPart::Messages], words.to_owned())
        } else if self.compacted {
            let words = "a handover replaces the earlier part of the conversation";
            (&[RequestPart::Messages], words.to_owned())
        } else if *mode != asked.mode {
            let (was, is) = (asked.mode.name(), mode.name());
            let words = format!("the mode changed from {was} to {is}, and with it the system prompt and the tools");
            (&[RequestPart::System, RequestPart::Tools], words)
        } else if *input < SHORTEST {
            let words = format!("the last request was shorter than {SHORTEST} tokens, which vendors do not keep");
            (&[], words)
        } else if passed > *kept {
            let minutes = passed / 60_000;
            let kept = match *kept {
                KEPT_FOR_HOUR => "this one was kept for an hour",
                _ => "vendors keep a prompt for about 5",
            };
            (&[], format!("{minutes} minutes had passed since the last request; {kept}"))
        } else if *turn != asked.turn {
            let words = "nothing in the conversation tells why; between turns, the system prompt or the tools may have \
                         changed";
            (&[], words.to_owned())
        } else {
            return None;
        };
        Some(Found { parts, words })
    }

    fn finish(self) -> Vec<Round> {
        let Self { cached, rounds, .. } = self;
        let mut rounds = Vec::from(rounds);
        for round in &mut rounds {
            if matches!(cached.get(&round.model), Some((2.., 0))) && round.missed_because.is_some() {
                round.missed_because = Some("the vendor has reported no cache for this model so far".to_owned());
            }
        }
        rounds
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const MINUTE: u64 = 60_000;

    fn log(events: Vec<(u64, Value)>) -> Vec<Round> {
        let numbered = (1..).zip(events).map(|(seq, (at, event))| {
            let Value::Object(mut fields) = event else { unreachable!() };
            // As the log has it: the kind is the first.
            let kind = fields.remove("type").unwrap();
            let rest = Value::Object(fields).to_string();
            let json = format!("{{\"type\":{kind},{}", &rest[1..]).replace(",}", "}");
            SequencedEvent { seq, at, event: RawValue::from_string(json).unwrap() }
        });
        rounds(&numbered.collect::<Vec<_>>())
    }

    fn turn(at: u64, model: &str, mode: &str) -> (u64, Value) {
        let id = format!("t{at}");
        (at, json!({ "type": "turnStarted", "turnId": id, "prompt": [], "model": model, "mode": mode }))
    }

    fn answer(at: u64, input: u64, cache_read: u64) -> (u64, Value) {
        let usage = json!({ "input": input, "output": 10, "cacheRead": cache_read, "cacheWrite": 0 });
        (at, json!({ "type": "messageCompleted", "turnId": "t", "messageId": "m", "content": [], "usage": usage }))
    }

    fn level(at: u64, level: &str) -> (u64, Value) {
        (at, json!({ "type": "modelChanged", "model": "a/x", "thinking": level }))
    }

    /// Why each missed, the first first.
    fn reasons(events: Vec<(u64, Value)>) -> Vec<String> {
        log(events).into_iter().rev().map(|round| round.missed_because.unwrap_or_default()).collect()
    }

    #[test]
    fn a_miss_is_explained_by_what_changed_since_the_last_request() {
        let trimmed = (71, json!({ "type": "contextTrimmed", "turnId": "t", "toolCallIds": [] }));
        let reasons = reasons(vec![
            turn(1, "a/x", "agent"),
            answer(2, 4_000, 0),
            answer(3, 100, 4_000),
            turn(10, "b/y", "agent"),
            answer(11, 4_100, 0),
            level(20, "high"),
            turn(21, "b/y", "agent"),
            answer(22, 4_200, 0),
            turn(30, "b/y", "plan"),
            answer(31, 4_200, 1_000),
            trimmed,
            answer(72, 4_000, 10),
        ]);
        let begins = [
            "it is the first request",
            "",
            "the model changed; the last one was a/x",
            "the thinking level changed from default to high",
            "the mode changed from agent to plan",
            "the context filled up",
        ];
        assert_eq!(reasons.len(), begins.len());
        for (reason, begin) in reasons.iter().zip(begins) {
            assert!(reason.starts_with(begin) && reason.is_empty() == begin.is_empty(), "{reason}");
        }
    }

    #[test]
    fn a_level_that_is_told_within_the_conversation_is_no_reason() {
        let turn_at = |at: u64, thinks: Value| {
            let (at, mut turn) = turn(at, "a/x", "agent");
            turn["thinks"] = thinks;
            (at, turn)
        };
        let reasons = reasons(vec![
            turn_at(1, json!({ "inPlace": true })),
            answer(2, 4_000, 0),
            turn_at(3, json!({ "level": "high", "inPlace": true })),
            answer(4, 4_000, 0),
            turn_at(5, json!({ "level": "off", "inPlace": true })),
            answer(6, 4_000, 0),
            turn_at(7, json!({ "level": "low" })),
            answer(8, 4_000, 10),
        ]);
        assert!(reasons[1].starts_with("nothing in the conversation tells why"), "{reasons:?}");
        assert_eq!(reasons[2], "the thinking level changed from high to off");
        assert_eq!(reasons[3], "the thinking level changed from off to low", "it is told at the head");
    }

    #[test]
    fn the_vendors_word_counts_more_than_what_the_log_tells() {
        let says = |at: u64, cache_read: u64, changed: &str, tokens: u64| {
            let (at, mut answer) = answer(at, 4_000, cache_read);
            answer["opening"] = json!({ "missed": { "changed": changed, "tokens": tokens } });
            (at, answer)
        };
        let reasons = reasons(vec![
            turn(1, "a/x", "agent"),
            answer(2, 4_000, 0),
            // More than half of it was read all the same.
            says(3, 2_500, "messages", 1_500),
            turn(4, "a/x", "plan"),
            says(5, 0, "tools", 3_900),
            level(6, "high"),
            turn(7, "a/x", "plan"),
            says(8, 0, "system", 100),
            says(9, 4_000, "system", 100),
            says(10, 9_000, "system", 100),
            (11, json!({ "type": "contextTrimmed", "turnId": "t", "toolCallIds": [] })),
            says(12, 3_000, "messages", 0),
        ]);
        let word = |what: &str, tokens: u64| {
            format!("the vendor says that {what} changed, which cost about {tokens} tokens of it")
        };
        assert_eq!(reasons[1], word("an earlier message", 1_500));
        let mode = "the mode changed from agent to plan, and with it the system prompt and the tools";
        assert_eq!(reasons[2], format!("{}: {mode}", word("the list of tools", 3_900)), "the log tells what did it");
        assert_eq!(reasons[3], word("the system prompt", 100), "the level is not why");
        assert_eq!((reasons[4].as_str(), reasons[5].as_str()), ("", ""), "all of the last request was read");
        assert_eq!(reasons[6], "the context filled up, and old results were taken out of it", "nothing was lost by it");
    }

    #[test]
    fn a_request_is_of_the_model_that_goes_on_in_the_turn() {
        let switched = json!({ "type": "turnModelChanged", "turnId": "t", "model": "b/y", "instead_of": "a/x",
            "reason": "failed", "thinking": "high" });
        let (_, mut paid) = answer(3, 4_000, 0);
        paid["type"] = "requestPaid".into();
        let log =
            log(vec![turn(1, "a/x", "agent"), answer(2, 4_000, 0), (3, paid), (4, switched), answer(5, 4_000, 0)]);
        let models: Vec<_> = log.iter().map(|round| round.model.as_str()).collect();
        assert_eq!(models, ["b/y", "a/x", "a/x"], "the last first");
    }

    #[test]
    fn a_prompt_that_was_too_short_or_is_too_old_is_not_in_the_cache() {
        let reasons = reasons(vec![
            turn(0, "a/x", "agent"),
            answer(1, 500, 0),
            turn(2, "a/x", "agent"),
            answer(3, 2_000, 0),
            turn(3 + 7 * MINUTE, "a/x", "agent"),
            answer(4 + 7 * MINUTE, 2_000, 0),
            turn(5 + 7 * MINUTE, "a/x", "agent"),
            answer(6 + 20 * MINUTE, 2_000, 1_900),
            turn(7 + 20 * MINUTE, "a/x", "agent"),
            answer(8 + 20 * MINUTE, 2_000, 0),
            answer(9 + 20 * MINUTE, 2_000, 0),
        ]);
        assert!(reasons[1].contains("shorter than 1024 tokens"), "{reasons:?}");
        assert!(reasons[2].starts_with("7 minutes had passed"), "{reasons:?}");
        assert_eq!(reasons[3], "", "a long answer is no long wait");
        assert!(reasons[4].contains("may have changed"), "{reasons:?}");
        assert_eq!(reasons[5], "", "within a turn nothing is guessed");
    }

    #[test]
    fn a_prompt_that_was_written_for_an_hour_is_kept_so_long() {
        let writes = |at: u64, cache_read: u64, for_hour: u64| {
            let (at, mut answer) = answer(at, 100, cache_read);
            answer["usage"]["cacheWrite"] = 2_000.into();
            answer["usage"]["cacheWriteHour"] = for_hour.into();
            (at, answer)
        };
        let reasons = reasons(vec![
            turn(0, "a/x", "agent"),
            writes(1, 0, 2_000),
            turn(20 * MINUTE, "a/x", "agent"),
            writes(21 * MINUTE, 10, 2_000),
            // It writes nothing, and so it is kept as what it was read from.
            answer(22 * MINUTE, 100, 2_000),
            turn(52 * MINUTE, "a/x", "agent"),
            answer(53 * MINUTE, 2_100, 10),
            turn(70 * MINUTE, "a/x", "agent"),
            writes(71 * MINUTE, 10, 2_000),
            turn(141 * MINUTE, "a/x", "agent"),
            writes(142 * MINUTE, 10, 0),
            turn(150 * MINUTE, "a/x", "agent"),
            writes(151 * MINUTE, 10, 0),
        ]);
        let unknown = "nothing in the conversation tells why";
        assert!(reasons[1].starts_with(unknown), "{reasons:?}");
        assert_eq!(reasons[2], "");
        assert!(reasons[3].starts_with(unknown), "{reasons:?}");
        assert!(reasons[4].starts_with(unknown), "{reasons:?}");
        assert_eq!(reasons[5], "70 minutes had passed since the last request; this one was kept for an hour");
        assert_eq!(reasons[6], "8 minutes had passed since the last request; vendors keep a prompt for about 5");
    }

    #[test]
    fn a_vendor_that_tells_nothing_of_a_cache_misses_nothing() {
        let reasons = reasons(vec![turn(0, "a/x", "agent"), answer(1, 3_000, 0), answer(2, 3_000, 0)]);
        assert_eq!(reasons[0], "the vendor has reported no cache for this model so far");
    }

    #[test]
    fn of_many_requests_the_last_ones_are_told_of() {
        let many = (1..=30).map(|at| answer(at, at, 0));
        let rounds = log([turn(0, "a/x", "agent")].into_iter().chain(many).collect());
        assert_eq!((rounds.len(), rounds[0].usage.input, rounds[19].usage.input), (ROUNDS, 30, 11));
    }
}
