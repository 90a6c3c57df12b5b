//! The lists of models that providers give, and what stands in for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::server::{Answer, Server};
use super::{ask, streams};
use crate::aws::RunProgram;
use crate::signers::Signers;
use crate::{Catalog, KeepLists, OfKey, Settings};

/// Keeps lists as long as the test runs.
#[derive(Default)]
struct Kept(Mutex<HashMap<String, String>>);

impl KeepLists for Kept {
    fn kept(&self, name: &str) -> Option<String> {
        self.0.lock().unwrap().get(name).cloned()
    }

    fn keep(&self, name: &str, text: &str) {
        self.0.lock().unwrap().insert(name.to_owned(), text.to_owned());
    }
}

/// The name under which the list of `mine` is kept.
const LIST: &str = "models_of mine";

/// The settings with only the provider `mine`, at this server.
fn settings(server: &Server) -> Settings {
    let mut settings = Settings::from_env(|_| None);
    settings.providers.clear();
    settings.set_provider("mine", Some(server.url()), Some("k".into()), None, Vec::new()).unwrap();
    settings
}

/// The catalog of a process with these settings.
fn of(settings: Settings, kept: &Arc<Kept>) -> Catalog {
    Catalog::new(settings).with_lists_kept(Arc::clone(kept) as Arc<dyn KeepLists>)
}

/// The catalog of a process that has only the provider `mine`, at this server.
fn process(server: &Server, kept: &Arc<Kept>) -> Catalog {
    of(settings(server), kept)
}

async fn ids(catalog: &Catalog) -> Vec<String> {
    catalog.list().await.into_iter().map(|model| model.id).collect()
}

#[tokio::test]
async fn a_list_that_a_provider_gave_stands_in_when_it_gives_none() {
    let kept = Arc::new(Kept::default());
    let list = r#"{"data":[{"id":"one","context_length":64000}]}"#;
    let server = Server::start(vec![Answer::status(200, list), Answer::status(500, "down"), Answer::never()]).await;
    assert_eq!(ids(&process(&server, &kept)).await, ["mine/one"]);

    let next = process(&server, &kept);
    let info = next.resolve("mine/one").await.unwrap().info().clone();
    assert_eq!((info.context_tokens, server.asked().len()), (64_000, 1), "a model of the last list is known at once");
    let listed = next.list_all().await;
    assert_eq!((listed.models.len(), listed.models[0].id.as_str()), (1, "mine/one"));
    assert!(listed.notes[0].contains("status 500") && listed.notes[0].contains("Its list of 20"), "{:?}", listed.notes);

    let (hanging, start) = (process(&server, &kept), Instant::now());
    let listed = hanging.list_soon().await;
    assert_eq!((listed.models[0].id.as_str(), listed.notes.len()), ("mine/one", 1));
    assert!(start.elapsed() < Duration::from_secs(3), "nobody waits for the end of its patience");

    let other = Server::start(vec![Answer::status(500, "down")]).await;
    let moved = process(&other, &kept).list_all().await;
    assert!(!moved.models[0].available, "the list of another server is none: {moved:?}");
    kept.keep(LIST, "no list");
    let damaged = process(&other, &kept).resolve("mine/one").await.map(|model| model.info().id.clone());
    assert!(damaged.unwrap_err().to_string().contains("does not list its models"));
}

