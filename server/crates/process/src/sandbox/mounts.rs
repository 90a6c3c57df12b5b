//! File systems that do not answer, as those of machines that are gone: whoever enters a sandbox opens what it grants,
//! and would wait for one for ever.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use platform::mounts;
use project::answers;

use super::Policy;

/// How long file systems may take to answer, all together.
const PATIENCE: Duration = Duration::from_secs(5);

impl Policy {
    /// The same without what lies in file systems that do not answer by now. Expects links to be resolved. Blocks.
    #[must_use]
    pub fn answering(mut self) -> Self {
        let mounts = mounts::mounted();
        let links = self.links(&mounts);
        let asked = mounts.into_iter().filter(|mount| self.looks_at(mount, &links));
        self.silent = answers::silent(asked, PATIENCE).into_iter().collect();
        self
    }

    /// True if who enters it asks for a file system that is mounted there: something that is granted or hidden lies in
    /// it, it lies in a folder that is taken apart for what is hidden, or a link in such a folder leads there.
    fn looks_at(&self, mount: &Path, links: &[PathBuf]) -> bool {
        let lies_in = |place: &PathBuf| place.starts_with(mount);
        self.granted().chain(&self.hidden).chain(links).any(lies_in)
            || mount.parent().is_some_and(|folder| self.is_split(folder))
    }

    /// Where links lead in folders that are taken apart, as far as their own words say it.
    fn links(&self, mounts: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let folders: BTreeSet<&Path> = self.hidden.iter().flat_map(|hidden| hidden.ancestors().skip(1)).collect();
        let is_near = |folder: &&Path| !mounts.iter().any(|mount| folder.starts_with(mount));
        let folders = folders.into_iter().filter(|folder| self.is_split(folder)).filter(is_near);
        let entries = folders.filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        let target = |link: PathBuf| Some(plain(&link.parent()?.join(std::fs::read_link(&link).ok()?)));
        links.filter_map(|link| target(link.path())).collect()
    }

    /// True if a folder is taken apart, since something hidden lies in it.
    fn is_split(&self, folder: &Path) -> bool {
        self.hidden.iter().any(|hidden| hidden.starts_with(folder)) && self.granted().any(|it| folder.starts_with(it))
    }

    fn granted(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.read, &self.unlinked, &self.read_only, &self.write, &self.temporary, &self.devices].into_iter().flatten()
    }
}

/// A path without `.` and `..`, by its words alone.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
        path
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_that_who_enters_it_asks_for_are_asked() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let policy = Policy {
            read: paths(&["/usr", "/mnt/tools/bin", "/home/ada"]),
            hidden: paths(&["/home/ada/.ssh", "/etc/shadow", "/mnt/keys/ada"]),
            ..Policy::closed()
        };
        let links = paths(&["/mnt/nas/ada"]);
        for (mount, is_asked) in [
            ("/mnt/tools", true),
            ("/mnt/tools/bin", true),
            ("/home", true),
            ("/home/ada/far", true),
            ("/home/ada/deep/far", false),
            ("/mnt/other", false),
            ("/etc/far", false),
            ("/mnt/keys", true),
            ("/mnt/nas", true),
        ] {
            assert_eq!(policy.looks_at(Path::new(mount), &links), is_asked, "{mount}");
        }
    }

    #[test]
    fn a_link_in_a_folder_that_is_taken_apart_is_seen_by_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/mnt/nas/ada", home.join("nas")).unwrap();
        let policy = Policy { write: vec![home.clone()], hidden: vec![home.join(".ssh")], ..Policy::closed() };
        assert_eq!(policy.links(&BTreeSet::new()), [PathBuf::from("/mnt/nas/ada")]);
        let up = home.components().skip(1).map(|_| "../").collect::<String>();
        std::os::unix::fs::symlink(format!("{up}mnt/./nas/eve"), home.join("other")).unwrap();
        let links: BTreeSet<_> = policy.links(&BTreeSet::new()).into_iter().collect();
        assert_eq!(links, ["/mnt/nas/ada", "/mnt/nas/eve"].map(PathBuf::from).into());
        assert!(policy.links(&BTreeSet::from([home])).is_empty(), "what may not answer is not looked into");
    }
}
