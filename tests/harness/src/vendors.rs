//! The environment of whoever runs the tests, in which there may be keys and models of their own.

use std::ffi::OsString;

/// The variables of this process that name vendors, their keys, their addresses or a model. A server of a test that is
/// a process of its own is started without them, or it might ask a vendor with the developer's key.
pub fn variables() -> Vec<OsString> {
    std::env::vars_os().map(|(name, _)| name).filter(|name| name.to_str().is_some_and(is_of_vendor)).collect()
}

/// True if a variable names a vendor, a key of one, its address, an account there, or a model.
fn is_of_vendor(name: &str) -> bool {
    let ends = ["_API_KEY", "_API_TOKEN", "_AUTH_TOKEN", "_BASE_URL", "_API_BASE", "_API_VERSION"];
    let begins = [
        "AWS_",
        "AZURE_",
        "GOOGLE_",
        "GCLOUD_",
        "GCE_",
        "VERTEX",
        "ANTHROPIC_VERTEX_",
        "CLOUDSDK_",
        "CLOUD_ML_",
        "OLLAMA_",
        "HF_",
    ];
    name == "AZIMUTH_MODEL"
        || ends.iter().any(|end| name.ends_with(end))
        || begins.iter().any(|it| name.starts_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The variables that the data of vendors names.
    fn named() -> Vec<&'static str> {
        let data = include_str!("../../../server/crates/providers/src/providers.toml");
        let lines = data.lines().filter(|line| !line.starts_with('#'));
        let words = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
        let is_of_name = |byte: u8| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit();
        words.filter(|word| word.contains('_') && word.bytes().all(is_of_name)).collect()
    }

    #[test]
    fn no_variable_that_names_a_vendor_comes_into_a_test() {
        let named = named();
        assert!(named.len() > 30 && named.contains(&"OPENAI_API_VERSION"), "{named:?}");
        let more = ["ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION", "CLOUDSDK_CONFIG", "GCE_METADATA_HOST"];
        for name in named.into_iter().chain(more) {
            assert!(is_of_vendor(name), "{name}");
        }
        for other in ["HOME", "PATH", "AZIMUTH_BIN", "RUST_BACKTRACE"] {
            assert!(!is_of_vendor(other), "{other}");
        }
    }
}
