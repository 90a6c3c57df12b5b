//! Who may use a file or a folder, and what hangs on a file besides its bytes.
//!
//! Elsewhere than on Unix nobody's rights are looked at, and only a file's write protection is kept: a file has the
//! rights of the folder that it is made in, and the user's own folders are closed to others there from the start.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

/// A file that is made with these options is its owner's alone, as far as no umask takes more away.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// A file that is made with these options is a program, for all whom the umask allows.
pub fn program(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o777);
    options
}

/// Makes folders, with those above them, that are their owner's alone.
pub fn private_folders() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// Gives the owner of a file that we have made the right to read and write it, and nobody else any, whatever the umask
/// was.
///
/// # Errors
/// The system's error.
pub fn make_file_private(file: &Path) -> io::Result<()> {
    set_mode(file, 0o600)
}

/// Gives the owner of a folder that we have made all rights on it and nobody else any, whatever the umask was.
///
/// # Errors
/// The system's error.
pub fn make_folder_private(folder: &Path) -> io::Result<()> {
    set_mode(folder, 0o700)
}

/// Takes from a file or folder that is there the rights which others have on it.
///
/// # Errors
/// The system's error.
pub fn take_from_others(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        let mode = path.metadata()?.permissions().mode();
        if mode & OTHERS == 0 {
            return Ok(());
        }
        set_mode(path, mode & 0o700)
    }
    #[cfg(not(unix))]
    path.metadata().map(drop)
}

/// True if anybody but its owner has a right on it.
pub fn is_open_to_others(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(metadata) & OTHERS != 0;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// True if its owner may run it. Elsewhere than on Unix that is no property of a file.
pub fn is_executable(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(metadata) & 0o100 != 0;
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Asks whether this process may list a folder and write into it.
///
/// # Errors
/// The system's refusal. Elsewhere than on Unix nobody is asked.
pub fn may_use(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{Access, access};
        Ok(access(folder, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)?)
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        Ok(())
    }
}

/// True if another file can take the place of this one with all that hangs on it: not where we could not give it the
/// owner, nor where access lists or other attributes hang on it. Attributes are only looked for on Linux, and are lost
/// elsewhere.
pub fn can_be_replaced(path: &Path, metadata: &Metadata) -> bool {
    #[cfg(unix)]
    return owner_can_be_kept(metadata) && !has_attributes(path);
    #[cfg(not(unix))]
    {
        let _ = (path, metadata);
        true
    }
}

/// Gives a new file the owner, group and mode of another.
///
/// # Errors
/// The system's error.
pub fn take(file: &File, like: &Metadata) -> io::Result<()> {
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

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(path: &Path, _: u32) -> io::Result<()> {
    path.metadata().map(drop)
}

/// The bits of a mode that are for others than the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// True if a file of ours can be given the owner: it is ours already, or we are root.
#[cfg(unix)]
fn owner_can_be_kept(metadata: &Metadata) -> bool {
    let me = rustix::process::geteuid();
    me.is_root() || me.as_raw() == std::os::unix::fs::MetadataExt::uid(metadata)
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

#[cfg(unix)]
#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "these are files of the test")]

    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o777
    }

    #[test]
    fn what_is_private_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, file) = (folder.path().join("a/b"), folder.path().join("a/b/c"));
        private_folders().create(&inner).unwrap();
        private(File::options().write(true).create_new(true)).open(&file).unwrap();
        assert_eq!((mode(inner.parent().unwrap()), mode(&inner), mode(&file)), (0o700, 0o700, 0o600));
        set_mode(&file, 0o664).unwrap();
        assert!(is_open_to_others(&file.metadata().unwrap()));
        take_from_others(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        assert!(!is_open_to_others(&file.metadata().unwrap()) && !is_executable(&file.metadata().unwrap()));
        set_mode(&inner, 0o500).unwrap();
        make_folder_private(&inner).unwrap();
        set_mode(&file, 0o755).unwrap();
        assert!(is_executable(&file.metadata().unwrap()));
        make_file_private(&file).unwrap();
        assert_eq!((mode(&inner), mode(&file)), (0o700, 0o600));
        assert!(may_use(&inner).is_ok());
        assert_eq!(may_use(&folder.path().join("gone")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_program_that_takes_the_place_of_another_is_one_too() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        program(File::options().write(true).create_new(true)).open(&old).unwrap();
        set_mode(&old, 0o754).unwrap();
        let like = old.metadata().unwrap();
        assert!(can_be_replaced(&old, &like));
        let file = private(File::options().write(true).create_new(true)).open(&new).unwrap();
        take(&file, &like).unwrap();
        assert_eq!(mode(&new), 0o754);
        fs::rename(&new, &old).unwrap();
    }
}
