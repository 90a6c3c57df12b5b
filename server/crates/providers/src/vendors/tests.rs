use std::collections::HashSet;

use super::*;
use crate::compat::{AskThinking, MaxTokensField};
use crate::data;

#[test]
fn the_data_file_is_sound() {
    let text = include_str!("../providers.toml");
    assert!(toml::from_str::<File>(text).is_ok(), "{:?}", toml::from_str::<File>(text).err());
    assert!(all().len() > 20);
    let (mut names, mut variables) = (HashSet::new(), HashSet::new());
    for vendor in all() {
        let name = &vendor.name;
        assert!(names.insert(name), "{name} is there twice");
        assert!(!vendor.title.is_empty(), "{name}");
        let address = vendor.address(|_| None);
        assert!(
            address.is_empty() && !vendor.base_url_env.is_empty() || Url::parse(&address).is_ok(),
            "{name}: {address}"
        );
        assert!(!vendor.local || !vendor.sign_in, "{name}: nobody signs in to this machine");
        let is_without = vendor.local || vendor.sign_in || vendor.signed == Some(Cloud::Google);
        assert_eq!(is_without, vendor.keys.is_empty(), "{name}: what is not on this machine has a key or a sign-in");
        assert_eq!(is_without, vendor.page.is_none(), "{name}: a key is made somewhere");
        let is_safe = if vendor.local { "http://127.0.0.1" } else { "https://" };
        assert!(address.is_empty() || address.starts_with(is_safe), "{name}: {address}");
        for variable in vendor.keys.iter().chain(&vendor.base_url_env) {
            assert!(variables.insert(variable), "{variable} is that of two vendors");
        }
        for model in &vendor.models {
            let usual = vendor.usual_id(model).map_or(model.as_str(), |(usual, _)| usual);
            let maker = vendor.route(model).and_then(|route| route.maker.as_deref()).unwrap_or(name);
            assert!(data::find(Some(maker), usual).is_some(), "{name}: nothing is known of {model}");
        }
    }
    for host in &file().host {
        assert!(
            host.dialect.as_deref().is_none_or(|name| dialect(name).is_some()),
            "{}: {:?}",
            host.home,
            host.dialect
        );
        let has_paths = !host.unversioned.is_empty();
        let wants = host.dialect.is_some() || host.compat != Compat::default() || has_paths;
        assert!(wants, "{} wants nothing", host.home);
    }
}

#[test]
fn those_on_this_machine_come_last_and_the_vendors_of_before_stay_first_and_in_their_order() {
    let names: Vec<_> = all().iter().map(|vendor| vendor.name.as_str()).collect();
    let before = ["anthropic", "openai", "openrouter", "deepseek", "groq", "mistral", "xai", "inception"];
    assert_eq!(names[..before.len()], before);
    assert!(all().iter().skip(before.len()).all(|vendor| vendor.local != vendor.after_local));
    assert!(all().iter().skip_while(|vendor| !vendor.local).all(|vendor| vendor.local));
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    for newer in ["zai-coding", "zai-coding-cn", "kimi-coding", "opencode"] {
        assert!(place(newer) > place("chatgpt"), "{newer} takes nobody's default away");
    }
}

#[test]
fn an_unknown_field_or_wire_is_an_error() {
    let vendor = |more: &str| {
        let text = format!("name = 'a'\ntitle = 'A'\nbase_url = 'https://a.example'\n{more}");
        toml::from_str::<Vendor>(&text).map(|_| ()).map_err(|error| error.message().to_owned())
    };
    assert!(vendor("wire = 'openai-chat'").is_ok());
    assert!(vendor("wire = 'gopher'").unwrap_err().contains("gopher"));
    assert!(vendor("wire = 'openai-chat'\ncolour = 1").unwrap_err().contains("colour"));
}

#[test]
fn a_service_for_another_country_has_the_same_models() {
    let [everywhere, in_china] = ["minimax", "minimax-cn"].map(|name| named(name).unwrap());
    assert!(!everywhere.models.is_empty());
    assert_eq!((&everywhere.models, everywhere.wire), (&in_china.models, in_china.wire));
}

