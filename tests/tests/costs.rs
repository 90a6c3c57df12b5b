//! The bill: the requests of two models on two days, one of them without a price, told by `/costs` and by
//! `azimuth stats`.

#![expect(clippy::disallowed_methods, reason = "the test starts the command line")]

use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, binary};
use hub::clock::{Clock, day_of, name_of};
use ports::model::cost;
use protocol::content::Usage;
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::{Value, json};

/// A model whose price is in the program's data.
const PRICED: &str = "test/claude-sonnet-4-6";
/// A time of the first day, in milliseconds since the Unix epoch: noon of 2024-10-04.
const FIRST: u64 = 20_000 * 86_400_000 + 43_200_000;
/// The tokens that the model server reports of each request.
const USAGE: Usage = Usage { input: 80, output: 10, cache_read: 20, cache_write: 0, cache_write_hour: 0 };

/// A user with a model that has a price and one for titles that has none, on a day that the test sets.
struct World {
    setup: Setup,
    project: Project,
    now: Arc<AtomicU64>,
}

impl World {
    fn new(model: &ModelServer) -> Self {
        let mut setup = Setup::empty();
        let configured =
            Setup::configuration(model, Wire::Anthropic).replace("\"test/model-1\"", &format!("{PRICED:?}"));
        let models = "[\"claude-sonnet-4-6\", \"model-2\"]";
        setup.configure(&format!("title_model = \"test/model-2\"\n{}", configured.replace("[\"model-1\"]", models)));
        let now = Arc::new(AtomicU64::new(FIRST));
        let read = Arc::clone(&now);
        setup.custom.clock = Clock::new(move || read.load(Ordering::Relaxed));
        Self { setup, project: Project::new([]), now }
    }

    async fn client(&self) -> Client {
        Client::start(&self.setup, &self.project, Profile::panel()).await
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(self.project.folder());
        command.env("AZIMUTH_DATA_DIR", self.setup.data_folder()).env("AZIMUTH_CONFIG", self.setup.config_file());
        command.output().unwrap()
    }

    fn stats(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["stats"], arguments].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn stats_json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.stats(&[arguments, &["--json"]].concat())).unwrap()
    }
}

async fn costs(client: &Client, session: &SessionId) -> String {
    let prompt = json!([{ "type": "text", "text": "/costs" }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": prompt })).await;
    let executed = |event: &Event| matches!(event, Event::CommandExecuted { .. });
    match client.until(session, "the costs", executed).await.pop() {
        Some(Event::CommandExecuted { message, is_error: false, .. }) => message,
        other => panic!("{other:?}"),
    }
}

/// The columns of a table's line.
fn columns<'a>(table: &'a str, name: &str) -> Vec<&'a str> {
    let line = table.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {table}"));
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
}

