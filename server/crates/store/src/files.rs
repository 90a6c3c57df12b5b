//! Private folders and files: their owner's alone, whatever the umask.
#![expect(clippy::disallowed_methods, reason = "this is the home of the store's own files")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use platform::rights;

use crate::error::Error;
use crate::layout::with_suffix;

/// Makes a folder for its owner alone, with those above it. One that is there is made private too, where we may.
pub(crate) fn private_folder(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        tighten(path);
        return Ok(());
    }
    let failed = Error::io(path, "cannot be made, but Azimuth keeps its sessions there");
    rights::private_folders().create(path).map_err(failed)?;
    // A umask may have taken rights from what we made.
    let _ = rights::make_folder_private(path);
    Ok(())
}

/// Opens a file for its owner alone, to read and write; makes it if need be.
pub(crate) fn private_file(path: &Path) -> Result<File, Error> {
    let is_new = !path.exists();
    let file = options().create(true).truncate(false).open(path).map_err(Error::io(path, "cannot be opened"))?;
    if is_new {
        let _ = rights::make_file_private(path);
    } else {
        tighten(path);
    }
    Ok(file)
}

/// Takes from a file or folder that is there the rights which others have on it. `check` speaks of it where that fails.
pub(crate) fn tighten(path: &Path) {
    let _ = rights::take_from_others(path);
}

/// Writes a private file in one step: it is there whole or not at all, even after power loss.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let unique = format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let temporary = with_suffix(path, &unique);
    let written = options().create(true).truncate(true).open(&temporary).and_then(|mut file| {
        let _ = rights::make_file_private(&temporary);
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.map_err(Error::io(path, "cannot be written"))?;
    sync_parent(path);
    Ok(())
}

/// Moves a file, if it is there.
pub(crate) fn move_if_there(from: &Path, to: &Path) -> Result<(), Error> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(from, "cannot be moved")(error)),
        _ => Ok(()),
    }
}

/// Puts a finished file in its place unless something is there already. Either way the place is taken afterwards.
pub(crate) fn place_new(from: &Path, to: &Path) -> Result<(), Error> {
    match fs::hard_link(from, to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        // A file system without hard links.
        Err(_) if !to.exists() => fs::rename(from, to).map_err(Error::io(to, "cannot be made"))?,
        Err(_) => {}
    }
    remove_if_there(from)?;
    sync_parent(to);
    Ok(())
}

/// Removes a file, if it is there.
pub(crate) fn remove_if_there(path: &Path) -> Result<(), Error> {
    gone(fs::remove_file(path)).map_err(Error::io(path, "cannot be removed"))
}

/// Removes a folder with all that is in it, if it is there.
pub(crate) fn remove_folder_if_there(path: &Path) -> Result<(), Error> {
    gone(fs::remove_dir_all(path)).map_err(Error::io(path, "cannot be removed"))
}

/// Makes what was done in a file's folder last through power loss, where the system can.
pub(crate) fn sync_parent(path: &Path) {
    if let Some(folder) = path.parent().and_then(|parent| File::open(parent).ok()) {
        let _ = folder.sync_all();
    }
}

/// The whole of a file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    fs::read(path)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    rights::private(options.read(true).write(true));
    options
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
