//! The numbers about suggestions, which stay on this machine, and their cost with its limit; with a model server that
//! speaks llama.cpp's format and a vendor's.

#![expect(clippy::disallowed_methods, reason = "the test looks into the store's file, and starts the command line")]

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use harness::{Client, FillServer, Filled, Profile, Project, Setup, binary, patiently};
use hub::clock::Clock;
use protocol::inline::counts::{InlineCountsResult, InlineModelCounts};
use protocol::inline::{InlineCompleteResult, InlineState, InlineStatusParams, Rule};
use protocol::methods;
use serde_json::{Value, json};

const MAIN: &str = "fn main() {\n    let numbers = [1, 2, 3];\n    let sum = \n}\n";
const CALL: &str = "numbers.iter().sum::<i32>();";
/// A day in the middle of it, in milliseconds since the Unix epoch.
const NOON: u64 = 20_000 * 86_400_000 + 43_200_000;
const STATUS: &str = "azimuth/inline/status";

/// A user of whose day the test is the master.
struct World {
    setup: Setup,
    project: Project,
    now: Arc<AtomicU64>,
}

impl World {
    fn new(configuration: &str, files: &[(&str, &str)]) -> Self {
        let mut setup = Setup::empty();
        setup.configure(configuration);
        let now = Arc::new(AtomicU64::new(NOON));
        let read = Arc::clone(&now);
        setup.custom.clock = Clock::new(move || read.load(Ordering::Relaxed));
        Self { setup, project: Project::new(files.iter().copied()), now }
    }

    async fn window(&self) -> Client {
        let client = Client::start(&self.setup, &self.project, Profile::panel()).await;
        client.open(&self.uri());
        client
    }

    fn uri(&self) -> String {
        self.project.uri("main.rs")
    }

