//! Files generated from the crate `protocol`: JSON schema, TypeScript and Lua types, the method part of
//! `docs/protocol.md`, what stands of its settings in the documentation and the VS Code extension, and the editors'
//! tables of modes; and those from the vendors' data file.
//!
//! Reading order: [`schema`] gathers the schemas of all methods into one document, [`model`] reads that document into
//! the few shapes our types have, and each of [`typescript`], [`lua`] and [`markdown`] writes the model out.
//! [`settings`], [`modes`] and [`vendors`] have no part in that.
#![expect(clippy::disallowed_methods, reason = "a development tool: it reads and writes the project's own files")]

pub mod schema;

pub mod model;

pub mod typescript;

pub mod lua;

pub mod markdown;

pub mod modes;

pub mod settings;

pub mod vendors;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::Protocol;
use protocol::settings::SETTINGS;
use protocol::turn::StopReason;
use settings::{document, vscode};

/// The command that writes the generated files.
pub const COMMAND: &str = "cargo run -p xtask -- codegen";

const SCHEMA: &str = "docs/protocol.schema.json";
const TYPESCRIPT: &str = "editors/vscode/src/generated/protocol.ts";
const LUA: &str = "editors/nvim/lua/azimuth/generated/protocol.lua";
const DOCUMENT: &str = "docs/protocol.md";
const CONFIG_SCHEMA: &str = "docs/config.schema.json";
const CONFIGURATION: &str = "docs/configuration.md";
const GUIDE: &str = "docs/vscode.md";
const MANIFEST: &str = "editors/vscode/package.json";
const NAMES: &str = "editors/vscode/src/generated/settings.ts";
const MODES: &str = "editors/vscode/src/generated/modes.ts";
const MODES_LUA: &str = "editors/nvim/lua/azimuth/generated/modes.lua";
const VENDORS: &str = "editors/vscode/src/generated/vendors.ts";
const VENDORS_LUA: &str = "editors/nvim/lua/azimuth/generated/vendors.lua";

/// The data file of vendors.
const DATA: &str = "server/crates/providers/src/providers.toml";

/// The text for clients about [`said_by_error`].
const SAID_BY_ERROR: &str = "The reasons that `turnEnded` says as a whole in its `error`, so that no words are added.";

/// Why the files could not be generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file has lost the mark at which a generated part stands.
    #[error("{path} must hold {mark:?} once, before what is generated; put it back")]
    Marks {
        /// The file.
        path: PathBuf,
        /// The mark that is missing.
        mark: &'static str,
    },
    /// A type travels both ways, and what is optional in it differs by the way.
    #[error(
        "the type {0} is sent by both sides, and has a field that only the reader may leave out; \
         give it `skip_serializing_if`, or make it required"
    )]
    TwoForms(String),
    /// A type has a shape that is not one of ours.
    #[error("{place} has a shape that our documents and types do not know: {schema}")]
    UnknownShape {
        /// The type, or its field.
        place: String,
        /// Its schema.
        schema: String,
    },
    /// Two types would get the same name.
    #[error("two types are called {0}")]
    SameName(String),
}

/// The text for clients about `Event::UNSEEN`.
const UNSEEN: &str = "The events that people see nothing of.";

/// The text for clients about `Event::SPOKEN`.
const SPOKEN: &str = "The events that say in their own words, in `severity` and `text`, all that people see of them.";

/// The names of kinds of events, as clients call them.
fn as_clients(kinds: &'static [&'static str]) -> impl Iterator<Item = String> {
    let camel_case = |kind: &&str| {
        let mut letters = kind.chars();
        letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
    };
    kinds.iter().map(camel_case)
}

/// The names of [`StopReason::SAID_BY_ERROR`].
fn said_by_error() -> Vec<String> {
    let name = |reason| Some(serde_json::to_value(reason).ok()?.as_str()?.to_owned());
    StopReason::SAID_BY_ERROR.iter().filter_map(name).collect()
}

/// The root of the project this program was built in.
pub fn project_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes every generated file whose text is not as it should be, and names them, relative to `root`.
///
/// # Errors
/// A protocol that cannot be expressed, or a file that cannot be read or written.
pub fn write(root: &Path) -> Result<Vec<&'static str>, Error> {
    let mut written = Vec::new();
    for (name, text) in changed(root)? {
        let path = root.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| Error::File { path: folder.to_owned(), source })?;
        }
        fs::write(&path, text).map_err(|source| Error::File { path, source })?;
        written.push(name);
    }
    Ok(written)
}

/// Names the generated files that [`write`] would change, relative to `root`.
///
/// # Errors
/// A protocol that cannot be expressed, or a file that cannot be read.
pub fn stale(root: &Path) -> Result<Vec<&'static str>, Error> {
    Ok(changed(root)?.into_iter().map(|(name, _)| name).collect())
}

