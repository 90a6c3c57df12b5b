//! The framing of messages in a stream: a header with the body's length, and the body, as LSP has it. What is in them
//! is none of its business.

/// The longest header; more without an end is no header.
const MAX_HEADER: usize = 4 * 1024;
/// The longest message. A document of that size is none that an editor opens; a length beyond it is a lie, and
/// believing it would swallow all that follows.
const MAX_BODY: usize = 256 * 1024 * 1024;
/// The name of the one header that counts, in lower case.
pub const CONTENT_LENGTH: &[u8] = b"content-length:";

/// The outcome of reading the beginning of some bytes.
pub enum Step {
    /// It is not there in full.
    More,
    /// A body, by its bytes.
    Body {
        /// Where it begins.
        start: usize,
        /// Where it ends, exclusive.
        end: usize,
    },
    /// No message begins here, for this reason. So many bytes are surely not the beginning of one.
    Lost {
        /// So many bytes.
        skip: usize,
        /// This reason.
        why: String,
    },
}

/// Looks for a message at the beginning of some bytes.
pub fn split(bytes: &[u8]) -> Step {
    // No further than a header reaches: the body behind it may be large, and comes in many pieces.
    let head = bytes.get(..MAX_HEADER + 4).unwrap_or(bytes);
    let crlf = find(head, b"\r\n\r\n");
    // Behind the one the other need not be looked for: that would be in the body.
    let lf = find(head.get(..crlf.unwrap_or(head.len())).unwrap_or_default(), b"\n\n");
    let Some((end, start)) = lf.map(|at| (at, at + 2)).or(crlf.map(|at| (at, at + 4))) else {
        if bytes.len() < MAX_HEADER + 4 {
            return Step::More;
        }
        return Step::Lost { skip: 1, why: "there is no message header".into() };
    };
    let header = bytes.get(..end).unwrap_or_default();
    let mut length = None;
    for line in header.split(|byte| *byte == b'\n') {
        if let Some((name, value)) = line.split_at_checked(CONTENT_LENGTH.len())
            && name.eq_ignore_ascii_case(CONTENT_LENGTH)
        {
            length = Some(String::from_utf8_lossy(value).trim().to_owned());
        }
    }
    match length.as_deref().map(str::parse::<usize>) {
        None => Step::Lost { skip: 1, why: "a message header has no `Content-Length`".into() },
        Some(Err(_)) => Step::Lost { skip: start, why: "`Content-Length` is not a number".into() },
        Some(Ok(length)) if length > MAX_BODY => {
            let why = format!("`Content-Length` is {length}; a message has at most {MAX_BODY} bytes");
            Step::Lost { skip: start, why }
        }
        Some(Ok(length)) if bytes.len() - start < length => Step::More,
        Some(Ok(length)) => Step::Body { start, end: start + length },
    }
}

/// Where `what` stands first, whatever its case.
pub fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window.eq_ignore_ascii_case(what))
}

/// Adds a message with its header.
pub fn put(out: &mut Vec<u8>, body: &[u8]) {
    out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    out.extend_from_slice(body);
}
