//! The order in which credentials are looked for, which is that of AWS's own programs
//! (docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html): the environment, the profile, the service
//! of a container, the service of a machine.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use net::{Clients, Url};

use super::credentials::Credentials;
use super::metadata;
use super::process::{self, RunProgram};
use super::profile::{Files, Profile, Section, setting};
use crate::Secret;
use crate::fetched::{Age, Fetched};
use crate::key_command::words;
use crate::keys::left_out;
use crate::own_file;

/// The program of AWS's own that is asked where credentials have to be asked of a service of AWS's: it knows all the
/// ways, and renews what has ended. It is a part of AWS CLI 2
/// (docs.aws.amazon.com/cli/latest/reference/configure/export-credentials.html).
const EXPORT: [&str; 5] = ["aws", "configure", "export-credentials", "--format", "process"];

/// Settings of a profile, and the ways to get credentials that they stand for. These count before the keys of a
/// profile, in botocore's order.
const ROLE: Way = ("role_arn", "a role");
const BEFORE_KEYS: [Way; 3] = [
    ("web_identity_token_file", "a web identity"),
    ("sso_account_id", "IAM Identity Center"),
    ("sso_role_name", "IAM Identity Center"),
];
const LOGIN: Way = ("login_session", "`aws login`");
/// These are not all that IAM Identity Center needs, but nothing else is there.
const LAST: [Way; 2] = [("sso_session", "IAM Identity Center"), ("sso_start_url", "IAM Identity Center")];

/// A setting of a profile, and the name of what it stands for.
type Way = (&'static str, &'static str);

/// The names of an access key's two halves, and of the token of a session.
type Names = [&'static str; 3];

/// The variables of a key.
const VARIABLES: Names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];
/// The variable that names the file with a web identity.
const WEB_IDENTITY: &str = "AWS_WEB_IDENTITY_TOKEN_FILE";

/// Gives the value of a variable of the environment.
pub(crate) type Lookup = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// The surroundings of the program, as far as credentials depend on them.
pub(crate) struct Surroundings {
    /// The variables of the environment.
    pub(crate) lookup: Lookup,
    /// The user's home folder.
    pub(crate) home: Option<PathBuf>,
    /// The profile that the user chose for Azimuth. It counts before that of AWS_PROFILE, and before the keys of the
    /// environment.
    pub(crate) profile: Option<String>,
    /// Runs the program of `credential_process`, and AWS's own.
    pub(crate) run: Arc<dyn RunProgram>,
    /// Asks the services of containers and machines.
    pub(crate) http: Arc<Clients>,
    /// The clock that the end of credentials is compared with.
    pub(crate) now: Box<dyn Fn() -> SystemTime + Send + Sync>,
    /// True if the user has named AWS as a provider. Otherwise the machine's service is only asked if there is a
    /// region: on a machine that is not at AWS, it takes a second to find out that it is not there.
    pub(crate) is_named: bool,
}

/// Looks for credentials, and keeps those that were fetched until five minutes before they end.
pub(crate) struct Chain {
    around: Surroundings,
    /// The credentials that were fetched.
    fetched: Fetched<Source, Credentials, CredentialsError>,
    /// The warnings that have been given.
    warned: Mutex<HashSet<String>>,
}

