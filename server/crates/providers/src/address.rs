//! Where requests go: the paths of vendors that have their own.

use net::Url;

use crate::google;
use crate::remote::{endpoint, has_version, without_end};
use crate::settings::Provider;
use crate::vendors::{PROJECT, REGION};
use crate::wire::{Route, Wire};

/// The field of a query that names a version of Azure's API.
const VERSION: &str = "api-version";

impl Provider {
    /// The address of a request to a model over a wire.
    ///
    /// # Errors
    /// The provider's address is none; says how one is written, without what it holds.
    pub(crate) fn request_url(&self, wire: Wire, model: &str) -> Result<Url, String> {
        let route = wire.route(model);
        match &self.api_version {
            Some(version) => dated(&self.base_url, wire, &route, model, version),
            None => endpoint(&self.with_path(wire, model), &route),
        }
    }

    /// The address of its list of models.
    ///
    /// # Errors
    /// As [`request_url`](Self::request_url).
    pub(crate) fn listing_url(&self) -> Result<Url, String> {
        let base = self.base_url.trim().trim_end_matches('/');
        let vendor = self.vendor().filter(|_| !has_path(base));
        let path = vendor.and_then(|vendor| vendor.list_path.as_deref()).unwrap_or_default();
        endpoint(&format!("{base}{path}"), &self.wire.listing())
    }

    /// Its address with the path of a model in the project of its account, if its vendor has such paths; none if the
    /// address names a project itself. A gateway's own path comes before it.
    fn in_project(&self, wire: Wire, model: &str) -> Option<String> {
        let vendor = self.vendor().filter(|vendor| vendor.has_projects())?;
        let route = vendor.route(model).filter(|route| route.wire == wire)?;
        let (project, location) = (self.project()?, self.location()?);
        let mut url = Url::parse(self.base_url.trim()).ok()?;
        if google::place_in(&self.base_url).is_some() {
            return None;
        }
        let above = url.path().trim_end_matches('/').to_owned();
        let path = route.path.replace(PROJECT, project).replace(REGION, location);
        let version = if has_version(&above) { "" } else { "/v1" };
        url.set_path(&format!("{above}{version}{path}"));
        Some(url.to_string())
    }

    /// Its address with the path that its vendor has for a model, if it has no path of its own.
    fn with_path(&self, wire: Wire, model: &str) -> String {
        if let Some(address) = self.in_project(wire, model) {
            return address;
        }
        let base = self.base_url.trim().trim_end_matches('/');
        // Paths with a project are of no use without one.
        let vendor = self.vendor().filter(|vendor| !has_path(base) && !vendor.has_projects());
        let route = vendor.and_then(|vendor| vendor.route_over(wire, model));
        let path = route.map(|route| route.path.as_str()).or(vendor.and_then(|vendor| vendor.path.as_deref()));
        path.map_or_else(|| self.base_url.clone(), |path| format!("{base}{path}"))
    }
}

/// True if an address has a path of its own.
fn has_path(base: &str) -> bool {
    base.split_once("://").is_none_or(|(_, rest)| rest.contains(['/', '?', '#']))
}

/// The problem with an address, in words without the address, which may hold a key; none if requests could go there.
pub fn address_problem(base_url: &str) -> Option<String> {
    endpoint(base_url, &Route::v1("models")).err()
}

