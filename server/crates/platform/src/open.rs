//! Opening of files and folders by paths that no link is on, so that nothing which is put there in the meantime is read
//! or written. Paths are absolute, with their links resolved.
//!
//! On Linux the kernel sees to that while it opens, for the whole way. On other Unix systems it sees only a link in the
//! place of the file itself, and elsewhere that is looked for before, and a pipe is waited for.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
pub use self::linux::place;
pub(crate) use self::system::folder;

/// The purpose of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To read it.
    Read,
    /// To write it. It is not changed by being opened.
    Write,
}

/// The treatment of a link in the place of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It is followed.
    Follow,
    /// It is an error ([`is_link_error`]).
    Refuse,
}

/// Opens a regular file that no link leads to, to read it.
///
/// # Errors
/// The system's error; [`is_link_error`] if a link is on the way; [`io::ErrorKind::InvalidInput`] for anything but a
/// regular file, which is neither waited for nor, unless it came just then, opened.
pub fn regular(path: &Path) -> io::Result<(File, Metadata)> {
    let seen = path.symlink_metadata()?;
    // To open a device may do something, so it is asked first; what was opened is what counts.
    if !seen.is_file() && !seen.is_symlink() {
        return Err(not_regular());
    }
    let file = system::regular(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_regular()) }
}

/// Reads a regular file that no link leads to; none if it has more bytes than `most`, of which no more are read.
///
/// # Errors
/// As [`regular`].
pub fn bytes(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let (file, metadata) = regular(path)?;
    whole(file, &metadata, most)
}

/// Reads a regular file that was opened; none if it has more bytes than `most`.
///
/// # Errors
/// The system's error.
pub fn whole(file: File, metadata: &Metadata, most: u64) -> io::Result<Option<Vec<u8>>> {
    if metadata.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // It can have grown, and the files of /proc say that they are empty.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(u64::try_from(bytes.len()).is_ok_and(|size| size <= most).then_some(bytes))
}

/// Opens a file that is there. A pipe is not waited for. What is above the file is not looked at.
///
/// # Errors
/// The system's error; [`is_link_error`] if a link is in its place and not to be followed.
pub fn existing(path: &Path, way: Way, links: Links) -> io::Result<File> {
    system::existing(path, way, links)
}

/// True if a file could not be opened because a link is in its place or on the way to it.
pub fn is_link_error(error: &io::Error) -> bool {
    system::is_link_error(error)
}

/// The folder of a file that is to be written. On Linux it is held open, reached without following a link: whatever
/// else comes under the names on the way from then on, it is this folder that is written to. Elsewhere it is only a
/// path.
#[derive(Debug)]
pub struct Held {
    path: PathBuf,
    #[cfg(target_os = "linux")]
    _folder: rustix::fd::OwnedFd,
}

impl Held {
    /// Holds the folder that a path lies in. With `make`, folders on the way that are not there are made.
    ///
    /// # Errors
    /// The system's error; [`is_link_error`] if a link is on the way; [`io::ErrorKind::InvalidInput`] for a path that
    /// lies in no folder.
    pub fn above(path: &Path, make: bool) -> io::Result<Self> {
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        #[cfg(target_os = "linux")]
        {
            let folder = linux::hold(path, make)?;
            let path = PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&folder)));
            // Where the system does not show it, the path has to do.
            let path = if path.is_dir() { path } else { parent.to_owned() };
            Ok(Self { path, _folder: folder })
        }
        #[cfg(not(target_os = "linux"))]
        {
            if make {
                std::fs::create_dir_all(parent)?;
            }
            folder(parent)?;
            Ok(Self { path: parent.to_owned() })
        }
    }

    /// The path of the folder for the system, valid as long as this lives.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")
}

#[cfg(unix)]
mod system {
    use rustix::fd::OwnedFd;
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;

    #[cfg(target_os = "linux")]
    use super::linux::without_links;
    use super::{File, Links, Path, Way, io};

