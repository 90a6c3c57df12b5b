//! Asking Amazon Bedrock for the two lists of which the models of a region are made.

use std::collections::HashSet;

use net::Url;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::bedrock::offered;
use super::super::entry::is_known;
use super::{Answer, Asked, PAGES, Unlisted, ask_page};
use crate::remote::endpoint;
use crate::wire::Route;

/// The most items of a list. Amazon's longest have a few hundred.
const MOST: usize = 5_000;
/// The list of models, and the id of each.
const MODELS: Field = ("modelSummaries", "modelId");
/// The list of inference profiles, and the id of each.
const PROFILES: Field = ("inferenceProfileSummaries", "inferenceProfileId");

/// The field of an answer that holds a list, and that of an item which holds its id.
type Field = (&'static str, &'static str);

/// The place of the first of its lists below such an address.
pub(super) fn place(address: &str) -> Result<Url, String> {
    endpoint(address, &route("foundation-models", "byOutputModality=TEXT"))
}

fn route(path: &'static str, query: &'static str) -> Route<'static> {
    Route { version: "", path: path.into(), query: Some(query) }
}

/// True if an answer is a list with models.
pub(super) fn has_models(body: &[u8]) -> bool {
    let answer = serde_json::from_slice::<Value>(body).unwrap_or_default();
    answer.get(MODELS.0).and_then(Value::as_array).is_some_and(|models| !models.is_empty())
}

/// Asks for its lists, both at once. Without one of them it is not known what the region offers.
pub(super) async fn list(address: &str, asked: Asked<'_>) -> Answer {
    let profiles = endpoint(address, &route("inference-profiles", "maxResults=1000&type=SYSTEM_DEFINED"))?;
    let (models, profiles) =
        futures_util::try_join!(pages(place(address)?, MODELS, asked), pages(profiles, PROFILES, asked))?;
    Ok(offered(&models, &profiles, |id| is_known(asked.provider, id)))
}

/// The items of all pages of a list, each once. One that cannot be read is left out.
async fn pages<T: DeserializeOwned>(url: Url, (list, id): Field, asked: Asked<'_>) -> Result<Vec<T>, Unlisted> {
    let (mut items, mut ids, mut next) = (Vec::new(), HashSet::new(), Some(url.clone()));
    for _ in 0..PAGES {
        let Some(page) = next.take() else { break };
        let body = ask_page(page, asked).await?;
        let no_list = || Unlisted::NoList("the answer is no list of models".to_owned());
        let mut page: Value = serde_json::from_slice(&body).map_err(|_| no_list())?;
        let Some(Value::Array(of_page)) = page.get_mut(list).map(Value::take) else { return Err(no_list()) };
        let known = ids.len();
        for item in of_page {
            let is_new = item.get(id).and_then(Value::as_str).is_some_and(|id| ids.insert(id.to_owned()));
            items.extend(is_new.then(|| serde_json::from_value(item).ok()).flatten());
        }
        // A server that knows no pages gives the same one again.
        if ids.len() == known || ids.len() >= MOST {
            break;
        }
        let token = page.get("nextToken").and_then(Value::as_str).filter(|token| !token.is_empty());
        next = token.map(|token| {
            let mut url = url.clone();
            url.query_pairs_mut().append_pair("nextToken", token);
            url
        });
    }
    items.truncate(MOST);
    Ok(items)
}
