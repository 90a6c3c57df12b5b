//! The time that requests to clouds are signed with.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use net::header::{DATE, HeaderMap};

use crate::dates::http_date;

/// The difference between two clocks that no refusal comes from. AWS allows five minutes for most services, and Google
/// as many; a request is under way for a part of them.
const TOLERANCE: Duration = Duration::from_secs(4 * 60);

/// This machine's clock, until a server that refuses a signature tells another time. Then the server's.
pub(crate) struct Clock {
    now: fn() -> SystemTime,
    /// The time by which the server's clock is ahead, in seconds.
    ahead: AtomicI64,
}

impl Clock {
    /// A clock that follows this one.
    pub(crate) fn new(now: fn() -> SystemTime) -> Self {
        Self { now, ahead: AtomicI64::new(0) }
    }

    /// The time for a signature.
    pub(crate) fn now(&self) -> SystemTime {
        let (now, ahead) = ((self.now)(), self.ahead.load(Ordering::Relaxed));
        let by = Duration::from_secs(ahead.unsigned_abs());
        let moved = if ahead < 0 { now.checked_sub(by) } else { now.checked_add(by) };
        moved.unwrap_or(now)
    }

    /// Takes in the head of the refusal of a request that was signed at a time. True if the server's clock is more than
    /// four minutes off from that time: then it is worth signing once more, now with the server's clock.
    pub(crate) fn learn(&self, headers: &HeaderMap, signed_at: SystemTime) -> bool {
        let date = headers.get(DATE).and_then(|date| http_date(date.to_str().ok()?));
        let Some(theirs) = date else { return false };
        let is_ahead = |from: SystemTime| match theirs.duration_since(from) {
            Ok(ahead) => (ahead, false),
            Err(behind) => (behind.duration(), true),
        };
        if is_ahead(signed_at).0 <= TOLERANCE {
            return false;
        }
        let (by, is_behind) = is_ahead((self.now)());
        let by = i64::try_from(by.as_secs()).unwrap_or(i64::MAX);
        self.ahead.store(if is_behind { -by } else { by }, Ordering::Relaxed);
        true
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").field("ahead", &self.ahead).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    fn at() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
    }

    fn dated(date: &str) -> HeaderMap {
        [(DATE, date.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn a_refusal_with_another_time_sets_the_clock() {
        for (date, expected) in [
            ("Sun, 06 Nov 1994 09:49:37 GMT", at() + Duration::from_secs(3_600)),
            ("Sun, 06 Nov 1994 08:44:37 GMT", at() - Duration::from_secs(300)),
        ] {
            let clock = Clock::new(at);
            assert!(clock.learn(&dated(date), clock.now()), "{date}");
            assert_eq!(clock.now(), expected);
            // The clock is right now, so the same refusal has another reason.
            assert!(!clock.learn(&dated(date), clock.now()), "{date}");
            assert_eq!(clock.now(), expected);
        }
    }

    #[test]
    fn other_answers_leave_the_clock_alone() {
        let clock = Clock::new(at);
        for headers in [dated("Sun, 06 Nov 1994 08:53:37 GMT"), dated("soon"), HeaderMap::new()] {
            assert!(!clock.learn(&headers, clock.now()));
            assert_eq!(clock.now(), at());
        }
    }
}
