//! The bill: the requests to models and what they cost, by day, model, provider, project or session.

pub mod activity;
pub(crate) mod projects;
pub(crate) mod rounds;

use std::collections::{BTreeMap, HashMap, HashSet};

use ports::spent::{Spent, Sums};
use ports::store::{SessionFilter, Store, StoreError};
use protocol::SessionId;
use protocol::session::SessionInfo;
use providers::cost::format_cost;
use serde::Serialize;

use crate::clock::{day_of, name_of};

/// The ways to divide a bill into rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By day (UTC), the last first.
    Day,
    /// By model, the one that cost most first.
    Model,
    /// By provider, the one that cost most first.
    Provider,
    /// By project, the one that cost most first.
    Project,
    /// By session, the one that cost most first.
    Session,
}

impl By {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Day, Self::Model, Self::Provider, Self::Project, Self::Session];

    /// The name, as it is written on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Model => "model",
            Self::Provider => "provider",
            Self::Project => "project",
            Self::Session => "session",
        }
    }

    /// The one with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.name() == name)
    }
}

/// A bill. Suggestions while the user types are not in its rows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Bill {
    /// The number of days, today among them; none for all time.
    pub days: Option<u32>,
    /// The first of them, such as `2026-11-21`.
    pub since: Option<String>,
    /// The division into rows.
    pub by: By,
    /// The rows.
    pub rows: Vec<Line>,
    /// The sum of the rows.
    pub total: Amount,
    /// The part of it that was asked outside turns, by role, such as `title`.
    pub side: BTreeMap<String, Amount>,
    /// The part of it of sessions that other sessions started.
    pub children: Amount,
    /// The models of requests whose cost is unknown, with the number of these.
    pub unpriced: BTreeMap<String, u64>,
    /// The cost of suggestions in US dollars, of 90 days at most. It is not in the total.
    pub suggestions_cost: f64,
}

/// A row of a bill.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The day, model, provider, the path of the project, or the session's id.
    pub name: String,
    /// The session's title, or the short name of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The session that started this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// True for a session that was deleted, and for the row of all such sessions.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
    /// The sums.
    #[serde(flatten)]
    pub amount: Amount,
}

/// Sums, as they are written as JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(into = "Written")]
pub struct Amount(pub Sums);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    requests: u64,
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    cache_hits: Option<f64>,
    /// The known part; null if nothing is known of it.
    cost: Option<f64>,
    unpriced_requests: u64,
}

impl From<Amount> for Written {
    fn from(Amount(sums): Amount) -> Self {
        let Sums { requests, unpriced, usage, .. } = sums;
        Self {
            requests,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            cache_hits: sums.cache_hits(),
            cost: sums.known_cost(),
            unpriced_requests: unpriced,
        }
    }
}

/// The bill of the last days, today (UTC) among them, or of all time. Blocks.
///
/// # Errors
/// A failure of the store.
pub fn bill(store: &dyn Store, days: Option<u32>, by: By, now: u64) -> Result<Bill, StoreError> {
    let since = days.map(|days| day_of(now).saturating_sub(days.saturating_sub(1)));
    let spent = store.spent(since.unwrap_or_default())?;
    let sessions = match by {
        By::Session | By::Project => all_sessions(store)?,
        By::Day | By::Model | By::Provider => Vec::new(),
    };
    let suggestions_cost = store.costs(since.unwrap_or_default())?.iter().map(|cost| cost.dollars).sum();
    let since = since.map(name_of);
    Ok(Bill { days, since, by, suggestions_cost, rows: lines(&spent, by, &sessions), ..parts(&spent, by) })
}

/// All sessions that there are. Blocks.
///
/// # Errors
/// A failure of the store.
pub(crate) fn all_sessions(store: &dyn Store) -> Result<Vec<SessionInfo>, StoreError> {
    store.list(&SessionFilter { limit: usize::MAX, ..SessionFilter::default() })
}

/// The cost of these requests, or as much as is known of it.
pub fn cost_in_words(sums: &Sums) -> String {
    match sums.unpriced {
        0 => format_cost(sums.cost),
        unpriced if unpriced == sums.requests => "unknown".to_owned(),
        _ => format!("{} and more", format_cost(sums.cost)),
    }
}

/// The share of the input that came from the vendor's cache.
pub fn hits_in_words(sums: &Sums) -> String {
    sums.cache_hits().map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", share * 100.0))
}

/// A number of requests.
pub fn requests_in_words(requests: u64) -> String {
    format!("{requests} {}", if requests == 1 { "request" } else { "requests" })
}

/// The role of requests outside turns, as users know it.
pub fn role_in_words(role: &str) -> &str {
    match role {
        "title" => "titles",
        role => role,
    }
}

/// The sum of requests.
pub(crate) fn sum<'a>(spent: impl IntoIterator<Item = &'a Spent>) -> Sums {
    let mut sums = Sums::default();
    spent.into_iter().for_each(|spent| sums += spent.sums);
    sums
}

