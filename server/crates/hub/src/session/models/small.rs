//! The model for small work, where no setting names one.

use protocol::model::{ModelInfo, Price};
use providers::catalog::is_of_same_maker;

use super::usable;
use crate::config::Config;
use crate::post::Shared;

/// A model with a smaller context, in tokens, may not take a long prompt.
const LEAST_CONTEXT: u64 = 32_000;

/// The id of the cheapest model that can be used instead of another one, if it is cheaper: of the same provider, so
/// that the same account pays, and known to be of the same maker and in the same region, so that nobody else reads. One
/// that costs nothing, or of which no price is known, is none: those are often limited to a few requests. Nor is one
/// with a warning.
pub(super) async fn cheaper_than(shared: &Shared, config: &Config, model: &ModelInfo) -> Option<String> {
    let catalog = &shared.parts.catalog;
    let cheapest = cheapest(model, &catalog.of_provider(&model.provider).await)?;
    let found = usable(catalog.resolve(&cheapest).await.ok()?, config).ok()?;
    Some(found.info().id.clone())
}

/// The id of the cheapest of these that suits, if it is cheaper than the model.
fn cheapest(model: &ModelInfo, models: &[ModelInfo]) -> Option<String> {
    // Small work reads some and writes little, and both count.
    let cost = |price: Price| price.input + price.output;
    let most = cost(model.price?);
    let suits = |other: &&ModelInfo| {
        other.available && !other.scripted && other.warning.is_none() && other.context_tokens >= LEAST_CONTEXT
    };
    let priced = models.iter().filter(suits).filter_map(|other| Some((other, cost(other.price?))));
    let cheaper = priced.filter(|(_, cost)| *cost > 0.0 && *cost < most);
    let cheaper = cheaper.filter(|(other, _)| is_of_same_maker(&other.id, &model.id));
    cheaper.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(other, _)| other.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(id: &str, price: Option<f64>) -> ModelInfo {
        let price = price.map(|output| serde_json::json!({ "input": output / 5.0, "output": output }));
        serde_json::from_value(serde_json::json!({
            "id": id, "name": id, "provider": "p", "contextTokens": 200_000, "maxOutputTokens": 1, "available": true,
            "price": price,
        }))
        .unwrap()
    }

    #[test]
    fn the_cheapest_of_the_same_maker_that_can_be_used_is_taken_and_none_that_is_free_or_dearer() {
        let big = model("p/claude-opus-5-5", Some(25.0));
        let mut gone = model("p/claude-haiku-4-5", Some(0.1));
        gone.available = false;
        let mut short = model("p/claude-haiku-4-5", Some(0.1));
        short.context_tokens = 8_000;
        let mut ending = model("p/claude-haiku-4-5", Some(0.1));
        ending.warning = Some("it is served until tomorrow".to_owned());
        let all = [
            big.clone(),
            model("p/claude-sonnet-5-5", Some(10.0)),
            model("p/claude-haiku-5-5", Some(0.5)),
            model("p/claude-haiku-5-5-thinking", Some(0.5)),
            model("p/gpt-5-nano", Some(0.1)),
            model("p/other/claude-haiku-4-5", Some(0.1)),
            model("p/claude-sonnet-4-5", Some(0.0)),
            model("p/claude-opus-4-8", None),
            model("p/tiny", Some(0.1)),
            gone,
            short,
            ending,
        ];
        assert_eq!(cheapest(&big, &all).as_deref(), Some("p/claude-haiku-5-5"));
        assert_eq!(cheapest(&all[2], &all), None, "there is no cheaper one");
        assert_eq!(cheapest(&model("p/claude-opus-4-8", None), &all), None);
        assert_eq!(cheapest(&model("p/large", Some(25.0)), &all), None, "nobody knows whose it is");
    }

    #[test]
    fn small_work_stays_in_its_region_and_with_its_maker() {
        let cheaper = [
            "b/global.anthropic.claude-haiku-4-5-20251001-v1:0",
            "b/eu.amazon.nova-micro-v1:0",
            "b/google.gemma-4-e2b",
            "b/claude-haiku-4-5@20251001",
            "b/openai/gpt-oss-20b",
        ];
        let all = cheaper.map(|id| model(id, Some(0.1)));
        for big in ["b/eu.anthropic.claude-opus-4-8", "b/gemini-3.1-pro-preview", "b/openai/gpt-5.1"] {
            assert_eq!(cheapest(&model(big, Some(25.0)), &all), None, "{big}");
        }
    }
}
