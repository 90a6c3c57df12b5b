//! Marks in the terminal's bytes that say where a command's output begins and ends.
//!
//! A mark is an application program command (`ESC _ … ESC \`), which a terminal does not show, with a random nonce at
//! both ends. [`Filter`] takes the marks out of the stream, however the reads happen to cut it; bytes that only look
//! like a mark stay in it.

/// How every mark begins.
const INTRO: &[u8] = b"\x1b_azimuth;";

/// A mark holds a folder's name at most; what is longer is none.
const LONGEST: usize = 16 << 10;

/// The token by which a command's marks are known: 32 hexadecimal digits that no command can guess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nonce(String);

impl Nonce {
    pub(super) fn random() -> Self {
        use std::hash::{BuildHasher, RandomState};
        // The standard library seeds its hashers from the operating system's random numbers.
        Self(format!("{:016x}{:016x}", RandomState::new().hash_one(1_u8), RandomState::new().hash_one(2_u8)))
    }

    /// The digits.
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The command that prints the mark of a shell that is ready for a command.
    pub(super) fn print_ready(&self) -> String {
        self.print("ready")
    }

    /// The command that prints the mark of a command's start. It prints to the terminal whatever the shell's output is.
    pub(super) fn print_start(&self) -> String {
        self.print("start")
    }

    /// The command that prints the mark of a command's end, with the exit code of what ran before it, and the folder.
    pub(super) fn print_end(&self) -> String {
        format!(r#"command printf '\033_azimuth;{0};end;%s;%s;{0}\033\\' "$?" "$PWD" >/dev/tty"#, self.0)
    }

    /// The command that gives the user a prompt, in the shell itself, so that all they do there stays: lines are read
    /// with the shell's own line editor and run, until there are no more of them or the user leaves. Before each prompt
    /// it prints a mark, before each line that runs another with the line, and a third when the user has left.
    pub(super) fn prompt(&self, is_bash: bool) -> String {
        let (at_prompt, left) = (self.print("prompt"), self.print("left"));
        let line =
            format!(r#"command printf '\033_azimuth;{0};line;%s;{0}\033\\' "$__azimuth_line" >/dev/tty"#, self.0);
        let text = if is_bash { PROMPT_OF_BASH } else { PROMPT_OF_SH };
        text.replace("@PROMPT@", &at_prompt).replace("@LINE@", &line).replace("@LEFT@", &left)
    }

    fn print(&self, word: &str) -> String {
        format!(r"command printf '\033_azimuth;{0};{word};{0}\033\\' >/dev/tty", self.0)
    }
}

/// Lines that bash says are not whole are gone on with, as at any prompt. It reads them, so that they are no arguments,
/// which every user of the machine may see.
const PROMPT_OF_BASH: &str = r#"while @PROMPT@; IFS= command read -e -r -p "azimuth:$PWD\$ " __azimuth_line; do
  while case $(LC_ALL=C "$BASH" --norc -n 2>&1 <<<"$__azimuth_line") in
    *"unexpected end of file"*|*"unexpected EOF"*|*"delimited by end-of-file"*) :;; *) false;; esac
  do IFS= command read -e -r -p '> ' __azimuth_more || break; __azimuth_line+=$'\n'$__azimuth_more; done
  case "$__azimuth_line" in *[![:space:]]*) ;; *) continue;; esac
  command history -s -- "$__azimuth_line"
  case "$__azimuth_line" in exit|logout) break;; esac
  @LINE@
  command eval "$__azimuth_line"
done; @LEFT@"#;

/// The same without a line editor.
const PROMPT_OF_SH: &str = r#"while @PROMPT@; command printf 'azimuth$ '; IFS= command read -r __azimuth_line; do
  case "$__azimuth_line" in "") continue;; exit|logout) break;; esac
  @LINE@
  command eval "$__azimuth_line"
