//! Dates, as servers write them and as signatures need them. All are UTC.

use std::time::{Duration, SystemTime};

use ports::date;

/// Days from 0000-03-01, where the count begins, to 1970-01-01.
const EPOCH: u64 = 719_468;
const DAY: u64 = 86_400;
/// The longest that a vendor has anybody wait: a month. A span that is longer, or a time that has passed, is none that
/// is meant.
const LONGEST: f64 = 31.0 * 86_400.0;

/// The time from now on until one that is written in one of the vendors' ways: as a date, as a span such as `6m0s`, or
/// as a number, which is of units of a second from now on, or of seconds or milliseconds since 1970.
pub(crate) fn until(text: &str, unit: f64, now: SystemTime) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        return until_number(number, unit, now);
    }
    span(text).or_else(|| until_time(rfc3339(text)?, now))
}

/// The time until one that is such a number. Since a span is never long, none of these can be taken for another.
pub(crate) fn until_number(number: f64, unit: f64, now: SystemTime) -> Option<Duration> {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs_f64();
    [number / unit, number - now, number / 1_000.0 - now].into_iter().find_map(wait)
}

/// The time until this one.
pub(crate) fn until_time(at: SystemTime, now: SystemTime) -> Option<Duration> {
    wait(at.duration_since(now).ok()?.as_secs_f64())
}

/// A span of so many seconds.
pub(crate) fn wait(seconds: f64) -> Option<Duration> {
    (0.0..=LONGEST).contains(&seconds).then(|| Duration::try_from_secs_f64(seconds).ok())?
}

/// A span of time as Go writes it: `6m0s`, `1.5s`, `20ms` (pkg.go.dev/time, `ParseDuration`), and with days.
pub(crate) fn span(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() {
        let (number, tail) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let (unit, tail) = tail.split_at(tail.find(|c: char| !c.is_alphabetic()).unwrap_or(tail.len()));
        let unit = match unit {
            "d" => 86_400.0,
            "h" => 3_600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * unit;
        rest = tail;
    }
    if text.is_empty() { None } else { wait(sum) }
}

/// A date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7; the two older forms are not sent today).
pub(crate) fn http_date(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_once(", ")?.1.split(' ');
    let day = number(words.next()?)?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64 + 1;
    let year = number(words.next()?)?;
    let seconds = days(year, month, day)? * DAY + clock(words.next()?)?;
    (words.next() == Some("GMT")).then(|| after_epoch(seconds))?
}

/// A date such as `2026-11-28T19:04:05Z`, with or without parts of a second, and with `Z` or an offset such as
/// `+01:00` (RFC 3339 §5.6).
pub(crate) fn rfc3339(text: &str) -> Option<SystemTime> {
    let (date, time) = text.split_once(['T', 't'])?;
    let mut date = date.split('-').map(number);
    let days = days(date.next()??, date.next()??, date.next()??)?;
    if date.next().is_some() {
        return None;
    }
    let (time, offset) = time.split_at(time.find(['Z', 'z', '+', '-'])?);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    number(fraction)?;
    let seconds = days * DAY + clock(time)?;
    if offset.eq_ignore_ascii_case("z") {
        return after_epoch(seconds);
    }
    let (east, offset) = (offset.starts_with('+'), offset.get(1..)?);
    let offset = clock(&format!("{offset}:00"))?;
    after_epoch(if east { seconds.checked_sub(offset)? } else { seconds + offset })
}

/// A time as `20150830T123600Z` (ISO 8601, basic format). Times before 1970 are written as its beginning.
pub(crate) fn basic(at: SystemTime) -> String {
    let seconds = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let (year, month, day) = date::of_day(seconds / DAY);
    let of_day = seconds % DAY;
    let (hour, minute, second) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Days from 0000-03-01 to a date.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (from_march, year) = if month > 2 { (month - 3, year) } else { (month + 9, year - 1) };
    Some(365 * year + year / 4 - year / 100 + year / 400 + (153 * from_march + 2) / 5 + day - 1)
}

/// The second of the day at a time such as `08:49:37`.
fn clock(text: &str) -> Option<u64> {
    let mut parts = text.split(':').map(number);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    // A leap second is the 60th.
    let is_time = hour <= 23 && minute <= 59 && second <= 60 && parts.next().is_none();
    is_time.then_some(hour * 3_600 + minute * 60 + second)
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The time that is so many seconds after the count began.
fn after_epoch(seconds: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.checked_sub(EPOCH * DAY)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn dates_of_servers_are_read() {
        assert_eq!(http_date("Sun, 06 Nov 1994 08:49:37 GMT"), Some(at(784_111_777)));
        for text in ["2000-02-29T00:00:00Z", "2000-02-29t00:00:00.000z", "2000-02-29T01:30:00+01:30"] {
            assert_eq!(rfc3339(text), Some(at(951_782_400)), "{text}");
        }
        assert_eq!(rfc3339("2000-02-28T16:00:00.5-08:00"), Some(at(951_782_400)));
    }

    #[test]
    fn nonsense_is_no_date() {
        for text in [
            "",
            "soon",
            "2026-11-28",
            "2026-11-28T10:00:00",
            "2026-13-28T10:00:00Z",
            "2026-11-28T24:00:00Z",
            "2026-11-28T10:00:00.xZ",
            "2026-11-28T10:00:00+1",
            "2026-11-28-1T10:00:00Z",
            "2026-11-28T10:00:00:00Z",
            "1969-12-31T23:59:59Z",
            "+026-11-28T10:00:00Z",
            "1970-01-01T00:00:00+01:00",
        ] {
            assert_eq!(rfc3339(text), None, "{text}");
        }
        for text in ["Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT"] {
            assert_eq!(http_date(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_that_has_passed_or_is_more_than_a_month_away_is_none() {
        let now = at(1_795_953_600);
        for (text, seconds) in [("0", 0.0), ("2678400", 2_678_400.0), ("1795953612", 12.0), ("1795953612500", 12.5)] {
            assert_eq!(until(text, 1.0, now).map(|it| it.as_secs_f64()), Some(seconds), "{text}");
        }
        assert_eq!(until("2678400000", 1_000.0, now), Some(Duration::from_secs(2_678_400)), "a month is no date");
        assert_eq!(until("2026-11-29T12:00:09Z", 1.0, now), Some(Duration::from_secs(9)));
        for text in
            ["2678401", "745h", "1795953599", "1800000000", "1e300", "2026-11-29T11:59:59Z", "9999-01-01T00:00:00Z"]
        {
            assert_eq!(until(text, 1.0, now), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_span_is_read_as_it_is_written(hours in 0u64..100, minutes in 0u64..60, seconds in 0u64..60) {
            let read = span(&format!("{hours}h{minutes}m{seconds}s"));
            prop_assert_eq!(read, Some(Duration::from_secs(hours * 3_600 + minutes * 60 + seconds)));
        }

        #[test]
        fn a_time_that_is_written_is_read_again(seconds in 0_u64..253_402_300_800) {
            let text = basic(at(seconds));
            let (date, time) = text.split_once('T').unwrap();
            let long = format!("{}-{}-{}T{}:{}:{}",
                &date[..4], &date[4..6], &date[6..], &time[..2], &time[2..4], &time[4..]);
            prop_assert_eq!(rfc3339(&long), Some(at(seconds)));
        }
    }
}
