//! The part of the server's environment that a command sees.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::secrets::{self, Secrets};
use super::{git, programs};

/// The variables that change how our shell itself behaves: start files, prompts, options, history, automatic logout.
const SHELLS_OWN: &[&str] = &[
    "BASHOPTS",
    "BASH_ENV",
    "CDPATH",
    "COLUMNS",
    "ENV",
    "HISTFILE",
    "IFS",
    "IGNOREEOF",
    "LINES",
    "MAIL",
    "MAILCHECK",
    "MAILPATH",
    "OLDPWD",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PWD",
    "SHELLOPTS",
    "SHLVL",
    "TMOUT",
];

/// A setting that git does not know, in the place of one whose name had a secret in it.
const TAKEN_OUT: &str = "azimuth.takenOut";

/// How a variable begins that the supervisor only carries.
#[cfg(target_os = "linux")]
const CARRIED: &str = "AZIMUTH_CARRIED_";

/// True if a variable names libraries to load, or changes how they are loaded. Commands may be able to write what is
/// named, so what we start outside the sandbox gets none of them.
pub fn loads(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("LD_") || name.starts_with("DYLD_") || matches!(&*name, "GCONV_PATH" | "GLIBC_TUNABLES")
}

/// The name under which a supervisor gets a variable of the program that it starts. What names libraries ([`loads`]) is
/// only carried, since the supervisor has no sandbox.
#[cfg(target_os = "linux")]
pub(super) fn carried(name: &OsStr) -> OsString {
    if loads(name) { format!("{CARRIED}{}", name.to_string_lossy()).into() } else { name.to_owned() }
}

/// Gives a program the variables that its supervisor carried for it.
#[cfg(target_os = "linux")]
pub(super) fn hand_on(program: &mut std::process::Command) {
    for (name, value) in std::env::vars_os() {
        if let Some(own) = name.to_str().and_then(|name| name.strip_prefix(CARRIED)) {
            program.env_remove(&name).env(own, value);
        }
    }
}

