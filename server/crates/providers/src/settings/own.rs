//! The user's own details of a provider, beside its key and its address.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use net::header::{HeaderName, HeaderValue};
use ports::model::ModelError;
use protocol::model::{Price, ThinkingLevel};
use serde::{Deserialize, Deserializer, de};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Provider;
use crate::account::{Account, Alone};
use crate::compat::Compat;
use crate::data::{THINKING, Thinking};
use crate::failure::{Whose, host};
use crate::key_command::KeyCommand;
use crate::key_file::KeyFile;
use crate::key_from::KeyFrom;
use crate::secret::Secret;
use crate::signers::Signer;
use crate::wire::Wire;

/// The headers that every request has already, or that are the transport's.
const OURS: &[&str] = &["accept", "connection", "content-length", "content-type", "host", "transfer-encoding"];

/// The headers that carry keys.
const KEY_HEADERS: &[&str] = &["api-key", "authorization", "x-api-key", "x-goog-api-key"];
/// The source of an account's key, for words.
const ACCOUNT: &str = "the account (`azimuth auth list`)";

/// The value of a header that is shorter, in bytes, is not taken out of what a server says.
const SHORTEST: usize = 8;

/// A model that the user describes. What is not said is found as for any other model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defined {
    /// Its id at the provider, by which it is chosen.
    pub(crate) id: String,
    /// The id to send, if it is another.
    pub(crate) wire_id: Option<String>,
    /// The protocol for this model, if it is another one than for the provider's others.
    #[serde(default, deserialize_with = "wire")]
    pub(crate) wire: Option<Wire>,
    /// Its name for people.
    pub(crate) name: Option<String>,
    /// Short names.
    #[serde(default)]
    pub(crate) aliases: Vec<String>,
    /// The longest conversation, in tokens.
    pub(crate) context: Option<u64>,
    /// The longest answer, in tokens.
    pub(crate) max_output: Option<u64>,
    /// The price.
    price: Option<OwnPrice>,
    /// True if it takes images.
    pub(crate) images: Option<bool>,
    /// The way in which it thinks.
    pub(crate) thinking: Option<Thinking>,
    /// The levels at which it can be told to think.
    pub(crate) levels: Option<Vec<ThinkingLevel>>,
    /// The known model that it is under another name.
    pub(crate) equivalent_to: Option<String>,
    /// The headers that the user adds to each request for it.
    #[serde(skip)]
    headers: Vec<(HeaderName, Secret)>,
    /// The fields that the user adds to the body of each request for its answer.
    #[serde(default)]
    extra_body: Map<String, Value>,
    /// The user's own flags of what its server wants for it.
    #[serde(default)]
    compat: Compat,
}

/// A price in US dollars per million tokens. What the cache costs is what input costs, unless it is said;
/// what it costs to store for an hour is what [`cost`](ports::model::cost) says.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnPrice {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_hour: Option<f64>,
}

impl Defined {
    /// Reads a model whose fields have been checked.
    ///
    /// # Errors
    /// A field is missing; gives its name.
    pub fn read(fields: Map<String, Value>) -> Result<Self, String> {
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
    }

    /// Adds a header to each request for it.
    ///
    /// # Errors
    /// As [`Provider::set_header`].
    pub fn set_header(&mut self, name: &str, value: &str) -> Result<(), String> {
        put_header(&mut self.headers, name, value)
    }

    /// Takes all headers back that were added.
    pub(super) fn clear_headers(&mut self) {
        self.headers.clear();
    }

    /// True if it is asked otherwise than the provider's other models.
    fn is_asked_otherwise(&self) -> bool {
        !self.headers.is_empty() || !self.extra_body.is_empty() || self.compat != Compat::default()
    }

    /// Its price, if the user gave one.
    pub(crate) fn price(&self) -> Option<Price> {
        let price = self.price?;
        Some(Price {
            input: price.input,
            output: price.output,
            cache_read: price.cache_read.unwrap_or(price.input),
            cache_write: price.cache_write.unwrap_or(price.input),
            cache_write_hour: price.cache_write_hour,
            long: None,
        })
    }
}

impl Provider {
    /// Adds a header to each of its requests.
    ///
    /// # Errors
    /// There can be no such header, and why; without the value, which may be secret.
    pub fn set_header(&mut self, name: &str, value: &str) -> Result<(), String> {
        put_header(&mut self.headers, name, value)
    }

