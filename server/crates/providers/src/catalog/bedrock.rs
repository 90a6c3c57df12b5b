//! The models of Amazon Bedrock that an account's region offers: those that answer by their own ids, and those that
//! answer by an inference profile (`ListFoundationModels` and `ListInferenceProfiles` in the model of `bedrock` of PyPI
//! `botocore` 1.44).

use std::collections::{HashMap, HashSet};

use net::Url;
use net::header::HeaderMap;
use serde::Deserialize;

use super::listed::{Listed, is_for_talking};
use crate::aws::{ERROR_TYPE, Scope};
use crate::cloud::Cloud;
use crate::settings::Provider;
use crate::wire::Wire;

/// The hosts of Bedrock's models, and those of its lists, each by the first part of its name.
const HOSTS: [(&str, &str); 2] = [("bedrock-runtime", "bedrock"), ("bedrock-runtime-fips", "bedrock-fips")];
/// The beginning of the ids of Claude.
const CLAUDE: &str = "anthropic.";
/// AWS's errors about credentials that it does not know. Those that it knows and that have no rights are another one.
const UNKNOWN: [&str; 5] =
    ["ExpiredToken", "IncompleteSignature", "InvalidSignature", "MissingAuthenticationToken", "UnrecognizedClient"];

/// A model of the region.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Model {
    model_id: String,
    model_name: Option<String>,
    #[serde(default)]
    input_modalities: Vec<String>,
    #[serde(default)]
    output_modalities: Vec<String>,
    #[serde(default)]
    inference_types_supported: Vec<String>,
    model_lifecycle: Option<Lifecycle>,
}

/// The stage of a model's life.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    status: String,
    end_of_life_time: Option<String>,
}

/// A profile by which a model answers from one of several regions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Profile {
    inference_profile_id: String,
    inference_profile_name: Option<String>,
    status: String,
    models: Vec<ProfileModel>,
}

/// A model in one of the regions of a profile.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProfileModel {
    model_arn: String,
}

/// The address below which a provider has Bedrock's lists: at AWS's own hosts another host than that of the models, and
/// for a server in Bedrock's stead its own. None if it is no Bedrock, or at one of its hosts that has no such lists, as
/// a private endpoint and the one that speaks OpenAI's formats have none. None too for a provider of another name that
/// speaks another format than Converse: most of the models do not answer in it.
pub(super) fn address(provider: &Provider) -> Option<String> {
    let url = Url::parse(provider.base_url.trim()).ok()?;
    let host = url.host_str()?;
    if Scope::of_host(host).is_some() {
        if !is_named_so(provider) && provider.wire != Wire::Converse {
            return None;
        }
        let (first, rest) = host.split_once('.')?;
        let (_, lists) = HOSTS.iter().find(|(models, _)| *models == first)?;
        return Some(format!("{}://{lists}.{rest}", url.scheme()));
    }
    (is_named_so(provider) && !provider.has_no_converse()).then(|| provider.base_url.clone())
}

/// True if a provider is Bedrock where it can be asked for what the account's region offers. One of which nobody spoke
/// is not asked, and one whose models the user names need not be.
pub(super) fn is_asked(provider: &Provider) -> bool {
    is_named_so(provider) && !provider.is_unasked() && provider.models.is_empty() && address(provider).is_some()
}

/// True if a provider is asked for Bedrock's lists at a server that is none of AWS's.
pub(super) fn is_gateway(provider: &Provider) -> bool {
    is_asked(provider) && !is_at_aws(provider)
}

fn is_at_aws(provider: &Provider) -> bool {
    let url = Url::parse(provider.base_url.trim()).ok();
    url.as_ref().and_then(Url::host_str).and_then(Scope::of_host).is_some()
}

fn is_named_so(provider: &Provider) -> bool {
    provider.vendor().is_some_and(|vendor| vendor.signed == Some(Cloud::Aws))
}

