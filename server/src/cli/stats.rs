//! `azimuth stats`: what the requests to models used and cost, as a table.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use hub::bill::activity::{self, Overall, first_in_words, rate_in_words};
use hub::bill::{self, Amount, Bill, By, Line, cost_in_words, hits_in_words, requests_in_words, role_in_words};
use hub::clock::Clock;
use hub::visible;

use protocol::costs::{Activity, ModelSpeed};
use providers::cost::format_cost;
use serde::Serialize;
use store::SqliteStore;

use super::Failure;
use super::setup::Setup;

/// A title in the table has so many characters at most.
const LONGEST_TITLE: usize = 40;

/// Shows the bill of the last days, or of all time.
pub(super) fn run(days: Option<u32>, by: By, json: bool, log: Option<String>) -> Result<ExitCode, Failure> {
    let bill = bill::bill(&*store(log)?, days, by, Clock::default().now()).map_err(Failure::new)?;
    put(json, &bill, words)
}

/// Shows the activity of the last days, or of all time.
pub(super) fn activity(days: Option<u32>, json: bool, log: Option<String>) -> Result<ExitCode, Failure> {
    let overall = activity::overall(&*store(log)?, days, Clock::default().now()).map_err(Failure::new)?;
    put(json, &overall, activity_in_words)
}

fn store(log: Option<String>) -> Result<Arc<SqliteStore>, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    Ok(Setup::new(&[folder], log)?.store)
}

/// Writes numbers as JSON or in words.
fn put<T: Serialize>(json: bool, numbers: &T, words: fn(&T) -> String) -> Result<ExitCode, Failure> {
    let text = match json {
        true => visible::json(&serde_json::to_string(numbers).map_err(Failure::new)?).into_owned() + "\n",
        false => visible::text(&words(numbers)).into_owned(),
    };
    io::stdout().lock().write_all(text.as_bytes()).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}

/// The days, as a part of a sentence.
fn time(days: Option<u32>) -> String {
    match days {
        None => "in all time".to_owned(),
        Some(1) => "today (UTC)".to_owned(),
        Some(days) => format!("in the last {days} days (UTC)"),
    }
}

fn activity_in_words(overall: &Overall) -> String {
    let (Activity { prompts, turns, requests, tools, speeds }, time) = (&overall.activity, time(overall.days));
    // A turn that began on an earlier day may have gone on.
    if *turns == 0 && *requests == 0 && tools.is_empty() {
        return format!("No turn began {time}.\n");
    }
    let conversations = overall.conversations;
    let numbers = [("conversations", conversations), ("prompts", *prompts), ("turns", *turns), ("requests", *requests)];
    let mut text = format!("The activity {time}, without that of conversations that were deleted.\n\n");
    text += &aligned(&numbers.map(|(name, number)| (name.to_owned(), [number.to_string()])));
    if !tools.is_empty() {
        let mut rows = vec![("tool".to_owned(), ["calls", "failed"].map(str::to_owned))];
        let name = |name: &str| visible::line(name).into_owned();
        rows.extend(tools.iter().map(|tool| (name(&tool.name), [tool.calls.to_string(), tool.failed.to_string()])));
        text += &format!("\n{}", aligned(&rows));
    }
    if !speeds.is_empty() {
        let heads = ["answers", "first piece after", "tokens per second"];
        let mut rows = vec![("model".to_owned(), heads.map(str::to_owned))];
        let cells = |speed: &ModelSpeed| [speed.answers.to_string(), first_in_words(speed), rate_in_words(speed)];
        rows.extend(speeds.iter().map(|speed| (visible::line(&speed.model).into_owned(), cells(speed))));
        text += &format!("\n{}\nTimes are medians, from the request on.\n", aligned(&rows));
    }
    text
}

