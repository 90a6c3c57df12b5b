//! Real projects of over a hundred files each, with the language server of each: from `tests/tools/install-projects`,
//! `tests/tools/install-language-servers`, and the crates that we depend on.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::crates::source_of;
use crate::not_tried;
use crate::project::Project;

/// A project and who knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Real {
    /// `futures-util`, for rust-analyzer.
    Rust,
    /// NetworkX, for pyright.
    Python,
    /// RxJS, for typescript-language-server.
    TypeScript,
    /// LevelDB, for clangd.
    Cpp,
    /// `golang.org/x/text`, for gopls.
    Go,
}

/// A name in a file.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The file.
    pub file: &'static str,
    /// The text that is on its line, and on none before.
    pub line: &'static str,
    /// The name.
    pub name: &'static str,
}

const fn spot(file: &'static str, line: &'static str, name: &'static str) -> Spot {
    Spot { file, line, name }
}

impl Spot {
    /// Its line and character, from 0 and in UTF-16.
    ///
    /// # Panics
    /// It is not there.
    pub fn find(&self, project: &Project) -> [u32; 2] {
        let text = project.read(self.file);
        let mut lines = text.lines().zip(0..).filter(|(line, _)| line.contains(self.line));
        let (line, number) = lines.next().unwrap_or_else(|| panic!("{self:?} is not there"));
        let before = line.find(self.line).unwrap() + self.line.find(self.name).unwrap();
        [number, u32::try_from(line[..before].encode_utf16().count()).unwrap()]
    }
}

