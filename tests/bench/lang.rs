//! The cost of asking a language server through us, with and without the sandbox that it runs in: beside the same
//! server asked directly, on the same project in the same run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::direct::Direct;
use harness::project::uri;
use harness::real::{self, Real};
use lang::Source;
use lang::brought::Closed;
use lang::pool::{Access, Servers, ServersConfig};
use process::sandbox::{Policy, Settings, World};
use project::buffers::Buffers;
use project::paths::Roots;
use project::reader::{NoOverlay, Reader};
use protocol::content::Position;
use protocol::lang::{LangQuery, LangResult, LangStatus};
use serde_json::json;

/// How often each question is asked.
const TIMES: usize = 200;
/// How many sessions are on one folder.
const SESSIONS: usize = 10;
const PATIENCE: Duration = Duration::from_secs(240);

/// How often a server is started, in each way.
const STARTS: usize = 5;

/// Measures all, on those projects that are installed. `binary` holds the servers' processes.
pub fn run(binary: &Path) {
    for real in [Real::Python, Real::TypeScript, Real::Cpp] {
        measure(real, binary);
    }
}

fn measure(real: Real, binary: &Path) {
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
    let pool = || {
        let (path, supervisor) = (Some(real::path()), Some(binary.to_owned()));
        Servers::new(ServersConfig { path, supervisor, ..ServersConfig::default() })
    };
    let policy = in_the_sandbox(project.folder());
    let ask = |session: &Arc<dyn Source>| {
        let LangResult { status, message, .. } = runtime.block_on(session.ask(&query, PATIENCE));
        assert_eq!(status, LangStatus::Ready, "{message:?}");
    };
    // They take turns, so that what else the machine does meets all.
    let (mut cold, mut cold_free, mut cold_theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = Instant::now();
        drop(start());
        cold_theirs.push(began.elapsed());
        for (policy, times) in [(&policy, &mut cold), (&None, &mut cold_free)] {
            let servers = pool();
            let began = Instant::now();
            ask(&source(&servers, project.folder(), policy.clone()));
            times.push(began.elapsed());
            runtime.block_on(servers.stop());
        }
    }
    let [cold, cold_free, cold_theirs] = [cold, cold_free, cold_theirs].map(crate::median);
    println!(
        "{:<44} {:>10.2} x    ({:.0} ms; without a sandbox {:.0} ms, asked directly {:.0} ms)",
        format!("lang: first answer, {}", real.program()),
        cold.as_secs_f64() / cold_theirs.as_secs_f64(),
        crate::ms(cold),
        crate::ms(cold_free),
        crate::ms(cold_theirs)
    );

    let (mut direct, servers) = (start(), pool());
    let sessions = [(); SESSIONS].map(|()| source(&servers, project.folder(), policy.clone()));
    let free = source(&servers, project.folder(), None);
    ask(&sessions[0]);
    ask(&free);
    let (mut ours, mut free_times, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let began = Instant::now();
        direct.ask("textDocument/definition", &params);
        theirs.push(began.elapsed());
        for (session, times) in [(&sessions[0], &mut ours), (&free, &mut free_times)] {
            let began = Instant::now();
            ask(session);
            times.push(began.elapsed());
        }
    }
    let [ours, free_times, theirs] = [ours, free_times, theirs].map(crate::median);
    println!(
        "{:<44} {:>10.2} ms   (aim 2, or 5 %; {:.2} ms; without a sandbox {:.2} ms, directly {:.2} ms)",
        format!("lang: a question more than asked directly, {}", real.program()),
        crate::ms(ours) - crate::ms(theirs),
        crate::ms(ours),
        crate::ms(free_times),
        crate::ms(theirs)
    );

    drop(free);
    runtime.block_on(servers.stop());
    let servers = pool();
    let sessions = sessions.map(|_| source(&servers, project.folder(), policy.clone()));
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

/// The sandbox that a session in this folder has by default.
fn in_the_sandbox(folder: &Path) -> Option<Arc<Policy>> {
    let folders: [PathBuf; 1] = [folder.to_owned()];
    let environment = |name: &str| std::env::var_os(name);
    let world = World {
        folders: &folders,
        repositories: &[],
        own: &[],
        denied: &[],
        credentials: &[],
        environment: &environment,
    };
    Policy::new(&Settings::default(), &world).map(|policy| Arc::new(policy.resolved()))
}

fn source(servers: &Arc<Servers>, folder: &Path, policy: Option<Arc<Policy>>) -> Arc<dyn Source> {
    let reader = Reader::new(Arc::<Buffers>::default(), Arc::new(NoOverlay));
    let sessions = Arc::new(|| Ok(Vec::new()));
    let access = Access { trusted: Arc::new(|| true), policy, pass: [].into(), gate: Arc::new(Closed), sessions };
    servers.source(Roots::new([folder]).expect("a folder"), reader, access)
}
