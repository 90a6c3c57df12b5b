//! The access tokens of an identity, and its project.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use net::Url;
use net::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::Mutex;

use super::acting::Acting;
use super::assertion::assertion;
use super::endpoint::{self, Given, NotGiven};
use super::error::GoogleError;
use super::external::External;
use super::file::{ServiceAccount, User, Who};
use super::metadata;
use super::project::is_project;
use super::search::{Found, Surroundings};
use super::subject::{self, NoToken};
use crate::Secret;
use crate::cloud::SIGN_IN_AT_GOOGLE;
use crate::failure::quote;
use crate::fetched::{Age, Fetched};

/// The time before the end of a token at which another is fetched (google-auth's), so that none ends while a request is
/// under way. The service of a machine has a new one five minutes before.
const MARGIN: Duration = Duration::from_secs(225);
/// The header that says which project a request is counted for.
const QUOTA: HeaderName = HeaderName::from_static("x-goog-user-project");

/// Gives access tokens. One for all requests of an identity, so that a token is fetched once.
pub(crate) struct Tokens {
    around: Arc<Surroundings>,
    /// The token that was fetched.
    fetched: Fetched<Found, Token, GoogleError>,
    /// The project of the machine.
    project: Mutex<Option<(Url, String)>>,
    /// True once the service of the machine has given something, so that it is there.
    is_at_google: AtomicBool,
}

/// An access token.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Token {
    value: Secret,
    quota_project: Option<String>,
    /// True if the project that the user chose is the one that requests are counted for.
    may_choose: bool,
    ends: SystemTime,
}

/// The credentials that are known without asking anybody.
pub(crate) struct AtHand {
    /// The project that stands beside them.
    pub(crate) project: Option<String>,
    /// The file, for words.
    pub(crate) source: String,
    /// True if they are a person's sign-in, which can be renewed by another.
    pub(crate) is_person: bool,
}

impl Tokens {
    /// The tokens of an identity in these surroundings. Nothing has been looked for yet.
    pub(super) fn new(around: Surroundings) -> Self {
        let is_at_google = AtomicBool::new(false);
        Self { around: Arc::new(around), fetched: Fetched::default(), project: Mutex::default(), is_at_google }
    }

    /// An access token that counts for some minutes more. Files are read each time, so that new credentials count at
    /// once; a token is kept until shortly before its end, and fetched by one request at a time.
    ///
    /// # Errors
    /// [`GoogleError`]: there are no credentials, or no token is given for them; says what to do.
    pub(crate) async fn token(&self) -> Result<Token, GoogleError> {
        let found = self.find().await?;
        let now = || self.around.clock.now();
        let age = |kept: &Token| match (kept.lasts(now(), MARGIN), kept.lasts(now(), Duration::ZERO)) {
            (true, _) => Age::Fresh,
            (false, true) => Age::Old,
            (false, false) => Age::Over,
        };
        let (token, failure) = self.fetched.get(&found, age, async || self.fetch(&found).await).await?;
        if let Some(failure) = failure {
            tracing::warn!("Google credentials: {failure}");
        }
        Ok(token)
    }

    /// Takes in that a server refused a token with this status. True if it is worth sending the request once more:
    /// there is another token by now.
    pub(crate) async fn is_worth_another_try(&self, refused: &Token, status: u16) -> bool {
        if status != 401 {
            return false;
        }
        self.fetched.forget(|kept| kept.value == refused.value).await;
        self.token().await.is_ok_and(|other| other.value != refused.value)
    }

    /// The project that stands beside the credentials, or that the machine belongs to; none if neither is known.
    ///
    /// # Errors
    /// There are no credentials.
    pub(crate) async fn project(&self) -> Result<Option<String>, GoogleError> {
        match self.find().await? {
            Found::File { kept, .. } => Ok(kept.project.or(kept.quota_project)),
            Found::Machine { base, looked } => {
                let mut known = self.project.lock().await;
                if let Some((_, project)) = known.as_ref().filter(|(of, _)| *of == base) {
                    return Ok(Some(project.clone()));
                }
                let project = metadata::project(&self.around.http, &base).await;
                let project = project.map_err(|failure| self.of_machine(failure, &base, &looked))?;
                self.is_at_google.store(true, Ordering::Relaxed);
                let project = Some(project).filter(|project| is_project(project));
                *known = project.clone().map(|project| (base, project));
                Ok(project)
            }
        }
    }

