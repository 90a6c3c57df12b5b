//! Asking a provider for its models (`GET …/models`).

mod amazon;
mod claude;
mod ollama;

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use net::header::{HeaderMap, HeaderName, HeaderValue};
use net::{Clients, Url, read};
use ports::model::ModelErrorKind;
use protocol::model::Price;
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};

use super::listed::{Kept, Listed, is_for_talking};
use super::{bedrock, maker};
use crate::aws::Unsigned;
use crate::failure::{host, is_wrong_key, quote, words};
use crate::keep::KeepLists;
use crate::ollama::Known;
use crate::remote::{beside, endpoint};
use crate::secret::Secret;
use crate::settings::Provider;
use crate::signers::{Signed, Signer};
use crate::vendors;
use crate::wire::{Route, Wire};

/// How long a server on this machine may take that nobody spoke of. It is there at once, or not at all.
const GUESS_PATIENCE: Duration = Duration::from_millis(300);
/// How long others may take for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an answer of a server on this machine counts: it may be started, or given a model, at any time.
const LOCAL_FRESH: Duration = Duration::from_secs(5);
/// How long an answer of others counts.
const FRESH: Duration = Duration::from_secs(600);
/// How long a failure counts.
const FAILED: Duration = Duration::from_secs(20);
/// How long a list stands in for one that is not given.
const KEPT: Duration = Duration::from_secs(30 * 86_400);
/// The most bytes of a list.
const BYTES: usize = 8 * 1024 * 1024;
/// The most pages of a list.
const PAGES: usize = 10;
/// Where LM Studio's own lists are, which say what its models can do: that of 0.4, and the one before it.
const LM_STUDIO_LISTS: &[&str] = &["/api/v1/models", "/api/v0/models"];

/// The last answer of a provider.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Held while the provider is asked, so that it is asked once.
    last: Mutex<Option<(Instant, Answer)>>,
    /// The last list that it gave, in this process or an earlier one.
    kept: RwLock<Option<Arc<Kept>>>,
    /// Set once the list of an earlier process was looked for.
    looked: OnceCell<()>,
    /// The details and windows of its models, if it is Ollama.
    of_ollama: Arc<Known>,
}

/// Why a server does not list its models, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unlisted {
    /// It does not know the key, which may have been renewed meanwhile.
    #[error("{0}")]
    Refused(String),
    /// It knows the key, and takes it for nothing here.
    #[error("{0}")]
    Forbidden(String),
    /// It does not answer.
    #[error("{0}")]
    Unreachable(String),
    /// It has no list, or none that can be read.
    #[error("{0}")]
    NoList(String),
    /// The key is not known, such as because the command that prints it fails; nothing was sent.
    #[error("{0}")]
    KeyUnknown(String),
    /// The sign-in has ended, so that only the user can renew it; nothing was sent, or the last token was refused.
    #[error("{0}")]
    Ended(String),
    /// Something else.
    #[error("{0}")]
    Other(String),
}

impl Unlisted {
    /// True if it takes no request with this key.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Forbidden(_) => true,
            Self::Unreachable(_) | Self::NoList(_) | Self::KeyUnknown(_) | Self::Ended(_) | Self::Other(_) => false,
        }
    }

    /// True if the key is a wrong one, so that it serves for nothing.
    pub(super) fn is_wrong_key(&self) -> bool {
        matches!(self, Self::Refused(_))
    }

    /// The same as it counts for what can be used: a gateway in a vendor's stead that keeps the vendor's list to itself
    /// may pass conversations on all the same.
    fn counted_at(self, provider: &Provider) -> Self {
        match self {
            Self::Refused(problem) | Self::Forbidden(problem) if bedrock::is_gateway(provider) => Self::NoList(problem),
            other => other,
        }
    }

    /// The same in other words.
    fn told(self, words: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Refused(problem) => Self::Refused(words(problem)),
            Self::Forbidden(problem) => Self::Forbidden(words(problem)),
            Self::Unreachable(problem) => Self::Unreachable(words(problem)),
            Self::NoList(problem) => Self::NoList(words(problem)),
            Self::KeyUnknown(problem) => Self::KeyUnknown(words(problem)),
            Self::Ended(problem) => Self::Ended(words(problem)),
            Self::Other(problem) => Self::Other(words(problem)),
        }
    }
}

