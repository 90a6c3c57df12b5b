//! The log in SQL: sessions and their events, and the summary of a session as a fold of them.

use ports::store::{Origin, SessionFilter, StoreError};
use protocol::checkpoint::FileImage;
use protocol::event::SeenOccasion;
use protocol::session::{Mode, Purpose, SessionInfo};
use protocol::{Event, SequencedEvent, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::error::Error;

const COLUMNS: &str = "id, title, folders, model, mode, created_at, updated_at, last_seq, input, output, cache_read, \
                       cache_write, cost, parent, purpose";
/// How deeply an event may be nested; reading one that deep takes a few hundred KiB of a stack.
const DEEPEST: usize = 1000;
/// The number of the use of a session that is written now.
const NEXT_USE: &str = "(SELECT coalesce(max(used), 0) + 1 FROM sessions)";

/// A session without events, as it is before the first.
pub(crate) fn blank(session: &SessionId, folders: &[String], at: u64) -> SessionInfo {
    SessionInfo {
        session_id: session.clone(),
        title: String::new(),
        folders: folders.to_vec(),
        model: None,
        mode: Mode::default(),
        created_at: at,
        updated_at: at,
        last_seq: 0,
        usage: protocol::content::Usage::default(),
        cost: 0.0,
        parent: None,
        purpose: Purpose::Chat,
    }
}

/// Takes an event into a session's summary.
pub(crate) fn apply(info: &mut SessionInfo, at: u64, event: &Event) {
    info.updated_at = info.updated_at.max(at);
    match event {
        Event::SessionStarted { folders, parent, purpose, .. } => {
            info.folders.clone_from(folders);
            info.purpose = *purpose;
            info.parent = parent.as_ref().map(|parent| parent.session_id.clone());
            info.created_at = at;
        }
        Event::TitleChanged { title } => info.title.clone_from(title),
        Event::ModelChanged { model, .. } => info.model = Some(model.clone()),
        Event::ModeChanged { mode } => info.mode = *mode,
        Event::PurposeChanged { purpose } => info.purpose = *purpose,
        Event::TurnEnded { usage, cost, .. }
        | Event::SideAsked { usage, cost, .. }
        | Event::ChildWorked { usage, cost, .. } => {
            info.usage += *usage;
            let cost = info.cost + cost.unwrap_or_default();
            // A price that is no number must not spoil the row.
            if cost.is_finite() {
                info.cost = cost;
            }
        }
        _ => {}
    }
}

/// Adds a session's row. [`StoreError::Exists`] if the id is taken.
pub(crate) fn insert(connection: &Connection, info: &SessionInfo) -> Result<(), Error> {
    let sql = format!(
        "INSERT INTO sessions ({COLUMNS}, used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,
                 {NEXT_USE}) ON CONFLICT DO NOTHING"
    );
    match bind_info(connection, &sql, info)? {
        0 => Err(StoreError::Exists(info.session_id.to_string()).into()),
        _ => Ok(()),
    }
}

/// Writes a session's summary.
pub(crate) fn update(connection: &Connection, info: &SessionInfo) -> Result<(), Error> {
    let sql = format!(
        "UPDATE sessions SET title = ?2, folders = ?3, model = ?4, mode = ?5, created_at = ?6, updated_at = ?7,
         last_seq = ?8, input = ?9, output = ?10, cache_read = ?11, cache_write = ?12, cost = ?13, parent = ?14,
         purpose = ?15, used = {NEXT_USE}
         WHERE id = ?1"
    );
    bind_info(connection, &sql, info)?;
    Ok(())
}

/// Removes a session's row, and with it its events. [`StoreError::NotFound`] if there is none.
pub(crate) fn delete(connection: &Connection, session: &SessionId) -> Result<(), Error> {
    // The values that are kept for the session among the settings.
    connection.prepare_cached("DELETE FROM settings WHERE key = 'file_mark/' || ?1")?.execute([session.as_str()])?;
    match connection.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([session.as_str()])? {
        0 => Err(not_found(session)),
        _ => Ok(()),
    }
}

