//! The server as an editor sees it: a process that speaks framed JSON. For benchmarks and for tests that kill it; it
//! blocks, and keeps out of the way.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{PATIENCE, vendors};

/// A running server and its editor.
pub struct Process {
    child: Child,
    input: ChildStdin,
    messages: Receiver<(Instant, Vec<u8>)>,
    /// When the last message that was looked at had come in full. What it takes to parse it comes after that.
    pub arrived: Instant,
    /// The events that came, in order.
    pub events: Vec<Value>,
    next_id: i64,
}

impl Process {
    /// Starts the server with a vendor of Chat Completions, and waits for the answer to `initialize`.
    pub fn start(binary: &Path, data: &Path, project: &Path, vendor: &str) -> Self {
        let mut command = Command::new(binary);
        for name in vendors::variables() {
            command.env_remove(name);
        }
        let mut child = command
            .arg("lsp")
            .env("AZIMUTH_DATA_DIR", data)
            .env("AZIMUTH_CONFIG", data.join("no-config.toml"))
            .env("XDG_RUNTIME_DIR", data)
            .env("OPENAI_BASE_URL", vendor)
            .env("OPENAI_API_KEY", "bench")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("a pipe");
        let messages = read(BufReader::new(child.stdout.take().expect("a pipe")));
        let mut client = Self { child, input, messages, arrived: Instant::now(), events: Vec::new(), next_id: 1 };
        let root = format!("file://{}", project.display());
        let capabilities = json!({ "experimental": { "azimuth": { "panel": true } } });
        // The start files of whoever runs the tests may take any time.
        let options = json!({ "workspaceTrust": "trusted", "shellRc": false });
        let params = json!({ "processId": null, "rootUri": root, "capabilities": capabilities,
            "initializationOptions": options });
        client.request("initialize", &params);
        client.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        client
    }

    /// Makes a session.
    pub fn session(&mut self) -> String {
        let made = self.request("azimuth/session/new", &json!({ "model": "openai/gpt-5.1" }));
        made["session"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Runs a turn to its end.
    pub fn turn(&mut self, session: &str) {
        let prompt = json!([{ "type": "text", "text": "Go." }]);
        self.request("azimuth/turn/start", &json!({ "sessionId": session, "prompt": prompt }));
        let ended = self.event("turnEnded");
        assert_eq!(ended["event"]["stopReason"], "end_turn", "{ended}");
    }

    /// Waits for the next event of a type. It carries its number.
    pub fn event(&mut self, kind: &str) -> Value {
        loop {
            let message = self.receive().unwrap_or_else(|| panic!("the server ended before a {kind}"));
            if message["params"]["event"]["type"] == kind {
                return message["params"].clone();
            }
        }
    }

    /// Takes in what the server says, for so long or until it ends.
    pub fn listen(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Ok(message) = self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.take(message);
        }
    }

    /// Kills it as a crash would, and takes in what it had said.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        while let Ok(message) = self.messages.recv() {
            self.take(message);
        }
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.ask(method, params);
        loop {
            let mut message = self.receive().unwrap_or_else(|| panic!("the server ended before it answered {method}"));
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].take();
            }
        }
    }

    /// Sends a request and does not wait. Gives its id.
    pub fn ask(&mut self, method: &str, params: &Value) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The processor time used so far.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("the process");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        // utime and stime are the 14th and 15th field of proc(5), in ticks of 10 ms.
        let ticks: u64 = fields[11].parse::<u64>().expect("utime") + fields[12].parse::<u64>().expect("stime");
        Duration::from_millis(ticks * 10)
    }

    /// The next message, whatever it is.
    pub fn next_message(&mut self) -> Value {
        self.receive().expect("the server ended")
    }

    /// The memory that it has taken for itself, without files that it maps, in MiB.
    pub fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("the process");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a line");
        line.trim().trim_end_matches("kB").trim().parse::<f64>().expect("a number") / 1024.0
    }

    /// The memory that is its own, in MiB.
    pub fn pss(&self) -> f64 {
        let path = format!("/proc/{}/smaps_rollup", self.child.id());
        let rollup = std::fs::read_to_string(path).expect("the process");
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:")).expect("a line");
        line.trim().trim_end_matches("kB").trim().parse::<f64>().expect("a number") / 1024.0
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
        self.input.flush().expect("the server reads");
    }

    /// The next message; none if the server ended.
    fn receive(&mut self) -> Option<Value> {
        match self.messages.recv_timeout(PATIENCE) {
            Ok(message) => Some(self.take(message)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the server is silent"),
        }
    }

    fn take(&mut self, (arrived, body): (Instant, Vec<u8>)) -> Value {
        self.arrived = arrived;
        let message: Value = serde_json::from_slice(&body).expect("JSON");
        if message["method"] == "azimuth/event" {
            self.events.push(message["params"].clone());
        }
        message
    }
}

/// Reads messages on a thread of their own, up to the end of the output or a message that is cut off, and notes when
/// each came.
pub(crate) fn read(mut output: BufReader<ChildStdout>) -> Receiver<(Instant, Vec<u8>)> {
    let (sender, messages) = mpsc::channel();
    std::thread::spawn(move || {
        while let Some(message) = message(&mut output) {
            if sender.send((Instant::now(), message)).is_err() {
                return;
            }
        }
    });
    messages
}

fn message(output: &mut BufReader<ChildStdout>) -> Option<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().strip_prefix("Content-Length: ") {
            Some(bytes) => length = bytes.parse().ok(),
            None if line == "\r\n" => break,
            None => {}
        }
    }
    let mut body = vec![0; length?];
    output.read_exact(&mut body).ok()?;
    Some(body)
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
