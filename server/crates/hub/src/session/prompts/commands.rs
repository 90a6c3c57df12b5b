//! Slash commands, executed. They are the user's own words to Azimuth and no part of the model's context.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, LazyLock};

use agent::commands::built_in::{
    Auto, BuiltIn, ChooseMode, ChooseModel, ChooseThinking, Compact, Context, Conversations, Costs, Export, Help,
    HiddenSecrets, New, Permissions, Providers, Redo, Resume, Search, Summarize, Trust, Undo, Usage,
};
use agent::commands::{Command, Invocation, Words};
use agent::handover::Asked as CompactionAsked;
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use ports::model::Model;
use project::paths;
use protocol::checkpoint::{
    CheckpointFile, CheckpointListParams, CheckpointPreviewParams, CheckpointRestoreParams, CheckpointState,
    ConfirmedFile, Direction, RestoreOutcome, RestoredFile,
};
use protocol::methods;
use protocol::permission::{PermissionListParams, PermissionRevokeParams, RuleEffect, RuleInfo};
use protocol::review::{AutoScope, ReviewAutoParams};
use protocol::session::{Mode, Purpose};
use protocol::{Event, SessionId, TurnId};
use tokio::sync::oneshot;

use super::context::context;
use super::costs::costs;
use super::finding::{conversations, export, meant, quoted, search};
use super::hidden::hidden_secrets;
use super::preparation::{Preparation, ask};
use super::providers::providers;
use super::usage::usage;
use crate::Error;
use crate::config::Config;
use crate::feed::blocking;
use crate::post::{Message, Requester};
use crate::session::gate::{self, BYPASS};
use crate::session::{Chosen, NewSession, model_chosen};

/// The result of a prompt's commands.
#[derive(Default)]
pub(super) struct Done {
    pub(super) events: Vec<Event>,
    pub(super) mode: Option<Mode>,
    /// True if the user confirmed that mode.
    pub(super) confirmed: bool,
    /// The model that was chosen, by this name.
    pub(super) model: Option<(Arc<dyn Model>, String)>,
    /// The configuration with what was picked for roles.
    pub(super) config: Option<Arc<Config>>,
    pub(super) switch_to: Option<SessionId>,
    /// The compaction that was asked for.
    pub(super) compaction: Option<CompactionAsked>,
    /// The size of the context.
    pub(super) context: Option<u64>,
}

impl Done {
    /// Has the session use a model.
    pub(super) fn choose(&mut self, model: Arc<dyn Model>, name: String, by_default: bool) {
        self.events.extend(model_chosen(model.info(), &name, by_default, self.context));
        self.model = Some((model, name));
    }
}

/// A command of ours, carried out.
#[async_trait]
pub(super) trait Execute: BuiltIn {
    /// Gives what the user is told.
    ///
    /// # Errors
    /// It failed; why, in words for the user.
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String>;
}

type Run = for<'a> fn(&'a Preparation, &'a Words, &'a mut Done) -> BoxFuture<'a, Result<String, String>>;

/// The functions of our commands, by their names.
static OURS: LazyLock<BTreeMap<String, Run>> = LazyLock::new(|| {
    BTreeMap::from([
        ours::<New>(),
        ours::<Help>(),
        ours::<ChooseModel>(),
        ours::<ChooseThinking>(),
        ours::<ChooseMode>(),
        ours::<Permissions>(),
        ours::<Auto>(),
        ours::<Trust>(),
        ours::<Resume>(),
        ours::<Conversations>(),
        ours::<Search>(),
        ours::<Export>(),
        ours::<Context>(),
        ours::<Compact>(),
        ours::<Summarize>(),
        ours::<Costs>(),
        ours::<Usage>(),
        ours::<Providers>(),
        ours::<HiddenSecrets>(),
        ours::<Undo>(),
        ours::<Redo>(),
    ])
});

fn ours<C: Execute + Send + 'static>() -> (String, Run) {
    fn run<'a, C: Execute + Send + 'static>(
        preparation: &'a Preparation,
        words: &'a Words,
        done: &'a mut Done,
    ) -> BoxFuture<'a, Result<String, String>> {
        let command = C::read(words);
        Box::pin(async move { command?.execute(preparation, done).await })
    }
    (C::definition().name.into_owned(), run::<C>)
}

