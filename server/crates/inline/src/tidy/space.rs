//! White space: line ends, and indentation as the document has it.

use std::borrow::Cow;

use super::around::Around;
use super::indent::{Indent, lead, opens, width};
use super::scan;

/// A text whose lines end with LF only.
pub(super) fn normal(text: &str) -> Cow<'_, str> {
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() }
}

/// A text whose lines end as those of the document do: as the one before the cursor or else the one after it.
pub(super) fn with_line_ends_of(around: &Around<'_>, text: String) -> String {
    let ends_so =
        |text: &str, newline: Option<usize>| newline.and_then(|at| text.get(..at)).map(|line| line.ends_with('\r'));
    let before = ends_so(around.before, around.before.rfind('\n'));
    let is_crlf = before.or_else(|| ends_so(around.after, around.after.find('\n'))).unwrap_or_default();
    if is_crlf { text.replace('\n', "\r\n") } else { text }
}

/// The answer indented by what the document is indented by, and without the space that some models begin with.
pub(super) fn indentation(around: &Around<'_>, answer: &str) -> Option<String> {
    let joined = without_doubled_lead(around, without_first_space(around, answer));
    let text = as_in_document(around, &joined).unwrap_or_else(|| joined.into_owned());
    (text != answer).then_some(text)
}

/// The answer without the one space at its beginning that tokenizers put there: behind a space that is typed already.
fn without_first_space<'t>(around: &Around<'_>, answer: &'t str) -> &'t str {
    let Some(text) = answer.strip_prefix(' ').filter(|text| !text.starts_with([' ', '\t', '\n'])) else {
        return answer;
    };
    let typed = around.line.trim_end_matches(' ');
    let is_one = around.line.len() == typed.len() + 1;
    let is_doubled = !typed.trim().is_empty() && is_one && !around.lexis.begins_comment(text);
    // An indentation has no odd number of columns, unless the document is indented so.
    let is_even = around.line.len().is_multiple_of(2) && around.indent.width().is_multiple_of(2);
    let is_odd = typed.is_empty() && !around.line.is_empty() && is_even;
    let is_string = around.state.is_verbatim() && !around.state.is_comment();
    if (is_doubled && !is_string) || is_odd { text } else { answer }
}

/// The answer without indentation of its first line, if the cursor is indented as much already.
fn without_doubled_lead<'t>(around: &Around<'_>, answer: &'t str) -> Cow<'t, str> {
    if !around.is_blank_before() || around.line.is_empty() || around.state.is_verbatim() {
        return answer.into();
    }
    // A line that the model begins anew makes the cursor's line blank.
    let body = answer.trim_start_matches('\n');
    let first = body.split('\n').next().unwrap_or_default();
    let (own, text) = (lead(first), first.trim_start());
    let is_anew = body.len() < answer.len();
    let is_operator = text.starts_with(['.', '?', ':', '&', '|', '+', '-', '*', '/', '=', '<', '>']);
    let goes_on = is_operator && !around.lexis.begins_comment(text);
    if own != around.line || (goes_on && !is_anew) || text.is_empty() {
        return answer.into();
    }
    // The line may have to be indented further, which only the lines around tell.
    let above = around.above().next().unwrap_or_default();
    let needed = width(above) + if opens(above) { around.indent.width() } else { 0 };
    let is_deep = width(around.line) >= needed && !above.ends_with(['=', ',', '(', '[', '&', '|', '+', '\\']);
    let is_as_above = width(above) == width(around.line);
    if is_anew || is_deep || is_as_above {
        return body.strip_prefix(own).unwrap_or(body).to_owned().into();
    }
    answer.into()
}