/// The sums by a key.
pub(crate) fn grouped<'a, K: Ord>(
    spent: impl IntoIterator<Item = &'a Spent>,
    key: impl Fn(&'a Spent) -> K,
) -> BTreeMap<K, Sums> {
    let mut groups = BTreeMap::<K, Sums>::new();
    for spent in spent {
        *groups.entry(key(spent)).or_default() += spent.sums;
    }
    groups
}

/// The total and its parts, without rows.
fn parts(spent: &[Spent], by: By) -> Bill {
    let aside = spent.iter().filter_map(|row| row.role.as_ref().map(|role| (role, row)));
    let mut side = BTreeMap::<String, Amount>::new();
    for (role, row) in aside {
        side.entry(role.clone()).or_default().0 += row.sums;
    }
    Bill {
        days: None,
        since: None,
        by,
        rows: Vec::new(),
        total: Amount(sum(spent)),
        side,
        children: Amount(sum(spent.iter().filter(|row| row.parent.is_some()))),
        unpriced: unpriced(spent),
        suggestions_cost: 0.0,
    }
}

/// The models of requests whose cost is unknown, with the number of these.
pub(crate) fn unpriced(spent: &[Spent]) -> BTreeMap<String, u64> {
    let unpriced = grouped(spent.iter().filter(|row| row.sums.unpriced > 0), |row| row.model.clone());
    unpriced.into_iter().map(|(model, sums)| (model, sums.unpriced)).collect()
}

/// The requests by model.
pub(crate) fn by_model<'a>(spent: impl IntoIterator<Item = &'a Spent> + Clone) -> BTreeMap<String, Sums> {
    let names = names(spent.clone().into_iter().map(|row| row.model.as_str()));
    grouped(spent, |row| names.get(row.model.as_str()).copied().unwrap_or(&row.model).to_owned())
}

/// The names under which models are counted. One with an id for thinking, such as `x-thinking`, is `x` if that was
/// asked too, unless a model of its own is called so.
pub(crate) fn names<'a>(models: impl IntoIterator<Item = &'a str>) -> HashMap<&'a str, &'a str> {
    let asked: HashSet<_> = models.into_iter().collect();
    let name = |model: &'a str| {
        let plain = ["-thinking", ":thinking"].iter().find_map(|end| model.strip_suffix(end));
        plain.filter(|plain| asked.contains(plain) && !providers::is_listed_model(model)).unwrap_or(model)
    };
    asked.iter().map(|model| (*model, name(model))).collect()
}

/// The rows of a bill. `sessions` are those whose titles or projects are told.
pub(crate) fn lines(spent: &[Spent], by: By, sessions: &[SessionInfo]) -> Vec<Line> {
    let known: HashMap<_, _> = sessions.iter().map(|info| (info.session_id.as_str(), info)).collect();
    let groups = match by {
        By::Day => grouped(spent, |row| name_of(row.day)),
        By::Model => by_model(spent),
        By::Provider => grouped(spent, |row| provider(&row.model).to_owned()),
        By::Project => {
            grouped(spent, |row| known.get(row.session.as_str()).map(|info| projects::of(info)).unwrap_or_default())
        }
        By::Session => grouped(spent, |row| row.session.to_string()),
    };
    let mut lines: Vec<_> =
        groups.into_iter().map(|(name, sums)| Line { name, amount: Amount(sums), ..Line::default() }).collect();
    if by == By::Day {
        lines.reverse();
        return lines;
    }
    if by == By::Session {
        let parents: HashMap<_, _> = spent.iter().map(|row| (row.session.as_str(), &row.parent)).collect();
        for line in &mut lines {
            let info = known.get(line.name.as_str());
            line.title = info.map(|info| info.title.clone()).filter(|title| !title.is_empty());
            line.deleted = info.is_none();
            line.parent = parents.get(line.name.as_str()).and_then(|parent| (*parent).clone());
        }
    }
    if by == By::Project {
        projects::name(&mut lines);
    }
    // Those that cost the same keep the order of their names.
    let weight = |line: &Line| (line.amount.0.cost, line.amount.0.usage.total());
    lines.sort_by(|one, other| {
        let ((cost, tokens), (other_cost, other_tokens)) = (weight(one), weight(other));
        other_cost.total_cmp(&cost).then(other_tokens.cmp(&tokens))
    });
    lines
}

/// The provider in a model's id.
fn provider(model: &str) -> &str {
    model.split_once('/').map_or(model, |(provider, _)| provider)
}

#[cfg(test)]
mod tests {
    use protocol::TurnId;
    use protocol::content::Usage;

    use super::*;

    fn spent(day: u32, session: &str, model: &str, input: u64, cost: Option<f64>) -> Spent {
        Spent {
            day,
            session: session.into(),
            parent: None,
            turn: Some(TurnId::from("t")),
            role: None,
            model: model.into(),
            sums: Sums::one(Usage { input, cache_read: input, ..Usage::default() }, cost),
        }
    }

