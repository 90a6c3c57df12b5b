//! The table of language servers: those we know, and what the user's and the project's files say of them.
//!
//! The known ones are in `servers.toml`. Files named `lsp` or `.lsp`, in JSON, YAML or TOML, override them field by
//! field. From the lowest to the highest: in the user's home folder, in the folder of the user's configuration, in the
//! project's `.azimuth` folder, in the project itself. The project's count only where it is trusted, since they name
//! programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use project::files::{self, FileError};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The known servers.
const BUILT_IN: &str = include_str!("servers.toml");
/// How configuration files end, the lowest first.
const FORMATS: [&str; 4] = ["json", "toml", "yaml", "yml"];
/// The largest configuration file, in bytes.
const MAX_FILE: usize = 1 << 20;

/// All servers that are known for a project.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The servers, in the order in which they are asked.
    pub servers: Vec<Arc<Definition>>,
    /// After how long without a question a server is ended, if a file says so. Zero is never.
    pub idle: Option<Duration>,
    /// The faults in the files. What is right in them counts.
    pub problems: Vec<Problem>,
    languages: BTreeMap<String, Arc<str>>,
}

/// The definition of a server, known before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its program: a name, or a path.
    pub command: String,
    /// The program's arguments.
    pub args: Vec<String>,
    /// A command that installs it, where one does whatever the system.
    pub install: Option<String>,
    /// The endings of the files that it is for, without dot, or whole names such as `Dockerfile`.
    pub file_types: Vec<String>,
    /// The files and folders in the folder of a project of its kind, each a name or a glob.
    pub root_markers: Vec<String>,
    /// The value that it is given as `initializationOptions`.
    pub init_options: Value,
    /// The value that it is given as its settings.
    pub settings: Value,
    /// How long it may take to start; without it a minute.
    pub warmup: Option<Duration>,
    /// True if it knows of style rather than of types: it is asked for problems, actions and format only.
    pub is_linter: bool,
    /// Only the first server of a group that is there is used.
    pub group: Option<String>,
    /// The commands of it that do nothing but ask for an edit, so that actions with them can be shown as edits.
    pub edit_commands: Vec<String>,
    /// True if it says by `experimental/serverStatus` when it has read the project.
    pub says_status: bool,
    /// The words in its log that say that it has found the project's files, as globs. Until it has, what it says of the
    /// whole project is not whole. Empty if it is not known to say so.
    pub says_files: Vec<String>,
    /// The options added to the change of a text that only sends it once more, so that its problems are told again.
    pub resend_options: Map<String, Value>,
    /// The caches that it writes besides what the sandbox grants, in the home folder or by a variable (`$CACHE/…`).
    /// Only what is built in says that.
    pub caches: Vec<String>,
    /// The file that names its program, if it is not a built-in one.
    pub from: Option<PathBuf>,
    /// All files that say something of it.
    pub said_by: Vec<PathBuf>,
}

impl Definition {
    /// That its program was not found, and how to get it, in words.
    pub fn missing(&self) -> String {
        let hint = self.install.as_ref().map(|command| format!("; `{command}` installs it")).unwrap_or_default();
        format!("`{}` was found neither in the project nor where programs are{hint}", self.command)
    }
}

/// Something that is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// It cannot be read, so nothing of it counts.
    #[error("{error}; nothing of it counts")]
    Unreadable {
        /// Why.
        error: FileError,
    },
    /// It cannot be understood, so nothing of it counts.
    #[error("{}: {reason}; nothing of it counts", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// An entry for a server, or another key, cannot be understood, so that does not count.
    #[error("{}: `{key}`: {reason}; that does not count, the rest does", file.display())]
    Entry {
        /// The file.
        file: PathBuf,
        /// The server, or the key.
        key: String,
        /// Why.
        reason: String,
    },
    /// A server that is not built in lacks something in all files together.
    #[error("{}: the server `{name}` is not a built-in one and has no `{field}`; it is not used", file.display())]
    Incomplete {
        /// The last file that speaks of it.
        file: PathBuf,
        /// The server.
        name: String,
        /// The field that it lacks.
        field: &'static str,
    },
}

