//! The token of another identity that is exchanged for one of Google's: it is read from a file, asked of a server, or
//! printed by a program.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use net::{HttpError, Url, read};
use serde_json::Value;

use super::acting::Acting;
use super::external::{External, Format, Program, Source};
use super::search::Surroundings;
use crate::Secret;
use crate::own_file;

/// The variable by which a user allows that a program runs for credentials.
const ALLOWED: &str = "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES";
/// The most bytes of an answer that are read, and of a token.
const MOST: usize = 64 * 1024;
/// The newest version of what programs print that is known (google-auth's).
const VERSION: u64 = 1;

/// There is no token.
#[derive(Debug)]
pub(super) struct NoToken {
    /// The file, the server or the program, for words.
    pub(super) source: String,
    /// The problem, in words, without anything of a token.
    pub(super) problem: String,
    /// The thing to do.
    pub(super) advice: &'static str,
    /// True if there may be one a moment later.
    pub(super) may_pass: bool,
}

impl Source {
    /// The thing to do if no token comes from there.
    fn advice(&self) -> &'static str {
        match self {
            Self::File(..) => "Check that you may read this file, and that the program that writes it still does",
            Self::Url { .. } => "Check that this server runs, and that the `url` and its `format` are right",
            Self::Program(_) => {
                "Check the `executable` of the credentials, and run the program in a terminal to see why"
            }
        }
    }

    /// The place, for words. Addresses and arguments can hold secrets.
    fn name(&self) -> String {
        match self {
            Self::File(file, _) => file.display().to_string(),
            Self::Url { url, .. } => crate::failure::host(url.as_str()),
            Self::Program(program) => format!("`{}`", program.words.first().map(String::as_str).unwrap_or_default()),
        }
    }
}

/// The token of an identity.
///
/// # Errors
/// There is none; says why.
pub(super) async fn token(around: &Arc<Surroundings>, external: &External) -> Result<Secret, NoToken> {
    let found = match &external.source {
        Source::File(file, format) => {
            let path = file.clone();
            let text = blocking(move || own_file::text(&path)).await?;
            text.map_err(|error| of(format!("it cannot be read: {error}"))).and_then(|text| parsed(&text, format))
        }
        Source::Url { url, headers, format } => {
            asked(around, url, headers).await.and_then(|text| parsed(&text, format))
        }
        Source::Program(program) => printed(around, external, program).await,
    };
    let named = |problem: Problem| NoToken {
        source: external.source.name(),
        problem: problem.0,
        advice: external.source.advice(),
        may_pass: problem.1,
    };
    let token = found.map_err(named)?;
    if is_token(&token) { Ok(token) } else { Err(named(of("it has no token"))) }
}

fn is_token(token: &Secret) -> bool {
    (1..=MOST).contains(&token.expose().len())
}

/// A problem, and whether it may pass.
struct Problem(String, bool);

fn of(problem: impl Into<String>) -> Problem {
    Problem(problem.into(), false)
}

/// The token in a text.
fn parsed(text: &str, format: &Format) -> Result<Secret, Problem> {
    let Some(field) = format else { return Ok(Secret::new(text)) };
    let json: Value = serde_json::from_str(text).map_err(|_| of("it is no JSON"))?;
    let token = json.get(field).and_then(Value::as_str);
    token.map(Secret::new).ok_or_else(|| of(format!("its JSON has no text `{field}`")))
}

/// The answer of a server.
async fn asked(around: &Surroundings, url: &Url, headers: &[(String, Secret)]) -> Result<String, Problem> {
    // A machine's own service is behind no proxy.
    let client = match url.scheme() {
        "https" => around.http.client(url).await,
        _ => around.http.direct().await,
    };
    let client = client.map_err(|problem| of(problem.to_string()))?;
    let headers = headers.iter().try_fold(client.get(url.clone()), |get, (name, value)| {
        let name = net::header::HeaderName::try_from(name.as_str()).map_err(|_| of("a header's name is none"))?;
        let value = net::header::HeaderValue::try_from(value.expose());
        let mut value = value.map_err(|_| of(format!("the header `{name}` cannot be sent")))?;
        value.set_sensitive(true);
        Ok::<_, Problem>(get.header(name, value))
    });
    let get = headers?;
    let whole = async {
        let response = get.send().await?;
        let status = response.status().as_u16();
        Ok::<_, HttpError>((status, read(response, MOST).await?))
    };
    match tokio::time::timeout(around.patience, whole).await {
        Err(_) => Err(Problem(format!("it did not answer within {} seconds", around.patience.as_secs_f64()), true)),
        Ok(Err(_)) => Err(Problem("it cannot be reached".to_owned(), true)),
        Ok(Ok((200, body))) => Ok(String::from_utf8_lossy(&body).into_owned()),
        Ok(Ok((status, _))) => Err(Problem(format!("it answered with status {status}"), matches!(status, 429 | 500..))),
    }
}

