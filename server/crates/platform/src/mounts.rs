//! The mounted file systems that may not answer.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::names;

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

/// Where file systems are mounted that may not answer, but for the root, without which nothing works. None are known
/// elsewhere than on Linux.
#[expect(clippy::disallowed_methods, reason = "the system's list of mounts is no project file")]
pub fn mounted() -> BTreeSet<PathBuf> {
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
        names::from_bytes(unescaped(point)).map(PathBuf::from)
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
}
