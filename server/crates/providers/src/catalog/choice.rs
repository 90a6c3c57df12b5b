//! The models that the configuration allows, and the one that a user means.

use protocol::model::ModelInfo;

use super::{bare, readings};
use crate::data::registry;

/// The number of models that are told if several are meant.
const MOST: usize = 8;

/// The rules of the configuration.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The patterns of models that may be used; all if empty.
    pub(super) enabled: &'a [String],
    /// The providers that may not be used.
    pub(super) disabled: &'a [String],
}

impl Rules<'_> {
    /// Why a provider is ruled out, if it is.
    pub(super) fn provider(&self, name: &str) -> Option<String> {
        let is_disabled = self.disabled.iter().any(|disabled| disabled == name);
        is_disabled.then(|| "the setting disabled_providers names it".to_owned())
    }

    /// Why a model is ruled out, if it is.
    pub(super) fn model(&self, id: &str) -> Option<String> {
        let plain = id.strip_suffix("-thinking").unwrap_or(id);
        let is_enabled = |pattern: &String| fits(pattern, id) || fits(pattern, plain);
        let is_ruled_out = !self.enabled.is_empty() && !self.enabled.iter().any(is_enabled);
        is_ruled_out.then(|| "no pattern of the setting enabled_models fits it".to_owned())
    }
}

/// True if a pattern fits a model's id: `*` stands for any letters, `?` for one. One without `/` is for the name behind
/// the provider's. Of parts with ` & ` between them, each must fit.
fn fits(pattern: &str, id: &str) -> bool {
    pattern.split(" & ").all(|part| {
        let text = if part.contains('/') { id } else { bare(id) };
        is_like(part.trim().to_ascii_lowercase().as_bytes(), text.to_ascii_lowercase().as_bytes())
    })
}

fn is_like(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // The last `*`, and how much it stands for so far.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match (pattern.get(p), text.get(t)) {
            (Some(b'*'), _) => {
                star = Some((p, t));
                p += 1;
            }
            (Some(wanted), Some(letter)) if *wanted == b'?' || wanted == letter => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                Some((at, begin)) => {
                    *begin += 1;
                    (p, t) = (*at + 1, *begin);
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).unwrap_or_default().iter().all(|letter| *letter == b'*')
}

/// The model that a name means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Meant {
    /// This one, by its id and the level in the name.
    One(String),
    /// One of these, by their ids.
    Several(Vec<String>),
    /// None.
    None,
}

/// The usable model that a name means: one with the same name in another spelling, else the only one with all of its
/// words, whole ones first. A slip is never mended: it could be another vendor's model.
pub(super) fn meant(name: &str, models: &[ModelInfo]) -> Meant {
    let usable: Vec<&ModelInfo> = models.iter().filter(|model| model.available && !model.scripted).collect();
    for (name, level) in readings(name.trim()) {
        let level = level.map(|level| format!(":{}", level.name())).unwrap_or_default();
        let wanted = registry::canonical(name);
        if wanted.is_empty() {
            continue;
        }
        let mut same = usable.iter().filter(|model| registry::canonical(&model.id) == wanted);
        // They are one model at several hosts, of which the first is the one that is usual.
        if let Some(model) = same.next().filter(|_| !name.contains('/')) {
            return Meant::One(format!("{}{level}", model.id));
        }
        let words = words(name);
        let whole = |model: &&&ModelInfo| has(model, &words, |own, word| own == word);
        let partly = |model: &&&ModelInfo| has(model, &words, |own, word| own.contains(word));
        let found = |ids: Vec<&str>| match ids.as_slice() {
            [] => None,
            [id] => Some(Meant::One(format!("{id}{level}"))),
            ids => Some(Meant::Several(ids.iter().take(MOST).map(|id| (*id).to_owned()).collect())),
        };
        let whole: Vec<&str> = usable.iter().filter(whole).map(|model| model.id.as_str()).collect();
        let partly = || usable.iter().filter(partly).map(|model| model.id.as_str()).collect();
        if let Some(meant) = found(whole).or_else(|| found(partly())) {
            return meant;
        }
    }
    Meant::None
}

/// True if each word is like one of the model's.
fn has(model: &ModelInfo, words: &[String], is_like: impl Fn(&str, &str) -> bool) -> bool {
    let own = self::words(&format!("{} {}", model.id, model.name));
    !words.is_empty() && words.iter().all(|word| own.iter().any(|own| is_like(own, word)))
}

/// The words of a name, in small letters; a number is a word too.
fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(ids: &[&str]) -> Vec<ModelInfo> {
        let info = |id: &&str| -> ModelInfo {
            serde_json::from_value(serde_json::json!({
                "id": id, "name": bare(id), "provider": "p", "contextTokens": 1, "maxOutputTokens": 1, "available": true
            }))
            .unwrap()
        };
        ids.iter().map(info).collect()
    }

    #[test]
    fn patterns_say_which_models_may_be_used() {
        for (pattern, id, fits_it) in [
            ("anthropic/*", "anthropic/claude-opus-5", true),
            ("anthropic/*", "openrouter/anthropic/claude-opus-5", false),
            ("*opus*", "openrouter/anthropic/claude-opus-5", true),
            ("gpt-?.1", "openai/gpt-5.1", true),
            ("gpt-?.1", "openai/gpt-5.12", false),
            ("claude-haiku-4-5", "anthropic/claude-haiku-4-5", true),
            ("*a*b*", "p/xaxxbx", true),
            ("*a*b", "p/xaxxbx", false),
            ("openai/* & *mini*", "openai/gpt-5-mini", true),
            ("openai/* & *mini*", "zai/mini", false),
            ("", "p/m", false),
        ] {
            assert_eq!(fits(pattern, id), fits_it, "{pattern} {id}");
        }
        let rules = Rules { enabled: &["anthropic/claude-haiku-4-5".into()], disabled: &["zai".into()] };
        assert_eq!(rules.model("anthropic/claude-haiku-4-5-thinking"), None, "it is the same model");
        assert!(rules.model("anthropic/claude-opus-5").unwrap().contains("enabled_models"));
        assert!(rules.provider("zai").unwrap().contains("disabled_providers"));
        assert_eq!((rules.provider("openai"), Rules { enabled: &[], disabled: &[] }.model("m")), (None, None));
    }

    #[test]
    fn a_name_means_the_only_model_with_its_words_and_a_slip_means_none() {
        let all = models(&["anthropic/claude-opus-5", "anthropic/claude-opus-5-5", "openai/gpt-5.1", "zai/glm-5.2"]);
        let one = |id: &str| Meant::One(id.to_owned());
        assert_eq!(meant("glm", &all), one("zai/glm-5.2"));
        assert_eq!(meant("GLM 5.2:high", &all), one("zai/glm-5.2:high"));
        assert_eq!(meant("gpt 5", &all), one("openai/gpt-5.1"));
        assert_eq!(meant("us.anthropic.claude-opus-5-20260724-v1:0", &all), one("anthropic/claude-opus-5"));
        assert_eq!(
            meant("opus", &all),
            Meant::Several(vec!["anthropic/claude-opus-5".into(), "anthropic/claude-opus-5-5".into()])
        );
        for slip in ["opsu", "gpt-51", "", "  ", ":", "/", "claude-haiku"] {
            assert_eq!(meant(slip, &all), Meant::None, "{slip:?}");
        }
    }
}
