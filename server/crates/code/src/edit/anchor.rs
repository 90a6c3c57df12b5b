//! Edits that name their place by a line: by a piece of its text, or by its number.

use std::ops::Range;

use super::diagnose::{self, Diagnosis};
use super::fold::{Folded, Pass};
use super::indent::indent;
use super::locate::{self, Candidate, Wanted};
use super::{Edited, with_lf, with_places};

/// A line is named by at most so many lines.
const MOST_LINES: usize = 30;

/// An edit beside or between lines that are named by a piece of their text.
#[derive(Clone, Debug)]
pub struct ByAnchor<'a> {
    /// The kind of edit.
    pub mode: AnchorMode,
    /// A piece of the line.
    pub anchor: &'a str,
    /// A piece of the last line, for [`AnchorMode::ReplaceBetween`].
    pub anchor_end: Option<&'a str>,
    /// Whole lines to put there.
    pub content: &'a str,
    /// The number of the line among those with the anchor, from 1; without it there must be one only.
    pub occurrence: Option<usize>,
    /// True if the lines with the anchors are replaced too, for [`AnchorMode::ReplaceBetween`].
    pub inclusive: bool,
}

/// The kind of an edit by anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorMode {
    /// Puts lines above the line.
    InsertBefore,
    /// Puts lines below it.
    InsertAfter,
    /// Puts lines in its place.
    ReplaceLine,
    /// Puts lines in place of those between it and another.
    ReplaceBetween,
}

/// Edits beside or between lines named by a piece of their text. The piece is looked for byte by byte in every line;
/// where no line has it, white space and then the kind of quotes and dashes do not count. Content is whole lines, and
/// is put as it is.
///
/// # Errors
/// See [`AnchorError`]: no line has the anchor, or several have it and no occurrence is given.
pub fn by_anchor(text: &str, edit: &ByAnchor<'_>) -> Result<Edited, AnchorError> {
    let lines = Lines::new(text);
    let (pass, start) = line_with(&lines, "anchor", edit.anchor, edit.occurrence)?;
    let (pass, place) = match edit.mode {
        AnchorMode::InsertBefore => (pass, start..start),
        AnchorMode::InsertAfter => (pass, start + 1..start + 1),
        AnchorMode::ReplaceLine => (pass, start..start + 1),
        AnchorMode::ReplaceBetween => {
            let anchor_end = edit.anchor_end.ok_or(AnchorError::NoEnd)?;
            // The first one after the anchor is the natural end, of however many there are.
            // Where the anchor was not indented as its line is, how the other one is indented says nothing either.
            let line = lines.all.get(start).copied().unwrap_or_default();
            let is_off = edit.anchor.starts_with(char::is_whitespace) && !line.starts_with(edit.anchor.trim_end());
            let anchor_end = if is_off { anchor_end.trim_start() } else { anchor_end };
            let (end_pass, end) = end_of(&lines, anchor_end, start)?;
            let between = if edit.inclusive { start..end + 1 } else { start + 1..end };
            (pass.max(end_pass), between)
        }
    };
    put(text, &lines, place, edit.content).map(|text| Edited { text, pass })
}

/// Puts whole lines above the line with this number, from 1; one more than there are lines puts them at the end.
///
/// Numbers go stale. They are trusted where the model has `seen` this text, and the line is the one it says it is, if
/// it says so. Otherwise the line is looked for by its text, and must be there only once.
///
/// # Errors
/// See [`AnchorError`]: there is no such line, or several are like it, or nothing but a number is given that may be
/// stale.
pub fn insert_at_line(
    text: &str,
    line: usize,
    line_text: Option<&str>,
    content: &str,
    seen: bool,
) -> Result<Edited, AnchorError> {
    let lines = Lines::new(text);
    let count = lines.all.len();
    if line_text.is_some_and(|text| text.lines().count() > MOST_LINES) {
        return Err(AnchorError::TooLong);
    }
    let named = line_text.map(|text| if text.is_empty() { "\n" } else { text });
    let is_it = |at: usize| {
        let there = lines.all.get(at..).unwrap_or_default();
        named.is_none_or(|named| {
            named.lines().count() <= there.len() && named.lines().zip(there).all(|(a, b)| Pass::Characters.same(a, b))
        })
    };
    let (pass, at) = match (line.checked_sub(1).filter(|&at| at <= count), named) {
        (Some(at), _) if seen && is_it(at) => (Pass::Exact, at),
        (None, None) => return Err(AnchorError::NoSuchLine { line, count }),
        (Some(_), None) => return Err(AnchorError::NotSeen),
        (_, Some(named)) if named.trim().is_empty() => return Err(AnchorError::NotSeen),
        (_, Some(named)) => whole_line(&lines, named)?,
    };
    put(text, &lines, at..at, content).map(|text| Edited { text, pass })
}

