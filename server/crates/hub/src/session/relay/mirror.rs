//! A client's open documents as the host was last told of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use project::buffers::{Buffers, Open, Snapshot};
use serde_json::{Value, json};

/// A notification: its method and its parameters.
type Notification = (&'static str, Value);

/// The client's documents, as far as the host knows them.
#[derive(Default)]
pub(super) struct Mirror {
    documents: HashMap<Arc<str>, Shown>,
}

struct Shown {
    path: PathBuf,
    version: i32,
    /// None if the text is not known.
    text: Option<Arc<str>>,
    /// The version that was last saved.
    saved: Option<i32>,
}

impl Mirror {
    /// Returns the notifications to send after the document of a file changed, was opened or was closed.
    pub(super) fn changed(&mut self, buffers: &Buffers, path: &Path) -> Vec<Notification> {
        match buffers.get(path) {
            Open::Yes(snapshot) => self.show(&snapshot),
            Open::OutOfSync => self.spoil(path),
            Open::No => self.close(path),
        }
    }

    fn show(&mut self, snapshot: &Snapshot) -> Vec<Notification> {
        let shown = self.documents.get(&snapshot.uri);
        let version = snapshot.version;
        let change: Option<Notification> = match shown {
            Some(shown) if shown.version == version && shown.text.as_ref() == Some(&snapshot.text) => None,
            Some(shown) if shown.version < version => Some((
                "textDocument/didChange",
                json!({
                    "textDocument": { "uri": snapshot.uri, "version": version },
                    "contentChanges": [{ "text": snapshot.text }],
                }),
            )),
            // The host takes a document that is opened again in place of the one it has.
            _ => Some((
                "textDocument/didOpen",
                json!({ "textDocument": {
                    "uri": snapshot.uri,
                    "languageId": snapshot.language_id,
                    "version": version,
                    "text": snapshot.text,
                } }),
            )),
        };
        let is_saved =
            snapshot.saved_version.is_some() && shown.and_then(|shown| shown.saved) != snapshot.saved_version;
        let save = is_saved.then(|| ("textDocument/didSave", json!({ "textDocument": { "uri": snapshot.uri } })));
        let shown_already = shown.is_some();
        let shown = Shown {
            path: snapshot.path.clone(),
            version,
            text: Some(Arc::clone(&snapshot.text)),
            saved: snapshot.saved_version,
        };
        self.documents.insert(Arc::clone(&snapshot.uri), shown);
        // Text that was typed after the save was not saved.
        if snapshot.saved_version == Some(version) || !shown_already {
            change.into_iter().chain(save).collect()
        } else {
            save.into_iter().chain(change).collect()
        }
    }

    /// The text is not known here any more, so it must not be believed there.
    fn spoil(&mut self, path: &Path) -> Vec<Notification> {
        let of_file = self.documents.iter_mut().filter(|(_, shown)| shown.path == path);
        of_file
            .filter_map(|(uri, shown)| {
                shown.text.take()?;
                // A change to a version before the one that a document has does not fit, which is what there is to say.
                let document = json!({ "uri": uri, "version": shown.version.saturating_sub(1) });
                Some(("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [] })))
            })
            .collect()
    }

    fn close(&mut self, path: &Path) -> Vec<Notification> {
        let closed = self.documents.extract_if(|_, shown| shown.path == path);
        closed.map(|(uri, _)| ("textDocument/didClose", json!({ "textDocument": { "uri": uri } }))).collect()
    }
}

#[cfg(test)]
mod tests {
    use project::buffers::Change;
    use project::text::PositionEncoding::Utf8;

    use super::*;

    const URI: &str = "file:///p/a%20b.txt";

    fn change(buffers: &Buffers, version: i32, text: &str) {
        let _ = buffers.change(URI, version, &[Change { range: None, text: text.into() }], Utf8);
    }

    #[test]
    fn the_host_is_told_of_each_change_once_under_the_editors_name_and_version() {
        let (buffers, mut mirror, path) = (Buffers::default(), Mirror::default(), Path::new("/p/a b.txt"));
        buffers.open(URI, "text", 3, "one\r\n").unwrap();
        let told = mirror.changed(&buffers, path);
        let [(method, params)] = told.as_slice() else { panic!("{told:?}") };
        let document = json!({ "uri": URI, "languageId": "text", "version": 3, "text": "one\r\n" });
        assert_eq!((*method, params), ("textDocument/didOpen", &json!({ "textDocument": document })));
        assert!(mirror.changed(&buffers, path).is_empty());

        change(&buffers, 4, "two");
        change(&buffers, 5, "three");
        let told = mirror.changed(&buffers, path);
        let [("textDocument/didChange", params)] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(
            (&params["textDocument"]["version"], &params["contentChanges"]),
            (&json!(5), &json!([{ "text": "three" }]))
        );
        assert!(mirror.changed(&buffers, path).is_empty(), "that was the newest already");

        buffers.close(URI).unwrap();
        let told = mirror.changed(&buffers, path);
        assert!(matches!(told.as_slice(), [("textDocument/didClose", _)]), "{told:?}");
        assert!(mirror.changed(&buffers, path).is_empty());
    }

    #[test]
    fn the_host_is_told_of_each_save_once_and_not_of_what_was_typed_since_as_saved() {
        let (buffers, mut mirror, path) = (Buffers::default(), Mirror::default(), Path::new("/p/a b.txt"));
        let mut told =
            |buffers: &Buffers| mirror.changed(buffers, path).into_iter().map(|(method, _)| method).collect::<Vec<_>>();
        buffers.open(URI, "text", 3, "one").unwrap();
        assert_eq!(told(&buffers), ["textDocument/didOpen"]);
        change(&buffers, 4, "two");
        buffers.save(URI, None).unwrap();
        assert_eq!(told(&buffers), ["textDocument/didChange", "textDocument/didSave"]);
        assert!(told(&buffers).is_empty());
        change(&buffers, 5, "three");
        buffers.save(URI, None).unwrap();
        change(&buffers, 6, "four");
        assert_eq!(told(&buffers), ["textDocument/didSave", "textDocument/didChange"]);
        change(&buffers, 7, "five");
        assert_eq!(told(&buffers), ["textDocument/didChange"]);
    }

    #[test]
    fn a_text_that_is_not_known_here_is_not_known_there_until_it_is_again() {
        let (here, there) = (Buffers::default(), Buffers::default());
        let (mut mirror, path) = (Mirror::default(), Path::new("/p/a b.txt"));
        here.open(URI, "text", 3, "one").unwrap();
        mirror.changed(&here, path);
        there.open(URI, "text", 3, "one").unwrap();
        change(&here, 2, "old");
        let told = mirror.changed(&here, path);
        let [("textDocument/didChange", params)] = told.as_slice() else { panic!("{told:?}") };
        let version = i32::try_from(params["textDocument"]["version"].as_i64().unwrap()).unwrap();
        there.change(URI, version, &[], Utf8).unwrap_err();
        assert!(matches!(there.get(path), Open::OutOfSync));
        assert!(mirror.changed(&here, path).is_empty());

        // Opened again, with a version that begins anew.
        here.open(URI, "text", 1, "new").unwrap();
        let told = mirror.changed(&here, path);
        assert!(matches!(told.as_slice(), [("textDocument/didOpen", _)]), "{told:?}");
    }
}