done; @LEFT@"#;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Bytes to show.
    Bytes(&'a [u8]),
    /// The shell is ready for the command.
    Ready,
    /// The command begins here.
    Start,
    /// An event at the user's prompt.
    AtPrompt(AtPrompt),
    /// The command ended here.
    End {
        /// Its exit code.
        code: Option<i32>,
        /// The shell's folder after it.
        cwd: String,
    },
}

/// An event at the user's prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AtPrompt {
    /// It reads a line.
    Reads,
    /// It runs this line.
    Runs(String),
    /// The user has left it.
    Left,
}

/// Takes marks out of a stream.
#[derive(Debug, Default)]
pub(super) struct Filter {
    held: Vec<u8>,
    current: Option<Nonce>,
    /// A mark of the command before may come late; it is taken out and means nothing.
    previous: Option<Nonce>,
}

impl Filter {
    /// From now on the marks of this nonce count.
    pub(super) fn expect(&mut self, nonce: Nonce) {
        self.previous = self.current.replace(nonce);
    }

    /// True if the marks of this nonce count.
    pub(super) fn expects(&self, nonce: &Nonce) -> bool {
        self.current.as_ref() == Some(nonce)
    }

    /// Gives the pieces of what has come, in order. What may still become a mark is held back until more comes.
    pub(super) fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(Piece<'_>)) {
        let mut held = std::mem::take(&mut self.held);
        held.extend_from_slice(bytes);
        let mut rest = held.as_slice();
        let mut shown = 0;
        while let Some(escape) = rest.get(shown..).and_then(|tail| tail.iter().position(|byte| *byte == 0x1b)) {
            let at = shown + escape;
            let (before, candidate) = rest.split_at(at);
            match self.mark(candidate) {
                Mark::None => shown = at + 1,
                Mark::Partial => {
                    show(before, &mut each);
                    self.held = candidate.to_vec();
                    return;
                }
                Mark::Whole { length, piece } => {
                    show(before, &mut each);
                    piece.into_iter().for_each(&mut each);
                    rest = candidate.get(length..).unwrap_or_default();
                    shown = 0;
                }
            }
        }
        show(rest, &mut each);
        held.clear();
        self.held = held;
    }

