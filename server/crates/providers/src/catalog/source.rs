//! A provider in the catalog: its models, from wherever they are known.

use std::sync::Arc;
use std::time::Duration;

use ports::model::Model;
use protocol::model::ModelInfo;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::choice::Rules;
use super::entry::{self, Entry};
use super::listed::Listed;
use super::listing::Listing;
use super::{State, bare, listing, maker};
use crate::data;
use crate::ollama;
use crate::settings::Provider;

/// The time for which a list is waited for if other models of the provider are at hand.
const OTHERS: Duration = Duration::from_millis(300);
/// The time for which it is waited for if there are none.
const NOTHING: Duration = Duration::from_millis(1_500);

/// A provider with what belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    provider: &'a Provider,
    listing: &'a Listing,
    state: &'a Arc<State>,
    at: usize,
}

/// The models of a provider.
pub(super) struct Found {
    pub(super) entries: Vec<Entry>,
    /// Why these are not those of its own list, if they are not.
    pub(super) note: Option<String>,
    /// True if they are in the order of their ids, which says nothing of the best; but for those checked by hand.
    is_by_id: bool,
}

/// The models, or why they are not known.
pub(super) type Answer = Result<Found, String>;

impl Found {
    /// The models of a provider that need not be asked, or has answered.
    fn sure(entries: Vec<Entry>) -> Self {
        Self { entries, note: None, is_by_id: false }
    }

    /// The first that can be used, and may be used unasked.
    pub(super) fn first(&self) -> Option<&Entry> {
        let is_first = |entry: &&Entry| !self.is_by_id || data::is_by_hand(&entry.info.provider, bare(&entry.info.id));
        self.entries.iter().filter(|entry| entry.info.available).find(is_first)
    }
}

/// The answers of providers whose own list could not be had, on the way to one that has it.
#[derive(Default)]
pub(super) struct Doubt {
    /// The first model of the first of them that has any.
    pub(super) model: Option<Arc<dyn Model>>,
    /// The problem of the first of them.
    pub(super) problem: Option<String>,
}

impl Doubt {
    /// The first model of the first of these that can be used. Those whose own list could not be had are put by.
    pub(super) async fn first_of(&mut self, sources: &[Source<'_>]) -> Option<Arc<dyn Model>> {
        for source in sources.iter().filter(|source| source.is_usable()) {
            let problem = match source.without_makers().await {
                Err(problem) => problem,
                Ok(found) => {
                    let model = found.first().map(|entry| source.model(entry));
                    match found.note {
                        Some(problem) => {
                            self.model = self.model.take().or(model);
                            problem
                        }
                        None if model.is_some() => return model,
                        None => continue,
                    }
                }
            };
            self.problem.get_or_insert(problem);
        }
        None
    }
}

impl<'a> Source<'a> {
    pub(super) fn new(provider: &'a Provider, listing: &'a Listing, state: &'a Arc<State>, at: usize) -> Self {
        Self { provider, listing, state, at }
    }

    pub(super) fn provider(&self) -> &'a Provider {
        self.provider
    }

    /// True if a key is there where one is needed, and the configuration does not rule it out.
    pub(super) fn is_usable(&self) -> bool {
        self.missing().is_none()
    }

    /// Its models, where nobody need be asked.
    pub(super) fn known(&self) -> Option<Vec<Entry>> {
        entry::known(self.provider).map(|entries| self.ruled(entries))
    }

    /// Its models as far as they are known without asking it: those of its last list, or what is known of it.
    pub(super) async fn at_hand(self) -> Vec<Entry> {
        if let Some(entries) = self.known() {
            return entries;
        }
        let listed = if self.is_usable() { self.kept().await } else { None };
        match listed {
            Some((entries, _)) => entries,
            None if maker::is_maker(self.provider) => self.ruled(self.known_of_it()),
            None if self.is_usable() && self.provider.is_home() => self.ruled(self.known_of_it()),
            None => self.ruled(entry::defined(self.provider)),
        }
    }