    pub(super) fn regular(path: &Path) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(without_links(path, flags)?.into())
    }

    /// Opens a folder that no link leads to, to list what is in it.
    pub(crate) fn folder(path: &Path) -> io::Result<OwnedFd> {
        without_links(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC)
    }

    pub(super) fn existing(path: &Path, way: Way, links: Links) -> io::Result<File> {
        let way = if way == Way::Write { OFlags::WRONLY } else { OFlags::RDONLY };
        let links = if links == Links::Follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        let flags = way | links | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
    }

    pub(super) fn is_link_error(error: &io::Error) -> bool {
        Errno::from_io_error(error) == Some(Errno::LOOP)
    }

    #[cfg(not(target_os = "linux"))]
    fn without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        Ok(rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?)
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::path::Component;

    use rustix::fd::OwnedFd;
    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2, statat};
    use rustix::io::Errno;

    use super::{Path, io};

    /// A folder, only to go on from.
    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

    /// Holds what no link leads to, to say of it what it is, and whether it is a folder. Nothing is read, nor does a
    /// device notice.
    ///
    /// # Errors
    /// The system's error; [`super::is_link_error`] if a link is on the way.
    pub fn place(path: &Path) -> io::Result<(OwnedFd, bool)> {
        let place = without_links(path, OFlags::PATH | OFlags::CLOEXEC)?;
        let kind = FileType::from_raw_mode(fstat(&place)?.st_mode);
        Ok((place, kind.is_dir()))
    }

    pub(super) fn without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            // Before Linux 5.6, and where a container does not know of the call.
            Err(Errno::NOSYS | Errno::PERM) => step_by_step(path, flags),
            opened => Ok(opened?),
        }
    }

    /// The same by hand: every folder on the way is held open, and the next one looked for in it.
    pub(super) fn step_by_step(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let held = hold(path, false)?;
        let name = path.file_name().unwrap_or(OsStr::new("."));
        let opened = openat(&held, name, flags | OFlags::NOFOLLOW, Mode::empty());
        // A link where a folder is wanted is only called no folder.
        Ok(opened.map_err(|error| if is_link(&held, name) { Errno::LOOP } else { error })?)
    }

    /// The folder that a path lies in, reached without following a link.
    pub(super) fn hold(path: &Path, make: bool) -> io::Result<OwnedFd> {
        let mut held = rustix::fs::open("/", FOLDER, Mode::empty())?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let Component::Normal(part) = part else { continue };
            held = step(&held, part, make).map_err(|error| if is_link(&held, part) { Errno::LOOP } else { error })?;
        }
        Ok(held)
    }

    /// Goes into a folder, which is made if it is not there and is to be.
    fn step(from: &OwnedFd, name: &OsStr, make: bool) -> rustix::io::Result<OwnedFd> {
        match openat(from, name, FOLDER, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                // A new folder gets all that the umask allows. Somebody else may make it at the same time.
                mkdirat(from, name, 0o777.into())
                    .or_else(|error| if error == Errno::EXIST { Ok(()) } else { Err(error) })?;
                openat(from, name, FOLDER, Mode::empty())
            }
            opened => opened,
        }
    }

    fn is_link(folder: &OwnedFd, name: &OsStr) -> bool {
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
    }
}

#[cfg(not(unix))]
mod system {
    use std::error::Error;
    use std::fmt;

    use super::{File, Links, Path, Way, io};

    /// A link was in the place of a file.
    #[derive(Debug)]
    struct Link;

