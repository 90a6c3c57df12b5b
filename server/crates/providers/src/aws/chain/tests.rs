use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::loopback::server::{Answer, Server};

/// The time at which the tests begin: 2026-11-28T00:00:00Z.
const BEGIN: u64 = 1_795_824_000;

/// Starts programs as the test's own children, and a script of the home folder in the stead of AWS's own program.
struct Children(PathBuf);

#[async_trait]
impl RunProgram for Children {
    async fn output(&self, words: &[String]) -> Result<Vec<u8>, String> {
        let (program, args) = words.split_first().ok_or("no words")?;
        let mut command = tokio::process::Command::new(if program == "aws" { "/bin/sh" } else { program });
        if program == "aws" {
            let script = self.0.join("aws");
            command.arg(script.exists().then_some(script).ok_or("there is no such program")?);
        }
        let output = command.args(args).kill_on_drop(true).output().await.map_err(|error| error.to_string())?;
        if output.status.success() { Ok(output.stdout) } else { Err(format!("it failed ({})", output.status)) }
    }

    fn is_users_own(&self, file: &Path) -> bool {
        !file.starts_with(self.0.join("project"))
    }
}

/// A home folder, an environment and a clock.
struct World {
    home: TempDir,
    variables: BTreeMap<String, String>,
    seconds: Arc<AtomicU64>,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".aws")).unwrap();
        Self { home, variables: BTreeMap::new(), seconds: Arc::new(AtomicU64::new(BEGIN)) }
    }

    fn set(mut self, name: &str, value: impl Into<String>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    fn write(self, name: &str, text: &str) -> Self {
        std::fs::write(self.home.path().join(".aws").join(name), text).unwrap();
        self
    }

    /// Writes a program that appends a line to the file `runs`, and then runs the script. Gives its command.
    fn program(&self, script: &str) -> String {
        let path = self.home.path().join("get it");
        let runs = self.home.path().join("runs");
        std::fs::write(&path, format!("#!/bin/sh\necho run >> '{}'\n{script}\n", runs.display())).unwrap();
        // A shell reads it: a file that was just written and that another test's child still holds open cannot be run.
        format!("/bin/sh \"{}\"", path.display())
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.home.path().join("runs")).unwrap_or_default().lines().count()
    }

    fn pass(&self, time: Duration) {
        self.seconds.fetch_add(time.as_secs(), Ordering::Relaxed);
    }

    fn chain(&self) -> Chain {
        self.named(false)
    }

    fn named(&self, is_named: bool) -> Chain {
        self.of(is_named, None)
    }

    /// The chain of a user who chose a profile for Azimuth.
    fn chosen(&self, profile: &str) -> Chain {
        self.of(true, Some(profile))
    }

    fn of(&self, is_named: bool, profile: Option<&str>) -> Chain {
        let (variables, seconds) = (self.variables.clone(), Arc::clone(&self.seconds));
        Chain::new(Surroundings {
            lookup: Box::new(move |name| variables.get(name).cloned()),
            home: Some(self.home.path().to_owned()),
            profile: profile.map(str::to_owned),
            run: Arc::new(Children(self.home.path().to_owned())),
            http: Arc::new(Clients::default()),
            now: Box::new(move || SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.load(Ordering::Relaxed))),
            is_named,
        })
    }

    async fn access_key(&self) -> Result<String, CredentialsError> {
        Ok(self.chain().credentials().await?.access_key.expose().to_owned())
    }

    async fn failure(&self) -> String {
        self.chain().credentials().await.unwrap_err().to_string()
    }
}

/// The answer of a service.
fn answer(key: &str, expires: &str) -> Answer {
    let body = json!({
        "Code": "Success", "Type": "AWS-HMAC", "AccessKeyId": key, "SecretAccessKey": "hunter2", "Token": "token of it",
        "Expiration": expires,
    });
    Answer::status(200, &body.to_string())
}

