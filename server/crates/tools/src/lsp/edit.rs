//! Changes that language servers propose, as drafts: they are reviewed and undone as any other edit (design D4).

use std::fmt::Write;
use std::path::PathBuf;

use agent::tool::{Call, Output, ToolError};
use protocol::lang::{LangChange, LangTextEdit};
use workspace::paths;
use workspace::text::{LineIndex, PositionEncoding};

use crate::draft::Draft;
use crate::{Services, counted};

/// How many files of a change are named.
const MOST: usize = 30;

/// The plan for a change, with what the model reads of it after `what`. Blocks.
pub(super) fn output(
    services: &Services,
    call: &Call,
    changes: &[LangChange],
    what: &str,
) -> Result<Output, ToolError> {
    let mut draft = Draft::new(services, call);
    let (mut edited, mut places) = (Vec::new(), 0);
    for change in changes {
        match change {
            LangChange::Text { uri, edits, .. } => {
                let path = file(uri)?;
                let (path, text, _) = draft.text(&path)?;
                let name = services.roots.display(&path);
                let new = apply(&text, edits).ok_or_else(|| {
                    ToolError::Failed(format!("{name} is not as the language server has it; ask again"))
                })?;
                draft.set(&path, new);
                places += edits.len();
                edited.push(format!("{name} ({})", counted(edits.len(), "place")));
            }
            LangChange::Create { uri } => {
                let (path, _) = draft.create(&file(uri)?, "", false)?;
                edited.push(format!("{} (made)", services.roots.display(&path)));
            }
            LangChange::Rename { from, to } => {
                let (from, to) = draft.rename(&file(from)?, &file(to)?)?;
                edited.push(format!("{} (moved to {})", services.roots.display(&from), services.roots.display(&to)));
            }
            LangChange::Delete { uri } => {
                let path = draft.delete(&file(uri)?)?;
                edited.push(format!("{} (deleted)", services.roots.display(&path)));
            }
        }
    }
    let mut text = format!("{what}: {} in {}.", counted(places, "place"), counted(edited.len(), "file"));
    for name in edited.iter().take(MOST) {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n{name}");
    }
    if edited.len() > MOST {
        let _ = write!(text, "\n[and {} more]", counted(edited.len() - MOST, "file"));
    }
    let summary = counted(edited.len(), "file");
    Ok(Output { summary, ..draft.output(text)? })
}

/// The path of a file that a server names, as the model would name it.
fn file(uri: &str) -> Result<String, ToolError> {
    let path: PathBuf = paths::from_uri(uri)
        .map_err(|_| ToolError::Failed(format!("the language server would change {uri}, which is no file")))?;
    path.into_os_string()
        .into_string()
        .map_err(|path| ToolError::Failed(format!("{} has no name in Unicode", path.display())))
}

/// A text with edits made in it; none where they do not fit it, or one another. Positions are in UTF-16.
fn apply(text: &str, edits: &[LangTextEdit]) -> Option<String> {
    let index = LineIndex::new(text);
    let offset = |position| index.offset(text, position, PositionEncoding::Utf16);
    // Insertions at one place stay in their order, so the sort is stable.
    let mut parts: Vec<_> = edits
        .iter()
        .map(|edit| Some((offset(edit.range.start)?, offset(edit.range.end)?, edit.new_text.as_str())))
        .collect::<Option<_>>()?;
    parts.sort_by_key(|(start, end, _)| (*start, *end));
    let (mut new, mut at) = (String::with_capacity(text.len()), 0);
    for (start, end, replacement) in parts {
        new.push_str(text.get(at..start)?);
        // The files' own line ends are put back when the edit is made.
        new.push_str(&replacement.replace("\r\n", "\n"));
        at = end.max(start);
    }
    new.push_str(text.get(at..)?);
    Some(new)
}

#[cfg(test)]
mod tests {
    use protocol::{Position, Range};

    use super::*;

    fn edit(start: (u32, u32), end: (u32, u32), new_text: &str) -> LangTextEdit {
        let position = |(line, character)| Position { line, character };
        LangTextEdit { range: Range { start: position(start), end: position(end) }, new_text: new_text.to_owned() }
    }

    #[test]
    fn edits_are_made_in_the_order_of_the_text_whatever_order_they_come_in() {
        let text = "let a = \"ä𝄞\"; a\nb\n";
        let edits = [
            edit((0, 15), (0, 16), "c"),
            edit((0, 4), (0, 5), "c"),
            edit((1, 0), (1, 0), "x\r\n"),
            edit((1, 0), (1, 0), "y\n"),
        ];
        assert_eq!(apply(text, &edits).unwrap(), "let c = \"ä𝄞\"; c\nx\ny\nb\n");
    }

    #[test]
    fn edits_that_overlap_or_lie_elsewhere_are_refused() {
        assert_eq!(apply("abcdef\n", &[edit((0, 0), (0, 3), "x"), edit((0, 2), (0, 4), "y")]), None);
        assert_eq!(apply("abc\n", &[edit((7, 0), (7, 1), "x")]), None);
    }
}