/// Azure's older paths: that of a deployment, and for Responses one for all (`AzureOpenAI` of npm `openai` 7.57). The
/// address may be a whole one, as Azure's portal shows it, with the end of its path and another version.
fn dated(base_url: &str, wire: Wire, route: &Route<'_>, model: &str, version: &str) -> Result<Url, String> {
    // It also says what is wrong with an address.
    let mut url = endpoint(base_url, route)?;
    let given = Url::parse(base_url.trim()).map_err(|_| "the base URL is no URL".to_owned())?;
    let above = without_end(given.path().trim_end_matches('/'));
    let above = above.strip_suffix("/v1").unwrap_or(above);
    let above = above.strip_suffix("/openai").unwrap_or(above);
    if above.split('/').any(|segment| segment == "deployments") {
        url.set_path(&format!("{above}/{}", route.path));
    } else {
        url.set_path(&format!("{above}/openai"));
        if let Ok(mut segments) = url.path_segments_mut() {
            if wire == Wire::OpenAiChat {
                segments.extend(["deployments", model]);
            }
            segments.extend(route.path.split('/'));
        }
    }
    let given = given.query().unwrap_or_default().split('&');
    let given = given.filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(VERSION));
    let query: Vec<_> = given.chain(route.query).collect();
    url.set_query((!query.is_empty()).then(|| query.join("&")).as_deref());
    url.query_pairs_mut().append_pair(VERSION, version);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use crate::Settings;
    use crate::wire::Wire;

    fn url(name: &str, base: &str, version: Option<&str>, wire: Wire, model: &str) -> String {
        let mut settings = Settings::default();
        settings.set_provider(name, Some(base.into()), None, None, vec![]).unwrap();
        let provider = settings.provider_mut(name).unwrap();
        provider.set_api_version(version.map(Into::into));
        provider.request_url(wire, model).unwrap().to_string()
    }

    #[test]
    fn azure_has_one_path_for_all_models_and_with_a_version_one_for_each_deployment() {
        let (chat, responses) = (Wire::OpenAiChat, Wire::OpenAiResponses);
        for (base, version, wire, expected) in [
            ("https://r.openai.azure.com", None, responses, "https://r.openai.azure.com/openai/v1/responses"),
            ("https://r.openai.azure.com//", None, chat, "https://r.openai.azure.com/openai/v1/chat/completions"),
            (
                "https://r.openai.azure.com/openai/v1/",
                None,
                responses,
                "https://r.openai.azure.com/openai/v1/responses",
            ),
            (
                "https://r.services.ai.azure.com/",
                Some("2025-04-01-preview"),
                chat,
                "https://r.services.ai.azure.com/openai/deployments/my%20gpt%2F5/chat/completions?api-version=2025-04-01-preview",
            ),
            (
                "https://r.openai.azure.com/openai/v1",
                Some("2024-10-21"),
                responses,
                "https://r.openai.azure.com/openai/responses?api-version=2024-10-21",
            ),
            (
                "https://apim.example/team/openai/deployments/mine/",
                Some("2024-10-21"),
                chat,
                "https://apim.example/team/openai/deployments/mine/chat/completions?api-version=2024-10-21",
            ),
            (
                "https://r.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2023-05-15&team=7",
                Some("2024-10-21"),
                chat,
                "https://r.openai.azure.com/openai/deployments/mine/chat/completions?team=7&api-version=2024-10-21",
            ),
            (
                "https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
                Some("2024-10-21"),
                responses,
                "https://r.openai.azure.com/openai/responses?api-version=2024-10-21",
            ),
        ] {
            assert_eq!(url("azure", base, version, wire, "my gpt/5"), expected, "{base}");
        }
    }

    #[test]
    fn opencode_is_asked_over_the_protocol_of_each_models_maker_below_one_host() {
        let mut settings = Settings::default();
        settings.set_provider("opencode", None, Some("k".into()), None, vec![]).unwrap();
        let opencode = settings.provider_mut("opencode").unwrap();
        let list = opencode.listing_url().unwrap();
        assert_eq!(list.as_str(), "https://opencode.ai/inference/v1/models");
        for (model, wire, path) in [
            ("claude-opus-5-5", Wire::Anthropic, "anthropic/v1/messages"),
            ("qwen3.8-flash", Wire::Anthropic, "anthropic/v1/messages"),
            ("gpt-6.1-sol", Wire::OpenAiResponses, "openai/v1/responses"),
            ("grok-4.7", Wire::OpenAiResponses, "openai/v1/responses"),
            ("gemini-4-argon", Wire::Gemini, "google/v1beta/models/gemini-4-argon:streamGenerateContent?alt=sse"),
            ("glm-5.3", Wire::OpenAiChat, "openai/v1/chat/completions"),
            ("qwen3.8-max", Wire::OpenAiChat, "openai/v1/chat/completions"),
        ] {
            assert_eq!(opencode.wire_of(model), wire, "{model}");
            let asked = opencode.request_url(wire, model).unwrap();
            assert_eq!(asked.as_str(), format!("https://opencode.ai/inference/{path}"), "{model}");
            let key = crate::Secret::new("k");
            assert_eq!(opencode.key_header(wire, &key).unwrap().0, "authorization", "{model}");
        }
        settings.set_provider("opencode", Some("https://opencode.ai/zen/v1".into()), None, None, vec![]).unwrap();
        let older = settings.provider_mut("opencode").unwrap();
        assert_eq!(older.listing_url().unwrap().path(), "/zen/v1/models", "an address with a path counts as it is");
        let asked = older.request_url(Wire::Anthropic, "claude-opus-5-5").unwrap();
        assert_eq!(asked.path(), "/zen/v1/messages");
    }

    #[test]
    fn bedrock_has_a_path_for_each_wire_unless_the_address_has_one() {
        for (base, wire, model, expected) in [
            ("http://h", Wire::Anthropic, "us.anthropic.claude-opus-5", "http://h/anthropic/v1/messages"),
            ("http://h", Wire::OpenAiResponses, "us.openai.gpt-6.1-sol", "http://h/openai/v1/responses"),
            ("http://h/", Wire::OpenAiChat, "qwen.qwen3-coder-next", "http://h/openai/v1/chat/completions"),
            ("http://h/proxy", Wire::OpenAiChat, "qwen.qwen3-coder-next", "http://h/proxy/v1/chat/completions"),
            (
                "http://h/",
                Wire::Converse,
                "amazon.nova-pro-v1:0",
                "http://h/model/amazon.nova-pro-v1%3A0/converse-stream",
            ),
            ("http://h/proxy", Wire::Converse, "zai.glm-5", "http://h/proxy/model/zai.glm-5/converse-stream"),
        ] {
            assert_eq!(url("bedrock", base, None, wire, model), expected, "{base}");
        }
        assert_eq!(url("mine", "http://h", None, Wire::OpenAiChat, "m"), "http://h/v1/chat/completions");
    }

    #[test]
    fn bedrocks_other_host_and_gateways_with_a_version_are_asked_over_chat_completions() {
        let (mantle, chat) = ("https://bedrock-mantle.us-east-1.api.aws", Wire::OpenAiChat);
        for (base, model, wire, path) in [
            (format!("{mantle}/v1"), "zai.glm-5", chat, "/v1/chat/completions"),
            (format!("{mantle}/openai/v1/"), "zai.glm-5", chat, "/openai/v1/chat/completions"),
            (mantle.to_owned(), "zai.glm-5", chat, "/openai/v1/chat/completions"),
            ("http://h/v1".to_owned(), "amazon.nova-pro-v1:0", chat, "/v1/chat/completions"),
            ("http://h/v1".to_owned(), "us.openai.gpt-6.1-sol", Wire::OpenAiResponses, "/v1/responses"),
            ("http://h/v1x".to_owned(), "zai.glm-5", Wire::Converse, "/v1x/model/zai.glm-5/converse-stream"),
            ("http://h".to_owned(), "zai.glm-5", Wire::Converse, "/model/zai.glm-5/converse-stream"),
        ] {
            let mut settings = Settings::default();
            settings.set_provider("bedrock", Some(base.clone()), None, None, vec![]).unwrap();
            let bedrock = settings.provider_mut("bedrock").unwrap();
            assert_eq!(bedrock.wire_of(model), wire, "{base}");
            let asked = bedrock.request_url(wire, model).unwrap();
            assert_eq!(asked.path(), path, "{base}");
            settings.set_provider("bedrock", None, None, Some("converse"), vec![]).unwrap();
            assert_eq!(settings.provider_mut("bedrock").unwrap().wire_of(model), Wire::Converse, "it was chosen");
        }
    }
}
