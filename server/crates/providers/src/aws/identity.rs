//! All that AWS credentials are found by.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use net::Clients;

use super::chain::{Chain, Surroundings};
use super::process::RunProgram;
use super::signer::Signer;
use crate::clock::Clock;

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

    /// Its signer. Nothing is looked for before a request is to be signed.
    pub(crate) fn signer(self, run: Arc<dyn RunProgram>) -> Signer {
        // The end of credentials is told by AWS's clock, as the time of a signature is.
        let clock = Arc::new(Clock::default());
        Signer::new(self.chain(run, Arc::clone(&clock)), clock)
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