/// The output of a program.
fn printed(key: &str) -> String {
    json!({"Version": 1, "AccessKeyId": key, "SecretAccessKey": "hunter2", "SessionToken": "token of it"}).to_string()
}

#[tokio::test]
async fn the_environment_counts_before_the_profile_and_that_before_the_container() {
    let server = Server::start(vec![answer("of the container", "2026-11-28T06:00:00Z")]).await;
    let world = World::new().set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url());
    assert_eq!(world.access_key().await.unwrap(), "of the container");
    let keys = "[default]\naws_access_key_id = of the profile\naws_secret_access_key = hunter2\n";
    let world = world.write("credentials", keys);
    assert_eq!(world.access_key().await.unwrap(), "of the profile");
    let world = world.set("AWS_ACCESS_KEY_ID", " of the environment ").set("AWS_SECRET_ACCESS_KEY", "hunter2");
    assert_eq!(world.access_key().await.unwrap(), "of the environment");
    assert_eq!(world.chain().credentials().await.unwrap().session_token, None);
    let world = world.set("AWS_SESSION_TOKEN", "token");
    assert_eq!(world.chain().credentials().await.unwrap().session_token, Some(Secret::new("token")));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn half_a_key_is_told_with_the_other_half_that_is_missing() {
    let failure = World::new().set("AWS_SECRET_ACCESS_KEY", "hunter2").failure().await;
    assert!(failure.contains("AWS_ACCESS_KEY_ID is not") && failure.contains("the environment"), "{failure}");
    let world = World::new().write("credentials", "[default]\naws_access_key_id = hunter2\naws_secret_access_key =\n");
    let failure = world.failure().await;
    assert!(failure.contains("aws_secret_access_key is not") && failure.contains(".aws/credentials"), "{failure}");
    assert!(!failure.contains("hunter2"), "{failure}");
}

#[tokio::test]
async fn within_a_profile_keys_count_before_a_program_and_that_before_keys_of_the_config_file() {
    let mut world = World::new().set("AWS_PROFILE", "work");
    let keys = |key: &str| format!("aws_access_key_id = {key}\naws_secret_access_key = hunter2\n");
    world = world.write("config", &format!("[profile work]\n{}", keys("of config")));
    assert_eq!(world.access_key().await.unwrap(), "of config");
    let program = world.program(&format!("echo '{}'", printed("of the program")));
    let config = format!("[profile work]\n{}credential_process = {program}\n", keys("of config"));
    world = world.write("config", &config);
    assert_eq!(world.access_key().await.unwrap(), "of the program");
    world = world.write("credentials", &format!("[work]\n{}", keys("of credentials")));
    assert_eq!(world.access_key().await.unwrap(), "of credentials");
    // Keys would be those of another identity than the role that the profile is for.
    world = world.write("config", "[profile work]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = work\n");
    let failure = world.failure().await;
    assert!(failure.contains("by a role") && failure.contains("process --profile work"), "{failure}");
}

#[tokio::test]
async fn new_keys_in_a_file_count_at_once() {
    let keys = |key: &str| format!("[default]\naws_access_key_id = {key}\naws_secret_access_key = hunter2\n");
    let world = World::new().write("credentials", &keys("old"));
    let chain = world.chain();
    assert_eq!(chain.credentials().await.unwrap().access_key.expose(), "old");
    let _world = world.write("credentials", &keys("new"));
    assert_eq!(chain.credentials().await.unwrap().access_key.expose(), "new");
}

