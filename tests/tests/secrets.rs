//! Secrets on the way to a model: hidden before a request leaves, and there again in whatever comes of the answer.

#![expect(clippy::disallowed_methods, reason = "a test reads its project's files and starts the program itself")]

use std::process::Output;

use harness::window::Window;
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, binary};
use protocol::turn::{StopReason, TurnStartResult};
use protocol::{Event, SessionId, methods};
use serde_json::json;
use tokio::process::Command;

/// A secret that the user lists.
const LISTED: &str = "hunter2-hunter2";
/// One of the environment. In two parts, so that nobody takes it for one that was left here by mistake.
const TOKEN: (&str, &str) = ("svc_9f8e7d6c", "5b4a39281706");

fn token() -> String {
    [TOKEN.0, TOKEN.1].concat()
}

/// The first placeholder in a text.
fn placeholder(text: &str) -> String {
    let begin = text.find("<<secret:").unwrap_or_else(|| panic!("no placeholder in {text}"));
    let end = text[begin..].find(">>").unwrap_or_else(|| panic!("no end of it in {text}"));
    text[begin..begin + end + 2].to_owned()
}

/// The text of the model that is shown.
fn shown(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Event::MessageDelta { text, .. } => Some(text.clone()),
        _ => None,
    };
    events.iter().filter_map(text).collect()
}

