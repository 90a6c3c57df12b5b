//! Amazon Bedrock with AWS's credentials instead of a key: through the real server, with a model server that checks
//! signatures as AWS does.

#![expect(clippy::disallowed_methods, reason = "a test writes AWS's files and starts the program itself")]

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::time::Duration;

use harness::model::{Account, Region};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, Wire};
use protocol::turn::StopReason;
use protocol::{Event, methods};
use serde_json::{Value, json};

const MODEL: &str = "us.anthropic.claude-opus-5-5";
const REGION: &str = "eu-west-1";

fn account() -> Account {
    Account::new("bedrock", REGION).with_key("AKIDEXAMPLE", "secret-of-the-test", None)
}

/// The configuration of a user of Bedrock by this server, of which more is said.
fn configuration(model: &ModelServer, more: &str) -> String {
    let url = model.url(Wire::Anthropic);
    format!(
        "model = \"bedrock/{MODEL}\"\nshell_rc = false\n[providers.bedrock]\nbase_url = \"{url}\"\nmodels = [\"{MODEL}\"]\n\
         aws_region = \"{REGION}\"\n{more}"
    )
}

/// A user with the keys of the account in their environment.
fn with_keys(model: &ModelServer) -> Setup {
    let setup = Setup::empty()
        .with_variable("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        .with_variable("AWS_SECRET_ACCESS_KEY", "secret-of-the-test");
    setup.configure(&configuration(model, ""));
    setup
}

/// A user whose profile `work` has this in AWS's config file.
fn with_profile(model: &ModelServer, lines: &str) -> Setup {
    let setup = Setup::empty();
    setup.configure(&configuration(model, "aws_profile = \"work\"\n"));
    write_config(&setup, lines);
    let home = setup.home().display().to_string();
    setup.with_variable("HOME", &home)
}

fn write_config(setup: &Setup, lines: &str) {
    let folder = setup.home().join(".aws");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config"), format!("[profile work]\n{lines}\n")).unwrap();
}

/// A program that prints the keys of a session, first these and from then on those.
fn program(setup: &Setup, first: &str, then: &str) -> String {
    let (script, mark) = (setup.home().join("get-keys"), setup.home().join("asked-once"));
    let keys = |id: &str| {
        json!({ "Version": 1, "AccessKeyId": id, "SecretAccessKey": format!("secret of {id}"),
            "SessionToken": format!("token of {id}") })
    };
    let (mark, first, then) = (mark.display(), keys(first), keys(then));
    let text = format!("if [ -e '{mark}' ]; then echo '{then}'; else touch '{mark}'; echo '{first}'; fi");
    std::fs::write(&script, text).unwrap();
    format!("credential_process = /bin/sh '{}'", script.display())
}

/// Turns in a session, one after the other, each with how it ends. Gives the events of the last.
async fn turns(setup: &Setup, count: usize, reason: StopReason) -> Vec<Event> {
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(setup, &project, Profile::panel()).await;
    let session = client.new_session().await;
    let mut events = Vec::new();
    for _ in 0..count {
        client.prompt(&session, "Go.").await;
        events = client.until_end(&session, reason).await;
    }
    assert_eq!(client.finish().await, 0);
    events
}

fn error_of(events: &[Event]) -> String {
    let Some(Event::TurnEnded { error: Some(error), .. }) = events.last() else { panic!("{events:?}") };
    error.clone()
}

#[tokio::test]
async fn requests_are_signed_with_the_keys_of_the_environment() {
    let model = ModelServer::start([Answer::says("Done.")]).await;
    model.wants_signatures(account());
    turns(&with_keys(&model), 1, StopReason::EndTurn).await;
    let asked = model.asked().remove(0);
    assert_eq!((asked.place(), asked.header("x-api-key")), ("/anthropic/v1/messages", None));
    assert_eq!(model.refusals(), Vec::<String>::new());
}

#[tokio::test]
async fn a_wrong_clock_costs_one_more_request_and_the_next_is_right_at_once() {
    for (ahead, refusals) in [(Duration::from_secs(3 * 3_600), 1), (Duration::from_secs(60), 0)] {
        let model = ModelServer::start([Answer::says("Done."), Answer::says("Done.")]).await;
        model.wants_signatures(account().ahead_by(ahead));
        // A profile of its own, though it gives nothing: a signer keeps the clock that it has learned.
        let setup = with_keys(&model).with_variable("AWS_PROFILE", &format!("ahead-{refusals}"));
        turns(&setup, 2, StopReason::EndTurn).await;
        assert_eq!(model.refusals(), vec!["InvalidSignatureException".to_owned(); refusals]);
        assert_eq!(model.asked().len(), 2);
    }
}

#[tokio::test]
async fn keys_that_have_ended_are_asked_for_again() {
    let model = ModelServer::start([Answer::says("Done."), Answer::says("Done.")]).await;
    let key =
        |account: Account, id: &str| account.with_key(id, &format!("secret of {id}"), Some(&format!("token of {id}")));
    model.wants_signatures(key(key(account(), "ENDED"), "RENEWED").with_end_of("ENDED"));
    let setup = with_profile(&model, "");
    write_config(&setup, &program(&setup, "ENDED", "RENEWED"));
    turns(&setup, 2, StopReason::EndTurn).await;
    assert_eq!(model.refusals(), ["ExpiredTokenException"]);
    let log = std::fs::read_to_string(setup.home().join("azimuth.log")).unwrap_or_default();
    assert!(!log.contains("secret of") && !log.contains("token of"), "{log}");
}

#[tokio::test]
async fn keys_that_have_ended_and_cannot_be_renewed_are_said_with_what_to_do() {
    let model = ModelServer::start([]).await;
    let account = account().with_key("GONE", "secret of GONE", Some("token of GONE")).with_end_of("GONE");
    model.wants_signatures(account);
    let setup = with_profile(&model, "");
    write_config(&setup, &program(&setup, "GONE", "GONE"));
    let error = error_of(&turns(&setup, 1, StopReason::Error).await);
    for part in ["the AWS credentials of the profile `work` have expired", "`aws sso login --profile work`", "[key]"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert!(!error.contains("GONE"), "what AWS repeats of the key is left out: {error}");
    assert_eq!(model.refusals(), ["ExpiredTokenException"]);
}

#[tokio::test]
async fn a_model_that_is_denied_is_said_with_what_to_do_and_not_asked_for_again() {
    let body = r#"{"message":"User: arn:aws:iam::1:user/ada is not authorized to perform: bedrock:InvokeModel"}"#;
    let headers = vec![("x-amzn-errortype".to_owned(), "AccessDeniedException:http://internal.amazon.com/".to_owned())];
    let model = ModelServer::start([Answer::Refused { status: 403, headers, body: body.into() }]).await;
    model.wants_signatures(account());
    let error = error_of(&turns(&with_keys(&model), 1, StopReason::Error).await);
    let parts =
        ["AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY do not give access to us.anthropic", "Allow them to invoke"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test]
async fn bedrock_is_offered_if_there_are_credentials_and_a_region_and_nobody_is_asked_for_that() {
    let project = Project::new([("a.txt", "one\n")]);
    for (setup, is_offered) in [
        (Setup::empty().with_variable("AWS_REGION", REGION), false),
        (Setup::empty().with_variable("AWS_ACCESS_KEY_ID", "A").with_variable("AWS_SECRET_ACCESS_KEY", "b"), false),
        (
            Setup::empty()
                .with_variable("AWS_ACCESS_KEY_ID", "A")
                .with_variable("AWS_SECRET_ACCESS_KEY", "b")
                .with_variable("AWS_REGION", REGION),
            true,
        ),
    ] {
        setup.configure("shell_rc = false\n");
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let models: Value = serde_json::to_value(client.call::<methods::ModelList>(json!({})).await).unwrap();
        let of_bedrock = models["models"].as_array().unwrap().iter().filter(|model| model["provider"] == "bedrock");
        let available = of_bedrock.filter(|model| model["available"] == true).count();
        assert_eq!(available > 0, is_offered, "{models}");
        assert_eq!(client.finish().await, 0);
    }
}

/// A region whose newest Claude answers by profiles only, as it is at Amazon.
fn region() -> Region {
    Region::new(REGION)
        .with_model("amazon.nova-pro-v1:0", &["ON_DEMAND"])
        .with_model("anthropic.claude-opus-5-5", &["INFERENCE_PROFILE"])
        .with_model("anthropic.claude-haiku-5-5", &["INFERENCE_PROFILE"])
        .with_model("meta.llama3-8b-instruct-v1:0", &["ON_DEMAND"])
        .legacy_until("2027-01-31")
        .with_model("meta.llama3-70b-instruct-v1:0", &["PROVISIONED"])
        .with_profile("eu.anthropic.claude-opus-5-5", "anthropic.claude-opus-5-5")
        .with_profile("global.anthropic.claude-opus-5-5", "anthropic.claude-opus-5-5")
        .with_profile("eu.anthropic.claude-haiku-5-5", "anthropic.claude-haiku-5-5")
}

/// The configuration of a user of Bedrock by this server, who names no models.
fn asking(model: &ModelServer, more: &str) -> String {
    format!("shell_rc = false\n[providers.bedrock]\nbase_url = \"{}\"\n{more}", model.url(Wire::Anthropic))
}

/// The models of Bedrock that the editor is shown, and what is said of their list.
async fn listed(client: &Client) -> (Vec<Value>, String) {
    let result = serde_json::to_value(client.call::<methods::ModelList>(json!({})).await).unwrap();
    let models = result["models"].as_array().unwrap().iter().filter(|model| model["provider"] == "bedrock");
    (models.cloned().collect(), result["notes"].to_string())
}

/// The ids of those that can be used.
fn usable(models: &[Value]) -> Vec<&str> {
    let usable = models.iter().filter(|model| model["available"] == true);
    usable.map(|model| model["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_models_of_bedrock_are_those_that_the_accounts_region_offers() {
    let key = format!("key = \"{}\"", harness::server::KEY);
    for (more, is_signed) in [(format!("aws_region = \"{REGION}\"\n"), true), (key, false)] {
        let model = ModelServer::start([Answer::says("Done.")]).await;
        model.lists(region());
        let setup = match is_signed {
            true => {
                model.wants_signatures(account());
                with_keys(&model)
            }
            false => Setup::empty(),
        };
        setup.configure(&asking(&model, &more));
        let project = Project::new([("a.txt", "one\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let (models, notes) = listed(&client).await;
        let expected = [
            "bedrock/global.anthropic.claude-opus-5-5",
            "bedrock/amazon.nova-pro-v1:0",
            "bedrock/eu.anthropic.claude-opus-5-5",
            "bedrock/eu.anthropic.claude-haiku-5-5",
            "bedrock/meta.llama3-8b-instruct-v1:0",
        ];
        assert_eq!((usable(&models), notes.as_str()), (expected.to_vec(), "null"), "signed: {is_signed}");
        let of = |id: &str| models.iter().find(|model| model["id"] == format!("bedrock/{id}")).unwrap();
        let missing = of("global.anthropic.claude-sonnet-5-5")["unavailableBecause"].to_string();
        assert!(missing.contains("does not list it in this region"), "{missing}");
        let legacy = of("meta.llama3-8b-instruct-v1:0")["warning"].to_string();
        assert!(legacy.contains("will end on 2027-01-31"), "{legacy}");
        assert_eq!(of("eu.anthropic.claude-opus-5-5")["price"]["input"], 4.4, "that of its region");

        let session = client.new_session().await;
        let chosen = json!({ "sessionId": session, "model": "bedrock/eu.anthropic.claude-opus-5-5" });
        client.call::<methods::ModelSelect>(chosen).await;
        client.prompt(&session, "Go.").await;
        client.until_end(&session, StopReason::EndTurn).await;
        assert_eq!((model.asked()[0].model(), model.refusals()), ("eu.anthropic.claude-opus-5-5", Vec::new()));
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_wrong_clock_keeps_no_list_of_models_away() {
    let model = ModelServer::start([]).await;
    model.lists(region());
    model.wants_signatures(account().ahead_by(Duration::from_secs(3 * 3_600)));
    // A profile of its own, though it gives nothing: a signer keeps the clock that it has learned.
    let setup = with_keys(&model).with_variable("AWS_PROFILE", "ahead-of-lists");
    setup.configure(&asking(&model, &format!("aws_region = \"{REGION}\"\n")));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (models, notes) = listed(&client).await;
    assert!(usable(&models).contains(&"bedrock/eu.anthropic.claude-opus-5-5"), "{notes}");
    let refusals = model.refusals();
    assert!(!refusals.is_empty() && refusals.iter().all(|kind| kind == "InvalidSignatureException"), "{refusals:?}");
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn whoever_may_not_list_bedrocks_models_keeps_those_that_are_known_and_is_told_why() {
    let wrong = "key = \"a-wrong-key\"";
    let right = format!("key = \"{}\"", harness::server::KEY);
    for (more, region, told) in [
        (right.as_str(), region().denied(), "is not authorized to perform: bedrock:ListFoundationModels"),
        // This server is none of Amazon's, so it may pass conversations on all the same.
        (wrong, region(), "Please make sure your API Key is valid"),
    ] {
        let model = ModelServer::start([]).await;
        model.lists(region);
        let setup = Setup::empty();
        setup.configure(&asking(&model, more));
        let project = Project::new([("a.txt", "one\n")]);
        let client = Client::start(&setup, &project, Profile::panel()).await;
        let (models, notes) = listed(&client).await;
        assert!(usable(&models).contains(&"bedrock/global.anthropic.claude-opus-5-5"), "{notes}");
        assert!(notes.contains(told) && !notes.contains("a-wrong-key"), "{notes}");
        assert_eq!(client.finish().await, 0);
    }
}

#[tokio::test]
async fn a_program_for_credentials_is_run_by_no_picker_and_may_take_longer_than_a_list() {
    let model = ModelServer::start([]).await;
    model.lists(region());
    model.wants_signatures(account().with_key("ONE", "secret of ONE", Some("token of ONE")));
    let setup = with_profile(&model, "");
    let program = program(&setup, "ONE", "NONE");
    // As long as it takes to find the key that is to be touched.
    let script = setup.home().join("get-keys");
    let keys = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, format!("sleep 6\n{keys}")).unwrap();
    write_config(&setup, &program);
    setup.configure(&asking(&model, &format!("aws_profile = \"work\"\naws_region = \"{REGION}\"\n")));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let (models, notes) = listed(&client).await;
    assert!(usable(&models).contains(&"bedrock/global.anthropic.claude-sonnet-5-5"), "{notes}");
    assert!(notes.contains("a program has to fetch AWS credentials") && notes.contains("`azimuth models`"), "{notes}");
    assert_eq!(client.finish().await, 0);
    assert!(!setup.home().join("asked-once").exists() && model.refusals().is_empty(), "nobody was asked");

    let output = run(&setup, &project, &["models"], &[]).await;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("bedrock/eu.anthropic.claude-haiku-5-5"), "{output:?}");
    assert_eq!(model.refusals(), Vec::<String>::new());
}

#[tokio::test]
async fn the_program_of_a_profile_gives_the_real_binary_its_keys() {
    let model = ModelServer::start([Answer::says("Signed and sealed.")]).await;
    model.wants_signatures(account().with_key("ONE", "secret of ONE", Some("token of ONE")));
    let setup = with_profile(&model, "");
    write_config(&setup, &program(&setup, "ONE", "NONE"));
    let project = Project::new([("a.txt", "one\n")]);
    // A repository has no say in which program runs.
    std::fs::create_dir(project.folder().join(".aws")).unwrap();
    let evil = format!("credential_process = touch '{}'\n", project.folder().join("evil").display());
    std::fs::write(project.folder().join(".aws/config"), format!("[work]\n{evil}[profile work]\n{evil}")).unwrap();
    let output = exec(&setup, &project, &[("AWS_SHARED_CREDENTIALS_FILE", ".aws/config")]).await;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("Signed and sealed."), "{output:?}");
    assert!(!project.folder().join("evil").exists());
    assert_eq!(model.refusals(), Vec::<String>::new());
    let absolute = project.folder().join(".aws/config").display().to_string();
    for variable in ["AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"] {
        let output = exec(&setup, &project, &[(variable, absolute.as_str())]).await;
        assert!(!output.status.success() && !project.folder().join("evil").exists(), "{variable}: {output:?}");
    }
}

#[tokio::test]
async fn a_project_that_stands_first_in_path_runs_no_program_of_its_own() {
    let model = ModelServer::start([]).await;
    let setup = with_profile(&model, "role_arn = arn:aws:iam::1:role/work\nsource_profile = default");
    let project = Project::new([(".venv/pyvenv.cfg", "")]);
    let (aws, evil) = (project.path(".venv/bin/aws"), project.path("evil"));
    project.write(".venv/bin/aws", &format!("#!/bin/sh\ntouch '{}'\n", evil.display()));
    std::fs::set_permissions(&aws, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", aws.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let output = exec(&setup, &project, &[("PATH", path.as_str())]).await;
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("AWS's own program was asked"), "{output:?}");
    assert!(!evil.exists(), "a program of the project has run");
}

/// Has the real binary answer a prompt in a project, with these variables.
async fn exec(setup: &Setup, project: &Project, variables: &[(&str, &str)]) -> Output {
    run(setup, project, &["exec", "--trust", "Go."], variables).await
}

/// Runs the real binary in a project, with these arguments and variables.
async fn run(setup: &Setup, project: &Project, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(harness::binary());
    command.args(arguments).current_dir(project.folder());
    command.env_remove("AWS_CONFIG_FILE").env_remove("AWS_SHARED_CREDENTIALS_FILE");
    command.env("AZIMUTH_DATA_DIR", setup.data_folder()).env("AZIMUTH_CONFIG", setup.config_file());
    command.env("XDG_RUNTIME_DIR", setup.home()).env("HOME", setup.home());
    command.envs(variables.iter().copied());
    tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap()
}
