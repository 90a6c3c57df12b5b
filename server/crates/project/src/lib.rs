//! The user's project as a service: its paths, its texts (unsaved ones first), search, and edits under review.
//!
//! The truth of a file is what the session proposes for it, over what an editor holds of it, over what is on disk.
//! Everything above this crate reads and searches through it, so that unsaved text counts everywhere.
//!
//! Reading order: [`answers`] (what the disk may never give), [`paths`] (what belongs to the project), [`text`] (what a
//! text is), [`buffers`] (what editors hold open), [`files`] (the disk), [`reader`] (all three joined), [`seen`] (what
//! the model knows of them), [`search`] (finding files and text), [`baseline`] (what a command changes), [`review`]
//! (edits that wait for the user), [`results`] (what was too long for a model to read at once).

pub mod answers;

pub mod paths;

pub mod text;

pub mod buffers;

pub mod files;

pub mod reader;

pub mod seen;

pub mod search;

pub mod baseline;

pub mod review;

pub mod results;
