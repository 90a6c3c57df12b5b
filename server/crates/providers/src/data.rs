//! The known facts about models: limits, prices, abilities. The numbers are in `models.toml`.

use std::sync::LazyLock;

use protocol::model::{LongPrice, Price, ThinkingLevel};
use serde::Deserialize;

/// A model of the data file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// The provider that has it.
    pub(crate) provider: String,
    /// Its id.
    pub(crate) id: String,
    /// The id to send, where it is another.
    pinned: Option<String>,
    /// Its name for people.
    pub(crate) name: String,
    /// Short names.
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    /// The longest conversation, in tokens.
    pub(crate) context: u64,
    /// The longest answer, in tokens.
    pub(crate) max_output: u64,
    /// The price, but for long prompts.
    price: Price,
    /// The price of long prompts, if it is another.
    long: Option<LongPrice>,
    /// The way in which it thinks.
    pub(crate) thinking: Thinking,
    /// The levels at which it can be told to think, if others than usual for its way.
    pub(crate) levels: Option<Vec<ThinkingLevel>>,
    /// True if its thinking may only be sent back after the same messages as before.
    #[serde(default)]
    pub(crate) bound: bool,
    /// True if it takes images.
    #[serde(default = "yes")]
    pub(crate) images: bool,
}

/// The way in which a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Thinking {
    /// Not at all.
    #[default]
    None,
    /// Where asked to, so many tokens.
    Budget,
    /// Where asked to, as much as it finds right.
    Adaptive,
    /// As much as it finds right, asked or not.
    Always,
    /// OpenAI's reasoning models.
    Effort,
    /// Gemini's since the third generation: as much as it finds right, up to a level.
    Level,
}

impl Thinking {
    /// True if it thinks only where asked to. Then it is listed twice, since thinking is chosen by choosing the model.
    pub(crate) fn is_asked_for(self) -> bool {
        match self {
            Self::Budget | Self::Adaptive => true,
            Self::None | Self::Always | Self::Effort | Self::Level => false,
        }
    }
}

impl Model {
    /// The price.
    pub(crate) fn price(&self) -> Price {
        Price { long: self.long, ..self.price }
    }

    /// The id to send.
    pub(crate) fn wire_id(&self) -> &str {
        self.pinned.as_deref().unwrap_or(&self.id)
    }
}

/// Every model of the data file.
pub(crate) fn models() -> &'static [Model] {
    #[derive(Deserialize)]
    struct File {
        model: Vec<Model>,
    }
    static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
        // A test reads the file, so this cannot fail in a program that passed it.
        toml::from_str(include_str!("models.toml")).map(|file: File| file.model).unwrap_or_default()
    });
    &MODELS
}

/// Returns the known model with this id: one of the data file, or a dated version of one. The longest id counts if
/// several fit. Another version or size of a known model is *not* known: it has another price.
pub(crate) fn find(id: &str) -> Option<&'static Model> {
    let id = id.strip_suffix("-thinking").unwrap_or(id);
    let fits = |model: &&Model| {
        let rest = id.strip_prefix(model.id.as_str());
        rest.is_some_and(|rest| rest.is_empty() || is_date(rest)) || model.pinned.as_deref() == Some(id)
    };
    models().iter().filter(fits).max_by_key(|model| model.id.len())
}

/// True if this is what vendors put after an id for one of its dates: `-20250929`, `-2026-09-29`, `@20250929`,
/// `-latest`.
fn is_date(suffix: &str) -> bool {
    let Some(rest) = suffix.strip_prefix(['-', '@']) else { return false };
    rest == "latest"
        || rest.chars().filter(char::is_ascii_digit).count() == 8
            && rest.chars().all(|c| c.is_ascii_digit() || c == '-')
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_data_file_is_sound() {
        assert!(models().len() > 15);
        let mut names = HashSet::new();
        for model in models() {
            assert!(model.max_output <= model.context && model.context > 0, "{}", model.id);
            assert!(model.price.input > 0.0 && model.price.output > model.price.input, "{}", model.id);
            assert!(model.price.cache_read < model.price.input, "{}", model.id);
            if let Some(long) = model.long {
                let (usual, times) = (model.price, long.input / model.price.input);
                assert!(long.above < model.context && times > 1.0 && long.output > usual.output, "{}", model.id);
                assert!((long.cache_read - usual.cache_read * times).abs() < 1e-9, "{}", model.id);
                assert!((long.cache_write - usual.cache_write * times).abs() < 1e-9, "{}", model.id);
            }
            for name in model.aliases.iter().chain([&model.id]) {
                assert!(names.insert(name.clone()), "`{name}` stands for two models");
            }
        }
    }

    #[test]
    fn the_aliases_of_the_reference_are_there_for_models_that_still_are() {
        let known: HashSet<&str> =
            models().iter().flat_map(|model| model.aliases.iter().chain([&model.id])).map(String::as_str).collect();
        for alias in ["haiku-4-5", "opus-4-5", "gpt-5.1"] {
            assert!(known.contains(alias), "{alias}");
        }
    }

    #[test]
    fn a_dated_id_has_the_price_of_its_model_and_the_longest_id_counts() {
        let price = |id: &str| find(id).map(|model| (model.price.input, model.price.output));
        assert_eq!(price("claude-opus-4-5-20251101"), Some((5.0, 25.0)));
        assert_eq!(price("claude-sonnet-4-6-20991231-thinking"), Some((3.0, 15.0)));
        assert_eq!(price("gpt-6.1-sol-2026-01-02"), Some((2.0, 10.0)));
        assert_eq!(price("claude-opus-5@20260724"), Some((5.0, 25.0)));
    }

    #[test]
    fn long_prompts_of_some_models_cost_more() {
        let long = |id: &str| find(id).and_then(|model| model.price().long).map(|long| (long.above, long.input));
        assert_eq!(long("gemini-2.5-pro"), Some((200_000, 2.5)));
        assert_eq!(long("gpt-6.1-sol-2026-01-02"), Some((272_000, 4.0)));
        assert_eq!(long("claude-haiku-5-5"), Some((100_000, 0.5)));
        assert_eq!(long("gemini-3.8-flash"), None);
    }

    #[test]
    fn another_version_or_size_of_a_known_model_has_no_price() {
        for unknown in ["claude-opus-4-9", "gpt-5-pro", "gpt-5.1-codex-ultra", "claude", "", "gpt-50"] {
            assert!(find(unknown).is_none(), "{unknown}");
        }
    }
}
