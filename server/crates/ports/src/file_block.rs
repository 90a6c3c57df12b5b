//! Calls that were a file in an answer's text, as their ids say it: so the log alone tells them from others.

use protocol::ToolCallId;

/// The beginning of the ids of such calls.
pub const ID: &str = "file-";

/// Stands before the number of times that the file has broken off.
pub const CUT: &str = "-cut";

/// True if a call was a file in an answer's text.
pub fn is_block(id: &ToolCallId) -> bool {
    id.as_str().starts_with(ID)
}

/// True if a call was a file of which the rest is missing.
pub fn is_cut(id: &ToolCallId) -> bool {
    cuts(id).is_some()
}

/// How often a file has broken off, the last time with this call.
pub fn cuts(id: &ToolCallId) -> Option<u32> {
    let (_, cuts) = id.as_str().strip_prefix(ID)?.rsplit_once(CUT)?;
    cuts.parse().ok()
}
