//! The requests to models and what they cost, in SQL: a fold of the sessions' logs, which goes on from its last end.
//!
//! Nothing is added up while events are appended. Whoever asks for the sums has the events taken in that came since
//! somebody last asked, so that each event is read once for this, and an older Azimuth may have written them.

use ports::spent::{Spent, Sums};
use protocol::content::Usage;
use protocol::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;

use crate::error::Error;
use crate::sessions::{decode, from_sql, to_sql};

/// The number of events that are taken in at once. Others can write between two such steps.
const STEP: u64 = 5_000;
const COLUMNS: &str = "day, session, parent, turn, role, model, requests, unpriced, input, output, cache_read, \
                       cache_write, cost";
/// The model of a turn whose beginning is not in the log.
const UNKNOWN: &str = "unknown";
const DAY: u64 = 86_400_000;

/// The sessions with events that were not taken in.
pub(crate) fn behind(connection: &Connection) -> Result<Vec<SessionId>, Error> {
    let mut statement = connection.prepare_cached("SELECT id FROM sessions WHERE spent_to < last_seq")?;
    let ids = statement.query_map([], |row| row.get::<_, String>(0).map(SessionId::new))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Takes in the next events of a session. Gives true if that was all.
pub(crate) fn take_in(connection: &Connection, session: &SessionId) -> Result<bool, Error> {
    let sql = "SELECT spent_to, last_seq, parent FROM sessions WHERE id = ?1";
    let read = |row: &Row<'_>| Ok((from_sql(row.get(0)?), from_sql(row.get(1)?), row.get::<_, Option<String>>(2)?));
    let Some((done, last, parent)) = connection.prepare_cached(sql)?.query_row([session.as_str()], read).optional()?
    else {
        return Ok(true);
    };
    let to = last.min(done.saturating_add(STEP));
    // The kind of an event is the first that is written of it, so that the others need not be read as JSON.
    let sql = r#"SELECT at, json FROM events WHERE session = ?1 AND seq > ?2 AND seq <= ?3
                 AND (json LIKE '{"type":"turnStarted"%' OR json LIKE '{"type":"messageCompleted"%'
                      OR json LIKE '{"type":"sideAsked"%' OR json LIKE '{"type":"turnEnded"%'
                      OR json LIKE '{"type":"turnModelChanged"%' OR json LIKE '{"type":"requestPaid"%') ORDER BY seq"#;
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![session.as_str(), to_sql(done), to_sql(to)])?;
    let taking = Taking { connection, session, parent: parent.map(SessionId::new) };
    while let Some(row) = rows.next()? {
        let at = from_sql(row.get(0)?);
        let json = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        // One that cannot be read is found by whoever reads the log, and must not spoil the sums.
        if let Ok(event) = decode(json.as_bytes()) {
            taking.apply(u32::try_from(at / DAY).unwrap_or(u32::MAX), event)?;
        }
    }
    let sql = "UPDATE sessions SET spent_to = ?2 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![session.as_str(), to_sql(to)])?;
    Ok(to == last)
}

/// The sums from a day on.
pub(crate) fn since(connection: &Connection, day: u32) -> Result<Vec<Spent>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM spent WHERE day >= ?1 AND requests > 0 ORDER BY session, day, rowid");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([day], read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The sum of all from a day on.
pub(crate) fn sums(connection: &Connection, day: u32) -> Result<Sums, Error> {
    // `TOTAL` adds as floats, so that it never overflows, whatever vendors report.
    let totals: Vec<_> = ["requests", "unpriced", "input", "output", "cache_read", "cache_write", "cost"]
        .map(|column| format!("TOTAL({column})"))
        .into();
    let sql = format!("SELECT {} FROM spent WHERE day >= ?1", totals.join(", "));
    let read = |row: &Row<'_>| {
        let number = |column| row.get(column).map(|total: f64| total as u64);
        let usage = Usage {
            input: number(2)?,
            output: number(3)?,
            cache_read: number(4)?,
            cache_write: number(5)?,
            cache_write_hour: 0,
        };
        Ok(Sums { requests: number(0)?, unpriced: number(1)?, usage, cost: row.get(6)? })
    };
    Ok(connection.prepare_cached(&sql)?.query_row([day], read)?)
}

