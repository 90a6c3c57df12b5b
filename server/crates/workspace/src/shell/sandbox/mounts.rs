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

impl Policy {
    /// The same without what lies in file systems that do not answer by now. Expects links to be resolved. Blocks.
    #[must_use]
    pub(in crate::shell) fn answering(mut self) -> Self {
        let mounts = mounted().into_iter().filter(|mount| self.looks_at(mount));
        self.silent = answers::silent(mounts, PATIENCE).into_iter().collect();
        self
    }

    /// True if who enters it asks for a file system that is mounted there: something that is granted lies in it, or it
    /// lies in a folder that is taken apart for what is hidden.
    fn looks_at(&self, mount: &Path) -> bool {
        let granted = [&self.read, &self.unlinked, &self.read_only, &self.write, &self.temporary, &self.devices];
        let granted = || granted.into_iter().flatten();
        let is_split = |folder: &Path| {
            self.hidden.iter().any(|hidden| hidden.starts_with(folder)) && granted().any(|it| folder.starts_with(it))
        };
        granted().any(|place| place.starts_with(mount)) || mount.parent().is_some_and(is_split)
    }
}

/// Where file systems are mounted, but for the root, without which nothing works. None are known elsewhere than on
/// Linux.
#[expect(clippy::disallowed_methods, reason = "the system's list of mounts is no project file")]
fn mounted() -> BTreeSet<PathBuf> {
    std::fs::read("/proc/self/mountinfo").map(|list| mount_points(&list)).unwrap_or_default()
}

/// The fifth field of each line, in which blanks, tabs, line ends and backslashes are written as octal numbers.
fn mount_points(list: &[u8]) -> BTreeSet<PathBuf> {
    let fields = list.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    let paths = fields.map(|field| PathBuf::from(OsString::from_vec(unescaped(field))));
    paths.filter(|path| path.parent().is_some()).collect()
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
    fn mount_points_are_read_with_blanks_in_their_names() {
        let list =
            b"22 1 8:1 / / rw - ext4 /dev/sda1 rw\n36 22 0:31 / /mnt/my\\040disk\\134n rw,nosuid - nfs4 far:/ rw\n";
        assert_eq!(mount_points(list), BTreeSet::from([PathBuf::from("/mnt/my disk\\n")]));
    }

    #[test]
    fn only_file_systems_that_who_enters_it_asks_for_are_asked() {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let policy = Policy {
            read: paths(&["/usr", "/mnt/tools/bin", "/home/ada"]),
            hidden: paths(&["/home/ada/.ssh", "/etc/shadow"]),
            ..Policy::closed()
        };
        for (mount, is_asked) in [
            ("/mnt/tools", true),
            ("/mnt/tools/bin", true),
            ("/home", true),
            ("/home/ada/far", true),
            ("/home/ada/deep/far", false),
            ("/mnt/other", false),
            ("/etc/far", false),
        ] {
            assert_eq!(policy.looks_at(Path::new(mount)), is_asked, "{mount}");
        }
    }
}
