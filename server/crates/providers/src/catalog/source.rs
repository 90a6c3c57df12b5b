//! A provider in the catalog: its models, from wherever they are known.

use std::sync::Arc;
use std::time::Duration;

use ports::model::Model;
use protocol::model::ModelInfo;
use tokio::sync::watch;
use tokio::time::timeout;

use super::choice::Rules;
use super::entry::{self, Entry};
use super::listing::Listing;
use super::{State, listing};
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
}

/// The models, or why they are not known.
pub(super) type Answer = Result<Found, String>;

impl Found {
    /// The first that can be used.
    pub(super) fn first(&self) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.info.available)
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
            None if self.is_usable() && self.provider.is_home() => self.ruled(self.known_of_it()),
            None => self.ruled(entry::defined(self.provider)),
        }
    }

    /// Its models, or why they are not known.
    pub(super) async fn all(self) -> Answer {
        match self.unasked() {
            Some(answer) => answer,
            None => self.understood(self.ask().await).await,
        }
    }

    /// The same, but what is at hand if its list takes its time. `changed` hears when that has come.
    pub(super) async fn soon(self, changed: &watch::Sender<()>) -> Answer {
        if let Some(answer) = self.unasked() {
            return answer;
        }
        let at_hand = self.at_hand().await;
        let (state, at) = (Arc::clone(self.state), self.at);
        let mut asking = tokio::spawn(async move {
            match state.sources().nth(at) {
                Some(source) => source.ask().await,
                None => Err("it is not there any more".to_owned()),
            }
        });
        let patience = if at_hand.is_empty() { NOTHING } else { OTHERS };
        match timeout(patience, &mut asking).await {
            Ok(Ok(answer)) => return self.understood(answer).await,
            // The process ends.
            Ok(Err(_)) => {}
            Err(_) => {
                let changed = changed.clone();
                tokio::spawn(async move {
                    let _ = asking.await;
                    changed.send_replace(());
                });
            }
        }
        let name = &self.provider.name;
        if at_hand.is_empty() {
            return Err(format!("{name} has not answered yet; its models are listed once it does"));
        }
        let note = format!("{name} has not answered yet; the models of its last list, or those known of it, are shown");
        Ok(Found { entries: at_hand, note: Some(note) })
    }

    pub(super) fn model(&self, entry: &Entry) -> Arc<dyn Model> {
        entry.model(self.provider, self.state)
    }

    /// The entry that stands for all of its models, which are not known.
    pub(super) fn placeholder(&self, problem: String) -> ModelInfo {
        ModelInfo {
            id: self.provider.name.clone(),
            name: self.provider.title(),
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
            scripted: false,
        }
    }

    /// The answer for which it need not, or cannot, be asked.
    fn unasked(&self) -> Option<Answer> {
        if let Some(entries) = self.known() {
            return Some(Ok(Found { entries, note: None }));
        }
        let problem = self.missing()?;
        let entries = self.ruled(entry::defined(self.provider));
        Some(if entries.is_empty() { Err(problem) } else { Ok(Found { entries, note: None }) })
    }

    async fn ask(&self) -> listing::Answer {
        self.listing.get(self.provider, &self.state.http, self.state.keeper.as_ref()).await
    }

    /// The models of its answer, and if it gave none, those that stand in.
    async fn understood(self, answer: listing::Answer) -> Answer {
        let problem = match answer {
            Ok(listed) => {
                return Ok(Found { entries: self.ruled(entry::listed(self.provider, &listed)), note: None });
            }
            Err(problem) => problem,
        };
        if let Some((entries, day)) = self.kept().await {
            let note = Some(format!("{problem}. Its list of {day} is shown"));
            return Ok(Found { entries, note });
        }
        // A server in a vendor's stead that does not list is most likely a gateway to the vendor's models.
        let entries = self.ruled(self.known_of_it());
        if entries.is_empty() {
            return Err(problem);
        }
        Ok(Found { entries, note: Some(format!("{problem}. The models that are known of it are shown")) })
    }

    /// The models that the user describes, else those of the data files.
    fn known_of_it(&self) -> Vec<Entry> {
        let defined = entry::defined(self.provider);
        if defined.is_empty() { entry::of_vendor(self.provider) } else { defined }
    }

    /// The models of its last list, and the day of that.
    async fn kept(&self) -> Option<(Vec<Entry>, String)> {
        let kept = self.listing.kept(self.provider, self.state.keeper.as_ref()).await?;
        Some((self.ruled(entry::listed(self.provider, &kept.models)), kept.day()))
    }

    fn missing(&self) -> Option<String> {
        self.rules().provider(&self.provider.name).or_else(|| self.provider.missing())
    }

    /// The entries, those marked that the configuration rules out.
    fn ruled(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let rules = self.rules();
        let of_provider = rules.provider(&self.provider.name);
        for info in entries.iter_mut().map(|entry| &mut entry.info) {
            if let Some(problem) = of_provider.clone().or_else(|| rules.model(&info.id)) {
                (info.available, info.ruled_out, info.unavailable_because) = (false, true, Some(problem));
            }
        }
        entries
    }

    fn rules(&self) -> Rules<'a> {
        let settings = &self.state.settings;
        Rules { enabled: &settings.enabled_models, disabled: &settings.disabled_providers }
    }
}
