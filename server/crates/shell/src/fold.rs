//! Lines that say little new: those that come again and again, and progress that counts up.
//!
//! Nothing is left out without a word that says how much it was. What is folded can be read in full by handle.

use super::plain::LINE;

/// A line that comes so often more is folded, if that makes the text shorter.
const REPEATS: u64 = 3;

/// So many lines of progress are folded to the first and the last of them.
const PROGRESS: u64 = 5;

/// Empty lines count as so long, since they are worth leaving out where there are many.
const EMPTY: u64 = 12;

/// Folds a text as it comes.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// The beginning of a line whose end has not come.
    partial: Vec<u8>,
    /// True if that is the rest of a line too long to be looked at.
    is_rest: bool,
    /// The last line.
    last: Vec<u8>,
    held: Held,
    /// True if anything was folded.
    pub(super) has_folded: bool,
}

/// Lines that are like the ones before them, and were not given out yet.
#[derive(Debug, Default)]
enum Held {
    #[default]
    None,
    /// The last line once more, so often.
    Repeated(u64),
    /// So many lines of progress. Few of them are all here, of many the last.
    Progress(u64, Vec<u8>),
}

impl Fold {
    /// Takes in text, cut anywhere, and gives out whole lines, but for very long ones.
    pub(super) fn push(&mut self, text: &[u8], out: &mut impl FnMut(&[u8])) {
        for piece in text.split_inclusive(|byte| *byte == b'\n') {
            if self.partial.is_empty() && piece.ends_with(b"\n") && !self.is_rest && piece.len() <= LINE {
                self.line(piece, out);
                continue;
            }
            let mut piece = piece;
            while !piece.is_empty() {
                let (now, later) = piece.split_at(piece.len().min(LINE - self.partial.len()));
                self.partial.extend_from_slice(now);
                piece = later;
                let ends = self.partial.ends_with(b"\n");
                if ends || self.partial.len() >= LINE {
                    self.end_partial(ends, out);
                }
            }
        }
    }

    /// Gives out what is left.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&[u8])) {
        self.end_partial(false, out);
        self.settle(out);
    }

    fn end_partial(&mut self, ends: bool, out: &mut impl FnMut(&[u8])) {
        let partial = std::mem::take(&mut self.partial);
        if ends && !self.is_rest {
            self.line(&partial, out);
        } else {
            self.settle(out);
            out(&partial);
            self.last.clear();
        }
        self.is_rest = !ends;
        self.partial = partial;
        self.partial.clear();
    }

    fn line(&mut self, line: &[u8], out: &mut impl FnMut(&[u8])) {
        if line == self.last.as_slice() {
            match &mut self.held {
                Held::None => self.held = Held::Repeated(1),
                Held::Repeated(times) => *times += 1,
                Held::Progress(lines, held) => hold(lines, held, line),
            }
            return;
        }
        if !matches!(self.held, Held::Repeated(_)) && is_progress(&self.last, line) {
            match &mut self.held {
                Held::Progress(lines, held) => hold(lines, held, line),
                held => *held = Held::Progress(1, line.to_vec()),
            }
        } else {
            self.settle(out);
            out(line);
        }
        self.last.clear();
        self.last.extend_from_slice(line);
    }

    /// Gives out the lines that are held, or a word for them.
    fn settle(&mut self, out: &mut impl FnMut(&[u8])) {
        match std::mem::take(&mut self.held) {
            Held::None => {}
            Held::Repeated(times) => {
                let length = if self.last == b"\n" { EMPTY } else { self.last.len() as u64 };
                if times >= REPEATS && times * length > 60 {
                    let what = if self.last == b"\n" { "empty line" } else { "line" };
                    out(format!("[the {what} before was repeated {times} times]\n").as_bytes());
                    self.has_folded = true;
                } else {
                    (0..times).for_each(|_| out(&self.last));
                }
            }
            Held::Progress(lines, held) if lines > PROGRESS => {
                let left_out = lines - 1;
                out(format!("[{left_out} lines of the same progress are left out here]\n").as_bytes());
                out(&held);
                self.has_folded = true;
            }
            Held::Progress(_, held) => held.split_inclusive(|byte| *byte == b'\n').for_each(out),
        }
    }
}

fn hold(lines: &mut u64, held: &mut Vec<u8>, line: &[u8]) {
    *lines += 1;
    if *lines > PROGRESS {
        held.clear();
    }
    held.extend_from_slice(line);
}