/// There are no credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CredentialsError {
    /// There are none anywhere.
    #[error(
        "no AWS credentials were found. Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, \
         or run `aws configure`. It was looked for:{}", list(.looked)
    )]
    Nowhere {
        /// All that was looked for, with what was found.
        looked: Vec<String>,
    },
    /// Half of a key is there.
    #[error("{found} is set and {missing} is not ({at}); set both, or none")]
    Half {
        /// The half that is there.
        found: &'static str,
        /// The half that is not.
        missing: &'static str,
        /// The environment, or a file and its profile.
        at: String,
    },
    /// The profile of AWS_PROFILE, or of the setting, is in no file.
    #[error(
        "{by} names the profile `{profile}`, which does not exist; set it to another, or run \
         `aws configure --profile {profile}`. It was looked for:{}", list(.looked)
    )]
    NoProfile {
        /// The variable or the setting.
        by: &'static str,
        /// The profile's name.
        profile: String,
        /// The files, and what was found in each.
        looked: Vec<String>,
    },
    /// Credentials that AWS's own program is to get.
    #[error("{from}, so AWS's own program was asked for them (`{command}`): {problem}. {advice}")]
    ByAws {
        /// The profile and its way to get credentials, or the variable that stands for one.
        from: String,
        /// The command line.
        command: String,
        /// The problem, in words.
        problem: String,
        /// The thing to do.
        advice: String,
    },
    /// A program would obey a file that is not the user's own.
    #[error(
        "no program is run for AWS credentials, since it would read {file}, which a project or a command may have \
         written. AWS_CONFIG_FILE or AWS_SHARED_CREDENTIALS_FILE names it: unset that variable, or keep the file in a \
         folder of your own"
    )]
    Foreign {
        /// The file.
        file: String,
    },
    /// A source that was named has none.
    #[error("{source_name} gave no AWS credentials: {problem}. {advice}")]
    Source {
        /// The program or the service.
        source_name: String,
        /// The problem, in words.
        problem: String,
        /// The thing to do.
        advice: &'static str,
    },
}

/// Where credentials are fetched.
#[derive(Clone, PartialEq, Eq)]
enum Source {
    Process {
        profile: String,
        words: Vec<String>,
    },
    /// AWS's own program, for a profile or, without one, for what the environment says.
    Aws {
        profile: Option<String>,
        way: &'static str,
    },
    Container {
        variable: &'static str,
        url: Url,
    },
    Instance {
        base: String,
        looked: Vec<String>,
    },
}

/// The find in the environment and the files.
enum Found {
    Keys(Credentials),
    Elsewhere(Source),
}

impl Chain {
    /// A chain that has found nothing yet.
    pub(crate) fn new(around: Surroundings) -> Self {
        Self { around, fetched: Fetched::default(), warned: Mutex::default() }
    }

    /// The credentials. Keys of the environment and of the files are looked up each time, so that new ones count at
    /// once; others are kept until five minutes before they end, and asked for by one request at a time.
    ///
    /// # Errors
    /// There are none; says what was looked for, where, and what to do.
    pub(crate) async fn credentials(&self) -> Result<Credentials, CredentialsError> {
        let source = match self.find().await? {
            Found::Keys(keys) => return Ok(keys),
            Found::Elsewhere(source) => source,
        };
        let age = |kept: &Credentials| self.age(kept);
        let (credentials, failure) = self.fetched.get(&source, age, async || self.fetch(&source).await).await?;
        failure.into_iter().for_each(|failure| self.warn(&failure.to_string()));
        Ok(credentials)
    }

    /// True if a program has to be run for credentials, which may ask its user for something.
    pub(super) async fn needs_program(&self) -> bool {
        match self.find().await {
            Ok(Found::Elsewhere(source @ (Source::Process { .. } | Source::Aws { .. }))) => {
                !self.fetched.has(&source, |kept| self.age(kept))
            }
            Ok(Found::Keys(_) | Found::Elsewhere(_)) | Err(_) => false,
        }
    }

    fn age(&self, kept: &Credentials) -> Age {
        let now = (self.around.now)();
        match (kept.are_fresh(now), kept.are_valid(now)) {
            (true, _) => Age::Fresh,
            (false, true) => Age::Old,
            (false, false) => Age::Over,
        }
    }

    /// Forgets credentials that AWS refused, unless there are others by now.
    pub(crate) async fn forget(&self, refused: &Credentials) {
        self.fetched.forget(|kept| kept == refused).await;
    }

    /// The region: that of AWS_REGION or AWS_DEFAULT_REGION, else that of the profile.
    pub(crate) async fn region(&self) -> Option<String> {
        match self.region_or(&Profile::default()) {
            Some(region) => Some(region),
            None => self.region_or(&self.profile().await.1),
        }
    }

    /// The region of the environment, else that of a profile.
    fn region_or(&self, profile: &Profile) -> Option<String> {
        let named = self.variable("AWS_REGION").or_else(|| self.variable("AWS_DEFAULT_REGION"));
        named.or_else(|| profile.setting("region").map(str::to_owned))
    }

