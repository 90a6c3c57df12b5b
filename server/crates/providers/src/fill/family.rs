//! The families of models that fill in text: their tokens, and the prompts made with them. The facts are in `fim.toml`.

use std::sync::{Arc, LazyLock};

use ports::complete::Fill;
use protocol::model::Price;
use serde::Deserialize;

/// The name that stands for the repository, which no model needs to know.
const REPOSITORY: &str = "project";

/// Models that were trained with the same tokens.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Its name.
    pub(crate) name: String,
    models: Vec<String>,
    order: Order,
    prefix: String,
    suffix: String,
    middle: String,
    file: Option<String>,
    repo: Option<String>,
    #[serde(default)]
    path_after_prefix: bool,
    #[serde(default)]
    within: bool,
    #[serde(default)]
    stops: Vec<String>,
    /// The habits of its answers that are taken back.
    #[serde(default)]
    pub(crate) quirks: Vec<Quirk>,
    #[serde(default)]
    plain: bool,
}

/// The order of what stands around the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// The text before the cursor first.
    Psm,
    /// The text after the cursor first.
    Spm,
}

/// A habit of a model's answers that is taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quirk {
    /// It begins with a blank though one stands before the cursor, or with a second blank line.
    LeadingSpace,
    /// It thinks before it answers.
    Thinking,
    /// It begins with the beginning of the cursor's line, once more.
    RepeatedLine,
    /// It ends with a line end though one stands after the cursor.
    TrailingNewline,
    /// It stands in a code fence.
    Fence,
}

/// A model at its vendor.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hosted {
    provider: String,
    models: Vec<String>,
    /// The longest prompt, in tokens.
    pub(crate) context: usize,
    /// The price, if it is known.
    #[serde(default, deserialize_with = "crate::data::prices::usual")]
    pub(crate) price: Option<Price>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "as_of")]
    _as_of: String,
    family: Vec<Family>,
    hosted: Vec<Hosted>,
}

impl Family {
    /// The prompt for a request. What changes least comes first, as far as the model's training lets it.
    pub(crate) fn prompt(&self, request: &Fill) -> String {
        let Self { prefix, suffix, middle, .. } = self;
        let (before, name) = self.files(request);
        let (outside, inside) = if self.within { (String::new(), before + &name) } else { (before, name) };
        let (outside, inside) = match self.path_after_prefix || self.within {
            true => (outside, inside),
            false => (outside + &inside, String::new()),
        };
        let (text, after) = (&request.prefix, &request.suffix);
        match self.order {
            Order::Psm => format!("{outside}{prefix}{inside}{text}{suffix}{after}{middle}"),
            Order::Spm => format!("{outside}{suffix}{after}{prefix}{inside}{text}{middle}"),
        }
    }

    /// The other files, and the name of the file itself, as they stand before its text. Both are empty if there are no
    /// other files.
    fn files(&self, request: &Fill) -> (String, String) {
        if request.extra.is_empty() {
            return (String::new(), String::new());
        }
        let Some(file) = &self.file else {
            return (super::excerpts::commented(&request.extra, &request.language), String::new());
        };
        let mut before = self.repo.as_ref().map(|repo| format!("{repo}{REPOSITORY}\n")).unwrap_or_default();
        for excerpt in &request.extra {
            let text = excerpt.text.trim_end_matches('\n');
            before.push_str(&format!("{file}{}\n{text}\n", excerpt.path));
            // Only a token can be told from a text without a blank line.
            if self.within {
                before.push('\n');
            }
        }
        if self.path_after_prefix {
            before.push_str(file);
            return (before, format!("{}\n", request.path));
        }
        (before, format!("{file}{}\n", request.path))
    }

    /// The texts that control the model, and end an answer.
    pub(crate) fn control_tokens(&self) -> Vec<String> {
        let named = [&self.prefix, &self.suffix, &self.middle].into_iter().chain(&self.file).chain(&self.repo);
        let mut tokens: Vec<String> = named.chain(&self.stops).map(|token| token.trim().to_owned()).collect();
        // The mark of a file that is plain text may stand in any text.
        tokens.retain(|token| !token.is_empty() && token.chars().any(|c| "<[".contains(c)));
        tokens.sort();
        tokens.dedup();
        tokens
    }

