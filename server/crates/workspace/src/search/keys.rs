//! Looking for the files that usually hold keys, for who judges what a command may show.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent::permission::{KeyFiles, is_for_keys};
use ignore::{DirEntry, WalkBuilder};

use super::walk::{ALWAYS_IGNORED, WouldMeet};

/// As many entries are looked at, and no more.
const MOST: usize = 200_000;
/// As long it may take.
const LONGEST: Duration = Duration::from_secs(2);

/// The files below these folders that usually hold keys, whatever ignore files say of them, but for those in what
/// package managers and builds fill (`node_modules`, `target`). Links are not followed, but told where they lead to
/// such a file, or out of the folders. Blocks.
pub fn key_files(folders: &[PathBuf]) -> KeyFiles {
    let mut keys = KeyFiles::default();
    let outermost = |folder: &&PathBuf| !folders.iter().any(|other| other != *folder && folder.starts_with(other));
    // A walk of the folder around it does not follow a link, and a command that names the link does.
    let outermost = |folder: &&PathBuf| folder.is_symlink() || outermost(folder);
    let inside: Vec<_> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let until = Instant::now() + LONGEST;
    let mut looked_at = 0;
    for folder in folders.iter().filter(outermost) {
        let (found, links) = below(folder, &mut looked_at, until);
        keys.is_cut_short |= looked_at > MOST || Instant::now() > until;
        let is_told = |led_to: &Path| is_for_keys(led_to) || !inside.iter().any(|folder| led_to.starts_with(folder));
        keys.links.extend(links.into_iter().filter(|(_, led_to)| is_told(led_to)));
        if found.is_empty() {
            continue;
        }
        let mut searched = WouldMeet::new(std::slice::from_ref(folder));
        keys.found.extend(found.into_iter().map(|path| {
            let is_ignored = !searched.file(&path);
            (path, is_ignored)
        }));
    }
    keys
}

/// The files, and all links that lead somewhere.
fn below(folder: &Path, looked_at: &mut usize, until: Instant) -> (Vec<PathBuf>, Vec<(PathBuf, PathBuf)>) {
    let wanted = |entry: &DirEntry| {
        let name = entry.file_name();
        entry.depth() == 0 || !(name == "target" || ALWAYS_IGNORED.iter().any(|ignored| name == *ignored))
    };
    let walk = WalkBuilder::new(folder).standard_filters(false).follow_links(false).filter_entry(wanted).build();
    let (mut found, mut links) = (Vec::new(), Vec::new());
    for entry in walk.flatten() {
        *looked_at += 1;
        if *looked_at > MOST || Instant::now() > until {
            break;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if entry.path_is_symlink() && entry.depth() > 0 {
            links.extend(entry.path().canonicalize().map(|led_to| (entry.path().to_owned(), led_to)));
        }
        if !is_folder
            && entry.path().strip_prefix(folder).is_ok_and(|below| is_for_keys(below) || is_for_keys(entry.path()))
        {
            found.push(entry.into_path());
        }
    }
    (found, links)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes its files itself")]

    use std::fs;

    use super::*;

    #[test]
    fn files_with_keys_are_found_with_whether_they_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        for file in [".env", "config/secrets.yaml", "config/.env.example", "node_modules/a/.env", "src/a.rs"] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), "A=1\n").unwrap();
        }
        fs::write(top.join(".gitignore"), ".env\n").unwrap();
        let keys = key_files(&[top.to_path_buf(), top.join("config")]);
        let expected = [(top.join(".env"), true), (top.join("config/secrets.yaml"), false)];
        assert_eq!(keys.found.into_iter().collect::<Vec<_>>(), expected);
        assert!(!keys.is_cut_short);
    }

    #[test]
    fn links_are_told_that_lead_to_such_a_file_or_out_of_the_folders() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for file in ["project/.env", "project/src/a.rs", "project/b/other", "other/letter"] {
            fs::create_dir_all(top.join(file).parent().unwrap()).unwrap();
            fs::write(top.join(file), "A=1\n").unwrap();
        }
        for (to, link) in [
            ("project/.env", "project/b/settings"),
            ("project/src/a.rs", "project/b/plain"),
            ("other/letter", "project/b/out"),
            ("nowhere", "project/b/gone"),
        ] {
            std::os::unix::fs::symlink(top.join(to), top.join(link)).unwrap();
        }
        let keys = key_files(&[top.join("project")]);
        let expected = [("project/b/out", "other/letter"), ("project/b/settings", "project/.env")];
        let expected = expected.map(|(link, to)| (top.join(link), top.join(to)));
        assert_eq!(keys.links.into_iter().collect::<Vec<_>>(), expected);
    }
}