    fn pass(&self, time: Duration) {
        self.now.fetch_add(u64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
    }

    /// Asks at the end of what first fits the text.
    async fn asked(&self, client: &Client, behind: &str) -> InlineCompleteResult {
        asked(client, &self.uri(), behind, "invoked").await
    }

    async fn typed(&self, client: &Client, behind: &str) -> InlineCompleteResult {
        asked(client, &self.uri(), behind, "automatic").await
    }
}

async fn asked(client: &Client, uri: &str, behind: &str, trigger: &str) -> InlineCompleteResult {
    let text = client.text(uri);
    let end = text.find(behind).unwrap_or_else(|| panic!("{behind:?} is not in {text:?}")) + behind.len();
    let line = text[..end].matches('\n').count();
    let character = end - text[..end].rfind('\n').map_or(0, |at| at + 1);
    let position = json!({ "line": line, "character": character });
    let params = json!({ "textDocument": { "uri": uri }, "position": position, "trigger": trigger });
    client.call::<methods::InlineComplete>(params).await
}

fn told(client: &Client, suggested: &InlineCompleteResult, event: &str, more: Value) {
    let mut params = json!({ "id": suggested.items[0].id, "event": event });
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.notify("azimuth/inline/feedback", params);
}

async fn counts(client: &Client) -> InlineCountsResult {
    client.call::<methods::InlineCounts>(json!({})).await
}

async fn of_model(client: &Client) -> InlineModelCounts {
    let counted = counts(client).await;
    let [model] = counted.models.as_slice() else { panic!("{counted:?}") };
    model.clone()
}

/// The next status that fits.
async fn status(client: &Client, fits: impl Fn(&InlineStatusParams) -> bool) -> InlineStatusParams {
    patiently("a status of suggestions", async {
        loop {
            let status: InlineStatusParams = client.notification(STATUS).await;
            if fits(&status) {
                return status;
            }
        }
    })
    .await
}

#[tokio::test]
async fn it_is_counted_what_becomes_of_suggestions_and_whether_they_stay() {
    let model = FillServer::start(|_| Filled::with(CALL));
    let world = World::new(&model.configuration(), &[("main.rs", MAIN)]);
    let client = world.window().await;
    client.waive(STATUS);
    let suggested = world.asked(&client, "let sum = ").await;
    told(&client, &suggested, "shown", json!({}));
    told(&client, &suggested, "partly", json!({ "length": 7 }));
    client.replace(&world.uri(), "let sum = ", "let sum = numbers");
    let rest = world.typed(&client, "let sum = numbers").await;
    told(&client, &rest, "shown", json!({}));
    client.replace(&world.uri(), "let sum = numbers", &format!("let sum = {CALL}"));
    told(&client, &rest, "accepted", json!({}));
    let now = of_model(&client).await;
    assert_eq!((now.model.as_str(), now.shown, now.accepted), ("llama.cpp/", 2, 1), "{now:?}");
    assert_eq!((now.partly, now.partly_characters, now.ignored), (1, 7, 0), "{now:?}");
    assert_eq!((now.requests, now.given, now.given_from_cache), (1, 2, 1), "{now:?}");
    assert!(now.changes >= 1 && now.p50_ms.is_some() && now.p90_ms >= now.p50_ms, "{now:?}");
    assert!(now.retention.iter().all(|after| after.looked_for == 0), "{now:?}");

    client.replace(&world.uri(), "fn main", "// The sum of some numbers.\nfn main");
    world.pass(Duration::from_secs(30));
    let seen =
        |counts: &InlineModelCounts| counts.retention.iter().map(|it| (it.looked_for, it.kept)).collect::<Vec<_>>();
    assert_eq!(seen(&of_model(&client).await), [(1, 1), (0, 0), (0, 0)]);
    client.replace(&world.uri(), CALL, "6;");
    world.pass(Duration::from_secs(90));
    assert_eq!(seen(&of_model(&client).await), [(1, 1), (1, 0), (0, 0)]);
    let stored = std::fs::read(world.setup.data_folder().join("azimuth.db")).unwrap();
    let log = std::fs::read(world.setup.data_folder().join("azimuth.db-wal")).unwrap_or_default();
    let stored = String::from_utf8_lossy(&[stored, log].concat()).into_owned();
    assert!(stored.contains("kept_30") && !stored.contains("iter()"), "numbers only, never code");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn hunks_of_accepted_edits_are_looked_for_too() {
    let model = FillServer::start(|asked| {
        let new = asked
            .window()
            .replace("let two = 2;", "let two = second(beta);")
            .replace("let four = 4;", "let four = fourth(delta);");
        asked.rewritten(&new)
    });
    let text = "fn main() {\n    let one = 1;\n    let two = 2;\n    let three = 3;\n    let four = 4;\n}\n";
    let world = World::new(&model.edit_configuration(), &[("main.rs", text)]);
    let (client, uri) = (world.window().await, world.uri());
    client.waive(STATUS);
    client.replace(&uri, "one = 1", "one = first(alpha)");
    let document = json!({ "uri": uri, "version": client.version(&uri) });
    let position = json!({ "line": 1, "character": 27 });
    let edit = json!({ "textDocument": document, "position": position, "trigger": "automatic" });
    let result = client.call::<methods::InlineEdit>(edit).await;
    let edit = result.edit.clone().unwrap_or_else(|| panic!("{result:?}"));
    assert_eq!(edit.hunks.len(), 2, "{edit:?}");
    client.call::<methods::InlineAccept>(json!({ "id": edit.id })).await;
    world.pass(Duration::from_secs(30));
    let seen = async || {
        let counts = of_model(&client).await;
        let seen = counts.retention.iter().map(|it| (it.looked_for, it.kept));
        (counts.accepted, seen.collect::<Vec<_>>())
    };
    assert_eq!(seen().await, (1, vec![(2, 2), (0, 0), (0, 0)]));
    client.replace(&uri, "let two = second(beta);", "");
    world.pass(Duration::from_secs(90));
    assert_eq!(seen().await, (1, vec![(2, 2), (2, 1), (0, 0)]));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn what_was_counted_is_written_when_the_process_ends_and_added_up_over_days() {
    let model = FillServer::start(|_| Filled::with(CALL));
    let world = World::new(&model.configuration(), &[("main.rs", MAIN)]);
    for _ in 0..2 {
        let client = world.window().await;
        client.waive(STATUS);
        let suggested = world.asked(&client, "let sum = ").await;
        told(&client, &suggested, "rejected", json!({}));
        assert_eq!(client.finish().await, 0);
        world.pass(Duration::from_secs(86_400));
    }
    let client = world.window().await;
    client.waive(STATUS);
    assert_eq!(of_model(&client).await.rejected, 2);
    let yesterday = client.call::<methods::InlineCounts>(json!({ "days": 2 })).await;
    assert_eq!((yesterday.days, yesterday.models[0].rejected), (2, 1));
    world.pass(Duration::from_secs(89 * 86_400));
    world.asked(&client, "let sum = ").await;
    assert_eq!(of_model(&client).await.rejected, 0, "90 days at most");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_switch_deletes_what_was_counted_and_nothing_is_counted_after() {
    let model = FillServer::start(|_| Filled::with(CALL));
    let world = World::new(&model.configuration(), &[("main.rs", MAIN)]);
    let client = world.window().await;
    client.waive(STATUS);
    let suggested = world.asked(&client, "let sum = ").await;
    told(&client, &suggested, "accepted", json!({}));
    assert_eq!(of_model(&client).await.accepted, 1);
    world.setup.configure(&format!("inline_counts = false\n{}", model.configuration()));
    client.notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": { "codeActions": true } } }));
    let suggested = world.asked(&client, "let sum = ").await;
    told(&client, &suggested, "accepted", json!({}));
    let off = counts(&client).await;
    assert!(!off.counted && off.models.is_empty(), "{off:?}");
    assert_eq!(client.finish().await, 0);
    // Switched on again, nothing of before is there.
    world.setup.configure(&model.configuration());
    let client = world.window().await;
    client.waive(STATUS);
    assert_eq!(counts(&client).await.models, []);
    assert_eq!(client.finish().await, 0);
}

/// True if requests to addresses that are not this machine's own go through a proxy, which knows no server of a test.
fn is_behind_a_proxy() -> bool {
    let is_set =
        ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].iter().any(|name| std::env::var_os(name).is_some());
    if is_set {
        harness::not_tried("the cost of suggestions: there is a proxy");
    }
    is_set
}

#[tokio::test]
async fn the_cost_of_all_windows_counts_and_at_the_limit_nothing_is_asked_until_the_next_day() {
    if is_behind_a_proxy() {
        return;
    }
    // A million tokens at 0.3 dollars for each request.
    let model = FillServer::start(|_| Filled::with(CALL).read(1_000_000));
    let configuration = format!("inline_cost_limit = 0.85\n{}", model.vendor_configuration());
    let world = World::new(&configuration, &[("main.rs", MAIN)]);
    let one = world.window().await;
    assert_eq!(status(&one, |_| true).await.cost, None, "nothing was spent today");
    assert_eq!(world.asked(&one, "let sum = ").await.items.len(), 1);
    assert_eq!(world.asked(&one, "[1, 2, 3];").await.items.len(), 1);
    let spent = of_model(&one).await;
    assert!(spent.model == "mistral/codestral-latest" && (spent.cost - 0.6).abs() < 1e-3, "{spent:?}");
    let told = status(&one, |status| status.cost.is_some_and(|cost| cost > 0.5)).await;
    assert_eq!((told.state, told.cost, told.cost_unknown), (InlineState::Ready, Some(0.6), false));

    let other = world.window().await;
    other.waive(STATUS);
    assert_eq!(world.asked(&other, "let sum = ").await.items.len(), 1, "0.6 of 0.85 are spent");
    let refused = world.asked(&other, "[1, 2, 3];").await;
    assert_eq!(refused.reason.as_ref().map(|reason| reason.rule), Some(Rule::CostLimit), "{refused:?}");
    let words = refused.reason.unwrap().words;
    assert!(
        words.starts_with("Today's limit of cost for suggestions is reached.") && words.contains("$0.85"),
        "{words}"
    );
    assert_eq!(model.asked().len(), 3);
    world.pass(Duration::from_secs(86_400));
    assert_eq!(world.asked(&other, "[1, 2, 3];").await.items.len(), 1, "a new day");
    assert_eq!(world.asked(&one, "fn main() {").await.items.len(), 1);
    assert_eq!(model.asked().len(), 5);
    one.waive(STATUS);
    assert_eq!((one.finish().await, other.finish().await), (0, 0));
}

#[tokio::test]
async fn a_window_that_starts_at_the_limit_asks_nothing_and_says_why() {
    if is_behind_a_proxy() {
        return;
    }
    let model = FillServer::start(|_| Filled::with(CALL).read(3_000_000));
    let world = World::new(&model.vendor_configuration(), &[("main.rs", MAIN)]);
    let one = world.window().await;
    one.waive(STATUS);
    world.asked(&one, "let sum = ").await;
    assert_eq!(one.finish().await, 0);
    let two = world.window().await;
    assert_eq!(world.asked(&two, "[1, 2, 3];").await.items.len(), 1, "0.9 of the usual limit of 1 are spent");
    let told = status(&two, |status| status.state == InlineState::Off).await;
    assert_eq!(told.reason.map(|reason| reason.rule), Some(Rule::CostLimit));
    two.waive(STATUS);
    assert_eq!(two.finish().await, 0);
    let three = world.window().await;
    let refused = world.asked(&three, "let sum = ").await;
    assert_eq!(refused.reason.map(|reason| reason.rule), Some(Rule::CostLimit));
    assert_eq!(model.asked().len(), 2);
    let told = status(&three, |status| status.state == InlineState::Off).await;
    assert_eq!(told.cost, Some(1.8));
    world.setup.configure(&format!("inline_cost_limit = 5\n{}", model.vendor_configuration()));
    three.notify("workspace/didChangeConfiguration", json!({ "settings": { "azimuth": { "codeActions": true } } }));
    status(&three, |status| status.state == InlineState::Ready).await;
    assert_eq!(world.asked(&three, "let sum = ").await.items.len(), 1, "the user has raised it");
    three.waive(STATUS);
    assert_eq!(three.finish().await, 0);
}

#[tokio::test]
async fn a_model_whose_price_nobody_knows_is_said_to_have_none() {
    if is_behind_a_proxy() {
        return;
    }
    let model = FillServer::start(|_| Filled::with(CALL));
    let configuration = model.vendor_configuration().replace("codestral-latest", "codestral-of-tomorrow");
    let configuration = configuration.replace("mistral", "mine");
    let world = World::new(&configuration, &[("main.rs", MAIN)]);
    let client = world.window().await;
    let told = status(&client, |status| status.state == InlineState::Ready).await;
    assert!(told.cost_unknown && told.cost.is_none(), "{told:?}");
    client.waive(STATUS);
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_model_that_takes_too_long_is_said_to_be_slow_and_asked_all_the_same() {
    let model = FillServer::start(|_| Filled::with(CALL).after(Duration::from_millis(3_200)));
    let names: Vec<_> = (0..10).map(|number| format!("f{number}.rs")).collect();
    let files: Vec<_> = names.iter().map(|name| (name.as_str(), MAIN)).chain([("main.rs", MAIN)]).collect();
    let world = World::new(&model.configuration(), &files);
    let client = world.window().await;
    status(&client, |status| status.state == InlineState::Ready).await;
    let uris: Vec<_> = names.iter().map(|name| world.project.uri(name)).collect();
    uris.iter().for_each(|uri| client.open(uri));
    let all = uris.iter().map(|uri| asked(&client, uri, "let sum = ", "invoked"));
    let answers = futures_util::future::join_all(all).await;
    assert!(answers.iter().all(|answer| answer.items.len() == 1), "{answers:?}");
    let told = status(&client, |status| status.state == InlineState::Slow).await;
    let words = told.reason.unwrap().words;
    assert!(words.contains("half of its last ten requests took 3."), "{words}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn the_command_line_shows_the_numbers() {
    let model = FillServer::start(|_| Filled::with(CALL));
    let mut world = World::new(&model.configuration(), &[("main.rs", MAIN)]);
    // The program itself knows only today.
    world.setup.custom.clock = Clock::default();
    let client = world.window().await;
    client.waive(STATUS);
    let suggested = world.asked(&client, "let sum = ").await;
    told(&client, &suggested, "accepted", json!({}));
    assert_eq!(client.finish().await, 0);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.arg("suggestions").args(arguments).current_dir(world.project.folder());
        command.env("AZIMUTH_DATA_DIR", world.setup.data_folder()).env("AZIMUTH_CONFIG", world.setup.config_file());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let table = run(&[]);
    assert!(table.contains("accepted") && table.contains("1 (100 %)") && table.contains("llama.cpp/"), "{table}");
    let read: InlineCountsResult = serde_json::from_str(&run(&["--json", "--days", "1"])).unwrap();
    assert_eq!((read.days, read.models[0].accepted), (1, 1));
}
