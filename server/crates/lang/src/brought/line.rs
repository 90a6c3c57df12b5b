//! The files of the project that a command line may lead to.
//!
//! It is not for us to know which programs run what their arguments say: there are wrappers, shells, interpreters and
//! launchers without number. So every word of the line counts, wherever it stands, as the name of a program and as that
//! of a file, a folder, a module or a package, in each way in which some program understands it.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use process::programs::is_program;
use serde_json::Value;

use super::super::detect::LOCAL;
use super::super::table;
use super::{beginning, runners};

/// In so many of the folders that a line names is looked for what else it names.
const MOST_FOLDERS: usize = 16;
/// So much is read of a package's manifest, in bytes.
const MOST_OF_MANIFEST: u64 = 1 << 20;

/// The endings that interpreters and loaders add to the name that they are given.
const ENDINGS: &[&str] = &[
    "R", "bash", "bb", "beam", "cjs", "class", "clj", "cljc", "cljs", "cts", "dart", "dll", "ex", "exe", "exs", "fish",
    "fnl", "go", "groovy", "hs", "jar", "jl", "js", "json", "jsx", "kts", "lua", "mjs", "ml", "mts", "node", "phar",
    "php", "pl", "pm", "ps1", "py", "pyc", "rb", "rkt", "sc", "scala", "scm", "sh", "so", "swift", "tcl", "ts", "tsx",
    "wasm", "zsh",
];

/// The files of a folder that are run if the folder is named in the place of a file.
const ENTRIES: &[&str] = &["__init__", "__main__", "index", "main", "mod", "server"];

/// The files, modules and programs that a command line leads to, as far as they are there.
#[derive(Default)]
pub(super) struct Reach {
    /// The files and folders that its words may mean, and the files that its programs read.
    pub(super) named: BTreeSet<PathBuf>,
    /// The files that programs find in the folders above the one in which they are started, up to the user's home
    /// folder. They are the project's, also if they lie above the workspace.
    pub(super) around: BTreeSet<PathBuf>,
    /// The programs of its words, each the first in `PATH`.
    pub(super) programs: BTreeSet<PathBuf>,
    /// The modules that Python finds in the folder in which it is started, before all others of their names.
    pub(super) modules: BTreeSet<PathBuf>,
}

/// Returns what the command line of a program leads to that is started in this folder. Asks the disk.
pub(super) fn reach(program: &Path, args: &[String], root: &Path, search: Option<&OsStr>) -> Reach {
    let name = program.to_string_lossy();
    let all: Vec<&str> = std::iter::once(&*name).chain(args.iter().flat_map(|arg| words(arg))).collect();
    let mut look = Look { root, names: HashMap::new(), reach: Reach::default() };
    if known_server(&all) > 0 {
        // It takes its code from where it is installed, but for what it is given by a path.
        let is_path = |word: &&str| word.contains(['/', '.']);
        let words = args.iter().flat_map(|arg| words(arg).chain([arg.as_str()]));
        let named = words.flat_map(pieces).filter(|piece| is_path(&piece.as_str()));
        look.reach.named.extend(named.map(|piece| root.join(piece)).filter(|path| path.is_file()));
        return look.reach;
    }
    let (names, kept) = without_subcommands(&all);
    let rest = kept.get(1..).unwrap_or_default();
    let phrases = args.iter().filter(|arg| words(arg).count() > 1 || arg.starts_with('-')).map(String::as_str);
    let split = rest.iter().copied().chain(phrases).flat_map(pieces);
    let in_code =
        args.iter().filter(|arg| is_code(arg)).flat_map(|arg| of_code(arg).into_iter().chain(with_blanks(arg)));
    let of_globs = args.iter().flat_map(|arg| words(arg)).flat_map(pieces).filter_map(|piece| of_glob(&piece));
    let meant: BTreeSet<String> = split.chain(in_code).chain(of_globs).collect();

    let folders = look.named(&meant);
    look.packages(&meant.into_iter().chain(names.iter().map(|name| (*name).to_owned())).collect());
    look.read(&folders, &runners::files_of(&kept));
    if finds_modules(&kept) {
        look.modules();
    }
    let named = names.iter().skip(1).filter(|word| !word.contains('/'));
    let found = named.filter_map(|word| in_path(word, search));
    look.reach.programs.extend(found);
    look.reach
}