/// The models that can be talked to in the region: each by its own id, if it answers to that, and by its profiles. A
/// profile whose model the region's list omits counts if its id is known, since such a list may have only the models
/// that answer from the region itself.
pub(super) fn offered(models: &[Model], profiles: &[Profile], is_known: impl Fn(&str) -> bool) -> Vec<Listed> {
    let active = profiles.iter().filter(|profile| profile.status == "ACTIVE");
    let mut by_model: HashMap<&str, Vec<&Profile>> = HashMap::new();
    let mut others = Vec::new();
    let listed: HashSet<&str> = models.iter().map(|model| model.model_id.as_str()).collect();
    for profile in active {
        let ids: HashSet<&str> = profile.models.iter().filter_map(ProfileModel::id).collect();
        if ids.is_disjoint(&listed) && is_known(&profile.inference_profile_id) {
            others.push(profile.listed());
        }
        ids.into_iter().for_each(|id| by_model.entry(id).or_default().push(profile));
    }
    let mut offered = Vec::new();
    for model in models.iter().filter(|model| model.talks()) {
        if model.answers_to_its_id() {
            offered.push(model.listed(&model.model_id, model.model_name.as_ref()));
        }
        let profiles = by_model.get(model.model_id.as_str()).into_iter().flatten();
        offered.extend(profiles.map(|it| model.listed(&it.inference_profile_id, it.inference_profile_name.as_ref())));
    }
    offered.extend(others);
    offered
}

/// True if AWS, or whoever stands in for it, says that it does not know a key or credentials, as by an answer with this
/// head and these words.
pub(super) fn is_unknown_key(provider: &Provider, headers: &HeaderMap, message: &str) -> bool {
    let kind = headers.get(ERROR_TYPE).map(|kind| kind.as_bytes()).unwrap_or_default();
    let is_said = UNKNOWN.iter().any(|unknown| kind.starts_with(unknown.as_bytes()));
    (is_named_so(provider) || is_at_aws(provider)) && (is_said || message.starts_with("Authentication failed"))
}

impl Model {
    /// True if it answers text with text.
    fn talks(&self) -> bool {
        let has = |kinds: &[String]| kinds.iter().any(|kind| kind == "TEXT");
        has(&self.input_modalities) && has(&self.output_modalities) && is_for_talking(&self.model_id)
    }

    /// True if it answers to its own id. Claude is asked over Messages, which takes it by ids with a region only.
    fn answers_to_its_id(&self) -> bool {
        let is_on_demand = self.inference_types_supported.iter().any(|way| way == "ON_DEMAND");
        is_on_demand && !self.model_id.starts_with(CLAUDE)
    }

    /// The same under an id and a name by which it answers.
    fn listed(&self, id: &str, name: Option<&String>) -> Listed {
        Listed {
            id: id.to_owned(),
            name: name.cloned(),
            images: Some(self.input_modalities.iter().any(|kind| kind == "IMAGE")),
            warning: self.model_lifecycle.as_ref().and_then(Lifecycle::warning),
            ..Listed::default()
        }
    }
}

impl Lifecycle {
    /// The words for a model that Amazon gives up; none if it does not.
    fn warning(&self) -> Option<String> {
        if self.status != "LEGACY" {
            return None;
        }
        let day = self.end_of_life_time.as_deref().and_then(|time| time.split_once('T'));
        let end = day.map(|(day, _)| format!(", and will end on {day}")).unwrap_or_default();
        Some(format!("Amazon says that this model is a legacy one{end}. Choose a newer one"))
    }
}

impl Profile {
    /// The model under its id, of which nothing else is told.
    fn listed(&self) -> Listed {
        let (id, name) = (self.inference_profile_id.clone(), self.inference_profile_name.clone());
        Listed { id, name, ..Listed::default() }
    }
}

