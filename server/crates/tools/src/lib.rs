//! The tools that the model can call: one file each, over the services of [`workspace`].
//!
//! Every tool has a typed input ([`typed::Typed`]) and works for one session, on the [`Services`] it is given. No tool
//! writes: an edit tool plans, and the session makes the plan a proposal (design D4). Results are plain text, bounded,
//! and say what was left out and how to get it.
//!
//! Reading order: [`typed`] (how a typed tool becomes one for the model), then the tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent::edit::{EditPlan, FilePlan, TextHash};
use agent::permission::Action;
use agent::tool::{Description, Output, Tool, ToolError};
use protocol::content::Location;
use workspace::paths::{self, Roots};
use workspace::reader::Reader;
use workspace::results::Results;
use workspace::search::Search;
use workspace::seen::Seen;
use workspace::shell::Shell;

pub use read_result::how_to_read;

pub mod typed;

mod edit_create_file;
mod edit_replace_exact;
mod edit_structural;
mod edit_symbol;
mod find_files;
mod list_files;
mod read_file;
mod read_result;
mod search_structural;
mod search_text;
mod shell_run;
mod update_plan;

#[cfg(test)]
mod fixture;

/// What the tools of one session work on.
#[derive(Clone)]
pub struct Services {
    /// The workspace's folders.
    pub roots: Arc<Roots>,
    /// Files as the session sees them.
    pub reader: Reader,
    /// What the model has seen of them.
    pub seen: Seen,
    /// Search over the same, which leaves out what the user's rules keep from the model.
    pub search: Search,
    /// The session's shell.
    pub shell: Arc<Shell>,
    /// What was too long for the model to read at once.
    pub results: Results,
}

/// All built-in tools, made for one session, in the order in which the model is told of them. Their names differ.
pub fn builtin(services: &Services) -> Vec<Arc<dyn Tool>> {
    vec![
        typed::erase(read_file::ReadFile::new(services)),
        typed::erase(list_files::ListFiles::new(services)),
        typed::erase(find_files::FindFiles::new(services)),
        typed::erase(search_text::SearchText::new(services)),
        typed::erase(search_structural::SearchStructural::new(services)),
        typed::erase(edit_replace_exact::EditReplaceExact::new(services)),
        typed::erase(edit_create_file::EditCreateFile::new(services)),
        typed::erase(edit_structural::EditStructural::new(services)),
        typed::erase(edit_symbol::EditSymbol::new(services)),
        typed::erase(shell_run::ShellRun::new(services)),
        typed::erase(read_result::ReadResult::new(services)),
        typed::erase(update_plan::UpdatePlan),
    ]
}

/// Runs what blocks where it may.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(ToolError::Failed(format!("the tool broke down: {error}"))))
}

/// The path of a file that may be edited.
pub(crate) fn writable(services: &Services, path: &str) -> Result<PathBuf, ToolError> {
    let path = services.roots.resolve(path)?;
    match services.roots.protected(&path) {
        None => Ok(path),
        Some(reason) => {
            let name = services.roots.display(&path);
            Err(ToolError::Failed(format!("{name} must not be changed: {reason}")))
        }
    }
}

/// What a call that edits one file would do; the verb is for people, such as `Editing`.
pub(crate) fn describe_edit(services: &Services, verb: &str, path: &str) -> Result<Description, ToolError> {
    let path = writable(services, path)?;
    let title = format!("{verb} {}", services.roots.display(&path));
    Ok(Description { title, locations: vec![location(&path, None)], action: Action::Edit { paths: vec![path] } })
}

/// What came of such a call: a plan to make this of the file, which was read with that hash if there is one. The edit
/// begins at that line, from 1.
pub(crate) fn planned(path: PathBuf, read: Option<TextHash>, new_text: String, line: usize, text: String) -> Output {
    let locations = vec![location(&path, u64::try_from(line).ok())];
    let plan = EditPlan { files: vec![FilePlan { path, read, new_text: Some(new_text) }] };
    Output { text, locations, plan: Some(plan), ..Output::default() }
}

/// What a search did not look into, in words; nothing where it looked into all.
pub(crate) fn not_searched(unreadable: usize, left_out: usize) -> Vec<String> {
    let mut words = Vec::new();
    if unreadable > 0 {
        let what =
            if unreadable == 1 { "1 file or folder".to_owned() } else { format!("{unreadable} files or folders") };
        words.push(format!("[{what} could not be read]"));
    }
    if left_out > 0 {
        words.push(format!("[{} left out by the user's permission rules]", counted(left_out, "file")));
    }
    words
}

/// A place in a file; the line counts from 1, as in all that the model reads.
pub(crate) fn location(path: &Path, line: Option<u64>) -> Location {
    let line = line.and_then(|line| u32::try_from(line.saturating_sub(1)).ok());
    Location { uri: paths::to_uri(path), line }
}

/// A number with its noun: `1 file`, `2 files`.
pub(crate) fn counted(number: usize, noun: &str) -> String {
    match (number, noun.strip_suffix("ch")) {
        (1, _) => format!("1 {noun}"),
        (_, Some(_)) => format!("{number} {noun}es"),
        (_, None) => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::fixture::World;

    #[test]
    fn no_two_tools_have_the_same_name() {
        let tools = crate::builtin(&World::new(&[]).services());
        let names: HashSet<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
        assert_eq!(names.len(), tools.len());
    }

    #[test]
    fn every_tool_and_every_field_is_described() {
        for tool in crate::builtin(&World::new(&[]).services()) {
            let spec = tool.spec();
            assert!(spec.description.len() > 40, "{}", spec.name);
            assert!(spec.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
            let schema = &spec.input_schema;
            assert_eq!(schema["additionalProperties"], false, "{} takes unknown fields", spec.name);
            for (field, schema) in schema["properties"].as_object().unwrap() {
                assert!(schema["description"].is_string(), "{}: {field}", spec.name);
            }
        }
    }
}
