//! The variables whose values no model sees. What is hidden by mistake in every text is worse than what a program does
//! not get, so a name that only may be a secret's needs a value that looks like one.

use std::sync::PoisonError;

use super::{KEYS, NEVER, Named, holds_secret, is_harmless, named};

/// A value under a name that only may be a secret's is hidden from this length on, in bytes.
const SHORTEST_RANDOM: usize = 16;
/// The fewest digits in such a value.
const FEWEST_DIGITS: usize = 3;

/// True if the value of a variable is none for a model to see: a key of the configuration, or a secret as its name or
/// known beginnings of the value tell. A switch, a short number or a path is none, whatever its name, and neither is a
/// word that only looks random.
pub fn is_for_no_model(name: &str, value: &str) -> bool {
    if is_harmless(value) {
        return false;
    }
    let is_key = || KEYS.read().unwrap_or_else(PoisonError::into_inner).contains(name);
    is_key() || (!NEVER.contains(&name) && (is_secret_by_name(name, value) || holds_secret(value)))
}

/// True unless the value of a variable is no secret, whoever says so: a switch, a short number or a path, or one of the
/// variables that every program has.
pub fn may_be_one(name: &str, value: &str) -> bool {
    !NEVER.contains(&name) && !is_path(value) && !is_harmless(value)
}

/// The password in an address such as `postgres://ada:password@db.example`; none if there is none.
pub fn password_in(value: &str) -> Option<&str> {
    let authority = value.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let password = authority.rsplit_once('@')?.0.split_once(':')?.1;
    (!password.is_empty() && !password.starts_with("${")).then_some(password)
}

fn is_secret_by_name(name: &str, value: &str) -> bool {
    match named(name) {
        Named::Secret => !is_path(value),
        Named::Perhaps if is_surely_named(name) => !is_path(value),
        Named::Perhaps => is_random_enough(value),
        Named::Not => false,
    }
}

/// True if the end of a name that may be a secret's leaves no doubt: `…_API_KEY`, `…_PWD`.
fn is_surely_named(name: &str) -> bool {
    const KINDS_OF_KEYS: &[&str] = &["API", "ACCESS", "AUTH", "ENCRYPTION", "MASTER", "PRIVATE", "SECRET"];
    let name = name.to_ascii_uppercase();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = name.rsplit('_').skip_while(is_number);
    match parts.next() {
        Some("KEY" | "KEYS") => parts.next().is_some_and(|kind| KINDS_OF_KEYS.contains(&kind)),
        last => matches!(last, Some("JWT" | "PAT" | "PW" | "PWD")),
    }
}

/// True if a value is one that hardly anybody would choose: a long one, and not words and numbers joined by separators,
/// as regions, algorithms, dates and names of resources are.
fn is_random_enough(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    value.len() >= SHORTEST_RANDOM
        && digits >= FEWEST_DIGITS
        && value.contains(char::is_alphabetic)
        && !value.split(|one: char| !one.is_alphanumeric()).all(is_plain_word)
}

/// True if a value is a path, from wherever on: its parts are words.
fn is_path(value: &str) -> bool {
    let is_begun = ["./", "../", "~/"].iter().any(|begin| value.starts_with(begin));
    let is_name = |part: &str| part.split(['-', '_', '.']).all(is_plain_word);
    value.contains('/') && !value.contains("://") && (is_begun || value.split('/').all(is_name))
}

/// True if a text is a word, a number, or a word with a short number behind it, such as `sha256`.
fn is_plain_word(text: &str) -> bool {
    const LONGEST_NUMBER: usize = 4;
    let number = text.trim_start_matches(char::is_alphabetic);
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (number.len() == text.len() || number.len() <= LONGEST_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_may_be_a_secrets_needs_a_value_that_looks_like_one() {
        for (name, value) in [
            ("AWS_SECRETS_MANAGER_REGION", "eu-central-1"),
            ("PASSWORD_HASH_ALGO", "pbkdf2_sha256"),
            ("TOKEN_ENCODING", "cl100k_base"),
            ("DEPLOY_KEY", "id_ed25519"),
            ("SECRETS_BACKEND", "projects/shop-2024-prod-123/secrets"),
            ("SECRETS_BACKEND", "https://vault.example:8200/v1"),
            ("PASSWORD_POLICY", "minimum12characters"),
            ("SERVICE_TOKEN", "config/service-token.json"),
            ("SERVICE_TOKEN", "/run2/secrets/token1"),
            ("APP_API_KEY", "../keys/app2.pem"),
        ] {
            assert!(!is_for_no_model(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("SECRETS_SALT", "9f8e7d6c5b4a39281706"),
            ("DEPLOY_KEY", "aB3dE5gH7jK9mN1pQ3sT"),
            ("TOKEN_SOURCE", concat!("ghp", "_0123456789abcdefghijklmn")),
            ("SERVICE_API_KEY", "hunter2hunter2"),
            ("SERVICE_TOKEN_2", "svc_9f8e7d6c"),
            ("DB_PASSWORD", "correct-horse-1"),
            ("MYSQL_PWD", "hunter2hunter2"),
            ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ] {
            assert!(is_for_no_model(name, value), "{name}={value}");
        }
    }

    #[test]
    fn what_every_program_has_is_nobodys_secret() {
        for (name, value) in [("PWD", "anything1"), ("X", "/srv2/shop"), ("X", "src/shop2"), ("X", "true")] {
            assert!(!may_be_one(name, value), "{name}={value}");
        }
        assert!(may_be_one("PLAIN", "hunter2hunter2"));
    }
}