#[tokio::test]
async fn a_provider_whose_own_list_is_not_to_be_had_is_the_default_only_where_there_is_no_other() {
    let kept = Arc::new(Kept::default());
    let list = |id: &str| Answer::status(200, &format!(r#"{{"data":[{{"id":"{id}"}}]}}"#));
    let refused = |status| Answer::status(status, "not today");
    let server = Server::start(vec![list("one"), refused(401), refused(500), refused(403)]).await;
    assert_eq!(ids(&process(&server, &kept)).await, ["mine/one"]);

    let other = Server::start(vec![list("two")]).await;
    let mut settings = settings(&server);
    settings.set_provider("yours", Some(other.url()), Some("k".into()), None, Vec::new()).unwrap();
    let both = of(settings, &kept);
    assert_eq!(both.default_model().await.unwrap().info().id, "yours/two");
    let models = both.list().await;
    let refused = models.iter().find(|model| model.id == "mine/one").unwrap();
    let because = refused.unavailable_because.as_deref().unwrap();
    assert!(!refused.available && because.contains("status 401") && because.contains("Check "), "{because}");

    assert_eq!(process(&server, &kept).default_model().await.unwrap().info().id, "mine/one", "of its last list");
    let Err(error) = process(&server, &kept).default_model().await else { panic!("the key is refused") };
    assert!(error.to_string().contains("status 403"), "{error}");
}

#[tokio::test]
async fn an_old_list_is_renewed_behind_its_answer_and_one_of_last_month_or_another_key_is_none() {
    let kept = Arc::new(Kept::default());
    let list = || Answer::status(200, r#"{"data":[{"id":"one"}]}"#);
    let server = Server::start(vec![list(), list(), Answer::status(500, "down"), Answer::status(500, "down")]).await;
    assert_eq!(ids(&process(&server, &kept)).await, ["mine/one"]);
    let age = |seconds: u64| {
        let mut list: serde_json::Value = serde_json::from_str(&kept.kept(LIST).unwrap()).unwrap();
        list["at"] = (list["at"].as_u64().unwrap() - seconds).into();
        kept.keep(LIST, &list.to_string());
    };
    age(3_600);
    let catalog = process(&server, &kept);
    let mut changed = catalog.watch();
    assert_eq!(catalog.resolve("mine/one").await.unwrap().info().id, "mine/one");
    tokio::time::timeout(Duration::from_secs(10), changed.changed()).await.unwrap().unwrap();
    catalog.resolve("mine/one").await.unwrap();
    assert_eq!(server.asked().len(), 2, "a list that came just now is not asked for again");

    assert!(!kept.kept(LIST).unwrap().contains("\"k\""), "the key is not kept");
    let mut settings = settings(&server);
    settings.set_provider("mine", None, Some("another".into()), None, Vec::new()).unwrap();
    let of_another = of(settings, &kept);
    assert!(of_another.resolve("mine/one").await.is_err(), "the list of another key is none");
    age(31 * 86_400);
    assert!(process(&server, &kept).resolve("mine/one").await.is_err(), "it is too old");
}

/// The settings with only Bedrock, at this server in its stead, whose requests are signed for a region.
fn of_bedrock(server: &Server, region: &str) -> Settings {
    let mut settings = Settings::from_env(|_| None);
    settings.providers.clear();
    settings.set_provider("bedrock", Some(server.url()), None, None, Vec::new()).unwrap();
    settings.provider_mut("bedrock").unwrap().set_aws(None, Some(region.to_owned()));
    let keys = |name: &str| match name {
        "AWS_ACCESS_KEY_ID" => Some("A".to_owned()),
        "AWS_SECRET_ACCESS_KEY" => Some("b".to_owned()),
        _ => None,
    };
    settings.sign_for_aws(&Signers::new(NoPrograms), &keys, None);
    settings
}

/// No test here has a program.
struct NoPrograms;

#[async_trait]
impl RunProgram for NoPrograms {
    async fn output(&self, _words: &[String]) -> Result<Vec<u8>, String> {
        Err("there is none".to_owned())
    }

    fn is_users_own(&self, _file: &std::path::Path) -> bool {
        true
    }
}

#[tokio::test]
async fn a_list_of_bedrock_is_that_of_a_region_and_ends_with_a_page_that_brings_nothing_new() {
    let kept = Arc::new(Kept::default());
    let list = r#"{"modelSummaries":[{"modelId":"a.new-v1:0","inputModalities":["TEXT"],"outputModalities":["TEXT"],
        "inferenceTypesSupported":["ON_DEMAND"]}],"inferenceProfileSummaries":[{"inferenceProfileId":"eu.a.new-v1:0",
        "status":"ACTIVE","models":[{"modelArn":"arn:aws:bedrock:eu-west-1::foundation-model/a.new-v1:0"}]}],
        "nextToken":"more"}"#;
    let down = || Answer::status(500, "down");
    let pages = (0..4).map(|_| Answer::status(200, list));
    let server = Server::start(pages.chain((0..8).map(|_| down())).collect()).await;
    let ids = ids(&of(of_bedrock(&server, "eu-west-1"), &kept)).await;
    let new: Vec<_> = ids.iter().filter(|id| id.ends_with("new-v1:0")).map(String::as_str).collect();
    assert_eq!(new, ["bedrock/a.new-v1:0", "bedrock/eu.a.new-v1:0"]);
    assert_eq!(server.asked().len(), 4, "two pages of each list");

    let has_new = async |region: &str| {
        let models = of(of_bedrock(&server, region), &kept).list().await;
        models.iter().any(|model| model.id == "bedrock/a.new-v1:0")
    };
    assert!(has_new("eu-west-1").await, "its last list counts");
    assert!(!has_new("us-east-1").await, "another region has another list");
}

