//! Code that moves to another place, with its indentation.

use super::indent::indent;

/// Gives the lines of a text after the first another indentation: `to` in the place of `from`. Lines that have less
/// than `from` lose what they have of it. Lines without anything on them stay empty, and those that begin inside a
/// string, by their number from 0, stay as they are.
pub(super) fn shift(text: &str, is_verbatim: impl Fn(usize) -> bool, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (row, line) in text.split('\n').enumerate() {
        if row > 0 {
            out.push('\n');
        }
        if row == 0 || is_verbatim(row) {
            out.push_str(line);
        } else if !line.trim().is_empty() {
            let shared = line.bytes().zip(from.bytes()).take_while(|(a, b)| a == b).count();
            out.push_str(to);
            out.push_str(line.get(shared..).unwrap_or_default());
        }
    }
    out
}

/// A piece of code on its own: without empty lines around it, and without the indentation that all of its lines have.
pub(super) fn dedent(text: &str, is_verbatim: impl Fn(usize) -> bool) -> String {
    let lines: Vec<_> = text.split('\n').enumerate().collect();
    let is_blank = |(_, line): &&(usize, &str)| line.trim().is_empty();
    let counted = lines.iter().filter(|line| !is_blank(line)).filter(|(row, _)| !is_verbatim(*row));
    let common = counted.map(|(_, line)| indent(line)).reduce(|a, b| {
        let shared = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        a.get(..shared).unwrap_or_default()
    });
    let common = common.unwrap_or_default();
    let first = lines.iter().position(|line| !is_blank(&line)).unwrap_or(lines.len());
    let last = lines.iter().rposition(|line| !is_blank(&line)).map_or(first, |last| last + 1);
    let kept = lines.get(first..last).unwrap_or_default().iter().map(|(row, line)| match line.strip_prefix(common) {
        Some(rest) if !is_verbatim(*row) => rest,
        _ if line.trim().is_empty() && !is_verbatim(*row) => "",
        _ => line,
    });
    kept.collect::<Vec<_>>().join("\n")
}
