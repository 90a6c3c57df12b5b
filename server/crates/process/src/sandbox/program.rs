//! The grants that one program needs besides its session's sandbox: a language server its own files and its caches.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use protocol::terminal::SandboxMode;

use super::places::{BESIDE_PROGRAMS, Dirs, holds};
use super::{Links, Policy, led_to};

impl Policy {
    /// The same for one program: it may also read what it is made of, where that is named, and write these caches,
    /// named as those of package managers are. They are made where they are not there, since what is not there cannot
    /// be granted. What it is made of is looked for where links lead only if `follows_links`: commands of another
    /// session may have put them there. Expects links to be resolved. Blocks.
    #[must_use]
    pub fn with_program(
        mut self,
        program: Option<&Path>,
        follows_links: bool,
        caches: &[String],
        environment: &dyn Fn(&str) -> Option<OsString>,
    ) -> Self {
        let home = super::path_in(environment("HOME").as_deref());
        let dirs = Dirs { home: home.as_deref(), environment };
        let written = self.written();
        let mut read = Vec::new();
        let packages_of = |path: &Path| {
            let packages =
                path.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules"));
            packages.last().map(Path::to_owned)
        };
        let real = program.and_then(|program| program.canonicalize().ok()).filter(|real| {
            // A package manager's link leads to what it has installed beside.
            follows_links || packages_of(real).is_some_and(|of| program.and_then(packages_of) == Some(of))
        });
        for program in [program, real.as_deref()].into_iter().flatten() {
            let Some(folder) = program.parent() else { continue };
            read.push(program.to_owned());
            let is_local = |beside: &Path| home.as_deref().is_some_and(|home| beside == home.join(".local"));
            let beside = folder.parent().filter(|beside| !holds(beside, home.as_deref()) && !is_local(beside));
            let beside = beside.into_iter().flat_map(|beside| BESIDE_PROGRAMS.iter().map(|name| beside.join(name)));
            read.extend(beside);
            // Packages that npm installs lie beside what needs them.
            read.extend(packages_of(folder));
            read.extend((!holds(folder, home.as_deref())).then(|| folder.to_owned()));
        }
        // The program has already what lies where commands write, and a link there opens nothing.
        let links = Links::to(home.as_slice());
        let caches: Vec<PathBuf> = caches.iter().filter_map(|name| dirs.led_to(name, &links, &written)).collect();
        if self.mode == SandboxMode::WorkspaceWrite {
            for cache in caches.iter().filter(|_| home.as_deref().is_some_and(Path::is_dir)) {
                let _ = std::fs::create_dir_all(cache);
            }
            self.write.extend(caches);
        } else {
            self.read_only.extend(caches);
        }
        let read = read.iter().filter_map(|path| led_to(path, &written).filter(|place| follows_links || place == path));
        let list = if follows_links { &mut self.read } else { &mut self.unlinked };
        list.extend(read);
        for list in [&mut self.read, &mut self.unlinked, &mut self.read_only, &mut self.write] {
            list.sort();
            list.dedup();
        }
        self
    }
}
