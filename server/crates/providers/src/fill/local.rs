//! Servers on this machine whose models can fill in text, found by asking them.

use std::time::Duration;

use futures_util::future::join_all;
use net::{Clients, read};
use serde_json::{Value, json};

use super::exchange::{Deadline, address};
use super::wire::{FillWire, Place};
use super::{family, is_local, known_wire};
use crate::settings::{Provider, Settings};

/// The time that a server may take for all that it is asked. It is there at once, or not at all.
const PATIENCE: Duration = Duration::from_millis(500);
/// The most bytes of an answer: llama.cpp tells its chat template, and Ollama all its models.
const BYTES: usize = 4 * 1024 * 1024;
/// The most models of Ollama that are asked about one by one, if its list does not say what they can do.
const MOST: usize = 16;

/// A model on this machine that can fill in text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its id, `provider/model`, by which it can be [resolved](super::resolve).
    pub name: String,
    /// The wire over which it is asked.
    pub wire: FillWire,
    /// The longest prompt that its server takes, in tokens, if the server says.
    pub context: Option<u64>,
}

/// The models on this machine that can fill in text, those of llama.cpp first: its server has only one, and somebody
/// chose it. Empty if nothing is there that the configuration allows.
pub async fn local(settings: &Settings) -> Vec<Found> {
    let (http, rules) = (&Clients::new(settings.ca_file.clone()), settings.rules());
    let is_asked = |provider: &&Provider| provider.is_local && rules.provider(&provider.name).is_none();
    let local = settings.providers.iter().filter(is_asked).filter(|provider| is_local(provider));
    let asked = local.map(|provider| async move {
        let asker = Asker { provider, http, deadline: Deadline::after(PATIENCE) };
        match known_wire(provider) {
            Some(FillWire::LlamaCpp) => asker.llama_cpp().await.into_iter().collect(),
            Some(FillWire::Ollama) => asker.ollama().await.unwrap_or_default(),
            _ => Vec::new(),
        }
    });
    let mut found: Vec<Found> = join_all(asked).await.into_iter().flatten().collect();
    found.retain(|found| rules.model(&found.name).is_none());
    found.sort_by_key(|found| found.wire != FillWire::LlamaCpp);
    found
}

/// True if a model of Ollama can fill in text; none if Ollama does not say.
pub(super) async fn can_insert(provider: &Provider, model: &str, http: &Clients) -> Option<bool> {
    Asker { provider, http, deadline: Deadline::after(PATIENCE) }.can_insert(model).await
}

/// Asks a server.
#[derive(Clone, Copy)]
struct Asker<'a> {
    provider: &'a Provider,
    http: &'a Clients,
    deadline: Deadline,
}

impl Asker<'_> {
    /// The model of llama.cpp's server. That it knows the tokens shows only when it is asked to fill in something:
    /// nothing, which costs nothing.
    async fn llama_cpp(self) -> Option<Found> {
        let props = self.ask("/props", None).await?;
        let settings = props.get("default_generation_settings")?;
        let nothing = json!({ "n_predict": 0, "cache_prompt": true, "input_prefix": "", "input_suffix": "" });
        self.ask("/infill", Some(&nothing)).await?;
        let name = |field: &str| props.get(field).and_then(Value::as_str).filter(|name| !name.is_empty());
        let model = name("model_alias").or_else(|| name("model_path")).unwrap_or_default();
        let model = model.rsplit(['/', '\\']).next().unwrap_or_default();
        let model = model.strip_suffix(".gguf").unwrap_or(model);
        let context = settings.get("n_ctx").and_then(Value::as_u64);
        Some(Found { name: format!("{}/{model}", self.provider.name), wire: FillWire::LlamaCpp, context })
    }

    /// The models of Ollama that can fill in text.
    async fn ollama(self) -> Option<Vec<Found>> {
        let list = self.ask("/api/tags", None).await?;
        let models = list.get("models")?.as_array()?;
        let (told, silent): (Vec<_>, Vec<_>) = models
            .iter()
            .filter_map(|model| Some((name_of(model)?, capable(model))))
            .partition(|(_, can)| can.is_some());
        let mut able: Vec<&str> = told.iter().filter(|(_, can)| *can == Some(true)).map(|(name, _)| *name).collect();
        // Those that look as if they could come first, since not all may be asked about.
        let mut silent: Vec<&str> = silent.into_iter().map(|(name, _)| name).collect();
        silent.sort_by_key(|name| family::find(name).is_none());
        silent.truncate(MOST);
        let answers = join_all(silent.iter().map(|name| self.can_insert(name))).await;
        able.extend(silent.iter().zip(answers).filter(|(_, can)| *can == Some(true)).map(|(name, _)| *name));
        let found = able.into_iter().map(|model| {
            let name = format!("{}/{model}", self.provider.name);
            Found { name, wire: FillWire::Ollama, context: None }
        });
        Some(found.collect())
    }

    async fn can_insert(self, model: &str) -> Option<bool> {
        capable(&self.ask("/api/show", Some(&json!({ "model": model }))).await?)
    }

    /// Sends a request, and gives the answer if all went well and in time.
    async fn ask(self, path: &'static str, body: Option<&Value>) -> Option<Value> {
        let url = address(self.provider, Place::Beside(path)).ok()?;
        let client = self.http.client(&url).await.ok()?;
        let mut request = match body {
            None => client.get(url),
            Some(body) => client.post(url).header("content-type", "application/json").body(body.to_string()),
        };
        let key = self.provider.secret().await.ok()?;
        for (name, value) in self.provider.headers_with(self.provider.wire, key.as_ref()).ok()? {
            request = request.header(name, value);
        }
        let answer = self.deadline.wait(async {
            let response = request.send().await.ok().filter(|response| response.status().is_success())?;
            read(response, BYTES).await.ok()
        });
        serde_json::from_slice(&answer.await??).ok()
    }
}

fn name_of(model: &Value) -> Option<&str> {
    ["name", "model"].iter().find_map(|field| model.get(field)?.as_str())
}

/// True if Ollama says of a model that it can fill in text; none if it says nothing of what the model can do.
fn capable(model: &Value) -> Option<bool> {
    let able = model.get("capabilities")?.as_array()?;
    Some(able.iter().any(|capability| capability.as_str() == Some("insert")))
}