fn words(bill: &Bill) -> String {
    let time = time(bill.days);
    if bill.rows.is_empty() {
        let next = match bill.days {
            None => "Ask one with `azimuth exec \"PROMPT\"`, or in your editor.",
            Some(_) => "`azimuth stats` without `--days` shows all time.",
        };
        return format!("No model was asked {time}. {next}\n{}", suggestions(bill));
    }
    let mut text = format!("Spent {time}, by {}.\n\n{}\n", bill.by.name(), table(bill));
    for (role, Amount(sums)) in &bill.side {
        let (requests, cost) = (requests_in_words(sums.requests), cost_in_words(sums));
        text += &format!("Of the total, {}: {requests}, cost {cost}.\n", role_in_words(role));
    }
    let Amount(children) = &bill.children;
    if children.requests > 0 {
        let (requests, cost) = (requests_in_words(children.requests), cost_in_words(children));
        text += &format!("Of the total, conversations that another one started: {requests}, cost {cost}.\n");
    }
    if !bill.unpriced.is_empty() {
        let models = bill.unpriced.iter().map(|(model, count)| format!("{model} ({})", requests_in_words(*count)));
        let models = models.collect::<Vec<_>>().join(", ");
        text += &format!("Not in the cost, because the price was not known: {models}.\n");
    }
    text + &suggestions(bill)
}

/// A word on the suggestions, which have a command of their own.
fn suggestions(bill: &Bill) -> String {
    if bill.suggestions_cost <= 0.0 {
        return String::new();
    }
    let cost = format_cost(bill.suggestions_cost);
    format!("In addition, suggestions cost {cost} in these days, the last 90 at most: see `azimuth suggestions`.\n")
}

fn table(bill: &Bill) -> String {
    const NUMBERS: [&str; 7] = ["requests", "input", "output", "cache read", "cache write", "cache hits", "cost"];

    let heads = NUMBERS.map(str::to_owned);
    let mut rows = vec![(bill.by.name().to_owned(), heads)];
    rows.extend(bill.rows.iter().map(|line| (name(line, bill.by), numbers(&line.amount))));
    if bill.rows.len() > 1 {
        rows.push(("total".to_owned(), numbers(&bill.total)));
    }
    aligned(&rows)
}

/// Rows whose names stand to the left, and whose cells to the right.
fn aligned<const CELLS: usize>(rows: &[(String, [String; CELLS])]) -> String {
    let wide = |text: &str| text.chars().count();
    let names = rows.iter().map(|(name, _)| wide(name)).max().unwrap_or_default();
    let mut widths = [0; CELLS];
    for (_, cells) in rows {
        widths.iter_mut().zip(cells).for_each(|(width, cell)| *width = wide(cell).max(*width));
    }
    let lines = rows.iter().map(|(name, cells)| {
        let cells: String = cells.iter().zip(widths).map(|(cell, width)| format!("  {cell:>width$}")).collect();
        format!("{name:names$}{cells}\n")
    });
    lines.collect()
}

/// The name of a row; a session's with its title and where it comes from, a project's in short.
fn name(line: &Line, by: By) -> String {
    if by == By::Project {
        return visible::line(line.title.as_ref().unwrap_or(&line.name)).into_owned();
    }
    let mut name = visible::line(&line.name).into_owned();
    if let Some(title) = &line.title {
        let title = visible::line(title);
        let short: String = title.chars().take(LONGEST_TITLE).collect();
        name += &format!("  {short}{}", if short.len() < title.len() { "…" } else { "" });
    }
    if let Some(parent) = &line.parent {
        name += &format!(" (started by {})", visible::line(parent.as_str()));
    }
    if line.deleted {
        name += " (deleted)";
    }
    name
}

