//! The files as a session sees them, as far as a server has to be told of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use project::buffers::Open;
use project::paths::from_uri;
use project::reader::{FileText, ReadError, Reader, Source};

use super::super::client::{Stamp, Text, View};
use super::super::detect::Detected;
use super::super::table::Table;

/// So many texts that stand over the disk are told to a server. More are no one's work of a day.
const MOST: usize = 500;

/// Returns what a session sees: the file that is asked about, all of the server's kind that stand over the disk, and
/// what the server has open as it was on disk. Blocks.
///
/// # Errors
/// The file that is asked about cannot be read.
pub(super) fn view(
    reader: &Reader,
    table: &Table,
    server: &Detected,
    asked: Option<&Path>,
    mirrored: &HashMap<PathBuf, Stamp>,
) -> Result<View, ReadError> {
    let mut view = View::default();
    let mut asked_text = None;
    if let Some(path) = asked {
        match (mirrored.get(path), is_over_disk(reader, path)) {
            (Some(stamp), false) if Stamp::of(path).as_ref() == Some(stamp) => {
                view.unchanged.insert(path.to_owned());
            }
            _ => asked_text = Some(text(reader, table, path)?),
        }
    }
    let is_of_server = |path: &Path| {
        path.starts_with(&server.root)
            && Some(path) != asked
            && table.for_file(path).any(|definition| definition.name == server.definition.name)
    };
    let mut over_disk: Vec<PathBuf> = reader.over_disk().into_keys().filter(|path| is_of_server(path)).collect();
    over_disk.sort();
    for path in over_disk.iter().take(MOST) {
        view.texts.extend(match text(reader, table, path) {
            // That a file is not there no server can be told while the disk has it. An empty one says nothing.
            Err(ReadError::Deleted { .. }) => Some(emptied(table, path)),
            // One whose text is not known is left to the disk.
            known => known.ok(),
        });
    }
    for (path, stamp) in mirrored {
        if Some(&**path) == asked || over_disk.contains(path) {
            continue;
        }
        match Stamp::of(path) {
            Some(now) if now == *stamp => {
                view.unchanged.insert(path.clone());
            }
            Some(_) => view.texts.extend(text(reader, table, path)),
            // It is closed.
            None => {}
        }
    }
    // Last, so that what a server tells of it at once is of the others as they are.
    view.texts.extend(asked_text);
    Ok(view)
}

fn is_over_disk(reader: &Reader, path: &Path) -> bool {
    reader.is_pending(path) || !matches!(reader.buffers().get(path), Open::No)
}

fn emptied(table: &Table, path: &Path) -> Text {
    let (path, language) = (path.to_owned(), table.language(path));
    Text { path, language, text: Arc::default(), version: None, is_saved: false, stamp: None }
}

fn text(reader: &Reader, table: &Table, path: &Path) -> Result<Text, ReadError> {
    // Before it is read: what changes after that is seen as a change.
    let stamp = Stamp::of(path);
    let FileText { text, source, .. } = reader.read(path)?;
    let open = match reader.buffers().get(path) {
        Open::Yes(open) => Some(open),
        _ => None,
    };
    let language = open.as_ref().map(|open| open.language_id.clone()).filter(|language| !language.is_empty());
    let language: Arc<str> = language.unwrap_or_else(|| table.language(path));
    let version = match source {
        Source::Buffer { version } => Some(version),
        Source::Pending | Source::Disk => None,
    };
    let is_saved = match source {
        Source::Disk => true,
        Source::Buffer { version } => {
            open.is_some_and(|open| open.saved_version.unwrap_or(open.opened_version) == version)
        }
        Source::Pending => false,
    };
    Ok(Text {
        path: path.to_owned(),
        language,
        text,
        version,
        is_saved,
        stamp: stamp.filter(|_| source == Source::Disk),
    })
}

/// The file that a question is about, links resolved, where it lies in a folder; with the folder. Blocks.
pub(super) fn locate(
    uri: &str,
    roots: &project::paths::Roots,
) -> Result<(PathBuf, PathBuf), project::paths::PathError> {
    let path = roots.check(&from_uri(uri)?)?;
    let inside = roots.iter().filter(|root| path.starts_with(&root.path));
    let folder = inside.max_by_key(|root| root.path.as_os_str().len()).map(|root| root.path.clone());
    Ok((path.clone(), folder.unwrap_or(path)))
}
