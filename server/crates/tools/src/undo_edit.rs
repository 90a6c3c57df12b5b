//! `undo_edit`, and what it remembers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use permission::Action;
use ports::edit::{EditPlan, FilePlan, TextHash};
use ports::hooks::{Hooks, ToolPoint};
use ports::tool::{Access, Call, Description, Output, ToolError};
use project::files::FileError;
use project::reader::{ReadError, Reader};
use project::text;
use protocol::content::ToolKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::typed::Typed;
use crate::{Services, blocking, counted, location, read_file, writable};

/// So many calls that edited are remembered in a session.
const REMEMBERED: usize = 50;

/// The record of the edits that the calls of a session's editing tools wanted to make, the oldest first. Clones share
/// it. It is not kept over a restart.
#[derive(Clone, Debug, Default)]
pub struct Edits(Arc<Mutex<Vec<Planned>>>);

/// The edits that a call wanted to make.
#[derive(Clone, Debug)]
struct Planned {
    /// Grows from call to call.
    id: u64,
    steps: Vec<Step>,
    /// The call that it takes back, if it is one that does.
    takes_back: Option<u64>,
}

/// The edit that a call wanted to make in one file.
#[derive(Clone, Debug)]
struct Step {
    path: PathBuf,
    before: Option<Arc<str>>,
    after: Option<TextHash>,
}

impl Edits {
    /// A call plans this. Whether anything comes of it is seen when it is undone. Blocks.
    fn note(&self, plan: &EditPlan, reader: &Reader, takes_back: Option<u64>) {
        let step = |file: &FilePlan| {
            let before = reader.read(&file.path).ok();
            // The text has changed since it was read, so nothing will come of the plan.
            if before.as_ref().map(|before| &before.hash) != file.read.as_ref() {
                return None;
            }
            let before = before.map(|before| before.text);
            Some(Step { path: file.path.clone(), before, after: file.new_text.as_deref().map(text::hash) })
        };
        let Some(steps) = plan.files.iter().map(step).collect() else { return };
        let mut calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = calls.last().map_or(0, |last| last.id + 1);
        calls.push(Planned { id, steps, takes_back });
        let excess = calls.len().saturating_sub(REMEMBERED);
        calls.drain(..excess);
    }

    /// The last call that edited a file, of which something came and which was not taken back. None if the file is not
    /// as it left it. Nothing is forgotten by looking, since what is planned then may come to nothing too.
    fn last(&self, path: &Path, now: Option<&TextHash>) -> Option<(u64, Vec<Step>)> {
        let calls = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken_back: Option<u64> = None;
        for call in calls.iter().rev() {
            let Some(step) = call.steps.iter().find(|step| step.path == path) else { continue };
            if taken_back.is_some_and(|taken_back| call.id >= taken_back) {
                continue;
            }
            match (step.after.as_ref() == now, call.takes_back) {
                (true, None) => return Some((call.id, call.steps.clone())),
                (true, Some(earlier)) => taken_back = Some(earlier),
                // Nothing came of it.
                (false, _) if step.before.as_deref().map(text::hash).as_ref() == now => {}
                (false, _) => return None,
            }
        }
        None
    }
}

/// Remembers what each tool plans, but for `undo_edit`, which says more of it itself.
pub(crate) struct Remembers(pub(crate) Services);

#[async_trait]
impl Hooks for Remembers {
    async fn after_tool(&self, point: &ToolPoint<'_>, result: &mut Result<Output, ToolError>) {
        let Ok(Output { plan: Some(plan), .. }) = result else { return };
        if point.tool == UndoEdit::NAME {
            return;
        }
        let (edits, reader, plan) = (self.0.edits.clone(), self.0.reader.clone(), plan.clone());
        let noted = blocking(move || {
            edits.note(&plan, &reader, None);
            Ok(())
        });
        if let Err(error) = noted.await {
            *result = Err(error);
        }
    }
}

/// Undoes your last edit of a file: proposes the text from before that call, for this file and every other file that
/// the call edited. It is refused if a file is no longer as your edit left it. Call it again to go back one edit
/// further.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The file, relative to the workspace or absolute.
    path: String,
}

pub(crate) struct UndoEdit {
    services: Services,
}

impl UndoEdit {
    pub(crate) fn new(services: &Services) -> Self {
        Self { services: services.clone() }
    }
}

#[async_trait]
impl Typed for UndoEdit {
    type Input = Input;
    const NAME: &'static str = "undo_edit";
    const KIND: ToolKind = ToolKind::Edit;
    const ACCESS: Access = Access::Edit;

    fn describe(&self, input: &Input) -> Result<Description, ToolError> {
        let path = writable(&self.services, &input.path)?;
        let title = format!("Taking back the edit of {}", self.services.roots.display(&path));
        Ok(Description { title, locations: vec![location(&path, None)], action: Action::Edit { paths: vec![path] } })
    }

