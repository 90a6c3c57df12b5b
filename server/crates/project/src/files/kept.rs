//! The properties of a file besides its text that survive when another takes its place.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// True if another file can take the place of this one with what is kept: not where we could not give it the owner, nor
/// where access lists or other attributes hang on it.
#[cfg(unix)]
pub(super) fn can_be_replaced(path: &Path, metadata: &Metadata) -> bool {
    owner_can_be_kept(metadata) && !has_attributes(path)
}

/// Elsewhere the system does not tell.
#[cfg(not(unix))]
pub(super) fn can_be_replaced(_: &Path, _: &Metadata) -> bool {
    true
}

/// Gives a new file the owner, group and mode of another.
///
/// # Errors
/// The system's error.
pub(super) fn take(file: &File, like: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let made = file.metadata()?;
        let differs = |kept: u32, made: u32| (kept != made).then_some(kept);
        let (owner, group) = (differs(like.uid(), made.uid()), differs(like.gid(), made.gid()));
        if owner.is_some() || group.is_some() {
            fchown(file, owner, group)?;
        }
    }
    // After the owner, since a change of that takes some bits of the mode away.
    file.set_permissions(like.permissions())
}

/// True if a file of ours can be given the owner: it is ours already, or we are root.
#[cfg(unix)]
fn owner_can_be_kept(metadata: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::geteuid();
    me.is_root() || me.as_raw() == metadata.uid()
}

/// True if the file has extended attributes, access lists among them. What the system keeps for itself, and gives every
/// new file anyway, does not count.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_attributes(path: &Path) -> bool {
    let mut names = vec![0; 4096];
    match rustix::fs::llistxattr(path, names.as_mut_slice()) {
        Ok(length) => {
            let names = names.get(..length).unwrap_or_default().split(|byte| *byte == 0);
            names.into_iter().any(|name| !name.is_empty() && name != b"security.selinux")
        }
        // More than there is room for.
        Err(rustix::io::Errno::RANGE) => true,
        Err(_) => false,
    }
}

/// Elsewhere they are not looked for.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn has_attributes(_: &Path) -> bool {
    false
}