/// True if there are sums of a session, which may have been deleted.
pub(crate) fn knows(connection: &Connection, session: &SessionId) -> Result<bool, Error> {
    let sql = "SELECT EXISTS (SELECT 1 FROM spent WHERE session = ?1)";
    Ok(connection.prepare_cached(sql)?.query_row([session.as_str()], |row| row.get(0))?)
}

/// The last event of a session that was taken in; none if that cannot be read.
pub(crate) fn taken_in_to(connection: &Connection, session: &SessionId) -> Option<u64> {
    let sql = "SELECT spent_to FROM sessions WHERE id = ?1";
    connection.query_row(sql, [session.as_str()], |row| row.get(0).map(from_sql)).ok()
}

/// Has the events that a session has by now not count, since the sums contain them already.
pub(crate) fn pass_over(connection: &Connection, session: &SessionId) -> Result<(), Error> {
    let sql = "UPDATE sessions SET spent_to = last_seq WHERE id = ?1";
    connection.prepare_cached(sql)?.execute([session.as_str()])?;
    Ok(())
}

/// The SQL for all rows with requests, which [`read`] reads.
pub(crate) fn select() -> String {
    format!("SELECT {COLUMNS} FROM spent WHERE requests > 0")
}

/// Reads a row of [`select`].
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Spent> {
    let number = |column| row.get(column).map(from_sql);
    let usage = Usage {
        input: number(8)?,
        output: number(9)?,
        cache_read: number(10)?,
        cache_write: number(11)?,
        cache_write_hour: 0,
    };
    Ok(Spent {
        day: row.get(0)?,
        session: SessionId::new(row.get::<_, String>(1)?),
        parent: row.get::<_, Option<String>>(2)?.map(SessionId::new),
        turn: Some(row.get::<_, String>(3)?).filter(|turn| !turn.is_empty()).map(TurnId::new),
        role: Some(row.get::<_, String>(4)?).filter(|role| !role.is_empty()),
        model: row.get(5)?,
        sums: Sums { requests: number(6)?, unpriced: number(7)?, usage, cost: row.get(12)? },
    })
}

/// Adds to the sums.
pub(crate) fn add(connection: &Connection, spent: &Spent) -> Result<(), Error> {
    let (turn, role) = (spent.turn.as_ref().map_or("", TurnId::as_str), spent.role.as_deref().unwrap_or_default());
    let key = params![spent.session.as_str(), turn, role, spent.model, spent.day];
    let which = "session = ?1 AND turn = ?2 AND role = ?3 AND model = ?4 AND day = ?5";
    let sql = format!("SELECT {COLUMNS} FROM spent WHERE {which}");
    let had = connection.prepare_cached(&sql)?.query_row(key, read).optional()?;
    let mut sums = had.map(|had| had.sums).unwrap_or_default();
    sums += spent.sums;
    let sql = format!(
        "INSERT INTO spent ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (session, turn, role, model, day) DO UPDATE SET requests = excluded.requests,
         unpriced = excluded.unpriced, input = excluded.input, output = excluded.output,
         cache_read = excluded.cache_read, cache_write = excluded.cache_write, cost = excluded.cost"
    );
    connection.prepare_cached(&sql)?.execute(params![
        spent.day,
        spent.session.as_str(),
        spent.parent.as_ref().map(SessionId::as_str),
        turn,
        role,
        spent.model,
        to_sql(sums.requests),
        to_sql(sums.unpriced),
        to_sql(sums.usage.input),
        to_sql(sums.usage.output),
        to_sql(sums.usage.cache_read),
        to_sql(sums.usage.cache_write),
        sums.cost,
    ])?;
    Ok(())
}

