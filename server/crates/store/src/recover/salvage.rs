//! Reads what can be read of a damaged database.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use ports::store::StoreError;
use protocol::SessionId;
use protocol::session::SessionInfo;
use rusqlite::{Connection, Row};
use serde::de::IgnoredAny;

use super::log::{self, PAGE};
use crate::error::Error;
use crate::layout::{Layout, valid, with_suffix};
use crate::{files, schema, sessions, spent};

/// Copies all that can be read into the new database: sessions, each with its events up to the first that is missing,
/// grants, settings and the costs that no event says, but no counts of suggestions. Gives the sessions that miss
/// events. Only what the new database says is an error.
pub(super) fn salvage(layout: &Layout, new: &Connection) -> Result<Vec<SessionId>, Error> {
    let old = match schema::reader(&layout.database()) {
        Ok(old) if has_tables(&old) => Some(old),
        _ => mended(layout),
    };
    let cut = old.map_or(Ok(Vec::new()), |old| copy(&old, new));
    let mended = layout.beside_database(MENDED);
    for file in [mended.clone(), with_suffix(&mended, "-wal"), with_suffix(&mended, "-shm")] {
        files::remove_if_there(&file)?;
    }
    cut
}

fn copy(old: &Connection, new: &Connection) -> Result<Vec<SessionId>, Error> {
    let mut cut = Vec::new();
    for (session, row) in known_sessions(old) {
        let expected = row.as_ref().map(|row| row.last_seq);
        let found = copy_session(old, new, &session, row)?;
        if found.is_cut || expected.is_some_and(|expected| expected > found.events) {
            cut.push(session);
        }
    }
    let pair = |row: &Row<'_>| Ok([row.get(0)?, row.get(1)?]);
    for pair in readable::<[String; 2]>(old, "SELECT project, rule FROM grants ORDER BY id", pair) {
        new.execute("INSERT INTO grants (project, rule) VALUES (?1, ?2) ON CONFLICT DO NOTHING", pair)?;
    }
    for pair in readable::<[String; 2]>(old, "SELECT key, value FROM settings", pair) {
        new.execute("INSERT INTO settings (key, value) VALUES (?1, ?2) ON CONFLICT DO NOTHING", pair)?;
    }
    copy_spent(old, new)?;
    Ok(cut)
}

/// Copies the sums that the events do not say again: those of sessions that were deleted, or whose log is cut before
/// the last event that they contain.
fn copy_spent(old: &Connection, new: &Connection) -> Result<(), Error> {
    let mut lost = HashMap::new();
    for row in readable(old, &spent::select(), spent::read) {
        let is_lost = match lost.get(&row.session) {
            Some(is_lost) => *is_lost,
            None => {
                let is_lost = match sessions::info(new, &row.session) {
                    Ok(info) => spent::taken_in_to(old, &row.session).is_some_and(|to| to > info.last_seq),
                    Err(Error::Store(StoreError::NotFound { .. })) => true,
                    Err(error) => return Err(error),
                };
                if is_lost {
                    spent::pass_over(new, &row.session)?;
                }
                lost.insert(row.session.clone(), is_lost);
                is_lost
            }
        };
        if is_lost {
            spent::add(new, &row)?;
        }
    }
    Ok(())
}

struct Copied {
    events: u64,
    /// True if something was there that could not be read.
    is_cut: bool,
}

fn copy_session(
    old: &Connection,
    new: &Connection,
    session: &SessionId,
    row: Option<SessionInfo>,
) -> Result<Copied, Error> {
    let mut info = match row {
        // The events say the rest again.
        Some(row) => SessionInfo { last_seq: 0, usage: Default::default(), cost: 0.0, ..row },
        None => sessions::blank(session, &[], 0),
    };
    sessions::insert(new, &info)?;
    let mut is_cut = true;
    let sql = "SELECT seq, at, json FROM events WHERE session = ?1 ORDER BY seq";
    if let Ok(mut statement) = old.prepare_cached(sql)
        && let Ok(mut rows) = statement.query([session.as_str()])
    {
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => {
                    is_cut = false;
                    break;
                }
                Err(_) => break,
            };
            let Some((at, json)) = readable_event(row, info.last_seq + 1) else { break };
            info.last_seq += 1;
            sessions::insert_event(new, session, info.last_seq, at, &json)?;
            // An event of a kind that we do not know is kept as it is.
            if let Ok(event) = sessions::decode(json.as_bytes()) {
                sessions::refer(new, session, at, &event)?;
                sessions::apply(&mut info, at, &event);
            }
        }
    }
    sessions::update(new, &info)?;
    Ok(Copied { events: info.last_seq, is_cut })
}

/// The time and text of an event, if it has the number expected and is sound.
fn readable_event(row: &Row<'_>, expected: u64) -> Option<(u64, String)> {
    let seq: i64 = row.get(0).ok()?;
    let at: i64 = row.get(1).ok()?;
    let json: String = row.get(2).ok()?;
    let is_sound = serde_json::from_str::<IgnoredAny>(&json).is_ok() && seq == sessions::to_sql(expected);
    is_sound.then(|| (sessions::from_sql(at), json))
}

