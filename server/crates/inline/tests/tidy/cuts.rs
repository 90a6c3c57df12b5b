//! Good answers: the text that stood in a source where the cursor is now.

use super::*;

/// A good answer and its document.
pub(super) struct Cut {
    pub(super) kind: Kind,
    pub(super) document: Document,
    pub(super) answer: String,
}

/// The part of a source that is cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// From the middle of a line to its end.
    Rest,
    /// The text between brackets on one line.
    Arguments,
    /// The lines in a block, the cursor being behind what opens it.
    Body,
    /// The statements up to the end of their block, the cursor being indented.
    Statements,
    /// From the middle of a line that opens a block to the end of the block.
    Definition,
    /// Statements at the end of a document that goes no further.
    AtEnd,
}

/// The sources: some of this project's own, and those in the corpus. Sources that speak of the tokens that control
/// models, or of keys, are not among them: of these there are suggestions nowhere.
pub(super) fn sources() -> Vec<(PathBuf, String)> {
    let folders = [
        "server/crates/code/src",
        "server/crates/ports/src",
        "server/crates/shell/src",
        "editors/nvim/lua/azimuth",
        "editors/vscode/src",
        "tests/clients",
        "tests/corpus/inline",
    ];
    let is_source = |path: &PathBuf| {
        let extensions = ["rs", "lua", "ts", "tsx", "mjs", "py", "java", "kt", "php", "c", "go"];
        path.extension().is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
    };
    let paths = folders.iter().flat_map(|folder| files(&project().join(folder))).filter(is_source);
    let texts = paths.map(|path| (path.clone(), fs::read_to_string(path).unwrap()));
    let is_special =
        |text: &str| ["<|", "fim_", "<PRE>", "[SUFFIX]", "sk-", "PRIVATE KEY"].iter().any(|it| text.contains(it));
    texts.filter(|(_, text)| !is_special(text)).collect()
}

/// Good answers from a source, as many of each kind as are wanted, evenly spread.
pub(super) fn of(path: &Path, text: &str, count: usize) -> Vec<Cut> {
    let lines = Lines::new(text);
    let kinds = [Kind::Rest, Kind::Arguments, Kind::Body, Kind::Statements, Kind::Definition, Kind::AtEnd];
    let mut cuts = Vec::new();
    for (nth, kind) in kinds.into_iter().enumerate() {
        let all: Vec<_> = (0..lines.0.len()).filter_map(|row| lines.cut(kind, row)).collect();
        let step = (all.len() / count).max(1);
        cuts.extend(all.into_iter().skip((nth * 7 + 3) % step).step_by(step).take(count).map(|(range, multi_line)| {
            let after = if kind == Kind::AtEnd { "\n" } else { &text[range.end..] };
            let document = Document {
                path: path.to_owned(),
                text: format!("{}{after}", &text[..range.start]),
                offset: range.start,
                indent: Indent::of(text).unwrap_or(Indent::Spaces(4)),
                multi_line,
            };
            Cut { kind, document, answer: text[range].to_owned() }
        }));
    }
    cuts
}

/// The lines of a text with the offsets where they begin.
struct Lines<'a>(Vec<(usize, &'a str)>);

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let mut at = 0;
        let line = |line: &'a str| {
            at += line.len();
            (at - line.len(), line.trim_end_matches(['\n', '\r']))
        };
        Self(text.split_inclusive('\n').map(line).collect())
    }

    fn line(&self, row: usize) -> &'a str {
        self.0.get(row).map_or("", |(_, line)| line)
    }

    fn indent(&self, row: usize) -> usize {
        self.line(row).len() - self.line(row).trim_start().len()
    }

    fn is_blank(&self, row: usize) -> bool {
        self.line(row).trim().is_empty()
    }

    fn end(&self, row: usize) -> usize {
        self.0[row].0 + self.line(row).trim_end().len()
    }

    /// The range that is cut out at a line, and if the answer may have many lines.
    fn cut(&self, kind: Kind, row: usize) -> Option<(std::ops::Range<usize>, bool)> {
        let (start, line) = self.0[row];
        let middle = self.middle(row);
        match kind {
            Kind::Rest => Some((middle?..self.end(row), row.is_multiple_of(2))),
            Kind::Arguments => {
                let open = line.find('(')? + 1;
                let close = open + line[open..].find(')')?;
                let inner = &line[open..close];
                let is_whole = !inner.is_empty() && !inner.contains('(') && inner == inner.trim();
                is_whole.then_some((start + open..start + close, false))
            }
            Kind::Body => {
                let last = self.body(row)?;
                Some((self.end(row)..self.end(last), true))
            }
            Kind::Statements | Kind::AtEnd => {
                let last = self.last_of_block(row)?;
                (kind == Kind::Statements || self.indent(row) > 0)
                    .then_some((start + self.indent(row)..self.end(last), true))
            }
            Kind::Definition => {
                let last = self.body(row)?;
                let next = last + 1;
                let closes =
                    self.line(next).trim_start().starts_with(['}', ')', ']']) || self.line(next).trim() == "end";
                let end = if closes && self.indent(next) == self.indent(row) { next } else { last };
                Some((middle?..self.end(end), true))
            }
        }
    }

    /// A place within a line behind which a word begins, about in its middle.
    fn middle(&self, row: usize) -> Option<usize> {
        let (start, line) = self.0[row];
        let line = line.trim_end();
        let text = line.trim_start();
        let from = line.len() - text.len() + text.len() / 3;
        let from = (from..line.len()).find(|at| line.is_char_boundary(*at))?;
        let place = line[from..].find([' ', '(', '.', '=', '"'])? + from + 1;
        (text.len() >= 12 && place < line.len() && !line[place..].starts_with(' ')).then_some(start + place)
    }

    /// The last line of the block that a line opens, if the block is not long.
    fn body(&self, row: usize) -> Option<usize> {
        let line = self.line(row).trim_end();
        let opens = line.ends_with(['{', ':', '(', '[']) || line.ends_with("then") || line.ends_with(" do");
        let indent = self.indent(row);
        let is_inside = |row: &usize| self.is_blank(*row) || self.indent(*row) > indent;
        let last = (row + 1..self.0.len()).take_while(is_inside).filter(|row| !self.is_blank(*row)).last()?;
        (opens && !line.trim().is_empty() && last - row <= 14).then_some(last)
    }

    /// The last line of the block that a line is in, if not many are left and the line begins a statement.
    fn last_of_block(&self, row: usize) -> Option<usize> {
        let indent = self.indent(row);
        let is_inside = |row: &usize| self.is_blank(*row) || self.indent(*row) >= indent;
        let last = (row..self.0.len()).take_while(is_inside).filter(|row| !self.is_blank(*row)).last()?;
        let above = (0..row).rev().find(|row| !self.is_blank(*row));
        let is_begin = above.is_none_or(|above| self.indent(above) == indent || self.is_opening(above, indent));
        let is_closer = self.line(row).trim_start().starts_with(['}', ')', ']', '.', '?', '|', '&']);
        (!self.is_blank(row) && indent > 0 && is_begin && !is_closer && last - row <= 14).then_some(last)
    }

    fn is_opening(&self, row: usize, indent: usize) -> bool {
        self.indent(row) < indent && self.line(row).trim_end().ends_with(['{', ':'])
    }
}
