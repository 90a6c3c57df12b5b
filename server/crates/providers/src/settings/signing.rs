//! Requests that are sent with the credentials of a cloud instead of a key: signed for AWS, or with an access token for
//! Google.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use net::Url;
use net::header::HeaderMap;
use ports::model::ModelError;

use super::{Provider, Settings};
use crate::aws::{self, Unsigned};
use crate::cloud::{Cloud, SIGN_IN_AT_GOOGLE};
use crate::google::{self, GoogleError};
use crate::keys;
use crate::signers::{Signed, Signer, Signers};
use crate::vendors::{self, Vendor};

/// The account of a provider at Google: what the user chose, and what came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct GoogleAccount {
    chosen: Place,
    found: Place,
    /// True if there is no project, and nobody who could be asked for one.
    lacks_project: bool,
}

/// A project at Google, and a location.
#[derive(Clone, Debug, Default)]
struct Place {
    project: Option<String>,
    location: Option<String>,
}

impl Settings {
    /// Signs the requests of the providers at AWS that have no key, and of those that the user gave a profile or a
    /// region. A provider at AWS of which nobody spoke is added if there are credentials and a region, as far as that
    /// is known without asking anybody; it can be chosen, and is never the default. To be called when
    /// all else is said. Blocks: reads the files of AWS's programs.
    pub fn sign_for_aws(
        &mut self,
        signers: &Signers,
        environment: &dyn Fn(&str) -> Option<String>,
        home: Option<PathBuf>,
    ) {
        let identity = aws::Identity::of(environment, home, self.ca_file.clone());
        for vendor in of_cloud(Cloud::Aws) {
            let is_found = || signers.of_aws(identity.clone()).is_at_hand();
            self.add_unasked(vendor, is_found);
        }
        for provider in &mut self.providers {
            let vendor = provider.vendor().filter(|vendor| vendor.signed == Some(Cloud::Aws));
            let usual = self.addresses.get(provider.name.as_str()).map(|(address, _)| address.clone());
            if vendor.is_none() && !provider.speaks_of_aws() {
                continue;
            }
            let chosen = identity.chosen(provider.aws_profile.clone(), provider.aws_region.as_deref());
            let signer = signers.of_aws(chosen.named(!provider.is_after_local));
            provider.signed_region = signer.region_at_hand();
            if let Some(vendor) = vendor
                && usual.is_some_and(|usual| usual == provider.base_url)
            {
                provider.base_url = vendor.address(|_| provider.signed_region.clone());
            }
            // Whoever lists keys pays with no other.
            if provider.carries_key() || provider.lists_keys() || !provider.speaks_of_aws() && !provider.is_home() {
                continue;
            }
            provider.key_source = signer.source_name();
            provider.signer = Some(Signer::Aws(signer));
        }
    }

    /// Has the requests of the providers at Google that have no key carry access tokens, and those of providers that
    /// the user gave a project or a location. A provider at Google of which nobody spoke is added if there are
    /// credentials and a project in the environment or in files; it can be chosen, and is never the default. To be
    /// called when all else is said. Blocks: reads the files of Google's programs.
    pub fn sign_for_google(
        &mut self,
        signers: &Signers,
        environment: &dyn Fn(&str) -> Option<String>,
        home: Option<PathBuf>,
    ) {
        let tokens = signers.of_google(google::Identity::of(environment, home, self.ca_file.clone()));
        let named = google::project_of(environment);
        for vendor in of_cloud(Cloud::Google) {
            // One with a mistake is listed with it.
            let is_found = || tokens.at_hand().is_some_and(|found| named != Ok(None) || found.project.is_some());
            self.add_unasked(vendor, is_found);
        }
        let mut at_hand = None;
        for provider in &mut self.providers {
            let vendor = provider.vendor().filter(|vendor| vendor.signed == Some(Cloud::Google));
            if vendor.is_none() && !provider.speaks_of_google() {
                continue;
            }
            let found = at_hand.get_or_insert_with(|| tokens.at_hand()).as_ref();
            let of_file = || found.and_then(|found| found.project.clone());
            let project = || named.clone().map(|named| named.or_else(of_file));
            if let Err(mistake) = provider.settle_google(vendor, environment, project) {
                provider.leave_out(mistake);
                continue;
            }
            if let Some(vendor) = vendor
                && self.addresses.get(provider.name.as_str()).is_some_and(|(usual, _)| *usual == provider.base_url)
            {
                let location = provider.google.found.location.clone();
                provider.base_url = vendor.address(|_| location.clone());
            }
            if !provider.carries_key() && !provider.lists_keys() && (provider.speaks_of_google() || provider.is_home())
            {
                let usual = || "Google's Application Default Credentials".to_owned();
                provider.key_source = found.map_or_else(usual, |found| found.source.clone());
                let renewed_by = if found.is_some_and(|found| found.is_person) { SIGN_IN_AT_GOOGLE } else { "" };
                let project = provider.google.chosen.project.clone();
                provider.signer = Some(Signer::Google { tokens: Arc::clone(&tokens), project, renewed_by });
            }
            // Without a file, the service of the machine knows its project.
            let may_be_asked = provider.signer.is_some() && found.is_none();
            let is_wanted = vendor.is_some_and(Vendor::has_projects);
            provider.google.lacks_project = is_wanted && provider.google.found.project.is_none() && !may_be_asked;
        }
    }

