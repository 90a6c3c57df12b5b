//! The numbers about suggestions where the user types, and their costs, in SQL.

use ports::counts::{Cost, Count};
use rusqlite::{Connection, params};

use crate::error::Error;
use crate::sessions::{from_sql, to_sql};

/// Adds to the numbers, and deletes those of earlier days.
pub(crate) fn add(connection: &Connection, counts: &[Count], costs: &[Cost], since: u32) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM inline_counts WHERE day < ?1")?.execute([since])?;
    connection.prepare_cached("DELETE FROM inline_costs WHERE day < ?1")?.execute([since])?;
    let mut statement = connection.prepare_cached(
        "INSERT INTO inline_counts (day, model, name, number) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (day, model, name) DO UPDATE SET number = number + excluded.number",
    )?;
    for Count { day, model, name, number } in counts {
        statement.execute(params![day, model, name, to_sql(*number)])?;
    }
    let mut statement = connection.prepare_cached(
        "INSERT INTO inline_costs (day, model, dollars) VALUES (?1, ?2, ?3)
         ON CONFLICT (day, model) DO UPDATE SET dollars = dollars + excluded.dollars",
    )?;
    for Cost { day, model, dollars } in costs {
        statement.execute(params![day, model, dollars])?;
    }
    Ok(())
}

/// The numbers from a day on.
pub(crate) fn counts(connection: &Connection, since: u32) -> Result<Vec<Count>, Error> {
    let sql = "SELECT day, model, name, number FROM inline_counts WHERE day >= ?1 ORDER BY day, model, name";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([since], |row| {
        let number = from_sql(row.get(3)?);
        Ok(Count { day: row.get(0)?, model: row.get(1)?, name: row.get(2)?, number })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The costs from a day on.
pub(crate) fn costs(connection: &Connection, since: u32) -> Result<Vec<Cost>, Error> {
    let sql = "SELECT day, model, dollars FROM inline_costs WHERE day >= ?1 ORDER BY day, model";
    let mut statement = connection.prepare_cached(sql)?;
    let rows =
        statement.query_map([since], |row| Ok(Cost { day: row.get(0)?, model: row.get(1)?, dollars: row.get(2)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Deletes all numbers, and the costs of earlier days.
pub(crate) fn forget(connection: &Connection, today: u32) -> Result<(), Error> {
    connection.execute("DELETE FROM inline_counts", [])?;
    connection.execute("DELETE FROM inline_costs WHERE day < ?1", [today])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use ports::store::Store;

    use super::*;
    use crate::SqliteStore;
    use crate::testing::store;

    fn count(day: u32, model: &str, name: &str, number: u64) -> Count {
        Count { day, model: model.into(), name: name.into(), number }
    }

    fn cost(day: u32, model: &str, dollars: f64) -> Cost {
        Cost { day, model: model.into(), dollars }
    }

    #[test]
    fn numbers_of_several_processes_are_added_up_by_day_and_model() {
        let (folder, one) = store();
        let other = SqliteStore::open(folder.path()).unwrap();
        let shown = [count(10, "a", "shown", 2), count(10, "b", "shown", 1)];
        one.add_counts(&shown, &[cost(10, "a", 0.25)], 0).unwrap();
        other.add_counts(&[count(10, "a", "shown", 3), count(11, "a", "shown", 1)], &[cost(10, "a", 0.5)], 0).unwrap();
        let all = [count(10, "a", "shown", 5), count(10, "b", "shown", 1), count(11, "a", "shown", 1)];
        assert_eq!(one.counts(0).unwrap(), all);
        assert_eq!(other.counts(11).unwrap(), all[2..]);
        assert_eq!(one.costs(10).unwrap(), [cost(10, "a", 0.75)]);
    }

    #[test]
    fn numbers_of_old_days_go_with_the_next_that_are_added() {
        let (_folder, store) = store();
        store.add_counts(&[count(1, "a", "shown", 1)], &[cost(1, "a", 1.0)], 0).unwrap();
        store.add_counts(&[count(91, "a", "shown", 1)], &[], 2).unwrap();
        assert_eq!((store.counts(0).unwrap().len(), store.costs(0).unwrap()), (1, vec![]));
    }

    #[test]
    fn to_forget_the_numbers_leaves_the_cost_of_today() {
        let (_folder, store) = store();
        store.forget_counts(5).unwrap();
        store.add_counts(&[count(5, "a", "shown", 1)], &[cost(4, "a", 1.0), cost(5, "a", 2.0)], 0).unwrap();
        store.forget_counts(5).unwrap();
        assert_eq!((store.counts(0).unwrap(), store.costs(0).unwrap()), (vec![], vec![cost(5, "a", 2.0)]));
    }
}
