//! The costs of Azimuth: start, memory, a tool round, a streamed token, opening a long session, a request for one,
//! the models that are known, search beside `rg` and in sessions, suggestions beside the model's own time, edits beside
//! `git`, outlines beside `ctags`, questions beside a language server asked directly, and commands beside `bash -c` and
//! `script`.
//!
//! `cargo bench -p e2e` builds the binary as it is packaged and measures it as an editor would see it, over standard
//! input and output, with an instant model on loopback. If `AZIMUTH_BIN` names a binary, such as an older one to
//! compare with, that one is measured instead. Nothing here asserts a time; it reports what it finds.

#![expect(clippy::disallowed_methods, reason = "a benchmark makes its files and starts the program itself")]

mod corpus;
mod edits;
mod inline;
mod lang;
mod registry;
mod requests;
mod search;
mod sessions;
mod shell;
mod symbols;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use harness::process::Process;
use harness::vendor::{Instant as Answer, Vendor};
use serde_json::json;

/// How often a start is measured.
const STARTS: usize = 40;
/// How many rounds of a tool call; at 100 a turn stops and asks.
const ROUNDS: usize = 90;
/// How many pieces an answer streams.
const TOKENS: usize = 50_000;
/// How many events the long session has.
const EVENTS: usize = 10_000;
/// How often it is opened.
const OPENS: usize = 11;

fn main() {
    // `cargo bench` passes flags of the standard harness; the only argument here is which part to run.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|part| part == name);
    // First, since it measures what is asked for first.
    if runs("registry") {
        registry::run();
    }
    let with_binary = ["start", "rounds", "tokens", "open", "requests", "shell", "lang", "inline"].map(runs);
    if with_binary.contains(&true) {
        let binary = std::env::var_os("AZIMUTH_BIN").map_or_else(build, PathBuf::from);
        let size = std::fs::metadata(&binary).expect("the binary").len();
        println!("{:<44} {:>10.1} MB   (aim 60)", "the binary", size as f64 / 1e6);
        let parts = [start, rounds, tokens, open, requests::run, shell::run, lang::run, inline::run];
        parts.iter().zip(with_binary).filter(|(_, wanted)| *wanted).for_each(|(part, _)| part(&binary));
    }
    if runs("search") {
        search::run();
    }
    if runs("sessions") {
        sessions::run();
    }
    if runs("edits") {
        edits::run();
    }
    if runs("symbols") {
        symbols::run();
    }
}

/// Builds the binary as it is packaged and gives its path.
fn build() -> PathBuf {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let mut command = Command::new(cargo);
    // Cargo describes this program to itself there; build scripts that look would run anew, and half of the rest with
    // them.
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
            command.env_remove(name);
        }
    }
    let built = command
        .args(["build", "--profile", "dist", "-p", "azimuth", "--message-format=json-render-diagnostics"])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let lines = String::from_utf8(built.stdout).expect("text");
    let messages = lines.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let binary = messages.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).next_back();
    binary.expect("cargo names the binary")
}

/// From spawning the process to the answer to `initialize`, and what it then holds in memory.
fn start(binary: &Path) {
    let world = World::new(Vec::new());
    // The first start makes the database.
    drop(world.start(binary));
    let mut times: Vec<Duration> = (0..STARTS)
        .map(|_| {
            let began = Instant::now();
            let client = world.start(binary);
            let time = began.elapsed();
            drop(client);
            time
        })
        .collect();
    times.sort();
    let (median, worst) = (times[times.len() / 2], times[times.len() * 95 / 100]);
    println!(
        "{:<44} {:>10.1} ms   (aim 5; 95th percentile {:.1})",
        "spawn to initialize answered",
        ms(median),
        ms(worst)
    );

    let client = world.start(binary);
    std::thread::sleep(Duration::from_secs(2));
    println!("{:<44} {:>10.1} MiB  (aim 10)", "idle memory (PSS) after initialize", client.pss());
    let mut client = client;
    client.session();
    std::thread::sleep(Duration::from_secs(1));
    println!("{:<44} {:>10.1} MiB", "idle memory (PSS) with a session", client.pss());
}

/// Rounds of one tool call each: the request, the answer, the call, its result, all stored and shown.
fn rounds(binary: &Path) {
    let call = |n: usize| Answer::Call { tool: "read_file", input: json!({ "path": format!("file-{n}.txt") }) };
    let mut answers: Vec<_> = (0..ROUNDS).map(call).collect();
    answers.insert(0, Answer::Text { pieces: 1 });
    answers.push(Answer::Text { pieces: 1 });
    let world = World::new(answers);
    for n in 0..ROUNDS {
        std::fs::write(world.project().join(format!("file-{n}.txt")), format!("text {n}\n").repeat(40))
            .expect("a file");
    }
    let mut client = world.start(binary);
    let session = client.session();
    // The first turn pays for the HTTP client and the database's caches.
    client.turn(&session);
    let (began, before) = (Instant::now(), client.cpu());
    client.turn(&session);
    let (wall, cpu) = (began.elapsed(), client.cpu() - before);
    let per = |time: Duration| ms(time) / ROUNDS as f64;
    println!("{:<44} {:>10.2} ms   (aim 2; CPU {:.2})", "a tool round", per(wall), per(cpu));
}

/// One long answer in small pieces.
fn tokens(binary: &Path) {
    let world = World::new(vec![Answer::Text { pieces: 1 }, Answer::Text { pieces: TOKENS }]);
    let mut client = world.start(binary);
    let session = client.session();
    client.turn(&session);
    let (began, before) = (Instant::now(), client.cpu());
    client.turn(&session);
    let (wall, cpu) = (began.elapsed(), client.cpu() - before);
    let per = |time: Duration| time.as_secs_f64() * 1e6 / TOKENS as f64;
    println!("{:<44} {:>10.2} µs   (aim 8; wall {:.2})", "CPU for a streamed token", per(cpu), per(wall));
}

/// Opening a session of many events, by a process that has not, and then by the one that has: from the request until
/// the answer has come in full. Parsing it is the client's.
fn open(binary: &Path) {
    let world = World::new(Vec::new());
    let session = corpus::long_session(&world.data(), &world.project(), EVENTS);
    let params = json!({ "sessionId": session, "since": 0 });
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..OPENS {
        let mut client = world.start(binary);
        // Work that a start leaves to do is not counted.
        client.request("azimuth/session/list", &json!({}));
        for times in &mut times {
            let began = Instant::now();
            let opened = client.request("azimuth/session/open", &params);
            times.push(client.arrived - began);
            let events = opened["events"].as_array().map_or(0, Vec::len);
            assert!(events >= EVENTS, "only {events} events came");
        }
    }
    for (name, mut times) in ["open a session of 10,000 events", "open it again"].into_iter().zip(times) {
        times.sort();
        let (median, worst) = (times[times.len() / 2], times[times.len() - 1]);
        println!("{name:<44} {:>10.1} ms   (aim 50; at worst {:.1})", ms(median), ms(worst));
    }
}

/// A data folder, a project and a vendor.
struct World {
    folder: tempfile::TempDir,
    vendor: Vendor,
}

impl World {
    fn new(answers: Vec<Answer>) -> Self {
        let world = Self { folder: tempfile::tempdir().expect("a folder"), vendor: Vendor::start(answers) };
        std::fs::create_dir(world.project()).expect("a folder");
        world
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Starts the server, up to the answer to `initialize`.
    fn start(&self, binary: &Path) -> Process {
        Process::start(binary, &self.data(), &self.project(), &self.vendor.url())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
