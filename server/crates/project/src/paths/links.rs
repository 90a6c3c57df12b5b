//! Where paths lead by links.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};

use super::{PathError, canonical, plain};
use crate::answers;

/// After so many entries of folders, what a glob comes to counts as not known.
const ENTRIES: usize = 10_000;

/// Where an absolute path leads that goes through a link; nothing where it goes through none or names nothing. Of a
/// path with a shell's glob in it, where those that it comes to lead. Each `..` leads up from where what stands before
/// it leads. The root stands for what cannot be told. Asks the disk.
pub fn led_to(path: &Path) -> Vec<PathBuf> {
    let is_glob = |part: &Component<'_>| part.as_os_str().as_encoded_bytes().iter().any(|byte| b"*?[".contains(byte));
    let fixed: PathBuf = path.components().take_while(|part| !is_glob(part)).collect();
    let patterns: Vec<_> = path.components().skip_while(|part| !is_glob(part)).map(pattern).collect();
    if path.components().skip_while(|part| !is_glob(part)).any(|part| part == Component::ParentDir) {
        return unknown();
    }
    let mut left = ENTRIES;
    let mut found = vec![fixed];
    for pattern in patterns {
        let mut next = Vec::new();
        for folder in found {
            let Ok(entries) = folder.read_dir() else { continue };
            for entry in entries {
                let Some(rest) = left.checked_sub(1) else { return unknown() };
                left = rest;
                let Ok(entry) = entry else { return unknown() };
                if pattern.as_ref().is_none_or(|pattern| pattern.is_match(entry.file_name())) {
                    next.push(entry.path());
                }
            }
        }
        found = next;
    }
    let mut led_to: Vec<_> = found.iter().filter_map(|path| leads(path)).collect();
    led_to.sort();
    led_to.dedup();
    led_to
}

/// Where each of these paths leads, of those that lead elsewhere, as [`led_to`] has it. What the disk does not say in
/// time cannot be told. Asks the disk.
pub fn links_of(paths: BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    /// As long it may take.
    const LONGEST: Duration = Duration::from_secs(2);
    if paths.is_empty() {
        return BTreeMap::new();
    }
    let mut links: BTreeMap<_, _> = paths.iter().map(|path| (path.clone(), unknown())).collect();
    let look = move |tell: &dyn Fn((PathBuf, Vec<PathBuf>)) -> bool| {
        for path in paths {
            let led_to = led_to(&path);
            if !tell((path, led_to)) {
                return;
            }
        }
    };
    answers::in_time(LONGEST, look, |(path, led_to)| drop(links.insert(path, led_to)));
    links.retain(|_, led_to| !led_to.is_empty());
    links
}

fn leads(path: &Path) -> Option<PathBuf> {
    match real(path) {
        Ok(real) => (real != plain(path)).then_some(real),
        Err(_) => unknown().pop(),
    }
}

/// An absolute path without `..` and links, as the system walks it.
fn real(path: &Path) -> Result<PathBuf, PathError> {
    if !path.components().any(|part| part == Component::ParentDir) {
        return canonical(path);
    }
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => real = canonical(&real.join(name))?,
            other => real.push(other),
        }
    }
    Ok(real)
}

fn unknown() -> Vec<PathBuf> {
    vec![PathBuf::from("/")]
}

/// Returns the pattern that a part of a path is. None, which fits all, if it is not understood.
fn pattern(part: Component<'_>) -> Option<GlobMatcher> {
    let text = part.as_os_str().to_str()?;
    Some(GlobBuilder::new(text).build().ok()?.compile_matcher())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_leads_where_its_links_lead() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["docs", "docs/deep", "other"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        for name in ["docs/plain.md", "other/secret"] {
            std::fs::File::create_new(root.join(name)).unwrap();
        }
        symlink("../other/secret", root.join("docs/link.md")).unwrap();
        symlink("../../other", root.join("docs/deep/out")).unwrap();
        symlink("nowhere", root.join("docs/gone")).unwrap();
        let led = |path: &str| led_to(&root.join(path));
        let nothing: [PathBuf; 0] = [];
        for path in ["docs/plain.md", "docs/new.md", "docs/*.txt", "docs/deep", "none/*"] {
            assert_eq!(led(path), nothing, "{path}");
        }
        for path in ["docs/link.md", "docs/*.md", "d*/link.m?", "docs/deep/out/secret", "other/../docs/link.md"] {
            assert_eq!(led(path), [root.join("other/secret")], "{path}");
        }
        assert_eq!(led("docs/*/out"), [root.join("other")]);
        assert_eq!(led("docs/gone"), [PathBuf::from("/")]);
        assert_eq!(led("docs/g*"), [PathBuf::from("/")]);
    }

    #[test]
    fn up_from_behind_a_link_is_up_from_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["ws/a/b", "ws/d/e/f", "outside"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink("../../d", root.join("ws/a/b/c")).unwrap();
        symlink("../../outside", root.join("ws/a/out")).unwrap();
        let led = |path: &str| led_to(&root.join(path));
        let nothing: [PathBuf; 0] = [];
        assert_eq!(led("ws/a/b/c/../../secret"), [root.join("secret")]);
        assert_eq!(led("ws/a/out/../x"), [root.join("x")]);
        assert_eq!(led("ws/a/b/../out/../x"), [root.join("x")]);
        assert_eq!(led("ws/a/b/../out"), [root.join("outside")]);
        assert_eq!(led("ws/a/b/c/../new/file"), [root.join("ws/new/file")]);
        for path in ["ws/d/e/f/../../x", "ws/none/../x", "ws/a/../d/./e"] {
            assert_eq!(led(path), nothing, "{path}");
        }
        assert_eq!(led("ws/*/../x"), [PathBuf::from("/")], "what a glob comes to may be a link");
    }

    #[test]
    fn a_glob_over_too_many_files_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..=ENTRIES {
            std::fs::File::create_new(folder.path().join(number.to_string())).unwrap();
        }
        assert_eq!(led_to(&folder.path().join("x*")), [PathBuf::from("/")]);
    }
}
