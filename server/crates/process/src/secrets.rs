//! The variables of an environment that hold secrets: by the configuration, by their names, and by their values.
//!
//! It errs on the side of taking one out, but not where builds need it: numbers, paths and plain addresses stay. What
//! is taken out by mistake, the user lets through by name.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::{PoisonError, RwLock};

use self::tokens::has_token;

mod models;
mod tokens;

pub use self::models::{is_for_no_model, may_be_one, password_in};

/// The variables that configurations read keys of models from. The environment is the process's, and so are they: what
/// one session's configuration names is no other session's either.
static KEYS: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// How variables begin that name settings of git: they name what may be a key, and are none.
pub(super) const NAMES_OF_GIT: &str = "GIT_CONFIG_KEY_";

/// A value shorter than this is not looked for under other names.
const SHORTEST_KEY: usize = 8;
/// One shorter than this is not looked for within others: it may be a word, such as a local server has for a key.
const SHORTEST_WITHIN: usize = 16;

/// Says that a variable holds a key of the configuration: no program that is started from now on gets it, nor its value
/// under another name.
pub fn holds_a_key(name: &str) {
    KEYS.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
}

/// The secrets that are taken out of an environment.
pub(super) struct Secrets<'a> {
    keys: BTreeSet<String>,
    /// The values of the keys.
    values: Vec<OsString>,
    /// The names of the variables that the user lets through.
    pass: &'a [String],
}

impl<'a> Secrets<'a> {
    pub(super) fn of(environment: &[(OsString, OsString)], pass: &'a [String]) -> Self {
        let keys = KEYS.read().unwrap_or_else(PoisonError::into_inner).clone();
        let values = environment.iter().filter(|(name, value)| is_among(&keys, name) && value.len() >= SHORTEST_KEY);
        Self { values: values.map(|(_, value)| value.clone()).collect(), keys, pass }
    }

    /// True if a variable is one of them.
    pub(super) fn has(&self, name: &OsStr, value: &OsStr) -> bool {
        if is_among(&self.keys, name) {
            return true;
        }
        let name = name.to_string_lossy();
        if self.pass.iter().any(|pass| *pass == name) {
            return false;
        }
        let text = value.to_string_lossy();
        let is_within = |key: &OsString| {
            let is_looked_for = key.len() >= SHORTEST_WITHIN && !NEVER.contains(&&*name);
            is_looked_for && key.to_str().is_some_and(|key| stands_in(&text, key))
        };
        self.values.iter().any(|key| key == value || is_within(key)) || is_secret(&name, &text)
    }
}

/// True if a word stands by itself in a text.
fn stands_in(text: &str, word: &str) -> bool {
    let is_of_word = |one: char| one.is_alphanumeric() || matches!(one, '_' | '-');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + word.len()..).unwrap_or_default());
        !before.ends_with(is_of_word) && !after.starts_with(is_of_word)
    })
}

fn is_among(keys: &BTreeSet<String>, name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| keys.contains(name))
}

/// A password that every Java has.
const OPEN_TO_ALL: &str = "changeit";

/// The variables that no program can do without, whatever they look like.
const NEVER: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG", "PWD", "OLDPWD"];

/// True if a variable holds a secret, as its name or its value tells.
fn is_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || NEVER.contains(&name) {
        return false;
    }
    let by_name = match named(name) {
        Named::Secret => true,
        Named::Perhaps => !is_harmless(value),
        Named::Not => false,
    };
    by_name || holds_secret(value) || (!is_checksum(name) && is_random(value))
}

/// The meaning of a variable's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// A secret, whatever the value is.
    Secret,
    /// A secret, unless the value shows that it is none.
    Perhaps,
    /// Nothing.
    Not,
}

/// True if a name is that of a secret, whatever the value is.
pub(super) fn is_named_so(name: &str) -> bool {
    named(name) != Named::Not
}

