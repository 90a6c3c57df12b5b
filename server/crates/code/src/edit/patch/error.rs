//! Why a patch does not go into a text, in words for the model.

use std::fmt;

use super::super::diagnose::Diagnosis;
use super::super::locate::{self, Candidate};
use super::super::merge::Uncertain;

/// How many failing hunks are told with their lines.
pub(super) const MOST_TOLD: usize = 5;
/// How many lines of a hunk, and of the file beside it, are told.
pub(super) const MOST_LINES: usize = 8;

/// Hunks that do not go into a text. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyError {
    /// These do not, in the order of the patch.
    Hunks(Vec<HunkError>),
    /// They change nothing.
    NothingChanges,
    /// There are too many of them for a file of this length.
    TooMuch,
}

impl ApplyError {
    /// True if lines or anchors are nowhere in the text, so that nothing that may follow in the patch could help.
    pub fn is_certain(&self) -> bool {
        let is_nowhere = |hunk: &HunkError| matches!(hunk.reason, Reason::NotFound { .. } | Reason::NoAnchor { .. });
        matches!(self, Self::Hunks(hunks) if hunks.iter().any(is_nowhere))
    }
}

/// A hunk that does not go into a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkError {
    /// Where it begins in the patch, from 1.
    pub line: usize,
    /// Why.
    pub reason: Reason,
    /// A line of it that stays and reads like a marker.
    pub like_marker: Option<String>,
}

/// Why a hunk does not go into a text. Lines count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its lines are nowhere in the file.
    NotFound {
        /// The lines it wants to find, the first of them.
        expected: Vec<String>,
        /// The lines of the file that come nearest, with the number of the first; none if nothing does.
        nearest: Option<(usize, Vec<String>)>,
        /// The diagnosis of the difference; none past the first failing hunks.
        diagnosis: Option<Box<Diagnosis>>,
    },
    /// An anchor is nowhere in the file, or not in or below what the one before it names.
    NoAnchor {
        /// The anchor.
        anchor: String,
        /// The lines that come nearest.
        near: Vec<Candidate>,
    },
    /// Its lines are in the file, but above its anchor or outside of the scope that it names.
    OutsideAnchor {
        /// The anchor.
        anchor: String,
        /// Where its lines are.
        candidates: Vec<Candidate>,
    },
    /// Its lines are in several places.
    Ambiguous {
        /// In how many.
        found: usize,
        /// The first ten.
        candidates: Vec<Candidate>,
    },
    /// It only adds lines, and nothing says where.
    NoContext,
    /// It is to reach the end of the file and does not.
    NotAtEnd {
        /// Where its lines are.
        candidates: Vec<Candidate>,
    },
    /// It says in its lines that stay another indentation than the file has, so that of its new lines is not certain.
    LeadingSpace {
        /// Where its lines are.
        line: usize,
    },
    /// Its place is certain, but not what would be there.
    Uncertain {
        /// The line of the file.
        line: usize,
        /// The uncertainty.
        reason: Uncertain,
    },
    /// A line without mark is not in the file as it is.
    Bare {
        /// The line.
        text: String,
    },
    /// Another hunk changes the same lines.
    Overlaps {
        /// Where that one begins in the patch.
        with: usize,
        /// Where this one is in the file.
        line: usize,
    },
}

impl std::error::Error for ApplyError {}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = match self {
            Self::NothingChanges => return write!(f, "the patch changes nothing: the file has that text already"),
            Self::TooMuch => {
                return write!(f, "there are too many hunks for a file of this length; send them in several patches");
            }
            Self::Hunks(failed) => failed,
        };
        let what = if failed.len() == 1 { "1 hunk does".to_owned() } else { format!("{} hunks do", failed.len()) };
        writeln!(f, "{what} not apply. Nothing was changed.")?;
        for hunk in failed.iter().take(MOST_TOLD) {
            write!(f, "The hunk at line {} of the patch: {}", hunk.line, hunk.reason)?;
            if let Some(line) = &hunk.like_marker {
                let words = "has blanks before it, so it counts as a line of the file. If it is to mark something, write \
                             it without them";
                writeln!(f, "  Its line `{line}` {words}.")?;
            }
        }
        if let Some(more) = failed.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
            writeln!(f, "… and {more} more.")?;
        }
        write!(
            f,
            "Read those places with read_file and write the hunks from what the file has; all of them are needed again."
        )
    }
}

/// Whole lines.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, candidates: &[Candidate], found: usize| {
            write!(f, "{}{}", locate::list(candidates), locate::more(found, candidates.len()))
        };
        match self {
            Self::NotFound { expected, nearest, diagnosis } => {
                writeln!(f, "its lines are not in the file. It wants to find:")?;
                expected.iter().try_for_each(|line| writeln!(f, "    |{line}"))?;
                if let Some((first, lines)) = nearest {
                    writeln!(f, "  The file comes nearest at line {first}:")?;
                    lines.iter().try_for_each(|line| writeln!(f, "    |{line}"))?;
                }
                match diagnosis {
                    Some(diagnosis) => write!(f, "{}", diagnosis.details("the hunk")),
                    None => Ok(()),
                }
            }
            Self::NoAnchor { anchor, near } => {
                writeln!(f, "its anchor `{anchor}` is not in the file, or not where the one before it says.")?;
                if near.is_empty() { Ok(()) } else { writeln!(f, "  Near it are:").and(list(f, near, near.len())) }
            }
            Self::OutsideAnchor { anchor, candidates } => {
                writeln!(f, "its lines are in the file, but not where its anchor `{anchor}` says, only here:")?;
                list(f, candidates, candidates.len())?;
                writeln!(f, "  If you mean one of these, name with `@@` what it is in.")
            }
            Self::Ambiguous { found, candidates } => {
                writeln!(f, "it fits in {found} places:")?;
                list(f, candidates, *found)?;
                let what = "Add lines around the place you mean, or name the class or function it is in with `@@`";
                writeln!(f, "  {what} (line numbers do not count).")
            }
            Self::NoContext => {
                writeln!(f, "it only adds lines and nothing says where; put lines that stay around them.")
            }
            Self::NotAtEnd { candidates } => {
                writeln!(f, "its place is not at the end of the file, as it says, but here:")?;
                list(f, candidates, candidates.len())
            }
            Self::LeadingSpace { line } => writeln!(
                f,
                "its lines that stay have a space less than the file at line {line}, so how its new lines are indented is \
                 not certain; begin each line that stays with one more space."
            ),
            Self::Uncertain { line, reason } => writeln!(f, "it fits from line {line} of the file, but {reason}."),
            Self::Bare { text } => writeln!(
                f,
                "its line `{text}` has no mark (a space, `-` or `+`), and the file does not have it there as it is."
            ),
            Self::Overlaps { with, line } => writeln!(
                f,
                "it changes lines from line {line} of the file that the hunk at line {with} of the patch changes too; make \
                 them one hunk."
            ),
        }
    }
}
