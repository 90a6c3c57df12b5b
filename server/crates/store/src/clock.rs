//! The time, as numbers and as words.

use std::time::{SystemTime, UNIX_EPOCH};

use ports::date;

const SECONDS_PER_DAY: u64 = 86_400;

/// Milliseconds since the Unix epoch.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A time for people: `2026-11-21 02:30:00 UTC`.
pub(crate) fn words(millis: u64) -> String {
    let (year, month, day) = date::of_day(millis / 1000 / SECONDS_PER_DAY);
    let (hour, minute, second) = time(millis);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// A time for file names: `20261121-023000`, in UTC.
pub(crate) fn stamp(millis: u64) -> String {
    let (year, month, day) = date::of_day(millis / 1000 / SECONDS_PER_DAY);
    let (hour, minute, second) = time(millis);
    format!("{year}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

fn time(millis: u64) -> (u64, u64, u64) {
    let second = millis / 1000 % SECONDS_PER_DAY;
    (second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_a_calendar_tells_them() {
        assert_eq!(words(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(words(951_782_399_999), "2000-02-28 23:59:59 UTC");
        assert_eq!(words(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(words(1_735_689_599_000), "2024-12-31 23:59:59 UTC");
        assert_eq!(stamp(1_795_228_200_000), "20261121-023000");
    }
}
