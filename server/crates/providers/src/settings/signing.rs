//! Requests that are signed with AWS's credentials instead of carrying a key.

use std::path::PathBuf;
use std::sync::Arc;

use net::Url;
use net::header::HeaderMap;
use ports::model::{ModelError, ModelErrorKind};

use super::{Provider, Settings};
use crate::aws::{Identity, Signed, Signer, Signers, Unsigned};
use crate::failure::error;
use crate::{keys, vendors};

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
        let identity = Identity::of(environment, home, self.ca_file.clone());
        for vendor in vendors::all().iter().filter(|vendor| vendor.signed) {
            // It is known by name, so it can be added.
            let is_new = self.provider_mut(&vendor.name).is_none() && signers.signer(identity.clone()).is_at_hand();
            let added = if is_new { self.add(&vendor.name, None).ok() } else { None };
            if let Some(provider) = added.and_then(|at| self.providers.get_mut(at)) {
                provider.is_unasked = true;
            }
        }
        for provider in &mut self.providers {
            let vendor = provider.vendor().filter(|vendor| vendor.signed);
            let usual = self.addresses.get(provider.name.as_str()).map(|(address, _)| address.clone());
            if vendor.is_none() && !provider.speaks_of_aws() {
                continue;
            }
            let chosen = identity.chosen(provider.aws_profile.clone(), provider.aws_region.as_deref());
            let signer = signers.signer(chosen.named(!provider.is_after_local));
            if let Some(vendor) = vendor
                && usual.is_some_and(|usual| usual == provider.base_url)
            {
                let region = signer.region_at_hand();
                provider.base_url = vendor.address(|_| region.clone());
            }
            // Whoever lists keys pays with no other.
            if provider.carries_key() || provider.lists_keys() || !provider.speaks_of_aws() && !provider.is_home() {
                continue;
            }
            provider.key_source = signer.source_name();
            provider.signer = Some(signer);
        }
    }
}

impl Provider {
    /// Chooses the profile and the region of its account at AWS. A profile takes the place of a key that was there.
    pub fn set_aws(&mut self, profile: Option<String>, region: Option<String>) {
        if profile.is_some() {
            self.key = None;
            self.key_command = None;
            self.set_keys(Vec::new());
            self.aws_profile = profile;
        }
        self.aws_region = region.or(self.aws_region.take());
    }

    /// True if the user spoke of its account at AWS.
    fn speaks_of_aws(&self) -> bool {
        self.aws_profile.is_some() || self.aws_region.is_some()
    }

    /// The name of the credentials that its requests are signed with, for words; none if they are not signed.
    pub fn signed_by(&self) -> Option<&str> {
        self.signer.is_some().then_some(self.key_source.as_str())
    }

    /// True if it is there only because of credentials that were found, and is never used unless it is chosen.
    pub fn is_unasked(&self) -> bool {
        self.is_unasked
    }

    /// The signer of its requests; none if they carry a key, or need nothing.
    pub(crate) fn signer(&self) -> Option<&Arc<Signer>> {
        self.signer.as_ref()
    }

    /// The command that renews its credentials, for words; empty if they are keys of the environment.
    pub(super) fn sign_in(&self) -> String {
        if self.signer.as_ref().is_some_and(|signer| signer.is_of_variables()) {
            return String::new();
        }
        let option = self.aws_profile.as_deref().map(|profile| format!(" --profile {}", keys::left_out(profile)));
        format!("aws sso login{}", option.unwrap_or_default())
    }

    /// The signature of a request that is sent so; none if its requests are not signed.
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
        let signed = signer.sign(&Unsigned { method: "POST", url, headers, body }).await;
        signed.map(Some).map_err(|problem| error(ModelErrorKind::Unauthorized, format!("{}: {problem}", self.name)))
    }
}