impl From<String> for Unlisted {
    fn from(problem: String) -> Self {
        Self::Other(problem)
    }
}

impl From<Unlisted> for String {
    fn from(unlisted: Unlisted) -> Self {
        match unlisted {
            Unlisted::Refused(problem)
            | Unlisted::Forbidden(problem)
            | Unlisted::Unreachable(problem)
            | Unlisted::NoList(problem)
            | Unlisted::KeyUnknown(problem)
            | Unlisted::Ended(problem)
            | Unlisted::Other(problem) => problem,
        }
    }
}

/// The models, or why they are not known.
pub(super) type Answer = Result<Vec<Listed>, Unlisted>;

/// A provider that is asked, and with what.
#[derive(Clone, Copy)]
struct Asked<'a> {
    provider: &'a Provider,
    /// Its key. None if requests are signed, or need nothing.
    key: Option<&'a Secret>,
    http: &'a Clients,
    /// The time for each answer. Credentials have a time of their own: a program that gets them may wait for its user.
    patience: Duration,
}

/// True if a list is older than an answer that counts.
pub(super) fn is_old(kept: &Kept) -> bool {
    kept.age() > FRESH
}

impl Listing {
    /// The provider's models, or why they are not known and what to do. A list is kept.
    pub(super) async fn get(&self, provider: &Provider, http: &Clients, keeper: Option<&Arc<dyn KeepLists>>) -> Answer {
        let mut last = self.last.lock().await;
        if let Some((asked, answer)) = &*last
            && !self.of_ollama.take_news()
            && asked.elapsed() < counts(provider, answer)
        {
            return answer.clone();
        }
        let patience = if provider.is_guess() { GUESS_PATIENCE } else { PATIENCE };
        let answer = ask(provider, http, patience, &self.of_ollama).await.map_err(|unlisted| {
            let unlisted = unlisted.counted_at(provider);
            let (name, host) = (&provider.name, host(&provider.base_url));
            let advice = match provider.is_local {
                true => format!("Is {name} running?"),
                // Its models are known without its list.
                false if maker::is_maker(provider) => match &unlisted {
                    Unlisted::Refused(_) => format!("Check {}", provider.whose("").key_source),
                    Unlisted::Unreachable(_) => "Check the network".to_owned(),
                    Unlisted::Forbidden(_) | Unlisted::NoList(_) => "Conversations may work all the same".to_owned(),
                    Unlisted::KeyUnknown(_) | Unlisted::Ended(_) | Unlisted::Other(_) => String::new(),
                },
                false if unlisted.is_refusal() => {
                    format!("Check {}, or name its models in providers.{name}.models", provider.whose("").key_source)
                }
                false => format!("Name them in providers.{name}.models"),
            };
            unlisted.told(|problem| {
                let words = format!("{name} at {host} does not list its models: {problem}. {advice}");
                words.trim_end_matches(['.', ' ']).to_owned()
            })
        });
        // The answer itself says what was learned with it.
        self.of_ollama.take_news();
        *last = Some((Instant::now(), answer.clone()));
        drop(last);
        if let Ok(models) = &answer
            && !provider.is_local
            && !models.is_empty()
        {
            let kept = Arc::new(Kept::now(provider, models.clone()));
            *self.kept.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&kept));
            if let Some(keeper) = keeper {
                kept.write(provider, Arc::clone(keeper)).await;
            }
        }
        answer
    }

    /// The facts that are known of its models, if it is Ollama. A window that is learned has it asked again.
    pub(super) fn of_ollama(&self) -> Arc<Known> {
        Arc::clone(&self.of_ollama)
    }

    /// True if it is not being asked, and its last answer counts no longer.
    pub(super) fn is_due(&self, provider: &Provider) -> bool {
        let Ok(last) = self.last.try_lock() else { return false };
        last.as_ref().is_none_or(|(asked, answer)| asked.elapsed() >= counts(provider, answer))
    }

    /// The last list that the provider gave, in this process or an earlier one. What a server on this machine has is
    /// not what it had.
    pub(super) async fn kept(&self, provider: &Provider, keeper: Option<&Arc<dyn KeepLists>>) -> Option<Arc<Kept>> {
        if provider.is_local {
            return None;
        }
        let look = || async {
            let Some(keeper) = keeper else { return };
            let kept = Kept::read(provider, Arc::clone(keeper)).await.map(Arc::new);
            let mut known = self.kept.write().unwrap_or_else(PoisonError::into_inner);
            // A newer one may have come meanwhile.
            *known = known.take().or(kept);
        };
        self.looked.get_or_init(look).await;
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner).clone();
        kept.filter(|kept| kept.age() <= KEPT)
    }
}

