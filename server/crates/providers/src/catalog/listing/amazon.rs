//! Asking Amazon Bedrock for the two lists of which the models of a region are made.

use net::{Clients, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::bedrock::offered;
use super::{Answer, PAGES, Unlisted, ask_page};
use crate::remote::endpoint;
use crate::secret::Secret;
use crate::settings::Provider;
use crate::wire::Route;

/// The place of the first of its lists below such an address.
pub(super) fn place(address: &str) -> Result<Url, String> {
    endpoint(address, &route("foundation-models", "byOutputModality=TEXT"))
}

fn route(path: &'static str, query: &'static str) -> Route<'static> {
    Route { version: "", path: path.into(), query: Some(query) }
}

/// Asks for its lists, both at once. Without one of them it is not known what the region offers.
pub(super) async fn list(address: &str, provider: &Provider, key: Option<&Secret>, http: &Clients) -> Answer {
    let profiles = endpoint(address, &route("inference-profiles", "maxResults=1000&type=SYSTEM_DEFINED"))?;
    let (models, profiles) = futures_util::try_join!(
        pages(place(address)?, "modelSummaries", provider, key, http),
        pages(profiles, "inferenceProfileSummaries", provider, key, http),
    )?;
    Ok(offered(&models, &profiles))
}

/// The items of all pages of a list. One that cannot be read is left out.
async fn pages<T: DeserializeOwned>(
    url: Url,
    field: &str,
    provider: &Provider,
    key: Option<&Secret>,
    http: &Clients,
) -> Result<Vec<T>, Unlisted> {
    let (mut items, mut next) = (Vec::new(), Some(url.clone()));
    for _ in 0..PAGES {
        let Some(asked) = next.take() else { break };
        let body = ask_page(asked, provider, key, http).await?;
        let no_list = || Unlisted::NoList("the answer is no list of models".to_owned());
        let mut page: Value = serde_json::from_slice(&body).map_err(|_| no_list())?;
        let Some(Value::Array(of_page)) = page.get_mut(field).map(Value::take) else { return Err(no_list()) };
        items.extend(of_page.into_iter().filter_map(|item| serde_json::from_value(item).ok()));
        let token = page.get("nextToken").and_then(Value::as_str).filter(|token| !token.is_empty());
        next = token.map(|token| {
            let mut url = url.clone();
            url.query_pairs_mut().append_pair("nextToken", token);
            url
        });
    }
    Ok(items)
}
