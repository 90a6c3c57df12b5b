//! Edits by name: a symbol is replaced, or text is put before or after it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::indent::{as_in, indent, indent_at, line_start};
use super::locate::{self, Candidate, preview};
use super::reindent::{dedent, shift};
use super::{with_final_newline_of, with_lf};
use crate::syntax::{Language, Lookup, MAX_SYMBOLS, Outline, ParseError, Parsed, Symbol};

/// The change to make at a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The text is put in the place of the whole definition. Its comments stay unless the text brings some, and its
    /// attributes, annotations and decorators stay unless the text brings some.
    Replace,
    /// The text is put before it, and before its comments and attributes.
    InsertBefore,
    /// The text is put after it.
    InsertAfter,
}

/// The result of an edit at a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditedSymbol {
    /// The new text.
    pub text: String,
    /// The path of names of the symbol that was meant.
    pub symbol: String,
    /// The line that the symbol was on, from 1.
    pub line: usize,
}

/// Why nothing was changed. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolError {
    /// There is no such symbol.
    #[error("there is no symbol `{path}`. {}{}", near_in_words(near), cut_in_words(*is_cut))]
    NotFound {
        /// The path.
        path: String,
        /// Names that are like it.
        near: Vec<String>,
        /// True if the text has more symbols than are known.
        is_cut: bool,
    },
    /// Several symbols are called so.
    #[error(
        "`{path}` may mean {found} symbols. Nothing was changed. They are:\n{}{}Give more of the path, or the number in \
         brackets.",
        locate::list(candidates),
        locate::more(*found, candidates.len())
    )]
    Ambiguous {
        /// The path.
        path: String,
        /// How many there are.
        found: usize,
        /// The first ten, each with a path that means only it.
        candidates: Vec<Candidate>,
    },
    /// The text to put in is empty.
    #[error("text is empty; give the code to put in. To delete a symbol edit the text of its file")]
    NoText,
    /// The text is indented with tabs and spaces, and the file with spaces.
    #[error(
        "text is indented with tabs and with spaces, and the file with spaces; how many a tab is meant to be is not \
         certain. Nothing was changed. Indent the text with spaces"
    )]
    Tabs,
    /// The symbol has that text already.
    #[error("`{path}` has that text already, so the edit would change nothing")]
    SameText {
        /// The path.
        path: String,
    },
    /// There are syntax errors in the symbol, so that its end is not certain.
    #[error(
        "there is a syntax error in `{path}` at line {line}, so it is not certain where it ends; edit its text instead"
    )]
    Broken {
        /// The path.
        path: String,
        /// The line of the first, from 1.
        line: usize,
    },
    /// The text to put in the place of a symbol defines none.
    #[error(
        "text defines no symbol, but it would replace the whole definition of `{path}`; give all of it, from its first \
         keyword to its end"
    )]
    NoDefinition {
        /// The path.
        path: String,
    },
    /// The new text would have more syntax errors.
    #[error(
        "with this text the file would have a syntax error at its line {line}: {preview}\nNothing was changed. Correct the text."
    )]
    Breaks {
        /// The line in the new text, from 1.
        line: usize,
        /// The line.
        preview: String,
    },
    /// Code around the text would become something else.
    #[error(
        "with this text `{other}` would no longer be what it is: the text opens or closes more than itself. Nothing was \
         changed. Give whole definitions, with all their brackets."
    )]
    Spills {
        /// A symbol that would be lost, or be elsewhere.
        other: String,
    },
    /// The text cannot be parsed.
    #[error(transparent)]
    Parse(#[from] ParseError),
}

/// Changes a text at the symbol that a path means ([`Outline::find`]). What is put in gets the indentation of the
/// symbol.
///
/// The result has no more syntax errors than the text, and every other symbol in it is where it was.
///
/// # Errors
/// See [`SymbolError`].
pub fn edit_symbol(parsed: &Parsed, path: &str, change: Change, new: &str) -> Result<EditedSymbol, SymbolError> {
    let outline = Outline::new(parsed);
    let symbol = find(parsed, &outline, path)?;
    let name = outline.name(symbol);
    if symbol.has_errors {
        let first = parsed.slice(0..symbol.start()).matches('\n').count() + 1;
        let line = parsed.errors().into_iter().find(|line| *line >= first).unwrap_or(symbol.line);
        return Err(SymbolError::Broken { path: name, line });
    }
    let code = Code::new(parsed, new, symbol)?;
    let edit = match change {
        Change::Replace => replacement(parsed, symbol, &name, &code)?,
        Change::InsertBefore => before(parsed, &outline, symbol, &code),
        Change::InsertAfter => after(parsed, &outline, symbol, &code),
    };
    let text = edit.apply(&parsed.text);
    if text == *parsed.text {
        return Err(SymbolError::SameText { path: name });
    }
    let changed = Parsed::new(parsed.language, with_final_newline_of(&parsed.text, text))?;
    check(parsed, &outline, &changed, &edit)?;
    Ok(EditedSymbol { text: changed.text.to_string(), symbol: name, line: symbol.line })
}

