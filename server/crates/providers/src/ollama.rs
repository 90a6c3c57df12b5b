//! Ollama's own endpoints (`docs/api.md` of its repository). It serves Chat Completions with the window that a model
//! was loaded with, which is often much smaller than the one that it could have, and cuts off what does not fit
//! without a word.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use net::{Clients, Url, read};
use ports::model::Window;
use serde_json::Value;

use crate::secret::Secret;
use crate::settings::Provider;

/// The place of the list of models.
pub(crate) const LIST: &str = "/api/tags";
/// The place of the models that are loaded.
pub(crate) const LOADED: &str = "/api/ps";
/// The place of the details of one model.
pub(crate) const DETAILS: &str = "/api/show";
/// The smallest window for coding agents, in tokens, that Ollama recommends (`docs/context-length.mdx`).
const ENOUGH: u64 = 64_000;
/// No model has a larger window: a number above it is a mistake.
const LARGEST: u64 = 1_000_000_000;
/// The most bytes of an answer: the details have the licence and the template of a model.
const BYTES: usize = 4 * 1024 * 1024;

/// True if a provider is Ollama, or a server in its place.
pub(crate) fn is_it(provider: &Provider) -> bool {
    provider.is_local && provider.name == "ollama"
}

/// Asks one of its endpoints: with a body by `POST`, else by `GET`.
///
/// # Errors
/// There is no answer, or none that can be read; says why.
pub(crate) async fn ask(
    url: Url,
    body: Option<&Value>,
    provider: &Provider,
    key: Option<&Secret>,
    http: &Clients,
) -> Result<Value, String> {
    let client = http.client(&url).await.map_err(|error| error.to_string())?;
    let mut request = match body {
        None => client.get(url),
        Some(body) => client.post(url).header("content-type", "application/json").body(body.to_string()),
    };
    for (name, value) in provider.headers_with(provider.wire, key)? {
        request = request.header(name, value);
    }
    // The outer words hold the address only.
    let response = request.send().await.map_err(|_| "the request failed")?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("status {}", status.as_u16()));
    }
    let body = read(response, BYTES).await.map_err(|_| "the answer broke off")?;
    serde_json::from_slice(&body).map_err(|_| "the answer is no JSON".to_owned())
}

/// The models that are loaded, each with the window that it has; none for one of which a version before 0.10 says
/// nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loaded(Vec<LoadedModel>);

#[derive(Debug, PartialEq, Eq)]
struct LoadedModel {
    name: String,
    window: Option<u64>,
    digest: Option<String>,
}

impl Loaded {
    /// Reads an answer; none if it has no list.
    pub(crate) fn read(answer: &Value) -> Option<Self> {
        let models = answer.get("models")?.as_array()?;
        let named = models.iter().filter_map(|model| {
            let name = ["name", "model"].iter().find_map(|field| model.get(field)?.as_str())?;
            let digest = model.get("digest").and_then(Value::as_str).map(str::to_owned);
            Some(LoadedModel { name: name.to_owned(), window: tokens(model.get("context_length")), digest })
        });
        Some(Self(named.collect()))
    }

    /// The models whose windows are said. Of one that is loaded twice, it is the smaller one.
    pub(crate) fn windows(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().filter_map(|model| Some((model.name.as_str(), self.window(&model.name)??)))
    }

    /// The digest of a model, if it is loaded and that is said.
    pub(crate) fn digest(&self, model: &str) -> Option<&str> {
        self.0.iter().find(|loaded| plain(&loaded.name) == plain(model))?.digest.as_deref()
    }

    /// The window of a model; none if it is not loaded, and none within if it is not said. If it is loaded twice, it is
    /// the smaller one.
    pub(crate) fn window(&self, model: &str) -> Option<Option<u64>> {
        let mut windows =
            self.0.iter().filter(|loaded| plain(&loaded.name) == plain(model)).map(|loaded| loaded.window).peekable();
        windows.peek()?;
        Some(windows.flatten().min())
    }
}

/// The details of a model, as far as they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// The largest window that the model can have.
    pub(crate) longest: Option<u64>,
    /// The window that its Modelfile sets.
    pub(crate) set: Option<u64>,
    /// The names of its abilities; empty if nothing is said of them.
    able: Vec<String>,
    /// True if it runs at Ollama's own cloud, with its largest window.
    pub(crate) is_remote: bool,
}

