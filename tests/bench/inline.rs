//! Suggestions where the user types: what we add to a model's own time, how soon a request ends that nobody needs any
//! more, what is kept of open files, how much of a prompt stays the same, and how often a model is asked, by recordings
//! of people who typed (`tests/corpus/inline/traces`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::process::Process;
use harness::{FillServer, Filled};
use inline::before::{Cursor, Event, Limits, silence};
use inline::cache::{Answer, Cache};
use inline::engine::{Ask, Engine, RunId, Step};
use inline::journal::{By, Journal, View};
use inline::splice::between;
use project::text::LineIndex;
use protocol::inline::Rule;
use serde_json::{Value, json};

/// The lines of the long file.
const LINES: usize = 10_000;
/// How often each is measured.
const TIMES: usize = 300;
/// The time that the model takes.
const MODEL: Duration = Duration::from_millis(20);
/// The time that a model takes in the replays, of a small one on a graphics card.
const REPLAYED: Duration = Duration::from_millis(150);

/// Measures all.
pub fn run(binary: &Path) {
    overhead(binary);
    editing(binary);
    cancelling(binary);
    steadiness(binary);
    keeping(binary);
    replays();
}

/// The times of requests in a file of 10,000 lines beyond the model's own, and of those that need no model.
fn overhead(binary: &Path) {
    let model = FillServer::start(|_| Filled::with("value_of(line, column);").after(MODEL));
    let mut world = World::new(binary, &model);
    let (mut asked, mut kept, mut changes) = (Vec::new(), Vec::new(), Vec::new());
    for time in 0..TIMES {
        let line = LINES / 2 + time % 50;
        world.replace_line(line, &format!("    let number_{time} = "));
        let began = Instant::now();
        let result = world.complete("invoked");
        let total = world.client.arrived - began;
        let of_model = model.asked().last().and_then(|it| Some(it.answered? - it.at)).expect("it was asked");
        asked.push(total.saturating_sub(of_model));
        assert_eq!(result["items"][0]["text"], "value_of(line, column);", "{result}");
        for typed in ["v", "a", "l"] {
            let before = world.client.cpu();
            world.type_on(typed);
            let began = Instant::now();
            let result = world.complete("automatic");
            kept.push(world.client.arrived - began);
            assert!(result["items"][0]["text"].as_str().is_some(), "{result}");
            changes.push(world.client.cpu() - before);
        }
    }
    report("asking a model, beyond its own time", &mut asked, "aim 2; p99 5");
    report("what the user types of a suggestion", &mut kept, "aim 1");
    let cpu: Duration = changes.iter().sum();
    let each = cpu.as_secs_f64() * 1e3 / changes.len() as f64;
    println!("{:<44} {each:>10.2} ms", "CPU of a key with its request");
}

/// The same for a suggested edit, and from its acceptance to the changed document.
fn editing(binary: &Path) {
    let model = FillServer::start(|asked| asked.replaced("value_of(own_", "item_of(own_").after(MODEL));
    let mut world = World::with(binary, &model.edit_configuration(), 0);
    let (mut asked, mut followed) = (Vec::new(), Vec::new());
    for time in 0..TIMES / 3 {
        world.replace_line(LINES / 2 + time * 12, &format!("    let number_{time} = value_of(own_{time});"));
        let began = Instant::now();
        let result = world.edit();
        let total = world.client.arrived - began;
        // The edit after each is looked for ahead, so there are other requests.
        let own = format!("value_of(own_{time})");
        let asked_so = model.asked().into_iter().find(|it| it.window().contains(&own));
        let of_model = asked_so.and_then(|it| Some(it.answered? - it.at)).expect("it was asked");
        asked.push(total.saturating_sub(of_model));
        assert!(result["edit"]["hunks"][0]["text"].is_string(), "{result}");
        // A change elsewhere moves the edit, and the client is told.
        let began = Instant::now();
        world.insert_line(1, "// above");
        while world.client.next_message()["method"] != "azimuth/inline/changed" {}
        followed.push(began.elapsed());
        let feedback = json!({ "id": result["edit"]["id"], "event": "ignored" });
        world.client.request("azimuth/inline/feedback", &feedback);
    }
    report("asking a model for an edit, beyond its time", &mut asked, "aim 2; p99 5");
    report("from a change elsewhere to the moved edit", &mut followed, "aim 2");
}

