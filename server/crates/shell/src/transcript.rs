//! The text that a model reads of a command's output: plain text, folded; of a long one its beginning, what failed in
//! the middle, and its end. No more is held in memory than is given out.

use std::collections::VecDeque;

use super::failures::{Block, Failures};
use super::fold::Fold;
pub(super) use super::plain::Plain;
use super::plain::is_continuation;

/// An output of at most so many bytes is given as it is, with nothing folded.
const SHORT: usize = 4 << 10;

/// The first bytes are kept.
const HEAD: usize = 12 << 10;

/// The last bytes are kept.
const TAIL: usize = 20 << 10;

/// How many of them are given where something failed between them: half, since what failed takes their room.
const SHARE: usize = 2;

/// Takes in a command's output, and keeps what a model is given.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    plain: Plain,
    digest: Digest,
}

/// The part of a command's output that was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    /// The text. Says how much was left out, if any was.
    pub(super) text: String,
    /// True if any was.
    pub(super) is_cut: bool,
}

/// Makes of a plain text what a model is given.
#[derive(Debug)]
struct Digest {
    /// All of it, as long as that is short.
    short: Option<Vec<u8>>,
    fold: Fold,
    ends: Ends,
    failures: Failures,
}

/// The ends of a text.
#[derive(Debug, Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Transcript {
    /// Takes in bytes, cut anywhere.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.plain.push(bytes, &mut |text| self.digest.push(text));
    }

    /// Returns what was printed.
    pub(super) fn finish(mut self) -> Printed {
        self.plain.finish(&mut |text| self.digest.push(text));
        self.digest.finish()
    }
}

impl Default for Digest {
    fn default() -> Self {
        Self { short: Some(Vec::new()), fold: Fold::default(), ends: Ends::default(), failures: Failures::default() }
    }
}

impl Digest {
    fn push(&mut self, text: &[u8]) {
        if let Some(short) = &mut self.short {
            if short.len() + text.len() <= SHORT {
                short.extend_from_slice(text);
            } else {
                self.short = None;
            }
        }
        let Self { fold, ends, failures, .. } = self;
        fold.push(text, &mut |line| take(ends, failures, line));
    }

    fn finish(self) -> Printed {
        let Self { short, mut fold, mut ends, mut failures } = self;
        if let Some(short) = short {
            return Printed { text: String::from_utf8_lossy(&short).into_owned(), is_cut: false };
        }
        fold.finish(&mut |line| take(&mut ends, &mut failures, line));
        let (blocks, more) = failures.finish();
        ends.finish(&blocks, more, fold.has_folded)
    }
}

fn take(ends: &mut Ends, failures: &mut Failures, line: &[u8]) {
    failures.line(line, ends.length());
    ends.push(line);
}

impl Ends {
    fn length(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.left_out
    }

