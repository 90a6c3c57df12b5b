//! Budgets: what a session, and all sessions in a day, may cost before the user is asked.
//!
//! The sums are those of the bill, so titles and the sessions that a session starts count, in whichever process they
//! run. An answer that allows more counts for this process, until it ends.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use ports::spent::{Spent, Sums};
use ports::store::{Store, StoreError};
use protocol::PermissionId;
use protocol::SessionId;
use protocol::costs::{BudgetScope, BudgetStatus};
use protocol::permission::{PermissionAbout, PermissionOption, PermissionOptionKind, PermissionRequest};
use providers::cost::format_cost;

use crate::bill::{requests_in_words, sum};
use crate::clock::{Clock, day_of};
use crate::config::Settings;
use crate::feed::blocking;

/// The part of a budget that may be left when the user is warned.
const LEFT: f64 = 0.2;
/// The beginning of the id of the answer that allows more; the scope, the new limit and how much more that is follow.
const MORE: &str = "spend_more";
const STOP: &str = "stop";

/// The amounts that the user's answers in this process added to budgets, and the words that were said of them.
#[derive(Debug, Default)]
pub(crate) struct Budgets(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The limits that answers raised.
    raised: HashMap<Key, f64>,
    /// The amounts that were spent when somebody last looked.
    spent: HashMap<Key, f64>,
    told: HashSet<(Key, Word)>,
}

/// A session, or a day.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Session(SessionId),
    Day(u32),
}

/// A word that is said once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Word {
    /// Little is left of the limit with these bits.
    Low(u64),
    Unpriced,
}

/// The budgets of a session, with what they are measured by.
#[derive(Clone)]
pub(crate) struct Budget {
    budgets: Arc<Budgets>,
    clock: Clock,
    /// The session, or the one that started it.
    session: SessionId,
    of_session: Option<f64>,
    of_day: Option<f64>,
    /// True if its words are said elsewhere.
    is_silent: bool,
}

/// A budget, and how much of it is spent.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    key: Key,
    /// As the setting says it.
    budget: f64,
    /// With what answers added.
    limit: f64,
    sums: Sums,
}

impl Budget {
    /// The budgets that these settings give a session, whose costs include those of the sessions that it started.
    pub(crate) fn new(budgets: Arc<Budgets>, clock: Clock, session: SessionId, settings: &Settings) -> Self {
        let (of_session, of_day) = (settings.session_budget, settings.day_budget);
        Self { budgets, clock, session, of_session, of_day, is_silent: false }
    }

    /// The same, without the words that are due: for a session that another one started, whose user reads that one.
    pub(crate) fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// True if there is none.
    pub(crate) fn is_unset(&self) -> bool {
        self.of_session.is_none() && self.of_day.is_none()
    }

    /// The budgets that are set, by what the store has.
    ///
    /// # Errors
    /// It cannot be read.
    pub(crate) async fn read(&self, store: Arc<dyn Store>) -> Result<Vec<Found>, StoreError> {
        let budget = self.clone();
        let look = move || budget.look(|session| Ok(store.info(session)?.created_at), |day| store.spent(day));
        blocking(look).await
    }

    /// The budgets that are set. `since` gives the requests from a day on, `began` the time of the session's creation.
    ///
    /// # Errors
    /// Those of the functions.
    pub(crate) fn look(
        &self,
        began: impl FnOnce(&SessionId) -> Result<u64, StoreError>,
        since: impl FnOnce(u32) -> Result<Vec<Spent>, StoreError>,
    ) -> Result<Vec<Found>, StoreError> {
        let today = day_of(self.clock.now());
        let first = if self.of_session.is_some() { day_of(began(&self.session)?).min(today) } else { today };
        let spent = since(first)?;
        let is_own = |row: &&Spent| row.session == self.session || row.parent.as_ref() == Some(&self.session);
        let of_session = self
            .of_session
            .map(|budget| (Key::Session(self.session.clone()), budget, sum(spent.iter().filter(is_own))));
        let of_day =
            self.of_day.map(|budget| (Key::Day(today), budget, sum(spent.iter().filter(|row| row.day == today))));
        let mut state = self.budgets.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = of_session.into_iter().chain(of_day).map(|(key, budget, sums)| {
            let limit = state.raised.get(&key).map_or(budget, |raised| raised.max(budget));
            state.spent.insert(key.clone(), sums.cost);
            Found { key, budget, limit, sums }
        });
        Ok(found.collect())
    }

