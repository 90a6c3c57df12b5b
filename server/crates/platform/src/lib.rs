//! The concerns that each operating system has its own answer to: a small module each, with all that Linux can do, and
//! with a plain fallback for where nobody has looked yet. Every fallback says what it does not do.
//!
//! Moving Azimuth to another system begins here (docs/decisions/0015). `tests/tests/layers.rs` says which crates name
//! no system themselves.

pub mod disk;
pub mod listing;
pub mod mounts;
pub mod names;
pub mod open;
pub mod processes;
pub mod rights;
pub mod scratch;
pub mod stamp;
pub mod terminal;