    async fn run(&self, call: Call, input: Input) -> Result<Output, ToolError> {
        let services = self.services.clone();
        blocking(move || {
            let path = writable(&services, &input.path)?;
            let name = services.roots.display(&path);
            let now = |path: &Path| match services.reader.read(path) {
                Ok(file) => Ok(Some(file.hash)),
                Err(ReadError::Deleted { .. } | ReadError::File(FileError::NotFound { .. })) => Ok(None),
                Err(error) => Err(read_file::in_words(&services, path, error, &call)),
            };
            let Some((id, steps)) = services.edits.last(&path, now(&path)?.as_ref()) else {
                return Err(ToolError::Failed(format!(
                    "there is no edit of {name} to undo: it is not as an edit of yours in this session left it. Read it \
                     and edit it as it is now"
                )));
            };
            let mut files = Vec::new();
            for step in &steps {
                let read = now(&step.path)?;
                if read != step.after {
                    let other = services.roots.display(&step.path);
                    return Err(ToolError::Failed(format!(
                        "the edit of {name} cannot be undone, because it edited {other} too, which has changed since. \
                         Nothing was changed. Read both and edit them as they are now"
                    )));
                }
                let new_text = step.before.as_ref().map(|text| text.to_string());
                files.push(FilePlan { path: step.path.clone(), read, new_text, moved_to: None });
            }
            let plan = EditPlan { files };
            services.edits.note(&plan, &services.reader, Some(id));
            let names: Vec<_> = steps.iter().map(|step| services.roots.display(&step.path)).collect();
            let text = format!("Edit of {} undone.", names.join(", "));
            let locations = steps.iter().map(|step| location(&step.path, None)).collect();
            let summary = counted(steps.len(), "file");
            Ok(Output { text, summary, locations, plan: Some(plan), ..Output::default() })
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use project::reader::{Overlay, Pending};
    use serde_json::json;

    use super::*;
    use crate::fixture::{World, call};

    /// A session that takes every plan.
    #[derive(Clone, Default)]
    struct Takes(Arc<Mutex<Files>>);

    type Files = Vec<(PathBuf, Option<String>)>;

    impl Takes {
        fn take(&self, plan: EditPlan) {
            let mut taken = self.0.lock().unwrap();
            for file in plan.files {
                taken.retain(|(path, _)| *path != file.path);
                taken.push((file.path, file.new_text));
            }
        }
    }

    impl Overlay for Takes {
        fn pending(&self, path: &Path) -> Option<Pending> {
            let taken = self.0.lock().unwrap();
            let (_, text) = taken.iter().find(|(taken, _)| taken == path)?;
            Some(text.as_ref().map_or(Pending::Deleted, |text| Pending::Text(text.as_str().into())))
        }

        fn paths(&self) -> Vec<PathBuf> {
            self.0.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
        }
    }

    #[tokio::test]
    async fn edits_are_taken_back_one_after_the_other_and_all_files_of_a_call_together() {
        let world = World::new(&[("a", "one\n"), ("b", "b\n")]);
        let takes = Takes::default();
        let services = world.services_with(takes.clone());
        let edit = |old: &str, new: &str| json!({ "path": "a", "old_text": old, "new_text": new });
        takes.take(call(&services, "edit_replace_exact", edit("one", "two")).await.unwrap().plan.unwrap());
        let both = json!({ "edits": [
            { "op": "replace_exact", "path": "a", "old_text": "two", "new_text": "three" },
            { "op": "delete_file", "path": "b" },
        ] });
        takes.take(call(&services, "edit_apply_batch", both).await.unwrap().plan.unwrap());
        // Of this one nothing came.
        call(&services, "edit_replace_exact", edit("three", "four")).await.unwrap();

        let undone = call(&services, "undo_edit", json!({ "path": "a" })).await.unwrap();
        assert_eq!(undone.text, "Edit of a, b undone.");
        let again = call(&services, "undo_edit", json!({ "path": "a" })).await.unwrap();
        assert_eq!(again.plan, undone.plan, "what was only planned, and rejected, is not forgotten");
        takes.take(undone.plan.unwrap());
        assert_eq!(*services.reader.read(&world.path("a")).unwrap().text, *"two\n");
        assert_eq!(*services.reader.read(&world.path("b")).unwrap().text, *"b\n");
        takes.take(call(&services, "undo_edit", json!({ "path": "a" })).await.unwrap().plan.unwrap());
        assert_eq!(*services.reader.read(&world.path("a")).unwrap().text, *"one\n");
        let error = call(&services, "undo_edit", json!({ "path": "a" })).await.unwrap_err().to_string();
        assert!(error.starts_with("there is no edit of a to undo"), "{error}");
    }

    #[tokio::test]
    async fn what_moved_on_is_not_taken_back() {
        let world = World::new(&[("a", "one\n"), ("b", "b\n")]);
        let takes = Takes::default();
        let services = world.services_with(takes.clone());
        let both = json!({ "edits": [
            { "op": "replace_exact", "path": "a", "old_text": "one", "new_text": "two" },
            { "op": "replace_exact", "path": "b", "old_text": "b", "new_text": "c" },
        ] });
        takes.take(call(&services, "edit_apply_batch", both).await.unwrap().plan.unwrap());
        takes.take(EditPlan {
            files: vec![FilePlan {
                path: world.path("b"),
                read: None,
                new_text: Some("mine\n".into()),
                moved_to: None,
            }],
        });
        let undo = |path: &str| {
            let (services, path) = (services.clone(), path.to_owned());
            async move { call(&services, "undo_edit", json!({ "path": path })).await.unwrap_err().to_string() }
        };
        assert!(undo("a").await.contains("because it edited b too, which has changed since"));
        assert!(undo("b").await.starts_with("there is no edit of b to undo"));
        assert!(undo("a").await.contains("because it edited b too"), "it is not forgotten by that");
    }
}