/// How long an answer counts.
fn counts(provider: &Provider, answer: &Answer) -> Duration {
    match answer {
        _ if provider.is_local => LOCAL_FRESH,
        Ok(_) => FRESH,
        Err(_) => FAILED,
    }
}

/// Asks a provider for its models now. The words of a failure are the server's and ours, without the provider's name.
pub(super) async fn ask_now(provider: &Provider, http: &Clients) -> Answer {
    ask(provider, http, PATIENCE, &Known::default()).await
}

/// True if a provider lists models to whoever asks: without its key, though with what the user adds to each request.
pub(super) async fn lists_for_anybody(provider: &Provider, http: &Clients) -> Result<bool, Unlisted> {
    let asked = Asked { provider, key: None, http, patience: PATIENCE };
    let bedrock = bedrock::address(provider);
    let url = match &bedrock {
        Some(address) => amazon::place(address)?,
        None => provider.listing_url()?,
    };
    match ask_page_as(None, url, asked).await {
        Ok(body) if bedrock.is_some() => Ok(amazon::has_models(&body)),
        Ok(body) => Ok(parse(&body, in_folders(provider)).is_some_and(|models| !models.is_empty())),
        Err(Unlisted::Refused(_) | Unlisted::Forbidden(_) | Unlisted::NoList(_)) => Ok(false),
        // A limit that is reached or a server in trouble says nothing of who may ask.
        Err(unlisted) => Err(unlisted),
    }
}

/// Asks at another place of a provider's than its list, below the version, with its key. Of the answer it counts only
/// that it is one of an interface: with `data` in it.
pub(super) async fn ask_place(provider: &Provider, path: &str, http: &Clients) -> Result<(), Unlisted> {
    let key = key_of(provider).await?;
    let url = endpoint(&provider.base_url, &Route::v1(path))?;
    let body = ask_page(url, Asked { provider, key: key.as_ref(), http, patience: PATIENCE }).await?;
    let has_data = serde_json::from_slice::<Value>(&body).is_ok_and(|answer| answer.get("data").is_some());
    if has_data { Ok(()) } else { Err(Unlisted::NoList("a page without the place's data".to_owned())) }
}

/// The key that a provider is asked with. A command that prints it has its own time.
async fn key_of(provider: &Provider) -> Result<Option<Secret>, Unlisted> {
    let member = provider.member("").await;
    provider.secret_of(member.as_ref()).await.map_err(|failure| match failure.kind {
        ModelErrorKind::Unauthorized if provider.has_account() => Unlisted::Ended(failure.message),
        _ => Unlisted::KeyUnknown(failure.message),
    })
}

async fn ask(provider: &Provider, http: &Clients, patience: Duration, of_ollama: &Known) -> Answer {
    let key = key_of(provider).await?;
    let key = key.as_ref();
    let asked = Asked { provider, key, http, patience };
    // Ollama's own list says what its models can do. Where there is none, it is another server in its place.
    if crate::ollama::is_it(provider)
        && let Ok(models) = ollama::list(asked, of_ollama).await
    {
        return Ok(models);
    }
    let mut models = match (ask_for_all(asked).await, key) {
        (Err(Unlisted::Refused(problem)), Some(refused)) if provider.refused(refused).await => {
            let again = key_of(provider).await?;
            // The same key would be refused again.
            if again.as_ref() == Some(refused) {
                return Err(Unlisted::Refused(problem));
            }
            ask_for_all(Asked { key: again.as_ref(), ..asked }).await?
        }
        (answer, _) => answer?,
    };
    // Whatever comes of a list that only says more of the models, they are there.
    if provider.is_local
        && provider.name == "lm-studio"
        && let Ok(told) = ask_lm_studio(asked).await
    {
        models.iter_mut().for_each(|model| complete(model, &told));
    }
    if let Some(vendor) = provider.vendor() {
        models.retain(|model| vendor.serves(&model.id));
    }
    Ok(models)
}

