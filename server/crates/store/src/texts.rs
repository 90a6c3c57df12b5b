//! The texts of sessions that are searched, in SQL: what users and models said, as the log has it.
//!
//! They are taken in with the events that say them, in one transaction. If earlier events of a session were not (an
//! older version, an import or a recovery stored them), these are taken in later, in order, and new ones of the session
//! wait for them.

use std::collections::{HashMap, HashSet};

use ports::found::{Found, PromptFilter, TextFilter};
use ports::store::{Origin, SessionFilter};
use protocol::search::{EarlierPrompt, HitKind, SearchHit};
use protocol::session::{Purpose, SessionInfo};
use protocol::{AssistantBlock, Event, MessageId, PromptBlock, SequencedEvent, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params, params_from_iter};

use crate::error::Error;
use crate::schema;
use crate::sessions::{self, from_sql, to_sql};
use crate::words::{Snippet, Words};

/// The number of events that are looked at at once, and about how many bytes of them. Others can write between two such
/// steps.
const STEP: u64 = 1_000;
const STEP_BYTES: u64 = 2 << 20;
/// The beginning of each text that is searched, in bytes.
const BEGINNING: usize = 64 << 10;
/// The most hits in the texts of one session; whoever wants more of them looks into it.
const IN_ONE: usize = 5;

const PROMPT: &str = "prompt";
const ANSWER: &str = "answer";
const COMMAND: &str = "command";

/// A session whose new events are taken in as they are appended.
pub(crate) struct Taking<'a> {
    connection: &'a Connection,
    session: SessionId,
    /// False if earlier events were not taken in.
    is_in_step: bool,
}

impl<'a> Taking<'a> {
    /// Begins with a session as it is before the events.
    pub(crate) fn begin(connection: &'a Connection, info: &SessionInfo) -> Result<Self, Error> {
        let sql = "SELECT texts_to = ?2 FROM sessions WHERE id = ?1";
        let params = params![info.session_id.as_str(), to_sql(info.last_seq)];
        let is_in_step = connection.prepare_cached(sql)?.query_row(params, |row| row.get(0))?;
        Ok(Self { connection, session: info.session_id.clone(), is_in_step })
    }

    /// Takes in the events. A fault of the index is told and leaves them behind, as it must not keep the log from going
    /// on.
    pub(crate) fn take(&self, events: &[SequencedEvent]) -> Result<(), Error> {
        let Some(last) = events.last().filter(|_| self.is_in_step) else { return Ok(()) };
        let taken = apart(self.connection, || {
            for SequencedEvent { seq, at, event } in events {
                add(self.connection, &self.session, *seq, *at, event)?;
            }
            reach(self.connection, &self.session, last.seq)
        });
        match taken {
            Err(Error::Index(error)) => {
                tracing::warn!(%error, session = %self.session, "what was said cannot be added to the index of searches");
                Ok(())
            }
            taken => taken,
        }
    }
}

/// Does something that changes the index, or nothing of it: a fault of the index leaves all else in the transaction as
/// it is.
///
/// # Errors
/// [`Error::Index`] for whatever may be the fault of the index; others are as they were.
pub(crate) fn apart<T>(connection: &Connection, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    connection.execute_batch("SAVEPOINT apart")?;
    // A second savepoint has the index write what it holds in memory, while it can still be taken back.
    let done = work().and_then(|done| Ok((done, connection.execute_batch("SAVEPOINT written; RELEASE written")?)));
    match done {
        Ok((done, ())) => {
            connection.execute_batch("RELEASE apart")?;
            Ok(done)
        }
        Err(Error::Sql(error)) if may_be_of_index(&error) => {
            connection.execute_batch("ROLLBACK TO apart; RELEASE apart")?;
            Err(Error::Index(error))
        }
        // The transaction ends with it.
        Err(error) => Err(error),
    }
}

