//! The shapes of the tokens of known services, wherever they stand.

/// How tokens of known services begin, and how many characters of a token follow at least.
pub(super) const TOKENS: &[(&str, usize)] = &[
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
    // Facebook's.
    ("EAA", 40),
    ("SharedAccessSignature", 16),
    // The signature of an address of Azure's.
    ("sig=", 20),
];

/// True if a token of a known service stands somewhere.
pub(super) fn has_token(text: &str) -> bool {
    let is_at = |at: usize, begin: &str, least: usize| {
        // In the middle of a word or of a path it is none.
        let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before).copied());
        let is_begun = before.is_none_or(|byte| !is_of_word(byte) && !matches!(byte, b'/' | b'.'));
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        let is_part = |byte: &&u8| is_of_word(**byte) || matches!(byte, b'.' | b'+' | b'/' | b'=');
        let length = rest.iter().take_while(is_part).count();
        // A sum in hexadecimal is none, whatever it begins with.
        let is_sum = || rest.iter().take(length).all(u8::is_ascii_hexdigit);
        is_begun && length >= begin.len() + least && !is_sum()
    };
    TOKENS.iter().any(|(begin, least)| text.match_indices(begin).any(|(at, _)| is_at(at, begin, *least)))
        || text
            .split(|one: char| one.is_whitespace() || matches!(one, '"' | '\'' | '/' | '='))
            .any(|word| is_of_bot(word) || is_of_dropbox(word))
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// True if a word is the token of a bot of Telegram's: its number, and 35 letters.
fn is_of_bot(word: &str) -> bool {
    let word = word.strip_prefix("bot").unwrap_or(word);
    word.split_once(':').is_some_and(|(number, letters)| {
        (8..=10).contains(&number.len())
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && letters.len() == 35
            && letters.bytes().all(is_of_word)
    })
}

/// True if a word is a token of Dropbox's: unlike in the names of hosts and modules, there is no point in it.
fn is_of_dropbox(word: &str) -> bool {
    const LEAST: usize = 40;
    let Some(rest) = word.strip_prefix("sl.") else { return false };
    rest.strip_prefix("u.").unwrap_or(rest).bytes().take_while(|byte| is_of_word(*byte)).count() >= LEAST
}
