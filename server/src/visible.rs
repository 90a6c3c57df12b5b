//! Text that is not ours, as it may be shown on a terminal: of models, files, commands, errors and titles.
//!
//! A terminal obeys what is written to it: it can be made to keep a text for pasting, to answer as if somebody typed, to paint
//! over a question, or to show words in another order than they have. So whatever a character does but be read is shown as what
//! it is (`\u{1b}`). Only a command's own output keeps its colours, by [`Colours`].

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Text of several lines.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(hides) {
        return text.into();
    }
    let ends = text.replace("\r\n", "\n");
    shown(&ends, hides, |char| char.escape_default().to_string()).into()
}

/// Text that is part of a line: it cannot begin another one.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    let hides = |char| char == '\n' || hides(char);
    if !text.contains(hides) {
        return text.into();
    }
    shown(text, hides, |char| char.escape_default().to_string()).into()
}

/// A value with all its texts as [`text`] shows them.
///
/// # Errors
/// It cannot be made JSON of, or not be made from that again.
pub(crate) fn within<T: Serialize + DeserializeOwned>(value: &T) -> serde_json::Result<T> {
    let mut value = serde_json::to_value(value)?;
    show(&mut value);
    serde_json::from_value(value)
}

/// JSON that says the same, with what hides written as JSON escapes it.
pub(crate) fn json(line: &str) -> Cow<'_, str> {
    if !line.contains(hides) {
        return line.into();
    }
    let escaped = |char: char| {
        let mut units = [0; 2];
        char.encode_utf16(&mut units).iter().fold(String::new(), |mut all, unit| {
            let _ = write!(all, "\\u{unit:04x}");
            all
        })
    };
    shown(line, hides, escaped).into()
}