fn find<'o>(parsed: &Parsed, outline: &'o Outline, path: &str) -> Result<&'o Symbol, SymbolError> {
    match outline.find(path) {
        Lookup::One(symbol) => Ok(symbol),
        Lookup::None(near) => Err(SymbolError::NotFound { path: path.to_owned(), near, is_cut: outline.is_cut }),
        Lookup::Several(several) => {
            let candidates = several.iter().take(10).map(|symbol| {
                let first = parsed.slice(symbol.range.clone()).lines().next().unwrap_or_default();
                let preview = preview(&format!("{}: {}", outline.distinct_name(symbol), first.trim()));
                Candidate { line: symbol.line, preview }
            });
            let candidates = candidates.collect();
            Err(SymbolError::Ambiguous { path: path.to_owned(), found: several.len(), candidates })
        }
    }
}

fn near_in_words(near: &[String]) -> String {
    if near.is_empty() {
        return "The file defines none; use another edit tool.".to_owned();
    }
    format!("There are: {}", near.join(", "))
}

fn cut_in_words(is_cut: bool) -> String {
    match is_cut {
        true => format!(". Only the file's first {MAX_SYMBOLS} symbols are known; for others use another edit tool."),
        false => String::new(),
    }
}

/// Code to put in: without indentation, and without empty lines around it.
struct Code {
    text: String,
    /// Its lines, from 0, that begin inside a string.
    verbatim: BTreeSet<usize>,
}

impl Code {
    /// The code of a text that is to go beside or in the place of a symbol.
    fn new(parsed: &Parsed, text: &str, symbol: &Symbol) -> Result<Self, SymbolError> {
        let (language, target) = (symbol.language, indent_at(&parsed.text, symbol.start()));
        let text = with_lf(text);
        let strings_of = |text: &str| verbatim_lines(language, text);
        let strings = strings_of(&text)?;
        let text = dedent(&text, |row| strings.contains(&row));
        let strings = strings_of(&text)?;
        let old = parsed.slice(line_start(&parsed.text, symbol.start())..symbol.range.end);
        let text = as_in(&parsed.text, old, &text, |row| strings.contains(&row)).ok_or(SymbolError::Tabs)?;
        // Tabs and spaces that had nothing in common before may have it now.
        let mut text = dedent(&text, |row| strings.contains(&row));
        text.truncate(text.trim_end().len());
        if symbol.is_listed {
            text.truncate(text.trim_end_matches(',').len());
        }
        if text.is_empty() {
            return Err(SymbolError::NoText);
        }
        let verbatim = strings_of(&text)?;
        let text = shift(&text, |row| verbatim.contains(&row), hanging(language, &text, &verbatim, target), "");
        Ok(Self { text, verbatim })
    }

    fn at(&self, indentation: &str) -> String {
        shift(&self.text, |row| self.verbatim.contains(&row), "", indentation)
    }

    fn is_one_line(&self) -> bool {
        !self.text.contains('\n')
    }
}

/// The lines of a piece of code, from 0, that begin inside a string.
fn verbatim_lines(language: Language, text: &str) -> Result<BTreeSet<usize>, ParseError> {
    if language != Language::Php {
        return Ok(Parsed::new(language, text)?.verbatim_lines());
    }
    // Without it, all is HTML.
    let lines = Parsed::new(language, format!("<?php\n{text}"))?.verbatim_lines();
    Ok(lines.into_iter().filter_map(|row| row.checked_sub(1)).collect())
}

/// Returns the indentation that the lines after the first have too much: code that was copied from where it begins has
/// its first line at the left and the others as they were in the file.
fn hanging<'c>(language: Language, code: &'c str, verbatim: &BTreeSet<usize>, target: &'c str) -> &'c str {
    let rest = || code.split('\n').enumerate().skip(1).filter(|(row, _)| !verbatim.contains(row)).map(|(_, line)| line);
    let Some(last) = rest().last().filter(|_| !target.is_empty()) else { return "" };
    let closes = |line: &str| line.trim_start().starts_with(['}', ')', ']']);
    // Code that ends with a bracket ends where it begins, but for Python.
    if closes(last) && language != Language::Python {
        return indent(last);
    }
    let is_deeper = |line: &str| line.starts_with(target) && (closes(line) || indent(line).len() > target.len());
    if rest().filter(|line| !line.trim().is_empty()).all(is_deeper) { target } else { "" }
}

