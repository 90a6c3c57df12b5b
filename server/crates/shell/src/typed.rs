//! The record of what was typed into a terminal, by whom, a line at a time.
//!
//! It holds only what the terminal shows. What is typed while the terminal echoes is on the screen anyway. What is
//! typed while it does not, and reads lines, is a secret: it is forgotten before it is even looked at, and the record
//! says that something was typed. A program that reads single keys may show them itself or not; there a line is
//! recorded only if it is found in what was printed since it was begun. In doubt, it is hidden.

use std::sync::Arc;
use std::time::Duration;

use protocol::terminal::Typist;
use tokio::sync::mpsc::UnboundedReceiver;

use super::spool::Spool;
use super::transcript::Plain;
use super::waiting::Keys;

/// How long a program that shows keys itself may take to do it.
const ECHO: Duration = Duration::from_secs(1);

/// How often it is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// Texts of fewer characters are short: PINs and codes among them.
const SHORT: usize = 7;

/// A line is recorded in pieces of at most so many bytes.
const LINE: usize = 4 << 10;

/// The visibility of a typed text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// The terminal shows it.
    Yes,
    /// Nobody does.
    No,
    /// The program may.
    Perhaps,
}

impl Shown {
    /// By what the terminal did with keys before and after they were typed; none if that cannot be known.
    pub(super) fn between(before: Option<Keys>, after: Option<Keys>) -> Self {
        match (before, after) {
            (Some(before), Some(after)) if before.hidden() || after.hidden() => Self::No,
            (Some(before), Some(after)) if before.echo && after.echo => Self::Yes,
            (Some(_), Some(_)) => Self::Perhaps,
            _ => Self::No,
        }
    }
}

/// Something that was typed at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    by: Typist,
    shown: Shown,
    /// Where the output was before it was typed: what a program shows of it comes later, and perhaps at once.
    began: u64,
    /// Of what is not shown, only where lines end. None of them is where all lines end.
    bytes: Vec<u8>,
}

/// Returns what is to be recorded of bytes that were typed when the output was at `began`.
pub(super) fn chunk(by: Typist, bytes: &[u8], shown: Shown, began: u64) -> Chunk {
    let bytes = match shown {
        Shown::Yes | Shown::Perhaps => bytes.to_vec(),
        Shown::No => bytes.iter().copied().map(|byte| if is_end(byte) { byte } else { b'*' }).collect(),
    };
    let bytes = if shown == Shown::No { collapsed(&bytes) } else { bytes };
    Chunk { by, shown, began, bytes }
}

/// Ends what was typed before: nobody reads on.
pub(super) fn end() -> Chunk {
    Chunk { by: Typist::User, shown: Shown::Yes, began: 0, bytes: Vec::new() }
}

/// Without how long a secret is.
fn collapsed(bytes: &[u8]) -> Vec<u8> {
    let mut short = bytes.to_vec();
    short.dedup_by(|next, before| *next == b'*' && *before == b'*');
    short
}

/// A line of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) by: Typist,
    /// The typed text, keys as words in brackets; empty if it is hidden.
    pub(super) text: String,
    pub(super) hidden: bool,
}

/// Makes lines of what was typed, until no more comes. The output they are compared with is that of `spool`.
pub(super) async fn record(mut chunks: UnboundedReceiver<Chunk>, spool: Arc<Spool>, out: impl Fn(Line)) {
    let mut lines = [Unfinished::new(Typist::User), Unfinished::new(Typist::Model)];
    while let Some(chunk) = chunks.recv().await {
        if chunk.bytes.is_empty() {
            for line in &mut lines {
                if !line.parts.is_empty() {
                    finish(line, ECHO, &spool, &out).await;
                }
                line.began = None;
            }
            continue;
        }
        let by = chunk.by;
        let Some(line) = lines.iter_mut().find(|line| line.by == by) else { continue };
        // Of lines that were sent at once, what follows one that nobody showed is not waited for.
        let mut patience = ECHO;
        for byte in chunk.bytes {
            line.begin(chunk.began);
            if line.push(byte, chunk.shown) && finish(line, patience, &spool, &out).await {
                patience = Duration::ZERO;
            }
        }
    }
    for line in &mut lines {
        if !line.parts.is_empty() {
            finish(line, ECHO, &spool, &out).await;
        }
    }
}