/// The SQL for rows that [`read_info`] reads.
pub(crate) fn select(which: &str) -> String {
    format!("SELECT {COLUMNS} FROM sessions {which}")
}

/// The same for a database that is not in our format, of which this says how many steps it has taken.
pub(crate) fn select_from_earlier(steps: i64, which: &str) -> String {
    let mut columns = COLUMNS.to_owned();
    for (step, column, before) in [(4, "parent", "NULL"), (6, "purpose", "'chat'")] {
        if steps < step {
            columns = columns.replace(column, before);
        }
    }
    format!("SELECT {columns} FROM sessions {which}")
}

/// One session. [`StoreError::NotFound`] if there is none.
pub(crate) fn info(connection: &Connection, session: &SessionId) -> Result<SessionInfo, Error> {
    let sql = select("WHERE id = ?1");
    let found = connection.prepare_cached(&sql)?.query_row([session.as_str()], read_info).optional()?;
    found.ok_or_else(|| not_found(session))
}

/// The sessions that pass a filter, the last used first.
pub(crate) fn list(connection: &Connection, filter: &SessionFilter) -> Result<Vec<SessionInfo>, Error> {
    // Titles are compared here and not in SQL, since SQLite knows the case of ASCII letters only.
    let query = filter.query.as_ref().map(|query| query.to_lowercase());
    let passes = |info: &SessionInfo| {
        filter.purpose.is_none_or(|purpose| purpose == info.purpose)
            && (filter.folders.is_empty() || info.folders.iter().any(|folder| filter.folders.contains(folder)))
            && query.as_ref().is_none_or(|query| info.title.to_lowercase().contains(query))
    };
    let (which, parent) = match &filter.origin {
        Origin::Any => ("?1 IS NULL", None),
        Origin::Roots => ("?1 IS NULL AND (parent IS NULL OR parent NOT IN (SELECT id FROM sessions))", None),
        Origin::Of(parent) => ("parent = ?1", Some(parent.as_str())),
    };
    let sql = select(&format!("WHERE {which} ORDER BY updated_at DESC, used DESC, id"));
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([parent])?;
    let mut found = Vec::new();
    while found.len() < filter.limit
        && let Some(row) = rows.next()?
    {
        let info = read_info(row)?;
        if passes(&info) {
            found.push(info);
        }
    }
    Ok(found)
}

/// Adds an event as it is written.
pub(crate) fn insert_event(
    connection: &Connection,
    session: &SessionId,
    seq: u64,
    at: u64,
    json: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO events (session, seq, at, json) VALUES (?1, ?2, ?3, ?4)";
    connection.prepare_cached(sql)?.execute(params![session.as_str(), to_sql(seq), to_sql(at), json])?;
    Ok(())
}

/// Keeps hold of the blobs that an event of this time speaks of.
pub(crate) fn refer(connection: &Connection, session: &SessionId, at: u64, event: &Event) -> Result<(), Error> {
    let sql = "INSERT INTO blob_refs (session, hash, at) VALUES (?1, ?2, ?3)
               ON CONFLICT (session, hash) DO UPDATE SET at = max(at, excluded.at)";
    for hash in blobs_of(event) {
        connection.prepare_cached(sql)?.execute(params![session.as_str(), hash, to_sql(at)])?;
    }
    Ok(())
}

/// Lets go of the blobs that no event from this time on speaks of.
pub(crate) fn forget_blobs(connection: &Connection, before: u64) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM blob_refs WHERE at < ?1")?.execute([to_sql(before)])?;
    Ok(())
}