fn may_be_of_index(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull, OutOfMemory, SystemIoFailure};
    let code = error.sqlite_error_code();
    !matches!(code, Some(DatabaseBusy | DatabaseLocked | DiskFull | OutOfMemory | SystemIoFailure))
}

/// Forgets all texts with their index, which is made anew; then the texts are taken in again.
pub(crate) fn begin_again(connection: &Connection) -> Result<(), Error> {
    connection
        .execute_batch("DROP TRIGGER IF EXISTS texts_gone; DROP TABLE IF EXISTS texts_index; DROP TABLE texts")?;
    connection.execute_batch(schema::TEXTS)?;
    connection.execute_batch("UPDATE sessions SET texts_to = 0")?;
    Ok(())
}

/// A session with events that were not taken in: the one that was used last, whose texts are looked for most.
pub(crate) fn behind(connection: &Connection) -> Result<Option<SessionId>, Error> {
    let sql = "SELECT id FROM sessions WHERE texts_to < last_seq ORDER BY updated_at DESC, used DESC LIMIT 1";
    let id = connection.prepare_cached(sql)?.query_row([], |row| row.get::<_, String>(0)).optional()?;
    Ok(id.map(SessionId::new))
}

/// Takes in the next events of a session.
///
/// # Errors
/// [`Error::Index`] if the index is at fault.
pub(crate) fn take_in(connection: &Connection, session: &SessionId) -> Result<(), Error> {
    let sql = "SELECT texts_to, last_seq FROM sessions WHERE id = ?1";
    let read = |row: &Row<'_>| Ok((from_sql(row.get(0)?), from_sql(row.get(1)?)));
    let found = connection.prepare_cached(sql)?.query_row([session.as_str()], read).optional()?;
    let Some((done, last)) = found else { return Ok(()) };
    let to = last.min(done.saturating_add(STEP));
    // The kind of an event is the first that is written of it, so that the others need not be read as JSON.
    let sql = r#"SELECT seq, at, octet_length(json), json LIKE '{"type":"turnStarted"%'
                     OR json LIKE '{"type":"steered"%' OR json LIKE '{"type":"messageCompleted"%'
                     OR json LIKE '{"type":"commandExecuted"%' OR json LIKE '{"type":"userCommandStarted"%', json
                 FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq"#;
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![session.as_str(), to_sql(done), to_sql(to)])?;
    let (mut read, mut bytes, mut said) = (done, 0, Vec::new());
    while bytes < STEP_BYTES
        && let Some(row) = rows.next()?
    {
        read = from_sql(row.get(0)?);
        bytes = bytes.saturating_add(from_sql(row.get(2)?));
        if !row.get::<_, bool>(3)? {
            continue;
        }
        let json = row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?;
        // One that cannot be read is found by whoever reads the log, and must not spoil the search.
        if let Ok(event) = sessions::decode(json.as_bytes()) {
            said.push((read, from_sql(row.get(1)?), event));
        }
    }
    drop(rows);
    // Where an event is missing, the log ends before it.
    let to = if bytes < STEP_BYTES { to } else { read };
    apart(connection, || {
        said.iter().try_for_each(|(seq, at, event)| add(connection, session, *seq, *at, event))?;
        reach(connection, session, to)
    })
}

