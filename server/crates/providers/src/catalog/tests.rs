use async_trait::async_trait;
use ports::model::{ModelErrorKind, ModelStream, Request};

use super::entry::Entry;
use super::*;
use crate::data;
use crate::wire::testing::{request, says};

/// Settings that reach nothing on this machine, where port 9 answers nobody, and no vendor: there is no client without
/// the file.
fn settings(keys: &[(&str, &str)]) -> Settings {
    let mut settings =
        Settings::from_env(|name| keys.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()));
    for provider in settings.providers.iter_mut().filter(|provider| provider.is_local) {
        provider.base_url = "http://127.0.0.1:9".into();
    }
    settings.ca_file = Some("/no such folder/certificates.pem".into());
    settings
}

fn catalog(keys: &[(&str, &str)]) -> Catalog {
    Catalog::new(settings(keys))
}

async fn id(catalog: &Catalog, name: &str) -> String {
    catalog.resolve(name).await.unwrap().info().id.clone()
}

#[tokio::test]
async fn a_model_goes_by_its_id_its_name_its_dated_id_and_its_alias() {
    let catalog = catalog(&[("ANTHROPIC_API_KEY", "k")]);
    for name in [
        "anthropic/claude-haiku-4-5",
        "claude-haiku-4-5",
        "claude-haiku-4-5-20251001",
        "haiku-4-5",
        "Haiku-4-5",
        " haiku-4-5 ",
    ] {
        assert_eq!(id(&catalog, name).await, "anthropic/claude-haiku-4-5", "{name}");
    }
    assert_eq!(id(&catalog, "haiku-4-5-thinking").await, "anthropic/claude-haiku-4-5-thinking");
    assert_eq!(id(&catalog, "gpt-5.1").await, "openai/gpt-5.1");
}

#[test]
fn a_gateway_in_the_format_of_vertex_ai_gets_no_id_of_anthropics_own_server() {
    let mut settings = settings(&[]);
    let address = "https://gateway.example/v1/projects/p/locations/eu/publishers/anthropic";
    settings.set_provider("team", Some(address.into()), None, Some("anthropic-vertex"), vec![]).unwrap();
    let provider = settings.provider_mut("team").unwrap();
    let entries = entry::of_vendor(provider);
    let haiku = entries.iter().find(|entry| entry.info.id == "team/claude-haiku-4-5").unwrap();
    // It is also called by the id that is sent.
    assert!(!haiku.is_called("claude-haiku-4-5-20251001"), "Vertex AI has no such model");
}

#[tokio::test]
async fn a_name_may_end_with_a_level_that_the_model_has() {
    let mut settings = settings(&[("ANTHROPIC_API_KEY", "k")]);
    settings.set_provider("mine", Some("http://h/v1".into()), None, None, vec!["m:high".into(), "m".into()]).unwrap();
    let catalog = Catalog::new(settings);
    let chosen = async |name: &str| {
        let model = catalog.resolve(name).await.map_err(|error| error.to_string())?;
        Ok::<_, String>((model.info().id.clone(), model.info().level))
    };
    let opus = "anthropic/claude-opus-5-5".to_owned();
    assert_eq!(chosen("anthropic/claude-opus-5-5:xhigh").await, Ok((opus.clone(), Some(ThinkingLevel::Xhigh))));
    assert_eq!(chosen("opus:MAX").await, Ok((opus.clone(), Some(ThinkingLevel::Max))));
    assert_eq!(chosen("opus:default").await, Ok((opus, None)));
    assert_eq!(chosen("mine/m:high").await, Ok(("mine/m:high".into(), None)), "a model of this very name counts more");
    let cannot = chosen("opus:off").await.unwrap_err();
    assert_eq!(cannot, "Claude Opus 5.5 cannot think at the level `off`; it has low, medium, high, xhigh, max");
    let none = chosen("mine/m:low").await.unwrap_err();
    assert!(none.ends_with("cannot think at the level `low`; it can be told none"), "{none}");
    assert!(chosen("opus:much").await.unwrap_err().contains("no model `opus:much`"));
}

#[tokio::test]
async fn of_a_chain_the_first_that_can_be_used_is_taken() {
    let catalog = catalog(&[("OPENAI_API_KEY", "k")]);
    assert_eq!(id(&catalog, "haiku-4-5, gpt-5.1:low, gpt-6.1-sol").await, "openai/gpt-5.1", "the first has no key");
    assert_eq!(id(&catalog, "no-such-model,gpt-5.1").await, "openai/gpt-5.1");
    assert_eq!(
        id(&catalog, "haiku-4-5, opus").await,
        "anthropic/claude-haiku-4-5",
        "whoever asks it hears what is missing"
    );
    let Err(error) = catalog.resolve("no-such-model, nor-this").await else { panic!("there is none of them") };
    assert!(error.to_string().contains("`no-such-model`"), "{error}");
    let Err(error) = catalog.resolve(" , ").await else { panic!("nothing is named") };
    assert_eq!(error, CatalogError::Unknown { name: String::new(), near: vec![] });
}