    /// Takes all headers back that were added.
    pub fn clear_headers(&mut self) {
        self.headers.clear();
    }

    /// Adds fields to the body of each request for an answer; the fields that Azimuth sends itself stay.
    pub fn set_extra_body(&mut self, fields: Map<String, Value>) {
        self.extra_body = fields;
    }

    /// Names a version of Azure's API by its date; with one, requests go to a deployment's own path, over Chat
    /// Completions unless another wire is chosen. What is no date, such as `v1`, is no such version.
    pub fn set_api_version(&mut self, version: Option<String>) {
        self.api_version = version.filter(|version| version.starts_with(|c: char| c.is_ascii_digit()));
        if self.api_version.is_some() && !self.is_wire_chosen {
            self.wire = Wire::OpenAiChat;
        }
    }

    /// Lets a command print the key.
    pub fn set_key_command(&mut self, command: KeyCommand) {
        self.set_key_from(KeyFrom::Command(command), "the command", "key_command");
    }

    /// Takes the key from a file.
    pub fn set_key_file(&mut self, file: KeyFile) {
        self.set_key_from(KeyFrom::File(file), "the file", "key_file");
    }

    fn set_key_from(&mut self, from: KeyFrom, what: &str, setting: &str) {
        self.key = None;
        self.set_keys(Vec::new());
        self.key_source = format!("{what} in providers.{}.{setting}", self.name);
        self.key_from = Some(from);
    }

    /// Sets flags of what its server wants.
    pub fn set_compat(&mut self, flags: &Compat) {
        self.own = flags.over(&self.own);
    }

    /// The user's description of the model with this id.
    pub(super) fn described(&self, id: &str) -> Option<&Defined> {
        let of_id = self.defined.iter().find(|own| own.id == id);
        // The name under which one model is sent may be the id of another.
        of_id.or_else(|| self.defined.iter().find(|own| own.wire_id.as_deref() == Some(id)))
    }

