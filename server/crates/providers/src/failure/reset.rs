//! When a vendor may be asked again, as it says in headers and in its errors.

use std::time::{Duration, SystemTime};

use net::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use crate::dates::{http_date, span, until, until_number, until_time, wait};

/// The headers of the vendors' limits: what is left of one, and when all of it is there again. Anthropic's
/// (docs.claude.com, rate limits), OpenAI's, which Groq and others have too (platform.openai.com, rate limits), those
/// of gateways, and the draft `ratelimit-headers` of the IETF.
const LIMITS: &[(&str, &str)] = &[
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
    ("x-ratelimit-remaining", "x-ratelimit-reset-ms"),
    ("ratelimit-remaining", "ratelimit-reset"),
];
/// The words of OpenAI, Groq and Google after which a message names a span of time.
const AGAIN_IN: &[&str] = &["try again in ", "retry in ", "retry after "];

/// How long the vendor asks to wait.
pub(super) fn asked_delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let millis = text(headers, "retry-after-ms").and_then(|text| text.parse::<f64>().ok());
    millis.and_then(|millis| wait(millis / 1_000.0)).or_else(|| {
        let text = text(headers, "retry-after")?;
        match text.parse::<f64>() {
            Ok(number) => until_number(number, 1.0, now),
            Err(_) => until_time(http_date(text)?, now),
        }
    })
}

/// How long it is until the limits are renewed that let nothing through. Every answer tells of all limits, so it means
/// something only for a request that was one too many. A limit that has something left is not the one that ran out.
pub(super) fn reset_delay(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let limits = LIMITS.iter().filter_map(|(remaining, reset)| {
        let unit = if reset.ends_with("-ms") { 1_000.0 } else { 1.0 };
        let left = text(headers, remaining).and_then(|left| left.parse::<f64>().ok());
        Some((left, until(text(headers, reset)?, unit, now)?))
    });
    let (used_up, others): (Vec<_>, Vec<_>) = limits.partition(|(left, _)| left.is_some_and(|left| left <= 0.0));
    let unknown = || others.iter().filter(|(left, _)| left.is_none()).map(|(_, delay)| *delay).max();
    used_up.iter().map(|(_, delay)| *delay).max().or_else(unknown)
}

/// How long the vendor asks to wait in the body of an error: in fields of OpenAI's plans, in the headers of another
/// vendor that OpenRouter passes on, or in a message for people.
pub(super) fn in_error(error: &Value, message: &str, now: SystemTime) -> Option<Duration> {
    let number = |name: &str| error.get(name).and_then(Value::as_f64);
    let fields = number("resets_in_seconds").and_then(wait);
    let fields = fields.or_else(|| number("resets_at").and_then(|at| until_number(at, 1.0, now)));
    fields.or_else(|| reset_delay(&passed_on(error)?, now)).or_else(|| in_words(message))
}

fn passed_on(error: &Value) -> Option<HeaderMap> {
    let fields = error.pointer("/metadata/headers")?.as_object()?;
    let header = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Some((HeaderName::try_from(name.as_str()).ok()?, HeaderValue::try_from(value).ok()?))
    };
    Some(fields.iter().filter_map(header).collect())
}

fn in_words(message: &str) -> Option<Duration> {
    let message = message.to_ascii_lowercase();
    let (_, rest) = AGAIN_IN.iter().find_map(|words| message.split_once(words))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
    span(rest.get(..end)?.trim_end_matches('.'))
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-29, 12:00:00 UTC.
    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_795_953_600)
    }

    fn reset(headers: &[(&str, &str)]) -> Option<f64> {
        let header = |(name, value): &(&str, &str)| {
            (HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap())
        };
        let headers = headers.iter().map(header).collect();
        reset_delay(&headers, now()).map(|delay| delay.as_secs_f64())
    }

    #[test]
    fn the_limit_that_ran_out_says_when_it_is_renewed_in_each_vendors_way() {
        let anthropic = [
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-11-29T12:00:17Z"),
            ("anthropic-ratelimit-tokens-remaining", "9000"),
            ("anthropic-ratelimit-tokens-reset", "2026-11-29T12:30:00Z"),
        ];
        assert_eq!(reset(&anthropic), Some(17.0), "of the tokens some are left");
        for (written, seconds) in [("1s", 1.0), ("6m0s", 360.0), ("20ms", 0.02), ("1h2m3.5s", 3_723.5), ("30", 30.0)] {
            let limits = [("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", written)];
            assert_eq!(reset(&limits), Some(seconds), "{written}");
        }
        for written in ["1795953612", "1795953612000", "12"] {
            assert_eq!(reset(&[("x-ratelimit-reset", written)]), Some(12.0), "{written}");
        }
        assert_eq!(reset(&[("x-ratelimit-reset-ms", "1500")]), Some(1.5));
        assert_eq!(reset(&[("ratelimit-remaining", "0"), ("ratelimit-reset", "9")]), Some(9.0));
        assert_eq!(reset(&[("x-ratelimit-reset", "1000000001")]), None, "a time that has passed");
    }

    #[test]
    fn limits_with_something_left_and_words_that_are_no_time_say_nothing() {
        assert_eq!(reset(&[("x-ratelimit-remaining-tokens", "12"), ("x-ratelimit-reset-tokens", "6m")]), None);
        for nonsense in ["soon", "", "m", "-1s", "1s2", "1e400s"] {
            assert_eq!(reset(&[("x-ratelimit-reset-requests", nonsense)]), None, "{nonsense}");
        }
    }

    #[test]
    fn an_error_may_name_the_time_in_fields_in_anothers_headers_or_in_its_message() {
        let asked = |error: Value, message: &str| in_error(&error, message, now()).map(|it| it.as_secs_f64());
        let nothing = serde_json::json!({});
        assert_eq!(asked(serde_json::json!({ "resets_in_seconds": 7200 }), ""), Some(7_200.0));
        assert_eq!(asked(serde_json::json!({ "resets_at": 1_795_953_660 }), ""), Some(60.0));
        let passed_on = serde_json::json!({ "metadata": { "headers": { "X-RateLimit-Remaining": "0",
            "X-RateLimit-Reset": "1795953605000" } } });
        assert_eq!(asked(passed_on, ""), Some(5.0));
        for (message, seconds) in [
            ("Rate limit reached for x. Please try again in 1m26.4s. Visit y.", 86.4),
            ("Please try again in 20ms.", 0.02),
            ("Please retry in 39.5s.", 39.5),
        ] {
            assert_eq!(asked(nothing.clone(), message), Some(seconds), "{message}");
        }
        for message in ["Please try again in a few minutes", "try again in ", "slow down"] {
            assert_eq!(asked(nothing.clone(), message), None, "{message}");
        }
    }

    proptest! {
        #[test]
        fn no_text_of_a_vendor_is_too_much(text in "\\PC{0,40}", unit in prop::sample::select(vec![1.0, 1_000.0])) {
            let _ = until(&text, unit, now());
            let _ = in_words(&format!("try again in {text}"));
        }
    }
}
