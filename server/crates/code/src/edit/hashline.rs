//! Edits that name lines by their tags.
//!
//! The model reads lines with tags ([`tag`]) and names them in its edits. All tags of a call are checked against the
//! text as it is now before anything is planned: if one does not fit, nothing is changed, and the answer shows the
//! lines with their right tags. A reference is never moved to where its line may have gone. All edits of a call relate
//! to the text as it was read, whatever their order; those that touch the same lines are refused.

mod tag;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use super::{with_final_newline_of, with_lf};

pub use tag::{Id, NotATag, SEPARATOR, Tag, Tagged};

/// How many lines that were named are shown in an error, each with those around it.
const MOST_NAMED: usize = 10;
/// How many lines are shown around each.
const AROUND: usize = 2;
/// How much of a line is shown, in bytes.
const LONGEST_SHOWN: usize = 300;

/// A change of some lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The lines, or the place between them.
    pub place: Place<String>,
    /// The lines to put there. The last needs no line end; empty for none, which deletes. CRLF counts as LF.
    pub content: String,
}

/// Where an edit goes, said by tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<R> {
    /// In the place of one line.
    Line(R),
    /// In the place of some lines, from the first to the last of them.
    Range {
        /// The first.
        first: R,
        /// The last.
        last: R,
    },
    /// After a line.
    After(R),
    /// Before a line.
    Before(R),
    /// Between two lines that stand one below the other.
    Between {
        /// The upper one.
        after: R,
        /// The lower one.
        before: R,
    },
}

/// The result of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedLines {
    /// The new text.
    pub text: String,
    /// The lines of it that were put in, in order, numbered from 0. An empty range is where lines were deleted.
    pub changed: Vec<Range<usize>>,
    /// The lines of the old text that were replaced or deleted without being named by a tag, numbered from 0: those
    /// inside ranges. Tags say nothing of whether they are still what the model has seen.
    pub unnamed: Vec<Range<usize>>,
}

/// Makes all of these edits. The text is a normal one (LF line ends).
///
/// Edits that are the same are made once. If every line of an edit's content begins with a tag as lines are shown with
/// it (`12#7KQX|`), the tags are taken off, provided that one of them fits the text. Whether the text ends in a line
/// break stays as it is; see [`super::replace`].
///
/// # Errors
/// See [`HashlineError`].
pub fn edit_lines(text: &str, edits: &[Edit]) -> Result<EditedLines, HashlineError> {
    let tagged = Tagged::new(text);
    let mut read: Vec<(usize, Place<Tag>, &str)> = Vec::new();
    for (number, edit) in (1..).zip(edits) {
        let place = edit.place.parse().map_err(|error| HashlineError::BadTag { edit: number, error })?;
        if !read.iter().any(|(_, other, content)| *other == place && *content == edit.content) {
            read.push((number, place, &edit.content));
        }
    }
    check(&tagged, read.iter().flat_map(|(_, place, _)| place.tags()))?;
    let contents: Vec<_> = read.iter().map(|(_, _, content)| with_lf(content)).collect();
    let mut changes = Vec::new();
    for ((edit, place, _), content) in read.iter().zip(&contents) {
        changes.push(Change::new(&tagged, *edit, place, content)?);
    }
    changes.sort_by_key(|change| (change.lines.start, change.lines.end));
    if let Some((one, other)) = changes.iter().zip(changes.iter().skip(1)).find(|(one, other)| one.meets(other)) {
        let (first, second) = (one.edit.min(other.edit), one.edit.max(other.edit));
        return Err(HashlineError::Overlapping { first, second });
    }
    let edited = apply(text, &tagged, &changes);
    match changes.first() {
        None => Err(HashlineError::NoEdits),
        Some(first) if edited.text == text => Err(first.same_text(&tagged)),
        Some(_) => Ok(edited),
    }
}

