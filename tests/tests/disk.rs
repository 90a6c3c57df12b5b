//! Disks that are slow, or do not answer at all, as where a network is down: nothing else waits for them, and nothing
//! is out of order. The disk is a real one; what resolves links on it is held up by the test.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use azimuth::front;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::methods;
use protocol::turn::StopReason;
use serde_json::{Value, json};

/// A disk that answers no more until it is mended.
#[derive(Default)]
struct Disk {
    mended: Mutex<bool>,
    changed: Condvar,
}

impl Disk {
    fn wait(&self) {
        drop(self.changed.wait_while(self.mended.lock().unwrap(), |mended| !*mended).unwrap());
    }

    fn mend(&self) {
        *self.mended.lock().unwrap() = true;
        self.changed.notify_all();
    }
}

/// A test that fails must not leave a thread waiting, or it would never end.
struct Mend(Arc<Disk>);

impl Drop for Mend {
    fn drop(&mut self) {
        self.0.mend();
    }
}

#[tokio::test]
async fn a_document_on_a_disk_that_does_not_answer_keeps_nothing_waiting() {
    let model = ModelServer::start([
        Answer::calls("read_file", json!({ "path": "good.txt" })),
        Answer::says("I see."),
        Answer::calls("read_file", json!({ "path": "there/a.txt" })),
        Answer::says("And that."),
    ])
    .await;
    let project = Project::new([("good.txt", "saved\n"), ("there/a.txt", "saved\n")]);
    link(&project, "there", "away");
    let disk = Arc::new(Disk::default());
    let _mend = Mend(Arc::clone(&disk));
    let mut setup = Setup::model(&model, Wire::Anthropic);
    let (away, held) = (project.path("away"), Arc::clone(&disk));
    setup.custom.resolve = Arc::new(move |path: &Path| {
        if path.starts_with(&away) {
            held.wait();
        }
        front::on_disk(path)
    });
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let [good, stuck] = ["good.txt", "away/a.txt"].map(|file| project.uri(file));
    client.open_with(&stuck, "typed there\n");
    client.replace(&stuck, "typed", "changed");
    client.open_with(&good, "typed here\n");

    // Requests of every kind are answered: of the hub, about the document itself, and a whole turn.
    client.call::<methods::SessionList>(json!({})).await;
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": stuck } })).await;
    assert_eq!(lenses.unwrap(), json!([]));
    let session = client.new_session().await;
    client.prompt(&session, "What is in it?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(read(&model).contains("typed here"), "{}", read(&model));

    // Once the disk answers, the document is the file's again, with all that was typed meanwhile.
    client.replace(&stuck, "there", "meanwhile");
    disk.mend();
    // Behind the same look at the disk: it is answered when the document's file is known.
    client.request("textDocument/codeLens", json!({ "textDocument": { "uri": stuck } })).await.unwrap();
    client.prompt(&session, "And there?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(read(&model).contains("changed meanwhile"), "{}", read(&model));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_turn_sees_a_document_opened_just_before_it_behind_a_link_on_a_slow_disk() {
    let model =
        ModelServer::start([Answer::calls("read_file", json!({ "path": "there/a.txt" })), Answer::says("I see.")])
            .await;
    let project = Project::new([("there/a.txt", "saved\n")]);
    link(&project, "there", "away");
    let mut setup = Setup::model(&model, Wire::Chat);
    setup.custom.resolve = Arc::new(|path: &Path| {
        // A slow disk; far longer than a whole turn takes here, and far shorter than requests wait.
        std::thread::sleep(Duration::from_millis(200));
        front::on_disk(path)
    });
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let uri = project.uri("away/a.txt");
    client.open_with(&uri, "typed\n");
    client.replace(&uri, "typed", "changed");
    client.prompt(&session, "What is in it?").await;
    client.until_end(&session, StopReason::EndTurn).await;
    assert!(read(&model).contains("changed"), "{}", read(&model));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn hints_bear_the_name_that_the_client_uses_also_behind_a_link_on_a_slow_disk() {
    let edit = json!({ "path": "there/a.txt", "old_text": "one\n", "new_text": "1\n" });
    let model = ModelServer::start([Answer::calls("edit_replace_exact", edit), Answer::says("Done.")]).await;
    let project = Project::new([("there/a.txt", "one\n")]);
    link(&project, "there", "away");
    let mut setup = Setup::model(&model, Wire::Chat);
    setup.custom.resolve = Arc::new(|path: &Path| {
        std::thread::sleep(Duration::from_millis(200));
        front::on_disk(path)
    });
    let client = Client::start(&setup, &project, Profile::plain()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Write a number.").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let shown: Value = client.notification("textDocument/publishDiagnostics").await;
    assert_eq!(shown["uri"], project.uri("there/a.txt"));

    // Opened by another name, its hints move there, and its actions are there from the first question on.
    let uri = project.uri("away/a.txt");
    client.open(&uri);
    let lenses = client.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri } })).await.unwrap();
    assert_eq!(lenses.as_array().unwrap().len(), 2, "{lenses}");
    let gone: Value = client.notification("textDocument/publishDiagnostics").await;
    assert_eq!((&gone["uri"], &gone["diagnostics"]), (&json!(project.uri("there/a.txt")), &json!([])));
    let moved: Value = client.notification("textDocument/publishDiagnostics").await;
    assert_eq!((&moved["uri"], moved["diagnostics"].as_array().unwrap().len()), (&json!(uri), 1));
    // They go with the session.
    client.waive("textDocument/publishDiagnostics");
    assert_eq!(client.finish().await, 0);
}

/// The text that the last call read.
fn read(model: &ModelServer) -> String {
    model.asked().last().expect("a request").last_results().concat()
}

/// A second name for a folder of the project.
fn link(project: &Project, folder: &str, name: &str) {
    std::os::unix::fs::symlink(project.path(folder), project.path(name)).unwrap();
}
