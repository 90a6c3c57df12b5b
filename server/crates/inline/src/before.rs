//! The rules that keep a suggestion from being asked for, as far as they are about the text and the last event.

use std::ops::Range;
use std::path::Path;

use code::syntax::{Language, Parsed, Scope};
use protocol::inline::Rule;

use crate::journal::Kind;
use crate::splice::Splice;

/// The fewest characters without space that are enough to go on from.
const FEWEST: usize = 10;
/// The distance to which these are looked for on each side, in bytes.
const NEAR: usize = 4 << 10;

/// The part of a text that is parsed to know a scope, in bytes before the cursor and after it. It takes about a
/// millisecond.
const PARSED_BEFORE: usize = 4 << 10;
const PARSED_AFTER: usize = 1 << 10;

/// A cursor in a text.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'t> {
    /// The file's path, for its language.
    pub path: &'t Path,
    /// The text.
    pub text: &'t str,
    /// The cursor's offset.
    pub cursor: usize,
}

/// The reason for asking.
#[derive(Clone, Debug, Default)]
pub struct Event<'t> {
    /// True if the user asks by hand.
    pub is_invoked: bool,
    /// The last change of the document; none if there was none.
    pub change: Option<Kind>,
    /// True if there are several cursors, or something is selected.
    pub has_cursors: bool,
    /// The completion menu.
    pub menu: Menu<'t>,
}

/// The editor's completion menu.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Menu<'t> {
    /// It is not shown, or the editor does not say.
    #[default]
    Closed,
    /// It is shown, and the selected entry is not known.
    Open,
    /// It is shown with a selected entry.
    Selected {
        /// The bytes that the entry replaces.
        range: Range<usize>,
        /// The entry's text.
        text: &'t str,
    },
}

/// The limits and the switches of the user.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest text, in bytes.
    pub bytes: usize,
    /// The longest line, in bytes.
    pub line_bytes: usize,
    /// The most lines that may be pasted without silence.
    pub pasted_lines: usize,
    /// True if nothing is suggested in comments.
    pub no_comments: bool,
    /// True if nothing is suggested in texts in quotes.
    pub no_texts: bool,
    /// Rules that are switched off. Those of size and of the menu cannot be.
    pub off: Vec<Rule>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 2 << 20, line_bytes: 5000, pasted_lines: 5, no_comments: false, no_texts: false, off: Vec::new() }
    }
}

impl Cursor<'_> {
    fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or(self.text)
    }

    fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// The cursor's line up to it.
    fn line_before(&self) -> &str {
        let before = self.before();
        before.rfind('\n').and_then(|end| before.get(end + 1..)).unwrap_or(before)
    }

    /// The cursor's line from it on, without its end.
    fn line_after(&self) -> &str {
        let after = self.after();
        after.find('\n').and_then(|end| after.get(..end)).unwrap_or(after)
    }

    fn language(&self) -> Option<Language> {
        Language::possible(self.path).first().copied()
    }
}

/// The first rule that demands silence; none if a suggestion may be asked for.
///
/// One that is asked for by hand only has to keep the limits of size, and to go with the completion menu. A cursor
/// inside a character is taken to be before it.
pub fn silence(at: &Cursor, event: &Event, limits: &Limits) -> Option<Rule> {
    let at = &Cursor { cursor: at.text.floor_char_boundary(at.cursor), ..*at };
    if at.text.len() > limits.bytes {
        return Some(Rule::TooLarge);
    }
    if at.line_before().len() + at.line_after().len() > limits.line_bytes {
        return Some(Rule::LongLine);
    }
    if event.menu != Menu::Closed && extended(at, &event.menu).is_none() {
        return Some(Rule::Menu);
    }
    if event.is_invoked {
        return None;
    }
    let is_on = |rule: &Rule| !limits.off.contains(rule);
    let by_change = match event.change {
        _ if event.has_cursors => Some(Rule::Cursors),
        Some(Kind::Several) => Some(Rule::Cursors),
        Some(Kind::Undone) => Some(Rule::Undo),
        Some(Kind::Deleted) => Some(Rule::Deletion),
        Some(Kind::Pasted { lines }) if lines > limits.pasted_lines => Some(Rule::Paste),
        Some(Kind::Own) => Some(Rule::OwnEdit),
        Some(Kind::Typed | Kind::Accepted | Kind::Pasted { .. }) | None => None,
    };
    by_change
        .filter(is_on)
        .or_else(|| (is_on(&Rule::TooShort) && is_short(at)).then_some(Rule::TooShort))
        .or_else(|| (is_on(&Rule::MidWord) && is_mid_word(at)).then_some(Rule::MidWord))
        .or_else(|| (is_on(&Rule::MidLine) && is_mid_line(at)).then_some(Rule::MidLine))
        .or_else(|| is_on(&Rule::Scope).then(|| silent_scope(at, limits)).flatten())
}

