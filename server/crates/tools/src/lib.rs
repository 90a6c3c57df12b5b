//! The tools that the model can call: one file each, over the services of the crates below.
//!
//! Every tool has a typed input ([`typed::Typed`]) and works for one session, on the [`Services`] it is given. No tool
//! writes: an edit tool plans, and the session makes the plan a proposal. Results are plain text, bounded,
//! and say what was left out and how to get it.
//!
//! Reading order: [`typed`] (how a typed tool becomes one for the model), `draft` and `edits` (what all that edit have
//! in common), `structure` (what those have that tell a file's structure), `on_disk` (what is said of files that are
//! open), `intercept` (commands that a tool does better), `terminals` (what those for terminals have), then the tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lang::Lang;
use ports::edit::{EditForm, TextHash};
use ports::hooks::Hooks;
use ports::tool::{Access, Tool, ToolError};
use ports::tool_names;
use project::paths::{self, Roots};
use project::reader::Reader;
use project::results::Results;
use project::search::Search;
use project::seen::Seen;
use protocol::content::{Location, ToolKind};
use shell::{Jobs, Outside, Shell};

pub use expand_output::how_to_read;
pub use intercept::Intercept;
pub use on_disk::note as compare_with_disk;
pub use oracle::oracle;
pub use undo_edit::Edits;

use self::typed::Typed;

pub mod typed;

mod draft;
mod edits;
mod intercept;
mod lsp;
mod on_disk;
mod structure;

mod ask_user;
mod edit_apply_batch;
mod edit_apply_patch;
mod edit_by_anchor;
mod edit_create_file;
mod edit_delete_file;
mod edit_hashline;
mod edit_insert_at_line;
mod edit_move_file;
mod edit_notebook;
mod edit_replace_exact;
mod edit_structural;
mod edit_symbol;
mod expand_output;
mod file_outline;
mod file_symbols;
mod find_blocks;
mod find_code_block;
mod find_files;
mod line_count;
mod list_files;
mod oracle;
mod read_around;
mod read_file;
mod search_structural;
mod search_text;
mod shell_kill;
mod shell_list;
mod shell_read;
mod shell_run;
mod shell_start;
mod shell_write;
mod terminals;
mod undo_edit;
mod update_plan;

#[cfg(test)]
mod advice;
#[cfg(test)]
mod fixture;

/// The services of one session that tools use.
#[derive(Clone)]
pub struct Services {
    /// The workspace's folders.
    pub roots: Arc<Roots>,
    /// Files as the session sees them.
    pub reader: Reader,
    /// The record of what the model has seen of them.
    pub seen: Seen,
    /// Search over the same, which leaves out what the user's rules keep from the model.
    pub search: Search,
    /// The session's shell.
    pub shell: Arc<Shell>,
    /// Its commands in the background.
    pub jobs: Arc<Jobs>,
    /// Its shell outside the sandbox.
    pub outside: Arc<Outside>,
    /// The port for questions about code.
    pub lang: Lang,
    /// The results that were too long for the model to read at once.
    pub results: Results,
    /// The record of the model's edits.
    pub edits: Edits,
    /// The switch for tags on lines that are read or found, by which `edit_hashline` names them.
    pub tags: Tags,
    /// To which tools commands are pointed that do the same.
    pub intercept: Intercept,
}

/// A switch for tags on lines, since the form of editing is the model's, and models change. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Tags(Arc<AtomicBool>);

impl Tags {
    /// Turns tags on or off.
    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }

    pub(crate) fn on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// All built-in tools, made for one session, in the order in which the model is told of them. Their names differ.
pub fn builtin(services: &Services) -> Vec<Arc<dyn Tool>> {
    let mut tools = vec![
        typed::erase(read_file::ReadFile::new(services)),
        typed::erase(read_around::ReadAround::new(services)),
        typed::erase(line_count::LineCount::new(services)),
        typed::erase(file_outline::FileOutline::new(services)),
        typed::erase(file_symbols::FileSymbols::new(services)),
        typed::erase(find_code_block::FindCodeBlock::new(services)),
        typed::erase(find_blocks::FindBlocks::new(services)),
        typed::erase(list_files::ListFiles::new(services)),
        typed::erase(find_files::FindFiles::new(services)),
        typed::erase(search_text::SearchText::new(services)),
        typed::erase(search_structural::SearchStructural::new(services)),
        editing::<edit_replace_exact::Input>(services),
        editing::<edit_apply_patch::Input>(services),
        editing::<edit_hashline::Input>(services),
        editing::<edit_create_file::Input>(services),
        editing::<edit_insert_at_line::Input>(services),
        editing::<edit_by_anchor::Input>(services),
        editing::<edit_move_file::Input>(services),
        editing::<edit_delete_file::Input>(services),
        editing::<edit_apply_batch::Input>(services),
        editing::<edit_notebook::Input>(services),
        typed::erase(edit_structural::EditStructural::new(services)),
        editing::<edit_symbol::Input>(services),
        typed::erase(undo_edit::UndoEdit::new(services)),
        typed::erase(shell_run::ShellRun::new(services)),
        typed::erase(shell_start::ShellStart::new(services)),
        typed::erase(shell_read::ShellRead::new(services)),
        typed::erase(shell_write::ShellWrite::new(services)),
        typed::erase(shell_kill::ShellKill::new(services)),
        typed::erase(shell_list::ShellList::new(services)),
        typed::erase(expand_output::ExpandOutput::new(services)),
        typed::erase(update_plan::UpdatePlan),
        typed::erase(ask_user::AskUser),
    ];
    tools.extend(lsp::tools(services));
    tools
}