    /// The provider as it is asked for the model with this id: with what the user adds for that.
    pub(crate) fn for_model(&self, id: &str) -> Cow<'_, Self> {
        let own = self.described(id).filter(|own| own.is_asked_otherwise());
        let Some(own) = own else { return Cow::Borrowed(self) };
        let mut provider = self.clone();
        for (name, value) in &own.headers {
            provider.headers.retain(|(known, _)| known != name);
            provider.headers.push((name.clone(), value.clone()));
        }
        provider.extra_body.extend(own.extra_body.clone());
        provider.own = own.compat.over(&provider.own);
        Cow::Owned(provider)
    }

    /// Describes its models.
    pub fn define(&mut self, models: Vec<Defined>) {
        self.defined = models;
    }

    /// Takes this key alone, whatever else the user has for it.
    pub(super) fn take_only(&mut self, key: &Secret) {
        self.forget_keys();
        self.key = Some(key.clone());
        "the key that you gave".clone_into(&mut self.key_source);
    }

    /// Takes one of these accounts alone, likewise.
    pub(super) fn take_only_account(&mut self, accounts: Arc<dyn Account>, label: &str) {
        self.forget_keys();
        self.account = Some(Arc::new(Alone { accounts, label: label.to_owned() }));
    }

    fn forget_keys(&mut self) {
        self.set_keys(Vec::new());
        (self.key, self.key_from, self.account) = (None, None, None);
        (self.signer, self.aws_profile) = (None, None);
    }

    /// Takes its keys from the accounts that the user keeps for it, unless the settings or the environment say one, or
    /// have credentials that its requests are signed with.
    pub fn set_account(&mut self, account: Arc<dyn Account>) {
        // Whoever keeps an account for it speaks of it.
        self.is_unasked &= !account.is_there();
        let is_signed = self.aws_profile.is_some() || self.signer.as_ref().is_some_and(Signer::is_at_hand);
        // A list names the accounts that count.
        let is_wanted = if self.lists_keys() { self.lists_accounts() } else { !self.has_own_key() && !is_signed };
        if !is_wanted {
            return;
        }
        if account.is_there() {
            self.signer = None;
        }
        self.account = Some(account);
    }

    /// True if a key is there, a command that prints one, a file that holds one, an account, or credentials that
    /// requests are signed with.
    pub fn has_key(&self) -> bool {
        self.has_own_key() || self.has_account() || self.aws_profile.is_some() || self.signer.is_some()
    }

    /// Its secrets as far as they are known: its key, the one that its command has printed or its file holds, and those
    /// in its headers.
    pub fn known_secrets(&self) -> Vec<Secret> {
        let fetched = self.key_from.as_ref().and_then(KeyFrom::known);
        let of_models = self.defined.iter().flat_map(|own| &own.headers);
        let in_headers = self.headers.iter().chain(of_models).flat_map(|(_, value)| secrets_in(value));
        self.key.iter().cloned().chain(self.listed_keys()).chain(fetched).chain(in_headers).collect()
    }

    /// True if its key is that of an account.
    pub fn has_account(&self) -> bool {
        let Some(account) = &self.account else { return false };
        if self.lists_keys() {
            return self.pool().is_some_and(|pool| pool.members.iter().any(|member| member.key.is_none()));
        }
        !self.has_own_key() && account.is_there()
    }

    /// Its name and that of a model, for the words of failures.
    pub(crate) fn whose(&self, model: &str) -> Whose {
        Whose {
            provider: self.name.clone(),
            host: host(&self.base_url),
            model: model.to_owned(),
            key_source: if self.has_account() { ACCOUNT.to_owned() } else { self.key_source.clone() },
            key: self.key.clone(),
            secrets: self.headers.iter().flat_map(|(_, value)| secrets_in(value)).collect(),
            is_local: self.is_local,
            renewed_by: self.signer().map(|signer| (signer.cloud(), self.sign_in())),
            member: None,
        }
    }

    /// These words, with the key that is known by now: the one that it has, or the one that its command prints; of
    /// several that of the words' member, or of the one that is to be used now.
    pub(crate) async fn with_key(&self, whose: &Whose) -> Result<Whose, ModelError> {
        let whose = match &whose.member {
            Some(_) => whose.clone(),
            None => whose.of_member(self.member("").await),
        };
        Ok(Whose { key: self.secret_of(whose.member.as_ref()).await?, ..whose })
    }

    /// True if it needs a key, or the user lists some, and there is none: neither one of its own, nor a header of the
    /// user's that carries one.
    pub(crate) fn lacks_key(&self) -> bool {
        (self.needs_key || self.lists_keys()) && !self.has_key() && !self.carries_key()
    }

    /// True if its requests carry a key: one of its own, or a header of the user's.
    pub(super) fn carries_key(&self) -> bool {
        let has_header = || self.headers.iter().any(|(name, _)| KEY_HEADERS.contains(&name.as_str()));
        self.has_own_key() || self.has_account() || has_header()
    }

    /// The headers of a request that carry the key and that the user added. The user's count more.
    ///
    /// # Errors
    /// The key holds what no header can; says where it comes from.
    pub(crate) fn headers_with(
        &self,
        wire: Wire,
        key: Option<&Secret>,
    ) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let unfit = || format!("the key holds what no key can hold; check {}", self.key_source);
        let mut headers = Vec::with_capacity(self.headers.len() + 1);
        if let Some(key) = key {
            let (name, value) = self.key_header(wire, key).ok_or_else(unfit)?;
            headers.push((HeaderName::from_static(name), value));
        }
        for (name, secret) in &self.headers {
            let Ok(mut value) = HeaderValue::try_from(secret.expose()) else { continue };
            value.set_sensitive(true);
            headers.retain(|(known, _)| known != name);
            headers.push((name.clone(), value));
        }
        Ok(headers)
    }

    /// The window that the user gives a model, by its id with the provider. The twin that thinks has the same one.
    pub(crate) fn own_context(&self, id: &str) -> Option<u64> {
        let id = id.strip_prefix(self.name.as_str())?.strip_prefix('/')?;
        let own_of = |id: &str| self.defined.iter().find(|own| own.id == id);
        own_of(id).or_else(|| own_of(id.strip_suffix(THINKING)?))?.context
    }

    /// The header of the user's that is sent in place of its key, if there is one.
    pub(super) fn header_for_key(&self) -> Option<&str> {
        let (of_key, _) = self.key_header(self.wire, &Secret::new("key"))?;
        self.headers.iter().map(|(name, _)| name.as_str()).find(|name| *name == of_key)
    }

    /// The body of a request with the user's fields in it, before those that it has: the conversation stays last.
    /// Fields of an object that the body has are added to that object.
    pub(crate) fn with_extra(&self, body: Vec<u8>) -> Vec<u8> {
        let merged = std::str::from_utf8(&body).ok().and_then(|body| with_fields(body, &self.extra_body));
        merged.map_or(body, String::into_bytes)
    }
}