/// Asks for its list where it has it.
async fn ask_for_all(asked: Asked<'_>) -> Answer {
    match bedrock::address(asked.provider) {
        Some(address) => amazon::list(&address, asked).await,
        None => ask_at(asked.provider.listing_url()?, asked).await,
    }
}

/// Each answer has a time of its own, so that one that is not needed takes none from one that is.
async fn in_time<T>(patience: Duration, asking: impl Future<Output = Result<T, Unlisted>>) -> Result<T, Unlisted> {
    let answer = tokio::time::timeout(patience, asking).await;
    let late = |_| Err(Unlisted::Unreachable(format!("no answer within {} seconds", patience.as_secs_f64())));
    answer.unwrap_or_else(late)
}

/// Asks LM Studio for its models in a list of its own.
async fn ask_lm_studio(asked: Asked<'_>) -> Answer {
    let mut told = Err(Unlisted::NoList("it has no list of its own".to_owned()));
    for place in LM_STUDIO_LISTS {
        told = ask_at(beside(&asked.provider.base_url, place)?, asked).await;
        if told.is_ok() {
            break;
        }
    }
    told
}

/// Takes what another list of the same server says of a model.
fn complete(model: &mut Listed, told: &[Listed]) {
    if let Some(told) = told.iter().find(|told| told.id == model.id) {
        model.context = model.context.or(told.context);
        model.images = model.images.or(told.images);
    }
}

/// Asks for a list, page by page.
async fn ask_at(url: Url, asked: Asked<'_>) -> Answer {
    let (mut models, mut next) = (Vec::new(), Some(url.clone()));
    for _ in 0..PAGES {
        let Some(page) = next.take() else { break };
        let body = ask_page(page, asked).await?;
        let page = parse(&body, in_folders(asked.provider));
        let page = page.ok_or_else(|| Unlisted::NoList("the answer is no list of models".to_owned()))?;
        let is_new = |model: &Listed| !models.iter().any(|known: &Listed| known.id == model.id);
        let new: Vec<_> = page.into_iter().filter(is_new).collect();
        // A server that knows no pages gives the same one again.
        next = next_page(&url, asked.provider.wire, &body).filter(|_| !new.is_empty());
        models.extend(new);
    }
    Ok(models)
}

/// The address of the page after this one; none if it is the last.
fn next_page(url: &Url, wire: Wire, body: &[u8]) -> Option<Url> {
    let (field, parameter) = wire.paging()?;
    let list: Value = serde_json::from_slice(body).ok()?;
    let is_last = list.get("has_more").and_then(Value::as_bool) == Some(false);
    let place = list.get(field)?.as_str().filter(|place| !place.is_empty() && !is_last)?;
    let mut url = url.clone();
    url.query_pairs_mut().append_pair(parameter, place);
    Some(url)
}

/// Asks for one page of a list, with the key or the credentials of the user.
async fn ask_page(url: Url, asked: Asked<'_>) -> Result<Vec<u8>, Unlisted> {
    ask_page_as(asked.provider.signer(), url, asked).await
}

