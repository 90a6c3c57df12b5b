//! The tools that the model can call: one file each, over the services of [`workspace`].
//!
//! Every tool has a typed input ([`typed::Typed`]) and works for one session, on the [`Services`] it is given. No tool
//! writes: an edit tool plans, and the session makes the plan a proposal (design D4).
//!
//! Reading order: [`typed`] (how a typed tool becomes one for the model), then the tools.

use std::sync::Arc;

use agent::tool::Tool;

pub mod typed;

/// What the tools of one session work on.
#[derive(Clone)]
pub struct Services {}

/// All built-in tools, made for one session, in the order in which the model is told of them. Their names differ.
pub fn builtin(services: &Services) -> Vec<Arc<dyn Tool>> {
    let _ = services;
    vec![]
}
