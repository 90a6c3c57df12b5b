//! `shell_write`.

use std::time::Duration;

use async_trait::async_trait;
use permission::{Action, Typing, visible};
use ports::tool::{Access, Call, Description, Output, ToolError};
use protocol::content::ToolKind;
use protocol::terminal::{Certainty, Typist};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shell::{self, Asked, ShellError};

use crate::Services;
use crate::terminals::{Terminal, Until, first_line, shown};
use crate::typed::Typed;

/// How long it is waited at most for what comes of it.
const WAIT: Duration = Duration::from_secs(2);

/// The longest text, in bytes.
const LONGEST: usize = 16 << 10;

/// Types into a job, or into the command that still runs in the shell, and gives its output after that. The user may
/// be asked before, and sees what is typed. Never type a secret: the user types passwords.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The terminal: a job's name such as `job-1`, or `shell`.
    terminal: String,
    /// The text to type.
    text: Option<String>,
    /// True to press Enter after the text. Without it, Enter is pressed unless another key is given.
    enter: Option<bool>,
    /// A key to press after the text.
    key: Option<Key>,
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Key {
    Enter,
    Tab,
    Escape,
    Backspace,
    Up,
    Down,
    Right,
    Left,
    CtrlC,
    CtrlD,
    CtrlZ,
}

impl Key {
    fn name(self) -> &'static str {
        match self {
            Self::Enter => "enter",
            Self::Tab => "tab",
            Self::Escape => "escape",
            Self::Backspace => "backspace",
            Self::Up => "up",
            Self::Down => "down",
            Self::Right => "right",
            Self::Left => "left",
            Self::CtrlC => "ctrl-c",
            Self::CtrlD => "ctrl-d",
            Self::CtrlZ => "ctrl-z",
        }
    }

    /// As a terminal sends it.
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Enter => b"\r",
            Self::Tab => b"\t",
            Self::Escape => b"\x1b",
            Self::Backspace => b"\x7f",
            Self::Up => b"\x1b[A",
            Self::Down => b"\x1b[B",
            Self::Right => b"\x1b[C",
            Self::Left => b"\x1b[D",
            Self::CtrlC => b"\x03",
            Self::CtrlD => b"\x04",
            Self::CtrlZ => b"\x1a",
        }
    }
}

pub(crate) struct ShellWrite {
    services: Services,
}

