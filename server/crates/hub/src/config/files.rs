//! Reading configuration files: the user's as it is, a project's with care.

#![expect(clippy::disallowed_methods, reason = "configuration files are read here, before there is a workspace")]

use std::io::{self, ErrorKind};
use std::path::{Component, Path};

/// The most that a project's file may hold, in bytes.
const PROJECT_BYTES: u64 = 1024 * 1024;

/// The text of the user's own file, wherever its links lead; none if it is not there.
///
/// # Errors
/// It cannot be read; says why.
pub(super) fn of_user(file: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("cannot be read: {error}")),
    }
}

/// The text of a project's file; none if it is not there. A repository brings it along, so it must be a regular file
/// of at most 1 MiB, and links must not lead out of the project's folder `.azimuth`.
///
/// # Errors
/// It is none of that, or cannot be read; says why.
pub(super) fn of_project(folder: &Path, file: &Path) -> Result<Option<String>, String> {
    let cannot = |error: io::Error| format!("cannot be read: {error}");
    match file.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(error)),
        Ok(_) => {}
    }
    let folder = folder.canonicalize().map_err(cannot)?;
    let real = file.canonicalize().map_err(cannot)?;
    if !real.starts_with(&folder) {
        return Err("is a link that leads out of the project, and is not read".into());
    }
    // Edits are looked at where they go into that folder.
    let is_ours = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".azimuth");
    if !real.strip_prefix(&folder).is_ok_and(|rest| rest.components().next().is_some_and(is_ours)) {
        return Err("is a link that leads out of `.azimuth`, and is not read".into());
    }
    // By then another file may be there, or a link on the way to it; it is opened where it was looked for, or not at
    // all.
    let bytes = match project::files::read_without_links(&real, PROJECT_BYTES) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => {
            return Err("is not a regular file, and is not read".into());
        }
        Err(error) => return Err(cannot(error)),
        Ok(None) => return Err("is larger than 1 MiB, and is not read".into()),
        Ok(Some(bytes)) => bytes,
    };
    String::from_utf8(bytes).map(Some).map_err(|_| "cannot be read: it is not UTF-8".into())
}
