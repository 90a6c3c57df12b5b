//! The registry: models that were distilled from public catalogues (`registry.tsv`, by `cargo run -p xtask -- models`).
//!
//! It stays text. A model is found by bisection and parsed when it is asked for, so hundreds of known models cost
//! neither time at the start nor memory.

use std::sync::LazyLock;

use protocol::model::{LongPrice, Price, ThinkingLevel};

use super::{Model, Thinking, undated};
use crate::compat::{AskThinking, Compat};

const FILE: &str = include_str!("../registry.tsv");

/// The vendors whose own models theirs are: another server that has one of these ids has the same model. Mistral hosts
/// some of the others' too, so it comes last.
const MAKERS: &[&str] = &["anthropic", "openai", "gemini", "deepseek", "xai", "moonshot", "zai", "minimax", "mistral"];

/// The models of a provider at its own address, in the order of their ids.
pub(crate) fn of(provider: &str) -> impl Iterator<Item = Model> {
    section(provider).unwrap_or_default().lines().filter_map(move |line| parse(provider, line))
}

/// The model of a provider with this id, or of which it is a dated version.
pub(crate) fn find(provider: &str, id: &str) -> Option<Model> {
    let section = section(provider)?;
    let line = line(section, id).or_else(|| line(section, undated(id)?))?;
    parse(provider, line)
}

/// The model of its maker with this canonical name.
pub(crate) fn made_as(name: &str) -> Option<Model> {
    let is_it = |line: &&str| line.split('\t').next().is_some_and(|id| canonical(id) == name);
    MAKERS.iter().find_map(|maker| parse(maker, section(maker)?.lines().find(is_it)?))
}

/// True if some provider has a model with this canonical name.
pub(crate) fn has(name: &str) -> bool {
    let mut ids = FILE.lines().filter_map(|line| line.split_once('\t')).map(|(id, _)| id);
    ids.any(|id| canonical(id) == name)
}

/// A model's name without what hosts add to it: a folder (`openai/`), a region and a publisher (`us.anthropic.`), a
/// date, and Amazon's version (`-v1:0`, and behind a publisher `-v1`), which elsewhere is a part of the name
/// (`deepseek-v3`); with `.` written as `-`, in small letters. What is left is equal for equal models.
pub(crate) fn canonical(id: &str) -> String {
    let id = id.rsplit('/').next().unwrap_or(id).to_ascii_lowercase();
    let publisher = publisher(&id);
    let (name, has_publisher) = (id.get(publisher.len()..).unwrap_or_default(), !publisher.is_empty());
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    let is_version = |end: &str| match end.split_once(':') {
        Some((version, revision)) => is_number(version) && is_number(revision),
        None => has_publisher && is_number(end),
    };
    let name = name.rsplit_once("-v").filter(|(_, end)| is_version(end)).map_or(name, |(name, _)| name);
    undated(name).unwrap_or(name).replace('.', "-")
}

/// The region and the publisher at the beginning of a model's name, as Amazon writes them (`us.anthropic.`); empty if
/// there are none. A publisher is a word without digits, unlike the beginning of `gpt-5.1`.
pub(crate) fn publisher(name: &str) -> &str {
    let mut rest = name;
    while let Some((before, behind)) = rest.split_once('.')
        && !before.is_empty()
        && before.chars().all(|c| c.is_ascii_alphabetic() || c == '-')
    {
        rest = behind;
    }
    name.get(..name.len() - rest.len()).unwrap_or_default()
}

/// The lines of a provider.
fn section(provider: &str) -> Option<&'static str> {
    static SECTIONS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
        let section = |text: &'static str| text.split_once("]\n");
        FILE.split("\n[")
            .skip(1)
            .filter_map(section)
            .map(|(name, lines)| (name, lines.trim_end_matches('\n')))
            .collect()
    });
    SECTIONS.iter().find(|(name, _)| *name == provider).map(|(_, lines)| *lines)
}