/// The same with credentials only if they are given.
async fn ask_page_as(signer: Option<&Signer>, url: Url, asked: Asked<'_>) -> Result<Vec<u8>, Unlisted> {
    let Asked { provider, key, http, patience } = asked;
    let client = http.client(&url).await.map_err(|error| error.to_string())?;
    let own = provider.headers_with(provider.wire, key)?;
    // The user's count more.
    let ours = provider.wire.listing_headers().iter().filter(|(name, _)| !own.iter().any(|(known, _)| known == name));
    let ours = ours.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
    let mut headers = HeaderMap::new();
    for (name, value) in ours.chain(own.iter().cloned()) {
        headers.append(name, value);
    }
    let (mut signed, mut tries) = (None, 0);
    let response = loop {
        if let Some(signer) = signer {
            let unsigned = Unsigned { method: "GET", url: &url, headers: &headers, body: b"" };
            let made = signer.sign(&provider.name, &unsigned).await;
            // Whoever repeats it has named the provider.
            let problem = |text: &str| text.strip_prefix(&format!("{}: ", provider.name)).unwrap_or(text).to_owned();
            signed = Some(made.map_err(|failure| Unlisted::KeyUnknown(problem(&failure.message)))?);
        }
        let mut get = client.get(url.clone()).headers(headers.clone());
        if let Some(signed) = &signed {
            get = get.headers(signed.headers());
        }
        let response = in_time(patience, async {
            get.send().await.map_err(|failure| {
                // The outer words hold the address only.
                let problem = if failure.is_connect() { "nothing answers there" } else { "the request failed" };
                Unlisted::Unreachable(problem.to_owned())
            })
        })
        .await?;
        tries += 1;
        match (signer, &signed) {
            (Some(signer), Some(signed)) if tries == 1 && !response.status().is_success() => {
                if !signer.is_worth_another_try(signed, response.status().as_u16(), response.headers()).await {
                    break response;
                }
            }
            _ => break response,
        }
    };
    let (status, head) = (response.status(), response.headers().clone());
    let body = async { read(response, BYTES).await.map_err(|_| Unlisted::from("the answer broke off".to_owned())) };
    let body = in_time(patience, body).await?;
    if status.is_success() {
        return Ok(body);
    }
    let words = words(&body);
    let signed = signed.iter().flat_map(Signed::secrets).collect::<Vec<_>>();
    let secrets = key.into_iter().chain(&signed).chain(provider.headers.iter().map(|(_, value)| value));
    let said = quote(&words.message, secrets);
    // Whoever repeats it has words behind it.
    let problem = format!("status {}: {said}", status.as_u16()).trim_end_matches(['.', ':', ' ']).to_owned();
    Err(match status.as_u16() {
        // OpenAI's restricted keys may talk to models and not list them.
        401 | 403 if words.message.contains("api.model.read") => Unlisted::NoList(problem),
        401 => Unlisted::Refused(problem),
        400 if is_wrong_key(&words.code, &words.message) => Unlisted::Refused(problem),
        403 if bedrock::is_unknown_key(provider, &head, &words.message) => Unlisted::Refused(problem),
        403 => Unlisted::Forbidden(problem),
        404 | 405 | 410 | 501 => Unlisted::NoList(problem),
        _ => Unlisted::Other(problem),
    })
}

/// True if a provider's list has its models in a folder that is no part of their ids: Google's, over both of its wires.
/// With other servers a path may be the id.
fn in_folders(provider: &Provider) -> bool {
    let is_google = || vendors::named("gemini").is_some_and(|google| google.is_at(&provider.base_url));
    provider.wire == Wire::Gemini || is_google()
}

/// The models in a list, in any of its forms.
fn parse(body: &[u8], in_folders: bool) -> Option<Vec<Listed>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let items = ["data", "models"].iter().find_map(|name| value.get(name)?.as_array()).or(value.as_array())?;
    let models = items.iter().filter_map(|item| listed(item, in_folders));
    Some(models.filter(|model| is_for_talking(&model.id)).collect())
}

