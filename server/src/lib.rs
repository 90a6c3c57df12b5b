//! Azimuth: a coding agent that is a language server. This crate is the composition root: it joins the layers below
//! into a program. It is a library too, so that tests and benchmarks can use the real thing in memory.
//!
//! Reading order: [`cli`], [`serve`], [`lsp`] (which only converts), [`front`] (what these fronts share), [`hub`]
//! (sessions), [`sockets`] (where processes meet), `visible` (text that is not ours, on a terminal), [`config`],
//! [`log`].

// Linux is built and tested, macOS stands behind `cfg` and is untested.
#[cfg(not(unix))]
compile_error!("Azimuth is built for Linux and untested on macOS; other systems are not supported yet");

pub mod cli;
pub mod config;
pub mod front;
pub mod hub;
pub mod log;
pub mod lsp;
pub mod serve;
pub mod sockets;
mod visible;
