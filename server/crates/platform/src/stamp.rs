//! Telling whether a file was touched, and whether two names mean one file.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The marks that a file has after each change. Where they are the same, so is the file, unless it was changed twice
/// within the tick of the file system's clock. Elsewhere than on Unix a program can also set them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its size in bytes.
    pub size: u64,
    system: system::Marks,
}

impl Stamp {
    /// The marks in a file's metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self { size: metadata.len(), system: system::Marks::of(metadata) }
    }

    /// When the file was last touched. On Unix that counts a change of its name or rights, too, and no program can set
    /// it back; elsewhere it is when its bytes were last written.
    pub fn touched(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.system.touched();
        let whole = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        UNIX_EPOCH + whole + Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(0))
    }

    /// True if the file was last touched in a second before the one of `time`.
    pub fn was_touched_before(&self, time: SystemTime) -> bool {
        let time = time.duration_since(UNIX_EPOCH).ok();
        time.is_some_and(|time| self.system.touched().0 < i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
    }
}

/// True if a path means the file that is open: it has not been removed, nor another one put in its place.
#[cfg(unix)]
pub fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let (Ok(ours), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

/// True if a path means a file. Here it is not asked whether that is the one that is open, or one that was put in its
/// place.
#[cfg(not(unix))]
pub fn is_still(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(unix)]
mod system {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Marks {
        inode: u64,
        modified: (i64, i64),
        changed: (i64, i64),
    }

    impl Marks {
        pub(super) fn of(metadata: &Metadata) -> Self {
            Self {
                inode: metadata.ino(),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
            }
        }

        /// Seconds since 1970, and nanoseconds.
        pub(super) fn touched(self) -> (i64, i64) {
            self.changed
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::Metadata;
    use std::time::UNIX_EPOCH;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Marks {
        modified: (i64, i64),
    }

    impl Marks {
        pub(super) fn of(metadata: &Metadata) -> Self {
            let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let since = since.unwrap_or_default();
            Self { modified: (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos())) }
        }

        /// Seconds since 1970, and nanoseconds.
        pub(super) fn touched(self) -> (i64, i64) {
            self.modified
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "these are files of the test")]

    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_written_again_has_another_stamp_and_one_that_was_replaced_is_no_longer_the_open_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "one").unwrap();
        let before = Stamp::of(&path.metadata().unwrap());
        assert_eq!(before, Stamp::of(&path.metadata().unwrap()));
        assert!(!before.was_touched_before(SystemTime::now() - Duration::from_secs(60)));
        assert!(before.was_touched_before(SystemTime::now() + Duration::from_secs(60)));
        fs::write(&path, "three").unwrap();
        assert_ne!(before, Stamp::of(&path.metadata().unwrap()));
        let file = File::open(&path).unwrap();
        assert!(is_still(&file, &path));
        fs::rename(&path, folder.path().join("b.txt")).unwrap();
        assert!(!is_still(&file, &path));
        fs::write(&path, "three").unwrap();
        assert_eq!(is_still(&file, &path), cfg!(not(unix)), "only Unix tells one from the other");
    }
}