    /// Adds a vendor of which nobody spoke, if there are credentials for it.
    fn add_unasked(&mut self, vendor: &Vendor, is_found: impl FnOnce() -> bool) {
        // It is known by name, so it can be added.
        let is_new = self.provider_mut(&vendor.name).is_none() && is_found();
        let added = if is_new { self.add(&vendor.name, None).ok() } else { None };
        if let Some(provider) = added.and_then(|at| self.providers.get_mut(at)) {
            provider.is_unasked = true;
        }
    }
}

fn of_cloud(cloud: Cloud) -> impl Iterator<Item = &'static Vendor> {
    vendors::all().iter().filter(move |vendor| vendor.signed == Some(cloud))
}

impl Provider {
    /// Chooses the profile and the region of its account at AWS. A profile takes the place of a key that was there.
    pub fn set_aws(&mut self, profile: Option<String>, region: Option<String>) {
        if profile.is_some() {
            self.key = None;
            self.key_from = None;
            self.set_keys(Vec::new());
            self.aws_profile = profile;
        }
        self.aws_region = region.or(self.aws_region.take());
    }

    /// True if the user spoke of its account at AWS.
    fn speaks_of_aws(&self) -> bool {
        self.aws_profile.is_some() || self.aws_region.is_some()
    }

    /// Chooses the project and the location of its account at Google.
    pub fn set_google(&mut self, project: Option<String>, location: Option<String>) {
        let Place { project: old_project, location: old_location } = &mut self.google.chosen;
        *old_project = project.or(old_project.take());
        // It becomes a part of a path, where Google writes it so.
        *old_location = location.map(|location| location.to_ascii_lowercase()).or(old_location.take());
    }

    /// Forgets the project and the location that were chosen for another server.
    pub(super) fn forget_google(&mut self) {
        self.google = GoogleAccount::default();
    }

    /// True if the user spoke of its account at Google.
    fn speaks_of_google(&self) -> bool {
        self.google.chosen.project.is_some() || self.google.chosen.location.is_some()
    }

