//! The cost of a request, and the form in which an amount is written.

pub use ports::model::cost;

/// Writes an amount in US dollars as it is shown: `$0.00` for nothing, three decimals below a dollar, two from there
/// on. One that would round to nothing is `<$0.001`.
pub fn format_cost(dollars: f64) -> String {
    if dollars <= 0.0 || dollars.is_nan() {
        "$0.00".to_owned()
    } else if dollars < 0.0005 {
        "<$0.001".to_owned()
    } else if dollars < 0.9995 {
        format!("${dollars:.3}")
    } else {
        format!("${dollars:.2}")
    }
}

#[cfg(test)]
mod tests {
    use protocol::content::Usage;
    use protocol::model::{LongPrice, Price};

    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75, long: None };
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 2_000_000, cache_write: 400_000 };
        assert!((cost(&price, &usage) - (3.0 + 1.5 + 0.6 + 1.5)).abs() < 1e-9);
        assert_eq!(cost(&price, &Usage::default()), 0.0);
    }

    #[test]
    fn a_request_with_a_long_prompt_has_a_price_of_its_own_for_all_its_tokens() {
        let long = LongPrice { above: 200_000, input: 4.0, output: 18.0, cache_read: 0.4, cache_write: 5.0 };
        let price = Price { input: 2.0, output: 12.0, cache_read: 0.2, cache_write: 2.5, long: Some(long) };
        let usage = Usage { input: 50_000, output: 300_000, cache_read: 100_000, cache_write: 50_000 };
        assert!((cost(&price, &usage) - (0.1 + 3.6 + 0.02 + 0.125)).abs() < 1e-9, "the limit itself is not above it");
        let usage = Usage { input: 50_001, ..usage };
        assert!((cost(&price, &usage) - (0.200_004 + 5.4 + 0.04 + 0.25)).abs() < 1e-9);
    }

    #[test]
    fn amounts_have_three_decimals_below_a_dollar_and_two_above() {
        let written = [0.0, 0.0001, 0.001, 0.1234, 0.9994, 0.9996, 1.5, 99.994].map(format_cost);
        assert_eq!(written, ["$0.00", "<$0.001", "$0.001", "$0.123", "$0.999", "$1.00", "$1.50", "$99.99"]);
    }
}
