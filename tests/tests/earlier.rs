//! The data that an earlier version has left: its sessions open, go on and are undone.
//!
//! `earlier/data` is the data folder that the version of commit c16ebf0 left behind, its database vacuumed, after it
//! played `earlier/script.json` in `/tmp/azimuth-earlier`: `exec --yes` with "Mend the sum in @lib.rs.", `exec` with
//! "And a file.", which nobody allowed, and `exec '!echo by the user'`. `earlier/data-4` is what that of commit c647c04
//! left, whose sessions had parents and no purpose, `earlier/data-6` what that of commit 45895c4 left, which kept no
//! sums of costs, and `earlier/data-7` what that of commit aae60568 left, in which nothing could be searched. A version
//! that changes how a session is stored adds a folder of its own and keeps these.

#![expect(clippy::disallowed_methods, reason = "the test makes what an earlier version has left")]

use std::path::{Path, PathBuf};
use std::process::Command;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::json;

const ADDS: &str = "fn add(a: i32, b: i32) -> i32 {\n    a + b\n}\n";
const SUBTRACTS: &str = "fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n";

/// The folder that the session is of, as it was left. Its path is in the log.
struct Left(PathBuf);

impl Left {
    fn new() -> Self {
        let left = Self(PathBuf::from("/tmp/azimuth-earlier"));
        let _ = std::fs::remove_dir_all(&left.0);
        std::fs::create_dir(&left.0).unwrap();
        for (name, text) in [("lib.rs", ADDS), ("notes.txt", "one\ntwo\n"), ("made.txt", "made\n")] {
            std::fs::write(left.0.join(name), text).unwrap();
        }
        left
    }

    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(name)).ok()
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn a_session_of_an_earlier_version_opens_goes_on_and_is_undone() {
    // One after the other, since all are of one folder.
    for data in ["data", "data-4", "data-6", "data-7"] {
        opens_goes_on_and_is_undone(data).await;
    }
}

async fn opens_goes_on_and_is_undone(data: &str) {
    let left = Left::new();
    let model = ModelServer::start([Answer::says("I know.")]).await;
    let (setup, project) = (Setup::model(&model, Wire::Anthropic), Project::new([]));
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/earlier").join(data).join(".");
    std::fs::create_dir_all(setup.data_folder()).unwrap();
    let copied = Command::new("cp").arg("-r").args([data, setup.data_folder()]).status().unwrap();
    assert!(copied.success());

    let client = Client::start(&setup, &project, Profile::panel()).await;
    let sessions = client.call::<methods::SessionList>(json!({ "everywhere": true })).await.sessions;
    let [session] = sessions.as_slice() else { panic!("{sessions:?}") };
    assert_eq!((session.title.as_str(), session.usage.input), ("Mend the sum in @lib.rs", 1200));
    let id = session.session_id.clone();
    let found = client.call::<methods::SessionSearch>(json!({ "query": "RIGHT sum", "everywhere": true })).await;
    let [hit] = found.hits.as_slice() else { panic!("{found:?}") };
    assert_eq!((&hit.session_id, hit.snippet.as_str(), found.unread), (&id, "The sum is right now.", 0));
    let typed = client.call::<methods::PromptHistory>(json!({ "everywhere": true })).await.prompts;
    let typed: Vec<_> = typed.iter().map(|prompt| prompt.text.as_str()).collect();
    assert_eq!(typed, ["!echo by the user", "And a file.", "Mend the sum in @lib.rs."]);
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": id, "since": 0 })).await;
    assert!(opened.events.len() >= 70, "nothing of its log is left out");
    let has = |is_it: fn(&Event) -> bool| opened.events.iter().any(|event| is_it(&event.event));
    assert!(has(|event| matches!(event, Event::PlanUpdated { .. })));
    assert!(has(|event| matches!(event, Event::FilesChanged { .. })));

    client.call::<methods::ModelSelect>(json!({ "sessionId": id, "model": "test/model-1" })).await;
    client.prompt(&id, "What do you know?").await;
    client.until_end(&id, StopReason::EndTurn).await;
    let asked = format!("{:?}", model.asked().last().unwrap());
    for known in ["Mend the sum in", "a - b", "The sum is right now.", "and a file", "by the user", "What do you know?"]
    {
        assert!(asked.to_lowercase().contains(&known.to_lowercase()), "{known}: {asked}");
    }

    let undone = client.call::<methods::CheckpointUndo>(json!({ "sessionId": id })).await;
    let paths: Vec<_> = undone.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["lib.rs", "made.txt"], "{undone:?}");
    assert_eq!((left.read("lib.rs").as_deref(), left.read("made.txt")), (Some(SUBTRACTS), None), "{undone:?}");
    assert_eq!(left.read("notes.txt").as_deref(), Some("one\ntwo\n"));
    client.call::<methods::CheckpointRedo>(json!({ "sessionId": id })).await;
    assert_eq!((left.read("lib.rs").as_deref(), left.read("made.txt").as_deref()), (Some(ADDS), Some("made\n")));
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}