/// Finds the chats and the texts of chats that have all words. Without the index, all texts are looked at.
pub(crate) fn search(connection: &Connection, filter: &TextFilter, with_index: bool) -> Result<Found, Error> {
    let unread = "SELECT count(*) FROM sessions WHERE texts_to < last_seq AND purpose = 'chat'";
    let unread = connection.prepare_cached(unread)?.query_row([], |row| row.get(0).map(from_sql))?;
    let unread = usize::try_from(unread).unwrap_or(usize::MAX);
    let words = Words::new(&filter.query);
    if words.is_empty() {
        return Ok(Found { hits: Vec::new(), unread });
    }
    let chats = chats(connection, filter.folders.as_deref())?;
    // Titles take at most one half, so that texts are found beside them.
    let titled = chats.iter().filter(|info| words.are_in(&info.title)).take(filter.limit.div_ceil(2));
    let mut hits: Vec<_> =
        titled.map(|info| hit(info, HitKind::Title, info.updated_at, words.snippet(&info.title))).collect();
    let chats: HashMap<_, _> = chats.iter().map(|info| (info.session_id.as_str(), info)).collect();
    let (mut of_session, mut texts) = (HashMap::<_, usize>::new(), Vec::new());
    let room = filter.limit.saturating_sub(hits.len());
    each(connection, &words, false, with_index, |row| {
        let Some(info) = chats.get(row.session.as_str()) else { return Ok(true) };
        let count = of_session.entry(row.session.clone()).or_default();
        let kind = if row.kind == PROMPT { HitKind::Prompt } else { HitKind::Answer };
        if row.kind == COMMAND || *count == IN_ONE || !words.are_in(&row.text) {
            return Ok(true);
        }
        *count += 1;
        let found = hit(info, kind, row.at, words.snippet(&row.text));
        texts.push(SearchHit { seq: Some(row.seq), message_id: row.message.map(MessageId::new), ..found });
        Ok(texts.len() < room)
    })?;
    hits.append(&mut texts);
    Ok(Found { hits, unread })
}

/// The texts that the user has typed, the last first, each once.
pub(crate) fn prompts(
    connection: &Connection,
    filter: &PromptFilter,
    with_index: bool,
) -> Result<Vec<EarlierPrompt>, Error> {
    let words = Words::new(&filter.query);
    let chats = chats(connection, filter.folders.as_deref())?;
    let chats: HashSet<_> = chats.into_iter().map(|info| info.session_id).collect();
    let (mut seen, mut prompts) = (HashSet::new(), Vec::new());
    each(connection, &words, true, with_index, |row| {
        let session_id = SessionId::new(row.session);
        if row.kind != ANSWER && chats.contains(&session_id) && words.are_in(&row.text) && seen.insert(row.text.clone())
        {
            prompts.push(EarlierPrompt { text: row.text, at: row.at, session_id });
        }
        Ok(prompts.len() < filter.limit)
    })?;
    Ok(prompts)
}

/// A text as it is stored.
struct Stored {
    session: String,
    kind: String,
    seq: u64,
    at: u64,
    message: Option<String>,
    text: String,
}

/// Hands on the texts that may have all words, the last first, until it is told that it is enough.
///
/// # Errors
/// [`Error::Index`] if the index is at fault.
fn each(
    connection: &Connection,
    words: &Words,
    only_typed: bool,
    with_index: bool,
    mut take: impl FnMut(Stored) -> Result<bool, Error>,
) -> Result<(), Error> {
    let typed = if only_typed { "(kind <> 'answer') = 1" } else { "1" };
    let index = words.for_index().filter(|_| with_index);
    let is_indexed = index.is_some();
    let (from, values) = match index {
        Some(asked) => {
            let joined = "texts_index CROSS JOIN texts ON texts.id = texts_index.rowid WHERE texts_index MATCH ?1 AND";
            (format!("{joined} {typed}"), vec![asked])
        }
        None => {
            let like: Vec<_> = (1..=words.patterns().len()).map(|at| format!("text LIKE ?{at} ESCAPE '\\'")).collect();
            let like = if like.is_empty() { "1".to_owned() } else { like.join(" OR ") };
            (format!("texts WHERE {typed} AND ({like})"), words.patterns().to_vec())
        }
    };
    // Only numbers are sorted; the texts are read until it is enough.
    let sql = format!("SELECT texts.id FROM {from} ORDER BY texts.at DESC, texts.id DESC");
    let of_index = |error| if is_indexed && may_be_of_index(&error) { Error::Index(error) } else { error.into() };
    let mut statement = connection.prepare_cached(&sql).map_err(of_index)?;
    let mut ids = statement.query(params_from_iter(values)).map_err(of_index)?;
    let mut statement =
        connection.prepare_cached("SELECT session, kind, seq, at, message, text FROM texts WHERE id = ?1")?;
    while let Some(row) = ids.next().map_err(of_index)? {
        let read = |row: &Row<'_>| {
            Ok(Stored {
                session: row.get(0)?,
                kind: row.get(1)?,
                seq: from_sql(row.get(2)?),
                at: from_sql(row.get(3)?),
                message: row.get(4)?,
                text: row.get(5)?,
            })
        };
        if !take(statement.query_row([row.get::<_, i64>(0)?], read)?)? {
            break;
        }
    }
    Ok(())
}