    /// The texts at which the server is asked to end, the most telling first: many take no more than four.
    pub(crate) fn stops(&self) -> impl Iterator<Item = &str> {
        let tokens = [&self.prefix, &self.suffix].into_iter().chain(&self.file);
        self.stops.iter().take(1).chain(tokens).chain(self.stops.iter().skip(1)).map(|token| token.trim())
    }
}

/// The family of a model, by its name.
pub(crate) fn find(model: &str) -> Option<&'static Family> {
    let known = FILE.family.iter().filter_map(|family| Some((fit(&family.models, model)?, family)));
    known.max_by_key(|(length, _)| *length).map(|(_, family)| family)
}

/// The known facts about a model at its vendor.
pub(crate) fn hosted(provider: &str, model: &str) -> Option<&'static Hosted> {
    FILE.hosted.iter().find(|hosted| hosted.provider == provider && fit(&hosted.models, model).is_some())
}

/// The control tokens of any model that may be behind a server that does not say which it has.
pub(crate) fn all_control_tokens() -> Arc<[String]> {
    static ALL: LazyLock<Arc<[String]>> = LazyLock::new(|| {
        let families = FILE.family.iter().filter(|family| !family.plain);
        let mut tokens: Vec<String> = families.flat_map(Family::control_tokens).collect();
        tokens.sort();
        tokens.dedup();
        tokens.into()
    });
    Arc::clone(&ALL)
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    // A test reads the file, so this cannot fail in a program that passed it.
    toml::from_str(include_str!("../fim.toml")).unwrap_or_default()
});

/// The length of the longest part that a model's name has.
fn fit(parts: &[String], model: &str) -> Option<usize> {
    let model = letters(model);
    parts.iter().map(|part| letters(part)).filter(|part| model.contains(part.as_str())).map(|part| part.len()).max()
}