/// The sessions that are spoken of: by their own rows, or, where those are lost, by their events.
fn known_sessions(old: &Connection) -> BTreeMap<SessionId, Option<SessionInfo>> {
    let mut known = BTreeMap::new();
    let steps = schema::version(old).unwrap_or_else(|_| schema::known());
    // From both ends, as damage in the middle of a table hides what lies behind it.
    for order in ["ASC", "DESC"] {
        for info in
            readable(old, &sessions::select_from_earlier(steps, &format!("ORDER BY id {order}")), sessions::read_info)
        {
            known.insert(info.session_id.clone(), Some(info));
        }
    }
    for id in sessions_of_events(old) {
        known.entry(id).or_insert(None);
    }
    known.retain(|id, _| valid(id).is_ok());
    known
}

fn sessions_of_events(old: &Connection) -> BTreeSet<SessionId> {
    let mut found = BTreeSet::new();
    let ends = [
        ("SELECT min(session) FROM events", "SELECT min(session) FROM events WHERE session > ?1"),
        ("SELECT max(session) FROM events", "SELECT max(session) FROM events WHERE session < ?1"),
    ];
    for (first, next) in ends {
        let mut id = old.query_row(first, [], |row| row.get::<_, Option<String>>(0));
        // In a damaged tree the next one may be one that we had.
        let mut seen = BTreeSet::new();
        while let Ok(Some(session)) = id
            && seen.insert(session.clone())
        {
            id = old.query_row(next, [&session], |row| row.get(0));
            found.insert(SessionId::new(session));
        }
    }
    found
}

/// The rows that can be read before the first that cannot be reached.
fn readable<T>(old: &Connection, sql: &str, read: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let mut found = Vec::new();
    if let Ok(mut statement) = old.prepare(sql)
        && let Ok(mut rows) = statement.query([])
    {
        while let Ok(Some(row)) = rows.next() {
            found.extend(read(row));
        }
    }
    found
}

/// True if the tables can be found at all.
fn has_tables(connection: &Connection) -> bool {
    connection.prepare("SELECT 1 FROM sessions, events, grants, settings LIMIT 1").is_ok()
}

/// The name of a copy with a new first page.
const MENDED: &str = ".mended";

/// A copy of the database in which the first page, which says where the tables are, is that of an empty database. Since
/// every database begins with the same steps, its tables begin at the same pages. None if that does not help.
fn mended(layout: &Layout) -> Option<Connection> {
    let path = layout.beside_database(MENDED);
    copy_file(&layout.database(), &path)?;
    let mut file = OpenOptions::new().write(true).open(&path).ok()?;
    let mut put = |number: u32, pages: &[u8]| {
        file.seek(SeekFrom::Start(u64::from(number.checked_sub(1)?) * PAGE as u64)).ok()?;
        file.write_all(pages).ok()
    };
    let mut pages = u32::try_from(fs::metadata(&path).ok()?.len() / PAGE as u64).ok()?;
    // The content of the write-ahead log is newer than that of the file. It goes into the copy, since beside it, it
    // would say how many pages there are, and hide those that are added.
    if let Ok(log) = files::read(&layout.beside_database("-wal"))
        && let Some((changed, size)) = log::pages(&log)
    {
        changed.iter().try_for_each(|(number, page)| put(*number, page))?;
        pages = pages.max(size);
    }
    let Head { mut first, more } = head(&files::read(&layout.recovering()).ok()?, pages)?;
    let all = pages + u32::try_from(more.len() / PAGE).ok()?;
    // The header: the size in pages at 28, then the list of free pages, which is left empty.
    first.get_mut(28..32)?.copy_from_slice(&all.to_be_bytes());
    first.get_mut(32..40)?.fill(0);
    put(1, &first)?;
    put(pages + 1, &more)?;
    schema::reader(&path).ok().filter(has_tables)
}

/// The first page of a database, and the pages on which it goes on to say where the tables are.
struct Head {
    first: Vec<u8>,
    more: Vec<u8>,
}

/// That of an empty database, for one with so many pages, behind which the further ones come: there they overwrite
/// nothing.
fn head(empty: &[u8], pages: u32) -> Option<Head> {
    /// The kind of a page that names others, at the beginning of its own header.
    const NAMES_OTHERS: u8 = 5;
    /// Where the first page's own header is, and in it the number of cells, the last page named, and the cells' places.
    const HEADER: usize = 100;
    const CELLS: usize = HEADER + 3;
    const LAST: usize = HEADER + 8;
    const PLACES: usize = HEADER + 12;

    let mut head = Head { first: empty.get(..PAGE)?.to_vec(), more: Vec::new() };
    if head.first.get(HEADER) != Some(&NAMES_OTHERS) {
        return Some(head);
    }
    let cells = usize::from(u16::from_be_bytes(head.first.get(CELLS..CELLS + 2)?.try_into().ok()?));
    let places: Vec<_> = head.first.get(PLACES..PLACES + 2 * cells)?.chunks(2).map(<[u8]>::to_vec).collect();
    let places = places.into_iter().map(|place| place.try_into().ok().map(u16::from_be_bytes).map(usize::from));
    for place in places.chain([Some(LAST)]) {
        // A cell begins with the number of the page that it names.
        let named = head.first.get_mut(place?..)?.get_mut(..4)?;
        let from = usize::try_from(u32::from_be_bytes(named.try_into().ok()?)).ok()?.checked_sub(1)? * PAGE;
        head.more.extend(empty.get(from..from + PAGE)?);
        let number = pages + u32::try_from(head.more.len() / PAGE).ok()?;
        named.copy_from_slice(&number.to_be_bytes());
    }
    Some(head)
}

fn copy_file(from: &Path, to: &Path) -> Option<()> {
    files::remove_if_there(to).ok()?;
    drop(files::private_file(to).ok()?);
    fs::copy(from, to).ok()?;
    files::tighten(to);
    Some(())
}
