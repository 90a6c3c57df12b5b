//! The files that a prompt's text names: `@path` is one whole, `@path:3-9` these lines of it. For prompts that were
//! typed where no plugin makes mentions of them: in a chat document, and on the command line.

use std::path::{Path, PathBuf};

use project::buffers::{Buffers, Open};
use project::paths;
use protocol::PromptBlock;
use protocol::content::{Position, Range};

/// A blank in a path that is named: a name ends where a blank is.
const BLANK: &str = "%20";

/// A prompt as it is sent: its text, if any, and a mention of each file that it names. Blocks.
pub(crate) fn blocks(prompt: String, folders: &[PathBuf], buffers: &Buffers) -> Vec<PromptBlock> {
    let words =
        prompt.split_whitespace().filter_map(|word| word.trim_start_matches(['(', '"', '\'']).strip_prefix('@'));
    let files = words.filter_map(|name| {
        let name = name.trim_end_matches([',', '.', ';', ':', '!', '?', ')', '"', '\'']);
        let of_file = |name: &str| file(name, folders, buffers).map(|path| paths::to_uri(&path));
        let of_part = || {
            let (name, range) = part(name)?;
            of_file(name).map(|uri| PromptBlock::Range { uri, range })
        };
        of_file(name).map(|uri| PromptBlock::File { uri }).or_else(of_part)
    });
    let files = files.fold(Vec::new(), |mut files, file| {
        if !files.contains(&file) {
            files.push(file);
        }
        files
    });
    let text = Some(prompt).filter(|prompt| !prompt.is_empty()).map(|text| PromptBlock::Text { text });
    text.into_iter().chain(files).collect()
}

/// A file as it is named in a prompt: by its path in one of the folders where that means no other, else by its whole
/// path.
pub(crate) fn written(path: &Path, folders: &[PathBuf], buffers: &Buffers) -> String {
    let shown = |name: &Path| name.to_string_lossy().replace(' ', BLANK);
    let short = folders.iter().find_map(|folder| path.strip_prefix(folder).ok()).map(shown);
    // Another folder may have a file that is called so.
    let short = short.filter(|name| file(name, folders, buffers).as_deref() == Some(path));
    format!("@{}", short.unwrap_or_else(|| shown(path)))
}

/// The file that a name means: in the first folder that has such a file, on disk or open in the editor.
fn file(name: &str, folders: &[PathBuf], buffers: &Buffers) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| path.is_file() || !matches!(buffers.get(path), Open::No);
    let names = [name.to_owned(), name.replace(BLANK, " ")];
    names
        .iter()
        .filter(|name| !name.is_empty())
        .find_map(|name| folders.iter().map(|folder| folder.join(name)).find(is_there))
}

/// The path and the lines of a name such as `src/a.rs:3-9` or `src/a.rs:3`, the lines from 1; none of one without
/// lines.
fn part(name: &str) -> Option<(&str, Range)> {
    let (path, lines) = name.rsplit_once(':')?;
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let [first, last] = [first, last].map(|line| line.parse::<u32>().ok().filter(|line| *line > 0));
    let (first, last) = (first?, last?.max(first?));
    let at = |line| Position { line, character: 0 };
    Some((path, Range { start: at(first - 1), end: at(last) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_file_is_mentioned_by_its_lines() {
        let lines = |name| part(name).map(|(path, range)| (path, range.lines()));
        assert_eq!(lines("src/a.rs:3-9"), Some(("src/a.rs", [2, 8])));
        assert_eq!(lines("src/a.rs:3"), Some(("src/a.rs", [2, 2])));
        assert_eq!(lines("c:/a.rs:9-3"), Some(("c:/a.rs", [8, 8])));
        for none in ["src/a.rs", "a.rs:0", "a.rs:x", "a.rs:1-", "a.rs:99999999999", ":"] {
            assert_eq!(lines(none), None, "{none}");
        }
    }

    #[test]
    fn each_file_is_mentioned_once_wherever_it_is_named_again() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b.txt"] {
            project::files::create(&folder.path().join(name), "one\n").unwrap();
        }
        let prompt = "@a.txt @b.txt @a.txt @a.txt:1 @b.txt @a.txt:1".to_owned();
        let blocks = blocks(prompt, &[folder.path().to_owned()], &Buffers::default());
        let kinds: Vec<_> = blocks.iter().map(|block| matches!(block, PromptBlock::Range { .. })).collect();
        assert_eq!(kinds, [false, false, false, true], "{blocks:?}");
    }
}
