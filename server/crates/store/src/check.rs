//! The checks of `doctor` on a data folder: what is wrong with it, and how to fix it.

use std::path::{Path, PathBuf};

use platform::{disk, rights};
use ports::store::StoreError;
use rusqlite::Connection;
use serde::de::IgnoredAny;

use crate::error::{Error, MEND};
use crate::layout::Layout;
use crate::{SqliteStore, recover, schema, sessions};

/// Less free space than this is worth a word, in bytes.
const SPACE_LOW: u64 = 200 << 20;
/// With less than this nothing can be relied on, in bytes: a checkpoint alone may write 4 MiB.
const SPACE_NONE: u64 = 10 << 20;

/// Something that is wrong with a data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// True if sessions cannot be stored or read because of it; otherwise it is a risk.
    pub grave: bool,
    /// The file or folder it is about.
    pub place: PathBuf,
    /// The fault and how to fix it, as a sentence or two.
    pub text: String,
}

impl SqliteStore {
    /// Looks at a data folder: its rights, its file system, the free space, and the whole database, which takes about
    /// a second for a gigabyte. Finds nothing wrong with one that is not there yet.
    ///
    /// Nothing is changed but this: a damaged database is marked, so that the next [`SqliteStore::open`] recovers it.
    pub fn check(folder: &Path) -> Vec<Finding> {
        let layout = Layout::new(folder);
        if !folder.exists() {
            return Vec::new();
        }
        let mut findings = Vec::new();
        findings.extend(unwritable(folder));
        findings.extend(open_to_others(&layout));
        findings.extend(file_system(folder));
        if layout.database().exists() {
            findings.extend(database(&layout));
        }
        for place in recover::kept(&layout).unwrap_or_default() {
            let text = format!(
                "A database that was damaged is kept as {}. Delete it once you are sure that nothing is missing; \
                 until then nothing is removed from the folder of blobs.",
                place.display()
            );
            findings.push(Finding { grave: false, place, text });
        }
        findings
    }
}

/// Describes the damage in a database, as far as reading all of it shows.
pub(crate) fn damage(database: &Path) -> Result<Option<String>, Error> {
    match schema::reader(database).and_then(|connection| contradiction(&connection)) {
        Err(Error::Damaged(what)) => Ok(Some(what)),
        Err(error) if error.is_damage() => Ok(Some(error.to_string())),
        result => result,
    }
}

fn database(layout: &Layout) -> Option<Finding> {
    let place = layout.database();
    let finding = |text| Some(Finding { grave: true, place: place.clone(), text });
    let newer = schema::reader(&place).and_then(|connection| schema::version(&connection));
    if let Ok(found) = newer
        && found > schema::known()
    {
        let path = place.display().to_string();
        return finding(StoreError::Newer { path, found, known: schema::known() }.to_string());
    }
    match damage(&place) {
        Ok(None) => None,
        Ok(Some(what)) => {
            recover::suspect(layout);
            finding(format!("{} is damaged ({what}). To mend it, {MEND}.", place.display()))
        }
        Err(error) => finding(format!("{} cannot be checked: {error}.", place.display())),
    }
}

/// The first thing in a database that cannot be.
fn contradiction(connection: &Connection) -> Result<Option<String>, Error> {
    let version = schema::version(connection)?;
    if version == 0 {
        return Ok(Some("it has no format number".into()));
    }
    // A fault in the index of searches is no damage of the rest, from which it is made again.
    let is_of_index =
        |verdict: &str| verdict.starts_with("fts5: ") || verdict.contains("inverted index for FTS5 table");
    let mut statement = connection.prepare("PRAGMA quick_check")?;
    let verdicts = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    if let Some(verdict) = verdicts.into_iter().find(|verdict| verdict != "ok" && !is_of_index(verdict)) {
        return Ok(Some(verdict));
    }
    drop(statement);
    if version != schema::known() {
        // Its tables are not yet those that are read below.
        return Ok(None);
    }
    let mut statement = connection.prepare("SELECT session, seq, json FROM events ORDER BY session, seq")?;
    let mut rows = statement.query([])?;
    let (mut session, mut last) = (String::new(), 0);
    while let Some(row) = rows.next()? {
        let of = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        if of != session {
            (session, last) = (of.to_owned(), 0);
        }
        last += 1;
        if row.get::<_, i64>(1)? != last {
            return Ok(Some(format!("session {session} has no event {last}")));
        }
        let json = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        if serde_json::from_str::<IgnoredAny>(json).is_err() {
            return Ok(Some(format!("event {last} of session {session} cannot be read")));
        }
    }
    let mut statement = connection.prepare(&sessions::select(""))?;
    for info in statement.query_map([], sessions::read_info)? {
        let info = info?;
        let sql = "SELECT coalesce(max(seq), 0) FROM events WHERE session = ?1";
        let last = connection.prepare_cached(sql)?.query_row([info.session_id.as_str()], |row| row.get(0))?;
        if sessions::from_sql(last) != info.last_seq {
            return Ok(Some(format!("session {} does not end with event {}", info.session_id, info.last_seq)));
        }
    }
    for (table, text) in [("grants", "project || rule"), ("settings", "key || value"), ("blob_refs", "session || hash")]
    {
        let mut statement = connection.prepare(&format!("SELECT {text} FROM {table}"))?;
        for text in statement.query_map([], |row| row.get::<_, String>(0))? {
            text?;
        }
    }
    Ok(None)
}

fn unwritable(folder: &Path) -> Option<Finding> {
    let refused = rights::may_use(folder).err()?;
    let text = format!(
        "{0} cannot be written ({refused}), so no session can be stored. Make it yours: `chown -R \"$USER\" {0:?}` and \
         `chmod 700 {0:?}`.",
        folder.display()
    );
    Some(Finding { grave: true, place: folder.to_owned(), text })
}

fn open_to_others(layout: &Layout) -> Vec<Finding> {
    let is_open = |path: &Path| path.metadata().is_ok_and(|metadata| rights::is_open_to_others(&metadata));
    let folder = (layout.folder().to_owned(), "700");
    let files = ["", "-wal", "-shm"].map(|suffix| (layout.beside_database(suffix), "600"));
    let finding = |(place, mode): (PathBuf, &str)| {
        let name = place.display();
        let text =
            format!("{name} can be used by other users of this machine. To keep them out: `chmod {mode} {place:?}`.");
        Finding { grave: false, text, place }
    };
    std::iter::once(folder).chain(files).filter(|(path, _)| is_open(path)).map(finding).collect()
}

fn file_system(folder: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(name) = disk::shared(folder) {
        let text = format!(
            "{} lies on {name}, where the database can be damaged when two machines use it at once. Move it to a local \
             disk: set XDG_DATA_HOME to a folder on one.",
            folder.display()
        );
        findings.push(Finding { grave: false, place: folder.to_owned(), text });
    }
    if let Some(free) = disk::free(folder).filter(|free| *free < SPACE_LOW) {
        let text = format!(
            "Only {} MiB are free where {} lies. Free some space, or new events cannot be stored.",
            free >> 20,
            folder.display()
        );
        findings.push(Finding { grave: free < SPACE_NONE, place: folder.to_owned(), text });
    }
    findings
}

#[cfg(test)]
mod tests;
