//! extend
