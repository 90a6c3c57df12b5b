//! Where a question points: models name symbols and texts on a line well, and columns badly.

use std::ops::Range;

use code::syntax::{Language, Lookup, Outline, Parsed, Symbol};
use project::text::{LineIndex, PositionEncoding};
use protocol::Position;

/// How many symbols of the same name are listed.
const MOST: usize = 10;

/// A place in a text, as a model names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// Where a symbol is defined, by its path of names: `Type/method`. See [`Outline::find`].
    Symbol(&'a str),
    /// A text on a line. What is asked about is its last name: `total` of `shop.total`, `area` of `fn area(side`.
    Text {
        /// The line, from 1.
        line: usize,
        /// The text.
        text: &'a str,
        /// The number of the text among several on the line, from 1: among those that stand by themselves. If none
        /// does, among those that are a part of other names, and if none is written so, whatever their case.
        occurrence: usize,
        /// True if only what stands by itself counts: who changes something must not take another name for it.
        is_exact: bool,
        /// The language, which may have more in its names than letters, digits and `_`.
        language: Option<Language>,
    },
}

/// A place that is not there, or that may be several. The words are for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// No symbol is called so.
    #[error("there is no symbol `{name}`{}", like(.near))]
    NoSymbol {
        /// The name that was looked for.
        name: String,
        /// The names that are much like it.
        near: Vec<String>,
    },
    /// Several symbols are called so.
    #[error("`{name}` may be several symbols: {}; name one so", several(.found, *.all))]
    Several {
        /// The name that was looked for.
        name: String,
        /// The names of the first of them, with their places.
        found: Vec<String>,
        /// How many there are.
        all: usize,
    },
    /// The text has no such line.
    #[error("there is no line {line}; it has {lines}")]
    NoLine {
        /// The line, from 1.
        line: usize,
        /// How many there are.
        lines: usize,
    },
    /// The line has no such text, or not so often.
    #[error("line {line} has no {}`{text}`{}; it is: {content}", which(*.occurrence), how(*.is_exact))]
    NoText {
        /// The line, from 1.
        line: usize,
        /// The text.
        text: String,
        /// The number of the text on the line, from 1.
        occurrence: usize,
        /// True if it was to stand by itself.
        is_exact: bool,
        /// The text of the line.
        content: String,
    },
}

impl Place<'_> {
    /// Where it is in a text, in UTF-16. The text's tree is only needed for a symbol.
    ///
    /// # Errors
    /// Each kind of [`PlaceError`].
    pub fn find(&self, text: &str, parsed: Option<&Parsed>) -> Result<Position, PlaceError> {
        let offset = match *self {
            Self::Symbol(name) => symbol(name, parsed)?,
            Self::Text { line, text: wanted, occurrence, is_exact, language } => {
                let how = How { occurrence, is_exact, language };
                on_line(text, line, wanted, how)?
            }
        };
        Ok(LineIndex::new(text).position(text, offset, PositionEncoding::Utf16))
    }
}

impl PlaceError {
    /// That a name may be several symbols. Only the first are made words of.
    pub fn several(name: &str, found: impl ExactSizeIterator<Item = String>) -> Self {
        let all = found.len();
        Self::Several { name: name.to_owned(), found: found.take(MOST).collect(), all }
    }
}

fn symbol(name: &str, parsed: Option<&Parsed>) -> Result<usize, PlaceError> {
    let none = |near| PlaceError::NoSymbol { name: name.to_owned(), near };
    let parsed = parsed.ok_or_else(|| none(Vec::new()))?;
    let outline = Outline::new(parsed);
    match outline.find(name) {
        Lookup::One(symbol) => Ok(name_of(symbol, &parsed.text)),
        Lookup::None(near) => Err(none(near)),
        Lookup::Several(symbols) => {
            let shown = |symbol: &&Symbol| format!("`{}` on line {}", outline.distinct_name(symbol), symbol.line);
            Err(PlaceError::several(name, symbols.iter().map(shown)))
        }
    }
}

/// Where the symbols of a text that a path of names means have their names, in UTF-16: the first so many, in their
/// order, and whether there are more.
pub fn names_of(parsed: &Parsed, outline: &Outline, path: &str, most: usize) -> (Vec<Position>, bool) {
    let called = outline.called(path);
    let index = LineIndex::new(&parsed.text);
    let place = |symbol: &&Symbol| {
        let offset = name_of(symbol, &parsed.text);
        index.position(&parsed.text, offset, PositionEncoding::Utf16)
    };
    (called.iter().take(most).map(place).collect(), called.len() > most || outline.is_cut)
}

