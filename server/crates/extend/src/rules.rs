//! Rules: what a project tells every agent that works on it, in the files that other agents' users have already
//! written: `AGENTS.md`, `CLAUDE.md`, and Cursor's `.cursor/rules/**/*.mdc`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ports::edit::TextHash;
use project::buffers::Open;
use project::files::{self, FileError};
use project::paths::{Root, Roots};
use project::reader::{ReadError, Reader};

/// The files of rules in a workspace's folder, in the order in which they are read.
const FILES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Where Cursor's rules are.
const CURSOR_FOLDER: &str = ".cursor/rules";

/// How much of one file is taken, in bytes.
pub const MAX_FILE_BYTES: usize = 32 << 10;

/// How much of all Cursor rules of a folder is taken, in bytes.
pub const MAX_CURSOR_BYTES: usize = 30_000;

/// How many Cursor rules of a folder are looked at, so that a strange folder does not hold up a session.
pub const MAX_CURSOR_FILES: usize = 500;

/// How many entries of Cursor's folder and the folders in it are looked at to find them.
pub const MAX_CURSOR_ENTRIES: usize = 5_000;

/// How large a file of rules may be to be read at all, in bytes. Rules are read anew for each turn, and no more than
/// [`MAX_FILE_BYTES`] of one is taken. Of Cursor's rules no further one is read once this much was.
pub const MAX_READ_BYTES: u64 = 1 << 20;

/// How many problems are told one by one; the rest are counted.
const MAX_PROBLEMS: usize = 3;

/// The mark at the end of a text that was cut off.
const TRUNCATED: &str = "\n[truncated]";

/// The rules of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The texts, those of the first folder first; never empty ones. The same text is there once.
    pub blocks: Vec<Block>,
    /// The rules that could not be read and why, in words for the user: the first few, and how many more. Never a
    /// reason not to go on.
    pub problems: Vec<String>,
}

/// A text of rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it comes from, such as `AGENTS.md`; with the folder's name where there are several.
    pub source: String,
    /// The text, in Markdown, bounded; it ends with `[truncated]` where it was cut off.
    pub text: String,
}

/// Reads the rules of all the workspace's folders. Blocks.
pub fn load(roots: &Roots, reader: &Reader) -> Rules {
    let mut loading =
        Loading { roots, reader, rules: Rules::default(), seen: BTreeSet::new(), hashes: Vec::new(), untold: 0 };
    for root in roots.iter() {
        for name in FILES {
            loading.file(root, name);
        }
        loading.cursor(root);
    }
    loading.finish()
}

struct Loading<'l> {
    roots: &'l Roots,
    reader: &'l Reader,
    rules: Rules,
    /// The files read, so that one with two names is read once.
    seen: BTreeSet<PathBuf>,
    /// The texts taken, since `CLAUDE.md` is often a copy of `AGENTS.md`.
    hashes: Vec<TextHash>,
    /// How many problems there are beside those that are told.
    untold: usize,
}

