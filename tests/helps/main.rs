//! Do language servers help? Twenty tasks on real projects, each done twice through the server's own tools by a fixed
//! strategy: with a search by text, and with the tools that ask the project's language server. What counts is which
//! lines each finds, against what the language server says when it is asked directly.
//!
//! `cargo run -p e2e --example helps` makes the table of `docs/does-it-help.md`. It does not measure models: a model
//! may search better than the strategy, or use its tools worse.

#![expect(clippy::disallowed_methods, reason = "a comparison prepares its projects itself")]

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};

use harness::direct::Direct;
use harness::real::{self, Real, Spot};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// Set where the language servers are found on `PATH`.
const INSIDE: &str = "AZIMUTH_HELPS";
/// How many lines a search gives at most.
const LIMIT: usize = 200;
/// A first question may wait for a server that reads its project.
const ASKED_AGAIN: usize = 20;

/// Lines of files: the path relative to the project, and the number from 1.
type Lines = BTreeSet<(String, u64)>;

fn main() -> ExitCode {
    if std::env::var_os(INSIDE).is_none() {
        // The server looks for language servers on the path of its process, which is this one.
        let this = std::env::current_exe().expect("this program");
        let status = Command::new(this).env(INSIDE, "1").env("PATH", real::path()).status().expect("it runs again");
        return if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    println!(
        "| Task | True lines | Text: recall | precision | calls | bytes | Server: recall | precision | calls | bytes |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut all = Vec::new();
    for real in Real::ALL {
        all.extend(runtime.block_on(project(real)));
    }
    let mean = |of: &dyn Fn(&Row) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
    println!(
        "| **Mean of {}** | {:.0} | {:.2} | {:.2} | {:.1} | {:.0} | {:.2} | {:.2} | {:.1} | {:.0} |",
        all.len(),
        mean(&|row| row.truth as f64),
        mean(&|row| row.text.recall),
        mean(&|row| row.text.precision),
        mean(&|row| row.text.calls as f64),
        mean(&|row| row.text.bytes as f64),
        mean(&|row| row.server.recall),
        mean(&|row| row.server.precision),
        mean(&|row| row.server.calls as f64),
        mean(&|row| row.server.bytes as f64)
    );
    ExitCode::SUCCESS
}

/// A task and how both did it.
struct Row {
    truth: usize,
    text: Score,
    server: Score,
}

/// How well a strategy did.
struct Score {
    /// The part of the true lines that it found.
    recall: f64,
    /// The part of what it found that is true.
    precision: f64,
    calls: usize,
    bytes: usize,
}

/// The lines that a strategy found, and the calls and bytes that it took.
#[derive(Default)]
struct Found {
    lines: Lines,
    calls: usize,
    bytes: usize,
}

impl Found {
    fn score(&self, truth: &Lines) -> Score {
        let right = self.lines.intersection(truth).count() as f64;
        let of = |all: usize| if all == 0 { 1.0 } else { right / all as f64 };
        Score { recall: of(truth.len()), precision: of(self.lines.len()), calls: self.calls, bytes: self.bytes }
    }
}

/// The tasks of a project: all uses of two names, to rename a third, and a move, what breaks, or the uses of one more.
async fn project(real: Real) -> Vec<Row> {
    let Some(project) = real.project() else { return Vec::new() };
    let [renamed, first, second, broken] = real.spots() else { panic!("four names") };
    let mut rows = Vec::new();
    {
        let mut direct = Direct::start(&real.server(), real.arguments(), project.folder());
        let world = World::start(&project).await;
        // The server reports little of Rust on its own; the compiler says the rest.
        let by_uses = if real == Real::Rust { vec![first, second, broken] } else { vec![first, second] };
        for spot in by_uses {
            let truth = uses(&mut direct, real, &project, spot);
            let text = world.search(&word(spot.name), real).await;
            let server = world.ask("lsp_references", place(spot, &project)).await;
            rows.push(row(&format!("{}: all uses of `{}`", real.name(), spot.name), &truth, &text, &server));
        }
        let truth = renaming(&mut direct, real, &project, renamed);
        let text = world.search(&word(renamed.name), real).await;
        let mut input = place(renamed, &project);
        input["new_name"] = json!("RenamedHere");
        let server = world.edit("lsp_rename", input).await;
        rows.push(row(&format!("{}: rename `{}`", real.name(), renamed.name), &truth, &text, &server));
        world.end().await;
    }
    match real {
        Real::Rust => {}
        Real::TypeScript => rows.push(moving(real, &project).await),
        _ => rows.push(breaking(real, &project, broken).await),
    }
    rows
}

/// A file moves, and its importers follow. What the file itself imports is not counted.
async fn moving(real: Real, project: &Project) -> Row {
    let [from, to] = ["internal/util/lift.ts", "internal/lifting/operate.ts"];
    let mut direct = Direct::start(&real.server(), real.arguments(), project.folder());
    direct.open(from, real.language());
    let files = json!({ "files": [{ "oldUri": project.uri(from), "newUri": project.uri(to) }] });
    let edit = direct.ask_until_settled("workspace/willRenameFiles", &files);
    let world = World::start(project).await;
    let mut text = world.search(r#"['"](\./|\.\./)([^'"]*/)?lift['"]"#, real).await;
    let mut server = world.edit("lsp_move_file", json!({ "from": from, "to": to })).await;
    world.end().await;
    let mut truth = edited(&edit, project);
    for lines in [&mut truth, &mut text.lines, &mut server.lines] {
        lines.retain(|(file, _)| file != from && file != to);
    }
    row(&format!("{}: move `{from}`", real.name()), &truth, &text, &server)
}

/// A name is changed where it is defined and nowhere else: which lines does that break? With the server's problems, of
/// the files that the name stands in.
async fn breaking(real: Real, project: &Project, spot: &Spot) -> Row {
    let text = project.read(spot.file);
    let gone = spot.line.replacen(spot.name, &format!("{}Gone", spot.name), 1);
    project.write(spot.file, &text.replacen(spot.line, &gone, 1));
    let world = World::start(project).await;
    let mut text = world.search(&word(spot.name), real).await;
    let files: BTreeSet<String> = text.lines.iter().map(|(file, _)| file.clone()).collect();

    let mut direct = Direct::start(&real.server(), real.arguments(), project.folder());
    let has_name = |(file, line): &(String, u64)| {
        let text = project.read(file);
        text.lines().nth(usize::try_from(*line - 1).unwrap_or_default()).is_some_and(|line| line.contains(spot.name))
    };
    let names: Vec<&str> = files.iter().map(String::as_str).collect();
    let truth: Lines = direct
        .errors(&names, real.language())
        .into_iter()
        .map(|(file, line)| (file, line + 1))
        .filter(has_name)
        .collect();
    let mut server = Found { lines: Lines::new(), calls: text.calls, bytes: text.bytes };
    for file in &files {
        let more = world.ask("lsp_diagnostics", json!({ "path": file, "severity": "error" })).await;
        server.lines.extend(more.lines.into_iter().filter(has_name));
        server.calls += more.calls;
        server.bytes += more.bytes;
    }
    // Its definition is what was changed.
    text.lines.retain(|(file, line)| file != spot.file || has_name(&(file.clone(), *line)));
    world.end().await;
    row(&format!("{}: what a lost `{}` breaks", real.name(), spot.name), &truth, &text, &server)
}

fn word(name: &str) -> String {
    format!(r"\b{name}\b")
}

/// Tells of a task.
fn row(task: &str, truth: &Lines, text: &Found, server: &Found) -> Row {
    let row = Row { truth: truth.len(), text: text.score(truth), server: server.score(truth) };
    let of =
        |score: &Score| format!("{:.2} | {:.2} | {} | {}", score.recall, score.precision, score.calls, score.bytes);
    println!("| {task} | {} | {} | {} |", row.truth, of(&row.text), of(&row.server));
    row
}

fn place(spot: &Spot, project: &Project) -> Value {
    json!({ "path": spot.file, "line": spot.find(project)[0] + 1, "text": spot.name })
}

/// Where the server says that a name is used, its definition too.
fn uses(direct: &mut Direct, real: Real, project: &Project, spot: &Spot) -> Lines {
    let mut params = opened(direct, real, project, spot);
    params["context"] = json!({ "includeDeclaration": true });
    let answer = direct.ask_until_settled("textDocument/references", &params);
    let line = |place: &Value| line_of(project, &place["uri"], &place["range"]);
    answer.as_array().expect("places").iter().map(line).collect()
}

/// Which lines the server would change to rename something.
fn renaming(direct: &mut Direct, real: Real, project: &Project, spot: &Spot) -> Lines {
    let mut params = opened(direct, real, project, spot);
    params["newName"] = json!("RenamedHere");
    edited(&direct.ask_until_settled("textDocument/rename", &params), project)
}

fn opened(direct: &mut Direct, real: Real, project: &Project, spot: &Spot) -> Value {
    direct.open(spot.file, real.language());
    let [line, character] = spot.find(project);
    let position = json!({ "line": line, "character": character });
    json!({ "textDocument": { "uri": project.uri(spot.file) }, "position": position })
}

/// The lines that a workspace edit changes.
fn edited(edit: &Value, project: &Project) -> Lines {
    let documents = edit["documentChanges"].as_array().into_iter().flatten();
    let documents = documents.map(|change| (change["textDocument"]["uri"].clone(), change["edits"].clone()));
    let by_name = edit["changes"].as_object().into_iter().flatten();
    let all = documents.chain(by_name.map(|(uri, edits)| (json!(uri), edits.clone())));
    let mut lines = Lines::new();
    for (uri, edits) in all {
        lines.extend(edits.as_array().into_iter().flatten().map(|edit| line_of(project, &uri, &edit["range"])));
    }
    lines
}

fn line_of(project: &Project, uri: &Value, range: &Value) -> (String, u64) {
    let path = harness::project::path(uri.as_str().expect("a URI"));
    let path = path.strip_prefix(project.folder()).unwrap_or(&path).display().to_string();
    (path, range["start"]["line"].as_u64().expect("a line") + 1)
}

/// The whole server, with a model that calls what it is told to.
struct World {
    model: ModelServer,
    _setup: Setup,
    client: Client,
    session: SessionId,
}

impl World {
    async fn start(project: &Project) -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        setup.configure(&Setup::configuration(&model, Wire::Chat));
        let client = Client::start(&setup, project, Profile::panel()).await;
        let session = client.new_session().await;
        Self { model, _setup: setup, client, session }
    }

    async fn end(self) {
        self.client.finish().await;
    }

    /// Has the model call a tool, and returns the text of the result.
    async fn call(&self, tool: &str, input: &Value) -> String {
        self.model.then(Answer::calls(tool, input.clone()));
        self.model.then(Answer::says("Done."));
        self.client.prompt(&self.session, "Do it.").await;
        let events = self.client.until_end(&self.session, StopReason::EndTurn).await;
        let told = events.iter().find_map(|event| match event {
            Event::ToolCallEnded { result, .. } => Some(result.text.clone()),
            _ => None,
        });
        told.expect("a result")
    }

    /// All lines that a regular expression fits, in files of the project's language.
    async fn search(&self, pattern: &str, real: Real) -> Found {
        let glob = match real {
            Real::Rust => "*.rs",
            Real::Python => "*.py",
            Real::TypeScript => "*.ts",
            Real::Cpp => "*.{h,cc}",
            Real::Go => "*.go",
        };
        let told =
            self.call("search_text", &json!({ "query": pattern, "regex": true, "glob": glob, "limit": LIMIT })).await;
        Found { lines: places(&told), calls: 1, bytes: told.len() }
    }

    /// Has the model call a tool that asks the language server, and returns what that finds. While the server still
    /// reads the project, the tool is called again, and each call counts.
    async fn ask(&self, tool: &str, input: Value) -> Found {
        let mut found = Found::default();
        for _ in 0..ASKED_AGAIN {
            let told = self.call(tool, &input).await;
            found.calls += 1;
            found.bytes += told.len();
            found.lines = places(&told);
            if told.contains(": ready") || told.contains("[ready") {
                break;
            }
        }
        found
    }

    /// The lines that a tool proposes to change.
    async fn edit(&self, tool: &str, input: Value) -> Found {
        let mut found = self.ask_to_edit(tool, &input).await;
        let listed = self.client.call::<methods::ReviewList>(json!({ "sessionId": self.session })).await;
        for proposal in listed.proposals {
            for hunk in proposal.hunks {
                let (old, new): (Vec<_>, Vec<_>) = (hunk.old_text.lines().collect(), hunk.new_text.lines().collect());
                let changed = (0..old.len()).filter(|index| old.get(*index) != new.get(*index));
                let line = |index: usize| u64::from(hunk.start_line) + index as u64 + 1;
                found.lines.extend(changed.map(|index| (proposal.path.clone(), line(index))));
            }
        }
        found
    }

    async fn ask_to_edit(&self, tool: &str, input: &Value) -> Found {
        let mut found = Found::default();
        for _ in 0..ASKED_AGAIN {
            let told = self.call(tool, input).await;
            found.calls += 1;
            found.bytes += told.len();
            if !told.contains("ask again") {
                break;
            }
        }
        found
    }
}

/// The places of lines that are `path:line: code`, `path:line#tag: code` or `path:line,line`.
fn places(told: &str) -> Lines {
    let mut lines = Lines::new();
    for (path, rest) in told.lines().filter_map(|line| line.split_once(':')) {
        let numbers = rest.split([':', '#']).next().unwrap_or_default();
        let numbers: Option<Vec<u64>> = numbers.split(',').map(|number| number.parse().ok()).collect();
        lines.extend(numbers.into_iter().flatten().map(|number| (path.to_owned(), number)));
    }
    lines
}