#[tokio::test]
async fn every_model_that_thinks_only_when_asked_has_a_variant_that_does() {
    let catalog = catalog(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
    let models = catalog.list().await;
    let variants: Vec<&str> = models.iter().filter_map(|model| model.id.strip_suffix("-thinking")).collect();
    for model in ["haiku-4-5", "opus-4-5", "opus-4-8", "sonnet-4-6"] {
        assert!(variants.contains(&format!("anthropic/claude-{model}").as_str()), "{model}: {variants:?}");
    }
    assert_eq!(id(&catalog, "opus-4-8-thinking").await, "anthropic/claude-opus-4-8-thinking");
    for model in ["anthropic/claude-opus-5-5", "openai/gpt-5.1"] {
        assert!(!variants.contains(&model), "{model} thinks anyway");
    }
}

#[tokio::test]
async fn hundreds_of_models_are_known_and_what_was_checked_by_hand_counts_more() {
    let keys = vendors::all().iter().filter_map(|vendor| Some((vendor.keys.first()?.as_str(), "k")));
    let catalog = catalog(&keys.collect::<Vec<_>>());
    let state = catalog.state();
    let known: Vec<_> = state.sources().flat_map(|source| entry::of_vendor(source.provider())).collect();
    assert!(known.len() > 300, "{}", known.len());
    for model in data::models() {
        let id = format!("{}/{}", model.provider, model.id);
        let entry = known.iter().find(|entry| entry.info.id == id).unwrap_or_else(|| panic!("{id} is not listed"));
        let info = &entry.info;
        assert_eq!((&info.name, info.context_tokens, info.price), (&model.name, model.context, model.price()), "{id}");
        assert_eq!((info.images, info.thinking), (model.images, model.thinking != data::Thinking::None), "{id}");
        if let Some(levels) = &model.levels {
            assert_eq!(&info.levels, levels, "{id}");
        }
    }
    let first = known.iter().find(|entry| entry.info.provider == "anthropic").map(|entry| entry.info.id.as_str());
    assert_eq!(first, Some("anthropic/claude-sonnet-5-5"), "the default is the first of the file by hand");
}

#[tokio::test]
async fn a_model_at_another_host_has_its_window_but_not_its_price() {
    let mut settings = settings(&[("GROQ_API_KEY", "k")]);
    let ids = ["anthropic/claude-opus-4.5", "openai/gpt-oss-120b", "claude-opus-4-5", "no-such"].map(str::to_owned);
    settings.set_provider("mine", Some("http://h/v1".into()), None, None, ids.to_vec()).unwrap();
    settings.set_provider("groq", None, None, None, vec!["openai/gpt-oss-120b".into()]).unwrap();
    let catalog = Catalog::new(settings);
    let of = async |id: &str| {
        let info = catalog.resolve(id).await.unwrap().info().clone();
        (info.context_tokens, info.price.map(|price| price.input), info.levels.len())
    };
    assert_eq!(of("mine/anthropic/claude-opus-4.5").await, (200_000, None, 0));
    assert_eq!(of("mine/claude-opus-4-5").await, (200_000, Some(5.0), 0), "by its maker's own id it has its price");
    assert_eq!(of("groq/openai/gpt-oss-120b").await, (131_072, Some(0.15), 3));
    assert_eq!(of("mine/openai/gpt-oss-120b").await, (128_000, None, 0), "no maker hosts it");
    assert_eq!(of("mine/no-such").await, (128_000, None, 0));
}

#[tokio::test]
async fn a_name_with_a_providers_name_before_it_is_never_another_hosts() {
    let router = ("OPENROUTER_API_KEY", "k");
    let both = catalog(&[router, ("DEEPSEEK_API_KEY", "k")]);
    assert_eq!(id(&both, "deepseek/deepseek-v4-pro").await, "deepseek/deepseek-v4-pro");
    assert_eq!(id(&both, "openrouter/openai/gpt-5.1").await, "openrouter/openai/gpt-5.1");
    assert_eq!(id(&both, "z-ai/glm-5.2").await, "openrouter/z-ai/glm-5.2", "no provider is called so");
    let alone = catalog(&[router]);
    let lacking = alone.resolve("openai/gpt-5.1").await.unwrap().info().clone();
    assert_eq!((lacking.id.as_str(), lacking.available), ("openai/gpt-5.1", false));
    assert!(lacking.unavailable_because.unwrap().contains("no key: set OPENAI_API_KEY"));
    assert!(alone.resolve("DeepSeek/deepseek-v4-pro").await.is_err(), "it is no other host's in capitals either");
    for name in ["deepseek/deepseek-v4-pro", "deepseek/deepseek-v4-pro:high", "deepseek/deepseek-v4-pro-20260101"] {
        let Err(error) = alone.resolve(name).await else { panic!("{name}: there is no key") };
        assert!(error.to_string().contains("there is no key for deepseek; set DEEPSEEK_API_KEY"), "{error}");
    }
    let mut router_only = settings(&[router]);
    router_only.set_provider("openrouter", None, None, None, vec!["deepseek/deepseek-v4-pro".into()]).unwrap();
    let router_only = Catalog::new(router_only);
    assert_eq!(router_only.meant("deepseek v4").await.as_deref(), Ok("openrouter/deepseek/deepseek-v4-pro"));
    let Err(error) = router_only.meant("DeepSeek/deepseek-v4-pro").await else { panic!("DeepSeek is not set up") };
    assert!(matches!(&error, CatalogError::Unknown { near, .. } if near[0].starts_with("openrouter/")), "{error}");
    let mut disabled = settings(&[router, ("DEEPSEEK_API_KEY", "k")]);
    disabled.disabled_providers = vec!["deepseek".into()];
    let Err(error) = Catalog::new(disabled).resolve("deepseek/deepseek-v4-pro").await else { panic!("it is disabled") };
    assert!(error.to_string().contains("disabled_providers"), "{error}");
}

#[tokio::test]
async fn a_described_model_at_a_gateway_has_a_twin_of_the_same_id() {
    let mut settings = settings(&[]);
    settings.set_provider("mine", Some("http://127.0.0.1:9".into()), None, Some("anthropic"), vec![]).unwrap();
    let defined = ["anthropic/claude-opus-4.5", "moonshotai/kimi-k2-thinking"]
        .map(|id| crate::Defined::read(serde_json::json!({ "id": id }).as_object().unwrap().clone()).unwrap());
    settings.provider_mut("mine").unwrap().define(defined.to_vec());
    let catalog = Catalog::new(settings);
    let state = catalog.state();
    let source = state.sources().find(|source| source.provider().name == "mine").unwrap();
    let defined = entry::defined(source.provider());
    let of = |entry: &Entry| (entry.info.id.clone(), entry.info.name.clone(), entry.info.context_tokens);
    let [plain, twin, other] = defined.as_slice() else { panic!("{defined:?}") };
    assert_eq!(of(plain).0, "mine/anthropic/claude-opus-4.5");
    let (id, name, context) = of(twin);
    assert_eq!((id.as_str(), context), ("mine/anthropic/claude-opus-4.5-thinking", of(plain).2));
    assert_eq!(name, format!("{} (thinking)", of(plain).1));
    assert!(!twin.is_called("anthropic/claude-opus-4.5") && plain.is_called("anthropic/claude-opus-4.5"));
    assert_eq!(of(other).0, "mine/moonshotai/kimi-k2-thinking", "it is called so, and always thinks");
}

#[tokio::test]
async fn a_gateways_own_name_for_a_known_model_has_that_models_facts_and_price() {
    let mut settings = settings(&[]);
    settings.set_provider("mine", Some("https://gw.example/v1".into()), None, None, vec!["fast".into()]).unwrap();
    let described = serde_json::json!({ "id": "fast", "equivalent_to": "anthropic/claude-haiku-4-5", "context": 50_000,
        "thinking": "effort", "levels": ["low", "max"], "compat": { "thinking": "reasoning_effort" } });
    let described = crate::Defined::read(described.as_object().unwrap().clone()).unwrap();
    settings.provider_mut("mine").unwrap().define(vec![described]);
    let known = data::find(None, "claude-haiku-4-5").unwrap();
    let free = listed::Listed {
        id: "fast".into(),
        price: Some(protocol::model::Price::default()),
        ..listed::Listed::default()
    };
    let listed = entry::listed(settings.provider_mut("mine").unwrap(), &[free]).remove(0);
    assert_eq!(listed.info.price, known.price(), "the gateway's list says that it costs nothing");
    let info = Catalog::new(settings).resolve("mine/fast").await.unwrap().info().clone();
    assert_eq!((info.price, info.context_tokens), (known.price(), 50_000), "what the user says counts more");
    assert_eq!((info.name, info.max_output_tokens), (known.name.clone(), known.max_output.min(25_000)));
    assert_eq!(info.levels, [ThinkingLevel::Low, ThinkingLevel::Max]);
    for name in ["anthropic/claude-haiku-4-5", "claude-haiku-4.5", "anthropic/claude-haiku-4-5-20251001"] {
        assert!(crate::is_known_model(name), "{name}");
    }
    for name in ["anthropic/claude-nothing", "gpt", "", "/"] {
        assert!(!crate::is_known_model(name), "{name}");
    }
}

#[test]
fn a_listed_price_has_the_known_ones_price_of_long_prompts_and_of_writing_to_the_cache_in_proportion() {
    let settings = settings(&[("GEMINI_API_KEY", "k"), ("DEEPSEEK_API_KEY", "k")]);
    let price = |provider: &str, id: &str, listed: Option<f64>| {
        let provider = settings.providers.iter().find(|known| known.name == provider).unwrap();
        let price = listed.map(|input| protocol::model::Price {
            input,
            output: 20.0,
            cache_read: 0.5,
            cache_write: input,
            cache_write_hour: None,
            long: None,
        });
        let told = listed::Listed { id: id.into(), price, ..listed::Listed::default() };
        entry::listed(provider, &[told]).remove(0).info.price.unwrap()
    };
    let known = price("gemini", "gemini-2.5-pro", None);
    let double = price("gemini", "gemini-2.5-pro", Some(known.input * 2.0));
    let (of_known, of_double) = (known.long.unwrap(), double.long.unwrap());
    assert_eq!((double.output, double.cache_read, of_double.above), (20.0, 0.5, of_known.above));
    assert!((of_double.input - of_known.input * 2.0).abs() < 1e-9);
    let (known, half) = (price("anthropic", "claude-opus-4-8", None), price("anthropic", "claude-opus-4-8", Some(2.5)));
    assert!(
        (known.input, known.cache_write) == (5.0, 6.25) && (half.cache_write - 3.125).abs() < 1e-9,
        "{known:?} {half:?}"
    );
    assert_eq!(price("gemini", "gemini-9-neon", Some(1.0)).long, None, "nothing is known of it");
}

#[tokio::test]
async fn an_address_with_a_password_is_never_told() {
    let mut settings = settings(&[]);
    let address = Some("ftp://user:hunter2@host/v1?key=hunter2".to_owned());
    settings.set_provider("mine", address.clone(), None, Some("openai-chat"), vec!["m".into()]).unwrap();
    settings.set_provider("yours", address, None, Some("openai-chat"), vec![]).unwrap();
    assert!(!format!("{settings:?}").contains("hunter2"));
    let catalog = Catalog::new(settings);
    assert!(!format!("{:?}", catalog.list().await).contains("hunter2"));
    let model = catalog.resolve("mine/m").await.unwrap();
    let Err(error) = model.stream(request(vec![says("hi")])).await else { panic!("it is no address") };
    assert!(error.message.contains("base URL") && !error.message.contains("hunter2"), "{error}");
}

#[tokio::test]
async fn each_name_of_a_chain_is_meant_by_itself_and_one_that_means_nothing_is_named() {
    let catalog = catalog(&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]);
    let exact = catalog.meant(" gpt-5.1:low ,haiku-4-5").await;
    assert_eq!(exact.as_deref(), Ok("gpt-5.1:low, haiku-4-5"), "what is exact stays as it is");
    let Err(error) = catalog.meant("gpt-5.1, no-such-model").await else { panic!("the second is none") };
    assert!(error.to_string().contains("`no-such-model`"), "{error}");
    let Err(error) = catalog.meant("opus:much, gpt-5.1").await else { panic!("the first has no such level") };
    assert!(error.to_string().contains("`opus:much`"), "{error}");
}