/// True if two lines tell of the same progress: they differ only in numbers, sums and bars, and something in them is a
/// share or an amount. A table of numbers is none, nor are numbered lines.
fn is_progress(before: &[u8], line: &[u8]) -> bool {
    let (mut a, mut b) = (before, line);
    let mut letters = 0;
    let mut at_word = true;
    while let (Some((x, after_x)), Some((y, after_y))) = (a.split_first(), b.split_first()) {
        let varies = x.is_ascii_digit() || is_bar(a) || (at_word && x.is_ascii_hexdigit());
        if x == y && !varies {
            letters += usize::from(x.is_ascii_alphabetic());
            at_word = !x.is_ascii_alphanumeric();
            (a, b) = (after_x, after_y);
            continue;
        }
        let mut ends_word = false;
        if at_word && let (Some(rest_a), Some(rest_b)) = (after_sum(a), after_sum(b)) {
            (a, b) = (rest_a, rest_b);
        } else if x.is_ascii_digit() && y.is_ascii_digit() {
            let is_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b':');
            (a, b) = (after(a, is_number), after(b, is_number));
        } else if is_bar(a) && is_bar(b) {
            (a, b) = (after_bar(a), after_bar(b));
            ends_word = true;
        } else if x == y {
            letters += usize::from(x.is_ascii_alphabetic());
            ends_word = !x.is_ascii_alphanumeric();
            (a, b) = (after_x, after_y);
        } else {
            return false;
        }
        at_word = ends_word;
    }
    a.is_empty() && b.is_empty() && letters >= 2 && tells_progress(line)
}

/// Behind a number in hexadecimal of seven digits or more, such as a hash, if there is one.
fn after_sum(text: &[u8]) -> Option<&[u8]> {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let (word, rest) = text.split_at(length);
    (length >= 7 && word.iter().all(u8::is_ascii_hexdigit) && word.iter().any(u8::is_ascii_digit)).then_some(rest)
}

/// True if a text begins with part of a bar or of the space around numbers: blanks, ASCII, box and block elements
/// (U+2500 to U+25FF).
fn is_bar(text: &[u8]) -> bool {
    matches!(text, [b' ' | b'=' | b'#' | b'>' | b'-' | b'.', ..] | [0xe2, 0x94..=0x97, ..])
}

fn after_bar(text: &[u8]) -> &[u8] {
    let mut rest = text;
    while is_bar(rest) {
        rest = rest.get(if rest.first() == Some(&0xe2) { 3 } else { 1 }..).unwrap_or_default();
    }
    rest
}

fn after(text: &[u8], fits: impl Fn(&u8) -> bool) -> &[u8] {
    text.get(text.iter().take_while(|byte| fits(byte)).count()..).unwrap_or_default()
}