impl Loading<'_> {
    fn file(&mut self, root: &Root, name: &str) {
        let path = root.path.join(name);
        if let Some(text) = self.read(&path) {
            self.add(&path, bounded(text.trim(), MAX_FILE_BYTES));
        }
    }

    fn cursor(&mut self, root: &Root) {
        let folder = root.path.join(CURSOR_FOLDER);
        let mut found = BTreeSet::new();
        self.find_cursor(&folder, &mut found, &mut 0);
        let (mut text, mut read) = (String::new(), 0);
        for path in found {
            // Rules that are found from here on would be cut off. Heads of rules are not taken, but are read.
            if text.len() > MAX_CURSOR_BYTES || read > MAX_READ_BYTES {
                break;
            }
            let Some(rule) = self.read(&path) else { continue };
            read += u64::try_from(rule.len()).unwrap_or(u64::MAX);
            let name = path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy();
            let body = without_frontmatter(&rule).trim();
            if !body.is_empty() {
                text.push_str(&format!("\n\n## {name}\n\n{body}"));
            }
        }
        if !text.is_empty() {
            let text = format!("# Cursor Project Rules ({CURSOR_FOLDER}){text}");
            self.add(&folder, bounded(&text, MAX_CURSOR_BYTES));
        }
    }

    /// Gathers the rules in a folder and the folders in it, sorted. Links to folders are not followed: they lead out of
    /// the rules, or in circles. (Cursor's folder itself may be one.)
    fn find_cursor(&mut self, folder: &Path, found: &mut BTreeSet<PathBuf>, looked_at: &mut usize) {
        let Some(real) = self.check(folder) else { return };
        if !self.seen.insert(real.clone()) {
            return;
        }
        let Ok(mut entries) = files::names(&real, MAX_CURSOR_ENTRIES - *looked_at) else { return };
        *looked_at += entries.len();
        entries.sort();
        for (name, is_folder) in entries {
            if found.len() == MAX_CURSOR_FILES {
                return;
            }
            let path = folder.join(name);
            if is_folder {
                self.find_cursor(&path, found, looked_at);
            } else if path.extension().is_some_and(|extension| extension == "mdc") && !path.is_dir() {
                found.insert(path);
            }
        }
    }

    /// The text of a file of rules; none if there is none, or it was read already.
    fn read(&mut self, path: &Path) -> Option<String> {
        let real = self.check(path)?;
        if !self.seen.insert(real.clone()) {
            return None;
        }
        let is_open = !matches!(self.reader.buffers().get(&real), Open::No);
        if let Some(size) = real.metadata().ok().map(|metadata| metadata.len()).filter(|_| !is_open)
            && size > MAX_READ_BYTES
        {
            self.problem(path, &format!("a file of {size} bytes is too large for rules"));
            return None;
        }
        match self.reader.base(&real) {
            Ok(file) => {
                if self.hashes.contains(&file.hash) {
                    return None;
                }
                self.hashes.push(file.hash);
                Some(file.text.to_string())
            }
            Err(ReadError::File(FileError::NotFound { .. })) => None,
            Err(error) => {
                self.problem(path, &error);
                None
            }
        }
    }

    fn check(&mut self, path: &Path) -> Option<PathBuf> {
        match self.roots.check(path) {
            Ok(real) => Some(real),
            Err(error) => {
                self.problem(path, &error);
                None
            }
        }
    }

    fn problem(&mut self, path: &Path, error: &dyn std::fmt::Display) {
        let problem = format!("The rules in {} were left out: {error}.", self.roots.display(path));
        if self.rules.problems.len() == MAX_PROBLEMS {
            self.untold += 1;
            return tracing::debug!("{problem}");
        }
        tracing::warn!("{problem}");
        self.rules.problems.push(problem);
    }

    fn finish(mut self) -> Rules {
        let words = match self.untold {
            0 => None,
            1 => Some("Besides the files of rules that are named, 1 more was left out.".to_owned()),
            more => Some(format!("Besides the files of rules that are named, {more} more were left out.")),
        };
        self.rules.problems.extend(words);
        self.rules
    }

    fn add(&mut self, path: &Path, text: String) {
        if !text.is_empty() {
            self.rules.blocks.push(Block { source: self.roots.display(path), text });
        }
    }
}

/// The text, cut off where it is longer than `limit` bytes, and then said so.
fn bounded(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let kept = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    format!("{}{TRUNCATED}", kept.trim_end())
}