#[tokio::test]
async fn ways_that_need_a_service_of_aws_are_gone_by_its_own_program() {
    let identity_center = "sso_account_id = 1\nsso_role_name = r\nsso_session = s\n[sso-session s]\nsso_region = x\n";
    for (config, way, advice) in [
        (identity_center, "IAM Identity Center", "Sign in with `aws sso login --profile default`"),
        ("sso_session = s\n", "IAM Identity Center", "Sign in with `aws sso login --profile default`"),
        ("login_session = arn\n", "`aws login`", "Sign in with `aws login --profile default`"),
        ("web_identity_token_file = /t\n", "a web identity", "Run it in a terminal"),
        ("role_arn = arn\nsource_profile = b\n", "a role", "Run it in a terminal"),
    ] {
        let world = World::new().write("config", &format!("[default]\n{config}"));
        let failure = world.failure().await;
        assert!(failure.contains(way) && failure.contains("Install AWS CLI 2"), "{failure}");
        let aws = world.home.path().join("aws");
        std::fs::write(&aws, "echo hunter2 >&2; exit 255").unwrap();
        let failure = world.failure().await;
        assert!(failure.contains("export-credentials --format process --profile default`"), "{failure}");
        assert!(failure.contains(advice) && !failure.contains("hunter2"), "{failure}");
        let runs = world.home.path().join("runs").display().to_string();
        std::fs::write(&aws, format!("echo \"$*\" >> '{runs}'; echo '{}'", printed("of AWS"))).unwrap();
        let chain = world.chain();
        for _ in 0..2 {
            assert_eq!(chain.credentials().await.unwrap().access_key.expose(), "of AWS");
        }
        assert!(!world.chain().is_at_hand(), "there is no region");
        let asked = std::fs::read_to_string(runs).unwrap();
        assert_eq!(asked, "configure export-credentials --format process --profile default\n");
    }
    let world = World::new().set("AWS_WEB_IDENTITY_TOKEN_FILE", "/t").set("AWS_REGION", "r");
    let failure = world.failure().await;
    assert!(failure.contains("AWS_WEB_IDENTITY_TOKEN_FILE is set"), "{failure}");
    assert!(failure.contains("`aws configure export-credentials --format process`"), "{failure}");
}

#[tokio::test]
async fn the_order_within_a_profile_is_that_of_botocore() {
    let keys = "aws_access_key_id = of keys\naws_secret_access_key = hunter2\n";
    for (config, credentials, expected) in [
        ("sso_account_id = 1\nsso_role_name = r\n", keys, "of AWS"),
        ("web_identity_token_file = /t\n", keys, "of AWS"),
        ("login_session = arn\n", keys, "of keys"),
        ("login_session = arn\ncredential_process = false\n", "", "of AWS"),
        ("sso_session = s\n", keys, "of keys"),
    ] {
        let world = World::new().write("config", &format!("[default]\n{config}"));
        let world = world.write("credentials", &format!("[default]\n{credentials}"));
        std::fs::write(world.home.path().join("aws"), format!("echo '{}'", printed("of AWS"))).unwrap();
        assert_eq!(world.access_key().await.unwrap(), expected, "{config}");
    }
}

#[tokio::test]
async fn a_profile_that_is_chosen_for_azimuth_counts_before_all_that_the_environment_says() {
    let world = World::new()
        .set("AWS_ACCESS_KEY_ID", "of the environment")
        .set("AWS_SECRET_ACCESS_KEY", "hunter2")
        .set("AWS_WEB_IDENTITY_TOKEN_FILE", "/t")
        .set("AWS_PROFILE", "home")
        .write("credentials", "[work]\naws_access_key_id = of work\naws_secret_access_key = hunter2\n")
        .write("config", "[profile work]\nregion = eu-west-1\n");
    let chain = world.chosen("work");
    assert_eq!(chain.credentials().await.unwrap().access_key.expose(), "of work");
    assert_eq!((chain.region_at_hand().as_deref(), chain.is_at_hand()), (Some("eu-west-1"), true));
    assert_eq!(chain.source_name(), "the AWS credentials of the profile `work`");
    let chain = world.chosen("nobody");
    let failure = chain.credentials().await.unwrap_err().to_string();
    assert!(failure.contains("the setting `aws_profile` names the profile `nobody`"), "{failure}");
    assert!(!chain.is_at_hand());
}

