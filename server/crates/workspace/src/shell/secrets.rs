//! Which variables of an environment hold secrets: by what the configuration says, by their names, and by their values.
//!
//! It errs on the side of taking one out, but not where builds need it: numbers, paths and plain addresses stay. What
//! is taken out by mistake, the user lets through by name.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::sync::{PoisonError, RwLock};

/// The variables that configurations read keys of models from. The environment is the process's, and so are they: what
/// one session's configuration names is no other session's either.
static KEYS: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// A value shorter than this is not looked for under other names.
const SHORTEST_KEY: usize = 8;

/// Says that a variable holds a key of the configuration: no program that is started from now on gets it, nor its value
/// under another name.
pub fn holds_a_key(name: &str) {
    KEYS.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
}

/// What is taken out of an environment.
pub(super) struct Secrets<'a> {
    keys: BTreeSet<String>,
    /// The values of the keys.
    values: Vec<OsString>,
    /// What the user lets through by name.
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
        self.values.iter().any(|key| key == value) || is_secret(&name, &value.to_string_lossy())
    }
}

fn is_among(keys: &BTreeSet<String>, name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| keys.contains(name))
}

/// What no program can do without, whatever it looks like.
const NEVER: &[&str] = &["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "LANG", "PWD", "OLDPWD"];

/// Whether a variable holds a secret, as its name or its value tells.
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

/// What a name tells.
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
    /// What ends a name that says where a secret is or what is to be known of it, and not the secret.
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
    ];
    /// What makes a key one that everybody may know, or none at all.
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

/// Whether a value is no secret, though its name would be one's: a switch, a number or a path.
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

/// Whether an element of XML whose name is a secret's has a value in plain: `<password>…</password>`; or one that says
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

/// How tokens of known services begin, and how many characters of a token follow at least.
const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("glrt-", 16),
    ("glptt-", 16),
    ("glcbt-", 16),
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("whsec_", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("ABSK", 24),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxe.", 10),
    ("xoxo-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("eyJ", 16),
    ("npm_", 30),
    ("pypi-", 30),
    ("rubygems_", 20),
    ("cio", 32),
    ("dckr_pat_", 16),
    ("dckr_oat_", 16),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("nvapi-", 20),
    ("r8_", 20),
    ("SG.", 20),
    ("dop_v1_", 20),
    ("doo_v1_", 20),
    ("dapi", 32),
    ("shpat_", 16),
    ("shpss_", 16),
    ("shpca_", 16),
    ("sq0atp-", 16),
    ("sq0csp-", 16),
    ("lin_api_", 16),
    ("tskey-", 10),
    ("pul-", 30),
    ("hvs.", 16),
    ("hvb.", 16),
    ("sbp_", 20),
    ("fo1_", 20),
    ("ATATT3", 20),
    ("ATCTT3", 20),
    ("PMAK-", 20),
    ("NRAK-", 16),
    ("figd_", 16),
    ("AGE-SECRET-KEY-1", 16),
    ("ops_", 40),
    ("SharedAccessSignature", 16),
    // What signs an address of Azure's.
    ("sig=", 20),
];

/// True if a token of a known service stands somewhere.
fn has_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_at = |at: usize, begin: &str, least: usize| {
        // In the middle of a word or of a path it is none.
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before).copied());
        let is_begun = before.is_none_or(|byte| !is_part(byte) && !matches!(byte, b'/' | b'.'));
        let after = text.as_bytes().get(at + begin.len()..).unwrap_or_default();
        is_begun
            && after.iter().take_while(|byte| is_part(**byte) || matches!(byte, b'.' | b'+' | b'/' | b'=')).count()
                >= least
    };
    TOKENS.iter().any(|(begin, least)| text.match_indices(begin).any(|(at, _)| is_at(at, begin, *least)))
        || text.split(|one: char| one.is_whitespace() || matches!(one, '"' | '\'' | '/' | '=')).any(is_of_bot)
}

/// True if a word is the token of a bot of Telegram's: its number, and 35 letters.
fn is_of_bot(word: &str) -> bool {
    let word = word.strip_prefix("bot").unwrap_or(word);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    word.split_once(':').is_some_and(|(number, letters)| {
        (8..=10).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && letters.len() == 35
            && letters.bytes().all(is_letter)
    })
}

/// Whether an address has a password or a key in it. `is_key` tells which users' names of the web are keys.
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
    /// Every Java has this one.
    const OPEN: &str = "changeit";
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
        value.len() >= shortest && !is_variable && !value.starts_with("//") && value != OPEN && !is_harmless(value)
    })
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
