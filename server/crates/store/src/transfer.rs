//! Sessions as JSON lines: a header, then an event a line. Blobs do not go with them.

use std::io::{BufRead, Write};

use ports::store::{Store, StoreError};
use protocol::session::Mode;
use protocol::{Event, SequencedEvent, SessionId};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::sqlite::{SqliteStore, Synchronous};
use crate::{clock, layout, sessions, spent};

/// The header's name for the format.
const FORMAT: &str = "azimuth-session";
/// The format's version.
const VERSION: u32 = 1;
/// How many events are read at once for an export.
const PAGE: usize = 1000;

/// A session that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its id: the one it had, or a new one where that is taken.
    pub session_id: SessionId,
    /// How many events it has.
    pub events: u64,
    /// A word on a last line that was cut off and left out.
    pub warning: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Header {
    format: String,
    version: u32,
    session_id: SessionId,
}

impl SqliteStore {
    /// Writes a session as JSON lines, which hold all that was said, and no blobs: what an imported session applied
    /// cannot be undone.
    pub(crate) fn write_lines(&self, session: &SessionId, mut writer: &mut dyn Write) -> Result<(), StoreError> {
        let last = self.info(session)?.last_seq;
        let header = Header { format: FORMAT.into(), version: VERSION, session_id: session.clone() };
        line(&mut writer, &header)?;
        let mut done = 0;
        while done < last {
            let events = self.events(session, done, PAGE)?;
            let Some(end) = events.last().map(|event| event.seq) else { break };
            for event in events {
                line(&mut writer, &event)?;
            }
            done = end;
        }
        writer.flush().map_err(cannot_write)
    }

    /// Makes a session of JSON lines, all of it or nothing. A last line that was cut off is left out.
    ///
    /// # Errors
    /// Lines that are no session, with the number of the first that is wrong; a failure of the store or the reader.
    pub fn import(&self, mut reader: impl BufRead) -> Result<Imported, StoreError> {
        let mut lines = Lines { reader: &mut reader, number: 0, text: Vec::new() };
        let header = match lines.next::<Header>()? {
            Line::Read(header) if header.format == FORMAT && header.version == VERSION => header,
            Line::Read(header) if header.format == FORMAT => {
                let text =
                    format!("line 1 is of format {}, this Azimuth knows {VERSION}; update Azimuth", header.version);
                return Err(StoreError::Failed(text));
            }
            _ => return Err(StoreError::Failed("line 1 is not the header of an exported session".into())),
        };
        let mut events = Vec::new();
        let warning = loop {
            match lines.next::<SequencedEvent>()? {
                Line::Read(event) => {
                    let expected = events.len() as u64 + 1;
                    if event.seq != expected {
                        let text = format!("line {} holds event {}, not {expected}", lines.number, event.seq);
                        return Err(StoreError::Failed(text));
                    }
                    events.push(event);
                }
                Line::Torn => break Some(format!("line {}, the last, is cut off and was left out", lines.number)),
                Line::End => break None,
            }
        };
        let count = events.len() as u64;
        begin_in_agent(&mut events);
        let session_id = self.insert_whole(header.session_id, &events)?;
        Ok(Imported { session_id, events: count, warning })
    }

    /// Stores a session with all its events in one transaction, under its id or a new one.
    ///
    /// Its requests count if nothing is known of them: a copy was paid for with what it is a copy of, and the sums of a
    /// session that was deleted are still there.
    fn insert_whole(&self, wanted: SessionId, events: &[SequencedEvent]) -> Result<SessionId, StoreError> {
        let at = clock::now();
        let json = events.iter().map(|event| sessions::encode(&event.event)).collect::<Result<Vec<_>, _>>()?;
        self.write(Synchronous::Normal, |connection| {
            let mut info = sessions::blank(&wanted, &[], at);
            let is_paid = spent::knows(connection, &wanted)? || is_taken(connection, &wanted)?;
            if layout::valid(&wanted).is_err() || is_taken(connection, &wanted)? {
                info.session_id = unused_id(connection)?;
            }
            // Its times are those of its events.
            info.updated_at = 0;
            sessions::insert(connection, &info)?;
            for (event, json) in events.iter().zip(&json) {
                sessions::insert_event(connection, &info.session_id, event.seq, event.at, json)?;
                sessions::refer(connection, &info.session_id, event.at, &event.event)?;
                sessions::apply(&mut info, event.at, &event.event);
                info.last_seq = event.seq;
            }
            info.updated_at = if events.is_empty() { at } else { info.updated_at };
            sessions::update(connection, &info)?;
            if is_paid {
                spent::pass_over(connection, &info.session_id)?;
            }
            Ok(info.session_id)
        })
    }
}

/// An id that no session has or had, as sessions have them: six hexadecimal digits.
fn unused_id(connection: &rusqlite::Connection) -> Result<SessionId, Error> {
    use std::hash::{BuildHasher, RandomState};
    loop {
        // Each state hashes with random keys of its own.
        let id = SessionId::new(format!("{:06x}", RandomState::new().hash_one(clock::now()) & 0x00ff_ffff));
        if !is_taken(connection, &id)? && !spent::knows(connection, &id)? {
            return Ok(id);
        }
    }
}

/// Has a session be in mode `agent` after its events: those that ask less are chosen by who is asked, and the file may
/// be anybody's.
fn begin_in_agent(events: &mut Vec<SequencedEvent>) {
    let mode = events.iter().rev().find_map(|event| match event.event {
        Event::ModeChanged { mode } => Some(mode),
        _ => None,
    });
    if let Some(last) = events.last()
        && mode.is_some_and(|mode| mode != Mode::Agent)
    {
        let (seq, at) = (last.seq + 1, last.at);
        events.push(SequencedEvent { seq, at, event: Event::ModeChanged { mode: Mode::Agent } });
    }
}

fn is_taken(connection: &rusqlite::Connection, session: &SessionId) -> Result<bool, Error> {
    match sessions::info(connection, session) {
        Ok(_) => Ok(true),
        Err(Error::Store(StoreError::NotFound { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

fn line(writer: &mut impl Write, value: &impl Serialize) -> Result<(), StoreError> {
    let mut text = serde_json::to_vec(value).map_err(|error| StoreError::Failed(error.to_string()))?;
    text.push(b'\n');
    writer.write_all(&text).map_err(cannot_write)
}

fn cannot_write(error: std::io::Error) -> StoreError {
    StoreError::Failed(format!("the export cannot be written: {error}"))
}

/// Lines that are read one by one.
struct Lines<'a, R> {
    reader: &'a mut R,
    /// The number of the line that was read last, from 1.
    number: usize,
    text: Vec<u8>,
}

enum Line<T> {
    Read(T),
    /// The last line has no end and makes no sense.
    Torn,
    End,
}

impl<R: BufRead> Lines<'_, R> {
    fn next<T: for<'de> Deserialize<'de>>(&mut self) -> Result<Line<T>, StoreError> {
        self.text.clear();
        self.number += 1;
        self.reader
            .read_until(b'\n', &mut self.text)
            .map_err(|error| StoreError::Failed(format!("line {} cannot be read: {error}", self.number)))?;
        if self.text.is_empty() {
            return Ok(Line::End);
        }
        match sessions::decode(&self.text) {
            Ok(value) => Ok(Line::Read(value)),
            Err(_) if self.text.last() != Some(&b'\n') => Ok(Line::Torn),
            // The reader's words may quote what the line holds.
            Err(_) => Err(StoreError::Failed(format!("line {} is not what an exported session holds", self.number))),
        }
    }
}

#[cfg(test)]
mod tests;
