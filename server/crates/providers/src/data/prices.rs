//! Prices as the data files have them: in US dollars per million tokens.

use protocol::model::{LongPrice, Price};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rates {
    /// The number of tokens that a long prompt has more than; none in the usual price.
    above: Option<u64>,
    input: f64,
    output: f64,
    #[serde(default)]
    cache_read: f64,
    #[serde(default)]
    cache_write: f64,
}

/// Reads the usual price.
pub(crate) fn usual<'de, D: Deserializer<'de>>(data: D) -> Result<Option<Price>, D::Error> {
    let Rates { above, input, output, cache_read, cache_write } = Rates::deserialize(data)?;
    match above {
        None => Ok(Some(Price { input, output, cache_read, cache_write, cache_write_hour: None, long: None })),
        Some(_) => Err(D::Error::unknown_field("above", &["input", "output", "cache_read", "cache_write"])),
    }
}

/// Reads the price of long prompts.
pub(crate) fn long<'de, D: Deserializer<'de>>(data: D) -> Result<Option<LongPrice>, D::Error> {
    let Rates { above, input, output, cache_read, cache_write } = Rates::deserialize(data)?;
    let above = above.ok_or_else(|| D::Error::missing_field("above"))?;
    Ok(Some(LongPrice { above, input, output, cache_read, cache_write }))
}
