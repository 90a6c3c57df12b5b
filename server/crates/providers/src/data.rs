//! The known facts about models: limits, prices, abilities. Those that were checked by hand are in `models.toml`; below
//! them is the [`registry`], which was distilled from public catalogues.

pub(crate) mod prices;
pub(crate) mod registry;

use std::borrow::Cow;
use std::sync::LazyLock;

use protocol::model::{LongPrice, Price, ThinkingLevel};
use serde::{Deserialize, Serialize};

use crate::compat::Compat;

/// The end of the id of a model that is listed a second time, to think before it answers.
pub(crate) const THINKING: &str = "-thinking";

/// A model of the data files.
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
    /// The price, but for long prompts; none if it is not known.
    #[serde(default, deserialize_with = "prices::usual")]
    price: Option<Price>,
    /// The price of long prompts, if it is another.
    #[serde(default, deserialize_with = "prices::long")]
    long: Option<LongPrice>,
    /// The way in which it thinks.
    pub(crate) thinking: Thinking,
    /// The levels at which it can be told to think, if others than usual for its way.
    pub(crate) levels: Option<Vec<ThinkingLevel>>,
    /// True if its thinking may only be sent back after the same messages as before.
    #[serde(default)]
    pub(crate) bound: bool,
    /// The effort that it makes by itself; only for models whose effort may change within a conversation.
    pub(crate) own_effort: Option<ThinkingLevel>,
    /// True if it takes images.
    #[serde(default = "yes")]
    pub(crate) images: bool,
    /// The flags that its vendor's server wants for it, below those of the host.
    #[serde(default)]
    pub(crate) compat: Compat,
}

/// The way in which a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The way with this name in the data files.
    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "none" => Self::None,
            "budget" => Self::Budget,
            "adaptive" => Self::Adaptive,
            "always" => Self::Always,
            "effort" => Self::Effort,
            "level" => Self::Level,
            _ => return None,
        })
    }

    /// True if it thinks only where asked to. Then it is listed twice, since thinking is chosen by choosing the model.
    pub(crate) fn is_asked_for(self) -> bool {
        match self {
            Self::Budget | Self::Adaptive => true,
            Self::None | Self::Always | Self::Effort | Self::Level => false,
        }
    }
}

impl Model {
    /// The price; none if it is not known.
    pub(crate) fn price(&self) -> Option<Price> {
        self.price.map(|price| Price { long: self.long, ..price })
    }

    /// The same at another host than its maker's, where dated ids are written in another way.
    pub(crate) fn elsewhere(self) -> Self {
        Self { pinned: None, ..self }
    }

    /// The id to send.
    pub(crate) fn wire_id(&self) -> &str {
        self.pinned.as_deref().unwrap_or(&self.id)
    }
}

/// Every model that was checked by hand.
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

/// The known model with this id, or of which it is a dated version: the provider's own before that of another vendor
/// with the same id, and what was checked by hand before the registry. Another version or size of a known model is
/// *not* known: it has another price. `home` is the provider's name, if it is at its vendor's own address.
pub(crate) fn find(home: Option<&str>, id: &str) -> Option<Cow<'static, Model>> {
    let by_hand = by_hand(id).map(Cow::Borrowed);
    let is_own = |model: &Cow<'_, Model>| Some(model.provider.as_str()) == home;
    let distilled = || registry::find(home?, id).map(Cow::Owned);
    by_hand.clone().filter(is_own).or_else(distilled).or(by_hand)
}

/// The known model of a provider with this id, or of which it is a dated version, and nobody else's.
pub(crate) fn own(provider: &str, id: &str) -> Option<Cow<'static, Model>> {
    find(Some(provider), id).filter(|model| model.provider == provider)
}

/// The model that a user names, as `anthropic/claude-opus-5-5` or without the provider, in any spelling.
pub(crate) fn named(name: &str) -> Option<Cow<'static, Model>> {
    let own = name.split_once('/').and_then(|(provider, id)| own(provider, id));
    own.or_else(|| made(&registry::canonical(name)).map(Cow::Owned))
}

/// True if a user can name a model so, and its facts are known.
pub fn is_known(name: &str) -> bool {
    named(name).is_some()
}

/// True if some provider is known to have a model with just this id, in any spelling.
pub fn is_listed(id: &str) -> bool {
    let name = registry::canonical(id);
    models().iter().any(|model| registry::canonical(&model.id) == name) || registry::has(&name)
}

/// The model that another server has under its maker's name in some other spelling, without its price: each host has
/// its own.
pub(crate) fn elsewhere(id: &str) -> Option<Cow<'static, Model>> {
    let model = made(&registry::canonical(id))?;
    Some(Cow::Owned(Model { price: None, long: None, ..model }))
}

