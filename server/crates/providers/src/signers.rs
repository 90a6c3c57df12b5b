//! The identities at clouds that providers are asked with, and what makes the headers for each: one for the process,
//! however often the configuration is read, so that credentials and tokens are fetched once.

use std::sync::{Arc, Mutex, PoisonError};

use net::header::HeaderMap;
use net::is_loopback;
use ports::model::{ModelError, ModelErrorKind};

use crate::aws::{self, RunProgram, Unsigned};
use crate::cloud::Cloud;
use crate::failure::error;
use crate::google::{self, GoogleError};
use crate::secret::Secret;

/// The signers that are kept of each cloud. Each configuration in use needs one or two.
const MOST: usize = 16;

/// The identities that were asked for, with their signers.
pub struct Signers {
    run: Arc<dyn RunProgram>,
    aws: Known<aws::Identity, aws::Signer>,
    google: Known<google::Identity, google::Tokens>,
}

/// Makes the headers by which a cloud knows its user.
#[derive(Clone, Debug)]
pub(crate) enum Signer {
    /// Signatures for AWS.
    Aws(Arc<aws::Signer>),
    /// Access tokens for Google.
    Google {
        /// The tokens.
        tokens: Arc<google::Tokens>,
        /// The project that the user chose for these requests.
        project: Option<String>,
        /// The command that renews the credentials, for words; empty if none does.
        renewed_by: &'static str,
    },
}

/// The headers that were made for a request.
#[derive(Debug)]
pub(crate) enum Signed {
    /// A signature for AWS.
    Aws(aws::Signed),
    /// An access token for Google.
    Google(google::Token),
}

/// The identities at one cloud, with what was made for each.
struct Known<I, S>(Mutex<Vec<(I, Arc<S>)>>);

impl Signers {
    /// Signers for which programs are run so.
    pub fn new(run: impl RunProgram + 'static) -> Self {
        Self { run: Arc::new(run), aws: Known(Mutex::default()), google: Known(Mutex::default()) }
    }

    /// The signer of an identity at AWS.
    pub(crate) fn of_aws(&self, identity: aws::Identity) -> Arc<aws::Signer> {
        self.aws.of(identity, |identity| identity.signer(Arc::clone(&self.run)))
    }

    /// The access tokens of an identity at Google.
    pub(crate) fn of_google(&self, identity: google::Identity) -> Arc<google::Tokens> {
        self.google.of(identity, |identity| identity.tokens(Arc::clone(&self.run)))
    }
}

impl Signer {
    /// The cloud.
    pub(crate) fn cloud(&self) -> Cloud {
        match self {
            Self::Aws(_) => Cloud::Aws,
            Self::Google { .. } => Cloud::Google,
        }
    }

    /// The headers for a request of a provider.
    ///
    /// # Errors
    /// There are no credentials, or they are not to be sent there; says what to do.
    pub(crate) async fn sign(&self, provider: &str, request: &Unsigned<'_>) -> Result<Signed, ModelError> {
        match self {
            Self::Aws(signer) => signer
                .sign(request)
                .await
                .map(Signed::Aws)
                .map_err(|problem| error(ModelErrorKind::Unauthorized, format!("{provider}: {problem}"))),
            Self::Google { .. } if request.url.scheme() != "https" && !is_loopback(request.url) => {
                Err(GoogleError::Open.told(provider))
            }
            Self::Google { tokens, project, .. } => {
                let token = tokens.token().await.map_err(|problem| problem.told(provider))?;
                Ok(Signed::Google(token.counted_for(project.as_deref())))
            }
        }
    }

    /// Takes in the head of an answer to a request with these headers. True if it is worth sending it once more with
    /// others.
    pub(crate) async fn is_worth_another_try(&self, signed: &Signed, status: u16, headers: &HeaderMap) -> bool {
        match (self, signed) {
            (Self::Aws(signer), Signed::Aws(signed)) => signer.is_worth_another_try(signed, status, headers).await,
            (Self::Google { tokens, .. }, Signed::Google(token)) => tokens.is_worth_another_try(token, status).await,
            (Self::Aws(_), Signed::Google(_)) | (Self::Google { .. }, Signed::Aws(_)) => false,
        }
    }

    /// True if a program of AWS's or the user's has to be run for credentials, which may ask its user for something.
    pub(crate) async fn needs_program(&self) -> bool {
        match self {
            Self::Aws(signer) => signer.needs_program().await,
            Self::Google { .. } => false,
        }
    }

    /// True if there are credentials, or a way to get them, and for AWS a region, without asking anybody. Blocks.
    pub(crate) fn is_at_hand(&self) -> bool {
        match self {
            Self::Aws(signer) => signer.is_at_hand(),
            Self::Google { tokens, .. } => tokens.at_hand().is_some(),
        }
    }
}

impl Signed {
    /// The headers, which replace those of the same names.
    pub(crate) fn headers(&self) -> HeaderMap {
        match self {
            Self::Aws(signed) => signed.headers.clone(),
            Self::Google(token) => token.headers(),
        }
    }

    /// The parts that a server may repeat and that nobody else may see.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        match self {
            Self::Aws(signed) => signed.secrets().collect(),
            Self::Google(token) => vec![token.secret()],
        }
    }
}

impl<I: Clone + PartialEq, S> Known<I, S> {
    fn of(&self, identity: I, make: impl FnOnce(I) -> S) -> Arc<S> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = known.iter().find(|(known, _)| *known == identity) {
            return Arc::clone(made);
        }
        let made = Arc::new(make(identity.clone()));
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push((identity, Arc::clone(&made)));
        made
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test writes AWS's files")]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use net::Url;
    use net::header::{DATE, HeaderMap};

    use super::*;
    use crate::aws::Unsigned;

    /// A program whose credentials end within the century, and that counts its runs.
    struct Program(Arc<AtomicUsize>);

    #[async_trait]
    impl RunProgram for Program {
        async fn output(&self, _words: &[String]) -> Result<Vec<u8>, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let keys = r#"{"Version": 1, "AccessKeyId": "k", "SecretAccessKey": "hunter2",
                "Expiration": "2099-12-31T00:00:00Z"}"#;
            Ok(keys.as_bytes().to_vec())
        }

        fn is_users_own(&self, _file: &Path) -> bool {
            true
        }
    }

    #[tokio::test]
    async fn credentials_that_have_ended_by_the_clock_of_aws_are_fetched_again() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        std::fs::write(home.path().join(".aws/config"), "[default]\ncredential_process = get\n").unwrap();
        let runs = Arc::new(AtomicUsize::new(0));
        let identity = aws::Identity::of(&|_| None, Some(home.path().to_owned()), None);
        let signer = Signers::new(Program(Arc::clone(&runs))).of_aws(identity);
        let url = Url::parse("https://bedrock-runtime.eu-west-1.amazonaws.com/").unwrap();
        let headers = HeaderMap::new();
        let request = Unsigned { method: "POST", url: &url, headers: &headers, body: b"{}" };
        signer.sign(&request).await.unwrap();
        let signed = signer.sign(&request).await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        let refused = HeaderMap::from_iter([(DATE, "Fri, 01 Jan 2100 00:00:00 GMT".parse().unwrap())]);
        assert!(signer.is_worth_another_try(&signed, 403, &refused).await);
        signer.sign(&request).await.unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 2);
    }
}
