//! Indentation: what lines have of it, and by what a document indents.

/// The width of a tab if nothing says what it is.
const TAB: usize = 4;

/// The white space by which a document indents one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indent {
    /// A tab.
    Tab,
    /// So many spaces.
    Spaces(usize),
}

impl Indent {
    /// The white space by which most lines of a text are indented more than the line above them; none if none is.
    /// Only the beginning of a long text counts.
    pub fn of(text: &str) -> Option<Self> {
        const MOST: usize = 256 << 10;
        /// More is the alignment of something.
        const WIDEST: usize = 8;
        let text = text.get(..text.floor_char_boundary(MOST)).unwrap_or_default();
        let (mut tabs, mut above, mut steps) = (0_usize, 0, [0_usize; WIDEST + 1]);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let lead = lead(line);
            if lead.starts_with('\t') {
                tabs += 1;
                continue;
            }
            // A single space is a comment's or an alignment's.
            if let Some(count) =
                lead.len().checked_sub(above).filter(|step| *step > 1).and_then(|step| steps.get_mut(step))
            {
                *count += 1;
            }
            above = lead.len();
        }
        let best = steps.iter().enumerate().max_by_key(|(step, count)| (**count, WIDEST - step));
        match best {
            Some((step, count)) if *count > 0 && *count >= tabs => Some(Self::Spaces(step)),
            _ => (tabs > 0).then_some(Self::Tab),
        }
    }

    /// The number of columns of one level.
    pub(super) fn width(self) -> usize {
        match self {
            Self::Tab => TAB,
            Self::Spaces(width) => width.max(1),
        }
    }
}

/// The white space that a line begins with.
pub(super) fn lead(line: &str) -> &str {
    let end = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..end).unwrap_or_default()
}

/// The width of the white space that a line begins with, in columns.
pub(super) fn width(line: &str) -> usize {
    lead(line).bytes().fold(0, |width, byte| if byte == b'\t' { (width / TAB + 1) * TAB } else { width + 1 })
}

/// True if the line below a line belongs one level deeper.
pub(super) fn opens(line: &str) -> bool {
    let line = line.trim_end();
    let opens = line.ends_with(['{', '(', '[', ':']) || line.ends_with("=>") || line.ends_with("->");
    let last = line.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    opens || matches!(last, "then" | "do" | "else" | "begin" | "repeat")
}