fn named(name: &str) -> Named {
    /// The endings of a name that says where a secret is or what is to be known of it, and not the secret.
    const ABOUT: &[&str] = &[
        "FILE",
        "PATH",
        "DIR",
        "DIRECTORY",
        "HOME",
        "SOCK",
        "SOCKET",
        "URL",
        "URI",
        "ENDPOINT",
        "HOST",
        "PORT",
        "TYPE",
        "NAME",
        "COUNT",
        "LIMIT",
        "LENGTH",
        "TTL",
        "TIMEOUT",
        "ENABLED",
        "DISABLED",
        "COMMAND",
        "HELPER",
        "PROVIDER",
        "METHOD",
        "VERSION",
        "PROMPT",
        "STORE",
        "PARALLELISM",
        "STDIN",
        "FD",
    ];
    /// The words that make a key one that everybody may know, or none at all.
    const KNOWN: &[&str] = &[
        "PUBLIC",
        "PUBLISHABLE",
        "CACHE",
        "PRIMARY",
        "FOREIGN",
        "SORT",
        "PARTITION",
        "HOST",
        "COMPOSE",
        "META",
        "HOT",
    ];
    const EXACT: &[&str] = &["AWS_ACCESS_KEY_ID", "BW_SESSION", "SECRET_KEY_BASE", "AZURE_STORAGE_CONNECTION_STRING"];
    if name.starts_with(NAMES_OF_GIT) {
        return Named::Not;
    }
    let name = name.to_ascii_uppercase();
    if EXACT.contains(&name.as_str()) || name.starts_with("OP_SESSION_") {
        return Named::Secret;
    }
    let parts: Vec<&str> =
        name.split(|one: char| !one.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).collect();
    // `GITHUB_TOKEN_2` is as `GITHUB_TOKEN`.
    let is_number = |part: &&&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let end = parts.len() - parts.iter().rev().take_while(is_number).count();
    let Some((last, before)) = parts.get(..end).and_then(<[&str]>::split_last) else { return Named::Not };
    let is_key_of = |part: &&str| KNOWN.contains(part);
    match *last {
        last if ABOUT.contains(&last) => return Named::Not,
        "KEY" | "KEYS" if !before.is_empty() && !before.iter().any(is_key_of) => return Named::Perhaps,
        "PAT" | "DSN" | "PWD" | "AUTH" | "JWT" | "COOKIE" if !before.is_empty() => return Named::Perhaps,
        "TOKENS" | "WEBHOOK" => return Named::Perhaps,
        "PW" if !before.is_empty() => return Named::Perhaps,
        "JWT" | "AUTHORIZATION" | "BEARER" | "CRED" | "CREDS" | "MNEMONIC" | "PSK" => return Named::Secret,
        last if is_word(last) => return Named::Secret,
        _ => {}
    }
    let pair = |first: &[&str], second: &str| {
        parts.windows(2).any(|two| matches!(two, [one, other] if first.contains(one) && *other == second))
    };
    let keys = ["API", "ACCESS", "AUTH", "PRIVATE", "SIGNING", "ENCRYPTION", "DEPLOY", "MASTER", "SECRET"];
    let is_about = parts.iter().any(|part| is_word(part)) || pair(&keys, "KEY") || pair(&["AUTH"], "CONFIG");
    if is_about || pair(&["CONNECTION"], "STRING") { Named::Perhaps } else { Named::Not }
}

/// True if a part of a name, in upper case, is a word for a secret, also where it is glued to another one.
fn is_word(part: &str) -> bool {
    const ENDS: &[&str] = &["TOKEN", "PASS"];
    const NO_PASS: &[&str] = &["ASKPASS", "BYPASS", "COMPASS"];
    const WITHIN: &[&str] =
        &["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL", "APIKEY", "PRIVATEKEY", "ACCESSKEY", "AUTHKEY"];
    WITHIN.iter().any(|word| part.contains(word))
        || (ENDS.iter().any(|word| part.ends_with(word)) && !NO_PASS.iter().any(|word| part.ends_with(word)))
}