#[test]
fn flags_follow_the_host_and_its_subdomains() {
    let named = |name: &str| dialect(name).cloned().unwrap();
    let thinks = |thinking| Compat { thinking: Some(thinking), ..Compat::default() };
    for (address, flags) in [
        ("https://api.openai.com/v1", Compat { store: Some(true), ..named("openai") }),
        ("https://eu.api.openai.com", Compat { store: Some(true), ..named("openai") }),
        ("https://api.moonshot.ai/v1", named("deepseek")),
        ("https://token-plan-sgp.xiaomimimo.com/v1", named("deepseek")),
        ("https://generativelanguage.googleapis.com/v1beta/openai/", named("gemini")),
        (
            "https://us-central1-aiplatform.googleapis.com/v1/projects/p",
            Compat { effort_messages: Some(true), cache_hour: Some(true), ..named("gemini") },
        ),
        (
            "https://api.anthropic.com",
            Compat {
                effort_messages: Some(true),
                cache_diagnosis: Some(true),
                cache_hour: Some(true),
                eager_input_streaming: Some(true),
                ..Compat::default()
            },
        ),
        ("https://API.MISTRAL.AI", named("mistral")),
        ("https://openrouter.ai/api/v1", thinks(AskThinking::Reasoning)),
        ("https://dashscope-intl.aliyuncs.com/compatible-mode/v1", thinks(AskThinking::EnableThinking)),
        (
            "https://api.cerebras.ai/v1",
            Compat {
                max_tokens_field: Some(MaxTokensField::MaxCompletionTokens),
                ..thinks(AskThinking::ReasoningEffort)
            },
        ),
        ("https://notapi.openai.com.example/v1", Compat::default()),
        ("https://fakeapi.openai.com/v1", Compat::default()),
        ("http://127.0.0.1:8080", Compat::default()),
        ("no address", Compat::default()),
    ] {
        assert_eq!(of_address(address), flags, "{address}");
    }
}

#[test]
fn opencode_serves_its_free_models_to_its_own_program_only() {
    let opencode = named("opencode").unwrap();
    for (model, is_served) in
        [("glm-5.3", true), ("claude-opus-5-5", true), ("glm-5.3-free", false), ("big-pickle", false), ("jev-1", false)]
    {
        assert_eq!(opencode.serves(model), is_served, "{model}");
    }
}

#[test]
fn a_region_of_the_environment_is_in_the_address_and_only_a_region() {
    let bedrock = named("bedrock").unwrap();
    let at = |region: Option<&str>| bedrock.address(|name| (name == "AWS_REGION").then_some(region?.to_owned()));
    assert_eq!(at(None), "https://bedrock-runtime.us-east-1.amazonaws.com");
    assert_eq!(at(Some("eu-central-1")), "https://bedrock-runtime.eu-central-1.amazonaws.com");
    assert_eq!(at(Some("x.evil.example/")), at(None), "it is no region");
    assert!(bedrock.is_at("https://bedrock-runtime.eu-west-3.amazonaws.com/openai/v1"));
    assert!(!bedrock.is_at("https://bedrock-runtime.example") && !bedrock.is_at("http://127.0.0.1:9"));
    assert!(!named("azure").unwrap().is_at(""), "nobody's address is everybody's");
    assert_eq!(of_address(&at(None)).betas, Some(false));
}