#[tokio::test]
async fn what_two_models_spent_on_two_days_is_told_by_model_day_and_session() {
    let model = ModelServer::responding(|asked| match asked.system().contains("You name conversations") {
        true => Answer::says("Two days"),
        false => Answer::says("Hello."),
    })
    .await;
    let world = World::new(&model);
    let client = world.client().await;
    let listed = client.call::<methods::ModelList>(json!({})).await.models;
    let price = listed.iter().find(|model| model.id == PRICED).and_then(|model| model.price).unwrap();
    let one = cost(&price, &USAGE);
    let session = client.new_session().await;
    client.prompt(&session, "Hello.").await;
    let is_named = |event: &Event| matches!(event, Event::TitleChanged { title } if title == "Two days");
    let events = client.until(&session, "the title", is_named).await;
    if !events.iter().any(|event| matches!(event, Event::TurnEnded { .. })) {
        client.until_end(&session, StopReason::EndTurn).await;
    }
    // The program itself knows only today, which may end while the test runs.
    world.now.store(Clock::default().now(), Ordering::Relaxed);
    for _ in 0..2 {
        client.prompt(&session, "And today?").await;
        client.until_end(&session, StopReason::EndTurn).await;
    }
    let sums = client.call::<methods::CostsSums>(json!({})).await;
    assert_eq!((sums.today.requests, sums.total.requests, sums.total.unpriced_requests), (2, 4, 1));
    assert_eq!(sums.day, name_of(day_of(world.now.load(Ordering::Relaxed))));
    assert!(sums.total.cost.is_some_and(|cost| (cost - 3.0 * one).abs() < 1e-9), "{sums:?}");
    let told = costs(&client, &session).await;
    for line in [
        "- `test/claude-sonnet-4-6`: $0.001, 3 requests, 330 tokens (20 % of the input from the cache)",
        "- `test/model-2`: cost unknown, 1 request, 110 tokens (20 % of the input from the cache)",
        "- of this, titles: cost unknown, 1 request, 110 tokens",
        "The last 3 turns, the last first:",
        "So far:\n\n- 3 prompts, 3 turns, 3 requests\n- `test/claude-sonnet-4-6`: begins after ",
        "Today (UTC), in all conversations: $0.001, 2 requests, 220 tokens (20 % of the input from the cache).",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    assert!(told.contains("and more, which is unknown: `test/model-2` has no known price"), "{told}");
    assert_eq!(client.finish().await, 0);

    let table = world.stats(&[]);
    assert_eq!(columns(&table, PRICED), [PRICED, "3", "240", "30", "60", "0", "20 %", "$0.001"], "{table}");
    assert_eq!(columns(&table, "test/model-2"), ["test/model-2", "1", "80", "10", "20", "0", "20 %", "unknown"]);
    assert_eq!(columns(&table, "total"), ["total", "4", "320", "40", "80", "0", "20 %", "$0.001 and more"]);
    assert!(table.contains("Of the total, titles: 1 request, cost unknown."), "{table}");
    assert!(table.contains("because the price was not known: test/model-2 (1 request)."), "{table}");

    let activity = world.stats_json(&["--activity"]);
    assert_eq!(
        (&activity["conversations"], &activity["prompts"], &activity["requests"]),
        (&json!(1), &json!(3), &json!(3))
    );
    assert_eq!((&activity["speeds"][0]["model"], &activity["speeds"][0]["answers"]), (&json!(PRICED), &json!(3)));
    assert!(activity["speeds"][0]["tokensPerSecond"].as_f64().is_some_and(|rate| rate > 0.0), "{activity}");
    assert!(world.stats(&["--activity"]).contains("first piece after"), "{activity}");
    let projects = world.stats_json(&["--by", "project"]);
    let project = projects["rows"][0]["name"].as_str().unwrap();
    assert!(project.ends_with(&format!("/{}", projects["rows"][0]["title"].as_str().unwrap())), "{projects}");
    assert_eq!((projects["rows"].as_array().map(Vec::len), &projects["rows"][0]["requests"]), (Some(1), &json!(4)));

    let days = world.stats_json(&["--by", "day"]);
    let first = &days["rows"][1];
    assert_eq!((&first["name"], &first["requests"]), (&json!("2024-10-04"), &json!(2)), "{days}");
    assert_eq!((&first["unpricedRequests"], &days["rows"][0]["requests"]), (&json!(1), &json!(2)), "{days}");
    assert!((first["cost"].as_f64().unwrap() - one).abs() < 1e-9, "{days}");
    let recent = world.stats_json(&["--days", "2", "--by", "provider"]);
    assert_eq!((&recent["total"]["requests"], &recent["total"]["unpricedRequests"]), (&json!(2), &json!(0)));
    assert!((recent["total"]["cost"].as_f64().unwrap() - 2.0 * one).abs() < 1e-9, "{recent}");

    assert!(world.stats(&["--by", "session"]).contains(&format!("{session}  Two days  ")));
    assert!(world.run(&["sessions", "delete", session.as_str()]).status.success());
    let rest = world.stats(&["--by", "session"]);
    assert_eq!(columns(&rest, session.as_str())[1], "4", "it was paid for: {rest}");
    assert!(rest.contains(&format!("{session} (deleted)")), "{rest}");
}

#[tokio::test]
async fn without_requests_and_with_wrong_arguments_it_is_said_what_to_do() {
    let model = ModelServer::start([]).await;
    let world = World::new(&model);
    assert!(world.stats(&[]).starts_with("No model was asked in all time. Ask one with `azimuth exec"));
    assert!(world.stats(&["--days", "3"]).contains("`azimuth stats` without `--days` shows all time."));
    let empty = world.stats_json(&["--by", "session"]);
    assert_eq!((&empty["rows"], &empty["total"]["cost"]), (&json!([]), &json!(0.0)));
    for (arguments, said) in [
        (["stats", "--days", "0"], "invalid value '0' for '--days <DAYS>': 0 is not in 1.."),
        (["stats", "--days", "many"], "invalid value 'many' for '--days <DAYS>'"),
        (["stats", "--by", "nothing"], "[possible values: day, model, provider, project, session]"),
    ] {
        let output = world.run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(said), "{error}");
    }
}