/// True if a value is no secret, though its name would be one's: a switch, a number or a path.
fn is_harmless(value: &str) -> bool {
    const SWITCHES: &[&str] = &["true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default", "basic"];
    const ROOTS: &[&str] = &[
        "/home/", "/Users/", "/root/", "/etc/", "/opt/", "/usr/", "/var/", "/tmp/", "/run/", "/mnt/", "/srv/", "~/",
        "./",
    ];
    SWITCHES.contains(&value.to_ascii_lowercase().as_str())
        || (value.len() <= 6 && value.bytes().all(|byte| byte.is_ascii_digit()))
        || ROOTS.iter().any(|root| value.starts_with(root))
}

/// True if a text holds what is known to be a secret: a token by how it begins, an address with a password, a private
/// key, a setting such as `password=…`.
pub(super) fn holds_secret(text: &str) -> bool {
    (text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----"))
        || has_token(text)
        || has_address(text, |user| !user.is_empty() && user != "git")
        || has_header(text)
        || has_setting(text)
        || has_option(text)
        || has_query(text)
        || is_netrc(text)
}

/// The same of a file of settings, whose formats have forms of their own, and where an address may well name a user.
pub(super) fn settings_hold_secret(text: &str) -> bool {
    (text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----"))
        || has_token(text)
        || has_address(text, is_like_token)
        || has_header(text)
        || has_setting(text)
        || has_element(text)
        || has_gem_host(text)
}

/// True if the user of an address is a token rather than somebody's name.
fn is_like_token(user: &str) -> bool {
    const LEAST: usize = 20;
    let is_word = user.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    has_token(user) || (user.len() >= LEAST && is_word)
}

/// True if an element of XML whose name is a secret's has a value in plain: `<password>…</password>`; or one that says
/// what a server is sent, as Maven has them for tokens.
fn has_element(text: &str) -> bool {
    /// A tag that is longer says nothing that can be told.
    const LONGEST: usize = 256;
    let in_plain = |at: usize| {
        let rest = clipped(text.get(at..).unwrap_or_default(), LONGEST);
        let Some((attributes, value)) = rest.split_once('>') else { return true };
        let value = value.trim_start();
        let value = value.strip_prefix("<![CDATA[").unwrap_or(value).trim_start();
        // Maven has encrypted ones in braces, and variables begin with `$`.
        let is_told_elsewhere = value.starts_with("${")
            || value.split(['<', ']']).next().is_some_and(|it| it.starts_with('{') && it.trim_end().ends_with('}'));
        !(attributes.ends_with('/') || value.starts_with("</") || is_told_elsewhere)
    };
    let mut is_header = false;
    text.match_indices('<').any(|(at, _)| {
        let rest = clipped(text.get(at + 1..).unwrap_or_default(), LONGEST);
        let name = rest.split(|one: char| !one.is_alphanumeric()).next().unwrap_or_default();
        is_header = match rest.strip_prefix('/') {
            Some(rest) => is_header && !rest.starts_with("httpHeaders"),
            None => is_header || name == "httpHeaders",
        };
        let is_secret = name == "privateKey" || (is_header && name == "value") || named(&snake(name)) == Named::Secret;
        is_secret && in_plain(at + 1 + name.len())
    })
}

/// The beginning of a text, of at most so many bytes.
fn clipped(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// True if Bundler is told who one is at a host: `BUNDLE_GEMS__EXAMPLE__ORG: "user:password"`.
fn has_gem_host(text: &str) -> bool {
    text.lines().any(|line| {
        let Some((name, value)) = line.split_once(": ") else { return false };
        let value = value.trim_matches(['"', '\'', ' ']);
        // Settings of a gem, such as how it is built and where it lies, have no host's name.
        let is_host = name.starts_with("BUNDLE_")
            && name.contains("__")
            && !["BUNDLE_BUILD__", "BUNDLE_LOCAL__", "BUNDLE_MIRROR__"].iter().any(|of_gem| name.starts_with(of_gem));
        is_host && !is_harmless(value) && !value.starts_with('$')
    })
}

/// True if an address has a password or a key in it. `is_key` tells which users' names of the web are keys.
fn has_address(text: &str, is_key: fn(&str) -> bool) -> bool {
    /// A longer address is looked at only so far.
    const LONGEST: usize = 4096;
    let in_url = text.match_indices("://").any(|(at, _)| {
        let ends_with = |scheme: &str| {
            let begin = at.checked_sub(scheme.len()).and_then(|begin| text.get(begin..at));
            begin.is_some_and(|begin| begin.eq_ignore_ascii_case(scheme))
        };
        let is_web = ends_with("http") || ends_with("https");
        let rest = clipped(text.get(at + 3..).unwrap_or_default(), LONGEST);
        let ends = |one: char| one.is_whitespace() || matches!(one, '"' | '\'' | '`');
        let authority = rest.split(|one| ends(one) || matches!(one, '/' | '?' | '#')).next().unwrap_or_default();
        match authority.rsplit_once('@') {
            Some((user, _)) => has_password(user) || (is_web && is_key(user)),
            // A password may hold what ends an authority, though it should not.
            None => authority.split_once(':').is_some_and(|(_, port)| {
                !port.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
                    && !port.starts_with('$')
                    && rest.split(ends).next().is_some_and(|rest| rest.contains('@'))
            }),
        }
    });
    // A proxy is also written without a scheme.
    let bare = || {
        let (user, host) = text.rsplit_once('@')?;
        let is_host =
            !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]/".contains(&byte));
        let is_user = !user.contains("://") && !user.contains(char::is_whitespace) && !user.starts_with('/');
        Some(is_host && is_user && has_password(user))
    };
    let hook = || text.contains("hooks.slack.com/services/") || text.contains("/api/webhooks/");
    in_url || bare().unwrap_or_default() || hook()
}

/// True if there is a password behind a user's name, and not a variable that stands for it.
fn has_password(user: &str) -> bool {
    user.split_once(':').is_some_and(|(_, password)| !password.is_empty() && !password.starts_with("${"))
}

/// True if a header of HTTP stands there that says who one is.
fn has_header(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let follows = |begin: &str| {
        let mut words = lower.match_indices(begin).map(|(at, _)| lower.get(at + begin.len()..).unwrap_or_default());
        words.any(|rest| rest.trim_start().split(['\n', '"', '\'']).next().is_some_and(|rest| rest.len() >= 8))
    };
    follows("authorization:")
        || lower.strip_prefix("bearer ").is_some_and(|rest| rest.len() >= 8)
        || lower.strip_prefix("basic ").is_some_and(|rest| rest.len() >= 8)
}

/// True if something whose name is a secret's is given a value there: `password=…`, `"auth": "…"`, `token = "…"`.
fn has_setting(text: &str) -> bool {
    /// A longer value is looked at only so far.
    const LONGEST: usize = 4096;
    /// Git's name for which key it signs with.
    const ABOUT_KEY: &str = "signingkey";
    let is_of_name = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-' | '.');
    text.match_indices(['=', ':']).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t', '"', '\'']);
        let name = before.rsplit(|one| !is_of_name(one)).next().unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or_default();
        if name.eq_ignore_ascii_case(ABOUT_KEY) {
            return false;
        }
        let camel =
            name.chars().zip(name.chars().skip(1)).any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase());
        let name = if camel { snake(name) } else { name.to_owned() };
        let shortest = match named(&name) {
            Named::Perhaps => SHORTEST_KEY,
            Named::Not if !matches!(name.as_str(), "pwd" | "Pwd" | "PWD" | "auth" | "_auth" | "npm_Auth_Ident") => {
                return false;
            }
            Named::Secret | Named::Not => 3,
        };
        let value = clipped(text.get(at + 1..).unwrap_or_default(), LONGEST).trim_start_matches([' ', '\t', '"', '\'']);
        let value = value.split(|one: char| one.is_whitespace() || matches!(one, '"' | '\'' | ';' | ',' | '&' | '}'));
        let value = value.into_iter().next().unwrap_or_default();
        let is_variable = value.starts_with(['$', '{', '<', '%']);
        value.len() >= shortest
            && !is_variable
            && !value.starts_with("//")
            && value != OPEN_TO_ALL
            && !is_harmless(value)
    })
}