/// A model of a list. What is said beside the id differs: context lengths of OpenRouter, Groq, vLLM, LM Studio and
/// llama.cpp, prices of OpenRouter.
fn listed(item: &Value, in_folders: bool) -> Option<Listed> {
    // Google tells of models that embed, speak or paint too.
    let methods = item.get("supportedGenerationMethods").and_then(Value::as_array);
    if methods.is_some_and(|methods| !methods.iter().any(|method| method == "generateContent")) {
        return None;
    }
    // A ChatGPT plan has models that are not to be shown.
    if item.get("visibility").and_then(Value::as_str).is_some_and(|shown| shown != "list") {
        return None;
    }
    // GitHub's list has models that are no choice, and those to whose terms nobody has agreed yet.
    let is_no_choice = item.get("model_picker_enabled").and_then(Value::as_bool) == Some(false);
    if is_no_choice || item.pointer("/policy/state").and_then(Value::as_str).is_some_and(|state| state != "enabled") {
        return None;
    }
    // Anthropic tells of models that answer no more.
    if item.get("lifecycle").and_then(Value::as_str) == Some("retired") {
        return None;
    }
    // LM Studio's own list calls it a key, and that of a ChatGPT plan a slug.
    let id = ["id", "slug", "key", "name", "model"].iter().find_map(|name| item.get(name)?.as_str())?;
    let id = id.strip_prefix("models/").filter(|_| in_folders).unwrap_or(id);
    let number = |places: &[&str]| places.iter().find_map(|place| item.pointer(place)?.as_u64()).filter(|n| *n > 0);
    // OpenRouter's.
    let modalities = item.pointer("/architecture/input_modalities").and_then(Value::as_array);
    // LM Studio's older list says so here that a model sees: `llm` or `vlm`.
    let kind = item.get("type").and_then(Value::as_str);
    // A list at Ollama and llama.cpp, an object at Mistral, LM Studio and GitHub.
    let capabilities = item.get("capabilities");
    // GitHub's, where a prompt may be shorter than the window less the answer.
    let limit = |name: &str| number(&[format!("/capabilities/limits/{name}").as_str()]);
    let parts = limit("max_prompt_tokens").zip(limit("max_output_tokens"));
    // No more than an agent reserves for an answer: a prompt would fill what is not reserved.
    let sum = parts.map(|(prompt, answer)| prompt.saturating_add(answer.min(prompt / 4).min(32_000)));
    let window = limit("max_context_window_tokens").into_iter().chain(sum).min();
    let claude = claude::read(item);
    let has =
        |list: &Vec<Value>, names: &[&str]| list.iter().filter_map(Value::as_str).any(|name| names.contains(&name));
    Some(Listed {
        id: id.to_owned(),
        context: number(&[
            "/loaded_context_length",
            "/loaded_instances/0/config/context_length",
            "/meta/n_ctx",
            "/context_length",
            "/context_window",
            "/max_context_length",
            "/max_model_len",
            "/inputTokenLimit",
            "/max_input_tokens",
        ])
        .or(window),
        max_output: number(&[
            "/top_provider/max_completion_tokens",
            "/max_completion_tokens",
            "/outputTokenLimit",
            "/capabilities/limits/max_output_tokens",
        ])
        .or(claude.max_output),
        price: item.get("pricing").and_then(price),
        images: modalities.map(|kinds| has(kinds, &["image"])).or_else(|| match (kind, capabilities) {
            (Some("vlm"), _) => Some(true),
            // Before 0.4 it says nothing else of what a model can do.
            (Some("llm"), None) => Some(false),
            (_, Some(Value::Array(able))) => Some(has(able, &["multimodal", "vision"])),
            (_, able) => {
                let places = ["/vision", "/supports/vision", "/image_input/supported"];
                places.iter().find_map(|place| able?.pointer(place)?.as_bool())
            }
        }),
        thinking: item.get("thinking").and_then(Value::as_bool),
        name: claude.name,
        way: claude.way,
        levels: claude.levels,
        ..Listed::default()
    })
}

