//! The time of day, which a test may set: for what happens after minutes, or on the next day.

use std::fmt;
use std::sync::Arc;

use crate::feed;

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

impl Default for Clock {
    /// The system's.
    fn default() -> Self {
        Self::new(feed::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
