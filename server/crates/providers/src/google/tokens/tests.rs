use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use net::Clients;
use serde_json::{Value, json};

use super::super::hosts;
use super::super::testing::{service_account, user};
use super::*;
use crate::aws::RunProgram;
use crate::clock::Clock;
use crate::loopback::server::{Answer, Asked, Server};

/// The files below the home folder are the user's own, and those of a project and of other temporary folders are not.
/// Programs print this.
struct Own {
    home: PathBuf,
    prints: Option<String>,
    /// True if programs never end.
    hangs: bool,
    ran: Arc<std::sync::Mutex<Vec<Vec<String>>>>,
}

#[async_trait]
impl RunProgram for Own {
    async fn output(&self, words: &[String]) -> Result<Vec<u8>, String> {
        self.ran.lock().unwrap().push(words.to_vec());
        if self.hangs {
            std::future::pending::<()>().await;
        }
        self.prints.clone().map(String::into_bytes).ok_or_else(|| "there is none".to_owned())
    }

    fn is_users_own(&self, file: &Path) -> bool {
        let is_of_others = file.starts_with("/project") || file.starts_with(std::env::temp_dir());
        file.starts_with(&self.home) || !is_of_others
    }
}

/// The seconds by which the tests' clock is ahead of the machine's.
static AHEAD: AtomicU64 = AtomicU64::new(0);

fn moved() -> SystemTime {
    SystemTime::now() + Duration::from_secs(AHEAD.load(Ordering::Relaxed))
}

/// A user, with the folder of their home.
struct Person {
    home: tempfile::TempDir,
    variables: BTreeMap<&'static str, String>,
    now: fn() -> SystemTime,
    prints: Option<String>,
    hangs: bool,
    ran: Arc<std::sync::Mutex<Vec<Vec<String>>>>,
}

impl Person {
    fn new() -> Self {
        let variables = BTreeMap::from([("NO_GCE_CHECK", "true".to_owned())]);
        let home = tempfile::tempdir().unwrap();
        Self { home, variables, now: SystemTime::now, prints: None, hangs: false, ran: Arc::default() }
    }

    /// One for whom `gcloud` keeps this.
    fn with(file: &Value) -> Self {
        let person = Self::new();
        person.keep(&file.to_string());
        person
    }

    fn keep(&self, text: &str) {
        std::fs::create_dir_all(self.home.path().join(".config/gcloud")).unwrap();
        std::fs::write(self.file(), text).unwrap();
    }

    fn file(&self) -> PathBuf {
        self.home.path().join(".config/gcloud/application_default_credentials.json")
    }

    fn set(mut self, name: &'static str, value: &str) -> Self {
        self.variables.insert(name, value.to_owned());
        self
    }

    /// The same, for whom this server stands in for Google's.
    fn near(self, server: &Server) -> Self {
        self.set(hosts::HERE, &server.url())
    }

    fn tokens(&self) -> Tokens {
        Tokens::new(Surroundings {
            variables: self.variables.clone(),
            home: Some(self.home.path().to_owned()),
            run: Arc::new(Own {
                home: self.home.path().to_owned(),
                prints: self.prints.clone(),
                hangs: self.hangs,
                ran: Arc::clone(&self.ran),
            }),
            http: Arc::new(Clients::default()),
            clock: Clock::new(self.now),
            patience: Duration::from_millis(300),
        })
    }

    async fn problem(&self) -> String {
        self.tokens().token().await.unwrap_err().to_string()
    }
}

fn token(name: &str, seconds: u64) -> Answer {
    Answer::status(200, &json!({ "access_token": name, "expires_in": seconds, "token_type": "Bearer" }).to_string())
}

fn refused(body: &Value) -> Answer {
    Answer::status(400, &body.to_string())
}

/// The fields of a form.
fn fields(asked: &Asked) -> BTreeMap<String, String> {
    let url = Url::parse(&format!("http://h/?{}", asked.body)).unwrap();
    url.query_pairs().into_owned().collect()
}

