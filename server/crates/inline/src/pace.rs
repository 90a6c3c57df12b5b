//! The wait after a key before a model is asked.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The wait of someone whose typing is not known yet.
const BASE: Duration = Duration::from_millis(75);
/// The shortest wait before a request.
const SHORTEST: Duration = Duration::from_millis(50);
/// The longest wait, but for what [`Pace::wait`] adds for next edits.
const LONGEST: Duration = Duration::from_secs(3);
/// The longest wait because of how somebody types.
const LONGEST_OF_TYPING: Duration = Duration::from_millis(300);

/// The most intervals between keys that are averaged.
const INTERVALS: usize = 20;
/// The fewest of them that tell how somebody types.
const FEWEST_INTERVALS: usize = 5;
/// The shortest interval that counts: keys that are held down, and texts that an editor types, come faster.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(30);
/// The longest interval that is typing and no pause.
const LONGEST_INTERVAL: Duration = Duration::from_millis(600);

/// Rejections and acceptances lose their weight in this time.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);
const PER_REJECTION: f64 = 1.5;
const PER_ACCEPTANCE: f64 = 0.8;
/// The least and the most that they change the wait by; the most makes the base the longest wait.
const LEAST_FACTOR: f64 = 0.5;
const MOST_FACTOR: f64 = 40.0;

/// The time after a rejection in which no next edit is offered.
const QUIET_AFTER_REJECTION: Duration = Duration::from_secs(5);
/// The longer wait of a next edit at the end of a line, where ghost text comes first.
const AT_LINE_END: Duration = Duration::from_secs(2);

/// The speed of somebody's typing, and how they took the last suggestions.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    last_key: Option<Instant>,
    intervals: VecDeque<Duration>,
    decision: Option<Decision>,
    last_rejection: Option<Instant>,
}

/// The kind of suggestion that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text at the cursor.
    Ghost,
    /// An edit of the text around it.
    NextEdit,
}

/// The origin of a suggestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A model is to be asked.
    Model,
    /// It was asked before, for the same text or for one that was typed on.
    Cached,
    /// It is a pending one that was rebased.
    Rebased,
    /// It was asked for before the text was as it is now.
    Speculative,
}

/// The circumstances of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The kind of suggestion.
    pub kind: Kind,
    /// Its origin.
    pub source: Source,
    /// True if the user asked for it by hand.
    pub is_invoked: bool,
    /// True if nothing follows the cursor on its line.
    pub is_line_end: bool,
    /// True if the last key was one after which suggestions are expected, such as `.`, `(` or a new line.
    pub is_after_trigger: bool,
}

/// The weight of the decisions so far, at the time of the last one.
#[derive(Clone, Copy, Debug)]
struct Decision {
    at: Instant,
    factor: f64,
}

impl Pace {
    /// Records that the user typed at this time.
    pub fn typed(&mut self, now: Instant) {
        let interval = self.last_key.map(|last| now.saturating_duration_since(last));
        if let Some(interval) = interval.filter(|it| (SHORTEST_INTERVAL..=LONGEST_INTERVAL).contains(it)) {
            if self.intervals.len() >= INTERVALS {
                self.intervals.pop_front();
            }
            self.intervals.push_back(interval);
        }
        self.last_key = Some(now);
    }

    /// Records that the user accepted a suggestion.
    pub fn accepted(&mut self, now: Instant) {
        self.decided(now, PER_ACCEPTANCE);
    }

    /// Records that the user rejected a suggestion.
    pub fn rejected(&mut self, now: Instant) {
        self.decided(now, PER_REJECTION);
        self.last_rejection = Some(now);
    }

    /// The wait from now on, which is after a key: 50 to 3000 ms if a model is asked, and nothing if the
    /// suggestion is there already or is wanted now.
    ///
    /// A next edit also waits for 5 s after a rejection, and 2 s longer at the end of a line.
    pub fn wait(&self, now: Instant, context: &Context) -> Duration {
        if context.is_invoked || context.source != Source::Model {
            return Duration::ZERO;
        }
        // After such a key people look at what is offered instead of typing on.
        let expected = if context.is_after_trigger { 0.5 } else { 1.0 };
        let wait = self.of_typing().mul_f64(self.factor(now) * expected).clamp(SHORTEST, LONGEST);
        if context.kind == Kind::Ghost {
            return wait;
        }
        let quiet = self
            .last_rejection
            .map(|at| QUIET_AFTER_REJECTION.saturating_sub(now.saturating_duration_since(at)))
            .unwrap_or_default();
        quiet.max(if context.is_line_end { wait + AT_LINE_END } else { wait })
    }

    /// True if rejections make the wait longer than it would be without.
    pub fn is_backing_off(&self, now: Instant) -> bool {
        self.factor(now) > 1.01
    }

    /// Three quarters of the mean interval: the next key of a run usually comes before that, and takes the request's
    /// place.
    fn of_typing(&self) -> Duration {
        let count = self.intervals.len();
        match u32::try_from(count) {
            Ok(of) if count >= FEWEST_INTERVALS => {
                (self.intervals.iter().sum::<Duration>() * 3 / 4 / of).clamp(BASE, LONGEST_OF_TYPING)
            }
            _ => BASE,
        }
    }

