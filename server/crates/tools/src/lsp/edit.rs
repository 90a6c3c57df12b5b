//! Changes that language servers propose, as drafts: they are reviewed and undone as any other edit.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use lang::edited as apply;
use ports::edit::TextHash;
use ports::tool::{Call, Output, ToolError};
use project::buffers::Open;
use project::paths;
use project::reader::ReadError;
use project::search::Scope;
use protocol::lang::LangChange;

use super::answer::Said;
use crate::draft::Draft;
use crate::{Services, blocking, counted, read_file};

/// How many files of a change are named.
const MOST: usize = 30;
/// How many files a folder may have that is moved.
const MOST_IN_FOLDER: usize = 500;

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

/// The plan for a change, with what the model reads of it after `what`, and who said it. It is refused where a text
/// that the server was asked about, or that it would change, is no longer the one that it had. Blocks.
pub(super) fn output(
    services: &Services,
    call: &Call,
    asked: Option<&Asked>,
    changes: &[LangChange],
    said: &Said,
    what: &str,
) -> Result<Output, ToolError> {
    let mut draft = Draft::new(services, call);
    let changes = &of_files(services, call, changes)?;
    let (mut edited, mut places) = (Vec::new(), 0);
    if let Some(Asked { path, hash }) = asked
        && services.reader.read(path).map(|file| file.hash).ok().as_ref() != Some(hash)
    {
        return Err(stale(services, path));
    }
    for change in changes {
        match &**change {
            LangChange::Text { uri, version, hash, edits } => {
                let path = file(uri)?;
                let (path, text, read) = draft.text(&path)?;
                // The server knows the text that steps before this one have made of it.
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
    // Writing into a string cannot fail.
    let _ = write!(text, "\n{}", said.words());
    let summary = counted(edited.len(), "file");
    Ok(Output { summary, ..draft.output(text)? })
}

/// True if all texts would stay as they are: some servers give the whole text again, whatever it is. Blocks.
pub(super) fn changes_nothing(services: &Services, call: &Call, changes: &[LangChange]) -> Result<bool, ToolError> {
    let mut draft = Draft::new(services, call);
    for change in changes {
        let LangChange::Text { uri, edits, .. } = change else { return Ok(false) };
        let (_, text, _) = draft.text(&file(uri)?)?;
        if apply(&text, edits).is_none_or(|new| new != *text) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The same changes, with those of folders as changes of the files in them: what is proposed is files.
fn of_files<'c>(
    services: &Services,
    call: &Call,
    changes: &'c [LangChange],
) -> Result<Vec<Cow<'c, LangChange>>, ToolError> {
    let mut all = Vec::with_capacity(changes.len());
    for change in changes {
        match change {
            LangChange::Rename { from, to } => match files_in(services, call, from, "move")? {
                Some(files) => {
                    let to = PathBuf::from(file(to)?);
                    let moved = |(file, rest): (PathBuf, PathBuf)| LangChange::Rename {
                        from: paths::to_uri(&file),
                        to: paths::to_uri(&to.join(rest)),
                    };
                    all.extend(files.into_iter().map(moved).map(Cow::Owned));
                }
                None => all.push(Cow::Borrowed(change)),
            },
            LangChange::Delete { uri } if files_in(services, call, uri, "delete")?.is_some() => {
                return Err(unproposed(services, uri, "delete", "all in it would be lost"));
            }
            _ => all.push(Cow::Borrowed(change)),
        }
    }
    Ok(all)
}

/// The files of a folder, and their paths in it; none if it is no folder. A folder that cannot be taken apart whole
/// is refused: a part of it would be left behind.
fn files_in(
    services: &Services,
    call: &Call,
    uri: &str,
    verb: &str,
) -> Result<Option<Vec<(PathBuf, PathBuf)>>, ToolError> {
    let folder = services.roots.resolve(&file(uri)?)?;
    if !folder.is_dir() {
        return Ok(None);
    }
    let refused = |why: &str| Err(unproposed(services, uri, verb, why));
    if services.roots.iter().any(|root| root.path.starts_with(&folder)) {
        return refused("a folder of the workspace is in it");
    }
    let mut all = BTreeSet::new();
    let mut folders = vec![folder.clone()];
    while let Some(next) = folders.pop() {
        if call.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        let Ok(entries) = std::fs::read_dir(&next) else { return refused("a part of it cannot be read") };
        for entry in entries {
            let Ok((entry, kind)) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind))) else {
                return refused("a part of it cannot be read");
            };
            let path = entry.path();
            if kind.is_dir() {
                folders.push(path);
            } else if !kind.is_file() {
                return refused("it has links or the like in it");
            } else if !services.search.shows(&path) {
                return refused("it has files in it that the user's rules keep from you");
            } else {
                all.insert(path);
            }
            if all.len() + folders.len() > MOST_IN_FOLDER {
                return refused(&format!("it has more than {MOST_IN_FOLDER} files in it"));
            }
        }
    }
    // A file that only waits for the user is there too, and one that is to be deleted is not.
    let scope = Scope { path: Some(folder.clone()), glob: None };
    all.extend(services.search.files(&scope, &call.cancel)?.paths);
    all.retain(|path| !matches!(services.reader.read(path), Err(ReadError::Deleted { .. })));
    let within = |path: PathBuf| path.strip_prefix(&folder).map(Path::to_owned).ok().map(|rest| (path, rest));
    Ok(Some(all.into_iter().filter_map(within).collect()))
}

