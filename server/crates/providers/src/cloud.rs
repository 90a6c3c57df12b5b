//! The clouds whose own credentials requests are sent with, instead of a key.

use serde::Deserialize;

/// The command by which users sign in at Google for programs such as this one.
pub(crate) const SIGN_IN_AT_GOOGLE: &str = "gcloud auth application-default login";

/// A cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Cloud {
    /// Amazon's, whose requests are signed (Signature Version 4).
    Aws,
    /// Google's, whose requests carry an access token.
    Google,
}
