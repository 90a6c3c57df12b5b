//! A problem, for people and models.

use protocol::lang::{LangDiagnostic, LangSeverity};

/// How much of a message is given, in characters.
const MAX_MESSAGE: usize = 600;

/// A problem as `path:line:column: error[code]: message (source)`.
pub fn in_words(name: &str, diagnostic: &LangDiagnostic) -> String {
    let severity = match diagnostic.severity {
        LangSeverity::Error => "error",
        LangSeverity::Warning => "warning",
        LangSeverity::Information => "information",
        LangSeverity::Hint => "hint",
    };
    let code = diagnostic.code.as_ref().map(|code| format!("[{code}]")).unwrap_or_default();
    let source = diagnostic.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    let message: String = diagnostic.message.trim().replace('\n', "\n    ").chars().take(MAX_MESSAGE).collect();
    // People count from one.
    let (line, column) =
        (diagnostic.range.start.line.saturating_add(1), diagnostic.range.start.character.saturating_add(1));
    format!("{name}:{line}:{column}: {severity}{code}: {message}{source}")
}

#[cfg(test)]
mod tests {
    use protocol::content::{Position, Range};

    use super::*;

    #[test]
    fn a_place_beyond_all_texts_is_told_as_the_last_one() {
        let at = |line, character| Position { line, character };
        let mut diagnostic = LangDiagnostic {
            range: Range { start: at(2, 0), end: at(2, 1) },
            severity: LangSeverity::Error,
            message: "no such name".to_owned(),
            source: Some("rustc".to_owned()),
            code: Some("E0425".to_owned()),
        };
        assert_eq!(in_words("a.rs", &diagnostic), "a.rs:3:1: error[E0425]: no such name (rustc)");
        diagnostic.range.start = at(u32::MAX, u32::MAX);
        assert!(in_words("a.rs", &diagnostic).starts_with("a.rs:4294967295:4294967295: error"));
    }
}
