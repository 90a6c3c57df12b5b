//! The files in which users and the programs of clouds keep keys and credentials.

use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a file that are read. Files with hundreds of profiles have a few hundred kilobytes.
const MOST: u64 = 4 * 1024 * 1024;

/// The text of such a file. Blocks.
#[expect(
    clippy::disallowed_methods,
    reason = "they are the user's own files, named in their own configuration or by a cloud's programs, and no project's"
)]
pub(crate) fn text(path: &Path) -> io::Result<String> {
    // A pipe would be waited for.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    let size = std::fs::File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if u64::try_from(size).is_ok_and(|size| size > MOST) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
