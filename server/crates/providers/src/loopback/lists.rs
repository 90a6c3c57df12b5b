//! The lists of models that providers give, and what stands in for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::server::{Answer, Server};
use super::{ask, streams};
use crate::{Catalog, KeepLists, Settings};

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

#[tokio::test]
async fn a_local_server_is_found_by_itself_and_is_the_default_where_there_is_no_key() {
    let list = r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"nomic-embed-text"}]}"#;
    let json = |body: &str| Answer::status(200, body).with_header("content-type", "application/json");
    let server = Server::start(vec![json(list), Answer::stream(&streams::chat())]).await;
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
    assert_eq!(asked.len(), 2, "the list is asked for once: {asked:?}");
    assert_eq!((asked[0].path.as_str(), asked[1].path.as_str()), ("/api/tags", "/v1/chat/completions"));
}