impl Real {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Rust, Self::Python, Self::TypeScript, Self::Cpp, Self::Go];

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "futures-util",
            Self::Python => "NetworkX",
            Self::TypeScript => "RxJS",
            Self::Cpp => "LevelDB",
            Self::Go => "x/text",
        }
    }

    /// The language server's program, without its folder.
    pub fn program(self) -> &'static str {
        match self {
            Self::Rust => "rust-analyzer",
            Self::Python => "pyright-langserver",
            Self::TypeScript => "typescript-language-server",
            Self::Cpp => "clangd",
            Self::Go => "gopls",
        }
    }

    /// Its arguments.
    pub fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Python | Self::TypeScript => &["--stdio"],
            // As our own table has it: all of an answer, not the first thousand.
            Self::Cpp => &[
                "--background-index",
                "--limit-references=0",
                "--limit-results=0",
                "--rename-file-limit=0",
                "--use-dirty-headers",
            ],
            Self::Rust | Self::Go => &[],
        }
    }

    /// The language, as LSP calls it.
    pub fn language(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::Cpp => "cpp",
            Self::Go => "go",
        }
    }

    /// Names that are used in several files. The first can be renamed.
    pub fn spots(self) -> &'static [Spot] {
        match self {
            Self::Rust => {
                const {
                    &[
                        spot("src/future/maybe_done.rs", "pub enum MaybeDone", "MaybeDone"),
                        spot("src/fns.rs", "pub trait FnOnce1", "FnOnce1"),
                        spot("src/stream/stream/fuse.rs", "pub fn is_done", "is_done"),
                        spot("src/stream/futures_unordered/ready_to_run_queue.rs", "fn enqueue", "enqueue"),
                    ]
                }
            }
            Self::Python => {
                const {
                    &[
                        spot("networkx/utils/misc.py", "def groups(", "groups"),
                        spot("networkx/utils/union_find.py", "class UnionFind", "UnionFind"),
                        spot(
                            "networkx/algorithms/components/connected.py",
                            "def number_connected_components",
                            "number_connected_components",
                        ),
                        spot(
                            "networkx/algorithms/flow/utils.py",
                            "def build_residual_network",
                            "build_residual_network",
                        ),
                    ]
                }
            }
            Self::TypeScript => {
                const {
                    &[
                        spot("internal/util/arrRemove.ts", "export function arrRemove", "arrRemove"),
                        spot("internal/util/isScheduler.ts", "export function isScheduler", "isScheduler"),
                        spot("internal/util/lift.ts", "export function operate", "operate"),
                        spot("internal/scheduler/AsyncAction.ts", "protected requestAsyncId", "requestAsyncId"),
                    ]
                }
            }
            Self::Cpp => {
                const {
                    &[
                        spot("util/coding.cc", "void PutVarint32(", "PutVarint32"),
                        spot("util/crc32c.cc", "uint32_t Extend(", "Extend"),
                        spot("db/dbformat.h", "inline Slice ExtractUserKey", "ExtractUserKey"),
                        spot("table/iterator_wrapper.h", "class IteratorWrapper", "IteratorWrapper"),
                    ]
                }
            }
            Self::Go => {
                const {
                    &[
                        spot("internal/catmsg/codec.go", "type Encoder struct", "Encoder"),
                        spot("unicode/norm/forminfo.go", "type Properties struct", "Properties"),
                        spot("transform/transform.go", "type SpanningTransformer interface", "SpanningTransformer"),
                        spot("transform/transform.go", "func NewReader(", "NewReader"),
                    ]
                }
            }
        }
    }

    /// A copy of the project; none, and it is said, where it or its server is not installed.
    pub fn project(self) -> Option<Project> {
        let from = match self {
            Self::Rust => source_of("futures-util"),
            Self::Python => tools().join("projects/python/networkx"),
            Self::TypeScript => tools().join("projects/node/node_modules/rxjs/src"),
            Self::Cpp => tools().join("projects/node/node_modules/leveldown/deps/leveldb/leveldb-1.20"),
            Self::Go => tools().join("projects/go/usr/share/gocode/src/golang.org/x/text"),
        };
        if !from.is_dir() || !self.server().exists() {
            not_tried(&format!("{}: it or {} is not installed", self.name(), self.program()));
            return None;
        }
        let project = Project::new([]);
        let to = if self == Self::Python { project.path("networkx") } else { project.folder().to_owned() };
        let count = copy(&from, &to, &|path| self.takes(path));
        assert!(count > 100, "{}: {count} files", self.name());
        self.set_up(&project);
        Some(project)
    }

    /// The language server's program.
    pub fn server(self) -> PathBuf {
        programs().join(self.program())
    }

    fn takes(self, path: &Path) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match self {
            Self::Rust => path.is_dir() && name != "benches" || name.ends_with(".rs") || name == "Cargo.toml",
            Self::Python => path.is_dir() && name != "tests" || name.ends_with(".py"),
            Self::TypeScript => path.is_dir() || name.ends_with(".ts"),
            Self::Cpp => path.is_dir() || name.ends_with(".h") || name.ends_with(".cc"),
            // The code for its own build needs modules that are not there.
            Self::Go => {
                path.is_dir() && !["gen", "pipeline", "testdata", "cmd"].contains(&&*name)
                    || name.ends_with(".go") && !name.starts_with("gen") && !name.starts_with("maketables")
            }
        }
    }

    /// Writes the files that tell the server what the project is.
    fn set_up(self, project: &Project) {
        match self {
            // Cargo would want to look for what is not compiled here, such as other versions for tests.
            Self::Rust => {
                let names = ["futures-core", "futures-task", "pin-project-lite", "slab"];
                let root = |folder: &Path, of: &str| folder.join(of).join("lib.rs");
                let mut crates: Vec<_> = names
                    .iter()
                    .map(|name| {
                        json!({ "display_name": name, "root_module": root(&source_of(name), "src"),
                        "edition": "2018", "deps": [], "is_workspace_member": false,
                        "cfg": ["feature=\"std\"", "feature=\"alloc\""] })
                    })
                    .collect();
                let named = |(index, name): (usize, &&str)| json!({ "crate": index, "name": name.replace('-', "_") });
                let deps: Vec<_> = names.iter().enumerate().map(named).collect();
                let features = ["std", "alloc", "slab"].map(|feature| format!("feature=\"{feature}\""));
                crates.push(json!({ "display_name": "futures-util", "root_module": root(project.folder(), "src"),
                    "edition": "2018", "deps": deps, "is_workspace_member": true, "cfg": features }));
                project.write("rust-project.json", &json!({ "crates": crates }).to_string());
            }
            Self::Python => project.write("pyproject.toml", "[project]\nname = \"networkx\"\n"),
            Self::TypeScript => {
                let options = json!({ "target": "es2019", "module": "esnext", "moduleResolution": "bundler",
                    "strict": true, "noEmit": true, "lib": ["es2019", "dom"] });
                let config = json!({ "compilerOptions": options, "include": ["./**/*.ts"] });
                project.write("tsconfig.json", &config.to_string());
                project.write("package.json", "{ \"name\": \"rxjs\" }");
            }
            Self::Cpp => {
                let mut entries = Vec::new();
                for folder in ["db", "table", "util"] {
                    for entry in std::fs::read_dir(project.path(folder)).unwrap() {
                        let path = entry.unwrap().path();
                        if path.extension().is_some_and(|extension| extension == "cc") {
                            let arguments = [
                                "c++",
                                "-std=c++11",
                                "-Iinclude",
                                "-I.",
                                "-DLEVELDB_PLATFORM_POSIX",
                                "-DOS_LINUX",
                                "-c",
                            ]
                            .map(str::to_owned);
                            let arguments: Vec<_> = arguments.into_iter().chain([path.display().to_string()]).collect();
                            entries
                                .push(json!({ "directory": project.folder(), "file": path, "arguments": arguments }));
                        }
                    }
                }
                project.write("compile_commands.json", &json!(entries).to_string());
            }
            Self::Go => project.write("go.mod", "module golang.org/x/text\n\ngo 1.21\n"),
        }
    }
}

/// A `PATH` on which the language servers are found first.
pub fn path() -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([programs()].into_iter().chain(std::env::split_paths(&own))).unwrap()
}

/// Where the language servers' programs are.
pub fn programs() -> PathBuf {
    tools().join("language-servers/bin")
}

/// Where the tests' tools are installed.
pub fn tools() -> PathBuf {
    let home = || Path::new(&std::env::var_os("HOME").unwrap_or_default()).join(".cache/azimuth-tests");
    std::env::var_os("AZIMUTH_TEST_TOOLS").map_or_else(home, PathBuf::from)
}

/// Copies what is taken of a folder. Gives how many files there were.
fn copy(from: &Path, to: &Path, takes: &dyn Fn(&Path) -> bool) -> usize {
    std::fs::create_dir_all(to).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if !takes(&path) {
            continue;
        }
        if path.is_dir() {
            count += copy(&path, &target, takes);
        } else {
            std::fs::copy(&path, &target).unwrap();
            count += 1;
        }
    }
    count
}
