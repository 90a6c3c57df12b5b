//! Texts: how bytes become text and text becomes the same bytes again, the hash of a text, and where its positions lie.
//!
//! Everything above this module works on *normal* text: without byte order mark and with LF line ends. What a file had
//! instead is kept beside it in a [`Format`], so that writing changes nothing but what was edited.
//!
//! A line ends with LF or CRLF. LSP would also have a lone CR end a line, but the editors that can hold one inside a
//! line (Neovim, Emacs, Helix) count it as a character of that line, and VS Code never holds one; so it is an ordinary
//! character here, as it is in rust-analyzer, gopls and clangd.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use ports::edit::TextHash;
use sha2::{Digest, Sha256};
use similar::TextDiff;

mod lines;

pub use lines::{LineIndex, PositionEncoding};

/// The time limit for comparing the lines of two texts. After that fewer lines count as unchanged.
const DIFF_TIME: Duration = Duration::from_secs(1);

/// A text read from bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The normal text.
    pub text: Arc<str>,
    /// The properties of the bytes beyond it.
    pub format: Format,
}

/// The properties of a text's bytes beyond the normal text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Format {
    /// The encoding.
    pub charset: Charset,
    /// The line ends.
    pub line_ends: LineEnds,
}

/// The encoding of characters. UTF-16 is recognised only by its byte order mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// UTF-8 without a mark.
    #[default]
    Utf8,
    /// UTF-8 after a byte order mark.
    Utf8Bom,
    /// UTF-16, little endian, after a byte order mark.
    Utf16Le,
    /// UTF-16, big endian, after a byte order mark.
    Utf16Be,
}

/// The line ends of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum LineEnds {
    /// All with LF, or there is only one line.
    #[default]
    Lf,
    /// All with CRLF.
    Crlf,
    /// Some so and some so; for each line in order whether it ends with CRLF.
    Mixed(Arc<[bool]>),
}

/// Bytes that are not a text we can show or edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// They hold a NUL, as texts never do.
    #[error("it is a binary file")]
    Binary,
    /// They are not in an encoding that can be told for sure.
    #[error("it is not UTF-8 text (byte {offset} does not fit)")]
    NotUtf8 {
        /// The offset of the first invalid byte, from 0.
        offset: usize,
    },
    /// They begin with the mark of UTF-16, but are not UTF-16.
    #[error("it begins as UTF-16 text but is not")]
    NotUtf16,
}

impl Decoded {
    /// Reads bytes as text: UTF-8 with or without byte order mark, or UTF-16 with one.
    ///
    /// # Errors
    /// Bytes with a NUL in them, or in another encoding.
    pub fn new(bytes: &[u8]) -> Result<Self, NotText> {
        let (charset, raw) = match bytes {
            [0xEF, 0xBB, 0xBF, rest @ ..] => (Charset::Utf8Bom, utf8(rest, 3)?),
            [0xFF, 0xFE, rest @ ..] => (Charset::Utf16Le, utf16(rest, u16::from_le_bytes)?),
            [0xFE, 0xFF, rest @ ..] => (Charset::Utf16Be, utf16(rest, u16::from_be_bytes)?),
            _ => (Charset::Utf8, utf8(bytes, 0)?),
        };
        let (text, line_ends) = normalise(&raw);
        Ok(Self { text: text.into(), format: Format { charset, line_ends } })
    }

    /// The bytes of a new text in the place of this one. Lines that both have keep their line ends, and so do lines
    /// that are changed; new lines end like the line before them. `Decoded::new(bytes)?.encode(&text)` with its own
    /// text gives the same bytes.
    pub fn encode(&self, new_text: &str) -> Vec<u8> {
        self.format.charset.encode(&self.format.line_ends.restore(&self.text, new_text))
    }
}

impl Charset {
    /// A text as bytes, after the byte order mark if there is one.
    pub fn encode(self, text: &str) -> Vec<u8> {
        let utf16 = |to_bytes: fn(u16) -> [u8; 2]| {
            std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(to_bytes).collect()
        };
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf8Bom => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
            Self::Utf16Le => utf16(u16::to_le_bytes),
            Self::Utf16Be => utf16(u16::to_be_bytes),
        }
    }
}