/// The share of what a model reads that it has read for the key before: its server keeps that.
fn steadiness(binary: &Path) {
    let model = FillServer::start(|_| Filled::with("!"));
    let mut world = World::with(binary, &model.configuration(), 8);
    world.replace_line(LINES / 2, "    ");
    for letter in "let total_of_all_numbers = numbers.iter().map(|it| it.value).filter(Option::is_some)".chars() {
        world.type_on(&letter.to_string());
        world.complete("invoked");
    }
    let prompts: Vec<String> = model
        .asked()
        .iter()
        .map(|asked| {
            let extra: String = asked.extra().into_iter().map(|(path, text)| format!("{path}\n{text}")).collect();
            format!("{extra}{}", asked.prefix())
        })
        .collect();
    let share = |pair: &[String]| {
        let same = inline::splice::common_prefix(&pair[0], &pair[1]);
        same as f64 / pair[1].len() as f64
    };
    let shares: Vec<f64> = prompts.windows(2).map(share).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let least = shares.iter().copied().fold(1.0, f64::min);
    println!(
        "{:<44} {:>9.1} %   (aim 90; here least {:.1})",
        "of a prompt as for the key before",
        mean * 100.0,
        least * 100.0
    );
}

/// The cost of what is kept of 200 open files, in processor time for each key and in memory.
fn keeping(binary: &Path) {
    const KEYS: u32 = 400;
    let model = FillServer::start(|_| Filled::with("value"));
    let cost = |configuration: &str| {
        let mut world = World::with(binary, configuration, 200);
        world.replace_line(LINES / 2, "    let x = ");
        if !configuration.is_empty() {
            // Parts of the other files are made with the first request.
            world.complete("invoked");
        }
        world.replace_line(LINES / 2, "    let x = ");
        let before = world.client.cpu();
        for _ in 0..KEYS {
            world.type_on("y");
            // Nobody types faster than the server takes it.
            world.client.request("azimuth/inline/explain", &json!({}));
        }
        ((world.client.cpu() - before) / KEYS, world.client.pss())
    };
    let ((off, memory_off), (on, memory_on)) = (cost(""), cost(&model.configuration()));
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{:<44} {:>10.3} ms   (aim 0.2; without suggestions {:.3})",
        "CPU of a key with 200 files open",
        ms(on),
        ms(off)
    );
    println!("{:<44} {:>10.1} MiB  (aim 5)", "memory for them, beyond that without", memory_on - memory_off);
}

/// From the word that nobody needs an answer to the end of the connection, in both ways.
fn cancelling(binary: &Path) {
    let model = FillServer::start(|_| Filled::with("value").hanging());
    let mut world = World::new(binary, &model);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let (mut by_word, mut by_key) = (Vec::new(), Vec::new());
    for time in 0..40 {
        world.replace_line(LINES / 2, &format!("    let number_{time} = "));
        let id = world.ask("invoked");
        runtime.block_on(model.asked_times(time + 1));
        let began = Instant::now();
        match time % 2 {
            0 => world.client.notify("$/cancelRequest", &json!({ "id": id })),
            _ => world.type_on("x"),
        }
        let took = runtime.block_on(model.closed(time)) - began;
        if time % 2 == 0 { by_word.push(took) } else { by_key.push(took) }
    }
    report("from a cancelled request to its end", &mut by_word, "aim 10");
    report("from another key to its end", &mut by_key, "aim 10");
}