/// Where a symbol's own name stands, which may have those of what it is in before it: `Type::method`.
fn name_of(symbol: &Symbol, text: &str) -> usize {
    let name = symbol.own_name();
    // `impl Trait for Type` is called so; what is asked about is the type.
    let name = name.rsplit(' ').next().unwrap_or(name);
    let written = text.get(symbol.selection.clone()).unwrap_or_default();
    symbol.selection.start + words(written, name).last().unwrap_or_default()
}

/// Where a name first stands in a part of a text, all in UTF-16; in its line, where the part is but a place.
pub fn name_within(text: &str, part: protocol::Range, name: &str) -> Option<Position> {
    let index = LineIndex::new(text);
    let start = index.offset(text, part.start, PositionEncoding::Utf16)?;
    let line_end = || text.get(start..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| start + length);
    let end =
        if part.start == part.end { line_end() } else { index.offset(text, part.end, PositionEncoding::Utf16)? };
    let at = words(text.get(start..end)?, name).next()?;
    Some(index.position(text, start + at, PositionEncoding::Utf16))
}

/// How a text is looked for on a line.
#[derive(Clone, Copy)]
struct How {
    occurrence: usize,
    is_exact: bool,
    language: Option<Language>,
}

fn on_line(text: &str, line: usize, wanted: &str, how: How) -> Result<usize, PlaceError> {
    let How { occurrence, is_exact, language } = how;
    let mut start = 0;
    let mut lines = text.split_inclusive('\n');
    let content = line.checked_sub(1).and_then(|skip| {
        start = lines.by_ref().take(skip).map(str::len).sum();
        lines.next()
    });
    let Some(content) = content else {
        return Err(PlaceError::NoLine { line, lines: text.lines().count() });
    };
    let content = content.trim_end_matches('\n');
    // The first way of counting that finds any is the one that counts, lest another name be taken where the number is
    // too high.
    let is_whole = |at: &usize| !goes_on(content, *at..at + wanted.len(), language);
    let mut found: Vec<usize> = words(content, wanted).filter(is_whole).collect();
    if found.is_empty() && !is_exact {
        found = words(content, wanted).collect();
    }
    if found.is_empty() && !is_exact {
        found = content.match_indices(wanted).map(|(at, _)| at).collect();
    }
    if found.is_empty() && !is_exact {
        // Letters of other scripts may change their length with their case.
        let (content, wanted) = (content.to_ascii_lowercase(), wanted.to_ascii_lowercase());
        found = content.match_indices(&wanted).map(|(at, _)| at).collect();
    }
    let at = occurrence.checked_sub(1).and_then(|at| found.get(at)).filter(|_| !wanted.is_empty());
    let none = || PlaceError::NoText {
        line,
        text: wanted.to_owned(),
        occurrence,
        is_exact,
        content: content.trim().chars().take(200).collect(),
    };
    at.map(|at| start + at + last_name(wanted)).ok_or_else(none)
}

/// Where in a text the name stands that it is about: the last one, but of a call or the like the one before its
/// bracket.
fn last_name(text: &str) -> usize {
    let of_call = text.match_indices(['(', '[', '{', '<']).map(|(at, _)| text.get(..at).unwrap_or_default());
    let head = of_call.into_iter().find(|head| head.ends_with(is_name)).unwrap_or(text);
    let is_word = |name: &&str| name.chars().next().is_some_and(|first| !first.is_numeric());
    let name = head.rsplit(|c| !is_name(c)).find(is_word).unwrap_or_default();
    if name.is_empty() { 0 } else { words(head, name).last().unwrap_or_default() }
}

/// The name that a position in UTF-16 stands in, or right behind.
pub fn word_at(text: &str, position: Position) -> Option<&str> {
    let at = LineIndex::new(text).offset(text, position, PositionEncoding::Utf16)?;
    let (before, after) = (text.get(..at)?, text.get(at..)?);
    let start = at - before.chars().rev().take_while(|c| is_name(*c)).map(char::len_utf8).sum::<usize>();
    let end = at + after.chars().take_while(|c| is_name(*c)).map(char::len_utf8).sum::<usize>();
    text.get(start..end).filter(|word| !word.is_empty())
}