#[tokio::test]
async fn an_unknown_name_gets_those_like_it() {
    let Err(error) = catalog(&[]).resolve("sonet-4-6").await else { panic!("no such model") };
    let text = error.to_string();
    assert!(text.contains("`sonet-4-6`") && text.contains("anthropic/claude-sonnet-4-6"), "{text}");
    let Err(error) = catalog(&[]).resolve("zzzzzzzz").await else { panic!("no such model") };
    assert_eq!(error, CatalogError::Unknown { name: "zzzzzzzz".into(), near: vec![] });
}

#[tokio::test]
async fn a_model_of_a_vendor_without_a_key_gets_the_variable_to_set_and_where_a_key_is_made() {
    let Err(error) = catalog(&[]).resolve("together/some-model").await else { panic!("there is no key") };
    let text = error.to_string();
    assert!(text.contains("TOGETHER_API_KEY") && text.contains("https://api.together.ai/settings/api-keys"), "{text}");
}

#[tokio::test]
async fn the_default_is_the_configured_one_else_the_first_that_can_be_used() {
    let first = async |keys: &[(&str, &str)]| catalog(keys).default_model().await.unwrap().info().provider.clone();
    assert_eq!(first(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]).await, "anthropic");
    assert_eq!(first(&[("OPENAI_API_KEY", "k")]).await, "openai");
    let mut configured = settings(&[("ANTHROPIC_API_KEY", "k")]);
    configured.default_model = Some("gpt-5.1".into());
    let catalog = Catalog::new(configured);
    assert_eq!(catalog.default_model().await.unwrap().info().id, "openai/gpt-5.1");
}

