//! The Markdown of an answer, as far as its headings, its fences and its code between backticks go.

/// A part of an answer.
pub(super) enum Piece<'t> {
    /// Lines that are neither of the others, with their line ends.
    Prose(String),
    /// A heading, and its level from 1 to 6.
    Heading(usize, &'t str),
    /// The text in a fence, with the word behind its beginning.
    Code { language: &'t str, text: String },
}

/// The parts of an answer.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut prose, mut lines) = (Vec::new(), String::new(), text.lines());
    let flush = |prose: &mut String, pieces: &mut Vec<_>| {
        let prose = std::mem::take(prose);
        if !prose.trim().is_empty() {
            pieces.push(Piece::Prose(prose));
        }
    };
    while let Some(line) = lines.next() {
        if let Some((fence, info)) = fence(line) {
            flush(&mut prose, &mut pieces);
            let closes =
                |line: &&str| line.trim_start().starts_with(fence) && line.trim().trim_matches(mark(fence)).is_empty();
            let code: Vec<_> = lines.by_ref().take_while(|line| !closes(line)).collect();
            let language = info.split_whitespace().next().unwrap_or_default();
            pieces.push(Piece::Code { language, text: code.join("\n") });
        } else if let Some((level, heading)) = heading(line) {
            flush(&mut prose, &mut pieces);
            pieces.push(Piece::Heading(level, heading));
        } else {
            prose += line;
            prose.push('\n');
        }
    }
    flush(&mut prose, &mut pieces);
    pieces
}

/// The beginning of a fence, and what stands behind it.
fn fence(line: &str) -> Option<(&str, &str)> {
    let begun = line.trim_start();
    let mark = begun.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = begun.trim_start_matches(mark);
    let fence = begun.strip_suffix(info).filter(|fence| fence.len() >= 3)?;
    // Code in a line of text may begin with three backticks, too.
    (mark == '~' || !info.contains('`')).then_some((fence, info))
}

fn mark(fence: &str) -> char {
    if fence.starts_with('~') { '~' } else { '`' }
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let begun = line.trim_start_matches(' ');
    let text = begun.trim_start_matches('#');
    let level = begun.len() - text.len();
    let is_one =
        line.len() - begun.len() <= 3 && (1..=6).contains(&level) && (text.is_empty() || text.starts_with([' ', '\t']));
    is_one.then(|| (level, text.trim()))
}

/// Prose, part by part: the code between backticks, with them, and the rest. Both backticks are of one paragraph.
pub(super) fn spans(prose: &str) -> Vec<(bool, &str)> {
    let (mut spans, mut begin, mut at) = (Vec::new(), 0, 0);
    for line in prose.split_inclusive('\n') {
        if begins_paragraph(line) && at > begin {
            spans.extend(prose.get(begin..at).map(spans_of_paragraph).unwrap_or_default());
            begin = at;
        }
        at += line.len();
    }
    spans.extend(prose.get(begin..).map(spans_of_paragraph).unwrap_or_default());
    spans
}

fn begins_paragraph(line: &str) -> bool {
    let line = line.trim_start();
    let is_item = line.starts_with(['-', '*', '+', '>', '|']) || line.starts_with(|first: char| first.is_ascii_digit());
    is_item || line.is_empty()
}

fn spans_of_paragraph(text: &str) -> Vec<(bool, &str)> {
    let (mut spans, mut plain, mut at) = (Vec::new(), 0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('`')) {
        let open = at + found;
        let run = |from: usize| text.bytes().skip(from).take_while(|byte| *byte == b'`').count();
        let length = run(open);
        at = open + length;
        let escapes = text.get(..open).unwrap_or_default().bytes().rev().take_while(|byte| *byte == b'\\').count();
        if escapes % 2 == 1 {
            at = open + 1;
            continue;
        }
        let mut close = at;
        while let Some(found) = text.get(close..).and_then(|rest| rest.find('`')) {
            let end = close + found;
            close = end + run(end);
            if close - end == length {
                spans.push((false, text.get(plain..open).unwrap_or_default()));
                spans.push((true, text.get(open..close).unwrap_or_default()));
                (plain, at) = (close, close);
                break;
            }
        }
    }
    spans.push((false, text.get(plain..).unwrap_or_default()));
    spans.retain(|(_, text)| !text.is_empty());
    spans
}