fn unproposed(services: &Services, uri: &str, verb: &str, why: &str) -> ToolError {
    let name = paths::from_uri(uri).map_or_else(|_| uri.to_owned(), |path| services.roots.display(&path));
    let words = format!("the language server would {verb} the folder {name}, which cannot be proposed, since {why}");
    ToolError::Failed(format!("{words}; nothing was changed"))
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use async_trait::async_trait;
    use lang::{Lang, Source};
    use project::buffers::{Buffers, Change};
    use project::text::PositionEncoding;
    use protocol::lang::{LangAnswer, LangQuery, LangResult, LangServer, LangStatus, LangTextEdit};
    use protocol::{Position, Range};
    use serde_json::json;

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
            let servers = vec![LangServer { name: "rustfmt".to_owned(), version: None }];
            LangResult { answer, servers, ..LangResult::without_answer(LangStatus::Ready, None) }
        }
    }

    /// Returns the outcome of a rename of `area` in `a.rs`, by a server that would change both files of which it has
    /// the text, while the user types in one. Both are open, in their version 1.
    async fn renamed(typed_in: Option<&str>, version: Option<i32>, b_is: &str) -> Result<Vec<String>, String> {
        let world = World::new(&[("a.rs", ""), ("b.rs", "")]);
        world.open("a.rs", "fn area() {}\n");
        world.open("b.rs", "area();\n");
        let uri = |name: &str| paths::to_uri(&world.path(name));
        let text = |name: &str, text: &str, edit: LangTextEdit| {
            let hash = Some(project::text::hash(text).0);
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
        assert!(output.text.starts_with("Renamed `area` of a.rs:1 to `size`: 2 places in 2 files."), "{}", output.text);
        assert!(output.text.ends_with("\n[rustfmt: ready]"), "{}", output.text);
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

    /// Returns the outcome of a rename of `shapes`, by a server that moves its folder too.
    async fn folder_moved(
        files: &[(&str, &str)],
        changes: impl Fn(&World) -> Vec<LangChange>,
    ) -> Result<Output, String> {
        let world = World::new(files);
        let source = Meanwhile { changes: changes(&world), buffers: world.buffers.clone(), typed_in: None };
        let services = world.services_showing(|path| !path.ends_with("hidden.rs"));
        let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..services };
        let input = json!({ "path": "lib.rs", "line": 1, "text": "shapes", "new_name": "forms" });
        call(&services, "lsp_rename", input).await.map_err(|error| error.to_string())
    }

    fn renames_module(world: &World) -> Vec<LangChange> {
        let uri = |name: &str| paths::to_uri(&world.path(name));
        let edits = vec![edit((0, 4), (0, 10), "forms")];
        vec![
            LangChange::Text { uri: uri("lib.rs"), version: None, hash: None, edits },
            LangChange::Rename { from: uri("shapes"), to: uri("forms") },
        ]
    }

    #[tokio::test]
    async fn a_folder_moves_with_all_files_in_it() {
        let files = [("lib.rs", "mod shapes;\n"), ("shapes/mod.rs", "mod a;\n"), ("shapes/in/a.rs", "fn a() {}\n")];
        let output = folder_moved(&files, renames_module).await.unwrap();
        assert!(output.text.contains("shapes/in/a.rs (moved to forms/in/a.rs)"), "{}", output.text);
        let plan = output.plan.unwrap();
        let mut made: Vec<_> =
            plan.files.iter().filter_map(|file| Some((&file.path, file.new_text.as_ref()?))).collect();
        made.sort();
        let made: Vec<_> =
            made.into_iter().map(|(path, text)| (path.file_name().unwrap().to_str().unwrap(), &**text)).collect();
        assert_eq!(made, [("a.rs", "fn a() {}\n"), ("mod.rs", "mod a;\n"), ("lib.rs", "mod forms;\n")]);
        assert_eq!(plan.files.iter().filter(|file| file.moved_to.is_some()).count(), 2);
    }

    #[tokio::test]
    async fn a_folder_that_cannot_move_whole_stays() {
        let files = [("lib.rs", "mod shapes;\n"), ("shapes/mod.rs", ""), ("shapes/hidden.rs", "secret\n")];
        let refused = folder_moved(&files, renames_module).await.unwrap_err();
        let wanted = "the language server would move the folder shapes, which cannot be proposed, since it has files in it \
                      that the user's rules keep from you; nothing was changed";
        assert_eq!(refused, wanted);
        let delete = |world: &World| vec![LangChange::Delete { uri: paths::to_uri(&world.path("shapes")) }];
        let refused = folder_moved(&files, delete).await.unwrap_err();
        assert!(refused.starts_with("the language server would delete the folder shapes, which"), "{refused}");
    }

    fn edit(start: (u32, u32), end: (u32, u32), new_text: &str) -> LangTextEdit {
        let position = |(line, character)| Position { line, character };
        LangTextEdit { range: Range { start: position(start), end: position(end) }, new_text: new_text.to_owned() }
    }

    #[tokio::test]
    async fn a_file_that_a_server_gives_back_as_it_is_is_formatted_already() {
        let format = async |new_text: &str| {
            let world = World::new(&[("a.rs", "fn area() {}\n")]);
            let edits = vec![edit((0, 0), (1, 0), new_text)];
            let changes =
                vec![LangChange::Text { uri: paths::to_uri(&world.path("a.rs")), version: None, hash: None, edits }];
            let source = Meanwhile { changes, buffers: world.buffers.clone(), typed_in: None };
            let services = Services { lang: Lang::new(vec![Arc::new(source)]), ..world.services() };
            call(&services, "lsp_format", json!({ "path": "a.rs" })).await.unwrap().text
        };
        assert_eq!(format("fn area() {}\n").await, "It is formatted already.\n[rustfmt: ready]");
        assert_eq!(format("fn area();\n").await, "Formatted: 1 place in 1 file.\na.rs (1 place)\n[rustfmt: ready]");
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