/// The hashes of the blobs that an event speaks of.
fn blobs_of(event: &Event) -> Vec<&String> {
    let mut images: Vec<&Option<FileImage>> = Vec::new();
    let mut hashes = Vec::new();
    match event {
        Event::EditApplied { before, after, deleted, .. } => {
            hashes.extend(before.iter().chain(after).chain(deleted.iter().flat_map(|image| image.hashes())));
        }
        Event::Formatted { before, after, .. } => hashes.extend([before, after]),
        Event::FilesChanged { files, .. } => images.extend(files.iter().flat_map(|file| [&file.before, &file.after])),
        // It is kept, so that the deletion can be undone.
        Event::FileSeen { now, occasion: SeenOccasion::Deletion, .. } => images.push(now),
        Event::CheckpointRestored { files, .. } => {
            images.extend(files.iter().flat_map(|file| &file.steps).flat_map(|step| [&step.from, &step.to]));
        }
        _ => {}
    }
    hashes.extend(images.into_iter().flatten().flat_map(FileImage::hashes));
    hashes
}

/// The events after `since`, at most `limit`. [`StoreError::NotFound`] if there is no such session.
pub(crate) fn events(
    connection: &Connection,
    session: &SessionId,
    since: u64,
    limit: usize,
) -> Result<Vec<SequencedEvent>, Error> {
    read_events(connection, session, since, limit, |json| decode(json.as_bytes()))
}

/// The events after `since` as they are stored. [`StoreError::NotFound`] if there is no such session.
pub(crate) fn raw_events(
    connection: &Connection,
    session: &SessionId,
    since: u64,
) -> Result<Vec<SequencedEvent<Box<RawValue>>>, Error> {
    // That it is JSON is made sure of, so that a damaged row spoils no more than itself.
    read_events(connection, session, since, usize::MAX, |json| RawValue::from_string(json.to_owned()))
}

