//! Server-sent events: bytes in, the data of events out.
//!
//! Event names are not kept: the vendors repeat them within the data. Lines end with LF, CR or CRLF, bytes come in any
//! pieces, and nothing in them is trusted: a line or event may be no longer than a limit.

/// The most bytes of one event. The largest that vendors send repeat a whole answer at its end.
const LIMIT: usize = 32 * 1024 * 1024;
/// U+FEFF, which may stand before the first line.
const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// An event that is longer than any vendor's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server sent an event of more than {LIMIT} bytes")]
pub struct TooLong;

/// Takes a stream apart into events.
#[derive(Debug)]
pub struct Decoder {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    /// The data of the event whose end has not come yet, or that was just given out.
    data: Vec<u8>,
    has_data: bool,
    given: bool,
    /// The last line ended with CR, so an LF that follows belongs to it.
    after_cr: bool,
    first_line: bool,
    foreign: bool,
    limit: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::with_limit(LIMIT)
    }
}

impl Decoder {
    fn with_limit(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            given: false,
            after_cr: false,
            first_line: true,
            foreign: false,
            limit,
        }
    }

    /// Reads on to the end of the next event, takes what it read off the input, and gives the event's data; none if the
    /// input ends before.
    ///
    /// # Errors
    /// A line or an event is longer than any vendor's.
    pub fn next(&mut self, input: &mut &[u8]) -> Result<Option<&[u8]>, TooLong> {
        if std::mem::take(&mut self.given) {
            self.data.clear();
            self.has_data = false;
        }
        while let Some(is_end) = self.line(input)? {
            if is_end && self.has_data {
                self.given = true;
                return Ok(Some(&self.data));
            }
        }
        Ok(None)
    }

    /// Returns what is left when the stream has ended: the data of a last event without its blank line, which some
    /// servers leave out.
    pub fn finish(&mut self) -> Option<&[u8]> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.given) {
            self.has_data = false;
            self.data.clear();
        }
        self.field(&line).ok()?;
        self.has_data.then_some(&self.data)
    }

    /// True if lines came that no event stream has, such as those of a web page.
    pub fn is_foreign(&self) -> bool {
        self.foreign
    }

    /// Reads one line, if its end is there. Whether it is the blank one that ends an event.
    fn line(&mut self, input: &mut &[u8]) -> Result<Option<bool>, TooLong> {
        if self.after_cr
            && let Some((first, rest)) = input.split_first()
        {
            self.after_cr = false;
            if *first == b'\n' {
                *input = rest;
            }
        }
        let Some(length) = input.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.line.extend_from_slice(input);
            *input = &[];
            return if self.line.len() > self.limit { Err(TooLong) } else { Ok(None) };
        };
        let (line, rest) = input.split_at(length);
        let (end, rest) = rest.split_at(1);
        *input = rest;
        self.after_cr = end == b"\r";
        if self.line.is_empty() {
            self.field(line)?;
            return Ok(Some(line.is_empty()));
        }
        let mut whole = std::mem::take(&mut self.line);
        whole.extend_from_slice(line);
        self.field(&whole)?;
        // The room is kept for the next line that comes in pieces.
        whole.clear();
        self.line = whole;
        Ok(Some(false))
    }

    fn field(&mut self, mut line: &[u8]) -> Result<(), TooLong> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        match name {
            b"data" => {
                let value = value.strip_prefix(b":").unwrap_or(value);
                let value = value.strip_prefix(b" ").unwrap_or(value);
                if self.data.len() + value.len() > self.limit {
                    return Err(TooLong);
                }
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            // A comment, or a blank line, has an empty name.
            b"" | b"event" | b"id" | b"retry" => {}
            _ => self.foreign = true,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events = Vec::new();
        let mut push = |data: &[u8]| events.push(String::from_utf8(data.to_vec()).unwrap());
        for piece in pieces {
            let mut input = *piece;
            while let Some(data) = decoder.next(&mut input).unwrap() {
                push(data);
            }
        }
        if let Some(data) = decoder.finish() {
            push(data);
        }
        events
    }

    #[test]
    fn events_are_taken_apart_at_blank_lines_and_comments_are_skipped() {
        let stream = b"\xEF\xBB\xBFdata: one\n\n: ping\n\nevent: x\nid: 7\nretry: 3\ndata:two\n\n";
        assert_eq!(read(&[stream]), ["one", "two"]);
    }

    #[test]
    fn data_of_several_lines_is_joined_and_only_one_space_is_taken_off() {
        assert_eq!(read(&[b"data: a\ndata:  b\ndata\ndata: c\n\n"]), ["a\n b\n\nc"]);
    }

    #[test]
    fn all_three_line_ends_are_understood_even_where_a_piece_ends_within_one() {
        assert_eq!(read(&[b"data: a\r", b"\n\r", b"\ndata: b\r\rdata: c\n\n"]), ["a", "b", "c"]);
    }

    #[test]
    fn a_last_event_without_its_blank_line_is_not_lost() {
        assert_eq!(read(&[b"data: a\n\ndata: [DO", b"NE]"]), ["a", "[DONE]"]);
        assert_eq!(read(&[b"data: a\n\n", b""]), ["a"]);
    }

    #[test]
    fn a_web_page_is_told_from_an_event_stream() {
        let mut decoder = Decoder::default();
        assert_eq!(decoder.next(&mut &b"<html>\n<title>Proxy error</title>\n"[..]), Ok(None));
        assert!(decoder.is_foreign());
    }

    #[test]
    fn lines_and_events_without_an_end_are_an_error_and_not_all_memory() {
        let mut decoder = Decoder::with_limit(64);
        assert_eq!(decoder.next(&mut &[b'x'; 65][..]), Err(TooLong));
        let mut decoder = Decoder::with_limit(64);
        let lines = b"data: 0123456789\n".repeat(10);
        assert_eq!(decoder.next(&mut &lines[..]), Err(TooLong));
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_events_are_the_same(
            texts in prop::collection::vec("[^\r\n]{0,20}", 1..8),
            ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r"]), 16),
            cuts in prop::collection::vec(0usize..400, 0..20),
        ) {
            let mut stream = String::new();
            for (at, text) in texts.iter().enumerate() {
                stream += &format!(": keep-alive{}data: {text}{}{}", ends[at], ends[at + 1], ends[at + 1]);
            }
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream.as_bytes()[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), texts);
        }

        #[test]
        fn no_bytes_make_it_panic(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..10)) {
            let mut decoder = Decoder::with_limit(100);
            for piece in &pieces {
                let mut input = &piece[..];
                while let Ok(Some(_)) = decoder.next(&mut input) {}
            }
            decoder.finish();
        }
    }
}