/// Records a line. Waits at most `patience` for what may be shown of it. Returns true if it is hidden.
async fn finish(line: &mut Unfinished, patience: Duration, spool: &Spool, out: &impl Fn(Line)) -> bool {
    let (began, from) = line.began.take().unwrap_or_else(|| (spool.end(), 0));
    let parts = std::mem::take(&mut line.parts);
    line.escape.clear();
    line.length = 0;
    let perhaps = std::mem::take(&mut line.perhaps);
    let mut hidden = std::mem::take(&mut line.hidden);
    if perhaps && !hidden {
        let looked = async {
            loop {
                let end = spool.end();
                if let Some(until) = plain(spool, began).get(from..).and_then(|printed| end_of(&parts, printed)) {
                    return Shows { began, until: from + until, end };
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        match tokio::time::timeout(patience, looked).await {
            Ok(shows) => line.before = Some(shows),
            Err(_) => hidden = true,
        }
    }
    let text = if hidden { String::new() } else { parts.iter().map(Part::in_words).collect() };
    out(Line { by: line.by, text, hidden });
    hidden
}

/// Where what shows these texts, one after the other, ends; none if not all are there. A short one may be found in
/// anything, so that it has to come first.
fn end_of(parts: &[Part], printed: &str) -> Option<usize> {
    let (mut end, mut is_first) = (0, true);
    for part in parts {
        let Part::Text(text) = part else { continue };
        let rest = printed.get(end..)?;
        let at = if std::mem::take(&mut is_first) && text.chars().count() < SHORT {
            let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
            let text = text.trim_start_matches(' ');
            rest.get(blanks..)?.starts_with(text).then_some(blanks + text.len())?
        } else {
            rest.find(text.as_str())? + text.len()
        };
        end += at;
    }
    Some(end)
}

fn plain(spool: &Spool, since: u64) -> String {
    let (_, bytes) = spool.read_from(since, 256 << 10);
    let (mut plain, mut text) = (Plain::default(), Vec::new());
    plain.push(&bytes, &mut |more| text.extend_from_slice(more));
    plain.finish(&mut |more| text.extend_from_slice(more));
    String::from_utf8_lossy(&text).into_owned()
}

/// A line that somebody is still typing.
struct Unfinished {
    by: Typist,
    parts: Vec<Part>,
    /// The bytes of a character or of a key that are not all there.
    escape: Vec<u8>,
    hidden: bool,
    perhaps: bool,
    /// Where the output was when it was begun, and how much of what is printed from there shows the line before.
    began: Option<(u64, usize)>,
    /// The part of the output that shows the last line that was shown.
    before: Option<Shows>,
    /// How many bytes it took.
    length: usize,
}

/// The part of the output that shows a line.
#[derive(Clone, Copy)]
struct Shows {
    /// Where it was looked for from.
    began: u64,
    /// Where it ends in the plain text from there, in bytes.
    until: usize,
    /// How far the output was then.
    end: u64,
}

enum Part {
    Text(String),
    Key(String),
}

impl Part {
    fn in_words(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Key(name) => format!("[{name}]"),
        }
    }
}

impl Unfinished {
    fn new(by: Typist) -> Self {
        Self {
            by,
            parts: Vec::new(),
            escape: Vec::new(),
            hidden: false,
            perhaps: false,
            began: None,
            before: None,
            length: 0,
        }
    }

    fn begin(&mut self, offset: u64) {
        self.began.get_or_insert(match self.before {
            // They were sent at once.
            Some(Shows { began, until, .. }) if began == offset => (began, until),
            // The output that showed the line before shows nothing of this one.
            Some(Shows { end, .. }) => (offset.max(end), 0),
            None => (offset, 0),
        });
    }

    /// Takes a byte in; says whether the line is at its end.
    fn push(&mut self, byte: u8, shown: Shown) -> bool {
        self.hidden |= shown == Shown::No;
        self.perhaps |= shown == Shown::Perhaps;
        self.length += 1;
        if !self.escape.is_empty() {
            self.escape.push(byte);
            self.finish_sequence();
            return false;
        }
        match byte {
            _ if is_end(byte) => return true,
            0x1b | 0xc2..=0xf4 => self.escape.push(byte),
            0x08 | 0x7f => self.rub_out(),
            0x15 => self.parts.clear(),
            0x20..=0x7e => self.text(&char::from(byte).to_string()),
            b'\t' => self.parts.push(Part::Key("tab".to_owned())),
            0x00..=0x1f => {
                self.parts.push(Part::Key(format!("ctrl-{}", char::from(byte + 0x60))));
                // These end what was typed, as Enter does.
                return matches!(byte, 0x03 | 0x04 | 0x1a | 0x1c);
            }
            0x80.. => self.text("\u{fffd}"),
        }
        if self.parts.is_empty() && self.escape.is_empty() {
            // The line is begun anew.
            self.began = None;
        }
        self.length >= LINE
    }

    fn text(&mut self, more: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(more),
            _ => self.parts.push(Part::Text(more.to_owned())),
        }
    }

    fn rub_out(&mut self) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) if text.chars().count() > 1 => drop(text.pop()),
            _ => drop(self.parts.pop()),
        }
    }

    /// Ends a character of several bytes, or a key's escape sequence, once it is whole.
    fn finish_sequence(&mut self) {
        let key = match self.escape.as_slice() {
            [0x1b, b'[' | b'O'] => return,
            [0x1b, b'[' | b'O', .., last] if !(0x40..=0x7e).contains(last) && self.escape.len() < 16 => return,
            [0x1b, b'[' | b'O', b'A'] => "up",
            [0x1b, b'[' | b'O', b'B'] => "down",
            [0x1b, b'[' | b'O', b'C'] => "right",
            [0x1b, b'[' | b'O', b'D'] => "left",
            [0x1b, b'[' | b'O', b'H'] => "home",
            [0x1b, b'[' | b'O', b'F'] => "end",
            [0x1b, b'[', b'3', b'~'] => "delete",
            [0x1b, b'[', b'5', b'~'] => "page up",
            [0x1b, b'[', b'6', b'~'] => "page down",
            // Pasted text stands between these.
            [0x1b, b'[', b'2', b'0', b'0' | b'1', b'~'] => return self.escape.clear(),
            [0x1b, b'[' | b'O', ..] => "key",
            [0x1b, letter] if letter.is_ascii_graphic() => {
                let key = format!("alt-{}", char::from(*letter));
                self.escape.clear();
                return self.parts.push(Part::Key(key));
            }
            [0x1b, ..] => "esc",
            bytes => match std::str::from_utf8(bytes) {
                Ok(text) => {
                    let text = text.to_owned();
                    self.escape.clear();
                    return self.text(&text);
                }
                Err(error) if error.error_len().is_none() => return,
                Err(_) => {
                    self.escape.clear();
                    return self.text("\u{fffd}");
                }
            },
        };
        self.escape.clear();
        self.parts.push(Part::Key(key.to_owned()));
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    const ECHOED: Keys = Keys { echo: true, lines: true };
    const SECRET: Keys = Keys { echo: false, lines: true };
    const SINGLE: Keys = Keys { echo: false, lines: false };

    /// The lines recorded of chunks, each with what the program then printed.
    async fn recorded(chunks: &[(&[u8], Shown, &str)]) -> Vec<(String, bool)> {
        let folder = tempfile::tempdir().unwrap();
        let spool = Arc::new(Spool::open(folder.path()).unwrap());
        let (sender, receiver) = unbounded_channel();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let task = tokio::spawn(record(receiver, Arc::clone(&spool), move |line: Line| {
            kept.lock().unwrap().push((line.text, line.hidden));
        }));
        for (bytes, shown, printed) in chunks {
            let began = spool.end();
            // A program may be faster than the recorder.
            spool.push(printed.as_bytes());
            sender.send(chunk(Typist::User, bytes, *shown, began)).unwrap();
        }
        drop(sender);
        task.await.unwrap();
        lines.lock().unwrap().clone()
    }

    #[test]
    fn only_what_is_echoed_before_and_after_is_shown() {
        assert_eq!(Shown::between(Some(ECHOED), Some(ECHOED)), Shown::Yes);
        for pair in [(SINGLE, SINGLE), (SINGLE, ECHOED), (ECHOED, SINGLE)] {
            assert_eq!(Shown::between(Some(pair.0), Some(pair.1)), Shown::Perhaps, "{pair:?}");
        }
        for pair in [(ECHOED, SECRET), (SECRET, ECHOED), (SECRET, SECRET), (SINGLE, SECRET), (SECRET, SINGLE)] {
            assert_eq!(Shown::between(Some(pair.0), Some(pair.1)), Shown::No, "{pair:?}");
        }
        assert_eq!(Shown::between(Some(ECHOED), None), Shown::No);
    }

    #[tokio::test]
    async fn a_line_is_what_it_was_when_it_was_sent() {
        let typed: &[(&[u8], &str)] = &[
            (b"Ada\r", "Ada"),
            (b"Ax\x7fda\n", "Ada"),
            (b"wrong\x15right\n", "right"),
            (b"\x1b[A\r", "[up]"),
            (b"ls \x1b[D-l\r", "ls [left]-l"),
            ("\u{e9}\u{1F980}\n".as_bytes(), "\u{e9}\u{1F980}"),
            (b"\x1b[200~pasted\x1b[201~\r", "pasted"),
            (b"\x03", "[ctrl-c]"),
            (b"q", "q"),
            (b"\r", ""),
        ];
        for (bytes, text) in typed {
            assert_eq!(recorded(&[(bytes, Shown::Yes, "")]).await, [((*text).to_owned(), false)], "{text}");
        }
    }

    #[tokio::test]
    async fn a_line_of_which_a_part_was_hidden_is_hidden() {
        let typed: &[(&[u8], Shown, &str)] = &[(b"pass", Shown::Yes, "pass"), (b"word\n", Shown::No, "")];
        assert_eq!(recorded(typed).await, [(String::new(), true)]);
    }

    #[tokio::test]
    async fn keys_that_a_program_shows_itself_are_recorded_and_others_are_not() {
        let shown = [(&b"print(1)\r"[..], Shown::Perhaps, "\x1b[1mprint\x1b[0m(1)\r\n1\r\n>>> ")];
        assert_eq!(recorded(&shown).await, [("print(1)".to_owned(), false)]);
        let starred = [(&b"hunter2\r"[..], Shown::Perhaps, "*******\r\n")];
        assert_eq!(recorded(&starred).await, [(String::new(), true)]);
        // The output that shows the name does not show a password that is in it, whether they are typed at once or not.
        let (name, hidden) = (("admin".to_owned(), false), (String::new(), true));
        let at_once = [(&b"admin\radmin\r"[..], Shown::Perhaps, "admin\r\npassword: *****\r\n")];
        assert_eq!(recorded(&at_once).await, [name.clone(), hidden.clone()]);
        let ahead = [(&b"admin\r"[..], Shown::Perhaps, "admin\r\n"), (&b"admin\r"[..], Shown::Perhaps, "*****\r\n")];
        assert_eq!(recorded(&ahead).await, [name, hidden.clone()]);
        // Nor does any number that is printed show a short one.
        for (pin, printed) in [
            (&b"12\r"[..], "done: 12 %\r\n"),
            (&b"12\r"[..], "\r\n12 new messages\r\n"),
            (&b"1234\r"[..], "****\r\nbalance: 1234.00\r\n"),
        ] {
            let lines = recorded(&[(pin, Shown::Perhaps, printed)]).await;
            assert!(lines.iter().all(|(_, is_hidden)| *is_hidden), "{printed}");
        }
        // Output from while nothing stood in the line shows nothing of it.
        let begun_anew: [(&[u8], _, _); 2] =
            [(b"x\x7f", Shown::Perhaps, "x\x08 \x08hunter2\r\n"), (b"hunter2\r", Shown::Perhaps, "*******\r\n")];
        assert_eq!(recorded(&begun_anew).await, [hidden]);
        let printed = "a = 1\r\n>>> print(a)\r\n1\r\n>>> print(12)\r\n12\r\n";
        let pasted = [(&b"a = 1\rprint(a)\rprint(12)\r"[..], Shown::Perhaps, printed)];
        let all = ["a = 1", "print(a)", "print(12)"].map(|line| (line.to_owned(), false));
        assert_eq!(recorded(&pasted).await, all);
        let completed = [(&b"ls sr\t/ma\t\r"[..], Shown::Perhaps, "ls src/main.rs\r\n")];
        assert_eq!(recorded(&completed).await, [("ls sr[tab]/ma[tab]".to_owned(), false)]);
        let short = [(&b"ls\r"[..], Shown::Perhaps, "ls\r\na b\r\n")];
        assert_eq!(recorded(&short).await, [("ls".to_owned(), false)]);
    }

    proptest! {
        #[test]
        fn nothing_of_a_secret_leaves_the_keyboard_not_even_its_length(secret in "[a-zA-Z0-9]{2,40}") {
            let kept = chunk(Typist::User, format!("{secret}\n").as_bytes(), Shown::No, 0);
            prop_assert_eq!(kept.bytes, b"*\n".to_vec());
        }
    }
}
