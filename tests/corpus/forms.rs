//! The forms of edits, and how each is played.

use code::edit::hashline::{self, Place, Tagged};
use code::edit::structural::{Rule, rewrite};
use code::edit::symbol::{Change, edit_symbol};
use code::edit::{AnchorMode, ByAnchor, CellEdit, by_anchor, edit_cell, insert_at_line, patch, replace};
use code::syntax::{Language, Lookup, Outline, Parsed};
use serde_json::json;

use crate::cases::{Case, Slip, Written};

/// A form of edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Form {
    Replace,
    InsertAtLine,
    Anchor,
    Between,
    Patch,
    AnchoredPatch,
    Unified,
    Hashline,
    Symbol,
    Structural,
    Notebook,
}

/// The outcome of an edit.
pub enum Outcome {
    Right,
    /// It was refused, and right when it was made again as the refusal says.
    RightOnceRetried,
    Refused(String),
    /// The pattern fits nothing: what it names is no piece of syntax of its own there, or is in a macro's arguments.
    NoPlace(String),
    Wrong(String),
}

impl Form {
    pub const ALL: [Self; 11] = [
        Self::Replace,
        Self::InsertAtLine,
        Self::Anchor,
        Self::Between,
        Self::Patch,
        Self::AnchoredPatch,
        Self::Unified,
        Self::Hashline,
        Self::Symbol,
        Self::Structural,
        Self::Notebook,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::InsertAtLine => "insert at line",
            Self::Anchor => "anchor",
            Self::Between => "between anchors",
            Self::Patch => "patch",
            Self::AnchoredPatch => "patch with @@",
            Self::Unified => "unified diff",
            Self::Hashline => "hashline",
            Self::Symbol => "symbol",
            Self::Structural => "structural",
            Self::Notebook => "notebook cell",
        }
    }

    /// Makes the edit; none if the form cannot say it, or the slip does not show in what the form says.
    pub fn play(self, case: &Case) -> Option<Outcome> {
        let made = match self {
            Self::Replace => {
                let Written { above, removed, added, below } = case.written()?;
                let old = block(&above) + &block(&removed) + &block(&below);
                let new = block(&above) + &block(&added) + &block(&below);
                // A blank first line is also the end of every line above such lines; then the edit is none that names
                // its place.
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
            Self::AnchoredPatch => anchored(case)?,
            Self::Hashline => return hashlined(case),
            Self::Symbol => by_symbol(case)?,
            Self::Structural => return by_shape(case),
            Self::Notebook => return in_a_notebook(case),
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
    Some(update(case, &format!("{head}{body}{tail}")))
}

/// Returns the case's text with a patch of one file applied.
fn update(case: &Case, text: &str) -> Result<String, String> {
    patch::parse(text).map_err(|error| error.to_string()).and_then(|operations| {
        let [patch::Operation::Update { hunks, .. }] = operations.as_slice() else {
            return Err("not one update".to_owned());
        };
        let seen = case.slip != Slip::StaleNumbers;
        patch::apply(&case.text, hunks, seen).map(|edited| edited.text).map_err(|error| error.to_string())
    })
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

/// A patch that names no line around the change, but the head of the block that it is in.
fn anchored(case: &Case) -> Option<Result<String, String>> {
    let lines: Vec<&str> = case.read.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(lines.get(case.at)?);
    let outer = |at: &usize| lines.get(*at).is_some_and(|line| !line.trim().is_empty() && indent(line) < own);
    let head = (0..case.at).rev().find(outer)?;
    let anchor = lines.get(head)?.trim();
    let is_head =
        anchor.chars().any(char::is_alphabetic) && lines.iter().filter(|line| line.trim() == anchor).count() == 1;
    let end = (head + 1..lines.len()).find(|at| {
        lines[*at..].iter().take(1).any(|line| !line.trim().is_empty() && indent(line) <= indent(lines[head]))
    })?;
    let changed = case.removed.first()?.trim();
    let alike = (head + 1..lines.len()).filter(|at| lines[*at].trim() == changed).collect::<Vec<_>>();
    // A line that is there twice behind the head is not named by it.
    if !is_head
        || alike != [case.at]
        || case.at >= end
        || !matches!(case.slip, Slip::None | Slip::StaleNumbers | Slip::Crlf | Slip::TrailingSpace)
    {
        return None;
    }
    let removed = case.slipped(&case.removed)?;
    let added = case.slipped(&case.added).unwrap_or_default();
    let marked = |mark: char, lines: &[String]| lines.iter().map(|line| format!("{mark}{line}\n")).collect::<String>();
    let body = marked('-', &removed) + &marked('+', &added);
    let text = format!("*** Begin Patch\n*** Update File: {}\n@@ {anchor}\n{body}*** End Patch\n", case.path.display());
    Some(update(case, &text))
}

/// The innermost symbol around the change is written anew.
fn by_symbol(case: &Case) -> Option<Result<String, String>> {
    if !matches!(case.slip, Slip::None | Slip::StaleNumbers | Slip::Crlf | Slip::Indentation) {
        return None;
    }
    let language = Language::of_text(&case.path, &case.text)?;
    let (parsed, wanted) = (Parsed::new(language, &*case.text).ok()?, Parsed::new(language, &*case.wanted).ok()?);
    let shift = case.text.lines().count() - case.read.lines().count();
    let line_of = |at: usize| case.text.get(..at).map(|before| before.matches('\n').count());
    let outline = Outline::new(&parsed);
    let at = case.at + shift;
    // Its first line is not what changes: that would be another symbol.
    let around = |symbol: &&code::syntax::Symbol| {
        line_of(symbol.range.start).is_some_and(|first| first < at)
            && line_of(symbol.range.end).is_some_and(|last| at < last)
    };
    let symbol = outline.symbols.iter().filter(around).min_by_key(|symbol| symbol.range.len())?;
    let path = outline.name(symbol);
    if !parsed.errors().is_empty() || !wanted.errors().is_empty() || !matches!(outline.find(&path), Lookup::One(_)) {
        return None;
    }
    let (first, last) = (line_of(symbol.range.start)?, line_of(symbol.range.end)?);
    let lines: Vec<String> = case.text.lines().map(str::to_owned).collect();
    // Nothing else on its lines.
    let before = case.text.get(..symbol.range.start)?.rsplit('\n').next()?;
    let behind = case.text.get(symbol.range.end..)?.split('\n').next()?;
    if !before.trim().is_empty() || !behind.trim().is_empty() {
        return None;
    }
    let mut written = lines.get(first..=last)?.to_vec();
    // Text inside a string is meant as it is written.
    let is_open = |line: &String| line.matches('"').count() % 2 == 1 || line.matches('`').count() % 2 == 1;
    if case.slip == Slip::Indentation && written.iter().any(is_open) {
        return None;
    }
    written.splice(at - first..=at - first, case.added.iter().cloned());
    let written =
        if case.slip == Slip::Crlf || case.slip == Slip::Indentation { case.slipped(&written)? } else { written };
    Some(
        edit_symbol(&parsed, &path, Change::Replace, &block(&written))
            .map(|edited| edited.text)
            .map_err(|error| error.to_string()),
    )
}

/// A statement is found by its shape, and becomes another.
fn by_shape(case: &Case) -> Option<Outcome> {
    if !matches!(case.slip, Slip::None | Slip::StaleNumbers | Slip::InnerSpace) {
        return None;
    }
    let language = Language::of_text(&case.path, &case.text)?;
    let [line] = case.removed.as_slice() else { return None };
    let statement = line.trim();
    // Spaces in a string are no slip that syntax makes up for.
    let has_strings = statement.contains(['"', '\'', '`']) && case.slip == Slip::InnerSpace;
    let is_one = !has_strings && !statement.contains('$') && case.text.matches(statement).count() == 1;
    let (parsed, wanted) = (Parsed::new(language, &*case.text).ok()?, Parsed::new(language, &*case.wanted).ok()?);
    if !is_one
        || !statement.ends_with(';')
        || case.added.is_empty()
        || !parsed.errors().is_empty()
        || !wanted.errors().is_empty()
    {
        return None;
    }
    let pattern = case.slipped(&[statement.to_owned()])?.concat();
    // A line that is no whole statement, such as the end of one, is no pattern.
    let rule = Rule::new(&pattern, &block(&case.added), language).ok()?;
    Some(match rewrite(&parsed, &[rule]) {
        Ok(rewritten) if rewritten.places.is_empty() => Outcome::NoPlace(pattern),
        Ok(rewritten) => judged(case, Ok(rewritten.text)),
        Err(error) => Outcome::Refused(error.to_string()),
    })
}

/// The text as a notebook, a paragraph a cell, of which one is written anew.
fn in_a_notebook(case: &Case) -> Option<Outcome> {
    if case.slip != Slip::None {
        return None;
    }
    let notebook = |text: &str| {
        let lines = |cell: &str| cell.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>();
        let cell = |cell: &str| json!({ "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": lines(cell) });
        let cells: Vec<_> = text.trim_end().split("\n\n").map(cell).collect();
        let notebook = json!({ "cells": cells, "metadata": { "language_info": { "name": "rust" } }, "nbformat": 4, "nbformat_minor": 4 });
        serde_json::to_string_pretty(&notebook).unwrap_or_default() + "\n"
    };
    let cells = |text: &str| text.trim_end().split("\n\n").map(str::to_owned).collect::<Vec<_>>();
    let (had, wanted) = (cells(&case.text), cells(&case.wanted));
    let index = had.iter().zip(&wanted).position(|(had, wanted)| had != wanted)?;
    let source = wanted.get(index).filter(|_| had.len() == wanted.len())?;
    Some(match edit_cell(&notebook(&case.text), &CellEdit::Replace { index, source }) {
        Ok(text) if text == notebook(&case.wanted) => Outcome::Right,
        Ok(text) => Outcome::Wrong(text),
        Err(error) => Outcome::Refused(error.to_string()),
    })
}
