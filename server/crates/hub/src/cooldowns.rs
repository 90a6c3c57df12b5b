//! The models that are let rest since they failed. What the turn of one session learned counts for all sessions of the
//! process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::model::SwitchReason;

/// The longest rest. Nobody waits for longer, and a time much later is no date for the editors' panels.
const LONGEST: Duration = Duration::from_secs(31 * 86_400);

/// The models that rest, by their ids.
#[derive(Clone, Default)]
pub(super) struct Cooldowns(Arc<Mutex<HashMap<String, Cooldown>>>);

/// The rest of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cooldown {
    /// Its end, in milliseconds since the Unix epoch.
    pub(super) until: u64,
    /// Why it rests.
    pub(super) reason: SwitchReason,
    /// Its failure, in words.
    pub(super) error: String,
}

impl Cooldowns {
    /// Lets a model rest from now on, and gives the end of that. A longer rest that has begun stays.
    pub(super) fn begin(
        &self,
        model: &str,
        lasting: Duration,
        now: u64,
        (reason, error): (SwitchReason, String),
    ) -> u64 {
        let lasting = u64::try_from(lasting.min(LONGEST).as_millis()).unwrap_or(u64::MAX);
        let until = now.saturating_add(lasting);
        let mut all = self.all();
        if let Some(longer) = all.get(model).filter(|known| known.until > until) {
            return longer.until;
        }
        all.insert(model.to_owned(), Cooldown { until, reason, error });
        until
    }

    /// The rest of a model; none if it does not rest.
    pub(super) fn of(&self, model: &str, now: u64) -> Option<Cooldown> {
        let mut all = self.all();
        all.retain(|_, cooldown| cooldown.until > now);
        all.get(model).cloned()
    }

    /// Lets a model be asked again: it has answered.
    pub(super) fn end(&self, model: &str) {
        self.all().remove(model);
    }

    /// Lets every model be asked again: keys, accounts or addresses have changed.
    pub(super) fn clear(&self) {
        self.all().clear();
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Cooldown>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_rests_for_its_time_and_for_every_session() {
        let cooldowns = Cooldowns::default();
        let why = || (SwitchReason::RateLimited, "too many requests".to_owned());
        assert_eq!(cooldowns.begin("a", Duration::from_secs(2), 1_000, why()), 3_000);
        assert_eq!(cooldowns.begin("a", Duration::from_secs(1), 1_500, why()), 3_000, "a shorter one changes nothing");
        let of_another_session = cooldowns.clone();
        assert!(of_another_session.of("a", 2_999).is_some_and(|it| it.reason == SwitchReason::RateLimited));
        assert_eq!((of_another_session.of("a", 3_000), of_another_session.of("b", 1_000)), (None, None));
        assert_eq!(cooldowns.begin("a", Duration::MAX, 1, why()), 31 * 86_400_000 + 1, "no rest is without an end");
        cooldowns.end("a");
        assert_eq!(of_another_session.of("a", 2), None, "it has answered");
        cooldowns.begin("a", Duration::MAX, 1, why());
        of_another_session.clear();
        assert_eq!(cooldowns.of("a", 2), None);
        cooldowns.begin("a", Duration::ZERO, 1, why());
        assert_eq!(cooldowns.of("a", 1), None, "a rest of no time is none");
    }
}
