//! The files whose text may be sent to a model that suggests while the user types. Nobody asked for it at that moment,
//! so if a chat would ask the user, nothing is sent.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use permission::{denied_reading, may_read};
use project::paths::{self, Roots};
use project::search::is_ignored;
use protocol::inline::{Reason, Rule};

use super::Connected;
use crate::config::Config;
use crate::post::{Caller, Shared};
use crate::trust::Workspace;

/// A client's workspace, with all that decides on its files.
#[derive(Clone)]
pub(super) struct Gate {
    shared: Shared,
    config: Arc<Config>,
    folders: Vec<PathBuf>,
    caller: Caller,
}

/// A file whose text may be sent, by the name that the user knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Admitted {
    pub(super) path: PathBuf,
    pub(super) display: String,
}

impl Gate {
    pub(super) fn new(shared: &Shared, config: &Arc<Config>, client: &Connected) -> Self {
        let Connected { caller, folders } = client;
        Self { shared: shared.clone(), config: Arc::clone(config), folders: folders.clone(), caller: caller.clone() }
    }

    /// Judges documents in their order, each by its URI and the path that it is known by: both names must pass, since
    /// one may be a link. Asks the disk and the store.
    pub(super) async fn judge(self, files: Vec<(Arc<str>, PathBuf)>) -> Vec<Result<Admitted, Reason>> {
        let count = files.len();
        let judged = tokio::task::spawn_blocking(move || self.judge_all(&files)).await;
        judged.unwrap_or_else(|_| vec![Err(Rule::Outside.into()); count])
    }

    fn judge_all(&self, files: &[(Arc<str>, PathBuf)]) -> Vec<Result<Admitted, Reason>> {
        let trusted = Workspace::new(&self.shared.trust, self.folders.clone()).decided(&self.caller.trust);
        if trusted != Some(true) {
            return vec![Err(Rule::Untrusted.into()); files.len()];
        }
        let config = self.config.with_projects(&self.folders);
        let Ok(roots) = Roots::new(self.folders.clone()) else {
            return vec![Err(Rule::Outside.into()); files.len()];
        };
        let judge_one = |(uri, path): &(Arc<str>, PathBuf)| {
            let named = paths::from_uri(uri).map_err(|_| Rule::Outside)?;
            let real = paths::canonical(path).map_err(|_| Rule::Outside)?;
            judge(&named, &real, &config, &roots)
        };
        files.iter().map(judge_one).collect()
    }
}

/// Judges a file by the name that the editor has for it, and by the one that this leads to.
fn judge(named: &Path, real: &Path, config: &Config, roots: &Roots) -> Result<Admitted, Reason> {
    let Some(root) = roots.iter().find(|root| real.starts_with(&root.path)) else {
        return Err(Rule::Outside.into());
    };
    let names = [named, real];
    if names.iter().any(|name| paths::is_for_keys(name)) {
        return Err(Rule::SecretFile.into());
    }
    let folders: Vec<_> = roots.iter().map(|root| root.path.clone()).collect();
    if let Some(rule) = denied_reading(&config.rules, &folders, &names) {
        return Err(Reason { rule: Rule::Denied, words: format!("The rule `{rule}` denies reading the file.") });
    }
    if !names.iter().all(|name| may_read(&config.rules, &folders, None, name)) {
        let words = "A rule of yours asks before the file is read, and nobody can be asked while you type.".to_owned();
        return Err(Reason { rule: Rule::Denied, words });
    }
    if is_ignored(&root.path, real) {
        return Err(Rule::Ignored.into());
    }
    Ok(Admitted { path: real.to_owned(), display: roots.display(real) })
}