/// The line of an id among lines that are sorted by their ids.
fn line(section: &'static str, id: &str) -> Option<&'static str> {
    let bytes = section.as_bytes();
    let (mut low, mut high) = (0, bytes.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let before = bytes.get(low..middle)?;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(low, |at| low + at + 1);
        let rest = bytes.get(middle..)?;
        let end = rest.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| middle + at);
        let line = section.get(start..end)?;
        match line.split('\t').next().unwrap_or_default().cmp(id) {
            std::cmp::Ordering::Equal => return Some(line),
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    None
}

/// A model of a line. A test reads all of them, so none is left out in a program that passed it.
fn parse(provider: &str, line: &str) -> Option<Model> {
    let mut fields = line.split('\t');
    let mut next = || fields.next();
    let (id, name) = (next()?, next()?);
    let (context, max_output) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let (price, long) = (numbers(next()?), numbers(next()?));
    let mut thinks = next()?.split(' ');
    let thinking = Thinking::from_name(thinks.next()?)?;
    let levels: Vec<_> = thinks.filter_map(ThinkingLevel::from_name).collect();
    let marks: Vec<&str> = next()?.split(' ').collect();
    let ask = marks.iter().find_map(|mark| mark.strip_prefix("ask="));
    let price = match price.as_slice() {
        [input, output, cache_read, cache_write] => Some(Price {
            input: *input,
            output: *output,
            cache_read: *cache_read,
            cache_write: *cache_write,
            cache_write_hour: None,
            long: None,
        }),
        _ => None,
    };
    let long = match long.as_slice() {
        [above, input, output, cache_read, cache_write] => Some(LongPrice {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number of tokens")]
            above: *above as u64,
            input: *input,
            output: *output,
            cache_read: *cache_read,
            cache_write: *cache_write,
        }),
        _ => None,
    };
    Some(Model {
        provider: provider.to_owned(),
        id: id.to_owned(),
        pinned: None,
        name: name.to_owned(),
        aliases: Vec::new(),
        context,
        max_output,
        price,
        long,
        thinking,
        levels: (!levels.is_empty()).then_some(levels),
        bound: false,
        own_effort: None,
        images: marks.contains(&"image"),
        compat: Compat {
            thinking: ask.and_then(AskThinking::from_name),
            reasoning_content: marks.contains(&"echo").then_some(true),
            ..Compat::default()
        },
    })
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVIDERS: &[&str] = &[
        "anthropic",
        "openai",
        "openrouter",
        "deepseek",
        "groq",
        "mistral",
        "xai",
        "inception",
        "gemini",
        "together",
        "fireworks",
        "cerebras",
        "moonshot",
        "zai",
        "minimax",
        "qwen",
        "nvidia",
        "bedrock",
    ];

    #[test]
    fn every_line_is_a_model_that_is_found_by_its_id() {
        let mut number = 0;
        for provider in PROVIDERS {
            let lines = section(provider).unwrap_or_default().lines().count();
            assert!(lines > 0, "{provider}: no section");
            let models: Vec<_> = of(provider).collect();
            assert_eq!(models.len(), lines, "{provider}: a line cannot be read");
            for model in models {
                let found = find(provider, &model.id).map(|found| found.name);
                assert_eq!(found, Some(model.name), "{provider}/{}", model.id);
                assert!(model.max_output <= model.context && model.context >= 32_000, "{provider}/{}", model.id);
                number += 1;
            }
        }
        assert!(number >= 300, "{number}");
        assert_eq!(number, FILE.lines().filter(|line| line.contains('\t')).count(), "a section is not known here");
        assert!(FILE.len() < 80_000, "{}", FILE.len());
    }

    #[test]
    fn a_name_that_hosts_have_dressed_up_is_its_makers() {
        for (dressed, plain) in [
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
            ("anthropic.claude-opus-4-6-v1", "claude-opus-4-6"),
            ("us-gov.anthropic.claude-opus-5", "claude-opus-5"),
            ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
            ("claude-opus-4-5@20251101", "claude-opus-4-5"),
            ("models/gpt-5.1-2025-11-13", "gpt-5-1"),
            ("zai-org/GLM-5.2", "glm-5-2"),
            ("gpt-5.1", "gpt-5-1"),
            ("US.Anthropic.Claude-Opus-4-6-V1", "claude-opus-4-6"),
            ("deepseek.v3-v1:0", "v3"),
            ("deepseek/deepseek-v3", "deepseek-v3"),
            ("deepseek-ai/DeepSeek-V4", "deepseek-v4"),
        ] {
            assert_eq!(canonical(dressed), plain, "{dressed}");
        }
        let model = crate::data::elsewhere("zai-org/GLM-5.2").map(|model| (model.context, model.price().is_none()));
        assert_eq!(model, Some((1_000_000, true)), "its window is known, but not what this host asks for it");
        for other in ["claude", "", "/", ".", "qwen3:8b", "gpt-5.1-codex-ultra", "claude-opus-4-5-mini"] {
            assert!(crate::data::elsewhere(other).is_none(), "{other}");
        }
    }
}
