//! Numbers about suggestions where the user types, as they are stored. They contain nothing of any text.

/// A number of a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The day, in days since the Unix epoch (UTC).
    pub day: u32,
    /// The model.
    pub model: String,
    /// Its name, such as `shown`.
    pub name: String,
    /// The number.
    pub number: u64,
}

/// The cost of a day.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The day, in days since the Unix epoch (UTC).
    pub day: u32,
    /// The model.
    pub model: String,
    /// US dollars.
    pub dollars: f64,
}