#[tokio::test]
async fn what_is_at_hand_is_known_without_asking_anybody() {
    let server = Server::start(vec![]).await;
    let world = World::new()
        .set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url())
        .set("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/it", server.url()));
    assert!(!world.named(true).is_at_hand(), "there is no region");
    let program = world.program("exit 1");
    let world = world.set("AWS_REGION", "eu-west-1");
    assert!(world.chain().is_at_hand());
    let mut world = world.write("config", &format!("[default]\ncredential_process = {program}\n"));
    world.variables.remove("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    assert!(world.chain().is_at_hand());
    let world = world.write("config", "[default]\nregion = eu-west-1\n");
    assert!(!world.named(true).is_at_hand(), "nobody knows if the machine has a role");
    let world = world.set("AWS_ACCESS_KEY_ID", "half");
    assert!(!world.chain().is_at_hand());
    let world = world.set("AWS_SECRET_ACCESS_KEY", "hunter2");
    assert!(world.chain().is_at_hand());
    assert_eq!((world.runs(), server.asked().len()), (0, 0));
}

#[tokio::test]
async fn files_that_depend_on_the_folder_of_the_server_are_not_read() {
    let failure = World::new().set("AWS_CONFIG_FILE", ".aws/config").failure().await;
    assert!(failure.contains(".aws/config is not read"), "{failure}");
    let server = Server::start(vec![]).await;
    let world = World::new()
        .set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url())
        .set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "token");
    let failure = world.failure().await;
    assert!(failure.contains("token, the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, is not read"), "{failure}");
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn no_program_runs_with_a_file_of_a_project() {
    let world = World::new();
    std::fs::create_dir(world.home.path().join("project")).unwrap();
    let program = world.program(&format!("echo '{}'", printed("k")));
    let file = world.home.path().join("project/config");
    std::fs::write(&file, format!("[default]\ncredential_process = {program}\n")).unwrap();
    std::fs::write(world.home.path().join("aws"), format!("{program}\n")).unwrap();
    let mut world = world.set("AWS_CONFIG_FILE", file.display().to_string());
    let failure = world.failure().await;
    assert!(failure.contains("project/config is not read"), "{failure}");
    for of_user in ["role_arn = r".to_owned(), format!("credential_process = {program}")] {
        world = world.write("credentials", &format!("[default]\n{of_user}\n"));
        let failure = world.failure().await;
        assert!(failure.contains("no program is run") && failure.contains("project/config"), "{failure}");
    }
    let mut world = world.set("AWS_WEB_IDENTITY_TOKEN_FILE", "/t");
    let failure = world.failure().await;
    assert!(failure.contains("no program is run"), "{failure}");
    assert_eq!(world.runs(), 0);
    world.variables.remove("AWS_CONFIG_FILE");
    assert_eq!((world.access_key().await.unwrap().as_str(), world.runs()), ("k", 1));
}

#[tokio::test]
async fn a_profile_that_is_named_and_is_not_there_is_told_with_the_files() {
    let world = World::new().set("AWS_PROFILE", "work").write("config", "[work]\nregion = x\nbroken\n");
    let failure = world.failure().await;
    for part in ["`work`", ".aws/credentials: there is no such file", "[profile work]", "config, line 3: "] {
        assert!(failure.contains(part), "{failure}");
    }
    let key = format!("AKIA{}", "X".repeat(16));
    let failure = World::new().set("AWS_PROFILE", key.as_str()).failure().await;
    assert!(!failure.contains(&key), "{failure}");
}