/// Text in the place of other text.
struct Edit {
    range: Range<usize>,
    text: String,
}

impl Edit {
    fn apply(&self, text: &str) -> String {
        let (before, after) = (text.get(..self.range.start), text.get(self.range.end..));
        [before.unwrap_or_default(), &self.text, after.unwrap_or_default()].concat()
    }

    /// Where its text stands afterwards.
    fn placed(&self) -> Range<usize> {
        self.range.start..self.range.start + self.text.len()
    }
}

fn replacement(parsed: &Parsed, symbol: &Symbol, name: &str, code: &Code) -> Result<Edit, SymbolError> {
    let text = &*parsed.text;
    let indent = indent_at(text, symbol.start());
    let mut new = code.at(indent);
    // The `;` after a type is no part of it for the grammar, and easily forgotten.
    if matches!(symbol.language, Language::C | Language::Cpp)
        && parsed.slice(symbol.range.clone()).ends_with("};")
        && !new.ends_with(';')
    {
        new.push(';');
    }
    let range = symbol.span();
    let bare = Edit { range: range.clone(), text: new };
    let changed = Parsed::new(parsed.language, bare.apply(text))?;
    let outline = Outline::new(&changed);
    let placed = bare.placed();
    let brought = outline.symbols.iter().find(|symbol| is_within(&symbol.span(), &placed));
    let Some(brought) = brought else {
        return Err(first_new_error(parsed, &changed, &placed)
            .unwrap_or_else(|| SymbolError::NoDefinition { path: name.to_owned() }));
    };
    let brings = |attributes: bool| brought.lead.iter().any(|lead| lead.is_attribute == attributes);
    let kept: Vec<_> = symbol.lead.iter().filter(|lead| !brings(lead.is_attribute)).collect();
    let kept = if kept.len() == symbol.lead.len() {
        parsed.slice(symbol.start()..symbol.range.start).to_owned()
    } else {
        kept.iter().map(|lead| format!("{}\n{indent}", parsed.slice(lead.range.clone()))).collect()
    };
    Ok(Edit { range, text: format!("{kept}{}", bare.text) })
}

fn before(parsed: &Parsed, outline: &Outline, symbol: &Symbol, code: &Code) -> Edit {
    let text = &*parsed.text;
    let (start, indent) = (symbol.start(), indent_at(text, symbol.start()));
    let gap = gap(parsed, outline, symbol, code, Side::Before);
    let comma = if symbol.is_listed { "," } else { "" };
    let above = parsed.slice(0..line_start(text, start));
    let opens = above.trim_end_matches([' ', '\t', '\n']).ends_with(['{', '[', '(', ':']);
    let has = above.len() - above.trim_end_matches('\n').len();
    let missing = if above.is_empty() || opens { 0 } else { (gap + 1).saturating_sub(has) };
    let is_first = parsed.slice(line_start(text, start)..start).trim().is_empty();
    let lead = if is_first { "\n".repeat(missing) } else { String::new() };
    let lead = if lead.is_empty() { lead } else { format!("{lead}{indent}") };
    Edit { range: start..start, text: format!("{lead}{}{comma}\n{}{indent}", code.at(indent), "\n".repeat(gap)) }
}

