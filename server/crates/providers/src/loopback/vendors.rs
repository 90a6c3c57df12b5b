//! Vendors that are known by name, and what the user says of providers, over real HTTP on this machine.

use std::sync::Arc;

use ports::model::Model;

use super::server::{Answer, Server};
use super::{ask, streams};
use crate::{Catalog, Settings};

fn json(body: &str) -> Answer {
    Answer::status(200, body).with_header("content-type", "application/json")
}

/// The settings of an environment, with one server on this machine in Ollama's stead.
fn with_ollama(server: &Server, keys: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::from_env(|name| {
        let key = keys.iter().find(|(variable, _)| *variable == name).map(|(_, key)| (*key).to_owned());
        key.or_else(|| (name == "OLLAMA_HOST").then(|| server.url()))
    });
    settings.providers.retain(|provider| !provider.is_local || provider.name == "ollama");
    settings
}

async fn default_of(settings: Settings) -> Arc<dyn Model> {
    Catalog::new(settings).default_model().await.unwrap()
}

#[tokio::test]
async fn a_key_for_a_vendor_that_was_not_known_before_changes_no_default_but_is_better_than_nothing() {
    let list = r#"{"models":[{"name":"qwen3:8b","capabilities":["completion"]}]}"#;
    let server = Server::start(vec![json(list), json(list), Answer::stream(&streams::chat())]).await;
    let late = [("MINIMAX_API_KEY", "k")];
    assert_eq!(default_of(with_ollama(&server, &late)).await.info().id, "ollama/qwen3:8b");
    let early = [("MINIMAX_API_KEY", "k"), ("OPENAI_API_KEY", "k")];
    assert_eq!(default_of(with_ollama(&server, &early)).await.info().provider, "openai");

    let mut alone = with_ollama(&server, &late);
    alone.providers.retain(|provider| !provider.is_local);
    assert_eq!(default_of(alone).await.info().id, "minimax/MiniMax-M3");

    let mut configured = with_ollama(&server, &late);
    configured.set_provider("minimax", None, None, None, vec![]).unwrap();
    assert_eq!(default_of(configured).await.info().id, "minimax/MiniMax-M3", "the user spoke of it");
    let model = default_of(with_ollama(&server, &late)).await;
    ask(&*model).await.1.unwrap();
}