/// Hands on the time and the JSON of each event of these kinds.
pub(crate) fn each_event(
    connection: &Connection,
    session: &SessionId,
    kinds: &[&str],
    each: &mut dyn FnMut(u64, &str),
) -> Result<(), Error> {
    // The kind of an event is the first that is written of it, so that the others need not be read as JSON.
    let is_one: Vec<_> = (2..kinds.len() + 2).map(|at| format!("json LIKE ?{at}")).collect();
    let sql = format!("SELECT at, json FROM events WHERE session = ?1 AND ({}) ORDER BY seq", is_one.join(" OR "));
    let mut statement = connection.prepare_cached(&sql)?;
    let begins = kinds.iter().map(|kind| format!(r#"{{"type":"{kind}"%"#));
    let values = std::iter::once(session.as_str().to_owned()).chain(begins);
    let mut rows = statement.query(rusqlite::params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        each(from_sql(row.get(0)?), row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?);
    }
    Ok(())
}

/// The events after `since`, at most `limit`, each as `read` makes it from its JSON.
fn read_events<E>(
    connection: &Connection,
    session: &SessionId,
    since: u64,
    limit: usize,
    read: impl Fn(&str) -> Result<E, serde_json::Error>,
) -> Result<Vec<SequencedEvent<E>>, Error> {
    let sql = "SELECT seq, at, json FROM events WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut statement = connection.prepare_cached(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut rows = statement.query(params![session.as_str(), to_sql(since), limit])?;
    let mut events = Vec::new();
    let mut last = since;
    while let Some(row) = rows.next()? {
        let (seq, at) = (from_sql(row.get(0)?), from_sql(row.get(1)?));
        if seq != last.saturating_add(1) {
            return Err(Error::Damaged(format!("session {session} has no event {}", last.saturating_add(1))));
        }
        last = seq;
        let json = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        let event = read(json).map_err(|error| undecodable(session, seq, &error))?;
        events.push(SequencedEvent { seq, at, event });
    }
    if events.is_empty() {
        info(connection, session)?;
    }
    Ok(events)
}

/// Reads what was stored or exported.
///
/// It may be nested deeper than a reader cares to go by itself: what we held in memory once must stay readable. But
/// what comes from a file may be damaged or hostile, so there is an end ([`DEEPEST`]) far beyond what models make.
pub(crate) fn decode<T: for<'de> Deserialize<'de>>(json: &[u8]) -> Result<T, serde_json::Error> {
    // Nearly all have fewer brackets than that, and to count them is much faster.
    if brackets(json) > DEEPEST && nesting(json) > DEEPEST {
        return Err(serde_json::Error::custom("it is nested too deeply"));
    }
    let mut reader = serde_json::Deserializer::from_slice(json);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// How many brackets open, in texts too.
fn brackets(json: &[u8]) -> usize {
    json.iter().filter(|byte| matches!(byte, b'[' | b'{')).count()
}

/// How deeply brackets of JSON are nested; of what is no JSON, at least as deeply as a reader would go before it finds
/// out.
fn nesting(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = json.iter();
    let mut in_text = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_text = !in_text,
            b'\\' if in_text => _ = bytes.next(),
            b'[' | b'{' if !in_text => depth += 1,
            b']' | b'}' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Writes an event.
pub(crate) fn encode(event: &Event) -> Result<String, Error> {
    serde_json::to_string(event)
        .map_err(|error| StoreError::Failed(format!("an event cannot be written: {error}")).into())
}

/// SQLite's integers are signed. What does not fit is no count or time of this world.
pub(crate) fn to_sql(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number that [`to_sql`] wrote.
pub(crate) fn from_sql(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

pub(crate) fn not_found(session: &SessionId) -> Error {
    StoreError::NotFound { what: "session", id: session.to_string() }.into()
}

/// Text that is no JSON comes of damage. JSON that is no event comes of an Azimuth that knows more events than we do.
/// The reader's own words are left out, as they may quote what the event holds.
fn undecodable(session: &SessionId, seq: u64, error: &serde_json::Error) -> Error {
    match error.classify() {
        Category::Data => StoreError::Failed(format!(
            "event {seq} of session {session} is of a kind that this Azimuth does not know; update Azimuth"
        ))
        .into(),
        Category::Io | Category::Syntax | Category::Eof => {
            Error::Damaged(format!("event {seq} of session {session} cannot be read"))
        }
    }
}

fn bind_info(connection: &Connection, sql: &str, info: &SessionInfo) -> Result<usize, Error> {
    let folders = serde_json::Value::from(info.folders.clone()).to_string();
    let changed = connection.prepare_cached(sql)?.execute(params![
        info.session_id.as_str(),
        info.title,
        folders,
        info.model,
        info.mode.info().wire,
        to_sql(info.created_at),
        to_sql(info.updated_at),
        to_sql(info.last_seq),
        to_sql(info.usage.input),
        to_sql(info.usage.output),
        to_sql(info.usage.cache_read),
        to_sql(info.usage.cache_write),
        info.cost,
        info.parent.as_ref().map(SessionId::as_str),
        info.purpose.name(),
    ])?;
    Ok(changed)
}

/// Reads a row of [`select`].
pub(crate) fn read_info(row: &Row<'_>) -> rusqlite::Result<SessionInfo> {
    let number = |column| row.get(column).map(from_sql);
    let folders: String = row.get(2)?;
    let mode: String = row.get(4)?;
    Ok(SessionInfo {
        session_id: SessionId::new(row.get::<_, String>(0)?),
        title: row.get(1)?,
        folders: serde_json::from_str(&folders).map_err(|error| {
            rusqlite::Error::FromSqlConversionFailure(2, rusqlite::types::Type::Text, Box::new(error))
        })?,
        model: row.get(3)?,
        // A mode that we do not know counts as the one that may do least.
        mode: Mode::named(&mode).unwrap_or(Mode::Ask),
        created_at: number(5)?,
        updated_at: number(6)?,
        last_seq: number(7)?,
        usage: protocol::content::Usage {
            input: number(8)?,
            output: number(9)?,
            cache_read: number(10)?,
            cache_write: number(11)?,
            // The sums of the list have their cost beside them, which knows it.
            cache_write_hour: 0,
        },
        cost: row.get(12)?,
        parent: row.get::<_, Option<String>>(13)?.map(SessionId::new),
        // One of a purpose that we do not know is no chat that could be gone on with.
        purpose: Purpose::named(&row.get::<_, String>(14)?).unwrap_or(Purpose::Suggestions),
    })
}