    /// Its models for whoever waits. A vendor whose models the data files know is not asked.
    pub(super) async fn without_makers(self) -> Answer {
        if !maker::is_maker(self.provider) {
            return self.all().await;
        }
        Ok(Found::sure(self.at_hand().await))
    }

    /// Asks for its list behind whatever goes on, if its last one stands in for it and is old. `changed` hears when the
    /// new one has come.
    pub(super) async fn renew(self, changed: &watch::Sender<()>) {
        if self.known().is_some() || !self.is_usable() {
            return;
        }
        let kept = self.listing.kept(self.provider, self.state.keeper.as_ref()).await;
        let is_old = kept.is_some_and(|kept| listing::is_old(&kept)) && self.listing.is_due(self.provider);
        if is_old && !self.needs_program().await {
            let asking = self.spawn_ask();
            hear_of(asking, changed);
        }
    }

    /// Its models, or why they are not known.
    pub(super) async fn all(self) -> Answer {
        match self.unasked() {
            Some(answer) => answer,
            None => self.understood(self.ask().await).await,
        }
    }

    /// The same, but what is at hand if its list takes its time. `changed` hears when that has come. A vendor whose
    /// models are known without its list is asked only if `asks_makers`. No program is started for credentials: it may
    /// want its user's finger, who only opened a list.
    pub(super) async fn soon(self, changed: &watch::Sender<()>, asks_makers: bool) -> Answer {
        if let Some(answer) = self.unasked() {
            return answer;
        }
        let is_asked = asks_makers || !maker::is_maker(self.provider);
        let at_hand = self.at_hand().await;
        if !is_asked {
            return Ok(Found::sure(at_hand));
        }
        if self.needs_program().await {
            let name = &self.provider.name;
            let problem = format!(
                "{name} was not asked for its list, which a program has to fetch AWS credentials for. A request to \
                 {name} runs it, and so does `azimuth models`"
            );
            return self.understood(Err(listing::Unlisted::KeyUnknown(problem))).await;
        }
        let mut asking = self.spawn_ask();
        let patience = if at_hand.is_empty() { NOTHING } else { OTHERS };
        match timeout(patience, &mut asking).await {
            Ok(Ok(answer)) => return self.understood(answer).await,
            // The process ends.
            Ok(Err(_)) => {}
            Err(_) => hear_of(asking, changed),
        }
        let name = &self.provider.name;
        if at_hand.is_empty() {
            return Err(format!("{name} has not answered yet; its models are listed once it does"));
        }
        let note = format!("{name} has not answered yet; the models of its last list, or those known of it, are shown");
        Ok(Found { entries: at_hand, note: Some(note), is_by_id: true })
    }

    pub(super) fn model(&self, entry: &Entry) -> Arc<dyn Model> {
        entry.model(self.provider, self.state)
    }

    /// The entry that stands for all of its models, which are not known.
    pub(super) fn placeholder(&self, problem: String) -> ModelInfo {
        ModelInfo {
            id: self.provider.name.clone(),
            name: self.provider.title(),
            aliases: Vec::new(),
            provider: self.provider.name.clone(),
            context_tokens: 0,
            max_output_tokens: 0,
            price: None,
            available: false,
            unavailable_because: Some(problem),
            ruled_out: self.rules().provider(&self.provider.name).is_some(),
            images: false,
            thinking: false,
            levels: Vec::new(),
            level: None,
            warning: None,
            scripted: false,
        }
    }

    /// The answer for which it need not, or cannot, be asked.
    fn unasked(&self) -> Option<Answer> {
        if let Some(entries) = self.known() {
            return Some(Ok(Found::sure(entries)));
        }
        let problem = self.missing()?;
        let entries = match maker::is_maker(self.provider) {
            true => maker::of_data(self.provider),
            false => entry::defined(self.provider),
        };
        let entries = self.ruled(entries);
        Some(if entries.is_empty() { Err(problem) } else { Ok(Found::sure(entries)) })
    }