/// The words of an argument: where it is code for a shell, those between its signs. A dot that is a command of the
/// shell's names no folder.
fn words(arg: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || "'\"`;&|()<>{}$=".contains(c);
    let commands = arg.split([';', '&', '|', '(', '{', '`', '\n']);
    let commands = commands.map(|command| command.trim_start().strip_prefix(". ").unwrap_or(command));
    commands.flat_map(move |command| command.split(is_between)).filter(|word| !word.is_empty())
}

/// How many words a command line begins with that are a server which is built in: its name, with its arguments where
/// those make it one. 0 where it is another program.
fn known_server(line: &[&str]) -> usize {
    let Some((first, rest)) = line.split_first() else { return 0 };
    let known = table::built_in().servers.iter().filter(|server| server.command == runners::base(first));
    let lengths = known.filter_map(|server| {
        let args: Vec<&str> = server.args.iter().flat_map(|arg| words(arg)).collect();
        let is_whole = rest.starts_with(&args);
        (is_whole || !runners::is_runner(first)).then_some(1 + if is_whole { args.len() } else { 0 })
    });
    lengths.max().unwrap_or(0)
}

/// A command line without what tells the servers in it that they are to be servers. Their names stay, since a launcher
/// before them, and `PATH`, may know a program of the project by it. Gives its names, and what of them may be anything
/// else: not those that are launchers elsewhere, and a server here.
fn without_subcommands<'a>(line: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let (mut names, mut kept, mut at) = (Vec::new(), Vec::new(), 0);
    while let Some(word) = line.get(at) {
        let length = line.get(at..).map_or(0, known_server);
        names.push(*word);
        kept.extend((length < 2 || !runners::is_runner(word)).then_some(*word));
        at += length.max(1);
    }
    (names, kept)
}

/// Returns what a word may name: itself, its parts, what stands behind the letter of an option, and a module's path.
fn pieces(word: &str) -> Vec<String> {
    let parts = word.split([':', ',', '@', '[', ']']).filter(|part| !part.is_empty());
    let mut pieces: Vec<&str> = std::iter::once(word).chain(parts).collect();
    let options: Vec<&str> = pieces.iter().filter_map(|word| word.strip_prefix('-')).collect();
    for letters in options.into_iter().filter(|letters| !letters.starts_with('-')) {
        pieces.extend(letters.get(1..));
        // Behind other letters Python is given a module so: `-Im`.
        pieces.extend(letters.split_once('m').map(|(_, module)| module));
    }
    let modules = pieces.iter().filter(|word| word.contains("::")).map(|word| word.replace("::", "/"));
    let dotted = pieces.iter().filter(|word| !word.contains('/') && is_dotted(word)).map(|word| word.replace('.', "/"));
    let more: Vec<String> = modules.chain(dotted).collect();
    pieces.into_iter().filter(|word| !word.is_empty()).map(str::to_owned).chain(more).collect()
}

/// True if it may be the name of a module in a module: `a.b`.
fn is_dotted(word: &str) -> bool {
    word.split('.').count() > 1 && word.split('.').all(|part| !part.is_empty())
}

/// True if an argument may be code for a shell.
fn is_code(arg: &str) -> bool {
    arg.contains(|c: char| c.is_whitespace() || c == '$' || c == '`' || c == '~')
}

/// Returns what words of code may mean: paths that begin with what only a shell knows, and those that globs stand for.
fn of_code(code: &str) -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let mut found = Vec::new();
    for word in words(code) {
        let is_expanded = code.contains(['$', '`']);
        match word.split_once('/') {
            Some(("~" | "HOME", below)) => found.push(format!("{home}/{below}")),
            Some((_, below)) if is_expanded && !below.is_empty() => found.push(below.to_owned()),
            None if is_expanded && matches!(word, "PWD" | "pwd") => found.push(".".to_owned()),
            _ => {}
        }
        let is_test = matches!(word, "?" | "[" | "[[" | "]" | "]]");
        if !is_test && let Some((fixed, _)) = word.split_once(GLOB) {
            found.push(folder_of(fixed));
        }
    }
    found
}

/// The signs that make a glob of a word.
const GLOB: [char; 3] = ['*', '?', '['];