#[tokio::test]
async fn a_plan_or_a_shop_that_came_later_is_nobodys_default_where_another_vendor_has_a_key() {
    let newer = ["ZAI_CODING_API_KEY", "ZAI_CODING_CN_API_KEY", "KIMI_API_KEY", "OPENCODE_API_KEY"];
    for (variable, provider) in [
        ("AWS_BEARER_TOKEN_BEDROCK", "bedrock"),
        ("AZURE_OPENAI_API_KEY", "azure"),
        ("DASHSCOPE_API_KEY", "qwen"),
        ("SAMBANOVA_API_KEY", "sambanova"),
    ] {
        let mut keys = newer.map(|newer| (newer, "k")).to_vec();
        keys.extend([(variable, "k"), ("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com")]);
        let settings = settings(&keys);
        let mut with_keys = settings.providers.iter().filter(|provider| provider.missing().is_none());
        let first = with_keys.find(|provider| !provider.is_local).map(|provider| provider.name.as_str());
        assert_eq!(first, Some(provider), "{variable}");
    }
    let both = catalog(&[("OPENCODE_API_KEY", "k"), ("AWS_BEARER_TOKEN_BEDROCK", "k")]);
    assert_eq!(both.default_model().await.unwrap().info().provider, "bedrock");
}

#[test]
fn at_opencode_a_model_costs_what_its_maker_takes_or_nobody_knows() {
    let settings = settings(&[("OPENCODE_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k"), ("DEEPSEEK_API_KEY", "k")]);
    let of = |provider: &str, id: &str| {
        let provider = settings.providers.iter().find(|known| known.name == provider).unwrap();
        let listed = listed::Listed { id: id.to_owned(), ..listed::Listed::default() };
        entry::listed(provider, &[listed]).remove(0).info
    };
    assert!(of("deepseek", "deepseek-v4-pro").price.is_some());
    let shop = of("opencode", "deepseek-v4-pro");
    assert_eq!((shop.price, shop.context_tokens), (None, of("deepseek", "deepseek-v4-pro").context_tokens));
    assert_eq!(of("opencode", "claude-opus-5-5").price, of("anthropic", "claude-opus-5-5").price);
}

