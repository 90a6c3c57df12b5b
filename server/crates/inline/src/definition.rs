//! The names near the cursor whose definitions help a model, and the lines of a definition.
//!
//! Names are found by their letters alone, since this runs with each request. A language server that knows nothing of a
//! name, such as a keyword, says so.

use std::ops::Range;

use memchr::memrchr;
use ports::complete::Excerpt;

/// The lines before the cursor's whose names count. What is written next is mostly about these.
const LINES: usize = 3;
/// The shortest name, in bytes. Shorter ones are most often variables of the lines around.
const SHORTEST: usize = 3;
/// The longest line in which names are looked for, in bytes.
const LONGEST_LINE: usize = 500;
/// The most lines of a definition.
const MOST_LINES: usize = 20;
/// The most bytes of a definition.
const MOST_BYTES: usize = 1024;
/// The most definitions that a model reads.
const MOST: usize = 3;
/// Keywords of the usual languages. To ask about them would only take a server's time.
const KEYWORDS: [&str; 56] = [
    "abstract",
    "and",
    "assert",
    "async",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "delete",
    "del",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "false",
    "final",
    "finally",
    "for",
    "from",
    "func",
    "function",
    "impl",
    "import",
    "interface",
    "lambda",
    "let",
    "match",
    "mod",
    "mut",
    "new",
    "not",
    "null",
    "package",
    "private",
    "public",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "type",
    "use",
    "var",
    "while",
];

/// A name in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name with what it belongs to on its line, as in `shapes::area`. Equal ones mostly mean the same.
    pub path: String,
    /// The byte at which the name itself begins.
    pub start: usize,
}

impl Name {
    /// The name itself, without what it belongs to.
    pub fn word(&self) -> &str {
        let end = self.path.char_indices().rev().find(|(_, it)| !is_part(*it));
        self.path.get(end.map_or(0, |(at, it)| at + it.len_utf8())..).unwrap_or_default()
    }
}

/// The names on the cursor's line and the lines before it: those of the nearest line first, and of one line those that
/// are called or look like types, from right to left. The name that is being typed is none of them.
pub fn names(text: &str, cursor: usize) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    let Some(before) = text.get(..cursor) else { return found };
    let rest = text.get(cursor..).unwrap_or_default();
    let mut start = memrchr(b'\n', before.as_bytes()).map_or(0, |at| at + 1);
    let mut end = cursor + rest.find('\n').unwrap_or(rest.len());
    for _ in 0..=LINES {
        let mut of_line = of_line(text, start..end);
        of_line.retain(|(name, _)| !(name.start..=name.start + name.word().len()).contains(&cursor));
        of_line.sort_by_key(|(name, is_likely)| (!is_likely, std::cmp::Reverse(name.start)));
        for (name, _) in of_line {
            if found.iter().all(|known| known.path != name.path) {
                found.push(name);
            }
        }
        let Some(last) = start.checked_sub(1) else { break };
        let above = text.get(..last).unwrap_or_default();
        (start, end) = (memrchr(b'\n', above.as_bytes()).map_or(0, |at| at + 1), last);
    }
    found
}