fn bearer(token: &Token) -> String {
    token.headers()[AUTHORIZATION].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_person_who_has_signed_in_gets_a_token_that_is_kept_until_shortly_before_its_end() {
    let server =
        Server::start(vec![token("ya29.one", 3_600), token("ya29.two", 200), token("ya29.three", 3_600)]).await;
    let mut person = Person::with(&user(&server.url()));
    person.now = moved;
    let tokens = person.tokens();
    let first = tokens.token().await.unwrap();
    assert_eq!(bearer(&first), "Bearer ya29.one");
    assert_eq!(first.headers()["x-goog-user-project"], "project-of-ada");
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.one");
    let asked = server.asked();
    let sent = fields(&asked[0]);
    assert_eq!((asked.len(), sent["grant_type"].as_str(), sent.len()), (1, "refresh_token", 4));
    assert_eq!((sent["client_id"].as_str(), sent["client_secret"].as_str()), ("client-of-gcloud", "hunter2-client"));
    assert_eq!(sent["refresh_token"], "hunter2-refresh");
    AHEAD.store(3_500, Ordering::Relaxed);
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.two");
    // One that ends soon is used, and not kept.
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.three");
    assert!(!format!("{tokens:?} {first:?}").contains("ya29"));
}

#[tokio::test]
async fn a_persons_requests_are_counted_for_the_project_that_they_chose() {
    let server = Server::start(vec![token("ya29.one", 3_600); 4]).await;
    let counted = async |person: &Person, chosen: Option<&str>| {
        let token = person.tokens().token().await.unwrap().counted_for(chosen);
        token.headers().get("x-goog-user-project").map(|project| project.to_str().unwrap().to_owned())
    };
    let person = Person::with(&user(&server.url()));
    assert_eq!(counted(&person, Some("chosen")).await.as_deref(), Some("chosen"));
    assert_eq!(counted(&person, None).await.as_deref(), Some("project-of-ada"));
    let person = person.set("GOOGLE_CLOUD_QUOTA_PROJECT", "of-the-variable");
    assert_eq!(counted(&person, Some("chosen")).await.as_deref(), Some("of-the-variable"));
    let robot = Person::with(&service_account(&server.url()));
    assert_eq!(counted(&robot, Some("chosen")).await, None, "its own project is that of the account");
}

#[tokio::test]
async fn a_refused_token_is_fetched_anew_for_a_project_that_was_chosen_too() {
    let server = Server::start(vec![token("ya29.one", 3_600), token("ya29.two", 3_600)]).await;
    let person = Person::with(&user(&server.url()));
    let tokens = person.tokens();
    let sent = tokens.token().await.unwrap().counted_for(Some("chosen"));
    assert!(tokens.is_worth_another_try(&sent, 401).await);
}

#[tokio::test]
async fn requests_at_the_same_time_fetch_one_token() {
    let server = Server::start(vec![token("ya29.one", 3_600)]).await;
    let person = Person::with(&user(&server.url()));
    let tokens = person.tokens();
    let all = futures_util::future::join_all((0..10).map(|_| tokens.token())).await;
    assert!(all.into_iter().all(|token| bearer(&token.unwrap()) == "Bearer ya29.one"));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_new_sign_in_counts_at_once() {
    let server = Server::start(vec![token("ya29.one", 3_600), token("ya29.two", 3_600)]).await;
    let person = Person::with(&user(&server.url()));
    let tokens = person.tokens();
    tokens.token().await.unwrap();
    let mut other = user(&server.url());
    other["refresh_token"] = json!("hunter2-other");
    person.keep(&other.to_string());
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.two");
}

#[tokio::test]
async fn a_token_that_was_refused_is_fetched_anew_once() {
    let server =
        Server::start(vec![token("ya29.one", 3_600), token("ya29.two", 3_600), token("ya29.two", 3_600)]).await;
    let person = Person::with(&user(&server.url()));
    let tokens = person.tokens();
    let first = tokens.token().await.unwrap();
    assert!(!tokens.is_worth_another_try(&first, 403).await, "it is known, and has no right");
    assert!(tokens.is_worth_another_try(&first, 401).await);
    let second = tokens.token().await.unwrap();
    assert_eq!(bearer(&second), "Bearer ya29.two");
    assert!(!tokens.is_worth_another_try(&second, 401).await, "the same would be refused again");
}

#[tokio::test]
async fn a_service_account_signs_and_a_wrong_clock_is_set_by_the_servers() {
    let invalid = json!({ "error": "invalid_grant", "error_description": "Invalid JWT: Token must be a short-lived token \
        (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim." });
    let late = refused(&invalid).with_header("date", "Sun, 06 Nov 2094 08:49:37 GMT");
    let server = Server::start(vec![late, token("ya29.robot", 3_600)]).await;
    let person = Person::with(&service_account(&server.url()));
    let tokens = person.tokens();
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.robot");
    let iat = |asked: &Asked| {
        use base64::Engine;
        let sent = fields(asked);
        assert_eq!(sent["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
        let claims = sent["assertion"].split('.').nth(1).unwrap().to_owned();
        let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(claims).unwrap();
        serde_json::from_slice::<Value>(&claims).unwrap()["iat"].as_u64().unwrap()
    };
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    assert!(iat(&asked[1]) - iat(&asked[0]) > 60 * 365 * 86_400, "the second has the server's time");
    // Without another time of the server's, the words say what to do.
    let server = Server::start(vec![refused(&invalid)]).await;
    let problem = Person::with(&service_account(&server.url())).problem().await;
    assert!(problem.contains("Set the clock of this machine") && problem.contains("invalid_grant"), "{problem}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_token_of_another_account_is_asked_for_with_the_users_own() {
    let other = json!({ "accessToken": "ya29.other", "expireTime": "2094-11-06T08:49:37Z" }).to_string();
    let server = Server::start(vec![token("ya29.ada", 3_600), Answer::status(200, &other)]).await;
    let url = format!("{}/v1/projects/-/serviceAccounts/robot:generateAccessToken", server.url());
    let file = json!({ "type": "impersonated_service_account", "service_account_impersonation_url": url,
        "delegates": ["d"], "source_credentials": user(&server.url()) });
    let person = Person::with(&file).near(&server);
    let tokens = person.tokens();
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.other");
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.other");
    let asked = server.asked();
    assert_eq!((asked.len(), asked[1].headers["authorization"].to_str().unwrap()), (2, "Bearer ya29.ada"));
    let body: Value = serde_json::from_str(&asked[1].body).unwrap();
    assert_eq!(
        body,
        json!({ "delegates": ["d"], "lifetime": "3600s",
        "scope": ["https://www.googleapis.com/auth/cloud-platform"] })
    );
    let denied = json!({ "error": { "code": 403, "status": "PERMISSION_DENIED", "message": "denied" } }).to_string();
    let server = Server::start(vec![token("ya29.ada", 3_600), Answer::status(403, &denied)]).await;
    let mut file = file;
    file["source_credentials"] = user(&server.url());
    file["service_account_impersonation_url"] = json!(server.url());
    let problem = Person::with(&file).near(&server).problem().await;
    assert!(problem.contains("Service Account Token Creator") && problem.contains("PERMISSION_DENIED"), "{problem}");
}

#[tokio::test]
async fn what_a_server_of_tokens_answers_is_said_without_secrets() {
    let ended = json!({ "error": "invalid_grant", "error_description": "Bad Request of hunter2-refresh" });
    for (answer, parts) in [
        (refused(&ended), &["`gcloud auth application-default login`", "invalid_grant", "credentials.json"][..]),
        (Answer::status(503, "{}"), &["status 503", "try again"]),
        (Answer::never(), &["did not answer within 0.3 seconds", "try again"]),
        (Answer::status(200, "<html>hunter2-body"), &["no JSON", "a proxy answered"]),
        (Answer::status(200, "[1]"), &["no JSON"]),
        (Answer::status(200, r#"{"access_token": 7}"#), &["without an `access_token`"]),
        (Answer::status(200, r#"{"access_token": "a\nb"}"#), &["without an `access_token`"]),
        (Answer::status(302, "{}"), &["status 302"]),
        (Answer::status(404, "no page"), &["status 404"]),
    ] {
        let server = Server::start(vec![answer.clone()]).await;
        let problem = Person::with(&user(&server.url())).problem().await;
        for part in parts {
            assert!(problem.contains(part), "{part}: {problem}");
        }
        assert!(!problem.contains("hunter2"), "{problem}");
    }
    let problem = Person::with(&user("http://127.0.0.1:1/token")).problem().await;
    assert!(problem.contains("cannot be reached"), "{problem}");
}

#[tokio::test]
async fn a_token_that_still_counts_is_used_if_no_other_is_given() {
    let server = Server::start(vec![token("ya29.one", 100), Answer::status(503, "{}")]).await;
    let person = Person::with(&user(&server.url()));
    let tokens = person.tokens();
    tokens.token().await.unwrap();
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.one");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_file_that_cannot_be_used_is_named_with_what_to_do() {
    let person = Person::new();
    let nowhere = person.problem().await;
    for part in ["`gcloud auth application-default login`", "application_default_credentials.json", "NO_GCE_CHECK"] {
        assert!(nowhere.contains(part), "{part}: {nowhere}");
    }
    for (text, part) in [
        ("{", "line 1 is not valid JSON"),
        (r#"{"type": "gdch_service_account"}"#, "kind `gdch_service_account`"),
        (r#"{"type": "external_account"}"#, "`audience`"),
        (r#"{"type": "authorized_user"}"#, "`client_id`"),
        (
            r#"{"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r",
            "token_uri": "http://tokens.example"}"#,
            "without https",
        ),
    ] {
        person.keep(text);
        let problem = person.problem().await;
        assert!(problem.contains(part) && problem.contains("application_default_credentials.json"), "{problem}");
    }
    for (text, advice, other) in [
        (r#"{"type": "external_account"}"#, "`gcloud iam workload-identity-pools create-cred-config`", "login"),
        (r#"{"type": "external_account_authorized_user"}"#, "Let gcloud print the token: set key_command", "login"),
        (r#"{"type": "gdch_service_account"}"#, "`gcloud auth application-default login`", "create-cred-config"),
        (r#"{"type": "service_account"}"#, "Download the service account's key again", "login"),
        (r#"{"type": "authorized_user"}"#, "`gcloud auth application-default login`", "account's key"),
    ] {
        person.keep(text);
        let problem = person.problem().await;
        assert!(problem.contains(advice) && !problem.contains(other), "{problem}");
    }
    let mut robot = service_account("http://127.0.0.1:1");
    robot["private_key"] = json!("-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----");
    person.keep(&robot.to_string());
    let problem = person.problem().await;
    assert!(problem.contains("`private_key`") && !problem.contains("hunter2"), "{problem}");
    std::fs::remove_file(person.file()).unwrap();
    std::fs::create_dir(person.file()).unwrap();
    assert!(person.problem().await.contains("no regular file"));
}

#[tokio::test]
async fn the_file_of_a_variable_counts_first_and_only_if_it_is_the_users_own() {
    let server = Server::start(vec![token("ya29.robot", 3_600)]).await;
    let person = Person::with(&user("http://127.0.0.1:1"));
    let own = person.home.path().join("key.json");
    std::fs::write(&own, service_account(&server.url()).to_string()).unwrap();
    let project = tempfile::tempdir().unwrap();
    let theirs = project.path().join("key.json");
    std::fs::write(&theirs, service_account(&server.url()).to_string()).unwrap();
    let named = |person: Person, file: &str| person.set("GOOGLE_APPLICATION_CREDENTIALS", file);
    let person = named(person, &own.display().to_string());
    assert_eq!(bearer(&person.tokens().token().await.unwrap()), "Bearer ya29.robot");
    assert_eq!(person.tokens().at_hand().unwrap().project.as_deref(), Some("project-of-robot"));
    let person = named(person, "~/gone.json");
    assert!(person.problem().await.contains("there is no such file"));
    let person = named(person, "key.json");
    assert!(person.problem().await.contains("its path is relative"));
    let person = named(person, &theirs.display().to_string());
    let problem = person.problem().await;
    assert!(problem.contains("a project or a command may have written them"), "{problem}");
    assert!(person.tokens().at_hand().is_none());
    assert_eq!(server.asked().len(), 1);
    let folder = project.path().display().to_string();
    let person = Person::with(&user("http://127.0.0.1:1")).set("CLOUDSDK_CONFIG", &folder);
    assert!(person.problem().await.contains("CLOUDSDK_CONFIG names the file"));
}

#[tokio::test]
async fn a_machine_at_google_has_a_token_and_a_project_of_its_own() {
    let of_google = |answer: Answer| answer.with_header("metadata-flavor", "Google");
    let project = of_google(Answer::status(200, "project-of-the-machine\n"));
    let server = Server::start(vec![of_google(token("ya29.machine", 3_600)), project]).await;
    let host = server.url().replace("http://", "");
    let on = |host: &str| Person::new().set("NO_GCE_CHECK", "").set("GCE_METADATA_HOST", host);
    let tokens = on(&host).tokens();
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.machine");
    assert_eq!(tokens.project().await.unwrap().as_deref(), Some("project-of-the-machine"));
    assert_eq!(tokens.project().await.unwrap().as_deref(), Some("project-of-the-machine"));
    let asked = server.asked();
    let paths: Vec<_> = asked.iter().map(|asked| asked.path.as_str()).collect();
    let own = "/computeMetadata/v1/";
    assert_eq!(paths, [format!("{own}instance/service-accounts/default/token"), format!("{own}project/project-id")]);
    assert!(asked.iter().all(|asked| asked.headers["metadata-flavor"] == "Google"));
    for (answer, part) in [
        (token("ya29.evil", 3_600), "is not Google's service"),
        (of_google(Answer::status(404, "")), "has no service account"),
        (of_google(Answer::status(200, "hunter2")), "not JSON"),
    ] {
        let server = Server::start(vec![answer]).await;
        let problem = on(&server.url().replace("http://", "")).problem().await;
        assert!(problem.contains(part) && !problem.contains("hunter2"), "{part}: {problem}");
    }
    // It is there, and busy: no credentials are missing.
    for status in [429, 500, 503] {
        let server = Server::start(vec![of_google(Answer::status(status, "")); 2]).await;
        let tokens = on(&server.url().replace("http://", "")).tokens();
        for failure in [tokens.token().await.unwrap_err(), tokens.project().await.unwrap_err()] {
            assert!(matches!(failure, GoogleError::Unreachable { .. }), "{status}: {failure}");
            assert_eq!(failure.told("vertex").kind, ports::model::ModelErrorKind::Transient);
        }
    }
    let server = Server::start(vec![of_google(token("ya29.machine", 100)), token("ya29.evil", 100)]).await;
    let tokens = on(&server.url().replace("http://", "")).tokens();
    let first = tokens.token().await.unwrap();
    assert!(!tokens.is_worth_another_try(&first, 401).await);
    let failure = tokens.token().await.unwrap_err();
    assert!(matches!(failure, GoogleError::Unreachable { .. }), "it was there a moment ago: {failure}");
    let problem = on("metadata.example").problem().await;
    assert!(problem.contains("neither this machine nor a host of Google's service"), "{problem}");
}

#[tokio::test]
async fn requests_that_waited_share_the_failure_of_a_server_that_is_down() {
    // All the others wait by the time at which this fails.
    let server = Server::start(vec![Answer::never(), token("ya29.one", 3_600)]).await;
    let person = Person::with(&user(&server.url()));
    let tokens = person.tokens();
    let all = futures_util::future::join_all((0..5).map(|_| tokens.token())).await;
    assert!(all.iter().all(|outcome| matches!(outcome, Err(GoogleError::Unreachable { .. }))), "{all:?}");
    assert_eq!(server.asked().len(), 1);
    // Whoever comes later asks anew.
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.one");
}

#[tokio::test]
async fn the_end_of_another_accounts_token_is_told_by_the_servers_clock() {
    fn a_day_ahead() -> SystemTime {
        SystemTime::now() + Duration::from_secs(86_400)
    }
    let other = json!({ "accessToken": "ya29.other", "expireTime": "2034-11-06T09:49:37Z" }).to_string();
    let other = Answer::status(200, &other).with_header("date", "Mon, 06 Nov 2034 08:49:37 GMT");
    let server = Server::start(vec![token("ya29.ada", 3_600), other, token("ya29.evil", 3_600)]).await;
    let url = format!("{}/robot:generateAccessToken", server.url());
    let file = json!({ "type": "impersonated_service_account", "service_account_impersonation_url": url,
        "source_credentials": user(&server.url()) });
    let mut person = Person::with(&file).near(&server);
    person.now = a_day_ahead;
    let tokens = person.tokens();
    for _ in 0..2 {
        let token = tokens.token().await.unwrap();
        assert_eq!(bearer(&token), "Bearer ya29.other");
        assert!(token.ends <= a_day_ahead() + Duration::from_secs(3_600), "no longer than was asked for");
    }
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn no_token_of_another_account_is_kept_for_longer_than_google_gives_one() {
    let other = json!({ "accessToken": "ya29.other", "expireTime": "2094-11-06T08:49:37Z" }).to_string();
    let server = Server::start(vec![token("ya29.ada", 3_600), Answer::status(200, &other)]).await;
    let file = json!({ "type": "impersonated_service_account", "source_credentials": user(&server.url()),
        "service_account_impersonation_url": format!("{}/robot:generateAccessToken", server.url()),
        "service_account_impersonation": { "token_lifetime_seconds": u64::MAX } });
    let token = Person::with(&file).near(&server).tokens().token().await.unwrap();
    assert!(token.ends <= SystemTime::now() + Duration::from_secs(12 * 3_600), "{token:?}");
}

#[tokio::test]
async fn the_token_of_another_identity_goes_to_no_server_on_this_machine_that_the_user_has_not_named() {
    let server = Server::start(vec![token("ya29.evil", 3_600)]).await;
    let person = Person::new();
    let key = person.home.path().join("id_ed25519");
    std::fs::write(&key, "hunter2-key").unwrap();
    person.keep(&external(&server, &json!({ "file": key })).to_string());
    let problem = person.problem().await;
    assert!(problem.contains("`token_url` is none of Google's") && server.asked().is_empty(), "{problem}");
}

/// The file of another identity, whose token comes from this source.
fn external(server: &Server, source: &Value) -> Value {
    json!({ "type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "audience": "//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/p/providers/q",
        "token_url": server.url(), "credential_source": source })
}

#[tokio::test]
async fn the_token_of_another_identity_is_exchanged_and_read_again_each_time() {
    let server = Server::start(vec![token("ya29.one", 100), token("ya29.two", 3_600)]).await;
    let person = Person::new().near(&server);
    let subject = person.home.path().join("subject");
    std::fs::write(&subject, "hunter2-first\n").unwrap();
    person.keep(&external(&server, &json!({ "file": subject })).to_string());
    let tokens = person.tokens();
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.one");
    std::fs::write(&subject, "hunter2-second").unwrap();
    assert_eq!(bearer(&tokens.token().await.unwrap()), "Bearer ya29.two");
    let asked = server.asked();
    let sent: Vec<_> = asked.iter().map(fields).collect();
    assert_eq!(
        (sent[0]["subject_token"].as_str(), sent[1]["subject_token"].as_str()),
        ("hunter2-first", "hunter2-second")
    );
    assert_eq!((sent[0].len(), sent[0]["scope"].as_str()), (6, "https://www.googleapis.com/auth/cloud-platform"));
    assert_eq!(sent[0]["requested_token_type"], "urn:ietf:params:oauth:token-type:access_token");
    assert_eq!(tokens.project().await.unwrap().as_deref(), Some("123"), "it is that of the pool");
    let person = Person::with(&external(&server, &json!({ "file": "/no/such/token" }))).near(&server);
    let failure = person.tokens().token().await.unwrap_err();
    for part in ["/no/such/token: it cannot be read", "Check that you may read this file"] {
        assert!(failure.to_string().contains(part), "{failure}");
    }
    assert_eq!(failure.told("vertex").kind, ports::model::ModelErrorKind::Unauthorized);
}

#[tokio::test]
async fn the_token_of_another_identity_may_come_from_a_server_and_act_for_an_account() {
    let other = json!({ "accessToken": "ya29.robot", "expireTime": "2094-11-06T08:49:37Z" }).to_string();
    let subject = Answer::status(200, r#"{"value": "hunter2-subject"}"#);
    let server = Server::start(vec![subject, token("ya29.pool", 3_600), Answer::status(200, &other)]).await;
    let source = json!({ "url": format!("{}/identity", server.url()), "headers": { "Metadata": "True" },
        "format": { "type": "json", "subject_token_field_name": "value" } });
    let mut file = external(&server, &source);
    file["service_account_impersonation_url"] = json!(format!("{}/robot@p:generateAccessToken", server.url()));
    file["service_account_impersonation"] = json!({ "token_lifetime_seconds": 1_200 });
    (file["client_id"], file["client_secret"]) = (json!("id"), json!("hunter2-client"));
    let person = Person::with(&file).near(&server);
    assert_eq!(bearer(&person.tokens().token().await.unwrap()), "Bearer ya29.robot");
    let asked = server.asked();
    assert_eq!((asked[0].path.as_str(), asked[0].headers["metadata"].to_str().unwrap()), ("/identity", "True"));
    assert_eq!(asked[1].headers["authorization"], "Basic aWQ6aHVudGVyMi1jbGllbnQ=");
    let sent = fields(&asked[1]);
    assert_eq!(
        (sent["subject_token"].as_str(), sent["scope"].as_str()),
        ("hunter2-subject", "https://www.googleapis.com/auth/iam")
    );
    let acting: Value = serde_json::from_str(&asked[2].body).unwrap();
    assert_eq!(
        (asked[2].headers["authorization"].to_str().unwrap(), &acting["lifetime"]),
        ("Bearer ya29.pool", &json!("1200s"))
    );

    let refused = refused(&json!({ "error": "invalid_grant", "error_description": "hunter2-subject has expired" }));
    for (answers, part, may_pass) in [
        (vec![Answer::status(503, "hunter2")], "status 503", true),
        (vec![Answer::status(401, "hunter2")], "status 401. Check that this server runs", false),
        (vec![Answer::status(200, "hunter2")], "no JSON", false),
        (vec![Answer::status(200, r#"{"value": "hunter2-subject"}"#), refused], "identity pool", false),
    ] {
        let server = Server::start(answers).await;
        let mut source = source.clone();
        source["url"] = json!(server.url());
        let person = Person::with(&external(&server, &source)).near(&server);
        let failure = person.tokens().token().await.unwrap_err();
        assert!(failure.to_string().contains(part) && !failure.to_string().contains("hunter2"), "{failure}");
        let kind = failure.told("vertex").kind;
        assert_eq!(kind == ports::model::ModelErrorKind::Transient, may_pass, "{failure}");
    }
}

#[tokio::test]
async fn a_program_prints_the_token_of_another_identity_only_if_the_user_allows_it_and_it_is_no_projects() {
    const ALLOWED: &str = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
    let server = Server::start(vec![token("ya29.one", 3_600), token("ya29.two", 3_600)]).await;
    let printed = |token: &str, end: u64| {
        json!({ "version": 1, "success": true, "token_type": "urn:ietf:params:oauth:token-type:id_token",
            "id_token": token, "expiration_time": end })
        .to_string()
    };
    let mut person = Person::new().near(&server);
    person.prints = Some(printed("hunter2-printed", 9_999_999_999));
    let program = person.home.path().join("sso").display().to_string();
    let kept = person.home.path().join("kept");
    let keep = |person: &Person, command: &str| {
        let executable = json!({ "command": command, "output_file": kept });
        person.keep(&external(&server, &json!({ "executable": executable })).to_string());
    };
    keep(&person, &format!("{program} --pool 'a b'"));
    assert!(person.problem().await.contains(&format!("only if you set {ALLOWED} to 1")));
    let person = person.set(ALLOWED, "1");
    for (command, part) in [
        ("sso".to_owned(), "from the root on"),
        ("./sso".to_owned(), "from the root on"),
        ("/project/sso".to_owned(), "a project or a command may have written it"),
        (format!("{program} /project/script"), "a project or a command may have written it"),
        (format!("{program} --config=/project/x"), "a project or a command may have written it"),
        (format!("{program} -f/project/x"), "a project or a command may have written it"),
        (format!("{program} project/x"), "a project or a command may have written it"),
        (format!("{program} --config=project/x"), "a project or a command may have written it"),
        (format!("{program} --path=/opt/a:/project/b"), "a project or a command may have written it"),
        (format!("{program} --path=/opt/a:/project/b:/opt/c"), "a project or a command may have written it"),
        (format!("{program} --path=/opt/a:project/b"), "a project or a command may have written it"),
        (format!("{program} -a,-f/project/x"), "a project or a command may have written it"),
        (format!("{program} 'read /opt/a; read \"/project/b\"'"), "a project or a command may have written it"),
    ] {
        keep(&person, &command);
        let problem = person.problem().await;
        assert!(problem.contains(part), "{command}: {problem}");
    }
    assert!(person.ran.lock().unwrap().is_empty());
    let config = format!("--config={}/x:/opt/a", person.home.path().display());
    keep(&person, &format!("{program} {config} --pool 'a b'"));
    assert_eq!(bearer(&person.tokens().token().await.unwrap()), "Bearer ya29.one");
    let ran = person.ran.lock().unwrap().clone();
    assert_eq!((ran.len(), ran[0][0].as_str()), (1, "env"));
    assert!(ran[0].contains(&"GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE=0".to_owned()), "{ran:?}");
    assert_eq!(ran[0][ran[0].len() - 4..], [program.as_str(), config.as_str(), "--pool", "a b"]);
    // The token that it has kept is used as long as it counts.
    std::fs::write(&kept, printed("hunter2-kept", 9_999_999_999)).unwrap();
    assert_eq!(bearer(&person.tokens().token().await.unwrap()), "Bearer ya29.two");
    assert_eq!(person.ran.lock().unwrap().len(), 1);
    let sent: Vec<_> = server.asked().iter().map(|asked| fields(asked)["subject_token"].clone()).collect();
    assert_eq!(sent, ["hunter2-printed", "hunter2-kept"]);
    std::fs::write(&kept, printed("hunter2-kept", 1)).unwrap();
    let mut person = person;
    person.prints = None;
    // Nor is one that is empty taken from there.
    std::fs::write(&kept, printed("", 9_999_999_999)).unwrap();
    let problem = person.problem().await;
    assert!(problem.contains("run the program in a terminal"), "{problem}");
    assert!(problem.contains("there is none") && !problem.contains("hunter2"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_program_that_takes_too_long_may_be_faster_the_next_time() {
    let server = Server::start(Vec::new()).await;
    let mut person = Person::new().near(&server).set("GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", "1");
    person.hangs = true;
    let executable = json!({ "command": "/opt/sso", "timeout_millis": 5_000 });
    person.keep(&external(&server, &json!({ "executable": executable })).to_string());
    let failure = person.tokens().token().await.unwrap_err();
    assert!(failure.to_string().contains("took longer than 5 seconds"), "{failure}");
    assert_eq!(failure.told("vertex").kind, ports::model::ModelErrorKind::Transient);
    assert_eq!(person.ran.lock().unwrap().len(), 1);
}
