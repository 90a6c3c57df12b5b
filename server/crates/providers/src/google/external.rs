//! Credentials of another identity that Google takes for its own, such as those of a cluster or of a company's sign-in:
//! workload and workforce identity (cloud.google.com/iam/docs/workload-identity-federation, and
//! `google.auth.external_account` of PyPI `google-auth` 2.62).
//!
//! Such a file says where a token of that identity is found, and which server it is sent to. A file that others wrote
//! could so have any file of the user's sent away. So tokens go to Google's own hosts, and the token itself is of no
//! use to whoever wrote the file.

use std::path::PathBuf;
use std::time::Duration;

use net::{Url, is_loopback};
use serde_json::Value;

use super::acting::Acting;
use super::fields::{Fault, address, needed, text_of};
use super::hosts::Hosts;
use super::project::is_project;
use crate::Secret;
use crate::key_command::words;

/// The server that exchanges tokens, if a file names no other.
const TOKEN_URL: &str = "https://sts.googleapis.com/v1/token";
/// The kind of a token that is a signed request to AWS.
const OF_AWS: &str = "urn:ietf:params:aws:token-type:aws4_request";
/// The time that a program may take, in milliseconds (google-auth's).
const PATIENCE: u64 = 30_000;
/// The shortest and the longest such time that a file may name (google-auth's).
const PATIENCES: std::ops::RangeInclusive<u64> = 5_000..=120_000;
/// The address at which clouds tell their machines who they are. It has no TLS, and does not leave the machine's host.
const OF_MACHINES: &str = "169.254.169.254";

/// Another identity.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct External {
    /// Google's name for the pool and the provider that the identity belongs to.
    pub(super) audience: String,
    /// The kind of its tokens.
    pub(super) token_type: String,
    /// The server that exchanges them.
    pub(super) token_url: Url,
    /// The place where they are found.
    pub(super) source: Source,
    /// The program's own id and secret at that server.
    pub(super) client: Option<(String, Secret)>,
    /// The project that requests of a person of a workforce are counted for.
    pub(super) user_project: Option<String>,
    /// The service account in whose name the identity acts.
    pub(super) acting: Option<Acting>,
}

/// The place where a token is found.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// A file.
    File(PathBuf, Format),
    /// A server.
    Url {
        /// The address.
        url: Url,
        /// The headers that the server asks for, which may be secret.
        headers: Vec<(String, Secret)>,
        /// The form of its answer.
        format: Format,
    },
    /// A program.
    Program(Program),
}

/// The form in which a token is found: as it is, or in this field of an object of JSON.
pub(super) type Format = Option<String>;

/// A program that prints a token.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) words: Vec<String>,
    pub(super) patience: Duration,
    /// The file in which it keeps its token.
    pub(super) output_file: Option<PathBuf>,
}

impl External {
    /// The identity that a file of credentials describes.
    pub(super) fn read(json: &Value, hosts: &Hosts) -> Result<Self, Fault> {
        let (audience, token_type) = (needed(json, "audience")?, needed(json, "subject_token_type")?);
        if token_type == OF_AWS {
            return Err(Fault::Kind("external_account of AWS".to_owned()));
        }
        let token_url = match address(json, "token_url")? {
            Some(url) => url,
            None => Url::parse(TOKEN_URL).map_err(|_| Fault::Damaged("it has no `token_url`".to_owned()))?,
        };
        let acting = Acting::read(json, hosts)?;
        hosts.check(&token_url, "sts", "token_url")?;
        let client = text_of(json, "client_id").map(|id| {
            let secret = Secret::new(text_of(json, "client_secret").unwrap_or_default());
            (id.to_owned(), secret)
        });
        let user_project = text_of(json, "workforce_pool_user_project").map(str::to_owned);
        let source = json.get("credential_source").filter(|source| source.is_object());
        let source = source.ok_or_else(|| Fault::Damaged("it has no `credential_source`".to_owned()))?;
        let source = Source::read(source)?;
        let (audience, token_type) = (audience.to_owned(), token_type.to_owned());
        let external = Self { audience, token_type, token_url, source, client, user_project, acting };
        if external.user_project.is_some() && !external.is_of_workforce() {
            let problem = "it has a `workforce_pool_user_project`, and its `audience` is no workforce pool";
            return Err(Fault::Damaged(problem.to_owned()));
        }
        Ok(external)
    }

    /// The project that the pool belongs to, by its number.
    pub(super) fn project(&self) -> Option<String> {
        let mut parts = self.audience.split('/').skip_while(|part| *part != "projects").skip(1);
        parts.next().filter(|project| is_project(project)).map(str::to_owned)
    }

    /// True if the identity is a person of a company.
    fn is_of_workforce(&self) -> bool {
        let place = self.audience.strip_prefix("//iam.googleapis.com/locations/");
        place.and_then(|place| place.split_once('/')).is_some_and(|(_, rest)| rest.starts_with("workforcePools/"))
    }
}

