//! The words for refusals of the credentials of clouds.

use super::{Whose, Words};
use crate::cloud::Cloud;

impl Whose {
    /// The words for a refusal of a cloud's credentials.
    pub(super) fn without_rights(&self, said: &str, words: &Words) -> String {
        match &self.renewed_by {
            Some((Cloud::Google, command)) => self.refused_by_google(command, said, words),
            Some((Cloud::Aws, command)) => self.refused_by_aws(command, said, words),
            None => String::new(),
        }
    }

    /// The words for a refusal of Google's credentials
    /// (cloud.google.com/vertex-ai/docs/general/troubleshooting, and on services that are not enabled
    /// cloud.google.com/apis/docs/troubleshooting).
    fn refused_by_google(&self, command: &str, said: &str, words: &Words) -> String {
        let Self { provider, model, key_source, .. } = self;
        let about = format!("{} {}", words.code, words.message);
        let says = |wanted: &[&str]| wanted.iter().any(|wanted| about.contains(wanted));
        // Google gives this one the reason of a service that is not enabled
        // (cloud.google.com/docs/authentication/adc-troubleshooting/user-creds).
        if says(&["requires a quota project"]) {
            format!(
                "{provider} does not know the project that requests of {key_source} count for{said}. Set it with \
                 `gcloud auth application-default set-quota-project PROJECT`, or set google_project in \
                 [providers.{provider}]"
            )
        } else if says(&["USER_PROJECT_DENIED"]) {
            format!(
                "the account of {key_source} may not use the project that its requests count for{said}. Give it the \
                 role Service Usage Consumer (roles/serviceusage.serviceUsageConsumer) there, or set \
                 GOOGLE_CLOUD_QUOTA_PROJECT to another project"
            )
        } else if says(&["BILLING_DISABLED"]) {
            format!(
                "billing is not enabled in this project{said}. Link a billing account to it, or set another project"
            )
        } else if says(&["CONSUMER_INVALID"]) {
            format!(
                "{provider} does not know this project{said}. Check google_project and GOOGLE_CLOUD_PROJECT for a \
                 wrong or deleted project"
            )
        } else if says(&["SERVICE_DISABLED", "has not been used in project", "API is disabled"]) {
            format!(
                "{provider} is not enabled in this project{said}. Enable it with `gcloud services enable \
                 aiplatform.googleapis.com`, or set another project"
            )
        } else if says(&["PERMISSION_DENIED"]) {
            format!(
                "{key_source} do not give access to {model} of {provider}{said}. Give the account the role Vertex AI \
                 User (roles/aiplatform.user) in this project; a Claude model also has to be enabled in the project's \
                 Model Garden"
            )
        } else if command.is_empty() {
            format!("{provider} does not accept {key_source}{said}. Check the service account and its key")
        } else {
            format!("{provider} does not accept {key_source}{said}. Sign in again with `{command}`")
        }
    }

    /// The words for a refusal of AWS's credentials.
    fn refused_by_aws(&self, command: &str, said: &str, words: &Words) -> String {
        let Self { provider, model, key_source, .. } = self;
        let (renew, or_renew) = match command {
            "" => ("Set new ones".to_owned(), "set new ones".to_owned()),
            command => (format!("Renew them, for example with `{command}`"), format!("renew them with `{command}`")),
        };
        let about = format!("{} {}", words.code, words.message).to_lowercase();
        let says = |wanted: &[&str]| wanted.iter().any(|wanted| about.contains(wanted));
        // AWS's words for a request whose time is too far from its own
        // (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-troubleshooting.html).
        if says(&["signature expired", "signature not yet current"]) {
            format!("{provider} refuses the time of the request{said}. Set the clock of this machine")
        } else if says(&["expired"]) {
            format!("{provider} says that {key_source} have expired{said}. {renew}")
        } else if says(&["not authorized", "access to the model", "accessdenied"]) {
            format!(
                "{key_source} do not give access to {model} of {provider}{said}. Allow them to invoke Bedrock's models in \
                 their policy, and see in Bedrock's console that the account has access to this model in this region"
            )
        } else {
            format!("{provider} does not accept {key_source}{said}. Check them, or {or_renew}")
        }
    }
}