/// True if there is a share or an amount in a line: `12%`, `3/40`, `1.5 MB`, `200 kB/s`, or the sum of a layer or a
/// commit.
fn tells_progress(line: &[u8]) -> bool {
    line.windows(2).enumerate().any(|(at, pair)| match pair {
        [b'0'..=b'9', b'%'] => true,
        [b'0'..=b'9', b'/'] => line.get(at + 2).is_some_and(u8::is_ascii_digit),
        [b'B', b'/'] => line.get(at + 2) == Some(&b's'),
        [b'0'..=b'9' | b' ', b'k' | b'K' | b'M' | b'G'] => {
            let unit = line.get(at + 2..).unwrap_or_default();
            let amount =
                line.get(..=at).is_some_and(|before| before.trim_ascii_end().last().is_some_and(u8::is_ascii_digit));
            amount && (unit.starts_with(b"B") || unit.starts_with(b"iB"))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folded(text: &str) -> String {
        let (mut fold, mut out) = (Fold::default(), Vec::new());
        fold.push(text.as_bytes(), &mut |more| out.extend_from_slice(more));
        fold.finish(&mut |more| out.extend_from_slice(more));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_line_that_comes_again_and_again_is_told_once_with_its_number() {
        let text = format!("begin\n{}end\n", "warning: something is odd\n".repeat(313));
        let expected = "begin\nwarning: something is odd\n[the line before was repeated 312 times]\nend\n";
        assert_eq!(folded(&text), expected);
        assert_eq!(
            folded(&format!("a\n{}b\n", "\n".repeat(40))),
            "a\n\n[the empty line before was repeated 39 times]\nb\n"
        );
    }

    #[test]
    fn what_would_not_get_shorter_stays() {
        for text in ["a\na\na\na\na\nb\n", "x\n\n\ny\n", "}\n  }\n}\n}\n", "", "no end", "\n", "same\nsame"] {
            assert_eq!(folded(text), text);
        }
    }

    #[test]
    fn progress_is_its_first_and_last_line() {
        let cases: &[&dyn Fn(u32) -> String] = &[
            &|n| format!("Downloading packages: {n}%"),
            &|n| format!("Receiving objects:  {n}% ({n}/812), {}.20 MiB | 1.{n} MiB/s", n * 3),
            &|n| format!("[{n}/99] Building C object"),
            &|n| format!("{:08x}f00: Pull complete 1/1", n * 7919),
            &|n| format!("Progress [{:<40}] {n} of 40, {n}%", "=".repeat(n as usize) + ">"),
            &|n| format!("   {}{} {n}.1/40.0 MB eta 0:00:{n:02}", "━".repeat(n as usize), "─".repeat(40 - n as usize)),
            &|n| format!("epoch {n}/40 loss: 0.{n}331"),
        ];
        for line in cases {
            let text: String = (1..=39).map(|n| line(n) + "\n").collect();
            let (first, last) = (line(1), line(39));
            let expected = format!("{first}\n[37 lines of the same progress are left out here]\n{last}\n");
            assert_eq!(folded(&text), expected);
        }
    }

    #[test]
    fn lines_that_each_say_something_stay_however_alike_they_are() {
        let cases: &[&dyn Fn(u32) -> String] = &[
            &|n| format!("{n}"),
            &|n| format!("line {n}"),
            &|n| format!("1{n}, 2{n}, 3{n}"),
            &|n| format!("src/main.rs:{n}: let x = {n};"),
            &|n| format!("test case_{n} ... ok"),
            &|n| format!("-rw-r--r-- 1 user user {n} Nov 21 21:{n} file-{n}"),
            &|n| format!("Compiling crate{} v1.0.{n}", char::from(b'a' + (n % 26) as u8)),
            &|n| format!("{n}: 0x7f{n}"),
        ];
        for line in cases {
            let text: String = (10..=50).map(|n| line(n) + "\n").collect();
            assert_eq!(folded(&text), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_folded_does_not_depend_on_how_the_text_is_cut(lines in lines(), cut in 0_usize..2000) {
            let text = lines.concat();
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let (mut fold, mut out) = (Fold::default(), Vec::new());
            fold.push(&text.as_bytes()[..cut], &mut |more| out.extend_from_slice(more));
            fold.push(&text.as_bytes()[cut..], &mut |more| out.extend_from_slice(more));
            fold.finish(&mut |more| out.extend_from_slice(more));
            prop_assert_eq!(String::from_utf8(out).unwrap(), folded(&text));
        }

        /// Whatever is given out is a line of the text, in its order, or says how many lines are missing; and they are
        /// that many.
        #[test]
        fn nothing_is_left_out_without_its_number(lines in lines()) {
            let text = lines.concat();
            let mut originals = text.lines().peekable();
            let mut before = "";
            for line in folded(&text).lines() {
                let number = |prefix: &str, suffix: &str| {
                    line.strip_prefix(prefix)?.strip_suffix(suffix)?.parse::<usize>().ok()
                };
                let repeated = number("[the line before was repeated ", " times]")
                    .or(number("[the empty line before was repeated ", " times]"));
                if let Some(times) = repeated {
                    for _ in 0..times {
                        prop_assert_eq!(originals.next(), Some(before));
                    }
                } else if let Some(times) = number("[", " lines of the same progress are left out here]") {
                    originals.by_ref().take(times).for_each(drop);
                } else {
                    let original = originals.next();
                    prop_assert_eq!(original, Some(line));
                    before = original.unwrap_or_default();
                }
            }
            prop_assert_eq!(originals.next(), None);
        }
    }

    fn lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            (Just("the same thing once more\n"), 1_usize..12).prop_map(|(line, times)| line.repeat(times)),
            (1_usize..12).prop_map(|times| "\n".repeat(times)),
            (1_u32..12).prop_map(|to| (0..to).map(|n| format!("Fetching {n}% of 7\n")).collect()),
            "[a-z0-9 %/]{0,12}\n",
            Just("x".repeat(LINE) + "\n"),
            Just("y".repeat(LINE - 1) + "\n"),
        ];
        prop::collection::vec(line, 0..12)
    }
}