/// Looks whether all of these tags fit a text.
///
/// # Errors
/// [`HashlineError::Stale`]: no edit that names them will be made. What is no tag is left to [`edit_lines`].
pub fn check_tags<'t>(text: &str, tags: impl Iterator<Item = &'t str>) -> Result<(), HashlineError> {
    let tags: Vec<Tag> = tags.filter_map(|tag| tag.parse().ok()).collect();
    check(&Tagged::new(text), tags.iter())
}

/// Why edits by tags are refused; nothing was changed then. Edits count from 1. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HashlineError {
    /// There are none.
    #[error("edits is empty; give at least one")]
    NoEdits,
    /// A reference is not a tag.
    #[error("edit {edit}: {error}. Nothing was changed.")]
    BadTag {
        /// The number of the edit.
        edit: usize,
        /// The reference that was given.
        error: NotATag,
    },
    /// Tags do not fit the text as it is now.
    #[error("{0}")]
    Stale(Box<Stale>),
    /// The last line of a range stands above its first.
    #[error("edit {edit}: the last line, {last}, stands above the first, {first}. Nothing was changed.")]
    Reversed {
        /// The number of the edit.
        edit: usize,
        /// The line that was called the first.
        first: Tag,
        /// The line that was called the last.
        last: Tag,
    },
    /// Lines between which something should go are not neighbours.
    #[error(
        "edit {edit}: {before} is not the line below {after}, so there is not one place between them. Nothing was changed. \
         To replace what stands between them use first and last; to insert give after or before alone, or the tags of two \
         neighbours."
    )]
    NotAdjacent {
        /// The number of the edit.
        edit: usize,
        /// The line above.
        after: Tag,
        /// The line below.
        before: Tag,
    },
    /// Edits touch the same lines, or insert at the same place.
    #[error(
        "edits {first} and {second} touch the same lines or insert at the same place, so it is not certain what the \
         text should be. Nothing was changed. Make one edit of them."
    )]
    Overlapping {
        /// The first of the two.
        first: usize,
        /// The second.
        second: usize,
    },
    /// An insertion of nothing.
    #[error(
        "edit {edit}: content is empty, so there is nothing to insert. Nothing was changed. For a blank line give a line \
         break."
    )]
    NothingToInsert {
        /// The number of the edit.
        edit: usize,
    },
    /// The lines are already what they should become.
    #[error(
        "edit {edit} would change nothing, so no edit was made. The text has already:\n{now}Leave that edit out, or look \
         at what should be different."
    )]
    SameText {
        /// The number of the edit.
        edit: usize,
        /// The lines it is about.
        now: Excerpt,
    },
    /// Every line of the content begins like a tag, but none of the tags is of this text.
    #[error(
        "edit {edit}: every line of content begins with a tag, such as {tag}, and none of them is of this file. Nothing \
         was changed. Give the lines without tags. If they are really meant to begin so, put them in with a line beside \
         them that does not."
    )]
    TaggedContent {
        /// The number of the edit.
        edit: usize,
        /// The first of the tags.
        tag: Tag,
    },
}

/// Tags that do not fit the text as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stale {
    /// The tags, in order.
    pub wrong: Vec<Tag>,
    /// How many lines the text has.
    pub lines: usize,
    /// Where the ID of such a tag is at another number now, and only there.
    pub moved: Vec<(Tag, Tag)>,
    /// The lines that stand there now, and those that may have moved.
    pub now: Excerpt,
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named: Vec<_> = self.wrong.iter().take(MOST_NAMED).map(ToString::to_string).collect();
        let more = self.wrong.len() - named.len();
        write!(f, "{}", named.join(", "))?;
        if more > 0 {
            write!(f, " and {more} more")?;
        }
        let fit = if self.wrong.len() == 1 { "does" } else { "do" };
        writeln!(f, " {fit} not fit the text as it is now, so no edit was made.")?;
        match self.lines {
            0 => return write!(f, "It is empty, so it has no line to name; write its text as for a new file."),
            1 => writeln!(f, "It has 1 line; what stands there:")?,
            lines => writeln!(f, "It has {lines} lines; what stands there:")?,
        }
        write!(f, "{}", self.now)?;
        for (tag, now) in &self.moved {
            writeln!(f, "What was {tag} seems to be {now} now.")?;
        }
        write!(f, "Try again with these tags, if these are the lines you mean; else read the file again.")
    }
}

