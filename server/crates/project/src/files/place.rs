//! Where a file is written: a place that no link leads away from, also if one is put on the way to it meanwhile.

use std::io;
use std::path::{Path, PathBuf};

use platform::open::{self, Held};

use super::{FileError, io_error};

/// The place of a file, with its folder held.
pub(super) struct Place<'p> {
    /// The path that users read.
    pub(super) path: &'p Path,
    /// The path for the system, valid as long as this lives.
    pub(super) at: PathBuf,
    held: Held,
}

impl<'p> Place<'p> {
    /// The place with this path, which is absolute and has no link in it. With `make` the folders above it are made.
    ///
    /// # Errors
    /// [`FileError::Link`] if a link is on the way; and what the system says.
    pub(super) fn find(path: &'p Path, make: bool) -> Result<Self, FileError> {
        let failed = |error: io::Error| match open::is_link_error(&error) {
            true => FileError::Link { path: path.to_owned() },
            false => io_error(path, if make { "written" } else { "read" }, error),
        };
        let name = path.file_name().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
        let held = Held::above(path, make).map_err(failed)?;
        Ok(Self { path, at: held.path().join(name), held })
    }

    /// The path of its folder for the system.
    pub(super) fn folder(&self) -> &Path {
        self.held.path()
    }
}