/// The folder of what a glob stands for that not only a shell may know, such as Java's `lib/*`.
fn of_glob(word: &str) -> Option<String> {
    let (fixed, _) = word.split_once(GLOB)?;
    (fixed.contains('/') || word == "*").then(|| folder_of(fixed))
}

/// The folder that a path lies in of which this is the beginning.
fn folder_of(fixed: &str) -> String {
    let folder = fixed.rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder });
    folder.to_owned()
}

/// Words of code that have blanks in them: in quotes, or behind backslashes.
fn with_blanks(code: &str) -> Vec<String> {
    let quoted = ['\'', '"'].into_iter().flat_map(|quote| code.split(quote).skip(1).step_by(2));
    let mut found: Vec<String> = quoted.filter(|run| run.contains(' ')).map(str::to_owned).collect();
    if code.contains("\\ ") {
        let joined = code.replace("\\ ", "\0");
        let joined = joined.split_whitespace().filter(|word| word.contains('\0'));
        found.extend(joined.map(|word| word.replace('\0', " ")));
    }
    found
}

/// True if Python looks for modules in the folder in which it is started: where it is given one or code to run, and no
/// option that keeps it from that.
fn finds_modules(line: &[&str]) -> bool {
    let is_python = |word: &&str| runners::is_one_of(word, &["ipython", "pypy", "python"]);
    let Some(at) = line.iter().position(is_python) else { return false };
    let (mut words, mut may_be_value) = (line.iter().skip(at + 1), false);
    while let Some(word) = words.next() {
        match word.strip_prefix('-') {
            // Code from its input.
            Some("") => return true,
            Some(long) if long.starts_with('-') => may_be_value = true,
            Some(letters) => match letters.find(['c', 'm', 'I', 'P', 'W', 'X']).map(|at| letters.split_at(at)) {
                Some((_, told)) if told.starts_with(['c', 'm']) => return true,
                Some((_, isolated)) if isolated.starts_with(['I', 'P']) => return false,
                // The value of these stands behind them, or is the next word.
                Some((_, "W" | "X")) => drop(words.next()),
                _ => {}
            },
            None if std::mem::take(&mut may_be_value) => {}
            // A script: it finds what lies beside it.
            None => return false,
        }
    }
    false
}

/// The first program of a name.
fn in_path(name: &str, search: Option<&OsStr>) -> Option<PathBuf> {
    let mut places = search.into_iter().flat_map(std::env::split_paths).map(|folder| folder.join(name));
    places.find(|path| path.is_absolute() && is_program(path))
}

/// True if what programs find in a folder is the project's, though it may lie above the workspace: not in the user's
/// home folder, the system's, or above them.
fn is_around(folder: &Path) -> bool {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let real = home.as_ref().and_then(|home| home.canonicalize().ok());
    let mut kept = [home, real, Some(PathBuf::from("/usr/bin"))].into_iter().flatten();
    !kept.any(|kept| kept.starts_with(folder))
}

impl Reach {
    fn list(&mut self, is_around: bool) -> &mut BTreeSet<PathBuf> {
        if is_around { &mut self.around } else { &mut self.named }
    }
}

/// A look at what a command line leads to.
struct Look<'a> {
    root: &'a Path,
    /// The names in folders that were looked at.
    names: HashMap<PathBuf, Vec<OsString>>,
    reach: Reach,
}

