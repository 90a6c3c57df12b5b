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
    let start = diagnostic.range.start;
    format!("{name}:{}:{}: {severity}{code}: {message}{source}", start.line + 1, start.character + 1)
}
