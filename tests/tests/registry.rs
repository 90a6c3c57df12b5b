//! The models that are known, listed and allowed: through the real server, with providers that take their time.

use harness::{Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::model::ModelListResult;
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A provider that lists its models when the test lets it.
struct Slow(TcpListener);

impl Slow {
    async fn start() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").await.unwrap())
    }

    fn setup(&self) -> Setup {
        let setup = Setup::empty();
        let address = self.0.local_addr().unwrap();
        setup.configure(&format!(
            "shell_rc = false\n[providers.slow]\nbase_url = \"http://{address}/v1\"\nkey = \"k\"\n"
        ));
        setup
    }

    /// A request for the list that waits for its answer.
    async fn asked(&self) -> TcpStream {
        let (mut stream, _) = self.0.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        assert!(head.starts_with("GET /v1/models "), "{head}");
        stream
    }

    async fn answer(mut stream: TcpStream, id: &str) {
        let body = json!({ "data": [{ "id": id, "context_length": 64_000 }] }).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }
}

fn ids(listed: &ModelListResult, provider: &str) -> Vec<String> {
    let of_provider = listed.models.iter().filter(|model| model.provider == provider);
    of_provider.map(|model| model.id.clone()).collect()
}

#[tokio::test]
async fn a_provider_that_takes_its_time_delays_nobody_and_its_last_list_is_known_at_the_next_start() {
    let provider = Slow::start().await;
    let (setup, project) = (provider.setup(), Project::new([("a.txt", "one\n")]));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let answered = async || Slow::answer(provider.asked().await, "one").await;
    let (mut listed, ()) = tokio::join!(client.call::<methods::ModelList>(json!({})), answered());
    // On a busy machine the answer may come after the patience of the list has ended.
    if ids(&listed, "slow") != ["slow/one"] {
        client.notification::<Value>("azimuth/model/changed").await;
        listed = client.call::<methods::ModelList>(json!({})).await;
    }
    assert_eq!((ids(&listed, "slow"), listed.notes), (vec!["slow/one".to_owned()], vec![]));
    assert_eq!(client.finish().await, 0);

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (listed, held) = tokio::join!(client.call::<methods::ModelList>(json!({})), provider.asked());
    assert_eq!(ids(&listed, "slow"), ["slow/one"], "the list is answered while the provider is not");
    assert!(listed.notes[0].contains("slow has not answered yet"), "{:?}", listed.notes);
    let chosen = client.call::<methods::ModelSelect>(json!({ "model": "slow/one" })).await;
    assert_eq!(chosen.model.context_tokens, 64_000, "what it said of its model is known too");
    Slow::answer(held, "two").await;
    client.notification::<Value>("azimuth/model/changed").await;
    let listed = client.call::<methods::ModelList>(json!({})).await;
    assert_eq!((ids(&listed, "slow"), listed.notes), (vec!["slow/two".to_owned()], vec![]));
    assert_eq!(listed.recent, ["slow/one"]);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_is_ruled_out_cannot_be_chosen_and_a_name_need_not_be_exact() {
    let model = ModelServer::start([]).await;
    let setup = Setup::empty();
    let url = model.url(Wire::Chat);
    setup.configure(&format!(
        "enabled_models = [\"mine/*\"]\nshell_rc = false\n[providers.mine]\nbase_url = \"{url}\"\nkey = \"k\"\n\
         models = [\"glm-5.2\", \"glm-5.2-flash\", \"big\"]\n[providers.other]\nbase_url = \"{url}\"\nkey = \"k\"\n\
         models = [\"glm-4\"]\n"
    ));
    let project = Project::new([(".azimuth/config.toml", "enabled_models = [\"glm*\"]\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let listed = client.call::<methods::ModelList>(json!({})).await;
    let allowed: Vec<_> =
        listed.models.iter().filter(|model| !model.ruled_out).map(|model| model.id.as_str()).collect();
    assert_eq!(allowed, ["mine/glm-5.2", "mine/glm-5.2-flash"], "both lists of patterns count");
    let refused =
        async |name: &str| client.request("azimuth/model/select", json!({ "model": name })).await.unwrap_err().message;
    for name in ["mine/big", "other/glm-4", "glm-4"] {
        let error = refused(name).await;
        assert!(error.contains("cannot be chosen: no pattern of the setting enabled_models fits it"), "{error}");
    }
    let chosen = client.call::<methods::ModelSelect>(json!({ "model": "GLM flash" })).await;
    assert_eq!(chosen.model.id, "mine/glm-5.2-flash");
    let error = refused("glm").await;
    assert!(error.contains("several models are called like `glm`: mine/glm-5.2, mine/glm-5.2-flash"), "{error}");
    let error = refused("glmm flash").await;
    assert!(error.contains("there is no model `glmm flash`"), "a misspelled name is not corrected: {error}");
    let elsewhere = Project::new([(".azimuth/config.toml", "enabled_models = [\"big\"]\n")]);
    let new = json!({ "folders": [elsewhere.uri("")] });
    let session = client.call::<methods::SessionNew>(new).await.session.session_id;
    client.prompt(&session, "Go.").await;
    let events = client.until_end(&session, StopReason::Error).await;
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    assert!(error.contains("mine/glm-5.2-flash cannot be chosen"), "a session keeps to its own folder's file: {error}");
    assert_eq!(client.finish().await, 0);
}
