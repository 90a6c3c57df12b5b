//! The time that an answer takes.

use std::time::Duration;

use protocol::content::Timing;
use tokio::time::Instant;

/// The time of an answer that is coming, by a clock that is never set back.
pub(super) struct Pace {
    began: Instant,
    first: Option<Duration>,
}

impl Pace {
    /// The request is sent.
    pub(super) fn begin() -> Self {
        Self { began: Instant::now(), first: None }
    }

    /// A piece of the answer is there.
    pub(super) fn came(&mut self) {
        self.first.get_or_insert_with(|| self.began.elapsed());
    }

    /// The answer is whole.
    pub(super) fn ended(mut self) -> Timing {
        self.came();
        let in_ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Timing { first_ms: in_ms(self.first.unwrap_or_default()), total_ms: in_ms(self.began.elapsed()) }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_first_piece_and_the_end_are_measured_from_the_request_on() {
        let mut pace = Pace::begin();
        for ms in [200, 300] {
            advance(Duration::from_millis(ms)).await;
            pace.came();
        }
        advance(Duration::from_millis(100)).await;
        assert_eq!(pace.ended(), Timing { first_ms: 200, total_ms: 600 });
        let whole_at_once = Pace::begin();
        advance(Duration::from_millis(50)).await;
        assert_eq!(whole_at_once.ended(), Timing { first_ms: 50, total_ms: 50 });
    }
}
