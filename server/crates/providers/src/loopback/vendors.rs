//! Vendors that are known by name, and what the user says of providers, over real HTTP on this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use ports::model::{Message, Model, ModelErrorKind, UserBlock};
use serde_json::{Value, json as value};

use super::server::{Answer, Server};
use super::{SIGNATURE, Vendor, ask, request, streams};
use crate::{
    Account, Catalog, Defined, KeptAccount, KeyCommands, KeyProblem, NamedKey, Provider, RunCommand, Secret, Settings,
    Unlisted,
};

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
    // Ollama is also asked for the models that are loaded, and for the details of each.
    let list = || [json(list), Answer::status(404, ""), Answer::status(404, "")];
    let answers = [list(), list()].into_iter().flatten().chain([Answer::stream(&streams::chat())]);
    let server = Server::start(answers.collect()).await;
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

/// A provider `mine` at a server, of which more is said.
fn mine(server: &Server, key: Option<&str>, say: impl FnOnce(&mut Provider)) -> Catalog {
    let mut settings = Settings::from_env(|_| None);
    settings.providers.clear();
    settings.set_provider("mine", Some(server.url() + "/v1"), key.map(Into::into), None, vec!["m".into()]).unwrap();
    say(settings.provider_mut("mine").unwrap());
    Catalog::new(settings)
}

fn defined(fields: Value) -> Defined {
    Defined::read(fields.as_object().unwrap().clone()).unwrap()
}

#[tokio::test]
async fn headers_of_the_users_own_go_with_every_request_and_count_more_than_ours() {
    let server = Server::start(vec![Answer::stream(&streams::chat())]).await;
    let catalog = mine(&server, Some("sk-1"), |provider| {
        provider.set_header("X-Tenant", "t-1").unwrap();
        provider.set_header("Authorization", "Basic abc").unwrap();
    });
    ask(&*catalog.resolve("mine/m").await.unwrap()).await.1.unwrap();
    let asked = server.asked().remove(0);
    let header = |name: &str| asked.headers.get_all(name).iter().map(|it| it.to_str().unwrap()).collect::<Vec<_>>();
    assert_eq!((header("x-tenant"), header("authorization")), (vec!["t-1"], vec!["Basic abc"]));
}

#[tokio::test]
async fn a_key_in_a_header_of_the_users_own_is_taken_out_of_what_a_vendor_says() {
    let refused = Answer::status(401, r#"{"error":{"message":"the token very-secret-token is unknown"}}"#);
    let server = Server::start(vec![refused]).await;
    let catalog = mine(&server, None, |provider| {
        provider.set_header("Authorization", "Bearer very-secret-token").unwrap();
    });
    let failure = ask(&*catalog.resolve("mine/m").await.unwrap()).await.1.unwrap_err();
    assert!(failure.message.contains("the token [key] is unknown"), "{}", failure.message);
}

#[tokio::test]
async fn fields_of_the_users_own_go_with_every_request_and_ours_stay() {
    let server = Server::start(vec![Answer::stream(&streams::chat())]).await;
    let catalog = mine(&server, None, |provider| {
        let fields = value!({ "service_tier": "flex", "model": "other", "provider": { "order": ["a"] } });
        provider.set_extra_body(fields.as_object().unwrap().clone());
    });
    ask(&*catalog.resolve("mine/m").await.unwrap()).await.1.unwrap();
    let body: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    assert_eq!((&body["service_tier"], &body["model"]), (&value!("flex"), &value!("m")));
    assert_eq!(body["provider"]["order"][0], "a");
    let names: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names.last(), Some(&"messages"), "the conversation stays last: {names:?}");
    assert_eq!(names.iter().filter(|name| **name == "model").count(), 1, "{names:?}");
}

#[tokio::test]
async fn fields_of_the_users_own_go_into_an_object_that_we_send_and_count_nothing_against_ours() {
    let server = Server::start(vec![Answer::stream(&streams::chat())]).await;
    let catalog = mine(&server, None, |provider| {
        let fields = value!({ "stream_options": { "include_usage": false, "deep": { "a": [1] } }, "user": "me" });
        provider.set_extra_body(fields.as_object().unwrap().clone());
    });
    ask(&*catalog.resolve("mine/m").await.unwrap()).await.1.unwrap();
    let body: Value = serde_json::from_str(&server.asked()[0].body).unwrap();
    assert_eq!(body["stream_options"], value!({ "include_usage": true, "deep": { "a": [1] } }));
    assert_eq!(body["user"], "me");
}

