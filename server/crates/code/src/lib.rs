//! Source code as the model works on it: [`syntax`] (trees and what they define), then [`edit`] (where an edit goes).
//!
//! It is given texts and gives texts, and knows no file.

pub mod syntax;

pub mod edit;