impl LineEnds {
    /// Puts the line ends back that [`normalise`] took from `old` into `new`, both normal texts. Lines that both have
    /// keep theirs, and a changed line that of the one in whose place it stands; new lines end like the line before
    /// them, the first like the old first.
    pub fn restore<'t>(&self, old: &str, new: &'t str) -> Cow<'t, str> {
        let crlf = match self {
            Self::Lf => return Cow::Borrowed(new),
            Self::Crlf => return Cow::Owned(new.replace('\n', "\r\n")),
            Self::Mixed(crlf) => crlf,
        };
        let mut out = String::with_capacity(new.len() + crlf.len());
        let mut last = crlf.first().copied().unwrap_or_default();
        // Not `diff_lines`, for which a lone CR ends a line.
        let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let diff = TextDiff::configure().timeout(DIFF_TIME).diff_slices(&old, &new);
        for op in diff.ops() {
            let (_, mut replaced, lines) = op.as_tag_tuple();
            for line in new.get(lines).unwrap_or_default() {
                // Lines beyond those that were there go with the line before them.
                if let Some(own) = replaced.next().and_then(|line| crlf.get(line)) {
                    last = *own;
                }
                match line.strip_suffix('\n') {
                    Some(line) => out.extend([line, if last { "\r\n" } else { "\n" }]),
                    None => out.push_str(line),
                }
            }
        }
        Cow::Owned(out)
    }
}

/// A text with LF line ends only, and the line ends it had. Nothing else is changed.
pub fn normalise(raw: &str) -> (Cow<'_, str>, LineEnds) {
    if !raw.contains('\r') {
        return (Cow::Borrowed(raw), LineEnds::Lf);
    }
    let ends: Arc<[bool]> =
        raw.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(|line| line.ends_with("\r\n")).collect();
    match (ends.contains(&true), ends.contains(&false)) {
        (false, _) => (Cow::Borrowed(raw), LineEnds::Lf),
        (true, false) => (Cow::Owned(raw.replace("\r\n", "\n")), LineEnds::Crlf),
        (true, true) => (Cow::Owned(raw.replace("\r\n", "\n")), LineEnds::Mixed(ends)),
    }
}

/// The number of lines at the top that two texts have in common; none if they are the same text.
pub fn first_difference(old: &str, new: &str) -> Option<usize> {
    let (mut olds, mut news) = (old.split_inclusive('\n'), new.split_inclusive('\n'));
    let mut same = 0;
    loop {
        match (olds.next(), news.next()) {
            (None, None) => return None,
            (one, other) if one == other => same += 1,
            _ => return Some(same),
        }
    }
}

/// True if there is nothing in a normal text. Some editors end an empty document with a line end, as they do with every
/// other.
pub fn is_blank(text: &str) -> bool {
    matches!(text, "" | "\n")
}

/// The hash of a text: SHA-256 over it without byte order mark and with LF line ends, so that an editor's
/// text, the file's and the normal text have the same.
pub fn hash(text: &str) -> TextHash {
    let mut sha = Sha256::new();
    let mut rest = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    // All CRs before an LF go, not only one, so that the hash of a normal text is that of the text it came from.
    while let Some(at) = rest.find('\r') {
        let (before, after) = rest.split_at(at);
        sha.update(before);
        let behind = after.trim_start_matches('\r');
        if !behind.starts_with('\n') {
            sha.update(&after[..after.len() - behind.len()]);
        }
        rest = behind;
    }
    sha.update(rest);
    TextHash(hex(sha))
}