impl Look<'_> {
    /// Notes the files and folders that words name in the folder and in those that they name, also without their
    /// endings. Gives the folders.
    fn named(&mut self, words: &BTreeSet<String>) -> Vec<PathBuf> {
        let (mut folders, mut at) = (vec![self.root.to_owned()], 0);
        while let Some(folder) = folders.get(at).cloned().filter(|_| at < MOST_FOLDERS) {
            for word in words.iter().filter(|word| at == 0 || !word.starts_with('/')) {
                let path: PathBuf = folder.join(word).components().collect();
                let is_folder = path.is_dir();
                if is_folder && !folders.contains(&path) {
                    let entries = self.entries(&path);
                    self.reach.named.extend(entries);
                    folders.push(path.clone());
                }
                if !word.ends_with('.') {
                    let files = self.without_ending(&path);
                    self.reach.named.extend(files);
                }
                // A module is run with what it lies in.
                let above = path.ancestors().skip(1).take_while(|above| above.starts_with(&folder) && *above != folder);
                let packages = above.map(|above| above.join("__init__.py")).filter(|file| file.exists());
                self.reach.named.extend(packages);
                self.reach.named.extend((is_folder || path.exists()).then_some(path));
            }
            at += 1;
        }
        folders
    }

    /// The files that a path means which lacks their endings.
    fn without_ending(&mut self, path: &Path) -> Vec<PathBuf> {
        let (folder, name) = (path.parent(), path.file_name().and_then(OsStr::to_str));
        let Some((folder, name)) = folder.zip(name) else { return Vec::new() };
        let is_it = |file: &&OsString| {
            let ending = file.to_str().and_then(|file| file.strip_prefix(name)?.strip_prefix('.'));
            ending.is_some_and(|ending| ENDINGS.contains(&ending))
        };
        self.names_in(folder).iter().filter(is_it).map(|file| folder.join(file)).collect()
    }

    /// Returns the files of a folder that are run if the folder is named in the place of a file.
    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let mut entries: Vec<PathBuf> =
            ENTRIES.iter().flat_map(|name| self.without_ending(&folder.join(name))).collect();
        let manifest = folder.join("package.json");
        let Ok(text) = beginning(&manifest, MOST_OF_MANIFEST) else { return entries };
        let said: Value = serde_json::from_str(&text).unwrap_or_default();
        for path in ["bin", "exports", "main", "module"].iter().filter_map(|key| said.get(key)).flat_map(texts) {
            let path: PathBuf = folder.join(path).components().collect();
            entries.extend(self.without_ending(&path));
            entries.extend(path.is_file().then_some(path));
        }
        entries.push(manifest);
        entries
    }

    /// Notes the programs and packages of projects that words name: those of the folder and of all above it, where
    /// launchers look for them.
    fn packages(&mut self, words: &BTreeSet<String>) {
        let is_name = |word: &&String| {
            let mut parts = Path::new(word.as_str()).components();
            !word.starts_with('-') && parts.all(|part| matches!(part, Component::Normal(_)))
        };
        let words: Vec<&String> = words.iter().filter(is_name).collect();
        for above in self.root.ancestors() {
            let is_around = is_around(above);
            for local in LOCAL.iter().chain(&["node_modules"]) {
                let folder = above.join(local);
                if !folder.is_dir() {
                    continue;
                }
                for path in words.iter().map(|word| folder.join(word)).filter(|path| path.exists()) {
                    let entries = if path.is_dir() { self.entries(&path) } else { Vec::new() };
                    // A folder `bin` above the workspace is nobody's that is known here.
                    let found = self.reach.list(is_around && *local != "bin");
                    found.extend(entries);
                    found.insert(path);
                }
            }
        }
    }

    /// Notes these files, which programs read, in these folders and all above them.
    fn read(&mut self, folders: &[PathBuf], files: &[&str]) {
        for folder in folders {
            for above in folder.ancestors() {
                let is_around = folder == self.root && is_around(above);
                for file in files {
                    let found = match file.strip_prefix('*') {
                        None => vec![above.join(file)],
                        Some(ending) => {
                            let is_it = |name: &&OsString| name.to_str().is_some_and(|name| name.ends_with(ending));
                            self.names_in(above).iter().filter(is_it).map(|name| above.join(name)).collect()
                        }
                    };
                    self.reach.list(is_around).extend(found.into_iter().filter(|path| path.exists()));
                }
            }
        }
    }

    /// Notes what Python can import of the folder.
    fn modules(&mut self) {
        let root = self.root;
        let names = self.names_in(root).iter().map(|name| root.join(name));
        let is_file = |path: &Path| path.extension().is_some_and(|end| end == "py" || end == "pyc" || end == "so");
        let is_module = |path: &PathBuf| is_file(path) || path.join("__init__.py").exists();
        let modules: Vec<PathBuf> = names.filter(is_module).collect();
        self.reach.modules.extend(modules);
    }

    fn names_in(&mut self, folder: &Path) -> &[OsString] {
        self.names.entry(folder.to_owned()).or_insert_with(|| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name()).collect()
        })
    }
}

/// All texts in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