impl Source {
    fn read(json: &Value) -> Result<Self, Fault> {
        let damaged = |problem: &str| Err(Fault::Damaged(format!("its `credential_source` {problem}")));
        let has = |name: &str| json.get(name).is_some_and(|value| !value.is_null());
        for (name, kind) in [("certificate", "a certificate"), ("environment_id", "AWS")] {
            if has(name) {
                return Err(Fault::Kind(format!("external_account of {kind}")));
            }
        }
        match (text_of(json, "file"), text_of(json, "url"), json.get("executable")) {
            (Some(file), None, None) => {
                let file = PathBuf::from(file);
                if file.is_relative() {
                    return damaged("names a `file` that is not named from the root on");
                }
                Ok(Self::File(file, format(json)?))
            }
            (None, Some(url), None) => match Url::parse(url) {
                Ok(url) if is_safe(&url) => Ok(Self::Url { url, headers: headers(json), format: format(json)? }),
                Ok(_) => damaged("has a `url` that is neither https nor on this machine"),
                Err(_) => damaged("has a `url` that is none"),
            },
            (None, None, Some(executable)) => Program::read(executable).map(Self::Program),
            (None, None, None) => damaged("has no `file`, `url` or `executable`"),
            _ => damaged("has more than one of `file`, `url` and `executable`"),
        }
    }
}

impl Program {
    fn read(json: &Value) -> Result<Self, Fault> {
        let damaged = |problem: String| Fault::Damaged(format!("its `executable` {problem}"));
        let command = text_of(json, "command").ok_or_else(|| damaged("has no `command`".to_owned()))?;
        let words =
            words(command).map_err(|problem| damaged(format!("has a `command` that cannot be used: {problem}")))?;
        let patience = json.get("timeout_millis").and_then(Value::as_u64).unwrap_or(PATIENCE);
        if !PATIENCES.contains(&patience) {
            return Err(damaged("has a `timeout_millis` that is not between 5000 and 120000".to_owned()));
        }
        let output_file = text_of(json, "output_file").map(PathBuf::from);
        if output_file.as_ref().is_some_and(|file| file.is_relative()) {
            return Err(damaged("names an `output_file` that is not named from the root on".to_owned()));
        }
        Ok(Self { words, patience: Duration::from_millis(patience), output_file })
    }
}

fn format(json: &Value) -> Result<Format, Fault> {
    let damaged = |problem: &str| Fault::Damaged(format!("the `format` of its `credential_source` {problem}"));
    let Some(format) = json.get("format").filter(|format| format.is_object()) else { return Ok(None) };
    match text_of(format, "type") {
        None | Some("text") => Ok(None),
        Some("json") => {
            let field = text_of(format, "subject_token_field_name");
            field.map(|field| Some(field.to_owned())).ok_or_else(|| damaged("has no `subject_token_field_name`"))
        }
        Some(_) => Err(damaged("is neither `text` nor `json`")),
    }
}

fn headers(json: &Value) -> Vec<(String, Secret)> {
    let headers = json.get("headers").and_then(Value::as_object).into_iter().flatten();
    headers.filter_map(|(name, value)| Some((name.clone(), Secret::new(value.as_str()?)))).collect()
}

