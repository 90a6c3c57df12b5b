//! The time of day, which a test may set: for what happens after minutes, or on the next day.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use ports::date;

/// The milliseconds of a day.
const DAY: u64 = 86_400_000;

/// The time of day.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> u64 + Send + Sync>);

impl Clock {
    /// A clock that is read so: milliseconds since the Unix epoch.
    pub fn new(read: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(read))
    }

    /// Milliseconds since the Unix epoch.
    pub fn now(&self) -> u64 {
        (self.0)()
    }
}

/// The system's time, in milliseconds since the Unix epoch.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The day of a time in milliseconds since the Unix epoch: days since then, in UTC.
pub fn day_of(at: u64) -> u32 {
    u32::try_from(at / DAY).unwrap_or(u32::MAX)
}

/// The name of a day since the Unix epoch, such as `2026-11-21`.
pub fn name_of(day: u32) -> String {
    let (year, month, day) = date::of_day(day.into());
    format!("{year:04}-{month:02}-{day:02}")
}

impl Default for Clock {
    /// The system's.
    fn default() -> Self {
        Self::new(now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_its_day() {
        let name = |at| name_of(day_of(at));
        assert_eq!(name(0), "1970-01-01");
        assert_eq!(name(951_782_400_000), "2000-02-29");
        assert_eq!(name(1_795_219_199_999), "2026-11-20");
        assert_eq!(name(1_795_219_200_000), "2026-11-21");
    }
}
