//! The hosts that are given tokens, no matter which ones a file of credentials names.

use net::{Url, is_loopback};

use super::fields::Fault;

/// The variable by which tests name the one server on this machine that stands in for Google's.
pub(super) const HERE: &str = "AZIMUTH_TEST_GOOGLE";

/// The hosts that tokens may be sent to: Google's, and the server that the user's own variable names.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    /// A server on this machine.
    here: Option<Url>,
}

impl Hosts {
    /// Google's, and the server in the value of [`HERE`] if it is on this machine.
    pub(super) fn new(here: Option<&str>) -> Self {
        Self { here: here.and_then(|here| Url::parse(here).ok()).filter(is_loopback) }
    }

    /// Checks that the address in a field is that of a service of Google's.
    pub(super) fn check(&self, url: &Url, service: &str, field: &str) -> Result<(), Fault> {
        let is_here = self.here.as_ref().is_some_and(|here| here.origin() == url.origin());
        let is_googles = url.scheme() == "https" && is_host_of(url.host_str().unwrap_or_default(), service);
        if is_here || is_googles {
            return Ok(());
        }
        Err(Fault::Damaged(format!(
            "its `{field}` is none of Google's ({service}.googleapis.com), so no token is sent there"
        )))
    }
}

/// True if a host is one of the forms that Google has for a service: everywhere, in a region, or by a private endpoint;
/// each also with certificates on both sides (`mtls`), and that of a region by its own name too (`rep`, a regional
/// endpoint: docs.cloud.google.com/vpc/docs/access-regional-google-apis-endpoints).
fn is_host_of(host: &str, service: &str) -> bool {
    let Some(name) = host.strip_suffix(".googleapis.com") else { return false };
    let name = name.strip_suffix(".mtls").unwrap_or(name);
    let name = name.strip_suffix(".rep").unwrap_or(name);
    let is_label = |label: Option<&str>| label.is_some_and(|label| !label.is_empty() && !label.contains('.'));
    let by_private = name.strip_suffix(".p").and_then(|name| name.strip_prefix(service)?.strip_prefix('-'));
    let in_region = name.strip_prefix(service).and_then(|name| name.strip_prefix('.'));
    let of_region = name.strip_suffix(service).and_then(|name| name.strip_suffix(['.', '-']));
    name == service || [by_private, in_region, of_region].into_iter().any(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_this_machine_is_given_tokens_only_if_the_variable_names_it() {
        let takes = |here: Option<&str>, url: &str| {
            Hosts::new(here).check(&Url::parse(url).unwrap(), "sts", "token_url").is_ok()
        };
        let near = "http://127.0.0.1:9999/v1/token";
        assert!(takes(Some("http://127.0.0.1:9999"), near));
        for here in [None, Some(""), Some("1"), Some("http://127.0.0.1:9998"), Some("https://127.0.0.1:9999")] {
            assert!(!takes(here, near), "{here:?}");
        }
        assert!(!takes(Some("https://evil.example"), "https://evil.example/v1/token"), "it is not on this machine");
        assert!(takes(None, "https://sts.googleapis.com/v1/token"));
    }
}
