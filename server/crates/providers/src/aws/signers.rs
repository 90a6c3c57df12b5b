//! The identities at AWS that providers are asked with, and a signer for each: one for the process, however often the
//! configuration is read, so that credentials are fetched once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use net::Clients;

use super::chain::{Chain, Surroundings};
use super::clock::Clock;
use super::process::RunProgram;
use super::signer::Signer;

/// The variables that credentials and the region depend on.
const VARIABLES: &[&str] = &[
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    REGION,
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_CONFIG_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
    "AWS_EC2_METADATA_DISABLED",
    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
];
const REGION: &str = "AWS_REGION";
/// The signers that are kept. Each configuration in use needs one or two.
const MOST: usize = 16;

/// An identity at AWS, by all that it is found by. It may hold keys, so it is shown nowhere.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    variables: BTreeMap<&'static str, String>,
    home: Option<PathBuf>,
    profile: Option<String>,
    ca_file: Option<PathBuf>,
    is_named: bool,
}

impl Identity {
    /// The identity of an environment and the files in a home folder, with a file of further certificate authorities.
    pub(crate) fn of(
        environment: &dyn Fn(&str) -> Option<String>,
        home: Option<PathBuf>,
        ca_file: Option<PathBuf>,
    ) -> Self {
        let variables = VARIABLES.iter().filter_map(|name| Some((*name, environment(name)?)));
        Self { variables: variables.collect(), home, ca_file, profile: None, is_named: false }
    }

    /// The same by a profile and in a region, if the user chose them for a provider.
    pub(crate) fn chosen(&self, profile: Option<String>, region: Option<&str>) -> Self {
        let mut chosen = Self { profile, ..self.clone() };
        if let Some(region) = region {
            chosen.variables.insert(REGION, region.to_owned());
        }
        chosen
    }

    /// The same for a provider that the user spoke of, if they did.
    pub(crate) fn named(self, is_named: bool) -> Self {
        Self { is_named, ..self }
    }

    fn chain(&self, run: Arc<dyn RunProgram>, clock: Arc<Clock>) -> Chain {
        let variables = self.variables.clone();
        Chain::new(Surroundings {
            lookup: Box::new(move |name| variables.get(name).cloned()),
            home: self.home.clone(),
            profile: self.profile.clone(),
            run,
            http: Arc::new(Clients::new(self.ca_file.clone())),
            now: Box::new(move || clock.now()),
            is_named: self.is_named,
        })
    }
}

/// The identities that were asked for, with their signers.
pub struct Signers {
    run: Arc<dyn RunProgram>,
    signers: Mutex<Vec<(Identity, Arc<Signer>)>>,
}

impl Signers {
    /// Signers for which programs are run so.
    pub fn new(run: impl RunProgram + 'static) -> Self {
        Self { run: Arc::new(run), signers: Mutex::default() }
    }

    /// The signer of an identity.
    pub(crate) fn signer(&self, identity: Identity) -> Arc<Signer> {
        let mut signers = self.signers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, signer)) = signers.iter().find(|(known, _)| *known == identity) {
            return Arc::clone(signer);
        }
        // The end of credentials is told by AWS's clock, as the time of a signature is.
        let clock = Arc::new(Clock::default());
        let chain = identity.chain(Arc::clone(&self.run), Arc::clone(&clock));
        let signer = Arc::new(Signer::new(chain, clock));
        if signers.len() >= MOST {
            signers.remove(0);
        }
        signers.push((identity, Arc::clone(&signer)));
        signer
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
        let identity = Identity::of(&|_| None, Some(home.path().to_owned()), None);
        let signer = Signers::new(Program(Arc::clone(&runs))).signer(identity);
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