/// The letters and digits of a name, in lower case.
pub(crate) fn letters(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ports::complete::Excerpt;

    use super::*;

    fn request(extra: &[(&str, &str)]) -> Fill {
        let extra = extra.iter().map(|(path, text)| Excerpt { path: (*path).into(), text: (*text).into() });
        Fill {
            path: "src/a.rs".into(),
            language: "rust".into(),
            prefix: "fn a() {\n".into(),
            suffix: "\n}\n".into(),
            extra: extra.collect(),
            max_tokens: 64,
            stops: Vec::new(),
            is_varied: false,
            deadline: Duration::from_secs(1),
        }
    }

    #[test]
    fn the_data_file_is_sound() {
        assert!(FILE.family.len() > 8 && FILE.hosted.len() > 2);
        for family in &FILE.family {
            assert!(!family.prefix.trim().is_empty() && !family.suffix.trim().is_empty(), "{}", family.name);
            assert!(family.control_tokens().len() >= 2, "{}", family.name);
            for model in &family.models {
                assert_eq!(find(model).unwrap().name, family.name, "`{model}` stands for two families");
            }
        }
    }

    #[test]
    fn a_model_is_known_by_its_name_however_its_server_writes_it() {
        for (model, family) in [
            ("qwen2.5-coder:1.5b-base", "qwen"),
            ("Qwen/Qwen2.5-Coder-7B-Instruct-GGUF", "qwen"),
            ("qwen3-coder:30b", "qwen"),
            ("bigcode/starcoder2-3b", "starcoder"),
            ("codeqwen:7b-code", "starcoder"),
            ("codellama:7b-code", "codellama"),
            ("codellama/CodeLlama-7b-hf", "codellama"),
            ("deepseek-coder-v2:16b-lite-base", "deepseek"),
            ("codestral-latest", "codestral"),
            ("google/codegemma-2b", "codegemma"),
            ("ByteDance-Seed/Seed-Coder-8B-Base", "seed-coder"),
            ("granite4:3b", "granite"),
            ("granite-code:3b", "granite-code"),
            ("stable-code:3b-code", "stable-code"),
            ("codegeex4-all-9b", "glm"),
            ("zai-org/GLM-4.5-Air", "glm"),
        ] {
            assert_eq!(find(model).map(|family| family.name.as_str()), Some(family), "{model}");
        }
        for other in ["llama3.2", "", "gpt-6", "deepseek-v4-flash", "mistral-large-latest", "nomic-embed-text"] {
            assert!(find(other).is_none(), "{other}");
        }
    }

    #[test]
    fn each_familys_prompt_has_its_tokens_in_its_order() {
        for (model, prompt) in [
            ("qwen2.5-coder", "<|fim_prefix|>fn a() {\n<|fim_suffix|>\n}\n<|fim_middle|>"),
            ("granite-4", "<|fim_prefix|>fn a() {\n<|fim_suffix|>\n}\n<|fim_middle|>"),
            ("codegemma", "<|fim_prefix|>fn a() {\n<|fim_suffix|>\n}\n<|fim_middle|>"),
            ("starcoder2", "<fim_prefix>fn a() {\n<fim_suffix>\n}\n<fim_middle>"),
            ("granite-code", "<fim_prefix>fn a() {\n<fim_suffix>\n}\n<fim_middle>"),
            ("stable-code", "<fim_prefix>fn a() {\n<fim_suffix>\n}\n<fim_middle>"),
            ("codellama", "<PRE> fn a() {\n <SUF>\n}\n <MID>"),
            ("deepseek-coder", "<｜fim▁begin｜>fn a() {\n<｜fim▁hole｜>\n}\n<｜fim▁end｜>"),
            ("codestral", "[SUFFIX]\n}\n[PREFIX]fn a() {\n"),
            ("seed-coder", "<[fim-suffix]>\n}\n<[fim-prefix]>fn a() {\n<[fim-middle]>"),
            ("codegeex", "<|code_prefix|>fn a() {\n<|code_suffix|>\n}\n<|code_middle|>"),
        ] {
            assert_eq!(find(model).unwrap().prompt(&request(&[])), prompt, "{model}");
        }
    }

    #[test]
    fn other_files_stand_where_each_family_learned_to_look_for_them() {
        let request = request(&[("b.rs", "fn b() {}\n")]);
        for (model, prompt) in [
            (
                "qwen2.5-coder",
                "<|repo_name|>project\n<|file_sep|>b.rs\nfn b() {}\n<|file_sep|>src/a.rs\n\
                 <|fim_prefix|>fn a() {\n<|fim_suffix|>\n}\n<|fim_middle|>",
            ),
            (
                "starcoder2",
                "<file_sep>b.rs\nfn b() {}\n<file_sep><fim_prefix>src/a.rs\nfn a() {\n<fim_suffix>\n}\n<fim_middle>",
            ),
            ("codestral", "[SUFFIX]\n}\n[PREFIX]+++++ b.rs\nfn b() {}\n\n+++++ src/a.rs\nfn a() {\n"),
            ("codellama", "// b.rs\nfn b() {}\n\n<PRE> fn a() {\n <SUF>\n}\n <MID>"),
        ] {
            assert_eq!(find(model).unwrap().prompt(&request), prompt, "{model}");
        }
    }

    #[test]
    fn tokens_that_html_has_too_are_looked_for_only_if_the_model_is_known() {
        let tokens = find("codellama").unwrap().control_tokens();
        assert_eq!(tokens, ["<EOT>", "<MID>", "<PRE>", "<SUF>"]);
        let all = all_control_tokens();
        assert!(all.contains(&"<|fim_prefix|>".to_owned()) && !all.contains(&"<PRE>".to_owned()), "{all:?}");
        assert_eq!(find("codestral").unwrap().control_tokens(), ["[PREFIX]", "[SUFFIX]"]);
    }
}
