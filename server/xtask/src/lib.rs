//! The project's own chores: `cargo run -p xtask -- codegen`.
//!
//! It is a library too, so that a test can ask whether the generated files are stale.

pub mod codegen;
pub mod models;
