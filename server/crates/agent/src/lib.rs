//! The agent's core: the turn loop and everything it decides, without any I/O.
//!
//! It knows no LSP, HTTP, SQL, file or process; what it needs of the world are the ports [`model::Model`],
//! [`tool::Tool`], [`session::Session`] and [`store::Store`], which the layers above implement.
//!
//! Reading order: [`turn`] (the loop), [`dispatch`] (the one gate to every effect), [`permission`] (what is judged
//! there), [`hooks`] (who else has a say), [`toolset`] (tools that come and go) and [`tool_names`], [`history`] (what
//! the model sees, a fold of the session's events), [`prompt`] (what it is told first), [`partial`] and [`file_blocks`]
//! (calls that still arrive, and files in an answer's text), [`commands`] and [`user_command`] (what of a prompt is for
//! us), [`workflow`] (prompts that begin at a place in the code), [`side`] (a model asked outside a turn), [`title`],
//! [`unseen`] (characters that hide in a text), then the ports.

pub mod commands;
pub mod dispatch;
pub mod edit;
pub mod file_blocks;
pub mod history;
pub mod hooks;
pub mod model;
pub mod partial;
pub mod permission;
pub mod prompt;
pub mod session;
pub mod side;
pub mod store;
mod tags;
pub mod title;
pub mod tool;
pub mod tool_names;
pub mod toolset;
pub mod turn;
pub mod unseen;
pub mod user_command;
pub mod workflow;

mod uri;
mod wait;
