//! A session's title by a model, if the user chose one for that.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use agent::side::{self, SideAnswer, SideRequest};
use futures_util::FutureExt;
use protocol::content::SideRole;
use protocol::model::ModelInfo;
use protocol::role::Role;
use protocol::{Event, PromptBlock};
use tokio_util::sync::CancellationToken;

use super::Message;
use crate::budget::Found;
use crate::session::{Own, Session, chain_of, usable};

/// The longest title of a model that is taken, in characters; what is longer is no title.
const LONGEST: usize = 80;
/// Of a prompt the model reads so many characters: what it is about stands at its beginning.
const LONGEST_PROMPT: usize = 4_000;
/// The time that a title may take. Nobody waits for it.
const DEADLINE: Duration = Duration::from_secs(30);
/// A title is a few words; the rest is for models that think first.
const MOST_TOKENS: u64 = 1_000;

const SYSTEM: &str = "You name conversations between a user and a coding agent. Answer with a title for the conversation that \
                      begins with the user's message: three to eight words in the language of the message, without \
                      quotation marks, without a full stop, and nothing else. Do not answer the message.";

/// A title that was asked for.
pub(in crate::session) struct Titled {
    /// The title that the session had, which the prompt gave.
    had: String,
    answer: SideAnswer,
}

impl Session {
    /// Asks the model for titles, if there is one, what to call the session that began with this prompt, whose turn has
    /// this model. A prompt without words is not worth it, and a scripted turn stays within this machine.
    pub(super) fn ask_for_title(&mut self, prompt: &[PromptBlock], of_turn: &ModelInfo) {
        if self.config.chain(Role::Title).is_none() {
            return;
        }
        let texts = prompt.iter().filter_map(|block| match block {
            PromptBlock::Text { text } => Some(text.as_str()),
            PromptBlock::File { .. }
            | PromptBlock::Range { .. }
            | PromptBlock::Selection { .. }
            | PromptBlock::Image { .. } => None,
        });
        let prompt: String = texts.collect::<Vec<_>>().join("\n").chars().take(LONGEST_PROMPT).collect();
        if prompt.trim().is_empty() {
            return;
        }
        let (shared, config, own) = (self.shared.clone(), Arc::clone(&self.config), self.work.own.clone());
        let (budget, store) = (self.budget(), Arc::clone(&self.shared.parts.store));
        let (had, is_scripted, cancel) = (self.state.title.clone(), of_turn.scripted, CancellationToken::new());
        let session = self.id().as_str().to_owned();
        self.prompts.titling = Some(cancel.clone());
        self.work.begin();
        let asked = async move {
            let resolved = async {
                let chain = chain_of(&shared, &config, Role::Title).await?;
                Some(shared.parts.catalog.resolve_aside(&chain).await)
            };
            let resolved = cancel.run_until_cancelled(tokio::time::timeout(DEADLINE, resolved)).await?.ok()??;
            let resolved = resolved.map_err(|error| error.to_string());
            let model = resolved.and_then(|model| usable(model, &config).map_err(|error| error.message));
            let model =
                model.inspect_err(|error| tracing::warn!(error, "the model for titles cannot be asked")).ok()?;
            if is_scripted && !model.info().scripted {
                return None;
            }
            // The turn asks the user whether more may be spent; a title is not worth a question.
            if !budget.is_unset() && budget.read(store).await.ok()?.iter().any(Found::is_reached) {
                return None;
            }
            let request = SideRequest {
                role: SideRole::Title,
                system: SYSTEM.into(),
                prompt,
                session,
                max_output_tokens: MOST_TOKENS,
                deadline: DEADLINE,
                cancel,
            };
            let answer = side::ask(&*model, request).await;
            Some(Titled { had, answer })
        };
        tokio::spawn(async move {
            let titled = AssertUnwindSafe(asked).catch_unwind().await.unwrap_or_default();
            let _ = own.send(Own::Prompts(Message::Titled(titled)));
        });
    }

    /// Takes a title, unless the session was given another meanwhile.
    pub(super) fn titled(&mut self, titled: Option<Titled>) {
        self.work.end();
        self.prompts.titling = None;
        let Some(Titled { had, answer }) = titled else { return };
        self.record(answer.event);
        match answer.text {
            Ok(text) => {
                if let Some(title) = tidy(&text).filter(|title| self.state.title == had && *title != had) {
                    self.record(Event::TitleChanged { title });
                }
            }
            Err(error) => tracing::warn!(%error, "no title was given"),
        }
    }
}

/// A title of one line without what models put around it; none if it is blank or too long.
fn tidy(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches(['#', '*', ' ']).trim_start_matches("Title:");
    let line = line.trim_matches(|c: char| c.is_whitespace() || "\"'`*“”«».".contains(c));
    let title = line.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty() && title.chars().count() <= LONGEST).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn a_title_is_freed_of_what_models_put_around_it() {
        let cases = [
            ("Mend the parser", Some("Mend the parser")),
            ("\n**\"Mend the parser.\"**\nIt is about …", Some("Mend the parser")),
            ("# Title: Mend   the parser", Some("Mend the parser")),
            ("“Den Parser reparieren”", Some("Den Parser reparieren")),
            (" \n ", None),
            ("\"\"", None),
        ];
        for (text, title) in cases {
            assert_eq!(tidy(text).as_deref(), title, "{text}");
        }
        assert_eq!(tidy(&"words ".repeat(20)), None, "an essay is no title");
    }
}
