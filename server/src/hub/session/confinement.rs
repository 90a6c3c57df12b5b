//! What holds the processes of a session's shell: the supervisor, and the sandbox that the configuration asks for.

use std::path::PathBuf;
use std::sync::Arc;

use protocol::terminal::SandboxMode;
use workspace::paths::Roots;
use workspace::shell::Confinement;
use workspace::shell::sandbox::{self, Policy, Settings, World};

use crate::config::Config;
use crate::hub::Parts;

/// What holds the processes of a session in these folders; and what is to be said where it is not what the user asked for.
pub(super) async fn of(parts: &Parts, config: &Config, roots: &Roots) -> (Confinement, Option<String>) {
    let settings = Settings {
        mode: SandboxMode::from(config.sandbox),
        network: config.sandbox_network,
        write: config.sandbox_write.clone(),
        read: config.sandbox_read.clone(),
    };
    let supervisor = parts.supervisor.clone();
    if settings.mode == SandboxMode::Full {
        return (Confinement { supervisor, policy: None }, None);
    }
    let folders: Vec<PathBuf> = roots.iter().map(|root| root.path.clone()).collect();
    let own = vec![parts.data_folder.clone(), parts.user_file.clone()];
    let made = tokio::task::spawn_blocking(move || policy(&settings, &folders, &own)).await;
    // Without a policy commands would run free; that is said rather than hidden.
    let (policy, warning) = made.unwrap_or_else(|error| (None, Some(format!("no sandbox can be made: {error}"))));
    (Confinement { supervisor, policy: policy.map(Arc::new) }, warning)
}

/// Blocks.
fn policy(settings: &Settings, folders: &[PathBuf], own: &[PathBuf]) -> (Option<Policy>, Option<String>) {
    if sandbox::support().by.is_none() {
        let words = "commands run without a sandbox, since this system has none that Azimuth can use; `azimuth doctor` \
                     says more";
        return (None, Some(words.to_owned()));
    }
    let environment = |name: &str| std::env::var_os(name);
    let home = environment("HOME").map(PathBuf::from);
    let own: Vec<PathBuf> = own.iter().map(|path| path.canonicalize().unwrap_or_else(|_| path.clone())).collect();
    let kept: Vec<PathBuf> = own.iter().cloned().chain(home).collect();
    let repositories = sandbox::repositories(folders, &kept);
    if settings.mode == SandboxMode::WorkspaceWrite {
        sandbox::make_caches(&environment);
    }
    let credentials = sandbox::settings_with_credentials(&environment);
    let (repositories, environment) = (&repositories, &environment);
    let world = World { folders, repositories, own: &own, credentials: &credentials, environment };
    (Policy::new(settings, &world).map(Policy::resolved), None)
}
