//! What one program needs besides what its session's sandbox grants: a language server its own files and its caches.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use protocol::terminal::SandboxMode;

use super::Policy;
use super::places::{BESIDE_PROGRAMS, Dirs, holds};

impl Policy {
    /// The same for one program: it may also read what it is made of, where that is named, and write these caches, named as those of
    /// package managers are. They are made where they are not there, since what is not there cannot be granted. Blocks.
    #[must_use]
    pub(crate) fn with_program(
        mut self,
        program: Option<&Path>,
        caches: &[String],
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let home = super::path_in(environment("HOME").as_deref());
        let dirs = Dirs { home: home.as_deref(), environment };
        let resolved = program.and_then(|program| program.canonicalize().ok());
        for program in [program, resolved.as_deref()].into_iter().flatten() {
            let Some(folder) = program.parent() else { continue };
            self.read.push(program.to_owned());
            let is_local = |beside: &Path| home.as_deref().is_some_and(|home| beside == home.join(".local"));
            let beside = folder.parent().filter(|beside| !holds(beside, home.as_deref()) && !is_local(beside));
            let beside = beside.into_iter().flat_map(|beside| BESIDE_PROGRAMS.iter().map(|name| beside.join(name)));
            self.read.extend(beside);
            // What npm installs lies beside what needs it.
            let packages =
                folder.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules"));
            self.read.extend(packages.last().map(Path::to_owned));
            self.read.extend((!holds(folder, home.as_deref())).then(|| folder.to_owned()));
        }
        let caches: Vec<PathBuf> = caches.iter().filter_map(|name| dirs.find(name)).collect();
        if self.mode == SandboxMode::WorkspaceWrite {
            for cache in caches.iter().filter(|_| home.as_deref().is_some_and(Path::is_dir)) {
                let _ = std::fs::create_dir_all(cache);
            }
            self.write.extend(caches);
        } else {
            self.read.extend(caches);
        }
        self.resolved()
    }
}