/// Executes a command, and notes what came of it. Gives the text that goes to the model, if there is one.
pub(super) async fn execute(preparation: &Preparation, invocation: Invocation, done: &mut Done) -> Option<String> {
    let Invocation { text, command, words, .. } = invocation;
    let Command { definition, does } = &*command;
    // A command of someone else's may take a minute; the user need not wait for it.
    let answered = preparation.cancel.run_until_cancelled(does.answer(&words)).await;
    let answered = answered.unwrap_or_else(|| Some(Err("it was cancelled".to_owned())));
    let answer = match (answered, OURS.get(definition.name.as_ref())) {
        (Some(answer), _) => answer,
        (None, Some(run)) => run(preparation, &words, done).await,
        (None, None) => Err("this command does nothing here".to_owned()),
    };
    let (is_error, mut message) = (answer.is_err(), answer.unwrap_or_else(|problem| problem));
    let for_model = (!is_error && does.is_for_the_model())
        .then(|| std::mem::replace(&mut message, "its text goes to the model".to_owned()));
    // A key may stand where a name belongs, and the log is kept.
    let (command, message) = match definition.name == Providers::definition().name {
        true => (providers::keys::left_out(&text).into_owned(), providers::keys::left_out(&message).into_owned()),
        false => (text, message),
    };
    done.events.push(Event::CommandExecuted { command, message, is_error });
    for_model
}

#[async_trait]
impl Execute for New {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let session = new_session(preparation).await.map_err(|error| error.message)?;
        done.switch_to = Some(session.clone());
        Ok(format!("new conversation {session}"))
    }
}

#[async_trait]
impl Execute for Help {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        Ok(preparation.commands.help())
    }
}

#[async_trait]
impl Execute for ChooseMode {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let mode = match self {
            Self::Show => done.mode.unwrap_or(preparation.info.mode),
            Self::Choose(mode) => *done.mode.insert(mode),
            Self::Confirm { mode, confirmed } => {
                if let Some(error) = gate::refused(&preparation.config, mode, true) {
                    return Err(error.message);
                }
                if !confirmed {
                    return Ok(format!("{BYPASS}.\n\nIf that is what you want, send `/mode {} yes`.", mode.name()));
                }
                done.confirmed = true;
                *done.mode.insert(mode)
            }
        };
        Ok(in_words(mode))
    }
}

#[async_trait]
impl Execute for Permissions {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        permission_rules(preparation, self.0).await
    }
}

#[async_trait]
impl Execute for Auto {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        auto(preparation, self.0).await
    }
}

#[async_trait]
impl Execute for Trust {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        trust(preparation, self.0).await
    }
}

#[async_trait]
impl Execute for Resume {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let info = meant(preparation, self.0).await?;
        done.switch_to = Some(info.session_id.clone());
        Ok(format!("going on with {} ({})", quoted(&info.title), info.session_id))
    }
}

#[async_trait]
impl Execute for Conversations {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        conversations(preparation).await
    }
}

#[async_trait]
impl Execute for Search {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        search(preparation, self.0).await
    }
}

#[async_trait]
impl Execute for Export {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        export(preparation, self).await
    }
}

#[async_trait]
impl Execute for Context {
    async fn execute(self, preparation: &Preparation, done: &mut Done) -> Result<String, String> {
        let mode = done.mode.or(preparation.mode).unwrap_or(preparation.info.mode);
        context(preparation, mode, done.model.clone()).await
    }
}

#[async_trait]
impl Execute for Costs {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        costs(preparation).await
    }
}

#[async_trait]
impl Execute for Usage {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        usage(preparation).await
    }
}

#[async_trait]
impl Execute for Providers {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        providers(preparation, self).await
    }
}

#[async_trait]
impl Execute for HiddenSecrets {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        hidden_secrets(&preparation.shared.secrets).await
    }
}

#[async_trait]
impl Execute for Undo {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        restore(preparation, Direction::Undo, self.0).await
    }
}

#[async_trait]
impl Execute for Redo {
    async fn execute(self, preparation: &Preparation, _: &mut Done) -> Result<String, String> {
        restore(preparation, Direction::Redo, self.0).await
    }
}

