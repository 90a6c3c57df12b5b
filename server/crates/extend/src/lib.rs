//! The additions of users to Azimuth, in files of their own.
//!
//! Everything here reads through [`project`], so that unsaved text counts and no link leads out of the project, and
//! nothing here runs anything.
//!
//! Reading order: [`rules`] (what a project tells agents), [`trust`] (what of a project may run).

pub mod rules;
pub mod trust;
