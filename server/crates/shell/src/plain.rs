//! A command's output as plain text: what a terminal would show in the end, without its colours.
//!
//! Escape sequences are taken out. A line that was written over and over (a progress bar) is what it was last, and so
//! is a group of lines that a program goes back up to, as far as they are still at hand.

use std::collections::VecDeque;

use super::escapes::{Escapes, Part};

/// A line longer than this is taken as it is, in pieces; nothing is written over in it.
pub(super) const LINE: usize = 8 << 10;

/// So much of the last lines is at hand at least, for programs that go back up to them.
const RECENT: usize = 16 << 10;

/// How many lines a program can go back up at once.
const MAX_UP: usize = 200;

/// Makes plain text of what a terminal gets.
#[derive(Debug, Default)]
pub(super) struct Plain {
    escapes: Escapes,
    /// The lines that can still be written over, with the one that the cursor is in at the end.
    recent: Vec<u8>,
    /// Where in them the cursor's line begins.
    start: usize,
    /// The lines below the cursor.
    below: VecDeque<Vec<u8>>,
    /// The cursor went back to the line's beginning; what comes next writes over it.
    returned: bool,
}

impl Plain {
    /// Takes in bytes, cut anywhere, and gives out text, cut anywhere too.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            // Most of any output is plain text, which is taken in runs.
            let run = if self.escapes.is_in_text() && !self.returned {
                let room = LINE - 1 - self.line().len();
                plain_run(rest.get(..room).unwrap_or(rest))
            } else {
                0
            };
            if run > 0 {
                let (text, after) = rest.split_at(run);
                self.recent.extend_from_slice(text);
                rest = after;
            } else {
                self.step(*byte, out);
                rest = after;
            }
        }
    }

    /// Gives out what is left.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&[u8])) {
        for row in self.below.drain(..) {
            self.recent.push(b'\n');
            self.recent.extend_from_slice(&row);
        }
        if !self.recent.is_empty() {
            out(&self.recent);
        }
        self.recent.clear();
        self.start = 0;
    }

    fn line(&self) -> &[u8] {
        self.recent.get(self.start..).unwrap_or_default()
    }

    fn clear_line(&mut self) {
        self.recent.truncate(self.start);
    }

    fn step(&mut self, byte: u8, out: &mut impl FnMut(&[u8])) {
        // Of a longer character the bytes are text, wherever they stand.
        let char = if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER };
        match self.escapes.step(char) {
            Part::Newline => self.newline(out),
            Part::Text => self.text(byte, out),
            Part::Control => self.control(byte),
            Part::Within => {}
        }
    }

    /// A control sequence; those that write lines anew matter.
    fn control(&mut self, last: u8) {
        let parameters = self.escapes.parameters();
        let number = parameters.parse().unwrap_or(1);
        match (parameters, last) {
            ("" | "1", b'G') => self.returned = true,
            ("2", b'K') => self.clear_line(),
            ("" | "0", b'K') if self.returned => self.clear_line(),
            ("" | "0", b'J') => {
                self.below.clear();
                if self.returned {
                    self.clear_line();
                }
            }
            (_, b'A' | b'B' | b'E' | b'F') => {
                // The column stays, or is the first.
                let returned = self.returned || self.line().is_empty() || matches!(last, b'E' | b'F');
                if matches!(last, b'A' | b'F') {
                    self.up(number)
                } else {
                    self.down(number)
                }
                self.returned = returned;
            }
            _ => {}
        }
    }

    fn up(&mut self, lines: usize) {
        for _ in 0..lines.clamp(1, MAX_UP) {
            let Some(above) = self.recent.get(..self.start).and_then(|above| above.strip_suffix(b"\n")) else { return };
            let start = above.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
            let end = above.len();
            self.below.push_front(self.line().to_vec());
            self.recent.truncate(end);
            self.start = start;
        }
    }

    fn down(&mut self, lines: usize) {
        for _ in 0..lines.clamp(1, MAX_UP) {
            let Some(row) = self.below.pop_front() else { return };
            self.recent.push(b'\n');
            self.start = self.recent.len();
            self.recent.extend_from_slice(&row);
        }
    }

    fn text(&mut self, byte: u8, out: &mut impl FnMut(&[u8])) {
        match byte {
            b'\r' => self.returned = true,
            0x08 => {
                while self.recent.len() > self.start {
                    if self.recent.pop().is_none_or(|last| !is_continuation(last)) {
                        break;
                    }
                }
            }
            b'\t' | 0x20..=0x7e | 0x80.. => {
                if std::mem::take(&mut self.returned) {
                    self.clear_line();
                }
                self.recent.push(byte);
                if self.line().len() >= LINE {
                    self.start = self.recent.len();
                    self.flush(out);
                }
            }
            _ => {}
        }
    }

    fn newline(&mut self, out: &mut impl FnMut(&[u8])) {
        self.recent.push(b'\n');
        self.start = self.recent.len();
        self.returned = false;
        if let Some(row) = self.below.pop_front() {
            self.recent.extend_from_slice(&row);
            self.returned = true;
        }
        self.flush(out);
    }

    /// Gives out the older lines where there are many.
    fn flush(&mut self, out: &mut impl FnMut(&[u8])) {
        if self.recent.len() < 2 * RECENT {
            return;
        }
        let older = self.start.min(self.recent.len() - RECENT);
        let older = self.recent.get(..older).unwrap_or_default();
        let cut = older.iter().rposition(|byte| *byte == b'\n').map_or(older.len(), |newline| newline + 1);
        out(older.get(..cut).unwrap_or_default());
        self.recent.drain(..cut);
        self.start -= cut;
    }
}