    /// The names of the rows, with requests, cost and unpriced requests.
    fn rows(spent: &[Spent], by: By) -> Vec<(String, u64, f64, u64)> {
        let rows = lines(spent, by, &[]).into_iter();
        rows.map(|Line { name, amount: Amount(sums), .. }| (name, sums.requests, sums.cost, sums.unpriced)).collect()
    }

    fn some() -> Vec<Spent> {
        vec![
            spent(1, "one", "a/x", 10, Some(0.25)),
            spent(2, "one", "a/y", 30, None),
            spent(2, "two", "b/x", 10, Some(0.5)),
            Spent { turn: None, role: Some("title".into()), ..spent(2, "two", "a/x", 10, Some(0.125)) },
            Spent { parent: Some("one".into()), ..spent(3, "three", "c", 20, None) },
        ]
    }

    #[test]
    fn rows_are_divided_and_sorted_as_was_asked() {
        let named = |name: &str, requests, cost, unpriced| (name.to_owned(), requests, cost, unpriced);
        let days = [named("1970-01-04", 1, 0.0, 1), named("1970-01-03", 3, 0.625, 1), named("1970-01-02", 1, 0.25, 0)];
        assert_eq!(rows(&some(), By::Day), days);
        let models =
            [named("b/x", 1, 0.5, 0), named("a/x", 2, 0.375, 0), named("a/y", 1, 0.0, 1), named("c", 1, 0.0, 1)];
        assert_eq!(rows(&some(), By::Model), models, "the larger of two that cost the same is first");
        let providers = [named("b", 1, 0.5, 0), named("a", 3, 0.375, 1), named("c", 1, 0.0, 1)];
        assert_eq!(rows(&some(), By::Provider), providers);
        let sessions = [named("two", 2, 0.625, 0), named("one", 2, 0.25, 1), named("three", 1, 0.0, 1)];
        assert_eq!(rows(&some(), By::Session), sessions);
    }

    #[test]
    fn a_model_and_its_id_for_thinking_are_one_row() {
        let requests = [
            spent(1, "s", "a/x-thinking", 1, Some(0.25)),
            spent(1, "s", "a/x", 1, Some(0.25)),
            spent(1, "s", "b/x:thinking", 1, Some(0.125)),
            spent(1, "s", "c/k-thinking", 1, None),
            spent(1, "s", "openrouter/moonshotai/kimi-k2", 1, None),
            spent(1, "s", "openrouter/moonshotai/kimi-k2-thinking", 1, None),
        ];
        let named = |name: &str, requests, cost, unpriced| (name.to_owned(), requests, cost, unpriced);
        let alone = "a model is called as it was asked for if there is no other";
        let rows = rows(&requests, By::Model);
        assert_eq!(
            rows,
            [
                named("a/x", 2, 0.5, 0),
                named("b/x:thinking", 1, 0.125, 0),
                named("c/k-thinking", 1, 0.0, 1),
                named("openrouter/moonshotai/kimi-k2", 1, 0.0, 1),
                named("openrouter/moonshotai/kimi-k2-thinking", 1, 0.0, 1),
            ],
            "{alone}"
        );
    }

    #[test]
    fn titles_children_and_unknown_costs_are_named() {
        let bill = parts(&some(), By::Model);
        assert_eq!((bill.total.0.requests, bill.total.0.cost), (5, 0.875));
        assert_eq!(bill.side["title"].0.cost, 0.125);
        assert_eq!(bill.children.0.requests, 1);
        assert_eq!(bill.unpriced, BTreeMap::from([("a/y".to_owned(), 1), ("c".to_owned(), 1)]));
        let lines = lines(&some(), By::Session, &[]);
        assert_eq!(lines[2].parent, Some("one".into()));
        assert!(lines[0].deleted && lines[0].parent.is_none());
    }

    #[test]
    fn an_unknown_cost_is_never_written_as_nothing() {
        let (known, unknown) = (spent(1, "s", "m", 1, Some(0.25)), spent(1, "s", "m", 1, None));
        let json = |rows: &[&Spent]| serde_json::to_value(Amount(sum(rows.iter().copied()))).unwrap();
        assert_eq!(cost_in_words(&sum([&known])), "$0.250");
        assert_eq!(cost_in_words(&sum([&unknown])), "unknown");
        assert_eq!(cost_in_words(&sum([&known, &unknown])), "$0.250 and more");
        assert_eq!(cost_in_words(&Sums::default()), "$0.00");
        assert_eq!(json(&[&unknown])["cost"], serde_json::Value::Null);
        assert_eq!(json(&[&known, &unknown])["cost"], 0.25);
        assert_eq!(json(&[&known, &unknown])["unpricedRequests"], 1);
        assert_eq!(json(&[&known])["cacheHits"], 0.5);
    }
}
