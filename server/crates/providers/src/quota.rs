//! The limits of the user's accounts, as vendors tell them in the headers of their answers, or when they are asked.
//!
//! The names are those of the vendors' documentation: `anthropic-ratelimit-*` (Anthropic), `x-ratelimit-*` (OpenAI and
//! those that follow it), `anthropic-ratelimit-unified-*` and `x-codex-*` (plans).

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use net::header::HeaderMap;
use protocol::costs::{Quota, QuotaWindow};

use crate::dates::until;

/// The most limits that are kept of an answer, and the most characters of the name of one.
const MOST: usize = 12;
const NAME: usize = 40;

/// The limits that each provider told last, of each key or account if there are several. Clones of the `Arc` around it
/// share them.
#[derive(Debug, Default)]
pub(crate) struct Quotas(Mutex<BTreeMap<(String, Option<String>), Quota>>);

impl Quotas {
    /// Takes in the headers of an answer. One that tells no limits leaves those that are known.
    pub(crate) fn hear(&self, provider: &str, account: Option<&str>, headers: &HeaderMap, now: SystemTime) {
        let windows = windows(headers, now);
        if !windows.is_empty() {
            self.put(provider, account, windows, now);
        }
    }

    /// Takes in limits that were asked for.
    pub(crate) fn put(&self, provider: &str, account: Option<&str>, windows: Vec<QuotaWindow>, now: SystemTime) {
        let (provider, account) = (provider.to_owned(), account.map(str::to_owned));
        let quota = Quota { provider: provider.clone(), account: account.clone(), at: millis(now), windows };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((provider, account), quota);
    }

    /// All of them, by the providers' names.
    pub(crate) fn list(&self) -> Vec<Quota> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// The limits that these headers tell.
fn windows(headers: &HeaderMap, now: SystemTime) -> Vec<QuotaWindow> {
    let mut found = Vec::new();
    for subject in ["requests", "tokens", "input-tokens", "output-tokens"] {
        let said = |what: &str| header(headers, &format!("anthropic-ratelimit-{subject}-{what}"));
        found.extend(counted(&subject.replace('-', " "), said("limit"), said("remaining"), said("reset"), now));
    }
    // Plans tell a share for each span of time.
    for (span, name) in [("5h", "5 hours of the plan"), ("7d", "7 days of the plan")] {
        let said = |what: &str| header(headers, &format!("anthropic-ratelimit-unified-{span}-{what}"));
        let used = said("utilization").and_then(number);
        found.extend(used.map(|used| share(name.to_owned(), used, said("reset"), now)));
    }
    for which in ["primary", "secondary"] {
        let said = |what: &str| header(headers, &format!("x-codex-{which}-{what}"));
        let Some(used) = said("used-percent").and_then(number) else { continue };
        let name = format!("{} of the plan", said("window-minutes").and_then(number).map_or("a part".into(), span));
        found.push(share(name, used / 100.0, said("reset-at").or(said("reset-after-seconds")), now));
    }
    for (name, limit) in headers {
        let Some(subject) = name.as_str().strip_prefix("x-ratelimit-limit") else { continue };
        let said = |what: &str| header(headers, &format!("x-ratelimit-{what}{subject}"));
        let name = match subject.trim_start_matches('-') {
            "" => "requests".to_owned(),
            subject => subject.replace('-', " "),
        };
        found.extend(counted(&name, limit.to_str().ok(), said("remaining"), said("reset"), now));
    }
    found.retain(|window| window.name.len() <= NAME);
    found.truncate(MOST);
    found
}

/// A limit that is counted; none if what is left of it is not told.
fn counted(
    name: &str,
    limit: Option<&str>,
    remaining: Option<&str>,
    reset: Option<&str>,
    now: SystemTime,
) -> Option<QuotaWindow> {
    let limit = number(limit?).filter(|limit| *limit > 0.0)?;
    let remaining = number(remaining?)?.min(limit);
    Some(QuotaWindow {
        name: name.to_owned(),
        // Both are finite and not negative.
        limit: Some(limit as u64),
        remaining: Some(remaining as u64),
        left: None,
        used: 1.0 - remaining / limit,
        resets_at: reset.and_then(|reset| time(reset, now)),
    })
}

/// A limit of which only the used share is told.
fn share(name: String, used: f64, reset: Option<&str>, now: SystemTime) -> QuotaWindow {
    let resets_at = reset.and_then(|reset| time(reset, now));
    QuotaWindow { name, limit: None, remaining: None, left: None, used: used.min(1.0), resets_at }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// A number that is not negative.
fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

/// A span of minutes in words.
fn span(minutes: f64) -> String {
    let (number, unit) = match minutes {
        minutes if minutes >= 2_880.0 => (minutes / 1_440.0, "days"),
        minutes if minutes >= 120.0 => (minutes / 60.0, "hours"),
        minutes => (minutes, "minutes"),
    };
    format!("{number:.0} {unit}")
}

/// The time of a reset in milliseconds since the Unix epoch.
fn time(text: &str, now: SystemTime) -> Option<u64> {
    now.checked_add(until(text.trim(), 1.0, now)?).map(millis)
}

fn millis(at: SystemTime) -> u64 {
    u64::try_from(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use net::header::{HeaderName, HeaderValue};
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1_796_000_000;

    fn now() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(NOW)
    }

    /// A window: its name, limit, rest, used percent, and seconds until it begins again.
    type Told = (String, Option<u64>, Option<u64>, u64, Option<u64>);

    fn told(headers: &[(&str, &str)]) -> Vec<Told> {
        let pairs = headers.iter().map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            (name, HeaderValue::from_str(value).unwrap())
        });
        let percent = |used: f64| (used * 100.0).round() as u64;
        let after = |at: u64| at / 1_000 - NOW;
        let found = windows(&pairs.collect(), now()).into_iter();
        found.map(|it| (it.name, it.limit, it.remaining, percent(it.used), it.resets_at.map(after))).collect()
    }

