//! The uses of a name in files that are not open, as language servers that run know them. The text is read from disk,
//! if it may be sent.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use inline::context::LARGEST;
use ports::edit::TextHash;
use project::buffers::{Open, Snapshot};
use project::paths;
use project::text::{LineIndex, PositionEncoding};
use protocol::lang::{LangLocation, LangQuery};

use super::gate::{Admitted, Gate};
use super::servers::Warm;

/// The time that a server has to find the uses of a name. A model has been asked before, so this is no time to hurry.
const PATIENCE: Duration = Duration::from_millis(500);
/// The files with uses that are looked at.
const LOOKED_AT: usize = 8;
/// A position in a file that is not open.
pub(super) struct Closed {
    pub(super) document: Arc<Snapshot>,
    pub(super) file: Admitted,
    pub(super) offset: usize,
}

/// A search for such positions.
pub(super) struct Uses {
    pub(super) servers: Warm,
    pub(super) gate: Gate,
    pub(super) language: String,
    /// The files in which an edit was rejected, with their texts then.
    pub(super) rejected: Vec<(PathBuf, TextHash)>,
}

impl Uses {
    /// The first uses of a document's name, each in another file that is not open, at most so many.
    pub(super) async fn find(&self, uri: &str, text: &str, name: usize, most: usize) -> Vec<Closed> {
        self.look(uri, text, name, most).await.unwrap_or_default()
    }

    async fn look(&self, uri: &str, text: &str, name: usize, most: usize) -> Option<Vec<Closed>> {
        let roots = self.servers.roots().await?;
        let position = LineIndex::new(text).position(text, name, PositionEncoding::Utf16);
        let query = LangQuery::References { uri: uri.to_owned(), position };
        let used = self.servers.locations(query, &roots, PATIENCE).await?;
        let mut files: Vec<(Arc<str>, PathBuf, LangLocation)> = Vec::new();
        for location in used {
            let Ok(path) = paths::from_uri(&location.uri) else { continue };
            let is_known = location.uri == uri || files.iter().any(|(_, known, _)| *known == path);
            if !is_known && self.servers.buffers.by_uri(&location.uri).is_none() && files.len() < LOOKED_AT {
                files.push((location.uri.as_str().into(), path, location));
            }
        }
        let judged = files.iter().map(|(uri, path, _)| (Arc::clone(uri), path.clone())).collect();
        let judged = self.gate.clone().judge(judged).await;
        let admitted: Vec<_> =
            files.into_iter().zip(judged).filter_map(|(file, judged)| Some((file, judged.ok()?))).collect();
        let (reader, rejected, language) = (self.servers.reader.clone(), self.rejected.clone(), self.language.clone());
        let word: String = text.get(name..)?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let read = move || {
            let read = admitted.into_iter().filter_map(|((uri, _, location), file)| {
                if !matches!(reader.buffers().get(&file.path), Open::No) {
                    return None;
                }
                let read = reader.base(&file.path).ok()?;
                let is_rejected = rejected.iter().any(|(path, text)| *path == file.path && *text == read.hash);
                let offset =
                    LineIndex::new(&read.text).offset(&read.text, location.range.start, PositionEncoding::Utf16)?;
                // The server may have read another text.
                let is_there = read.text.get(offset..)?.starts_with(&word);
                if is_rejected || !is_there || read.text.len() > LARGEST {
                    return None;
                }
                let document = Snapshot::of_file(&uri, file.path.clone(), &language, read.text);
                Some(Closed { document: Arc::new(document), file, offset })
            });
            read.take(most).collect()
        };
        tokio::task::spawn_blocking(read).await.ok()
    }
}
