//! One process at a time holds a session (design D2).

#![expect(clippy::disallowed_methods, reason = "a test makes its project's folder itself")]

use std::process::{Command, Output, Stdio};

use harness::process::Process;
use harness::vendor::{Instant as Answer, Vendor};

#[test]
fn a_second_process_is_refused_with_words_until_the_first_one_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (project, data) = (folder.path().join("project"), folder.path().join("data"));
    std::fs::create_dir(&project).unwrap();
    let vendor = Vendor::start(vec![Answer::Text { pieces: 3 }, Answer::Text { pieces: 3 }]);
    let mut first = Process::start(harness::binary(), &data, &project, &vendor.url());
    let session = first.session();
    first.turn(&session);

    let exec = || -> Output {
        Command::new(harness::binary())
            .args(["exec", "--resume", &session, "Go on."])
            .current_dir(&project)
            .env("AZIMUTH_DATA_DIR", &data)
            .env("AZIMUTH_CONFIG", data.join("no-config.toml"))
            .env("OPENAI_BASE_URL", vendor.url())
            .env("OPENAI_API_KEY", "test")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    };
    let refused = exec();
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{words}");
    assert!(words.contains("open in another process") && words.contains(&session), "{words}");

    first.kill();
    let taken = exec();
    let words = String::from_utf8_lossy(&taken.stderr).into_owned();
    assert_eq!(taken.status.code(), Some(0), "{words}{}", String::from_utf8_lossy(&taken.stdout));
}
