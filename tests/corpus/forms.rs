//! The forms of edits, and how each is played.

use workspace::edit::hashline::{self, Place, Tagged};
use workspace::edit::{AnchorMode, ByAnchor, by_anchor, insert_at_line, patch, replace};

use crate::cases::{Case, Slip, Written};

/// A form of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Replace,
    InsertAtLine,
    Anchor,
    Between,
    Patch,
    Unified,
    Hashline,
}

/// What came of an edit.
pub enum Outcome {
    Right,
    /// It was refused, and right when it was made again as the refusal says.
    RightOnceRetried,
    Refused(String),
    Wrong(String),
}

impl Form {
    pub const ALL: [Self; 7] =
        [Self::Replace, Self::InsertAtLine, Self::Anchor, Self::Between, Self::Patch, Self::Unified, Self::Hashline];

    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::InsertAtLine => "insert at line",
            Self::Anchor => "anchor",
            Self::Between => "between anchors",
            Self::Patch => "patch",
            Self::Unified => "unified diff",
            Self::Hashline => "hashline",
        }
    }

    /// Makes the edit; none where the form cannot say it, or the slip does not show in what the form says.
    pub fn play(self, case: &Case) -> Option<Outcome> {
        let made = match self {
            Self::Replace => {
                let Written { above, removed, added, below } = case.written()?;
                let old = block(&above) + &block(&removed) + &block(&below);
                let new = block(&above) + &block(&added) + &block(&below);
                // A blank first line is also the end of every line above such lines; then the edit is none that names its place.
                if case.slip == Slip::None && case.text.matches(&old).count() != 1 {
                    return None;
                }
                replace(&case.text, &old, &new, 1).map(|edited| edited.text).map_err(|error| error.to_string())
            }
            Self::InsertAtLine => {
                let (first, inserted) = case.added.split_first()?;
                if *first != case.removed[0] {
                    return None;
                }
                // The line below is named, with as many of those below it as make it the only one.
                let seen = !matches!(case.slip, Slip::StaleNumbers);
                let named = match case.slip {
                    Slip::None | Slip::MissingContext => None,
                    _ => Some(block(&case.slipped(&unique_from(&case.read, case.at + 1)?)?)),
                };
                let content = block(inserted);
                insert_at_line(&case.text, case.at + 2, named.as_deref(), &content, seen)
                    .map(|edited| edited.text)
                    .map_err(|error| error.to_string())
            }
            Self::Anchor => {
                let anchor = case.removed[0].trim();
                if case.text.matches(anchor).count() != 1 {
                    return None;
                }
                let anchor = &case.slipped(&[anchor.to_owned()])?[0];
                let edit = ByAnchor {
                    mode: AnchorMode::ReplaceLine,
                    anchor,
                    anchor_end: None,
                    content: &block(&case.added),
                    occurrence: None,
                    inclusive: false,
                };
                by_anchor(&case.text, &edit).map(|edited| edited.text).map_err(|error| error.to_string())
            }
            Self::Between => {
                let (above, below) = (case.above.last()?.trim(), case.below.first()?.trim());
                let rest: Vec<&str> = case.text.split_once(above)?.1.split('\n').skip(1).collect();
                let ends: Vec<usize> = (0..rest.len()).filter(|&at| rest[at].contains(below)).collect();
                let indent = |line: &str| line.len() - line.trim_start().len();
                // The end that is meant: the only one, or the first that is indented as the beginning is.
                let meant = match ends.as_slice() {
                    [only] => Some(only),
                    several => {
                        several.iter().find(|&&at| indent(rest[at]) == indent(&case.above[case.above.len() - 1]))
                    }
                };
                if above.is_empty() || below.is_empty() || case.text.matches(above).count() != 1 || meant != Some(&1) {
                    return None;
                }
                let anchors = case.slipped(&[above.to_owned(), below.to_owned()])?;
                let edit = ByAnchor {
                    mode: AnchorMode::ReplaceBetween,
                    anchor: &anchors[0],
                    anchor_end: Some(&anchors[1]),
                    content: &block(&case.added),
                    occurrence: None,
                    inclusive: false,
                };
                by_anchor(&case.text, &edit).map(|edited| edited.text).map_err(|error| error.to_string())
            }
            Self::Patch => patched(
                case,
                &format!("*** Begin Patch\n*** Update File: {}\n@@\n", case.path.display()),
                "*** End Patch\n",
            )?,
            Self::Unified => {
                let path = case.path.display();
                let start = case.at + 1 - case.above.len();
                let (old, new) = (case.named_block().len(), case.wanted_block().len());
                patched(case, &format!("--- a/{path}\n+++ b/{path}\n@@ -{start},{old} +{start},{new} @@\n"), "")?
            }
            Self::Hashline => return hashlined(case),
        };
        Some(judged(case, made))
    }
}

fn judged(case: &Case, made: Result<String, String>) -> Outcome {
    match made {
        Ok(text) if text == case.wanted => Outcome::Right,
        Ok(text) => Outcome::Wrong(text),
        Err(why) => Outcome::Refused(why),
    }
}

/// The line with this number, from 0, with as many of those below it as are nowhere else together.
fn unique_from(text: &str, at: usize) -> Option<Vec<String>> {
    let lines: Vec<&str> = text.lines().collect();
    let is_unique = |count: &usize| {
        lines.get(at..at + count).is_some_and(|wanted| lines.windows(*count).filter(|it| *it == wanted).count() == 1)
    };
    let count = (1..=12).find(is_unique)?;
    Some(lines.get(at..at + count)?.iter().map(|&line| line.to_owned()).collect())
}

/// Lines as a text.
fn block(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn patched(case: &Case, head: &str, tail: &str) -> Option<Result<String, String>> {
    let marked = |mark: char, lines: &[String]| lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let Written { above, removed, added, below } = case.written()?;
    let body = marked(' ', &above) + &marked('-', &removed) + &marked('+', &added) + &marked(' ', &below);
    let made = patch::parse(&format!("{head}{body}{tail}")).map_err(|error| error.to_string()).and_then(|operations| {
        let [patch::Operation::Update { hunks, .. }] = operations.as_slice() else {
            return Err("not one update".to_owned());
        };
        let seen = case.slip != Slip::StaleNumbers;
        patch::apply(&case.text, hunks, seen).map(|edited| edited.text).map_err(|error| error.to_string())
    });
    Some(made)
}

/// The model has read the file as it was, and names the line by its tag. Where the file has changed it is refused and
/// shown the right tags, and tries again with them.
fn hashlined(case: &Case) -> Option<Outcome> {
    if !matches!(case.slip, Slip::None | Slip::StaleNumbers | Slip::Crlf) {
        return None;
    }
    let content = block(&case.slipped(&case.added)?);
    let edit = |tag: String| [hashline::Edit { place: Place::Line(tag), content: content.clone() }];
    let tag = Tagged::new(&case.read).line(case.at + 1)?.0.to_string();
    match hashline::edit_lines(&case.text, &edit(tag)) {
        Err(_) if case.slip == Slip::StaleNumbers => {
            let now = Tagged::new(&case.text).line(case.at + 4)?.0.to_string();
            let made = hashline::edit_lines(&case.text, &edit(now)).map(|edited| edited.text);
            Some(match judged(case, made.map_err(|error| error.to_string())) {
                Outcome::Right => Outcome::RightOnceRetried,
                other => other,
            })
        }
        made => Some(judged(case, made.map(|edited| edited.text).map_err(|error| error.to_string()))),
    }
}
