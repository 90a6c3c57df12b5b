//! A language server asked directly, by the least that a client can be: what our own answers are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process;
use crate::project::uri;
use crate::real;

/// How long a server may make no progress while something is asked. The slowest read a whole project first, which takes
/// longer the busier the machine is.
const PATIENCE: Duration = Duration::from_secs(240);
/// An answer is taken as the last when it is the same after so long, and nothing is in progress.
const SETTLED: Duration = Duration::from_millis(1500);

/// A language server and its only client, which counts in UTF-16.
pub struct Direct {
    child: Child,
    input: ChildStdin,
    messages: Receiver<(Instant, Vec<u8>)>,
    next_id: i64,
    in_progress: BTreeSet<String>,
    /// When it last told of its progress.
    progressed: Instant,
    folder: PathBuf,
}

impl Direct {
    /// Starts a server for a folder, and waits until it has said what it can.
    ///
    /// # Panics
    /// It does not start.
    pub fn start(program: &Path, arguments: &[&str], folder: &Path) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            // Some start programs of their own, as gopls starts go.
            .env("PATH", real::path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let input = child.stdin.take().expect("a pipe");
        let messages = process::read(BufReader::new(child.stdout.take().expect("a pipe")));
        let (in_progress, progressed, folder) = (BTreeSet::new(), Instant::now(), folder.to_owned());
        let root = uri(&folder);
        let mut server = Self { child, input, messages, next_id: 1, in_progress, progressed, folder };
        let capabilities = json!({
            "window": { "workDoneProgress": true },
            "general": { "positionEncodings": ["utf-16"] },
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "workspaceEdit": { "documentChanges": true, "resourceOperations": ["create", "rename", "delete"] },
                "fileOperations": { "willRename": true },
                "symbol": {},
            },
            "textDocument": {
                "definition": {},
                "references": {},
                "rename": { "prepareSupport": true },
                "publishDiagnostics": { "versionSupport": true },
                "documentSymbol": { "hierarchicalDocumentSymbolSupport": true },
                "codeAction": { "codeActionLiteralSupport": { "codeActionKind": { "valueSet": ["quickfix"] } } },
            },
        });
        let folders = json!([{ "uri": root, "name": "project" }]);
        server.ask(
            "initialize",
            &json!({ "processId": std::process::id(), "rootUri": root, "capabilities": capabilities,
                "workspaceFolders": folders }),
        );
        server.tell("initialized", &json!({}));
        server
    }

    /// Opens a file as it is on disk.
    pub fn open(&mut self, file: &str, language: &str) {
        let path = self.folder.join(file);
        let text = std::fs::read_to_string(&path).expect("a text");
        let document = json!({ "uri": uri(&path), "languageId": language, "version": 1, "text": text });
        self.tell("textDocument/didOpen", &json!({ "textDocument": document }));
    }

    /// Asks once.
    ///
    /// # Panics
    /// The server says that it cannot, or nothing for too long.
    pub fn ask(&mut self, method: &str, params: &Value) -> Value {
        match self.try_ask(method, params) {
            Ok(result) => result,
            Err(error) => panic!("{method}: {error}"),
        }
    }

    /// Asks until the answer no longer changes: a server that still reads the project gives a part of it.
    pub fn ask_until_settled(&mut self, method: &str, params: &Value) -> Value {
        let end = Instant::now() + 4 * PATIENCE;
        self.progressed = Instant::now();
        let mut before = self.try_ask(method, params);
        loop {
            self.listen(SETTLED);
            let now = self.try_ask(method, params);
            if let (Ok(before), Ok(now)) = (&before, &now)
                && before == now
                && self.in_progress.is_empty()
            {
                return now.clone();
            }
            let is_on_its_way = self.progressed.elapsed() < PATIENCE && Instant::now() < end;
            assert!(is_on_its_way, "{method} does not settle: {now:?}, {:?}", self.in_progress);
            before = now;
        }
    }

    /// The lines with errors in some files, by file and from 0, once it has told of each and then nothing more.
    pub fn errors(&mut self, files: &[&str], language: &str) -> BTreeSet<(String, u64)> {
        for file in files {
            self.open(file, language);
        }
        let wanted: BTreeSet<String> = files.iter().map(|file| uri(&self.folder.join(file))).collect();
        let mut told: BTreeMap<String, Value> = BTreeMap::new();
        let end = Instant::now() + PATIENCE;
        loop {
            let is_whole = wanted.iter().all(|uri| told.contains_key(uri)) && self.in_progress.is_empty();
            let Some(mut message) = self.receive(SETTLED) else {
                assert!(is_whole || Instant::now() < end, "only some files are told of: {:?}", told.keys());
                if is_whole {
                    break;
                }
                continue;
            };
            if message["method"] == "textDocument/publishDiagnostics" {
                let uri = message["params"]["uri"].as_str().expect("a URI").to_owned();
                told.insert(uri, message["params"]["diagnostics"].take());
            }
        }
        let mut errors = BTreeSet::new();
        for (file, uri) in files.iter().map(|file| (file, uri(&self.folder.join(file)))) {
            let problems = told.get(&uri).and_then(Value::as_array).into_iter().flatten();
            let of_errors = problems.filter(|problem| problem["severity"] == 1);
            let lines = of_errors.filter_map(|problem| problem["range"]["start"]["line"].as_u64());
            errors.extend(lines.map(|line| ((*file).to_owned(), line)));
        }
        errors
    }

    fn try_ask(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut message = self.receive(PATIENCE).unwrap_or_else(|| panic!("no answer to {method}"));
            if message.get("method").is_none() && message["id"] == id {
                return match message.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(message["result"].take()),
                };
            }
        }
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while self.receive(until.saturating_duration_since(Instant::now())).is_some() {}
    }

    /// The next message, after what it asks was answered; none if nothing comes in time.
    fn receive(&mut self, within: Duration) -> Option<Value> {
        let body = match self.messages.recv_timeout(within) {
            Ok((_, body)) => body,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => panic!("the language server ended"),
        };
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        if message["method"] == "$/progress" {
            self.progressed = Instant::now();
            let token = message["params"]["token"].to_string();
            match message["params"]["value"]["kind"].as_str() {
                Some("begin") => self.in_progress.insert(token),
                Some("end") => self.in_progress.remove(&token),
                _ => false,
            };
        }
        if message.get("method").is_some() && message.get("id").is_some() {
            let items = message["params"]["items"].as_array().map_or(0, Vec::len);
            let result = match message["method"].as_str() {
                Some("workspace/configuration") => json!(vec![Value::Null; items]),
                Some("workspace/applyEdit") => json!({ "applied": false }),
                _ => Value::Null,
            };
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
        }
        Some(message)
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
        self.input.flush().expect("the server reads");
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