/// True if a server may be asked for a token: nobody on the way can read or change its answer.
fn is_safe(url: &Url) -> bool {
    let is_near = is_loopback(url) || url.host_str() == Some(OF_MACHINES);
    url.scheme() == "https" || url.scheme() == "http" && is_near
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file() -> Value {
        json!({ "type": "external_account", "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "audience": "//iam.googleapis.com/projects/123/locations/global/workloadIdentityPools/p/providers/q",
            "token_url": "https://sts.googleapis.com/v1/token",
            "credential_source": { "file": "/var/run/token" } })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut file = file();
        file[name] = value;
        file
    }

    fn read(file: &Value) -> Result<External, Fault> {
        External::read(file, &Hosts::default())
    }

    fn from(source: Value) -> Result<External, Fault> {
        read(&with("credential_source", source))
    }

    #[test]
    fn a_file_of_each_source_is_read() {
        let external = read(&file()).ok().unwrap();
        assert!(external.source == Source::File("/var/run/token".into(), None));
        assert_eq!((external.project().as_deref(), external.acting), (Some("123"), None));
        let url = from(json!({ "url": "http://169.254.169.254/token", "headers": { "Metadata": "True" },
            "format": { "type": "json", "subject_token_field_name": "access_token" } }));
        let Source::Url { headers, format, .. } = url.ok().unwrap().source else { panic!() };
        assert_eq!((headers[0].0.as_str(), headers[0].1.expose()), ("Metadata", "True"));
        assert_eq!(format.as_deref(), Some("access_token"));
        let program = from(json!({ "executable": { "command": "/opt/sso --as 'a b'", "timeout_millis": 5000 } }));
        let Source::Program(program) = program.ok().unwrap().source else { panic!() };
        assert_eq!(
            (program.words.as_slice(), program.patience.as_secs()),
            (&["/opt/sso", "--as", "a b"].map(str::to_owned)[..], 5)
        );
        let acting = with(
            Acting::FIELD,
            json!("https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/a@b:generateAccessToken"),
        );
        let acting = read(&acting).ok().unwrap().acting.unwrap();
        assert_eq!((acting.email(), acting.lifetime), (Some("a@b"), 3_600));
        let mut person = with("workforce_pool_user_project", json!("p-1"));
        person["audience"] = json!("//iam.googleapis.com/locations/global/workforcePools/p/providers/q");
        let person = read(&person).ok().unwrap();
        assert_eq!((person.user_project.as_deref(), person.project()), (Some("p-1"), None));
    }

    #[test]
    fn tokens_are_sent_to_googles_hosts_only() {
        for host in [
            "sts",
            "eu.sts",
            "sts.eu-west1",
            "eu-west1-sts",
            "sts-of-mine.p",
            "sts.us-central1.rep",
            "sts.us-central1.rep.mtls",
            "sts.mtls",
        ] {
            assert!(
                read(&with("token_url", json!(format!("https://{host}.googleapis.com/v1/token")))).is_ok(),
                "{host}"
            );
        }
        for url in [
            "https://sts.example.com/v1/token",
            "https://sts.googleapis.com.example/v1/token",
            "https://sts.googleapis.com@example.com/v1/token",
            "https://storage.googleapis.com/v1/token",
            "https://a.b.sts.googleapis.com/v1/token",
            "https://evilsts.googleapis.com/v1/token",
            "https://evil.rep.googleapis.com/v1/token",
            "https://a.b.sts.rep.googleapis.com/v1/token",
            "https://sts.us-central1.rep.evil.googleapis.com/v1/token",
            "https://storage.us-central1.rep.googleapis.com/v1/token",
            "https://sts.us-central1.rep.googleapis.com.example/v1/token",
            "https://.sts.googleapis.com/v1/token",
            "https://googleapis.com/v1/token",
            "http://sts.googleapis.com/v1/token",
            "http://127.0.0.1:9999/v1/token",
            "http://localhost:9999/v1/token",
            "https://[::1]/v1/token",
        ] {
            let refused = read(&with("token_url", json!(url)));
            assert!(matches!(refused, Err(Fault::Damaged(problem)) if problem.contains("`token_url`")), "{url}");
        }
        let in_region = with(
            Acting::FIELD,
            json!("https://iamcredentials.us-central1.rep.googleapis.com/v1/x:generateAccessToken"),
        );
        assert!(read(&in_region).is_ok());
        let other = with(Acting::FIELD, json!("https://sts.googleapis.com/x:generateAccessToken"));
        assert!(matches!(read(&other), Err(Fault::Damaged(problem)) if problem.contains(Acting::FIELD)));
    }

    #[test]
    fn what_is_missing_or_cannot_be_used_is_named() {
        for (source, named) in [
            (json!({}), "no `file`, `url` or `executable`"),
            (json!({ "file": "/a", "url": "https://b.example" }), "more than one"),
            (json!({ "file": "token" }), "from the root on"),
            (json!({ "url": "http://tokens.example" }), "neither https nor on this machine"),
            (json!({ "url": "file:///etc/passwd" }), "neither https nor on this machine"),
            (json!({ "url": "tokens" }), "`url` that is none"),
            (json!({ "file": "/a", "format": { "type": "json" } }), "`subject_token_field_name`"),
            (json!({ "file": "/a", "format": { "type": "xml" } }), "neither `text` nor `json`"),
            (json!({ "executable": {} }), "no `command`"),
            (json!({ "executable": { "command": "/a 'b" } }), "a quotation mark or a backslash that nothing follows"),
            (json!({ "executable": { "command": "/a", "output_file": "kept" } }), "`output_file`"),
            (json!({ "executable": { "command": "/a", "timeout_millis": 1 } }), "`timeout_millis`"),
        ] {
            let refused = from(source);
            assert!(matches!(&refused, Err(Fault::Damaged(problem)) if problem.contains(named)), "{named}");
        }
        for (file, kind) in [
            (with("subject_token_type", json!(OF_AWS)), "external_account of AWS"),
            (with("credential_source", json!({ "environment_id": "aws1" })), "external_account of AWS"),
            (with("credential_source", json!({ "certificate": {} })), "external_account of a certificate"),
        ] {
            assert!(matches!(read(&file), Err(Fault::Kind(named)) if named == kind), "{kind}");
        }
        for name in ["audience", "subject_token_type", "credential_source"] {
            let refused = read(&with(name, Value::Null));
            assert!(matches!(&refused, Err(Fault::Damaged(problem)) if problem.contains(name)), "{name}");
        }
        let refused = read(&with("workforce_pool_user_project", json!("p")));
        assert!(matches!(refused, Err(Fault::Damaged(problem)) if problem.contains("workforce")));
    }
}
