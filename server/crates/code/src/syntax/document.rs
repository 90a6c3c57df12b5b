//! Symbols as a language server tells them, for where there is none.

use std::path::Path;
use std::sync::Arc;

use protocol::content::{Position, Range};
use protocol::lang::{LangLocation, LangSymbol};

use super::{Language, Outline, ParseError, Parsed};

/// The symbols of a document.
#[derive(Clone, Debug)]
pub struct DocumentSymbols {
    /// The symbols, each before those in it.
    pub symbols: Vec<LangSymbol>,
    /// True if there are more than [`MAX_SYMBOLS`](super::MAX_SYMBOLS), of which these are the first.
    pub is_cut: bool,
}

/// The symbols of a text with places in UTF-16; none if the language is not known.
///
/// # Errors
/// See [`ParseError`].
pub fn document_symbols(
    path: &Path,
    uri: &str,
    text: impl Into<Arc<str>>,
) -> Option<Result<DocumentSymbols, ParseError>> {
    let text = text.into();
    let language = Language::of_text(path, &text)?;
    Some(Parsed::new(language, text).map(|parsed| symbols(&parsed, uri)))
}

fn symbols(parsed: &Parsed, uri: &str) -> DocumentSymbols {
    let outline = Outline::new(parsed);
    let offsets = outline
        .symbols
        .iter()
        .flat_map(|symbol| [symbol.range.start, symbol.range.end, symbol.selection.start, symbol.selection.end]);
    let positions = Positions::new(&parsed.text, offsets.collect());
    let range =
        |range: &std::ops::Range<usize>| Range { start: positions.of(range.start), end: positions.of(range.end) };
    let mut depths: Vec<u32> = Vec::with_capacity(outline.symbols.len());
    let mut symbols = Vec::with_capacity(outline.symbols.len());
    for symbol in &outline.symbols {
        let parent = symbol.parent.and_then(|at| outline.symbols.get(at));
        let depth = symbol.parent.and_then(|at| depths.get(at)).map_or(0, |depth| depth + 1);
        depths.push(depth);
        symbols.push(LangSymbol {
            name: symbol.own_name().to_owned(),
            kind: symbol.kind.lsp(),
            detail: Some(symbol.signature(parsed)),
            container: parent.map(|parent| parent.own_name().to_owned()),
            depth,
            location: LangLocation { uri: uri.to_owned(), range: range(&symbol.range) },
            selection: range(&symbol.selection),
        });
    }
    DocumentSymbols { symbols, is_cut: outline.is_cut }
}

/// Where some bytes of a text are. All are counted in one go, since a line may be as long as the text.
struct Positions {
    offsets: Vec<usize>,
    positions: Vec<Position>,
}

impl Positions {
    fn new(text: &str, mut offsets: Vec<usize>) -> Self {
        offsets.sort_unstable();
        offsets.dedup();
        let mut positions = Vec::with_capacity(offsets.len());
        let (mut at, mut position) = (0, Position { line: 0, character: 0 });
        for offset in &offsets {
            for c in text.get(at..*offset).unwrap_or_default().chars() {
                match c {
                    '\n' => position = Position { line: position.line + 1, character: 0 },
                    // A character has one or two units of UTF-16.
                    _ => position.character += if c.len_utf16() == 2 { 2 } else { 1 },
                }
            }
            at = *offset;
            positions.push(position);
        }
        Self { offsets, positions }
    }

    fn of(&self, offset: usize) -> Position {
        let at = self.offsets.binary_search(&offset).unwrap_or_default();
        self.positions.get(at).copied().unwrap_or(Position { line: 0, character: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_have_their_places_in_utf_16() {
        let text = "// \u{1F600}\nstruct A;\n\nimpl A {\n    /* \u{1F600}\u{e9} */ fn f(&self) {\n    }\n}\n";
        let told = document_symbols(Path::new("a.rs"), "file:///a.rs", text).unwrap().unwrap().symbols;
        let rows: Vec<_> = told
            .iter()
            .map(|symbol| {
                let (all, name) = (symbol.location.range, symbol.selection);
                let place = |at: Position| (at.line, at.character);
                (symbol.name.as_str(), symbol.kind, symbol.depth, place(all.start), place(all.end), place(name.start))
            })
            .collect();
        let wanted = [
            ("A", 23, 0, (1, 0), (1, 9), (1, 7)),
            ("impl A", 19, 0, (3, 0), (6, 1), (3, 5)),
            ("f", 6, 1, (4, 14), (5, 5), (4, 17)),
        ];
        assert_eq!(rows, wanted);
        assert_eq!(told[2].container.as_deref(), Some("impl A"));
        assert_eq!(told[2].detail.as_deref(), Some("fn f(&self)"));
        assert_eq!(told[2].location.uri, "file:///a.rs");
    }

    #[test]
    fn a_header_with_classes_is_cpp_and_what_is_not_code_has_none() {
        let told = document_symbols(Path::new("a.h"), "file:///a.h", "class A { int f(); };\n").unwrap().unwrap();
        assert_eq!(told.symbols.iter().map(|symbol| symbol.kind).collect::<Vec<_>>(), [5, 6]);
        assert!(document_symbols(Path::new("a.txt"), "file:///a.txt", "A").is_none());
    }

    #[test]
    fn very_many_symbols_on_one_line_take_no_time() {
        let text = format!("[{}{{}}]", "{\"a\":1},".repeat(50_000));
        let told = document_symbols(Path::new("a.json"), "file:///a.json", text).unwrap().unwrap();
        assert_eq!((told.symbols.len(), told.is_cut), (50_000, false));
        assert_eq!(told.symbols[49_999].selection.start, Position { line: 0, character: 49_999 * 8 + 2 });
    }
}
