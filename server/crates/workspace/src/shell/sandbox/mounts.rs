//! File systems that do not answer, as those of machines that are gone: whoever enters a sandbox opens what it grants,
//! and would wait for one for ever.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Policy;
use crate::answers;

/// How long file systems may take to answer, all together.
const PATIENCE: Duration = Duration::from_secs(5);

/// Kinds of file systems that are this machine's own: they answer, or nothing else would either.
const LOCAL: &[&str] = &[
    "bcachefs",
    "binfmt_misc",
    "bpf",
    "btrfs",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "erofs",
    "exfat",
    "ext2",
    "ext3",
    "ext4",
    "f2fs",
    "fusectl",
    "hugetlbfs",
    "iso9660",
    "mqueue",
    "ntfs3",
    "overlay",
    "proc",
    "pstore",
    "ramfs",
    "securityfs",
    "selinuxfs",
    "squashfs",
    "sysfs",
    "tmpfs",
    "tracefs",
    "udf",
    "vfat",
    "xfs",
    "zfs",
];
/// The kind that mounts by itself when it is asked for a name: whoever asks it for one that is not there has a machine
/// looked for. What it has mounted is listed beside it.
const AUTOMOUNTER: &str = "autofs";

impl Policy {
    /// The same without what lies in file systems that do not answer by now. Expects links to be resolved. Blocks.
    #[must_use]
    pub(in crate::shell) fn answering(mut self) -> Self {
        let mounts = mounted();
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
        let target = |link: PathBuf| Some(link.parent()?.join(std::fs::read_link(&link).ok()?));
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

/// Where file systems are mounted that may not answer, but for the root, without which nothing works. None are known
/// elsewhere than on Linux.
#[expect(clippy::disallowed_methods, reason = "the system's list of mounts is no project file")]
fn mounted() -> BTreeSet<PathBuf> {
    std::fs::read("/proc/self/mountinfo").map(|list| mount_points(&list)).unwrap_or_default()
}

/// Of each line the fifth field, in which blanks, tabs, line ends and backslashes are written as octal numbers, if the
/// one behind the dash is a kind that may not answer.
fn mount_points(list: &[u8]) -> BTreeSet<PathBuf> {
    let points = list.split(|byte| *byte == b'\n').filter_map(|line| {
        let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
        let dash = fields.iter().position(|field| *field == b"-")?;
        let kind = fields.get(dash + 1)?;
        let is_asked = *kind != AUTOMOUNTER.as_bytes() && !LOCAL.iter().any(|local| *kind == local.as_bytes());
        let point = fields.get(4).filter(|_| is_asked)?;
        Some(PathBuf::from(OsString::from_vec(unescaped(point))))
    });
    points.filter(|path| path.parent().is_some()).collect()
}

fn unescaped(field: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), field);
    while let [first, behind @ ..] = rest {
        let number = behind.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match number.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_file_systems_that_may_not_answer_are_asked_by_their_names_with_blanks() {
        let list = b"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n\
            36 22 0:31 / /mnt/my\\040disk\\134n rw,nosuid - nfs4 far:/ rw\n\
            37 22 0:32 / /home/ada/far rw shared:2 master:1 - fuse.sshfs ada@far: rw\n\
            38 22 0:33 / /net rw - autofs -hosts rw\n\
            39 22 0:34 / /home rw shared:3 - xfs /dev/sdb1 rw\n";
        assert_eq!(mount_points(list), ["/home/ada/far", "/mnt/my disk\\n"].map(PathBuf::from).into());
    }

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
        assert!(policy.links(&BTreeSet::from([home])).is_empty(), "what may not answer is not looked into");
    }
}