/// The answer with tabs for spaces or the other way round, or with as many spaces for a level as the document has.
fn as_in_document(around: &Around<'_>, answer: &str) -> Option<String> {
    let (first, others) = answer.split_once('\n')?;
    let verbatim = scan::verbatim_lines(around.lexis, &around.state, answer);
    let rows = || others.split('\n').zip(verbatim.iter().skip(1).copied());
    let counted = || rows().filter(|(line, is_verbatim)| !line.trim().is_empty() && !is_verbatim).map(|(line, _)| line);
    let is_lead_of = |byte: char| move |line: &&str| line.starts_with(byte);
    // A first line that is a whole one belongs to those whose indentation is the model's.
    let whole = Some(first).filter(|_| around.line.is_empty());
    let leads: Vec<&str> = whole.into_iter().chain(counted()).map(lead).collect();
    let has_tabs = leads.iter().any(|lead| lead.contains('\t'));
    let has_both = leads.iter().any(|lead| lead.contains("\t "));
    let has_spaces = leads.iter().any(|lead| lead.starts_with(' '));
    let lines = || around.before.split('\n').chain(around.after.split('\n').skip(1));
    let (tabs, spaces) = (lines().filter(is_lead_of('\t')).count(), lines().filter(is_lead_of(' ')).count());
    let is_rare = |rare: usize, common: usize| rare * 50 <= common || (rare == 0 && common == 0);
    let convert: Box<dyn Fn(&str) -> String> = match around.indent {
        Indent::Spaces(width) if has_tabs && is_rare(tabs, spaces) && !(has_both && tabs > 0) => {
            Box::new(move |lead| lead.replace('\t', &" ".repeat(width)))
        }
        Indent::Tab if has_spaces && is_rare(spaces, tabs) => {
            let unit = unit_of(around, first, &leads);
            Box::new(move |lead| {
                let spaces = width(lead);
                format!("{}{}", "\t".repeat(spaces / unit), " ".repeat(spaces % unit))
            })
        }
        Indent::Spaces(width) if has_spaces && !has_tabs && !around.state.is_comment() => {
            let (unit, base) = other_unit(around, (first, others), &leads, width)?;
            Box::new(move |lead| " ".repeat(base + lead.len() / unit * width))
        }
        _ => return None,
    };
    let converted = |line: &str| format!("{}{}", convert(lead(line)), line.trim_start_matches([' ', '\t']));
    let row = |(line, is_verbatim): (&str, bool)| if is_verbatim { line.to_owned() } else { converted(line) };
    let first = if whole.is_some() { converted(first) } else { first.to_owned() };
    let text = std::iter::once(first).chain(rows().map(row)).collect::<Vec<_>>().join("\n");
    (text != answer).then_some(text)
}

/// The number of spaces that stand for a tab in an answer.
fn unit_of(around: &Around<'_>, first: &str, leads: &[&str]) -> usize {
    let all = leads.iter().map(|lead| width(lead)).fold(0, divisor);
    let level = around.line.bytes().take_while(|byte| *byte == b'\t').count();
    let level = level + usize::from(opens(first) || opens(&format!("{}{first}", around.line)));
    let next = leads.iter().map(|lead| width(lead)).find(|width| *width > 0);
    let fits = |unit: &usize| all % unit == 0 && next.is_some_and(|width| width / unit <= level.max(1));
    [2, 3, 4, 8]
        .into_iter()
        .find(|unit| fits(unit) && next == Some(unit * level))
        .or_else(|| [4, 2, 3, 8].into_iter().find(fits))
        .unwrap_or(4)
}

/// The number of spaces for a level in an answer, and what its lines lack, if it is certain that the document's are
/// others: the line in a block that the answer opens is not deep enough, or too deep, by levels.
fn other_unit(
    around: &Around<'_>,
    (first, others): (&str, &str),
    leads: &[&str],
    wanted: usize,
) -> Option<(usize, usize)> {
    let whole = if around.is_blank_before() { format!("{}{first}", around.line) } else { around.line.to_owned() };
    let base = width(&whole);
    let level = base.checked_div(wanted).filter(|level| level * wanted == base)?;
    let is_code = !around.lexis.is_prose && !around.lexis.begins_comment(whole.trim_start());
    let is_block = first.trim_end().ends_with(['{', ':']) && is_code;
    // A label stands as deep as its block or less.
    let next = others.split('\n').find(|line| !line.trim().is_empty()).filter(|line| !is_label(line) && is_block)?;
    let next = width(next);
    let all = leads.iter().map(|lead| lead.len()).fold(0, divisor);
    if level > 0 && next == wanted && all == wanted {
        // It is indented as if the first line were not.
        return Some((wanted, base));
    }
    let unit = next.checked_div(level + 1).filter(|unit| unit * (level + 1) == next)?;
    let is_unit = matches!(unit, 2 | 3 | 4 | 8) && unit != wanted;
    (is_unit && all % unit == 0).then_some((unit, 0))
}

fn is_label(line: &str) -> bool {
    line.trim_end().ends_with(':') || line.trim_start().starts_with("case ")
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}
