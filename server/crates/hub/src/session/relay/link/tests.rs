use std::path::Path;

use project::buffers::Change;
use project::text::PositionEncoding::Utf8;
use store::SqliteStore;
use tempfile::TempDir;

use super::*;
use crate::ClientId;
use crate::session::tests::Nobody;
use crate::trust::Word;

const URI: &str = "file:///p/a.txt";

/// The host's end of a link.
struct Host {
    input: Bodies,
    output: OwnedWriteHalf,
    _folder: TempDir,
}

impl Host {
    /// Connects a link, and answers what it asks first.
    async fn linked(buffers: &Arc<Buffers>) -> (Self, Link) {
        let folder = tempfile::tempdir().unwrap();
        let sockets = Sockets::new(folder.path().join("run"), folder.path());
        let listener = sockets.listener();
        sockets.listen();
        let listener = listener.await.unwrap();
        let session = SessionId::new("s");
        let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
        let ears = Ears {
            session: session.clone(),
            editor: Arc::new(Nobody),
            feed: Feed::new(store, session),
            spools: Spools::default(),
            news: Box::new(|_| {}),
        };
        let host = async {
            let (input, output) = listener.accept().await.unwrap().into_split();
            let mut host = Self { input: Bodies { input, read: Vec::new() }, output, _folder: folder };
            let asked = host.next().await;
            assert_eq!(
                asked["params"]["clientInfo"],
                json!({ "name": "Kate 26.11" }),
                "the host's model is told of it"
            );
            host.answer(&asked["id"], &json!({ "serverInfo": { "name": "azimuth", "version": VERSION } })).await;
            host
        };
        let caller = Caller {
            is_attached: false,
            id: ClientId::next(),
            name: Some("Kate 26.11".into()),
            editor: Arc::new(Nobody),
            buffers: Arc::clone(buffers),
            trust: Word::default(),
            encoding: Utf8,
        };
        let connecting = Link::connect(&sockets, std::process::id(), ears, &caller);
        let (host, link) = tokio::join!(host, connecting);
        (host, link.ok().unwrap())
    }

    /// The next message.
    async fn next(&mut self) -> Value {
        let body = self.input.next().await.unwrap().unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    async fn answer(&mut self, id: &Value, result: &Value) {
        let message = framed(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
        self.output.write_all(&message).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_typed_while_the_host_does_not_read_is_told_once_and_before_what_is_asked_then() {
    let (buffers, path) = (Arc::<Buffers>::default(), Path::new("/p/a.txt"));
    let (mut host, mut link) = Host::linked(&buffers).await;
    // More than a socket takes.
    let text = "x".repeat(4 << 20);
    buffers.open(URI, "text", 1, text.clone()).unwrap();
    link.text_changed(path.into());
    for version in 2..=20 {
        // The way out is let to do what it can.
        tokio::task::yield_now().await;
        let change = Change { range: None, text: format!("{version} {text}") };
        buffers.change(URI, version, &[change], Utf8).unwrap();
        link.text_changed(path.into());
        link.files_changed(&[path.into()]);
    }
    let asked = link.ask("azimuth/session/rename", json!({}));
    drop(asked);
    let (mut told, mut last) = (Vec::new(), Value::Null);
    loop {
        let message = host.next().await;
        match message["method"].as_str().unwrap() {
            "azimuth/session/rename" => break,
            "textDocument/didOpen" | "textDocument/didChange" => {
                last = message["params"]["textDocument"]["version"].clone();
                told.push("text");
            }
            "workspace/didChangeWatchedFiles" => told.push("file"),
            _ => {}
        }
    }
    assert_eq!(last, json!(20));
    assert!(told.len() <= 4, "{told:?}");
    assert!(told.contains(&"file"), "{told:?}");
}

#[tokio::test]
async fn a_host_that_is_stopped_is_waited_for_no_longer_than_said_and_others_can_still_ask() {
    let (mut host, mut link) = Host::linked(&Arc::default()).await;
    tokio::time::pause();
    let error = link.ask("azimuth/session/rename", json!({})).await.unwrap_err();
    assert_eq!(error.code, ErrorCode::OperationFailed);
    let words = format!("process {}", std::process::id());
    assert!(error.message.contains(&words) && error.message.contains("for 20 seconds"), "{error:?}");
    tokio::time::resume();

    // It goes on: the late answer is nobody's, the next one is.
    let again = link.ask("azimuth/session/rename", json!({}));
    let mut ids = Vec::new();
    while ids.len() < 2 {
        let message = host.next().await;
        ids.extend(message.get("id").cloned());
    }
    for id in &ids {
        host.answer(id, id).await;
    }
    assert_eq!(again.await.unwrap().get(), ids[1].to_string());
}

#[test]
fn a_file_is_deleted_only_by_an_edit_of_its_own_document() {
    let wanted = |deleted: &str, edits: Value| {
        let document = json!({ "textDocument": { "uri": URI, "version": 3 }, "edits": edits });
        let params = json!({ "edit": { "documentChanges": [document, { "kind": "delete", "uri": deleted }] } });
        let params = serde_json::value::to_raw_value(&params).unwrap();
        typed::<ApplyEdit>(Some(&params)).and_then(ApplyEdit::into_wanted)
    };
    let is_it = |wanted: &Option<Wanted>| matches!(wanted, Some(Wanted::Deletion { uri, version: 3 }) if uri == URI);
    assert!(is_it(&wanted(URI, json!([]))));
    assert!(wanted("file:///p/b.txt", json!([])).is_none());
    let place = json!({ "line": 0, "character": 0 });
    let edit = json!([{ "range": { "start": place, "end": place }, "newText": "x" }]);
    assert!(wanted(URI, edit).is_none());
}