    /// Finds its project and its location: the user's choice, else that of its address or of the environment. A project
    /// that the address names is where requests go, whatever else was chosen.
    ///
    /// # Errors
    /// A variable that would count holds none; says so. No other takes its place: another account would pay, or another
    /// country would serve.
    fn settle_google(
        &mut self,
        vendor: Option<&Vendor>,
        environment: &dyn Fn(&str) -> Option<String>,
        project: impl FnOnce() -> Result<Option<String>, &'static str>,
    ) -> Result<(), String> {
        let wrong = |variable: &str, wanted: &str, setting: &str| {
            let name = &self.name;
            format!(
                "{variable} is not {wanted}, so nothing is sent to {name}: correct it, or set {setting} in \
                 [providers.{name}]"
            )
        };
        let Place { project: own, location } = self.google.chosen.clone();
        let (in_address, location_in_address) = google::place_in(&self.base_url).unzip();
        let usual = vendor.map(|vendor| vendor.address(environment));
        // An address that the user wrote says its location itself.
        let of_address = || {
            let vendor = vendor.filter(|_| usual.as_deref() != Some(self.base_url.as_str()))?;
            vendor.region_of(&self.base_url)
        };
        let of_environment = || -> Result<Option<String>, String> {
            let Some(vendor) = vendor else { return Ok(None) };
            let named = vendor.named_region(environment).map_err(|variable| {
                wrong(variable, "a Google Cloud location, such as `europe-west1`", "google_location")
            })?;
            Ok(named.or_else(|| vendor.usual_region().map(str::to_owned)))
        };
        let location = match location_in_address.or(location).or_else(of_address) {
            Some(location) => Some(location),
            None => of_environment()?,
        };
        let project = match in_address.or(own) {
            Some(project) => Some(project),
            None if !vendor.is_some_and(Vendor::has_projects) => None,
            None => {
                project().map_err(|variable| wrong(variable, "the id of a Google Cloud project", "google_project"))?
            }
        };
        self.google.found = Place { project, location };
        Ok(())
    }

    /// The location of its account at Google, if it has one.
    pub(crate) fn location(&self) -> Option<&str> {
        self.google.found.location.as_deref()
    }

    /// The project of its account at Google, if it is known.
    pub(crate) fn project(&self) -> Option<&str> {
        self.google.found.project.as_deref()
    }

    /// True if it needs a project, and there is none and nobody who could be asked for one.
    pub(super) fn lacks_project(&self) -> bool {
        self.google.lacks_project
    }

    /// The same provider with its project, if its address needs one that only the service of the machine knows.
    ///
    /// # Errors
    /// There is none; says what to do.
    pub(crate) async fn with_project(&self) -> Result<Cow<'_, Self>, ModelError> {
        if self.project().is_some() || !self.vendor().is_some_and(Vendor::has_projects) {
            return Ok(Cow::Borrowed(self));
        }
        let project = match &self.signer {
            Some(Signer::Google { tokens, .. }) => {
                tokens.project().await.map_err(|problem| problem.told(&self.name))?
            }
            Some(Signer::Aws(_)) | None => None,
        };
        let none = || GoogleError::NoProject { provider: self.name.clone() }.told(&self.name);
        let mut provider = self.clone();
        provider.google.found.project = Some(project.ok_or_else(none)?);
        Ok(Cow::Owned(provider))
    }

    /// The name of the credentials that its requests are signed with, for words; none if they are not signed.
    pub fn signed_by(&self) -> Option<&str> {
        self.signer.is_some().then_some(self.key_source.as_str())
    }

    /// The region that its requests are signed for; none if they are not signed, or nobody named one.
    pub(crate) fn signed_region(&self) -> Option<&str> {
        self.signed_region.as_deref().filter(|_| self.signer.is_some())
    }

    /// True if it is there only because of credentials that were found, and is never used unless it is chosen.
    pub fn is_unasked(&self) -> bool {
        self.is_unasked
    }

    /// The signer of its requests; none if they carry a key, or need nothing.
    pub(crate) fn signer(&self) -> Option<&Signer> {
        self.signer.as_ref()
    }

    /// The command that renews its credentials, for words; empty if none does, as with keys of the environment and
    /// with service accounts.
    pub(super) fn sign_in(&self) -> String {
        match &self.signer {
            Some(Signer::Google { renewed_by, .. }) => (*renewed_by).to_owned(),
            Some(Signer::Aws(signer)) if signer.is_of_variables() => String::new(),
            Some(Signer::Aws(_)) | None => {
                let profile = self.aws_profile.as_deref();
                let option = profile.map(|profile| format!(" --profile {}", keys::left_out(profile)));
                format!("aws sso login{}", option.unwrap_or_default())
            }
        }
    }

    /// The headers of a cloud for a request that is sent so; none if its requests carry a key, or need nothing.
    ///
    /// # Errors
    /// There are no credentials; says what to do.
    pub(crate) async fn signed(
        &self,
        url: &Url,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Option<Signed>, ModelError> {
        let Some(signer) = &self.signer else { return Ok(None) };
        signer.sign(&self.name, &Unsigned { method: "POST", url, headers, body }).await.map(Some)
    }
}
