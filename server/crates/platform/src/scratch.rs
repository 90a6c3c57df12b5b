//! A file of this process alone, for what is too much to be held in memory.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// A file that only the user can read, written and read at any offset. It goes with this value.
#[derive(Debug)]
pub struct Scratch(system::Scratch);

impl Scratch {
    /// An empty one. On Unix it has no name any more, so that it goes with this process however that ends.
    ///
    /// # Errors
    /// The folder of the path cannot be written to.
    pub fn new(path: &Path) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true);
        let file = crate::rights::private(&mut options).open(path)?;
        system::Scratch::new(file, path).map(Self)
    }

    /// Writes bytes from an offset on.
    ///
    /// # Errors
    /// The system's error, as on a full disk.
    pub fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write(bytes, offset)
    }

    /// Reads as many bytes as there is room for, from an offset on.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::UnexpectedEof`] if there are not so many.
    pub fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read(bytes, offset)
    }
}

#[cfg(unix)]
mod system {
    use std::os::unix::fs::FileExt;

    use super::{File, Path, fs, io};

    #[derive(Debug)]
    pub(super) struct Scratch(pub(super) File);

    impl Scratch {
        #[expect(clippy::disallowed_methods, reason = "it is a file of our own")]
        pub(super) fn new(file: File, path: &Path) -> io::Result<Self> {
            fs::remove_file(path)?;
            Ok(Self(file))
        }

        pub(super) fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            self.0.write_all_at(bytes, offset)
        }

        pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            self.0.read_exact_at(bytes, offset)
        }
    }
}

/// Here a file keeps its name while it is in use, so a process that is killed leaves it behind.
#[cfg(not(unix))]
mod system {
    use std::io::{Read, Seek, SeekFrom, Write};
    use std::path::PathBuf;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::{File, Path, fs, io};

    #[derive(Debug)]
    pub(super) struct Scratch {
        file: Option<Mutex<File>>,
        path: PathBuf,
    }

    impl Scratch {
        pub(super) fn new(file: File, path: &Path) -> io::Result<Self> {
            Ok(Self { file: Some(Mutex::new(file)), path: path.to_owned() })
        }

        pub(super) fn write(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            self.at(offset)?.write_all(bytes)
        }

        pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
            self.at(offset)?.read_exact(bytes)
        }

        fn at(&self, offset: u64) -> io::Result<MutexGuard<'_, File>> {
            let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(offset))?;
            Ok(file)
        }
    }

    impl Drop for Scratch {
        #[expect(clippy::disallowed_methods, reason = "it is a file of our own")]
        fn drop(&mut self) {
            // It is closed first, so that nothing is left of it.
            self.file = None;
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn it_is_the_users_own() {
        let folder = tempfile::tempdir().unwrap();
        let Scratch(system::Scratch(file)) = Scratch::new(&folder.path().join("copy")).unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn what_was_written_is_read_at_its_offset_and_no_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("copy");
        let scratch = Scratch::new(&path).unwrap();
        scratch.write(b"second", 5).unwrap();
        scratch.write(b"first", 0).unwrap();
        let mut bytes = [0; 8];
        scratch.read(&mut bytes, 3).unwrap();
        assert_eq!(&bytes, b"stsecond");
        assert_eq!(scratch.read(&mut bytes, 9).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        drop(scratch);
        assert!(!path.exists());
    }
}
