//! Differences as clients and models take them: edits by line, and unified diffs.

use similar::TextDiff;

use super::lines::{self, Block, Lines};

/// Some lines of a text, to be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEdit {
    /// The first line to replace, from 0.
    pub start_line: usize,
    /// The line after the last one to replace; equal to `start_line` for an insertion. Where it is the number of lines
    /// of the text, it means the text's end, which is not the beginning of a line if the last line has no line end.
    pub end_line: usize,
    /// The text to put there, with line ends (LF).
    pub new_text: String,
}

impl LineEdit {
    pub(super) fn of(block: &Block, new_text: &str) -> Self {
        Self { start_line: block.old.start, end_line: block.old.end, new_text: new_text.to_owned() }
    }

    /// Returns the blocks that edits of one text change, from top to bottom.
    pub(super) fn blocks(edits: &[Self]) -> Vec<Block> {
        let (mut added, mut removed) = (0, 0);
        let blocks = edits.iter().map(|edit| {
            let start = edit.start_line + added - removed;
            added += lines::count(&edit.new_text);
            removed += edit.end_line - edit.start_line;
            Block { old: edit.start_line..edit.end_line, new: start..start + lines::count(&edit.new_text) }
        });
        blocks.collect()
    }
}

/// The edits for a text as an editor holds it, which may begin with a byte order mark that the edits know nothing of:
/// an edit of the first line keeps it where it was.
pub fn with_mark(mut edits: Vec<LineEdit>, held: &str) -> Vec<LineEdit> {
    let Some(text) = held.strip_prefix('\u{FEFF}') else { return edits };
    if let Some(first) = edits.first_mut().filter(|edit| edit.start_line == 0) {
        if first.end_line == 0 {
            // Text that is put above the first line would stand above the mark too.
            let line = text.split_inclusive('\n').next().unwrap_or_default();
            first.new_text.push_str(&crate::text::normalise(line).0);
            first.end_line = 1;
        }
        first.new_text.insert(0, '\u{FEFF}');
    }
    edits
}

/// The edits that make `new` of `old`, from top to bottom and apart by at least a line. Their lines are those of `old`.
pub fn to_line_edits(old: &str, new: &str) -> Vec<LineEdit> {
    let lines = Lines::new(new);
    lines::changes(old, new).iter().map(|block| LineEdit::of(block, lines.slice(block.new.clone()))).collect()
}

/// A unified diff with three lines of context; none stands for a file that is not there. Empty if nothing differs.
pub fn diff(old: Option<&str>, new: Option<&str>, path: &str) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name("a", old), name("b", new));
    TextDiff::configure()
        .algorithm(lines::ALGORITHM)
        .timeout(lines::COMPARING)
        .newline_terminated(true)
        .diff_slices(
            &old.unwrap_or_default().split_inclusive('\n').collect::<Vec<_>>(),
            &new.unwrap_or_default().split_inclusive('\n').collect::<Vec<_>>(),
        )
        .unified_diff()
        .context_radius(3)
        .header(&from, &to)
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_one_that_patch_would_take() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9";
        let expected = "--- a/src/n.txt\n+++ b/src/n.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(diff(Some(old), Some(new), "src/n.txt"), expected);
        assert_eq!(diff(Some(old), Some(old), "src/n.txt"), "");
    }

    #[test]
    fn a_diff_says_where_there_is_no_file_and_no_final_line_end() {
        let expected = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+one\n\\ No newline at end of file\n";
        assert_eq!(diff(None, Some("one"), "n"), expected);
        assert_eq!(diff(Some("one\n"), None, "n"), "--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n");
    }

    #[test]
    fn a_byte_order_mark_stays_the_first_character() {
        let mark = '\u{FEFF}';
        for (held, wanted) in [
            ("a\r\nb\r\n", "A\nb\n"),
            ("a\nb\n", "0\na\nb\n"),
            ("a\nb\n", "a\nB\n"),
            ("a\n", ""),
            ("", "x\n"),
            ("a", "b\na"),
        ] {
            let normal = held.replace("\r\n", "\n");
            let edits = with_mark(to_line_edits(&normal, wanted), &format!("{mark}{held}"));
            let with = format!("{mark}{normal}");
            let edits = edits.iter().map(|edit| (edit.start_line..edit.end_line, edit.new_text.as_str()));
            assert_eq!(Lines::new(&with).replaced(edits), format!("{mark}{wanted}"));
            assert_eq!(with_mark(to_line_edits(&normal, wanted), held), to_line_edits(&normal, wanted));
        }
    }

    #[test]
    fn line_edits_name_the_lines_of_the_old_text() {
        let edit = |start_line, end_line, new_text: &str| LineEdit { start_line, end_line, new_text: new_text.into() };
        assert_eq!(to_line_edits("a\nb\nc\n", "A\nb\nc\nd\n"), [edit(0, 1, "A\n"), edit(3, 3, "d\n")]);
        assert_eq!(to_line_edits("a", "a\nb"), [edit(0, 1, "a\nb")]);
    }
}
