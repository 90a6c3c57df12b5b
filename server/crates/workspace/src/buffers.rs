//! The documents that editors hold open.
