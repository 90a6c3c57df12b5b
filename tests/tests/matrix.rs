//! One session that changes from every vendor to every other and back: it calls tools in parallel, thinks, sees images,
//! and is interrupted within a call and within the writing of one. The model servers refuse what the vendors refuse
//! (`harness::model`), and hold each request against all that came before.

use std::collections::HashMap;
use std::fmt::Write;

use futures_util::{StreamExt, stream};
use harness::model::{Asked, Said, Step};
use harness::{Answer, Client, Gate, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

use crate::vendors::{project, reads};

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIF: &str = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

/// A vendor, with one of its models.
#[derive(Clone, Copy)]
struct Vendor {
    name: &'static str,
    wire: Wire,
    /// The model's id, with which the one on the wire begins; no other vendor here has such a one.
    model: &'static str,
    /// More of its configuration.
    more: &'static str,
    /// The folder of its address, and the name of its wire, if they are not those of the format.
    folder: &'static str,
    spoken: Option<&'static str>,
    sees: Sees,
    /// True if it gets its own thoughts back as text.
    remembers: bool,
}

/// The images that a model takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sees {
    All,
    NoGif,
    Nothing,
}

const VENDORS: [Vendor; 15] = [
    vendor("claude", Wire::Anthropic, "claude-opus-5-5"),
    // Anthropic's Messages at a host without its betas: nobody drops thinking that does not fit.
    Vendor { more: "compat = { betas = false }", ..vendor("bedrock", Wire::Anthropic, "claude-sonnet-5-5") },
    vendor("budget", Wire::Anthropic, "claude-haiku-4-5"),
    vendor("responses", Wire::Responses, "gpt-6.1-sol"),
    vendor("chat", Wire::Chat, "model-chat"),
    vendor("moonshot", Wire::Moonshot, "model-moonshot"),
    Vendor { remembers: false, ..vendor("mistral", Wire::Mistral, "model-mistral") },
    vendor("openrouter", Wire::OpenRouter, "model-openrouter"),
    Vendor { sees: Sees::Nothing, ..vendor("groq", Wire::Groq, "blind-groq") },
    Vendor { sees: Sees::NoGif, remembers: false, ..vendor("googlechat", Wire::GeminiChat, "model-google") },
    Vendor { sees: Sees::NoGif, ..vendor("gemini", Wire::Gemini, "gemini-3.8-flash") },
    // Both as Google's cloud has them: the one by its name, the other behind a gateway that names the project.
    Vendor {
        sees: Sees::NoGif,
        more: "google_project = \"project-of-the-test\"\ngoogle_location = \"eu\"\n",
        ..vendor("vertex", Wire::Gemini, "gemini-4-argon")
    },
    Vendor {
        folder: "/v1/projects/project-of-the-test/locations/global/publishers/anthropic",
        spoken: Some("anthropic-vertex"),
        ..vendor("gateway", Wire::Anthropic, "claude-fable-5-1")
    },
    vendor("converse", Wire::Converse, "us.anthropic.claude-opus-4-6-v1"),
    vendor("nova", Wire::Converse, "us.amazon.nova-2-lite-v1:0"),
];

const fn vendor(name: &'static str, wire: Wire, model: &'static str) -> Vendor {
    Vendor { name, wire, model, more: "", folder: "", spoken: None, sees: Sees::All, remembers: true }
}

impl Vendor {
    /// The configuration of a user who has it.
    fn configuration(self, server: &ModelServer) -> String {
        let Self { name, wire, model, more, folder, .. } = self;
        let (url, key, spoken) = (server.url(wire), harness::server::KEY, self.spoken.unwrap_or(wire.name()));
        let dialect = wire.dialect().map(|dialect| format!("dialect = \"{dialect}\"\n")).unwrap_or_default();
        let images = self.sees != Sees::Nothing;
        format!(
            "[providers.{name}]\nbase_url = \"{url}{folder}\"\nkey = \"{key}\"\nwire = \"{spoken}\"\n{dialect}{more}\nmodels = [\"{model}\"]\n\
             [[providers.{name}.model]]\nid = \"{model}\"\nimages = {images}\n"
        )
    }

    /// The name by which the user chooses its model. The one with a budget thinks only if it is told to.
    fn choice(self) -> String {
        let thinking = if self.name == "budget" { "-thinking" } else { "" };
        format!("{}/{}{thinking}", self.name, self.model)
    }

