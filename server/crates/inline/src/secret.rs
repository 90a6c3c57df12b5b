//! Keys and passwords in texts: they are not sent to a model that suggests, and not taken from one.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};

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
/// The words before a token in a header.
const SCHEMES: [&str; 2] = ["Bearer ", "Basic "];
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

/// All of them are looked for at once: these run for each key that is typed, over many lines. None if they cannot be
/// made, which a test excludes.
static BEGINNINGS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(TOKENS.iter().map(|(begin, _)| *begin).chain(SCHEMES)).ok());
static NAMES_OF_SECRETS: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasickBuilder::new().ascii_case_insensitive(true).build(NAMES).ok());

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

/// True if a range of whole lines contains a part of a secret, by the lines above it and the key that it may be in. It
/// costs little enough to be asked for each key that is typed, as [`near`] does not.
pub fn touches(text: &str, range: Range<usize>) -> bool {
    const LINES_ABOVE: usize = 3;
    let before = text.get(..range.start).unwrap_or_default();
    let reach = before.get(before.floor_char_boundary(before.len().saturating_sub(REACH))..).unwrap_or_default();
    let first = reach.rmatch_indices('\n').nth(LINES_ABOVE).map_or(0, |(at, _)| at + 1);
    // A key begins far above its lines.
    let key = reach.rfind("-----BEGIN ").filter(|at| !reach.get(*at..).unwrap_or_default().contains("-----END "));
    let start = before.len() - reach.len() + key.map_or(first, |key| key.min(first));
    let found = places(text.get(start..range.end).unwrap_or_default());
    found.iter().any(|secret| start + secret.start < range.end && start + secret.end > range.start)
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
        // First, since in a long line of such characters nothing begins.
        if before.is_some_and(|before| is_part(before) && before != '=') {
            return None;
        }
        let token = run(text, at);
        (token.len() >= least && is_random(token)).then(|| at..at + token.len())
    };
    let found = BEGINNINGS.iter().flat_map(|all| all.find_overlapping_iter(text)).filter_map(|found| {
        match TOKENS.get(found.pattern().as_usize()) {
            Some((begin, least)) => token(found.start(), begin.len() + least),
            None => token(found.end(), SHORTEST_VALUE),
        }
    });
    found.collect()
}

/// The insides of private keys. One whose end is not there goes as far as its characters do, and so does, backwards,
/// one whose beginning is not there.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    let is_key = |name: &str| {
        name.contains("PRIVATE KEY") && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == ' ')
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, begin) in text.match_indices("-----BEGIN ") {
        let Some(rest) = text.get(at + begin.len()..) else { continue };
        let Some(close) = rest.find("-----").filter(|close| rest.get(..*close).is_some_and(is_key)) else { continue };
        let inside = at + begin.len() + close + 5;
        let rest = text.get(inside..).unwrap_or_default();
        // A header that is only spoken of is no key.
        if rest.starts_with(['\n', '\r']) || rest.starts_with("\\n") || rest.starts_with("\\r") {
            let length = match rest.find("-----END").filter(|end| *end < REACH) {
                Some(end) => end,
                None => rest.find(|c: char| !is_of_key(c) && !":,".contains(c)).unwrap_or(rest.len()),
            };
            found.push(inside..inside + length);
        }
    }
    for (at, end) in text.match_indices("-----END ") {
        let rest = text.get(at + end.len()..).unwrap_or_default();
        let is_end = rest.find("-----").is_some_and(|close| rest.get(..close).is_some_and(is_key));
        if is_end && !found.iter().any(|range| range.end == at) {
            let before = text.get(..at).unwrap_or_default();
            let start = before.trim_end_matches(is_of_key).len();
            // Words have spaces, and keys do not.
            let lines = before.get(start..).unwrap_or_default();
            let words = lines.split(['\n', '\r', '\\']).filter(|line| line.trim().contains(' ')).count();
            if words == 0 && lines.trim().len() >= SHORTEST_VALUE {
                found.push(start..at);
            }
        }
    }
    found.retain(|range| !range.is_empty());
    found
}