#[tokio::test]
async fn a_program_runs_once_for_many_requests_and_again_when_its_credentials_are_about_to_end() {
    let world = World::new();
    let expiring = printed("k").replace("\"Version\"", "\"Expiration\":\"2026-11-28T01:00:00Z\",\"Version\"");
    let program = world.program(&format!("sleep 0.1; echo '{expiring}'"));
    let world = world.write("config", &format!("[default]\ncredential_process = {program}\n"));
    let chain = world.chain();
    let all = futures_util::future::join_all((0..8).map(|_| chain.credentials())).await;
    assert!(all.iter().all(|one| one.as_ref().unwrap().access_key.expose() == "k"));
    assert_eq!(world.runs(), 1);
    world.pass(Duration::from_secs(3_600 - 301));
    chain.credentials().await.unwrap();
    assert_eq!(world.runs(), 1);
    world.pass(Duration::from_secs(1));
    chain.credentials().await.unwrap();
    assert_eq!(world.runs(), 2);
    // As long as they have not ended, those that are there are used if there are no others.
    world.program("exit 1");
    chain.credentials().await.unwrap();
    assert_eq!(world.runs(), 3);
    world.pass(Duration::from_secs(300));
    let failure = chain.credentials().await.unwrap_err().to_string();
    assert!(failure.contains("credential_process") && failure.contains("terminal"), "{failure}");
}

#[tokio::test]
async fn credentials_that_aws_refused_are_fetched_again() {
    let world = World::new();
    let program = world.program(&format!("echo '{}'", printed("k")));
    let world = world.write("config", &format!("[default]\ncredential_process = {program}\n"));
    let chain = world.chain();
    let refused = chain.credentials().await.unwrap();
    world.pass(Duration::from_secs(1_000_000));
    chain.forget(&Credentials::new("another", "key", None)).await;
    chain.credentials().await.unwrap();
    assert_eq!(world.runs(), 1, "without an end they are kept");
    chain.forget(&refused).await;
    chain.credentials().await.unwrap();
    assert_eq!(world.runs(), 2);
}

