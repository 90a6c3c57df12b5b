//! The models that the configuration allows, and the one that a user means.

use protocol::model::{DEFAULT_LEVEL, ModelInfo, ThinkingLevel};

use super::bare;
use crate::data::{self, registry};
use crate::settings::Settings;

/// The number of models that are told if several are meant.
const MOST: usize = 8;

/// The rules of the configuration.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    /// The patterns of models that may be used; all if empty.
    pub(super) enabled: &'a [String],
    /// The providers that may not be used.
    pub(super) disabled: &'a [String],
}

impl Rules<'_> {
    /// Why a provider is ruled out, if it is.
    pub(crate) fn provider(&self, name: &str) -> Option<String> {
        let is_disabled = self.disabled.iter().any(|disabled| disabled == name);
        is_disabled.then(|| "the setting disabled_providers names it".to_owned())
    }

    /// Why a model is ruled out, if it is.
    pub(crate) fn model(&self, id: &str) -> Option<String> {
        let plain = id.strip_suffix("-thinking").unwrap_or(id);
        let is_enabled = |pattern: &String| fits(pattern, id) || fits(pattern, plain);
        let is_ruled_out = !self.enabled.is_empty() && !self.enabled.iter().any(is_enabled);
        is_ruled_out.then(|| "no pattern of the setting enabled_models fits it".to_owned())
    }
}

impl Settings {
    /// Why these settings rule a model out, if they do.
    pub fn rules_out(&self, model: &ModelInfo) -> Option<String> {
        self.rules().provider(&model.provider).or_else(|| self.rules().model(&model.id))
    }

    pub(crate) fn rules(&self) -> Rules<'_> {
        Rules { enabled: &self.enabled_models, disabled: &self.disabled_providers }
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

/// The usable model that a name means: the one with the same name in another spelling, else the only one with all of
/// its words, whole ones first. Of one model at several hosts it is that of the first one in the user's `order`, else
/// its maker's, and none is meant if that is not among them: each has its own price and terms. For the same reason a
/// name with a publisher, as Amazon writes it, is only a model's with this publisher. A slip is never corrected: it
/// could be another vendor's model.
pub(super) fn meant(name: &str, models: &[ModelInfo], order: &[String]) -> Meant {
    let publisher = registry::publisher(name.trim()).to_ascii_lowercase();
    let may_be_meant =
        |model: &&ModelInfo| model.available && !model.scripted && model.id.to_ascii_lowercase().contains(&publisher);
    let usable: Vec<&ModelInfo> = models.iter().filter(may_be_meant).collect();
    for (name, level) in readings(name.trim()) {
        let level = level.map(|level| format!(":{}", level.name())).unwrap_or_default();
        let wanted = registry::canonical(name);
        if wanted.is_empty() {
            continue;
        }
        let is_same = |model: &&&ModelInfo| !name.contains('/') && registry::canonical(&model.id) == wanted;
        let words = words(name);
        let whole = |model: &&&ModelInfo| has(model, &words, |own, word| own == word);
        let partly = |model: &&&ModelInfo| has(model, &words, |own, word| own.contains(word));
        let found = |ids: Vec<&str>| match distinct(&ids, order).as_slice() {
            [] => None,
            [id] => Some(Meant::One(format!("{id}{level}"))),
            ids => Some(Meant::Several(ids.iter().take(MOST).map(|id| (*id).to_owned()).collect())),
        };
        let same = usable.iter().filter(is_same).map(|model| model.id.as_str()).collect();
        let whole = || usable.iter().filter(whole).map(|model| model.id.as_str()).collect();
        let partly = || usable.iter().filter(partly).map(|model| model.id.as_str()).collect();
        if let Some(meant) = found(same).or_else(|| found(whole())).or_else(|| found(partly())) {
            return meant;
        }
    }
    Meant::None
}

/// These ids without those that only repeat another of them: the twin that thinks beside its plain model, which lacks
/// the word, and a model at other hosts beside that of the first one in the user's order, or its maker's own.
fn distinct<'a>(ids: &[&'a str], order: &[String]) -> Vec<&'a str> {
    let is_twin = |id: &str| id.strip_suffix("-thinking").is_some_and(|plain| ids.contains(&plain));
    let plain: Vec<(&str, String)> =
        ids.iter().filter(|id| !is_twin(id)).map(|id| (*id, registry::canonical(id))).collect();
    let is_others = |(id, name): &&(&'a str, String)| {
        let hosts = || plain.iter().filter(|(_, other)| other == name).map(|(id, _)| provider(id));
        let first = order.iter().map(String::as_str).find(|first| hosts().any(|host| host == *first));
        let maker = if hosts().count() > 1 { data::maker(name) } else { None };
        first.or(maker.as_deref()).is_some_and(|first| provider(id) != first && hosts().any(|host| host == first))
    };
    plain.iter().filter(|model| !is_others(model)).map(|(id, _)| *id).collect()
}

