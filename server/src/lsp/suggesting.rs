//! The registrations for suggestions at the cursor, which a client has only while there is a model for them:
//! `textDocument/inlineCompletion`, and for clients without it `textDocument/completion`.

use hub::config::InCompletion;
use protocol::inline::{InlineState, InlineStatusParams};
use serde_json::{Value, json};

use super::abilities::Abilities;
use crate::front::settings::Suggestions;

/// The registrations' names, each with its method.
const INLINE: (&str, &str) = ("inline", "textDocument/inlineCompletion");
const MENU: (&str, &str) = ("menu", "textDocument/completion");

/// True if a client is offered the suggestion at the cursor as an entry of its completion menu.
pub(super) fn in_menu(abilities: &Abilities, suggestions: Option<Suggestions>) -> bool {
    let wanted = suggestions.map(|suggestions| suggestions.in_completion);
    abilities.completion.is_some()
        && match wanted {
            Some(InCompletion::Always) => true,
            Some(InCompletion::Auto) => !abilities.inline_completion && !abilities.azimuth.panel,
            Some(InCompletion::Never) | None => false,
        }
}

/// True if a client that can register nothing later is told of the menu when it starts.
pub(super) fn announces_menu(abilities: &Abilities, suggestions: Option<Suggestions>) -> bool {
    in_menu(abilities, suggestions) && suggestions.is_some_and(|suggestions| suggestions.has_model)
}

/// The registrations as the client has them.
#[derive(Default)]
pub(super) struct Suggesting {
    can: bool,
    has_inline: bool,
    has_menu: bool,
}

impl Suggesting {
    /// Takes the state of suggestions.
    pub(super) fn take(&mut self, status: &InlineStatusParams) {
        self.can = status.state != InlineState::Off;
    }

    /// The requests that make the registrations fit the state of suggestions and the settings; none if they do, or if
    /// the client takes none.
    pub(super) fn update(
        &mut self,
        abilities: &Abilities,
        suggestions: Option<Suggestions>,
    ) -> Vec<(&'static str, Value)> {
        let inline = self.can && abilities.register_inline_completion;
        let can_register_menu = abilities.completion.is_some_and(|menu| menu.register);
        let menu = self.can && can_register_menu && in_menu(abilities, suggestions);
        [(INLINE, &mut self.has_inline, inline), (MENU, &mut self.has_menu, menu)]
            .into_iter()
            .filter_map(|(which, has, wanted)| {
                (std::mem::replace(has, wanted) != wanted).then(|| registration(which, wanted))
            })
            .collect()
    }
}

fn registration((id, method): (&str, &str), is_wanted: bool) -> (&'static str, Value) {
    if is_wanted {
        let options = json!({ "documentSelector": [{ "scheme": "file" }] });
        let registration = json!({ "id": id, "method": method, "registerOptions": options });
        ("client/registerCapability", json!({ "registrations": [registration] }))
    } else {
        // The standard spells it so.
        let unregistration = json!({ "id": id, "method": method });
        ("client/unregisterCapability", json!({ "unregisterations": [unregistration] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lsp::abilities::Completion;

    fn suggestions(in_completion: InCompletion) -> Option<Suggestions> {
        Some(Suggestions { in_completion, edits_as_actions: true, has_model: true, has_edit_model: true })
    }

    #[test]
    fn a_menu_has_the_suggestion_unless_the_client_shows_it_otherwise_or_the_user_says_no() {
        let plain = Abilities { completion: Some(Completion::default()), ..Abilities::default() };
        let inline = Abilities { inline_completion: true, ..plain.clone() };
        let mut panel = plain.clone();
        panel.azimuth.panel = true;
        let of = |wanted| [&plain, &inline, &panel].map(|client| in_menu(client, suggestions(wanted)));
        assert_eq!(of(InCompletion::Auto), [true, false, false]);
        assert_eq!(of(InCompletion::Always), [true; 3]);
        assert_eq!(of(InCompletion::Never), [false; 3]);
        assert!(!in_menu(&Abilities::default(), suggestions(InCompletion::Always)), "it has no menu");
        assert!(!in_menu(&plain, None), "nothing is known yet");
        let without_model = Some(Suggestions { has_model: false, ..Suggestions::default() });
        assert!(in_menu(&plain, without_model) && !announces_menu(&plain, without_model));
    }
}