/// True if an option whose name is a secret's has a value behind it, such as `--password …`; or `-p`, which means much
/// else, beside a user's name.
fn has_option(text: &str) -> bool {
    /// The endings of the name of an option that may be a secret's.
    const ENDS: &[&str] = &["key", "keys", "auth", "pat", "jwt", "pw", "pwd"];
    let words: Vec<&str> = text.split_ascii_whitespace().map(|word| word.trim_matches(['"', '\''])).collect();
    let by_name = words.windows(2).any(|two| {
        let [option, value] = two else { return false };
        let Some(name) = option.strip_prefix('-').map(|name| name.trim_start_matches('-').to_ascii_lowercase()) else {
            return false;
        };
        if name.len() < 4 || name.contains('=') || name.starts_with("no-") {
            return false;
        }
        match named(&name) {
            // Docker's has the name of a secret.
            Named::Secret => is_given(value, 3) && !value.starts_with("id="),
            Named::Perhaps => {
                is_given(value, SHORTEST_KEY) && name.rsplit(['-', '_']).next().is_some_and(|it| ENDS.contains(&it))
            }
            Named::Not => false,
        }
    });
    by_name || (0..words.len()).any(|at| has_login(words.get(at..).unwrap_or_default())) || is_client_with_login(&words)
}