    /// The words that are due for a budget, each once: that little is left, and that some costs are unknown.
    pub(crate) fn due(&self, found: &Found) -> Vec<String> {
        if self.is_silent {
            return Vec::new();
        }
        let mut state = self.budgets.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut words = Vec::new();
        if found.is_low() && state.told.insert((found.key.clone(), Word::Low(found.limit.to_bits()))) {
            words.push(found.in_words());
        }
        if found.sums.unpriced > 0 && state.told.insert((found.key.clone(), Word::Unpriced)) {
            words.push(format!(
                "The cost of {} is unknown, and not in the budget of {}.",
                requests_in_words(found.sums.unpriced),
                found.whose()
            ));
        }
        words
    }

    /// Takes an answer to a question about a budget. True if more may be spent.
    pub(crate) fn answered(&self, option_id: &str) -> bool {
        let Some((key, limit, more)) = self.allowed(option_id) else { return false };
        let mut state = self.budgets.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Other conversations may have spent, or been allowed, more since the question was asked.
        let limit = state.spent.get(&key).map_or(limit, |spent| limit.max(spent + more));
        state.raised.entry(key).and_modify(|raised| *raised = raised.max(limit)).or_insert(limit);
        true
    }

    /// The limit that an answer allows, and how much more that is than was spent.
    fn allowed(&self, option_id: &str) -> Option<(Key, f64, f64)> {
        let mut words = option_id.split(':');
        let key = match (words.next()?, words.next()?) {
            (MORE, "session") => Key::Session(self.session.clone()),
            // The next day has a budget of its own.
            (MORE, day) => Key::Day(day.parse().ok()?),
            _ => return None,
        };
        let mut amount = || words.next()?.parse().ok().filter(|amount: &f64| amount.is_finite());
        Some((key, amount()?, amount()?))
    }
}

impl Found {
    /// True if the user is to be asked before more is spent.
    pub(crate) fn is_reached(&self) -> bool {
        self.sums.cost > 0.0 && self.sums.cost >= self.limit
    }

    /// The question.
    pub(crate) fn question(&self, permission_id: PermissionId) -> PermissionRequest {
        let more = if self.budget > 0.0 { self.budget } else { 1.0 };
        let limit = self.sums.cost + more;
        let key = match &self.key {
            Key::Session(_) => "session".to_owned(),
            Key::Day(day) => day.to_string(),
        };
        let option = |option_id: String, name: String, kind| PermissionOption { option_id, name, kind };
        PermissionRequest {
            permission_id,
            tool_call_id: None,
            about: PermissionAbout::Budget,
            title: format!("The budget of {} is spent. Go on?", self.whose()),
            detail: self.in_words(),
            reason: format!("the setting `{}` says so", self.setting()),
            form: None,
            options: vec![
                option(
                    format!("{MORE}:{key}:{limit}:{more}"),
                    format!("Go on with another {}", format_cost(more)),
                    PermissionOptionKind::AllowOnce,
                ),
                option(STOP.to_owned(), "Stop".to_owned(), PermissionOptionKind::RejectOnce),
            ],
        }
    }

    /// Why nothing more is asked of a model.
    pub(crate) fn stopped(&self) -> String {
        format!(
            "{} Say \"go on\" to be asked again, or raise `{}` in your configuration",
            self.in_words(),
            self.setting()
        )
    }

    /// The status, for clients.
    pub(crate) fn status(&self) -> BudgetStatus {
        let scope = match self.key {
            Key::Session(_) => BudgetScope::Session,
            Key::Day(_) => BudgetScope::Day,
        };
        BudgetStatus { scope, limit: self.limit, spent: self.sums.cost }
    }

    fn is_low(&self) -> bool {
        !self.is_reached() && self.sums.cost > 0.0 && self.sums.cost >= self.limit - self.budget * LEFT
    }

    fn in_words(&self) -> String {
        let (spent, limit) = (format_cost(self.sums.cost), format_cost(self.limit));
        match self.key {
            Key::Session(_) => format!("This conversation has cost {spent} of its budget of {limit}."),
            Key::Day(_) => format!("All conversations today (UTC) have cost {spent} of the day's budget of {limit}."),
        }
    }

