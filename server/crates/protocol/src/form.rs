//! The questions of the model's own that a permission question puts to the user as a form, and what is filled in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Questions that are answered together. Whatever is left open is assumed: what is recommended, else the first option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Form {
    /// The questions, in their order.
    pub questions: Vec<FormQuestion>,
    /// The seconds after which everything is assumed, from when it is asked; absent to wait for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
}

/// A question of a form. The user can always answer it in words of their own instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormQuestion {
    /// One to three words that name the question.
    pub header: String,
    /// The question.
    pub question: String,
    /// The options to choose from.
    pub options: Vec<FormOption>,
    /// True if several of them can be chosen.
    #[serde(default)]
    pub multiple: bool,
}

/// An option of a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormOption {
    /// The option in a few words.
    pub label: String,
    /// The consequence of choosing it; may be empty.
    #[serde(default)]
    pub description: String,
    /// True if the model recommends it.
    #[serde(default)]
    pub recommended: bool,
}

/// The answer to a question of a form. Without either, the question is left open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FormAnswer {
    /// The chosen options, by their places from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<usize>,
    /// The user's own words, instead of an option or, where several can be chosen, beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

impl FormQuestion {
    /// The places of the options that are assumed if nothing is answered: those that are recommended, else the first.
    pub fn assumed(&self) -> Vec<usize> {
        let recommended = |(place, option): (usize, &FormOption)| option.recommended.then_some(place);
        let places: Vec<_> = self.options.iter().enumerate().filter_map(recommended).collect();
        if places.is_empty() { vec![0] } else { places }
    }
}

impl FormAnswer {
    /// The user's own words, if there are any.
    pub fn words(&self) -> Option<&str> {
        self.other.as_deref().map(str::trim).filter(|words| !words.is_empty())
    }

    /// True if the question is left open.
    pub fn is_open(&self) -> bool {
        self.chosen.is_empty() && self.words().is_none()
    }
}