/// Where configuration files are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Places<'p> {
    /// The user's home folder.
    pub home: Option<&'p Path>,
    /// The folder of the user's configuration.
    pub user: Option<&'p Path>,
    /// The project's folder, if it is trusted.
    pub project: Option<&'p Path>,
}

/// The servers that are known whatever files say.
pub(super) fn built_in() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::load(Places { home: None, user: None, project: None }));
    &TABLE
}

impl Table {
    /// The table for a project, with what its and the user's files say. Asks the disk.
    pub fn load(places: Places<'_>) -> Self {
        let mut merged = Merged::default();
        merged.built_in();
        for file in candidates(places) {
            // The project's own are a stranger's; the user keeps theirs where they like.
            let read = match places.project.filter(|project| file.starts_with(project)) {
                Some(project) => files::read_beneath(project, &file),
                None => files::read_of_user(&file),
            };
            match read {
                Err(FileError::NotFound { .. }) => {}
                Err(error) => merged.problems.push(Problem::Unreadable { error }),
                Ok(read) => merged.file(&file, &read.text),
            }
        }
        merged.finish()
    }

    /// True if a file is one of those that say something of servers.
    pub fn is_made_of(places: Places<'_>, path: &Path) -> bool {
        candidates(places).iter().any(|file| file == path)
    }

    /// Returns the language of a file, by the name that the protocol has for it.
    pub fn language(&self, path: &Path) -> Arc<str> {
        let known = endings(path).into_iter().find_map(|ending| self.languages.get(&ending));
        known.cloned().unwrap_or_else(|| "plaintext".into())
    }

    /// The servers for a kind of file.
    pub fn for_file(&self, path: &Path) -> impl Iterator<Item = &Arc<Definition>> {
        let endings = endings(path);
        self.servers.iter().filter(move |server| server.knows_one_of(&endings))
    }
}

impl Definition {
    /// True if it is for a kind of file.
    pub fn is_for(&self, path: &Path) -> bool {
        self.knows_one_of(&endings(path))
    }

    fn knows_one_of(&self, endings: &[String]) -> bool {
        self.file_types.iter().any(|known| endings.iter().any(|ending| known.eq_ignore_ascii_case(ending)))
    }
}

/// Returns the names that a file may be known by: its name, and its endings, the longest first.
fn endings(path: &Path) -> Vec<String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let dots: Vec<usize> = name.match_indices('.').map(|(at, _)| at + 1).collect();
    let endings: Vec<_> = dots.into_iter().filter_map(|at| name.get(at..).map(str::to_owned)).collect();
    std::iter::once(name).chain(endings).collect()
}