    /// The credentials in files. Asks nobody. Blocks.
    pub(crate) fn at_hand(&self) -> Option<AtHand> {
        match self.around.find() {
            Ok(Found::File { file, kept }) => Some(AtHand {
                source: source_of(&file),
                is_person: matches!(kept.who, Who::User(_)),
                project: kept.project.or(kept.quota_project),
            }),
            Ok(Found::Machine { .. }) | Err(_) => None,
        }
    }

    async fn find(&self) -> Result<Found, GoogleError> {
        let around = Arc::clone(&self.around);
        let found = tokio::task::spawn_blocking(move || around.find()).await;
        found.unwrap_or(Err(GoogleError::Nowhere { looked: vec!["the server is ending".to_owned()] }))
    }

    async fn fetch(&self, found: &Found) -> Result<Token, GoogleError> {
        let variable = self.around.variable("GOOGLE_CLOUD_QUOTA_PROJECT").filter(|project| is_project(project));
        let (given, quota_project, is_person) = match found {
            Found::File { file, kept } => {
                let given = self.given_to(&kept.who, file).await?;
                (given, kept.quota_project.clone(), matches!(kept.who, Who::User(_)))
            }
            Found::Machine { base, looked } => {
                let given = metadata::token(&self.around.http, base).await;
                let given = given.map_err(|failure| self.of_machine(failure, base, looked))?;
                self.is_at_google.store(true, Ordering::Relaxed);
                (given, None, false)
            }
        };
        let may_choose = is_person && variable.is_none();
        let ends = self.around.clock.now().checked_add(given.lasts).unwrap_or(SystemTime::UNIX_EPOCH);
        let quota_project = variable.map(str::to_owned).or(quota_project);
        Ok(Token { value: given.token, quota_project, may_choose, ends })
    }

    /// The failure of the service of a machine. Where none is known to be there, there are no credentials.
    fn of_machine(&self, failure: metadata::Failure, base: &Url, looked: &[String]) -> GoogleError {
        let metadata::Failure { problem, may_pass } = failure;
        let host = host_of(base);
        if may_pass || self.is_at_google.load(Ordering::Relaxed) {
            return GoogleError::Unreachable { host, problem };
        }
        let last = format!("Google's metadata server ({host}): {problem}");
        GoogleError::Nowhere { looked: looked.iter().cloned().chain([last]).collect() }
    }

    async fn given_to(&self, who: &Who, file: &Path) -> Result<Given, GoogleError> {
        match who {
            Who::Service(account) => self.given_to_service(account, file).await,
            Who::User(user) => self.given_to_user(user, file).await,
            Who::Impersonated(by, wanted) => self.given_to_impersonated(by, wanted, file).await,
            Who::External(external) => self.given_to_external(external, file).await,
        }
    }

    async fn given_to_service(&self, account: &ServiceAccount, file: &Path) -> Result<Given, GoogleError> {
        let mut is_again = false;
        loop {
            let at = self.around.clock.now();
            let signed = assertion(account, at).map_err(|problem| GoogleError::File {
                file: file.display().to_string(),
                problem,
                advice: "Download the service account's key again".to_owned(),
            })?;
            let Surroundings { http, patience, clock, .. } = &*self.around;
            let refused = match endpoint::by_assertion(http, *patience, &account.token_url, &signed).await {
                Ok(given) => return Ok(given),
                Err(refused) => refused,
            };
            if let NotGiven::Refused { headers, .. } = &refused
                && !is_again
                && clock.learn(headers, at)
            {
                is_again = true;
                continue;
            }
            let advice = |about: &str| {
                if about.contains("timeframe") || about.contains("short-lived") {
                    "Set the clock of this machine".to_owned()
                } else {
                    "Check in Google Cloud that the service account and this key of it still exist, or create a new key"
                        .to_owned()
                }
            };
            return Err(refusal(refused, &account.token_url, file, &[&account.private_key, &signed], advice));
        }
    }

    async fn given_to_user(&self, user: &User, file: &Path) -> Result<Given, GoogleError> {
        let Surroundings { http, patience, .. } = &*self.around;
        let User { client_id, client_secret, refresh_token, token_url } = user;
        let fields = [client_id.as_str(), client_secret.expose(), refresh_token.expose()];
        let given = endpoint::by_refresh_token(http, *patience, token_url, fields).await;
        let advice = |_: &str| format!("Sign in again with `{SIGN_IN_AT_GOOGLE}`");
        given.map_err(|refused| refusal(refused, token_url, file, &[client_secret, refresh_token], advice))
    }

