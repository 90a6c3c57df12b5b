//! Keys that stand where a name belongs, by a slip of whoever wrote the setting.

use std::borrow::Cow;

/// The beginnings of keys that vendors mark.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "gsk_",
    "hf_",
    "xox",
    "xai-",
    "npm_",
    "pypi-",
    "r8_",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29",
    "eyJ",
];
/// A word with such a beginning that is shorter, in bytes, is none.
const SHORTEST: usize = 12;
/// So many letters and digits in a row are of a key, where they are mixed: names are made of words.
const RUN: usize = 20;

/// A text in which what looks like a key is left out.
pub fn left_out(text: &str) -> Cow<'_, str> {
    let is_of_word = |char: char| char.is_ascii_alphanumeric() || "_-+=".contains(char);
    let mut words = text.split(|char| !is_of_word(char));
    if !words.any(looks_like_one) {
        return text.into();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (word, behind) = rest.split_at(rest.find(|char| !is_of_word(char)).unwrap_or(rest.len()));
        kept.push_str(if looks_like_one(word) { "…" } else { word });
        let (between, next) = behind.split_at(behind.find(is_of_word).unwrap_or(behind.len()));
        kept.push_str(between);
        rest = next;
    }
    kept.into()
}

fn looks_like_one(word: &str) -> bool {
    let is_marked = word.len() >= SHORTEST && BEGINNINGS.iter().any(|beginning| word.starts_with(beginning));
    let is_mixed = |run: &str| {
        run.len() >= RUN
            && run.contains(|c: char| c.is_ascii_digit())
            && run.contains(|c: char| c.is_ascii_alphabetic())
    };
    is_marked || word.split(|char: char| !char.is_ascii_alphanumeric()).any(is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_left_out_and_names_stay() {
        for key in [
            "sk-ant-api03-abcdefgh",
            "ghp_0123456789ab",
            "AIzaSyD1234567890",
            "0a1b2c3d4e5f60718293a4b5",
            "sk-or-v1-abcdefghijkl",
        ] {
            assert_eq!(left_out(key), "…");
            assert_eq!(left_out(&format!("providers.{key}.base_url: `{key}`")), "providers.….base_url: `…`");
        }
        for name in [
            "anthropic/claude-sonnet-4-5-20250929",
            "openrouter/meta-llama/Llama-3.3-70B-Instruct",
            "providers.mine.key_env",
            "a_very_long_name_of_some_variable_of_mine",
            "/home/ada/.config/azimuth/config.toml",
            "sk-short",
            "größe",
        ] {
            assert_eq!(left_out(name), name);
        }
    }
}