impl ProfileModel {
    /// The id of the model.
    fn id(&self) -> Option<&str> {
        self.model_arn.rsplit_once('/').map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use super::*;
    use crate::Settings;

    fn read<T: DeserializeOwned>(items: Value) -> Vec<T> {
        serde_json::from_value(items).unwrap()
    }

    #[test]
    fn the_models_that_a_region_offers_are_listed_by_the_ids_that_they_answer_to() {
        let model = |id: &str, input: &[&str], output: &str, ways: &[&str]| {
            json!({ "modelId": id, "modelArn": format!("arn:aws:bedrock:eu-west-1::foundation-model/{id}"),
                "modelName": format!("The {id}"), "inputModalities": input, "outputModalities": [output],
                "inferenceTypesSupported": ways, "modelLifecycle": { "status": "ACTIVE" } })
        };
        let mut old = model("meta.llama3-8b-v1:0", &["TEXT"], "TEXT", &["ON_DEMAND"]);
        old["modelLifecycle"] = json!({ "status": "LEGACY", "endOfLifeTime": "2027-01-31T00:00:00Z" });
        let models = json!([
            model("amazon.nova-pro-v1:0", &["TEXT", "IMAGE"], "TEXT", &["ON_DEMAND"]),
            model("anthropic.claude-opus-5-5", &["TEXT", "IMAGE"], "TEXT", &["INFERENCE_PROFILE"]),
            model("anthropic.claude-v2:1:200k", &["TEXT"], "TEXT", &["PROVISIONED"]),
            model("anthropic.claude-3-haiku-20240307-v1:0", &["TEXT"], "TEXT", &["ON_DEMAND"]),
            model("amazon.titan-image-v1", &["TEXT"], "IMAGE", &["ON_DEMAND"]),
            model("amazon.titan-embed-text-v2:0", &["TEXT"], "EMBEDDING", &["ON_DEMAND"]),
            model("cohere.rerank-v3-5:0", &["TEXT"], "TEXT", &["ON_DEMAND"]),
            model("a.transcriber-v1:0", &["SPEECH"], "TEXT", &["ON_DEMAND"]),
            old,
        ]);
        let profile = |id: &str, status: &str, model: &str| {
            let arn =
                |region: &str| json!({ "modelArn": format!("arn:aws:bedrock:{region}::foundation-model/{model}") });
            json!({ "inferenceProfileId": id, "inferenceProfileName": format!("Profile {id}"), "type": "SYSTEM_DEFINED",
                "status": status, "models": [arn("eu-west-1"), arn("eu-west-3")] })
        };
        let profiles = json!([
            profile("eu.amazon.nova-pro-v1:0", "ACTIVE", "amazon.nova-pro-v1:0"),
            profile("eu.anthropic.claude-opus-5-5", "ACTIVE", "anthropic.claude-opus-5-5"),
            profile("global.anthropic.claude-opus-5-5", "ACTIVE", "anthropic.claude-opus-5-5"),
            profile("eu.anthropic.claude-opus-9", "ACTIVE", "anthropic.claude-opus-9"),
            profile("jp.anthropic.claude-opus-5-5", "CREATING", "anthropic.claude-opus-5-5"),
            profile("global.anthropic.claude-fable-5-2", "ACTIVE", "anthropic.claude-fable-5-2"),
        ]);
        let known = |id: &str| id == "global.anthropic.claude-fable-5-2";
        let listed = offered(&read(models), &read(profiles), known);
        let said: Vec<_> = listed.iter().map(|it| (it.id.as_str(), it.name.as_deref().unwrap(), it.images)).collect();
        let expected = [
            ("amazon.nova-pro-v1:0", "The amazon.nova-pro-v1:0", Some(true)),
            ("eu.amazon.nova-pro-v1:0", "Profile eu.amazon.nova-pro-v1:0", Some(true)),
            ("eu.anthropic.claude-opus-5-5", "Profile eu.anthropic.claude-opus-5-5", Some(true)),
            ("global.anthropic.claude-opus-5-5", "Profile global.anthropic.claude-opus-5-5", Some(true)),
            ("meta.llama3-8b-v1:0", "The meta.llama3-8b-v1:0", Some(false)),
            ("global.anthropic.claude-fable-5-2", "Profile global.anthropic.claude-fable-5-2", None),
        ];
        assert_eq!(said, expected);
        let warnings: Vec<_> = listed.iter().filter_map(|it| it.warning.as_deref()).collect();
        let expected = "Amazon says that this model is a legacy one, and will end on 2027-01-31. Choose a newer one";
        assert_eq!(warnings, [expected]);
    }

    #[test]
    fn amazons_lists_are_at_another_host_than_its_models_and_a_gateways_at_its_own() {
        let at = |name: &str, base: &str| {
            let mut settings = Settings::default();
            settings.set_provider(name, Some(base.into()), None, Some("converse"), vec![]).unwrap();
            address(settings.provider_mut(name).unwrap())
        };
        let amazons = "https://bedrock.eu-west-1.amazonaws.com";
        for base in
            ["https://bedrock-runtime.eu-west-1.amazonaws.com", "https://bedrock-runtime.eu-west-1.amazonaws.com/v1"]
        {
            assert_eq!(at("bedrock", base).as_deref(), Some(amazons), "{base}");
            assert_eq!(at("mine", base).as_deref(), Some(amazons), "the host says what it is: {base}");
        }
        let fips = at("bedrock", "https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com").unwrap();
        assert_eq!(fips, "https://bedrock-fips.us-gov-west-1.amazonaws.com");
        let gateway = "http://127.0.0.1:8080/amazon";
        assert_eq!(at("bedrock", gateway).as_deref(), Some(gateway));
        for (name, base) in [
            ("mine", "http://127.0.0.1:8080/amazon"),
            ("bedrock", "https://gateway.example/v1"),
            ("bedrock", "https://bedrock-mantle.eu-west-1.api.aws"),
            ("bedrock", "https://vpce-0a1b.bedrock-runtime.eu-west-1.vpce.amazonaws.com"),
        ] {
            assert_eq!(at(name, base), None, "{base}");
        }
    }

    #[test]
    fn another_provider_at_bedrocks_host_has_its_lists_only_if_it_speaks_converse() {
        let host = "https://bedrock-runtime.eu-west-1.amazonaws.com";
        for (wire, path, has_lists) in
            [("converse", "", true), ("openai-chat", "/openai/v1", false), ("anthropic", "/anthropic", false)]
        {
            let mut settings = Settings::default();
            settings.set_provider("mine", Some(format!("{host}{path}")), None, Some(wire), vec![]).unwrap();
            assert_eq!(address(settings.provider_mut("mine").unwrap()).is_some(), has_lists, "{wire}");
        }
    }

    #[test]
    fn a_key_that_amazon_does_not_know_is_told_from_one_without_rights() {
        let kind = |kind: &str| HeaderMap::from_iter([(ERROR_TYPE.try_into().unwrap(), kind.parse().unwrap())]);
        let words = "Authentication failed: Please make sure your API Key is valid.";
        let none = HeaderMap::new();
        let mut settings = Settings::default();
        for (name, base) in [
            ("bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com"),
            ("bedrock", "https://gateway.example"),
            ("mine", "https://bedrock-mantle.eu-west-1.api.aws/v1"),
        ] {
            settings.set_provider(name, Some(base.into()), None, None, vec![]).unwrap();
            let amazon = settings.provider_mut(name).unwrap();
            let unknown = kind("UnrecognizedClientException:http://internal.amazon.com/");
            assert!(is_unknown_key(amazon, &unknown, ""), "{base}");
            assert!(is_unknown_key(amazon, &none, words), "{base}");
            assert!(!is_unknown_key(amazon, &kind("AccessDeniedException"), "User: ada is not authorized"), "{base}");
        }
        settings.set_provider("other", Some("https://models.example".into()), None, None, vec![]).unwrap();
        assert!(!is_unknown_key(settings.provider_mut("other").unwrap(), &none, words), "these are Amazon's words");
    }
}
