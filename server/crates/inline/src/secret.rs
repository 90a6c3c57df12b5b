//! Keys and passwords in texts: they are not sent to a model that suggests, and not taken from one.

use std::borrow::Cow;
use std::ops::Range;

/// The beginnings of known services' tokens, and how many characters follow at least.
const TOKENS: &[(&str, usize)] = &[
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ATATT3", 20),
    ("EAA", 40),
    ("GOCSPX-", 16),
    ("NRAK-", 16),
    ("SG.", 20),
    ("dckr_pat_", 16),
    ("dop_v1_", 20),
    ("eyJ", 40),
    ("figd_", 16),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gsk_", 20),
    ("hf_", 20),
    ("hvs.", 16),
    ("lin_api_", 16),
    ("npm_", 30),
    ("nvapi-", 20),
    ("pplx-", 20),
    ("pypi-", 30),
    ("r8_", 20),
    ("rk_live_", 10),
    ("sbp_", 20),
    ("shpat_", 16),
    ("sk-", 20),
    ("sk_live_", 10),
    ("tskey-", 10),
    ("whsec_", 16),
    ("xai-", 20),
    ("xapp-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("ya29.", 20),
];
/// The words in names of what holds a secret, in lower case.
const NAMES: &[&str] = &["key", "token", "secret", "passw", "pwd", "credential", "_auth"];
/// Those among them whose values are secrets even if they look like words.
const STRONG: &[&str] = &["password", "passwd", "pwd", "secret", "passphrase"];
/// The shortest value that is left out: of any name, and in quotes of a strong one. Shorter ones are words and samples.
const SHORTEST_VALUE: usize = 12;
const SHORTEST_QUOTED: usize = 6;
/// The text in place of a secret.
const LEFT_OUT: &str = "…";
/// The bytes on each side of a range in which secrets are looked for that reach into it: a long key has 4 KiB.
const REACH: usize = 8 << 10;

/// A text without its secrets: tokens of known services, private keys, passwords in addresses, and the values of names
/// such as `api_key`.
pub fn without(text: &str) -> Cow<'_, str> {
    let found = places(text);
    if found.is_empty() { text.into() } else { cut(text, 0..text.len(), &found).into() }
}

/// The places of the secrets that are in a range of a text, or reach into it.
pub fn near(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let start = text.floor_char_boundary(range.start.saturating_sub(REACH));
    let end = text.ceil_char_boundary(range.end.saturating_add(REACH).min(text.len()));
    let window = text.get(start..end).unwrap_or_default();
    places(window).into_iter().map(|found| start + found.start..start + found.end).collect()
}

/// A range of a text without the secrets at these places.
pub fn cut(text: &str, range: Range<usize>, places: &[Range<usize>]) -> String {
    let (mut kept, mut done) = (String::with_capacity(range.len()), range.start);
    for place in places.iter().filter(|place| place.start < range.end && place.end > range.start) {
        kept.push_str(text.get(done..place.start.max(done)).unwrap_or_default());
        kept.push_str(LEFT_OUT);
        done = place.end.min(range.end);
    }
    kept.push_str(text.get(done..range.end).unwrap_or_default());
    kept
}

/// True if a text that is to come behind `typed` contains a secret, or ends one that is begun there.
pub fn is_in(typed: &str, text: &str) -> bool {
    const MOST_TYPED: usize = 200;
    let typed = typed.get(typed.ceil_char_boundary(typed.len().saturating_sub(MOST_TYPED))..).unwrap_or_default();
    let whole = format!("{typed}{text}");
    places(&whole).into_iter().any(|place| place.end > typed.len())
}

/// The places of secrets in a text, in order and apart from each other.
fn places(text: &str) -> Vec<Range<usize>> {
    let mut all = tokens(text);
    all.extend(private_keys(text));
    all.extend(addresses(text));
    all.extend(values(text));
    all.sort_by_key(|range| (range.start, range.end));
    let mut found: Vec<Range<usize>> = Vec::with_capacity(all.len());
    for range in all {
        match found.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => found.push(range),
        }
    }
    found
}

/// Tokens of known services.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let token = |at: usize, least: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let is_begun = before.is_none_or(|before| !is_part(before) || before == '=');
        let token = run(text, at);
        (is_begun && token.len() >= least && is_random(token)).then(|| at..at + token.len())
    };
    let known = TOKENS
        .iter()
        .flat_map(|(begin, least)| text.match_indices(begin).map(move |(at, _)| (at, begin.len() + least)))
        .filter_map(|(at, least)| token(at, least));
    let headers = ["Bearer ", "Basic "].into_iter().flat_map(|scheme| {
        text.match_indices(scheme).filter_map(move |(at, _)| token(at + scheme.len(), SHORTEST_VALUE))
    });
    known.chain(headers).collect()
}

