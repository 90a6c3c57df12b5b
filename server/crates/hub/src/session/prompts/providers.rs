//! `/provider`: the providers of models, and those that the user adds and removes.

use agent::commands::built_in::{NewProvider, Providers};

use super::preparation::Preparation;
use crate::own_providers::{Addition, Checks, KeyFrom, OwnProviders, in_markdown, rows, variable};

/// So many models are named in words.
const NAMED: usize = 5;

/// Lists the providers, or changes those in the user's file. A change counts at once.
///
/// # Errors
/// It failed; why, in words for the user.
pub(super) async fn providers(preparation: &Preparation, command: Providers) -> Result<String, String> {
    let own = OwnProviders::new(preparation.shared.parts.user_file.clone(), variable);
    let cancelled = || "it was cancelled; nothing was written".to_owned();
    let text = match command {
        Providers::List => {
            let listed = preparation.cancel.run_until_cancelled(preparation.shared.parts.catalog.list_soon()).await;
            let listed = listed.ok_or("it was cancelled")?;
            return Ok(in_markdown(&rows(&preparation.config, &listed, variable)));
        }
        Providers::Add(new) => {
            let name = new.name.clone();
            let checks = match (new.check, new.no_check) {
                (_, true) => Checks::None,
                (true, false) => Checks::Answer,
                (false, false) => Checks::List,
            };
            let checked = preparation.cancel.run_until_cancelled(own.check(addition(new), checks)).await;
            let checked = checked.ok_or_else(cancelled)?.map_err(|error| error.to_string())?;
            // Writing is not broken off.
            let added = own.add(checked).await.map_err(|error| error.to_string())?;
            let mut text = format!("`{name}` is added to {}", added.file.display());
            match added.models.as_slice() {
                [] => {}
                models => {
                    let named = models.iter().take(NAMED).map(|model| format!("\n- `/model {model}`"));
                    text.push_str(". Choose one of its models:\n");
                    text.extend(named);
                    if models.len() > NAMED {
                        text.push_str("\n- …");
                    }
                }
            }
            with_notes(text, &added.notes)
        }
        Providers::Remove(name) => {
            let removed = own.remove(&name).await.map_err(|error| error.to_string())?;
            with_notes(format!("`{name}` is removed from {}", removed.file.display()), &removed.notes)
        }
    };
    Ok(match preparation.shared.read_file_again().await {
        true => text,
        false => format!("{text}\n\nIt counts once this editor has read its configuration again"),
    })
}

fn addition(new: NewProvider) -> Addition {
    let NewProvider { name, base_url, wire, key_env, key_file, key_command, sign_in, models, check: _, no_check: _ } =
        new;
    let key = match (key_env, key_file, key_command, sign_in) {
        (Some(variable), ..) => KeyFrom::Variable(variable),
        (None, Some(file), ..) => KeyFrom::File(file),
        (None, None, Some(command), _) => KeyFrom::Command(command),
        (None, None, None, true) => KeyFrom::Account(None),
        (None, None, None, false) => KeyFrom::Nowhere,
    };
    Addition { name, base_url, wire, key, models }
}

fn with_notes(mut text: String, notes: &[String]) -> String {
    if !notes.is_empty() {
        text.push('\n');
        notes.iter().for_each(|note| text.push_str(&format!("\n- {note}")));
    }
    text
}
