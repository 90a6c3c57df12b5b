//! The environment of whoever runs the tests, in which there may be keys and models of their own.

use std::ffi::OsString;

/// The variables of this process that name vendors, their keys, their addresses or a model. A server of a test that is
/// a process of its own is started without them, or it might ask a vendor with the developer's key.
pub fn variables() -> Vec<OsString> {
    let is_of_vendor = |name: &str| {
        let ends = ["_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_BASE_URL", "_API_BASE"];
        let begins = ["AWS_", "AZURE_", "GOOGLE_", "VERTEX", "OLLAMA_", "HF_"];
        name == "AZIMUTH_MODEL"
            || ends.iter().any(|end| name.ends_with(end))
            || begins.iter().any(|it| name.starts_with(it))
    };
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_str().is_some_and(is_of_vendor)).collect()
}