#[tokio::test]
async fn the_users_order_of_providers_decides_which_of_them_has_a_name_and_is_the_default() {
    let mut ordered = settings(&[("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k"), ("XAI_API_KEY", "k")]);
    for name in ["one", "two"] {
        let (url, models) = ("https://models.example/v1".to_owned(), vec!["shared".to_owned()]);
        ordered.set_provider(name, Some(url), Some("k".to_owned()), Some("openai-chat"), models).unwrap();
    }
    let answers = async |order: &[&str]| {
        let mut settings = ordered.clone();
        settings.provider_order = order.iter().map(|name| (*name).to_owned()).collect();
        let catalog = Catalog::new(settings);
        let default = catalog.default_model().await.unwrap().info().provider.clone();
        let mut providers: Vec<_> = catalog.list_unasked().await.models.into_iter().map(|it| it.provider).collect();
        providers.dedup();
        (id(&catalog, "shared").await, default, providers)
    };
    let (shared, default, _) = answers(&[]).await;
    assert_eq!((shared.as_str(), default.as_str()), ("one/shared", "anthropic"), "as they are set up");
    let (shared, default, providers) = answers(&["two", "openai"]).await;
    assert_eq!((shared.as_str(), default.as_str()), ("two/shared", "two"));
    assert_eq!(providers[..3], ["two", "openai", "anthropic"], "pickers show them in this order");
}

#[tokio::test]
async fn a_provider_of_the_users_order_has_a_name_in_its_own_spelling_even_if_another_has_it_exactly() {
    let keys = [("ANTHROPIC_API_KEY", "k"), ("OPENROUTER_API_KEY", "k"), ("AWS_ACCESS_KEY_ID", "a")];
    let mut settings = settings(&[&keys[..], &[("AWS_SECRET_ACCESS_KEY", "k"), ("AWS_REGION", "eu-west-1")]].concat());
    let url = "https://models.example/v1";
    let models = ["vendor/claude-haiku-4.5", "vendor/other"].map(str::to_owned).to_vec();
    settings.set_provider("mine", Some(url.into()), Some("k".into()), Some("openai-chat"), models).unwrap();
    let usual = Catalog::new(settings.clone());
    assert_eq!(id(&usual, "claude-haiku-4-5").await, "anthropic/claude-haiku-4-5");
    let order = ["mine", "nobody", "bedrock"].map(str::to_owned);
    assert_eq!(settings.put_first(&order), ["nobody"]);
    assert!(settings.providers.iter().all(|provider| provider.name != "bedrock" || !provider.is_unasked));
    let ordered = Catalog::new(settings);
    assert_eq!(id(&ordered, "claude-haiku-4-5").await, "mine/vendor/claude-haiku-4.5");
    assert_eq!(id(&ordered, "claude-haiku-4-5-thinking").await, "anthropic/claude-haiku-4-5-thinking");
    assert_eq!(id(&ordered, "anthropic/claude-haiku-4-5").await, "anthropic/claude-haiku-4-5");
    assert_eq!(id(&ordered, "claude-opus-5-5").await, "anthropic/claude-opus-5-5", "Bedrock's ids say a region");
}