    fn decided(&mut self, now: Instant, by: f64) {
        let factor = (self.factor(now) * by).clamp(LEAST_FACTOR, MOST_FACTOR);
        self.decision = Some(Decision { at: now, factor });
    }

    fn factor(&self, now: Instant) -> f64 {
        let Some(Decision { at, factor }) = self.decision else { return 1.0 };
        let age = now.saturating_duration_since(at).as_secs_f64() / FORGOTTEN_AFTER.as_secs_f64();
        factor.powf(1.0 - age.min(1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ASKED: Context = Context {
        kind: Kind::Ghost,
        source: Source::Model,
        is_invoked: false,
        is_line_end: false,
        is_after_trigger: false,
    };

    fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn typing(start: Instant, interval: u64) -> (Pace, Instant) {
        let mut pace = Pace::default();
        for key in 0..30 {
            pace.typed(start + ms(interval) * key);
        }
        (pace, start + ms(interval) * 29)
    }

    #[test]
    fn the_wait_follows_the_speed_of_typing() {
        let start = Instant::now();
        for (interval, wait) in [(20, 75), (80, 75), (200, 150), (500, 300), (5000, 75)] {
            let (pace, now) = typing(start, interval);
            assert_eq!(pace.wait(now, &ASKED), ms(wait), "{interval}");
        }
    }

    #[test]
    fn pauses_are_no_typing() {
        let (mut pace, now) = typing(Instant::now(), 200);
        pace.typed(now + ms(60_000));
        assert_eq!(pace.wait(now + ms(60_000), &ASKED), ms(150));
    }

    #[test]
    fn rejections_make_the_wait_longer_acceptances_shorter_and_both_are_forgotten() {
        let now = Instant::now();
        let mut pace = Pace::default();
        pace.rejected(now);
        pace.rejected(now);
        assert_eq!(pace.wait(now, &ASKED).as_millis(), 168);
        assert!(pace.is_backing_off(now));
        let half = pace.wait(now + FORGOTTEN_AFTER / 2, &ASKED);
        assert_eq!(half.as_millis(), 112, "the weight halves as a power");
        assert_eq!(pace.wait(now + FORGOTTEN_AFTER, &ASKED), BASE);
        assert!(!pace.is_backing_off(now + FORGOTTEN_AFTER));
        for _ in 0..50 {
            pace.rejected(now);
        }
        assert_eq!(pace.wait(now, &ASKED), LONGEST);
        for _ in 0..50 {
            pace.accepted(now);
        }
        assert_eq!(pace.wait(now, &ASKED), SHORTEST);
    }

    #[test]
    fn what_is_there_already_or_wanted_now_does_not_wait() {
        let now = Instant::now();
        let mut pace = Pace::default();
        pace.rejected(now);
        for source in [Source::Cached, Source::Rebased, Source::Speculative] {
            assert_eq!(pace.wait(now, &Context { source, kind: Kind::NextEdit, ..ASKED }), Duration::ZERO);
        }
        assert_eq!(pace.wait(now, &Context { is_invoked: true, ..ASKED }), Duration::ZERO);
    }

    #[test]
    fn a_next_edit_waits_after_a_rejection_and_at_the_end_of_a_line() {
        let now = Instant::now();
        let next = Context { kind: Kind::NextEdit, ..ASKED };
        let mut pace = Pace::default();
        assert_eq!(pace.wait(now, &Context { is_line_end: true, ..next }), BASE + AT_LINE_END);
        pace.rejected(now);
        assert_eq!(pace.wait(now + ms(1000), &next), ms(4000));
        assert_eq!(pace.wait(now + ms(6000), &next).as_millis(), 112);
        assert!(pace.wait(now + ms(1000), &ASKED) < ms(120), "ghost text does not");
    }

    #[test]
    fn after_a_key_that_calls_for_a_suggestion_it_comes_sooner() {
        let (pace, now) = typing(Instant::now(), 300);
        assert_eq!(pace.wait(now, &Context { is_after_trigger: true, ..ASKED }).as_micros(), 112_500);
    }

    proptest! {
        #[test]
        fn the_wait_keeps_its_bounds(
            events in prop::collection::vec((0..3_u8, 0..2_000_000_u64), 0..60), kind in any::<bool>(),
            is_line_end in any::<bool>(), is_after_trigger in any::<bool>(),
        ) {
            let start = Instant::now();
            let mut pace = Pace::default();
            for (event, at) in events {
                // Times may go back, since events come from several threads.
                let now = start + ms(at);
                match event {
                    0 => pace.typed(now),
                    1 => pace.accepted(now),
                    _ => pace.rejected(now),
                }
                let kind = if kind { Kind::Ghost } else { Kind::NextEdit };
                let wait = pace.wait(now, &Context { kind, is_line_end, is_after_trigger, ..ASKED });
                prop_assert!(wait >= SHORTEST && wait <= LONGEST + AT_LINE_END);
                prop_assert!(kind == Kind::NextEdit || wait <= LONGEST);
            }
        }
    }
}
