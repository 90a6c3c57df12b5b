//! The program of `credential_process`, which prints credentials
//! (docs.aws.amazon.com/sdkref/latest/guide/feature-process-credentials.html).

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::credentials::Credentials;

/// The time that a program may take. It may wait for the user's finger, or for a page in the browser.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the programs that print credentials. Programs are started elsewhere than here.
#[async_trait]
pub trait RunProgram: Send + Sync {
    /// Runs a program with its arguments, without a shell, and gives its output. It is ended when the future is
    /// dropped.
    ///
    /// # Errors
    /// It does not start, or fails; says so, without its output.
    async fn output(&self, words: &[String]) -> Result<Vec<u8>, String>;

    /// True if a file that a variable names is the user's own: it lies in no project, and nowhere that commands may
    /// write. Blocks.
    fn is_users_own(&self, file: &Path) -> bool;
}

/// Runs the program of these words and reads its credentials.
///
/// # Errors
/// It fails, takes longer than 60 seconds, or prints no credentials; says so, without its output.
pub(super) async fn credentials(run: &dyn RunProgram, words: &[String]) -> Result<Credentials, String> {
    let output = tokio::time::timeout(PATIENCE, run.output(words)).await;
    let output = output.map_err(|_| format!("it took longer than {} seconds and was ended", PATIENCE.as_secs()))??;
    let json: Value = serde_json::from_slice(&output).map_err(|_| "it printed no JSON".to_owned())?;
    match json.get("Version").map(Value::as_u64) {
        Some(Some(1)) => Credentials::from_json(&json, "SessionToken"),
        Some(_) => Err("its `Version` is not 1, the only one that is known".to_owned()),
        None => Err("it has no `Version`".to_owned()),
    }
}
