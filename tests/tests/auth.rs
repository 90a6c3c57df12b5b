//! `azimuth auth`: signing in, keys, and what becomes of them, by the program itself, with a scripted browser and a
//! strict vendor on this machine.

#![expect(clippy::disallowed_methods, reason = "a test makes files and starts the program itself")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use harness::client::RpcError;
use harness::sign_in::{ACCOUNT, HIDDEN_MODEL, PLAN_MODEL};
use harness::{Answer, Client, ModelServer, Profile, Project, Setup, SignInServer, Wire};
use hub::clock::{self, Clock};
use protocol::auth::{KeyMember, SignInWay};
use protocol::model::{AccountSwitch, SwitchReason};
use protocol::turn::StopReason;
use protocol::{ErrorCode, Event, methods};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A user with folders of their own, and a port for the browser to come back to.
pub(crate) struct User {
    folder: tempfile::TempDir,
    port: u16,
    variables: Vec<(&'static str, String)>,
}

impl User {
    pub(crate) fn new(configuration: impl FnOnce(u16) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        std::fs::write(folder.path().join("config.toml"), format!("shell_rc = false\n{}", configuration(port)))
            .unwrap();
        Self { folder, port, variables: Vec::new() }
    }

    pub(crate) fn with_variables(mut self, variables: &[(&'static str, &str)]) -> Self {
        self.variables.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
        self
    }

    fn of(vendor: &SignInServer) -> Self {
        Self::new(|port| vendor.configuration(port))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(harness::binary());
        command.args(arguments).current_dir(self.folder.path().join("project")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        command.env("AZIMUTH_DATA_DIR", self.data()).env("AZIMUTH_CONFIG", self.folder.path().join("config.toml"));
        command.env("AZIMUTH_LOG", "trace").envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program to its end, with this input. Gives its exit code, output and errors.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> (i32, String, String) {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        // It may end without reading.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        of(child.wait_with_output().unwrap())
    }

    pub(crate) fn azimuth(&self, arguments: &[&str]) -> (i32, String, String) {
        self.run(arguments, "")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn accounts(&self) -> PathBuf {
        self.data().join("credentials.json")
    }

    /// Signs in, with the scripted browser doing as it is told.
    fn sign_in(&self) {
        let login = Login::start(self, &["auth", "login", "chatgpt"]);
        let (status, page) = login.browser();
        assert!(status == 200 && page.contains("You can close this window"), "{page}");
        let (code, output, errors) = login.end();
        assert_eq!(code, 0, "{output}{errors}");
        assert!(output.contains(&format!("Signed in to chatgpt as {ACCOUNT}")), "{output}");
    }
}

/// A port that is free now, and that the system gives to nobody who asks for any (Linux: from 32,768 on): tests that
/// run at the same time must not take it before it is opened.
fn free_port() -> u16 {
    // Each test is a process, so those that run at the same time look elsewhere.
    let first = 10_000 + u16::try_from(std::process::id() * 7 % 20_000).unwrap();
    (first..32_000).find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

fn of(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// `azimuth auth login` that waits for the browser.
pub(crate) struct Login {
    pub(crate) child: Child,
    output: BufReader<std::process::ChildStdout>,
    shown: String,
    url: String,
}

impl Login {
    pub(crate) fn start(user: &User, arguments: &[&str]) -> Self {
        let mut child = user.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (mut shown, mut url) = (String::new(), String::new());
        while url.is_empty() {
            let start = shown.len();
            assert!(output.read_line(&mut shown).unwrap() > 0, "there is no address in: {shown}");
            url = shown[start..].trim().strip_prefix("http").map(|rest| format!("http{rest}")).unwrap_or_default();
        }
        Self { child, output, shown, url }
    }

    /// Follows the address as a browser does: gives what the last page was.
    pub(crate) fn browser(&self) -> (u16, String) {
        let (status, place, page) = get(&self.url);
        match place {
            Some(place) => {
                assert_eq!(status, 302);
                let (status, _, page) = get(&place);
                (status, page)
            }
            None => (status, page),
        }
    }

    /// The address to which the vendor sends the browser.
    pub(crate) fn callback(&self) -> String {
        get(&self.url).1.unwrap()
    }

    pub(crate) fn end(mut self) -> (i32, String, String) {
        self.output.read_to_string(&mut self.shown).unwrap();
        let (code, _, errors) = of(self.child.wait_with_output().unwrap());
        (code, self.shown, errors)
    }
}

/// Gets a page: its status, where it leads, and its text.
fn get(url: &str) -> (u16, Option<String>, String) {
    let (host, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: keep-alive\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let heads = head.lines().filter_map(|line| line.split_once(": "));
    let place =
        heads.filter(|(name, _)| name.eq_ignore_ascii_case("location")).map(|(_, place)| place.to_owned()).next();
    (status, place, body.to_owned())
}

/// Every file below a folder with one of these texts in it.
pub(crate) fn files_with(folder: &Path, texts: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, texts));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let holds = |text: &String| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            found.extend(texts.iter().any(holds).then_some(path));
        }
    }
    found
}

#[test]
fn a_sign_in_by_a_browser_serves_turns_and_its_secrets_are_in_its_file_only() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    let login = Login::start(&user, &["auth", "login", "chatgpt"]);
    // Browsers open connections that they do not use yet.
    let home = format!("127.0.0.1:{}", user.port);
    let mut spare = TcpStream::connect(&home).unwrap();
    for foreign in ["favicon.ico", "auth/callback?code=x&state=y", "auth/callback?error=access_denied", ""] {
        let (status, _, page) = get(&format!("http://{home}/{foreign}"));
        assert!(matches!(status, 400 | 404) && !page.contains("Signed in"), "{foreign}: {status}");
    }
    assert_eq!(login.browser().0, 200);
    let mut outputs = vec![login.end()];
    assert_eq!(outputs[0].0, 0, "{outputs:?}");
    assert!(TcpStream::connect(&home).is_err(), "the port is closed");
    assert_eq!(spare.read(&mut [0]).unwrap_or(0), 0, "and so are its connections");

    let models = user.azimuth(&["models"]);
    assert!(models.1.contains(&format!("chatgpt/{PLAN_MODEL}")) && !models.1.contains(HIDDEN_MODEL), "{models:?}");
    let model = format!("chatgpt/{PLAN_MODEL}");
    let turn = user.azimuth(&["exec", "--trust", "--model", &model, "Go."]);
    assert!(turn.0 == 0 && turn.1.contains("By the plan."), "{turn:?}");
    // The token is refused once; the vendor repeats it in its words.
    vendor.forget_access();
    let turn_again = user.azimuth(&["exec", "--trust", "--model", &model, "Go on."]);
    assert!(turn_again.0 == 0 && turn_again.1.contains("By the plan."), "{turn_again:?}");
    assert_eq!(vendor.counts(), (1, 0));
    let list = user.azimuth(&["auth", "list"]);
    assert!(list.1.contains(&format!("chatgpt  default  signed in as {ACCOUNT}, for {}", vendor.url())), "{list:?}");
    let status = user.azimuth(&["auth", "status", "chatgpt"]);
    assert_eq!((status.0, status.1.as_str()), (0, "chatgpt: the account `default`\n"));
    let sessions = user.azimuth(&["sessions", "list"]).1;
    let session = sessions.split(' ').next().unwrap();
    let export = user.azimuth(&["sessions", "export", session]);
    assert!(export.1.contains("Go"), "{export:?}");
    vendor.end_all();
    let refused = user.azimuth(&["exec", "--trust", "--model", &model, "Go."]);
    let words = [refused.1.as_str(), &refused.2].concat();
    assert!(refused.0 == 1 && words.contains("azimuth auth login chatgpt"), "{refused:?}");
    outputs.extend([models, turn, turn_again, list, status, export, refused]);

    let secrets = vendor.secrets();
    assert!(secrets.len() >= 6, "{secrets:?}");
    for (_, output, errors) in &outputs {
        let shown = |secret: &&String| output.contains(secret.as_str()) || errors.contains(secret.as_str());
        assert_eq!(secrets.iter().find(shown), None, "{output}{errors}");
    }
    assert_eq!(files_with(user.folder.path(), &secrets), [user.accounts()]);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(user.accounts()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn processes_that_renew_at_the_same_time_use_the_refresh_token_once() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    vendor.issue_for(1);
    user.sign_in();
    vendor.issue_for(3_600);
    std::thread::sleep(Duration::from_millis(1_100));
    let processes: Vec<_> = (0..4).map(|_| user.command(&["models"]).spawn().unwrap()).collect();
    for process in processes {
        let (code, output, errors) = of(process.wait_with_output().unwrap());
        assert!(code == 0 && output.contains(PLAN_MODEL), "{output}{errors}");
    }
    assert_eq!(vendor.counts(), (1, 0));
    // A vendor that has ended the sign-in is asked once, and not with the same token for ever.
    vendor.end_all();
    let model = format!("chatgpt/{PLAN_MODEL}");
    for _ in 0..2 {
        let (code, output, errors) = user.azimuth(&["exec", "--trust", "--model", &model, "Go."]);
        let words = [output, errors].concat();
        assert!(code == 1 && words.contains("run `azimuth auth login chatgpt`"), "{words}");
    }
    let (code, output, _) = user.azimuth(&["auth", "status", "chatgpt"]);
    assert!(code == 1 && output.contains("azimuth auth login chatgpt"), "{output}");
    // Signing in again keeps the registered client, which the vendor checks.
    user.sign_in();
    assert_eq!(user.azimuth(&["auth", "status", "chatgpt", "--check"]).0, 0);
    // Nobody has used it since the vendor ended it, so only the vendor tells.
    vendor.end_all();
    assert_eq!(user.azimuth(&["auth", "status", "chatgpt"]).0, 0);
    let (code, output, _) = user.azimuth(&["auth", "status", "chatgpt", "--check"]);
    assert!(code == 1 && output.contains("cannot be used any more: "), "{output}");
}

#[test]
fn a_pasted_address_signs_in_without_a_port() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    let mut login = Login::start(&user, &["auth", "login", "chatgpt", "--paste"]);
    assert!(TcpStream::connect(("127.0.0.1", user.port)).is_err(), "no port is open");
    let callback = login.callback();
    let mut input = login.child.stdin.take().unwrap();
    let other = callback.replace("state=", "state=x");
    writeln!(input, "nonsense\n{other}\n{callback}").unwrap();
    let (code, output, errors) = login.end();
    assert!(code == 0 && output.contains(ACCOUNT), "{output}{errors}");
    assert!(errors.contains("it begins with http://127.0.0.1:") && errors.contains("another sign-in"), "{errors}");
    // Whoever stops pasting has not signed in.
    let (code, _, errors) = user.azimuth(&["auth", "login", "chatgpt", "--paste", "--label", "other"]);
    assert!(code == 1 && errors.contains("nothing was kept"), "{errors}");
}

#[test]
fn a_code_that_is_typed_on_another_device_signs_in() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    let (code, output, errors) = user.azimuth(&["auth", "login", "chatgpt", "--device"]);
    assert!(code == 0 && output.contains("/type") && output.contains("ABCD-EFGH"), "{output}{errors}");
    assert!(output.contains(&format!("Signed in to chatgpt as {ACCOUNT}")), "the id token was read: {output}");
    assert_eq!(user.azimuth(&["auth", "status", "chatgpt"]).0, 0);
    vendor.deny();
    let (code, _, errors) = user.azimuth(&["auth", "login", "chatgpt", "--device"]);
    assert!(
        code == 1 && errors.contains("ChatGPT refused the sign-in") && errors.contains("access_denied"),
        "{errors}"
    );
}

#[test]
fn an_app_of_ones_own_signs_in_as_at_github_which_refuses_with_success_and_whose_tokens_have_no_end() {
    let vendor = SignInServer::start();
    vendor.be_like_github();
    let mut user = User::new(|_| vendor.configuration_of_an_app());
    user.variables = vec![("http_proxy", vendor.url())];
    let (code, output, errors) = user.azimuth(&["auth", "login", "copilot", "--device"]);
    assert!(code == 0 && output.contains("ABCD-EFGH") && output.contains("Signed in to copilot"), "{output}{errors}");
    assert_eq!(user.azimuth(&["auth", "status", "copilot"]).0, 0);
    let models = user.azimuth(&["models"]).1;
    let listed: Vec<_> = models.lines().filter(|line| line.starts_with("copilot/")).collect();
    // A prompt may have 128,000 tokens, and 32,000 are reserved for an answer.
    assert!(listed.len() == 1 && listed[0].contains(PLAN_MODEL) && listed[0].contains("160"), "{models}");
    let model = format!("copilot/{PLAN_MODEL}");
    let (code, output, errors) = user.azimuth(&["exec", "--model", &model, "Are you there?"]);
    assert!(code == 0 && output.contains("By the plan."), "{output}{errors}");
    vendor.deny();
    let (code, _, errors) = user.azimuth(&["auth", "login", "copilot", "--device"]);
    assert!(
        code == 1 && errors.contains("copilot refused the sign-in") && errors.contains("access_denied"),
        "{errors}"
    );
}

#[test]
fn a_sign_in_that_is_refused_or_cancelled_keeps_nothing() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    let cancelled = Login::start(&user, &["auth", "login", "chatgpt"]);
    let pid = Pid::from_raw(i32::try_from(cancelled.child.id()).unwrap()).unwrap();
    // The port is in use: the second sign-in says so at once.
    let (code, _, errors) = user.azimuth(&["auth", "login", "chatgpt"]);
    assert!(code == 1 && errors.contains("is in use") && errors.contains("--paste"), "{errors}");
    kill_process(pid, Signal::INT).unwrap();
    let (code, _, errors) = cancelled.end();
    assert!(code == 130 && errors.contains("cancelled"), "{code} {errors}");

    vendor.withhold_scope();
    let partial = Login::start(&user, &["auth", "login", "chatgpt"]);
    partial.browser();
    let (code, _, errors) = partial.end();
    assert!(code == 1 && errors.contains("did not grant `chatgpt.tokens.use.direct`"), "{errors}");

    vendor.deny();
    let refused = Login::start(&user, &["auth", "login", "chatgpt"]);
    // The client that the vendor has registered by now is not registered again.
    assert!(refused.url.contains("client_id=oaiapp"), "{}", refused.url);
    assert!(refused.browser().1.contains("refused"));
    let (code, _, errors) = refused.end();
    assert!(code == 1 && errors.contains("ChatGPT refused the sign-in: access_denied"), "{errors}");
    assert_eq!(user.azimuth(&["auth", "list", "--json"]), (0, String::new(), String::new()));
    let models = user.azimuth(&["models"]).1;
    assert!(models.contains("not signed in: run `azimuth auth login chatgpt`"), "{models}");
}

#[test]
fn signing_out_revokes_and_forgets() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    user.sign_in();
    let (code, output, errors) = user.azimuth(&["auth", "logout", "chatgpt"]);
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert_eq!(vendor.counts(), (0, 1));
    assert_eq!(files_with(&user.data(), &vendor.secrets()), Vec::<PathBuf>::new());
    let (code, _, errors) = user.azimuth(&["auth", "logout", "chatgpt"]);
    assert!(code == 1 && errors.contains("no such account"), "{errors}");
}

#[test]
fn a_key_is_kept_for_its_server_and_counts_after_settings_and_environment() {
    let vendor = SignInServer::start();
    let mut user = User::new(|_| String::new());
    let (code, output, errors) = user.run(&["auth", "login", "openai", "--key", "--unchecked"], "  key-of-a-user\n");
    assert_eq!((code, errors.as_str()), (0, ""), "{output}");
    assert!(output.contains("not encrypted") && !output.contains("key-of-a-user"), "{output}");
    let status = |user: &User| user.azimuth(&["auth", "status", "openai"]).1;
    assert_eq!(status(&user), "openai: the account `default`\n");
    let (_, models, _) = user.azimuth(&["models"]);
    let usable = |models: &str| models.lines().any(|line| line.starts_with("openai/") && line.contains("tokens"));
    assert!(usable(&models), "{models}");
    // A key that stands in the environment counts before it.
    user.variables = vec![("OPENAI_API_KEY", "other-key".into())];
    assert_eq!(status(&user), "openai: the environment variable OPENAI_API_KEY\n");
    // It was given for OpenAI's server, and goes to no other.
    user.variables = vec![("OPENAI_BASE_URL", vendor.url())];
    let (code, output, _) = user.azimuth(&["auth", "status", "openai"]);
    assert!(code == 1 && output.contains("no key"), "{output}");
    // Of two accounts, the one of the server that is asked counts, whichever is newer.
    let local = ["auth", "login", "openai", "--key", "--unchecked", "--label", "local"];
    let (code, ..) = user.run(&local, "key-of-a-server\n");
    assert_eq!((code, status(&user).as_str()), (0, "openai: the account `local`\n"));
    user.variables.clear();
    assert_eq!(status(&user), "openai: the account `default`\n");
    for (arguments, input) in [
        (&["auth", "login", "openai", "--key"][..], ""),
        (&["auth", "login", "openai", "--key"], "two words\n"),
        (&["auth", "login", "openai"], ""),
        (&["auth", "login", "no-such-vendor", "--key"], "k\n"),
        (&["auth", "login"], ""),
    ] {
        let (code, _, errors) = user.run(arguments, input);
        assert!(code == 2 && errors.starts_with("azimuth: "), "{arguments:?}: {errors}");
    }
    assert_eq!(user.azimuth(&["auth", "logout", "openai"]).0, 0);
    let (_, list, _) = user.azimuth(&["auth", "list"]);
    assert!(list.contains("no accounts"), "{list}");
}

#[test]
fn a_key_that_is_typed_is_not_shown_and_the_terminal_shows_what_is_typed_afterwards() {
    let user = User::new(|_| String::new());
    for (keys, code) in [("key-typed-by-hand\n", "code 0"), ("key-typed-by\u{3}", "code 130")] {
        let line =
            format!("'{}' auth login openai --key --unchecked; echo code $?; stty -a", harness::binary().display());
        let mut script = user.command(&[]);
        let environment: Vec<_> =
            script.get_envs().map(|(name, value)| (name.to_owned(), value.unwrap().to_owned())).collect();
        script = Command::new("script");
        script.args(["-q", "-e", "-c", &line, "/dev/null"]).env_clear().envs(environment).env("SHELL", "/bin/bash");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (mut shown, mut piece) = (String::new(), [0; 4096]);
        while !shown.contains("it is not shown): ") {
            let count = output.read(&mut piece).unwrap();
            assert!(count > 0, "{shown}");
            shown.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        input.write_all(keys.as_bytes()).unwrap();
        output.read_to_string(&mut shown).unwrap();
        assert!(shown.contains(code) && !shown.contains("typed"), "{shown}");
        assert!(shown.contains(" echo ") && !shown.contains("-echo "), "{shown}");
        child.wait().unwrap();
    }
    let kept = std::fs::read_to_string(user.accounts()).unwrap();
    assert!(kept.contains("\"key-typed-by-hand\""), "{kept}");
}

#[test]
fn a_damaged_file_is_said_everywhere_and_set_aside_by_the_next_sign_in() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    user.sign_in();
    let text = std::fs::read_to_string(user.accounts()).unwrap();
    let damaged = text.replace("\"accounts\"", "\"accounts");
    std::fs::write(user.accounts(), &damaged).unwrap();
    for command in [&["auth", "list"][..], &["auth", "status"], &["auth", "logout", "chatgpt"]] {
        let (code, _, errors) = user.azimuth(command);
        assert!(code == 1 && errors.contains("credentials.json is damaged"), "{command:?}: {errors}");
        assert!(vendor.secrets().iter().all(|secret| !errors.contains(secret)), "{errors}");
    }
    assert_eq!(std::fs::read_to_string(user.accounts()).unwrap(), damaged);
    user.sign_in();
    assert_eq!(std::fs::read_to_string(user.data().join("credentials.json.damaged-1")).unwrap(), damaged);
    assert_eq!(user.azimuth(&["auth", "status", "chatgpt"]).0, 0);
}

#[test]
fn a_sign_in_is_not_renewed_where_it_could_not_be_kept() {
    let vendor = SignInServer::start();
    let user = User::of(&vendor);
    vendor.issue_for(1);
    user.sign_in();
    std::thread::sleep(Duration::from_millis(1_100));
    // Root may write everywhere, so that the next version's name is taken instead.
    std::fs::create_dir(user.data().join("credentials.json.new")).unwrap();
    let model = format!("chatgpt/{PLAN_MODEL}");
    let began = Instant::now();
    let (code, _, errors) = user.azimuth(&["exec", "--trust", "--model", &model, "Go."]);
    assert!(code == 1 && errors.contains("credentials.json cannot be written"), "{errors}");
    assert!(began.elapsed() < harness::PATIENCE);
    assert_eq!(vendor.counts(), (0, 0), "the refresh token is still good");
    std::fs::remove_dir(user.data().join("credentials.json.new")).unwrap();
    assert!(user.azimuth(&["models"]).1.contains(PLAN_MODEL));
    assert_eq!(vendor.counts(), (1, 0));
}

#[test]
fn a_sign_in_that_is_described_wrongly_is_said_with_its_line() {
    for (fields, said) in [
        ("token_url = \"https://login.example.com/token\"", "`client_id` is missing"),
        ("token_url = \"http://login.example.com/token\"\nclient_id = \"a\"", "line 6"),
        ("secret = \"s\"", "there is no such setting"),
        (
            "token_url = \"https://login.example.com/token\"\nclient_id = \"a\"\nissuer = \"https://login.example.com\"",
            "`jwks_url` is missing",
        ),
    ] {
        let provider = "[providers.mine]\nbase_url = \"https://models.example.com\"\n[providers.mine.sign_in]\n";
        let user = User::new(|_| format!("{provider}\n{fields}\n"));
        let (code, _, errors) = user.azimuth(&["auth", "list"]);
        assert!(code == 1 && errors.contains("providers.mine.sign_in") && errors.contains(said), "{errors}");
    }
}

/// Follows an address as a browser does, while the server runs in this process.
async fn follow(url: String) -> u16 {
    let followed = tokio::task::spawn_blocking(move || {
        let (status, place, _) = get(&url);
        place.map_or(status, |place| get(&place).0)
    });
    followed.await.unwrap()
}

/// The error of a request that must fail.
async fn fails<M: methods::Request>(client: &Client, params: Value) -> RpcError {
    client.request(M::METHOD, params).await.unwrap_err()
}

#[tokio::test]
async fn a_client_signs_in_and_out_by_the_protocol() {
    let vendor = SignInServer::start();
    let setup = Setup::empty();
    let data = setup.data_folder().display().to_string();
    let setup = setup.with_variable("AZIMUTH_DATA_DIR", &data);
    let port = free_port();
    setup.configure(&vendor.configuration(port));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;

    let listed = client.call::<methods::AuthList>(json!({})).await;
    assert_eq!(listed.accounts, []);
    assert_eq!(listed.providers[0].provider, "chatgpt");
    assert_eq!(listed.providers[0].ways, [SignInWay::Browser, SignInWay::Paste, SignInWay::Device]);

    // The first sign-in is cancelled: whoever waits for it learns so, and its port is free.
    let login = json!({ "provider": "chatgpt", "way": "browser" });
    let cancelled = client.call::<methods::AuthLogin>(login.clone()).await.login_id;
    let wait = fails::<methods::AuthWait>(&client, json!({ "loginId": cancelled }));
    let cancel = client.call::<methods::AuthCancel>(json!({ "loginId": cancelled }));
    let (failed, _) = tokio::join!(wait, cancel);
    assert!(failed.message.contains("cancelled"), "{failed:?}");

    let begun = client.call::<methods::AuthLogin>(login).await;
    let id = json!({ "loginId": begun.login_id });
    let wrong = json!({ "loginId": begun.login_id, "address": "http://example.com/" });
    let failed = fails::<methods::AuthPaste>(&client, wrong).await;
    assert!(failed.message.contains(&begun.redirect.unwrap()), "{failed:?}");
    assert_eq!(follow(begun.url).await, 200);
    let done = client.call::<methods::AuthWait>(id).await;
    assert_eq!((done.account.name.as_deref(), done.account.ended), (Some(ACCOUNT), false));

    // The models of the plan are there without a restart.
    let models = client.call::<methods::ModelList>(json!({})).await.models;
    let plan = format!("chatgpt/{PLAN_MODEL}");
    assert!(models.iter().any(|model| model.id == plan && model.available), "{models:?}");

    let device = json!({ "provider": "chatgpt", "way": "device", "label": "work" });
    let begun = client.call::<methods::AuthLogin>(device).await;
    assert_eq!(begun.user_code.as_deref(), Some("ABCD-EFGH"));
    client.call::<methods::AuthWait>(json!({ "loginId": begun.login_id })).await;
    let listed = client.call::<methods::AuthList>(json!({})).await;
    let labels: Vec<_> = listed.accounts.iter().map(|account| account.label.as_str()).collect();
    assert_eq!(labels, ["work", "default"]);
    let key = listed.keys.iter().find(|key| key.provider == "chatgpt").unwrap();
    assert_eq!((key.label.as_deref(), key.source.as_str()), (Some("work"), "the account `work`"));
    let said = serde_json::to_string(&listed).unwrap();
    assert!(vendor.secrets().iter().all(|secret| !said.contains(secret)), "{said}");

    let gone = client.call::<methods::AuthLogout>(json!({ "provider": "chatgpt", "label": "default" })).await;
    assert_eq!((gone.removed.len(), vendor.counts().1), (1, 1));
    let failed = fails::<methods::AuthLogout>(&client, json!({ "provider": "openai" })).await;
    assert_eq!(failed.code, i64::from(ErrorCode::NotFound.code()));
    let unknown = json!({ "provider": "openai", "way": "browser" });
    assert_eq!(fails::<methods::AuthLogin>(&client, unknown).await.code, i64::from(ErrorCode::NotFound.code()));
    assert_eq!(client.finish().await, 0);
}

#[tokio::test]
async fn a_key_that_reached_its_limit_rests_the_next_goes_on_in_the_same_turn_and_no_key_is_written_anywhere() {
    const HOUR: u64 = 3_600_000;
    let keys = ["sk-first-0123456789", "sk-second-0123456789", "sk-kept-0123456789"].map(str::to_owned);
    let limited = Answer::refused(429).header("retry-after", "3600");
    let says = ["By the second.", "Begun with it.", "By the one that is kept.", "By the first."].map(Answer::says);
    let model = ModelServer::start([limited].into_iter().chain(says)).await;
    model.takes_any_key();
    let setup = Setup::empty();
    let data = setup.data_folder().display().to_string();
    let mut setup = setup
        .with_variable("AZIMUTH_DATA_DIR", &data)
        .with_variable("FIRST_KEY", &keys[0])
        .with_variable("SECOND_KEY", &keys[1]);
    let list = r#"keys = ["env:FIRST_KEY", "env:SECOND_KEY", "account:kept"]"#;
    let usual = Setup::configuration(&model, Wire::Chat);
    let one_key = usual.lines().find(|line| line.starts_with("key = ")).unwrap().to_owned();
    setup.configure(&usual.replace(&one_key, list));
    let now = Arc::new(AtomicU64::new(clock::now()));
    let (began, read) = (now.load(Ordering::Relaxed), Arc::clone(&now));
    setup.custom.clock = Clock::new(move || read.load(Ordering::Relaxed));
    let project = Project::new([("a.txt", "one\n")]);
    let client = Client::start(&setup, &project, Profile::panel()).await;
    let told: Value = client.notification("window/showMessage").await;
    assert!(told["message"].as_str().unwrap().contains("`account:kept`: there is no such account"), "{told}");
    let begin = async |prompt: &str| {
        let session = client.new_session().await;
        client.prompt(&session, prompt).await;
        client.until_end(&session, StopReason::EndTurn).await
    };

    let events = begin("One?").await;
    let switched = events.iter().find_map(|event| match event {
        Event::TurnModelChanged { model, instead_of, reason, until, account, .. } => {
            assert_eq!(model, instead_of);
            Some((*reason, *until, account.clone()))
        }
        _ => None,
    });
    let account = AccountSwitch { name: "SECOND_KEY".into(), instead_of: "FIRST_KEY".into() };
    assert_eq!(switched, Some((SwitchReason::RateLimited, Some(began + HOUR), Some(account))));
    begin("Two?").await;

    let keep = |provider: &str, key: &str| json!({ "provider": provider, "label": "kept", "key": key });
    let kept = client.call::<methods::AuthKeep>(keep("test", &keys[2])).await;
    assert_eq!((kept.account.label.as_str(), kept.unused_because), ("kept", None));
    begin("Three?").await;
    let wrong = fails::<methods::AuthKeep>(&client, keep("test", "two words")).await;
    assert!(wrong.message.contains("this is no key") && !wrong.message.contains("two words"), "{wrong:?}");
    let unknown = fails::<methods::AuthKeep>(&client, keep("nobody", &keys[2])).await;
    assert_eq!(unknown.code, i64::from(ErrorCode::NotFound.code()));

    let listed = client.call::<methods::AuthList>(json!({})).await;
    let member = |name: &str, is_account: bool, in_use: bool, rests_until: Option<u64>| {
        let reason = rests_until.map(|_| SwitchReason::RateLimited);
        KeyMember { name: name.into(), is_account, in_use, rests_until, reason }
    };
    let members = listed.keys.into_iter().find(|key| key.provider == "test").unwrap().members;
    let first = member("FIRST_KEY", false, false, Some(began + HOUR));
    assert_eq!(members, [first, member("SECOND_KEY", false, true, None), member("kept", true, false, None)]);
    // Another process learns of it.
    let mut status = Command::new(harness::binary());
    status.args(["auth", "status", "test"]).env_clear().env("AZIMUTH_DATA_DIR", &data).envs([
        ("HOME", setup.home().as_os_str()),
        ("AZIMUTH_CONFIG", setup.config_file().as_os_str()),
        ("FIRST_KEY", keys[0].as_ref()),
        ("SECOND_KEY", keys[1].as_ref()),
    ]);
    let (code, shown, errors) = of(status.output().unwrap());
    assert_eq!(code, 0, "{errors}");
    assert!(shown.contains("  FIRST_KEY  it has reached a limit and rests for 1 h 0 min\n"), "{shown}");
    assert!(shown.contains("  SECOND_KEY  in use\n") && shown.contains("  kept  ready\n"), "{shown}");

    now.fetch_add(HOUR, Ordering::Relaxed);
    begin("Four?").await;
    let sent: Vec<_> = model.asked().iter().map(|asked| asked.header("authorization").unwrap().to_owned()).collect();
    let order = [0, 1, 1, 2, 0].map(|at| format!("Bearer {}", keys[at]));
    assert_eq!(sent, order, "sessions take the keys in turn, and the first is used again once it does not rest");

    assert_eq!(files_with(setup.home(), &keys), [setup.data_folder().join("credentials.json")]);
    client.call::<methods::AuthLogout>(json!({ "provider": "test", "label": "kept" })).await;
    assert_eq!(files_with(setup.home(), &keys), Vec::<PathBuf>::new());
    client.waive("azimuth/event");
    assert_eq!(client.finish().await, 0);
}
