//! `azimuth suggestions`: how suggestions fare, as a table of the numbers that are kept on this machine.

use std::io::{self, Write};
use std::process::ExitCode;

use hub::clock::Clock;
use hub::{suggestion_counts, visible};
use protocol::inline::counts::{InlineCountsParams, InlineCountsResult, InlineModelCounts, InlineRetention};
use providers::cost::format_cost;

use super::Failure;
use super::setup::Setup;

/// Shows the numbers of the last days.
pub(super) fn run(days: u32, json: bool, log: Option<String>) -> Result<ExitCode, Failure> {
    let folder = std::env::current_dir().map_err(Failure::new)?;
    let setup = Setup::new(&[folder], log)?;
    let (params, now) = (InlineCountsParams { days: Some(days) }, Clock::default().now());
    let counts = suggestion_counts(&*setup.store, &params, setup.config.inline_counts, now).map_err(Failure::new)?;
    let text = match json {
        true => visible::json(&serde_json::to_string(&counts).map_err(Failure::new)?).into_owned() + "\n",
        false => visible::text(&words(&counts)).into_owned(),
    };
    io::stdout().lock().write_all(text.as_bytes()).map_err(Failure::new)?;
    Ok(ExitCode::SUCCESS)
}

fn words(counts: &InlineCountsResult) -> String {
    let InlineCountsResult { counted, days, models } = counts;
    let time = if *days == 1 { "today (UTC)".to_owned() } else { format!("in the last {days} days") };
    let head = match (counted, models.is_empty()) {
        (true, true) => return format!("Nothing was counted {time}: no model has suggested text.\n"),
        (true, false) => format!("Suggestions {time}. The numbers are kept on this machine only.\n"),
        (false, _) => "Suggestions are not counted: `inline_counts` is off.\n".to_owned(),
    };
    if models.is_empty() { head } else { format!("{head}\n{}", table(models, *counted)) }
}

/// A column for each model.
fn table(models: &[InlineModelCounts], counted: bool) -> String {
    let columns: Vec<_> = models.iter().map(|model| column(model, counted)).collect();
    let wide = |text: &str| text.chars().count();
    let labels = columns.first().into_iter().flatten().map(|(label, _)| wide(label)).max().unwrap_or_default();
    let widths = columns.iter().map(|column| column.iter().map(|(_, value)| wide(value)).max().unwrap_or_default());
    let widths: Vec<_> = widths.collect();
    let mut table = String::new();
    for (row, (label, _)) in columns.first().into_iter().flatten().enumerate() {
        let cells = columns.iter().zip(&widths).map(|(column, width)| {
            let value = column.get(row).map_or("", |(_, value)| value);
            format!("  {value:>width$}")
        });
        let line = format!("{label:labels$}{}", cells.collect::<String>());
        table += line.trim_end();
        table.push('\n');
    }
    table
}

/// The rows of a model, each with its label.
fn column(of: &InlineModelCounts, counted: bool) -> Vec<(String, String)> {
    let row = |label: &str, value: String| (label.to_owned(), value);
    let mut rows = vec![row("", of.model.clone())];
    if counted {
        let shown = |number: u64| with_share(number, of.shown);
        rows.extend([
            row("shown", of.shown.to_string()),
            row("accepted", shown(of.accepted)),
            row("accepted in part", shown(of.partly)),
            row("characters of parts", of.partly_characters.to_string()),
            row("rejected", shown(of.rejected)),
            row("ignored", shown(of.ignored)),
            row("replaced", shown(of.replaced)),
        ]);
        rows.extend(of.retention.iter().map(|InlineRetention { after_seconds, looked_for, kept }| {
            let after =
                if *after_seconds < 60 { format!("{after_seconds} s") } else { format!("{} min", after_seconds / 60) };
            row(&format!("still there after {after}"), format!("{kept} of {looked_for}"))
        }));
        let per_key =
            if of.changes == 0 { "-".to_owned() } else { format!("{:.2}", of.requests as f64 / of.changes as f64) };
        let ms = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
        rows.extend([
            row("requests", of.requests.to_string()),
            row("late", with_share(of.late, of.requests)),
            row("failed", with_share(of.failed, of.requests)),
            row("requests for each key", per_key),
            row("needed no request", with_share(of.given_from_cache, of.given)),
            row("half answered within", ms(of.p50_ms)),
            row("nine of ten within", ms(of.p90_ms)),
        ]);
    }
    rows.push(row("cost", format_cost(of.cost)));
    rows
}

fn with_share(number: u64, of: u64) -> String {
    match of {
        0 => number.to_string(),
        of => format!("{number} ({:.0} %)", number as f64 / of as f64 * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_column_for_each_model() {
        let retention = [(30, 4, 3), (120, 0, 0), (600, 0, 0)];
        let retention =
            retention.map(|(after_seconds, looked_for, kept)| InlineRetention { after_seconds, looked_for, kept });
        let model = |name: &str, shown, cost| InlineModelCounts {
            model: name.into(),
            shown,
            accepted: 3,
            changes: 40,
            requests: 10,
            p50_ms: Some(119),
            retention: retention.clone().into(),
            cost,
            ..InlineModelCounts::default()
        };
        let models = vec![model("a", 12, 0.0), model("vendor/b", 0, 0.5)];
        let counts = InlineCountsResult { counted: true, days: 30, models };
        let text = words(&counts);
        for line in [
            "                                 a  vendor/b\n",
            "shown                           12         0\n",
            "accepted                  3 (25 %)         3\n",
            "still there after 30 s      3 of 4    3 of 4\n",
            "still there after 10 min    0 of 0    0 of 0\n",
            "requests for each key         0.25      0.25\n",
            "half answered within        119 ms    119 ms\n",
            "nine of ten within               -         -\n",
            "cost                         $0.00    $0.500\n",
        ] {
            assert!(text.contains(line), "{line:?}\n{text}");
        }
    }

    #[test]
    fn without_counts_the_reason_is_said_and_the_cost_stays() {
        let cost = InlineModelCounts { model: "a".into(), cost: 0.5, ..InlineModelCounts::default() };
        let counts = InlineCountsResult { counted: false, days: 30, models: vec![cost] };
        assert_eq!(
            words(&counts),
            "Suggestions are not counted: `inline_counts` is off.\n\n           a\ncost  $0.500\n"
        );
        let nothing = InlineCountsResult { counted: true, days: 1, models: vec![] };
        assert_eq!(words(&nothing), "Nothing was counted today (UTC): no model has suggested text.\n");
    }
}
