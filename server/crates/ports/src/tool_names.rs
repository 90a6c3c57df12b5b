//! The names of those built-in tools that others than the tool itself speak of: the system prompt, files in an answer's
//! text, commands that a tool does better.
//!
//! All other names are only in the tools' own files. A test of the house keeps it so.

/// `read_file`.
pub const READ_FILE: &str = "read_file";
/// `list_files`.
pub const LIST_FILES: &str = "list_files";
/// `find_files`.
pub const FIND_FILES: &str = "find_files";
/// `search_text`.
pub const SEARCH_TEXT: &str = "search_text";
/// `search_structural`.
pub const SEARCH_STRUCTURAL: &str = "search_structural";
/// `edit_replace_exact`.
pub const EDIT_REPLACE_EXACT: &str = "edit_replace_exact";
/// `edit_apply_patch`.
pub const EDIT_APPLY_PATCH: &str = "edit_apply_patch";
/// `edit_hashline`.
pub const EDIT_HASHLINE: &str = "edit_hashline";
/// `edit_create_file`.
pub const EDIT_CREATE_FILE: &str = "edit_create_file";
/// `edit_insert_at_line`.
pub const EDIT_INSERT_AT_LINE: &str = "edit_insert_at_line";
/// `edit_by_anchor`.
pub const EDIT_BY_ANCHOR: &str = "edit_by_anchor";
/// `edit_move_file`.
pub const EDIT_MOVE_FILE: &str = "edit_move_file";
/// `edit_delete_file`.
pub const EDIT_DELETE_FILE: &str = "edit_delete_file";
/// `edit_apply_batch`.
pub const EDIT_APPLY_BATCH: &str = "edit_apply_batch";
/// `edit_structural`.
pub const EDIT_STRUCTURAL: &str = "edit_structural";
/// `shell_run`.
pub const SHELL_RUN: &str = "shell_run";
/// `shell_start`.
pub const SHELL_START: &str = "shell_start";
/// `file_symbols`.
pub const FILE_SYMBOLS: &str = "file_symbols";
/// `find_blocks`.
pub const FIND_BLOCKS: &str = "find_blocks";
/// `line_count`.
pub const LINE_COUNT: &str = "line_count";
/// `ask_user`.
pub const ASK_USER: &str = "ask_user";
/// `update_plan`.
pub const UPDATE_PLAN: &str = "update_plan";
/// `lsp_type_definition`.
pub const LSP_TYPE_DEFINITION: &str = "lsp_type_definition";
/// `lsp_type_hierarchy`.
pub const LSP_TYPE_HIERARCHY: &str = "lsp_type_hierarchy";
/// `lsp_format`.
pub const LSP_FORMAT: &str = "lsp_format";
/// `lsp_status`.
pub const LSP_STATUS: &str = "lsp_status";
/// `lsp_restart`.
pub const LSP_RESTART: &str = "lsp_restart";

/// True for tools that edit.
pub fn is_edit(name: &str) -> bool {
    name.starts_with("edit_")
}

/// True for tools that find files or text.
pub fn is_search(name: &str) -> bool {
    [SEARCH_TEXT, FIND_FILES, LIST_FILES].contains(&name)
}
