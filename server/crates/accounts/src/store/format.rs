//! The file's content: JSON with a version.

use providers::Secret;
use serde::{Deserialize, Serialize};

use super::{Contents, Registered};
use crate::credential::{Credential, Proof, Tokens};

/// The version that is written. A newer one may mean what this program does not know.
const VERSION: u32 = 1;

/// Why bytes cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// A newer program wrote them.
    Newer,
    /// They are no accounts; says where, without any of the text.
    Damaged(String),
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    accounts: Vec<Account>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    registered: Vec<Registered>,
}

#[derive(Serialize, Deserialize)]
struct Account {
    provider: String,
    label: String,
    origin: String,
    #[serde(flatten)]
    proof: Written,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Key(String),
    SignIn(SignIn),
}

#[derive(Serialize, Deserialize)]
struct SignIn {
    access: String,
    refresh: Option<String>,
    issued: u64,
    lifetime: Option<u64>,
    client_id: String,
    token_url: String,
    scopes: Vec<String>,
    name: Option<String>,
    subject: Option<String>,
    #[serde(default)]
    ended: bool,
}

/// Reads the file's bytes.
pub(super) fn read(bytes: &[u8]) -> Result<Contents, Unread> {
    #[derive(Deserialize)]
    struct Head {
        version: u32,
    }
    // The problem's words could repeat a value.
    let damaged =
        |error: serde_json::Error| Unread::Damaged(format!("line {}, column {}", error.line(), error.column()));
    let Head { version } = serde_json::from_slice(bytes).map_err(damaged)?;
    if version > VERSION {
        return Err(Unread::Newer);
    }
    let File { host, accounts, registered, .. } = serde_json::from_slice(bytes).map_err(damaged)?;
    let credentials = accounts.into_iter().map(|account| {
        let Account { provider, label, origin, proof } = account;
        Credential { provider, label, origin, proof: proof.into() }
    });
    Ok(Contents { host, credentials: credentials.collect(), registered })
}

/// The bytes of the file.
pub(super) fn write(contents: &Contents) -> serde_json::Result<Vec<u8>> {
    let accounts = contents.credentials.iter().map(|credential| Account {
        provider: credential.provider.clone(),
        label: credential.label.clone(),
        origin: credential.origin.clone(),
        proof: Written::from(&credential.proof),
    });
    let file = File {
        version: VERSION,
        host: contents.host.clone(),
        accounts: accounts.collect(),
        registered: contents.registered.clone(),
    };
    let mut bytes = serde_json::to_vec_pretty(&file)?;
    bytes.push(b'\n');
    Ok(bytes)
}

impl From<Written> for Proof {
    fn from(written: Written) -> Self {
        match written {
            Written::Key(key) => Self::Key(Secret::new(&key)),
            Written::SignIn(it) => Self::Tokens(Box::new(Tokens {
                access: Secret::new(&it.access),
                refresh: it.refresh.as_deref().map(Secret::new),
                issued: it.issued,
                lifetime: it.lifetime,
                client_id: it.client_id,
                token_url: it.token_url,
                scopes: it.scopes,
                name: it.name,
                subject: it.subject,
                ended: it.ended,
            })),
        }
    }
}

impl From<&Proof> for Written {
    fn from(proof: &Proof) -> Self {
        match proof {
            Proof::Key(key) => Self::Key(key.expose().to_owned()),
            Proof::Tokens(it) => Self::SignIn(SignIn {
                access: it.access.expose().to_owned(),
                refresh: it.refresh.as_ref().map(|token| token.expose().to_owned()),
                issued: it.issued,
                lifetime: it.lifetime,
                client_id: it.client_id.clone(),
                token_url: it.token_url.clone(),
                scopes: it.scopes.clone(),
                name: it.name.clone(),
                subject: it.subject.clone(),
                ended: it.ended,
            }),
        }
    }
}
