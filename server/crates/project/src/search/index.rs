//! The files that `@` can mention, and which of them are meant by what was typed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use crate::paths::Roots;

/// How many files are known at most; going through them takes milliseconds.
pub const MAX_INDEXED: usize = 50_000;

/// How many files are suggested at most.
pub const MAX_SUGGESTIONS: usize = 10;

/// The files of the workspace by what they are called.
#[derive(Debug)]
pub struct FileIndex {
    files: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    /// The path as it is shown, in lower case.
    display: String,
    /// Where the file's name begins in it.
    name: usize,
}

impl FileIndex {
    /// The index of files, given in their order; of more than [`MAX_INDEXED`] the first.
    pub fn new(roots: &Roots, files: impl IntoIterator<Item = PathBuf>) -> Self {
        let entry = |path: PathBuf| {
            let display = roots.display(&path).to_lowercase();
            Entry { path, name: display.rfind('/').map_or(0, |at| at + 1), display }
        };
        Self { files: files.into_iter().take(MAX_INDEXED).map(entry).collect() }
    }

    /// The files that are best meant by `typed`, whatever its case, the best first, at most [`MAX_SUGGESTIONS`]; the
    /// first files where nothing was typed.
    ///
    /// A file's name counts before its path: the name itself, its begin, a part of it; then the path's begin, a part of
    /// it; then letters of the name, of the path, in order. Among equals the shorter path wins, then the alphabet.
    pub fn suggest(&self, typed: &str) -> Vec<PathBuf> {
        let typed = typed.to_lowercase();
        let mut best = BinaryHeap::new();
        for (at, entry) in self.files.iter().enumerate() {
            let Some(tier) = entry.tier(&typed) else { continue };
            let length = if typed.is_empty() { 0 } else { entry.display.len() };
            best.push((tier, length, &entry.display, at));
            if best.len() > MAX_SUGGESTIONS {
                best.pop();
            }
        }
        let best = best.into_sorted_vec().into_iter();
        best.filter_map(|(.., at)| self.files.get(at)).map(|entry| entry.path.clone()).collect()
    }
}

impl Entry {
    /// Returns the rank of its fit: the lower the better, none if it does not fit at all.
    fn tier(&self, typed: &str) -> Option<u8> {
        let (path, name) = (self.display.as_str(), self.display.get(self.name..).unwrap_or_default());
        let tiers: [&dyn Fn() -> bool; 7] = [
            &|| name == typed,
            &|| name.starts_with(typed),
            &|| name.contains(typed),
            &|| path.starts_with(typed),
            &|| path.contains(typed),
            &|| is_subsequence(typed, name),
            &|| is_subsequence(typed, path),
        ];
        tiers.iter().position(|fits| fits()).and_then(|tier| u8::try_from(tier).ok())
    }
}

/// The files whose names differ from that of `path` in the fewest letters, at most three of them, and none that differ
/// in more than a third of it. Among equals those in the nearest folder win.
pub(super) fn near(path: &Path, files: Vec<PathBuf>) -> Vec<PathBuf> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let wanted: Vec<char> = name(path).chars().collect();
    let shared = |file: &Path| path.iter().zip(file.iter()).take_while(|(a, b)| a == b).count();
    let mut near: Vec<_> = files
        .into_iter()
        .filter_map(|file| {
            let distance = distance(&wanted, &name(&file).chars().collect::<Vec<_>>());
            (distance * 3 <= wanted.len()).then(|| (distance, Reverse(shared(&file)), file))
        })
        .collect();
    near.sort();
    near.into_iter().take(3).map(|(.., file)| file).collect()
}

/// How many letters must be put in, taken out, changed or swapped with their neighbour to make one text of the other.
pub fn distance(a: &[char], b: &[char]) -> usize {
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

fn is_subsequence(letters: &str, text: &str) -> bool {
    let mut text = text.chars();
    letters.chars().all(|letter| text.any(|c| c == letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggest(files: &[&str], typed: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let roots = Roots::new([folder.path()]).unwrap();
        let root = folder.path().canonicalize().unwrap();
        let index = FileIndex::new(&roots, files.iter().map(|file| root.join(file)));
        index.suggest(typed).iter().map(|path| roots.display(path)).collect()
    }

    #[test]
    fn the_name_counts_before_the_path_and_the_whole_before_a_part() {
        let files = ["main/x.rs", "src/domain.rs", "src/main", "src/mxaxixn.c", "src/Main.rs", "zz/lib/main.rs"];
        assert_eq!(
            suggest(&files, "MAIN"),
            ["src/main", "src/Main.rs", "zz/lib/main.rs", "src/domain.rs", "main/x.rs", "src/mxaxixn.c"]
        );
    }

    #[test]
    fn a_mistyped_name_is_recognised_and_the_nearest_folder_comes_first() {
        let near = |path: &str, files: &[&str]| {
            let files = files.iter().map(PathBuf::from).collect();
            near(Path::new(path), files).iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            near("/p/src/mian.rs", &["/p/main.rs", "/p/src/main.rs", "/p/x.rs"]),
            ["/p/src/main.rs", "/p/main.rs"]
        );
        assert_eq!(near("/p/Lib.rs", &["/p/a/lib.rs", "/p/a/lib.py"]), ["/p/a/lib.rs", "/p/a/lib.py"]);
        assert!(near("/p/nothing.py", &["/p/main.rs"]).is_empty());
        assert_eq!(distance(&['a', 'b', 'c'], &[]), 3);
        assert_eq!(distance(&['a', 'b', 'c', 'd'], &['b', 'a', 'c', 'x', 'd']), 2);
    }

    #[test]
    fn a_typed_path_finds_the_file() {
        let files = ["a/lib.rs", "b/lib.rs", "bb/lib.rs"];
        assert_eq!(suggest(&files, "b/lib"), ["b/lib.rs", "bb/lib.rs"]);
    }

    #[test]
    fn nothing_typed_gives_the_first_files_and_never_more_than_ten() {
        let files: Vec<_> = (10..30).map(|number| format!("a-long-name/{number}.rs")).collect();
        let files: Vec<_> = std::iter::once("a-b.rs").chain(files.iter().map(String::as_str)).collect();
        assert_eq!(suggest(&files, ""), files[..10]);
        assert_eq!(suggest(&files, ".rs").len(), 10);
        assert!(suggest(&files, "nothing").is_empty());
    }
}