/// Where a name stands by itself, not as a part of another.
pub(super) fn words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    text.match_indices(name).map(|(at, _)| at).filter(move |at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + name.len()..).and_then(|after| after.chars().next());
        let stands_alone =
            |beside: Option<char>, own: Option<char>| !(beside.is_some_and(is_name) && own.is_some_and(is_name));
        stands_alone(before, name.chars().next()) && stands_alone(after, name.chars().next_back())
    })
}

/// True if a name of this language goes on where a word in it begins or ends: `user$`, `'item`, `save!`.
fn goes_on(text: &str, word: Range<usize>, language: Option<Language>) -> bool {
    let before = text.get(..word.start).unwrap_or_default();
    let mut after = text.get(word.end..).unwrap_or_default().chars();
    let (next, second) = (after.next(), after.next());
    match language {
        Some(Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Java) => {
            before.ends_with(['$', '#']) || next == Some('$')
        }
        // A character has a quote on both sides, a lifetime on one.
        Some(Language::Rust) => before.ends_with('\'') && next != Some('\''),
        Some(Language::Ruby) => {
            before.ends_with(['@', '$']) || (matches!(next, Some('!' | '?')) && !matches!(second, Some('=' | '~')))
        }
        _ => false,
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn like(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) }
}

fn several(found: &[String], all: usize) -> String {
    let more = all.saturating_sub(found.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", found.join(", "))
}

fn how(is_exact: bool) -> &'static str {
    if is_exact { " that stands by itself and is written so" } else { "" }
}