/// No test here has a program.
struct NoPrograms;

#[async_trait]
impl crate::RunProgram for NoPrograms {
    async fn output(&self, _words: &[String]) -> Result<Vec<u8>, String> {
        Err("there is none".to_owned())
    }

    fn is_users_own(&self, _file: &std::path::Path) -> bool {
        true
    }
}

/// An account at AWS that the user may keep for other work.
fn of_aws(more: &[(&str, &str)], say: impl FnOnce(&mut Settings)) -> Catalog {
    let aws = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "hunter2"), ("AWS_REGION", "eu-west-1")];
    let all = [&aws[..], more].concat();
    let mut settings = settings(&all);
    say(&mut settings);
    let value = |name: &str| all.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    settings.sign_for_aws(&crate::Signers::new(NoPrograms), &value, None);
    Catalog::new(settings)
}

#[tokio::test]
async fn an_account_at_aws_is_used_only_if_the_user_spoke_of_bedrock_or_chooses_one_of_its_models() {
    let catalog = of_aws(&[], |_| {});
    let Err(error) = catalog.default_model().await else { panic!("nobody asked for it") };
    assert_eq!(error, CatalogError::Unasked { vendor: "Amazon Bedrock".into() });
    let models = catalog.list().await;
    let of_bedrock: Vec<_> = models.iter().filter(|model| model.provider == "bedrock").collect();
    assert!(!of_bedrock.is_empty() && of_bedrock.iter().all(|model| model.available));
    for model in of_bedrock {
        assert_eq!(id(&catalog, &model.id).await, model.id);
    }
    let other = of_aws(&[("ANTHROPIC_API_KEY", "k")], |_| {});
    assert_eq!(other.default_model().await.unwrap().info().provider, "anthropic");
    let meant = async |catalog: &Catalog| catalog.meant("opus 4 8").await.unwrap();
    assert_eq!(meant(&other).await, "anthropic/claude-opus-4-8");
    assert_eq!(meant(&catalog).await, "bedrock/global.anthropic.claude-opus-4-8", "no other is called so");
    let with_key = of_aws(&[("AWS_BEARER_TOKEN_BEDROCK", "k")], |_| {});
    let spoken = of_aws(&[], |settings| settings.set_provider("bedrock", None, None, None, vec![]).unwrap());
    for catalog in [with_key, spoken] {
        assert_eq!(catalog.default_model().await.unwrap().info().provider, "bedrock");
    }
}

#[tokio::test]
async fn a_model_at_vertex_has_the_facts_of_its_maker_and_the_price_of_the_location() {
    let at = async |location: &str| {
        let mut settings = settings(&[]);
        settings.set_provider("vertex", None, Some("k".into()), None, Vec::new()).unwrap();
        let vertex = settings.provider_mut("vertex").unwrap();
        vertex.set_google(Some("p".into()), Some(location.into()));
        settings.sign_for_google(&crate::Signers::new(NoPrograms), &|_| None, None);
        Catalog::new(settings).list().await
    };
    let (everywhere, in_europe) = (at("global").await, at("europe-west1").await);
    let of = |models: &[ModelInfo], id: &str| models.iter().find(|model| model.id == id).cloned().unwrap();
    for (id, own, input, dearer) in [
        ("gemini-3.8-flash", "gemini-3.8-flash", 0.75, 0.825),
        ("gemini-3.7-flash", "gemini-3.7-flash", 0.75, 0.825),
        ("gemini-3.1-pro-preview", "gemini-3.1-pro-preview", 2.0, 2.0),
        ("claude-opus-5-5", "claude-opus-5-5", 4.0, 4.4),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5", 1.0, 1.1),
    ] {
        let maker = if id.starts_with("claude") { "anthropic" } else { "gemini" };
        let known = data::find(Some(maker), own).unwrap();
        let id = format!("vertex/{id}");
        let (usual, other) = (of(&everywhere, &id), of(&in_europe, &id));
        assert_eq!((usual.context_tokens, usual.available), (known.context, true), "{id}");
        assert!((usual.price.unwrap().input - input).abs() < 1e-9, "{id}: {:?}", usual.price);
        assert!((other.price.unwrap().input - dearer).abs() < 1e-9, "{id}: {:?}", other.price);
    }
}

