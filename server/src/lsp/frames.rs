//! The way in: a reader that hands only such messages to the framework as the framework can read.
//!
//! The framework's input ends at the first message that it cannot decode (a `FramedRead` gives `None` after an error),
//! so that one bad message would close the connection; an empty body makes it wait for bytes that it already has. Here
//! every message is decoded first, with the framework's own types. What does not fit is replaced by a request to
//! [`MALFORMED`], which the ingress answers with the error, in its place in the order. Where the framing itself is
//! lost, the input is skipped up to the next `Content-Length`.
//!
//! The input also ends here when the connection is over for another reason: the client's process is gone, or it no
//! longer reads.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use lang::framing::{self, CONTENT_LENGTH, Step, find, split};
use protocol::ErrorCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncRead, ReadBuf};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tower_lsp::jsonrpc::{Id, Request, Response};

/// The method of the request that stands for a message which could not be read. Its parameters are a [`Fault`].
pub(super) const MALFORMED: &str = "$/azimuth/malformed";

const CHUNK: usize = 16 * 1024;

/// The fault of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Fault {
    /// JSON-RPC's code.
    pub(super) code: i32,
    /// In words.
    pub(super) message: String,
}

impl Fault {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code: code.code(), message: message.into() }
    }
}

/// Reads messages from `input`, as described above. The input ends when `over` is cancelled; when it ends by itself,
/// `over` is cancelled.
pub(super) struct Frames<R> {
    input: R,
    over: CancellationToken,
    cancelled: Pin<Box<WaitForCancellationFutureOwned>>,
    splitter: Splitter,
    /// The bytes that the framework has not taken yet, from `taken` on.
    ready: Vec<u8>,
    taken: usize,
}

impl<R> Frames<R> {
    pub(super) fn new(input: R, over: CancellationToken) -> Self {
        let cancelled = Box::pin(over.clone().cancelled_owned());
        Self { input, over, cancelled, splitter: Splitter::default(), ready: Vec::new(), taken: 0 }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Frames<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let waiting = this.ready.get(this.taken..).unwrap_or_default();
            if !waiting.is_empty() {
                let length = waiting.len().min(out.remaining());
                out.put_slice(waiting.get(..length).unwrap_or_default());
                this.taken += length;
                return Poll::Ready(Ok(()));
            }
            this.ready.clear();
            this.taken = 0;
            if let Some(message) = this.splitter.next() {
                framing::put(&mut this.ready, &message);
                continue;
            }
            if this.cancelled.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let read = ready!(this.splitter.poll_fill(&mut this.input, cx));
            if !matches!(read, Ok(1..)) {
                if let Err(error) = read {
                    tracing::info!(%error, "the client's input failed");
                }
                this.over.cancel();
            }
        }
    }
}

/// Splits the input into messages and checks them.
#[derive(Default)]
struct Splitter {
    raw: Vec<u8>,
    /// The offset of the first byte that was not looked at.
    start: usize,
    /// True if the framing is lost, and a header is looked for.
    lost: bool,
}

impl Splitter {
    /// Reads more. Gives how many bytes came.
    fn poll_fill<R: AsyncRead + Unpin>(&mut self, input: &mut R, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.raw.drain(..self.start);
        self.start = 0;
        let length = self.raw.len();
        self.raw.resize(length + CHUNK, 0);
        let mut space = ReadBuf::new(self.raw.get_mut(length..).unwrap_or_default());
        let read = Pin::new(input).poll_read(cx, &mut space);
        let filled = space.filled().len();
        self.raw.truncate(length + filled);
        read.map_ok(|()| filled)
    }

    /// The next message, or one that stands for what could not be read; none while it is not there in full.
    fn next(&mut self) -> Option<Vec<u8>> {
        let rest = self.raw.get(self.start..).unwrap_or_default();
        if self.lost {
            match find(rest, CONTENT_LENGTH) {
                Some(at) => {
                    self.lost = false;
                    self.start += at;
                }
                None => {
                    // The last bytes may be the beginning of one.
                    self.start += rest.len().saturating_sub(CONTENT_LENGTH.len());
                    return None;
                }
            }
        }
        let rest = self.raw.get(self.start..).unwrap_or_default();
        match split(rest) {
            Step::More => None,
            Step::Body { start, end } => {
                let body = rest.get(start..end).unwrap_or_default();
                let message = match check(body) {
                    Ok(()) => body.to_vec(),
                    Err(fault) => malformed(&fault),
                };
                self.start += end;
                Some(message)
            }
            Step::Lost { skip, why } => {
                self.start += skip;
                self.lost = true;
                Some(malformed(&Fault::new(ErrorCode::ParseError, why)))
            }
        }
    }
}

/// Checks that the framework will be able to decode a body, by doing what it does.
fn check(body: &[u8]) -> Result<(), Fault> {
    /// As the framework has it.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Message {
        Response(Response),
        Request(Request),
    }
    let text = std::str::from_utf8(body)
        .map_err(|error| Fault::new(ErrorCode::ParseError, format!("the message is not UTF-8: {error}")))?;
    match serde_json::from_str(text) {
        Ok(Message::Response(response)) if *response.id() == Id::Null => {
            Err(Fault::new(ErrorCode::InvalidRequest, "the answer has no id"))
        }
        Ok(Message::Request(request)) if request.method().is_empty() => {
            Err(Fault::new(ErrorCode::InvalidRequest, "the message has no method, and is no answer either"))
        }
        Ok(_) => Ok(()),
        Err(error) if error.is_data() => {
            let batch = if text.trim_start().starts_with('[') { "; LSP has no batches" } else { "" };
            let message = format!("the message is JSON, but neither a request nor an answer of JSON-RPC 2.0{batch}");
            Err(Fault::new(ErrorCode::InvalidRequest, message))
        }
        Err(error) => Err(Fault::new(ErrorCode::ParseError, format!("the message is not JSON: {error}"))),
    }
}

