//! The names of the numbers in the store. One that is there must not get another meaning.

use std::time::Duration;

use inline::latency;

pub(super) const CHANGES: &str = "changes";
pub(super) const REQUESTS: &str = "requests";
pub(super) const LATE: &str = "late";
pub(super) const FAILED: &str = "failed";
pub(super) const GIVEN: &str = "given";
pub(super) const GIVEN_FROM_CACHE: &str = "given_from_cache";
pub(super) const SHOWN: &str = "shown";
pub(super) const ACCEPTED: &str = "accepted";
pub(super) const PARTLY: &str = "partly";
pub(super) const PARTLY_CHARACTERS: &str = "partly_characters";
pub(super) const REJECTED: &str = "rejected";
pub(super) const IGNORED: &str = "ignored";
pub(super) const REPLACED: &str = "replaced";

/// The requests that were answered in this time, up to the bound of its bucket.
pub(super) fn took(time: Duration) -> String {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    format!("took_{}", latency::bound(latency::bucket(ms)))
}

/// The bound, in milliseconds, in a name of [`took`].
pub(super) fn bound_of(name: &str) -> Option<u64> {
    name.strip_prefix("took_")?.parse().ok()
}

/// The accepted texts that were looked for after a time.
pub(super) fn looked(after: Duration) -> String {
    format!("looked_{}", after.as_secs())
}

/// Those of them that were still there.
pub(super) fn kept(after: Duration) -> String {
    format!("kept_{}", after.as_secs())
}
