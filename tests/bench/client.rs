//! The server as an editor sees it: a process that speaks framed JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// A running server and its editor.
pub struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: i64,
}

impl Client {
    /// Starts the server and waits for the answer to `initialize`.
    pub fn start(binary: &Path, data: &Path, project: &Path, vendor: &str) -> Self {
        let mut child = Command::new(binary)
            .arg("lsp")
            .env("AZIMUTH_DATA_DIR", data)
            .env("AZIMUTH_CONFIG", data.join("no-config.toml"))
            .env("OPENAI_BASE_URL", vendor)
            .env("OPENAI_API_KEY", "bench")
            .env_remove("ANTHROPIC_API_KEY")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut client = Self { child, input, output, next: 1 };
        let root = format!("file://{}", project.display());
        let capabilities = json!({ "experimental": { "azimuth": { "panel": true } } });
        client.request(
            "initialize",
            &json!({ "processId": null, "rootUri": root, "capabilities": capabilities }),
        );
        client.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        client
    }

    /// Makes a session with the bench's model.
    pub fn session(&mut self) -> String {
        let made = self.request("azimuth/session/new", &json!({ "model": "openai/gpt-5.1" }));
        made["session"]["sessionId"].as_str().expect("a session").to_owned()
    }

    /// Runs a turn to its end.
    pub fn turn(&mut self, session: &str) {
        let prompt = json!([{ "type": "text", "text": "Go." }]);
        self.request("azimuth/turn/start", &json!({ "sessionId": session, "prompt": prompt }));
        loop {
            let message = self.receive();
            let event = &message["params"]["event"];
            if event["type"] == "turnEnded" {
                assert_eq!(event["stopReason"], "end_turn", "{event}");
                return;
            }
        }
    }

    /// Sends a request and waits for its result.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].take();
            }
        }
    }

    /// The processor time used so far.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("the process");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        // utime and stime are the 14th and 15th field of proc(5), in ticks of 10 ms.
        let ticks: u64 = fields[11].parse::<u64>().expect("utime") + fields[12].parse::<u64>().expect("stime");
        Duration::from_millis(ticks * 10)
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

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).expect("the server writes") > 0, "the server ended");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(bytes) => length = bytes.parse().expect("a length"),
                None if line == "\r\n" => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("the server writes");
        serde_json::from_slice(&body).expect("JSON")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