impl ShellWrite {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for ShellWrite {
    type Input = Input;
    const NAME: &'static str = "shell_write";
    const KIND: ToolKind = ToolKind::Execute;
    const ACCESS: Access = Access::Background;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let key = key(input)?;
        let terminal = Terminal::find(&self.services, &input.terminal)?;
        let Some(running) = terminal.shell.running().filter(|running| running.since.is_some()) else {
            let text = format!("nothing runs there that could read what is typed: {}", terminal.state());
            return Err(ToolError::Failed(text));
        };
        // Before it is looked what is asked: what is typed in between is seen to be more.
        let typed = terminal.shell.typed();
        let text = input.text.clone().unwrap_or_default();
        let shown = if text.is_empty() { key.map_or("", Key::name).to_owned() } else { visible(&first_line(&text)) };
        let title = format!("Typing into {}: {shown}", terminal.name());
        let typing = Typing {
            terminal: terminal.name().to_owned(),
            parsed: shell::parse(&running.command),
            command: running.command,
            text,
            key: key.map(|key| key.name().to_owned()),
            waiting: terminal.shell.waiting(),
            shown: terminal.shell.shown(),
            typed,
            call: running.call,
            began: running.began,
            outside: terminal.is_outside(),
            of_user: running.by == Typist::User,
        };
        Ok(Description { title, locations: Vec::new(), action: Action::Type(Box::new(typing)) })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let (services, key) = (&self.services, key(&input)?);
        let terminal = Terminal::find(services, &input.terminal)?;
        // Earlier output does not come of this, but has not been read either.
        let since = terminal.unread(services);
        let before = terminal.shell.spool().end();
        let failed = |error: ShellError| ToolError::Failed(error.to_string());
        let Some(Action::Type(judged)) = &call.judged else { return Err(failed(ShellError::Another)) };
        let running = terminal.shell.running().ok_or(ShellError::Idle).map_err(failed)?;
        if (&running.call, &running.began, &running.command) != (&judged.call, &judged.began, &judged.command) {
            return Err(failed(ShellError::Another));
        }
        // An input that was judged for one question answers no other. Who stands at the end of a line mostly asks
        // nothing, and may go on to print.
        let asks = judged.waiting.as_ref().is_some_and(|waiting| !waiting.prompt.trim().is_empty());
        let seen = (asks || judged.is_plain_answer()).then_some(judged.shown.seen.as_str());
        let asked = Asked { typed: judged.typed, seen };
        let mut bytes = input.text.unwrap_or_default().into_bytes();
        bytes.extend_from_slice(key.map_or(b"".as_slice(), Key::bytes));
        terminal.shell.answer(&running, asked, &bytes).map_err(failed)?;
        // A command that has asked mostly asks again, and the next answer is judged by what it asks then.
        let (until, most) = match judged.waiting.as_ref().map(|waiting| waiting.certainty) {
            None => (Until::Printed(before), WAIT),
            Some(Certainty::Certain) => (Until::Waits, WAIT),
            Some(Certainty::Probable) => (Until::Waits, shell::STILL + WAIT),
        };
        terminal.wait(until, most, &call.cancel).await;
        let (state, summary) = (terminal.state(), terminal.summary());
        let printed = terminal.read(services, since).await?;
        let kept = terminal.kept(services, since, &printed).await?;
        let text = format!("{}[{state}; next offset {}]{kept}", shown(&printed.text), printed.end);
        Ok(Output { text, summary, ..Output::default() })
    }
}

