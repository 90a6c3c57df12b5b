//! The clouds whose own credentials requests are sent with, instead of a key.

use serde::Deserialize;

/// A cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cloud {
    /// Amazon's, whose requests are signed (Signature Version 4).
    Aws,
    /// Google's, whose requests carry an access token.
    Google,
}

impl Cloud {
    /// The name of its credentials.
    pub(crate) fn credentials(self) -> &'static str {
        match self {
            Self::Aws => "AWS's credentials and AWS_REGION",
            Self::Google => "Google's credentials and GOOGLE_CLOUD_PROJECT",
        }
    }
}
