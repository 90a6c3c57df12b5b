//! Suggestions while others change the document: the user types, a second window changes its own text of the file and
//! saves it, and the agent's hunks are accepted, in an order that is random but the same each time. To accept then
//! gives the text that the same changes after the acceptance would give, or nothing is there to accept.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use harness::window::Window;
use harness::{Answer, FillAsked, FillServer, Filled, ModelServer, Profile, Project, Setup, Wire};
use protocol::content::Position;
use protocol::inline::{InlineCompleteResult, InlineEditResult};
use protocol::methods::{self, Request};
use protocol::turn::StopReason;
use protocol::{Event, SessionId};
use serde_json::{Value, json};

const CASES: u64 = 10;
/// The text that the model fills in behind `let sum = `.
const SUM: &str = "numbers.iter().sum::<i32>();";

/// A number of a sequence that is the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    async fn pause(&mut self) {
        tokio::time::sleep(Duration::from_millis(self.below(12))).await;
    }
}

/// Two windows on one session, with a file open in both.
struct World {
    agent: ModelServer,
    first: Window,
    second: Window,
    session: SessionId,
    project: Project,
    _setup: Setup,
}

impl World {
    async fn new(suggestions: &str, text: &str) -> Self {
        let agent = ModelServer::start([]).await;
        let setup = Setup::empty();
        let (top, tables) = suggestions.split_once("[providers").unwrap();
        let of_agent = Setup::configuration(&agent, Wire::Anthropic);
        setup.configure(&format!("accept_edits = true\n{top}{of_agent}[providers{tables}"));
        let names: Vec<_> = (0..CASES).map(name).collect();
        let project = Project::new(names.iter().map(|name| (name.as_str(), text)));
        let first = Window::open(&setup, &project, Profile::panel()).await;
        let second = Window::open(&setup, &project, Profile::panel()).await;
        let session = first.new_session().await;
        for window in [&first, &second] {
            window.waive("azimuth/inline/status");
            window.waive("azimuth/inline/changed");
            window.call::<methods::SessionOpen>(json!({ "sessionId": session })).await;
        }
        Self { agent, first, second, session, project, _setup: setup }
    }

    fn open(&self, case: u64) -> String {
        let uri = self.project.uri(&name(case));
        self.first.open(&uri);
        self.second.open(&uri);
        uri
    }

    /// The second window changes a line of its own text.
    fn second_types(&self, uri: &str) {
        self.second.replace(uri, "// second ", "// second x");
    }

    /// It saves another line, and the first window's editor reads that again.
    fn second_saves(&self, uri: &str) {
        self.second.replace(uri, "// saved ", "// saved x");
        self.second.save(uri);
        self.first.replace(uri, "// saved ", "// saved x");
    }

    /// The agent changes a line, which is accepted automatically.
    async fn agent_edits(&self, case: u64) {
        let edit = json!({ "path": name(case), "old_text": "let agent = 0", "new_text": "let agent = 10" });
        self.agent.then(Answer::calls("edit_replace_exact", edit));
        self.agent.then(Answer::says("Done."));
        self.first.prompt(&self.session, "Change it.").await;
        self.first.until_end(&self.session, StopReason::EndTurn).await;
        let ended = |event: &Event| matches!(event, Event::TurnEnded { .. });
        self.second.until(&self.session, "the turn's end", ended).await;
    }

    async fn close(self) {
        self.second.close().await;
        self.first.close().await;
    }
}

fn name(case: u64) -> String {
    format!("main{case}.rs")
}

/// The line and the column behind a text.
fn behind(text: &str, what: &str) -> Value {
    let end = text.find(what).unwrap_or_else(|| panic!("{what:?} is not in {text:?}")) + what.len();
    let start = text[..end].rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": text[..end].matches('\n').count(), "character": end - start })
}

fn offset(text: &str, at: Position) -> usize {
    let lines = text.split_inclusive('\n').take(usize::try_from(at.line).unwrap());
    lines.map(str::len).sum::<usize>() + usize::try_from(at.character).unwrap()
}

/// The part that is typed of the text behind `let sum = `.
fn typed(text: &str) -> &str {
    let line = text.lines().find(|line| line.starts_with("    let sum = ")).unwrap();
    line.strip_prefix("    let sum = ").unwrap()
}

fn fills(asked: &FillAsked) -> Filled {
    static PAUSE: AtomicU64 = AtomicU64::new(0);
    let typed = asked.prefix().rsplit("let sum = ").next().unwrap_or_default();
    let pause = Duration::from_millis(PAUSE.fetch_add(7, Ordering::Relaxed) % 25);
    Filled::with(SUM.strip_prefix(typed).unwrap_or_default()).after(pause)
}

