//! What it costs to ask a language server through us: beside the same server asked directly, on the same project in the
//! same run.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::direct::Direct;
use harness::project::uri;
use harness::real::{self, Real};
use protocol::content::Position;
use protocol::lang::{LangQuery, LangResult, LangStatus};
use serde_json::json;
use workspace::buffers::Buffers;
use workspace::lang::Source;
use workspace::lang::brought::Closed;
use workspace::lang::pool::{Access, Servers, ServersConfig};
use workspace::paths::Roots;
use workspace::reader::{NoOverlay, Reader};

/// How often each question is asked.
const TIMES: usize = 200;
/// How many sessions are on one folder.
const SESSIONS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(240);

/// Measures all, on those projects that are installed.
pub fn run() {
    for real in [Real::Python, Real::TypeScript, Real::Cpp] {
        measure(real);
    }
}

fn measure(real: Real) {
    let Some(project) = real.project() else { return };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let _inside = runtime.enter();
    let spot = real.spots()[0];
    let [line, character] = spot.find(&project);
    let at = uri(&project.path(spot.file));
    let query = LangQuery::Definition { uri: at.clone(), position: Position { line, character } };
    let params = json!({ "textDocument": { "uri": at }, "position": { "line": line, "character": character } });

    let start = || {
        let mut direct = Direct::start(&real.server(), real.arguments(), project.folder());
        direct.open(spot.file, real.language());
        direct.ask("textDocument/definition", &params);
        direct
    };
    // Whoever is first reads the server's own files from the disk.
    drop(start());
    let began = Instant::now();
    let mut direct = start();
    let cold_theirs = began.elapsed();

    let servers = Servers::new(ServersConfig { path: Some(real::path()), ..ServersConfig::default() });
    let sessions: Vec<_> = (0..SESSIONS).map(|_| source(&servers, project.folder())).collect();
    let ask = |session: &Arc<dyn Source>| {
        let LangResult { status, message, .. } = runtime.block_on(session.ask(&query, PATIENCE));
        assert_eq!(status, LangStatus::Ready, "{message:?}");
    };
    let began = Instant::now();
    ask(&sessions[0]);
    let cold_ours = began.elapsed();
    println!(
        "{:<44} {:>10.2} x    ({:.0} ms and {:.0} ms)",
        format!("lang: first answer, {}", real.program()),
        cold_ours.as_secs_f64() / cold_theirs.as_secs_f64(),
        crate::ms(cold_ours),
        crate::ms(cold_theirs)
    );

    // They take turns, so that what else the machine does meets both.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let began = Instant::now();
        direct.ask("textDocument/definition", &params);
        theirs.push(began.elapsed());
        let began = Instant::now();
        ask(&sessions[0]);
        ours.push(began.elapsed());
    }
    let (ours, theirs) = (crate::median(ours), crate::median(theirs));
    println!(
        "{:<44} {:>10.2} ms   (aim 2, or 5 %; {:.2} ms and {:.2} ms)",
        format!("lang: a question more than asked directly, {}", real.program()),
        crate::ms(ours) - crate::ms(theirs),
        crate::ms(ours),
        crate::ms(theirs)
    );

    for session in &sessions {
        ask(session);
    }
    let running = runtime.block_on(servers.all());
    let memory: u64 = running.iter().filter_map(|server| server.memory).sum();
    println!(
        "{:<44} {:>10.0} MiB  (aim 1 server; {} runs)",
        format!("lang: {SESSIONS} sessions on one folder, {}", real.program()),
        memory as f64 / f64::from(1 << 20),
        running.len()
    );
    runtime.block_on(servers.stop());
}

fn source(servers: &Arc<Servers>, folder: &Path) -> Arc<dyn Source> {
    let reader = Reader::new(Arc::<Buffers>::default(), Arc::new(NoOverlay));
    let access = Access { trusted: Arc::new(|| true), policy: None, pass: [].into(), gate: Arc::new(Closed) };
    servers.source(Roots::new([folder]).expect("a folder"), reader, access)
}