/// The SHA-256 of bytes, in hexadecimal.
pub fn hash_bytes(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

fn hex(sha: Sha256) -> String {
    sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn utf8(bytes: &[u8], mark: usize) -> Result<Cow<'_, str>, NotText> {
    if bytes.contains(&0) {
        return Err(NotText::Binary);
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Borrowed(text)),
        Err(error) => Err(NotText::NotUtf8 { offset: mark + error.valid_up_to() }),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'static, str>, NotText> {
    let (pairs, []) = bytes.as_chunks::<2>() else {
        return Err(NotText::NotUtf16);
    };
    let text: String = char::decode_utf16(pairs.iter().map(|pair| unit(*pair)))
        .collect::<Result<_, _>>()
        .map_err(|_| NotText::NotUtf16)?;
    if text.contains('\0') { Err(NotText::Binary) } else { Ok(Cow::Owned(text)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8]) -> Decoded {
        Decoded::new(bytes).unwrap()
    }

    #[test]
    fn byte_order_mark_and_line_ends_survive_an_edit() {
        let read = decoded(b"\xEF\xBB\xBFone\r\ntwo\r\n");
        assert_eq!(&*read.text, "one\ntwo\n");
        assert_eq!(read.encode("one\n2\nthree\n"), b"\xEF\xBB\xBFone\r\n2\r\nthree\r\n");
    }

    #[test]
    fn a_missing_final_newline_stays_missing() {
        assert_eq!(decoded(b"one\r\ntwo").encode("one\nzwei"), b"one\r\nzwei");
    }

    #[test]
    fn in_a_file_with_mixed_line_ends_unchanged_lines_and_changed_ones_keep_theirs() {
        let read = decoded(b"a\r\nb\nc\r\nd\n");
        assert_eq!(read.encode("a\nB\nc\nnew\nd\n"), b"a\r\nB\nc\r\nnew\r\nd\n");
        assert_eq!(read.encode("a\nB\nC\nD\nnew\n"), b"a\r\nB\nC\r\nD\nnew\n");
        assert_eq!(read.encode("first\nb\nd\n"), b"first\r\nb\nd\n");
    }

    #[test]
    fn utf_16_files_are_read_and_written_as_such() {
        let bytes = b"\xFF\xFEh\0i\0\r\0\n\0";
        let read = decoded(bytes);
        assert_eq!(&*read.text, "hi\n");
        assert_eq!(read.encode("hi\n"), bytes);
        assert_eq!(decoded(b"\xFE\xFF\0h\0i").encode("ho"), b"\xFE\xFF\0h\0o");
        assert_eq!(Decoded::new(b"\xFF\xFEh"), Err(NotText::NotUtf16));
        assert_eq!(Decoded::new(b"\xFF\xFE\x00\xD8"), Err(NotText::NotUtf16));
    }

    #[test]
    fn what_is_not_text_says_why() {
        assert_eq!(Decoded::new(b"ELF\0").unwrap_err().to_string(), "it is a binary file");
        let latin1 = Decoded::new(b"caf\xE9").unwrap_err();
        assert_eq!(latin1.to_string(), "it is not UTF-8 text (byte 3 does not fit)");
    }

    #[test]
    fn the_hash_is_that_of_the_text_and_not_of_its_format() {
        let plain = hash("a\nb\n");
        assert_eq!(plain.0, "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2");
        assert_eq!(hash("\u{FEFF}a\r\nb\r\n"), plain);
        assert_eq!(hash("a\r\nb\n"), plain);
        assert_ne!(hash("a\rb\n"), plain);
        assert_ne!(hash("a\nb"), plain);
    }

    proptest! {
        #[test]
        fn decoding_and_encoding_gives_the_same_bytes(
            lines in prop::collection::vec(("[ab\r\u{e9}\u{1F600}]{0,3}", prop::sample::select(vec!["\n", "\r\n"])), 0..8),
            last in "[ab]{0,2}",
            charset in prop::sample::select(vec![Charset::Utf8, Charset::Utf8Bom, Charset::Utf16Le, Charset::Utf16Be]),
        ) {
            let raw: String = lines.iter().flat_map(|(line, end)| [line.as_str(), end]).chain([last.as_str()]).collect();
            let bytes = charset.encode(&raw);
            let read = decoded(&bytes);
            prop_assert_eq!(read.encode(&read.text), bytes);
            prop_assert_eq!(hash(&read.text), hash(&raw));
        }

        #[test]
        fn an_edited_text_reads_back_as_itself(old in "([abc]?\r?\n){0,6}[abc]?", new in "([abcd]?\n){0,6}[abcd]?") {
            let bytes = decoded(old.as_bytes()).encode(&new);
            prop_assert_eq!(&*decoded(&bytes).text, new.as_str());
        }

        #[test]
        fn any_bytes_are_text_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(read) = Decoded::new(&bytes) {
                prop_assert_eq!(read.encode(&read.text), bytes);
            }
        }
    }

    #[test]
    fn the_first_line_that_differs_is_counted_from_zero() {
        for (old, new, line) in [
            ("a\nb\n", "a\nb\n", None),
            ("", "", None),
            ("", "a", Some(0)),
            ("a", "a\nb", Some(0)),
            ("a\nb\nc\n", "a\nc\n", Some(1)),
            ("a\nb\n", "a\nb\nc\n", Some(2)),
            ("a\nb\n", "a\n", Some(1)),
        ] {
            assert_eq!(first_difference(old, new), line, "{old:?} {new:?}");
        }
    }
}