/// Events as far as they speak of requests.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum Asking {
    TurnStarted { turn_id: TurnId, model: String },
    TurnModelChanged { turn_id: TurnId, model: String },
    MessageCompleted { turn_id: TurnId, usage: Usage, cost: Option<f64> },
    RequestPaid { turn_id: TurnId, usage: Usage, cost: Option<f64> },
    SideAsked { role: String, model: String, usage: Usage, cost: Option<f64> },
    TurnEnded { turn_id: TurnId, usage: Usage, cost: Option<f64> },
}

/// A session whose events are taken in.
struct Taking<'a> {
    connection: &'a Connection,
    session: &'a SessionId,
    parent: Option<SessionId>,
}

impl Taking<'_> {
    fn apply(&self, day: u32, event: Asking) -> Result<(), Error> {
        match event {
            // The row says what the model of the turn's requests is.
            Asking::TurnStarted { turn_id, model } => self.add(day, Some(turn_id), None, model, Sums::default()),
            Asking::TurnModelChanged { turn_id, .. } if self.is_passed_over(&turn_id)? => Ok(()),
            Asking::TurnModelChanged { turn_id, model } => self.add(day, Some(turn_id), None, model, Sums::default()),
            // A message of ours in the model's name is no request, and uses nothing.
            Asking::MessageCompleted { usage, .. } if usage == Usage::default() => Ok(()),
            Asking::MessageCompleted { turn_id, usage, cost } | Asking::RequestPaid { turn_id, usage, cost } => {
                let (model, _) = self.turn(&turn_id)?;
                self.add(day, Some(turn_id), None, model, Sums::one(usage, cost))
            }
            Asking::SideAsked { usage, .. } if usage == Usage::default() => Ok(()),
            Asking::SideAsked { role, model, usage, cost } => {
                self.add(day, None, Some(role), model, Sums::one(usage, cost))
            }
            // In older logs, requests that became no message are in the sums of the turn only.
            Asking::TurnEnded { turn_id, usage, cost } => {
                if self.is_passed_over(&turn_id)? {
                    return Ok(());
                }
                let (model, told) = self.turn(&turn_id)?;
                let rest = usage.less(told.usage);
                if rest == Usage::default() {
                    return Ok(());
                }
                let cost = cost.map(|cost| (cost - told.cost).max(0.0));
                self.add(day, Some(turn_id), None, model, Sums::one(rest, cost))
            }
        }
    }

    fn add(
        &self,
        day: u32,
        turn: Option<TurnId>,
        role: Option<String>,
        model: String,
        sums: Sums,
    ) -> Result<(), Error> {
        let (session, parent) = (self.session.clone(), self.parent.clone());
        add(self.connection, &Spent { day, session, parent, turn, role, model, sums })
    }

    /// True if nothing is known of a turn, although the log has its beginning: it was paid for with what the session is
    /// a copy of.
    fn is_passed_over(&self, turn: &TurnId) -> Result<bool, Error> {
        let begins = format!("{{\"type\":\"turnStarted\",\"turnId\":{}%", serde_json::json!(turn));
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM spent WHERE session = ?1 AND turn = ?2)
                   AND EXISTS (SELECT 1 FROM events WHERE session = ?1 AND json LIKE ?3)";
        let params = [self.session.as_str(), turn.as_str(), &begins];
        Ok(self.connection.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
    }

    /// The model that a turn asks, whose row is the newest, and what its messages used.
    fn turn(&self, turn: &TurnId) -> Result<(String, Sums), Error> {
        let sql = format!("SELECT {COLUMNS} FROM spent WHERE session = ?1 AND turn = ?2 ORDER BY rowid");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (mut model, mut sums) = (UNKNOWN.to_owned(), Sums::default());
        for row in statement.query_map([self.session.as_str(), turn.as_str()], read)? {
            let row = row?;
            model = row.model;
            sums += row.sums;
        }
        Ok((model, sums))
    }
}

#[cfg(test)]
mod tests;