/// True if it is the line of a client whose options are known, with a password: `mysql -h db -uroot -psecret`,
/// `curl -u ada:secret`.
fn is_client_with_login(words: &[&str]) -> bool {
    const DATABASES: &[&str] = &["mariadb", "mycli", "mysql"];
    const TRANSFERS: &[&str] = &["curl", "http", "https", "wget", "xh"];
    let base = |word: &&str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let is_of = |names: &[&str], word: &str| {
        names.iter().any(|name| word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || names == DATABASES))
    };
    words.iter().enumerate().any(|(at, word)| {
        let rest = words.get(at + 1..).unwrap_or_default();
        let end = rest.iter().position(|word| word.ends_with(';') || matches!(*word, "&&" | "||" | "|" | "&"));
        let (program, rest) = (base(word), rest.get(..end.unwrap_or(rest.len())).unwrap_or_default());
        let is_port = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':'));
        let is_password = |value: &str| is_given(value, 3) && !is_port(value);
        let of_database = || rest.iter().any(|word| word.strip_prefix("-p").is_some_and(is_password));
        let of_transfer = || {
            rest.windows(2).any(|two| {
                let login = two.last().and_then(|value| value.split_once(':'));
                let is_named = matches!(two.first(), Some(&("-u" | "-a" | "--user" | "--auth")));
                is_named && login.is_some_and(|(user, password)| !user.is_empty() && is_given(password, 3))
            })
        };
        is_of(DATABASES, &program) && of_database() || is_of(TRANSFERS, &program) && of_transfer()
    })
}

/// True if words begin with a user's name and a password, in either order: `-u ada -p …`, `-uada -p…`.
fn has_login(words: &[&str]) -> bool {
    /// An option with its value, and the words behind it.
    fn option<'a, 'w>(words: &'w [&'a str]) -> Option<(&'a str, &'a str, &'w [&'a str])> {
        match words {
            ["-u" | "-U" | "--user" | "--username", value, rest @ ..] => Some(("-u", value, rest)),
            ["-p", value, rest @ ..] => Some(("-p", value, rest)),
            // Glued to each other they may be one long option.
            [word, rest @ ..] => {
                let (name, value) = word.split_at_checked(2)?;
                let is_one =
                    matches!(name, "-u" | "-p") && (name == "-u" || !value.bytes().all(|it| it.is_ascii_lowercase()));
                is_one.then_some((name, value, rest))
            }
            [] => None,
        }
    }
    let Some((first, one, rest)) = option(words) else { return false };
    let Some((second, other, _)) = option(rest) else { return false };
    let (user, password) = match (first, second) {
        ("-u", "-p") => (one, other),
        ("-p", "-u") => (other, one),
        _ => return false,
    };
    // Ports have this letter too, and folders that are made.
    let is_port = password.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b':'));
    is_given(user, 1) && is_given(password, 3) && !password.contains('/') && !is_port
}