#[tokio::test]
async fn a_server_that_lists_bedrocks_models_to_anybody_says_nothing_of_a_key() {
    let list = r#"{"modelSummaries":[{"modelId":"a.new-v1:0","inputModalities":["TEXT"],"outputModalities":["TEXT"],
        "inferenceTypesSupported":["ON_DEMAND"]}],"inferenceProfileSummaries":[]}"#;
    for (without_key, of_key) in [(Answer::status(200, list), OfKey::Public), (Answer::status(403, "{}"), OfKey::Taken)]
    {
        let server = Server::start(vec![Answer::status(200, list), Answer::status(200, list), without_key]).await;
        let mut settings = Settings::from_env(|_| None);
        settings.set_provider("bedrock", Some(server.url()), Some("k".into()), None, Vec::new()).unwrap();
        assert_eq!(Catalog::new(settings).ask_about_key("bedrock").await, Ok(of_key));
    }
}

#[tokio::test]
async fn a_local_server_is_found_by_itself_and_is_the_default_where_there_is_no_key() {
    let list = r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"nomic-embed-text"}]}"#;
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    let unknown = || Answer::status(404, "404 page not found");
    let server = Server::start(vec![json(list), unknown(), unknown(), Answer::stream(&streams::chat())]).await;
    let mut settings = Settings::from_env(|name| (name == "OLLAMA_HOST").then(|| server.url()));
    settings.providers.retain(|provider| matches!(provider.name.as_str(), "ollama" | "anthropic"));
    let catalog = Catalog::new(settings);
    let models = catalog.list().await;
    assert_eq!((models[0].id.as_str(), models[0].available), ("ollama/qwen3:8b", true));
    assert!(models.iter().all(|model| model.provider == "anthropic" || model.id == "ollama/qwen3:8b"));
    assert_eq!(models[0].price, Some(protocol::model::Price::default()), "it is free");
    let model = catalog.default_model().await.unwrap();
    assert_eq!(model.info().id, "ollama/qwen3:8b");
    assert_eq!(catalog.resolve("qwen3:8b").await.unwrap().info().id, "ollama/qwen3:8b");
    ask(&*model).await.1.unwrap();
    let asked = server.asked();
    let mut paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
    // The two places that say more are asked at once.
    paths[1..3].sort_unstable();
    assert_eq!(paths, ["/api/tags", "/api/ps", "/api/show", "/v1/chat/completions"], "the list is asked for once");
}

#[tokio::test]
async fn whether_a_model_of_ollama_sees_is_what_ollama_says_and_an_old_one_is_known_by_its_name() {
    let own = r#"{"models":[{"name":"llama4:scout","capabilities":["completion","vision"]},
        {"name":"gemma3:1b","capabilities":["completion"]}]}"#;
    let old = r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"gemma3:12b"}]}"#;
    // From before 0.6.4, as its `api/types.go` then had it.
    let silent = r#"{"models":[{"name":"qwen3:8b","model":"qwen3:8b","modified_at":"2025-01-01T00:00:00Z","size":1,
        "digest":"0","details":{"format":"gguf","family":"qwen3","families":["qwen3"]}},
        {"name":"gemma3:12b","model":"gemma3:12b"}]}"#;
    let by_name = [("ollama/qwen3:8b", false), ("ollama/gemma3:12b", true)];
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    for (answers, sees) in [
        (vec![json(own)], [("ollama/llama4:scout", true), ("ollama/gemma3:1b", false)]),
        (vec![json(silent)], by_name),
        (vec![Answer::status(404, ""), json(old)], by_name),
    ] {
        let server = Server::start(answers).await;
        let mut settings = Settings::from_env(|name| (name == "OLLAMA_HOST").then(|| server.url() + "/v1"));
        settings.providers.retain(|provider| provider.name == "ollama");
        let models = Catalog::new(settings).list().await;
        let seen: Vec<_> = models.iter().map(|model| (model.id.as_str(), model.images)).collect();
        assert_eq!(seen, sees, "{:?}", server.asked());
    }
}

