//! Where Gradle keeps what it knows of its daemons, for programs in a sandbox.
//!
//! It cannot use the user's register, where it would find a daemon that runs outside.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, unlinkat};

/// Returns the variable that gives Gradle a register of daemons that is the sandbox's own.
pub(crate) fn variable(environment: &[(OsString, OsString)], mark: &str) -> (OsString, OsString) {
    const NAME: &str = "GRADLE_OPTS";
    // Of two values of a property the last one counts.
    let mut options =
        environment.iter().find(|(name, _)| name == NAME).map(|(_, value)| value.clone()).unwrap_or_default();
    if !options.is_empty() {
        options.push(" ");
    }
    options.push("\"-Dorg.gradle.daemon.registry.base=");
    options.push(register(mark));
    options.push("\"");
    (NAME.into(), options)
}

/// A folder among temporary files, since sandboxes write no other; its name cannot be guessed. Gradle makes it.
pub(crate) fn register(mark: &str) -> PathBuf {
    std::env::temp_dir().join(format!("azimuth-gradle-{mark}"))
}

/// Removes the folder that Gradle has made for the daemons of a program that has ended, by the program's mark. Blocks.
pub fn remove(mark: &str) {
    remove_register(&register(mark));
}

/// The same by its path.
pub(crate) fn remove_register(register: &Path) {
    /// Gradle makes some files, two folders deep. What commands have made beyond this stays: nothing bounds how deep
    /// and how much that can be.
    const DEEPEST: usize = 8;
    const MOST: usize = 10_000;
    remove_all(CWD, register, DEEPEST, &mut { MOST });
}

/// Removes a file, or a folder with what is in it, as far as so many folders deep and no more than so many. No link is
/// followed.
fn remove_all(at: impl AsFd, name: impl rustix::path::Arg + Copy, deepest: usize, left: &mut usize) {
    let Some(rest) = left.checked_sub(1) else { return };
    *left = rest;
    let as_folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(folder) = openat(&at, name, as_folder, Mode::empty()) else {
        let _ = unlinkat(&at, name, AtFlags::empty());
        return;
    };
    if let Some(deepest) = deepest.checked_sub(1) {
        remove_below(&folder, deepest, left);
    }
    let _ = unlinkat(&at, name, AtFlags::REMOVEDIR);
}

fn remove_below(folder: &OwnedFd, deepest: usize, left: &mut usize) {
    for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if *left == 0 {
            return;
        }
        if name != c"." && name != c".." {
            remove_all(folder, name, deepest, left);
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its folders itself")]
mod tests {
    use rustix::fs::{mkdirat, open};
    use rustix::process::{Resource, getrlimit, setrlimit};

    use super::*;

    #[test]
    fn a_register_of_gradle_that_commands_made_very_deep_is_removed_as_far_as_it_is_gradles() {
        // With so many files as may be open somewhere, so that it is not their number that ends it.
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, rustix::process::Rlimit { current: limit.maximum, ..limit }).unwrap();
        let register = register(&format!("test-{}", std::process::id()));
        std::fs::create_dir_all(register.join("8.5")).unwrap();
        std::fs::write(register.join("8.5/registry.bin"), "").unwrap();
        let kept = tempfile::tempdir().unwrap();
        std::fs::write(kept.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink(kept.path(), register.join("link")).unwrap();
        let as_folder = || OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut at = open(&register, as_folder(), Mode::empty()).unwrap();
        for _ in 0..4_000 {
            mkdirat(&at, "a", Mode::RWXU).unwrap();
            at = openat(&at, "a", as_folder(), Mode::empty()).unwrap();
        }
        // On a thread with little room, so that fewer folders show it.
        let remove = {
            let register = register.clone();
            move || remove_register(&register)
        };
        std::thread::Builder::new().stack_size(128 << 10).spawn(remove).unwrap().join().unwrap();
        assert!(!register.join("8.5").exists() && !register.join("link").is_symlink());
        assert!(kept.path().join("file").exists(), "no link is followed");
        assert!(register.exists(), "what is too deep stays");
        assert!(std::process::Command::new("rm").arg("-r").arg(&register).status().unwrap().success());

        std::fs::create_dir_all(register.join("8.5")).unwrap();
        remove_register(&register);
        assert!(!register.exists());
    }
}