/// How many bytes of plain text there are at the beginning.
fn plain_run(bytes: &[u8]) -> usize {
    const AT_ONCE: usize = 32;
    let is_plain = |byte: &u8| !matches!(byte, 0..0x20 | 0x7f);
    let chunks = bytes.chunks_exact(AT_ONCE);
    let whole = chunks.take_while(|chunk| chunk.iter().fold(true, |all, byte| all & is_plain(byte))).count() * AT_ONCE;
    whole + bytes.iter().skip(whole).take_while(|byte| is_plain(byte)).count()
}

/// True if a byte goes on with a character of UTF-8.
pub(super) fn is_continuation(byte: u8) -> bool {
    (0x80..0xc0).contains(&byte)
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(bytes: &[u8]) -> String {
        let (mut plain, mut text) = (Plain::default(), Vec::new());
        plain.push(bytes, &mut |more| text.extend_from_slice(more));
        plain.finish(&mut |more| text.extend_from_slice(more));
        String::from_utf8_lossy(&text).into_owned()
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
    fn lines_that_are_drawn_again_are_what_they_were_last() {
        let cases: &[(&[u8], &str)] = &[
            // As `docker pull` draws its layers.
            (
                b"one: 1%\r\ntwo: 1%\r\n\x1b[2A\x1b[2K\rone: 9%\r\x1b[2B\x1b[1A\x1b[2K\rtwo: 9%\r\x1b[1Bdone\r\n",
                "one: 9%\ntwo: 9%\ndone\n",
            ),
            // As `npm` and others draw a block of lines anew.
            (b"a 1\nb 1\n\x1b[2F\x1b[Ja 2\nb 2\nc 2\n", "a 2\nb 2\nc 2\n"),
            (b"a\nb\n\x1b[99Ax\n", "x\nb\n"),
            (b"a\nb\n\x1b[A", "a\nb\n"),
            (b"a\nb\x1b[A\x1b[5B!\n", "a\nb!\n"),
        ];
        for (bytes, text) in cases {
            assert_eq!(plain(bytes), *text, "{:?}", String::from_utf8_lossy(bytes));
        }
        let many: String = (0..5000).map(|n| format!("line {n}\r\n")).collect();
        let again = many.clone() + "\x1b[3A\x1b[2K\rnew\r\n";
        let expected = many.replace('\r', "").replace("line 4997\n", "new\n");
        assert_eq!(plain(again.as_bytes()), expected);
    }

    proptest! {
        #[test]
        fn text_does_not_depend_on_how_the_stream_is_cut(bytes in stream(), cut in 0_usize..600) {
            let (mut cut_up, mut text) = (Plain::default(), Vec::new());
            let (first, second) = bytes.split_at(cut.min(bytes.len()));
            cut_up.push(first, &mut |more| text.extend_from_slice(more));
            cut_up.push(second, &mut |more| text.extend_from_slice(more));
            cut_up.finish(&mut |more| text.extend_from_slice(more));
            prop_assert_eq!(String::from_utf8_lossy(&text), plain(&bytes));
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

    pub(crate) fn stream() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..12),
            Just(b"\x1b[".to_vec()),
            Just(b"\x1b]".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\x1b\\".to_vec()),
            Just(b"\x08".to_vec()),
            Just(b"\x1b[2A".to_vec()),
            Just(b"\x1b[B".to_vec()),
            Just(b"\x1b[J".to_vec()),
            Just(b"some text\n".to_vec()),
            Just("é漢".as_bytes().to_vec()),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }
}
