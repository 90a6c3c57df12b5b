//! Text that is not ours, as it may be shown on a terminal: of models, files, commands, errors and titles.
//!
//! A terminal obeys what is written to it: it can be made to keep a text for pasting, to answer as if somebody typed,
//! to paint over a question, or to show words in another order than they have. So whatever a character does but be read
//! is shown as what it is (`\u{1b}`). Only a command's own output keeps its colours, by [`Colours`].

use std::borrow::Cow;
use std::fmt::Write;

use permission::unseen::{Reader, is_joiner, is_unseen};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use shell::escapes::{Escapes, LONGEST, Part};

/// Text of several lines.
pub fn text(text: &str) -> Cow<'_, str> {
    if !text.contains(may_hide) {
        return text.into();
    }
    let ends = text.replace("\r\n", "\n");
    shown(&mut Reader::default(), &ends, is_obeyed, |char| char.escape_default().to_string()).into()
}

/// Text that is part of a line: it cannot begin another one.
pub fn line(text: &str) -> Cow<'_, str> {
    let is_obeyed = |char| char == '\n' || is_obeyed(char);
    if !text.contains(|char| is_obeyed(char) || may_hide(char)) {
        return text.into();
    }
    shown(&mut Reader::default(), text, is_obeyed, |char| char.escape_default().to_string()).into()
}

/// Text of several lines that comes in pieces, cut anywhere.
#[derive(Debug, Default)]
pub struct Pieces {
    reader: Reader,
    /// The end of what came, if what it is depends on what comes next.
    held: String,
}

impl Pieces {
    /// Takes in a piece. Gives what may be shown.
    pub fn push(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.held) + piece;
        let whole = text.trim_end_matches(|char| char == '\r' || is_joiner(char));
        let (whole, held) = text.split_at(whole.len());
        self.held = held.to_owned();
        let ends = whole.replace("\r\n", "\n");
        shown(&mut self.reader, &ends, is_obeyed, |char| char.escape_default().to_string())
    }
}

/// A value with all its texts as [`text`] shows them.
///
/// # Errors
/// It cannot be made JSON of, or not be made from that again.
pub fn within<T: Serialize + DeserializeOwned>(value: &T) -> serde_json::Result<T> {
    let mut value = serde_json::to_value(value)?;
    show(&mut value);
    serde_json::from_value(value)
}

/// JSON that says the same, with what hides written as JSON escapes it.
pub fn json(line: &str) -> Cow<'_, str> {
    if !line.contains(may_hide) {
        return line.into();
    }
    let escaped = |char: char| {
        let mut units = [0; 2];
        char.encode_utf16(&mut units).iter().fold(String::new(), |mut all, unit| {
            let _ = write!(all, "\\u{unit:04x}");
            all
        })
    };
    shown(&mut Reader::default(), line, is_obeyed, escaped).into()
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

fn shown(
    reader: &mut Reader,
    text: &str,
    is_obeyed: impl Fn(char) -> bool,
    escaped: impl Fn(char) -> String,
) -> String {
    let mut all = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if reader.is_unseen(char, chars.peek().copied()) || is_obeyed(char) {
            all.push_str(&escaped(char))
        } else {
            all.push(char)
        }
    }
    all
}

/// True if a character may have to be shown as what it is.
fn may_hide(char: char) -> bool {
    is_obeyed(char) || is_unseen(char)
}

/// True if a terminal obeys a character. Line ends and tabs are left to the caller.
fn is_obeyed(char: char) -> bool {
    char.is_control() && !matches!(char, '\n' | '\t')
}

/// The output of a command, with its colours and nothing else that a terminal obeys but the ends of lines, tabs, and
/// steps back within a line.
#[derive(Debug, Default)]
pub struct Colours {
    escapes: Escapes,
    /// The beginning of a character, and before it one whose look depends on it.
    begun: Vec<u8>,
    reader: Reader,
    /// The least number of steps back that there are in this line.
    column: usize,
    is_painted: bool,
    /// True if what was given last is the end of a line.
    at_line_start: bool,
}

/// The parameter that has a terminal show nothing.
const CONCEALED: &str = "8";
/// The parameter for the colour of underlines.
const UNDERLINE: &str = "58";