/// Checks what is suggested for the text as it is. Gives true if there is something.
fn check_text(world: &World, uri: &str, answer: Value) -> bool {
    let result: InlineCompleteResult = serde_json::from_value(answer).unwrap();
    let text = world.first.text(uri);
    let Some(item) = result.items.first() else { return false };
    if i64::from(item.version) != world.first.version(uri) {
        return false;
    }
    let mut accepted = text.clone();
    accepted.replace_range(offset(&text, item.range.start)..offset(&text, item.range.end), &item.text);
    let line = format!("let sum = {}\n", typed(&text));
    assert_eq!(accepted, text.replace(&line, &format!("let sum = {SUM}\n")), "{item:?} in {text:?}");
    true
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_at_the_cursor_is_the_same_as_if_it_had_been_accepted_before_what_others_did_or_is_not_there() {
    let model = FillServer::start(fills);
    let text =
        "// saved \n// second \nfn main() {\n    let numbers = [1, 2, 3];\n    let sum = \n    let agent = 0;\n}\n";
    let world = World::new(&model.configuration(), text).await;
    let mut random = Random(19);
    let mut shown = 0;
    for case in 0..CASES {
        let uri = world.open(case);
        let mut may_ask_agent = case % 3 == 0;
        for round in 0..3 {
            let now = world.first.text(&uri);
            let params = json!({
                "textDocument": { "uri": uri },
                "position": behind(&now, &format!("let sum = {}", typed(&now))),
                "trigger": if random.below(3) == 0 { "invoked" } else { "automatic" },
            });
            let answer = world.first.request(methods::InlineComplete::METHOD, params);
            // In the first round of some cases nobody does anything, so that something must be shown.
            let changes = if round == 0 && case % 2 == 0 { 0 } else { random.below(4) };
            for _ in 0..changes {
                random.pause().await;
                let text = world.first.text(&uri);
                let line = format!("let sum = {}\n", typed(&text));
                let types = |new: String| world.first.replace(&uri, &line, &format!("let sum = {new}\n"));
                match random.below(10) {
                    0..=4 => {
                        let rest = SUM.strip_prefix(typed(&text)).unwrap_or_default();
                        types(format!("{}{}", typed(&text), &rest[..rest.len().min(1)]));
                    }
                    5 => types(format!("{}q", typed(&text))),
                    6 => types(typed(&text)[..typed(&text).len().saturating_sub(1)].to_owned()),
                    7 => world.second_types(&uri),
                    8 => world.second_saves(&uri),
                    _ if may_ask_agent => {
                        may_ask_agent = false;
                        world.agent_edits(case).await;
                    }
                    _ => world.second_types(&uri),
                }
            }
            let is_shown = check_text(&world, &uri, answer.await.unwrap());
            assert!(is_shown || changes > 0 || round > 0, "nothing stood against it in case {case}");
            shown += u32::from(is_shown);
        }
        if may_ask_agent {
            world.agent_edits(case).await;
            assert!(world.first.text(&uri).contains("let agent = 10;"), "its hunk is in the text with the typing");
        }
    }
    assert!(shown >= 5, "{shown}");
    world.close().await;
}

/// Gives the even numbers another digit.
fn edited(text: &str) -> String {
    text.replace("= 2;", "= 20;").replace("= 4;", "= 40;").replace("= 6;", "= 60;")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_is_the_same_as_if_it_had_been_accepted_before_what_others_did_or_is_refused() {
    let model = FillServer::start(|asked| asked.rewritten(&edited(&asked.window())).after(Duration::from_millis(15)));
    let lines: String = (1..=7).map(|n| format!("    let v{n} = {n};\n")).collect();
    let text = format!("// saved \n// second \nfn main() {{\n{lines}    let agent = 0;\n}}\n");
    let world = World::new(&model.edit_configuration(), &text).await;
    let mut random = Random(7);
    let mut accepted = 0;
    for case in 0..CASES {
        let uri = world.open(case);
        world.first.replace(&uri, "let v1 = 1;", "let v1 = 10;");
        let position = behind(&world.first.text(&uri), "let v1 = 10");
        let params = json!({ "textDocument": { "uri": uri }, "position": position, "trigger": "invoked" });
        let answer = world.first.request(methods::InlineEdit::METHOD, params);
        // Half of the changes come before the answer, at the latest when it is shown; the others after that.
        let early = if case % 2 == 0 { 0 } else { random.below(3) };
        change(&world, &uri, case, early, &mut random).await;
        let result: InlineEditResult = serde_json::from_value(answer.await.unwrap()).unwrap();
        let Some(edit) = result.edit else {
            assert!(early > 0, "nothing stood against it in case {case}: {:?}", result.reason);
            continue;
        };
        // In some cases nobody does anything, so that the edit must be accepted.
        let late = if case % 4 == 0 { 0 } else { random.below(4) };
        change(&world, &uri, case, late, &mut random).await;
        let before = world.first.text(&uri);
        let result = world.first.request(methods::InlineAccept::METHOD, json!({ "id": edit.id })).await;
        let after = world.first.text(&uri);
        match &result {
            Ok(_) => assert_eq!(after, edited(&before), "case {case}"),
            Err(error) => assert_eq!(after, before, "case {case}: {error:?}"),
        }
        assert!(result.is_ok() || early + late > 0, "{result:?}");
        assert!(world.second.text(&uri).contains("let v1 = 1;"), "it goes into the window that accepted it");
        accepted += u32::from(result.is_ok());
    }
    assert!(accepted >= 3, "{accepted}");
    world.close().await;
}

/// Changes a document, so many times.
async fn change(world: &World, uri: &str, case: u64, count: u64, random: &mut Random) {
    for _ in 0..count {
        random.pause().await;
        let text = world.first.text(uri);
        let type_in = |old: &str, new: &str| {
            if text.contains(old) {
                world.first.replace(uri, old, new);
            }
        };
        match random.below(9) {
            0 => type_in("let v3 = 3;", "let v3 = 33;"),
            1 => type_in("    let v7 = 7;\n", "    let v7 = 7;\n    let v8 = 8;\n"),
            2 => type_in("fn main() {\n", "fn main() {\n    // new\n"),
            3 => type_in("= 4;", "= 40;"),
            4 => type_in("= 6;", "= 65;"),
            5 => world.second_types(uri),
            6 | 7 => world.second_saves(uri),
            _ if text.contains("let agent = 0;") => world.agent_edits(case).await,
            _ => world.second_types(uri),
        }
    }
}