/// Prices per token, as texts.
fn price(pricing: &Value) -> Option<Price> {
    let dollars = |name: &str| {
        let price = pricing.get(name)?;
        let price = price.as_f64().or_else(|| price.as_str()?.parse().ok())?;
        (price >= 0.0).then_some(price * 1e6)
    };
    let input = dollars("prompt")?;
    Some(Price {
        input,
        output: dollars("completion")?,
        cache_read: dollars("input_cache_read").unwrap_or(input),
        cache_write: dollars("input_cache_write").unwrap_or(input),
        cache_write_hour: None,
        long: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Vec<Listed> {
        parse(body.as_bytes(), false).unwrap()
    }

    #[test]
    fn lists_are_read_in_every_form() {
        for body in [
            r#"{"object":"list","data":[{"id":"a"},{"id":"nomic-embed-text"},{"nothing":1}]}"#,
            r#"{"models":[{"name":"a","model":"a"}]}"#,
            r#"[{"id":"a"}]"#,
        ] {
            assert_eq!(read(body), [Listed { id: "a".into(), ..Listed::default() }], "{body}");
        }
        let plan =
            r#"{"models":[{"slug":"a","display_name":"A","visibility":"list"},{"slug":"b","visibility":"hide"}]}"#;
        assert_eq!(read(plan), [Listed { id: "a".into(), ..Listed::default() }]);
        assert_eq!(read(r#"{"data":[]}"#), []);
        for other in ["<html>", "{}", r#"{"data":{}}"#, "7"] {
            assert_eq!(parse(other.as_bytes(), false), None, "{other}");
        }
    }

    #[test]
    fn a_folder_is_taken_off_the_ids_of_google_only() {
        let list = |name: &str, address: &str, wire: Option<&str>| {
            let mut settings = crate::Settings::default();
            settings.set_provider(name, Some(address.into()), None, wire, vec![]).unwrap();
            let body = br#"{"data":[{"id":"models/Qwen3-Coder"}]}"#;
            parse(body, in_folders(settings.provider_mut(name).unwrap())).unwrap().remove(0).id
        };
        assert_eq!(list("vllm", "http://127.0.0.1:8000", None), "models/Qwen3-Coder");
        assert_eq!(list("mine", "http://127.0.0.1:8000", Some("gemini")), "Qwen3-Coder");
        let google = "https://generativelanguage.googleapis.com/v1beta/openai";
        assert_eq!(list("mine", google, Some("openai-chat")), "Qwen3-Coder");
    }

    #[test]
    fn where_a_server_is_holds_no_name_and_no_password() {
        assert_eq!(host("http://user:hunter2@127.0.0.1:8080/v1"), "127.0.0.1:8080");
        assert_eq!(host("https://api.example.com/v1"), "api.example.com");
        assert_eq!(quote("bad key sk-secret", Some(&Secret::new("sk-secret"))), "bad key [key]");
    }

    #[test]
    fn what_servers_say_of_their_models_is_taken() {
        let router = r#"{"data":[{"id":"q/w","context_length":262144,"top_provider":{"max_completion_tokens":65536},
            "pricing":{"prompt":"0.0000002","completion":"0.0000008","input_cache_read":"0.00000002"},
            "architecture":{"input_modalities":["text","image"]}}]}"#;
        let model = read(router).remove(0);
        assert_eq!((model.context, model.max_output, model.images), (Some(262_144), Some(65_536), Some(true)));
        let price = model.price.unwrap();
        assert!((price.input - 0.2).abs() < 1e-9 && (price.output - 0.8).abs() < 1e-9);
        assert!((price.cache_read - 0.02).abs() < 1e-9 && (price.cache_write - 0.2).abs() < 1e-9);
        let local = read(r#"{"data":[{"id":"m","meta":{"n_ctx":8192,"n_ctx_train":131072}}]}"#);
        assert_eq!((local[0].context, local[0].images), (Some(8192), None));
        let able =
            read(r#"{"data":[{"id":"m","capabilities":["completion","multimodal"]},{"id":"n","capabilities":[]}]}"#);
        assert_eq!((able[0].images, able[1].images), (Some(true), Some(false)));
        let mistral = read(
            r#"{"data":[{"id":"m","capabilities":{"completion_chat":true,"vision":true}},
            {"id":"n","capabilities":{"completion_chat":true,"vision":false}},{"id":"o","capabilities":{}}]}"#,
        );
        let sees: Vec<_> = mistral.iter().map(|model| model.images).collect();
        assert_eq!(sees, [Some(true), Some(false), None]);
        let github = read(
            r#"{"data":[{"id":"m","model_picker_enabled":true,"policy":{"state":"enabled"},"capabilities":{
            "limits":{"max_context_window_tokens":264000,"max_output_tokens":64000},"supports":{"vision":true}}},
            {"id":"short","capabilities":{"limits":{
            "max_context_window_tokens":264000,"max_prompt_tokens":128000,"max_output_tokens":64000}}},
            {"id":"full","capabilities":{"limits":{
            "max_context_window_tokens":400000,"max_prompt_tokens":400000,"max_output_tokens":128000}}},
            {"id":"hidden","model_picker_enabled":false},{"id":"refused","policy":{"state":"disabled"}}]}"#,
        );
        let said: Vec<_> = github.iter().map(|it| (it.id.as_str(), it.context, it.max_output, it.images)).collect();
        let expected = [
            ("m", Some(264_000), Some(64_000), Some(true)),
            ("short", Some(160_000), Some(64_000), None),
            ("full", Some(400_000), Some(128_000), None),
        ];
        assert_eq!(said, expected);
        let auto = read(r#"{"data":[{"id":"auto","pricing":{"prompt":"-1","completion":"-1"}}]}"#);
        assert_eq!(auto[0].price, None);
    }
}
