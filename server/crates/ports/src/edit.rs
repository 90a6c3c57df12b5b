//! Edits as plain data: what a tool plans, and what becomes of it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The form in which a model edits text that is there. Models do best with the one they were trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditForm {
    /// A text and what to put in its place.
    Replace,
    /// A patch: lines with context, removed and added ones marked.
    Patch,
    /// Lines named by the tags with which they were read.
    Hashline,
}

impl EditForm {
    /// The form for a model, by its id: OpenAI trains its models on patches, from GPT-4.1 and o3 on; the others do well
    /// with replacing.
    pub fn usual(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        // Azure writes GPT-3.5 as `gpt-35`.
        let is_new = |version: (u32, u32)| version >= (4, 1) && version.0 != 35;
        let gpt = name.strip_prefix("gpt-").and_then(version).is_some_and(is_new);
        let o = name.strip_prefix('o').and_then(version).is_some_and(|version| version >= (3, 0));
        if gpt || o || name.contains("codex") { Self::Patch } else { Self::Replace }
    }
}

/// The version that a name begins with: digits, perhaps a point and more digits, and no letter after them.
fn version(name: &str) -> Option<(u32, u32)> {
    let end = name.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(name.len());
    if name[end..].starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    let (major, minor) = name[..end].split_once('.').unwrap_or((&name[..end], "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// New texts for files, planned against texts that were read. Nothing is changed by a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditPlan {
    /// A file each; all of them are proposed, or none.
    pub files: Vec<FilePlan>,
}

/// The plan for one file. Texts are without byte order mark and with LF line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// The file, absolute.
    pub path: PathBuf,
    /// The hash of the text the plan was made against (the file with its pending hunks); none if there was no file.
    pub read: Option<TextHash>,
    /// The text wanted; none to delete the file.
    pub new_text: Option<String>,
    /// The new path of the deleted file's text, if it is moved. The plan creates that file too, before this one.
    pub moved_to: Option<PathBuf>,
}

/// The SHA-256 of a text without byte order mark and with LF line ends, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextHash(pub String);

/// The outcome of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// The number of pending hunks in all files of the plan.
    pub pending_hunks: usize,
    /// Lines that the plan adds.
    pub added: usize,
    /// Lines that the plan removes.
    pub removed: usize,
    /// If edits are accepted automatically: the result of applying these.
    pub applied: bool,
}

/// A plan that was not taken. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
    /// The file's text is no longer the one the plan was made against.
    #[error("{path} has changed since it was read; read it again and make the edit against the new text")]
    Stale {
        /// The file, for people.
        path: String,
    },
    /// The plan changes nothing.
    #[error("the edit changes nothing: {path} already has that text")]
    NoChange {
        /// The file, for people.
        path: String,
    },
    /// It could not be read or checked.
    #[error("{0}")]
    Failed(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_edit_in_the_form_of_their_family() {
        let patching = [
            "openai/gpt-5.1",
            "gpt-5-codex",
            "openrouter/openai/gpt-5-mini",
            "openai/o3",
            "local/codex-mini",
            "gpt-4.1-mini",
            "o4-mini",
            // Those that are to come belong to their family.
            "openai/gpt-6.1-sol-2026-01-02",
            "openai/gpt-6",
            "gpt-10-pro",
            "azure/GPT-6",
            "openai/o5-pro",
        ];
        for model in patching {
            assert_eq!(EditForm::usual(model), EditForm::Patch, "{model}");
        }
        let replacing = [
            "anthropic/claude-sonnet-4-5",
            "ollama/qwen3-coder:30b",
            "openai/gpt-4o",
            "openai/gpt-4-turbo",
            "openai/gpt-4",
            "gpt-3.5-turbo",
            "azure/gpt-35-turbo",
            "gpt-35-turbo-16k",
            "openai/gpt-oss-120b",
            "openai/o1",
            "mistral/open-mistral-7b",
            "olmo-3",
            "o",
            "gpt-",
            "gpt-5x",
            "gpt-.5",
            "gpt-99999999999",
            "scripted/demo",
            "",
        ];
        for model in replacing {
            assert_eq!(EditForm::usual(model), EditForm::Replace, "{model}");
        }
    }
}