/// Why an edit by a line has no certain place. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnchorError {
    /// The anchor is empty or spans lines.
    #[error("{field} must be a piece of one line")]
    NotALine {
        /// `anchor`, `anchor_end` or `line_text`.
        field: &'static str,
    },
    /// The end is missing.
    #[error("replace_between needs anchor_end, a piece of the last line")]
    NoEnd,
    /// No line has it.
    #[error("no line{} has the {field}. Nothing was changed.{}", below.map(|line| format!(" below line {line}")).unwrap_or_default(), near(nearest))]
    NotFound {
        /// `anchor`, `anchor_end` or `line_text`.
        field: &'static str,
        /// The line, from 1, below which it was looked for.
        below: Option<usize>,
        /// The lines that come nearest.
        nearest: Box<Diagnosis>,
    },
    /// Several lines have it.
    #[error(
        "{found} lines have the {field}. Nothing was changed. They are:\n{}{}Use a longer piece of the line, or say which \
         of them is meant.",
        locate::list(candidates),
        locate::more(*found, candidates.len())
    )]
    Ambiguous {
        /// `anchor` or `line_text`.
        field: &'static str,
        /// How many.
        found: usize,
        /// The first ten of them.
        candidates: Vec<Candidate>,
    },
    /// It does not occur so often.
    #[error(
        "occurrence is {occurrence}, but only {found} lines have the anchor. Nothing was changed. They are:\n{}",
        locate::list(candidates)
    )]
    NoSuchOccurrence {
        /// The occurrence that was wanted.
        occurrence: usize,
        /// How many there are.
        found: usize,
        /// The first ten of them.
        candidates: Vec<Candidate>,
    },
    /// There is no such line.
    #[error("there is no line {line} to put text above: the file has {count} lines, and {} is its end", count + 1)]
    NoSuchLine {
        /// The line.
        line: usize,
        /// How many there are.
        count: usize,
    },
    /// There is nothing but a number, of a text that the model has not seen.
    #[error(
        "the file has changed since you read it, or you have not read it, so line numbers say nothing. Nothing was changed. \
         Read it with read_file, or say with line_text what the line is"
    )]
    NotSeen,
    /// More lines are given than are needed to know one.
    #[error("line_text has more than {MOST_LINES} lines; give the line and as few below it as make it the only one")]
    TooLong,
    /// Nothing would change.
    #[error("the edit would change nothing: {0}")]
    NoChange(&'static str),
}

/// Describes the lines that come nearest.
fn near(diagnosis: &Diagnosis) -> String {
    let near = &diagnosis.near;
    if near.is_empty() {
        return " Find the place with search_text.".to_owned();
    }
    let lines: String = near.iter().map(|near| format!("\n  {}", near.in_words("your text"))).collect();
    format!(" Nearest lines:{lines}")
}

struct Lines<'t> {
    /// Without their line ends.
    all: Vec<&'t str>,
    /// Where each of them begins, and the text's end.
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let mut starts: Vec<usize> = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            starts.push(at);
            at += line.len();
        }
        starts.push(text.len());
        Self { all: text.split_terminator('\n').collect(), starts }
    }

    fn byte(&self, line: usize) -> usize {
        self.starts.get(line).or(self.starts.last()).copied().unwrap_or_default()
    }

    /// Of these lines, those that begin with a piece of text that comes with an indentation.
    fn indented(&self, piece: &str, found: &[usize]) -> impl Iterator<Item = usize> {
        let whole = piece.trim_end();
        let is_so = move |at: &usize| self.all.get(*at).is_some_and(|line| line.starts_with(whole));
        found.iter().copied().filter(move |at| whole.starts_with(char::is_whitespace) && is_so(at))
    }

    /// The line, unless another one is indented as the piece of text is: then it is not certain which is meant.
    fn certain(&self, field: &'static str, at: usize, rival: Option<usize>) -> Result<usize, AnchorError> {
        match rival {
            Some(rival) if rival != at => Err(self.ambiguous(field, &[at.min(rival), at.max(rival)])),
            _ => Ok(at),
        }
    }

    fn ambiguous(&self, field: &'static str, found: &[usize]) -> AnchorError {
        AnchorError::Ambiguous { field, found: found.len(), candidates: self.candidates(found) }
    }

    fn candidates(&self, lines: &[usize]) -> Vec<Candidate> {
        let candidate = |&at: &usize| {
            let preview = locate::preview(self.all.get(at).copied().unwrap_or_default());
            Candidate { line: at + 1, preview }
        };
        lines.iter().take(10).map(candidate).collect()
    }
}

