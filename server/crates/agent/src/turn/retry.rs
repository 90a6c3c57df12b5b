//! The next action after a request failed.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ports::model::ModelErrorKind;
use tokio_util::sync::CancellationToken;

/// The longest wait of ours, unless the user wants the first to be longer.
const CAP: Duration = Duration::from_secs(30);
/// How often in a row a model is told that its call could not be read.
pub(super) const MOST_TOLD: u32 = 3;

/// The user's settings for requests that fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often in a row a request is tried again. A request that succeeds begins a new count.
    pub retries: u32,
    /// The same for answers that break off, counted by themselves; none for counting them with the others.
    pub stream_retries: Option<u32>,
    /// The first wait of ours; each further one is twice as long.
    pub first_delay: Duration,
    /// The longest wait that a vendor may ask for; past it, the user is better told than kept waiting.
    pub longest_asked: Duration,
}

impl Default for RetryPolicy {
    /// The defaults of the settings.
    fn default() -> Self {
        Self {
            retries: 3,
            stream_retries: None,
            first_delay: Duration::from_secs(1),
            longest_asked: Duration::from_secs(120),
        }
    }
}

/// The wait of a turn before a request is tried again, which others can end.
#[derive(Clone, Debug, Default)]
pub struct RetryWait(Arc<Mutex<Option<CancellationToken>>>);

impl RetryWait {
    /// Ends the wait; false if the turn does not wait.
    pub fn end(&self) -> bool {
        self.current().take().inspect(CancellationToken::cancel).is_some()
    }

    /// Waits so long, or until somebody ends the wait; true in that case.
    pub(super) async fn wait(&self, delay: Duration) -> bool {
        let ended = CancellationToken::new();
        *self.current() = Some(ended.clone());
        let _over = Over(self);
        tokio::time::timeout(delay, ended.cancelled()).await.is_ok()
    }

    fn current(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks the wait as over, even if it is dropped because the turn was cancelled.
struct Over<'a>(&'a RetryWait);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.current().take();
    }
}

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
    policy: RetryPolicy,
    retries: u32,
    /// The retries of answers that broke off, if they are counted by themselves.
    stream_retries: u32,
    /// True if the last failure is counted among those.
    is_of_stream: bool,
    /// How often the model was told that its call could not be read.
    pub(super) unreadable: u32,
    garbage: bool,
    orphaned: bool,
    /// True if an answer was empty.
    empty: bool,
}

