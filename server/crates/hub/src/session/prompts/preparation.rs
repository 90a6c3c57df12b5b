//! A prompt on its way to a turn: what it is made ready with, and what comes of that.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Instant;

use agent::commands::{Commands, Invocation};
use agent::context::Counted;
use agent::handover::Asked as CompactionAsked;
use agent::toolset::ToolSet;
use permission::Rules;
use ports::edit::EditForm;
use ports::hooks::Chain;
use ports::model::{Message as ModelMessage, Model, ToolSpec};
use ports::session::Answer;
use ports::spent::Sums;
use project::paths::Roots;
use project::reader::Reader;
use project::seen::Seen;
use protocol::methods::Request as Method;
use protocol::review::AutoScope;
use protocol::role::Role;
use protocol::session::{Mode, SessionInfo};
use protocol::turn::TurnStartResult;
use protocol::{CompactionId, Event, PromptBlock, SessionId, ToolCallId, TurnId};
use shell::Shell;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::instruction::Instruction;
use crate::post::{Message, Shared};
use crate::session::state::Promoted;
use crate::session::{Caller, Chosen, ModelChain, Switched, chain_of_mode, default_model, gate};
use crate::trust::Workspace;
use crate::{ClientId, Error, Input, Reply, Request};

/// A prompt on its way to a turn.
pub(super) struct Preparation {
    pub(super) shared: Shared,
    pub(super) config: Arc<Config>,
    pub(super) roots: Arc<Roots>,
    pub(super) reader: Arc<Reader>,
    /// The record of what the model has seen of files.
    pub(super) seen: Seen,
    /// The rules in force.
    pub(super) rules: Arc<Rules>,
    pub(super) tools: ToolSet,
    pub(super) commands: Commands,
    pub(super) hooks: Chain,
    pub(super) shell: Arc<Shell>,
    pub(super) info: SessionInfo,
    /// The session's model.
    pub(super) model: Option<Chosen>,
    /// The size of the session's context.
    pub(super) context: Option<u64>,
    /// The conversation so far and the vendor's last count of it, if a command asks for them.
    pub(super) messages: Vec<Arc<ModelMessage>>,
    pub(super) counted: Option<(Counted, String)>,
    /// The handover at the conversation's beginning.
    pub(super) handover: Option<CompactionId>,
    /// The larger model that goes on in the stead of the session's.
    pub(super) promoted: Option<Promoted>,
    /// The part of the session's usage and cost that sessions used which its calls started.
    pub(super) children: Sums,
    /// The models of turns whose cost is not known.
    pub(super) unpriced: BTreeSet<String>,
    /// The automatic acceptance of edits: whether it is on, and for how long.
    pub(super) accept_edits: (bool, AutoScope),
    /// The numbers of changes made here to what is kept for the project.
    pub(super) changes: gate::Changes,
    /// The trust in its workspace.
    pub(super) trust: Workspace,
    pub(super) caller: Caller,
    /// Cancelled with the turn that it is to become.
    pub(super) cancel: CancellationToken,
    pub(super) turn: TurnId,
    /// All of the prompt, for hooks.
    pub(super) whole: Vec<PromptBlock>,
    /// Its slash commands.
    pub(super) invocations: Vec<Invocation>,
    /// The parts of it that mention something.
    pub(super) mentions: Vec<PromptBlock>,
    /// True if a model has something to do for what is left of it without the commands.
    pub(super) asks_model: bool,
    pub(super) mode: Option<Mode>,
    /// The time since when the model is told of the user's edits; none if it is not told.
    pub(super) edits_since: Option<Instant>,
    /// The texts that commands and other programs left in files: URIs with hashes.
    pub(super) left_by_others: HashSet<(String, String)>,
    /// The instruction that the prompt is, if it is one.
    pub(super) instruction: Option<Box<Instruction>>,
    /// True if its sender is to see the session from the turn on.
    pub(super) is_followed: bool,
    pub(super) given: Option<GivenAnswer>,
    pub(super) reply: Option<Reply<TurnStartResult>>,
}

/// An answer that was given to a question before the call that asked it is dispatched again.
pub(super) struct GivenAnswer {
    pub(super) call: ToolCallId,
    pub(super) answer: Answer,
}

