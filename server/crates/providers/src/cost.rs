//! The cost of a request, and the form in which an amount is written.

pub use ports::model::cost;

/// Writes an amount in US dollars as it is shown: `$0.00` for nothing, three decimals below a dollar, two from there
/// on. One that would round to nothing is `<$0.001`. The panels have the same rule, each as a function `dollars`.
pub fn format_cost(dollars: f64) -> String {
    // Languages differ in how they write a half, so it is rounded before it is written.
    let thousandths = (dollars * 1000.0).round();
    if dollars <= 0.0 || dollars.is_nan() {
        "$0.00".to_owned()
    } else if thousandths < 1.0 {
        "<$0.001".to_owned()
    } else if thousandths < 1000.0 {
        format!("${:.3}", thousandths / 1000.0)
    } else {
        format!("${:.2}", (dollars * 100.0).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::Usage;
    use protocol::model::{LongPrice, Price};

    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price =
            Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75, cache_write_hour: None, long: None };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_write: 400_000,
            cache_write_hour: 0,
        };
        assert!((cost(&price, &usage) - (3.0 + 1.5 + 0.6 + 1.5)).abs() < 1e-9);
        assert_eq!(cost(&price, &Usage::default()), 0.0);
    }

    #[test]
    fn a_request_with_a_long_prompt_has_a_price_of_its_own_for_all_its_tokens() {
        let long = LongPrice { above: 200_000, input: 4.0, output: 18.0, cache_read: 0.4, cache_write: 5.0 };
        let price = Price {
            input: 2.0,
            output: 12.0,
            cache_read: 0.2,
            cache_write: 2.5,
            cache_write_hour: None,
            long: Some(long),
        };
        let usage =
            Usage { input: 50_000, output: 300_000, cache_read: 100_000, cache_write: 50_000, cache_write_hour: 0 };
        assert!((cost(&price, &usage) - (0.1 + 3.6 + 0.02 + 0.125)).abs() < 1e-9, "the limit itself is not above it");
        let usage = Usage { input: 50_001, ..usage };
        assert!((cost(&price, &usage) - (0.200_004 + 5.4 + 0.04 + 0.25)).abs() < 1e-9);
    }

    #[test]
    fn what_is_stored_for_an_hour_costs_twice_the_input_unless_its_price_is_told() {
        let long = LongPrice { above: 200_000, input: 4.0, output: 18.0, cache_read: 0.4, cache_write: 5.0 };
        let price = Price { input: 2.0, cache_write: 2.5, long: Some(long), ..Price::default() };
        let usage = Usage { cache_write: 100_000, cache_write_hour: 60_000, ..Usage::default() };
        assert!((cost(&price, &usage) - (0.1 + 0.24)).abs() < 1e-9, "it is a part of what is stored");
        let own = Price { cache_write_hour: Some(3.0), ..price };
        assert!((cost(&own, &usage) - (0.1 + 0.18)).abs() < 1e-9);
        let usage = Usage { cache_write: 300_000, cache_write_hour: 300_000, ..usage };
        assert!((cost(&price, &usage) - 2.4).abs() < 1e-9, "twice the price of long prompts");
        assert!((cost(&own, &usage) - 1.8).abs() < 1e-9, "the told price rises as that of input does");
        let free = Price { input: 0.0, ..own };
        assert!((cost(&free, &usage) - 2.4).abs() < 1e-9, "it does not rise from nothing");
        let wrong = Usage { cache_write: 100_000, cache_write_hour: 900_000, ..usage };
        assert!((cost(&price, &wrong) - 0.4).abs() < 1e-9, "no more than is stored");
    }

    #[test]
    fn amounts_are_written_as_the_table_has_them_that_the_panels_are_tested_with_too() {
        let table: Vec<(f64, String)> = serde_json::from_str(include_str!("../../../../tests/amounts.json")).unwrap();
        for (dollars, written) in &table {
            assert_eq!(format_cost(*dollars), *written, "{dollars}");
        }
        assert!(!table.is_empty());
        assert_eq!(format_cost(f64::NAN), "$0.00");
    }
}
