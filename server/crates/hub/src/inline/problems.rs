//! The problems of a document that the editor's language servers know of. A suggestion does not wait for them: what is
//! known at once is of use.

use std::time::Duration;

use inline::secret;
use protocol::content::Position;
use protocol::lang::{EditorQueryParams, LangAnswer, LangQuery, LangResult, LangSeverity};

use crate::Editor;

/// The time that the editor has to say what it knows.
const PATIENCE: Duration = Duration::from_millis(100);
/// The longest message of a problem, in characters, and the most problems.
const LONGEST: usize = 200;
const MOST: usize = 50;

/// A problem: its position, and a sentence without anything that looks like a secret.
pub(super) type Problem = (Position, String);

/// The errors and warnings in a document, from top to bottom; none if the editor cannot say.
pub(super) async fn problems(editor: &dyn Editor, uri: &str, version: i32) -> Vec<Problem> {
    let query = LangQuery::Diagnostics { uri: Some(uri.to_owned()) };
    let timeout_ms = u32::try_from(PATIENCE.as_millis()).unwrap_or(u32::MAX);
    let asked = tokio::time::timeout(PATIENCE, editor.query(EditorQueryParams { query, timeout_ms })).await;
    let Ok(Ok(LangResult { answer: LangAnswer::Diagnostics { documents }, .. })) = asked else {
        return Vec::new();
    };
    let own = documents.into_iter().filter(|document| document.version.is_none_or(|of| of == version));
    let serious = own.flat_map(|document| document.diagnostics).filter(|it| it.severity <= LangSeverity::Warning);
    let mut problems: Vec<_> = serious.map(|it| (it.range.start, sentence(&it.message))).take(MOST).collect();
    problems.sort_by_key(|(at, _)| (at.line, at.character));
    problems
}

fn sentence(message: &str) -> String {
    let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
    secret::without(&words).chars().take(LONGEST).collect()
}