    /// Gives what is held back, at the stream's end.
    pub(super) fn finish(&mut self, mut each: impl FnMut(Piece<'_>)) {
        show(&std::mem::take(&mut self.held), &mut each);
    }

    fn mark(&self, bytes: &[u8]) -> Mark {
        let known = [&self.current, &self.previous];
        let mut partial = false;
        for nonce in known.into_iter().flatten() {
            let head = [INTRO, nonce.0.as_bytes(), b";"].concat();
            if bytes.len() < head.len() {
                partial |= head.starts_with(bytes);
            } else if let Some(body) = bytes.strip_prefix(head.as_slice()) {
                let foot = [b";", nonce.0.as_bytes(), b"\x1b\\"].concat();
                return match body.windows(foot.len()).position(|window| window == foot) {
                    Some(end) => Mark::Whole {
                        length: head.len() + end + foot.len(),
                        piece: body.get(..end).filter(|_| self.current.as_ref() == Some(nonce)).and_then(piece_of),
                    },
                    None if body.len() < LONGEST => Mark::Partial,
                    None => Mark::None,
                };
            }
        }
        if partial { Mark::Partial } else { Mark::None }
    }
}

enum Mark {
    None,
    Partial,
    Whole { length: usize, piece: Option<Piece<'static>> },
}

fn piece_of(body: &[u8]) -> Option<Piece<'static>> {
    match body {
        b"ready" => return Some(Piece::Ready),
        b"start" => return Some(Piece::Start),
        b"prompt" => return Some(Piece::AtPrompt(AtPrompt::Reads)),
        b"left" => return Some(Piece::AtPrompt(AtPrompt::Left)),
        _ => {}
    }
    if let Some(line) = body.strip_prefix(b"line;") {
        let line = String::from_utf8_lossy(line).replace("\r\n", "\n");
        return Some(Piece::AtPrompt(AtPrompt::Runs(line)));
    }
    let body = String::from_utf8_lossy(body.strip_prefix(b"end;")?).into_owned();
    let (code, cwd) = body.split_once(';')?;
    Some(Piece::End { code: code.parse().ok(), cwd: cwd.to_owned() })
}

fn show(bytes: &[u8], each: &mut impl FnMut(Piece<'_>)) {
    if !bytes.is_empty() {
        each(Piece::Bytes(bytes));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nonce() -> Nonce {
        Nonce("0123456789abcdef0123456789abcdef".to_owned())
    }

    fn run(chunks: &[&[u8]]) -> (Vec<u8>, Vec<(usize, String)>) {
        let mut filter = Filter::default();
        filter.expect(nonce());
        let mut bytes = Vec::new();
        let mut marks = Vec::new();
        let mut take = |piece: Piece<'_>| match piece {
            Piece::Bytes(more) => bytes.extend_from_slice(more),
            Piece::Ready => marks.push((bytes.len(), "ready".to_owned())),
            Piece::Start => marks.push((bytes.len(), "start".to_owned())),
            Piece::AtPrompt(what) => marks.push((bytes.len(), format!("{what:?}"))),
            Piece::End { code, cwd } => marks.push((bytes.len(), format!("end {code:?} {cwd}"))),
        };
        for chunk in chunks {
            filter.feed(chunk, &mut take);
        }
        filter.finish(&mut take);
        (bytes, marks)
    }

    fn marked(before: &[u8], inside: &[u8], after: &[u8]) -> Vec<u8> {
        let n = nonce().0;
        [
            before,
            format!("\x1b_azimuth;{n};ready;{n}\x1b\\\x1b_azimuth;{n};start;{n}\x1b\\").as_bytes(),
            inside,
            format!("\x1b_azimuth;{n};end;3;/a b;{n}\x1b\\").as_bytes(),
            after,
        ]
        .concat()
    }

    #[test]
    fn two_nonces_differ() {
        assert_ne!(Nonce::random(), Nonce::random());
        assert_eq!(Nonce::random().as_str().len(), 32);
    }

    #[test]
    fn a_mark_with_another_nonce_is_output() {
        let forged = b"\x1b_azimuth;ffffffffffffffffffffffffffffffff;end;0;/;ffffffffffffffffffffffffffffffff\x1b\\";
        assert_eq!(run(&[forged]), (forged.to_vec(), vec![]));
    }

    #[test]
    fn a_late_mark_of_the_command_before_means_nothing() {
        let mut filter = Filter::default();
        filter.expect(nonce());
        filter.expect(Nonce::random());
        let mut pieces = 0;
        filter.feed(&marked(b"", b"", b""), |_| pieces += 1);
        assert_eq!(pieces, 0);
    }

    proptest! {
        #[test]
        fn marks_are_found_and_taken_out_however_the_stream_is_cut(
            before in output(), inside in output(), after in output(), cuts in prop::collection::vec(0_usize..400, 0..8),
        ) {
            let stream = marked(&before, &inside, &after);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.push(0);
            cuts.push(stream.len());
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            let (bytes, marks) = run(&chunks);
            prop_assert_eq!(bytes, [before.as_slice(), &inside, &after].concat());
            prop_assert_eq!(marks, vec![
                (before.len(), "ready".to_owned()),
                (before.len(), "start".to_owned()),
                (before.len() + inside.len(), "end Some(3) /a b".to_owned()),
            ]);
        }
    }

    /// Bytes with many beginnings of marks.
    fn output() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"\x1b".to_vec()),
            Just(b"\x1b_azimuth;".to_vec()),
            Just(b"\x1b_azimuth;0123456789abcdef".to_vec()),
            Just(b"\x1b[31m".to_vec()),
            prop::collection::vec(any::<u8>(), 0..20),
        ];
        prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
    }
}