    async fn given_to_impersonated(&self, by: &Who, wanted: &Acting, file: &Path) -> Result<Given, GoogleError> {
        let by = match by {
            Who::Service(account) => self.given_to_service(account, file).await?,
            Who::User(user) => self.given_to_user(user, file).await?,
            Who::External(external) => self.given_to_external(external, file).await?,
            Who::Impersonated(..) => {
                return Err(GoogleError::Kind {
                    file: file.display().to_string(),
                    kind: "impersonated_service_account".to_owned(),
                });
            }
        };
        self.given_to_acting(&by, wanted, (file, "Service Account Token Creator")).await
    }

    async fn given_to_external(&self, external: &External, file: &Path) -> Result<Given, GoogleError> {
        let subject = subject::token(&self.around, external).await.map_err(|failure| {
            let NoToken { source: source_name, problem, advice, may_pass } = failure;
            GoogleError::Subject { file: file.display().to_string(), source_name, problem, advice, may_pass }
        })?;
        let Surroundings { http, patience, .. } = &*self.around;
        let given = endpoint::by_exchange(http, *patience, external, &subject).await;
        let advice = |_: &str| {
            "Check the identity pool and its provider in Google Cloud, and that the token is of the identity that they \
             expect"
                .to_owned()
        };
        let secret = external.client.as_ref().map(|(_, secret)| secret);
        let secrets: Vec<_> = [&subject].into_iter().chain(secret).collect();
        let given = given.map_err(|refused| refusal(refused, &external.token_url, file, &secrets, advice))?;
        match &external.acting {
            Some(wanted) => self.given_to_acting(&given, wanted, (file, "Workload Identity User")).await,
            None => Ok(given),
        }
    }

    /// Asks for a token of a service account with that of the account that acts in its name, which has this role.
    async fn given_to_acting(
        &self,
        by: &Given,
        wanted: &Acting,
        (file, role): (&Path, &str),
    ) -> Result<Given, GoogleError> {
        let Surroundings { http, patience, clock, .. } = &*self.around;
        let given = endpoint::by_other(http, *patience, wanted, &by.token, clock.now()).await;
        let is_denied = matches!(&given, Err(NotGiven::Refused { code, .. }) if code == "PERMISSION_DENIED");
        let advice = |_: &str| match is_denied {
            true => format!("Grant the role {role} for that service account to the account that acts in its name"),
            false => "Check the service account that the file names".to_owned(),
        };
        given.map_err(|refused| refusal(refused, &wanted.url, file, &[&by.token], advice))
    }
}

impl Token {
    /// The headers that carry it.
    pub(crate) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Ok(mut value) = HeaderValue::try_from(format!("Bearer {}", self.value.expose())) {
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let quota = self.quota_project.as_deref().and_then(|project| HeaderValue::try_from(project).ok());
        headers.extend(quota.map(|quota| (QUOTA, quota)));
        headers
    }

    /// The same for requests in a project that the user chose. A person's requests are counted for it; those of a
    /// service account, and those that a variable names a project for, are counted as before.
    pub(crate) fn counted_for(self, chosen: Option<&str>) -> Self {
        let chosen = chosen.filter(|_| self.may_choose).map(str::to_owned);
        Self { quota_project: chosen.or(self.quota_project), ..self }
    }

    /// The token itself, which nobody else may see.
    pub(crate) fn secret(&self) -> Secret {
        self.value.clone()
    }

    /// True if it counts for longer than this.
    fn lasts(&self, now: SystemTime, time: Duration) -> bool {
        now.checked_add(time).is_some_and(|then| then < self.ends)
    }
}

/// The name of what tokens come from, for words.
fn source_of(file: &Path) -> String {
    format!("the Google credentials in {}", file.display())
}

fn refusal(
    refused: NotGiven,
    url: &Url,
    file: &Path,
    secrets: &[&Secret],
    advice: impl Fn(&str) -> String,
) -> GoogleError {
    let host = host_of(url);
    match refused {
        NotGiven::Refused { code, words, .. } => {
            let said = [code.as_str(), words.as_str()].into_iter().filter(|text| !text.is_empty());
            let said = quote(&said.collect::<Vec<_>>().join(": "), secrets.iter().copied());
            GoogleError::Refused { host, file: file.display().to_string(), said, advice: advice(&words) }
        }
        NotGiven::Unreachable(problem) => GoogleError::Unreachable { host, problem },
        NotGiven::Garbage(problem) => GoogleError::Garbage { host, problem },
    }
}

fn host_of(url: &Url) -> String {
    crate::failure::host(url.as_str())
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").finish_non_exhaustive()
    }
}

impl fmt::Debug for Token {
    /// Without the token. Its end is no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("ends", &self.ends).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files of Google's programs")]
mod tests;
