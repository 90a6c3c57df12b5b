//! The uses of a name in files that are not open, as language servers that run know them. The text is read from disk,
//! if it may be sent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use inline::context::LARGEST;
use ports::complete::Edited;
use ports::edit::TextHash;
use project::buffers::{Open, Snapshot};
use project::paths::{self, Roots};
use project::text::{LineIndex, PositionEncoding};
use protocol::content::Position;
use protocol::lang::LangQuery;

use super::gate::{Admitted, Gate};
use super::servers::Warm;

/// The time that a server has to find the uses of a name. A model has been asked before, so this is no time to hurry.
const PATIENCE: Duration = Duration::from_millis(500);
/// The files with uses that are looked at.
const LOOKED_AT: usize = 16;

/// A position in a file that is not open.
pub(super) struct Closed {
    pub(super) document: Arc<Snapshot>,
    pub(super) file: Admitted,
    pub(super) offset: usize,
}

/// An open document that the user has edited.
pub(super) struct Origin {
    pub(super) uri: Arc<str>,
    pub(super) path: PathBuf,
    pub(super) text: Arc<str>,
    pub(super) edits: Vec<Edited>,
}

/// A declaration: the name of its document, and its line.
pub(super) type Declaration = (Arc<str>, String);

/// A text of a file in which nothing is to be suggested: for a declaration, or at all if none is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settled {
    pub(super) path: PathBuf,
    pub(super) text: TextHash,
    pub(super) declaration: Option<Declaration>,
}

/// The way to such positions.
pub(super) struct Uses {
    pub(super) servers: Warm,
    pub(super) gate: Gate,
    /// The documents whose declarations count, the first of them first.
    pub(super) origins: Vec<Origin>,
    pub(super) settled: Vec<Settled>,
    /// The declarations without uses in other files.
    pub(super) searched: Vec<Declaration>,
}

/// A file with uses of a name.
struct Used {
    path: PathBuf,
    uri: Arc<str>,
    positions: Vec<Position>,
}

impl Uses {
    /// The first uses of a document's name, each in another file that is not open, at most so many. None if no server
    /// says.
    pub(super) async fn find(
        &self,
        origin: &Origin,
        name: usize,
        declaration: &Declaration,
        most: usize,
    ) -> Option<Vec<Closed>> {
        let word: String = origin.text.get(name..)?.chars().take_while(|c| is_of_name(*c)).collect();
        let roots = self.servers.roots().await?;
        let position = LineIndex::new(&origin.text).position(&origin.text, name, PositionEncoding::Utf16);
        let query = LangQuery::References { uri: origin.uri.to_string(), position };
        let mut files: Vec<Used> = Vec::new();
        for location in self.servers.locations(query, &roots, PATIENCE).await? {
            let Ok(path) = paths::from_uri(&location.uri) else { continue };
            // Of the same language, as far as the name says.
            if *location.uri == *origin.uri || path.extension() != origin.path.extension() {
                continue;
            }
            if let Some(file) = files.iter_mut().find(|file| file.path == path) {
                file.positions.push(location.range.start);
            } else if files.len() < LOOKED_AT {
                files.push(Used { path, uri: location.uri.into(), positions: vec![location.range.start] });
            }
        }
        let judged = files.iter().map(|file| (Arc::clone(&file.uri), file.path.clone())).collect();
        let judged = self.gate.clone().judge(judged).await;
        let admitted: Vec<_> = files.into_iter().zip(judged).filter_map(|(file, of)| Some((file, of.ok()?))).collect();
        let (reader, settled) = (self.servers.reader.clone(), self.settled.clone());
        let (folders, declaration) = (self.servers.folders.clone(), declaration.clone());
        let read = move || {
            let read = admitted.into_iter().filter_map(|(used, file)| {
                if !matches!(reader.buffers().get(&file.path), Open::No) {
                    return None;
                }
                let read = reader.base(&file.path).ok()?;
                let is_of = |it: &Settled| it.declaration.as_ref().is_none_or(|of| *of == declaration);
                let is_settled = |it: &Settled| it.path == file.path && it.text == read.hash && is_of(it);
                if read.text.len() > LARGEST || settled.iter().any(is_settled) {
                    return None;
                }
                let offset = first_use(&read.text, &used.positions, &word)?;
                let uri = named(&file.path, &folders, &roots).unwrap_or(used.uri);
                let document = Snapshot::of_file(&uri, file.path.clone(), "", read.text);
                Some(Closed { document: Arc::new(document), file, offset })
            });
            read.take(most).collect()
        };
        tokio::task::spawn_blocking(read).await.ok()
    }
}

/// The first use of a name that may have to follow a change of its declaration: a call, or else the last use, since the
/// first is most often an import. None if the name is at none of the positions: the server may have read another text.
fn first_use(text: &str, positions: &[Position], name: &str) -> Option<usize> {
    let lines = LineIndex::new(text);
    let mut uses: Vec<_> = positions
        .iter()
        .filter_map(|position| lines.offset(text, *position, PositionEncoding::Utf16))
        .filter(|at| {
            let rest = text.get(*at..).and_then(|rest| rest.strip_prefix(name));
            !name.is_empty() && rest.is_some_and(|rest| !rest.starts_with(is_of_name))
        })
        .collect();
    uses.sort_unstable();
    let is_call = |at: &&usize| text.get(**at + name.len()..).is_some_and(|rest| rest.trim_start().starts_with('('));
    uses.iter().find(is_call).or(uses.last()).copied()
}

/// The name of a file in the folder by which the client knows it; none if that has no other name.
fn named(path: &Path, folders: &[PathBuf], roots: &Roots) -> Option<Arc<str>> {
    let root = roots.iter().find(|root| path.starts_with(&root.path))?;
    let is_named =
        |folder: &&PathBuf| **folder != root.path && paths::canonical(folder).ok() == Some(root.path.clone());
    let folder = folders.iter().find(is_named)?;
    Some(paths::to_uri(&folder.join(path.strip_prefix(&root.path).ok()?)).into())
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_comes_before_an_import_and_a_longer_name_is_another_one() {
        let text = "from shapes import area\n\narea_total = 1\nprint(area(2))\nshape = area\n";
        let at = |line, character| Position { line, character };
        let all = [at(0, 19), at(2, 0), at(3, 6), at(4, 8)];
        assert_eq!(first_use(text, &all, "area"), text.find("area(2)"));
        assert_eq!(first_use(text, &[at(0, 19), at(4, 8)], "area"), Some(text.len() - 5), "the last, without a call");
        assert_eq!(first_use(text, &[at(2, 0), at(9, 0), at(1, 0)], "area"), None);
        assert_eq!(first_use(text, &all, ""), None);
    }
}