/// The generated files whose text is not as it should be, with the text that it should be.
fn changed(root: &Path) -> Result<Vec<(&'static str, String)>, Error> {
    let schema = schema::document()?;
    let protocol = Protocol::read(&schema)?;
    let methods = markdown::render(&protocol);
    let (layers, settings) = (document::layers(SETTINGS), document::settings(SETTINGS));
    let in_vscode = document::in_vscode(SETTINGS);
    let of_data =
        |part: Result<String, &'static str>| part.map_err(|mark| Error::Marks { path: root.join(DATA), mark });
    let parts =
        [(document::LAYERS, layers), (document::SETTINGS, settings), (vendors::BEGIN, of_data(vendors::document())?)];
    let files = vec![
        (SCHEMA, format!("{:#}\n", schema.json())),
        (TYPESCRIPT, typescript::render(&protocol)),
        (LUA, lua::render(&protocol)),
        (DOCUMENT, filled(root, DOCUMENT, &[(markdown::BEGIN, methods)])?),
        (CONFIG_SCHEMA, settings::schema::render(SETTINGS)),
        (CONFIGURATION, filled(root, CONFIGURATION, &parts)?),
        (GUIDE, filled(root, GUIDE, &[(modes::BEGIN, modes::document()), (document::SETTINGS, in_vscode)])?),
        (MANIFEST, rewritten(root, MANIFEST, |text| vscode::manifest(&text, SETTINGS))?),
        (NAMES, vscode::names(SETTINGS)),
        (MODES, modes::typescript()),
        (MODES_LUA, modes::lua()),
        (VENDORS, of_data(vendors::typescript())?),
        (VENDORS_LUA, of_data(vendors::lua())?),
    ];

    let mut changed = Vec::new();
    for (name, text) in files {
        let path = root.join(name);
        match fs::read_to_string(&path) {
            Ok(found) if found == text => {}
            Ok(_) => changed.push((name, text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => changed.push((name, text)),
            Err(source) => return Err(Error::File { path, source }),
        }
    }
    Ok(changed)
}

/// A document of the author's, with these parts in their places.
fn filled(root: &Path, name: &str, parts: &[(&'static str, String)]) -> Result<String, Error> {
    rewritten(root, name, |text| {
        parts.iter().try_fold(text, |text, (begin, part)| markdown::put_between_marks(&text, begin, part))
    })
}

/// A file of the author's with what is generated in it.
fn rewritten(
    root: &Path,
    name: &str,
    rewrite: impl FnOnce(String) -> Result<String, &'static str>,
) -> Result<String, Error> {
    let path = root.join(name);
    let text = fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    rewrite(text).map_err(|mark| Error::Marks { path, mark })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder that holds nothing but the authors' files with the marks.
    fn fresh_project() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let marked = |marks: &[&str]| {
            let parts = marks.iter().map(|mark| format!("{mark}\n{}\n", markdown::END));
            format!("# Head\n\n{}", parts.collect::<String>())
        };
        write(DOCUMENT, &marked(&[markdown::BEGIN]));
        write(CONFIGURATION, &marked(&[document::LAYERS, document::SETTINGS, vendors::BEGIN]));
        write(GUIDE, &marked(&[modes::BEGIN, document::SETTINGS]));
        write(MANIFEST, vscode::EMPTY_MANIFEST);
        root
    }

    #[test]
    fn files_once_written_are_not_stale() {
        let root = fresh_project();
        let all = [
            SCHEMA,
            TYPESCRIPT,
            LUA,
            DOCUMENT,
            CONFIG_SCHEMA,
            CONFIGURATION,
            GUIDE,
            MANIFEST,
            NAMES,
            MODES,
            MODES_LUA,
            VENDORS,
            VENDORS_LUA,
        ];
        assert_eq!(stale(root.path()).unwrap(), all);
        assert_eq!(write(root.path()).unwrap(), all);
        assert!(stale(root.path()).unwrap().is_empty());
        assert!(write(root.path()).unwrap().is_empty());
    }

    #[test]
    fn a_file_edited_by_hand_is_named_as_stale() {
        let root = fresh_project();
        write(root.path()).unwrap();
        let path = root.path().join(LUA);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("azimuth/session/new", "azimuth/session/create")).unwrap();
        assert_eq!(stale(root.path()).unwrap(), [LUA]);
    }

    #[test]
    fn text_outside_the_marks_is_the_authors() {
        let root = fresh_project();
        write(root.path()).unwrap();
        let path = root.path().join(DOCUMENT);
        let text = fs::read_to_string(&path).unwrap().replace("# Head", "# Another head");
        fs::write(&path, &text).unwrap();
        assert!(stale(root.path()).unwrap().is_empty());

        fs::write(&path, text.replace(markdown::END, "")).unwrap();
        assert!(matches!(stale(root.path()), Err(Error::Marks { .. })));
    }
}