/// Families of models that their makers give away, so that anybody may run them.
const GIVEN_AWAY: &[&str] = &["gpt-oss", "gemma"];

/// True if two models of one provider, by their ids, are known to be of the same maker and as far as the ids say it are
/// run at the same place: in one folder, in one of Amazon's regions, and not the one by its maker and the other by
/// whoever likes to. What is not known is not the same.
pub fn is_of_same_maker(one: &str, other: &str) -> bool {
    /// The provider with the folder, the region with the publisher, the maker, and the family that is given away.
    fn place(id: &str) -> Option<(&str, &str, String, Option<&'static str>)> {
        let (folder, name) = id.rsplit_once('/')?;
        let (publisher, canonical) = (registry::publisher(name), registry::canonical(name));
        let written = || publisher.trim_end_matches('.').rsplit('.').next().filter(|maker| !maker.is_empty());
        let maker = data::maker(&canonical).or_else(|| written().map(str::to_owned))?;
        let family = GIVEN_AWAY.iter().find(|family| canonical.starts_with(**family)).copied();
        Some((folder, publisher, maker, family))
    }
    place(one).is_some_and(|one| place(other).as_ref() == Some(&one))
}

/// The provider in an id.
fn provider(id: &str) -> &str {
    id.split_once('/').map_or(id, |(provider, _)| provider)
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

/// The ways to read a name: as that of a model, and if it ends like one with a level, as that of a model at this level.
pub(super) fn readings(name: &str) -> Vec<(&str, Option<ThinkingLevel>)> {
    let (model, end) = name.rsplit_once(':').unwrap_or((name, ""));
    let at = match ThinkingLevel::from_name(end) {
        Some(level) => Some((model, Some(level))),
        None => end.eq_ignore_ascii_case(DEFAULT_LEVEL).then_some((model, None)),
    };
    [Some((name, None)), at].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(name: &str, models: &[ModelInfo]) -> Meant {
        super::meant(name, models, &[])
    }

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
        assert_eq!(meant("claude-opus-5-20260724", &all), one("anthropic/claude-opus-5"));
        assert_eq!(
            meant("opus", &all),
            Meant::Several(vec!["anthropic/claude-opus-5".into(), "anthropic/claude-opus-5-5".into()])
        );
        for slip in ["opsu", "gpt-51", "", "  ", ":", "/", "claude-haiku"] {
            assert_eq!(meant(slip, &all), Meant::None, "{slip:?}");
        }
    }

    #[test]
    fn an_id_as_amazon_writes_it_is_never_another_hosts_model() {
        let own = models(&["anthropic/claude-opus-4-6", "openrouter/anthropic/claude-opus-4.6"]);
        let with_amazon = models(&["anthropic/claude-opus-4-6", "bedrock/us.anthropic.claude-opus-4-6-v1"]);
        for dressed in ["us.anthropic.claude-opus-4-6-v1", "US.anthropic.claude-opus-4-6-20260205-v1:0"] {
            assert_eq!(meant(dressed, &own), Meant::None, "{dressed}");
            let amazons = Meant::One("bedrock/us.anthropic.claude-opus-4-6-v1".to_owned());
            assert_eq!(meant(dressed, &with_amazon), amazons, "{dressed}");
        }
        assert_eq!(meant("anthropic.claude-opus-4-6", &own), Meant::None, "not by its words either");
        assert_eq!(meant("eu.anthropic.claude-opus-4-6-v1", &with_amazon), Meant::None, "that is another region");
    }

    #[test]
    fn models_are_of_one_maker_only_if_their_ids_say_so_and_say_no_other_place() {
        for (one, other, is_same) in [
            ("anthropic/claude-opus-5-5", "anthropic/claude-haiku-4-5-20251001", true),
            ("bedrock/eu.anthropic.claude-opus-4-8", "bedrock/eu.anthropic.claude-haiku-4-5-20251001-v1:0", true),
            ("bedrock/eu.anthropic.claude-opus-4-8", "bedrock/global.anthropic.claude-haiku-4-5-20251001-v1:0", false),
            ("bedrock/eu.anthropic.claude-opus-4-8", "bedrock/anthropic.claude-haiku-4-5-20251001-v1:0", false),
            ("bedrock/eu.anthropic.claude-opus-4-8", "bedrock/eu.amazon.nova-micro-v1:0", false),
            ("bedrock/us.amazon.nova-pro-v1:0", "bedrock/us.amazon.nova-micro-v1:0", true),
            ("vertex/gemini-3.1-pro-preview", "vertex/claude-haiku-4-5@20251001", false),
            ("vertex/claude-opus-4-8", "vertex/claude-haiku-4-5@20251001", true),
            ("openrouter/openai/gpt-5.1", "openrouter/openai/gpt-oss-20b", false),
            ("openrouter/openai/gpt-5.1", "openrouter/openai/gpt-5.4-mini", true),
            ("openrouter/google/gemini-3.1-pro-preview", "openrouter/google/gemma-4-31b-it", false),
            ("groq/openai/gpt-oss-120b", "groq/moonshotai/kimi-k2", false),
            ("gate/large", "gate/small", false),
        ] {
            assert_eq!(is_of_same_maker(one, other), is_same, "{one} and {other}");
            assert_eq!(is_of_same_maker(other, one), is_same, "{other} and {one}");
        }
    }

    #[test]
    fn of_one_model_at_several_hosts_its_makers_is_meant_else_none_and_a_twin_only_if_it_is_said() {
        let one = |id: &str| Meant::One(id.to_owned());
        let several = |ids: &[&str]| Meant::Several(ids.iter().map(|id| (*id).to_owned()).collect());
        let hosts = ["together/zai-org/GLM-5.2", "openrouter/z-ai/glm-5.2"];
        for name in ["GLM 5.2", "glm-5-2"] {
            assert_eq!(meant(name, &models(&hosts)), several(&hosts), "{name}: each has its own price");
            let with_maker = models(&[hosts[0], "zai/glm-5.2", hosts[1]]);
            assert_eq!(meant(name, &with_maker), one("zai/glm-5.2"), "{name}");
        }
        let order = ["bedrock".to_owned(), "openrouter".to_owned(), "zai".to_owned()];
        let all = models(&[hosts[0], "zai/glm-5.2", hosts[1]]);
        assert_eq!(super::meant("glm-5-2", &all, &order), one(hosts[1]), "the user's order counts before the maker");
        let more = models(&[hosts[1], "zai/glm-5.2", "zai/glm-4.7"]);
        assert_eq!(meant("glm", &more), several(&["zai/glm-5.2", "zai/glm-4.7"]));
        let twins = models(&["anthropic/claude-opus-4-8", "anthropic/claude-opus-4-8-thinking"]);
        assert_eq!(meant("opus", &twins), one("anthropic/claude-opus-4-8"));
        assert_eq!(meant("opus thinking", &twins), one("anthropic/claude-opus-4-8-thinking"));
    }
}
