//! Models in words, and what providers gave and said, kept in the store: lists of models, and the rests of keys.

use std::sync::Arc;

use ports::store::Store;
use protocol::model::{ModelInfo, ThinkingLevel};
use providers::KeepLists;

/// Keeps the lists of models that providers give, and the rests of keys, in the store.
pub fn keeper(store: Arc<dyn Store>) -> Arc<dyn KeepLists> {
    Arc::new(InStore(store))
}

struct InStore(Arc<dyn Store>);

impl KeepLists for InStore {
    fn kept(&self, name: &str) -> Option<String> {
        let kept = self.0.get(name);
        kept.inspect_err(|error| tracing::debug!(%error, name, "what is kept cannot be read")).ok().flatten()
    }

    fn keep(&self, name: &str, text: &str) {
        if let Err(error) = self.0.set(name, text) {
            tracing::debug!(%error, name, "a list of models or the rest of a key is not kept");
        }
    }
}

/// The facts by which people choose a model: its window, its price, what it takes, how much it can think, and what is
/// wrong with it.
pub fn facts(model: &ModelInfo) -> String {
    let ModelInfo { context_tokens, price, images, levels, aliases, .. } = model;
    let window = match context_tokens {
        0 => None,
        1_000_000.. => Some(format!("{}M tokens", rounded(*context_tokens, 1_000_000))),
        tokens => Some(format!("{}k tokens", tokens / 1_000)),
    };
    let price = price.map(|price| {
        if price.input == 0.0 && price.output == 0.0 {
            return "free".to_owned();
        }
        let more = price.long.map(|long| format!(", more above {}k", long.above / 1_000)).unwrap_or_default();
        format!("${} in, ${} out{more}", price.input, price.output)
    });
    let levels: Vec<_> = levels.iter().copied().map(ThinkingLevel::name).collect();
    let levels = (!levels.is_empty()).then(|| format!("thinks {}", levels.join("/")));
    let aliases = (!aliases.is_empty()).then(|| format!("also called {}", aliases.join(", ")));
    let price = price.or_else(|| Some("price unknown".into()));
    let facts = [window, price, images.then(|| "images".into()), levels, aliases, model.warning.clone()];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A number of so many, with one decimal if it needs one.
fn rounded(number: u64, unit: u64) -> String {
    let tenths = number * 10 / unit;
    if tenths.is_multiple_of(10) { (tenths / 10).to_string() } else { format!("{}.{}", tenths / 10, tenths % 10) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_model_is_said_in_one_line() {
        let mut model: ModelInfo = serde_json::from_value(serde_json::json!({
            "id": "p/m", "name": "M", "provider": "p", "contextTokens": 1_048_576, "maxOutputTokens": 1, "available": true,
            "images": true, "levels": ["off", "high"], "aliases": ["one", "m"],
            "price": { "input": 1.25, "output": 10.0, "long": { "above": 200_000, "input": 2.5, "output": 15.0 } }
        }))
        .unwrap();
        assert_eq!(
            facts(&model),
            "1M tokens · $1.25 in, $10 out, more above 200k · images · thinks off/high · also called one, m"
        );
        model = ModelInfo {
            context_tokens: 131_072,
            price: None,
            images: false,
            levels: Vec::new(),
            aliases: Vec::new(),
            ..model
        };
        assert_eq!(facts(&model), "131k tokens · price unknown");
        model = ModelInfo { context_tokens: 0, price: Some(protocol::model::Price::default()), ..model };
        assert_eq!(facts(&model), "free");
        model.warning = Some("its window is small".into());
        assert_eq!(facts(&model), "free · its window is small");
    }
}
