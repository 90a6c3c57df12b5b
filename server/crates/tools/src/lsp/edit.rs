//! Changes that language servers propose, as drafts: they are reviewed and undone as any other edit (design D4).

use std::fmt::Write;
use std::path::{Path, PathBuf};

use agent::edit::TextHash;
use agent::tool::{Call, Output, ToolError};
use protocol::lang::{LangChange, LangTextEdit};
use workspace::buffers::Open;
use workspace::paths;
use workspace::text::{LineIndex, PositionEncoding};

use crate::draft::Draft;
use crate::{Services, blocking, counted, read_file};

/// How many files of a change are named.
const MOST: usize = 30;

/// A text that a server is asked about, as it was before that.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) path: PathBuf,
    pub(super) hash: TextHash,
}

/// The text of a file as it is before a server is asked about it.
pub(super) async fn asked(services: &Services, call: &Call, path: PathBuf) -> Result<Asked, ToolError> {
    let (services, call) = (services.clone(), call.clone());
    blocking(move || {
        let read = services.reader.read(&path);
        let hash = read.map_err(|error| read_file::in_words(&services, &path, error, &call))?.hash;
        Ok(Asked { path, hash })
    })
    .await
}

/// The plan for a change, with what the model reads of it after `what`. It is refused where a text that the server was asked
/// about, or that it would change, is no longer the one that it had. Blocks.
pub(super) fn output(
    services: &Services,
    call: &Call,
    asked: Option<&Asked>,
    changes: &[LangChange],
    what: &str,
) -> Result<Output, ToolError> {
    let mut draft = Draft::new(services, call);
    let (mut edited, mut places) = (Vec::new(), 0);
    if let Some(Asked { path, hash }) = asked
        && services.reader.read(path).map(|file| file.hash).ok().as_ref() != Some(hash)
    {
        return Err(stale(services, path));
    }
    for change in changes {
        match change {
            LangChange::Text { uri, version, hash, edits } => {
                let path = file(uri)?;
                let (path, text, read) = draft.text(&path)?;
                // What steps before this one have made of it the server knows.
                let is_other_text = matches!((hash, &read), (Some(hash), Some(read)) if *hash != read.0);
                let is_other_version = matches!((version, services.reader.buffers().get(&path)),
                    (Some(version), Open::Yes(open)) if *version != open.version);
                if is_other_text || is_other_version {
                    return Err(stale(services, &path));
                }
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

fn stale(services: &Services, path: &Path) -> ToolError {
    let name = services.roots.display(path);
    ToolError::Failed(format!(
        "{name} changed while the language server was asked, so nothing is proposed; read it, and ask again"
    ))
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
    use std::sync::Arc;
    use std::time::Duration;

    use async_trait::async_trait;
    use protocol::lang::{LangAnswer, LangQuery, LangResult, LangStatus};
    use protocol::{Position, Range};
    use serde_json::json;
    use workspace::buffers::{Buffers, Change};
    use workspace::lang::{Lang, Source};

    use super::*;
    use crate::fixture::{World, call};

    /// Answers with a change, while the user types in a document.
    struct Meanwhile {
        changes: Vec<LangChange>,
        buffers: Arc<Buffers>,
        typed_in: Option<String>,
    }

    #[async_trait]
    impl Source for Meanwhile {
        async fn ask(&self, _: &LangQuery, _: Duration) -> LangResult {
            if let Some(uri) = &self.typed_in {
                let typed = Change { range: None, text: "typed\n".into() };
                self.buffers.change(uri, 2, &[typed], PositionEncoding::Utf16).unwrap();
            }
            let answer = LangAnswer::Edit { changes: self.changes.clone() };
            LangResult { answer, ..LangResult::without_answer(LangStatus::Ready, None) }
        }
    }

    /// What comes of a rename of `area` in `a.rs`, by a server that would change both files of which it has the text, while
    /// the user types in one. Both are open, in their version 1.
    async fn renamed(typed_in: Option<&str>, version: Option<i32>, b_is: &str) -> Result<Vec<String>, String> {
        let world = World::new(&[("a.rs", ""), ("b.rs", "")]);
        world.open("a.rs", "fn area() {}\n");
        world.open("b.rs", "area();\n");
        let uri = |name: &str| paths::to_uri(&world.path(name));
        let text = |name: &str, text: &str, edit: LangTextEdit| {
            let hash = Some(workspace::text::hash(text).0);
            LangChange::Text { uri: uri(name), version, hash, edits: vec![edit] }
        };
        let changes = vec![
            text("a.rs", "fn area() {}\n", edit((0, 3), (0, 7), "size")),
            text("b.rs", b_is, edit((0, 0), (0, 4), "size")),
        ];
        let source = Meanwhile { changes, buffers: world.buffers.clone(), typed_in: typed_in.map(uri) };
        let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..world.services() };
        let input = json!({ "path": "a.rs", "line": 1, "text": "area", "new_name": "size" });
        let output = call(&services, "lsp_rename", input).await.map_err(|error| error.to_string())?;
        Ok(output.plan.unwrap().files.into_iter().filter_map(|file| file.new_text).collect())
    }

    #[tokio::test]
    async fn nothing_is_proposed_of_a_change_that_was_made_for_another_text() {
        let wanted = vec!["fn size() {}\n".to_owned(), "size();\n".to_owned()];
        assert_eq!(renamed(None, None, "area();\n").await, Ok(wanted.clone()));
        assert_eq!(renamed(None, Some(1), "area();\n").await, Ok(wanted));
        let refused = |name: &str| {
            format!(
                "{name} changed while the language server was asked, so nothing is proposed; read it, and ask again"
            )
        };
        assert_eq!(renamed(Some("a.rs"), None, "area();\n").await, Err(refused("a.rs")));
        assert_eq!(renamed(Some("b.rs"), Some(1), "typed\n").await, Err(refused("b.rs")), "by its version");
        assert_eq!(renamed(None, None, "area() ;\n").await, Err(refused("b.rs")), "by its text");
    }

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
