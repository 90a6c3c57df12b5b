//! Edits that wait for the user.
