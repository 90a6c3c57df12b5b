//! The one way to the network: HTTP clients with the system's certificates and proxies, bounded bodies, server-sent
//! events, and Amazon's event streams.
//!
//! The clients are made at first use, so that the start costs nothing. They follow no redirections, since these would
//! take a key to where nobody said it should go.

#![expect(clippy::disallowed_methods, reason = "the file of certificate authorities is read here, and nothing else")]

pub mod event_stream;
pub mod sse;

use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Certificate, ClientBuilder};
pub use reqwest::{Client, Error as HttpError, Response, Url, header};
use tokio::sync::OnceCell;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a connection is asked whether it lives, so that a dead one is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// A client could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// The file of certificate authorities is of no use.
    #[error("the file of `ca_file`, {}, {problem}", .file.display())]
    CaFile {
        /// The file.
        file: PathBuf,
        /// The problem, in words.
        problem: String,
    },
    /// The platform gives no client.
    #[error("the HTTP client cannot be made: {0}")]
    NotMade(String),
    /// The process is about to end.
    #[error("the server is ending")]
    Ending,
}

/// The clients. Cheap until asked.
#[derive(Debug, Default)]
pub struct Clients {
    ca_file: Option<PathBuf>,
    near: OnceCell<Client>,
    far: OnceCell<Client>,
}

impl Clients {
    /// Clients that trust, besides the system's, the certificate authorities of this PEM file.
    pub fn new(ca_file: Option<PathBuf>) -> Self {
        Self { ca_file, ..Self::default() }
    }

    /// True if no client was made yet.
    pub fn is_unused(&self) -> bool {
        !self.near.initialized() && !self.far.initialized()
    }

    /// The client for an address. One on this machine without TLS never goes through a proxy, and needs no
    /// certificates, whose loading takes a while.
    ///
    /// # Errors
    /// The client could not be made, such as when the file of certificate authorities cannot be used.
    pub async fn client(&self, url: &Url) -> Result<Client, NetError> {
        if url.scheme() == "http" && is_loopback(url) {
            return self.direct().await;
        }
        let far = self.far.get_or_try_init(|| {
            let ca_file = self.ca_file.clone();
            async {
                let made = tokio::task::spawn_blocking(move || far(ca_file.as_deref())).await;
                made.map_err(|_| NetError::Ending)?
            }
        });
        far.await.cloned()
    }

    /// The client for an address without TLS that no proxy may see, such as that of a service that tells a machine who
    /// it is: a proxy would answer for its own machine.
    ///
    /// # Errors
    /// The client could not be made.
    pub async fn direct(&self) -> Result<Client, NetError> {
        self.near.get_or_try_init(async || near()).await.cloned()
    }
}

/// True if an address is on this machine.
pub fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        None => false,
    }
}

/// Reads a body up to a limit, in bytes.
///
/// # Errors
/// The connection broke off.
pub async fn read(mut response: Response, limit: usize) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        let room = limit.saturating_sub(body.len());
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if body.len() >= limit {
            break;
        }
    }
    Ok(body)
}

fn near() -> Result<Client, NetError> {
    build(common().no_proxy().tls_certs_only([]))
}

fn far(ca_file: Option<&Path>) -> Result<Client, NetError> {
    let mut builder = common().http2_keep_alive_interval(KEEP_ALIVE);
    if let Some(file) = ca_file {
        let wrong = |problem: String| NetError::CaFile { file: file.to_owned(), problem };
        let pem = std::fs::read(file).map_err(|problem| wrong(format!("cannot be read: {problem}")))?;
        let certificates =
            Certificate::from_pem_bundle(&pem).map_err(|_| wrong("holds no certificates in PEM".to_owned()))?;
        if certificates.is_empty() {
            return Err(wrong("holds no certificates in PEM".to_owned()));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    build(builder)
}

fn common() -> ClientBuilder {
    // The client panics without a default provider, and there may be one already: then that one is used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("azimuth/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .tcp_keepalive(KEEP_ALIVE)
        .redirect(Policy::none())
}

fn build(builder: ClientBuilder) -> Result<Client, NetError> {
    builder.build().map_err(|problem| {
        let cause = std::error::Error::source(&problem).map_or_else(|| problem.to_string(), ToString::to_string);
        NetError::NotMade(cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn addresses_on_this_machine_are_known() {
        for near in ["http://localhost:1/", "http://127.0.0.1/", "http://127.9.9.9", "http://[::1]:8080/v1"] {
            assert!(is_loopback(&url(near)), "{near}");
        }
        for far in
            ["http://localhost.example/", "https://api.openai.com", "http://10.0.0.1", "http://127.0.0.1.example"]
        {
            assert!(!is_loopback(&url(far)), "{far}");
        }
    }

    #[tokio::test]
    async fn both_clients_can_be_made_though_a_provider_is_installed() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = Clients::new(None);
        http.client(&url("http://127.0.0.1:1")).await.unwrap();
        http.client(&url("https://example.com")).await.unwrap();
    }

    #[tokio::test]
    async fn a_file_of_authorities_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let empty = folder.path().join("empty.pem");
        std::fs::write(&empty, "no certificate").unwrap();
        for file in [folder.path().join("missing.pem"), empty] {
            let error = Clients::new(Some(file.clone())).client(&url("https://example.com")).await.unwrap_err();
            assert!(matches!(&error, NetError::CaFile { file: named, .. } if *named == file));
            assert!(error.to_string().contains(&file.display().to_string()), "{error}");
        }
    }
}