/// The token that a program prints, or has printed into its file.
async fn printed(around: &Arc<Surroundings>, external: &External, program: &Program) -> Result<Secret, Problem> {
    if around.variable(ALLOWED) != Some("1") {
        return Err(of(format!("programs run for credentials only if you set {ALLOWED} to 1")));
    }
    let (shared, words) = (Arc::clone(around), program.words.clone());
    blocking(move || is_users_own(&shared, &words)).await.map_err(|gone| of(gone.problem))??;
    let now = around.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    if let Some(file) = program.output_file.clone() {
        let shared = Arc::clone(around);
        let kept = blocking(move || shared.run.is_users_own(&file).then(|| own_file::text(&file).ok()).flatten());
        let kept = kept.await.ok().flatten().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        // One without an end is over, as for google-auth.
        let kept = kept.filter(|kept| kept.get("expiration_time").is_some());
        // Words about a token are then always about one that the program has printed.
        if let Some(Ok(token)) = kept.map(|kept| said(&kept, now))
            && is_token(&token)
        {
            return Ok(token);
        }
    }
    let words = with_variables(external, program);
    let output = tokio::time::timeout(program.patience, around.run.output(&words)).await;
    let seconds = program.patience.as_secs_f64();
    let late = || Problem(format!("it took longer than {seconds} seconds and was ended"), true);
    let output = output.map_err(|_| late())?.map_err(of)?;
    let output: Value = serde_json::from_slice(&output).map_err(|_| of("it printed no JSON"))?;
    said(&output, now)
}

/// Checks that a program, and each file that its words name, is no project's. Blocks.
fn is_users_own(around: &Surroundings, words: &[String]) -> Result<(), Problem> {
    // `env` takes what has `=` in it for a variable.
    let is_named_whole = words.first().is_some_and(|program| program.starts_with('/') && !program.contains('='));
    if !is_named_whole {
        return Err(of("it is not named from the root on, so it would be a different program in each folder"));
    }
    match words.iter().flat_map(|word| paths(word)).any(|path| !around.run.is_users_own(&path)) {
        true => Err(of("it does not run, since a project or a command may have written it")),
        false => Ok(()),
    }
}

/// The paths that a word of a command may name: all of it, and what begins behind a character that stands between paths
/// (`--path=/a:/b`), each up to the next such character, and to the word's end. Right behind an option (`-f/a`) there
/// is no such character. The program runs in `/`, so a path without a first `/` begins there too.
fn paths(word: &str) -> impl Iterator<Item = PathBuf> {
    let is_between = |c: char| c.is_whitespace() || ":=,;'\"`|&<>()[]{}@".contains(c);
    let begins = word.char_indices().filter(move |(_, c)| is_between(*c)).map(|(at, c)| at + c.len_utf8());
    let rests = std::iter::once(0).chain(begins).filter_map(|at| word.get(at..));
    let texts = rests.flat_map(move |rest| [rest, rest.split(is_between).next().unwrap_or(rest)]);
    let with_root = texts.filter_map(|text| Some((text, text.get(text.find('/')?..)?)));
    with_root.flat_map(|(text, rooted)| [Path::new("/").join(text), PathBuf::from(rooted)])
}

