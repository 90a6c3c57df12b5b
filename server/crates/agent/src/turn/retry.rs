//! The next action after a request failed.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use ports::model::ModelErrorKind;

/// How often in a row a request is tried again. A request that succeeds begins a new count.
const RETRIES: u32 = 3;
/// The longest wait of ours.
const CAP: Duration = Duration::from_secs(30);
/// The longest wait that a vendor may ask for; past it, the user is better told than kept waiting.
const LONGEST_ASKED: Duration = Duration::from_secs(120);

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Wait, then send the request again.
    Retry(Duration),
    /// Tell the model what was wrong with its answer, then send the request with that.
    Tell,
    /// Make the request shorter, then send it again.
    Shorten,
    /// Tell the user.
    GiveUp,
}

/// The failures of one request, in a row.
#[derive(Debug, Default)]
pub(super) struct Failures {
    pub(super) retries: u32,
    /// How often the model was told that its call could not be read.
    pub(super) unreadable: u32,
    garbage: bool,
    orphaned: bool,
}

impl Failures {
    /// The policy, all of it:
    ///
    /// - what may pass (network, 5xx, overload, a stream that breaks off) is tried again three times, after about 1, 2
    ///   and 4 seconds, with some chance in it so that many clients do not come back at once;
    /// - too many requests, or an overload with a time named: as long after as the vendor asks, if it names a time, and
    ///   not at all where that is longer than two minutes;
    /// - what is not the vendor's protocol is tried again once: it may have been a proxy's error page;
    /// - a complaint of calls without results, or of their signatures, is tried again once, at once, with the calls and
    ///   their results told in words;
    /// - of a call that the vendor could not read the model is told, three times in a row at most;
    /// - a request that is too long is made shorter;
    /// - a wrong key and a rejected request stay wrong.
    pub(super) fn next(&mut self, kind: ModelErrorKind) -> Next {
        let wait = match kind {
            ModelErrorKind::Transient | ModelErrorKind::Incomplete => self.backoff(),
            ModelErrorKind::RateLimited { retry_after: None } => self.backoff(),
            ModelErrorKind::RateLimited { retry_after: Some(asked) } if asked <= LONGEST_ASKED => asked,
            ModelErrorKind::RateLimited { .. } => return Next::GiveUp,
            ModelErrorKind::Garbage if !self.garbage => {
                self.garbage = true;
                self.backoff()
            }
            ModelErrorKind::OrphanedToolCalls if !self.orphaned => {
                self.orphaned = true;
                Duration::ZERO
            }
            ModelErrorKind::ContextOverflow => return Next::Shorten,
            ModelErrorKind::UnreadableCall if self.unreadable < RETRIES => {
                self.unreadable += 1;
                return Next::Tell;
            }
            ModelErrorKind::UnreadableCall
            | ModelErrorKind::Garbage
            | ModelErrorKind::OrphanedToolCalls
            | ModelErrorKind::Unauthorized
            | ModelErrorKind::Rejected => return Next::GiveUp,
        };
        if self.retries == RETRIES {
            return Next::GiveUp;
        }
        self.retries += 1;
        Next::Retry(wait)
    }

    /// 1, 2, 4, … seconds, three quarters to five quarters of it.
    fn backoff(&self) -> Duration {
        let whole = Duration::from_secs(1) * 2u32.saturating_pow(self.retries);
        let chance = u32::try_from(RandomState::new().build_hasher().finish() % 500).unwrap_or_default();
        (whole * (750 + chance) / 1000).min(CAP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_three_times_ever_more_slowly() {
        let mut failures = Failures::default();
        for seconds in [1.0, 2.0, 4.0] {
            let Next::Retry(wait) = failures.next(ModelErrorKind::Transient) else { panic!() };
            assert!((seconds * 0.75..seconds * 1.25).contains(&wait.as_secs_f64()), "{wait:?}");
        }
        assert_eq!(failures.next(ModelErrorKind::Incomplete), Next::GiveUp);
    }

    #[test]
    fn a_vendor_that_names_a_time_is_heard_within_reason() {
        let asked = |seconds| ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(seconds)) };
        assert_eq!(Failures::default().next(asked(90)), Next::Retry(Duration::from_secs(90)));
        assert_eq!(Failures::default().next(asked(3600)), Next::GiveUp);
    }

    #[test]
    fn garbage_and_orphans_get_one_more_try_and_what_stays_wrong_none() {
        for kind in [ModelErrorKind::Garbage, ModelErrorKind::OrphanedToolCalls] {
            let mut failures = Failures::default();
            assert!(matches!(failures.next(kind), Next::Retry(_)));
            assert_eq!(failures.next(kind), Next::GiveUp);
        }
        assert_eq!(Failures::default().next(ModelErrorKind::Unauthorized), Next::GiveUp);
        assert_eq!(Failures::default().next(ModelErrorKind::Rejected), Next::GiveUp);
        assert_eq!(Failures::default().next(ModelErrorKind::ContextOverflow), Next::Shorten);
    }
}
