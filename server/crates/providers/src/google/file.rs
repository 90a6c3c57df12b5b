//! The files in which Google's programs keep credentials: JSON whose `type` says of which kind they are
//! (`google.auth._default` of PyPI `google-auth` 2.62).

use std::fmt;
use std::path::Path;

use net::Url;
use serde_json::Value;

use super::acting::Acting;
use super::error::GoogleError;
use super::external::External;
use super::fields::{Fault, address, needed, text_of};
use super::hosts::Hosts;
use super::project::is_project;
use crate::Secret;
use crate::cloud::SIGN_IN_AT_GOOGLE;
use crate::own_file;

/// The server of tokens, if a file names no other.
const TOKEN_URL: &str = "https://oauth2.googleapis.com/token";
/// The part of Google Cloud that has this server; others have their own.
const UNIVERSE: &str = "googleapis.com";
/// A kind's name is a word.
const LONGEST_KIND: usize = 60;

/// Credentials, with the projects that stand beside them.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) who: Who,
    /// The project that the account belongs to.
    pub(super) project: Option<String>,
    /// The project that requests are counted for.
    pub(super) quota_project: Option<String>,
}

/// The account.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Who {
    Service(ServiceAccount),
    User(User),
    /// Another account, which acts in the name of a service account.
    Impersonated(Box<Who>, Acting),
    /// An identity that is none of Google's.
    External(Box<External>),
}

/// A program's account, which signs with its key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ServiceAccount {
    pub(super) email: String,
    /// In PEM.
    pub(super) private_key: Secret,
    pub(super) key_id: Option<String>,
    pub(super) token_url: Url,
}

/// A person who has signed in.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) client_id: String,
    pub(super) client_secret: Secret,
    pub(super) refresh_token: Secret,
    pub(super) token_url: Url,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").finish_non_exhaustive()
    }
}