/// The names of the built-in tools that read, search, ask language servers or edit: of those among these that neither
/// run commands nor show any.
pub fn without_commands(tools: &[Arc<dyn Tool>]) -> Vec<String> {
    names(tools, &[Access::Read, Access::Edit])
}

/// The names of those among these tools that read, search or ask language servers: they change and run nothing, show
/// no commands, and ask no other model.
pub fn only_reading(tools: &[Arc<dyn Tool>]) -> Vec<String> {
    names(tools, &[Access::Read])
}

fn names(tools: &[Arc<dyn Tool>], accesses: &[Access]) -> Vec<String> {
    let of_terminals = [<shell_read::ShellRead as Typed>::NAME, <shell_list::ShellList as Typed>::NAME];
    let is_one = |tool: &&Arc<dyn Tool>| {
        accesses.contains(&tool.access())
            && tool.kind() != ToolKind::Think
            && !of_terminals.contains(&tool.spec().name.as_str())
    };
    tools.iter().filter(is_one).map(|tool| tool.spec().name.clone()).collect()
}

/// The hooks of all built-in tools of a session: their plans are remembered for `undo_edit`, and their results say
/// where the disk has another text than the editor.
pub fn hooks(services: &Services) -> [Arc<dyn Hooks>; 2] {
    [Arc::new(undo_edit::Remembers(services.clone())), Arc::new(on_disk::Compares(services.clone()))]
}

/// True if a model is told of a built-in tool, where it edits in this form: few tools are better chosen among than
/// many. The others can be called by name all the same.
pub fn is_shown(name: &str, form: EditForm) -> bool {
    match name {
        tool_names::EDIT_REPLACE_EXACT => form == EditForm::Replace,
        tool_names::EDIT_APPLY_PATCH => form == EditForm::Patch,
        tool_names::EDIT_HASHLINE => form == EditForm::Hashline,
        // A patch says all of this too.
        tool_names::EDIT_CREATE_FILE | tool_names::EDIT_MOVE_FILE | tool_names::EDIT_DELETE_FILE => {
            form != EditForm::Patch
        }
        tool_names::EDIT_INSERT_AT_LINE
        | tool_names::EDIT_BY_ANCHOR
        | tool_names::EDIT_APPLY_BATCH
        | tool_names::EDIT_STRUCTURAL
        | tool_names::SEARCH_STRUCTURAL
        | tool_names::LSP_TYPE_DEFINITION
        | tool_names::LSP_TYPE_HIERARCHY
        | tool_names::LSP_FORMAT
        | tool_names::LSP_STATUS
        | tool_names::LSP_RESTART => false,
        // An outline tells all of this too.
        tool_names::FILE_SYMBOLS | tool_names::FIND_BLOCKS | tool_names::LINE_COUNT => false,
        _ => true,
    }
}

fn editing<E: edits::OneEdit>(services: &Services) -> Arc<dyn Tool> {
    typed::erase(edits::Editing::<E>::new(services))
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

/// True if the text of a file with this hash may be told to a model that names the file in an edit: not where rules or
/// its name keep the file from the model, and it has not read it.
pub(crate) fn may_quote(services: &Services, path: &Path, hash: &TextHash) -> bool {
    services.search.shows(path) || services.seen.is_current(path, hash)
}

/// A description of what a search left out; empty if it left out nothing.
pub(crate) fn not_searched(unreadable: usize, left_out: usize) -> Vec<String> {
    let mut words = Vec::new();
    if unreadable > 0 {
        let what =
            if unreadable == 1 { "1 file or folder".to_owned() } else { format!("{unreadable} files or folders") };
        words.push(format!("[{what} could not be read]"));
    }
    if left_out > 0 {
        words.push(format!(
            "[{} left out by permission: the user's rules, or a name that usually means keys]",
            counted(left_out, "file")
        ));
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
    use std::sync::Arc;

    use ports::tool::Tool;

    use crate::fixture::World;

    /// All tools of ours, with the one that is not always there.
    fn all() -> Vec<Arc<dyn Tool>> {
        let services = World::new(&[]).services();
        crate::builtin(&services).into_iter().chain([crate::oracle(&services, "a model")]).collect()
    }

    #[test]
    fn no_two_tools_have_the_same_name() {
        let tools = all();
        let names: HashSet<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
        assert_eq!(names.len(), tools.len());
    }

    #[test]
    fn the_documentation_has_every_tool_and_who_is_shown_it() {
        use ports::edit::EditForm;
        let page = include_str!("../../../../docs/tools.md");
        let row = |name: &str| {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
            row.and_then(|row| row.trim_end_matches(" |").rsplit(" | ").next()).unwrap_or_else(|| panic!("{name}"))
        };
        let services = World::new(&[]).services();
        for tool in crate::builtin(&services) {
            let name = &tool.spec().name;
            let forms = [EditForm::Replace, EditForm::Patch, EditForm::Hashline];
            let shown = match forms.map(|form| crate::is_shown(name, form)) {
                [true, true, true] => "every model",
                [false, false, false] => "none",
                [true, false, false] => "models that edit by replacing",
                [false, true, false] => "models that edit by patches",
                [false, false, true] => "models that edit by tags",
                [true, false, true] => "all but those that edit by patches",
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(row(name), shown, "{name}");
        }
        let oracle = crate::oracle(&services, "a model");
        assert_eq!(row(&oracle.spec().name), "every model, if `oracle_model` is set");
        let listed = page.lines().filter(|line| line.starts_with("| `") && line.matches('|').count() == 4).count();
        assert_eq!(listed, all().len(), "the page has tools that are none");
    }

    #[test]
    fn every_tool_and_every_field_is_described() {
        for tool in all() {
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
