//! What a model reads of a command's output: plain text, its beginning and its end (001 §14.1, §15).
//!
//! Escape sequences are taken out, a line that was written over and over (a progress bar) is what it was last, and no
//! more is held in memory than is given out.

use std::collections::VecDeque;

/// The first bytes are kept.
const HEAD: usize = 12 << 10;

/// The last bytes are kept.
const TAIL: usize = 20 << 10;

/// A line longer than this is taken as it is, in pieces; nothing is folded in it.
const LINE: usize = 8 << 10;

/// Takes in a command's output, and keeps its ends.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    plain: Plain,
    ends: Ends,
}

/// What was kept of a command's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    /// The text. Says how much was left out in the middle, if any was.
    pub(super) text: String,
    /// Whether any was.
    pub(super) is_cut: bool,
}

/// Makes plain text of what a terminal gets, line by line.
#[derive(Debug, Default)]
pub(super) struct Plain {
    state: State,
    parameters: Vec<u8>,
    line: Vec<u8>,
    /// The cursor went back to the line's beginning; what comes next writes over it.
    returned: bool,
}

/// The ends of a text.
#[derive(Debug, Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

/// Where in an escape sequence (ECMA-48) the stream stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate byte.
    Intermediate,
    /// In a control sequence.
    Control,
    /// In a string: OSC, DCS, SOS, PM, APC.
    String,
    /// In a string, after ESC.
    StringEscape,
}

impl Transcript {
    /// Takes in bytes, cut anywhere.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.plain.push(bytes, &mut |text| self.ends.push(text));
    }

    /// What was printed.
    pub(super) fn finish(mut self) -> Printed {
        self.plain.finish(&mut |text| self.ends.push(text));
        let Ends { mut head, tail, left_out } = self.ends;
        let tail: Vec<u8> = tail.into();
        if left_out == 0 {
            head.extend_from_slice(&tail);
            return Printed { text: String::from_utf8_lossy(&head).into_owned(), is_cut: false };
        }
        let (first, last) = (whole_lines_until(&head), whole_lines_from(&tail));
        let left_out = left_out + (head.len() - first.len() + tail.len() - last.len()) as u64;
        let text = format!(
            "{}\n[... {left_out} bytes left out here ...]\n{}",
            String::from_utf8_lossy(first).trim_end_matches('\n'),
            String::from_utf8_lossy(last)
        );
        Printed { text, is_cut: true }
    }
}

impl Ends {
    fn push(&mut self, text: &[u8]) {
        let (head, tail) = text.split_at(text.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }
}

impl Plain {
    /// Takes in bytes, cut anywhere, and gives out text: whole lines, but for very long ones.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            // Most of any output is plain text, which is taken in runs.
            let run = if self.state == State::Text && !self.returned {
                let room = LINE - 1 - self.line.len();
                rest.iter().take(room).take_while(|byte| matches!(byte, 0x20..=0x7e | 0x80..)).count()
            } else {
                0
            };
            if run > 0 {
                let (text, after) = rest.split_at(run);
                self.line.extend_from_slice(text);
                rest = after;
            } else {
                self.state = self.step(*byte, out);
                rest = after;
            }
        }
    }

    /// Gives out what is left: a line without an end.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&[u8])) {
        self.end_line(out);
    }

    fn step(&mut self, byte: u8, out: &mut impl FnMut(&[u8])) -> State {
        match (self.state, byte) {
            // A line's end, CAN and SUB end whatever is unfinished, so that broken output cannot swallow the rest.
            (_, b'\n') => {
                self.newline(out);
                State::Text
            }
            (_, 0x18 | 0x1a) => State::Text,
            (State::String, 0x07) => State::Text,
            (State::String, 0x1b) => State::StringEscape,
            (State::String, _) => State::String,
            (State::StringEscape, b'\\') => State::Text,
            (_, 0x1b) => State::Escape,
            (State::StringEscape | State::Escape, b'[') => {
                self.parameters.clear();
                State::Control
            }
            (State::StringEscape | State::Escape, b']' | b'P' | b'X' | b'^' | b'_') => State::String,
            (State::StringEscape | State::Escape | State::Intermediate, 0x20..=0x2f) => State::Intermediate,
            (State::StringEscape | State::Escape | State::Intermediate, 0x30..=0x7e) => State::Text,
            (State::Control, 0x20..=0x3f) => {
                if self.parameters.len() < 16 {
                    self.parameters.push(byte);
                }
                State::Control
            }
            (State::Control, 0x40..=0x7e) => {
                self.control(byte);
                State::Text
            }
            (_, _) => {
                self.text(byte, out);
                State::Text
            }
        }
    }

    /// A control sequence; those that write a line anew matter.
    fn control(&mut self, last: u8) {
        match (self.parameters.as_slice(), last) {
            (b"" | b"1", b'G') => self.returned = true,
            (b"2", b'K') => self.line.clear(),
            _ => {}
        }
    }

    fn text(&mut self, byte: u8, out: &mut impl FnMut(&[u8])) {
        match byte {
            b'\r' => self.returned = true,
            0x08 => {
                while let Some(last) = self.line.pop() {
                    if !is_continuation(last) {
                        break;
                    }
                }
            }
            b'\t' | 0x20..=0x7e | 0x80.. => {
                if std::mem::take(&mut self.returned) {
                    self.line.clear();
                }
                self.line.push(byte);
                if self.line.len() >= LINE {
                    self.end_line(out);
                }
            }
            _ => {}
        }
    }

    fn newline(&mut self, out: &mut impl FnMut(&[u8])) {
        self.returned = false;
        self.line.push(b'\n');
        self.end_line(out);
    }

    fn end_line(&mut self, out: &mut impl FnMut(&[u8])) {
        out(&self.line);
        self.line.clear();
    }
}

