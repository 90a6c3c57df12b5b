//! The faults in a configuration, in words that hold none of its values: one of them may be a key.

/// A message without what looks like a key that stands where a name belongs.
pub(super) fn without_keys(message: &str) -> String {
    providers::keys::left_out(message).into_owned()
}

/// Returns the message of a TOML file's error, with its line.
pub(super) fn toml(error: &toml::de::Error, text: &str) -> String {
    let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    let problem = without_values(error.message());
    match line {
        Some(line) => format!("line {line}: {problem}"),
        None => problem,
    }
}

/// A message of serde's without the value it is about, nor a name that could be one.
pub(super) fn without_values(message: &str) -> String {
    for kind in ["invalid type: ", "invalid value: "] {
        if let Some(rest) = message.strip_prefix(kind) {
            // The expected value is in our own words, and last.
            let (found, wanted) = rest.rsplit_once(", expected ").unwrap_or((rest, "something else"));
            let found = found.split(['"', '`']).next().unwrap_or_default().trim_end();
            return format!("{kind}{found}, expected {wanted}");
        }
    }
    for kind in ["unknown field `", "unknown variant `"] {
        if let Some((name, rest)) = message.strip_prefix(kind).and_then(|rest| rest.split_once('`')) {
            let is_plain = name.len() <= 32 && name.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
            return if is_plain && rest.starts_with(", ") { message.to_owned() } else { format!("{kind}…`") };
        }
    }
    message.lines().next().unwrap_or_default().to_owned()
}
