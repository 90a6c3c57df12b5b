//! The model for small work, where no setting names one.

use protocol::model::{ModelInfo, Price};

use super::chain::maker;
use super::usable;
use crate::config::Config;
use crate::post::Shared;

/// A model with a smaller context, in tokens, may not take a long prompt.
const LEAST_CONTEXT: u64 = 32_000;

/// The id of the cheapest model that can be used beside another one, if it is cheaper: of the same provider, so that
/// the same account pays and nobody else reads, and of the same maker. One that costs nothing, or of which no price is
/// known, is none: those are often limited to a few requests.
pub(super) async fn small_beside(shared: &Shared, config: &Config, model: &ModelInfo) -> Option<String> {
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
        other.available
            && !other.scripted
            && maker(&other.id) == maker(&model.id)
            && other.context_tokens >= LEAST_CONTEXT
    };
    let priced = models.iter().filter(suits).filter_map(|other| Some((other, cost(other.price?))));
    let cheaper = priced.filter(|(_, cost)| *cost > 0.0 && *cost < most);
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
        let big = model("p/m/big", Some(25.0));
        let mut gone = model("p/m/gone", Some(0.1));
        gone.available = false;
        let mut short = model("p/m/short", Some(0.1));
        short.context_tokens = 8_000;
        let all = [
            big.clone(),
            model("p/m/middle", Some(10.0)),
            model("p/m/small", Some(0.5)),
            model("p/m/small-thinking", Some(0.5)),
            model("p/other/tiny", Some(0.1)),
            model("p/m/free", Some(0.0)),
            model("p/m/unknown", None),
            gone,
            short,
        ];
        assert_eq!(cheapest(&big, &all).as_deref(), Some("p/m/small"));
        assert_eq!(cheapest(&all[2], &all), None, "there is no cheaper one");
        assert_eq!(cheapest(&model("p/m/unknown", None), &all), None);
    }
}
