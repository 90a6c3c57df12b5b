//! The limits of a turn.

/// The turn's limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Requests with tool calls after which the turn asks whether to go on.
    pub rounds: usize,
    /// Tokens after which the turn ends, of all kinds that [`Usage`] counts; none for no end.
    pub tokens: Option<u64>,
    /// US dollars after which it ends, if the model's price is known; none for no end.
    pub cost: Option<f64>,
    /// How often the same call may come to the same result before the turn asks whether to go on.
    pub repeats: usize,
    /// Rounds whose results are kept when older ones are trimmed.
    pub keep_rounds: usize,
    /// The longest result a model gets, in bytes; less for a model with a small context. Its head and tail are kept.
    pub result_bytes: usize,
    /// The longest input a tool gets, in bytes of JSON.
    pub input_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rounds: 100,
            tokens: None,
            cost: None,
            repeats: 3,
            keep_rounds: 4,
            result_bytes: 50_000,
            input_bytes: 50 * 1024,
        }
    }
}
