//! `/costs`: what this session spent, and all sessions today.

use std::fmt::Write;
use std::sync::Arc;

use ports::spent::{Spent, Sums};
use ports::store::StoreError;
use protocol::SessionId;
use providers::cost::format_cost;

use super::preparation::Preparation;
use crate::bill::{activity, by_model, cost_in_words, grouped, hits_in_words, requests_in_words, role_in_words, sum};
use crate::clock::day_of;
use crate::feed::blocking;

/// The number of turns that are told of.
const TURNS: usize = 5;

/// Tells what was spent, in Markdown.
///
/// # Errors
/// A failure of the store, in words.
pub(super) async fn costs(preparation: &Preparation) -> Result<String, String> {
    let store = Arc::clone(&preparation.shared.parts.store);
    let (id, is_child) = (preparation.info.session_id.clone(), preparation.info.parent.is_some());
    let read = move || Ok((store.spent(0)?, activity::of_session(&store.raw_events(&id, 0)?, is_child)));
    let (spent, activity) = blocking(read).await.map_err(|error: StoreError| error.to_string())?;
    let today = day_of(preparation.shared.parts.clock.now());
    let session = &preparation.info.session_id;
    let children = sum(spent.iter().filter(|row| row.parent.as_ref() == Some(session)));
    let done: String = activity::in_words(&activity).iter().map(|line| format!("- {line}\n")).collect();
    let done = if done.is_empty() { done } else { format!("\n\nSo far:\n\n{done}") };
    Ok(head(preparation, children) + "\n" + &details(&spent, session, today) + done.trim_end())
}

/// All that the session spent. Of the sessions that it started, that is what they have in the bill: the user may have
/// gone on with one of them since.
fn head(preparation: &Preparation, children: Sums) -> String {
    let (info, told) = (&preparation.info, preparation.children);
    let mut usage = info.usage.less(told.usage);
    usage += children.usage;
    let cost = (info.cost - told.cost).max(0.0) + children.cost;
    let models: Vec<_> = preparation.unpriced.iter().map(|model| format!("`{model}`")).collect();
    let have = if models.len() == 1 { "has" } else { "have" };
    let (known, unknown) = (format_cost(cost), format!("{} {have} no known price", models.join(", ")));
    let cost = match (models.is_empty(), cost > 0.0) {
        (true, _) => known,
        (false, true) => format!("{known} and more, which is unknown: {unknown}"),
        (false, false) => format!("cost unknown: {unknown}"),
    };
    format!(
        "this conversation: {cost} ({} tokens in, {} from the cache, {} written to it, {} out)\n",
        usage.input, usage.cache_read, usage.cache_write, usage.output,
    )
}

/// The parts of it, and the sum of today.
fn details(spent: &[Spent], session: &SessionId, today: u32) -> String {
    let own: Vec<_> = spent.iter().filter(|row| row.session == *session).collect();
    let of_children: Vec<_> = spent.iter().filter(|row| row.parent.as_ref() == Some(session)).collect();
    let all = || own.iter().chain(&of_children).copied();
    let mut text = String::new();
    for (model, sums) in by_model(own.iter().chain(&of_children).copied()) {
        let _ = writeln!(text, "- `{model}`: {}", in_words(&sums));
    }
    for (role, sums) in grouped(all().filter(|row| row.role.is_some()), |row| row.role.as_deref()) {
        let _ = writeln!(text, "- of this, {}: {}", role_in_words(role.unwrap_or_default()), in_words(&sums));
    }
    let children = sum(of_children.iter().copied());
    if children.requests > 0 {
        let _ = writeln!(text, "- of this, conversations that this one started: {}", in_words(&children));
    }
    let mut turns = Vec::<(&str, Sums)>::new();
    for row in &own {
        let Some(turn) = &row.turn else { continue };
        match turns.last_mut() {
            // A turn over midnight is of two days.
            Some((last, sums)) if *last == turn.as_str() => *sums += row.sums,
            _ => turns.push((turn.as_str(), row.sums)),
        }
    }
    if turns.len() > 1 {
        let shown = turns.len().min(TURNS);
        let without = if children.requests > 0 { ", without conversations that they started" } else { "" };
        let _ = writeln!(text, "\nThe last {shown} turns, the last first{without}:\n");
        for (at, (_, sums)) in turns.iter().rev().take(TURNS).enumerate() {
            let _ = writeln!(text, "{}. {}", at + 1, in_words(sums));
        }
    }
    let today = sum(spent.iter().filter(|row| row.day == today));
    let _ = write!(text, "\nToday (UTC), in all conversations: {}.", in_words(&today));
    text
}

/// The cost, the requests and the tokens.
fn in_words(sums: &Sums) -> String {
    let (cost, requests) = (cost_in_words(sums), requests_in_words(sums.requests));
    let cost = if cost == "unknown" { "cost unknown".to_owned() } else { cost };
    format!("{cost}, {requests}, {} tokens ({} of the input from the cache)", sums.usage.total(), hits_in_words(sums))
}

#[cfg(test)]
mod tests {
    use protocol::TurnId;
    use protocol::content::Usage;

    use super::*;

    fn spent(day: u32, session: &str, turn: u64, cost: Option<f64>) -> Spent {
        let usage = Usage { input: 60, output: 10, cache_read: 30, ..Usage::default() };
        let turn = Some(TurnId::new(format!("turn-{turn}")));
        let sums = Sums::one(usage, cost);
        Spent { day, session: session.into(), parent: None, turn, role: None, model: "a".into(), sums }
    }

    #[test]
    fn models_titles_children_turns_and_today_are_told_of() {
        let title = Spent { turn: None, role: Some("title".into()), model: "b".into(), ..spent(1, "one", 0, None) };
        let child = Spent { parent: Some("one".into()), ..spent(2, "two", 1, Some(0.5)) };
        let rows = [
            title,
            spent(1, "one", 1, Some(0.25)),
            spent(1, "one", 2, Some(0.5)),
            spent(2, "one", 2, Some(1.0)),
            child,
        ];
        let text = details(&rows, &"one".into(), 2);
        let tokens = |number| format!("{number} tokens (33 % of the input from the cache)");
        let expected = format!(
            "- `a`: $2.25, 4 requests, {}\n- `b`: cost unknown, 1 request, {}\n- of this, titles: cost unknown, 1 request, {}\n\
             - of this, conversations that this one started: $0.500, 1 request, {}\n\n\
             The last 2 turns, the last first, without conversations that they started:\n\n1. $1.50, 2 requests, {}\n2. $0.250, 1 request, {}\n\n\
             Today (UTC), in all conversations: $1.50, 2 requests, {}.",
            tokens(400),
            tokens(100),
            tokens(100),
            tokens(100),
            tokens(200),
            tokens(100),
            tokens(200),
        );
        assert_eq!(text, expected);
    }

    #[test]
    fn of_many_turns_the_last_ones_are_told_of() {
        let rows: Vec<_> = (0..8).map(|turn| spent(1, "one", turn, Some(turn as f64))).collect();
        let text = details(&rows, &"one".into(), 1);
        assert!(
            text.contains("The last 5 turns, the last first:\n")
                && text.contains("1. $7.00")
                && text.contains("5. $3.00"),
            "{text}"
        );
        assert!(!text.contains("6. "), "{text}");
    }
}