    /// The value of a variable that is not empty.
    fn variable(&self, name: &str) -> Option<String> {
        (self.around.lookup)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn files(&self) -> Files {
        let files = Files::of_environment(|name| self.variable(name), self.around.home.as_deref());
        match &self.around.profile {
            Some(profile) => Files { profile: profile.clone(), ..files },
            None => files,
        }
    }

    /// The files, and the profile in them.
    async fn profile(&self) -> (Files, Profile) {
        let files = self.files();
        let (reading, run) = (files.clone(), Arc::clone(&self.around.run));
        let read = move || reading.read(&|file| run.is_users_own(file));
        let profile = tokio::task::spawn_blocking(read).await.unwrap_or_default();
        profile.warnings.iter().for_each(|warning| self.warn(warning));
        (files, profile)
    }

    /// The files, and the profile in them. Blocks.
    fn profile_at_hand(&self) -> (Files, Profile) {
        let files = self.files();
        let profile = files.read(&|file| self.around.run.is_users_own(file));
        (files, profile)
    }

    /// Writes a warning to the log, once.
    fn warn(&self, warning: &str) {
        let is_new = self.warned.lock().is_ok_and(|mut warned| warned.insert(warning.to_owned()));
        if is_new {
            tracing::warn!("AWS credentials: {warning}");
        }
    }

    /// True if there are credentials, or a way to get them, in the environment or the files, and a region. Asks no
    /// service and runs no program. Blocks.
    pub(super) fn is_at_hand(&self) -> bool {
        let (files, profile) = self.profile_at_hand();
        let found = match self.in_environment() {
            Ok(Some(_)) => true,
            Ok(None) => !matches!(self.found(&files, &profile), Ok(Found::Elsewhere(Source::Instance { .. })) | Err(_)),
            Err(_) => false,
        };
        found && self.region_or(&profile).is_some()
    }

    /// The region that is known without asking anybody. Blocks.
    pub(super) fn region_at_hand(&self) -> Option<String> {
        self.region_or(&self.profile_at_hand().1)
    }

    /// True if the keys are those of the environment, which no command renews.
    pub(super) fn is_of_variables(&self) -> bool {
        matches!(self.in_environment(), Ok(Some(_)))
    }

    /// The name of what the credentials come from, for words.
    pub(super) fn source_name(&self) -> String {
        let profile = self.around.profile.clone().or_else(|| self.variable("AWS_PROFILE"));
        match (&self.around.profile, self.in_environment(), profile) {
            (None, Ok(Some(_)), _) => "the AWS credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".to_owned(),
            (_, _, Some(profile)) => format!("the AWS credentials of the profile `{}`", left_out(&profile)),
            (_, _, None) => "the AWS credentials".to_owned(),
        }
    }

    /// Looks in the environment and the files.
    async fn find(&self) -> Result<Found, CredentialsError> {
        if let Some(keys) = self.in_environment()? {
            return Ok(Found::Keys(keys));
        }
        let (files, profile) = self.profile().await;
        self.found(&files, &profile)
    }

    /// The keys of the environment, unless the user chose a profile.
    fn in_environment(&self) -> Result<Option<Credentials>, CredentialsError> {
        if self.around.profile.is_some() {
            return Ok(None);
        }
        let set = VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), self.variable(name)?)));
        keys(&set.collect(), VARIABLES, || "the environment".to_owned())
    }

    /// The find in a profile, and in what the environment says beside keys.
    fn found(&self, files: &Files, profile: &Profile) -> Result<Found, CredentialsError> {
        let found = self.found_in(files, profile)?;
        match (&found, &profile.foreign) {
            // It has the same variables, and would obey the file.
            (Found::Elsewhere(Source::Process { .. } | Source::Aws { .. }), Some(foreign)) => {
                Err(CredentialsError::Foreign { file: foreign.display().to_string() })
            }
            _ => Ok(found),
        }
    }

    fn found_in(&self, files: &Files, profile: &Profile) -> Result<Found, CredentialsError> {
        let (mut looked, is_chosen) = (Vec::new(), self.around.profile.is_some());
        if !is_chosen {
            looked.push("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: they are not set".to_owned());
        }
        looked.extend(profile.looked.iter().chain(&profile.warnings).cloned());
        let has_role = profile.setting(ROLE.0).is_some();
        if !is_chosen && !has_role && self.variable(WEB_IDENTITY).is_some() {
            return Ok(Found::Elsewhere(Source::Aws { profile: None, way: "a web identity" }));
        }
        if let Some(found) = of_profile(files, profile)? {
            return Ok(found);
        }
        if !profile.is_there && (is_chosen || self.variable("AWS_PROFILE").is_some()) {
            let by = if is_chosen { "the setting `aws_profile`" } else { "AWS_PROFILE" };
            return Err(CredentialsError::NoProfile { by, profile: left_out(&files.profile).into_owned(), looked });
        }
        if let Some(source) = self.container()? {
            return Ok(Found::Elsewhere(source));
        }
        looked.push("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and …_FULL_URI: they are not set".to_owned());
        let is_off = self.variable("AWS_EC2_METADATA_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if is_off {
            looked.push("the service of a machine at EC2: AWS_EC2_METADATA_DISABLED is true".to_owned());
        } else if self.around.is_named || self.region_or(profile).is_some() {
            let base = self.variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
            let base = base.unwrap_or_else(|| metadata::INSTANCE.to_owned());
            return Ok(Found::Elsewhere(Source::Instance { base, looked }));
        } else {
            looked.push("the service of a machine at EC2: it is not asked without a region (AWS_REGION)".to_owned());
        }
        Err(CredentialsError::Nowhere { looked })
    }

    /// The service of the container that this runs in.
    fn container(&self) -> Result<Option<Source>, CredentialsError> {
        let relative = self.variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let relative = relative.map(|path| {
            let slash = if path.starts_with('/') { "" } else { "/" };
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", format!("{}{slash}{path}", metadata::CONTAINER))
        });
        let full =
            || Some(("AWS_CONTAINER_CREDENTIALS_FULL_URI", self.variable("AWS_CONTAINER_CREDENTIALS_FULL_URI")?));
        let Some((variable, url)) = relative.or_else(full) else { return Ok(None) };
        match metadata::container_url(&url) {
            Ok(url) => Ok(Some(Source::Container { variable, url })),
            Err(problem) => Err(of_container(variable, problem)),
        }
    }

    async fn fetch(&self, source: &Source) -> Result<Credentials, CredentialsError> {
        let http = &self.around.http;
        match source {
            Source::Process { profile, words } => {
                let fetched = process::credentials(&*self.around.run, words).await;
                fetched.map_err(|problem| of_process(profile, words, problem))
            }
            Source::Aws { profile, way } => {
                let words = EXPORT.iter().copied().chain(profile.iter().flat_map(|name| ["--profile", name.as_str()]));
                let words: Vec<_> = words.map(str::to_owned).collect();
                let fetched = process::credentials(&*self.around.run, &words).await;
                fetched.map_err(|problem| of_aws(profile.as_deref(), way, problem))
            }
            Source::Container { variable, url } => {
                let token = self.container_token().await.map_err(|problem| of_container(variable, problem))?;
                let fetched = metadata::container(http, url, token.as_ref()).await;
                fetched.map_err(|problem| of_container(variable, problem))
            }
            Source::Instance { base, looked } => metadata::instance(http, base).await.map_err(|problem| {
                let last = format!("the service of a machine at EC2 ({}): {problem}", crate::failure::host(base));
                CredentialsError::Nowhere { looked: looked.iter().cloned().chain([last]).collect() }
            }),
        }
    }

    /// The token for a container's service. Its file changes, so it is read each time.
    async fn container_token(&self) -> Result<Option<Secret>, String> {
        let Some(file) = self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") else {
            return Ok(self.variable("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(|token| Secret::new(&token)));
        };
        let path = PathBuf::from(&file);
        if path.is_relative() {
            let file = left_out(&file);
            return Err(format!(
                "{file}, the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, is not read, since it is not named from \
                 the root on"
            ));
        }
        let text = tokio::task::spawn_blocking(move || own_file::text(&path)).await;
        let text = text.map_err(|_| "the server is ending".to_owned())?;
        let text = text.map_err(|error| {
            let file = left_out(&file);
            format!("{file}, the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, cannot be read: {error}")
        })?;
        Ok(Some(Secret::new(&text)))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

/// The find in a profile, in botocore's order: a role, a web identity, IAM Identity Center, keys of the file of
/// credentials, a login, a program, keys of the config file.
fn of_profile(files: &Files, profile: &Profile) -> Result<Option<Found>, CredentialsError> {
    const SETTINGS: Names = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];
    let shown = left_out(&files.profile).into_owned();
    let at = |file: &Option<PathBuf>| {
        let file = file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
        format!("the profile `{shown}` in {file}")
    };
    let by_aws = |ways: &[Way]| {
        let (_, way) = ways.iter().find(|(name, _)| profile.setting(name).is_some())?;
        Some(Found::Elsewhere(Source::Aws { profile: Some(files.profile.clone()), way }))
    };
    if let Some(found) = by_aws(&[ROLE]).or_else(|| by_aws(&BEFORE_KEYS)) {
        return Ok(Some(found));
    }
    if let Some(keys) = keys(&profile.credentials, SETTINGS, || at(&files.credentials))? {
        return Ok(Some(Found::Keys(keys)));
    }
    if let Some(found) = by_aws(&[LOGIN]) {
        return Ok(Some(found));
    }
    if let Some(command) = profile.setting("credential_process") {
        let words = words(command).map_err(|problem| of_process(&shown, &[], problem))?;
        return Ok(Some(Found::Elsewhere(Source::Process { profile: shown, words })));
    }
    if let Some(keys) = keys(&profile.config, SETTINGS, || at(&files.config))? {
        return Ok(Some(Found::Keys(keys)));
    }
    Ok(by_aws(&LAST))
}

/// The keys among some settings.
fn keys(section: &Section, names: Names, at: impl Fn() -> String) -> Result<Option<Credentials>, CredentialsError> {
    let [access, secret, token] = names;
    match (setting(section, access), setting(section, secret)) {
        (Some(key), Some(text)) => Ok(Some(Credentials::new(key, text, setting(section, token)))),
        (None, None) => Ok(None),
        (Some(_), None) => Err(CredentialsError::Half { found: access, missing: secret, at: at() }),
        (None, Some(_)) => Err(CredentialsError::Half { found: secret, missing: access, at: at() }),
    }
}

/// Without the arguments of the program, which may be secret.
fn of_process(profile: &str, words: &[String], problem: String) -> CredentialsError {
    let program = words.first().map(|word| format!(" (`{}`)", left_out(word))).unwrap_or_default();
    CredentialsError::Source {
        source_name: format!("the `credential_process`{program} of the profile `{profile}`"),
        problem,
        advice: "Run it in a terminal to see why",
    }
}

fn of_aws(profile: Option<&str>, way: &'static str, problem: String) -> CredentialsError {
    let shown = profile.map(left_out);
    let option = shown.as_ref().map(|name| format!(" --profile {name}")).unwrap_or_default();
    let from = match &shown {
        Some(name) => format!("the profile `{name}` gets its AWS credentials by {way}"),
        None => format!("{WEB_IDENTITY} is set, which stands for AWS credentials by {way}"),
    };
    let advice = match way {
        // Its first version does not know the command, and says how it is used.
        _ if ["no such program", "usage:"].iter().any(|sign| problem.contains(sign)) => {
            "Install AWS CLI 2, or set AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                .to_owned()
        }
        "IAM Identity Center" => format!("Sign in with `aws sso login{option}`"),
        "`aws login`" => format!("Sign in with `aws login{option}`"),
        _ => "Run it in a terminal to see why".to_owned(),
    };
    CredentialsError::ByAws { from, command: format!("{}{option}", EXPORT.join(" ")), problem, advice }
}

fn of_container(variable: &'static str, problem: String) -> CredentialsError {
    CredentialsError::Source {
        source_name: format!("the service of the container ({variable})"),
        problem,
        advice: "Check the role of the task or pod, or set AWS_BEARER_TOKEN_BEDROCK",
    }
}

fn list(looked: &[String]) -> String {
    looked.iter().map(|line| format!("\n- {line}")).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write files and start programs")]
mod tests;
