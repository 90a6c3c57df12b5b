//! The persistent shell beside `bash -c`, and what it shows a client beside `script`, in the same run.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use harness::vendor::Instant as Answer;
use process::Confinement;
use protocol::ToolCallId;
use serde_json::json;
use shell::{RunOptions, Shell, ShellConfig, Trust};

use crate::{World, ms};

/// How many trivial commands are run.
const COMMANDS: usize = 200;
/// How many of them a model calls; at 100 a turn stops and asks.
const ROUNDS: usize = 90;
/// A file of so many bytes is printed so often: 200 MB.
const FILE: usize = 20_000_000;
const TIMES: usize = 10;

/// Measures all, and tells the ratios.
pub fn run(binary: &Path) {
    let theirs = alone();
    rounds(binary, theirs);
    throughput(binary);
}

/// A trivial command in the shell, without a server around it. Gives what `bash -c` takes for it.
fn alone() -> Duration {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a folder");
    let config = ShellConfig {
        cwd: folder.path().to_owned(),
        folder: folder.path().to_owned(),
        pass: Vec::new(),
        program: None,
        confinement: Confinement::default(),
        trust: Trust::default(),
    };
    let shell = Shell::new(config, Arc::new(())).expect("a shell");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for n in 0..=COMMANDS {
        let began = Instant::now();
        let call = ToolCallId::new(format!("call-{n}"));
        let ran = runtime.block_on(shell.run(&call, "true", RunOptions::default())).expect("a command");
        assert_eq!(ran.exit_code, Some(0));
        let took = began.elapsed();
        let began = Instant::now();
        let status = Command::new("bash").args(["-c", "true"]).status().expect("bash");
        assert!(status.success());
        // The first starts the shell.
        if n > 0 {
            ours.push(took);
            theirs.push(began.elapsed());
        }
    }
    let (ours, theirs) = (crate::median(ours), crate::median(theirs));
    tell("`true` in the shell and `bash -c true`", ours, theirs);
    drop(runtime.enter());
    theirs
}

/// The same as calls of a model: the request, the answer, the call, the command, its result, all stored and shown.
fn rounds(binary: &Path, theirs: Duration) {
    // Each with a word of its own: a turn that does the same again and again is stopped.
    let call = |n: usize| Answer::Call { tool: "shell_run", input: json!({ "command": format!("true {n}") }) };
    let mut answers: Vec<_> = (0..ROUNDS).map(call).collect();
    answers.insert(0, Answer::Text { pieces: 1 });
    answers.push(Answer::Text { pieces: 1 });
    let world = World::new(answers);
    let mut client = world.start(binary);
    let session = client.session();
    client.turn(&session);
    let (began, before) = (Instant::now(), client.cpu());
    client.turn(&session);
    let (wall, cpu) = (began.elapsed() / ROUNDS as u32, (client.cpu() - before) / ROUNDS as u32);
    tell("a tool round with `true` and `bash -c true`", wall, theirs);
    println!("{:<44} {:>10.2} ms", "CPU of the server for it", ms(cpu));
}

/// 200 MB through a terminal to a client that reads them as they come.
fn throughput(binary: &Path) {
    let text: String = (0..)
        .map(|n| format!("{n:>9} a line of output, as long as they are, {}\n", n * 7 % 1000))
        .scan(0, |length, line| {
            *length += line.len();
            (*length <= FILE).then_some(line)
        })
        .collect();
    let call = |command: &str| Answer::Call { tool: "shell_run", input: json!({ "command": command }) };
    let command = format!("cat {}", ["long.txt"; TIMES].join(" "));
    let says = || Answer::Text { pieces: 1 };
    let world = World::new(vec![call("true"), says(), says(), call(&command), says()]);
    std::fs::write(world.project().join("long.txt"), &text).expect("a file");

    let mut client = world.start(binary);
    let session = client.session();
    client.turn(&session);
    client.turn(&session);
    client.request("azimuth/terminal/open", &json!({ "sessionId": session, "since": u64::MAX }));
    let (before, cpu) = (client.memory(), client.cpu());
    let began = Instant::now();
    client.ask("azimuth/turn/start", &json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Go." }] }));
    let (mut most, mut got, mut at, mut end, mut messages) = (before, 0, 0, None, 0);
    while end != Some(at) {
        let message = client.next_message();
        let params = &message["params"];
        if message["method"] == "azimuth/terminal/output" {
            let data = params["data"].as_str().expect("data");
            let length = data.len() / 4 * 3 - data.bytes().rev().take_while(|byte| *byte == b'=').count();
            got += length;
            at = params["offset"].as_u64().expect("an offset") + length as u64;
        } else if params["event"]["type"] == "terminalEnded" {
            end = params["event"]["offset"].as_u64();
        }
        messages += 1;
        if messages % 20 == 0 {
            most = most.max(client.memory());
        }
    }
    let took = client.arrived - began;
    let cpu = client.cpu() - cpu;
    let theirs = script(&world.project(), &command);
    let rate = |time: Duration| text.len() as f64 * TIMES as f64 / 1e6 / time.as_secs_f64();
    println!(
        "{:<44} {:>10.2} x    (aim 0.5; {:.0} and {:.0} MB/s)",
        "200 MB to a client and to `script`",
        rate(took) / rate(theirs),
        rate(took),
        rate(theirs)
    );
    let all = text.len() + text.lines().count();
    println!("{:<44} {:>10.1} %", "of them shown, not passed over", got as f64 * 100.0 / (all * TIMES) as f64);
    println!("{:<44} {:>10.2} s", "CPU of the server for it", cpu.as_secs_f64());
    println!("{:<44} {:>10.1} MiB  (aim 20)", "memory that it grew by meanwhile", most - before);
}

/// How long `script` takes to hand on what a command prints.
fn script(folder: &Path, command: &str) -> Duration {
    let began = Instant::now();
    let mut child = Command::new("script")
        .args(["-qc", command, "/dev/null"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script runs");
    let mut output = child.stdout.take().expect("a pipe");
    let (mut buffer, mut read) = (vec![0; 64 << 10], 0);
    loop {
        match output.read(&mut buffer).expect("output") {
            0 => break,
            length => read += length,
        }
    }
    assert!(read >= FILE / 2 * TIMES, "script gave {read} bytes");
    assert!(child.wait().expect("script ends").success());
    let _ = std::io::stdout().flush();
    began.elapsed()
}

fn tell(name: &str, ours: Duration, theirs: Duration) {
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    println!("{name:<44} {ratio:>10.2} x    (aim 1; {:.2} ms and {:.2} ms)", ms(ours), ms(theirs));
}