    /// An id of a call as it makes them. vLLM's are too long for OpenAI, and Kimi's have letters that others refuse.
    fn id(self, number: usize) -> String {
        match self.wire {
            Wire::Anthropic => format!("toolu_01{number:0>22}"),
            Wire::Responses => format!("call_{number:0>24}"),
            Wire::Chat => format!("chatcmpl-tool-{number:0>32}"),
            Wire::Moonshot => format!("functions.read_file:{number}"),
            Wire::OpenRouter => format!("call_{number}|fc_{number:0>100}"),
            Wire::GeminiChat => format!("function-call-{number:0>20}"),
            Wire::Gemini => format!("{number:0>8}"),
            Wire::Groq | Wire::Mistral => format!("{number:0>9}"),
            Wire::Converse => format!("tooluse_{number:0>22}"),
        }
    }

    /// The answer in a turn. Two of them are never whole: one waits for the user's word on a command, one for its end.
    fn answer(self, turn: &str, is_answering: bool, number: &mut usize) -> Answer {
        let name = self.name;
        let mut call = |tool: &str, input: Value| {
            *number += 1;
            Step::Call { id: self.id(*number), name: tool.into(), input }
        };
        let ((read, a), (_, b)) = (reads("a.txt"), reads("b.txt"));
        let thinks = Answer::nothing().thinking(&format!("A thought of {name}")).thinking(" in pieces.");
        match (turn, is_answering) {
            ("1" | "3", false) => thinks.text("I look.").step(call(read, a)).step(call(read, b)),
            ("2", false) => thinks
                .step(call(read, a))
                .step(call("browser.tabs.open", json!({})))
                .step(call("shell_run", json!({ "command": "touch made.txt" }))),
            ("4", false) => {
                let Step::Call { id, .. } = call("list_files", json!({})) else { unreachable!() };
                let (begin, rest, gate) = ("{\"path\":".to_owned(), "\"\"}".to_owned(), Gate::default());
                Answer::nothing().text("I will ").step(Step::SlowCall {
                    id,
                    name: "list_files".into(),
                    begin,
                    gate,
                    rest,
                })
            }
            ("5", false) => thinks.step(call(read, b)),
            (turn, _) => thinks.text(&format!("This is what I, {name}, say in turn {turn}.")),
        }
    }
}

/// The vendor whose model is asked.
fn vendor_of(asked: &Asked) -> Vendor {
    VENDORS.into_iter().find(|vendor| asked.model().starts_with(vendor.model)).expect("a model of the test's")
}

/// The turn that a request is for, and true if it has calls of it already.
fn turn_of(asked: &Asked) -> (String, bool) {
    let words = |said: &Said| match said {
        Said::User(text) | Said::Result { text, .. } => text.clone(),
        Said::Assistant(_) | Said::Call { .. } | Said::Other => String::new(),
    };
    let turn = |said: &Said| words(said).rsplit_once("turn=").map(|(_, rest)| rest[..1].to_owned());
    let at = asked.said().iter().rposition(|said| turn(said).is_some()).expect("a prompt of the test's");
    let is_answering = asked.said()[at..].iter().any(|said| matches!(said, Said::Call { .. }));
    (turn(&asked.said()[at]).unwrap(), is_answering)
}