impl Details {
    /// Reads what the list of models says of one, or what its details say.
    pub(crate) fn read(told: &Value) -> Self {
        let text = |place: &str| told.pointer(place).and_then(Value::as_str);
        let of_architecture = || {
            let info = told.get("model_info")?.as_object()?;
            let architecture = info.get("general.architecture")?.as_str()?;
            tokens(info.get(&format!("{architecture}.context_length")))
        };
        let able = told.get("capabilities").and_then(Value::as_array).into_iter().flatten();
        Self {
            longest: of_architecture().or_else(|| tokens(told.pointer("/details/context_length"))),
            set: text("/parameters").and_then(set_window),
            able: able.filter_map(Value::as_str).map(str::to_owned).collect(),
            is_remote: text("/remote_host").is_some_and(|host| !host.is_empty()),
        }
    }

    /// The same with what more is told.
    pub(crate) fn with(self, more: Self) -> Self {
        Self {
            longest: more.longest.or(self.longest),
            set: more.set.or(self.set),
            able: if more.able.is_empty() { self.able } else { more.able },
            is_remote: self.is_remote || more.is_remote,
        }
    }

    /// True if it has an ability; none if nothing is said of its abilities.
    pub(crate) fn can(&self, ability: &str) -> Option<bool> {
        (!self.able.is_empty()).then(|| self.able.iter().any(|able| able == ability))
    }
}

/// The facts known of its models, for as long as a configuration holds. Models are given out anew for each turn, and
/// one that nobody used for minutes is not loaded any more, but will be with the same window.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The details of models, by their digests: a model of the same digest has the same ones.
    details: Mutex<HashMap<String, Details>>,
    windows: Mutex<HashMap<String, u64>>,
    are_news: AtomicBool,
}

impl Known {
    /// The details of the models of a digest, if they were told.
    pub(crate) fn details(&self, digest: &str) -> Option<Details> {
        self.details.lock().unwrap_or_else(PoisonError::into_inner).get(digest).cloned()
    }

    /// Takes in the details of the models of a digest.
    pub(crate) fn keep(&self, digest: &str, details: &Details) {
        self.details.lock().unwrap_or_else(PoisonError::into_inner).insert(digest.to_owned(), details.clone());
    }

    /// The last window of a model, if it ever had one.
    pub(crate) fn window(&self, model: &str) -> Option<u64> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).get(&plain(model)).copied()
    }

    /// A model has this window.
    pub(crate) fn learn(&self, model: &str, window: u64) {
        let before = self.windows.lock().unwrap_or_else(PoisonError::into_inner).insert(plain(model), window);
        self.are_news.fetch_or(before != Some(window), Ordering::Relaxed);
    }

    /// True if something was learned since this was last asked.
    pub(crate) fn take_news(&self) -> bool {
        self.are_news.swap(false, Ordering::Relaxed)
    }
}

/// The window of a model that was loaded for a request, with a warning about what an agent lacks with it.
pub(crate) fn window(loaded: &Loaded, details: &Details, model: &str) -> Option<Window> {
    let tokens = loaded.window(model)??;
    Some(Window { tokens, warning: warning([too_small(tokens, details.longest), no_tools(details)]) })
}

/// Several warnings as one; none if there is none.
pub(crate) fn warning(all: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let all: Vec<_> = all.into_iter().flatten().collect();
    (!all.is_empty()).then(|| all.join(". "))
}

/// The warning about a model that cannot call tools.
pub(crate) fn no_tools(details: &Details) -> Option<String> {
    (details.can("tools") == Some(false)).then(|| {
        "Ollama says that it cannot call tools, without which it can neither read nor change a file. Choose a model that \
         has `tools` in `ollama show`"
            .to_owned()
    })
}

/// The warning about a window that is too small for a coding agent, with what to do. `longest` is the largest one that
/// the model can have, if that is known.
pub(crate) fn too_small(window: u64, longest: Option<u64>) -> Option<String> {
    if window >= ENOUGH {
        return None;
    }
    let problem = format!(
        "Ollama gives it a window of {window} tokens and cuts off what does not fit without a word; a coding agent needs \
         at least {ENOUGH}"
    );
    Some(match longest.filter(|longest| *longest < ENOUGH) {
        Some(longest) => format!("{problem}, and this model can have no more than {longest}. Choose another model"),
        None => format!(
            "{problem}. Start Ollama with a larger one (`OLLAMA_CONTEXT_LENGTH={ENOUGH} ollama serve`), or if the model's \
             Modelfile sets `num_ctx`, raise it there"
        ),
    })
}

/// A number of tokens that can be one.
fn tokens(number: Option<&Value>) -> Option<u64> {
    number?.as_u64().filter(|tokens| (1..=LARGEST).contains(tokens))
}