/// The model of its maker with this canonical name.
fn made(name: &str) -> Option<Model> {
    let by_hand = models().iter().find(|model| registry::canonical(&model.id) == name).cloned();
    by_hand.or_else(|| registry::made_as(name))
}

/// True if this model of a provider was checked by hand.
pub(crate) fn is_by_hand(provider: &str, id: &str) -> bool {
    models().iter().any(|model| model.provider == provider && model.id == id)
}

/// The provider whose own model has this canonical name.
pub(crate) fn maker(name: &str) -> Option<String> {
    made(name).map(|model| model.provider)
}

/// The model of the file by hand. The longest id counts if several fit.
fn by_hand(id: &str) -> Option<&'static Model> {
    let fits = |model: &&Model| {
        let rest = id.strip_prefix(model.id.as_str());
        rest.is_some_and(|rest| rest.is_empty() || is_date(rest)) || model.pinned.as_deref() == Some(id)
    };
    models().iter().filter(fits).max_by_key(|model| model.id.len())
}

/// An id without the date at its end; none if it has none.
pub(crate) fn undated(id: &str) -> Option<&str> {
    let starts = id.char_indices().filter(|(_, c)| matches!(c, '-' | '@')).map(|(at, _)| id.split_at(at));
    starts.filter(|(plain, _)| !plain.is_empty()).find(|(_, date)| is_date(date)).map(|(plain, _)| plain)
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
            let usual = model.price.unwrap();
            assert!(usual.input > 0.0 && usual.output > usual.input, "{}", model.id);
            assert!((0.001..usual.input).contains(&usual.cache_read), "{}: {usual:?}", model.id);
            if let Some(long) = model.long {
                let times = long.input / usual.input;
                assert!(long.above < model.context && times > 1.0 && long.output > usual.output, "{}", model.id);
                assert!((long.cache_read - usual.cache_read * times).abs() < 1e-9, "{}", model.id);
                assert!((long.cache_write - usual.cache_write * times).abs() < 1e-9, "{}", model.id);
            }
            for name in model.aliases.iter().chain([&model.id]) {
                assert!(names.insert(name.clone()), "`{name}` stands for two models");
            }
        }
    }

    /// A vendor may raise its prices after the day of the file by hand, and the registry is renewed more often. A price
    /// that is lower for a reason needs an exception with that reason here.
    #[test]
    fn no_price_by_hand_is_lower_than_in_the_registry() {
        let rates = |price: Price| [price.input, price.output, price.cache_read, price.cache_write];
        let of_long = |price: Price| {
            price.long.map(|long| (long.above, [long.input, long.output, long.cache_read, long.cache_write]))
        };
        for model in models() {
            let (Some(own), Some(known)) =
                (model.price(), registry::find(&model.provider, &model.id).and_then(|known| known.price()))
            else {
                continue;
            };
            let is_lower = |own: [f64; 4], known: [f64; 4]| own.iter().zip(known).any(|(own, known)| *own < known);
            assert!(!is_lower(rates(own), rates(known)), "{}: {own:?}, but {known:?}", model.id);
            let Some((above, known)) = of_long(known) else { continue };
            let (from, own) = of_long(own).unwrap_or_else(|| panic!("{}: long prompts cost more", model.id));
            assert!(from <= above && !is_lower(own, known), "{}: {from} {own:?}, but {above} {known:?}", model.id);
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
        let price = |id: &str| find(None, id)?.price().map(|price| (price.input, price.output));
        assert_eq!(price("claude-opus-4-5-20251101"), Some((5.0, 25.0)));
        assert_eq!(price("claude-sonnet-4-6-20991231"), Some((3.0, 15.0)));
        assert_eq!(price("gpt-6.1-sol-2026-01-02"), Some((2.0, 10.0)));
        assert_eq!(price("claude-opus-5@20260724"), Some((5.0, 25.0)));
    }

    #[test]
    fn long_prompts_of_some_models_cost_more() {
        let long = |id: &str| find(None, id)?.price()?.long.map(|long| (long.above, long.input));
        assert_eq!(long("gemini-2.5-pro"), Some((200_000, 2.5)));
        assert_eq!(long("gpt-6.1-sol-2026-01-02"), Some((272_000, 4.0)));
        assert_eq!(long("claude-haiku-5-5"), Some((100_000, 0.5)));
        assert_eq!(long("gemini-3.8-flash"), None);
    }

    #[test]
    fn another_version_or_size_of_a_known_model_has_no_price() {
        for unknown in ["claude-opus-4-9", "gpt-5-pro", "gpt-5.1-codex-ultra", "claude", "", "gpt-50"] {
            assert!(find(None, unknown).is_none(), "{unknown}");
        }
    }
}
