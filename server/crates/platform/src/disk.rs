//! The file system that a folder lies on.

use std::path::Path;

/// The number of bytes that an ordinary user may still write there; none if the system does not tell.
#[cfg(unix)]
pub fn free(folder: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(folder).ok()?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

/// The number of bytes that an ordinary user may still write there. Nobody is asked here.
#[cfg(not(unix))]
pub fn free(_: &Path) -> Option<u64> {
    None
}

/// The name of the file system, with an article, if other machines may write to it at the same time.
#[cfg(target_os = "linux")]
pub fn shared(folder: &Path) -> Option<&'static str> {
    name_of(rustix::fs::statfs(folder).ok()?.f_type)
}

/// The name of the file system if other machines may write to it. Nobody is asked here.
#[cfg(not(target_os = "linux"))]
pub fn shared(_: &Path) -> Option<&'static str> {
    None
}

/// The name of a file system that other machines may write to, by its magic number (statfs(2)).
#[cfg(target_os = "linux")]
fn name_of(magic: rustix::fs::FsWord) -> Option<&'static str> {
    // The word is signed on some machines, and the numbers have 32 bits.
    match magic as u32 {
        0x6969 => Some("a network file system (NFS)"),
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some("a Windows share (SMB)"),
        0x5346_414f | 0x6b41_4653 => Some("a network file system (AFS)"),
        0x00c3_6400 => Some("a network file system (Ceph)"),
        0x0102_1997 => Some("a share of the host (9P)"),
        0x6573_5546 => Some("a FUSE file system, which may be a network one"),
        _ => None,
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert!(name_of(0x6969).unwrap().contains("NFS"));
        assert!(name_of(0xff53_4d42).unwrap().contains("SMB"));
        let (ext4, tmpfs, btrfs) = (0xef53, 0x0102_1994, 0x9123_683e);
        for local in [ext4, tmpfs, btrfs] {
            assert_eq!(name_of(local), None);
        }
    }

    #[test]
    fn there_is_room_where_temporary_files_lie() {
        assert!(free(&std::env::temp_dir()).is_some_and(|free| free > 0));
        assert_eq!(free(Path::new("/there is no such folder")), None);
    }
}
