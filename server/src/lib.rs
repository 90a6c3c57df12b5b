//! Azimuth: a coding agent that is a language server. This crate is the composition root: it joins the layers below
//! into a program. It is a library too, so that tests and benchmarks can use the real thing in memory.
//!
//! Reading order: [`cli`], [`serve`], [`lsp`] (which only converts), [`front`] (what these fronts share). Sessions and
//! all that belongs to them are the crate [`hub`]'s.

// Linux is built and tested, macOS stands behind `cfg` and is untested.
#[cfg(not(unix))]
compile_error!("Azimuth is built for Linux and untested on macOS; other systems are not supported yet");

pub mod cli;
pub mod front;
pub mod lsp;
pub mod serve;