fn show(value: &mut Value) {
    match value {
        Value::String(string) => {
            if let Cow::Owned(shown) = text(string) {
                *string = shown;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(show),
        Value::Object(fields) => fields.values_mut().for_each(show),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shown(text: &str, hides: impl Fn(char) -> bool, escaped: impl Fn(char) -> String) -> String {
    text.chars().fold(String::with_capacity(text.len() + 16), |mut all, char| {
        if hides(char) {
            all.push_str(&escaped(char))
        } else {
            all.push(char)
        }
        all
    })
}

/// Whether a character is obeyed, or not seen, rather than read. Line ends and tabs are left to the caller.
fn hides(char: char) -> bool {
    match char {
        '\n' | '\t' => false,
        // The order of words: marks, embeddings, overrides and isolates, and the old ones for shapes of letters.
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => true,
        // Line ends that terminals do not know, and letters that nobody sees but a model.
        '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        other => other.is_control(),
    }
}

/// What a command prints, with its colours and nothing else that a terminal obeys but the ends of lines, tabs, and steps back
/// within a line.
#[derive(Debug, Default)]
pub(crate) struct Colours {
    state: State,
    /// The parameters of a control sequence, as far as they can be a colour's.
    parameters: String,
    /// The beginning of a character.
    begun: Vec<u8>,
    /// How many steps back there are in this line at least.
    column: usize,
    is_painted: bool,
    /// Whether what was given last is the end of a line.
    at_line_start: bool,
}

/// A longer sequence of colours is none.
const LONGEST: usize = 64;

/// Where in an escape sequence (ECMA-48) the output stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// After an escape and an intermediate character.
    Intermediate,
    Control,
    /// In what a terminal is told by OSC, DCS, SOS, PM or APC.
    Told,
    ToldEscape,
}

impl Colours {
    /// Takes in bytes, cut anywhere. Gives what may be shown.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.begun);
        let (mut out, mut rest) = (String::with_capacity(bytes.len()), bytes.as_slice());
        for chunk in rest.utf8_chunks() {
            chunk.valid().chars().for_each(|char| self.step(char, &mut out));
            let invalid = chunk.invalid();
            rest = rest.get(chunk.valid().len() + invalid.len()..).unwrap_or_default();
            let may_go_on = rest.is_empty() && std::str::from_utf8(invalid).is_err_and(|it| it.error_len().is_none());
            if may_go_on {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.step(char::REPLACEMENT_CHARACTER, &mut out);
            }
        }
        out
    }

    /// Something else is shown now. Gives what ends the colours.
    pub(crate) fn pause(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_painted) { "\x1b[0m" } else { "" }
    }

    /// Says that the cursor stands at the beginning of an empty line.
    pub(crate) fn begin_line(&mut self) {
        (self.column, self.at_line_start) = (0, true);
    }

    /// Whether it stands there by what was given.
    pub(crate) fn is_at_line_start(&self) -> bool {
        self.at_line_start
    }

    fn step(&mut self, char: char, out: &mut String) {
        self.state = match (self.state, char) {
            // A line's end, CAN and SUB end whatever is unfinished, so that broken output cannot swallow the rest.
            (_, '\n') => {
                out.push('\n');
                self.begin_line();
                State::Text
            }
            (_, '\x18' | '\x1a') | (State::Told, '\x07' | '\u{9c}') | (State::ToldEscape, '\\') => State::Text,
            (State::Told, '\x1b') => State::ToldEscape,
            (State::Told, _) => State::Told,
            (_, '\x1b') => State::Escape,
            (State::ToldEscape | State::Escape, '[') => {
                self.parameters.clear();
                State::Control
            }
            (State::ToldEscape | State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Told,
            (State::ToldEscape | State::Escape | State::Intermediate, ' '..='/') => State::Intermediate,
            (State::ToldEscape | State::Escape | State::Intermediate, '0'..='~') => State::Text,
            (State::Control, ' '..='?') => {
                if self.parameters.len() <= LONGEST {
                    self.parameters.push(char);
                }
                State::Control
            }
            (State::Control, '@'..='~') => {
                if char == 'm' {
                    self.paint(out);
                }
                State::Text
            }
            (_, char) => {
                self.give(char, out);
                State::Text
            }
        };
    }

    fn paint(&mut self, out: &mut String) {
        let colour = &self.parameters;
        if colour.len() <= LONGEST && colour.chars().all(|char| matches!(char, '0'..='9' | ';' | ':')) {
            let _ = write!(out, "\x1b[{colour}m");
            self.is_painted = !matches!(colour.as_str(), "" | "0");
        }
    }

    fn give(&mut self, char: char, out: &mut String) {
        match char {
            '\r' => {
                out.push(char);
                self.column = 0;
            }
            // Further back some terminals go to the line above.
            '\x08' if self.column > 0 => {
                out.push(char);
                self.column -= 1;
            }
            _ if char.is_control() && char != '\t' => {}
            _ if hides(char) => {
                let escaped = char.escape_default();
                self.column += escaped.len();
                out.extend(escaped);
                self.at_line_start = false;
            }
            _ => {
                out.push(char);
                self.column += 1;
                self.at_line_start = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// What no terminal is ever to get, said apart from the code.
    const MARKS: [char; 14] = [
        '\u{61c}',
        '\u{200e}',
        '\u{200f}',
        '\u{202a}',
        '\u{202b}',
        '\u{202c}',
        '\u{202d}',
        '\u{202e}',
        '\u{2066}',
        '\u{2067}',
        '\u{2068}',
        '\u{2069}',
        '\u{2028}',
        '\u{e0041}',
    ];

    fn nasty() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            any::<char>().prop_map(String::from),
            prop::sample::select(MARKS.to_vec()).prop_map(String::from),
            (0..0xa0_u32).prop_map(|code| char::from_u32(code).unwrap().to_string()),
            prop::sample::select(vec![
                "\x1b[",
                "\x1b]52;c;",
                "\x07",
                "\x1b\\",
                "31m",
                "\r\n",
                "38;5;8m",
                "\u{9b}2J",
                "words",
                "\u{8}"
            ])
            .prop_map(str::to_owned),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    fn is_harmless(text: &str) -> bool {
        !text.chars().any(|char| (char.is_control() && char != '\n' && char != '\t') || MARKS.contains(&char))
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_as_what_it_is() {
        assert_eq!(text("a\x1b]52;c;eA==\x07b"), "a\\u{1b}]52;c;eA==\\u{7}b");
        assert_eq!(text("\tone\r\ntwo\rthree\u{9b}2J"), "\tone\ntwo\\rthree\\u{9b}2J");
        assert_eq!(text("user\u{202e}txt.exe\u{2066}"), "user\\u{202e}txt.exe\\u{2066}");
        assert_eq!(line("one\ntwo"), "one\\ntwo");
        assert_eq!(
            text("Grüße, 漢字, \u{1f469}\u{200d}\u{1f4bb} and עברית"),
            "Grüße, 漢字, \u{1f469}\u{200d}\u{1f4bb} and עברית"
        );
    }

    #[test]
    fn of_a_commands_output_only_the_colours_are_obeyed() {
        let shown = |text: &str| Colours::default().push(text.as_bytes());
        assert_eq!(
            shown("\x1b[1;31mred\x1b[0m and \x1b[38:5:8mgrey\x1b[m"),
            "\x1b[1;31mred\x1b[0m and \x1b[38:5:8mgrey\x1b[m"
        );
        assert_eq!(shown("\x1b]0;title\x07a\x1b]52;c;eA==\x1b\\b\x1bP$qm\x1b\\c\x1b_x\x1b\\d"), "abcd");
        assert_eq!(shown("\x1b[?1049h\x1b[2J\x1b[5A\x1b[6n\x1b[>4;1m\x1b[?1ma\x1bc\x1b(0b\x0e\u{9b}"), "ab");
        assert_eq!(shown("10%\r20%\r\n|\x08/\x08\x08\x08-\n\x08x"), "10%\r20%\r\n|\x08/\x08-\nx");
        assert_eq!(shown("\x1b]unfinished\nnext"), "\nnext");
        let mut colours = Colours::default();
        assert_eq!(colours.push(b"\x1b[8mhidden"), "\x1b[8mhidden");
        assert_eq!((colours.pause(), colours.pause()), ("\x1b[0m", ""));
    }

    #[test]
    fn json_says_the_same_and_hides_nothing() {
        let value = json!({ "a": "x\u{9b}\u{202e}\u{7f}\u{e0041}\n" });
        let line = value.to_string();
        assert!(!is_harmless(&line));
        assert!(is_harmless(&json(&line)));
        assert_eq!(serde_json::from_str::<Value>(&json(&line)).unwrap(), value);
    }

    proptest! {
        #[test]
        fn no_control_but_newline_and_tab_and_no_mark_is_left(nasty in nasty()) {
            prop_assert!(is_harmless(&text(&nasty)));
            prop_assert!(is_harmless(&line(&nasty)) && !line(&nasty).contains('\n'));
            let shown: Value = within(&json!([{ "a": nasty }])).unwrap();
            prop_assert!(is_harmless(shown[0]["a"].as_str().unwrap()));
            let once = text(&nasty).into_owned();
            prop_assert_eq!(text(&once), once.as_str());
        }

        #[test]
        fn of_any_output_nothing_is_left_but_text_colours_and_steps_within_a_line(nasty in nasty(), cut in 0_usize..200) {
            let (mut colours, cut) = (Colours::default(), cut.min(nasty.len()));
            let (first, second) = nasty.as_bytes().split_at(cut);
            let shown = colours.push(first) + &colours.push(second);
            prop_assert_eq!(&shown, &Colours::default().push(nasty.as_bytes()), "wherever it is cut");
            for part in shown.split("\x1b[").skip(1) {
                let colour = part.trim_start_matches(|char: char| char.is_ascii_digit() || char == ';' || char == ':');
                prop_assert!(colour.starts_with('m'), "{:?}", shown);
            }
            let bare = shown.replace("\x1b[", "").replace(['\r', '\x08'], "");
            prop_assert!(is_harmless(&bare), "{:?}", shown);
            for line in shown.split('\n') {
                let mut column = 0_usize;
                for char in line.chars() {
                    match char {
                        '\r' => column = 0,
                        '\x08' => { prop_assert!(column > 0); column -= 1; }
                        _ => column += 1,
                    }
                }
            }
        }

        #[test]
        fn bytes_that_are_no_text_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let shown = Colours::default().push(&bytes);
            prop_assert!(is_harmless(&shown.replace("\x1b[", "").replace(['\r', '\x08'], "")));
        }
    }
}