/// A prompt that is ready.
pub(in crate::session) struct Prepared {
    /// The turn's id.
    pub(super) id: TurnId,
    /// The events of its slash commands.
    pub(super) events: Vec<Event>,
    /// The session's mode from here on.
    pub(super) mode: Mode,
    /// True if whoever sent the prompt chose that mode with it.
    pub(super) chose_mode: bool,
    /// True if the prompt confirmed that mode.
    pub(super) confirmed: bool,
    /// Where the client should go on.
    pub(super) switch_to: Option<SessionId>,
    /// The texts of its slash commands for the model, which stand before the rest of the prompt.
    pub(super) texts: Vec<PromptBlock>,
    /// The turn; none if the prompt held only commands, or leads to another session.
    pub(super) turn: Option<NewTurn>,
    /// The reason why there is no turn, if it could not be made.
    pub(super) refused: Option<Error>,
    /// True if its sender is to see the session from the turn on.
    pub(super) is_followed: bool,
    pub(super) given: Option<GivenAnswer>,
    pub(super) reply: Option<Reply<TurnStartResult>>,
}

/// A turn that is ready to begin.
pub(super) struct NewTurn {
    pub(super) context: String,
    /// The time until when the user's edits are told of in the context; none if they are not.
    pub(super) edits_until: Option<Instant>,
    pub(super) model: Result<Arc<dyn Model>, Error>,
    /// True if the model is for this turn only, and the session keeps its own: that of the mode, or one that goes on in
    /// another one's stead.
    pub(super) is_for_turn: bool,
    /// The models that may go on in its stead.
    pub(super) chain: Arc<ModelChain>,
    /// That another model goes on from the beginning.
    pub(super) switched: Option<Switched>,
    pub(super) system: Arc<str>,
    /// The mark of files in the model's answers, where they are taken.
    pub(super) file_mark: Option<Arc<str>>,
    /// The form in which the model edits.
    pub(super) form: EditForm,
    /// The tools that the model is told of.
    pub(super) offered: Arc<[ToolSpec]>,
    /// The decisions kept for the project, and the changes made to them here by then; `None` if they cannot be read.
    pub(super) kept: Option<(gate::Kept, gate::Changes)>,
    /// The compaction that the user asked for.
    pub(super) compaction: Option<CompactionAsked>,
    /// True if the turn is only for that.
    pub(super) only_compacts: bool,
    /// Warnings for the user: the project's rules that could not be read, and names in the chain that name no model.
    pub(super) warnings: Vec<String>,
}

impl Prepared {
    /// A prompt of which no turn can be made.
    pub(super) fn refused(preparation: Preparation, error: Error) -> Self {
        Self {
            id: preparation.turn,
            events: Vec::new(),
            mode: preparation.info.mode,
            chose_mode: false,
            confirmed: false,
            switch_to: None,
            texts: Vec::new(),
            turn: None,
            refused: Some(error),
            is_followed: false,
            given: None,
            reply: preparation.reply,
        }
    }
}

impl Preparation {
    /// The model that somebody chose for the session.
    pub(super) fn chosen(&self) -> Option<&Chosen> {
        self.model.as_ref().filter(|chosen| !chosen.is_default)
    }

    /// The chain of models that a setting names for a mode, or what was picked for its role; none if somebody chose a
    /// model for the session, which counts more.
    pub(super) async fn chain_of_mode(&self, mode: Mode) -> Option<String> {
        if self.chosen().is_some() {
            return None;
        }
        chain_of_mode(&self.shared, &self.config, mode).await
    }

    /// The session's model, or that of new ones.
    ///
    /// # Errors
    /// There is none, or it cannot be found.
    pub(super) async fn model(&self) -> Result<Arc<dyn Model>, Error> {
        match &self.model {
            Some(chosen) => chosen.resolve(&self.shared).await,
            None => default_model(&self.shared, &self.config).await,
        }
    }

    /// The chain of the session's model; none if it was chosen alone.
    pub(super) fn chain(&self) -> Option<String> {
        match &self.model {
            Some(chosen) if !chosen.is_default => chosen.chain.clone(),
            Some(_) | None => self.config.chain(Role::Default),
        }
    }

    /// The session's project: its first folder.
    pub(super) fn project(&self) -> String {
        self.info.folders.first().cloned().unwrap_or_default()
    }
}

/// Asks for something as the client of the prompt, such as the session itself.
pub(super) async fn ask<M: Method>(preparation: &Preparation, params: M::Params) -> Result<M::Answer, String> {
    let (reply, answer) = oneshot::channel();
    post_as(&preparation.shared, preparation.caller.id, Request::new::<M>(params, reply));
    match answer.await {
        Ok(answer) => answer.map_err(|error| error.message),
        Err(_) => Err("Azimuth is ending".to_owned()),
    }
}

/// Sends a request as a client of this process.
pub(in crate::session) fn post_as(shared: &Shared, client: ClientId, request: Request) {
    shared.post(Some(client), Message::Input(Input::Request(request)));
}