fn numbers(Amount(sums): &Amount) -> [String; 7] {
    let usage = sums.usage;
    [
        sums.requests.to_string(),
        usage.input.to_string(),
        usage.output.to_string(),
        usage.cache_read.to_string(),
        usage.cache_write.to_string(),
        hits_in_words(sums),
        cost_in_words(sums),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use ports::spent::Sums;
    use protocol::content::Usage;
    use protocol::costs::ToolCalls;

    use super::*;

    fn amount(input: u64, cost: Option<f64>) -> Amount {
        Amount(Sums::one(Usage { input, output: 7, cache_read: input, cache_write: 0, cache_write_hour: 0 }, cost))
    }

    fn empty(days: Option<u32>) -> Bill {
        let none = Amount::default();
        Bill {
            days,
            since: None,
            by: By::Model,
            rows: Vec::new(),
            total: none,
            side: BTreeMap::new(),
            children: none,
            unpriced: BTreeMap::new(),
            suggestions_cost: 0.0,
        }
    }

    #[test]
    fn numbers_stand_below_each_other_and_what_is_not_known_is_said() {
        let line = |name: &str, amount| Line { name: name.into(), amount, ..Line::default() };
        let mut total = amount(1000, Some(1.5));
        total.0 += amount(5, None).0;
        let bill = Bill {
            rows: vec![line("vendor/long-name", amount(1000, Some(1.5))), line("b", amount(5, None))],
            total,
            side: BTreeMap::from([("title".to_owned(), amount(5, None))]),
            children: amount(1, Some(0.25)),
            unpriced: BTreeMap::from([("b".to_owned(), 1)]),
            suggestions_cost: 0.5,
            ..empty(Some(7))
        };
        let expected = "\
Spent in the last 7 days (UTC), by model.

model             requests  input  output  cache read  cache write  cache hits            cost
vendor/long-name         1   1000       7        1000            0        50 %           $1.50
b                        1      5       7           5            0        50 %         unknown
total                    2   1005      14        1005            0        50 %  $1.50 and more

Of the total, titles: 1 request, cost unknown.
Of the total, conversations that another one started: 1 request, cost $0.250.
Not in the cost, because the price was not known: b (1 request).
In addition, suggestions cost $0.500 in these days, the last 90 at most: see `azimuth suggestions`.
";
        assert_eq!(words(&bill), expected);
    }

    #[test]
    fn the_activity_is_counts_and_tables() {
        let speeds = [("a", Some(37.5)), ("b", None)].map(|(model, tokens_per_second)| ModelSpeed {
            model: model.into(),
            answers: 2,
            first_ms: 400,
            tokens_per_second,
        });
        let tools = vec![ToolCalls { name: "read_file".into(), calls: 12, failed: 1 }];
        let activity = Activity { prompts: 2, turns: 3, requests: 40, tools, speeds: speeds.into() };
        let expected = "\
The activity today (UTC), without that of conversations that were deleted.

conversations   1
prompts         2
turns           3
requests       40

tool       calls  failed
read_file     12       1

model  answers  first piece after  tokens per second
a            2             400 ms                 38
b            2             400 ms                  -

Times are medians, from the request on.
";
        let overall = Overall { days: Some(1), since: None, conversations: 1, activity };
        assert_eq!(activity_in_words(&overall), expected);
        let none = Overall { days: None, activity: Activity::default(), ..overall };
        assert_eq!(activity_in_words(&none), "No turn began in all time.\n");
        let since_yesterday = Activity { requests: 3, ..Activity::default() };
        let words = activity_in_words(&Overall { days: Some(1), activity: since_yesterday, ..none });
        assert!(words.starts_with("The activity today") && words.contains("requests       3"), "{words}");
    }

    #[test]
    fn without_requests_it_is_said_what_to_do() {
        let all = "No model was asked in all time. Ask one with `azimuth exec \"PROMPT\"`, or in your editor.\n";
        assert_eq!(words(&empty(None)), all);
        let today = "No model was asked today (UTC). `azimuth stats` without `--days` shows all time.\n";
        assert_eq!(words(&empty(Some(1))), today);
    }

    #[test]
    fn a_session_has_its_title_and_origin_in_one_line() {
        let line = Line { name: "a1".into(), title: Some(format!("One\n{}", "x".repeat(50))), ..Line::default() };
        assert_eq!(name(&line, By::Session), format!("a1  One\\n{}…", "x".repeat(35)));
        let child = Line { name: "a2".into(), parent: Some("a1".into()), deleted: true, ..Line::default() };
        assert_eq!(name(&child, By::Session), "a2 (started by a1) (deleted)");
        let project = Line { name: "/home/me/app".into(), title: Some("app".into()), ..Line::default() };
        assert_eq!(name(&project, By::Project), "app");
    }
}