/// Lists the rules in force, or takes back the one with a number of that list.
async fn permission_rules(preparation: &Preparation, number: Option<usize>) -> Result<String, String> {
    let session_id = preparation.info.session_id.clone();
    let params = PermissionListParams { session_id: session_id.clone() };
    let rules = ask::<methods::PermissionList>(preparation, params).await?.rules;
    let Some(number) = number else { return Ok(rules_in_words(&rules)) };
    let rule = number.checked_sub(1).and_then(|at| rules.get(at));
    let RuleInfo { rule, origin, revocable, source, .. } =
        rule.ok_or_else(|| format!("there is no rule {number}; `/permissions` lists them"))?;
    if !revocable {
        return Err(format!("`{rule}` comes from {source}; it is changed there"));
    }
    let params = PermissionRevokeParams { session_id, rule: rule.clone(), origin: *origin };
    ask::<methods::PermissionRevoke>(preparation, params).await?;
    Ok(format!("`{rule}` is revoked; you are asked again from now on"))
}

fn rules_in_words(rules: &[RuleInfo]) -> String {
    let mut text = String::new();
    for (at, info) in rules.iter().enumerate() {
        let effect = match info.effect {
            RuleEffect::Deny => "deny",
            RuleEffect::Ask => "ask",
            RuleEffect::Allow => "allow",
        };
        let RuleInfo { rule, covers, source, .. } = info;
        let void = info.void.as_ref().map(|why| format!("; not in force: {why}")).unwrap_or_default();
        let _ = writeln!(text, "{}. {effect} `{rule}`: {covers}, from {source}{void}", at + 1);
    }
    if text.is_empty() {
        return "there are no permission rules; commands that are known to be read-only run, and you are asked about everything else".to_owned();
    }
    if rules.iter().any(|rule| rule.revocable) {
        let _ = writeln!(text, "\n`/permissions revoke <number>` revokes what you allowed with an answer.");
    }
    text
}

/// Switches whether edits are accepted automatically, or tells how it is.
async fn auto(preparation: &Preparation, switch: Option<(bool, AutoScope)>) -> Result<String, String> {
    let Some((on, scope)) = switch else { return Ok(auto_in_words(preparation.accept_edits).to_owned()) };
    let params = ReviewAutoParams { session_id: preparation.info.session_id.clone(), on, scope };
    ask::<methods::ReviewAuto>(preparation, params).await?;
    let config = &preparation.config;
    Ok(match (on, scope) {
        (true, AutoScope::Project) if !config.errors.is_empty() => {
            "this is kept for the project, but as long as your configuration is not understood edits wait for your review"
        }
        (false, AutoScope::Project) if config.accept_edits => {
            "edits wait for your review in this conversation; in others of the project they are accepted automatically, \
             since `accept_edits` in your configuration says so"
        }
        switched => auto_in_words(switched),
    }
    .to_owned())
}

fn auto_in_words((on, scope): (bool, AutoScope)) -> &'static str {
    match (on, scope) {
        (true, AutoScope::Session) => "edits are accepted automatically in this conversation, until Azimuth ends",
        (true, AutoScope::Project) => "edits are accepted automatically in this project; `/auto off --project` ends it",
        (false, AutoScope::Session) => "edits wait for your review in this conversation",
        (false, AutoScope::Project) => "edits wait for your review in this project",
    }
}

/// Keeps whether the workspace is trusted, or tells how it is.
async fn trust(preparation: &Preparation, said: Option<bool>) -> Result<String, String> {
    let (workspace, word) = (preparation.trust.clone(), preparation.caller.trust.clone());
    let decided = blocking(move || {
        if let Some(trusted) = said {
            workspace.decide(trusted)?;
        }
        Ok(workspace.decided(&word))
    });
    let decided = decided.await.map_err(|error| error.to_string())?;
    if said.is_some() {
        preparation.shared.post(None, Message::TrustChanged);
    }
    let names = preparation.trust.names().join(", ");
    let mut text = match decided {
        Some(true) => format!("{names}: trusted; what it supplies may run"),
        Some(false) => format!("{names}: not trusted; nothing that it supplies runs"),
        None => format!("{names}: not trusted yet; nothing that it supplies runs. `/trust yes` or `/trust no` decides"),
    };
    if preparation.caller.trust.said().is_some() {
        text.push_str(". Your editor says so, and its word counts as long as it is connected");
    }
    Ok(text)
}

async fn new_session(preparation: &Preparation) -> Result<SessionId, Error> {
    let new = NewSession {
        folders: preparation.roots.iter().map(|root| root.path.clone()).collect(),
        model: preparation.model.as_ref().filter(|chosen| !chosen.is_default).map(Chosen::selector),
        // A confirmation is for its own session.
        mode: Some(preparation.info.mode).filter(|mode| !mode.needs_confirmation()).unwrap_or_default(),
        is_asked_for: true,
        parent: None,
        purpose: Purpose::Chat,
    };
    let (reply, made) = oneshot::channel();
    preparation.shared.post(None, Message::NewSession(preparation.caller.clone(), new, Requester::Client(reply)));
    match made.await {
        Ok(result) => result.map(|result| result.session.session_id),
        Err(_) => Err(Error::new(protocol::ErrorCode::InternalError, "Azimuth is ending")),
    }
}