    /// It, if it is to be asked whether it has a model. A name that may be anybody's starts no program.
    pub(super) async fn to_ask(self, is_named: bool) -> Option<Self> {
        (self.known().is_none() && (is_named || !self.needs_program().await)).then_some(self)
    }

    /// True if a program has to be run for its credentials before it can be asked. An answer that counts needs none.
    pub(super) async fn needs_program(&self) -> bool {
        let Some(signer) = self.provider.signer() else { return false };
        self.listing.is_due(self.provider) && signer.needs_program().await
    }

    /// Asks it whatever becomes of whoever wants to know.
    fn spawn_ask(&self) -> JoinHandle<listing::Answer> {
        let (state, at) = (Arc::clone(self.state), self.at);
        tokio::spawn(async move {
            match state.sources().nth(at) {
                Some(source) => source.ask().await,
                None => Err("it is not there any more".to_owned().into()),
            }
        })
    }

    async fn ask(&self) -> listing::Answer {
        self.listing.get(self.provider, &self.state.http, self.state.keeper.as_ref()).await
    }

    /// The models of its answer, and if it gave none, those that stand in.
    async fn understood(self, answer: listing::Answer) -> Answer {
        let unlisted = match answer {
            Ok(listed) => return Ok(Found::sure(self.of_list(&listed, true))),
            Err(unlisted) => unlisted,
        };
        // A key or a proxy that lets through only conversations takes no known model away.
        let is_refused = match maker::is_maker(self.provider) {
            true => unlisted.is_wrong_key(),
            false => unlisted.is_refusal(),
        };
        let problem = String::from(unlisted);
        let kept = self.kept().await;
        let day = kept.as_ref().map(|(_, day)| day.clone());
        // A server in a vendor's stead that does not list is most likely a gateway to the vendor's models.
        let is_by_id = day.is_none() && self.provider.defined.is_empty() && !maker::is_maker(self.provider);
        let mut entries = kept.map_or_else(|| self.ruled(self.known_of_it()), |(entries, _)| entries);
        if entries.is_empty() {
            return Err(problem);
        }
        if is_refused {
            for info in entries.iter_mut().map(|entry| &mut entry.info).filter(|info| info.available) {
                (info.available, info.unavailable_because) = (false, Some(problem.clone()));
            }
        }
        let note = match day {
            _ if is_refused => problem,
            Some(day) => format!("{problem}. Its list of {day} is shown"),
            None => format!("{problem}. The models that are known of it are shown"),
        };
        Ok(Found { entries, note: Some(note), is_by_id })
    }

    /// The models of its list. Only one that came just now says that a model of the data files cannot be used: an
    /// account may have got it since, and another key of the provider may have it.
    fn of_list(&self, listed: &[Listed], is_fresh: bool) -> Vec<Entry> {
        if !maker::is_maker(self.provider) {
            return self.ruled(entry::listed(self.provider, listed));
        }
        let mut entries = maker::of_list(self.provider, listed);
        if is_fresh && !listed.is_empty() {
            maker::mark_missing(self.provider, listed, &mut entries);
        }
        self.ruled(entries)
    }

    /// The models that the user describes, else those of the data files.
    fn known_of_it(&self) -> Vec<Entry> {
        if maker::is_maker(self.provider) {
            return maker::of_data(self.provider);
        }
        let defined = entry::defined(self.provider);
        if defined.is_empty() { entry::of_vendor(self.provider) } else { defined }
    }

    /// The models of its last list, and the day of that.
    async fn kept(&self) -> Option<(Vec<Entry>, String)> {
        let kept = self.listing.kept(self.provider, self.state.keeper.as_ref()).await?;
        Some((self.of_list(&kept.models, false), kept.day()))
    }