/// The bytes up to the end of the last whole line; where that is far back, of the last whole character.
fn whole_lines_until(bytes: &[u8]) -> &[u8] {
    let end = match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(newline) if newline > bytes.len() / 2 => newline + 1,
        _ => bytes.iter().rposition(|byte| !is_continuation(*byte)).unwrap_or(0),
    };
    bytes.get(..end).unwrap_or(bytes)
}

/// The bytes from the first whole line on; where that is far ahead, from the first whole character.
fn whole_lines_from(bytes: &[u8]) -> &[u8] {
    let start = match bytes.iter().position(|byte| *byte == b'\n') {
        Some(newline) if newline < bytes.len() / 2 => newline + 1,
        _ => bytes.iter().take_while(|byte| is_continuation(**byte)).count(),
    };
    bytes.get(start..).unwrap_or(bytes)
}

/// Whether a byte goes on with a character of UTF-8.
fn is_continuation(byte: u8) -> bool {
    (0x80..0xc0).contains(&byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(bytes: &[u8]) -> String {
        let mut transcript = Transcript::default();
        transcript.push(bytes);
        transcript.finish().text
    }

    #[test]
    fn escape_sequences_are_not_text() {
        let cases: &[(&[u8], &str)] = &[
            (b"\x1b[1;31mred\x1b[0m", "red"),
            (b"\x1b]0;title\x07text", "text"),
            (b"\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bP1$r0m\x1b\\x", "x"),
            (b"\x1b(Bascii\x1b=\x1b>", "ascii"),
            (b"\x1b[?25lhidden\x1b[?25h", "hidden"),
            (b"bell\x07", "bell"),
            (b"a\x1b[31\nb", "a\nb"),
            (b"\x1b]unfinished\nnext", "\nnext"),
            (b"\x1b\x1b[31mx", "x"),
            (b"tab\there", "tab\there"),
        ];
        for (bytes, text) in cases {
            assert_eq!(plain(bytes), *text, "{:?}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_progress_bar_is_what_it_was_last() {
        assert_eq!(plain(b"10%\r50%\r100%\r\ndone\r\n"), "100%\ndone\n");
        assert_eq!(plain(b"one\x1b[2K\x1b[1Gtwo\r\n"), "two\n");
        assert_eq!(plain(b"|\x08/\x08-\x08ok\n"), "ok\n");
        assert_eq!(plain("é\u{8}x".as_bytes()), "x");
        assert_eq!(plain(b"text\r\r\n"), "text\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(plain(b"a\xff\xfeb\0c"), "a\u{fffd}\u{fffd}bc");
    }

    #[test]
    fn a_long_output_keeps_its_ends_and_says_what_is_left_out() {
        let all: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
        let text = plain(all.as_bytes());
        assert!(text.len() < HEAD + TAIL + 200, "{} bytes", text.len());
        assert!(text.starts_with("line 0\nline 1\n"));
        assert!(text.ends_with("line 99998\nline 99999\n"));
        assert!(text.contains("bytes left out here"));
        assert!(text.lines().all(|line| line.starts_with("line ") || line.starts_with("[... ")), "a line was cut");
    }

    #[test]
    fn a_line_without_end_is_bounded_too() {
        let text = plain(&vec!["é"; 1_000_000].concat().into_bytes());
        assert!(text.len() < HEAD + TAIL + 200);
        assert!(!text.contains('\u{fffd}'), "a character was cut");
    }

    proptest! {
        #[test]
        fn text_does_not_depend_on_how_the_stream_is_cut(bytes in stream(), cut in 0_usize..600) {
            let cut = cut.min(bytes.len());
            let mut transcript = Transcript::default();
            transcript.push(&bytes[..cut]);
            transcript.push(&bytes[cut..]);
            prop_assert_eq!(transcript.finish().text, plain(&bytes));
        }

        #[test]
        fn no_control_byte_is_left(bytes in stream()) {
            prop_assert!(plain(&bytes).chars().all(|c| c == '\n' || c == '\t' || !c.is_ascii_control()));
        }

        #[test]
        fn plain_text_stays_as_it_is(text in "[ -~\n\téß漢]{0,400}") {
            prop_assert_eq!(plain(text.as_bytes()), text);
        }

        #[test]
        fn coloured_text_is_the_text(words in prop::collection::vec("[a-z]{1,8}", 0..20), colour in 0_u8..108) {
            let coloured: String = words.iter().map(|word| format!("\x1b[{colour}m{word}\x1b[0m ")).collect();
            let text: String = words.iter().map(|word| format!("{word} ")).collect();
            prop_assert_eq!(plain(coloured.as_bytes()), text);
        }
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..12),
            Just(b"\x1b[".to_vec()),
            Just(b"\x1b]".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\x1b\\".to_vec()),
            Just(b"\x08".to_vec()),
            Just("é漢".as_bytes().to_vec()),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }
}
