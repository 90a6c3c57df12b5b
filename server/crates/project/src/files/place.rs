//! Where a file is written: a place that no link leads away from, also if one is put on the way to it meanwhile.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{FileError, io_error};

/// The place of a file. On Linux its folder is held open, reached without following a link: whatever else comes under
/// the names on the way from then on, it is this folder that is written to. Elsewhere it is only a path.
pub(super) struct Place<'p> {
    /// The path that users read.
    pub(super) path: &'p Path,
    /// The path for the system, valid as long as this lives.
    pub(super) at: PathBuf,
    /// The folder of `at`.
    pub(super) folder: PathBuf,
    #[cfg(target_os = "linux")]
    _held: rustix::fd::OwnedFd,
}

impl<'p> Place<'p> {
    /// The place with this path, which is absolute and has no link in it. With `make` the folders above it are made.
    ///
    /// # Errors
    /// [`FileError::Link`] if a link is on the way; and what the system says.
    #[cfg(target_os = "linux")]
    pub(super) fn find(path: &'p Path, make: bool) -> Result<Self, FileError> {
        use std::os::fd::AsRawFd;

        let action = if make { "written" } else { "read" };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io_error(path, action, io::ErrorKind::InvalidInput.into()));
        };
        let held = hold(path, make).map_err(|(error, is_link)| match is_link {
            true => FileError::Link { path: path.to_owned() },
            false => io_error(path, action, error.into()),
        })?;
        let folder = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
        // Where the system does not show it, the path has to do.
        let folder = if folder.is_dir() { folder } else { parent.to_owned() };
        Ok(Self { path, at: folder.join(name), folder, _held: held })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn find(path: &'p Path, make: bool) -> Result<Self, FileError> {
        let folder = path.parent().map(Path::to_owned).unwrap_or_default();
        if make {
            std::fs::create_dir_all(&folder).map_err(|error| io_error(path, "written", error))?;
        }
        Ok(Self { path, at: path.to_owned(), folder })
    }
}

/// The purpose of opening a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    /// It is not changed by being opened.
    Write,
}

/// The treatment of a link in the place of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    /// It is an error ([`is_link_error`]).
    Refuse,
}

/// Opens a file that is there. A pipe is not waited for.
#[cfg(unix)]
pub(super) fn open(path: &Path, way: Way, links: Links) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let way = if way == Way::Write { OFlags::WRONLY } else { OFlags::RDONLY };
    let links = if links == Links::Follow { OFlags::empty() } else { OFlags::NOFOLLOW };
    let flags = way | links | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
pub(super) fn open(path: &Path, way: Way, _: Links) -> io::Result<File> {
    File::options().read(way == Way::Read).write(way == Way::Write).open(path)
}

/// True if a file could not be opened because a link is in its place.
#[cfg(unix)]
pub(crate) fn is_link_error(error: &io::Error) -> bool {
    rustix::io::Errno::from_io_error(error) == Some(rustix::io::Errno::LOOP)
}

#[cfg(not(unix))]
pub(crate) fn is_link_error(_: &io::Error) -> bool {
    false
}

/// A folder, only to go on from.
#[cfg(target_os = "linux")]
const FOLDER: rustix::fs::OFlags = rustix::fs::OFlags::PATH
    .union(rustix::fs::OFlags::DIRECTORY)
    .union(rustix::fs::OFlags::NOFOLLOW)
    .union(rustix::fs::OFlags::CLOEXEC);

/// The folder that a path lies in, reached without following a link. Where that fails, why, and whether it is for a
/// link.
#[cfg(target_os = "linux")]
pub(super) fn hold(path: &Path, make: bool) -> Result<rustix::fd::OwnedFd, (rustix::io::Errno, bool)> {
    let mut held = rustix::fs::open("/", FOLDER, rustix::fs::Mode::empty()).map_err(|error| (error, false))?;
    for part in path.parent().into_iter().flat_map(Path::components) {
        let std::path::Component::Normal(part) = part else { continue };
        held = step(&held, part, make).map_err(|error| (error, is_link(&held, part)))?;
    }
    Ok(held)
}

/// Goes into a folder, which is made if it is not there and is to be.
#[cfg(target_os = "linux")]
fn step(from: &rustix::fd::OwnedFd, name: &std::ffi::OsStr, make: bool) -> rustix::io::Result<rustix::fd::OwnedFd> {
    use rustix::fs::{Mode, mkdirat, openat};
    use rustix::io::Errno;

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

#[cfg(target_os = "linux")]
fn is_link(folder: &rustix::fd::OwnedFd, name: &std::ffi::OsStr) -> bool {
    let found = rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| rustix::fs::FileType::from_raw_mode(found.st_mode) == rustix::fs::FileType::Symlink)
}