    fn missing(&self) -> Option<String> {
        self.rules().provider(&self.provider.name).or_else(|| self.provider.missing())
    }

    /// The entries with the windows that they are known to have, those marked that the configuration rules out.
    fn ruled(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let rules = self.rules();
        let of_provider = rules.provider(&self.provider.name);
        if ollama::is_it(self.provider) {
            let known = self.listing.of_ollama();
            entries.iter_mut().for_each(|entry| entry.take_window(&known, self.provider));
        }
        for info in entries.iter_mut().map(|entry| &mut entry.info) {
            if let Some(problem) = of_provider.clone().or_else(|| rules.model(&info.id)) {
                (info.available, info.ruled_out, info.unavailable_because) = (false, true, Some(problem));
            }
        }
        entries
    }

    fn rules(&self) -> Rules<'a> {
        self.state.settings.rules()
    }
}

/// Tells `changed` when an answer has come.
fn hear_of(asking: JoinHandle<listing::Answer>, changed: &watch::Sender<()>) {
    let changed = changed.clone();
    tokio::spawn(async move {
        let _ = asking.await;
        changed.send_replace(());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::loopback::server::{Answer as Reply, Server};

    #[test]
    fn of_models_in_the_order_of_their_ids_only_one_that_was_checked_by_hand_is_the_first() {
        let keys = ["GROQ_API_KEY", "DEEPSEEK_API_KEY"];
        let settings = Settings::from_env(|name| keys.contains(&name).then(|| "k".to_owned()));
        let first = |name: &str| {
            let provider = settings.providers.iter().find(|provider| provider.name == name).unwrap();
            let found = Found { entries: entry::of_vendor(provider), note: None, is_by_id: true };
            assert!(!found.entries.is_empty(), "{name}");
            found.first().map(|entry| entry.info.id.clone())
        };
        assert_eq!(first("groq"), None);
        assert_eq!(first("deepseek").as_deref(), Some("deepseek/deepseek-v4-pro"));
    }

    fn bedrock(state: &Arc<State>) -> Source<'_> {
        state.sources().find(|source| source.provider().name == "bedrock").unwrap()
    }

    /// Anthropic with a key, and what its list says.
    async fn of_anthropic(listed: &[Listed]) -> Vec<ModelInfo> {
        let settings = Settings::from_env(|name| (name == "ANTHROPIC_API_KEY").then(|| "k".to_owned()));
        let state = State::new(settings, None, Arc::default(), &crate::pool::Pools::default());
        let state = Arc::new(state);
        let source = state.sources().find(|source| source.provider().name == "anthropic").unwrap();
        let found = source.understood(Ok(listed.to_vec())).await.ok().unwrap();
        found.entries.into_iter().map(|entry| entry.info).collect()
    }

    #[tokio::test]
    async fn what_a_vendors_own_list_lacks_cannot_be_used_and_what_is_newer_than_our_data_can() {
        let id = |id: &str| Listed { id: id.to_owned(), ..Listed::default() };
        let newer = Listed {
            context: Some(2_000_000),
            max_output: Some(300_000),
            name: Some("Claude Quartz 9".to_owned()),
            way: Some(data::Thinking::Always),
            ..id("claude-quartz-9")
        };
        let models = of_anthropic(&[newer, id("claude-haiku-4-5-20251001"), id("claude-opus-4-8")]).await;
        let of = |id: &str| models.iter().find(|model| model.id == format!("anthropic/{id}")).unwrap();
        for there in ["claude-haiku-4-5", "claude-haiku-4-5-thinking", "claude-opus-4-8", "claude-quartz-9"] {
            assert!(of(there).available, "{there}");
        }
        let missing = of("claude-opus-5-5").unavailable_because.as_deref().unwrap();
        assert!(missing.contains("Anthropic does not list it for this key"), "{missing}");
        let newer = of("claude-quartz-9");
        let facts = (newer.name.as_str(), newer.context_tokens, newer.max_output_tokens, newer.price);
        assert_eq!(facts, ("Claude Quartz 9", 2_000_000, 300_000, None));
        assert!(!models.iter().any(|model| model.id.contains("2025")), "a dated id is the model itself");
    }

    #[tokio::test]
    async fn an_empty_list_or_one_that_does_not_come_takes_no_model_away() {
        assert!(of_anthropic(&[]).await.iter().all(|model| model.available));
        let settings = Settings::from_env(|name| (name == "OPENAI_API_KEY").then(|| "k".to_owned()));
        let state = Arc::new(State::new(settings, None, Arc::default(), &crate::pool::Pools::default()));
        let source = state.sources().find(|source| source.provider().name == "openai").unwrap();
        let found = source.understood(Err(listing::Unlisted::Unreachable("down".to_owned()))).await.ok().unwrap();
        assert!(found.first().is_some() && found.note.unwrap().contains("The models that are known of it are shown"));
        let found = source.understood(Err(listing::Unlisted::Refused("wrong key".to_owned()))).await.ok().unwrap();
        assert!(found.entries.iter().all(|entry| !entry.info.available), "no model answers with a wrong key");
        let found = source.understood(Err(listing::Unlisted::Forbidden("not here".to_owned()))).await.ok().unwrap();
        assert!(found.first().is_some(), "whoever may not list the models may talk to them");
        let listed =
            ["gpt-99", "gpt-99-2027-01-01", "gpt-99-realtime", "gpt-9-research", "gpt-4-0613", "sora-9", "gpt-5.1"]
                .map(|id| Listed { id: id.to_owned(), ..Listed::default() });
        let found = source.understood(Ok(listed.to_vec())).await.ok().unwrap();
        let usable: Vec<_> =
            found.entries.iter().filter(|it| it.info.available).map(|it| it.info.id.as_str()).collect();
        assert_eq!(usable, ["openai/gpt-5.1", "openai/gpt-99", "openai/gpt-9-research"]);
    }

    #[tokio::test]
    async fn a_refusal_of_a_gateway_in_bedrocks_stead_takes_no_model_away_and_one_of_amazon_does() {
        let amazon = "https://bedrock-runtime.eu-west-1.amazonaws.com";
        let gateway = Server::start(vec![Reply::status(401, "no"), Reply::status(401, "no")]).await;
        let of = |base: String| {
            let mut settings = Settings::default();
            settings.set_provider("bedrock", Some(base), Some("k".into()), None, vec![]).unwrap();
            Arc::new(State::new(settings, None, Arc::default(), &crate::pool::Pools::default()))
        };
        let state = of(gateway.url());
        let found = bedrock(&state).all().await.ok().unwrap();
        let note = found.note.as_deref().unwrap();
        assert!(found.first().is_some() && note.contains("Conversations may work all the same"), "{note}");
        let state = of(amazon.to_owned());
        let found =
            bedrock(&state).understood(Err(listing::Unlisted::Refused("wrong key".to_owned()))).await.ok().unwrap();
        assert!(found.first().is_none(), "no model answers with a wrong key");
    }

    #[tokio::test]
    async fn a_vendor_whose_models_are_known_is_not_asked_unless_somebody_wants_its_list() {
        let mut settings = Settings::from_env(|name| (name == "OPENAI_API_KEY").then(|| "k".to_owned()));
        // A request would fail for want of certificates.
        settings.ca_file = Some("/there/is/none".into());
        let state = Arc::new(State::new(settings, None, Arc::default(), &crate::pool::Pools::default()));
        let source = || state.sources().find(|source| source.provider().name == "openai").unwrap();
        let changed = watch::Sender::new(());
        let unasked = source().soon(&changed, false).await.ok().unwrap();
        assert!(unasked.first().is_some() && unasked.note.is_none());
        assert!(source().soon(&changed, true).await.ok().unwrap().note.is_some(), "it was asked");
    }
}
