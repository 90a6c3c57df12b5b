//! `/usage`: what vendors said of the limits of the user's accounts, and how much of the budgets is spent.

use std::fmt::Write;
use std::sync::Arc;

use protocol::costs::{BudgetScope, BudgetStatus, Quota, QuotaWindow};
use providers::cost::format_cost;

use super::preparation::Preparation;
use crate::budget::{Budget, Found};

/// Tells the limits, in Markdown.
///
/// # Errors
/// A failure of the store, in words.
pub(super) async fn usage(preparation: &Preparation) -> Result<String, String> {
    let (parts, info) = (&preparation.shared.parts, &preparation.info);
    let payer = info.parent.as_ref().unwrap_or(&info.session_id).clone();
    let budgets = Arc::clone(&preparation.shared.budgets);
    let budget = Budget::new(budgets, parts.clock.clone(), payer, &preparation.config.settings);
    let found = budget.read(Arc::clone(&parts.store)).await.map_err(|error| error.to_string())?;
    let budgets: Vec<_> = found.iter().map(Found::status).collect();
    Ok(in_words(&parts.catalog.quotas().await, &budgets, parts.clock.now()))
}

fn in_words(quotas: &[Quota], budgets: &[BudgetStatus], now: u64) -> String {
    let mut text = String::new();
    for Quota { provider, account, at, windows } in quotas {
        let account = account.as_ref().map(|account| format!(" ({account})")).unwrap_or_default();
        let _ = writeln!(text, "{provider}{account}, as it said {} ago:\n", span(now.saturating_sub(*at)));
        for window in windows {
            let _ = writeln!(text, "- {}", of_window(window, now));
        }
        text.push('\n');
    }
    if quotas.is_empty() {
        text.push_str(
            "No vendor has told a limit since Azimuth started. Some tell theirs with each answer, others never.\n\n",
        );
    }
    for BudgetStatus { scope, limit, spent } in budgets {
        let of = match scope {
            BudgetScope::Session => "this conversation's budget",
            BudgetScope::Day => "the day's budget (UTC)",
        };
        let _ = writeln!(text, "- {of}: {} of {} spent", format_cost(*spent), format_cost(*limit));
    }
    if budgets.is_empty() {
        text.push_str("No budget is set; `session_budget` and `day_budget` set one. `/costs` shows what was spent.");
    }
    text.trim_end().to_owned()
}

fn of_window(window: &QuotaWindow, now: u64) -> String {
    let QuotaWindow { name, limit, remaining, left, used, resets_at } = window;
    let left = match (remaining, limit) {
        _ if left.is_some() => left.clone().unwrap_or_default(),
        (Some(remaining), Some(limit)) => format!("{remaining} of {limit} left"),
        _ => format!("{:.0} % used", used * 100.0),
    };
    let resets = match resets_at {
        Some(at) if *at > now => format!(", resets in {}", span(at - now)),
        Some(_) => ", was reset since".to_owned(),
        None => String::new(),
    };
    format!("{name}: {left}{resets}")
}

/// A span of milliseconds in words, to the second below a minute and to the minute below a day.
fn span(millis: u64) -> String {
    let seconds = millis.div_ceil(1_000);
    match (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    #[test]
    fn limits_and_budgets_are_told_with_the_time_of_their_reset() {
        let window = |name: &str, remaining: Option<u64>, used, after: u64| QuotaWindow {
            name: name.to_owned(),
            limit: Some(50_u64).filter(|_| remaining.is_some()),
            remaining,
            left: None,
            used,
            resets_at: Some(NOW + after),
        };
        let windows = vec![
            window("requests", Some(49), 0.02, 10_000),
            window("5 hours of the plan", None, 0.42, 3 * 3_600_000 + 120_000),
            window("7 days of the plan", None, 0.1, 2 * 86_400_000),
            window("tokens", Some(1), 0.98, 0),
        ];
        let credit = QuotaWindow {
            left: Some("$7.50 of $10.00 left".into()),
            resets_at: None,
            ..window("credit", None, 0.25, 0)
        };
        let quota = |provider: &str, account: Option<&str>, windows| Quota {
            provider: provider.into(),
            account: account.map(str::to_owned),
            at: NOW - 61_000,
            windows,
        };
        let quotas = [quota("anthropic", None, windows), quota("openrouter", Some("work"), vec![credit])];
        let budgets = [BudgetStatus { scope: BudgetScope::Day, limit: 5.0, spent: 1.5 }];
        assert_eq!(
            in_words(&quotas, &budgets, NOW),
            "anthropic, as it said 1 min ago:\n\n- requests: 49 of 50 left, resets in 10 s\n\
             - 5 hours of the plan: 42 % used, resets in 3 h 2 min\n- 7 days of the plan: 10 % used, resets in 2 d 0 h\n\
             - tokens: 1 of 50 left, was reset since\n\n\
             openrouter (work), as it said 1 min ago:\n\n- credit: $7.50 of $10.00 left\n\n- the day's budget (UTC): $1.50 of $5.00 spent"
        );
    }

    #[test]
    fn nothing_told_and_nothing_set_says_so() {
        let text = in_words(&[], &[], NOW);
        assert!(text.starts_with("No vendor has told a limit") && text.contains("`session_budget`"), "{text}");
    }
}