#[tokio::test]
async fn no_vendor_sees_a_secret_and_the_edits_and_answers_have_it_again() {
    for wire in Wire::VENDORS {
        let model = ModelServer::responding(|asked| match asked.last_results().last() {
            _ if asked.user_text().contains("And now?") => Answer::says("Nothing more."),
            None => Answer::calls("read_file", json!({ "path": "settings.txt" })),
            Some(read) if read.contains("port") => {
                let old = format!("password = {}", placeholder(read));
                let edit = json!({ "path": "settings.txt", "old_text": old, "new_text": format!("{old} # kept") });
                Answer::nothing().thinking(&format!("I keep {}.", placeholder(read))).call("edit_replace_exact", edit)
            }
            Some(_) => {
                let hidden = placeholder(&format!("{:?}", asked.said()));
                let (begin, end) = hidden.split_at(14);
                Answer::says(&format!("It is {begin}")).text(&format!("{end}, not <<secret:DB:aaaaaaaa>>."))
            }
        })
        .await;
        let setup = Setup::empty();
        let tables = format!("[secrets.DB]\nvalue = \"{LISTED}\"\n");
        setup.configure(&format!("{}{tables}", Setup::configuration(&model, wire)));
        let project = Project::new([("settings.txt", format!("password = {LISTED}\nport = 1\n").as_str())]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.prompt(&session, &format!("Say that {LISTED} is kept.")).await;
        let (events, _) = client.until_proposed(&session).await;
        let input = events.iter().rev().find_map(|event| match event {
            Event::ToolCallStarted { input, .. } => Some(input.to_string()),
            _ => None,
        });
        assert!(input.is_some_and(|input| input.contains(&format!("{LISTED} # kept"))), "{wire:?}: {events:?}");
        let events = client.until_end(&session, StopReason::EndTurn).await;
        assert_eq!(shown(&events), format!("It is {LISTED}, not <<secret:DB:aaaaaaaa>>."), "{wire:?}");
        // After a restart the model reads the same, so that the vendor's cache hits.
        client.waive("azimuth/event");
        client.waive("azimuth/review/changed");
        assert_eq!(client.finish().await, 0);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
        client.prompt(&session, "And now?").await;
        let ended = |event: &Event| matches!(event, Event::MessageDelta { text, .. } if text.contains("Nothing more"));
        client.until(&session, "the answer", ended).await;
        let asked = model.asked();
        assert!(!format!("{asked:?}").contains("hunter2"), "{wire:?}: {asked:?}");
        let [.., before, after] = asked.as_slice() else { panic!("{asked:?}") };
        assert!(after.said().starts_with(before.said()), "{wire:?}: {before:?}\n{after:?}");
        assert_eq!((after.system(), after.system().contains("Secrets are hidden")), (before.system(), true));
        assert_eq!(model.refusals(), [""; 0], "{wire:?}");
        client.waive("azimuth/event");
        client.waive("azimuth/review/changed");
        assert_eq!(client.finish().await, 0);
    }
}

struct World {
    setup: Setup,
    model: ModelServer,
    project: Project,
    window: Window,
    session: SessionId,
}

impl World {
    /// A user with a token in the environment, whose rules allow every command.
    async fn new() -> Self {
        let model = ModelServer::start([]).await;
        let setup = Setup::empty();
        let tables = "[permissions]\nallow = [\"Shell\"]\n[secrets.unset]\nenv = \"NOT_SET_ANYWHERE\"\n";
        setup.configure(&format!("{}{tables}", Setup::configuration(&model, Wire::Anthropic)));
        let project = Project::new([("notes.txt", format!("token: {}\n", token()).as_str())]);
        let mut command = Command::new(binary());
        command.env("SERVICE_TOKEN", token()).current_dir(project.folder());
        let window = Window::launch(command, &setup, &project, Profile::panel()).await;
        let session = window.new_session().await;
        Self { setup, model, project, window, session }
    }

    async fn begin(&self, command: &str) {
        self.model.then(Answer::calls("shell_run", json!({ "command": command })));
        self.model.then(Answer::says("Done."));
        self.window.prompt(&self.session, "Do it.").await;
    }

    async fn until_end(&self) {
        self.window.until_end(&self.session, StopReason::EndTurn).await;
    }

    fn result(&self) -> String {
        self.model.asked().last().unwrap().last_results().last().unwrap().to_string()
    }

    fn azimuth(&self, arguments: &[&str]) -> Output {
        let mut command = std::process::Command::new(binary());
        command.args(arguments).current_dir(self.project.folder()).env("SERVICE_TOKEN", token());
        command.env("AZIMUTH_DATA_DIR", self.setup.data_folder()).env("AZIMUTH_CONFIG", self.setup.config_file());
        command.output().unwrap()
    }
}

#[tokio::test]
async fn a_command_has_the_value_once_the_user_allows_it_and_no_log_export_or_list_has_it() {
    let world = World::new().await;
    world.begin("cat notes.txt").await;
    world.until_end().await;
    let hidden = placeholder(&world.result());
    assert!(hidden.starts_with("<<secret:SERVICE_TOKEN:"), "{hidden}");
    // A rule allows every command, but not to send the token somewhere.
    world.begin(&format!("printf %s '{hidden}' > out.txt")).await;
    let (_, question) = world.window.until_asked(&world.session).await;
    assert!(question.detail.contains(&token()) && question.reason.contains("`SERVICE_TOKEN`"), "{question:?}");
    assert!(question.options.iter().any(|option| option.name.contains("the secret `SERVICE_TOKEN`")), "{question:?}");
    world.window.answer(&world.session, &question, "allow_always").await;
    world.until_end().await;
    assert_eq!(std::fs::read_to_string(world.project.path("out.txt")).unwrap(), token());
    world.begin(&format!("printf %s '{hidden}' > again.txt")).await;
    world.until_end().await;
    assert_eq!(std::fs::read_to_string(world.project.path("again.txt")).unwrap(), token());
    let asked = world.model.asked();
    assert!(!format!("{asked:?}").contains(TOKEN.1), "{asked:?}");

    let params = json!({ "sessionId": world.session, "prompt": [{ "type": "text", "text": "/secrets" }] });
    let started: TurnStartResult = world.window.call::<methods::TurnStart>(params).await;
    assert_eq!(started.turn_id, None);
    let is_answer = |event: &Event| matches!(event, Event::CommandExecuted { .. });
    let said = world.window.until(&world.session, "the command's answer", is_answer).await;
    let Some(Event::CommandExecuted { message, .. }) = said.last() else { panic!("{said:?}") };
    assert!(message.contains("`SERVICE_TOKEN`, from the environment: hidden "), "{message}");
    assert!(message.contains("`unset`: not hidden, since the variable NOT_SET_ANYWHERE is not set"), "{message}");
    assert!(!message.contains(TOKEN.1), "{message}");

    let export = world.azimuth(&["sessions", "export", world.session.as_str()]);
    let exported = String::from_utf8(export.stdout).unwrap();
    assert!(exported.contains(&hidden) && !exported.contains(TOKEN.1), "{exported}");
    assert!(exported.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{exported}");
    let doctor = String::from_utf8(world.azimuth(&["doctor"]).stdout).unwrap();
    let hidden = doctor.lines().find(|line| line.contains("models do not see ")).unwrap_or_else(|| panic!("{doctor}"));
    assert!(hidden.contains("SERVICE_TOKEN") && !doctor.contains(TOKEN.1), "{doctor}");
    let log = std::fs::read_to_string(world.setup.data_folder().join("azimuth.log")).unwrap();
    assert!(!log.contains(TOKEN.1), "{log}");
    world.window.close().await;
}

#[tokio::test]
async fn a_project_names_variables_to_hide_even_if_it_is_not_trusted_and_an_export_hides_them_too() {
    let model = ModelServer::start([Answer::says("Hello.")]).await;
    let setup = Setup::empty();
    setup.configure(&Setup::configuration(&model, Wire::Chat));
    let project = Project::new([("a.txt", "one\n")]);
    // The second is empty, which is nobody's mistake.
    project.write(".azimuth/config.toml", "[secrets.code]\nenv = \"SHOP_CODE\"\n[secrets.none]\nenv = \"SHOP_NONE\"\n");
    let variables = [("SHOP_CODE", "shop-9f8e7d6c"), ("SHOP_NONE", "")];
    let restricted = Profile { trust: Some("restricted"), ..Profile::panel() };
    let mut command = Command::new(binary());
    command.envs(variables).current_dir(project.folder());
    let window = Window::launch(command, &setup, &project, restricted).await;
    let session = window.new_session().await;
    window.prompt(&session, "Is shop-9f8e7d6c right?").await;
    window.until_end(&session, StopReason::EndTurn).await;
    let asked = model.asked()[0].user_text();
    assert!(asked.contains("Is <<secret:code:") && !asked.contains("9f8e7d6c"), "{asked}");
    window.close().await;
    let mut export = std::process::Command::new(binary());
    export.args(["sessions", "export", session.as_str()]).envs(variables).current_dir(setup.home());
    export.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    let exported = String::from_utf8(export.output().unwrap().stdout).unwrap();
    assert!(exported.contains("Is <<secret:code:") && !exported.contains("9f8e7d6c"), "{exported}");
}

#[tokio::test]
async fn nothing_is_sent_if_a_secret_cannot_be_hidden() {
    let model = ModelServer::start([]).await;
    let setup = Setup::empty();
    let configuration = Setup::configuration(&model, Wire::Chat);
    let project = Project::new([("a.txt", "one\n")]);
    setup.configure(&format!("{configuration}[secrets.vault]\ncommand = [\"/bin/false\"]\n"));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "Hello?").await;
    let events = client.until_end(&session, StopReason::Error).await;
    let error = events.iter().find_map(|event| match event {
        Event::TurnEnded { error, .. } => error.clone(),
        _ => None,
    });
    assert!(error.is_some_and(|error| error.contains("`vault`") && error.contains("/bin/false")), "{events:?}");
    assert!(model.asked().is_empty(), "{:?}", model.asked());
    assert_eq!(client.finish().await, 0);
}