/// The insides of private keys. One whose end is not there goes to the end of the text; one whose beginning is not
/// there begins where the lines of a key do.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, begin) in text.match_indices("-----BEGIN ") {
        let name = at + begin.len();
        let Some(close) = text.get(name..).and_then(|rest| rest.find("-----")) else { continue };
        let (inside, name) = (name + close + 5, text.get(name..name + close).unwrap_or_default());
        if name.contains("PRIVATE KEY") && !name.contains('\n') {
            let end = text.get(inside..).and_then(|rest| rest.find("-----END"));
            found.push(inside..end.map_or(text.len(), |end| inside + end));
        }
    }
    for (at, end) in text.match_indices("-----END ") {
        let name = text.get(at + end.len()..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        if name.contains("PRIVATE KEY") && !found.iter().any(|range| range.end == at) {
            let before = text.get(..at).unwrap_or_default();
            let start = before.trim_end_matches(|c: char| is_part(c) || c.is_whitespace() || c == '\\').len();
            found.push(start..at);
        }
    }
    found
}

/// Passwords in addresses, as in `postgres://ada:…@host`.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let password = |at: usize| {
        let rest = text.get(at..)?;
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>/".contains(c)).unwrap_or(rest.len());
        let user = rest.get(..end)?.rfind('@').and_then(|end| rest.get(..end))?;
        let colon = user.find(':')?;
        (colon + 1 < user.len()).then(|| at + colon + 1..at + user.len())
    };
    text.match_indices("://").filter_map(|(at, sign)| password(at + sign.len())).collect()
}

/// The values of names that say that they are secret, as in `API_KEY=…`, `"password": "…"` and `<secret>…</secret>`.
fn values(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start, mut is_named_above) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let lower = line.to_ascii_lowercase();
        let is_value = is_named_above && lower.trim_start().starts_with("value");
        let names = NAMES.iter().flat_map(|name| lower.match_indices(name).map(|(at, name)| (at, at + name.len())));
        let mut is_named = false;
        for (at, end) in names.chain(is_value.then_some((0, lower.len() - lower.trim_start().len() + 5))) {
            is_named = true;
            let word = at..end + lower.get(end..).map_or(0, |rest| rest.len() - rest.trim_start_matches(is_name).len());
            let is_strong =
                is_value || STRONG.iter().any(|strong| lower.get(..word.end).is_some_and(|it| it.ends_with(strong)));
            if let Some(value) = value(line, word, is_strong) {
                found.push(start + value.start..start + value.end);
            }
        }
        // As in a list of variables, each with a name and a value.
        is_named_above = is_named && lower.trim_start().trim_start_matches("- ").starts_with("name");
        start += line.len();
    }
    found
}

/// The place of the value that a name in a line has.
fn value(line: &str, name: Range<usize>, is_strong: bool) -> Option<Range<usize>> {
    let rest = line.get(name.end..)?;
    let sign = rest.find(['=', ':', '(', '>'])?;
    // Only what belongs to a name may stand before the sign: a quote, a bracket, a type.
    if rest.get(..sign)?.contains(['{', ';', ',']) {
        return None;
    }
    let behind = name.end + sign + 1;
    let rest = line.get(behind..)?;
    let quote = rest.find(['"', '\'', '`']).filter(|at| !rest.get(..*at).unwrap_or_default().contains([';', ',', '{']));
    if let Some(at) = quote {
        let mark = rest.get(at..)?.chars().next()?;
        let inside = rest.get(at + 1..)?;
        let value = inside.get(..inside.find(mark).unwrap_or(inside.trim_end().len()))?;
        let is_secret = !value.contains(char::is_whitespace)
            && (is_strong && value.len() >= SHORTEST_QUOTED || value.len() >= SHORTEST_VALUE && is_random(value));
        return is_secret.then(|| behind + at + 1..behind + at + 1 + value.len());
    }
    let skipped = rest.len() - rest.trim_start_matches([' ', '=', ':', '>']).len();
    let value = rest.get(skipped..)?;
    let value = value.get(..value.find(|c: char| c.is_whitespace() || ";,<#)(".contains(c)).unwrap_or(value.len()))?;
    let is_variable = skipped == 0 && line.get(name.clone())?.chars().all(|c| !c.is_lowercase());
    let is_element = line.get(behind - 1..behind) == Some(">") && line.get(behind + value.len()..)?.starts_with("</");
    let is_secret = is_strong && value.len() >= SHORTEST_QUOTED && (is_variable || is_element)
        || value.len() >= SHORTEST_VALUE && is_random(value) && value.chars().all(is_part);
    let at = behind + skipped;
    is_secret.then(|| at..at + value.len())
}

/// The characters from a place on that a key may have.
fn run(text: &str, at: usize) -> &str {
    text.get(at..).and_then(|rest| rest.split(|c| !is_part(c)).next()).unwrap_or_default()
}

