//! The text of an answer over the network, cleaned, piece by piece.

use ports::model::ModelError;
use protocol::content::Usage;

use super::clean::Cleaner;
use super::exchange::Answering;
use super::read::Reader;
use crate::failure::Fault;

/// The most bytes of text in an answer.
pub(crate) const ANSWER: usize = 256 * 1024;

/// An answer that comes in.
pub(crate) struct Texts {
    answering: Answering,
    reader: Reader,
    cleaner: Cleaner,
    bytes: usize,
    is_over: bool,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// True if it ended because it reached the maximum length.
    pub(crate) is_cut: bool,
    /// The tokens used, as far as the server says.
    pub(crate) usage: Usage,
    /// The tokens of the prompt that the server had kept, if it says.
    pub(crate) cached: Option<u64>,
}

impl Texts {
    /// The answer that comes in here, read and cleaned so.
    pub(crate) fn new(answering: Answering, reader: Reader, cleaner: Cleaner) -> Self {
        Self { answering, reader, cleaner, bytes: 0, is_over: false }
    }

    /// The next piece, which is never empty; none at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<String>, ModelError> {
        while !self.is_over {
            let text = match self.answering.next().await? {
                Some(event) => self.take_in(&event),
                None => self.end(),
            };
            let text = text.map_err(|fault| self.answering.whose().fault(fault))?;
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        self.answering.finish().await;
        Ok(None)
    }

    /// The whole text.
    pub(crate) async fn whole(&mut self) -> Result<String, ModelError> {
        let mut text = String::new();
        while let Some(piece) = self.next().await? {
            text.push_str(&piece);
        }
        Ok(text)
    }

    /// The facts about the answer, which are known at its end.
    pub(crate) fn facts(&self) -> End {
        let Reader { usage, cached, .. } = self.reader;
        End { is_cut: self.reader.is_cut(), usage, cached }
    }

    fn take_in(&mut self, event: &[u8]) -> Result<String, Fault> {
        let text = self.reader.event(event)?;
        self.bytes += text.len();
        if self.bytes > ANSWER {
            return Err(Fault::TooLong { limit: ANSWER });
        }
        let mut cleaned = self.cleaner.push(&text);
        if self.reader.is_ended() {
            cleaned.push_str(&self.cleaner.finish());
        }
        if self.cleaner.is_ended() {
            self.is_over = true;
            // The server still writes what nobody wants.
            if !self.reader.is_ended() {
                self.answering.close();
            }
        }
        Ok(cleaned)
    }

    fn end(&mut self) -> Result<String, Fault> {
        self.is_over = true;
        self.reader.end()?;
        Ok(self.cleaner.finish())
    }
}