/// How often a model is asked while the people of the recordings type, whose model always knows what they will type.
fn replays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/inline/traces");
    let mut traces: Vec<_> =
        std::fs::read_dir(&folder).expect("the recordings").flatten().map(|it| it.path()).collect();
    traces.retain(|path| path.extension().is_some_and(|end| end == "json"));
    traces.sort();
    let mut all = Count::default();
    for path in traces {
        let trace: Value = serde_json::from_slice(&std::fs::read(&path).expect("a recording")).expect("JSON");
        all.add(&replay(&trace));
    }
    let Count { keys, requests, followed, followed_without, vanished } = all;
    println!("{:<44} {:>10}", "keys of the recordings", keys);
    println!("{:<44} {:>10.2}   (aim 0.30)", "requests for each key", requests as f64 / keys as f64);
    let share = 100.0 * followed_without as f64 / followed.max(1) as f64;
    println!("{:<44} {share:>10.1} %   (aim 95; {followed} keys)", "keys into a suggestion that asked nothing");
    println!("{:<44} {vanished:>10}   (aim 0)", "suggestions that vanished and came again");
}

#[derive(Default)]
struct Count {
    keys: usize,
    requests: usize,
    /// Keys that typed on what was shown, and those of them that asked no model.
    followed: usize,
    followed_without: usize,
    vanished: usize,
}

impl Count {
    fn add(&mut self, other: &Self) {
        self.keys += other.keys;
        self.requests += other.requests;
        self.followed += other.followed;
        self.followed_without += other.followed_without;
        self.vanished += other.vanished;
    }
}

/// A change of a recording: its time, its document, and the text after it.
struct Change {
    at: Duration,
    document: u64,
    path: String,
    text: Arc<str>,
    /// The cursor after a key; none for a change that is no single one.
    cursor: Option<usize>,
}

/// Plays a recording: each key is followed by a request, as editors send them, and a model answers with what was
/// typed next.
fn replay(trace: &Value) -> Count {
    let changes = changes(trace);
    let mut count = Count::default();
    let start = Instant::now();
    let (mut cache, mut journal) = (Cache::default(), Journal::default());
    let mut engines: BTreeMap<u64, Engine> = BTreeMap::new();
    let mut texts: BTreeMap<u64, Arc<str>> = BTreeMap::new();
    let mut running: Vec<(Instant, u64, RunId, Ask, usize)> = Vec::new();
    let mut shown: Option<(u64, String)> = None;
    let mut lost: Option<String> = None;
    for (number, change) in changes.iter().enumerate() {
        let now = start + change.at;
        // Before this key, requests begin and answers come.
        loop {
            let due = engines.iter().filter_map(|(id, engine)| Some((engine.due()?, *id))).min();
            let answer = running.iter().map(|(at, id, ..)| (*at, *id)).min();
            match (due, answer) {
                (Some((due, id)), answer) if due <= now && answer.is_none_or(|(at, _)| due <= at) => {
                    let Some((run, ask)) = engines.get_mut(&id).and_then(|engine| engine.start(due)) else { break };
                    count.requests += 1;
                    running.push((due + REPLAYED, id, run, ask, number));
                }
                (_, Some((at, _))) if at <= now => {
                    let next = running.iter().position(|(time, ..)| *time == at).expect("a request");
                    let (at, id, run, ask, from) = running.remove(next);
                    let engine = engines.get_mut(&id).expect("an engine");
                    let oracle = oracle(&changes[from..], id, &ask);
                    let answer =
                        if oracle.is_empty() { Err(Rule::Empty) } else { Ok(Answer { text: oracle, replaces: 0 }) };
                    let is_awaited = engine.answered(run, &ask, answer, &mut cache, at);
                    if let (true, Some(text)) = (is_awaited, texts.get(&id))
                        && let Some(Step::Have(found)) = changes[..number]
                            .iter()
                            .rev()
                            .find(|earlier| earlier.document == id)
                            .and_then(|earlier| engine.find(&asking(text, earlier.cursor?), &mut cache, at))
                    {
                        count.vanished += usize::from(lost.as_ref() == Some(&found.text));
                        shown = Some((id, found.text));
                    }
                }
                _ => break,
            }
        }
        let engine = engines.entry(change.document).or_insert_with(|| Engine::new(&change.document.to_string()));
        let old = texts.insert(change.document, Arc::clone(&change.text));
        if let Some(old) = &old
            && let Some(splice) = between(old, &change.text)
        {
            engine.changed(old, &change.text, &splice, now);
            let [old_lines, new_lines] = [old, &change.text].map(|text| LineIndex::new(text));
            let (old, new) = (View { text: old, lines: &old_lines }, View { text: &change.text, lines: &new_lines });
            journal.record(&change.document.to_string(), old, new, &[splice], By::User, now);
        }
        let Some(cursor) = change.cursor else {
            shown = None;
            continue;
        };
        count.keys += 1;
        let typed = change.text.get(..cursor).and_then(|before| before.chars().next_back());
        let follows = shown.as_ref().is_some_and(|(id, text)| {
            *id == change.document
                && typed.is_some_and(|typed| text.starts_with(typed) && text.len() > typed.len_utf8())
        });
        let ask = asking(&change.text, cursor);
        // The rules before a request, as the server has them: a known suggestion passes those on what was typed.
        let at = Cursor { path: Path::new(&change.path), text: &change.text, cursor };
        let last = journal.last_change(&change.document.to_string());
        let event = Event { change: last, ..Event::default() };
        let step = match silence(&at, &event, &Limits::default()) {
            None => engine.ask(ask, &mut cache, now),
            Some(rule @ (Rule::Undo | Rule::Deletion)) => {
                engine.find(&ask, &mut cache, now).unwrap_or(Step::Silent(rule))
            }
            Some(rule) => Step::Silent(rule),
        };
        count.followed += usize::from(follows);
        count.followed_without += usize::from(follows && matches!(step, Step::Have(_)));
        let before = shown.take();
        match step {
            Step::Have(answer) => shown = Some((change.document, answer.text)),
            _ => lost = before.map(|(_, text)| text),
        }
    }
    count
}

