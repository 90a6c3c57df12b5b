//! The models of Ollama, each with the window that it runs with.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Asked, Listed, Unlisted, ask_page, in_time, parse};
use crate::ollama::{DETAILS, Details, Known, LIST, LOADED, Loaded, ask, no_tools, too_small, warning};
use crate::remote::beside;

/// How long is waited for what its list does not say. While it loads a model it says nothing of the loaded ones.
const MORE: Duration = Duration::from_secs(1);
/// The most models whose details are asked for. Those of each cost a request.
const MOST: usize = 64;

/// Asks it for its list, and then for what is known only elsewhere. If that is not to be had, the list stands, and the
/// models of which something is in doubt say so.
pub(super) async fn list(asked: Asked<'_>, known: &Known) -> Result<Vec<Listed>, Unlisted> {
    let Asked { provider, key, http, patience } = asked;
    let late = |patience: Duration| format!("no answer within {} seconds", patience.as_secs_f64());
    let body = in_time(patience, ask_page(beside(&provider.base_url, LIST)?, asked)).await?;
    let patience = patience.min(MORE);
    let no_list = || Unlisted::NoList("the answer is no list of models".to_owned());
    let models = parse(&body, false).ok_or_else(no_list)?;
    let body: Value = serde_json::from_slice(&body).map_err(|_| no_list())?;
    let loaded = async {
        let url = beside(&provider.base_url, LOADED)?;
        let answer = tokio::time::timeout(patience, ask(url, None, provider, key, http)).await;
        Loaded::read(&answer.map_err(|_| late(patience))??).ok_or_else(|| "the answer is no list of models".to_owned())
    };
    let details = join_all(models.iter().enumerate().map(|(at, model)| {
        let of_list = item(&body, &model.id);
        async move {
            let told = of_list.map(Details::read).unwrap_or_default();
            let digest = of_list.and_then(|item| item.get("digest")?.as_str());
            if let Some(details) = digest.and_then(|digest| known.details(digest)) {
                return told.with(details);
            }
            let Ok(url) = beside(&provider.base_url, DETAILS).map_err(|_| ()) else { return told };
            if at >= MOST {
                return told;
            }
            let asked = json!({ "model": model.id });
            let answer = tokio::time::timeout(patience, ask(url, Some(&asked), provider, key, http)).await;
            let Ok(Ok(answer)) = answer else { return told };
            let details = Details::read(&answer);
            digest.into_iter().for_each(|digest| known.keep(digest, &details));
            told.with(details)
        }
    }));
    let (loaded, details) = tokio::join!(loaded, details);
    if let Ok(loaded) = &loaded {
        loaded.windows().for_each(|(model, window)| known.learn(model, window));
    }
    let talks = |(_, details): &(Listed, Details)| details.can("completion") != Some(false);
    let models = models.into_iter().zip(details).filter(talks);
    let completed = |(model, details): (Listed, _)| {
        let had = known.window(&model.id);
        completed(model, &details, &loaded, had)
    };
    Ok(models.map(completed).collect())
}

/// The part of a list that is about a model.
fn item<'v>(list: &'v Value, id: &str) -> Option<&'v Value> {
    let is_it =
        |item: &&Value| ["name", "model"].iter().any(|field| item.get(field).and_then(Value::as_str) == Some(id));
    list.get("models")?.as_array()?.iter().find(is_it)
}

/// A model of the list with the window that it has, had, or would have, and what is to be said about it.
fn completed(model: Listed, details: &Details, loaded: &Result<Loaded, String>, had: Option<u64>) -> Listed {
    let longest = details.longest;
    let set = had.or(details.set).map(|set| longest.map_or(set, |longest| set.min(longest)));
    let (window, doubt) = match loaded.as_ref().map(|loaded| loaded.window(&model.id)) {
        _ if details.is_remote => (longest, None),
        Ok(Some(Some(window))) => (Some(window), None),
        Ok(Some(None)) => (set, set.is_none().then(|| "it says so from version 0.10 on".to_owned())),
        Ok(None) => (set, None),
        Err(problem) => (set, set.is_none().then(|| problem.clone())),
    };
    let doubt = doubt.map(|doubt| {
        format!("Ollama does not say how large a window it gives this model ({doubt}); `ollama ps` shows it")
    });
    // A model that is not loaded is most likely given less than it can have, and never more.
    let known = window.or(longest.filter(|longest| too_small(*longest, Some(*longest)).is_some()));
    let too_small = known.and_then(|window| too_small(window, longest));
    Listed {
        context: window,
        most: window.or(longest),
        images: details.can("vision").or(model.images),
        thinking: details.can("thinking").or(model.thinking),
        warning: warning([too_small, doubt, no_tools(details)]),
        ..model
    }
}
