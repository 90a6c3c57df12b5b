//! A model over the network that fills in text.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use net::Clients;
use ports::complete::{Complete, Fill, FillEvent, FillInfo, FillStream};
use ports::model::{ModelError, ModelErrorKind};

use super::clean::Cleaner;
use super::exchange::{Deadline, Exchange};
use super::family::{self, Family, Quirk};
use super::read::Reader;
use super::text::{End, Texts};
use super::wire::FillWire;
use crate::data;
use crate::failure::error;
use crate::settings::Provider;

/// The bytes that a token of code has, at least.
const BYTES_OF_TOKEN: usize = 3;
/// The longest prompt of a server on this machine, in tokens. Ollama cuts longer ones off without a word, unless it is
/// told otherwise, and what is longer takes longer to read than a user waits.
const LOCAL_CONTEXT: usize = 4_096;
/// The longest prompt elsewhere. It is sent with every pause in typing, so that more costs more than it helps.
const REMOTE_CONTEXT: usize = 8_192;

/// A model over the network that fills in text.
pub(crate) struct RemoteFill {
    info: FillInfo,
    wire: FillWire,
    model: String,
    family: Option<&'static Family>,
    quirks: Vec<Quirk>,
    exchange: Exchange,
}

/// An answer that comes in.
struct Filling {
    texts: Texts,
    is_over: bool,
}

impl RemoteFill {
    /// The model of this name at this provider, over this wire.
    pub(crate) fn new(provider: &Provider, model: &str, wire: FillWire, http: Arc<Clients>) -> Self {
        let family = family::find(model);
        let mut quirks = family.map(|family| family.quirks.clone()).unwrap_or_default();
        match wire {
            FillWire::Mistral if !quirks.contains(&Quirk::LeadingSpace) => quirks.push(Quirk::LeadingSpace),
            FillWire::Inception => quirks.push(Quirk::TrailingNewline),
            _ => {}
        }
        Self {
            info: info(provider, model, family),
            wire,
            model: model.to_owned(),
            family,
            quirks,
            exchange: Exchange::new(provider, model, http),
        }
    }
}

#[async_trait]
impl Complete for RemoteFill {
    fn info(&self) -> &FillInfo {
        &self.info
    }

    async fn fill(&self, mut request: Fill) -> Result<FillStream, ModelError> {
        let deadline = Deadline::after(request.deadline);
        let tokens = &self.info.control_tokens;
        request.extra.retain(|excerpt| control_token(tokens, &excerpt.text).is_none());
        if let Some(token) = [&request.prefix, &request.suffix].iter().find_map(|text| control_token(tokens, text)) {
            let message = format!("the text has `{token}` in it, which controls {}; it was not sent", self.info.id);
            return Err(error(ModelErrorKind::Rejected, message));
        }
        let body = self
            .wire
            .body(&self.model, self.family, &request)
            .map_err(|problem| error(ModelErrorKind::Rejected, format!("the request cannot be written: {problem}")))?;
        let shape = self.wire.shape();
        let answering = self.exchange.ask(self.wire.place(), shape, body, deadline).await?;
        let cleaner = Cleaner::new(&request, tokens, &self.quirks);
        let filling = Filling { texts: Texts::new(answering, Reader::new(shape), cleaner), is_over: false };
        Ok(Box::pin(stream::unfold(filling, async |mut filling| Some((filling.next().await?, filling)))))
    }
}

impl Filling {
    async fn next(&mut self) -> Option<Result<FillEvent, ModelError>> {
        if self.is_over {
            return None;
        }
        match self.texts.next().await {
            Ok(Some(text)) => Some(Ok(FillEvent::Text(text))),
            Ok(None) => {
                self.is_over = true;
                let End { is_cut, usage, cached } = self.texts.facts();
                Some(Ok(FillEvent::Finished { is_cut, usage, cached }))
            }
            Err(failure) => {
                self.is_over = true;
                Some(Err(failure))
            }
        }
    }
}

/// The properties of a model at a provider.
pub(crate) fn info(provider: &Provider, model: &str, family: Option<&Family>) -> FillInfo {
    let is_local = super::is_local(provider);
    let hosted = family::hosted(&provider.name, model);
    let known = data::find(Some(&provider.name), model).filter(|model| model.provider == provider.name);
    let usual = if is_local { LOCAL_CONTEXT } else { REMOTE_CONTEXT };
    let context = hosted.map_or(usual, |hosted| hosted.context.min(usual));
    FillInfo {
        id: format!("{}/{model}", provider.name),
        is_local,
        price: hosted
            .and_then(|hosted| hosted.price)
            .or_else(|| known.and_then(|known| known.price()))
            .filter(|_| !is_local),
        context_bytes: context * BYTES_OF_TOKEN,
        control_tokens: match family {
            Some(family) => family.control_tokens().into(),
            None => family::all_control_tokens(),
        },
    }
}

/// The first of these tokens that a text has.
pub(crate) fn control_token<'a>(tokens: &'a [String], text: &str) -> Option<&'a str> {
    tokens.iter().map(String::as_str).find(|token| text.contains(*token))
}
