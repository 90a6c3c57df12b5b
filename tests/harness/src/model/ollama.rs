//! Ollama's own endpoints: the list of models, the details of one, and the models that are loaded. The fields are those
//! of `api/types.go` in Ollama's repository.

use hyper::StatusCode;
use serde_json::{Value, json};

/// An Ollama with one model, which it loads with the first request for an answer.
#[derive(Clone, Debug)]
pub struct Ollama {
    model: String,
    /// The window that it gives the model.
    window: u64,
    /// The largest window that the model can have.
    longest: u64,
    abilities: Vec<&'static str>,
    parameters: String,
    /// True if it fails when it is asked for the models that are loaded.
    hides_windows: bool,
    /// True if it unloads the model once it has said that it is loaded.
    unloads: bool,
    has_told: bool,
    /// The paths that were asked for.
    asked: Vec<String>,
}

impl Ollama {
    /// One that gives a model this window, of which the model can have 262144 tokens.
    pub fn new(model: &str, window: u64) -> Self {
        Self {
            model: model.to_owned(),
            window,
            longest: 262_144,
            abilities: vec!["completion", "tools", "thinking"],
            parameters: String::new(),
            hides_windows: false,
            unloads: false,
            has_told: false,
            asked: Vec::new(),
        }
    }

    /// The model has these abilities.
    #[must_use]
    pub fn with_abilities(self, abilities: &[&'static str]) -> Self {
        Self { abilities: abilities.to_vec(), ..self }
    }

    /// The model can have a window of so many tokens.
    #[must_use]
    pub fn with_longest(self, longest: u64) -> Self {
        Self { longest, ..self }
    }

    /// The model has a Modelfile with these parameters.
    #[must_use]
    pub fn with_parameters(self, parameters: &str) -> Self {
        Self { parameters: parameters.to_owned(), ..self }
    }

    /// It fails when it is asked for the models that are loaded.
    #[must_use]
    pub fn hiding_windows(self) -> Self {
        Self { hides_windows: true, ..self }
    }

    /// It unloads the model once it has said that it is loaded.
    #[must_use]
    pub fn unloading(self) -> Self {
        Self { unloads: true, ..self }
    }

    /// The answer at one of its own paths; none at any other. The model is loaded if it `has_answered`.
    pub(super) fn answer(&mut self, path: &str, body: &[u8], has_answered: bool) -> Option<(StatusCode, Value)> {
        let path = path.strip_prefix("/api/")?;
        self.asked.push(path.to_owned());
        let details = json!({ "format": "gguf", "family": "qwen3", "families": ["qwen3"], "parameter_size": "7B" });
        let listed = json!({ "name": self.model, "model": self.model, "size": 1, "digest": "0a8c", "details": details,
            "capabilities": self.abilities });
        Some(match path {
            "tags" => (StatusCode::OK, json!({ "models": [listed] })),
            "ps" if self.hides_windows => (StatusCode::INTERNAL_SERVER_ERROR, json!({ "error": "no scheduler" })),
            "ps" if has_answered && !(self.unloads && self.has_told) => {
                self.has_told = true;
                let loaded = json!({ "name": self.model, "model": self.model, "size": 1, "size_vram": 1,
                    "digest": "0a8c", "context_length": self.window });
                (StatusCode::OK, json!({ "models": [loaded] }))
            }
            "ps" => (StatusCode::OK, json!({ "models": [] })),
            "show" => {
                let asked: Value = serde_json::from_slice(body).unwrap_or_default();
                match asked["model"] == self.model.as_str() {
                    true => (
                        StatusCode::OK,
                        json!({ "details": details, "capabilities": self.abilities, "parameters": self.parameters,
                            "model_info": { "general.architecture": "qwen3", "qwen3.context_length": self.longest } }),
                    ),
                    false => (StatusCode::NOT_FOUND, json!({ "error": "model not found" })),
                }
            }
            _ => (StatusCode::NOT_FOUND, json!({ "error": "no such path" })),
        })
    }

    /// The number of times that one of its own paths was asked for, such as `ps`.
    pub(super) fn times(&self, path: &str) -> usize {
        self.asked.iter().filter(|asked| *asked == path).count()
    }
}
