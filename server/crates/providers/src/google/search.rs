//! The order in which Google credentials are looked for, which is that of Google's own libraries
//! (cloud.google.com/docs/authentication/application-default-credentials): the file of a variable, the file that
//! `gcloud` keeps, the service of a machine.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use net::{Clients, Url};

use super::error::GoogleError;
use super::file::{self, Kept};
use super::hosts::{self, Hosts};
use super::metadata;
use crate::aws::RunProgram;
use crate::clock::Clock;
use crate::cloud::SIGN_IN_AT_GOOGLE;
use crate::keys::left_out;

/// The variable that names a file of credentials.
const FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";
/// The variable that names the folder in which `gcloud` keeps its files.
const FOLDER: &str = "CLOUDSDK_CONFIG";
/// That folder without the variable, below the user's home.
const BELOW_HOME: &str = ".config/gcloud";
/// The file that `gcloud auth application-default login` writes in that folder.
const USUAL: &str = "application_default_credentials.json";

/// The surroundings of the program, as far as credentials depend on them.
pub(super) struct Surroundings {
    /// The variables of the environment that count.
    pub(super) variables: BTreeMap<&'static str, String>,
    /// The user's home folder.
    pub(super) home: Option<PathBuf>,
    /// Knows which files are the user's own.
    pub(super) run: Arc<dyn RunProgram>,
    /// Asks the servers of tokens.
    pub(super) http: Arc<Clients>,
    /// The time for assertions, and that the end of tokens is compared with.
    pub(super) clock: Clock,
    /// The time that a server of tokens may take.
    pub(super) patience: Duration,
}

/// The find.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Credentials in a file.
    File {
        /// The file.
        file: PathBuf,
        /// Its credentials.
        kept: Kept,
    },
    /// No file, so the service of the machine is to be asked.
    Machine {
        /// Its address.
        base: Url,
        /// All that was looked for before, for words.
        looked: Vec<String>,
    },
}

impl Surroundings {
    /// The value of a variable that is not empty.
    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Looks for credentials. Blocks: reads files, and asks nobody.
    ///
    /// # Errors
    /// There are none, or those that are named cannot be used; says where, and what to do.
    pub(super) fn find(&self) -> Result<Found, GoogleError> {
        let mut looked = vec![format!("{FILE}: it is not set")];
        let hosts = Hosts::new(self.variable(hosts::HERE));
        if let Some(named) = self.variable(FILE) {
            let file = self.named(named, FILE)?;
            let kept = file::read(&file, &hosts)?.ok_or_else(|| GoogleError::File {
                file: file.display().to_string(),
                problem: "there is no such file".to_owned(),
                advice: format!("Set {FILE} to another, or unset it and run `{SIGN_IN_AT_GOOGLE}`"),
            })?;
            return Ok(Found::File { file, kept });
        }
        if let Some(file) = self.usual_file()? {
            match file::read(&file, &hosts)? {
                Some(kept) => return Ok(Found::File { file, kept }),
                None => looked.push(format!("{}: there is no such file", file.display())),
            }
        }
        if self.variable("NO_GCE_CHECK").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            looked.push("Google's metadata server: not asked, since NO_GCE_CHECK is set".to_owned());
            return Err(GoogleError::Nowhere { looked });
        }
        match metadata::base(self.variable("GCE_METADATA_HOST").unwrap_or(metadata::USUAL)) {
            Ok(base) => Ok(Found::Machine { base, looked }),
            Err(problem) => {
                looked.push(format!("the host in GCE_METADATA_HOST: {problem}"));
                Err(GoogleError::Nowhere { looked })
            }
        }
    }

    /// The file that `gcloud` keeps, which is the user's own unless a variable names its folder.
    fn usual_file(&self) -> Result<Option<PathBuf>, GoogleError> {
        if let Some(named) = self.variable(FOLDER) {
            return self.named(named, FOLDER).map(|folder| Some(folder.join(USUAL)));
        }
        Ok(self.home.as_ref().map(|home| home.join(BELOW_HOME).join(USUAL)))
    }

    /// The file or folder that a variable names, if it is the user's own: a project could have its prompts sent in its
    /// own name by another.
    fn named(&self, text: &str, variable: &'static str) -> Result<PathBuf, GoogleError> {
        let path = match (text.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        };
        if path.is_relative() {
            return Err(GoogleError::File {
                file: left_out(text).into_owned(),
                problem: "its path is relative, so it would be a different file in each folder".to_owned(),
                advice: format!("Set {variable} to an absolute path"),
            });
        }
        if !self.is_usual(&path) && !self.run.is_users_own(&path) {
            return Err(GoogleError::Foreign { file: path.display().to_string(), variable });
        }
        Ok(path)
    }

    /// True for the folder in which `gcloud` keeps its files, and what is directly in it.
    fn is_usual(&self, path: &Path) -> bool {
        let Some(usual) = self.home.as_ref().map(|home| home.join(BELOW_HOME)) else { return false };
        // Through a folder above, it would be elsewhere.
        let goes_up = path.components().any(|part| part == Component::ParentDir);
        !goes_up && (path == usual || path.parent() == Some(usual.as_path()))
    }
}