fn asking(text: &Arc<str>, offset: usize) -> Ask {
    Ask { text: Arc::clone(text), offset, is_invoked: false, is_ahead: false }
}

/// The text that was typed at a place from a change on, up to the end of its line.
fn oracle(changes: &[Change], document: u64, ask: &Ask) -> String {
    let (mut text, mut at, mut typed) = (Arc::clone(&ask.text), ask.offset, String::new());
    for change in changes.iter().filter(|change| change.document == document) {
        let Some(splice) = between(&text, &change.text) else { continue };
        let grown = change.text.len().checked_sub(text.len()).filter(|grown| *grown > 0 && splice.range.is_empty());
        let Some(new) = grown.and_then(|grown| change.text.get(at..at + grown)) else { break };
        if change.text.get(..at) != text.get(..at) || change.text.get(at + new.len()..) != text.get(at..) {
            break;
        }
        typed.push_str(new);
        at += new.len();
        text = Arc::clone(&change.text);
        if typed.contains('\n') {
            break;
        }
    }
    typed.lines().next().unwrap_or_default().to_owned()
}

/// The changes of a recording.
fn changes(trace: &Value) -> Vec<Change> {
    let mut texts: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
    let mut kept: BTreeMap<String, Vec<u16>> = BTreeMap::new();
    let mut found = Vec::new();
    for row in trace["log"].as_array().expect("a log") {
        let (kind, id) = (row[0].as_str().expect("a kind"), row[1].as_u64().expect("a document"));
        let at = Duration::from_millis(row[2].as_u64().unwrap_or_default());
        let name = format!("{id} {}", row[3]);
        let text = texts.entry(id).or_default();
        let mut cursor = None;
        match kind {
            "set" => *text = row[3].as_str().expect("a text").encode_utf16().collect(),
            "store" => drop(kept.insert(name, text.clone())),
            "restore" => *text = kept.get(&name).cloned().unwrap_or_default(),
            _ => {
                // Each edit is of the text before them all.
                let edits = row[3].as_array().expect("edits");
                for edit in edits.iter().rev() {
                    let place = |part: usize| usize::try_from(edit[part].as_u64().expect("a place")).expect("a place");
                    let new: Vec<u16> = edit[2].as_str().expect("a text").encode_utf16().collect();
                    cursor = (edits.len() == 1).then_some(place(0) + new.len());
                    text.splice(place(0).min(text.len())..place(1).min(text.len()), new);
                }
            }
        }
        let before = cursor.map(|cursor| String::from_utf16_lossy(&text[..cursor.min(text.len())]).len());
        let path = trace["documents"][id.to_string()].as_str().unwrap_or("unknown.txt").to_owned();
        found.push(Change { at, document: id, path, text: String::from_utf16_lossy(text).into(), cursor: before });
    }
    found
}