fn malformed(fault: &Fault) -> Vec<u8> {
    tracing::warn!(code = fault.code, message = fault.message, "a message could not be read");
    json!({ "jsonrpc": "2.0", "id": null, "method": MALFORMED, "params": fault }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::io::AsyncReadExt;

    use super::*;

    const GOOD: &str = r#"{"jsonrpc":"2.0","method":"exit"}"#;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    /// The bodies that come out of some input which arrives in chunks of the given size.
    fn read(input: &[u8], chunk: usize) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (reader, mut writer) = tokio::io::duplex(chunk);
            let input = input.to_vec();
            tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut writer, &input).await.unwrap();
            });
            let mut out = Vec::new();
            Frames::new(reader, CancellationToken::new()).read_to_end(&mut out).await.unwrap();
            let mut bodies = Vec::new();
            let mut rest = out.as_slice();
            while let Step::Body { start, end } = split(rest) {
                bodies.push(String::from_utf8(rest[start..end].to_vec()).unwrap());
                rest = &rest[end..];
            }
            assert!(rest.is_empty(), "only whole messages come out");
            bodies
        })
    }

    /// Returns the code of a message that stands for a bad one.
    fn code(body: &str) -> i64 {
        let value: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(value["method"], MALFORMED);
        value["params"]["code"].as_i64().unwrap()
    }

    #[test]
    fn a_bad_message_becomes_an_error_in_its_place_and_the_next_is_read() {
        let bad = [
            ("{\"jsonrpc\":\"2.0\",", -32700),
            ("", -32700),
            ("[]", -32600),
            ("{}", -32600),
            ("{\"jsonrpc\":\"1.0\",\"method\":\"exit\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"exit\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"method\":\"b\"}", -32600),
            (&("[".repeat(200) + &"]".repeat(200)), -32700),
        ];
        for (body, expected) in bad {
            let bodies = read(format!("{}{}{}", framed(GOOD), framed(body), framed(GOOD)).as_bytes(), 64);
            assert_eq!(bodies.len(), 3, "{body}");
            assert_eq!([&bodies[0], &bodies[2]], [GOOD; 2], "{body}");
            assert_eq!(code(&bodies[1]), expected, "{body}");
        }
    }

    #[test]
    fn text_that_is_not_utf_8_is_an_error() {
        let mut input = b"Content-Length: 2\r\n\r\n\xC3\x28".to_vec();
        input.extend_from_slice(framed(GOOD).as_bytes());
        let bodies = read(&input, 7);
        assert_eq!(code(&bodies[0]), -32700);
        assert_eq!(bodies[1], GOOD);
    }

    #[test]
    fn after_a_bad_header_the_next_message_is_found() {
        for bad in [
            "foobar",
            "Content-Length: foobar\r\n\r\n",
            "Content-Length: -5\r\n\r\n",
            "Content-Length: 99999999999999\r\n\r\n",
            "Content-Length: 99999999999999999999999999\r\n\r\n{}",
            "Content-Type: text/plain\r\n\r\n{}",
        ] {
            let bodies = read(format!("{bad}{}", framed(GOOD)).as_bytes(), 5);
            assert_eq!(bodies.len(), 2, "{bad}: {bodies:?}");
            assert_eq!(code(&bodies[0]), -32700, "{bad}");
            assert_eq!(bodies[1], GOOD, "{bad}");
        }
    }

    #[test]
    fn headers_are_read_whatever_their_case_and_order() {
        let input = format!("Content-Type: x\r\ncontent-length:{}\r\nX: y\r\n\r\n{GOOD}", GOOD.len());
        assert_eq!(read(input.as_bytes(), 9), [GOOD]);
        assert_eq!(read(format!("Content-Length: {}\n\n{GOOD}", GOOD.len()).as_bytes(), 9), [GOOD]);
    }

    #[test]
    fn a_large_message_in_small_pieces_takes_no_longer_than_its_length() {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"exit","params":["{}"]}}"#, "x".repeat(30_000_000));
        let input = framed(&body).into_bytes();
        let began = std::time::Instant::now();
        let mut splitter = Splitter::default();
        let mut messages = Vec::new();
        for piece in input.chunks(CHUNK) {
            assert!(messages.is_empty(), "the message came before its end");
            splitter.raw.extend_from_slice(piece);
            messages.extend(splitter.next());
        }
        assert!(messages == [body.into_bytes()], "the message came out as it went in");
        // A tenth of a second where nothing else runs. Looking through the whole body for each piece takes minutes.
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn the_input_ends_when_the_connection_is_over() {
        let (reader, _writer) = tokio::io::duplex(16);
        let over = CancellationToken::new();
        let mut frames = Frames::new(reader, over.clone());
        over.cancel();
        assert_eq!(frames.read(&mut [0; 8]).await.unwrap(), 0);
    }

    proptest! {
        #[test]
        fn no_input_stops_the_messages_after_it(
            garbage in prop::collection::vec(any::<u8>(), 0..60),
            chunk in 1..40usize,
        ) {
            // A header that announces more than the garbage holds takes the next message for its own.
            prop_assume!(find(&garbage, b"\n").is_none());
            let input = [framed(GOOD).as_bytes(), &garbage, framed(GOOD).as_bytes(), framed(GOOD).as_bytes()].concat();
            let bodies = read(&input, chunk);
            prop_assert_eq!(&bodies[0], GOOD);
            prop_assert_eq!(bodies.last().map(String::as_str), Some(GOOD));
        }
    }
}