/// Returns the text after the lines between `---` and `---` at the beginning; the whole text if there are none.
fn without_frontmatter(text: &str) -> &str {
    let mut lines = text.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end() == "---";
    let Some(first) = lines.next().filter(|line| is_mark(line)) else { return text };
    let mut length = first.len();
    for line in lines {
        length += line.len();
        if is_mark(line) {
            return text.get(length..).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Arc;

    use project::buffers::Buffers;
    use project::files;
    use project::paths::to_uri;
    use project::reader::NoOverlay;

    use super::*;

    struct World {
        folder: tempfile::TempDir,
        buffers: Arc<Buffers>,
    }

    impl World {
        fn new(files: &[(&str, &str)]) -> Self {
            let world = Self { folder: tempfile::tempdir().unwrap(), buffers: Arc::default() };
            std::fs::create_dir_all(world.path("project")).unwrap();
            for (name, text) in files {
                files::create(&world.path(name), text).unwrap();
            }
            world
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().canonicalize().unwrap().join(name)
        }

        fn load(&self, folders: &[&str]) -> Rules {
            let roots = Roots::new(folders.iter().map(|folder| self.path(folder))).unwrap();
            load(&roots, &Reader::new(self.buffers.clone(), Arc::new(NoOverlay)))
        }
    }

    fn blocks(rules: &Rules) -> Vec<(&str, &str)> {
        rules.blocks.iter().map(|block| (block.source.as_str(), block.text.as_str())).collect()
    }

    #[test]
    fn the_rules_of_every_folder_are_read_in_order() {
        let world = World::new(&[
            ("project/CLAUDE.md", "Be brief.\n"),
            ("project/AGENTS.md", "\nUse tabs.\n"),
            ("other/AGENTS.md", "Use spaces."),
            ("project/sub/AGENTS.md", "Only below."),
        ]);
        assert_eq!(blocks(&world.load(&["project"])), [("AGENTS.md", "Use tabs."), ("CLAUDE.md", "Be brief.")]);
        let both = world.load(&["project", "other"]);
        assert_eq!(blocks(&both)[2], ("other/AGENTS.md", "Use spaces."));
        assert!(both.problems.is_empty());
    }

    #[test]
    fn one_text_under_two_names_is_there_once() {
        let world = World::new(&[("project/AGENTS.md", "Same."), ("other/AGENTS.md", "x"), ("other/CLAUDE.md", "x")]);
        symlink("AGENTS.md", world.path("project/CLAUDE.md")).unwrap();
        assert_eq!(blocks(&world.load(&["project"])), [("AGENTS.md", "Same.")]);
        assert_eq!(blocks(&world.load(&["other"])), [("AGENTS.md", "x")]);
    }

    #[test]
    fn cursor_rules_come_sorted_and_without_their_heads() {
        let world = World::new(&[
            ("project/.cursor/rules/b.mdc", "---\nglobs: '*.rs'\n---\nUse rustfmt.\n"),
            ("project/.cursor/rules/a/z.mdc", "Deep."),
            ("project/.cursor/rules/empty.mdc", "---\nalwaysApply: true\n---\n"),
            ("project/.cursor/rules/open.mdc", "---\nnot closed"),
            ("project/.cursor/rules/readme.md", "not a rule"),
        ]);
        assert_eq!(
            blocks(&world.load(&["project"])),
            [(
                ".cursor/rules",
                "# Cursor Project Rules (.cursor/rules)\n\n## a/z.mdc\n\nDeep.\n\n## b.mdc\n\nUse rustfmt.\n\n\
                 ## open.mdc\n\n---\nnot closed"
            )]
        );
    }

    #[test]
    fn long_rules_are_cut_off_and_say_so() {
        let world = World::new(&[
            ("project/AGENTS.md", &"é".repeat(20_000)),
            ("project/.cursor/rules/a.mdc", &"x".repeat(40_000)),
        ]);
        for block in world.load(&["project"]).blocks {
            assert!(block.text.ends_with("\n[truncated]"), "{}", block.source);
            assert!(block.text.len() <= MAX_FILE_BYTES + TRUNCATED.len());
        }
    }

    #[test]
    fn a_link_that_leaves_the_workspace_is_refused_and_noted() {
        let world = World::new(&[("secret.md", "secret"), ("outside/x.mdc", "secret")]);
        symlink(world.path("secret.md"), world.path("project/AGENTS.md")).unwrap();
        std::fs::create_dir(world.path("project/.cursor")).unwrap();
        symlink(world.path("outside"), world.path("project/.cursor/rules")).unwrap();
        let rules = world.load(&["project"]);
        assert_eq!(blocks(&rules), []);
        assert_eq!(rules.problems.len(), 2);
        assert!(rules.problems[0].starts_with("The rules in AGENTS.md were left out: "), "{:?}", rules.problems);
        assert!(rules.problems[0].contains("outside the workspace"), "{:?}", rules.problems);
    }

    #[test]
    fn many_problems_are_summed_up() {
        let world = World::new(&[("secret.mdc", "secret"), ("project/AGENTS.md", "Use tabs.")]);
        std::fs::create_dir_all(world.path("project/.cursor/rules")).unwrap();
        let link = |number: usize| {
            symlink(world.path("secret.mdc"), world.path(&format!("project/.cursor/rules/{number:03}.mdc"))).unwrap();
        };
        (0..MAX_PROBLEMS).for_each(link);
        let told = world.load(&["project"]).problems;
        assert!(told.len() == MAX_PROBLEMS && told.iter().all(|problem| problem.contains("outside")), "{told:?}");
        (MAX_PROBLEMS..MAX_CURSOR_FILES).for_each(link);
        let rules = world.load(&["project"]);
        assert_eq!(rules.problems.len(), MAX_PROBLEMS + 1);
        assert_eq!(
            rules.problems.last().unwrap(),
            "Besides the files of rules that are named, 497 more were left out."
        );
        assert_eq!(blocks(&rules), [("AGENTS.md", "Use tabs.")], "what can be read is");
    }

    #[test]
    fn folders_that_lead_in_circles_end() {
        let world = World::new(&[("project/.cursor/rules/a.mdc", "A.")]);
        symlink(world.path("project/.cursor/rules"), world.path("project/.cursor/rules/again")).unwrap();
        assert_eq!(world.load(&["project"]).blocks.len(), 1);
    }

    #[test]
    fn links_to_folders_are_not_followed() {
        let world =
            World::new(&[("project/.cursor/rules/a.mdc", "A."), ("project/src/b.mdc", "B."), ("project/c.mdc", "C.")]);
        symlink(world.path("project"), world.path("project/.cursor/rules/all")).unwrap();
        symlink(world.path("project/c.mdc"), world.path("project/.cursor/rules/c.mdc")).unwrap();
        let rules = world.load(&["project"]);
        let [(_, text)] = blocks(&rules).try_into().unwrap();
        assert!(text.ends_with("## a.mdc\n\nA.\n\n## c.mdc\n\nC."), "a link to a file is one: {text}");
    }

    #[test]
    fn no_more_is_read_than_is_taken() {
        let large = "x".repeat(usize::try_from(MAX_READ_BYTES).unwrap() + 1);
        let world = World::new(&[
            ("project/AGENTS.md", &large),
            ("project/.cursor/rules/a.mdc", &large),
            ("project/.cursor/rules/b.mdc", &"b".repeat(MAX_CURSOR_BYTES + 1)),
            ("project/.cursor/rules/c.mdc", "not text\0"),
        ]);
        let rules = world.load(&["project"]);
        assert_eq!(rules.blocks.len(), 1);
        assert!(rules.blocks[0].text.len() <= MAX_CURSOR_BYTES + TRUNCATED.len());
        // The third file would be a problem too, had it been read.
        let problem = "were left out: a file of 1048577 bytes is too large for rules.";
        assert_eq!(rules.problems.len(), 2, "{:?}", rules.problems);
        assert!(rules.problems.iter().all(|told| told.ends_with(problem)), "{:?}", rules.problems);
    }

    #[test]
    fn what_is_not_text_is_noted_and_the_rest_is_read() {
        let world = World::new(&[("project/AGENTS.md", "a\0b"), ("project/CLAUDE.md", "Be brief.")]);
        let rules = world.load(&["project"]);
        assert_eq!(blocks(&rules), [("CLAUDE.md", "Be brief.")]);
        assert!(rules.problems[0].contains("binary"), "{:?}", rules.problems);
    }

    #[test]
    fn unsaved_rules_count() {
        let world = World::new(&[("project/AGENTS.md", "saved")]);
        world.buffers.open(&to_uri(&world.path("project/AGENTS.md")), "markdown", 1, "unsaved").unwrap();
        assert_eq!(blocks(&world.load(&["project"])), [("AGENTS.md", "unsaved")]);
    }
}
