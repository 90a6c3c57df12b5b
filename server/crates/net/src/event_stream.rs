//! Amazon's event streams (`application/vnd.amazon.eventstream`): bytes in, messages out.
//!
//! A message has a prelude of twelve bytes (its length, that of its headers, and a checksum of both), headers, a
//! payload, and a checksum of all before (smithy.io/2.0/aws/amazon-eventstream.html). Bytes come in any pieces, and
//! nothing in them is trusted: a message may be no longer than a limit, and one that does not match its checksums is an
//! error.

/// The bytes before the headers.
const PRELUDE: usize = 12;
/// The bytes of a checksum.
const CHECKSUM: usize = 4;
/// The most bytes of headers, and of a payload (botocore 1.44, `eventstream.py`).
const HEADERS: usize = 128 * 1024;
const PAYLOAD: usize = 24 * 1024 * 1024;

/// A stream that is none of Amazon's, or that was damaged on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The prelude does not match its checksum.
    #[error("the beginning of a message of the event stream does not match its checksum")]
    Prelude,
    /// The lengths are longer than any server's, or do not fit together.
    #[error("a message of the event stream has an impossible length")]
    Length,
    /// The message does not match its checksum.
    #[error("a message of the event stream does not match its checksum")]
    Message,
    /// The headers cannot be read.
    #[error("a message of the event stream has headers that cannot be read")]
    Headers,
}

/// A message, as far as anyone asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    texts: Vec<(&'a str, &'a str)>,
    payload: &'a [u8],
}

impl<'a> Message<'a> {
    /// The value of a header that is a text; none if there is no such header.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.texts.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// The payload.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// Takes a stream apart into messages.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The message whose end has not come yet, or that was just given out. It grows with what comes, and not by what a
    /// prelude says.
    message: Vec<u8>,
    given: bool,
}

impl Decoder {
    /// Reads on to the end of the next message, takes what it read off the input, and gives the message; none if the
    /// input ends before.
    ///
    /// # Errors
    /// [`Broken`]: what came is no event stream of Amazon's, or was damaged. Nothing after it can be read.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<Message<'_>>, Broken> {
        if std::mem::take(&mut self.given) {
            self.message.clear();
        }
        if !self.fill(PRELUDE, input) {
            return Ok(None);
        }
        let (length, headers) = lengths(&self.message)?;
        if !self.fill(length, input) {
            return Ok(None);
        }
        self.given = true;
        read(&self.message, headers).map(Some)
    }

    /// Takes from the input until there are so many bytes. True if they are there.
    fn fill(&mut self, wanted: usize, input: &mut &[u8]) -> bool {
        let missing = wanted.saturating_sub(self.message.len()).min(input.len());
        let (taken, rest) = input.split_at(missing);
        self.message.extend_from_slice(taken);
        *input = rest;
        self.message.len() >= wanted
    }
}

/// The lengths of a message and of its headers, by its prelude.
fn lengths(message: &[u8]) -> Result<(usize, usize), Broken> {
    let (lengths, sum) =
        message.get(..PRELUDE).and_then(|prelude| prelude.split_at_checked(8)).ok_or(Broken::Prelude)?;
    if number(sum) != Some(checksum(lengths)) {
        return Err(Broken::Prelude);
    }
    let (length, headers) = lengths.split_at(4);
    let size = |bytes: &[u8]| number(bytes).and_then(|number| usize::try_from(number).ok()).ok_or(Broken::Length);
    let (length, headers) = (size(length)?, size(headers)?);
    let payload = length.checked_sub(PRELUDE + CHECKSUM).and_then(|rest| rest.checked_sub(headers));
    let fits = headers <= HEADERS && payload.is_some_and(|payload| payload <= PAYLOAD);
    if fits { Ok((length, headers)) } else { Err(Broken::Length) }
}

/// Reads a whole message with so many bytes of headers.
fn read(message: &[u8], headers: usize) -> Result<Message<'_>, Broken> {
    let (signed, sum) = message.split_at_checked(message.len().saturating_sub(CHECKSUM)).ok_or(Broken::Length)?;
    if number(sum) != Some(checksum(signed)) {
        return Err(Broken::Message);
    }
    let (headers, payload) =
        signed.get(PRELUDE..).and_then(|rest| rest.split_at_checked(headers)).ok_or(Broken::Length)?;
    Ok(Message { texts: texts(headers).ok_or(Broken::Headers)?, payload })
}