/// The environment of the shell, from the server's: without secrets but for those named in `pass`, without what would
/// change the shell itself, without pagers, which would wait for a key, and with settings of git that hold over those
/// of any repository: [`git::ALWAYS`], and these, which only a workspace that is not trusted has. Programs are not
/// looked for in the folders `but`.
pub fn for_shell(
    server: impl IntoIterator<Item = (OsString, OsString)>,
    pass: &[String],
    of_git: &[(String, String)],
    but: &[PathBuf],
) -> Vec<(OsString, OsString)> {
    let ours = [
        // The view is a real terminal and shows colours; a model reads the text without them.
        ("TERM", "xterm-256color"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("MANPAGER", "cat"),
        ("SYSTEMD_PAGER", "cat"),
        ("PS1", ""),
        ("PS2", ""),
    ];
    let mut environment = cleaned(server, pass, but);
    environment.retain(|(name, _)| !ours.iter().any(|(our, _)| *our == name));
    environment.extend(ours.map(|(name, value)| (name.into(), value.into())));
    configure_git(&mut environment, of_git);
    if !of_git.is_empty() {
        let (name, value) = git::NO_FETCH;
        environment.retain(|(known, _)| known != name);
        environment.push((name.into(), value.into()));
    }
    if let Some((name, value)) = git::nowhere(of_git) {
        environment.retain(|(known, _)| known != name);
        environment.push((name.into(), value.into()));
    }
    environment
}

/// The environment of what we start ourselves: git, language servers, the shell that runs the user's start files. Ours
/// without secrets, without what would change a shell, and without places of programs and libraries that depend on the
/// folder.
pub fn of_ours(pass: &[String]) -> Vec<(OsString, OsString)> {
    cleaned(std::env::vars_os(), pass, &[])
}

/// The names of the variables that [`for_shell`] takes out as secrets, in order.
pub fn withheld(server: impl IntoIterator<Item = (OsString, OsString)>, pass: &[String]) -> Vec<String> {
    let server: Vec<_> = server.into_iter().collect();
    let secrets = Secrets::of(&server, pass);
    let taken = server.iter().filter(|(name, value)| secrets.has(name, value));
    let mut names: Vec<_> = taken.map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns what the model is told of such names; `None` if there are none.
pub fn told(names: &[String]) -> Option<String> {
    /// More of them say nothing more.
    const MOST: usize = 40;
    let more = names.len().saturating_sub(MOST);
    let (list, more) = (names.get(..names.len().min(MOST))?.join(", "), if more > 0 { ", and more" } else { "" });
    (!names.is_empty()).then(|| {
        format!(
            "Commands do not get these variables of the user's, which hold secrets or look as if they did: {list}{more}. Where \
             one is needed, say so: the user lets it through by `pass_environment` in their configuration."
        )
    })
}

fn cleaned(
    server: impl IntoIterator<Item = (OsString, OsString)>,
    pass: &[String],
    but: &[PathBuf],
) -> Vec<(OsString, OsString)> {
    let mut server: Vec<_> = server.into_iter().collect();
    let secrets = Secrets::of(&server, pass);
    let is_passed = |name: &OsString| pass.iter().any(|pass| name == pass.as_str());
    server.retain_mut(|(name, value)| {
        if secrets.has(name, value) {
            // Git reads as many settings as are counted: an empty one takes those before it away, and each has a name.
            let is_of_git = |begin: &str| name.to_string_lossy().starts_with(begin);
            *value = if is_of_git(secrets::NAMES_OF_GIT) { TAKEN_OUT.into() } else { OsString::new() };
            return is_of_git(secrets::NAMES_OF_GIT) || is_of_git("GIT_CONFIG_VALUE_");
        }
        is_passed(name) || !SHELLS_OWN.iter().any(|own| *own == *name)
    });
    server.retain_mut(|(name, value)| programs::settle(name, value, but));
    if !server.iter().any(|(name, _)| name == "PATH") {
        server.push(("PATH".into(), programs::path(None, but)));
    }
    server
}

/// Adds settings of git after those that the user's environment has.
fn configure_git(environment: &mut Vec<(OsString, OsString)>, more: &[(String, String)]) {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let count = environment.iter().find(|(name, _)| name == COUNT);
    let first = count.and_then(|(_, count)| count.to_str()?.parse::<usize>().ok()).unwrap_or_default();
    environment.retain(|(name, _)| name != COUNT);
    let always = git::ALWAYS.iter().copied();
    let ours: Vec<_> = always.chain(more.iter().map(|(key, value)| (key.as_str(), value.as_str()))).collect();
    for (number, (key, value)) in (first..).zip(&ours) {
        environment.push((format!("GIT_CONFIG_KEY_{number}").into(), key.into()));
        environment.push((format!("GIT_CONFIG_VALUE_{number}").into(), value.into()));
    }
    environment.push((COUNT.into(), (first + ours.len()).to_string().into()));
}

/// A line with `…` for what it gives to variables whose names look like secrets.
pub fn without_secrets(line: &str) -> String {
    let (mut told, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('=') {
        told.push_str(before);
        told.push('=');
        // Of `name+=` and `name[0]=` too.
        let name = before.strip_suffix('+').unwrap_or(before);
        let name = name.strip_suffix(']').and_then(|name| Some(name.rsplit_once('[')?.0)).unwrap_or(name);
        let name = name.rsplit(|one: char| !one.is_alphanumeric() && one != '_').next().unwrap_or_default();
        let length = if secrets::is_named_so(name) { word(after) } else { 0 };
        told.push_str(if length > 0 { "…" } else { "" });
        rest = after.get(length..).unwrap_or_default();
    }
    told.push_str(rest);
    told
}

/// How long the word is that a text begins with, in bytes: quotes, and brackets as in `$(…)`, hold it together. One
/// that is not ended goes to the end.
fn word(text: &str) -> usize {
    // The constructs that are open, by the characters that end them, the innermost last.
    let (mut open, mut escaped, mut before) = (Vec::new(), false, ' ');
    for (at, one) in text.char_indices() {
        match (open.last().copied(), one) {
            _ if escaped => escaped = false,
            (Some('\''), '\'') => _ = open.pop(),
            (Some('\''), _) => {}
            (_, '\\') => escaped = true,
            (Some(end), _) if end == one => _ = open.pop(),
            (_, '(') if before == '$' || open.last() != Some(&'"') => open.push(')'),
            (_, '{') if before == '$' => open.push('}'),
            (_, '"' | '`') => open.push(one),
            (Some('"'), _) => {}
            (_, '\'') => open.push(one),
            (None, ';' | '&' | '|' | ')') => return at,
            (None, _) if one.is_whitespace() => return at,
            _ => {}
        }
        before = one;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_to_a_variable_that_looks_like_a_secret_is_not_told() {
        let cases = [
            ("export GITHUB_TOKEN=ghp_12; ls", "export GITHUB_TOKEN=…; ls"),
            ("A=1 MY_API_KEY='a b' B=2 run --x=y", "A=1 MY_API_KEY=… B=2 run --x=y"),
            ("DB_PASSWORD=\"a \\\" b\"c d", "DB_PASSWORD=… d"),
            ("docker run -e X_SECRET=abc img", "docker run -e X_SECRET=… img"),
            ("TOKEN+=more x", "TOKEN+=… x"),
            ("X_TOKEN='not ended", "X_TOKEN=…"),
            ("x=1 ö=2 test a = b", "x=1 ö=2 test a = b"),
            ("X_TOKEN= ls", "X_TOKEN= ls"),
            ("export DB_PASSWORD=$(echo c2VjcmV0 | base64 -d); ls", "export DB_PASSWORD=…; ls"),
            ("DB_PASSWORD=\"a $(echo \"b c\" | tr ')' x) d\" run", "DB_PASSWORD=… run"),
            ("DB_PASSWORD=`echo a b` run", "DB_PASSWORD=… run"),
            ("DB_PASSWORD=${X:-a b} run", "DB_PASSWORD=… run"),
            ("MY_TOKEN=(abc 'd e' f) run", "MY_TOKEN=… run"),
            ("MY_TOKEN+=(abc def) run", "MY_TOKEN+=… run"),
            ("A_TOKEN[0]=abc run", "A_TOKEN[0]=… run"),
            ("A_TOKEN[x]+=abc run", "A_TOKEN[x]+=… run"),
            ("(MY_TOKEN=abc; run)", "(MY_TOKEN=…; run)"),
            ("x=$(MY_TOKEN=abc run it)", "x=$(MY_TOKEN=… run it)"),
            ("MY_TOKEN=\"it's (1\" run", "MY_TOKEN=… run"),
            ("$(MY_TOKEN=abc) run", "$(MY_TOKEN=…) run"),
        ];
        for (line, told) in cases {
            assert_eq!(without_secrets(line), told);
        }
    }

    fn names(server: &[&str], pass: &[&str]) -> Vec<String> {
        let server = server.iter().map(|name| (OsString::from(name), OsString::from("value")));
        let pass: Vec<String> = pass.iter().map(|name| (*name).to_owned()).collect();
        for_shell(server, &pass, &[], &[]).into_iter().map(|(name, _)| name.into_string().unwrap()).collect()
    }

    #[test]
    fn gits_settings_of_the_user_stay_before_ours() {
        let user = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "user.name"), ("GIT_CONFIG_VALUE_0", "me")];
        let environment = for_shell(user.map(|(name, value)| (name.into(), value.into())), &[], &[], &[]);
        let value = |name: &str| {
            let mut all =
                environment.iter().filter(|(known, _)| known == name).map(|(_, value)| value.to_str().unwrap());
            (all.next(), all.next())
        };
        assert_eq!(value("GIT_CONFIG_COUNT"), (Some("3"), None));
        assert_eq!(value("GIT_CONFIG_KEY_0"), (Some("user.name"), None));
        assert_eq!(value("GIT_CONFIG_VALUE_0"), (Some("me"), None));
        assert_eq!(value("GIT_CONFIG_KEY_2"), (Some("safe.bareRepository"), None));
    }

    #[test]
    fn git_still_counts_the_users_settings_where_a_secret_was_taken_out_of_one() {
        let key = "url.https://ada:hunter2@c.example/.insteadOf";
        let user = [
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", key),
            ("GIT_CONFIG_VALUE_0", "https://c.example/"),
            ("GIT_CONFIG_KEY_1", "http.extraHeader"),
            ("GIT_CONFIG_VALUE_1", "Authorization: Basic dXNlcjpwYXNz"),
        ];
        let environment = for_shell(user.map(|(name, value)| (name.into(), value.into())), &[], &[], &[]);
        assert!(!environment.iter().any(|(_, value)| value.to_string_lossy().contains("hunter2")));
        assert!(!environment.iter().any(|(_, value)| value.to_string_lossy().contains("dXNlcjpwYXNz")));
        #[expect(clippy::disallowed_methods, reason = "git is asked what it was told")]
        let mut git = std::process::Command::new("git");
        let told = git.args(["config", "--show-scope", "--list"]).env_clear().envs(environment).output().unwrap();
        let told = String::from_utf8(told.stdout).unwrap();
        assert!(told.contains("command\thttp.extraheader=\n") && told.contains("core.fsmonitor=false"), "{told}");
    }

    #[test]
    fn git_fetches_nothing_by_itself_where_it_has_settings_for_a_workspace_that_is_not_trusted() {
        let fetches = |of_git: &[(String, String)]| {
            let environment = for_shell([("GIT_NO_LAZY_FETCH".into(), "0".into())], &[], of_git, &[]);
            let all = environment.into_iter().filter(|(name, _)| name == "GIT_NO_LAZY_FETCH");
            all.map(|(_, value)| value.into_string().unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(fetches(&[]), ["0"]);
        assert_eq!(fetches(&[("core.hooksPath".to_owned(), "/dev/null".to_owned())]), ["1"]);
    }

    #[test]
    fn secrets_stay_with_the_server() {
        let secrets = [
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "openai_api_key",
            "API_KEY",
        ];
        let left = names(&secrets, &[]);
        assert!(!left.iter().any(|name| secrets.contains(&name.as_str())), "{left:?}");
    }

    #[test]
    fn the_rest_is_passed_on() {
        let left = names(&["PATH", "HOME", "CARGO_HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD"], &[]);
        for name in ["PATH", "HOME", "CARGO_HOME", "TOKENIZERS_PARALLELISM", "KEYBOARD"] {
            assert!(left.iter().any(|left| left == name), "{name} is missing");
        }
    }

    #[test]
    fn the_user_can_pass_a_secret_on() {
        assert!(names(&["GITHUB_TOKEN"], &["GITHUB_TOKEN"]).contains(&"GITHUB_TOKEN".to_owned()));
    }

    #[test]
    fn start_files_and_prompts_of_the_user_do_not_reach_the_shell() {
        let left = names(&["BASH_ENV", "PROMPT_COMMAND", "TMOUT", "PAGER"], &[]);
        assert!(!left.iter().any(|name| name == "BASH_ENV" || name == "PROMPT_COMMAND" || name == "TMOUT"));
        assert_eq!(left.iter().filter(|name| *name == "PAGER").count(), 1);
    }
}