/// The text of an object with more fields in it; its own stay as they are. Nothing if there is nothing to add.
fn with_fields(object: &str, more: &Map<String, Value>) -> Option<String> {
    if more.is_empty() {
        return None;
    }
    // Only the names and the places of the values are of interest, so the conversation is not read into values.
    let own: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
    let new = more.iter().filter(|(name, _)| !own.contains_key(name.as_str()));
    let new: Map<String, Value> = new.map(|(name, value)| (name.clone(), value.clone())).collect();
    let within = more.iter().filter_map(|(name, value)| {
        let text = own.get(name)?.get();
        Some((text.as_ptr() as usize - object.as_ptr() as usize, text.len(), with_fields(text, value.as_object()?)?))
    });
    let mut within: Vec<_> = within.collect();
    if new.is_empty() && within.is_empty() {
        return None;
    }
    within.sort_unstable_by_key(|(start, ..)| *start);
    let mut merged = Value::Object(new).to_string();
    merged.pop();
    let mut done = object.find('{')? + 1;
    if merged.len() > 1 && !own.is_empty() {
        merged.push(',');
    }
    for (start, length, text) in within {
        merged.push_str(&object[done..start]);
        merged.push_str(&text);
        done = start + length;
    }
    merged.push_str(&object[done..]);
    Some(merged)
}

/// Adds a header, in place of one of the same name.
fn put_header(headers: &mut Vec<(HeaderName, Secret)>, name: &str, value: &str) -> Result<(), String> {
    let name = HeaderName::try_from(name)
        .map_err(|_| "this is no name of a header: it is letters, digits and hyphens".to_owned())?;
    if OURS.contains(&name.as_str()) {
        return Err("Azimuth sets this header itself; remove it".to_owned());
    }
    let secret = Secret::new(value);
    if HeaderValue::try_from(secret.expose()).is_err() {
        return Err("the value holds what no header can, such as a line break".to_owned());
    }
    headers.retain(|(known, _)| *known != name);
    headers.push((name, secret));
    Ok(())
}

/// The texts in the value of a header that may be keys: the value itself, and what follows the name of a scheme, as in
/// `Bearer KEY`. A short one is a word, and no key.
fn secrets_in(value: &Secret) -> impl Iterator<Item = Secret> {
    let behind = value.expose().split_once(char::is_whitespace).map(|(_, rest)| Secret::new(rest));
    [Some(value.clone()), behind].into_iter().flatten().filter(|secret| secret.expose().len() >= SHORTEST)
}

/// Reads the name of a wire.
fn wire<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Wire>, D::Error> {
    let Some(name) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    Wire::parse(&name).map(Some).ok_or_else(|| de::Error::custom(format!("`{name}` is no wire")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn object() -> impl Strategy<Value = Map<String, Value>> {
        let leaf = prop_oneof![Just(json!(null)), Just(json!([1, {}])), "[a\"\\\\{é]{0,3}".prop_map(Value::from)];
        let value = leaf.prop_recursive(3, 24, 4, |value| {
            prop::collection::hash_map("[ab\"é]", value, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect()))
        });
        prop::collection::hash_map("[abc\"]", value, 0..5).prop_map(|fields| fields.into_iter().collect())
    }

    /// The same by the values themselves.
    fn added(own: &mut Map<String, Value>, more: &Map<String, Value>) {
        for (name, value) in more {
            match (own.get_mut(name), value) {
                (None, value) => drop(own.insert(name.clone(), value.clone())),
                (Some(Value::Object(own)), Value::Object(more)) => added(own, more),
                (Some(_), _) => {}
            }
        }
    }

    proptest! {
        #[test]
        fn fields_are_added_at_every_depth_and_none_is_changed(own in object(), more in object(), is_wide: bool) {
            let text = if is_wide { serde_json::to_string_pretty(&own) } else { serde_json::to_string(&own) }.unwrap();
            let merged = with_fields(&text, &more).unwrap_or(text);
            let mut wanted = own;
            added(&mut wanted, &more);
            prop_assert_eq!(serde_json::from_str::<Value>(&merged).unwrap(), Value::Object(wanted));
        }
    }
}
