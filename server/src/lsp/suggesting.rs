//! The registration of `textDocument/inlineCompletion`, which a client has only while there is a model for it.

use protocol::inline::{InlineState, InlineStatusParams};
use serde_json::{Value, json};

use super::abilities::Abilities;

/// The registration's name, and its method.
const NAME: &str = "inline";
const METHOD: &str = "textDocument/inlineCompletion";

/// The registration as the client has it.
#[derive(Default)]
pub(super) struct Suggesting {
    is_registered: bool,
}

impl Suggesting {
    /// The request that makes the registration fit the state of suggestions; none if it does, or if the client takes
    /// none.
    pub(super) fn register(
        &mut self,
        abilities: &Abilities,
        status: &InlineStatusParams,
    ) -> Option<(&'static str, Value)> {
        let can = status.state != InlineState::Off;
        if !abilities.register_inline_completion || std::mem::replace(&mut self.is_registered, can) == can {
            return None;
        }
        let options = json!({ "documentSelector": [{ "scheme": "file" }] });
        Some(match can {
            true => {
                let registration = json!({ "id": NAME, "method": METHOD, "registerOptions": options });
                ("client/registerCapability", json!({ "registrations": [registration] }))
            }
            // The standard spells it so.
            false => {
                let unregistration = json!({ "id": NAME, "method": METHOD });
                ("client/unregisterCapability", json!({ "unregisterations": [unregistration] }))
            }
        })
    }
}