#[tokio::test]
async fn a_program_that_gives_nothing_is_named_without_its_arguments_and_its_output() {
    for (script, problem) in [
        ("echo hunter2 >&2; exit 3", "it failed (exit status: 3)"),
        ("echo hunter2", "no JSON"),
        (r#"echo '{"Version": 2, "AccessKeyId": "hunter2"}'"#, "`Version` is not 1"),
        (r#"echo '{"AccessKeyId": "hunter2"}'"#, "no `Version`"),
        (r#"echo '{"Version": 1, "AccessKeyId": "hunter2"}'"#, "no `SecretAccessKey`"),
        (r#"echo '{"Version": 1, "AccessKeyId": ["hunter2"], "SecretAccessKey": "hunter2"}'"#, "no `AccessKeyId`"),
        (
            r#"echo '{"Version": 1, "AccessKeyId": "a", "SecretAccessKey": "hunter2", "Expiration": "hunter2"}'"#,
            "`Expiration` is no date",
        ),
    ] {
        let world = World::new();
        let program = world.program(script);
        let world = world.write("config", &format!("[default]\ncredential_process = {program} --pin hunter2\n"));
        let failure = world.failure().await;
        assert!(failure.contains(problem) && failure.contains("/bin/sh"), "{failure}");
        assert!(!failure.contains("hunter2"), "{failure}");
    }
    for command in ["no-such-program-here", "\"open"] {
        let world = World::new().write("config", &format!("[default]\ncredential_process = {command}\n"));
        let failure = world.failure().await;
        assert!(failure.contains("`credential_process`"), "{failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_program_that_goes_on_for_ever_is_ended() {
    let world = World::new().write("config", "[default]\ncredential_process = sleep 1000\n");
    let failure = world.failure().await;
    assert!(failure.contains("longer than 60 seconds"), "{failure}");
}

#[tokio::test]
async fn a_container_is_asked_with_its_token_and_once_more_after_a_failure() {
    let answers = vec![Answer::status(500, "hunter2"), answer("of it", "2026-11-28T06:00:00Z")];
    let server = Server::start(answers).await;
    let world = World::new()
        .set("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/v2/role?id=7", server.url()))
        .set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token in a variable");
    let found = world.chain().credentials().await.unwrap();
    assert_eq!((found.access_key.expose(), found.session_token), ("of it", Some(Secret::new("token of it"))));
    assert_eq!(found.expires, crate::dates::rfc3339("2026-11-28T06:00:00Z"));
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    for asked in asked {
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("GET", "/v2/role?id=7"));
        assert_eq!(asked.headers["authorization"], "token in a variable");
    }
    // The file counts before the variable, and is read each time.
    let server = Server::start(vec![answer("a", "2026-11-28T00:00:01Z"), answer("b", "2026-11-28T00:00:01Z")]).await;
    let file = world.home.path().join("token").display().to_string();
    let world = world
        .set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url())
        .set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", file.as_str());
    let failure = world.failure().await;
    assert!(failure.contains(&file) && failure.contains("cannot be read"), "{failure}");
    let chain = world.chain();
    for token in ["one", "two"] {
        std::fs::write(&file, format!("{token}\n")).unwrap();
        chain.credentials().await.unwrap();
    }
    let tokens: Vec<_> = server.asked().iter().map(|asked| asked.headers["authorization"].clone()).collect();
    assert_eq!(tokens, ["one", "two"]);
}

#[tokio::test]
async fn a_container_that_refuses_is_named_with_its_variable_and_not_asked_again() {
    for (answer, problem) in [
        (Answer::status(403, "hunter2"), "status 403"),
        (Answer::status(200, "hunter2"), "no JSON"),
        (Answer::status(200, r#"{"AccessKeyId": "hunter2"}"#), "no `SecretAccessKey`"),
    ] {
        let server = Server::start(vec![answer]).await;
        let failure = World::new().set("AWS_CONTAINER_CREDENTIALS_FULL_URI", server.url()).failure().await;
        assert!(failure.contains(problem) && failure.contains("AWS_CONTAINER_CREDENTIALS_FULL_URI"), "{failure}");
        assert!(!failure.contains("hunter2"), "{failure}");
        assert_eq!(server.asked().len(), 1);
    }
    for address in ["http://evil.example/x", "http://localhost.example", "ftp://localhost/", "hunter2"] {
        let failure = World::new().set("AWS_CONTAINER_CREDENTIALS_FULL_URI", address).failure().await;
        assert!(failure.contains("AWS_CONTAINER_CREDENTIALS_FULL_URI") && !failure.contains("hunter2"), "{failure}");
    }
}

#[tokio::test]
async fn a_relative_address_is_one_of_ecs_and_counts_before_a_full_one() {
    for path in ["/v2/credentials/a-b?x=1", "v2/credentials/a-b?x=1"] {
        let world = World::new()
            .set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", path)
            .set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/");
        match world.chain().find().await.unwrap() {
            Found::Elsewhere(Source::Container { url, .. }) => {
                assert_eq!(url.as_str(), "http://169.254.170.2/v2/credentials/a-b?x=1");
            }
            _ => panic!("the container is not asked"),
        }
    }
    assert!(metadata::container_url("http://[fd00:ec2::23]/v1/credentials").is_ok());
}

#[tokio::test]
async fn a_machine_is_asked_with_a_token_for_the_credentials_of_its_role() {
    let answers =
        vec![Answer::status(200, "a-token"), Answer::status(200, "my/role\n"), answer("of it", "2026-11-28T06:00:00Z")];
    let server = Server::start(answers).await;
    let world =
        World::new().set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url()).set("AWS_EC2_METADATA_DISABLED", "false");
    let found = world.named(true).credentials().await.unwrap();
    assert_eq!(found.access_key.expose(), "of it");
    let asked: Vec<_> = server.asked();
    let lines: Vec<_> = asked.iter().map(|asked| format!("{} {}", asked.method, asked.path)).collect();
    assert_eq!(
        lines,
        [
            "PUT /latest/api/token",
            "GET /latest/meta-data/iam/security-credentials/",
            "GET /latest/meta-data/iam/security-credentials/my%2Frole",
        ]
    );
    assert_eq!(asked[0].headers["x-aws-ec2-metadata-token-ttl-seconds"], "60");
    assert!(asked[1..].iter().all(|asked| asked.headers["x-aws-ec2-metadata-token"] == "a-token"));
}

#[tokio::test]
async fn a_machine_is_asked_only_if_there_is_a_reason_to() {
    let server = Server::start(vec![]).await;
    let world = World::new().set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url());
    let failure = world.failure().await;
    assert!(failure.contains("not asked without a region"), "{failure}");
    let world = world.set("AWS_EC2_METADATA_DISABLED", "TRUE").set("AWS_REGION", "eu-west-1");
    let failure = world.named(true).credentials().await.unwrap_err().to_string();
    assert!(failure.contains("AWS_EC2_METADATA_DISABLED is true"), "{failure}");
    assert!(server.asked().is_empty());
    // A region in the config file is a reason too.
    let world = World::new()
        .set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url())
        .write("config", "[default]\nregion = eu-west-1\n");
    let failure = world.failure().await;
    assert!(failure.contains("status 404"), "{failure}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_machine_that_gives_nothing_is_told_with_all_that_was_looked_for() {
    let token = || Answer::status(200, "a-token");
    for (answers, problem) in [
        (vec![Answer::never()], "did not answer within 1 s"),
        (vec![token(), Answer::status(404, "hunter2")], "has no role"),
        (vec![token(), Answer::status(200, "\n")], "names no role"),
        (
            vec![
                token(),
                Answer::status(200, "r"),
                Answer::status(200, r#"{"Code": "Failed <b>", "Message": "hunter2"}"#),
            ],
            "the code `Failedb`",
        ),
        (vec![Answer::status(200, "hunter2\u{1}")], "no header can hold"),
    ] {
        let server = Server::start(answers).await;
        let world = World::new().set("AWS_EC2_METADATA_SERVICE_ENDPOINT", server.url()).write("config", "broken\n");
        let failure = world.named(true).credentials().await.unwrap_err().to_string();
        for part in [
            problem,
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: they are not set",
            ".aws/credentials: there is no such file",
            ".aws/config: there is no profile `default`",
            ".aws/config, line 1: ",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "Set AWS_BEARER_TOKEN_BEDROCK",
        ] {
            assert!(failure.contains(part), "{part}: {failure}");
        }
        assert!(!failure.contains("hunter2"), "{failure}");
    }
}

#[tokio::test]
async fn the_region_is_that_of_the_environment_or_else_of_the_profile() {
    let world = World::new();
    assert_eq!(world.chain().region().await, None);
    let world = world.write("config", "[default]\nregion = of config\n[profile work]\nregion = of work\n");
    assert_eq!(world.chain().region().await.as_deref(), Some("of config"));
    let world = world.set("AWS_PROFILE", "work");
    assert_eq!(world.chain().region().await.as_deref(), Some("of work"));
    let world = world.set("AWS_DEFAULT_REGION", "default of the environment");
    assert_eq!(world.chain().region().await.as_deref(), Some("default of the environment"));
    let world = world.set("AWS_REGION", "of the environment");
    assert_eq!(world.chain().region().await.as_deref(), Some("of the environment"));
}

#[tokio::test]
async fn nothing_secret_is_in_any_debug_output() {
    let world = World::new().set("AWS_ACCESS_KEY_ID", "hunter2").set("AWS_SECRET_ACCESS_KEY", "hunter2");
    let chain = world.chain();
    let shown = format!("{:?} {chain:?}", chain.credentials().await.unwrap());
    assert!(shown.contains("Credentials") && !shown.contains("hunter2"), "{shown}");
}