    fn push(&mut self, text: &[u8]) {
        let (head, tail) = text.split_at(text.len().min(HEAD - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(tail);
        let surplus = self.tail.len().saturating_sub(TAIL);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }

    /// The whole text, where it is all there; else its ends, with what failed between them.
    fn finish(self, blocks: &[Block], more: usize, has_folded: bool) -> Printed {
        let length = self.length();
        let Self { mut head, tail, left_out } = self;
        let tail: Vec<u8> = tail.into();
        if left_out == 0 {
            head.extend_from_slice(&tail);
            return Printed { text: String::from_utf8_lossy(&head).into_owned(), is_cut: has_folded };
        }
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let is_between = |block: &&Block, first: &[u8], last: &[u8]| {
            block.range.end > first.len() as u64 && block.range.start < length - last.len() as u64
        };
        let (mut first, mut last) = (whole_lines_until(&head), whole_lines_from(&tail));
        if more == 0 && !blocks.iter().any(|block| is_between(&block, first, last)) {
            let left_out = length - (first.len() + last.len()) as u64;
            let first = lossy(first);
            let text =
                format!("{}\n[... {left_out} bytes left out here ...]\n{}", first.trim_end_matches('\n'), lossy(last));
            return Printed { text, is_cut: true };
        }
        first = whole_lines_until(first.get(..HEAD / SHARE).unwrap_or(first));
        last = whole_lines_from(tail.get(tail.len() - tail.len().min(TAIL / SHARE)..).unwrap_or(&tail));
        let failed: Vec<_> = blocks.iter().filter(|block| is_between(block, first, last)).collect();
        let shown = failed.iter().map(|block| lossy(&block.text)).collect::<Vec<_>>().join("[...]\n");
        let left_out = length - (first.len() + last.len()) as u64;
        let more = if more > 0 { format!("{more} more like these are not shown; ") } else { String::new() };
        let text = format!(
            "{}\n[... {left_out} bytes left out here; of them, these lines seem to say what failed: ...]\n{}\n[... {more}the end \
             of the output: ...]\n{}",
            lossy(first).trim_end_matches('\n'),
            shown.trim_end_matches('\n'),
            lossy(last)
        );
        Printed { text, is_cut: true }
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::plain::tests::stream;

    use super::*;

    fn plain(bytes: &[u8]) -> String {
        let mut transcript = Transcript::default();
        transcript.push(bytes);
        transcript.finish().text
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

    #[test]
    fn a_short_output_is_given_to_the_byte() {
        let text = "10%\n20%\n30%\n40%\n50%\n60%\n70%\n80%\n".repeat(20) + &"\n".repeat(60);
        assert_eq!(plain(text.as_bytes()), text);
    }

    #[test]
    fn an_output_that_was_folded_is_cut_and_one_that_was_not_is_whole() {
        let printed = |text: &str| {
            let mut transcript = Transcript::default();
            transcript.push(text.as_bytes());
            transcript.finish()
        };
        let same = printed(&"the same line, as often as it takes\n".repeat(1000));
        assert_eq!(same.text, "the same line, as often as it takes\n[the line before was repeated 999 times]\n");
        assert!(same.is_cut);
        let various: String = (0..500).map(|n| format!("line number {n}, which is not the one before\n")).collect();
        assert_eq!(printed(&various), Printed { text: various.clone(), is_cut: false });
    }

    #[test]
    fn what_failed_is_told_between_the_ends_of_a_long_output() {
        let fine = |from: usize, to: usize| (from..to).map(|n| format!("test number_{n} ... ok\n")).collect::<String>();
        let failed = "---- number_7 stdout ----\nthread 'number_7' panicked at src/lib.rs:7:5:\nleft: 1, right: 2\n\n";
        let text = fine(0, 9000) + failed + "test result: nothing\n" + &fine(9000, 18_000);
        let text = plain(text.as_bytes());
        assert!(text.starts_with("test number_0 ... ok\n") && text.ends_with("test number_17999 ... ok\n"));
        let (_, rest) = text.split_once("these lines seem to say what failed: ...]\n").unwrap();
        assert!(rest.starts_with(failed.trim_end()), "{rest}");
        assert!(text.len() < HEAD + TAIL + 300);

        let many: String = (0..9000).map(|n| format!("src/{n}.c:{n}:1: error: no {n}\n")).collect();
        let text = plain((fine(0, 9000) + &many + &fine(0, 9000)).as_bytes());
        assert!(text.contains("src/0.c:0:1: error: no 0\nsrc/1.c:1:1: error: no 1\n"), "{text}");
        let (_, rest) = text.split_once("\n[... ").unwrap();
        let more: usize =
            rest.split_once("\n[... ").unwrap().1.split_once(" more like these").unwrap().0.parse().unwrap();
        assert_eq!(more + text.matches(": error: no ").count(), 9000);
        assert!(text.len() < (HEAD + TAIL) + 1000, "{} bytes", text.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn text_does_not_depend_on_how_the_stream_is_cut(parts in prop::collection::vec(stream(), 0..60), cut in 0_usize..9000) {
            let bytes = parts.concat();
            let cut = cut.min(bytes.len());
            let mut transcript = Transcript::default();
            transcript.push(&bytes[..cut]);
            transcript.push(&bytes[cut..]);
            prop_assert_eq!(transcript.finish().text, plain(&bytes));
        }

        #[test]
        fn it_is_bounded_whatever_comes(parts in prop::collection::vec(prop_oneof![stream(), failing()], 0..60), times in 1_usize..60) {
            let text = plain(&parts.concat().repeat(times));
            // A byte that is no text becomes a character of three.
            prop_assert!(text.len() <= 3 * (HEAD + TAIL + 1000), "{} bytes", text.len());
        }
    }

    fn failing() -> impl Strategy<Value = Vec<u8>> {
        let shape = prop_oneof![
            Just("error[E0308]: mismatched types\n"),
            Just("---- test stdout ----\n"),
            Just("Traceback (most recent call last):\n  File \"x.py\", line 1\n"),
            Just("not ok 1\n"),
            Just("  3 failing\n"),
            Just("    indented\n"),
            Just("\n"),
        ];
        (shape, "[a-z ]{0,80}\n").prop_map(|(shape, rest)| [shape.as_bytes(), rest.as_bytes()].concat())
    }
}
