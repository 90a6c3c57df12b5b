//! The kit of all fronts: what the LSP front and the command line share, so that the next front is a folder beside
//! them. It knows no client: no message of LSP and no terminal's style. A front imports this, and never another front.
//!
//! Reading order: `fold` (what a person sees of a session), `words` (what several fronts say in the same words),
//! `forms` (the model's questions, filled in a choice at a time),
//! `mentions` (files that a prompt names), `names` (what a client calls its documents), `settings` (the part that a
//! client has in the configuration), `cursors` (how far a client is with what it follows).

pub(crate) mod cursors;
pub(crate) mod fold;
pub(crate) mod forms;
pub(crate) mod mentions;
pub(crate) mod names;
pub(crate) mod settings;
pub(crate) mod words;

pub use self::names::{Resolve, on_disk};
pub use self::settings::LoadConfig;