#[tokio::test]
async fn whether_a_model_of_lm_studio_sees_is_what_its_own_list_says_and_its_name_where_that_does_not_come() {
    let list = r#"{"object":"list","data":[{"id":"a/finetune","object":"model"},{"id":"b/gemma-3-12b-text-only"},
        {"id":"c/qwen3-vl"}]}"#;
    let new = r#"{"models":[{"type":"llm","key":"a/finetune","max_context_length":131072,
        "loaded_instances":[{"id":"a/finetune","config":{"context_length":8192}}],
        "capabilities":{"vision":true,"trained_for_tool_use":true}},
        {"type":"llm","key":"b/gemma-3-12b-text-only","max_context_length":32000,"loaded_instances":[],
        "capabilities":{"vision":false,"trained_for_tool_use":false}},
        {"type":"llm","key":"d/not-offered","max_context_length":4096},{"type":"embedding","key":"nomic-embed"}]}"#;
    let old = r#"{"object":"list","data":[{"id":"a/finetune","type":"vlm","max_context_length":131072,
        "loaded_context_length":8192},{"id":"b/gemma-3-12b-text-only","type":"llm","max_context_length":32000}]}"#;
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    // Of a place that it does not know it says so with the status 200.
    let unknown = || json(r#"{"error":"Unexpected endpoint or method. (GET /api/v1/models)"}"#);
    let names = ["lm-studio/a/finetune", "lm-studio/b/gemma-3-12b-text-only", "lm-studio/c/qwen3-vl"];
    for (answers, known) in [
        (vec![json(list), json(new)], [(8192, true), (32_000, false), (32_768, true)]),
        (vec![json(list), unknown(), json(old)], [(8192, true), (32_000, false), (32_768, true)]),
        (vec![json(list), unknown(), unknown()], [(32_768, false), (32_768, true), (32_768, true)]),
        (vec![json(list), Answer::status(200, "").then_silent()], [(32_768, false), (32_768, true), (32_768, true)]),
    ] {
        let server = Server::start(answers).await;
        let mut settings = Settings::from_env(|_| None);
        settings.providers.retain(|provider| provider.name == "lm-studio");
        settings.providers[0].base_url = server.url() + "/v1";
        let models = Catalog::new(settings).list().await;
        let told: Vec<_> = models.iter().map(|it| (it.id.as_str(), (it.context_tokens, it.images))).collect();
        let expected: Vec<_> = names.into_iter().zip(known).collect();
        assert_eq!(told, expected, "{:?}", server.asked());
    }
}

#[tokio::test]
async fn a_gateway_of_the_users_own_is_asked_for_its_models_over_every_wire() {
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    let first = r#"{"data":[{"type":"model","id":"claude-opus-4-8","display_name":"Claude Opus 4.8"},
        {"type":"model","id":"claude-9-quartz","display_name":"Claude Quartz 9","max_input_tokens":2000000,
        "max_tokens":200000,"capabilities":{"image_input":{"supported":false},"thinking":{"supported":true,"types":{
        "adaptive":{"supported":true},"disabled":{"supported":true},"enabled":{"supported":false}}},"effort":{
        "supported":true,"low":{"supported":true},"medium":{"supported":true},"high":{"supported":true},
        "xhigh":null,"max":{"supported":true}}}}],"has_more":true,"last_id":"claude-9-quartz"}"#;
    let second = r#"{"data":[{"type":"model","id":"claude-1","lifecycle":"retired","display_name":"Claude 1"},
        {"type":"model","id":"team/small"}],"has_more":false,"last_id":"team/small"}"#;
    let server = Server::start(vec![json(first), json(second), Answer::stream(&streams::anthropic())]).await;
    let at = |server: &Server, wire: &str| {
        let mut settings = Settings::from_env(|_| None);
        settings.providers.clear();
        settings.set_provider("gw", Some(server.url()), Some("k".into()), Some(wire), Vec::new()).unwrap();
        Catalog::new(settings)
    };
    let catalog = at(&server, "anthropic");
    assert_eq!(ids(&catalog).await, ["gw/claude-opus-4-8", "gw/claude-9-quartz", "gw/team/small"]);
    let quartz = catalog.resolve("gw/claude-9-quartz").await.unwrap();
    let info = quartz.info();
    assert_eq!(
        (info.name.as_str(), info.context_tokens, info.max_output_tokens),
        ("Claude Quartz 9", 2_000_000, 200_000)
    );
    let levels: Vec<_> = info.levels.iter().map(|level| level.name()).collect();
    assert_eq!((info.images, levels), (false, vec!["off", "low", "medium", "high", "max"]));
    ask(&*quartz).await.1.unwrap();
    let asked = server.asked();
    let paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(paths, ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=claude-9-quartz", "/v1/messages"]);
    assert_eq!(
        (&asked[0].headers["x-api-key"], &asked[0].headers["anthropic-version"]),
        (&"k".parse().unwrap(), &"2023-06-01".parse().unwrap())
    );

    let server = Server::start(vec![json(r#"{"object":"list","data":[{"id":"team-gpt"}]}"#)]).await;
    let catalog = at(&server, "openai-responses");
    assert_eq!(catalog.default_model().await.unwrap().info().id, "gw/team-gpt");
    assert_eq!(server.asked()[0].headers["authorization"], "Bearer k");

    let silent = Server::start(vec![Answer::status(404, "no such page")]).await;
    let listed = at(&silent, "anthropic").list_all().await;
    assert!(listed.notes[0].contains("gw at") && listed.notes[0].contains("Name them in"), "{:?}", listed.notes);
    assert!(listed.models.iter().any(|model| model.id == "gw/claude-opus-5-5"), "it most likely has its maker's");
}