/// The headers that are texts. Those of other types are read over.
fn texts(mut rest: &[u8]) -> Option<Vec<(&str, &str)>> {
    let mut texts = Vec::new();
    while let Some((length, after)) = rest.split_first() {
        let (name, after) = after.split_at_checked(usize::from(*length))?;
        let name = std::str::from_utf8(name).ok()?;
        let (kind, after) = after.split_first()?;
        let (value, after) = match kind {
            // Yes and no.
            0 | 1 => (None, after),
            2 => (None, after.get(1..)?),
            3 => (None, after.get(2..)?),
            4 => (None, after.get(4..)?),
            // A number, or a time.
            5 | 8 => (None, after.get(8..)?),
            6 | 7 => {
                let (length, after) = after.split_at_checked(2)?;
                let length = length.iter().fold(0, |length, byte| (length << 8) | usize::from(*byte));
                let (value, after) = after.split_at_checked(length)?;
                ((*kind == 7).then_some(value), after)
            }
            // A UUID.
            9 => (None, after.get(16..)?),
            _ => return None,
        };
        if let Some(value) = value {
            texts.push((name, std::str::from_utf8(value).ok()?));
        }
        rest = after;
    }
    Some(texts)
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

/// The CRC-32 of these bytes, as of ISO 3309 and gzip.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum: u32, byte| {
        let [low, ..] = sum.to_le_bytes();
        TABLE.get(usize::from(low ^ byte)).copied().unwrap_or_default() ^ (sum >> 8)
    })
}

const TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < table.len() {
        let mut sum = at as u32;
        let mut bit = 0;
        while bit < 8 {
            sum = if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
            bit += 1;
        }
        table[at] = sum;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A message with headers that are texts, and raw ones after them.
    fn message(headers: &[(&str, &str)], more: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut written = Vec::new();
        for (name, value) in headers {
            written.push(u8::try_from(name.len()).unwrap());
            written.extend_from_slice(name.as_bytes());
            written.push(7);
            written.extend_from_slice(&u16::try_from(value.len()).unwrap().to_be_bytes());
            written.extend_from_slice(value.as_bytes());
        }
        written.extend_from_slice(more);
        let length = u32::try_from(PRELUDE + written.len() + payload.len() + CHECKSUM).unwrap();
        let mut message = length.to_be_bytes().to_vec();
        message.extend_from_slice(&u32::try_from(written.len()).unwrap().to_be_bytes());
        message.extend_from_slice(&checksum(&message).to_be_bytes());
        message.extend_from_slice(&written);
        message.extend_from_slice(payload);
        message.extend_from_slice(&checksum(&message).to_be_bytes());
        message
    }

    /// The kind and the payload of a message.
    type Kept = (String, Vec<u8>);

    /// All messages, and how the reading ended.
    fn read_all(pieces: &[&[u8]]) -> (Vec<Kept>, Result<(), Broken>) {
        let (mut decoder, mut messages) = (Decoder::default(), Vec::new());
        for piece in pieces {
            let mut input = *piece;
            loop {
                match decoder.next(&mut input) {
                    Ok(Some(message)) => {
                        let kind = message.text(":event-type").unwrap_or_default().to_owned();
                        messages.push((kind, message.payload().to_vec()));
                    }
                    Ok(None) => break,
                    Err(broken) => return (messages, Err(broken)),
                }
            }
        }
        (messages, Ok(()))
    }

    #[test]
    fn the_published_checksum_comes_out() {
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_message_that_aws_publishes_is_read() {
        // `payload_one_str_header` of the test cases of aws-c-event-stream.
        let bytes: Vec<u8> = [
            &[0, 0, 0, 0x3D, 0, 0, 0, 0x20, 0x07, 0xFD, 0x83, 0x96][..],
            &[0x0C],
            b"content-type",
            &[7, 0, 0x10],
            b"application/json",
            b"{'foo':'bar'}",
            &[0x8D, 0x9C, 0x08, 0xB1],
        ]
        .concat();
        let (mut decoder, mut input) = (Decoder::default(), &bytes[..]);
        let message = decoder.next(&mut input).unwrap().unwrap();
        assert_eq!(message.text("content-type"), Some("application/json"));
        assert_eq!((message.text("other"), message.payload()), (None, &b"{'foo':'bar'}"[..]));
        assert!(input.is_empty());
    }

    #[test]
    fn headers_of_every_type_are_read_over() {
        let mut more = Vec::new();
        for (kind, length) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 4), (5, 8), (8, 8), (9, 16)] {
            more.extend_from_slice(&[1, b'x', kind]);
            more.resize(more.len() + length, 0xFF);
        }
        more.extend_from_slice(&[1, b'x', 6, 0, 2, 0xFF, 0xFF]);
        let bytes = message(&[(":event-type", "a")], &more, b"{}");
        assert_eq!(read_all(&[&bytes]), (vec![("a".into(), b"{}".to_vec())], Ok(())));
        for unreadable in
            [&[1, b'x', 10][..], &[9, b'x'], &[1, b'x', 7, 0, 9], &[1, 0xFF, 0], &[1, b'x', 7, 0, 1, 0xFF]]
        {
            assert_eq!(read_all(&[&message(&[], unreadable, b"")]).1, Err(Broken::Headers), "{unreadable:?}");
        }
    }

    #[test]
    fn impossible_lengths_are_refused_before_anything_is_kept_for_them() {
        for (length, headers) in [(0, 0), (15, 0), (16, 1), (u32::MAX, 0), (30_000_000, 0), (1_000_000, 200_000)] {
            let mut prelude = [u32::to_be_bytes(length), u32::to_be_bytes(headers)].concat();
            prelude.extend_from_slice(&checksum(&prelude).to_be_bytes());
            assert_eq!(read_all(&[&prelude]).1, Err(Broken::Length), "{length} {headers}");
        }
        assert_eq!(read_all(&[b"<html><title>Proxy error"]).1, Err(Broken::Prelude));
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_messages_are_the_same(
            messages in prop::collection::vec(("[a-zA-Z]{0,12}", prop::collection::vec(any::<u8>(), 0..60)), 1..6),
            cuts in prop::collection::vec(0usize..600, 0..30),
        ) {
            let stream: Vec<u8> =
                messages.iter().flat_map(|(kind, payload)| message(&[(":event-type", kind)], &[], payload)).collect();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read_all(&pieces), (messages, Ok(())));
        }

        #[test]
        fn a_flipped_bit_is_an_error_and_never_another_message(
            payload in prop::collection::vec(any::<u8>(), 0..60),
            at in any::<prop::sample::Index>(),
            bit in 0u8..8,
        ) {
            let good = message(&[(":event-type", "first")], &[], b"{}");
            let mut bad = message(&[(":event-type", "second")], &[], &payload);
            let at = at.index(bad.len());
            bad[at] ^= 1 << bit;
            let (read, end) = read_all(&[&good, &bad]);
            prop_assert_eq!(read, vec![("first".to_owned(), b"{}".to_vec())]);
            prop_assert!(end.is_err());
        }

        #[test]
        fn no_bytes_make_it_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..10)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = read_all(&pieces);
        }

        #[test]
        fn no_lengths_make_it_panic(
            (length, headers) in (0u32..400, 0u32..400),
            more in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            let mut message = [length.to_be_bytes(), headers.to_be_bytes()].concat();
            message.extend_from_slice(&checksum(&message).to_be_bytes());
            message.extend_from_slice(&more);
            // The checksum of the whole is right where the length is possible, so that the headers are read.
            let end = (length as usize).saturating_sub(CHECKSUM);
            if (PRELUDE..message.len()).contains(&end) {
                message.truncate(end);
                message.extend_from_slice(&checksum(&message).to_be_bytes());
            }
            let _ = read_all(&[&message]);
        }

        #[test]
        fn no_headers_make_it_panic(headers in prop::collection::vec(any::<u8>(), 0..80)) {
            let _ = read_all(&[&message(&[], &headers, b"{}")]);
        }
    }
}