#[tokio::test]
async fn a_model_of_bedrock_with_a_region_has_the_facts_of_the_one_without() {
    let catalog = of_aws(&[], |settings| {
        let models =
            ["us.amazon.nova-2-lite-v1:0", "us.meta.llama4-scout-17b-instruct-v1:0", "us.zai.glm-5.3", "us.a.b"];
        let models = [&models[..], &["eu.amazon.nova-pro-v1:0"]].concat().into_iter().map(str::to_owned).collect();
        settings.set_provider("bedrock", None, None, None, models).unwrap();
    });
    let known = async |id: &str| {
        let info = catalog.resolve(&format!("bedrock/{id}")).await.unwrap().info().clone();
        (
            info.context_tokens,
            info.max_output_tokens,
            info.price.map(|price| (price.input * 1e6).round() / 1e6),
            info.levels,
        )
    };
    use protocol::model::ThinkingLevel::{High, Low, Medium, Off};
    let levels = vec![Off, Low, Medium, High];
    assert_eq!(known("us.amazon.nova-2-lite-v1:0").await, (1_000_000, 64_000, Some(0.33), levels));
    assert_eq!(known("us.meta.llama4-scout-17b-instruct-v1:0").await, (10_000_000, 8_192, Some(0.17), vec![]));
    assert_eq!(known("us.zai.glm-5.3").await, (1_000_000, 128_000, Some(1.848), vec![]), "it is known worldwide only");
    assert_eq!(known("eu.amazon.nova-pro-v1:0").await.2, Some(1.05), "a price of its own");
    assert_eq!(known("us.a.b").await.2, None);
}

#[tokio::test]
async fn with_nothing_to_use_the_error_says_what_to_do() {
    let Err(error) = catalog(&[]).default_model().await else { panic!("there is nothing to use") };
    let text = error.to_string();
    for word in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "Ollama", "azimuth demo"] {
        assert!(text.contains(word), "{text}");
    }
}

#[tokio::test]
async fn a_model_without_its_key_is_listed_last_and_says_which_key_to_set() {
    let catalog = catalog(&[("OPENAI_API_KEY", "k")]);
    let models = catalog.list().await;
    let first_unusable = models.iter().position(|model| !model.available).unwrap();
    assert!(models[..first_unusable].iter().all(|model| model.provider == "openai"));
    assert!(models[first_unusable..].iter().all(|model| !model.available));
    let haiku = models.iter().find(|model| model.id == "anthropic/claude-haiku-4-5").unwrap();
    assert!(haiku.unavailable_because.as_ref().unwrap().contains("ANTHROPIC_API_KEY"));
    let model = catalog.resolve("haiku-4-5").await.unwrap();
    let Err(error) = model.stream(request(vec![says("hi")])).await else { panic!("there is no key") };
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("ANTHROPIC_API_KEY"), "{error}");
}

#[tokio::test]
async fn a_provider_that_does_not_list_says_so_and_one_with_named_models_need_not() {
    let mut settings = settings(&[]);
    let address = Some("http://127.0.0.1:9".to_owned());
    settings.set_provider("mine", address.clone(), None, None, vec![]).unwrap();
    settings.set_provider("yours", address, None, None, vec!["org/m".into()]).unwrap();
    let catalog = Catalog::new(settings);
    let models = catalog.list().await;
    let mine = models.iter().find(|model| model.id == "mine").unwrap();
    assert!(mine.unavailable_because.as_ref().unwrap().contains("providers.mine.models"), "{mine:?}");
    assert_eq!(id(&catalog, "yours/org/m").await, "yours/org/m");
    assert_eq!(id(&catalog, "org/m").await, "yours/org/m");
    let Err(error) = catalog.resolve("mine/m").await else { panic!("it is not there") };
    assert!(matches!(error, CatalogError::Unlisted { .. }), "{error}");
}

#[tokio::test]
async fn a_model_on_this_machine_of_which_nobody_tells_sees_if_its_name_says_so() {
    let named = [
        ("llama4:scout", true),
        ("qwen3.5:9b", true),
        ("qwen2.5vl:7b", true),
        ("Qwen3VL", true),
        ("gemma3:12b", true),
        ("gemma3:1b", false),
        ("gemma3n:e4b", false),
        ("google/gemma-3n-e2b", false),
        ("qwen3", false),
        ("phi4vla", false),
    ];
    let mut settings = settings(&[]);
    settings.set_provider("ollama", None, None, None, named.map(|(name, _)| name.to_owned()).to_vec()).unwrap();
    let catalog = Catalog::new(settings);
    for (name, sees) in named {
        assert_eq!(catalog.resolve(name).await.unwrap().info().images, sees, "{name}");
    }
}

#[tokio::test]
async fn a_model_of_google_is_known_to_think_also_behind_the_folders_of_a_gateway() {
    let mut settings = settings(&[]);
    let ids = ["google/gemini-9-neon", "google/gemini-2.0-flash", "gemini/gemma-4-31b-it"];
    let address = Some("http://127.0.0.1:9".to_owned());
    settings.set_provider("mine", address, None, Some("gemini"), ids.map(str::to_owned).to_vec()).unwrap();
    let models = Catalog::new(settings).list().await;
    let thinks = ids.map(|id| models.iter().find(|model| model.id == format!("mine/{id}")).unwrap().thinking);
    assert_eq!(thinks, [true, false, false]);
}