fn after(parsed: &Parsed, outline: &Outline, symbol: &Symbol, code: &Code) -> Edit {
    let text = &*parsed.text;
    let indent = indent_at(text, symbol.start());
    let gap = gap(parsed, outline, symbol, code, Side::After);
    let mut at = symbol.range.end;
    let (mut comma_before, mut comma_after) = ("", "");
    if symbol.is_listed {
        let rest = parsed.slice(at..text.len());
        match rest.trim_start().starts_with(',') {
            true => (at, comma_after) = (at + rest.find(',').map_or(0, |comma| comma + 1), ","),
            false => comma_before = ",",
        }
    }
    let rest = parsed.slice(at..text.len());
    let line = rest.split('\n').next().unwrap_or_default();
    let remark = line.trim();
    let is_remark = remark.starts_with("//")
        || (remark.starts_with("/*") && remark.ends_with("*/"))
        || (remark.starts_with('#')
            && matches!(symbol.language, Language::Python | Language::Bash | Language::Ruby | Language::Php))
        || (remark.starts_with("--") && symbol.language == Language::Lua)
        || (remark.starts_with("<!--") && remark.ends_with("-->") && symbol.language == Language::Html);
    let ends_line = remark.is_empty() || is_remark;
    let end = if ends_line { at + line.len() } else { at + line.len() - line.trim_start().len() };
    let below = parsed.slice(end..text.len());
    let next = below.trim_start();
    let closes = next.is_empty() || next.starts_with(['}', ']', ')']);
    let has = below.len() - below.trim_start_matches('\n').len();
    let missing = if closes || !ends_line { 0 } else { (gap + 1).saturating_sub(has.max(1)) };
    let behind = if ends_line { "\n".repeat(missing) } else { format!("\n{}{indent}", "\n".repeat(gap)) };
    let new = format!("\n{}{indent}{}{comma_after}{behind}", "\n".repeat(gap), code.at(indent));
    // Text behind the symbol on its line, such as a remark, stays there; only a `,` may have to go before it.
    let kept = if ends_line { parsed.slice(at..end) } else { "" };
    Edit { range: at..end, text: format!("{comma_before}{}{new}", kept.trim_end()) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

/// How many empty lines to leave between a symbol and what is put beside it: as many as there are between its
/// neighbours. Between short ones, such as constants, there may be none if there are some between long ones.
fn gap(parsed: &Parsed, outline: &Outline, symbol: &Symbol, code: &Code, side: Side) -> usize {
    if symbol.is_listed {
        return 0;
    }
    let is_short = |symbol: &Symbol| !parsed.slice(symbol.range.clone()).contains('\n');
    let wants_short = is_short(symbol) && code.is_one_line();
    let siblings: Vec<_> = outline.symbols.iter().filter(|other| other.parent == symbol.parent).collect();
    let between = |pair: &[&Symbol]| match pair {
        [a, b] if (is_short(a) && is_short(b)) == wants_short => {
            let between = parsed.slice(a.range.end..b.start());
            let lines = between.matches('\n').count();
            (between.trim().is_empty() && lines > 0).then(|| lines - 1)
        }
        _ => None,
    };
    let at = siblings.iter().position(|sibling| *sibling == symbol).unwrap_or_default();
    let beside = |side: Side| {
        let first = if side == Side::Before { at.checked_sub(1)? } else { at };
        between(siblings.get(first..first + 2)?)
    };
    let other = if side == Side::Before { Side::After } else { Side::Before };
    let any = || siblings.windows(2).find_map(between);
    let usual = match (wants_short, symbol.language, symbol.parent) {
        (true, ..) => 0,
        (false, Language::Python, None) => 2,
        (false, ..) => 1,
    };
    beside(side).or_else(|| beside(other)).or_else(any).unwrap_or(usual)
}

/// Refuses what has new errors, or changes what else there is.
fn check(parsed: &Parsed, outline: &Outline, changed: &Parsed, edit: &Edit) -> Result<(), SymbolError> {
    let placed = edit.placed();
    if let Some(error) = first_new_error(parsed, changed, &placed) {
        return Err(error);
    }
    let now = Outline::new(changed);
    let (old, new) = (others(outline, &edit.range), others(&now, &placed));
    let is_same = |old: &Symbol, new: &Symbol| {
        let surrounds = is_within(&placed, &new.span());
        outline.is_called_as(old, &now, new)
            && (surrounds || parsed.slice(old.range.clone()) == changed.slice(new.range.clone()))
    };
    let differs = old.iter().zip(&new).find(|(old, new)| !is_same(old, new)).map(|(old, _)| outline.name(old));
    // Where not all symbols are known, what comes last is not known in both.
    let is_whole = !outline.is_cut && !now.is_cut;
    let lost = || old.get(new.len()).filter(|_| is_whole).map(|old| outline.name(old));
    let gained = || new.get(old.len()).filter(|_| is_whole).map(|new| now.name(new));
    match differs.or_else(lost).or_else(gained) {
        Some(other) => Err(SymbolError::Spills { other }),
        None => Ok(()),
    }
}

/// The symbols that are not in what is edited.
fn others<'o>(outline: &'o Outline, edited: &Range<usize>) -> Vec<&'o Symbol> {
    outline.symbols.iter().filter(|symbol| !is_within(&symbol.span(), edited)).collect()
}

/// A syntax error that the edit brings: one where it is, or one more than there were. What was there had none.
fn first_new_error(parsed: &Parsed, changed: &Parsed, placed: &Range<usize>) -> Option<SymbolError> {
    let row = |at: usize| changed.slice(0..at).matches('\n').count() + 1;
    let errors = changed.errors();
    let here = errors.iter().find(|line| (row(placed.start)..=row(placed.end)).contains(line));
    let more = || errors.iter().find(|line| **line >= row(placed.start)).or(errors.first());
    let line = *match here {
        Some(line) => line,
        None if errors.len() > parsed.errors().len() => more()?,
        None => return None,
    };
    let preview = preview(changed.text.lines().nth(line - 1).unwrap_or_default());
    Some(SymbolError::Breaks { line, preview })
}

fn is_within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests;