/// The change that taking the selected entry of the menu would make, which a suggestion has to extend; none if the menu
/// is closed, or if the entry does not go on from what is typed up to the cursor.
pub fn extended(at: &Cursor, menu: &Menu) -> Option<Splice> {
    let Menu::Selected { range, text } = menu else { return None };
    let typed = at.text.get(range.start..at.cursor).filter(|_| range.end >= at.cursor)?;
    let replaced = at.text.get(range.clone()).filter(|replaced| !replaced.contains('\n'))?;
    (text.starts_with(typed) && text.starts_with(replaced))
        .then(|| Splice { range: range.clone(), text: (*text).to_owned() })
}

/// True if a suggestion may have several lines: on a blank line, where a block begins that has nothing in it yet, and
/// after an accepted suggestion. Never in the middle of a line or in a line comment.
pub fn wants_block(at: &Cursor, is_after_accepted: bool) -> bool {
    let at = &Cursor { cursor: at.text.floor_char_boundary(at.cursor), ..*at };
    let language = at.language();
    let (before, after) = (at.line_before(), at.line_after());
    if !is_closers(after) || is_line_comment(before, language) {
        return false;
    }
    let is_blank = before.trim().is_empty() && after.trim().is_empty();
    is_blank || is_after_accepted || begins_block(before.trim(), language) && !has_body(before, at.after())
}

/// The scope at the cursor; code if the language is not known.
///
/// Only the text around the cursor is parsed, from a line on at which nothing should be open. A text in quotes that is
/// being written is often not closed yet, so if there are errors the quotes on the line are counted.
pub fn scope(at: &Cursor) -> Scope {
    let cursor = at.text.floor_char_boundary(at.cursor);
    let at = &Cursor { cursor, ..*at };
    let Some(language) = at.language() else { return Scope::Code };
    let start = parsed_from(at.before());
    let end = at.text.floor_char_boundary(cursor.saturating_add(PARSED_AFTER));
    let end = at.text.get(cursor..end).and_then(|part| part.rfind('\n')).map_or(end, |line_end| cursor + line_end);
    let Some(part) = at.text.get(start..end) else { return Scope::Code };
    let Ok(parsed) = Parsed::new(language, part) else { return Scope::Code };
    match parsed.scope(cursor - start) {
        Scope::Code if language != Language::Json && !parsed.errors().is_empty() => {
            unclosed(at.line_before(), language)
        }
        found => found,
    }
}

fn silent_scope(at: &Cursor, limits: &Limits) -> Option<Rule> {
    // Nothing is parsed if the result does not matter.
    if !limits.no_comments && !limits.no_texts {
        return None;
    }
    let is_silent = match scope(at) {
        Scope::Code => false,
        Scope::Comment => limits.no_comments,
        Scope::Text => limits.no_texts,
    };
    is_silent.then_some(Rule::Scope)
}

fn is_short(at: &Cursor) -> bool {
    let (before, after) = (at.before(), at.after());
    let near_before = before.get(before.ceil_char_boundary(before.len().saturating_sub(NEAR))..).unwrap_or_default();
    let near_after = after.get(..after.floor_char_boundary(NEAR)).unwrap_or_default();
    let characters = near_before.chars().rev().chain(near_after.chars()).filter(|c| !c.is_whitespace());
    characters.take(FEWEST).count() < FEWEST
}

fn is_mid_word(at: &Cursor) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    at.before().ends_with(is_word) && at.after().starts_with(is_word)
}

fn is_mid_line(at: &Cursor) -> bool {
    !is_closers(at.line_after())
}

/// True if the rest of a line is only closing brackets and quotes, and then at most one of `:`, `{`, `;` and `,`.
fn is_closers(rest: &str) -> bool {
    let rest = rest.trim();
    let rest = rest.trim_start_matches([')', ']', '}', '>', '"', '\'', '`']).trim_start();
    matches!(rest, "" | ":" | "{" | ";" | ",")
}

