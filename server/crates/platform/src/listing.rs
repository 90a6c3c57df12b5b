//! The contents of a folder that no link leads to.

use std::ffi::OsString;
use std::fs::FileType;
use std::io;
use std::path::Path;

/// The kind of what lies in a folder. A link is of another kind, wherever it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, a pipe, a device and the like.
    Other,
    /// The file system does not tell it with the name; [`kind_of`] asks.
    Unknown,
}

/// Asks for the kind of what has this path; another one if it cannot be asked.
pub fn kind_of(path: &Path) -> Kind {
    path.symlink_metadata().map_or(Kind::Other, |metadata| Kind::of(metadata.file_type()))
}

impl Kind {
    fn of(file_type: FileType) -> Self {
        match file_type {
            file if file.is_file() => Self::File,
            folder if folder.is_dir() => Self::Folder,
            _ => Self::Other,
        }
    }
}

/// Goes through a folder: the names in it, in no order, each with its kind.
#[derive(Debug)]
pub struct Listing(system::Listing);

impl Listing {
    /// Opens a folder.
    ///
    /// # Errors
    /// The system's error, which is [`crate::open::is_link_error`] if a link is on the way;
    /// [`io::ErrorKind::NotADirectory`] for anything but a folder.
    pub fn open(folder: &Path) -> io::Result<Self> {
        system::Listing::open(folder).map(Self)
    }

    /// True if it shows what the kernel tells, as `/proc` and `/sys` do: they are no files of a project, there is no
    /// end to them, and some wait for whoever reads them. Only Linux has such folders.
    pub fn is_kernels(&self) -> bool {
        self.0.is_kernels()
    }
}

impl Iterator for Listing {
    type Item = io::Result<(OsString, Kind)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

#[cfg(unix)]
mod system {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use rustix::fs::{Dir, FileType};

    use super::{Kind, OsString, Path, io};

    #[derive(Debug)]
    pub(super) struct Listing(Dir);

    impl Listing {
        pub(super) fn open(folder: &Path) -> io::Result<Self> {
            Ok(Self(Dir::new(crate::open::folder(folder)?)?))
        }

        #[cfg(target_os = "linux")]
        pub(super) fn is_kernels(&self) -> bool {
            // The numbers by which the kernel names these file systems; their type is another one on other processors.
            self.0.statfs().is_ok_and(|about| matches!(about.f_type, 0x9fa0 | 0x6265_6572))
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn is_kernels(&self) -> bool {
            false
        }

        pub(super) fn next(&mut self) -> Option<io::Result<(OsString, Kind)>> {
            loop {
                let entry = match self.0.next()? {
                    Ok(entry) => entry,
                    Err(error) => return Some(Err(error.into())),
                };
                let name = OsStr::from_bytes(entry.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                let kind = match entry.file_type() {
                    FileType::RegularFile => Kind::File,
                    FileType::Directory => Kind::Folder,
                    FileType::Unknown => Kind::Unknown,
                    _ => Kind::Other,
                };
                return Some(Ok((name.to_owned(), kind)));
            }
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs::{DirEntry, ReadDir};

    use super::{Kind, OsString, Path, io};

    #[derive(Debug)]
    pub(super) struct Listing(ReadDir);

    impl Listing {
        pub(super) fn open(folder: &Path) -> io::Result<Self> {
            crate::open::folder(folder)?;
            folder.read_dir().map(Self)
        }

        pub(super) fn is_kernels(&self) -> bool {
            false
        }

        pub(super) fn next(&mut self) -> Option<io::Result<(OsString, Kind)>> {
            let told = |entry: DirEntry| (entry.file_name(), entry.file_type().map_or(Kind::Other, Kind::of));
            Some(self.0.next()?.map(told))
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "these are files of the test")]

    use std::fs;

    use super::*;

    #[test]
    fn a_folder_lists_its_files_and_folders_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("a.txt"), "").unwrap();
        fs::create_dir(root.join("src")).unwrap();
        let listed = || -> Vec<_> {
            let mut listed: Vec<_> = Listing::open(&root).unwrap().map(Result::unwrap).collect();
            listed.sort_by(|(a, _), (b, _)| a.cmp(b));
            listed
        };
        assert_eq!(listed(), [("a.txt".into(), Kind::File), ("src".into(), Kind::Folder)]);
        assert_eq!(Listing::open(&root.join("a.txt")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert!(!Listing::open(&root).unwrap().is_kernels());
        assert_eq!(
            ["a.txt", "src", "gone"].map(|name| kind_of(&root.join(name))),
            [Kind::File, Kind::Folder, Kind::Other]
        );
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("src"), root.join("link")).unwrap();
            assert_eq!(listed()[1], ("link".into(), Kind::Other));
            assert_eq!(kind_of(&root.join("link")), Kind::Other);
            assert!(crate::open::is_link_error(&Listing::open(&root.join("link")).unwrap_err()));
        }
        #[cfg(target_os = "linux")]
        assert!(Listing::open(Path::new("/proc")).unwrap().is_kernels());
    }
}