/// The credentials in a file; none if there is no such file. Blocks.
///
/// # Errors
/// The file cannot be read, or its credentials cannot be used; says why and what to do, without anything secret.
pub(super) fn read(path: &Path, hosts: &Hosts) -> Result<Option<Kept>, GoogleError> {
    let file = || path.display().to_string();
    match own_file::text(path) {
        Ok(text) => parse(&text, hosts).map(Some).map_err(|fault| match fault {
            Fault::Kind(kind) => GoogleError::Kind { file: file(), kind },
            Fault::Damaged(problem) => GoogleError::File { file: file(), problem, advice: advice(&text) },
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(GoogleError::File {
            file: file(),
            problem: format!("the file cannot be read: {error}"),
            advice: "Give yourself permission to read it".to_owned(),
        }),
    }
}

/// The thing to do about a file that is damaged: it is created again by whatever creates such files.
fn advice(text: &str) -> String {
    let json: Option<Value> = serde_json::from_str(text).ok();
    match json.as_ref().and_then(|json| text_of(json, "type")) {
        Some("external_account") => {
            "Create it again with `gcloud iam workload-identity-pools create-cred-config`, or for \
             a person of a company with `gcloud iam workforce-pools create-cred-config`"
                .to_owned()
        }
        Some("service_account") => "Download the service account's key again".to_owned(),
        Some("authorized_user" | "impersonated_service_account") => {
            format!("Create it again with `{SIGN_IN_AT_GOOGLE}`")
        }
        Some(_) | None => {
            format!("Create it again with `{SIGN_IN_AT_GOOGLE}`, or download the service account's key again")
        }
    }
}

fn parse(text: &str, hosts: &Hosts) -> Result<Kept, Fault> {
    let json: Value = serde_json::from_str(text)
        .map_err(|error| Fault::Damaged(format!("line {} is not valid JSON", error.line().max(1))))?;
    if !json.is_object() {
        return Err(Fault::Damaged("it is not a JSON object".to_owned()));
    }
    if text_of(&json, "universe_domain").is_some_and(|universe| universe != UNIVERSE) {
        return Err(Fault::Damaged(format!("its `universe_domain` is not {UNIVERSE}, the only one that is known")));
    }
    let who = who(&json, true, hosts)?;
    let of_pool = match &who {
        Who::External(external) => external.project(),
        Who::Service(_) | Who::User(_) | Who::Impersonated(..) => None,
    };
    let project = named_project(&json, "project_id")?.or(of_pool);
    Ok(Kept { who, project, quota_project: named_project(&json, "quota_project_id")? })
}

/// The account that an object describes; of one that acts for another, `may_act` says that it may.
fn who(json: &Value, may_act: bool, hosts: &Hosts) -> Result<Who, Fault> {
    let token_url = || match address(json, "token_uri")? {
        Some(url) => Ok(url),
        None => Url::parse(TOKEN_URL).map_err(|_| Fault::Damaged("it has no `token_uri`".to_owned())),
    };
    let needed = |name: &str| needed(json, name);
    match text_of(json, "type") {
        Some("service_account") => Ok(Who::Service(ServiceAccount {
            email: needed("client_email")?.to_owned(),
            private_key: Secret::new(needed("private_key")?),
            key_id: text_of(json, "private_key_id").map(str::to_owned),
            token_url: token_url()?,
        })),
        Some("authorized_user") => Ok(Who::User(User {
            client_id: needed("client_id")?.to_owned(),
            client_secret: Secret::new(needed("client_secret")?),
            refresh_token: Secret::new(needed("refresh_token")?),
            token_url: token_url()?,
        })),
        Some("impersonated_service_account") if may_act => {
            let acting = Acting::needed(json, hosts)?;
            let source = json.get("source_credentials").filter(|source| source.is_object());
            let source = source.ok_or_else(|| Fault::Damaged("it has no `source_credentials`".to_owned()))?;
            Ok(Who::Impersonated(Box::new(who(source, false, hosts)?), acting))
        }
        Some("external_account") => External::read(json, hosts).map(Box::new).map(Who::External),
        Some(kind) => {
            let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || *c == '-';
            Err(Fault::Kind(kind.chars().filter(is_plain).take(LONGEST_KIND).collect()))
        }
        None => Err(Fault::Damaged("it has no `type`".to_owned())),
    }
}

/// A project, which becomes a part of addresses and of a header.
fn named_project(json: &Value, name: &str) -> Result<Option<String>, Fault> {
    match text_of(json, name) {
        Some(project) if is_project(project) => Ok(Some(project.to_owned())),
        Some(_) => Err(Fault::Damaged(format!("its `{name}` is not a project id"))),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::testing::{service_account, user};
    use super::*;

    fn parse(text: &str) -> Result<Kept, Fault> {
        super::parse(text, &Hosts::default())
    }

    fn damage(json: &Value) -> String {
        match parse(&json.to_string()) {
            Err(Fault::Damaged(problem)) => problem,
            other => panic!("{other:?}"),
        }
    }

    fn with(mut json: Value, name: &str, value: Value) -> Value {
        json[name] = value;
        json
    }

    #[test]
    fn the_kinds_that_google_writes_are_read() {
        let of = |json: &Value| parse(&json.to_string()).unwrap();
        let kept = of(&service_account("https://oauth2.googleapis.com/token"));
        assert!(matches!(&kept.who, Who::Service(account) if account.email.contains("robot@")));
        assert_eq!((kept.project.as_deref(), kept.quota_project), (Some("project-of-robot"), None));
        let kept = of(&user("http://127.0.0.1:9/token"));
        assert!(matches!(&kept.who, Who::User(user) if user.token_url.as_str() == "http://127.0.0.1:9/token"));
        assert_eq!((kept.project, kept.quota_project.as_deref()), (None, Some("project-of-ada")));
        let mut without = user("x");
        without.as_object_mut().unwrap().remove("token_uri");
        assert!(matches!(of(&without).who, Who::User(user) if user.token_url.as_str() == TOKEN_URL));
        let acting = json!({ "type": "impersonated_service_account", "delegates": ["d"],
            "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/x:generateAccessToken",
            "source_credentials": user("https://oauth2.googleapis.com/token") });
        let Who::Impersonated(by, acting) = of(&acting).who else { panic!() };
        assert!(matches!(*by, Who::User(_)) && acting.delegates == ["d"]);
    }

    #[test]
    fn what_is_missing_or_damaged_is_named() {
        let (robot, ada) = (service_account("https://x.example/token"), user("https://x.example/token"));
        for (json, named) in [
            (with(robot.clone(), "private_key", json!("")), "`private_key`"),
            (with(robot.clone(), "client_email", json!(7)), "`client_email`"),
            (with(robot.clone(), "token_uri", json!("http://tokens.example/token")), "without https"),
            (with(robot.clone(), "token_uri", json!("ftp://tokens.example")), "https://"),
            (with(robot.clone(), "token_uri", json!("tokens")), "is not a URL"),
            (with(robot.clone(), "project_id", json!("../../evil")), "`project_id` is not a project id"),
            (with(robot, "universe_domain", json!("other.example")), "`universe_domain`"),
            (with(ada.clone(), "refresh_token", Value::Null), "`refresh_token`"),
            (with(ada.clone(), "client_secret", Value::Null), "`client_secret`"),
            (with(ada, "type", Value::Null), "`type`"),
            (json!({ "type": "impersonated_service_account" }), "`service_account_impersonation_url`"),
            (json!([1]), "not a JSON object"),
        ] {
            assert!(damage(&json).contains(named), "{named}: {}", damage(&json));
        }
        assert_eq!(parse("{\n \"type\": hunter2"), Err(Fault::Damaged("line 2 is not valid JSON".to_owned())));
        let twice = json!({ "type": "impersonated_service_account",
            "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/x",
            "source_credentials": { "type": "impersonated_service_account" } });
        assert_eq!(parse(&twice.to_string()), Err(Fault::Kind("impersonated_service_account".into())));
        let other = json!({ "type": "other_account\u{1b}[2J", "audience": "hunter2" });
        assert_eq!(parse(&other.to_string()), Err(Fault::Kind("other_account2J".into())));
    }

    #[test]
    fn no_account_that_acts_for_another_sends_its_token_to_a_host_that_is_none_of_googles() {
        let external = json!({ "type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
            "token_url": "https://sts.googleapis.com/v1/token", "credential_source": { "file": "/var/run/token" } });
        let google = "https://oauth2.googleapis.com/token";
        for source in [external, user(google), service_account(google)] {
            let acting = |url: &str| {
                json!({ "type": "impersonated_service_account", "service_account_impersonation_url": url,
                    "source_credentials": source })
            };
            let of_google = acting("https://iamcredentials.googleapis.com/v1/x:generateAccessToken");
            assert!(parse(&of_google.to_string()).is_ok());
            for url in [
                "https://evil.example/x:generateAccessToken",
                "https://iamcredentials.googleapis.com.evil.example/x:generateAccessToken",
                "https://storage.googleapis.com/x:generateAccessToken",
                "http://127.0.0.1:9999/x:generateAccessToken",
            ] {
                let problem = damage(&acting(url));
                assert!(problem.contains("`service_account_impersonation_url` is none of Google's"), "{problem}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_file_with_anything_in_it_is_read_or_refused(text in "\\PC{0,200}", name in "[a-z_]{1,12}", value in ".{0,40}") {
            let _ = parse(&text);
            let _ = parse(&with(service_account("https://x.example/token"), &name, json!(value)).to_string());
            let _ = parse(&with(user("https://x.example/token"), &name, json!(value)).to_string());
        }
    }
}