/// The line, from 0, that has a piece of text.
fn line_with(
    lines: &Lines<'_>,
    field: &'static str,
    piece: &str,
    occurrence: Option<usize>,
) -> Result<(Pass, usize), AnchorError> {
    let (pass, found) = lines_with(lines, field, piece, 0)?;
    let Some(occurrence) = occurrence else {
        return if let [only] = found.as_slice() { Ok((pass, *only)) } else { Err(lines.ambiguous(field, &found)) };
    };
    let Some(&at) = occurrence.checked_sub(1).and_then(|at| found.get(at)) else {
        let candidates = lines.candidates(&found);
        return Err(AnchorError::NoSuchOccurrence { occurrence, found: found.len(), candidates });
    };
    let rival = lines.indented(piece, &found).nth(occurrence - 1);
    lines.certain(field, at, rival).map(|at| (pass, at))
}

/// The line, from 0, below another that has the end of what begins there. Of several it is the first one that is
/// indented as the beginning is, as a closing bracket is.
fn end_of(lines: &Lines<'_>, piece: &str, start: usize) -> Result<(Pass, usize), AnchorError> {
    let field = "anchor_end";
    let (pass, found) = lines_with(lines, field, piece, start + 1)?;
    let of = |at: usize| lines.all.get(at).map(|line| indent(line));
    let at = match found.as_slice() {
        [only] => *only,
        several => {
            let same = several.iter().find(|&&at| of(at) == of(start));
            *same.ok_or_else(|| lines.ambiguous(field, several))?
        }
    };
    let rival = lines.indented(piece, &found).next();
    lines.certain(field, at, rival).map(|at| (pass, at))
}

/// The lines, from 0, at or after `from` that have a piece of text; at least one. White space around it does not count.
fn lines_with(
    lines: &Lines<'_>,
    field: &'static str,
    piece: &str,
    from: usize,
) -> Result<(Pass, Vec<usize>), AnchorError> {
    let piece = piece.trim();
    if piece.is_empty() || piece.contains('\n') {
        return Err(AnchorError::NotALine { field });
    }
    let by = |pass: Pass| -> Vec<usize> {
        let wanted = Folded::new(piece, pass).text;
        let has = |line: &str| match pass {
            Pass::Exact => line.contains(piece),
            _ => Folded::new(line, pass).text.contains(&wanted),
        };
        lines.all.iter().enumerate().skip(from).filter(|(_, line)| has(line)).map(|(at, _)| at).collect()
    };
    let found = [Pass::Exact, Pass::InnerSpace, Pass::Characters].into_iter();
    found.map(|pass| (pass, by(pass))).find(|(_, found)| !found.is_empty()).ok_or_else(|| {
        let below = (from > 0).then_some(from);
        let nearest = Box::new(diagnose::diagnose(&lines.all.get(from..).unwrap_or_default().join("\n"), piece));
        AnchorError::NotFound { field, below, nearest }
    })
}

/// The line, from 0, with this text as a whole, and those below it where the text has several; it must be one only.
fn whole_line(lines: &Lines<'_>, wanted: &str) -> Result<(Pass, usize), AnchorError> {
    let field = "line_text";
    let wanted_lines: Vec<Wanted<'_>> = wanted.lines().map(|text| Wanted { text, certain: true }).collect();
    match locate::blocks(&lines.all, &wanted_lines, 0..lines.all.len()) {
        Some((pass, found)) => match found.as_slice() {
            [only] => Ok((pass, *only)),
            several => {
                let candidates = lines.candidates(several);
                Err(AnchorError::Ambiguous { field, found: several.len(), candidates })
            }
        },
        None => {
            let nearest = Box::new(diagnose::diagnose(&lines.all.join("\n"), wanted));
            Err(AnchorError::NotFound { field, below: None, nearest })
        }
    }
}

