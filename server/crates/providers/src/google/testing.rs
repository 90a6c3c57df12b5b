//! Credentials for the tests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A key of nobody's, in PKCS #8.
pub(super) const KEY: &[u8] = include_bytes!("testing/key.der");

/// The same in PEM.
pub(super) fn pem() -> String {
    let text = STANDARD.encode(KEY);
    let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line)).collect();
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
}

/// The file of a service account, whose tokens come from this address.
pub(super) fn service_account(token_url: &str) -> Value {
    json!({ "type": "service_account", "project_id": "project-of-robot", "private_key_id": "key-of-robot",
        "private_key": pem(), "client_email": "robot@project-of-robot.iam.gserviceaccount.com",
        "client_id": "1", "token_uri": token_url, "universe_domain": "googleapis.com" })
}

/// The file of a person who has signed in.
pub(super) fn user(token_url: &str) -> Value {
    json!({ "type": "authorized_user", "client_id": "client-of-gcloud", "client_secret": "hunter2-client",
        "refresh_token": "hunter2-refresh", "quota_project_id": "project-of-ada", "token_uri": token_url })
}