/// Passwords in addresses, as in `postgres://ada:…@host`.
fn addresses(text: &str) -> Vec<Range<usize>> {
    let password = |at: usize| {
        let rest = ahead(text, at);
        let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>/".contains(c)).unwrap_or(rest.len());
        let user = rest.get(..end)?.rfind('@').and_then(|end| rest.get(..end))?;
        let colon = user.find(':')?;
        let password = user.get(colon + 1..)?;
        let is_one = !password.is_empty() && !password.contains(['{', '$', '%', '<']);
        is_one.then(|| at + colon + 1..at + user.len())
    };
    text.match_indices("://").filter_map(|(at, sign)| password(at + sign.len())).collect()
}

/// The values of names that say that they are secret, as in `API_KEY=…`, `"password": "…"` and `<secret>…</secret>`.
fn values(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start, mut is_named_above) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let has_name = NAMES_OF_SECRETS.as_ref().is_some_and(|names| names.is_match(line));
        if !has_name && !is_named_above {
            start += line.len();
            continue;
        }
        let lower = line.to_ascii_lowercase();
        let indent = lower.len() - lower.trim_start().len();
        let is_value = is_named_above && lower.trim_start().starts_with("value");
        let mut names: Vec<_> = NAMES.iter().flat_map(|name| lower.match_indices(name)).collect();
        names.sort_unstable();
        let (mut is_named, mut done) = (false, 0);
        for (at, name) in names {
            let end = at + name.len();
            if at < done || !is_whole(line, end, name) {
                continue;
            }
            is_named = true;
            done = end + line.get(end..).map_or(0, |rest| rest.len() - rest.trim_start_matches(is_name).len());
            let is_strong = STRONG.iter().any(|strong| lower.get(..done).is_some_and(|it| it.ends_with(strong)));
            found.extend(value(line, at..done, is_strong).map(|value| start + value.start..start + value.end));
        }
        if is_value {
            let value = value(line, indent..indent + 5, true);
            found.extend(value.map(|value| start + value.start..start + value.end));
        }
        // As in a list of variables, each with a name and a value.
        is_named_above = is_named && lower.trim_start().trim_start_matches("- ").starts_with("name");
        start += line.len();
    }
    found
}

/// True if a name ends here, or goes on with a word of its own: a `monkey` has no key, and a `tokenizer` no token.
fn is_whole(line: &str, end: usize, name: &str) -> bool {
    let next = line.get(end..).and_then(|rest| rest.chars().next());
    matches!(name, "passw" | "credential") || next.is_none_or(|next| !next.is_ascii_lowercase())
}

/// The place of the value that a name in a line has.
fn value(line: &str, name: Range<usize>, is_strong: bool) -> Option<Range<usize>> {
    let before = line.get(..name.start)?.trim_end_matches(is_name);
    // The name may be the value of another: `type="password"`, `kind == "password"`.
    if before.strip_suffix(['"', '\'', '`']).is_some_and(|before| before.trim_end().ends_with('=')) {
        return None;
    }
    let rest = ahead(line, name.end);
    let closed = rest.trim_start_matches([' ', '"', '\'', '`', ']']);
    let mut at = name.end + rest.len() - closed.len();
    let sign = closed.chars().next().filter(|sign| "=:(>".contains(*sign))?;
    if closed.starts_with("==") {
        return None;
    }
    at += 1;
    // A type may stand between: `: &str = "…"`.
    let of_type = |c: char| is_name(c) || " &<>'[]:|?".contains(c);
    let behind = ahead(line, at);
    if let Some(equals) =
        behind.find('=').filter(|equals| sign == ':' && behind.get(..*equals).is_some_and(|it| it.chars().all(of_type)))
    {
        at += equals + 1;
    }
    let behind = ahead(line, at);
    let skipped = behind.len() - behind.trim_start_matches([' ', '>']).len();
    at += skipped;
    let rest = ahead(line, at);
    let prefix =
        rest.find(['"', '\'', '`']).filter(|at| *at <= 1 && rest.get(..*at).is_some_and(|it| "brf".contains(it)));
    if let Some(prefix) = prefix {
        let mark = rest.get(prefix..)?.chars().next()?;
        let inside = rest.get(prefix + 1..)?;
        let value = inside.get(..inside.find(mark).unwrap_or(inside.trim_end().len()))?;
        let start = at + prefix + 1;
        return is_quoted_secret(value, is_strong && sign != '(').then(|| start..start + value.len());
    }
    let value = rest.get(..rest.find(|c: char| c.is_whitespace() || ";,<#)(".contains(c)).unwrap_or(rest.len()))?;
    let is_variable = skipped == 0 && line.get(name.clone())?.chars().all(|c| !c.is_lowercase());
    let is_element = sign == '>' && before.ends_with('<') && rest.get(value.len()..)?.starts_with("</");
    let is_secret = is_strong && value.len() >= SHORTEST_QUOTED && (is_variable && sign == '=' || is_element)
        || value.len() >= SHORTEST_VALUE && is_random(value) && value.chars().all(is_part) && sign != '(';
    is_secret.then(|| at..at + value.len())
}