    impl fmt::Display for Link {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("it is a link")
        }
    }

    impl Error for Link {}

    pub(super) fn regular(path: &Path) -> io::Result<File> {
        existing(path, Way::Read, Links::Refuse)
    }

    /// Makes sure that a folder is there that no link leads to.
    pub(crate) fn folder(path: &Path) -> io::Result<()> {
        let metadata = path.symlink_metadata()?;
        match metadata.is_dir() {
            true => Ok(()),
            false if metadata.is_symlink() => Err(io::Error::other(Link)),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    pub(super) fn existing(path: &Path, way: Way, links: Links) -> io::Result<File> {
        if links == Links::Refuse && path.symlink_metadata()?.is_symlink() {
            return Err(io::Error::other(Link));
        }
        File::options().read(way == Way::Read).write(way == Way::Write).open(path)
    }

    pub(super) fn is_link_error(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|inner| inner.is::<Link>())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "these are files of the test")]

    use std::fs;

    use super::*;

    /// A folder with `src/deep/a.txt`, and on Unix with links beside `src` to it and to the file.
    fn folder() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(root.join("src/deep/a.txt"), "text").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("src"), root.join("link")).unwrap();
            std::os::unix::fs::symlink(root.join("src/deep/a.txt"), root.join("a.txt")).unwrap();
        }
        (folder, root)
    }

    #[test]
    fn a_file_is_read_whole_or_not_at_all() {
        let (_folder, root) = folder();
        let file = root.join("src").join("deep").join("a.txt");
        assert_eq!(bytes(&file, 4).unwrap().unwrap(), b"text");
        assert_eq!(bytes(&file, 3).unwrap(), None);
        assert_eq!(regular(&root).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(regular(&root.join("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    #[cfg(unix)]
    fn what_links_lead_to_is_opened_only_where_that_is_asked_for() {
        let (_folder, root) = folder();
        assert!(is_link_error(&regular(&root.join("a.txt")).unwrap_err()));
        assert!(existing(&root.join("a.txt"), Way::Read, Links::Follow).is_ok());
        for way in [Way::Read, Way::Write] {
            assert!(is_link_error(&existing(&root.join("a.txt"), way, Links::Refuse).unwrap_err()), "{way:?}");
        }
    }

    #[test]
    fn the_folder_of_a_file_is_made_where_that_is_asked_for() {
        let (_folder, root) = folder();
        let new = root.join("new/deep/b.txt");
        assert_eq!(Held::above(&new, false).unwrap_err().kind(), io::ErrorKind::NotFound);
        let held = Held::above(&new, true).unwrap();
        fs::write(held.path().join("b.txt"), "new").unwrap();
        assert_eq!(fs::read_to_string(new).unwrap(), "new");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_folder_that_is_held_is_written_to_whatever_comes_into_its_place() {
        let (_folder, root) = folder();
        assert!(is_link_error(&Held::above(&root.join("link/b.txt"), true).unwrap_err()));
        let held = Held::above(&root.join("src/deep/b.txt"), false).unwrap();
        fs::rename(root.join("src"), root.join("moved")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        std::os::unix::fs::symlink(root.join("other"), root.join("src")).unwrap();
        fs::write(held.path().join("b.txt"), "new").unwrap();
        assert_eq!(fs::read_to_string(root.join("moved/deep/b.txt")).unwrap(), "new");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn without_the_kernels_help_no_link_is_followed_either() {
        let (_folder, root) = folder();
        for opened in [linux::without_links, linux::step_by_step] {
            let open = |name: &str| opened(&root.join(name), rustix::fs::OFlags::RDONLY);
            assert!(open("src/deep/a.txt").is_ok() && open("src").is_ok());
            for name in ["link/deep/a.txt", "link", "a.txt"] {
                assert!(is_link_error(&open(name).unwrap_err()), "{name}");
            }
            let folder = rustix::fs::OFlags::DIRECTORY;
            assert!(is_link_error(&opened(&root.join("link"), folder).unwrap_err()));
            assert_eq!(open("src/b.txt").unwrap_err().kind(), io::ErrorKind::NotFound);
            assert_eq!(open("src/deep/a.txt/b").unwrap_err().kind(), io::ErrorKind::NotADirectory);
        }
    }
}
