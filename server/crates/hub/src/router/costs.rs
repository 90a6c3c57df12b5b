//! Costs for clients: of a session and of all, with the budgets and what vendors said of their limits.

use std::path::PathBuf;
use std::sync::Arc;

use ports::spent::{Spent, Sums};
use ports::store::{Store, StoreError};
use protocol::costs::{
    BudgetStatus, CostsShowParams, CostsShowResult, CostsSumsParams, CostsSumsResult, Quota, SessionCosts, Spending,
    SpendingRow, UnpricedModel,
};
use protocol::session::SessionInfo;
use protocol::{SessionId, methods};

use super::super::feed::blocking;
use super::super::post::Shared;
use super::super::request::Handlers;
use super::super::{ClientId, Error, Reply};
use super::Router;
use super::servers::Folders;
use crate::bill::{By, Line, activity, all_sessions, grouped, lines, role_in_words, rounds, sum, unpriced};
use crate::budget::{Budget, Found};
use crate::clock::{day_of, name_of};
use crate::config::Config;

/// Registers what is answered here.
pub(super) fn register(handlers: &mut Handlers<Router, ClientId>) {
    handlers.on::<methods::CostsShow>(|router, id, params, reply| {
        let Some(client) = router.clients.get(&id) else { return };
        let Folders { shared, config, folders, .. } = router.folders_of(client);
        drop(tokio::spawn(Costs { shared, config, folders }.show(params, reply)));
    });
    handlers.on::<methods::CostsSums>(|router, id, CostsSumsParams {}, reply| {
        let Some(client) = router.clients.get(&id) else { return };
        let Folders { shared, .. } = router.folders_of(client);
        drop(tokio::spawn(async move {
            let _ = reply.send(blocking(move || sums(&shared)).await.map_err(Error::from));
        }));
    });
}

/// The sums of today and of all time. Blocks.
fn sums(shared: &Shared) -> Result<CostsSumsResult, StoreError> {
    let (store, day) = (&shared.parts.store, day_of(shared.parts.clock.now()));
    let today = spending(&store.sums(day)?);
    Ok(CostsSumsResult { day: name_of(day), today, total: spending(&store.sums(0)?) })
}

/// The costs, for a client.
struct Costs {
    shared: Shared,
    config: Arc<Config>,
    /// The client's folders, whose files may lower budgets.
    folders: Vec<PathBuf>,
}

impl Costs {
    /// Answers what was spent.
    async fn show(self, params: CostsShowParams, reply: Reply<CostsShowResult>) {
        let quotas = self.shared.parts.catalog.quotas().await;
        let _ = reply.send(blocking(move || self.read(params, quotas)).await.map_err(Error::from));
    }

    /// Reads the costs from the store. Blocks.
    fn read(&self, params: CostsShowParams, quotas: Vec<Quota>) -> Result<CostsShowResult, StoreError> {
        let CostsShowParams { session_id, days } = params;
        let parts = &self.shared.parts;
        let today = day_of(parts.clock.now());
        let spent = parts.store.spent(0)?;
        let since = days.map_or(0, |days| today.saturating_sub(days.saturating_sub(1)));
        let asked: Vec<_> = spent.iter().filter(|row| row.day >= since).cloned().collect();
        // A session that was deleted has no log.
        let info = session_id.and_then(|id| parts.store.info(&id).ok());
        let session = match &info {
            Some(info) => Some(session_costs(&*parts.store, info, &spent)?),
            None => None,
        };
        let sessions = all_sessions(&*parts.store)?;
        let rows = |by| lines(&asked, by, &sessions).into_iter().map(row_of).collect();
        Ok(CostsShowResult {
            session,
            today: spending(&sum(spent.iter().filter(|row| row.day == today))),
            total: spending(&sum(&asked)),
            models: rows(By::Model),
            providers: rows(By::Provider),
            days: rows(By::Day),
            projects: rows(By::Project),
            unpriced: unpriced(&asked).into_iter().map(|(model, requests)| UnpricedModel { model, requests }).collect(),
            suggestions_cost: parts.store.costs(since)?.iter().map(|cost| cost.dollars).sum(),
            budgets: self.budgets(info.as_ref(), &spent)?,
            quotas,
        })
    }

    fn budgets(&self, info: Option<&SessionInfo>, spent: &[Spent]) -> Result<Vec<BudgetStatus>, StoreError> {
        let mut settings = self.config.with_projects(&self.folders).settings.clone();
        // Without a session there is only the day's.
        settings.session_budget = settings.session_budget.filter(|_| info.is_some());
        let payer = info.map_or_else(
            || SessionId::new(String::new()),
            |info| info.parent.clone().unwrap_or_else(|| info.session_id.clone()),
        );
        let budget = Budget::new(Arc::clone(&self.shared.budgets), self.shared.parts.clock.clone(), payer, &settings);
        let found = budget.look(|_| Ok(0), |day| Ok(spent.iter().filter(|row| row.day >= day).cloned().collect()))?;
        Ok(found.iter().map(Found::status).collect())
    }
}

fn session_costs(store: &dyn Store, info: &SessionInfo, spent: &[Spent]) -> Result<SessionCosts, StoreError> {
    let id = &info.session_id;
    let events = store.raw_events(id, 0)?;
    let is_child = |row: &&Spent| row.parent.as_ref() == Some(id);
    let all: Vec<_> = spent.iter().filter(|row| row.session == *id || is_child(row)).cloned().collect();
    let side = grouped(all.iter().filter(|row| row.role.is_some()), |row| row.role.as_deref());
    let children = all.iter().filter(is_child);
    Ok(SessionCosts {
        total: spending(&sum(&all)),
        models: lines(&all, By::Model, &[]).into_iter().map(row_of).collect(),
        side: side
            .into_iter()
            .map(|(role, sums)| (role_in_words(role.unwrap_or_default()).to_owned(), spending(&sums)))
            .map(|(name, spending)| SpendingRow { name, title: None, spending })
            .collect(),
        children: spending(&sum(children)),
        rounds: rounds::rounds(&events),
        activity: activity::of_session(&events, info.parent.is_some()),
    })
}

fn row_of(Line { name, title, amount, .. }: Line) -> SpendingRow {
    SpendingRow { name, title, spending: spending(&amount.0) }
}

fn spending(sums: &Sums) -> Spending {
    Spending {
        requests: sums.requests,
        usage: sums.usage,
        cache_hits: sums.cache_hits(),
        cost: sums.known_cost(),
        unpriced_requests: sums.unpriced,
    }
}
