//! Edits that wait for the user.
mod lines;
