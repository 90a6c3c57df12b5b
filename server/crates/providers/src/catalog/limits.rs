//! The limits of the user's keys and accounts. Some vendors tell them only when they are asked: OpenRouter its credit
//! (openrouter.ai/docs/api/api-reference/api-keys/get-current-key).

use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use net::{Clients, read};
use protocol::costs::{Quota, QuotaWindow};
use serde::Deserialize;

use super::Catalog;
use crate::cost::format_cost;
use crate::pool::{Member, Pools};
use crate::quota::Quotas;
use crate::remote::endpoint;
use crate::settings::Provider;
use crate::wire::Route;

/// The time that the vendor may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of an answer.
const BYTES: usize = 64 * 1024;

/// The answer of OpenRouter, as far as it is shown. Numbers are US dollars.
#[derive(Deserialize)]
struct Answer {
    data: Key,
}

#[derive(Deserialize)]
struct Key {
    usage: f64,
    limit: Option<f64>,
    limit_remaining: Option<f64>,
    limit_reset: Option<String>,
}

impl Catalog {
    /// The limits of accounts that each provider told with its last answer, by the providers' names. Vendors that tell
    /// theirs only if they are asked, are asked.
    pub async fn quotas(&self) -> Vec<Quota> {
        let state = self.state();
        let asked = state.sources().filter(|source| source.is_usable()).map(|source| source.provider());
        join_all(asked.map(|provider| ask(provider, &self.quotas, &state.http))).await;
        self.quotas.list()
    }

    /// The rests of keys and accounts, which all share that ask by the same settings.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }
}

/// Asks a vendor that has a place for it for the limits of each of the user's keys. What it does not tell stays as it
/// is known.
async fn ask(provider: &Provider, quotas: &Quotas, http: &Clients) {
    let Some(path) = provider.vendor().and_then(|vendor| vendor.quota_path.as_deref()) else { return };
    let members = provider.pool().map_or_else(|| vec![None], |pool| pool.members.into_iter().map(Some).collect());
    for member in members {
        let asking = of_key(provider, path, member.as_ref(), http);
        match tokio::time::timeout(PATIENCE, asking).await.unwrap_or_else(|_| Err("there was no answer".to_owned())) {
            Ok(window) => {
                let account = member.as_ref().map(|member| member.name.as_str());
                quotas.put(&provider.name, account, vec![window], SystemTime::now());
            }
            Err(problem) => tracing::debug!(provider = provider.name, problem, "the credit is not known"),
        }
    }
}

async fn of_key(
    provider: &Provider,
    path: &str,
    member: Option<&Member>,
    http: &Clients,
) -> Result<QuotaWindow, String> {
    let key = provider.secret_of(member).await.map_err(|failure| failure.message)?.ok_or("there is no key")?;
    let url = endpoint(&provider.base_url, &Route::v1(path))?;
    let mut get = http.client(&url).await.map_err(|error| error.to_string())?.get(url);
    for (name, value) in provider.headers_with(provider.wire, Some(&key))? {
        get = get.header(name, value);
    }
    let response = get.send().await.map_err(|_| "the request failed")?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("status {}", status.as_u16()));
    }
    let body = read(response, BYTES).await.map_err(|_| "the answer broke off")?;
    let Answer { data } = serde_json::from_slice(&body).map_err(|_| "the answer is not what was expected")?;
    Ok(window(&data))
}

fn window(key: &Key) -> QuotaWindow {
    let Key { usage, limit, limit_remaining, limit_reset } = key;
    let name = match limit_reset.as_deref() {
        Some(reset @ ("daily" | "weekly" | "monthly")) => format!("credit of the key, {reset}"),
        _ => "credit of the key".to_owned(),
    };
    let (left, used) = match limit.filter(|limit| *limit > 0.0) {
        Some(limit) => {
            let remaining = limit_remaining.unwrap_or(limit - usage).clamp(0.0, limit);
            let left = format!("{} of {} left", format_cost(remaining), format_cost(limit));
            (left, 1.0 - remaining / limit)
        }
        None => (format!("{} used, without a limit", format_cost(usage.max(0.0))), 0.0),
    };
    QuotaWindow { name, limit: None, remaining: None, left: Some(left), used, resets_at: None }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Settings;
    use crate::loopback::server::{Answer as Told, Server};

    #[tokio::test]
    async fn openrouter_tells_the_credit_of_each_key_when_it_is_asked() {
        let told = |body: &str| Told::status(200, body);
        let server = Server::start(vec![
            told(
                r#"{"data":{"label":"sk-or-v1-au7...890","usage":25.5,"limit":100,"limit_remaining":74.5,
                "limit_reset":"monthly","is_free_tier":false}}"#,
            ),
            told(r#"{"data":{"usage":12.3,"limit":null,"limit_remaining":null,"limit_reset":null}}"#),
            Told::status(401, r#"{"error":{"message":"User not found: sk-or-v1-secret","code":401}}"#),
        ])
        .await;
        let mut settings = Settings::from_env(|_| None);
        settings.set_provider("openrouter", Some(server.url()), Some("sk-or-v1-secret".into()), None, vec![]).unwrap();
        let provider = settings.provider_mut("openrouter").unwrap();
        let (quotas, http) = (Quotas::default(), Arc::new(Clients::new(None)));
        let mut left = Vec::new();
        for _ in 0..3 {
            ask(provider, &quotas, &http).await;
            let window = quotas.list().remove(0).windows.remove(0);
            left.push((window.name, window.left.unwrap(), (window.used * 1_000.0).round() as u64));
        }
        assert_eq!(left[0], ("credit of the key, monthly".into(), "$74.50 of $100.00 left".into(), 255));
        assert_eq!(left[1], ("credit of the key".into(), "$12.30 used, without a limit".into(), 0));
        assert_eq!(left[2], left[1], "what is not told stays as it is known");
        let asked = server.asked();
        assert!(asked.iter().all(|asked| asked.path == "/v1/key"));
        assert_eq!(asked[0].headers["authorization"], "Bearer sk-or-v1-secret");
    }
}
