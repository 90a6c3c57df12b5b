//! The time, as numbers and as words.

use std::time::{SystemTime, UNIX_EPOCH};

const SECONDS_PER_DAY: u64 = 86_400;

/// Milliseconds since the Unix epoch.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// A time for people: `2026-11-21 02:30:00 UTC`.
pub(crate) fn words(millis: u64) -> String {
    let (year, month, day) = date(millis);
    let (hour, minute, second) = time(millis);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// A time for file names: `20261121-023000`, in UTC.
pub(crate) fn stamp(millis: u64) -> String {
    let (year, month, day) = date(millis);
    let (hour, minute, second) = time(millis);
    format!("{year}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

fn time(millis: u64) -> (u64, u64, u64) {
    let second = millis / 1000 % SECONDS_PER_DAY;
    (second / 3600, second / 60 % 60, second % 60)
}

/// The year, month and day in the Gregorian calendar.
fn date(millis: u64) -> (u64, u64, u64) {
    // Days are counted from 1 March of the year 0, so that the leap day is the last one of its year and all else
    // follows a fixed pattern: 146,097 days in 400 years, 153 days in the five months from March to July.
    let days = millis / 1000 / SECONDS_PER_DAY + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
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