    #[test]
    fn the_limits_of_keys_are_read_as_each_vendor_writes_them() {
        let anthropic = told(&[
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-11-30T00:53:30Z"),
            ("anthropic-ratelimit-input-tokens-limit", "40000"),
            ("anthropic-ratelimit-input-tokens-remaining", "10000"),
        ]);
        assert_eq!(anthropic[0], ("requests".into(), Some(50), Some(49), 2, Some(10)));
        assert_eq!(anthropic[1], ("input tokens".into(), Some(40_000), Some(10_000), 75, None));
        let openai = told(&[
            ("x-ratelimit-limit-requests", "60"),
            ("x-ratelimit-remaining-requests", "59"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-limit-tokens-day", "1000"),
            ("x-ratelimit-remaining-tokens-day", "0"),
            ("x-ratelimit-reset-tokens-day", "1.5"),
            ("x-ratelimit-limit", "20"),
            ("x-ratelimit-remaining", "30"),
            ("x-ratelimit-reset", "1796000010000"),
        ]);
        assert!(openai.contains(&("requests".into(), Some(60), Some(59), 2, Some(360))), "{openai:?}");
        assert!(openai.contains(&("tokens day".into(), Some(1_000), Some(0), 100, Some(1))), "{openai:?}");
        assert!(openai.contains(&("requests".into(), Some(20), Some(20), 0, Some(10))), "{openai:?}");
    }

    #[test]
    fn the_shares_of_plans_are_read() {
        let plans = told(&[
            ("anthropic-ratelimit-unified-5h-utilization", "0.42"),
            ("anthropic-ratelimit-unified-5h-reset", "1796003600"),
            ("x-codex-primary-used-percent", "12.5"),
            ("x-codex-primary-window-minutes", "300"),
            ("x-codex-primary-reset-after-seconds", "60"),
            ("x-codex-secondary-used-percent", "130"),
            ("x-codex-secondary-window-minutes", "10080"),
        ]);
        let expected = [
            ("5 hours of the plan".to_owned(), None, None, 42, Some(3_600)),
            ("5 hours of the plan".to_owned(), None, None, 13, Some(60)),
            ("7 days of the plan".to_owned(), None, None, 100, None),
        ];
        assert_eq!(plans, expected);
    }

    #[test]
    fn an_answer_without_limits_leaves_those_that_are_known() {
        let (quotas, mut headers) = (Quotas::default(), HeaderMap::new());
        headers.insert("x-ratelimit-limit", HeaderValue::from_static("2"));
        headers.insert("x-ratelimit-remaining", HeaderValue::from_static("1"));
        quotas.hear("a", None, &headers, now());
        quotas.hear("a", None, &HeaderMap::new(), now() + Duration::from_secs(9));
        quotas.hear("b", None, &HeaderMap::new(), now());
        let list = quotas.list();
        assert_eq!((list.len(), list[0].at), (1, NOW * 1_000));
    }

    proptest! {
        #[test]
        fn whatever_a_server_says_is_read_without_harm(limit in "[0-9.eE+-]{0,20}|[ -~]{0,9}", reset in "[0-9.dhms]{0,20}") {
            let headers = [
                ("x-ratelimit-limit-x", limit.as_str()),
                ("x-ratelimit-remaining-x", "1"),
                ("x-ratelimit-reset-x", reset.as_str()),
                ("x-codex-primary-used-percent", limit.as_str()),
                ("x-codex-primary-window-minutes", limit.as_str()),
                ("x-codex-primary-reset-at", reset.as_str()),
            ];
            for window in told(&headers) {
                prop_assert!(window.3 <= 100);
            }
        }
    }
}