/// True if a text in quotes is the value of a secret: not a label, the name of a variable or of another secret, a rule
/// or a template.
fn is_quoted_secret(value: &str, is_strong: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_variable = value.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let is_plain = !value.contains(|c: char| c.is_whitespace() || "{}|<>".contains(c));
    let is_name = NAMES.iter().any(|name| lower.contains(name));
    let has_digit = value.contains(|c: char| c.is_ascii_digit());
    is_plain
        && !is_variable
        && !is_name
        && (is_strong && has_digit && value.len() >= SHORTEST_QUOTED
            || value.len() >= SHORTEST_VALUE && is_random(value))
}

/// The characters from a place on that a key may have.
fn run(text: &str, at: usize) -> &str {
    const LONGEST: usize = 8 << 10;
    let end = text.floor_char_boundary(at.saturating_add(LONGEST));
    text.get(at..end).and_then(|rest| rest.split(|c| !is_part(c)).next()).unwrap_or_default()
}

/// The text from a place on, as far as a value may have to be looked for.
fn ahead(text: &str, at: usize) -> &str {
    const FAR: usize = 512;
    text.get(at..text.floor_char_boundary(at.saturating_add(FAR))).unwrap_or_default()
}

/// True if there are digits among letters, as in no name that is made of words.
fn is_random(text: &str) -> bool {
    text.chars().filter(char::is_ascii_digit).count() >= 2 && text.contains(|c: char| c.is_ascii_alphabetic())
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.+/=".contains(c)
}

/// True for the characters of a private key, its line ends included, which may be written as `\n`.
fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || c.is_whitespace() || "+/=\\".contains(c)
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_looked_for_can_be_looked_for() {
        assert!(BEGINNINGS.is_some() && NAMES_OF_SECRETS.is_some());
    }

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
            ("DB_PASSWORD=correct-horse-battery # don't share".to_owned(), "DB_PASSWORD=… # don't share"),
            ("API_KEY=0a1b2c3d4e5f60718293 # \"prod\"".to_owned(), "API_KEY=… # \"prod\""),
            ("api_key: 0a1b2c3d4e5f60718293  # Bob's".to_owned(), "api_key: …  # Bob's"),
            ("export API_KEY=0a1b2c3d4e5f60718293 && echo \"done\"".to_owned(), "export API_KEY=… && echo \"done\""),
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
            "let password = env::var(\"DB_PASSWORD\")?;",
            "password = os.environ[\"DB_PASSWORD2\"]",
            "let password = document.querySelector(\"#password1\");",
            "<input type=\"password\" name=\"password2\" class=\"field-12 wide\">",
            "<label for=\"password\">Password1</label>",
            "'password' => 'required|min:8',",
            "if kind == \"password\" && name == \"field12345\" {",
            "postgres://{user}:{password}@{host}",
            "let monkeys = \"12345 monkeys\"; let tokenizer = \"gpt-4-32k-0613\";",
            "text.contains(\"-----BEGIN \") && text.contains(\"PRIVATE KEY-----\") && rest(1)",
            "if data.startswith(\"-----BEGIN PRIVATE KEY-----\"): return 1",
            "let end = \"-----END PRIVATE KEY-----\";",
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

    #[test]
    fn long_lines_take_no_long_time() {
        let wall = std::time::Instant::now();
        for text in ["aB3+".repeat(1 << 17), "key=".repeat(1 << 15), "\"".repeat(1 << 18), "://a:b".repeat(1 << 14)] {
            without(&text);
        }
        // A line that cost time by its square would take minutes.
        assert!(wall.elapsed() < std::time::Duration::from_secs(20), "{:?}", wall.elapsed());
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