/// Puts whole lines in place of some, or between two.
fn put(text: &str, lines: &Lines<'_>, place: Range<usize>, content: &str) -> Result<String, AnchorError> {
    let mut content = with_lf(content).into_owned();
    if content.is_empty() && place.is_empty() {
        return Err(AnchorError::NoChange("there is nothing to put in"));
    }
    if !content.is_empty() && !content.ends_with('\n') {
        content.push('\n');
    }
    let (start, end) = (lines.byte(place.start), lines.byte(place.end));
    // A last line without a line end gets one when something comes below it.
    if start == text.len() && !text.is_empty() && !text.ends_with('\n') && !content.is_empty() {
        content.insert(0, '\n');
    }
    let changed = with_places(text, &[(start..end, content)]);
    if changed == text { Err(AnchorError::NoChange("the file already has these lines there")) } else { Ok(changed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn a() {\n    one();\n}\n\nfn b() {\n    one();\n    two(\"x\");\n}\n";

    fn edit<'a>(mode: AnchorMode, anchor: &'a str, content: &'a str) -> ByAnchor<'a> {
        ByAnchor { mode, anchor, anchor_end: None, content, occurrence: None, inclusive: false }
    }

    fn done(edit: &ByAnchor<'_>) -> String {
        by_anchor(TEXT, edit).unwrap().text
    }

    #[test]
    fn lines_are_put_above_below_and_in_place_of_one() {
        let put = |mode| done(&edit(mode, "two(", "    new();"));
        assert_eq!(put(AnchorMode::InsertBefore), TEXT.replace("    two(", "    new();\n    two("));
        assert_eq!(put(AnchorMode::InsertAfter), TEXT.replace("(\"x\");\n", "(\"x\");\n    new();\n"));
        assert_eq!(put(AnchorMode::ReplaceLine), TEXT.replace("    two(\"x\");\n", "    new();\n"));
        assert_eq!(done(&edit(AnchorMode::ReplaceLine, "two(", "")), TEXT.replace("    two(\"x\");\n", ""));
    }

    #[test]
    fn what_is_between_two_lines_is_replaced_with_or_without_them() {
        let between = ByAnchor { anchor_end: Some("}"), ..edit(AnchorMode::ReplaceBetween, "fn b", "    new();\n") };
        assert_eq!(done(&between), TEXT.replace("    one();\n    two(\"x\");\n", "    new();\n"));
        let all = ByAnchor { inclusive: true, content: "", ..between };
        assert_eq!(done(&all), "fn a() {\n    one();\n}\n\n");
    }

    #[test]
    fn which_of_several_is_said_or_asked() {
        let error = by_anchor(TEXT, &edit(AnchorMode::InsertAfter, "one()", "x")).unwrap_err();
        let words = error.to_string();
        assert!(words.starts_with("2 lines have the anchor.") && words.contains("line 6: one();"), "{words}");
        let second = ByAnchor { occurrence: Some(2), ..edit(AnchorMode::InsertAfter, "one()", "    x();") };
        assert_eq!(done(&second), TEXT.replace("one();\n    two", "one();\n    x();\n    two"));
        let third = ByAnchor { occurrence: Some(3), ..second };
        assert!(by_anchor(TEXT, &third).unwrap_err().to_string().contains("only 2 lines have the anchor"));
    }

    #[test]
    fn an_anchor_that_slips_in_spaces_or_quotes_is_found() {
        let found = by_anchor(TEXT, &edit(AnchorMode::InsertAfter, "two(\u{201C}x\u{201D});", "    x();")).unwrap();
        assert_eq!(found.pass, Pass::Characters);
        assert_eq!(by_anchor(TEXT, &edit(AnchorMode::ReplaceLine, "fn  b()", "x")).unwrap().pass, Pass::InnerSpace);
    }

    #[test]
    fn of_several_ends_it_is_the_one_that_is_indented_as_the_beginning() {
        let text = "fn a() {\n    if x {\n    }\n    y();\n}\n\nfn b() {\n}\n";
        let all =
            ByAnchor { inclusive: true, anchor_end: Some("}"), ..edit(AnchorMode::ReplaceBetween, "fn a", "new") };
        assert_eq!(by_anchor(text, &all).unwrap().text, "new\n\nfn b() {\n}\n");
        let inner = ByAnchor { anchor: "y();", ..all };
        let error = by_anchor(text, &inner).unwrap_err().to_string();
        assert!(error.starts_with("2 lines have the anchor_end."), "{error}");
    }

    #[test]
    fn a_blank_line_is_trusted_only_where_it_is() {
        let put = |line| insert_at_line("a\nb\n\nc\n", line, Some(""), "X", true).map(|edited| edited.text);
        assert_eq!(put(3).unwrap(), "a\nb\nX\n\nc\n");
        assert_eq!(put(2).unwrap_err(), AnchorError::NotSeen);
    }

    #[test]
    fn an_anchor_with_another_indentation_is_found_unless_another_line_has_it() {
        let text = "a {\n    b {\n        c();\n    }\n    d();\n}\n";
        let between = |end| ByAnchor { anchor_end: Some(end), ..edit(AnchorMode::ReplaceBetween, "  c();", "") };
        assert_eq!(
            by_anchor(text, &ByAnchor { mode: AnchorMode::ReplaceLine, ..between("") }).unwrap().text,
            text.replace("        c();\n", "")
        );
        assert!(
            by_anchor("a\n  b\n}\n    }\n", &ByAnchor { anchor: "a", ..between("    }") })
                .unwrap_err()
                .to_string()
                .contains("line 4: }")
        );
        let both = by_anchor("a\n  b\n    }\n}\n", &ByAnchor { anchor: "a", ..between("    }") }).unwrap_err();
        assert!(both.to_string().starts_with("2 lines have the anchor_end"), "as it is given, or as the beginning is");
    }

    #[test]
    fn what_is_not_there_is_said_with_what_comes_near() {
        let words = by_anchor(TEXT, &edit(AnchorMode::InsertAfter, "fn c() {", "x")).unwrap_err().to_string();
        assert!(words.starts_with("no line has the anchor.") && words.contains("line 1: fn a() {"), "{words}");
        let between = ByAnchor { anchor_end: Some("one()"), ..edit(AnchorMode::ReplaceBetween, "two", "x") };
        assert!(by_anchor(TEXT, &between).unwrap_err().to_string().contains("below line 7 has the anchor_end"));
        assert_eq!(by_anchor(TEXT, &edit(AnchorMode::ReplaceBetween, "two", "x")).unwrap_err(), AnchorError::NoEnd);
    }

    #[test]
    fn a_line_number_that_went_stale_does_not_matter_where_the_line_is_known() {
        let put = |line, text: Option<&str>, seen| {
            insert_at_line(TEXT, line, text, "    x();", seen)
                .map(|edited| edited.text)
                .map_err(|error| error.to_string())
        };
        let wanted = TEXT.replace("    two(", "    x();\n    two(");
        assert_eq!(put(7, None, true).unwrap(), wanted);
        assert!(put(7, None, false).unwrap_err().starts_with("the file has changed since you read it"));
        assert_eq!(put(3, Some("    two(\"x\");"), true).unwrap(), wanted);
        assert_eq!(put(99, Some("two(\"x\");"), false).unwrap(), wanted);
        let second = TEXT.replace("one();\n    two", "x();\n    one();\n    two");
        assert_eq!(put(6, Some("    one();"), true).unwrap(), second);
        assert!(put(6, Some("    one();"), false).unwrap_err().starts_with("2 lines have the line_text"));
        assert_eq!(
            put(2, Some("    one();\n    two(\"x\");"), false).unwrap(),
            second,
            "with the line below it is one"
        );
        assert!(put(2, Some("three();"), true).is_err());
        assert_eq!(put(9, None, true).unwrap(), format!("{TEXT}    x();\n"));
        assert!(
            put(10, None, true).unwrap_err().starts_with("there is no line 10 to put text above: the file has 8 lines")
        );
        assert!(put(0, None, true).is_err());
    }

    #[test]
    fn the_end_of_a_file_stays_as_it_is() {
        let put = |text| insert_at_line(text, 2, None, "b\n", true).unwrap().text;
        assert_eq!((put("a"), put("a\n")), ("a\nb".to_owned(), "a\nb\n".to_owned()));
        assert_eq!(insert_at_line("", 1, None, "a\n", true).unwrap().text, "a\n");
    }
}
