//! Completion of prompts: slash commands and their arguments, and files after `@`.

use std::collections::HashSet;
use std::sync::Arc;

use agent::commands::{Choice, Choices, Known, TokenKind};
use ports::store::{Origin, SessionFilter};
use project::paths;
use protocol::model::ModelInfo;
use protocol::role::Role;
use protocol::session::{CompletionItem, CompletionKind, PromptCompleteParams, PromptCompleteResult, Purpose};
use tokio_util::sync::CancellationToken;

use crate::Reply;
use crate::session::{Caller, Session};

/// The number of sessions that are offered.
const SESSIONS: usize = 20;

impl Session {
    pub(super) fn complete(&mut self, _: Caller, params: PromptCompleteParams, reply: Reply<PromptCompleteResult>) {
        let (shared, search, roots) =
            (self.shared.clone(), self.reading.search.clone(), Arc::clone(&self.reading.roots));
        let (folders, commands) = (self.state.folders.clone(), self.reading.commands.now());
        tokio::spawn(async move {
            let text = params.text;
            let cursor = byte_offset(&text, params.cursor);
            let mut known = Known::default();
            let token = commands.token_at_cursor(&text, cursor);
            match token.kind {
                TokenKind::Argument(Choices::Models) => {
                    let models = shared.parts.catalog.list_unasked().await.models;
                    known.models = choices(models);
                }
                TokenKind::Argument(Choices::Sessions) => {
                    let filter = SessionFilter {
                        folders,
                        query: None,
                        origin: Origin::Roots,
                        purpose: Some(Purpose::Chat),
                        limit: SESSIONS,
                    };
                    let sessions = shared.list(filter).await.unwrap_or_default();
                    let choice = |session: protocol::session::SessionInfo| Choice {
                        value: session.session_id.to_string(),
                        detail: session.title,
                    };
                    known.sessions = sessions.into_iter().map(choice).collect();
                }
                _ => {}
            }
            // In a command of the user's own words are files, and nothing else is ours.
            let is_command = text.starts_with('!');
            let begins = token.span.start == 0 || text.get(token.span.clone()).is_none_or(str::is_empty);
            let items = if is_command && begins {
                Vec::new()
            } else if is_command {
                let typed = text.get(token.span.start..cursor).unwrap_or_default().to_owned();
                let found = tokio::task::spawn_blocking(move || search.suggest(&typed, &CancellationToken::new()));
                let found = found.await.ok().and_then(Result::ok).unwrap_or_default();
                found.iter().map(|path| argument(&roots.display(path))).collect()
            } else if token.kind == TokenKind::Mention {
                let typed = text.get(token.span.start + 1..cursor).unwrap_or_default().to_owned();
                let found = tokio::task::spawn_blocking(move || search.suggest(&typed, &CancellationToken::new()));
                let found = found.await.ok().and_then(Result::ok).unwrap_or_default();
                found.iter().map(|path| mention(&roots.display(path), paths::to_uri(path))).collect()
            } else {
                commands.complete(&text, cursor, &known).1
            };
            let (start, end) = (utf16_offset(&text, token.span.start), utf16_offset(&text, token.span.end));
            let _ = reply.send(Ok(PromptCompleteResult { start, end, items }));
        });
    }
}

/// The models that can be used, then their aliases, each once: it may be a model of several providers; then the roles.
fn choices(models: Vec<ModelInfo>) -> Vec<Choice> {
    let usable: Vec<_> = models.into_iter().filter(|model| model.available).collect();
    let mut seen = HashSet::new();
    let of_model =
        |model: &ModelInfo| model.aliases.iter().map(|alias| (alias.clone(), model.name.clone())).collect::<Vec<_>>();
    let aliases: Vec<_> = usable.iter().flat_map(of_model).filter(|(alias, _)| seen.insert(alias.clone())).collect();
    let ids = usable.into_iter().map(|model| (model.id, model.name));
    let roles = Role::ALL.map(|role| (role.name().to_owned(), format!("the model for {}", role.words())));
    ids.chain(aliases).chain(roles).map(|(value, detail)| Choice { value, detail }).collect()
}

fn mention(path: &str, uri: String) -> CompletionItem {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    CompletionItem {
        kind: CompletionKind::File,
        label: name.into(),
        detail: folder.into(),
        insert: format!("@{path} "),
        uri: Some(uri),
    }
}

/// A file as a word of a command line.
fn argument(path: &str) -> CompletionItem {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@' | '%');
    let word = match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', "'\\''")),
    };
    CompletionItem {
        kind: CompletionKind::File,
        label: name.into(),
        detail: folder.into(),
        insert: format!("{word} "),
        uri: None,
    }
}

/// Where an offset in UTF-16 units lies in bytes; one past the end is the end.
fn byte_offset(text: &str, utf16: u32) -> usize {
    let mut units = 0;
    for (index, character) in text.char_indices() {
        if units >= utf16 {
            return index;
        }
        units += if character.len_utf16() == 2 { 2 } else { 1 };
    }
    text.len()
}

fn utf16_offset(text: &str, byte: usize) -> u32 {
    let before = text.get(..byte).unwrap_or(text);
    u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_completed_by_their_ids_and_each_alias_once() {
        let model = |id: &str, available: bool| -> ModelInfo {
            serde_json::from_value(serde_json::json!({
                "id": id, "name": id.to_uppercase(), "provider": "p", "contextTokens": 1, "maxOutputTokens": 1,
                "available": available, "aliases": ["opus", &id[2..]],
            }))
            .unwrap()
        };
        let choices = choices(vec![model("a/x", true), model("b/y", true), model("c/z", false)]);
        let said: Vec<_> = choices.iter().map(|choice| (choice.value.as_str(), choice.detail.as_str())).collect();
        let models = [("a/x", "A/X"), ("b/y", "B/Y"), ("opus", "A/X"), ("x", "A/X"), ("y", "B/Y")];
        assert_eq!(said[..models.len()], models);
        assert_eq!(said[models.len()..][1], ("plan", "the model for plans"));
    }

    #[test]
    fn offsets_count_utf16_units() {
        let text = "é𝄞x";
        assert_eq!(byte_offset(text, 0), 0);
        assert_eq!(byte_offset(text, 1), 2);
        assert_eq!(byte_offset(text, 3), 6);
        assert_eq!(byte_offset(text, 99), 7);
        assert_eq!(utf16_offset(text, 6), 3);
    }
}