/// A command that prints another key each time.
struct Counting(Arc<AtomicUsize>);

#[async_trait]
impl RunCommand for Counting {
    async fn first_line(&self, words: &[String]) -> Result<String, String> {
        match words {
            [word] if word == "locked" => Err("the vault is locked".into()),
            _ => Ok(format!(" sk-{} ", self.0.fetch_add(1, Ordering::SeqCst) + 1)),
        }
    }
}

#[tokio::test]
async fn a_commands_key_is_kept_until_it_is_refused_and_then_asked_for_once_more() {
    let refused = || Answer::status(401, r#"{"error":{"message":"sk-1 has expired"}}"#);
    let whole = || Answer::stream(&streams::chat());
    let server = Server::start(vec![whole(), whole(), refused(), whole(), refused(), refused()]).await;
    let ran = Arc::new(AtomicUsize::new(0));
    let commands = KeyCommands::new(Counting(Arc::clone(&ran)));
    let catalog = mine(&server, None, |provider| provider.set_key_command(commands.command(vec!["vault".into()])));
    let model = catalog.resolve("mine/m").await.unwrap();
    assert_eq!(ran.load(Ordering::SeqCst), 0, "nothing is run before a key is needed");
    for _ in 0..3 {
        ask(&*model).await.1.unwrap();
    }
    let keys = || {
        server
            .asked()
            .iter()
            .map(|asked| asked.headers["authorization"].to_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(), ["Bearer sk-1", "Bearer sk-1", "Bearer sk-1", "Bearer sk-2"]);

    // A key that is refused again is told, and not asked for without end.
    let Err(error) = model.stream(request()).await else { panic!("it is refused") };
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("providers.mine.key_command"), "{error}");
    assert_eq!(keys().len(), 6);
}

/// An account whose token is another each time it was refused.
struct Renewing(AtomicUsize);

#[async_trait]
impl Account for Renewing {
    fn is_there(&self) -> bool {
        true
    }

    async fn key(&self, _: Option<&str>) -> Result<Option<Secret>, KeyProblem> {
        Ok(Some(Secret::new(&format!("token-{}", self.0.load(Ordering::SeqCst)))))
    }

    async fn refused(&self, _: Option<&str>, _: &Secret) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn a_token_is_renewed_if_it_is_refused_and_not_for_want_of_rights() {
    let ended = Answer::status(401, r#"{"error":{"message":"it has expired"}}"#);
    let forbidden = Answer::status(403, r#"{"error":{"message":"this plan does not have the model"}}"#);
    let server = Server::start(vec![ended, Answer::stream(&streams::chat()), forbidden]).await;
    let catalog = mine(&server, None, |provider| provider.set_account(Arc::new(Renewing(AtomicUsize::new(1)))));
    let model = catalog.resolve("mine/m").await.unwrap();
    ask(&*model).await.1.unwrap();
    let Err(error) = model.stream(request()).await else { panic!("it is refused") };
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("this plan does not have the model"), "{error}");
    let tokens: Vec<_> = server.asked().iter().map(|asked| asked.headers["authorization"].clone()).collect();
    assert_eq!(tokens, ["Bearer token-1", "Bearer token-2", "Bearer token-2"]);
}

#[tokio::test]
async fn another_key_goes_on_without_the_thinking_of_the_one_before() {
    let thinks = || Answer::stream(&streams::anthropic_thinking(SIGNATURE));
    let limited = Answer::status(429, r#"{"error":{"message":"too much for sk-one-secret"}}"#);
    let limited = limited.with_header("retry-after", "600");
    let server = Server::start(vec![thinks(), thinks(), limited, thinks()]).await;
    let mut settings = Vendor::Anthropic.settings(&server);
    let key = |variable: &str, key: &str| NamedKey::Key { variable: variable.into(), key: Some(Secret::new(key)) };
    let keys = vec![key("ONE", "sk-one-secret"), key("TWO", "sk-two-secret")];
    settings.provider_mut("anthropic").unwrap().set_keys(keys);
    let model = Catalog::new(settings).default_model().await.unwrap();
    let answer = ask(&*model).await.1.unwrap();
    let mut next = request();
    next.messages.push(Arc::new(Message::Assistant(answer.content)));
    next.messages.push(Arc::new(Message::User(vec![UserBlock::Text("And now?".into())])));
    drop(model.stream(next.clone()).await.unwrap());
    let Err(failure) = model.stream(next.clone()).await else { panic!("it has reached its limit") };
    assert!(failure.message.contains("[key]") && !failure.message.contains("secret"), "{failure}");
    let other = model.account("abc", Some(&failure), &[]).await.unwrap();
    assert_eq!((other.switch.name.as_str(), other.switch.instead_of.as_str()), ("TWO", "ONE"));
    drop(model.stream(next).await.unwrap());
    let asked = server.asked();
    let sent: Vec<_> =
        asked.iter().map(|asked| (&asked.headers["x-api-key"], asked.body.contains(SIGNATURE))).collect();
    let (one, two) = ("sk-one-secret", "sk-two-secret");
    assert_eq!(sent.iter().map(|(key, _)| key.to_str().unwrap()).collect::<Vec<_>>(), [one, one, one, two]);
    assert_eq!(sent.iter().map(|(_, signed)| *signed).collect::<Vec<_>>(), [false, true, true, false]);
}

/// Two accounts, of which the first has no key.
struct Keyless(KeyProblem);

#[async_trait]
impl Account for Keyless {
    fn is_there(&self) -> bool {
        true
    }

    fn usable(&self) -> Vec<KeptAccount> {
        let kept = |label: &str| KeptAccount { label: label.into(), identity: Secret::new(label), is_sign_in: false };
        vec![kept("one"), kept("two")]
    }

    async fn key(&self, label: Option<&str>) -> Result<Option<Secret>, KeyProblem> {
        if label == Some("one") { Err(self.0.clone()) } else { Ok(Some(Secret::new("sk-two-secret"))) }
    }

    async fn refused(&self, _: Option<&str>, _: &Secret) {}
}

#[tokio::test]
async fn an_account_rests_if_its_sign_in_has_ended_and_not_while_the_network_is_away() {
    let server = Server::start(vec![]).await;
    for (problem, kind, next) in [
        (KeyProblem::Passing("it cannot be reached".into()), ModelErrorKind::Transient, None),
        (KeyProblem::Refused("it has ended".into()), ModelErrorKind::Unauthorized, Some("two")),
    ] {
        let catalog = mine(&server, None, |provider| provider.set_account(Arc::new(Keyless(problem))));
        let model = catalog.resolve("mine/m").await.unwrap();
        let Err(failure) = model.stream(request()).await else { panic!("there is no key") };
        assert_eq!(failure.kind, kind);
        let other = model.account("abc", None, &[]).await;
        assert_eq!(other.map(|other| other.switch.name).as_deref(), next, "{kind:?}");
    }
}

#[tokio::test]
async fn a_command_that_fails_is_named_with_the_setting_it_stands_in() {
    let server = Server::start(vec![]).await;
    let commands = KeyCommands::new(Counting(Arc::default()));
    let catalog = mine(&server, None, |provider| provider.set_key_command(commands.command(vec!["locked".into()])));
    let model = catalog.resolve("mine/m").await.unwrap();
    let Err(error) = model.stream(request()).await else { panic!("there is no key") };
    assert_eq!(error.kind, ModelErrorKind::Unauthorized);
    assert!(error.message.contains("`locked` in providers.mine.key_command: the vault is locked"), "{error}");
}

#[tokio::test]
async fn a_model_that_the_user_describes_is_as_they_say_and_sent_by_its_own_id() {
    let server = Server::start(vec![Answer::stream(&streams::chat())]).await;
    let catalog = mine(&server, None, |provider| {
        provider.define(vec![
            defined(value!({ "id": "big", "wire_id": "deployment-7", "name": "Big", "aliases": ["b"], "context": 64_000,
                "max_output": 8_000, "price": { "input": 3.0, "output": 15.0 }, "images": false, "thinking": "budget" })),
            defined(value!({ "id": "m", "context": 9_000 })),
        ]);
    });
    let ids: Vec<_> = catalog.list().await.into_iter().map(|model| model.id).collect();
    assert_eq!(ids, ["mine/m", "mine/big", "mine/big-thinking"]);
    let info = catalog.resolve("b").await.unwrap().info().clone();
    assert_eq!((info.id.as_str(), info.name.as_str()), ("mine/big", "Big"));
    assert_eq!((info.context_tokens, info.max_output_tokens, info.images, info.thinking), (64_000, 8_000, false, true));
    let price = info.price.unwrap();
    assert_eq!((price.input, price.output, price.cache_read, price.cache_write), (3.0, 15.0, 3.0, 3.0));
    let partly = catalog.resolve("mine/m").await.unwrap().info().clone();
    assert_eq!((partly.context_tokens, partly.price), (9_000, None), "what is not said is as for any other model");
    ask(&*catalog.resolve("mine/big").await.unwrap()).await.1.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&server.asked()[0].body).unwrap()["model"], "deployment-7");
}

#[tokio::test]
async fn what_is_added_for_one_model_goes_with_its_requests_alone_and_counts_before_the_providers() {
    let server = Server::start(vec![Answer::stream(&streams::chat()), Answer::stream(&streams::chat())]).await;
    let big = || {
        let mut big = defined(value!({ "id": "big", "extra_body": { "tier": "fast" },
            "compat": { "key_header": "api-key", "max_tokens_field": "max_completion_tokens" } }));
        big.set_header("X-Tenant", "tenant-of-big").unwrap();
        assert!(big.set_header("Host", "evil.example").is_err());
        big
    };
    let catalog = mine(&server, Some("sk-1"), |provider| {
        provider.set_header("X-Tenant", "all").unwrap();
        provider.set_header("X-Team", "core").unwrap();
        provider.set_extra_body(value!({ "tier": "flex", "region": "eu" }).as_object().unwrap().clone());
        provider.define(vec![big()]);
    });
    for (model, tenant, tier, key, field) in [
        ("mine/big", "tenant-of-big", "fast", "api-key", "max_completion_tokens"),
        ("mine/m", "all", "flex", "authorization", "max_tokens"),
    ] {
        ask(&*catalog.resolve(model).await.unwrap()).await.1.unwrap();
        let asked = server.asked().pop().unwrap();
        let (body, headers) = (serde_json::from_str::<Value>(&asked.body).unwrap(), asked.headers);
        assert_eq!((&headers["x-tenant"], &headers["x-team"]), (&tenant.parse().unwrap(), &"core".parse().unwrap()));
        assert!(headers.contains_key(key) && body[field].is_u64(), "{model}: {body}");
        assert_eq!((&body["tier"], &body["region"]), (&value!(tier), &value!("eu")));
    }

    let mut settings = Settings::default();
    for (host, is_kept) in [("https://a.example", true), ("https://a.example/v1", true), ("https://b.example", false)] {
        settings.set_provider("mine", Some(host.into()), None, None, vec![]).unwrap();
        let provider = settings.provider_mut("mine").unwrap();
        if provider.defined.is_empty() {
            provider.define(vec![big()]);
        }
        let secrets = provider.known_secrets();
        let is_known = secrets.iter().any(|secret| secret.expose() == "tenant-of-big");
        assert_eq!(is_known, is_kept, "{host}: it stays with its server");
    }
}

#[tokio::test]
async fn a_provider_is_asked_for_its_list_on_purpose_and_says_why_it_gives_none() {
    let list = r#"{"data":[{"id":"a"},{"id":"text-embed"}]}"#;
    let (refused, other) = (Answer::status(401, r#"{"error":"bad key sk-1"}"#), Answer::status(404, "no"));
    let server = Server::start(vec![json(list), refused, other]).await;
    let catalog = mine(&server, Some("sk-1"), |_| {});
    assert_eq!(catalog.ask_for_list("mine").await, Ok(vec!["a".to_owned()]), "though it is known what it has");
    let refused = catalog.ask_for_list("mine").await.unwrap_err();
    assert!(refused.is_refusal() && !refused.to_string().contains("sk-1"), "{refused}");
    assert!(matches!(catalog.ask_for_list("mine").await, Err(Unlisted::NoList(problem)) if problem.contains("404")));
    let mut gone = Settings::default();
    gone.set_provider("mine", Some("http://127.0.0.1:9".into()), None, None, vec![]).unwrap();
    assert!(matches!(Catalog::new(gone).ask_for_list("mine").await, Err(Unlisted::Unreachable(_))));
}

#[tokio::test]
async fn a_wrong_key_is_known_by_the_words_where_the_status_does_not_tell() {
    let xai = r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***34."}"#;
    let refused = || Answer::status(400, xai);
    let server = Server::start(vec![refused(), refused()]).await;
    let catalog = mine(&server, None, |provider| {
        let key = |variable: &str, key: &str| NamedKey::Key { variable: variable.into(), key: Some(Secret::new(key)) };
        provider.set_keys(vec![key("ONE", "sk-one-secret"), key("TWO", "sk-two-secret")]);
    });
    let model = catalog.resolve("mine/m").await.unwrap();
    let Err(failure) = model.stream(request()).await else { panic!("it is refused") };
    assert_eq!(failure.kind, ModelErrorKind::Unauthorized, "{failure}");
    let other = model.account("abc", Some(&failure), &[]).await.map(|other| other.switch.name);
    assert_eq!(other.as_deref(), Some("TWO"), "the next key is asked");
    let catalog = mine(&server, Some("sk-1"), |_| {});
    assert!(matches!(catalog.ask_for_list("mine").await, Err(Unlisted::Refused(problem)) if problem.contains("400")));
}

#[tokio::test]
async fn a_described_model_needs_no_list_and_overrides_what_a_list_says_of_it() {
    let list = r#"{"data":[{"id":"deployment-7","context_length":1000},{"id":"other","context_length":2000}]}"#;
    let server = Server::start(vec![json(list), Answer::status(404, "")]).await;
    let catalog = |server: &Server| {
        mine(server, None, |provider| {
            provider.models.clear();
            provider.define(vec![defined(value!({ "id": "big", "wire_id": "deployment-7", "images": true }))]);
        })
    };
    let listed = catalog(&server).list().await;
    let seen: Vec<_> = listed.iter().map(|model| (model.id.as_str(), model.context_tokens)).collect();
    assert_eq!(seen, [("mine/big", 1000), ("mine/other", 2000)]);
    let unlisted = catalog(&server).list().await;
    assert_eq!(unlisted.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["mine/big"]);
}

/// The settings of an environment with one server for a vendor.
fn of_environment(name: &str, server: &Server, variables: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::from_env(|variable| {
        let found = variables.iter().find(|(known, _)| *known == variable)?;
        Some(found.1.replace("SERVER", &server.url()))
    });
    settings.providers.retain(|provider| provider.name == name);
    settings
}

#[tokio::test]
async fn azure_gets_its_own_header_and_path_and_an_old_version_the_path_of_the_deployment() {
    // The first piece of Azure's stream has no choices, and the filter's results.
    let filtered =
        "data: {\"choices\":[],\"id\":\"\",\"object\":\"\",\"prompt_filter_results\":[{\"prompt_index\":0}]}\n\n";
    let old = Answer::stream(&format!("{filtered}{}", streams::chat()));
    let server = Server::start(vec![Answer::stream(&streams::responses()), old]).await;
    let key = [("AZURE_OPENAI_API_KEY", "k-1"), ("AZURE_OPENAI_ENDPOINT", "SERVER/")];
    let new = Catalog::new(of_environment("azure", &server, &key));
    ask(&*new.resolve("azure/gpt-6.1-sol").await.unwrap()).await.1.unwrap();

    let dated = [key[0], key[1], ("OPENAI_API_VERSION", "2025-04-01-preview")];
    let mut settings = of_environment("azure", &server, &dated);
    let provider = settings.provider_mut("azure").unwrap();
    provider.define(vec![defined(value!({ "id": "gpt-6.1-sol", "wire_id": "team-gpt" }))]);
    let old = Catalog::new(settings).resolve("azure/gpt-6.1-sol").await.unwrap();
    assert_eq!(old.info().price.unwrap().input, 2.0, "the deployment has the price of its model");
    ask(&*old).await.1.unwrap();

    let asked = server.asked();
    let seen: Vec<_> =
        asked.iter().map(|asked| (asked.path.as_str(), asked.headers["api-key"].to_str().unwrap())).collect();
    let deployment = "/openai/deployments/team-gpt/chat/completions?api-version=2025-04-01-preview";
    assert_eq!(seen, [("/openai/v1/responses", "k-1"), (deployment, "k-1")]);
    assert!(asked.iter().all(|asked| !asked.headers.contains_key("authorization")));
}

#[tokio::test]
async fn azure_without_an_address_says_which_variable_to_set() {
    let server = Server::start(vec![]).await;
    let catalog = Catalog::new(of_environment("azure", &server, &[("AZURE_OPENAI_API_KEY", "k-1")]));
    let because = catalog.list().await.remove(0).unavailable_because.unwrap();
    assert!(because.contains("AZURE_OPENAI_ENDPOINT"), "{because}");
}

#[tokio::test]
async fn bedrock_is_asked_for_claude_and_for_others_over_the_wire_of_each() {
    let answers = [
        streams::anthropic().into_bytes(),
        streams::responses().into_bytes(),
        streams::chat().into_bytes(),
        streams::converse(),
    ];
    let server = Server::start(answers.iter().map(Answer::stream).collect()).await;
    let mut settings =
        of_environment("bedrock", &server, &[("AWS_BEARER_TOKEN_BEDROCK", "k-2"), ("AWS_REGION", "eu-west-1")]);
    let provider = settings.provider_mut("bedrock").unwrap();
    assert_eq!(provider.base_url, "https://bedrock-runtime.eu-west-1.amazonaws.com");
    let models =
        ["eu.anthropic.claude-opus-5-5", "eu.openai.gpt-6.1-sol", "openai.gpt-oss-120b-1:0", "qwen.qwen3-coder-next"];
    let named = models.map(str::to_owned).to_vec();
    settings.set_provider("bedrock", Some(server.url()), Some("k-2".into()), None, named).unwrap();
    // Bedrock's own host refuses betas.
    let provider = settings.provider_mut("bedrock").unwrap();
    provider.set_compat(&crate::vendors::of_address("https://bedrock-runtime.eu-west-1.amazonaws.com"));
    let catalog = Catalog::new(settings);
    for model in models {
        ask(&*catalog.resolve(&format!("bedrock/{model}")).await.unwrap()).await.1.unwrap();
    }
    let asked = server.asked();
    let paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
    let others = ["/openai/v1/chat/completions", "/model/qwen.qwen3-coder-next/converse-stream"];
    assert_eq!(paths, ["/anthropic/v1/messages", "/openai/v1/responses", others[0], others[1]]);
    let header = |at: usize, name: &str| asked[at].headers.get(name).map(|value| value.to_str().unwrap());
    assert_eq!((header(0, "x-api-key"), header(1, "authorization")), (Some("k-2"), Some("Bearer k-2")));
    assert_eq!(header(3, "authorization"), Some("Bearer k-2"));
    assert_eq!((header(0, "anthropic-version"), header(0, "anthropic-beta")), (Some("2023-06-01"), None));
    assert!(!asked[0].body.contains("block_binding"), "{}", asked[0].body);
    let sent = |at: usize| serde_json::from_str::<Value>(&asked[at].body).unwrap()["model"].clone();
    assert_eq!((sent(0), sent(1)), (value!(models[0]), value!(models[1])));

    let price = async |id: &str| catalog.resolve(id).await.unwrap().info().price;
    let claude = price("bedrock/eu.anthropic.claude-opus-5-5").await.unwrap();
    assert!((claude.input - 4.4).abs() < 1e-9 && (claude.output - 22.0).abs() < 1e-9, "{claude:?}");
    assert_eq!(price("bedrock/qwen.qwen3-coder-next").await, None);
}
