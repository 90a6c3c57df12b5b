//! Opening of the files and folders of a project to read them: no link is followed on the whole way, and only a
//! regular file or a folder is opened. The kernel sees to that while it opens, so that nothing which is put there in
//! the meantime is read.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};

use super::place;

/// Opens a regular file that no link leads to. The path is absolute, with its links resolved.
///
/// # Errors
/// The system's error; [`place::is_link_error`] if a link is on the way; [`io::ErrorKind::InvalidInput`] for anything
/// but a regular file, which is neither waited for nor, unless it came just then, opened.
pub(crate) fn regular(path: &Path) -> io::Result<(File, Metadata)> {
    let seen = path.symlink_metadata()?;
    // To open a device may do something, so it is asked first; what was opened is what counts.
    if !seen.is_file() && !seen.is_symlink() {
        return Err(not_regular());
    }
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(without_links(path, flags)?);
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata)) } else { Err(not_regular()) }
}

/// Opens a folder that no link leads to, to list what is in it.
///
/// # Errors
/// As [`regular`].
pub(crate) fn folder(path: &Path) -> io::Result<OwnedFd> {
    without_links(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC)
}

/// Holds what no link leads to, to say of it what it is, and whether it is a folder. Nothing is read, nor does a device
/// notice.
///
/// # Errors
/// The system's error; [`place::is_link_error`] if a link is on the way.
#[cfg(target_os = "linux")]
pub fn place(path: &Path) -> io::Result<(OwnedFd, bool)> {
    let place = without_links(path, OFlags::PATH | OFlags::CLOEXEC)?;
    let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&place)?.st_mode);
    Ok((place, kind.is_dir()))
}

/// Reads a regular file that no link leads to; none if it has more bytes than `most`, of which no more are read.
///
/// # Errors
/// As [`regular`].
pub fn bytes(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let (file, metadata) = regular(path)?;
    whole(file, &metadata, most)
}

/// Where a path leads by links, if that is beneath one of the folders. What is there then is opened by [`regular`].
pub(crate) fn leads_beneath(folders: &[&Path], path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let is_above = |folder: &&Path| folder.canonicalize().is_ok_and(|folder| real.starts_with(folder));
    folders.iter().any(is_above).then_some(real)
}

/// Reads a regular file that was opened; none if it has more bytes than `most`.
///
/// # Errors
/// The system's error.
pub(super) fn whole(file: File, metadata: &Metadata, most: u64) -> io::Result<Option<Vec<u8>>> {
    if metadata.len() > most {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default());
    // It can have grown, and the files of /proc say that they are empty.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(u64::try_from(bytes.len()).is_ok_and(|size| size <= most).then_some(bytes))
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")
}

#[cfg(target_os = "linux")]
fn without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    use rustix::io::Errno;

    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Before Linux 5.6, and where a container does not know of the call.
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(path, flags),
        opened => Ok(opened?),
    }
}

/// The same by hand: every folder on the way is held open, and the next one looked for in it.
#[cfg(target_os = "linux")]
fn step_by_step(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let held = place::hold(path, false).map_err(|(error, is_link)| match is_link {
        true => io::Error::from(rustix::io::Errno::LOOP),
        false => error.into(),
    })?;
    let name = path.file_name().unwrap_or(std::ffi::OsStr::new("."));
    Ok(rustix::fs::openat(&held, name, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

/// Elsewhere only a link in the place of the file itself is seen by the system.
#[cfg(not(target_os = "linux"))]
fn without_links(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn without_the_kernels_help_no_link_is_followed_either() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        crate::files::create(&root.join("src/deep/a.txt"), "text").unwrap();
        symlink(root.join("src"), root.join("link")).unwrap();
        symlink(root.join("src/deep/a.txt"), root.join("a.txt")).unwrap();
        for open in [without_links, step_by_step] {
            let open = |name: &str| open(&root.join(name), OFlags::RDONLY);
            assert!(open("src/deep/a.txt").is_ok() && open("src").is_ok());
            for name in ["link/deep/a.txt", "link", "a.txt"] {
                assert!(place::is_link_error(&open(name).unwrap_err()), "{name}");
            }
            assert_eq!(open("src/b.txt").unwrap_err().kind(), io::ErrorKind::NotFound);
            assert_eq!(open("src/deep/a.txt/b").unwrap_err().kind(), io::ErrorKind::NotADirectory);
        }
    }
}