/// Some lines of a text with their tags, as models are shown them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines in order.
    lines: Vec<ShownLine>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ShownLine {
    tag: Tag,
    /// Shortened.
    text: String,
    /// True if it is marked, since it was named.
    named: bool,
}

impl Excerpt {
    /// These lines, numbered from 1; numbers of no line are passed over.
    pub fn of(tagged: &Tagged<'_>, numbers: impl IntoIterator<Item = usize>) -> Self {
        Self::new(tagged, numbers.into_iter().collect(), &BTreeSet::new())
    }

    /// These lines, marked, with those around each.
    fn around(tagged: &Tagged<'_>, named: &BTreeSet<usize>) -> Self {
        let around = |number: &usize| number.saturating_sub(AROUND)..=number.saturating_add(AROUND);
        Self::new(tagged, named.iter().flat_map(around).collect(), named)
    }

    fn new(tagged: &Tagged<'_>, numbers: BTreeSet<usize>, named: &BTreeSet<usize>) -> Self {
        let line = |number: usize| {
            let (tag, text) = tagged.line(number)?;
            let end = text.floor_char_boundary(LONGEST_SHOWN);
            let more = if end < text.len() { "…" } else { "" };
            let text = format!("{}{more}", text.get(..end).unwrap_or(text));
            Some(ShownLine { tag, text, named: named.contains(&number) })
        };
        Self { lines: numbers.into_iter().filter_map(line).collect() }
    }
}

impl fmt::Display for Excerpt {
    /// As grep shows lines: those that were named are marked, and gaps are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut last = None;
        for ShownLine { tag, text, named } in &self.lines {
            if last.is_some_and(|last| last + 1 != tag.line) {
                writeln!(f, "--")?;
            }
            last = Some(tag.line);
            let mark = if *named { ">>>" } else { "   " };
            writeln!(f, "{mark} {tag}{SEPARATOR}{text}")?;
        }
        Ok(())
    }
}

impl<R> Place<R> {
    fn tags(&self) -> impl Iterator<Item = &R> {
        let (one, other) = match self {
            Self::Line(tag) | Self::After(tag) | Self::Before(tag) => (tag, None),
            Self::Range { first, last } => (first, Some(last)),
            Self::Between { after, before } => (after, Some(before)),
        };
        std::iter::once(one).chain(other)
    }
}

impl Place<String> {
    fn parse(&self) -> Result<Place<Tag>, NotATag> {
        Ok(match self {
            Self::Line(tag) => Place::Line(tag.parse()?),
            Self::Range { first, last } => Place::Range { first: first.parse()?, last: last.parse()? },
            Self::After(tag) => Place::After(tag.parse()?),
            Self::Before(tag) => Place::Before(tag.parse()?),
            Self::Between { after, before } => Place::Between { after: after.parse()?, before: before.parse()? },
        })
    }
}

/// An edit whose place is certain.
struct Change<'c> {
    /// Its number among the edits of the call, from 1.
    edit: usize,
    /// The lines to replace, from 0; empty for an insertion.
    lines: Range<usize>,
    content: Vec<&'c str>,
}

impl<'c> Change<'c> {
    fn new(tagged: &Tagged<'_>, edit: usize, place: &Place<Tag>, content: &'c str) -> Result<Self, HashlineError> {
        let lines = match *place {
            Place::Line(Tag { line, .. }) => line - 1..line,
            Place::Range { first, last } if last.line < first.line => {
                return Err(HashlineError::Reversed { edit, first, last });
            }
            Place::Range { first, last } => first.line - 1..last.line,
            Place::After(Tag { line, .. }) => line..line,
            Place::Before(Tag { line, .. }) => line - 1..line - 1,
            Place::Between { after, before } if after.line + 1 != before.line => {
                return Err(HashlineError::NotAdjacent { edit, after, before });
            }
            Place::Between { after, .. } => after.line..after.line,
        };
        let change = Self { edit, lines, content: without_tags(tagged, edit, content)? };
        let old = tagged.texts().skip(change.lines.start).take(change.lines.len());
        match (change.lines.is_empty(), change.content.is_empty()) {
            (true, true) => Err(HashlineError::NothingToInsert { edit }),
            (false, _) if old.eq(change.content.iter().copied()) => Err(change.same_text(tagged)),
            _ => Ok(change),
        }
    }