    fn whose(&self) -> &'static str {
        match self.key {
            Key::Session(_) => "this conversation",
            Key::Day(_) => "the day",
        }
    }

    fn setting(&self) -> &'static str {
        match self.key {
            Key::Session(_) => "session_budget",
            Key::Day(_) => "day_budget",
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::TurnId;
    use protocol::content::Usage;

    use super::*;

    const DAY: u64 = 86_400_000;

    fn spent(day: u32, session: &str, parent: Option<&str>, cost: Option<f64>) -> Spent {
        Spent {
            day,
            session: session.into(),
            parent: parent.map(Into::into),
            turn: Some(TurnId::from("t")),
            role: None,
            model: "m".into(),
            sums: Sums::one(Usage { input: 1, ..Usage::default() }, cost),
        }
    }

    fn budget(of_session: Option<f64>, of_day: Option<f64>) -> Budget {
        let settings = Settings { session_budget: of_session, day_budget: of_day, ..Settings::default() };
        Budget::new(Arc::default(), Clock::new(|| 9 * DAY), "one".into(), &settings)
    }

    fn look(budget: &Budget, rows: &[Spent]) -> Vec<Found> {
        budget.look(|_| Ok(8 * DAY), |day| Ok(rows.iter().filter(|row| row.day >= day).cloned().collect())).unwrap()
    }

    fn rows() -> Vec<Spent> {
        vec![
            spent(7, "two", None, Some(8.0)),
            spent(8, "one", None, Some(2.0)),
            spent(9, "child", Some("one"), Some(1.5)),
            spent(9, "two", None, Some(0.25)),
            spent(9, "one", None, None),
        ]
    }

    #[test]
    fn a_session_counts_with_those_that_it_started_and_a_day_with_all() {
        let budget = budget(Some(10.0), Some(10.0));
        let spent: Vec<_> = look(&budget, &rows()).iter().map(|found| found.status().spent).collect();
        assert_eq!(spent, [3.5, 1.75]);
    }

    #[test]
    fn the_user_is_warned_once_asked_at_the_end_and_asked_again_after_another_budget() {
        let budget = budget(Some(4.0), None);
        let mut rows = rows();
        let found = look(&budget, &rows).remove(0);
        assert!(!found.is_reached());
        assert!(budget.clone().silent().due(&found).is_empty(), "a child leaves them to its parent");
        let due = budget.due(&found);
        assert_eq!(due[0], "This conversation has cost $3.50 of its budget of $4.00.");
        assert!(due[1].starts_with("The cost of 1 request is unknown"), "{due:?}");
        assert!(budget.due(&found).is_empty());

        rows.push(spent(9, "one", None, Some(1.0)));
        let found = look(&budget, &rows).remove(0);
        assert!(found.is_reached() && budget.due(&found).is_empty());
        let question = found.question("q".into());
        assert_eq!(question.options[0].name, "Go on with another $4.00");
        assert!(!budget.answered(&question.options[1].option_id) && !budget.answered("spend_more:session:inf"));
        assert!(look(&budget, &rows)[0].is_reached());
        assert!(budget.answered(&question.options[0].option_id));
        let found = look(&budget, &rows).remove(0);
        assert!(!found.is_reached() && found.status().limit == 8.5);

        rows.push(spent(9, "one", None, Some(4.0)));
        assert!(look(&budget, &rows)[0].is_reached());
    }

    #[test]
    fn nothing_is_asked_where_nothing_was_paid() {
        let budget = budget(Some(0.0), Some(0.0));
        assert!(look(&budget, &[spent(9, "one", None, Some(0.0))]).iter().all(|found| !found.is_reached()));
        let found = look(&budget, &rows());
        assert!(found.iter().all(Found::is_reached));
        assert_eq!(found[0].question("q".into()).options[0].name, "Go on with another $1.00");
    }

    #[test]
    fn an_old_answer_takes_nothing_back_and_counts_from_what_is_spent_by_then() {
        let budget = budget(None, Some(1.0));
        let mut rows = rows();
        let old = look(&budget, &rows).remove(0).question("q".into());
        rows.push(spent(9, "two", None, Some(4.0)));
        let new = look(&budget, &rows).remove(0).question("p".into());
        let limit = |rows: &[Spent]| look(&budget, rows)[0].status().limit;
        assert!(budget.answered(&old.options[0].option_id));
        assert_eq!(limit(&rows), 6.75);
        rows.push(spent(9, "two", None, Some(1.0)));
        assert_eq!(limit(&rows), 6.75);
        assert!(budget.answered(&new.options[0].option_id));
        assert_eq!(limit(&rows), 7.75);
        assert!(budget.answered("spend_more:9:2:0.5"));
        assert_eq!(limit(&rows), 7.75, "what was allowed stays allowed");
    }

    #[test]
    fn more_for_a_day_is_for_that_day() {
        let budget = budget(None, Some(1.0));
        let question = look(&budget, &rows())[0].question("q".into());
        assert!(budget.answered(&question.options[0].option_id));
        assert!(!look(&budget, &rows())[0].is_reached());
        let tomorrow = Budget { clock: Clock::new(|| 10 * DAY), ..budget };
        assert!(look(&tomorrow, &[spent(10, "x", None, Some(1.5))])[0].is_reached());
    }
}