/// The window in the parameters of a Modelfile, of which each has a line.
fn set_window(parameters: &str) -> Option<u64> {
    let mut lines = parameters.lines().map(str::split_whitespace);
    let number = lines.find_map(|mut words| (words.next()? == "num_ctx").then(|| words.next())?)?;
    // A large one may be written with an exponent.
    let number = number.parse::<f64>().ok().filter(|number| (1.0..=LARGEST as f64).contains(number))?;
    Some(number as u64)
}

/// A model's name without the usual tag, which may be left out.
fn plain(name: &str) -> String {
    name.strip_suffix(":latest").unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_window_of_a_loaded_model_is_found_by_its_name_with_or_without_the_usual_tag() {
        let loaded = Loaded::read(&json!({ "models": [
            { "name": "gemma4:latest", "model": "gemma4:latest", "context_length": 131_072 },
            { "model": "qwen3:8b", "context_length": 4096 },
            { "name": "qwen3:8b", "context_length": 8192 },
            { "name": "old:1b" },
        ] }))
        .unwrap();
        let windows = ["gemma4", "Gemma4:latest", "qwen3:8b", "qwen3", "old:1b"].map(|name| loaded.window(name));
        assert_eq!(windows, [Some(Some(131_072)), Some(Some(131_072)), Some(Some(4096)), None, Some(None)]);
        assert_eq!(Loaded::read(&json!({ "models": [] })), Some(Loaded(Vec::new())));
    }

    #[test]
    fn an_answer_that_is_nonsense_gives_no_window_and_no_panic() {
        for none in [json!(null), json!([]), json!({ "models": {} }), json!("models"), json!({ "model": [] })] {
            assert_eq!(Loaded::read(&none), None, "{none}");
        }
        for window in [json!(0), json!(-4096), json!(1e300), json!(u64::MAX), json!("4096"), json!([4096]), json!(4.5)]
        {
            let loaded = Loaded::read(&json!({ "models": [{ "name": "m", "context_length": window }, 7, {}, null] }));
            assert_eq!(loaded.unwrap().window("m"), Some(None), "{window}");
            let told = json!({ "model_info": { "general.architecture": "a", "a.context_length": window },
                "details": { "context_length": window } });
            assert_eq!(Details::read(&told), Details::default(), "{window}");
        }
        for told in [
            json!(null),
            json!([]),
            json!({ "model_info": [], "parameters": 7, "capabilities": "tools",
            "details": null, "remote_host": "" }),
            json!({ "model_info": { "general.architecture": 7 } }),
        ] {
            assert_eq!(Details::read(&told), Details::default(), "{told}");
        }
        for parameters in [
            "",
            "num_ctx",
            "num_ctx x",
            "num_ctx -1",
            "num_ctx NaN",
            "num_ctx inf",
            "num_ctx 1e99",
            "num_ctxs 9",
            "stop num_ctx",
        ] {
            assert_eq!(set_window(parameters), None, "{parameters}");
        }
    }

    #[test]
    fn the_details_of_a_model_are_those_of_the_list_and_its_own() {
        let listed = json!({ "name": "m", "capabilities": ["completion"], "details": { "context_length": 40_960 } });
        let own = json!({ "model_info": { "general.architecture": "qwen3", "qwen3.context_length": 262_144,
            "clip.context_length": 77 }, "parameters": "stop    \"num_ctx 1\"\nnum_ctx                        1.6384e+04",
            "capabilities": ["completion", "tools", "thinking"] });
        let listed = Details::read(&listed);
        assert_eq!((listed.longest, listed.set, listed.can("tools")), (Some(40_960), None, Some(false)));
        let both = listed.with(Details::read(&own));
        assert_eq!((both.longest, both.set, both.is_remote), (Some(262_144), Some(16_384), false));
        assert_eq!([both.can("tools"), both.can("vision")], [Some(true), Some(false)]);
        assert_eq!(Details::default().can("tools"), None, "nothing is said");
        let cloud = Details::read(&json!({ "remote_host": "https://ollama.com:443", "remote_model": "glm" }));
        assert!(cloud.is_remote);
    }

    #[test]
    fn a_window_that_is_too_small_is_told_with_what_to_do() {
        assert_eq!([too_small(64_000, None), too_small(131_072, Some(131_072))], [None, None]);
        let words = too_small(4096, Some(262_144)).unwrap();
        assert!(words.contains("4096 tokens") && words.contains("OLLAMA_CONTEXT_LENGTH=64000 ollama serve"), "{words}");
        assert!(words.contains("`num_ctx`"), "{words}");
        let words = too_small(4096, Some(32_768)).unwrap();
        assert!(words.contains("no more than 32768") && !words.contains("OLLAMA_CONTEXT_LENGTH"), "{words}");
    }
}