/// The files that may be there, the lowest first.
fn candidates(places: Places<'_>) -> Vec<PathBuf> {
    let azimuth = places.project.map(|project| project.join(".azimuth"));
    let (home, user, project) = (places.home, places.user, places.project);
    let plain: &[&str] = &["lsp"];
    let both: &[&str] = &["lsp", ".lsp"];
    let folders = [(home, both), (user, plain), (azimuth.as_deref(), plain), (project, both)];
    let mut files: Vec<PathBuf> = Vec::new();
    for (folder, names) in folders {
        let Some(folder) = folder else { continue };
        for (format, name) in FORMATS.iter().flat_map(|format| names.iter().map(move |name| (format, name))) {
            let file = folder.join(format!("{name}.{format}"));
            // Where a project is the home folder, its files are the user's.
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

#[derive(Default)]
struct Merged {
    servers: Vec<(String, Fields)>,
    languages: BTreeMap<String, Arc<str>>,
    idle: Option<Duration>,
    problems: Vec<Problem>,
}

/// The fields that a file has for a server.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fields {
    command: Option<String>,
    args: Option<Vec<String>>,
    install: Option<String>,
    file_types: Option<Vec<String>>,
    root_markers: Option<Vec<String>>,
    init_options: Option<Value>,
    settings: Option<Value>,
    disabled: Option<bool>,
    warmup_timeout_ms: Option<u64>,
    is_linter: Option<bool>,
    group: Option<String>,
    edit_commands: Option<Vec<String>>,
    says_status: Option<bool>,
    says_files: Option<Vec<String>>,
    resend_options: Option<Map<String, Value>>,
    caches: Option<Vec<String>>,
    /// Fields that other programs may know: they are named, and the rest counts.
    #[serde(flatten)]
    unknown: Map<String, Value>,
    #[serde(skip)]
    said_by: Vec<PathBuf>,
    /// The file that said something last, and the one that named the program.
    #[serde(skip)]
    from: Option<PathBuf>,
    #[serde(skip)]
    command_from: Option<PathBuf>,
}

impl Merged {
    fn built_in(&mut self) {
        // That it can be read is tested.
        if let Ok(Value::Object(content)) = toml::from_str(BUILT_IN) {
            self.content(None, content);
        }
    }

    fn file(&mut self, file: &Path, text: &str) {
        match parse(file, text) {
            Ok(Value::Object(content)) => self.content(Some(file), content),
            // An empty file in YAML.
            Ok(Value::Null) => {}
            Ok(_) => self.malformed(file, "it has to hold keys and values".to_owned()),
            Err(reason) => self.malformed(file, reason),
        }
    }

    fn content(&mut self, file: Option<&Path>, mut content: Map<String, Value>) {
        content.remove("$schema");
        if let Some(idle) = content.remove("idleTimeoutMs") {
            match idle.as_u64() {
                Some(idle) => self.idle = Some(Duration::from_millis(idle)),
                None => self.entry(file, "idleTimeoutMs", "it is not a number of milliseconds".to_owned()),
            }
        }
        if let Some(languages) = content.remove("languages") {
            match serde_json::from_value::<BTreeMap<String, Arc<str>>>(languages) {
                Ok(languages) => self.languages.extend(languages.into_iter().map(|(end, id)| (plain(&end), id))),
                Err(error) => self.entry(file, "languages", error.to_string()),
            }
        }
        let servers = match content.remove("servers") {
            Some(Value::Object(servers)) => {
                for key in content.keys() {
                    self.entry(file, key, "unknown key".to_owned());
                }
                servers
            }
            Some(_) => return self.entry(file, "servers", "it has to hold servers by their names".to_owned()),
            None => content,
        };
        for (name, fields) in servers {
            match serde_json::from_value::<Fields>(fields) {
                Ok(Fields { caches: Some(_), .. }) if file.is_some() => {
                    let words = "`caches` is for built-in servers; name in `sandbox_write` what it may write";
                    self.entry(file, &name, words.to_owned());
                }
                Ok(fields) => {
                    for field in fields.unknown.keys() {
                        self.entry(file, &name, format!("unknown field `{field}`"));
                    }
                    self.server(file, name, fields);
                }
                Err(error) => self.entry(file, &name, error.to_string()),
            }
        }
    }

    fn server(&mut self, file: Option<&Path>, name: String, fields: Fields) {
        let at = self.servers.iter().position(|(known, _)| *known == name);
        let at = at.unwrap_or_else(|| {
            self.servers.push((name, Fields::default()));
            self.servers.len() - 1
        });
        if let Some((_, known)) = self.servers.get_mut(at) {
            known.take(fields, file);
        }
    }

    fn malformed(&mut self, file: &Path, reason: String) {
        self.problems.push(Problem::Malformed { file: file.to_owned(), reason });
    }

    fn entry(&mut self, file: Option<&Path>, key: &str, reason: String) {
        let file = file.unwrap_or(Path::new("servers.toml")).to_owned();
        self.problems.push(Problem::Entry { file, key: key.to_owned(), reason });
    }

    fn finish(mut self) -> Table {
        let mut servers = Vec::new();
        for (name, fields) in std::mem::take(&mut self.servers) {
            if fields.disabled == Some(true) {
                continue;
            }
            let file = fields.from.clone().unwrap_or_default();
            match fields.finish(name.clone()) {
                Ok(definition) => servers.push(Arc::new(definition)),
                Err(field) => self.problems.push(Problem::Incomplete { file, name, field }),
            }
        }
        // Servers that the user or the project names are asked before built-in ones, and of a group they are the one.
        servers.sort_by_key(|server| server.from.is_none());
        Table { servers, idle: self.idle, problems: self.problems, languages: self.languages }
    }
}

impl Fields {
    /// Takes what another says over what this one says.
    fn take(&mut self, other: Self, file: Option<&Path>) {
        fn over<T>(field: &mut Option<T>, other: Option<T>) {
            if other.is_some() {
                *field = other;
            }
        }
        if other.command.is_some() {
            self.command_from = file.map(Path::to_owned);
            // A command that installs another program does not install this one.
            self.install = None;
        }
        self.from = file.map(Path::to_owned);
        self.said_by.extend(self.from.clone());
        over(&mut self.caches, other.caches);
        over(&mut self.command, other.command);
        over(&mut self.args, other.args);
        over(&mut self.install, other.install);
        over(&mut self.file_types, other.file_types);
        over(&mut self.root_markers, other.root_markers);
        over(&mut self.init_options, other.init_options);
        over(&mut self.settings, other.settings);
        over(&mut self.disabled, other.disabled);
        over(&mut self.warmup_timeout_ms, other.warmup_timeout_ms);
        over(&mut self.is_linter, other.is_linter);
        over(&mut self.group, other.group);
        over(&mut self.edit_commands, other.edit_commands);
        over(&mut self.says_status, other.says_status);
        over(&mut self.says_files, other.says_files);
        over(&mut self.resend_options, other.resend_options);
    }

    fn finish(self, name: String) -> Result<Definition, &'static str> {
        Ok(Definition {
            name,
            command: self.command.filter(|command| !command.is_empty()).ok_or("command")?,
            args: self.args.unwrap_or_default(),
            install: self.install,
            file_types: self.file_types.ok_or("fileTypes")?.iter().map(|end| plain(end)).collect(),
            root_markers: self.root_markers.ok_or("rootMarkers")?,
            init_options: self.init_options.unwrap_or_default(),
            settings: self.settings.unwrap_or_default(),
            warmup: self.warmup_timeout_ms.map(Duration::from_millis),
            is_linter: self.is_linter.unwrap_or_default(),
            group: self.group,
            edit_commands: self.edit_commands.unwrap_or_default(),
            says_status: self.says_status.unwrap_or_default(),
            says_files: self.says_files.unwrap_or_default(),
            resend_options: self.resend_options.unwrap_or_default(),
            caches: self.caches.unwrap_or_default(),
            from: self.command_from,
            said_by: self.said_by,
        })
    }
}

/// An ending without its dot.
fn plain(ending: &str) -> String {
    ending.trim_start_matches('.').to_owned()
}

fn parse(file: &Path, text: &str) -> Result<Value, String> {
    if text.len() > MAX_FILE {
        return Err(format!("it is larger than {MAX_FILE} bytes"));
    }
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("json") => serde_json::from_str(text).map_err(|error| error.to_string()),
        Some("toml") => toml::from_str(text).map_err(|error| error.message().to_owned()),
        _ => serde_saphyr::from_str(text).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files itself")]
mod tests {
    use super::*;

    fn load(files: &[(&str, &str)], trusted: bool) -> (tempfile::TempDir, Table) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let (home, user, project) =
            (folder.path().join("home"), folder.path().join("user"), folder.path().join("project"));
        let places = Places { home: Some(&home), user: Some(&user), project: trusted.then_some(&*project) };
        let table = Table::load(places);
        (folder, table)
    }

    fn server<'t>(table: &'t Table, name: &str) -> &'t Definition {
        table.servers.iter().find(|server| server.name == name).unwrap()
    }

    #[test]
    fn the_built_in_table_has_no_faults() {
        let (_, table) = load(&[], true);
        assert_eq!(table.problems, []);
        assert!(table.servers.len() >= 52, "{}", table.servers.len());
        for server in &table.servers {
            assert!(!server.root_markers.is_empty() && !server.file_types.is_empty(), "{}", server.name);
            for ending in &server.file_types {
                assert!(table.languages.contains_key(ending), "{}: what is `{ending}` written in?", server.name);
            }
        }
        assert_eq!(&*table.language(Path::new("/x/App.tsx")), "typescriptreact");
        assert_eq!(&*table.language(Path::new("/x/Dockerfile")), "dockerfile");
    }

    #[test]
    fn files_override_field_by_field_from_home_to_the_project_itself() {
        let (_, table) = load(
            &[
                ("home/.lsp.yaml", "pyright:\n  args: [home]\n  settings: {a: 1}\nidleTimeoutMs: 1000\n"),
                ("user/lsp.toml", "[servers.pyright]\nargs = [\"user\"]\n[servers.clangd]\ndisabled = true\n"),
                ("project/.azimuth/lsp.json", r#"{"pyright": {"args": ["azimuth"], "isLinter": true}}"#),
                ("project/lsp.yml", "servers:\n  pyright: {args: [project]}\nidleTimeoutMs: 0\n"),
            ],
            true,
        );
        assert_eq!(table.problems, []);
        let pyright = server(&table, "pyright");
        assert_eq!((&*pyright.command, &*pyright.args), ("pyright-langserver", &["project".to_owned()][..]));
        assert!(pyright.is_linter && pyright.settings["a"] == 1);
        assert!(pyright.missing().ends_with("; `npm install -g pyright` installs it"), "{}", pyright.missing());
        assert_eq!(table.idle, Some(Duration::ZERO));
        assert!(table.servers.iter().all(|server| server.name != "clangd"));
    }

    #[test]
    fn how_to_install_a_server_is_not_said_of_another_program() {
        let (_, table) = load(&[("user/lsp.toml", "[servers.pyright]\ncommand = \"my-pyright\"\n")], true);
        let wanted = "`my-pyright` was found neither in the project nor where programs are";
        assert_eq!(server(&table, "pyright").missing(), wanted);
    }

    #[test]
    fn the_files_of_a_project_that_is_not_trusted_do_not_count() {
        let evil = ("project/lsp.json", r#"{"evil": {"command": "./evil", "fileTypes": ["c"], "rootMarkers": ["."]}}"#);
        assert!(load(&[evil], false).1.servers.iter().all(|server| server.name != "evil"));
        assert_eq!(load(&[evil], true).1.servers.first().unwrap().name, "evil");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said_and_the_rest_counts() {
        let (folder, table) = load(
            &[
                ("home/lsp.json", "{ this is no JSON"),
                ("home/lsp.yaml", "a: &a [*a, *a]\n"),
                (
                    "user/lsp.json",
                    r#"{"pyright": {"argz": [], "args": ["-x"]}, "gopls": {"args": ["-v"]}, "idleTimeoutMs": "soon"}"#,
                ),
                ("user/lsp.toml", "[servers.mine]\ncommand = \"mine\"\nfileTypes = [\".me\"]\n"),
            ],
            true,
        );
        let problems: Vec<String> = table.problems.iter().map(ToString::to_string).collect();
        let said = |words: &[&str]| problems.iter().any(|problem| words.iter().all(|word| problem.contains(word)));
        assert!(said(&["home/lsp.json", "line 1"]), "{problems:#?}");
        assert!(said(&["home/lsp.yaml"]), "{problems:#?}");
        assert!(said(&["user/lsp.json", "`pyright`", "unknown field `argz`"]), "{problems:#?}");
        assert!(said(&["user/lsp.json", "`idleTimeoutMs`"]), "{problems:#?}");
        assert!(said(&["user/lsp.toml", "`mine`", "no `rootMarkers`"]), "{problems:#?}");
        assert_eq!(server(&table, "gopls").args, ["-v"]);
        assert_eq!(server(&table, "pyright").args, ["-x"], "what else is said of it counts");
        drop(folder);
    }
}
