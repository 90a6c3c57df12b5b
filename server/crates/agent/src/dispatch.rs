//! The one gate to every effect (design §4): nothing a model wants happens but through here.

use std::sync::Arc;

use protocol::session::Mode;

use crate::model::ToolSpec;
use crate::tool::{Access, Tool};

/// The tools that a mode offers, in their order (001 §8): mode `ask` only those that read.
pub fn offered(tools: &[Arc<dyn Tool>], mode: Mode) -> Arc<[ToolSpec]> {
    tools.iter().filter(|tool| allows(mode, tool.access())).map(|tool| tool.spec().clone()).collect()
}

fn allows(mode: Mode, access: Access) -> bool {
    match mode {
        Mode::Ask => access == Access::Read,
        Mode::Agent => true,
    }
}
