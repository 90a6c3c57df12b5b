//! The reasons why there is no access token, in words.

use ports::model::{ModelError, ModelErrorKind};

use crate::cloud::SIGN_IN_AT_GOOGLE;
use crate::failure::error;

/// The kind of the credentials of a person of a company who has signed in with `gcloud`.
const OF_WORKFORCE: &str = "external_account_authorized_user";

/// There is no access token for Google Cloud, or it cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GoogleError {
    /// There are no credentials anywhere.
    #[error(
        "no Google credentials were found. Run `{SIGN_IN_AT_GOOGLE}`, or set GOOGLE_APPLICATION_CREDENTIALS to the key \
         file of a service account. Azimuth looked here:{}", list(.looked)
    )]
    Nowhere {
        /// All that was looked for, with what was found.
        looked: Vec<String>,
    },
    /// A file cannot be used.
    #[error("the Google credentials in {file} cannot be used: {problem}. {advice}")]
    File {
        /// The file.
        file: String,
        /// The problem, in words.
        problem: String,
        /// The thing to do.
        advice: String,
    },
    /// A file has credentials of a kind for which there is no code.
    #[error(
        "{file} has Google credentials of the kind `{kind}`, which Azimuth cannot use. {}", instead_of(.kind)
    )]
    Kind {
        /// The file.
        file: String,
        /// The kind that it names.
        kind: String,
    },
    /// A file that is not the user's own.
    #[error(
        "the Google credentials in {file} are not used, since a project or a command may have written them. {variable} \
         names the file: keep it in a folder of your own, and name that one"
    )]
    Foreign {
        /// The file.
        file: String,
        /// The variable that names it.
        variable: &'static str,
    },
    /// There is no token of the identity that a file describes.
    #[error(
        "there is no token of the identity that the Google credentials in {file} stand for. It comes from {source_name}: \
         {problem}. {advice}"
    )]
    Subject {
        /// The file.
        file: String,
        /// The file, the server or the program that the token comes from.
        source_name: String,
        /// The problem, in words.
        problem: String,
        /// The thing to do.
        advice: &'static str,
        /// True if there may be one a moment later.
        may_pass: bool,
    },
    /// The server of tokens does not take the credentials.
    #[error("{host} issued no access token for the Google credentials in {file}: {said}. {advice}")]
    Refused {
        /// The server.
        host: String,
        /// The file.
        file: String,
        /// The server's words.
        said: String,
        /// The thing to do.
        advice: String,
    },
    /// The server of tokens gives no answer.
    #[error("{host} issued no access token for the Google credentials: {problem}. Check the connection and try again")]
    Unreachable {
        /// The server.
        host: String,
        /// The problem, in words.
        problem: String,
    },
    /// The server of tokens answers with something else.
    #[error(
        "{host} answered with {problem} instead of an access token for the Google credentials. Check whether a proxy \
         answered instead"
    )]
    Garbage {
        /// The server.
        host: String,
        /// The problem, in words.
        problem: String,
    },
    /// No project is known.
    #[error(
        "no Google Cloud project is known for {provider}; set GOOGLE_CLOUD_PROJECT, or google_project in \
         [providers.{provider}]"
    )]
    NoProject {
        /// The provider.
        provider: String,
    },
    /// The request would go out for all to read.
    #[error("an access token for Google Cloud is not sent over http to another machine; write base_url with https://")]
    Open,
}

impl GoogleError {
    /// The failure of a request to a provider that it stands for.
    pub(crate) fn told(&self, provider: &str) -> ModelError {
        let may_pass = matches!(self, Self::Unreachable { .. } | Self::Subject { may_pass: true, .. });
        let kind = if may_pass { ModelErrorKind::Transient } else { ModelErrorKind::Unauthorized };
        error(kind, format!("{provider}: {self}"))
    }
}

/// The thing to do about a kind of credentials that cannot be used.
fn instead_of(kind: &str) -> String {
    let command = "set key_command of the provider to `[\"gcloud\", \"auth\", \"print-access-token\"]`";
    match kind {
        // Signing in again would only write another file of this kind.
        OF_WORKFORCE => format!("Let gcloud print the token: {command}"),
        _ => format!(
            "Run `{SIGN_IN_AT_GOOGLE}`, set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service account, or \
             {command}"
        ),
    }
}

fn list(looked: &[String]) -> String {
    looked.iter().map(|line| format!("\n- {line}")).collect()
}