#[test]
fn a_model_with_a_region_and_a_version_is_its_model_at_the_regions_price() {
    let bedrock = named("bedrock").unwrap();
    for (id, usual) in [
        ("global.anthropic.claude-sonnet-5-5", Some(("claude-sonnet-5-5", 1.0))),
        ("us.anthropic.claude-opus-4-6-v1", Some(("claude-opus-4-6", 1.1))),
        ("us-gov.anthropic.claude-haiku-4-5-20251001-v1:0", Some(("claude-haiku-4-5-20251001", 1.2))),
        ("eu.openai.gpt-6.1-sol", Some(("gpt-6.1-sol", 1.1))),
        ("anthropic.claude-sonnet-5-5", None),
        ("mars.anthropic.claude-sonnet-5-5", None),
        ("us.meta.llama4-maverick-17b-instruct-v1:0", None),
    ] {
        assert_eq!(bedrock.usual_id(id), usual, "{id}");
    }
    let others =
        |id: &str| bedrock.in_other_regions(id).map(|(id, factor)| (id.into_owned(), factor)).collect::<Vec<_>>();
    assert_eq!(others("us.zai.glm-5.3"), [("zai.glm-5.3".into(), 1.0), ("global.zai.glm-5.3".into(), 1.1)]);
    let of_government = [("amazon.nova-pro-v1:0".into(), 1.2), ("global.amazon.nova-pro-v1:0".into(), 1.2)];
    assert_eq!(others("us-gov.amazon.nova-pro-v1:0"), of_government);
    assert!(others("zai.glm-5").is_empty() && others("amazon.nova-pro-v1:0").is_empty());
    let wire = |model: &str| bedrock.route(model).map(|route| (route.wire, route.path.as_str()));
    assert_eq!(wire("global.anthropic.claude-sonnet-5-5"), Some((Wire::Anthropic, "/anthropic")));
    assert_eq!(wire("us.openai.gpt-6.1-sol"), Some((Wire::OpenAiResponses, "/openai/v1")));
    assert_eq!(wire("openai.gpt-oss-120b-1:0"), Some((Wire::OpenAiChat, "/openai/v1")));
    assert_eq!(wire("qwen.qwen3-coder-next"), Some((Wire::Converse, "")));
    let over = |wire, model: &str| bedrock.route_over(wire, model).map(|route| route.path.as_str());
    assert_eq!(over(Wire::OpenAiChat, "qwen.qwen3-coder-next"), Some("/openai/v1"), "the user chose another wire");
    assert_eq!(over(Wire::Converse, "us.anthropic.claude-opus-5-5"), Some(""));
    assert_eq!(over(Wire::Gemini, "us.anthropic.claude-opus-5-5"), None);
    assert_eq!(named("openai").unwrap().route("gpt-5.1").map(|route| route.wire), None);
}

#[test]
fn a_location_of_google_is_in_the_address_and_some_have_a_host_of_their_own() {
    let vertex = named("vertex").unwrap();
    let at =
        |location: Option<&str>| vertex.address(|name| (name == "CLOUD_ML_REGION").then_some(location?.to_owned()));
    for (location, address) in [
        (None, "https://aiplatform.googleapis.com"),
        (Some("global"), "https://aiplatform.googleapis.com"),
        (Some("us"), "https://aiplatform.us.rep.googleapis.com"),
        (Some("eu"), "https://aiplatform.eu.rep.googleapis.com"),
        (Some("europe-west1"), "https://europe-west1-aiplatform.googleapis.com"),
        (Some("evil.example/"), "https://aiplatform.googleapis.com"),
    ] {
        assert_eq!(at(location), address, "{location:?}");
        assert!(vertex.is_at(address), "{address}");
        assert_eq!(of_address(address).call_signatures, Some(true), "{address}");
        let plain = location.filter(|location| !location.contains('.')).unwrap_or("global");
        assert_eq!(vertex.region_of(address).as_deref(), Some(plain));
    }
    for other in ["https://aiplatform.googleapis.com.example", "http://127.0.0.1:9", "https://rep.googleapis.com"] {
        assert!(!vertex.is_at(other), "{other}");
    }
}

#[test]
fn outside_of_global_googles_newer_models_cost_more() {
    let vertex = named("vertex").unwrap();
    for (model, location, factor) in [
        ("gemini-3.8-flash", Some("global"), 1.0),
        ("gemini-3.8-flash", Some("eu"), 1.1),
        ("claude-opus-5-5", Some("us-east5"), 1.1),
        ("gemini-2.5-pro", Some("us-central1"), 1.0),
        ("claude-3-5-haiku", Some("us-east5"), 1.0),
        ("claude-opus-5-5", None, 1.0),
    ] {
        assert!((vertex.factor(model, location) - factor).abs() < 1e-9, "{model} {location:?}");
    }
    assert!((named("bedrock").unwrap().factor("m", Some("eu-west-1")) - 1.0).abs() < 1e-9);
}