/// One session with two vendors: two turns of the first, two of the second, and one more of each.
async fn play(client: &Client, [first, second]: [Vendor; 2]) {
    let session = client.new_session().await;
    let select =
        |vendor: Vendor| client.call::<methods::ModelSelect>(json!({ "sessionId": session, "model": vendor.choice() }));
    let prompt = |turn: u8| format!("[pair={}-{} turn={turn}]", first.name, second.name);
    select(first).await;
    let shown = json!([{ "type": "text", "text": prompt(1) }, { "type": "image", "mimeType": "image/png", "data": PNG },
        { "type": "image", "mimeType": "image/gif", "data": GIF }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": shown })).await;
    client.until_end(&session, StopReason::EndTurn).await;
    interrupted(client, &session, &prompt(2), |event| matches!(event, Event::PermissionAsked { .. })).await;
    select(second).await;
    // Right after the results of the calls that were not made.
    let shown =
        json!([{ "type": "text", "text": prompt(3) }, { "type": "image", "mimeType": "image/png", "data": PNG }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": shown })).await;
    client.until_end(&session, StopReason::EndTurn).await;
    let is_said = |event: &Event| matches!(event, Event::MessageDelta { text, .. } if text.contains("I will"));
    interrupted(client, &session, &prompt(4), is_said).await;
    for (vendor, turn) in [(first, 5), (second, 6)] {
        select(vendor).await;
        client.prompt(&session, &prompt(turn)).await;
        client.until_end(&session, StopReason::EndTurn).await;
    }
}

async fn interrupted(client: &Client, session: &SessionId, prompt: &str, when: impl Fn(&Event) -> bool) {
    client.prompt(session, prompt).await;
    client.until(session, "the moment to interrupt", when).await;
    client.call::<methods::TurnCancel>(json!({ "sessionId": session })).await;
    client.until_end(session, StopReason::Cancelled).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_changes_from_every_vendor_to_every_other_and_back_and_nothing_is_refused() {
    let mut number = 0;
    let model = ModelServer::responding(move |asked| {
        let vendor = vendor_of(asked);
        let (turn, is_answering) = turn_of(asked);
        vendor.answer(&turn, is_answering, &mut number)
    })
    .await;
    let setup = Setup::empty();
    let mut configuration = "model = \"claude/claude-opus-5-5\"\nshell_rc = false\n".to_owned();
    VENDORS.iter().for_each(|vendor| configuration.write_str(&vendor.configuration(&model)).unwrap());
    setup.configure(&configuration);
    let project = project();
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let pairs: Vec<_> = VENDORS.into_iter().flat_map(|first| VENDORS.map(|second| [first, second])).collect();
    let pairs: Vec<_> = pairs.into_iter().filter(|[first, second]| first.name != second.name).collect();
    stream::iter(&pairs).map(|pair| play(&client, *pair)).buffer_unordered(8).collect::<()>().await;

    let mut all: HashMap<String, Vec<(Asked, String)>> = HashMap::new();
    for asked in model.asked() {
        let body = asked.body().to_string();
        let pair = body.split_once("[pair=").and_then(|(_, rest)| rest.split_once(' ')).unwrap().0.to_owned();
        all.entry(pair).or_default().push((asked, body));
    }
    for [first, second] in pairs {
        let pair = format!("{}-{}", first.name, second.name);
        let asked = &all[&pair];
        let names: Vec<_> = asked.iter().map(|(asked, _)| vendor_of(asked).name).collect();
        let [a, b] = [first.name, second.name];
        assert_eq!(names, [a, a, a, b, b, b, a, a, b], "{pair}");
        for (vendor, other, at) in [(first, second, 7), (second, first, 8)] {
            let (asked, body) = &asked[at];
            assert_eq!(body.contains(PNG), vendor.sees != Sees::Nothing, "{pair} {}: {body}", vendor.name);
            assert_eq!(body.contains(GIF), vendor.sees == Sees::All, "{pair} {}: {body}", vendor.name);
            assert_eq!(body.contains("shows an image here"), vendor.sees != Sees::All, "{pair} {}", vendor.name);
            assert!(!body.contains(&format!("A thought of {}", other.name)), "{pair} {}: {body}", vendor.name);
            let thought = format!("A thought of {} in pieces.", vendor.name);
            assert_eq!(body.contains(&thought), vendor.remembers, "{pair} {}: {body}", vendor.name);
            let results = asked.said().iter().filter(|said| matches!(said, Said::Result { .. })).count();
            assert_eq!(results, 8, "{pair} {}: every call stays, with its result", vendor.name);
            assert!(body.contains("I will "), "{pair} {}: what was said before the interruption stays", vendor.name);
        }
    }
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn thinking_that_came_after_what_is_trimmed_stays_away_wherever_the_model_is_served() {
    let long: String = (1..=200).map(|number| format!("line number {number}\n")).collect();
    let read = |from: u64| {
        let input = json!({ "path": "long.txt", "start_line": from, "end_line": from + 9 });
        Answer::nothing().thinking(&format!("From line {from}.")).call("read_file", input)
    };
    let too_long = r#"{"error":{"message":"maximum context length exceeded","code":"context_length_exceeded"}}"#;
    for vendor in &VENDORS[..2] {
        let mut script: Vec<_> = (0..6).map(|round| read(round * 10 + 1)).collect();
        script.push(Answer::Refused { status: 400, headers: Vec::new(), body: too_long.into() });
        script.push(read(61));
        script.push(Answer::says("Done."));
        let model = ModelServer::start(script).await;
        model.may_rewrite();
        let setup = Setup::empty();
        let configuration = vendor.configuration(&model);
        setup.configure(&format!("model = \"{}\"\nshell_rc = false\n{configuration}", vendor.choice()));
        let project = Project::new([("long.txt", long.as_str())]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let session = client.new_session().await;
        client.prompt(&session, "Read it.").await;
        client.until_end(&session, StopReason::EndTurn).await;
        let thoughts = |at: usize| model.asked()[at].body().to_string().matches("\"signature\":").count();
        assert_eq!(thoughts(6), 6, "{}", vendor.name);
        let last = model.asked_times(9).await;
        assert!(last.body().to_string().contains("removed to make room"), "{}", vendor.name);
        assert_eq!(thoughts(8), 2, "{}: the first, and the one that came since", vendor.name);
        assert_eq!(client.finish().await, 0);
    }
}