#[tokio::test]
async fn other_settings_count_from_then_on() {
    let catalog = catalog(&[]);
    assert!(!catalog.resolve("gpt-5.1").await.unwrap().info().available);
    catalog.configure(settings(&[("OPENAI_API_KEY", "k")]));
    assert!(catalog.resolve("gpt-5.1").await.unwrap().info().available);
}

struct Fake(ModelInfo);

#[async_trait]
impl Model for Fake {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    async fn stream(&self, _: Request) -> Result<ModelStream, ports::model::ModelError> {
        Ok(Box::pin(futures_util::stream::empty()))
    }
}

async fn fake(id: &str, scripted: bool) -> Arc<dyn Model> {
    let info = catalog(&[("OPENAI_API_KEY", "k")]).resolve("gpt-5.1").await.unwrap().info().clone();
    Arc::new(Fake(ModelInfo { id: id.into(), scripted, ..info }))
}

#[tokio::test]
async fn an_added_model_is_found_but_a_scripted_one_is_never_the_default() {
    let catalog = catalog(&[]);
    catalog.add(fake("scripted/tour", true).await);
    assert_eq!(id(&catalog, "scripted/tour").await, "scripted/tour");
    assert_eq!(id(&catalog, "tour").await, "scripted/tour");
    assert_eq!(catalog.list().await[0].id, "scripted/tour");
    assert!(catalog.default_model().await.is_err());
    catalog.add(fake("test/model", false).await);
    assert_eq!(catalog.default_model().await.unwrap().info().id, "test/model");
}

#[tokio::test]
async fn no_client_is_made_before_somebody_is_asked() {
    let catalog = catalog(&[("ANTHROPIC_API_KEY", "k")]);
    catalog.resolve("haiku-4-5").await.unwrap();
    catalog.default_model().await.unwrap();
    assert!(catalog.state().http.is_unused());
}

#[tokio::test]
async fn a_name_that_no_model_can_have_is_refused_at_once_and_a_key_is_not_told() {
    let began = std::time::Instant::now();
    let Err(error) = catalog(&[]).resolve(&"sonnet ".repeat(150_000)).await else { panic!("no such model") };
    assert!(began.elapsed() < std::time::Duration::from_millis(500), "{:?}", began.elapsed());
    assert!(error.to_string().len() < 400, "{error}");
    let Err(error) = catalog(&[]).resolve("sk-ant-api03-abcdefgh").await else { panic!("no such model") };
    assert!(!error.to_string().contains("abcdefgh"), "{error}");
}

/// Secrets of which one is not known.
struct Unknown;

#[async_trait]
impl Masks for Unknown {
    async fn mask(&self) -> Result<Arc<mask::Mask>, String> {
        Err("a secret is not known".to_owned())
    }
}

#[tokio::test]
async fn every_model_that_is_given_out_hides_secrets() {
    let catalog = catalog(&[]);
    let script =
        r#"{"name": "all", "fills": [{"text": "x"}], "edits": [{"after": "a", "replace": {"old": "a", "new": "b"}}]}"#;
    catalog.add_scripted(Scripted::from_json(script).unwrap());
    catalog.add(fake("test/model", false).await);
    catalog.hide_secrets(Arc::new(Unknown));
    let models =
        [catalog.resolve("test/model").await, catalog.resolve_aside("test/model").await, catalog.default_model().await];
    for model in models {
        let Err(failure) = model.unwrap().stream(request(vec![says("Hello.")])).await else { panic!("it was asked") };
        assert_eq!((failure.kind, failure.message.as_str()), (ModelErrorKind::Rejected, "a secret is not known"));
    }
    let settings = settings(&[]);
    let fills = crate::fill::resolve(&settings, &catalog, "scripted/all").await.unwrap();
    let fill = ports::complete::Fill {
        path: "a".into(),
        language: "rust".into(),
        prefix: String::new(),
        suffix: String::new(),
        extra: Vec::new(),
        max_tokens: 1,
        stops: Vec::new(),
        is_varied: false,
        deadline: std::time::Duration::from_secs(1),
    };
    assert!(fills.fill(fill).await.is_err_and(|failure| failure.message == "a secret is not known"));
    let edits = crate::next_edit::resolve(&settings, &catalog, "scripted/all").await.unwrap();
    let edit = ports::complete::NextEdit {
        path: "a".into(),
        language: "rust".into(),
        excerpt: "a".into(),
        excerpt_line: 0,
        window: 0..1,
        cursor: 1,
        history: Vec::new(),
        related: Vec::new(),
        problems: Vec::new(),
        deadline: std::time::Duration::from_secs(1),
    };
    assert!(edits.edit(edit).await.is_err_and(|failure| failure.message == "a secret is not known"));
}
