//! The files that `@` can mention, and which of them are meant by what was typed (001 §26).

use std::collections::BinaryHeap;
use std::path::PathBuf;

use crate::paths::Roots;

/// How many files are known at most. (001 §26 says 5,000; going through ten times as many takes milliseconds.)
pub const MAX_INDEXED: usize = 50_000;

/// How many files are suggested at most (001 §26).
pub const MAX_SUGGESTIONS: usize = 10;

/// The files of the workspace by what they are called.
#[derive(Debug)]
pub struct FileIndex {
    files: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    /// What the path is called, in lower case.
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
    /// How well it fits: the lower the better, none if not at all.
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
