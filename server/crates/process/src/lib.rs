//! Starting programs, so that nothing of them outlives the server and the sandbox holds what they may do.
//!
//! This is the one place where programs start: with a terminal ([`launch`]) or with pipes ([`held`]). Whoever needs a
//! program that speaks over pipes, such as a language server, starts it by [`Held::start`](held::Held::start).
//!
//! Reading order: [`environment`] (what programs see of the user's variables), [`secrets`] (what looks like a key),
//! [`programs`] (which program a name means), [`git`] (in a workspace that is not trusted), [`processes`] (what runs),
//! [`sandbox`], [`gradle`] (in the sandbox), [`supervisor`], [`launch`], [`held`].

pub mod environment;

pub mod secrets;

pub mod programs;

pub mod git;

pub mod processes;

pub mod sandbox;

pub mod supervisor;

pub mod gradle;

pub mod launch;

pub mod held;

pub use launch::Confinement;