fn which(occurrence: usize) -> String {
    if occurrence == 1 { String::new() } else { format!("occurrence {occurrence} of ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "struct A;\nimpl A {\n    fn make(a: u8) {}\n}\nfn make() { let ä𝄞 = make(); Make(); }\n";

    fn at(place: Place<'_>) -> Result<(u32, u32), String> {
        let parsed = Parsed::new(Language::Rust, CODE).unwrap();
        let found = place.find(CODE, Some(&parsed)).map_err(|error| error.to_string())?;
        Ok((found.line, found.character))
    }

    #[test]
    fn a_symbol_is_found_at_its_name() {
        assert_eq!(at(Place::Symbol("A/make")), Ok((2, 7)));
        assert_eq!(at(Place::Symbol("/make")), Ok((4, 3)));
        assert_eq!(at(Place::Symbol("impl A")), Ok((1, 5)));
        let several = at(Place::Symbol("make")).unwrap_err();
        assert_eq!(several, "`make` may be several symbols: `/impl A/make` on line 3, `/make` on line 5; name one so");
        assert!(at(Place::Symbol("mak")).unwrap_err().starts_with("there is no symbol `mak`; there is "));
    }

    #[test]
    fn a_symbol_is_found_at_its_name_and_not_at_what_is_called_so_before_it() {
        let at = |language, code: &str, name| {
            let parsed = Parsed::new(language, code).unwrap();
            let found = Place::Symbol(name).find(code, Some(&parsed)).unwrap();
            (found.line, found.character)
        };
        assert_eq!(at(Language::CSharp, "class A {\n  public Size Size { get; }\n}\n", "A/Size"), (1, 14));
        assert_eq!(at(Language::Cpp, "b a::b(int b) {}\n", "b"), (0, 5));
        assert_eq!(at(Language::Rust, "impl Area for Area2 {}\n", "impl Area for Area2"), (0, 14));
    }

    #[test]
    fn a_name_is_found_in_a_part_of_a_text() {
        let text = "#[area]\npub fn ä(area: u8) {}\n";
        let part = |start, end| {
            let at = |(line, character)| Position { line, character };
            name_within(text, protocol::Range { start: at(start), end: at(end) }, "area")
                .map(|at| (at.line, at.character))
        };
        assert_eq!(part((1, 0), (1, 22)), Some((1, 9)));
        assert_eq!(part((1, 0), (1, 0)), Some((1, 9)), "in the line, where the part is but a place");
        assert_eq!(part((1, 14), (1, 22)), None);
        let word = |line, character| word_at(text, Position { line, character });
        assert_eq!([word(1, 7), word(1, 8), word(1, 11), word(1, 14)], [Some("ä"), Some("ä"), Some("area"), None]);
    }

    #[test]
    fn a_text_is_found_on_its_line_as_a_word_first_and_in_utf_16() {
        let text = |text, occurrence| Place::Text { line: 5, text, occurrence, is_exact: false, language: None };
        assert_eq!(at(text("make", 1)), Ok((4, 3)));
        assert_eq!(at(text("make", 2)), Ok((4, 22)));
        assert_eq!(at(text("a", 1)), Ok((4, 4)), "no word is called so, so that a part must do");
        assert_eq!(at(text("MAKE", 3)), Ok((4, 30)));
        assert!(at(text("make", 4)).unwrap_err().contains("has no occurrence 4 of `make`"));
        assert!(at(text("", 1)).is_err());
        let line = |line| at(Place::Text { line, text: "make", occurrence: 1, is_exact: false, language: None });
        assert_eq!(line(9).unwrap_err(), "there is no line 9; it has 5");
        assert!(line(0).is_err());
    }

    #[test]
    fn a_number_counts_in_one_way_and_never_takes_another_name() {
        let at = |content: &str, text, occurrence, is_exact| {
            let found = Place::Text { line: 1, text, occurrence, is_exact, language: None }.find(content, None);
            found.map(|at| at.character).map_err(|error| error.to_string())
        };
        let line = "let index = idx + indexOf(x)";
        for is_exact in [false, true] {
            assert_eq!(at(line, "index", 1, is_exact), Ok(4));
            assert!(at(line, "index", 2, is_exact).unwrap_err().contains("has no occurrence 2 of `index`"));
        }
        // The line of a stale number: who only reads sees by the answer what was taken.
        assert_eq!(at("let values = [1];", "value", 1, false), Ok(4));
        let refused = at("let values = [1];", "value", 1, true).unwrap_err();
        let wanted = "line 1 has no `value` that stands by itself and is written so; it is: let values = [1];";
        assert_eq!(refused, wanted);
        assert!(at("let Value = [1];", "value", 1, true).is_err());
    }

    #[test]
    fn a_name_has_more_in_it_than_letters_in_some_languages() {
        let at = |language, content: &str, text| {
            let at = |is_exact| {
                let place = Place::Text { line: 1, text, occurrence: 1, is_exact, language: Some(language) };
                place.find(content, None).ok().map(|at| at.character)
            };
            (at(true), at(false))
        };
        assert_eq!(at(Language::TypeScript, "user$.pipe(user)", "user"), (Some(11), Some(11)));
        assert_eq!(at(Language::TypeScript, "user$.pipe($user)", "user"), (None, Some(0)));
        assert_eq!(at(Language::TypeScript, "user$.pipe()", "user$"), (Some(0), Some(0)));
        assert_eq!(at(Language::JavaScript, "this.#count = count", "count"), (Some(14), Some(14)));
        assert_eq!(at(Language::Php, "f($user);", "user"), (Some(3), Some(3)));
        assert_eq!(at(Language::Rust, "fn f<'item>(item: &'item u8)", "item"), (Some(12), Some(12)));
        assert_eq!(at(Language::Rust, "let a = ('a', b);", "b"), (Some(14), Some(14)));
        assert_eq!(at(Language::Rust, "vec![1]", "vec"), (Some(0), Some(0)));
        assert_eq!(at(Language::Ruby, "save! if save", "save"), (Some(9), Some(9)));
        assert_eq!(at(Language::Ruby, "@user = user", "user"), (Some(8), Some(8)));
        assert_eq!(at(Language::Ruby, "save!= 1", "save"), (Some(0), Some(0)));
    }

    #[test]
    fn what_is_asked_about_is_the_last_name_of_the_text() {
        let at = |content: &str, text| {
            let place = Place::Text { line: 1, text, occurrence: 1, is_exact: true, language: None };
            let found = place.find(content, None).unwrap();
            word_at(content, found).map(str::to_owned).unwrap_or_default()
        };
        assert_eq!(at("a = shop.total + 1", "shop.total"), "total");
        assert_eq!(at("pub fn area(side: u8) {}", "fn area"), "area");
        assert_eq!(at("pub fn area(side: u8) {}", "fn area(side: u8)"), "area", "before the bracket");
        assert_eq!(at("a = shop.total()", "shop.total()"), "total");
        assert_eq!(at("f(total + 2)", "(total + 2)"), "total", "a number is no name");
        assert_eq!(at("if n < total {", "n < total"), "total");
        assert_eq!(at("a: Vec<Shop>", "Vec<Shop>"), "Vec");
        assert_eq!(at("let ä = ä.ö;", "ä.ö"), "ö");
        assert_eq!(at("let ä = total.tot;", "total.tot"), "tot");
    }
}