impl Failures {
    /// No failure yet.
    pub(super) fn new(policy: RetryPolicy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// The same policy, and no failure.
    pub(super) fn over(&self) -> Self {
        Self::new(self.policy)
    }

    /// The number of retries so far, of those that the last failure is counted among.
    pub(super) fn retries(&self) -> u32 {
        if self.is_of_stream { self.stream_retries } else { self.retries }
    }

    /// The number of them that there may be.
    pub(super) fn most(&self) -> u32 {
        self.policy.stream_retries.filter(|_| self.is_of_stream).unwrap_or(self.policy.retries)
    }

    /// Takes in an answer with nothing in it. True if it is asked for again: once.
    pub(super) fn empty(&mut self) -> bool {
        !std::mem::replace(&mut self.empty, true)
    }

    /// The policy, all of it, with the defaults of the settings:
    ///
    /// - what may pass (network, 5xx, overload, a stream that breaks off) is tried again three times, after about 1, 2
    ///   and 4 seconds, with some chance in it so that many clients do not come back at once; answers that break off
    ///   are counted by themselves if the user wants another number of retries for them;
    /// - too many requests, or an overload with a time named: as long after as the vendor asks, if it names a time, and
    ///   not at all if that is longer than two minutes; from the second retry on, not sooner than without one;
    /// - what is not the vendor's protocol is tried again once: it may have been a proxy's error page;
    /// - a complaint of calls without results, or of their signatures, is tried again once, at once, with the calls and
    ///   their results told in words;
    /// - of a call that the vendor could not read the model is told, three times in a row at most;
    /// - a request that is too long is made shorter;
    /// - a wrong key, a model that is not served, a quota that is used up and a rejected request stay wrong.
    pub(super) fn next(&mut self, kind: ModelErrorKind) -> Next {
        self.is_of_stream = kind == ModelErrorKind::Incomplete && self.policy.stream_retries.is_some();
        let wait = match kind {
            ModelErrorKind::Transient | ModelErrorKind::Incomplete => self.backoff(),
            ModelErrorKind::RateLimited { retry_after: None | Some(Duration::ZERO) } => self.backoff(),
            ModelErrorKind::RateLimited { retry_after: Some(asked) }
            | ModelErrorKind::Overloaded { retry_after: asked }
                if asked <= self.policy.longest_asked =>
            {
                if self.retries() == 0 {
                    asked
                } else {
                    asked.max(self.backoff())
                }
            }
            ModelErrorKind::RateLimited { .. } | ModelErrorKind::Overloaded { .. } => return Next::GiveUp,
            ModelErrorKind::Garbage if !self.garbage => {
                self.garbage = true;
                self.backoff()
            }
            ModelErrorKind::OrphanedToolCalls if !self.orphaned => {
                self.orphaned = true;
                return Next::Retry(Duration::ZERO);
            }
            ModelErrorKind::ContextOverflow => return Next::Shorten,
            ModelErrorKind::UnreadableCall if self.unreadable < MOST_TOLD => {
                self.unreadable += 1;
                return Next::Tell;
            }
            ModelErrorKind::UnreadableCall
            | ModelErrorKind::Garbage
            | ModelErrorKind::OrphanedToolCalls
            | ModelErrorKind::QuotaUsedUp
            | ModelErrorKind::Unauthorized
            | ModelErrorKind::NoSuchModel
            | ModelErrorKind::Rejected => return Next::GiveUp,
        };
        if self.retries() >= self.most() {
            return Next::GiveUp;
        }
        let counted = if self.is_of_stream { &mut self.stream_retries } else { &mut self.retries };
        *counted += 1;
        Next::Retry(wait)
    }

    /// The first delay, twice as long with each retry, three quarters to five quarters of it.
    fn backoff(&self) -> Duration {
        let first = self.policy.first_delay;
        let whole = first.saturating_mul(2u32.saturating_pow(self.retries())).min(CAP.max(first));
        let chance = u32::try_from(RandomState::new().build_hasher().finish() % 500).unwrap_or_default();
        (whole * (750 + chance) / 1000).min(CAP.max(first))
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
        let busy = |seconds| ModelErrorKind::Overloaded { retry_after: Duration::from_secs(seconds) };
        assert_eq!(Failures::default().next(busy(90)), Next::Retry(Duration::from_secs(90)));
        assert_eq!(Failures::default().next(busy(3600)), Next::GiveUp);
    }

    #[test]
    fn a_vendor_that_always_asks_for_a_moment_does_not_use_up_the_retries_in_one() {
        let moment = Duration::from_millis(5);
        let mut failures = Failures::default();
        let mut next = || failures.next(ModelErrorKind::RateLimited { retry_after: Some(moment) });
        assert_eq!(next(), Next::Retry(moment));
        for seconds in [2.0, 4.0] {
            let Next::Retry(wait) = next() else { panic!() };
            assert!((seconds * 0.75..seconds * 1.25).contains(&wait.as_secs_f64()), "{wait:?}");
        }
        assert_eq!(next(), Next::GiveUp);
    }

    #[test]
    fn the_users_settings_say_how_often_how_long_and_how_patiently() {
        let policy = RetryPolicy {
            retries: 1,
            stream_retries: None,
            first_delay: Duration::from_secs(40),
            longest_asked: Duration::from_secs(10),
        };
        let mut failures = Failures::new(policy);
        let Next::Retry(wait) = failures.next(ModelErrorKind::Transient) else { panic!() };
        assert!((30.0..=40.0).contains(&wait.as_secs_f64()), "a first wait beyond the cap is the cap: {wait:?}");
        assert_eq!(failures.next(ModelErrorKind::Transient), Next::GiveUp);
        let asked = ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(11)) };
        assert_eq!(failures.over().next(asked), Next::GiveUp);
        let mut never = Failures::new(RetryPolicy { retries: 0, ..policy });
        assert_eq!(never.next(ModelErrorKind::Incomplete), Next::GiveUp);
        let told_in_words = never.next(ModelErrorKind::OrphanedToolCalls);
        assert_eq!(told_in_words, Next::Retry(Duration::ZERO), "that is another request, and no wait");
    }

    #[test]
    fn answers_that_break_off_have_a_number_of_retries_of_their_own_if_the_user_says_so() {
        let policy = RetryPolicy { retries: 1, stream_retries: Some(2), ..RetryPolicy::default() };
        let mut failures = Failures::new(policy);
        for (kind, number, is_again) in [
            (ModelErrorKind::Incomplete, (1, 2), true),
            (ModelErrorKind::Transient, (1, 1), true),
            (ModelErrorKind::Incomplete, (2, 2), true),
            (ModelErrorKind::Incomplete, (2, 2), false),
            (ModelErrorKind::Transient, (1, 1), false),
        ] {
            assert_eq!(matches!(failures.next(kind), Next::Retry(_)), is_again, "{kind:?}");
            assert_eq!((failures.retries(), failures.most()), number, "{kind:?}");
        }
        let mut never = Failures::new(RetryPolicy { stream_retries: Some(0), ..policy });
        assert_eq!(never.next(ModelErrorKind::Incomplete), Next::GiveUp);
        assert!(matches!(never.next(ModelErrorKind::Transient), Next::Retry(_)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_somebody_ends_is_over_at_once_and_what_is_over_cannot_be_ended() {
        let wait = RetryWait::default();
        assert!(!wait.end(), "nothing waits yet");
        let (waited, ended) = tokio::join!(wait.wait(Duration::from_secs(60)), async { wait.end() });
        assert!(waited && ended);
        assert!(!wait.wait(Duration::from_secs(1)).await, "the end of one wait is none of the next");
        assert!(!wait.end());
    }

    #[test]
    fn garbage_and_orphans_get_one_more_try_and_what_stays_wrong_none() {
        for kind in [ModelErrorKind::Garbage, ModelErrorKind::OrphanedToolCalls] {
            let mut failures = Failures::default();
            assert!(matches!(failures.next(kind), Next::Retry(_)));
            assert_eq!(failures.next(kind), Next::GiveUp);
        }
        assert_eq!(Failures::default().next(ModelErrorKind::Unauthorized), Next::GiveUp);
        assert_eq!(Failures::default().next(ModelErrorKind::NoSuchModel), Next::GiveUp);
        assert_eq!(Failures::default().next(ModelErrorKind::Rejected), Next::GiveUp);
        assert_eq!(Failures::default().next(ModelErrorKind::QuotaUsedUp), Next::GiveUp);
        assert_eq!(Failures::default().next(ModelErrorKind::ContextOverflow), Next::Shorten);
    }
}