/// Takes the last turn back, or puts it again. Files changed since are set only where `over` names them.
async fn restore(preparation: &Preparation, direction: Direction, over: Vec<String>) -> Result<String, String> {
    let session_id = preparation.info.session_id.clone();
    let (turn_id, confirmed) = match over.as_slice() {
        [] => (None, Vec::new()),
        over => confirm(preparation, direction, over).await?,
    };
    let params = CheckpointRestoreParams { session_id, turn_id, and_later: false, confirmed };
    let restored = match direction {
        Direction::Undo => ask::<methods::CheckpointUndo>(preparation, params).await?,
        Direction::Redo => ask::<methods::CheckpointRedo>(preparation, params).await?,
    };
    Ok(restored_in_words(direction, &restored.files))
}

/// The last turn by which these files were left as they are, and what they are now.
async fn confirm(
    preparation: &Preparation,
    direction: Direction,
    over: &[String],
) -> Result<(Option<TurnId>, Vec<ConfirmedFile>), String> {
    let uri = |path: &String| preparation.roots.resolve(path).map(|path| paths::to_uri(&path));
    let uris: Vec<_> = over.iter().map(uri).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let session_id = preparation.info.session_id.clone();
    let params = CheckpointListParams { session_id: session_id.clone(), limit: None };
    let list = ask::<methods::CheckpointList>(preparation, params).await?;
    for turn in list.turns {
        let (session_id, turn_id) = (session_id.clone(), Some(turn.turn_id));
        let params = CheckpointPreviewParams { session_id, turn_id: turn_id.clone(), and_later: false, direction };
        let preview = ask::<methods::CheckpointPreview>(preparation, params).await?;
        let confirmed: Option<Vec<_>> = uris
            .iter()
            .map(|uri| {
                let is_it = |file: &&CheckpointFile| file.uri == *uri && file.state == CheckpointState::ChangedSince;
                let file = preview.files.iter().find(is_it)?;
                Some(ConfirmedFile { uri: uri.clone(), now: file.now.clone() })
            })
            .collect();
        if let Some(confirmed) = confirmed {
            return Ok((turn_id, confirmed));
        }
    }
    Err(format!("there is no turn that left {} because it was changed since; nothing was done", over.join(", ")))
}

fn restored_in_words(direction: Direction, files: &[RestoredFile]) -> String {
    let (done, name, back, nothing) = match direction {
        Direction::Undo => ("undone", "undo", "/redo", "there is nothing to undo"),
        Direction::Redo => ("redone", "redo", "/undo", "there is nothing to redo"),
    };
    let mut text = String::new();
    for file in files {
        let path = &file.path;
        let _ = match &file.outcome {
            RestoreOutcome::Done => writeln!(text, "- `{path}`: {done}"),
            RestoreOutcome::Unverified => writeln!(text, "- `{path}`: {done}, but the editor does not show it yet"),
            RestoreOutcome::Left { reason } => writeln!(text, "- `{path}`: left as it is: {reason}"),
            RestoreOutcome::Failed { reason } => writeln!(text, "- `{path}`: failed: {reason}"),
        };
    }
    if text.is_empty() {
        text.push_str(nothing);
    }
    if files.iter().any(|file| matches!(file.outcome, RestoreOutcome::Left { .. })) {
        let _ = writeln!(
            text,
            "\n`/{name} --over <path>` overwrites a file that was left; `{back}` restores its current text."
        );
    }
    text
}

fn in_words(mode: Mode) -> String {
    let leave = if mode.needs_confirmation() { "; `/mode agent` leaves it" } else { "" };
    format!("mode {}: {}{leave}", mode.name(), mode.info().words)
}

#[cfg(test)]
mod tests {
    use agent::commands::Commands;

    use super::*;

    #[test]
    fn each_of_our_commands_does_something() {
        let listed: Vec<_> = Commands::built_in().iter().map(|named| named.name.as_str()).collect();
        assert_eq!(OURS.len(), listed.len());
        for name in listed {
            assert!(OURS.contains_key(name), "/{name} has no function in the table above");
        }
    }
}