fn is_line_comment(line: &str, language: Option<Language>) -> bool {
    let marks: &[&str] = match language {
        Some(Language::Python | Language::Ruby | Language::Bash) => &["#"],
        Some(Language::Php) => &["//", "#"],
        Some(Language::Lua) => &["--"],
        Some(Language::Html | Language::Css | Language::Json) => &[],
        _ => &["//"],
    };
    marks.iter().any(|mark| line.trim_start().starts_with(mark))
}

/// True if a block begins at the end of a line.
fn begins_block(line: &str, language: Option<Language>) -> bool {
    let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let by_word = match language {
        Some(Language::Python) => line.ends_with(':'),
        Some(Language::Ruby) => {
            let words = ["def", "class", "module", "if", "unless", "while", "until", "case", "begin", "else", "elsif"];
            words.contains(&first) || line.ends_with(" do") || line.ends_with('|') && line.contains(" do ")
        }
        Some(Language::Lua) => {
            [" then", " do"].iter().any(|end| line.ends_with(end))
                || matches!(line, "else" | "repeat" | "do")
                || line.contains("function") && line.ends_with(')')
        }
        Some(Language::Bash) => {
            matches!(line, "then" | "do" | "else") || line.ends_with(" then") || line.ends_with(" do")
        }
        _ => line.ends_with("=>"),
    };
    by_word || line.ends_with(['{', '(', '['])
}

/// True if the lines after a line are its block: the next that is not blank is indented more.
fn has_body(line: &str, after: &str) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let next = after.split('\n').skip(1).take(NEAR).find(|next| !next.trim().is_empty());
    next.is_some_and(|next| indent(next) > indent(line))
}

/// The offset at which parsing begins: that of the first line near the cursor that follows a blank one and is not
/// indented. It is not in a comment, as far as the end of one shows that it has begun before.
fn parsed_from(before: &str) -> usize {
    let Some(near) = before.len().checked_sub(PARSED_BEFORE) else { return 0 };
    let near = before.ceil_char_boundary(near);
    let part = before.get(near..).unwrap_or_default();
    let after_comment =
        part.find("*/").filter(|end| part.find("/*").is_none_or(|begin| end < &begin)).map(|end| end + 2);
    let from = near + after_comment.unwrap_or_default();
    let part = before.get(from..).unwrap_or_default();
    let begins = |(at, _): &(usize, &str)| {
        part.get(at + 2..).is_some_and(|line| !line.starts_with(|c: char| c.is_whitespace() || "}])\"'`".contains(c)))
    };
    let fresh = part.match_indices("\n\n").find(begins).map(|(at, _)| at + 2);
    from + fresh.or_else(|| part.find('\n').map(|at| at + 1)).unwrap_or_default()
}

/// The scope at the end of a line of which only the line is known.
fn unclosed(line: &str, language: Language) -> Scope {
    let quotes: &[char] = match language {
        // There a single quote may also be a lifetime or an apostrophe.
        Language::Rust | Language::Html => &['"'],
        Language::JavaScript | Language::TypeScript | Language::Tsx | Language::Go => &['"', '\'', '`'],
        _ => &['"', '\''],
    };
    let mut open = None;
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        let is_comment = || line.get(at..).is_some_and(|rest| is_line_comment(rest, Some(language)));
        match open {
            None if c == '"' && language == Language::Rust && is_character(line, at) => {}
            None if quotes.contains(&c) => open = Some(c),
            None if !c.is_whitespace() && !c.is_alphanumeric() && is_comment() => return Scope::Comment,
            Some(quote) if c == quote && !is_escaped => open = None,
            _ => {}
        }
        is_escaped = open.is_some() && c == '\\' && !is_escaped;
    }
    if open.is_some() { Scope::Text } else { Scope::Code }
}