    /// True if it is not certain what comes of this one and of a later one that does not begin above it.
    fn meets(&self, later: &Self) -> bool {
        later.lines.start < self.lines.end || (self.lines.is_empty() && self.lines == later.lines)
    }

    fn same_text(&self, tagged: &Tagged<'_>) -> HashlineError {
        let first = self.lines.start + 1;
        let lines = (first..=self.lines.end.max(first)).take(MOST_NAMED);
        HashlineError::SameText { edit: self.edit, now: Excerpt::of(tagged, lines) }
    }
}

/// The lines of a content. Tags that every line of it has are not part of it.
fn without_tags<'c>(tagged: &Tagged<'_>, edit: usize, content: &'c str) -> Result<Vec<&'c str>, HashlineError> {
    let lines: Vec<&str> = content.split_terminator('\n').collect();
    let Some(shown) = lines.iter().map(|line| tag::shown(line)).collect::<Option<Vec<_>>>() else { return Ok(lines) };
    match shown.first() {
        None => Ok(lines),
        Some(_) if shown.iter().any(|(tag, _)| tagged.has(*tag)) => {
            Ok(shown.into_iter().map(|(_, line)| line).collect())
        }
        Some((tag, _)) => Err(HashlineError::TaggedContent { edit, tag: *tag }),
    }
}

/// Checks that all of these tags fit the text.
fn check<'p>(tagged: &Tagged<'_>, tags: impl Iterator<Item = &'p Tag>) -> Result<(), HashlineError> {
    let wrong: BTreeSet<Tag> = tags.filter(|tag| !tagged.has(**tag)).copied().collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let named = wrong.iter().take(MOST_NAMED);
    let moved = named.clone().filter_map(|tag| {
        let mut now = tagged.with_id(tag.id);
        let only = now.next().filter(|_| now.next().is_none())?;
        Some((*tag, only))
    });
    let moved: Vec<_> = moved.collect();
    // Below the end stands nothing, but its end is what a model with such a tag must see.
    let places = named.map(|tag| tag.line.min(tagged.count())).chain(moved.iter().map(|(_, now)| now.line));
    let now = Excerpt::around(tagged, &places.collect());
    Err(HashlineError::Stale(Box::new(Stale { wrong: wrong.into_iter().collect(), lines: tagged.count(), moved, now })))
}

/// The text with changes that are sorted and apart.
fn apply(text: &str, tagged: &Tagged<'_>, changes: &[Change<'_>]) -> EditedLines {
    let old: Vec<&str> = tagged.texts().collect();
    let mut new: Vec<&str> = Vec::with_capacity(old.len());
    let mut changed = Vec::with_capacity(changes.len());
    let mut done = 0;
    for change in changes {
        new.extend(old.get(done..change.lines.start).unwrap_or_default());
        let start = new.len();
        new.extend(&change.content);
        changed.push(start..new.len());
        done = change.lines.end;
    }
    new.extend(old.get(done..).unwrap_or_default());
    let mut joined = String::with_capacity(text.len());
    for line in new {
        joined.push_str(line);
        joined.push('\n');
    }
    let inside = |change: &Change<'_>| change.lines.start + 1..change.lines.end.saturating_sub(1);
    let unnamed = changes.iter().map(inside).filter(|lines| !lines.is_empty()).collect();
    EditedLines { text: with_final_newline_of(text, joined), changed, unnamed }
}

#[cfg(test)]
mod tests;