/// The lines of a definition that begins on a line of a text, from 0: that line, those that are indented more, and the
/// one that closes it. None if there is no such line, or if it is too long.
pub fn lines(text: &str, line: usize) -> Option<Range<usize>> {
    let start = match line {
        0 => 0,
        line => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let mut all = text.get(start..)?.split_inclusive('\n').take(MOST_LINES);
    let first = all.next()?;
    let depth = indent(first);
    let (mut end, mut taken) = (start + first.len(), start + first.len());
    if first.trim().is_empty() || end - start > MOST_BYTES {
        return None;
    }
    for line in all {
        taken += line.len();
        let (trimmed, is_inside) = (line.trim(), indent(line) > depth);
        let is_closing = indent(line) == depth && trimmed.starts_with(['}', ')', ']', '>', '{']);
        if taken - start > MOST_BYTES || !(trimmed.is_empty() || is_inside || is_closing) {
            break;
        }
        // A blank line belongs to it only if another line of it follows.
        if !trimmed.is_empty() {
            end = taken;
        }
        if is_closing && !trimmed.ends_with(['{', '(', '[', ':', ',']) {
            break;
        }
    }
    Some(start..end)
}

/// The bytes to keep for definitions of those that are left for other files. They do not depend on how many there are,
/// so that the parts of other files, which come before them, stay the same.
pub fn room(definitions: Option<&[Excerpt]>, left: usize) -> usize {
    definitions.map_or(0, |_| (MOST * MOST_BYTES).min(left / 2))
}

/// The definitions for a request that has these texts already, in a steady order.
pub fn chosen(definitions: Option<&[Excerpt]>, texts: &[&str]) -> Vec<Excerpt> {
    let mut chosen: Vec<Excerpt> = Vec::new();
    for definition in definitions.unwrap_or_default() {
        let is_there = texts.iter().any(|text| text.contains(definition.text.trim_end()));
        if !is_there && !chosen.contains(definition) && chosen.len() < MOST {
            chosen.push(definition.clone());
        }
    }
    chosen.sort_by(|a, b| (&a.path, &a.text).cmp(&(&b.path, &b.text)));
    chosen
}

/// The names of a line, with true for those that are called or look like types.
fn of_line(text: &str, line: Range<usize>) -> Vec<(Name, bool)> {
    let content = text.get(line.clone()).unwrap_or_default();
    let is_comment = ["//", "#", "--", "*", "/*", ";"].iter().any(|mark| content.trim_start().starts_with(mark));
    if content.len() > LONGEST_LINE || is_comment {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(begin) = content.get(at..).and_then(|rest| rest.find(is_part)) {
        let begin = at + begin;
        let rest = content.get(begin..).unwrap_or_default();
        let word = rest.get(..rest.find(|it| !is_part(it)).unwrap_or(rest.len())).unwrap_or_default();
        at = begin + word.len();
        let is_name = word.len() >= SHORTEST && !word.starts_with(|it: char| it.is_numeric());
        if !is_name || KEYWORDS.contains(&word) {
            continue;
        }
        let owner = owner(content.get(..begin).unwrap_or_default());
        let is_type = word.starts_with(char::is_uppercase);
        let is_called = content.get(at..).unwrap_or_default().starts_with(['(', '!', '<', '{']);
        let path = format!("{owner}{word}");
        found.push((Name { path, start: line.start + begin }, is_type || is_called));
    }
    found
}

/// The end of a text that a name right behind it belongs to, as `shapes::` or `self.`.
fn owner(before: &str) -> &str {
    let is_of_path = |it: char| is_part(it) || matches!(it, '.' | ':' | '>' | '-');
    let start = before.char_indices().rev().find(|(_, it)| !is_of_path(*it)).map_or(0, |(at, it)| at + it.len_utf8());
    let owner = before.get(start..).unwrap_or_default();
    if owner.ends_with(['.', ':', '>']) { owner } else { "" }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

fn is_part(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn paths(text: &str) -> Vec<String> {
        let cursor = text.find('|').unwrap();
        names(&text.replacen('|', "", 1), cursor).into_iter().map(|name| name.path).collect()
    }

    #[test]
    fn calls_and_types_of_the_nearest_line_come_first() {
        let text = "fn far(near: Bar) {}\nlet header = Header::read(reader);\nreturn header.wrap(area(side)) + |\n";
        let expected =
            ["area", "header.wrap", "side", "header", "Header::read", "Header", "reader", "Bar", "far", "near"];
        let mut found = paths(text);
        found.sort();
        let mut all = expected;
        all.sort();
        assert_eq!(found, all);
        assert_eq!(paths(text)[..2], ["area", "header.wrap"]);
    }

    #[test]
    fn the_name_that_is_typed_and_keywords_and_comments_are_left_out() {
        assert_eq!(paths("// Calls area().\nlet total = are|\n"), ["total"]);
        assert_eq!(paths("return lambda: 123|"), [""; 0]);
        assert_eq!(paths("let x = a.b.Shape::area(|)"), ["a.b.Shape::area", "a.b.Shape"]);
    }

    #[test]
    fn only_some_lines_before_the_cursor_count() {
        assert_eq!(paths("one1()\ntwo2()\ntri3()\nfor4()\n|"), ["for4", "tri3", "two2"]);
    }

    #[test]
    fn a_definition_ends_with_what_closes_it() {
        for (text, line, expected) in [
            ("fn a() {\n    b();\n\n    c();\n}\n\nfn d() {}\n", 0, "fn a() {\n    b();\n\n    c();\n}\n"),
            ("def a():\n    return 1\n\ndef b():\n    pass\n", 0, "def a():\n    return 1\n"),
            ("x\nfn a(\n    b: u8,\n) -> u8 {\n    b\n}\nc\n", 1, "fn a(\n    b: u8,\n) -> u8 {\n    b\n}\n"),
            ("const A: u8 = 1;\nconst B: u8 = 2;\n", 0, "const A: u8 = 1;\n"),
            ("class A {\n    int b;\n    int c() { return 1; }\n};\nint d;\n", 1, "    int b;\n"),
            ("int a(int b)\n{\n    return b;\n}\nint c;\n", 0, "int a(int b)\n{\n    return b;\n}\n"),
        ] {
            assert_eq!(lines(text, line).map(|range| &text[range]), Some(expected), "{text}");
        }
        assert_eq!(lines("one\n", 3), None);
        assert_eq!(lines("\n\n", 1), None);
    }

    #[test]
    fn a_long_definition_is_cut_at_whole_lines() {
        let text = format!("fn a() {{\n{}}}\n", "    let line = of_the_body();\n".repeat(100));
        let cut = &text[lines(&text, 0).unwrap()];
        assert_eq!(cut.lines().count(), MOST_LINES);
        assert!(cut.ends_with("body();\n"));
        let wide = format!("fn a() {{\n{}}}\n", format!("    {}\n", "x".repeat(300)).repeat(100));
        assert!(wide[lines(&wide, 0).unwrap()].len() <= MOST_BYTES);
        assert_eq!(lines(&"x".repeat(2000), 0), None);
    }

    fn excerpt(path: &str, text: &str) -> Excerpt {
        Excerpt { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn what_is_read_already_is_not_sent_twice_and_the_order_is_steady() {
        let [b, a, c, d] = ["b", "a", "c", "d"].map(|path| excerpt(path, &format!("fn {path}() {{}}\n")));
        let all = [b.clone(), a.clone(), b.clone(), c.clone(), d.clone()];
        assert_eq!(chosen(Some(&all), &["x"]), [a.clone(), b.clone(), c.clone()]);
        assert_eq!(chosen(Some(&all), &["x\nfn a() {}\ny\n"]), [b, c, d]);
        assert_eq!(chosen(None, &["x"]), []);
    }

    #[test]
    fn there_is_room_for_definitions_only_with_a_warm_server_and_never_more_than_half() {
        assert_eq!((room(None, 9000), room(Some(&[]), 9000), room(Some(&[]), 1000)), (0, 3 * MOST_BYTES, 500));
    }

    proptest! {
        #[test]
        fn names_are_in_the_text_where_they_are_said_to_be(text in "([a-zA-Z0-9_€(). :>-]{0,14}\n?){0,12}", at in 0..160_usize) {
            let cursor = text.floor_char_boundary(at);
            for name in names(&text, cursor) {
                prop_assert!(text[name.start..].starts_with(name.word()));
                prop_assert!(!name.word().is_empty());
            }
            for line in 0..14 {
                if let Some(range) = lines(&text, line) {
                    prop_assert!(text.get(range.clone()).is_some() && range.len() <= MOST_BYTES);
                }
            }
        }
    }
}