/// The key that is pressed after the text.
fn key(input: &Input) -> Result<Option<Key>, ToolError> {
    let invalid = |text: &str| Err(ToolError::InvalidInput(text.to_owned()));
    if input.text.as_ref().is_some_and(|text| text.len() > LONGEST) {
        return invalid("`text` is longer than 16 KiB; write a file and have the program read that");
    }
    // Characters that are not seen in the question to the user are not typed; for keys there is `key`.
    let control = |c: &char| c.is_control() && !matches!(c, '\t' | '\n');
    if let Some(control) = input.text.iter().flat_map(|text| text.chars()).find(control) {
        let control = visible(&control.to_string());
        return invalid(&format!("`text` holds the control character {control}; press keys by `key`, one in a call"));
    }
    match (input.key, input.enter) {
        (Some(key), None | Some(false)) => Ok(Some(key)),
        (Some(_), Some(true)) => invalid("give either `key` or `enter`"),
        (None, Some(true)) => Ok(Some(Key::Enter)),
        (None, None) if input.text.is_some() => Ok(Some(Key::Enter)),
        (None, Some(false)) if input.text.as_ref().is_some_and(|text| !text.is_empty()) => Ok(None),
        (None, _) => invalid("give `text` or `key`: there is nothing to type"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::{World, call};

    /// Has programs found in the folder, as one that sets up projects is found where the user has installed it.
    const FOUND_HERE: &str = "export PATH=\"$PWD:$PATH\"";

    #[tokio::test]
    async fn a_program_is_talked_to_line_by_line_and_ended_by_a_key() {
        let world = World::new(&[]);
        let services = world.services();
        let text = |tool: &'static str, input: Value| {
            let services = services.clone();
            async move { call(&services, tool, input).await.unwrap().text }
        };
        let write = |input: &str| json!({ "terminal": "job-1", "text": input });
        text("shell_start", json!({ "command": "python3 -iqu", "wait_seconds": 1 })).await;
        let sum = text("shell_write", write("print(6 * 7)")).await;
        assert!(sum.contains("\n42\n"), "{sum}");
        let partly = json!({ "terminal": "job-1", "text": "print('a", "enter": false });
        text("shell_write", partly).await;
        let rest = text("shell_write", write("b' * 2)")).await;
        assert!(rest.contains("abab\n"), "{rest}");
        let ended = text("shell_write", json!({ "terminal": "job-1", "key": "ctrl-d" })).await;
        assert!(ended.contains("[job-1 ended with exit code 0"), "{ended}");
        let error = call(&services, "shell_write", write("x")).await.unwrap_err().to_string();
        assert!(error.contains("nothing runs there") && error.contains("exit code 0"), "{error}");
    }

    #[tokio::test]
    async fn what_was_allowed_for_a_question_or_a_program_is_typed_into_no_other() {
        let script = "#!/bin/bash\nread -p 'Use ESLint? [y/N] ' a; read -p 'Delete all? [y/N] ' b; read c\n";
        let world = World::new(&[("create-demo", script)]);
        let services = world.services();
        let tool = ShellWrite::new(&services);
        let input = |terminal: &str| Input {
            terminal: terminal.to_owned(),
            text: Some("y".to_owned()),
            enter: None,
            key: None,
        };
        let judged = |terminal: &str| {
            let judged = Some(tool.describe(&input(terminal)).unwrap().action);
            Call { judged, ..Call::unjudged("1".into(), Default::default()) }
        };
        call(&services, "shell_run", json!({ "command": format!("chmod +x create-demo; {FOUND_HERE}") }))
            .await
            .unwrap();
        call(&services, "shell_start", json!({ "command": "create-demo", "wait_seconds": 60 })).await.unwrap();
        let (first, second) = (judged("job-1"), judged("job-1"));
        let Some(Action::Type(typing)) = &first.judged else { panic!() };
        assert!(typing.is_plain_answer(), "{typing:?}");
        let text = tool.run(first, input("job-1")).await.unwrap().text;
        assert!(text.contains("Delete all?"), "{text}");
        let Some(Action::Type(now)) = judged("job-1").judged else { panic!() };
        let asked = now.waiting.as_ref().map(|waiting| waiting.prompt.as_str());
        assert_eq!(asked, Some("Delete all? [y/N] "), "it is judged by what it asks now");
        assert!(!now.is_plain_answer(), "{now:?}");
        let error = tool.run(second, input("job-1")).await.unwrap_err().to_string();
        assert!(error.contains("has changed since this call was made"), "{error}");

        let read =
            async || services.shell.run_until_it_waits(&"call".into(), "read -p 'name: ' x", Default::default()).await;
        read().await.unwrap();
        let of_the_first = judged("shell");
        services.shell.write(b"\n").unwrap();
        services.shell.at_rest().await;
        read().await.unwrap();
        let error = tool.run(of_the_first, input("shell")).await.unwrap_err().to_string();
        assert!(error.contains("has changed since this call was made"), "{error}");
        services.jobs.end().await;
    }

    #[tokio::test]
    async fn each_answer_and_key_of_one_message_finds_the_program_waiting_again() {
        // One that reads lines, and one that polls for keys, as a menu of Node does.
        let lines = "#!/bin/bash\nfor q in name version license; do read -p \"$q: \" x; done\n";
        let menu = "#!/usr/bin/env python3\nimport os, select, tty\ntty.setraw(0)\nfor q in range(3):\n  \
                    os.write(1, b'\\r\\nWhich framework?')\n  select.select([0], [], [])\n  os.read(0, 9)\n";
        let world = World::new(&[("create-lines", lines), ("create-menu", menu)]);
        let services = world.services();
        let tool = ShellWrite::new(&services);
        call(&services, "shell_run", json!({ "command": format!("chmod +x create-*; {FOUND_HERE}") })).await.unwrap();
        for (command, job, text, key) in
            [("create-lines", "job-1", Some("x"), None), ("create-menu", "job-2", None, Some(Key::Down))]
        {
            call(&services, "shell_start", json!({ "command": command, "wait_seconds": 30 })).await.unwrap();
            for number in 0..3 {
                let input = || Input { terminal: job.to_owned(), text: text.map(str::to_owned), enter: None, key };
                let action = tool.describe(&input()).unwrap().action;
                let Action::Type(typing) = &action else { panic!() };
                assert!(typing.is_plain_answer(), "{command}, answer {number}: {typing:?}");
                let id = format!("{job}-{number}").as_str().into();
                tool.run(Call { judged: Some(action), ..Call::unjudged(id, Default::default()) }, input())
                    .await
                    .unwrap();
            }
        }
        services.jobs.end().await;
    }

    #[tokio::test]
    async fn what_the_user_was_asked_about_goes_to_that_question_only() {
        let script =
            "#!/bin/bash\nfor f in a.txt secrets.env; do read -p \"Overwrite $f? [y/N] \" x; echo \"<$x>\"; done\n";
        let world = World::new(&[("ask", script)]);
        let services = world.services();
        let tool = ShellWrite::new(&services);
        let input = || Input { terminal: "job-1".to_owned(), text: Some("y".to_owned()), enter: None, key: None };
        let judged = || {
            let action = tool.describe(&input()).unwrap().action;
            let Action::Type(typing) = &action else { panic!() };
            assert!(!typing.is_plain_answer(), "the user is asked: {typing:?}");
            Call { judged: Some(action), ..Call::unjudged("1".into(), Default::default()) }
        };
        call(&services, "shell_run", json!({ "command": "chmod +x ask" })).await.unwrap();
        call(&services, "shell_start", json!({ "command": "./ask", "wait_seconds": 60 })).await.unwrap();
        let (first, shell) = (judged(), Terminal::find(&services, "job-1").unwrap().shell);
        // Meanwhile the user answers by themself.
        shell.write(b"n\n").unwrap();
        let unseen = judged();
        while shell.waiting().is_none_or(|waiting| !waiting.prompt.contains("secrets.env")) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let error = tool.run(first, input()).await.unwrap_err().to_string();
        assert!(error.contains("has changed since this call was made"), "{error}");
        shell.write(b"n\n").unwrap();
        let error = tool.run(unseen, input()).await.unwrap_err().to_string();
        assert!(error.contains("has changed since this call was made") || error.contains("no command"), "{error}");
        services.jobs.end().await;
    }

    #[tokio::test]
    async fn permission_is_told_what_is_typed_and_into_what() {
        let world = World::new(&[]);
        let services = world.services();
        call(&services, "shell_start", json!({ "command": "cat", "wait_seconds": 0 })).await.unwrap();
        let tool = ShellWrite::new(&services);
        let input = |text: Option<&str>, enter, key| {
            let (terminal, text) = ("job-1".to_owned(), text.map(str::to_owned));
            Input { terminal, text, enter, key }
        };
        let described = tool.describe(&input(Some("rm -rf x"), None, None)).unwrap();
        assert_eq!(described.title, "Typing into job-1: rm -rf x");
        let Action::Type(typing) = described.action else { panic!() };
        assert_eq!((typing.command.as_str(), typing.text.as_str()), ("cat", "rm -rf x"));
        assert_eq!(typing.key.as_deref(), Some("enter"));
        let invalid = [
            input(None, None, None),
            input(Some(""), Some(false), None),
            input(Some("x"), Some(true), Some(Key::CtrlC)),
            input(Some("x".repeat(LONGEST + 1).as_str()), None, None),
            input(Some("\u{3}"), Some(false), None),
            input(Some("y\u{15}n"), None, None),
            input(Some("y\r"), None, None),
            input(Some("\u{9b}A"), None, None),
        ];
        let title = tool.describe(&input(Some("a\u{202e}b"), None, None)).unwrap().title;
        assert_eq!(title, "Typing into job-1: a\\u{202e}b");
        for input in invalid {
            assert!(matches!(tool.describe(&input), Err(ToolError::InvalidInput(_))));
        }
        for key in [Key::Enter, Key::CtrlC, Key::Escape] {
            assert_eq!(json!(key), key.name(), "its name is what the model calls it");
        }
        services.jobs.end().await;
    }
}