/// A server with a long file open.
struct World {
    client: Process,
    uri: String,
    version: i64,
    line: usize,
    typed: String,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(binary: &Path, model: &FillServer) -> Self {
        Self::with(binary, &model.configuration(), 0)
    }

    /// A server with this configuration, and so many other files open.
    fn with(binary: &Path, configuration: &str, others: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = folder.path().join("project");
        std::fs::create_dir(&project).expect("a folder");
        let data = folder.path().join("data");
        std::fs::create_dir(&data).expect("a folder");
        std::fs::write(data.join("no-config.toml"), configuration).expect("a file");
        let text: String =
            (0..LINES).map(|line| format!("    let number_of_line_{line} = value_of({line});\n")).collect();
        let file = project.join("long.rs");
        std::fs::write(&file, &text).expect("a file");
        let mut client = Process::start(binary, &data, &project, "http://127.0.0.1:9");
        let uri = harness::project::uri(&file);
        let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
        client.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        for number in 0..others {
            let text: String =
                (0..200).map(|line| format!("    fn item_{number}_{line}() -> u32 {{ value_of({line}) }}\n")).collect();
            let file = project.join(format!("file_{number}.rs"));
            std::fs::write(&file, &text).expect("a file");
            let uri = harness::project::uri(&file);
            let document = json!({ "uri": uri, "languageId": "rust", "version": 1, "text": text });
            client.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        }
        Self { client, uri, version: 1, line: 0, typed: String::new(), _folder: folder }
    }

    fn replace_line(&mut self, line: usize, text: &str) {
        let range = json!({ "start": { "line": line, "character": 0 }, "end": { "line": line, "character": 100_000 } });
        self.change(&range, text);
        (self.line, self.typed) = (line, text.to_owned());
    }

    fn insert_line(&mut self, line: usize, text: &str) {
        let at = json!({ "line": line, "character": 0 });
        self.change(&json!({ "start": at, "end": at }), &format!("{text}\n"));
        self.line += 1;
    }

    fn edit(&mut self) -> Value {
        let params = self.params("invoked");
        self.client.request("azimuth/inline/edit", &params)
    }

    fn type_on(&mut self, text: &str) {
        let end = json!({ "line": self.line, "character": self.typed.len() });
        self.change(&json!({ "start": end, "end": end }), text);
        self.typed.push_str(text);
    }

    fn change(&mut self, range: &Value, text: &str) {
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        let changes = json!([{ "range": range, "text": text }]);
        self.client.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": changes }));
    }

    fn params(&self, trigger: &str) -> Value {
        json!({ "textDocument": { "uri": self.uri, "version": self.version }, "trigger": trigger,
            "position": { "line": self.line, "character": self.typed.len() } })
    }

    fn ask(&mut self, trigger: &str) -> i64 {
        let params = self.params(trigger);
        self.client.ask("azimuth/inline/complete", &params)
    }

    fn complete(&mut self, trigger: &str) -> Value {
        let params = self.params(trigger);
        self.client.request("azimuth/inline/complete", &params)
    }
}

fn report(name: &str, times: &mut [Duration], aim: &str) {
    times.sort();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (median, worst) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!("{name:<44} {:>10.2} ms   ({aim}; here p99 {:.2})", ms(median), ms(worst));
}
