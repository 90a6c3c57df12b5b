//! Looking for the files that usually hold keys, for who judges what a command may show.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ignore::{DirEntry, WalkBuilder};
use permission::{KeyFiles, is_for_keys};

use super::walk::{ALWAYS_IGNORED, WouldMeet};
use crate::answers;

/// As many entries are looked at, and no more.
const MOST: usize = 200_000;
/// As long it may take.
const LONGEST: Duration = Duration::from_secs(2);

/// The files below these folders that usually hold keys, whatever ignore files say of them, but for those in what
/// package managers and builds fill (`node_modules`, `target`). Links are not followed; `with_links`, those are told
/// that lead to such a file, or out of the folders. What the disk does not say in time is not waited for: it may lie on
/// a machine that is gone. What is no folder is passed over. Blocks.
pub fn key_files(folders: &[PathBuf], with_links: bool) -> KeyFiles {
    gather(folders, with_links.then_some(|link: &Path| link.canonicalize().ok()), LONGEST)
}

/// A part of what is found, as it comes in.
enum Part {
    /// A file, with whether ignore files leave it out.
    File(PathBuf, bool),
    /// A link, with where it leads.
    Link(PathBuf, PathBuf),
    /// There are more entries than are looked at.
    Cut,
}

fn gather<R>(folders: &[PathBuf], resolve: Option<R>, longest: Duration) -> KeyFiles
where
    R: Fn(&Path) -> Option<PathBuf> + Send + 'static,
{
    let (folders, mut keys, mut is_cut) = (folders.to_vec(), KeyFiles::default(), false);
    let hear = |part| match part {
        Part::File(path, is_ignored) => drop(keys.found.insert(path, is_ignored)),
        Part::Link(link, led_to) => drop(keys.links.insert(link, led_to)),
        Part::Cut => is_cut = true,
    };
    let is_all = answers::in_time(longest, move |tell| look(&folders, resolve, tell), hear);
    keys.is_cut_short = is_cut || !is_all;
    keys
}

/// Tells what is found, the links last: one of them may lead where no answer comes from. Ends where nobody listens.
fn look(folders: &[PathBuf], resolve: Option<impl Fn(&Path) -> Option<PathBuf>>, tell: &dyn Fn(Part) -> bool) {
    let outermost = |folder: &&PathBuf| !folders.iter().any(|other| other != *folder && folder.starts_with(other));
    // A walk of the folder around it does not follow a link, and a command that names the link does.
    let outermost = |folder: &&PathBuf| folder.is_symlink() || outermost(folder);
    let (mut looked_at, mut links) = (0, Vec::new());
    for folder in folders.iter().filter(outermost).filter(|folder| folder.is_dir()) {
        let mut searched = WouldMeet::new(std::slice::from_ref(folder));
        for entry in walk(folder) {
            looked_at += 1;
            if looked_at > MOST {
                tell(Part::Cut);
                break;
            }
            if entry.path_is_symlink() && entry.depth() > 0 && resolve.is_some() {
                links.push(entry.path().to_owned());
            }
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let below = entry.path().strip_prefix(folder).ok().filter(|_| !is_folder);
            if below.is_some_and(|below| is_for_keys(below) || is_for_keys(entry.path())) {
                let is_ignored = !searched.file(entry.path());
                if !tell(Part::File(entry.into_path(), is_ignored)) {
                    return;
                }
            }
        }
    }
    let Some(resolve) = resolve else { return };
    let inside: Vec<_> = folders.iter().filter(|it| it.is_dir()).filter_map(|folder| resolve(folder)).collect();
    let is_told = |led_to: &Path| is_for_keys(led_to) || !inside.iter().any(|folder| led_to.starts_with(folder));
    for link in links {
        if let Some(led_to) = resolve(&link).filter(|led_to| is_told(led_to))
            && !tell(Part::Link(link, led_to))
        {
            return;
        }
    }
}

fn walk(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    let wanted = |entry: &DirEntry| {
        let name = entry.file_name();
        entry.depth() == 0 || !(name == "target" || ALWAYS_IGNORED.iter().any(|ignored| name == *ignored))
    };
    WalkBuilder::new(folder).standard_filters(false).follow_links(false).filter_entry(wanted).build().flatten()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes its files itself")]

    use std::fs;
    use std::sync::mpsc::channel;

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
        let keys = key_files(&[top.to_path_buf(), top.join("config")], false);
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
        let keys = key_files(&[top.join("project")], true);
        let expected = [("project/b/out", "other/letter"), ("project/b/settings", "project/.env")];
        let expected = expected.map(|(link, to)| (top.join(link), top.join(to)));
        assert_eq!(keys.links.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_link_to_where_no_answer_comes_from_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::write(top.join(".env"), "A=1\n").unwrap();
        std::os::unix::fs::symlink("/gone/folder", top.join("gone")).unwrap();
        // It answers once this is dropped.
        let (answers, silence) = channel::<()>();
        let silence = std::sync::Mutex::new(silence);
        let resolve = move |link: &Path| {
            if link.ends_with("gone") {
                let _ = silence.lock().unwrap().recv();
            }
            link.canonicalize().ok()
        };
        let keys = gather(std::slice::from_ref(&top), Some(resolve), Duration::from_millis(500));
        drop(answers);
        assert!(keys.is_cut_short, "where it leads is not known");
        assert_eq!(keys.links.len(), 0);
        assert_eq!(keys.found.into_iter().collect::<Vec<_>>(), [(top.join(".env"), false)], "what was found stays");
    }
}