impl Colours {
    /// Takes in bytes, cut anywhere. Gives what may be shown.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.begun);
        let (mut out, mut rest) = (String::with_capacity(bytes.len()), bytes.as_slice());
        for chunk in rest.utf8_chunks() {
            let invalid = chunk.invalid();
            rest = rest.get(chunk.valid().len() + invalid.len()..).unwrap_or_default();
            let may_go_on =
                rest.is_empty() && str::from_utf8(invalid).map_or_else(|error| error.error_len().is_none(), |_| true);
            let mut chars = chunk.valid().chars().peekable();
            while let Some(char) = chars.next() {
                let next = chars.peek().copied();
                if next.is_none() && may_go_on && is_joiner(char) {
                    self.begun.extend(char.encode_utf8(&mut [0; 4]).bytes());
                } else {
                    self.step(char, next, &mut out);
                }
            }
            if may_go_on {
                self.begun.extend_from_slice(invalid);
            } else if !invalid.is_empty() {
                self.step(char::REPLACEMENT_CHARACTER, None, &mut out);
            }
        }
        out
    }

    /// Something else is shown now. Gives what ends the colours.
    pub fn pause(&mut self) -> &'static str {
        if std::mem::take(&mut self.is_painted) { "\x1b[0m" } else { "" }
    }

    /// Says that the cursor stands at the beginning of an empty line.
    pub fn begin_line(&mut self) {
        (self.column, self.at_line_start) = (0, true);
    }

    /// True if it stands there by what was given.
    pub fn is_at_line_start(&self) -> bool {
        self.at_line_start
    }

    fn step(&mut self, char: char, next: Option<char>, out: &mut String) {
        match self.escapes.step(char) {
            Part::Newline => {
                out.push('\n');
                self.begin_line();
            }
            Part::Text => self.give(char, next, out),
            Part::Control if char == 'm' => self.paint(out),
            Part::Control | Part::Within => {}
        }
    }

    fn paint(&mut self, out: &mut String) {
        let parameters = self.escapes.parameters();
        // One that was cut may mean something else than all of it.
        if let Some(colour) = colour(parameters).filter(|_| parameters.len() < LONGEST) {
            let _ = write!(out, "\x1b[{colour}m");
            self.is_painted = !matches!(colour.as_str(), "" | "0");
        }
    }

    fn give(&mut self, char: char, next: Option<char>, out: &mut String) {
        let is_unseen = self.reader.is_unseen(char, next);
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
            _ if is_unseen => {
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

/// Returns the parameters of SGR that may be shown: all but what hides text, and the colour of underlines, whose
/// numbers a terminal that does not know it takes for parameters of their own. `None` if nothing is left.
fn colour(parameters: &str) -> Option<String> {
    if !parameters.chars().all(|char| matches!(char, '0'..='9' | ';' | ':')) {
        return None;
    }
    let mut left = parameters.split(';');
    let mut kept = Vec::new();
    while let Some(parameter) = left.next() {
        let number =
            |parameter: &str| parameter.split(':').next().unwrap_or_default().trim_start_matches('0').to_owned();
        match number(parameter).as_str() {
            CONCEALED => {}
            // The numbers behind these tell the colour.
            "38" | "48" | UNDERLINE => {
                let mut whole = vec![parameter];
                if !parameter.contains(':') {
                    let space = left.next();
                    let count = match space.map(number).as_deref() {
                        Some("5") => 1,
                        Some("2") => 3,
                        _ => return None,
                    };
                    whole.extend(space.into_iter().chain(left.by_ref().take(count)));
                }
                if number(parameter) != UNDERLINE {
                    kept.extend(whole);
                }
            }
            _ => kept.push(parameter),
        }
    }
    (!kept.is_empty()).then(|| kept.join(";"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Characters that no terminal is ever to get, listed apart from the code.
    const MARKS: &[char] = &[
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{17b4}',
        '\u{180b}',
        '\u{200b}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{202a}',
        '\u{202b}',
        '\u{202c}',
        '\u{202d}',
        '\u{202e}',
        '\u{2060}',
        '\u{2065}',
        '\u{2066}',
        '\u{2067}',
        '\u{2068}',
        '\u{2069}',
        '\u{206a}',
        '\u{2800}',
        '\u{3164}',
        '\u{feff}',
        '\u{ffa0}',
        '\u{fff9}',
        '\u{e0041}',
        '\u{e01ef}',
    ];

    /// Characters that are shown only if they join something.
    const JOINERS: &[char] = &['\u{200c}', '\u{200d}', '\u{fe0e}', '\u{fe0f}', '\u{1f469}', '\u{645}', '\u{20e3}', '1'];

    fn nasty() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            any::<char>().prop_map(String::from),
            prop::sample::select(MARKS).prop_map(String::from),
            prop::sample::select(JOINERS).prop_map(String::from),
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
        assert_eq!(colours.push(b"\x1b[31mred"), "\x1b[31mred");
        assert_eq!((colours.pause(), colours.pause()), ("\x1b[0m", ""));
    }

    #[test]
    fn nothing_is_concealed_by_a_colour() {
        let shown = |parameters: &str| Colours::default().push(format!("\x1b[{parameters}mx").as_bytes());
        for hiding in ["8", "08", "8:1", "38;8", "38", "58;5;8", "8;8"] {
            assert_eq!(shown(hiding), "x", "{hiding}");
        }
        for (all, rest) in [("1;8;31", "1;31"), ("0;8", "0"), (";8", ""), ("58;2;8;8;8;1", "1"), ("38;5;1;8", "38;5;1")]
        {
            assert_eq!(shown(all), format!("\x1b[{rest}mx"), "{all}");
        }
        for colour in ["", "38;5;8", "38;2;8;8;8", "48;5;8;1", "28", "18", "38:2::8:8:8", "4:3"] {
            assert_eq!(shown(colour), format!("\x1b[{colour}mx"), "{colour}");
        }
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
            prop_assert!(!permission::unseen::is_in(&once));
        }

        #[test]
        fn text_in_pieces_is_shown_as_the_whole_is(nasty in nasty(), cut in 0_usize..200) {
            let cut = (0..=cut.min(nasty.len())).rev().find(|at| nasty.is_char_boundary(*at)).unwrap();
            let mut pieces = Pieces::default();
            let (first, second) = nasty.split_at(cut);
            // A last word has what is held come out.
            let shown = pieces.push(first) + &pieces.push(&format!("{second}."));
            let whole = format!("{nasty}.");
            prop_assert_eq!(shown, text(&whole));
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