/// True if there are digits among letters, as in no name that is made of words.
fn is_random(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 2 && text.contains(|c: char| c.is_ascii_alphabetic())
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.+/=".contains(c)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In two parts, so that nobody takes it for one that was left here by mistake.
    fn token() -> String {
        ["ghp_", "0123456789abcdefghij0123"].concat()
    }

    fn private_key(line_end: &str) -> String {
        let lines = ["-----BEGIN RSA ", "PRIVATE KEY-----"].concat();
        [&lines, "MIIEpAIBAAKCAQEA0123456789", "abcdefghijklmnop", "-----END RSA PRIVATE KEY-----"].join(line_end)
    }

    #[test]
    fn a_text_is_sent_without_its_secrets() {
        for (text, sent) in [
            (format!("let token = \"{}\";", token()), "let token = \"…\";"),
            ("API_KEY=0a1b2c3d4e5f60718293\nNAME=x\n".to_owned(), "API_KEY=…\nNAME=x\n"),
            ("\"password\": \"hunter2hunter2\",".to_owned(), "\"password\": \"…\","),
            ("const API_KEY: &str = \"0a1b2c3d4e5f60718293\";".to_owned(), "const API_KEY: &str = \"…\";"),
            ("apiKey: string = '0a1b2c3d4e5f60718293'".to_owned(), "apiKey: string = '…'"),
            ("os.environ[\"API_KEY\"] = \"0a1b2c3d4e5f6071\"".to_owned(), "os.environ[\"API_KEY\"] = \"…\""),
            ("'password' => 'Abc123def',".to_owned(), "'password' => '…',"),
            ("client.api_key(\"0a1b2c3d4e5f60718293\")".to_owned(), "client.api_key(\"…\")"),
            ("DB=postgres://app:hunter2Pass99@db/x".to_owned(), "DB=postgres://app:…@db/x"),
            ("Authorization: Bearer 0a1b2c3d4e5f60718293".to_owned(), "Authorization: Bearer …"),
            ("DB_PASSWORD=\"Xk9$mQ2!vLp8#wRt4\"".to_owned(), "DB_PASSWORD=\"…\""),
            ("DB_PASSWORD=correct-horse-battery-staple".to_owned(), "DB_PASSWORD=…"),
            ("- name: DB_PASSWORD\n  value: \"Xk9mQ2vL\"\n".to_owned(), "- name: DB_PASSWORD\n  value: \"…\"\n"),
            ("<password>hunter22</password>".to_owned(), "<password>…</password>"),
            ("//registry/:_authToken=0a1b2c3d4e5f6071".to_owned(), "//registry/:_authToken=…"),
        ] {
            assert_eq!(without(&text), sent);
        }
    }

    #[test]
    fn a_text_without_secrets_is_sent_as_it_is() {
        for text in [
            "let key = map.keys().next();",
            "fn token(&self) -> &str { self.tokens[0] }",
            "let secret_name = \"the name of it\";",
            "const HASH: &str = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\";",
            "password: \"Enter your password\"",
            "self.password = request.password",
            "for (key, value) in map { total += value; }",
            "let url = format!(\"http://{host}:{port}/users/@me\");",
            "größe: 12",
        ] {
            assert_eq!(without(text), text);
        }
    }

    #[test]
    fn nothing_of_a_private_key_is_sent_wherever_the_text_is_cut() {
        for line_end in ["\n", "\\n"] {
            let text = format!("let key = 1;\n{}\nlet end = 2;\n", private_key(line_end));
            for start in 0..text.len() {
                for end in [start, text.len() / 2, text.len()].into_iter().filter(|end| *end >= start) {
                    let sent = cut(&text, start..end, &near(&text, start..end));
                    assert!(!sent.contains("AQEA") && !sent.contains("efgh"), "{start}..{end}: {sent}");
                }
            }
            assert!(without(&text).ends_with("let end = 2;\n"));
        }
        let without_beginning = private_key("\n").split_off(45);
        assert!(!without(&format!("x\n{without_beginning}")).contains("efgh"));
    }

    #[test]
    fn a_suggestion_that_ends_a_key_which_is_begun_is_one() {
        let key = token();
        assert!(is_in("TOKEN=", &key));
        assert!(is_in(&format!("TOKEN={}", &key[..8]), &key[8..]));
        assert!(is_in("API_KEY=", "0a1b2c3d4e5f60718293"));
        assert!(!is_in(&format!("TOKEN={key}"), "\nNAME=x"), "it was there before");
        assert!(!is_in("let n = ", "numbers.len();"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken(text in "[a-z=:\"' €\n@/<>({\\-]{0,120}(key|password|://|-----BEGIN )?.{0,60}", typed in ".{0,40}") {
            let found = places(&text);
            proptest::prop_assert!(found.iter().all(|place| text.get(place.clone()).is_some()));
            let _ = (without(&text), is_in(&typed, &text), near(&text, 3..20));
        }
    }
}