/// The sessions that are searched: those that are listed as conversations. Of no folder are those that have none.
fn chats(connection: &Connection, folders: Option<&[String]>) -> Result<Vec<SessionInfo>, Error> {
    let filter = SessionFilter {
        origin: Origin::Roots,
        purpose: Some(Purpose::Chat),
        limit: usize::MAX,
        ..SessionFilter::default()
    };
    let mut chats = sessions::list(connection, &filter)?;
    if let Some(folders) = folders {
        let is_of = |info: &SessionInfo| match folders {
            [] => info.folders.is_empty(),
            folders => info.folders.iter().any(|folder| folders.contains(folder)),
        };
        chats.retain(is_of);
    }
    Ok(chats)
}

fn hit(info: &SessionInfo, kind: HitKind, at: u64, Snippet { text, marks }: Snippet) -> SearchHit {
    SearchHit {
        session_id: info.session_id.clone(),
        title: info.title.clone(),
        folders: info.folders.clone(),
        kind,
        at,
        seq: None,
        message_id: None,
        snippet: text,
        marks,
    }
}

/// Adds what an event says, if it says something.
fn add(connection: &Connection, session: &SessionId, seq: u64, at: u64, event: &Event) -> Result<(), Error> {
    let (kind, message, text) = match event {
        Event::TurnStarted { prompt, .. } | Event::Steered { prompt, .. } => (PROMPT, None, typed(prompt)),
        Event::MessageCompleted { message_id, content, .. } => (ANSWER, Some(message_id.as_str()), said(content)),
        Event::CommandExecuted { command, .. } => (COMMAND, None, command.clone()),
        Event::UserCommandStarted { command, in_context, .. } => {
            (COMMAND, None, format!("{}{command}", if *in_context { "!" } else { "!!" }))
        }
        _ => return Ok(()),
    };
    let text = text.trim();
    let text = text.get(..text.floor_char_boundary(BEGINNING)).unwrap_or_default();
    if text.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO texts (session, kind, seq, at, message, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT DO NOTHING";
    let params = params![session.as_str(), kind, to_sql(seq), to_sql(at), message, text];
    if connection.prepare_cached(sql)?.execute(params)? == 0 {
        // It is there already; nothing must keep the log from going on.
        return Ok(());
    }
    let sql = "INSERT INTO texts_index (rowid, text) VALUES (?1, ?2)";
    connection.prepare_cached(sql)?.execute(params![connection.last_insert_rowid(), text])?;
    Ok(())
}

/// The text of a prompt that was typed.
fn typed(prompt: &[PromptBlock]) -> String {
    let text = |block: &PromptBlock| if let PromptBlock::Text { text } = block { Some(text.clone()) } else { None };
    prompt.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// The text of a message, without the model's thinking.
fn said(content: &[AssistantBlock]) -> String {
    let text =
        |block: &AssistantBlock| if let AssistantBlock::Text { text, .. } = block { Some(text.clone()) } else { None };
    content.iter().filter_map(text).collect::<Vec<_>>().join("\n\n")
}

/// Notes that all events up to this one were taken in.
fn reach(connection: &Connection, session: &SessionId, to: u64) -> Result<(), Error> {
    let sql = "UPDATE sessions SET texts_to = ?2 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![session.as_str(), to_sql(to)])?;
    Ok(())
}

#[cfg(test)]
mod tests;
