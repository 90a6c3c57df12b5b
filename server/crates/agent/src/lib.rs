//! The agent's core: the turn loop and everything it decides, without any I/O.
//!
//! It knows no LSP, HTTP, SQL, file or process; what it needs of the world are the [`ports`], which the layers above
//! implement.
//!
//! Reading order: [`turn`] (the loop), [`dispatch`] (the one gate to every effect, where [`permission`] judges),
//! [`toolset`] (tools that come and go), [`history`] (what the model sees, a fold of the session's events),
//! [`handover`] (what stands for its beginning once it is too long), [`prompt`] (what the model is told first),
//! [`file_blocks`] (files in an answer's text), [`commands`] (what of a prompt is for us), [`workflow`] (prompts that
//! begin at a place in the code), [`side`] (a model asked outside a turn), [`title`].

pub mod commands;
pub mod context;
pub mod dispatch;
pub mod file_blocks;
pub mod handover;
pub mod history;
pub mod prompt;
pub mod side;
mod tags;
pub mod title;
pub mod toolset;
pub mod turn;
pub mod workflow;

mod uri;
mod wait;

pub use self::tags::quoted;
