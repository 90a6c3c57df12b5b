//! All that Google credentials are found by.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use net::Clients;

use super::endpoint::PATIENCE;
use super::hosts;
use super::search::Surroundings;
use super::tokens::Tokens;
use crate::aws::RunProgram;
use crate::clock::Clock;

/// The variables that credentials depend on.
const VARIABLES: &[&str] = &[
    "GOOGLE_APPLICATION_CREDENTIALS",
    "CLOUDSDK_CONFIG",
    "GOOGLE_CLOUD_QUOTA_PROJECT",
    "GCE_METADATA_HOST",
    "NO_GCE_CHECK",
    "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
    hosts::HERE,
];

/// An identity at Google, by all that it is found by.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    variables: BTreeMap<&'static str, String>,
    home: Option<PathBuf>,
    ca_file: Option<PathBuf>,
}

impl Identity {
    /// The identity of an environment and the files in a home folder, with a file of further certificate authorities.
    pub(crate) fn of(
        environment: &dyn Fn(&str) -> Option<String>,
        home: Option<PathBuf>,
        ca_file: Option<PathBuf>,
    ) -> Self {
        let variables = VARIABLES.iter().filter_map(|name| Some((*name, environment(name)?)));
        Self { variables: variables.collect(), home, ca_file }
    }

    /// The tokens of this identity. Nothing is looked for before one is wanted.
    pub(crate) fn tokens(self, run: Arc<dyn RunProgram>) -> Tokens {
        Tokens::new(Surroundings {
            variables: self.variables,
            home: self.home,
            run,
            http: Arc::new(Clients::new(self.ca_file)),
            clock: Clock::default(),
            patience: PATIENCE,
        })
    }
}
