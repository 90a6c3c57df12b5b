//! A budget: the user is warned, asked before more is spent, and told what was spent; with the limits that the vendor
//! tells, and the requests one by one.

#![expect(clippy::disallowed_methods, reason = "the test starts the command line")]

use std::process::Command;

use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire, binary};
use ports::model::cost;
use protocol::content::Usage;
use protocol::costs::BudgetScope;
use protocol::event::Severity;
use protocol::permission::{PermissionAbout, PermissionRequest};
use protocol::turn::StopReason;
use protocol::{Event, SessionId, methods};
use serde_json::json;

/// The tokens that the model server reports of each request.
const USAGE: Usage = Usage { input: 80, output: 10, cache_read: 20, cache_write: 0, cache_write_hour: 0 };

/// The cost of a request, at the price of the model in the program's data.
async fn cost_of_a_request(setup: &Setup, project: &Project) -> f64 {
    let client = Client::start(setup, project, Profile::panel()).await;
    let listed = client.call::<methods::ModelList>(json!({})).await.models;
    let price = listed.iter().find(|model| model.id == "test/claude-sonnet-4-6").and_then(|model| model.price).unwrap();
    assert_eq!(client.finish().await, 0);
    cost(&price, &USAGE)
}

/// The configuration of a user whose model has a price.
fn configuration(model: &ModelServer, more: &str) -> String {
    let configured = Setup::configuration(model, Wire::Anthropic);
    format!("{more}\n{}", configured.replace("\"test/model-1\"", "\"test/claude-sonnet-4-6\""))
        .replace("model-1", "claude-sonnet-4-6")
}

async fn asked(client: &Client, session: &SessionId) -> PermissionRequest {
    let fits = |event: &Event| matches!(event, Event::PermissionAsked { .. });
    match client.until(session, "the question", fits).await.pop() {
        Some(Event::PermissionAsked { request, .. }) => request,
        other => panic!("{other:?}"),
    }
}

fn error_of(events: &[Event]) -> &str {
    match events.last() {
        Some(Event::TurnEnded { error: Some(error), .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_user_is_warned_and_asked_before_more_is_spent_than_the_budget() {
    let model = ModelServer::responding(|_| Answer::says("Hello.")).await;
    let setup = Setup::empty();
    setup.configure(&configuration(&model, ""));
    let project = Project::new([]);
    let one = cost_of_a_request(&setup, &project).await;
    setup.configure(&configuration(&model, &format!("session_budget = {}", one * 1.2)));
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    client.prompt(&session, "One.").await;
    client.until_end(&session, StopReason::EndTurn).await;

    client.prompt(&session, "Two.").await;
    let events = client.until_end(&session, StopReason::EndTurn).await;
    let is_warned = |event: &Event| matches!(event, Event::Notice { severity: Severity::Warning, text } if text.contains("of its budget of"));
    assert!(events.iter().any(is_warned), "four fifths are spent: {events:?}");

    client.prompt(&session, "Three.").await;
    let question = asked(&client, &session).await;
    assert_eq!(question.about, PermissionAbout::Budget);
    client.answer(&session, &question, "reject_once").await;
    let events = client.until_end(&session, StopReason::Error).await;
    assert!(error_of(&events).contains("raise `session_budget`"), "{events:?}");
    assert_eq!(model.asked().len(), 2, "nothing was asked of the model");

    client.prompt(&session, "Go on.").await;
    let question = asked(&client, &session).await;
    client.answer(&session, &question, "allow_once").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let shown = client.call::<methods::CostsShow>(json!({ "sessionId": session })).await;
    let budget = &shown.budgets[0];
    assert_eq!((shown.budgets.len(), budget.scope), (1, BudgetScope::Session));
    assert!((budget.spent - 3.0 * one).abs() < 1e-9 && (budget.limit - 3.2 * one).abs() < 1e-9, "{budget:?}");
    let costs = shown.session.unwrap();
    assert_eq!((costs.total.requests, shown.today.requests, shown.models[0].spending.requests), (3, 3, 3));
    let hits: Vec<_> = costs.rounds.iter().map(|round| round.cache_hits).collect();
    assert_eq!(hits, [Some(0.2); 3]);
    assert_eq!((shown.providers[0].name.as_str(), shown.days.len(), costs.children.requests), ("test", 1, 0));
    let quota = &shown.quotas[0];
    assert_eq!((quota.provider.as_str(), quota.windows[0].name.as_str()), ("test", "requests"));
    assert_eq!((quota.windows[0].limit, quota.windows[0].remaining), (Some(50), Some(49)));

    // The question outlives the server. What was allowed before does not, and is asked again.
    assert_eq!(client.finish().await, 0);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    client.prompt(&session, "Five.").await;
    asked(&client, &session).await;
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let opened = client.call::<methods::SessionOpen>(json!({ "sessionId": session, "since": 0 })).await;
    let standing = opened.events.iter().rev().find_map(|event| match &event.event {
        Event::PermissionAsked { request, .. } => Some(request.clone()),
        _ => None,
    });
    client.answer(&session, &standing.unwrap(), "allow_once").await;
    client.until_end(&session, StopReason::EndTurn).await;
    let told = json!([{ "type": "text", "text": "/usage" }]);
    client.call::<methods::TurnStart>(json!({ "sessionId": session, "prompt": told })).await;
    let told = client.until(&session, "the limits", |event| matches!(event, Event::CommandExecuted { .. })).await;
    let Some(Event::CommandExecuted { message, is_error: false, .. }) = told.last() else { panic!("{told:?}") };
    assert!(
        message.contains("- requests: 49 of 50 left") && message.contains("this conversation's budget:"),
        "{message}"
    );
    assert_eq!(client.finish().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_may_lower_the_budget_of_a_day_and_a_run_without_a_terminal_stops_at_it() {
    let model = ModelServer::responding(|_| Answer::calls("list_files", json!({}))).await;
    let setup = Setup::empty();
    setup.configure(&configuration(&model, "day_budget = 5"));
    let project = Project::new([(".azimuth/config.toml", "day_budget = 0.0001\nsession_budget = 0.5\n")]);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.args(arguments).current_dir(project.folder()).stdin(std::process::Stdio::null());
        command.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
        command.output().unwrap()
    };
    for yes in [&["--yes"][..], &[]] {
        let output = run(&[&["exec"], yes, &["Look."]].concat());
        let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("of the day's budget of"), "{said}");
        assert!(said.contains("Not in this run.") && said.contains("raise `day_budget`"), "{said}");
    }
    assert_eq!(model.asked().len(), 1, "the second run spends nothing");
}
