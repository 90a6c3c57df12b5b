//! Finding files and text.
