//! `list_files`.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use async_trait::async_trait;
use permission::Action;
use ports::tool::{Access, Call, Description, Output, ToolError};
use ports::tool_names;
use project::paths;
use project::search::Scope;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;
use crate::{Services, blocking, counted, location, not_searched};

/// How many files and folders are given at most.
const MAX_ENTRIES: usize = 300;

/// Lists the files of a folder and of the folders in it, as a tree. Files that git ignores are left out. For a folder
/// with too many files only their number is given; list it separately to see them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The folder, relative to the workspace or absolute. Without it the whole workspace is listed.
    path: Option<String>,
    /// The depth: 1 lists only the folder itself. Without it, as deep as fits.
    depth: Option<usize>,
}

pub(crate) struct ListFiles {
    services: Services,
}

impl ListFiles {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }

    fn scope(&self, input: &Input) -> Result<Scope, ToolError> {
        // An empty path or `.` means all folders of the workspace where there are several.
        let path = input.path.as_deref().filter(|path| !matches!(*path, "" | "." | "./"));
        let path = path.map(|path| self.services.roots.resolve(path)).transpose()?;
        Ok(Scope { path, glob: None })
    }
}

#[async_trait]
impl Typed for ListFiles {
    type Input = Input;
    const NAME: &'static str = tool_names::LIST_FILES;
    const KIND: ToolKind = ToolKind::Read;
    const ACCESS: Access = Access::Read;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let path = self.scope(input)?.path;
        let locations = path.iter().map(|path| location(path, None)).collect();
        let title = match path {
            Some(path) => format!("Listing {}", self.services.roots.display(&path)),
            None => "Listing the workspace".to_owned(),
        };
        Ok(Description { title, locations, action: Action::Read })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let scope = self.scope(&input)?;
        let services = self.services.clone();
        blocking(move || {
            let found = services.search.files(&scope, &call.cancel)?;
            let files = found.paths;
            let name = scope.path.as_deref().map(|path| services.roots.display(path));
            if files.len() == 1 && files.first() == scope.path.as_ref() {
                let name = name.unwrap_or_default();
                return Err(ToolError::Failed(format!("{name} is a file; read it with read_file")));
            }
            let mut tree = Folder::default();
            for file in &files {
                match scope.path.as_deref().and_then(|folder| file.strip_prefix(folder).ok()) {
                    Some(rest) => tree.add(Path::new(&paths::shown(rest))),
                    None => tree.add(Path::new(&services.roots.display(file))),
                }
            }
            let head = name.map(|name| format!("{name}: ")).unwrap_or_default();
            let summary = counted(files.len(), "file");
            let mut lines = vec![format!("{head}{summary}"), tree.shown(input.depth.unwrap_or(usize::MAX))];
            lines.extend(not_searched(found.unreadable, found.left_out));
            lines.retain(|line| !line.is_empty());
            let lines: Vec<_> = lines.iter().map(|line| line.trim_end()).collect();
            Ok(Output { text: lines.join("\n"), summary, ..Output::default() })
        })
        .await
    }
}

/// A folder and what is in it.
#[derive(Default)]
struct Folder {
    entries: BTreeMap<String, Option<Folder>>,
    /// How many files are in it and in its folders.
    files: usize,
}

impl Folder {
    fn add(&mut self, path: &Path) {
        let mut folder = self;
        let mut parts = path.iter().map(|part| part.to_string_lossy().into_owned()).peekable();
        while let Some(part) = parts.next() {
            folder.files += 1;
            let is_folder = parts.peek().is_some();
            let entry = folder.entries.entry(part).or_insert_with(|| is_folder.then(Folder::default));
            match entry {
                Some(inner) => folder = inner,
                None => return,
            }
        }
    }

    /// The tree as far as it fits, level by level: a folder is opened only if all that is directly in it fits too.
    fn shown(&self, depth: usize) -> String {
        let mut opened = std::collections::HashSet::new();
        let mut left = MAX_ENTRIES.saturating_sub(self.entries.len());
        let mut level = VecDeque::from([(self, 1)]);
        while let Some((folder, at)) = level.pop_front() {
            for inner in folder.entries.values().flatten() {
                if at < depth && inner.entries.len() <= left {
                    left -= inner.entries.len();
                    opened.insert(std::ptr::from_ref(inner));
                    level.push_back((inner, at + 1));
                }
            }
        }
        let mut out = String::new();
        self.write(&mut out, 0, &opened);
        if self.entries.len() > MAX_ENTRIES {
            let more = self.entries.len() - MAX_ENTRIES;
            out.push_str(&format!("[{more} more files and folders; find files by name with find_files]\n"));
        }
        out
    }