/// The words that start a program with the variables that it is told by (google-auth's).
fn with_variables(external: &External, program: &Program) -> Vec<String> {
    const NAME: &str = "GOOGLE_EXTERNAL_ACCOUNT_";
    let email = external.acting.as_ref().and_then(Acting::email);
    let file = program.output_file.as_ref().map(|file| file.display().to_string());
    let variables = [
        ("AUDIENCE", Some(external.audience.as_str())),
        ("TOKEN_TYPE", Some(external.token_type.as_str())),
        ("INTERACTIVE", Some("0")),
        ("REVOKE", Some("0")),
        ("IMPERSONATED_EMAIL", email),
        ("OUTPUT_FILE", file.as_deref()),
    ];
    let set = variables.iter().filter_map(|(name, value)| Some(format!("{NAME}{name}={}", (*value)?)));
    ["env".to_owned()].into_iter().chain(set).chain(program.words.iter().cloned()).collect()
}

/// The token in what a program says.
fn said(json: &Value, now: u64) -> Result<Secret, Problem> {
    let is_known = json.get("version").and_then(Value::as_u64).is_some_and(|version| version <= VERSION);
    if !is_known {
        return Err(of("it printed a version that is not known"));
    }
    let text = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default();
    if json.get("success").and_then(Value::as_bool) != Some(true) {
        let words = [text("code"), text("message")].join(" ");
        let words: String = crate::keys::left_out(words.trim()).chars().filter(|c| !c.is_control()).take(200).collect();
        return Err(of(format!("it failed: {words}")));
    }
    if json.get("expiration_time").and_then(Value::as_f64).is_some_and(|end| end < seconds(now)) {
        return Err(of("it printed a token that has expired"));
    }
    match text("token_type") {
        "urn:ietf:params:oauth:token-type:jwt" | "urn:ietf:params:oauth:token-type:id_token" => {
            Ok(Secret::new(text("id_token")))
        }
        "urn:ietf:params:oauth:token-type:saml2" => Ok(Secret::new(text("saml_response"))),
        _ => Err(of("it printed a token of a kind that is not known")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "seconds since 1970 fit for millions of years")]
fn seconds(now: u64) -> f64 {
    now as f64
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, NoToken> {
    let ending = |_| NoToken {
        source: "Azimuth".to_owned(),
        problem: "it is ending".to_owned(),
        advice: "Start it again",
        may_pass: true,
    };
    tokio::task::spawn_blocking(work).await.map_err(ending)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_program_prints_is_a_token_or_says_why_there_is_none() {
        let jwt = "urn:ietf:params:oauth:token-type:jwt";
        let good = json!({ "version": 1, "success": true, "token_type": jwt, "id_token": "a.b.c",
            "expiration_time": 100 });
        let token = |json: &Value| said(json, 100).map(|token| token.expose().to_owned()).map_err(|problem| problem.0);
        assert_eq!(token(&good).as_deref(), Ok("a.b.c"));
        let with = |name: &str, value: Value| {
            let mut json = good.clone();
            json[name] = value;
            token(&json)
        };
        let saml = json!({ "version": 1, "success": true, "saml_response": "PHg+",
            "token_type": "urn:ietf:params:oauth:token-type:saml2" });
        assert_eq!(token(&saml).as_deref(), Ok("PHg+"));
        for (outcome, part) in [
            (with("version", json!(2)), "version"),
            (with("expiration_time", json!(99)), "expired"),
            (with("token_type", json!("urn:x")), "kind"),
            (
                token(&json!({ "version": 1, "success": false, "code": "401", "message": "not\nsigned in" })),
                "401 notsigned in",
            ),
            (token(&json!([])), "version"),
        ] {
            let problem = outcome.unwrap_err();
            assert!(problem.contains(part) && !problem.contains("a.b.c"), "{part}: {problem}");
        }
    }

    #[test]
    fn a_token_is_the_whole_text_or_a_field_of_it() {
        let token = |text: &str, format: Option<&str>| {
            let token = parsed(text, &format.map(str::to_owned)).map_err(|problem| problem.0)?;
            Ok::<_, String>(token.expose().to_owned())
        };
        assert_eq!(token("a.b.c\n", None).as_deref(), Ok("a.b.c"));
        assert_eq!(token(r#"{"t": "a.b.c"}"#, Some("t")).as_deref(), Ok("a.b.c"));
        for (text, part) in [("hunter2", "no JSON"), (r#"{"u": "hunter2"}"#, "no text `t`"), (r#"{"t": 2}"#, "no text")]
        {
            let problem = token(text, Some("t")).unwrap_err();
            assert!(problem.contains(part) && !problem.contains("hunter2"), "{problem}");
        }
    }
}