/// True if what is at an offset stands alone in single quotes.
fn is_character(line: &str, at: usize) -> bool {
    let (before, after) = line.split_at_checked(at).unwrap_or_default();
    (before.ends_with('\'') || before.ends_with("'\\")) && after.chars().nth(1) == Some('\'')
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use proptest::prelude::*;

    use super::*;

    /// A text with its cursor at `|`, after a line that is long enough to go on from.
    struct Marked {
        path: &'static str,
        text: String,
        cursor: usize,
    }

    impl Marked {
        fn new(path: &'static str, marked: &str) -> Self {
            let start = "some_code(before);\n";
            let cursor = marked.find('|').unwrap() + start.len();
            Self { path, text: format!("{start}{}", marked.replacen('|', "", 1)), cursor }
        }

        fn at(&self) -> Cursor<'_> {
            Cursor { path: Path::new(self.path), text: &self.text, cursor: self.cursor }
        }

        fn silence(&self, event: &Event) -> Option<Rule> {
            silence(&self.at(), event, &Limits::default())
        }
    }

    fn at(marked: &str) -> Option<Rule> {
        Marked::new("a.rs", marked).silence(&Event::default())
    }

    #[test]
    fn a_suggestion_may_be_asked_for_if_only_closers_follow() {
        for marked in ["x = |", "f(|)", "f(\"|\");", "f(|) {", "a[|],", "x |  ", "f(|)\nnext", "f(|) ;"] {
            assert_eq!(at(marked), None, "{marked:?}");
        }
        for marked in ["x = |y", "f(|a)", "f(|);;", "x |= 1", "f(|) {}", "f(|)a"] {
            assert_eq!(at(marked), Some(Rule::MidLine), "{marked:?}");
        }
        assert_eq!(at("na|me"), Some(Rule::MidWord));
        assert_eq!(at("n\u{e9}|\u{e9}"), Some(Rule::MidWord));
    }

    #[test]
    fn too_little_text_is_nothing_to_go_on_from() {
        let rule = |text: &str, cursor| {
            silence(&Cursor { path: Path::new("a"), text, cursor }, &Event::default(), &Limits::default())
        };
        assert_eq!(rule("let a   =\n\n\n", 12), Some(Rule::TooShort));
        assert_eq!(rule("let a = 12345;\n", 15), None);
        assert_eq!(rule("\nlet a = 12345;\n", 0), None, "text behind the cursor counts too");
        assert_eq!(rule(&" \n".repeat(1 << 19), 1 << 19), Some(Rule::TooShort));
    }

    #[test]
    fn the_last_change_may_demand_silence() {
        let marked = Marked::new("a.rs", "x = |");
        for (change, rule) in [
            (Kind::Typed, None),
            (Kind::Accepted, None),
            (Kind::Deleted, Some(Rule::Deletion)),
            (Kind::Undone, Some(Rule::Undo)),
            (Kind::Several, Some(Rule::Cursors)),
            (Kind::Own, Some(Rule::OwnEdit)),
            (Kind::Pasted { lines: 5 }, None),
            (Kind::Pasted { lines: 6 }, Some(Rule::Paste)),
        ] {
            let event = Event { change: Some(change), ..Event::default() };
            assert_eq!(marked.silence(&event), rule, "{change:?}");
            assert_eq!(marked.silence(&Event { is_invoked: true, ..event }), None);
        }
        assert_eq!(marked.silence(&Event { has_cursors: true, ..Event::default() }), Some(Rule::Cursors));
    }

    #[test]
    fn rules_can_be_switched_off_but_not_those_of_size() {
        let marked = Marked::new("a.rs", "na|me");
        let event = Event { change: Some(Kind::Deleted), ..Event::default() };
        let off = vec![Rule::Deletion, Rule::MidWord, Rule::MidLine, Rule::TooLarge, Rule::LongLine];
        let limits = Limits { off, ..Limits::default() };
        assert_eq!(silence(&marked.at(), &event, &limits), None);
        let small = Limits { bytes: 10, ..limits.clone() };
        assert_eq!(silence(&marked.at(), &event, &small), Some(Rule::TooLarge));
        let short = Limits { line_bytes: 3, ..limits };
        assert_eq!(silence(&marked.at(), &Event { is_invoked: true, ..event }, &short), Some(Rule::LongLine));
    }

    #[test]
    fn a_suggestion_goes_on_from_the_selected_entry_of_the_menu() {
        let marked = Marked::new("a.rs", "x.pri|");
        let with = |range: Range<usize>, text| {
            let range = marked.cursor - range.len()..marked.cursor;
            Event { menu: Menu::Selected { range, text }, is_invoked: true, ..Event::default() }
        };
        assert_eq!(marked.silence(&with(0..3, "print")), None);
        let splice = extended(&marked.at(), &with(0..3, "print").menu).unwrap();
        assert!(splice.apply(&marked.text).unwrap().ends_with("x.print"));
        assert_eq!(marked.silence(&with(0..3, "sprint")), Some(Rule::Menu));
        assert_eq!(marked.silence(&with(0..7, "x.print")), Some(Rule::Menu), "more than one line");
        assert_eq!(marked.silence(&Event { menu: Menu::Open, ..Event::default() }), Some(Rule::Menu));
    }

    #[test]
    fn comments_and_texts_are_silent_if_the_user_wants_so() {
        let limits = Limits { no_comments: true, no_texts: true, ..Limits::default() };
        for (path, marked, silent) in [
            ("a.rs", "// a|\n", true),
            ("a.rs", "let a = \"b|\";\n", true),
            ("a.rs", "let a = \"b|", true),
            ("a.rs", "let a = b|\n", false),
            ("a.rs", "let a = '\"' + f(|", false),
            ("a.py", "a = 'it|\n", true),
            ("a.py", "a = 1  # b|\n", true),
            ("a.js", "const a = `b|\n", true),
            ("a.json", "{ \"a|\" ", false),
            ("a.unknown", "// a|\n", false),
        ] {
            let marked = Marked::new(path, marked);
            let rule = silence(&marked.at(), &Event::default(), &limits);
            assert_eq!(rule, silent.then_some(Rule::Scope), "{path} {:?}", marked.text);
            assert_eq!(marked.silence(&Event::default()), None);
        }
    }

    #[test]
    fn a_scope_is_known_in_a_large_text_without_parsing_all_of_it() {
        let function =
            "/// A function.\npub fn f(a: &str) -> String {\n    let text = \"b\";\n    format!(\"{a}{text}\")\n}\n\n";
        let text = function.repeat(2000);
        for (mark, wanted) in [("A function", Scope::Comment), ("let tex", Scope::Code), ("\"b", Scope::Text)] {
            let cursor = 1000 * function.len() + function.find(mark).unwrap() + mark.len();
            let at = Cursor { path: Path::new("a.rs"), text: &text, cursor };
            let began = Instant::now();
            assert_eq!(scope(&at), wanted, "{mark}");
            let took = began.elapsed();
            println!("a scope in {} bytes: {took:?}", text.len());
            assert!(took.as_millis() < 100, "{took:?}");
        }
    }

    #[test]
    fn a_suggestion_may_have_several_lines_where_a_block_is_to_come() {
        for (path, marked, wanted) in [
            ("a.rs", "fn f() {|}\n", true),
            ("a.rs", "fn f() {|\n}\n", true),
            ("a.rs", "fn f() {|\n    body();\n}\n", false),
            ("a.rs", "    |\n", true),
            ("a.rs", "let a = |\n", false),
            ("a.rs", "// if a {|\n", false),
            ("a.rs", "f({ |a\n", false),
            ("a.py", "def f():|\n", true),
            ("a.py", "def f():|\n    pass\n", false),
            ("a.js", "const a = {b:|\n", false),
            ("a.rb", "def f|\n", true),
            ("a.lua", "function f()|\n", true),
            ("a.sh", "if a; then|\n", true),
        ] {
            let marked = Marked::new(path, marked);
            assert_eq!(wants_block(&marked.at(), false), wanted, "{path} {:?}", marked.text);
        }
        assert!(wants_block(&Marked::new("a.rs", "let a = |\n").at(), true));
    }

    #[test]
    fn the_rules_cost_little_in_a_large_text() {
        let text = "    let value = compute(input);\n".repeat(10_000);
        let at = Cursor { path: Path::new("a.rs"), text: &text, cursor: text.len() / 2 };
        let began = Instant::now();
        for _ in 0..100 {
            let _ = silence(&at, &Event::default(), &Limits::default());
            let _ = wants_block(&at, false);
        }
        let took = began.elapsed() / 100;
        println!("the rules in 10,000 lines: {took:?}");
        assert!(took.as_micros() < 1000, "{took:?}");
    }

    proptest! {
        #[test]
        fn any_text_and_offset_is_no_panic(
            text in any::<String>(), code in "[a-z\"'/*#{}() \n\u{e9}]{0,30}",
            cursor in 0..60_usize, from in 0..60_usize,
            path in prop::sample::select(vec!["a.rs", "a.py", "a.lua", "a.html", "a"]), is_invoked in any::<bool>(),
        ) {
            for text in [text, code] {
                let at = Cursor { path: Path::new(path), text: &text, cursor };
                let menu = Menu::Selected { range: from..cursor, text: &text };
                let limits = Limits { no_comments: true, no_texts: true, ..Limits::default() };
                let _ = silence(&at, &Event { is_invoked, menu, ..Event::default() }, &limits);
                let _ = silence(&at, &Event::default(), &limits);
                let _ = (wants_block(&at, false), scope(&at));
            }
        }
    }
}
