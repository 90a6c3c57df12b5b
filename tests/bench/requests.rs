//! A request for a long history, over each wire: from the prompt until the vendor has all of it. That is more than its
//! bytes take to be made: the prompt is stored and shown, and the request goes over loopback. So the same is told of a
//! new session.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use harness::process::Process;
use harness::vendor::Vendor;
use serde_json::json;

use crate::{EVENTS, corpus, median, ms};

/// The wires by their names in the configuration.
const WIRES: [&str; 5] = ["anthropic", "openai-responses", "openai-chat", "gemini", "converse"];
/// How often a request is measured.
const TIMES: usize = 15;

/// Measures each wire.
pub fn run(binary: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let (data, project) = (folder.path().join("data"), folder.path().join("project"));
    std::fs::create_dir(&project).expect("a folder");
    let long = corpus::long_session(&data, &project, EVENTS);
    let (vendor, requests) = Vendor::refusing();
    let mut config = String::new();
    for wire in WIRES {
        let url = vendor.url();
        write!(
            config,
            "[providers.bench-{wire}]\nbase_url = \"{url}\"\nkey = \"bench\"\nwire = \"{wire}\"\n\
             [[providers.bench-{wire}.model]]\nid = \"long\"\ncontext = 10000000\nmax_output = 4096\n"
        )
        .expect("a string");
    }
    std::fs::write(data.join("no-config.toml"), config).expect("a file");
    let mut client = Process::start(binary, &data, &project, &vendor.url());
    client.request("azimuth/session/open", &json!({ "sessionId": long, "since": EVENTS }));
    let new = client.session();
    for wire in WIRES {
        let model = format!("bench-{wire}/long");
        let [(short, _), (time, bytes)] = [&new, &long].map(|session| {
            client.request("azimuth/model/select", &json!({ "sessionId": session, "model": model }));
            request(&mut client, session, &requests)
        });
        println!(
            "{:<44} {:>10.1} ms   (aim 20; {:.1} in a new session; {:.1} MB)",
            format!("a request of 10,000 events, {wire}"),
            ms(time),
            ms(short),
            bytes as f64 / 1e6
        );
    }
}

/// Prompts again and again. Gives the time and the length of the request in the middle.
fn request(client: &mut Process, session: &str, requests: &Receiver<(Instant, usize)>) -> (Duration, usize) {
    let mut length = 0;
    let times = (0..=TIMES).map(|_| {
        let prompt = json!([{ "type": "text", "text": "Go on." }]);
        let began = Instant::now();
        client.ask("azimuth/turn/start", &json!({ "sessionId": session, "prompt": prompt }));
        let (came, bytes) = requests.recv().expect("the vendor runs");
        client.event("turnEnded");
        length = bytes;
        came - began
    });
    // The first one of a wire makes its HTTP client.
    let times = times.skip(1).collect();
    (median(times), length)
}