/// True if a word is a value that may be a secret: no option, no variable, no switch, number or path.
fn is_given(value: &str, shortest: usize) -> bool {
    value.len() >= shortest
        && !value.starts_with(['-', '$', '{', '<', '%', '@'])
        && value != OPEN_TO_ALL
        && !is_harmless(value)
}

/// True if the query of an address has a key or a signature: `?key=…`, `&X-Amz-Signature=…`. A parameter with a name of
/// its own, such as `access_token`, is a [setting](has_setting) too.
fn has_query(text: &str) -> bool {
    const NAMES: &[&str] = &["key", "sig", "signature", "hmac"];
    const LEAST: usize = 16;
    /// A longer one is looked at only so far.
    const LONGEST: usize = 512;
    text.match_indices(['?', '&']).any(|(at, _)| {
        let Some((name, value)) = clipped(text.get(at + 1..).unwrap_or_default(), LONGEST).split_once('=') else {
            return false;
        };
        let name = name.to_ascii_lowercase();
        let ends = |one: char| one.is_whitespace() || matches!(one, '&' | ';' | '#' | '"' | '\'');
        let value = value.split(ends).next().unwrap_or_default();
        let is_named = NAMES.contains(&name.as_str()) || name.ends_with("-signature");
        is_named
            && value.len() >= LEAST
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && !value.starts_with(['$', '{'])
    })
}

/// True if a text is what `.netrc` holds: `machine … login … password …`.
fn is_netrc(text: &str) -> bool {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_entry = matches!(
        words.as_slice(),
        ["machine", _, "login" | "password" | "account", ..] | ["default", "login" | "account", ..]
    );
    is_entry && words.windows(2).any(|two| matches!(two, ["password", word] if !word.starts_with('$')))
}

/// A name in camel case with its words apart.
fn snake(name: &str) -> String {
    let mut told = String::new();
    for one in name.chars() {
        if one.is_ascii_uppercase() {
            told.push('_');
        }
        told.push(one);
    }
    told
}

/// True if a name is that of a sum by which others know what they have.
fn is_checksum(name: &str) -> bool {
    const WORDS: &[&str] =
        &["INTEGRITY", "CHECKSUM", "HASH", "DIGEST", "FINGERPRINT", "SHA", "REVISION", "COMMIT", "NONCE"];
    let name = name.to_ascii_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// True if a value is one long word such as only chance makes: letters of both cases and digits, in no order. Sums in
/// hexadecimal, which builds hand around, are none.
fn is_random(value: &str) -> bool {
    const LEAST: usize = 32;
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    if value.len() < LEAST || value.starts_with('/') || !value.bytes().all(is_part) || value.starts_with("sha") {
        return false;
    }
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let kinds: Vec<u8> = value.bytes().map(kind).collect();
    let many = |wanted: u8| kinds.iter().filter(|kind| **kind == wanted).count() * 16 >= kinds.len();
    let changes = kinds.windows(2).filter(|two| two.first() != two.last()).count();
    let separators = kinds.iter().filter(|kind| **kind == 3).count();
    // A secret key of AWS has this length, and at times hardly a digit.
    let has_digits = many(2) || (value.len() == 40 && kinds.contains(&2));
    many(0) && many(1) && has_digits && separators * 8 <= kinds.len() && changes * 5 >= kinds.len() * 2
}

#[cfg(test)]
mod tests;