    fn write(&self, out: &mut String, indent: usize, opened: &std::collections::HashSet<*const Self>) {
        for (name, entry) in self.entries.iter().take(MAX_ENTRIES) {
            out.extend(std::iter::repeat_n("  ", indent));
            out.push_str(name);
            match entry {
                None => out.push('\n'),
                Some(inner) if opened.contains(&std::ptr::from_ref(inner)) => {
                    out.push_str("/\n");
                    inner.write(out, indent + 1, opened);
                }
                Some(inner) => out.push_str(&format!("/ ({})\n", counted(inner.files, "file"))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::fixture::{World, call};

    #[tokio::test]
    async fn a_small_project_is_shown_whole() {
        let world = World::new(&[
            ("src/main.rs", ""),
            ("src/a/b.rs", ""),
            ("Cargo.toml", ""),
            ("out/x", ""),
            (".gitignore", "out"),
        ]);
        let output = world.call("list_files", json!({})).await.unwrap();
        assert_eq!(output.text, "4 files\n.gitignore\nCargo.toml\nsrc/\n  a/\n    b.rs\n  main.rs");
        assert_eq!(output.summary, "4 files");
        assert_eq!(world.text("list_files", json!({ "path": "." })).await, output.text);
    }

    #[tokio::test]
    async fn a_folder_can_be_listed_by_itself_and_to_a_depth() {
        let world = World::new(&[("src/main.rs", ""), ("src/a/b.rs", ""), ("src/a/c.rs", "")]);
        assert_eq!(
            world.text("list_files", json!({ "path": "src" })).await,
            "src: 3 files\na/\n  b.rs\n  c.rs\nmain.rs"
        );
        assert_eq!(world.text("list_files", json!({ "depth": 2 })).await, "3 files\nsrc/\n  a/ (2 files)\n  main.rs");
    }

    #[tokio::test]
    async fn what_does_not_fit_is_counted_and_said() {
        let names: Vec<_> = (0..400).map(|number| format!("big/{number:03}")).collect();
        let files: Vec<_> = names.iter().map(String::as_str).chain(["small/a", "top"]).map(|name| (name, "")).collect();
        let world = World::new(&files);
        assert_eq!(world.text("list_files", json!({})).await, "402 files\nbig/ (400 files)\nsmall/\n  a\ntop");
        let big = world.text("list_files", json!({ "path": "big" })).await;
        assert_eq!(big.lines().count(), 302);
        assert!(big.ends_with("299\n[100 more files and folders; find files by name with find_files]"), "{big}");
    }

    #[tokio::test]
    async fn what_was_not_looked_into_is_said() {
        let world = World::new(&[("a", ""), (".env", ""), ("sub/b\nc", ""), ("closed/x", "")]);
        let services = world.services_showing(|path| !path.ends_with(".env"));
        let list = |path: &str| call(&services, "list_files", json!({ "path": path }));
        let whole = list(".").await.unwrap().text;
        assert!(
            whole.ends_with("\n[1 file left out by permission: the user's rules, or a name that usually means keys]"),
            "{whole}"
        );
        assert_eq!(list("sub").await.unwrap().text, "sub: 1 file\nb\\nc");
        let closed = world.path("closed");
        let set = |mode| std::fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        set(0o000);
        // Root reads everything.
        let is_root = closed.read_dir().is_ok();
        let text = list("closed").await.unwrap().text;
        set(0o700);
        let unreadable = "closed: 0 files\n[1 file or folder could not be read]";
        assert_eq!(text, if is_root { "closed: 1 file\nx" } else { unreadable });
    }

    #[tokio::test]
    async fn what_is_no_folder_says_so() {
        let world = World::new(&[("a", "")]);
        let list = |path| world.text("list_files", json!({ "path": path }));
        assert_eq!(list("a").await, "error: a is a file; read it with read_file");
        assert!(list("b").await.ends_with("b does not exist"));
        assert!(list("..").await.contains("is outside the workspace"));
        assert_eq!(World::new(&[]).text("list_files", json!({})).await, "0 files");
    }
}
